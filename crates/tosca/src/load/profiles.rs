//! Locations of profiles that are imported by name: in the importing file's archive, beside it, in the project, in
//! folders the user named, and among the fetched sources in `purlin.lock`.
//!
//! Profiles are recognised by the `profile` key of files. A folder is searched once for all service templates of a
//! run, and only if a profile was not found before.

use super::{Loader, Place};
use crate::archive::Archive;
use crate::folder::is_yaml;
use indexmap::IndexMap;
use purlin_value::lock::{LOCK_FILE, Lock};
use purlin_value::world::{FileKind, Remote};
use purlin_value::{Session, path};
use std::sync::Arc;

/// Most files and folders searched below one place.
const MAX_SEARCHED: usize = 50_000;
/// The usual name of the file that makes a profile.
const USUAL_NAME: &str = "profile.yaml";

/// The profiles below a place, by name, with all files that define them.
type Profiles = IndexMap<String, Vec<Place>>;

/// Places searched for profiles.
enum Searched {
    /// The files of a folder, without subfolders.
    Folder(String),
    /// All files below a folder.
    Below(String),
    /// Fetched sources.
    Locked,
}

impl Loader<'_> {
    /// The file that defines a profile.
    pub(super) fn find_profile(&self, from: &Place, name: &str) -> Option<Place> {
        if let Some(archive) = &from.archive
            && let Some(path) = yaml_of(archive).find(|path| defines(archive, path, name))
        {
            return Some(Place::inside(archive.clone(), path));
        }
        if from.archive.is_none() && from.address.is_none() {
            let bare = Place::at(path::join(&from.folder(), name.split(':').next().unwrap_or(name)));
            if self.is_file(&bare) {
                return Some(bare);
            }
        }
        self.searched(from).into_iter().find_map(|searched| {
            let profiles = profiles_of(self.session, &searched);
            profiles.get(name)?.iter().min_by_key(|place| distance(from, place)).cloned()
        })
    }

    /// The names of all profiles that can be imported, for suggestions.
    pub(super) fn known_profiles(&self, from: &Place) -> Vec<String> {
        let places = self.searched(from);
        let names = |place: &Searched| profiles_of(self.session, place).keys().cloned().collect::<Vec<_>>();
        places.iter().flat_map(names).collect()
    }

    /// All places, the nearest first.
    fn searched(&self, from: &Place) -> Vec<Searched> {
        let beside = (from.archive.is_none() && from.address.is_none()).then(|| Searched::Folder(from.folder()));
        let bases = self.options.bases.iter().map(|base| Searched::Folder(base.clone()));
        let given = self.options.profile_paths.iter().map(|folder| Searched::Below(folder.clone()));
        let project = [Searched::Below(".".to_owned()), Searched::Locked];
        beside.into_iter().chain(bases).chain(given).chain(project).collect()
    }
}

fn profiles_of(session: &Session, searched: &Searched) -> Arc<Profiles> {
    match searched {
        Searched::Folder(folder) => {
            session.finding_of_run(&format!("in {folder}"), |session| profiles_below(session, folder, false))
        }
        Searched::Below(folder) => {
            session.finding_of_run(&format!("below {folder}"), |session| profiles_below(session, folder, true))
        }
        Searched::Locked => session.finding_of_run("fetched", fetched_profiles),
    }
}

/// The distance of a profile from its importer: if several files define the same profile, the nearest with the usual
/// name is used.
fn distance(from: &Place, place: &Place) -> (usize, bool, String) {
    let near = from.path.split('/').zip(place.path.split('/')).take_while(|(a, b)| a == b).count();
    (usize::MAX - near, path::file_name(&place.path) != USUAL_NAME, place.key())
}

/// The profiles defined by files of a folder, and by those of archives in it.
fn profiles_below(session: &Session, folder: &str, deep: bool) -> Profiles {
    let mut found = Profiles::new();
    let mut waiting = vec![folder.to_owned()];
    let mut looked_at = 0;
    while let Some(folder) = waiting.pop() {
        let listed = if folder.is_empty() { "." } else { &folder };
        for entry in session.world.list(listed).unwrap_or_default() {
            looked_at += 1;
            if looked_at > MAX_SEARCHED {
                return found;
            }
            let full = path::join(&folder, &entry.name);
            match entry.kind {
                FileKind::Folder if deep && !is_left_out(&entry.name) => waiting.push(full),
                FileKind::Folder => {}
                _ if is_yaml(&entry.name) => {
                    if let Some(name) = session.load_bytes(&full).ok().and_then(|bytes| profile_of(&bytes)) {
                        found.entry(name).or_default().push(Place::at(full));
                    }
                }
                _ if Archive::is_archive(&entry.name) => profiles_inside(session, &full, &mut found),
                _ => {}
            }
        }
    }
    found
}

/// Folders that never contain sources.
fn is_left_out(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// The profiles defined by files of an archive; an unreadable archive has none, and is reported where it is used.
fn profiles_inside(session: &Session, full: &str, found: &mut Profiles) {
    let Ok(bytes) = session.load_bytes(full) else { return };
    let Ok(archive) = Archive::open(full, &bytes, &session.limits) else { return };
    let archive = Arc::new(archive);
    for name in yaml_of(&archive) {
        if let Some(profile) = archive.read(name).and_then(profile_of) {
            found.entry(profile).or_default().push(Place::inside(archive.clone(), name));
        }
    }
}

/// The profiles among fetched sources. The copies are in the cache, so this needs no permission.
fn fetched_profiles(session: &Session) -> Profiles {
    let mut found = Profiles::new();
    let Ok(bytes) = session.load_bytes(LOCK_FILE) else { return found };
    let Some(lock) = std::str::from_utf8(&bytes).ok().and_then(|text| Lock::read(text).ok()) else { return found };
    for (address, revision, locked) in lock.entries() {
        let (address, revision) = (address.to_owned(), revision.to_owned());
        if locked.commit.is_some() {
            let remote = Remote::Git { address, revision, refresh: false };
            if let Ok(fetched) = session.world.fetch(&remote) {
                for (name, places) in profiles_below(session, &fetched.path, true) {
                    found.entry(name).or_default().extend(places);
                }
            }
            continue;
        }
        let Ok(fetched) = session.world.fetch(&Remote::File { address: address.clone() }) else { continue };
        let Ok(bytes) = session.load_bytes(&fetched.path) else { continue };
        if let Some(name) = profile_of(&bytes) {
            found.entry(name).or_default().push(Place::fetched(fetched.path, &address));
        }
    }
    found
}

/// The YAML files of an archive.
fn yaml_of(archive: &Archive) -> impl Iterator<Item = &str> {
    archive.names().filter(|name| is_yaml(name))
}

fn defines(archive: &Archive, path: &str, name: &str) -> bool {
    archive.read(path).and_then(profile_of).is_some_and(|found| found == name)
}

/// The name in a file's `profile` key.
fn profile_of(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim_end().trim_matches(['"', '\'']) == "profile").then(|| value.to_owned())
    };
    let line = text.lines().find_map(value)?;
    let name = line.split(" #").next()?.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::profile_of;

    #[test]
    fn a_profile_is_told_by_its_key() {
        let found = |text: &str| profile_of(text.as_bytes());
        assert_eq!(
            found("tosca_definitions_version: tosca_2_0\nprofile: org.a:1.0 # ours\n").as_deref(),
            Some("org.a:1.0")
        );
        assert_eq!(found("\"profile\": 'a'\n").as_deref(), Some("a"));
        assert_eq!(found("imports:\n- profile: a\n"), None);
        assert_eq!(found("profiles: a\n"), None);
    }
}
