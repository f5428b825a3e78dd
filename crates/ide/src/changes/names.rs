//! Names: their declarations, their mentions, and renaming.

use crate::Ide;
use crate::facts::{Facts, Mark, kind};
use crate::outline::Spot;
use crate::place::Place;
use crate::rename::{Renamed, place_of};
use purlin_compiler::{Named, Part};
use purlin_value::{World, path};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A change to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced range.
    pub place: Place,
    /// The replacement.
    pub text: String,
}

/// A declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// Its name in the text.
    pub place: Place,
    /// The whole declaration.
    pub whole: Place,
}

/// Kinds that can be renamed.
const RENAMED: &[&str] = &[
    kind::ACTION,
    kind::MODULE,
    kind::VARIABLE,
    kind::TEMPLATE,
    kind::INPUT,
    kind::ENVIRONMENT,
    kind::CONFIG,
    kind::PROFILE,
    kind::IMAGE,
    kind::VALUE,
    kind::NAMED_TEMPLATE,
    "node type",
    "data type",
    "capability type",
    "relationship type",
    "interface type",
    "artifact type",
    "group type",
    "policy type",
    "node template",
    "relationship template",
];

impl Ide {
    /// The declarations of a name, in the projects of a file.
    pub(crate) fn declarations(&self, file: &str, kind: &str, name: &str) -> Vec<Place> {
        let related = self.related(file);
        let found = related.iter().flat_map(|facts| {
            let same = facts.declared.iter().filter(|mark| mark.kind == kind && mark.name == name);
            same.map(|mark| facts.place(&mark.bytes))
        });
        found.collect()
    }

    /// The declarations or origins of the name or value at an offset.
    pub fn definition(&self, file: &str, offset: usize) -> Vec<Place> {
        let file = path::normalize(file);
        if let Some((projects, named)) = self.named_at(&file, offset) {
            let places = projects.table.group(named.group).filter(|one| one.is_declaration()).map(place_of);
            let places: Vec<Place> = places.collect();
            if !places.is_empty() {
                return places;
            }
        }
        let Some(facts) = self.facts(&file) else { return Vec::new() };
        let at = |mark: &&Mark| mark.bytes.start <= offset && offset <= mark.bytes.end;
        // A name may have several kinds; the first that is declared is used.
        for mark in facts.mentioned.iter().filter(at) {
            let places = self.declarations(&file, mark.kind, &mark.name);
            if !places.is_empty() {
                return places;
            }
        }
        if let Some(place) = self.file_at(&file, offset) {
            return vec![place];
        }
        if facts.declared.iter().any(|mark| at(&mark)) {
            return facts.declared.iter().filter(at).map(|mark| facts.place(&mark.bytes)).collect();
        }
        self.sources_of(&file, offset)
    }

    /// The file that a scalar names.
    fn file_at(&self, file: &str, offset: usize) -> Option<Place> {
        let context = self.context(file, offset)?;
        if !matches!(context.cursor.spot, Spot::Value | Spot::Item) || context.inside.is_some() {
            return None;
        }
        let text = context.text.get(context.cursor.word.clone())?.trim_matches(['"', '\'']);
        if text.is_empty() || !text.contains(['.', '/']) || text.contains("://") {
            return None;
        }
        let named = path::join(path::parent(file), text);
        let inner = ["", "/skaffold.yaml", "/Chart.yaml", "/garden.yml"];
        let found = inner.iter().map(|tail| format!("{named}{tail}")).find(|named| self.desk.read(named).is_ok())?;
        Some(Place::top(&path::normalize(&found)))
    }

    /// All mentions of the name at an offset, with its declarations if requested.
    pub fn references(&self, file: &str, offset: usize, declarations: bool) -> Vec<Place> {
        if let Some((projects, named)) = self.named_at(file, offset) {
            let wanted = |one: &&Named| declarations || !one.is_declaration();
            let places: BTreeSet<Place> = projects.table.group(named.group).filter(wanted).map(place_of).collect();
            return places.into_iter().collect();
        }
        let Some(mark) = self.mark_at(file, offset) else { return Vec::new() };
        self.occurrences(file, &mark, declarations)
    }

    /// The name at an offset; if it may have several kinds, the declared one.
    fn mark_at(&self, file: &str, offset: usize) -> Option<Mark> {
        let facts = self.facts(file)?;
        let at = |mark: &&Mark| mark.bytes.start <= offset && offset <= mark.bytes.end;
        let known = |mark: &&Mark| !self.declarations(file, mark.kind, &mark.name).is_empty();
        let mentioned = facts.mentioned.iter().filter(at).find(known);
        mentioned.or_else(|| facts.declared.iter().find(at)).or_else(|| facts.mentioned.iter().find(at)).cloned()
    }

    fn occurrences(&self, file: &str, wanted: &Mark, declarations: bool) -> Vec<Place> {
        let same = |mark: &&Mark| mark.kind == wanted.kind && mark.name == wanted.name;
        let mut places: BTreeSet<Place> = BTreeSet::new();
        for facts in self.related(file) {
            places.extend(facts.mentioned.iter().filter(same).map(|mark| facts.place(&mark.bytes)));
            if declarations {
                places.extend(facts.declared.iter().filter(same).map(|mark| facts.place(&mark.bytes)));
            }
        }
        places.into_iter().collect()
    }

    /// All occurrences of a name, in all projects: declarations first, each with its kind.
    pub fn references_of(&self, name: &str) -> Vec<(Symbol, bool)> {
        let projects = self.all_names();
        let noted: BTreeSet<&str> = projects.table.all().iter().map(|named| named.source.path()).collect();
        let is_called = |known: &str| known == name || known.rsplit('.').next() == Some(name);
        let mut found = Vec::new();
        for declared in [true, false] {
            let marks = projects.table.all().iter().filter(|named| is_called(&named.name));
            found.extend(marks.filter(|named| named.is_declaration() == declared).map(|named| (of(named), declared)));
            // Files of dialects that do not record names are searched by spelling.
            for facts in self.everything().iter().filter(|facts| !noted.contains(facts.source.path())) {
                let marks = if declared { &facts.declared } else { &facts.mentioned };
                let meant = marks.iter().filter(|mark| is_called(&mark.name));
                found.extend(meant.map(|mark| (symbol(facts, mark), declared)));
            }
        }
        found.dedup();
        found
    }

    /// The edits of a name in a dialect that does not record names, found by its spelling; the caller must verify them.
    pub(crate) fn spelled(&self, file: &str, offset: usize, new: &str) -> Option<Renamed> {
        let mark = self.mark_at(file, offset).filter(|mark| RENAMED.contains(&mark.kind))?;
        if self.declarations(file, mark.kind, &mark.name).is_empty() {
            return None;
        }
        let places = self.occurrences(file, &mark, true);
        let old = mark.name.rsplit('.').next().unwrap_or(&mark.name).to_owned();
        let edits = places.into_iter().map(|place| Edit { place, text: new.to_owned() }).collect();
        Some(Renamed { kind: mark.kind, old, edits })
    }

    /// The declarations of a file, in order.
    pub fn symbols(&self, file: &str) -> Vec<Symbol> {
        let Some(facts) = self.facts(file) else { return Vec::new() };
        let mut symbols: Vec<Symbol> = facts.declared.iter().map(|mark| symbol(&facts, mark)).collect();
        symbols.sort_by(|a, b| (a.whole.start, b.whole.end).cmp(&(b.whole.start, a.whole.end)));
        symbols
    }

    /// The declarations of all projects with names that contain a text.
    pub fn workspace_symbols(&self, query: &str) -> Vec<Symbol> {
        let query = query.to_lowercase();
        let fits = |mark: &&Mark| mark.name.to_lowercase().contains(&query);
        let all = self.everything();
        let found = all.iter().flat_map(|facts| facts.declared.iter().filter(fits).map(|mark| symbol(facts, mark)));
        found.take(2_000).collect()
    }

    /// All files that projects have read or that are open.
    fn everything(&self) -> Vec<Arc<Facts>> {
        let mut files: BTreeSet<String> = self.buffers.paths().into_iter().collect();
        for outcome in &self.picture().outcomes {
            files.extend(outcome.texts());
        }
        files.iter().filter(|file| crate::is_known(file)).filter_map(|file| self.facts(file)).collect()
    }
}

/// A name of the table.
fn of(named: &Named) -> Symbol {
    let place = place_of(named);
    let whole = match named.part {
        Part::Declares(start, end) => Place::of(&named.source, start as usize..end as usize),
        _ => place.clone(),
    };
    Symbol { name: named.name.to_string(), kind: named.kind, place, whole }
}

fn symbol(facts: &Facts, mark: &Mark) -> Symbol {
    Symbol {
        name: mark.name.to_string(),
        kind: mark.kind,
        place: facts.place(&mark.bytes),
        whole: facts.place(&mark.whole),
    }
}
