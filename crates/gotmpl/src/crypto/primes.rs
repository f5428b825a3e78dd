//! The primes of long RSA keys: the same ones that the RSA library would draw, found in less time.
//!
//! Nearly all the time is spent on candidates that are not prime. Most of them are excluded by one power of two,
//! whose multiplications are doublings; the others are left to the library's own test. It must not know keys.

use crate::random::Random;
use crypto_bigint::{MontyForm, MontyMultiplier, Odd, RandomBits, RandomMod, UnsignedWithMontyForm};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};

/// A prime with its two highest bits set; `None` if the library gives up.
pub fn prime<T: UnsignedWithMontyForm + RandomBits + RandomMod>(random: &mut Random, bits: u32) -> Option<T> {
    let candidates = SmallFactorsSieveFactory::new(Flavor::Any, bits, SetBits::TwoMsb).ok()?;
    let is_found = |_: &mut Random, candidate: &T| may_be_prime(candidate) && is_prime(Flavor::Any, candidate);
    sieve_and_find(random, candidates, is_found).ok().flatten()
}

/// Fermat's test with base two: false only if the number is certainly not prime.
fn may_be_prime<T: UnsignedWithMontyForm>(candidate: &T) -> bool {
    let Some(odd) = Odd::new(candidate.clone()).into_option() else { return false };
    let params = T::MontyForm::new_params_vartime(odd);
    let mut multiplier = <T::MontyForm as MontyForm>::Multiplier::from(&params);
    let mut power = T::MontyForm::one(&params).double();
    // The exponent is one less than the odd candidate: the same bits except the lowest.
    for bit in (0..candidate.bits_vartime().saturating_sub(1)).rev() {
        multiplier.square_assign(&mut power);
        if bit > 0 && candidate.bit_vartime(bit) {
            power = power.double();
        }
    }
    power.is_one().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crypto_bigint::{U64, U512};
    use purlin_value::Seed;
    use rsa::traits::PrivateKeyParts;

    #[test]
    fn only_numbers_that_are_not_prime_are_refused() {
        let is_prime =
            |number: u64| number > 1 && (2..number).take_while(|d| d * d <= number).all(|d| !number.is_multiple_of(d));
        let refused = |number: u64| !may_be_prime(&U64::from_u64(number));
        assert!((3..20_000).all(|number| !(is_prime(number) && refused(number))));
        // Otherwise the test would be useless: few composites pass.
        assert!((3..20_000).filter(|number| !is_prime(*number) && !refused(*number)).count() < 50);
    }

    #[test]
    fn the_primes_are_those_of_the_library() {
        let draw = || Random::new(&Seed::from(7), b"place", 1);
        let key = rsa::RsaPrivateKey::new(&mut draw(), 1024).ok();
        let library: Option<Vec<Vec<u8>>> =
            key.map(|key| key.primes().iter().map(|prime| prime.to_be_bytes().to_vec()).collect());
        let mut random = draw();
        let ours = [(); 2].map(|()| prime::<U512>(&mut random, 512).map(|prime| prime.to_be_bytes().to_vec()));
        assert_eq!(ours.into_iter().collect::<Option<Vec<_>>>(), library);
        assert!(library.is_some());
    }
}
