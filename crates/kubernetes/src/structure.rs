//! Validates combinations of fields in one mapping: a port without a name beside others, two handlers of one probe.

use crate::facts::Fact;
use crate::finding::Finding;
use crate::here::{Here, known};
use crate::pods::{Fit, fits_selector};
use crate::rules;
use crate::shape::Judge;
use crate::values::{self, amount, short};
use purlin_syntax::suggest::did_you_mean;
use purlin_value::Value;
use std::collections::HashSet;

/// Validates a mapping of a type.
pub fn check(judge: &mut Judge<'_>, here: &Here<'_, '_>, of: &str) {
    match of {
        "DeploymentSpec" | "StatefulSetSpec" | "DaemonSetSpec" | "ReplicaSetSpec" => workload(judge, here),
        "DeploymentStrategy" => strategy(judge, here),
        "PodSpec" => mounts(judge, here),
        "Container" => container(judge, here),
        "PersistentVolumeClaimSpec" => claim(judge, here),
        "Probe" => one_of(judge, here, &["exec", "grpc", "httpGet", "tcpSocket"], "handler"),
        "LifecycleHandler" => one_of(judge, here, &["exec", "httpGet", "sleep", "tcpSocket"], "handler"),
        "Volume" => one_source(judge, here),
        "EnvVar" => exclusive(judge, here, "value", "valueFrom"),
        "EnvVarSource" => {
            one_of(
                judge,
                here,
                &["configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef"],
                "source",
            );
        }
        "ResourceRequirements" => limits(judge, here),
        "ServiceSpec" => service(judge, here),
        "PodDisruptionBudgetSpec" => exclusive(judge, here, "minAvailable", "maxUnavailable"),
        "HorizontalPodAutoscalerSpec" => replicas(judge, here),
        "HTTPIngressPath" => ingress_path(judge, here),
        "IngressBackend" => one_of(judge, here, &["resource", "service"], "backend"),
        "IngressSpec" => {
            let has = |key: &str| here.set(key).is_some_and(|here| !matches!(here.value.as_list(), Some([])));
            if known(here.value).is_some() && !has("rules") && !has("defaultBackend") {
                refused(judge, here, "rules");
            }
        }
        "Subject" => subject(judge, here),
        "LabelSelectorRequirement" => requirement(judge, here),
        _ => {}
    }
}

/// Reports a missing key that clusters require but schemas do not.
pub fn refused(judge: &mut Judge<'_>, here: &Here<'_, '_>, key: &str) {
    if let Some(finding) = judge.missing(here, key) {
        finding.rule = &rules::VALUE;
    }
}

/// The selector of a workload selects its own pods.
fn workload(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let (Some(selector), Some(template)) = (here.set("selector"), here.set("template")) else { return };
    if known(template.value).is_none() {
        return;
    }
    let is_empty = |key: &str| match selector.value.get(key) {
        Some(value) => {
            value.as_map().is_some_and(|map| map.is_empty()) || value.as_list().is_some_and(<[Value]>::is_empty)
        }
        None => true,
    };
    if known(selector.value).is_some_and(|value| value.as_map().is_some())
        && is_empty("matchLabels")
        && is_empty("matchExpressions")
    {
        let finding = judge.wrong(&selector, " is empty");
        finding.hint = Some("add the labels of the template under `matchLabels`".into());
        return;
    }
    let Some(metadata) = template.value.get("metadata").map_or(Some(None), |value| known(value).map(Some)) else {
        return;
    };
    let labels = metadata.and_then(|metadata| metadata.get("labels")).filter(|labels| !labels.is_null());
    if fits_selector(selector.value, labels) != Fit::No {
        return;
    }
    let wanted = selector.set("matchLabels");
    let entries = wanted.iter().flat_map(|wanted| wanted.value.as_map().into_iter().flat_map(|map| map.iter()));
    for (key, value) in entries {
        let wanted = wanted.as_ref().unwrap_or(&selector);
        let here = wanted.entry(key, value);
        let has = labels.and_then(|labels| labels.get(key));
        let Some(text) = here.text().filter(|text| has.and_then(Value::as_str) != Some(text)) else { continue };
        let what = match has.and_then(Value::as_str) {
            Some(has) => format!(": the label of the template is `{}`, found `{}`", short(has), short(text)),
            None => ": the template has no such label".to_owned(),
        };
        let mut finding = Finding::value(&rules::SELECTOR, &here, judge.object, what);
        finding.other = has.or(labels).map(|has| (has.origin, "labels of the template".to_owned()));
        judge.push(finding.hint("the selector and the labels under `template.metadata` must agree"));
        return;
    }
    let finding =
        Finding::value(&rules::SELECTOR, &selector, judge.object, " does not match the labels of the template");
    judge.push(finding);
}

fn strategy(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let is_recreate = here.set("type").and_then(|kind| kind.text()) == Some("Recreate");
    if let Some(rolling) = here.set("rollingUpdate").filter(|_| is_recreate) {
        let mut finding = Finding::key(&rules::VALUE, &rolling, judge.object, ": not allowed with `type: Recreate`");
        finding.hint = Some("remove it, or write `type: RollingUpdate`".into());
        judge.push(finding);
    }
}

/// Every mount refers to a volume of its pod.
fn mounts(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let volumes = here.set("volumes");
    if volumes.as_ref().is_some_and(|volumes| known(volumes.value).is_none()) {
        return;
    }
    let mut names: HashSet<&str> = HashSet::new();
    for volume in volumes.iter().flat_map(Here::items) {
        match volume.set("name").and_then(|name| name.text()) {
            Some(name) => names.insert(name),
            None => return,
        };
    }
    // A StatefulSet creates a volume for every claim.
    let claims = here.above().and_then(Here::above).and_then(|spec| spec.value.get("volumeClaimTemplates"));
    for claim in claims.into_iter().flat_map(|claims| claims.as_list().unwrap_or_default()) {
        match claim.get("metadata").and_then(|metadata| metadata.get("name")).and_then(known).and_then(Value::as_str) {
            Some(name) => names.insert(name),
            None => return,
        };
    }
    for key in ["containers", "initContainers"] {
        let Some(list) = here.set(key) else { continue };
        for container in list.items() {
            for mount in container.set("volumeMounts").iter().flat_map(Here::items) {
                let Some(name) = mount.set("name") else { continue };
                let Some(text) = name.text().filter(|text| !text.is_empty() && !names.contains(text)) else { continue };
                let mut sorted: Vec<&str> = names.iter().copied().collect();
                sorted.sort_unstable();
                let hint = did_you_mean(text, sorted);
                let finding = judge.wrong(&name, format!(": the pod has no volume `{}`", short(text)));
                finding.hint = hint.or_else(|| Some(format!("add a volume `{}` under `volumes`", short(text)).into()));
            }
        }
    }
}

/// A claim asks for some storage in some way. Those of a StatefulSet are checked when it makes them.
fn claim(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    if here.is_under("volumeClaimTemplates") || known(here.value).and_then(Value::as_map).is_none() {
        return;
    }
    let is_open = |value: Option<&Value>| value.is_some_and(|value| known(value).is_none());
    if here.set("accessModes").is_none() && !is_open(here.value.get("accessModes")) {
        refused(judge, here, "accessModes");
    }
    let resources = here.value.get("resources");
    let requests = resources.and_then(|resources| resources.get("requests"));
    let storage = requests.and_then(|requests| requests.get("storage"));
    if [resources, requests, storage].into_iter().any(is_open) || storage.is_some_and(|storage| !storage.is_null()) {
        return;
    }
    match here.set("resources") {
        None => refused(judge, here, "resources"),
        Some(resources) => match resources.set("requests") {
            None if resources.value.as_map().is_some() => refused(judge, &resources, "requests"),
            Some(requests) if requests.value.as_map().is_some() => refused(judge, &requests, "storage"),
            _ => {}
        },
    }
}

/// Probes that end a container count from the first success.
fn successes(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    for key in ["livenessProbe", "startupProbe"] {
        let Some(probe) = here.set(key) else { continue };
        let Some(count) = probe.set("successThreshold") else { continue };
        if let Some(found) = known(count.value).and_then(Value::as_int).filter(|found| *found > 1) {
            judge.wrong(&count, format!(": expected `1`, found `{found}`")).hint =
                Some("write `1`, or remove it".into());
        }
    }
}

fn container(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    successes(judge, here);
    names_twice(judge, &here.set("ports"));
    // Pods of a template have an image; for a single pod, a higher-level patch may add it.
    let Some(image) = here.set("image") else {
        if known(here.value).is_some() && here.value.get("image").is_none_or(|image| known(image).is_some()) {
            refused(judge, here, "image");
        }
        return;
    };
    let Some(text) = image.text() else { return };
    if text.is_empty() {
        judge.wrong(&image, " is empty").hint = Some("write the name of an image".into());
    } else if text.trim() != text {
        judge.wrong(&image, format!(": expected a name without blanks around it, found `{}`", short(text)));
    } else if !is_image(text) {
        let finding = judge.wrong(&image, format!(": no container can start with the image `{}`", short(text)));
        finding.severity = purlin_syntax::Severity::Warning;
        finding.hint = Some("expected `name`, `name:tag` or `name@sha256:…`; a part of it may be empty".into());
    }
}

/// Whether a text may be an image: a lower-case name, and a non-empty part after the colon.
fn is_image(text: &str) -> bool {
    let parts = purlin_value::image::parts(text);
    let path = parts.name.rsplit_once('/').map_or(parts.name, |(_, last)| last);
    let is_name = |part: &str| {
        let inside =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
        !part.is_empty() && part.bytes().all(inside)
    };
    let is_tag = |tag: &str| {
        !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    is_name(path) && parts.tag.is_none_or(is_tag) && parts.digest.is_none_or(|digest| digest.contains(':'))
}

/// Exactly one of some keys.
fn one_of(judge: &mut Judge<'_>, here: &Here<'_, '_>, keys: &[&str], what: &str) {
    let Some(map) = known(here.value).and_then(Value::as_map) else { return };
    let mut has = map.iter().filter(|(key, value)| keys.contains(&key.as_str()) && !value.is_null());
    match (has.next(), has.next()) {
        // A misspelt key is reported already.
        (None, _) if map.keys().all(|key| keys.contains(&key.as_str()) || is_other(key)) => {
            let list: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            let mut finding = Finding::key(&rules::VALUE, here, judge.object, format!(" has no {what}"));
            finding.hint = Some(format!("add one of {}", list.join(", ")).into());
            judge.push(finding);
        }
        (Some((first, _)), Some((key, value))) => {
            let here = here.entry(key, value);
            let message = format!(": not allowed beside `{first}`");
            judge.push(Finding::key(&rules::VALUE, &here, judge.object, message).hint("keep one of them"));
        }
        _ => {}
    }
}

/// Keys of probes beside the handler.
fn is_other(key: &str) -> bool {
    const OTHERS: &[&str] = &[
        "initialDelaySeconds",
        "periodSeconds",
        "timeoutSeconds",
        "successThreshold",
        "failureThreshold",
        "terminationGracePeriodSeconds",
    ];
    OTHERS.contains(&key)
}

/// A volume has at most one source; without one it is an empty directory.
fn one_source(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let Some(map) = known(here.value).and_then(Value::as_map) else { return };
    let mut sources = map.iter().filter(|(key, value)| *key != "name" && !value.is_null());
    if let (Some((first, _)), Some((key, value))) = (sources.next(), sources.next()) {
        let here = here.entry(key, value);
        let message = format!(": not allowed beside `{first}`");
        judge.push(
            Finding::key(&rules::VALUE, &here, judge.object, message).hint("a volume has one source: keep one of them"),
        );
    }
}

fn exclusive(judge: &mut Judge<'_>, here: &Here<'_, '_>, one: &str, other: &str) {
    let Some(map) = known(here.value).and_then(Value::as_map) else { return };
    let is_set = |key: &str| map.get(key).is_some_and(|value| !value.is_null() && value.as_str() != Some(""));
    if let Some((key, value)) = map.get_key_value(other).filter(|_| is_set(one) && is_set(other)) {
        let here = here.entry(key, value);
        let message = format!(": not allowed beside `{one}`");
        judge.push(Finding::key(&rules::VALUE, &here, judge.object, message).hint("keep one of them"));
    }
}

/// A request is at most the limit.
fn limits(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let (Some(limits), Some(requests)) = (here.set("limits"), here.set("requests")) else { return };
    for (name, value) in requests.value.as_map().into_iter().flat_map(|map| map.iter()) {
        let Some(limit) = limits.value.get(name) else { continue };
        let Some((most, wanted)) = amount(limit).zip(amount(value)) else { continue };
        if wanted > most {
            let here = requests.entry(name, value);
            let shown = crate::values::found(limit);
            judge
                .wrong(&here, format!(": expected at most the limit, {shown}, found {}", crate::values::found(value)))
                .other = Some((limit.origin, "the limit".to_owned()));
        }
    }
}

fn service(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let text = |key: &'static str| here.set(key).and_then(|value| value.text());
    let is_open = |key: &str| here.value.get(key).is_some_and(|value| known(value).is_none());
    if is_open("type") || is_open("ports") || is_open("clusterIP") || known(here.value).is_none() {
        return;
    }
    let kind = text("type").filter(|kind| !kind.is_empty()).unwrap_or("ClusterIP");
    let ports = here.set("ports");
    let count = ports.as_ref().and_then(|ports| ports.value.as_list()).map_or(0, <[Value]>::len);
    if kind == "ExternalName" && text("externalName").is_none_or(str::is_empty) && !is_open("externalName") {
        refused(judge, here, "externalName");
    }
    if count == 0 && kind != "ExternalName" && text("clusterIP") != Some("None") {
        refused(judge, here, "ports");
    }
    for port in ports.iter().flat_map(Here::items) {
        if count > 1 && known(port.value).is_some_and(|port| port.get("name").is_none_or(Value::is_null)) {
            refused(judge, &port, "name");
        }
        if let Some(node) =
            port.set("nodePort").filter(|node| kind == "ClusterIP" && node.value.as_int().is_some_and(|port| port > 0))
        {
            let mut finding = Finding::key(&rules::VALUE, &node, judge.object, ": not allowed with `type: ClusterIP`");
            finding.hint = Some("remove it, or write `type: NodePort`".into());
            judge.push(finding);
        }
    }
    names_twice(judge, &ports);
}

/// Port names are unique.
fn names_twice(judge: &mut Judge<'_>, ports: &Option<Here<'_, '_>>) {
    let mut seen: HashSet<&str> = HashSet::new();
    for port in ports.iter().flat_map(Here::items) {
        let Some(name) = port.set("name") else { continue };
        let Some(text) = name.text().filter(|text| !text.is_empty()) else { continue };
        if !seen.insert(text) {
            judge.wrong(&name, format!(": `{}` is a duplicate name in `ports`", short(text)));
        }
    }
}

fn replicas(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let (Some(least), Some(most)) = (here.set("minReplicas"), here.set("maxReplicas")) else { return };
    if let Some((min, max)) = least.value.as_int().zip(most.value.as_int()).filter(|(min, max)| min > max && *max > 0) {
        let message = format!(": expected at least `minReplicas`, which is `{min}`, found `{max}`");
        judge.wrong(&most, message).other = Some((least.value.origin, "the least number".to_owned()));
    }
}

fn ingress_path(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let kind = here.set("pathType").and_then(|kind| kind.text());
    let Some(path) = here.set("path").filter(|_| matches!(kind, Some("Exact" | "Prefix"))) else { return };
    if let Some(text) = path.text().filter(|text| !text.starts_with('/')) {
        judge.wrong(&path, format!(": expected a path that begins with `/`, found `{}`", short(text)));
    }
}

fn subject(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let is_account = here.set("kind").and_then(|kind| kind.text()) == Some("ServiceAccount");
    if let Some(name) = here.set("name").filter(|_| is_account && here.is_under("subjects")) {
        values::check(judge, &name, Fact::Subdomain);
    }
    let Some(namespace) = here.value.get("namespace").map_or(Some(None), |value| known(value).map(Some)) else {
        return;
    };
    let is_empty = namespace.is_none_or(|value| value.is_null() || value.as_str() == Some(""));
    let is_for_cluster = |here: &Here<'_, '_>| here.is_under("subjects");
    if is_account && is_empty && is_for_cluster(here) && judge.object.starts_with("ClusterRoleBinding") {
        refused(judge, here, "namespace");
    }
}

fn requirement(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    let Some(operator) = here.set("operator").and_then(|operator| operator.text()) else { return };
    let values = here.set("values");
    let has = values.as_ref().and_then(|values| values.value.as_list()).is_some_and(|values| !values.is_empty());
    match operator {
        "In" | "NotIn" if !has && values.as_ref().is_none_or(|values| known(values.value).is_some()) => {
            refused(judge, here, "values");
        }
        "Exists" | "DoesNotExist" if has => {
            if let Some(values) = values {
                let message = format!(": not allowed with `operator: {operator}`");
                judge.push(Finding::key(&rules::VALUE, &values, judge.object, message).hint("remove it"));
            }
        }
        _ => {}
    }
}
