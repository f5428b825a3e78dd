//! Private keys: made from the run's randomness, read from PEM, used to sign certificates.
//!
//! The arithmetic, the encodings and the signatures are those of the RustCrypto libraries.

use rsa::pkcs1::{DecodeRsaPrivateKey, EncodeRsaPrivateKey};
use rsa::pkcs8::{DecodePrivateKey, EncodePrivateKey, LineEnding};
use rsa::sha2::Sha256;
use rsa::traits::PublicKeyParts;
use x509_cert::Certificate;
use x509_cert::builder::{self, Builder, CertificateBuilder, profile::BuilderProfile};
use x509_cert::spki::SubjectPublicKeyInfo;

use crate::random::Random;
use crate::{pem, primes};
use crypto_bigint::{BoxedUint, U2048};
use std::sync::OnceLock;

/// A private key.
#[derive(Clone, Debug)]
pub enum Key {
    /// RSA, signing with SHA-256.
    Rsa(Box<rsa::pkcs1v15::SigningKey<Sha256>>),
    /// ECDSA on P-256.
    Ecdsa(Box<p256::ecdsa::SigningKey>),
    /// Ed25519.
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

/// The usual public exponent.
const PUBLIC_EXPONENT: u64 = 65_537;

/// Length of the spare key. It is short because it is never shown, and a long one takes up to half a second.
const SPARE_BITS: usize = 1024;

/// One RSA key that replaces all others in runs whose output is discarded. It is made on first use.
#[derive(Debug, Default)]
pub struct SpareKey(OnceLock<Option<Key>>);

impl SpareKey {
    /// The key.
    pub fn rsa(&self, random: &mut Random) -> Option<Key> {
        self.0.get_or_init(|| Key::rsa(random, SPARE_BITS)).clone()
    }
}

/// Length of keys that take up to a second.
const LONG_BITS: usize = 4096;

/// A key of [`LONG_BITS`], drawn as in the library; rarely, two primes are unsuitable together.
fn long_rsa(random: &mut Random) -> Option<rsa::RsaPrivateKey> {
    loop {
        let primes = [primes::prime::<U2048>(random, U2048::BITS)?, primes::prime(random, U2048::BITS)?];
        let primes = primes.iter().map(BoxedUint::from).collect();
        if let Ok(key) = rsa::RsaPrivateKey::from_primes(primes, BoxedUint::from(PUBLIC_EXPONENT)) {
            return Some(key);
        }
    }
}

impl Key {
    /// A new RSA key of this length; `None` if the library does not support it.
    pub fn rsa(random: &mut Random, bits: usize) -> Option<Self> {
        match bits {
            // Our own search is slow where its arithmetic is not optimised; the keys are the same.
            LONG_BITS if !cfg!(debug_assertions) => long_rsa(random),
            _ => rsa::RsaPrivateKey::new(random, bits).ok(),
        }
        .map(Self::from_rsa)
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

    fn from_rsa(key: rsa::RsaPrivateKey) -> Self {
        Self::Rsa(Box::new(key.into()))
    }

    /// The key as PEM, in the form Go writes it: PKCS #1, SEC 1 or, for Ed25519, PKCS #8.
    pub fn to_pem(&self) -> Option<String> {
        let text = match self {
            Self::Rsa(key) => {
                let key: &rsa::RsaPrivateKey = (**key).as_ref();
                key.to_pkcs1_pem(LineEnding::LF).ok()?
            }
            Self::Ecdsa(key) => p256::SecretKey::from(&**key).to_sec1_pem(LineEnding::LF).ok()?,
            Self::Ed25519(key) => {
                // Go omits the public key.
                let bytes = ed25519_dalek::pkcs8::KeypairBytes { secret_key: key.to_bytes(), public_key: None };
                bytes.to_pkcs8_pem(LineEnding::LF).ok()?
            }
        };
        Some(text.to_string())
    }

    /// Reads a key from PEM: PKCS #1, SEC 1 or PKCS #8.
    pub fn from_pem(text: &str) -> Option<Self> {
        let (label, content) = pem::read(text)?;
        match label {
            "RSA PRIVATE KEY" => rsa::RsaPrivateKey::from_pkcs1_der(&content).ok().map(Self::from_rsa),
            "EC PRIVATE KEY" => {
                p256::SecretKey::from_sec1_der(&content).ok().map(|key| Self::Ecdsa(Box::new(key.into())))
            }
            "PRIVATE KEY" => Self::from_pkcs8(&content),
            _ => None,
        }
    }

    fn from_pkcs8(content: &[u8]) -> Option<Self> {
        let rsa = || rsa::RsaPrivateKey::from_pkcs8_der(content).ok().map(Self::from_rsa);
        let ecdsa = || p256::ecdsa::SigningKey::from_pkcs8_der(content).ok().map(|key| Self::Ecdsa(Box::new(key)));
        let ed25519 =
            || ed25519_dalek::SigningKey::from_pkcs8_der(content).ok().map(|key| Self::Ed25519(Box::new(key)));
        rsa().or_else(ecdsa).or_else(ed25519)
    }

    /// The length of an RSA key; 0 for keys on curves, which are short.
    pub fn rsa_bits(&self) -> usize {
        match self {
            Self::Rsa(key) => {
                let key: &rsa::RsaPrivateKey = (**key).as_ref();
                key.n().bits() as usize
            }
            Self::Ecdsa(_) | Self::Ed25519(_) => 0,
        }
    }

    /// The public key as in certificates.
    pub fn public(
        &self,
    ) -> x509_cert::spki::Result<SubjectPublicKeyInfo<x509_cert::der::Any, x509_cert::der::asn1::BitString>> {
        match self {
            Self::Rsa(key) => SubjectPublicKeyInfo::from_key(&rsa::signature::Keypair::verifying_key(&**key)),
            Self::Ecdsa(key) => SubjectPublicKeyInfo::from_key(key.verifying_key()),
            Self::Ed25519(key) => SubjectPublicKeyInfo::from_key(&key.verifying_key()),
        }
    }

    /// Signs a certificate.
    pub fn certify<P: BuilderProfile>(&self, certificate: CertificateBuilder<P>) -> builder::Result<Certificate> {
        match self {
            Self::Rsa(key) => certificate.build::<_, rsa::pkcs1v15::Signature>(&**key),
            Self::Ecdsa(key) => certificate.build::<_, p256::ecdsa::DerSignature>(&**key),
            Self::Ed25519(key) => certificate.build::<_, ed25519_dalek::Signature>(&**key),
        }
    }
}
