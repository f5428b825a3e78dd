//! What the original takes from outside: `skaffold.env`, the kubeconfig, standard input.

use crate::invocation::Invocation;
use purlin_syntax::{Flavor, Limits, Source, yaml};
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

/// Adds what `skaffold.env` sets and the environment does not.
pub fn load_env_file(invocation: &mut Invocation<'_>) {
    let Ok(text) = std::fs::read_to_string(invocation.cwd.join("skaffold.env")) else { return };
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
        invocation.env.entry(name.trim().to_owned()).or_insert(value);
    }
}

/// The current context, from the flag, or from the kubeconfig.
pub fn cluster(invocation: &Invocation<'_>, flag: Option<&str>, file: Option<&str>) -> Cluster {
    let mut cluster = Cluster { context: flag.unwrap_or_default().to_owned(), namespace: String::new() };
    for path in kubeconfigs(invocation, file) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
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
