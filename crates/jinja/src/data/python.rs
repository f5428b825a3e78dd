//! How values behave where the language promises Python's behaviour: truth, equality, order, text forms, numbers.
//!
//! Pure functions on evaluated values; lazy collections are forced before they come here.

use crate::error::{Result, type_error};
use crate::instance::Instances;
use crate::val::{Data, Val};
use ecow::EcoString;
pub use purlin_value::python_text::{float_repr, quote};
use std::cmp::Ordering;
use std::fmt::Write;

/// An integer as Python's `int()` reads it: blanks around, a sign, underscores between digits.
pub fn parse_int(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let number = if digits.contains('_') { whole(&strip_underscores(digits)?) } else { whole(digits) }?;
    Some(if negative { -number } else { number })
}

/// A text of digits only, as a number.
fn whole(digits: &str) -> Option<i64> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// Digits without the single underscores Python allows between them.
pub fn strip_underscores(digits: &str) -> Option<String> {
    if digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return None;
    }
    Some(digits.replace('_', ""))
}

/// A number as Python's `float()` reads it.
pub fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    match lower.trim_start_matches(['+', '-']) {
        "inf" | "infinity" => return Some(if lower.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }),
        "nan" => return Some(f64::NAN),
        digits if digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {}
        _ => return None,
    }
    strip_underscores(text)?.parse().ok()
}

/// Whether a value counts as true.
pub fn truthy(value: &Val) -> bool {
    match &value.data {
        Data::Null | Data::Undefined(_) => false,
        Data::Bool(b) => *b,
        Data::Int(n) => *n != 0,
        Data::Float(x) => *x != 0.0,
        Data::Str(text) => !text.is_empty(),
        Data::Bytes(bytes) => !bytes.is_empty(),
        Data::List(items) => !items.is_empty(),
        Data::Map(entries) => !entries.is_empty(),
        Data::Lazy(lazy) => !lazy.is_empty(),
        Data::External(external) => truthy(&external.value),
        Data::Status(status) => *status as u8 != 0,
        _ => true,
    }
}

/// A value as a number, where booleans count as numbers.
pub fn number(value: &Val) -> Option<Number> {
    match &value.data {
        Data::Bool(b) => Some(Number::Int(i64::from(*b))),
        Data::Int(n) => Some(Number::Int(*n)),
        Data::Float(x) => Some(Number::Float(*x)),
        Data::Status(status) => Some(Number::Int(*status as i64)),
        Data::State(state) => Some(Number::Int(i64::from(state.0))),
        Data::Priority(priority) => Some(Number::Int(*priority as i64)),
        _ => None,
    }
}

/// A number of either kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Whole.
    Int(i64),
    /// With a fraction.
    Float(f64),
}

impl Number {
    /// As a fraction.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Float(x) => x,
        }
    }
}

/// Whether two evaluated values are equal: `1 == 1.0 == true`.
pub fn equal(left: &Val, right: &Val) -> bool {
    equal_at(left, right, 0)
}

fn equal_at(left: &Val, right: &Val, depth: usize) -> bool {
    if depth > crate::limits::MAX_DEPTH {
        return false;
    }
    if let (Some(a), Some(b)) = (number(left), number(right)) {
        return match (a, b) {
            (Number::Int(a), Number::Int(b)) => a == b,
            _ => a.to_f64() == b.to_f64(),
        };
    }
    match (&left.data, &right.data) {
        (Data::External(a), _) => equal_at(&a.value, right, depth + 1),
        (_, Data::External(b)) => equal_at(left, &b.value, depth + 1),
        (Data::Null, Data::Null) => true,
        (Data::Str(a), Data::Str(b)) => a == b,
        (Data::Bytes(a), Data::Bytes(b)) => a == b,
        (Data::List(a), Data::List(b)) => {
            a.tuple == b.tuple && a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| equal_at(x, y, depth + 1))
        }
        (Data::Map(a), Data::Map(b)) => {
            a.len() == b.len() && a.iter().all(|(key, x)| b.get(key).is_some_and(|y| equal_at(x, y, depth + 1)))
        }
        (Data::Node(a), Data::Node(b)) | (Data::Attributes(a), Data::Attributes(b)) => a == b,
        (Data::Undefined(_), Data::Undefined(_)) => true,
        _ => crate::moment::compare(left, right) == Some(Ordering::Equal),
    }
}

/// The order of two values; none if Python does not compare them.
pub fn compare(left: &Val, right: &Val) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (number(left), number(right)) {
        return match (a, b) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            _ => a.to_f64().partial_cmp(&b.to_f64()),
        };
    }
    match (&left.data, &right.data) {
        (Data::External(a), _) => compare(&a.value, right),
        (_, Data::External(b)) => compare(left, &b.value),
        (Data::Str(a), Data::Str(b)) => Some(a.cmp(b)),
        (Data::Bytes(a), Data::Bytes(b)) => Some(a.cmp(b)),
        (Data::List(a), Data::List(b)) => {
            for (x, y) in a.iter().zip(b.iter()) {
                match compare(x, y)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(a.len().cmp(&b.len()))
        }
        _ => crate::moment::compare(left, right),
    }
}

/// Items in the order of their keys; equal ones keep their order. Keys of kinds that Python does not compare are
/// rejected. Not the sort of the standard library: the order of Python is not total (a fraction can equal two
/// different integers, and NaN equals nothing), and that sort may panic on such an order.
pub fn sorted<T>(items: Vec<(Val, T)>, reverse: bool) -> Result<Vec<T>> {
    let mut runs: Vec<Vec<(Val, T)>> = items.into_iter().map(|item| vec![item]).collect();
    while runs.len() > 1 {
        let mut longer = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(left) = pairs.next() {
            longer.push(match pairs.next() {
                Some(right) => merged(left, right, reverse)?,
                None => left,
            });
        }
        runs = longer;
    }
    Ok(runs.pop().into_iter().flatten().map(|(_, item)| item).collect())
}

/// Two sorted runs as one; of equal items, those on the left come first.
fn merged<T>(left: Vec<(Val, T)>, right: Vec<(Val, T)>, reverse: bool) -> Result<Vec<(Val, T)>> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some((a, _)), Some((b, _))) = (left.peek(), right.peek()) {
        let order = order(a, b)?;
        let right_first = if reverse { order.is_lt() } else { order.is_gt() };
        out.extend(if right_first { right.next() } else { left.next() });
    }
    out.extend(left);
    out.extend(right);
    Ok(out)
}

/// The order of two sort keys. NaN is neither less nor greater, as in Python.
fn order(left: &Val, right: &Val) -> Result<Ordering> {
    if let Some(order) = compare(left, right) {
        return Ok(order);
    }
    let (mut left, mut right) = (left, right);
    while let (Data::List(a), Data::List(b)) = (&left.data, &right.data) {
        match a.iter().zip(b.iter()).find(|(x, y)| compare(x, y).is_none()) {
            Some((x, y)) => (left, right) = (x, y),
            None => break,
        }
    }
    if number(left).is_some() && number(right).is_some() {
        return Ok(Ordering::Equal);
    }
    // It asks whether the later one is less.
    let (later, earlier) = (type_name(right), type_name(left));
    type_error(format!("'<' not supported between instances of '{later}' and '{earlier}'"))
}

/// Python's name of a value's type, for messages to users of Python.
pub fn type_name(value: &Val) -> &'static str {
    match &value.data {
        Data::Null => "NoneType",
        Data::Bool(_) => "bool",
        Data::Int(_) => "int",
        Data::Float(_) => "float",
        Data::Str(_) => "str",
        Data::Bytes(_) => "bytes",
        Data::List(items) if items.tuple => "tuple",
        Data::List(_) => "list",
        Data::Lazy(lazy) if lazy.is_list() => "list",
        Data::External(external) => type_name(&external.value),
        Data::Undefined(_) => "Undefined",
        Data::Node(_) => "NodeInstance",
        Data::Object(object) => crate::moment::type_name(object).unwrap_or("function"),
        _ => "dict",
    }
}

/// `str(value)`.
pub fn to_text(value: &Val, instances: &dyn Instances) -> EcoString {
    match &value.data {
        Data::Str(text) => text.clone(),
        Data::External(external) => to_text(&external.value, instances),
        Data::Undefined(undefined) => undefined.text.clone(),
        _ => {
            let mut out = String::new();
            write_repr(value, instances, &mut out, 0);
            out.into()
        }
    }
}

/// `repr(value)`.
pub fn repr(value: &Val, instances: &dyn Instances) -> String {
    let mut out = String::new();
    write_repr(value, instances, &mut out, 0);
    out
}

fn write_repr(value: &Val, instances: &dyn Instances, out: &mut String, depth: usize) {
    if depth > crate::limits::MAX_DEPTH || out.len() > crate::limits::MAX_STRING {
        out.push_str("...");
        return;
    }
    match &value.data {
        Data::Null => out.push_str("None"),
        Data::Bool(b) => out.push_str(if *b { "True" } else { "False" }),
        Data::Int(n) => {
            let _ = write!(out, "{n}");
        }
        Data::Float(x) => out.push_str(&float_repr(*x)),
        Data::Str(text) => quote(text, out),
        Data::Bytes(bytes) => write_bytes(bytes, out),
        Data::List(items) => {
            out.push(if items.tuple { '(' } else { '[' });
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_repr(item, instances, out, depth + 1);
            }
            if items.tuple && items.len() == 1 {
                out.push(',');
            }
            out.push(if items.tuple { ')' } else { ']' });
        }
        Data::Map(entries) => {
            out.push('{');
            for (at, (key, item)) in entries.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_repr(&key.to_val(), instances, out, depth + 1);
                out.push_str(": ");
                write_repr(item, instances, out, depth + 1);
            }
            out.push('}');
        }
        Data::External(external) => write_repr(&external.value, instances, out, depth + 1),
        Data::Status(status) => {
            let _ = write!(out, "Status.{}", status.name());
        }
        Data::State(state) => {
            let _ = write!(out, "NodeState.{}", state.name());
        }
        Data::Priority(priority) => {
            let _ = write!(out, "Priority.{}", priority.name());
        }
        Data::Undefined(undefined) => out.push_str(&undefined.text),
        Data::Node(id) => out.push_str(&instances.repr(*id)),
        Data::Object(object) => match crate::moment::text(object) {
            Some(text) => out.push_str(&text),
            None => out.push_str("<a function>"),
        },
        _ => {
            let _ = write!(out, "<{}>", value.kind());
        }
    }
}

fn write_bytes(bytes: &[u8], out: &mut String) {
    out.push_str("b'");
    for b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'\'' => out.push_str("\\'"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x20..=0x7e => out.push(*b as char),
            _ => {
                let _ = write!(out, "\\x{b:02x}");
            }
        }
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_as_python_reads_them() {
        assert_eq!(parse_int(" 1_0 "), Some(10));
        assert_eq!(parse_int("+1"), Some(1));
        assert_eq!(parse_int("01"), Some(1));
        assert_eq!(parse_int("1.0"), None);
        assert_eq!(parse_int("_1"), None);
    }

    #[test]
    fn floats_as_python_prints_them() {
        assert_eq!(float_repr(1000.0), "1000.0");
        assert_eq!(float_repr(1e16), "1e+16");
        assert_eq!(float_repr(0.00001), "1e-05");
        assert_eq!(float_repr(1.5), "1.5");
    }

    #[test]
    fn text_forms() {
        let list = Val::list(vec![Val::int(1), Val::str("it's"), Val::null(), Val::bool(true)]);
        assert_eq!(repr(&list, &crate::instance::NoInstances), "[1, \"it's\", None, True]");
    }
}
