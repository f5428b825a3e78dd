//! The order of the result: dependencies first, webhooks last; or as collected.

use crate::edit::text;
use crate::identity::Gvk;
use crate::resource::Resource;
use ecow::EcoString;
use purlin_value::Value;

const FIRST: &[&str] = &[
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];

const LAST: &[&str] = &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Position of a kind in the original's order of kinds.
pub fn place(gvk: &Gvk) -> (i64, String) {
    let at = |list: &[&str]| list.iter().position(|known| *known == gvk.kind).map(|at| at as i64);
    let rank = at(FIRST).map(|at| at - FIRST.len() as i64).or_else(|| at(LAST).map(|at| at + 1)).unwrap_or(0);
    let or = |text: &EcoString, none: &str| if text.is_empty() { none.to_owned() } else { text.to_string() };
    (rank, format!("{}_{}_{}", or(&gvk.group, "~G"), or(&gvk.version, "~V"), or(&gvk.kind, "~K")))
}

/// Sorts the resources of a build by `sortOptions`; an error if these are invalid.
pub fn sort(resources: &mut [Resource], sorting: Option<&Value>) -> Result<(), String> {
    let sorting = sorting.filter(|sorting| !sorting.is_null());
    let order = sorting.map_or("legacy", |sorting| text(sorting, &["order"]));
    let sorting = sorting.cloned().unwrap_or_else(Value::null);
    match order {
        "legacy" => {}
        "fifo" if sorting.get("legacySortOptions").is_some_and(|options| !options.is_null()) => {
            return Err("`sortOptions.legacySortOptions` is for the order `legacy`, and the order is `fifo`".to_owned());
        }
        "fifo" => return Ok(()),
        other => return Err(format!("`sortOptions.order`: expected `fifo` or `legacy`, found `{other}`")),
    }
    let list = |key: &str, known: &[&str]| -> Vec<String> {
        let own = sorting.get("legacySortOptions").and_then(|options| options.get(key)).and_then(Value::as_list);
        match own {
            Some(own) => own.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => known.iter().map(|kind| (*kind).to_owned()).collect(),
        }
    };
    let (first, last) = (list("orderFirst", FIRST), list("orderLast", LAST));
    let rank = |kind: &str| -> i64 {
        let at = |list: &[String]| list.iter().position(|known| known == kind).map(|at| at as i64);
        at(&first).map(|at| at - first.len() as i64).or_else(|| at(&last).map(|at| at + 1)).unwrap_or(0)
    };
    let or = |text: &str, none: &str| if text.is_empty() { none.to_owned() } else { text.to_owned() };
    resources.sort_by_cached_key(|resource| {
        let kind = or(resource.kind(), "~K");
        // Kubernetes' own namespaces come before those of any other group, whose names sort before a missing one.
        let no_group = if kind == "Namespace" { "" } else { "~G" };
        let family = format!("{}_{}_{kind}", or(resource.group(), no_group), or(resource.version(), "~V"));
        // Namespace and name are compared as one string, so `web-db` comes before `web`.
        let identity = format!("{}|{}", or(resource.namespace(), "~X"), or(resource.name(), "~N"));
        (rank(resource.kind()), family, identity)
    });
    Ok(())
}
