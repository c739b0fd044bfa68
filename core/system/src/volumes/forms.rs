//! What the methods and events of volumes and relays return and name.

use super::types::{Capability, POINTS, REGION_BYTES};
use crate::endpoint::ENDPOINT_BYTES;
use crate::schema::form;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

form! {
    /// A relay.
    pub(crate) struct DescribedRelay {
        /// Its address.
        address: Address,
        /// Base units of CBY for a MiB and an epoch, in slots that it is given from now on.
        ask: Amount,
        /// Bytes that it offers.
        capacity: u64,
        /// The SHA-256 hash of the public key of its TLS certificate.
        certificate: Hash,
        /// Where it is reached: a host name or an address.
        endpoint: Text<ENDPOINT_BYTES>,
        /// The height at which it gave way to another in a full registry: it keeps its slots, and is given no more. Null where it did not.
        gave_way_at: Option<Height>,
        /// Whether it is up and stays, has its place, and its stake is enough for slots to be given to it.
        is_eligible: bool,
        /// Whether it is up, and stays.
        is_healthy: bool,
        /// The Ed25519 key that signs its acknowledgements.
        key: Fixed<32>,
        /// The height of its newest heartbeat.
        last_heartbeat: Height,
        /// The height at which it left or was removed; null while it has not.
        left_at: Option<Height>,
        /// Proofs that it missed in a row.
        misses: Count,
        /// The next height at which points are drawn for it.
        next_draw: Height,
        /// The UDP port of its server.
        port: u16,
        /// Where it stands, as its operator says.
        region: Text<REGION_BYTES>,
        /// The height at which it registered.
        registered_at: Height,
        /// Bytes of the quotas of its slots.
        reserved: u64,
        /// The last height at which it rests, because it did not rebuild a slot in time: it is drawn behind all others. Null where it does not.
        rests_until: Option<Height>,
        /// Slots that it serves.
        slots: u64,
        /// Base units of CBY that it staked.
        stake: Amount,
    }
}

form! {
    /// A slot of a volume.
    pub(crate) struct DescribedSlot {
        /// Whether the relay has all shards, and serves them.
        is_serving: bool,
        /// Base units of CBY for a MiB and an epoch.
        price: Amount,
        /// The relay; null while there is none.
        relay: Option<Address>,
        /// The height from which the relay has the slot, or has to rebuild it.
        since: Height,
    }
}

form! {
    /// A partition, as its volume lists it.
    pub(crate) struct DescribedRoot {
        /// Bytes of one slot.
        bytes: u64,
        /// The hash of its name.
        partition: Hash,
        /// Its root.
        root: Hash,
    }
}

form! {
    /// A volume.
    pub(crate) struct DescribedVolume {
        /// Bytes of one slot.
        bytes: u64,
        /// Shards of each file that carry it.
        data: u8,
        /// The height at which it was deleted; null where it was not.
        deleted_at: Option<Height>,
        /// CBY for its relays, in base units.
        escrow: Amount,
        /// public, committee or owner.
        keys: Text<16>,
        /// The root over its partitions.
        manifest_root: Hash,
        /// Base units of CBY for a MiB and an epoch that a slot costs at most.
        max_price: Amount,
        /// What the relays have earned and were not paid.
        owed: Amount,
        /// Its owner.
        owner: Address,
        /// Shards of each file beside those that carry it.
        parity: u8,
        /// Its partitions, ascending by the hashes of their names.
        partitions: List<DescribedRoot, 64>,
        /// What it costs in an epoch as it stands.
        per_epoch: Amount,
        /// Bytes of ciphertext that it may have.
        quota: u64,
        /// Its slots.
        slots: List<DescribedSlot, 24>,
        /// active, grace_period or deleted.
        status: Text<16>,
        /// Its id.
        volume_id: Hash,
    }
}

form! {
    /// A root of a partition.
    pub(crate) struct DescribedTop {
        /// The height at which it was committed.
        at: Height,
        /// Slots that did not acknowledge it: a bit for each.
        behind: u64,
        /// Bits of a tag that choose a page.
        depth: u8,
        /// The version of the partition's key under which its files are.
        key_version: u64,
        /// Files.
        leaves: u64,
        /// The hash of the node above all pages.
        node: Hash,
        /// What they hash to.
        root: Hash,
        /// Bytes of one slot.
        sum: u64,
    }
}

form! {
    /// A partition.
    pub(crate) struct DescribedPartition {
        /// The newest version that its key ever had; a partition that is rewritten gets the next one.
        key_version: u64,
        /// The root before the standing one, where it can come back; else null.
        previous: Option<DescribedTop>,
        /// The standing root.
        root: DescribedTop,
        /// How many roots there were.
        sequence: Count,
    }
}

form! {
    /// A capability.
    pub(crate) struct DescribedCapability {
        /// Its id.
        capability: Fixed<16>,
        /// The first height at which it holds.
        from: Height,
        /// Who has it.
        holder: Address,
        /// The job for which a runner holds it; zero where the owner gave it.
        job: Hash,
        /// Bytes of ciphertext that the holder may add.
        max_bytes: u64,
        /// r, w or rw.
        mode: Text<4>,
        /// The hash of the partition's name.
        partition: Hash,
        /// The last height at which it holds.
        until: Height,
        /// Bytes that the holder has added.
        used_bytes: u64,
        /// The volume.
        volume_id: Hash,
    }
}

form! {
    /// A byte that a relay has to show.
    pub(crate) struct DescribedPoint {
        /// Its place among all bytes of the slot in the partition.
        at: u64,
        /// The hash of the partition's name.
        partition: Hash,
        /// The root under which it stood.
        root: Hash,
        /// The slot.
        slot: u8,
        /// The volume.
        volume_id: Hash,
    }
}

form! {
    /// A round of proofs.
    pub(crate) struct DescribedRound {
        /// The height at which the points were drawn.
        height: Height,
        /// The points.
        points: List<DescribedPoint, POINTS>,
        /// The last height at which the relay may answer.
        until: Height,
    }
}

form! {
    /// A demand.
    pub(crate) struct DescribedDemand {
        /// What was put down.
        bond: Amount,
        /// Who demands.
        by: Address,
        /// The length of the part.
        length: u64,
        /// The relay.
        relay: Address,
        /// The hash of the shard.
        shard: Hash,
        /// The shard's length.
        shard_bytes: u64,
        /// The slot.
        slot: u8,
        /// Where the part begins.
        start: u64,
        /// The last height at which the relay may answer.
        until: Height,
        /// The volume.
        volume_id: Hash,
    }
}

form! {
    /// What a volume costs, at most.
    pub(crate) struct Priced {
        /// What its escrow has to hold at first.
        escrow: Amount,
        /// What is burned beside that.
        fee: Amount,
        /// What it costs in an epoch, when it is full.
        per_epoch: Amount,
    }
}

form! {
    /// A relay's signature over a new root.
    pub(crate) struct Acknowledgement {
        /// Its signature.
        signature: Fixed<64>,
        /// Its slot.
        slot: u8,
    }
}

form! {
    /// CBY of a relay.
    pub(crate) struct Moved {
        /// Base units of CBY.
        amount: Amount,
        /// The relay.
        relay: Address,
    }
}

form! {
    /// A volume and its money.
    pub(crate) struct VolumeMoved {
        /// Base units of CBY in its escrow.
        amount: Amount,
        /// Its owner.
        owner: Address,
        /// The volume.
        volume_id: Hash,
    }
}

form! {
    /// A slot, and the relay that it is about.
    pub(crate) struct SlotMoved {
        /// The relay; null where it had none.
        relay: Option<Address>,
        /// The slot.
        slot: u8,
        /// The volume.
        volume_id: Hash,
    }
}

form! {
    /// A capability, and whose it is.
    pub(crate) struct Granted {
        /// The capability.
        capability: Fixed<16>,
        /// Who has it.
        holder: Address,
        /// The hash of the partition's name.
        partition: Hash,
        /// The volume.
        volume_id: Hash,
    }
}

impl Granted {
    /// What events tell of a capability.
    pub(super) fn new(id: Fixed<16>, record: &Capability) -> Self {
        Self { capability: id, holder: record.holder, partition: record.partition, volume_id: record.volume }
    }
}
