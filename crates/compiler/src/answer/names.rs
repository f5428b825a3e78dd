//! The names of projects over all their variants: the locations that declare and use each name.
//!
//! Every variant records names while it is resolved; locations with the same name in any of them have the same name.
//! The result of each variant is kept beside the names, so that a rename can compare the results before and after.

use crate::survey::Claim;
use purlin_model::{Request, Resolved, Variant};
use purlin_syntax::{Diagnostic, Limits, Source, Sources, Span};
use purlin_value::{Bound, EcoString, NameId, NameRole, NoteBook, Read, Session, World};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Role of a location for a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Declares it; first and last byte of the whole declaration.
    Declares(u32, u32),
    /// Uses it.
    Uses,
    /// Depends on it, but cannot be edited.
    Bound(Bound),
}

/// A name at a place.
#[derive(Clone, Debug)]
pub struct Named {
    /// The text it is written in.
    pub source: Arc<Source>,
    /// First byte of the text that a rename replaces.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Kind of the named entity.
    pub kind: &'static str,
    /// The whole name.
    pub name: EcoString,
    /// Role of the location.
    pub part: Part,
    /// Places of one group mean the same.
    pub group: usize,
}

impl Named {
    /// Its text.
    pub fn text(&self) -> &str {
        self.source.text().get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// Whether it declares the name.
    pub fn is_declaration(&self) -> bool {
        matches!(self.part, Part::Declares(..))
    }
}

/// The names of some projects, by file and place.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    all: Vec<Named>,
    groups: HashMap<usize, Vec<usize>>,
}

/// Result of a variant of a project.
pub struct VariantResult {
    /// The file that makes it a project.
    pub project: String,
    /// The variant's name; empty for the project as it is.
    pub variant: EcoString,
    /// Noun for a variant: `environment`, `profile`.
    pub noun: &'static str,
    /// The project, as far as it could be resolved.
    pub resolved: Option<Resolved>,
    /// Its problems.
    pub problems: Vec<Diagnostic>,
    /// The texts that the problems point at.
    pub sources: Arc<Sources>,
}

/// Projects with their names, in all variants.
#[derive(Default)]
pub struct NamedProjects {
    /// Their names.
    pub table: NameTable,
    /// Results of all variants of each project.
    pub results: Vec<VariantResult>,
    /// The files that they have read.
    pub files: HashSet<String>,
}

/// Resolves every variant of some projects and notes their names.
pub fn names(world: &Arc<dyn World>, limits: &Limits, request: &Request, claims: &[Claim]) -> NamedProjects {
    let mut found = NamedProjects::default();
    let mut merge = Merge::default();
    for (number, claim) in claims.iter().enumerate() {
        let session = Session::with_limits(world.clone(), limits.clone(), 1).noting_names();
        // Their problems are reported by each of the variants, too.
        let (mut variants, found_again) = session.sink.apart(|| claim.variants(&session, request));
        drop(found_again);
        if variants.is_empty() {
            variants.push(Variant { name: "".into(), request: request.clone() });
        }
        for variant in variants {
            let own = session.sibling();
            let (resolved, problems) = own.sink.apart(|| claim.resolve(&own, &variant.request));
            found.results.push(VariantResult {
                project: claim.file().to_owned(),
                variant: variant.name,
                noun: claim.dialect().variants.noun,
                resolved,
                problems: problems.into_vec(),
                sources: own.sources.clone(),
            });
        }
        merge.add(number, &session.sources, session.names.take());
        found.files.extend(session.reads().into_iter().filter_map(|read| match read {
            Read::File(file) => Some(file),
            _ => None,
        }));
    }
    found.table = merge.table();
    found
}

/// Entity of a name, comparable between runs: files are identified by their paths.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Key {
    Place(EcoString, u32, u32),
    Named(usize, &'static str, EcoString, EcoString),
}

/// A place in a file, its role, and the number of its name.
type Mark = (EcoString, u32, u32, Part, usize);

/// Puts the notes of several projects together.
#[derive(Default)]
struct Merge {
    keys: HashMap<Key, usize>,
    /// For each key another one of its group, or itself.
    above: Vec<usize>,
    /// By place and role; places that cannot be edited may depend on several names.
    marks: BTreeMap<Mark, (Named, usize)>,
}

impl Merge {
    fn add(&mut self, project: usize, sources: &Sources, book: NoteBook) {
        let path = |span: Span| sources.get(span.file).map(|source| EcoString::from(source.path()));
        let key = |id: &NameId| match id {
            NameId::Place(span) => Some(Key::Place(path(*span)?, span.start, span.end)),
            NameId::Named { kind, space, name } => Some(Key::Named(project, kind, space.clone(), name.clone())),
        };
        for mark in book.marks {
            let (Some(source), Some(key)) = (sources.get(mark.span.file), key(&mark.id)) else { continue };
            let (start, end) = (mark.span.start, mark.span.end);
            let part = match mark.role {
                NameRole::Declares(whole) => Part::Declares(whole.start.min(start), whole.end.max(end)),
                NameRole::Uses => Part::Uses,
                NameRole::Bound(why) => Part::Bound(why),
            };
            let key = self.number(key);
            let place = EcoString::from(source.path());
            // One place that means several things ties them together, unless it cannot be edited anyway.
            if !matches!(part, Part::Bound(_)) {
                let here = self.number(Key::Place(place.clone(), start, end));
                self.join(key, here);
            }
            let named = Named { source, start, end, kind: mark.kind, name: mark.name, part: part.clone(), group: 0 };
            // Several declarations of one place differ in their extent only; the widest is kept.
            let slot = match part {
                Part::Declares(..) => Part::Declares(0, 0),
                Part::Bound(_) => Part::Bound(Bound::Text),
                Part::Uses => Part::Uses,
            };
            let of = if matches!(slot, Part::Bound(_)) { key } else { 0 };
            let at = (place, start, end, slot, of);
            let known = self.marks.entry(at).or_insert_with(|| (named.clone(), key));
            if width(&named.part) > width(&known.0.part) {
                known.0 = named;
            }
        }
        for (one, other) in &book.same {
            if let (Some(one), Some(other)) = (key(one), key(other)) {
                let (one, other) = (self.number(one), self.number(other));
                self.join(one, other);
            }
        }
    }

    fn number(&mut self, key: Key) -> usize {
        let next = self.above.len();
        let number = *self.keys.entry(key).or_insert(next);
        if number == next {
            self.above.push(next);
        }
        number
    }

    fn top(&mut self, mut at: usize) -> usize {
        while let Some(&next) = self.above.get(at).filter(|next| **next != at) {
            // Halving the way keeps later walks short.
            if let Some(&beyond) = self.above.get(next) {
                self.above[at] = beyond;
            }
            at = next;
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.top(one), self.top(other));
        self.above[one.max(other)] = one.min(other);
    }

    fn table(mut self) -> NameTable {
        let mut table = NameTable::default();
        for (mut named, key) in std::mem::take(&mut self.marks).into_values() {
            named.group = self.top(key);
            table.groups.entry(named.group).or_default().push(table.all.len());
            table.all.push(named);
        }
        table
    }
}

fn width(part: &Part) -> u32 {
    if let Part::Declares(start, end) = part { end.saturating_sub(*start) } else { 0 }
}

impl NameTable {
    /// All names by file and place.
    pub fn all(&self) -> &[Named] {
        &self.all
    }

    /// The names at an offset of a file, the shortest first; declarations before uses.
    pub fn at(&self, file: &str, offset: u32) -> Vec<&Named> {
        let is_here = |named: &&Named| {
            named.start <= offset && offset <= named.end && named.source.path() == file && named.end > named.start
        };
        let mut found: Vec<&Named> = self.all.iter().filter(is_here).collect();
        found.sort_by_key(|named| {
            (matches!(named.part, Part::Bound(_)), named.end - named.start, !named.is_declaration())
        });
        found
    }

    /// All places with the same meaning as a place.
    pub fn group(&self, group: usize) -> impl Iterator<Item = &Named> {
        self.groups.get(&group).into_iter().flatten().filter_map(|&index| self.all.get(index))
    }
}
