//! Writes the table of names: the declarations of a project, and the meaning of each name in its strings and fields.
//!
//! Strings are kept while they are bound, each with its scope, and examined after binding: a scope is complete only
//! then, and so are branches that are not evaluated.

use crate::action::Action;
use crate::bind::Env;
use crate::config::{ActionKind, ConfigKind, Document};
use crate::draft::Draft;
use crate::expr::ast::{Key, Part};
use crate::expr::{Evaluator, Own, Template};
use crate::modules::Module;
use crate::place::{NodeRef, Place};
use crate::render::Config;
use crate::resolve::Resolution;
use ecow::EcoString;
use purlin_syntax::{Node, Span};
use purlin_value::names::{kind, unquoted, written};
use purlin_value::{Bound, Eval, NameId, Session, Value, path};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A string with the scope that it was bound to.
struct Note {
    template: Arc<Template>,
    place: Place,
    env: Arc<Env>,
    own: Option<Own>,
}

/// The strings of a project whose names are still to be noted.
#[derive(Default)]
pub struct Noted {
    notes: Mutex<Vec<Note>>,
    is_paused: AtomicBool,
}

impl Noted {
    /// Keeps a string.
    pub fn add(&self, template: &Arc<Template>, place: &Place, env: &Arc<Env>, own: Option<&Own>) {
        if self.is_paused.load(Ordering::Relaxed) || matches!(place, Place::Nowhere) {
            return;
        }
        let note = Note { template: template.clone(), place: place.clone(), env: env.clone(), own: own.cloned() };
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }

    /// Keeps all strings below a node, which may be bound only in part.
    pub fn add_below(&self, node: &NodeRef, env: &Arc<Env>, own: Option<&Own>) {
        let mut open: Vec<Node<'_>> = node.get().into_iter().collect();
        while let Some(view) = open.pop() {
            if let Ok(Some(template)) = env.templates.get(view) {
                self.add(&template, &Place::Node(node.other(view)), env, own);
            }
            if !view.is_alias() {
                open.extend(view.items());
                open.extend(view.entries().map(|entry| entry.value));
            }
        }
    }

    /// Does some work whose strings are not collected.
    pub fn without<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_paused.store(true, Ordering::Relaxed);
        let done = work();
        self.is_paused.store(false, Ordering::Relaxed);
        done
    }

    fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Declares the variables of a layer. A variable is the same name as that of a layer below if both belong to one level,
/// or if both are mappings, which are merged.
pub(crate) fn note_variables(session: &Session, layer: &Value, below: &[(Value, bool)]) {
    let below: Vec<(&Value, bool)> = below.iter().map(|(value, is_level)| (value, *is_level)).collect();
    note_keys(session, layer, &below, "");
}

fn note_keys(session: &Session, layer: &Value, below: &[(&Value, bool)], prefix: &str) {
    for (key, value) in layer.as_map().into_iter().flat_map(|map| map.iter()) {
        let place = |value: &Value| {
            let span = session.origins.key_place(value.origin, key, &session.sources)?;
            Some(unquoted(span, &session.sources))
        };
        let Some(span) = place(value) else { continue };
        let name = if prefix.is_empty() { key.clone() } else { ecow::eco_format!("{prefix}.{key}") };
        let end = session.origins.span(value.origin, &session.sources).filter(|end| end.file == span.file);
        let whole = Span::new(span.file, span.start, end.map_or(span.end, |end| end.end.max(span.end)));
        session.names.declare(NameId::Place(span), kind::VARIABLE, name.clone(), span, whole);
        let mut inner: Vec<(&Value, bool)> = Vec::new();
        for (other, is_level) in below.iter().filter_map(|(map, is_level)| Some((map.get(key)?, is_level))) {
            let is_merged = value.as_map().is_some() && other.as_map().is_some();
            if *is_level || is_merged {
                place(other)
                    .into_iter()
                    .for_each(|other| session.names.same(NameId::Place(span), NameId::Place(other)));
            }
            inner.extend(is_merged.then_some((other, true)));
        }
        note_keys(session, value, &inner, &name);
    }
}

/// Notes all names of a project that is resolved.
pub(crate) fn note(resolution: &Resolution<'_>) {
    // Problems of these strings were reported by evaluation.
    let ((), reported) = resolution.ground.session.sink.apart(|| note_all(resolution));
    drop(reported);
}

fn note_all(resolution: &Resolution<'_>) {
    let session = resolution.ground.session;
    note_strings(resolution);
    let writer = Writer { session };
    writer.project(resolution);
    resolution.making.scanned.documents.iter().for_each(|document| writer.document(document));
    resolution.graph().actions.values().for_each(|action| writer.action(action));
    resolution.modules.iter().for_each(|module| writer.module(module, resolution));
    resolution.workflows.iter().for_each(|workflow| writer.workflow(workflow, resolution));
}

fn note_strings(resolution: &Resolution<'_>) {
    let Some(noted) = &resolution.ground.noted else { return };
    let mut eval = Eval::new(resolution.ground.session);
    // Looking through a string may bind others.
    for _ in 0..ROUNDS {
        let notes = noted.take();
        if notes.is_empty() {
            return;
        }
        for Note { template, place, env, own } in notes {
            Evaluator::new(&mut eval, &env, &place, own.as_ref()).note_names(&template);
        }
    }
    drop(noted.take());
}

/// Strings in strings are found in a few rounds; the bound only guards against a loop.
const ROUNDS: usize = 20;

/// The kinds of actions that commands of a workflow name.
const VERBS: [(&str, ActionKind); 4] = [
    ("build", ActionKind::Build),
    ("deploy", ActionKind::Deploy),
    ("run", ActionKind::Run),
    ("test", ActionKind::Test),
];

struct Writer<'s> {
    session: &'s Session,
}

impl Writer<'_> {
    fn declare(&self, of: &'static str, space: &str, name: &str, at: Node<'_>, whole: Node<'_>) {
        let id = NameId::named(of, space, name);
        if at.text() == name {
            self.session.names.declare(id, of, name, written(at), whole.span());
        } else {
            self.session.names.bound(id, of, name, at.span(), Bound::Computed);
        }
    }

    /// A use, where the end of a text is a name.
    fn uses(&self, of: &'static str, space: &str, name: &str, at: Node<'_>) {
        self.uses_last(of, space, name, name, at);
    }

    fn uses_last(&self, of: &'static str, space: &str, name: &str, last: &str, at: Node<'_>) {
        let (id, span) = (NameId::named(of, space, name), written(at));
        let length = u32::try_from(last.len()).unwrap_or(u32::MAX);
        if at.text().ends_with(last) && span.end.saturating_sub(length) >= span.start {
            let span = Span::new(span.file, span.end - length, span.end);
            self.session.names.uses(id, of, name, span);
        } else {
            self.session.names.bound(id, of, name, at.span(), Bound::Computed);
        }
    }

    fn uses_action(&self, of: ActionKind, name: &str, at: Node<'_>) {
        self.uses_last(kind::ACTION, "", &format!("{}.{name}", of.lower()), name, at);
    }

    fn project(&self, resolution: &Resolution<'_>) {
        let Some(root) = resolution.project.document.node.get() else { return };
        if let Some(name) = root.get("name") {
            self.declare(kind::PROJECT, "", name.text(), name, root);
        }
        for environment in root.get("environments").into_iter().flat_map(Node::items) {
            if let Some(name) = environment.get("name") {
                self.declare(kind::ENVIRONMENT, "", name.text(), name, environment);
                self.usual_varfile(resolution, name, environment);
            }
        }
        if let Some(chosen) = root.get("defaultEnvironment").filter(|chosen| !chosen.text().contains("${")) {
            let name = chosen.text().rsplit('.').next().unwrap_or_default();
            self.uses(kind::ENVIRONMENT, "", name, chosen);
        }
        for provider in root.get("providers").into_iter().flat_map(Node::items) {
            if let Some(name) = provider.get("name") {
                self.declare(kind::PROVIDER, "", name.text(), name, provider);
            }
            self.environments(provider);
            for name in provider.get("dependencies").into_iter().flat_map(Node::items).filter(|name| is_plain(*name)) {
                self.uses(kind::PROVIDER, "", name.text(), name);
            }
        }
    }

    /// The varfile of an environment has its name, unless the environment names another.
    fn usual_varfile(&self, resolution: &Resolution<'_>, name: Node<'_>, environment: Node<'_>) {
        let file = path::join(&resolution.ground.root, &format!("garden.{}.env", name.text()));
        if environment.get("varfile").is_none() && self.session.has_read(&file) {
            let id = NameId::named(kind::ENVIRONMENT, "", name.text());
            let place = self.session.load_text(&file, &file).map_or(name.span(), |text| text.source.span(0, 0));
            self.session.names.bound(id, kind::ENVIRONMENT, name.text(), place, Bound::Text);
        }
    }

    /// The environments of a provider, an action or a template.
    fn environments(&self, of: Node<'_>) {
        for name in of.get("environments").into_iter().flat_map(Node::items).filter(|name| is_plain(*name)) {
            self.uses(kind::ENVIRONMENT, "", name.text(), name);
        }
    }

    fn document(&self, document: &Document) {
        let Some(root) = document.node.get() else { return };
        self.environments(root);
        let name = root.get("name").filter(|name| is_plain(*name));
        match (document.kind, name) {
            (ConfigKind::Action(of), Some(name)) => self.own_name(of, name, root),
            (ConfigKind::ConfigTemplate, Some(name)) => {
                self.declare(kind::TEMPLATE, "", name.text(), name, root);
                for entry in root.get("inputs").into_iter().flat_map(Node::entries) {
                    self.declare(kind::INPUT, name.text(), entry.key.text(), entry.key, entry.value);
                }
            }
            _ => {}
        }
        let is_use = document.kind == ConfigKind::RenderTemplate
            || document.kind == ConfigKind::Module && root.get("type").is_some_and(|of| of.text() == "templated");
        let template = root.get("template").filter(|template| is_use && is_plain(*template));
        if let Some(template) = template {
            self.uses(kind::TEMPLATE, "", template.text(), template);
            let given = ["inputs", "matrix"].into_iter().filter_map(|key| root.get(key)).flat_map(Node::entries);
            for entry in given.filter(|entry| !entry.key.text().starts_with('$')) {
                self.uses(kind::INPUT, template.text(), entry.key.text(), entry.key);
            }
        }
    }

    fn own_name(&self, of: ActionKind, name: Node<'_>, whole: Node<'_>) {
        let key = ecow::eco_format!("{}.{}", of.lower(), name.text());
        let id = NameId::named(kind::ACTION, "", key.clone());
        self.session.names.declare(id, kind::ACTION, key, written(name), whole.span());
    }

    fn action(&self, action: &Action) {
        let Draft::Node(node) = &action.config.body else { return };
        let Some(root) = node.get() else { return };
        if let (Some(_), Some(name)) = (&action.config.rendered, root.get("name")) {
            match name.text() == action.name {
                true => self.own_name(action.kind, name, root),
                false => {
                    let id = NameId::named(kind::ACTION, "", action.key.clone());
                    let why = Bound::Computed;
                    self.session.names.bound(id, kind::ACTION, action.key.clone(), name.span(), why);
                }
            }
            self.environments(root);
        }
        self.needed(action);
        for item in root.get("dependencies").into_iter().flat_map(Node::items) {
            match (item.get("kind"), item.get("name")) {
                (Some(of), Some(name)) if is_plain(name) => {
                    ActionKind::named(of.text()).into_iter().for_each(|of| self.uses_action(of, name.text(), name));
                }
                _ if is_plain(item) => self.uses_dotted(item),
                _ => {}
            }
        }
        let copied = root.get("copyFrom").into_iter().flat_map(Node::items).filter_map(|item| item.get("build"));
        for build in root.get("build").into_iter().chain(copied).filter(|build| is_plain(*build)) {
            self.uses_action(ActionKind::Build, build.text(), build);
        }
    }

    /// `build.api`
    fn uses_dotted(&self, item: Node<'_>) {
        if let Some((of, name)) = item.text().split_once('.')
            && let Some(of) = ActionKind::ALL.into_iter().find(|known| known.lower().eq_ignore_ascii_case(of))
        {
            self.uses_action(of, name, item);
        }
    }

    /// Names computed by expressions in the fields of an action cannot be edited.
    fn needed(&self, action: &Action) {
        for (key, span) in action.links.get().into_iter().flat_map(|links| links.named()) {
            let source = self.session.sources.get(span.file);
            let text = source.as_ref().and_then(|source| source.text().get(span.start as usize..span.end as usize));
            if text.is_some_and(|text| text.contains("${")) {
                let id = NameId::named(kind::ACTION, "", key.clone());
                self.session.names.bound(id, kind::ACTION, key, span, Bound::Computed);
            }
        }
    }

    /// A module's own name is that of the actions made from it.
    fn module(&self, module: &Module, resolution: &Resolution<'_>) {
        let Draft::Node(node) = &module.config.body else { return };
        let Some(root) = node.get() else { return };
        let own = module.name();
        if let Some(name) = root.get("name") {
            self.declare(kind::MODULE, "", own, name, root);
        }
        let made = resolution.graph().actions.values();
        for action in made.filter(|action| action.module.as_ref().is_some_and(|from| from.module == *own)) {
            if action.name == *own {
                let (of, made) = (NameId::named(kind::MODULE, "", own.clone()), action.key.clone());
                self.session.names.same(of, NameId::named(kind::ACTION, "", made));
            }
        }
        for (key, of) in [("services", ActionKind::Deploy), ("tasks", ActionKind::Run), ("tests", ActionKind::Test)] {
            let items = root.get("spec").unwrap_or(root).get(key).or_else(|| root.get(key));
            for item in items.into_iter().flat_map(Node::items) {
                if let Some(name) = item.get("name").filter(|name| is_plain(*name)) {
                    match of {
                        // The name of a test is made from the module's, too.
                        ActionKind::Test => {}
                        _ => self.own_name(of, name, item),
                    }
                }
                for needed in item.get("dependencies").into_iter().flat_map(Node::items).filter(|item| is_plain(*item))
                {
                    self.uses_service(needed, resolution);
                }
            }
        }
        for item in root.get("build").and_then(|build| build.get("dependencies")).into_iter().flat_map(Node::items) {
            let name = item.get("name").unwrap_or(item);
            if is_plain(name) {
                self.uses(kind::MODULE, "", name.text(), name);
            }
        }
    }

    /// Services and tasks share one space of names.
    fn uses_service(&self, name: Node<'_>, resolution: &Resolution<'_>) {
        for of in [ActionKind::Deploy, ActionKind::Run] {
            if resolution.graph().actions.contains_key(&ecow::eco_format!("{}.{}", of.lower(), name.text())) {
                return self.uses_action(of, name.text(), name);
            }
        }
    }

    /// Commands of steps name actions; expressions name steps.
    fn workflow(&self, workflow: &Config, resolution: &Resolution<'_>) {
        let Draft::Node(node) = &workflow.body else { return };
        let Some(root) = node.get() else { return };
        let templates = &resolution.ground.templates;
        for step in root.get("steps").into_iter().flat_map(Node::items) {
            if let Some(name) = step.get("name").filter(|name| is_plain(*name)) {
                self.declare(kind::STEP, &workflow.name, name.text(), name, step);
            }
            let words: Vec<Node<'_>> = step.get("command").into_iter().flat_map(Node::items).collect();
            let verb = words.first().and_then(|verb| VERBS.iter().find(|(word, _)| *word == verb.text()));
            for word in words.iter().skip(1).filter(|word| is_plain(**word)) {
                let key = verb.map(|(_, of)| (*of, ecow::eco_format!("{}.{}", of.lower(), word.text())));
                if let Some((of, _)) = key.filter(|(_, key)| resolution.graph().actions.contains_key(key)) {
                    self.uses_action(of, word.text(), *word);
                }
            }
            let mut open = vec![step];
            while let Some(view) = open.pop() {
                if let Ok(Some(template)) = templates.get(view) {
                    let place = Place::Node(node.other(view));
                    crate::expr::ast::each_lookup(&template, &mut |path| self.uses_step(&workflow.name, path, &place));
                }
                open.extend(view.items());
                open.extend(view.entries().map(|entry| entry.value));
            }
        }
    }

    fn uses_step(&self, workflow: &EcoString, path: &[Part], place: &Place) {
        if let [Part { key: Key::Name(head), .. }, Part { key: Key::Name(name), at }, ..] = path
            && head == "steps"
            && let Some(span) = place.part(*at)
        {
            let id = NameId::named(kind::STEP, workflow.clone(), name.clone());
            self.session.names.uses(id, kind::STEP, name.clone(), span);
        }
    }
}

/// Whether a scalar is literal.
fn is_plain(node: Node<'_>) -> bool {
    node.is_scalar() && !node.text().is_empty() && !node.text().contains("${")
}
