//! The interface of this dialect for the rest of Purlin.

use crate::action::Action;
use crate::apart::check_apart;
use crate::bind::Binder;
use crate::config::KIND_NAMES;
use crate::draft::Draft;
use crate::entities::spec_type;
use crate::expr;
use crate::files::is_config_file;
use crate::inner::{Inner, Inside};
use crate::place::Place;
use crate::project::{default_environment, environment_names};
use crate::resolve::{Resolution, resolve, resolve_last};
use crate::resume::RESUMING;
use crate::rules;
use crate::templates::syntax_problem;
use crate::trace::trace;
use crate::variants::resolve_all;
use crate::workflows::evaluate_all;
use ecow::EcoString;
use purlin_model::{
    Answer, Dependency, Dialect, Glance, Manifest, Node, Question, Request, Resolved, Role, Sign, Usual, Variant,
    Variants,
};
use purlin_syntax::diagnostic::RuleClass;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, DocumentHead, suggest};
use purlin_value::{Eval, FastMap, Map, Session, Value, path};
use std::ops::Range;
use std::sync::Arc;

/// The Garden dialect.
pub const DIALECT: Dialect = Dialect {
    name: "garden",
    summary: "Garden projects: actions, modules, templates and variables, resolved into one graph.",
    noun: "garden",
    has_name: true,
    unit: "node",
    recognise,
    is_usual: is_config_file,
    usual: &[
        Usual { name: "garden.yml", version: None, kind: None },
        Usual { name: "project.garden.yml", version: None, kind: None },
    ],
    inside: &[],
    reaches_below: true,
    yields: false,
    composes: true,
    is_listed: false,
    renders: false,
    resolve: resolved,
    together: None,
    prepare: None,
    apart: Some(check_apart),
    resuming: Some(RESUMING),
    variants: Variants {
        noun: "environment",
        list: variants,
        is_chosen: |request| request.environment.is_some(),
        in_company: &[],
        resolve: Some(resolve_all),
    },
    eval,
    rules: rules::RULES,
};

/// A project file is the strongest sign: it composes projects of other dialects.
const STRENGTH: u8 = 100;

/// Prefix of the versions in Garden's own files.
const API: &str = "garden.io/";

/// A file with a usual name that declares itself to be of another tool is ignored.
fn recognise(file: &Glance<'_>) -> Option<Sign> {
    if !is_config_file(file.name()) {
        return None;
    }
    let is_own = |page: &&DocumentHead| page.get("apiVersion").is_none_or(|version| version.starts_with(API));
    let head = file.whole();
    if head.documents().iter().filter(is_own).any(|page| is_project(file, page)) {
        return Some(Sign::new(Role::Project, STRENGTH));
    }
    (head.is_empty() || head.documents().iter().any(|page| is_own(&page))).then_some(Sign::new(Role::Member, 10))
}

/// Whether a document is a project, or meant as one: then it reports its own mistake, instead of leaving all files
/// around it without a project.
fn is_project(file: &Glance<'_>, page: &DocumentHead) -> bool {
    match page.get("kind") {
        Some("Project") => true,
        Some(kind) => {
            let names = || KIND_NAMES.iter().map(|(name, _)| *name);
            names().all(|name| name != kind) && suggest::nearest(kind, names()) == Some("Project")
        }
        None => file.name().starts_with("project.garden.") && page.get("environments").is_some(),
    }
}

/// All environments that the project declares, plus the default if it is not declared, so that it is reported.
fn variants(session: &Session, request: &Request) -> Vec<Variant> {
    let named = |name: EcoString| {
        let request = Request { environment: Some(name.to_string()), ..request.clone() };
        Variant { name, request }
    };
    let declared = environment_names(session, request);
    let is_known = |default: &EcoString| declared.iter().any(|name| default.split('.').next() == Some(name.as_str()));
    let unknown = default_environment(session, request).filter(|default| !is_known(default));
    let plain = unknown.map(|name| Variant { name, request: request.clone() });
    plain.into_iter().chain(declared.iter().cloned().map(named)).collect()
}

fn resolved(session: &Session, request: &Request) -> Option<Resolved> {
    let resolve = if session.names.is_on() { resolve } else { resolve_last };
    let resolution = resolve(session, request)?;
    let project = resolved_project(&resolution);
    if session.names.is_on() {
        crate::names::note(&resolution);
    }
    Some(project)
}

/// A resolution in the shape that all commands read.
pub fn resolved_project(resolution: &Resolution<'_>) -> Resolved {
    assemble(resolution, &|_| None, false).0
}

/// Contribution of an action to a resolved project.
pub(crate) struct Share {
    nodes: Range<usize>,
    manifests: Range<usize>,
    trees: Range<usize>,
    /// Whether it differs in another environment.
    pub(crate) varies: bool,
}

impl Share {
    fn from(project: &Resolved) -> Self {
        let (nodes, manifests, trees) = (project.nodes.len(), project.manifests.len(), project.trees.len());
        Share { nodes: nodes..nodes, manifests: manifests..manifests, trees: trees..trees, varies: false }
    }

    fn until(mut self, project: &Resolved) -> Self {
        self.nodes.end = project.nodes.len();
        self.manifests.end = project.manifests.len();
        self.trees.end = project.trees.len();
        self
    }

    /// Adds the same to another project.
    fn add(&self, from: &Resolved, to: &mut Resolved) {
        to.nodes.extend(from.nodes.get(self.nodes.clone()).into_iter().flatten().cloned());
        to.manifests.extend(from.manifests.get(self.manifests.clone()).into_iter().flatten().cloned());
        to.trees.extend(from.trees.get(self.trees.clone()).into_iter().flatten().cloned());
    }
}

/// Notes collected while a project is assembled.
#[derive(Default)]
pub(crate) struct Met {
    /// Problems of the project's variables.
    pub variables: Vec<Diagnostic>,
    /// Problems that were met by evaluating an action.
    pub problems: Vec<(EcoString, Vec<Diagnostic>)>,
    /// Whether there were others.
    pub has_others: bool,
    /// Contribution of each action.
    pub shares: FastMap<EcoString, Share>,
}

/// A resolution in the shape that all commands read, with the actions that `recall` knows as they were before. With
/// `is_kept`, the contribution of each action is noted for a later one.
pub(crate) fn assemble<'m>(
    resolution: &Resolution<'_>,
    recall: &dyn Fn(&str) -> Option<(&'m Resolved, &'m Share)>,
    is_kept: bool,
) -> (Resolved, Met) {
    let sink = &resolution.ground.session.sink;
    let mut met = Met::default();
    let mut project = Resolved::new(resolution.project.name.clone());
    project.environment = resolution.project.environment.clone();
    let before = sink.len();
    project.variables = resolution.variables();
    met.variables = sink.since(before);
    let mut disabled = Vec::new();
    project.nodes.reserve_exact(resolution.graph().actions.len());
    for action in resolution.graph().actions.values() {
        let (mut share, before) = (Share::from(&project), sink.len());
        if let Some((known, from)) = recall(&action.key) {
            from.add(known, &mut project);
        } else if action.disabled {
            // Added to what is shown last.
            share.varies = true;
            disabled.push(project.nodes.len());
            project.nodes.push(Node::new(action.key.clone(), action.kind.name(), "garden"));
        } else {
            let evaluate = || (node(resolution, action), inner_of(resolution, action));
            let ((mut own, inner), varies) = resolution.ground.watched(evaluate);
            share.varies = varies;
            let nodes = inner.as_deref().and_then(Inner::known).map(|inner| take_inner(&mut project, &mut own, inner));
            project.fetched_later.extend(chart_of(action, &own));
            project.nodes.push(own);
            project.nodes.extend(nodes.into_iter().flatten());
        }
        if sink.len() > before {
            met.problems.push((action.key.clone(), sink.since(before)));
        }
        if is_kept {
            met.shares.insert(action.key.clone(), share.until(&project));
        }
    }
    let before = sink.len();
    // Outputs, workflows and commands reach into any action.
    if resolution.ground.request.nodes.is_empty() {
        project.outputs = resolution.outputs();
        evaluate_all(resolution);
    }
    show_disabled(resolution, &mut project, &disabled);
    met.has_others = sink.len() > before;
    project.inner = resolution.live.taken_in().into_iter().map(|(_, path)| path).collect();
    project.declared.clone_from(&resolution.declared);
    project.trees.extend(resolution.ground.trees());
    (project, met)
}

/// Evaluates disabled actions, so that they can be shown. They do not run, so their errors are not reported: the
/// environment that disables one may lack what it refers to. They come last, so that nothing which others depend on is
/// first evaluated here.
fn show_disabled(resolution: &Resolution<'_>, project: &mut Resolved, disabled: &[usize]) {
    if disabled.is_empty() {
        return;
    }
    let sink = &resolution.ground.session.sink;
    let ((), findings) = sink.apart(|| {
        for place in disabled {
            let Some(place) = project.nodes.get_mut(*place) else { continue };
            if let Some(action) = resolution.graph().actions.get(&place.id) {
                *place = node(resolution, action);
            }
        }
    });
    // A limit that was reached holds for the whole run.
    sink.extend(findings.into_iter().filter(|found| found.rule.class == RuleClass::Limit));
}

fn node(resolution: &Resolution<'_>, action: &Action) -> Node {
    let mut node = Node::new(action.key.clone(), action.kind.name(), "garden");
    node.type_name = action.type_name.clone();
    node.source = action.span();
    node.named = action.config.named;
    node.typed = action.type_origin();
    node.disabled = action.disabled;
    let dependency = |need: &crate::graph::Needed| Dependency {
        node: need.key.clone(),
        is_static: need.needs_static,
        is_runtime: need.needs_executed,
        is_explicit: need.explicit,
        span: need.span,
        names: need.read.clone(),
        relationship: EcoString::new(),
    };
    node.dependencies = resolution.needs(&action.key).iter().map(dependency).collect();
    if !resolution.ground.request.wants(&action.key) {
        return node;
    }
    if let Some(found) = resolution.action(&action.key) {
        let mut map = action.shown_fields();
        let own = resolution.own_variables(&action.key);
        if own.as_map().is_some_and(|map| !map.is_empty()) {
            map.insert("variables".into(), own);
        }
        if resolution.ground.request.chart.is_rehearsal && !action.disabled {
            crate::dockerfile::check(&resolution.ground, action, &found.spec);
        }
        map.insert("spec".into(), found.spec);
        node.resolved = Value::map(map).with_origin(action.origin(resolution.ground.session));
        node.outputs = found.outputs;
    }
    node
}

/// The folder of a chart that an action deploys. Garden updates its dependencies first.
fn chart_of(action: &Action, node: &Node) -> Option<String> {
    let is_chart = matches!(action.type_name.as_str(), "helm" | "helm-pod");
    let chart = node.resolved.get("spec").filter(|_| is_chart)?.get("chart");
    let written = chart.and_then(|chart| chart.get("path")).and_then(Value::as_str).unwrap_or(".");
    Some(path::normalize(&path::join(&action.source_folder, written)))
}

/// The result of the project inside an action, if requested. The objects of a chart that Garden deploys are rendered
/// only if manifests, or a node among them, are requested.
fn inner_of(resolution: &Resolution<'_>, action: &Action) -> Option<Arc<Inner>> {
    let request = resolution.ground.request;
    let known = spec_type(&action.type_name, action.kind).filter(|known| known.inside != Some(Inside::Pod))?;
    let names_inside = || request.nodes.iter().any(|name| name.starts_with(&format!("{}/", action.key)));
    let is_asked = known.is_project() || request.manifests || names_inside() || is_judged(request, action);
    let live = resolution.live.actions.get(&action.key)?;
    let shows = is_asked && !action.disabled && request.wants(&action.key);
    // Rendering from an action with errors would only repeat them.
    let follows = known.inside == Some(Inside::Objects) && request.chart.is_rehearsal && has_errors(resolution, action);
    if !shows || follows {
        return None;
    }
    let mut eval = Eval::new(resolution.ground.session);
    let inner = live.inner(&mut eval);
    resolution.ground.note(&eval);
    inner
}

/// Whether objects are made only to check them. Files of a Build exist once it has run.
fn is_judged(request: &Request, action: &Action) -> bool {
    let is_built = action.type_name != "container" && action.text("build").is_some();
    request.chart.is_rehearsal && !is_built
}

/// Whether an action, or the file of its module, has errors.
fn has_errors(resolution: &Resolution<'_>, action: &Action) -> bool {
    let session = resolution.ground.session;
    let whole = match &action.config.body {
        Draft::Node(node) => node.span(),
        _ => None,
    };
    let file = action.span().map(|span| span.file);
    session.sink.any(|problem| match (problem.span.filter(|_| problem.is_error()), whole) {
        (Some(span), Some(whole)) => span.file == whole.file && whole.start <= span.start && span.end <= whole.end,
        (Some(span), None) => Some(span.file) == file,
        (None, _) => false,
    })
}

/// Adds the manifests of the project inside an action, and returns its nodes. The action needs them all.
fn take_inner(project: &mut Resolved, outer: &mut Node, inner: &Resolved) -> Vec<Node> {
    let nodes = crate::inner::nodes(&outer.id, inner);
    let dependency = |node: &Node| Dependency {
        node: node.id.clone(),
        is_static: true,
        is_runtime: false,
        is_explicit: false,
        span: outer.source,
        names: Vec::new(),
        relationship: EcoString::new(),
    };
    outer.dependencies.extend(nodes.iter().map(dependency));
    project.trees.extend(inner.trees.iter().cloned());
    project.manifests.extend(inner.manifests.iter().map(|manifest| {
        let node = ecow::eco_format!("{}/{}", outer.id, manifest.node);
        Manifest { node, ..manifest.clone() }
    }));
    nodes
}

fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    let resolution = resolve(session, request)?;
    // A node inside an action is one of another dialect, and so is the expression.
    let outer = question.on.as_deref().and_then(|on| on.split_once('/'));
    if let Some((live, rest)) = outer.and_then(|(key, rest)| Some((resolution.live.actions.get(key)?, rest))) {
        let inner = Question { on: Some(rest.to_owned()), ..question.clone() };
        return live.eval_inner(&inner, &mut Eval::new(session));
    }
    let text = question.expression.as_str();
    let parsed = if expr::is_template(text) {
        expr::parse(text)
    } else {
        expr::parse_expression(text).map_err(|problem| vec![problem])
    };
    let source = session.sources.insert("expression", text);
    let place = Place::Verbatim(source.span(0, text.len()));
    let template = match parsed {
        Ok(template) => template,
        Err(problems) => {
            // An expression that Garden cannot parse may be in the language of the project inside the action.
            let live = question.on.as_deref().and_then(|key| resolution.live.actions.get(key));
            if let Some(live) = live.filter(|live| live.holds_project() && !expr::is_template(text)) {
                return live.eval_inner(&Question { on: None, ..question.clone() }, &mut Eval::new(session));
            }
            session.sink.extend(problems.iter().map(|problem| syntax_problem(problem, &place)));
            return None;
        }
    };
    let on = question.on.as_deref();
    let env = match on.map(|key| resolution.live.actions.get(key)) {
        Some(Some(live)) => live.env.clone(),
        Some(None) => {
            let keys = resolution.live.actions.keys().map(EcoString::as_str);
            let hint = purlin_syntax::suggest::did_you_mean(on.unwrap_or(""), keys);
            let message = what::unknown("action", on.unwrap_or(""));
            let diagnostic = purlin_syntax::Diagnostic::nowhere(&rules::MISSING_ACTION, message);
            session.sink.push(diagnostic.maybe_hint(hint));
            return None;
        }
        None => resolution.project_env(),
    };
    let bound = Binder::new(&env).template(Arc::new(template), place);
    let value = Eval::new(session).force_deep(&bound);
    let trace = if question.trace { trace(session, value.origin) } else { Vec::new() };
    Some(Answer { value: known(&value), trace })
}

/// A value without the mark of mappings that get more keys later; if no key is known yet, the pending value in the
/// mark.
fn known(value: &Value) -> Value {
    if let Some(items) = value.as_list() {
        return value.clone().with(Value::list(items.iter().map(known).collect()).data);
    }
    let Some(map) = value.as_map() else { return value.clone() };
    let kept: Map =
        map.iter().filter(|(key, _)| *key != expr::REST).map(|(key, item)| (key.clone(), known(item))).collect();
    match map.get(expr::REST).filter(|_| kept.is_empty()) {
        Some(waiting) => waiting.clone(),
        None => value.clone().with(Value::map(kept).data),
    }
}
