//! TOML, written as Go's usual library does (plain values first, tables after, nested keys indented) and read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::Object;
use crate::value::{Data, Heap, MapRef, Str, Val};

const MAX_DEPTH: usize = 100;

/// Writes a dictionary.
pub fn write(heap: &Heap, value: &Val) -> Result<String, String> {
    let Data::Map(map) = value.data else {
        return Err(match value.data {
            Data::Nil => "toml: cannot encode a nil value".to_owned(),
            // A list is written as it would be behind a key.
            Data::List(_) => return Writer { heap, out: String::new() }.inline(value),
            _ => "toml: top-level values must be Go maps or structs".to_owned(),
        });
    };
    let mut writer = Writer { heap, out: String::new() };
    writer.table(map, &mut Vec::new())?;
    Ok(writer.out)
}

struct Writer<'h> {
    heap: &'h Heap,
    out: String,
}

impl Writer<'_> {
    fn table(&mut self, map: MapRef, path: &mut Vec<String>) -> Result<(), String> {
        if path.len() > MAX_DEPTH {
            return Err("toml: nested too deeply".to_owned());
        }
        let entries: Vec<(String, Val)> =
            self.heap.get_map(map).entries.iter().map(|(k, v)| (k.text().into_owned(), v.clone())).collect();
        let indent = "  ".repeat(path.len());
        for (key, value) in &entries {
            if value.is_nil() || self.is_table(value) {
                continue;
            }
            let text = self.inline(value)?;
            self.out.push_str(&format!("{indent}{} = {text}\n", key_text(key)));
        }
        for (key, value) in &entries {
            path.push(key_text(key));
            let inner = "  ".repeat(path.len() - 1);
            match &value.data {
                Data::Map(map) => {
                    if path.len() == 1 && !self.out.is_empty() {
                        self.out.push('\n');
                    }
                    self.out.push_str(&format!("{inner}[{}]\n", path.join(".")));
                    self.table(*map, path)?;
                }
                Data::List(list) if self.is_table(value) => {
                    let items = self.heap.items(*list).to_vec();
                    for item in items {
                        if let Data::Map(map) = item.data {
                            if !self.out.is_empty() {
                                self.out.push('\n');
                            }
                            self.out.push_str(&format!("{inner}[[{}]]\n", path.join(".")));
                            self.table(map, path)?;
                        }
                    }
                }
                _ => {}
            }
            path.pop();
        }
        Ok(())
    }

    /// Whether a value is written as a table of its own.
    fn is_table(&self, value: &Val) -> bool {
        match &value.data {
            Data::Map(_) => true,
            Data::List(list) => {
                let items = self.heap.items(*list);
                !items.is_empty() && items.iter().all(|item| matches!(item.data, Data::Map(_)))
            }
            _ => false,
        }
    }

    fn inline(&self, value: &Val) -> Result<String, String> {
        Ok(match &value.data {
            Data::Bool(truth) => truth.to_string(),
            Data::Float(number) => float_text(*number),
            Data::Str(text) => string_text(&text.text()),
            Data::List(list) => {
                let mut items = Vec::new();
                for item in self.heap.items(*list) {
                    if item.is_nil() {
                        return Err("toml: cannot encode array with nil element".to_owned());
                    }
                    items.push(self.inline(item)?);
                }
                format!("[{}]", items.join(", "))
            }
            Data::Map(map) => {
                let mut items = Vec::new();
                for (key, item) in &self.heap.get_map(*map).entries {
                    items.push(format!("{} = {}", key_text(&key.text()), self.inline(item)?));
                }
                format!("{{{}}}", items.join(", "))
            }
            Data::Object(object) => match object.as_ref() {
                Object::Time(time) => time.format("2006-01-02T15:04:05.999999999Z07:00"),
                other => string_text(&other.text().unwrap_or_default()),
            },
            _ => String::from_utf8_lossy(&crate::print::sprint(self.heap, value)).into_owned(),
        })
    }
}

fn float_text(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let (digits, point) = crate::number::shortest(number);
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let exponent = point - 1;
    if number != 0.0 && !(-4..21).contains(&exponent) {
        let text = crate::number::exponent_form(&digits, exponent, 'e');
        let text = if text.contains('.') { text } else { text.replacen('e', ".0e", 1) };
        return format!("{sign}{text}");
    }
    let text = crate::number::plain_form(&digits, point);
    if text.contains('.') { format!("{sign}{text}") } else { format!("{sign}{text}.0") }
}

fn key_text(key: &str) -> String {
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { key.to_owned() } else { string_text(key) }
}

fn string_text(text: &str) -> String {
    let mut out = String::from("\"");
    for ch in text.chars() {
        match ch {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            _ if u32::from(ch) < 0x20 || ch == '\u{7f}' => out.push_str(&format!("\\u{:04x}", u32::from(ch))),
            _ => out.push(ch),
        }
    }
    out.push('"');
    out
}

/// Reads a document into a dictionary.
pub fn read(heap: &mut Heap, text: &str) -> Result<Val, String> {
    let mut reader = Reader { chars: text.chars().collect(), at: 0, line: 1 };
    let root = reader.document()?;
    Ok(to_value(heap, root))
}

/// A TOML value before it goes to the heap.
enum Item {
    Plain(Val),
    List(Vec<Item>),
    Table(BTreeMap<String, Item>),
}

fn to_value(heap: &mut Heap, item: Item) -> Val {
    match item {
        Item::Plain(value) => value,
        Item::List(items) => {
            let all_tables = !items.is_empty() && items.iter().all(|item| matches!(item, Item::Table(_)));
            let items = items.into_iter().map(|item| to_value(heap, item)).collect();
            let kind = if all_tables { crate::value::ListType::Maps } else { crate::value::ListType::Any };
            heap.list(kind, items)
        }
        Item::Table(entries) => {
            let entries = entries.into_iter().map(|(key, item)| (Str::from(key), to_value(heap, item))).collect();
            heap.any_map(entries)
        }
    }
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    line: u32,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn take(&mut self) -> Option<char> {
        let ch = self.peek()?;
        self.at += 1;
        if ch == '\n' {
            self.line += 1;
        }
        Some(ch)
    }

    fn fail<T>(&self, message: &str) -> Result<T, String> {
        Err(format!("toml: line {}: {message}", self.line))
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    /// Skips white space, line breaks and comments.
    fn space(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t' | '\r' | '\n') => drop(self.take()),
                Some('#') => {
                    while !matches!(self.peek(), None | Some('\n')) {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn document(&mut self) -> Result<Item, String> {
        let mut root = BTreeMap::new();
        let mut current: Vec<String> = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => return Ok(Item::Table(root)),
                Some('[') => {
                    self.at += 1;
                    let list = self.peek() == Some('[');
                    if list {
                        self.at += 1;
                    }
                    current = self.key_path()?;
                    for _ in 0..=usize::from(list) {
                        if self.take() != Some(']') {
                            return self.fail("expected ']' at the end of a table name");
                        }
                    }
                    self.open(&mut root, &current, list)?;
                }
                Some(_) => {
                    let path = self.key_path()?;
                    if self.take() != Some('=') {
                        return self.fail("expected '=' after a key");
                    }
                    self.blanks();
                    let item = self.value(0)?;
                    let line = self.line;
                    let Some(table) = descend(&mut root, &current, line)? else {
                        return self.fail("key is not a table");
                    };
                    insert(table, &path, item, line)?;
                    self.blanks();
                    if !matches!(self.peek(), None | Some('\n' | '\r' | '#')) {
                        return self.fail("expected the end of the line after a value");
                    }
                }
            }
        }
    }

    fn open(&self, root: &mut BTreeMap<String, Item>, path: &[String], list: bool) -> Result<(), String> {
        if path.len() > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        if !list {
            descend(root, path, self.line)?;
            return Ok(());
        }
        let Some((last, before)) = path.split_last() else { return self.fail("empty table name") };
        let Some(table) = descend(root, before, self.line)? else { return self.fail("key is not a table") };
        match table.entry(last.clone()).or_insert_with(|| Item::List(Vec::new())) {
            Item::List(items) => {
                items.push(Item::Table(BTreeMap::new()));
                Ok(())
            }
            _ => self.fail("key is defined twice"),
        }
    }

    fn key_path(&mut self) -> Result<Vec<String>, String> {
        let mut path = Vec::new();
        loop {
            self.blanks();
            let key = match self.peek() {
                Some('"') => self.string()?,
                Some('\'') => self.string()?,
                _ => {
                    let start = self.at;
                    while self.peek().is_some_and(|ch| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-') {
                        self.at += 1;
                    }
                    self.chars.get(start..self.at).unwrap_or_default().iter().collect()
                }
            };
            if key.is_empty() {
                return self.fail("expected a key");
            }
            path.push(key);
            self.blanks();
            if self.peek() != Some('.') {
                return Ok(path);
            }
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Item, String> {
        if depth > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        match self.peek() {
            Some('"' | '\'') => Ok(Item::Plain(Val::str(self.string()?))),
            Some('[') => self.list(depth),
            Some('{') => self.inline_table(depth),
            _ => self.bare(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Item, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.peek() == Some(']') {
                self.at += 1;
                return Ok(Item::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => {}
                _ => return self.fail("expected ',' or ']' in a list"),
            }
        }
    }

    fn inline_table(&mut self, depth: usize) -> Result<Item, String> {
        self.at += 1;
        let mut table = BTreeMap::new();
        loop {
            self.space();
            if self.peek() == Some('}') {
                self.at += 1;
                return Ok(Item::Table(table));
            }
            let path = self.key_path()?;
            if self.take() != Some('=') {
                return self.fail("expected '=' after a key");
            }
            self.space();
            let item = self.value(depth + 1)?;
            insert(&mut table, &path, item, self.line)?;
            self.space();
            match self.peek() {
                Some(',') => self.at += 1,
                Some('}') => {}
                _ => return self.fail("expected ',' or '}' in a table"),
            }
        }
    }

    fn bare(&mut self) -> Result<Item, String> {
        let start = self.at;
        while self.peek().is_some_and(|ch| !matches!(ch, ',' | ']' | '}' | '#' | '\n' | '\r')) {
            self.at += 1;
        }
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let text = text.trim();
        let plain = text.replace('_', "");
        let value = match text {
            "true" => Val::bool(true),
            "false" => Val::bool(false),
            "inf" | "+inf" => Val::float(f64::INFINITY),
            "-inf" => Val::float(f64::NEG_INFINITY),
            "nan" | "+nan" | "-nan" => Val::float(f64::NAN),
            _ => {
                if let Some(number) = integer(&plain) {
                    Val::new(Data::Int64(number))
                } else if let Some(time) = date(text) {
                    Val::new(Data::Object(Arc::new(Object::Time(time))))
                } else if let Ok(number) = plain.parse::<f64>() {
                    Val::float(number)
                } else {
                    return self.fail(&format!("expected value but found {text:?} instead"));
                }
            }
        };
        Ok(Item::Plain(value))
    }

    fn string(&mut self) -> Result<String, String> {
        let mark = self.take().unwrap_or('"');
        let triple = self.chars.get(self.at..self.at + 2).is_some_and(|next| next == [mark, mark]);
        if triple {
            self.at += 2;
            if self.peek() == Some('\r') {
                self.at += 1;
            }
            if self.peek() == Some('\n') {
                self.take();
            }
        }
        let mut out = String::new();
        loop {
            let Some(ch) = self.take() else { return self.fail("a string is not closed") };
            if ch == mark {
                if !triple {
                    return Ok(out);
                }
                if self.chars.get(self.at..self.at + 2).is_some_and(|next| next == [mark, mark]) {
                    self.at += 2;
                    return Ok(out);
                }
                out.push(ch);
            } else if ch == '\\' && mark == '"' {
                self.escape(&mut out, triple)?;
            } else if ch == '\n' && !triple {
                return self.fail("strings cannot contain newlines");
            } else {
                out.push(ch);
            }
        }
    }

    fn escape(&mut self, out: &mut String, triple: bool) -> Result<(), String> {
        let code = match self.take() {
            Some('b') => '\u{8}',
            Some('t') => '\t',
            Some('n') => '\n',
            Some('f') => '\u{c}',
            Some('r') => '\r',
            Some('e') => '\u{1b}',
            Some('"') => '"',
            Some('\\') => '\\',
            Some(mark @ ('u' | 'U')) => {
                let len = if mark == 'u' { 4 } else { 8 };
                let hex: String = self.chars.get(self.at..self.at + len).unwrap_or_default().iter().collect();
                self.at += len;
                match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
                    Some(ch) => ch,
                    None => return self.fail("bad unicode escape"),
                }
            }
            Some('\n' | ' ' | '\t' | '\r') if triple => {
                while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
                    self.take();
                }
                return Ok(());
            }
            _ => return self.fail("invalid escape character"),
        };
        out.push(code);
        Ok(())
    }
}

fn integer(text: &str) -> Option<i64> {
    let (radix, digits) = match text.get(..2) {
        Some("0x") => (16, text.get(2..)?),
        Some("0o") => (8, text.get(2..)?),
        Some("0b") => (2, text.get(2..)?),
        _ => (10, text.strip_prefix('+').unwrap_or(text)),
    };
    i64::from_str_radix(digits, radix).ok()
}

fn date(text: &str) -> Option<crate::time::Time> {
    if !text.as_bytes().first()?.is_ascii_digit() || !text.contains('-') && !text.contains(':') {
        return None;
    }
    let text = text.replacen(' ', "T", 1);
    const LAYOUTS: &[&str] = &["2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02", "15:04:05"];
    LAYOUTS.iter().find_map(|layout| crate::time::Time::parse(layout, &text).ok())
}

type Table = BTreeMap<String, Item>;

/// The table under a path, made where it is missing; `None` if something else is there.
fn descend<'t>(root: &'t mut Table, path: &[String], line: u32) -> Result<Option<&'t mut Table>, String> {
    let mut table = root;
    for key in path {
        let item = table.entry(key.clone()).or_insert_with(|| Item::Table(BTreeMap::new()));
        table = match item {
            Item::Table(inner) => inner,
            Item::List(items) => match items.last_mut() {
                Some(Item::Table(inner)) => inner,
                _ => return Ok(None),
            },
            Item::Plain(_) => return Err(format!("toml: line {line}: Key '{key}' has already been defined.")),
        };
    }
    Ok(Some(table))
}

fn insert(table: &mut Table, path: &[String], item: Item, line: u32) -> Result<(), String> {
    let Some((last, before)) = path.split_last() else { return Ok(()) };
    let Some(table) = descend(table, before, line)? else {
        return Err(format!("toml: line {line}: Key '{last}' has already been defined."));
    };
    if table.contains_key(last) {
        return Err(format!("toml: line {line}: Key '{last}' has already been defined."));
    }
    table.insert(last.clone(), item);
    Ok(())
}
