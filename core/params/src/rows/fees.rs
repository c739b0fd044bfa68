//! Fee markets, lanes, and what a transaction pays before it runs.

use crate::table::rows;

rows! {
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
}

rows! {
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
}

rows! {
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
}
