//! TOML, written like Go's usual library (plain values first, tables after, nested keys indented) and read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::object::Object;
use crate::value::{Data, Heap, MapRef, Str, Val};

const MAX_DEPTH: usize = 100;

/// Writes a dictionary.
pub fn write(heap: &Heap, value: &Val) -> Result<String, String> {
    let mut writer = Writer { heap, out: String::new() };
    let Data::Map(map) = value.data else {
        return match value.data {
            Data::Nil => Err("reflect: call of reflect.Value.Type on zero Value".to_owned()),
            _ if writer.is_table(value) => Err("toml: top-level values must be Go maps or structs".to_owned()),
            _ => writer.inline(value),
        };
    };
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
                let entries = &self.heap.get_map(*map).entries;
                let (tables, plain): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, item)| self.is_table(item));
                let last = entries.len().saturating_sub(1);
                let mut out = String::from("{");
                for (index, (key, item)) in plain.into_iter().chain(tables).enumerate() {
                    if item.is_nil() {
                        continue;
                    }
                    // The original writes the comma before it knows that nothing follows.
                    let comma = if index == last { "" } else { ", " };
                    out.push_str(&format!("{} = {}{comma}", key_text(&key.text()), self.inline(item)?));
                }
                out.push('}');
                out
            }
            Data::Object(object) => match object.as_ref() {
                Object::Time(time) => time.format("2006-01-02T15:04:05.999999999Z07:00"),
                other => string_text(&other.text().unwrap_or_default()),
            },
            Data::Bytes(bytes) => {
                let items: Vec<String> = bytes.bytes().iter().map(u8::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            Data::Duration(nanos) => string_text(&crate::time::format_duration(*nanos)),
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
    let text = crate::number::print_float(number);
    if text.contains(['.', 'e']) { text } else { format!("{text}.0") }
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
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        chars: text.chars().collect(),
        at: 0,
        line: 1,
        context: Vec::new(),
        keys: Vec::new(),
        tables: Vec::new(),
    };
    let root = reader.document()?;
    Ok(to_value(heap, root))
}

/// A TOML value before it goes to the heap.
enum Item {
    Plain(Val),
    List(Vec<Item>),
    /// A list from headings in double brackets.
    Tables(Vec<Item>),
    Table(BTreeMap<String, Item>),
}

fn to_value(heap: &mut Heap, item: Item) -> Val {
    match item {
        Item::Plain(value) => value,
        Item::List(items) => {
            let items = items.into_iter().map(|item| to_value(heap, item)).collect();
            heap.any_list(items)
        }
        Item::Tables(items) => {
            let items = items.into_iter().map(|item| to_value(heap, item)).collect();
            heap.list(crate::value::ListType::Maps, items)
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
    /// The table that keys currently go to.
    context: Vec<String>,
    /// The keys of the values being read, for messages.
    keys: Vec<String>,
    /// Tables that already have a heading.
    tables: Vec<Vec<String>>,
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
        Err(self.message(message))
    }

    /// A message with its line and, inside a value, the key.
    fn message(&self, message: &str) -> String {
        let path: Vec<String> = self.context.iter().chain(&self.keys).map(|key| key_text(key)).collect();
        if path.is_empty() {
            return format!("toml: line {}: {message}", self.line);
        }
        format!("toml: line {} (last key {:?}): {message}", self.line, path.join("."))
    }

    /// The next character as in messages.
    fn shown(&self) -> String {
        let ch = self.peek().unwrap_or('\0');
        crate::quote::quote_with(ch.encode_utf8(&mut [0; 4]).as_bytes(), '\'', false)
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
        if self.chars.contains(&'\0') {
            return self.fail("files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8");
        }
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
                    let path = self.table_path(list)?;
                    self.context = path.get(..path.len().saturating_sub(1)).unwrap_or_default().to_vec();
                    self.open(&mut root, &path, list)?;
                    self.context = path;
                    self.end_of_item()?;
                }
                Some(_) => {
                    let path = self.assigned_path()?;
                    self.blanks();
                    self.keys.extend(path.iter().cloned());
                    let item = self.value(0)?;
                    let Some(table) = descend(&mut root, &self.context).map_err(|key| self.defined(&key))? else {
                        return self.fail("key is not a table");
                    };
                    let whole = |key: String| {
                        let path: Vec<&str> = self.context.iter().map(String::as_str).chain([key.as_str()]).collect();
                        self.defined(&path.join("."))
                    };
                    insert(table, &path, item).map_err(whole)?;
                    self.keys.clear();
                    self.end_of_item()?;
                }
            }
        }
    }

    /// Accepts only a comment up to the end of the line.
    fn end_of_item(&mut self) -> Result<(), String> {
        self.blanks();
        if matches!(self.peek(), None | Some('\n' | '\r' | '#')) {
            return Ok(());
        }
        let got = self.shown();
        self.fail(&format!("expected a top-level item to end with a newline, comment, or EOF, but got {got} instead"))
    }

    /// A path of keys with its `=`.
    fn assigned_path(&mut self) -> Result<Vec<String>, String> {
        let mut path = Vec::new();
        loop {
            self.blanks();
            let (key, quoted) = self.key()?;
            self.blanks();
            match self.peek() {
                Some('=') if key.is_empty() && !quoted && path.is_empty() => {
                    return self.fail("unexpected '=': key name appears blank");
                }
                Some('=') if key.is_empty() && !quoted => return self.fail("unexpected '='"),
                Some('=') => {
                    self.at += 1;
                    path.push(key);
                    return Ok(path);
                }
                Some('.') if !key.is_empty() || quoted => {
                    self.at += 1;
                    path.push(key);
                }
                None => return self.fail("unexpected EOF; expected key separator '='"),
                Some(_) => {
                    let got = self.shown();
                    return self.fail(&format!("expected '.' or '=', but got {got} instead"));
                }
            }
        }
    }

    /// A path of keys with the `]` or `]]` that ends it.
    fn table_path(&mut self, list: bool) -> Result<Vec<String>, String> {
        let mut path = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                Some(']') => return self.fail("unexpected end of table name (table names cannot be empty)"),
                Some('.') => return self.fail("unexpected table separator (table names cannot be empty)"),
                _ => {}
            }
            path.push(self.key()?.0);
            self.blanks();
            let got = self.shown();
            match self.take() {
                Some('.') => continue,
                Some(']') => {}
                _ => {
                    return self.fail(&format!("expected '.' or ']' to end table name, but got {got} instead"));
                }
            }
            let got = self.shown();
            if list && self.peek() != Some(']') {
                self.line += u32::from(self.peek() == Some('\n'));
                let message = format!("expected end of table array name delimiter ']', but got {got} instead");
                return self.fail(&message);
            }
            self.at += usize::from(list);
            return Ok(path);
        }
    }

    /// A key, and whether it was quoted.
    fn key(&mut self) -> Result<(String, bool), String> {
        if let Some('"' | '\'') = self.peek() {
            return Ok((self.string()?, true));
        }
        let start = self.at;
        while self.peek().is_some_and(|ch| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-') {
            self.at += 1;
        }
        Ok((self.chars.get(start..self.at).unwrap_or_default().iter().collect(), false))
    }

    fn open(&mut self, root: &mut BTreeMap<String, Item>, path: &[String], list: bool) -> Result<(), String> {
        if path.len() > MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        if !list {
            return self.open_table(root, path);
        }
        let Some((last, before)) = path.split_last() else { return self.fail("empty table name") };
        self.tables.retain(|known| !known.starts_with(path));
        let Some(table) = descend(root, before).map_err(|key| self.defined(&key))? else {
            return self.fail("key is not a table");
        };
        match table.entry(last.clone()).or_insert_with(|| Item::Tables(Vec::new())) {
            Item::Tables(items) => {
                items.push(Item::Table(BTreeMap::new()));
                Ok(())
            }
            _ => self.fail(&format!("Key '{last}' was already created and cannot be used as an array.")),
        }
    }

    fn open_table(&mut self, root: &mut Table, path: &[String]) -> Result<(), String> {
        let list = matches!(item_at(root, path), Some(Item::Tables(_) | Item::List(_)));
        if list || self.tables.iter().any(|known| known == path) {
            return Err(self.defined(&path.join(".")));
        }
        self.tables.push(path.to_vec());
        descend(root, path).map_err(|key| self.defined(&key))?;
        Ok(())
    }

    fn defined(&self, key: &str) -> String {
        self.message(&format!("Key '{key}' has already been defined."))
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
            if self.peek() == Some(',') {
                return self.fail("unexpected comma");
            }
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => {}
                None => {
                    self.line = self.line.saturating_sub(u32::from(self.chars.last() == Some(&'\n')));
                    return self.fail("expected a comma (',') or array terminator (']'), but got end of file");
                }
                Some(_) => {
                    let got = self.shown();
                    return self.fail(&format!("expected a comma (',') or array terminator (']'), but got {got}"));
                }
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
            if self.peek() == Some(',') {
                return self.fail("unexpected comma");
            }
            let path = self.assigned_path()?;
            self.space();
            let outer = self.keys.len();
            self.keys.extend(path.iter().cloned());
            let item = self.value(depth + 1)?;
            insert(&mut table, &path, item).map_err(|key| self.defined(&key))?;
            self.space();
            let got = self.peek().map_or_else(|| "end of file".to_owned(), |_| self.shown());
            match self.peek() {
                Some(',') => self.at += 1,
                Some('}') => {}
                _ => {
                    return self
                        .fail(&format!("expected a comma or an inline table terminator '}}', but got {got} instead"));
                }
            }
            self.keys.truncate(outer);
        }
    }

    fn bare(&mut self) -> Result<Item, String> {
        let start = self.at;
        while let Some(ch) = self.peek() {
            let date_end = self.at == start + 10 && self.chars.get(start + 4) == Some(&'-');
            let time_follows = self.chars.get(self.at + 1).is_some_and(char::is_ascii_digit);
            let inside = ch == ' ' && date_end && time_follows;
            if !inside && matches!(ch, ',' | ']' | '}' | '#' | '\n' | '\r' | ' ' | '\t') {
                break;
            }
            self.at += 1;
        }
        let text: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let text = text.trim();
        self.check_bare(text)?;
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
                    return self.fail(&bad_value(text));
                }
            }
        };
        Ok(Item::Plain(value))
    }

    /// First check of a bare value.
    fn check_bare(&self, text: &str) -> Result<(), String> {
        let Some(first) = text.chars().next() else {
            return match self.peek() {
                None => self.fail("unexpected EOF; expected value"),
                Some(_) => self.fail(&format!("expected value but found {} instead", self.shown())),
            };
        };
        let digits = text.trim_start_matches(['+', '-']);
        let leading_zero = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        if leading_zero {
            return self.fail(&format!("Invalid integer {text:?}: cannot have leading zeroes"));
        }
        if digits.starts_with(|ch: char| ch.is_ascii_digit()) && text.ends_with('.') {
            return self.fail(&bad_value(text));
        }
        if first == '.' {
            return self.fail("floats must start with a digit, not '.'");
        }
        if digits.starts_with(|ch: char| ch.is_ascii_digit()) && text.contains("__") {
            return self.fail(&format!("Invalid integer {text:?}: underscores must be surrounded by digits"));
        }
        Ok(())
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
            let Some(ch) = self.take() else {
                let marks = mark.to_string().repeat(if triple { 3 } else { 1 });
                let wanted = if mark == '"' { format!("'{marks}'") } else { format!("\"{marks}\"") };
                return self.fail(&format!("unexpected EOF; expected {wanted}"));
            };
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
                self.line -= 1;
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
            Some('x') => {
                let hex: String = self.chars.get(self.at..self.at + 2).unwrap_or_default().iter().collect();
                self.at += 2;
                match u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
                    Some(ch) => ch,
                    None => return self.fail("bad unicode escape"),
                }
            }
            other => return self.fail(&format!("invalid escape in string '\\{}'", other.unwrap_or('\0'))),
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
    let text = text.replacen([' ', 't'], "T", 1).replace('z', "Z");
    /// Layouts, and the zone name of a time without one.
    const LAYOUTS: &[(&str, &str)] = &[
        ("2006-01-02T15:04:05Z07:00", ""),
        ("2006-01-02T15:04:05", "datetime-local"),
        ("2006-01-02", "date-local"),
        ("15:04:05", "time-local"),
        ("15:04", "time-local"),
    ];
    LAYOUTS.iter().find_map(|(layout, zone)| {
        let mut time = crate::time::Time::parse(layout, &text).ok()?;
        if !zone.is_empty() {
            time.zone = (*zone).to_owned();
        }
        Some(time)
    })
}

/// The error for a bare value of no known kind.
fn bad_value(text: &str) -> String {
    let first = text.chars().next().unwrap_or('\0');
    let signed = text.trim_start_matches(['+', '-']);
    let numeric = signed.starts_with(|ch: char| ch.is_ascii_digit());
    if first.is_ascii_digit() && (text.contains(':') || text.matches('-').count() > 1) {
        return format!("invalid datetime: {text:?}");
    }
    if numeric && text.ends_with('.') {
        return format!("Invalid float {text:?}: '.' must be followed by one or more digits");
    }
    if numeric && text.contains(['.', 'e', 'E']) {
        return format!("Invalid float value: {text:?}");
    }
    if numeric && signed.bytes().all(|b| b.is_ascii_digit()) {
        return format!("{text} is out of range for int64");
    }
    if first == '_' || first == ']' || first == '}' || first == '=' {
        return format!("expected value but found '{first}' instead");
    }
    format!("expected value but found {text:?} instead")
}

type Table = BTreeMap<String, Item>;

/// The table under a path, created if missing; `None` if there is a list without tables, the key as an error if there
/// is a plain value.
fn descend<'t>(root: &'t mut Table, path: &[String]) -> Result<Option<&'t mut Table>, String> {
    let mut table = root;
    for (index, key) in path.iter().enumerate() {
        let item = table.entry(key.clone()).or_insert_with(|| Item::Table(BTreeMap::new()));
        table = match item {
            Item::Table(inner) => inner,
            Item::Tables(items) | Item::List(items) => match items.last_mut() {
                Some(Item::Table(inner)) => inner,
                _ => return Ok(None),
            },
            Item::Plain(_) => return Err(path.get(..=index).unwrap_or_default().join(".")),
        };
    }
    Ok(Some(table))
}

/// The item under a path.
fn item_at<'t>(root: &'t Table, path: &[String]) -> Option<&'t Item> {
    let (last, before) = path.split_last()?;
    let mut table = root;
    for key in before {
        table = match table.get(key)? {
            Item::Table(inner) => inner,
            Item::Tables(items) => match items.last()? {
                Item::Table(inner) => inner,
                _ => return None,
            },
            _ => return None,
        };
    }
    table.get(last)
}

fn insert(table: &mut Table, path: &[String], item: Item) -> Result<(), String> {
    let Some((last, before)) = path.split_last() else { return Ok(()) };
    let Some(table) = descend(table, before)? else { return Err(last.clone()) };
    if table.contains_key(last) {
        return Err(path.join("."));
    }
    table.insert(last.clone(), item);
    Ok(())
}
