//! `why --blame`: the commit, author and date of each line of an answer.
//!
//! A line of the work tree is looked up in the committed file; a line that is missing there is not committed yet.

use super::Context;
use crate::invocation::Exit;
use crate::native;
use crate::project::repository_of;
use purlin_compiler::{Made, Place};
use purlin_host::fetch::{Authored, History};
use purlin_syntax::print::escape;
use purlin_value::{Map, Session, Value, path};
use similar::{DiffOp, TextDiff};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The location of a line: its file, as messages show it, and its number.
type At = (String, u32);

/// The authors of lines. Lines outside the repository are missing.
#[derive(Default)]
pub(super) struct Blame {
    lines: HashMap<At, Written>,
}

/// The history of a line.
enum Written {
    By(Authored),
    /// It is not committed.
    NotYet,
}

/// Maximum length of an author's name.
const NAME: usize = 20;

impl Blame {
    /// The authors of the lines at some locations.
    pub(super) fn of(
        cx: &mut Context<'_, '_>,
        session: &Session,
        path: &Path,
        revision: Option<&str>,
        places: &[&Place],
    ) -> Result<Blame, Exit> {
        let full = native::canonical_or_same(cx.invocation.cwd.join(path));
        let repository = repository_of(&full);
        let history = History::open(&cx.invocation.env, &repository, revision)
            .map_err(|why| cx.io(&format!("cannot read the history of `{}`: {}", path.display(), why.reason())))?;
        let mut files: HashMap<&str, BTreeSet<u32>> = HashMap::new();
        for place in places {
            files.entry(&place.file).or_default().insert(place.line);
        }
        let sources = session.sources.all();
        let mut blame = Blame::default();
        for (file, lines) in files {
            let Some(inside) = inside(&cx.invocation.cwd, &repository, file) else { continue };
            let source = sources.iter().find(|source| session.sources.shown(source.path()) == file);
            let Some(text) = source.map(|source| source.text()) else { continue };
            let Some(committed) = history.text(&inside) else {
                blame.lines.extend(lines.into_iter().map(|line| ((file.to_owned(), line), Written::NotYet)));
                continue;
            };
            let same = committed_lines(&committed, text);
            let asked: Vec<u32> = lines.iter().filter_map(|line| same.get(line).copied()).collect();
            let authors = match asked.is_empty() {
                true => HashMap::new(),
                false => history
                    .authors(&inside, &asked)
                    .map_err(|why| cx.io(&format!("cannot read the history of `{file}`: {}", why.reason())))?,
            };
            let written = |line: u32| match same.get(&line).and_then(|line| authors.get(line)) {
                Some(authored) => Written::By(authored.clone()),
                None => Written::NotYet,
            };
            blame.lines.extend(lines.into_iter().map(|line| ((file.to_owned(), line), written(line))));
        }
        Ok(blame)
    }

    fn at(&self, place: &Place) -> Option<&Written> {
        self.lines.get(&(place.file.clone(), place.line))
    }

    /// `3f2a1c9d0 2026-11-18 Ada`; empty for a line outside the repository.
    pub(super) fn text(&self, place: &Place) -> String {
        match self.at(place) {
            Some(Written::By(authored)) => {
                let name: String = escape(&authored.author).chars().take(NAME).collect();
                let oldest = if authored.is_oldest { "^" } else { "" };
                format!("{oldest}{} {} {name}", authored.commit, authored.date)
            }
            Some(Written::NotYet) => "not committed".to_owned(),
            None => String::new(),
        }
    }

    /// The same as data.
    pub(super) fn value(&self, place: &Place) -> Option<Value> {
        let text = |text: &str| Value::str(escape(text).to_string());
        match self.at(place)? {
            Written::By(authored) => {
                let entries = [
                    ("commit", text(&authored.commit)),
                    ("author", text(&authored.author)),
                    ("date", text(&authored.date)),
                    ("summary", text(&authored.summary)),
                    ("oldest", Value::from(authored.is_oldest)),
                ];
                Some(Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map>()))
            }
            Written::NotYet => Some(Value::null()),
        }
    }

    /// The most recently changed line among those that contributed to a value, with its commit message.
    pub(super) fn last_change(&self, made: &Made) -> Option<String> {
        let mut last: Option<(&Place, &Written)> = None;
        let mut open = vec![made];
        while let Some(step) = open.pop() {
            open.extend(&step.inputs);
            let Some(place) = &step.cause.place else { continue };
            let Some(written) = self.at(place) else { continue };
            let time = |written: &Written| match written {
                Written::By(authored) => authored.time,
                Written::NotYet => i64::MAX,
            };
            if last.is_none_or(|(_, known)| time(known) < time(written)) {
                last = Some((place, written));
            }
        }
        let (place, written) = last?;
        let at = purlin_compiler::place_text(place);
        Some(match written {
            Written::NotYet => format!("{at} is not committed"),
            Written::By(authored) => {
                let Authored { commit, author, date, summary, .. } = authored;
                format!("{at} by {} on {date}, {commit}: {}", escape(author), escape(summary))
            }
        })
    }
}

/// All locations in the derivation of a value.
pub(super) fn places(made: &Made) -> Vec<&Place> {
    let (mut found, mut open) = (Vec::new(), vec![made]);
    while let Some(step) = open.pop() {
        found.extend(&step.cause.place);
        found.extend(step.because.iter().filter_map(|because| because.place.as_ref()));
        open.extend(step.inputs.iter().chain(&step.overrode));
    }
    found
}

/// The path of a file in its repository; `None` outside.
fn inside(cwd: &Path, repository: &Path, file: &str) -> Option<String> {
    let full = path::normalize(&native::world_text(&native::canonical_or_same(cwd.to_owned()).join(file)));
    let inside = PathBuf::from(full).strip_prefix(repository).ok()?.to_owned();
    Some(native::world_text(&inside)).filter(|inside| !inside.is_empty())
}

/// The lines of a text that also exist in an earlier one, with their numbers there.
fn committed_lines(before: &str, now: &str) -> HashMap<u32, u32> {
    let diff = TextDiff::from_lines(before, now);
    let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    let same = diff.ops().iter().filter_map(|op| match op {
        DiffOp::Equal { old_index, new_index, len } => Some((*old_index, *new_index, *len)),
        _ => None,
    });
    same.flat_map(|(old, new, len)| (0..len).map(move |at| (number(new + at), number(old + at)))).collect()
}
