//! Actions of type `container`: images that are built and, where a registry is named, pushed.

use super::exec::stage;
use super::{GardenProject, text, timeout};
use crate::action::{Action, Reuse};
use crate::event::Cause;
use crate::image::{Image, Secret, SecretValue};
use crate::outputs::Outputs;
use purlin_garden::action::Action as GardenAction;
use purlin_garden::versions::Version;
use purlin_value::Value;
use serde_json::Value as Json;

/// The resolved Build.
pub fn build(
    project: &GardenProject<'_>,
    action: &GardenAction,
    spec: &Value,
    version: &Version,
) -> Result<Action, Cause> {
    refuse_secrets(spec)?;
    let folder = project.full(&project.resolution.live.build_folder(action));
    let mut secrets = project.secrets_with(spec);
    let image = image(project, action, spec, version)?;
    let mut parts = vec![image.tags.join(" "), image.push.join(" "), image.insecure.join(" ")];
    // An argument without a value takes it from the environment.
    let open = image.args.iter().filter(|(_, value)| value.is_none());
    parts.extend(open.map(|(name, _)| format!("{name}={:?}", project.clusters.env.get(name))));
    secrets.extend(image.secrets.iter().filter_map(|secret| match &secret.value {
        SecretValue::Text(text) => Some(text.clone()),
        _ => None,
    }));
    Ok(Action {
        reuse: Reuse::Version,
        stage: Some(stage(project, action, version, &folder)),
        image: Some(Box::new(Image {
            dockerfile: folder.join(spec.get("dockerfile").and_then(Value::as_str).unwrap_or("Dockerfile")),
            context: folder,
            ..image
        })),
        timeout: timeout(action),
        secrets,
        ..project.blank(action, version, &parts)
    })
}

/// Fields that become arguments of the builder unchanged, which every user of the machine can read.
const ARGUMENTS: &[&str] = &["dockerfile", "extraFlags", "localId", "platforms", "publishId", "targetStage"];

fn refuse_secrets(spec: &Value) -> Result<(), Cause> {
    let is_secret = |key: &&&str| spec.get(key).is_some_and(|value| value.any(Value::is_tainted));
    match ARGUMENTS.iter().find(is_secret) {
        None => Ok(()),
        Some(key) => Err(Cause::Other(format!(
            "`spec.{key}` holds a secret, which other users of this machine could read from the arguments of the builder; \
             use `spec.secrets`, or a value of `spec.buildArgs`"
        ))),
    }
}

fn image(project: &GardenProject<'_>, action: &GardenAction, spec: &Value, version: &Version) -> Result<Image, Cause> {
    let outputs = project.resolution.static_outputs(&action.key);
    let output = |name: &str| outputs.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (local, deployed) = (output("localImageId"), output("deploymentImageId"));
    let mut tags = vec![local.clone()];
    let mut push = Vec::new();
    let registry = project.resolution.deployment_registry(&action.key);
    if local != deployed {
        tags.push(deployed.clone());
    }
    if registry.is_some() {
        push.push(deployed);
    }
    if project.push {
        push.push(publish_name(spec, &outputs, version, project.tag.as_deref()));
        push.dedup();
    }
    let is_insecure = registry.as_ref().and_then(|registry| registry.get("insecure")).and_then(Value::as_bool);
    let insecure = is_insecure.unwrap_or(false).then(|| output("deploymentImageName"));
    Ok(Image {
        tags,
        target: spec.get("targetStage").and_then(Value::as_str).map(str::to_owned),
        args: arguments(spec, version),
        secrets: secrets(spec)?,
        platforms: texts(spec, "platforms"),
        flags: texts(spec, "extraFlags"),
        insecure: insecure.iter().filter_map(|name| purlin_value::image::registry(name)).map(str::to_owned).collect(),
        push,
        outputs: plain(&outputs),
        ..Image::default()
    })
}

/// The name under which an image is published.
fn publish_name(spec: &Value, outputs: &purlin_value::Map, version: &Version, tag: Option<&str>) -> String {
    let given = spec.get("publishId").and_then(Value::as_str).filter(|name| !name.is_empty());
    let deployed = || outputs.get("deploymentImageName").and_then(Value::as_str).unwrap_or_default();
    let name = given.unwrap_or_else(deployed);
    let parts = purlin_value::image::parts(name);
    if let Some(tag) = tag {
        return format!("{}:{tag}", parts.name);
    }
    match parts.name == name {
        true => format!("{name}:{}", version.string),
        false => name.to_owned(),
    }
}

fn texts(spec: &Value, key: &str) -> Vec<String> {
    spec.get(key).and_then(Value::as_list).unwrap_or(&[]).iter().map(text).collect()
}

/// Build arguments: an empty one is left out, a null one takes its value from the environment.
fn arguments(spec: &Value, version: &Version) -> Vec<(String, Option<String>)> {
    let names = ["GARDEN_MODULE_VERSION", "GARDEN_ACTION_VERSION"];
    let own = names.map(|name| (name.to_owned(), Some(version.string.to_string())));
    let mut all: Vec<(String, Option<String>)> = own.into();
    for (key, value) in spec.get("buildArgs").and_then(Value::as_map).into_iter().flat_map(|map| map.iter()) {
        all.retain(|(other, _)| other != key.as_str());
        match (value.is_null() || value.as_bool() == Some(false), text(value)) {
            (true, _) => all.push((key.to_string(), None)),
            (false, given) if given.is_empty() => {}
            (false, given) => all.push((key.to_string(), Some(given))),
        }
    }
    all
}

fn secrets(spec: &Value) -> Result<Vec<Secret>, Cause> {
    let mut all = Vec::new();
    for (id, value) in spec.get("secrets").and_then(Value::as_map).into_iter().flat_map(|map| map.iter()) {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if id.is_empty() || !id.chars().all(is_allowed) {
            let why = format!("`{id}` cannot be the id of a build secret: use letters, digits, `.`, `_` and `-`");
            return Err(Cause::Other(why));
        }
        all.push(Secret { id: id.to_string(), value: SecretValue::Text(text(value)) });
    }
    Ok(all)
}

fn plain(outputs: &purlin_value::Map) -> Outputs {
    outputs.iter().map(|(key, value)| (key.to_string(), Json::from(text(value)))).collect()
}
