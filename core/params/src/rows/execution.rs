//! What one delivery may use, and what waits for it.

use crate::table::rows;

rows! {
    /// What one delivery and one actor may use.
    0x01 execution: Execution {
        /// Modelled heap memory of one call; beyond it the call traps.
        0x01 memory_per_call: Bytes = 10_485_760 in 1_048_576..=104_857_600, T0, "003 §3.2, §13";
        /// Persistent storage of one actor; a write beyond it is refused.
        0x02 storage_quota_per_actor: Bytes = 1_048_576 in 65_536..=8_388_608, T0, "003 §3.2, §13";
        /// Storage of an actor that posted a bond.
        0x03 storage_quota_bonded: Bytes = 8_388_608 in 1_048_576..=67_108_864, T0, "003 §3.2";
        /// Depth of nested calls between actors; a deeper call fails in the caller.
        0x04 reentrancy_depth: Count = 32 in 1..=32, T0, "003 §3.3, §12.1, §13";
        /// Messages that a transaction, and everything that follows from it, may enqueue; the next one reverts.
        0x05 fanout_per_tx: Count = 1_024 in 1..=65_536, T0, "003 §3.3, §13";
        /// Bytes waiting in one mailbox; a message beyond it reverts its sender.
        0x06 mailbox_capacity: Bytes = 1_000_000 in 65_536..=16_000_000, T0, "003 §3.3, §13";
        /// Blocks for which a delivered message's id is remembered.
        0x07 dedup_window: Blocks = 10_000 in 1_000..=1_000_000, T0, "003 §3.3, §13";
        /// Python frames of one call.
        0x08 recursion_limit: Count = 256 in 64..=256, Fixed, "003 Overview";
        /// Bytes of /tmp in one call.
        0x09 scratch_bytes: Bytes = 262_144 in 0..=1_048_576, T0, "003 §3.1";
        /// Bytes that a handler may return.
        0x0A return_bytes: Bytes = 65_536 in 1_024..=65_536, T0, "003 §4.1, §7.1";
        /// Bytes of a transaction.
        0x0B transaction_bytes: Bytes = 131_072 in 16_384..=131_072, T0, "003 §12.1";
        /// Cycles that one actor may use in a block before its deliveries wait for spare room.
        0x0C actor_block_cycles: Cycles = 1_000_000 in 100_000..=80_000_000, T0, "003 §12.1";
        /// Bits of the largest integer; one more raises OverflowError.
        0x0D integer_bits: Count = 4_096 in 4_096..=4_096, Fixed, "CIP-3";
        /// Encoded bytes of one event's data.
        0x0E event_bytes: Bytes = 4_096 in 256..=4_096, T0, "CIP-6";
        /// Maximum modelled execution time of one delivery; beyond it the delivery traps.
        0x0F delivery_weight: Nanoseconds = 100_000_000 in 1_000_000..=1_000_000_000, T0, "ours: decision 132";
        /// Maximum modelled execution time of a block; the rest waits for the next block.
        0x10 block_weight: Nanoseconds = 400_000_000 in 10_000_000..=4_000_000_000, T0, "ours: decision 132";
        /// The proposer's own time for packing a block; not consensus.
        0x11 propose_time: Nanoseconds = 300_000_000 in 1_000_000..=2_000_000_000, T0, "ours: decision 132";
        /// Cycles that `call` gives its callee if the caller names no number.
        0x12 call_cycles_default: Cycles = 100_000 in 1_000..=22_222_222, T0, "CIP-6";
        /// Maximum number of keys that one prefix scan returns.
        0x13 scan_limit: Count = 1_000 in 1..=1_000, T0, "CIP-6";
        /// Bytes of a storage key.
        0x14 storage_key_bytes: Bytes = 256 in 64..=4_096, T0, "ours";
        /// Cycles of one read-only query from a client that names no number.
        0x15 query_cycles_default: Cycles = 10_000_000 in 100_000..=100_000_000, T0, "004 §6.2";
        /// Length of a chain of messages that cause each other; a deeper send reverts its sender.
        0x16 message_depth: Count = 32 in 1..=1_024, T0, "003 §12.1";
        /// Maximum number of events of one delivery; one more fails the delivery. This limit is separate from that of messages.
        0x17 events_per_delivery: Count = 256 in 1..=60_000, T0, "003 Overview; the number is ours";
        /// Cycles of a method of a system actor that no other row prices.
        0x18 system_method_cycles: Cycles = 5_000 in 100..=1_000_000, T0, "ours";
        /// The part of a lane's budget reserved for actors within their share: beyond its share, an actor runs only while more is left.
        0x19 burst_reserve: BasisPoints = 5_000 in 0..=10_000, T0, "ours: decision 101";
        /// The part of `block_weight` that a block may have used when it begins a callback. Messages begin until half of it.
        0x1A deliveries_until: BasisPoints = 5_000 in 0..=10_000, Fixed, "ours: decision 391";
        /// The same for a transaction.
        0x1B transactions_until: BasisPoints = 7_500 in 0..=10_000, Fixed, "ours: decision 391";
        /// The part that transactions have however much was used before them.
        0x1C transactions_floor: BasisPoints = 1_250 in 0..=10_000, Fixed, "ours: decision 391";
        /// The part of `block_weight` that a block may have used when a timer fires.
        0x1D timers_until: BasisPoints = 8_750 in 0..=10_000, Fixed, "ours: decision 391";
        /// The part that timers have however much was used before them.
        0x1E timers_floor: BasisPoints = 625 in 0..=10_000, Fixed, "ours: decision 391";
        /// The part that steps of jobs have however much was used before them.
        0x1F jobs_floor: BasisPoints = 625 in 0..=10_000, Fixed, "ours: decision 391";
        /// The part that callbacks have however much messages used before them.
        0x20 callbacks_floor: BasisPoints = 625 in 0..=10_000, Fixed, "ours: decision 594";
        /// The part that rent and evictions have however much was used before them.
        0x21 rent_floor: BasisPoints = 625 in 0..=10_000, Fixed, "ours: decision 692";
        /// The part that each agenda of system actors has however much was used before it: what they look at by themselves.
        0x22 upkeep_floor: BasisPoints = 312 in 1..=10_000, Fixed, "ours: decision 722";
    }
}

rows! {
    /// What waits for a block at one node; not consensus.
    0x10 mempool: Mempool {
        /// Blocks after which a transaction is dropped that no block could include because of its nonce, its fee or its sender's balance.
        0x01 expiry: Blocks = 600 in 1..=1_000_000, T0, "ours: decision 295";
        /// Blocks for which a proposer includes nothing of a sender whose transaction ran far longer than its modelled time.
        0x02 set_apart: Blocks = 600 in 1..=1_000_000, T0, "ours: decision 297";
    }
}
