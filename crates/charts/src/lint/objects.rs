//! Findings of Helm's linter on a rendered object: its name, its version, its selector.

use purlin_syntax::Node;
use purlin_value::Session;

use super::{Level, Linted, deprecations};
use crate::manifest::Head;

/// Checks an object of a file that was rendered to a text, for a version of Kubernetes.
pub(super) fn check(session: &Session, file: &str, head: &Head, text: &str, kube: (&str, &str), found: &mut Linted) {
    if let Some(message) = bad_name(&head.kind, &head.name) {
        found.add(Level::Warning, file, message);
    }
    if let Some(message) = deprecations::deprecated(&head.api_version, &head.kind, kube) {
        found.add(Level::Warning, file, message);
    }
    let needs_selector = matches!(head.kind.as_str(), "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet");
    if needs_selector && !text.contains("matchLabels") && !text.contains("matchExpressions") {
        let message =
            format!("a {} must contain matchLabels or matchExpressions, and {:?} does not", head.kind, head.name);
        found.add(Level::Error, file, message);
    }
    if head.kind == "List" && has_kept_item(session, text) {
        found.add(Level::Error, file, "annotation 'helm.sh/resource-policy' within List objects are ignored");
    }
}

/// Whether an item of a list has the annotation to keep it, which Helm ignores.
fn has_kept_item(session: &Session, text: &str) -> bool {
    let tree = purlin_gotmpl::yaml::parse(text, &session.limits);
    let items = tree.root().and_then(|root| root.get("items"));
    let is_kept = |item: Node<'_>| {
        let annotations = item.get("metadata").and_then(|metadata| metadata.get("annotations"));
        annotations.is_some_and(|annotations| annotations.get("helm.sh/resource-policy").is_some())
    };
    items.is_some_and(|items| items.items().any(is_kept))
}

/// Format of names of a kind.
enum Naming {
    Subdomain,
    /// A label that starts with a letter.
    Label1035,
    Label1123,
    PathSegment,
    Any,
}

fn naming(kind: &str) -> Naming {
    match kind.to_lowercase().as_str() {
        "service" => Naming::Label1035,
        "namespace" => Naming::Label1123,
        "certificatesigningrequest" => Naming::Any,
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => Naming::PathSegment,
        _ => Naming::Subdomain,
    }
}

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1123: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/// Kubernetes' objection to a name.
fn bad_name(kind: &str, name: &str) -> Option<String> {
    let at_most = |most: usize| (name.len() > most).then(|| format!("must be no more than {most} bytes"));
    let unless = |is_valid: bool, message: &str| (!is_valid).then(|| message.to_owned());
    let problems: Vec<Option<String>> = match naming(kind) {
        Naming::Any => return None,
        Naming::Subdomain => vec![at_most(253), unless(name.split('.').all(is_label), SUBDOMAIN)],
        Naming::Label1123 => vec![at_most(63), unless(is_label(name), LABEL_1123)],
        Naming::Label1035 => {
            let starts_well = name.starts_with(|ch: char| ch.is_ascii_lowercase());
            vec![at_most(63), unless(starts_well && is_label(name), LABEL_1035)]
        }
        Naming::PathSegment if name == "." || name == ".." => vec![Some(format!("may not be '{name}'"))],
        Naming::PathSegment => {
            ["/", "%"].iter().map(|part| unless(!name.contains(part), &format!("may not contain '{part}'"))).collect()
        }
    };
    let said = |message: String| format!("metadata.name: Invalid value: {name:?}: {message}");
    let problems: Vec<String> = problems.into_iter().flatten().map(said).collect();
    let joined = match problems.as_slice() {
        [] => return None,
        [one] => one.clone(),
        all => format!("[{}]", all.join(", ")),
    };
    Some(format!("object name does not conform to Kubernetes naming requirements: {name:?}: {joined}"))
}

fn is_label(label: &str) -> bool {
    let plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit();
    label.starts_with(plain) && label.ends_with(plain) && label.chars().all(|ch| plain(ch) || ch == '-')
}
