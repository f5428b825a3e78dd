//! Locations in the messages of the engines, and paths of the input that the text of a policy names.

use crate::question::{Step, Stop, StopKind};

/// The engine's message: after a line `--> FILE:LINE:COLUMN`, the reason follows `error: `.
pub(crate) fn stop(kind: StopKind, said: &str) -> Stop {
    let at = said.lines().find_map(|line| location(line.trim().strip_prefix("--> ")?));
    let reason = said.lines().find_map(|line| line.trim().strip_prefix("error: "));
    let message = reason.unwrap_or_else(|| said.lines().next().unwrap_or_default()).trim().to_owned();
    Stop { kind, message, at }
}

fn location(text: &str) -> Option<(String, u32, u32)> {
    let (rest, column) = text.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    Some((file.to_owned(), line.parse().ok()?, column.parse().ok()?))
}

/// The paths below a variable that a text names: `input.spec["a.b"].c` up to the first part that is computed.
pub(crate) fn mentions(text: &str, variable: &str) -> Vec<Vec<Step>> {
    let mut found: Vec<Vec<Step>> = Vec::new();
    for (at, _) in text.match_indices(variable) {
        let before = text.get(..at).unwrap_or_default();
        if before.ends_with(|c: char| c == '.' || c == '_' || c.is_alphanumeric()) {
            continue;
        }
        let path = steps(text.get(at + variable.len()..).unwrap_or_default());
        if !path.is_empty() && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

/// The parts of the strings in a text that a format leaves as they are.
pub(crate) fn words(text: &str) -> Vec<String> {
    let strings = text.split('"').skip(1).step_by(2);
    let parts = strings.flat_map(|string| string.split('%').enumerate()).map(|(index, part)| match index {
        0 => part,
        // The letter of the format.
        _ => part.char_indices().nth(1).and_then(|(at, _)| part.get(at..)).unwrap_or_default(),
    });
    parts.filter(|part| part.trim().len() >= SHORTEST).map(str::to_owned).collect()
}

/// Bytes of a part that tells one message from another.
const SHORTEST: usize = 3;

/// Whether a name matches a pattern with `*`, `?` and `[…]`, in which a dot is a character as any other.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // The positions of the pattern that are reached by the name so far: linear in both.
    let mut reached = vec![0];
    for c in name {
        let mut next = Vec::new();
        for at in behind_stars(&pattern, &reached) {
            if pattern.get(at) == Some(&'*') {
                next.push(at);
            } else if let Some(after) = one(&pattern, at, c) {
                next.push(after);
            }
        }
        next.dedup();
        reached = next;
    }
    behind_stars(&pattern, &reached).contains(&pattern.len())
}

/// Positions, and those that stars before them lead to.
fn behind_stars(pattern: &[char], reached: &[usize]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for at in reached {
        let mut at = *at;
        found.push(at);
        while pattern.get(at) == Some(&'*') {
            at += 1;
            found.push(at);
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The position after a part of a pattern that takes a character.
fn one(pattern: &[char], at: usize, c: char) -> Option<usize> {
    match pattern.get(at)? {
        '?' => Some(at + 1),
        '[' => {
            let end = at + 1 + pattern.get(at + 1..)?.iter().position(|one| *one == ']')?;
            let inside = pattern.get(at + 1..end)?;
            let (is_other, inside) = match inside.split_first() {
                Some(('^', rest)) => (true, rest),
                _ => (false, inside),
            };
            let is_between = |range: &[char]| matches!(range, [first, '-', last] if (first..=last).contains(&&c));
            let has = inside.contains(&c) || inside.windows(3).any(is_between);
            (has != is_other).then_some(end + 1)
        }
        '\\' => (pattern.get(at + 1) == Some(&c)).then_some(at + 2),
        other => (*other == c).then_some(at + 1),
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let next = match rest.strip_prefix('.') {
            Some(after) => {
                let end = after.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(after.len());
                after.split_at_checked(end)
            }
            None => rest.strip_prefix("[\"").and_then(|after| after.split_once("\"]")),
        };
        match next {
            // A function: `object.labels.exists(…)`.
            Some((_, after)) if after.starts_with('(') => return found,
            Some((key, after)) if !key.is_empty() => {
                found.push(Step::Key(key.to_owned()));
                rest = after;
            }
            _ => return found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_packages() {
        let right = [
            ("*", "a.b"),
            ("main", "main"),
            ("main.*", "main.gke"),
            ("m*n", "main"),
            ("?ain", "main"),
            ("[a-m]ain", "main"),
            ("[^a]ain", "main"),
            ("*a*b*", "xaxbx"),
        ];
        let wrong =
            [("main", "main.gke"), ("c*", "main"), ("?", ""), ("[a]ain", "main"), ("main*x", "main"), ("[a", "a")];
        right.iter().for_each(|(pattern, name)| assert!(matches(pattern, name), "{pattern} {name}"));
        wrong.iter().for_each(|(pattern, name)| assert!(!matches(pattern, name), "{pattern} {name}"));
        assert!(!matches(&"*a".repeat(2_000), &"a".repeat(1_000)));
    }

    #[test]
    fn paths_that_a_text_names() {
        let text = "not input.spec.tls; x := input.metadata.labels[\"a/b\"]; my_input.no; input[_].no; input.a[_].b; input.l.all(x)";
        let paths: Vec<String> = mentions(text, "input").iter().map(|path| format!("{path:?}")).collect();
        let expected = [
            "[Key(\"spec\"), Key(\"tls\")]",
            "[Key(\"metadata\"), Key(\"labels\"), Key(\"a/b\")]",
            "[Key(\"a\")]",
            "[Key(\"l\")]",
        ];
        assert_eq!(paths, expected);
    }
}
