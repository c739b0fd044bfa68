//! The transitions of a job as pure functions: what a deadline, or a committee without a result, changes of the job itself, and what is to be
//! done then (002 §3, §6, §8; 003 §5.3).
//!
//! Nothing here reads or changes the state: [`super::lifecycle`] does the actions, in their order.

use super::second::{is_disagreement, is_last};
use crate::market::{FAULT_ACTOR, FAULT_IMPOSSIBLE};
use cowboy_params::Jobs;
use cowboy_types::job::{Absent, Job, JobStatus, Mode, Verdict};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, List};

/// What happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The time of its status is over.
    Deadline,
    /// The results of its committee came to nothing.
    NoResult,
}

/// By what a transition is decided beside the job.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// How the job's results are verified.
    pub(super) mode: &'a Mode,
    /// The block's parameters.
    pub(super) rows: &'a Jobs,
    /// The block's height.
    pub(super) height: Height,
}

impl Rules<'_> {
    /// The height `blocks` after this one.
    fn after(&self, blocks: u64) -> Height {
        Height(self.height.0.saturating_add(blocks))
    }
}

/// What a transition asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Book a failure of a runner.
    Blame(Address),
    /// Free a runner of the job.
    Release(Address),
    /// Take the job out of the queue, for the price of the blocks that it waited.
    LeaveQueue,
    /// Take the job out of those that wait for a seed.
    LeaveDraws,
    /// Judge what was revealed.
    Judge,
    /// Draw another committee in the place of the present one.
    Retry,
    /// Draw a further committee, which decides between the results of the first.
    AskFurther,
    /// Let the simple majority of the first committee decide, since the further one says nothing.
    FallBack,
    /// End the job: its last committee has no majority.
    EndWithoutMajority,
    /// End the job: its runners report this fault.
    Excuse(u64),
    /// End the job for this reason.
    GiveUp(&'static str),
    /// Pay the runners.
    Settle,
    /// End the claims that nobody decided.
    Lapse,
    /// Remove the job.
    Forget,
}

/// What becomes of a job after an event: its own fields are changed, and the actions are left to do.
pub(super) fn next(job: &mut Job, event: Event, rules: &Rules<'_>) -> Vec<Action> {
    match (event, &job.status) {
        (Event::NoResult, _) => vec![without_result(job, rules)],
        (Event::Deadline, JobStatus::Waiting) => vec![Action::LeaveQueue, Action::GiveUp("runners_busy")],
        (Event::Deadline, JobStatus::Drawing) => vec![Action::LeaveDraws, Action::GiveUp("no_seed")],
        (Event::Deadline, JobStatus::Assigned) => close_commitments(job, rules),
        (Event::Deadline, JobStatus::Revealing) => close_revelations(job, rules),
        (Event::Deadline, JobStatus::Verified) => vec![Action::Settle],
        (Event::Deadline, JobStatus::Disputed) => vec![Action::Lapse],
        (Event::Deadline, JobStatus::Settled | JobStatus::Failed) if job.absent.is_empty() && job.callback_held == Amount::ZERO => {
            vec![Action::Forget]
        }
        // Something of it is still under way: an answer waits, or a stake may be slashed.
        (Event::Deadline, JobStatus::Settled | JobStatus::Failed) => {
            job.status_until = rules.after(1);
            Vec::new()
        }
    }
}

/// Commitments are over: whoever made none loses reputation and is left out. If enough did they reveal, else others are drawn.
fn close_commitments(job: &mut Job, rules: &Rules<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut members = std::mem::take(&mut job.members).into_vec();
    for member in members.iter_mut().filter(|member| member.commitment == Hash::ZERO) {
        member.verdict = Verdict::TimedOut;
        actions.extend([Action::Blame(member.runner), Action::Release(member.runner)]);
        exclude(job, member.runner);
    }
    let committed = members.iter().filter(|member| member.commitment != Hash::ZERO).count();
    let is_enough = u64::try_from(committed).is_ok_and(|committed| committed >= job.threshold.0.max(rules.mode.least_runners()));
    let is_revealed = members.iter().all(|member| member.commitment == Hash::ZERO || member.output != Hash::ZERO);
    job.members = List::new(members).expect("a committee fits");
    match () {
        () if !is_enough => actions.push(if is_last(job) { Action::FallBack } else { Action::Retry }),
        () if is_revealed => actions.push(Action::Judge),
        () => {
            job.status = JobStatus::Revealing;
            job.reveal_from = rules.after(rules.rows.aggregator_timeout);
            job.reveal_until = rules.after(rules.rows.reveal_window);
            job.status_until = job.reveal_until;
        }
    }
    actions
}

/// Revelations are over: whoever committed and did not reveal may still attest a crash, or is slashed.
fn close_revelations(job: &mut Job, rules: &Rules<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut members = std::mem::take(&mut job.members).into_vec();
    let mut absent = std::mem::take(&mut job.absent).into_vec();
    for member in members.iter_mut().filter(|member| member.commitment != Hash::ZERO && member.output == Hash::ZERO) {
        member.verdict = Verdict::Unrevealed;
        exclude(job, member.runner);
        if member.is_crashed {
            actions.push(Action::Blame(member.runner));
        } else {
            absent.push(Absent { runner: member.runner, due: rules.after(rules.rows.crash_window) });
        }
    }
    job.members = List::new(members).expect("a committee fits");
    job.absent = List::new(absent).expect("a few committees fit");
    actions.push(Action::Judge);
    actions
}

/// How a job continues whose committee was judged, and has no result.
fn without_result(job: &mut Job, rules: &Rules<'_>) -> Action {
    let threshold = usize::try_from(job.threshold.0).expect("committees are small").max(1);
    let count = |is_counted: &dyn Fn(u64, &Verdict) -> bool| {
        job.members.iter().filter(|member| is_counted(member.fault.0, &member.verdict)).count()
    };
    if let Some(fault) = (FAULT_ACTOR..=FAULT_IMPOSSIBLE).find(|fault| count(&|reported, _| reported == *fault) >= threshold) {
        return Action::Excuse(fault);
    }
    // The submitter's own check decides that there is no result: nobody else would do better.
    if count(&|_, verdict| *verdict == Verdict::Unfit) >= threshold {
        return Action::GiveUp("checks_failed");
    }
    if is_last(job) {
        return Action::EndWithoutMajority;
    }
    if is_disagreement(job, rules.mode) {
        return Action::AskFurther;
    }
    for runner in job.members.iter().map(|member| member.runner).collect::<Vec<_>>() {
        exclude(job, runner);
    }
    Action::Retry
}

/// Leaves a runner out of later draws.
pub(super) fn exclude(job: &mut Job, runner: Address) {
    let mut excluded = std::mem::take(&mut job.excluded).into_vec();
    if let Err(place) = excluded.binary_search(&runner) {
        excluded.insert(place, runner);
    }
    job.excluded = List::new(excluded).expect("a few committees fit");
}

#[cfg(test)]
mod tests {
    use super::super::committee::member;
    use super::super::handlers::submitted;
    use super::*;
    use cowboy_params::Params;
    use cowboy_types::job::Member;
    use cowboy_types::units::{Count, TimestampMs};

    const NOW: Height = Height(1_000);

    fn runner(number: u8) -> Address {
        Address([number; 20])
    }

    /// What a member did.
    #[derive(Clone, Copy)]
    enum Did {
        Nothing,
        Commit,
        Crash,
        Reveal,
        Report(u64),
        Unfit,
    }

    fn did(number: u8, did: Did) -> Member {
        let mut member = member(runner(number), 100, None);
        if !matches!(did, Did::Nothing) {
            member.commitment = Hash([1; 32]);
        }
        if matches!(did, Did::Reveal | Did::Report(_) | Did::Unfit) {
            member.output = Hash([2; 32]);
        }
        member.is_crashed = matches!(did, Did::Crash);
        member.fault = Count(if let Did::Report(fault) = did { fault } else { 0 });
        member.verdict = if matches!(did, Did::Unfit) { Verdict::Unfit } else { Verdict::Pending };
        member
    }

    fn job(status: JobStatus, members: &[Did]) -> Job {
        let members = (1..).zip(members).map(|(number, one)| did(number, *one)).collect();
        Job {
            status,
            threshold: Count(2),
            members: List::new(members).expect("a few"),
            ..submitted(Hash([9; 32]), runner(0xAA), Height(900), TimestampMs(0), 100)
        }
    }

    fn after(job: &mut Job, event: Event) -> Vec<Action> {
        let params = Params::GENESIS;
        next(job, event, &Rules { mode: &Mode::MajorityVote, rows: &params.jobs, height: NOW })
    }

    /// What each deadline asks for, one row each: the status, what the members did, the actions, and the status after it.
    #[test]
    fn deadlines() {
        use Did::{Commit, Crash, Nothing, Reveal};
        use JobStatus::{Assigned, Disputed, Drawing, Failed, Revealing, Settled, Verified, Waiting};
        let late = |number| [Action::Blame(runner(number)), Action::Release(runner(number))];
        let rows: Vec<(JobStatus, &[Did], Vec<Action>, JobStatus)> = vec![
            (Waiting, &[], vec![Action::LeaveQueue, Action::GiveUp("runners_busy")], Waiting),
            (Drawing, &[], vec![Action::LeaveDraws, Action::GiveUp("no_seed")], Drawing),
            (Assigned, &[Commit, Commit, Commit], vec![], Revealing),
            (Assigned, &[Commit, Commit, Commit, Nothing], late(4).to_vec(), Revealing),
            // As many as must agree are fewer than the mode needs.
            (Assigned, &[Commit, Commit, Nothing], [&late(3)[..], &[Action::Retry]].concat(), Assigned),
            (Assigned, &[Commit, Nothing, Nothing], [&late(2)[..], &late(3), &[Action::Retry]].concat(), Assigned),
            (Assigned, &[Reveal, Reveal, Reveal, Nothing], [&late(4)[..], &[Action::Judge]].concat(), Assigned),
            (Revealing, &[Reveal, Reveal, Reveal], vec![Action::Judge], Revealing),
            (Revealing, &[Reveal, Reveal, Crash], vec![Action::Blame(runner(3)), Action::Judge], Revealing),
            (Revealing, &[Reveal, Reveal, Commit], vec![Action::Judge], Revealing),
            (Verified, &[], vec![Action::Settle], Verified),
            (Disputed, &[], vec![Action::Lapse], Disputed),
            (Settled, &[], vec![Action::Forget], Settled),
            (Failed, &[], vec![Action::Forget], Failed),
        ];
        for (place, (status, members, actions, then)) in rows.into_iter().enumerate() {
            let mut job = job(status, members);
            assert_eq!((after(&mut job, Event::Deadline), job.status), (actions, then), "row {place}");
        }
    }

    /// Whoever commits and keeps its result back is noted as absent; what is noted, or an answer that waits, keeps a job.
    #[test]
    fn what_is_under_way_keeps_a_job() {
        let mut silent = job(JobStatus::Revealing, &[Did::Reveal, Did::Reveal, Did::Commit]);
        after(&mut silent, Event::Deadline);
        let due = Height(NOW.0 + Params::GENESIS.jobs.crash_window);
        assert_eq!(silent.absent.to_vec(), [Absent { runner: runner(3), due }]);
        assert_eq!((silent.excluded.to_vec(), &silent.members[2].verdict), (vec![runner(3)], &Verdict::Unrevealed));
        silent.status = JobStatus::Settled;
        assert_eq!((after(&mut silent, Event::Deadline), silent.status_until), (vec![], NOW.next()));
        let mut answered = Job { callback_held: Amount(1), ..job(JobStatus::Failed, &[]) };
        assert_eq!((after(&mut answered, Event::Deadline), answered.status_until), (vec![], NOW.next()));
    }

    /// How a committee without a result ends, in the order of precedence.
    #[test]
    fn committees_without_a_result() {
        use Did::{Nothing, Report, Reveal, Unfit};
        let rows: Vec<(&[Did], Action, Action)> = vec![
            (&[Report(2), Report(2), Unfit], Action::Excuse(2), Action::Excuse(2)),
            (&[Report(1), Unfit, Unfit], Action::GiveUp("checks_failed"), Action::GiveUp("checks_failed")),
            (&[Reveal, Reveal, Unfit], Action::AskFurther, Action::EndWithoutMajority),
            (&[Report(1), Report(2), Nothing], Action::AskFurther, Action::EndWithoutMajority),
            (&[Reveal, Nothing, Nothing], Action::Retry, Action::EndWithoutMajority),
        ];
        for (place, (members, first, last)) in rows.into_iter().enumerate() {
            let mut one = job(JobStatus::Revealing, members);
            assert_eq!(after(&mut one, Event::NoResult), std::slice::from_ref(&first), "row {place}");
            assert_eq!(one.excluded.len(), if first == Action::Retry { 3 } else { 0 }, "row {place}: who is left out");
            let mut second = Job { earlier: one.members.clone(), ..job(JobStatus::Revealing, members) };
            assert_eq!(after(&mut second, Event::NoResult), [last], "row {place}, of a further committee");
        }
    }

    /// A further committee that does not commit leaves the decision to the first.
    #[test]
    fn a_silent_further_committee() {
        let members = [Did::Nothing, Did::Nothing, Did::Nothing];
        let mut second = Job { earlier: job(JobStatus::Assigned, &members).members, ..job(JobStatus::Assigned, &members) };
        assert_eq!(after(&mut second, Event::Deadline).last(), Some(&Action::FallBack));
    }
}
