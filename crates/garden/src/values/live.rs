//! Actions after the graph is known: their templates bound to all known values, their outputs, and their versions, each
//! computed on first access.

use crate::action::Action;
use crate::bind::{Binder, Env};
use crate::complete::Completer;
use crate::concealed;
use crate::config::ActionKind;
use crate::draft::without_gaps;
use crate::entities::spec_type;
use crate::expr::REST;
use crate::files::FileTree;
use crate::graph::Graph;
use crate::ground::{Defaults, Ground, KnownOutputs, fill};
use crate::inner::{CLUSTER_PROVIDERS, Inner, Inside, MANIFESTS, NODES, Provider, lazy_manifests};
use crate::phases::{Phases, Stage};
use crate::project::Project;
use crate::rules;
use crate::scan::texts;
use crate::vars::VarScope;
use crate::varying::Varying;
use crate::versions::{
    Exclusions, Hashed, SourceKey, SourceScope, SourceVersion, Sources, Version, combine, config_version,
    counted_dependencies, listed_dependencies, source_version,
};
use ecow::EcoString;
use purlin_model::schema::Kind;
use purlin_model::{Answer, Engines, Question};
use purlin_syntax::Span;
use purlin_value::emit::REDACTED;
use purlin_value::{
    Data, Eval, FastIndex, FastMap, FastSet, Lazy, Map, Session, Thunk, Value, merge_patch, path, pattern,
};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// One action, live.
pub struct LiveAction {
    /// Scope of its templates.
    pub env: Arc<Env>,
    /// Its spec, lazy: completed with defaults, everything in it forced.
    pub whole: Value,
    /// Its outputs, lazy.
    pub outputs: Value,
    /// Its spec as it was bound, lazy.
    bound: Value,
    about: Arc<About>,
}

/// Inputs of versions and outputs.
pub(crate) struct Base {
    graph: Arc<Graph>,
    files: Arc<FileTree>,
    root: String,
    full_root: String,
    exclusions: Exclusions,
    /// Whether these differ between environments.
    exclusions_vary: bool,
    /// Differences between environments that are resolved together.
    varying: Arc<Varying>,
    outputs: KnownOutputs,
    /// Outputs of actions that ran since; values that were not read before see them.
    learned: Mutex<FastMap<EcoString, Value>>,
    /// The values of all actions; not owned here, since they own this.
    actions: Weak<OnceLock<Value>>,
    /// The same for providers.
    providers: Weak<OnceLock<Value>>,
    sources: Arc<Sources>,
    /// The action that decides how source shared by several is hashed.
    owners: Arc<Owners>,
    written: Mutex<FastMap<EcoString, Arc<Version>>>,
    /// The resolved specs by action, filled once all actions are bound.
    specs: OnceLock<FastMap<EcoString, Value>>,
    /// Versions, each with whether it differs between environments.
    resolved: Mutex<FastMap<EcoString, (Computed, bool)>>,
    /// Engines of projects of other dialects.
    engines: Engines,
    /// Whether charts come with the definitions of kinds they bring along.
    include_crds: bool,
    /// Whether rendered output is only checked and not shown.
    is_rehearsal: bool,
    /// Properties of the project used in Kubernetes objects.
    owner: Owner,
    /// Results of the projects inside actions, by the action's key, each with whether it differs between environments.
    inner: Mutex<FastMap<EcoString, (Arc<Inner>, bool)>>,
    /// Locations of these projects, each with its action.
    taken: Mutex<Vec<(EcoString, String)>>,
}

/// A resolved version, or the value in its place: poison, or pending.
type Computed = Result<Arc<Version>, Value>;

/// Properties of the project used in Kubernetes objects.
pub(crate) struct Owner {
    /// Its name.
    pub(crate) project: EcoString,
    /// The namespace of its environment.
    pub(crate) namespace: EcoString,
    /// Whether the environment is marked as production.
    pub(crate) production: bool,
}

/// The interface of an action for others.
pub(crate) struct About {
    base: Arc<Base>,
    pub(crate) key: EcoString,
    pub(crate) spec: Value,
    /// The spec with everything in it forced, lazy.
    pub(crate) whole: Value,
    env: Arc<Env>,
    /// All variables it sees.
    vars: VarScope,
}

/// The action that decides how source shared by several is hashed, by source.
pub type Owners = FastMap<SourceKey, EcoString>;

/// Results of actions from another environment.
pub(crate) struct Known<'k> {
    /// All actions there.
    pub live: &'k LiveSet,
    /// Those that are the same here.
    pub same: &'k FastSet<EcoString>,
}

impl Known<'_> {
    fn action(&self, key: &EcoString) -> Option<&LiveAction> {
        self.same.contains(key).then(|| self.live.actions.get(key)).flatten().map(|live| &**live)
    }

    /// Entries of actions that are the same, as far as they do not differ.
    fn steady<T: Clone>(&self, all: &Mutex<FastMap<EcoString, (T, bool)>>) -> FastMap<EcoString, (T, bool)> {
        let all = all.lock().unwrap_or_else(PoisonError::into_inner);
        let is_steady = |(key, (_, varies)): &(&EcoString, &(T, bool))| !varies && self.same.contains(*key);
        all.iter().filter(is_steady).map(|(key, entry)| (key.clone(), entry.clone())).collect()
    }
}

/// Binds the actions of a graph that are wanted. What refers to another one must be wanted only with it.
#[allow(clippy::too_many_arguments, reason = "the phases before, each with its result")]
pub(crate) fn bind_actions(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    graph: Arc<Graph>,
    owners: Arc<Owners>,
    files: Arc<FileTree>,
    is_wanted: impl Fn(&EcoString) -> bool,
    known: Option<&Known<'_>>,
) -> Arc<LiveSet> {
    let (exclusions, exclusions_vary) = ground.watched(|| project_exclusions(ground, project));
    let resolved = known.map(|known| known.steady(&known.live.base.resolved)).unwrap_or_default();
    let inner = known.map(|known| known.steady(&known.live.base.inner)).unwrap_or_default();
    let mut taken = known.map(|known| known.live.taken_in()).unwrap_or_default();
    taken.retain(|(key, _)| inner.contains_key(key));
    let base = Arc::new(Base {
        graph,
        files,
        root: ground.root.clone(),
        full_root: ground.full_path(".").to_string(),
        exclusions,
        exclusions_vary,
        varying: ground.varying.clone(),
        outputs: ground.outputs.clone(),
        learned: Mutex::default(),
        actions: Arc::downgrade(phases.actions()),
        providers: Arc::downgrade(phases.providers()),
        sources: ground.sources.clone(),
        owners,
        written: Mutex::default(),
        specs: OnceLock::new(),
        resolved: Mutex::new(resolved),
        engines: ground.request.engines,
        include_crds: ground.request.chart.include_crds,
        is_rehearsal: ground.request.chart.is_rehearsal,
        owner: Owner {
            project: project.name.clone(),
            namespace: project.namespace.clone(),
            production: project.production,
        },
        inner: Mutex::new(inner),
        taken: Mutex::new(taken),
    });
    let mut actions = FastIndex::with_capacity_and_hasher(base.graph.actions.len(), Default::default());
    let mut by_kind: FastIndex<ActionKind, Map> = ActionKind::ALL.into_iter().map(|kind| (kind, Map::new())).collect();
    for action in base.graph.actions.values().filter(|action| is_wanted(&action.key)) {
        let before = known.and_then(|known| known.action(&action.key));
        let (live, value) = bind_action(ground, project, phases, &base, action, before);
        actions.insert(action.key.clone(), Box::new(live));
        if let Some(map) = by_kind.get_mut(&action.kind) {
            map.insert(action.name.clone(), value);
        }
    }
    let specs = actions.iter().map(|(key, live)| (key.clone(), live.whole.clone()));
    // Bound once per resolution, so the cell is empty.
    let _ = base.specs.set(specs.collect());
    // Missing actions are reported already; their values are silent.
    for (kind, name) in &base.graph.missing {
        if let Some(map) = by_kind.get_mut(kind) {
            map.insert(name.clone(), Value::poison());
        }
    }
    let by_kind: FastIndex<ActionKind, Value> =
        by_kind.into_iter().map(|(kind, map)| (kind, Value::map(map))).collect();
    let kind = |kind: ActionKind| by_kind.get(&kind).cloned().unwrap_or_else(|| Value::map(Map::new()));
    let all = ActionKind::ALL.into_iter().map(|k| (EcoString::from(k.lower()), kind(k))).collect();
    let runtime =
        Map::from_iter([("services".into(), kind(ActionKind::Deploy)), ("tasks".into(), kind(ActionKind::Run))]);
    let layer = Map::from_iter([("actions".into(), Value::map(all)), ("runtime".into(), Value::map(runtime))]);
    fill(phases.actions(), Value::map(layer));
    Arc::new(LiveSet { base, actions })
}

/// The project's patterns of texts that do not count in versions.
fn project_exclusions(ground: &Ground<'_>, project: &Project) -> Exclusions {
    const FIELD: &str = "excludeValuesFromActionVersions";
    let list = project.field(ground, FIELD, &project.full_scope());
    let (exclusions, broken) = Exclusions::compile(ground.session, &texts(&list));
    for (pattern, why) in broken {
        let place = list.as_list().unwrap_or(&[]).iter().find(|item| item.as_str() == Some(pattern.as_str()));
        let shown = if list.is_tainted_deep() { REDACTED } else { pattern.as_str() };
        let why = if list.is_tainted_deep() { "" } else { pattern::reason(&why) };
        let message = format!("invalid pattern `{shown}` in `{FIELD}`: {why}");
        ground.report(&rules::CONFIG_SHAPE, place.and_then(|item| ground.span_of(item)), message);
    }
    exclusions
}

/// The first action of each choice of files, in Garden's order of kinds.
pub fn source_owners(graph: &Graph) -> Owners {
    const ORDER: [ActionKind; 4] = [ActionKind::Deploy, ActionKind::Build, ActionKind::Run, ActionKind::Test];
    let mut owners = FastMap::with_capacity_and_hasher(graph.actions.len(), Default::default());
    for kind in ORDER {
        for action in graph.actions.values().filter(|action| action.kind == kind) {
            owners.entry(source_key(action)).or_insert_with(|| action.key.clone());
        }
    }
    owners
}

/// An action's choice of files; that of a module's Build is the module's own.
fn chosen_files(action: &Action) -> (Option<Vec<String>>, Option<Vec<String>>) {
    let module = action.module.as_ref().filter(|_| action.kind == ActionKind::Build);
    match module.and_then(|module| module.files.clone()) {
        Some((include, exclude)) => (include, Some(exclude).filter(|list| !list.is_empty())),
        None => (action.fields.get("include").map(texts), action.fields.get("exclude").map(texts)),
    }
}

/// The identity of an action's files.
pub fn source_key(action: &Action) -> SourceKey {
    let (include, exclude) = chosen_files(action);
    SourceKey::new((&action.source_folder, action.checkout.as_deref()), include.as_deref(), exclude.as_deref())
}

/// All actions with their values.
pub struct LiveSet {
    base: Arc<Base>,
    /// The actions by key.
    pub actions: FastIndex<EcoString, Box<LiveAction>>,
}

impl LiveSet {
    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.base.graph
    }

    /// A spec with the additions of Garden's providers.
    pub(crate) fn implied_spec(&self, eval: &mut Eval<'_>, action: &Action, spec: Value) -> Value {
        self.base.implied_spec(eval, action, spec)
    }

    /// The action that decides how source shared by several is hashed, by source.
    pub fn owners(&self) -> &Arc<Owners> {
        &self.base.owners
    }

    /// The files of the project.
    pub fn files(&self) -> &FileTree {
        &self.base.files
    }

    /// The same, to be kept.
    pub fn shared_files(&self) -> &Arc<FileTree> {
        &self.base.files
    }

    /// Locations of the projects inside actions that were resolved, with the actions.
    pub fn taken_in(&self) -> Vec<(EcoString, String)> {
        self.base.taken.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a project inside an action may have read a file: it reads those in its folder.
    pub fn may_read(&self, file: &str) -> bool {
        let is_below = |folder: &str| folder == "." || path::within(folder, file) != file;
        let taken = self.taken_in();
        let mut taken = taken.iter().flat_map(|(_, path)| [path.as_str(), path::parent(path)]);
        let has_inner =
            |action: &Action| spec_type(&action.type_name, action.kind).is_none_or(|known| known.inside.is_some());
        let mut folders = self.base.graph.actions.values().filter(|action| has_inner(action));
        taken.any(is_below) || folders.any(|action| is_below(&action.source_folder))
    }

    /// The version of an action as written, before values are resolved. `None` if it is part of a cycle.
    pub fn written_version(&self, session: &Session, key: &str) -> Option<Arc<Version>> {
        self.base.written_version(session, key)
    }

    /// The version of an action over its resolved spec and the resolved versions of its dependencies. `None` if it is
    /// pending or broken.
    pub fn resolved_version(&self, session: &Session, key: &str) -> Option<Arc<Version>> {
        self.base.resolved_version(&mut Eval::new(session), key).ok()
    }

    /// Adds the outputs of an action that has run. References read before this stay pending.
    pub fn learn(&self, key: &str, outputs: Value) {
        self.base.learned.lock().unwrap_or_else(PoisonError::into_inner).insert(key.into(), outputs);
    }

    /// The folder an action works in.
    pub fn build_folder(&self, action: &Action) -> String {
        self.base.build_folder(action)
    }

    /// The source of an action as hashed for its version; `None` if it has no files.
    pub fn hashed(&self, session: &Session, action: &Action) -> Option<Hashed> {
        let (include, exclude) = chosen_files(action);
        if include.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let found = self.base.source(session, action);
        Some(Hashed {
            folder: action.source_folder.to_string(),
            files: found.files.clone(),
            blobs: found.blobs.clone(),
            root: action.checkout.as_ref().map_or_else(|| self.base.root.clone(), |remote| remote.folder.clone()),
            ignore_file: self.base.files.ignore_file().to_owned(),
            config_file: action.config.file.to_string(),
            include,
            exclude: exclude.unwrap_or_default(),
        })
    }
}

impl LiveAction {
    /// All variables it sees.
    pub fn vars(&self) -> &VarScope {
        &self.about.vars
    }

    /// Whether its whole spec is known and the same in every environment.
    fn is_steady(&self) -> bool {
        matches!(&self.whole.data, Data::Lazy(whole) if whole.steady().is_some())
    }

    /// The result of the project inside the action; `None` if its type has no project.
    pub(crate) fn inner(&self, eval: &mut Eval<'_>) -> Option<Arc<Inner>> {
        // Read as an output, so that a cycle of actions is found as one.
        eval.force(&self.outputs);
        self.about.inner(self.about.action()?, eval)
    }

    /// Its outputs, without those that are nodes of their own.
    pub(crate) fn shown_outputs(&self, eval: &mut Eval<'_>) -> Value {
        let outputs = eval.force(&self.outputs);
        let Some(map) = outputs.as_map() else { return outputs };
        let kept = map.iter().filter(|(key, _)| !matches!(key.as_str(), REST | MANIFESTS | NODES));
        let kept: Map = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
        eval.force_deep(&Value::map(kept))
    }

    /// Its outputs that are known without running it, resolved.
    pub(crate) fn static_outputs(&self, action: &Action, eval: &mut Eval<'_>) -> Map {
        self.about.static_outputs(action, eval)
    }

    /// The registry that images are pushed to before they are deployed.
    pub(crate) fn deployment_registry(&self, eval: &mut Eval<'_>) -> Option<Value> {
        self.about.deployment_registry(eval)
    }

    /// The provider that deploys it to a cluster.
    pub(crate) fn cluster(&self, eval: &mut Eval<'_>) -> Provider {
        self.about.cluster(eval)
    }

    /// Location and request of the project inside the action.
    pub(crate) fn inner_request(&self, eval: &mut Eval<'_>) -> Option<(String, purlin_model::Request)> {
        self.about.inner_request(self.about.action()?, eval)
    }

    /// Whether the action contains a project of another dialect.
    pub(crate) fn holds_project(&self) -> bool {
        let action = self.about.action();
        let known = action.and_then(|action| spec_type(&action.type_name, action.kind));
        known.is_some_and(|known| known.inside.is_some())
    }

    /// Evaluates an expression in the project inside the action.
    pub(crate) fn eval_inner(&self, question: &Question, eval: &mut Eval<'_>) -> Option<Answer> {
        self.about.eval_inner(self.about.action()?, question, eval)
    }
}

fn bind_action(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    base: &Arc<Base>,
    action: &Action,
    before: Option<&LiveAction>,
) -> (LiveAction, Value) {
    let variables = before.map(LiveAction::vars);
    let (env, vars, this) = action.own_scope().environment(ground, project, phases, Stage::Full, variables);
    let (bound, spec, whole) = match before {
        Some(before) if before.is_steady() => (before.bound.clone(), before.about.spec.clone(), before.whole.clone()),
        _ => {
            let bound = action.spec().bind_again(&mut Binder::new(&env), before.map(|before| &before.bound));
            let (spec, whole) = lazy_spec(ground, action, &bound);
            (bound, spec, whole)
        }
    };
    let (base, key) = (base.clone(), action.key.clone());
    let about = Arc::new(About { base, key, spec, whole: whole.clone(), env: env.clone(), vars });
    let outputs = Lazy::value(Outputs(about.clone()));
    let own = Lazy::value(Keys { about: about.clone(), outputs: None, version: OnceLock::new() });
    fill(&this, Value::map(Map::from_iter([("this".into(), own)])));
    let keys = Lazy::value(Keys { about: about.clone(), outputs: Some(outputs.clone()), version: OnceLock::new() });
    (LiveAction { env, whole, outputs, bound, about }, keys)
}

/// Keys of an action for templates: as `this`, or under `actions` with its outputs. Most templates use one of them, so
/// that the table of all is only made for those that use it as a whole.
struct Keys {
    about: Arc<About>,
    outputs: Option<Value>,
    /// Its version, lazy, if it has outputs; the same for whoever asks.
    version: OnceLock<Value>,
}

impl Keys {
    fn version(&self) -> Value {
        self.version.get_or_init(|| Lazy::value(VersionText(self.about.clone()))).clone()
    }
}

/// Number of keys of an action: there are as many tables of them as actions.
const KEYS: usize = 8;

impl Thunk for Keys {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let Some(action) = self.about.action() else { return Value::poison() };
        let base = &self.about.base;
        let mut keys = Map::with_capacity(KEYS);
        keys.extend([
            ("name".into(), Value::str(action.name.clone())),
            ("disabled".into(), Value::from(action.disabled)),
            ("buildPath".into(), Value::str(base.full(&base.build_folder(action)))),
            ("sourcePath".into(), Value::str(base.full(&action.source_folder))),
            ("mode".into(), crate::action::mode(eval.session)),
            ("var".into(), self.about.vars.merged()),
        ]);
        if let Some(outputs) = &self.outputs {
            keys.insert("outputs".into(), outputs.clone());
            keys.insert("version".into(), self.version());
        }
        Value::map(keys)
    }

    fn part(&self, key: &str) -> Option<Value> {
        let action = self.about.action()?;
        match (key, &self.outputs) {
            ("name", _) => Some(Value::str(action.name.clone())),
            ("outputs", Some(outputs)) => Some(outputs.clone()),
            ("version", Some(_)) => Some(self.version()),
            _ => None,
        }
    }

    fn span(&self) -> Option<Span> {
        self.about.action().and_then(Action::span)
    }

    fn name(&self) -> String {
        format!("actions.{}", self.about.key)
    }
}

/// The spec of an action with the defaults of its type, and the same with everything in it forced.
fn lazy_spec(ground: &Ground<'_>, action: &Action, bound: &Value) -> (Value, Value) {
    let (bound, defaults) = (bound.clone(), ground.defaults().clone());
    let spec = Spec { bound, type_name: action.type_name.clone(), kind: action.kind, span: action.span(), defaults };
    let spec = Lazy::value(spec);
    let row = spec_type(&action.type_name, action.kind).map(|known| known.row);
    let whole = Whole { spec: spec.clone(), span: action.span(), row, defaults: ground.defaults().clone() };
    (spec, Lazy::value(whole))
}

/// A spec with the defaults of its type.
struct Spec {
    bound: Value,
    type_name: EcoString,
    kind: ActionKind,
    span: Option<Span>,
    defaults: Arc<Defaults>,
}

impl Thunk for Spec {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let spec = eval.force(&self.bound);
        let Some(map) = spec.as_map() else { return spec };
        let Some(known) = spec_type(&self.type_name, self.kind) else { return spec };
        let defaults = self.defaults.of(known.row, eval.session);
        let mut completed = Map::with_capacity(map.len() + defaults.len());
        completed.extend(map.iter().map(|(key, value)| (key.clone(), value.clone())));
        for (key, value) in defaults.iter() {
            if !completed.contains_key(key) {
                completed.insert(key.clone(), value.clone());
            }
        }
        spec.with(Data::Map(Arc::new(completed)))
    }

    fn span(&self) -> Option<Span> {
        self.span
    }

    fn name(&self) -> String {
        "spec".into()
    }
}

/// A spec, completely forced and completed by its row; absent items are dropped.
struct Whole {
    spec: Value,
    span: Option<Span>,
    row: Option<Kind>,
    defaults: Arc<Defaults>,
}

impl Thunk for Whole {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let spec = without_gaps(&eval.force_deep(&self.spec));
        match self.row {
            Some(row) => {
                let completer = Completer { session: eval.session, defaults: &self.defaults };
                concealed::tainted(row, completer.entity(row, &spec))
            }
            None => spec,
        }
    }

    fn span(&self) -> Option<Span> {
        self.span
    }

    fn name(&self) -> String {
        "spec".into()
    }
}

/// A spec without the secrets that do not count in versions.
fn hidden_spec(action: &Action, spec: Value) -> Value {
    match spec_type(&action.type_name, action.kind) {
        Some(known) => concealed::counted(known.row, spec),
        None => spec,
    }
}

/// The outputs of an action.
struct Outputs(Arc<About>);

impl Thunk for Outputs {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let about = &self.0;
        let Some(action) = about.base.graph.actions.get(&about.key) else { return Value::poison() };
        let learned = about.base.learned.lock().unwrap_or_else(PoisonError::into_inner).get(&about.key).cloned();
        let known = learned.as_ref().or_else(|| about.base.outputs.get(about.key.as_str())).and_then(Value::as_map);
        if about.base.varying.has_outputs() {
            eval.vary();
        }
        if let Some(inner) = about.inner_outputs(action, known.is_some(), eval) {
            return match (inner, known) {
                (Ok(map), known) => over(map, known, eval.session),
                (Err(value), None) => value,
                (Err(_), known) => over(Map::new(), known, eval.session),
            };
        }
        let mut map = about.static_outputs(action, eval);
        if spec_type(&action.type_name, action.kind).is_some_and(|known| known.inside == Some(Inside::Objects)) {
            map.insert(MANIFESTS.into(), lazy_manifests(about));
        }
        match known {
            Some(known) => map.extend(known.iter().map(|(key, value)| (key.clone(), value.clone()))),
            None => {
                let what = ecow::eco_format!("actions.{}.outputs", about.key);
                map.insert(REST.into(), Value::pending(about.key.clone(), what));
            }
        }
        Value::map(map)
    }

    fn span(&self) -> Option<Span> {
        self.0.base.graph.actions.get(&self.0.key).and_then(|action| action.span())
    }

    fn name(&self) -> String {
        format!("actions.{}.outputs", self.0.key)
    }
}

/// Outputs overlaid with those of the action's run. Of nodes, a run keeps only their attributes.
fn over(mut map: Map, known: Option<&Map>, session: &Session) -> Value {
    for (key, value) in known.into_iter().flat_map(|known| known.iter()) {
        let value = match map.get(key) {
            Some(before) if key == NODES => merge_patch(before, value, session),
            _ => value.clone(),
        };
        map.insert(key.clone(), value);
    }
    Value::map(map)
}

/// The version of an action, resolved.
struct VersionText(Arc<About>);

impl Thunk for VersionText {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        self.0.version(eval)
    }

    fn span(&self) -> Option<Span> {
        self.0.base.graph.actions.get(&self.0.key).and_then(|action| action.span())
    }

    fn name(&self) -> String {
        format!("actions.{}.version", self.0.key)
    }
}

impl About {
    /// The action.
    pub(crate) fn action(&self) -> Option<&Action> {
        self.base.graph.actions.get(&self.key).map(|action| &**action)
    }

    /// Whether it is part of a cycle of actions, or depends on one.
    pub(crate) fn is_cyclic(&self) -> bool {
        self.base.graph.cyclic.contains(&self.key)
    }

    /// Scope of its templates.
    pub(crate) fn env(&self) -> &Arc<Env> {
        &self.env
    }

    /// The files of the project.
    pub(crate) fn files(&self) -> &FileTree {
        &self.base.files
    }

    /// Engines of projects of other dialects.
    pub(crate) fn engines(&self) -> Engines {
        self.base.engines
    }

    /// The result of the project inside, if it was resolved before.
    pub(crate) fn kept_inner(&self, eval: &mut Eval<'_>) -> Option<Arc<Inner>> {
        let kept = self.base.inner.lock().unwrap_or_else(PoisonError::into_inner).get(&self.key).cloned();
        let (inner, varies) = kept?;
        if varies {
            eval.vary();
        }
        Some(inner)
    }

    /// Whether rendered output is only checked and not shown.
    pub(crate) fn is_rehearsal(&self) -> bool {
        self.base.is_rehearsal
    }

    /// Whether charts come with the definitions of kinds they bring along.
    pub(crate) fn include_crds(&self) -> bool {
        self.base.include_crds
    }

    /// Properties of the project used in Kubernetes objects.
    pub(crate) fn owner(&self) -> &Owner {
        self.base.owner()
    }

    /// State shared by all actions.
    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// A folder of the project, from the root of the machine.
    pub(crate) fn full(&self, folder: &str) -> EcoString {
        self.base.full(folder)
    }

    /// The configuration of a provider, resolved; `None` if it is not configured.
    pub(crate) fn provider(&self, name: &str, eval: &mut Eval<'_>) -> Option<Value> {
        self.base.provider(name, eval)
    }

    /// Notes where a project inside is.
    pub(crate) fn take_in(&self, path: &str) {
        self.base.taken.lock().unwrap_or_else(PoisonError::into_inner).push((self.key.clone(), path.to_owned()));
    }

    /// Keeps the result of the project inside.
    pub(crate) fn keep_inner(&self, inner: Arc<Inner>, varies: bool) {
        self.base.inner.lock().unwrap_or_else(PoisonError::into_inner).insert(self.key.clone(), (inner, varies));
    }

    /// The values of a Build, once it exists.
    pub(crate) fn build(&self, name: &str, eval: &mut Eval<'_>) -> Option<Value> {
        if self.base.varying.has_action(&format!("{}.{name}", ActionKind::Build.lower())) {
            eval.vary();
        }
        let build = self.base.actions.upgrade()?.get()?.at("actions.build")?.get(name).cloned()?;
        Some(eval.force(&build))
    }

    /// The registry that images are pushed to before they are deployed, if a provider names one.
    pub(crate) fn deployment_registry(&self, eval: &mut Eval<'_>) -> Option<Value> {
        let provider = CLUSTER_PROVIDERS.iter().find_map(|name| self.provider(name, eval))?;
        let registry = provider.get("deploymentRegistry")?.clone();
        registry.get("hostname").is_some().then_some(registry)
    }

    /// The version over the resolved spec and the resolved versions of its dependencies.
    pub(crate) fn version(&self, eval: &mut Eval<'_>) -> Value {
        match self.base.resolved_version(eval, &self.key) {
            Ok(version) => Value::str(version.string.clone()),
            Err(value) => value,
        }
    }
}

impl Base {
    fn full(&self, folder: &str) -> EcoString {
        if folder == "." { self.full_root.as_str().into() } else { ecow::eco_format!("{}/{folder}", self.full_root) }
    }

    pub(crate) fn owner(&self) -> &Owner {
        &self.owner
    }

    pub(crate) fn provider(&self, name: &str, eval: &mut Eval<'_>) -> Option<Value> {
        if self.varying.has_providers() {
            eval.vary();
        }
        let layer = self.providers.upgrade()?.get().cloned()?;
        let provider = eval.force(layer.get("providers")?.get(name)?);
        Some(eval.force_deep(provider.get("config")?))
    }

    /// A spec with the additions that Garden's providers make before they hash it.
    fn implied_spec(&self, eval: &mut Eval<'_>, action: &Action, spec: Value) -> Value {
        let Some(map) = spec.as_map().filter(|_| action.kind == ActionKind::Deploy) else { return spec };
        let is_open = |value: Option<&Value>| value.is_none_or(Value::is_null);
        match action.type_name.as_str() {
            "terraform" if is_open(map.get("version")) => {
                let implied = self.provider("terraform", eval).and_then(|config| config.get("version").cloned());
                let Some(version) = implied.filter(|version| !version.is_null()) else { return spec };
                let mut map = map.clone();
                map.insert("version".into(), version);
                spec.with(map.into())
            }
            // Only modules are completed before they are hashed.
            "container" if action.module.is_some() => {
                let ingresses = map.get("ingresses").and_then(Value::as_list).unwrap_or(&[]);
                if !ingresses.iter().any(|ingress| is_open(ingress.get("hostname"))) {
                    return spec;
                }
                let Some(name) = self.cluster(eval).default_hostname() else { return spec };
                let named = |ingress: &Value| match ingress.as_map() {
                    Some(map) if is_open(map.get("hostname")) => {
                        let mut map = map.clone();
                        map.insert("hostname".into(), name.clone());
                        Value::map(map)
                    }
                    _ => ingress.clone(),
                };
                let mut map = map.clone();
                map.insert("ingresses".into(), Value::list(ingresses.iter().map(named).collect()));
                spec.with(map.into())
            }
            _ => spec,
        }
    }

    /// Builds work on a copy of their source, everything else on its Build's files or on the source itself.
    fn build_folder(&self, action: &Action) -> String {
        if action.kind == ActionKind::Build {
            let at_source = action.fields.get("buildAtSource").and_then(Value::as_bool).unwrap_or(false);
            return match at_source {
                true => action.source_folder.to_string(),
                false => path::join(&self.root, &format!(".garden/build/{}", action.name)),
            };
        }
        let build = action.text("build").and_then(|name| self.graph.actions.get(format!("build.{name}").as_str()));
        build.map_or_else(|| action.source_folder.to_string(), |build| self.build_folder(build))
    }

    fn source(&self, session: &Session, action: &Action) -> Arc<SourceVersion> {
        let key = source_key(action);
        if let Some(found) = self.sources.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return found.clone();
        }
        let owner = self.owners.get(&key).and_then(|owner| self.graph.actions.get(owner));
        let owner = owner.map_or(action, |owner| &**owner);
        let (include, exclude) = chosen_files(owner);
        let uncounted = owner.fields.get("version").and_then(|v| v.get("excludeFiles")).map(texts).unwrap_or_default();
        let scope = SourceScope {
            folder: &owner.source_folder,
            base: match &owner.checkout {
                Some(_) => path::parent(&owner.config.file),
                None => &owner.config.folder,
            },
            config_file: &owner.config.file,
            include: include.as_deref(),
            exclude: exclude.as_deref().unwrap_or(&[]),
            uncounted: &uncounted,
            remote: owner.checkout.as_deref().map(|checkout| (checkout, self.root.as_str())),
        };
        let found = Arc::new(source_version(session, &self.files, &scope));
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        found
    }

    /// Dependencies first; cycles were found before, so this terminates.
    fn written_version(&self, session: &Session, key: &str) -> Option<Arc<Version>> {
        let mut open: Vec<EcoString> = vec![key.into()];
        while let Some(next) = open.last().cloned() {
            if self.graph.cyclic.contains(&next) {
                return None;
            }
            let action = self.graph.actions.get(&next)?;
            let missing = counted_dependencies(&self.graph, action).into_iter();
            let missing: Vec<EcoString> = missing.filter(|key| self.known_version(key).is_none()).collect();
            if !missing.is_empty() {
                open.extend(missing);
                continue;
            }
            open.pop();
            if self.known_version(&next).is_none() {
                let version = self.compute_version(session, action)?;
                let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
                written.insert(next, Arc::new(version));
            }
        }
        self.known_version(key)
    }

    /// Dependencies first, as [`Self::written_version`] does; the stack keeps long chains off the machine's own.
    fn resolved_version(&self, eval: &mut Eval<'_>, key: &str) -> Computed {
        let mut open: Vec<EcoString> = vec![key.into()];
        while let Some(next) = open.last().cloned() {
            let Some(action) = self.graph.actions.get(&next).filter(|_| !self.graph.cyclic.contains(&next)) else {
                return Err(Value::poison());
            };
            let dependencies = counted_dependencies(&self.graph, action);
            let missing = dependencies.iter().filter(|key| self.computed(key).is_none()).cloned();
            let before = open.len();
            open.extend(missing);
            if open.len() > before {
                continue;
            }
            open.pop();
            if self.computed(&next).is_none() {
                let version = eval.watched(|eval| self.compute_resolved(eval, action, dependencies));
                self.resolved.lock().unwrap_or_else(PoisonError::into_inner).insert(next, version);
            }
        }
        self.read_version(eval, key)
    }

    fn computed(&self, key: &str) -> Option<(Computed, bool)> {
        self.resolved.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// A version that was computed.
    fn read_version(&self, eval: &mut Eval<'_>, key: &str) -> Computed {
        let Some((version, varies)) = self.computed(key) else { return Err(Value::poison()) };
        if varies {
            eval.vary();
        }
        version
    }

    fn compute_resolved(&self, eval: &mut Eval<'_>, action: &Action, dependencies: Vec<EcoString>) -> Computed {
        let module = action.module.as_ref().filter(|_| action.kind == ActionKind::Build);
        let mut versions = Vec::with_capacity(dependencies.len());
        // Which actions count may differ between environments, too.
        let needs = self.graph.needs(&action.key).iter().map(|need| &need.key);
        let varies = self.varying.is_watched() && needs.chain([&action.key]).any(|key| self.varying.has_action(key));
        if varies || self.exclusions_vary {
            eval.vary();
        }
        for key in dependencies {
            let version = self.read_version(eval, &key)?;
            versions.push((key, version.string.clone()));
        }
        let spec = self.specs.get().and_then(|specs| specs.get(&action.key)).map(|spec| eval.force(spec));
        let spec = spec.unwrap_or_else(Value::poison);
        if spec.any(Value::is_poison) {
            return Err(Value::poison());
        }
        if let Some(pending) = crate::expr::pending_in(&spec) {
            return Err(pending);
        }
        let spec = hidden_spec(action, self.implied_spec(eval, action, spec));
        let found = self.source(eval.session, action);
        let config = config_version(eval.session, action, &spec, &self.exclusions);
        let mut version = combine(
            config,
            found.hash.clone(),
            (found.files.clone(), found.blobs.clone()),
            versions,
            &listed_dependencies(action),
        );
        // The version of a Build made from a module is the module's version.
        if let Some(module) = module {
            version.string = module.version.clone();
        }
        Ok(Arc::new(version))
    }

    fn known_version(&self, key: &str) -> Option<Arc<Version>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn compute_version(&self, session: &Session, action: &Action) -> Option<Version> {
        let mut dependencies = Vec::new();
        for key in counted_dependencies(&self.graph, action) {
            let version = self.known_version(&key)?.string.clone();
            dependencies.push((key, version));
        }
        let found = self.source(session, action);
        let spec = hidden_spec(action, action.spec().written());
        let config = config_version(session, action, &spec, &self.exclusions);
        let mut version = combine(
            config,
            found.hash.clone(),
            (found.files.clone(), found.blobs.clone()),
            dependencies,
            &listed_dependencies(action),
        );
        // The version of a Build made from a module is the module's version.
        if let Some(module) = action.module.as_ref().filter(|_| action.kind == ActionKind::Build) {
            version.string = module.version.clone();
        }
        Some(version)
    }
}
