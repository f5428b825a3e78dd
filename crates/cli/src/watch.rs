//! Watches the files that answers depend on.

use crate::native;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use purlin_host::named;
use purlin_value::{Read, Session, path};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, SystemTime};

/// Editors write a file in several steps; a change counts once no other has followed for this long.
const SETTLED: Duration = Duration::from_millis(20);

/// How often the caller is asked whether to continue.
const LOOK_UP: Duration = Duration::from_millis(100);

/// File systems note times only this exactly.
const GRAIN: Duration = Duration::from_millis(20);

/// Folders of tools, which commands write to.
const OF_TOOLS: [&str; 3] = [".purlin", ".garden", ".git"];

/// The files that were read, watched.
pub(crate) struct Watch {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    watched: BTreeSet<PathBuf>,
    /// Files that changed after they were read and before they were watched.
    missed: BTreeSet<PathBuf>,
    watcher: RecommendedWatcher,
    changes: Receiver<notify::Result<Event>>,
}

impl Watch {
    /// Watches nothing yet.
    pub(crate) fn new() -> notify::Result<Self> {
        let (sender, changes) = channel();
        let watcher = notify::recommended_watcher(sender)?;
        let [files, folders, watched, missed] = std::array::from_fn(|_| BTreeSet::new());
        Ok(Watch { files, folders, watched, missed, watcher, changes })
    }

    /// Number of watched files.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Adds exactly the files that a session has read.
    pub(crate) fn add(&mut self, session: &Session) {
        self.add_since(session, None);
    }

    /// The same for a session that began at a time: what changed between that time and the first look at its folder
    /// counts as changed.
    pub(crate) fn add_since(&mut self, session: &Session, begun: Option<SystemTime>) {
        let root = session.world.root();
        let full = |name: &str| {
            let full = path::join(root, name);
            native::system_path(&native::HERE.to_native(&full).unwrap_or_else(|_| full.as_str().into()))
        };
        for read in session.reads() {
            match read {
                Read::File(name) | Read::Absent(name) => self.files.insert(full(&name)),
                Read::Folder(name) => self.folders.insert(full(&name)),
                Read::Present(_) | Read::Variable(_) | Read::Environment => continue,
            };
        }
        // Watches whole folders: editors replace the old file by a new one.
        let parents = self.files.iter().filter_map(|file| file.parent().map(Path::to_owned));
        let wanted: BTreeSet<PathBuf> = parents.chain(self.folders.iter().cloned()).collect();
        for folder in wanted {
            let is_new = !self.watched.contains(&folder) && !is_of_tools(&folder);
            if is_new && self.watcher.watch(&folder, RecursiveMode::NonRecursive).is_ok() {
                if let Some(begun) = begun {
                    self.note_missed(&folder, begun);
                }
                self.watched.insert(folder);
            }
        }
    }

    /// Notes what changed in a folder since a time, before the folder was watched.
    fn note_missed(&mut self, folder: &Path, begun: SystemTime) {
        let begun = begun.checked_sub(GRAIN).unwrap_or(begun);
        let has_changed = |path: &Path| {
            named::itself(path).and_then(|there| there.modified()).is_ok_and(|modified| modified >= begun)
        };
        let is_listed = self.folders.contains(folder);
        let files = self.files.iter().filter(|file| file.parent() == Some(folder) && has_changed(file));
        let found: Vec<PathBuf> =
            files.cloned().chain((is_listed && has_changed(folder)).then(|| folder.to_owned())).collect();
        self.missed.extend(found);
    }

    /// The relevant paths of an event: a file that was read, or a name in a folder that was listed.
    fn concerned<'e>(&self, event: &'e Event) -> impl Iterator<Item = &'e PathBuf> {
        let is_read = matches!(event.kind, EventKind::Access(_));
        let is_name =
            matches!(event.kind, EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
        let concerns = move |path: &&'e PathBuf| {
            let is_listed = path.parent().is_some_and(|folder| self.folders.contains(folder));
            !is_read && !is_of_tools(path) && (self.files.contains(*path) || (is_name && is_listed))
        };
        event.paths.iter().filter(concerns)
    }

    /// Changes since the last call, without blocking if there are none.
    pub(crate) fn poll(&self) -> Vec<PathBuf> {
        let mut changed: BTreeSet<PathBuf> = BTreeSet::new();
        loop {
            match self.changes.recv_timeout(if changed.is_empty() { Duration::ZERO } else { SETTLED }) {
                Ok(Ok(event)) => changed.extend(self.concerned(&event).cloned()),
                Ok(Err(_)) => {}
                Err(_) => return changed.into_iter().collect(),
            }
        }
    }

    /// Blocks until something changes and returns it. `None` if the caller stops.
    pub(crate) fn wait(&mut self, is_going: &mut dyn FnMut() -> bool) -> Option<Vec<PathBuf>> {
        let mut changed = std::mem::take(&mut self.missed);
        loop {
            match self.changes.recv_timeout(if changed.is_empty() { LOOK_UP } else { SETTLED }) {
                Ok(Ok(event)) => changed.extend(self.concerned(&event).cloned()),
                Ok(Err(_)) => {}
                Err(_) if !is_going() => return None,
                Err(RecvTimeoutError::Timeout) if changed.is_empty() => {}
                Err(RecvTimeoutError::Timeout) => return Some(changed.into_iter().collect()),
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

fn is_of_tools(path: &Path) -> bool {
    path.components().any(|part| OF_TOOLS.iter().any(|name| part.as_os_str() == *name))
}
