//! The market of off-chain work: jobs and runners.

use super::words;
use crate::hex_text::{HexAddress, HexBytes, HexHash};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Jobs, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Jobs {
    /// The jobs.
    pub jobs: Vec<JobSummary>,
    /// The total number of rows.
    pub total_count: u64,
}

/// A job in a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// Its name.
    pub job_id: HexHash,
    /// How far it is: [`words::status`].
    #[schema(schema_with = words::status_schema)]
    pub status: String,
    /// What kind of work it is: [`words::kind`].
    #[schema(schema_with = words::kind_schema)]
    pub kind: String,
    /// How its results are verified.
    pub mode: String,
    /// The requester.
    pub submitter: HexAddress,
    /// The height of the submission.
    pub submitted_at: u64,
    /// The most it may cost.
    pub max_price: u64,
}

/// A job with everything that is known of it. A job that is over can be read for about a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Job {
    /// A summary of the job.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// For the runners, beside the price.
    pub tip: u64,
    /// The submission, canonical CBOR: what a runner reads.
    pub request: HexBytes,
    /// Patterns of the hosts that a runner may ask for it: those of the asking actor's manifest. Absent where an account asks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hosts: Option<Vec<String>>,
    /// The most bytes of a result.
    pub max_return_bytes: u64,
    /// Milliseconds that the work should take.
    pub expected_execution_ms: u64,
    /// What a result must be: nothing, `text`, `json`, `cbor`, `binary`, or a JSON schema.
    pub data_format: String,
    /// Whether results must come with an attestation.
    pub tee_required: bool,
    /// The field that is voted on; empty means the whole result.
    pub vote_field: String,
    /// The pipeline of checks in order, by the words that a submission has for them.
    pub checks: Vec<String>,
    /// Which good result is handed on: [`words::snapshot`].
    #[schema(schema_with = words::snapshot_schema)]
    pub snapshot: String,
    /// The pool whose members alone may be drawn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub required_runner_pool: Option<HexBytes>,
    /// The callback that receives the result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub callback: Option<JobCallback>,
    /// Runners of the committee.
    pub committee: u64,
    /// Runners that must agree.
    pub threshold: u64,
    /// How many runners could be drawn.
    pub candidates: u64,
    /// The root of the tree over them.
    pub candidates_root: HexHash,
    /// The epoch of the round whose seed draws; zero where the submission's own beacon did.
    pub draw_epoch: u64,
    /// Its view.
    pub draw_view: u64,
    /// The seed of the first draw; zero before.
    pub seed: HexHash,
    /// Draws after the first.
    pub attempt: u64,
    /// Who was drawn before and may not be again.
    pub excluded: Vec<HexAddress>,
    /// Who was picked in this draw and passed over, because all of its slots were taken.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub passed: Vec<HexAddress>,
    /// The members of the committee.
    pub members: Vec<JobMember>,
    /// The committee before, where it disagreed and a further one decided.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earlier: Vec<JobMember>,
    /// Who puts the results together.
    pub aggregator: Option<HexAddress>,
    /// Until when commitments are taken.
    pub commit_until: u64,
    /// From when members reveal themselves.
    pub reveal_from: u64,
    /// Until when commitments can be opened.
    pub reveal_until: u64,
    /// When its status ends by itself.
    pub status_until: u64,
    /// CBY that are held for price and tip.
    pub escrow: u64,
    /// The accepted result.
    pub result: Option<HexBytes>,
    /// The runner whose result was accepted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result_of: Option<HexAddress>,
    /// When it was accepted; zero before.
    pub verified_at: u64,
    /// When the job was over and the escrow gone; zero before.
    pub over_at: u64,
    /// Runners that agreed on it.
    pub agreeing: u64,
    /// What it cost, without the tip.
    pub gross: u64,
    /// Why there is no result, in a word.
    pub reason: String,
    /// Jobs that the submitter ever asked for.
    pub submitter_jobs: u64,
    /// Results that the submitter's handlers failed on: what a runner may look at before it works for it.
    pub submitter_failed_callbacks: u64,
    /// The claims against the result, in the order in which they came.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub claims: Vec<JobChallenge>,
    /// When all claims end that nobody decided; zero before the first one.
    pub dispute_until: u64,
    /// The job whose result this one checks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retrial_of: Option<HexHash>,
}

/// Where the answer of a job goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobCallback {
    /// The recipient's address.
    pub actor: HexAddress,
    /// The handler that runs.
    pub handler: String,
    /// The submitter's id of the request.
    pub correlation_id: String,
}

/// A claim that an accepted result is dishonest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobChallenge {
    /// The challenger's address.
    pub challenger: HexAddress,
    /// Against whom; nobody where the work is done again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub runner: Option<HexAddress>,
    /// What is claimed, in words.
    pub claim: String,
    /// CBY that are put down; zero once they are gone or back.
    pub bond: u64,
    /// The block height.
    pub at: u64,
    /// The job that does the work again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retrial: Option<HexHash>,
}

/// A runner of a committee.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobMember {
    /// The runner's address.
    pub runner: HexAddress,
    /// Its reputation when it was drawn.
    pub reputation: u64,
    /// What it committed to; zero before.
    pub commitment: HexHash,
    /// The digest of what it revealed; zero before.
    pub output: HexHash,
    /// When it committed; zero before.
    pub committed_at: u64,
    /// When it revealed; zero before.
    pub revealed_at: u64,
    /// What it revealed, where that is still kept.
    pub result: Option<HexBytes>,
    /// Milliseconds that it says it worked.
    pub compute_ms: u64,
    /// Why it has no result, where it says so: 1 the job is malformed, 2 something outside, 3 the bounds are too tight.
    pub fault: u64,
    /// Whether its attestation was accepted.
    pub attested: bool,
    /// Whether it attested a crash.
    pub crashed: bool,
    /// What the verifier thinks of its result: [`words::verdict`].
    #[schema(schema_with = words::verdict_schema)]
    pub verdict: String,
    /// The payment in base units.
    pub paid: u64,
}

/// The candidates of a job as they were when it was submitted: what the draw is checked with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobCandidates {
    /// Ascending by address.
    pub candidates: Vec<JobCandidate>,
    /// The root that the chain stored.
    pub root: HexHash,
}

/// A runner that could be drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobCandidate {
    /// The runner's address.
    pub runner: HexAddress,
    /// Its weight in the draw.
    pub weight: u64,
}

/// Runners, by address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Runners {
    /// The runners.
    pub runners: Vec<Runner>,
    /// The total number of rows.
    pub total_count: u64,
}

/// A runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Runner {
    /// The address.
    pub address: HexAddress,
    /// CBY of its own that stand for it.
    pub stake: u64,
    /// CBY of others that stand for it. All of it can be slashed.
    pub delegated: u64,
    /// The part of that which counts in draws and for the stake that jobs ask for: up to a multiple of the runner's own (decision 721). Older nodes do
    /// not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegated_counted: Option<u64>,
    /// CBY on their way out, which can still be slashed.
    pub unbonding: u64,
    /// `healthy`, or why no job is drawn to it: `silent`, `low`, `stake`, `probation` or `leaving`.
    pub health: String,
    /// From 0 to the maximum of the parameter `jobs.reputation_start`.
    pub reputation: u64,
    /// Jobs under way.
    pub active_jobs: u64,
    /// Jobs it was paid for.
    pub jobs_done: u64,
    /// Jobs it failed.
    pub jobs_failed: u64,
    /// Until when it is not drawn, its reputation having fallen too low; zero where it never did.
    pub probation_until: u64,
    /// The number of probations.
    pub probations: u64,
    /// Crashes that it attested of late.
    pub crashes: u64,
    /// Whether somebody should look at it.
    pub flagged: bool,
    /// Its trusted environment, where it proved one that counts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub attestation: Option<RunnerEnvironment>,
    /// The height of its registration.
    pub registered_at: u64,
    /// When it was last heard of.
    pub last_heartbeat: u64,
    /// Ed25519 public key of its results.
    pub result_key: HexBytes,
    /// The runner's prices.
    pub rate_card: RateCard,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// A trusted environment that a runner proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerEnvironment {
    /// `sgx`, `sev`, `tdx` or `nitro`.
    pub environment: String,
    /// The program's measurement.
    pub measurement: HexBytes,
    /// The last height at which it counts.
    pub valid_until: u64,
}

/// What a runner asks for, in base units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RateCard {
    /// A token into a model.
    pub llm_input_token: u64,
    /// A token out of a model.
    pub llm_output_token: u64,
    /// A web request.
    pub http_request_base: u64,
    /// A second of work.
    pub compute_second: u64,
    /// A mebibyte of memory, for a job.
    pub memory_mb: u64,
    /// The smallest job it takes.
    pub min_job_value: u64,
    /// The largest job it takes.
    pub max_job_value: u64,
    /// Models that it has.
    pub supported_models: Vec<HexHash>,
}

/// What a runner can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Capabilities {
    /// Kinds of jobs.
    pub job_types: Vec<String>,
    /// Trusted environments.
    pub tee_support: Vec<String>,
    /// The regions where it runs.
    pub regions: Vec<String>,
    /// Web domains that it reaches; none means all.
    pub http_domains: Vec<String>,
    /// Jobs at once.
    pub max_concurrent_jobs: u64,
    /// Where other runners send results to it.
    pub endpoint: String,
    /// What it gives to one container, where it runs any.
    pub containers: Option<ContainerCapacity>,
}

/// What a runner gives to one container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ContainerCapacity {
    /// Thousandths of a processor.
    pub cpu_millicores: u64,
    /// Mebibytes of memory.
    pub memory_mib: u64,
    /// Mebibytes of files.
    pub scratch_mib: u64,
    /// The platforms that it runs.
    pub platforms: Vec<String>,
    /// Whether it mounts volumes.
    pub volumes: bool,
}

/// What somebody has put behind a runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Delegation {
    /// Behind whom.
    pub runner: HexAddress,
    /// The delegator's address.
    pub delegator: HexAddress,
    /// CBY that count for the runner's draws.
    pub amount: u64,
    /// CBY that were asked back.
    pub leaving: Vec<DelegationLeaving>,
}

/// CBY that a delegator asked back: they are slashed with the rest until they may be taken out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DelegationLeaving {
    /// The amount.
    pub amount: u64,
    /// From when on they may be taken out.
    pub release: u64,
}
