//! Reads JSON into values (numbers are floats), with Go's messages, and writes it.

use purlin_gotmpl::json::{MAX_DEPTH as MOST_LEVELS_READ, ends_early, message, number};
use purlin_syntax::json_text::{self, Build};
use purlin_syntax::write::{Emit, JsonWriter};
use purlin_value::{Data, EcoString, Map, Origin, Value};

/// Deepest nesting written.
const MAX_DEPTH: u32 = purlin_syntax::limits::SCHEMA_LEVELS;

/// Reads one JSON value.
pub fn parse(text: &[u8], origin: Origin) -> Result<Value, String> {
    json_text::read(text, MOST_LEVELS_READ, &mut At(origin)).map_err(|problem| message(text, problem))
}

/// Reads one JSON value at the start of a text as Go's decoder does; also gives how many bytes it took.
pub fn parse_prefix(text: &str, origin: Origin) -> Result<(Value, usize), String> {
    let text = text.as_bytes();
    json_text::read_prefix(text, MOST_LEVELS_READ, &mut At(origin)).map_err(|problem| {
        if ends_early(text, &problem) { "unexpected EOF".to_owned() } else { message(text, problem) }
    })
}

/// Makes values of this origin.
struct At(Origin);

impl Build for At {
    type Value = Value;

    fn null(&mut self) -> Value {
        Value::null().with_origin(self.0)
    }

    fn bool(&mut self, truth: bool) -> Value {
        Value::from(truth).with_origin(self.0)
    }

    fn number(&mut self, text: &str) -> Option<Value> {
        number(text).map(|number| Value::from(number).with_origin(self.0))
    }

    fn string(&mut self, text: String) -> Value {
        Value::str(text).with_origin(self.0)
    }

    fn list(&mut self, items: Vec<Value>) -> Value {
        Value::list(items).with_origin(self.0)
    }

    /// Go's maps have no order; sorted, equal texts give equal answers.
    fn map(&mut self, mut entries: Vec<(String, Value)>) -> Value {
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        let entries: Map = entries.into_iter().map(|(key, value)| (EcoString::from(key), value)).collect();
        Value::map(entries).with_origin(self.0)
    }
}

/// Writes a value with its keys sorted, as Go does.
pub fn write(value: &Value, out: &mut JsonWriter, depth: u32) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("the value is nested too deeply".to_owned());
    }
    match &value.data {
        Data::Bool(truth) => out.bool(*truth),
        Data::Int(number) => out.int(*number),
        Data::Float(number) => out.float(*number),
        Data::Str(text) => out.string(text),
        Data::List(items) => {
            out.begin_list(items.len());
            for item in items.iter() {
                write(item, out, depth + 1)?;
            }
            out.end_list();
        }
        Data::Map(map) => {
            let mut entries: Vec<(&EcoString, &Value)> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            out.begin_map(entries.len());
            for (key, item) in entries {
                out.key(key);
                write(item, out, depth + 1)?;
            }
            out.end_map();
        }
        _ => out.null(),
    }
    Ok(())
}
