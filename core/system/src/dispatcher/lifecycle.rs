//! What the chain does with a job by itself: draws, deadlines, decisions, payouts, refunds (002 §3, §6; 003 §5.3, STF step 4).
//!
//! A step finds the event that is due, asks `transitions` what follows, and does it. Nothing here fails: a step misses records and is
//! run again, or happens.

use super::api::NonRevealSlash;
use super::effects::Block;
use super::transitions::{Action, Event, Rules, next};
use super::{committee, decision, failure, judging, members, pauses, payout, selection, state, waiting};
use crate::runners::handlers as registry;
use crate::schema::Emit;
use cowboy_params::Weights;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Absent, Job, JobSpec, JobStatus, MAX_DRAWN};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash, List};
use std::collections::VecDeque;

/// What a step did, for its receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The job.
    pub job: Hash,
    /// The requester.
    pub submitter: Address,
    /// The number of the step, from 1.
    pub number: u64,
    /// What happened, in a word.
    pub name: &'static str,
    /// Modelled execution time of it, in ns.
    pub weight: u64,
}

/// Advances a job by one step. Returns what the step did, and the job with what it asked for, which the caller keeps; none where it is forgotten.
pub(crate) fn advance(block: &mut Block<'_>, id: &Hash) -> Result<(Step, Option<(Job, JobSpec)>), Miss> {
    let weights = &block.params.weights;
    let mut job = state::find(block.world, id)?.expect("the agenda lists jobs that are there");
    let spec = state::spec(block.world, id)?;
    let may_draw = matches!(job.status, JobStatus::Drawing | JobStatus::Waiting | JobStatus::Assigned | JobStatus::Revealing);
    job.steps = Count(job.steps.0 + 1);
    let mut step = Step { job: *id, submitter: job.submitter, number: job.steps.0, name: "wait", weight: weights.job_step };
    let is_decided = matches!(job.status, JobStatus::Assigned | JobStatus::Revealing) && job.status_until <= block.height;
    let judged = if is_decided { judging::weight(block.world, block.params, &job, &spec)? } else { 0 };
    let drawn = if may_draw { weights.draw.saturating_mul(job.candidates.0) } else { 0 };
    let (pause, looked) = if is_decided { pauses::since_draw(block.world, block.params, (&job, &spec), block.height)? } else { (None, 0) };
    step.weight = step.weight.saturating_add(judged).saturating_add(drawn).saturating_add(looked);
    if punish(block, &mut job)? {
        step.name = "slash";
    }
    if let Some(event) = due(block, &job)? {
        let name = perform(block, &mut job, &spec, (event, pause))?;
        if name == FORGET {
            return Ok((Step { name, ..step }, None));
        }
        step.name = if event == Event::Deadline { name } else { draw_step(&job) };
    }
    step.weight = step.weight.saturating_add(block.spent());
    if may_draw && !job.passed.is_empty() {
        step.weight = step.weight.saturating_add(looking(weights, &job));
    }
    Ok((step, Some((job, spec))))
}

/// Modelled execution time of the records of runners that a draw reads where some are busy, in ns.
fn looking(weights: &Weights, job: &Job) -> u64 {
    let most = u64::try_from(MAX_DRAWN).expect("a few committees").saturating_add(job.committee.0);
    weights.record.saturating_mul(job.candidates.0.min(most))
}

/// The event with which a job advances now, where there is one.
fn due(block: &mut Block<'_>, job: &Job) -> Result<Option<Event>, Miss> {
    if job.status == JobStatus::Drawing {
        // A job that has its seed from its submission on is drawn when its turn comes, and at the latest when its time is over.
        if job.seed != Hash::ZERO {
            state::take_draw(block.world, job)?;
            return Ok(Some(Event::Submitted));
        }
        if let Some(seed) = committee::round_seed(block.world, block.params, job)? {
            return Ok(Some(Event::Seeded(selection::seed(&seed.0, &job.id, job.submitted_at))));
        }
    }
    if job.status == JobStatus::Waiting && block.height < job.status_until {
        // Its agenda may wake it for something else: only its turn in the queue is a try.
        if waiting::next(block.world, block.height)? != Some(job.id) {
            return Ok(None);
        }
        return Ok(Some(Event::Turn { is_free: committee::is_free(block.world, job)? }));
    }
    Ok((job.status_until <= block.height).then_some(Event::Deadline))
}

/// The step after which nothing is left of a job.
const FORGET: &str = "forget";

/// Does what an event asks for, and what the events ask for to which that leads. Returns what happened, in a word.
fn perform(
    block: &mut Block<'_>,
    job: &mut Job,
    spec: &JobSpec,
    (event, pause): (Event, Option<&'static str>),
) -> Result<&'static str, Miss> {
    let rules = Rules { mode: &spec.verification.mode, rows: &block.params.jobs, height: block.height, pause };
    let mut actions = VecDeque::from(next(job, event, &rules));
    let mut name = if job.status == JobStatus::Revealing { "reveal" } else { "wait" };
    while let Some(action) = actions.pop_front() {
        let (word, event) = apply(block, job, spec, action)?;
        name = word.unwrap_or(name);
        if let Some(event) = event {
            actions.extend(next(job, event, &rules));
        }
    }
    Ok(name)
}

/// What an action did, in a word where it names the step, and the event to which it led.
type Applied = (Option<&'static str>, Option<Event>);

/// Does an action.
fn apply(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, action: Action) -> Result<Applied, Miss> {
    let (mut word, mut event) = (None, None);
    match action {
        Action::Blame(runner) => members::blame(block, runner)?,
        Action::Release(runner) => members::release(block.world, runner, &job.id)?,
        Action::NoteTried => waiting::note_tried(block.world, block.height, job)?,
        Action::LeaveQueue => waiting::leave(block, job, spec)?,
        Action::LeaveDraws => {
            state::draws().remove(block.world, &state::by_round(job.draw_epoch.0, job.draw_view.0, &job.id))?;
        }
        Action::Draw => (word, event) = (Some("retry"), Some(committee::draw(block, job, spec)?)),
        Action::EnterQueue => {
            let is_in = waiting::enter(block, job, spec)?;
            (word, event) = (Some("wait"), (!is_in).then_some(Event::QueueFull));
        }
        Action::Judge => (word, event) = (Some("verify"), decision::decide(block, job, spec)?),
        Action::Dismiss => dismiss(block.world, job)?,
        Action::FallBack => (word, event) = (Some("verify"), decision::fall_back(block, job, spec)?),
        Action::EndWithoutMajority => {
            failure::end_without_majority(block, job, spec)?;
            word = Some("fail");
        }
        Action::Excuse(fault) => {
            failure::excuse(block, job, spec, fault)?;
            word = Some("excuse");
        }
        Action::EndPaused(reason) => {
            failure::end_paused(block, job, spec, reason)?;
            word = Some("fail");
        }
        Action::GiveUp(reason) => {
            failure::give_up(block, job, spec, reason)?;
            word = Some("fail");
        }
        Action::Settle => {
            payout::settle(block.world, block.params, block.height, job, spec)?;
            word = Some("settle");
        }
        Action::Lapse => {
            block.note_lapse();
            word = Some("lapse");
        }
        Action::Forget => {
            forget(block.world, job)?;
            word = Some(FORGET);
        }
    }
    Ok((word, event))
}

/// What a draw came to, in a word.
fn draw_step(job: &Job) -> &'static str {
    if job.status == JobStatus::Waiting { "wait" } else { "draw" }
}

/// Slashes who committed, did not reveal, and attested no crash in time (003 §13). Answers whether anybody was.
fn punish(block: &mut Block<'_>, job: &mut Job) -> Result<bool, Miss> {
    let (due, waiting): (Vec<Absent>, Vec<Absent>) =
        std::mem::take(&mut job.absent).into_vec().into_iter().partition(|absent| absent.due <= block.height);
    job.absent = List::new(waiting).expect("fewer fit");
    for absent in &due {
        let share = block.params.jobs.non_reveal_slash;
        let slashed = registry::slash(block.world, block.params, block.height, absent.runner, share, job.submitter.into())?;
        NonRevealSlash { job_id: job.id, runner: absent.runner, amount: slashed.amount }.emit(block.world);
    }
    Ok(!due.is_empty())
}

/// Frees the committee at work, and removes what it revealed.
fn dismiss(world: &mut World, job: &mut Job) -> Result<(), Miss> {
    let dismissed = std::mem::take(&mut job.members).into_vec();
    for member in &dismissed {
        members::release(world, member.runner, &job.id)?;
    }
    let mut outputs: Vec<Hash> = dismissed.iter().map(|member| member.output).filter(|output| *output != Hash::ZERO).collect();
    outputs.sort_unstable();
    outputs.dedup();
    for output in outputs {
        state::output(world, &job.id, &output)?;
        world.remove(state::output_key(&job.id, &output));
    }
    Ok(())
}

/// Removes everything of a job that is over.
fn forget(world: &mut World, job: &Job) -> Result<(), Miss> {
    let mut keys = vec![state::spec_key(&job.id), state::candidates_key(&job.id)];
    let outputs = job.all_members().map(|member| member.output).chain(job.outcome.as_ref().map(|outcome| outcome.output));
    let mut outputs: Vec<Hash> = outputs.filter(|output| *output != Hash::ZERO).collect();
    outputs.sort_unstable();
    outputs.dedup();
    keys.extend(outputs.iter().map(|output| state::output_key(&job.id, output)));
    world.require(&keys)?;
    state::agenda().remove(world, &state::by_height(job.due, &job.id))?;
    state::jobs().remove(world, &state::by_height(job.submitted_at, &job.id))?;
    for key in keys {
        world.remove(key);
    }
    world.remove(state::job_key(&job.id));
    Ok(())
}
