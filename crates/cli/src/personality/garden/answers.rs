//! The answers of `purlin garden get …`, in the shape of Garden's own `--output json`.
//!
//! Values that only a cluster or a run would reveal are `unknown` or left out.

use super::Flags;
use super::order::GraphOrder;
use purlin_garden::action::Action;
use purlin_garden::config::ActionKind;
use purlin_garden::dump::{self, Shown};
use purlin_garden::modules::Module;
use purlin_garden::remote::Checkout;
use purlin_garden::resolve::Resolution;
use purlin_garden::versions::Version;
use purlin_run::cluster::Clusters;
use purlin_run::garden::cluster_state;
use purlin_run::local::persistent::Started;
use purlin_run::past::StateOf;
use purlin_run::store::{Ending, Key, Store};
use purlin_value::{EcoString, Map, Session, Value, path};
use std::sync::Arc;

fn texts<'t>(items: impl Iterator<Item = &'t str>) -> Value {
    Value::list(items.map(Value::from).collect())
}

fn sorted(mut items: Vec<&str>) -> Value {
    items.sort_unstable();
    texts(items.into_iter())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Whether names or globs select an action; without any, all are shown.
fn wanted(flags: &Flags, action: &Action) -> bool {
    let names: Vec<&String> = flags.words.iter().skip(2).collect();
    let named = names.is_empty()
        || names.iter().any(|name| {
            let glob = purlin_value::glob::Glob::new(name);
            glob.matches(&action.key) || glob.matches(&action.name)
        });
    let of_kind = flags.kind.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case(action.kind.name()));
    named && of_kind && !(flags.exclude_disabled && action.disabled)
}

pub(super) fn actions(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    of_kind(session, resolution, flags, None)
}

pub(super) fn builds(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    of_kind(session, resolution, flags, Some(ActionKind::Build))
}

pub(super) fn deploys(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    of_kind(session, resolution, flags, Some(ActionKind::Deploy))
}

pub(super) fn runs(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    of_kind(session, resolution, flags, Some(ActionKind::Run))
}

pub(super) fn tests(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    of_kind(session, resolution, flags, Some(ActionKind::Test))
}

fn of_kind(session: &Session, resolution: &Resolution<'_>, flags: &Flags, kind: Option<ActionKind>) -> Value {
    let all = resolution.graph().actions.values().map(|action| &**action);
    let all = all.filter(|action| kind.is_none_or(|kind| kind == action.kind));
    let mut found: Vec<&Action> = all.filter(|action| wanted(flags, action)).collect();
    // Actions of the same name are in the order in which Garden creates them.
    found.sort_by_key(|action| std::cmp::Reverse(action.kind.name()));
    found.sort_by_key(|action| match flags.sort.as_str() {
        "kind" => (action.kind.name().to_owned(), action.name.clone()),
        "type" => (action.type_name.to_string(), action.name.clone()),
        _ => (action.name.to_string(), "".into()),
    });
    let list = found.into_iter().map(|action| action_value(session, resolution, action, flags));
    map([("actions", Value::list(list.collect()))])
}

fn action_value(session: &Session, resolution: &Resolution<'_>, action: &Action, flags: &Flags) -> Value {
    let mut shown = Map::from_iter([
        ("name".into(), Value::str(action.name.clone())),
        ("kind".into(), Value::str(action.kind.name())),
        ("type".into(), Value::str(action.type_name.clone())),
    ]);
    if flags.state {
        shown.insert("state".into(), Value::str("unknown"));
    }
    // Garden evaluates every spec and variable here, so errors in any of them are found.
    let resolved = resolution.action(&action.key);
    resolution.own_variables(&action.key);
    if !flags.detail {
        return Value::map(shown);
    }
    let graph = resolution.graph();
    let is_on = |key: &EcoString| graph.actions.get(key).is_some_and(|other| !other.disabled);
    let needed_by = graph.needs.iter().filter(|(_, needs)| needs.iter().any(|need| need.key == action.key));
    let needed_by = needed_by.filter(|(key, _)| is_on(key) || action.kind == ActionKind::Build);
    let ground = &resolution.ground;
    let file = path::relative(&ground.full_path(&ground.root), &ground.shown_path(&action.config.file));
    let file = if path::escapes(&file) { file } else { format!("./{file}") };
    let needs = listed_needs(resolution, action);
    shown.insert("path".into(), Value::str(file));
    shown.insert("dependencies".into(), sorted(needs.iter().map(EcoString::as_str).collect()));
    shown.insert("dependents".into(), sorted(needed_by.map(|(key, _)| key.as_str()).collect()));
    shown.insert("disabled".into(), Value::from(action.disabled));
    if let Some(version) = resolution.live.resolved_version(session, &action.key) {
        shown.insert("version".into(), version_value(resolution, action, &version));
    }
    shown.extend(action.fields.get("allowPublish").map(|value| ("allowPublish".into(), value.clone())));
    let publish = resolved.as_ref().and_then(|found| found.spec.get("publishId")).filter(|id| !id.is_null());
    shown.extend(publish.map(|value| ("publishId".into(), value.clone())));
    shown.extend(action.module.as_ref().map(|module| ("moduleName".into(), Value::str(module.module.clone()))));
    Value::map(shown)
}

/// The dependencies of an action; duplicates are kept, as in Garden.
fn listed_needs(resolution: &Resolution<'_>, action: &Action) -> Vec<EcoString> {
    let listed = action.fields.get("dependencies").and_then(Value::as_list).unwrap_or(&[]);
    let times = |key: &str| {
        let is = |item: &&Value| {
            let (kind, name) = (item.get("kind").and_then(Value::as_str), item.get("name").and_then(Value::as_str));
            kind.zip(name).is_some_and(|(kind, name)| key == format!("{}.{name}", kind.to_lowercase()))
        };
        listed.iter().filter(is).count().max(1)
    };
    let needs = resolution.needs(&action.key).iter();
    needs.flat_map(|need| std::iter::repeat_n(need.key.clone(), times(&need.key))).collect()
}

fn version_value(resolution: &Resolution<'_>, action: &Action, version: &Version) -> Value {
    let others = version.dependencies.iter().map(|(key, text)| (key.clone(), Value::str(text.clone())));
    map([
        ("configVersion", Value::str(version.config.clone())),
        ("sourceVersion", Value::str(version.source.clone())),
        ("versionString", Value::str(version.string.clone())),
        ("dependencyVersions", Value::map(others.collect())),
        ("files", full_paths(resolution, action.checkout.as_deref(), &version.files)),
    ])
}

fn full_paths(resolution: &Resolution<'_>, checkout: Option<&Checkout>, files: &[String]) -> Value {
    let shown = |file: &String| Value::str(resolution.ground.shown_within(checkout, file));
    Value::list(files.iter().map(shown).collect())
}

/// The files of each action, by its key.
pub(super) fn files(session: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let all = resolution.graph().actions.values().map(|action| &**action).filter(|action| wanted(flags, action));
    let entry = |action: &Action| {
        let version = resolution.live.written_version(session, &action.key)?;
        Some((action.key.clone(), full_paths(resolution, action.checkout.as_deref(), &version.files)))
    };
    Value::map(all.filter_map(entry).collect())
}

/// The first enabled action with a `statusCommand`.
pub(super) fn with_status_command(resolution: &Resolution<'_>) -> Option<EcoString> {
    let mut all = resolution.graph().actions.values().filter(|action| !action.disabled);
    let has_one = |action: &Action| {
        let spec = resolution.action(&action.key).map(|found| found.spec);
        spec.and_then(|spec| Some(!spec.get("statusCommand")?.as_list()?.is_empty())).unwrap_or(false)
    };
    all.find(|action| has_one(action)).map(|action| action.key.clone())
}

/// States by status commands that were `asked`, by earlier results, and by the cluster's state of deployments; nothing
/// is run.
pub(super) fn status(
    session: &Session,
    resolution: &Resolution<'_>,
    flags: &Flags,
    clusters: &Arc<Clusters>,
    asked: &[(String, bool)],
) -> Value {
    let root = resolution.ground.full_path(&resolution.ground.root);
    let store = Store::open(std::path::Path::new(root.as_str()), &Key::of_user(&clusters.env)).ok();
    let of = |kind: ActionKind| {
        let shown = kind == ActionKind::Deploy || !flags.only_deploys;
        let all = resolution.graph().actions.values().map(|action| &**action);
        let all = all.filter(|action| shown && action.kind == kind && !action.disabled);
        let state = |action: &Action| match cluster_state(resolution, clusters, action) {
            Some(StateOf::Done) => "ready",
            Some(StateOf::Failed(_)) => "failed",
            Some(StateOf::NeverRun | StateOf::Outdated(_)) => "not-ready",
            Some(_) => "unknown",
            None => match asked.iter().find(|(id, _)| action.key == *id) {
                Some((_, true)) => "ready",
                Some((_, false)) => "not-ready",
                None => state_of(session, resolution, store.as_ref(), action),
            },
        };
        let entry = |action: &Action| {
            let outputs = resolution.action(&action.key).map_or_else(|| Value::map(Map::new()), |found| found.outputs);
            let state = [("state", Value::str(state(action))), ("detail", Value::null()), ("outputs", outputs)];
            (action.name.clone(), map(state))
        };
        (EcoString::from(kind.name()), Value::map(all.map(entry).collect()))
    };
    let kinds = [ActionKind::Build, ActionKind::Deploy, ActionKind::Test, ActionKind::Run].map(of);
    map([("providers", Value::map(Map::new())), ("actions", Value::map(Map::from_iter(kinds)))])
}

/// The state of an action by the results of earlier runs; nothing is run.
fn state_of(session: &Session, resolution: &Resolution<'_>, store: Option<&Store>, action: &Action) -> &'static str {
    let subject = purlin_run::garden::subject(resolution, action);
    let Some((store, last)) = store.and_then(|store| Some((store, store.last(&subject)?))) else { return "unknown" };
    let Some(version) = resolution.live.resolved_version(session, &action.key) else { return "unknown" };
    let started = Started::read(&store.deploy_note(&subject));
    // A key begins with its version.
    let is_current = |key: &str| key.split('+').next() == Some(version.full.as_str());
    let is_running = started.as_ref().is_none_or(|started| started.is_alive() && is_current(&started.version));
    match store.has_done(&subject, is_current) {
        true if is_running => "ready",
        _ if matches!(last.ending, Ending::Failed(_)) => "failed",
        _ => "not-ready",
    }
}

/// Nodes after their dependencies, and the edges between them, in the order of Garden's graph.
pub(super) fn graph(_: &Session, resolution: &Resolution<'_>, _: &Flags) -> Value {
    let graph = resolution.graph();
    let node = |key: &EcoString| {
        let action = graph.actions.get(key)?;
        Some(map([
            ("name", Value::str(action.name.clone())),
            ("kind", Value::str(action.kind.name())),
            ("key", Value::str(action.name.clone())),
            ("disabled", Value::from(action.disabled)),
            ("type", Value::str(action.type_name.clone())),
        ]))
    };
    let order = GraphOrder::of(graph);
    let relationship =
        |(from, to): &(EcoString, EcoString)| Some(map([("dependant", node(from)?), ("dependency", node(to)?)]));
    let relationships = order.edges.iter().filter_map(relationship).collect();
    map([
        ("nodes", Value::list(order.nodes.iter().filter_map(node).collect())),
        ("relationships", Value::list(relationships)),
    ])
}

/// The whole configuration: resolved, or with `--resolve partial` as it is written.
pub(super) fn config(_: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let partial = flags.resolve.iter().any(|how| how == "partial");
    dump::config(resolution, Shown { partial, enabled_only: flags.exclude_disabled })
}

pub(super) fn workflows(_: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let names: Vec<String> = flags.words.iter().skip(2).cloned().collect();
    dump::workflows(resolution, &names)
}

/// The modules by name.
pub(super) fn modules(_: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    let names: Vec<&String> = flags.words.iter().skip(2).collect();
    let shown = |module: &Module| {
        let named = names.is_empty() || names.iter().any(|name| *name == module.name());
        named && !(flags.exclude_disabled && module.disabled)
    };
    let mut modules: Vec<&Module> = resolution.modules.iter().map(|module| &**module).collect();
    modules.sort_by(|a, b| a.name().cmp(b.name()));
    let found = modules.into_iter().filter(|module| shown(module));
    let found = found.map(|module| (module.name().clone(), module_value(resolution, module)));
    map([("modules", Value::map(found.collect()))])
}

/// Types of modules that have nothing to build.
const UNBUILT: &[&str] = &["templated", "kubernetes", "helm", "terraform", "pulumi"];

fn module_value(resolution: &Resolution<'_>, module: &Module) -> Value {
    let mut shown = dump::module_config(resolution, module);
    let type_name = module.config.type_name.as_str();
    let root = resolution.ground.full_path(&resolution.ground.root);
    let source = module.source(resolution);
    let version = map([
        ("contentHash", Value::str(source.0)),
        ("versionString", Value::str(module.version.clone())),
        ("files", full_paths(resolution, module.checkout.as_ref(), &source.1)),
    ]);
    let copies = module.dependencies.iter().any(|dependency| !dependency.copy.is_empty());
    let types = match type_name {
        "jib-container" => texts([type_name, "container"].into_iter()),
        _ => texts([type_name].into_iter()),
    };
    let rest = [
        ("buildPath", Value::str(build_path_of(&root, module.name()))),
        ("version", version),
        ("needsBuild", Value::from(!UNBUILT.contains(&type_name) || copies)),
        ("outputs", module.outputs.clone()),
        ("compatibleTypes", types),
        ("serviceNames", texts(module.names("services").iter().map(EcoString::as_str))),
        ("serviceDependencyNames", dependency_names(module, "services")),
        ("taskNames", texts(module.names("tasks").iter().map(EcoString::as_str))),
        ("taskDependencyNames", dependency_names(module, "tasks")),
    ];
    shown.extend(rest.into_iter().map(|(key, value)| (key.into(), value)));
    Value::map(shown)
}

fn build_path_of(root: &str, name: &str) -> String {
    format!("{}/.garden/build/{name}", root.trim_end_matches('/'))
}

/// The dependencies of a module's services or tasks, each once.
fn dependency_names(module: &Module, key: &str) -> Value {
    let mut names: Vec<String> = Vec::new();
    for item in module.items(key) {
        for dependency in item.get("dependencies").map(|draft| draft.items()).unwrap_or_default() {
            let name = dependency.as_value().and_then(Value::as_str).map(str::to_owned);
            names.extend(name.filter(|name| !names.contains(name)));
        }
    }
    texts(names.iter().map(String::as_str))
}

/// Resolves workflows, and the actions that `--resolve` names; all of them for `*`.
pub(super) fn validated(_: &Session, resolution: &Resolution<'_>, flags: &Flags) -> Value {
    for key in resolution.graph().actions.keys() {
        if flags.resolve.iter().any(|wanted| wanted == key || wanted == "*") {
            let _ = resolution.action(key);
        }
    }
    dump::workflow_configs(resolution, Shown::default());
    Value::null()
}
