//! Validators and governance.

use crate::table::rows;

rows! {
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
        /// Blocks between leaving and withdrawing the stake; for a validator, between the last epoch in which it signs and withdrawing: 7 days.
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
}

rows! {
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
}
