//! The kinds of a cluster: their paths, and whether they are namespaced.
//!
//! Two requests suffice where the server offers the aggregated form; older servers are asked per group.

use crate::apply::Failed;
use crate::client::{Client, GoOn, JSON, wait};
use crate::error::ApiError;
use crate::path::escape;
use crate::wait::Patience;
use crate::wire::{Ask, Method};
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// How long it may take until a new kind is served after its definition is established.
const SERVED: Duration = Duration::from_secs(30);

/// The aggregated form, newest first, and the format of servers without it.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                          application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// A kind and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// `apps/v1`, `v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// `deployments`.
    pub plural: String,
    /// Whether objects are namespaced.
    pub namespaced: bool,
}

impl Resource {
    /// The path of all objects of all namespaces.
    pub fn everywhere(&self) -> String {
        let root = if self.api_version.contains('/') { "/apis" } else { "/api" };
        let segments = self.api_version.split('/').chain([self.plural.as_str()]);
        segments.fold(root.to_owned(), |path, segment| format!("{path}/{}", escape(segment)))
    }

    /// The path of all objects, or of one.
    pub fn path(&self, namespace: &str, name: Option<&str>) -> String {
        let root = if self.api_version.contains('/') { "/apis" } else { "/api" };
        let mut path = root.to_owned();
        let scope = self.namespaced.then_some(["namespaces", namespace]);
        let segments = self.api_version.split('/').chain(scope.into_iter().flatten());
        for segment in segments.chain([self.plural.as_str()]).chain(name) {
            path.push('/');
            path.push_str(&escape(segment));
        }
        path
    }
}

/// The kinds of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    kinds: HashMap<(String, String), Resource>,
    /// The groups requested so far, if the server has no aggregated form.
    asked: BTreeSet<String>,
    is_aggregated: bool,
}

/// The group of an API version: `apps` of `apps/v1`, empty for `v1`.
pub fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

impl Discovery {
    /// Reads the kinds of a cluster; at least those of these versions.
    pub fn read(client: &Client, needed: &BTreeSet<String>, go_on: GoOn<'_>) -> Result<Self, ApiError> {
        let mut found = Discovery { is_aggregated: true, ..Discovery::default() };
        for root in ["/api", "/apis"] {
            let ask = Ask { method: Method::Get, path: root, accept: AGGREGATED, body: None };
            let answer = client.json(&ask, "the kinds of the cluster", go_on)?;
            match answer.get("kind").and_then(Json::as_str) {
                Some("APIGroupDiscoveryList") => found.add_groups(&answer),
                _ => found.is_aggregated = false,
            }
        }
        found.need(client, needed, go_on)?;
        Ok(found)
    }

    /// All versions of groups, and all kinds as `apps/v1/Deployment`, that a cluster serves.
    pub fn versions(client: &Client, go_on: GoOn<'_>) -> Result<Vec<String>, ApiError> {
        let mut found = Discovery::read(client, &BTreeSet::new(), go_on)?;
        if !found.is_aggregated {
            found.need(client, &served(client, go_on)?, go_on)?;
        }
        let kinds = found.kinds.keys();
        let mut all: BTreeSet<String> = kinds.map(|(version, kind)| format!("{version}/{kind}")).collect();
        all.extend(found.kinds.into_keys().map(|(version, _)| version));
        Ok(all.into_iter().collect())
    }

    /// Ensures that the kinds of these versions are known, as far as the server has them.
    pub fn need(&mut self, client: &Client, needed: &BTreeSet<String>, go_on: GoOn<'_>) -> Result<(), ApiError> {
        if self.is_aggregated {
            return Ok(());
        }
        for version in needed {
            if !self.asked.insert(version.clone()) {
                continue;
            }
            let root = if version.contains('/') { "/apis" } else { "/api" };
            let segments: String = version.split('/').map(|part| format!("/{}", escape(part))).collect();
            let list = client.find(&format!("{root}{segments}"), JSON, version, go_on)?;
            let resources = list.as_ref().and_then(|list| list.get("resources")).and_then(Json::as_array);
            for resource in resources.into_iter().flatten() {
                let (plural, kind) = (text(resource, "name"), text(resource, "kind"));
                let namespaced = resource.get("namespaced").and_then(Json::as_bool).unwrap_or(false);
                if !plural.contains('/') {
                    self.add(version, &kind, &plural, namespaced);
                }
            }
        }
        Ok(())
    }

    fn add_groups(&mut self, list: &Json) {
        for group in list.get("items").and_then(Json::as_array).into_iter().flatten() {
            let name = group.pointer("/metadata/name").and_then(Json::as_str).unwrap_or("");
            for version in group.get("versions").and_then(Json::as_array).into_iter().flatten() {
                let version_name = text(version, "version");
                let api_version = if name.is_empty() { version_name } else { format!("{name}/{version_name}") };
                for resource in version.get("resources").and_then(Json::as_array).into_iter().flatten() {
                    let kind = resource.pointer("/responseKind/kind").and_then(Json::as_str).unwrap_or("");
                    let namespaced = text(resource, "scope") == "Namespaced";
                    self.add(&api_version, kind, &text(resource, "resource"), namespaced);
                }
            }
        }
    }

    fn add(&mut self, api_version: &str, kind: &str, plural: &str, namespaced: bool) {
        let resource = Resource {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            namespaced,
        };
        self.kinds.entry((api_version.to_owned(), kind.to_owned())).or_insert(resource);
    }

    /// Waits until these kinds (version and name) are served.
    pub fn wait_for(
        &mut self,
        client: &Client,
        kinds: &BTreeSet<(String, String)>,
        patience: Patience<'_>,
    ) -> Result<(), Failed> {
        let begun = Instant::now();
        loop {
            let missing = kinds.iter().find(|(version, kind)| self.find(version, kind).is_none());
            let Some((version, kind)) = missing else { return Ok(()) };
            if begun.elapsed() >= SERVED {
                return Err(ApiError::UnknownKind(format!("`{kind}` ({version}), though it is defined")).into());
            }
            wait(Duration::from_millis(100), patience.go_on)?;
            let needed = self.asked.iter().cloned().chain(kinds.iter().map(|(version, _)| version.clone())).collect();
            *self = Discovery::read(client, &needed, patience.go_on)?;
        }
    }

    /// The resource of a kind.
    pub fn find(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        self.kinds.get(&(api_version.to_owned(), kind.to_owned()))
    }

    /// The same in any version of the group: an object may have been created with a version that is no longer served.
    pub fn find_any(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        self.find(api_version, kind).or_else(|| {
            let group = group_of(api_version);
            let mut same: Vec<&Resource> =
                self.kinds.values().filter(|r| r.kind == kind && group_of(&r.api_version) == group).collect();
            same.sort_by(|a, b| a.api_version.cmp(&b.api_version));
            same.first().copied()
        })
    }
}

/// The versions of all groups, for servers that list them without their kinds.
fn served(client: &Client, go_on: GoOn<'_>) -> Result<BTreeSet<String>, ApiError> {
    let mut found = BTreeSet::new();
    let core = client.get("/api", "the kinds of the cluster", go_on)?;
    let versions = core.get("versions").and_then(Json::as_array).into_iter().flatten();
    found.extend(versions.filter_map(Json::as_str).map(str::to_owned));
    let groups = client.get("/apis", "the kinds of the cluster", go_on)?;
    for group in groups.get("groups").and_then(Json::as_array).into_iter().flatten() {
        let versions = group.get("versions").and_then(Json::as_array).into_iter().flatten();
        found.extend(versions.map(|version| text(version, "groupVersion")).filter(|version| !version.is_empty()));
    }
    Ok(found)
}

fn text(value: &Json, key: &str) -> String {
    value.get(key).and_then(Json::as_str).unwrap_or("").to_owned()
}
