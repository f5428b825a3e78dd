//! What a scalar means: null, a boolean, a number or text.
//!
//! The original tools disagree, so this is a parameter of reading. The text of a scalar is never lost; this only
//! decides its meaning.

use crate::tree::Style;

/// A family of YAML readers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Flavor {
    /// YAML 1.2 core, as JavaScript readers implement it.
    Core,
    /// YAML 1.1 as JavaScript readers implement it: `yes` and `y` are booleans, `010` is eight, `1:30` is ninety.
    Core11,
    /// YAML 1.2 core with Go's rule for block scalars at the end of a file.
    CoreGo,
    /// YAML 1.1 as Go's readers implement it for Kubernetes: `yes` and `on` are booleans, `010` is eight.
    Go,
    /// As Go's newer readers read Kubernetes objects: `yes` is a string, `010` is eight.
    GoObjects,
    /// YAML 1.1 as Python's readers implement it: `yes` is a boolean, `1:30` is ninety, dates are dates.
    Python,
}

impl Flavor {
    /// Whether a block scalar that ends with the file gets the missing line break.
    pub fn ends_blocks_with_newline(self) -> bool {
        matches!(self, Flavor::Core | Flavor::Core11)
    }
}

/// The meaning of a scalar. Texts and numbers too large for a word are read from the node's text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Scalar {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer that does not fit 64 signed bits.
    BigInt,
    /// A number with a fraction or exponent.
    Float(f64),
    /// A date or time (Python's flavour only).
    Timestamp,
    /// Text.
    Str,
}

const CORE_TAG: &str = "tag:yaml.org,2002:";

/// Resolves a scalar's text.
pub fn resolve(text: &str, style: Style, tag: Option<&str>, flavor: Flavor) -> Scalar {
    if let Some(tag) = tag {
        return resolve_tagged(text, tag, flavor);
    }
    match style {
        Style::Empty => Scalar::Null,
        Style::Plain => resolve_plain(text, flavor),
        _ => Scalar::Str,
    }
}

fn resolve_tagged(text: &str, tag: &str, flavor: Flavor) -> Scalar {
    let plain = resolve_plain(text, flavor);
    match (tag.strip_prefix(CORE_TAG), plain) {
        (Some("null"), _) => Scalar::Null,
        (Some("bool"), Scalar::Bool(_)) => plain,
        (Some("int"), Scalar::Int(_) | Scalar::BigInt) => plain,
        (Some("float"), Scalar::Float(_)) => plain,
        (Some("float"), Scalar::Int(value)) => Scalar::Float(value as f64),
        (Some("timestamp"), Scalar::Timestamp) => plain,
        _ => Scalar::Str,
    }
}

/// Resolves a scalar without quotes or tag.
pub fn resolve_plain(text: &str, flavor: Flavor) -> Scalar {
    let Some(&first) = text.as_bytes().first() else { return Scalar::Null };
    // Most scalars are words; only these can begin anything else.
    match first {
        b'0'..=b'9' | b'-' | b'+' | b'.' => number(text, flavor),
        b'~' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'y' | b'Y' | b'o' | b'O' => word(text, flavor),
        _ => Scalar::Str,
    }
}

/// Whether a scalar without quotes or tag means null, in all flavours.
pub(crate) fn is_plain_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn word(text: &str, flavor: Flavor) -> Scalar {
    match text {
        _ if is_plain_null(text) => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        _ if matches!(flavor, Flavor::Core | Flavor::CoreGo | Flavor::GoObjects) => Scalar::Str,
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Scalar::Bool(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "y" | "Y" if matches!(flavor, Flavor::Go | Flavor::Core11) => Scalar::Bool(true),
        "n" | "N" if matches!(flavor, Flavor::Go | Flavor::Core11) => Scalar::Bool(false),
        _ => Scalar::Str,
    }
}

fn number(text: &str, flavor: Flavor) -> Scalar {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        _ => {}
    }
    match flavor {
        Flavor::Core | Flavor::CoreGo => core_number(text),
        Flavor::Core11 => old_core_number(text),
        Flavor::Go | Flavor::GoObjects => go_number(text),
        Flavor::Python => python_number(text),
    }
}

fn core_number(text: &str) -> Scalar {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16, false);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8, false);
    }
    decimal(text).or_else(|| float(text, Exponent::AnySign)).unwrap_or(Scalar::Str)
}

/// Underscores are dropped wherever a digit may be; a point needs no digit beside it.
fn old_core_number(text: &str) -> Scalar {
    let plain = without_underscores(text);
    let (negative, digits) = sign(&plain);
    if digits.contains(':') {
        return sexagesimal(&plain, LeadingZero::Allowed).unwrap_or(Scalar::Str);
    }
    match digits.as_bytes() {
        [b'0', b'x', ..] => radix(digits.get(2..).unwrap_or(""), 16, negative),
        [b'0', b'b', ..] => radix(digits.get(2..).unwrap_or(""), 2, negative),
        [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(|b| (b'0'..=b'7').contains(b)) => {
            radix(digits, 8, negative)
        }
        _ => decimal(&plain).or_else(|| float(&plain, Exponent::AnySign)).unwrap_or(Scalar::Str),
    }
}

fn go_number(text: &str) -> Scalar {
    // Go drops underscores before it reads a number.
    let plain = without_underscores(text);
    let (negative, digits) = sign(&plain);
    let based = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => Some(radix(digits.get(2..).unwrap_or(""), 16, negative)),
        [b'0', b'o' | b'O', ..] => Some(radix(digits.get(2..).unwrap_or(""), 8, negative)),
        [b'0', b'b' | b'B', ..] => Some(radix(digits.get(2..).unwrap_or(""), 2, negative)),
        [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(|b| (b'0'..=b'7').contains(b)) => {
            Some(radix(digits, 8, negative))
        }
        // A leading zero with an 8 or 9 is not an octal number, but still a float.
        [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit) => {
            plain.parse().ok().map(Scalar::Float)
        }
        _ => None,
    };
    match based.or_else(|| decimal(&plain)).or_else(|| float(&plain, Exponent::AnySign)) {
        // Numbers that do not fit are text to Go; only large decimal integers become floats.
        Some(Scalar::Float(value)) if value.is_infinite() => Scalar::Str,
        Some(Scalar::BigInt) if !digits.bytes().all(|b| b.is_ascii_digit()) && !fits_u64(digits, negative) => {
            Scalar::Str
        }
        // Before the point Go drops any underscore, but a number that begins with the point must be well formed.
        Some(_) if text.starts_with('.') && !underscores_between_digits(text) => Scalar::Str,
        found => found.unwrap_or(Scalar::Str),
    }
}

/// Whether digits with a prefix (`0x…`) fit the unsigned integers that Go tries last.
fn fits_u64(digits: &str, negative: bool) -> bool {
    let base = match digits.as_bytes().get(1) {
        Some(b'x' | b'X') => 16,
        Some(b'o' | b'O') => 8,
        _ => 2,
    };
    !negative && u64::from_str_radix(digits.get(2..).unwrap_or(""), base).is_ok()
}

fn underscores_between_digits(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    bytes.iter().enumerate().all(|(at, &b)| b != b'_' || (at > 0 && is_digit(at - 1) && is_digit(at + 1)))
}

fn python_number(text: &str) -> Scalar {
    if is_timestamp(text) {
        return Scalar::Timestamp;
    }
    if text.contains(':') {
        return sexagesimal(text, LeadingZero::Octal).unwrap_or(Scalar::Str);
    }
    let (_, unsigned) = sign(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Scalar::Str;
    }
    let plain = without_underscores(text);
    let (negative, digits) = sign(&plain);
    match digits.as_bytes() {
        [b'0', b'x', ..] => radix(digits.get(2..).unwrap_or(""), 16, negative),
        [b'0', b'b', ..] => radix(digits.get(2..).unwrap_or(""), 2, negative),
        [b'0', rest @ ..] if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit) => radix(digits, 8, negative),
        _ => decimal(&plain).or_else(|| float(&plain, Exponent::Signed)).unwrap_or(Scalar::Str),
    }
}

fn without_underscores(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('_') { text.replace('_', "").into() } else { text.into() }
}

fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or("")),
        Some(b'+') => (false, text.get(1..).unwrap_or("")),
        _ => (false, text),
    }
}

fn radix(digits: &str, base: u32, negative: bool) -> Scalar {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(base)) {
        return Scalar::Str;
    }
    match i128::from_str_radix(digits, base).map(|n| if negative { -n } else { n }) {
        Ok(value) => i64::try_from(value).map_or(Scalar::BigInt, Scalar::Int),
        Err(_) => Scalar::BigInt,
    }
}

fn decimal(text: &str) -> Option<Scalar> {
    let (_, digits) = sign(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // `str::parse` takes a leading `+` too.
    Some(text.parse().map_or(Scalar::BigInt, Scalar::Int))
}

#[derive(Clone, Copy, PartialEq)]
enum Exponent {
    AnySign,
    /// Python's 1.1 readers require `e+3`; without the sign it is text. They also require a dot.
    Signed,
}

fn float(text: &str, exponent: Exponent) -> Option<Scalar> {
    let (_, unsigned) = sign(text);
    let (mantissa, power) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at)?, Some(unsigned.get(at + 1..)?)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) || (whole.is_empty() && fraction.is_none_or(str::is_empty)) {
        return None;
    }
    if let Some(power) = power {
        let (_, power_digits) = sign(power);
        let signed = power.len() > power_digits.len();
        if power_digits.is_empty() || !digits(power_digits) || (exponent == Exponent::Signed && !signed) {
            return None;
        }
    }
    if exponent == Exponent::Signed && fraction.is_none() {
        return None;
    }
    text.parse().ok().map(Scalar::Float)
}

/// The meaning of a zero before other digits of a sexagesimal number.
#[derive(Clone, Copy, PartialEq)]
enum LeadingZero {
    Allowed,
    /// The text would be an octal number, which has no colon.
    Octal,
}

/// `190:20:30`, base sixty.
fn sexagesimal(text: &str, zero: LeadingZero) -> Option<Scalar> {
    let (negative, digits) = sign(text);
    let (parts, fraction) = match digits.split_once('.') {
        Some((parts, fraction)) => (parts, Some(fraction)),
        None => (digits, None),
    };
    let mut total: i64 = 0;
    for (at, part) in parts.split(':').enumerate() {
        let plain = without_underscores(part);
        let leading_zero = zero == LeadingZero::Octal && at == 0 && plain.starts_with('0') && fraction.is_none();
        if plain.is_empty() || plain.len() > 18 || leading_zero || !plain.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let value: i64 = plain.parse().ok()?;
        if at > 0 && (value > 59 || plain.len() > 2) {
            return None;
        }
        total = total.checked_mul(60)?.checked_add(value)?;
    }
    let total = if negative { -total } else { total };
    match fraction {
        None => Some(Scalar::Int(total)),
        Some(fraction) => {
            let fraction: f64 = format!("0.{}", without_underscores(fraction)).parse().ok()?;
            Some(Scalar::Float(if negative { total as f64 - fraction } else { total as f64 + fraction }))
        }
    }
}

/// `2001-12-14`, or with a time and a zone.
pub fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| bytes.get(from..to).is_some_and(|b| b.iter().all(u8::is_ascii_digit));
    if !digits(0, 4) || bytes.get(4) != Some(&b'-') {
        return false;
    }
    if bytes.len() == 10 {
        return digits(5, 7) && bytes.get(7) == Some(&b'-') && digits(8, 10);
    }
    let mut parts = text.splitn(3, '-');
    let (_, month, rest) = (parts.next(), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let day_length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let time = rest.get(day_length..).unwrap_or("");
    let time = match time.as_bytes().first() {
        Some(b'T' | b't') => time.get(1..).unwrap_or(""),
        Some(b' ' | b'\t') => time.trim_start(),
        _ => return false,
    };
    (1..=2).contains(&month.len())
        && month.bytes().all(|b| b.is_ascii_digit())
        && (1..=2).contains(&day_length)
        && is_time(time)
}

fn is_time(text: &str) -> bool {
    let zone_at = text.find(['Z', '+', '-', ' ']).unwrap_or(text.len());
    let clock = text.get(..zone_at).unwrap_or("");
    let zone = text.get(zone_at..).unwrap_or("").trim_start();
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let zone_fits = match zone.as_bytes().first() {
        None => true,
        Some(b'Z') => zone.len() == 1,
        Some(b'+' | b'-') => zone
            .get(1..)
            .is_some_and(|z| z.len() <= 5 && !z.is_empty() && z.replace(':', "").bytes().all(|b| b.is_ascii_digit())),
        _ => false,
    };
    parts.len() == 3
        && parts.iter().all(|p| (1..=2).contains(&p.len()) && all_digits(p))
        && all_digits(fraction)
        && zone_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_1_1_of_javascript() {
        use Scalar::*;
        let table: &[(&str, Scalar)] = &[
            ("yes", Bool(true)),
            ("y", Bool(true)),
            ("N", Bool(false)),
            ("Off", Bool(false)),
            ("yES", Str),
            ("010", Int(8)),
            ("08", Int(8)),
            ("-010", Int(-8)),
            ("0o10", Str),
            ("0x1F", Int(31)),
            ("0xZZ", Str),
            ("0b101", Int(5)),
            ("0b", Str),
            ("1__0", Int(10)),
            ("_1", Str),
            ("1:30", Int(90)),
            ("01:30", Int(90)),
            ("-1:30", Int(-90)),
            ("1:2:3", Int(3723)),
            ("1:30.5", Float(90.5)),
            ("1:60", Str),
            ("8080:80", Str),
            ("0.0.0.0:80", Str),
            ("1e3", Float(1000.0)),
            ("1.", Float(1.0)),
            ("1.5_0", Float(1.5)),
            ("1.2.3", Str),
            ("-.INF", Float(f64::NEG_INFINITY)),
            ("Null", Null),
        ];
        for (text, expected) in table {
            assert_eq!(resolve_plain(text, Flavor::Core11), *expected, "{text}");
        }
    }

    #[test]
    fn the_families_disagree_as_they_should() {
        use Flavor::*;
        use Scalar::*;
        let table: &[(&str, Scalar, Scalar, Scalar)] = &[
            ("yes", Str, Bool(true), Bool(true)),
            ("y", Str, Bool(true), Str),
            ("Off", Str, Bool(false), Bool(false)),
            ("true", Bool(true), Bool(true), Bool(true)),
            ("~", Null, Null, Null),
            ("", Null, Null, Null),
            ("010", Int(10), Int(8), Int(8)),
            ("0o10", Int(8), Int(8), Str),
            ("0x1F", Int(31), Int(31), Int(31)),
            ("0b11", Str, Int(3), Int(3)),
            ("1_000", Str, Int(1000), Int(1000)),
            ("1e3", Float(1000.0), Float(1000.0), Str),
            ("1.5e+3", Float(1500.0), Float(1500.0), Float(1500.0)),
            ("1.0", Float(1.0), Float(1.0), Float(1.0)),
            (".5", Float(0.5), Float(0.5), Float(0.5)),
            ("+1", Int(1), Int(1), Int(1)),
            ("-", Str, Str, Str),
            (".", Str, Str, Str),
            ("1:30", Str, Str, Int(90)),
            ("2021-04-16", Str, Str, Timestamp),
            ("2001-12-14t21:59:43.10-05:00", Str, Str, Timestamp),
            ("99999999999999999999", BigInt, BigInt, BigInt),
            ("1.2.3", Str, Str, Str),
            ("089", Int(89), Float(89.0), Str),
            ("1e400", Float(f64::INFINITY), Str, Str),
            ("0xFFFFFFFFFFFFFFFF", BigInt, BigInt, BigInt),
            ("0xFFFFFFFFFFFFFFFFF", BigInt, Str, BigInt),
            (".5_0", Str, Float(0.5), Float(0.5)),
            (".5_", Str, Str, Float(0.5)),
        ];
        for (text, core, go, python) in table {
            assert_eq!(resolve_plain(text, Core), *core, "core {text}");
            assert_eq!(resolve_plain(text, Go), *go, "go {text}");
            assert_eq!(resolve_plain(text, Python), *python, "python {text}");
        }
        for (text, objects) in [("yes", Str), ("y", Str), ("010", Int(8)), ("1_000", Int(1000)), ("true", Bool(true))] {
            assert_eq!(resolve_plain(text, GoObjects), objects, "objects {text}");
        }
    }

    #[test]
    fn tags_decide() {
        assert_eq!(resolve("12", Style::Plain, Some("tag:yaml.org,2002:str"), Flavor::Core), Scalar::Str);
        assert_eq!(resolve("12", Style::Double, Some("tag:yaml.org,2002:int"), Flavor::Core), Scalar::Int(12));
        assert_eq!(resolve("x", Style::Plain, Some("!vault"), Flavor::Python), Scalar::Str);
    }
}
