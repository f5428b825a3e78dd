//! Actions of type `exec`: commands on this machine.

use super::{GardenProject, kind_of, seconds, text, timeout};
use crate::action::{Action, Artifact, Baggage, Command, Copy, Kind, Persistent, Reuse, Stage, Stay, Travel};
use crate::event::Cause;
use crate::local::stage::stays_inside;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::{Blob, Version};
use purlin_host::native;
use purlin_value::{Value, path};
use std::path::PathBuf;
use std::time::Duration;

/// The folder for artifacts of actions, in the project.
const ARTIFACTS: &str = ".garden/artifacts";

/// Variables that name the folder of outputs.
const OUTPUT_FOLDER: &[&str] = &["GARDEN_ACTION_OUTPUTS_PATH"];

/// Variables that name the file of outputs: as Garden sets it, and as its documentation calls it.
const OUTPUT_FILE: &[&str] = &["GARDEN_ACTION_JSON_OUTPUTS_PATH", "GARDEN_ACTION_OUTPUTS_JSON_PATH"];

/// The resolved action of this type.
pub fn action(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<Action, Cause> {
    let kind = kind_of(action.kind);
    let folder = project.full(&project.resolution.live.build_folder(action));
    let env = environment(spec, version);
    let command = |key: &str| {
        let words: Vec<String> = spec.get(key)?.as_list()?.iter().map(text).collect();
        let shell = spec.get("shell").and_then(Value::as_bool).unwrap_or(false);
        (!words.is_empty()).then(|| Command { words, shell, folder: folder.clone(), env: env.clone() })
    };
    let is_persistent = spec.get("persistent").and_then(Value::as_bool).unwrap_or(false);
    let patience = seconds(spec.get("statusTimeout")).unwrap_or(Duration::from_secs(10));
    let secrets = project.secrets_with(spec);
    let artifacts = artifacts(project, spec)?;
    let main = command(if kind == Kind::Deploy { "deployCommand" } else { "command" });
    let tool = main.as_ref().filter(|main| !is_staged(kind, main)).map(|main| project.tool(main));
    let stage = (kind == Kind::Build).then(|| stage(project, action, version, &folder));
    let travel = match stay(action, spec, kind, is_persistent) {
        Some(why) => Travel::Stays(why),
        None => {
            let secret = secret_place(spec);
            Travel::Goes(Box::new(Baggage { secret, ..baggage(project, action, stage.as_ref(), &folder) }))
        }
    };
    Ok(Action {
        reuse: match kind {
            Kind::Build => Reuse::Last(folder.clone()),
            Kind::Run | Kind::Test => Reuse::Version,
            Kind::Deploy => Reuse::Never,
        },
        sources: project.sources(action, kind),
        stage,
        status: command("statusCommand"),
        command: main,
        cleanup: command("cleanupCommand"),
        persistent: is_persistent.then_some(Persistent { patience }),
        artifacts,
        output_folder: OUTPUT_FOLDER,
        output_file: OUTPUT_FILE,
        timeout: timeout(action),
        secrets,
        travel,
        ..project.blank(action, version, &[tool.unwrap_or_default()])
    })
}

/// Why an action runs on this machine only.
fn stay(action: &GardenAction, spec: &Value, kind: Kind, is_persistent: bool) -> Option<Stay> {
    let at_source = action.fields.get("buildAtSource").and_then(Value::as_bool).unwrap_or(false);
    if kind == Kind::Deploy {
        return Some(Stay::Effects);
    }
    if is_persistent {
        return Some(Stay::Persistent);
    }
    if spec.get("statusCommand").and_then(Value::as_list).is_some_and(|words| !words.is_empty()) {
        return Some(Stay::Status);
    }
    if kind == Kind::Build && at_source {
        return Some(Stay::InPlace);
    }
    None
}

/// Where a spec has a secret.
fn secret_place(spec: &Value) -> Option<String> {
    if spec.is_tainted() {
        return Some("spec".to_owned());
    }
    let entries = spec.as_map()?;
    let (key, value) = entries.iter().find(|(_, value)| value.is_tainted_deep())?;
    let inner = value.leaves().find(|(_, leaf)| leaf.is_tainted()).map(|(path, _)| path);
    Some(match inner.filter(|path| !path.is_empty()) {
        Some(path) => format!("spec.{key}.{path}"),
        None => format!("spec.{key}"),
    })
}

/// Everything that an action reads.
fn baggage(
    project: &GardenProject<'_>,
    action: &GardenAction,
    stage: Option<&Stage>,
    folder: &std::path::Path,
) -> Baggage {
    if let Some(stage) = stage {
        let (source, files, copies) = (stage.source.clone(), stage.files.clone(), stage.copies.clone());
        return Baggage { source, files, copies, is_product: true, ..Baggage::default() };
    }
    let source = project.full(&action.source_folder);
    if source != folder {
        return Baggage { base: Some(folder.to_owned()), ..Baggage::default() };
    }
    let hashed = project.resolution.live.hashed(project.session(), action);
    let file = |(file, blob): (&str, &Blob)| (PathBuf::from(path::within(&action.source_folder, file)), Some(*blob));
    let files = hashed.iter().flat_map(|hashed| hashed.contents()).map(file).collect();
    Baggage { source, files, ..Baggage::default() }
}

/// Whether a program is one of the files that a Build is laid out with, which are part of its version.
fn is_staged(kind: Kind, command: &Command) -> bool {
    let first = command.words.first().and_then(|line| line.split_whitespace().next()).unwrap_or_default();
    kind == Kind::Build && first.contains('/') && !first.starts_with('/')
}

fn environment(spec: &Value, version: &Version) -> Vec<(String, String)> {
    let names = ["GARDEN_ACTION_VERSION", "GARDEN_MODULE_VERSION"];
    let own = names.map(|name| (name.to_owned(), version.string.to_string()));
    let given = spec.get("env").and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
    own.into_iter().chain(given.map(|(name, value)| (name.to_string(), text(value)))).collect()
}

/// A Build works on a copy of its files, unless it is configured to build in place.
pub(super) fn stage(
    project: &GardenProject<'_>,
    action: &GardenAction,
    version: &Version,
    folder: &std::path::Path,
) -> Stage {
    let source = project.full(&action.source_folder);
    let at_source = action.fields.get("buildAtSource").and_then(Value::as_bool).unwrap_or(false);
    let file =
        |(file, blob): (&String, &Blob)| (native::system_path(path::within(&action.source_folder, file)), Some(*blob));
    let files = match at_source {
        true => Vec::new(),
        false => version.files.iter().zip(version.blobs.iter()).map(file).collect(),
    };
    let copies = action.fields.get("copyFrom").and_then(Value::as_list).unwrap_or(&[]).iter().filter_map(|copy| {
        let build = copy.get("build")?.as_str()?;
        let other = project.resolution.graph().actions.get(format!("build.{build}").as_str())?;
        let source = copy.get("sourcePath")?.as_str()?.to_owned();
        let target = copy.get("targetPath").and_then(Value::as_str).filter(|path| !path.is_empty());
        let target = target.map_or_else(|| source.clone(), str::to_owned);
        Some(Copy { from: project.full(&project.resolution.live.build_folder(other)), source, target })
    });
    let source = if at_source { folder.to_owned() } else { source };
    Stage { root: project.root(), source, files, target: folder.to_owned(), copies: copies.collect() }
}

fn artifacts(project: &GardenProject<'_>, spec: &Value) -> Result<Vec<Artifact>, Cause> {
    let list = spec.get("artifacts").and_then(Value::as_list).unwrap_or(&[]);
    let artifact = |item: &Value| {
        let source = item.get("source")?.as_str()?.to_owned();
        let target = item.get("target").and_then(Value::as_str).unwrap_or(".");
        if !stays_inside(target) {
            return Some(Err(Cause::Other(format!("the artifact target `{target}` is outside of `{ARTIFACTS}`"))));
        }
        let target = PathBuf::from(path::join(ARTIFACTS, target));
        Some(Ok(Artifact { source, root: project.root(), target }))
    };
    list.iter().filter_map(artifact).collect()
}
