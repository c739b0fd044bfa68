//! Timers.

use crate::table::rows;

rows! {
    /// Timers (003 §5.1a; the auction of 003 §5.1b from protocol version 2 on).
    0x06 timers: Timers {
        /// How far ahead a timer's expiry may lie.
        0x01 ttl_blocks: Blocks = 2_592_000 in 1_000..=315_360_000, T0, "CIP-5";
        /// Cycles of one fire.
        0x02 cycles_per_fire: Cycles = 550_000 in 10_000..=8_888_890, T0, "003 §5.1a";
        /// Cells of one fire.
        0x03 cells_per_fire: Cells = 550_000 in 10_000..=16_000_000, T0, "003 §5.1a";
        /// Live timers of one actor; the next is refused.
        0x04 timers_per_actor: Count = 1_024 in 1..=65_536, T0, "003 §5.1a";
        /// The cleanup lane: cycles for removing timers that expired or that nobody pays.
        0x05 cleanup_cycles: Cycles = 5_000_000 in 10_000..=80_000_000, T0, "CIP-5";
        /// Cycles that the cleanup lane counts for one removal.
        0x06 cleanup_cost: Cycles = 500 in 1..=100_000, T0, "ours";
        /// Bytes of a timer's payload.
        0x07 payload_bytes: Bytes = 1_048_576 in 1_024..=1_048_576, T0, "CIP-5";
        /// Cycles of one fire in the auction.
        0x09 auction_cycles_per_fire: Cycles = 250_000 in 10_000..=8_888_890, T3, "003 §5.1b";
        /// Use of the lane at which its base fee does not change.
        0x0A auction_target: BasisPoints = 5_000 in 1_000..=9_000, T3, "003 §5.1b";
        /// Maximum change of the lane's base fee per block.
        0x0B auction_max_change: BasisPoints = 1_250 in 1..=5_000, T3, "003 §5.1b";
        /// Blocks over which fires, and questions to bidding agents, are counted for fairness.
        0x0C fairness_window: Blocks = 1_000 in 10..=100_000, T3, "003 §5.1b";
        /// The default bid, as a share of the lane's base fee.
        0x0D bid_multiplier: BasisPoints = 20_000 in 10_000..=100_000, T3, "003 §5.1b";
        /// The tip of the hint `economy`, as a share of the median.
        0x0E tip_economy: BasisPoints = 8_000 in 0..=100_000, T3, "003 §5.1b";
        /// The tip of the hint `standard`.
        0x0F tip_standard: BasisPoints = 10_000 in 0..=100_000, T3, "003 §5.1b";
        /// The tip of the hint `fast`.
        0x10 tip_fast: BasisPoints = 15_000 in 0..=100_000, T3, "003 §5.1b";
        /// The tip of the hint `urgent`.
        0x11 tip_urgent: BasisPoints = 25_000 in 0..=100_000, T3, "003 §5.1b";
        /// Due timers that one block examines, including those that it leaves for the next block.
        0x12 examined_per_block: Count = 4_096 in 64..=1_000_000, T0, "ours";
        /// The part of the lane that is for the timers that were scheduled first, regardless of their bids.
        0x13 auction_oldest: BasisPoints = 2_500 in 0..=10_000, T3, "ours: decision 330";
        /// Fires of one scheduler that count towards the median, at most.
        0x14 fires_tallied: Count = 10_000 in 1..=16_384, Fixed, "ours: decision 330";
        /// Maximum number of heights whose fires one block stops counting, so that a shorter window is reached step by step.
        0x15 heights_forgotten: Count = 4 in 2..=1_000, T3, "ours: decision 330";
        /// Cycles for which a bidding agent that a scheduler named may be asked for a bid.
        0x16 bid_cycles: Cycles = 50_000 in 1_000..=1_000_000, T3, "ours: decision 322";
        /// Bidding agents that one block asks; other timers bid as their agents answered last, or as the default agent does.
        0x17 bids_per_block: Count = 32 in 0..=1_024, T3, "ours: decision 322";
        /// Cycles that a question to a bidding agent costs, beside the call.
        0x18 bid_cost: Cycles = 10_000 in 0..=1_000_000, T3, "ours: decision 613";
        /// Where more timers are due than a block examines: maximum number of blocks after which one that did not fire is examined again.
        0x19 put_off_blocks: Blocks = 1_024 in 1..=100_000, T0, "ours: decision 653";
        /// The part of `examined_per_block` that is kept for timers that became due before and were not put off; as much is kept for those that were put off and are due again.
        0x1A waiting_share: BasisPoints = 2_500 in 0..=5_000, T0, "ours: decision 691";
    }
}
