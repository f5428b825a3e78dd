//! The only way in which objects are deployed: inventory, hooks, definitions, everything else in order, prune, wait.

use crate::apply::{Failed, How, Mark, apply_all, unknown};
use crate::client::{Client, GoOn, JSON, METADATA};
use crate::delete::remove_all;
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::hooks::{self, Moment, moments};
use crate::inventory::{Inventory, Item};
use crate::object::{Object, duplicate, named};
use crate::path::below;
use crate::ready::Rules;
use crate::secrets::{Copy, copy_all};
use crate::wait::{Patience, wait_for};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::time::Duration;

/// The desired content of a cluster.
#[derive(Clone, Debug)]
pub struct Deployment {
    /// Its name, which identifies its inventory.
    pub name: String,
    /// The namespace of the inventory and of objects that name none; that of the context if empty.
    pub namespace: String,
    /// Whether that namespace is created if it does not exist, with these labels and annotations.
    pub new_namespace: Option<Json>,
    /// Other namespaces that are created if they do not exist.
    pub more_namespaces: Vec<String>,
    /// Required secrets of that namespace.
    pub secrets: Vec<Copy>,
    /// A digest of all inputs.
    pub version: String,
    /// A digest of the applied objects and their namespace; empty if only the inventory is used.
    pub content: String,
    /// The objects, hooks included.
    pub objects: Vec<Object>,
    /// Objects that are created if they do not exist and never changed again: CRDs of a chart.
    pub once: Vec<Object>,
    /// Whether hook annotations are interpreted, as in charts.
    pub hooks: bool,
    /// Maximum time to wait.
    pub timeout: Duration,
    /// Whether to wait at all.
    pub wait: bool,
    /// Whether a failure is only one once that time has passed.
    pub tolerant: bool,
    /// Whether a Job must have completed.
    pub jobs: bool,
    /// Takes over fields that others have set.
    pub force: bool,
}

impl Default for Deployment {
    fn default() -> Self {
        Deployment {
            name: String::new(),
            namespace: String::new(),
            new_namespace: None,
            more_namespaces: Vec::new(),
            secrets: Vec::new(),
            version: String::new(),
            content: String::new(),
            objects: Vec::new(),
            once: Vec::new(),
            hooks: false,
            timeout: Duration::from_secs(300),
            wait: true,
            tolerant: false,
            jobs: true,
            force: false,
        }
    }
}

/// The result of a deploy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deployed {
    /// Number of applied objects.
    pub applied: usize,
    /// Removed objects.
    pub pruned: Vec<String>,
}

/// Observes a deploy.
#[derive(Clone, Copy)]
pub struct Observer<'o> {
    /// Returns whether to continue.
    pub go_on: GoOn<'o>,
    /// Receives progress messages.
    pub say: &'o (dyn Fn(&str) + Sync),
}

/// A deploy in progress, with its objects in their namespaces.
pub(crate) struct Prepared<'d> {
    pub deployment: &'d Deployment,
    pub namespace: String,
    pub discovery: Discovery,
    pub objects: Vec<Object>,
    pub hooks: Vec<Object>,
    pub once: Vec<Object>,
}

impl<'d> Prepared<'d> {
    /// Determines the namespaces of all objects. If it fails, nothing has changed in the cluster.
    pub(crate) fn new(client: &Client, deployment: &'d Deployment, go_on: GoOn<'_>) -> Result<Self, Failed> {
        let all = || deployment.objects.iter().chain(&deployment.once);
        let needed: BTreeSet<String> = all().map(|object| object.id.api_version.clone()).collect();
        let discovery = Discovery::read(client, &needed, go_on)?;
        let namespace = match deployment.namespace.is_empty() {
            true => client.namespace().to_owned(),
            false => deployment.namespace.clone(),
        };
        let own: Vec<(String, String, bool)> = all().flat_map(definitions).collect();
        let place = |object: &Object| -> Result<Object, Failed> {
            let id = &object.id;
            let served = discovery.find(&id.api_version, &id.kind).map(|resource| resource.namespaced);
            let coming = || own.iter().find(|(v, k, _)| *v == id.api_version && *k == id.kind).map(|found| found.2);
            let namespaced = served.or_else(coming).ok_or_else(|| Failed::of(object, unknown(id)))?;
            let mut placed = object.clone();
            placed.place(namespaced, &namespace);
            Ok(placed)
        };
        let is_hook = |object: &&Object| deployment.hooks && moments(object).is_some();
        let hooks: Vec<&Object> = deployment.objects.iter().filter(is_hook).collect();
        let objects: Vec<&Object> = deployment.objects.iter().filter(|object| !is_hook(object)).collect();
        let place_all = |list: Vec<&Object>| list.into_iter().map(place).collect::<Result<Vec<Object>, Failed>>();
        let (objects, hooks) = (place_all(objects)?, place_all(hooks)?);
        let once = place_all(deployment.once.iter().collect())?;
        if let Some(object) = objects.iter().find(|object| object.id.name.is_empty()) {
            let what = format!("a {} has only `generateName`; an object that is applied needs a name", object.id.kind);
            return Err(Failed::of(object, ApiError::Other(what)));
        }
        if let Some(twice) = duplicate(&objects) {
            let what = format!("{} is defined twice in namespace `{}`", twice.id, twice.id.namespace);
            return Err(Failed::of(twice, ApiError::Other(what)));
        }
        Ok(Prepared { deployment, namespace, discovery, objects, hooks, once })
    }

    pub(crate) fn patience<'p>(&self, observer: Observer<'p>) -> Patience<'p> {
        Patience {
            timeout: self.deployment.timeout,
            rules: Rules { jobs: self.deployment.jobs },
            tolerant: self.deployment.tolerant,
            go_on: observer.go_on,
            say: observer.say,
        }
    }
}

/// The kinds that an object defines: version, kind, and whether its objects are namespaced.
fn definitions(object: &Object) -> Vec<(String, String, bool)> {
    let namespaced = object.body.pointer("/spec/scope").and_then(Json::as_str) != Some("Cluster");
    object.defines().into_iter().map(|(version, kind)| (version, kind, namespaced)).collect()
}

/// Applies a deployment to a cluster.
pub fn deploy(client: &Client, deployment: &Deployment, observer: Observer<'_>) -> Result<Deployed, Failed> {
    let go_on = observer.go_on;
    let mut prepared = Prepared::new(client, deployment, go_on)?;
    let namespace = prepared.namespace.clone();
    make_namespace(client, &namespace, deployment.new_namespace.as_ref(), observer)?;
    for name in &deployment.more_namespaces {
        make_namespace(client, name, Some(&Json::Null), observer)?;
    }
    copy_all(client, &deployment.secrets, &namespace, go_on)?;
    let before = Inventory::read(client, &namespace, &deployment.name, go_on)?.unwrap_or_default();
    let gone = before.without(&prepared.objects);
    let mut inventory = Inventory {
        version: deployment.version.clone(),
        content: deployment.content.clone(),
        is_ready: false,
        is_installed: before.is_installed,
        items: prepared.objects.iter().map(Item::coming).chain(gone.iter().cloned()).collect(),
    };
    inventory.write(client, &namespace, &deployment.name, go_on)?;

    let (pre, post) = match before.is_installed {
        false => (Moment::PreInstall, Moment::PostInstall),
        true => (Moment::PreUpgrade, Moment::PostUpgrade),
    };
    let patience = prepared.patience(observer);
    define(client, &mut prepared, patience)?;
    hooks::run(client, &prepared.discovery, &prepared.hooks, pre, patience)?;
    until_hooks_served(client, &mut prepared, patience)?;
    let how = How { force: deployment.force, dry: false };
    let marks = apply_all(client, &prepared.discovery, &prepared.objects, how, go_on)?;
    let mut pruned: Vec<String> = Vec::new();
    if !gone.is_empty() {
        pruned = remove_all(client, &prepared.discovery, &gone, patience)?.iter().map(ToString::to_string).collect();
        for id in &pruned {
            (observer.say)(&format!("{id} is removed: it is no longer part of the deploy"));
        }
    }
    inventory.items = items(&prepared.objects, &marks);
    inventory.write(client, &namespace, &deployment.name, go_on)?;
    if deployment.wait {
        wait_for(client, &prepared.discovery, &prepared.objects.iter().collect::<Vec<_>>(), patience)?;
    }
    hooks::run(client, &prepared.discovery, &prepared.hooks, post, patience)?;
    (inventory.is_ready, inventory.is_installed) = (true, true);
    inventory.write(client, &namespace, &deployment.name, go_on)?;
    Ok(Deployed { applied: prepared.objects.len(), pruned })
}

fn items(objects: &[Object], marks: &[Mark]) -> Vec<Item> {
    let item = |(object, mark): (&Object, &Mark)| Item { mark: mark.clone(), ..Item::coming(object) };
    objects.iter().zip(marks).map(item).collect()
}

/// Creates a namespace, if requested and missing.
pub(crate) fn make_namespace(
    client: &Client,
    name: &str,
    metadata: Option<&Json>,
    observer: Observer<'_>,
) -> Result<(), Failed> {
    let Some(metadata) = metadata else { return Ok(()) };
    let path = below(name, &[]);
    match client.find(&path, METADATA, &format!("Namespace/{name}"), observer.go_on) {
        // A user without access to namespaces has been given one.
        Ok(Some(_)) | Err(ApiError::Forbidden(_)) => return Ok(()),
        Ok(None) => {}
        Err(error) => return Err(error.into()),
    }
    let mut body = named("v1", "Namespace", "", name);
    for key in ["labels", "annotations"] {
        if let Some(value) = metadata.get(key).filter(|value| value.as_object().is_some_and(|map| !map.is_empty())) {
            body["metadata"][key] = value.clone();
        }
    }
    let body = serde_json::to_vec(&body).unwrap_or_default();
    let ask = Ask { method: Method::Post, path: "/api/v1/namespaces", accept: JSON, body: Some((JSON, &body)) };
    match client.ask(&ask, &format!("Namespace/{name}"), observer.go_on) {
        Ok(_) => {
            (observer.say)(&format!("Namespace/{name} is created"));
            Ok(())
        }
        // Another process was faster.
        Err(ApiError::Refused { code: 409, .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Applies definitions of kinds before everything else, and waits until the cluster serves them.
fn define(client: &Client, prepared: &mut Prepared<'_>, patience: Patience<'_>) -> Result<(), Failed> {
    let how = How { force: prepared.deployment.force, dry: false };
    let mut fresh: Vec<Object> = Vec::new();
    for object in &prepared.once {
        let Some(resource) = prepared.discovery.find(&object.id.api_version, &object.id.kind) else { continue };
        let path = resource.path(&object.id.namespace, Some(&object.id.name));
        if client.find(&path, METADATA, &object.id.to_string(), patience.go_on)?.is_none() {
            fresh.push(object.clone());
        }
    }
    apply_all(client, &prepared.discovery, &fresh, how, patience.go_on)?;
    let own: Vec<Object> = prepared.objects.iter().filter(|object| object.is_definition()).cloned().collect();
    apply_all(client, &prepared.discovery, &own, how, patience.go_on)?;
    let all: Vec<&Object> = own.iter().chain(fresh.iter().filter(|object| object.is_definition())).collect();
    if all.is_empty() {
        return Ok(());
    }
    wait_for(client, &prepared.discovery, &all, patience)?;
    until_served(client, prepared, patience)
}

/// Waits until the cluster serves every kind of the deploy, except those that a hook has yet to define.
fn until_served(client: &Client, prepared: &mut Prepared<'_>, patience: Patience<'_>) -> Result<(), Failed> {
    let later: BTreeSet<(String, String)> = prepared.hooks.iter().flat_map(Object::defines).collect();
    let used: BTreeSet<(String, String)> = prepared
        .objects
        .iter()
        .chain(&prepared.hooks)
        .map(|object| (object.id.api_version.clone(), object.id.kind.clone()))
        .filter(|kind| !later.contains(kind))
        .collect();
    prepared.discovery.wait_for(client, &used, patience)
}

/// Waits until the cluster serves the kinds that hooks have defined, if objects need them.
fn until_hooks_served(client: &Client, prepared: &mut Prepared<'_>, patience: Patience<'_>) -> Result<(), Failed> {
    let defined: BTreeSet<(String, String)> = prepared.hooks.iter().flat_map(Object::defines).collect();
    let is_used = |(version, kind): &(String, String)| {
        prepared.objects.iter().any(|object| object.id.api_version == *version && object.id.kind == *kind)
    };
    let used = defined.into_iter().filter(is_used).collect();
    prepared.discovery.wait_for(client, &used, patience)
}

/// Takes a deployment down. Returns the removed objects.
pub fn undeploy(client: &Client, deployment: &Deployment, observer: Observer<'_>) -> Result<Vec<String>, Failed> {
    let go_on = observer.go_on;
    let namespace = if deployment.namespace.is_empty() { client.namespace() } else { &deployment.namespace };
    let Some(inventory) = Inventory::read(client, namespace, &deployment.name, go_on)? else { return Ok(Vec::new()) };
    let hooks_only = Deployment {
        objects: deployment.objects.iter().filter(|o| deployment.hooks && moments(o).is_some()).cloned().collect(),
        once: Vec::new(),
        ..deployment.clone()
    };
    let prepared = Prepared::new(client, &hooks_only, go_on)?;
    let needed = inventory.items.iter().map(|item| item.id.api_version.clone()).collect();
    let mut discovery = prepared.discovery.clone();
    discovery.need(client, &needed, go_on)?;
    let patience = prepared.patience(observer);
    hooks::run(client, &discovery, &prepared.hooks, Moment::PreDelete, patience)?;
    let removed = remove_all(client, &discovery, &inventory.items, patience)?;
    hooks::run(client, &discovery, &prepared.hooks, Moment::PostDelete, patience)?;
    Inventory::remove(client, namespace, &deployment.name, go_on)?;
    Ok(removed.iter().map(ToString::to_string).collect())
}
