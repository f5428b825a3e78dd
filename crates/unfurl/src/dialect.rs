//! The dialect as the rest of Purlin sees it: recognising an ensemble, resolving it, evaluating an expression.

use crate::check;
use crate::convert;
use crate::ensemble::nested::SUBSTITUTE;
use crate::ensemble::project::{PROJECT_FILE, environment_names};
use crate::ensemble::report::{diagnostic, span_of};
use crate::ensemble::{self, Ensemble, manifest};
use crate::error::{Error, Result};
use crate::eval::frame::Mode;
use crate::eval::path::as_one;
use crate::eval::status::{effective, target};
use crate::eval::trace::Trace;
use crate::eval::{Ctx, Engine, form};
use crate::jinja;
use crate::names;
use crate::rules::RULES;
use crate::tree::{NodeId, NodeKind};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_model::dialect::{Answer, Dialect, Question, Role, Sign, Usual, Variant, Variants};
use purlin_model::project::{Dependency, Node, Request, Resolved};
use purlin_model::{Declared, Glance};
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Flavor, Hint, Span};
use purlin_tosca::unused::{Uses, declared_in};
use purlin_value::{Map, Origin, Session, Value, path};

/// The dialect.
pub const DIALECT: Dialect = Dialect {
    name: "unfurl",
    summary: "Unfurl ensembles and their expressions.",
    noun: "unfurl",
    has_name: false,
    unit: "node",
    recognise,
    is_usual: |name| name == PROJECT_FILE || manifest::ENSEMBLE_FILES.contains(&name),
    usual: &[
        Usual { name: "ensemble.yaml", version: Some("unfurl/v1.0.0"), kind: Some("Ensemble") },
        Usual { name: PROJECT_FILE, version: Some("unfurl/v1.0.0"), kind: Some("Project") },
    ],
    inside: &["ensemble/ensemble.yaml", ".unfurl/unfurl.yaml"],
    reaches_below: false,
    yields: false,
    composes: false,
    is_listed: false,
    renders: false,
    resolve,
    together: None,
    prepare: Some(|session, _| crate::ensemble::service::share_types(session)),
    apart: None,
    resuming: None,
    variants: Variants {
        noun: "environment",
        list: variants,
        is_chosen: |request| request.environment.is_some(),
        in_company: &[],
        resolve: None,
    },
    eval,
    rules: RULES,
};

fn recognise(file: &Glance<'_>) -> Option<Sign> {
    // The usual name is enough to recognise it; a missing `kind` is reported when it is read.
    let is_usual = manifest::ENSEMBLE_FILES.contains(&file.name());
    let is_untold = || {
        let head = file.head();
        let is_ours = head.get("apiVersion").is_some_and(|version| version.contains("unfurl"));
        is_usual && is_ours && head.get("kind").is_none() && head.get("spec").is_some()
    };
    if manifest::is_ensemble(file.head()) || is_untold() {
        let place = manifest::ENSEMBLE_FILES.iter().rev().position(|name| *name == file.name());
        let usual = place.and_then(|place| u8::try_from(place).ok()).map_or(0, |place| 15 + place);
        return Some(Sign::new(Role::Project, 45 + usual));
    }
    let version = file.head().get("tosca_definitions_version");
    // A library of types may have the name of a project's file.
    if file.name() == PROJECT_FILE && version.is_none() {
        return Some(Sign::new(Role::Pointer, 47));
    }
    // Checked with the ensemble that imports it; alone if none does.
    let is_part = version.is_some_and(|version| version.contains("unfurl")) || manifest::is_template(file);
    is_part.then_some(Sign::new(Role::Part, 10).shared())
}

/// The ensemble as it is, and in every environment of the project around it; none without environments.
fn variants(session: &Session, request: &Request) -> Vec<Variant> {
    let Some(file) = DIALECT.file_of(session, request) else { return Vec::new() };
    let named = |name: EcoString| {
        let request = Request { environment: Some(name.to_string()), ..request.clone() };
        Variant { name, request }
    };
    let declared: Vec<Variant> = environment_names(session, path::parent(&file)).into_iter().map(named).collect();
    let plain = (!declared.is_empty()).then(|| Variant { name: EcoString::new(), request: request.clone() });
    plain.into_iter().chain(declared).collect()
}

fn resolve(session: &Session, request: &Request) -> Option<Resolved> {
    resolve_given(session, request, &Value::null())
}

/// The same with inputs that another dialect gives.
pub(crate) fn resolve_given(session: &Session, request: &Request, inputs: &Value) -> Option<Resolved> {
    let ensemble = ensemble::open_given(session, request, inputs)?;
    names::note(session, &ensemble, inputs);
    let known = check::check(session, &ensemble);
    let engine = ensemble.engine(session);
    let resolved = Resolver { session, request, ensemble: &ensemble, engine: &engine, known }.run();
    report_notices(session, &engine);
    Some(resolved)
}

/// Problems that did not stop the evaluation.
fn report_notices(session: &Session, engine: &Engine<'_>) {
    for notice in engine.notices.borrow().iter() {
        session.sink.push(diagnostic(session, notice));
    }
}

struct Resolver<'r> {
    session: &'r Session,
    request: &'r Request,
    ensemble: &'r Ensemble,
    engine: &'r Engine<'r>,
    /// Locations of errors from static checks; errors of evaluation there are not reported again.
    known: Vec<Span>,
}

/// The service template that is a part of an ensemble's file.
fn service_in(root: purlin_syntax::Node<'_>) -> Option<purlin_syntax::Node<'_>> {
    root.get("spec")?.get("service_template")
}

impl Resolver<'_> {
    fn run(&self) -> Resolved {
        let tree = &self.ensemble.tree;
        let name = if tree.deployment.is_empty() || tree.deployment == "." {
            EcoString::from("ensemble")
        } else {
            tree.deployment.clone()
        };
        let mut resolved = Resolved::new(name);
        resolved.environment = self.ensemble.manifest.environment_name.clone();
        resolved.variables = self.attributes(tree.inputs());
        resolved.nodes = tree.named().skip(1).map(|(name, id)| self.node(name, id)).collect();
        // Outputs reach into any instance.
        if self.request.nodes.is_empty() {
            resolved.outputs = self.attributes(tree.outputs());
        }
        resolved.declared = self.declared();
        resolved.trees = self.ensemble.manifest.trees.clone();
        resolved.trees.extend(self.ensemble.service.model.files.list.iter().map(|file| file.tree.clone()));
        resolved
    }

    /// Declarations of the service template. Expressions and templates of an ensemble may name an input anywhere, so
    /// that every word of a text counts as a use.
    fn declared(&self) -> Vec<Declared> {
        let read = self.ensemble.service.model.files.list.first().map(|file| &file.tree);
        let roots = read.into_iter().chain(&self.ensemble.manifest.trees).filter_map(|tree| tree.root());
        let services: Vec<_> = roots.flat_map(|root| [Some(root), service_in(root)]).flatten().collect();
        let mut uses = Uses::of_declared(services.iter().copied());
        if uses.is_idle() {
            return Vec::new();
        }
        self.session.sources.all().iter().for_each(|source| uses.add_text(source.text()));
        let declared = services.into_iter().flat_map(|root| declared_in(root, &uses));
        declared.filter(|declared| declared.what == "input").collect()
    }

    /// A result as a value; an error is reported and leaves an invalid value.
    fn settled(&self, result: Result<Val>) -> Value {
        match result.and_then(|value| self.engine.force(value)) {
            Ok(value) => convert::to_value(&value.plain(), &self.ensemble.tree),
            Err(error) if error.kind.is_silent() => outside(&error),
            Err(error) => {
                let found = diagnostic(self.session, &error);
                if !self.known.iter().any(|known| found.span.is_some_and(|span| touch(*known, span))) {
                    self.session.sink.push(found);
                }
                Value::poison()
            }
        }
    }

    fn attributes(&self, id: NodeId) -> Value {
        let names: Vec<EcoString> = self.ensemble.tree.node(id).attributes.keys().cloned().collect();
        let value = |name: EcoString| {
            let found = self.engine.attribute(id, &name).map(Option::unwrap_or_default);
            (name, self.settled(found))
        };
        Value::map(names.into_iter().map(value).collect::<Map>())
    }

    /// The directive that replaces a node by another topology, for the nodes of that topology.
    fn substituted(&self, name: &str) -> Origin {
        let outer = name.split_once(':').and_then(|(outer, _)| self.ensemble.service.topology.nodes.get(outer));
        let words = outer.map(|outer| outer.template.texts("directives"));
        let directive = words.and_then(|words| words.iter().find(|word| word.text == SUBSTITUTE).map(|word| word.span));
        directive.map_or(Origin::NONE, |span| self.session.origins.file(span))
    }

    fn node(&self, name: &EcoString, id: NodeId) -> Node {
        let tree = &self.ensemble.tree;
        let instance = tree.node(id);
        let template = self.ensemble.service.topology.nodes.get(&instance.template);
        let mut node = Node::new(name.clone(), "instance", DIALECT.name);
        node.type_name = instance.type_name().into();
        node.source = template.map(|template| self.ensemble.service.places.span(template.template.at));
        node.named = self.substituted(name);
        for relationship in &instance.requirements {
            let Some(target) = target(tree, *relationship) else { continue };
            node.dependencies.push(Dependency {
                node: tree.full_name(target),
                is_static: true,
                is_runtime: false,
                is_explicit: true,
                span: template.map(|template| template.template.place("requirements")),
                names: tree.node(*relationship).requirement.iter().map(|found| found.name.clone()).collect(),
                relationship: tree.node(*relationship).type_name().into(),
            });
        }
        if !self.request.wants(&node.id) {
            return node;
        }
        let mut entries =
            vec![("attributes".into(), self.attributes(id)), ("status".into(), Value::str(effective(tree, id).name()))];
        if let Some(state) = instance.state {
            entries.push(("state".into(), Value::str(state.name())));
        }
        if let Some(parent) = instance.parent.filter(|parent| tree.node(*parent).kind != NodeKind::Root) {
            entries.push(("host".into(), Value::str(tree.full_name(parent))));
        }
        for (section, ids) in [("capabilities", &instance.capabilities), ("requirements", &instance.requirements)] {
            let parts = ids.iter().filter(|id| !tree.node(**id).attributes.is_empty());
            let parts: Map = parts.map(|id| (tree.node(*id).name.clone(), self.attributes(*id))).collect();
            if !parts.is_empty() {
                entries.push((section.into(), Value::map(parts)));
            }
        }
        node.resolved = Value::map(entries.into_iter().collect::<Map>());
        node
    }
}

/// A placeholder for a value from outside that is not known yet, or broken.
fn outside(error: &Error) -> Value {
    match &error.pending {
        Some(pending) => Value::new(purlin_value::Data::Pending(pending.clone())),
        None => Value::poison(),
    }
}

/// Whether one of two spans contains the other.
fn touch(a: Span, b: Span) -> bool {
    a.file == b.file && ((a.start <= b.start && b.end <= a.end) || (b.start <= a.start && a.end <= b.end))
}

fn eval(session: &Session, request: &Request, question: &Question) -> Option<Answer> {
    eval_given(session, request, &Value::null(), question)
}

/// The same with inputs that another dialect gives.
pub(crate) fn eval_given(session: &Session, request: &Request, inputs: &Value, question: &Question) -> Option<Answer> {
    let ensemble = ensemble::open_given(session, request, inputs)?;
    let engine = ensemble.engine(session);
    *engine.trace.borrow_mut() = question.trace.then(Trace::new);
    let answer = match ask(session, &engine, question).map_err(|error| engine.scrubbed(error)) {
        Ok(value) => convert::to_value(&value.plain(), &ensemble.tree),
        Err(error) if error.kind.is_silent() => outside(&error),
        Err(error) => {
            session.sink.push(of_question(session, &error, &question.expression));
            Value::poison()
        }
    };
    report_notices(session, &engine);
    let trace = engine.trace.borrow().as_ref().map(Trace::lines).unwrap_or_default();
    Some(Answer { value: answer, trace })
}

/// An error of a queried expression: its location is in the expression itself unless it came from a file.
fn of_question(session: &Session, error: &Error, expression: &str) -> Diagnostic {
    if span_of(session, error.origin).is_some() {
        return diagnostic(session, error);
    }
    let mut shown = diagnostic(session, error);
    let source = session.sources.insert("(expression)", expression);
    let (start, end) = match (error.at, &error.text) {
        (Some(at), Some(text)) => {
            let offset = expression.find(text.as_str()).unwrap_or(0);
            (offset + at.start as usize, offset + at.end as usize)
        }
        _ => (0, expression.len()),
    };
    shown.span = Some(source.span(start, end.min(expression.len())));
    shown
}

/// Evaluates an expression: a query, a template, or a map in YAML or JSON.
fn ask(session: &Session, engine: &Engine<'_>, question: &Question) -> Result<Val> {
    let ctx = engine.context(instance(engine, question.on.as_deref())?);
    let text = question.expression.trim();
    let is_map = text.starts_with('{') && !text.starts_with("{{") && !text.starts_with("{%");
    if jinja::is_template(text) && !is_map {
        let mode = Mode { attribute: true, ..Mode::default() };
        let ctx = engine.context_with(ctx.instance(), Vec::new(), mode);
        return engine.force(jinja::render(&ctx, text)?);
    }
    let read = if is_map { convert::from_yaml(session, text, Flavor::Core).ok() } else { None };
    let raw = read.and_then(|mut documents| documents.pop()).unwrap_or_else(|| Val::str(text));
    check::question(session, engine.tree, &raw, ctx.instance());
    match &raw.data {
        Data::Str(_) => engine.force(as_one(form::expression(&ctx, &raw)?)),
        _ => ctx.map_value(&raw),
    }
}

/// The instance that a name or query means; by default the root.
fn instance(engine: &Engine<'_>, on: Option<&str>) -> Result<NodeId> {
    let root = engine.tree.root();
    let Some(on) = on else {
        return Ok(root);
    };
    if let Some(id) = engine.tree.by_name(on) {
        return Ok(id);
    }
    if on.starts_with("::")
        && let Val { data: Data::Node(id), .. } = as_one(Ctx::query(&engine.context(root), on)?)
    {
        return Ok(id);
    }
    let error = Error::new(crate::error::Kind::Missing, what::unknown("instance", on));
    let names = engine.tree.named().map(|(name, _)| name.as_str());
    Err(match purlin_syntax::suggest::nearest(on, names) {
        Some(near) => error.hint(Hint::meant(on, near)),
        None => error,
    })
}
