//! Inputs declared by a template: a short list, or a JSON Schema.

use crate::bind::entries;
use crate::config::Document;
use crate::ground::Ground;
use crate::json;
use crate::project::{Project, force};
use crate::rules;
use ecow::EcoString;
use purlin_model::validate::{Fault, Problem, Validator};
use purlin_syntax::Message;
use purlin_syntax::what;
use purlin_syntax::{Diagnostic, Hint, Span, suggest};
use purlin_value::{Eval, Lazy, Map, MergeKeys, Thunk, Value, path, value_of};
use std::sync::Arc;

/// Declared inputs.
#[derive(Clone, Debug, Default)]
pub struct InputSchema {
    /// As a JSON Schema; `None` if all inputs are accepted.
    schema: Option<Value>,
    validator: Option<Arc<Validator>>,
    /// Whether it has defaults below the top, which are known only when all inputs are.
    nested: bool,
}

impl InputSchema {
    fn new(schema: Value) -> Result<Self, String> {
        let validator = Validator::new(schema.clone())?;
        let nested = has_nested_defaults(&schema);
        Ok(InputSchema { schema: Some(schema), validator: Some(Arc::new(validator)), nested })
    }

    /// Reads a template's declarations of inputs.
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
                ("additionalProperties".into(), Value::from(false)),
            ]);
            // Each input is declared by a schema of its own, which may be invalid.
            return InputSchema::new(Value::map(schema)).unwrap_or_else(|why| {
                ground.report(&rules::TEMPLATE, node.span(), format!("`inputs` cannot be used: {why}"));
                InputSchema::default()
            });
        }
        let Some(node) = document.field("inputsSchemaPath") else { return InputSchema::default() };
        let file = force(ground, &ground.env(project.full_scope()), &node);
        let Some(name) = file.as_str() else { return InputSchema::default() };
        let full = path::join(document.folder(), name);
        let read = ground.session.load_bytes(&full).map_err(|error| error.diagnostic(&full).message);
        let parsed = read.and_then(|bytes| json::read(&String::from_utf8_lossy(&bytes)));
        let sound = parsed.and_then(|schema| match schema.get("type").and_then(Value::as_str) {
            Some("object") => InputSchema::new(schema),
            _ => Err("the schema of inputs must be of `type: object`".to_owned()),
        });
        sound.unwrap_or_else(|why| {
            ground.report(&rules::TEMPLATE, node.span(), format!("`{name}` cannot be used for inputs: {why}"));
            InputSchema::default()
        })
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

    /// Inputs once everything is known, with the defaults of every depth.
    pub fn completed(&self, inputs: Value) -> Value {
        match &self.validator {
            Some(validator) if self.nested => Lazy::value(Completed { inputs, validator: validator.clone() }),
            _ => inputs,
        }
    }

    /// Checks resolved inputs; problems are reported at the keys and values, or at the use of the template.
    pub fn check(
        &self,
        ground: &Ground<'_>,
        inputs: &Value,
        use_span: Option<Span>,
        key_span: &dyn Fn(&str) -> Option<Span>,
    ) {
        let Some(validator) = &self.validator else { return };
        let problems = validator.check(inputs, &ground.session.meter).unwrap_or_else(|stopped| {
            ground.push(stopped.diagnostic(), use_span);
            Vec::new()
        });
        for problem in problems {
            for (message, hint, at) in worded(&problem) {
                let place = match at {
                    At::Use => None,
                    At::Value => ground.span_of(&problem.value),
                    At::Key(key, value) => key_span(&key).or_else(|| ground.span_of(&value)),
                };
                let place = place.or(use_span);
                ground.push(Diagnostic::nowhere(&rules::TEMPLATE_INPUTS, message).maybe_hint(hint), place);
            }
        }
    }
}

/// Whether a schema has defaults in properties of properties, in items or in definitions.
fn has_nested_defaults(schema: &Value) -> bool {
    let of_properties = |(key, value): (&EcoString, &Value)| match key.as_str() {
        "properties" => value.as_map().is_some_and(|map| map.values().any(|property| below(property, "default"))),
        _ => value.any(|value| value.get("default").is_some()),
    };
    schema.as_map().is_some_and(|map| map.iter().any(of_properties))
}

/// Whether a key lies somewhere below a mapping, but not directly in it.
fn below(value: &Value, key: &str) -> bool {
    value.as_map().is_some_and(|map| map.values().any(|item| item.any(|item| item.get(key).is_some())))
}

/// Inputs with the defaults of every depth.
struct Completed {
    inputs: Value,
    validator: Arc<Validator>,
}

impl Thunk for Completed {
    fn evaluate(&self, eval: &mut Eval<'_>) -> Value {
        let inputs = eval.force_deep(&self.inputs);
        let origins = &eval.session.origins;
        let origin = |at: &str| origins.fallback(ecow::eco_format!("default of input `{at}` of the template"), None);
        self.validator.with_defaults(&inputs, &origin, &eval.session.meter).unwrap_or_else(|stopped| {
            eval.session.sink.push(stopped.diagnostic());
            Value::poison()
        })
    }

    fn span(&self) -> Option<Span> {
        None
    }

    fn name(&self) -> String {
        "inputs".into()
    }
}

/// Location of a problem.
enum At {
    /// At the use of the template.
    Use,
    /// At the value.
    Value,
    /// At a key with its value.
    Key(String, Value),
}

fn is_missing(name: &str) -> Message {
    what::missing("input", name).words(format!("input `{name}` is missing"))
}

/// Problems in the words of templates: messages with hints and locations.
fn worded(problem: &Problem) -> Vec<(Message, Option<Hint>, At)> {
    let path = problem.path();
    let full = |key: &str| path.iter().map(String::as_str).chain([key]).collect::<Vec<_>>().join(".");
    let name = if path.is_empty() { "inputs".to_owned() } else { format!("input `{}`", path.join(".")) };
    let at_value = |message: Message| vec![(message, None, At::Value)];
    match &problem.fault {
        Fault::Missing(keys) => keys.iter().map(|key| (is_missing(&full(key)), None, At::Use)).collect(),
        Fault::Additional { keys, known } => {
            let one = |key: &EcoString| {
                let hint = suggest::did_you_mean(key, known.iter().map(EcoString::as_str));
                let value = problem.value.get(key).cloned().unwrap_or_default();
                (what::lacking("the template", "input", full(key)), hint, At::Key(full(key), value))
            };
            keys.iter().map(one).collect()
        }
        Fault::Type(wanted) => at_value(
            what::must_be(&name, type_words(wanted)).and(format!(", not {}", crate::expr::shown_type(&problem.value))),
        ),
        Fault::Enum(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{}`", crate::expr::text_of(word))).collect();
            at_value(format!("{name} must be one of {}", words.join(", ")).into())
        }
        Fault::Const(wanted) => at_value(what::must_be(name, format!("`{}`", crate::expr::text_of(wanted)))),
        Fault::Bound { rule, found, wanted } => {
            at_value(what::expected(wanted, found).under(format!("{name} does not fit `{rule}`: ")))
        }
        Fault::Pattern(pattern) => at_value(format!("{name} does not match the pattern `{pattern}`").into()),
        Fault::Format(format) => at_value(format!("{name} is not a valid `{format}`").into()),
        Fault::Dependent { key, because } => {
            let words = format!("input `{}` is required because `{}` is set", full(key), full(because));
            vec![(what::missing("input", full(key)).words(words), None, At::Use)]
        }
        Fault::Equal(first, second) => at_value(format!("items {first} and {second} of {name} are equal").into()),
        Fault::Contains => at_value(format!("no item of {name} fits `contains`").into()),
        Fault::AnyOf => at_value(format!("{name} fits none of `anyOf`{}", causes(problem)).into()),
        Fault::NoneOfOneOf => at_value(format!("{name} fits none of `oneOf`{}", causes(problem)).into()),
        Fault::SeveralOfOneOf(first, second) => {
            at_value(format!("{name} fits more than one of `oneOf`: numbers {first} and {second}").into())
        }
        Fault::Not => at_value(format!("{name} fits what `not` excludes").into()),
        Fault::Refused => at_value(format!("{name} is not allowed").into()),
        Fault::Schema(message) => at_value(message.clone().into()),
    }
}

/// Reasons why several schemas do not match.
fn causes(problem: &Problem) -> String {
    let causes = problem.causes.iter().flat_map(worded).map(|(message, ..)| message.to_string());
    let causes: Vec<String> = causes.collect();
    if causes.is_empty() { String::new() } else { format!(" ({})", causes.join("; ")) }
}

fn type_words(wanted: &[EcoString]) -> String {
    let word = |name: &EcoString| match name.as_str() {
        "object" => "a map".to_owned(),
        "array" => "a list".to_owned(),
        "integer" => "an integer".to_owned(),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    };
    wanted.iter().map(word).collect::<Vec<_>>().join(" or ")
}
