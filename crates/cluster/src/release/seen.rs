//! The objects of a release as the cluster has them now, for `helm status`.

use super::{Engine, Trouble};
use crate::client::{Client, JSON};
use crate::discovery::Discovery;
use crate::error::ApiError;
use crate::object::Object;
use crate::path::{below, escape};
use crate::wire::{Ask, Method};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The form of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Whole objects.
    Objects,
    /// Rows for people.
    Tables,
}

/// A table of the server, as kubectl asks for it.
const TABLE: &str =
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";

/// The objects of one version and kind.
#[derive(Clone, Debug)]
pub struct Section {
    /// `v1/Deployment`, or `v1/Pod(related)` for pods of workloads.
    pub name: String,
    /// The objects, or a table for each.
    pub items: Vec<Json>,
}

impl Engine<'_> {
    /// The objects of a text of manifests as the cluster has them, with the pods of its workloads.
    pub fn resources(&self, manifest: &str, detail: Detail) -> Result<Vec<Section>, Trouble> {
        let (objects, kinds) = self.objects(manifest)?;
        let mut sections: Vec<Section> = Vec::new();
        let mut selectors: Vec<String> = Vec::new();
        for object in &objects {
            let Some(resource) = kinds.find(&object.id.api_version, &object.id.kind) else { continue };
            let path = resource.path(&object.id.namespace, Some(&object.id.name));
            // An object that is gone has no row.
            let Ok(found) = self.ask_for(&path, detail, &object.id.to_string()) else { continue };
            let version = object.id.api_version.rsplit('/').next().unwrap_or_default();
            add(&mut sections, &format!("{version}/{}", object.id.kind), vec![found]);
            let Some(selector) = selector_of(object).filter(|selector| !selectors.contains(selector)) else { continue };
            selectors.push(selector.clone());
            let path = format!("{}?labelSelector={}", below(&object.id.namespace, &["pods"]), escape(&selector));
            let Ok(pods) = self.ask_for(&path, detail, "pods") else { continue };
            add(&mut sections, "v1/Pod(related)", vec![pods]);
        }
        sections.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(sections)
    }

    fn ask_for(&self, path: &str, detail: Detail, name: &str) -> Result<Json, Trouble> {
        let (path, accept) = match detail {
            Detail::Objects => (path.to_owned(), JSON),
            Detail::Tables => {
                let sign = if path.contains('?') { '&' } else { '?' };
                (format!("{path}{sign}includeObject=Object"), TABLE)
            }
        };
        let ask = Ask { method: Method::Get, path: &path, accept, body: None };
        Ok(self.client.json(&ask, name, self.around.go_on)?)
    }
}

/// Answers questions of templates about objects of the cluster; its kinds are read once.
pub struct Lookups {
    client: Arc<Client>,
    kinds: Mutex<Discovery>,
    is_read: AtomicBool,
}

impl Lookups {
    /// Answers of a cluster.
    pub fn new(client: Arc<Client>) -> Self {
        Lookups { client, kinds: Mutex::default(), is_read: AtomicBool::new(false) }
    }

    /// An object, or all of a kind if the name is empty: version, kind, namespace, name. `None` if it does not exist.
    pub fn find(&self, [version, kind, namespace, name]: [&str; 4]) -> Result<Option<Json>, String> {
        let text = |error: ApiError| error.to_string();
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = BTreeSet::from([version.to_owned()]);
        if self.is_read.swap(true, Ordering::Relaxed) {
            kinds.need(&self.client, &needed, &|| true).map_err(text)?;
        } else {
            *kinds = Discovery::read(&self.client, &needed, &|| true).map_err(text)?;
        }
        let Some(resource) = kinds.find(version, kind) else {
            return Err(format!("unable to get apiresource from unstructured: {version}, Kind={kind}: not found"));
        };
        let path = match (resource.namespaced, namespace) {
            (true, "") => resource.everywhere(),
            _ => resource.path(namespace, None),
        };
        let path = if name.is_empty() { path } else { format!("{path}/{}", escape(name)) };
        self.client.find(&path, JSON, &format!("{kind}/{name}"), &|| true).map_err(text)
    }
}

fn add(sections: &mut Vec<Section>, name: &str, items: Vec<Json>) {
    if items.is_empty() {
        return;
    }
    match sections.iter_mut().find(|section| section.name == name) {
        Some(section) => section.items.extend(items),
        None => sections.push(Section { name: name.to_owned(), items }),
    }
}

/// The labels by which a workload finds its pods.
fn selector_of(object: &Object) -> Option<String> {
    let pointer = match object.id.kind.as_str() {
        "ReplicaSet" | "Deployment" | "StatefulSet" | "DaemonSet" | "Job" => "/spec/selector/matchLabels",
        "ReplicationController" => "/spec/selector",
        _ => return None,
    };
    let labels = object.body.pointer(pointer)?.as_object()?;
    let mut pairs: Vec<String> =
        labels.iter().filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?))).collect();
    pairs.sort();
    (!pairs.is_empty()).then(|| pairs.join(","))
}
