//! Primes for RSA keys, found quickly.
//!
//! Candidates go through a sieve and one Fermat test to the base 2, both made for speed: nearly all of the
//! time that a key takes is spent on numbers that turn out not to be prime. The library confirms what is left, so nothing
//! but time depends on the arithmetic of this file. It is a crate of its own so that
//! it is optimized in builds for tests, too. It knows nothing of keys, nor where chance comes from.

use crypto_primes::{Flavor, is_prime};
use std::sync::OnceLock;

pub use crypto_bigint::BoxedUint;

/// Odd numbers behind a random one that are looked at before another is drawn: a prime is among so many numbers of 2,048
/// bits but for one time in 100,000.
const REACH: usize = 8_192;

/// The exponent of public keys, as everyone uses it.
pub const EXPONENT: u32 = 65_537;

/// A prime whose two highest bits are set, so that the product of two has all its bits; one below it has no divisor in
/// common with [`EXPONENT`]. It has 1,024 or 2,048 bits; there is none of another length. `draw` gives random words.
pub fn prime(bits: usize, draw: &mut dyn FnMut() -> u64) -> Option<BoxedUint> {
    match bits {
        1024 => Some(find::<16>(draw)),
        2048 => Some(find::<32>(draw)),
        _ => None,
    }
}

fn find<const N: usize>(draw: &mut dyn FnMut() -> u64) -> BoxedUint {
    loop {
        let mut start = [0; N];
        start.iter_mut().for_each(|word| *word = draw());
        if let Some(first) = start.first_mut() {
            *first |= 1;
        }
        if let Some(last) = start.last_mut() {
            *last |= 3 << 62;
        }
        let factored = sieve(&start);
        let open = factored.iter().enumerate().filter(|(_, is_factored)| !**is_factored);
        let found = open.filter_map(|(at, _)| above(&start, 2 * at as u64)).find_map(|candidate| {
            let is_likely = fermat(&candidate) && remainder(&candidate, u64::from(EXPONENT)) != 1;
            let number = is_likely.then(|| number(&candidate))?;
            is_prime(Flavor::Any, &number).then_some(number)
        });
        if let Some(found) = found {
            return found;
        }
    }
}

fn number<const N: usize>(words: &[u64; N]) -> BoxedUint {
    BoxedUint::from_words(words.iter().copied())
}

/// The number that is so much larger, if it has as many words.
fn above<const N: usize>(start: &[u64; N], more: u64) -> Option<[u64; N]> {
    let (mut sum, mut carry) = (*start, more);
    for word in &mut sum {
        let (low, is_over) = word.overflowing_add(carry);
        (*word, carry) = (low, u64::from(is_over));
    }
    (carry == 0).then_some(sum)
}

/// Odd primes up to what is worth the division for numbers of 2,048 bits: each further test costs as much as dividing
/// by some 20,000 of them.
fn small_primes() -> &'static [u32] {
    const MOST: usize = 1 << 19;
    static PRIMES: OnceLock<Vec<u32>> = OnceLock::new();
    PRIMES.get_or_init(|| {
        let mut is_composite = vec![false; MOST];
        let mut primes = Vec::new();
        for number in (3..MOST).step_by(2) {
            if is_composite.get(number) == Some(&false) {
                primes.push(number as u32);
                is_composite.iter_mut().skip(number.saturating_mul(number)).step_by(number).for_each(|is| *is = true);
            }
        }
        primes
    })
}

/// For each of the odd numbers from this one on, whether a small prime divides it.
fn sieve<const N: usize>(start: &[u64; N]) -> Vec<bool> {
    let mut factored = vec![false; REACH];
    // A test of a number of half the length costs an eighth, so it pays to divide by fewer.
    let all = small_primes();
    let primes = all.get(..all.len() / 32 * N.min(32)).unwrap_or(all);
    // Three of them fit into a word, which the long number is divided by once.
    for group in primes.chunks(3) {
        let product = group.iter().map(|prime| u64::from(*prime)).product();
        let rest = remainder(start, product);
        for prime in group.iter().map(|prime| u64::from(*prime)) {
            // The first k for which start + 2k is a multiple.
            let missing = (prime - rest % prime) % prime;
            let first = if missing.is_multiple_of(2) { missing / 2 } else { (missing + prime) / 2 };
            factored.iter_mut().skip(first as usize).step_by(prime as usize).for_each(|is| *is = true);
        }
    }
    factored
}

fn remainder<const N: usize>(number: &[u64; N], divisor: u64) -> u64 {
    let divisor = u128::from(divisor);
    number.iter().rev().fold(0, |rest, word| ((u128::from(rest) << 64 | u128::from(*word)) % divisor) as u64)
}

/// Whether 2 to the power of n - 1 is 1 modulo n. The number is odd and its highest bit is set.
///
/// Powers are kept in Montgomery's form: times 2^(64 N), modulo n, and below 2^(64 N).
fn fermat<const N: usize>(n: &[u64; N]) -> bool {
    let Some(low) = n.first().copied() else { return false };
    // -1 / n modulo 2^64: each step doubles the number of bits that are right.
    let inverse = (0..6).fold(1u64, |x, _| x.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(x)))).wrapping_neg();
    let mut one = [0; N];
    subtract(&mut one, n);
    let mut power = one;
    let mut wide = vec![0; 2 * N];
    for (at, word) in n.iter().enumerate().rev() {
        let word = if at == 0 { word & !1 } else { *word };
        for bit in (0..64).rev() {
            square(&power, &mut wide);
            power = reduce(&mut wide, n, inverse);
            if word >> bit & 1 == 1 {
                double(&mut power, n);
            }
        }
    }
    let mut other = power;
    subtract(&mut other, n);
    power == one || other == one
}

/// `a * b + c + d`, as its low and its high word.
#[inline(always)]
fn step(a: u64, b: u64, c: u64, d: u64) -> (u64, u64) {
    let sum = u128::from(a) * u128::from(b) + u128::from(c) + u128::from(d);
    (sum as u64, (sum >> 64) as u64)
}

/// The square, in twice as many words.
///
/// Products of two different words are summed up once and doubled. Two rows of them are worked off together: each row
/// is a chain of carries that would leave the processor waiting.
fn square<const N: usize>(a: &[u64; N], wide: &mut [u64]) {
    wide.fill(0);
    for at in (0..N).step_by(2) {
        let [first, second, rest @ ..] = &a[at..] else { return };
        let row = &mut wide[2 * at + 1..at + N + 2];
        let (low, mut carry) = step(*first, *second, row[0], 0);
        row[0] = low;
        let Some((last, next)) = rest.last().zip(rest.first()) else {
            row[1] = carry;
            continue;
        };
        (row[1], carry) = step(*first, *next, row[1], carry);
        let mut other = 0;
        let columns = &mut row[2..rest.len() + 1];
        for (sum, pair) in columns.iter_mut().zip(rest.windows(2)) {
            let low;
            (low, carry) = step(*first, pair[1], *sum, carry);
            (*sum, other) = step(*second, pair[0], low, other);
        }
        (row[rest.len() + 1], row[rest.len() + 2]) = step(*second, *last, carry, other);
    }
    let (mut shifted, mut carry) = (0, 0);
    for (pair, word) in wide.chunks_exact_mut(2).zip(a) {
        let [low, high] = pair else { return };
        let twice = (*low << 1 | shifted, *high << 1 | *low >> 63);
        shifted = *high >> 63;
        let middle;
        (*low, middle) = step(*word, *word, twice.0, carry);
        let is_over;
        (*high, is_over) = middle.overflowing_add(twice.1);
        carry = u64::from(is_over);
    }
}

/// What is congruent to `wide / 2^(64 N)` and has `N` words. Two rows at once, as in [`square`].
fn reduce<const N: usize>(wide: &mut [u64], n: &[u64; N], inverse: u64) -> [u64; N] {
    let mut over = 0;
    for at in (0..N).step_by(2) {
        let row = &mut wide[at..at + N + 2];
        let first = row[0].wrapping_mul(inverse);
        let (_, carry) = step(first, n[0], row[0], 0);
        let (low, mut carry) = step(first, n[1], row[1], carry);
        let second = low.wrapping_mul(inverse);
        let (_, mut other) = step(second, n[0], low, 0);
        for (sum, pair) in row[2..N].iter_mut().zip(n[1..].windows(2)) {
            let low;
            (low, carry) = step(first, pair[1], *sum, carry);
            (*sum, other) = step(second, pair[0], low, other);
        }
        let sum = u128::from(row[N]) + u128::from(carry) + u128::from(over);
        let high;
        (row[N], high) = step(second, n[N - 1], sum as u64, other);
        let sum = u128::from(row[N + 1]) + u128::from(high) + (sum >> 64);
        (row[N + 1], over) = (sum as u64, (sum >> 64) as u64);
    }
    let mut rest = [0; N];
    rest.copy_from_slice(&wide[N..]);
    if over != 0 {
        subtract(&mut rest, n);
    }
    rest
}

fn double<const N: usize>(a: &mut [u64; N], n: &[u64; N]) {
    let mut carry = 0;
    for word in a.iter_mut() {
        (*word, carry) = (*word << 1 | carry, *word >> 63);
    }
    // The sum has one bit more; without a borrow that bit is still there.
    if carry != 0 && !subtract(a, n) {
        subtract(a, n);
    }
}

/// Subtracts modulo 2^(64 N), and says whether there was a borrow.
fn subtract<const N: usize>(a: &mut [u64; N], b: &[u64; N]) -> bool {
    let mut borrow = false;
    for (word, less) in a.iter_mut().zip(b) {
        let (rest, is_under) = word.overflowing_sub(*less);
        let (rest, is_under_again) = rest.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (rest, is_under || is_under_again);
    }
    borrow
}

#[cfg(test)]
#[allow(clippy::expect_used)] // A test may.
mod tests {
    use super::*;

    /// Numbers that look random (Marsaglia's xorshift).
    fn chance(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }
    }

    fn random_odd<const N: usize>(draw: &mut dyn FnMut() -> u64) -> [u64; N] {
        let mut number = [0; N];
        number.iter_mut().for_each(|word| *word = draw());
        number[0] |= 1;
        number[N - 1] |= 1 << 63;
        number
    }

    /// The quick test agrees with the library's: on random numbers, on what passes a sieve, and on primes.
    fn agrees<const N: usize>() {
        let mut draw = chance(7 + N as u64);
        for _ in 0..40 {
            let start = random_odd::<N>(&mut draw);
            let factored = sieve(&start);
            for at in 0..64 {
                let candidate = above(&start, 2 * at as u64).expect("no carry");
                let is_really = is_prime(Flavor::Any, &number(&candidate));
                assert_eq!(fermat(&candidate), is_really, "{candidate:x?}");
                assert!(!factored[at] || !is_really, "the sieve drops {candidate:x?}");
            }
        }
    }

    #[test]
    fn the_quick_test_agrees_with_the_library() {
        agrees::<2>();
        agrees::<4>();
    }

    #[test]
    fn primes_have_their_bits() {
        for (bits, top) in [(1024, 15), (2048, 31)] {
            let found = prime(bits, &mut chance(1)).expect("a prime");
            assert!(is_prime(Flavor::Any, &found) && found.bits() as usize == bits);
            assert_eq!(found.as_words()[top] >> 62, 3);
            assert_eq!(prime(bits, &mut chance(1)), Some(found), "a seed repeats them");
        }
        assert_eq!(prime(512, &mut chance(1)), None);
    }

    #[test]
    fn the_largest_number_has_no_carry_lost() {
        // All bits set: the products have the longest carries.
        let number = [u64::MAX; 4];
        assert!(!fermat(&number));
        assert!(above(&number, 2).is_none());
        // 2^521 - 1 does not fit; 2^256 - 189 is the largest prime of 256 bits.
        let mut largest = number;
        largest[0] -= 188;
        assert!(fermat(&largest));
        assert_eq!(remainder(&largest, 1_000_003), number_mod(&largest, 1_000_003));
    }

    fn number_mod(words: &[u64], divisor: u128) -> u64 {
        words
            .iter()
            .rev()
            .flat_map(|word| (0..64).rev().map(move |bit| word >> bit & 1))
            .fold(0u128, |rest, bit| (rest * 2 + u128::from(bit)) % divisor) as u64
    }
}
