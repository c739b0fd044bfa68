//! The records of trusted environments.

use cowboy_types::environment::{Environment, Measurement};
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List, Text, record};

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
