//! Filters that encode, decode, hash, encrypt.

use super::{Renderer, Values, flag, int_arg, text_arg, text_of};
use crate::codecs;
use crate::convert::{self, JsonStyle};
use crate::error::{Error, Kind, Result, type_error, value_error};
use crate::val::{Data, MapKey, Val, ValMap};
use crate::vault;
use crate::yaml_text::{self, YamlStyle};
use purlin_syntax::Flavor;
use purlin_value::encoding;
use sha1::Digest as _;

type R<'a, 'c> = &'a mut Renderer<'c>;

fn bytes_of(render: &Renderer<'_>, input: &Val) -> Result<Vec<u8>> {
    match &input.data {
        Data::Bytes(bytes) => Ok(bytes.to_vec()),
        _ => Ok(text_of(render, input)?.as_bytes().to_vec()),
    }
}

pub fn b64encode(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let bytes = match (text_arg(render, args, 0, "encoding")?, &input.data) {
        (Some(codec), data) if !matches!(data, Data::Bytes(_)) => {
            codecs::encode(&text_of(render, &input)?, &codec).map_err(|why| bad_codec(&why, &codec))?
        }
        _ => bytes_of(render, &input)?,
    };
    Ok(Val::str(encoding::base64(&bytes)))
}

fn bad_codec(why: &codecs::Failure, codec: &str) -> Box<Error> {
    Error::new(Kind::Value, why.message(codec))
}

pub fn b64decode(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    // Characters that are no part of the encoding do not count, as in MIME.
    let text = text_of(render, &input)?;
    let text: String = text.chars().filter(|c| c.is_ascii_alphanumeric() || "+/=".contains(*c)).collect();
    match encoding::from_base64(text.as_bytes()) {
        Ok(bytes) => match text_arg(render, args, 0, "encoding")? {
            Some(codec) => codecs::decode(&bytes, &codec).map(Val::str).map_err(|why| bad_codec(&why, &codec)),
            None => Ok(Val::bytes(&bytes)),
        },
        Err(_) => value_error("this is not base64"),
    }
}

fn json_style(args: &Values, indent: Option<usize>, sorted: bool) -> Result<JsonStyle> {
    let indent = int_arg(args, usize::MAX, "indent")?.and_then(|n| usize::try_from(n).ok()).or(indent);
    Ok(JsonStyle {
        indent: indent.map(|indent| indent.min(64)),
        sorted: flag(args, usize::MAX, "sort_keys", sorted),
        ascii: flag(args, usize::MAX, "ensure_ascii", true),
    })
}

pub fn to_json(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    json(render, &input, json_style(args, None, false)?).map(Val::str)
}

pub fn to_nice_json(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    json(render, &input, json_style(args, Some(4), true)?).map(Val::str)
}

fn json(render: &Renderer<'_>, input: &Val, style: JsonStyle) -> Result<String> {
    render.ctx.evaluation.note_parts(input);
    convert::to_json(input, render.ctx.host.instances(), style)
}

pub fn to_json_plain(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let text = json(render, &input, json_style(args, None, true)?)?;
    let text = text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026").replace('\'', "\\u0027");
    Ok(Val::str(text))
}

pub fn from_json(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    convert::from_json(&text_of(render, &input)?)
}

pub fn from_yaml(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    if !matches!(input.data, Data::Str(_)) {
        return Ok(input);
    }
    let mut documents = convert::from_yaml(render.ctx.evaluation.session, &text_of(render, &input)?, Flavor::Python)?;
    match documents.len() {
        0 | 1 => Ok(documents.pop().unwrap_or_else(Val::null)),
        _ => value_error("this is more than one YAML document; use `from_yaml_all`"),
    }
}

pub fn from_yaml_all(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    if !matches!(input.data, Data::Str(_)) {
        return Ok(input);
    }
    convert::from_yaml(render.ctx.evaluation.session, &text_of(render, &input)?, Flavor::Python).map(Val::list)
}

pub fn to_yaml(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    yaml(render, &input, args, YamlStyle { indent: 2, flow_leaves: true, sorted: true })
}

pub fn to_nice_yaml(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    yaml(render, &input, args, YamlStyle { indent: 4, flow_leaves: false, sorted: true })
}

fn yaml(render: &Renderer<'_>, input: &Val, args: &Values, mut style: YamlStyle) -> Result<Val> {
    if let Some(indent) = int_arg(args, 0, "indent")?.and_then(|n| usize::try_from(n).ok()) {
        style.indent = indent.clamp(2, 16);
    }
    style.sorted = flag(args, usize::MAX, "sort_keys", style.sorted);
    style.flow_leaves = match args.get(usize::MAX, "default_flow_style").map(|value| &value.data) {
        Some(Data::Bool(false)) => false,
        _ => style.flow_leaves,
    };
    render.ctx.evaluation.note_parts(input);
    yaml_text::to_yaml(input, render.ctx.host.instances(), style).map(Val::str)
}

pub fn md5(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(encoding::hex(&md5::Md5::digest(bytes_of(render, &input)?))))
}

pub fn sha1(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::str(encoding::hex(&sha1::Sha1::digest(bytes_of(render, &input)?))))
}

pub fn hash(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let bytes = bytes_of(render, &input)?;
    let kind = text_arg(render, args, 0, "hashtype")?.unwrap_or_else(|| "sha1".into());
    Ok(Val::str(match kind.as_str() {
        "md5" => encoding::hex(&md5::Md5::digest(bytes)),
        "sha1" => encoding::hex(&sha1::Sha1::digest(bytes)),
        "sha224" => encoding::hex(&sha2::Sha224::digest(bytes)),
        "sha256" => encoding::hex(&sha2::Sha256::digest(bytes)),
        "sha384" => encoding::hex(&sha2::Sha384::digest(bytes)),
        "sha512" => encoding::hex(&sha2::Sha512::digest(bytes)),
        _ => return value_error(format!("unknown hash `{kind}`")),
    }))
}

/// Random salt for a password, from the run's seed.
fn salt(render: &Renderer<'_>, length: usize) -> String {
    let pick = |_| {
        let at = usize::try_from(render.ctx.host.random() % 64).unwrap_or(0);
        CRYPT_LETTERS.get(at).map_or('.', |letter| char::from(*letter))
    };
    (0..length).map(pick).collect()
}

/// The default number of crypt's rounds.
const DEFAULT_ROUNDS: u32 = 5_000;
/// The cost of one round, in steps of evaluation.
const ROUND_COST: usize = 20;

pub fn password_hash(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let password = text_of(render, &input)?;
    let kind = text_arg(render, args, 0, "hashtype")?.unwrap_or_else(|| "sha512".into());
    let salt = match text_arg(render, args, 1, "salt")? {
        Some(salt) => salt.to_string(),
        None => salt(render, 16),
    };
    let rounds = int_arg(args, 3, "rounds")?.and_then(|n| u32::try_from(n).ok());
    let strength = rounds.unwrap_or(DEFAULT_ROUNDS).clamp(1_000, 999_999_999);
    // A round hashes the password twice or so: it costs what some fifty steps of evaluation do.
    let cost = usize::try_from(strength).unwrap_or(usize::MAX).saturating_mul(1 + password.len() / 64);
    render.ctx.evaluation.spend(cost.saturating_mul(ROUND_COST))?;
    let params = sha_crypt::Params::new(strength).map_err(|_| bad_rounds())?;
    let (mark, text) = match kind.as_str() {
        "sha256" => {
            let hash = sha_crypt::sha256_crypt(password.as_bytes(), salt.as_bytes(), params);
            ("5", crypt_text(&hash, |[a, b, c]| [c + 1, a + 1, b + 1], 10))
        }
        "sha512" => {
            let hash = sha_crypt::sha512_crypt(password.as_bytes(), salt.as_bytes(), params);
            ("6", crypt_text(&hash, |[a, b, c]| [b + 1, c + 1, a + 1], 21))
        }
        _ => return value_error(format!("unknown password hash `{kind}`")),
    };
    let shown = if rounds.is_none() { String::new() } else { format!("rounds={strength}$") };
    Ok(Val::str(format!("${mark}${shown}{salt}${text}")))
}

/// The letters of crypt's own base64.
const CRYPT_LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// A hash in crypt's text form: three bytes at a time, taken from three thirds in turn.
fn crypt_text(hash: &[u8], next: fn([usize; 3]) -> [usize; 3], third: usize) -> String {
    let byte = |at: usize| hash.get(at).map_or(0, |byte| u32::from(*byte));
    let mut out = String::new();
    let mut push = |mut bits: u32, count: usize| {
        for _ in 0..count {
            let at = usize::try_from(bits & 63).unwrap_or(0);
            out.push(CRYPT_LETTERS.get(at).map_or('.', |letter| char::from(*letter)));
            bits >>= 6;
        }
    };
    let mut places = [0, third, 2 * third];
    for _ in 0..third {
        let [a, b, c] = places;
        push((byte(a) << 16) | (byte(b) << 8) | byte(c), 4);
        places = next(places);
    }
    match hash.len() {
        32 => push((byte(31) << 8) | byte(30), 3),
        _ => push(byte(63), 2),
    }
    out
}

fn bad_rounds() -> Box<Error> {
    Error::new(Kind::Value, "the password cannot be hashed with this salt and these rounds")
}

/// A name-based UUID in the namespace Ansible uses.
pub fn to_uuid(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    const NAMESPACE: &str = "361e6d51-faec-444a-9079-341386da8e2e";
    let name = text_of(render, &input)?;
    let namespace = text_arg(render, args, 0, "namespace")?.unwrap_or_else(|| NAMESPACE.into());
    let digits: String = namespace.chars().filter(|c| *c != '-').collect();
    let Some(mut bytes) = encoding::from_hex(digits.as_bytes()) else {
        return value_error(format!("`{namespace}` is not a UUID"));
    };
    bytes.extend_from_slice(name.as_bytes());
    let digest = sha1::Sha1::digest(&bytes).first_chunk::<16>().copied().unwrap_or_default();
    Ok(Val::str(encoding::uuid(digest, 5)))
}

/// Percent-encoding of all characters except letters, digits and the given ones.
pub fn percent_encode(text: &str, keep: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let c = char::from(byte);
        if byte.is_ascii_alphanumeric() || "_.-~".contains(c) || (byte.is_ascii() && keep.contains(c)) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

pub fn urlencode(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    let pairs = match &input.data {
        Data::Map(_) => super::maps::items_(render, &input)?,
        Data::List(items) => items.to_vec(),
        _ => return Ok(Val::str(percent_encode(&text_of(render, &input)?, "/"))),
    };
    let mut parts = Vec::new();
    for pair in &pairs {
        let Some([key, value]) = pair.as_list() else {
            return type_error("`urlencode` needs pairs");
        };
        let key = percent_encode(&text_of(render, key)?, "");
        parts.push(format!("{key}={}", percent_encode(&text_of(render, value)?, "").replace("%20", "+")));
    }
    Ok(Val::str(parts.join("&")))
}

/// The bytes of percent-encoded text.
pub fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = (*byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                out.push(code);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}

pub fn urldecode(render: R<'_, '_>, input: Val, _: &Values) -> Result<Val> {
    Ok(Val::bytes(&percent_decode(&text_of(render, &input)?.as_str().replace('+', " "))))
}

pub fn urlsplit(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let parts = url_parts(&text_of(render, &input)?);
    match text_arg(render, args, 0, "query")? {
        Some(part) if !part.is_empty() => match parts.get(&MapKey::Str(part.clone())) {
            Some(value) => Ok(value.clone()),
            None => value_error(format!("a URL has no part `{part}`")),
        },
        _ => Ok(Val::map(parts)),
    }
}

fn url_parts(url: &str) -> ValMap {
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("", rest),
    };
    let (netloc, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let (user, host) = netloc.rsplit_once('@').map_or((None, netloc), |(user, host)| (Some(user), host));
    let (host, port) = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port))),
    };
    let (username, password) = match user {
        Some(user) => user.split_once(':').map_or((Some(user), None), |(name, pass)| (Some(name), Some(pass))),
        None => (None, None),
    };
    let text = |value: Option<&str>| value.map_or_else(Val::null, Val::str);
    let port = port.and_then(|port| port.parse::<i64>().ok()).map_or_else(Val::null, Val::int);
    let host = if host.is_empty() { Val::null() } else { Val::str(host.to_ascii_lowercase()) };
    let parts = [
        ("scheme", Val::str(scheme.to_ascii_lowercase())),
        ("netloc", Val::str(netloc)),
        ("path", Val::str(path)),
        ("query", Val::str(query)),
        ("fragment", Val::str(fragment)),
        ("username", text(username)),
        ("password", text(password)),
        ("hostname", host),
        ("port", port),
    ];
    parts.into_iter().map(|(name, value)| (MapKey::from(name), value)).collect()
}

pub fn vault(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(password) = text_arg(render, args, 0, "secret")? else {
        return type_error("`vault` needs a password");
    };
    let id = text_arg(render, args, 2, "vault_id")?.unwrap_or_else(|| "default".into());
    let id = if id == "filter_default" { "default".into() } else { id };
    let plain = bytes_of(render, &input)?;
    let secret = vault::Secret::new(id, &password);
    // The text of a vault may be shown: it is encrypted.
    Ok(Val::str(vault::encrypt(&plain, &secret, vault::salt(render.ctx.host.random(), &plain))))
}

pub fn unvault(render: R<'_, '_>, input: Val, args: &Values) -> Result<Val> {
    let Some(password) = text_arg(render, args, 0, "secret")? else {
        return type_error("`unvault` needs a password");
    };
    let text = text_of(render, &input)?;
    match vault::decrypt(&text, &[vault::Secret::new("default", &password)]) {
        Ok(plain) => Ok(Val::bytes(&plain).taint()),
        Err(problem) => value_error(problem.message()),
    }
}
