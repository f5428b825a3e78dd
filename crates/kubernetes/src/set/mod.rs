//! Validates objects together: selectors against pods, names against objects.
//!
//! A referenced object may come from elsewhere: another chart, an operator, a job. So a missing object is reported
//! only where one of this set was certainly meant: its name is similar to that of an existing one.

mod orphans;

use crate::finding::Finding;
use crate::here::{Here, known};
use crate::pods::{self, Fit};
use crate::scalars::is_of_release;
use crate::values::short;
use crate::{Object, rules};
use purlin_syntax::Hint;
use purlin_syntax::suggest::{is_slip, nearest};
use purlin_value::{FastMap, Value};
use std::collections::{BTreeMap, HashMap};

/// Objects of one environment, indexed for references.
pub struct Set<'v> {
    /// The namespace of objects without an explicit one.
    pub home: &'v str,
    /// Objects by kind and namespace; unknown names leave a gap.
    named: HashMap<&'v str, HashMap<&'v str, Named<'v>>>,
    /// Pods of workloads, with their namespaces.
    pub pods: Vec<Pod<'v>>,
    /// Pods by a label: namespace, key and value.
    labelled: FastMap<(&'v str, &'v str, &'v str), Vec<usize>>,
    /// Pods of which not all labels are known, which any selector may select.
    unclear: Vec<usize>,
    /// Namespaces with pods whose labels are unknown.
    has_open_pods: bool,
    /// Whether it contains objects that may create pods, services or secrets.
    has_makers: bool,
}

/// Objects of a kind in a namespace.
#[derive(Default)]
pub struct Named<'v> {
    /// Those with a known name.
    pub all: BTreeMap<&'v str, &'v Value>,
    is_open: bool,
}

/// The pod of an object.
pub struct Pod<'v> {
    /// Its namespace.
    pub namespace: &'v str,
    /// The id of the object.
    pub object: &'v str,
    /// Its labels.
    pub labels: Option<&'v Value>,
    spec: Option<&'v Value>,
}

/// A reference to an object that the set does not have.
struct Absent {
    kind: String,
    namespace: String,
    name: String,
    finding: Finding,
}

/// The string at a path of keys.
pub fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().try_fold(value, |value, key| known(value)?.get(key)).and_then(known)?.as_str()
}

/// The namespace of an object; `home` if it is not set.
pub fn namespace<'v>(object: &'v Value, home: &'v str) -> &'v str {
    text(object, &["metadata", "namespace"]).unwrap_or(home)
}

/// The namespace that objects without one are applied to: that of the others, if they agree.
fn home<'v>(objects: &'v [Object<'v>]) -> &'v str {
    let mut named = objects.iter().filter_map(|object| text(known(object.value)?, &["metadata", "namespace"]));
    let first = named.next().unwrap_or_default();
    if named.all(|other| other == first) { first } else { "" }
}

impl<'v> Set<'v> {
    /// The objects of an environment.
    pub fn of(objects: &'v [Object<'v>]) -> Self {
        let home = home(objects);
        let mut set = Set {
            home,
            named: HashMap::new(),
            pods: Vec::new(),
            labelled: FastMap::default(),
            unclear: Vec::new(),
            has_open_pods: false,
            has_makers: false,
        };
        for object in objects {
            let Some(value) = known(object.value) else {
                set.has_makers = true;
                continue;
            };
            let Some(kind) = text(value, &["kind"]) else {
                set.has_makers = true;
                continue;
            };
            set.has_makers |= text(value, &["apiVersion"]).is_none_or(is_custom);
            let named = set.named.entry(kind).or_default().entry(namespace(value, home)).or_default();
            match text(value, &["metadata", "name"]) {
                Some(name) => {
                    named.all.insert(name, value);
                }
                None => named.is_open = true,
            }
            if let Some(pod) = pods::pod(kind, value) {
                let labels =
                    pod.get("metadata").map_or(Some(None), |metadata| known(metadata).map(|all| all.get("labels")));
                set.has_open_pods |= known(pod).is_none() || labels.is_none();
                let spec = pod.get("spec").and_then(known);
                let namespace = namespace(value, home);
                let pod = Pod { namespace, object: &object.id, labels: labels.flatten(), spec };
                set.add_pod(pod);
            }
        }
        set
    }

    fn add_pod(&mut self, pod: Pod<'v>) {
        let index = self.pods.len();
        let mut is_clear = true;
        for (key, value) in pod.labels.into_iter().filter_map(Value::as_map).flat_map(|labels| labels.iter()) {
            match known(value).map(Value::as_str) {
                Some(Some(text)) => self.labelled.entry((pod.namespace, key, text)).or_default().push(index),
                Some(None) => {}
                None => is_clear = false,
            }
        }
        if !is_clear || pod.labels.is_some_and(|labels| known(labels).is_none()) {
            self.unclear.push(index);
        }
        self.pods.push(pod);
    }

    /// The pods of a namespace that may have all of some labels: by one of them, if all are known.
    fn candidates(&self, namespace: &'v str, wanted: &'v Value) -> Vec<usize> {
        let labels = known(wanted).and_then(Value::as_map);
        let texts =
            labels.map(|labels| labels.iter().map(|(key, value)| Some((key.as_str(), known(value)?.as_str()?))));
        let texts: Option<Vec<(&str, &str)>> = texts.and_then(Iterator::collect);
        let Some((key, text)) = texts.and_then(|texts| texts.first().copied()) else {
            return (0..self.pods.len()).collect();
        };
        let labelled = self.labelled.get(&(namespace, key, text)).into_iter().flatten();
        let mut all: Vec<usize> = labelled.chain(&self.unclear).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Validates all objects.
    pub fn check(&self, objects: &'v [Object<'v>], found: &mut Vec<Finding>) {
        let mut absent = Vec::new();
        for object in objects {
            let Some(kind) = known(object.value).and_then(|value| text(value, &["kind"])) else { continue };
            if text(object.value, &["apiVersion"]).is_none_or(is_custom) {
                continue;
            }
            let namespace = namespace(object.value, self.home);
            let mut look = Look { set: self, objects, object, found: &mut *found, absent: &mut absent, namespace };
            look.judge(kind);
        }
        // Where several are missing, they come from elsewhere together.
        let same = |one: &Absent, other: &Absent| one.kind == other.kind && one.namespace == other.namespace;
        let is_only = |one: &Absent| absent.iter().all(|other| !same(one, other) || one.name == other.name);
        for one in absent.iter().filter(|one| is_only(one)) {
            let unused = orphans::unused(self, objects, &one.kind, &one.namespace);
            let listed: Vec<String> = unused.iter().take(SHOWN).map(|name| format!("`{}`", short(name))).collect();
            if !listed.is_empty() {
                found.push(one.finding.clone().hint(format!(
                    "nothing refers to the {} {}",
                    one.kind,
                    listed.join(" and ")
                )));
            }
        }
    }

    /// Whether a Service leads to a port of a pod.
    fn is_target(&self, objects: &[Object<'_>], pod: &Pod<'_>, declared: &Declared<'_>) -> bool {
        let services = objects.iter().filter(|object| text(object.value, &["kind"]) == Some("Service"));
        let mut here = services.filter(|object| namespace(object.value, self.home) == pod.namespace);
        here.any(|service| {
            let Some(spec) = service.value.get("spec").and_then(known) else { return true };
            let selects = spec.get("selector").is_some_and(|selector| pods::fits(selector, pod.labels) != Fit::No);
            let ports = spec.get("ports").and_then(Value::as_list).unwrap_or_default();
            selects
                && ports.iter().any(|port| {
                    let target = port.get("targetPort").filter(|port| !port.is_null()).or_else(|| port.get("port"));
                    target.is_none_or(|target| {
                        let name = target.as_str().filter(|_| declared.name.is_some());
                        target.as_int() == Some(declared.number) || (name.is_some() && name == declared.name)
                    })
                })
        })
    }

    /// The objects of a kind in a namespace.
    pub fn all(&self, kind: &str, namespace: &str) -> Option<&Named<'v>> {
        self.named.get(kind)?.get(namespace)
    }
}

/// Whether a version belongs to a group of custom resources.
pub fn is_custom(version: &str) -> bool {
    version.split_once('/').is_some_and(|(group, _)| group.contains('.') && !group.ends_with(".k8s.io"))
}

/// Unused objects that a hint names.
const SHOWN: usize = 2;

/// One object in relation to the others.
struct Look<'s, 'v, 'f> {
    set: &'s Set<'v>,
    objects: &'s [Object<'v>],
    object: &'s Object<'v>,
    found: &'f mut Vec<Finding>,
    absent: &'f mut Vec<Absent>,
    namespace: &'s str,
}

impl<'s, 'v> Look<'s, 'v, '_> {
    fn judge(&mut self, kind: &str) {
        let object = self.object.value;
        let here = Here::top(object);
        if let Some(way) = pods::way_to_pod(kind) {
            self.pod(&here, way);
        }
        let Some(spec) = here.set("spec") else {
            if matches!(kind, "RoleBinding" | "ClusterRoleBinding") {
                self.binding(&here);
            }
            return;
        };
        match kind {
            "Service" => self.service(&spec),
            "NetworkPolicy" => self.selects(&spec, "podSelector"),
            "PodDisruptionBudget" => self.selects(&spec, "selector"),
            "HorizontalPodAutoscaler" => self.target(&spec),
            "Ingress" => self.ingress(&spec),
            "StatefulSet" => {
                if let Some(name) = spec.set("serviceName") {
                    self.refers(&name, "Service");
                }
            }
            _ => {}
        }
    }

    fn warn(&mut self, rule: &'static purlin_syntax::Rule, here: &Here<'_, '_>, message: String) -> &mut Finding {
        self.found.push(Finding::value(rule, here, &self.object.id, message).warning());
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Reports an unknown name that is similar to an existing one.
    fn refers(&mut self, here: &Here<'_, '_>, kind: &str) -> bool {
        let Some(name) = here.text().filter(|name| !name.is_empty()) else { return false };
        let all = self.set.all(kind, self.namespace);
        if all.is_some_and(|all| all.is_open) {
            return false;
        }
        if all.is_some_and(|all| all.all.contains_key(name)) {
            return true;
        }
        let mut names = all.into_iter().flat_map(|all| all.all.keys().copied());
        let meant = names.find(|known| is_slip(name, known) && !differs_in_number(name, known));
        let message = format!(": there is no {kind} `{}`", short(name));
        if meant.is_some() {
            self.warn(&rules::REFERENCE, here, message).hint = meant.map(|meant| Hint::meant(name, meant));
        } else if is_of_release(name) && orphans::is_made_by_chart(kind) && !self.set.has_makers {
            self.warn(&rules::REFERENCE, here, message);
        } else if name != "default" && !here.is_under("subjects") {
            let finding = Finding::value(&rules::REFERENCE, here, &self.object.id, message).warning();
            let (kind, namespace) = (kind.to_owned(), self.namespace.to_owned());
            self.absent.push(Absent { kind, namespace, name: name.to_owned(), finding });
        }
        false
    }

    /// Reports an unknown key of an existing ConfigMap or Secret.
    fn refers_to_key(&mut self, here: &Here<'_, '_>, kind: &str, fields: &[&str]) {
        let (Some(name), Some(key)) = (here.set("name"), here.set("key")) else { return };
        let is_optional = here.set("optional").is_some_and(|value| value.value.as_bool() != Some(false));
        if is_optional || !self.refers(&name, kind) {
            return;
        }
        let Some(key_text) = key.text().filter(|key| !key.is_empty()) else { return };
        let object = name.text().and_then(|name| self.set.all(kind, self.namespace)?.all.get(name).copied());
        let Some(object) = object else { return };
        let parts: Vec<&Value> = fields.iter().filter_map(|field| object.get(field)).collect();
        if parts.iter().any(|part| part.is_pending() || part.is_poison()) {
            return;
        }
        let keys: Vec<&str> =
            parts.iter().filter_map(|part| part.as_map()).flat_map(|map| map.keys()).map(|key| key.as_str()).collect();
        // An object that is filled later has no keys yet.
        if keys.is_empty() || keys.contains(&key_text) {
            return;
        }
        if let Some(meant) = nearest(key_text, keys.iter().copied()) {
            let message =
                format!(": the {kind} `{}` has no key `{}`", short(name.text().unwrap_or_default()), short(key_text));
            self.warn(&rules::REFERENCE, &key, message).hint = Some(Hint::meant(key_text, meant));
        }
    }

    fn pod(&mut self, here: &Here<'_, '_>, way: &[&'static str]) {
        match way.split_first() {
            Some((key, rest)) => {
                if let Some(next) = here.set(key) {
                    self.pod(&next, rest);
                }
            }
            None => {
                if let Some(spec) = here.set("spec") {
                    self.pod_spec(&spec);
                }
            }
        }
    }

    fn pod_spec(&mut self, spec: &Here<'_, '_>) {
        if let Some(name) = spec.set("serviceAccountName") {
            self.refers(&name, "ServiceAccount");
        }
        for volume in spec.set("volumes").iter().flat_map(Here::items) {
            for (source, name, kind) in [
                ("configMap", "name", "ConfigMap"),
                ("secret", "secretName", "Secret"),
                ("persistentVolumeClaim", "claimName", "PersistentVolumeClaim"),
            ] {
                let Some(source) = volume.set(source) else { continue };
                let is_optional = source.set("optional").is_some_and(|value| value.value.as_bool() != Some(false));
                if let Some(name) = source.set(name).filter(|_| !is_optional) {
                    self.refers(&name, kind);
                }
            }
        }
        for key in ["initContainers", "containers"] {
            for container in spec.set(key).iter().flat_map(Here::items) {
                self.container(&container);
            }
        }
    }

    fn container(&mut self, container: &Here<'_, '_>) {
        for env in container.set("env").iter().flat_map(Here::items) {
            let Some(from) = env.set("valueFrom") else { continue };
            if let Some(map) = from.set("configMapKeyRef") {
                self.refers_to_key(&map, "ConfigMap", &["data", "binaryData"]);
            }
            if let Some(secret) = from.set("secretKeyRef") {
                self.refers_to_key(&secret, "Secret", &["data", "stringData"]);
            }
        }
        for from in container.set("envFrom").iter().flat_map(Here::items) {
            for (key, kind) in [("configMapRef", "ConfigMap"), ("secretRef", "Secret")] {
                let Some(source) = from.set(key) else { continue };
                let is_optional = source.set("optional").is_some_and(|value| value.value.as_bool() != Some(false));
                if let Some(name) = source.set("name").filter(|_| !is_optional) {
                    self.refers(&name, kind);
                }
            }
        }
        let mut names: Vec<&str> = Vec::new();
        for port in container.set("ports").iter().flat_map(Here::items) {
            let name = port.value.get("name").filter(|name| !name.is_null());
            let Some(name) = name else { continue };
            match known(name).and_then(Value::as_str) {
                Some(name) => names.push(name),
                None => return,
            }
        }
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            let Some(probe) = container.set(probe) else { continue };
            for handler in ["httpGet", "tcpSocket"] {
                let Some(handler) = probe.set(handler) else { continue };
                let Some(port) = handler.set("port") else { continue };
                let Some(name) = port.text().filter(|name| !names.contains(name) && name.parse::<u32>().is_err())
                else {
                    continue;
                };
                let message = format!(": the container has no port named `{}`", short(name));
                let hint = nearest(name, names.iter().copied()).map(|meant| Hint::meant(name, meant));
                let shown = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let list = (!names.is_empty()).then(|| format!("its ports are named {shown}").into());
                self.warn(&rules::REFERENCE, &port, message).hint = hint.or(list);
            }
        }
    }

    /// The pods that a selector selects, or `None` if unknown. `wanted` are labels that they all have.
    fn selected(&self, wanted: Option<&Value>, fits: impl Fn(Option<&Value>) -> Fit) -> Option<Vec<&'s Pod<'v>>> {
        let set = self.set;
        let mut found = Vec::new();
        let candidates = match wanted {
            Some(wanted) => set.candidates(self.namespace, wanted),
            None => (0..set.pods.len()).collect(),
        };
        let pods = candidates.into_iter().filter_map(|index| set.pods.get(index));
        for pod in pods.filter(|pod| pod.namespace == self.namespace) {
            match fits(pod.labels) {
                Fit::Open => return None,
                Fit::Yes => found.push(pod),
                Fit::No => {}
            }
        }
        Some(found).filter(|_| !self.set.has_open_pods)
    }

    fn service(&mut self, spec: &Here<'_, '_>) {
        let Some(selector) = spec.set("selector") else { return };
        if selector.value.as_map().is_none_or(|map| map.is_empty()) {
            return;
        }
        let Some(pods) = self.selected(Some(selector.value), |labels| pods::fits(selector.value, labels)) else {
            return;
        };
        if pods.is_empty() {
            return self.selects_nothing(&selector, selector.value);
        }
        self.numbers(spec, &pods);
        let mut names: Vec<&str> = Vec::new();
        for pod in pods {
            let Some(spec) = pod.spec else { return };
            for container in
                ["containers", "initContainers"].iter().filter_map(|key| spec.get(key)?.as_list()).flatten()
            {
                for port in container.get("ports").and_then(Value::as_list).unwrap_or_default() {
                    match port.get("name").map(known) {
                        Some(Some(name)) => names.extend(name.as_str()),
                        Some(None) => return,
                        None => {}
                    }
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        for port in spec.set("ports").iter().flat_map(Here::items) {
            let Some(target) = port.set("targetPort") else { continue };
            let Some(name) = target.text().filter(|name| !name.is_empty() && !names.contains(name)) else { continue };
            // A sidecar that is added later may have it.
            let message = format!(": the selected pods have no port named `{}`", short(name));
            let near = nearest(name, names.iter().copied()).map(|meant| Hint::meant(name, meant));
            let shown = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let list = (!names.is_empty()).then(|| format!("their ports are named {shown}").into());
            self.warn(&rules::REFERENCE, &target, message).hint = near.or(list);
        }
    }

    /// Reports a Service none of whose numbers is a port of its pods, which have one that nothing else uses.
    fn numbers(&mut self, spec: &Here<'_, '_>, pods: &[&Pod<'_>]) {
        let Some(ports) = spec.set("ports") else { return };
        let wanted = |port: &Here<'_, '_>| port.set("targetPort").or_else(|| port.set("port"))?.value.as_int();
        let all: Option<Vec<i64>> = ports.items().map(|port| wanted(&port).filter(|number| *number > 0)).collect();
        let Some(all) = all.filter(|all| !all.is_empty()) else { return };
        let mut free: Vec<i64> = Vec::new();
        for pod in pods {
            let Some(spec) = pod.spec.filter(|spec| spec.get("hostNetwork").is_none_or(Value::is_null)) else { return };
            let Some(declared) = declared(spec) else { return };
            if declared.iter().any(|port| all.contains(&port.number)) {
                return;
            }
            let is_free = |port: &&Declared<'_>| !port.is_probed && !self.set.is_target(self.objects, pod, port);
            free.extend(declared.iter().filter(is_free).map(|port| port.number));
        }
        let Some(port) = ports.items().next() else { return };
        let (Some(here), Some(number)) = (port.set("targetPort").or_else(|| port.set("port")), all.first()) else {
            return;
        };
        free.sort_unstable();
        free.dedup();
        if let [one] = free.as_slice() {
            let message = format!(": the selected pods have no port `{number}`");
            self.warn(&rules::REFERENCE, &here, message).hint = Some(format!("their port is `{one}`").into());
        }
    }

    /// A selector in a field selects a pod of the set.
    fn selects(&mut self, spec: &Here<'_, '_>, key: &'static str) {
        let Some(selector) = spec.set(key) else { return };
        let Some(wanted) =
            selector.value.get("matchLabels").filter(|labels| labels.as_map().is_some_and(|map| !map.is_empty()))
        else {
            return;
        };
        let pods = {
            // Expressions may concern pods without these labels.
            let by_labels = selector.value.get("matchExpressions").is_none().then_some(wanted);
            self.selected(by_labels, |labels| pods::fits_selector(selector.value, labels))
        };
        if pods.is_some_and(|pods| pods.is_empty()) {
            let here = selector.entry("matchLabels", wanted);
            self.selects_nothing(&here, wanted);
        }
    }

    /// Reports a selector without a matching pod, where one of this set was certainly meant.
    fn selects_nothing(&mut self, here: &Here<'_, '_>, wanted_labels: &Value) {
        let Some(entries) = wanted_labels.as_map() else { return };
        let mut best: Option<(usize, &Pod<'_>, Vec<&str>)> = None;
        for pod in self.set.pods.iter().filter(|pod| pod.namespace == self.namespace) {
            let has = |key: &str, value: &Value| {
                let label = pod.labels.and_then(|labels| labels.get(key)).and_then(known);
                label.and_then(Value::as_str).is_some() && label.and_then(Value::as_str) == value.as_str()
            };
            let wrong: Vec<&str> =
                entries.iter().filter(|(key, value)| !has(key, value)).map(|(key, _)| key.as_str()).collect();
            let right = entries.len() - wrong.len();
            if best.as_ref().is_none_or(|(known, ..)| right > *known) {
                best = Some((right, pod, wrong));
            }
        }
        let Some((right, pod, wrong)) = best else { return };
        let [key] = wrong.as_slice() else { return };
        let Some((key, value)) = entries.get_key_value(*key) else { return };
        let label = pod.labels.and_then(|labels| labels.get(key)).and_then(known).and_then(Value::as_str);
        let wanted = value.as_str().unwrap_or_default();
        let keys =
            pod.labels.and_then(Value::as_map).map(|labels| labels.keys().map(|key| key.as_str()).collect::<Vec<_>>());
        let near_key = keys.and_then(|keys| nearest(key, keys).map(str::to_owned));
        let is_near = label.is_some_and(|label| is_slip(wanted, label)) || (label.is_none() && near_key.is_some());
        let is_alone =
            !self.set.has_makers && (right > 0 || entries.len() == 1) && label.is_some() && self.set.pods.len() == 1;
        let is_service = text(self.object.value, &["kind"]) == Some("Service");
        let is_left_over = || match is_service {
            true => orphans::unselected(self.set, self.objects, self.namespace, wanted_labels).is_some(),
            false => label.is_some() && orphans::is_foreign(self.object.value, wanted),
        };
        if !is_near && !is_alone && !is_left_over() {
            return;
        }
        let here = here.entry(key, value);
        let message = format!(": no pod has the label `{key}: {}`", short(wanted));
        let object = pod.object.to_owned();
        let origin = pod.labels.and_then(|labels| labels.get(key)).or(pod.labels).map(|label| label.origin);
        let mut finding = match label {
            Some(_) => Finding::value(&rules::SELECTOR, &here, &self.object.id, message),
            None => Finding::key(&rules::SELECTOR, &here, &self.object.id, message),
        }
        .warning();
        finding.other = origin.map(|origin| (origin, format!("the labels of the pods of `{object}`")));
        finding.hint = match label {
            Some(label) if is_near || is_alone => Some(Hint::meant(wanted, label)),
            Some(label) => Some(format!("a pod of `{object}` has `{key}: {}`", short(label)).into()),
            None => near_key.map(|near| Hint::meant(key.as_str(), near)),
        };
        self.found.push(finding);
    }

    fn target(&mut self, spec: &Here<'_, '_>) {
        let Some(target) = spec.set("scaleTargetRef") else { return };
        let (Some(kind), Some(name)) = (target.set("kind"), target.set("name")) else { return };
        let (Some(kind_text), Some(name_text)) = (kind.text(), name.text()) else { return };
        if !["Deployment", "StatefulSet", "ReplicaSet"].contains(&kind_text) {
            return;
        }
        let all = self.set.all(kind_text, self.namespace);
        if all.is_some_and(|all| all.is_open || all.all.contains_key(name_text)) {
            return;
        }
        let others = ["Deployment", "StatefulSet"].into_iter().filter(|other| *other != kind_text);
        for other in others {
            let has = self.set.all(other, self.namespace).is_some_and(|all| all.all.contains_key(name_text));
            if has {
                let message = format!(": `{}` is a {other}, found `{kind_text}`", short(name_text));
                self.warn(&rules::REFERENCE, &kind, message).hint = Some(Hint::meant(kind_text, other));
                return;
            }
        }
        // An autoscaler comes with its target, unless that is created by another object.
        let Some(all) = all.filter(|_| !self.set.has_makers) else {
            self.refers(&name, kind_text);
            return;
        };
        let near = nearest(name_text, all.all.keys().copied()).map(|meant| Hint::meant(name_text, meant));
        let message = format!(": there is no {kind_text} `{}`", short(name_text));
        self.warn(&rules::REFERENCE, &name, message).hint = near;
    }

    fn ingress(&mut self, spec: &Here<'_, '_>) {
        if let Some(backend) = spec.set("defaultBackend") {
            self.backend(&backend);
        }
        for rule in spec.set("rules").iter().flat_map(Here::items) {
            let Some(http) = rule.set("http") else { continue };
            for path in http.set("paths").iter().flat_map(Here::items) {
                if let Some(backend) = path.set("backend") {
                    self.backend(&backend);
                }
            }
        }
    }

    /// A backend refers to a service, and one of its ports.
    fn backend(&mut self, backend: &Here<'_, '_>) {
        let Some(service) = backend.set("service") else { return };
        let Some(name) = service.set("name") else { return };
        if !self.refers(&name, "Service") {
            return;
        }
        let object = name.text().and_then(|name| self.set.all("Service", self.namespace)?.all.get(name).copied());
        let Some(spec) = object.and_then(|object| object.get("spec")).and_then(known) else { return };
        let ports = spec.get("ports").and_then(Value::as_list).unwrap_or_default();
        let is_open =
            |port: &Value| ["name", "port"].iter().any(|key| port.get(key).is_some_and(|value| known(value).is_none()));
        let Some(port) = service.set("port").filter(|_| !ports.iter().any(is_open) && !ports.is_empty()) else {
            return;
        };
        for key in ["name", "number"] {
            let Some(wanted) = port.set(key) else { continue };
            let field = if key == "name" { "name" } else { "port" };
            let same = |port: &Value| {
                let has = port.get(field);
                let text = || has.and_then(Value::as_str).zip(wanted.text()).is_some_and(|(one, other)| one == other);
                let number =
                    || has.and_then(Value::as_int).zip(wanted.value.as_int()).is_some_and(|(one, other)| one == other);
                text() || number()
            };
            if known(wanted.value).is_none() || ports.iter().any(same) {
                continue;
            }
            let service = short(name.text().unwrap_or_default());
            let shown: Vec<String> = ports.iter().filter_map(|port| port.get(field)).filter_map(shown).collect();
            let found = shown_of(wanted.value).unwrap_or_default();
            let finding = self.warn(
                &rules::REFERENCE,
                &wanted,
                format!(": the Service `{service}` has no such port, found {found}"),
            );
            if !shown.is_empty() {
                finding.hint = Some(format!("its ports are {}", shown.join(", ")).into());
            }
        }
    }

    fn binding(&mut self, here: &Here<'_, '_>) {
        let Some(role) = here.set("roleRef") else { return };
        let kind = role.set("kind").and_then(|kind| kind.text());
        if let (Some("Role"), Some(name)) = (kind, role.set("name")) {
            self.refers(&name, "Role");
        }
        for subject in here.set("subjects").iter().flat_map(Here::items) {
            let is_account = subject.set("kind").and_then(|kind| kind.text()) == Some("ServiceAccount");
            let Some(name) = subject.set("name").filter(|_| is_account) else { continue };
            let place = subject.set("namespace").and_then(|namespace| namespace.text()).unwrap_or(self.namespace);
            // Accounts in templates are often without a namespace, their bindings with one.
            let elsewhere = place != self.namespace;
            let is_known = |namespace: &str| {
                let all = self.set.all("ServiceAccount", namespace);
                all.is_some_and(|all| all.is_open || name.text().is_some_and(|name| all.all.contains_key(name)))
            };
            if !elsewhere && !is_known("") && !is_known(place) {
                self.refers(&name, "ServiceAccount");
            }
        }
    }
}

/// A port that a container declares.
struct Declared<'v> {
    number: i64,
    name: Option<&'v str>,
    is_probed: bool,
}

/// The ports that the containers of a pod declare, if all are known.
fn declared(spec: &Value) -> Option<Vec<Declared<'_>>> {
    let mut found = Vec::new();
    for container in spec.get("containers").and_then(Value::as_list).unwrap_or_default() {
        let probes: Vec<&Value> = ["livenessProbe", "readinessProbe", "startupProbe"]
            .iter()
            .filter_map(|probe| container.get(probe))
            .flat_map(|probe| {
                ["grpc", "httpGet", "tcpSocket"].iter().filter_map(|handler| probe.get(handler)?.get("port"))
            })
            .collect();
        for port in container.get("ports").and_then(Value::as_list).unwrap_or_default() {
            let number = known(port.get("containerPort")?)?.as_int()?;
            let name = port.get("name").and_then(Value::as_str);
            let is_it = |probe: &&Value| probe.as_int() == Some(number) || (name.is_some() && probe.as_str() == name);
            found.push(Declared { number, name, is_probed: probes.iter().any(is_it) });
        }
    }
    Some(found)
}

fn shown(value: &Value) -> Option<String> {
    shown_of(value)
}

/// A number or a text in backticks.
fn shown_of(value: &Value) -> Option<String> {
    let value = known(value)?;
    value
        .as_str()
        .map(|text| format!("`{}`", short(text)))
        .or_else(|| value.as_int().map(|number| format!("`{number}`")))
}

/// `db-0` and `db-1` are two names, not one misspelling.
fn differs_in_number(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    bare(one) == bare(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_value::Map;

    fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
        Value::map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect::<Map>())
    }

    #[test]
    fn candidates_are_all_that_may_fit() {
        let unknown = || Value::pending("input", "x");
        let labels = [
            map([("app", Value::str("a")), ("tier", Value::str("web"))]),
            map([("app", Value::str("b"))]),
            map([("app", unknown()), ("tier", Value::str("web"))]),
            map([("app", Value::str("a")), ("tier", unknown())]),
            map([("app", Value::from(true))]),
            map([]),
            unknown(),
            Value::null(),
        ];
        let values: Vec<Value> = labels
            .iter()
            .map(|labels| {
                let pod = map([("metadata", map([("name", Value::str("p")), ("labels", labels.clone())]))]);
                let mut all = pod.as_map().cloned().unwrap_or_default();
                all.insert("apiVersion".into(), Value::str("v1"));
                all.insert("kind".into(), Value::str("Pod"));
                Value::map(all)
            })
            .collect();
        let objects: Vec<Object<'_>> = values.iter().filter_map(Object::of).collect();
        let set = Set::of(&objects);
        assert_eq!(set.pods.len(), labels.len());
        let wanted = [&labels[..], &[map([("tier", Value::str("web")), ("app", Value::str("a"))])]].concat();
        for wanted in &wanted {
            let candidates = set.candidates("", wanted);
            let fitting = set.pods.iter().enumerate().filter(|(_, pod)| pods::fits(wanted, pod.labels) != Fit::No);
            for (index, _) in fitting {
                assert!(candidates.contains(&index), "{wanted:?} {index}");
            }
        }
        assert_eq!(set.candidates("", &labels[1]), [1, 2, 3, 6]);
    }
}
