//! `verify --since REVISION`: which charts have the same files as at a git revision.

use crate::args::Target;
use crate::commands::Context;
use crate::commands::since::was_there;
use crate::invocation::Exit;
use purlin_syntax::Flavor;
use purlin_value::world::FileKind;
use purlin_value::{Session, World, path};
use std::collections::HashMap;
use std::path::Path;

/// Bytes of a file that is compared; a larger one counts as changed.
const LONGEST: u64 = 16 << 20;
/// Depth of folders, and of charts that take in others.
const DEPTH: usize = 32;

/// The files of a revision.
pub(in crate::commands) struct Since {
    then: Session,
    /// Folders that were compared, and whether they differ.
    known: HashMap<String, bool>,
    /// Charts that were left out.
    pub(in crate::commands) left_out: usize,
}

impl Since {
    /// Opens a path as it was at a revision; `None` if it did not exist, so that everything has changed.
    pub(in crate::commands) fn open(
        cx: &mut Context<'_, '_>,
        at: &Path,
        revision: &str,
    ) -> Result<Option<Since>, Exit> {
        if !was_there(cx, at, revision)? {
            return Ok(None);
        }
        let target = Target { rev: Some(revision.to_owned()), ..Target::default() };
        let (then, _) = cx.open_any(at, &target, &[])?;
        Ok(Some(Since { then, known: HashMap::new(), left_out: 0 }))
    }

    /// Whether the chart in a folder, or one that it takes in from a folder, has changed.
    pub(in crate::commands) fn has_changed(&mut self, now: &Session, folder: &str) -> bool {
        let has_changed = self.differs(now, folder, 0);
        self.left_out += usize::from(!has_changed);
        has_changed
    }

    fn differs(&mut self, now: &Session, folder: &str, depth: usize) -> bool {
        let folder = path::normalize(folder);
        if let Some(known) = self.known.get(&folder) {
            return *known;
        }
        // A chart that takes in itself is compared once.
        self.known.insert(folder.clone(), false);
        let own = depth > DEPTH || is_different(&*now.world, &*self.then.world, &folder, 0);
        let differs = own || taken_in(now, &folder).iter().any(|other| self.differs(now, other, depth + 1));
        self.known.insert(folder, differs);
        differs
    }
}

/// The folders of charts that a chart names as `file://`.
fn taken_in(session: &Session, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for file in ["Chart.yaml", "requirements.yaml"].map(|name| path::join(folder, name)) {
        let Ok(text) = session.load_text(&file, &file) else { continue };
        let tree = session.load_tree(&text.source, Flavor::Go);
        let list = tree.root().and_then(|root| root.get("dependencies"));
        let items = list.into_iter().flat_map(|list| list.items());
        let folders = items.filter_map(|item| item.get("repository")?.text().strip_prefix("file://"));
        found.extend(folders.map(|other| path::normalize(&path::join(folder, other))));
    }
    found
}

/// Whether a folder has other files, or files with another content, than before.
fn is_different(now: &dyn World, then: &dyn World, folder: &str, depth: usize) -> bool {
    let entries = |world: &dyn World| {
        let listed = world.list(folder).map_err(drop)?.into_iter().filter(|entry| entry.name != ".git");
        let mut names: Vec<(String, FileKind)> = listed.map(|entry| (entry.name, entry.kind)).collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        Ok::<_, ()>(names)
    };
    let (Ok(own), Ok(before)) = (entries(now), entries(then)) else { return true };
    if own != before || depth > DEPTH {
        return true;
    }
    own.iter().any(|(name, kind)| {
        let inside = path::join(folder, name);
        match kind {
            FileKind::Folder => is_different(now, then, &inside, depth + 1),
            _ => {
                let sizes = [now, then].map(|world| world.stat(&inside).map_or(u64::MAX, |stat| stat.size));
                sizes[0] != sizes[1] || sizes[0] > LONGEST || now.read(&inside).ok() != then.read(&inside).ok()
            }
        }
    })
}
