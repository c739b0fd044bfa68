//! The methods and events of 0x0A about volumes.

use super::forms::{Acknowledgement, DescribedCapability, DescribedPartition, DescribedVolume, Granted, Priced, VolumeMoved};
use crate::actor::methods;
use crate::schema::events;
use cowboy_types::actors::STORAGE;
use cowboy_types::units::{Amount, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};

methods! {
    /// What 0x0A is asked about volumes.
    pub(crate) METHODS by STORAGE;

    /// Creates a volume of the sender, with its first escrow and `volumes.creation_fee` as value. Relays for its slots are drawn at once.
    "create_volume" CreateVolume [payable, priced] {
        /// Its name: `[A-Za-z0-9_.-]{1,64}`.
        name: String,
        /// Where the keys of its partitions are: public, committee or owner.
        keys: String,
        /// Shards of each file that carry it, 1 to 16.
        data: u8 = 4,
        /// Shards beside them, as many as may be lost, 1 to 8.
        parity: u8 = 2,
        /// Bytes of ciphertext that it may have.
        quota: u64,
        /// Base units of CBY for a MiB and an epoch that a slot costs at most.
        max_price: u64 = 450,
    } -> DescribedVolume;

    /// Returns what a volume costs at most.
    "quote" Quote [view] {
        /// Shards of each file that carry it.
        data: u8 = 4,
        /// Shards beside them.
        parity: u8 = 2,
        /// Bytes of ciphertext.
        quota: u64,
        /// Base units of CBY for a MiB and an epoch.
        max_price: u64 = 450,
    } -> Priced;

    /// Adds the value to the escrow of a volume. Anybody may. Returns what the escrow then holds.
    "fund_volume" FundVolume [payable] {
        /// The volume.
        volume: Hash,
    } -> Amount;

    /// Changes the quota of a volume of the sender. The value goes to the escrow, which must last for `volumes.reserve_epochs` epochs of it.
    "set_volume_quota" SetQuota [payable] {
        /// The volume.
        volume: Hash,
        /// Bytes of ciphertext that it may have.
        quota: u64,
    } -> ();

    /// Hands a volume of the sender over, and ends all rights that were given. Whoever had its keys still knows them; keys that the committee makes for
    /// new and rewritten partitions from then on are others. Volumes that were handed to an account take half of its `volumes.per_account` at most.
    "transfer_volume" TransferVolume [] {
        /// The volume.
        volume: Hash,
        /// The new owner.
        to: Address,
    } -> ();

    /// Deletes a volume of the sender. Returns the height at which it is removed, and the rest of the escrow returned.
    "delete_volume" DeleteVolume [] {
        /// The volume.
        volume: Hash,
    } -> Height;

    /// Takes the deletion of a volume of the sender back. The value goes to the escrow.
    "undelete_volume" UndeleteVolume [payable] {
        /// The volume.
        volume: Hash,
    } -> ();

    /// Puts a new root in the place of a partition's standing one, with the acknowledgements of enough relays. The owner, or whoever holds a capability
    /// to write. The first root of a partition makes it.
    "commit" Commit [priced] {
        /// The volume.
        volume: Hash,
        /// The hash of the partition's name.
        partition: Hash,
        /// The standing root; zeros where there is none.
        old: Hash,
        /// Bits of a tag that choose a page, at most 12.
        depth: u8,
        /// Files.
        leaves: u64,
        /// The hash of the node above all pages.
        node: Hash,
        /// Bytes of one slot.
        sum: u64,
        /// Signatures of relays, ascending by slot.
        acks: List<Acknowledgement, 24>,
        /// The last height at which these hold.
        until: u64,
        /// The version of the partition's key under which its files are: that of the standing root, or the next one, where the owner rewrote all of
        /// them. In a partition's first root, that with which its keys begin.
        key_version: u64,
        /// The capability, where the sender does not own the volume.
        capability: Option<Fixed<16>>,
    } -> ();

    /// Puts a partition's root before the standing one back, with the version of its key.
    "revert" Revert [] {
        /// The volume, of the sender.
        volume: Hash,
        /// The hash of the partition's name.
        partition: Hash,
    } -> ();

    /// Gives another account a right to a partition of a volume of the sender. Returns the capability's id.
    "issue_cap" IssueCap [priced] {
        /// The volume.
        volume: Hash,
        /// The hash of the partition's name.
        partition: Hash,
        /// Who has the right.
        holder: Address,
        /// r, w or rw.
        mode: String,
        /// Bytes of ciphertext that the holder may add.
        max_bytes: u64 = 0,
        /// The last height at which it holds.
        until: u64,
    } -> Fixed<16>;

    /// Gives the sender, a runner that was drawn for a job, its right to a volume that the job mounts, until its commitment is due. Returns the
    /// capability's id; once more, the same with the job's newest deadline.
    "mount" MountVolume [] {
        /// The job.
        job: Hash,
        /// The place of the volume in the job's list.
        index: u64,
    } -> Fixed<16>;

    /// Takes a right back.
    "revoke_cap" RevokeCap [] {
        /// The capability, for a volume of the sender.
        capability: Fixed<16>,
    } -> ();

    /// Returns a volume; null where there is none.
    "get_volume" GetVolume [view] {
        /// The volume.
        volume: Hash,
    } -> Option<DescribedVolume>;

    /// Returns the ids of an account's volumes, ascending, at most 256.
    "list_volumes" ListVolumes [view] {
        /// The owner.
        account: Address,
        /// The first id that is returned; all where it is absent.
        first: Option<Hash>,
    } -> List<Hash, 256>;

    /// Returns a partition; null where there is none.
    "get_partition" GetPartition [view] {
        /// The volume.
        volume: Hash,
        /// The hash of its name.
        partition: Hash,
    } -> Option<DescribedPartition>;

    /// Returns a capability; null where there is none.
    "get_cap" GetCap [view] {
        /// The capability.
        capability: Fixed<16>,
    } -> Option<DescribedCapability>;

    /// Returns the 64 bytes that stand for a file in a volume (decision 607). The chain has no files: hash and size are the sender's word, which readers
    /// compare with the file.
    "blob_ref" ReferTo [view] {
        /// The volume.
        volume: Hash,
        /// The BLAKE3 hash of the file.
        hash: Hash,
        /// Its bytes.
        size: u64,
    } -> Fixed<64>;

    /// Returns the capabilities for a volume, at most 256.
    "list_caps" ListCaps [view] {
        /// The volume.
        volume: Hash,
    } -> List<DescribedCapability, 256>;
}

events! {
    /// What 0x0A emits about volumes.
    pub(crate) EVENTS by STORAGE;

    /// A volume was created; the amount is its escrow.
    "volume.created" Created(VolumeMoved)

    /// An escrow was added to; the amount is what it holds.
    "volume.funded" Funded(VolumeMoved)

    /// A volume has another owner; the amount is its escrow.
    "volume.transferred" Handed(VolumeMoved)

    /// A volume was removed; the amount was returned to its owner.
    "volume.removed" Removed(VolumeMoved)

    /// A volume is kept, or not, in another way.
    "volume.status" StatusChanged {
        /// active, grace_period or deleted.
        status: Text<16>,
        /// The volume.
        volume_id: Hash,
    }

    /// The relays of a volume were paid.
    "volume.settled" Settled {
        /// Base units of CBY that were burned.
        burned: Amount,
        /// Base units of CBY for the pool of bounties.
        pool: Amount,
        /// Base units of CBY for the relays.
        relays: Amount,
        /// The volume.
        volume_id: Hash,
    }

    /// A partition has a new root.
    "ManifestCommitted" ManifestCommitted {
        /// The height.
        height: Height,
        /// The version of the partition's key under which its files are.
        key_version: u64,
        /// The root over the volume's partitions.
        manifest_root: Hash,
        /// The hash of the partition's name.
        partition: Hash,
        /// Its root.
        root: Hash,
        /// How many bytes of a slot were added; negative where it has fewer now.
        size_delta: i64,
        /// public or private.
        visibility: Text<16>,
        /// The volume.
        volume_id: Hash,
    }

    /// A capability was given.
    "capability.issued" CapabilityIssued(Granted)

    /// A capability was taken back.
    "capability.revoked" CapabilityRevoked(Granted)
}
