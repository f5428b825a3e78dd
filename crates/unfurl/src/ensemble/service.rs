//! The ensemble's service template, read by the TOSCA dialect as far as rendering and resolution go.

use super::manifest::Manifest;
use super::places::{Places, Reading};
use super::read;
use crate::eval::form::EVAL_KEYS;
use crate::functions;
use crate::jinja;
use crate::rules;
use crate::val::{Data, MapKey, Val, ValMap};
use crate::vault;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::{Diagnostic, Severity, Span};
use purlin_tosca::host::{Host, TEMPLATE};
use purlin_tosca::load::Options;
use purlin_tosca::model::{self, Model};
use purlin_tosca::names::DeclId;
use purlin_tosca::problem::Problems;
use purlin_tosca::profile::Embedded;
use purlin_tosca::render::{self, MissingInputs};
use purlin_tosca::resolve::{self, Resolution};
use purlin_tosca::rules as tosca_rules;
use purlin_tosca::schema::Edition;
use purlin_tosca::topology::Topology;
use purlin_tosca::val as tosca;
use purlin_value::Session;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

/// What counts as ours in the values of a service template.
static HOST: Host = Host { is_call, is_template: is_computed };

/// Version keywords that mean TOSCA 1.3 with our expressions in it.
const VERSIONS: &[&str] =
    &["tosca_simple_unfurl_1_0_0", "tosca_simple_unfurl_1_0", "unfurl/v1.0.0", "unfurl/v1.0", "unfurl/v1alpha1"];

const PROFILES: &[Embedded] =
    &[Embedded { path: "purlin:/unfurl/unfurl.yaml", text: include_str!("../../profiles/unfurl.yaml") }];

/// Keys of a service template that only Unfurl knows and that mean nothing for evaluation.
const OWN_KEYS: &[&str] = &["decorators", "deployment_blueprints"];

/// A map with one of these keys is an expression, if nothing else in it says otherwise.
fn is_call(key: &str, keys: usize) -> bool {
    match key {
        "eval" | "ref" => keys <= EVAL_KEYS.len() + 1,
        name => keys == 1 && functions::find(name).is_some_and(|function| function.standalone),
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
    /// Where its parts were written.
    pub places: Places,
    /// Whether the template is too broken to go on.
    pub broken: bool,
}

/// Reads, renders and resolves a manifest's service template. Problems go to the session's sink.
pub fn compile(session: &Session, manifest: &Manifest, inputs: &IndexMap<EcoString, Val>) -> Option<Service> {
    let (path, text) = manifest.service.clone()?;
    let options = Options {
        versions: VERSIONS.iter().map(|keyword| (*keyword, Edition::V1_3)).collect(),
        unversioned: Some(Edition::V1_3),
        host: Some(&HOST),
        texts: vec![(path.clone(), text)],
        profiles: PROFILES,
        ..Options::default()
    };
    let mut problems = Problems::new();
    let model = model::build(session, &path, &options, &mut problems);
    let span = manifest.service_span?;
    let given = inputs.iter().map(|(name, value)| (name.clone(), to_tosca(value, span))).collect();
    let mut topology = Topology::default();
    let mut resolution = Resolution::default();
    if model.files.edition.is_some() {
        topology = render::render(&model, &given, MissingInputs::Refuse, &mut problems);
        let mut unresolved = Problems::new();
        resolution = resolve::resolve(&model, &topology, &mut unresolved);
    }
    let places = places(session, manifest, &model);
    let names = Names::of(&model, &topology);
    let broken = report(session, &problems, &names, &places) || model.files.edition.is_none();
    Some(Service { model, topology, resolution, places, broken })
}

/// Where the parts of the service template were written, and what of it is vault data.
fn places(session: &Session, manifest: &Manifest, model: &Model) -> Places {
    let mut places = Places::default();
    let own = model.files.list.iter().find(|file| file.path == manifest.path);
    if let (Some(own), Some(merged)) = (own, &manifest.merged_service) {
        places.merged(session, &own.tree, merged);
    }
    for tree in manifest.trees.iter().chain(model.files.list.iter().map(|file| &file.tree)) {
        places.tagged(tree);
    }
    places
}

/// Hands TOSCA's problems on, as far as they are problems here; whether one of them is an error.
fn report(session: &Session, problems: &Problems, names: &Names, places: &Places) -> bool {
    let mut broken = false;
    for problem in problems.list() {
        let mut diagnostic = problem.diagnostic.clone();
        let rule = diagnostic.rule.name;
        let within = |spans: &HashSet<Span>| diagnostic.span.is_some_and(|span| spans.contains(&span));
        let tolerated = match rule {
            name if name == tosca_rules::UNKNOWN_KEY.name => is_own_key(session, diagnostic.span),
            // A requirement may say what it needs by the type of node alone, an artifact by its file.
            name if name == tosca_rules::MISSING_KEY.name => {
                problem.beyond == ".capability" || problem.beyond == ".type" && within(&names.artifacts)
            }
            // Inputs of operations are read when a job runs, and a type may give their values instead of their types.
            name if name == tosca_rules::UNASSIGNED.name => problem.beyond.contains(".inputs["),
            name if name == tosca_rules::UNDECLARED.name => within(&names.open),
            _ => false,
        };
        if tolerated {
            continue;
        }
        if rule == tosca_rules::INCOMPATIBLE.name || rule == tosca_rules::COUNT.name {
            diagnostic.severity = Severity::Warning;
        }
        // Properties nobody declared are dropped; other things nobody declared are mistakes.
        if rule == tosca_rules::UNDECLARED.name && !within(&names.assigned) {
            diagnostic = Diagnostic { rule: &rules::UNDECLARED, severity: Severity::Warning, ..diagnostic };
        }
        diagnostic.span = diagnostic.span.map(|span| places.span(span));
        broken |= diagnostic.is_error();
        session.sink.push(diagnostic);
    }
    broken
}

/// Whether a key is one that only Unfurl knows.
fn is_own_key(session: &Session, span: Option<Span>) -> bool {
    let Some((span, source)) = span.and_then(|span| Some((span, session.sources.get(span.file)?))) else {
        return false;
    };
    OWN_KEYS.contains(&source.slice(span).trim_matches(['"', '\'']))
}

/// Places in a service template that decide what a problem there means.
struct Names {
    /// Names of properties of open types; they need no declaration.
    open: HashSet<Span>,
    /// Requirements, capabilities and interfaces that templates assign.
    assigned: HashSet<Span>,
    /// Artifacts of templates.
    artifacts: HashSet<Span>,
}

impl Names {
    fn of(model: &Model, topology: &Topology) -> Names {
        let mut names = Names { open: HashSet::new(), assigned: HashSet::new(), artifacts: HashSet::new() };
        for node in topology.nodes.values() {
            if is_open(model, node.node_type) {
                names.open.extend(node.template.values("properties").iter().map(|(name, _)| name.span));
            }
            for section in ["requirements", "capabilities", "interfaces"] {
                names.assigned.extend(node.template.entries(section).map(|(_, entity)| entity.at));
            }
            names.artifacts.extend(node.template.entries("artifacts").map(|(_, entity)| entity.at));
        }
        names
    }
}

/// Whether a type allows properties it does not declare.
pub fn is_open(model: &Model, id: DeclId) -> bool {
    let metadata = model.complete(id).and_then(|complete| complete.value("metadata"));
    let flag = metadata.and_then(|metadata| metadata.get("additionalProperties"));
    flag.is_some_and(|flag| matches!(flag.data, tosca::Data::Bool(true)) || flag.as_str() == Some("true"))
}

/// A value of the service template as one of ours, as written. Vault data is opened.
pub fn from_tosca(value: &tosca::Val, reading: Reading<'_>) -> Val {
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
            return Val::map(map).taint_if(secret_key).from_origin(reading.places.origin(value.origin));
        }
        tosca::Data::Call(call) => return from_call(call, value, reading),
    };
    Val { data, tainted: false, origin: reading.places.origin(value.origin) }
}

/// The entries of a map, and whether one of its keys is a secret: a key has no mark of its own, so the map gets it.
fn map_from(entries: &[(tosca::Val, tosca::Val)], reading: Reading<'_>) -> (ValMap, bool) {
    let mut secret_key = false;
    let pair = |(key, item): &(tosca::Val, tosca::Val)| {
        let key = from_tosca(key, reading);
        secret_key |= key.tainted_within();
        (key.to_key().unwrap_or(MapKey::Null), from_tosca(item, reading))
    };
    (entries.iter().map(pair).collect(), secret_key)
}

/// A call goes back to the map or text it was written as.
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
pub fn to_tosca(value: &Val, span: Span) -> tosca::Val {
    let data = match &value.data {
        Data::Null | Data::Undefined(_) => tosca::Data::Null,
        Data::Bool(b) => tosca::Data::Bool(*b),
        Data::Int(n) => tosca::Data::Int(*n),
        Data::Float(x) => tosca::Data::Float(*x),
        Data::Str(text) => tosca::Data::Str(text.clone()),
        Data::List(items) => tosca::Data::List(Arc::new(items.iter().map(|item| to_tosca(item, span)).collect())),
        Data::Map(entries) => {
            let pairs = entries.iter().map(|(key, item)| (to_tosca(&key.to_val(), span), to_tosca(item, span)));
            tosca::Data::Map(Arc::new(pairs.collect()))
        }
        Data::External(external) => return to_tosca(&external.value, span),
        // Instances and the like have no declared type to conform to.
        _ => tosca::Data::Poison,
    };
    tosca::Val { data, span, origin: value.origin }
}

/// Inputs in the order they win: the manifest's, the environment's, those of the command line.
pub fn inputs(manifest: &Manifest, given: &[(String, String)], session: &Session) -> IndexMap<EcoString, Val> {
    let mut out = IndexMap::new();
    let written = manifest.document.get("spec").and_then(|spec| spec.get("inputs"));
    for layer in [written, manifest.environment.get("inputs")].into_iter().flatten() {
        for (name, value) in layer.as_map().into_iter().flatten() {
            out.insert(crate::convert::key_text(name), value.clone());
        }
    }
    for (name, text) in given {
        let origin = session.origins.flag(format!("--input {name}"));
        let read = crate::convert::from_yaml(session, text, purlin_syntax::Flavor::Core);
        let value = read.ok().and_then(|mut documents| documents.pop()).unwrap_or_else(|| Val::str(text.as_str()));
        out.insert(name.as_str().into(), value.from_origin(origin));
    }
    out
}
