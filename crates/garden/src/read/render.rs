//! Templates of configurations: finding them, and rendering their uses.
//!
//! Only names are evaluated here. Inputs stay drafts: they may refer to outputs of actions, and are bound anew in every
//! phase.

use crate::bind::{Binder, Env};
use crate::check::check_in_template;
use crate::config::{ConfigKind, Document, KIND_NAMES};
use crate::draft::Draft;
use crate::entities::is_expression;
use crate::entities::words::name_problem;
use crate::ground::Ground;
use crate::inputs::InputSchema;
use crate::phases::{Phases, Stage, env_at};
use crate::place::NodeRef;
use crate::project::{Project, force};
use crate::rules;
use crate::scan::{Scanned, report_duplicates};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Span, suggest};
use purlin_value::{Data, Map, MapLayer, Origin, Scope, Value, path};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

/// A template of configurations.
struct Template {
    name: EcoString,
    folder: EcoString,
    inputs: InputSchema,
    configs: Vec<NodeRef>,
    modules: Vec<NodeRef>,
}

/// A use of a template, with one choice of its matrix.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The use's name, with its location.
    pub parent: Value,
    /// The template's name.
    pub template: EcoString,
    /// The folder of the template's file.
    pub template_folder: EcoString,
    /// Inputs given by the use.
    pub inputs: Vec<(EcoString, Draft)>,
    /// The item of a `$forEach` that made this configuration.
    pub item: Option<Value>,
    /// Inputs declared by the template.
    pub schema: InputSchema,
    /// Location of the use.
    pub span: Option<Span>,
}

impl Rendered {
    /// The layer with `inputs`, `parent` and `template`, inputs bound to a scope of their own.
    pub fn layer(&self, ground: &Ground<'_>, env: &Arc<Env>) -> MapLayer {
        let name = |name: Value| Value::map(Map::from_iter([("name".into(), name)]));
        let mut layer = Map::from_iter([
            ("inputs".into(), self.inputs_value(ground, env)),
            ("parent".into(), name(self.parent.clone())),
            ("template".into(), name(Value::str(self.template.clone()))),
        ]);
        layer.extend(self.item.iter().map(|item| ("item".into(), item.clone())));
        MapLayer::new("template", Value::map(layer))
    }

    /// Checks resolved inputs against the declarations of the template.
    pub fn check(&self, ground: &Ground<'_>, inputs: &Value) {
        self.schema.check(ground, inputs, self.span, &|key| self.key_span(key));
    }

    /// Location of an input's key.
    fn key_span(&self, name: &str) -> Option<Span> {
        let (_, draft) = self.inputs.iter().find(|(key, _)| key == name)?;
        let Draft::Node(node) = draft else { return None };
        // A key comes right before its value.
        let key = node.tree().node(node.get()?.index().checked_sub(1)?)?;
        (key.is_scalar() && key.text() == name).then(|| key.span())
    }

    /// The inputs, bound and completed with defaults.
    pub fn inputs_value(&self, ground: &Ground<'_>, env: &Arc<Env>) -> Value {
        let mut binder = Binder::new(env);
        let mut map: Map = self.inputs.iter().map(|(key, draft)| (key.clone(), draft.bind(&mut binder))).collect();
        for (key, value) in self.schema.defaults(ground) {
            map.entry(key).or_insert(value);
        }
        match env.pre_graph {
            true => Value::map(map),
            false => self.schema.completed(Value::map(map)),
        }
    }
}

/// A configuration of any kind, ready to be read: written in a file, or made from a template.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its kind.
    pub kind: ConfigKind,
    /// Its type, if it has one.
    pub type_name: EcoString,
    /// Its name.
    pub name: EcoString,
    /// Its contents.
    pub body: Draft,
    /// The file it is written in, or the one of the template's use.
    pub file: EcoString,
    /// The folder its paths start from.
    pub folder: EcoString,
    /// Location for problems of the whole.
    pub span: Option<Span>,
    /// Origin of a name that a template made.
    pub named: Origin,
    /// The use of a template that made it.
    pub rendered: Option<Arc<Rendered>>,
    /// Whether the result differs in another environment.
    pub varies: bool,
}

/// The configurations of a project.
#[derive(Default)]
pub struct Configs {
    /// All of them, in the order of their documents.
    pub all: Vec<Config>,
    /// For each the place in the list of another environment, if it is the same there.
    pub before: Vec<Option<usize>>,
    /// Configurations of each document, and whether they differ between environments.
    documents: Vec<(Range<usize>, bool)>,
    /// Whether a template differs between environments.
    templates_vary: bool,
}

impl Config {
    /// The contents of a document; `None` if it has no name.
    pub(crate) fn written(document: &Document) -> Option<Config> {
        Some(Config {
            kind: document.kind,
            type_name: document.plain("type").unwrap_or_default().into(),
            name: document.plain("name")?.into(),
            body: Draft::Node(document.node.clone()),
            file: document.file.as_str().into(),
            folder: document.folder().into(),
            span: document.span(),
            named: Origin::NONE,
            rendered: None,
            varies: false,
        })
    }

    /// One of its fields.
    pub fn field(&self, key: &str) -> Option<Draft> {
        self.body.get(key).filter(|draft| !draft.is_null())
    }
}

/// All configurations but templates and the project: those written, and those made. `before` are those of another
/// environment with the same documents.
pub fn render(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    scanned: &Scanned,
    before: Option<&Configs>,
) -> Configs {
    let of_kind = |kind: ConfigKind| scanned.documents.iter().filter(move |document| document.kind == kind);
    report_duplicates(ground, "template", of_kind(ConfigKind::ConfigTemplate));
    let read = || -> Vec<Template> {
        of_kind(ConfigKind::ConfigTemplate).filter_map(|document| read_template(ground, project, document)).collect()
    };
    let templates = OnceCell::new();
    let mut configs = Configs::default();
    configs.all.reserve(scanned.documents.len());
    // Templates without problems to report are read on first use.
    if before.is_none_or(|before| before.templates_vary) {
        let (found, varies) = ground.watched(read);
        let _ = templates.set(found);
        configs.templates_vary = varies;
    }
    for (index, document) in scanned.documents.iter().enumerate() {
        if let Some(before) = before.filter(|before| before.has_steady(index)) {
            configs.take(before, index);
            continue;
        }
        let templates = templates.get_or_init(read);
        let (mut made, varies) = ground.watched(|| make(ground, project, phases, templates, document));
        let may_be_use = matches!(document.kind, ConfigKind::RenderTemplate | ConfigKind::Module);
        let varies = varies || configs.templates_vary && may_be_use;
        made.iter_mut().for_each(|config| config.varies = varies);
        configs.add(made, varies);
    }
    configs
}

/// The configurations of a document.
fn make(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    templates: &[Template],
    document: &Document,
) -> Vec<Config> {
    let is_use = document.kind == ConfigKind::RenderTemplate
        || (document.kind == ConfigKind::Module && document.plain("type").as_deref() == Some("templated"));
    match document.kind {
        ConfigKind::ConfigTemplate => Vec::new(),
        _ if is_use => render_use(ground, project, phases, templates, document),
        _ => Config::written(document).into_iter().collect(),
    }
}

impl Configs {
    fn add(&mut self, made: Vec<Config>, varies: bool) {
        let start = self.all.len();
        self.all.extend(made);
        self.before.resize(self.all.len(), None);
        self.documents.push((start..self.all.len(), varies));
    }

    fn has_steady(&self, document: usize) -> bool {
        self.documents.get(document).is_some_and(|(_, varies)| !varies)
    }

    fn take(&mut self, from: &Configs, document: usize) {
        let range = from.documents.get(document).map(|(range, _)| range.clone()).unwrap_or_default();
        let start = self.all.len();
        self.all.extend(from.all.get(range.clone()).into_iter().flatten().cloned());
        self.before.extend(range.map(Some));
        self.documents.push((start..self.all.len(), false));
    }
}

fn read_template(ground: &Ground<'_>, project: &Project, document: &Document) -> Option<Template> {
    let list = |key: &str| -> Vec<NodeRef> {
        let Some(node) = document.field(key) else { return Vec::new() };
        let Some(view) = node.get() else { return Vec::new() };
        view.items().map(|item| node.other(item)).collect()
    };
    Some(Template {
        name: document.plain("name")?.into(),
        folder: document.folder().into(),
        inputs: InputSchema::read(ground, project, document),
        configs: list("configs"),
        modules: list("modules"),
    })
}

fn render_use(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    templates: &[Template],
    document: &Document,
) -> Vec<Config> {
    let env = ground.env(project.vars.over(&project.early));
    let field = |key: &str| document.field(key).map(|node| (force(ground, &env, &node), node));
    if field("disabled").is_some_and(|(value, _)| value.as_bool() == Some(true)) {
        return Vec::new();
    }
    let Some((wanted, place)) = field("template") else { return Vec::new() };
    if wanted.is_tainted_deep() {
        ground.report_secret_name("template", place.span());
        return Vec::new();
    }
    // Without a name to derive others from, nothing is made; the missing name was reported with the other shapes.
    let (Some(name), Some(parent)) = (wanted.as_str(), document.plain("name")) else { return Vec::new() };
    let written = document.field("name").and_then(|field| field.get().map(Origin::node));
    let parent = Value::str(parent).with_origin(written.unwrap_or(Origin::NONE));
    let Some(template) = templates.iter().find(|template| template.name == name) else {
        if !ground.misses_source() {
            let hint = suggest::did_you_mean(name, templates.iter().map(|template| template.name.as_str()));
            let message = what::unknown("template", name);
            ground.push(Diagnostic::nowhere(&rules::TEMPLATE, message).maybe_hint(hint), place.span());
        }
        return Vec::new();
    };
    let mut configs = Vec::new();
    for inputs in combinations(ground, &env, document) {
        let rendered = Arc::new(Rendered {
            parent: parent.clone(),
            template: template.name.clone(),
            template_folder: template.folder.clone(),
            inputs,
            item: None,
            schema: template.inputs.clone(),
            span: document.span(),
        });
        for (nodes, is_module) in [(&template.configs, false), (&template.modules, true)] {
            for node in nodes {
                for (node, rendered) in expand(ground, project, phases, &rendered, node, 0) {
                    let scope = name_scope(ground, project, phases, &rendered);
                    configs.extend(render_one(ground, &scope, document, &rendered, &node, is_module));
                }
            }
        }
    }
    configs
}

/// Bytes charged for a configuration that a template makes, for each value in it, and for an entry of its inputs.
const MADE: (u64, u64) = (400, 6_144);
const VALUE: (u64, u64) = (8, 160);
const INPUT: (u64, u64) = (4, 128);

/// Charges the meter for `count` items before a template makes them, and reports an exceeded limit.
fn can_afford(ground: &Ground<'_>, (steps, bytes): (u64, u64), count: usize, span: Option<Span>) -> bool {
    let count = count as u64;
    let charged = ground.session.meter.charge(steps.saturating_mul(count), bytes.saturating_mul(count));
    charged.map_err(|exceeded| ground.session.report_exceeded(exceeded, span)).is_ok()
}

/// How deep operators may nest in a template's list of configurations.
const OPERATOR_DEPTH: u32 = purlin_syntax::limits::ROW_LEVELS;

/// The configurations that an item of a template's list gives: itself, or the results of its operators.
fn expand(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    rendered: &Arc<Rendered>,
    node: &NodeRef,
    depth: u32,
) -> Vec<(NodeRef, Arc<Rendered>)> {
    let Some(view) = node.get().filter(|_| depth < OPERATOR_DEPTH) else { return Vec::new() };
    let all = |view: purlin_syntax::Node<'_>, rendered: &Arc<Rendered>| {
        let inner = node.other(view);
        expand(ground, project, phases, rendered, &inner, depth + 1)
    };
    let env = || env_at(ground, name_scope(ground, project, phases, rendered), Stage::PreGraph);
    if view.is_list() {
        return view.items().flat_map(|item| all(item, rendered)).collect();
    }
    if let Some(inner) = view.get("$concat") {
        return all(inner, rendered);
    }
    if let Some(condition) = view.get("$if") {
        let branch = match force(ground, &env(), &node.other(condition)).as_bool() {
            Some(true) => view.get("$then"),
            Some(false) => view.get("$else"),
            None => None,
        };
        return branch.map(|branch| all(branch, rendered)).unwrap_or_default();
    }
    let (Some(collection), Some(body)) = (view.get("$forEach"), view.get("$return")) else {
        return vec![(node.clone(), rendered.clone())];
    };
    let place = node.other(collection);
    let collection = force(ground, &env(), &place);
    let count = collection.as_list().map_or_else(|| collection.as_map().map_or(0, |map| map.len()), <[Value]>::len);
    if !can_afford(ground, MADE, count, place.span()) {
        return Vec::new();
    }
    let mut made = Vec::new();
    for item in items_of(&collection) {
        let rendered = Arc::new(Rendered { item: Some(item), ..(**rendered).clone() });
        let keep = view.get("$filter").is_none_or(|filter| {
            let env = env_at(ground, name_scope(ground, project, phases, &rendered), Stage::PreGraph);
            force(ground, &env, &node.other(filter)).as_bool() != Some(false)
        });
        if keep {
            made.extend(all(body, &rendered));
        }
    }
    made
}

/// The value of `item` for each entry of a collection.
fn items_of(collection: &Value) -> Vec<Value> {
    let item = |key: EcoString, value: &Value| {
        Value::map(Map::from_iter([("key".into(), Value::str(key)), ("value".into(), value.clone())]))
    };
    match &collection.data {
        Data::List(list) => list.iter().enumerate().map(|(at, value)| item(ecow::eco_format!("{at}"), value)).collect(),
        Data::Map(map) => map.iter().map(|(key, value)| item(key.clone(), value)).collect(),
        _ => Vec::new(),
    }
}

/// Names are evaluated before anything has run, but see the inputs.
fn name_scope(ground: &Ground<'_>, project: &Project, phases: &Phases, rendered: &Rendered) -> Scope {
    let base = project.vars.over(phases.name_base());
    let inputs = rendered.layer(ground, &env_at(ground, base.clone(), Stage::PreGraph));
    base.push(inputs)
}

/// The inputs of every combination of a matrix; the first key varies slowest.
fn combinations(ground: &Ground<'_>, env: &Arc<Env>, document: &Document) -> Vec<Vec<(EcoString, Draft)>> {
    let inputs = document.field("inputs").map(|node| Draft::Node(node).entries()).unwrap_or_default();
    let mut all = vec![inputs];
    let Some(matrix) = document.field("matrix") else { return all };
    for (key, draft) in Draft::Node(matrix).entries() {
        let Draft::Node(node) = &draft else { continue };
        let values = force(ground, env, node);
        let Some(values) = values.as_list() else { continue };
        let with = |base: &Vec<(EcoString, Draft)>, value: &Value| {
            let mut inputs: Vec<(EcoString, Draft)> = base.iter().filter(|(known, _)| *known != key).cloned().collect();
            inputs.push((key.clone(), Draft::Value(value.clone())));
            inputs
        };
        if all.len().saturating_mul(values.len()) as u64 > ground.session.limits.list_items {
            ground.report(&purlin_value::rules::LIMIT_LIST, node.span(), "this matrix has too many combinations");
            return Vec::new();
        }
        let entries = all.iter().map(|inputs| inputs.len() + 1).sum::<usize>().saturating_mul(values.len());
        if !can_afford(ground, INPUT, entries, node.span()) {
            return Vec::new();
        }
        all = all.iter().flat_map(|base| values.iter().map(|value| with(base, value)).collect::<Vec<_>>()).collect();
    }
    all
}

fn render_one(
    ground: &Ground<'_>,
    scope: &Scope,
    document: &Document,
    rendered: &Arc<Rendered>,
    node: &NodeRef,
    is_module: bool,
) -> Option<Config> {
    let view = node.get()?;
    let values = view.size() as usize;
    if !can_afford(ground, MADE, 1, node.span()) || !can_afford(ground, VALUE, values, node.span()) {
        return None;
    }
    let kind = if is_module { ConfigKind::Module } else { config_kind(ground, view)? };
    let env = env_at(ground, scope.clone(), Stage::PreGraph);
    let text = |key: &str| -> Option<(EcoString, Option<Span>, Origin)> {
        let field = node.other(view.get(key)?);
        let value = force(ground, &env, &field);
        if value.is_tainted_deep() {
            ground.report_secret_name(key, field.span());
            return None;
        }
        match value.data {
            Data::Str(text) => Some((text, field.span(), value.origin)),
            // A literal collection was reported with the other shapes.
            Data::Poison | Data::List(_) | Data::Map(_) => None,
            Data::Pending(pending) => {
                let message = format!("`{key}` must be known before anything runs, and waits for `{}`", pending.what);
                let message = Message::advising(message, "use variables or inputs instead of outputs of actions");
                ground.report(&rules::TEMPLATE, field.span(), message);
                None
            }
            _ => Some((crate::expr::text_of(&value), field.span(), value.origin)),
        }
    };
    match kind {
        // The same node is reported once however often it is rendered.
        ConfigKind::Action(kind) => check_in_template(&ground.session.sink, node, kind),
        _ if view.get("name").is_none() => report_nameless(ground, node),
        _ => {}
    }
    let (name, span, named) = text("name")?;
    // The name of an action is checked with its other fields.
    if !matches!(kind, ConfigKind::Action(_)) {
        check_name(ground, view.get("name"), &name);
    }
    let folder = match view.get("path") {
        Some(_) => path::join(document.folder(), &text("path")?.0).into(),
        None => document.folder().into(),
    };
    Some(Config {
        kind,
        type_name: view.get("type").map(|node| node.eco_text()).unwrap_or_default(),
        name,
        body: Draft::Node(node.clone()),
        file: document.file.as_str().into(),
        folder,
        span,
        named,
        rendered: Some(rendered.clone()),
        varies: false,
    })
}

/// Without a name nothing is made, which must be reported.
fn report_nameless(ground: &Ground<'_>, node: &NodeRef) {
    let message = what::missing("key", "name").and(" in a configuration of a template");
    ground.report(&purlin_model::rules::MISSING_KEY, node.span(), message);
}

/// Checks a name that a template made; one that is written was checked with the rest.
fn check_name(ground: &Ground<'_>, written: Option<purlin_syntax::Node<'_>>, name: &str) {
    if let Some(node) = written.filter(|node| is_expression(*node))
        && let Some(problem) = name_problem(name)
    {
        let message = what::not_allowed("name", name).and(" of a configuration that a template makes");
        let diagnostic = Diagnostic::at(&rules::INVALID_NAME, node.span(), message);
        ground.push(diagnostic.maybe_hint(problem.hint.map(str::to_owned)), None);
    }
}

fn config_kind(ground: &Ground<'_>, view: purlin_syntax::Node<'_>) -> Option<ConfigKind> {
    let written = view.get("kind");
    let name = written.map_or("", |node| node.text());
    let found = KIND_NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind);
    let is_allowed = |kind: &ConfigKind| matches!(kind, ConfigKind::Action(_) | ConfigKind::Workflow);
    if let Some(kind) = found.filter(is_allowed) {
        return Some(kind);
    }
    let first = view.entries().next().map_or(view.span(), |entry| entry.key.span());
    let place = written.map_or(first, |node| node.span());
    let message = match (written, found) {
        (None, _) => what::missing("", "kind").and(" in a configuration of a template"),
        (_, None) => what::unknown("kind", name).and(" in a configuration of a template"),
        (_, Some(_)) => format!("a template makes actions and workflows, not `{name}`").into(),
    };
    let names = KIND_NAMES.iter().filter(|(_, kind)| is_allowed(kind)).map(|(name, _)| *name);
    let hint = suggest::did_you_mean(name, names);
    ground.push(Diagnostic::at(&rules::CONFIG_KIND, place, message).maybe_hint(hint), None);
    None
}
