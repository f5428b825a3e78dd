//! Generates a Metachart chart's settings, values schema and documentation from its configuration.

use std::collections::{BTreeMap, BTreeSet};

use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter};
use purlin_value::{Data, EcoString, Map, Origin, Value};

use super::config::{Resource, Rule, SchemaConfig};

/// The definition of `metadata.checksums`, made from the kinds.
const CHECKSUMS: &str = "metachart.interface.checksums";

const NAME_PATTERN: &str = "^[a-z][0-9a-z]*(-[0-9a-z]+)*$";

/// Deepest nesting of a definition.
const MAX_DEPTH: u32 = purlin_syntax::limits::SCHEMA_LEVELS;

/// Inputs of generation.
pub struct Inputs<'a> {
    /// The kinds.
    pub resources: &'a [Resource],
    /// Definitions and rules.
    pub schema: &'a SchemaConfig,
    /// The definition files in order, the chart's own last.
    pub definitions: &'a [Value],
    /// Kinds that have a preprocessor.
    pub preprocessors: &'a BTreeSet<String>,
}

/// Output of generation.
#[derive(Debug)]
pub struct Generated {
    /// `templates/generated/_settings.tpl`
    pub settings: String,
    /// `values.schema.json`
    pub schema: String,
    /// `values.schema.full.json`
    pub full_schema: String,
    /// `docs/resources.md`
    pub documentation: String,
}

/// Generates everything.
pub fn generate(inputs: &Inputs<'_>) -> Result<Generated, String> {
    let (definitions, properties) = build_schema(inputs)?;
    let full_schema = write_schema(&definitions, &properties)?;
    let short: BTreeMap<String, Value> =
        definitions.iter().map(|(name, definition)| (name.clone(), without_descriptions(definition))).collect();
    let schema = write_schema(&short, &properties)?;
    Ok(Generated { settings: settings(inputs), schema, full_schema, documentation: documentation(inputs) })
}

/// A definition that is named and does not exist.
#[derive(Debug)]
pub struct Undefined {
    /// Its name.
    pub name: String,
    /// Its location.
    pub origin: Origin,
}

/// Missing definitions named by rules and kinds. A rule may start from the result of an earlier one.
pub fn undefined(inputs: &Inputs<'_>) -> Vec<Undefined> {
    let mut known: BTreeSet<&str> = BTreeSet::from([CHECKSUMS]);
    let base = base_definitions();
    known.extend(base.keys().map(String::as_str));
    let files = inputs.definitions.iter().filter_map(|file| file.get("definitions")?.as_map());
    known.extend(files.flat_map(|map| map.keys()).map(|name| name.as_str()));
    let mut found = Vec::new();
    let missing = |name: &str, origin: Origin| Undefined { name: name.to_owned(), origin };
    for rule in &inputs.schema.rules {
        if let Some(source) = rule.source.as_deref().filter(|source| !known.contains(source)) {
            found.push(missing(source, rule.origin));
        }
        known.insert(&rule.target);
    }
    let named = inputs.schema.rules.iter().flat_map(|rule| {
        let names = rule.properties.iter().chain(&rule.related).map(|(_, name)| name.as_str());
        names.map(|name| (name, rule.origin))
    });
    let kinds = inputs.resources.iter().map(|kind| (kind.schema.as_str(), kind.origin));
    let unknown = named.chain(kinds).filter(|(name, _)| !name.is_empty() && !known.contains(name));
    found.extend(unknown.map(|(name, origin)| missing(name, origin)));
    found
}

/// The kinds as templates for Helm, from the configuration alone.
pub fn settings(inputs: &Inputs<'_>) -> String {
    let mut out = String::from("{{- /* Resources definition */}}\n{{- define \"metachart.settings\" }}\n");
    for resource in inputs.resources.iter().filter(|resource| resource.template) {
        let preprocess = inputs.preprocessors.contains(&resource.key);
        out.push_str(&format!(
            "{}:\n  apiVersion: {}\n  kindCamelCase: {}\n  preprocess: {preprocess}\n",
            resource.key, resource.api_version, resource.kind
        ));
    }
    out.push_str("{{- end }}");
    out
}

fn documentation(inputs: &Inputs<'_>) -> String {
    let mut groups: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
    for resource in inputs.resources.iter().filter(|resource| resource.root) {
        groups.entry(&resource.api_version).or_default().push(resource);
    }
    let mut out = String::from("# Resources\n\nA set of resources supported by the chart\n");
    for (version, resources) in groups {
        let title = if version.is_empty() { "Non-Kubernetes resources" } else { version };
        out.push_str(&format!(
            "\n## {title}\n\n| Values file key | Kind | Preprocessor |\n| --------------- | ---- | ------------ |\n"
        ));
        for resource in resources {
            let link = if inputs.preprocessors.contains(&resource.key) {
                format!("[link](templates/preprocess/_{}.tpl)", resource.key)
            } else {
                "-".to_owned()
            };
            out.push_str(&format!("| {}   | {} | {link} |\n", resource.key, resource.kind));
        }
        out.push('\n');
    }
    out.trim().to_owned()
}

// Small makers of schema parts.

fn record(entries: Vec<(&str, Value)>) -> Value {
    Value::map(entries.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect::<Map>())
}

fn reference(name: &str) -> Value {
    record(vec![("$ref", Value::str(format!("#/definitions/{name}")))])
}

fn of_type(name: &str) -> Value {
    record(vec![("type", Value::str(name))])
}

/// The object under a kind's key: resources by name.
fn root_key(definition: &str) -> Value {
    record(vec![
        ("type", Value::str("object")),
        ("patternProperties", record(vec![(NAME_PATTERN, reference(definition))])),
        ("additionalProperties", Value::new(Data::Bool(false))),
    ])
}

fn described(kind: &str, description: &str) -> Value {
    record(vec![("type", Value::str(kind)), ("description", Value::str(description))])
}

fn base_definitions() -> BTreeMap<String, Value> {
    let item = record(vec![("type", Value::str("string")), ("pattern", Value::str(NAME_PATTERN))]);
    let list = record(vec![("type", Value::str("array")), ("items", reference("metachart.interface.FQDNitem"))]);
    let star = record(vec![("enum", Value::list(vec![Value::str("*")]))]);
    BTreeMap::from([
        ("metachart.interface.FQDNitem".to_owned(), item),
        ("metachart.interface.boolean".to_owned(), of_type("boolean")),
        ("metachart.interface.checksumEntryList".to_owned(), record(vec![("anyOf", Value::list(vec![list, star]))])),
    ])
}

fn base_properties() -> Map {
    let strings = || record(vec![("type", Value::str("object")), ("additionalProperties", of_type("string"))]);
    let global = record(vec![
        ("type", Value::str("object")),
        ("additionalProperties", Value::new(Data::Bool(false))),
        ("properties", record(vec![("labels", strings()), ("annotations", strings())])),
    ]);
    let settings = record(vec![
        ("type", Value::str("object")),
        ("additionalProperties", Value::new(Data::Bool(false))),
        ("properties", record(vec![("global", global)])),
    ]);
    let context = "Any content which can be used for config rendering without schema defined by the chart";
    let name = Value::list(vec![reference("metachart.interface.FQDNitem"), of_type("null")]);
    let mut properties = Map::new();
    properties.insert("fullnameOverride".into(), record(vec![("anyOf", name)]));
    properties.insert("context".into(), described("object", context));
    properties.insert("settings".into(), settings);
    properties
}

type Definitions = BTreeMap<String, Value>;

fn build_schema(inputs: &Inputs<'_>) -> Result<(Definitions, Map), String> {
    let mut definitions = base_definitions();
    for file in inputs.definitions {
        for (name, definition) in file.get("definitions").and_then(Value::as_map).into_iter().flat_map(|map| map.iter())
        {
            definitions.insert(name.to_string(), definition.clone());
        }
    }
    for rule in &inputs.schema.rules {
        let made = apply_rule(rule, &definitions)?;
        definitions.insert(rule.target.clone(), made);
    }
    let mut properties = base_properties();
    let mut kinds = Map::new();
    let mut checksums = Map::new();
    for resource in inputs.resources {
        let key = EcoString::from(resource.key.as_str());
        if resource.root {
            properties.insert(key.clone(), root_key(&resource.schema));
            checksums.insert(key.clone(), reference("metachart.interface.checksumEntryList"));
        }
        if resource.root || resource.defaults {
            let mut entries = Map::new();
            if resource.root {
                entries.insert("disabled".into(), described("boolean", "Disable all resources of this kind"));
            }
            if resource.defaults {
                entries.insert("defaults".into(), reference(&resource.schema));
            }
            kinds.insert(key, record(vec![("type", Value::str("object")), ("properties", Value::map(entries))]));
        }
    }
    add_kinds(&mut properties, kinds);
    let checksums = record(vec![("type", Value::str("object")), ("properties", Value::map(checksums))]);
    definitions.insert(CHECKSUMS.to_owned(), checksums);
    let reachable = reachable(&properties, &definitions);
    definitions.retain(|name, _| reachable.contains(name));
    Ok((definitions, properties))
}

/// Puts the kinds' settings beside `settings.global`.
fn add_kinds(properties: &mut Map, kinds: Map) {
    let Some(mut settings) = properties.get("settings").and_then(Value::as_map).cloned() else { return };
    let Some(mut inner) = settings.get("properties").and_then(Value::as_map).cloned() else { return };
    for (key, value) in kinds.iter() {
        inner.insert(key.clone(), value.clone());
    }
    settings.insert("properties".into(), Value::map(inner));
    properties.insert("settings".into(), Value::map(settings));
}

fn apply_rule(rule: &Rule, definitions: &Definitions) -> Result<Value, String> {
    let source = match &rule.source {
        Some(name) => {
            definitions.get(name).cloned().ok_or_else(|| format!("can not find sourceDefinition '{name}'"))?
        }
        None => record(vec![("type", Value::str("object")), ("properties", Value::map(Map::new()))]),
    };
    let mut made = source.as_map().cloned().unwrap_or_default();
    let mut properties = made.get("properties").and_then(Value::as_map).cloned().unwrap_or_default();
    let mut required: Vec<String> = made
        .get("required")
        .and_then(Value::as_list)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    let drop: Vec<EcoString> = properties
        .keys()
        .filter(|key| {
            rule.disallowed.iter().any(|name| name == key.as_str())
                || !rule.allowed.is_empty() && !rule.allowed.iter().any(|name| name == key.as_str())
        })
        .cloned()
        .collect();
    for key in drop {
        properties.shift_remove(&key);
    }
    required.retain(|name| !rule.disallowed.contains(name) && (rule.allowed.is_empty() || rule.allowed.contains(name)));
    for (name, definition) in &rule.properties {
        properties.insert(EcoString::from(name.as_str()), reference(definition));
    }
    required.extend(rule.required.iter().cloned());
    if !rule.related.is_empty() {
        let kinds =
            rule.related.iter().map(|(kind, definition)| (EcoString::from(kind.as_str()), root_key(definition)));
        let kinds = Value::map(kinds.collect::<Map>());
        properties.insert("related".into(), record(vec![("type", Value::str("object")), ("properties", kinds)]));
    }
    made.insert("properties".into(), Value::map(properties));
    if required.is_empty() {
        made.shift_remove("required");
    } else {
        made.insert("required".into(), Value::list(required.iter().map(|name| Value::str(name.as_str())).collect()));
    }
    Ok(Value::map(made))
}

/// The definitions that the properties refer to.
fn reachable(properties: &Map, definitions: &Definitions) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = Vec::new();
    for value in properties.values() {
        references(value, &mut open, 0);
    }
    while let Some(name) = open.pop() {
        if !found.insert(name.clone()) {
            continue;
        }
        if let Some(definition) = definitions.get(&name) {
            references(definition, &mut open, 0);
        }
    }
    found
}

fn references(value: &Value, out: &mut Vec<String>, depth: u32) {
    if depth > MAX_DEPTH {
        return;
    }
    match &value.data {
        Data::List(items) => items.iter().for_each(|item| references(item, out, depth + 1)),
        Data::Map(map) => {
            for (key, item) in map.iter() {
                if key == "$ref"
                    && let Some(name) = item.as_str().and_then(|text| text.strip_prefix("#/definitions/"))
                {
                    out.push(name.to_owned());
                }
                references(item, out, depth + 1);
            }
        }
        _ => {}
    }
}

/// A definition without its own description and those of its direct properties.
fn without_descriptions(definition: &Value) -> Value {
    let Some(map) = definition.as_map() else { return definition.clone() };
    let mut map = map.clone();
    map.shift_remove("description");
    if let Some(properties) = map.get("properties").and_then(Value::as_map) {
        let strip = |value: &Value| match value.as_map() {
            Some(inner) => {
                let mut inner = inner.clone();
                inner.shift_remove("description");
                Value::map(inner)
            }
            None => value.clone(),
        };
        let stripped: Map = properties.iter().map(|(key, value)| (key.clone(), strip(value))).collect();
        map.insert("properties".into(), Value::map(stripped));
    }
    Value::map(map)
}

fn write_schema(definitions: &Definitions, properties: &Map) -> Result<String, String> {
    let mut writer = JsonWriter::new(JsonLayout::Pretty, JsonFlavor::Go);
    writer.begin_map(4);
    writer.key("$schema");
    writer.string("http://json-schema.org/draft-07/schema#");
    writer.key("type");
    writer.string("object");
    writer.key("definitions");
    writer.begin_map(definitions.len());
    for (name, definition) in definitions {
        writer.key(name);
        crate::json::write(definition, &mut writer, 0)?;
    }
    writer.end_map();
    writer.key("properties");
    crate::json::write(&Value::map(properties.clone()), &mut writer, 0)?;
    writer.end_map();
    writer.finish().map_err(|_| "the schema is too large".to_owned())
}
