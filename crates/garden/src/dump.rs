//! The whole configuration in the form of Garden's `get config`, which scripts read: providers with what they depend
//! on, variables, actions and modules with the defaults of their rows, workflows.
//!
//! Nothing is run for it: a provider is `ready` if all its outputs follow from its configuration.

use crate::action::Action;
use crate::complete::Completer;
use crate::config::ActionKind;
use crate::draft::Draft;
use crate::entities::{MODULE_TYPES, PROVIDER, PROVIDERS, WORKFLOW, module_row};
use crate::modules::{COMMON_KEYS, Module};
use crate::render::Config;
use crate::resolve::Resolution;
use ecow::EcoString;
use purlin_model::schema::Kind;
use purlin_value::{Eval, FastIndex, Map, Value};

/// Where Garden's own service is, unless the project names another.
const DOMAIN: &str = "https://app.garden.io";

/// Selection of the output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    /// Whether configurations are shown as they are written.
    pub partial: bool,
    /// Whether actions and modules that are switched off are left out.
    pub enabled_only: bool,
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

fn empty_list() -> Value {
    Value::list(Vec::new())
}

/// The whole configuration.
pub fn config(resolution: &Resolution<'_>, shown: Shown) -> Value {
    let project = &resolution.project;
    let names = project.environments.iter().map(|name| Value::str(name.clone()));
    let or_empty = |key: &str| {
        let found = project.field(&resolution.ground, key, &project.full_scope());
        if found.is_null() { empty_list() } else { found }
    };
    let domain = project.document.plain("domain").unwrap_or_else(|| DOMAIN.to_owned());
    let deploy = [("name", "deploy"), ("description", "Deploy the whole project"), ("gardenCommand", "deploy")];
    let plugins = resolution.making.providers.with_needs().map(|(name, _)| Value::str(name.clone()));
    map([
        ("environmentName", Value::str(project.environment.clone())),
        ("allAvailablePlugins", Value::list(plugins.collect())),
        ("allEnvironmentNames", Value::list(names.collect())),
        ("namespace", Value::str(project.namespace.clone())),
        ("providers", if shown.partial { written_providers(resolution) } else { providers(resolution) }),
        ("variables", with_dotted(resolution, resolution.variables())),
        ("actionConfigs", actions(resolution, shown)),
        ("moduleConfigs", modules(resolution, shown)),
        ("workflowConfigs", workflow_configs(resolution, shown)),
        ("projectName", Value::str(project.name.clone())),
        ("projectRoot", Value::str(root(resolution))),
        ("domain", Value::str(domain)),
        ("sources", or_empty("sources")),
        ("suggestedCommands", Value::list(vec![map(deploy.map(|(key, text)| (key, Value::str(text))))])),
        ("importVariables", or_empty("importVariables")),
    ])
}

fn root(resolution: &Resolution<'_>) -> EcoString {
    resolution.ground.full_path(&resolution.ground.root)
}

/// Variables with those that the command line sets by a path, which Garden also shows under the whole path.
fn with_dotted(resolution: &Resolution<'_>, variables: Value) -> Value {
    let Some(mut map) = variables.as_map().cloned() else { return variables };
    for (name, text) in resolution.ground.request.vars.iter().filter(|(name, _)| name.contains('.')) {
        map.entry(name.as_str().into()).or_insert_with(|| Value::str(text.as_str()));
    }
    variables.with(map.into())
}

/// A value with the defaults of a row, and those of nested defaults.
fn completed(resolution: &Resolution<'_>, row: Kind, value: &Value) -> Value {
    let completer = Completer { session: resolution.ground.session, defaults: resolution.ground.defaults() };
    completer.entity(row, &completer.entity(row, value))
}

/// Providers that every project has.
const FIXED_PROVIDERS: &[&str] = &["exec", "container", "templated"];

/// The configurations of providers as they are written for the environment, by the name of the provider.
fn written_providers(resolution: &Resolution<'_>) -> Value {
    let project = &resolution.project;
    let fixed = FIXED_PROVIDERS.iter().map(|name| map([("name", Value::str(*name))]));
    let listed = project.document.field("providers").map(|node| Draft::Node(node).written());
    let listed = listed.as_ref().and_then(Value::as_list).unwrap_or(&[]);
    let is_here = |provider: &&Value| {
        let environments = provider.get("environments").and_then(Value::as_list).unwrap_or(&[]);
        environments.is_empty() || environments.iter().any(|name| name.as_str() == Some(project.environment.as_str()))
    };
    let mut groups: FastIndex<EcoString, Vec<Value>> = FastIndex::default();
    for provider in fixed.chain(listed.iter().filter(is_here).cloned()) {
        let name = provider.get("name").and_then(Value::as_str).unwrap_or_default();
        groups.entry(name.into()).or_default().push(provider);
    }
    Value::list(groups.into_values().map(Value::list).collect())
}

/// The providers, each with those it depends on inside.
fn providers(resolution: &Resolution<'_>) -> Value {
    let Some(layer) = resolution.phases.providers().get() else { return empty_list() };
    let forced = Eval::new(resolution.ground.session).force_deep(layer);
    let Some(all) = forced.get("providers").and_then(Value::as_map) else { return empty_list() };
    let needs: Vec<(&EcoString, &[EcoString])> = resolution.making.providers.with_needs().collect();
    let mut done = Map::new();
    // A provider is complete once its dependencies are; cycles were reported.
    while let Some((name, needed)) = needs.iter().find(|(name, needed)| {
        !done.contains_key(*name) && needed.iter().all(|need| done.contains_key(need) || need == *name)
    }) {
        let needed = needed.iter().filter_map(|need| Some((need.clone(), done.get(need)?.clone()))).collect();
        let Some(found) = all.get(*name) else { break };
        done.insert((*name).clone(), provider(resolution, name, found, Value::map(needed)));
    }
    Value::list(needs.iter().filter_map(|(name, _)| done.get(*name).cloned()).collect())
}

fn provider(resolution: &Resolution<'_>, name: &EcoString, found: &Value, dependencies: Value) -> Value {
    let outputs = found.get("outputs").cloned().unwrap_or_else(|| Value::map(Map::new()));
    let is_known = crate::expr::pending_in(&outputs).is_none();
    let config = found.get("config").cloned().unwrap_or_else(Value::null);
    map([
        ("name", Value::str(name.clone())),
        ("dependencies", dependencies),
        ("moduleConfigs", empty_list()),
        ("config", provider_config(resolution, name, &config, &outputs)),
        ("state", Value::str(if is_known { "ready" } else { "unknown" })),
        ("status", map([("ready", Value::from(is_known)), ("outputs", outputs.clone())])),
        ("dashboardPages", empty_list()),
        ("outputs", outputs),
    ])
}

/// Clusters on this machine by the names of their contexts; all others are `generic`.
const CLUSTER_TYPES: &[(&str, &str)] =
    &[("kind-", "kind"), ("minikube", "minikube"), ("microk8s", "microk8s"), ("k3d-", "k3s")];

/// The configuration of a provider with its defaults, also with those that its plugin computes.
fn provider_config(resolution: &Resolution<'_>, name: &str, config: &Value, outputs: &Value) -> Value {
    let row = PROVIDERS.iter().find(|(known, _, _)| *known == name).map_or(PROVIDER, |(_, row, _)| *row);
    let completed = completed(resolution, row, config);
    let Some(mut map) = completed.as_map().cloned() else { return config.clone() };
    map.entry("dependencies".into()).or_insert_with(empty_list);
    map.insert("path".into(), Value::str(root(resolution)));
    let Some(namespace) = outputs.get("app-namespace") else { return completed.with(map.into()) };
    map.entry("namespace".into()).or_insert_with(|| self::map([("name", namespace.clone())]));
    let controller = map.get("setupIngressController").filter(|name| name.as_str().is_some()).cloned();
    if let Some(class) = controller {
        map.entry("ingressClass".into()).or_insert(class);
    }
    if name == "local-kubernetes" {
        let host = outputs.get("default-hostname").filter(|host| !host.is_null());
        if let Some(host) = host.cloned() {
            map.entry("defaultHostname".into()).or_insert(host);
        }
        let context = map.get("context").and_then(Value::as_str).unwrap_or_default();
        let known = CLUSTER_TYPES.iter().find(|(prefix, _)| context.starts_with(prefix));
        let cluster = known.map_or("generic", |(_, kind)| *kind);
        map.insert("clusterType".into(), Value::str(cluster));
    }
    completed.with(map.into())
}

fn actions(resolution: &Resolution<'_>, shown: Shown) -> Value {
    let is_off = |action: &Action| action.fields.get("disabled").and_then(Value::as_bool) == Some(true);
    let mut kinds: Vec<(EcoString, Map)> =
        ActionKind::ALL.iter().map(|kind| (kind.name().into(), Map::new())).collect();
    for action in resolution.graph().actions.values().filter(|action| !(shown.enabled_only && is_off(action))) {
        // What is made from a module is not written as an action.
        let config = match (shown.partial, &action.module) {
            (true, Some(_)) => continue,
            (true, None) => written_action(action),
            (false, _) => resolved_action(resolution, action),
        };
        if let Some((_, actions)) = kinds.iter_mut().find(|(kind, _)| kind == action.kind.name()) {
            actions.insert(action.name.clone(), config);
        }
    }
    Value::map(kinds.into_iter().map(|(kind, actions)| (kind, Value::map(actions))).collect())
}

fn resolved_action(resolution: &Resolution<'_>, action: &Action) -> Value {
    let mut config = action.fields.clone();
    // A Build is shown with its own variables only.
    let variables = match action.kind {
        ActionKind::Build => resolution.own_variables(&action.key),
        _ => with_dotted(resolution, resolution.action_variables(&action.key)),
    };
    config.insert("variables".into(), variables);
    if let Some(spec) = resolution.counted_spec(&action.key) {
        config.insert("spec".into(), spec);
    }
    Value::map(config)
}

/// An action as it is written. The name that a template made is known.
fn written_action(action: &Action) -> Value {
    let written = action.config.body.written();
    let Some(mut map) = written.as_map().cloned() else { return written };
    map.insert("name".into(), Value::str(action.name.clone()));
    Value::map(map)
}

fn modules(resolution: &Resolution<'_>, shown: Shown) -> Value {
    let mut modules: Vec<&Module> = resolution.modules.iter().map(|module| &**module).collect();
    modules.retain(|module| !(shown.enabled_only && module.disabled));
    modules.sort_by(|a, b| a.name().cmp(b.name()));
    let config = |module: &Module| match shown.partial {
        true => written_module(resolution, module),
        false => Value::map(module_config(resolution, module)),
    };
    Value::list(modules.into_iter().map(config).collect())
}

/// A module as it is written, in the form in which it is read.
fn written_module(resolution: &Resolution<'_>, module: &Module) -> Value {
    let written = module.config.body.written();
    let written = written.as_map();
    let given = |key: &str| written.and_then(|map| map.get(key)).cloned();
    let is_own = |key: &str| key == "build" || !COMMON_KEYS.contains(&key);
    let fields = written.into_iter().flat_map(|map| map.iter());
    let mut spec: Map =
        fields.filter(|(key, _)| is_own(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    spec.entry("build".into()).or_insert_with(|| map([("dependencies", empty_list())]));
    let of_build = |key: &str| given("build").and_then(|build| build.get(key).cloned());
    let dependencies = of_build("dependencies").unwrap_or_else(empty_list);
    let timeout = of_build("timeout").unwrap_or_else(|| Value::from(600));
    let mut config = Map::from_iter([
        ("apiVersion".into(), given("apiVersion").unwrap_or_else(|| Value::str("garden.io/v0"))),
        ("kind".into(), Value::str("Module")),
        ("type".into(), Value::str(module.config.type_name.clone())),
        ("name".into(), Value::str(module.name().clone())),
        ("path".into(), Value::str(resolution.ground.shown_within(module.checkout.as_ref(), &module.config.folder))),
        ("configPath".into(), Value::str(resolution.ground.shown_path(&module.config.file))),
        ("build".into(), map([("dependencies", dependencies), ("timeout", timeout)])),
        ("serviceConfigs".into(), empty_list()),
        ("taskConfigs".into(), empty_list()),
        ("testConfigs".into(), empty_list()),
        ("spec".into(), Value::map(spec)),
    ]);
    let rest = GIVEN_KEYS.iter().chain(&["disabled", "local", "allowPublish"]);
    config.extend(rest.filter_map(|key| Some((EcoString::from(*key), given(key)?))));
    Value::map(config)
}

/// Keys of a module that are shown where they are given.
const GIVEN_KEYS: &[&str] =
    &["description", "include", "exclude", "repositoryUrl", "generateFiles", "variables", "varfile"];

/// Settings of a module that do not count for its Build, by its type.
const NOT_BUILT: &[(&str, &[&str])] = &[
    ("exec", &["tasks", "tests", "services"]),
    ("helm", &["atomicInstall", "serviceResource", "skipDeploy", "tasks", "tests"]),
];

/// A module with the defaults of its row.
pub fn module_config(resolution: &Resolution<'_>, module: &Module) -> Map {
    let type_name = module.config.type_name.as_str();
    let mut fields = module.fields.written().as_map().cloned().unwrap_or_default();
    fields.entry("build".into()).or_insert_with(|| Value::map(Map::new()));
    let whole = completed(resolution, module_row(type_name), &Value::map(fields));
    let whole = whole.as_map().cloned().unwrap_or_default();
    let given = |key: &str| whole.get(key).cloned().filter(|value| !value.is_null());
    let is_own = |key: &str| key == "build" || !COMMON_KEYS.contains(&key);
    let spec: Map =
        whole.iter().filter(|(key, _)| is_own(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut config = Map::from_iter([
        ("apiVersion".into(), Value::str("garden.io/v0")),
        ("kind".into(), Value::str("Module")),
        ("type".into(), Value::str(type_name)),
        ("name".into(), Value::str(module.name().clone())),
        ("path".into(), Value::str(resolution.ground.shown_within(module.checkout.as_ref(), &module.config.folder))),
        ("configPath".into(), Value::str(resolution.ground.shown_path(&module.config.file))),
        ("disabled".into(), Value::from(module.disabled)),
        ("local".into(), given("local").unwrap_or_else(|| Value::from(false))),
        ("allowPublish".into(), given("allowPublish").unwrap_or_else(|| Value::from(true))),
        ("inputs".into(), Value::map(Map::new())),
    ]);
    config.extend(GIVEN_KEYS.iter().filter_map(|key| Some((EcoString::from(*key), given(key)?))));
    let build = spec.get("build");
    let of_build = |key: &str, other: Value| build.and_then(|build| build.get(key)).cloned().unwrap_or(other);
    let build_common =
        [("dependencies", of_build("dependencies", empty_list())), ("timeout", of_build("timeout", Value::from(600)))];
    config.insert("build".into(), map(build_common));
    for (key, list) in [("serviceConfigs", "services"), ("taskConfigs", "tasks"), ("testConfigs", "tests")] {
        let items = spec.get(list).and_then(Value::as_list).unwrap_or(&[]);
        config.insert(key.into(), Value::list(items.iter().map(|item| item_config(type_name, list, item)).collect()));
    }
    if let Some(services) = own_service(module, type_name, &spec) {
        config.insert("serviceConfigs".into(), services);
    }
    if let Some(counted) = build_config(type_name, &spec) {
        config.insert("buildConfig".into(), counted);
    }
    config.insert("spec".into(), Value::map(spec));
    config
}

/// A service, task or test with the fields common to all of them.
fn item_config(type_name: &str, list: &str, item: &Value) -> Value {
    let keys: &[&str] = match (list, type_name) {
        ("services", "container" | "jib-container") => &["name", "dependencies", "disabled"],
        ("tasks", _) => &["name", "cacheResult", "dependencies", "disabled", "timeout"],
        _ => &["name", "dependencies", "disabled", "timeout"],
    };
    let entry = |key: &&str| Some((EcoString::from(*key), item.get(key).cloned()?));
    let mut config: Map = keys.iter().filter_map(entry).collect();
    if list == "tasks" && type_name == "exec" {
        config.insert("cacheResult".into(), Value::from(false));
    }
    config.insert("spec".into(), item.clone());
    Value::map(config)
}

/// The one service of a module that deploys itself.
fn own_service(module: &Module, type_name: &str, spec: &Map) -> Option<Value> {
    if !matches!(type_name, "helm" | "kubernetes") {
        return None;
    }
    if spec.get("skipDeploy").and_then(Value::as_bool) == Some(true) {
        return Some(empty_list());
    }
    let mut service = Map::from_iter([
        ("name".into(), Value::str(module.name().clone())),
        ("dependencies".into(), spec.get("dependencies").cloned().unwrap_or_else(empty_list)),
        ("disabled".into(), Value::from(module.disabled)),
        ("spec".into(), Value::map(spec.clone())),
    ]);
    let source = spec.get("serviceResource").and_then(|resource| resource.get("containerModule"));
    service.extend(source.map(|source| ("sourceModuleName".into(), source.clone())));
    Some(Value::list(vec![Value::map(service)]))
}

/// The settings that count for the Build of a module.
fn build_config(type_name: &str, spec: &Map) -> Option<Value> {
    if type_name == "container" {
        let target = spec.get("build").and_then(|build| build.get("targetImage")).cloned();
        let kept = ["buildArgs", "extraFlags", "dockerfile"].into_iter();
        let kept = kept.filter_map(|key| Some((EcoString::from(key), spec.get(key).cloned()?)));
        let target = target.map(|target| (EcoString::from("targetImage"), target));
        return Some(Value::map(kept.chain(target).collect()));
    }
    MODULE_TYPES.iter().find(|(name, _, _)| *name == type_name)?;
    let (_, left_out) = NOT_BUILT.iter().find(|(name, _)| *name == type_name)?;
    let kept = spec.iter().filter(|(key, _)| !left_out.contains(&key.as_str()));
    Some(Value::map(kept.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

fn by_name<'r>(resolution: &'r Resolution<'_>) -> Vec<&'r Config> {
    let mut workflows: Vec<&Config> = resolution.workflows.iter().collect();
    workflows.sort_by(|a, b| a.name.cmp(&b.name));
    workflows
}

/// A workflow as it is written, with its name.
fn written_workflow(workflow: &Config) -> Map {
    let mut body = workflow.body.written().as_map().cloned().unwrap_or_default();
    body.insert("name".into(), Value::str(workflow.name.clone()));
    body
}

/// The workflows as they are known before they run.
pub fn workflow_configs(resolution: &Resolution<'_>, shown: Shown) -> Value {
    let config = |workflow: &Config| match shown.partial {
        true => Value::map(written_workflow(workflow)),
        false => workflow_config(resolution, workflow),
    };
    Value::list(by_name(resolution).into_iter().map(config).collect())
}

/// A workflow as it is known before it runs: commands and scripts of its steps stay as they are written.
fn workflow_config(resolution: &Resolution<'_>, workflow: &Config) -> Value {
    let written = Value::map(written_workflow(workflow));
    let fields = crate::workflows::fields_but_work(resolution, workflow);
    let mut whole = completed(resolution, WORKFLOW, &fields).as_map().cloned().unwrap_or_default();
    whole.entry("apiVersion".into()).or_insert_with(|| Value::str("garden.io/v0"));
    whole.insert("name".into(), Value::str(workflow.name.clone()));
    let written = written.get("steps").and_then(Value::as_list).unwrap_or(&[]);
    let steps = whole.get("steps").and_then(Value::as_list).unwrap_or(&[]);
    let step = |(step, written): (&Value, &Value)| {
        let mut step = step.as_map().cloned().unwrap_or_default();
        for key in crate::workflows::WORK {
            step.extend(written.get(key).map(|value| (EcoString::from(*key), value.clone())));
        }
        Value::map(step)
    };
    let steps = steps.iter().zip(written).map(step).collect();
    whole.insert("steps".into(), Value::list(steps));
    Value::map(whole)
}

/// The workflows as they are written, with where they are.
pub fn workflows(resolution: &Resolution<'_>, names: &[String]) -> Value {
    let wanted = |workflow: &&Config| names.is_empty() || names.iter().any(|name| workflow.name == name.as_str());
    let shown = |workflow: &Config| {
        let body = written_workflow(workflow);
        let internal = map([
            ("basePath", Value::str(resolution.ground.full_path(&workflow.folder))),
            ("configFilePath", Value::str(resolution.ground.full_path(&workflow.file))),
            ("yamlDoc", Value::map(body.clone())),
        ]);
        let mut body = body;
        body.insert("internal".into(), internal);
        Value::map(body)
    };
    Value::list(by_name(resolution).into_iter().filter(wanted).map(shown).collect())
}
