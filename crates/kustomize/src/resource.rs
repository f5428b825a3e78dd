//! A resource on its way through a kustomization: what it is, and what it was called before.

use crate::edit::{map, set, take, text, visit};
use ecow::EcoString;
use purlin_value::Value;

/// A resource.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its content.
    pub value: Value,
    /// The file it is from.
    pub source: EcoString,
    /// Names and namespaces it had before, oldest first.
    pub before: Vec<(String, String)>,
    /// Whether its name gets a digest of its content.
    pub hashed: bool,
}

impl Resource {
    /// A resource as it was read.
    pub fn new(value: Value, source: EcoString) -> Self {
        Resource { value, source, before: Vec::new(), hashed: false }
    }

    /// Its kind.
    pub fn kind(&self) -> &str {
        text(&self.value, &["kind"])
    }

    /// Its API group; empty for the core.
    pub fn group(&self) -> &str {
        text(&self.value, &["apiVersion"]).split_once('/').map_or("", |(group, _)| group)
    }

    /// Its API version without the group.
    pub fn version(&self) -> &str {
        let whole = text(&self.value, &["apiVersion"]);
        whole.split_once('/').map_or(whole, |(_, version)| version)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        text(&self.value, &["metadata", "name"])
    }

    /// Its namespace; empty if it has none.
    pub fn namespace(&self) -> &str {
        text(&self.value, &["metadata", "namespace"])
    }

    /// The namespace it is compared by: none is the default one.
    pub fn effective_namespace(&self) -> &str {
        match self.namespace() {
            "" if !is_cluster_wide(self.kind()) => "default",
            namespace => namespace,
        }
    }

    /// Remembers what it is called before that changes.
    pub fn remember(&mut self) {
        let now = (self.name().to_owned(), self.effective_namespace().to_owned());
        if self.before.last() != Some(&now) {
            self.before.push(now);
        }
    }

    /// Gives it another name.
    pub fn rename(&mut self, name: &str) {
        self.remember();
        self.set_metadata("name", name);
    }

    /// Sets a text of its metadata.
    pub fn set_metadata(&mut self, key: &str, to: &str) {
        let metadata = map(&mut self.value).entry("metadata".into()).or_insert_with(Value::null);
        let new = match metadata.get(key) {
            Some(old) => Value::str(to).with_origin(old.origin),
            None => Value::str(to),
        };
        set(metadata, key, new);
    }

    /// Takes annotations away that hold nothing: the original keeps notes among them, and removes them in the end.
    pub fn drop_empty_annotations(&mut self) {
        let written = self.value.get("metadata").and_then(|metadata| metadata.get("annotations"));
        let is_empty = |value: &Value| value.is_null() || value.as_map().is_some_and(|map| map.is_empty());
        if written.is_some_and(is_empty) {
            visit(&mut self.value, &["metadata"], false, &mut |metadata| {
                take(metadata, "annotations");
            });
        }
    }

    /// Makes annotations where there are none, as long as the resource is being changed.
    pub fn have_annotations(&mut self) {
        visit(&mut self.value, &["metadata", "annotations"], true, &mut |annotations| {
            map(annotations);
        });
    }

    /// Whether it is, or was, called so.
    pub fn answers_to(&self, name: &str) -> bool {
        self.name() == name || self.before.iter().any(|(before, _)| before == name)
    }

    /// Whether it is, or was, in a namespace.
    pub fn was_in(&self, namespace: &str) -> bool {
        self.effective_namespace() == namespace || self.before.iter().any(|(_, before)| before == namespace)
    }
}

/// Kinds that are in no namespace.
const CLUSTER_WIDE: &[&str] = &[
    "APIService",
    "CSIDriver",
    "CSINode",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "ComponentStatus",
    "CustomResourceDefinition",
    "FlowSchema",
    "IngressClass",
    "MutatingWebhookConfiguration",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PodSecurityPolicy",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "RuntimeClass",
    "SelfSubjectAccessReview",
    "SelfSubjectReview",
    "SelfSubjectRulesReview",
    "StorageClass",
    "SubjectAccessReview",
    "TokenReview",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "VolumeAttributesClass",
];

/// Whether resources of a kind are in no namespace.
pub fn is_cluster_wide(kind: &str) -> bool {
    CLUSTER_WIDE.contains(&kind)
}
