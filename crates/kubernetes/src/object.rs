//! Judges one object: its version and kind, its name, and what is inside.

use crate::finding::Finding;
use crate::here::{Here, known};
use crate::shape::Judge;
use crate::structure::refused;
use crate::table::{Kind, Minor, Shape, Table, removed};
use crate::values::{SUBDOMAIN, short};
use crate::{custom, pods, rules, scalars};
use purlin_syntax::Hint;
use purlin_syntax::suggest::{is_slip, nearest};
use purlin_value::Value;

/// Kinds whose names have forms of their own, or are made by the cluster.
const FREE_NAMES: &[&str] = &["IPAddress", "ComponentStatus", "ClusterTrustBundle", "Event", "List"];

/// Judges an object; `judge` keeps what is found.
pub fn check(judge: &mut Judge<'_>, object: &Value, custom: &custom::Schemas) {
    let here = Here::top(object);
    let (Some(version), Some(kind)) = (here.key("apiVersion"), here.key("kind")) else { return };
    let (Some(version_text), Some(kind_text)) = (version.text(), kind.text()) else { return };
    if kind_text == "List" && version_text == "v1" {
        return;
    }
    let found = judge.table.kind(version_text, kind_text).filter(|kind| kind.range.holds(judge.at)).copied();
    match found {
        Some(known) => {
            deprecated(judge, &version, &known);
            name(judge, &here, &known);
            judge.check(&here, &Shape::Type(known.of));
            restart(judge, &here, kind_text);
        }
        None => {
            if !custom.check(judge, &here, version_text, kind_text) {
                unknown(judge, &version, &kind, custom);
            }
        }
    }
}

fn deprecated(judge: &mut Judge<'_>, version: &Here<'_, '_>, kind: &Kind) {
    if kind.deprecated.is_none_or(|at| at > judge.at) {
        return;
    }
    let instead = removed::replacement(kind.version, kind.name, judge.at).filter(|other| !other.contains("alpha"));
    let is_newer = |other: &&str| !other.contains("beta") || kind.version.contains("beta");
    let Some(instead) = instead.filter(is_newer) else { return };
    let since = kind.deprecated.unwrap_or_default();
    let message = format!(": `{}` of `{}` is deprecated since Kubernetes 1.{since}", kind.name, kind.version);
    let finding = Finding::value(&rules::API, version, judge.object, message).warning();
    judge.push(finding.hint(Hint::meant(kind.version, instead)));
}

fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

/// A version or kind that is not there: removed, newer, or nearly called like one.
fn unknown(judge: &mut Judge<'_>, version: &Here<'_, '_>, kind: &Here<'_, '_>, custom: &custom::Schemas) {
    let (Some(of), Some(name)) = (version.text(), kind.text()) else { return };
    let at = judge.at;
    let instead = |of: &str| removed::replacement(of, name, at).map(|instead| Hint::meant(of, instead));
    let gone = judge.table.kind(of, name).filter(|kind| kind.range.last < at).map(|kind| kind.range.last + 1);
    if let Some(gone) = removed::removed(of, name).or(gone) {
        let message = format!(": `{name}` of `{of}` was removed in Kubernetes 1.{gone}");
        judge.push(Finding::value(&rules::API, version, judge.object, message).maybe_hint(instead(of)));
        return;
    }
    if let Some(known) = judge.table.kind(of, name) {
        let message = format!(": `{name}` of `{of}` needs Kubernetes 1.{} or later", known.range.first);
        judge.push(Finding::value(&rules::API, version, judge.object, message).maybe_hint(instead(of)));
        return;
    }
    if custom.has_group(group(of)) {
        return custom.unknown(judge, version, kind);
    }
    let kinds: Vec<Kind> = judge.table.kinds(at).copied().collect();
    match misspelt(&kinds, of, name) {
        Some(Slip::Kind(meant)) => {
            let message = format!(": `{of}` has no kind `{}`", short(name));
            judge.push(Finding::value(&rules::API, kind, judge.object, message).hint(Hint::meant(name, meant)));
        }
        Some(Slip::Version(meant)) => {
            let message = format!(": `{}` has no kind `{name}`", short(of));
            judge.push(Finding::value(&rules::API, version, judge.object, message).hint(Hint::meant(of, meant)));
        }
        None => {}
    }
}

enum Slip {
    Kind(&'static str),
    Version(&'static str),
}

/// What was meant, if it is plain that a built-in kind was.
fn misspelt(kinds: &[Kind], version: &str, name: &str) -> Option<Slip> {
    let of_group = |kind: &&Kind| group(kind.version) == group(version);
    let mut names: Vec<&str> = kinds.iter().filter(of_group).map(|kind| kind.name).collect();
    names.sort_unstable();
    let mut versions: Vec<&'static str> =
        kinds.iter().filter(|kind| kind.name == name).map(|kind| kind.version).collect();
    versions.sort_by_key(|version| (version.contains("alpha"), version.contains("beta"), *version));
    if versions.is_empty() {
        let meant = names.iter().find(|known| is_slip(name, known)).copied();
        // Groups without a dot are the cluster's own, so that everything in them is known.
        let is_own = !group(version).contains('.') && !names.is_empty();
        let meant = meant.or_else(|| is_own.then(|| nearest(name, names.iter().copied())).flatten());
        return kinds.iter().find(|kind| Some(kind.name) == meant).map(|kind| Slip::Kind(kind.name));
    }
    let near = versions.iter().copied().find(|known| is_slip(version, known));
    // A group with a dot that nothing built in has belongs to someone else.
    let is_foreign = group(version).contains('.') && names.is_empty();
    if near.is_none() && is_foreign {
        return None;
    }
    near.or_else(|| nearest(version, versions.iter().copied())).or_else(|| versions.first().copied()).map(Slip::Version)
}

/// Every object has a name of the form that its kind wants.
fn name(judge: &mut Judge<'_>, here: &Here<'_, '_>, kind: &Kind) {
    let Some(metadata) = here.set("metadata") else {
        if here.value.get("metadata").is_none_or(|metadata| known(metadata).is_some()) {
            refused(judge, here, "metadata");
        }
        return;
    };
    if known(metadata.value).and_then(Value::as_map).is_none() {
        return;
    }
    let is_set = |key: &str| metadata.set(key).is_some_and(|here| here.value.as_str() != Some(""));
    let Some(name) = metadata.set("name").filter(|_| is_set("name")) else {
        if !is_set("generateName") {
            refused(judge, &metadata, "name");
        }
        return;
    };
    let Some(text) = name.text().filter(|_| !FREE_NAMES.contains(&kind.name)) else { return };
    let (is_right, expected): (fn(&str) -> bool, &str) = match kind.name {
        "Service" => (scalars::is_service_name, "lower-case letters, digits and `-`, beginning with a letter"),
        "Namespace" => (scalars::is_label, "lower-case letters, digits and `-`, at most 63"),
        _ if group(kind.version) == "rbac.authorization.k8s.io" || kind.name == "FlowSchema" => {
            (scalars::is_path_segment, "a name without `/` and `%`")
        }
        _ => (scalars::is_subdomain, SUBDOMAIN),
    };
    if !is_right(text) {
        let small = text.to_ascii_lowercase().replace(['_', ' '], "-");
        let meant = (is_right(&small) && small != text).then(|| Hint::meant(text, small));
        judge.wrong(&name, format!(": expected {expected}, found `{}`", short(text))).hint = meant;
    } else if kind.name == "CronJob" && text.len() > LONGEST_CRON_JOB {
        judge.wrong(&name, format!(": expected at most {LONGEST_CRON_JOB} characters, found {}", text.len()));
    }
}

/// The cluster adds eleven characters for each run.
const LONGEST_CRON_JOB: usize = 52;

/// What runs pods decides which restarts it allows.
fn restart(judge: &mut Judge<'_>, here: &Here<'_, '_>, kind: &str) {
    let allowed: &[&str] = match kind {
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => &["Always"],
        "Job" | "CronJob" => &["Never", "OnFailure"],
        _ => return,
    };
    let Some(pod) = pods::pod(kind, here.value).and_then(known) else { return };
    let way: Vec<&str> = pods::way_to_pod(kind).into_iter().flatten().copied().collect();
    let Some(spec) = pod.get("spec").and_then(known).filter(|spec| spec.as_map().is_some()) else { return };
    let path = format!("{}.spec", way.join("."));
    let listed: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
    match spec.get("restartPolicy").filter(|value| !value.is_null()) {
        Some(value) => {
            let Some(text) = known(value).and_then(Value::as_str) else { return };
            if !text.is_empty() && !allowed.contains(&text) && ["Always", "Never", "OnFailure"].contains(&text) {
                let spot = crate::finding::Spot::Value(value.origin);
                let message = format!(": expected {}, found `{text}`", listed.join(" or "));
                let finding =
                    Finding::of(&rules::VALUE, spot, format!("`{path}.restartPolicy`"), judge.object, message);
                judge.push(finding);
            }
        }
        None if !allowed.contains(&"Always") => {
            let spot = crate::finding::Spot::Key("spec".to_owned(), spec.origin);
            let subject = format!("missing `restartPolicy` under `{path}`");
            let finding = Finding::of(&rules::VALUE, spot, subject, judge.object, String::new());
            judge.push(finding.hint(format!("write `restartPolicy: {}`", allowed.last().copied().unwrap_or_default())));
        }
        None => {}
    }
}

/// The version of Kubernetes that a text means: `1.30`, `v1.30.2`. Versions that are not known come to the nearest one.
pub fn minor(table: &Table, text: &str) -> Option<Minor> {
    let rest = text.trim_start_matches('v').strip_prefix("1.")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let minor: Minor = digits.parse().ok()?;
    Some(minor.clamp(table.versions.first, table.versions.last))
}
