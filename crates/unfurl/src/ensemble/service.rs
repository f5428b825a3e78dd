//! The ensemble's service template, read by the TOSCA dialect as far as rendering and resolution go.

use super::conditions;
use super::library;
use super::manifest::Manifest;
use super::nested;
use super::overlooked;
use super::places::{Places, Reading};
use super::project::PROJECT_FILE;
use super::python_template;
use super::read;
use super::requirements::{self, Unmet};
use super::types;
use super::validate;
use crate::eval::engine::is_static;
use crate::eval::form::EVAL_KEYS;
use crate::functions;
use crate::jinja;
use crate::rules;
use crate::val::{Data, MapKey, Val, ValMap};
use crate::vault;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_model::project::Request;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span};
use purlin_tosca::edition;
use purlin_tosca::host::{Host, TEMPLATE};
use purlin_tosca::load::{self, Options};
use purlin_tosca::model::{self, Model};
use purlin_tosca::present::{MOST_PRESENTED, present};
use purlin_tosca::problem::Problems;
use purlin_tosca::profile::Embedded;
use purlin_tosca::render::{self, MissingInputs};
use purlin_tosca::resolve::Resolution;
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::topology::{self, Props, Topology};
use purlin_tosca::val as tosca;
use purlin_value::{Session, Taint, path};
use std::collections::HashMap;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// Unfurl's notation in the values of a service template.
static HOST: Host = Host {
    is_call,
    is_template: is_computed,
    interfaces: INTERFACES,
    repositories: &[library::UNFURL],
    python: |session, file| {
        python_template::read(session, file)
            .map_err(|why| Box::new(python_template::problem(path::file_name(file), &why)))
    },
};

/// Interfaces of every node. `defaults` holds operations shared by the others, `Mock` replaces operations in a dry
/// run.
pub(super) const INTERFACES: &[(&str, Option<&str>)] = &[
    ("Install", Some("unfurl.interfaces.Install")),
    ("Standard", Some("tosca.interfaces.node.lifecycle.Standard")),
    ("Configure", Some("tosca.interfaces.relationship.Configure")),
    ("unfurl.interfaces.Install", Some("unfurl.interfaces.Install")),
    ("tosca.interfaces.node.lifecycle.Standard", Some("tosca.interfaces.node.lifecycle.Standard")),
    ("tosca.interfaces.relationship.Configure", Some("tosca.interfaces.relationship.Configure")),
    ("defaults", None),
    ("Mock", None),
];

/// Version keywords for TOSCA 1.3 with Unfurl's expressions.
const VERSIONS: &[&str] =
    &["tosca_simple_unfurl_1_0_0", "tosca_simple_unfurl_1_0", "unfurl/v1.0.0", "unfurl/v1.0", "unfurl/v1alpha1"];

const PROFILES: &[Embedded] =
    &[Embedded { path: "purlin:/unfurl/unfurl.yaml", text: include_str!("../../profiles/unfurl.yaml") }];

/// Shares the built-in types among the ensembles of a repository.
pub(crate) fn share_types(session: &Session) {
    purlin_tosca::load::built_in::share_edition(session, edition::EXTENDED, PROFILES);
}

/// A map with one of these keys is an expression, unless another key in it prevents that.
pub(crate) fn is_call(key: &str, keys: usize) -> bool {
    match key {
        "eval" | "ref" => keys <= EVAL_KEYS.len() + 1,
        name => keys == 1 && functions::find(name).is_some_and(|function| function.call.standalone),
    }
}

/// Text whose value and type are known only later: a template, or vault data.
fn is_computed(text: &str) -> bool {
    jinja::is_template(text) || vault::is_vault(text.as_bytes())
}

/// A rendered service.
pub struct Service {
    /// Types and names.
    pub model: Model,
    /// Nodes, capabilities, requirements, values unevaluated.
    pub topology: Topology,
    /// Which capability meets which requirement.
    pub resolution: Resolution,
    /// Open requirements that stop a job which runs operations of their nodes.
    pub unmet: Unmet,
    /// Locations of its parts.
    pub places: Places,
    /// Whether the template is too broken to go on.
    pub broken: bool,
}

impl Service {
    /// The templates that are required directly or by another one: roots are the node that represents the whole
    /// topology, otherwise all without the directive `default`.
    pub(super) fn required(&self, standing: Option<&str>) -> Vec<bool> {
        let nodes = &self.topology.nodes;
        let is_root = |(name, node): (&EcoString, &Arc<topology::Node>)| match standing {
            Some(standing) => name == standing,
            None => !node.template.texts("directives").iter().any(|word| word.text == "default"),
        };
        let mut required: Vec<bool> = nodes.iter().map(is_root).collect();
        let mut open: Vec<usize> = (0..nodes.len()).filter(|at| required.get(*at) == Some(&true)).collect();
        while let Some(next) = open.pop() {
            for edge in self.resolution.edges.get(next).into_iter().flatten() {
                if let Some(known @ false) = required.get_mut(edge.target) {
                    *known = true;
                    open.push(edge.target);
                }
            }
        }
        required
    }
}

/// Reads, renders and resolves a manifest's service template. Problems go to the session's sink.
pub fn compile(session: &Session, manifest: &Manifest, inputs: &IndexMap<EcoString, Val>) -> Option<Service> {
    let given = manifest.service.clone()?;
    let prepare = |model: &mut Model| nested::make_mapped(model, &Props::default());
    compile_at(session, manifest, &given.path.clone(), Some(given), inputs, &prepare)
}

/// The same for a file that the service template imports, with its inputs' defaults. The model may be changed before
/// it is rendered.
pub(super) fn compile_imported(
    session: &Session,
    manifest: &Manifest,
    path: &str,
    prepare: &dyn Fn(&mut Model),
) -> Option<Service> {
    compile_at(session, manifest, path, None, &IndexMap::new(), prepare)
}

fn compile_at(
    session: &Session,
    manifest: &Manifest,
    path: &str,
    given: Option<load::Given>,
    inputs: &IndexMap<EcoString, Val>,
    prepare: &dyn Fn(&mut Model),
) -> Option<Service> {
    let is_nested = given.is_none();
    let options = Options {
        versions: VERSIONS.iter().map(|keyword| (*keyword, edition::EXTENDED)).collect(),
        unversioned: Some(edition::EXTENDED),
        host: Some(&HOST),
        repositories: manifest
            .settings
            .repositories
            .iter()
            .map(|(name, folder)| (name.to_string(), folder.to_string()))
            .collect(),
        given,
        profiles: PROFILES,
        unread: manifest.unread,
        condition: Some(conditions::condition(manifest)),
        ..Options::default()
    };
    let mut problems = Problems::new();
    let mut model = model::build(session, path, &options, &mut problems);
    prepare(&mut model);
    let span = manifest.service_span?;
    // The result of an expression is known only later.
    let given = |value: &Val| {
        let nowhere = Span::new(span.file, span.start, span.start);
        if is_static(value, 0) {
            to_tosca(value, &|value| session.origins.span(value.origin, &session.sources).unwrap_or(nowhere))
        } else {
            tosca::Val::of(tosca::Data::Poison, span, value.origin, value.taint_of())
        }
    };
    let given = inputs.iter().map(|(name, value)| (name.clone(), given(value))).collect();
    let mut topology = Topology::default();
    let (mut resolution, mut unmet) = (Resolution::default(), Unmet::new());
    if model.files.edition.is_some() {
        // A topology that replaces a node gets no inputs: they are null unless they have a default.
        let missing = match (is_nested, manifest.alone) {
            (true, _) => MissingInputs::Accept,
            (false, true) => MissingInputs::Warn,
            (false, false) => MissingInputs::Refuse,
        };
        topology = render::render(&model, &given, missing, &mut problems);
        (resolution, unmet) = requirements::resolve(&model, &mut topology, manifest.deploys, &mut problems);
        overlooked::refuse_circular_hosts(&model, &topology, &resolution, &mut problems);
        if !manifest.alone && !is_nested {
            refuse_null_inputs(&topology, inputs, &mut problems);
        }
    }
    nested::refuse_common_type(&model, &mut problems);
    overlooked::refuse_addresses(&model, &mut problems);
    types::check(&model, &mut problems);
    types::refuse_derived(&model, &topology, &mut problems);
    purlin_tosca::library::collect(&model, &mut problems);
    validate::written(&model, &topology, &mut problems);
    let places = places(session, manifest, &model);
    let open = open_names(&model, &topology);
    let broken = report(session, &problems, &open, &places) || model.files.edition.is_none();
    let unmet = unmet.into_iter().map(|(node, diagnostic)| (node, placed(diagnostic, &places))).collect();
    Some(Service { model, topology, resolution, unmet, places, broken })
}

/// An input whose default is null must be given, unless it is optional.
fn refuse_null_inputs(topology: &Topology, given: &IndexMap<EcoString, Val>, problems: &mut Problems) {
    for (name, prop) in &topology.inputs {
        let optional = prop.definition.as_ref().is_some_and(|definition| definition.bool("required") == Some(false));
        let defaulted = prop.given == topology::Given::Default && matches!(prop.value.data, tosca::Data::Null);
        if defaulted && !optional && !given.contains_key(name) {
            let message = format!("the input `{name}` is required, and its default is null");
            let hint = format!("give it, for example with `--input {name}=VALUE`, or write `required: false`");
            problems.push(Diagnostic::at(&tosca_rules::UNASSIGNED, prop.at, message).hint(hint));
        }
    }
}

/// Locations of the service template's parts, and its vault data.
fn places(session: &Session, manifest: &Manifest, model: &Model) -> Places {
    let mut places = Places::default();
    if let (Some(given), Some(merged), Some(whole)) =
        (&manifest.service, &manifest.merged_service, manifest.service_span)
    {
        places.merged(session, &given.tree, merged, whole);
    }
    for tree in manifest.trees.iter().chain(model.files.list.iter().map(|file| &file.tree)) {
        places.tagged(tree);
        tosca::secrets(tree).for_each(|span| session.sources.hide(span));
    }
    places
}

/// Reports TOSCA's problems, except those tolerated here; returns whether one of them is an error.
fn report(session: &Session, problems: &Problems, open: &HashSet<Span>, places: &Places) -> bool {
    let mut broken = false;
    problems.hidden().iter().for_each(|span| session.sources.hide(places.span(*span)));
    for (at, problem) in problems.list().iter().enumerate() {
        let mut diagnostic = problem.diagnostic.clone();
        let rule = diagnostic.rule.name;
        let within = |spans: &HashSet<Span>| diagnostic.span.is_some_and(|span| spans.contains(&span));
        let tolerated = match rule {
            // Inputs of operations are read when a job runs, and a type may give their values instead of their types.
            name if name == tosca_rules::UNASSIGNED.name => problem.beyond.contains(".inputs["),
            name if name == tosca_rules::UNDECLARED.name => within(open),
            _ => false,
        };
        if tolerated {
            continue;
        }
        if rule == tosca_rules::INCOMPATIBLE.name {
            diagnostic = diagnostic.warning();
        }
        // Undeclared properties are dropped; other undeclared names are mistakes.
        if rule == tosca_rules::UNDECLARED.name && !diagnostic.is_error() {
            diagnostic = Diagnostic { rule: &rules::UNDECLARED, ..diagnostic };
        }
        diagnostic = placed(diagnostic, places);
        // Imports of an environment are the service template's.
        let written = diagnostic.span.and_then(|span| session.sources.get(span.file));
        let of_project = written.is_some_and(|source| path::file_name(source.path()) == PROJECT_FILE);
        if of_project && rule == tosca_rules::IMPORT.name {
            diagnostic.hints =
                vec!["correct the path; it is relative to the service template, not to this file".into()];
        }
        broken |= diagnostic.is_error();
        let shown = if at < MOST_PRESENTED { present(diagnostic, &session.sources) } else { diagnostic };
        session.sink.push(shown);
    }
    broken
}

/// A diagnostic of the merged service template, at what the user wrote.
fn placed(mut diagnostic: Diagnostic, places: &Places) -> Diagnostic {
    diagnostic.span = diagnostic.span.map(|span| places.span(span));
    let labels = diagnostic.labels.iter_mut().chain(&mut diagnostic.trace);
    labels.for_each(|label| label.span = places.span(label.span));
    diagnostic
}

/// Whether a node allows properties its type does not declare: its type does, it does itself, or the type is not known.
pub(crate) fn is_open_node(model: &Model, node: &topology::Node) -> bool {
    node.partial || model::allows_any(&node.template) || model.is_open(node.node_type)
}

/// Locations of properties of open types; they need no declaration.
fn open_names(model: &Model, topology: &Topology) -> HashSet<Span> {
    let nodes = topology.nodes.values().filter(|node| is_open_node(model, node));
    nodes.flat_map(|node| node.template.values("properties").iter().map(|(name, _)| name.span)).collect()
}

/// A value of the service template as an unevaluated [`Val`]. Vault data is opened.
pub(crate) fn from_tosca(value: &tosca::Val, reading: Reading<'_>) -> Val {
    let mut taint = value.taint();
    let data = match &value.data {
        tosca::Data::Null | tosca::Data::Poison | tosca::Data::Pending(_) => Data::Null,
        tosca::Data::Bool(b) => Data::Bool(*b),
        tosca::Data::Int(n) => Data::Int(*n),
        tosca::Data::Float(x) => Data::Float(*x),
        tosca::Data::Timestamp(text) => Data::Str(text.clone()),
        tosca::Data::Str(text) if vault::is_vault(text.as_bytes()) => {
            let opened = match vault::decrypt(text, reading.secrets) {
                Ok(plain) => read::opened(reading.places.tag(value.origin).unwrap_or("!vault"), &plain).taint(),
                Err(_) => Val::null(),
            };
            return opened.from_origin(reading.places.origin(value.origin));
        }
        tosca::Data::Str(text) => Data::Str(text.clone()),
        tosca::Data::List(items) => Data::List(Rc::new(items.iter().map(|item| from_tosca(item, reading)).collect())),
        tosca::Data::Map(entries) => {
            let (map, secret_key) = map_from(entries, reading);
            taint |= Taint::secret_if(secret_key);
            Val::map(map).data
        }
        tosca::Data::Call(call) => return from_call(call, value, reading).taint_if(taint.is_secret()),
    };
    Val::of(data, reading.places.origin(value.origin), taint)
}

/// The entries of a map, and whether one of its keys is a secret: a key has no taint of its own, so the map gets it.
fn map_from(entries: &[(tosca::Val, tosca::Val)], reading: Reading<'_>) -> (ValMap, bool) {
    let mut secret_key = false;
    let pair = |(key, item): &(tosca::Val, tosca::Val)| {
        let key = from_tosca(key, reading);
        secret_key |= key.tainted_within();
        (key.to_key().unwrap_or(MapKey::Null), from_tosca(item, reading))
    };
    (entries.iter().map(pair).collect(), secret_key)
}

/// Converts a call back to the map or text it was written as.
fn from_call(call: &tosca::Call, value: &tosca::Val, reading: Reading<'_>) -> Val {
    let whole = call.args.first();
    if call.name == TEMPLATE {
        return whole.map_or_else(Val::null, |text| from_tosca(text, reading));
    }
    let is_ours = !call.listed
        && whole.is_some_and(|whole| whole.get(&call.name).is_some() && matches!(whole.data, tosca::Data::Map(_)));
    if is_ours {
        return whole
            .map_or_else(Val::null, |map| from_tosca(map, reading))
            .from_origin(reading.places.origin(value.origin));
    }
    let args: Vec<Val> = call.args.iter().map(|arg| from_tosca(arg, reading)).collect();
    let argument = match (call.listed, args.as_slice()) {
        (false, [only]) => only.clone(),
        _ => Val::list(args).from_origin(reading.places.origin(value.origin)),
    };
    Val::record([(call.name.as_str(), argument)]).from_origin(reading.places.origin(value.origin))
}

/// One of our values as a value of TOSCA, for checks.
pub(crate) fn to_tosca(value: &Val, place: &dyn Fn(&Val) -> Span) -> tosca::Val {
    Conversion { place, shared: HashMap::default() }.value(value)
}

/// Shared parts are converted once and shared again: written out, they may not fit into memory.
struct Conversion<'p> {
    place: &'p dyn Fn(&Val) -> Span,
    shared: HashMap<usize, tosca::Data, foldhash::fast::RandomState>,
}

impl Conversion<'_> {
    fn value(&mut self, value: &Val) -> tosca::Val {
        let data = match &value.data {
            Data::Null | Data::Undefined(_) => tosca::Data::Null,
            Data::Bool(b) => tosca::Data::Bool(*b),
            Data::Int(n) => tosca::Data::Int(*n),
            Data::Float(x) => tosca::Data::Float(*x),
            Data::Str(text) => tosca::Data::Str(text.clone()),
            Data::List(_) | Data::Map(_) => self.collection(value),
            Data::External(external) => return self.value(&external.value).tainted_by(value.taint_of()),
            // Instances and the like have no declared type to conform to.
            _ => tosca::Data::Poison,
        };
        tosca::Val::of(data, (self.place)(value), value.origin, value.taint_of())
    }

    fn collection(&mut self, value: &Val) -> tosca::Data {
        let address = value.shared_at();
        if let Some(known) = address.and_then(|address| self.shared.get(&address)) {
            return known.clone();
        }
        let data = match &value.data {
            Data::List(items) => tosca::Data::List(Arc::new(items.iter().map(|item| self.value(item)).collect())),
            Data::Map(entries) => {
                let pairs = entries.iter().map(|(key, item)| (self.value(&key.to_val()), self.value(item)));
                tosca::Data::Map(Arc::new(pairs.collect()))
            }
            _ => tosca::Data::Poison,
        };
        if let Some(address) = address {
            self.shared.insert(address, data.clone());
        }
        data
    }
}

/// Inputs, later ones override earlier ones: the manifest's, the environment's, those of a project around it, those of
/// files, those of the command line.
pub fn inputs(manifest: &Manifest, inner: &Val, request: &Request, session: &Session) -> IndexMap<EcoString, Val> {
    let mut out = IndexMap::new();
    let written = manifest.document.get("spec").and_then(|spec| spec.get("inputs"));
    for layer in [written, manifest.environment.get("inputs"), Some(inner)].into_iter().flatten() {
        for (name, value) in layer.as_map().into_iter().flatten() {
            out.insert(crate::convert::key_text(name), value.clone());
        }
    }
    for file in &request.input_files {
        out.extend(input_file(session, file));
    }
    for (name, text) in request.inputs.iter().chain(&request.vars) {
        let origin = session.origins.flag(format!("--input {name}"));
        let read = crate::convert::from_yaml(session, text, purlin_syntax::Flavor::Core);
        let value = read.ok().and_then(|mut documents| documents.pop()).unwrap_or_else(|| Val::str(text.as_str()));
        out.insert(name.as_str().into(), value.from_origin(origin));
    }
    out
}

/// Inputs of a file that the user names.
fn input_file(session: &Session, file: &str) -> Vec<(EcoString, Val)> {
    let tree = match session.read_yaml(file, purlin_syntax::Flavor::Core) {
        Ok(tree) if tree.is_sound() => tree,
        Ok(_) => return Vec::new(),
        Err(diagnostic) => {
            session.sink.push(diagnostic);
            return Vec::new();
        }
    };
    let Some(root) = tree.root().filter(|root| !root.is_null()) else { return Vec::new() };
    let value = read::Reader::new(None).read(root);
    match value.as_map() {
        Some(entries) => entries.iter().map(|(name, value)| (crate::convert::key_text(name), value.clone())).collect(),
        None => {
            let message = what::expected("a mapping of inputs", value.kind());
            session.sink.push(Diagnostic::at(&rules::MANIFEST, root.span(), message));
            Vec::new()
        }
    }
}
