//! Private keys: made from the run's randomness, read from PEM, used to sign certificates.
//!
//! Keys drawn here end up in rendered manifests; nothing here guards against an observer on the same machine.

use num_bigint::BigUint;
use p256::ecdsa::signature::Signer;
use sha2::{Digest, Sha256};

use crate::der::{bit_string, element, integer, oid, pem, read_pem, sequence, take, take_integer};
use crate::primes::prime;
use crate::random::Random;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const RSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const ECDSA_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const SHA256: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];

/// A private key.
pub enum Key {
    /// RSA: modulus, private exponent, and the two primes.
    Rsa(Box<RsaKey>),
    /// ECDSA on P-256.
    Ecdsa(Box<p256::ecdsa::SigningKey>),
    /// Ed25519.
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

/// An RSA key.
pub struct RsaKey {
    n: BigUint,
    d: BigUint,
    p: BigUint,
    q: BigUint,
}

const PUBLIC_EXPONENT: u32 = 65_537;

impl Key {
    /// A new RSA key of this many bits.
    pub fn rsa(random: &mut Random, bits: usize) -> Self {
        let e = BigUint::from(PUBLIC_EXPONENT);
        let one = BigUint::from(1u32);
        loop {
            let (p, q) = (prime(random, bits / 2), prime(random, bits / 2));
            if p == q {
                continue;
            }
            let totient = (&p - &one) * (&q - &one);
            if let Some(d) = e.modinv(&totient) {
                let n = &p * &q;
                return Self::Rsa(Box::new(RsaKey { n, d, p, q }));
            }
        }
    }

    /// A new key on P-256.
    pub fn ecdsa(random: &mut Random) -> Self {
        loop {
            let mut secret = [0u8; 32];
            random.fill(&mut secret);
            if let Ok(key) = p256::ecdsa::SigningKey::from_slice(&secret) {
                return Self::Ecdsa(Box::new(key));
            }
        }
    }

    /// A new Ed25519 key.
    pub fn ed25519(random: &mut Random) -> Self {
        let mut secret = [0u8; 32];
        random.fill(&mut secret);
        Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&secret)))
    }

    /// The key as PEM, in the form Go writes it.
    pub fn to_pem(&self) -> String {
        match self {
            Self::Rsa(key) => pem("RSA PRIVATE KEY", &key.pkcs1()),
            Self::Ecdsa(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                let content = sequence(&[
                    integer(&[1]),
                    element(4, &key.to_bytes()),
                    element(0xa0, &oid(P256)),
                    element(0xa1, &bit_string(point.as_bytes())),
                ]);
                pem("EC PRIVATE KEY", &content)
            }
            Self::Ed25519(key) => {
                let inner = element(4, &element(4, &key.to_bytes()));
                pem("PRIVATE KEY", &sequence(&[integer(&[0]), sequence(&[oid(ED25519)]), inner]))
            }
        }
    }

    /// Reads a key from PEM: PKCS #1, SEC 1 or PKCS #8.
    pub fn from_pem(text: &str) -> Option<Self> {
        let (label, content) = read_pem(text)?;
        match label.as_str() {
            "RSA PRIVATE KEY" => read_pkcs1(&content),
            "EC PRIVATE KEY" => read_sec1(&content),
            "PRIVATE KEY" => read_pkcs8(&content),
            _ => None,
        }
    }

    /// The public key as certificates carry it.
    pub fn public_info(&self) -> Vec<u8> {
        match self {
            Self::Rsa(key) => sequence(&[sequence(&[oid(RSA), element(5, &[])]), bit_string(&key.public())]),
            Self::Ecdsa(key) => {
                let point = key.verifying_key().to_sec1_point(false);
                sequence(&[sequence(&[oid(EC), oid(P256)]), bit_string(point.as_bytes())])
            }
            Self::Ed25519(key) => sequence(&[sequence(&[oid(ED25519)]), bit_string(key.verifying_key().as_bytes())]),
        }
    }

    /// The signature algorithm as certificates name it.
    pub fn algorithm(&self) -> Vec<u8> {
        match self {
            Self::Rsa(_) => sequence(&[oid(RSA_SHA256), element(5, &[])]),
            Self::Ecdsa(_) => sequence(&[oid(ECDSA_SHA256)]),
            Self::Ed25519(_) => sequence(&[oid(ED25519)]),
        }
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa(key) => key.sign(message),
            Self::Ecdsa(key) => {
                let signature: p256::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
            Self::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
        }
    }
}

impl RsaKey {
    fn public(&self) -> Vec<u8> {
        sequence(&[integer(&self.n.to_bytes_be()), integer(&PUBLIC_EXPONENT.to_be_bytes())])
    }

    fn pkcs1(&self) -> Vec<u8> {
        let one = BigUint::from(1u32);
        let big = |number: &BigUint| integer(&number.to_bytes_be());
        let inverse = self.q.modinv(&self.p).unwrap_or_default();
        sequence(&[
            integer(&[0]),
            big(&self.n),
            integer(&PUBLIC_EXPONENT.to_be_bytes()),
            big(&self.d),
            big(&self.p),
            big(&self.q),
            big(&(&self.d % (&self.p - &one))),
            big(&(&self.d % (&self.q - &one))),
            big(&inverse),
        ])
    }

    /// PKCS #1 v1.5 with SHA-256.
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let digest = Sha256::digest(message);
        let info = sequence(&[sequence(&[oid(SHA256), element(5, &[])]), element(4, &digest)]);
        let size = self.n.bits().div_ceil(8) as usize;
        let mut padded = vec![0, 1];
        padded.extend(std::iter::repeat_n(0xff, size.saturating_sub(info.len() + 3)));
        padded.push(0);
        padded.extend(info);
        let signed = BigUint::from_bytes_be(&padded).modpow(&self.d, &self.n).to_bytes_be();
        let mut out = vec![0; size.saturating_sub(signed.len())];
        out.extend(signed);
        out
    }
}

fn read_pkcs1(content: &[u8]) -> Option<Key> {
    let (_, mut body) = take(&mut &*content)?;
    take_integer(&mut body)?;
    let mut next = || take_integer(&mut body).map(BigUint::from_bytes_be);
    let (n, _, d, p, q) = (next()?, next()?, next()?, next()?, next()?);
    Some(Key::Rsa(Box::new(RsaKey { n, d, p, q })))
}

fn read_sec1(content: &[u8]) -> Option<Key> {
    let (_, mut body) = take(&mut &*content)?;
    take_integer(&mut body)?;
    let (_, secret) = take(&mut body)?;
    p256::ecdsa::SigningKey::from_slice(secret).ok().map(|key| Key::Ecdsa(Box::new(key)))
}

fn read_pkcs8(content: &[u8]) -> Option<Key> {
    let (_, mut body) = take(&mut &*content)?;
    take_integer(&mut body)?;
    let (_, mut algorithm) = take(&mut body)?;
    let (_, inner) = take(&mut body)?;
    match take(&mut algorithm)?.1 {
        RSA => read_pkcs1(inner),
        EC => read_sec1(inner),
        ED25519 => {
            let (_, secret) = take(&mut &*inner)?;
            let secret: [u8; 32] = secret.try_into().ok()?;
            Some(Key::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&secret))))
        }
        _ => None,
    }
}
