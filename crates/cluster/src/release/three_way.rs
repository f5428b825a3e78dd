//! Patches between what was applied, what is wanted and what the cluster has, as kubectl and Helm make them on the
//! client: a strategic merge patch for Kubernetes' own kinds, a JSON merge patch for all others.
//!
//! Which lists are joined, and by which key, is a property of the type of a field. It must not know clusters.

use purlin_kubernetes::table::{Shape, Type, TypeId, table};
use serde_json::{Map, Value as Json};

/// How a field is patched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Strategy {
    /// The key that identifies items of a joined list; an empty one for a set of plain values.
    merge_key: Option<&'static str>,
    /// Whether keys that are not wanted are removed from the mapping.
    retains_keys: bool,
    /// Whether a mapping is replaced as a whole.
    is_replaced: bool,
}

const fn joined(key: &'static str) -> Strategy {
    Strategy { merge_key: Some(key), retains_keys: false, is_replaced: false }
}

const fn joined_retaining(key: &'static str) -> Strategy {
    Strategy { merge_key: Some(key), retains_keys: true, is_replaced: false }
}

const RETAINED: Strategy = Strategy { merge_key: None, retains_keys: true, is_replaced: false };
const REPLACED: Strategy = Strategy { merge_key: None, retains_keys: false, is_replaced: true };

/// The fields of Kubernetes' types that have a strategy: type, field. Those of `status` are not applied.
const STRATEGIES: &[(&str, &str, Strategy)] = &[
    ("CSINodeSpec", "drivers", joined("name")),
    ("Container", "env", joined("name")),
    ("Container", "ports", joined("containerPort")),
    ("Container", "volumeDevices", joined("devicePath")),
    ("Container", "volumeMounts", joined("mountPath")),
    ("DeploymentSpec", "strategy", RETAINED),
    ("EphemeralContainer", "env", joined("name")),
    ("EphemeralContainer", "ports", joined("containerPort")),
    ("EphemeralContainer", "volumeDevices", joined("devicePath")),
    ("EphemeralContainer", "volumeMounts", joined("mountPath")),
    ("MutatingAdmissionPolicySpec", "matchConditions", joined("name")),
    ("MutatingWebhook", "matchConditions", joined("name")),
    ("MutatingWebhookConfiguration", "webhooks", joined("name")),
    ("NodeSpec", "podCIDRs", joined("")),
    ("ObjectMeta", "finalizers", joined("")),
    ("ObjectMeta", "ownerReferences", joined("uid")),
    ("PodDisruptionBudgetSpec", "selector", REPLACED),
    ("PodSpec", "containers", joined("name")),
    ("PodSpec", "ephemeralContainers", joined("name")),
    ("PodSpec", "hostAliases", joined("ip")),
    ("PodSpec", "imagePullSecrets", joined("name")),
    ("PodSpec", "initContainers", joined("name")),
    ("PodSpec", "resourceClaims", joined_retaining("name")),
    ("PodSpec", "schedulingGates", joined("name")),
    ("PodSpec", "topologySpreadConstraints", joined("topologyKey")),
    ("PodSpec", "volumes", joined_retaining("name")),
    ("ServiceAccount", "secrets", joined("name")),
    ("ServiceSpec", "ports", joined("port")),
    ("ValidatingAdmissionPolicySpec", "matchConditions", joined("name")),
    ("ValidatingAdmissionPolicySpec", "variables", joined("name")),
    ("ValidatingWebhook", "matchConditions", joined("name")),
    ("ValidatingWebhookConfiguration", "webhooks", joined("name")),
];

/// The type of a value; `None` for mappings with any keys, and for what is below them.
#[derive(Clone, Copy)]
struct Typed(Option<TypeId>);

impl Typed {
    fn known(self) -> Option<&'static Type> {
        table().get(self.0?)
    }

    /// The type and the strategy of a field.
    fn field(self, name: &str) -> (Typed, Strategy) {
        let Some(known) = self.known() else { return (Typed(None), Strategy::default()) };
        let mut shape = known.field(name).map(|field| &field.shape);
        while let Some(Shape::List(inner, _) | Shape::Map(inner)) = shape {
            shape = Some(inner);
        }
        let inner = match shape {
            Some(Shape::Type(id)) => Some(*id),
            _ => None,
        };
        // The policy of the first versions has a selector without a strategy.
        let is_early = known.name.starts_with("policy.v1beta1");
        let mut all = STRATEGIES.iter().filter(|(owner, field, _)| *owner == known.short() && *field == name);
        let strategy = all.next().map(|(_, _, strategy)| *strategy).unwrap_or_default();
        match is_early && strategy == REPLACED {
            true => (Typed(inner), Strategy::default()),
            false => (Typed(inner), strategy),
        }
    }
}

/// What a comparison looks for.
#[derive(Clone, Copy)]
struct Looks {
    additions: bool,
    deletions: bool,
    /// Whether the keys that are wanted are listed.
    retains: bool,
}

type Object = Map<String, Json>;

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ORDER: &str = "$setElementOrder/";

/// The strategic patch of an object of a built-in kind; `None` if the kind is not one.
pub(super) fn strategic(applied: &Json, wanted: &Json, live: &Json) -> Option<Json> {
    let text = |key: &str| wanted.get(key).and_then(Json::as_str).unwrap_or("");
    let kind = table().kind(text("apiVersion"), text("kind"))?;
    let typed = Typed(Some(kind.of));
    let (applied, wanted, live) = (applied.as_object()?, wanted.as_object()?, live.as_object()?);
    let additions = diff_maps(live, wanted, typed, Looks { additions: true, deletions: false, retains: false });
    let mut patch = diff_maps(applied, wanted, typed, Looks { additions: false, deletions: true, retains: false });
    merge_patches(&mut patch, additions, typed);
    arrange(&mut patch);
    Some(Json::Object(patch))
}

/// The JSON merge patch from one value to another.
pub(super) fn json_merge(from: &Json, to: &Json) -> Json {
    let (Json::Object(from), Json::Object(to)) = (from, to) else { return to.clone() };
    let mut patch = Map::new();
    for (key, value) in to {
        match from.get(key) {
            Some(known) if known == value => {}
            Some(known) if known.is_object() && value.is_object() => {
                patch.insert(key.clone(), json_merge(known, value));
            }
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    for key in from.keys().filter(|key| !to.contains_key(*key)) {
        patch.insert(key.clone(), Json::Null);
    }
    Json::Object(patch)
}

/// The JSON merge patch that removes what was applied and is no longer wanted, and makes the cluster what is wanted.
pub(super) fn json_three_way(applied: &Json, wanted: &Json, live: &Json) -> Json {
    let mut patch = without_nulls(json_merge(live, wanted));
    let deletions = only_nulls(json_merge(applied, wanted));
    add_deletions(&mut patch, deletions);
    patch
}

fn without_nulls(patch: Json) -> Json {
    let Json::Object(map) = patch else { return patch };
    let kept = map.into_iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| match value {
        Json::Object(inner) => {
            let inner = without_nulls(Json::Object(inner));
            (key, inner)
        }
        other => (key, other),
    });
    Json::Object(kept.filter(|(_, value)| value.as_object().is_none_or(|map| !map.is_empty())).collect())
}

fn only_nulls(patch: Json) -> Json {
    let Json::Object(map) = patch else { return Json::Object(Map::new()) };
    let kept = map.into_iter().filter_map(|(key, value)| match value {
        Json::Null => Some((key, Json::Null)),
        Json::Object(inner) => {
            let inner = only_nulls(Json::Object(inner));
            inner.as_object().is_some_and(|map| !map.is_empty()).then_some((key, inner))
        }
        _ => None,
    });
    Json::Object(kept.collect())
}

fn add_deletions(patch: &mut Json, deletions: Json) {
    let (Some(patch), Json::Object(deletions)) = (patch.as_object_mut(), deletions) else { return };
    for (key, value) in deletions {
        match patch.get_mut(&key) {
            Some(known) if known.is_object() && value.is_object() => add_deletions(known, value),
            Some(_) => {}
            None => {
                patch.insert(key, value);
            }
        }
    }
}

fn is_same_kind(a: &Json, b: &Json) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Equality as of Go's floats: `1` and `1.0` are one number.
fn is_equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Json::Array(x), Json::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_equal(x, y)),
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, value)| y.get(key).is_some_and(|other| is_equal(value, other)))
        }
        _ => a == b,
    }
}

fn diff_maps(from: &Object, to: &Object, typed: Typed, looks: Looks) -> Object {
    let mut patch = Map::new();
    for (key, wanted) in to {
        match from.get(key) {
            None if looks.additions => {
                patch.insert(key.clone(), wanted.clone());
            }
            None => {}
            Some(known) if !is_same_kind(known, wanted) && looks.additions => {
                patch.insert(key.clone(), wanted.clone());
            }
            Some(known) if !is_same_kind(known, wanted) => {}
            Some(known) => diff_values(key, known, wanted, &mut patch, typed, looks),
        }
    }
    if looks.deletions {
        let gone = from.keys().filter(|key| !to.contains_key(*key));
        patch.extend(gone.map(|key| (key.clone(), Json::Null)));
    }
    let mut kept: Vec<&String> = to.iter().filter(|(_, value)| !value.is_null()).map(|(key, _)| key).collect();
    let has_more = from.iter().any(|(key, value)| !value.is_null() && !to.contains_key(key));
    if looks.retains && !kept.is_empty() && (!patch.is_empty() || has_more) {
        kept.sort();
        let kept = kept.into_iter().map(|key| Json::from(key.as_str())).collect();
        patch.insert(RETAIN.to_owned(), Json::Array(kept));
    }
    patch
}

fn diff_values(key: &str, known: &Json, wanted: &Json, patch: &mut Object, typed: Typed, looks: Looks) {
    let (inner, strategy) = typed.field(key);
    let looks = Looks { retains: strategy.retains_keys, ..looks };
    match (known, wanted) {
        (Json::Object(_), Json::Object(_)) if strategy.is_replaced && looks.additions => {
            patch.insert(key.to_owned(), wanted.clone());
        }
        (Json::Object(_), Json::Object(_)) if strategy.is_replaced => {}
        (Json::Object(known), Json::Object(wanted)) => {
            let found = diff_maps(known, wanted, inner, looks);
            if !found.is_empty() {
                patch.insert(key.to_owned(), Json::Object(found));
            }
        }
        (Json::Array(from), Json::Array(to)) if strategy.merge_key.is_some() => {
            diff_lists(key, (from, to), patch, inner, strategy.merge_key.unwrap_or(""), looks);
        }
        _ if looks.additions && !is_equal(known, wanted) => {
            patch.insert(key.to_owned(), wanted.clone());
        }
        _ => {}
    }
}

/// Joined lists: items to add or change, then those to delete, and the order that is wanted.
fn diff_lists(
    key: &str,
    (from, to): (&[Json], &[Json]),
    patch: &mut Object,
    typed: Typed,
    merge_key: &str,
    looks: Looks,
) {
    if from.is_empty() {
        if !to.is_empty() && looks.additions {
            patch.insert(key.to_owned(), Json::Array(to.to_vec()));
        }
        return;
    }
    if merge_key.is_empty() {
        return diff_sets(key, from, to, patch, looks);
    }
    let id = |item: &Json| item.get(merge_key).cloned().unwrap_or(Json::Null);
    let mut changes = Vec::new();
    for (at, wanted) in to.iter().enumerate() {
        // Several items may have one key, as ports of two protocols do: they are compared in their order.
        let earlier = to.iter().take(at).filter(|item| is_equal(&id(item), &id(wanted))).count();
        match from.iter().filter(|known| is_equal(&id(known), &id(wanted))).nth(earlier) {
            Some(Json::Object(known)) => {
                let Json::Object(wanted) = wanted else { continue };
                let mut change = diff_maps(known, wanted, typed, looks);
                if !change.is_empty() {
                    change.insert(merge_key.to_owned(), wanted.get(merge_key).cloned().unwrap_or(Json::Null));
                    changes.push(Json::Object(change));
                }
            }
            _ if looks.additions => changes.push(wanted.clone()),
            _ => {}
        }
    }
    if looks.deletions {
        let gone = from.iter().filter(|known| !to.iter().any(|wanted| is_equal(&id(known), &id(wanted))));
        changes.extend(gone.map(|known| {
            let entries = [(merge_key.to_owned(), id(known)), (DIRECTIVE.to_owned(), "delete".into())];
            Json::Object(entries.into_iter().collect())
        }));
    }
    let is_same_order = from.len() == to.len() && from.iter().zip(to).all(|(a, b)| is_equal(&id(a), &id(b)));
    let is_ordered =
        looks.additions && (!changes.is_empty() || !is_same_order) || looks.deletions && !changes.is_empty();
    if !changes.is_empty() {
        patch.insert(key.to_owned(), Json::Array(changes));
    }
    if is_ordered && !to.is_empty() {
        let order = to.iter().map(|item| Json::Object([(merge_key.to_owned(), id(item))].into_iter().collect()));
        patch.insert(format!("{ORDER}{key}"), Json::Array(order.collect()));
    }
}

/// Joined lists of plain values.
fn diff_sets(key: &str, from: &[Json], to: &[Json], patch: &mut Object, looks: Looks) {
    let added: Vec<Json> = to.iter().filter(|item| !from.contains(item)).cloned().collect();
    let mut gone: Vec<Json> = Vec::new();
    for item in from.iter().filter(|item| !to.contains(item)) {
        if !gone.contains(item) {
            gone.push(item.clone());
        }
    }
    if looks.additions && !added.is_empty() {
        patch.insert(key.to_owned(), Json::Array(added));
    }
    let is_ordered = looks.deletions && !gone.is_empty() || looks.additions && from != to;
    if looks.deletions && !gone.is_empty() {
        patch.insert(format!("{DELETE_FROM}{key}"), Json::Array(gone));
    }
    if is_ordered && !to.is_empty() {
        patch.insert(format!("{ORDER}{key}"), Json::Array(to.to_vec()));
    }
}

/// Puts additions over deletions. Both are patches, so directives are kept.
fn merge_patches(patch: &mut Object, additions: Object, typed: Typed) {
    for (key, added) in additions {
        let (inner, strategy) = typed.field(&key);
        match (patch.get_mut(&key), added) {
            (Some(Json::Object(known)), Json::Object(added)) if !strategy.is_replaced => {
                merge_patches(known, added, inner);
            }
            (Some(Json::Array(known)), Json::Array(added)) if strategy.merge_key.is_some() => {
                merge_items(known, added, inner, strategy.merge_key.unwrap_or(""));
            }
            (_, added) => {
                patch.insert(key, added);
            }
        }
    }
}

fn merge_items(known: &mut Vec<Json>, added: Vec<Json>, typed: Typed, merge_key: &str) {
    if merge_key.is_empty() {
        known.extend(added);
        known.dedup();
        return;
    }
    let id = |item: &Json| item.get(merge_key).cloned().unwrap_or(Json::Null);
    let (mut first, mut last): (Vec<Json>, Vec<Json>) =
        std::mem::take(known).into_iter().partition(|item| item.get(DIRECTIVE).is_none());
    for item in added {
        match (first.iter_mut().find(|one| is_equal(&id(one), &id(&item))), item) {
            (Some(Json::Object(one)), Json::Object(item)) => merge_patches(one, item, typed),
            (_, item) => first.push(item),
        }
    }
    first.append(&mut last);
    *known = first;
}

/// Whether a patch changes nothing.
pub(super) fn is_empty(patch: &Json) -> bool {
    patch.as_object().is_none_or(Map::is_empty)
}

/// Puts the items of joined lists in the order that their patch asks for; the server insists on it.
fn arrange(patch: &mut Object) {
    let orders: Vec<(String, Vec<Json>)> = patch
        .iter()
        .filter_map(|(key, order)| Some((key.strip_prefix(ORDER)?.to_owned(), order.as_array()?.clone())))
        .collect();
    for (key, order) in orders {
        let Some(Json::Array(items)) = patch.get_mut(&key) else { continue };
        let place = |item: &Json| {
            let is_named = |wanted: &Json| match wanted.as_object() {
                Some(id) => id.iter().all(|(key, value)| item.get(key).is_some_and(|own| is_equal(own, value))),
                None => is_equal(wanted, item),
            };
            let is_removal = item.get(DIRECTIVE).is_some();
            order.iter().position(is_named).filter(|_| !is_removal).unwrap_or(order.len())
        };
        items.sort_by_cached_key(place);
    }
    for value in patch.values_mut() {
        match value {
            Json::Object(inner) => arrange(inner),
            Json::Array(items) => items.iter_mut().filter_map(Json::as_object_mut).for_each(arrange),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn deployment(spec: Json) -> Json {
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" }, "spec": spec })
    }

    fn pods(containers: Json) -> Json {
        deployment(json!({ "template": { "spec": { "containers": containers } } }))
    }

    #[test]
    fn items_are_found_by_their_key_and_others_of_the_cluster_stay() {
        let applied = pods(json!([{ "name": "a", "image": "a:1", "env": [{ "name": "X", "value": "1" }] },
            { "name": "b", "image": "b:1" }]));
        let wanted = pods(json!([{ "name": "c", "image": "c:1" }, { "name": "a", "image": "a:2" }]));
        let live = pods(json!([{ "name": "a", "image": "a:1", "env": [{ "name": "X", "value": "1" }] },
            { "name": "b", "image": "b:1" }, { "name": "injected", "image": "mesh" }]));
        let patch = strategic(&applied, &wanted, &live).unwrap();
        let expected = json!({ "spec": { "template": { "spec": {
            "containers": [{ "name": "c", "image": "c:1" }, { "name": "a", "image": "a:2", "env": null },
                { "name": "b", "$patch": "delete" }],
            "$setElementOrder/containers": [{ "name": "c" }, { "name": "a" }] } } } });
        assert_eq!(patch, expected);
    }

    #[test]
    fn nothing_to_do_is_an_empty_patch() {
        let wanted = pods(json!([{ "name": "a", "image": "a:1", "ports": [{ "containerPort": 80 }] }]));
        let live = pods(json!([{ "name": "a", "image": "a:1", "imagePullPolicy": "Always",
            "ports": [{ "containerPort": 80, "protocol": "TCP" }] }]));
        assert!(is_empty(&strategic(&wanted, &wanted, &live).unwrap()));
    }

    #[test]
    fn a_strategy_of_another_kind_loses_the_keys_of_the_old_one() {
        let applied =
            deployment(json!({ "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } } }));
        let wanted = deployment(json!({ "strategy": { "type": "Recreate" } }));
        let patch = strategic(&applied, &wanted, &applied).unwrap();
        let expected = json!({ "spec": { "strategy": {
            "type": "Recreate", "rollingUpdate": null, "$retainKeys": ["type"] } } });
        assert_eq!(patch, expected);
    }

    #[test]
    fn plain_values_have_a_list_of_their_own_for_removal() {
        let object = |names: Json| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "finalizers": names } });
        let patch = strategic(&object(json!(["x", "y"])), &object(json!(["y", "z"])), &object(json!(["x", "y", "s"])));
        let expected = json!({ "metadata": { "finalizers": ["z"], "$deleteFromPrimitiveList/finalizers": ["x"],
            "$setElementOrder/finalizers": ["y", "z"] } });
        assert_eq!(patch.unwrap(), expected);
    }

    #[test]
    fn atomic_lists_and_other_kinds_are_replaced() {
        let object = |args: Json| pods(json!([{ "name": "a", "args": args }]));
        let patch = strategic(&object(json!(["x"])), &object(json!(["y"])), &object(json!(["x"]))).unwrap();
        assert_eq!(patch.pointer("/spec/template/spec/containers/0/args"), Some(&json!(["y"])));
        let custom = |size: i64| json!({ "apiVersion": "shop.example/v1", "kind": "Widget", "size": size });
        assert_eq!(strategic(&custom(1), &custom(2), &custom(1)), None);
        let (one, two) = (json!({ "a": 1, "b": { "c": [1], "d": 2 } }), json!({ "a": 1, "b": { "c": [2] }, "e": {} }));
        assert_eq!(json_merge(&one, &two), json!({ "b": { "c": [2], "d": null }, "e": {} }));
        let live = json!({ "a": 1, "b": { "c": [1], "d": 2, "other": 1 }, "x": 1 });
        assert_eq!(json_three_way(&one, &two, &live), json!({ "b": { "c": [2], "d": null } }));
    }
}
