//! `purlin fix`: corrects names that are misspelt where there is one name that was meant.
//!
//! Only what a hint names exactly is changed, at the very place of the problem. The project is checked again afterwards;
//! if that finds more errors than before, the files are put back.

use super::Context;
use super::files::{difference, plural};
use crate::args::Target;
use crate::border::write_atomically;
use crate::invocation::Exit;
use purlin_compiler::survey;
use purlin_syntax::{Diagnostic, Severity};
use purlin_value::Session;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A name that is replaced by another.
#[derive(Clone, Debug)]
struct Change {
    start: usize,
    end: usize,
    name: String,
}

/// What becomes of one file.
struct Edited {
    path: PathBuf,
    shown: String,
    old: String,
    new: String,
    count: usize,
}

pub(super) fn run(cx: &mut Context<'_, '_>, path: &Path, show: bool) -> Result<Exit, Exit> {
    let target = Target::default();
    let (session, errors) = look(cx, path, &target)?;
    let files = edits(&session);
    let count: usize = files.iter().map(|file| file.count).sum();
    if show {
        let text: String = files.iter().map(|file| difference(&file.shown, &file.old, &file.new)).collect();
        cx.print(&text, None);
        return Ok(if count > 0 { Exit::Invalid } else { Exit::Ok });
    }
    for file in &files {
        write(cx, &file.path, &file.new)?;
    }
    let (after, left) = if count > 0 { look(cx, path, &target)? } else { (session, errors) };
    if left > errors {
        for file in &files {
            write(cx, &file.path, &file.old)?;
        }
        let _ = writeln!(cx.invocation.stderr, "error: the corrections would cause other errors; nothing was changed");
        return Ok(Exit::Invalid);
    }
    let exit = cx.report(&after);
    let files = plural(files.len(), "file");
    let _ = writeln!(
        cx.invocation.stderr,
        "{} corrected in {files}, {} left",
        plural(count, "name"),
        plural(left, "error")
    );
    Ok(exit)
}

fn write(cx: &mut Context<'_, '_>, path: &Path, text: &str) -> Result<(), Exit> {
    write_atomically(path, text.as_bytes())
        .map_err(|error| cx.io(&format!("could not write `{}`: {error}", path.display())))
}

/// Checks a path, and counts its errors.
fn look(cx: &mut Context<'_, '_>, path: &Path, target: &Target) -> Result<(Session, usize), Exit> {
    let (session, request) = cx.open_any(path, target, &[])?;
    let paths = vec![request.path.clone()];
    survey(&session, &request, &paths);
    let errors = session.sink.count(Severity::Error);
    Ok((session, errors))
}

/// The name that a hint says was meant.
fn meant(diagnostic: &Diagnostic) -> Option<&str> {
    let [hint] = diagnostic.hints.as_slice() else { return None };
    hint.strip_prefix("did you mean `")?.strip_suffix("`?").filter(|name| !name.contains('`'))
}

/// The files that would change. What is found stays in the session's sink.
fn edits(session: &Session) -> Vec<Edited> {
    let found = session.sink.take();
    let mut changes: BTreeMap<u32, Vec<Change>> = BTreeMap::new();
    for diagnostic in &found {
        let (Some(span), Some(name)) = (diagnostic.span, meant(diagnostic)) else { continue };
        let Some(source) = session.sources.get(span.file) else { continue };
        let written = source.slice(span).trim_matches(['"', '\'']);
        // The place must be the very name; a longer one may hold an expression around it.
        if written.is_empty() || !diagnostic.message.contains(&format!("`{written}`")) || written.contains(['\n', ' '])
        {
            continue;
        }
        let start = span.start as usize + source.slice(span).find(written).unwrap_or(0);
        let change = Change { start, end: start + written.len(), name: name.to_owned() };
        changes.entry(span.file.0).or_default().push(change);
    }
    session.sink.extend(found);
    changes.into_iter().filter_map(|(file, changes)| edited(session, file, changes)).collect()
}

fn edited(session: &Session, file: u32, mut changes: Vec<Change>) -> Option<Edited> {
    let source = session.sources.get(purlin_syntax::FileId(file))?;
    let path = Path::new(session.world.root()).join(source.path());
    let old = std::fs::read_to_string(&path).ok()?;
    // A file that was decoded differently, or is not on disk, is not touched.
    if old != source.text() {
        return None;
    }
    changes.sort_by_key(|change| change.start);
    changes.dedup_by_key(|change| change.start);
    let mut new = old.clone();
    for change in changes.iter().rev() {
        new.replace_range(change.start..change.end, &change.name);
    }
    Some(Edited { path, shown: source.path().to_owned(), old, new, count: changes.len() })
}
