//! Volumes and the relays that keep them.

use crate::table::rows;

rows! {
    /// Volumes at the Storage Manager, and the Relay Registry (003 §7, §17.6).
    0x12 volumes: Volumes {
        /// The minimum stake of a relay.
        0x01 relay_stake: Amount = 5_000_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "decision 158";
        /// The stake of a relay for each GiB that it offers.
        0x02 stake_per_gib: Amount = 500_000_000 in 0..=1_000_000_000_000_000, T0, "decision 158";
        /// Blocks between leaving and withdrawing the stake: 7 days.
        0x03 unbonding: Blocks = 604_800 in 1..=31_536_000, T0, "decision 158";
        /// Blocks without a heartbeat after which a relay counts as gone, and others get its slots.
        0x04 alive: Blocks = 3_600 in 10..=86_400, T0 Stepwise, "decision 158";
        /// Blocks in which a relay has to rebuild a slot.
        0x05 fill: Blocks = 86_400 in 10..=31_536_000, T0, "decision 158";
        /// Blocks after which relays are drawn again for slots that have none.
        0x06 retry: Blocks = 100 in 1..=86_400, T0, "ours: decision 511";
        /// Maximum number of registered relays: every draw reads them all.
        0x07 relays: Count = 256 in 4..=4_096, T0, "ours: decision 511";
        /// Blocks of an epoch, for which relays ask.
        0x08 epoch: Blocks = 86_400 in 10..=31_536_000, T0, "decision 157";
        /// What creating a volume costs; it is burned.
        0x09 creation_fee: Amount = 1_000_000_000 in 0..=1_000_000_000_000_000, T0, "decision 157";
        /// Epochs of a full volume for which its escrow has to last at first.
        0x0A reserve_epochs: Count = 10 in 1..=1_000, T0, "decision 157";
        /// Epochs below which a volume's escrow counts as running out.
        0x0B grace_epochs: Count = 10 in 1..=1_000, T0, "decision 157";
        /// Share of what a slot costs that its relay receives.
        0x0C relay_share: BasisPoints = 8_800 in 0..=9_000, T0, "decision 157";
        /// Share of what a slot costs that is burned. The rest goes to the pool of bounties.
        0x0D burn_share: BasisPoints = 1_000 in 0..=1_000, T0, "decision 157";
        /// Maximum number of volumes of an account.
        0x0E per_account: Count = 256 in 1..=65_536, T0, "ours: decision 511";
        /// Maximum quota of a volume: 100 GiB.
        0x0F max_quota: Bytes = 107_374_182_400 in 65_536..=1_099_511_627_776, T0, "decision 149";
        /// Maximum number of capabilities for a volume.
        0x10 capabilities: Count = 256 in 1..=256, T0, "ours: decision 511";
        /// Blocks in which a deletion can be taken back.
        0x11 undelete: Blocks = 86_400 in 1..=31_536_000, T0, "decision 159";
        /// Blocks in which a partition can go back to the root before. Relays keep what no root names for as long.
        0x12 revert: Blocks = 86_400 in 1..=31_536_000, T0, "decision 153";
        /// Blocks between two rounds of proofs of a relay.
        0x14 proof_period: Blocks = 7_200 in 20..=31_536_000, T0, "decision 155";
        /// Blocks in which a round of proofs has to be answered.
        0x15 proof_window: Blocks = 600 in 5..=86_400, T0, "decision 155";
        /// What a relay loses for a round that it does not answer.
        0x16 miss: Amount = 50_000_000_000 in 0..=1_000_000_000_000_000, T0, "decision 155";
        /// Rounds in a row without an answer after which a relay is removed.
        0x17 misses: Count = 3 in 1..=100, T0, "decision 155";
        /// What a relay that is removed loses beside that.
        0x18 eviction: Amount = 2_000_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "decision 155";
        /// The bond of a demand.
        0x19 demand_bond: Amount = 10_000_000_000 in 1..=1_000_000_000_000_000, T0, "decision 156";
        /// What a demand costs that is answered. It goes to the pool of bounties.
        0x1A demand_fee: Amount = 1_000_000_000 in 0..=1_000_000_000_000_000, T0, "decision 156";
        /// What whoever demanded gets from the pool where there is no answer.
        0x1B demand_bounty: Amount = 5_000_000_000 in 0..=1_000_000_000_000_000, T0, "decision 156";
        /// Blocks in which a demand has to be answered.
        0x1C demand_window: Blocks = 600 in 5..=86_400, T0, "decision 156";
        /// What a relay loses for a demand that it does not answer.
        0x1D demand_slash: Amount = 50_000_000_000 in 0..=1_000_000_000_000_000, T0, "decision 156";
        /// What a relay loses for two acknowledgements that contradict each other.
        0x1E contradiction: Amount = 500_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "decision 155";
        /// Demands that a relay has to answer at once, at most: more could not be answered in time.
        0x1F demands: Count = 4 in 1..=64, T0, "ours: decision 511";
        /// Share of the quota that a volume pays for where it has less: nobody else has that room.
        0x20 room_share: BasisPoints = 500 in 0..=10_000, T0, "ours: decision 514";
        /// Relays that have to name a region before slots are spread over it: one that few name could be invented.
        0x21 region_relays: Count = 8 in 1..=4_096, T0, "ours: decision 566";
        /// The part of a slot's bytes that a relay that was given the slot has to have once `fill` is over.
        0x22 rebuilt_share: BasisPoints = 5_000 in 0..=10_000, T0, "ours: decision 690";
        /// How often the time for which a relay rests is doubled, at most. At genesis the longest is about as long as a stake is bound after leaving.
        0x23 rest_doublings: Count = 3 in 0..=10, T0, "ours: decision 691";
    }
}
