//! What a runner does next with a job: a function of what the chain says and what the journal has.
//!
//! Nothing depends on what the runner did before, so that a start after a crash, a missed message and the ordinary course are one and
//! the same path.

use cowboy_api::model;
use cowboy_types::{Address, Hash, job};

/// What the chain says of a job, as far as one member's next step depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The status by name, like `assigned`.
    pub status: String,
    /// Draws before this one.
    pub attempt: u64,
    /// The committee, in the order of the draw.
    pub members: Vec<Member>,
    /// Who opens the commitments of all, where anyone does.
    pub aggregator: Option<Address>,
    /// The height before which commitments count.
    pub commit_until: u64,
    /// The height from which each member may reveal its own result.
    pub reveal_from: u64,
    /// The height before which revelations count.
    pub reveal_until: u64,
}

/// What the chain says of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The runner's address.
    pub runner: Address,
    /// The hash that it committed to; zero before.
    pub commitment: Hash,
    /// Whether it opened its commitment.
    pub has_revealed: bool,
    /// Whether the chain has decided about it already.
    pub is_out: bool,
}

impl View {
    /// Out of the API's answer.
    pub(crate) fn of(job: &model::Job) -> Self {
        let member = |member: &model::JobMember| Member {
            runner: member.runner.0,
            commitment: member.commitment.0,
            has_revealed: member.output.0 != Hash::ZERO,
            is_out: member.verdict != "pending",
        };
        Self {
            status: job.summary.status.clone(),
            attempt: job.attempt,
            members: job.members.iter().map(member).collect(),
            aggregator: job.aggregator.map(|runner| runner.0),
            commit_until: job.commit_until,
            reveal_from: job.reveal_from,
            reveal_until: job.reveal_until,
        }
    }

    /// The member of this address.
    pub(crate) fn member(&self, runner: &Address) -> Option<&Member> {
        self.members.iter().find(|member| member.runner == *runner)
    }

    /// Whether one runner works alone, and its result is its commitment.
    pub(crate) fn is_single(&self) -> bool {
        self.members.len() == 1
    }

    /// The members that committed and have not revealed.
    pub(crate) fn closed(&self) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(|member| member.commitment != Hash::ZERO && !member.has_revealed && !member.is_out)
    }

    /// Whether members may reveal themselves now.
    fn is_free(&self, height: u64) -> bool {
        let aggregator = self.aggregator.and_then(|aggregator| self.member(&aggregator));
        height.saturating_add(1) >= self.reveal_from
            || aggregator.is_none_or(|aggregator| aggregator.has_revealed || aggregator.commitment == Hash::ZERO)
    }
}

/// What a runner has for a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Own {
    /// Nothing yet.
    Nothing,
    /// It is at it.
    AtWork,
    /// The result, with the commitment to it.
    Result(Hash),
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Nothing now.
    Wait,
    /// Do the work.
    Execute,
    /// Say the result: the committee has one member.
    Submit,
    /// Commit to the result.
    Commit,
    /// Gather the others' revelations, and open all together.
    Aggregate,
    /// Give the revelation to the aggregator, and wait for it.
    Share,
    /// Open the commitment.
    Reveal,
    /// Say that the result is lost: a commitment stands that nobody can open any more.
    AttestCrash,
    /// There is nothing left to do, ever.
    Forget,
}

/// What this runner does next. `height` is that of the newest block: what is sent now arrives after it.
pub(crate) fn next(view: &View, runner: &Address, own: Own, height: u64) -> Step {
    let Some(member) = view.member(runner) else { return Step::Forget };
    match view.status.as_str() {
        "assigned" if member.is_out || height >= view.commit_until => Step::Wait,
        "assigned" if member.commitment != Hash::ZERO => Step::Wait,
        "assigned" => match own {
            Own::Nothing => Step::Execute,
            Own::AtWork => Step::Wait,
            Own::Result(_) if view.is_single() => Step::Submit,
            Own::Result(_) => Step::Commit,
        },
        "revealing" if member.is_out || member.has_revealed || member.commitment == Hash::ZERO || height >= view.reveal_until => Step::Wait,
        "revealing" => match own {
            Own::Result(commitment) if commitment == member.commitment => match () {
                () if view.aggregator == Some(*runner) => Step::Aggregate,
                () if view.is_free(height) => Step::Reveal,
                () => Step::Share,
            },
            _ => Step::AttestCrash,
        },
        _ => Step::Forget,
    }
}

/// Whether nobody can ask for the result of a job again, of which the chain says this status, or nothing. A node that is behind does not know a job yet,
/// or not as one of this runner: until then a job is over only where it ended. `longest` is the longest time of a job, in blocks.
pub(crate) fn is_over(status: Option<&str>, kept_at: u64, longest: u64, height: u64) -> bool {
    matches!(status, Some("verified" | "disputed" | "settled" | "failed")) || height >= kept_at.saturating_add(longest)
}

/// The salt of a runner's report: 32 bytes that follow from its key and from what they hide, and its address.
pub(crate) fn salt(secret: &[u8; 32], runner: &Address, job: &Hash, attempt: u64, report: &[u8]) -> [u8; job::SALT_BYTES] {
    let parts: [&[u8]; 5] = [b"cowboy-runner-salt:", secret, &job.0, &attempt.to_be_bytes(), report];
    job::salt(&cowboy_types::keccak256(&parts).0, runner)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Address = Address([1; 20]);
    const OTHER: Address = Address([2; 20]);
    const MINE: Hash = Hash([3; 32]);

    fn member(runner: Address, commitment: Hash, has_revealed: bool) -> Member {
        Member { runner, commitment, has_revealed, is_out: false }
    }

    fn view(status: &str, members: Vec<Member>) -> View {
        View { status: status.into(), attempt: 0, members, aggregator: Some(OTHER), commit_until: 10, reveal_from: 15, reveal_until: 70 }
    }

    /// Decision 686: a node that is behind says nothing of a job, or that others do it. The result stays, because its commitment may stand.
    #[test]
    fn results_outlast_a_node_that_is_behind() {
        for status in ["verified", "disputed", "settled", "failed"] {
            assert!(is_over(Some(status), 100, 50, 90), "{status}");
        }
        for status in [None, Some("drawing"), Some("waiting"), Some("assigned"), Some("revealing")] {
            let found = [90, 100, 149, 150].map(|height| is_over(status, 100, 50, height));
            assert_eq!(found, [false, false, false, true], "{status:?}");
        }
        assert!(!is_over(None, u64::MAX, 50, u64::MAX - 1), "a journal that names such a height breaks nothing");
    }

    /// what a runner does, status by status.
    #[test]
    fn the_next_step() {
        let alone = |commitment| vec![member(ME, commitment, false)];
        let two = |mine, other, other_revealed| vec![member(ME, mine, false), member(OTHER, other, other_revealed)];
        let theirs = Hash([4; 32]);
        let aggregating = View { aggregator: Some(ME), ..view("revealing", two(MINE, theirs, false)) };
        let revealed = view("revealing", vec![member(ME, MINE, true), member(OTHER, theirs, false)]);
        let mut out = view("assigned", two(Hash::ZERO, Hash::ZERO, false));
        out.members[0].is_out = true;
        let rows = [
            (view("assigned", alone(Hash::ZERO)), Own::Nothing, 5, Step::Execute),
            (view("assigned", alone(Hash::ZERO)), Own::AtWork, 5, Step::Wait),
            (view("assigned", alone(Hash::ZERO)), Own::Result(MINE), 5, Step::Submit),
            (view("assigned", alone(Hash::ZERO)), Own::Result(MINE), 10, Step::Wait),
            (view("assigned", two(Hash::ZERO, Hash::ZERO, false)), Own::Nothing, 5, Step::Execute),
            (view("assigned", two(Hash::ZERO, Hash::ZERO, false)), Own::Result(MINE), 5, Step::Commit),
            (view("assigned", two(MINE, Hash::ZERO, false)), Own::Result(MINE), 5, Step::Wait),
            (view("assigned", two(Hash::ZERO, Hash::ZERO, false)), Own::Result(MINE), 10, Step::Wait),
            (out, Own::Nothing, 5, Step::Wait),
            (view("revealing", two(MINE, theirs, false)), Own::Result(MINE), 12, Step::Share),
            (view("revealing", two(MINE, theirs, false)), Own::Result(MINE), 14, Step::Reveal),
            (view("revealing", two(MINE, theirs, true)), Own::Result(MINE), 12, Step::Reveal),
            (view("revealing", two(MINE, Hash::ZERO, false)), Own::Result(MINE), 12, Step::Reveal),
            (view("revealing", two(MINE, theirs, false)), Own::Result(MINE), 70, Step::Wait),
            (view("revealing", two(Hash::ZERO, theirs, false)), Own::Result(MINE), 12, Step::Wait),
            (view("revealing", two(MINE, theirs, false)), Own::Nothing, 12, Step::AttestCrash),
            (view("revealing", two(MINE, theirs, false)), Own::Result(theirs), 12, Step::AttestCrash),
            (aggregating, Own::Result(MINE), 12, Step::Aggregate),
            (revealed, Own::Result(MINE), 12, Step::Wait),
            (view("verified", two(MINE, theirs, true)), Own::Result(MINE), 20, Step::Forget),
            (view("failed", two(MINE, theirs, true)), Own::Result(MINE), 20, Step::Forget),
            (view("assigned", vec![member(OTHER, Hash::ZERO, false)]), Own::Nothing, 5, Step::Forget),
            (view("drawing", alone(Hash::ZERO)), Own::Nothing, 5, Step::Forget),
        ];
        for (number, (view, own, height, expected)) in rows.into_iter().enumerate() {
            assert_eq!(next(&view, &ME, own, height), expected, "row {number}: {} at {height} with {own:?}", view.status);
        }
    }
}
