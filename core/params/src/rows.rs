//! The rows. Numbers are for ever: a removed row's number is never used again.

use crate::table::{Mark, Row, Tier, Unit, parameters};

parameters! {
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
        0x0D integer_bits: Count = 4_096 in 256..=4_096, Fixed, "CIP-3";
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
        /// The part of `block_weight` that a block may have used when it begins a message or an answer.
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
    }

    /// The two fee markets.
    0x02 fees: Fees {
        /// Cycles of a block at which the base fee does not change.
        0x01 cycles_target: Cycles = 20_000_000 in 1_000_000..=1_000_000_000, T0, "003 §4.3, §17.8";
        /// Cells of a block at which the base fee does not change.
        0x02 cells_target: Cells = 4_000_000 in 100_000..=100_000_000, T0, "003 §4.3, §17.8";
        /// Maximum cycles of a block.
        0x03 block_cycles: Cycles = 80_000_000 in 1_000_000..=4_000_000_000, T0, "003 §4.3, §17.8";
        /// Maximum cells of a block: four times the target, as for cycles.
        0x04 block_cells: Cells = 16_000_000 in 400_000..=400_000_000, T0, "ours: decision 16";
        /// Smoothing of the base fees: a larger value makes them follow use more slowly.
        0x05 alpha: Count = 96 in 1..=10_000, T0, "003 §4.2, §17.8";
        /// A base fee changes by at most one part in this number per block.
        0x06 max_change_denominator: Count = 96 in 1..=10_000, T0, "003 §4.2, §17.8";
        /// The floor of both base fees.
        0x07 base_fee_min: Price = 10_000 in 1..=1_000_000_000, T0, "003 §4.2, §17.8";
        /// The ceiling of both base fees: the total supply of CBY for one unit.
        0x08 base_fee_max: Price = 1_000_000_000_000_000_000 in 1_000_000..=1_000_000_000_000_000_000, T0, "ours: CIP-3's 10^24 does not fit the field";
        /// By how much the replacement of a waiting transaction must increase its offer; not consensus.
        0x09 replacement_bump: BasisPoints = 1_000 in 1..=10_000, T0, "ours";
    }

    /// Block space by kind of work (003 §6.3, §17.9).
    0x03 lanes: Lanes {
        /// Governance, validators, upgrades.
        0x01 system_cycles: Cycles = 40_000_000 in 1_000_000..=1_000_000_000, T0, "003 §17.9";
        /// Timers.
        0x02 timer_cycles: Cycles = 8_888_890 in 550_000..=1_000_000_000, T0, "003 §17.9, §5.1a";
        /// Job results and callbacks.
        0x03 runner_cycles: Cycles = 8_888_888 in 550_000..=1_000_000_000, T0, "003 §17.9";
        /// Everything else.
        0x04 user_cycles: Cycles = 22_222_222 in 1_000_000..=1_000_000_000, T0, "003 §17.9";
        /// The system lane's base fee, as a share of the global one.
        0x05 system_fee_multiplier: BasisPoints = 10_000 in 0..=1_000_000, T0, "003 §6.3, §13";
        /// The timer lane's base fee, as a share of the global one.
        0x06 timer_fee_multiplier: BasisPoints = 10_000 in 0..=1_000_000, T0, "003 §6.3, §13";
        /// The runner lane's base fee, as a share of the global one.
        0x07 runner_fee_multiplier: BasisPoints = 10_000 in 0..=1_000_000, T0, "003 §6.3, §13";
        /// The user lane's base fee, as a share of the global one.
        0x08 user_fee_multiplier: BasisPoints = 10_000 in 0..=1_000_000, T0, "003 §6.3, §13";
        /// The part of the user lane that messages of earlier blocks may take before new transactions.
        0x09 delivery_share: BasisPoints = 5_000 in 0..=10_000, T0, "ours: decision 125";
    }

    /// What a transaction pays before it runs (003 §17.2).
    0x04 intrinsic: Intrinsic {
        /// A transfer of CBY.
        0x01 transfer_cycles: Cycles = 21_000 in 1_000..=1_000_000, T0, "003 §17.2";
        /// A deployment, beside one cell for each byte of code.
        0x02 deploy_cycles: Cycles = 100_000 in 1_000..=10_000_000, T0, "003 §17.2";
        /// A call of a handler, beside one cell for each byte of payload.
        0x03 message_cycles: Cycles = 21_000 in 1_000..=1_000_000, T0, "003 §17.2";
        /// A request to a model, beside one cell for each byte of the prompt.
        0x04 llm_request_cycles: Cycles = 10_000 in 1_000..=1_000_000, T0, "003 §17.2";
        /// A transaction that only schedules a timer, in cycles.
        0x05 timer_cycles: Cycles = 5_000 in 1_000..=1_000_000, T0, "003 §17.2";
        /// The same, in bytes.
        0x06 timer_cells: Cells = 64 in 0..=10_000, T0, "003 §17.2";
        /// Any other instruction of the protocol.
        0x07 system_cycles: Cycles = 5_000 in 1_000..=1_000_000, T0, "ours";
        /// Each additional signer, beside the verification of its signature: an address and a signature.
        0x08 signer_cells: Cells = 85 in 85..=10_000, T0, "decision 171";
    }

    /// What the host charges an actor (003 §3.5, §17.3, §17.4).
    0x05 costs: Costs {
        /// Reading a key, beside a hundredth of a cell for each byte.
        0x01 storage_read: Cycles = 100 in 1..=100_000, T0, "003 §17.3";
        /// Writing a key, beside a cell for each byte.
        0x02 storage_write: Cycles = 200 in 1..=100_000, T0, "003 §17.3";
        /// Reading facts of the block.
        0x03 block_info: Cycles = 100 in 1..=100_000, T0, "003 §17.3";
        /// Emitting an event.
        0x04 event: Cycles = 500 in 1..=100_000, T0, "003 §17.3";
        /// Each byte of an event.
        0x05 event_byte: Cycles = 5 in 0..=1_000, T0, "003 §17.3";
        /// Sending a message, without its payload.
        0x06 send: Cycles = 80 in 1..=100_000, T0, "003 §3.5, §17.3";
        /// Scheduling, extending or cancelling a timer; never refunded.
        0x07 timer: Cycles = 200 in 1..=100_000, T0, "003 §3.5, §5.1a";
        /// Committing to a blob, each KiB.
        0x08 blob_kib: Cycles = 40 in 1..=100_000, T0 NotActive, "003 §3.5";
        /// Verifying a BLS12-381 signature.
        0x09 verify_bls: Cycles = 8_000 in 1..=10_000_000, T0, "003 §3.5";
        /// Verifying an Ed25519 signature.
        0x0A verify_ed25519: Cycles = 5_000 in 1..=10_000_000, T0, "003 §3.5";
        /// Verifying or recovering a secp256k1 signature.
        0x0B verify_secp256k1: Cycles = 10_000 in 1..=10_000_000, T0, "003 §3.5";
        /// SHA-256, before the blocks.
        0x0C sha256: Cycles = 500 in 0..=100_000, T0, "003 §3.5";
        /// SHA-256, each 64 bytes begun.
        0x0D sha256_block: Cycles = 8 in 1..=10_000, T0, "003 §3.5";
        /// Keccak-256, each 32 bytes begun.
        0x0E keccak_word: Cycles = 6 in 1..=10_000, T0, "003 §3.5";
        /// Deriving randomness.
        0x0F randomness: Cycles = 1_000 in 1..=100_000, T0, "003 §3.5";
        /// Calling another actor, beside what it uses.
        0x10 call: Cycles = 1_000 in 1..=100_000, T0, "ours";
        /// Transferring CBY out of an actor.
        0x11 transfer: Cycles = 1_000 in 1..=100_000, T0, "ours: as token_transfer";
        /// A prefix scan, before the keys.
        0x12 scan: Cycles = 500 in 1..=100_000, T0, "CIP-6";
        /// A prefix scan, for each requested key.
        0x13 scan_key: Cycles = 50 in 1..=100_000, T0, "CIP-6";
        /// Bytes that one cell of reading covers.
        0x14 read_bytes_per_cell: Bytes = 100 in 1..=10_000, T0, "003 §17.4";
        /// Bytes that one cell of events covers.
        0x15 event_bytes_per_cell: Bytes = 2 in 1..=10_000, T0, "003 §17.4";
        /// A request to the off-chain market.
        0x16 submit_job: Cycles = 10_000 in 1..=1_000_000, T0, "003 §17.2";
        /// Moving a token.
        0x17 token_transfer: Cycles = 1_000 in 1..=100_000, T0, "003 §17.3";
        /// Moving a token for another account.
        0x18 token_transfer_from: Cycles = 1_500 in 1..=100_000, T0, "003 §17.3";
        /// Allowing another account to move tokens.
        0x19 token_approve: Cycles = 500 in 1..=100_000, T0, "003 §17.3";
        /// Reading a token balance.
        0x1A token_balance_of: Cycles = 100 in 1..=100_000, T0, "003 §17.3";
        /// Minting tokens.
        0x1B token_mint: Cycles = 1_000 in 1..=100_000, T0, "003 §17.3";
        /// Burning tokens.
        0x1C token_burn: Cycles = 500 in 1..=100_000, T0, "003 §17.3";
        /// Creating a token.
        0x1D token_create: Cycles = 10_000 in 1..=1_000_000, T0, "003 §17.3";
        /// Cells of a token transfer, mint or burn.
        0x1E token_transfer_cells: Cells = 64 in 0..=10_000, T0, "003 §17.3";
        /// Cells of a token transfer for another account.
        0x1F token_transfer_from_cells: Cells = 96 in 0..=10_000, T0, "003 §17.3";
        /// Cells of a token approval.
        0x20 token_approve_cells: Cells = 32 in 0..=10_000, T0, "003 §17.3";
        /// Cells of a token's creation, without its name and symbol.
        0x21 token_create_cells: Cells = 256 in 0..=10_000, T0, "003 §17.3";
        /// Maximum cycles of one token hook.
        0x22 token_hook: Cycles = 50_000 in 1_000..=1_000_000, T0, "003 §17.3";
        /// Each byte of a system method's argument beyond `argument_free`.
        0x23 argument_byte: Cycles = 2 in 0..=1_000, T0, "ours: decision 390";
        /// Bytes of a system method's argument that the method's own price covers.
        0x24 argument_free: Bytes = 4_096 in 0..=131_072, T0, "ours: decision 390";
    }

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
        /// Blocks over which fires are counted for fairness.
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
        /// Bidding agents that one block asks; the default agent bids for the other timers.
        0x17 bids_per_block: Count = 32 in 0..=1_024, T3, "ours: decision 322";
    }

    /// Validators, time and randomness (003 §6, §13).
    0x07 consensus: Consensus {
        /// Blocks of an epoch.
        0x01 epoch: Blocks = 3_600 in 10..=100_000, Fixed, "003 §13";
        /// Time between blocks, which proposers keep; not consensus.
        0x02 block_time: Milliseconds = 1_000 in 1..=60_000, T0, "003 §6.1, §13";
        /// How far a block's time may run ahead of the verifier's clock before the verifier waits; not consensus.
        0x03 clock_ahead: Milliseconds = 500 in 0..=60_000, T0, "ours: decision 121";
        /// How much later than its parent a block's time may be.
        0x04 clock_gap: Milliseconds = 3_600_000 in 1_000..=86_400_000, Fixed, "ours: decision 121";
        /// The minimum stake of a validator.
        0x05 validator_stake: Amount = 100_000_000_000_000 in 1_000_000_000..=1_000_000_000_000_000_000, T0, "003 §13; the number is ours: decision 131";
        /// Blocks between leaving and withdrawing the stake: 7 days.
        0x06 unbonding: Blocks = 604_800 in 3_600..=31_536_000, T0, "003 §13";
        /// Blocks in jail: 24 hours.
        0x07 jail: Blocks = 86_400 in 3_600..=31_536_000, T0, "003 §13";
        /// Each further jailing doubles the time, up to this many times the first.
        0x08 jail_growth_cap: Count = 64 in 1..=1_024, T0, "ours: decision 96";
        /// Share of the stake that signing two blocks of one round costs.
        0x09 double_sign_slash: BasisPoints = 100 in 0..=10_000, T3, "003 §13";
        /// Blocks over which validators count each other's absence.
        0x0A downtime_window: Blocks = 1_000 in 10..=100_000, T0, "003 Slashing";
        /// The share of these blocks that a validator may miss.
        0x0B downtime_share: BasisPoints = 5_000 in 0..=10_000, T0, "003 Slashing";
        /// Rounds whose seeds actors can read.
        0x0C seed_history: Count = 256 in 1..=256, Fixed, "ours: decision 115";
        /// Blocks for which a fault can be shown.
        0x0D evidence_age: Blocks = 604_800 in 100..=604_800, Fixed, "decision 292";
        /// The most validators that sign in one epoch, those with the highest stakes; 0 for no limit.
        0x0E max_validators: Count = 0 in 0..=1_024, T0, "ours: decision 382";
        /// The most validators among those who are dealt shares that do not sign yet, as a share of those who sign; at least one.
        0x0F newcomers: BasisPoints = 2_500 in 1..=10_000, T0, "ours: decision 383";
    }

    /// Runners and jobs (003 §5, §13; CIP-2).
    0x08 jobs: Jobs {
        /// The smallest adaptive committee.
        0x01 committee_min: Count = 3 in 1..=9, T0, "003 §5.3, §13";
        /// The largest adaptive committee.
        0x02 committee_max: Count = 9 in 1..=63, T0, "003 §5.3, §13";
        /// The committee before the first epoch is computed.
        0x03 committee_fallback: Count = 5 in 1..=63, T0, "003 §13, §13.1";
        /// Its threshold.
        0x04 threshold_fallback: Count = 3 in 1..=63, T0, "003 §13, §13.1";
        /// Weight of a new concentration index in the average.
        0x05 concentration_smoothing: BasisPoints = 1_250 in 1..=10_000, T0, "CIP-2";
        /// Rounds between a job and the seed that draws its committee.
        0x06 draw_delay: Count = 2 in 1..=256, T0, "ours: decision 36";
        /// Blocks in which a result may be challenged: 15 minutes.
        0x07 challenge_window: Blocks = 900 in 10..=604_800, T0, "003 §5.3, §13";
        /// The minimum bond of a challenge.
        0x08 challenge_bond: Amount = 100_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "003 §5.3, §13";
        /// A job's window for disputes, if it names none.
        0x09 dispute_window: Blocks = 75 in 1..=604_800, T0, "003 §13";
        /// The minimum stake of a runner.
        0x0A runner_stake_floor: Amount = 10_000_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "003 §5.2, §13";
        /// Stake for each unit of the largest job a runner takes.
        0x0B runner_stake_ratio: BasisPoints = 15_000 in 0..=1_000_000, T0, "003 §5.2";
        /// Blocks in which reputation moves half of the distance to the last score: about 14 days.
        0x0C reputation_half_life: Blocks = 1_209_600 in 3_600..=31_536_000, T0, "003 §13";
        /// The minimum reputation of a candidate.
        0x0D reputation_min: Count = 50 in 0..=200, T0, "002 §4";
        /// Reputation that a timeout costs.
        0x0E reputation_timeout: Count = 5 in 0..=200, T0, "002 §6";
        /// The percentile of reputation from which a member can be the aggregator.
        0x0F aggregator_percentile: Count = 50 in 0..=100, T0, "003 §13";
        /// The aggregator's part of the gross payment, taken from the runners' share.
        0x10 aggregator_bonus: BasisPoints = 150 in 0..=1_000, T0, "003 §13";
        /// Share of the stake that a commitment without a reveal costs.
        0x11 non_reveal_slash: BasisPoints = 2_500 in 0..=10_000, T0, "003 §13";
        /// Share of the stake that any other proven dishonesty costs.
        0x12 dishonesty_slash: BasisPoints = 3_000 in 0..=10_000, T0, "001 §5.3; decision 42";
        /// Slashed stake: burned, with what does not divide. Each of the three rows gives its part of their sum.
        0x13 slash_burn: BasisPoints = 10_000 in 0..=10_000, T3, "003 §8.4, §13";
        /// Slashed stake: to the account that proved the fault.
        0x14 slash_submitter: BasisPoints = 0 in 0..=10_000, T3, "003 §8.4, §13";
        /// Slashed stake: to the treasury.
        0x15 slash_treasury: BasisPoints = 0 in 0..=10_000, T3, "003 §8.4, §13";
        /// A job's price: to the runners. Each of the three rows gives its part of their sum.
        0x16 payout_runners: BasisPoints = 8_900 in 0..=10_000, T3, "003 §8.4, §13";
        /// A job's price: burned.
        0x17 payout_burn: BasisPoints = 1_000 in 0..=10_000, T3, "003 §8.4, §13";
        /// A job's price: to the treasury.
        0x18 payout_treasury: BasisPoints = 100 in 0..=10_000, T3, "003 §8.4, §13";
        /// Draws after the first before a job fails.
        0x19 retries: Count = 3 in 0..=10, T0, "002 §6";
        /// Blocks without a heartbeat after which a runner is unhealthy.
        0x1A heartbeat_timeout: Blocks = 300 in 10..=86_400, T0, "ours: decision 78";
        /// Blocks between the commit deadline and the reveal's.
        0x1B reveal_window: Blocks = 60 in 1..=3_600, T0, "CIP-2";
        /// Blocks in which a crash may be attested.
        0x1C crash_window: Blocks = 50 in 1..=3_600, T0, "CIP-2";
        /// The deposit for publishing a model.
        0x1D model_deposit: Amount = 1_000_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "003 §5.1";
        /// Usage beyond this share of what is expected is reviewed.
        0x1E anomaly_ratio: BasisPoints = 20_000 in 10_000..=1_000_000, T0, "003 Runner Resource Accounting";
        /// Cycles held for a job's callback, if the job names no number.
        0x1F callback_cycles: Cycles = 1_000_000 in 102_000..=22_222_222, T0, "ours: decision 129";
        /// Cells held for a job's callback, if the job names no number.
        0x20 callback_cells: Cells = 150_000 in 1_000..=16_000_000, T0, "ours: decision 129";
        /// Bytes of a job's result.
        0x21 result_bytes: Bytes = 65_536 in 1_024..=65_536, T0, "003 §5.4";
        /// Maximum number of registered runners, and therefore of candidates of one job; the next registration is refused.
        0x22 runners: Count = 4_096 in 16..=16_384, T0, "ours";
        /// Examining one candidate.
        0x23 candidate: Cycles = 100 in 1..=100_000, T0, "ours: as storage_read";
        /// Blocks that an aggregator has before members reveal for themselves.
        0x25 aggregator_timeout: Blocks = 5 in 1..=600, T0, "ours";
        /// Blocks for which a runner that fell below the minimum reputation is not selected; doubles each time.
        0x26 probation: Blocks = 3_600 in 10..=604_800, T0, "ours";
        /// Blocks for which a job can be read after its end.
        0x27 retention: Blocks = 86_400 in 10..=31_536_000, T0, "ours";
        /// Jobs that one block advances; the rest waits for the next block.
        0x28 steps_per_block: Count = 512 in 16..=65_536, T0, "ours";
        /// Blocks until a commitment is due, if the job names no number.
        0x29 timeout_default: Blocks = 35 in 1..=86_400, T0, "ours: CIP-6's 30, and the margin";
        /// The longest timeout that a job may request.
        0x2A timeout_max: Blocks = 14_400 in 10..=604_800, T0, "ours";
        /// The maximum price of a job that names none.
        0x2B price_default: Amount = 1_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "ours: decision 129";
        /// The wall time of a job that names none, in milliseconds.
        0x2C wall_default: Milliseconds = 30_000 in 1..=86_400_000, T0, "ours: decision 129";
        /// The maximum price of a callback's cycles and cells, as a share of the base fees at submission.
        0x2D callback_price: BasisPoints = 20_000 in 10_000..=1_000_000, T0, "ours";
        /// What a runner is paid for a job that is itself at fault.
        0x2E minimum_fee: Amount = 10_000_000 in 0..=1_000_000_000_000, T0, "003 Payment and Failure Handling; the number is ours";
        /// Crashes within the review window after which the runner should be reviewed.
        0x2F crash_review: Count = 5 in 1..=1_000, T0, "CIP-2";
        /// Blocks of the review window.
        0x30 crash_review_window: Blocks = 1_000 in 10..=1_000_000, T0, "CIP-2";
        /// Jobs that one delivery may submit.
        0x31 per_delivery: Count = 32 in 1..=1_024, T0, "ours";
        /// Verifying what the committee may return, for each 32 bytes of each member; paid at submission.
        0x32 verify_word: Cycles = 6 in 0..=10_000, T0, "ours: as keccak_word";
        /// The reputation of a new runner. After probation, a runner has the minimum for candidates instead.
        0x33 reputation_start: Count = 100 in 0..=200, T0, "ours: decision 303";
        /// Minimum similarity in a group, if the job names none.
        0x34 similarity_default: BasisPoints = 8_500 in 1..=10_000, T0, "ours";
        /// Minimum entropy of a result of 64 bytes or more, in thousandths of a bit per byte.
        0x35 entropy_min: Count = 500 in 0..=8_000, T0, "003 Objective Failure Criteria; the number is ours";
        /// The minimum of a runner's own stake, as a share of all stake for it.
        0x36 self_bond: BasisPoints = 1_000 in 0..=10_000, T0, "CIP-13";
        /// Verifying a document of a trusted environment.
        0x37 tee_document: Cycles = 2_000_000 in 1..=20_000_000, T0, "ours: as the time it takes";
        /// Blocks for which a runner's proof of its environment is valid.
        0x38 tee_lifetime: Blocks = 86_400 in 10..=2_592_000, T0, "ours";
        /// Blocks that a job's timeout must have in addition to the time that its bounds allow.
        0x39 timeout_margin: Blocks = 5 in 0..=3_600, T0, "ours: decision 303";
        /// Blocks after the first claim against a result in which all claims must be decided.
        0x3A dispute_max: Blocks = 86_400 in 10..=1_209_600, T0, "ours: decision 313";
        /// The part of the bond of an undecided claim that is burned.
        0x3B lapsed_bond_burn: BasisPoints = 1_000 in 0..=10_000, T0, "ours: decision 313";
        /// The part of the price of delivered results that a submitter pays if none is accepted. What is not paid to runners is burned.
        0x3C refused_price: BasisPoints = 10_000 in 0..=10_000, T0, "ours: decision 323";
        /// Jobs that wait for runners with a free slot; the next one fails with `runners_busy`.
        0x3D waiting_max: Count = 64 in 0..=1_024, T0, "ours: decision 307";
        /// What a job pays for a block that it waits for a free slot, for each of its candidates; burned.
        0x3E waiting_price: Amount = 1_000 in 1..=1_000_000_000, T0, "ours: decision 307";
        /// The share of its price up to which a job pays for waiting; it ends the wait.
        0x3F waiting_share: BasisPoints = 1_000 in 0..=10_000, T0, "ours: decision 307";
        /// Blocks after the first claim against a result for which a proposal under way keeps claims open: 14 days.
        0x40 dispute_vote_max: Blocks = 1_209_600 in 10..=31_536_000, T0, "ours: decision 314";
        /// Blocks beside its voting and its timelock for which it does, so that it can be counted and executed: a day.
        0x41 dispute_vote_margin: Blocks = 86_400 in 1..=604_800, T0, "ours: decision 314";
        /// Maximum modelled time of judging all results that a job may get, of both committees. A job that exceeds it is refused.
        0x42 judging_weight: Nanoseconds = 400_000_000 in 1_000_000..=4_000_000_000, T0, "ours: decision 393";
    }

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
        0x0D orphan_shard_ttl: Blocks = 86_400 in 100..=31_536_000, T0 NotActive, "003 §7.3";
        /// The bond for each byte of a quota beyond the base: a year's rent of it.
        0x0E bond_per_byte: Amount = 1_000_000 in 0..=1_000_000_000_000, T0, "ours: decision 234";
        /// Actors whose rent one block collects; the rest waits for the next block.
        0x0F collections_per_block: Count = 64 in 1..=10_000, T0, "ours: decision 234";
        /// Pieces of evicted actors that one block prunes: up to 64 timers, or 64 entries, each.
        0x10 prunings_per_block: Count = 16 in 1..=1_000, T0, "ours: decision 234";
        /// The deposit for a record outside an actor's storage: an allowance of tokens, or a name below another one that costs no fee.
        0x11 record_deposit: Amount = 1_000_000_000 in 0..=1_000_000_000_000_000, T0, "ours: decision 368";
    }

    /// Supply (003 §8).
    0x0A economics: Economics {
        /// CBY at genesis.
        0x01 genesis_supply: Amount = 1_000_000_000_000_000_000 in 1_000_000_000_000_000_000..=1_000_000_000_000_000_000, Fixed, "003 §8.1";
        /// Gross inflation of year 1.
        0x02 inflation_year_1: BasisPoints = 800 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation of year 2.
        0x03 inflation_year_2: BasisPoints = 600 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation of year 3.
        0x04 inflation_year_3: BasisPoints = 400 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation of year 4.
        0x05 inflation_year_4: BasisPoints = 300 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation from year 5 on.
        0x06 inflation_floor: BasisPoints = 200 in 0..=1_000, T3, "003 §8.2";
        /// The maximum inflation that governance may set.
        0x07 inflation_cap: BasisPoints = 1_000 in 1_000..=1_000, Fixed, "003 §8.2";
        /// The maximum change of inflation in a year.
        0x08 inflation_step: BasisPoints = 200 in 200..=200, Fixed, "003 §8.2";
        /// Blocks of a year.
        0x09 year: Blocks = 31_536_000 in 31_536_000..=31_536_000, Fixed, "004 §10; decision 75";
        /// The amount that the faucet of a dev or test chain pays out.
        0x0A faucet: Amount = 5_000_000_000_000 in 0..=1_000_000_000_000_000, T0, "CIP notes";
        /// The staked share of all CBY below which inflation is raised; 0 never raises it.
        0x0B security_floor: BasisPoints = 0 in 0..=10_000, T3, "003 §8.2; decision 293";
        /// By how much inflation is raised while less than the floor is staked.
        0x0C security_increase: BasisPoints = 200 in 0..=200, T3, "003 §8.2; decision 293";
    }

    /// Entitlements (000; 002 §7).
    0x0B entitlements: Entitlements {
        /// Blocks between a deprecation and the removal: about 7 days.
        0x01 deprecation_window: Blocks = 604_800 in 100..=31_536_000, T0, "000 §9.11";
        /// Records of one address in the registry.
        0x02 records_per_address: Count = 256 in 1..=10_000, T0, "002 §7.5";
        /// Roles of one address.
        0x03 roles_per_address: Count = 64 in 1..=10_000, T0, "002 §7.5";
        /// Maximum length of a chain of delegations.
        0x04 delegation_depth: Count = 5 in 1..=32, T0, "002 §7.5";
        /// Bytes of a manifest.
        0x05 manifest_bytes: Bytes = 16_384 in 1_024..=65_536, T0, "ours";
        /// Grants of a manifest.
        0x06 grants_per_manifest: Count = 64 in 1..=256, T0, "ours";
        /// Actors that a block examines after a removal, to emit events for those that no longer run.
        0x07 sweep_per_block: Count = 256 in 1..=10_000, T0, "ours";
        /// Granting in the registry.
        0x08 grant_cycles: Cycles = 5_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x09 grant_cells: Cells = 500 in 0..=100_000, T0, "002 §7.4";
        /// Revoking in the registry.
        0x0A revoke_cycles: Cycles = 2_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x0B revoke_cells: Cells = 100 in 0..=100_000, T0, "002 §7.4";
        /// Delegating in the registry.
        0x0C delegate_cycles: Cycles = 3_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x0D delegate_cells: Cells = 300 in 0..=100_000, T0, "002 §7.4";
        /// Creating a role.
        0x0E role_cycles: Cycles = 5_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x0F role_cells: Cells = 500 in 0..=100_000, T0, "002 §7.4";
        /// Assigning and revoking a role.
        0x10 assign_cycles: Cycles = 2_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x11 assign_cells: Cells = 100 in 0..=100_000, T0, "002 §7.4";
        /// Examining one candidate's membership of a pool, in addition to `jobs.candidate`.
        0x12 check_cycles: Cycles = 500 in 10..=100_000, T0, "002 §7.4";
        /// Records of one grantor that their holders have not accepted yet.
        0x13 open_per_grantor: Count = 1_024 in 1..=10_000, T0, "decision 180";
        /// Blocks after which a record lapses if its holder has not accepted it.
        0x14 open_lapse: Blocks = 2_592_000 in 100..=315_360_000, T0, "decision 180";
        /// Items of a list among the parameters of a grant.
        0x15 list_items: Count = 256 in 16..=2_048, T0, "ours: decision 394";
    }

    /// Names (004).
    0x0C names: Names {
        /// Characters of the shortest label.
        0x01 length_min: Count = 3 in 1..=64, T0, "004 §7.3, §10";
        /// Characters of the longest label.
        0x02 length_max: Count = 64 in 3..=64, T0, "004 §7.3, §10";
        /// Blocks after the expiry in which the owner may renew: 30 days.
        0x03 grace: Blocks = 2_592_000 in 100..=31_536_000, T0, "004 §7.6, §10";
        /// Blocks of the auction after that: 7 days.
        0x04 auction: Blocks = 604_800 in 100..=31_536_000, T0, "004 §7.6, §10";
        /// The auction's first price, as a multiple of the yearly fee.
        0x05 auction_start: Count = 10 in 1..=1_000, T0, "004 §7.6";
        /// The part of a registration fee for the protocol.
        0x06 protocol_share: BasisPoints = 1_000 in 0..=10_000, T0, "004 §7.5, §10";
        /// The part of a registration fee for the gateways. The rest is burned.
        0x07 gateway_share: BasisPoints = 2_000 in 0..=10_000, T0, "004 §9.4, §10";
        /// The fee for a year of a name of three characters.
        0x08 fee_3: Amount = 1_000_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// The fee for a year of a name of four characters.
        0x09 fee_4: Amount = 200_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// The fee for a year of a name of five characters.
        0x0A fee_5: Amount = 50_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// The fee for a year of a longer name.
        0x0B fee_6: Amount = 10_000_000_000 in 0..=1_000_000_000_000_000_000, T0, "ours: decision 131";
        /// Blocks of the shortest first term: 365 days.
        0x0C duration_min: Blocks = 31_536_000 in 1..=315_360_000, T0, "decision 177";
        /// Blocks for which a name can be paid in advance: ten years.
        0x0D duration_max: Blocks = 315_360_000 in 100..=3_153_600_000, T0, "ours";
        /// Maximum number of labels of one name.
        0x0E labels_max: Count = 8 in 1..=32, T0, "ours";
        /// Maximum bytes of a complete name, including dots.
        0x0F bytes_max: Bytes = 237 in 64..=253, T0, "ours: what DNS carries, less the zone";
        /// Maximum number of names that a reverse lookup returns.
        0x10 lookup_max: Count = 100 in 1..=1_000, T0, "ours";
        /// Blocks of the shortest renewal: 30 days.
        0x11 renewal_min: Blocks = 2_592_000 in 1..=315_360_000, T0, "decision 177";
        /// Domains of other zones that one name may claim.
        0x12 domains_max: Count = 16 in 1..=256, T0, "ours: decision 333";
        /// What a claim to a domain puts down until it is released.
        0x13 domain_deposit: Amount = 1_000_000_000 in 0..=1_000_000_000_000_000, T0, "ours: decision 362";
    }
    /// Gateways (004).
    0x0D gateways: Gateways {
        /// The minimum stake of a gateway.
        0x01 stake_min: Amount = 10_000_000_000_000 in 1..=1_000_000_000_000_000_000, T0, "004 §10; the number is ours: decision 131";
        /// Health after a heartbeat; it falls by one in each block.
        0x02 health: Blocks = 3_600 in 10..=86_400, T0, "004 §9.2, §10";
        /// Blocks between becoming inactive and withdrawing the stake.
        0x03 unstake_delay: Blocks = 604_800 in 100..=31_536_000, T0, "004 §9.2";
        /// Requests per second of one actor at one gateway.
        0x04 requests_per_second: Count = 100 in 1..=1_000_000, T0, "004 §9.5, §10";
        /// Connections of one actor at one gateway.
        0x05 connections: Count = 1_000 in 1..=1_000_000, T0, "004 §9.5, §10";
        /// Blocks for which a result is kept.
        0x06 result_ttl: Blocks = 3_600 in 1..=31_536_000, T0, "004 §10";
        /// Maximum bytes of a request that a manifest can allow.
        0x07 request_bytes_max: Bytes = 10_485_760 in 1_024..=104_857_600, T0, "004 §10";
        /// Maximum bytes of a response that a manifest can allow.
        0x08 response_bytes_max: Bytes = 10_485_760 in 1_024..=104_857_600, T0, "004 §10";
        /// Maximum cycles of a query that a manifest can allow.
        0x09 query_cycles_max: Cycles = 100_000_000 in 1_000_000..=1_000_000_000, T0, "004 §10";
        /// Bytes of a request, if the manifest names no number.
        0x0A request_bytes_default: Bytes = 1_048_576 in 1_024..=10_485_760, T0, "004 §6.2";
        /// Bytes of a response, if the manifest names no number.
        0x0B response_bytes_default: Bytes = 1_048_576 in 1_024..=10_485_760, T0, "004 §6.2";
        /// Cycles of a query, if the manifest names no number.
        0x0C query_cycles_default: Cycles = 10_000_000 in 100_000..=100_000_000, T0, "004 §6.2";
        /// The part of a gateway's stake that proven misbehaviour costs; burned.
        0x0D slash: BasisPoints = 3_000 in 0..=10_000, T0, "ours: as decision 42";
        /// Blocks for which a delivered request's id is remembered, so that it counts once.
        0x0E requests_kept: Blocks = 10_000 in 100..=1_000_000, T0, "ours";
        /// Maximum cycles of a command's handler.
        0x0F command_cycles_max: Cycles = 20_000_000 in 100_000..=1_000_000_000, T0, "decision 178";
        /// Blocks for which `max_fees` in `ingress.http` bounds what an actor pays for its commands: a day.
        0x10 fee_period: Blocks = 86_400 in 100..=31_536_000, T0, "ours: decision 329";
    }
    /// Governance (003 §11).
    0x0E governance: Governance {
        /// Blocks between a standard decision and its effect: 7 days.
        0x01 timelock: Blocks = 604_800 in 3_600..=31_536_000, T3, "003 §11";
        /// Blocks between an emergency decision and its effect: 6 hours.
        0x02 timelock_fast: Blocks = 21_600 in 600..=604_800, T3, "003 §11";
        /// Members of the security council.
        0x03 council_size: Count = 9 in 9..=9, Fixed, "003 §11";
        /// Members that must agree.
        0x04 council_threshold: Count = 7 in 7..=7, Fixed, "003 §11";
        /// The deposit of a proposal of tier 0.
        0x05 deposit_0: Amount = 1_000_000_000_000 in 0..=1_000_000_000_000_000_000, T3, "CIP-12";
        /// The deposit of a proposal of tier 3.
        0x06 deposit_3: Amount = 25_000_000_000_000 in 0..=1_000_000_000_000_000_000, T3, "CIP-12";
        /// Blocks of voting on tier 0: 5 days.
        0x07 voting_0: Blocks = 432_000 in 3_600..=31_536_000, T3, "CIP-12";
        /// Blocks of voting on tier 3: 7 days.
        0x08 voting_3: Blocks = 604_800 in 3_600..=31_536_000, T3, "CIP-12";
        /// Blocks of voting on a fast-tracked proposal: a day.
        0x09 voting_fast: Blocks = 86_400 in 600..=604_800, T3, "CIP-12";
        /// Staked CBY that must vote on tier 0.
        0x0A quorum_0: BasisPoints = 500 in 0..=10_000, T3, "CIP-12";
        /// Staked CBY that must vote on tier 3.
        0x0B quorum_3: BasisPoints = 1_500 in 0..=10_000, T3, "CIP-12";
        /// More than this share of the CBY that votes yes or no must vote yes on tier 0.
        0x0C approval_0: BasisPoints = 5_000 in 0..=10_000, T3, "CIP-12";
        /// More than this share of the CBY that votes yes or no must vote yes on tier 3.
        0x0D approval_3: BasisPoints = 6_000 in 0..=10_000, T3, "CIP-12";
        /// Blocks for which a pause by the security council lasts if it is not ratified: 7 days.
        0x0E pause: Blocks = 604_800 in 600..=604_800, T3, "ours: decision 315";
        /// Blocks of voting on the council's pause, at most as many as `pause`: 6 days, so that a day is left for the count.
        0x0F voting_ratify: Blocks = 518_400 in 300..=604_800, T3, "ours: decision 315";
        /// Blocks for which a member's agreement to pause a system actor counts: a day.
        0x10 agreement: Blocks = 86_400 in 100..=604_800, T3, "ours: decision 331";
        /// Blocks between the decision to upgrade the protocol and the first block of the new version, at least: two hours.
        0x11 upgrade_notice: Blocks = 7_200 in 10..=2_592_000, T3, "ours: decision 370";
    }

    /// Modelled execution time that no cycle price covers (decision 132). It is never charged; it limits how long a block takes.
    0x0F weights: Weights {
        /// The bookkeeping of a delivery: admission, fees, receipt.
        0x01 delivery: Nanoseconds = 5_000 in 100..=1_000_000, Fixed, "ours: decision 132";
        /// Starting a handler: records, image, arguments.
        0x02 call: Nanoseconds = 20_000 in 100..=1_000_000, Fixed, "ours: decision 132";
        /// Compiling a byte of source and running its module body, without the body's own cycles.
        0x03 source_byte: Nanoseconds = 200 in 1..=10_000, Fixed, "ours: decision 132";
        /// Decoding a byte of a system method's argument, at worst.
        0x04 argument_byte: Nanoseconds = 40 in 1..=10_000, Fixed, "ours: decision 390";
        /// Reading a byte of a timer's payload.
        0x05 payload_byte: Nanoseconds = 1 in 1..=10_000, Fixed, "ours: decision 390";
        /// Reading a record of the protocol in a list that a method walks.
        0x06 record: Nanoseconds = 2_000 in 100..=1_000_000, Fixed, "ours: decision 390";
        /// Recovering a signer of evidence, with decoding and hashing what is signed.
        0x07 evidence: Nanoseconds = 200_000 in 1_000..=10_000_000, Fixed, "ours: decision 132";
    }
    /// What waits for a block at one node; not consensus.
    0x10 mempool: Mempool {
        /// Blocks after which a transaction is dropped that no block could include because of its nonce, its fee or its sender's balance.
        0x01 expiry: Blocks = 600 in 1..=1_000_000, T0, "ours: decision 295";
        /// Blocks for which a proposer includes nothing of a sender whose transaction ran far longer than its modelled time.
        0x02 set_apart: Blocks = 600 in 1..=1_000_000, T0, "ours: decision 297";
    }
}
