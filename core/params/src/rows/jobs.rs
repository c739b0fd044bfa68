//! Runners and jobs.

use crate::table::rows;

rows! {
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
        0x1A heartbeat_timeout: Blocks = 300 in 10..=86_400, T0 Stepwise, "ours: decision 78";
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
        /// Maximum number of registered runners, and therefore of candidates of one job. Beyond it, a newcomer takes the place of a runner with less stake (decision 606).
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
        /// The minimum of a runner's own stake, as a share of all stake that counts for it (decision 721).
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
        /// The most runners that a job may name.
        0x43 runners_max: Count = 9 in 1..=9, Fixed, "ours: decision 435";
        /// How often a runner's probation doubles, at most: 64 times the first.
        0x44 probation_doublings: Count = 6 in 0..=16, Fixed, "ours: decision 435";
    }
}
