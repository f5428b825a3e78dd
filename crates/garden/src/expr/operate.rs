//! Operators on values, with the semantics of JavaScript where the language requires it.
//!
//! Pure functions on forced values. Errors are sentences; the caller adds the location.

use super::ast::{BinaryOp, UnaryOp};
use crate::number;
use ecow::EcoString;
use purlin_value::{Data, Value};
use std::sync::Arc;

/// Empty text, 0, NaN, null and false are not true; every collection is.
pub fn is_truthy(value: &Value) -> bool {
    match &value.data {
        Data::Null => false,
        Data::Bool(b) => *b,
        Data::Int(n) => *n != 0,
        Data::Float(n) => *n != 0.0 && !n.is_nan(),
        Data::Str(text) => !text.is_empty(),
        _ => true,
    }
}

/// The text of a value inside a longer text.
pub fn text_of(value: &Value) -> EcoString {
    match &value.data {
        Data::Str(text) => text.clone(),
        _ => {
            let mut out = EcoString::new();
            push_text(value, &mut out, Nested::No);
            out
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nested {
    Yes,
    No,
}

/// Lists join their items with commas, recursively; values come out of evaluation, which bounds their depth.
fn push_text(value: &Value, out: &mut EcoString, nested: Nested) {
    match &value.data {
        Data::Null if nested == Nested::Yes || value.is_absent() => {}
        Data::Null => out.push_str("null"),
        Data::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Data::Int(n) => out.push_str(&number::to_text(*n as f64)),
        Data::BigInt(digits) => out.push_str(&digits.parse().map_or_else(|_| digits.clone(), number::to_text)),
        Data::Float(n) => out.push_str(&number::to_text(*n)),
        Data::Str(text) => out.push_str(text),
        Data::List(list) => {
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_text(item, out, Nested::Yes);
            }
        }
        Data::Map(_) => out.push_str("[object Object]"),
        _ => {}
    }
}

/// The result of `typeof`.
pub fn type_name(value: &Value) -> &'static str {
    match &value.data {
        _ if value.is_absent() => "undefined",
        Data::Bool(_) => "boolean",
        Data::Int(_) | Data::BigInt(_) | Data::Float(_) => "number",
        Data::Str(_) => "string",
        _ => "object",
    }
}

/// A value's type for messages, with an article.
pub fn shown_type(value: &Value) -> &'static str {
    match &value.data {
        _ if value.is_absent() => "nothing",
        Data::Null => "null",
        Data::Bool(_) => "a boolean",
        Data::Int(_) | Data::BigInt(_) | Data::Float(_) => "a number",
        Data::Str(_) => "a string",
        Data::List(_) => "a list",
        Data::Map(_) => "a map",
        _ => "something else",
    }
}

/// Applies a prefix operator.
pub(super) fn unary(op: UnaryOp, value: &Value) -> Result<Value, String> {
    Ok(match op {
        UnaryOp::Not => Value::from(!is_truthy(value)),
        UnaryOp::Typeof => Value::from(type_name(value)),
        UnaryOp::Negate => match value.as_number() {
            Some(n) => number::to_value(-n),
            None => return Err(format!("`-` needs a number, not {}", shown_type(value))),
        },
    })
}

/// Applies a binary operator to two values; `||` and `&&` are decided before.
pub(super) fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, String> {
    match op {
        BinaryOp::Equal => Ok(Value::from(same(a, b))),
        BinaryOp::NotEqual => Ok(Value::from(!same(a, b))),
        BinaryOp::Add => add(a, b),
        BinaryOp::Contains => contains(a, b),
        BinaryOp::Or | BinaryOp::And => Ok(b.clone()),
        _ => arithmetic(op, a, b),
    }
}

/// Identity: no conversion, collections only if they are the very same.
pub fn same(a: &Value, b: &Value) -> bool {
    match (&a.data, &b.data) {
        (Data::Null, Data::Null) => a.is_absent() == b.is_absent(),
        (Data::Bool(a), Data::Bool(b)) => a == b,
        // Long texts are mostly one text, found in two ways.
        (Data::Str(a), Data::Str(b)) => std::ptr::eq(a.as_str(), b.as_str()) || a == b,
        (Data::Int(a), Data::Int(b)) => a == b,
        (Data::List(a), Data::List(b)) => Arc::ptr_eq(a, b),
        (Data::Map(a), Data::Map(b)) => Arc::ptr_eq(a, b),
        _ => matches!((a.as_number(), b.as_number()), (Some(a), Some(b)) if a == b),
    }
}

fn add(a: &Value, b: &Value) -> Result<Value, String> {
    match (&a.data, &b.data) {
        (Data::List(a), Data::List(b)) => Ok(Value::list(a.iter().chain(b.iter()).cloned().collect())),
        // If the left side is a string, the right side is converted to one.
        (Data::Str(a), _) => Ok(Value::str(ecow::eco_format!("{a}{}", text_of(b)))),
        _ => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => Ok(number::to_value(a + b)),
            _ => Err(format!(
                "`+` joins two numbers, two strings or two lists, not {} and {}",
                shown_type(a),
                shown_type(b)
            )),
        },
    }
}

fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, String> {
    let (Some(a), Some(b)) = (left.as_number(), right.as_number()) else {
        let symbol = op.symbol();
        return Err(format!("`{symbol}` needs two numbers, not {} and {}", shown_type(left), shown_type(right)));
    };
    Ok(match op {
        BinaryOp::Subtract => number::to_value(a - b),
        BinaryOp::Multiply => number::to_value(a * b),
        BinaryOp::Divide => number::to_value(a / b),
        BinaryOp::Remainder => number::to_value(a % b),
        BinaryOp::AtMost => Value::from(a <= b),
        BinaryOp::AtLeast => Value::from(a >= b),
        BinaryOp::Less => Value::from(a < b),
        _ => Value::from(a > b),
    })
}

fn contains(a: &Value, b: &Value) -> Result<Value, String> {
    if b.is_collection() {
        return Err(format!(
            "the right side of `contains` must be a string, number, boolean or null, not {}",
            shown_type(b)
        ));
    }
    match &a.data {
        Data::List(list) => Ok(Value::from(list.iter().any(|item| same(item, b)))),
        Data::Map(map) => Ok(Value::from(map.contains_key(text_of(b).as_str()))),
        Data::Str(text) => Ok(Value::from(text.contains(text_of(b).as_str()))),
        _ => Err(format!("the left side of `contains` must be a string, list or map, not {}", shown_type(a))),
    }
}
