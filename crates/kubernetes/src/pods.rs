//! The pods of objects, and their selection by labels.

use crate::here::known;
use purlin_value::Value;

/// The path to the pod of a kind.
pub fn way_to_pod(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "Pod" => &[],
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "ReplicationController" | "Job" => {
            &["spec", "template"]
        }
        "CronJob" => &["spec", "jobTemplate", "spec", "template"],
        "PodTemplate" => &["template"],
        _ => return None,
    })
}

/// The pod of an object: the mapping with `metadata` and `spec`.
pub fn pod<'v>(kind: &str, object: &'v Value) -> Option<&'v Value> {
    way_to_pod(kind)?.iter().try_fold(object, |value, key| known(value)?.get(key))
}

/// Result of matching labels, which may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// They match.
    Yes,
    /// They do not match.
    No,
    /// Unknown labels are involved.
    Open,
}

/// Whether labels contain all of a mapping of labels.
pub fn fits(wanted: &Value, labels: Option<&Value>) -> Fit {
    let Some(map) = known(wanted).and_then(Value::as_map) else { return Fit::Open };
    let labels = match labels.map(known) {
        Some(None) => return Fit::Open,
        Some(Some(labels)) => Some(labels),
        None => None,
    };
    let mut found = Fit::Yes;
    for (key, value) in map.iter() {
        let has = labels.and_then(|labels| labels.get(key));
        let (Some(wanted), Some(has)) = (known(value), has.map_or(Some(None), |has| known(has).map(Some))) else {
            return Fit::Open;
        };
        if has.and_then(Value::as_str).is_none_or(|has| wanted.as_str() != Some(has)) {
            found = Fit::No;
        }
    }
    found
}

/// Whether labels match a selector with `matchLabels` and `matchExpressions`.
pub fn fits_selector(selector: &Value, labels: Option<&Value>) -> Fit {
    let Some(selector) = known(selector) else { return Fit::Open };
    let by_labels =
        selector.get("matchLabels").filter(|wanted| !wanted.is_null()).map_or(Fit::Yes, |all| fits(all, labels));
    let expressions = selector.get("matchExpressions").and_then(Value::as_list).unwrap_or_default();
    let all = expressions.iter().map(|one| fits_expression(one, labels));
    all.fold(by_labels, |one, other| match (one, other) {
        (Fit::Open, _) | (_, Fit::Open) => Fit::Open,
        (Fit::No, _) | (_, Fit::No) => Fit::No,
        _ => Fit::Yes,
    })
}

fn fits_expression(expression: &Value, labels: Option<&Value>) -> Fit {
    let text = |key: &str| expression.get(key).and_then(known).and_then(Value::as_str);
    let (Some(key), Some(operator)) = (text("key"), text("operator")) else { return Fit::Open };
    let has = match labels.map(known) {
        Some(None) => return Fit::Open,
        Some(Some(labels)) => labels.get(key),
        None => None,
    };
    if has.is_some_and(|has| known(has).is_none()) {
        return Fit::Open;
    }
    let values = expression.get("values").and_then(Value::as_list).unwrap_or_default();
    let is_in = || has.is_some_and(|has| values.iter().any(|value| value.as_str() == has.as_str()));
    let is_right = match operator {
        "In" => is_in(),
        "NotIn" => !is_in(),
        "Exists" => has.is_some(),
        "DoesNotExist" => has.is_none(),
        _ => return Fit::Open,
    };
    if is_right { Fit::Yes } else { Fit::No }
}
