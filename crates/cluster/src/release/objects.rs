//! The objects in a text of manifests, with their places in the cluster.

use super::{Engine, Trouble};
use crate::discovery::{Discovery, Resource, group_of};
use crate::object::{Id, Object};
use purlin_syntax::write::JsonLayout;
use purlin_syntax::{FileId, Flavor, Limits, MergeKeys, Source};
use purlin_value::emit::to_json;
use purlin_value::{Secrets, value_of};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The documents of a text as JSON; lists are taken apart.
pub(super) fn documents(text: &str) -> Result<Vec<Json>, String> {
    let source = Arc::new(Source::new(FileId(0), "manifest", text));
    let tree = purlin_syntax::yaml::parse(source, Flavor::Go, &Limits::default());
    let is_broken = |rule: &str| rule != "duplicate-key";
    if let Some(problem) = tree.diagnostics().iter().find(|one| one.is_error() && is_broken(one.rule.name)) {
        return Err(format!("error parsing: {}", problem.message));
    }
    let mut found = Vec::new();
    for root in tree.roots() {
        let written = to_json(&value_of(root, MergeKeys::Apply), Secrets::Reveal, JsonLayout::Compact);
        let parsed = written.ok().and_then(|text| serde_json::from_str(&text).ok());
        flatten(parsed.ok_or("a document could not be written as JSON")?, &mut found);
    }
    Ok(found)
}

/// The items of lists in the place of the lists.
fn flatten(body: Json, found: &mut Vec<Json>) {
    let is_list = body.get("kind").and_then(Json::as_str).is_some_and(|kind| kind.ends_with("List"));
    match body {
        Json::Null => {}
        Json::Object(mut map) if is_list && map.get("items").is_some_and(Json::is_array) => {
            if let Some(Json::Array(items)) = map.shift_remove("items") {
                found.extend(items.into_iter().filter(|item| !item.is_null()));
            }
        }
        other => found.push(other),
    }
}

/// The objects of a text, in its order, without places.
pub(super) fn objects_of(text: &str) -> Result<Vec<Object>, String> {
    let mut found = Vec::new();
    for (at, body) in documents(text)?.into_iter().enumerate() {
        found.extend(Object::of_json(body, at)?);
    }
    Ok(found)
}

/// Whether two objects are the same one, in whatever version of its group.
pub(super) fn is_same(a: &Id, b: &Id) -> bool {
    a.name == b.name
        && a.namespace == b.namespace
        && a.kind == b.kind
        && group_of(&a.api_version) == group_of(&b.api_version)
}

/// Helm's name of a kind in messages.
pub(super) fn kind_name(id: &Id) -> String {
    format!("{}, Kind={}", id.api_version, id.kind)
}

/// The message for a kind that the cluster does not have.
fn no_matches(id: &Id) -> String {
    format!(
        "resource mapping not found for name: {:?} namespace: {:?} from \"\": no matches for kind {:?} in version {:?}\n\
         ensure CRDs are installed first",
        id.name, id.namespace, id.kind, id.api_version
    )
}

impl Engine<'_> {
    /// The objects of a text, each in its namespace. A kind that the cluster does not have is an error.
    pub(super) fn objects(&self, text: &str) -> Result<(Vec<Object>, Arc<Discovery>), Trouble> {
        let mut objects = objects_of(text).map_err(Trouble::said)?;
        let needed: BTreeSet<String> = objects.iter().map(|object| object.id.api_version.clone()).collect();
        let kinds = self.kinds(&needed)?;
        for object in &mut objects {
            let found = kinds.find(&object.id.api_version, &object.id.kind);
            let is_namespaced = found.ok_or_else(|| Trouble::said(no_matches(&object.id)))?.namespaced;
            object.place(is_namespaced, &self.namespace);
        }
        Ok((objects, kinds))
    }
}

/// The kind of an object; its absence is an error that discovery has found before.
pub(super) fn resource<'d>(kinds: &'d Discovery, object: &Object) -> Result<&'d Resource, Trouble> {
    kinds.find(&object.id.api_version, &object.id.kind).ok_or_else(|| Trouble::said(no_matches(&object.id)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lists_are_taken_apart_and_comments_are_not_objects() {
        let text = "---\n# Source: a\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: a}}\n\
                    - {apiVersion: v1, kind: Secret, metadata: {name: b}}\n---\n# nothing\n---\napiVersion: v1\nkind: ConfigMap\n\
                    metadata: {name: c}\ndata: {n: \"1\"}\n";
        let names: Vec<String> = objects_of(text).unwrap().into_iter().map(|object| object.id.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(objects_of("a: [").is_err() && objects_of("kind: ConfigMap\n").is_err());
    }
}
