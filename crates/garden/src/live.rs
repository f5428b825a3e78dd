//! Actions once the graph is there: their templates bound to everything that can be known, their outputs, and their
//! versions, each computed when it is first asked for.

use crate::action::Action;
use crate::bind::{Binder, Env};
use crate::config::ActionKind;
use crate::draft::without_gaps;
use crate::entities::spec_type;
use crate::expr::REST;
use crate::files::FileTree;
use crate::graph::Graph;
use crate::ground::{Defaults, Ground, KnownOutputs, fill};
use crate::phases::{Phases, Stage};
use crate::project::Project;
use crate::scan::texts;
use crate::vars::VarScope;
use crate::versions::{SourceScope, Version, combine, config_version, counted_dependencies, source_version};
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_syntax::Span;
use purlin_value::{Data, Eval, Lazy, Map, Session, Thunk, Value, path};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// One action, live.
pub struct LiveAction {
    /// What its templates see.
    pub env: Arc<Env>,
    /// All variables it sees.
    pub vars: VarScope,
    /// Its spec, lazy: completed with defaults, everything in it forced.
    pub whole: Value,
    /// Its outputs, lazy.
    pub outputs: Value,
}

/// The hash of an action's files, and which they are.
type SourceVersion = Arc<(EcoString, Vec<String>)>;

/// What versions and outputs are computed from.
struct Base {
    graph: Graph,
    files: Arc<FileTree>,
    root: String,
    full_root: String,
    exclusions: Vec<String>,
    outputs: KnownOutputs,
    /// What is asked of all actions; it owns what this is part of, so it is not owned here.
    actions: Weak<OnceLock<Value>>,
    sources: Mutex<HashMap<EcoString, SourceVersion>>,
    written: Mutex<HashMap<EcoString, Arc<Version>>>,
}

/// Everything that is asked about an action by others.
pub(crate) struct About {
    base: Arc<Base>,
    pub(crate) key: EcoString,
    pub(crate) spec: Value,
    whole: Value,
}

/// Binds all actions of a graph.
pub fn bind_actions(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    graph: Graph,
    files: Arc<FileTree>,
) -> Arc<LiveSet> {
    let exclusions = texts(&project.field(ground, "excludeValuesFromActionVersions", &project.full_scope()));
    let base = Arc::new(Base {
        graph,
        files,
        root: ground.root.clone(),
        full_root: ground.full_path(".").to_string(),
        exclusions,
        outputs: ground.outputs.clone(),
        actions: Arc::downgrade(phases.actions()),
        sources: Mutex::default(),
        written: Mutex::default(),
    });
    let mut actions = IndexMap::with_capacity(base.graph.actions.len());
    let mut by_kind: IndexMap<ActionKind, Map> = ActionKind::ALL.into_iter().map(|kind| (kind, Map::new())).collect();
    for action in base.graph.actions.values() {
        let (live, value) = bind_action(ground, project, phases, &base, action);
        actions.insert(action.key.clone(), Box::new(live));
        if let Some(map) = by_kind.get_mut(&action.kind) {
            map.insert(action.name.clone(), value);
        }
    }
    // What does not exist was reported; asking for it again says nothing new.
    for (kind, name) in &base.graph.missing {
        if let Some(map) = by_kind.get_mut(kind) {
            map.insert(name.clone(), Value::poison());
        }
    }
    let kind = |kind: ActionKind| Value::map(by_kind.get(&kind).cloned().unwrap_or_default());
    let all = ActionKind::ALL.into_iter().map(|k| (EcoString::from(k.lower()), kind(k))).collect();
    let runtime =
        Map::from_iter([("services".into(), kind(ActionKind::Deploy)), ("tasks".into(), kind(ActionKind::Run))]);
    let layer = Map::from_iter([("actions".into(), Value::map(all)), ("runtime".into(), Value::map(runtime))]);
    fill(phases.actions(), Value::map(layer));
    Arc::new(LiveSet { base, actions })
}

/// All actions with what they say of themselves.
pub struct LiveSet {
    base: Arc<Base>,
    /// The actions by key.
    pub actions: IndexMap<EcoString, Box<LiveAction>>,
}

impl LiveSet {
    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.base.graph
    }

    /// The version of an action as it is written, before anything is resolved. Nothing if it is part of a circle.
    pub fn written_version(&self, session: &Session, key: &str) -> Option<Arc<Version>> {
        self.base.written_version(session, key)
    }

    /// The folder an action works in.
    pub fn build_folder(&self, action: &Action) -> String {
        self.base.build_folder(action)
    }
}

fn bind_action(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    base: &Arc<Base>,
    action: &Action,
) -> (LiveAction, Value) {
    let mut known = Map::from_iter([
        ("name".into(), Value::str(action.name.clone())),
        ("disabled".into(), Value::from(action.disabled)),
        ("buildPath".into(), Value::str(base.full(&base.build_folder(action)))),
        ("sourcePath".into(), Value::str(base.full(&action.source_folder))),
        ("mode".into(), Value::str("default")),
    ]);
    let (env, vars) = action.own_scope().environment(ground, project, phases, known.clone(), Stage::Full);
    let bound = action.spec().bind(&mut Binder::new(&env));
    let defaults = ground.defaults().clone();
    let spec = Spec { bound, type_name: action.type_name.clone(), kind: action.kind, span: action.span(), defaults };
    let spec = Lazy::value(spec);
    let whole = Lazy::value(Whole { spec: spec.clone(), span: action.span() });
    let about = About { base: base.clone(), key: action.key.clone(), spec, whole: whole.clone() };
    let about = Arc::new(about);
    let outputs = Lazy::value(Outputs(about.clone()));
    known.insert("var".into(), vars.merged());
    known.insert("outputs".into(), outputs.clone());
    known.insert("version".into(), Lazy::value(VersionText(about)));
    (LiveAction { env, vars, whole, outputs }, Value::map(known))
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

/// A spec with everything in it forced; items that are nothing at all are dropped.
struct Whole {
    spec: Value,
    span: Option<Span>,
}

impl Thunk for Whole {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        without_gaps(&eval.force_deep(&self.spec))
    }

    fn span(&self) -> Option<Span> {
        self.span
    }

    fn name(&self) -> String {
        "spec".into()
    }
}

/// The outputs of an action.
struct Outputs(Arc<About>);

impl Thunk for Outputs {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let about = &self.0;
        let Some(action) = about.base.graph.actions.get(&about.key) else { return Value::poison() };
        let mut map = about.static_outputs(action, eval);
        match about.base.outputs.get(about.key.as_str()).and_then(Value::as_map) {
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
    /// What is asked of all actions, once it is there.
    pub(crate) fn actions(&self) -> Option<Value> {
        self.base.actions.upgrade()?.get().cloned()
    }

    /// The version over the resolved spec and the resolved versions of what it depends on.
    pub(crate) fn version(&self, eval: &mut Eval<'_>) -> Value {
        let Some(action) = self.base.graph.actions.get(&self.key) else { return Value::poison() };
        if self.base.graph.cyclic.contains(&self.key) {
            return Value::poison();
        }
        if let Some(module) = action.module.as_ref().filter(|_| action.kind == ActionKind::Build) {
            return Value::str(module.version.clone());
        }
        let spec = eval.force(&self.whole);
        if spec.any(Value::is_poison) {
            return Value::poison();
        }
        if let Some(pending) = crate::expr::pending_in(&spec) {
            return pending;
        }
        let mut versions = Vec::new();
        for key in counted_dependencies(&self.base.graph, action) {
            let Some(version) = self.base.written_version(eval.session, &key) else { return Value::poison() };
            versions.push((key, version.string.clone()));
        }
        let (source, files) = &*self.base.source(eval.session, action);
        let config = config_version(action, &spec, &self.base.exclusions);
        Value::str(combine(config, source.clone(), files.clone(), versions).string)
    }
}

impl Base {
    fn full(&self, folder: &str) -> EcoString {
        if folder == "." { self.full_root.as_str().into() } else { ecow::eco_format!("{}/{folder}", self.full_root) }
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

    fn source(&self, session: &Session, action: &Action) -> Arc<(EcoString, Vec<String>)> {
        let mut known = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&action.key) {
            return found.clone();
        }
        let module = action.module.as_ref().filter(|_| action.kind == ActionKind::Build);
        let (include, exclude) = match module.and_then(|module| module.files.clone()) {
            Some(files) => files,
            None => {
                (action.fields.get("include").map(texts), action.fields.get("exclude").map(texts).unwrap_or_default())
            }
        };
        let uncounted = action.fields.get("version").and_then(|v| v.get("excludeFiles")).map(texts).unwrap_or_default();
        let scope = SourceScope {
            folder: &action.source_folder,
            base: &action.config.folder,
            config_file: &action.config.file,
            include: include.as_deref(),
            exclude: &exclude,
            uncounted: &uncounted,
        };
        let found = source_version(session, &self.files, &scope);
        let found = Arc::new((found.hash, found.files));
        known.insert(action.key.clone(), found.clone());
        found
    }

    /// Dependencies first; circles were found before, so this ends.
    fn written_version(&self, session: &Session, key: &str) -> Option<Arc<Version>> {
        let mut open: Vec<EcoString> = vec![key.into()];
        while let Some(next) = open.last().cloned() {
            if self.graph.cyclic.contains(&next) {
                return None;
            }
            let action = self.graph.actions.get(&next)?;
            let missing: Vec<EcoString> = counted_dependencies(&self.graph, action)
                .into_iter()
                .filter(|key| self.known_version(key).is_none())
                .collect();
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

    fn known_version(&self, key: &str) -> Option<Arc<Version>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn compute_version(&self, session: &Session, action: &Action) -> Option<Version> {
        let mut dependencies = Vec::new();
        for key in counted_dependencies(&self.graph, action) {
            let version = self.known_version(&key)?.string.clone();
            dependencies.push((key, version));
        }
        let (source, files) = &*self.source(session, action);
        let config = config_version(action, &action.spec().written(), &self.exclusions);
        let mut version = combine(config, source.clone(), files.clone(), dependencies);
        // What others see of a Build made from a module is the module's version.
        if let Some(module) = action.module.as_ref().filter(|_| action.kind == ActionKind::Build) {
            version.string = module.version.clone();
        }
        Some(version)
    }
}
