//! The transitions of a job as one pure function: what an event changes of the job itself, and what is to be done then (002 §3, §6, §8; 003 §5.3;
//! decisions 400, 622).
//!
//! Nothing here reads or changes the state: [`super::lifecycle`] does the actions, in their order. What an action comes to can be an event again.

use super::record::{exclude, further_threshold, is_last};
use super::selection::two_thirds;
use crate::market::{FAULT_ACTOR, FAULT_EXTERNAL, FAULT_IMPOSSIBLE};
use cowboy_params::Jobs;
use cowboy_types::job::{Absent, Job, JobStatus, Member, Mode, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List};

/// What happened to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The block of its submission ends, and the job has its seed.
    Submitted,
    /// The seed of its draw is known.
    Seeded(Hash),
    /// It is its turn in the queue.
    Turn {
        /// Whether enough of its candidates have a free slot.
        is_free: bool,
    },
    /// Its committee was drawn.
    Drawn,
    /// Too few candidates for a committee are left.
    TooFew {
        /// Whether enough are left, and too few of them have a free slot.
        is_busy: bool,
    },
    /// Its secrets may be released to too few further runners.
    UsedUp,
    /// The queue has no room for it.
    QueueFull,
    /// The time of its status is over.
    Deadline,
    /// The results of its committee came to nothing.
    NoResult,
    /// The first committee has no simple majority either.
    NoMajority,
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
    /// The word for the pause of what the job needs that its committee met, where it met one.
    pub(super) pause: Option<&'static str>,
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
    /// Note that the pass through the queue has tried the job.
    NoteTried,
    /// Take the job out of the queue, for the price of the blocks that it waited.
    LeaveQueue,
    /// Take the job out of those that wait for a seed.
    LeaveDraws,
    /// Draw a committee.
    Draw,
    /// Put the job into the queue.
    EnterQueue,
    /// Judge what was revealed.
    Judge,
    /// Free the present committee of the job, and remove its results.
    Dismiss,
    /// Let the simple majority of the first committee decide, since the further one says nothing.
    FallBack,
    /// End the job: its last committee has no majority.
    EndWithoutMajority,
    /// End the job: its runners report this fault.
    Excuse(u64),
    /// End the job: a pause kept its runners from what it needs, as this reason says.
    EndPaused(&'static str),
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
    match event {
        Event::Submitted => vec![Action::Draw],
        Event::Seeded(seed) => {
            job.seed = seed;
            vec![Action::LeaveDraws, Action::Draw]
        }
        Event::Turn { is_free: true } => vec![Action::NoteTried, Action::LeaveQueue, Action::Draw],
        Event::Turn { is_free: false } => vec![Action::NoteTried],
        Event::Drawn => {
            fit_to_members(job);
            Vec::new()
        }
        // The further committee does not wait: the first has delivered already.
        Event::TooFew { .. } | Event::UsedUp if is_last(job) => vec![Action::FallBack],
        Event::UsedUp => vec![Action::GiveUp("copies_used_up")],
        Event::TooFew { is_busy: true } => vec![Action::EnterQueue],
        Event::TooFew { is_busy: false } => vec![Action::GiveUp("no_replacement_available")],
        Event::QueueFull => vec![Action::GiveUp("runners_busy")],
        Event::Deadline => after_deadline(job, rules),
        Event::NoResult => without_result(job, rules),
        Event::NoMajority => vec![Action::EndWithoutMajority],
    }
}

/// The time of a job's status is over.
fn after_deadline(job: &mut Job, rules: &Rules<'_>) -> Vec<Action> {
    match job.status {
        JobStatus::Waiting => vec![Action::LeaveQueue, Action::GiveUp("runners_busy")],
        JobStatus::Drawing => vec![Action::LeaveDraws, Action::GiveUp("no_seed")],
        JobStatus::Assigned => close_commitments(job, rules),
        JobStatus::Revealing => close_revelations(job, rules),
        JobStatus::Verified => vec![Action::Settle],
        JobStatus::Disputed => vec![Action::Lapse],
        JobStatus::Settled | JobStatus::Failed if job.absent.is_empty() && job.callback_held == Amount::ZERO => vec![Action::Forget],
        // Something of it is still under way: an answer waits, or a stake may be slashed.
        JobStatus::Settled | JobStatus::Failed => {
            job.status_until = rules.after(1);
            Vec::new()
        }
    }
}

/// A committee that is smaller than the job's has its part of the threshold. A simple majority of a further committee is enough.
fn fit_to_members(job: &mut Job) {
    let drawn = u64::try_from(job.members.len()).expect("committees are small");
    if is_last(job) {
        job.threshold = Count(further_threshold(job, drawn));
    } else if drawn < job.committee.0 {
        job.threshold = Count(job.threshold.0.min(two_thirds(drawn)).max(1));
    }
    job.committee = Count(drawn);
}

/// Commitments are over: whoever made none loses reputation, unless it met a pause, and is left out. If enough did they reveal, else others are drawn.
fn close_commitments(job: &mut Job, rules: &Rules<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut members = std::mem::take(&mut job.members).into_vec();
    for member in members.iter_mut().filter(|member| member.commitment == Hash::ZERO) {
        member.verdict = Verdict::TimedOut;
        actions.extend(rules.pause.is_none().then_some(Action::Blame(member.runner)));
        actions.push(Action::Release(member.runner));
        exclude(job, member.runner);
    }
    let committed = members.iter().filter(|member| member.commitment != Hash::ZERO).count();
    let is_enough = u64::try_from(committed).is_ok_and(|committed| committed >= job.threshold.0.max(rules.mode.least_runners()));
    let is_revealed = members.iter().all(|member| member.commitment == Hash::ZERO || member.output != Hash::ZERO);
    job.members = List::new(members).expect("a committee fits");
    match () {
        () if !is_enough && is_last(job) => actions.push(Action::FallBack),
        () if !is_enough => actions.extend(retry(job, rules)),
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
fn without_result(job: &mut Job, rules: &Rules<'_>) -> Vec<Action> {
    let threshold = usize::try_from(job.threshold.0).expect("committees are small").max(1);
    let count = |is_counted: &dyn Fn(u64, &Verdict) -> bool| {
        job.members.iter().filter(|member| is_counted(member.fault.0, &member.verdict)).count()
    };
    if let Some(fault) = (FAULT_ACTOR..=FAULT_IMPOSSIBLE).find(|fault| count(&|reported, _| reported == *fault) >= threshold) {
        let pause = rules.pause.filter(|_| fault == FAULT_EXTERNAL);
        return vec![pause.map_or(Action::Excuse(fault), Action::EndPaused)];
    }
    // The submitter's own check decides that there is no result: nobody else would do better.
    if count(&|_, verdict| *verdict == Verdict::Unfit) >= threshold {
        return vec![Action::GiveUp("checks_failed")];
    }
    if is_last(job) {
        return vec![Action::EndWithoutMajority];
    }
    if is_disagreement(job, rules.mode) {
        return ask_further(job, rules.rows);
    }
    for runner in job.members.iter().map(|member| member.runner).collect::<Vec<_>>() {
        exclude(job, runner);
    }
    retry(job, rules)
}

/// Whether enough members revealed something for a quorum, and none came of it: not their silence but their disagreement ends the draw.
fn is_disagreement(job: &Job, mode: &Mode) -> bool {
    let spoke = |member: &&Member| {
        let is_open = matches!(member.verdict, Verdict::Pending | Verdict::Differs | Verdict::Unfit);
        member.output != Hash::ZERO && is_open
    };
    let spoken = u64::try_from(job.members.iter().filter(spoke).count()).expect("committees are small");
    !mode.is_single() && spoken >= job.threshold.0
}

/// Draws again, without those who failed; gives up after `jobs.retries` further draws (002 §6), and at once where a pause kept the job from what it needs.
fn retry(job: &mut Job, rules: &Rules<'_>) -> Vec<Action> {
    if let Some(reason) = rules.pause {
        return vec![Action::EndPaused(reason)];
    }
    if job.attempt.0 >= rules.rows.retries {
        return vec![Action::Dismiss, Action::GiveUp("retries_exhausted")];
    }
    job.attempt = Count(job.attempt.0 + 1);
    vec![Action::Dismiss, Action::Draw]
}

/// One further committee decides between the results of the first, and it is the job's last (decision 309): twice as many runners and one, none of
/// the first.
fn ask_further(job: &mut Job, rows: &Jobs) -> Vec<Action> {
    let first = std::mem::take(&mut job.members);
    for member in first.iter() {
        exclude(job, member.runner);
    }
    let released = first.iter().map(|member| Action::Release(member.runner));
    let actions = released.chain([Action::Draw]).collect();
    job.committee = Count(further_size(rows, job.committee.0.max(1)));
    job.attempt = Count(job.attempt.0 + 1);
    job.earlier = first;
    actions
}

/// The runners of the further committee, where `first` were in the first.
pub(super) fn further_size(rows: &Jobs, first: u64) -> u64 {
    first.saturating_mul(2).saturating_add(1).min(rows.committee_max)
}

#[cfg(test)]
mod tests {
    use super::super::record::{member, submitted};
    use super::*;
    use cowboy_params::Params;
    use cowboy_types::units::TimestampMs;

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
        let members: Vec<Member> = (1..).zip(members).map(|(number, one)| did(number, *one)).collect();
        Job {
            status,
            committee: Count(u64::try_from(members.len()).expect("a few")),
            threshold: Count(2),
            members: List::new(members).expect("a few"),
            ..submitted(Hash([9; 32]), runner(0xAA), Height(900), TimestampMs(0), 100)
        }
    }

    fn after(job: &mut Job, event: Event) -> Vec<Action> {
        after_pause(job, event, None)
    }

    fn after_pause(job: &mut Job, event: Event, pause: Option<&'static str>) -> Vec<Action> {
        let params = Params::GENESIS;
        next(job, event, &Rules { mode: &Mode::MajorityVote, rows: &params.jobs, height: NOW, pause })
    }

    /// What each deadline asks for, one row each: the status, what the members did, the actions, and the status after it.
    #[test]
    fn deadlines() {
        use Did::{Commit, Crash, Nothing, Reveal};
        use JobStatus::{Assigned, Disputed, Drawing, Failed, Revealing, Settled, Verified, Waiting};
        let late = |number| [Action::Blame(runner(number)), Action::Release(runner(number))];
        let again = [Action::Dismiss, Action::Draw];
        let rows: Vec<(JobStatus, &[Did], Vec<Action>, JobStatus)> = vec![
            (Waiting, &[], vec![Action::LeaveQueue, Action::GiveUp("runners_busy")], Waiting),
            (Drawing, &[], vec![Action::LeaveDraws, Action::GiveUp("no_seed")], Drawing),
            (Assigned, &[Commit, Commit, Commit], vec![], Revealing),
            (Assigned, &[Commit, Commit, Commit, Nothing], late(4).to_vec(), Revealing),
            // As many as must agree are fewer than the mode needs.
            (Assigned, &[Commit, Commit, Nothing], [&late(3)[..], &again].concat(), Assigned),
            (Assigned, &[Commit, Nothing, Nothing], [&late(2)[..], &late(3), &again].concat(), Assigned),
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

    /// What the draws of a job ask for, one row each.
    #[test]
    fn draws() {
        let seed = Hash([7; 32]);
        let rows = [
            (Event::Submitted, vec![Action::Draw]),
            (Event::Seeded(seed), vec![Action::LeaveDraws, Action::Draw]),
            (Event::Turn { is_free: true }, vec![Action::NoteTried, Action::LeaveQueue, Action::Draw]),
            (Event::Turn { is_free: false }, vec![Action::NoteTried]),
            (Event::TooFew { is_busy: true }, vec![Action::EnterQueue]),
            (Event::TooFew { is_busy: false }, vec![Action::GiveUp("no_replacement_available")]),
            (Event::UsedUp, vec![Action::GiveUp("copies_used_up")]),
            (Event::QueueFull, vec![Action::GiveUp("runners_busy")]),
            (Event::NoMajority, vec![Action::EndWithoutMajority]),
        ];
        for (event, actions) in rows {
            let mut job = job(JobStatus::Drawing, &[]);
            assert_eq!(after(&mut job, event), actions, "{event:?}");
            assert_eq!(job.seed, if event == Event::Seeded(seed) { seed } else { Hash::ZERO }, "{event:?}");
        }
        for event in [Event::TooFew { is_busy: true }, Event::TooFew { is_busy: false }, Event::UsedUp] {
            let mut further = Job { earlier: job(JobStatus::Assigned, &[Did::Reveal]).members, ..job(JobStatus::Revealing, &[]) };
            assert_eq!(after(&mut further, event), [Action::FallBack], "the first committee decides");
        }
    }

    /// A job is drawn again as often as the parameter says. A further draw counts as one.
    #[test]
    fn retries_end() {
        let members = [Did::Reveal, Did::Nothing, Did::Nothing];
        let most = Params::GENESIS.jobs.retries;
        let mut last = Job { attempt: Count(most - 1), ..job(JobStatus::Revealing, &members) };
        assert_eq!(after(&mut last, Event::NoResult), [Action::Dismiss, Action::Draw]);
        assert_eq!(last.attempt, Count(most));
        assert_eq!(after(&mut last, Event::NoResult), [Action::Dismiss, Action::GiveUp("retries_exhausted")]);
        assert_eq!(last.attempt, Count(most), "no draw, no attempt");
    }

    /// How a committee without a result ends, in the order of precedence: the actions for a first committee, whom the job leaves out then, and the
    /// action for a further one.
    #[test]
    fn committees_without_a_result() {
        use Did::{Nothing, Report, Reveal, Unfit};
        let again = vec![Action::Dismiss, Action::Draw];
        let further: Vec<Action> = (1..=3).map(|number| Action::Release(runner(number))).chain([Action::Draw]).collect();
        let rows: Vec<(&[Did], Vec<Action>, usize, Action)> = vec![
            (&[Report(2), Report(2), Unfit], vec![Action::Excuse(2)], 0, Action::Excuse(2)),
            (&[Report(1), Unfit, Unfit], vec![Action::GiveUp("checks_failed")], 0, Action::GiveUp("checks_failed")),
            (&[Reveal, Reveal, Unfit], further.clone(), 3, Action::EndWithoutMajority),
            (&[Report(1), Report(2), Nothing], further, 3, Action::EndWithoutMajority),
            (&[Reveal, Nothing, Nothing], again, 3, Action::EndWithoutMajority),
        ];
        for (place, (members, first, excluded, last)) in rows.into_iter().enumerate() {
            let mut one = job(JobStatus::Revealing, members);
            let mut second = Job { earlier: one.members.clone(), ..job(JobStatus::Revealing, members) };
            assert_eq!(after(&mut one, Event::NoResult), first, "row {place}");
            assert_eq!(one.excluded.len(), excluded, "row {place}: who is left out");
            assert_eq!(after(&mut second, Event::NoResult), [last], "row {place}, of a further committee");
        }
    }

    /// Whoever met a pause of what the job needs is not blamed, and the job ends where its committee cannot do it.
    #[test]
    fn pauses() {
        use Did::{Commit, Nothing, Report, Reveal};
        use JobStatus::{Assigned, Revealing};
        let over = Action::EndPaused("secrets_paused");
        let rows: [(JobStatus, &[Did], Vec<Action>); 5] = [
            (Assigned, &[Nothing, Commit], vec![Action::Release(runner(1)), over.clone()]),
            (Assigned, &[Commit, Commit, Commit, Nothing], vec![Action::Release(runner(4))]),
            (Revealing, &[Report(2), Report(2), Reveal], vec![over.clone()]),
            (Revealing, &[Report(3), Report(3), Reveal], vec![Action::Excuse(3)]),
            (Revealing, &[Reveal, Nothing, Nothing], vec![over.clone()]),
        ];
        for (place, (status, members, expected)) in rows.into_iter().enumerate() {
            let event = if status == Assigned { Event::Deadline } else { Event::NoResult };
            assert_eq!(after_pause(&mut job(status, members), event, Some("secrets_paused")), expected, "row {place}");
        }
        let mut further = Job { earlier: job(Assigned, &[Reveal]).members, ..job(Revealing, &[Report(2), Report(2)]) };
        assert_eq!(after_pause(&mut further, Event::NoResult, Some("secrets_paused")), [over]);
    }

    /// The size of the further committee, and how many of it must agree: the same part as of the first, and never more than a simple majority.
    #[test]
    fn a_further_committee() {
        let rows = [(7, 4), (5, 3), (1, 1)];
        for (drawn, threshold) in rows {
            let mut job = job(JobStatus::Revealing, &[Did::Reveal, Did::Reveal, Did::Unfit]);
            after(&mut job, Event::NoResult);
            assert_eq!((job.committee, job.attempt, job.earlier.len(), job.members.len()), (Count(7), Count(1), 3, 0));
            job.members = List::new((11..).take(drawn).map(|number| did(number, Did::Nothing)).collect()).expect("a few");
            assert_eq!(after(&mut job, Event::Drawn), vec![]);
            assert_eq!((usize::try_from(job.committee.0), job.threshold), (Ok(drawn), Count(threshold)), "of {drawn}");
        }
        assert_eq!(further_size(&Params::GENESIS.jobs, u64::MAX), Params::GENESIS.jobs.committee_max);
    }

    /// A first committee that is smaller than the job asked for needs two thirds of it at most.
    #[test]
    fn a_smaller_committee() {
        let rows = [(5, 4, 4), (3, 4, 2), (3, 1, 1)];
        for (drawn, asked, threshold) in rows {
            let mut job = Job { committee: Count(5), threshold: Count(asked), ..job(JobStatus::Assigned, &vec![Did::Nothing; drawn]) };
            assert_eq!(after(&mut job, Event::Drawn), vec![]);
            assert_eq!((usize::try_from(job.committee.0), job.threshold), (Ok(drawn), Count(threshold)), "{drawn} of 5");
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
