//! Names of contents: a hash and a size. Everything that is sent or received is found and checked by them.

use crate::wire::{Fields, Malformed, Message, Writer};
use sha2::Digest as _;
use std::fmt;
use std::io::{self, Read};

/// A digest function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Function {
    /// SHA-256, which every server has.
    #[default]
    Sha256,
    /// BLAKE3.
    Blake3,
}

impl Function {
    /// Its number in messages.
    pub fn number(self) -> u64 {
        match self {
            Function::Sha256 => 1,
            Function::Blake3 => 9,
        }
    }

    /// The function of a number, if it is supported.
    pub fn of(number: u64) -> Option<Self> {
        [Function::Sha256, Function::Blake3].into_iter().find(|function| function.number() == number)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Function::Sha256 => "SHA-256",
            Function::Blake3 => "BLAKE3",
        }
    }

    /// The digest of some bytes.
    pub fn digest(self, bytes: &[u8]) -> Digest {
        let mut hasher = self.hasher();
        hasher.update(bytes);
        hasher.finish()
    }

    /// A hasher for contents that come in pieces.
    pub fn hasher(self) -> Hasher {
        let inner = match self {
            Function::Sha256 => Inner::Sha256(sha2::Sha256::new()),
            Function::Blake3 => Inner::Blake3(Box::new(blake3::Hasher::new())),
        };
        Hasher { inner, size: 0 }
    }
}

/// The digest of a content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    /// The hash.
    pub hash: [u8; 32],
    /// The number of bytes.
    pub size: u64,
}

impl Digest {
    /// The hash in hexadecimal digits.
    pub fn hex(&self) -> String {
        purlin_value::encoding::hex(&self.hash)
    }

    /// Reads `hash/size`.
    pub fn parse(text: &str) -> Option<Digest> {
        let (hash, size) = text.split_once('/')?;
        Some(Digest { hash: bytes_of(hash)?, size: size.parse().ok()? })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hex(), self.size)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn bytes_of(hex: &str) -> Option<[u8; 32]> {
    purlin_value::encoding::from_hex(hex.as_bytes())?.try_into().ok()
}

impl Message for Digest {
    fn encode(&self, to: &mut Writer) {
        to.text(1, &self.hex());
        to.number(2, self.size);
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let (mut hash, mut size) = (None, 0);
        for field in Fields::of(bytes) {
            match field? {
                (1, field) => hash = Some(field.text()?),
                (2, field) => size = field.number()?,
                _ => {}
            }
        }
        let hash = bytes_of(&hash.ok_or(Malformed)?).ok_or(Malformed)?;
        if size > i64::MAX.cast_unsigned() { Err(Malformed) } else { Ok(Digest { hash, size }) }
    }
}

enum Inner {
    Sha256(sha2::Sha256),
    Blake3(Box<blake3::Hasher>),
}

/// Computes a digest.
pub struct Hasher {
    inner: Inner,
    size: u64,
}

impl Hasher {
    /// Takes the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        match &mut self.inner {
            Inner::Sha256(hasher) => hasher.update(bytes),
            Inner::Blake3(hasher) => {
                hasher.update(bytes);
            }
        }
    }

    /// The digest of what was taken.
    pub fn finish(self) -> Digest {
        let hash = match self.inner {
            Inner::Sha256(hasher) => hasher.finalize().into(),
            Inner::Blake3(hasher) => *hasher.finalize().as_bytes(),
        };
        Digest { hash, size: self.size }
    }

    /// The digest of a stream; `also` gets the same pieces.
    pub fn read(mut self, from: &mut dyn Read, also: &mut dyn FnMut(&[u8])) -> io::Result<Digest> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let piece = buffer.get(..count).unwrap_or_default();
            if piece.is_empty() {
                return Ok(self.finish());
            }
            self.update(piece);
            also(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn digests_are_those_of_the_standards() {
        let empty = Function::Sha256.digest(b"");
        assert_eq!(empty.to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855/0");
        let blake = Function::Blake3.digest(b"");
        assert_eq!(blake.hex(), "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
        assert_eq!(Digest::parse(&empty.to_string()), Some(empty));
        assert_eq!(Digest::decode(&empty.to_bytes()), Ok(empty));
        assert_eq!(Digest::parse("zz/1"), None);
        let read = Function::Sha256.hasher().read(&mut &b"abc"[..], &mut |_| {}).unwrap();
        assert_eq!(read, Function::Sha256.digest(b"abc"));
    }
}
