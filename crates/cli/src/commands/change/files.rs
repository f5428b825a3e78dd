//! Shared by commands that change files: finding the files, and showing a change.

use crate::commands::Context;
use crate::invocation::Exit;
use crate::project::{Setup, open_session};
use purlin_value::ignore::Ignores;
use purlin_value::path;
use purlin_value::world::FileKind;
use std::path::{Path, PathBuf};

impl Context<'_, '_> {
    /// Reports that a file could not be read or written.
    pub(in crate::commands) fn io(&mut self, message: &str) -> Exit {
        self.invocation.refuse(message, Exit::Io)
    }
}

/// `1 file`, `2 files`.
pub(in crate::commands) fn plural(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// The YAML files of a path: itself, or all below it that are not ignored by `.gitignore`. Hidden folders are left out.
pub(in crate::commands) fn yaml_below(cx: &mut Context<'_, '_>, start: &Path) -> Result<Vec<PathBuf>, Exit> {
    let (session, top) = open_session(cx.invocation, &Setup::of(start))?;
    let world = &*session.world;
    if !world.stat(&top).is_ok_and(|stat| stat.kind == FileKind::Folder) {
        return Ok(vec![start.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![(top.clone(), Ignores::above(world, &top))];
    while let Some((folder, inherited)) = folders.pop() {
        let entries = world.list(&folder).unwrap_or_default();
        let ignores = inherited.enter(world, &folder, &entries, &[".gitignore"]);
        for entry in &entries {
            let place = path::join(&folder, &entry.name);
            if entry.name.starts_with('.') || ignores.hides(&place, entry.kind == FileKind::Folder) {
                continue;
            }
            let lower = entry.name.to_ascii_lowercase();
            match entry.kind {
                FileKind::Folder if !matches!(lower.as_str(), "node_modules" | "target" | "vendor") => {
                    folders.push((place, ignores.clone()));
                }
                FileKind::File if lower.ends_with(".yaml") || lower.ends_with(".yml") => {
                    let below = place.strip_prefix(top.as_str()).unwrap_or(&place).trim_start_matches('/');
                    let below = if top == "." { place.as_str() } else { below };
                    found.push(if start == Path::new(".") { PathBuf::from(below) } else { start.join(below) });
                }
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The lines that differ, as `diff -u` shows them.
pub(in crate::commands) fn difference(name: &str, old: &str, new: &str) -> String {
    similar::TextDiff::from_lines(old, new).unified_diff().header(name, name).to_string()
}
