//! Whether an object is ready, from its own content alone: the rules of `kubectl rollout status`, `kubectl wait` and
//! Helm for built-in kinds, and conditions for all others.

use serde_json::Value as Json;

/// The progress of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// It is ready.
    Yes,
    /// Not yet; the reason.
    Waits(String),
    /// It will not become ready by itself; the reason.
    Failed(String),
}

/// Options for readiness.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether a Job must have completed.
    pub jobs: bool,
}

/// Whether objects of a kind can be unready, so that waiting for them requires a check.
pub(crate) fn has_status(kind: &str) -> bool {
    const NEVER: &[&str] = &[
        "ClusterRole",
        "ClusterRoleBinding",
        "ConfigMap",
        "ControllerRevision",
        "CronJob",
        "Endpoints",
        "EndpointSlice",
        "HorizontalPodAutoscaler",
        "Ingress",
        "IngressClass",
        "Lease",
        "LimitRange",
        "MutatingWebhookConfiguration",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "PriorityClass",
        "ResourceQuota",
        "Role",
        "RoleBinding",
        "RuntimeClass",
        "Secret",
        "Service",
        "ServiceAccount",
        "StorageClass",
        "ValidatingWebhookConfiguration",
    ];
    !NEVER.contains(&kind)
}

/// Whether an object is ready.
pub fn ready(object: &Json, rules: Rules) -> Ready {
    let view = View(object);
    let kind = object.get("kind").and_then(Json::as_str).unwrap_or("");
    let group = crate::discovery::group_of(object.get("apiVersion").and_then(Json::as_str).unwrap_or(""));
    if let (Some(generation), Some(seen)) =
        (view.number("/metadata/generation"), view.number("/status/observedGeneration"))
        && seen < generation
    {
        return waits("its controller has not seen the change yet");
    }
    match (group, kind) {
        ("apps", "Deployment") => view.deployment(),
        ("apps", "StatefulSet") => view.stateful_set(),
        ("apps", "DaemonSet") => view.daemon_set(),
        ("apps", "ReplicaSet") | ("", "ReplicationController") => view.replicas(),
        ("batch", "Job") => view.job(rules),
        ("", "Pod") => view.pod(),
        ("", "PersistentVolumeClaim") => match view.text("/status/phase") {
            "Bound" => Ready::Yes,
            "Lost" => Ready::Failed("its volume is lost".to_owned()),
            phase => Ready::Waits(format!("it is not bound yet (phase {})", or(phase, "Pending"))),
        },
        ("", "Namespace") => match view.text("/status/phase") {
            "" | "Active" => Ready::Yes,
            phase => Ready::Waits(format!("its phase is {phase}")),
        },
        ("", "PersistentVolume") => match view.text("/status/phase") {
            "Failed" => Ready::Failed(or(view.text("/status/message"), "it failed").to_owned()),
            _ => Ready::Yes,
        },
        ("apiextensions.k8s.io", "CustomResourceDefinition") => match view.condition("NamesAccepted") {
            Some(("False", why)) => Ready::Failed(why),
            _ => view.must_be("Established"),
        },
        ("apiregistration.k8s.io", "APIService") => view.must_be("Available"),
        _ if !has_status(kind) => Ready::Yes,
        _ => view.generic(),
    }
}

fn waits(why: &str) -> Ready {
    Ready::Waits(why.to_owned())
}

fn or<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.is_empty() { other } else { text }
}

/// An object to check.
struct View<'j>(&'j Json);

impl<'j> View<'j> {
    fn number(&self, pointer: &str) -> Option<i64> {
        self.0.pointer(pointer).and_then(Json::as_i64)
    }

    fn count(&self, name: &str) -> i64 {
        self.number(&format!("/status/{name}")).unwrap_or(0)
    }

    fn text(&self, pointer: &str) -> &'j str {
        self.0.pointer(pointer).and_then(Json::as_str).unwrap_or("")
    }

    fn written(&self, wanted: &str) -> Option<&'j Json> {
        let all = self.0.pointer("/status/conditions").and_then(Json::as_array)?;
        all.iter().find(|condition| condition.get("type").and_then(Json::as_str) == Some(wanted))
    }

    /// The reason of a condition, which is one word.
    fn reason(&self, wanted: &str) -> Option<&'j str> {
        self.written(wanted)?.get("reason").and_then(Json::as_str)
    }

    /// The status of a condition, and its message.
    fn condition(&self, wanted: &str) -> Option<(&'j str, String)> {
        let found = self.written(wanted)?;
        let text = |condition: &'j Json, key: &str| condition.get(key).and_then(Json::as_str).unwrap_or("");
        let why = match (text(found, "reason"), text(found, "message")) {
            ("", message) => message.to_owned(),
            (reason, "") => reason.to_owned(),
            (reason, message) => format!("{reason}: {message}"),
        };
        Some((text(found, "status"), why))
    }

    fn must_be(&self, condition: &str) -> Ready {
        match self.condition(condition) {
            Some(("True", _)) => Ready::Yes,
            Some((_, why)) => {
                Ready::Waits(format!("its condition `{condition}` is not true ({})", or(&why, "no reason")))
            }
            None => Ready::Waits(format!("it has no condition `{condition}` yet")),
        }
    }

    /// Its controller has not processed it yet.
    fn is_unseen(&self) -> bool {
        self.number("/status/observedGeneration").is_none()
    }

    fn deployment(&self) -> Ready {
        if self.is_unseen() {
            return waits("its controller has not seen it yet");
        }
        if let Some((_, why)) = self.condition("Progressing")
            && self.reason("Progressing") == Some("ProgressDeadlineExceeded")
        {
            return Ready::Failed(why);
        }
        let wanted = self.number("/spec/replicas").unwrap_or(1);
        let (updated, all, available) =
            (self.count("updatedReplicas"), self.count("replicas"), self.count("availableReplicas"));
        if updated < wanted {
            return Ready::Waits(format!("{updated} of {wanted} replicas are updated"));
        }
        if all > updated {
            return Ready::Waits(format!("{} old replicas are still running", all - updated));
        }
        match available < updated {
            true => Ready::Waits(format!("{available} of {updated} updated replicas are available")),
            false => Ready::Yes,
        }
    }

    fn stateful_set(&self) -> Ready {
        if self.is_unseen() {
            return waits("its controller has not seen it yet");
        }
        let wanted = self.number("/spec/replicas").unwrap_or(1);
        let ready = self.count("readyReplicas");
        if self.text("/spec/updateStrategy/type") == "OnDelete" {
            return Ready::Yes;
        }
        if ready < wanted {
            return Ready::Waits(format!("{ready} of {wanted} replicas are ready"));
        }
        let partition = self.number("/spec/updateStrategy/rollingUpdate/partition").unwrap_or(0);
        let updated = self.count("updatedReplicas");
        if updated < wanted - partition {
            return Ready::Waits(format!("{updated} of {} replicas are updated", wanted - partition));
        }
        match partition == 0 && self.text("/status/currentRevision") != self.text("/status/updateRevision") {
            true => waits("replicas of the old revision are still running"),
            false => Ready::Yes,
        }
    }

    fn daemon_set(&self) -> Ready {
        if self.is_unseen() {
            return waits("its controller has not seen it yet");
        }
        if self.text("/spec/updateStrategy/type") == "OnDelete" {
            return Ready::Yes;
        }
        let wanted = self.count("desiredNumberScheduled");
        for (name, word) in [("updatedNumberScheduled", "updated"), ("numberAvailable", "available")] {
            let count = self.count(name);
            if count < wanted {
                return Ready::Waits(format!("{count} of {wanted} pods are {word}"));
            }
        }
        Ready::Yes
    }

    fn replicas(&self) -> Ready {
        let (wanted, ready) = (self.number("/spec/replicas").unwrap_or(1), self.count("readyReplicas"));
        if ready < wanted { Ready::Waits(format!("{ready} of {wanted} replicas are ready")) } else { Ready::Yes }
    }

    fn job(&self, rules: Rules) -> Ready {
        if let Some(("True", why)) = self.condition("Failed") {
            return Ready::Failed(or(&why, "it failed").to_owned());
        }
        let is_complete = matches!(self.condition("Complete"), Some(("True", _)));
        let is_suspended = self.0.pointer("/spec/suspend").and_then(Json::as_bool).unwrap_or(false);
        if is_complete || is_suspended || !rules.jobs {
            return Ready::Yes;
        }
        let wanted = self.number("/spec/completions").unwrap_or(1);
        Ready::Waits(format!("{} of {wanted} completions, {} failed", self.count("succeeded"), self.count("failed")))
    }

    fn pod(&self) -> Ready {
        match self.text("/status/phase") {
            "Succeeded" => Ready::Yes,
            "Failed" => {
                Ready::Failed(or(self.text("/status/message"), or(self.text("/status/reason"), "it failed")).to_owned())
            }
            phase => match self.condition("Ready") {
                Some(("True", _)) => Ready::Yes,
                Some((_, why)) if !why.is_empty() => Ready::Waits(why),
                _ => Ready::Waits(format!("its phase is {}", or(phase, "Pending"))),
            },
        }
    }

    /// Any other kind: ready unless its conditions say otherwise.
    fn generic(&self) -> Ready {
        if let Some(("True", why)) = self.condition("Stalled") {
            return Ready::Failed(or(&why, "it is stalled").to_owned());
        }
        if let Some(("True", why)) = self.condition("Reconciling") {
            return Ready::Waits(or(&why, "it is being reconciled").to_owned());
        }
        for name in ["Ready", "Available"] {
            if let Some((status, why)) = self.condition(name)
                && status != "True"
            {
                return Ready::Waits(format!("its condition `{name}` is not true ({})", or(&why, "no reason")));
            }
        }
        Ready::Yes
    }
}
