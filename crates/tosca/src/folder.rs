//! Files of a folder that may be templates.
//!
//! For finding templates that are not named explicitly. It must not know what the files contain.

use purlin_value::world::FileKind;
use purlin_value::{Session, path};

/// Folders with more files than this are not searched.
const MAX_SEARCHED: usize = 500;

/// Whether a file is YAML, judged by its name.
pub(crate) fn is_yaml(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// The files of a folder with suitable names, in the order of their names; none if the folder has too many.
pub(crate) fn files(session: &Session, folder: &str, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let listed = if folder.is_empty() { "." } else { folder };
    let Some(entries) = session.world.list(listed).ok().filter(|entries| entries.len() <= MAX_SEARCHED) else {
        return Vec::new();
    };
    let files = entries.iter().filter(|entry| entry.kind != FileKind::Folder && fits(&entry.name));
    files.map(|entry| path::join(folder, &entry.name)).collect()
}
