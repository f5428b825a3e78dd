//! Writes values event by event and without recursion.
//!
//! The only place where secrets are hidden: a tainted value is written as a fixed word unless the caller asks to
//! reveal it. An unknown value is written as pending.

use crate::value::{Data, Value};
use crate::weight::weight;
use ecow::EcoString;
use purlin_syntax::write::{Emit, JsonFlavor, JsonLayout, JsonWriter, WriteError, YamlWriter};

/// Whether secrets are hidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Secrets {
    /// A secret is written as [`REDACTED`].
    Hide,
    /// The user asked to see them.
    Reveal,
}

pub use purlin_syntax::diagnostic::REDACTED;

enum Step<'v> {
    Value(&'v Value),
    Key(&'v str),
    EndList,
    EndMap,
}

/// Writes a value with an emitter. Lazy parts that were never forced are written as pending.
pub fn emit(value: &Value, secrets: Secrets, out: &mut dyn Emit) {
    let mut stack = vec![Step::Value(value)];
    while let Some(step) = stack.pop() {
        if out.stopped() {
            return;
        }
        match step {
            Step::Key(key) => out.key(key),
            Step::EndList => out.end_list(),
            Step::EndMap => out.end_map(),
            Step::Value(value) => emit_one(value, secrets, out, &mut stack),
        }
    }
}

fn emit_one<'v>(value: &'v Value, secrets: Secrets, out: &mut dyn Emit, stack: &mut Vec<Step<'v>>) {
    // The keys of a secret mapping are as secret as its values.
    if value.is_tainted() && secrets == Secrets::Hide {
        return out.string(REDACTED);
    }
    match &value.data {
        Data::Null => out.null(),
        Data::Bool(value) => out.bool(*value),
        Data::Int(value) => out.int(*value),
        Data::BigInt(text) => out.number(text),
        Data::Float(value) => out.float(*value),
        Data::Str(text) => out.string(text),
        Data::Bytes(bytes) => out.string(&format!("({} bytes)", bytes.len())),
        Data::Pending(pending) => out.string(&pending_text(&pending.what)),
        Data::Poison => out.string("(invalid)"),
        Data::Lazy(lazy) => match lazy.known() {
            Some(known) => stack.push(Step::Value(known)),
            None => out.string("(not evaluated)"),
        },
        Data::List(list) => {
            out.begin_list(list.len());
            stack.push(Step::EndList);
            stack.extend(list.iter().rev().map(Step::Value));
        }
        Data::Map(map) => {
            out.begin_map(map.len());
            stack.push(Step::EndMap);
            for (key, item) in map.iter().rev() {
                stack.push(Step::Value(item));
                stack.push(Step::Key(key));
            }
        }
    }
}

/// Text shown for a value that is not known yet.
pub(crate) fn pending_text(what: &str) -> EcoString {
    ecow::eco_format!("(pending: {what})")
}

/// A value as YAML in our style.
pub fn to_yaml(value: &Value, secrets: Secrets) -> Result<String, WriteError> {
    yaml_within(value, secrets, u64::MAX)
}

/// A value as YAML in our style of at most `most` bytes; a larger one is rejected before it is written.
pub fn yaml_within(value: &Value, secrets: Secrets, most: u64) -> Result<String, WriteError> {
    let mut writer = YamlWriter::with_limit(room(value, most)?);
    emit(value, secrets, &mut writer);
    writer.finish()
}

/// A value as JSON of at most `most` bytes; a larger one is rejected before it is written.
pub fn json_within(value: &Value, secrets: Secrets, layout: JsonLayout, most: u64) -> Result<String, WriteError> {
    let mut writer = JsonWriter::with_limit(layout, JsonFlavor::Plain, room(value, most)?);
    emit(value, secrets, &mut writer);
    writer.finish()
}

/// The number of bytes that a writer may write.
fn room(value: &Value, most: u64) -> Result<usize, WriteError> {
    // Hidden values count as well; they are at most a fraction of the limit.
    if most < u64::MAX && weight(value) > most {
        return Err(WriteError::TooLong);
    }
    Ok(usize::try_from(most).unwrap_or(usize::MAX))
}

/// A value as JSON.
pub fn to_json(value: &Value, secrets: Secrets, layout: JsonLayout) -> Result<String, WriteError> {
    json_within(value, secrets, layout, u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Map;

    #[test]
    fn secrets_are_hidden_wherever_they_are() {
        let secret = Value::from("hunter2").tainted_if(true);
        let number = Value::from(42).tainted_if(true);
        let map = Map::from_iter([("a".into(), Value::list(vec![secret, number])), ("b".into(), Value::from("open"))]);
        let value = Value::map(map);
        assert_eq!(to_yaml(&value, Secrets::Hide).as_deref(), Ok("a:\n  - (secret)\n  - (secret)\nb: open\n"));
        assert_eq!(
            to_json(&value, Secrets::Reveal, JsonLayout::Compact).as_deref(),
            Ok(r#"{"a":["hunter2",42],"b":"open"}"#)
        );
        let whole = Value::map(Map::from_iter([("x".into(), Value::from(1))])).tainted_if(true);
        assert_eq!(to_json(&whole, Secrets::Hide, JsonLayout::Compact).as_deref(), Ok(r#""(secret)""#));
    }
}
