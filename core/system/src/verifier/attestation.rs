//! What a trusted environment says of a result (003 §5.5; 0x05).
//!
//! An attestation is canonical CBOR `{"type", "runner", "output", "model", …}`. The type `dev` proves nothing and is accepted on
//! chains for development alone.

use cowboy_types::cbor;
use cowboy_types::cbor::Value;
use cowboy_types::job::{JobSpec, Runner};
use cowboy_types::{Address, Hash};

/// The name and the bit of the environment that proves nothing.
const DEV: (&str, u8) = ("dev", 128);

/// What an attestation is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attested {
    /// It holds.
    Accepted,
    /// It holds, and proves that another model than the job's ran.
    WrongModel,
    /// There is none, or it does not hold.
    Refused,
}

/// Looks at an attestation of a runner's output.
pub fn check(is_dev: bool, spec: &JobSpec, address: Address, runner: &Runner, output: &Hash, bytes: &[u8]) -> Attested {
    let Ok(value) = cbor::decode(bytes) else { return Attested::Refused };
    let is = |name: &str, expected: &[u8]| value.get(name).and_then(Value::as_bytes).is_some_and(|bytes| bytes == expected);
    let is_known = is_dev && value.get("type").and_then(Value::as_text) == Some(DEV.0) && runner.tee & DEV.1 != 0;
    if !is_known || !is("runner", &address.0) || !is("output", &output.0) {
        return Attested::Refused;
    }
    if spec.model != Hash::ZERO && !is("model", &spec.model.0) { Attested::WrongModel } else { Attested::Accepted }
}
