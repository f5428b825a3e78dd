//! Images and numbers of replicas.

use crate::edit::{as_list, as_map, set, text};
use crate::kustomization::Kustomization;
use crate::resource::Resource;
use crate::rules;
use purlin_syntax::Diagnostic;
use purlin_value::{Session, Value};

/// Gives containers the images a kustomization wants.
pub fn images(kustomization: &Kustomization, resources: &mut [Resource]) {
    let wanted: Vec<Value> = kustomization.list("images").into_iter().chain(kustomization.list("imageTags")).collect();
    if wanted.is_empty() {
        return;
    }
    for resource in resources.iter_mut().filter(|resource| resource.kind() != "CustomResourceDefinition") {
        walk(&mut resource.value, &wanted);
    }
}

/// Finds lists of containers wherever they are. Depth is bounded by the reader's limit.
fn walk(value: &mut Value, wanted: &[Value]) {
    if let Some(list) = as_list(value) {
        return list.iter_mut().for_each(|item| walk(item, wanted));
    }
    let Some(map) = as_map(value) else { return };
    for (key, inner) in map.iter_mut() {
        if matches!(key.as_str(), "containers" | "initContainers") {
            for container in as_list(inner).into_iter().flat_map(|list| list.iter_mut()) {
                replace(container, wanted);
            }
        }
        walk(inner, wanted);
    }
}

fn replace(container: &mut Value, wanted: &[Value]) {
    for rule in wanted {
        let image = text(container, &["image"]).to_owned();
        let (name, tag, digest) = split(&image);
        if image.is_empty() || name != text(rule, &["name"]) {
            continue;
        }
        let new_name = Some(text(rule, &["newName"])).filter(|name| !name.is_empty()).unwrap_or(name);
        let scalar = |key: &str| rule.get(key).map(shown).unwrap_or_default();
        let (new_tag, new_digest, suffix) = (scalar("newTag"), scalar("digest"), scalar("tagSuffix"));
        let rest = match (new_tag.is_empty(), new_digest.is_empty()) {
            (false, false) => format!(":{new_tag}@{new_digest}"),
            (false, true) => format!(":{new_tag}"),
            (true, false) => format!("@{new_digest}"),
            (true, true) if !suffix.is_empty() => format!(":{tag}{suffix}"),
            (true, true) => {
                let tag = if tag.is_empty() { String::new() } else { format!(":{tag}") };
                if digest.is_empty() { tag } else { format!("{tag}@{digest}") }
            }
        };
        let origin = rule.origin;
        set(container, "image", Value::str(format!("{new_name}{rest}")).with_origin(origin));
    }
}

fn shown(value: &Value) -> String {
    value
        .as_str()
        .map(str::to_owned)
        .or_else(|| value.as_int().map(|n| n.to_string()))
        .unwrap_or_else(|| value.as_number().map(|number| number.to_string()).unwrap_or_default())
}

/// Name, tag and digest of an image.
fn split(image: &str) -> (&str, &str, &str) {
    let parts = purlin_value::image::parts(image);
    (parts.name, parts.tag.unwrap_or_default(), parts.digest.unwrap_or_default())
}

/// Sets numbers of replicas by name.
pub fn replicas(
    session: &Session,
    kustomization: &Kustomization,
    resources: &mut [Resource],
) -> Result<(), Diagnostic> {
    const KINDS: &[&str] = &["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];
    for rule in kustomization.list("replicas") {
        let name = text(&rule, &["name"]);
        let count = rule.get("count").cloned().unwrap_or_else(Value::null);
        let mut found = false;
        for resource in resources.iter_mut() {
            if KINDS.contains(&resource.kind()) && resource.answers_to(name) {
                found = true;
                crate::edit::visit(&mut resource.value, &["spec", "replicas"], true, &mut |old| *old = count.clone());
            }
        }
        if !found {
            let message = format!("`replicas`: no resource named `{name}` has replicas");
            let mut diagnostic = Diagnostic::nowhere(&rules::KUSTOMIZATION, message);
            diagnostic.span = session.origins.span(rule.origin, &session.sources);
            return Err(diagnostic);
        }
    }
    Ok(())
}
