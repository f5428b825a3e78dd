//! Go's number notation: constants, integer parsing with base prefixes, and the shortest form of floats.

use crate::ast::{Number, Pos};
use purlin_syntax::write::go_yaml::{go_float, shortest_digits};

/// Reads a number constant as the parser does.
pub(crate) fn parse_constant(pos: Pos, source: &str, complex: bool) -> Result<Number, String> {
    let mut number = Number { pos, source: source.to_owned(), ..Number::default() };
    if complex {
        let split = source.rfind(['+', '-']).filter(|at| *at > 0).unwrap_or(0);
        let (real, imaginary) = source.split_at(split);
        let imaginary = imaginary.strip_suffix('i').and_then(parse_float);
        let (Some(real), Some(imaginary)) = (parse_float(real), imaginary) else {
            return Err(format!("bad number syntax: {}", crate::quote::quote(source.as_bytes())));
        };
        number.float = Some(real);
        number.imaginary = Some(imaginary);
        if imaginary == 0.0 {
            simplify(&mut number, real);
        }
        return Ok(number);
    }
    if let Some(imaginary) = source.strip_suffix('i')
        && let Some(value) = parse_float(imaginary)
    {
        number.imaginary = Some(value);
        number.float = Some(0.0);
        if value != 0.0 {
            return Ok(number);
        }
    }
    number.uint = parse_uint(source.strip_prefix('+').unwrap_or(source));
    number.int = parse_int(source);
    if number.int == Some(0) {
        number.uint = Some(0);
    }
    if let Some(int) = number.int {
        number.float = Some(int as f64);
    } else if let Some(uint) = number.uint {
        number.float = Some(uint as f64);
    } else if let Some(float) = parse_float(source) {
        // An integer out of range is an error, not a float.
        if !source.contains(['.', 'e', 'E', 'p', 'P']) {
            return Err(format!("integer overflow: {}", crate::quote::quote(source.as_bytes())));
        }
        number.float = Some(float);
        simplify(&mut number, float);
    }
    if number.int.is_none() && number.uint.is_none() && number.float.is_none() {
        return Err(format!("illegal number syntax: {}", crate::quote::quote(source.as_bytes())));
    }
    Ok(number)
}

/// A float without a fraction can be used as an integer, too.
fn simplify(number: &mut Number, float: f64) {
    if float as i64 as f64 == float && float.abs() < 9.3e18 {
        number.int = Some(float as i64);
    }
    if float >= 0.0 && float as u64 as f64 == float {
        number.uint = Some(float as u64);
    }
}

/// Removes `_` separators where Go allows them: only after a base prefix or between digits.
fn without_separators(digits: &str, prefixed: bool) -> Option<String> {
    if !digits.contains('_') {
        return Some(digits.to_owned());
    }
    let bytes = digits.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        if *byte == b'_' {
            let before = index > 0 && bytes.get(index - 1) != Some(&b'_');
            if !(before || index == 0 && prefixed) || matches!(bytes.get(index + 1), None | Some(b'_')) {
                return None;
            }
        }
    }
    Some(digits.replace('_', ""))
}

/// Reads an unsigned integer with Go's base prefixes (base 0).
pub(crate) fn parse_uint(source: &str) -> Option<u64> {
    let lower = source.to_ascii_lowercase();
    let (radix, digits, prefixed) = if let Some(digits) = lower.strip_prefix("0x") {
        (16, digits, true)
    } else if let Some(digits) = lower.strip_prefix("0b") {
        (2, digits, true)
    } else if let Some(digits) = lower.strip_prefix("0o") {
        (8, digits, true)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, lower.get(1..).unwrap_or_default(), true)
    } else {
        (10, lower.as_str(), false)
    };
    let digits = without_separators(digits, prefixed)?;
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    u64::from_str_radix(&digits, radix).ok()
}

/// Reads a signed integer with Go's base prefixes (base 0).
pub fn parse_int(source: &str) -> Option<i64> {
    if let Some(rest) = source.strip_prefix('-') {
        let value = parse_uint(rest)?;
        return if value <= 1 << 63 { Some((value as i64).wrapping_neg()) } else { None };
    }
    i64::try_from(parse_uint(source.strip_prefix('+').unwrap_or(source))?).ok()
}

/// Reads a float as Go does, including hexadecimal ones.
pub fn parse_float(source: &str) -> Option<f64> {
    let (sign, body) = match source.as_bytes().first()? {
        b'-' => (-1.0, source.get(1..)?),
        b'+' => (1.0, source.get(1..)?),
        _ => (1.0, source),
    };
    let lower = body.to_ascii_lowercase();
    if let Some(hex) = lower.strip_prefix("0x") {
        return parse_hex_float(hex).map(|value| sign * value);
    }
    match lower.as_str() {
        "inf" | "infinity" => return Some(sign * f64::INFINITY),
        "nan" => return Some(f64::NAN),
        _ => {}
    }
    if !lower.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-' | b'_')) {
        return None;
    }
    // Separators are only allowed in constants with a base prefix or between digits; Go's base-0 rule.
    let plain = if lower.contains('_') { without_separators(&lower, false)? } else { lower };
    if !plain.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let value: f64 = plain.parse().ok()?;
    value.is_finite().then_some(sign * value)
}

fn parse_hex_float(hex: &str) -> Option<f64> {
    let (mantissa, exponent) = hex.split_once('p')?;
    let mantissa = mantissa.replace('_', "");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
    let mut value = 0f64;
    for digit in whole.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let mut scale = 1.0 / 16.0;
    for digit in fraction.chars() {
        value += f64::from(digit.to_digit(16)?) * scale;
        scale /= 16.0;
    }
    Some(value * 2f64.powi(exponent.parse().ok()?))
}

/// The shortest digits of a finite float and its decimal exponent: `0.d1d2… × 10^exp`.
pub fn shortest(value: f64) -> (Vec<u8>, i32) {
    let (digits, power) = shortest_digits(value);
    (digits.into_bytes(), power + 1)
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// `d.ddde+XX`
pub(crate) fn exponent_form(digits: &[u8], exponent: i32, mark: char) -> String {
    let mut out = String::new();
    let mut rest = digits.iter();
    out.push(char::from(*rest.next().unwrap_or(&b'0')));
    if digits.len() > 1 {
        out.push('.');
        out.extend(rest.map(|d| char::from(*d)));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    out.push_str(&format!("{mark}{sign}{:02}", exponent.abs()));
    out
}

/// Digits with the decimal point at `point`.
pub(crate) fn plain_form(digits: &[u8], point: i32) -> String {
    let mut out = String::new();
    if point <= 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', point.unsigned_abs() as usize));
        out.extend(digits.iter().map(|d| char::from(*d)));
        if digits == b"0" {
            out.truncate(1);
        }
        return out;
    }
    for index in 0..point as usize {
        out.push(digits.get(index).map_or('0', |d| char::from(*d)));
    }
    if digits.len() as i32 > point {
        out.push('.');
        out.extend(digits.iter().skip(point as usize).map(|d| char::from(*d)));
    }
    out
}

/// How Go prints a float64 by default (`%v`, `print`, `quote`): the exponent form below 1e-4 and from 1e6 on.
pub fn print_float(value: f64) -> String {
    special(value).map_or_else(|| go_float(value), str::to_owned)
}
