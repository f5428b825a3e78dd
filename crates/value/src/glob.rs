//! Path patterns: `*`, `?`, `[a-z]`, `**` and braces.
//!
//! Pure functions on texts. Paths are relative, with `/` between their parts.

/// One pattern, braces expanded.
#[derive(Clone, Debug)]
pub struct Glob {
    alternatives: Vec<Vec<String>>,
}

/// How many patterns a pattern with braces may stand for.
const MAX_ALTERNATIVES: usize = 256;

impl Glob {
    /// Reads a pattern: `*`, `?`, `[a-z]`, `**` across directories, `{a,b}`.
    pub fn new(pattern: &str) -> Self {
        let mut whole = vec![pattern.to_string()];
        let mut done = Vec::new();
        while let Some(pattern) = whole.pop() {
            match split_braces(&pattern) {
                Some(parts) if done.len() + whole.len() + parts.len() <= MAX_ALTERNATIVES => {
                    whole.extend(parts.into_iter().rev());
                }
                _ => done.push(pattern),
            }
        }
        let parts = |p: &String| p.trim_start_matches("./").split('/').map(str::to_string).collect();
        Glob { alternatives: done.iter().map(parts).collect() }
    }

    /// Whether the whole path fits.
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        self.alternatives.iter().any(|pattern| match_parts(pattern, &parts))
    }

    /// Whether the path fits, or lies in a directory that the pattern names without any wildcard.
    pub fn covers(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let literal = |pattern: &[String]| !pattern.iter().any(|part| part.contains(['*', '?', '[']));
        let inside = |pattern: &[String]| literal(pattern) && parts.get(..pattern.len()).is_some_and(|p| p == pattern);
        self.alternatives.iter().any(|pattern| match_parts(pattern, &parts) || inside(pattern))
    }
}

/// The alternatives of the first `{a,b}` of a pattern, written out.
fn split_braces(pattern: &str) -> Option<Vec<String>> {
    let open = pattern.find('{')?;
    let (mut depth, mut commas, mut close) = (0, vec![open], None);
    for (at, c) in pattern.char_indices().skip_while(|&(at, _)| at < open) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => commas.push(at),
            _ => {}
        }
        if depth == 0 {
            close = Some(at);
            break;
        }
    }
    let close = close.filter(|_| commas.len() > 1)?;
    commas.push(close);
    let pairs = commas.iter().zip(commas.iter().skip(1));
    Some(pairs.map(|(&a, &b)| format!("{}{}{}", &pattern[..open], &pattern[a + 1..b], &pattern[close + 1..])).collect())
}

/// Backtracks only to the last `**`, so that the cost stays linear in practice.
fn match_parts(pattern: &[String], path: &[&str]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        match (pattern.get(p).map(String::as_str), path.get(t)) {
            (Some("**"), _) => {
                retry = Some((p + 1, t));
                p += 1;
                // A closing `**` takes everything that is left, but at least something.
                if p == pattern.len() {
                    return t < path.len();
                }
                continue;
            }
            (Some(part), Some(text)) if match_part(part.as_bytes(), text.as_bytes()) => {
                (p, t) = (p + 1, t + 1);
                continue;
            }
            (None, None) => return true,
            _ => {}
        }
        match retry {
            Some((after, from)) if from < path.len() => {
                retry = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// One part of a path against one part of a pattern.
fn match_part(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match (pattern.get(p), text.get(t)) {
            (Some(b'*'), _) => {
                retry = Some((p + 1, t));
                p += 1;
                continue;
            }
            (None, None) => return true,
            (Some(_), Some(&byte)) => one(pattern.get(p..).unwrap_or(&[]), byte),
            _ => None,
        };
        if let Some(length) = step {
            (p, t) = (p + length, t + 1);
            continue;
        }
        match retry {
            Some((after, from)) if from < text.len() => {
                retry = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// How many bytes of the pattern match this byte, if any do.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [b'[', rest @ ..] => match class(rest, byte) {
            Some((true, length)) => Some(length + 1),
            Some((false, _)) => None,
            None => (byte == b'[').then_some(1),
        },
        [plain, ..] => (*plain == byte).then_some(1),
        [] => None,
    }
}

/// `[a-z]` or `[!a-z]`: whether the byte is in it, and the length after the opening bracket.
fn class(rest: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(rest.first(), Some(b'!' | b'^'));
    let start = usize::from(negated);
    let close = rest.iter().skip(start + 1).position(|&b| b == b']')? + start + 1;
    let body = rest.get(start..close)?;
    let mut found = false;
    let mut i = 0;
    while let Some(&low) = body.get(i) {
        match (body.get(i + 1), body.get(i + 2)) {
            (Some(b'-'), Some(&high)) => {
                found |= (low..=high).contains(&byte);
                i += 3;
            }
            _ => {
                found |= low == byte;
                i += 1;
            }
        }
    }
    Some((found != negated, close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_paths() {
        for (pattern, path, expect) in [
            ("*.yml", "a.yml", true),
            ("*.yml", "b/a.yml", false),
            ("**/*.yml", "a.yml", true),
            ("**/*.yml", "b/c/a.yml", true),
            ("src/**/*", "src/a/b", true),
            ("src/**", "src", false),
            ("{a,b}/[x-z]?", "b/y1", true),
            ("{a,b}/[!x-z]?", "b/y1", false),
            ("a*b*c", "axxbyyc", true),
        ] {
            assert_eq!(Glob::new(pattern).matches(path), expect, "{pattern} {path}");
        }
        assert!(Glob::new("dir").covers("dir/sub/file"));
        assert!(!Glob::new("*").covers("dir/sub/file"));
    }
}
