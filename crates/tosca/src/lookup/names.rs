//! Phase 2, declarations: all named entities, and their identities.
//!
//! The meaning of names per file is in [`crate::namespace`].

use crate::edition::Standard;
use crate::entities;
use crate::entity::Entity;
use crate::load::Files;
use crate::namespace::Namespaces;
use crate::problem::Problems;
use crate::quirks::{self, Quirks};
use crate::read::Role;
use crate::rules;
use ecow::{EcoString, eco_format};
use purlin_model::Kind;
use purlin_syntax::{Diagnostic, FileId, Severity};
use purlin_value::fast::FastMap;
use std::collections::HashMap;
use std::sync::Arc;

/// Identifies something declared: a type, a repository or a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeclId(pub u32);

impl DeclId {
    /// Its place in [`Names::decls`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something declared in a file.
#[derive(Debug)]
pub struct Decl {
    /// Its kind.
    pub kind: Kind,
    /// Its name in its file.
    pub name: EcoString,
    /// The name that identifies it everywhere.
    pub canonical: EcoString,
    /// Its content.
    pub entity: Arc<Entity>,
    /// The file it is in.
    pub file: usize,
    /// Whether it is part of a normative profile.
    pub normative: bool,
}

/// Sections of a file whose entries have names of their own.
pub(crate) const SECTIONS: [(&str, Kind); 10] = [
    ("data_types", entities::DATA_TYPE),
    ("artifact_types", entities::ARTIFACT_TYPE),
    ("interface_types", entities::INTERFACE_TYPE),
    ("capability_types", entities::CAPABILITY_TYPE),
    ("relationship_types", entities::RELATIONSHIP_TYPE),
    ("node_types", entities::NODE_TYPE),
    ("group_types", entities::GROUP_TYPE),
    ("policy_types", entities::POLICY_TYPE),
    ("repositories", entities::REPOSITORY),
    ("functions", entities::FUNCTION_DEFINITION),
];

/// All declarations and the namespace of every file.
#[derive(Debug, Default)]
pub struct Names {
    /// All declarations, the profile's first.
    pub decls: Vec<Decl>,
    namespaces: Namespaces,
    by_file: HashMap<FileId, usize, foldhash::fast::RandomState>,
    profiles: Vec<usize>,
    /// Whether a name that a file does not know is looked for in the root file.
    flat: bool,
}

impl Names {
    /// The declaration that a name means in the file of a span.
    pub fn find(&self, file: FileId, kind: Kind, name: &str) -> Option<DeclId> {
        let file = *self.by_file.get(&file)?;
        let found = self.namespaces.find(file, kind, name);
        found.or_else(|| self.flat.then(|| self.namespaces.find(0, kind, name))?)
    }

    /// The declaration that a name means in the root file, for a file that does not import it.
    pub fn find_elsewhere(&self, file: FileId, kind: Kind, name: &str) -> Option<DeclId> {
        let file = *self.by_file.get(&file).filter(|_| self.flat)?;
        if self.namespaces.find(file, kind, name).is_some() {
            return None;
        }
        self.namespaces.find(0, kind, name)
    }

    /// The declaration with an id.
    pub fn decl(&self, id: DeclId) -> Option<&Decl> {
        self.decls.get(id.index())
    }

    /// Whether a file is part of a normative profile.
    pub fn is_of_profile(&self, file: FileId) -> bool {
        self.by_file.get(&file).is_some_and(|index| self.profiles.contains(index))
    }

    /// Names of a kind that are visible in a file, at most `most`, the nearest ones first.
    pub fn visible(&self, file: FileId, kind: Kind, most: usize) -> Vec<EcoString> {
        self.by_file.get(&file).map(|file| self.namespaces.visible(*file, kind, most)).unwrap_or_default()
    }
}

/// Gathers all names and merges namespaces along the imports.
pub fn gather(files: &Files, quirks: &Quirks, problems: &mut Problems) -> Names {
    let flat = files.edition.is_some_and(|edition| quirks.allow(quirks::NAMESPACE_FLAT, edition));
    let mut names = Names { flat, ..Names::default() };
    for (index, file) in files.list.iter().enumerate() {
        names.by_file.insert(file.id, index);
        if file.role == Role::Profile {
            names.profiles.push(index);
        }
    }
    let mut own: Vec<Vec<(EcoString, DeclId)>> = vec![Vec::new(); files.list.len()];
    let spaces = spaces(files, quirks);
    for (index, file) in files.list.iter().enumerate() {
        let space = spaces.get(index).map_or("", |space| space.as_str());
        for (section, kind) in SECTIONS {
            let Some(defs) = file.entity.map(section) else { continue };
            for (name, entity) in defs.own() {
                let normative = is_normative(file.role, entity);
                let id = DeclId(u32::try_from(names.decls.len()).unwrap_or(u32::MAX));
                let canonical = canonical(space, name, entity, normative && !space.starts_with("org.oasis"));
                names.decls.push(Decl {
                    kind,
                    name: name.clone(),
                    canonical,
                    entity: entity.clone(),
                    file: index,
                    normative,
                });
                if let Some(list) = own.get_mut(index) {
                    list.extend(spellings(name, normative, file.role, quirks).into_iter().map(|name| (name, id)));
                }
            }
        }
    }
    if files.edition.is_some_and(|edition| quirks.allow(quirks::NORMATIVE_REPLACE, edition)) {
        replace_normative(files, &names.decls, &mut own, problems);
    }
    if files.edition.is_some_and(|edition| edition.is_extended()) {
        prefer_host(&names, &mut own);
    }
    names.namespaces = Namespaces::merge(files, &import_order(files), &own, &names.decls, problems);
    names
}

/// Lets types with the name of a normative one replace it, under all its names and in all files: services that bring
/// their own copy of the standard's types intend that.
fn replace_normative(files: &Files, decls: &[Decl], own: &mut [Vec<(EcoString, DeclId)>], problems: &mut Problems) {
    let is_profile = |file: usize| files.list.get(file).is_some_and(|file| file.role == Role::Profile);
    let id = |index: usize| DeclId(u32::try_from(index).unwrap_or(u32::MAX));
    let types = || decls.iter().enumerate().filter(|(_, decl)| entities::is_type(decl.kind));
    let mut theirs: HashMap<(Kind, &str), usize> = HashMap::new();
    for (index, decl) in types().filter(|(_, decl)| !is_profile(decl.file)) {
        theirs.entry((decl.kind, decl.name.as_str())).or_insert(index);
    }
    let mut replaced: HashMap<DeclId, DeclId> = HashMap::new();
    let (mut used, mut unused): (Vec<&Decl>, Vec<&Decl>) = (Vec::new(), Vec::new());
    for (index, decl) in types().filter(|(_, decl)| is_profile(decl.file)) {
        let Some(other) = theirs.get(&(decl.kind, decl.name.as_str())) else { continue };
        if decl.name.starts_with("tosca.") {
            replaced.insert(id(index), id(*other));
            used.extend(decls.get(*other));
        } else {
            replaced.insert(id(*other), id(index)); // nobody can write down what a string is
            unused.extend(decls.get(*other));
        }
    }
    for list in own.iter_mut() {
        for (_, id) in list {
            *id = replaced.get(id).copied().unwrap_or(*id);
        }
    }
    let told = [
        "of the standard {} declared here again and used instead",
        "types of the standard are there without being imported",
    ];
    tell_replaced(used, told, problems);
    let told = ["{} built in, so what is declared here is not used", "give it a name of its own"];
    tell_replaced(unused, told, problems);
}

/// Lets declarations of a host's own profile, the last one, replace a normative type with the same name: its
/// definition may differ from the standard.
fn prefer_host(names: &Names, own: &mut [Vec<(EcoString, DeclId)>]) {
    let Some((host, standard)) = names.profiles.split_last() else { return };
    let kind = |id: DeclId| names.decl(id).map(|decl| decl.kind);
    let preferred: FastMap<EcoString, DeclId> = own.get(*host).into_iter().flatten().cloned().collect();
    for file in standard {
        for (name, id) in own.get_mut(*file).into_iter().flatten() {
            if let Some(other) = preferred.get(name.as_str()).filter(|other| kind(**other) == kind(*id)) {
                *id = *other;
            }
        }
    }
}

/// Reports types with the names of others, once per file.
fn tell_replaced(mut decls: Vec<&Decl>, [what, hint]: [&str; 2], problems: &mut Problems) {
    decls.sort_by_key(|decl| (decl.file, decl.entity.at.start));
    for list in decls.chunk_by(|a, b| a.file == b.file) {
        let Some(first) = list.first() else { continue };
        let (others, verb) = match list.len() - 1 {
            0 => (String::new(), "is"),
            1 => (" and another type".to_owned(), "are"),
            more => (format!(" and {more} other types"), "are"),
        };
        let message = format!("`{}`{others} {}", first.name, what.replace("{}", verb));
        let mut diagnostic = Diagnostic::at(&rules::AMBIGUOUS, first.entity.at, message);
        diagnostic.severity = Severity::Warning;
        problems.push(diagnostic.hint(hint));
    }
}

/// The namespace of every file: its own, otherwise that of the file that imports it. Puccini lets the importing file's
/// namespace win.
fn spaces(files: &Files, quirks: &Quirks) -> Vec<EcoString> {
    let own_wins = files.edition.is_some_and(|edition| edition.is_2() || quirks.allow(quirks::NAMESPACE_OWN, edition));
    let mut spaces: Vec<EcoString> = files.list.iter().map(|file| file.entity.str("profile").into()).collect();
    for file in import_order(files).into_iter().rev() {
        let Some(own) = spaces.get(file).cloned().filter(|own| !own.is_empty()) else { continue };
        for import in files.list.get(file).into_iter().flat_map(|file| &file.imports) {
            if let Some(space) = spaces.get_mut(import.file).filter(|space| space.is_empty() || !own_wins) {
                *space = own.clone();
            }
        }
    }
    spaces
}

/// Files in import order: imported ones before their importers.
fn import_order(files: &Files) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; files.list.len()];
    for start in 0..files.list.len() {
        let mut stack = vec![(start, 0)];
        while let Some((file, next)) = stack.pop() {
            if next == 0 {
                match seen.get_mut(file) {
                    Some(done) if !*done => *done = true,
                    _ => continue,
                }
            }
            match files.list.get(file).and_then(|f| f.imports.get(next)) {
                Some(import) => stack.extend([(file, next + 1), (import.file, 0)]),
                None => order.push(file),
            }
        }
    }
    order
}

fn is_normative(role: Role, entity: &Entity) -> bool {
    let marked = || {
        entity.value("metadata").and_then(|notes| notes.get("tosca.normative")).and_then(|v| v.as_str()) == Some("true")
    };
    role == Role::Profile || marked()
}

/// All names under which a declaration is known.
fn spellings(name: &EcoString, normative: bool, role: Role, quirks: &Quirks) -> Vec<EcoString> {
    if !normative || !name.starts_with("tosca.") {
        return vec![name.clone()];
    }
    if quirks.has(quirks::NORMATIVE_IGNORE) {
        return Vec::new();
    }
    let mut out = vec![name.clone()];
    if let Some(short) = short_name(name)
        && !quirks.has(quirks::SHORTCUTS_DISABLE)
        && (role == Role::Profile || short != name.as_str())
    {
        let shorter =
            SHORTER.iter().filter(|(full, _)| quirks.are_usual() && full == name).map(|(_, shorter)| *shorter);
        for short in std::iter::once(short).chain(shorter) {
            out.push(eco_format!("tosca:{short}"));
            out.push(short.into());
        }
    }
    out
}

/// Short names that the standard gives to types in addition to the last parts of their full names. Puccini does not
/// know them.
const SHORTER: &[(&str, &str)] = &[
    ("tosca.artifacts.Implementation.Bash", "Bash"),
    ("tosca.artifacts.Implementation.Python", "Python"),
    ("tosca.capabilities.network.Bindable", "network.Bindable"),
    ("tosca.nodes.Abstract.Storage", "AbstractStorage"),
    ("tosca.nodes.Storage.BlockStorage", "BlockStorage"),
    ("tosca.nodes.Storage.ObjectStorage", "ObjectStorage"),
    ("tosca.relationships.network.BindsTo", "network.BindsTo"),
];

/// `Endpoint.Public` of `tosca.capabilities.Endpoint.Public`.
fn short_name(name: &str) -> Option<&str> {
    let mut at = 0;
    for part in name.split('.') {
        if part.starts_with(char::is_uppercase) {
            return name.get(at..);
        }
        at += part.len() + 1;
    }
    None
}

fn canonical(space: &str, name: &EcoString, entity: &Entity, normative: bool) -> EcoString {
    let given = entity.value("metadata").and_then(|notes| notes.get("tosca.canonical-name")).and_then(|v| v.as_str());
    if let Some(given) = given {
        return given.into();
    }
    if normative
        && name.starts_with("tosca.")
        && let Some(short) = short_name(name)
    {
        return eco_format!("tosca::{short}");
    }
    if space.is_empty() { name.clone() } else { eco_format!("{space}::{name}") }
}
