//! Which kustomizations others build on: what a base lacks may be added there, so it is judged as a part of them.

use purlin_kustomize::named_paths;
use purlin_value::{Session, path};
use std::collections::HashSet;

/// The folders that these kustomization files name, without their own.
pub(crate) fn bases_of<'f>(session: &Session, files: impl Iterator<Item = &'f str>) -> HashSet<String> {
    let mut named = HashSet::new();
    for file in files {
        // Not through the session: a file that it has read counts as a part of some project.
        let Ok(bytes) = session.world.read(file) else { continue };
        let own = path::normalize(path::parent(file));
        let paths = named_paths(&String::from_utf8_lossy(&bytes), &session.limits);
        named.extend(paths.iter().map(|item| path::normalize(&path::join(&own, item))).filter(|item| *item != own));
    }
    named
}
