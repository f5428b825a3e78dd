//! Filters on numbers, sizes and times.

use super::{Renderer, Values, int_arg, text_arg, text_of};
use crate::arithmetic::TOO_LARGE;
use crate::error::{Result, limit, type_error, value_error};
use crate::moment;
use crate::python::{self, Number};
use crate::time;
use crate::val::{Data, Val};

type R<'a, 'c> = &'a mut Renderer<'c>;

fn number(input: &Val) -> Result<Number> {
    match python::number(input) {
        Some(number) => Ok(number),
        None => type_error(format!("this needs a number, not {}", input.kind())),
    }
}

pub fn abs(_: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(match number(&input)? {
        Number::Int(n) => Val::int(n.saturating_abs()),
        Number::Float(x) => Val::float(x.abs()),
    })
}

/// A number without its fraction. Infinity has no integer part; others may be too large.
pub fn cut_off(x: f64) -> Result<i64> {
    // The first of the two is a power of two, so it is exact; the second is the number behind the largest.
    const LEAST: f64 = i64::MIN as f64;
    const BEHIND: f64 = -LEAST;
    if x.is_infinite() {
        return value_error("infinity is not an integer");
    }
    let whole = x.trunc();
    if (LEAST..BEHIND).contains(&whole) { Ok(whole as i64) } else { limit(TOO_LARGE) }
}

pub fn int(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let input = render.whole(input)?;
    let base = int_arg(args, 1, "base")?.and_then(|base| u32::try_from(base).ok()).unwrap_or(10);
    let cut = |x: f64| if x.is_nan() { Ok(None) } else { cut_off(x).map(Some) };
    let found = match &input.data {
        Data::Str(text) if base != 10 && (2..=36).contains(&base) => {
            let digits = text.trim().to_ascii_lowercase();
            let digits = ["0x", "0o", "0b"].iter().find_map(|prefix| digits.strip_prefix(prefix)).unwrap_or(&digits);
            match i64::from_str_radix(digits, base) {
                Ok(n) => Some(n),
                Err(_) => python::parse_float(text).map_or(Ok(None), cut)?,
            }
        }
        Data::Str(text) => match python::parse_int(text) {
            Some(n) => Some(n),
            None => python::parse_float(text).map_or(Ok(None), cut)?,
        },
        _ => match python::number(&input) {
            Some(Number::Int(n)) => Some(n),
            Some(Number::Float(x)) => cut(x)?,
            None => None,
        },
    };
    match found {
        Some(n) => Ok(Val::int(n)),
        None => Ok(args.get(0, "default").cloned().unwrap_or_else(|| Val::int(0))),
    }
}

pub fn float(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let input = render.whole(input)?;
    let found = match &input.data {
        Data::Str(text) => python::parse_float(text),
        _ => python::number(&input).map(Number::to_f64),
    };
    match found {
        Some(x) => Ok(Val::float(x)),
        None => Ok(args.get(0, "default").cloned().unwrap_or_else(|| Val::float(0.0))),
    }
}

/// Halves go to the even neighbour, as Python rounds.
pub fn round_to(x: f64, digits: i64) -> f64 {
    let scale = 10f64.powi(i32::try_from(digits).unwrap_or(0));
    let scaled = x * scale;
    let down = scaled.floor();
    let rounded = match scaled - down {
        rest if (rest - 0.5).abs() < f64::EPSILON => {
            if down.rem_euclid(2.0) == 0.0 {
                down
            } else {
                down + 1.0
            }
        }
        rest if rest < 0.5 => down,
        _ => down + 1.0,
    };
    rounded / scale
}

pub fn round(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let number = number(&input)?;
    let x = number.to_f64();
    let method = args.get(1, "method").and_then(Val::as_str).unwrap_or("common");
    if let (Number::Int(n), "common") = (number, method) {
        return Ok(Val::int(n));
    }
    let digits = int_arg(args, 0, "precision")?.unwrap_or(0).clamp(-300, 300);
    let scale = 10f64.powi(i32::try_from(digits).unwrap_or(0));
    Ok(Val::float(match method {
        "common" => round_to(x, digits),
        "ceil" => (x * scale).ceil() / scale,
        "floor" => (x * scale).floor() / scale,
        other => return value_error(format!("`round` has no method `{other}`")),
    }))
}

pub fn log(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let x = number(&input)?.to_f64();
    if x <= 0.0 {
        return value_error("math domain error");
    }
    Ok(Val::float(match args.get(0, "base") {
        None => x.ln(),
        Some(base) => match number(base)?.to_f64() {
            10.0 => x.log10(),
            base => x.log(base),
        },
    }))
}

/// A result that is a number.
fn real(x: f64) -> Result<Val> {
    if x.is_nan() { value_error("math domain error") } else { Ok(Val::float(x)) }
}

pub fn pow(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(exponent) = args.get(0, "y") else {
        return type_error("`pow` needs an exponent");
    };
    real(number(&input)?.to_f64().powf(number(exponent)?.to_f64()))
}

pub fn root(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let x = number(&input)?.to_f64();
    let base = args.get(0, "base").map(number).transpose()?.map_or(2.0, Number::to_f64);
    real(if base == 2.0 { x.sqrt() } else { x.powf(1.0 / base) })
}

pub fn bool(_: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(match &input.data {
        Data::Null | Data::Bool(_) => input,
        Data::Str(text) => Val::bool(matches!(text.to_ascii_lowercase().as_str(), "yes" | "on" | "1" | "true")),
        Data::Int(n) => Val::bool(*n == 1),
        Data::Float(x) => Val::bool(*x == 1.0),
        _ => Val::bool(false),
    })
}

const UNITS: &[char] = &['Y', 'Z', 'E', 'P', 'T', 'G', 'M', 'K'];

/// A size: a number, or text that reads as one.
fn size_of(input: &Val) -> Result<f64> {
    match input.as_str().map(|text| (text, python::parse_float(text))) {
        Some((_, Some(size))) => Ok(size),
        Some((text, None)) => value_error(format!("`{text}` is not a size")),
        None => Ok(number(input)?.to_f64()),
    }
}

pub fn human_readable(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let bits = super::flag(args, 0, "isbits", false);
    let size = size_of(&input)?;
    let wanted = text_arg(render, args, 1, "unit")?.and_then(|unit| unit.chars().next());
    let base = if bits { "bits" } else { "Bytes" };
    let short = if bits { 'b' } else { 'B' };
    for (at, unit) in UNITS.iter().enumerate() {
        let scale = 2f64.powi(10 * i32::try_from(UNITS.len() - at).unwrap_or(0));
        let pick = match wanted {
            Some(wanted) => wanted.eq_ignore_ascii_case(unit),
            None => size >= scale,
        };
        if pick {
            return Ok(Val::str(format!("{:.2} {unit}{short}", size / scale)));
        }
    }
    Ok(Val::str(format!("{size:.2} {base}")))
}

pub fn human_to_bytes(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let default = text_arg(render, args, 0, "default_unit")?;
    let trimmed = text.trim();
    // A number ends at its second dot, and a unit at the first character that is not a letter; the rest is not read.
    let mut dots = 0;
    let of_number = |c: char| {
        dots += usize::from(c == '.');
        c.is_ascii_digit() || (c == '.' && dots == 1)
    };
    let end = trimmed.len() - trimmed.trim_start_matches(of_number).len();
    let digits = trimmed.get(..end).unwrap_or("");
    let Some(size) = python::parse_float(digits) else {
        return value_error(format!("`{trimmed}` is not a size"));
    };
    let unit = trimmed.get(end..).unwrap_or("").trim_start();
    let unit = unit.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
    let unit = if unit.is_empty() { default.as_deref().unwrap_or("B") } else { unit };
    let letter = unit.chars().next().unwrap_or('B').to_ascii_uppercase();
    let power = match UNITS.iter().position(|known| *known == letter) {
        Some(at) => UNITS.len() - at,
        None if letter == 'B' => 0,
        None => return value_error(format!("`{unit}` is not a unit of size")),
    };
    let is_bits = super::flag(args, 1, "isbits", false);
    let (end, word) = if is_bits { ('b', "bit") } else { ('B', "byte") };
    let is_whole = unit.len() < 2 || unit.chars().nth(1) == Some(end) || unit.to_ascii_lowercase().contains(word);
    if !is_whole {
        return value_error(format!("`{unit}` is not a unit of size: write `{letter}{end}` or `{letter}`"));
    }
    let bytes = size * 2f64.powi(10 * i32::try_from(power).unwrap_or(0));
    Ok(Val::int(round_to(bytes, 0) as i64))
}

pub fn filesizeformat(_: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let size = size_of(&input)?;
    let binary = super::flag(args, 0, "binary", false);
    let base = if binary { 1024.0 } else { 1000.0 };
    let units = if binary {
        ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"]
    } else {
        ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"]
    };
    if size == 1.0 {
        return Ok(Val::str("1 Byte"));
    }
    if size < base {
        return Ok(Val::str(format!("{} Bytes", size as i64)));
    }
    let mut unit = base;
    for (at, name) in units.iter().enumerate() {
        unit = base.powi(i32::try_from(at + 2).unwrap_or(2));
        if size < unit {
            return Ok(Val::str(format!("{:.1} {name}", base * size / unit)));
        }
    }
    Ok(Val::str(format!("{:.1} YB", base * size / unit)))
}

pub fn strftime(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let pattern = text_of(render, &input)?;
    let nanos = match args.get(0, "second").filter(|second| !second.is_null()) {
        Some(second) => match seconds(second) {
            Some(seconds) => (seconds * 1e9) as i128,
            None => return value_error(format!("Invalid value for epoch value ({})", text_of(render, second)?)),
        },
        None => render.ctx.evaluation.session.world.now().0,
    };
    Ok(Val::str(time::format(nanos, &pattern)))
}

/// Seconds since 1970, as a number or as its text.
fn seconds(value: &Val) -> Option<f64> {
    match &value.data {
        Data::Str(text) => python::parse_float(text),
        _ => python::number(value).map(Number::to_f64),
    }
}

pub fn to_datetime(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = text_of(render, &input)?;
    let pattern = text_arg(render, args, 0, "format")?.unwrap_or_else(|| "%Y-%m-%d %H:%M:%S".into());
    match time::parse(&text, &pattern) {
        Some(nanos) => moment::moment(nanos),
        None => value_error(format!("`{text}` does not match the format `{pattern}`")),
    }
}
