//! The Pod Security Standards: settings that the profiles `baseline` and `restricted` forbid.

use super::{CONTAINERS, Judge, each_container};
use crate::here::{Here, known};
use crate::rules::{POD_BASELINE, POD_RESTRICTED};
use purlin_syntax::Rule;
use purlin_syntax::what::listed;
use purlin_value::Value;

/// Capabilities that containers of the profile `baseline` may add.
const CAPABILITIES: &[&str] = &[
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Kernel parameters that affect a pod alone.
const SYSCTLS: &[&str] = &[
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
];

/// SELinux types that containers have by default.
const SELINUX: &[&str] = &["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"];

/// Allowed volume sources of the profile `restricted`.
const VOLUMES: &[&str] = &[
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Prefix of annotations with the AppArmor profile of a container.
const APPARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

fn is_true(here: &Here<'_, '_>) -> bool {
    known(here.value).and_then(Value::as_bool) == Some(true)
}

/// Checks a pod against the profile `baseline`.
pub(super) fn baseline(judge: &mut Judge<'_>, pod: &Here<'_, '_>, spec: &Here<'_, '_>) {
    for (key, what) in [("hostNetwork", "network"), ("hostPID", "processes"), ("hostIPC", "IPC namespace")] {
        if let Some(here) = spec.set(key).filter(is_true) {
            judge.refuse(&POD_BASELINE, &here, &format!("sharing the {what} of the host is not allowed"));
        }
    }
    if let Some(volumes) = spec.set("volumes") {
        for volume in volumes.items() {
            if let Some(path) = volume.set("hostPath") {
                let here = path.set("path");
                judge.refuse(&POD_BASELINE, here.as_ref().unwrap_or(&path), "volumes from the host are not allowed");
            }
        }
    }
    if let Some(context) = spec.set("securityContext") {
        if let Some(sysctls) = context.set("sysctls") {
            for sysctl in sysctls.items() {
                let Some(name) = sysctl.set("name") else { continue };
                if name.text().is_some_and(|text| !SYSCTLS.contains(&text)) {
                    judge.refuse(&POD_BASELINE, &name, "this kernel parameter is not allowed");
                }
            }
        }
        shared_context(judge, &context);
    }
    let annotations = pod.set("metadata");
    if let Some(annotations) = annotations.as_ref().and_then(|metadata| metadata.set("annotations")) {
        for (key, value) in annotations.value.as_map().into_iter().flat_map(|map| map.iter()) {
            let here = annotations.entry(key, value);
            let is_usual = |text: &str| ["", "runtime/default"].contains(&text) || text.starts_with("localhost/");
            if key.starts_with(APPARMOR) && here.text().is_some_and(|text| !is_usual(text)) {
                judge.refuse(&POD_BASELINE, &here, "expected `runtime/default` or `localhost/…`");
            }
        }
    }
    each_container(spec, &CONTAINERS, &mut |container| baseline_container(judge, container));
}

/// Settings that pods and containers share.
fn shared_context(judge: &mut Judge<'_>, context: &Here<'_, '_>) {
    let windows = context.set("windowsOptions");
    if let Some(here) = windows.as_ref().and_then(|options| options.set("hostProcess")).filter(is_true) {
        judge.refuse(&POD_BASELINE, &here, "processes of the host are not allowed");
    }
    if let Some(options) = context.set("seLinuxOptions") {
        one_of(judge, &options, "type", SELINUX);
        for key in ["user", "role"] {
            one_of(judge, &options, key, &[""]);
        }
    }
    for profile in ["seccompProfile", "appArmorProfile"] {
        if let Some(profile) = context.set(profile) {
            one_of(judge, &profile, "type", &["RuntimeDefault", "Localhost"]);
        }
    }
}

fn one_of(judge: &mut Judge<'_>, here: &Here<'_, '_>, key: &str, allowed: &[&str]) {
    let Some(here) = here.set(key) else { return };
    if here.text().is_some_and(|text| !allowed.contains(&text)) {
        let names: Vec<String> =
            allowed.iter().filter(|text| !text.is_empty()).map(|text| (*text).to_owned()).collect();
        let expected = if names.is_empty() {
            "expected no value".to_owned()
        } else {
            format!("expected {}", listed(&names, "or"))
        };
        judge.refuse(&POD_BASELINE, &here, &expected);
    }
}

fn baseline_container(judge: &mut Judge<'_>, container: &Here<'_, '_>) {
    if let Some(ports) = container.set("ports") {
        for port in ports.items() {
            let Some(here) = port.set("hostPort") else { continue };
            if known(here.value).and_then(Value::as_number).is_some_and(|number| number != 0.0) {
                judge.refuse(&POD_BASELINE, &here, "ports of the host are not allowed");
            }
        }
    }
    let handlers = ["livenessProbe", "readinessProbe", "startupProbe"].iter().filter_map(|probe| container.set(probe));
    for handler in handlers {
        host_of(judge, &handler);
    }
    if let Some(lifecycle) = container.set("lifecycle") {
        ["postStart", "preStop"].iter().filter_map(|hook| lifecycle.set(hook)).for_each(|hook| host_of(judge, &hook));
    }
    let Some(context) = container.set("securityContext") else { return };
    if let Some(here) = context.set("privileged").filter(is_true) {
        judge.refuse(&POD_BASELINE, &here, "privileged containers are not allowed");
    }
    one_of(judge, &context, "procMount", &["Default"]);
    added(judge, &context, CAPABILITIES, &POD_BASELINE);
    shared_context(judge, &context);
}

/// Probes and hooks must address the pod, not another host.
fn host_of(judge: &mut Judge<'_>, handler: &Here<'_, '_>) {
    for kind in ["httpGet", "tcpSocket"] {
        let Some(kind) = handler.set(kind) else { continue };
        let Some(host) = kind.set("host") else { continue };
        if host.text().is_some_and(|text| !text.is_empty()) {
            judge.refuse(&POD_BASELINE, &host, "a probe or hook of another host is not allowed");
        }
    }
}

fn added(judge: &mut Judge<'_>, context: &Here<'_, '_>, allowed: &[&str], rule: &'static Rule) {
    let Some(capabilities) = context.set("capabilities") else { return };
    let Some(add) = capabilities.set("add") else { return };
    for capability in add.items() {
        if capability.text().is_some_and(|text| !allowed.contains(&text)) {
            judge.refuse(rule, &capability, "adding this capability is not allowed");
        }
    }
}

/// Checks a pod against the requirements of the profile `restricted` beyond `baseline`.
pub(super) fn restricted(judge: &mut Judge<'_>, spec: &Here<'_, '_>) {
    if let Some(volumes) = spec.set("volumes") {
        for volume in volumes.items() {
            let keys = volume.value.as_map().into_iter().flat_map(|map| map.iter());
            for (key, value) in keys.filter(|(key, _)| key.as_str() != "name" && key.as_str() != "hostPath") {
                if !VOLUMES.contains(&key.as_str()) && !value.is_null() {
                    let why = format!("volumes of the kind `{key}` are not allowed");
                    judge.refuse(&POD_RESTRICTED, &volume.entry(key, value), &why);
                }
            }
        }
    }
    let os = spec.set("os");
    let is_windows = os.as_ref().and_then(|os| os.set("name")).and_then(|name| name.text()) == Some("windows");
    let context = spec.set("securityContext");
    if let Some(here) = context.as_ref().and_then(|context| context.set("runAsUser")) {
        not_root(judge, &here);
    }
    let of_pod =
        |key: &str| context.as_ref().and_then(|context| context.value.get(key)).filter(|value| !value.is_null());
    let (non_root, seccomp) = (of_pod("runAsNonRoot").is_some(), of_pod("seccompProfile").is_some());
    if let Some(here) = context.as_ref().and_then(|context| context.set("runAsNonRoot")) {
        wants_true(judge, &here);
    }
    each_container(spec, &CONTAINERS, &mut |container| {
        restricted_container(judge, container, (non_root, seccomp), is_windows);
    });
}

fn not_root(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    if known(here.value).and_then(Value::as_number) == Some(0.0) {
        judge.refuse(&POD_RESTRICTED, here, "running as root is not allowed");
    }
}

fn wants_true(judge: &mut Judge<'_>, here: &Here<'_, '_>) {
    if known(here.value).and_then(Value::as_bool) == Some(false) {
        judge.refuse(&POD_RESTRICTED, here, "expected `true`");
    }
}

fn restricted_container(
    judge: &mut Judge<'_>,
    container: &Here<'_, '_>,
    (non_root, seccomp): (bool, bool),
    is_windows: bool,
) {
    let context = container.set("securityContext");
    if context.as_ref().is_some_and(|context| known(context.value).is_none()) {
        return;
    }
    let mut wanted = Vec::new();
    let at = |key: &'static str| context.as_ref().and_then(|context| context.set(key));
    match at("runAsNonRoot") {
        Some(here) => wants_true(judge, &here),
        None if !non_root => wanted.push("securityContext.runAsNonRoot: true"),
        None => {}
    }
    if let Some(here) = at("runAsUser") {
        not_root(judge, &here);
    }
    if is_windows {
        return judge.want(&POD_RESTRICTED, container, &wanted);
    }
    match at("allowPrivilegeEscalation") {
        Some(here) if is_true(&here) => judge.refuse(&POD_RESTRICTED, &here, "expected `false`"),
        Some(_) => {}
        None => wanted.push("securityContext.allowPrivilegeEscalation: false"),
    }
    if at("seccompProfile").is_none() && !seccomp {
        wanted.push("securityContext.seccompProfile.type: RuntimeDefault");
    }
    let capabilities = at("capabilities");
    let dropped = capabilities.as_ref().and_then(|capabilities| capabilities.set("drop"));
    let is_open = dropped
        .as_ref()
        .is_some_and(|drop| known(drop.value).is_none() || drop.items().any(|one| known(one.value).is_none()));
    if !is_open && !dropped.is_some_and(|drop| drop.items().any(|one| one.text() == Some("ALL"))) {
        wanted.push("securityContext.capabilities.drop: [ALL]");
    }
    judge.want(&POD_RESTRICTED, container, &wanted);
    if let Some(context) = &context {
        // Values that `baseline` forbids are reported there.
        let add = context.set("capabilities");
        let add = add.as_ref().and_then(|capabilities| capabilities.set("add"));
        for capability in add.iter().flat_map(Here::items) {
            let is_wrong = |text: &str| text != "NET_BIND_SERVICE" && CAPABILITIES.contains(&text);
            if capability.text().is_some_and(is_wrong) {
                judge.refuse(&POD_RESTRICTED, &capability, "adding this capability is not allowed");
            }
        }
    }
}
