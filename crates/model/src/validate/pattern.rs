//! Patterns of schemas, which are JavaScript's, as patterns that match in linear time.

use regex::{Regex, RegexBuilder};

/// Largest compiled pattern, in bytes.
const MAX_SIZE: usize = 1 << 20;

/// Compiles a pattern; `None` if it uses what cannot be matched in linear time, such as looking ahead.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let build = |pattern: &str| RegexBuilder::new(pattern).size_limit(MAX_SIZE).build().ok();
    build(&translated(pattern)).or_else(|| build(pattern))
}

/// Writes out what means something else here: digits and words are ASCII, and a bracket in a class is a character.
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
    use super::compile;

    #[test]
    fn patterns_mean_what_they_mean_in_javascript() {
        let is_match = |pattern: &str, text: &str| compile(pattern).is_some_and(|regex| regex.is_match(text));
        assert!(is_match(r"^\d+$", "12") && !is_match(r"^\d+$", "١"));
        assert!(is_match(r"^[\w.-]+$", "a_b.c-1") && !is_match(r"^[\w.-]+$", "é"));
        assert!(is_match(r"^[^[\]]+$", "ab") && !is_match(r"^[^[\]]+$", "a[b"));
        assert!(is_match(r"^[a&&b]+$", "a&b"));
        assert!(compile("(?=a)").is_none());
    }
}
