//! `purlin render --out DIR/`: one file for each object or each app, as Argo CD and Flux read folders.
//!
//! A list in the folder records our files and their digests. Files that no longer belong to the project are removed; a
//! file that is not ours, or that was changed since, is never touched.

use crate::args::Per;
use crate::border::{read_below, remove_file_below, write_below};
use crate::commands::Context;
use crate::invocation::Exit;
use purlin_host::named;
use purlin_model::Manifest;
use purlin_value::encoding::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// The list of written files, with their digests.
const LIST: &str = ".purlin-render";

/// The first line of the list.
const HEAD: &str = "# Files that `purlin render --out` has written. Keep this file beside them.\n";

/// Larger files were not written by a render.
const LONGEST: u64 = 256 << 20;

/// Whether a path is a folder.
pub(in crate::commands) fn is_folder(cwd: &Path, out: &Path) -> bool {
    out.as_os_str().to_string_lossy().ends_with('/') || named::is_folder(&cwd.join(out))
}

/// The file of a manifest in the folder, without its ending.
pub(in crate::commands) fn name_of(manifest: &Manifest, project: &str, per: Per) -> String {
    let id = manifest.node.as_str();
    let parts: Vec<&str> = id.split('/').collect();
    // The action that contributes an object comes first, then the object's kind and name.
    let (app, object) = match parts.as_slice() {
        [app, rest @ ..] if rest.len() >= 2 => (Some(*app), rest.join("-")),
        _ if id.is_empty() => (None, purlin_value::path::file_name(&manifest.source).to_owned()),
        _ => (None, parts.join("-")),
    };
    match (per, app) {
        (Per::App, app) => plain(app.unwrap_or(project)),
        (Per::Object, Some(app)) => format!("{}/{}", plain(app), plain(&object)),
        (Per::Object, None) => plain(&object),
    }
}

/// A name that is valid for a file on every system.
fn plain(name: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_') { c } else { '-' };
    let name: String = name.chars().map(valid).collect::<String>().to_ascii_lowercase();
    let name = name.trim_matches(['.', '-']);
    if name.is_empty() { "manifest".to_owned() } else { name.to_owned() }
}

/// Texts by file, in order.
#[derive(Default)]
pub(in crate::commands) struct Files {
    all: BTreeMap<String, String>,
}

impl Files {
    /// Adds a document to a file; one per object, if `is_single`.
    pub(in crate::commands) fn add(&mut self, name: &str, text: &str, is_single: bool) {
        let mut file = format!("{name}.yaml");
        let mut count = 1;
        while is_single && self.all.contains_key(&file) {
            count += 1;
            file = format!("{name}-{count}.yaml");
        }
        self.all.entry(file).or_default().push_str(text);
    }

    /// Writes all files and removes obsolete ones of an earlier run. Writes nothing if one of them is not ours.
    pub(in crate::commands) fn write(&self, cx: &mut Context<'_, '_>, out: &Path) -> Result<Exit, Exit> {
        let folder = cx.invocation.cwd.join(out);
        let shown = |file: &str| out.join(file).display().to_string();
        let known = listed(&folder);
        let files: BTreeMap<&str, String> =
            self.all.iter().map(|(file, text)| (file.as_str(), cx.invocation.veil.text(text).into_owned())).collect();
        for file in files.keys().copied().chain(known.keys().map(String::as_str)) {
            let Ok(there) = read_below(&folder, &folder.join(file), LONGEST) else {
                if named::itself(&folder.join(file)).is_ok() {
                    return Err(cx.io(&format!("`{}` is not a regular file; nothing was written", shown(file))));
                }
                continue;
            };
            let is_ours = known.get(file).is_some_and(|known| *known == digest(&there));
            let is_same = files.get(file).is_some_and(|text| text.as_bytes() == there.as_slice());
            if !is_ours && !is_same {
                let why = if known.contains_key(file) { "was changed since it was" } else { "was not" };
                let message = format!("`{}` {why} written by `purlin render`; nothing was written", shown(file));
                return Err(cx.usage(&format!("{message}\nhint: move it away, or choose another folder")));
            }
        }
        let gone: Vec<&String> = known.keys().filter(|file| !files.contains_key(file.as_str())).collect();
        let mut list = HEAD.to_owned();
        for (file, text) in &files {
            list.push_str(&format!("{}  {file}\n", digest(text.as_bytes())));
        }
        let mut written = files.iter().map(|(file, text)| write_below(&folder, file, text.as_bytes()));
        let written = written.try_for_each(|done| done);
        let removed = written.and_then(|()| {
            gone.iter().try_for_each(|file| match remove_file_below(&folder, file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            })
        });
        let done = removed.and_then(|()| write_below(&folder, LIST, list.as_bytes()));
        done.map_err(|error| cx.io(&format!("could not write to `{}`: {error}", out.display())))?;
        let removed = if gone.is_empty() { String::new() } else { format!(", {} removed", gone.len()) };
        let word = if files.len() == 1 { "file" } else { "files" };
        let _ = writeln!(cx.invocation.stderr, "{} {word} in {}{removed}", files.len(), out.display());
        Ok(Exit::Ok)
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The files that the list of a folder names, with their digests. Paths that lead out of the folder are ignored.
fn listed(folder: &Path) -> BTreeMap<String, String> {
    let bytes = read_below(folder, &folder.join(LIST), LONGEST).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once("  "));
    let is_inside = |file: &str| !file.starts_with('/') && !file.split('/').any(|part| matches!(part, "" | "." | ".."));
    lines.filter(|(_, file)| is_inside(file)).map(|(digest, file)| (file.to_owned(), digest.to_owned())).collect()
}
