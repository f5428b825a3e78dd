//! Converts modules to actions: a Build for the module, a Deploy for each service, a Run for each task, a Test for each
//! test. What differs from type to type is a hook in [`TYPES`].

use super::kubernetes::{helm_actions, kubernetes_actions};
use super::{Converted, Module, item_name};
use crate::action::Origin;
use crate::bind::Env;
use crate::config::{ActionKind, ConfigKind};
use crate::draft::Draft;
use crate::expr;
use crate::ground::Ground;
use crate::place::Place;
use crate::render::Config;
use crate::rules;
use crate::templates::syntax_problem;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_value::{Eval, Map, Value, path};
use std::sync::Arc;

/// How modules of a type become actions.
type Convert = fn(&Names, &Module) -> Vec<(ActionKind, Config)>;

/// The types with a conversion of their own; all others are converted like `exec`.
const TYPES: &[(&str, Convert)] = &[
    ("exec", plain_actions),
    ("test", plain_actions),
    ("container", container_actions),
    ("kubernetes", kubernetes_actions),
    ("helm", helm_actions),
];

/// Which names are services, tasks and modules, for turning dependencies into references.
pub(super) struct Names {
    services: IndexMap<EcoString, EcoString>,
    tasks: IndexMap<EcoString, EcoString>,
    /// Modules by name, for base modules.
    pub modules: IndexMap<EcoString, Arc<Module>>,
}

/// Converts all modules.
pub fn convert(ground: &Ground<'_>, modules: &[Arc<Module>]) -> Vec<Converted> {
    let names = collect_names(ground, modules);
    let mut actions = Vec::new();
    for module in modules {
        let hook =
            TYPES.iter().find(|(name, _)| *name == module.config.type_name).map_or(plain_actions as Convert, |t| t.1);
        let origin = Arc::new(Origin {
            module: module.name().clone(),
            variables: module.variables(),
            varfile: module.text("varfile"),
            version: module.version.clone(),
            files: Some(module.files.clone()),
        });
        for (kind, config) in hook(&names, module) {
            actions.push(Converted { kind, config, origin: origin.clone() });
        }
    }
    actions
}

/// Services and tasks share one space of names.
fn collect_names(ground: &Ground<'_>, modules: &[Arc<Module>]) -> Names {
    let mut names = Names {
        services: IndexMap::new(),
        tasks: IndexMap::new(),
        modules: modules.iter().map(|module| (module.name().clone(), module.clone())).collect(),
    };
    for module in modules {
        let own = matches!(module.config.type_name.as_str(), "kubernetes" | "helm").then(|| module.name().clone());
        for (is_service, name) in module
            .names("services")
            .into_iter()
            .chain(own)
            .map(|n| (true, n))
            .chain(module.names("tasks").into_iter().map(|n| (false, n)))
        {
            let (word, same, other) = match is_service {
                true => ("service", &names.services, &names.tasks),
                false => ("task", &names.tasks, &names.services),
            };
            let clash = same
                .get(&name)
                .map(|m| (word, m))
                .or_else(|| other.get(&name).map(|m| (if is_service { "task" } else { "service" }, m)));
            if let Some((what, first)) = clash {
                let message = format!(
                    "the name `{name}` is used for a {word} in module `{}` and for a {what} in module `{first}`",
                    module.name()
                );
                ground.report(&rules::DUPLICATE, module.config.span, message);
            }
            let list = if is_service { &mut names.services } else { &mut names.tasks };
            list.entry(name).or_insert_with(|| module.name().clone());
        }
    }
    names
}

impl Names {
    /// Dependencies of a service, task or test as references to actions; unknown names are left out.
    pub(super) fn references(&self, item: &Draft) -> Vec<Draft> {
        let items = item.get("dependencies").map(|draft| draft.items()).unwrap_or_default();
        let reference = |item: &Draft| {
            let name = item.as_value()?.as_str()?;
            let kind = match (self.services.contains_key(name), self.tasks.contains_key(name)) {
                (true, _) => ActionKind::Deploy,
                (_, true) => ActionKind::Run,
                _ => return None,
            };
            Some(reference_to(kind, name, item))
        };
        items.iter().filter_map(reference).collect()
    }
}

/// A reference to an action that points to where its name is written.
fn reference_to(kind: ActionKind, name: &str, from: &Draft) -> Draft {
    let map = Map::from_iter([("kind".into(), Value::str(kind.name())), ("name".into(), Value::str(name))]);
    let origin = from.as_value().map_or(purlin_value::Origin::NONE, |value| value.origin);
    Draft::Value(Value::map(map).with_origin(origin))
}

/// Puts the configuration of an action together.
pub(super) fn action(
    module: &Module,
    type_name: &str,
    kind: ActionKind,
    name: EcoString,
    fields: Vec<(&str, Draft)>,
    spec: Vec<(&str, Draft)>,
) -> (ActionKind, Config) {
    let named = |entries: Vec<(&str, Draft)>| {
        entries.into_iter().map(|(key, draft)| (EcoString::from(key), draft)).collect::<Vec<_>>()
    };
    let mut body = named(fields);
    body.push(("variables".into(), module.variables().unwrap_or_else(Draft::empty_map)));
    body.push(("spec".into(), Draft::Map(named(spec))));
    let config = Config {
        kind: ConfigKind::Action(kind),
        type_name: type_name.into(),
        name,
        body: Draft::Map(body),
        file: module.config.file.clone(),
        folder: module.config.folder.clone(),
        span: module.config.span,
        rendered: module.config.rendered.clone(),
    };
    (kind, config)
}

fn value(value: impl Into<Value>) -> Draft {
    Draft::Value(value.into())
}

fn list_of(draft: Option<Draft>) -> Draft {
    draft.unwrap_or_else(|| Draft::List(Vec::new()))
}

/// The Build of a module.
pub(super) fn build_action(
    names: &Names,
    module: &Module,
    type_name: &str,
    spec: Vec<(&str, Draft)>,
) -> (ActionKind, Config) {
    let copies = module.dependencies.iter().flat_map(|dependency| {
        dependency.copy.iter().map(|(source, target)| {
            Draft::Map(vec![
                ("build".into(), Draft::text(dependency.name.clone())),
                ("sourcePath".into(), Draft::text(source.clone())),
                ("targetPath".into(), Draft::text(target.clone())),
            ])
        })
    });
    let timeout = module.field("build").and_then(|build| build.get("timeout")).unwrap_or_else(|| value(600));
    let mut fields = vec![
        ("copyFrom", Draft::List(copies.collect())),
        ("disabled", value(module.disabled)),
        ("dependencies", Draft::List(build_references(names, module))),
        ("timeout", timeout),
        ("buildAtSource", module.field("local").unwrap_or_else(|| value(false))),
    ];
    fields.extend(module.field("allowPublish").map(|draft| ("allowPublish", draft)));
    action(module, type_name, ActionKind::Build, module.name().clone(), fields, spec)
}

/// The Builds that a module's own Build needs.
///
/// A module that does not exist was reported; one that builds nothing has no Build to wait for.
pub(super) fn build_references(names: &Names, module: &Module) -> Vec<Draft> {
    let reference = |dependency: &super::BuildDependency| {
        reference_to(ActionKind::Build, &dependency.name, &Draft::text(dependency.name.clone()))
    };
    let builds = |name: &EcoString| names.modules.get(name).is_some_and(|other| makes_build(other));
    module.dependencies.iter().filter(|dependency| builds(&dependency.name)).map(reference).collect()
}

/// Whether a Build comes out of a module.
pub(super) fn makes_build(module: &Module) -> bool {
    match module.config.type_name.as_str() {
        "container" => {
            module.field("image").is_none() || module.field("dockerfile").is_some() || builds_something(module)
        }
        "kubernetes" | "helm" => {
            let copies = module.dependencies.iter().any(|dependency| !dependency.copy.is_empty());
            copies || !module.items("generateFiles").is_empty()
        }
        _ => true,
    }
}

/// What every service, task and test has: whether it is off, what it needs, how long it may take.
pub(super) fn runtime_fields(
    names: &Names,
    module: &Module,
    item: &Draft,
    has_build: bool,
    timeout: i64,
) -> Vec<(&'static str, Draft)> {
    let off = item.get("disabled").and_then(|d| d.as_value().and_then(Value::as_bool)).unwrap_or(false);
    let mut dependencies = names.references(item);
    let mut fields = vec![("disabled", value(module.disabled || off))];
    fields.extend(item.get("description").filter(|draft| !draft.is_null()).map(|draft| ("description", draft)));
    if has_build {
        fields.push(("build", Draft::text(module.name().clone())));
    } else {
        dependencies.extend(build_references(names, module));
    }
    fields.push(("dependencies", Draft::List(dependencies)));
    fields.push(("timeout", item.get("timeout").filter(|d| !d.is_null()).unwrap_or_else(|| value(timeout))));
    fields
}

/// The module's environment variables under the item's own.
fn environment(module: &Module, item: &Draft) -> Draft {
    let own = item.get("env").filter(|draft| !draft.is_null()).map(|draft| draft.entries()).unwrap_or_default();
    let shared = module.field("env").map(|draft| draft.entries()).unwrap_or_default();
    let kept = shared.into_iter().filter(|(key, _)| !own.iter().any(|(other, _)| other == key));
    Draft::Map(kept.chain(own.iter().cloned()).collect())
}

/// `exec`, and every type that is not known better.
fn plain_actions(names: &Names, module: &Module) -> Vec<(ActionKind, Config)> {
    let type_name = module.config.type_name.as_str();
    let build = module.field("build").unwrap_or_else(Draft::empty_map);
    let mut spec = vec![
        ("shell", value(true)),
        ("command", list_of(build.get("command"))),
        ("statusCommand", list_of(build.get("statusCommand"))),
    ];
    if type_name == "exec" {
        spec.push(("env", module.field("env").unwrap_or_else(Draft::empty_map)));
    }
    let mut actions = vec![build_action(names, module, type_name, spec)];
    let patience = if type_name == "exec" { 600 } else { 300 };
    for service in module.items("services") {
        let Some(name) = item_name(&service) else { continue };
        let fields = runtime_fields(names, module, &service, true, patience);
        actions.push(action(module, type_name, ActionKind::Deploy, name, fields, service_spec(module, &service)));
    }
    for (key, kind) in [("tasks", ActionKind::Run), ("tests", ActionKind::Test)] {
        for item in module.items(key) {
            let Some(name) = item_name(&item) else { continue };
            let name = if kind == ActionKind::Test { ecow::eco_format!("{}-{name}", module.name()) } else { name };
            let mut spec = vec![("shell", value(true)), ("command", list_of(item.get("command")))];
            spec.extend(item.get("statusCommand").map(|draft| ("statusCommand", draft)));
            spec.push(("artifacts", list_of(item.get("artifacts"))));
            spec.push(("env", environment(module, &item)));
            actions.push(action(module, type_name, kind, name, runtime_fields(names, module, &item, true, 600), spec));
        }
    }
    actions
}

/// A condition that conversions write for services with a sync mode.
const IN_SYNC_MODE: &str = "${this.mode == 'sync'}";

fn service_spec(module: &Module, service: &Draft) -> Vec<(&'static str, Draft)> {
    let given = |key: &str| service.get(key).filter(|draft| !draft.is_null());
    let sync = given("syncMode").or_else(|| given("devMode"));
    let mut spec = vec![("shell", value(true))];
    match &sync {
        Some(sync) => {
            let choice = |then: Option<Draft>, otherwise: Option<Draft>| {
                then.map(|then| Draft::Choice(IN_SYNC_MODE.into(), Box::new(then), otherwise.map(Box::new)))
            };
            let deploy = choice(sync.get("command"), given("deployCommand")).or_else(|| given("deployCommand"));
            let status = choice(sync.get("statusCommand"), given("statusCommand")).or_else(|| given("statusCommand"));
            spec.push(("persistent", Draft::Template(IN_SYNC_MODE.into())));
            spec.extend(deploy.map(|draft| ("deployCommand", draft)));
            spec.extend(status.map(|draft| ("statusCommand", draft)));
            spec.push(("statusTimeout", sync.get("timeout").unwrap_or_else(|| value(10))));
        }
        None => {
            spec.push(("persistent", value(false)));
            spec.extend(given("deployCommand").map(|draft| ("deployCommand", draft)));
            spec.extend(given("statusCommand").map(|draft| ("statusCommand", draft)));
            spec.push(("statusTimeout", value(10)));
        }
    }
    spec.extend(given("cleanupCommand").map(|draft| ("cleanupCommand", draft)));
    spec.push(("env", environment(module, service)));
    spec
}

/// Keys that a service, task or test of a container module hands to its action.
const CONTAINER_KEYS: &[&str] = &[
    "args",
    "command",
    "cpu",
    "memory",
    "volumes",
    "privileged",
    "addCapabilities",
    "dropCapabilities",
    "tty",
    "annotations",
    "daemon",
    "ingresses",
    "ports",
    "replicas",
    "healthCheck",
    "deploymentStrategy",
    "artifacts",
    "cacheResult",
];

fn container_actions(names: &Names, module: &Module) -> Vec<(ActionKind, Config)> {
    let mut actions = Vec::new();
    let has_build = makes_build(module);
    if has_build {
        let mut spec = vec![("buildArgs", module.field("buildArgs").unwrap_or_else(Draft::empty_map))];
        spec.extend(module.field("extraFlags").map(|draft| ("extraFlags", draft)));
        spec.push(("dockerfile", module.field("dockerfile").unwrap_or_else(|| Draft::text("Dockerfile"))));
        if let Some(image) = module.field("image") {
            spec.push(("localId", image.clone()));
            spec.push(("publishId", image));
        }
        let stage = module.field("build").and_then(|build| build.get("targetImage"));
        spec.extend(stage.map(|draft| ("targetStage", draft)));
        actions.push(build_action(names, module, "container", spec));
    }
    for (key, kind, patience) in
        [("services", ActionKind::Deploy, 300), ("tasks", ActionKind::Run, 600), ("tests", ActionKind::Test, 600)]
    {
        for item in module.items(key) {
            let Some(name) = item_name(&item) else { continue };
            let name = if kind == ActionKind::Test { ecow::eco_format!("{}-{name}", module.name()) } else { name };
            let mut spec: Vec<(&str, Draft)> = CONTAINER_KEYS
                .iter()
                .filter_map(|key| Some((*key, item.get(key).filter(|draft| !draft.is_null())?)))
                .collect();
            if !has_build {
                spec.extend(module.field("image").map(|draft| ("image", draft)));
            }
            spec.push(("env", environment(module, &item)));
            let fields = runtime_fields(names, module, &item, has_build, patience);
            actions.push(action(module, "container", kind, name, fields, spec));
        }
    }
    actions
}

/// Whether a container module with an image has something to build all the same: a Dockerfile or copied files.
fn builds_something(module: &Module) -> bool {
    let copies = module.dependencies.iter().any(|dependency| !dependency.copy.is_empty());
    let files = module
        .files
        .0
        .as_ref()
        .is_some_and(|files| files.iter().any(|file| file == "*" || file.ends_with("Dockerfile")));
    copies || files
}

/// The files that a Dockerfile copies, and itself; nothing if that cannot be told.
pub fn dockerfile_includes(ground: &Ground<'_>, module: &Module) -> Option<Vec<String>> {
    let name = module.text("dockerfile").unwrap_or_else(|| "Dockerfile".into());
    let bytes = ground.session.world.read(&path::join(&module.config.folder, &name)).ok()?;
    let mut includes = Vec::new();
    for line in String::from_utf8_lossy(&bytes).replace("\\\n", " ").lines() {
        let mut words = line.split_whitespace();
        let instruction = words.next().unwrap_or("").to_ascii_uppercase();
        if !matches!(instruction.as_str(), "ADD" | "COPY") {
            continue;
        }
        let words: Vec<&str> = words.collect();
        if words.iter().any(|word| word.starts_with("--from=")) {
            continue;
        }
        let paths: Vec<&str> = words.into_iter().filter(|word| !word.starts_with("--")).collect();
        let (_, sources) = paths.split_last()?;
        for source in sources {
            // A variable or the whole folder: everything may be meant.
            if source.contains('$') || matches!(*source, "." | "./" | "/") || source.starts_with('[') {
                return None;
            }
            if !source.contains("://") {
                includes.push(source.trim_start_matches("./").trim_start_matches('/').to_owned());
            }
        }
    }
    includes.push(name.to_string());
    Some(includes)
}

/// What `modules.NAME.outputs` holds.
pub fn module_outputs(module: &Module) -> Value {
    let mut map = Map::new();
    if module.config.type_name == "container" {
        let name = module.text("image").unwrap_or_else(|| module.name().clone());
        let id = ecow::eco_format!("{name}:{}", module.version);
        for key in ["local-image-name", "deployment-image-name"] {
            map.insert(key.into(), Value::str(name.clone()));
        }
        for key in ["local-image-id", "deployment-image-id"] {
            map.insert(key.into(), Value::str(id.clone()));
        }
    }
    Value::map(map)
}

/// Evaluates the files a module generates and keeps them for whoever reads them later in this run.
pub fn generate_files(ground: &Ground<'_>, env: &Arc<Env>, module: &Module) {
    for entry in module.config.body.get("generateFiles").map(|draft| draft.items()).unwrap_or_default() {
        let text = |key: &str| {
            let draft = entry.get(key)?.settle(ground.session, env);
            draft.as_value().and_then(Value::as_str).map(EcoString::from)
        };
        let Some(target) = text("targetPath") else { continue };
        let templated = entry.get("resolveTemplates").is_none_or(|draft| draft.written().as_bool() != Some(false));
        let content = match text("sourcePath") {
            Some(source) => {
                file_text(ground, env, &path::join(path::parent(&module.config.file), &source), templated, &entry)
            }
            None => text("value"),
        };
        if let Some(content) = content {
            let full = path::join(&module.config.folder, &target);
            if let Err(error) = ground.session.world.write(&full, content.as_bytes()) {
                ground.session.report_world(&error, &full, entry.span(ground.session));
            }
        }
    }
}

fn file_text(ground: &Ground<'_>, env: &Arc<Env>, file: &str, templated: bool, entry: &Draft) -> Option<EcoString> {
    let source = match ground.session.read_text(file) {
        Ok(source) => source,
        Err(diagnostic) => {
            ground.push(diagnostic, entry.span(ground.session));
            return None;
        }
    };
    if !templated || !expr::is_template(source.text()) {
        return Some(source.text().into());
    }
    let place = Place::Verbatim(source.span(0, source.text().len()));
    match expr::parse(source.text()) {
        Ok(template) => {
            let mut eval = Eval::new(ground.session);
            let value = expr::Evaluator { eval: &mut eval, env, place: &place, own: None }.run(&template);
            (!value.is_poison() && !value.is_pending()).then(|| expr::text_of(&value))
        }
        Err(problem) => {
            ground.session.sink.push(syntax_problem(&problem, &place));
            None
        }
    }
}
