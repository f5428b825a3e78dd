//! Objects of a set that nothing refers to, and pods that nothing selects.
//!
//! A missing object may come from elsewhere. It was certainly meant to be one of the set if one of its kind is there that
//! nothing else needs. This must not know findings.

use crate::Object;
use crate::here::known;
use crate::set::{Pod, Set, is_custom, namespace, text};
use purlin_value::Value;

/// Kinds that exist to be referred to.
const NEEDED_BY_PODS: &[&str] = &["ConfigMap", "PersistentVolumeClaim", "Secret", "ServiceAccount"];

/// Kinds of which charts make all objects whose names begin with that of the release. Secrets are also made by jobs.
const MADE_BY_CHARTS: &[&str] = &["ConfigMap", "PersistentVolumeClaim", "ServiceAccount"];

/// Whether objects of a kind are made by the chart if their names begin with its release.
pub fn is_made_by_chart(kind: &str) -> bool {
    MADE_BY_CHARTS.contains(&kind)
}

/// The objects of a kind in a namespace that nothing refers to.
pub fn unused<'v>(set: &Set<'v>, objects: &'v [Object<'v>], kind: &str, place: &str) -> Vec<&'v str> {
    if !NEEDED_BY_PODS.contains(&kind) {
        return Vec::new();
    }
    let named = set.all(kind, place).into_iter().flat_map(|all| all.all.iter());
    let filled = named.filter(|(_, value)| is_filled(kind, value));
    filled.map(|(name, _)| *name).filter(|name| !objects.iter().any(|one| needs(one.value, kind, name))).collect()
}

/// Whether an object has content: one that is filled later is used by what fills it.
fn is_filled(kind: &str, object: &Value) -> bool {
    let has = |key: &&str| object.get(key).is_some_and(|data| data.as_map().is_none_or(|map| !map.is_empty()));
    !matches!(kind, "ConfigMap" | "Secret") || ["binaryData", "data", "stringData"].iter().any(has)
}

/// Whether an object refers to one of a kind and name, or may do so.
fn needs(object: &Value, kind: &str, name: &str) -> bool {
    let is_itself = text(object, &["kind"]) == Some(kind) && text(object, &["metadata", "name"]) == Some(name);
    if is_itself {
        return false;
    }
    // The account is named by bindings, too, which do not use it.
    let is_binding = text(object, &["kind"]).is_some_and(|kind| kind.ends_with("RoleBinding"));
    if kind == "ServiceAccount" && is_binding {
        return false;
    }
    let Some(map) = object.as_map() else { return true };
    let is_other = text(object, &["apiVersion"]).is_none_or(is_custom);
    let mut parts = map.iter().filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    let annotations = object.get("metadata").and_then(|metadata| metadata.get("annotations"));
    parts.any(|(key, value)| mentions(value, (key, ""), name, is_other))
        || annotations.is_some_and(|value| mentions(value, ("annotations", ""), name, is_other))
}

/// Keys under which a name is not that of an object.
const UNRELATED: &[&str] = &["image", "labels", "matchLabels", "selector"];

/// Mappings whose `name` is that of an object.
const REFERENCES: &[&str] = &[
    "configMap",
    "configMapKeyRef",
    "configMapRef",
    "imagePullSecrets",
    "secret",
    "secretKeyRef",
    "secretRef",
    "secrets",
];

/// Whether a value mentions a name: as a whole or as a word of a text. `keys` are the nearest key and the one above it.
fn mentions(value: &Value, keys: (&str, &str), name: &str, is_other: bool) -> bool {
    if value.is_pending() || value.is_poison() {
        return true;
    }
    if let Some(map) = value.as_map() {
        let mut related = map.iter().filter(|(key, _)| is_other || !UNRELATED.contains(&key.as_str()));
        return related.any(|(key, value)| mentions(value, (key, keys.0), name, is_other));
    }
    if let Some(items) = value.as_list() {
        return items.iter().any(|item| mentions(item, keys, name, is_other));
    }
    let is_name_of_other = keys.0 == "name" && !is_other && !REFERENCES.contains(&keys.1);
    !is_name_of_other && value.as_str().is_some_and(|text| has_word(text, name))
}

/// Whether a text has a word that is not part of a longer name.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c == '-' || c == '_' || c.is_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// A pod that stays: not that of a job, or one by itself.
fn stays(pod: &Pod<'_>) -> bool {
    !["CronJob/", "Job/", "Pod/"].iter().any(|kind| pod.object.starts_with(kind))
}

/// A pod with all keys of a selector that no Service selects.
pub fn unselected<'s, 'v>(
    set: &'s Set<'v>,
    objects: &[Object<'_>],
    place: &str,
    wanted: &Value,
) -> Option<&'s Pod<'v>> {
    let keys: Vec<&str> = wanted.as_map()?.keys().map(|key| key.as_str()).collect();
    let selectors: Vec<&Value> = objects
        .iter()
        .filter(|object| text(object.value, &["kind"]) == Some("Service"))
        .filter(|object| namespace(object.value, set.home) == place)
        .filter_map(|object| object.value.get("spec")?.get("selector"))
        .filter(|selector| selector.as_map().is_some_and(|map| !map.is_empty()))
        .collect();
    let is_free =
        |pod: &&Pod<'_>| !selectors.iter().any(|one| crate::pods::fits(one, pod.labels) != crate::pods::Fit::No);
    let has_keys = |pod: &&Pod<'_>| keys.iter().all(|key| pod.labels.is_some_and(|labels| labels.get(key).is_some()));
    set.pods.iter().filter(|pod| pod.namespace == place && stays(pod)).find(|pod| has_keys(pod) && is_free(pod))
}

/// Whether a value of a selector is from elsewhere: nothing about the object itself has it.
pub fn is_foreign(object: &Value, wanted: &str) -> bool {
    let name = text(object, &["metadata", "name"]).unwrap_or_default();
    let labels = object.get("metadata").and_then(|metadata| metadata.get("labels")).and_then(known);
    let mut values = labels.and_then(Value::as_map).into_iter().flat_map(|map| map.values());
    !name.contains(wanted) && !values.any(|value| value.as_str().is_none_or(|text| text.contains(wanted)))
}
