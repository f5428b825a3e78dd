//! Validates custom resources against the schemas of their definitions.
//!
//! Covers the part of JSON Schema that definitions may use and that concerns types; patterns and expressions are left
//! to the cluster.

use crate::finding::Finding;
use crate::here::{Here, known};
use crate::rules;
use crate::shape::{Judge, whole};
use crate::values::{choice, found, rewrite, short, write};
use purlin_syntax::{Hint, suggest};
use purlin_value::{EcoString, Value};
use std::collections::{HashMap, HashSet};

/// The schemas of custom resources, by version and kind.
#[derive(Default)]
pub struct Schemas {
    known: HashMap<(EcoString, EcoString), Value>,
    groups: HashSet<EcoString>,
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(known)?.as_str()
}

impl Schemas {
    /// Adds the schemas of an object, if it is a `CustomResourceDefinition`. A later one does not replace an earlier
    /// one.
    pub fn add(&mut self, object: &Value) {
        let is_definition = text(object, "kind") == Some("CustomResourceDefinition");
        let Some(spec) = object.get("spec").and_then(known).filter(|_| is_definition) else { return };
        let names = spec.get("names").and_then(known);
        let (Some(group), Some(kind)) = (text(spec, "group"), names.and_then(|names| text(names, "kind"))) else {
            return;
        };
        for version in spec.get("versions").and_then(Value::as_list).unwrap_or_default() {
            let schema = version.get("schema").and_then(known).and_then(|schema| schema.get("openAPIV3Schema"));
            let Some((name, schema)) = text(version, "name").zip(schema.or_else(|| spec.get("validation"))) else {
                continue;
            };
            let key = (EcoString::from(format!("{group}/{name}")), EcoString::from(kind));
            self.known.entry(key).or_insert_with(|| schema.clone());
        }
        if spec.get("versions").and_then(known).is_some() {
            self.groups.insert(group.into());
        }
    }

    /// Whether kinds of a group are defined.
    pub fn has_group(&self, group: &str) -> bool {
        self.groups.contains(group)
    }

    /// Validates an object of a defined kind. Returns whether the kind is defined.
    pub fn check(&self, judge: &mut Judge<'_>, here: &Here<'_, '_>, version: &str, kind: &str) -> bool {
        let key = (EcoString::from(version), EcoString::from(kind));
        let Some(schema) = self.known.get(&key) else { return false };
        if known(schema).is_some() {
            walk(judge, here, schema, true);
        }
        true
    }

    /// Reports a version or kind that no definition of its group has.
    pub fn unknown(&self, judge: &mut Judge<'_>, version: &Here<'_, '_>, kind: &Here<'_, '_>) {
        let (Some(of), Some(name)) = (version.text(), kind.text()) else { return };
        let mut kinds: Vec<&str> =
            self.known.keys().filter(|(known, _)| known == of).map(|(_, kind)| kind.as_str()).collect();
        let mut versions: Vec<&str> =
            self.known.keys().filter(|(_, kind)| kind == name).map(|(known, _)| known.as_str()).collect();
        kinds.sort_unstable();
        versions.sort_unstable();
        // The available definitions may be only some of the group's.
        let Some((here, wrong, meant)) = suggest::nearest(name, kinds)
            .map(|meant| (kind, name, meant))
            .or_else(|| suggest::nearest(of, versions).map(|meant| (version, of, meant)))
        else {
            return;
        };
        let message = format!(": `{}` has no kind `{}`", short(of), short(name));
        let finding = Finding::value(&rules::API, here, judge.object, message);
        judge.push(finding.hint(Hint::meant(wrong, meant)));
    }
}

/// Keys of every object that definitions do not repeat.
const OF_OBJECTS: &[&str] = &["apiVersion", "kind", "metadata"];

fn is_true(schema: &Value, key: &str) -> bool {
    schema.get(key).and_then(Value::as_bool) == Some(true)
}

fn walk(judge: &mut Judge<'_>, here: &Here<'_, '_>, schema: &Value, is_object: bool) {
    let Some(value) = known(here.value).filter(|value| !value.is_null()) else { return };
    if is_true(schema, "x-kubernetes-int-or-string") {
        if value.as_str().is_none() && whole(value).is_none() {
            mismatch(judge, here, "an integer or a string");
        }
        return;
    }
    let expected = match text(schema, "type") {
        Some("object") if value.as_map().is_none() => Some("a mapping"),
        Some("array") if value.as_list().is_none() => Some("a list"),
        Some("string") if value.as_str().is_none() => Some("a string"),
        Some("boolean") if value.as_bool().is_none() => Some("`true` or `false`"),
        Some("integer") if whole(value).is_none() => Some("an integer"),
        Some("number") if value.as_number().is_none() => Some("a number"),
        _ => None,
    };
    if let Some(expected) = expected {
        return mismatch(judge, here, expected);
    }
    limits(judge, here, schema);
    for item in schema.get("items").iter().flat_map(|_| here.items()) {
        schema.get("items").iter().for_each(|schema| walk(judge, &item, schema, false));
    }
    if value.as_map().is_some() {
        let is_object = is_object || is_true(schema, "x-kubernetes-embedded-resource");
        fields(judge, here, schema, is_object);
    }
}

fn fields(judge: &mut Judge<'_>, here: &Here<'_, '_>, schema: &Value, is_object: bool) {
    let properties = schema.get("properties").and_then(Value::as_map);
    let others = schema.get("additionalProperties");
    let is_open = is_true(schema, "x-kubernetes-preserve-unknown-fields")
        || others.is_some_and(|others| others.as_bool() != Some(false))
        || properties.is_none();
    for (key, value) in here.value.as_map().into_iter().flat_map(|map| map.iter()) {
        let entry = here.entry(key, value);
        match properties.and_then(|properties| properties.get(key)) {
            Some(_) if is_object && OF_OBJECTS.contains(&key.as_str()) => {}
            Some(schema) => walk(judge, &entry, schema, false),
            None if is_object && OF_OBJECTS.contains(&key.as_str()) => {}
            None if is_open => others.iter().for_each(|schema| walk(judge, &entry, schema, false)),
            None => {
                let names = properties.into_iter().flat_map(|all| all.keys()).map(EcoString::as_str);
                let around = here.to_string();
                let around = if around.is_empty() { String::new() } else { format!(" under `{around}`") };
                let mut finding = Finding::key(&rules::SCHEMA, &entry, judge.object, "");
                finding.subject = format!("unknown key `{key}`{around}");
                finding.hint = suggest::did_you_mean(key, names);
                judge.push(finding);
            }
        }
    }
    for name in schema.get("required").and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_str) {
        let property = properties.and_then(|all| all.get(name));
        let has_default = property.is_some_and(|property| property.get("default").is_some());
        let is_nullable = property.is_some_and(|property| is_true(property, "nullable"));
        let is_there = here.value.get(name).is_some_and(|value| is_nullable || !value.is_null());
        let is_given = is_there || has_default || here.is_under("status");
        let is_of_object = is_object && OF_OBJECTS.contains(&name);
        if !is_given && !is_of_object {
            judge.missing(here, name);
        }
    }
}

/// Enumerations and bounds.
fn limits(judge: &mut Judge<'_>, here: &Here<'_, '_>, schema: &Value) {
    let values: Vec<&str> =
        schema.get("enum").and_then(Value::as_list).unwrap_or_default().iter().filter_map(Value::as_str).collect();
    if let Some(text) = here.value.as_str().filter(|text| !values.is_empty() && !values.contains(text)) {
        let (what, hint) = choice(text, &values);
        judge.wrong(here, what).hint = hint;
    }
    let bound = |key: &str| schema.get(key).and_then(Value::as_number);
    let Some(number) = here.value.as_number() else { return };
    if let Some(least) = bound("minimum").filter(|least| number < *least) {
        judge.wrong(here, format!(": expected at least {least}, found `{number}`"));
    }
    if let Some(most) = bound("maximum").filter(|most| number > *most) {
        judge.wrong(here, format!(": expected at most {most}, found `{number}`"));
    }
}

fn mismatch(judge: &mut Judge<'_>, here: &Here<'_, '_>, expected: &str) {
    let hint = rewrite(here.value, expected).or_else(|| write(expected));
    let message = format!(": expected {expected}, found {}", found(here.value));
    let mut finding = Finding::value(&rules::SCHEMA, here, judge.object, message).maybe_hint(hint);
    finding.is_text = Some(here.value.as_str().is_some()).filter(|_| !here.value.is_collection());
    judge.push(finding);
}
