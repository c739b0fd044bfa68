//! The methods and events of 0x05.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{Form, Refused, Shape, events, form};
use cowboy_types::cbor::Value;
use cowboy_types::environment::{Environment, Measurement};
use cowboy_types::units::{Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Text};

impl Form for Environment {
    const SHAPE: Shape = Shape::Word(&["sgx", "sev", "tdx", "nitro"]);

    fn read(value: &Value) -> Result<Self, Refused> {
        value.as_text().and_then(super::environment).ok_or(Refused::WHOLE)
    }

    fn write(&self) -> Value {
        Value::text(self.slug())
    }
}

form! {
    /// What a document proved.
    pub(crate) struct Proven {
        /// The program's measurement.
        measurement: Measurement,
        /// The last height at which it counts.
        valid_until: Height,
    }
}

form! {
    /// What a runner proved last.
    pub(crate) struct Proof {
        /// In which environment.
        environment: Environment,
        /// The program's measurement.
        measurement: Measurement,
        /// The Ed25519 public key of the program.
        key: Fixed<32>,
        /// The height of the proof.
        at: Height,
        /// The last height at which it counts.
        valid_until: Height,
    }
}

form! {
    /// What governance decided about a program.
    pub(crate) struct Policy {
        /// Whether its attestations are accepted.
        accepted: bool,
        /// The models that it can run; none means that it names the model itself.
        models: List<Hash, 16>,
        /// Its name, for people.
        name: Text<64>,
    }
}

form! {
    /// A program among the policies.
    pub(crate) struct PolicyId {
        /// The id of the environment and the measurement.
        policy_id: Hash,
    }
}

methods! {
    /// What 0x05 is asked.
    pub(super) METHODS by NUMBER;

    /// Proves that the sender, a runner, has a key that only a measured program knows. The document's data begin with
    /// keccak256("cowboy-tee-key:" ‖ runner ‖ key).
    "attest" Attest [priced] {
        /// The environment.
        environment: Environment,
        /// The document that the hardware signed.
        document: Vec<u8> = Vec::new(),
        /// What the manufacturer publishes about it, where its format needs it.
        collateral: Vec<u8> = Vec::new(),
        /// The Ed25519 public key of the program.
        key: Fixed<32>,
    } -> Proven;

    /// Returns what a runner proved last, or null.
    "get_attestation" GetAttestation [view] {
        /// The runner.
        runner: Address,
    } -> Option<Proof>;

    /// Accepts a program, or no longer does.
    "set_policy" SetPolicy [governed] {
        /// The environment.
        environment: Environment,
        /// The program's measurement; not all zeros, which an enclave in debug mode has.
        measurement: Measurement,
        /// Whether its attestations are accepted.
        accepted: bool = false,
        /// The models that it can run; none means that it names the model itself.
        models: List<Hash, 16> = List::default(),
        /// Its name, for people.
        name: Text<64> = Text::default(),
    } -> PolicyId;

    /// Returns what governance decided about a program, or null.
    "get_policy" GetPolicy [view] {
        /// The environment.
        environment: Environment,
        /// The program's measurement.
        measurement: Vec<u8> = Vec::new(),
    } -> Option<Policy>;

    /// Replaces the certificates that documents of an environment must lead to.
    "set_roots" SetRoots [governed] {
        /// The environment.
        environment: Environment,
        /// The certificates, in DER.
        roots: List<Blob<4_096>, 8> = List::default(),
    } -> ();

    /// Returns the certificates that documents of an environment must lead to.
    "get_roots" GetRoots [view] {
        /// The environment.
        environment: Environment,
    } -> List<Vec<u8>, 8>;
}

events! {
    /// What 0x05 emits.
    pub(super) EVENTS by NUMBER;

    /// A runner proved its environment.
    "EnvironmentAttested" EnvironmentAttested {
        /// The runner.
        runner: Address,
        /// The environment.
        environment: Environment,
        /// The id of the environment and the measurement.
        policy_id: Hash,
        /// The last height at which the proof counts.
        valid_until: Height,
    }

    /// Governance decided about a program.
    "PolicySet" PolicySet {
        /// The id of the environment and the measurement.
        policy_id: Hash,
        /// The environment.
        environment: Environment,
        /// Whether its attestations are accepted.
        accepted: bool,
    }

    /// Governance replaced the certificates of an environment.
    "RootsSet" RootsSet {
        /// The environment.
        environment: Environment,
        /// How many there are.
        roots: Count,
    }
}
