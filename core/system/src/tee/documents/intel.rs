//! Quotes of SGX and TDX with Intel's collateral (DCAP).

use super::Proven;
use cowboy_types::environment::Environment;
use dcap_qvl::QuoteCollateralV3;
use dcap_qvl::policy::QuotePolicy;
use dcap_qvl::quote::{Report, TDReport10};
use dcap_qvl::tcb_info::TcbStatus;
use dcap_qvl::verify::QuoteVerifier;

/// Intel's root certificate for its environments.
pub(super) const ROOT: &[u8] = include_bytes!("intel_root.der");

pub(super) fn verify(environment: &Environment, roots: &[Vec<u8>], quote: &[u8], collateral: &[u8], seconds: u64) -> Option<Proven> {
    let collateral: QuoteCollateralV3 = serde_json::from_slice(collateral).ok()?;
    // A platform whose known weaknesses a program can guard against, or its owner by configuration, is as good as the program, whose
    // measurement is governed. One that lacks a fix, or was revoked, proves nothing.
    let policy = QuotePolicy::strict(seconds)
        .allow_status(TcbStatus::SWHardeningNeeded)
        .allow_status(TcbStatus::ConfigurationNeeded)
        .allow_status(TcbStatus::ConfigurationAndSWHardeningNeeded)
        .allow_dynamic_platform(true)
        .allow_cached_keys(true)
        .allow_smt(true);
    let check = |root: &Vec<u8>| {
        // Debug enclaves are refused by the verifier unless it is told otherwise.
        QuoteVerifier::new(root.clone()).verify_with_policy(quote, collateral.clone(), seconds, &policy).ok()
    };
    let claims = roots.iter().find_map(check)?;
    let of_machine = |report: &TDReport10| Proven {
        measurement: [report.mr_td, report.rt_mr0, report.rt_mr1, report.rt_mr2, report.rt_mr3].concat(),
        data: report.report_data.to_vec(),
    };
    match (environment, &claims.report) {
        (Environment::Sgx, Report::SgxEnclave(report)) => {
            Some(Proven { measurement: report.mr_enclave.to_vec(), data: report.report_data.to_vec() })
        }
        (Environment::Tdx, report) => report.as_td10().map(of_machine),
        _ => None,
    }
}
