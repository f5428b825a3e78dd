//! The ports of deploys that are forwarded to this machine: those that a project names, otherwise those of the
//! Services, and of the workloads that no Service leads to.

use crate::cluster::ClusterDeploy;
use crate::work::Trouble;
use purlin_cluster::stream::forward::{Forward, Say, Target};
use purlin_cluster::{Id, Object};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A port to forward.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Where it leads.
    pub target: Target,
    /// The port of this machine; the same as there if not set.
    pub local: Option<u16>,
}

/// Kinds of resources that people forward to.
const KINDS: &[(&str, &str)] = &[
    ("Service", "v1"),
    ("Pod", "v1"),
    ("ReplicationController", "v1"),
    ("Deployment", "apps/v1"),
    ("StatefulSet", "apps/v1"),
    ("DaemonSet", "apps/v1"),
    ("ReplicaSet", "apps/v1"),
    ("Job", "batch/v1"),
];

impl Port {
    /// A port of a resource whose kind is written in any case. `None` if ports of this kind cannot be forwarded.
    pub fn of(kind: &str, name: &str, namespace: &str, port: &str, local: Option<u16>) -> Option<Port> {
        let (kind, api_version) = KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(kind))?;
        let id = Id {
            api_version: (*api_version).to_owned(),
            kind: (*kind).to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        };
        Some(Port { target: Target { id, port: port.to_owned() }, local })
    }

    fn of_object(object: &Object, port: &str) -> Port {
        Port { target: Target { id: object.id.clone(), port: port.to_owned() }, local: None }
    }

    /// How it is shown: `Service/api:80`.
    pub fn shown(&self) -> String {
        format!("{}/{}:{}", self.target.id.kind, self.target.id.name, self.target.port)
    }
}

fn items<'j>(value: &'j Json, pointer: &str) -> impl Iterator<Item = &'j Json> {
    value.pointer(pointer).and_then(Json::as_array).into_iter().flatten()
}

fn is_tcp(port: &Json) -> bool {
    port.get("protocol").and_then(Json::as_str).is_none_or(|protocol| protocol == "TCP")
}

/// The ports of Services.
pub fn services_of(objects: &[Object]) -> Vec<Port> {
    let mut found = Vec::new();
    for service in objects.iter().filter(|object| object.id.kind == "Service") {
        // Without a selector there are no pods that a forward could lead to.
        let has_pods =
            service.body.pointer("/spec/selector").and_then(Json::as_object).is_some_and(|all| !all.is_empty());
        let ports = items(&service.body, "/spec/ports").filter(|port| has_pods && is_tcp(port));
        let numbers = ports.filter_map(|port| port.get("port").and_then(Json::as_u64));
        found.extend(numbers.map(|number| Port::of_object(service, &number.to_string())));
    }
    found
}

/// The ports of Services, and of workloads that no Service leads to.
pub fn ports_of(objects: &[Object]) -> Vec<Port> {
    let mut found = services_of(objects);
    let services: Vec<&Object> = objects.iter().filter(|object| object.id.kind == "Service").collect();
    let workloads = objects.iter().filter(|object| matches!(object.id.kind.as_str(), "Deployment" | "DaemonSet"));
    for workload in workloads {
        let containers = items(&workload.body, "/spec/template/spec/containers");
        for port in containers.flat_map(|container| items(container, "/ports")).filter(|port| is_tcp(port)) {
            let Some(number) = port.get("containerPort").and_then(Json::as_u64) else { continue };
            if !services.iter().any(|service| leads_to(service, workload, port, number)) {
                found.push(Port::of_object(workload, &number.to_string()));
            }
        }
    }
    found
}

/// Whether a Service leads to a port of a workload.
fn leads_to(service: &Object, workload: &Object, port: &Json, number: u64) -> bool {
    let labels = workload.body.pointer("/spec/template/metadata/labels");
    let selector = service.body.pointer("/spec/selector").and_then(Json::as_object);
    let selects = selector.is_some_and(|all| {
        !all.is_empty() && all.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
    });
    let is_meant = |one: &Json| {
        let target = one.get("targetPort").or_else(|| one.get("port"));
        target.and_then(Json::as_u64) == Some(number)
            || target.is_some_and(|target| target.is_string() && Some(target) == port.get("name"))
    };
    service.id.namespace == workload.id.namespace && selects && items(&service.body, "/spec/ports").any(is_meant)
}

/// Forwarded ports of several deploys.
pub struct Forwards {
    /// By the action and the target.
    open: BTreeMap<(String, String), Forward>,
    sender: Sender<String>,
    messages: Receiver<String>,
}

impl Default for Forwards {
    fn default() -> Self {
        let (sender, messages) = channel();
        Forwards { open: BTreeMap::new(), sender, messages }
    }
}

impl Forwards {
    /// Forwards the ports of a deploy that are not forwarded yet. Returns a line for each new one.
    ///
    /// # Errors
    /// If the cluster cannot be used, or no port can be opened.
    pub fn add(&mut self, id: &str, deploy: &ClusterDeploy) -> Result<Vec<String>, Trouble> {
        let ports = deploy.ports()?;
        let wanted: Vec<(String, String)> = ports.iter().map(|port| (id.to_owned(), port.shown())).collect();
        self.open.retain(|key, _| key.0 != id || wanted.contains(key));
        let mut lines = Vec::new();
        for (port, key) in ports.iter().zip(wanted) {
            if self.open.contains_key(&key) {
                continue;
            }
            let (sender, shown) = (self.sender.clone(), format!("{id}: {}", port.shown()));
            // Messages behind the end are of no interest.
            let say: Say = Arc::new(move |text: &str| drop(sender.send(format!("{shown}: {text}"))));
            let forward = deploy.forward(port, say)?;
            lines.push(format!("{id}: localhost:{} → {}", forward.local(), port.shown()));
            self.open.insert(key, forward);
        }
        Ok(lines)
    }

    /// Whether no port is forwarded.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What forwards have reported since the last call.
    pub fn messages(&self) -> Vec<String> {
        self.messages.try_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn object(body: Json) -> Object {
        Object::of_json(body, 0).unwrap().remove(0)
    }

    #[test]
    fn ports_are_those_of_services_and_of_what_no_service_leads_to() {
        let service = |selector: Json| {
            object(json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "api" }, "spec": {
                "selector": selector, "ports": [{ "port": 80, "targetPort": "http" },
                    { "port": 53, "protocol": "UDP" }] } }))
        };
        let workload = object(json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "api" },
            "spec": { "template": { "metadata": { "labels": { "app": "api", "x": "y" } }, "spec": { "containers": [
                { "name": "a", "ports": [{ "name": "http", "containerPort": 8080 }, { "containerPort": 9090 }] }] } } } }));
        let shown = |objects: &[Object]| ports_of(objects).iter().map(Port::shown).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(&[service(json!({ "app": "api" })), workload.clone()]), "Service/api:80 Deployment/api:9090");
        let both = "Service/api:80 Deployment/api:8080 Deployment/api:9090";
        assert_eq!(shown(&[service(json!({ "app": "other" })), workload.clone()]), both);
        assert_eq!(shown(&[service(json!({})), workload]), "Deployment/api:8080 Deployment/api:9090");
    }

    #[test]
    fn kinds_are_written_in_any_case() {
        assert_eq!(Port::of("service", "a", "", "http", None).unwrap().shown(), "Service/a:http");
        assert_eq!(Port::of("Ingress", "a", "", "80", None), None);
    }
}
