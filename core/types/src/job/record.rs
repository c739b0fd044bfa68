//! A job under way: its committee, their results, and its outcome.

use super::runner::RateCard;
use super::{MAX_CLAIMS, MAX_DRAWN, MAX_MEMBERS};
use crate::address::Address;
use crate::hash::{Hash, keccak256};
use crate::units::{Amount, Count, Height, TimestampMs};
use crate::wire::{Fixed, List, Text};

crate::variants! {
    /// How far a job is.
    pub enum JobStatus {
        /// It waits for the seed that draws its committee.
        0 Drawing,
        /// Its committee works, and commits.
        1 Assigned,
        /// Everybody who commits did; they reveal.
        2 Revealing,
        /// A result was accepted; the runners wait for their pay.
        3 Verified,
        /// Claims wait for their decisions.
        4 Disputed,
        /// Everybody was paid.
        5 Settled,
        /// There is no result, and the escrow went back.
        6 Failed,
        /// Too few runners have a free slot; its committee is drawn when enough have one.
        7 Waiting,
    }
}

impl JobStatus {
    /// Whether nothing will happen to it any more.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Settled | Self::Failed)
    }
}

crate::record! {
    /// A runner that may be drawn, with its weight in the draw.
    pub struct Candidate {
        /// The runner's address.
        pub runner: Address,
        /// Its weight: whole CBY of stake × a thousand times the root of its reputation (decision 37).
        pub weight: u64,
    }
}

impl Candidate {
    /// The candidate's leaf in the snapshot's tree: keccak256(runner ‖ weight, eight bytes, big-endian).
    pub fn leaf(&self) -> Hash {
        keccak256(&[&self.runner.0, &self.weight.to_be_bytes()])
    }
}

crate::record! {
    /// The candidates of a job, as they were when it was submitted.
    pub struct Candidates {
        /// Ascending by address.
        pub candidates: List<Candidate, 16384>,
    }
}

impl Candidates {
    /// The root of the keccak tree over the candidates' leaves (002 §5).
    pub fn root(&self) -> Hash {
        let leaves: Vec<Hash> = self.candidates.iter().map(Candidate::leaf).collect();
        crate::merkle::root(&leaves)
    }
}

crate::record! {
    /// What a runner says it used.
    pub struct Usage {
        /// Tokens into a model.
        pub input_tokens: Count,
        /// Tokens out of it.
        pub output_tokens: Count,
        /// Web requests and calls of tools.
        pub requests: Count,
        /// Milliseconds of work.
        pub compute_ms: Count,
        /// Mebibytes of memory.
        pub memory_mb: Count,
    }
}

crate::variants! {
    /// What the verifier thinks of a member's result.
    pub enum Verdict {
        /// Nothing yet.
        0 Pending,
        /// It is good, and agrees with what was accepted.
        1 Accepted,
        /// It is good, and differs.
        2 Differs,
        /// It fails an objective check that another result passed, or came without the attestation that the job asks for.
        3 Invalid,
        /// No commitment came in time.
        4 TimedOut,
        /// A commitment came, and was never opened.
        5 Unrevealed,
        /// It is proven dishonest.
        6 Dishonest,
        /// It could not do the work for a reason outside itself, and said so.
        7 Excused,
        /// It fails an objective check that nobody passed yet: whether the runner or the job is at fault is open.
        8 Held,
        /// It fails a check of the submitter's own, which is no fault of the runner.
        9 Unfit,
    }
}

crate::record! {
    /// A runner of a job's committee.
    pub struct Member {
        /// The runner's address.
        pub runner: Address,
        /// Its reputation when it was drawn.
        pub reputation: Count,
        /// What it asked for when it was drawn: what it says later changes nothing.
        pub rates: RateCard,
        /// What it committed to; zero before.
        pub commitment: Hash,
        /// The height of the commitment.
        pub committed_at: Height,
        /// Blocks from the draw to the commitment, without those in which the market stood still.
        pub held: Count,
        /// keccak256 of the result that it revealed, of no bytes where it reported a fault; zero before.
        pub output: Hash,
        /// The height of the reveal.
        pub revealed_at: Height,
        /// Its Ed25519 signature of its report: see [`super::Report::signed`].
        pub signature: Fixed<64>,
        /// What it says it used.
        pub usage: Usage,
        /// Why it has no result, where it says so.
        pub fault: Count,
        /// Work that it did before the fault, in hundredths of a percent (decision 81).
        pub progress: Count,
        /// Whether its attestation was accepted.
        pub is_attested: bool,
        /// Whether it attested a crash.
        pub is_crashed: bool,
        /// The verdict.
        pub verdict: Verdict,
        /// The payment in base units.
        pub paid: Amount,
    }
}

crate::record! {
    /// A member that committed and did not reveal: it may still attest a crash.
    pub struct Absent {
        /// The runner's address.
        pub runner: Address,
        /// When its stake is slashed.
        pub due: Height,
    }
}

crate::record! {
    /// A runner that delivered a result which was not accepted, in any draw of a job.
    pub struct Delivered {
        /// The runner, as it stood in its committee.
        pub member: Member,
        /// The objective checks that its result failed, a bit each: see `cowboy_system::verifier::judge`. Zero where it failed none.
        pub failed: Count,
        /// What the result would have cost if it had been accepted, in base units. Zero where a fault was reported.
        pub price: Amount,
        /// Whether as many results as must agree agreed with this one, whatever the job's own checks say.
        pub is_agreed: bool,
    }
}

crate::record! {
    /// An accepted result.
    pub struct Outcome {
        /// keccak256 of the result's bytes.
        pub output: Hash,
        /// The runner whose result was accepted.
        pub runner: Address,
        /// Runners that agree.
        pub agreeing: Count,
        /// The height at which it was accepted.
        pub verified_at: Height,
        /// What it costs, without the tip.
        pub gross: Amount,
    }
}

crate::record! {
    /// A claim that an accepted result is dishonest.
    pub struct Challenge {
        /// The challenger's address.
        pub challenger: Address,
        /// What they put down; zero once the claim is decided.
        pub bond: Amount,
        /// Against whom.
        pub runner: Address,
        /// What is claimed, in words.
        pub claim: Text<256>,
        /// The block height.
        pub at: Height,
        /// The job that does the work again; zero where people decide.
        pub retrial: Hash,
        /// Members of the council that would uphold it, ascending.
        pub upheld_by: List<Address, 64>,
        /// Members of the council that would reject it, ascending.
        pub rejected_by: List<Address, 64>,
        /// Whether the accused withdraws no stake because a vote decides it.
        pub is_holding: bool,
    }
}

impl Challenge {
    /// Whether nobody decided yet: its bond is still there.
    pub fn is_open(&self) -> bool {
        self.bond > Amount::ZERO
    }
}

crate::record! {
    /// A job under way, or over and not forgotten yet.
    pub struct Job {
        /// Its name: sha256(hash ‖ height, eight bytes, big-endian) (decision 128).
        pub id: Hash,
        /// The requester.
        pub submitter: Address,
        /// The height of the submission.
        pub submitted_at: Height,
        /// The time of that block.
        pub submitted_ms: TimestampMs,
        /// The job's status.
        pub status: JobStatus,
        /// When something happens to it without anybody asking: its place in the agenda.
        pub due: Height,
        /// When its status ends by itself.
        pub status_until: Height,
        /// CBY held for price and tip.
        pub escrow: Amount,
        /// CBY held for the callback.
        pub callback_held: Amount,
        /// Runners of the committee.
        pub committee: Count,
        /// Runners that must agree.
        pub threshold: Count,
        /// The root of the candidates' tree.
        pub candidates_root: Hash,
        /// How many candidates there were.
        pub candidates: Count,
        /// The epoch of the round whose seed draws; both zero where the submission's own beacon did.
        pub draw_epoch: Count,
        /// Its view.
        pub draw_view: Count,
        /// The seed of the first draw; zero before.
        pub seed: Hash,
        /// Draws after the first.
        pub attempt: Count,
        /// The members of the committee.
        pub members: List<Member, MAX_MEMBERS>,
        /// The committee before, where it disagreed and the one at work decides; nobody otherwise.
        pub earlier: List<Member, MAX_MEMBERS>,
        /// Who was drawn before and may not be again, ascending.
        pub excluded: List<Address, MAX_DRAWN>,
        /// Who was picked in the last draw and passed over, because all of its slots were taken.
        pub passed: List<Address, MAX_DRAWN>,
        /// Its place among the jobs that are drawn at the end of a block, or in the queue for runners with a free slot, while it waits there.
        pub queue_place: Count,
        /// The height at which it came to wait.
        pub queued_at: Height,
        /// What it pays for each block that it waits.
        pub queue_price: Amount,
        /// Who puts the results together; nobody where one runner works alone.
        pub aggregator: Option<Address>,
        /// Whether the aggregator did.
        pub is_aggregated: bool,
        /// Reports that the aggregator put together.
        pub aggregated: Count,
        /// Until when commitments are taken.
        pub commit_until: Height,
        /// From when members open their own, the aggregator having had its time.
        pub reveal_from: Height,
        /// Until when they may be opened.
        pub reveal_until: Height,
        /// Who committed and did not reveal, in any draw.
        pub absent: List<Absent, MAX_DRAWN>,
        /// Who delivered what was not accepted: paid with those whose result is accepted in a later draw and is the same, and for the work if the job
        /// ends without a result.
        pub delivered: List<Delivered, MAX_DRAWN>,
        /// The accepted result.
        pub outcome: Option<Outcome>,
        /// Why there is no result, in a word.
        pub reason: Text<64>,
        /// The claims against the result, in the order in which they came.
        pub claims: List<Challenge, MAX_CLAIMS>,
        /// When all claims end that nobody decided; zero before the first one.
        pub dispute_until: Height,
        /// Until when a proposal that decides one of them keeps them open; zero for none.
        pub vote_until: Height,
        /// Blocks that the challenge window had left when it came to stand still.
        pub window_left: Count,
        /// The job whose result this one checks; zero for none.
        pub retrial_of: Hash,
        /// When it was over, and the escrow gone.
        pub over_at: Height,
        /// Things that happened to it without anybody asking: numbers their receipts.
        pub steps: Count,
        /// When its last committee was drawn; zero before.
        pub drawn_at: Height,
        /// Blocks for which the market stood still, as far as the job's deadlines have moved with them.
        pub stood_still: Count,
    }
}

impl Job {
    /// Moves all deadlines by the blocks for which the market stood still since they were set or moved.
    pub fn catch_up(&mut self, stood_still: Count) {
        let blocks = stood_still.0.saturating_sub(self.stood_still.0);
        if blocks == 0 {
            return;
        }
        self.stood_still = stood_still;
        let absent = std::mem::take(&mut self.absent).into_vec();
        let moved = |height: Height| Height(height.0.saturating_add(blocks));
        let absent = absent.into_iter().map(|absent| Absent { due: moved(absent.due), ..absent });
        self.absent = List::new(absent.collect()).expect("as many fit");
        let deadlines = [
            &mut self.status_until,
            &mut self.queued_at,
            &mut self.drawn_at,
            &mut self.commit_until,
            &mut self.reveal_from,
            &mut self.reveal_until,
            &mut self.dispute_until,
            &mut self.vote_until,
        ];
        for deadline in deadlines.into_iter().filter(|deadline| **deadline != Height::ZERO) {
            *deadline = moved(*deadline);
        }
    }

    /// When all claims end that nobody decided: later where a proposal that decides one is under way.
    pub fn dispute_end(&self) -> Height {
        self.dispute_until.max(self.vote_until)
    }

    /// The members of both committees, those at work first.
    pub fn all_members(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().chain(self.earlier.iter())
    }
}

crate::record! {
    /// The committees of an epoch (003 §5.3), made at its first job.
    pub struct EpochCommittee {
        /// Which epoch: the height divided by the epoch's blocks.
        pub epoch: Count,
        /// Runners that were registered and healthy.
        pub runners: Count,
        /// The moving average of the concentration of their stakes, in 10^-12.
        pub concentration: u64,
        /// Runners of a committee.
        pub committee: Count,
        /// Runners that must agree.
        pub threshold: Count,
    }
}

crate::record! {
    /// The queue of jobs that wait for runners with a free slot. They are tried one after another, at most once in a block.
    pub struct WaitQueue {
        /// The place of the next job that comes to wait.
        pub next: Count,
        /// The place from which the current pass continues.
        pub cursor: Count,
        /// The height at which the last pass began.
        pub pass_at: Height,
        /// Whether a runner got a free slot since.
        pub is_freed: bool,
    }
}

crate::record! {
    /// The answers that wait to be delivered.
    pub struct CallbackBook {
        /// The next one's place.
        pub next: Count,
    }
}

crate::record! {
    /// What the market remembers of who asks for jobs, for runners that choose.
    pub struct Patron {
        /// Jobs it ever asked for.
        pub jobs: Count,
        /// Answers that its handler failed on (002 Security).
        pub failed_callbacks: Count,
    }
}
