//! Changes the objects of a release: creates, updates and removes them, by server-side apply or as Helm 3 did it.

use super::objects::{is_same, kind_name, resource};
use super::three_way::{is_empty, json_merge, json_three_way, strategic};
use super::{Engine, MANAGER, Trouble, managed};
use crate::apply::on_threads;
use crate::client::{APPLY, JSON, METADATA};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::foreign::Secrets;
use crate::object::Object;
use crate::wire::{Ask, Method};
use serde_json::Value as Json;

const STRATEGIC: &str = "application/strategic-merge-patch+json";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

/// How often a change that met another one is tried.
const TRIES: usize = 5;

/// How objects are changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apply {
    /// Whether the server merges, or this side does as Helm 3.
    pub server_side: bool,
    /// Takes over fields that others have set.
    pub force_conflicts: bool,
    /// Replaces objects instead of changing them.
    pub replace: bool,
    /// Whether custom objects are compared with the cluster, too, when this side merges.
    pub merges_custom: bool,
    /// Whether fields that were set on the client become applied ones before.
    pub upgrades_manager: bool,
}

/// What became of the objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    pub(super) created: Vec<Object>,
}

/// How dependents of removed objects go.
pub(super) const BACKGROUND: &str = "background";

fn gone_as(propagation: &str) -> &'static str {
    match propagation {
        "orphan" => "Orphan",
        "foreground" => "Foreground",
        _ => "Background",
    }
}

/// Objects one after the other that have the same kind are changed together.
fn waves(objects: &[Object]) -> impl Iterator<Item = &[Object]> {
    objects.chunk_by(|a, b| a.id.kind == b.id.kind)
}

fn shown(object: &Object) -> String {
    format!("{}/{} {}", object.id.namespace, object.id.name, kind_name(&object.id))
}

impl Engine<'_> {
    /// Creates objects, in waves of one kind.
    pub(super) fn create_all(&self, kinds: &Discovery, objects: &[Object], how: Apply) -> Result<(), Trouble> {
        waves(objects).try_for_each(|wave| on_threads(wave, |object| self.create_one(kinds, object, how)).map(drop))
    }

    pub(super) fn create_one(&self, kinds: &Discovery, object: &Object, how: Apply) -> Result<(), Trouble> {
        if how.server_side && !object.id.name.is_empty() {
            return self.apply_one(kinds, object, how.force_conflicts);
        }
        let path = resource(kinds, object)?.path(&object.id.namespace, None);
        let path = format!("{path}?fieldManager={MANAGER}");
        let body = serde_json::to_vec(&object.body).unwrap_or_default();
        let ask = Ask { method: Method::Post, path: &path, accept: METADATA, body: Some((JSON, &body)) };
        self.send(&ask, object).map(drop).map_err(Trouble::from)
    }

    fn send(&self, ask: &Ask<'_>, object: &Object) -> Result<Json, ApiError> {
        let answer = self.client.json(ask, &object.id.to_string(), self.around.go_on);
        answer.map_err(|error| error.without(&Secrets::of(object)))
    }

    fn apply_one(&self, kinds: &Discovery, object: &Object, force: bool) -> Result<(), Trouble> {
        let mut path = resource(kinds, object)?.path(&object.id.namespace, Some(&object.id.name));
        path.push_str(&format!("?fieldManager={MANAGER}&force={force}&fieldValidation=Strict"));
        let body = serde_json::to_vec(&object.body).unwrap_or_default();
        let ask = Ask { method: Method::Patch, path: &path, accept: METADATA, body: Some((APPLY, &body)) };
        self.send(&ask, object).map(drop).map_err(|error| {
            let what = match &error {
                ApiError::Conflict { .. } => "conflict occurred while applying object",
                ApiError::Stopped => return Trouble::Stopped,
                _ => "server-side apply failed for object",
            };
            Trouble::from(error).within(&format!("{what} {}", shown(object)))
        })
    }

    /// Brings objects from what was applied to what is wanted. The objects that were created are told even if it fails.
    pub(super) fn update_all(
        &self,
        kinds: &Discovery,
        applied: &[Object],
        wanted: &[Object],
        how: Apply,
    ) -> (Changed, Result<(), Trouble>) {
        let mut changed = Changed::default();
        let mut failures: Vec<Trouble> = Vec::new();
        for wave in waves(wanted) {
            let done = on_threads(wave, |object| {
                Ok::<_, std::convert::Infallible>(self.update_one(kinds, applied, object, how))
            });
            let Ok(done) = done;
            for (object, result) in wave.iter().zip(done) {
                match result {
                    Outcome::Created(result) => {
                        changed.created.push(object.clone());
                        if let Err(trouble) = result {
                            return (changed, Err(trouble.within("failed to create resource")));
                        }
                    }
                    Outcome::Unknown(trouble) => return (changed, Err(trouble)),
                    Outcome::Updated(result) => failures.extend(result.err()),
                }
            }
        }
        if failures.is_empty() {
            failures = self.prune(kinds, applied, wanted);
        }
        (changed, joined(failures, " && "))
    }

    fn update_one(&self, kinds: &Discovery, applied: &[Object], object: &Object, how: Apply) -> Outcome {
        let accept = if how.server_side && !how.upgrades_manager { METADATA } else { JSON };
        let live = match resource(kinds, object) {
            Ok(_) if object.id.name.is_empty() => Ok(None),
            Ok(resource) => {
                let path = resource.path(&object.id.namespace, Some(&object.id.name));
                self.client.find(&path, accept, &object.id.to_string(), self.around.go_on).map_err(Trouble::from)
            }
            Err(trouble) => Err(trouble),
        };
        match live {
            Err(trouble) => Outcome::Unknown(trouble.within("could not get information about the resource")),
            Ok(None) => Outcome::Created(self.create_one(kinds, object, how)),
            Ok(Some(live)) => {
                let before = applied.iter().find(|before| is_same(&before.id, &object.id));
                let before = before.map_or(&live, |before| &before.body);
                Outcome::Updated(self.change_one(kinds, before, object, &live, how))
            }
        }
    }

    fn change_one(
        &self,
        kinds: &Discovery,
        before: &Json,
        object: &Object,
        live: &Json,
        how: Apply,
    ) -> Result<(), Trouble> {
        if how.replace {
            return self.replace_one(kinds, object, live);
        }
        if how.server_side {
            if how.upgrades_manager {
                self.upgrade_manager(kinds, object, live)?;
            }
            return self.apply_one(kinds, object, how.force_conflicts);
        }
        let (patch, kind) = match strategic(before, &object.body, live) {
            Some(patch) => (patch, STRATEGIC),
            None if how.merges_custom => (json_three_way(before, &object.body, live), MERGE),
            None => (json_merge(before, &object.body), MERGE),
        };
        if is_empty(&patch) {
            return Ok(());
        }
        let path = resource(kinds, object)?.path(&object.id.namespace, Some(&object.id.name));
        let path = format!("{path}?fieldManager={MANAGER}");
        let body = serde_json::to_vec(&patch).unwrap_or_default();
        let ask = Ask { method: Method::Patch, path: &path, accept: METADATA, body: Some((kind, &body)) };
        let (name, kind) = (&object.id.name, &object.id.kind);
        let before = || format!("cannot patch {name:?} with kind {kind}");
        self.send(&ask, object).map(drop).map_err(|error| Trouble::from(error).within(&before()))
    }

    fn replace_one(&self, kinds: &Discovery, object: &Object, live: &Json) -> Result<(), Trouble> {
        let path = resource(kinds, object)?.path(&object.id.namespace, Some(&object.id.name));
        let path = format!("{path}?fieldManager={MANAGER}&fieldValidation=Strict");
        let mut body = object.body.clone();
        if let Some(version) = live.pointer("/metadata/resourceVersion") {
            body["metadata"]["resourceVersion"] = version.clone();
        }
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let ask = Ask { method: Method::Put, path: &path, accept: METADATA, body: Some((JSON, &body)) };
        let done = self.send(&ask, object);
        done.map(drop).map_err(|error| Trouble::from(error).within("failed to replace object"))
    }

    /// Makes fields that were set on the client applied ones. Another change in between leads to another try.
    fn upgrade_manager(&self, kinds: &Discovery, object: &Object, live: &Json) -> Result<(), Trouble> {
        let path = resource(kinds, object)?.path(&object.id.namespace, Some(&object.id.name));
        let mut live = live.clone();
        for attempt in 1.. {
            let Some(patch) = managed::to_applied(&live) else { return Ok(()) };
            let body = serde_json::to_vec(&patch).unwrap_or_default();
            let with_manager = format!("{path}?fieldManager={MANAGER}");
            let ask =
                Ask { method: Method::Patch, path: &with_manager, accept: METADATA, body: Some((JSON_PATCH, &body)) };
            match self.send(&ask, object) {
                Ok(_) => return Ok(()),
                Err(ApiError::Refused { code: 409 | 422, .. } | ApiError::Invalid { .. }) if attempt < TRIES => {
                    live = self.client.get(&path, &object.id.to_string(), self.around.go_on)?;
                }
                Err(error) => {
                    let what = format!("failed to patch object to upgrade CSA field manager {}", shown(object));
                    return Err(Trouble::from(error).within(&what));
                }
            }
        }
        Ok(())
    }

    /// Removes objects that were applied and are no longer wanted, except those that are to be kept.
    fn prune(&self, kinds: &Discovery, applied: &[Object], wanted: &[Object]) -> Vec<Trouble> {
        let mut failures = Vec::new();
        let is_gone = |before: &&Object| !wanted.iter().any(|object| is_same(&object.id, &before.id));
        for object in applied.iter().filter(is_gone).filter(|object| !object.id.name.is_empty()) {
            let Ok(resource) = resource(kinds, object) else { continue };
            let path = resource.path(&object.id.namespace, Some(&object.id.name));
            // An object that cannot be read is left alone, as in Helm.
            let found = self.client.find(&path, METADATA, &object.id.to_string(), self.around.go_on);
            let Ok(Some(live)) = found else { continue };
            let policy = live.pointer("/metadata/annotations").and_then(|all| all.get("helm.sh/resource-policy"));
            if policy.and_then(Json::as_str) == Some("keep") {
                continue;
            }
            if let Err(trouble) = self.delete_one(kinds, object, BACKGROUND) {
                let id = &object.id;
                let what =
                    format!("failed to delete resource namespace={}, name={}, kind={}", id.namespace, id.name, id.kind);
                failures.push(trouble.within(&what));
            }
        }
        failures
    }

    /// Requests the removal of an object. One that is not there is no error.
    pub(super) fn delete_one(&self, kinds: &Discovery, object: &Object, propagation: &str) -> Result<(), Trouble> {
        let path = resource(kinds, object)?.path(&object.id.namespace, Some(&object.id.name));
        let path = format!("{path}?propagationPolicy={}", gone_as(propagation));
        let ask = Ask { method: Method::Delete, path: &path, accept: JSON, body: None };
        match self.client.ask(&ask, &object.id.to_string(), self.around.go_on) {
            Ok(_) | Err(ApiError::NotFound(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Requests the removal of objects, in waves of one kind; all are tried.
    pub(super) fn delete_all(&self, kinds: &Discovery, objects: &[Object], propagation: &str) -> Vec<Trouble> {
        let mut failures = Vec::new();
        for wave in waves(objects) {
            let done = on_threads(wave, |object| {
                Ok::<_, std::convert::Infallible>(self.delete_one(kinds, object, propagation))
            });
            let Ok(done) = done;
            failures.extend(done.into_iter().filter_map(Result::err));
        }
        failures
    }
}

/// What became of one object.
enum Outcome {
    /// It could not be asked for.
    Unknown(Trouble),
    Created(Result<(), Trouble>),
    Updated(Result<(), Trouble>),
}

/// Several troubles as one.
pub(super) fn joined(failures: Vec<Trouble>, separator: &str) -> Result<(), Trouble> {
    let details: Vec<String> = failures.iter().flat_map(Trouble::details).cloned().collect();
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    match failures.into_iter().next() {
        None => Ok(()),
        Some(only) if texts.len() == 1 => Err(only),
        Some(_) => Err(Trouble::Said(texts.join(separator), details)),
    }
}
