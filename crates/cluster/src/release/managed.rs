//! Fields that Helm 3 set on the client become fields that are applied, so that the server lets the release change them.

use super::MANAGER;
use serde_json::{Map, Value as Json, json};

fn text<'j>(entry: &'j Json, key: &str) -> &'j str {
    entry.get(key).and_then(Json::as_str).unwrap_or("")
}

fn is_own(entry: &Json, operation: &str) -> bool {
    text(entry, "manager") == MANAGER && text(entry, "operation") == operation && text(entry, "subresource").is_empty()
}

/// The JSON patch that makes an object's fields of the release applied ones; `None` if there is nothing to change.
pub(super) fn to_applied(live: &Json) -> Option<Json> {
    let entries = live.pointer("/metadata/managedFields")?.as_array()?;
    if !entries.iter().any(|entry| is_own(entry, "Update")) {
        return None;
    }
    let mut fields = Json::Object(Map::new());
    for entry in entries.iter().filter(|entry| is_own(entry, "Update") || is_own(entry, "Apply")) {
        join(&mut fields, entry.get("fieldsV1").unwrap_or(&Json::Null));
    }
    let at = entries.iter().position(|entry| is_own(entry, "Apply"));
    let at = at.or_else(|| entries.iter().position(|entry| is_own(entry, "Update")))?;
    let mut changed = Vec::with_capacity(entries.len());
    for (place, entry) in entries.iter().enumerate() {
        if place == at {
            let mut entry = entry.clone();
            entry["operation"] = "Apply".into();
            entry["fieldsV1"] = fields.clone();
            changed.push(entry);
        } else if !is_own(entry, "Update") {
            changed.push(entry.clone());
        }
    }
    let version = live.pointer("/metadata/resourceVersion").cloned().unwrap_or(Json::Null);
    Some(json!([
        { "op": "replace", "path": "/metadata/managedFields", "value": changed },
        { "op": "replace", "path": "/metadata/resourceVersion", "value": version },
    ]))
}

/// The union of two sets of fields. The depth is that of an object, which the server has bounded.
fn join(into: &mut Json, more: &Json) {
    let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) else { return };
    for (key, value) in more {
        join(into.entry(key.clone()).or_insert_with(|| json!({})), value);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn fields_are_joined_into_one_entry() {
        let entry = |manager: &str, operation: &str, fields: Json| json!({ "manager": manager, "operation": operation, "fieldsV1": fields, "fieldsType": "FieldsV1" });
        let live = json!({ "metadata": { "resourceVersion": "7", "managedFields": [
            entry("helm", "Update", json!({ "f:data": { "f:a": {} } })),
            entry("kubectl", "Update", json!({ "f:data": { "f:b": {} } })),
            entry("helm", "Apply", json!({ "f:data": { "f:c": {} } })),
        ] } });
        let patch = to_applied(&live).unwrap();
        let expected = json!([
            entry("kubectl", "Update", json!({ "f:data": { "f:b": {} } })),
            entry("helm", "Apply", json!({ "f:data": { "f:a": {}, "f:c": {} } })),
        ]);
        assert_eq!(patch.pointer("/0/value"), Some(&expected));
        assert_eq!(patch.pointer("/1/value"), Some(&json!("7")));
        assert_eq!(to_applied(&json!({ "metadata": { "managedFields": expected } })), None);
    }
}
