//! Rent for persistent storage.

use crate::table::rows;

rows! {
    /// Rent for persistent storage (003 §4.4, §17.5).
    0x09 rent: Rent {
        /// Blocks between two collections: a day.
        0x01 epoch: Blocks = 86_400 in 100..=1_000_000, T0, "003 §17.5";
        /// Rent of one byte for a year.
        0x02 rate: Amount = 1_000_000 in 0..=1_000_000_000_000, T0, "003 §17.5";
        /// Collections in a year, by which the rate is divided.
        0x03 epochs_per_year: Count = 365 in 1..=100_000, Fixed, "003 §17.5";
        /// Bytes of an actor that are free.
        0x04 free_bytes: Bytes = 10_240 in 0..=1_048_576, T0, "003 §13, §17.5";
        /// Unpaid collections until the warning begins.
        0x05 grace_epochs: Count = 7 in 0..=365, T0, "003 §13";
        /// Collections of warning: an actor is evicted only after them and its grace.
        0x06 warning_epochs: Count = 3 in 0..=365, T0, "003 §13";
        /// Unpaid collections until eviction.
        0x07 eviction_epochs: Count = 10 in 1..=365, T0, "003 §13, §17.5";
        /// What restoring costs in addition to the debt.
        0x08 catch_up: BasisPoints = 1_000 in 0..=100_000, T0, "003 §13, §17.5";
        /// The reserve that an actor must keep, as a share of a year's rent: about five weeks.
        0x09 reserve: BasisPoints = 1_000 in 0..=10_000, T0, "003 §13";
        /// State size towards which the rate moves; zero keeps the rate fixed.
        0x0A target_state_size: Bytes = 0 in 0..=18_446_744_073_709_551_615, T0, "003 §13";
        /// Smoothing of the rate: a larger value makes it follow the size more slowly.
        0x0B alpha: Count = 8 in 1..=1_000, T0, "003 State Rent";
        /// Maximum change of the rate at once.
        0x0C max_change: BasisPoints = 1_250 in 1..=10_000, T0, "003 State Rent";
        /// Blocks for which relays keep shards that no manifest names.
        0x0D orphan_shard_ttl: Blocks = 86_400 in 100..=31_536_000, T0 Stepwise, "003 §7.3; decision 628";
        /// The bond for each byte of a quota beyond the base: a year's rent of it.
        0x0E bond_per_byte: Amount = 1_000_000 in 0..=1_000_000_000_000, T0, "ours: decision 234";
        /// Actors whose rent one block collects, or that it looks at since fewer bytes are free; the rest waits for the next block.
        0x0F collections_per_block: Count = 64 in 1..=10_000, T0, "ours: decision 234";
        /// Pieces of evicted actors that one block prunes: up to 64 timers, or 64 entries, each.
        0x10 prunings_per_block: Count = 16 in 1..=1_000, T0, "ours: decision 234";
        /// The deposit for each 1,024 bytes that a record outside an actor's storage begins: a role, or, which are smaller than that, an allowance of tokens and a name below another one that costs no fee.
        0x11 record_deposit: Amount = 1_000_000_000 in 0..=1_000_000_000_000_000, T0, "ours: decision 368";
    }
}
