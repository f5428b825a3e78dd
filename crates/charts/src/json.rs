//! Reads JSON into values (numbers are floats), with Go's messages, and writes it.

use purlin_gotmpl::{Data as GoData, Heap, Val};
use purlin_syntax::write::{Emit, JsonWriter};
use purlin_value::{Data, EcoString, Map, Origin, Value};

/// Deepest nesting written.
const MAX_DEPTH: u32 = 300;

/// Reads one JSON value.
pub fn parse(text: &[u8], origin: Origin) -> Result<Value, String> {
    let mut heap = Heap::default();
    let value = purlin_gotmpl::json::parse(&mut heap, text)?;
    Ok(export(&heap, &value, origin))
}

/// Reads one JSON value at the start of a text; also gives how many bytes it took.
pub fn parse_prefix(text: &str, origin: Origin) -> Result<(Value, usize), String> {
    let mut heap = Heap::default();
    let (value, used) = purlin_gotmpl::json::parse_prefix(&mut heap, text.as_bytes())?;
    Ok((export(&heap, &value, origin), used))
}

/// Copies a value out of a heap that holds nothing but JSON. Its depth is bounded by the reader.
pub fn export(heap: &Heap, value: &Val, origin: Origin) -> Value {
    let data = match &value.data {
        GoData::Bool(truth) => Data::Bool(*truth),
        GoData::Float(number) => Data::Float(*number),
        GoData::Int(number) | GoData::Int64(number) => Data::Int(*number),
        GoData::Str(text) => Data::Str(EcoString::from(text.text().as_ref())),
        GoData::List(list) => {
            let items = heap.items(*list).iter().map(|item| export(heap, item, origin)).collect();
            return Value::list(items).with_origin(origin);
        }
        GoData::Map(map) => {
            let entries = heap.get_map(*map).entries.iter();
            let entries: Map =
                entries.map(|(key, item)| (EcoString::from(key.text().as_ref()), export(heap, item, origin))).collect();
            return Value::map(entries).with_origin(origin);
        }
        _ => Data::Null,
    };
    Value::new(data).with_origin(origin)
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
