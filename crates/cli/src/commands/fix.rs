//! `purlin fix`: corrects names that are misspelt where there is one name that was meant.
//!
//! Only what a hint names exactly is changed, at the very place of the problem. A correction may uncover further
//! mistakes, so the project is checked again, in memory, until nothing is left to correct. A correction that is wrong
//! itself at its own place is taken back; nothing is written before all is decided.

use super::Context;
use super::files::{difference, plural};
use crate::args::Target;
use crate::border::write_atomically;
use crate::invocation::Exit;
use purlin_compiler::survey;
use purlin_ide::{Buffers, Desk};
use purlin_model::Request;
use purlin_syntax::{Diagnostic, Severity, Span};
use purlin_value::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// How often corrections may uncover others.
const ROUNDS: usize = 20;

/// A name that is replaced by another.
#[derive(Clone, Debug)]
struct Change {
    start: usize,
    end: usize,
    name: String,
}

/// A correction, wherever it is made: the file, what is written there, and what was meant.
type Correction = (String, String, String);

/// The corrections of one file in one round.
struct Edited {
    path: String,
    old: Arc<str>,
    new: String,
    /// Where the names are now.
    places: Vec<(Range<usize>, Correction)>,
}

/// A project whose corrected files are in memory.
struct Draft {
    opened: Session,
    request: Request,
    buffers: Arc<Buffers>,
    /// What files were before the first correction, and how many names were corrected in them.
    before: BTreeMap<String, (Arc<str>, usize)>,
    /// Corrections that turned out wrong.
    refused: BTreeSet<Correction>,
}

pub(super) fn run(cx: &mut Context<'_, '_>, path: &Path, show: bool) -> Result<Exit, Exit> {
    let (opened, request) = cx.open_any(path, &Target::default(), &[])?;
    let (buffers, before, refused) = (Arc::default(), BTreeMap::new(), BTreeSet::new());
    let mut draft = Draft { opened, request, buffers, before, refused };
    let session = draft.correct();
    let left = session.sink.count(Severity::Error);
    let count: usize = draft.before.values().map(|(_, count)| count).sum();
    for (path, (old, _)) in &draft.before {
        let new = draft.buffers.get(path).unwrap_or_default();
        if show {
            cx.print(&difference(&session.sources.shown(path), old, &new), None);
        } else {
            write(cx, &Path::new(session.world.root()).join(path), &new)?;
        }
    }
    let exit = cx.report(&session);
    let files = plural(draft.before.len(), "file");
    let verb = if show { "to correct" } else { "corrected" };
    let (count_text, left) = (plural(count, "name"), plural(left, "error"));
    let _ = writeln!(cx.invocation.stderr, "{count_text} {verb} in {files}, {left} left");
    Ok(if show && count > 0 && exit == Exit::Ok { Exit::Invalid } else { exit })
}

fn write(cx: &mut Context<'_, '_>, path: &Path, text: &str) -> Result<(), Exit> {
    write_atomically(path, text.as_bytes())
        .map_err(|error| cx.io(&format!("could not write `{}`: {error}", path.display())))
}

impl Draft {
    /// Corrects until nothing is left to correct, and returns what is found then.
    fn correct(&mut self) -> Session {
        let mut session = self.look();
        for _ in 0..ROUNDS {
            let edited = self.edits(&session);
            if edited.is_empty() {
                break;
            }
            edited.iter().for_each(|file| self.buffers.set(&file.path, &file.new));
            session = self.look();
            if !self.take_back(&session, &edited) {
                for file in edited {
                    let known = self.before.entry(file.path).or_insert((file.old, 0));
                    known.1 += file.places.len();
                }
                continue;
            }
            session = self.look();
        }
        session
    }

    /// Checks the project as it is in memory.
    fn look(&self) -> Session {
        let desk = Desk::new(self.opened.world.clone(), self.buffers.clone());
        let session = Session::with_limits(Arc::new(desk), self.opened.limits.clone(), self.opened.threads);
        let names = self.opened.sources.clone();
        session.sources.show_as(move |path| Some(names.shown(path)));
        survey(&session, &self.request, std::slice::from_ref(&self.request.path));
        session
    }

    /// Takes the files of a round back if one of its corrections is an error where it stands; that one is not tried
    /// again.
    fn take_back(&mut self, session: &Session, edited: &[Edited]) -> bool {
        let found = session.sink.since(0);
        let errors: Vec<(String, Span)> = found
            .iter()
            .filter(|problem| problem.is_error())
            .filter_map(|problem| Some((session.sources.get(problem.span?.file)?.path().to_owned(), problem.span?)))
            .collect();
        let mut wrong = Vec::new();
        for file in edited {
            let is_hit = |place: &Range<usize>| {
                let inside = |span: &Span| place.start <= span.start as usize && span.end as usize <= place.end;
                errors.iter().any(|(path, span)| *path == file.path && inside(span))
            };
            wrong.extend(file.places.iter().filter(|(place, _)| is_hit(place)).map(|(_, what)| what.clone()));
        }
        if wrong.is_empty() {
            return false;
        }
        self.refused.extend(wrong);
        for file in edited {
            // Earlier rounds stay.
            match self.before.contains_key(&file.path) {
                true => self.buffers.set(&file.path, &file.old),
                false => self.buffers.close(&file.path),
            }
        }
        true
    }

    /// The files that would change. What is found stays in the session's sink.
    fn edits(&self, session: &Session) -> Vec<Edited> {
        let mut changes: BTreeMap<u32, Vec<Change>> = BTreeMap::new();
        for diagnostic in &session.sink.since(0) {
            let (Some(span), Some(name)) = (diagnostic.span, meant(diagnostic)) else { continue };
            let Some(source) = session.sources.get(span.file) else { continue };
            let written = source.slice(span).trim_matches(['"', '\'']);
            // The place must be the very name; a longer one may hold an expression around it.
            let is_name = !written.is_empty() && !written.contains(['\n', ' ']);
            let correction = (source.path().to_owned(), written.to_owned(), name.to_owned());
            if !is_name || !diagnostic.message.contains(&format!("`{written}`")) || self.refused.contains(&correction) {
                continue;
            }
            let start = span.start as usize + source.slice(span).find(written).unwrap_or(0);
            let change = Change { start, end: start + written.len(), name: name.to_owned() };
            changes.entry(span.file.0).or_default().push(change);
        }
        changes.into_iter().filter_map(|(file, changes)| self.edited(session, file, changes)).collect()
    }

    fn edited(&self, session: &Session, file: u32, mut changes: Vec<Change>) -> Option<Edited> {
        let source = session.sources.get(purlin_syntax::FileId(file))?;
        let old: Arc<str> = match self.buffers.get(source.path()) {
            Some(text) => text,
            None => std::fs::read_to_string(Path::new(session.world.root()).join(source.path())).ok()?.into(),
        };
        // A file that was decoded differently, or is not on disk, is not touched.
        if *old != *source.text() {
            return None;
        }
        changes.sort_by_key(|change| change.start);
        changes.dedup_by_key(|change| change.start);
        let (mut new, mut at, mut places) = (String::with_capacity(old.len()), 0, Vec::new());
        for change in &changes {
            new.push_str(old.get(at..change.start)?);
            let written = old.get(change.start..change.end)?;
            let correction = (source.path().to_owned(), written.to_owned(), change.name.clone());
            places.push((new.len()..new.len() + change.name.len(), correction));
            new.push_str(&change.name);
            at = change.end;
        }
        new.push_str(old.get(at..)?);
        Some(Edited { path: source.path().to_owned(), old, new, places })
    }
}

/// The name that a hint says was meant.
fn meant(diagnostic: &Diagnostic) -> Option<&str> {
    let [hint] = diagnostic.hints.as_slice() else { return None };
    hint.strip_prefix("did you mean `")?.strip_suffix("`?").filter(|name| !name.contains('`'))
}
