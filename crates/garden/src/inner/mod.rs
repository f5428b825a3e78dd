//! Projects of other dialects inside actions: the requests to their engines, the outputs from the answers, and the
//! nodes added to the graph.
//!
//! An engine is called once, when an output of the action is first read, or when all nodes are shown. A column of the
//! table of types names the engine of each type.

mod container;
mod kubernetes;
mod making;
mod manifest_text;
mod pod;
mod provider;

use crate::action::Action;
use crate::config::ActionKind;
use crate::entities::{SpecType, spec_type};
use crate::expr::{REST, text_of};
use crate::live::About;
use crate::rules;
use crate::scan::texts;
use container::Container;
use ecow::EcoString;
use kubernetes::Objects;
use pod::Pod;
pub(crate) use provider::CLUSTER_PROVIDERS;
pub use provider::Provider;
use purlin_model::{Answer, Ask, ChartOptions, Engine, Node, Question, Request, Resolved};
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span};
use purlin_value::world::{FileKind, WorldError};
use purlin_value::{Eval, Lazy, Map, Session, Thunk, Value, path};
use std::sync::Arc;

/// The outputs with manifests by kind and name, and with the nodes of a service. Both are nodes of their own in the
/// graph.
pub(crate) const MANIFESTS: &str = "manifests";
/// See [`MANIFESTS`].
pub(crate) const NODES: &str = "nodes";

/// The result of the project inside an action.
pub(crate) enum Inner {
    /// It is resolved.
    Known(Box<Resolved>),
    /// Its request is not known yet.
    Pending(Value),
    /// It cannot be resolved, which was reported.
    Broken,
}

impl Inner {
    /// The resolved project.
    pub(crate) fn known(&self) -> Option<&Resolved> {
        match self {
            Inner::Known(resolved) => Some(resolved),
            _ => None,
        }
    }

    /// The placeholder for the outputs of a project that is not resolved.
    fn missing(&self) -> Value {
        match self {
            Inner::Pending(value) => value.clone(),
            _ => Value::poison(),
        }
    }
}

/// How a type uses its project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// The action is the project: all its outputs come from there.
    Whole(&'static str),
    /// Kubernetes objects that Garden deploys; rendered only if manifests are requested.
    Objects,
    /// A pod that runs once. It is not deployed, so it is not a manifest of the project.
    Pod,
}

/// A request to an engine, with its inputs.
struct Prepared {
    engine: Engine,
    name: &'static str,
    path: String,
    request: Request,
    values: Value,
    span: Option<Span>,
}

impl Prepared {
    fn ask(&self) -> Ask<'_> {
        let (request, values) = (self.request.clone(), self.values.clone());
        Ask { path: &self.path, request, values, span: self.span }
    }
}

impl About {
    /// The result of the project inside; `None` if its type has no project.
    pub(crate) fn inner(&self, action: &Action, eval: &mut Eval<'_>) -> Option<Arc<Inner>> {
        let known = spec_type(&action.type_name, action.kind)?;
        known.inside?;
        if let Some(found) = self.kept_inner(eval) {
            return Some(found);
        }
        let (found, varies) = eval.watched(|eval| match self.is_cyclic() {
            // That was reported for the actions.
            true => Inner::Broken,
            false => {
                let spec = eval.force(&self.whole);
                self.resolve_inner(action, known, &spec, eval)
            }
        });
        if !matches!(found, Inner::Known(_)) {
            self.take_in_written(action, known);
        }
        let found = Arc::new(found);
        self.keep_inner(found.clone(), varies);
        Some(found)
    }

    fn resolve_inner(&self, action: &Action, known: &SpecType, spec: &Value, eval: &mut Eval<'_>) -> Inner {
        if spec.is_poison() {
            return Inner::Broken;
        }
        match (known.inside, action.type_name.as_str()) {
            (Some(Inside::Pod), type_name) => {
                let objects = match type_name {
                    "container" => None,
                    "kubernetes-pod" => Some(Objects { about: self, action, spec }.resolve(eval)),
                    _ => Some(self.ask_engine(action, known, spec, eval)),
                };
                Pod { about: self, action, spec }.resolve(objects, eval)
            }
            (_, "container") => Container { about: self, action, spec }.resolve(eval),
            (_, "kubernetes") => Objects { about: self, action, spec }.resolve(eval),
            _ => self.ask_engine(action, known, spec, eval),
        }
    }

    /// Records the project inside as this action's even if it could not be resolved: alone it would lack its inputs
    /// from here.
    fn take_in_written(&self, action: &Action, known: &SpecType) {
        let key = match known.inside {
            Some(Inside::Whole("tosca")) => "template",
            Some(Inside::Whole("ensemble")) => "ensemble",
            Some(Inside::Whole("skaffold")) => "config",
            Some(Inside::Whole(_)) => "chart",
            _ => return,
        };
        let written = action.spec().get(key).map(|draft| draft.written());
        let written = written.as_ref().and_then(Value::as_str);
        if let Some(written) = written.filter(|text| !text.contains("${")) {
            self.take_in(&path::join(&action.source_folder, written));
        }
    }

    fn ask_engine(&self, action: &Action, known: &SpecType, spec: &Value, eval: &mut Eval<'_>) -> Inner {
        match self.prepare(action, known, spec, eval) {
            Ok(prepared) => {
                let said = eval.session.sink.len();
                let resolved = prepared.engine.resolve_for(eval.session, &prepared.ask(), &self.who());
                if resolved.is_none() && eval.session.sink.len() == said {
                    let message = format!("`{}` has no {} at `{}`", action.key, noun(prepared.name), prepared.path);
                    self.report(eval.session, Diagnostic::nowhere(&rules::INNER, message), prepared.span);
                }
                resolved.map_or(Inner::Broken, |resolved| Inner::Known(Box::new(resolved)))
            }
            Err(missing) => missing,
        }
    }

    /// Location and request of the project inside an action; `None` if there is no such project, or it is not known.
    pub(crate) fn inner_request(&self, action: &Action, eval: &mut Eval<'_>) -> Option<(String, Request)> {
        let known = spec_type(&action.type_name, action.kind).filter(|known| known.inside.is_some())?;
        let spec = eval.force(&self.whole);
        let prepared = self.prepare(action, known, &spec, eval).ok()?;
        Some((prepared.path, prepared.request))
    }

    /// The engine of an action's type, with its request.
    fn prepare(&self, action: &Action, known: &SpecType, spec: &Value, eval: &mut Eval<'_>) -> Result<Prepared, Inner> {
        let session = eval.session;
        let name = match known.inside {
            Some(Inside::Whole(name)) => name,
            _ => "chart",
        };
        let Some(engine) = self.engines().get(name) else { return Err(Inner::Broken) };
        self.refuse_secret_names(action, spec, session)?;
        // A Build makes images; deployment with them is up to a Deploy.
        let manifests = action.kind != ActionKind::Build;
        let mut request = Request { engines: self.engines(), manifests, ..Request::default() };
        request.namespace = text(spec, "namespace")?;
        let (key, values) = match name {
            "tosca" => ("template", "inputs"),
            "ensemble" => {
                request.environment = text(spec, "environment")?;
                ("ensemble", "inputs")
            }
            "skaffold" => {
                request.modules = all_texts(spec, "modules")?;
                request.profiles = all_texts(spec, "profiles")?;
                let named = spec.get("profiles").and_then(Value::as_list).unwrap_or_default();
                request.skaffold.profiles_from = named.iter().map(|name| name.origin).collect();
                ("config", "")
            }
            _ => {
                let namespace = self.namespace(spec, eval);
                if namespace.is_pending() {
                    return Err(Inner::Pending(namespace));
                }
                request.namespace = namespace.as_str().map(str::to_owned);
                let files = all_texts(spec, "valueFiles")?;
                request.values = files.iter().map(|file| path::join(&action.source_folder, file)).collect();
                self.find_value_files(action, spec, session)?;
                let given = text(spec, "release")?.or(text(spec, "releaseName")?);
                let release_name = Some(given.unwrap_or_else(|| action.name.to_string()));
                let include_crds = self.include_crds();
                let written = |keys: &[&str]| keys.iter().find_map(|key| spec.get(key)).map(|value| value.origin);
                let release_from = written(&["release", "releaseName"]).or_else(|| Some(action.name_origin(session)));
                let namespace_from = written(&["namespace"]).or(Some(namespace.origin));
                request.chart = ChartOptions {
                    release_name,
                    release_from,
                    namespace_from,
                    include_crds,
                    // Garden updates the dependencies of a chart before it renders or deploys it.
                    is_fetched_later: self.is_rehearsal(),
                    is_rehearsal: self.is_rehearsal(),
                    ..ChartOptions::default()
                };
                ("chart", "values")
            }
        };
        let folder = &action.source_folder;
        let (named, span) = match action.type_name.as_str() {
            "helm" | "helm-pod" => self.chart_folder(action, spec, session)?,
            _ => (path_text(spec, key)?, self.place(action, spec.get(key), session)),
        };
        let path = path::join(folder, &named);
        let is_chart = matches!(action.type_name.as_str(), "helm" | "helm-pod");
        if is_chart && named == "." && !session.world.exists(&path::join(&path, "Chart.yaml")) {
            let message = what::missing("", "Chart.yaml")
                .under(format!("`{}` has no chart: ", action.key))
                .and(format!(" in `{folder}`"));
            let hint = "add `chart:` with a `path:` or a `name:` under `spec`";
            self.report(session, Diagnostic::nowhere(&rules::INNER, message).hint(hint), span);
            return Err(Inner::Broken);
        }
        let path = match session.world.stat(&path) {
            // As the tool itself does.
            Ok(stat) if name == "skaffold" && stat.kind == FileKind::Folder => path::join(&path, "skaffold.yaml"),
            Ok(_) => path,
            Err(error @ WorldError::Denied(_)) => {
                self.report(session, error.diagnostic(&named), span);
                return Err(Inner::Broken);
            }
            Err(_) => {
                let message = format!("`{}` has no {} at `{named}`", action.key, noun(name));
                let hint = format!("correct the path; it starts at the action's folder, `{folder}`");
                self.report(session, Diagnostic::nowhere(&rules::INNER, message).hint(hint), span);
                return Err(Inner::Broken);
            }
        };
        self.take_in(&path);
        let values = spec.get(values).cloned().unwrap_or_else(Value::null);
        if values.is_poison() {
            return Err(Inner::Broken);
        }
        if values.is_pending() {
            return Err(Inner::Pending(values));
        }
        Ok(Prepared { engine, name, path, request, values, span })
    }

    /// Values files that are not there are reported where they are named.
    fn find_value_files(&self, action: &Action, spec: &Value, session: &Session) -> Result<(), Inner> {
        let named = spec.get("valueFiles").and_then(Value::as_list).into_iter().flatten();
        let mut all_there = true;
        for (value, file) in named.filter_map(|value| Some((value, value.as_str()?))) {
            let Err(WorldError::NotFound) = session.world.stat(&path::join(&action.source_folder, file)) else {
                continue;
            };
            let message = what::lacking(format!("`{}`", action.key), "values file at", file);
            let hint = format!("paths begin at the action's folder, `{}`", action.source_folder);
            let span = self.place(action, Some(value), session);
            self.report(session, Diagnostic::nowhere(&rules::INNER, message).hint(hint), span);
            all_there = false;
        }
        if all_there { Ok(()) } else { Err(Inner::Broken) }
    }

    /// The namespace that a chart is deployed to: its own, or that of the provider.
    fn namespace(&self, spec: &Value, eval: &mut Eval<'_>) -> Value {
        let own = spec.get("namespace").filter(|value| !value.is_null());
        own.cloned().unwrap_or_else(|| self.cluster(eval).namespace(spec))
    }

    /// Names are shown and stored everywhere, and a secret one could not be recognised in rendered text.
    fn refuse_secret_names(&self, action: &Action, spec: &Value, session: &Session) -> Result<(), Inner> {
        let mut named =
            ["release", "releaseName", "namespace"].into_iter().filter_map(|key| Some((key, spec.get(key)?)));
        if let Some((key, value)) = named.find(|(_, value)| value.is_tainted()) {
            let message = format!("`{key}` of `{}` is a secret, and names cannot be secret", action.key);
            let span = self.place(action, Some(value), session);
            self.report(session, Diagnostic::nowhere(&rules::INNER, message).hint("use another value"), span);
            return Err(Inner::Broken);
        }
        Ok(())
    }

    /// The folder of a chart that Garden deploys; one that is fetched cannot be rendered.
    fn chart_folder(&self, action: &Action, spec: &Value, session: &Session) -> Result<(String, Option<Span>), Inner> {
        let chart = spec.get("chart").filter(|chart| !chart.is_null());
        let Some(chart) = chart else { return Ok((".".to_owned(), action.span())) };
        let span = self.place(action, Some(chart), session);
        match text(chart, "path")? {
            Some(path) => Ok((path, self.place(action, chart.get("path"), session).or(span))),
            None => {
                // Without a request for manifests, a missing one is no problem.
                if !self.is_rehearsal() {
                    let message =
                        format!("the chart of `{}` is not rendered, because it is not in this project", action.key);
                    self.report(session, Diagnostic::nowhere(&rules::NOT_RENDERED, message), span);
                }
                Err(Inner::Broken)
            }
        }
    }

    fn place(&self, action: &Action, value: Option<&Value>, session: &Session) -> Option<Span> {
        let written = value.and_then(|value| session.origins.span(value.origin, &session.sources));
        written.or(action.span())
    }

    fn report(&self, session: &Session, mut diagnostic: Diagnostic, span: Option<Span>) {
        diagnostic.span = diagnostic.span.or(span);
        session.sink.push(diagnostic);
    }

    /// Reports a problem with a value of the spec, or with the action.
    fn wrong(&self, action: &Action, session: &Session, message: impl Into<Message>, value: Option<&Value>) -> Inner {
        let place = self.place(action, value, session);
        self.report(session, Diagnostic::nowhere(&rules::INNER, message), place);
        Inner::Broken
    }

    /// The action's name in messages.
    fn who(&self) -> String {
        format!("`{}`", self.key)
    }

    /// The outputs of an action that is a project of another dialect; `None` for other actions.
    pub(crate) fn inner_outputs(
        &self,
        action: &Action,
        has_run: bool,
        eval: &mut Eval<'_>,
    ) -> Option<Result<Map, Value>> {
        let known = spec_type(&action.type_name, action.kind)?;
        let Some(Inside::Whole(engine)) = known.inside else { return None };
        let inner = self.inner(action, eval)?;
        let Some(resolved) = inner.known() else { return Some(Err(inner.missing())) };
        let mut outputs = Map::new();
        match engine {
            "tosca" | "ensemble" => {
                outputs.insert(NODES.into(), self.inner_nodes(inner.clone(), engine, has_run));
            }
            "chart" => {
                let spec = eval.force(&self.whole);
                let given = |key: &str| spec.get(key).filter(|value| !value.is_null()).cloned();
                let own = || Value::str(action.name.clone()).with_origin(action.name_origin(eval.session));
                let release = given("release").unwrap_or_else(own);
                outputs.insert("release".into(), release);
                outputs.insert("namespace".into(), self.namespace(&spec, eval));
            }
            _ => {}
        }
        if matches!(engine, "chart" | "skaffold") {
            outputs.insert(MANIFESTS.into(), manifests(resolved));
        }
        // The project's own outputs have precedence.
        let own = resolved.outputs.as_map().into_iter().flat_map(|map| map.iter());
        outputs.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        Some(Ok(outputs))
    }

    /// The nodes of a service, made on first access. Results of a run are overlaid at once.
    fn inner_nodes(&self, inner: Arc<Inner>, engine: &'static str, has_run: bool) -> Value {
        let (key, span) = (self.key.clone(), self.action().and_then(Action::span));
        let nodes = InnerNodes { inner, key, span, engine, has_run };
        if has_run { nodes.made() } else { Lazy::value(nodes) }
    }
}

/// The nodes of the service inside an action.
struct InnerNodes {
    inner: Arc<Inner>,
    key: EcoString,
    span: Option<Span>,
    engine: &'static str,
    /// Whether the operations of the service have run.
    has_run: bool,
}

impl Thunk for InnerNodes {
    fn evaluate(&self, _: &mut Eval<'_>) -> Value {
        self.made()
    }

    fn span(&self) -> Option<Span> {
        self.span
    }

    fn name(&self) -> String {
        format!("actions.{}.outputs.{NODES}", self.key)
    }
}

impl InnerNodes {
    fn made(&self) -> Value {
        let Some(resolved) = self.inner.known() else { return Value::poison() };
        let known = |node: &Node| match self.has_run {
            true => node.resolved.clone(),
            false => self.waiting(node),
        };
        Value::map(resolved.nodes.iter().map(|node| (node.id.clone(), known(node))).collect())
    }

    /// A node whose operations have not run yet: attributes that nothing has set wait for them. Those of an ensemble
    /// need not be declared.
    fn waiting(&self, node: &Node) -> Value {
        let Some(fields) = node.resolved.as_map() else { return node.resolved.clone() };
        let above = ecow::eco_format!("actions.{}.outputs.{NODES}.{}.attributes", self.key, node.id);
        let unset = |name: &str| Value::pending(self.key.clone(), ecow::eco_format!("{above}.{name}"));
        let declared = fields.get("attributes").and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        let known = |(name, value): (&EcoString, &Value)| {
            (name.clone(), if value.is_null() { unset(name) } else { value.clone() })
        };
        let mut attributes: Map = declared.map(known).collect();
        if self.engine == "ensemble" {
            attributes.insert(REST.into(), Value::pending(self.key.clone(), above.clone()));
        }
        let mut fields = fields.clone();
        fields.insert("attributes".into(), Value::map(attributes));
        node.resolved.clone().with(purlin_value::Data::Map(fields.into()))
    }
}

impl About {
    /// Evaluates an expression in the project inside.
    pub(crate) fn eval_inner(&self, action: &Action, question: &Question, eval: &mut Eval<'_>) -> Option<Answer> {
        let known = spec_type(&action.type_name, action.kind).filter(|known| known.inside.is_some());
        let session = eval.session;
        let (prepared, is_sound) = session.sink.succeeds(|| {
            let known = known?;
            let spec = eval.force(&self.whole);
            self.prepare(action, known, &spec, eval).ok()
        });
        let engine = prepared.as_ref().map(|prepared| prepared.engine).filter(|engine| engine.eval.is_some());
        let (Some(prepared), Some(engine)) = (&prepared, engine) else {
            if is_sound {
                let message = format!("`{}` has no inner nodes with expressions of their own", action.key);
                let diagnostic = Diagnostic::nowhere(&rules::MISSING_ACTION, message);
                self.report(eval.session, diagnostic.hint(format!("use `--on {}`", action.key)), None);
            }
            return None;
        };
        engine.eval_for(eval.session, &prepared.ask(), &self.who(), question)
    }
}

/// The manifests of objects that Garden deploys, rendered on first access.
pub(crate) struct Manifests(pub(crate) Arc<About>);

impl Thunk for Manifests {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let Some(action) = self.0.action() else { return Value::poison() };
        match self.0.inner(action, eval) {
            Some(inner) => inner.known().map_or_else(|| inner.missing(), manifests),
            None => Value::poison(),
        }
    }

    fn span(&self) -> Option<Span> {
        self.0.action().and_then(Action::span)
    }

    fn name(&self) -> String {
        format!("actions.{}.outputs.{MANIFESTS}", self.0.key)
    }
}

/// A lazy value of them.
pub(crate) fn lazy_manifests(about: &Arc<About>) -> Value {
    Lazy::value(Manifests(about.clone()))
}

/// Manifests by kind and name.
fn manifests(resolved: &Resolved) -> Value {
    let mut kinds: Map = Map::new();
    for manifest in &resolved.manifests {
        let Some((kind, name)) = manifest.node.split_once('/') else { continue };
        let mut named = kinds.get(kind).and_then(Value::as_map).cloned().unwrap_or_default();
        named.insert(name.into(), manifest.value.clone());
        kinds.insert(kind.into(), Value::map(named));
    }
    Value::map(kinds)
}

/// The nodes of the project inside an action, as nodes of the whole.
pub(crate) fn nodes(outer: &EcoString, resolved: &Resolved) -> Vec<Node> {
    resolved.nodes.iter().map(|node| node.clone().within(outer)).collect()
}

fn noun(engine: &str) -> &'static str {
    match engine {
        "tosca" => "service template",
        "ensemble" => "ensemble",
        "skaffold" => "Skaffold configuration",
        _ => "chart",
    }
}

/// A string of a spec; if its value is pending or broken, so is the whole project.
fn text(spec: &Value, key: &str) -> Result<Option<String>, Inner> {
    match spec.get(key) {
        None => Ok(None),
        Some(value) if value.is_pending() => Err(Inner::Pending(value.clone())),
        Some(value) if value.is_poison() => Err(Inner::Broken),
        Some(value) if value.is_null() => Ok(None),
        Some(value) => Ok(Some(text_of(value).to_string())),
    }
}

/// A path; a missing one, or one that is not a string, was reported before.
fn path_text(spec: &Value, key: &str) -> Result<String, Inner> {
    let is_text = |value: &Value| value.as_str().is_some() || value.is_pending();
    spec.get(key).filter(|value| is_text(value)).ok_or(Inner::Broken)?;
    text(spec, key)?.ok_or(Inner::Broken)
}

fn all_texts(spec: &Value, key: &str) -> Result<Vec<String>, Inner> {
    let Some(list) = spec.get(key) else { return Ok(Vec::new()) };
    if list.any(Value::is_poison) {
        return Err(Inner::Broken);
    }
    match crate::expr::pending_in(list) {
        Some(pending) => Err(Inner::Pending(pending)),
        None => Ok(texts(list)),
    }
}
