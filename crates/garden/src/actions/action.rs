//! Actions before the graph: the fields every action has are evaluated, `spec` and `variables` stay as they are.

use crate::bind::{Binder, Env};
use crate::check::row;
use crate::config::{ActionKind, ConfigKind};
use crate::draft::{Draft, without_gaps};
use crate::graph::Links;
use crate::ground::{Ground, fill};
use crate::include;
use crate::phases::{Phases, Stage, env_at};
use crate::project::Project;
use crate::remote::{self, Checkout, Namer};
use crate::render::{Config, Rendered};
use crate::rules;
use crate::scopes::{Cell, Late};
use crate::shapes::check_fields;
use crate::vars::{Presence, VarFile, VarScope, VarSource, read_varfile};
use ecow::EcoString;
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span, suggest};
use purlin_value::emit::REDACTED;
use purlin_value::{Data, Eval, Map, MapLayer, Scope, Session, Value, path};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The module an action was made from.
#[derive(Debug)]
pub struct Origin {
    /// The module's name.
    pub module: EcoString,
    /// Its variables.
    pub variables: Option<Draft>,
    /// Its file of variables.
    pub varfile: Option<EcoString>,
    /// The version of the module, which its Build takes over.
    pub version: EcoString,
    /// The module's own choice of files, for its Build.
    pub files: Option<(Option<Vec<String>>, Vec<String>)>,
}

/// An action before its graph.
pub struct Action {
    /// `build.api`.
    pub key: EcoString,
    /// Its kind.
    pub kind: ActionKind,
    /// Its type.
    pub type_name: EcoString,
    /// Its name.
    pub name: EcoString,
    /// Its configuration.
    pub config: Config,
    /// The module it was made from.
    pub module: Option<Arc<Origin>>,
    /// Its fields but `spec` and `variables`, evaluated and completed with defaults.
    pub fields: Map,
    /// Whether it is disabled in this environment.
    pub disabled: bool,
    /// The folder its files are in.
    pub source_folder: EcoString,
    /// The repository that its files come from.
    pub checkout: Option<Box<Checkout>>,
    /// The files with its own variables.
    pub varfiles: Vec<VarSource>,
    /// Scope of templates that are evaluated before the graph exists; see [`Action::settle`].
    pre: Mutex<Option<Arc<Env>>>,
    /// References to other actions, computed on first use.
    pub links: OnceLock<Links>,
    /// Origins that decide which of several actions with this name is enabled.
    pub switches: Mutex<Vec<purlin_value::Origin>>,
    /// Problems of its fields.
    pub problems: Vec<Diagnostic>,
    /// Whether any of the above differs between environments, or has errors.
    varies: bool,
    /// Targets of its templates, kept as long as the action.
    cells: Mutex<Vec<Cell>>,
}

impl Action {
    /// Where to point for problems of the whole.
    pub fn span(&self) -> Option<Span> {
        self.config.span
    }

    /// Where its name comes from.
    pub fn name_origin(&self, session: &Session) -> purlin_value::Origin {
        let written = || self.span().map_or(purlin_value::Origin::NONE, |span| session.origins.file(span));
        if self.config.named.is_known() { self.config.named } else { written() }
    }

    /// Records another action of the same name, so that both decide which of them is enabled.
    pub fn add_rival(&self, other: &Action) {
        let of = |action: &Action, key: &str| action.fields.get(key).map(|value| value.origin);
        let found = [self, other].into_iter().flat_map(|one| [of(one, "disabled"), of(one, "environments")]);
        let mut switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner);
        for switch in found.flatten() {
            // Environments may share an action.
            if !switches.contains(&switch) {
                switches.push(switch);
            }
        }
    }

    /// The origin of everything it is resolved to: unknown, unless others have its name.
    pub fn origin(&self, session: &Session) -> purlin_value::Origin {
        let switches = self.switches.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if switches.is_empty() {
            return purlin_value::Origin::NONE;
        }
        let step = format!("another action is called `{}`", self.key);
        session.origins.selected(purlin_value::Origin::NONE, step, None, switches)
    }

    /// Where its type is written.
    pub fn type_origin(&self) -> purlin_value::Origin {
        match self.config.body.get("type") {
            Some(Draft::Node(node)) => node.get().map_or(purlin_value::Origin::NONE, purlin_value::Origin::node),
            Some(Draft::Value(value)) => value.origin,
            _ => purlin_value::Origin::NONE,
        }
    }

    /// Scope of templates that are evaluated before the graph exists, unless the action is settled.
    pub fn before_graph(&self) -> Option<Arc<Env>> {
        self.pre.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Releases what only served to find the graph. Others of the same name, and a change of its file, would need it.
    pub(crate) fn settle(&self) {
        self.pre.lock().unwrap_or_else(PoisonError::into_inner).take();
        std::mem::take(&mut *self.cells.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether it differs between environments that are resolved together, before anything in its spec is evaluated.
    /// Actions made from modules are always rebuilt.
    pub fn varies(&self) -> bool {
        self.varies || self.module.is_some() || self.links.get().is_some_and(|links| links.varies)
    }

    /// Fields shown for it, without those its node already has, and with room for those that are evaluated later.
    pub fn shown_fields(&self) -> Map {
        let is_shown = |key: &EcoString| !matches!(key.as_str(), "kind" | "type" | "name" | "apiVersion");
        let fields = || self.fields.iter().filter(|(key, _)| is_shown(key));
        let mut shown = Map::with_capacity(fields().count() + LATE_FIELDS.len());
        shown.extend(fields().map(|(key, value)| (key.clone(), value.clone())));
        shown
    }

    /// A field as text.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.fields.get(key).and_then(Value::as_str)
    }

    /// The spec as written.
    pub fn spec(&self) -> Draft {
        self.config.field("spec").unwrap_or_else(Draft::empty_map)
    }

    /// Its variables, as they are written.
    pub fn variables(&self) -> Option<Draft> {
        self.config.field("variables")
    }

    /// The use of a template that made it.
    pub fn rendered(&self) -> Option<&Arc<Rendered>> {
        self.config.rendered.as_ref()
    }

    /// Its additions to the scope of its templates.
    pub(crate) fn own_scope(&self) -> OwnScope<'_> {
        OwnScope { config: &self.config, module: self.module.as_deref(), varfiles: &self.varfiles }
    }
}

/// Additions of an action to the scope of its templates.
pub struct OwnScope<'a> {
    config: &'a Config,
    module: Option<&'a Origin>,
    varfiles: &'a [VarSource],
}

impl OwnScope<'_> {
    /// The environment of the fields that every action has. Variables and inputs have their values from before the
    /// graph.
    fn fields(&self, ground: &Ground<'_>, project: &Project, phases: &Phases, this: Map, vars: &VarScope) -> Arc<Env> {
        let mut base = phases.field_base().clone();
        if let Some(rendered) = &self.config.rendered {
            let inputs = env_at(ground, project.vars.over(phases.action_base(Stage::PreGraph)), Stage::PreGraph);
            base = base.push(rendered.layer(ground, &inputs));
        }
        let this = Map::from_iter([("this".into(), Value::map(this))]);
        env_at(ground, vars.over(&base.push(MapLayer::new("this", Value::map(this)))), Stage::PreGraph)
    }

    /// The environment of its templates before the graph exists, and its variables.
    fn before_graph(&self, ground: &Ground<'_>, project: &Project, phases: &Phases, this: Map) -> (Arc<Env>, VarScope) {
        let (env, vars, own) = self.environment(ground, project, phases, Stage::PreGraph, None);
        fill(&own, Value::map(Map::from_iter([("this".into(), Value::map(this))])));
        (env, vars)
    }

    /// The environment of its templates at a stage, its variables, and the cell of `this`, which is still to be filled.
    /// Variables that were bound `before` to another scope are not read again.
    pub fn environment(
        &self,
        ground: &Ground<'_>,
        project: &Project,
        phases: &Phases,
        stage: Stage,
        before: Option<&VarScope>,
    ) -> (Arc<Env>, VarScope, Cell) {
        let mut base = phases.action_base(stage).clone();
        if let Some(rendered) = &self.config.rendered {
            // Inputs see the project's variables and other actions, but not the action's own.
            let inputs = env_at(ground, project.vars.over(&base), stage);
            base = base.push(rendered.layer(ground, &inputs));
        }
        let own = ground.cell();
        let base = base.push(Late::new("this", &own));
        let vars = self.variables(ground, project, &base, stage, before);
        (env_at(ground, vars.over(&base), stage), vars, own)
    }

    fn variables(
        &self,
        ground: &Ground<'_>,
        project: &Project,
        base: &Scope,
        stage: Stage,
        before: Option<&VarScope>,
    ) -> VarScope {
        let pre_graph = stage == Stage::PreGraph;
        let mut vars = project.vars.below();
        if let Some(again) = before.and_then(|before| vars.with_layers_of(before, ground, base, pre_graph)) {
            return again;
        }
        if let Some(module) = self.module {
            if let Some(variables) = &module.variables {
                vars = vars.with(ground, base, &VarSource::Draft(variables.clone()), pre_graph);
            }
            let file = module.varfile.as_ref();
            let source = file.and_then(|name| {
                let file = VarFile { name, presence: Presence::Required, place: None, secret: false };
                read_varfile(ground, &self.config.folder, &file)
            });
            if let Some(source) = source {
                vars = vars.with(ground, base, &source, pre_graph);
            }
        }
        // The variables of an action made from a module are the module's own.
        let own = self.config.field("variables").filter(|_| self.module.is_none());
        if let Some(variables) = own {
            vars = vars.with(ground, base, &VarSource::Draft(variables), pre_graph);
        }
        for source in self.varfiles {
            vars = vars.with(ground, base, source, pre_graph);
        }
        vars
    }
}

/// Room for the fields of an ordinary action with its defaults.
const FIELDS: usize = 14;

/// Fields that are not evaluated before the graph exists.
const LATE_FIELDS: &[&str] = &["spec", "variables"];

/// Fields with names of actions, shown wherever the graph is shown.
const NAMING_FIELDS: &[&str] = &["dependencies", "build", "copyFrom"];

/// Evaluates the fields of an action.
pub fn preprocess(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    kind: ActionKind,
    config: Config,
    module: Option<Arc<Origin>>,
) -> Arc<Action> {
    let (problems, cells) = (ground.session.sink.len(), ground.cells());
    let (mut action, varies) = ground.watched(|| evaluated(ground, project, phases, kind, config, module));
    action.varies = varies || action.config.varies || action.fields.contains_key("environments");
    action.problems = ground.session.sink.since(problems);
    action.cells = Mutex::new(ground.take_cells(cells));
    Arc::new(action)
}

/// The mode of an action, which the options of a command decide.
pub(crate) fn mode(session: &Session) -> Value {
    Value::str("default").with_origin(session.origins.outside("the mode of this command"))
}

fn evaluated(
    ground: &Ground<'_>,
    project: &Project,
    phases: &Phases,
    kind: ActionKind,
    config: Config,
    module: Option<Arc<Origin>>,
) -> Action {
    let mode = mode(ground.session);
    let this = || Map::from_iter([("name".into(), Value::str(config.name.clone())), ("mode".into(), mode.clone())]);
    let own = OwnScope { config: &config, module: module.as_deref(), varfiles: &[] };
    let before_files = || {
        let (first, vars) = own.before_graph(ground, project, phases, this());
        let varfiles = read_varfiles(ground, &config, &own.fields(ground, project, phases, this(), &vars));
        (first, vars, varfiles)
    };
    // With files of variables, names have a meaning only in their scope.
    let (first, vars, varfiles) = match &ground.noted {
        Some(noted) if config.field("varfiles").is_some() => noted.without(before_files),
        _ => before_files(),
    };
    let own = OwnScope { config: &config, module: module.as_deref(), varfiles: &varfiles };
    let (pre, vars) = match varfiles.is_empty() {
        true => (first, vars),
        false => own.before_graph(ground, project, phases, this()),
    };
    let env = own.fields(ground, project, phases, this(), &vars);
    let mut fields = evaluate_fields(ground, &config, &env);
    if let (Draft::Node(written), None) = (&config.body, &module) {
        check_fields(ground.session, row(ConfigKind::Action(kind)), &fields, written);
        if let Some(names) = written.get().and_then(|node| crate::bind::entry(node, "environments")) {
            crate::project::report_unknown_names(ground, project, names);
        }
    }
    complete(ground, project, kind, &config, &mut fields, &env);
    fields.shrink_to_fit();
    let environments = fields.get("environments").map(crate::scan::texts);
    let here = environments.is_none_or(|names| names.iter().any(|name| *name == project.environment));
    // If `disabled` failed, that is already reported, and its other problems are not.
    let is_off = |value: &Value| value.is_poison() || value.as_bool() == Some(true);
    let disabled = fields.get("disabled").is_some_and(is_off) || !here;
    let (source_folder, checkout) = source_folder(ground, (kind, &config), module.as_deref(), &fields);
    let type_name = config.type_name.clone();
    Action {
        key: ecow::eco_format!("{}.{}", kind.lower(), config.name),
        kind,
        type_name,
        name: config.name.clone(),
        module,
        fields,
        disabled,
        source_folder,
        checkout: checkout.map(Box::new),
        varfiles,
        pre: Mutex::new(Some(pre)),
        config,
        links: OnceLock::new(),
        switches: Mutex::default(),
        problems: Vec::new(),
        varies: false,
        cells: Mutex::default(),
    }
}

/// Reads the files with an action's own variables.
fn read_varfiles(ground: &Ground<'_>, config: &Config, env: &Arc<Env>) -> Vec<VarSource> {
    let Some(draft) = config.field("varfiles") else { return Vec::new() };
    let bound = draft.bind(&mut Binder::new(env));
    let mut eval = Eval::new(ground.session);
    let list = eval.force_deep(&bound);
    ground.note(&eval);
    let mut sources = Vec::new();
    for item in list.as_list().unwrap_or(&[]) {
        let path = item.as_str().or_else(|| item.get("path").and_then(Value::as_str));
        let optional = item.get("optional").and_then(Value::as_bool).unwrap_or(false);
        let presence = if optional { Presence::Optional } else { Presence::Required };
        if let Some(path) = path {
            let secret = item.is_tainted_deep();
            let file = VarFile { name: path, presence, place: ground.span_of(item), secret };
            sources.extend(read_varfile(ground, &config.folder, &file));
        }
    }
    sources
}

fn evaluate_fields(ground: &Ground<'_>, config: &Config, env: &Arc<Env>) -> Map {
    let mut binder = Binder::new(env);
    let mut eval = Eval::new(ground.session);
    let mut fields = Map::with_capacity(FIELDS);
    for (key, draft) in config.body.entries() {
        if LATE_FIELDS.contains(&key.as_str()) || key == "path" && config.rendered.is_some() {
            continue;
        }
        let bound = draft.bind(&mut binder);
        let value = without_gaps(&eval.force_deep(&bound));
        if value.is_absent() || (value.is_null() && key != "description") {
            continue;
        }
        if NAMING_FIELDS.contains(&key.as_str()) && value.is_tainted_deep() {
            ground.report_secret_name(&key, draft.span(ground.session));
            continue;
        }
        if let Some(pending) = first_pending(&value) {
            let message = format!("`{key}` must be known before anything runs, and waits for `{pending}`");
            let message = Message::advising(message, "use variables or inputs instead of outputs of actions");
            ground.report(&rules::TOO_LATE, draft.span(ground.session), message);
            continue;
        }
        fields.insert(key, value);
    }
    ground.note(&eval);
    fields
}

fn first_pending(value: &Value) -> Option<EcoString> {
    let mut stack = vec![value];
    while let Some(value) = stack.pop() {
        match &value.data {
            Data::Pending(pending) => return Some(pending.what.clone()),
            Data::List(list) => stack.extend(list.iter().rev()),
            Data::Map(map) => stack.extend(map.values().rev()),
            _ => {}
        }
    }
    None
}

/// Normalises notations and adds defaults.
fn complete(
    ground: &Ground<'_>,
    project: &Project,
    kind: ActionKind,
    config: &Config,
    fields: &mut Map,
    env: &Arc<Env>,
) {
    fields.insert("kind".into(), Value::str(kind.name()));
    fields.insert("type".into(), Value::str(config.type_name.clone()));
    fields.insert("name".into(), Value::str(config.name.clone()));
    fields.entry("apiVersion".into()).or_insert_with(|| Value::str("garden.io/v0"));
    if let Some(list) = fields.get("dependencies").cloned() {
        let normal = dependency_list(ground, &list);
        fields.insert("dependencies".into(), normal);
    }
    if let Some(version) = fields.get("version").and_then(Value::as_map).cloned() {
        let normal = version_field(ground, version);
        fields.insert("version".into(), normal);
    }
    if let Some(copies) = fields.get("copyFrom").and_then(Value::as_list).map(<[Value]>::to_vec) {
        fields.insert("copyFrom".into(), Value::list(copies.iter().map(copy_from).collect()));
    }
    include::imply(ground, project, kind, config, fields, env);
    for key in ["include", "exclude"] {
        if let Some(list) = fields.get(key).and_then(Value::as_list).map(<[Value]>::to_vec) {
            fields.insert(key.into(), Value::list(sorted_texts(list)));
        }
    }
    for (key, value) in ground.defaults().of(row(ConfigKind::Action(kind)), ground.session).iter() {
        if !LATE_FIELDS.contains(&key.as_str()) && !fields.contains_key(key) {
            fields.insert(key.clone(), value.clone());
        }
    }
}

fn sorted_texts(mut list: Vec<Value>) -> Vec<Value> {
    list.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    list
}

/// Dependencies as maps of `kind` and `name`; items that are null are left out.
fn dependency_list(ground: &Ground<'_>, list: &Value) -> Value {
    let Some(items) = list.as_list() else {
        if !list.is_poison() {
            // A value of another type was reported with the other shapes.
            let span = ground.span_of(list);
            if !span.is_some_and(|span| ground.session.sink.has_at(&purlin_model::rules::WRONG_SHAPE, span)) {
                let message = what::expected("a list", list.kind_name()).under("`dependencies`: ");
                ground.report(&rules::DEPENDENCY, span, message);
            }
        }
        return Value::list(Vec::new());
    };
    let normal = items.iter().filter(|item| !item.is_null()).filter_map(|item| dependency(ground, item));
    list.clone().with(normal.collect::<Vec<_>>().into())
}

fn dependency(ground: &Ground<'_>, item: &Value) -> Option<Value> {
    let is_reported = |span| ground.session.sink.has_at(&purlin_model::rules::WRONG_SHAPE, span);
    if item.is_poison() || (item.as_list().is_some() && ground.span_of(item).is_some_and(is_reported)) {
        return None;
    }
    let parts = match item.as_str() {
        Some(text) => text.split_once('.').map(|(kind, name)| (kind.to_owned(), name.to_owned())),
        None => {
            let text = |key: &str| item.get(key).and_then(Value::as_str).map(str::to_owned);
            text("kind").zip(text("name"))
        }
    };
    let known =
        parts.and_then(|(kind, name)| Some((ActionKind::named(&kind)?, name))).filter(|(_, name)| !name.is_empty());
    let Some((kind, name)) = known else {
        let written = item.get("kind").filter(|kind| !kind.is_tainted());
        if let Some((value, text)) = written.and_then(|kind| Some((kind, kind.as_str()?)))
            && ActionKind::named(text).is_none()
        {
            let hint = suggest::did_you_mean(text, ["Build", "Deploy", "Run", "Test"]);
            let hint = hint.unwrap_or_else(|| "use `Build`, `Deploy`, `Run` or `Test`".into());
            let diagnostic = Diagnostic::nowhere(&rules::DEPENDENCY, what::unknown("kind of action", text));
            ground.push(diagnostic.hint(hint), ground.span_of(value));
            return None;
        }
        let shown = if item.is_tainted_deep() { REDACTED.into() } else { crate::expr::text_of(item) };
        let diagnostic = Diagnostic::nowhere(&rules::DEPENDENCY, format!("`{shown}` does not name an action"));
        ground.push(
            diagnostic.hint("write it as `build.api`, with one of build, deploy, run and test"),
            ground.span_of(item),
        );
        return None;
    };
    let map = Map::from_iter([("kind".into(), Value::str(kind.name())), ("name".into(), Value::str(name))]);
    Some(item.clone().with(map.into()))
}

fn version_field(ground: &Ground<'_>, mut version: Map) -> Value {
    if let Some(list) = version.get("excludeDependencies").cloned() {
        let normal = dependency_list(ground, &list);
        version.insert("excludeDependencies".into(), normal);
    }
    for key in ["excludeFiles", "excludeValues"] {
        version.entry(key.into()).or_insert_with(|| Value::list(Vec::new()));
    }
    Value::map(version)
}

fn copy_from(copy: &Value) -> Value {
    let mut map = copy.as_map().cloned().unwrap_or_default();
    if let Some(source) = map.get("sourcePath").cloned() {
        map.entry("targetPath".into()).or_insert(source);
    }
    copy.clone().with(map.into())
}

/// The folder of an action's files, which must lie in the project, and the repository that it is in.
fn source_folder(
    ground: &Ground<'_>,
    (kind, config): (ActionKind, &Config),
    module: Option<&Origin>,
    fields: &Map,
) -> (EcoString, Option<Checkout>) {
    let here = || (config.folder.clone(), ground.source_of(&config.folder));
    let Some(source) = fields.get("source") else { return here() };
    let repository = source.get("repository").and_then(|r| r.get("url")).filter(|url| url.as_str().is_some());
    let (base, checkout) = match repository {
        Some(url) => match fetched(ground, (kind, config), module, url) {
            // The folder of a module's action is that of its module, which is in the repository already.
            Some(checkout) if module.is_some() => (config.folder.clone(), Some(checkout)),
            Some(checkout) => (EcoString::from(checkout.folder.as_str()), Some(checkout)),
            None => return here(),
        },
        None => here(),
    };
    let Some(relative) = source.get("path") else { return (base, checkout) };
    let folder = path::join(&base, relative.as_str().unwrap_or("."));
    let inside = path::relative(&ground.root, &folder);
    if repository.is_none() && (path::escapes(&inside) || path::is_absolute(relative.as_str().unwrap_or("."))) {
        let target = if relative.is_tainted() { REDACTED } else { inside.as_str() };
        let message = format!("`source.path` leads out of the project, to `{target}`");
        ground.report(&rules::OUTSIDE_PROJECT, ground.span_of(relative), message);
        return here();
    }
    if repository.is_none() && !relative.is_tainted() {
        report_missing_source(ground, relative, &folder);
    }
    (folder.into(), checkout)
}

/// The repository of an action. That of a module's action is cloned for the module.
fn fetched(
    ground: &Ground<'_>,
    (kind, config): (ActionKind, &Config),
    module: Option<&Origin>,
    url: &Value,
) -> Option<Checkout> {
    if let Some(module) = module {
        return remote::fetch(ground, url, Namer::Module(&module.module));
    }
    let key = ecow::eco_format!("{}.{}", kind.lower(), config.name);
    remote::fetch(ground, url, Namer::Action(&key))
}

/// A folder that does not exist has no files, which Garden takes without a word.
fn report_missing_source(ground: &Ground<'_>, relative: &Value, folder: &str) {
    let world = ground.session.world.as_ref();
    let full = ground.full_path(folder);
    let Some(text) = relative.as_str().filter(|text| !text.is_empty() && !world.exists(&full)) else { return };
    let beside = ground.session.listed(path::parent(&full));
    let name = path::file_name(folder);
    let near = suggest::nearest(name, beside.names());
    let hint = match near.zip(text.trim_end_matches('/').strip_suffix(name)) {
        Some((near, front)) => Hint::meant(text, format!("{front}{near}")),
        None => "correct the path; it starts at the folder of this file".into(),
    };
    let diagnostic = Diagnostic::nowhere(&rules::INNER, format!("the folder `{text}` does not exist"));
    ground.push(diagnostic.warning().hint(hint), ground.span_of(relative));
}
