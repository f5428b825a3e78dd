//! The content of Sprig's certificates: names, usages and identifiers, in the order in which Go writes them.

use x509_cert::attr::AttributeTypeAndValue;
use x509_cert::builder::{self, profile::BuilderProfile};
use x509_cert::certificate::TbsCertificate;
use x509_cert::der::asn1::{Any, GeneralizedTime, Ia5String, ObjectIdentifier, OctetString};
use x509_cert::der::{DateTime, Tag};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages, SubjectAltName,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension};
use x509_cert::name::{Name, RdnSequence, RelativeDistinguishedName};
use x509_cert::spki::SubjectPublicKeyInfoRef;
use x509_cert::time::Time;

use crate::error::Fault;
use crate::time::SECOND;

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
const SERVER: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.1");
const CLIENT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.2");

/// The content of a certificate.
#[derive(Clone, Debug)]
pub(in crate::funcs) struct Profile {
    subject: Name,
    /// Whether it may sign others.
    pub(in crate::funcs) is_authority: bool,
    /// Further names and addresses of the subject.
    pub(in crate::funcs) names: Vec<GeneralName>,
    /// The signing certificate; without one it is self-signed.
    pub(in crate::funcs) issuer: Option<Name>,
    /// The identifier of the issuer's key.
    pub(in crate::funcs) issuer_key: Option<OctetString>,
}

impl Profile {
    /// A self-signed certificate for a subject.
    pub(in crate::funcs) fn of(subject: Name) -> Self {
        Profile { subject, is_authority: false, names: Vec::new(), issuer: None, issuer_key: None }
    }

    /// Adds a host name.
    pub(in crate::funcs) fn add_name(&mut self, name: &str) -> Result<(), Fault> {
        let invalid =
            || Fault::new(format!("error creating certificate: x509: {name:?} cannot be encoded as an IA5String"));
        self.names.push(GeneralName::DnsName(Ia5String::new(name).map_err(|_| invalid())?));
        Ok(())
    }
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, subject: &Name) -> Name {
        self.issuer.as_ref().unwrap_or(subject).clone()
    }

    fn get_subject(&self) -> Name {
        self.subject.clone()
    }

    fn build_extensions(
        &self,
        public: SubjectPublicKeyInfoRef<'_>,
        _: SubjectPublicKeyInfoRef<'_>,
        certificate: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let mut extensions = Extensions { subject: &self.subject, list: Vec::new() };
        let usage = KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment;
        let usage = if self.is_authority { usage | KeyUsages::KeyCertSign } else { usage };
        extensions.add(true, &KeyUsage(usage))?;
        extensions.add(false, &ExtendedKeyUsage(vec![SERVER, CLIENT]))?;
        extensions.add(true, &BasicConstraints { ca: self.is_authority, path_len_constraint: None })?;
        if self.is_authority {
            extensions.add(false, &SubjectKeyIdentifier::try_from(public)?)?;
        }
        if self.issuer_key.is_some() && certificate.issuer() != &self.subject {
            let identifier = AuthorityKeyIdentifier { key_identifier: self.issuer_key.clone(), ..Default::default() };
            extensions.add(false, &identifier)?;
        }
        if !self.names.is_empty() {
            extensions.add(self.subject.is_empty(), &SubjectAltName(self.names.clone()))?;
        }
        Ok(extensions.list)
    }
}

struct Extensions<'p> {
    subject: &'p Name,
    list: Vec<Extension>,
}

impl Extensions<'_> {
    fn add<E>(&mut self, critical: bool, extension: &E) -> builder::Result<()>
    where
        E: x509_cert::der::oid::AssociatedOid + x509_cert::der::Encode,
    {
        self.list.push((critical, extension).to_extension(self.subject, &self.list)?);
        Ok(())
    }
}

/// A name with only a common name, in the narrower of the two alphabets that Go uses.
pub(in crate::funcs) fn common_name(name: &str) -> Result<Name, Fault> {
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&b));
    let tag = if is_plain { Tag::PrintableString } else { Tag::Utf8String };
    let encoded = || -> x509_cert::der::Result<RelativeDistinguishedName> {
        let value = Any::new(tag, name.as_bytes())?;
        RelativeDistinguishedName::try_from(vec![AttributeTypeAndValue { oid: COMMON_NAME, value }])
    };
    let parts = if name.is_empty() { Ok(Vec::new()) } else { encoded().map(|part| vec![part]) };
    let parts = parts.map_err(|error| Fault::new(format!("error creating certificate: {error}")))?;
    Ok(Name::hazmat_from_rdn_sequence(RdnSequence::from(parts)))
}

/// A time of validity, from nanoseconds since 1970.
pub(in crate::funcs) fn moment(nanos: i128) -> Result<Time, Fault> {
    let seconds = u64::try_from(nanos.div_euclid(SECOND)).ok();
    let date = seconds.and_then(|seconds| DateTime::from_unix_duration(std::time::Duration::from_secs(seconds)).ok());
    let date = date.ok_or_else(|| {
        Fault::new("error creating certificate: a certificate cannot be valid before 1970 or after 9999")
    })?;
    Ok(Time::GeneralTime(GeneralizedTime::from_date_time(date)))
}
