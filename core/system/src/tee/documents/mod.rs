//! What manufacturers sign: quotes of SGX and TDX, reports of SEV-SNP, documents of Nitro, each checked down to a trusted root.
//!
//! Pure functions: the only time is the block's. Whatever does not hold, or is not of its format, is nothing.

mod amazon;
mod amd;
mod certificates;
mod intel;

use cowboy_types::environment::Environment;

/// What a document proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// Which program: the enclave's digest (SGX); the image's and the four registers' (TDX); the image's (SEV-SNP); registers 0 to 2 (Nitro).
    pub measurement: Vec<u8>,
    /// What the program had put into it.
    pub data: Vec<u8>,
}

/// Checks a document at a time, in seconds since 1970. `collateral` is what comes beside it: for Intel the JSON of QuoteCollateralV3, for
/// AMD canonical CBOR `{"ask", "vek"}` of certificates in DER; Amazon's documents carry their own.
pub fn verify(environment: &Environment, roots: &[Vec<u8>], document: &[u8], collateral: &[u8], seconds: u64) -> Option<Proven> {
    match environment {
        Environment::Sgx | Environment::Tdx => intel::verify(environment, roots, document, collateral, seconds),
        Environment::Sev => amd::verify(roots, document, collateral, seconds),
        Environment::Nitro => amazon::verify(roots, document, seconds),
    }
}

/// The roots that the manufacturer of an environment publishes, in DER.
pub fn manufacturers_roots(environment: &Environment) -> Vec<Vec<u8>> {
    match environment {
        Environment::Sgx | Environment::Tdx => vec![intel::ROOT.to_vec()],
        Environment::Sev => amd::roots(),
        Environment::Nitro => vec![amazon::ROOT.to_vec()],
    }
}
