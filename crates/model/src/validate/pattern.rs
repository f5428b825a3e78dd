//! Patterns of schemas, which are in JavaScript's syntax, translated to patterns that match in linear time.

use super::Stopped;
use purlin_value::Meter;
use purlin_value::pattern::{Refused, Work, compile as charged};
use regex::{Error, Regex, RegexBuilder};

/// A usable pattern, and its cost.
#[derive(Debug)]
pub(super) struct Pattern {
    pub regex: Regex,
    pub work: Work,
}

/// Compiles a pattern; returns it with the charged bytes. `None` if it uses features that cannot be matched in linear
/// time, such as lookahead.
pub(super) fn compile(pattern: &str, meter: &Meter) -> Result<Option<(Pattern, u64)>, Stopped> {
    let translated = translated(pattern);
    let build = |most: usize| {
        let build = |pattern: &str| RegexBuilder::new(pattern).size_limit(most).build();
        let built = match build(&translated) {
            // Only an unreadable translation falls back to the original; one that is too large may fit a larger limit.
            Err(Error::Syntax(_)) => build(pattern),
            built => built,
        };
        match built {
            Ok(regex) => Ok(Some(regex)),
            Err(Error::CompiledTooBig(_)) => Ok(None),
            Err(error) => Err(error),
        }
    };
    match charged(meter, meter.limits().regex_bytes, build) {
        Ok((regex, bytes)) => Ok(Some((Pattern { work: Work::of(regex.as_str(), bytes), regex }, bytes))),
        Err(Refused::Invalid(_)) => Ok(None),
        Err(Refused::TooLarge) => Err(Stopped::LargePattern(meter.limits().regex_bytes)),
        Err(Refused::Exceeded(exceeded)) => Err(Stopped::Exceeded(exceeded)),
    }
}

/// Translates constructs with a different meaning: digits and word characters are ASCII, and a bracket in a class is
/// a character.
fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut chars = pattern.chars();
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => match chars.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str("[0-9A-Za-z_]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('b') if in_class => out.push_str("\\x08"),
                Some('b') => out.push_str("(?-u:\\b)"),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' if in_class => out.push_str("\\["),
            '&' | '~' if in_class => out.extend(['\\', ch]),
            '[' | ']' => {
                in_class = ch == '[';
                out.push(ch);
            }
            _ => out.push(ch),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::Limits;

    fn compiled(pattern: &str) -> Option<Regex> {
        compile(pattern, &Meter::new(&Limits::default())).ok().flatten().map(|(pattern, _)| pattern.regex)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_javascript() {
        let is_match = |pattern: &str, text: &str| compiled(pattern).is_some_and(|regex| regex.is_match(text));
        assert!(is_match(r"^\d+$", "12") && !is_match(r"^\d+$", "١"));
        assert!(is_match(r"^[\w.-]+$", "a_b.c-1") && !is_match(r"^[\w.-]+$", "é"));
        assert!(is_match(r"^[^[\]]+$", "ab") && !is_match(r"^[^[\]]+$", "a[b"));
        assert!(is_match(r"^[a&&b]+$", "a&b"));
        assert!(compiled("(?=a)").is_none());
    }

    #[test]
    fn many_patterns_do_not_fit_into_memory() {
        let meter = Meter::new(&Limits { memory_floor: 105 << 10, ..Limits::default() });
        let count = (0..10).take_while(|at| compile(&format!("a{at}"), &meter).is_ok()).count();
        assert_eq!(count, 3);
        let meter = Meter::new(&Limits::default());
        assert_eq!(compile("((a{1,100}){1,100}){1,100}", &meter).err(), Some(Stopped::LargePattern(1 << 20)));
        assert_eq!(meter.bytes_left(), Limits::default().memory_floor);
    }
}
