//! Reports of SEV-SNP under AMD's roots.

use super::{Proven, certificates};
use cowboy_types::cbor::{self, Value};
use sev::certs::snp::{Certificate, Chain, Verifiable, builtin, ca};
use sev::firmware::guest::AttestationReport;
use sev::parser::ByteParser;

/// The signature algorithm of reports: ECDSA on P-384 with SHA-384.
const ECDSA_P384: u32 = 1;

/// AMD's roots for its third, fourth and fifth generation.
pub(super) fn roots() -> Vec<Vec<u8>> {
    let of = |root: std::io::Result<Certificate>| {
        root.and_then(|root| root.to_der()).expect("the certificates that the library carries are right")
    };
    vec![of(builtin::milan::ark()), of(builtin::genoa::ark()), of(builtin::turin::ark())]
}

pub(super) fn verify(roots: &[Vec<u8>], report: &[u8], collateral: &[u8], seconds: u64) -> Option<Proven> {
    let collateral = cbor::decode(collateral).ok()?;
    let certificate = |name: &str| collateral.get(name).and_then(Value::as_bytes);
    let (ask, vek) = (certificate("ask")?, certificate("vek")?);
    let report = AttestationReport::from_bytes(report).ok()?;
    let holds = |root: &Vec<u8>| {
        let is_current = [&root[..], ask, vek].iter().all(|der| certificates::is_current(der, seconds));
        let parts = (Certificate::from_der(root), Certificate::from_der(ask), Certificate::from_der(vek));
        let (Ok(ark), Ok(ask), Ok(vek)) = parts else { return false };
        let chain = Chain { ca: ca::Chain { ark, ask }, vek };
        is_current && (&chain, &report).verify().is_ok()
    };
    // Who may debug a machine may read its keys.
    let is_good = report.sig_algo == ECDSA_P384 && !report.policy.debug_allowed() && is_of_its_chip(vek, &report);
    if !is_good || !roots.iter().any(holds) {
        return None;
    }
    Some(Proven { measurement: report.measurement.to_vec(), data: report.report_data.to_vec() })
}

/// Whether the key was made for the firmware that the report names: the certificate carries the versions from which it is derived.
fn is_of_its_chip(vek: &[u8], report: &AttestationReport) -> bool {
    let firmware = &report.reported_tcb;
    let versions = [
        ("1.3.6.1.4.1.3704.1.3.1", firmware.bootloader),
        ("1.3.6.1.4.1.3704.1.3.3", firmware.snp),
        ("1.3.6.1.4.1.3704.1.3.8", firmware.microcode),
    ];
    versions.iter().all(|(name, version)| certificates::small_number(vek, name) == Some(*version))
}
