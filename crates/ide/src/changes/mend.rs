//! Corrects misspelt names of a project, in memory.
//!
//! Only the edits attached to findings are applied. After that the project is checked again: a correction stays if the
//! problem is gone and no other one has appeared, or if new problems can be corrected the same way (a misspelt key
//! hides the problems below it). Any other correction is undone, with the reason. Writes nothing.

use crate::buffers::{Buffers, Desk};
use purlin_compiler::survey;
use purlin_model::Request;
use purlin_syntax::{Diagnostic, Edit, FileId, Relation, Source};
use purlin_value::Session;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of rounds in which corrections uncover others.
const ROUNDS: usize = 20;

/// Maximum number of checks to find out which of several corrections is wrong.
const MOST_CHECKS: usize = 200;

/// A correction, identified by its line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Correction {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The misspelt text.
    pub wrong: String,
    /// The correct text.
    pub right: String,
}

/// A correction that was undone.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The correction.
    pub correction: Correction,
    /// The problem that it would cause.
    pub reason: String,
}

/// A corrected file.
#[derive(Clone, Debug)]
pub struct Corrected {
    /// Its text before.
    pub old: Arc<str>,
    /// Its text now.
    pub new: Arc<str>,
    /// Number of corrected words.
    pub count: usize,
}

/// A project after correction.
pub struct Mended {
    /// The session of the last check; its sink has the remaining problems.
    pub session: Session,
    /// The files to write, by path.
    pub files: BTreeMap<String, Corrected>,
    /// Corrections that were undone, with reasons.
    pub refused: Vec<Refused>,
}

/// A project whose corrected files are in memory.
struct Draft<'p> {
    opened: &'p Session,
    request: &'p Request,
    buffers: Arc<Buffers>,
    files: BTreeMap<String, Corrected>,
    refused: Vec<Refused>,
    checks: usize,
}

/// The problem and the edit of a correction.
struct About {
    problem: Placed,
    edits: Vec<Edit>,
}

/// A problem and its line.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Placed {
    rule: &'static str,
    message: String,
    path: String,
    line: u32,
}

impl Placed {
    fn of(session: &Session, problem: &Diagnostic) -> Option<Self> {
        let span = problem.span?;
        let source = session.sources.get(span.file)?;
        let (path, line) = (source.path().to_owned(), source.position(span.start).line);
        Some(Placed { rule: problem.rule.name, message: problem.message.clone(), path, line })
    }
}

/// A checked project with its problems.
struct Checked {
    session: Session,
    found: Vec<Diagnostic>,
    placed: HashSet<Placed>,
    /// Number of occurrences of each problem, wherever it is: corrections move locations.
    counts: HashMap<(&'static str, String), usize>,
}

/// Corrects the project of a request.
pub fn mend(opened: &Session, request: &Request) -> Mended {
    let (buffers, files) = (Arc::default(), BTreeMap::new());
    let mut draft = Draft { opened, request, buffers, files, refused: Vec::new(), checks: 0 };
    let session = draft.correct().session;
    Mended { session, files: draft.files, refused: draft.refused }
}

impl Checked {
    fn of(session: Session) -> Self {
        let found = session.sink.since(0);
        let mut counts = HashMap::new();
        for problem in &found {
            *counts.entry(identity(problem)).or_insert(0) += 1;
        }
        let placed = found.iter().filter_map(|problem| Placed::of(&session, problem)).collect();
        Checked { session, found, placed, counts }
    }

    /// The problems that did not exist before.
    fn new_since<'c>(&'c self, before: &Checked) -> Vec<&'c Diagnostic> {
        let known = |problem: &Diagnostic| before.counts.get(&identity(problem)).copied().unwrap_or(0);
        let is_new = |problem: &&Diagnostic| self.counts.get(&identity(problem)).copied().unwrap_or(0) > known(problem);
        self.found.iter().filter(is_new).collect()
    }
}

fn identity(problem: &Diagnostic) -> (&'static str, String) {
    (problem.rule.name, problem.message.clone())
}

impl Draft<'_> {
    /// Corrects until no corrections remain, and returns the last check.
    fn correct(&mut self) -> Checked {
        let mut checked = self.look();
        for _ in 0..ROUNDS {
            let wanted: BTreeSet<Correction> = self.corrections(&checked, checked.found.iter()).into_keys().collect();
            if wanted.is_empty() {
                break;
            }
            checked = self.keep_good(checked, wanted);
        }
        checked
    }

    /// Checks the project in its current state in memory.
    fn look(&self) -> Checked {
        let desk = Desk::new(self.opened.world.clone(), self.buffers.clone());
        let session = Session::with_limits(Arc::new(desk), self.opened.limits.clone(), self.opened.threads);
        let names = self.opened.sources.clone();
        session.sources.show_as(move |path| Some(names.shown(path)));
        survey(&session, self.request, std::slice::from_ref(&self.request.path));
        Checked::of(session)
    }

    /// Keeps the good ones among some corrections: all of them, or else halves of them, down to single ones.
    fn keep_good(&mut self, mut checked: Checked, wanted: BTreeSet<Correction>) -> Checked {
        let mut groups = vec![wanted];
        while let Some(group) = groups.pop() {
            self.checks += 1;
            let reason = match self.checks > MOST_CHECKS {
                true => "there are too many corrections to try them one by one".to_owned(),
                false => match self.tried(&checked, &group) {
                    Ok(better) => {
                        checked = better;
                        continue;
                    }
                    Err(reason) => reason,
                },
            };
            let mut first = group;
            let middle = first.iter().nth(first.len() / 2).cloned();
            match middle.filter(|_| first.len() > 1 && self.checks <= MOST_CHECKS) {
                Some(middle) => {
                    let second = first.split_off(&middle);
                    groups.extend([second, first]);
                }
                None => {
                    let refused = first.into_iter();
                    self.refused.extend(refused.map(|correction| Refused { correction, reason: reason.clone() }));
                }
            }
        }
        checked
    }

    /// Applies corrections and the corrections that follow from them; undoes all of it if a problem remains, or if a
    /// new one appears, and returns which.
    fn tried(&mut self, before: &Checked, wanted: &BTreeSet<Correction>) -> Result<Checked, String> {
        let saved = self.files.clone();
        let mut made = self.corrections(before, before.found.iter());
        made.retain(|correction, _| wanted.contains(correction));
        self.make(before, &made);
        let checked = self.look();
        let outcome = match made.values().find(|about| checked.placed.contains(&about.problem)) {
            Some(about) => Err(about.problem.message.clone()),
            None => self.follow(before, checked),
        };
        if outcome.is_err() {
            self.return_to(saved);
        }
        outcome
    }

    /// Applies further corrections until there are no new problems.
    fn follow(&mut self, before: &Checked, mut checked: Checked) -> Result<Checked, String> {
        for _ in 0..ROUNDS {
            let new = checked.new_since(before);
            let Some(reason) = new.first().map(|problem| problem.message.clone()) else { return Ok(checked) };
            let further = self.corrections(&checked, new.into_iter());
            if further.is_empty() {
                return Err(reason);
            }
            self.make(&checked, &further);
            checked = self.look();
        }
        Err("one correction would lead to the next without end".to_owned())
    }

    /// The corrections suggested by problems, except for refused ones.
    fn corrections<'p>(
        &self,
        checked: &Checked,
        problems: impl Iterator<Item = &'p Diagnostic>,
    ) -> BTreeMap<Correction, About> {
        let sources = &checked.session.sources;
        let mut found: BTreeMap<Correction, About> = BTreeMap::new();
        for problem in problems {
            let Some(problem_place) = Placed::of(&checked.session, problem) else { continue };
            let uses = problem.labels.iter().filter(|label| label.relation == Relation::Use).map(|label| label.span);
            for span in problem.span.into_iter().chain(uses) {
                let Some(source) = sources.get(span.file).filter(|source| self.is_whole(source)) else {
                    continue;
                };
                let Some(edit) = problem.edit_in(span, &source) else { continue };
                let correction = Correction {
                    path: source.path().to_owned(),
                    line: source.position(edit.span.start).line,
                    wrong: source.slice(edit.span).to_owned(),
                    right: edit.text.clone(),
                };
                if self.refused.iter().any(|refused| refused.correction == correction) {
                    continue;
                }
                let about = found.entry(correction);
                about.or_insert_with(|| About { problem: problem_place.clone(), edits: Vec::new() }).edits.push(edit);
            }
        }
        found
    }

    /// Whether a text is the whole file on disk or in memory: texts that were decoded differently are not changed.
    fn is_whole(&self, source: &Source) -> bool {
        match self.files.get(source.path()) {
            Some(file) => *file.new == *source.text(),
            None => self.opened.world.read(source.path()).is_ok_and(|bytes| *bytes == *source.text().as_bytes()),
        }
    }

    /// Applies corrections in memory.
    fn make(&mut self, checked: &Checked, corrections: &BTreeMap<Correction, About>) {
        let mut by_file: BTreeMap<u32, Vec<&Edit>> = BTreeMap::new();
        for edit in corrections.values().flat_map(|about| &about.edits) {
            by_file.entry(edit.span.file.0).or_default().push(edit);
        }
        for (file, mut edits) in by_file {
            let Some(source) = checked.session.sources.get(FileId(file)) else { continue };
            edits.sort_by_key(|edit| edit.span.start);
            edits.dedup_by_key(|edit| edit.span.start);
            let Some(new) = edited(source.text(), &edits) else { continue };
            self.buffers.set(source.path(), &new);
            let fresh = || Corrected { old: source.text().into(), new: Arc::from(""), count: 0 };
            let file = self.files.entry(source.path().to_owned()).or_insert_with(fresh);
            file.new = new.into();
            file.count += edits.len();
        }
    }

    /// Restores an earlier state.
    fn return_to(&mut self, files: BTreeMap<String, Corrected>) {
        for path in self.files.keys() {
            match files.get(path) {
                Some(file) => self.buffers.set(path, &file.new),
                None => self.buffers.close(path),
            }
        }
        self.files = files;
    }
}

/// A text with edits applied, which are sorted.
fn edited(text: &str, edits: &[&Edit]) -> Option<String> {
    let (mut new, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        new.push_str(text.get(at..edit.span.start as usize)?);
        new.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    new.push_str(text.get(at..)?);
    Some(new)
}
