//! What relays ask 0x0B, and who writes or mounts volumes 0x0A.

use super::secrets::Endpoint;
use super::{Request, list, request};
use crate::schema::Refused;
use crate::volumes::api::{Commit, MountVolume};
use crate::volumes::forms::Acknowledgement;
use crate::volumes::relay_api::{AddStake, Answer, Heartbeat, LateAck, Prove, RegisterRelay, TakeSlot, UpdateRelay};
use cowboy_types::Hash;
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;

/// A relay, as it registers.
#[derive(Clone, Debug)]
pub struct Registration {
    /// Where it is reached.
    pub at: Endpoint,
    /// Its Ed25519 key.
    pub key: Fixed<32>,
    /// The key's signature that binds it to the sender.
    pub proof: Fixed<64>,
    /// Where it stands.
    pub region: String,
    /// Bytes that it offers.
    pub capacity: u64,
    /// Base units of CBY for a MiB and an epoch.
    pub ask: u64,
}

/// Registers a relay, with the stake as value.
pub fn register_relay(registration: Registration) -> Request {
    let Registration { at: Endpoint { endpoint, port, certificate }, key, proof, region, capacity, ask } = registration;
    request(&RegisterRelay { endpoint, port: u64::from(port), certificate, key, proof, region, capacity, ask })
}

/// Changes what a relay says of itself.
pub fn update_relay(at: Endpoint, capacity: u64, ask: u64) -> Request {
    let Endpoint { endpoint, port, certificate } = at;
    request(&UpdateRelay { endpoint, port: u64::from(port), certificate, capacity, ask })
}

/// Stakes the value, too.
pub fn add_stake() -> Request {
    request(&AddStake {})
}

/// Says that a relay is up.
pub fn heartbeat() -> Request {
    request(&Heartbeat {})
}

/// Says that a relay has rebuilt a slot, with the roots in the order of the volume's partitions.
///
/// # Errors
///
/// More roots than a volume has partitions.
pub fn take_slot(volume: Hash, slot: u8, roots: impl IntoIterator<Item = Hash>) -> Result<Request, Refused> {
    Ok(request(&TakeSlot { volume, slot, roots: list("roots", roots.into_iter().map(Some))? }))
}

/// Says that a relay has all of a root that it did not acknowledge.
pub fn late_ack(volume: Hash, partition: Hash, root: Hash) -> Request {
    request(&LateAck { volume, partition, root })
}

/// Proves the points of a round.
///
/// # Errors
///
/// More proofs than a round has points.
pub fn prove(height: Height, proofs: impl IntoIterator<Item = Vec<u8>>) -> Result<Request, Refused> {
    Ok(request(&Prove { height, proofs: list("proofs", proofs.into_iter().map(Some))? }))
}

/// Publishes the part that is demanded.
pub fn answer(demand: Hash, slice: Vec<u8>) -> Request {
    request(&Answer { demand, slice })
}

/// Gives a runner its right to a volume that its job mounts.
pub fn mount(job: Hash, index: u64) -> Request {
    request(&MountVolume { job, index })
}

/// A new root of a partition.
#[derive(Clone, Copy, Debug)]
pub struct NewRoot {
    /// The volume.
    pub volume: Hash,
    /// The hash of the partition's name.
    pub partition: Hash,
    /// The standing root; zeros where there is none.
    pub old: Hash,
    /// Bits of a tag that choose a page.
    pub depth: u8,
    /// Files.
    pub leaves: u64,
    /// The hash of the node above all pages.
    pub node: Hash,
    /// Bytes of one slot.
    pub sum: u64,
    /// The last height at which the acknowledgements hold.
    pub until: u64,
    /// The version of the partition's key.
    pub key_version: u64,
    /// The capability, where the sender does not own the volume.
    pub capability: Option<Fixed<16>>,
}

/// Puts a new root in the place of the standing one, with signatures of relays by slot.
///
/// # Errors
///
/// More signatures than a volume has slots.
pub fn commit(root: NewRoot, acks: &[(u8, Fixed<64>)]) -> Result<Request, Refused> {
    let NewRoot { volume, partition, old, depth, leaves, node, sum, until, key_version, capability } = root;
    let acks = list("acks", acks.iter().map(|(slot, signature)| Some(Acknowledgement { signature: *signature, slot: *slot })))?;
    Ok(request(&Commit { volume, partition, old, depth, leaves, node, sum, acks, until, key_version, capability }))
}
