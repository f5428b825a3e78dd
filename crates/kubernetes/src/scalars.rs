//! Forms of strings in objects: names, amounts, times. Each function tests one form.

/// Maximum length of a DNS label, and of a name with several.
const LABEL: usize = 63;
const SUBDOMAIN: usize = 253;

/// Maximum length of a port name.
const PORT_NAME: usize = 15;

fn is_small(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

/// Lower-case letters, digits and `-`, with a letter or digit at both ends.
pub fn is_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last()).is_some_and(|(first, last)| is_small(*first) && is_small(*last));
    text.len() <= LABEL && ends && bytes.iter().all(|byte| is_small(*byte) || *byte == b'-')
}

/// A label that begins with a letter, as in service names.
pub fn is_service_name(text: &str) -> bool {
    is_label(text) && text.as_bytes().first().is_some_and(u8::is_ascii_lowercase)
}

/// Labels with dots between them.
pub fn is_subdomain(text: &str) -> bool {
    // Only the whole is limited in length, not its parts.
    let is_part = |part: &str| part.len() <= LABEL && is_label(part) || part.len() > LABEL && is_long_label(part);
    text.len() <= SUBDOMAIN && text.split('.').all(is_part)
}

fn is_long_label(part: &str) -> bool {
    let is_inside = |byte: u8| is_small(byte) || byte == b'-';
    !part.starts_with('-') && !part.ends_with('-') && part.bytes().all(is_inside)
}

/// The name that charts are rendered with where the user gives none.
const STANDING_IN: &str = "release-name";

/// Whether a text that does not fit would fit with the name of a real release, which may be much shorter.
pub fn is_long_by_release(text: &str, fits: fn(&str) -> bool) -> bool {
    text.contains(STANDING_IN) && fits(&text.replacen(STANDING_IN, "r", 1))
}

/// Whether a name begins with that of the release that charts are rendered with.
pub fn is_of_release(text: &str) -> bool {
    text.strip_prefix(STANDING_IN).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Single words that people write for a value to come.
const STANDING_FOR_VALUES: &[&str] = &["CHANGEME", "DOMAIN", "HOSTNAME", "NAMESPACE", "PLACEHOLDER", "REPLACEME"];

/// The part of a text that is meant to be replaced: words of capitals with `-` or `_` between them (`RELEASE-NAME`), one
/// word that says so, or text in angle brackets.
pub fn placeholder(text: &str) -> Option<&str> {
    let bracketed = text.find('<').and_then(|start| {
        let end = start + text.get(start..)?.find('>')?;
        text.get(start..=end)
    });
    let is_word = |part: &&str| {
        let mut words = part.split(['-', '_']);
        let is_capital = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_uppercase())
                && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        };
        words.clone().all(is_capital) && (words.nth(1).is_some() || STANDING_FOR_VALUES.contains(part))
    };
    let is_other = |c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || "-_".contains(c));
    let capitals = || text.split(is_other).map(|part| part.trim_matches(['-', '_'])).find(is_word);
    bracketed.or_else(capitals)
}

/// A name that is part of an address: no `/`, no `%`, not only dots.
pub fn is_path_segment(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && !text.contains(['/', '%'])
}

/// A host name, with a leading `*.` if allowed.
pub fn is_host(text: &str) -> bool {
    let rest = text.strip_prefix("*.").unwrap_or(text);
    is_subdomain(rest)
}

/// At least three labels with dots between them.
pub fn is_full_name(text: &str) -> bool {
    is_subdomain(text) && text.split('.').count() > 2
}

/// A name of a port: up to 15 lower-case letters, digits and single `-`, with at least one letter.
pub fn is_port_name(text: &str) -> bool {
    text.len() <= PORT_NAME
        && is_label(text)
        && !text.contains("--")
        && text.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Letters, digits, `-`, `_` and `.`, with a letter or digit at both ends.
fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let ends = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    text.len() <= LABEL && ends(bytes.first()) && ends(bytes.last()) && bytes.iter().all(inside)
}

/// The value of a label.
pub fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_word(text)
}

/// The key of a label: a word, optionally prefixed with a DNS name and `/`.
pub fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_word(name),
        None => is_word(text),
    }
}

/// The key of a ConfigMap or Secret.
pub fn is_config_key(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.len() <= SUBDOMAIN && text != "." && !text.starts_with("..") && text.bytes().all(inside)
}

/// Allowed suffixes of an amount.
const SUFFIXES: &[&str] = &["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// The sign, the number and the suffix of an amount.
fn quantity_parts(text: &str) -> Option<(bool, &str, &str)> {
    let is_negative = text.starts_with('-');
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let has_digit = number.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = has_digit && number.bytes().filter(|byte| *byte == b'.').count() <= 1;
    let is_exponent = || {
        let power = suffix.strip_prefix(['e', 'E']).map(|power| power.strip_prefix(['+', '-']).unwrap_or(power));
        power.is_some_and(|power| !power.is_empty() && power.bytes().all(|byte| byte.is_ascii_digit()))
    };
    (is_number && (SUFFIXES.contains(&suffix) || is_exponent())).then_some((is_negative, number, suffix))
}

/// An amount: `500m`, `2Gi`, `1e3`.
pub fn is_quantity(text: &str) -> bool {
    quantity_parts(text).is_some()
}

/// An amount as a number, for comparison.
pub fn quantity(text: &str) -> Option<f64> {
    let (is_negative, number, suffix) = quantity_parts(text)?;
    let number: f64 = number.parse().ok()?;
    let factor = match suffix {
        "" => 1.0,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        "Ti" => 1_099_511_627_776.0,
        "Pi" => 1_125_899_906_842_624.0,
        "Ei" => 1_152_921_504_606_846_976.0,
        exponent => format!("1{exponent}").parse().ok()?,
    };
    Some(if is_negative { -number * factor } else { number * factor })
}

/// The intended suffix of an amount: `GB` is `G`, `Gigs` is `Gi`.
pub fn meant_quantity(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, suffix) = text.split_at(end);
    let suffix = suffix.trim_start();
    let letter = suffix.chars().next()?.to_ascii_uppercase();
    let is_binary = suffix.chars().nth(1).is_some_and(|next| matches!(next, 'i' | 'I'));
    let right = match letter {
        'K' | 'M' | 'G' | 'T' | 'P' if is_binary => format!("{letter}i"),
        'K' => "k".to_owned(),
        'M' | 'G' | 'T' | 'P' => letter.to_string(),
        _ => return None,
    };
    let meant = format!("{number}{right}");
    is_quantity(&meant).then_some(meant)
}

/// `25%`.
pub fn is_percent(text: &str) -> bool {
    text.strip_suffix('%').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Base 64 with its padding; line breaks are ignored.
pub fn is_base64(text: &str) -> bool {
    let bytes: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    let padding = bytes.iter().rev().take_while(|byte| **byte == b'=').count();
    let body = bytes.get(..bytes.len() - padding).unwrap_or_default();
    let is_known = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    bytes.len().is_multiple_of(4) && padding <= 2 && body.iter().all(is_known)
}

/// A time of RFC 3339: `2026-01-02T03:04:05Z`.
pub fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = b"dddd-dd-ddTdd:dd:dd";
    let fits = |(at, mark): (usize, &u8)| match (mark, bytes.get(at)) {
        (b'd', Some(byte)) => byte.is_ascii_digit(),
        (mark, Some(byte)) => byte == mark,
        _ => false,
    };
    let rest = text.get(shape.len()..).unwrap_or_default();
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => rest,
    };
    let is_offset = || zone.len() == 6 && zone.starts_with(['+', '-']) && zone.as_bytes().get(3) == Some(&b':');
    shape.iter().enumerate().all(fits) && (zone == "Z" || is_offset())
}

/// `10.0.0.0/8` or `fd00::/8`.
pub fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let Ok(address) = address.parse::<std::net::IpAddr>() else { return false };
    bits.parse::<u8>().is_ok_and(|bits| bits <= if address.is_ipv4() { 32 } else { 128 })
}

/// The smallest and largest number in each field of a schedule, and the names of numbers.
const SCHEDULE: &[(u32, u32, &str)] = &[
    (0, 59, ""),
    (0, 23, ""),
    (1, 31, ""),
    (1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"),
    (0, 6, "sun mon tue wed thu fri sat"),
];

/// A schedule of a CronJob: five fields, or a name such as `@daily`.
pub fn is_schedule(text: &str) -> bool {
    let text = text.trim();
    if let Some(name) = text.strip_prefix('@') {
        let names = ["yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];
        return names.contains(&name) || name.strip_prefix("every ").is_some_and(is_go_duration);
    }
    let text = match text.strip_prefix("TZ=").or_else(|| text.strip_prefix("CRON_TZ=")) {
        Some(rest) => rest.split_once(' ').map_or("", |(_, rest)| rest),
        None => text,
    };
    let fields: Vec<&str> = text.split_whitespace().collect();
    let fits = |(field, row): (&&str, &(u32, u32, &str))| field.split(',').all(|part| is_schedule_part(part, *row));
    fields.len() == SCHEDULE.len() && fields.iter().zip(SCHEDULE).all(fits)
}

fn is_schedule_part(part: &str, (least, most, names): (u32, u32, &str)) -> bool {
    let (range, step) = part.split_once('/').map_or((part, None), |(range, step)| (range, Some(step)));
    let number = |text: &str| {
        let small = text.to_ascii_lowercase();
        let named = names.split(' ').position(|name| !name.is_empty() && name == small);
        let named = named.and_then(|at| u32::try_from(at).ok()).map(|at| at + least);
        named.or_else(|| text.parse().ok()).filter(|number| (least..=most).contains(number))
    };
    let is_range = match range.split_once('-') {
        Some((from, to)) => number(from).zip(number(to)).is_some_and(|(from, to)| from <= to),
        None => matches!(range, "*" | "?") || number(range).is_some(),
    };
    is_range && step.is_none_or(|step| step.parse::<u32>().is_ok_and(|step| step > 0))
}

/// A duration in Go's notation: `1h30m`, `500ms`.
pub fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let mut parts = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, unit) = rest.split_at(end);
        let unit_end = unit.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit.len());
        let (unit, next) = unit.split_at(unit_end);
        let is_part = number.parse::<f64>().is_ok() && matches!(unit, "ns" | "us" | "µs" | "ms" | "s" | "m" | "h");
        if !is_part {
            return false;
        }
        (rest, parts) = (next, parts + 1);
    }
    parts > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A predicate on texts, texts that satisfy it, and others.
    type Case = (fn(&str) -> bool, &'static [&'static str], &'static [&'static str]);

    #[test]
    fn forms() {
        let cases: &[Case] = &[
            (is_label, &["a", "a-1", "1a"], &["", "A", "a_b", "-a", "a-", "a.b"]),
            (is_service_name, &["web"], &["1web", "Web", "we.b"]),
            (is_subdomain, &["a.b-c.d", "1.2"], &["", "a..b", "A.b", "a_b", ".a"]),
            (is_full_name, &["a.b.c", "pods.example.com"], &["a.b", "a", "a..b", "A.b.c"]),
            (is_port_name, &["http", "a-1", "p2p"], &["80", "abcdefghijklmnop", "HTTP", "a--b", "http_x"]),
            (is_label_value, &["", "a_b", "A.1"], &["a b", "-a", "a/b", "a,b"]),
            (is_label_key, &["app", "example.com/App"], &["", "a/b/c", "-a", "/a", "Ex.com/a b"]),
            (is_config_key, &["a", "A_b-1.c", ".env"], &["", "a/b", "a b", ".", ".."]),
            (
                is_quantity,
                &["1", "500m", "2Gi", "1e3", ".5", "1.", "-1", "12E2", "1E"],
                &["", "1Gigs", "Gi", "1 Gi", "1GB", "1.2.3", "1KI", "1K"],
            ),
            (is_percent, &["0%", "25%"], &["%", "a%", "2.5%", "25"]),
            (is_base64, &["", "YQ==", "YWI=", "YWJj", "YWJj\n"], &["YQ", "Y===", "a b=", "hello"]),
            (
                is_time,
                &["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.123+01:00"],
                &["2026-01-02", "now", "2026-01-02 03:04:05Z"],
            ),
            (is_cidr, &["10.0.0.0/8", "::/0"], &["10.0.0.0", "10.0.0/8", "10.0.0.0/33"]),
            (
                is_schedule,
                &["*/5 * * * *", "0 0 1,15 jan-mar mon", "@daily", "@every 1h30m", "TZ=UTC 0 1 * * 0", "0 0 ? * *"],
                &["* * * *", "60 * * * *", "@dayly", "*/0 * * * *", "0 0 * * 7", "5-1 * * * *", "a * * * *"],
            ),
            (is_go_duration, &["1h30m", "0", "500ms", "1.5s"], &["", "1", "1d", "h"]),
            (is_host, &["*.a.b", "a"], &["*", "a.*.b", "A.b"]),
        ];
        for (at, (question, right, wrong)) in cases.iter().enumerate() {
            right.iter().for_each(|text| assert!(question(text), "{at}: `{text}` has the form"));
            wrong.iter().for_each(|text| assert!(!question(text), "{at}: `{text}` does not have the form"));
        }
    }

    #[test]
    fn amounts_are_compared_and_corrected() {
        assert!(quantity("1Gi") > quantity("1G") && quantity("500m") < quantity("1"));
        let cases =
            [("1Gigs", Some("1Gi")), ("512MB", Some("512M")), ("1 Gi", Some("1Gi")), ("2gb", Some("2G")), ("x", None)];
        for (text, meant) in cases {
            assert_eq!(meant_quantity(text).as_deref(), meant, "{text}");
        }
    }
}
