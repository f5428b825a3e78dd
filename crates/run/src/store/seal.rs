//! Seals for records: a keyed digest that only this user can make, for this checkout alone.
//!
//! A repository can bring any file; it cannot bring the user's secret. Knows nothing of files.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Number of bytes of a digest that are kept.
const TAG: usize = 16;

/// The user's key, from which the seal of every checkout is derived.
#[derive(Clone)]
pub struct Key {
    secret: [u8; 32],
    is_kept: bool,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key").field("is_kept", &self.is_kept).finish_non_exhaustive()
    }
}

impl Key {
    /// The key of the user that this environment belongs to. If none can be stored, one for this process alone.
    pub fn of_user(env: &BTreeMap<String, String>) -> Self {
        match purlin_host::secret::of_user(env) {
            Some(secret) => Key { secret, is_kept: true },
            None => Key { secret: purlin_host::secret::draw(), is_kept: false },
        }
    }

    /// Whether the next run has the same key.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// The seal of a checkout.
    pub(super) fn seal(&self, project: &Path) -> Seal {
        let outer = Seal(keyed(&self.secret));
        let bound = outer.digest(&[b"purlin results", project.as_os_str().as_bytes()]);
        Seal(keyed(&bound))
    }
}

fn keyed(secret: &[u8; 32]) -> Hmac<Sha256> {
    // Keys of block size are always valid; a shorter one is padded to it here.
    let mut block = [0; 64];
    block.iter_mut().zip(secret).for_each(|(to, from)| *to = *from);
    Hmac::<Sha256>::new(&block.into())
}

/// Seals records of one checkout.
#[derive(Clone)]
pub struct Seal(Hmac<Sha256>);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    fn digest(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.0.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// The tag of a text for the purpose `what`.
    pub fn tag(&self, what: &str, text: &[u8]) -> String {
        let digest = self.digest(&[what.as_bytes(), text]);
        super::hex(digest.get(..TAG).unwrap_or_default())
    }

    /// A text behind its tag.
    pub fn sealed(&self, what: &str, text: &str) -> String {
        format!("{} {text}", self.tag(what, text.as_bytes()))
    }

    /// The text behind a tag, if the tag is ours.
    pub fn open<'t>(&self, what: &str, sealed: &'t str) -> Option<&'t str> {
        let (tag, text) = sealed.split_once(' ')?;
        (self.tag(what, text.as_bytes()) == tag).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_seal_holds_for_one_user_one_checkout_and_one_use() {
        let (one, other) = (Key { secret: [1; 32], is_kept: true }, Key { secret: [2; 32], is_kept: true });
        let here = one.seal(Path::new("/a"));
        let sealed = here.sealed("note", "x y");
        assert_eq!(here.open("note", &sealed), Some("x y"));
        assert_eq!(here.open("journal", &sealed), None);
        assert_eq!(one.seal(Path::new("/b")).open("note", &sealed), None);
        assert_eq!(other.seal(Path::new("/a")).open("note", &sealed), None);
        assert_eq!(here.open("note", &sealed.replace("x y", "x z")), None);
    }
}
