//! Conversion of `kubernetes` and `helm` modules. Neither builds anything itself; files copied from other modules need
//! a Build that does only that.

use super::Module;
use super::convert::{Label, Names, action, build_action, runtime_fields};
use crate::config::ActionKind;
use crate::draft::Draft;
use crate::render::Config;
use ecow::EcoString;
use purlin_value::{Origins, Strategy, Value, merge, path};

/// Keys of a kubernetes module that its Deploy takes over.
const KUBERNETES_KEYS: &[(&str, &str)] = &[
    ("files", "files"),
    ("manifests", "manifests"),
    ("namespace", "namespace"),
    ("kustomize", "kustomize"),
    ("serviceResource", "defaultTarget"),
    ("sync", "sync"),
    ("portForwards", "portForwards"),
];

/// Keys of a helm module that its Deploy takes over.
const HELM_KEYS: &[(&str, &str)] = &[
    ("atomicInstall", "atomic"),
    ("namespace", "namespace"),
    ("releaseName", "releaseName"),
    ("timeout", "timeout"),
    ("valueFiles", "valueFiles"),
    ("serviceResource", "defaultTarget"),
    ("sync", "sync"),
    ("portForwards", "portForwards"),
];

pub(super) fn kubernetes_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let mut actions = copying_build(names, module);
    let has_build = !actions.is_empty();
    let spec = taken(module, KUBERNETES_KEYS);
    let fields = runtime_fields(names, module, &module.fields, has_build, 300);
    actions.push(action(module, "kubernetes", ActionKind::Deploy, Label::of_module(module), fields, spec));
    actions.extend(pod_actions(names, module, "kubernetes-pod", has_build));
    actions
}

pub(super) fn helm_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let mut actions = copying_build(names, module);
    let has_build = !actions.is_empty();
    let skipped =
        module.field("skipDeploy").and_then(|draft| draft.as_value().and_then(Value::as_bool)).unwrap_or(false);
    if !skipped {
        let mut spec = vec![("chart", chart(module)), ("values", values(names, module, 0))];
        spec.extend(taken(module, HELM_KEYS));
        let fields = runtime_fields(names, module, &module.fields, has_build, 300);
        actions.push(action(module, "helm", ActionKind::Deploy, Label::of_module(module), fields, spec));
    }
    actions.extend(pod_actions(names, module, "helm-pod", has_build));
    actions
}

/// A Build that only copies, where there is something to copy.
fn copying_build(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    if names.makes_build(module) { vec![build_action(names, module, "exec", Vec::new())] } else { Vec::new() }
}

fn taken(module: &Module, keys: &[(&'static str, &'static str)]) -> Vec<(&'static str, Draft)> {
    keys.iter().filter_map(|(from, to)| Some((*to, module.field(from)?))).collect()
}

/// The files of a chart that lies in the module; none of one that is fetched.
pub(super) fn chart_files(module: &Module) -> Vec<String> {
    if module.field("chart").is_some() && module.field("chartPath").is_none() {
        return Vec::new();
    }
    let folder = module.text("chartPath").unwrap_or_else(|| ".".into());
    ["*", "charts/**/*", "templates/**/*"].iter().map(|files| path::join(&folder, files)).collect()
}

/// Where the chart is: in the module, in another folder of it, in a repository.
fn chart(module: &Module) -> Draft {
    let mut entries: Vec<(EcoString, Draft)> = Vec::new();
    for (from, to) in [("chart", "name"), ("repo", "repo"), ("version", "version")] {
        entries.extend(module.field(from).map(|draft| (to.into(), draft)));
    }
    if module.field("chart").is_none() || module.field("chartPath").is_some() {
        let path = module.field("chartPath").unwrap_or_else(|| Draft::text("."));
        entries.push(("path".into(), path));
    }
    Draft::Map(entries)
}

/// A module's values upon those of the module it is based on.
fn values(names: &Names<'_>, module: &Module, depth: usize) -> Draft {
    let own = module.field("values").unwrap_or_else(Draft::empty_map);
    let base = module.text("base").and_then(|name| names.modules.get(&name).cloned());
    let Some(base) = base.filter(|_| depth < 20) else { return own };
    let below = values(names, &base, depth + 1);
    match (below.as_value(), own.as_value()) {
        (Some(below), Some(own)) => Draft::Value(merge(below, own, Strategy::Deep, &Origins::new())),
        _ => Draft::Map(merge_entries(below.entries(), own.entries())),
    }
}

/// Drafts may hold templates, so only whole entries are replaced where either side is not finished.
fn merge_entries(below: Vec<(EcoString, Draft)>, own: Vec<(EcoString, Draft)>) -> Vec<(EcoString, Draft)> {
    let mut merged: Vec<(EcoString, Draft)> = Vec::new();
    for (key, draft) in below {
        let over = own.iter().find(|(other, _)| *other == key).map(|(_, over)| over.clone());
        let draft = match over {
            Some(over @ Draft::Map(_)) if matches!(draft, Draft::Map(_)) => {
                Draft::Map(merge_entries(draft.entries(), over.entries()))
            }
            Some(over) => over,
            None => draft,
        };
        merged.push((key, draft));
    }
    let new: Vec<(EcoString, Draft)> =
        own.into_iter().filter(|(key, _)| !merged.iter().any(|(k, _)| k == key)).collect();
    merged.into_iter().chain(new).collect()
}

fn pod_actions(names: &Names<'_>, module: &Module, type_name: &str, has_build: bool) -> Vec<(ActionKind, Config)> {
    const KEYS: &[(&str, &str)] = &[
        ("command", "command"),
        ("args", "args"),
        ("env", "env"),
        ("resource", "resource"),
        ("artifacts", "artifacts"),
        ("cacheResult", "cacheResult"),
    ];
    let mut actions = Vec::new();
    for (key, kind) in [("tasks", ActionKind::Run), ("tests", ActionKind::Test)] {
        for item in module.items(key) {
            let Some(label) = names.label(module, &item, kind) else { continue };
            let spec =
                KEYS.iter().filter_map(|(from, to)| Some((*to, item.get(from).filter(|d| !d.is_null())?))).collect();
            let fields = runtime_fields(names, module, &item, has_build, 600);
            actions.push(action(module, type_name, kind, label, fields, spec));
        }
    }
    actions
}
