//! What compiling a regular expression costs: charged by the size that it is compiled to, before it is compiled.
//!
//! The engines of regular expressions differ between dialects, so the caller builds; here are only sizes and charges.

use crate::meter::{Exceeded, Meter};

/// Most patterns need no more than so many bytes when compiled.
const USUAL_BYTES: u64 = 32 << 10;

/// So many bytes are compiled in one step.
const BYTES_COMPILED: u64 = 2;

/// Why there is no compiled pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused<E> {
    /// The run has no steps or bytes left.
    Exceeded(Exceeded),
    /// It needs more than the largest size.
    TooLarge,
    /// It cannot be read.
    Invalid(E),
}

/// Compiles a pattern with `build`, which is told how many bytes it may need and returns `None` if it needs more. The
/// bytes that were charged come with it; whoever drops it gives them back.
pub fn compile<R, E>(
    meter: &Meter,
    most: u64,
    build: impl Fn(usize) -> Result<Option<R>, E>,
) -> Result<(R, u64), Refused<E>> {
    let sizes = [USUAL_BYTES.min(most), most];
    for size in sizes.into_iter().skip(usize::from(most <= USUAL_BYTES)) {
        meter.charge(size / BYTES_COMPILED, size).map_err(Refused::Exceeded)?;
        match build(usize::try_from(size).unwrap_or(usize::MAX)) {
            Ok(Some(compiled)) => return Ok((compiled, size)),
            Ok(None) => meter.release(size),
            Err(error) => {
                meter.release(size);
                return Err(Refused::Invalid(error));
            }
        }
    }
    Err(Refused::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use purlin_syntax::Limits;

    #[test]
    fn a_pattern_is_charged_by_the_size_it_needs() {
        let meter = Meter::new(&Limits { memory_floor: 1 << 20, ..Limits::default() });
        let needs = |bytes: usize| move |most: usize| Ok::<_, ()>((bytes <= most).then_some(()));
        assert_eq!(compile(&meter, 1 << 20, needs(1_000)), Ok(((), USUAL_BYTES)));
        assert_eq!(compile(&meter, 1 << 19, needs(100_000)), Ok(((), 1 << 19)));
        assert_eq!(compile(&meter, 1 << 18, needs(1 << 19)), Err(Refused::TooLarge));
        assert_eq!(compile(&meter, 1 << 18, |_| Err::<Option<()>, _>(7)), Err(Refused::Invalid(7)));
        assert_eq!(meter.bytes_left(), (1 << 19) - USUAL_BYTES);
        assert_eq!(compile(&meter, 1 << 20, needs(100_000)), Err(Refused::Exceeded(Exceeded::Bytes(1 << 20))));
    }

    #[test]
    fn a_low_limit_is_the_only_size() {
        let meter = Meter::new(&Limits::default());
        assert_eq!(compile(&meter, 100, |most| Ok::<_, ()>((most >= 200).then_some(()))), Err(Refused::TooLarge));
    }
}
