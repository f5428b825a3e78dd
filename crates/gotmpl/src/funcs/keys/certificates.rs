//! Keys and certificates, made from the run's randomness and clock.

use std::sync::Arc;

use purlin_value::encoding;
use x509_cert::builder::CertificateBuilder;
use x509_cert::certificate::{CertificateInner, Raw};
use x509_cert::der::{Decode, EncodePem};
use x509_cert::ext::pkix::SubjectKeyIdentifier;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::Validity;

use crate::error::Fault;
use crate::func::{Func, Ty};
use crate::funcs::certificate_profile::{Profile, common_name, moment};
use crate::funcs::{arg, bytes, int, row, text};
use crate::keys::Key;
use crate::machine::Machine;
use crate::object::{Object, Struct};
use crate::pem;
use crate::time::SECOND;
use crate::value::{Data, Val};

const S: Ty = Ty::Str;
const N: Ty = Ty::Int;
const L: Ty = Ty::List;
const C: Ty = Ty::Certificate;

/// The rows.
#[rustfmt::skip]
pub(crate) static FUNCS: &[Func] = &[
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

/// Steps of making a key on a curve.
const CURVE_STEPS: usize = 50_000;

/// Steps of making an RSA key for a certificate: somewhat less than its time. Charts whose helpers make an authority
/// and a certificate for each file that uses them make up to seventeen of both.
const RSA_STEPS: usize = 2_700_000;

/// Steps of making an RSA key of 4,096 bits: its average time, which is more than half a second. A chart that prints
/// such a key, and again in the checksums of its pods, makes one.
const LONG_RSA_STEPS: usize = 30_000_000;

/// Steps of reusing an existing key. Making the spare one is not charged to its first user: it happens once.
const KNOWN_STEPS: usize = 1_000;

/// Steps of a signature by an RSA key of 2,048 bits, or by a key on a curve: the time it takes. It grows with the third
/// power of the length.
const SIGNATURE_STEPS: usize = 50_000;

fn signature_steps(key: &Key) -> usize {
    let length = key.rsa_bits().max(2048);
    let cube = length.saturating_mul(length).saturating_mul(length) / (2048 * 2048 * 2048);
    SIGNATURE_STEPS.saturating_mul(cube)
}

fn rsa(m: &mut Machine<'_>) -> Result<Key, Fault> {
    rsa_of(m, 2048, RSA_STEPS)
}

fn rsa_of(m: &mut Machine<'_>, bits: usize, steps: usize) -> Result<Key, Fault> {
    let mut random = m.random_secret();
    if let Some(spare) = m.outside.spare_key.clone() {
        m.spend(KNOWN_STEPS)?;
        return spare.rsa(&mut random).ok_or_else(no_key);
    }
    let stream = (random.key(), bits);
    if let Some(key) = m.keys.get(&stream).cloned() {
        m.spend(KNOWN_STEPS)?;
        return Ok(key);
    }
    m.spend(steps)?;
    let key = Key::rsa(&mut random, bits).ok_or_else(no_key)?;
    m.keys.insert(stream, key.clone());
    Ok(key)
}

fn private_key(m: &mut Machine<'_>, args: &[Val]) -> Result<Val, Fault> {
    let kind = text(args, 0);
    let key = match kind.as_ref() {
        "" | "rsa" => rsa_of(m, 4096, LONG_RSA_STEPS)?,
        "ecdsa" => {
            m.spend(CURVE_STEPS)?;
            Key::ecdsa(&mut m.random_secret())
        }
        "ed25519" => {
            m.spend(CURVE_STEPS)?;
            Key::ed25519(&mut m.random_secret())
        }
        "dsa" => return Err(Fault::new("DSA keys are not made any more; use `ecdsa` or `ed25519`")),
        _ => return Ok(Val::str(format!("Unknown type {kind}"))),
    };
    Ok(Val::str(key.to_pem().ok_or_else(no_key)?))
}

fn no_key() -> Fault {
    Fault::new("failed to generate private key")
}

fn given_key(args: &[Val], index: usize) -> Result<Key, Fault> {
    Key::from_pem(&text(args, index)).ok_or_else(|| Fault::new("error parsing private key: unable to decode pem"))
}

/// A certificate and its key as seen by templates.
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
        if pem::read(&text).is_none() {
            return Err(Fault::new(format!("unable to decode {what}")));
        }
        Ok(text)
    };
    let (cert, key) = (decode(0, "certificate")?, decode(1, "private key")?);
    Ok(certificate(&cert, &key))
}

/// The issuer and the subject of a certificate.
struct Request<'a> {
    profile: Profile,
    days: i64,
    signer: &'a Key,
}

fn authority(m: &mut Machine<'_>, args: &[Val], key: &Key) -> Result<Val, Fault> {
    let mut profile = Profile::of(common_name(&text(args, 0))?);
    profile.is_authority = true;
    issue(m, Request { profile, days: int(args, 1), signer: key }, key)
}

fn self_signed(m: &mut Machine<'_>, args: &[Val], key: &Key) -> Result<Val, Fault> {
    let profile = subject(m, args)?;
    issue(m, Request { profile, days: int(args, 3), signer: key }, key)
}

fn signed(m: &mut Machine<'_>, args: &[Val], key: &Key) -> Result<Val, Fault> {
    let (cert, ca_key) = parts(arg(args, 4)).ok_or_else(|| Fault::new("unable to decode certificate"))?;
    let signer = Key::from_pem(&ca_key).ok_or_else(|| Fault::new("error parsing private key: unable to decode pem"))?;
    let (_, content) = pem::read(&cert).ok_or_else(|| Fault::new("unable to decode certificate"))?;
    let issuer = CertificateInner::<Raw>::from_der(&content)
        .map_err(|error| Fault::new(format!("error parsing certificate: {error}")))?;
    let issuer = issuer.tbs_certificate();
    let mut profile = subject(m, args)?;
    profile.issuer = Some(issuer.subject().clone());
    profile.issuer_key = match issuer.get_extension::<SubjectKeyIdentifier>() {
        Ok(Some((_, id))) => Some(id.0),
        Ok(None) | Err(_) => None,
    };
    issue(m, Request { profile, days: int(args, 3), signer: &signer }, key)
}

/// The subject of a certificate that is not an authority: name, addresses and further names.
fn subject(m: &Machine<'_>, args: &[Val]) -> Result<Profile, Fault> {
    let mut profile = Profile::of(common_name(&text(args, 0))?);
    for name in list(m, arg(args, 2)).into_iter().flatten() {
        profile.add_name(&name)?;
    }
    for item in list(m, arg(args, 1)) {
        let text = item.ok_or_else(|| Fault::new("error parsing ip: <nil> is not a string"))?;
        let address: std::net::IpAddr = text.parse().map_err(|_| Fault::new(format!("error parsing ip: {text}")))?;
        profile.names.push(address.into());
    }
    Ok(profile)
}

/// The strings of a list; `None` for other values.
fn list(m: &Machine<'_>, value: &Val) -> Vec<Option<String>> {
    let items = value.as_list().map(|list| m.heap.items(list)).unwrap_or_default();
    items.iter().map(|item| item.as_str().map(|text| text.text().into_owned())).collect()
}

/// Builds and signs a certificate for a key.
fn issue(m: &mut Machine<'_>, request: Request<'_>, key: &Key) -> Result<Val, Fault> {
    m.spend(signature_steps(request.signer))?;
    let mut serial = [0u8; 16];
    m.random().fill(&mut serial);
    let days = i128::from(request.days.clamp(-1_000_000, 1_000_000));
    let now = m.outside.now;
    let validity = Validity::new(moment(now)?, moment(now + days * 86_400 * SECOND)?);
    let cert = sign(&request, key, &serial, validity)
        .map_err(|error| Fault::new(format!("error creating certificate: {error}")))?;
    Ok(certificate(&cert, &key.to_pem().ok_or_else(no_key)?))
}

fn sign(request: &Request<'_>, key: &Key, serial: &[u8], validity: Validity) -> x509_cert::builder::Result<String> {
    let serial = SerialNumber::new(serial)?;
    let builder = CertificateBuilder::new(request.profile.clone(), serial, validity, key.public()?)?;
    Ok(request.signer.certify(builder)?.to_pem(x509_cert::der::pem::LineEnding::LF)?)
}
