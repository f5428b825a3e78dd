//! The `--set` family: `a.b[0]=c,d={x,y}` and its typing.
//!
//! Works on a map in place. Reads no files: `--set-file` gets its texts through a function.

use std::sync::Arc;

use purlin_value::{Data, EcoString, List, Map, Origin, Value};

/// Deepest name, `a.b.c…`.
const MAX_NAME_LEVEL: u32 = 30;

/// Greatest list index.
const MAX_INDEX: i64 = 65_536;

/// Deepest `[0][0]…`.
const MAX_LIST_LEVEL: u32 = 100;

/// Conversion of a value's text.
pub enum Typing<'f> {
    /// `--set`: booleans, null and integers are recognised.
    Typed,
    /// The same, for values that are secret.
    Secret,
    /// `--set-string`: always text.
    Text,
    /// `--set-json`: JSON values.
    Json,
    /// `--set-literal`: everything behind the first `=` as it is; a backslash is one.
    Literal,
    /// `--set-file`: the text of the file named.
    File(&'f dyn Fn(&str) -> Result<String, String>),
}

/// Applies a flag's text to a map. `origin` gets each key as it is written: an origin names that and not the value,
/// which may be secret.
pub fn parse_into(
    text: &str,
    map: &mut Map,
    typing: &Typing<'_>,
    origin: &dyn Fn(&str) -> Origin,
) -> Result<(), Refused> {
    let is_literal = matches!(typing, Typing::Literal);
    let mut parser = Parser { text: text.chars().collect(), at: 0, typing, is_literal, origin: Origin::NONE };
    loop {
        parser.origin = origin(&parser.written_key());
        match parser.key(map, 0) {
            Ok(()) if is_literal => return Ok(()),
            Ok(()) => {}
            Err(Stop::End) => return Ok(()),
            Err(Stop::Error(why)) => return Err(why),
        }
    }
}

/// A flag that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why, in Helm's words.
    pub helm_text: String,
    /// Why, in plain words.
    pub message: String,
}

impl From<String> for Refused {
    fn from(helm_text: String) -> Self {
        Refused { message: helm_text.clone(), helm_text }
    }
}

impl From<Refused> for String {
    fn from(why: Refused) -> Self {
        why.helm_text
    }
}

impl From<&str> for Refused {
    fn from(helm_text: &str) -> Self {
        helm_text.to_owned().into()
    }
}

enum Stop {
    End,
    Error(Refused),
}

/// A key, or a mapping, that ends before its value.
fn no_value<T>(what: &str, key: &str, behind: &str) -> Result<T, Stop> {
    let helm_text = format!("{what} {} has no value{behind}", quoted(key));
    let what = if what == "key" { String::new() } else { format!("{what} ") };
    Err(Stop::Error(Refused { helm_text, message: format!("{what}`{key}` has no value{behind}") }))
}

fn error<T>(message: impl Into<Refused>) -> Result<T, Stop> {
    Err(Stop::Error(message.into()))
}

fn quoted(text: &str) -> String {
    purlin_gotmpl::quote::quote(text.as_bytes())
}

/// Go's message when a value on the way is of another kind.
fn conversion<T>(value: &Value, wanted: &str) -> Result<T, Stop> {
    let is = match &value.data {
        Data::Null => "nil",
        Data::Bool(_) => "bool",
        Data::Int(_) => "int64",
        Data::Float(_) | Data::BigInt(_) => "float64",
        Data::List(_) => "[]interface {}",
        Data::Map(_) => "map[string]interface {}",
        _ => "string",
    };
    error(format!("unable to parse key: interface conversion: interface {{}} is {is}, not {wanted}"))
}

/// Puts a value under a key; an empty key is dropped.
fn set(map: &mut Map, key: &str, value: Value) {
    if !key.is_empty() {
        map.insert(EcoString::from(key), value);
    }
}

fn take_map(map: &mut Map, key: &str) -> Result<Map, Stop> {
    match map.get(key) {
        None => Ok(Map::new()),
        Some(value) => match &value.data {
            Data::Map(inner) => Ok(inner.as_ref().clone()),
            _ => conversion(value, "map[string]interface {}"),
        },
    }
}

fn take_list(map: &Map, key: &str) -> Result<Vec<Value>, Stop> {
    match map.get(key) {
        None => Ok(Vec::new()),
        Some(value) => match &value.data {
            Data::List(items) => Ok(items.to_vec()),
            _ => conversion(value, "[]interface {}"),
        },
    }
}

fn set_index(list: &mut Vec<Value>, index: i64, value: Value) -> Result<(), Stop> {
    if index > MAX_INDEX {
        return error(format!("index of {index} is greater than maximum supported index of {MAX_INDEX}"));
    }
    let index = index as usize;
    if list.len() <= index {
        list.resize(index + 1, Value::null());
    }
    if let Some(place) = list.get_mut(index) {
        *place = value;
    }
    Ok(())
}

fn list_value(items: Vec<Value>, origin: Origin) -> Value {
    Value::new(Data::List(Arc::new(List::from(items)))).with_origin(origin)
}

struct Parser<'p, 'f> {
    text: Vec<char>,
    at: usize,
    typing: &'p Typing<'f>,
    is_literal: bool,
    origin: Origin,
}

impl Parser<'_, '_> {
    /// The text before the next `=`, as written.
    fn written_key(&self) -> String {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut escaped = false;
        let is_key = |ch: &&char| {
            let ends = **ch == '=' && !escaped;
            escaped = **ch == '\\' && !escaped && !self.is_literal;
            !ends
        };
        rest.iter().take_while(is_key).collect()
    }

    /// Reads up to one of the marks; a backslash escapes the next character. `None` is the end.
    fn until(&mut self, marks: &[char]) -> (String, Option<char>) {
        let mut out = String::new();
        while let Some(ch) = self.text.get(self.at).copied() {
            self.at += 1;
            if marks.contains(&ch) {
                return (out, Some(ch));
            }
            if ch == '\\' && !self.is_literal {
                match self.text.get(self.at) {
                    Some(next) => out.push(*next),
                    None => return (out, None),
                }
                self.at += 1;
                continue;
            }
            out.push(ch);
        }
        (out, None)
    }

    fn key(&mut self, map: &mut Map, level: u32) -> Result<(), Stop> {
        let (key, mark) = self.until(if self.is_literal { &['=', '[', '.'] } else { &['=', '[', ',', '.'] });
        match mark {
            None if key.is_empty() => Err(Stop::End),
            None => no_value("key", &key, ""),
            Some('[') => {
                let index = self.index()?;
                let mut list = take_list(map, &key)?;
                let result = self.list_item(&mut list, index, level, 0);
                set(map, &key, list_value(list, self.origin));
                result
            }
            Some('=') => self.assign(map, &key),
            Some(',') => {
                set(map, &key, Value::str("").with_origin(self.origin));
                no_value("key", &key, " (cannot end with ,)")
            }
            Some(_) => {
                let level = level + 1;
                if level > MAX_NAME_LEVEL {
                    let message = "value name nested level is greater than maximum supported nested level of";
                    return error(format!("{message} {MAX_NAME_LEVEL}"));
                }
                let mut inner = take_map(map, &key)?;
                let result = self.key(&mut inner, level);
                if result.is_ok() && inner.is_empty() {
                    return no_value("key map", &key, "");
                }
                if !inner.is_empty() {
                    set(map, &key, Value::map(inner).with_origin(self.origin));
                }
                result
            }
        }
    }

    fn assign(&mut self, map: &mut Map, key: &str) -> Result<(), Stop> {
        let mut found = None;
        let result = self.value(&mut found);
        if let Some(value) = found {
            set(map, key, value.with_origin(self.origin));
        }
        result
    }

    /// Reads the value behind `=`.
    fn value(&mut self, found: &mut Option<Value>) -> Result<(), Stop> {
        if let Typing::Json = self.typing {
            *found = Some(self.json()?);
            return Ok(());
        }
        if self.is_literal {
            let (text, _) = self.until(&[]);
            *found = Some(Value::str(text).with_origin(self.origin));
            return Ok(());
        }
        match self.text.get(self.at) {
            None => {
                *found = Some(Value::str(""));
                Err(Stop::End)
            }
            Some('{') => {
                self.at += 1;
                let items = self.braces()?;
                *found = Some(list_value(items, self.origin));
                Ok(())
            }
            Some(_) => {
                let (text, _) = self.until(&[',']);
                *found = Some(self.typed(&text)?);
                Ok(())
            }
        }
    }

    fn braces(&mut self) -> Result<Vec<Value>, Stop> {
        let mut items = Vec::new();
        loop {
            let (text, mark) = self.until(&[',', '}']);
            match mark {
                None => return error("list must terminate with '}'"),
                Some('}') => {
                    if self.text.get(self.at) == Some(&',') {
                        self.at += 1;
                    }
                    items.push(self.typed(&text)?);
                    return Ok(items);
                }
                Some(_) => items.push(self.typed(&text)?),
            }
        }
    }

    fn typed(&self, text: &str) -> Result<Value, Stop> {
        let value = match self.typing {
            Typing::Typed => typed(text),
            Typing::Secret => typed(text).tainted_if(true),
            Typing::File(read) => match read(text) {
                Ok(content) => Value::str(content),
                Err(message) => return error(message),
            },
            _ => Value::str(text),
        };
        Ok(value.with_origin(self.origin))
    }

    /// Skips white space and a comma; true when there was no value.
    fn empty_value(&mut self) -> bool {
        while let Some(ch) = self.text.get(self.at) {
            if ch.is_whitespace() {
                self.at += 1;
            } else if *ch == ',' {
                self.at += 1;
                return true;
            } else {
                return false;
            }
        }
        true
    }

    fn json(&mut self) -> Result<Value, Stop> {
        if self.empty_value() {
            return Ok(Value::null());
        }
        let rest: String = self.text.get(self.at..).unwrap_or_default().iter().collect();
        let (value, used) =
            crate::json::parse_prefix(&rest, self.origin).map_err(|message| Stop::Error(message.into()))?;
        self.at += rest.get(..used).map_or(0, |part| part.chars().count());
        self.empty_value();
        Ok(value)
    }

    fn index(&mut self) -> Result<i64, Stop> {
        let (text, mark) = self.until(&[']']);
        if mark.is_none() {
            return Err(Stop::End);
        }
        text.parse().map_err(|_| {
            Stop::Error(format!("error parsing index: strconv.Atoi: parsing {}: invalid syntax", quoted(&text)).into())
        })
    }

    fn list_item(&mut self, list: &mut Vec<Value>, index: i64, level: u32, lists: u32) -> Result<(), Stop> {
        if index < 0 {
            return error(format!("negative {index} index not allowed"));
        }
        if lists > MAX_LIST_LEVEL {
            return error("lists are nested too deeply");
        }
        let (extra, mark) = self.until(&['[', '.', '=']);
        if !extra.is_empty() {
            return error(format!("unexpected data at end of array index: {}", quoted(&extra)));
        }
        let known = usize::try_from(index).ok().and_then(|index| list.get(index)).cloned();
        match mark {
            None => Err(Stop::End),
            Some('=') => {
                let mut found = None;
                match self.value(&mut found) {
                    Ok(()) | Err(Stop::End) => set_index(list, index, found.unwrap_or_default()),
                    Err(stop) => Err(stop),
                }
            }
            Some('[') => {
                let next = self.index()?;
                let mut inner = match known.map(|value| value.data) {
                    None | Some(Data::Null) => Vec::new(),
                    Some(Data::List(items)) => items.to_vec(),
                    Some(_) if self.is_literal => Vec::new(),
                    Some(data) => return conversion(&Value::new(data), "[]interface {}"),
                };
                self.list_item(&mut inner, next, level, lists + 1)?;
                set_index(list, index, list_value(inner, self.origin))
            }
            Some(_) => {
                let mut inner = match known.map(|value| value.data) {
                    Some(Data::Map(map)) => map.as_ref().clone(),
                    _ => Map::new(),
                };
                self.key(&mut inner, level)?;
                set_index(list, index, Value::map(inner).with_origin(self.origin))
            }
        }
    }
}

/// The typing of `--set`: `true`, `false`, `null` in any case, 0, and integers that do not start with 0.
fn typed(text: &str) -> Value {
    if text.eq_ignore_ascii_case("true") {
        return Value::new(Data::Bool(true));
    }
    if text.eq_ignore_ascii_case("false") {
        return Value::new(Data::Bool(false));
    }
    if text.eq_ignore_ascii_case("null") {
        return Value::null();
    }
    let number = text.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(text);
    match number.parse::<i64>() {
        Ok(number) if text == "0" || !text.starts_with('0') => Value::new(Data::Int(number)),
        _ => Value::str(text),
    }
}
