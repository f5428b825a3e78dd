//! Requests on other machines: the input goes to a store by its content, a worker or a shared cache has the result.
//!
//! What an action gets there is its files, its own environment, and folders for what it leaves; nothing of this machine
//! but what its configuration says. An action with a secret stays here. Results of Builds stay there until something on
//! this machine needs them.

pub mod input;
#[cfg(feature = "net")]
mod layout;
#[cfg(feature = "net")]
mod shared;

#[cfg(feature = "net")]
pub use shared::{Shared, Terms};

use crate::action::Command;
use crate::mask::Mask;
use crate::request::Request;
use purlin_remote::source::{Source, Sources};
use std::collections::BTreeMap;

/// The folder in which actions work there.
pub const WORK: &str = "work";

/// The folder in which they leave outputs.
pub const OUT: &str = "out";

/// Contents larger than this are not searched for secrets; tools do not write such files.
const LARGEST_SEARCHED: u64 = 4 << 20;

/// Makes the folders, names the folder of outputs by the variables before `--`, and becomes the command. Output folders
/// are always made: some servers drop all outputs if one is missing.
const BEGIN: &str = "mkdir -p out work || exit 125\n\
                     o=$PWD/out\n\
                     while [ \"$1\" != -- ]; do\n\
                     case $1 in file:*) export \"${1#file:}=$o/.outputs.json\";; *) export \"$1=$o\";; esac\n\
                     shift\n\
                     done\n\
                     shift\n\
                     cd work || exit 125\n\
                     exec \"$@\"\n";

/// The arguments of a command there.
pub fn arguments(request: &Request<'_>) -> Vec<String> {
    let mut arguments: Vec<String> = ["/bin/sh", "-c", BEGIN, "sh"].map(str::to_owned).to_vec();
    arguments.extend(request.output_folder.iter().map(|name| (*name).to_owned()));
    arguments.extend(request.output_file.iter().map(|name| format!("file:{name}")));
    arguments.push("--".to_owned());
    let Command { words, shell, .. } = request.command;
    match shell {
        true => arguments.extend(["/bin/sh".to_owned(), "-c".to_owned(), words.join(" ")]),
        false => arguments.extend(words.iter().cloned()),
    }
    arguments
}

/// The environment there: that of the action, and a `PATH`.
pub fn environment(request: &Request<'_>, path: &str) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = [("PATH".to_owned(), path.to_owned())].into();
    environment.extend(request.command.env.iter().cloned());
    environment
}

/// The folders that a request leaves.
pub fn outputs(request: &Request<'_>) -> Vec<String> {
    let needs_work = request.product.is_some() || !request.artifacts.is_empty();
    let names = if needs_work { &[OUT, WORK][..] } else { &[OUT] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Where a request has a secret that would leave this machine.
pub fn secret_in(request: &Request<'_>, sources: &Sources) -> Option<String> {
    let mask = Mask::new(request.secrets.iter().map(String::as_str));
    if mask.is_empty() {
        return None;
    }
    if request.command.words.iter().any(|word| mask.finds(word)) {
        return Some("its command".to_owned());
    }
    if let Some((name, _)) = request.command.env.iter().find(|(_, value)| mask.finds(value)) {
        return Some(format!("the variable `{name}`"));
    }
    let has_secret = |source: &Source| match source {
        Source::Bytes(bytes) => mask.finds(&String::from_utf8_lossy(bytes)).then(|| "its input".to_owned()),
        Source::File(path) => {
            let bytes = purlin_host::named::read(path, LARGEST_SEARCHED).ok()?;
            mask.finds(&String::from_utf8_lossy(&bytes))
                .then(|| format!("the file `{}`", path.file_name().unwrap_or_default().to_string_lossy()))
        }
    };
    sources.values().find_map(has_secret)
}
