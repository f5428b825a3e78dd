//! The changes of a deploy: the server applies each object as a dry run, and the result is compared with the current
//! state.

use crate::apply::{Failed, How, apply_one, on_threads};
use crate::client::{Client, GoOn, JSON};
use crate::deploy::{Deployment, Prepared};
use crate::inventory::Inventory;
use crate::object::{Id, Object, place_below};
use purlin_value::emit::REDACTED;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The object.
    pub id: Id,
    /// Its current state; `None` if it is new.
    pub before: Option<Json>,
    /// Its state afterwards; `None` if it would be removed.
    pub after: Option<Json>,
}

/// Replaces a secret that changes.
const CHANGED: &str = "(secret, changed)";

/// The objects that a deploy would create, change or remove. Server-managed fields are left out, and so are the
/// contents of Secrets.
pub fn changes(client: &Client, deployment: &Deployment, go_on: GoOn<'_>) -> Result<Vec<Change>, Failed> {
    let prepared = Prepared::new(client, deployment, go_on)?;
    let how = How { force: true, dry: true };
    let found = on_threads(&prepared.objects, |object| {
        let failed = |error| Failed::of(object, error);
        let Some(resource) = prepared.discovery.find(&object.id.api_version, &object.id.kind) else {
            // Its kind comes with this deploy, so it is new.
            return Ok(shown(object, None, object.body.clone()));
        };
        let path = resource.path(&object.id.namespace, Some(&object.id.name));
        let before = client.find(&path, JSON, &object.id.to_string(), go_on).map_err(failed)?;
        let after = match (&before, apply_one(client, resource, object, how, go_on)) {
            (_, Ok(after)) => after,
            // A new namespace does not exist yet during a dry run.
            (None, Err(crate::error::ApiError::NotFound(_))) => object.body.clone(),
            (_, Err(error)) => return Err(failed(error)),
        };
        Ok(shown(object, before, after))
    })?;
    let mut changes: Vec<Change> = found;
    changes.retain(|change| change.before != change.after);
    let before = Inventory::read(client, &prepared.namespace, &deployment.name, go_on)?.unwrap_or_default();
    for item in before.without(&prepared.objects).into_iter().filter(|item| !item.keep) {
        let Some(resource) = prepared.discovery.find_any(&item.id.api_version, &item.id.kind) else { continue };
        let path = resource.path(&item.id.namespace, Some(&item.id.name));
        if let Some(live) = client.find(&path, JSON, &item.id.to_string(), go_on)? {
            let mut change = Change { id: item.id, before: Some(live), after: None };
            change.tidy(&[]);
            changes.push(change);
        }
    }
    Ok(changes)
}

/// The change of an object, if any, for display.
fn shown(object: &Object, before: Option<Json>, after: Json) -> Change {
    let mut change = Change { id: object.id.clone(), before, after: Some(after) };
    change.tidy(&object.secrets);
    change
}

impl Change {
    /// Removes server-managed fields, and hides the contents of Secrets and the values at these places. Where we have a
    /// secret, the cluster has an older one.
    fn tidy(&mut self, secrets: &[String]) {
        for object in [&mut self.before, &mut self.after].into_iter().flatten() {
            strip(object);
        }
        secrets.iter().for_each(|place| self.hide(place));
        if self.id.kind == "Secret" {
            let parts = ["data", "stringData"].into_iter();
            let keys = |object: &Option<Json>, part: &str| -> Vec<String> {
                let values = object.as_ref().and_then(|object| object.get(part)).and_then(Json::as_object);
                values
                    .map(|values| values.keys().map(|key| place_below(&format!("/{part}"), key)).collect())
                    .unwrap_or_default()
            };
            let places: BTreeSet<String> =
                parts.flat_map(|part| [keys(&self.before, part), keys(&self.after, part)].concat()).collect();
            places.iter().for_each(|place| self.hide(place));
        }
    }

    /// Hides the value at a place; a change of it remains visible.
    fn hide(&mut self, place: &str) {
        let mut before = self.before.as_mut().and_then(|object| object.pointer_mut(place));
        let mut after = self.after.as_mut().and_then(|object| object.pointer_mut(place));
        let is_changed = matches!((&before, &after), (Some(before), Some(after)) if before != after);
        if let Some(before) = &mut before {
            **before = REDACTED.into();
        }
        if let Some(after) = &mut after {
            **after = if is_changed { CHANGED } else { REDACTED }.into();
        }
    }
}

/// Removes server-managed fields.
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
