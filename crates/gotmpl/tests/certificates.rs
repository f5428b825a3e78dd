//! Keys and certificates as read by other programs: signatures are valid, names and usages present, a seed repeats
//! them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use p256::ecdsa::signature::Verifier;
use purlin_gotmpl::{Limits, Machine, Outside, Set, Val};
use std::sync::Arc;
use x509_cert::Certificate;
use x509_cert::der::{DecodePem, Encode};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{AuthorityKeyIdentifier, BasicConstraints, KeyUsage, SubjectAltName, SubjectKeyIdentifier};
use x509_cert::spki::DecodePublicKey;

const NOW: i128 = 1_600_000_000;

fn render(template: &str) -> Result<String, String> {
    let mut set = Set::new();
    set.add("t", template).unwrap();
    let set = Arc::new(set);
    let outside = Outside { now: NOW * 1_000_000_000, seed: 1.into(), track: false, ..Outside::default() };
    let limits = Limits::default();
    let mut machine = Machine::new(set.namespace(), &outside, &limits);
    let rope = machine.execute(&"t".into(), Val::NIL).map_err(|error| error.go_text())?;
    Ok(String::from_utf8_lossy(&rope.bytes).into_owned())
}

/// The certificates in a text.
fn certificates(text: &str) -> Vec<Certificate> {
    let blocks = text.split_inclusive("-----END CERTIFICATE-----\n");
    blocks.filter_map(|block| block.find("-----BEGIN").map(|at| Certificate::from_pem(&block[at..]).unwrap())).collect()
}

/// Whether the key of one certificate has signed another.
fn has_signed(signer: &Certificate, signed: &Certificate) -> bool {
    let public = signer.tbs_certificate().subject_public_key_info().to_der().unwrap();
    let content = signed.tbs_certificate().to_der().unwrap();
    let signature = signed.signature().as_bytes().unwrap();
    if let Ok(key) = rsa::RsaPublicKey::from_public_key_der(&public) {
        let key = rsa::pkcs1v15::VerifyingKey::<sha2::Sha256>::new(key);
        return key.verify(&content, &signature.try_into().unwrap()).is_ok();
    }
    if let Ok(key) = p256::ecdsa::VerifyingKey::from_public_key_der(&public) {
        return key.verify(&content, &p256::ecdsa::DerSignature::try_from(signature).unwrap()).is_ok();
    }
    let key = ed25519_dalek::VerifyingKey::from_public_key_der(&public).unwrap();
    key.verify(&content, &ed25519_dalek::Signature::try_from(signature).unwrap()).is_ok()
}

#[test]
fn an_authority_signs_what_names_it() {
    let text = render(
        "{{ $ca := genCA \"Our CA*\" 365 }}\
         {{ $ca.Cert }}{{ (genSignedCert \"a.example\" (list \"10.0.0.1\" \"::1\") (list \"a.example\" \"*.b\") 30 $ca).Cert }}",
    );
    let all = certificates(&text.unwrap());
    let [ca, leaf] = all.as_slice() else { panic!("two certificates") };
    assert!(has_signed(ca, ca) && has_signed(ca, leaf) && !has_signed(leaf, ca));
    let (ca, leaf) = (ca.tbs_certificate(), leaf.tbs_certificate());
    assert_eq!((leaf.issuer(), leaf.subject().to_string().as_str()), (ca.subject(), "CN=a.example"));
    let (_, own) = ca.get_extension::<SubjectKeyIdentifier>().unwrap().unwrap();
    let (_, above) = leaf.get_extension::<AuthorityKeyIdentifier>().unwrap().unwrap();
    assert_eq!(above.key_identifier, Some(own.0));
    let (critical, names) = leaf.get_extension::<SubjectAltName>().unwrap().unwrap();
    let shown = |name: &GeneralName| match name {
        GeneralName::DnsName(name) => name.to_string(),
        GeneralName::IpAddress(address) => format!("{:?}", address.as_bytes()),
        _ => panic!("{name:?}"),
    };
    let names: Vec<String> = names.0.iter().map(shown).collect();
    assert_eq!(names[..3], ["a.example", "*.b", "[10, 0, 0, 1]"]);
    assert!(!critical && names.len() == 4);
    let is_authority = |tbs: &x509_cert::TbsCertificate| {
        let (_, usage) = tbs.get_extension::<KeyUsage>().unwrap().unwrap();
        let (_, constraints) = tbs.get_extension::<BasicConstraints>().unwrap().unwrap();
        assert!(usage.digital_signature() && usage.key_encipherment());
        assert_eq!(usage.key_cert_sign(), constraints.ca);
        constraints.ca
    };
    assert!(is_authority(ca) && !is_authority(leaf));
    let seconds = |time: x509_cert::time::Time| i128::from(time.to_unix_duration().as_secs());
    assert_eq!(seconds(leaf.validity().not_before), NOW);
    assert_eq!(seconds(leaf.validity().not_after), NOW + 30 * 86_400);
}

#[test]
fn keys_of_every_kind_are_read_back_and_sign() {
    for kind in ["(genCA \"ca\" 1).Key", "genPrivateKey \"ecdsa\"", "genPrivateKey \"ed25519\""] {
        let text = render(&format!(
            "{{{{ $key := {kind} }}}}{{{{ $ca := genCAWithKey \"ca\" 1 $key }}}}\
             {{{{ (genSignedCertWithKey \"a\" nil nil 1 $ca $key).Cert }}}}{{{{ eq $key $ca.Key }}}}",
        ));
        let text = text.unwrap();
        assert!(text.ends_with("true"), "{kind}: the key is written as it was read");
        let all = certificates(&text);
        assert!(has_signed(&all[0], &all[0]), "{kind}");
    }
}

#[test]
fn a_seed_repeats_what_was_made() {
    let template = "{{ (genCA \"ca\" 1).Key }}{{ genPrivateKey \"ecdsa\" }}{{ encryptAES \"k\" \"text\" }}";
    assert_eq!(render(template).unwrap(), render(template).unwrap());
}

#[test]
fn pem_is_read_as_go_reads_it() {
    let template = "{{ $ca := genCAWithKey \"ca\" 1 (genPrivateKey \"ecdsa\") }}\
         {{ $cert := printf \"a comment\\n%s\\ntrailing\" ($ca.Cert | replace \"\\n\" \"\\r\\n\") }}\
         {{ $own := buildCustomCert (b64enc $cert) (b64enc $ca.Key) }}\
         {{ (genSignedCertWithKey \"a\" nil nil 1 $own (genPrivateKey \"ecdsa\")).Cert }}";
    assert_eq!(certificates(&render(template).unwrap()).len(), 1);
}

#[test]
fn what_cannot_be_said_is_an_error() {
    let key = "(genPrivateKey \"ecdsa\")";
    for (call, message) in [
        (format!("genCAWithKey \"ca\" -100000 {key}"), "before 1970"),
        ("genCAWithKey \"ca\" 1 \"no key\"".to_owned(), "unable to decode pem"),
        (format!("genSelfSignedCertWithKey \"a\" (list \"1.2.3\") nil 1 {key}"), "error parsing ip: 1.2.3"),
        (format!("genSelfSignedCertWithKey \"a\" nil (list \"ä.example\") 1 {key}"), "IA5String"),
    ] {
        let error = render(&format!("{{{{ {call} }}}}")).unwrap_err();
        assert!(error.contains(message), "{call}: {error}");
    }
}
