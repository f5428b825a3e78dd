//! What a template expects of its uses: a short list of inputs, or a JSON Schema.

use crate::bind::entries;
use crate::config::Document;
use crate::ground::Ground;
use crate::json;
use crate::project::{Project, force};
use crate::rules;
use ecow::EcoString;
use purlin_syntax::{Diagnostic, Span, suggest};
use purlin_value::{Data, Map, MergeKeys, Value, path, value_of};

/// What is expected of inputs.
#[derive(Clone, Debug, Default)]
pub struct InputSchema {
    /// As a JSON Schema; nothing if anything is accepted.
    schema: Option<Value>,
    /// Whether keys beyond those listed are refused, whatever the schema says.
    strict: bool,
}

impl InputSchema {
    /// Reads what a template says about its inputs.
    pub fn read(ground: &Ground<'_>, project: &Project, document: &Document) -> Self {
        if let Some(node) = document.field("inputs")
            && let Some(view) = node.get().filter(|view| view.is_map())
        {
            let properties: Map =
                entries(view).into_iter().map(|(key, item)| (key, value_of(item, MergeKeys::Apply))).collect();
            let required = properties.iter().filter(|(_, input)| input.get("default").is_none());
            let required = Value::list(required.map(|(key, _)| Value::str(key.clone())).collect());
            let schema = Map::from_iter([
                ("type".into(), Value::str("object")),
                ("required".into(), required),
                ("properties".into(), Value::map(properties)),
            ]);
            return InputSchema { schema: Some(Value::map(schema)), strict: true };
        }
        let Some(node) = document.field("inputsSchemaPath") else { return InputSchema::default() };
        let file = force(ground, &ground.env(project.full_scope()), &node);
        let Some(name) = file.as_str() else { return InputSchema::default() };
        let full = path::join(document.folder(), name);
        let read = ground.session.world.read(&full).map_err(|error| error.diagnostic(&full).message);
        let parsed = read.and_then(|bytes| json::read(&String::from_utf8_lossy(&bytes)));
        let sound = parsed.and_then(|schema| match schema.get("type").and_then(Value::as_str) {
            Some("object") => Ok(schema),
            _ => Err("the schema of inputs must be of `type: object`".to_owned()),
        });
        match sound {
            Ok(schema) => InputSchema { schema: Some(schema), strict: false },
            Err(why) => {
                ground.report(&rules::TEMPLATE, node.span(), format!("`{name}` cannot be used for inputs: {why}"));
                InputSchema::default()
            }
        }
    }

    /// The defaults at the top.
    pub fn defaults(&self, ground: &Ground<'_>) -> Vec<(EcoString, Value)> {
        let properties = self.schema.as_ref().and_then(|schema| schema.get("properties")).and_then(Value::as_map);
        let default = |(key, input): (&EcoString, &Value)| {
            let value = input.get("default")?.clone();
            let origin = ground.session.origins.fallback(ecow::eco_format!("input `{key}` of the template"), None);
            let known = value.origin.is_known();
            Some((key.clone(), if known { value } else { value.with_origin(origin) }))
        };
        properties.map(|map| map.iter().filter_map(default).collect()).unwrap_or_default()
    }

    /// Checks resolved inputs; problems are reported at the keys and values, or at the use of the template.
    pub fn check(
        &self,
        ground: &Ground<'_>,
        inputs: &Value,
        use_span: Option<Span>,
        key_span: &dyn Fn(&str) -> Option<Span>,
    ) {
        let Some(schema) = &self.schema else { return };
        let mut problems = Vec::new();
        check_value(inputs, schema, "", self.strict, &mut problems);
        for Problem { message, hint, at } in problems {
            let place = match at {
                At::Use => None,
                At::Value(value) => ground.span_of(&value),
                At::Key(key, value) => key_span(&key).or_else(|| ground.span_of(&value)),
            };
            let place = place.or(use_span);
            ground.push(Diagnostic::nowhere(&rules::TEMPLATE_INPUTS, message).maybe_hint(hint), place);
        }
    }
}

/// What does not fit.
struct Problem {
    message: String,
    hint: Option<String>,
    at: At,
}

/// Where a problem is shown.
enum At {
    /// At the use of the template.
    Use,
    /// At a value.
    Value(Value),
    /// At a key with its value.
    Key(String, Value),
}

/// A small part of JSON Schema: types, required and further properties, items, words to choose from.
fn check_value(value: &Value, schema: &Value, path: &str, strict: bool, problems: &mut Vec<Problem>) {
    // What is not known yet, or broken, is not judged.
    if value.is_pending() || value.is_poison() {
        return;
    }
    let name = if path.is_empty() { "inputs".to_owned() } else { format!("input `{path}`") };
    if let Some(wanted) = schema.get("type")
        && !fits_any(value, wanted)
    {
        let message = format!("{name} must be {}, not {}", type_words(wanted), crate::expr::shown_type(value));
        problems.push(Problem { message, hint: None, at: At::Value(value.clone()) });
        return;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_list)
        && !words.contains(value)
    {
        let shown: Vec<String> = words.iter().map(|word| format!("`{}`", crate::expr::text_of(word))).collect();
        let message = format!("{name} must be one of {}", shown.join(", "));
        problems.push(Problem { message, hint: None, at: At::Value(value.clone()) });
    }
    if let Some(map) = value.as_map() {
        check_map(map, schema, path, strict, problems);
    }
    if let (Some(items), Some(list)) = (schema.get("items"), value.as_list()) {
        for (index, item) in list.iter().enumerate() {
            check_value(item, items, &format!("{path}.{index}"), false, problems);
        }
    }
}

fn check_map(map: &Map, schema: &Value, path: &str, strict: bool, problems: &mut Vec<Problem>) {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_map).unwrap_or(&empty);
    let full = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for key in schema.get("required").and_then(Value::as_list).unwrap_or(&[]).iter().filter_map(Value::as_str) {
        if !map.contains_key(key) {
            problems.push(Problem { message: format!("input `{}` is missing", full(key)), hint: None, at: At::Use });
        }
    }
    let closed = strict || schema.get("additionalProperties").and_then(Value::as_bool) == Some(false);
    for (key, value) in map.iter() {
        match properties.get(key) {
            Some(inner) => check_value(value, inner, &full(key), false, problems),
            None if closed => {
                let hint = suggest::did_you_mean(key, properties.keys().map(EcoString::as_str));
                let message = format!("the template has no input `{}`", full(key));
                problems.push(Problem { message, hint, at: At::Key(full(key), value.clone()) });
            }
            None => {}
        }
    }
}

fn fits_any(value: &Value, wanted: &Value) -> bool {
    match wanted.as_list() {
        Some(types) => types.iter().filter_map(Value::as_str).any(|wanted| fits(value, wanted)),
        None => wanted.as_str().is_none_or(|wanted| fits(value, wanted)),
    }
}

fn fits(value: &Value, wanted: &str) -> bool {
    match wanted {
        "string" => matches!(value.data, Data::Str(_)),
        "number" => value.as_number().is_some(),
        "integer" => value.as_number().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.as_bool().is_some(),
        "object" => value.as_map().is_some(),
        "array" => value.as_list().is_some(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn type_words(wanted: &Value) -> String {
    let word = |name: &str| match name {
        "object" => "a map".to_owned(),
        "array" => "a list".to_owned(),
        "integer" => "an integer".to_owned(),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    };
    match wanted.as_list() {
        Some(types) => types.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or "),
        None => word(wanted.as_str().unwrap_or("value")),
    }
}
