//! Python's `%` formatting and `str.format`.

use crate::arithmetic::too_long;
use crate::error::{Result, type_error, value_error};
use crate::filters::cut_off;
use crate::limits::MAX_STRING;
use crate::python::{self, Number};
use crate::val::{Data, Val};

/// How a value is laid out.
#[derive(Default, Clone)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    plus: bool,
    blank: bool,
    alternate: bool,
    comma: bool,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

/// `text % operand`: the operand is a tuple of values, a map by name, or one value.
pub fn percent(text: &str, operand: &Val) -> Result<String> {
    let mut out = String::new();
    let one = [operand.clone()];
    let values: &[Val] = match &operand.data {
        Data::List(items) if items.tuple => items,
        _ => &one,
    };
    let mut next = values.iter();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if out.len() > MAX_STRING {
            return too_long();
        }
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.peek() == Some(&'%') {
            chars.next();
            out.push('%');
            continue;
        }
        let mut named = None;
        if chars.peek() == Some(&'(') {
            chars.next();
            let name: String = chars.by_ref().take_while(|c| *c != ')').collect();
            named = Some(match operand.get(&name) {
                Some(value) => value.clone(),
                None => return value_error(format!("the format names `{name}`, which is not given")),
            });
        }
        let mut spec = Spec { align: Some('>'), ..Spec::default() };
        while let Some(flag) = chars.next_if(|c| "-+ 0#".contains(*c)) {
            match flag {
                '-' => spec.align = Some('<'),
                '+' => spec.plus = true,
                ' ' => spec.blank = true,
                '0' => spec.fill = Some('0'),
                _ => spec.alternate = true,
            }
        }
        let digits = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            let mut digits = String::new();
            while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            digits.parse::<usize>().ok()
        };
        spec.width = digits(&mut chars).unwrap_or(0);
        if chars.next_if_eq(&'.').is_some() {
            spec.precision = Some(digits(&mut chars).unwrap_or(0));
        }
        let Some(kind) = chars.next() else {
            return value_error("incomplete format");
        };
        spec.kind = kind;
        let value = match named.or_else(|| next.next().cloned()) {
            Some(value) => value,
            None => return type_error("not enough arguments for format string"),
        };
        out.push_str(&laid_out(&value, &spec)?);
    }
    // A collection may serve named fields only; any other operand must be used up.
    let collection = match &operand.data {
        Data::List(items) => !items.tuple,
        Data::Map(_) => true,
        _ => false,
    };
    if next.next().is_some() && !collection {
        return type_error("not all arguments converted during string formatting");
    }
    Ok(out)
}

/// `text.format(…)`
pub fn braces(text: &str, positional: &[Val], named: &[(ecow::EcoString, Val)]) -> Result<String> {
    let mut out = String::new();
    let mut auto = 0;
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(rest.get(..at).unwrap_or(""));
        let mark = rest.get(at..=at).unwrap_or("");
        rest = rest.get(at + 1..).unwrap_or("");
        if rest.starts_with(mark) {
            out.push_str(mark);
            rest = rest.get(1..).unwrap_or("");
            continue;
        }
        let Some((field, after)) = rest.split_once('}').filter(|_| mark == "{") else {
            return value_error("a brace of the format is not closed");
        };
        rest = after;
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        let (name, repr) = name.split_once('!').map_or((name, ""), |(name, repr)| (name, repr));
        // Only whole values: reaching into them is what sandboxes are escaped by.
        let value = if name.is_empty() {
            auto += 1;
            positional.get(auto - 1)
        } else if let Ok(index) = name.parse::<usize>() {
            positional.get(index)
        } else {
            named.iter().find(|(key, _)| key == name).map(|(_, value)| value)
        };
        let Some(value) = value else {
            return value_error(format!("the format names `{name}`, which is not given"));
        };
        let mut spec = read_spec(spec)?;
        if repr == "r" {
            spec.kind = 'r';
        }
        out.push_str(&laid_out(value, &spec)?);
        if out.len() > MAX_STRING {
            return too_long();
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn read_spec(text: &str) -> Result<Spec> {
    let mut spec = Spec::default();
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    if chars.get(1).is_some_and(|c| "<>^=".contains(*c)) {
        spec.fill = chars.first().copied();
        spec.align = chars.get(1).copied();
        at = 2;
    } else if let Some(align) = chars.first().filter(|c| "<>^=".contains(**c)) {
        spec.align = Some(*align);
        at = 1;
    }
    let mut digits = String::new();
    let mut precision = None;
    for c in chars.iter().skip(at) {
        match c {
            '+' => spec.plus = true,
            ' ' => spec.blank = true,
            '#' => spec.alternate = true,
            ',' => spec.comma = true,
            '0' if digits.is_empty() && precision.is_none() => spec.fill = spec.fill.or(Some('0')),
            '.' => precision = Some(String::new()),
            c if c.is_ascii_digit() => match &mut precision {
                Some(precision) => precision.push(*c),
                None => digits.push(*c),
            },
            c => spec.kind = *c,
        }
    }
    spec.width = digits.parse().unwrap_or(0);
    spec.precision = precision.and_then(|digits| digits.parse().ok());
    Ok(spec)
}

fn plain_text(value: &Val) -> String {
    // Formats see evaluated values; instances do not get here.
    match &value.data {
        Data::Str(text) => text.to_string(),
        Data::Undefined(undefined) => undefined.text.to_string(),
        _ => {
            let nobody = crate::instance::NoInstances;
            python::to_text(value, &nobody).to_string()
        }
    }
}

fn laid_out(value: &Val, spec: &Spec) -> Result<String> {
    let number = python::number(value);
    let integer = || match number {
        Some(Number::Int(n)) => Ok(n),
        Some(Number::Float(x)) => cut_off(x),
        None => type_error(format!("%{} format: a number is required, not {}", spec.kind, python::type_name(value))),
    };
    let float = || match number {
        Some(number) => Ok(number.to_f64()),
        None => type_error(format!("must be real number, not {}", python::type_name(value))),
    };
    let precision = spec.precision.map(|p| p.min(1_000));
    let body = match spec.kind {
        'd' | 'i' | 'u' => signed(integer()?.to_string(), spec),
        'x' => format!("{}{:x}", if spec.alternate { "0x" } else { "" }, integer()?),
        'X' => format!("{}{:X}", if spec.alternate { "0X" } else { "" }, integer()?),
        'o' => format!("{}{:o}", if spec.alternate { "0o" } else { "" }, integer()?),
        'b' => format!("{}{:b}", if spec.alternate { "0b" } else { "" }, integer()?),
        'f' | 'F' => signed(format!("{:.*}", precision.unwrap_or(6), float()?), spec),
        'e' | 'E' => signed(scientific(float()?, precision.unwrap_or(6)), spec),
        'g' | 'G' => signed(general(float()?, precision.unwrap_or(6)), spec),
        '%' => format!("{:.*}%", precision.unwrap_or(6), float()? * 100.0),
        'c' => match &value.data {
            Data::Int(n) => u32::try_from(*n).ok().and_then(char::from_u32).map(String::from).unwrap_or_default(),
            _ => plain_text(value),
        },
        'r' | 'a' => {
            let nobody = crate::instance::NoInstances;
            python::repr(value, &nobody)
        }
        's' | '\0' => {
            let text = match (spec.kind, number) {
                ('\0', Some(Number::Float(x))) if precision.is_some() => general(x, precision.unwrap_or(6)),
                _ => plain_text(value),
            };
            match precision {
                Some(precision) if number.is_none() => text.chars().take(precision).collect(),
                _ => text,
            }
        }
        other => return value_error(format!("unsupported format character '{other}'")),
    };
    let body = if spec.comma { with_commas(&body) } else { body };
    pad(body, spec, number.is_some())
}

fn signed(text: String, spec: &Spec) -> String {
    match (text.starts_with('-'), spec.plus, spec.blank) {
        (false, true, _) => format!("+{text}"),
        (false, false, true) => format!(" {text}"),
        _ => text,
    }
}

fn scientific(x: f64, precision: usize) -> String {
    let text = format!("{x:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn general(x: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let exponent = if x == 0.0 { 0 } else { x.abs().log10().floor() as i64 };
    let trim = |text: String| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    };
    if exponent < -4 || exponent >= precision as i64 {
        let text = scientific(x, precision - 1);
        let (digits, rest) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{rest}", trim(digits.to_owned()));
    }
    let decimals = usize::try_from(precision as i64 - 1 - exponent).unwrap_or(0);
    trim(format!("{x:.decimals$}"))
}

fn with_commas(text: &str) -> String {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text),
    };
    let (whole, fraction) = rest.split_once('.').map_or((rest, None), |(whole, fraction)| (whole, Some(fraction)));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

fn pad(text: String, spec: &Spec, number: bool) -> Result<String> {
    if spec.width > MAX_STRING {
        return too_long();
    }
    let missing = spec.width.saturating_sub(text.chars().count());
    if missing == 0 {
        return Ok(text);
    }
    let align = spec.align.unwrap_or(if number { '>' } else { '<' });
    let zero = spec.fill == Some('0') && number && align != '<';
    if zero || align == '=' {
        let (sign, digits) = match text.strip_prefix(['-', '+']) {
            Some(digits) => (text.get(..1).unwrap_or(""), digits),
            None => ("", text.as_str()),
        };
        let fill = spec.fill.unwrap_or(' ').to_string().repeat(missing);
        return Ok(format!("{sign}{fill}{digits}"));
    }
    let fill = spec.fill.filter(|fill| *fill != '0' || !number).unwrap_or(' ').to_string();
    Ok(match align {
        '<' => format!("{text}{}", fill.repeat(missing)),
        '^' => format!("{}{text}{}", fill.repeat(missing / 2), fill.repeat(missing - missing / 2)),
        _ => format!("{}{text}", fill.repeat(missing)),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn percent_formats() {
        let list = Val::tuple(vec![Val::str("str"), Val::int(5)]);
        assert_eq!(percent("%s-%d", &list).unwrap(), "str-5");
        assert_eq!(
            percent("%05.1f|%-4s|%x", &Val::tuple(vec![Val::float(2.25), Val::str("a"), Val::int(255)])).unwrap(),
            "002.2|a   |ff"
        );
        assert_eq!(percent("%(a)s", &Val::record([("a", Val::int(1))])).unwrap(), "1");
        assert_eq!(percent("%g", &Val::float(0.0001)).unwrap(), "0.0001");
    }

    #[test]
    fn brace_formats() {
        assert_eq!(braces("{}-{0}-{x:>4}{{}}", &[Val::int(1)], &[("x".into(), Val::str("a"))]).unwrap(), "1-1-   a{}");
        assert_eq!(braces("{:,}", &[Val::int(1_234_567)], &[]).unwrap(), "1,234,567");
    }
}
