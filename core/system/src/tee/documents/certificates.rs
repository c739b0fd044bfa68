//! Certificates on P-384: a path down from a root, at a time. Nothing else of X.509 is taken.

use p384::ecdsa::signature::Verifier as _;
use p384::ecdsa::{Signature, VerifyingKey};
use x509_cert::Certificate;
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode as _, Encode as _, Reader as _, SliceReader};
use x509_cert::ext::Extension;
use x509_cert::ext::pkix::{BasicConstraints, KeyUsage};

/// ecdsa-with-SHA384.
const ECDSA_SHA384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3");
const BASIC_CONSTRAINTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.19");
const KEY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.15");

/// The longest path: a root, four authorities, a leaf.
const MOST_CERTIFICATES: usize = 6;

/// Whether a path, the nearest to the root first, leads from the root to its last certificate: each is signed by the one before, which
/// is an authority and has room for what is below it, and all count at the time.
pub(super) fn leads_to(root: &[u8], path: &[&[u8]], seconds: u64) -> bool {
    if path.is_empty() || path.len() >= MOST_CERTIFICATES {
        return false;
    }
    let decoded: Option<Vec<Certificate>> = std::iter::once(&root).chain(path).map(|der| Certificate::from_der(der).ok()).collect();
    let Some(all) = decoded else { return false };
    let count = all.len();
    all.iter().all(|certificate| counts_at(certificate, seconds) && is_understood(certificate))
        && all.windows(2).enumerate().all(|(place, pair)| {
            // Authorities between this one and the leaf.
            let below = count - 2 - place;
            is_authority(&pair[0], below) && is_issued_by(&pair[1], &pair[0])
        })
}

/// Whether the holder of a certificate signed a message: r ‖ s, over its SHA-384.
pub(super) fn has_signed(certificate: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let Some(key) = Certificate::from_der(certificate).ok().and_then(|certificate| key_of(&certificate)) else { return false };
    Signature::from_slice(signature).is_ok_and(|signature| key.verify(message, &signature).is_ok())
}

/// Whether a certificate counts at a time.
pub(super) fn is_current(certificate: &[u8], seconds: u64) -> bool {
    Certificate::from_der(certificate).is_ok_and(|certificate| counts_at(&certificate, seconds))
}

/// A small number that stands in an extension of a certificate, as a DER integer.
pub(super) fn small_number(certificate: &[u8], name: &str) -> Option<u8> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let name = ObjectIdentifier::new(name).ok()?;
    let value = extension(&certificate, name)?.extn_value.as_bytes();
    let mut reader = SliceReader::new(value).ok()?;
    let number = reader.decode::<u8>().ok()?;
    reader.is_finished().then_some(number)
}

fn key_of(certificate: &Certificate) -> Option<VerifyingKey> {
    VerifyingKey::from_sec1_bytes(certificate.tbs_certificate.subject_public_key_info.subject_public_key.as_bytes()?).ok()
}

fn counts_at(certificate: &Certificate, seconds: u64) -> bool {
    let validity = &certificate.tbs_certificate.validity;
    (validity.not_before.to_unix_duration().as_secs()..=validity.not_after.to_unix_duration().as_secs()).contains(&seconds)
}

fn extensions(certificate: &Certificate) -> &[Extension] {
    certificate.tbs_certificate.extensions.as_deref().unwrap_or(&[])
}

fn extension(certificate: &Certificate, name: ObjectIdentifier) -> Option<&Extension> {
    extensions(certificate).iter().find(|extension| extension.extn_id == name)
}

/// Whether nothing in it must be understood that is not.
fn is_understood(certificate: &Certificate) -> bool {
    extensions(certificate).iter().all(|extension| !extension.critical || [BASIC_CONSTRAINTS, KEY_USAGE].contains(&extension.extn_id))
}

fn is_authority(certificate: &Certificate, below: usize) -> bool {
    let read = |name| extension(certificate, name).map(|extension| extension.extn_value.as_bytes());
    let constraints = read(BASIC_CONSTRAINTS).and_then(|bytes| BasicConstraints::from_der(bytes).ok());
    let usage = read(KEY_USAGE).and_then(|bytes| KeyUsage::from_der(bytes).ok());
    let has_room =
        |constraints: BasicConstraints| constraints.ca && constraints.path_len_constraint.is_none_or(|most| below <= usize::from(most));
    constraints.is_some_and(has_room) && usage.is_some_and(|usage| usage.key_cert_sign())
}

fn is_issued_by(certificate: &Certificate, issuer: &Certificate) -> bool {
    let is_named = certificate.tbs_certificate.issuer == issuer.tbs_certificate.subject;
    let is_algorithm = certificate.signature_algorithm.oid == ECDSA_SHA384 && certificate.tbs_certificate.signature.oid == ECDSA_SHA384;
    let parts = (certificate.tbs_certificate.to_der(), certificate.signature.as_bytes().map(Signature::from_der), key_of(issuer));
    let (Ok(message), Some(Ok(signature)), Some(key)) = parts else { return false };
    is_named && is_algorithm && key.verify(&message, &signature).is_ok()
}
