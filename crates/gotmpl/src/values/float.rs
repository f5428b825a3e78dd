//! Floats in Go's formats: `%e`, `%f`, `%g`, hexadecimal and binary mantissas, and the `#` flag.
//!
//! Knows numbers and texts only; padding and explicit signs are left to the printer.

use crate::number::{exponent_form, plain_form, print_float, shortest};

/// No float has more digits; the rest are zeros, and Rust formats no more than 65,535.
const MOST_DIGITS: usize = 1_100;

/// A float in one of Go's formats: sign only if negative.
pub fn format_float(number: f64, verb: char, precision: Option<usize>) -> String {
    if !number.is_finite() {
        return print_float(number);
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let size = number.abs();
    let text = match verb {
        'f' | 'F' => {
            let wanted = precision.unwrap_or(6);
            let exact = wanted.min(MOST_DIGITS);
            format!("{size:.exact$}{}", "0".repeat(wanted - exact))
        }
        'e' | 'E' => exponent(size, precision.unwrap_or(6), verb),
        'b' => binary(size),
        'x' | 'X' => hexadecimal(size, precision, verb == 'X'),
        _ => general(size, precision, verb),
    };
    format!("{sign}{text}")
}

fn exponent(size: f64, precision: usize, mark: char) -> String {
    let exact = precision.min(MOST_DIGITS);
    let text = format!("{size:.exact$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{mantissa}{}{mark}{}", "0".repeat(precision - exact), exponent_digits(exponent))
}

/// An exponent with its sign and at least two digits.
fn exponent_digits(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{:02}", exponent.unsigned_abs())
}

fn general(size: f64, precision: Option<usize>, verb: char) -> String {
    let (digits, point) = match precision {
        None => shortest(size),
        Some(precision) => rounded(size, precision.max(1)),
    };
    let limit = match precision {
        None => 6,
        Some(precision) => {
            let precision = precision.max(1) as i32;
            let count = digits.len() as i32;
            if precision > count && count >= point { count } else { precision }
        }
    };
    let exponent = point - 1;
    let mark = if verb == 'G' { 'E' } else { 'e' };
    if exponent < -4 || exponent >= limit { exponent_form(&digits, exponent, mark) } else { plain_form(&digits, point) }
}

/// Digits rounded to a count, without trailing zeros, and the position of the point.
fn rounded(size: f64, count: usize) -> (Vec<u8>, i32) {
    let text = format!("{size:.*e}", (count - 1).min(MOST_DIGITS));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    while digits.len() > 1 && digits.last() == Some(&b'0') {
        digits.pop();
    }
    (digits, exponent.parse::<i32>().unwrap_or(0) + 1)
}

/// The 53 bits of the mantissa, without the hidden one for very small numbers, and the power of two of the last.
fn mantissa(size: f64) -> (u64, i32) {
    let bits = size.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
}

fn binary(size: f64) -> String {
    let (mantissa, exponent) = mantissa(size);
    let sign = if exponent >= 0 { "+" } else { "" };
    format!("{mantissa}p{sign}{exponent}")
}

fn hexadecimal(size: f64, precision: Option<usize>, upper: bool) -> String {
    let (mut mantissa, mut exponent) = mantissa(size);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // One hexadecimal digit before the point, always 1.
        let shift = mantissa.leading_zeros().saturating_sub(11);
        mantissa <<= shift;
        exponent += 52 - shift as i32;
    }
    let mut digits = 13;
    if let Some(wanted) = precision.filter(|wanted| *wanted < 13) {
        let dropped = (13 - wanted) * 4;
        let half = 1_u64 << (dropped - 1);
        let rest = mantissa & ((1 << dropped) - 1);
        mantissa >>= dropped;
        if rest > half || rest == half && mantissa & 1 == 1 {
            mantissa += 1;
        }
        digits = wanted;
        if mantissa >> (digits * 4) == 2 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let lead = mantissa >> (digits * 4);
    let fraction = mantissa & ((1 << (digits * 4)) - 1);
    let mut tail = if digits == 0 { String::new() } else { format!("{fraction:0digits$x}") };
    match precision {
        None => tail.truncate(tail.trim_end_matches('0').len()),
        Some(wanted) => tail.extend(std::iter::repeat_n('0', wanted.saturating_sub(digits))),
    }
    let dot = if tail.is_empty() { "" } else { "." };
    let text = format!("0x{lead}{dot}{tail}p{}", exponent_digits(exponent));
    if upper { text.to_ascii_uppercase() } else { text }
}

/// The effect of the `#` flag on a number without sign: always a point, and `%g` keeps its trailing zeros.
pub fn with_point(text: &str, verb: char, precision: Option<usize>) -> String {
    if verb == 'b' {
        return text.to_owned();
    }
    let hex = matches!(verb, 'x' | 'X');
    let split = if hex { text.find(['p', 'P']) } else { text.find(['e', 'E']) };
    let (number, tail) = text.split_at(split.unwrap_or(text.len()));
    let mut missing = match verb {
        'v' | 'g' | 'G' | 'x' => precision.unwrap_or(6),
        _ => 0,
    } as i64;
    let mut significant = false;
    for digit in number.chars().filter(|c| *c != '.') {
        significant |= digit != '0';
        missing -= i64::from(significant);
    }
    let mut out = number.to_owned();
    if !number.contains('.') {
        missing -= i64::from(number == "0");
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', usize::try_from(missing).unwrap_or(0)));
    out.push_str(tail);
    out
}

#[cfg(test)]
mod tests {
    use super::{format_float, with_point};

    #[test]
    fn hexadecimal_and_binary() {
        let table = [
            (3.0, 'x', None, "0x1.8p+01"),
            (0.0, 'x', None, "0x0p+00"),
            (1e6, 'x', None, "0x1.e848p+19"),
            (1e-7, 'X', None, "0X1.AD7F29ABCAF48P-24"),
            (2.0, 'x', Some(2), "0x1.00p+01"),
            (1.999, 'x', Some(0), "0x1p+01"),
            (-3.0, 'b', None, "-6755399441055744p-51"),
            (1e21, 'b', None, "7629394531250000p+17"),
        ];
        for (number, verb, precision, expected) in table {
            assert_eq!(format_float(number, verb, precision), expected);
        }
    }

    #[test]
    fn sharp_keeps_zeros() {
        assert_eq!(with_point("0.125", 'G', None), "0.125000");
        assert_eq!(with_point("1E-07", 'G', None), "1.00000E-07");
        assert_eq!(with_point("1e+21", 'v', None), "1.00000e+21");
        assert_eq!(with_point("0", 'g', None), "0.00000");
        assert_eq!(with_point("3", 'f', Some(0)), "3.");
    }

    #[test]
    fn any_precision_is_printed() {
        for (verb, start, end) in [('f', "1.50", "00"), ('e', "1.50", "00e+00")] {
            let text = format_float(1.5, verb, Some(83_648));
            assert!(text.starts_with(start) && text.ends_with(end), "{verb}");
            assert!(text.len() >= 83_650);
        }
        assert_eq!(format_float(1.5, 'g', Some(83_648)), "1.5");
    }
}
