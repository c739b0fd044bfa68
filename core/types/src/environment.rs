//! Trusted execution environments: what runners attest, and what policies and jobs ask for (003 §5.5).

use crate::wire::Blob;

crate::variants! {
    /// A kind of trusted environment.
    #[derive(PartialOrd, Ord)]
    pub enum Environment {
        /// Intel's enclaves.
        1 Sgx,
        /// AMD's encrypted machines, SEV-SNP.
        2 Sev,
        /// Intel's encrypted machines.
        3 Tdx,
        /// Amazon's enclaves.
        4 Nitro,
    }
}

impl Environment {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Sgx, Self::Sev, Self::Tdx, Self::Nitro];

    /// Its name, as registrations and statements spell it.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Sgx => "sgx",
            Self::Sev => "sev",
            Self::Tdx => "tdx",
            Self::Nitro => "nitro",
        }
    }

    /// Its bit among what a runner says that it has.
    pub fn bit(&self) -> u8 {
        match self {
            Self::Sgx => 1,
            Self::Sev => 2,
            Self::Tdx => 4,
            Self::Nitro => 8,
        }
    }
}

/// What names a program in its environment: digests of its pages, its machine's image, its registers, one after the other.
pub type Measurement = Blob<256>;
