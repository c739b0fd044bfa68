//! The methods and events of 0x0B.

use super::forms::{DescribedDemand, DescribedRelay, DescribedRound, Moved, SlotMoved};
use super::types::POINTS;
use crate::actor::methods;
use crate::schema::events;
use cowboy_types::actors::RELAYS;
use cowboy_types::units::{Amount, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List};
use cowboy_volumes::name::MAX_PARTITIONS;

methods! {
    /// What 0x0B is asked.
    pub(crate) METHODS by RELAYS;

    /// Registers the sender as a relay, with the stake as value: `volumes.relay_stake`, and at least `volumes.stake_per_gib` for each GiB.
    "register_relay" RegisterRelay [payable, priced] {
        /// Where it is reached: a host name or an IPv6 address.
        endpoint: String,
        /// The UDP port of its server.
        port: u64,
        /// The SHA-256 hash of the public key of its TLS certificate.
        certificate: Hash,
        /// Its Ed25519 key.
        key: Fixed<32>,
        /// The key's signature over "cowboy-relay-key-v1:" ‖ genesis hash ‖ sender ‖ key.
        proof: Fixed<64>,
        /// Where it stands: up to 16 of `a-z0-9-`.
        region: String,
        /// Bytes that it offers.
        capacity: u64,
        /// Base units of CBY for a MiB and an epoch.
        ask: u64 = 450,
    } -> DescribedRelay [verify_ed25519];

    /// Changes what the sender says of itself. Slots that it has keep their price.
    "update_relay" UpdateRelay [priced] {
        /// A host name or an IPv6 address.
        endpoint: String,
        /// The UDP port of its server.
        port: u64,
        /// The SHA-256 hash of the public key of its TLS certificate.
        certificate: Hash,
        /// Bytes that it offers.
        capacity: u64,
        /// Base units of CBY for a MiB and an epoch.
        ask: u64,
    } -> ();

    /// Says that the sender is up.
    "heartbeat" Heartbeat [duty] {} -> ();

    /// Stakes the value, too.
    "add_stake" AddStake [payable] {} -> ();

    /// Leaves: others are drawn for the sender's slots, and rebuild them.
    "leave" Leave [] {} -> ();

    /// Pays the sender's stake, `volumes.unbonding` blocks after it left.
    "withdraw" Withdraw [] {} -> Amount;

    /// Says that the sender has rebuilt the shards of a slot that it was given.
    "take_slot" TakeSlot [duty, passing] {
        /// The volume.
        volume: Hash,
        /// The slot.
        slot: u8,
        /// The roots that it rebuilt, in the order of the volume's partitions. It is behind where another root stands by now.
        roots: List<Hash, MAX_PARTITIONS>,
    } -> ();

    /// Says that the sender now has all of a root that it did not acknowledge.
    "late_ack" LateAck [duty] {
        /// The volume.
        volume: Hash,
        /// The hash of the partition's name.
        partition: Hash,
        /// The standing root.
        root: Hash,
    } -> ();

    /// Proves the points of the sender's round.
    "prove" Prove [duty, passing] {
        /// The height at which the points were drawn.
        height: Height,
        /// A proof for each point, encoded.
        proofs: List<Vec<u8>, POINTS>,
    } -> ();

    /// Demands that a relay publishes a part of a shard, for a bond as value. Whoever may read the partition.
    "demand" Demand [payable, priced] {
        /// The volume.
        volume: Hash,
        /// The hash of the partition's name.
        partition: Hash,
        /// The slot.
        slot: u8,
        /// The leaf of the file.
        leaf: Vec<u8>,
        /// The way from the leaf to the partition's node, encoded.
        route: Vec<u8>,
        /// Where the part begins in the shard.
        start: u64,
        /// Its length, at most 32,768.
        length: u64,
        /// The capability, where the sender neither owns the volume nor everybody reads it.
        capability: Option<Fixed<16>>,
    } -> Hash;

    /// Publishes the part that is demanded of the sender.
    "answer" Answer [duty, passing] {
        /// The demand.
        demand: Hash,
        /// The slice that proves the part.
        slice: Vec<u8>,
    } -> ();

    /// Shows two acknowledgements of a relay that contradict each other. Anybody may. Returns what it lost.
    "accuse" Accuse [passing] {
        /// The relay.
        relay: Address,
        /// The volume.
        volume: Hash,
        /// How often a volume of its id was created or handed over.
        generation: u64,
        /// The hash of the partition's name.
        partition: Hash,
        /// How many roots the partition had, with the new one.
        sequence: u64,
        /// The root before.
        old: Hash,
        /// The new root.
        new: Hash,
        /// The last height at which the acknowledgements hold.
        until: u64,
        /// The slot.
        slot: u8,
        /// The two sums.
        sums: List<u64, 2>,
        /// The relay's signature for each.
        signatures: List<Fixed<64>, 2>,
    } -> Amount [verify_ed25519];

    /// Returns a relay; null where none is registered.
    "get_relay" GetRelay [view] {
        /// Its address.
        address: Address,
    } -> Option<DescribedRelay>;

    /// Returns relays, ascending by address, at most 64.
    "list_relays" ListRelays [view] {
        /// The first address that is returned; all where it is absent.
        first: Option<Address>,
    } -> List<DescribedRelay, 64>;

    /// Returns the round of proofs of a relay that is under way; null where none is.
    "get_round" GetRound [view] {
        /// The relay.
        address: Address,
    } -> Option<DescribedRound>;

    /// Returns a demand; null where there is none, or it is over.
    "get_demand" GetDemand [view] {
        /// The demand.
        demand: Hash,
    } -> Option<DescribedDemand>;

    /// Returns what bounties are paid from.
    "get_pool" GetPool [view] {} -> Amount;
}

events! {
    /// What 0x0B emits.
    pub(crate) EVENTS by RELAYS;

    /// A relay registered; the amount is its stake.
    "relay.registered" Registered(Moved)

    /// A relay says something else of itself; the amount is its stake.
    "relay.updated" Updated(Moved)

    /// A relay staked more; the amount is its stake.
    "relay.staked" Staked(Moved)

    /// A relay leaves; the amount is its stake.
    "relay.leaving" Leaving(Moved)

    /// A relay was paid its stake.
    "relay.left" Left(Moved)

    /// A relay missed too many proofs, or lost all its stake by silence, and is out; the amount was burned.
    "relay.evicted" Evicted(Moved)

    /// A relay has to prove that it holds these points.
    "proof.drawn" Drawn {
        /// How many points.
        points: u64,
        /// The relay.
        relay: Address,
        /// The last height at which it may answer.
        until: Height,
    }

    /// A relay proved its points.
    "proof.given" Proven {
        /// The height at which they were drawn.
        height: Height,
        /// The relay.
        relay: Address,
    }

    /// A relay did not prove its points; the amount was burned.
    "proof.missed" Missed(Moved)

    /// A relay was given a slot.
    "slot.given" SlotGiven(SlotMoved)

    /// A relay has rebuilt a slot.
    "slot.filled" SlotFilled(SlotMoved)

    /// A slot has no relay.
    "slot.lost" SlotLost(SlotMoved)

    /// A relay has to publish a part of a shard.
    "demand.made" Demanded {
        /// The demand.
        demand: Hash,
        /// The length of the part.
        length: u64,
        /// The relay.
        relay: Address,
        /// The hash of the shard.
        shard: Hash,
        /// Where the part begins.
        start: u64,
        /// The last height at which it may answer.
        until: Height,
        /// The volume.
        volume_id: Hash,
    }

    /// A relay published what was demanded. The part stands in its transaction.
    "demand.answered" Answered {
        /// The demand.
        demand: Hash,
        /// The relay.
        relay: Address,
    }

    /// A relay did not publish what was demanded; the amount was burned.
    "demand.refused" Refused(Moved)

    /// Acknowledgements of a relay contradict each other; the amount was burned.
    "relay.accused" Accused(Moved)
}
