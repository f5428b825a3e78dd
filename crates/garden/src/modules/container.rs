//! Conversion of `container` modules: an image to build, and containers that run.

use super::Module;
use super::convert::{Names, Tie, action, build_action, copied, environment, runtime_fields};
use crate::config::ActionKind;
use crate::draft::Draft;
use crate::ground::Ground;
use crate::render::Config;
use ecow::EcoString;
use purlin_value::path;

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
    "limits",
    "sync",
    "localMode",
];

pub(super) fn container_actions(names: &Names<'_>, module: &Module) -> Vec<(ActionKind, Config)> {
    let mut actions = Vec::new();
    let has_build = names.makes_build(module);
    if has_build {
        let mut spec = vec![("buildArgs", module.field("buildArgs").unwrap_or_else(Draft::empty_map))];
        spec.extend(module.field("extraFlags").map(|draft| ("extraFlags", draft)));
        // The image of a jib-container has no Dockerfile; Garden always writes this name.
        let dockerfile = match module.config.type_name.as_str() {
            "jib-container" => Draft::text("_jib"),
            _ => module.field("dockerfile").unwrap_or_else(|| Draft::text("Dockerfile")),
        };
        spec.push(("dockerfile", dockerfile));
        if let Some(image) = module.field("image") {
            spec.push(("localId", image.clone()));
            spec.push(("publishId", image));
        }
        let stage = module.field("build").and_then(|build| build.get("targetImage"));
        spec.extend(stage.map(|draft| ("targetStage", draft)));
        let mut build = module.field("build").map(|build| build.entries()).unwrap_or_default();
        let known = |key: &EcoString| matches!(key.as_str(), "dependencies" | "timeout" | "targetImage");
        let mut config = build_action(names, module, &module.config.type_name, spec);
        // The `build` of a jib-container module is the spec of its Build.
        if let (true, Draft::Map(body)) = (module.config.type_name == "jib-container", &mut config.1.body) {
            for (_, draft) in body.iter_mut().filter(|(key, _)| key == "spec") {
                if let Draft::Map(spec) = draft {
                    spec.extend(build.drain(..).filter(|(key, _)| !known(key)));
                }
            }
        }
        actions.push(config);
    }
    for (key, kind, patience) in
        [("services", ActionKind::Deploy, 300), ("tasks", ActionKind::Run, 600), ("tests", ActionKind::Test, 600)]
    {
        for item in module.items(key) {
            let Some(label) = names.label(module, &item, kind) else { continue };
            let mut spec: Vec<(&str, Draft)> = CONTAINER_KEYS
                .iter()
                .filter_map(|key| Some((*key, item.get(key).filter(|draft| !draft.is_null())?)))
                .collect();
            if kind == ActionKind::Deploy {
                let given = |key: &str| item.get(key).filter(|draft| !draft.is_null());
                spec.extend(given("timeout").map(|draft| ("timeout", draft)));
                let is_new = given("sync").is_some();
                spec.extend(given("devMode").filter(|_| !is_new).map(|draft| ("sync", draft)));
            }
            let built = || {
                let name = module.name();
                Draft::Template(ecow::eco_format!("${{actions.build.{name}.outputs.deploymentImageId}}"))
            };
            let image = if has_build { Some(built()) } else { module.field("image") };
            spec.extend(image.map(|draft| ("image", draft)));
            spec.push(("env", environment(module, &item)));
            let tie = if has_build { Tie::Dependency } else { Tie::None };
            let fields = runtime_fields(names, module, &item, tie, patience);
            actions.push(action(module, "container", kind, label, fields, spec));
        }
    }
    actions
}

/// Whether a container module with an image still needs a build: it has a Dockerfile or copied files.
pub(super) fn builds_something(module: &Module) -> bool {
    let copies = copied(module).next().is_some();
    let files = module
        .files
        .0
        .as_ref()
        .is_some_and(|files| files.iter().any(|file| file == "*" || file.ends_with("Dockerfile")));
    copies || files
}

/// The files that a Dockerfile copies, and itself; `None` if they are not known.
pub(super) fn dockerfile_includes(ground: &Ground<'_>, module: &Module) -> Option<Vec<String>> {
    let name = module.text("dockerfile").unwrap_or_else(|| "Dockerfile".into());
    let bytes = ground.session.load_bytes(&path::join(&module.config.folder, &name)).ok()?;
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
