//! The dialect for the native commands: recognises service templates and archives, and resolves them into nodes.
//!
//! Node templates become nodes, requirements their dependencies. It must not know how commands print.

mod libraries;
pub(crate) mod print;

use crate::archive::Archive;
use crate::compile::{Compiled, Settings, compile, is_invalid, unknown_quirk};
use crate::edition::{Edition, Standard};
use crate::entity::Entity;
use crate::evaluate::{Owner, Scope};
use crate::inputs;
use crate::marks;
use crate::problem::Problems;
use crate::profile;
use crate::quirks::Quirks;
use crate::render::{Inputs, MissingInputs};
use crate::rules::RULES;
use crate::topology::{Given, Prop};
use crate::unused;
use crate::val::{self, Val};
use ecow::EcoString;
use print::Printer;
use purlin_model::{Answer, Dialect, Glance, Question, Request, Resolved, Role, Sign, Variants};
use purlin_syntax::{Flavor, Head, Span, yaml};
use purlin_value::{Origin, Session, Value, path};

/// The TOSCA dialect.
pub const DIALECT: Dialect = Dialect {
    name: "tosca",
    summary: "TOSCA service templates and CSAR archives, 1.0 to 2.0.",
    noun: "tosca",
    has_name: false,
    unit: "node",
    recognise,
    is_usual: |name| NAMES.contains(&name),
    usual: &[],
    inside: &[],
    reaches_below: false,
    yields: false,
    composes: false,
    is_listed: false,
    renders: false,
    resolve,
    together: Some(libraries::check),
    prepare: Some(crate::load::built_in::share_profiles),
    apart: None,
    resuming: None,
    variants: Variants::NONE,
    eval,
    rules: RULES,
};

/// Usual names of a folder's service template, the surest first.
const NAMES: &[&str] =
    &["service.yaml", "service-template.yaml", "service_template.yaml", "main.yaml", "topology.yaml"];
/// Confidence in a file of a known version, in one of an unknown version, and the bonus for a usual name.
const SURE: u8 = 40;
const UNSURE: u8 = 20;

/// The key with the edition of a file.
pub(crate) const VERSION: &str = "tosca_definitions_version";

/// Keys of the root that hold the deployed service; a file without them is a library of types.
const SERVICE: &[&str] = &["topology_template", "service_template"];

fn recognise(file: &Glance<'_>) -> Option<Sign> {
    if Archive::is_archive(file.name()) {
        return recognise_archive(file);
    }
    let head = file.head();
    let Some(keyword) = version_of(head) else { return recognise_unversioned(file) };
    if !known_version(keyword) {
        let is_other = keyword.contains("unfurl");
        return (!is_other).then_some(Sign::new(Role::Part, UNSURE).shared());
    }
    if !file.whole().has_any(SERVICE) {
        return Some(Sign::new(Role::Part, SURE).shared());
    }
    // Of several usual names the first is the surest.
    let place = NAMES.iter().rev().position(|name| *name == file.name()).map_or(0, |place| place + 1);
    let usual = u8::try_from(place).unwrap_or(0);
    Some(Sign::new(Role::Project, SURE + usual).shared())
}

/// Recognises a file that looks like TOSCA without a version, so that the missing version is reported.
fn recognise_unversioned(file: &Glance<'_>) -> Option<Sign> {
    let head = file.head();
    let misspelt =
        || head.documents().iter().flat_map(|page| page.keys()).any(|key| key.starts_with("tosca_definition"));
    if head.has_any(&["topology_template"]) || misspelt() {
        return Some(Sign::new(Role::Part, UNSURE).shared());
    }
    if !file.is_named() {
        return None;
    }
    let is_xml = || {
        let bytes = file.bytes().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.trim_start().starts_with('<') && text.contains("docs.oasis-open.org/tosca/ns")
    };
    let is_named = file.whole().has_any(&["heat_template_version", "topology_template", "node_types"]) || is_xml();
    is_named.then_some(Sign::new(Role::Named, UNSURE))
}

/// An archive is a CSAR by its name, or by its contents.
fn recognise_archive(file: &Glance<'_>) -> Option<Sign> {
    let name = file.name().to_ascii_lowercase();
    if name.ends_with(".csar") {
        return Some(Sign::new(Role::Project, SURE));
    }
    let limits = &file.session().limits;
    let opened = file.bytes().and_then(|bytes| Archive::open(file.path(), &bytes, limits).ok());
    if opened.is_some_and(|archive| is_csar(&archive)) {
        return Some(Sign::new(Role::Project, SURE + 1));
    }
    // No other dialect reads zip archives, so an archive that is not a CSAR is reported.
    name.ends_with(".zip").then_some(Sign::new(Role::Named, UNSURE))
}

/// The version keyword of a file.
fn version_of(head: &Head) -> Option<&str> {
    head.get(VERSION)
}

fn known_version(keyword: &str) -> bool {
    profile::version(keyword).or_else(|| profile::spelt_otherwise(keyword)).is_some()
}

/// Whether an archive has the metadata of a CSAR, or an entry with a TOSCA version. Any other archive may have a
/// single YAML file in its root too.
fn is_csar(archive: &Archive) -> bool {
    let says_edition =
        |entry: String| archive.read(&entry).is_some_and(|bytes| version_of(&Head::scan(bytes)).is_some());
    archive.entry("").is_ok_and(|entry| archive.has_metadata() || says_edition(entry))
}

/// The compiler settings of a request.
fn settings(session: &Session, request: &Request, problems: &mut Problems) -> Settings {
    let mut settings = Settings::default();
    let (quirks, unknown) = Quirks::parse(request.tosca.quirks.iter().map(String::as_str));
    unknown.into_iter().for_each(|name| problems.push(unknown_quirk(name)));
    settings.options.quirks = quirks.and_usual();
    settings.options.template = request.tosca.template.clone();
    settings.options.profile_paths = request.tosca.profile_paths.clone();
    let given = !request.inputs.is_empty() || !request.input_files.is_empty();
    settings.inputs = inputs::read(session, &request.input_files, &request.inputs, problems);
    settings.plain_inputs = true;
    settings.judge_literals = true;
    settings.missing = Some(match given {
        _ if problems.any() => MissingInputs::Accept, // they may be in the file that could not be read
        true => MissingInputs::Refuse,
        false => MissingInputs::Warn,
    });
    settings.track = purlin_value::origin::NOTED;
    settings
}

/// Compiles a service template with the inputs from a request and from another dialect.
pub(crate) fn compiled(
    session: &Session,
    file: &str,
    request: &Request,
    given: Inputs,
    asked: Option<Span>,
) -> Compiled {
    let mut problems = Problems::new();
    let mut settings = settings(session, request, &mut problems);
    settings.asked = asked;
    if !given.is_empty() {
        settings.missing = Some(MissingInputs::Refuse);
    }
    for (name, value) in given {
        settings.inputs.entry(name).or_insert(value);
    }
    let compiled = compile(session, file, &settings);
    problems.report(session);
    compiled.problems.report(session);
    compiled
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    let file = DIALECT.file_of(session, request)?;
    let compiled = compiled(session, &file, request, Inputs::new(), None);
    marks::note_service(session, &compiled, &Value::null());
    Some(resolved(session, &compiled, &file))
}

/// A compiled service in the shape that all commands read.
pub(crate) fn resolved(session: &Session, compiled: &Compiled, file: &str) -> Resolved {
    let mut out = Resolved::new(project_name(compiled, file));
    if is_invalid(&compiled.problems) {
        out.trees = compiled.model.files.list.iter().map(|file| file.tree.clone()).collect();
        return out;
    }
    let mut printer = Printer::new(session, compiled);
    out.variables = printer.owned(Owner::Service, false, &compiled.topology.inputs);
    printer.service(&mut out, &Vec::new());
    out.outputs = printer.loose(&compiled.topology.outputs, &Scope::default());
    out.declared = unused::declared(&compiled.model.files);
    out
}

fn project_name(compiled: &Compiled, file: &str) -> EcoString {
    name_of(compiled.model.files.root().map(|file| file.entity.as_ref()), file)
}

/// The name in a file's metadata, otherwise the name of the file.
fn name_of(entity: Option<&Entity>, file: &str) -> EcoString {
    let notes = entity.and_then(|entity| entity.value("metadata"));
    let named = notes.and_then(|notes| notes.get("template_name")).and_then(Val::as_str);
    let stem = path::file_name(file).split('.').next().unwrap_or(file);
    named.unwrap_or(stem).into()
}

/// Evaluates a function call or value, written as YAML, on a node or on the service.
fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let file = DIALECT.file_of(session, request)?;
    answer(session, &compiled(session, &file, request, Inputs::new(), None), question)
}

/// Evaluates an expression in a compiled service.
pub(crate) fn answer(session: &Session, compiled: &Compiled, question: &Question) -> Option<Answer> {
    if is_invalid(&compiled.problems) {
        return None;
    }
    let source = session.sources.insert("expression", question.expression.as_str());
    let tree = session.sources.add(yaml::parse(source, Flavor::CoreGo, &session.limits));
    session.sink.extend(tree.diagnostics().iter().cloned());
    let expression = val::read(tree.root()?, compiled.model.edition());
    let (compiled, node) = match &question.on {
        Some(name) => match within(compiled, name) {
            (compiled, None) => {
                question.unknown_node(session, compiled.topology.nodes.keys().map(EcoString::as_str));
                return None;
            }
            found => found,
        },
        None => (compiled, None),
    };
    let mut printer = Printer::new(session, compiled);
    let scope = node.map(Scope::node).unwrap_or_default();
    let prop =
        Prop { value: expression, definition: None, data_type: None, at: tree.root()?.span(), given: Given::Assigned };
    let value = printer.evaluator.settle(&prop, &scope);
    printer.evaluator.problems().report(session);
    let edition: Edition = compiled.model.edition();
    let trace = if question.trace { vec![format!("TOSCA {}", edition.number())] } else { Vec::new() };
    let value = printer.value(&value);
    let origin = if value.origin.is_known() { value.origin } else { Origin::NONE };
    Some(Answer { value: value.with_origin(origin), trace })
}

/// The service that a node belongs to, and its index there: `node/inner` is in the service that replaces `node`.
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
