//! Readiness of objects.

#![allow(clippy::unwrap_used)]

use purlin_cluster::ready::{Ready, Rules, ready};
use serde_json::{Value as Json, json};

fn look(version: &str, kind: &str, spec: Json, status: Json) -> Ready {
    let object =
        json!({ "apiVersion": version, "kind": kind, "metadata": { "generation": 2 }, "spec": spec, "status": status });
    ready(&object, Rules { jobs: true })
}

fn condition(kind: &str, status: &str, reason: &str) -> Json {
    json!({ "conditions": [{ "type": kind, "status": status, "reason": reason }] })
}

#[track_caller]
fn waits(found: Ready, why: &str) {
    assert_eq!(found, Ready::Waits(why.to_owned()));
}

#[test]
fn workloads_are_up_when_all_new_replicas_are() {
    let deployment = |status: Json| look("apps/v1", "Deployment", json!({ "replicas": 3 }), status);
    waits(deployment(json!({})), "its controller has not seen it yet");
    waits(deployment(json!({ "observedGeneration": 1 })), "its controller has not seen the change yet");
    waits(deployment(json!({ "observedGeneration": 2, "updatedReplicas": 1 })), "1 of 3 replicas are updated");
    let old = json!({ "observedGeneration": 2, "updatedReplicas": 3, "replicas": 4 });
    waits(deployment(old), "1 old replicas are still running");
    let late = json!({ "observedGeneration": 2, "updatedReplicas": 3, "replicas": 3, "availableReplicas": 2 });
    waits(deployment(late), "2 of 3 updated replicas are available");
    let up = json!({ "observedGeneration": 2, "updatedReplicas": 3, "replicas": 3, "availableReplicas": 3 });
    assert_eq!(deployment(up), Ready::Yes);
    let mut stuck = condition("Progressing", "False", "ProgressDeadlineExceeded");
    stuck["observedGeneration"] = 2.into();
    assert_eq!(deployment(stuck), Ready::Failed("ProgressDeadlineExceeded".to_owned()));

    let set = |status: Json| look("apps/v1", "StatefulSet", json!({ "replicas": 2 }), status);
    let half = json!({ "observedGeneration": 2, "readyReplicas": 2, "updatedReplicas": 1 });
    waits(set(half), "1 of 2 replicas are updated");
    let turning = json!({ "observedGeneration": 2, "readyReplicas": 2, "updatedReplicas": 2, "currentRevision": "a", "updateRevision": "b" });
    waits(set(turning), "replicas of the old revision are still running");

    let daemons = |status: Json| look("apps/v1", "DaemonSet", json!({}), status);
    let some = json!({ "observedGeneration": 2, "desiredNumberScheduled": 3, "updatedNumberScheduled": 3, "numberAvailable": 1 });
    waits(daemons(some), "1 of 3 pods are available");
    assert_eq!(daemons(json!({ "observedGeneration": 2 })), Ready::Yes, "no node wants it");
}

#[test]
fn jobs_pods_and_claims_have_ends_of_their_own() {
    let job = |status: Json| look("batch/v1", "Job", json!({ "completions": 2 }), status);
    waits(job(json!({ "succeeded": 1 })), "1 of 2 completions, 0 failed");
    assert_eq!(job(condition("Complete", "True", "")), Ready::Yes);
    assert_eq!(job(condition("Failed", "True", "DeadlineExceeded")), Ready::Failed("DeadlineExceeded".to_owned()));
    assert_eq!(look("batch/v1", "Job", json!({ "suspend": true }), json!({})), Ready::Yes);
    let pod = |status: Json| look("v1", "Pod", json!({}), status);
    assert_eq!(pod(json!({ "phase": "Succeeded" })), Ready::Yes);
    assert_eq!(pod(json!({ "phase": "Failed", "reason": "Evicted" })), Ready::Failed("Evicted".to_owned()));
    waits(pod(json!({})), "its phase is Pending");
    waits(look("v1", "PersistentVolumeClaim", json!({}), json!({})), "it is not bound yet (phase Pending)");
    assert_eq!(look("v1", "ConfigMap", json!({}), json!({})), Ready::Yes);
}

#[test]
fn other_kinds_say_so_by_conditions() {
    let widget = |status: Json| look("shop.example/v1", "Widget", json!({}), status);
    assert_eq!(widget(json!({})), Ready::Yes);
    assert_eq!(widget(condition("Ready", "True", "")), Ready::Yes);
    waits(widget(condition("Ready", "False", "Pulling")), "its condition `Ready` is not true (Pulling)");
    assert_eq!(widget(condition("Stalled", "True", "Broken")), Ready::Failed("Broken".to_owned()));
    let definition = |status: Json| look("apiextensions.k8s.io/v1", "CustomResourceDefinition", json!({}), status);
    waits(definition(json!({})), "it has no condition `Established` yet");
    assert_eq!(definition(condition("NamesAccepted", "False", "Taken")), Ready::Failed("Taken".to_owned()));
}
