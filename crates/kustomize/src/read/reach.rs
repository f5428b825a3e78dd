//! Which other folders a kustomization file names. It must not know where these are.

use purlin_syntax::limits::Limits;
use purlin_syntax::{Flavor, Sources, yaml};

/// The keys whose items may be folders.
const KEYS: &[&str] = &["resources", "bases", "components", "generators", "transformers", "validators"];

/// The files and folders that a kustomization file names under these keys, as written. Addresses are among them.
pub fn named_paths(text: &str, limits: &Limits) -> Vec<String> {
    let tree = yaml::parse(Sources::default().insert("kustomization.yaml", text.to_owned()), Flavor::Go, limits);
    let Some(root) = tree.root() else { return Vec::new() };
    let items = KEYS.iter().filter_map(|key| root.get(key)).flat_map(|list| list.items().collect::<Vec<_>>());
    items.filter_map(|item| item.as_str()).map(str::to_owned).collect()
}

/// The relative paths that a kustomization file names and that lead out of its folder.
pub fn outer_paths(text: &str, limits: &Limits) -> Vec<String> {
    let mut paths = named_paths(text, limits);
    paths.retain(|path| path.starts_with("../") || path == "..");
    paths
}
