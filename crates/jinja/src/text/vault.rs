//! Ansible vault, formats 1.1 and 1.2: AES-256-CTR with HMAC-SHA256, keys from a password by PBKDF2.
//!
//! Checks compare in constant time. Keys are kept as long as their password, since deriving one takes milliseconds and
//! the same data is opened in every environment; then they are wiped. This must not read files or the environment.

use aes::cipher::{KeyIvInit, StreamCipher};
use ecow::EcoString;
use hmac::{Hmac, KeyInit, Mac};
use purlin_value::Session;
use purlin_value::encoding::{from_hex, hex};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

type Cipher = ctr::Ctr128BE<aes::Aes256>;

/// Rounds of PBKDF2, fixed by the format.
const ROUNDS: u32 = 10_000;
/// Bytes of salt.
const SALT: usize = 32;
/// Cipher key, HMAC key, counter.
const DERIVED: usize = 80;
/// Block size of the padding.
const BLOCK: usize = 16;
/// Characters in a line of the body.
const LINE: usize = 80;
/// How every vault begins.
const MAGIC: &str = "$ANSIBLE_VAULT;";

/// A salt made from a random number and the text to encrypt.
pub fn salt(random: u64, plain: &[u8]) -> [u8; SALT] {
    let mut hash = Sha256::new();
    hash.update(b"vault salt");
    hash.update(random.to_le_bytes());
    hash.update(plain);
    hash.finalize().into()
}

/// A vault's name and password.
#[derive(Clone)]
pub struct Secret {
    /// Its id; `default` if it has none.
    pub id: EcoString,
    password: Zeroizing<Vec<u8>>,
    keys: Arc<Ring>,
}

/// The keys of a password, by salt.
#[derive(Default)]
struct Ring(Mutex<HashMap<Vec<u8>, Keys>>);

type Keys = Arc<Zeroizing<[u8; DERIVED]>>;

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.id)
    }
}

impl Secret {
    /// A password for an id.
    pub fn new(id: impl Into<EcoString>, password: &str) -> Self {
        Secret { id: id.into(), password: Zeroizing::new(password.as_bytes().to_vec()), keys: Arc::default() }
    }

    /// The same, with keys that all environments of a project share.
    pub fn shared(session: &Session, id: impl Into<EcoString>, password: &str) -> Self {
        let about = hex(&Sha256::digest(password.as_bytes()));
        Secret { keys: session.in_common(&about, Ring::default), ..Secret::new(id, password) }
    }

    /// The keys for a salt, derived on first use.
    fn keys(&self, salt: &[u8]) -> Keys {
        let mut known = self.keys.0.lock().unwrap_or_else(PoisonError::into_inner);
        let derived = || Arc::new(Zeroizing::new(derive(&self.password, salt)));
        known.entry(salt.to_vec()).or_insert_with(derived).clone()
    }
}

/// Why a vault was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// The text is not a vault.
    NotAVault,
    /// The vault is damaged.
    Damaged,
    /// No password opens it.
    WrongPassword,
    /// No password is set.
    NoPassword,
}

impl Problem {
    /// The error message.
    pub fn message(self) -> &'static str {
        match self {
            Problem::NotAVault => "this is not vault data",
            Problem::Damaged => "the vault data is damaged",
            Problem::WrongPassword => "no password opens this vault data",
            Problem::NoPassword => "no vault password is given",
        }
    }
}

impl Problem {
    /// The hint, where it differs from that of the rule.
    pub fn hint(self) -> Option<&'static str> {
        let is_of_password = matches!(self, Problem::WrongPassword | Problem::NoPassword);
        is_of_password.then_some("set `UNFURL_VAULT_DEFAULT_PASSWORD`")
    }
}

/// Whether a text is vault data.
pub fn is_vault(text: &[u8]) -> bool {
    text.starts_with(MAGIC.as_bytes())
}

/// Decrypts vault data with the first password that opens it; those of its own id are tried first.
pub fn decrypt(text: &str, secrets: &[Secret]) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let (header, body) = text.trim_start().split_once('\n').ok_or(Problem::NotAVault)?;
    let id = read_header(header.trim_end())?;
    let envelope = Envelope::read(body)?;
    if secrets.is_empty() {
        return Err(Problem::NoPassword);
    }
    let own = secrets.iter().filter(|secret| secret.id == id);
    let others = secrets.iter().filter(|secret| secret.id != id);
    for secret in own.chain(others) {
        if let Some(plain) = envelope.open(secret)? {
            return Ok(plain);
        }
    }
    Err(Problem::WrongPassword)
}

/// Encrypts data for an id with a salt of 32 random bytes.
pub fn encrypt(plain: &[u8], secret: &Secret, salt: [u8; SALT]) -> String {
    let keys = secret.keys(&salt);
    let mut text = Zeroizing::new(plain.to_vec());
    let padding = BLOCK - text.len() % BLOCK;
    text.extend(std::iter::repeat_n(u8::try_from(padding).unwrap_or(0), padding));
    apply_cipher(&keys, &mut text);
    let tag = authenticate(&keys, &text);
    let inner = format!("{}\n{}\n{}", hex(&salt), hex(&tag), hex(&text));
    let body = hex(inner.as_bytes());
    let mut out = match secret.id.as_str() {
        "" | "default" => format!("{MAGIC}1.1;AES256\n"),
        id => format!("{MAGIC}1.2;AES256;{id}\n"),
    };
    for line in body.as_bytes().chunks(LINE) {
        out.push_str(std::str::from_utf8(line).unwrap_or(""));
        out.push('\n');
    }
    out
}

/// The id in a header.
fn read_header(header: &str) -> Result<&str, Problem> {
    let mut parts = header.strip_prefix(MAGIC).ok_or(Problem::NotAVault)?.split(';');
    let version = parts.next().unwrap_or("");
    if !matches!(version, "1.1" | "1.2") || parts.next() != Some("AES256") {
        return Err(Problem::Damaged);
    }
    Ok(parts.next().unwrap_or("default"))
}

struct Envelope {
    salt: Vec<u8>,
    tag: Vec<u8>,
    cipher: Vec<u8>,
}

impl Envelope {
    fn read(body: &str) -> Result<Envelope, Problem> {
        let digits: String = body.split_whitespace().collect();
        let inner = from_hex(digits.as_bytes()).ok_or(Problem::Damaged)?;
        let mut parts = inner.split(|b| *b == b'\n');
        let mut part = || parts.next().and_then(from_hex).ok_or(Problem::Damaged);
        Ok(Envelope { salt: part()?, tag: part()?, cipher: part()? })
    }

    /// The data, if the password is right.
    fn open(&self, secret: &Secret) -> Result<Option<Zeroizing<Vec<u8>>>, Problem> {
        let keys = secret.keys(&self.salt);
        let tag = authenticate(&keys, &self.cipher);
        if !bool::from(tag.as_slice().ct_eq(&self.tag)) {
            return Ok(None);
        }
        let mut plain = Zeroizing::new(self.cipher.clone());
        apply_cipher(&keys, &mut plain);
        let padding = plain.last().copied().map_or(0, usize::from);
        let kept = plain.len().checked_sub(padding).filter(|_| (1..=BLOCK).contains(&padding));
        let kept = kept.ok_or(Problem::Damaged)?;
        if plain.iter().skip(kept).any(|b| usize::from(*b) != padding) {
            return Err(Problem::Damaged);
        }
        plain.truncate(kept);
        Ok(Some(plain))
    }
}

fn derive(password: &[u8], salt: &[u8]) -> [u8; DERIVED] {
    let mut keys = [0; DERIVED];
    pbkdf2::pbkdf2_hmac::<Sha256>(password, salt, ROUNDS, &mut keys);
    keys
}

fn apply_cipher(keys: &[u8; DERIVED], text: &mut [u8]) {
    let (cipher_key, rest) = keys.split_at(32);
    let (_, counter) = rest.split_at(32);
    if let Ok(mut cipher) = Cipher::new_from_slices(cipher_key, counter) {
        cipher.apply_keystream(text);
    }
}

fn authenticate(keys: &[u8; DERIVED], text: &[u8]) -> Vec<u8> {
    let (_, rest) = keys.split_at(32);
    let (key, _) = rest.split_at(32);
    match Hmac::<Sha256>::new_from_slice(key) {
        Ok(mut mac) => {
            mac.update(text);
            mac.finalize().into_bytes().to_vec()
        }
        Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_encrypted_can_be_decrypted() {
        for (id, plain) in [("default", "secret"), ("prod", ""), ("default", "multi\nline ü")] {
            let secret = Secret::new(id, "pw");
            let text = encrypt(plain.as_bytes(), &secret, [7; 32]);
            let other = Secret::new("other", "nope");
            assert_eq!(&**decrypt(&text, &[other.clone(), secret]).unwrap(), plain.as_bytes());
            assert_eq!(decrypt(&text, &[other]).unwrap_err(), Problem::WrongPassword);
        }
    }

    #[test]
    fn damage_is_noticed() {
        let secret = Secret::new("default", "pw");
        let text = encrypt(b"secret", &secret, [1; 32]);
        let mut damaged = text.clone().into_bytes();
        let last = damaged.len() - 2;
        damaged[last] = if damaged[last] == b'0' { b'1' } else { b'0' };
        assert!(decrypt(std::str::from_utf8(&damaged).unwrap(), std::slice::from_ref(&secret)).is_err());
        for bad in ["", "$ANSIBLE_VAULT;1.1;AES256", "$ANSIBLE_VAULT;1.1;AES256\nzz", "$ANSIBLE_VAULT;9;X\n00"] {
            assert!(decrypt(bad, std::slice::from_ref(&secret)).is_err());
        }
    }
}
