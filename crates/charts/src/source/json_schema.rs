//! JSON Schemas of `Chart.yaml` and of a chart's values.
//!
//! The values have the keys, defaults and comments of `values.yaml`; where the chart brings a `values.schema.json`,
//! that decides and the rest is added to it.

use crate::entities::{CHART, SCHEMA};
use crate::names::Reads;
use crate::unused::reads_of_folder;
use crate::value_types::types;
use purlin_model::json_schema::{DRAFT, object, texts};
use purlin_model::schema::Edition;
use purlin_syntax::{Diagnostic, Flavor, Node, Span, Tree};
use purlin_value::{EcoString, Map, MergeKeys, Origin, Session, Value, path, value_of};

/// The schema of `Chart.yaml`.
pub fn chart() -> Value {
    purlin_model::json_schema(&SCHEMA, CHART, Edition(0))
}

/// The schema of the values of the chart in a folder.
pub fn values(session: &Session, folder: &str) -> Result<Value, Diagnostic> {
    let defaults = path::join(folder, "values.yaml");
    let known = match session.world.exists(&defaults) {
        true => typed(&*session.read_yaml(&defaults, Flavor::Core)?, reads_of_folder(session, folder).as_deref()),
        false => object([]),
    };
    let brought = path::join(folder, "values.schema.json");
    if !session.world.exists(&brought) {
        let mut map = object([("$schema", Value::str(DRAFT))]).as_map().cloned().unwrap_or_default();
        map.extend(known.as_map().cloned().unwrap_or_default().into_entries());
        return Ok(Value::map(map));
    }
    let text = session.read_text(&brought)?;
    match crate::json::parse(text.text().as_bytes(), Origin::NONE) {
        Ok(schema) => Ok(completed(schema, &known, 0)),
        Err(why) => {
            let span = text.span(0, text.text().len().min(1));
            Err(Diagnostic::at(&crate::rules::SCHEMA, span, format!("`{brought}` is not valid JSON: {why}")))
        }
    }
}

/// Descriptions of a chart's values in its defaults.
pub fn described(tree: &Tree) -> Value {
    typed(tree, None)
}

/// The same with the types that templates allow.
fn typed(tree: &Tree, reads: Option<&Reads>) -> Value {
    let about = About { comments: Comments::of(tree), reads };
    tree.root().filter(|root| root.is_map()).map_or_else(|| object([]), |root| shape(root, &about, &mut Vec::new()))
}

/// What is known of values beside their defaults.
struct About<'t> {
    comments: Comments<'t>,
    reads: Option<&'t Reads>,
}

impl About<'_> {
    /// The types of a value: the ones that all its uses allow.
    fn types(&self, path: &[EcoString], default: &Value) -> Option<Value> {
        let uses = self.reads.filter(|reads| !reads.is_lost)?.uses_of(path)?;
        let names = types(uses, default.as_bool().is_some())?.names();
        // A default of another type shows that a use was misread.
        let own = purlin_model::validate::type_name(default);
        let fits = own == "null" || names.contains(&own);
        fits.then(|| texts(names.into_iter().chain(["null"])))
    }
}

/// Values nest a few levels deep; the bound is for malicious files.
const DEPTH: u32 = 100;

fn shape(node: Node<'_>, about: &About<'_>, path: &mut Vec<EcoString>) -> Value {
    if path.len() > DEPTH as usize || !node.is_map() || node.entries().next().is_none() {
        // Helm takes anything in the place of a scalar, a list or an empty mapping.
        return object([]);
    }
    let mut properties = Map::new();
    for entry in node.entries().filter(|entry| !entry.key.is_merge_key()) {
        path.push(entry.key.eco_text());
        let mut property = Map::new();
        if let Some(text) = about.comments.above(entry.key.span()) {
            property.insert("description".into(), Value::str(text));
        }
        if let Some(inner) = shape(entry.value, about, path).as_map() {
            property.extend(inner.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        if !property.contains_key("properties") {
            let default = value_of(entry.value, MergeKeys::Apply);
            match (about.types(path, &default), likely_type(&default)) {
                (Some(types), _) => drop(property.insert("type".into(), types)),
                (None, Some(word)) => drop(property.insert("x-purlin-takes".into(), Value::str(word))),
                (None, None) => {}
            }
            property.insert("default".into(), default);
        }
        properties.insert(entry.key.eco_text(), Value::map(property));
        path.pop();
    }
    object([("type", texts(["object", "null"])), ("properties", Value::map(properties))])
}

/// The type a value probably has, from its default. Helm does not insist on it.
fn likely_type(default: &Value) -> Option<&'static str> {
    match purlin_model::validate::type_name(default) {
        "boolean" => Some("true or false"),
        "number" => Some("a number"),
        "array" => Some("a list"),
        "object" => Some("a mapping"),
        "string" => Some("a string"),
        _ => None,
    }
}

/// A schema with the properties that it does not name itself.
fn completed(schema: Value, known: &Value, depth: u32) -> Value {
    let (Some(own), Some(known)) = (schema.as_map(), known.get("properties").and_then(Value::as_map)) else {
        return schema;
    };
    let is_closed = own.get("additionalProperties").and_then(Value::as_bool) == Some(false);
    let refers = ["$ref", "allOf", "anyOf", "oneOf"].iter().any(|key| own.contains_key(*key));
    if depth > DEPTH || refers {
        return schema;
    }
    let mut properties = own.get("properties").and_then(Value::as_map).cloned().unwrap_or_default();
    for (key, more) in known.iter() {
        match properties.get(key).cloned() {
            Some(written) => {
                let mut merged = completed(written, more, depth + 1);
                if let (Some(map), Some(text)) = (merged.as_map(), more.get("description"))
                    && !map.contains_key("description")
                {
                    let mut map = map.clone();
                    map.insert("description".into(), text.clone());
                    merged = Value::map(map);
                }
                properties.insert(key.clone(), merged);
            }
            None if !is_closed => {
                properties.insert(key.clone(), more.clone());
            }
            None => {}
        }
    }
    let mut map = own.clone();
    map.insert("properties".into(), Value::map(properties));
    Value::map(map)
}

/// The comments of a file by the line they end on.
struct Comments<'t> {
    tree: &'t Tree,
    /// Line and text, in order; comments after other content do not describe the next key.
    lines: Vec<(u32, &'t str)>,
}

impl<'t> Comments<'t> {
    fn of(tree: &'t Tree) -> Self {
        let source = tree.source();
        let own = tree.comments().iter().filter(|comment| !comment.trailing);
        let lines = own.map(|comment| (source.position(comment.span.start).line, source.slice(comment.span)));
        Comments { tree, lines: lines.collect() }
    }

    /// The comment right above a key, without marks.
    fn above(&self, key: Span) -> Option<EcoString> {
        let line = self.tree.source().position(key.start).line;
        let end = self.lines.partition_point(|(at, _)| *at < line);
        let mut start = end;
        while start > 0
            && self.lines.get(start - 1).is_some_and(|(at, _)| line - at == u32::try_from(end - start + 1).unwrap_or(0))
        {
            start -= 1;
        }
        let texts = self.lines.get(start..end).unwrap_or_default().iter().map(|(_, text)| plain(text));
        let text = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        (!text.is_empty()).then(|| text.into())
    }
}

/// A comment without `#`, and without the marks of documentation tools (`--`, `@param key`).
fn plain(comment: &str) -> &str {
    let text = comment.trim_start_matches('#').trim();
    let text = text.strip_prefix("--").unwrap_or(text).trim();
    match text.strip_prefix("@param ") {
        Some(rest) => rest.split_once(' ').map_or("", |(_, words)| words.trim()),
        None if text.starts_with('@') => "",
        None => text,
    }
}
