//! Numbers as templates see them: doubles, written the way JavaScript writes them.

use ecow::{EcoString, eco_format};

/// The largest whole number that a double holds exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// An integer within the exact range of doubles, or `None`.
pub fn as_integer(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// The text of a number: `1` for 1.0, `1e+21` from there on, `NaN`, `Infinity`.
pub fn to_text(number: f64) -> EcoString {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    if let Some(integer) = as_integer(number) {
        return eco_format!("{integer}");
    }
    let magnitude = number.abs();
    if (1e-6..1e21).contains(&magnitude) {
        return eco_format!("{number}");
    }
    // Rust writes `1.5e21`, JavaScript `1.5e+21`.
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => eco_format!("{mantissa}e+{exponent}"),
        _ => text.into(),
    }
}

/// A number from text, by JavaScript's rules for `Number(text)`: surrounding space is ignored, hexadecimal is read.
pub(crate) fn from_text(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().map(|n| n as f64);
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if text.is_empty() || !plain {
        return None;
    }
    text.parse().ok()
}

/// A number as a value: whole numbers that a double holds exactly are integers.
pub fn to_value(number: f64) -> purlin_value::Value {
    // Minus zero stays a float; as an integer it would lose its sign.
    match as_integer(number).filter(|&n| n != 0 || number.is_sign_positive()) {
        Some(integer) => purlin_value::Value::from(integer),
        None => purlin_value::Value::from(number),
    }
}
