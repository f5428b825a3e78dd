//! The templates that may be substituted for nodes.
//!
//! They are imported by the service, or found in the same archive or beside its file. They are searched for only when
//! a node requests it, and each is read once.

use super::{Nesting, mapped_type};
use crate::archive::Archive;
use crate::check;
use crate::compile::is_invalid;
use crate::entities;
use crate::entity::Entity;
use crate::folder;
use crate::load::Options;
use crate::model::{self, Model};
use crate::problem::Problems;
use crate::render::{self, Inputs, MissingInputs};
use crate::topology::{Of, Part, Target};
use ecow::EcoString;
use indexmap::IndexSet;
use purlin_value::{Session, path};
use std::sync::{Arc, OnceLock};

/// A template that can replace a node.
pub(super) struct Candidate {
    pub path: String,
    pub model: Arc<Model>,
    /// Its `substitution_mappings`.
    pub entity: Arc<Entity>,
    /// The type it can replace, then the ancestors of that type.
    pub types: Vec<EcoString>,
    /// Properties that it takes from the node: the owner, the name, and the target.
    pub properties: Vec<(Of, EcoString, Target)>,
    /// Why it cannot be used at all.
    pub unsound: Option<String>,
    /// Problems of its files, repeated only if it is used.
    built: Problems,
    checked: OnceLock<Problems>,
}

impl Candidate {
    /// Problems of its files and types. Most candidates are never used, so types are checked only when one is.
    pub fn problems(&self) -> &Problems {
        self.checked.get_or_init(|| {
            let mut problems = self.built.clone();
            check::check(&self.model, &mut problems);
            problems
        })
    }

    /// Whether it takes a property of the node.
    pub fn takes(&self, name: &str) -> bool {
        self.properties.iter().any(|(_, known, _)| known == name)
    }
}

/// Whether a template requests to be replaced by another service.
pub(crate) fn asks_for_it(template: &Entity) -> bool {
    template
        .texts("directives")
        .iter()
        .any(|directive| matches!(directive.text.as_str(), "substitute" | "substitutable"))
}

/// All candidates for the nodes of a service, in a fixed order.
pub(super) fn candidates(
    session: &Session,
    options: &Options,
    model: &Model,
    nesting: &mut Nesting,
) -> Vec<Arc<Candidate>> {
    let Some(root) = model.files.root() else { return Vec::new() };
    let mut paths: IndexSet<String> = model.files.templates.iter().cloned().collect();
    match root.path.split_once("!/") {
        Some((archive, _)) => paths.extend(in_archive(session, archive, &root.path, nesting)),
        None => paths.extend(beside(session, &root.path, nesting)),
    }
    model.files.trees(Arc::make_mut(&mut nesting.trees));
    paths.into_iter().filter_map(|path| candidate(session, options, path, nesting)).collect()
}

/// Whether a file's text may be such a template; the reader decides.
fn may_substitute(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    text.contains("tosca_definitions_version")
        && text.lines().any(|line| line.trim_start().starts_with("substitution_mappings"))
}

/// Files in the same folder whose text looks right; the template's own is not even read.
fn beside(session: &Session, root: &str, nesting: &mut Nesting) -> Vec<String> {
    let folder = path::parent(root);
    let files = nesting
        .beside
        .entry(folder.to_owned())
        .or_insert_with(|| folder::files(session, folder, folder::is_yaml).into())
        .clone();
    let mut looks_right = |path: &String| {
        if let Some(known) = nesting.looks.get(path) {
            return *known;
        }
        let right = session.load_bytes(path).is_ok_and(|bytes| may_substitute(&bytes));
        nesting.looks.insert(path.clone(), right);
        right
    };
    files.iter().filter(|path| *path != root && looks_right(path)).cloned().collect()
}

/// Files in the same archive whose text looks right.
fn in_archive(session: &Session, archive: &str, root: &str, nesting: &mut Nesting) -> Vec<String> {
    let files = nesting.beside.entry(archive.to_owned()).or_insert_with(|| fitting_entries(session, archive).into());
    files.iter().filter(|path| *path != root).cloned().collect()
}

fn fitting_entries(session: &Session, archive: &str) -> Vec<String> {
    let Ok(bytes) = session.load_bytes(archive) else { return Vec::new() };
    let Ok(opened) = Archive::open(archive, &bytes, &session.limits) else { return Vec::new() };
    let names = opened.names().filter(|name| folder::is_yaml(name));
    let fitting = names.filter(|name| opened.read(name).is_some_and(may_substitute));
    fitting.map(|name| format!("{archive}!/{name}")).collect()
}

/// The candidate in a file; each file is checked once.
fn candidate(session: &Session, options: &Options, path: String, nesting: &mut Nesting) -> Option<Arc<Candidate>> {
    if let Some(known) = nesting.known.get(&path) {
        return known.clone();
    }
    let options = Options { template: String::new(), trees: nesting.trees.clone(), ..options.clone() };
    let found = read(session, &options, &path).map(Arc::new);
    drop(options);
    if let Some(found) = &found {
        found.model.files.trees(Arc::make_mut(&mut nesting.trees));
    }
    nesting.known.insert(path, found.clone());
    found
}

fn read(session: &Session, options: &Options, path: &str) -> Option<Candidate> {
    let mut problems = Problems::new();
    let model = Arc::new(model::build(session, path, options, &mut problems));
    let built = problems.clone();
    let entity = model.service()?.one("substitution_mappings")?.clone();
    let node_type = model.find(entities::NODE_TYPE, mapped_type(&entity)?)?;
    let types = model.hierarchy.lineage(node_type).map(|id| model.canonical(id)).collect();
    let topology = render::render(&model, &Inputs::new(), MissingInputs::Accept, &mut problems);
    let mappings = topology.substitution.iter().flat_map(|substitution| &substitution.mappings);
    let properties = mappings
        .filter(|mapping| mapping.part == Part::Property)
        .map(|mapping| (mapping.of.clone(), mapping.name.clone(), mapping.target.clone()))
        .collect();
    let first = problems.list().iter().find(|problem| problem.diagnostic.is_error());
    let unsound = first.filter(|_| is_invalid(&problems)).map(|problem| problem.diagnostic.message.clone());
    Some(Candidate {
        path: path.to_owned(),
        model,
        entity,
        types,
        properties,
        unsound,
        built,
        checked: OnceLock::new(),
    })
}
