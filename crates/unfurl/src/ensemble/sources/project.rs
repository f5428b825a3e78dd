//! The project around an ensemble: its `unfurl.yaml`, those around it, and the environments they declare.

use crate::ensemble::directives::{Directives, Loaded, Problem};
use crate::ensemble::files::Files;
use crate::ensemble::merge::{Merger, STRATEGIES};
use crate::ensemble::python_template;
use crate::ensemble::read::Reader;
use crate::rules;
use crate::val::{MapKey, Val, ValMap};
use crate::vault::Secret;
use ecow::EcoString;
use purlin_model::Glance;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Hint};
use purlin_value::{Origin, Session, path};

/// The project's file.
pub(crate) const PROJECT_FILE: &str = "unfurl.yaml";
/// The folder a project's file may be in.
const PROJECT_FOLDER: &str = ".unfurl";

/// Sections of an environment whose entries are replaced one by one, never merged.
const REPLACED: &[&str] =
    &["inputs", "secrets", "locals", "external", "connections", "variables", "repositories", "instances"];

/// One `unfurl.yaml`.
pub struct Project {
    /// Its folder.
    pub folder: String,
    /// The content, with directives applied.
    pub config: Val,
}

/// Problems of directives, with their locations.
pub type Problems = Vec<(Problem, Origin)>;

/// The file of the nearest project at or above a folder. A library of types that has the usual name is no project.
pub fn find(session: &Session, folder: &str) -> Option<String> {
    let mut folder = folder.to_owned();
    loop {
        let own = path::join(&folder, PROJECT_FILE);
        let hidden = path::join(&path::join(&folder, PROJECT_FOLDER), PROJECT_FILE);
        let is_project = |file: &String| session.world.exists(file) && !is_library(session, file);
        if let Some(file) = [own, hidden].into_iter().find(is_project) {
            return Some(file);
        }
        if folder == "." || folder.is_empty() || folder == "/" {
            return None;
        }
        folder = path::parent(&folder).to_owned();
    }
}

fn is_library(session: &Session, file: &str) -> bool {
    Glance::found(session, file).head().get("tosca_definitions_version").is_some()
}

/// The names of the environments in the project's own file around a folder. Reports nothing.
pub fn environment_names(session: &Session, folder: &str) -> Vec<EcoString> {
    let Some(text) = find(session, folder).and_then(|file| session.load_text(&file, &file).ok()) else {
        return Vec::new();
    };
    let tree = session.load_tree(&text.source, Flavor::Core);
    let Some(all) = tree.root().and_then(|root| root.get("environments")) else { return Vec::new() };
    // Defaults apply to all, and keys with a sign are directives.
    let is_one = |name: &&str| *name != "defaults" && !name.starts_with('+');
    all.entries().map(|entry| entry.name()).filter(is_one).map(EcoString::from).collect()
}

/// Reads a project's file with everything it includes. Vault data that the known passwords do not open is reported.
pub fn read(files: &Files<'_>, file: &str, secrets: Option<&[Secret]>) -> Option<Project> {
    let tree = files.tree(file)?;
    let mut reader = Reader::new(secrets);
    let written = reader.read(tree.root()?);
    let anchors = std::mem::take(&mut reader.anchors);
    let mut load = |argument: &Val, _: &Val| {
        let Some(name) = argument.as_str().or_else(|| argument.get("file").and_then(Val::as_str)) else {
            return Loaded::Missing(None);
        };
        // With `merge` the file is a server's list of variables.
        if argument.get("merge").is_some() || name.is_empty() {
            return Loaded::Skipped;
        }
        let folder = files.folder_of(argument.origin).unwrap_or_else(|| path::parent(file).to_owned());
        let Some(tree) = files.tree(&path::join(&folder, name)) else {
            return Loaded::Missing(None);
        };
        let value = tree.root().map(|root| reader.read(root)).unwrap_or_default();
        Loaded::Found(value, std::mem::take(&mut reader.anchors))
    };
    let mut directives = Directives::new(&written, anchors, &mut load);
    let config = directives.expand();
    let problems = std::mem::take(&mut directives.problems);
    if secrets.is_some() {
        report(files.session, &problems);
        report_vault(files.session, reader.problems);
    }
    Some(Project { folder: path::parent(file).to_owned(), config })
}

/// Reports vault data that could not be opened.
pub(crate) fn report_vault(session: &Session, problems: Vec<(purlin_syntax::Span, crate::vault::Problem)>) {
    for (span, problem) in problems {
        session.sink.push(Diagnostic::at(&rules::VAULT, span, problem.message()).maybe_hint(problem.hint()));
    }
}

/// Reports problems of directives.
pub fn report(session: &Session, problems: &Problems) {
    for (problem, origin) in problems {
        let mut diagnostic = match problem {
            Problem::NoFile(name, None) => {
                let message = format!("`+include` names `{name}`, which does not exist");
                Diagnostic::nowhere(&rules::DIRECTIVE, message).hint("correct the path; it is relative to this file")
            }
            Problem::NoFile(name, Some(why)) => {
                Diagnostic::nowhere(&rules::DIRECTIVE, format!("`+include` could not read `{name}`: {why}"))
            }
            Problem::Python(name, why) => python_template::problem(name, why),
            Problem::NoRepository(name) => {
                let message = format!("`+include` names the repository `{name}`, which is not declared");
                Diagnostic::nowhere(&rules::DIRECTIVE, message)
            }
            Problem::NoTarget(name) => Diagnostic::nowhere(
                &rules::DIRECTIVE,
                format!("the merge directive `+{name}` refers to something that does not exist"),
            ),
            Problem::NotMergeable(name) => {
                let message = format!("`{name}` brings in something that is not a mapping");
                Diagnostic::nowhere(&rules::DIRECTIVE, message).hint("let it be the only key of its mapping")
            }
            Problem::Forbidden(name) => {
                Diagnostic::nowhere(&rules::DIRECTIVE, format!("`{name}` must not be merged: it has `+%: error`"))
            }
            Problem::NoStrategy(name) => {
                let near = purlin_syntax::suggest::nearest(name, STRATEGIES.iter().copied());
                let message = what::unknown("merge strategy", name).and(": the mapping is replaced instead of merged");
                let hint = near.map_or_else(
                    || format!("use one of `{}`", STRATEGIES.join("`, `")).into(),
                    |near| Hint::meant(name.as_str(), near),
                );
                Diagnostic::nowhere(&rules::DIRECTIVE, message).hint(hint).warning()
            }
            Problem::TooDeep => Diagnostic::nowhere(&rules::DIRECTIVE, "circular merge directives"),
        };
        diagnostic.span = session.origins.span(*origin, &session.sources);
        session.sink.push(diagnostic);
    }
}

/// All projects that an ensemble is in, the one that wins first.
#[derive(Default)]
pub struct Projects {
    /// Outermost first: it overrides the inner ones.
    pub list: Vec<Project>,
}

impl Projects {
    /// The projects around a folder.
    pub fn around(files: &Files<'_>, folder: &str, secrets: Option<&[Secret]>) -> Self {
        let mut list: Vec<Project> = Vec::new();
        let mut next = find(files.session, folder);
        while let Some(file) = next {
            let Some(project) = read(files, &file, secrets) else { break };
            let at = project.folder.clone();
            list.insert(0, project);
            // Only one project around another counts, as an ensemble's own repository has it.
            let above = path::parent(&at);
            next = (list.len() < 2 && at != "." && !at.is_empty()).then(|| find(files.session, above)).flatten();
        }
        Projects { list }
    }

    /// The folder of the project that wins.
    pub fn folder(&self) -> Option<&str> {
        self.list.first().map(|project| project.folder.as_str())
    }

    /// All environments, by name.
    pub fn environments(&self) -> ValMap {
        let mut out = ValMap::default();
        for project in self.list.iter().rev() {
            let own = project.config.get("environments").and_then(Val::as_map).cloned().unwrap_or_default();
            let own = own.into_iter().map(|(name, value)| {
                let value = if value.is_null() { value.with(Val::map(ValMap::default()).data) } else { value };
                (name, value)
            });
            out = Merger { replaced: REPLACED, ..Merger::default() }.merge(&out, &own.collect());
        }
        out
    }

    /// The projects' entry for an ensemble's file.
    pub fn entry(&self, file: &str) -> Option<Val> {
        let mut found: Option<ValMap> = None;
        for project in self.list.iter().rev() {
            for entry in project.config.get("ensembles").and_then(Val::as_list).unwrap_or(&[]) {
                let named = entry.get("file").and_then(Val::as_str);
                let same = named.is_some_and(|named| path::join(&project.folder, named) == path::normalize(file));
                if let (true, Some(entries)) = (same, entry.as_map()) {
                    let known = found.get_or_insert_with(ValMap::default);
                    known.extend(entries.iter().map(|(key, value)| (key.clone(), value.clone())));
                }
            }
        }
        found.map(Val::map)
    }

    /// The default environment of an ensemble, with its location.
    pub(crate) fn default_environment(&self, file: &str) -> Option<Val> {
        let entry = self.entry(file).and_then(|entry| entry.get("environment").cloned());
        let said = || self.list.iter().rev().find_map(|project| project.config.get("default_environment").cloned());
        entry.or_else(said).filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
    }
}

/// The environment that applies: the defaults, the named one over them, both over the ensemble's own.
pub fn environment(environments: &ValMap, own: &Val, name: &str) -> Val {
    let mut merger = Merger { replaced: REPLACED, ..Merger::default() };
    let layer = |name: &str| environments.get(&MapKey::from(name)).and_then(Val::as_map).cloned().unwrap_or_default();
    let mut project = layer("defaults");
    if name != "defaults" {
        project = merger.merge(&project, &layer(name));
    }
    let own = own.as_map().cloned().unwrap_or_default();
    crate::ensemble::merge::cleaned(&Val::map(merger.merge(&own, &project)), 0)
}

/// Strings in the section are references: `name: other`, or `name: environment:other`.
pub(crate) fn relabelled(environments: &ValMap, environment: &Val, section: &str) -> ValMap {
    let Some(entries) = environment.get(section).and_then(Val::as_map) else {
        return ValMap::default();
    };
    let mut out = ValMap::default();
    for (name, value) in entries {
        let mut value = value.clone();
        for _ in 0..entries.len() + environments.len() + 1 {
            let Some(alias) = value.as_str().map(EcoString::from) else { break };
            let next = match alias.split_once(':') {
                Some((other, name)) => {
                    let other = environments.get(&MapKey::from(other));
                    other.and_then(|other| other.get(section)).and_then(|all| all.get(name))
                }
                None => entries.get(&MapKey::Str(alias)),
            };
            value = next.cloned().unwrap_or_default();
        }
        out.insert(name.clone(), value);
    }
    out
}
