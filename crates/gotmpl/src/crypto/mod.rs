//! Keys and randomness, repeatable.

pub(crate) mod keys;
pub(crate) mod pem;
pub(crate) mod primes;
pub(crate) mod random;
