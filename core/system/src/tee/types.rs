//! The records of trusted environments.

use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List, Text, record, variants};

variants! {
    /// A kind of trusted environment.
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

record! {
    /// What governance thinks of a program.
    pub struct Program {
        /// Whether its attestations are taken.
        pub is_accepted: bool,
        /// The models that it can run; none means that it says itself which one it ran.
        pub models: List<Hash, 16>,
        /// A name for display.
        pub name: Text<64>,
    }
}

record! {
    /// Certificates that documents must lead to, in DER.
    pub struct Roots {
        /// Any of them.
        pub certificates: List<Blob<4_096>, 8>,
    }
}

record! {
    /// What a runner proved of itself.
    pub struct Attestation {
        /// In which environment.
        pub environment: Environment,
        /// The program's measurement.
        pub measurement: Measurement,
        /// Ed25519 public key of what that program says.
        pub key: Fixed<32>,
        /// When it was proven.
        pub at: Height,
        /// The last height at which it counts.
        pub valid_until: Height,
    }
}
