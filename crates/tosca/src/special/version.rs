//! Versions: `major.minor[.fix[.qualifier[-build]]]`.

use ecow::EcoString;
use std::cmp::Ordering;

/// A version that was read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub fix: u64,
    /// A word such as `beta`.
    pub qualifier: EcoString,
    /// The number after the word.
    pub build: u64,
    /// The original text.
    pub original: EcoString,
}

/// Reads a version.
pub fn parse(text: &str) -> Option<Version> {
    let mut parts = text.splitn(4, '.');
    let number = |part: &str| {
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) { None } else { part.parse().ok() }
    };
    let mut version = Version { original: text.into(), ..Version::default() };
    version.major = number(parts.next()?)?;
    version.minor = number(parts.next()?)?;
    if let Some(fix) = parts.next() {
        version.fix = number(fix)?;
    }
    if let Some(rest) = parts.next() {
        let (qualifier, build) = rest.split_once('-').map_or((rest, None), |(word, build)| (word, Some(build)));
        if qualifier.is_empty() || !qualifier.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        version.qualifier = qualifier.into();
        if let Some(build) = build {
            version.build = number(build)?;
        }
    }
    Some(version)
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = (self.major, self.minor, self.fix).cmp(&(other.major, other.minor, other.fix));
        // A version without a word is the finished one, which comes after all its drafts; recorded behaviour
        // compares the words alone, where the empty word is the smallest.
        numbers
            .then_with(|| self.qualifier.to_lowercase().cmp(&other.qualifier.to_lowercase()))
            .then(self.build.cmp(&other.build))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn versions_are_read_and_ordered() {
        let mut last = parse("0.1").unwrap();
        for text in ["1.2", "1.2.3.alpha-9", "1.2.3.beta-3", "1.2.3.beta-4", "1.10"] {
            let next = parse(text).unwrap();
            assert!(last < next, "{text}");
            last = next;
        }
        for text in ["one", "1", "1.", "1.2.x", "1.2.3.", "1.2.3.b-", "-1.2", "1..0.abc"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
