//! The records of volumes, relays, proofs and demands.

use crate::endpoint::ENDPOINT_BYTES;
use crate::standstill::{Standstill, answered};
use cowboy_params::Params;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text, record, variants};
use cowboy_volumes::code::MAX_SLOTS;
use cowboy_volumes::name::MAX_PARTITIONS;
use cowboy_volumes::{Code, Mode, Top};

/// The longest name of a region.
pub const REGION_BYTES: usize = 16;

/// The most demands that a relay has to answer at once.
pub const MAX_DEMANDS: usize = 64;

/// Points of a round of proofs.
pub const POINTS: usize = 4;

record! {
    /// A relay: an operator that keeps shards.
    pub struct Relay {
        /// Where it is reached: a host name or an address.
        pub endpoint: Text<ENDPOINT_BYTES>,
        /// The UDP port of its server.
        pub port: u16,
        /// The SHA-256 hash of the public key of its TLS certificate.
        pub certificate: Hash,
        /// The Ed25519 key that signs its acknowledgements.
        pub key: Fixed<32>,
        /// Where it stands, as its operator says. Slots of a volume are spread over regions.
        pub region: Text<REGION_BYTES>,
        /// Bytes that it offers.
        pub capacity: u64,
        /// Bytes of the quotas of its slots.
        pub reserved: u64,
        /// Base units of CBY for a MiB and an epoch, in slots that it is given from now on.
        pub ask: Amount,
        /// CBY that it staked.
        pub stake: Amount,
        /// The height at which it registered.
        pub registered_at: Height,
        /// The height of its newest heartbeat.
        pub last_heartbeat: Height,
        /// The height at which it left or was removed, where it was.
        pub left_at: Option<Height>,
        /// The height at which it gave way to another in a full registry: it is given no slots from then on, and has left once it has none.
        pub gave_way_at: Option<Height>,
        /// Slots that it holds: the length of its directory.
        pub slots: u64,
        /// Demands that it has to answer.
        pub demands: List<Hash, MAX_DEMANDS>,
        /// Proofs that it missed in a row.
        pub misses: Count,
        /// The height of the last one; 0 where there was none.
        pub missed_at: Height,
        /// The height at which the newest round was drawn that it answered, or that asked for nothing; that of its registration before.
        pub proven_at: Height,
        /// Times in a row that it began to rest because it did not rebuild a slot in time.
        pub late: Count,
        /// The last height at which it rests; 0 where it never did.
        pub rests_until: Height,
        /// The next height at which points are drawn for it.
        pub draw_at: Height,
        /// The height at which the protocol looks at it next: its place in the agenda.
        pub next_look: Height,
    }
}

variants! {
    /// Whether a volume is kept.
    #[derive(Copy)]
    pub enum Status {
        /// It is, and its escrow lasts.
        0 Active,
        /// It is, and its escrow does not last for many epochs more.
        1 GracePeriod,
        /// Its owner deleted it, or nothing is left in its escrow. It is removed after a while.
        2 Deleted,
    }
}

variants! {
    /// Where the keys of a volume's partitions are.
    #[derive(Copy)]
    pub enum Keys {
        /// Nowhere: anybody reads it.
        0 Public,
        /// The committee of the Secrets Manager makes them for whoever may read.
        1 Committee,
        /// With the owner alone.
        2 Owner,
    }
}

record! {
    /// One of a volume's k + m slots: shard i of every file lies with the relay of slot i.
    pub struct Slot {
        /// The relay; none while there is no free one.
        pub relay: Option<Address>,
        /// Its place in the relay's directory; none while the relay rebuilds the shards.
        pub place: Option<u64>,
        /// Base units of CBY for a MiB and an epoch.
        pub price: Amount,
        /// The height from which the relay has the slot, or has to rebuild it, or from which there is none.
        pub since: Height,
        /// The part of the volume's account of byte-blocks for which the relay is not paid: what it showed when the relay began to be paid, and what
        /// stood since then in roots that the relay did not acknowledge.
        pub from: u128,
        /// Bytes of standing roots that the relay serves without having acknowledged them.
        pub missing: u64,
        /// The height from which the relay has had the slot, where it took it without `volumes.rebuilt_share` of its bytes and has not caught up since.
        pub behind_since: Option<Height>,
    }
}

record! {
    /// A partition, as the volume lists it.
    pub struct Listed {
        /// The hash of its name.
        pub partition: Hash,
        /// Its root.
        pub root: Hash,
        /// Bytes of one slot.
        pub bytes: u64,
        /// Bytes of one slot by which the root before it, where it can come back, has more.
        pub spare: u64,
    }
}

record! {
    /// A volume.
    pub struct Volume {
        /// Who owns it.
        pub owner: Address,
        /// Who created it: its id is made of that address.
        pub creator: Address,
        /// How often a volume of this id was created or handed over. Keys of partitions have higher versions than those of all generations before.
        pub generation: Count,
        /// Where the keys of its partitions are.
        pub keys: Keys,
        /// The number of the committee's key of which they are made; 0 where they are not.
        pub key_id: u32,
        /// Its code.
        pub code: Code,
        /// Bytes of ciphertext that it may have.
        pub quota: u64,
        /// Base units of CBY for a MiB and an epoch that a slot costs at most.
        pub max_price: Amount,
        /// Its slots.
        pub slots: List<Slot, MAX_SLOTS>,
        /// Its partitions, ascending.
        pub partitions: List<Listed, MAX_PARTITIONS>,
        /// Bytes of one slot.
        pub bytes: u64,
        /// Bytes of one slot beside those, which relays keep because roots can come back.
        pub spare: u64,
        /// CBY for its relays.
        pub escrow: Amount,
        /// The height up to which the relays are paid.
        pub paid_to: Height,
        /// Bytes of one slot, times the blocks since then for which they stood there.
        pub byte_blocks: u128,
        /// The height up to which those are counted.
        pub counted_to: Height,
        /// Whether it is kept.
        pub status: Status,
        /// The height at which it was deleted, where it was.
        pub deleted_at: Option<Height>,
        /// Capabilities for it.
        pub capabilities: Count,
        /// The height at which the protocol looks at it next: its place in the agenda.
        pub next_look: Height,
    }
}

record! {
    /// A root of a partition, and who acknowledged it.
    pub struct Root {
        /// What hashes to the root.
        pub top: Top,
        /// The height at which it was committed.
        pub at: Height,
        /// Slots that did not acknowledge it: a bit for each.
        pub behind: u32,
        /// The version of the partition's key under which its files are.
        pub key_version: u64,
    }
}

record! {
    /// A partition: a top-level directory.
    pub struct Partition {
        /// The standing root.
        pub root: Root,
        /// The root before it, where it can come back.
        pub previous: Option<Root>,
        /// How many roots there were.
        pub sequence: Count,
        /// The newest version that its key ever had. No version is used twice, also where the root with it was taken back: who may read had it.
        pub key_version: u64,
    }
}

record! {
    /// The right of an account to a partition that it does not own.
    pub struct Capability {
        /// The volume.
        pub volume: Hash,
        /// The partition.
        pub partition: Hash,
        /// Who has it.
        pub holder: Address,
        /// What the holder may do.
        pub mode: Mode,
        /// Bytes of ciphertext that the holder may add.
        pub max_bytes: u64,
        /// What it has added.
        pub used_bytes: u64,
        /// The first height at which it holds.
        pub from: Height,
        /// The last one.
        pub until: Height,
        /// The job for which a runner holds it: it ends by itself. Zero where the owner gave it.
        pub job: Hash,
    }
}

impl Capability {
    /// The height at which it is removed without anybody asking; none where its owner does that.
    pub fn ends_at(&self) -> Option<Height> {
        if self.job == Hash::ZERO { None } else { Some(self.until.next()) }
    }

    /// Whether an account may use it at a height.
    pub fn is_held_by(&self, holder: Address, height: Height) -> bool {
        self.holder == holder && self.from <= height && height <= self.until
    }
}

record! {
    /// A byte that a relay has to show.
    pub struct Point {
        /// The volume.
        pub volume: Hash,
        /// The slot.
        pub slot: u8,
        /// The partition.
        pub partition: Hash,
        /// What hashed to the partition's root when the point was drawn.
        pub top: Top,
        /// Its place among all bytes of the slot in the partition.
        pub at: u64,
    }
}

record! {
    /// A round of proofs of a relay.
    pub struct Round {
        /// The height at which the points were drawn.
        pub height: Height,
        /// The last height at which it may answer, where nothing was paused since.
        pub until: Height,
        /// The points.
        pub points: List<Point, POINTS>,
    }
}

record! {
    /// A part of a shard that a relay has to publish.
    pub struct Demand {
        /// The volume.
        pub volume: Hash,
        /// The slot.
        pub slot: u8,
        /// The relay.
        pub relay: Address,
        /// The hash of the shard.
        pub shard: Hash,
        /// Its length.
        pub shard_bytes: u64,
        /// Where the part begins.
        pub start: u64,
        /// Its length.
        pub length: u64,
        /// Who demands.
        pub by: Address,
        /// What was put down.
        pub bond: Amount,
        /// The height at which its time was set: when it was made, or looked at after a pause.
        pub set_at: Height,
        /// The last height at which the relay may answer, where nothing was paused since: its place in the agenda is the block after.
        pub until: Height,
    }
}

answered! {
    Round: height, until;
    Demand: set_at, until;
}

impl Relay {
    /// A relay that registers at a height, and of which points are drawn for the first time at another one. It keeps nothing, and says nothing of itself
    /// yet: where it is reached, what it signs with, what it offers and what it staked.
    pub fn new(at: Height, draw_at: Height) -> Self {
        Self {
            endpoint: Text::default(),
            port: 0,
            certificate: Hash::ZERO,
            key: Fixed([0; 32]),
            region: Text::default(),
            capacity: 0,
            reserved: 0,
            ask: Amount::ZERO,
            stake: Amount::ZERO,
            registered_at: at,
            last_heartbeat: at,
            left_at: None,
            gave_way_at: None,
            slots: 0,
            demands: List::default(),
            misses: Count::ZERO,
            missed_at: Height::ZERO,
            proven_at: at,
            late: Count::ZERO,
            rests_until: Height::ZERO,
            draw_at,
            next_look: draw_at,
        }
    }

    /// Whether it was heard of lately, and stays.
    pub fn is_healthy(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        self.left_at.is_none() && height <= self.silent_at(params, still)
    }

    /// Whether slots are given to it: it was heard of lately, stays, gave way to no other, and has the stake that every relay needs. One that lost stake
    /// keeps its slots.
    pub fn is_eligible(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        self.is_healthy(params, still, height) && self.gave_way_at.is_none() && self.stake.0 >= params.volumes.relay_stake
    }

    /// Whether it is drawn behind all others, because it did not rebuild a slot in time (decision 689).
    pub fn rests(&self, height: Height) -> bool {
        height <= self.rests_until
    }

    /// Notes that it did not rebuild a slot in time: it rests for as long as it had the slot, and twice as long each time in a row. What it does not
    /// rebuild while it rests counts with the first.
    pub fn rest(&mut self, params: &Params, height: Height) {
        if self.rests(height) {
            return;
        }
        let times = 1_u64 << self.late.0.min(params.volumes.rest_doublings);
        self.late = Count(self.late.0.saturating_add(1));
        self.rests_until = Height(height.0.saturating_add(params.volumes.fill.saturating_mul(times)));
    }

    /// Whether it left, and has to prove a last time what it kept until then.
    pub fn owes_last_round(&self) -> bool {
        self.left_at.is_some_and(|at| self.draw_at == at.next())
    }

    /// Whether the clock stood still since it last proved what it keeps, or was found not to: nobody knows yet whether it kept that meanwhile.
    pub fn owes_proof(&self, still: &Standstill, height: Height) -> bool {
        still.within(self.proven_at.max(self.missed_at), height) > 0
    }

    /// The last height at which it counts as up without another heartbeat.
    pub fn silent_at(&self, params: &Params, still: &Standstill) -> Height {
        still.after(self.last_heartbeat, params.volumes.alive)
    }

    /// Whether a heartbeat is due: one that costs nothing. `alive` is the parameter of the blocks after which a relay counts as gone.
    pub fn is_heartbeat_due(&self, alive: u64, height: u64) -> bool {
        crate::heartbeat::is_due(self.last_heartbeat, alive, height)
    }

    /// Whether it keeps nothing and has to answer nothing.
    pub fn is_idle(&self) -> bool {
        self.has_no_slots() && self.demands.is_empty()
    }

    /// Whether it keeps nothing, and rebuilds nothing.
    pub fn has_no_slots(&self) -> bool {
        self.slots == 0 && self.reserved == 0
    }

    /// The height from which its stake answers for nothing any more: the unbonding time after it left or was evicted. One that is not heard of counts
    /// from when it was silent, and no slot was left to it.
    pub fn free_at(&self, params: &Params, still: &Standstill) -> Height {
        let gone_at = self.left_at.unwrap_or(self.silent_at(params, still).max(self.missed_at));
        still.after(gone_at, params.volumes.unbonding)
    }

    /// Bytes that no slot has.
    pub fn free(&self) -> u64 {
        self.capacity.saturating_sub(self.reserved)
    }
}

impl Slot {
    /// A slot that has no relay since this height.
    pub fn vacant(since: Height) -> Self {
        Self { relay: None, place: None, price: Amount::ZERO, since, from: 0, missing: 0, behind_since: None }
    }

    /// Whether a relay that lacks `missing` of a slot's bytes has rebuilt the slot: it has the share of them that it needs (decision 690).
    pub fn is_rebuilt(params: &Params, bytes: u64, missing: u64) -> bool {
        let scaled = |bytes: u64, by: u64| u128::from(bytes).saturating_mul(u128::from(by));
        scaled(bytes.saturating_sub(missing), 10_000) >= scaled(bytes, params.volumes.rebuilt_share)
    }

    /// Notes that the relay has caught up, where it has enough of a slot's bytes by now.
    pub fn catch_up(&mut self, params: &Params, bytes: u64) {
        if Self::is_rebuilt(params, bytes, self.missing) {
            self.behind_since = None;
        }
    }

    /// The height from which the relay has had the slot, while it has not rebuilt it: where it serves nothing yet, and where it took the slot without
    /// enough of its bytes.
    pub fn rebuilding_since(&self) -> Option<Height> {
        match (self.relay, self.place) {
            (Some(_), None) => Some(self.since),
            _ => self.behind_since,
        }
    }

    /// The relay, where it has all shards and serves them.
    pub fn serving(&self) -> Option<Address> {
        self.relay.filter(|_| self.place.is_some())
    }
}

impl Volume {
    /// Bytes of the quota that a slot has.
    pub fn slot_quota(&self) -> u64 {
        self.quota.div_ceil(u64::from(self.code.data).max(1))
    }

    /// The height from which it is removed, where it is deleted: its owner can take the deletion back before.
    pub fn removed_at(&self, params: &Params, still: &Standstill) -> Option<Height> {
        self.deleted_at.map(|at| still.after(at, params.volumes.undelete))
    }
}

/// Versions that the key of a partition has in one generation of a volume, at most.
const KEY_VERSIONS: u64 = 1 << 16;

/// The version of the key of a new partition in a volume of a generation: whoever owned the volume in an earlier one could not have it released.
pub fn first_key_version(generation: Count) -> u64 {
    generation.0.saturating_mul(KEY_VERSIONS).saturating_add(1)
}

impl Partition {
    /// The version that its key gets when it is rewritten: one of its volume's generation. None where that has no more, as the next ones are another
    /// generation's.
    pub fn next_key_version(&self, generation: Count) -> Option<u64> {
        let next = self.key_version.checked_add(1)?.max(first_key_version(generation));
        (next < first_key_version(Count(generation.0.saturating_add(1)))).then_some(next)
    }

    /// The version of the key to which the owner may go back at a height; none where no root can come back.
    pub fn previous_key_version(&self, params: &Params, still: &Standstill, height: Height) -> Option<u64> {
        let previous = self.previous.as_ref().filter(|_| self.can_revert(params, still, height))?;
        Some(previous.key_version)
    }

    /// Whether the root before the standing one can still come back, where there is one.
    pub fn can_revert(&self, params: &Params, still: &Standstill, height: Height) -> bool {
        height <= still.after(self.root.at, params.volumes.revert)
    }
}

/// The bit of a slot.
pub fn bit(slot: usize) -> u32 {
    1_u32.checked_shl(u32::try_from(slot).unwrap_or(u32::MAX)).unwrap_or(0)
}
