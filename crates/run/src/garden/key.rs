//! What a result must have to stand for a new run. A version is what Garden counts: configuration, file contents,
//! dependencies. Where an action acts, and what of its files a version leaves out, is added here.

use super::kind_of;
use super::kubernetes::Target;
use crate::action::Kind;
use crate::cluster::{Clusters, digest};
use purlin_garden::action::Action as GardenAction;
use purlin_garden::resolve::Resolution;
use purlin_garden::versions::Version;
use purlin_host::named;
use purlin_model::Manifest;
use purlin_value::path;
use purlin_value::world::{FileKind, World};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

/// What results, logs and notes of an action are kept under. A Build makes the same files in every environment;
/// everything else acts in one.
pub fn subject(resolution: &Resolution<'_>, action: &GardenAction) -> String {
    match kind_of(action.kind) {
        Kind::Build => action.key.to_string(),
        _ => format!("{}@{}.{}", action.key, resolution.project.namespace, resolution.project.environment),
    }
}

/// Paths of files, and the digest of what a version does not count of them.
type FileKey = (Arc<[String]>, [u8; 32]);

/// Puts keys together, and remembers what it looked up on the disk.
#[derive(Default)]
pub struct Keys {
    /// Of files: what a version does not count. Actions with the same source share it.
    files: RefCell<HashMap<usize, FileKey>>,
    /// The same of an action with everything it depends on.
    whole: RefCell<HashMap<String, [u8; 32]>>,
}

impl Keys {
    /// The key of an action: its version, permissions and links of its files and of what it depends on, and further
    /// parts that decide what is done.
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

    /// Dependencies first; the stack keeps long chains off the machine's own.
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
        // The list is kept, so its address stays its own.
        let address = files.as_ptr().addr();
        if let Some((_, known)) = self.files.borrow().get(&address) {
            return *known;
        }
        let mut hash = Sha256::new();
        for (number, file) in files.iter().enumerate() {
            let full = PathBuf::from(resolution.ground.full_path(file).as_str());
            let Ok(found) = named::itself(&full) else { continue };
            if found.is_symlink() {
                hash.update(format!("link {number} "));
                hash.update(named::read_link(&full).unwrap_or_default().as_os_str().as_bytes());
                hash.update([0]);
                // What is behind a link is read as well; a version counts only where the link leads.
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

/// What a link leads to: a file, or a folder with everything in it. Links in that folder count by where they lead.
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

/// What decides where in a cluster something is done, and what is sent there.
pub(super) fn in_cluster(clusters: &Clusters, target: &Target, manifests: &[Manifest]) -> Vec<String> {
    [clusters.address(&target.place), digest(manifests)].into_iter().chain(of_target(target)).collect()
}

/// A namespace, and what is put into it beside the objects.
pub(super) fn of_target(target: &Target) -> impl Iterator<Item = String> {
    let secrets = target.secrets.iter().map(|copy| format!("{} {}", copy.name, copy.from));
    [target.namespace.clone(), target.metadata.to_string()].into_iter().chain(secrets)
}
