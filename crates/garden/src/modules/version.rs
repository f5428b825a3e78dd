//! Versions of modules: their build configuration, files, and dependencies.

use super::{BuildDependency, COMMON_KEYS, Module};
use crate::draft::Draft;
use crate::files::FileTree;
use crate::ground::Ground;
use crate::json::{self, KeyOrder};
use crate::versions::{SourceKey, SourceScope, SourceVersion, short, source_version};
use ecow::EcoString;
use purlin_value::{FastIndex, Map, Value, path};
use std::sync::{Arc, PoisonError};

/// The files of a module, hashed once.
pub fn source(ground: &Ground<'_>, files: &FileTree, module: &Module) -> Arc<SourceVersion> {
    let (include, exclude) = &module.files;
    let scope = SourceScope {
        folder: &module.config.folder,
        base: match &module.checkout {
            Some(_) => path::parent(&module.config.file),
            None => &module.config.folder,
        },
        config_file: &module.config.file,
        include: include.as_deref(),
        exclude,
        uncounted: &[],
        remote: module.checkout.as_ref().map(|checkout| (checkout, ground.root.as_str())),
    };
    let excluded = Some(exclude.as_slice()).filter(|list| !list.is_empty());
    let key = SourceKey::new((&module.config.folder, module.checkout.as_ref()), include.as_deref(), excluded);
    let hash = || Arc::new(source_version(ground.session, files, &scope));
    ground.sources.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert_with(hash).clone()
}

/// The version of a module whose dependencies are resolved.
pub fn module_version(
    ground: &Ground<'_>,
    files: &FileTree,
    module: &Module,
    done: &FastIndex<EcoString, Arc<Module>>,
) -> EcoString {
    let source = source(ground, files, module);
    let mut parts: Vec<(&EcoString, &EcoString)> = vec![(module.name(), &source.hash)];
    parts.extend(all_needs(ground, module, done).into_iter().map(|other| (other.name(), &other.version)));
    parts.sort();
    let config = json::write(&counted_config(module), KeyOrder::Sorted);
    let mut texts = vec![config.as_str()];
    texts.extend(parts.iter().map(|(_, version)| version.as_str()));
    ecow::eco_format!("v-{}", short(&texts))
}

/// Steps for each part of a version: it is found, sorted and hashed.
const STEPS_PER_PART: u64 = 12;

/// Everything a module is built from, directly or not. A version counts all of it again, so a long chain of modules
/// costs the square of its length, which is paid.
fn all_needs<'m>(
    ground: &Ground<'_>,
    module: &'m Module,
    done: &'m FastIndex<EcoString, Arc<Module>>,
) -> Vec<&'m Arc<Module>> {
    let pay = |parts: usize| {
        let paid = ground.session.meter.charge(STEPS_PER_PART * parts as u64, 0);
        paid.map_err(|exceeded| ground.session.report_exceeded(exceeded, module.config.span)).is_ok()
    };
    if !pay(1) {
        return Vec::new();
    }
    let mut found: FastIndex<usize, &Arc<Module>> = FastIndex::default();
    let mut open: Vec<&[EcoString]> = vec![&module.needs];
    while let Some(names) = open.pop() {
        for name in names {
            let Some((at, _, other)) = done.get_full(name) else { continue };
            if found.insert(at, other).is_none() {
                open.push(&other.needs);
            }
        }
    }
    if pay(found.len()) { found.into_values().collect() } else { Vec::new() }
}

/// The part of a module's configuration that counts: the input of its build.
fn counted_config(module: &Module) -> Value {
    let entries = match module.config.type_name.as_str() {
        "exec" => vec![("env", map_or_empty(module.field("env"))), ("build", build_config(module))],
        "container" => {
            let mut entries = vec![("buildArgs", map_or_empty(module.field("buildArgs")))];
            for key in ["extraFlags", "dockerfile"] {
                entries.extend(module.field(key).map(|draft| (key, draft.written())));
            }
            entries
        }
        "jib-container" => {
            let mut entries =
                vec![("buildArgs", map_or_empty(module.field("buildArgs"))), ("dockerfile", Value::str("_jib"))];
            entries.extend(module.field("extraFlags").map(|draft| ("extraFlags", draft.written())));
            let build = module.field("build").unwrap_or_else(Draft::empty_map);
            let told = |key: &str, implied: Value| build.get(key).map_or(implied, |draft| draft.written());
            entries.push(("projectType", told("projectType", Value::str("auto"))));
            entries.push(("jdkVersion", told("jdkVersion", Value::from(11))));
            entries
        }
        "helm" => {
            return own_config(
                module,
                &HELM_UNCOUNTED,
                vec![
                    ("timeout", Value::from(300)),
                    ("values", Value::map(Map::new())),
                    ("valueFiles", Value::list(Vec::new())),
                    ("chartPath", Value::str(".")),
                ],
            );
        }
        _ => vec![
            ("apiVersion", Value::str("garden.io/v0")),
            ("name", Value::str(module.name().clone())),
            ("type", Value::str(module.config.type_name.clone())),
            ("spec", spec_config(module)),
        ],
    };
    Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// Keys of a chart's module that its build does not depend on.
const HELM_UNCOUNTED: [&str; 5] = ["atomicInstall", "serviceResource", "skipDeploy", "tasks", "tests"];

/// The configuration of a module of a cluster, without some keys and over defaults.
fn own_config(module: &Module, uncounted: &[&str], defaults: Vec<(&'static str, Value)>) -> Value {
    let build = module.field("build").unwrap_or_else(Draft::empty_map);
    let mut map: Map = defaults.into_iter().map(|(key, value)| (key.into(), value)).collect();
    map.insert("build".into(), listed_build(module, &build));
    map.insert("dependencies".into(), list_or_empty(module.field("dependencies")));
    for (key, draft) in module.fields.entries() {
        let is_own = !COMMON_KEYS.contains(&key.as_str()) && !["inputs", "template"].contains(&key.as_str());
        if !is_own || uncounted.contains(&key.as_str()) || draft.is_null() {
            continue;
        }
        match key.as_str() {
            "sync" | "devMode" => map.insert("sync".into(), synced(&draft.written())),
            _ => map.insert(key, draft.written()),
        };
    }
    Value::map(map)
}

/// Synced paths, under their newer names and with the defaults of each path.
fn synced(written: &Value) -> Value {
    let Some(sync) = written.as_map() else { return written.clone() };
    let complete = |path: &Value| {
        let mut path = path.as_map().cloned().unwrap_or_default();
        for (key, value) in [
            ("source", Value::str(".")),
            ("mode", Value::str("one-way-safe")),
            ("defaultFileMode", Value::from(0o644)),
            ("defaultDirectoryMode", Value::from(0o755)),
        ] {
            path.entry(key.into()).or_insert(value);
        }
        Value::map(path)
    };
    let renamed = |(key, value): (&EcoString, &Value)| match (key.as_str(), value.as_list()) {
        ("sync" | "paths", Some(paths)) => ("paths".into(), Value::list(paths.iter().map(complete).collect())),
        _ => (key.clone(), value.clone()),
    };
    Value::map(sync.iter().map(renamed).collect())
}

/// The keys under `build`, with the timeout. Additions of a type do not count here.
fn listed_build(module: &Module, build: &Draft) -> Value {
    let name = |item: &Draft| super::item_name(item).or_else(|| item.as_value()?.as_str().map(EcoString::from));
    let items = build.get("dependencies").map(|list| list.items()).unwrap_or_default();
    let names: Vec<EcoString> = items.iter().filter_map(name).collect();
    // A type adds its own behind those that are listed.
    let listed = module.dependencies.iter().take(names.len());
    let timeout = build.get("timeout").map_or(Value::from(600), |draft| draft.written());
    Value::map(Map::from_iter([
        ("dependencies".into(), Value::list(listed.map(dependency_config).collect())),
        ("timeout".into(), timeout),
    ]))
}

fn map_or_empty(draft: Option<Draft>) -> Value {
    draft.map_or_else(|| Value::map(Map::new()), |draft| draft.written())
}

fn list_or_empty(draft: Option<Draft>) -> Value {
    draft.map_or_else(|| Value::list(Vec::new()), |draft| draft.written())
}

fn dependency_config(dependency: &BuildDependency) -> Value {
    let copy = dependency.copy.iter().map(|(source, target)| {
        let pair = [("source".into(), source.clone()), ("target".into(), target.clone())];
        Value::map(Map::from_iter(pair))
    });
    Value::map(Map::from_iter([
        ("name".into(), Value::str(dependency.name.clone())),
        ("copy".into(), Value::list(copy.collect())),
    ]))
}

fn build_config(module: &Module) -> Value {
    let build = module.field("build").unwrap_or_else(Draft::empty_map);
    let listed = module.dependencies.iter().filter(|dependency| dependency.listed);
    let dependencies = listed.map(dependency_config);
    let timeout = build.get("timeout").map_or(Value::from(600), |draft| draft.written());
    Value::map(Map::from_iter([
        ("command".into(), list_or_empty(build.get("command"))),
        ("dependencies".into(), Value::list(dependencies.collect())),
        ("timeout".into(), timeout),
        ("statusCommand".into(), list_or_empty(build.get("statusCommand"))),
    ]))
}

/// The configuration of a module of a plain type, with the defaults of its parts.
fn spec_config(module: &Module) -> Value {
    let service =
        [("dependencies", Value::list(Vec::new())), ("disabled", Value::from(false)), ("timeout", Value::from(300))];
    let step = [
        ("dependencies", Value::list(Vec::new())),
        ("disabled", Value::from(false)),
        ("timeout", Value::from(600)),
        ("env", Value::map(Map::new())),
        ("artifacts", Value::list(Vec::new())),
    ];
    let mut map = Map::from_iter([
        ("build".into(), build_config(module)),
        ("services".into(), completed(module, "services", &service)),
        ("tasks".into(), completed(module, "tasks", &step)),
        ("tests".into(), completed(module, "tests", &step)),
    ]);
    for (key, draft) in module.fields.entries() {
        let is_own = !COMMON_KEYS.contains(&key.as_str()) && !["inputs", "template"].contains(&key.as_str());
        if is_own && !map.contains_key(&key) {
            map.insert(key, draft.written());
        }
    }
    Value::map(map)
}

fn completed(module: &Module, key: &str, defaults: &[(&str, Value)]) -> Value {
    let complete = |item: &Draft| {
        let mut map = item.written().as_map().cloned().unwrap_or_default();
        for (key, value) in defaults {
            map.entry((*key).into()).or_insert_with(|| value.clone());
        }
        Value::map(map)
    };
    Value::list(module.items(key).iter().map(complete).collect())
}
