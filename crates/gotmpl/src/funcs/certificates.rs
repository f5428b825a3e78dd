//! Keys and certificates, made from the run's randomness and clock.

use std::sync::Arc;

use purlin_value::encoding;
use sha1::{Digest, Sha1};

use super::{arg, bytes, int, row, text};
use crate::der::{bit_string, element, integer, oid, pem, read_pem, sequence, take};
use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::keys::Key;
use crate::machine::Machine;
use crate::object::{Object, Struct};
use crate::time::{SECOND, Time};
use crate::value::{Data, Val};

const S: Ty = Ty::Str;
const N: Ty = Ty::Int;
const L: Ty = Ty::List;
const C: Ty = Ty::Certificate;

/// The rows.
#[rustfmt::skip]
pub static FUNCS: &[Func] = &[
    row("genPrivateKey", &[S], "`genPrivateKey TYPE`: a private key; `rsa`, `ecdsa` or `ed25519`.", private_key),
    row("genCA", &[S, N], "`genCA NAME DAYS`: a certificate authority, with `.Cert` and `.Key`.", |m, args| {
        let key = rsa(m)?;
        authority(m, args, &key)
    }),
    row("genCAWithKey", &[S, N, S], "`genCAWithKey NAME DAYS KEY`: a certificate authority with a given key.", |m, args| {
        let key = given_key(args, 2)?;
        authority(m, args, &key)
    }),
    row("genSelfSignedCert", &[S, L, L, N], "`genSelfSignedCert NAME ADDRESSES NAMES DAYS`: a certificate signed by itself.", |m, args| {
        let key = rsa(m)?;
        self_signed(m, args, &key)
    }),
    row("genSelfSignedCertWithKey", &[S, L, L, N, S], "`genSelfSignedCertWithKey NAME ADDRESSES NAMES DAYS KEY`: the same with a given key.", |m, args| {
        let key = given_key(args, 4)?;
        self_signed(m, args, &key)
    }),
    row("genSignedCert", &[S, L, L, N, C], "`genSignedCert NAME ADDRESSES NAMES DAYS AUTHORITY`: a certificate signed by an authority.", |m, args| {
        let key = rsa(m)?;
        signed(m, args, &key)
    }),
    row("genSignedCertWithKey", &[S, L, L, N, C, S], "`genSignedCertWithKey NAME ADDRESSES NAMES DAYS AUTHORITY KEY`: the same with a given key.", |m, args| {
        let key = given_key(args, 5)?;
        signed(m, args, &key)
    }),
    row("buildCustomCert", &[S, S], "`buildCustomCert CERT KEY`: a certificate object from both in base 64.", build),
];

/// Steps that making a key on a curve counts for.
const CURVE_STEPS: usize = 50_000;

/// Steps that making an RSA key for a certificate counts for: nearly a tenth of a second.
const RSA_STEPS: usize = 5_000_000;

/// Steps that making an RSA key of 4,096 bits counts for: half a second.
const LONG_RSA_STEPS: usize = 24_000_000;

/// Steps that a signature counts for.
const SIGNATURE_STEPS: usize = 500_000;

fn rsa(m: &mut Machine<'_>) -> Result<Key, Fault> {
    m.spend(RSA_STEPS)?;
    Ok(Key::rsa(&mut m.random(), 2048))
}

fn private_key(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let kind = text(args, 0);
    let key = match kind.as_ref() {
        "" | "rsa" => {
            m.spend(LONG_RSA_STEPS)?;
            Key::rsa(&mut m.random(), 4096)
        }
        "ecdsa" => {
            m.spend(CURVE_STEPS)?;
            Key::ecdsa(&mut m.random())
        }
        "ed25519" => {
            m.spend(CURVE_STEPS)?;
            Key::ed25519(&mut m.random())
        }
        "dsa" => return Err(Fault::new("DSA keys are not made any more; use `ecdsa` or `ed25519`")),
        _ => return Ok(Val::str(format!("Unknown type {kind}"))),
    };
    Ok(Val::str(key.to_pem()))
}

fn given_key(args: &[Val], index: usize) -> Result<Key, Fault> {
    Key::from_pem(&text(args, index)).ok_or_else(|| Fault::new("error parsing private key: unable to decode pem"))
}

fn certificate(cert: &str, key: &str) -> Val {
    let fields = vec![("Cert", Val::str(cert)), ("Key", Val::str(key))];
    Val::new(Data::Object(Arc::new(Object::Struct(Struct { name: "sprig.certificate", fields, text: None }))))
}

fn parts(value: &Val) -> Option<(String, String)> {
    let Data::Object(object) = &value.data else { return None };
    let field = |name: &str| object.field(name.as_bytes()).and_then(Val::as_str).map(|text| text.text().into_owned());
    Some((field("Cert")?, field("Key")?))
}

fn build(_: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let decode = |index: usize, what: &str| {
        let raw = encoding::from_base64(bytes(args, index))
            .map_err(|_| Fault::new(format!("unable to decode base64 {what}")))?;
        let text = String::from_utf8_lossy(&raw).into_owned();
        if read_pem(&text).is_none() {
            return Err(Fault::new(format!("unable to decode {what}")));
        }
        Ok(text)
    };
    let (cert, key) = (decode(0, "certificate")?, decode(1, "private key")?);
    Ok(certificate(&cert, &key))
}

/// What a certificate is to say.
struct Request<'a> {
    name: String,
    days: i64,
    addresses: Vec<Vec<u8>>,
    names: Vec<String>,
    authority: bool,
    /// The issuer's encoded name and key identifier, and the key that signs.
    issuer: Option<(Vec<u8>, Vec<u8>)>,
    signer: &'a Key,
}

fn authority(m: &mut Machine<'_>, args: &[Val], key: &Key) -> Result<Val, Fault> {
    let request = Request {
        name: text(args, 0).into_owned(),
        days: int(args, 1),
        addresses: Vec::new(),
        names: Vec::new(),
        authority: true,
        issuer: None,
        signer: key,
    };
    Ok(certificate(&issue(m, &request, key)?, &key.to_pem()))
}

fn subject_request<'a>(m: &Machine<'_>, args: &[Val], signer: &'a Key) -> Result<Request<'a>, Fault> {
    let mut addresses = Vec::new();
    for item in list(m, arg(args, 1)) {
        let text = item.ok_or_else(|| Fault::new("error parsing ip: <nil> is not a string"))?;
        let address: std::net::IpAddr = text.parse().map_err(|_| Fault::new(format!("error parsing ip: {text}")))?;
        addresses.push(match address {
            std::net::IpAddr::V4(address) => address.octets().to_vec(),
            std::net::IpAddr::V6(address) => address.octets().to_vec(),
        });
    }
    let names = list(m, arg(args, 2)).into_iter().flatten().collect();
    let (name, days) = (text(args, 0).into_owned(), int(args, 3));
    Ok(Request { name, days, addresses, names, authority: false, issuer: None, signer })
}

/// The texts of a list; `None` for what is no text.
fn list(m: &Machine<'_>, value: &Val) -> Vec<Option<String>> {
    let items = value.as_list().map(|list| m.heap.items(list)).unwrap_or_default();
    items.iter().map(|item| item.as_str().map(|text| text.text().into_owned())).collect()
}

fn self_signed(m: &mut Machine<'_>, args: &[Val], key: &Key) -> Result<Val, Fault> {
    let request = subject_request(m, args, key)?;
    Ok(certificate(&issue(m, &request, key)?, &key.to_pem()))
}

fn signed(m: &mut Machine<'_>, args: &[Val], key: &Key) -> Result<Val, Fault> {
    let (cert, ca_key) = parts(arg(args, 4)).ok_or_else(|| Fault::new("unable to decode certificate"))?;
    let signer = Key::from_pem(&ca_key).ok_or_else(|| Fault::new("error parsing private key: unable to decode pem"))?;
    let issuer = subject_of(&cert).ok_or_else(|| Fault::new("unable to decode certificate"))?;
    let mut request = subject_request(m, args, &signer)?;
    request.issuer = Some((issuer, key_id(&signer)));
    Ok(certificate(&issue(m, &request, key)?, &key.to_pem()))
}

/// The encoded subject of a certificate.
fn subject_of(cert: &str) -> Option<Vec<u8>> {
    let (_, content) = read_pem(cert)?;
    let (_, mut body) = take(&mut content.as_slice())?;
    let (_, mut fields) = take(&mut body)?;
    // version, serial number, algorithm, issuer, validity
    for _ in 0..5 {
        take(&mut fields)?;
    }
    let (_, subject) = take(&mut fields)?;
    Some(element(0x30, subject))
}

fn key_id(key: &Key) -> Vec<u8> {
    Sha1::digest(key.public_info()).to_vec()
}

fn common_name(name: &str) -> Vec<u8> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b" '()+,-./:=?*".contains(&b));
    let text = element(if plain && !name.contains('*') { 0x13 } else { 0x0c }, name.as_bytes());
    sequence(&[element(0x31, &sequence(&[oid(&[0x55, 4, 3]), text]))])
}

fn moment(time: &Time) -> Vec<u8> {
    let year = time.civil().year;
    if (1950..2050).contains(&year) {
        return element(0x17, time.format("060102150405Z").as_bytes());
    }
    element(0x18, time.format("20060102150405Z").as_bytes())
}

fn extension(id: &[u8], critical: bool, content: &[u8]) -> Vec<u8> {
    let mut fields = vec![oid(id)];
    if critical {
        fields.push(element(1, &[0xff]));
    }
    fields.push(element(4, content));
    sequence(&fields)
}

/// Builds and signs a certificate.
fn issue(m: &mut Machine<'_>, request: &Request<'_>, key: &Key) -> Result<String, Fault> {
    m.spend(SIGNATURE_STEPS)?;
    let mut serial = [0u8; 16];
    m.random().fill(&mut serial);
    serial[0] &= 0x7f;
    let start = Time::utc(m.outside.now);
    let days = i128::from(request.days.clamp(-1_000_000, 1_000_000));
    let end = Time::utc(m.outside.now + days * 86_400 * SECOND);
    let subject = common_name(&request.name);
    let issuer = request.issuer.as_ref().map_or_else(|| subject.clone(), |(name, _)| name.clone());
    let usage: u8 = if request.authority { 0xa4 } else { 0xa0 };
    let unused = if request.authority { 2 } else { 5 };
    let mut extensions = vec![
        extension(&[0x55, 0x1d, 0x0f], true, &element(3, &[unused, usage])),
        extension(
            &[0x55, 0x1d, 0x25],
            false,
            &sequence(&[oid(&[0x2b, 6, 1, 5, 5, 7, 3, 1]), oid(&[0x2b, 6, 1, 5, 5, 7, 3, 2])]),
        ),
    ];
    let constraint = if request.authority { sequence(&[element(1, &[0xff])]) } else { sequence(&[]) };
    extensions.push(extension(&[0x55, 0x1d, 0x13], true, &constraint));
    if request.authority {
        extensions.push(extension(&[0x55, 0x1d, 0x0e], false, &element(4, &key_id(key))));
    }
    if let Some((_, id)) = &request.issuer {
        extensions.push(extension(&[0x55, 0x1d, 0x23], false, &sequence(&[element(0x80, id)])));
    }
    if !request.names.is_empty() || !request.addresses.is_empty() {
        let names = request.names.iter().map(|name| element(0x82, name.as_bytes()));
        let addresses = request.addresses.iter().map(|address| element(0x87, address));
        let all: Vec<Vec<u8>> = names.chain(addresses).collect();
        extensions.push(extension(&[0x55, 0x1d, 0x11], false, &sequence(&all)));
    }
    let content = sequence(&[
        element(0xa0, &integer(&[2])),
        integer(&serial),
        request.signer.algorithm(),
        issuer,
        sequence(&[moment(&start), moment(&end)]),
        subject,
        key.public_info(),
        element(0xa3, &sequence(&extensions)),
    ]);
    let signature = request.signer.sign(&content);
    Ok(pem("CERTIFICATE", &sequence(&[content, request.signer.algorithm(), bit_string(&signature)])))
}
