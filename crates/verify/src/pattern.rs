//! Regular expressions in Go's syntax, charged to the meter, each compiled once per test run.

use crate::Stop;
use purlin_value::Meter;
use purlin_value::go_pattern::translate;
use purlin_value::pattern::{Refused, Work, compile};
use regex::{Regex, RegexBuilder};

/// A pattern, compiled.
#[derive(Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    work: Work,
}

/// Maximum size of a compiled pattern in bytes.
const MOST: u64 = 1 << 20;

/// Lower bound for the size limit of a search cache in bytes, however small the pattern is.
const LEAST_REMEMBERED: usize = 32 << 10;

impl Pattern {
    /// Compiles a pattern; the message is Go's.
    pub(crate) fn new(meter: &Meter, text: &str) -> Result<Pattern, Stop> {
        let refused = |reason: String| Stop::Failed(format!("error parsing regexp: {reason}"));
        let translated = translate(text.as_bytes()).map_err(refused)?;
        let build = |most: usize| {
            let built = RegexBuilder::new(&translated.pattern)
                .size_limit(most)
                .dfa_size_limit(most.max(LEAST_REMEMBERED))
                .build();
            match built {
                Ok(regex) => Ok(Some(regex)),
                Err(regex::Error::CompiledTooBig(_)) => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        };
        match compile(meter, MOST, build) {
            Ok((regex, bytes)) => Ok(Pattern { regex, work: Work::of(&translated.pattern, bytes) }),
            Err(Refused::Invalid(reason)) => Err(refused(reason)),
            Err(Refused::TooLarge) => Err(Stop::Failed("the regular expression is too large".to_owned())),
            Err(Refused::Exceeded(exceeded)) => Err(Stop::Exceeded(exceeded)),
        }
    }

    /// Whether a text contains a match.
    pub(crate) fn is_in(&self, meter: &Meter, text: &str) -> Result<bool, Stop> {
        meter.charge(self.work.first(text.len()), 0).map_err(Stop::Exceeded)?;
        Ok(self.regex.is_match(text))
    }
}

/// A text with all special characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    let is_special = |ch: char| r"\.+*?()|[]{}^$".contains(ch);
    text.chars().flat_map(|ch| is_special(ch).then_some('\\').into_iter().chain([ch])).collect()
}
