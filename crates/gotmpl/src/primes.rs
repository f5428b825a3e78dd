//! Large random primes, for RSA keys.
//!
//! Most of the time goes into squaring modulo a candidate, so that is done here on plain words in Montgomery form;
//! everything else about keys is in `keys.rs`. Nothing here guards against an observer on the same machine.

use num_bigint::BigUint;

use crate::random::Random;

/// Candidates with a factor below this are left out before they are tested.
const SIEVED_BELOW: u32 = 1 << 16;

/// Rounds of Miller–Rabin with random bases, after the one with base 2: enough for numbers that nobody chose.
const ROUNDS: usize = 5;

/// A random prime of this many bits, a multiple of 64, with its two highest bits set.
pub fn prime(random: &mut Random, bits: usize) -> BigUint {
    let small = small_primes();
    loop {
        let start = random_odd(random, bits / 64);
        // Twice as many bits as odd numbers hold a prime almost always.
        let is_sieved = sieve(&start, &small, bits * 2);
        for (at, _) in is_sieved.iter().enumerate().filter(|(_, is_sieved)| !**is_sieved) {
            let Some(candidate) = plus(&start, 2 * at as u64) else { break };
            if is_prime(&candidate, random) {
                return BigUint::new(candidate.iter().flat_map(|word| [*word as u32, (word >> 32) as u32]).collect());
            }
        }
    }
}

/// A random odd number of so many words with its two highest bits set, least word first.
fn random_odd(random: &mut Random, words: usize) -> Vec<u64> {
    let mut out: Vec<u64> = (0..words).map(|_| random.next()).collect();
    if let Some(first) = out.first_mut() {
        *first |= 1;
    }
    if let Some(last) = out.last_mut() {
        *last |= 0b11 << 62;
    }
    out
}

/// A number and a little more; `None` where it would need another word.
fn plus(number: &[u64], more: u64) -> Option<Vec<u64>> {
    let mut carry = more;
    let mut out = number.to_vec();
    for word in &mut out {
        let (sum, over) = word.overflowing_add(carry);
        *word = sum;
        carry = u64::from(over);
    }
    (carry == 0).then_some(out)
}

fn small_primes() -> Vec<u32> {
    let mut is_composite = vec![false; SIEVED_BELOW as usize];
    let mut primes = Vec::new();
    for number in (3..SIEVED_BELOW as usize).step_by(2) {
        if is_composite.get(number).copied().unwrap_or(true) {
            continue;
        }
        primes.push(number as u32);
        is_composite.iter_mut().skip(number * number).step_by(number).for_each(|place| *place = true);
    }
    primes
}

/// For each of `count` odd numbers from a start on, whether a small prime divides it.
fn sieve(start: &[u64], small: &[u32], count: usize) -> Vec<bool> {
    let mut out = vec![false; count];
    let mut rest = small;
    while !rest.is_empty() {
        // One division of the whole number serves several primes.
        let (mut product, mut taken) = (1u64, 0);
        while let Some(next) = rest.get(taken).and_then(|prime| product.checked_mul((*prime).into())) {
            product = next;
            taken += 1;
        }
        let (group, others) = rest.split_at(taken);
        rest = others;
        let remainder = start.iter().rev().fold(0u64, |remainder, word| {
            ((u128::from(remainder) << 64 | u128::from(*word)) % u128::from(product)) as u64
        });
        for prime in group.iter().map(|prime| u64::from(*prime)) {
            let missing = (prime - remainder % prime) % prime;
            let first = if missing % 2 == 0 { missing / 2 } else { missing.midpoint(prime) };
            out.iter_mut().skip(first as usize).step_by(prime as usize).for_each(|place| *place = true);
        }
    }
    out
}

/// Miller–Rabin, first with base 2, which nearly every composite number fails.
fn is_prime(candidate: &[u64], random: &mut Random) -> bool {
    let mut modulus = Modulus::new(candidate);
    modulus.passes(None) && (0..ROUNDS).all(|_| modulus.passes(Some(random.next() | 2)))
}

/// Arithmetic modulo an odd number whose highest bit is set, on numbers in Montgomery form.
struct Modulus<'n> {
    n: &'n [u64],
    /// What makes the lowest word of a multiple of `n` vanish.
    inverse: u64,
    /// Room for a product.
    wide: Vec<u64>,
}

impl<'n> Modulus<'n> {
    fn new(n: &'n [u64]) -> Self {
        let low = n.first().copied().unwrap_or(1);
        // Each step of Newton's method doubles the number of bits that are right; three are right at first.
        let inverse = (0..5).fold(low, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(low.wrapping_mul(inverse))));
        Modulus { n, inverse: inverse.wrapping_neg(), wide: vec![0; 2 * n.len() + 1] }
    }

    /// The form of 1: as the highest bit of `n` is set, that is the complement of `n`.
    fn one(&self) -> Vec<u64> {
        let mut out = vec![0; self.n.len()];
        subtract(&mut out, self.n);
        out
    }

    fn double(&self, number: &mut [u64]) {
        let mut carry = 0;
        for word in number.iter_mut() {
            let high = *word >> 63;
            *word = *word << 1 | carry;
            carry = high;
        }
        self.reduce_once(number, carry != 0);
    }

    fn reduce_once(&self, number: &mut [u64], is_over: bool) {
        if is_over || number.iter().rev().ge(self.n.iter().rev()) {
            subtract(number, self.n);
        }
    }

    /// The form of a small number.
    fn form(&mut self, number: u64) -> Vec<u64> {
        let mut square = self.one();
        (0..64 * self.n.len()).for_each(|_| self.double(&mut square));
        let mut plain = vec![0; self.n.len()];
        if let Some(first) = plain.first_mut() {
            *first = number;
        }
        self.multiply(&mut plain, &square);
        plain
    }

    fn multiply(&mut self, number: &mut [u64], by: &[u64]) {
        self.wide.fill(0);
        for (at, word) in by.iter().enumerate() {
            add_product(self.wide.get_mut(at..).unwrap_or_default(), number, *word);
        }
        self.take_reduced(number);
    }

    fn square(&mut self, number: &mut [u64]) {
        self.wide.fill(0);
        // Every product of two different words is there twice: add it once, then double all.
        let mut rest: &[u64] = number;
        let mut at = 1;
        while let Some((word, higher)) = rest.split_first() {
            add_product(self.wide.get_mut(at..).unwrap_or_default(), higher, *word);
            rest = higher;
            at += 2;
        }
        let (mut shifted, mut carry) = (0, false);
        for (pair, word) in self.wide.chunks_exact_mut(2).zip(number.iter()) {
            let square = u128::from(*word) * u128::from(*word);
            if let [low, high] = pair {
                (*low, shifted, carry) = doubled_plus(*low, shifted, square as u64, carry);
                (*high, shifted, carry) = doubled_plus(*high, shifted, (square >> 64) as u64, carry);
            }
        }
        self.take_reduced(number);
    }

    /// Divides what is in the wide room by the word size, once for every word, and puts the result into a number.
    fn take_reduced(&mut self, number: &mut [u64]) {
        let words = self.n.len();
        for at in 0..words {
            let Some(part) = self.wide.get_mut(at..) else { break };
            let factor = part.first().map_or(0, |low| low.wrapping_mul(self.inverse));
            add_product(part, self.n, factor);
        }
        let over = self.wide.last().is_some_and(|last| *last != 0);
        if let Some(high) = self.wide.get(words..2 * words) {
            number.copy_from_slice(high);
        }
        self.reduce_once(number, over);
    }

    /// One round of Miller–Rabin; without a base, with base 2.
    fn passes(&mut self, base: Option<u64>) -> bool {
        let one = self.one();
        let mut less = self.n.to_vec();
        subtract(&mut less, &one);
        let base = base.map(|base| self.form(base));
        let twos = trailing_zeros_of_predecessor(self.n);
        let mut power = one.clone();
        for bit in (twos..64 * self.n.len()).rev() {
            self.square(&mut power);
            if bit_at(self.n, bit) {
                match &base {
                    Some(base) => self.multiply(&mut power, base),
                    None => self.double(&mut power),
                }
            }
        }
        if power == one || power == less {
            return true;
        }
        (1..twos).any(|_| {
            self.square(&mut power);
            power == less
        })
    }
}

/// Twice a word, with the bit that the word below shifted out, plus another word and a carry; the sum, the bit that is
/// shifted out, and the carry.
fn doubled_plus(word: u64, shifted: u64, more: u64, carry: bool) -> (u64, u64, bool) {
    let (sum, over) = (word << 1 | shifted).overflowing_add(more);
    let (sum, again) = sum.overflowing_add(carry.into());
    (sum, word >> 63, over | again)
}

/// Adds `number` times `by`, carrying on as far as needed.
fn add_product(out: &mut [u64], number: &[u64], by: u64) {
    let (low, high) = out.split_at_mut(number.len().min(out.len()));
    let mut carry = 0u64;
    for (place, word) in low.iter_mut().zip(number) {
        let sum = u128::from(*place) + u128::from(*word) * u128::from(by) + u128::from(carry);
        *place = sum as u64;
        carry = (sum >> 64) as u64;
    }
    for place in high {
        if carry == 0 {
            break;
        }
        let (sum, over) = place.overflowing_add(carry);
        *place = sum;
        carry = over.into();
    }
}

fn subtract(out: &mut [u64], number: &[u64]) {
    let mut borrow = false;
    for (place, word) in out.iter_mut().zip(number) {
        let (rest, under) = place.overflowing_sub(*word);
        let (rest, again) = rest.overflowing_sub(borrow.into());
        *place = rest;
        borrow = under | again;
    }
}

/// Bits of an odd number and of its predecessor differ in the lowest only.
fn bit_at(number: &[u64], bit: usize) -> bool {
    number.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
}

fn trailing_zeros_of_predecessor(number: &[u64]) -> usize {
    (1..64 * number.len()).find(|bit| bit_at(number, *bit)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &[u8]) -> Vec<u64> {
        BigUint::parse_bytes(text, 16).unwrap_or_default().iter_u64_digits().collect()
    }

    #[test]
    fn known_primes_pass_and_products_do_not() {
        let mut random = Random::new(1, b"", 0);
        // 2^64 - 59, 2^128 - 159 and 2^192 - 237 are the largest primes of their sizes.
        for prime in
            ["ffffffffffffffc5", "ffffffffffffffffffffffffffffff61", "ffffffffffffffffffffffffffffffffffffffffffffff13"]
        {
            assert!(is_prime(&words(prime.as_bytes()), &mut random), "{prime}");
        }
        let (p, q) = (BigUint::from(u64::MAX - 58), BigUint::from(u64::MAX - 82));
        let product: Vec<u64> = (p * q).iter_u64_digits().collect();
        assert!(!is_prime(&product, &mut random));
        // 2^64 - 1 = 3 · 5 · 17 · 257 · 641 · 65537 · 6700417.
        assert!(!is_prime(&words(b"ffffffffffffffff"), &mut random));
    }

    #[test]
    fn squares_agree_with_those_of_the_library() {
        let mut random = Random::new(7, b"", 0);
        for _ in 0..50 {
            let n = random_odd(&mut random, 4);
            let mut modulus = Modulus::new(&n);
            let base = random.next();
            let mut squared = modulus.form(base);
            (0..3).for_each(|_| modulus.square(&mut squared));
            // Out of Montgomery form: multiply by plain 1.
            let mut plain = vec![0; 4];
            plain[0] = 1;
            modulus.multiply(&mut squared, &plain);
            let whole = BigUint::new(n.iter().flat_map(|w| [*w as u32, (w >> 32) as u32]).collect());
            let expected = BigUint::from(base).modpow(&BigUint::from(8u32), &whole);
            let mut expected: Vec<u64> = expected.iter_u64_digits().collect();
            expected.resize(4, 0);
            assert_eq!(squared, expected);
        }
    }

    #[test]
    fn the_sieve_leaves_no_number_with_a_small_factor() {
        let (start, small) = (random_odd(&mut Random::new(3, b"", 0), 2), small_primes());
        assert_eq!((small.len(), small.last()), (6_541, Some(&65_521)));
        for (at, is_sieved) in sieve(&start, &small, 500).into_iter().enumerate() {
            let number = plus(&start, 2 * at as u64).unwrap_or_default();
            let number = BigUint::new(number.iter().flat_map(|w| [*w as u32, (w >> 32) as u32]).collect());
            let has_factor = small.iter().any(|prime| &number % *prime == BigUint::ZERO);
            assert_eq!(is_sieved, has_factor, "{number}");
        }
    }
}
