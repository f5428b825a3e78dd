//! The dialect for the native commands: recognises service templates and archives, and resolves them into nodes.
//!
//! Node templates become nodes, requirements their dependencies. It must not know how commands print.

mod print;

use crate::archive::Archive;
use crate::compile::{Compiled, Settings, compile, is_invalid, unknown_quirk};
use crate::edition::{Edition, Standard};
use crate::evaluate::{Owner, Scope};
use crate::folder;
use crate::inputs;
use crate::problem::Problems;
use crate::profile;
use crate::quirks::Quirks;
use crate::render::MissingInputs;
use crate::rules::RULES;
use crate::topology::{Given, Prop};
use crate::val::{self, Val};
use ecow::EcoString;
use print::Printer;
use purlin_model::{Answer, Dialect, Question, Recognised, Request, Resolved};
use purlin_syntax::{Flavor, yaml};
use purlin_value::world::FileKind;
use purlin_value::{Origin, Session, path};

/// The TOSCA dialect.
pub const DIALECT: Dialect = Dialect {
    name: "tosca",
    summary: "TOSCA service templates and CSAR archives, 1.0 to 2.0.",
    detect,
    resolve,
    eval,
    rules: RULES,
};

/// What a folder's service template is usually called, the surest first.
const NAMES: &[&str] =
    &["service.yaml", "service-template.yaml", "service_template.yaml", "main.yaml", "topology.yaml"];
/// How sure a named file with a known version is, and one with an unknown version.
const SURE: u8 = 60;
const UNSURE: u8 = 20;

fn detect(session: &Session, request: &Request) -> Option<Recognised> {
    let start = if request.path.is_empty() { "." } else { request.path.as_str() };
    let world = session.world.as_ref();
    let is_folder = world.stat(start).is_ok_and(|stat| stat.kind == FileKind::Folder);
    if !is_folder {
        return strength_of(session, start).map(|strength| Recognised { file: start.to_owned(), strength });
    }
    if let Some(named) = &request.file {
        let full = path::join(start, named);
        return strength_of(session, &full).map(|strength| Recognised { file: full, strength });
    }
    let usual = NAMES.iter().map(|name| path::join(start, name)).find(|full| has_service(session, full));
    if let Some(file) = usual {
        return Some(Recognised { file, strength: 45 });
    }
    let candidates = folder::files(session, start, |name| folder::is_yaml(name) || Archive::is_archive(name));
    let mut found = candidates.into_iter().filter(|full| has_service(session, full));
    let file = found.next()?;
    // With several templates in a folder, the user must say which is meant.
    found.next().is_none().then_some(Recognised { file, strength: 40 })
}

/// The keys of a file's root map with what is written beside them, as far as lines tell; all may be indented alike.
fn root_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let written = |line: &&str| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with(['#', '%']) && !line.starts_with("---")
    };
    let indent = text.lines().find(written).map_or(0, |line| line.len() - line.trim_start().len());
    text.lines().filter_map(move |line| {
        let rest = line.get(indent..).filter(|rest| line.trim_start().len() == rest.len())?;
        let (key, value) = rest.split_once(':')?;
        let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
        Some((key.trim().trim_matches(['"', '\'']), value))
    })
}

/// The version keyword of a file's text.
fn keyword(text: &str) -> Option<&str> {
    root_lines(text).find_map(|(key, value)| (key == "tosca_definitions_version").then_some(value))
}

/// Whether a file's text has one of these keys at its root.
fn has_key(text: &str, keys: &[&str]) -> bool {
    root_lines(text).any(|(key, _)| keys.contains(&key))
}

fn known_version(keyword: &str) -> bool {
    profile::version(keyword).or_else(|| profile::spelt_otherwise(keyword)).is_some()
}

/// How surely a file is ours: by a version we know, or by one that nobody knows and somebody should complain about.
fn strength_of(session: &Session, full: &str) -> Option<u8> {
    if full.to_ascii_lowercase().ends_with(".csar") {
        return Some(SURE);
    }
    let bytes = session.world.read(full).ok()?;
    if Archive::is_archive(full) {
        if Archive::open(full, &bytes, &session.limits).is_ok_and(|archive| is_csar(&archive)) {
            return Some(SURE);
        }
        // A zip archive is nothing else that anybody reads; that it is no CSAR is worth saying.
        return full.to_ascii_lowercase().ends_with(".zip").then_some(UNSURE);
    }
    let text = std::str::from_utf8(&bytes).ok()?;
    match keyword(text) {
        Some(keyword) if known_version(keyword) => Some(SURE),
        Some(keyword) if keyword.contains("unfurl") => None,
        Some(_) => Some(UNSURE),
        None if text.trim_start().starts_with('<') && text.contains("docs.oasis-open.org/tosca/ns") => Some(UNSURE),
        // A file that looks like TOSCA should be told that it does not say which.
        None => (has_key(text, &["heat_template_version", "topology_template", "node_types"])
            || root_lines(text).any(|(key, _)| key.starts_with("tosca_definitions")))
        .then_some(UNSURE),
    }
}

/// Whether an archive has the metadata of a CSAR, or an entry that says which edition of TOSCA it is. Any other archive
/// may have a single YAML file in its root too.
fn is_csar(archive: &Archive) -> bool {
    let says_edition = |entry: String| {
        let text = archive.read(&entry).and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.and_then(keyword).is_some()
    };
    archive.entry("").is_ok_and(|entry| archive.has_metadata() || says_edition(entry))
}

fn has_service(session: &Session, full: &str) -> bool {
    if Archive::is_archive(full) {
        return strength_of(session, full) == Some(SURE);
    }
    let Ok(bytes) = session.world.read(full) else { return false };
    let Ok(text) = std::str::from_utf8(&bytes) else { return false };
    keyword(text).is_some_and(known_version) && has_key(text, &["topology_template", "service_template"])
}

/// What a request asks of the compiler.
fn settings(session: &Session, request: &Request, problems: &mut Problems) -> Settings {
    let mut settings = Settings::default();
    let wanted: Vec<&str> =
        request.extra.iter().filter(|(name, _)| name == "quirk").map(|(_, value)| value.as_str()).collect();
    let (quirks, unknown) = Quirks::parse(wanted);
    unknown.into_iter().for_each(|name| problems.push(unknown_quirk(name)));
    settings.options.quirks = quirks.and_usual();
    settings.options.template = request.extra("template").unwrap_or("").to_owned();
    let given = !request.inputs.is_empty() || !request.input_files.is_empty();
    settings.inputs = inputs::read(session, &request.input_files, &request.inputs, problems);
    settings.missing = given.then_some(MissingInputs::Refuse);
    settings
}

fn compiled(session: &Session, request: &Request) -> Option<(Compiled, String)> {
    let file = detect(session, request)?.file;
    let mut problems = Problems::new();
    let settings = settings(session, request, &mut problems);
    let compiled = compile(session, &file, &settings);
    let all = problems.list().iter().chain(compiled.problems.list());
    session.sink.extend(all.map(|problem| problem.diagnostic.clone()));
    Some((compiled, file))
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let (compiled, file) = compiled(session, request)?;
    let mut out = Resolved::new(project_name(&compiled, &file));
    if is_invalid(&compiled.problems) {
        out.trees = compiled.model.files.list.iter().map(|file| file.tree.clone()).collect();
        return Some(out);
    }
    let mut printer = Printer::new(session, &compiled);
    out.variables = printer.owned(Owner::Service, false, &compiled.topology.inputs);
    printer.service(&mut out, &Vec::new());
    out.outputs = printer.loose(&compiled.topology.outputs, &Scope::default());
    Some(out)
}

fn project_name(compiled: &Compiled, file: &str) -> EcoString {
    let notes = compiled.model.files.root().and_then(|file| file.entity.value("metadata"));
    let named = notes.and_then(|notes| notes.get("template_name")).and_then(Val::as_str);
    let stem = path::file_name(file).split('.').next().unwrap_or(file);
    named.unwrap_or(stem).into()
}

/// Evaluates a function call or value, written as YAML, on a node or on the service.
fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let (compiled, _) = compiled(session, request)?;
    if is_invalid(&compiled.problems) {
        return None;
    }
    let source = session.sources.insert("expression", question.expression.as_str());
    let tree = session.sources.add(yaml::parse(source, Flavor::CoreGo, &session.limits));
    session.sink.extend(tree.diagnostics().iter().cloned());
    let expression = val::read(tree.root()?, compiled.model.edition());
    let (compiled, node) = match &question.on {
        Some(name) => within(&compiled, name),
        None => (&compiled, None),
    };
    let mut printer = Printer::new(session, compiled);
    let scope = node.map(Scope::node).unwrap_or_default();
    let prop =
        Prop { value: expression, definition: None, data_type: None, at: tree.root()?.span(), given: Given::Assigned };
    let value = printer.evaluator.settle(&prop, &scope);
    session.sink.extend(printer.evaluator.problems().list().iter().map(|problem| problem.diagnostic.clone()));
    let edition: Edition = compiled.model.edition();
    let trace = if question.trace { vec![format!("TOSCA {}", edition.number())] } else { Vec::new() };
    let value = printer.value(&value);
    let origin = if value.origin.is_known() { value.origin } else { Origin::NONE };
    Some(Answer { value: value.with_origin(origin), trace })
}

/// The service that a node belongs to, and its place there: `node/inner` is inside the service that stands for `node`.
fn within<'c>(mut compiled: &'c Compiled, mut name: &str) -> (&'c Compiled, Option<usize>) {
    loop {
        if let Some(place) = compiled.topology.nodes.get_index_of(name) {
            return (compiled, Some(place));
        }
        let inside = compiled.substituted.iter().find_map(|substituted| {
            let (outer, _) = compiled.topology.nodes.get_index(substituted.node)?;
            let rest = name.strip_prefix(outer.as_str())?.strip_prefix('/')?;
            Some((&substituted.service, rest))
        });
        match inside {
            Some((service, rest)) => (compiled, name) = (service, rest),
            None => return (compiled, None),
        }
    }
}
