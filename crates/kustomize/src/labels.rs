//! Labels and annotations: of resources, of the pods they make, and of what selects those.

use crate::edit::{set, visit};
use crate::kustomization::Kustomization;
use crate::resource::Resource;
use purlin_value::Value;

/// A place of labels: kinds, path, and whether it is made where it is missing.
type Place = (&'static [&'static str], &'static [&'static str], bool);

const OWN: Place = (&[], &["metadata", "labels"], true);

const WORKLOADS: &[&str] = &["Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"];

/// Labels of pods that are made later.
const TEMPLATES: &[Place] = &[
    (WORKLOADS, &["spec", "template", "metadata", "labels"], true),
    (&["ReplicationController", "Job"], &["spec", "template", "metadata", "labels"], true),
    (&["CronJob"], &["spec", "jobTemplate", "metadata", "labels"], true),
    (&["CronJob"], &["spec", "jobTemplate", "spec", "template", "metadata", "labels"], true),
    (&["StatefulSet"], &["spec", "volumeClaimTemplates", "metadata", "labels"], true),
];

/// What selects by labels.
const SELECTORS: &[Place] = &[
    (&["Service", "ReplicationController"], &["spec", "selector"], true),
    (WORKLOADS, &["spec", "selector", "matchLabels"], true),
    (&["Job", "PodDisruptionBudget"], &["spec", "selector", "matchLabels"], false),
    (&["CronJob"], &["spec", "jobTemplate", "spec", "selector", "matchLabels"], false),
    (&["NetworkPolicy"], &["spec", "podSelector", "matchLabels"], false),
    (&["NetworkPolicy"], &["spec", "ingress", "from", "podSelector", "matchLabels"], false),
    (&["NetworkPolicy"], &["spec", "egress", "to", "podSelector", "matchLabels"], false),
    (WORKLOADS, &["spec", "template", "spec", "topologySpreadConstraints", "labelSelector", "matchLabels"], false),
];

const AFFINITIES: &[&str] = &["podAffinity", "podAntiAffinity"];

/// Annotations of pods that are made later.
const ANNOTATIONS: &[Place] = &[
    (&[], &["metadata", "annotations"], true),
    (WORKLOADS, &["spec", "template", "metadata", "annotations"], true),
    (&["ReplicationController", "Job"], &["spec", "template", "metadata", "annotations"], true),
    (&["CronJob"], &["spec", "jobTemplate", "metadata", "annotations"], true),
    (&["CronJob"], &["spec", "jobTemplate", "spec", "template", "metadata", "annotations"], true),
];

/// Adds the labels of a kustomization.
pub fn labels(kustomization: &Kustomization, resources: &mut [Resource]) {
    for entry in kustomization.list("labels") {
        let Some(pairs) = entry.get("pairs") else { continue };
        let on = |key: &str| entry.get(key).and_then(Value::as_bool).unwrap_or(false);
        add(pairs, resources, on("includeTemplates") || on("includeSelectors"), on("includeSelectors"));
    }
    if let Some(pairs) = kustomization.value.get("commonLabels") {
        add(pairs, resources, true, true);
    }
}

fn add(pairs: &Value, resources: &mut [Resource], templates: bool, selectors: bool) {
    let templates = TEMPLATES.iter().filter(|_| templates);
    let chosen: Vec<&Place> =
        [&OWN].into_iter().chain(templates).chain(SELECTORS.iter().filter(|_| selectors)).collect();
    for resource in resources {
        for (kinds, path, create) in chosen.iter().copied() {
            put(resource, kinds, path, *create, pairs);
        }
        if selectors {
            affinities(resource, pairs);
        }
    }
}

fn affinities(resource: &mut Resource, pairs: &Value) {
    for affinity in AFFINITIES {
        let start = ["spec", "template", "spec", "affinity", affinity];
        let required = ["requiredDuringSchedulingIgnoredDuringExecution", "labelSelector", "matchLabels"];
        let preferred =
            ["preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm", "labelSelector", "matchLabels"];
        put(resource, &["Deployment", "StatefulSet"], &[&start[..], &required[..]].concat(), false, pairs);
        put(resource, &["Deployment", "StatefulSet"], &[&start[..], &preferred[..]].concat(), false, pairs);
    }
}

/// Adds the annotations of a kustomization.
pub fn annotations(kustomization: &Kustomization, resources: &mut [Resource]) {
    let Some(pairs) = kustomization.value.get("commonAnnotations") else { return };
    for resource in resources {
        for (kinds, path, create) in ANNOTATIONS {
            put(resource, kinds, path, *create, pairs);
        }
    }
}

fn put(resource: &mut Resource, kinds: &[&str], path: &[&str], create: bool, pairs: &Value) {
    let concerned = match kinds {
        [] => true,
        // `Service` is also a kind of other groups, which select nothing.
        _ if resource.kind() == "Service" => resource.group().is_empty() && kinds.contains(&"Service"),
        _ => kinds.contains(&resource.kind()),
    };
    // Claims are labelled where there are some; none are made for that.
    let is_list = |key: &&&str| **key == "volumeClaimTemplates";
    let missing = path.iter().find(is_list).is_some_and(|key| {
        resource.value.get("spec").and_then(|spec| spec.get(key)).is_none_or(|claims| claims.as_list().is_none())
    });
    if !concerned || missing {
        return;
    }
    visit(&mut resource.value, path, create, &mut |labels| {
        for (key, value) in pairs.as_map().into_iter().flat_map(|map| map.iter()) {
            set(labels, key, value.clone());
        }
    });
}
