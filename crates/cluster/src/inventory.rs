//! The inventory of a deploy, kept in the cluster itself: a ConfigMap in the namespace of the objects.
//!
//! It is written before the objects are, with the previous and the coming ones, so that the next run knows all objects
//! of a run that was killed.

use crate::apply::{MANAGER, Mark};
use crate::client::{APPLY, Client, GoOn, JSON};
use crate::discovery::group_of;
use crate::error::ApiError;
use crate::object::{Id, Object, named};
use crate::path::below;
use crate::wire::{Ask, Method};
use serde_json::{Value as Json, json};
use std::collections::HashSet;

/// Maximum size of a ConfigMap in bytes, with room for the rest of it.
const LARGEST: usize = 1_000_000;

/// An object of a deploy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its identity.
    pub id: Id,
    /// Its state after it was applied; empty if it was not.
    pub mark: Mark,
    /// Whether it stays when the rest is removed.
    pub keep: bool,
}

/// The objects of a deploy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The version of the deploy.
    pub version: String,
    /// A digest of the applied objects.
    pub content: String,
    /// Whether everything of that version came up.
    pub is_ready: bool,
    /// Whether any version ever came up: the next one is an upgrade.
    pub is_installed: bool,
    /// The objects.
    pub items: Vec<Item>,
}

impl Item {
    /// An object that is about to be created.
    pub fn coming(object: &Object) -> Item {
        Item { id: object.id.clone(), mark: Mark::default(), keep: object.is_kept() }
    }

    fn line(&self) -> String {
        let dash = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let id = &self.id;
        let keep = if self.keep { " keep" } else { "" };
        let (namespace, uid, state) = (dash(&id.namespace), dash(&self.mark.uid), dash(&self.mark.state));
        format!("{} {} {namespace} {} {uid} {state}{keep}", id.api_version, id.kind, id.name)
    }

    fn read(line: &str) -> Option<Item> {
        let mut words = line.split(' ');
        let mut next = || words.next().map(|word| if word == "-" { "" } else { word }.to_owned());
        let (api_version, kind, namespace, name) = (next()?, next()?, next()?, next()?);
        let mark = Mark { uid: next().unwrap_or_default(), state: next().unwrap_or_default() };
        let keep = next().as_deref() == Some("keep");
        Some(Item { id: Id { api_version, kind, namespace, name }, mark, keep })
    }
}

/// The name of the ConfigMap of a deploy.
pub fn config_map(deploy: &str) -> String {
    let valid = |c: char| if c.is_ascii_alphanumeric() || "-.".contains(c) { c.to_ascii_lowercase() } else { '-' };
    let name: String = deploy.chars().map(valid).collect();
    format!("purlin.{}", name.trim_matches(['-', '.']))
}

fn path(namespace: &str, deploy: &str) -> String {
    below(namespace, &["configmaps", &config_map(deploy)])
}

impl Inventory {
    /// Reads the inventory of a deploy, if it has one.
    pub fn read(client: &Client, namespace: &str, deploy: &str, go_on: GoOn<'_>) -> Result<Option<Self>, ApiError> {
        let Some(found) = client.find(&path(namespace, deploy), JSON, "the inventory", go_on)? else { return Ok(None) };
        let data = |key: &str| found.pointer(&format!("/data/{key}")).and_then(Json::as_str).unwrap_or("");
        Ok(Some(Inventory {
            version: data("version").to_owned(),
            content: data("content").to_owned(),
            is_ready: data("state") == "ready",
            is_installed: data("installed") == "true",
            items: data("objects").lines().filter_map(Item::read).collect(),
        }))
    }

    /// Writes it.
    pub fn write(&self, client: &Client, namespace: &str, deploy: &str, go_on: GoOn<'_>) -> Result<(), ApiError> {
        let objects: String = self.items.iter().map(|item| item.line() + "\n").collect();
        if objects.len() > LARGEST {
            let count = self.items.len();
            return Err(ApiError::Other(format!("{count} objects are too many for one deploy; split it")));
        }
        let mut body = named("v1", "ConfigMap", namespace, &config_map(deploy));
        body["metadata"]["labels"] = json!({ "app.kubernetes.io/managed-by": MANAGER });
        body["metadata"]["annotations"] = json!({ "purlin.dev/deploy": deploy });
        body["data"] = json!({
            "version": self.version,
            "content": self.content,
            "state": if self.is_ready { "ready" } else { "applying" },
            "installed": self.is_installed.to_string(),
            "objects": objects,
        });
        let path = format!("{}?fieldManager={MANAGER}&force=true", path(namespace, deploy));
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let ask = Ask { method: Method::Patch, path: &path, accept: JSON, body: Some((APPLY, &body)) };
        client.ask(&ask, "the inventory", go_on).map(|_| ())
    }

    /// Removes it.
    pub fn remove(client: &Client, namespace: &str, deploy: &str, go_on: GoOn<'_>) -> Result<(), ApiError> {
        let path = path(namespace, deploy);
        let ask = Ask { method: Method::Delete, path: &path, accept: JSON, body: None };
        match client.ask(&ask, "the inventory", go_on) {
            Ok(_) | Err(ApiError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The items without these objects.
    pub fn without(&self, objects: &[Object]) -> Vec<Item> {
        let name =
            |id: &Id| (group_of(&id.api_version).to_owned(), id.kind.clone(), id.namespace.clone(), id.name.clone());
        // Versions of a group are views of one object.
        let there: HashSet<_> = objects.iter().map(|object| name(&object.id)).collect();
        self.items.iter().filter(|item| !there.contains(&name(&item.id))).cloned().collect()
    }
}
