//! Writes YAML the way `yamlEncode` does: block style, single quotes where needed, long lines folded.

use crate::number;
use purlin_syntax::Flavor;
use purlin_syntax::scalar::{Scalar, resolve_plain};
use purlin_value::{Data, Value};

/// Lines longer than this are folded.
const LINE_WIDTH: usize = 80;

/// A value as a YAML document with a final line break.
pub fn encode(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, &mut out, true);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Values come out of evaluation, which bounds their depth.
fn write(value: &Value, level: usize, out: &mut String, compact: bool) {
    match &value.data {
        Data::List(list) if !list.is_empty() => {
            for (index, item) in list.iter().enumerate() {
                if index > 0 || !compact {
                    line(level, out);
                }
                out.push_str("- ");
                write(item, level + 1, out, true);
            }
        }
        Data::Map(map) if !map.is_empty() => {
            for (index, (key, item)) in map.iter().filter(|(_, v)| !v.is_absent()).enumerate() {
                if index > 0 || !compact {
                    line(level, out);
                }
                out.push_str(&text(key, level + 1, Position::Key));
                out.push(':');
                let nested = matches!(&item.data, Data::List(l) if !l.is_empty())
                    || matches!(&item.data, Data::Map(m) if !m.is_empty());
                if !nested {
                    out.push(' ');
                }
                write(item, level + 1, out, !nested);
            }
        }
        Data::List(_) => out.push_str("[]"),
        Data::Map(_) => out.push_str("{}"),
        Data::Str(content) => out.push_str(&text(content, level, Position::Value)),
        Data::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Data::Int(n) => out.push_str(&n.to_string()),
        Data::BigInt(digits) => out.push_str(digits),
        Data::Float(n) if n.is_nan() => out.push_str(".nan"),
        Data::Float(n) if n.is_infinite() => out.push_str(if *n > 0.0 { ".inf" } else { "-.inf" }),
        Data::Float(n) => out.push_str(&number::to_text(*n)),
        _ => out.push_str("null"),
    }
}

fn line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', level * 2));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Key,
    Value,
}

/// A string in the plainest style that reads back as the same string.
fn text(content: &str, level: usize, position: Position) -> String {
    if content.is_empty() {
        return "''".into();
    }
    if !content.chars().all(is_printable) {
        return double_quoted(content);
    }
    let indent = 2 * level.max(1);
    let width = LINE_WIDTH.saturating_sub(indent).max(LINE_WIDTH.min(40));
    let foldable = content.split('\n').any(|line| line.chars().count() > width && !line.starts_with(' '));
    if position == Position::Value && (content.contains('\n') || foldable) {
        return block(content, indent, if foldable { Some(width) } else { None });
    }
    if content.contains('\n') {
        return double_quoted(content);
    }
    if is_plain(content) { content.to_string() } else { format!("'{}'", content.replace('\'', "''")) }
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | '\t' | ' '..='~' | '\u{A1}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
        && !matches!(c, '\u{FEFF}' | '\u{2028}' | '\u{2029}')
}

fn is_plain(content: &str) -> bool {
    const OPENING: &str = "-?:,[]{}#&*!|=>'\"%@`<";
    let mut chars = content.chars();
    let first = chars.next().unwrap_or(' ');
    let second = chars.next();
    let may_lead =
        matches!(first, '-' | '?' | ':') && second.is_some_and(|c| !c.is_whitespace() && !",[]{}".contains(c));
    if first.is_whitespace() || content.ends_with([' ', '\t', ':']) || (OPENING.contains(first) && !may_lead) {
        return false;
    }
    if content.contains(": ")
        || content.contains(" #")
        || content.contains('\t')
        || content.contains([',', '[', ']', '{', '}'])
    {
        return false;
    }
    resolve_plain(content, Flavor::Core) == Scalar::Str && !looks_like_date(content)
}

/// Readers that know timestamps would not read it as text.
fn looks_like_date(content: &str) -> bool {
    let bytes = content.as_bytes();
    bytes.len() >= 8
        && bytes.get(..4).is_some_and(|y| y.iter().all(u8::is_ascii_digit))
        && bytes.get(4) == Some(&b'-')
        && bytes.get(5).is_some_and(u8::is_ascii_digit)
        && bytes.iter().all(|b| b.is_ascii_digit() || b"-:.TtZz +".contains(b))
}

fn block(content: &str, indent: usize, fold: Option<usize>) -> String {
    let hint = if content.starts_with([' ', '\n']) { indent.min(2).to_string() } else { String::new() };
    let chomp = match (content.ends_with("\n\n") || content == "\n", content.ends_with('\n')) {
        (true, _) => "+",
        (false, true) => "",
        (false, false) => "-",
    };
    let body = match fold {
        Some(width) => fold_lines(content, width),
        None => content.to_string(),
    };
    let pad = " ".repeat(indent);
    let lines =
        body.trim_end_matches('\n').split('\n').map(|l| if l.is_empty() { String::new() } else { format!("{pad}{l}") });
    let trailing = if chomp == "+" {
        "\n".repeat(content.len() - content.trim_end_matches('\n').len() - 1)
    } else {
        String::new()
    };
    let mark = if fold.is_some() { '>' } else { '|' };
    format!("{mark}{hint}{chomp}\n{}{trailing}", lines.collect::<Vec<_>>().join("\n"))
}

/// Breaks long lines at spaces; every break that was there is doubled, since single ones become spaces.
fn fold_lines(content: &str, width: usize) -> String {
    let mut out = String::new();
    for (index, line) in content.trim_end_matches('\n').split('\n').enumerate() {
        if index > 0 {
            out.push_str("\n\n");
        }
        out.push_str(&fold_line(line, width));
    }
    out
}

fn fold_line(line: &str, width: usize) -> String {
    if line.starts_with(' ') {
        return line.to_string();
    }
    let mut out = String::new();
    let mut length = 0;
    for (index, word) in line.split(' ').enumerate() {
        let size = word.chars().count();
        if index > 0 {
            let breaks = length + 1 + size > width && length > 0 && !word.is_empty();
            out.push(if breaks { '\n' } else { ' ' });
            length = if breaks { 0 } else { length + 1 };
        }
        out.push_str(word);
        length += size;
    }
    out
}

fn double_quoted(content: &str) -> String {
    let mut out = String::from("\"");
    for c in content.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => out.push_str(&format!("\\x{:02X}", c as u32)),
            c => out.push_str(&format!("\\u{:04X}", c as u32)),
        }
    }
    out.push('"');
    out
}
