//! Ensembles: reading them, building the tree of instances, resolving it.

pub mod build;
mod checks;
mod nodes;
pub mod service;
mod sources;

pub(crate) use checks::overlooked;
use checks::{operations, types};
pub use checks::{report, validate};
pub(crate) use nodes::nested;
use nodes::{blueprints, conditions, connections, filters, requirements, select};
pub use sources::{directives, manifest, merge, places, project, read};
use sources::{files, library, merged_tree, python_template, repositories, shape, stored};

use crate::error::Result;
use crate::eval::{Ctx, Engine};
use crate::rules;
use crate::tree::{NodeId, Tree};
use crate::val::{Data, MapKey, Val};
use build::Instances;
use ecow::EcoString;
use indexmap::IndexMap;
use manifest::Manifest;
use purlin_model::project::Request;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, suggest};
use purlin_value::{Session, Value};
use select::External;
use service::Service;
use std::collections::HashMap;
use std::rc::Rc;

/// An ensemble, ready to be evaluated.
pub struct Ensemble {
    /// The sources.
    pub manifest: Manifest,
    /// Its service, rendered.
    pub service: Rc<Service>,
    /// The services of topologies that replace its nodes, as the tree lists them.
    pub(crate) nested: Vec<Rc<Service>>,
    /// Its instances.
    pub tree: Tree,
    /// The given inputs, declared or not.
    inputs: IndexMap<EcoString, Val>,
    /// The artifacts that copies were made of, by the copy.
    pub(crate) copies: HashMap<NodeId, NodeId>,
    /// Instances whose artifacts the operations of all others may use; a job looks for them.
    pub(crate) stores: Vec<NodeId>,
}

impl Ensemble {
    /// The service of an instance: the ensemble's own, or one that replaces a node.
    pub(crate) fn service_of(&self, id: NodeId) -> &Rc<Service> {
        self.service_at(self.tree.topology_index(id))
    }

    /// The service of a topology, by its place in the tree.
    pub(crate) fn service_at(&self, topology: usize) -> &Rc<Service> {
        topology.checked_sub(1).and_then(|at| self.nested.get(at)).unwrap_or(&self.service)
    }

    /// A value of the service template as expressions read it.
    pub(crate) fn written(&self, value: &purlin_tosca::val::Val) -> Val {
        let reading = places::Reading { secrets: &self.manifest.settings.vault, places: &self.service.places };
        service::from_tosca(value, reading)
    }
}

/// Opens the ensemble of a request. Problems go to the session's sink; none if there is nothing to evaluate.
pub fn open(session: &Session, request: &Request) -> Option<Ensemble> {
    open_with(session, request, Instances::Planned)
}

/// The same with a choice of instances.
pub fn open_with(session: &Session, request: &Request, which: Instances) -> Option<Ensemble> {
    open_at(session, request, which, &Val::null(), &[])
}

/// The same with a choice of instances and inputs that another dialect gives.
pub(crate) fn open_with_given(
    session: &Session,
    request: &Request,
    which: Instances,
    inputs: &Value,
) -> Option<Ensemble> {
    open_at(session, request, which, &crate::convert::from_value(inputs), &[])
}

/// The same with inputs from another dialect, which override those of the ensemble. Some may be pending or broken.
pub fn open_given(session: &Session, request: &Request, inputs: &Value) -> Option<Ensemble> {
    open_at(session, request, Instances::Planned, &crate::convert::from_value(inputs), &[])
}

/// The ensemble's file. In a folder the project's default comes before what else detection found there.
fn ensemble_file(session: &Session, request: &Request) -> Option<String> {
    let found = request.found.as_deref();
    let target = found.filter(|_| request.file.is_some()).or(request.file.as_deref()).unwrap_or(&request.path);
    let is_project = |file: &str| purlin_value::path::file_name(file) == project::PROJECT_FILE;
    let file = manifest::find(session, target).or_else(|| found.filter(|found| !is_project(found)).map(str::to_owned));
    if let Some(found) = found.filter(|_| file.is_none()) {
        report_no_ensemble(session, found);
    }
    file
}

/// Reports a project without an ensemble: its file is broken, or names none.
fn report_no_ensemble(session: &Session, project: &str) {
    let tree = session.read_yaml(project, purlin_syntax::Flavor::Core);
    if tree.as_ref().is_ok_and(|tree| !tree.is_sound()) {
        return;
    }
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, "this project names no ensemble that exists");
    diagnostic.span = tree.ok().and_then(|tree| tree.root().map(|root| root.span()));
    session.sink.push(diagnostic.hint("list one under `ensembles`, or name the ensemble's file"));
}

/// Opens an ensemble that others refer to; `through` are their files, outermost first.
fn open_at(session: &Session, request: &Request, which: Instances, inner: &Val, through: &[&str]) -> Option<Ensemble> {
    let file = ensemble_file(session, request)?;
    let mut manifest = manifest::read(session, &file, request)?;
    manifest.deploys = which == Instances::Deployed;
    let externals = externals(session, &manifest, through);
    let shown_by = |external: &External| (external.name.clone(), shown(session, external));
    manifest.settings.externals = externals.iter().map(shown_by).collect();
    let root = manifest.trees.first().and_then(|tree| tree.root());
    if manifest.service.is_none() {
        // A `spec` of another shape was reported as such.
        if root.and_then(|root| root.get("spec")).is_none_or(|spec| spec.is_map() || spec.is_null()) {
            session.sink.push(no_service(root));
        }
        return None;
    }
    let spec = manifest.document.get("spec");
    let says_something = |key: &str| spec.and_then(|spec| spec.get(key)).is_some();
    if !manifest.alone && !says_something("service_template") && !says_something("instances") {
        session.sink.push(no_service(root).warning());
    }
    let inputs = service::inputs(&manifest, inner, request, session);
    let service = Rc::new(service::compile(session, &manifest, &inputs)?);
    if service.broken {
        return None;
    }
    if !report_unknown_templates(session, &manifest, &service) {
        return None;
    }
    manifest.settings.variables.extend(connections::variables(&manifest, &service));
    let (tree, nested) = build::build(session, &manifest, &service, &inputs, which, &externals);
    Some(Ensemble { manifest, service, nested, tree, inputs, copies: HashMap::new(), stores: Vec::new() })
}

/// Whether the templates of instances exist: those named by instances of `spec`, and those of saved instances. Missing
/// ones are reported.
fn report_unknown_templates(session: &Session, manifest: &Manifest, service: &Service) -> bool {
    let section = |name: &str| manifest.document.get(name).and_then(|section| section.get("instances"));
    let specified = section("spec").and_then(Val::as_map).into_iter().flatten();
    let mut wanted: Vec<(&MapKey, &Val)> =
        specified.filter(|(_, said)| said.get("parent").is_none() && said.get("template").is_some()).collect();
    let mut pending: Vec<&Val> = section("status").into_iter().collect();
    while let Some(instances) = pending.pop() {
        for (name, said) in instances.as_map().into_iter().flatten() {
            wanted.push((name, said));
            pending.extend(said.get("instances"));
        }
    }
    let mut all = true;
    for (name, said) in wanted {
        let Some(name) = name.as_str() else { continue };
        let template = said.get("template");
        let Some(wanted) = template.map_or(Some(name), Val::as_str) else { continue };
        if service.topology.nodes.contains_key(wanted) || wanted.starts_with(ARTIFACT_PREFIX) {
            continue;
        }
        let near = suggest::nearest(wanted, service.topology.nodes.keys().map(EcoString::as_str));
        let message = what::unknown("node template", wanted).and(format!(" of the instance `{name}`"));
        let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message);
        diagnostic.span = session.origins.span(template.unwrap_or(said).origin, &session.sources);
        session.sink.push(diagnostic.maybe_hint(near.map(|near| Hint::meant(wanted, near))));
        all = false;
    }
    all
}

/// The prefix of instances that a job creates to install artifacts. They have no template of their own.
pub(crate) const ARTIFACT_PREFIX: &str = "__artifact__";

/// Reports a missing service template, at the key that was probably meant to be it.
fn no_service(root: Option<purlin_syntax::Node<'_>>) -> Diagnostic {
    let found = root.and_then(|root| match root.get("spec") {
        Some(spec) => misspelt(spec, "service_template").map(|found| (found, "service_template")),
        None => misspelt(root, "spec").map(|found| (found, "spec")),
    });
    if let Some(((key, span), wanted)) = found {
        let diagnostic = Diagnostic::at(&rules::MANIFEST, span, what::unknown("key", &key));
        return diagnostic.hint(Hint::meant(key, wanted));
    }
    let missing = if root.is_some_and(|root| root.get("spec").is_some()) { "spec.service_template" } else { "spec" };
    let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, format!("the ensemble has no `{missing}`"));
    let first = |root: purlin_syntax::Node<'_>| root.entries().next().map(|entry| entry.key.span());
    diagnostic.span = root.and_then(|root| root.entry("spec").map(|entry| entry.key.span()).or_else(|| first(root)));
    diagnostic.hint("add `spec:` with a `service_template:` below it")
}

/// The key of a mapping that was probably meant to be another.
fn misspelt(node: purlin_syntax::Node<'_>, wanted: &str) -> Option<(String, purlin_syntax::Span)> {
    let near = |key: &str| key != wanted && suggest::nearest(key, [wanted]).is_some();
    let found = node.entries().map(|entry| entry.key).find(|key| near(key.text()));
    found.map(|key| (key.text().to_owned(), key.span()))
}

/// The ensembles that the environment names. One that is named by the environment it is in is not its own external one.
fn externals(session: &Session, manifest: &Manifest, through: &[&str]) -> Vec<External> {
    let mut out = Vec::new();
    let here = purlin_value::path::normalize(&manifest.path);
    let through: Vec<&str> = through.iter().copied().chain([here.as_str()]).collect();
    for (name, entry) in manifest.environment.get("external").and_then(Val::as_map).into_iter().flatten() {
        let Some(name) = name.as_str() else { continue };
        let problem = |message: Message| {
            let mut diagnostic = Diagnostic::nowhere(&rules::MANIFEST, message);
            diagnostic.span = session.origins.span(entry.origin, &session.sources);
            session.sink.push(diagnostic);
        };
        let location = entry.get("manifest").unwrap_or(entry);
        let Some(file) = location.get("file").and_then(Val::as_str) else {
            problem(format!("the external ensemble `{name}` has no `manifest.file`").into());
            continue;
        };
        let Some(path) = external_file(session, manifest, location, file) else {
            problem(format!("the external ensemble `{name}` could not be found at `{file}`").into());
            continue;
        };
        if path == here {
            continue;
        }
        if through.contains(&path.as_str()) {
            let ring: Vec<&str> = through.iter().copied().skip_while(|known| *known != path).collect();
            problem(what::cycle(ring.into_iter().chain([path.as_str()])).under("circular external ensembles: "));
            continue;
        }
        let mut request = Request::of(&path);
        request.environment = location.get("environment").and_then(Val::as_str).map(str::to_owned);
        match open_at(session, &request, Instances::Planned, &Val::null(), &through) {
            Some(other) => {
                let only = entry.get("instance").and_then(Val::as_str).filter(|name| !matches!(*name, "*" | "root"));
                if let Some(only) = only.filter(|only| other.tree.by_name(only).is_none()) {
                    problem(what::lacking(format!("the external ensemble `{name}`"), "instance", only));
                    continue;
                }
                out.push(External { name: name.into(), only: only.map(EcoString::from), ensemble: other });
            }
            None => problem(format!("the external ensemble `{name}` could not be opened: `{file}`").into()),
        }
    }
    out
}

/// The file of an external ensemble. Its path is relative to the file it is written in.
fn external_file(session: &Session, manifest: &Manifest, location: &Val, file: &str) -> Option<String> {
    let written = session.origins.span(location.origin, &session.sources);
    let written = written.and_then(|span| session.sources.get(span.file));
    let written = written.map(|source| purlin_value::path::parent(source.path()).to_owned());
    let named = location.get("repository").and_then(Val::as_str).or_else(|| {
        let project = location.get("project").and_then(Val::as_str)?;
        let known = manifest.settings.repositories.iter().any(|(name, _)| name == project);
        Some(if known { project } else { "project" })
    });
    let folder = match named {
        Some(name) => manifest.settings.repositories.iter().find(|(known, _)| known == name)?.1.to_string(),
        None => written.unwrap_or_else(|| manifest.folder.clone()),
    };
    manifest::find(session, &purlin_value::path::join(&folder, file)).map(|file| purlin_value::path::normalize(&file))
}

/// The values that an ensemble shows to others: its inputs and outputs, or the attributes of one of its instances.
fn shown(session: &Session, external: &External) -> Val {
    let ensemble = &external.ensemble;
    let tree = &ensemble.tree;
    match external.only.as_ref().and_then(|name| tree.by_name(name)) {
        Some(id) => shown_attributes(session, ensemble, id),
        None => {
            let section = |id: NodeId| {
                let engine = ensemble.engine(session);
                let names = tree.node(id).attributes.keys();
                let value = |name: &EcoString| engine.attribute(id, name).map(Option::unwrap_or_default);
                let plain = |name: &EcoString| plain(session, ensemble, &engine, value(name));
                Val::map(names.map(|name| (MapKey::Str(name.clone()), plain(name))).collect())
            };
            Val::record([("inputs", section(tree.inputs())), ("outputs", section(tree.outputs()))])
        }
    }
}

/// The attributes of an instance as other ensembles see them.
fn shown_attributes(session: &Session, ensemble: &Ensemble, id: NodeId) -> Val {
    let engine = ensemble.engine(session);
    plain(session, ensemble, &engine, engine.all_attributes(id))
}

/// A value without parts that have a meaning only in its own ensemble.
fn plain(session: &Session, ensemble: &Ensemble, engine: &Engine<'_>, value: Result<Val>) -> Val {
    match value.and_then(|value| engine.force(value)) {
        Ok(value) => crate::convert::from_value(&crate::convert::to_value(&value.plain(), &ensemble.tree)),
        Err(error) => {
            session.sink.push(report::diagnostic(session, &error));
            Val::null()
        }
    }
}

impl Ensemble {
    /// Warns about declarations that Unfurl silently accepts though they are seldom intended.
    pub fn report_overlooked(&self, session: &Session) {
        overlooked::report(session, &self.service);
        overlooked::unconnected(session, self);
        conditions::report(session, &self.service.model, &self.service.places);
        operations::report(session, &self.service);
        overlooked::inputs(session, &self.manifest, &self.service, &self.inputs);
    }

    /// An evaluator of its expressions.
    pub fn engine<'e>(&'e self, session: &'e Session) -> Engine<'e> {
        Engine::new(&self.tree, session, self.manifest.settings.clone())
    }
}

/// The value of `ROOT` and `TOPOLOGY` in a template: the topology's inputs, the node it replaces, and the targets of
/// that.
pub(crate) fn root_value(ctx: &Ctx<'_, '_>) -> Result<Val> {
    let tree = ctx.engine.tree;
    let topology = tree.topology_of(ctx.instance());
    let attributes = |id: NodeId| Val::from(Data::Attributes(id));
    let mut out: Vec<(EcoString, Val)> =
        vec![("inputs".into(), attributes(topology.inputs)), ("outputs".into(), attributes(topology.outputs))];
    let app = topology.substitution_node;
    out.push(("app".into(), app.map_or_else(Val::null, attributes)));
    for relationship in app.into_iter().flat_map(|app| &tree.node(app).requirements) {
        if let Some(target) = crate::eval::status::target(tree, *relationship) {
            out.push((tree.node(*relationship).name.clone(), attributes(target)));
        }
    }
    Ok(Val::map(out.into_iter().map(|(name, value)| (MapKey::Str(name), value)).collect()))
}
