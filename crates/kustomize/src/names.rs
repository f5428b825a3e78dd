//! Namespace, prefix and suffix.

use crate::edit::{text, visit};
use crate::resource::{Resource, is_cluster_wide};
use purlin_value::Value;

/// Puts everything that can be in a namespace into one.
pub fn add_namespace(namespace: &str, resources: &mut [Resource]) {
    if namespace.is_empty() {
        return;
    }
    for resource in resources {
        resource.remember();
        match resource.kind() {
            "Namespace" => resource.set_metadata("name", namespace),
            kind if is_cluster_wide(kind) => {}
            _ => resource.set_metadata("namespace", namespace),
        }
        // Accounts that are in this build follow by their name; only the default one is meant without that.
        if matches!(resource.kind(), "RoleBinding" | "ClusterRoleBinding") {
            visit(&mut resource.value, &["subjects"], false, &mut |subjects| {
                visit(subjects, &["name"], false, &mut |_| {});
                for subject in crate::edit::as_list(subjects).into_iter().flat_map(|list| list.iter_mut()) {
                    if text(subject, &["kind"]) == "ServiceAccount" && text(subject, &["name"]) == "default" {
                        crate::edit::set(subject, "namespace", Value::str(namespace));
                    }
                }
            });
        }
        if resource.kind() == "APIService" {
            visit(&mut resource.value, &["spec", "service"], false, &mut |service| {
                crate::edit::set(service, "namespace", Value::str(namespace));
            });
        }
    }
}

/// Puts a prefix before and a suffix behind names.
pub fn affix(prefix: &str, suffix: &str, resources: &mut [Resource]) {
    if prefix.is_empty() && suffix.is_empty() {
        return;
    }
    for resource in resources {
        let kept = matches!(resource.kind(), "CustomResourceDefinition" | "APIService" | "Namespace");
        if !kept && !resource.name().is_empty() {
            let name = format!("{prefix}{}{suffix}", resource.name());
            resource.rename(&name);
        }
    }
}
