//! What a deploy would change: the server tries each object without keeping it, and the result is compared with what is
//! there.

use crate::apply::{Failed, How, apply_one, on_threads};
use crate::client::{Client, GoOn, JSON};
use crate::deploy::{Deployment, Prepared};
use crate::inventory::Inventory;
use crate::object::Id;
use serde_json::Value as Json;

/// What would become of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The object.
    pub id: Id,
    /// As it is; nothing if it is new.
    pub before: Option<Json>,
    /// As it would be; nothing if it would be removed.
    pub after: Option<Json>,
}

/// What stands for a value of a Secret.
const SECRET: &str = "(secret)";
const CHANGED: &str = "(secret, changed)";

/// The objects that a deploy would make, change or remove. What the server keeps for itself is left out, and so are the
/// contents of Secrets.
pub fn changes(client: &Client, deployment: &Deployment, go_on: GoOn<'_>) -> Result<Vec<Change>, Failed> {
    let prepared = Prepared::new(client, deployment, go_on)?;
    let how = How { force: true, dry: true };
    let found = on_threads(&prepared.objects, |object| {
        let failed = |error| Failed::of(object, error);
        let Some(resource) = prepared.discovery.find(&object.id.api_version, &object.id.kind) else {
            // Its kind comes with this deploy, so it is new.
            return Ok(Change { id: object.id.clone(), before: None, after: Some(object.body.clone()) });
        };
        let path = resource.path(&object.id.namespace, Some(&object.id.name));
        let before = client.find(&path, JSON, &object.id.to_string(), go_on).map_err(failed)?;
        let after = match (&before, apply_one(client, resource, object, how, go_on)) {
            (_, Ok(after)) => after,
            // A new namespace is not there yet for a trial.
            (None, Err(crate::error::ApiError::NotFound(_))) => object.body.clone(),
            (_, Err(error)) => return Err(failed(error)),
        };
        Ok(Change { id: object.id.clone(), before, after: Some(after) })
    })?;
    let mut changes: Vec<Change> = found.into_iter().map(shown).collect();
    changes.retain(|change| change.before != change.after);
    let before = Inventory::read(client, &prepared.namespace, &deployment.name, go_on)?.unwrap_or_default();
    for item in before.without(&prepared.objects).into_iter().filter(|item| !item.keep) {
        let Some(resource) = prepared.discovery.find_any(&item.id.api_version, &item.id.kind) else { continue };
        let path = resource.path(&item.id.namespace, Some(&item.id.name));
        if let Some(live) = client.find(&path, JSON, &item.id.to_string(), go_on)? {
            changes.push(shown(Change { id: item.id, before: Some(live), after: None }));
        }
    }
    Ok(changes)
}

/// A change as it is shown.
fn shown(mut change: Change) -> Change {
    for object in [&mut change.before, &mut change.after].into_iter().flatten() {
        strip(object);
    }
    if change.id.kind == "Secret" {
        mask(&mut change);
    }
    change
}

/// Leaves out what the server keeps for itself.
fn strip(object: &mut Json) {
    if let Some(body) = object.as_object_mut() {
        body.shift_remove("status");
    }
    let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) else { return };
    for key in ["managedFields", "resourceVersion", "generation", "uid", "creationTimestamp", "selfLink"] {
        metadata.shift_remove(key);
    }
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Json::as_object_mut) {
        annotations.shift_remove("kubectl.kubernetes.io/last-applied-configuration");
        annotations.shift_remove("deployment.kubernetes.io/revision");
        if annotations.is_empty() {
            metadata.shift_remove("annotations");
        }
    }
}

/// Hides what a Secret holds; that something changed is still seen.
fn mask(change: &mut Change) {
    let original = change.before.clone();
    for (object, other) in [(&mut change.before, None), (&mut change.after, original.as_ref())] {
        let Some(object) = object else { continue };
        for part in ["data", "stringData"] {
            let Some(values) = object.get_mut(part).and_then(Json::as_object_mut) else { continue };
            for (key, value) in values {
                let before = other.and_then(|other| other.get(part)?.get(key));
                let is_changed = before.is_some_and(|before| before != value);
                *value = if is_changed { CHANGED } else { SECRET }.into();
            }
        }
    }
}
