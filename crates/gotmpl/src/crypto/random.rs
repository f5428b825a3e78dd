//! Repeatable randomness: drawn from (seed, location in a template, number of the call there).

use purlin_value::Seed;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

use crate::machine::{Exec, Machine};
use crate::rope::Rope;
use crate::value::{Str, Val};

/// A stream of random bytes.
pub struct Random {
    key: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Random {
    /// The stream of one call.
    pub fn new(seed: &Seed, place: &[u8], call: u32) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.bytes());
        hash.update((place.len() as u64).to_le_bytes());
        hash.update(place);
        hash.update(call.to_le_bytes());
        Self { key: hash.finalize().into(), counter: 0, block: [0; 32], used: 32 }
    }

    /// The identity of this stream.
    pub(crate) fn key(&self) -> [u8; 32] {
        self.key
    }

    /// Fills a buffer.
    pub fn fill(&mut self, out: &mut [u8]) {
        for place in out {
            if self.used == 32 {
                let mut hash = Sha256::new();
                hash.update(self.key);
                hash.update(self.counter.to_le_bytes());
                self.block = hash.finalize().into();
                self.counter += 1;
                self.used = 0;
            }
            *place = self.block.get(self.used).copied().unwrap_or_default();
            self.used += 1;
        }
    }

    /// A number.
    pub fn next(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below a bound, all equally likely.
    pub fn below(&mut self, bound: u64) -> u64 {
        let bound = bound.max(1);
        let zone = u64::MAX - u64::MAX % bound;
        loop {
            let number = self.next();
            if number < zone {
                return number % bound;
            }
        }
    }
}

/// The form of randomness that key generation requires.
impl rsa::rand_core::TryRng for Random {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(self.next() as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
        self.fill(out);
        Ok(())
    }
}

/// SHA-256 in counter mode: indistinguishable from chance without the seed.
impl rsa::rand_core::TryCryptoRng for Random {}

/// Location where a password or a key was first drawn from a public seed.
#[derive(Debug, Default)]
pub struct Guessable(OnceLock<Vec<(String, u32)>>);

impl Guessable {
    /// The location of the draw and of the calls around it, innermost first: the file, as the templates name it, and
    /// the offset in it. `None` if there was no such draw.
    pub fn places(&self) -> Option<&[(String, u32)]> {
        self.0.get().map(Vec::as_slice)
    }
}

impl Machine<'_> {
    /// Makes a part of a render with random values of its own, independent of the number and order of other parts.
    pub fn drawing_as<T>(&mut self, part: &[u8], make: impl FnOnce(&mut Self) -> T) -> T {
        let salt = std::mem::replace(&mut self.salt, part.to_vec());
        let draws = std::mem::take(&mut self.draws);
        let made = make(self);
        (self.salt, self.draws) = (salt, draws);
        made
    }

    /// Executes a template. A file with the same data as in its own rendering draws the same values each time: the
    /// checksum of a Secret is that of the printed Secret.
    pub fn execute_named(&mut self, name: &Str, data: Val) -> Exec<Rope> {
        match self.contexts.get(name) {
            Some(own) if data.as_map() == Some(*own) => self.drawing_as(name.bytes(), |m| m.execute(name, data)),
            _ => self.execute(name, data),
        }
    }

    /// The random stream of the current function call.
    pub fn random(&mut self) -> Random {
        let draws = self.draws.entry(self.site).or_insert(0);
        *draws += 1;
        let call = *draws;
        // The location is a file and an offset, so that adding a file does not change other draws.
        let place = self.place(self.site).map(|(file, offset)| format!("{file}:{offset}")).unwrap_or_default();
        let place = [place.as_bytes(), &[0], &self.salt].concat();
        Random::new(&self.outside.seed, &place, call)
    }

    /// The same for values that must not be guessable: passwords and keys.
    pub fn random_secret(&mut self) -> Random {
        if let Some(noted) = self.outside.guessable.as_ref().filter(|_| !self.outside.seed.is_secret()) {
            noted.0.get_or_init(|| self.places());
        }
        self.random()
    }

    /// The locations of the current function call and of the templates around it, innermost first.
    fn places(&self) -> Vec<(String, u32)> {
        let mut places: Vec<_> = self.place(self.site).into_iter().collect();
        let mut at = self.current_call();
        while let Some(call) = self.calls.get(at as usize).filter(|_| at != 0) {
            places.extend(self.place(call.site));
            at = call.parent;
        }
        places
    }

    /// The file of a location, and the offset in it.
    fn place(&self, site: u32) -> Option<(String, u32)> {
        let source = self.sources.iter().rev().find(|source| source.file.base <= site)?;
        Some((source.file.name.to_string(), site - source.file.base))
    }
}
