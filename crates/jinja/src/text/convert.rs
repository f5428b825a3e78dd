//! Between our values and others': configuration values, JSON text, YAML text.

use crate::error::{Error, Kind, Result, limit, value_error};
use crate::instance::Instances;
use crate::limits::{MAX_DEPTH, MAX_STRING};
use crate::python::float_repr;
use crate::val::{Data, MapKey, Val};
use purlin_syntax::json_text::{self, Build};
use purlin_syntax::{Flavor, Source};
use purlin_value::{Map, MergeKeys, Session, Value, value_of};
use std::collections::HashMap;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// A configuration value as an unevaluated [`Val`].
pub fn from_value(value: &Value) -> Val {
    from_value_at(value, 0)
}

fn from_value_at(value: &Value, depth: usize) -> Val {
    let data = match &value.data {
        _ if depth > 4 * MAX_DEPTH => Data::Null,
        purlin_value::Data::Null => Data::Null,
        purlin_value::Data::Poison => Data::Broken,
        purlin_value::Data::Bool(b) => Data::Bool(*b),
        purlin_value::Data::Int(n) => Data::Int(*n),
        purlin_value::Data::BigInt(text) => Data::Float(text.parse().unwrap_or(f64::INFINITY)),
        purlin_value::Data::Float(x) => Data::Float(*x),
        purlin_value::Data::Str(text) => Data::Str(text.clone()),
        purlin_value::Data::Bytes(bytes) => Data::Bytes(bytes.as_ref().into()),
        purlin_value::Data::List(items) => {
            Data::List(Rc::new(items.iter().map(|item| from_value_at(item, depth + 1)).collect()))
        }
        purlin_value::Data::Map(entries) => {
            let entries = entries.iter().map(|(key, item)| (MapKey::Str(key.clone()), from_value_at(item, depth + 1)));
            Data::Map(Rc::new(entries.collect()))
        }
        purlin_value::Data::Lazy(lazy) => return lazy.known().map_or_else(Val::null, |v| from_value_at(v, depth + 1)),
        purlin_value::Data::Pending(pending) => Data::Pending(Arc::clone(pending)),
    };
    Val::of(data, value.origin, value.taint())
}

/// An evaluated value as a configuration value. Instances become the query that finds them.
pub fn to_value(value: &Val, instances: &dyn Instances) -> Value {
    Converter { instances, shared: HashMap::default() }.value(value)
}

/// Shared parts are converted once and shared again.
struct Converter<'t> {
    instances: &'t dyn Instances,
    shared: HashMap<usize, purlin_value::Data, foldhash::fast::RandomState>,
}

impl Converter<'_> {
    fn collection(&mut self, value: &Val) -> purlin_value::Data {
        let address = value.shared_at();
        if let Some(known) = address.and_then(|address| self.shared.get(&address)) {
            return known.clone();
        }
        let data = match &value.data {
            Data::List(items) => {
                let items: Vec<Value> = items.iter().map(|item| self.value(item)).collect();
                purlin_value::Data::List(Arc::new(items.into()))
            }
            Data::Map(entries) => {
                let entries = entries.iter().map(|(key, item)| (key_text(key), self.value(item)));
                purlin_value::Data::Map(Arc::new(entries.collect::<Map>()))
            }
            _ => purlin_value::Data::Null,
        };
        if let Some(address) = address {
            self.shared.insert(address, data.clone());
        }
        data
    }

    fn value(&mut self, value: &Val) -> Value {
        let instances = self.instances;
        if value.is_tainted() && matches!(value.data, Data::Map(_)) {
            // The keys of a secret map may be secret too, so it is one secret, kept as its JSON text.
            let style = JsonStyle { indent: None, sorted: false, ascii: false };
            let text = to_json(value, instances, style).unwrap_or_default();
            return Value::str(text).with_origin(value.origin).tainted_if(true);
        }
        let data = match &value.data {
            Data::Null => purlin_value::Data::Null,
            Data::Bool(b) => purlin_value::Data::Bool(*b),
            Data::Int(n) => purlin_value::Data::Int(*n),
            Data::Float(x) => purlin_value::Data::Float(*x),
            Data::Str(text) => purlin_value::Data::Str(text.clone()),
            Data::Bytes(bytes) => purlin_value::Data::Bytes(Arc::from(bytes.as_ref())),
            Data::List(_) | Data::Map(_) => self.collection(value),
            Data::External(_) => return self.value(&value.clone().plain()),
            Data::Node(id) => {
                let entry = ("ref".into(), Value::str(instances.key(*id)));
                return Value::map(Map::from_iter([entry])).tainted_if(value.is_tainted());
            }
            Data::Pending(pending) => purlin_value::Data::Pending(Arc::clone(pending)),
            Data::Broken => purlin_value::Data::Poison,
            Data::Status(status) => purlin_value::Data::Str(status.name().into()),
            Data::State(state) => purlin_value::Data::Str(state.name().into()),
            Data::Priority(priority) => purlin_value::Data::Str(priority.name().into()),
            _ => purlin_value::Data::Str(crate::python::to_text(value, instances)),
        };
        Value::of(data, value.origin, value.taint_of())
    }
}

/// A key as text.
pub fn key_text(key: &MapKey) -> ecow::EcoString {
    match key {
        MapKey::Str(text) => text.clone(),
        MapKey::Int(n) => ecow::eco_format!("{n}"),
        MapKey::Bool(b) => ecow::eco_format!("{b}"),
        MapKey::Float(bits) => float_repr(f64::from_bits(*bits)).into(),
        MapKey::Null => "null".into(),
    }
}

/// How JSON is laid out.
#[derive(Clone, Copy, Debug)]
pub struct JsonStyle {
    /// Blanks per level; none for a single line.
    pub indent: Option<usize>,
    /// Whether keys are sorted.
    pub sorted: bool,
    /// Whether characters outside ASCII are escaped.
    pub ascii: bool,
}

/// An evaluated value as JSON text, as Python's `json.dumps` lays it out.
pub fn to_json(value: &Val, instances: &dyn Instances, style: JsonStyle) -> Result<String> {
    let mut writer = JsonText { out: String::new(), instances, style };
    writer.value(value, 0)?;
    Ok(writer.out)
}

struct JsonText<'t> {
    out: String,
    instances: &'t dyn Instances,
    style: JsonStyle,
}

impl JsonText<'_> {
    fn value(&mut self, value: &Val, depth: usize) -> Result<()> {
        if depth > 4 * MAX_DEPTH || self.out.len() > MAX_STRING {
            return limit("the value is too large to be written as JSON");
        }
        match &value.data {
            Data::Null | Data::Undefined(_) => self.out.push_str("null"),
            Data::Bool(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Data::Int(n) => {
                let _ = write!(self.out, "{n}");
            }
            Data::Float(x) if x.is_nan() => self.out.push_str("NaN"),
            Data::Float(x) if x.is_infinite() => self.out.push_str(if *x > 0.0 { "Infinity" } else { "-Infinity" }),
            Data::Float(x) => self.out.push_str(&float_repr(*x)),
            Data::List(items) => self.items('[', ']', items.iter().map(|item| (None, item)), depth)?,
            Data::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().map(|(key, item)| (Some(key_text(key)), item)).collect();
                if self.style.sorted {
                    entries.sort_by(|a, b| a.0.cmp(&b.0));
                }
                self.items('{', '}', entries.into_iter(), depth)?;
            }
            Data::External(external) => self.value(&external.value, depth)?,
            Data::Status(status) => {
                let _ = write!(self.out, "{}", *status as u8);
            }
            _ => {
                let text = crate::python::to_text(value, self.instances);
                self.string(&text);
            }
        }
        Ok(())
    }

    fn items<'v>(
        &mut self,
        open: char,
        close: char,
        items: impl Iterator<Item = (Option<ecow::EcoString>, &'v Val)>,
        depth: usize,
    ) -> Result<()> {
        self.out.push(open);
        let mut any = false;
        for (key, item) in items {
            if any {
                self.out.push_str(if self.style.indent.is_some() { "," } else { ", " });
            }
            any = true;
            self.new_line(depth + 1);
            if let Some(key) = key {
                self.string(&key);
                self.out.push_str(": ");
            }
            self.value(item, depth + 1)?;
        }
        if any {
            self.new_line(depth);
        }
        self.out.push(close);
        Ok(())
    }

    fn new_line(&mut self, depth: usize) {
        if let Some(indent) = self.style.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\u{8}' => self.out.push_str("\\b"),
                '\u{c}' => self.out.push_str("\\f"),
                c if (c as u32) < 0x20 || (self.style.ascii && !c.is_ascii()) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

/// Reads JSON text, as Python's `json.loads` does.
pub fn from_json(text: &str) -> Result<Val> {
    json_text::read(text.as_bytes(), 4 * MAX_DEPTH, &mut PythonJson).map_err(|problem| {
        let character = text.get(..problem.at).unwrap_or(text).chars().count() + 1;
        Error::new(Kind::Value, format!("this is not JSON (at character {character})"))
    })
}

/// Makes values as Python holds them.
struct PythonJson;

impl Build for PythonJson {
    type Value = Val;

    fn null(&mut self) -> Val {
        Val::null()
    }

    fn bool(&mut self, truth: bool) -> Val {
        Val::bool(truth)
    }

    fn number(&mut self, text: &str) -> Option<Val> {
        text.parse().map(Val::int).or_else(|_| text.parse().map(Val::float)).ok()
    }

    fn string(&mut self, text: String) -> Val {
        Val::str(text)
    }

    fn list(&mut self, items: Vec<Val>) -> Val {
        Val::list(items)
    }

    fn map(&mut self, entries: Vec<(String, Val)>) -> Val {
        Val::map(entries.into_iter().map(|(key, value)| (MapKey::Str(key.into()), value)).collect())
    }

    fn extra_word(&mut self, rest: &[u8]) -> Option<(Val, usize)> {
        let words = [("NaN", f64::NAN), ("Infinity", f64::INFINITY), ("-Infinity", f64::NEG_INFINITY)];
        let (word, number) = words.into_iter().find(|(word, _)| rest.starts_with(word.as_bytes()))?;
        Some((Val::float(number), word.len()))
    }
}

/// Reads the documents of YAML text.
pub fn from_yaml(session: &Session, text: &str, flavor: Flavor) -> Result<Vec<Val>> {
    let id = session.sources.reserve(0);
    let source = Arc::new(Source::new(id, "(text)", text));
    let tree = purlin_syntax::yaml::parse(source, flavor, &session.limits);
    if let Some(problem) = tree.diagnostics().iter().find(|diagnostic| diagnostic.is_error()) {
        return value_error(format!("this is not YAML: {}", problem.message));
    }
    Ok(tree.roots().map(|root| without_origins(from_value(&value_of(root, MergeKeys::Apply)))).collect())
}

/// Text that is not in a file has no nodes to point at.
fn without_origins(value: Val) -> Val {
    let taint = value.taint_of();
    let data = match value.data {
        Data::List(items) => Data::List(Rc::new(items.iter().cloned().map(without_origins).collect())),
        Data::Map(entries) => {
            Data::Map(Rc::new(entries.iter().map(|(k, v)| (k.clone(), without_origins(v.clone()))).collect()))
        }
        data => data,
    };
    Val::of(data, purlin_value::Origin::NONE, taint)
}
