//! All phases in order: project, environment, scan, templates, providers, modules, actions, graph, extensions, and then
//! the values of the actions.

use crate::action::{Action, Origin, preprocess};
use crate::augment::augmented;
use crate::bind::{Binder, Env};
use crate::config::{ConfigKind, Document};
use crate::draft::Draft;
use crate::entities::{SCHEMA, SpecType, spec_type};
use crate::graph::{Actions, Graph, Needed, build_graph};
use crate::ground::Ground;
use crate::inner::Provider;
use crate::live::{Known, LiveSet, bind_actions, source_owners};
use crate::modules::{Module, resolve_modules};
use crate::phases::{Phases, Stage, env_at};
use crate::project::{Project, find_root, read_project};
use crate::providers::{Providers, resolve_providers};
use crate::references::references;
use crate::render::{Config, Configs, render};
use crate::rules;
use crate::scan::{Scanned, scan};
use crate::shapes::check_evaluated;
use crate::types::{report_module_types, report_types};
use crate::variants::{Other, Shared};
use crate::varying::Varying;
use ecow::EcoString;
use purlin_model::schema::Edition;
use purlin_model::{Declared, Manifest, Request};
use purlin_syntax::{Diagnostic, FileId, suggest};
use purlin_value::{Eval, FastIndex, FastSet, Map, Piece, Session, Value};
use std::sync::Arc;

/// A project with a complete graph; values are computed on demand.
pub struct Resolution<'s> {
    /// State shared by all phases.
    pub ground: Ground<'s>,
    /// The project and its environment.
    pub project: Project,
    /// The scopes of the later phases.
    pub phases: Phases,
    /// Modules, dependencies first.
    pub modules: Vec<Arc<Module>>,
    /// The actions.
    pub live: Arc<LiveSet>,
    /// Workflows.
    pub workflows: Vec<Config>,
    /// Commands of the user's own.
    pub commands: Vec<Config>,
    /// Templates, and whether something is made from them.
    pub declared: Vec<Declared>,
    /// Sources of the actions.
    pub(crate) making: Making,
    /// Parts taken over from another environment.
    pub(crate) shared: Shared,
}

/// Sources of a project's actions: not needed to evaluate them, but to find the actions affected by a change.
pub(crate) struct Making {
    /// The providers.
    pub providers: Providers,
    /// The configuration files with their actions, in the order of the scan.
    pub parts: FastIndex<EcoString, Part>,
    /// Problems that were found before there were actions.
    pub problems: Vec<Diagnostic>,
    /// Whether actions share a name.
    pub has_duplicates: bool,
    /// Contents of the files.
    pub scanned: Arc<Scanned>,
    /// The configurations, where other environments are resolved after this one.
    pub configs: Configs,
    /// The actions that were made from them.
    pub made: Vec<Option<Arc<Action>>>,
    /// Whether the graph has no problems.
    pub is_graph_sound: bool,
}

/// A configuration file.
pub(crate) struct Part {
    /// Its text, as far as it could be read.
    pub text: Option<FileId>,
    /// Whether all its documents are actions.
    pub is_plain: bool,
    /// The actions that were made from it.
    pub actions: Vec<Arc<Action>>,
}

/// The resolved action.
#[derive(Clone, Debug)]
pub struct ResolvedAction {
    /// Its spec.
    pub spec: Value,
    /// Its outputs, as far as they are known.
    pub outputs: Value,
}

/// A project that is read as far as its environment.
pub(crate) struct Begun<'s> {
    pub ground: Ground<'s>,
    pub project: Project,
    /// Number of problems before.
    pub problems: usize,
    /// Whether nothing is resolved after it that could use what serves to find the graph.
    pub is_last: bool,
}

/// Reads the project of a request as far as its environment.
pub(crate) fn begin<'s>(session: &'s Session, request: &'s Request, varying: Varying) -> Option<Begun<'s>> {
    let root = find_root(session, request)?;
    let problems = session.sink.len();
    let mut ground = Ground::new(session, request, root);
    ground.varying = Arc::new(varying);
    let project = read_project(&ground)?;
    Some(Begun { ground, project, problems, is_last: false })
}

/// Resolves the project of a request, up to its graph.
pub fn resolve<'s>(session: &'s Session, request: &'s Request) -> Option<Resolution<'s>> {
    begin(session, request, Varying::default()).map(|begun| resolve_begun(begun, None))
}

/// The same for a project that is neither resolved again nor in another environment: it takes less memory.
pub(crate) fn resolve_last<'s>(session: &'s Session, request: &'s Request) -> Option<Resolution<'s>> {
    let begun = begin(session, request, Varying::default())?;
    Some(resolve_begun(Begun { is_last: true, ..begun }, None))
}

/// Resolves a project that is read as far as its environment. `other` is the same project in another environment: what
/// is the same in both is taken over.
pub(crate) fn resolve_begun<'s>(begun: Begun<'s>, other: Option<&Other<'_>>) -> Resolution<'s> {
    let Begun { ground, project, problems, is_last } = begun;
    let session = ground.session;
    let making = other.map(Other::making);
    let phases = Phases::new(&ground, &project);
    let scanned = scan(&ground, &project, making.map(|making| &making.scanned));
    let is_watched = ground.varying.is_watched();
    let making = making.filter(|making| Arc::ptr_eq(&making.scanned, &scanned));
    let other = other.filter(|_| making.is_some());
    // Names made by templates may use outputs of providers, so providers come first.
    let providers = resolve_providers(&ground, &project, &phases);
    let mut configs = render(&ground, &project, &phases, &scanned, making.map(|making| &making.configs));
    let declared = declared_templates(&scanned, &configs.all);
    let modules = resolve_modules(&ground, &project, &phases, &configs.all, &scanned.files);
    report_module_types(&ground, &providers, &modules.modules);
    let problems = session.sink.since(problems);
    let of_kind = |kind: ConfigKind| -> Vec<Config> {
        configs.all.iter().filter(|config| config.kind == kind).cloned().collect()
    };
    let (workflows, commands) = (of_kind(ConfigKind::Workflow), of_kind(ConfigKind::Command));
    let mut actions = Actions::with_capacity_and_hasher(configs.all.len() + modules.actions.len(), Default::default());
    // Needed only when the same environment is resolved again.
    let is_alone = !is_watched && other.is_none();
    let mut parts = if is_alone { parts(session, &project, &scanned) } else { FastIndex::default() };
    let mut has_duplicates = false;
    let mut made = Vec::new();
    let all = if is_watched { configs.all.clone() } else { std::mem::take(&mut configs.all) };
    for (config, before) in all.into_iter().zip(std::mem::take(&mut configs.before)) {
        let ConfigKind::Action(kind) = config.kind else {
            made.push(None);
            continue;
        };
        let known = making.zip(before).and_then(|(making, at)| making.made.get(at)?.clone());
        let action = match known.filter(|action| !action.varies()) {
            Some(action) => action,
            None => preprocess(&ground, &project, &phases, kind, config, None),
        };
        if is_watched {
            made.push(Some(action.clone()));
        }
        if let Some(part) = parts.get_mut(&action.config.file) {
            part.actions.push(action.clone());
        }
        has_duplicates |= keep(&ground, &mut actions, action);
    }
    for converted in modules.actions {
        let origin: Arc<Origin> = converted.origin;
        let action = preprocess(&ground, &project, &phases, converted.kind, converted.config, Some(origin));
        keep(&ground, &mut actions, action);
    }
    report_types(&ground, &providers, &actions);
    let reported = session.sink.pushed();
    let (graph, owners) = match other.and_then(|other| other.same_graph(&actions)) {
        Some(known) => known,
        None => {
            let graph = augmented(&ground, &project, &phases, build_graph(&ground, actions));
            let owners = Arc::new(source_owners(&graph));
            (Arc::new(graph), owners)
        }
    };
    let is_graph_sound = session.sink.pushed() == reported;
    // Actions that are bound now take the room of what is released.
    graph.actions.values().filter(|_| is_last).for_each(|action| action.settle());
    ground.varying.with_actions(&graph.actions);
    ground.stand();
    let reaches_all = !workflows.is_empty() || !commands.is_empty() || project.document.field("outputs").is_some();
    let shared = other.map(|other| other.shared(&graph, reaches_all || !is_graph_sound)).unwrap_or_default();
    if let Some(other) = other {
        other.share_sources(&ground, &graph, &owners);
    }
    let known = other.map(|other| Known { live: other.live(), same: &shared.same });
    let is_wanted = |key: &EcoString| shared.needed.as_ref().is_none_or(|needed| needed.contains(key));
    let files = scanned.files.clone();
    let live = bind_actions(&ground, &project, &phases, graph, owners, files, is_wanted, known.as_ref());
    let making = Making { providers, parts, problems, has_duplicates, scanned, configs, made, is_graph_sound };
    let modules = modules.modules;
    Resolution { ground, project, phases, modules, live, workflows, commands, declared, making, shared }
}

/// The configuration files in the order of the scan, without their actions.
fn parts(session: &Session, project: &Project, scanned: &Scanned) -> FastIndex<EcoString, Part> {
    let id = |file: &str| session.load_text(file, file).ok().map(|text| text.source.id());
    let part = |file: &String| (file.into(), Part { text: id(file), is_plain: true, actions: Vec::new() });
    let mut parts: FastIndex<EcoString, Part> = scanned.config_files.iter().map(part).collect();
    let others = scanned.documents.iter().filter(|document| !matches!(document.kind, ConfigKind::Action(_)));
    for document in others.chain([&project.document]) {
        if let Some(part) = parts.get_mut(document.file.as_str()) {
            part.is_plain = false;
        }
    }
    parts
}

fn declared_templates(scanned: &Scanned, configs: &[Config]) -> Vec<Declared> {
    let used: FastSet<&str> =
        configs.iter().filter_map(|config| Some(config.rendered.as_ref()?.template.as_str())).collect();
    let templates = scanned.documents.iter().filter(|document| document.kind == ConfigKind::ConfigTemplate);
    let declared = |document: &Document| {
        let name = EcoString::from(document.plain("name")?);
        let is_used = used.contains(name.as_str());
        Some(Declared { what: "template", span: document.field("name")?.span()?, name, is_used })
    };
    templates.filter_map(declared).collect()
}

/// Keeps an action. Two may share a name if one of them is disabled. Returns whether its name is already used.
pub(crate) fn keep(ground: &Ground<'_>, actions: &mut Actions, action: Arc<Action>) -> bool {
    let Some(first) = actions.get(&action.key) else {
        actions.insert(action.key.clone(), action);
        return false;
    };
    let undecided = [first, &action].map(|one| report_disabled_by_variable(ground, one)).contains(&true);
    if !undecided && !first.disabled && !action.disabled {
        report_declared_twice(ground, first, &action);
    }
    match first.disabled {
        true => {
            action.add_rival(first);
            actions.insert(action.key.clone(), action);
        }
        false => first.add_rival(&action),
    }
    true
}

fn report_declared_twice(ground: &Ground<'_>, first: &Action, second: &Action) {
    let (kind, name) = (second.kind.name(), &second.name);
    let message = match first.config.file == second.config.file {
        true => format!("duplicate {kind} action `{name}`"),
        false => {
            format!("duplicate {kind} action `{name}`, in `{}` and in `{}`", first.config.file, second.config.file)
        }
    };
    let mut diagnostic = Diagnostic::nowhere(&rules::DUPLICATE, message);
    if let Some(span) = first.span() {
        diagnostic = diagnostic.label(span, "the first one");
    }
    ground.push(diagnostic.hint("switch one of them off with `disabled`, or give it another name"), second.span());
}

/// Whether an action is enabled must be known before variables are, since the variables are its own. Returns whether
/// there was a problem to report.
fn report_disabled_by_variable(ground: &Ground<'_>, action: &Action) -> bool {
    let Some(draft) = action.config.field("disabled") else { return false };
    let Some(env) = action.before_graph() else { return false };
    let found = references(ground, &env, &["var", "variables"], &[&draft]);
    for reference in &found {
        let message = "where two actions share a name, `disabled` cannot depend on variables";
        ground.report(&rules::DUPLICATE, reference.span, message);
    }
    !found.is_empty()
}

impl Resolution<'_> {
    /// The graph.
    pub fn graph(&self) -> &Graph {
        self.live.graph()
    }

    /// The variables of project and environment, resolved.
    pub fn variables(&self) -> Value {
        let mut eval = Eval::new(self.ground.session);
        // Garden evaluates variables that are overridden, too.
        self.project.vars.force_layers(&mut eval);
        eval.force_deep(&self.project.vars.merged())
    }

    /// The configurations of all providers, resolved.
    pub fn providers(&self) -> Value {
        let Some(layer) = self.phases.providers().get() else { return Value::list(Vec::new()) };
        let forced = Eval::new(self.ground.session).force_deep(layer);
        let all = forced.get("providers").and_then(Value::as_map);
        Value::list(all.into_iter().flat_map(|map| map.values()).filter_map(|p| p.get("config").cloned()).collect())
    }

    /// A resolved action.
    pub fn action(&self, key: &str) -> Option<ResolvedAction> {
        let spec = self.spec(key)?;
        let mut eval = Eval::new(self.ground.session);
        let outputs = self.live.actions.get(key)?.shown_outputs(&mut eval);
        self.ground.note(&eval);
        Some(ResolvedAction { spec, outputs })
    }

    /// The outputs of an action that are known without running it, resolved.
    pub fn static_outputs(&self, key: &str) -> Map {
        let (Some(live), Some(action)) = (self.live.actions.get(key), self.graph().actions.get(key)) else {
            return Map::new();
        };
        live.static_outputs(action, &mut Eval::new(self.ground.session))
    }

    /// The registry that images are pushed to before they are deployed.
    pub fn deployment_registry(&self, key: &str) -> Option<Value> {
        self.live.actions.get(key)?.deployment_registry(&mut Eval::new(self.ground.session))
    }

    /// The spec of an action. Its outputs are not read, so that they can still be learned.
    pub fn spec(&self, key: &str) -> Option<Value> {
        let live = self.live.actions.get(key)?;
        let action = self.graph().actions.get(key)?;
        let mut eval = Eval::new(self.ground.session);
        if let Some(rendered) = action.rendered() {
            let base = self.project.vars.over(self.phases.action_base(Stage::Full));
            let inputs = rendered.inputs_value(&self.ground, &env_at(&self.ground, base, Stage::Full));
            let inputs = eval.force_deep(&inputs);
            rendered.check(&self.ground, &inputs);
        }
        let spec = eval.force(&live.whole);
        self.ground.note(&eval);
        check_spec(&self.ground, action, &spec);
        Some(spec)
    }

    /// The spec of an action with the additions of Garden's providers.
    pub(crate) fn counted_spec(&self, key: &str) -> Option<Value> {
        let spec = self.spec(key)?;
        let action = self.graph().actions.get(key)?;
        Some(self.live.implied_spec(&mut Eval::new(self.ground.session), action, spec))
    }

    /// The provider that deploys an action to a cluster.
    pub fn cluster(&self, key: &str) -> Option<Provider> {
        Some(self.live.actions.get(key)?.cluster(&mut Eval::new(self.ground.session)))
    }

    /// The rendered objects of an action that deploys to a cluster or runs there; `None` for other actions, or if
    /// rendering failed, which is reported.
    pub fn manifests(&self, key: &str) -> Option<Vec<Manifest>> {
        let inner = self.live.actions.get(key)?.inner(&mut Eval::new(self.ground.session))?;
        inner.known().map(|resolved| resolved.manifests.clone())
    }

    /// Location and request of the project of another dialect inside an action.
    pub fn inner_request(&self, key: &str) -> Option<(String, Request)> {
        self.live.actions.get(key)?.inner_request(&mut Eval::new(self.ground.session))
    }

    /// All variables an action sees.
    pub fn action_variables(&self, key: &str) -> Value {
        let merged = self.live.actions.get(key).map_or_else(Value::null, |live| live.vars().merged());
        Eval::new(self.ground.session).force_deep(&merged)
    }

    /// The variables that an action itself declares, as they come out.
    pub fn own_variables(&self, key: &str) -> Value {
        let (Some(action), Some(live)) = (self.graph().actions.get(key), self.live.actions.get(key)) else {
            return Value::null();
        };
        let mut eval = Eval::new(self.ground.session);
        let declared = action.variables().map(|draft| draft.keys()).unwrap_or_default();
        let found = declared.into_iter().filter_map(|key| {
            let value = live.vars().get(&key, &mut eval)?;
            Some((key, eval.force_deep(&value)))
        });
        let found = Value::map(found.collect());
        self.ground.note(&eval);
        found
    }

    /// All values of `secrets`: commands must not print them.
    pub fn secrets(&self) -> Value {
        let parsed = crate::expr::parse_expression("secrets");
        let source = self.ground.session.sources.insert("secrets", "secrets");
        let place = crate::place::Place::Verbatim(source.span(0, "secrets".len()));
        // To know them is not to use them.
        let env = Arc::new(Env { varying: Arc::default(), ..(*self.project_env()).clone() });
        let bound = parsed.map(|parsed| Binder::new(&env).template(Arc::new(parsed), place));
        bound.map_or_else(|_| Value::null(), |bound| Eval::new(self.ground.session).force_deep(&bound))
    }

    /// Dependencies of an action.
    pub fn needs(&self, key: &str) -> &[Needed] {
        self.graph().needs(key)
    }

    /// The project's outputs, by name.
    pub fn outputs(&self) -> Value {
        let Some(node) = self.project.document.field("outputs") else { return Value::map(Map::new()) };
        let list = crate::project::force(&self.ground, &self.project_env(), &node);
        let named = |item: &Value| {
            let (name, value) = (item.get("name")?, item.get("value")?);
            Some((EcoString::from(name.as_str()?), self.output(name, value)))
        };
        Value::map(list.as_list().unwrap_or(&[]).iter().filter_map(named).collect())
    }

    /// Whether outputs of the project mention what only the graph of actions knows.
    pub fn outputs_need_actions(&self) -> bool {
        let Some(node) = self.project.document.field("outputs") else { return false };
        let outputs = Draft::Node(node);
        let heads = ["actions", "modules", "providers", "runtime"];
        !references(&self.ground, &self.project_env(), &heads, &[&outputs]).is_empty()
    }

    /// An output as it is called: its name counts, too.
    fn output(&self, name: &Value, value: &Value) -> Value {
        let (origins, sources) = (&self.ground.session.origins, &self.ground.session.sources);
        let end = value.as_str().map_or(0, |text| u32::try_from(text.len()).unwrap_or(u32::MAX));
        let piece = Piece { start: 0, end, origin: value.origin };
        let origin = origins.derived("output", origins.span(name.origin, sources), vec![piece]);
        value.clone().with_origin(origin)
    }

    /// The scope of templates outside of actions, once the graph is complete.
    pub(crate) fn project_env(&self) -> Arc<Env> {
        let base = self.phases.action_base(Stage::Full);
        env_at(&self.ground, self.project.vars.over(base), Stage::Full)
    }
}

/// An action without a spec lacks the keys required by its type. Garden notices when it resolves the action.
fn report_missing_spec(ground: &Ground<'_>, action: &Action, known: &SpecType) {
    let is_written = action.config.field("spec").is_some_and(|spec| !spec.is_null());
    // A key that is misspelt was reported.
    let is_meant = |key: &EcoString| suggest::nearest(key, ["spec"]).is_some();
    let is_written = is_written || action.config.body.keys().iter().any(is_meant);
    let Some(entity) = SCHEMA.entity(known.row).filter(|_| !is_written && known.requires_spec()) else { return };
    for field in entity.fields(Edition(0)).filter(|field| field.is_required(Edition(0))) {
        let (kind, name) = (action.kind.name(), &action.name);
        let message = format!("missing key `spec.{}` in {kind} action `{name}`", field.key);
        let hint = format!("add `spec:` with `{}:`. {}", field.key, field.doc.trim_end_matches('.'));
        ground.push(Diagnostic::nowhere(&purlin_model::rules::MISSING_KEY, message).hint(hint), action.span());
    }
}

/// Checks the results of expressions in a spec. Specs made from modules are the conversion's responsibility.
fn check_spec(ground: &Ground<'_>, action: &Action, spec: &Value) {
    let Some(known) = spec_type(&action.type_name, action.kind).filter(|_| action.module.is_none()) else { return };
    report_missing_spec(ground, action, known);
    if let (Some(map), Draft::Node(written)) = (spec.as_map(), action.spec())
        && let Some(node) = written.get()
    {
        check_evaluated(ground.session, known.row, map, node);
    }
}
