//! Drives a writer with a value of the heap, as Go's JSON encoder sees it: bytes in base64, times as strings, nil
//! slices as null.

use std::borrow::Cow;

use purlin_syntax::write::go_yaml::sort_keys;
use purlin_syntax::write::{Emit, GoStyle};

use crate::object::{Object, Struct};
use crate::value::{Data, Heap, MapType, Val};

/// Deepest nesting written.
const MAX_DEPTH: u32 = purlin_syntax::limits::COLLECTION_LEVELS;

/// The order of keys.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// By bytes, as in JSON.
    Bytes,
    /// Numbers inside keys by value, as in Go's YAML libraries.
    Natural(GoStyle),
}

/// Why a value cannot be written.
#[derive(Debug, Clone)]
pub enum EmitError {
    /// Nested too deeply, or cyclic.
    Cycle,
    /// Infinite, or not a number.
    Number(f64),
    /// A type without a JSON form.
    Type(&'static str),
}

impl EmitError {
    /// Go's message.
    pub fn message(&self) -> String {
        match self {
            Self::Cycle => "json: unsupported value: encountered a cycle".to_owned(),
            Self::Type(name) => format!("json: unsupported type: {name}"),
            Self::Number(number) => format!("json: unsupported value: {}", crate::number::print_float(*number)),
        }
    }
}

/// Called with the writer before and after each scalar and each empty collection, to note ranges.
pub type Watch<'w> = dyn FnMut(&Val, bool) + 'w;

/// Writes a value.
pub fn emit<E: Emit>(
    heap: &Heap,
    value: &Val,
    order: KeyOrder,
    out: &mut E,
    watch: &mut Watch<'_>,
) -> Result<(), EmitError> {
    Walk { heap, order, watch }.value(value, out, 0)
}

struct Walk<'a, 'w> {
    heap: &'a Heap,
    order: KeyOrder,
    watch: &'a mut Watch<'w>,
}

impl Walk<'_, '_> {
    fn value<E: Emit>(&mut self, value: &Val, out: &mut E, depth: u32) -> Result<(), EmitError> {
        if depth > MAX_DEPTH {
            return Err(EmitError::Cycle);
        }
        if out.stopped() {
            return Ok(());
        }
        match &value.data {
            Data::Bytes(bytes) if self.is_pretty() => {
                out.begin_list(bytes.bytes().len());
                bytes.bytes().iter().for_each(|byte| out.int(i64::from(*byte)));
                out.end_list();
            }
            Data::List(list) => {
                let body = self.heap.get_list(*list);
                if body.nil {
                    (self.watch)(value, false);
                    out.null();
                    (self.watch)(value, true);
                    return Ok(());
                }
                if body.items.is_empty() {
                    (self.watch)(value, false);
                }
                out.begin_list(body.items.len());
                for item in &body.items {
                    self.value(item, out, depth + 1)?;
                }
                out.end_list();
                if body.items.is_empty() {
                    (self.watch)(value, true);
                }
            }
            Data::Map(map) if map.kind == MapType::Nil => {
                (self.watch)(value, false);
                out.null();
                (self.watch)(value, true);
            }
            Data::Map(map) => {
                let body = self.heap.get_map(*map);
                let keys: Vec<(Cow<'_, str>, &Val)> =
                    body.entries.iter().map(|(key, item)| (key.text(), item)).collect();
                self.entries(value, keys, out, depth, true)?;
            }
            Data::Object(object) => self.object(value, object, out, depth)?,
            _ => {
                (self.watch)(value, false);
                self.scalar(value, out)?;
                (self.watch)(value, true);
            }
        }
        Ok(())
    }

    /// Whether Go values are written directly, without conversion to JSON.
    fn is_pretty(&self) -> bool {
        self.order == KeyOrder::Natural(GoStyle::Pretty)
    }

    fn entries<E: Emit>(
        &mut self,
        whole: &Val,
        mut entries: Vec<(Cow<'_, str>, &Val)>,
        out: &mut E,
        depth: u32,
        sorted: bool,
    ) -> Result<(), EmitError> {
        if let KeyOrder::Natural(style) = self.order
            && sorted
        {
            sort_keys(&mut entries, style, |entry: &(Cow<'_, str>, &Val)| entry.0.as_ref());
        }
        let is_empty = entries.is_empty();
        if is_empty {
            (self.watch)(whole, false);
        }
        out.begin_map(entries.len());
        for (key, item) in entries {
            out.key(&key);
            self.value(item, out, depth + 1)?;
        }
        out.end_map();
        if is_empty {
            (self.watch)(whole, true);
        }
        Ok(())
    }

    fn object<E: Emit>(&mut self, value: &Val, object: &Object, out: &mut E, depth: u32) -> Result<(), EmitError> {
        let text = match object {
            Object::Time(time) => time.format("2006-01-02T15:04:05.999999999Z07:00"),
            Object::Version(version) => version.to_string(),
            Object::Struct(known) => {
                let pretty = self.is_pretty();
                let name = |name: &'static str| match pretty {
                    true => Cow::Owned(name.to_lowercase()),
                    false => Cow::Borrowed(name),
                };
                if let Some(entries) = tagged(known).filter(|_| !pretty) {
                    return self.entries(value, entries, out, depth, true);
                }
                let entries = known.fields.iter().map(|(field, value)| (name(field), value)).collect();
                return self.entries(value, entries, out, depth, !pretty);
            }
        };
        (self.watch)(value, false);
        match object {
            Object::Time(_) if self.is_pretty() => out.number(&text),
            _ => out.string(&text),
        }
        (self.watch)(value, true);
        Ok(())
    }

    fn scalar<E: Emit>(&mut self, value: &Val, out: &mut E) -> Result<(), EmitError> {
        match &value.data {
            Data::Bool(truth) => out.bool(*truth),
            Data::Duration(n) if self.is_pretty() => out.string(&crate::time::format_duration(*n)),
            Data::Int(n) | Data::Int64(n) | Data::Duration(n) => out.int(*n),
            Data::Uint64(n) => out.number(&n.to_string()),
            Data::Uint8(n) => out.int(i64::from(*n)),
            Data::Float(n) if !n.is_finite() => return Err(EmitError::Number(*n)),
            Data::Float(n) => out.float(*n),
            Data::Str(text) => out.string(&text.text()),
            Data::Complex(_) => return Err(EmitError::Type("complex128")),
            Data::Bytes(bytes) => out.string(&purlin_value::encoding::base64(bytes.bytes())),
            _ => out.null(),
        }
        Ok(())
    }
}

/// The fields of the only struct whose fields have other names in JSON, and are omitted when empty.
fn tagged(known: &Struct) -> Option<Vec<(Cow<'_, str>, &Val)>> {
    if known.name != "version.BuildInfo" {
        return None;
    }
    let tag = |field: &str| match field {
        "Version" => "version",
        "GitCommit" => "git_commit",
        "GitTreeState" => "git_tree_state",
        "GoVersion" => "go_version",
        _ => "kube_client_version",
    };
    let is_said = |value: &Val| value.as_str().is_none_or(|text| !text.bytes().is_empty());
    let fields = known.fields.iter().map(|(field, value)| (tag(field), value));
    let said = fields.filter(|(tag, value)| *tag == "kube_client_version" || is_said(value));
    Some(said.map(|(tag, value)| (Cow::Borrowed(tag), value)).collect())
}
