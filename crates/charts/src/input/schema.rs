//! Violations of a chart's JSON Schema, in Helm's words.

use purlin_model::validate::{Fault, Problem, Validator, type_name};
use purlin_syntax::Hint;
use purlin_syntax::suggest::did_you_mean;
use purlin_value::emit::REDACTED;
use purlin_value::{Data, EcoString, Origin, Value};

/// Reads a schema, parts of which may be external; the error is the reason why it cannot be used.
pub fn parse(text: &[u8]) -> Result<Validator, String> {
    Validator::with_gaps(crate::json::parse(text, Origin::NONE)?)
}

/// The problem with its place, its causes indented below it.
pub fn report(problem: &Problem, indent: usize) -> String {
    let mut out = format!("{}- at '{}': {}", "  ".repeat(indent), problem.at, message(problem));
    for cause in &problem.causes {
        out.push('\n');
        out.push_str(&report(cause, indent + 1));
    }
    out
}

/// The order in which Helm's validator lists types.
const TYPES: &[&str] = &["null", "boolean", "number", "integer", "string", "array", "object"];

/// The problem.
pub fn message(problem: &Problem) -> String {
    match &problem.fault {
        Fault::Schema(message) => message.clone(),
        Fault::Refused => "false schema".to_owned(),
        Fault::Type(wanted) => {
            let mut wanted = wanted.clone();
            wanted.sort_by_key(|name| TYPES.iter().position(|known| *known == name.as_str()));
            format!("got {}, want {}", type_name(&problem.value), wanted.join(" or "))
        }
        Fault::Enum(allowed) => {
            let allowed: Vec<String> = allowed.iter().map(shown).collect();
            format!("value must be one of {}", allowed.join(", "))
        }
        Fault::Const(wanted) => format!("value must be {}", shown(wanted)),
        Fault::Bound { rule: "maxContains", .. } => "too many items match contains schema".to_owned(),
        Fault::Bound { rule, found, wanted } if rule.ends_with("Items") || rule.ends_with("Properties") => {
            format!("{rule}: got {found}, want {wanted}")
        }
        Fault::Bound { rule, found, wanted } => format!("{rule}: got {}, want {}", grouped(*found), grouped(*wanted)),
        Fault::Pattern(pattern) => format!("{} does not match pattern '{pattern}'", shown(&problem.value)),
        Fault::Format(format) => format!("{} is not valid {format}", shown(&problem.value)),
        Fault::Missing(keys) => match keys.as_slice() {
            [one] => format!("missing property '{one}'"),
            many => format!("missing properties {}", names(many)),
        },
        Fault::Additional { keys, .. } => format!("additional properties {} not allowed", names(keys)),
        Fault::Dependent { key, because } => format!("properties '{key}' required, if '{because}' exists"),
        Fault::Equal(first, second) => format!("items at {first} and {second} are equal"),
        Fault::Contains => "no items match contains schema".to_owned(),
        Fault::AnyOf => "anyOf failed".to_owned(),
        Fault::NoneOfOneOf => "oneOf failed, none matched".to_owned(),
        Fault::SeveralOfOneOf(first, second) => format!("oneOf failed, subschemas {first}, {second} matched"),
        Fault::Not => "not failed".to_owned(),
    }
}

/// The problem, in the words that all messages use.
pub fn message_for_people(problem: &Problem) -> String {
    match &problem.fault {
        Fault::Refused => "no value is allowed here".to_owned(),
        Fault::Type(wanted) => {
            let wanted: Vec<String> = wanted.iter().map(|name| noun(name)).collect();
            format!("expected {}, found {}", wanted.join(" or "), noun(type_name(&problem.value)))
        }
        Fault::Enum(allowed) => {
            let allowed: Vec<String> = allowed.iter().map(shown).collect();
            format!("expected one of {}, found {}", allowed.join(", "), shown(&problem.value))
        }
        Fault::Const(wanted) => format!("expected {}, found {}", shown(wanted), shown(&problem.value)),
        Fault::Missing(keys) => format!("missing {}", quoted(keys)),
        Fault::Additional { keys, .. } => format!("unknown {}", quoted(keys)),
        Fault::Dependent { key, because } => format!("`{because}` is set, so `{key}` is required"),
        Fault::Pattern(pattern) => format!("{} does not match the pattern `{pattern}`", shown(&problem.value)),
        Fault::Format(format) => format!("{} is not a valid {format}", shown(&problem.value)),
        Fault::Bound { rule, found, wanted } => bound(rule, grouped(*found), grouped(*wanted)),
        Fault::Equal(first, second) => format!("items {first} and {second} are equal"),
        Fault::Contains => "no item has the form that the schema wants one to have".to_owned(),
        Fault::AnyOf => "it fits none of the forms that the schema allows".to_owned(),
        Fault::NoneOfOneOf => "it fits none of the forms that the schema allows".to_owned(),
        Fault::SeveralOfOneOf(..) => "it fits several forms of which the schema allows one".to_owned(),
        Fault::Not => "it has a form that the schema forbids".to_owned(),
        _ => message(problem),
    }
}

/// A number or a count that is too large or too small.
fn bound(rule: &str, found: String, wanted: String) -> String {
    let (limit, unit) = match rule {
        "minimum" => ("at least", ""),
        "maximum" => ("at most", ""),
        "exclusiveMinimum" => ("more than", ""),
        "exclusiveMaximum" => ("less than", ""),
        "multipleOf" => ("a multiple of", ""),
        "minLength" => ("at least", " characters"),
        "maxLength" => ("at most", " characters"),
        "minItems" => ("at least", " items"),
        "maxItems" => ("at most", " items"),
        "minProperties" => ("at least", " keys"),
        "maxProperties" => ("at most", " keys"),
        "maxContains" => return "too many items have the form that the schema limits".to_owned(),
        _ => return format!("{rule}: expected {wanted}, found {found}"),
    };
    let one = |unit: &'static str| if wanted == "1" { unit.trim_end_matches('s') } else { unit };
    format!("expected {limit} {wanted}{}, found {found}", one(unit))
}

/// Advice.
pub fn hint(problem: &Problem) -> Hint {
    match &problem.fault {
        Fault::Missing(keys) => format!("add {} to the values", quoted(keys)).into(),
        Fault::Additional { keys, known } => {
            let near = keys.iter().find_map(|key| did_you_mean(key, known.iter().map(|name| name.as_str())));
            near.unwrap_or_else(|| "remove it; the schema does not allow further keys".into())
        }
        Fault::Type(wanted) if wanted.iter().any(|name| *name == "string") => "put it in quotes".into(),
        Fault::Type(wanted) => {
            format!("write {}", wanted.iter().map(|name| noun(name)).collect::<Vec<_>>().join(" or ")).into()
        }
        _ => "give a value that `values.schema.json` allows".into(),
    }
}

/// The value to point at: a key that is too much rather than the mapping it is in.
pub fn culprit(problem: &Problem) -> &Value {
    let key = match &problem.fault {
        Fault::Additional { keys, .. } => keys.first(),
        _ => None,
    };
    key.and_then(|key| problem.value.get(key)).unwrap_or(&problem.value)
}

fn quoted(keys: &[EcoString]) -> String {
    let word = if keys.len() == 1 { "key" } else { "keys" };
    format!("{word} {}", keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", "))
}

fn noun(name: &str) -> String {
    match name {
        "object" => "a mapping".to_owned(),
        "array" => "a list".to_owned(),
        "integer" => "an integer".to_owned(),
        "null" => "null".to_owned(),
        other => format!("a {other}"),
    }
}

/// A value as messages quote it.
fn shown(value: &Value) -> String {
    match &value.data {
        _ if value.is_tainted() => REDACTED.to_owned(),
        Data::Str(text) => format!("'{text}'"),
        Data::Null => "null".to_owned(),
        Data::Bool(truth) => truth.to_string(),
        Data::BigInt(digits) => digits.to_string(),
        _ => match value.as_number() {
            Some(number) => grouped(number),
            None => format!("a value of type {}", type_name(value)),
        },
    }
}

/// A number with thousands grouped, as the original's messages have it.
fn grouped(number: f64) -> String {
    if number.fract() != 0.0 || number.abs() >= 1e15 {
        return purlin_gotmpl::number::print_float(number);
    }
    let digits = format!("{:.0}", number.abs());
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if number < 0.0 { format!("-{out}") } else { out }
}

fn names(list: &[EcoString]) -> String {
    list.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}
