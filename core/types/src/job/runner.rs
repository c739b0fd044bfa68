//! Who does jobs, and what they ask for it (002 §4; 003 §5.2).

use crate::address::Address;
use crate::hash::Hash;
use crate::units::{Amount, Count, Height};
use crate::wire::{Blob, Fixed, List, Text};

/// The most tranches of stake that leave at once.
pub const MAX_TRANCHES: usize = 16;

crate::record! {
    /// What a runner asks for its work.
    pub struct RateCard {
        /// A token into a model.
        pub llm_input_token: Amount,
        /// A token out of a model.
        pub llm_output_token: Amount,
        /// A web request or a tool's call.
        pub http_request_base: Amount,
        /// A second of work.
        pub compute_second: Amount,
        /// A mebibyte of memory, for a job.
        pub memory_mb: Amount,
        /// The smallest job it takes.
        pub min_job_value: Amount,
        /// The largest job it takes: what its stake is measured by (003 §5.2).
        pub max_job_value: Amount,
    }
}

impl RateCard {
    /// The rates of who asks for nothing.
    pub fn free() -> Self {
        let none = Amount::ZERO;
        Self {
            llm_input_token: none,
            llm_output_token: none,
            http_request_base: none,
            compute_second: none,
            memory_mb: none,
            min_job_value: none,
            max_job_value: none,
        }
    }

    /// These rates, with the prices of other ones where those are lower.
    pub fn lowered_to(&self, other: &Self) -> Self {
        Self {
            llm_input_token: self.llm_input_token.min(other.llm_input_token),
            llm_output_token: self.llm_output_token.min(other.llm_output_token),
            http_request_base: self.http_request_base.min(other.http_request_base),
            compute_second: self.compute_second.min(other.compute_second),
            memory_mb: self.memory_mb.min(other.memory_mb),
            ..self.clone()
        }
    }
}

/// How often a runner may ask stake back before it takes some.
pub const TRANCHES: usize = 16;

crate::record! {
    /// Stake that was asked back.
    pub struct Tranche {
        /// The amount in base units.
        pub amount: Amount,
        /// When it may be withdrawn.
        pub release: Height,
    }
}

crate::record! {
    /// What every selection looks at of a runner.
    pub struct Runner {
        /// CBY of its own that stand for it.
        pub stake: Amount,
        /// CBY of others that stand for it (CIP-13).
        pub delegated: Amount,
        /// Stake on its way out; it can still be slashed.
        pub unbonding: List<Tranche, TRANCHES>,
        /// Bits of the kinds of jobs that it does.
        pub kinds: u8,
        /// Bits of the trusted environments that it has: 1 sgx, 2 sev, 4 tdx, 8 nitro, 128 dev.
        pub tee: u8,
        /// Ed25519 public key of its results.
        pub result_key: Fixed<32>,
        /// The runner's prices.
        pub rates: RateCard,
        /// The lowest prices that it had before it changed them last, and shortly before that.
        pub former_rates: RateCard,
        /// When it changed them last.
        pub rates_since: Height,
        /// Jobs at once.
        pub max_concurrent: Count,
        /// Jobs under way.
        pub active_jobs: Count,
        /// The height of its registration.
        pub registered_at: Height,
        /// When it was last heard of.
        pub heartbeat_at: Height,
        /// Reputation when it was last touched, in millionths; between 0 and 200 of them.
        pub reputation: Count,
        /// What the reputation moves to, in millionths.
        pub score: Count,
        /// When the reputation was last touched.
        pub reputation_at: Height,
        /// Until when it withdraws no stake, because a vote decides a claim against it.
        pub held_until: Height,
        /// Open claims because of which it does not.
        pub holds: Count,
        /// Until when it may do nothing, having fallen below the least reputation.
        pub probation_until: Height,
        /// The number of probations.
        pub probations: Count,
        /// Jobs that it was paid for.
        pub jobs_done: Count,
        /// Jobs that it failed.
        pub jobs_failed: Count,
        /// Crashes it attested since `crashes_since`.
        pub crashes: Count,
        /// When the counting of crashes began.
        pub crashes_since: Height,
        /// Whether somebody should look at it: too many crashes, or usage beyond what was expected.
        pub is_flagged: bool,
        /// Whether it left: it is not selected any more.
        pub is_leaving: bool,
    }
}

impl Runner {
    /// The prices for a job that was submitted at a height. Whoever raises them between the submission, which counted with them, and the draw is paid as it
    /// said before.
    pub fn rates_for(&self, submitted_at: Height) -> RateCard {
        if submitted_at <= self.rates_since { self.rates.lowered_to(&self.former_rates) } else { self.rates.clone() }
    }

    /// Changes the prices. Former ones are forgotten when a change follows another after more than `memory` blocks.
    pub fn set_rates(&mut self, rates: RateCard, height: Height, memory: u64) {
        if rates == self.rates {
            return;
        }
        let is_recent = height.0.saturating_sub(self.rates_since.0) <= memory;
        self.former_rates = if is_recent { self.rates.lowered_to(&self.former_rates) } else { self.rates.clone() };
        (self.rates, self.rates_since) = (rates, height);
    }
}

crate::record! {
    /// What jobs with requirements look at of a runner, and where it is reached.
    pub struct Profile {
        /// Where other runners send results to an aggregator.
        pub endpoint: Text<256>,
        /// The regions where it runs.
        pub regions: List<Text<16>, 16>,
        /// Web domains that it reaches; none means all.
        pub domains: List<Text<253>, 64>,
        /// Models that it has.
        pub models: List<Hash, 64>,
        /// What it provides, a manifest (000 §6).
        pub provides: Blob<16384>,
        /// What one container may have; absent where it runs none.
        pub containers: Option<Capacity>,
    }
}

crate::record! {
    /// What a runner gives to one container.
    pub struct Capacity {
        /// Thousandths of a processor.
        pub cpu_millicores: Count,
        /// Mebibytes of memory.
        pub memory_mib: Count,
        /// Mebibytes of files.
        pub scratch_mib: Count,
        /// Bits of the platforms that it runs: 1 linux/amd64, 2 linux/arm64.
        pub platforms: u8,
        /// Whether it mounts volumes.
        pub volumes: bool,
    }
}

crate::variants! {
    /// What governance thinks of a model.
    pub enum ModelStatus {
        /// Nothing.
        0 Listed,
        /// Something is doubtful.
        1 Flagged,
        /// No job may name it.
        2 Banned,
    }
}

crate::record! {
    /// A published model (003 §5.1). Its id is keccak256(weights ‖ arch ‖ tokenizer ‖ license).
    pub struct Model {
        /// Who published it, and gets the deposit back.
        pub publisher: Address,
        /// The deposit in base units.
        pub deposit: Amount,
        /// The digests that make the id: weights, architecture, tokenizer, license.
        pub parts: List<Hash, 4>,
        /// A name for display.
        pub name: Text<128>,
        /// The height of publication.
        pub published_at: Height,
        /// What governance thinks of it.
        pub status: ModelStatus,
    }
}

impl Model {
    /// A model's id.
    pub fn id(weights: &Hash, arch: &Hash, tokenizer: &Hash, license: &Hash) -> Hash {
        crate::hash::keccak256(&[&weights.0, &arch.0, &tokenizer.0, &license.0])
    }
}
