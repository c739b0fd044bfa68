//! The methods and events of 0x02. Which fields a job has beside those of the tables, [`super::request`] says.

use super::NUMBER;
use crate::actor::methods;
use crate::market::submission::{Job, Message};
use crate::schema::{events, form};
use cowboy_types::job::{JobKind, MAX_MEMBERS};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, Text, actors};

form! {
    /// A job.
    pub(crate) struct JobState {
        /// Drawing, Waiting, Assigned, Revealing, Verified, Disputed, Settled or Failed.
        status: Text<16>,
        /// The requester.
        submitter: Address,
        /// The height of its submission.
        submitted_at: Height,
        /// The runners of its present committee.
        members: List<Address, MAX_MEMBERS>,
        /// How many committees it had before.
        attempt: Count,
        /// Why it has no result; empty where it has one, or may have.
        reason: Text<64>,
        /// The hash of its result, once one was accepted.
        output: Option<Hash>,
    }
}

form! {
    /// An epoch's committees.
    pub(crate) struct CommitteeState {
        /// Which epoch.
        epoch: Count,
        /// Runners that were registered and healthy.
        runners: Count,
        /// The moving average of the concentration of their stakes, in 10⁻¹².
        concentration: u64,
        /// Runners of a committee.
        committee: Count,
        /// Runners that must agree.
        threshold: Count,
    }
}

methods! {
    /// How jobs are submitted.
    pub(super) SUBMISSIONS by NUMBER;

    /// Submits a job, and returns its id: holds price, tip and the callback's most from the sender, and has a committee drawn. The fields for the runner
    /// and what the job needs of one stand beside those that are listed (docs/jobs.md).
    "submit_job" SubmitJob(Job) [payable, open, kept] -> Hash;
}

methods! {
    /// What messages to 0x02 bring.
    pub(super) MESSAGES by NUMBER;

    /// Submits the job of the published SDK's message, or a job as `submit_job` takes it, and returns its id: what `send_message` to this address
    /// brings (decision 129).
    "handle_message" HandleMessage(Message) [payable, open, kept] -> Hash;
}

methods! {
    /// What 0x02 is asked beside jobs.
    pub(super) METHODS by NUMBER;

    /// Returns a job, until it is forgotten.
    "get_job" GetJob [view] {
        /// The job's id.
        job_id: Hash,
    } -> JobState;

    /// Returns the epoch's committees, or null before the first one.
    "get_committee" GetCommittee [view] {} -> Option<CommitteeState>;
}

events! {
    /// What 0x02 emits.
    pub(super) EVENTS by NUMBER;

    /// A job was submitted.
    "JobSubmitted" Submitted {
        /// The job's id.
        job_id: Hash,
        /// The requester.
        submitter: Address,
        /// The kind of work.
        kind: JobKind,
        /// How its results are verified.
        mode: Text<32>,
        /// The maximum that its runners are paid, in base units.
        max_price: Amount,
        /// The number of runners of which its committee is drawn.
        candidates: Count,
        /// The root of the list of these runners.
        candidates_root: Hash,
        /// Runners of its committee.
        committee: Count,
    }

    /// A committee was drawn: who is in it, and what the draw can be checked with.
    "CommitteeDrawn" CommitteeDrawn {
        /// The job's id.
        job_id: Hash,
        /// How many committees it had before.
        attempt: Count,
        /// The seed of the draw.
        seed: Hash,
        /// Its runners, in the order of the draw.
        members: List<Address, MAX_MEMBERS>,
        /// Who may open all commitments at once.
        aggregator: Option<Address>,
        /// The last height at which a commitment counts.
        commit_until: Height,
    }

    /// A job waits for runners with a free slot.
    "JobWaiting" JobWaiting {
        /// The job's id.
        job_id: Hash,
        /// The height at which it fails.
        until: Height,
    }

    /// A job ended without a result.
    "JobFailed" JobFailed {
        /// The job's id.
        job_id: Hash,
        /// Why, in a word.
        reason: Text<64>,
        /// How many committees it had.
        attempts: Count,
        /// What its submitter was paid back.
        refunded: Amount,
    }

    /// A job's runners were paid.
    "JobSettled" JobSettled {
        /// The job's id.
        job_id: Hash,
        /// To its runners.
        paid: Amount,
        /// What was destroyed.
        burned: Amount,
        /// To the treasury.
        treasury: Amount,
        /// To its submitter.
        refunded: Amount,
    }
}

events! {
    /// What 0x03 emits of jobs that advance by themselves.
    pub(crate) VERIFIER_EVENTS by actors::VERIFIER;

    /// A job has a result.
    "JobVerified" JobVerified {
        /// The job's id.
        job_id: Hash,
        /// The hash of the result.
        output: Hash,
        /// Runners that agree on it.
        agreeing: Count,
        /// Runners of all its committees.
        runners: Count,
    }

    /// A runner reports more work than the job expected, or than the others of its committee.
    "UsageAnomaly" UsageAnomaly {
        /// The job's id.
        job_id: Hash,
        /// The runner.
        runner: Address,
        /// Milliseconds that it reports.
        compute_ms: Count,
        /// Milliseconds that the job expected.
        expected_ms: Count,
    }

    /// A runner that committed and did not reveal was slashed.
    "NonRevealSlash" NonRevealSlash {
        /// The job's id.
        job_id: Hash,
        /// The runner.
        runner: Address,
        /// What it lost.
        amount: Amount,
    }
}
