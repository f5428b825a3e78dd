//! Reads `config/resources.yaml` and `config/schema.yaml`.

use purlin_value::{Origin, Value};

/// One kind of resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The key in the values file.
    pub key: String,
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// `jsonSchemaRef`
    pub schema: String,
    /// Whether it is rendered.
    pub template: bool,
    /// Whether it has a key of its own in the values.
    pub root: bool,
    /// Whether it has defaults in the settings.
    pub defaults: bool,
    /// Location of `jsonSchemaRef`, or of the whole entry.
    pub origin: Origin,
    /// Locations of `apiVersion` and `kind`.
    pub identity: [Origin; 2],
}

/// A rule that makes one definition from another.
#[derive(Clone, Debug)]
pub struct Rule {
    /// The definition it makes.
    pub target: String,
    /// The definition it starts from.
    pub source: Option<String>,
    /// Properties to drop.
    pub disallowed: Vec<String>,
    /// Properties to keep.
    pub allowed: Vec<String>,
    /// Properties to set, with the definitions they refer to.
    pub properties: Vec<(String, String)>,
    /// Properties that become required.
    pub required: Vec<String>,
    /// Kinds that may be related, with their definitions.
    pub related: Vec<(String, String)>,
    /// Location of `source`, or of the whole rule.
    pub origin: Origin,
}

/// A file with definitions.
#[derive(Clone, Debug)]
pub struct DefinitionFile {
    /// A path or an address.
    pub name: String,
    /// Its location.
    pub origin: Origin,
}

/// `config/schema.yaml`.
#[derive(Clone, Debug, Default)]
pub struct SchemaConfig {
    /// Sources of definitions.
    pub definitions: Vec<DefinitionFile>,
    /// Rules that use them.
    pub rules: Vec<Rule>,
}

/// The value under a key, ignoring case.
fn get<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let map = value.as_map()?;
    map.get(key).or_else(|| map.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value))
}

fn text(value: &Value, key: &str) -> String {
    get(value, key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    let list = get(value, key).and_then(Value::as_list).unwrap_or_default();
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn pairs(value: &Value, key: &str) -> Vec<(String, String)> {
    let Some(map) = get(value, key).and_then(Value::as_map) else { return Vec::new() };
    map.iter().map(|(name, target)| (name.to_string(), target.as_str().unwrap_or_default().to_owned())).collect()
}

/// The kinds, sorted by key.
pub fn resources(value: &Value) -> Vec<Resource> {
    let Some(map) = get(value, "resources").and_then(Value::as_map) else { return Vec::new() };
    let switch = |entry: &Value, key: &str| get(entry, key).and_then(Value::as_bool).unwrap_or(true);
    let mut found: Vec<Resource> = map
        .iter()
        .map(|(key, entry)| Resource {
            key: key.to_string(),
            api_version: text(entry, "apiVersion"),
            kind: text(entry, "kind"),
            schema: text(entry, "jsonSchemaRef"),
            template: switch(entry, "template"),
            root: switch(entry, "root"),
            defaults: switch(entry, "defaults"),
            origin: get(entry, "jsonSchemaRef").unwrap_or(entry).origin,
            identity: ["apiVersion", "kind"].map(|key| get(entry, key).map_or(Origin::NONE, |value| value.origin)),
        })
        .collect();
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found
}

/// The definitions and rules.
pub fn schema(value: &Value) -> SchemaConfig {
    let rules = get(value, "rules").and_then(Value::as_list).unwrap_or_default();
    let rule = |entry: &Value| Rule {
        target: text(entry, "target"),
        source: Some(text(entry, "source")).filter(|source| !source.is_empty()),
        disallowed: texts(entry, "disallowed"),
        allowed: texts(entry, "allowed"),
        properties: pairs(entry, "properties"),
        required: texts(entry, "required"),
        related: pairs(entry, "related"),
        origin: get(entry, "source").unwrap_or(entry).origin,
    };
    let files = get(value, "definitions").and_then(Value::as_list).unwrap_or_default();
    let file = |entry: &Value| Some(DefinitionFile { name: entry.as_str()?.to_owned(), origin: entry.origin });
    let definitions = files.iter().filter_map(file).collect();
    SchemaConfig { definitions, rules: rules.iter().map(rule).collect() }
}
