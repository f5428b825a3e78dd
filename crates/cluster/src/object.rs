//! Objects as they are sent to a cluster: their identity, their install order, their annotations.

use purlin_model::INSTALL_ORDER;
use purlin_syntax::write::JsonLayout;
use purlin_value::emit::to_json;
use purlin_value::{Secrets, Value};
use serde_json::{Map, Value as Json};

/// The identity of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id {
    /// `apps/v1`, `v1`.
    pub api_version: String,
    /// `Deployment`.
    pub kind: String,
    /// Its namespace; empty if it has none.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

/// An object to be deployed.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its identity. The namespace is that of the manifest until the cluster is known.
    pub id: Id,
    /// Its content.
    pub body: Json,
    /// The index of the caller's manifest.
    pub manifest: usize,
    /// JSON pointers of its secrets.
    pub secrets: Vec<String>,
}

/// The items of a Kubernetes list.
fn items(value: &Value) -> Option<&[Value]> {
    let is_list = value.get("kind").and_then(Value::as_str).is_some_and(|kind| kind.ends_with("List"));
    value.get("items").filter(|_| is_list).and_then(Value::as_list)
}

/// An item of a list without kind and version gets those of the list: a `ConfigMapList` contains ConfigMaps.
fn kind_from_list(list: &Value, item: &Value) -> Value {
    let text = |key: &str| list.get(key).and_then(Value::as_str).unwrap_or("");
    let kind = text("kind").strip_suffix("List").filter(|kind| !kind.is_empty());
    match (kind, item.as_map()) {
        (Some(kind), Some(map)) if !map.contains_key("kind") && !map.contains_key("apiVersion") => {
            let mut named = map.clone();
            named.insert("apiVersion".into(), Value::str(text("apiVersion")));
            named.insert("kind".into(), Value::str(kind));
            Value::map(named).tainted_if(item.is_tainted())
        }
        _ => item.clone(),
    }
}

/// JSON pointers of the secrets in a value. Its depth is bounded by its document.
fn secret_places(value: &Value, here: &str, found: &mut Vec<String>) {
    if value.is_tainted() {
        found.push(here.to_owned());
        return;
    }
    for (at, item) in value.as_list().into_iter().flatten().enumerate() {
        secret_places(item, &format!("{here}/{at}"), found);
    }
    for (key, item) in value.as_map().into_iter().flat_map(|map| map.iter()) {
        secret_places(item, &place_below(here, key), found);
    }
}

/// The JSON pointer of a key.
pub(crate) fn place_below(above: &str, key: &str) -> String {
    format!("{above}/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl Object {
    /// The objects of a manifest: one, those of a list, or none if it is empty.
    pub fn of(value: &Value, manifest: usize) -> Result<Vec<Object>, String> {
        if let Some(items) = items(value) {
            let named = items.iter().map(|item| kind_from_list(value, item));
            let all = named.map(|item| Object::of(&item, manifest)).collect::<Result<Vec<_>, _>>()?;
            return Ok(all.concat());
        }
        let written = to_json(value, Secrets::Reveal, JsonLayout::Compact);
        let body = written.ok().and_then(|text| serde_json::from_str::<Json>(&text).ok());
        let mut objects = Object::of_json(body.ok_or("it could not be written as JSON")?, manifest)?;
        let mut secrets = Vec::new();
        secret_places(value, "", &mut secrets);
        objects.iter_mut().for_each(|object| object.secrets.clone_from(&secrets));
        Ok(objects)
    }

    /// The object of a manifest in JSON; none if it is empty.
    pub fn of_json(body: Json, manifest: usize) -> Result<Vec<Object>, String> {
        if body.is_null() {
            return Ok(Vec::new());
        }
        let text = |pointer: &str| body.pointer(pointer).and_then(Json::as_str).unwrap_or("").to_owned();
        let id = Id {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        };
        if id.api_version.is_empty() || id.kind.is_empty() {
            let missing = if id.kind.is_empty() { "kind" } else { "apiVersion" };
            return Err(format!("it is not a Kubernetes object: `{missing}` is missing"));
        }
        if id.name.is_empty() && text("/metadata/generateName").is_empty() {
            return Err(format!("a {} has no `metadata.name`", id.kind));
        }
        Ok(vec![Object { id, body, manifest, secrets: Vec::new() }])
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.body.get("metadata")?.get("annotations")?.get(name)?.as_str()
    }

    /// Whether it stays when everything else is removed.
    pub fn is_kept(&self) -> bool {
        self.annotation("helm.sh/resource-policy").is_some_and(|policy| policy.trim() == "keep")
    }

    /// Whether it defines a kind.
    pub fn is_definition(&self) -> bool {
        self.id.kind == "CustomResourceDefinition" && self.id.api_version.starts_with("apiextensions.k8s.io/")
    }

    /// The kinds that it defines: API version and kind.
    pub fn defines(&self) -> Vec<(String, String)> {
        if !self.is_definition() {
            return Vec::new();
        }
        let text = |pointer: &str| self.body.pointer(pointer).and_then(Json::as_str).unwrap_or("");
        let (group, kind) = (text("/spec/group"), text("/spec/names/kind"));
        let versions = self.body.pointer("/spec/versions").and_then(Json::as_array).into_iter().flatten();
        let served = versions.filter(|version| version.get("served").and_then(Json::as_bool) != Some(false));
        let name = |version: &Json| Some(format!("{group}/{}", version.get("name")?.as_str()?));
        served.filter_map(name).map(|version| (version, kind.to_owned())).collect()
    }

    /// Sets its namespace if its kind is namespaced, and removes it otherwise.
    pub fn place(&mut self, namespaced: bool, namespace: &str) {
        if namespaced && self.id.namespace.is_empty() {
            namespace.clone_into(&mut self.id.namespace);
        } else if !namespaced {
            self.id.namespace.clear();
        }
        let Some(metadata) = self.body.get_mut("metadata").and_then(Json::as_object_mut) else { return };
        match namespaced {
            true => metadata.insert("namespace".into(), self.id.namespace.clone().into()),
            false => metadata.shift_remove("namespace"),
        };
        // Server-managed fields cannot be applied; Helm's `creationTimestamp: null` is harmless noise.
        metadata.shift_remove("creationTimestamp");
        metadata.shift_remove("managedFields");
        if let Some(body) = self.body.as_object_mut() {
            body.shift_remove("status");
        }
    }

    /// Its position in the install order.
    pub fn rank(&self) -> usize {
        rank(&self.id.kind)
    }
}

/// The position of a kind in the install order; unknown kinds come last.
pub fn rank(kind: &str) -> usize {
    INSTALL_ORDER.iter().position(|known| *known == kind).unwrap_or(INSTALL_ORDER.len())
}

/// An object that occurs twice in one deploy, if there is one.
pub fn duplicate(objects: &[Object]) -> Option<&Object> {
    let mut seen = std::collections::HashSet::new();
    objects.iter().find(|object| !object.id.name.is_empty() && !seen.insert(&object.id))
}

/// An object with a name only.
pub fn named(api_version: &str, kind: &str, namespace: &str, name: &str) -> Json {
    let mut metadata = Map::new();
    metadata.insert("name".into(), name.into());
    if !namespace.is_empty() {
        metadata.insert("namespace".into(), namespace.into());
    }
    let mut body = Map::new();
    body.insert("apiVersion".into(), api_version.into());
    body.insert("kind".into(), kind.into());
    body.insert("metadata".into(), Json::Object(metadata));
    Json::Object(body)
}
