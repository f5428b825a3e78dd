//! Additional readable folders if no repository bounds the project: the bases and components of a kustomization, and
//! theirs.
//!
//! A folder counts only if it has a kustomization of its own, so that an untrusted file cannot open other folders. The
//! root of the file system and the user's home never count.

use crate::border::read_below;
use crate::native;
use purlin_host::named;
use purlin_syntax::Limits;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of folders that are followed.
const MOST_FOLDERS: usize = 1_000;

/// Maximum size of a kustomization file.
const MOST_BYTES: u64 = 1 << 20;

/// The folders that a folder's kustomization refers to, without the folder itself.
pub(crate) fn of_kustomization(folder: &Path, env: &BTreeMap<String, String>, limits: &Limits) -> Vec<PathBuf> {
    let home = env.get("HOME").map(|home| native::canonical_or_same(PathBuf::from(home)));
    let is_closed = |place: &Path| place.parent().is_none() || Some(place) == home.as_deref();
    let mut found: Vec<PathBuf> = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(next) = found.get(at).cloned() {
        at += 1;
        let Some(text) = kustomization(&next) else { continue };
        for path in purlin_kustomize::outer_paths(&text, limits) {
            let Ok(place) = native::canonical(&next.join(path)) else { continue };
            let is_new = !found.contains(&place) && found.len() < MOST_FOLDERS;
            if is_new && !is_closed(&place) && kustomization(&place).is_some() {
                found.push(place);
            }
        }
    }
    found.split_off(1)
}

/// The text of the kustomization file in a folder.
fn kustomization(folder: &Path) -> Option<String> {
    let file = purlin_kustomize::FILES.iter().map(|name| folder.join(name)).find(|file| named::is_file(file))?;
    let bytes = read_below(folder, &file, MOST_BYTES).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
