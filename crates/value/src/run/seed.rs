//! The source of all randomness in a run. Two runs with the same seed draw the same.
//!
//! A numeric seed is public: values drawn from it can be repeated, and guessed. Values that end up in a cluster are
//! drawn from a secret one. The source of seeds is unknown here.

use sha2::{Digest, Sha256};

/// The seed of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    bytes: [u8; 32],
    is_secret: bool,
}

impl Seed {
    /// A secret seed, which cannot be guessed.
    pub fn secret(bytes: [u8; 32]) -> Self {
        Seed { bytes, is_secret: true }
    }

    /// Whether values drawn from it cannot be guessed.
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }

    /// The bytes of the seed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The seed of a part of the run: each part draws values of its own.
    pub fn of_part(&self, names: &[&str]) -> Seed {
        let mut hash = Sha256::new();
        hash.update(self.bytes);
        for name in names {
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
        }
        Seed { bytes: hash.finalize().into(), is_secret: self.is_secret }
    }
}

impl From<u64> for Seed {
    fn from(number: u64) -> Self {
        let mut bytes = [0; 32];
        for (place, byte) in bytes.iter_mut().zip(number.to_le_bytes()) {
            *place = byte;
        }
        Seed { bytes, is_secret: false }
    }
}

/// The seed of runs without an explicit one.
impl Default for Seed {
    fn default() -> Self {
        Seed::from(0)
    }
}

/// Values drawn from a secret seed are secret, and so is the seed.
impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.is_secret {
            true => f.write_str("Seed(secret)"),
            false => write!(f, "Seed({:?})", self.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_draw_values_of_their_own() {
        let seed = Seed::from(7);
        assert_eq!(seed.of_part(&["a", "b"]), Seed::from(7).of_part(&["a", "b"]));
        assert_ne!(seed.of_part(&["a", "b"]), seed.of_part(&["ab", ""]));
        assert_ne!(seed.of_part(&["a"]), Seed::from(8).of_part(&["a"]));
    }

    #[test]
    fn a_secret_seed_is_not_shown() {
        let seed = Seed::secret([42; 32]);
        assert_eq!(format!("{seed:?}"), "Seed(secret)");
        assert!(seed.of_part(&["a"]).is_secret() && !Seed::default().of_part(&["a"]).is_secret());
    }
}
