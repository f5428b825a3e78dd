//! Names in resources that mean other resources follow those when they are renamed.

use crate::edit::{as_list, as_map, set, text};
use crate::resource::{Resource, is_cluster_wide};
use purlin_value::Value;
use std::collections::HashMap;

/// A name in a resource: the kinds it may mean, by the keys that lead to it, last ones first.
const REFERENCES: &[(&[&str], &[&str], &[&str])] = &[
    (&["ConfigMap"], &["name", "configMap"], &[]),
    (&["ConfigMap"], &["name", "configMapKeyRef"], &[]),
    (&["ConfigMap"], &["name", "configMapRef"], &[]),
    (&["Secret"], &["secretName", "secret"], &[]),
    (&["Secret"], &["name", "secret"], &[]),
    (&["Secret"], &["name", "secretKeyRef"], &[]),
    (&["Secret"], &["name", "secretRef"], &[]),
    (&["Secret"], &["name", "imagePullSecrets"], &[]),
    (&["Secret"], &["name", "nodePublishSecretRef"], &[]),
    (&["Secret"], &["name", "secrets"], &["ServiceAccount"]),
    (&["Secret"], &["secretName", "tls"], &["Ingress"]),
    (&["ServiceAccount"], &["serviceAccountName"], &[]),
    (&["Service"], &["serviceName", "spec"], &["StatefulSet"]),
    (&["Service"], &["serviceName", "backend"], &["Ingress"]),
    (&["Service"], &["name", "service", "backend"], &["Ingress"]),
    (&["Service"], &["name", "service", "defaultBackend"], &["Ingress"]),
    (&["Service"], &["name", "service", "clientConfig"], &[]),
    (&["Service"], &["name", "service"], &["APIService"]),
    (&["PersistentVolumeClaim"], &["claimName", "persistentVolumeClaim"], &[]),
    (&["PersistentVolume"], &["volumeName", "spec"], &["PersistentVolumeClaim"]),
    (&["StorageClass"], &["storageClassName"], &[]),
    (&["PriorityClass"], &["priorityClassName"], &[]),
    (&["IngressClass"], &["ingressClassName"], &["Ingress"]),
];

/// Keys of objects that name a resource by kind and name.
const BY_KIND: &[&str] = &["roleRef", "subjects", "scaleTargetRef", "targetRef"];

/// What something is called now: its namespace before, its namespace and name now.
struct Renamed {
    was_in: Vec<String>,
    namespace: String,
    name: String,
}

/// Everything that was renamed, by kind and a name it had.
type Names = HashMap<(String, String), Vec<Renamed>>;

/// Updates all references.
pub fn update(resources: &mut [Resource]) {
    let mut names: Names = HashMap::new();
    for resource in resources.iter() {
        let mut before: Vec<&str> = resource.before.iter().map(|(name, _)| name.as_str()).collect();
        before.push(resource.name());
        before.sort_unstable();
        before.dedup();
        for name in before {
            let was_in = resource.before.iter().map(|(_, namespace)| namespace.clone());
            let renamed = Renamed {
                was_in: was_in.chain([resource.effective_namespace().to_owned()]).collect(),
                namespace: resource.namespace().to_owned(),
                name: resource.name().to_owned(),
            };
            names.entry((resource.kind().to_owned(), name.to_owned())).or_default().push(renamed);
        }
    }
    // Where nothing was renamed nothing follows, not even an account without its namespace.
    if resources.iter().all(|resource| resource.before.is_empty()) {
        return;
    }
    for resource in resources {
        let from = From {
            kind: resource.kind().to_owned(),
            namespaces: resource.before.iter().map(|(_, namespace)| namespace.clone()).collect(),
            namespace: resource.effective_namespace().to_owned(),
        };
        walk(&mut resource.value, &mut Vec::new(), &from, &names);
    }
}

/// The resource that refers.
struct From {
    kind: String,
    namespaces: Vec<String>,
    namespace: String,
}

/// Goes through a resource; `way` holds the keys that lead here. Depth is bounded by the reader's limit.
fn walk(value: &mut Value, way: &mut Vec<String>, from: &From, names: &Names) {
    if let Some(list) = as_list(value) {
        return list.iter_mut().for_each(|item| walk(item, way, from, names));
    }
    if let Some(key) = way.last().filter(|key| BY_KIND.contains(&key.as_str())) {
        by_kind(value, key, from, names);
    }
    let Some(map) = as_map(value) else { return };
    for (key, inner) in map.iter_mut() {
        way.push(key.to_string());
        if let Some(name) = inner.as_str() {
            let fits = |(_, keys, kinds): &&(&[&str], &[&str], &[&str])| {
                let led = keys.iter().zip(way.iter().rev()).all(|(key, step)| *key == step.as_str());
                led && keys.len() <= way.len() && (kinds.is_empty() || kinds.contains(&from.kind.as_str()))
            };
            let kinds = REFERENCES.iter().filter(fits).flat_map(|(kinds, ..)| kinds.iter());
            let found = kinds.filter_map(|kind| find(kind, name, None, from, names)).next();
            if let Some(renamed) = found {
                *inner = Value::str(renamed.name.as_str()).with_origin(inner.origin);
            }
        } else {
            walk(inner, way, from, names);
        }
        way.pop();
    }
}

/// `{kind, name}`, perhaps with a namespace: roles, accounts, targets.
fn by_kind(value: &mut Value, key: &str, from: &From, names: &Names) {
    let (kind, name) = (text(value, &["kind"]).to_owned(), text(value, &["name"]).to_owned());
    let namespace = Some(text(value, &["namespace"]).to_owned()).filter(|namespace| !namespace.is_empty());
    let Some(renamed) = find(&kind, &name, namespace.as_deref(), from, names) else { return };
    set(value, "name", Value::str(renamed.name.as_str()));
    // An account is told with its namespace, whether or not it was.
    if (namespace.is_some() || key == "subjects") && !renamed.namespace.is_empty() {
        set(value, "namespace", Value::str(renamed.namespace.as_str()));
    }
}

fn find<'n>(kind: &str, name: &str, namespace: Option<&str>, from: &From, names: &'n Names) -> Option<&'n Renamed> {
    let candidates = names.get(&(kind.to_owned(), name.to_owned()))?;
    let near = |candidate: &&Renamed| match namespace {
        _ if is_cluster_wide(kind) => true,
        Some(namespace) => candidate.was_in.iter().any(|known| known == namespace),
        // What is in no namespace may refer into any.
        None if is_cluster_wide(&from.kind) => true,
        None => {
            let known = |namespace: &String| candidate.was_in.contains(namespace);
            known(&from.namespace) || from.namespaces.iter().any(known)
        }
    };
    let mut fitting = candidates.iter().filter(near);
    let first = fitting.next()?;
    // Where several fit, the one in the same namespace now is meant.
    let here = |candidate: &&&Renamed| candidate.namespace == from.namespace;
    fitting.next().map_or(Some(first), |_| candidates.iter().filter(near).find(|candidate| here(&candidate)))
}
