//! Passwords, ciphers and random values.

use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use hmac::{KeyInit, Mac};
use purlin_value::encoding;

use crate::error::{Fault, Limit};
use crate::func::{Func, Ty};
use crate::funcs::{bytes, int, row, text};
use crate::machine::Machine;
use crate::value::Val;
use purlin_value::Cost;

const S: Ty = Ty::Str;

/// Steps of deriving a password: it is slow by design, about a tenth of a second.
const DERIVE_STEPS: usize = 9_000_000;

/// Steps of a bcrypt hash: about a twentieth of a second.
const BCRYPT_STEPS: usize = 5_000_000;

/// Bytes in a block of AES.
const BLOCK: usize = 16;

/// The rows.
pub(crate) static FUNCS: &[Func] = &[
    row("bcrypt", &[S], "`bcrypt TEXT`: a bcrypt hash of a password.", |m, args| {
        Ok(Val::str(bcrypt_hash(m, bytes(args, 0))?.unwrap_or_else(|message| message)))
    }),
    row("htpasswd", &[S, S], "`htpasswd USER PASSWORD`: a line for a password file.", |m, args| {
        let user = text(args, 0).into_owned();
        if user.contains(':') {
            return Ok(Val::str(format!("invalid username: {user}")));
        }
        Ok(Val::str(match bcrypt_hash(m, bytes(args, 1))? {
            Ok(hash) => format!("{user}:{hash}"),
            Err(message) => message,
        }))
    }),
    row(
        "derivePassword",
        &[Ty::Int, S, S, S, S],
        "`derivePassword COUNTER TYPE PASSWORD USER SITE`: a password derived from others.",
        |m, args| {
            m.spend(DERIVE_STEPS)?;
            Ok(Val::str(derive_password(args)))
        },
    ),
    row("encryptAES", &[S, S], "`encryptAES PASSWORD TEXT`: the text encrypted, in base 64.", encrypt),
    row("decryptAES", &[S, S], "`decryptAES PASSWORD TEXT`: the text decrypted again.", |_, args| decrypt(args)),
    row("randBytes", &[Ty::Int], "`randBytes N`: N random bytes, in base 64.", |m, args| {
        let count = int(args, 0);
        if count < 0 || count as u64 > m.limits.text as u64 {
            return Err(Fault::Limit(Limit::Text));
        }
        m.spend(count as usize)?;
        let mut out = vec![0; count as usize];
        m.random_secret().fill(&mut out);
        Ok(Val::str(encoding::base64(&out)))
    }),
    row("uuidv4", &[], "`uuidv4`: a random UUID.", |m, _| {
        let mut raw = [0u8; 16];
        m.random().fill(&mut raw);
        Ok(Val::str(encoding::uuid(raw, 4)))
    })
    .costs(Cost::Constant),
];

/// A hash, or the original's text instead.
fn bcrypt_hash(m: &mut Machine<'_>, password: &[u8]) -> Result<Result<String, String>, Fault> {
    if password.len() > 72 {
        return Ok(Err("failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes".to_owned()));
    }
    // A hash takes as long as very many steps.
    m.spend(BCRYPT_STEPS)?;
    let mut salt = [0u8; 16];
    m.random().fill(&mut salt);
    let hash = bcrypt::hash_with_salt(password, 10, salt);
    Ok(hash
        .map(|hash| hash.format_for_version(bcrypt::Version::TwoA))
        .map_err(|error| format!("failed to encrypt string with bcrypt: {error}")))
}

const MASTER_SEED: &[u8] = b"com.lyndir.masterpassword";

const TEMPLATES: &[(&str, &[&str])] = &[
    ("maximum", &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"]),
    (
        "long",
        &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
    ),
    ("medium", &["CvcnoCvc", "CvcCvcno"]),
    ("short", &["Cvcn"]),
    ("basic", &["aaanaaan", "aannaaan", "aaannaaa"]),
    ("pin", &["nnnn"]),
];

fn characters(class: char) -> &'static [u8] {
    match class {
        'V' => b"AEIOU",
        'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        'v' => b"aeiou",
        'c' => b"bcdfghjklmnpqrstvwxyz",
        'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        'n' => b"0123456789",
        'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

fn with_length(text: &[u8]) -> Vec<u8> {
    let mut out = (text.len() as u32).to_be_bytes().to_vec();
    out.extend_from_slice(text);
    out
}

fn derive_password(args: &[Val]) -> String {
    let kind = text(args, 1);
    let Some((_, templates)) = TEMPLATES.iter().find(|(name, _)| *name == kind) else {
        return format!("cannot find password template {kind}");
    };
    let salt = [MASTER_SEED, &with_length(bytes(args, 3))].concat();
    let mut key = [0u8; 64];
    let Ok(params) = scrypt::Params::new(15, 8, 2) else { return String::new() };
    if scrypt::scrypt(bytes(args, 2), &salt, &params, &mut key).is_err() {
        return "failed to derive password".to_owned();
    }
    let message = [MASTER_SEED, &with_length(bytes(args, 4)), &(int(args, 0) as u32).to_be_bytes()].concat();
    let Ok(mut mac) = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key) else { return String::new() };
    mac.update(&message);
    let seed = mac.finalize().into_bytes();
    let pick = |index: usize, count: usize| usize::from(seed.get(index).copied().unwrap_or(0)) % count.max(1);
    let template = templates.get(pick(0, templates.len())).copied().unwrap_or_default();
    let mut out = String::new();
    for (index, class) in template.chars().enumerate() {
        let set = characters(class);
        out.push(set.get(pick(index + 1, set.len())).map_or('?', |b| char::from(*b)));
    }
    out
}

/// The key that Sprig derives from a password: its first bytes, padded with zeros.
fn cipher_key(password: &[u8]) -> [u8; 32] {
    let mut key = [0u8; 32];
    for (place, byte) in key.iter_mut().zip(password) {
        *place = *byte;
    }
    key
}

fn encrypt(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let mut start = [0u8; BLOCK];
    m.random().fill(&mut start);
    let cipher = cbc::Encryptor::<aes::Aes256>::new(&cipher_key(bytes(args, 0)).into(), &start.into());
    let encrypted = cipher.encrypt_padded_vec::<Pkcs7>(bytes(args, 1));
    Ok(Val::str(encoding::base64(&[&start, encrypted.as_slice()].concat())))
}

fn decrypt(args: &[Val]) -> Result<Val, Fault> {
    let raw = encoding::from_base64(bytes(args, 1)).map_err(Fault::new)?;
    if raw.is_empty() {
        return Ok(Val::str(""));
    }
    let Some((start, encrypted)) = raw.split_first_chunk::<BLOCK>().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(Fault::new("runtime error: index out of range [-1]"));
    };
    let cipher = cbc::Decryptor::<aes::Aes256>::new(&cipher_key(bytes(args, 0)).into(), &(*start).into());
    let mut plain = cipher
        .decrypt_padded_vec::<NoPadding>(encrypted)
        .map_err(|_| Fault::new("runtime error: index out of range [-1]"))?;
    // Sprig trusts the last byte, whatever the padding is.
    let padding = usize::from(plain.last().copied().unwrap_or(0));
    if padding == 0 || padding > plain.len() {
        return Err(Fault::new("runtime error: slice bounds out of range"));
    }
    plain.truncate(plain.len() - padding);
    Ok(Val::str(plain))
}
