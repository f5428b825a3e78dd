//! Similar names, as suggestions for the intended one.
//!
//! Used for the hint at the end of a message. Knows names only.

use crate::hint::Hint;
use std::cell::Cell;

/// Longer names are not compared; they are not typed by hand, and the cost grows with the square of the length.
const LONGEST: usize = 64;

/// Further candidates are ignored, so that a hint never costs more than the check it belongs to.
const MOST_CANDIDATES: usize = 10_000;

/// Comparisons of one run on one thread. A file may have as many unknown names as known ones; after some hundred
/// hints, more are of no use.
const MOST_COMPARISONS: usize = 500_000;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(MOST_COMPARISONS) };
}

/// Resets the budget of comparisons: a new run starts on this thread.
pub fn start() {
    LEFT.set(MOST_COMPARISONS);
}

/// The candidate most similar to a name, if it is similar enough to be the intended one.
///
/// Of equally similar ones the first is taken, so the caller's order decides.
pub fn nearest<'c, I>(name: &str, candidates: I) -> Option<&'c str>
where
    I: IntoIterator<Item = &'c str>,
{
    let wanted = Name::of(name)?;
    let mut best: Option<(usize, &str)> = None;
    let left = LEFT.get();
    let mut compared = 0;
    for candidate in candidates.into_iter().take(MOST_CANDIDATES.min(left)) {
        compared += 1;
        let bound = best.map_or(wanted.tolerance(), |(score, _)| score.saturating_sub(1));
        let score = if candidate == name { None } else { wanted.score(candidate, bound) };
        if let Some(score) = score {
            best = Some((score, candidate));
        }
        if score == Some(0) {
            break;
        }
    }
    LEFT.set(left - compared);
    best.map(|(_, candidate)| candidate)
}

/// A hint that suggests the most similar candidate.
pub fn did_you_mean<'c, I>(name: &str, candidates: I) -> Option<Hint>
where
    I: IntoIterator<Item = &'c str>,
{
    nearest(name, candidates).map(|candidate| Hint::meant(name, candidate))
}

/// Whether one name is most likely a misspelling of the other: every word of it is the same, or nearly.
///
/// [`nearest`] finds a candidate for a hint, where there is a mistake anyway. This finds out whether there is a
/// mistake: `proxyHost` and `proxyPort` are similar, but one is not a misspelling of the other.
pub fn is_slip(name: &str, other: &str) -> bool {
    let (a, b) = (words(name), words(other));
    if a.concat() == b.concat() {
        return true;
    }
    if a.len() != b.len() {
        return is_near(&a.concat(), &b.concat());
    }
    let mut different = a.iter().zip(&b).filter(|(a, b)| a != b);
    different.next().is_some_and(|(a, b)| is_near(a, b)) && different.next().is_none()
}

/// In shorter names, a different letter means a different name.
const SHORTEST_TYPO: usize = 5;

/// Whether a name is another with letters in the wrong order, or with one letter wrong, missing or extra inside it.
///
/// The strictest of these tests, for names that both may be intended: `port1` and `port2`, `domain` and `domains` are
/// two names.
pub fn is_typo(name: &str, other: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (name.chars().collect(), other.chars().collect());
    if a == b || a.len().min(b.len()) < SHORTEST_TYPO || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let most = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count().min(most);
    let (left, right) = (a.get(start..a.len() - end), b.get(start..b.len() - end));
    let inside = start > 0 && end > 0;
    match (left.unwrap_or_default(), right.unwrap_or_default()) {
        ([one], []) | ([], [one]) => inside && one.is_alphabetic(),
        ([one], [other]) => inside && one.is_alphabetic() && other.is_alphabetic(),
        ([x, y], [v, w]) => x == w && y == v,
        _ => false,
    }
}

/// The same, or one name is the other with an additional word at its end or start: `timeout` for `timeoutSeconds`.
pub fn may_be_meant(name: &str, other: &str) -> bool {
    if is_slip(name, other) {
        return true;
    }
    let (a, b) = (words(name), words(other));
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    long.len() == short.len() + 1 && (long.starts_with(&short) || long.ends_with(&short))
}

/// One edit per four letters.
fn is_near(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let most = a.len().max(b.len());
    most <= LONGEST && distance(&a, &b, (most / 4).clamp(1, 2) * EDIT).is_some()
}

/// The words of a name in lower case: they start with capitals, or after `-`, `_` and `.`.
fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut starts = true;
    let mut after_small = false;
    for c in name.chars() {
        if matches!(c, '-' | '_' | '.') {
            starts = true;
            continue;
        }
        if starts || (c.is_uppercase() && after_small) {
            found.push(String::new());
        }
        starts = false;
        after_small = c.is_lowercase() || c.is_numeric();
        if let Some(word) = found.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    found
}

/// Costs are in sixths of an edit, so that small differences can weigh less than a letter.
const EDIT: usize = 6;
/// A difference in case, or between `-` and `_`.
const SPELLING: usize = 1;
/// One name is a prefix of the other.
const PREFIX: usize = 7;

struct Name {
    chars: Vec<char>,
}

impl Name {
    fn of(text: &str) -> Option<Self> {
        // A character has at most four bytes, so this avoids collecting texts that are too long anyway.
        let chars: Vec<char> = if text.len() > LONGEST * 4 { return None } else { text.chars().collect() };
        (1..=LONGEST).contains(&chars.len()).then_some(Name { chars })
    }

    /// The allowed distance: a third of the name, and at least one letter unless the name is a single letter.
    fn tolerance(&self) -> usize {
        match self.chars.len() {
            1 => SPELLING,
            length => (length / 3).clamp(1, 5) * EDIT + SPELLING,
        }
    }

    /// The distance of a candidate, if within the bound.
    fn score(&self, candidate: &str, bound: usize) -> Option<usize> {
        let other = Name::of(candidate)?;
        let apart = self.chars.len().abs_diff(other.chars.len()) * EDIT;
        let prefix = self.shares_prefix(&other).then_some(PREFIX);
        let distance = if apart <= bound { distance(&self.chars, &other.chars, bound) } else { None };
        let score = match (distance, prefix) {
            (Some(distance), Some(prefix)) => distance.min(prefix),
            (distance, prefix) => distance.or(prefix)?,
        };
        (score <= bound).then_some(score)
    }

    /// Whether one is a prefix of the other, and long enough for that not to be a coincidence.
    fn shares_prefix(&self, other: &Name) -> bool {
        let length = self.chars.len().min(other.chars.len());
        length >= 4 && self.chars.iter().zip(&other.chars).all(|(&a, &b)| substitution(a, b) < EDIT)
    }
}

/// Cost of substituting one character for another.
fn substitution(a: char, b: char) -> usize {
    let same_apart_from_spelling = |a: char, b: char| a.eq_ignore_ascii_case(&b) || (is_dash(a) && is_dash(b));
    if a == b {
        0
    } else if same_apart_from_spelling(a, b) {
        SPELLING
    } else {
        EDIT
    }
}

fn is_dash(c: char) -> bool {
    c == '-' || c == '_'
}

/// Weighted insertions, deletions, substitutions and swaps of neighbours; `None` if more than the bound.
fn distance(a: &[char], b: &[char], bound: usize) -> Option<usize> {
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).map(|count| count * EDIT).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push((i + 1) * EDIT);
        for (j, &y) in b.iter().enumerate() {
            let kept = previous[j] + substitution(x, y);
            let mut cost = kept.min(previous[j + 1] + EDIT).min(row[j] + EDIT);
            let swapped = i > 0 && j > 0 && substitution(x, b[j - 1]) < EDIT && substitution(a[i - 1], y) < EDIT;
            if swapped && let Some(&start) = before.get(j - 1) {
                cost = cost.min(start + EDIT);
            }
            row.push(cost);
        }
        if row.iter().min().is_some_and(|&least| least > bound) {
            return None;
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous.last().copied().filter(|&cost| cost <= bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_changes_letters_of_a_word() {
        let slips = [
            ("podLables", "podLabels"),
            ("pod_labels", "podLabels"),
            ("WriteInterval", "writeInterval"),
            ("replicacount", "replicaCount"),
            ("gprc", "grpc"),
            ("tesseraLivecycle", "tesseraLifecycle"),
        ];
        for (a, b) in slips {
            assert!(is_slip(a, b), "{a} {b}");
        }
        let others = [
            ("html5proxy_port", "html5proxy_host"),
            ("dataSizeLimit", "logSizeLimit"),
            ("formatter_fluent", "formatter_context"),
            ("kafka", "kafkaHeapOptions"),
            ("icp4dVersion", "apiVersion"),
            ("minReplicas", "maxReplicas"),
        ];
        for (a, b) in others {
            assert!(!is_slip(a, b) && !may_be_meant(a, b), "{a} {b}");
        }
        assert!(may_be_meant("timeoutSeconds", "timeout") && !is_slip("timeoutSeconds", "timeout"));
        assert!(may_be_meant("annotations", "podAnnotations"));
    }

    #[test]
    fn finds_what_was_meant() {
        const KEYS: &[&str] = &["dependencies", "description", "disabled", "env", "include", "kind", "name", "type"];
        let cases = [
            ("dependecies", Some("dependencies")),
            ("depends", None),
            ("depend", Some("dependencies")),
            ("Kind", Some("kind")),
            ("KIND", Some("kind")),
            ("knid", Some("kind")),
            ("nmae", Some("name")),
            ("typ", Some("type")),
            ("envs", Some("env")),
            ("vars", None),
            ("inclues", Some("include")),
            ("x", None),
            ("E", None),
            ("", None),
            ("zzzzzz", None),
            ("name", None),
        ];
        for (name, expected) in cases {
            assert_eq!(nearest(name, KEYS.iter().copied()), expected, "{name}");
        }
    }

    #[test]
    fn case_and_dashes_weigh_little() {
        assert_eq!(nearest("nodetemplates", ["node_types", "node_templates"]), Some("node_templates"));
        assert_eq!(nearest("node-types", ["node_type", "node_types"]), Some("node_types"));
        assert_eq!(nearest("apiversion", ["apiVersion", "appVersion"]), Some("apiVersion"));
    }

    #[test]
    fn the_first_of_equals_wins() {
        assert_eq!(nearest("cat", ["bat", "rat"]), Some("bat"));
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = "a".repeat(100_000);
        assert_eq!(nearest(&long, [long.as_str(), "a"]), None);
    }

    #[test]
    fn a_run_compares_so_many_and_no_more() {
        let names: Vec<String> = (0..MOST_CANDIDATES).map(|at| format!("name-{at}")).collect();
        let near = || nearest("nmae-5", names.iter().map(String::as_str)).is_some();
        start();
        assert!((0..MOST_COMPARISONS / MOST_CANDIDATES).all(|_| near()));
        assert!(!near());
        start();
        assert!(near());
    }

    #[test]
    fn a_hint_for_messages() {
        assert_eq!(did_you_mean("imge", ["image"]).as_deref(), Some("did you mean `image`?"));
        assert_eq!(did_you_mean("imge", []), None);
    }

    #[test]
    fn typos_are_letters_inside_a_name() {
        let slips =
            [("hostnme", "hostname"), ("replcas", "replicas"), ("repilcas", "replicas"), ("hosttname", "hostname")];
        assert!(slips.iter().all(|(a, b)| is_typo(a, b)));
        let others =
            [("host", "hots"), ("hosts", "host"), ("port1", "port2"), ("domain", "domains"), ("a-host", "b-host")];
        assert!(!others.iter().any(|(a, b)| is_typo(a, b)));
    }
}
