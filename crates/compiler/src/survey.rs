//! Checks everything below a path, each project by its own dialect.
//!
//! Files are judged by what they say, so that a project at the top hides nothing beside or below it. What no dialect
//! recognises is not configuration and is not read.

use crate::compile::{detect, here, nothing_found};
use crate::dialects::DIALECTS;
use purlin_model::detect::{Judged, above, judge};
use purlin_model::glance::is_data;
use purlin_model::{Detection, Dialect, Glance, Request, Resolved, Role};
use purlin_syntax::{Flavor, Severity};
use purlin_value::ignore::Ignores;
use purlin_value::world::{Entry, FileKind};
use purlin_value::{EcoString, Session, path};
use std::collections::HashSet;

/// A project that was checked.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The folder or file a user would name, as seen from where they stand.
    pub path: String,
    /// The project's name.
    pub name: EcoString,
    /// What the project is best known by: its path, or its name or file if it is in this very folder.
    pub label: String,
    /// What it is.
    pub noun: &'static str,
    /// What its nodes are called.
    pub unit: &'static str,
    /// How many nodes its graph has.
    pub nodes: usize,
    /// How many errors it has.
    pub errors: usize,
}

/// Folders that hold no configuration of the user's.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor"];

/// Folders of a chart whose files are the chart's: templates are no YAML, and charts inside are its dependencies.
const OF_A_CHART: &[&str] = &["templates", "charts", "crds"];

/// A file that says it is, or may be, a project.
#[derive(Clone)]
pub struct Claim {
    file: String,
    judged: Judged,
}

impl Claim {
    /// The file, from the world's root.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The dialect it belongs to.
    pub fn dialect(&self) -> &'static Dialect {
        self.judged.dialect
    }

    /// Whether it is checked with the project that takes it in, if one does.
    pub fn is_shared(&self) -> bool {
        self.judged.sign.is_shared
    }

    /// Reads and resolves the project. Problems go to the session's sink.
    pub fn resolve(&self, session: &Session, request: &Request) -> Option<Resolved> {
        let request = Request { path: self.file.clone(), found: Some(self.file.clone()), ..request.clone() };
        (self.judged.dialect.resolve)(session, &request)
    }

    /// The folder if the file's name says nothing more, otherwise the file.
    pub(crate) fn shown_path(&self) -> String {
        shown_path(&self.file, self.judged.dialect)
    }

    /// Whether both are one project: of some dialects a folder holds one, whatever its files are called.
    fn is_same(&self, other: &Claim) -> bool {
        let dialect = self.judged.dialect;
        let one_per_folder = dialect.reaches_below && dialect.name == other.judged.dialect.name;
        self.file == other.file || (one_per_folder && path::parent(&self.file) == path::parent(&other.file))
    }

    /// Projects that take in others come first: what they have read need not be checked again.
    fn order(&self) -> (bool, usize, usize, &str) {
        let rank = RANKS.iter().position(|name| *name == self.judged.dialect.name).unwrap_or(RANKS.len());
        (self.judged.sign.role == Role::Part, rank, self.file.matches('/').count(), &self.file)
    }
}

/// Ensembles take in service templates.
const RANKS: &[&str] = &["garden", "skaffold", "charts", "unfurl", "tosca"];

fn shown_path(file: &str, dialect: &Dialect) -> String {
    if (dialect.is_usual)(path::file_name(file)) { path::parent(file).to_owned() } else { file.to_owned() }
}

/// What lies below a folder.
#[derive(Default)]
pub(crate) struct Found {
    /// Projects, and what may be one.
    pub claims: Vec<Claim>,
    /// Dialects of files that belong to a project further up.
    members: Vec<&'static Dialect>,
}

/// Checks what every path means; options of the request hold for every project. Problems are in the session's sink.
pub fn survey(session: &Session, request: &Request, paths: &[String]) -> Vec<Checked> {
    let mut checked: Vec<Checked> = Vec::new();
    for claim in &claims(session, request, paths) {
        if claim.judged.sign.is_shared && session.has_read(&claim.file) {
            continue;
        }
        checked.push(check(session, request, claim));
    }
    checked.sort_by(|a, b| (&a.path, a.noun).cmp(&(&b.path, b.noun)));
    checked
}

/// The projects that paths mean, in the order in which they are checked: those that take in others come first.
pub fn claims(session: &Session, request: &Request, paths: &[String]) -> Vec<Claim> {
    let mut claims: Vec<Claim> = Vec::new();
    for path in paths {
        let request = Request { path: path.clone(), ..request.clone() };
        claims.extend(claims_of(session, &request));
    }
    claims.sort_by(|a, b| a.order().cmp(&b.order()));
    claims.dedup_by(|a, b| a.is_same(b));
    claims
}

/// Checks one project. It has a sink of its own, because some checks are only made of what is sound so far.
fn check(session: &Session, request: &Request, claim: &Claim) -> Checked {
    let dialect = claim.judged.dialect;
    let own = session.sibling();
    let resolved = claim.resolve(&own, request);
    let path = here(session, &claim.shown_path());
    let name = resolved.as_ref().map(|resolved| resolved.project.clone()).unwrap_or_default();
    let label = match path.as_str() {
        "." if dialect.has_name && !name.is_empty() => name.to_string(),
        "." => path::file_name(&claim.file).to_owned(),
        path => path.to_owned(),
    };
    let checked = Checked {
        path,
        name,
        label,
        noun: dialect.noun,
        unit: dialect.unit,
        nodes: resolved.map_or(0, |resolved| resolved.nodes.len()),
        errors: own.sink.count(Severity::Error),
    };
    session.sink.extend(own.sink.take());
    checked
}

/// The projects that a path means: all below a folder, or the one of a file.
fn claims_of(session: &Session, request: &Request) -> Vec<Claim> {
    let is_folder = session.world.stat(&request.path).is_ok_and(|stat| stat.kind == FileKind::Folder);
    if is_folder && request.file.is_none() {
        let mut found = find(session, &request.path);
        found.members.retain(|dialect| !found.claims.iter().any(|claim| claim.judged.dialect.name == dialect.name));
        let reaching = if found.claims.is_empty() { DIALECTS.to_vec() } else { found.members };
        let outer = above(session, &path::normalize(&request.path), &reaching);
        found.claims.extend(outer.and_then(|(file, _)| claim(session, file)));
        if !found.claims.is_empty() {
            return found.claims;
        }
    }
    match detect(session, request) {
        Detection::Project(file, dialect) => {
            let judged = judge(&Glance::named(session, &file), &[dialect]);
            judged.map(|judged| Claim { file, judged }).into_iter().collect()
        }
        other => {
            if is_folder || !reports_syntax(session, request) {
                session.sink.push(nothing_found(session, request, &other));
            }
            Vec::new()
        }
    }
}

fn claim(session: &Session, file: String) -> Option<Claim> {
    let judged = judge(&Glance::found(session, &file), DIALECTS)?;
    Some(Claim { file, judged })
}

/// A named file that nobody recognises may be broken; then that is what is wrong with it.
fn reports_syntax(session: &Session, request: &Request) -> bool {
    let file = request.file.as_ref().unwrap_or(&request.path);
    if !is_data(path::file_name(file)) {
        return false;
    }
    let is_json = file.to_ascii_lowercase().ends_with(".json");
    let before = session.sink.len();
    let read = if is_json { session.read_json(file) } else { session.read_yaml(file, Flavor::Core) };
    if let Err(problem) = read {
        session.sink.push(problem);
    }
    session.sink.len() > before
}

/// All files below a folder that say what they are. Links are not followed; hidden folders and what `.gitignore` names
/// are left out.
pub(crate) fn find(session: &Session, start: &str) -> Found {
    let mut found = Found::default();
    let start = path::normalize(start);
    let mut members: HashSet<&'static str> = HashSet::new();
    let mut folders = vec![(start.clone(), Ignores::above(&*session.world, &start))];
    while let Some((folder, inherited)) = folders.pop() {
        let entries = match session.world.list(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                session.report_world(&error, &folder, None);
                continue;
            }
        };
        let ignores = inherited.enter(&*session.world, &folder, &entries, &[".gitignore"]);
        let is_chart = entries.iter().any(|entry| entry.name == "Chart.yaml");
        for entry in &entries {
            let place = path::join(&folder, &entry.name);
            if ignores.hides(&place, entry.kind == FileKind::Folder) {
                continue;
            }
            if entry.kind == FileKind::Folder {
                if !is_skipped(entry, is_chart) {
                    folders.push((place, ignores.clone()));
                }
                continue;
            }
            if !is_data(&entry.name) && !entry.name.to_ascii_lowercase().ends_with(".csar") {
                continue;
            }
            let Some(judged) = judge(&Glance::found(session, &place), DIALECTS) else { continue };
            match judged.sign.role {
                Role::Project | Role::Part => found.claims.push(Claim { file: place, judged }),
                Role::Member if members.insert(judged.dialect.name) => found.members.push(judged.dialect),
                Role::Member | Role::Pointer | Role::Named => {}
            }
        }
    }
    found.claims.sort_by(|a, b| a.file.cmp(&b.file));
    found
}

fn is_skipped(folder: &Entry, in_chart: bool) -> bool {
    let name = folder.name.as_str();
    name.starts_with('.') || SKIPPED.contains(&name) || (in_chart && OF_A_CHART.contains(&name))
}
