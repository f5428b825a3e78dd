//! Phase 2, namespaces: the meaning of each name per file.
//!
//! Every file has one namespace, made of its own names, those of its imports (with their prefix) and those of the
//! implicit profile. Kinds are independent: a node type and a capability type may share a name.
//!
//! Names behind a prefix are looked up in the file that was imported with the prefix. They are not copied: libraries
//! import each other along so many paths that all combinations of paths and names would not fit in memory.

use crate::edition::Standard;
use crate::entities;
use crate::load::{Files, Import};
use crate::names::{Decl, DeclId};
use crate::problem::Problems;
use crate::rules;
use ecow::{EcoString, eco_format};
use purlin_model::Kind;
use purlin_syntax::Diagnostic;
use purlin_value::FastMap;
use std::collections::{HashSet, VecDeque};

/// Declarations by name, for each kind.
#[derive(Clone, Debug, Default)]
struct Table {
    kinds: FastMap<Kind, FastMap<EcoString, DeclId>>,
}

impl Table {
    fn get(&self, kind: Kind, name: &str) -> Option<DeclId> {
        self.kinds.get(&kind)?.get(name).copied()
    }

    fn insert(&mut self, kind: Kind, name: EcoString, id: DeclId) {
        self.kinds.entry(kind).or_default().insert(name, id);
    }

    /// All names, in the order of their declarations.
    fn sorted(&self) -> Vec<(Kind, &EcoString, DeclId)> {
        let all = self.kinds.iter().flat_map(|(kind, names)| names.iter().map(|(name, id)| (*kind, name, *id)));
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by_key(|(_, name, id)| (*id, *name));
        all
    }
}

/// The names of one file.
#[derive(Clone, Debug, Default)]
struct Namespace {
    /// Names without a prefix: its own, and those of imports without one.
    bare: Table,
    /// The files behind each prefix.
    prefixes: FastMap<EcoString, Vec<usize>>,
    /// Whether `.` separates a prefix from a name, and not `:`.
    dotted: bool,
}

impl Namespace {
    fn separator(&self) -> char {
        if self.dotted { '.' } else { ':' }
    }

    fn add_prefix(&mut self, prefix: &EcoString, file: usize) {
        let files = self.prefixes.entry(prefix.clone()).or_default();
        if !files.contains(&file) {
            files.push(file);
        }
    }

    /// The files in which the rest of a name is looked up, each with that rest.
    fn behind<'n>(&self, name: &'n str) -> impl Iterator<Item = (usize, &'n str)> {
        let splits = name.match_indices(self.separator()).filter(|_| !self.prefixes.is_empty());
        splits.flat_map(move |(at, separator)| {
            let files = name.get(..at).and_then(|prefix| self.prefixes.get(prefix));
            let rest = name.get(at + separator.len()..).unwrap_or_default();
            // In the extended edition the later import overrides the earlier one; elsewhere it is ambiguous.
            let files = files.into_iter().flatten().copied();
            let (first, last) = if self.dotted { (None, Some(files.rev())) } else { (Some(files), None) };
            first.into_iter().flatten().chain(last.into_iter().flatten()).map(move |file| (file, rest))
        })
    }
}

/// The namespaces of all files.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    list: Vec<Namespace>,
    implicit: Table,
}

impl Namespaces {
    /// The declaration that a name means in a file.
    pub(crate) fn find(&self, file: usize, kind: Kind, name: &str) -> Option<DeclId> {
        let bare = |file: usize, name: &str| {
            let own = self.list.get(file).and_then(|namespace| namespace.bare.get(kind, name));
            // A normative name may be reached through a prefix too.
            own.or_else(|| self.implicit.get(kind, name))
        };
        if let Some(found) = bare(file, name) {
            return Some(found);
        }
        let mut waiting: Vec<(usize, &str)> = self.list.get(file)?.behind(name).collect();
        waiting.reverse();
        // Prefixes may lead to the same file along several paths.
        let mut seen: HashSet<(usize, usize)> = HashSet::new();
        while let Some((file, rest)) = waiting.pop() {
            if let Some(found) = bare(file, rest) {
                return Some(found);
            }
            if !rest.is_empty() && seen.insert((file, rest.len())) {
                let before = waiting.len();
                waiting.extend(self.list.get(file).into_iter().flat_map(|namespace| namespace.behind(rest)));
                if let Some(added) = waiting.get_mut(before..) {
                    added.reverse();
                }
            }
        }
        None
    }

    /// Names of a kind that are visible in a file, those behind fewer prefixes first; at most `most`.
    pub(crate) fn visible(&self, file: usize, kind: Kind, most: usize) -> Vec<EcoString> {
        let names =
            |table: &Table| table.kinds.get(&kind).into_iter().flat_map(|names| names.keys().cloned()).collect();
        let mut found: Vec<EcoString> = names(&self.implicit);
        let mut waiting = VecDeque::from([(EcoString::new(), file)]);
        for _ in 0..most {
            let Some((before, file)) = waiting.pop_front() else { break };
            let Some(namespace) = self.list.get(file) else { continue };
            let bare: Vec<EcoString> = names(&namespace.bare);
            found.extend(bare.into_iter().map(|name| eco_format!("{before}{name}")));
            if found.len() >= most {
                break;
            }
            let mut prefixes: Vec<_> = namespace.prefixes.iter().collect();
            prefixes.sort_unstable();
            let separator = namespace.separator();
            let further = prefixes.into_iter().flat_map(|(prefix, files)| files.iter().map(move |file| (prefix, file)));
            waiting.extend(further.map(|(prefix, file)| (eco_format!("{before}{prefix}{separator}"), *file)));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Merges namespaces along the imports. `order` has imported files before their importers, `own` the names that each
    /// file declares.
    pub(crate) fn merge(
        files: &Files,
        order: &[usize],
        own: &[Vec<(EcoString, DeclId)>],
        decls: &[Decl],
        problems: &mut Problems,
    ) -> Namespaces {
        let mut implicit = Table::default();
        for (name, id) in files.implicit.iter().flat_map(|file| own.get(*file).into_iter().flatten()) {
            if let Some(decl) = decls.get(id.index()) {
                implicit.insert(decl.kind, name.clone(), *id);
            }
        }
        let namespace =
            |file: &crate::load::File| Namespace { dotted: file.edition.is_extended(), ..Namespace::default() };
        let mut merged = Namespaces { list: files.list.iter().map(namespace).collect(), implicit };
        let mut merge = Merge { files, decls, problems };
        for file in order {
            merge.file(&mut merged, *file, own.get(*file).map_or(&[], |own| own.as_slice()));
        }
        close_cycles(files, &mut merged);
        merge.same_prefixes(&merged);
        merged
    }
}

/// Lets the files of an import cycle see each other's names. A file's own names, and those imported without the cycle,
/// take precedence.
fn close_cycles(files: &Files, namespaces: &mut Namespaces) {
    // Each pass carries names across one more closing import.
    for _ in 0..files.closing.len() {
        let mut changed = false;
        for (importer, import) in &files.closing {
            changed |= close_cycle(namespaces, *importer, import);
        }
        if !changed {
            return;
        }
    }
}

/// Adds the names of one import that closes a cycle; returns whether there were any.
fn close_cycle(namespaces: &mut Namespaces, importer: usize, import: &Import) -> bool {
    if !import.prefix.is_empty() {
        if let Some(namespace) = namespaces.list.get_mut(importer) {
            namespace.add_prefix(&import.prefix, import.file);
        }
        return false;
    }
    let Some(brought) = namespaces.list.get(import.file).cloned() else { return false };
    let Some(namespace) = namespaces.list.get_mut(importer) else { return false };
    let before = namespace.prefixes.len();
    for (prefix, files) in &brought.prefixes {
        files.iter().for_each(|file| namespace.add_prefix(prefix, *file));
    }
    let mut changed = namespace.prefixes.len() > before;
    for (kind, name, id) in brought.bare.sorted() {
        if namespace.bare.get(kind, name).is_none() {
            namespace.bare.insert(kind, name.clone(), id);
            changed = true;
        }
    }
    changed
}

/// Merges namespaces, and reports ambiguous names.
struct Merge<'a> {
    files: &'a Files,
    decls: &'a [Decl],
    problems: &'a mut Problems,
}

impl Merge<'_> {
    fn file(&mut self, namespaces: &mut Namespaces, index: usize, own: &[(EcoString, DeclId)]) {
        let Some(file) = self.files.list.get(index) else { return };
        let Some(mut merged) = namespaces.list.get_mut(index).map(std::mem::take) else { return };
        let is_profile = self.files.implicit.contains(&index);
        for import in &file.imports {
            if !import.prefix.is_empty() {
                merged.add_prefix(&import.prefix, import.file);
                continue;
            }
            let Some(imported) = namespaces.list.get(import.file) else { continue };
            for (prefix, files) in &imported.prefixes {
                files.iter().for_each(|file| merged.add_prefix(prefix, *file));
            }
            for (kind, name, id) in imported.bare.sorted() {
                if merged.dotted {
                    merged.bare.insert(kind, name.clone(), id); // the later import overrides the earlier one
                } else {
                    self.insert(&mut merged.bare, &namespaces.implicit, kind, name, id);
                }
            }
        }
        for (name, id) in own {
            let Some(decl) = self.decls.get(id.index()) else { continue };
            let shadows = merged.dotted || (file.edition.is_2() && entities::is_type(decl.kind));
            if is_profile || shadows {
                // In TOSCA 2.0 and the extended edition, a file's own type overrides an imported one.
                merged.bare.insert(decl.kind, name.clone(), *id);
            } else {
                self.insert(&mut merged.bare, &namespaces.implicit, decl.kind, name, *id);
            }
        }
        if let Some(namespace) = namespaces.list.get_mut(index) {
            *namespace = merged;
        }
    }

    fn insert(&mut self, table: &mut Table, implicit: &Table, kind: Kind, name: &EcoString, id: DeclId) {
        match table.get(kind, name).or_else(|| implicit.get(kind, name)) {
            Some(known) if known != id => self.ambiguous(kind, name, known, id),
            _ => table.insert(kind, name.clone(), id),
        }
    }

    fn ambiguous(&mut self, kind: Kind, name: &str, first: DeclId, second: DeclId) {
        let decl = |id: DeclId| self.decls.get(id.index());
        let (Some(first), Some(second)) = (decl(first), decl(second)) else { return };
        let message = format!("the name `{name}` means two different {}s", entities::label(kind));
        let mut diagnostic = Diagnostic::at(&rules::AMBIGUOUS, second.entity.at, message);
        diagnostic = diagnostic.label(second.entity.at, "one is here").label(first.entity.at, "the other is here");
        self.problems.push(diagnostic.hint("rename one, or import it with a prefix"));
    }

    /// Reports names that mean different things because one prefix names several files, or what normative names
    /// begin with.
    fn same_prefixes(&mut self, namespaces: &Namespaces) {
        let normative: Vec<_> = namespaces.implicit.sorted();
        let normative: Vec<_> = normative.iter().filter(|(_, name, _)| name.contains(':')).collect();
        for namespace in namespaces.list.iter().filter(|namespace| !namespace.dotted) {
            let begun = normative.iter().filter(|(_, name, _)| namespace.behind(name).next().is_some());
            for (kind, name, known) in begun {
                let found =
                    namespace.behind(name).find_map(|(file, rest)| namespaces.list.get(file)?.bare.get(*kind, rest));
                if let Some(found) = found.filter(|found| found != known) {
                    self.ambiguous(*kind, name, *known, found);
                }
            }
            let mut shared: Vec<_> = namespace.prefixes.iter().filter(|(_, files)| files.len() > 1).collect();
            shared.sort_unstable();
            for (prefix, files) in shared {
                let Some((first, others)) = files.split_first() else { continue };
                others.iter().for_each(|other| self.same_names(namespaces, prefix, *first, *other));
            }
        }
    }

    /// Reports names that occur in two files behind one prefix.
    fn same_names(&mut self, namespaces: &Namespaces, prefix: &EcoString, one: usize, other: usize) {
        let mut waiting = vec![(prefix.clone(), one, other)];
        let mut seen = HashSet::new();
        while let Some((prefix, one, other)) = waiting.pop() {
            let (Some(first), Some(second)) = (namespaces.list.get(one), namespaces.list.get(other)) else { continue };
            if one == other || !seen.insert((one, other)) {
                continue;
            }
            for (kind, name, id) in first.bare.sorted() {
                if let Some(known) = second.bare.get(kind, name).filter(|known| *known != id) {
                    self.ambiguous(kind, &format!("{prefix}{}{name}", first.separator()), id, known);
                }
            }
            let mut common: Vec<_> = first.prefixes.iter().collect();
            common.sort_unstable();
            for (inner, files) in common {
                let inside = second.prefixes.get(inner).into_iter().flatten();
                let prefix = eco_format!("{prefix}{}{inner}", first.separator());
                waiting.extend(inside.filter_map(|other| Some((prefix.clone(), *files.first()?, *other))));
            }
        }
    }
}
