//! Operators on values, as Python has them.

use crate::ast::Operator;
use crate::error::{Error, Kind};
use crate::error::{Result, limit, limit_of, value_error};
use crate::limits::{MAX_ITEMS, MAX_STRING};
use crate::python::{Number, number, type_name};
use crate::val::{Data, Val};
use ecow::EcoString;
use purlin_value::rules::{LIMIT_LIST, LIMIT_STRING};
use std::rc::Rc;

/// Why an integer is rejected that the original can represent.
pub const TOO_LARGE: &str = "a number is larger than 64 bits";

/// Applies an operator to evaluated values.
pub fn apply(operator: Operator, left: &Val, right: &Val) -> Result<Val> {
    let tainted = left.is_tainted() || right.is_tainted();
    compute(operator, left, right).map(|value| value.taint_if(tainted))
}

/// The number of items, or bytes of text, that an operator will make; zeros if it makes neither.
pub fn foreseen(operator: Operator, left: &Val, right: &Val) -> (usize, usize) {
    let times = count(left).or_else(|| count(right)).unwrap_or(0);
    match (operator, &left.data, &right.data) {
        (Operator::Add, Data::Str(a), Data::Str(b)) => (0, a.len() + b.len()),
        (Operator::Add, Data::List(a), Data::List(b)) => (a.len() + b.len(), 0),
        (Operator::Mul, Data::Str(text), _) | (Operator::Mul, _, Data::Str(text)) => {
            (0, text.len().saturating_mul(times))
        }
        (Operator::Mul, Data::List(items), _) | (Operator::Mul, _, Data::List(items)) => {
            (items.len().saturating_mul(times), 0)
        }
        _ => (0, 0),
    }
}

fn compute(operator: Operator, left: &Val, right: &Val) -> Result<Val> {
    if let (Some(a), Some(b)) = (number(left), number(right)) {
        return numbers(operator, a, b);
    }
    if let Some(result) = crate::moment::compute(operator, left, right) {
        return result;
    }
    let times = count(left).or_else(|| count(right));
    match (operator, &left.data, &right.data) {
        (Operator::Add, Data::Str(a), Data::Str(b)) => {
            if a.len() + b.len() > MAX_STRING {
                return too_long();
            }
            let mut text = EcoString::with_capacity(a.len() + b.len());
            text.push_str(a);
            text.push_str(b);
            Ok(Val::str(text))
        }
        (Operator::Add, Data::List(a), Data::List(b)) if a.tuple == b.tuple => {
            if a.len() + b.len() > MAX_ITEMS {
                return too_many();
            }
            Ok(Data::List(Rc::new(a.with(a.iter().chain(b.iter()).cloned().collect()))).into())
        }
        (Operator::Mul, Data::Str(text), _) | (Operator::Mul, _, Data::Str(text)) if times.is_some() => {
            let times = times.unwrap_or(0);
            if text.len().saturating_mul(times) > MAX_STRING {
                return too_long();
            }
            Ok(Val::str(text.as_str().repeat(times)))
        }
        (Operator::Mul, Data::List(items), _) | (Operator::Mul, _, Data::List(items)) if times.is_some() => {
            let times = times.unwrap_or(0);
            if items.len().saturating_mul(times) > MAX_ITEMS {
                return too_many();
            }
            let repeated = std::iter::repeat_n(items.iter().cloned(), times).flatten().collect();
            Ok(Data::List(Rc::new(items.with(repeated))).into())
        }
        (Operator::Mod, Data::Str(text), _) => crate::format::percent(text, right).map(Val::str),
        (Operator::Add, Data::Str(_), _) => {
            let text = format!("can only concatenate str (not \"{}\") to str", type_name(right));
            unfit(text, format!("`+` cannot be used with a string and {}", noun(type_name(right))))
        }
        _ => {
            let (symbol, left, right) = (symbol(operator), type_name(left), type_name(right));
            let text = format!("unsupported operand type(s) for {symbol}: '{left}' and '{right}'");
            unfit(text, format!("`{symbol}` cannot be used with {} and {}", noun(left), noun(right)))
        }
    }
}

/// The error of an operator on unsupported values, in Python's words and in plain ones.
fn unfit(text: String, plain: String) -> Result<Val> {
    let hint = "convert one side, for example with `| string` or `| int`";
    Err(Error::new(Kind::Type, text).plain(plain).hint(hint))
}

/// A type of Python in plain words.
fn noun(name: &str) -> &str {
    match name {
        "str" => "a string",
        "int" => "an integer",
        "float" => "a number",
        "bool" => "a boolean",
        "list" => "a list",
        "dict" => "a mapping",
        "NoneType" => "null",
        other => other,
    }
}

/// The number of repetitions: an integer; negative ones count as zero.
fn count(value: &Val) -> Option<usize> {
    match number(value) {
        Some(Number::Int(n)) => Some(usize::try_from(n).unwrap_or(0)),
        _ => None,
    }
}

/// An error for a string over the limit.
pub fn too_long<T>() -> Result<T> {
    limit_of(&LIMIT_STRING, format!("a string is longer than {MAX_STRING} bytes"))
}

/// An error for a list over the limit.
pub fn too_many<T>() -> Result<T> {
    limit_of(&LIMIT_LIST, format!("a list has more than {MAX_ITEMS} items"))
}

fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Add => "+",
        Operator::Sub => "-",
        Operator::Mul => "*",
        Operator::Div => "/",
        Operator::FloorDiv => "//",
        Operator::Mod => "%",
        Operator::Pow => "** or pow()",
    }
}

fn numbers(operator: Operator, a: Number, b: Number) -> Result<Val> {
    if let (Number::Int(a), Number::Int(b)) = (a, b)
        && let Some(result) = integers(operator, a, b)?
    {
        return Ok(result);
    }
    let (x, y) = (a.to_f64(), b.to_f64());
    if matches!(operator, Operator::Div | Operator::FloorDiv | Operator::Mod) && y == 0.0 {
        return value_error("division by zero");
    }
    Ok(Val::float(match operator {
        Operator::Add => x + y,
        Operator::Sub => x - y,
        Operator::Mul => x * y,
        Operator::Div => x / y,
        Operator::FloorDiv => (x / y).floor(),
        Operator::Mod => x - y * (x / y).floor(),
        Operator::Pow => x.powf(y),
    }))
}

/// The result if it is an integer; otherwise none.
fn integers(operator: Operator, a: i64, b: i64) -> Result<Option<Val>> {
    let zero = b == 0 && matches!(operator, Operator::Div | Operator::FloorDiv | Operator::Mod);
    if zero {
        return value_error("division by zero");
    }
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mul => a.checked_mul(b),
        Operator::Div => return Ok(None),
        Operator::FloorDiv => a.checked_div_euclid(b).map(|q| if b < 0 && a.rem_euclid(b) != 0 { q - 1 } else { q }),
        Operator::Mod => a.checked_rem(b).map(|r| if r != 0 && (r < 0) != (b < 0) { r + b } else { r }),
        Operator::Pow => {
            let Ok(exponent) = u32::try_from(b) else {
                return Ok(None);
            };
            a.checked_pow(exponent)
        }
    };
    match result {
        Some(n) => Ok(Some(Val::int(n))),
        None => limit(TOO_LARGE),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn int(operator: Operator, a: i64, b: i64) -> i64 {
        match apply(operator, &Val::int(a), &Val::int(b)).unwrap().data {
            Data::Int(n) => n,
            _ => i64::MIN,
        }
    }

    #[test]
    fn division_rounds_down() {
        for (a, b, quotient, rest) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (-6, 2, -3, 0)] {
            assert_eq!((int(Operator::FloorDiv, a, b), int(Operator::Mod, a, b)), (quotient, rest), "{a} {b}");
        }
        assert!(apply(Operator::Div, &Val::int(1), &Val::int(0)).is_err());
    }

    #[test]
    fn strings_have_a_limit() {
        let long = Val::str("x".repeat(1024));
        assert!(apply(Operator::Mul, &long, &Val::int(1_000_000_000)).is_err());
    }
}
