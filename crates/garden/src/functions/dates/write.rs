//! Writes dates by a pattern of letters, the Unicode ones (`yyyy-MM-dd`).

use super::{Instant, SECOND};
use purlin_value::calendar::{MONTHS, WEEKDAYS};

/// Formats a date by a pattern of letters; text in single quotes is literal.
pub fn format(date: Instant, pattern: &str) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            rest = quoted(rest, &mut result);
            continue;
        }
        let length = rest.chars().take_while(|&other| other == c).map(char::len_utf8).sum::<usize>();
        let run = rest.get(..length).unwrap_or(rest);
        rest = rest.get(length..).unwrap_or("");
        if !c.is_ascii_alphabetic() {
            result.push_str(run);
        } else if c == 'd' && run.len() == 1 && rest.starts_with('o') || ordinal_token(c, run.len(), rest) {
            rest = rest.get(1..).unwrap_or("");
            result.push_str(&ordinal(token_number(date, c)));
        } else if matches!(c, 'P' | 'p') {
            let (expanded, after) = long_form(run, rest);
            rest = after;
            result.push_str(&format(date, &expanded)?);
        } else {
            result.push_str(&token(date, c, run.len(), pattern)?);
        }
    }
    Ok(result)
}

fn quoted<'a>(rest: &'a str, result: &mut String) -> &'a str {
    let body = rest.get(1..).unwrap_or("");
    if let Some(after) = body.strip_prefix('\'') {
        result.push('\'');
        return after;
    }
    let mut chars = body.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            result.push(c);
        } else if chars.peek().is_some_and(|&(_, next)| next == '\'') {
            result.push('\'');
            chars.next();
        } else {
            return body.get(at + 1..).unwrap_or("");
        }
    }
    ""
}

fn ordinal_token(c: char, length: usize, rest: &str) -> bool {
    length == 1 && rest.starts_with('o') && "yYQqMLwIdDecihHKkms".contains(c)
}

fn token_number(date: Instant, c: char) -> i64 {
    let f = date.fields();
    match c {
        'y' => f.year,
        'R' => date.iso_week().0,
        'Y' => date.local_week().0,
        'e' | 'c' => date.weekday() as i64 + 1,
        'M' | 'L' => f.month + 1,
        'Q' | 'q' => f.month / 3 + 1,
        'w' => date.local_week().1,
        'I' => date.iso_week().1,
        'D' => date.day_of_year(),
        'i' => {
            if date.weekday() == 0 {
                7
            } else {
                date.weekday() as i64
            }
        }
        'H' => f.hour,
        'h' => (f.hour + 11) % 12 + 1,
        'K' => f.hour % 12,
        'k' => {
            if f.hour == 0 {
                24
            } else {
                f.hour
            }
        }
        'm' => f.minute,
        's' => f.second,
        _ => f.day,
    }
}

fn ordinal(number: i64) -> String {
    let suffix = match (number % 10, number % 100) {
        (1, h) if h != 11 => "st",
        (2, h) if h != 12 => "nd",
        (3, h) if h != 13 => "rd",
        _ => "th",
    };
    format!("{number}{suffix}")
}

/// `P` (date) and `p` (time) in their English forms; together they are joined as a sentence would.
fn long_form<'a>(run: &str, rest: &'a str) -> (String, &'a str) {
    const DATES: [&str; 4] = ["MM/dd/yyyy", "MMM d, yyyy", "MMMM do, yyyy", "EEEE, MMMM do, yyyy"];
    const TIMES: [&str; 4] = ["h:mm a", "h:mm:ss a", "h:mm:ss a z", "h:mm:ss a zzzz"];
    let pick = |forms: &[&'static str; 4], length: usize| forms.get(length.clamp(1, 4) - 1).copied().unwrap_or("");
    if run.starts_with('p') {
        return (pick(&TIMES, run.len()).to_string(), rest);
    }
    let date = pick(&DATES, run.len());
    let times = rest.bytes().take_while(|&b| b == b'p').count();
    if times == 0 {
        return (date.to_string(), rest);
    }
    let joint = if run.len() > 2 { " 'at' " } else { ", " };
    (format!("{date}{joint}{}", pick(&TIMES, times)), rest.get(times..).unwrap_or(""))
}

fn token(date: Instant, c: char, length: usize, pattern: &str) -> Result<String, String> {
    let f = date.fields();
    let month = usize::try_from(f.month).ok().and_then(|m| MONTHS.get(m)).copied().unwrap_or("");
    let weekday = WEEKDAYS.get(date.weekday()).copied().unwrap_or("");
    // Rust's own padding ends at 65,535; a pattern may be longer.
    let padded = |number: i64| {
        let (sign, digits) = (if number < 0 { "-" } else { "" }, number.unsigned_abs().to_string());
        format!("{sign}{}{digits}", "0".repeat(length.saturating_sub(sign.len() + digits.len())))
    };
    Ok(match (c, length) {
        ('y', 2) => format!("{:02}", f.year.rem_euclid(100)),
        ('Y', 2 | 4) | ('D', 1 | 2) => return Err(protected(c, length, pattern, date)),
        ('Y', _) => padded(date.local_week().0),
        ('M' | 'L', 3) => month.get(..3).unwrap_or("").into(),
        ('M' | 'L', 4) => month.into(),
        ('M' | 'L', 5) => month.get(..1).unwrap_or("").into(),
        ('Q' | 'q', 3) => format!("Q{}", f.month / 3 + 1),
        ('Q' | 'q', 4) => format!("{} quarter", ordinal(f.month / 3 + 1)),
        ('E', 1..=3) | ('e' | 'c' | 'i', 3) => weekday.get(..3).unwrap_or("").into(),
        ('E' | 'e' | 'c' | 'i', 4) => weekday.into(),
        ('E' | 'e' | 'c' | 'i', 5) => weekday.get(..1).unwrap_or("").into(),
        ('E' | 'e' | 'c' | 'i', 6) => weekday.get(..2).unwrap_or("").into(),
        ('e' | 'c', _) => padded(date.weekday() as i64 + 1),
        // Noon and midnight have names of their own for the whole hour.
        ('b', _) if f.hour % 12 == 0 => match (f.hour, length) {
            (12, 5) => "n".into(),
            (12, _) => "noon".into(),
            (_, 5) => "mi".into(),
            _ => "midnight".into(),
        },
        ('a' | 'b', 3) => day_half(f.hour).to_lowercase(),
        ('a' | 'b', 4) => {
            if f.hour < 12 {
                "a.m.".into()
            } else {
                "p.m.".into()
            }
        }
        ('a' | 'b', 5) => {
            if f.hour < 12 {
                "a".into()
            } else {
                "p".into()
            }
        }
        ('a' | 'b', _) => day_half(f.hour).into(),
        ('B', _) => day_part(f.hour).into(),
        ('G', 4) => {
            if f.year > 0 {
                "Anno Domini".into()
            } else {
                "Before Christ".into()
            }
        }
        ('G', 5) => {
            if f.year > 0 {
                "A".into()
            } else {
                "B".into()
            }
        }
        ('G', _) => {
            if f.year > 0 {
                "AD".into()
            } else {
                "BC".into()
            }
        }
        ('S', _) => fraction(f.milli, length),
        ('X', _) => "Z".into(),
        ('x', 1) => "+00".into(),
        ('x', 2 | 4) => "+0000".into(),
        ('x', _) => "+00:00".into(),
        ('O' | 'z', 4) => "GMT+00:00".into(),
        ('O' | 'z', _) => "GMT+0".into(),
        ('t', _) => padded(date.0.div_euclid(SECOND)),
        ('T', _) => padded(date.0),
        ('u', _) => padded(f.year),
        ('y' | 'R' | 'M' | 'L' | 'Q' | 'q' | 'w' | 'I' | 'D' | 'd' | 'i' | 'H' | 'h' | 'K' | 'k' | 'm' | 's', _) => {
            padded(token_number(date, c))
        }
        _ => return Err(format!("RangeError: Format string contains an unescaped latin alphabet character `{c}`")),
    })
}

fn protected(c: char, length: usize, pattern: &str, date: Instant) -> String {
    let written: String = std::iter::repeat_n(c, length).collect();
    let (better, subject) = if c == 'Y' { ("y", "years") } else { ("d", "days of the month") };
    let better = better.repeat(length);
    format!(
        "RangeError: Use `{better}` instead of `{written}` (in `{pattern}`) for formatting {subject} to the input `{}`",
        date.iso()
    )
}

fn day_half(hour: i64) -> &'static str {
    if hour < 12 { "AM" } else { "PM" }
}

fn day_part(hour: i64) -> &'static str {
    match hour {
        17.. => "in the evening",
        12..17 => "in the afternoon",
        4..12 => "in the morning",
        _ => "at night",
    }
}

fn fraction(millis: i64, length: usize) -> String {
    let text = format!("{millis:03}");
    text.chars().chain(std::iter::repeat('0')).take(length.min(20)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn patterns_are_written() {
        let date = Instant::parse("2021-02-03T14:05:06.078Z").unwrap();
        for (pattern, expect) in [
            ("yyyy-MM-dd HH:mm:ss.SSS", "2021-02-03 14:05:06.078"),
            ("EEEE, MMMM do 'at' h a", "Wednesday, February 3rd at 2 PM"),
            ("PPPp", "February 3rd, 2021 at 2:05 PM"),
            ("yyyy''yy", "2021'21"),
            ("II i w QQQ", "05 3 6 Q1"),
        ] {
            assert_eq!(format(date, pattern).unwrap(), expect);
        }
        assert!(format(date, "YYYY").is_err());
        assert!(format(date, "f").is_err());
    }

    #[test]
    fn patterns_of_any_length_are_formatted() {
        let date = Instant::parse("2021-01-02T00:00:00Z").unwrap();
        let text = token(date, 'y', 70_000, "").unwrap();
        assert!(text.len() == 70_000 && text.ends_with("02021"));
    }
}
