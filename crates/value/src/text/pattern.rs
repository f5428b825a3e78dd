//! The cost of a regular expression: compiling by the compiled size, matching by that size and the text, both charged
//! in advance.
//!
//! The regex engines differ between dialects, so the caller builds; here are only sizes and charges.

use crate::meter::{Exceeded, Meter};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Patterns are tried at these sizes, so that a small one is not charged like a large one.
const SIZES: [u64; 4] = [1 << 10, 4 << 10, 32 << 10, 256 << 10];

/// Memory of any compiled pattern beyond its own size: tables and search caches.
const BASE_BYTES: u64 = 32 << 10;

/// Number of bytes compiled in one step.
const BYTES_COMPILED: u64 = 2;

/// Why a pattern was not compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused<E> {
    /// The run has no steps or bytes left.
    Exceeded(Exceeded),
    /// It needs more than the largest size.
    TooLarge,
    /// It is invalid.
    Invalid(E),
}

/// The engine's message about an invalid pattern: its last line, without the picture of the pattern above.
pub fn reason(of_engine: &str) -> &str {
    of_engine.lines().last().unwrap_or_default().trim().trim_start_matches("error: ")
}

/// Compiles a pattern with `build`, which gets a size limit in bytes and returns `None` if it needs more. The charged
/// bytes come with the result; dropping them gives them back.
pub fn compile<R, E>(
    meter: &Meter,
    most: u64,
    build: impl Fn(usize) -> Result<Option<R>, E>,
) -> Result<(R, u64), Refused<E>> {
    meter.charge(BASE_BYTES / BYTES_COMPILED, 0).map_err(Refused::Exceeded)?;
    for size in SIZES.into_iter().filter(|size| *size < most).chain([most]) {
        let bytes = size + BASE_BYTES;
        meter.charge(size / BYTES_COMPILED, bytes).map_err(Refused::Exceeded)?;
        match build(usize::try_from(size).unwrap_or(usize::MAX)) {
            Ok(Some(compiled)) => return Ok((compiled, bytes)),
            Ok(None) => meter.release(bytes),
            Err(error) => {
                meter.release(bytes);
                return Err(Refused::Invalid(error));
            }
        }
    }
    Err(Refused::TooLarge)
}

/// Bytes of a compiled pattern that can be active at one byte of a text at the cost of one step.
const BYTES_ALIVE: u64 = 512;

/// The cost of searching with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Steps per byte of text: as many parts of the pattern as fit may be active at once.
    rate: u64,
    /// How far a search may read past its match; `None` if to the end of the text.
    reach: Option<u64>,
    /// Whether all of its parts can be matched in linear time.
    is_regular: bool,
}

impl Work {
    /// For a pattern that was charged this many bytes when compiled.
    pub fn of(pattern: &str, charged: u64) -> Self {
        let compiled = charged.saturating_sub(BASE_BYTES);
        let parsed = ParserBuilder::new().utf8(false).build().parse(pattern);
        let is_regular = parsed.is_ok();
        let is_near = parsed.is_ok_and(|hir| !looks_far(&hir, false));
        Work { rate: 2 + compiled / BYTES_ALIVE, reach: is_near.then_some(pattern.len() as u64), is_regular }
    }

    /// Whether all parts of the pattern can be matched in linear time, without lookahead and backreferences.
    pub fn is_regular(self) -> bool {
        self.is_regular
    }

    /// The steps of one search in this many bytes.
    pub fn first(self, bytes: usize) -> u64 {
        1 + self.rate.saturating_mul(bytes as u64)
    }

    /// The steps of another search after a match, with `left` bytes left. The text up to the match is covered by the
    /// charge for the first search.
    pub fn another(self, left: usize) -> u64 {
        let left = left as u64;
        1 + self.rate.saturating_mul(self.reach.map_or(left, |reach| reach.min(left)))
    }
}

/// Whether a search that has found a match may have to go on to the end of the text, since a preferred match is still
/// possible: in `[^b]*b|a`, the first part at every `a` of a text. `inside` is whether the match may do without this
/// part.
fn looks_far(hir: &Hir, inside: bool) -> bool {
    let is_long = |hir: &Hir| hir.properties().maximum_len().is_none();
    let is_needed = |hir: &Hir| hir.properties().minimum_len() != Some(0) || !hir.properties().look_set().is_empty();
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
        HirKind::Capture(group) => looks_far(&group.sub, inside),
        HirKind::Repetition(part) => looks_far(&part.sub, inside || (part.min, part.max) != (1, Some(1))),
        HirKind::Alternation(parts) => parts.iter().any(|part| looks_far(part, true)),
        HirKind::Concat(parts) => {
            let last = parts.iter().rposition(is_needed).unwrap_or(0);
            let waits = inside && parts.iter().take(last).any(is_long);
            waits || parts.iter().any(|part| looks_far(part, inside))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::Limits;

    #[test]
    fn a_search_that_goes_on_behind_its_match_is_charged_for_all() {
        for far in ["[^b]*b|a", "a([^b]*b)?", "(a+b)*", "(?:x|.*$)", "((a|b+c)x)?", "(", "(?=a)"] {
            assert_eq!(Work::of(far, BASE_BYTES + 512).another(1_000), 3_001, "{far}");
        }
        for near in ["a", "[a-z]+://\\S+", "\"(?:[^\"\\\\]|\\\\.)*\"", "a*|b", "(^|\n)\\s*#", "a.*b", "[^a-z0-9-]+"] {
            assert!(Work::of(near, BASE_BYTES + 512).another(1_000) < 200, "{near}");
        }
        assert_eq!(Work::of("a", BASE_BYTES + (1 << 20)).first(10), 1 + 10 * 2_050);
    }

    #[test]
    fn a_pattern_is_charged_by_the_size_it_needs() {
        let meter = Meter::new(&Limits { memory_floor: 1 << 20, ..Limits::default() });
        let needs = |bytes: usize| move |most: usize| Ok::<_, ()>((bytes <= most).then_some(()));
        assert_eq!(compile(&meter, 1 << 20, needs(1_000)), Ok(((), BASE_BYTES + (1 << 10))));
        assert_eq!(compile(&meter, 1 << 19, needs(300_000)), Ok(((), BASE_BYTES + (1 << 19))));
        assert_eq!(compile(&meter, 1 << 18, needs(1 << 19)), Err(Refused::TooLarge));
        assert_eq!(compile(&meter, 1 << 18, |_| Err::<Option<()>, _>(7)), Err(Refused::Invalid(7)));
        assert_eq!(meter.bytes_left(), (1 << 19) - (1 << 10) - 2 * BASE_BYTES);
        assert_eq!(compile(&meter, 1 << 20, needs(300_000)), Err(Refused::Exceeded(Exceeded::Bytes(1 << 20))));
    }

    #[test]
    fn a_low_limit_is_the_only_size() {
        let meter = Meter::new(&Limits::default());
        assert_eq!(compile(&meter, 100, |most| Ok::<_, ()>((most >= 200).then_some(()))), Err(Refused::TooLarge));
    }
}
