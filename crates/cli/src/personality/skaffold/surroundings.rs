//! External inputs of the original: `skaffold.env`, the kubeconfig, standard input.

use super::flags::is_users_own;
use crate::border::{is_escape, read_below};
use crate::invocation::{Exit, Invocation};
use crate::native;
use crate::project::repository_of;
use crate::steering::is_steering;
use purlin_host::named;
use purlin_syntax::{Flavor, Limits, Source, yaml};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The current context of a kubeconfig.
#[derive(Debug, Default, Clone)]
pub struct Cluster {
    /// Name of the current context; empty if there is none.
    pub context: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
}

/// The file with variables for templates, commands and flags.
const ENV_FILE: &str = "skaffold.env";

/// The largest such file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// Reads the variables of `skaffold.env` that the environment does not set. Variables that steer Purlin or the programs
/// it starts are only available in templates, unless the user trusts the project.
pub fn load_env_file(invocation: &mut Invocation<'_>) -> Result<(), Exit> {
    let set = match read_env_file(invocation) {
        Ok(text) => variables(&text),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if is_escape(&error) => {
            let message = format!("reading `{ENV_FILE}` is not allowed: it is a link that leads out of the project");
            return Err(invocation.refuse(&message, Exit::Denied));
        }
        Err(error) => return Err(invocation.refuse(&format!("could not read `{ENV_FILE}`: {error}"), Exit::Io)),
    };
    let is_trusted = invocation.trusts_project();
    let mut refused = Vec::new();
    for (name, value) in set {
        if invocation.env.contains_key(&name) {
            continue;
        }
        if is_trusted {
            invocation.env.insert(name, value);
            continue;
        }
        if is_steering(&name) || is_users_own(&name) {
            refused.push(format!("`{name}`"));
        }
        // The first line that sets a variable wins, as in the original.
        invocation.project_env.entry(name).or_insert(value);
    }
    if !refused.is_empty() {
        let message = format!(
            "warning: `{ENV_FILE}` sets {}, which only your own environment can; templates see the value, nothing else \
             does\n  = hint: add `--trust` before `skaffold` if you trust this project",
            refused.join(", ")
        );
        let _ = writeln!(invocation.stderr, "{message}");
    }
    Ok(())
}

fn read_env_file(invocation: &Invocation<'_>) -> std::io::Result<String> {
    let folder = native::canonical(&invocation.cwd)?;
    let bytes = read_below(&repository_of(&folder), &folder.join(ENV_FILE), MOST_BYTES)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(std::io::Error::other(format!("it has more than the {MOST_BYTES} bytes allowed")));
    }
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8"))
}

/// The variables of a file, in order.
pub(super) fn variables(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else { continue };
        let value = value.trim();
        let quoted = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
        let value = match (quoted('"'), quoted('\'')) {
            (Some(inner), _) => inner.replace("\\n", "\n").replace("\\\"", "\""),
            (_, Some(inner)) => inner.to_owned(),
            _ => value.split(" #").next().unwrap_or_default().trim_end().to_owned(),
        };
        found.push((name.trim().to_owned(), value));
    }
    found
}

/// The current context, from the flag, or from the kubeconfig.
pub fn cluster(invocation: &Invocation<'_>, flag: Option<&str>, file: Option<&str>) -> Cluster {
    let mut cluster = Cluster { context: flag.unwrap_or_default().to_owned(), namespace: String::new() };
    for path in kubeconfigs(invocation, file) {
        let Ok(text) = named::stream_text(&path, named::LARGEST) else { continue };
        let source = Arc::new(Source::new(purlin_syntax::FileId(0), path.to_string_lossy().as_ref(), text));
        let tree = yaml::parse(source, Flavor::CoreGo, &Limits::default());
        let Some(root) = tree.root() else { continue };
        if cluster.context.is_empty() {
            cluster.context = root.get("current-context").map_or("", |node| node.text()).to_owned();
        }
        let contexts = root.get("contexts").into_iter().flat_map(|list| list.items());
        for entry in contexts {
            let named = entry.get("name").is_some_and(|name| name.text() == cluster.context);
            if named && let Some(namespace) = entry.get("context").and_then(|context| context.get("namespace")) {
                cluster.namespace = namespace.text().to_owned();
            }
        }
    }
    cluster
}

fn kubeconfigs(invocation: &Invocation<'_>, file: Option<&str>) -> Vec<PathBuf> {
    if let Some(file) = file {
        return vec![invocation.cwd.join(file)];
    }
    if let Some(list) = invocation.env.get("KUBECONFIG").filter(|list| !list.is_empty()) {
        return std::env::split_paths(list).collect();
    }
    let home = invocation.env.get("HOME").map(|home| Path::new(home).join(".kube/config"));
    home.into_iter().collect()
}
