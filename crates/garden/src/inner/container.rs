//! The objects of a `container` Deploy: a workload, a service for its ports, and an ingress for each way in.

use super::Inner;
use super::making::{Making, image, items};
use super::provider::Provider;
use crate::action::Action;
use crate::live::About;
use crate::rules;
use purlin_model::{Manifest, Resolved};
use purlin_syntax::Message;
use purlin_syntax::{Diagnostic, suggest};
use purlin_value::{Eval, Map, Session, Value};

/// Number of replicas in production, and number of earlier versions that are kept.
const PRODUCTION_REPLICAS: i64 = 3;
const HISTORY: (i64, i64) = (3, 10);

/// Inputs for making them.
pub(super) struct Container<'a> {
    pub about: &'a About,
    pub action: &'a Action,
    pub spec: &'a Value,
}

/// Labels and names that several objects share.
struct Shared {
    making: Making,
    provider: Provider,
    namespace: Option<Value>,
    version: Value,
    image: Value,
}

impl Container<'_> {
    pub fn resolve(&self, eval: &mut Eval<'_>) -> Inner {
        self.objects(eval).unwrap_or_else(|missing| missing)
    }

    fn objects(&self, eval: &mut Eval<'_>) -> Result<Inner, Inner> {
        let version = self.about.version(eval);
        if version.is_poison() {
            return Err(Inner::Broken);
        }
        let Some(image) = image(self.about, self.action, self.spec, eval) else {
            let message = format!("`{}` has neither a `build` nor an image", self.action.key);
            return Err(self.about.wrong(self.action, eval.session, message, None));
        };
        let provider = self.about.cluster(eval);
        let namespace = provider.is_there().then(|| provider.namespace(self.spec));
        let shared = Shared { making: Making::new(eval.session, self.action), provider, namespace, version, image };
        // Make all of them before returning an error, so that every mistake is reported.
        let (workload, service) = (self.workload(&shared, eval.session), self.service(&shared));
        let ingresses = self.ingresses(&shared, eval.session);
        let mut objects = vec![workload?];
        objects.extend(service?);
        objects.extend(ingresses?);
        let file = &self.action.config.file;
        let marked = objects.into_iter().map(|object| Manifest::new(file.clone(), self.marked(&shared, &object)));
        let mut resolved = Resolved::new(self.action.name.clone());
        resolved.manifests = marked.collect();
        resolved.nodes = resolved.manifests.iter().filter_map(|manifest| manifest.object("garden")).collect();
        Ok(Inner::Known(Box::new(resolved)))
    }

    fn flag(&self, key: &str) -> bool {
        self.spec.get(key).and_then(Value::as_bool) == Some(true)
    }

    fn name(&self, shared: &Shared) -> Value {
        shared.making.own(self.action.name.clone())
    }

    fn module(&self, shared: &Shared) -> Value {
        shared.making.own(self.action.module.as_ref().map(|origin| origin.module.clone()).unwrap_or_default())
    }

    fn selector(&self, shared: &Shared) -> Value {
        shared.making.map([("garden.io/action", shared.making.own(self.action.key.clone()))])
    }

    /// The workload itself.
    fn workload(&self, shared: &Shared, session: &Session) -> Result<Value, Inner> {
        let making = &shared.making;
        let is_daemon = self.flag("daemon");
        let labels = making.map([
            ("garden.io/module", self.module(shared)),
            ("garden.io/action", making.own(self.action.key.clone())),
            ("garden.io/service", self.name(shared)),
        ]);
        let replicas = self.spec.get("replicas").filter(|count| count.as_number() != Some(0.0)).cloned();
        let configured = replicas.clone().unwrap_or_else(|| making.own(1));
        let configured = making.written(&configured, crate::expr::text_of(&configured).to_string());
        let template = making.map([
            ("metadata", making.map([("annotations", self.pod_annotations(shared)), ("labels", labels.clone())])),
            ("spec", self.pod(shared, session)?),
        ]);
        let selector = making.map([("matchLabels", self.selector(shared))]);
        let mut spec = vec![("selector", selector), ("template", template)];
        let production = self.about.owner().production;
        if is_daemon {
            spec.push(("updateStrategy", making.map([("type", making.own("RollingUpdate"))])));
        } else {
            let usual = if production { PRODUCTION_REPLICAS } else { 1 };
            spec.push(("replicas", replicas.unwrap_or_else(|| making.own(usual))));
            spec.push(("strategy", self.strategy(making)));
            spec.push(("revisionHistoryLimit", making.own(if production { HISTORY.1 } else { HISTORY.0 })));
        }
        let annotations = making.map([("garden.io/configured.replicas", configured)]);
        Ok(making.map([
            ("apiVersion", making.own("apps/v1")),
            ("kind", making.own(if is_daemon { "DaemonSet" } else { "Deployment" })),
            (
                "metadata",
                making.given([
                    ("name", Some(self.name(shared))),
                    ("annotations", Some(annotations)),
                    ("namespace", shared.namespace.clone()),
                    ("labels", Some(labels)),
                ]),
            ),
            ("spec", Value::map(spec.into_iter().map(|(key, value)| (key.into(), value)).collect())),
        ]))
    }

    fn strategy(&self, making: &Making) -> Value {
        let chosen = self.spec.get("deploymentStrategy").cloned().unwrap_or_else(|| making.own("RollingUpdate"));
        let one = || making.own(1);
        // Made for quick deploys.
        let rolling = making.map([("maxUnavailable", one()), ("maxSurge", one())]);
        let is_rolling = chosen.as_str() == Some("RollingUpdate");
        making.given([("type", Some(chosen)), ("rollingUpdate", is_rolling.then_some(rolling))])
    }

    fn pod_annotations(&self, shared: &Shared) -> Value {
        let given = self.spec.get("annotations").and_then(Value::as_map).cloned();
        let mut annotations = given.unwrap_or_default();
        annotations.insert("kubectl.kubernetes.io/default-container".into(), self.name(shared));
        Value::map(annotations)
    }

    fn pod(&self, shared: &Shared, session: &Session) -> Result<Value, Inner> {
        let making = &shared.making;
        let mut container = self.container(shared, session)?;
        let volumes = items(self.spec, "volumes")?;
        let folder = self.about.full(&self.action.source_folder);
        let (volumes, mounts) = making.volumes(volumes, &folder);
        let has_volumes = volumes.as_list().is_some_and(|list| !list.is_empty());
        if has_volumes {
            container.insert("volumeMounts".into(), mounts);
        }
        let secrets = shared.provider.pull_secrets();
        let secrets: Vec<Value> = secrets.into_iter().map(|name| making.map([("name", name)])).collect();
        let production = self.about.owner().production;
        Ok(making.given([
            ("containers", Some(making.list(vec![Value::map(container)]))),
            ("restartPolicy", Some(making.own("Always"))),
            ("terminationGracePeriodSeconds", Some(making.own(5))),
            ("dnsPolicy", Some(making.own("ClusterFirst"))),
            ("volumes", has_volumes.then_some(volumes)),
            ("imagePullSecrets", (!secrets.is_empty()).then(|| making.list(secrets))),
            ("affinity", production.then(|| self.affinity(making))),
            ("securityContext", production.then(|| unprivileged(making))),
        ]))
    }

    fn container(&self, shared: &Shared, session: &Session) -> Result<Map, Inner> {
        let making = &shared.making;
        let mut env = making.environment(&shared.version, self.spec.get("env"));
        env.extend(POD_FIELDS.iter().map(|(name, path)| {
            let source = making.map([("fieldRef", making.map([("fieldPath", making.own(*path))]))]);
            making.map([("name", making.own(*name)), ("valueFrom", source)])
        }));
        let ports = self.container_ports(making)?;
        let mut security = Map::new();
        security.insert("allowPrivilegeEscalation".into(), making.own(self.flag("privileged")));
        security.extend(making.security(self.spec).into_iter().map(|(key, value)| (key.into(), value)));
        let list = |key: &str| self.spec.get(key).filter(|list| list.as_list() != Some(&[])).cloned();
        let terminal = self.flag("tty").then(|| making.own(true));
        let (ready, alive) = self.probes(making, session)?;
        let container = making.given([
            ("name", Some(self.name(shared))),
            ("image", Some(shared.image.clone())),
            ("env", Some(making.list(env))),
            ("ports", (!ports.is_empty()).then(|| making.list(ports))),
            ("resources", Some(making.resources(self.spec, self.spec.get("limits")))),
            ("imagePullPolicy", Some(making.own("IfNotPresent"))),
            ("securityContext", Some(Value::map(security))),
            ("command", list("command")),
            ("args", list("args")),
            ("tty", terminal.clone()),
            ("stdin", terminal),
            ("readinessProbe", ready),
            ("livenessProbe", alive),
        ]);
        Ok(container.as_map().cloned().unwrap_or_default())
    }

    /// Ports of the container. A pod on every node can have ports of the node itself: one entry has both numbers, since
    /// a second entry for the same port cannot be applied.
    fn container_ports(&self, making: &Making) -> Result<Vec<Value>, Inner> {
        let part = |port: &Value, key: &str| port.get(key).cloned();
        let port = |port: &Value| {
            making.given([
                ("name", part(port, "name")),
                ("protocol", part(port, "protocol")),
                ("containerPort", part(port, "containerPort")),
                ("hostPort", part(port, "hostPort").filter(|_| self.flag("daemon"))),
            ])
        };
        Ok(items(self.spec, "ports")?.iter().map(port).collect())
    }

    /// The port of a name.
    fn port(&self, name: &Value, what: &str, session: &Session) -> Result<&Value, Inner> {
        let ports = items(self.spec, "ports")?;
        let found = ports.iter().find(|port| port.get("name").and_then(Value::as_str) == name.as_str());
        found.ok_or_else(|| {
            let text = crate::expr::text_of(name);
            let message =
                format!("{what} of `{}` refers to the port `{text}`, which is not one of its `ports`", self.action.key);
            let hint = "use the name of a port under `ports`, or declare it there";
            let names = ports.iter().filter_map(|port| port.get("name")?.as_str());
            let hint = suggest::did_you_mean(&text, names).unwrap_or_else(|| hint.into());
            let place = self.about.place(self.action, Some(name), session);
            self.about.report(session, Diagnostic::nowhere(&rules::INNER, message).hint(hint), place);
            Inner::Broken
        })
    }

    /// When it is ready, and when it is started again. The second begins when the first has given up.
    fn probes(&self, making: &Making, session: &Session) -> Result<(Option<Value>, Option<Value>), Inner> {
        let Some(check) = self.spec.get("healthCheck").filter(|check| !check.is_null()) else {
            return Ok((None, None));
        };
        if check.is_pending() {
            return Err(Inner::Pending(check.clone()));
        }
        let how = self.health_check(check, making, session)?;
        let probe = |delay: i64, period: i64, timeout: &str, good: i64, bad: i64| {
            let timeout = check.get(timeout).cloned().unwrap_or_else(|| making.own(3));
            let mut probe = Map::new();
            for (key, value) in [
                ("initialDelaySeconds", making.own(delay)),
                ("periodSeconds", making.own(period)),
                ("timeoutSeconds", timeout),
                ("successThreshold", making.own(good)),
                ("failureThreshold", making.own(bad)),
                (how.0, how.1.clone()),
            ] {
                probe.insert(key.into(), value);
            }
            Some(Value::map(probe))
        };
        let ready = probe(2, 1, "readinessTimeoutSeconds", 2, 90);
        Ok((ready, probe(90, 5, "livenessTimeoutSeconds", 1, 3)))
    }

    fn health_check(&self, check: &Value, making: &Making, session: &Session) -> Result<(&'static str, Value), Inner> {
        let given = |key: &str| check.get(key).filter(|value| !value.is_null());
        if let Some(request) = given("httpGet") {
            let named = request.get("port").cloned().unwrap_or_default();
            let port = self.port(&named, "`healthCheck.httpGet`", session)?;
            let part = |key: &str| request.get(key).cloned();
            let number = port.get("containerPort").cloned();
            return Ok((
                "httpGet",
                making.given([("path", part("path")), ("port", number), ("scheme", part("scheme"))]),
            ));
        }
        if let Some(command) = given("command") {
            return Ok(("exec", making.map([("command", command.clone())])));
        }
        if let Some(named) = given("tcpPort") {
            let port = self.port(named, "`healthCheck.tcpPort`", session)?;
            return Ok(("tcpSocket", making.given([("port", port.get("containerPort").cloned())])));
        }
        let message = format!("`healthCheck` of `{}` needs one of `httpGet`, `command` and `tcpPort`", self.action.key);
        Err(self.about.wrong(self.action, session, message, Some(check)))
    }

    /// Pods of one workload are spread over nodes.
    fn affinity(&self, making: &Making) -> Value {
        let expression = making.map([
            ("key", making.own("garden.io/action")),
            ("operator", making.own("In")),
            ("values", making.list(vec![making.own(self.action.key.clone())])),
        ]);
        let selector = making.map([("matchExpressions", making.list(vec![expression]))]);
        let term = making.map([("labelSelector", selector), ("topologyKey", making.own("kubernetes.io/hostname"))]);
        let preferred = making.map([("weight", making.own(100)), ("podAffinityTerm", term)]);
        let anti = making.map([("preferredDuringSchedulingIgnoredDuringExecution", making.list(vec![preferred]))]);
        making.map([("podAntiAffinity", anti)])
    }

    /// The service of its ports, if it has any.
    fn service(&self, shared: &Shared) -> Result<Option<Value>, Inner> {
        let making = &shared.making;
        let ports = items(self.spec, "ports")?;
        if ports.is_empty() {
            return Ok(None);
        }
        let part = |port: &Value, key: &str| port.get(key).cloned();
        let on_nodes = |port: &&Value| {
            port.get("nodePort")
                .is_some_and(|node| node.as_bool() == Some(true) || node.as_number().is_some_and(|n| n > 0.0))
        };
        let one = |port: &Value| {
            making.given([
                ("name", part(port, "name")),
                ("protocol", part(port, "protocol")),
                ("port", part(port, "servicePort")),
                ("targetPort", part(port, "containerPort")),
                ("nodePort", part(port, "nodePort").filter(|node| node.as_number().is_some_and(|n| n > 0.0))),
            ])
        };
        let kind = if ports.iter().any(|port| on_nodes(&port)) { "NodePort" } else { "ClusterIP" };
        let annotations = self.spec.get("annotations").cloned().unwrap_or_else(|| making.map([]));
        let metadata = making.given([
            ("name", Some(self.name(shared))),
            ("annotations", Some(annotations)),
            ("namespace", shared.namespace.clone()),
        ]);
        let spec = making.map([
            ("ports", making.list(ports.iter().map(one).collect())),
            ("selector", self.selector(shared)),
            ("type", making.own(kind)),
        ]);
        Ok(Some(making.map([
            ("apiVersion", making.own("v1")),
            ("kind", making.own("Service")),
            ("metadata", metadata),
            ("spec", spec),
        ])))
    }

    /// The ways in from outside.
    fn ingresses(&self, shared: &Shared, session: &Session) -> Result<Vec<Value>, Inner> {
        let all = items(self.spec, "ingresses")?;
        let one = |(index, ingress)| self.ingress(shared, session, index, ingress);
        let made: Vec<Result<Value, Inner>> = all.iter().enumerate().map(one).collect();
        made.into_iter().collect()
    }

    fn ingress(&self, shared: &Shared, session: &Session, index: usize, ingress: &Value) -> Result<Value, Inner> {
        let making = &shared.making;
        let named = ingress.get("port").cloned().unwrap_or_default();
        let port = self.port(&named, "an ingress", session)?;
        let own = ingress.get("hostname").filter(|host| host.as_str() != Some("") && !host.is_null()).cloned();
        let Some(host) = own.or_else(|| shared.provider.default_hostname()) else {
            // A rehearsal deploys nothing, so it needs no host name.
            if self.about.is_rehearsal() && !shared.provider.is_there() {
                return Err(Inner::Broken);
            }
            let message = format!(
                "an ingress of `{}` has no `hostname`, and the provider has no `defaultHostname`",
                self.action.key
            );
            let message = Message::advising(message, "add `hostname:`, or set `defaultHostname` of the provider");
            return Err(self.about.wrong(self.action, session, message, Some(ingress)));
        };
        let certificate = self.certificate(shared, session, &host)?;
        let mut annotations = Map::new();
        let forced = making.own(if certificate.is_some() { "true" } else { "false" });
        annotations.insert("ingress.kubernetes.io/force-ssl-redirect".into(), forced);
        let given = ingress.get("annotations").and_then(Value::as_map).into_iter().flat_map(|map| map.iter());
        annotations.extend(given.map(|(key, value)| (key.clone(), value.clone())));
        let number = making.given([("number", port.get("servicePort").cloned())]);
        let service = making.map([("name", self.name(shared)), ("port", number)]);
        let path = making.map([
            ("path", ingress.get("path").cloned().unwrap_or_else(|| making.own("/"))),
            ("pathType", making.own("Prefix")),
            ("backend", making.map([("service", service)])),
        ]);
        let rule = making.map([("host", host.clone()), ("http", making.map([("paths", making.list(vec![path]))]))]);
        let tls = certificate
            .map(|secret| making.list(vec![making.map([("hosts", making.list(vec![host])), ("secretName", secret)])]));
        let metadata = making.given([
            ("name", Some(making.own(ecow::eco_format!("{}-{index}", self.action.name)))),
            ("annotations", Some(Value::map(annotations))),
            ("namespace", shared.namespace.clone()),
        ]);
        let spec = making.given([
            ("ingressClassName", shared.provider.ingress_class()),
            ("rules", Some(making.list(vec![rule]))),
            ("tls", tls),
        ]);
        Ok(making.map([
            ("apiVersion", making.own("networking.k8s.io/v1")),
            ("kind", making.own("Ingress")),
            ("metadata", metadata),
            ("spec", spec),
        ]))
    }

    /// The secret with the certificate of a host name.
    fn certificate(&self, shared: &Shared, session: &Session, host: &Value) -> Result<Option<Value>, Inner> {
        let text = host.as_str().unwrap_or_default();
        let is_for = |name: &Value| {
            let name = name.as_str().unwrap_or_default();
            name == text || name.strip_prefix('*').is_some_and(|end| text.ends_with(end))
        };
        for certificate in shared.provider.certificates() {
            let Some(names) = certificate.get("hostnames").and_then(Value::as_list) else {
                if self.about.is_rehearsal() {
                    continue;
                }
                let name = certificate.get("name").map(crate::expr::text_of).unwrap_or_default();
                let message = format!("the certificate `{name}` has no `hostnames`, so it is used for no ingress");
                let diagnostic = Diagnostic::nowhere(&rules::NOT_RENDERED, message);
                let hint = "list the host names that it is for; they are not read from the cluster";
                self.about.report(
                    session,
                    diagnostic.hint(hint),
                    self.about.place(self.action, Some(certificate), session),
                );
                continue;
            };
            if names.iter().any(is_for) {
                return Ok(certificate.get("secretRef").and_then(|secret| secret.get("name")).cloned());
            }
        }
        if shared.provider.forces_ssl() {
            let message =
                format!("`forceSsl` is set, but no certificate is for the host name `{text}` of `{}`", self.action.key);
            return Err(self.about.wrong(self.action, session, message, Some(host)));
        }
        Ok(None)
    }

    /// An object with annotations that name Garden as its maker, and its project.
    fn marked(&self, shared: &Shared, object: &Value) -> Value {
        let making = &shared.making;
        let metadata = object.get("metadata").and_then(Value::as_map).cloned().unwrap_or_default();
        let part = |key: &str| metadata.get(key).and_then(Value::as_map).cloned().unwrap_or_default();
        let (mut labels, mut annotations) = (part("labels"), part("annotations"));
        labels.insert("garden.io/module".into(), self.module(shared));
        labels.insert("garden.io/service".into(), self.name(shared));
        annotations.insert("garden.io/generated".into(), making.own("true"));
        annotations.insert("garden.io/version".into(), shared.version.clone());
        let mut metadata = metadata;
        metadata.insert("labels".into(), Value::map(labels));
        metadata.insert("annotations".into(), Value::map(annotations));
        let mut object = object.as_map().cloned().unwrap_or_default();
        object.insert("metadata".into(), Value::map(metadata).with_origin(making.own(0).origin));
        Value::map(object).with_origin(making.own(0).origin)
    }
}

/// Environment variables of a container with fields of its pod.
const POD_FIELDS: &[(&str, &str)] = &[
    ("POD_HOST_IP", "status.hostIP"),
    ("POD_IP", "status.podIP"),
    ("POD_NAME", "metadata.name"),
    ("POD_NAMESPACE", "metadata.namespace"),
    ("POD_NODE_NAME", "spec.nodeName"),
    ("POD_SERVICE_ACCOUNT", "spec.serviceAccountName"),
    ("POD_UID", "metadata.uid"),
];

fn unprivileged(making: &Making) -> Value {
    making.map([("runAsUser", making.own(1000)), ("runAsGroup", making.own(3000)), ("fsGroup", making.own(2000))])
}
