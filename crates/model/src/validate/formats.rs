//! The string formats of schemas.

use purlin_value::calendar::month_length;

/// Whether a text matches a format; unknown formats always match. The `regex` format is tested by the checker.
pub(super) fn fits_format(format: &str, text: &str) -> bool {
    match format {
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<std::net::Ipv6Addr>().is_ok(),
        "email" => text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty()),
        "uri" => is_uri(text),
        "hostname" => is_hostname(text),
        "date" => is_date(text),
        "time" => is_time(text),
        "date-time" => text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time)),
        _ => true,
    }
}

fn is_uri(text: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|ch: char| ch.is_ascii_alphabetic())
            && scheme.chars().all(|ch| ch.is_ascii_alphanumeric() || matches!(ch, '+' | '-' | '.'))
    };
    text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) && !text.contains(' ')
}

fn is_hostname(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.trim_end_matches('.').split('.').all(is_label)
}

/// Two or four digits as a number.
fn digits(text: &str, count: usize) -> Option<u32> {
    let all = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| all)
}

fn is_date(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut next = |count| digits(parts.next()?, count);
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else { return false };
    parts.next().is_none() && (1..=12).contains(&month) && (1..=month_length(i64::from(year), month)).contains(&day)
}

fn is_time(text: &str) -> bool {
    let (clock, zone) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, ""),
        None => match text.rfind(['+', '-']) {
            Some(at) => text.split_at(at),
            None => return false,
        },
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let is_zone = zone.is_empty() || is_clock(&zone[1..], 2);
    is_clock(clock, 3) && is_zone && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// Hours, minutes and possibly seconds.
fn is_clock(text: &str, parts: usize) -> bool {
    let limits = [24, 60, 60];
    let fits = |(part, limit): (&str, &u32)| digits(part, 2).is_some_and(|number| number < *limit);
    text.split(':').count() == parts && text.split(':').zip(&limits).all(fits)
}

#[cfg(test)]
mod tests {
    use super::fits_format;

    #[test]
    fn dates_and_times_are_whole() {
        for (format, text, fits) in [
            ("date", "2024-02-29", true),
            ("date", "2023-02-29", false),
            ("date", "2023-2-01", false),
            ("date-time", "2023-02-01T10:00:00Z", true),
            ("date-time", "2023-02-01t10:00:00.5+01:00", true),
            ("date-time", "2023-02-01 10:00:00Z", false),
            ("date-time", "2023-02-01T24:00:00Z", false),
            ("date-time", "2023-02-01T10:00:00", false),
            ("time", "10:00:00-", false),
        ] {
            assert_eq!(fits_format(format, text), fits, "{format} {text}");
        }
    }
}
