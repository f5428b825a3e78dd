//! Conversion of `kubernetes` and `helm` modules: a Deploy for the module, and a pod for each task and test that has a
//! resource to take it from. Neither builds anything itself; a Build only holds the files that are copied.

use super::Module;
use super::convert::{Label, Names, Tie, action, build_action, build_reference, copied, runtime_fields};
use crate::config::ActionKind;
use crate::draft::Draft;
use crate::ground::Ground;
use crate::render::Config;
use crate::scan::texts;
use ecow::EcoString;
use indexmap::IndexMap;
use purlin_value::{Value, merge_patch, path};

/// Keys of a kubernetes module that its Deploy takes over.
const KUBERNETES_KEYS: &[&str] =
    &["namespace", "kustomize", "patchResources", "portForwards", "applyArgs", "localMode"];

/// Keys of a task or test that its pod takes over.
const POD_KEYS: &[&str] = &["command", "args", "env", "artifacts", "cacheResult"];

type Fields = Vec<(&'static str, Draft)>;

pub(super) fn kubernetes_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let mut actions = copying_build(names, module);
    let has_build = !actions.is_empty();
    let mut sources: Fields = vec![
        ("manifestTemplates", list_of(module.field("files"))),
        ("manifestFiles", Draft::List(Vec::new())),
        ("manifests", list_of(module.field("manifests"))),
    ];
    let mut spec: Fields = taken(module, KUBERNETES_KEYS);
    spec.extend(sources.iter().cloned());
    spec.push(("waitForJobs", Draft::Value(Value::from(true))));
    let resource = module.field("serviceResource");
    spec.extend(target_and_sync(names, module, resource.as_ref()));
    let mut fields = deploy_fields(names, module, has_build, resource.as_ref());
    fields.push(("include", list_of(module.field("files"))));
    actions.push(action(module, "kubernetes", ActionKind::Deploy, Label::of_module(module), fields, spec));
    sources.extend(taken(module, &["namespace"]));
    actions.extend(pod_actions(names, module, "kubernetes-pod", has_build, &sources));
    actions
}

pub(super) fn helm_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let mut actions = copying_build(names, module);
    let has_build = !actions.is_empty();
    let base = module.text("base").and_then(|name| names.modules.get(&name).cloned());
    let mut shared: Fields = taken(module, &["namespace"]);
    let release = module.field("releaseName").unwrap_or_else(|| Draft::Value(module.name_value()));
    shared.push(("releaseName", release));
    shared.push(("valueFiles", list_of(module.field("valueFiles"))));
    if !is_true(module.field("skipDeploy")) {
        let own = module.field("serviceResource");
        let below = base.as_ref().and_then(|base| base.field("serviceResource"));
        let resource = match (below, own) {
            (Some(below), Some(own)) => Some(merged(names, &below, &own)),
            (below, own) => own.or(below),
        };
        // Only the module that is named: its own base does not count.
        let own = module.field("values").unwrap_or_else(Draft::empty_map);
        let values = match base.as_ref().and_then(|base| base.field("values")) {
            Some(below) => merged(names, &below, &own),
            None => own,
        };
        let mut spec = vec![("chart", chart(module, base.as_deref())), ("values", values)];
        spec.extend(shared.iter().cloned());
        spec.extend(taken(module, &["portForwards", "localMode"]));
        spec.extend(module.field("atomicInstall").map(|draft| ("atomic", draft)));
        spec.extend(target_and_sync(names, module, resource.as_ref()));
        let fields = deploy_fields(names, module, has_build, resource.as_ref());
        actions.push(action(module, "helm", ActionKind::Deploy, Label::of_module(module), fields, spec));
    }
    shared.push(("chart", chart(module, None)));
    shared.push(("values", module.field("values").unwrap_or_else(Draft::empty_map)));
    actions.extend(pod_actions(names, module, "helm-pod", has_build, &shared));
    actions
}

fn tie(has_build: bool) -> Tie {
    if has_build { Tie::KeyAndDependency } else { Tie::None }
}

fn list_of(draft: Option<Draft>) -> Draft {
    draft.unwrap_or_else(|| Draft::List(Vec::new()))
}

fn is_true(draft: Option<Draft>) -> bool {
    draft.and_then(|draft| draft.as_value().and_then(Value::as_bool)).unwrap_or(false)
}

/// A Build that only copies, if there are files to copy.
fn copying_build(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    if !names.makes_build(module) {
        return Vec::new();
    }
    let mut build = build_action(names, module, "exec", Vec::new());
    // A Build without copied files only provides its folder, and has no dependencies.
    if copied(module).next().is_none()
        && let Draft::Map(body) = &mut build.1.body
    {
        for (_, draft) in body.iter_mut().filter(|(key, _)| key == "dependencies") {
            *draft = Draft::List(Vec::new());
        }
    }
    vec![build]
}

fn taken(module: &Module, keys: &[&'static str]) -> Fields {
    keys.iter().filter_map(|key| Some((*key, module.field(key)?))).collect()
}

/// Fields of the Deploy of a module; it also depends on the Builds of its build dependencies, and of its image.
fn deploy_fields(names: &Names<'_>, module: &Module, has_build: bool, resource: Option<&Draft>) -> Fields {
    let mut fields = runtime_fields(names, module, &module.fields, tie(has_build), 300);
    let image = resource.and_then(|resource| resource.get("containerModule"));
    let image = image.and_then(|draft| draft.as_value().and_then(Value::as_str).map(EcoString::from));
    let mut builds = super::convert::build_references(names, module);
    let is_listed = |name: &EcoString| module.dependencies.iter().any(|dependency| dependency.name == *name);
    builds.extend(image.filter(|name| !is_listed(name)).and_then(|name| build_reference(names, &name)));
    for (key, draft) in &mut fields {
        if *key == "dependencies"
            && let Draft::List(list) = draft
        {
            list.extend(builds.iter().cloned());
        }
    }
    fields
}

/// The files of a chart inside the module, or possible values files for a chart elsewhere.
pub(super) fn chart_files(ground: &Ground<'_>, module: &Module) -> Vec<String> {
    let folder = module.text("chartPath").unwrap_or_else(|| ".".into());
    let described = path::join(&path::join(&module.config.folder, &folder), "Chart.yaml");
    let files: &[&str] = match ground.session.world.exists(&described) {
        true => &["*", "charts/**/*", "templates/**/*"],
        false => &["*.yaml", "*.yml"],
    };
    let values = module.field("valueFiles").map(|files| texts(&files.written())).unwrap_or_default();
    files.iter().copied().chain(values.iter().map(String::as_str)).map(|file| path::join(&folder, file)).collect()
}

/// Location of the chart: in the module, in another folder of it, in a repository, in the base module.
fn chart(module: &Module, base: Option<&Module>) -> Draft {
    let mut entries: Vec<(EcoString, Draft)> = Vec::new();
    for (from, to) in [("chart", "name"), ("repo", "repo"), ("version", "version")] {
        entries.extend(module.field(from).map(|draft| (to.into(), draft)));
    }
    let of = base.unwrap_or(module);
    if module.field("chart").is_none() || base.is_some() {
        entries.push(("path".into(), of.field("chartPath").unwrap_or_else(|| Draft::text("."))));
    }
    Draft::Map(entries)
}

/// A draft laid upon another as a merge patch: null removes, everything but mappings is replaced.
fn merged(names: &Names<'_>, below: &Draft, own: &Draft) -> Draft {
    if let (Some(below), Some(own)) = (below.as_value(), own.as_value()) {
        return Draft::Value(merge_patch(below, own, names.session()));
    }
    if !own.is_map() {
        return own.clone();
    }
    // Either side may hold templates that only an action can resolve.
    let mut entries: IndexMap<EcoString, Draft> = below.entries().into_iter().collect();
    for (key, over) in own.entries() {
        if over.is_null() {
            entries.shift_remove(&key);
            continue;
        }
        let base = entries.get(&key).cloned().unwrap_or_else(|| Draft::Value(Value::null()));
        let over = merged(names, &base, &over);
        entries.insert(key, over);
    }
    Draft::Map(entries.into_iter().collect())
}

/// The container that a resource of a module means: by labels, or by kind and name.
fn target(module: &Module, resource: &Draft) -> Draft {
    let given = |key: &str| resource.get(key).filter(|draft| !draft.is_null());
    let mut entries: Vec<(EcoString, Draft)> = match given("podSelector").filter(|draft| !draft.entries().is_empty()) {
        Some(labels) => vec![("podSelector".into(), labels)],
        None => vec![
            ("kind".into(), given("kind").unwrap_or_else(|| Draft::text("Deployment"))),
            ("name".into(), given("name").unwrap_or_else(|| Draft::Value(module.name_value()))),
        ],
    };
    entries.extend(given("containerName").map(|draft| ("containerName".into(), draft)));
    Draft::Map(entries)
}

/// The default target of a Deploy, and its sync settings in the newer form.
fn target_and_sync(names: &Names<'_>, module: &Module, resource: Option<&Draft>) -> Fields {
    let Some(target) = resource.map(|resource| target(module, resource)) else { return Vec::new() };
    let mut fields = vec![("defaultTarget", target.clone())];
    let Some(sync) = module.field("sync").or_else(|| module.field("devMode")) else { return fields };
    // Files come from the module that builds the image, where one is named.
    let source = resource.and_then(|resource| resource.get("containerModule"));
    let source = source.and_then(|draft| names.modules.get(draft.as_value()?.as_str()?).cloned());
    let folder = names.full_folder(source.as_deref().unwrap_or(module));
    let items = sync.get("paths").or_else(|| sync.get("sync")).map(|paths| paths.items()).unwrap_or_default();
    let path = |item: &Draft| {
        let source = item.get("source").and_then(|draft| draft.as_value().and_then(Value::as_str).map(str::to_owned));
        let source = path::join(&folder, source.as_deref().unwrap_or("."));
        let kept = item.entries().into_iter().filter(|(key, _)| key != "source" && key != "target");
        let mut entries: Vec<(EcoString, Draft)> = kept.collect();
        entries.push(("sourcePath".into(), Draft::text(source)));
        entries.extend(item.get("target").map(|draft| ("containerPath".into(), draft)));
        entries.push(("target".into(), target.clone()));
        Draft::Map(entries)
    };
    let mut entries = vec![(EcoString::from("paths"), Draft::List(items.iter().map(path).collect()))];
    let changed: Vec<(EcoString, Draft)> =
        ["command", "args"].iter().filter_map(|key| Some(((*key).into(), sync.get(key)?))).collect();
    if !changed.is_empty() && target.get("kind").is_some() {
        let overridden = std::iter::once((EcoString::from("target"), target)).chain(changed);
        entries.push(("overrides".into(), Draft::List(vec![Draft::Map(overridden.collect())])));
    }
    fields.push(("sync", Draft::Map(entries)));
    fields
}

/// A pod for each task and test; those without a resource as a source are left out, as in Garden.
fn pod_actions(
    names: &Names<'_>,
    module: &Module,
    type_name: &str,
    has_build: bool,
    shared: &[(&'static str, Draft)],
) -> Vec<(ActionKind, Config)> {
    let mut actions = Vec::new();
    for (key, kind) in [("tasks", ActionKind::Run), ("tests", ActionKind::Test)] {
        for item in module.items(key) {
            let Some(label) = names.label(module, &item, kind) else { continue };
            let own = item.get("resource").filter(|draft| !draft.is_null());
            let Some(resource) = own.or_else(|| module.field("serviceResource")) else {
                names.report_no_resource(module, &item);
                continue;
            };
            let given = |key: &&'static str| Some((*key, item.get(key).filter(|draft| !draft.is_null())?));
            let mut spec: Fields = POD_KEYS.iter().filter_map(given).collect();
            spec.push(("resource", target(module, &resource)));
            spec.extend(shared.iter().cloned());
            let fields = runtime_fields(names, module, &item, tie(has_build), 600);
            actions.push(action(module, type_name, kind, label, fields, spec));
        }
    }
    actions
}
