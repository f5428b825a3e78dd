//! Loose conversions between numbers, strings and booleans, as in Sprig.

use crate::number::{parse_float, parse_int};
use crate::print::to_text;
use crate::value::{Data, Heap, Str, Val};

/// Any value as an integer: strings by their base prefix, anything else that is not a number as 0, including
/// durations.
pub(crate) fn to_int64(value: &Val) -> i64 {
    match &value.data {
        Data::Bool(truth) => i64::from(*truth),
        Data::Int(n) | Data::Int64(n) => *n,
        Data::Uint64(n) => *n as i64,
        Data::Uint8(n) => i64::from(*n),
        Data::Float(n) => float_to_int(*n),
        Data::Str(text) => parse_int(&trim_zero_decimal(&text.text())).unwrap_or(0),
        _ => 0,
    }
}

/// Go's conversion: truncates; out of range is the smallest integer on amd64.
pub(crate) fn float_to_int(n: f64) -> i64 {
    if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&n) {
        return i64::MIN;
    }
    n as i64
}

/// `12.0` counts as an integer, `12.7` does not.
fn trim_zero_decimal(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => whole.to_owned(),
        _ => text.to_owned(),
    }
}

/// Any value as a float.
pub(crate) fn to_float64(value: &Val) -> f64 {
    match &value.data {
        Data::Float(n) => *n,
        Data::Uint64(n) => *n as f64,
        Data::Str(text) => parse_float(&text.text()).unwrap_or(0.0),
        _ => to_int64(value) as f64,
    }
}

/// Any value as a string, as in `toString`.
pub fn to_string(heap: &Heap, value: &Val) -> Str {
    match &value.data {
        Data::Bytes(bytes) => bytes.clone(),
        _ => to_text(heap, value),
    }
}
