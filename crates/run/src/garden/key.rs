//! Keys that decide whether a result is reused. A Garden version covers configuration, file contents and dependencies.
//! The target of an action, and properties of its files that a version leaves out, are added here.

use super::kind_of;
use super::kubernetes::Target;
use crate::action::Kind;
use crate::cluster::{Clusters, digest};
use purlin_garden::action::Action as GardenAction;
use purlin_garden::resolve::Resolution;
use purlin_garden::versions::Version;
use purlin_host::{named, native};
use purlin_model::Manifest;
use purlin_value::path;
use purlin_value::world::{FileKind, World};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

/// The key of an action's results, logs and notes. A Build produces the same files in every environment; other actions
/// affect a single one.
pub fn subject(resolution: &Resolution<'_>, action: &GardenAction) -> String {
    match kind_of(action.kind) {
        Kind::Build => action.key.to_string(),
        _ => format!("{}@{}.{}", action.key, resolution.project.namespace, resolution.project.environment),
    }
}

/// Paths of files, and a digest of the properties that a version leaves out.
type FileKey = (Arc<[String]>, [u8; 32]);

/// Composes keys, and caches results read from the disk.
#[derive(Default)]
pub struct Keys {
    /// Digests of the file properties that a version leaves out. Actions with the same source share it.
    files: RefCell<HashMap<usize, FileKey>>,
    /// The same for an action with all its dependencies.
    whole: RefCell<HashMap<String, [u8; 32]>>,
}

impl Keys {
    /// The key of an action: its version, permissions and links of its files and of its dependencies, and further parts
    /// that decide what is done.
    pub fn key(&self, resolution: &Resolution<'_>, action: &GardenAction, version: &Version, parts: &[&str]) -> String {
        let mut hash = Sha256::new();
        hash.update(self.whole(resolution, &action.key));
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest = crate::store::hex(&hash.finalize());
        format!("{}+{}", version.full, digest.get(..32).unwrap_or_default())
    }

    /// Dependencies first; a stack of its own allows long chains.
    fn whole(&self, resolution: &Resolution<'_>, key: &str) -> [u8; 32] {
        let session = resolution.ground.session;
        let mut open = vec![key.to_owned()];
        while let Some(next) = open.last().cloned() {
            let version = resolution.live.resolved_version(session, &next);
            let needs = version.as_ref().map_or(&[][..], |version| &version.dependencies);
            let before = open.len();
            let known = self.whole.borrow();
            open.extend(
                needs.iter().filter(|(key, _)| !known.contains_key(key.as_str())).map(|(key, _)| key.to_string()),
            );
            if open.len() > before {
                continue;
            }
            open.pop();
            let mut hash = Sha256::new();
            if let Some(version) = &version {
                hash.update(self.files(resolution, &version.files));
            }
            for (key, _) in needs {
                hash.update(known.get(key.as_str()).copied().unwrap_or_default());
            }
            drop(known);
            self.whole.borrow_mut().insert(next, hash.finalize().into());
        }
        self.whole.borrow().get(key).copied().unwrap_or_default()
    }

    fn files(&self, resolution: &Resolution<'_>, files: &Arc<[String]>) -> [u8; 32] {
        // The list is kept, so its address stays unique.
        let address = files.as_ptr().addr();
        if let Some((_, known)) = self.files.borrow().get(&address) {
            return *known;
        }
        let mut hash = Sha256::new();
        for (number, file) in files.iter().enumerate() {
            let full = native::system_path(&resolution.ground.full_path(file));
            let Ok(found) = named::itself(&full) else { continue };
            if found.is_symlink() {
                hash.update(format!("link {number} "));
                hash.update(named::read_link(&full).unwrap_or_default().as_os_str().as_bytes());
                hash.update([0]);
                // Targets of links are read as well; a version covers only the path of the target.
                behind(resolution.ground.session.world.as_ref(), file, &mut hash);
            } else if found.permissions().mode() & 0o111 != 0 {
                hash.update(format!("program {number} "));
            }
        }
        let digest = hash.finalize().into();
        self.files.borrow_mut().insert(address, (files.clone(), digest));
        digest
    }
}

/// Folders of tools, which change with every run.
const OF_TOOLS: [&str; 3] = [".git", ".garden", crate::store::FOLDER];

/// The target of a link: a file, or a folder with its contents. Links in that folder count by their targets.
fn behind(world: &dyn World, link: &str, hash: &mut Sha256) {
    let mut open = vec![link.to_owned()];
    while let Some(next) = open.pop() {
        hash.update((next.len() as u64).to_le_bytes());
        hash.update(&next);
        if !world.stat(&next).is_ok_and(|stat| stat.kind == FileKind::Folder) {
            let read = world.read_in_pieces(&next, &mut |size, piece| {
                hash.update(size.to_le_bytes());
                hash.update(piece);
            });
            hash.update([u8::from(read.is_ok())]);
            continue;
        }
        let entries = world.list(&next).unwrap_or_default();
        for entry in entries.iter().filter(|entry| !OF_TOOLS.contains(&entry.name.as_str())) {
            let place = path::join(&next, &entry.name);
            match (entry.kind, world.read_link(&place)) {
                (FileKind::Link, Ok(target)) => hash.update(format!("link {} {target}", target.len())),
                (FileKind::Link, Err(_)) => {}
                _ => open.push(place),
            }
        }
    }
}

/// Parts of the key of an action in a cluster: its target and its manifests.
pub(super) fn in_cluster(clusters: &Clusters, target: &Target, manifests: &[Manifest]) -> Vec<String> {
    [clusters.address(&target.place), digest(manifests)].into_iter().chain(of_target(target)).collect()
}

/// A namespace, and its contents other than the manifests.
pub(super) fn of_target(target: &Target) -> impl Iterator<Item = String> {
    let secrets = target.secrets.iter().map(|copy| format!("{} {}", copy.name, copy.from));
    [target.namespace.clone(), target.metadata.to_string()].into_iter().chain(secrets)
}
