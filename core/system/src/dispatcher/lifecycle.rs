//! What the chain does with a job by itself: draws, deadlines, decisions, payouts, refunds (002 §3, §6; 003 §5.3, STF step 4).
//!
//! Nothing here fails: a step misses records and is run again, or happens.

use super::api::{JobFailed, NonRevealSlash};
use super::committee::{blame, draw, emit_committee, release, round_seed, try_again};
use super::decision::decide;
use super::effects::Block;
use super::handlers::pay_out;
use super::payout::{excuse, pay_delivered, settle};
use super::transitions::{Action, Event, Rules, next};
use super::{callback, second, selection, state, waiting};
use crate::market::judge;
use crate::runners::handlers as registry;
use crate::schema::Emit;
use cowboy_params::{Params, Weights};
use cowboy_state::{Miss, World};
use cowboy_types::job::{Absent, Job, JobSpec, JobStatus, MAX_DRAWN, Member};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, List, Text};

/// The job with which something happens next, where anything does in this block.
///
/// Draws of this block's own jobs come first, in the order of their submissions: they happen after everything that could look at
/// them (decision 304).
pub fn next_due(world: &World, height: Height) -> Result<Option<Hash>, Miss> {
    if let Some(name) = state::immediate().list(world, &[], 1)?.first() {
        return Ok(Some(state::job_of(name)));
    }
    if let Some(newest) = world.newest_round()? {
        let waiting = state::draws().list(world, &[], 1)?;
        if let Some(name) = waiting.first()
            && (state::number_of(name), state::number_of(&name[8..])) <= newest
        {
            return Ok(Some(state::job_of(name)));
        }
    }
    let first = state::agenda().list(world, &[], 1)?;
    match first.first().filter(|name| state::number_of(name) <= height.0) {
        Some(name) => Ok(Some(state::job_of(name))),
        None => waiting::next(world, height),
    }
}

/// Counts a block in which the market stands still: no job advances, and all deadlines move by it (decision 320).
pub fn stand_still(world: &mut World, height: Height) -> Result<(), Miss> {
    let standstill = state::standstill(world)?.with(height);
    world.write(state::standstill_key(), &standstill);
    Ok(())
}

/// The height of the agenda's first entry, where there is one.
pub fn first_due(world: &World) -> Result<Option<Height>, Miss> {
    let first = state::agenda().list(world, &[], 1)?;
    Ok(first.first().map(|name| Height(state::number_of(name))))
}

/// Whether the next block may draw a committee: one waits for a seed, or for runners of which one got a free slot.
pub fn is_drawing(world: &World, height: Height) -> Result<bool, Miss> {
    Ok(state::draws().count(world)? > 0 || waiting::is_due(world, height)?)
}

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
    let judged = if is_decided { judging(block, &job, &spec)? } else { 0 };
    let drawn = if may_draw { weights.draw.saturating_mul(job.candidates.0) } else { 0 };
    step.weight = step.weight.saturating_add(judged).saturating_add(drawn);
    if punish(block, &mut job)? {
        step.name = "slash";
    }
    let is_immediate = job.status == JobStatus::Drawing && state::take_draw(block.world, id)?;
    let seed = if job.status == JobStatus::Drawing && !is_immediate { round_seed(block.world, block.params, &job)? } else { None };
    if is_immediate {
        let seed = job.seed;
        draw(block, &mut job, &spec, seed)?;
        emit_committee(block.world, &job);
        step.name = draw_step(&job);
    } else if let Some(seed) = seed {
        state::draws().remove(block.world, &state::by_round(job.draw_epoch.0, job.draw_view.0, id))?;
        let seed = selection::seed(&seed.0, id, job.submitted_at);
        draw(block, &mut job, &spec, seed)?;
        emit_committee(block.world, &job);
        step.name = draw_step(&job);
    } else if job.status == JobStatus::Waiting && block.height < job.status_until {
        // Its agenda may wake it for something else: only its turn in the queue is a try.
        if waiting::next(block.world, block.height)? == Some(*id) {
            step.name = try_again(block, &mut job, &spec)?;
        }
    } else if job.status_until <= block.height {
        let rules = Rules { mode: &spec.verification.mode, rows: &block.params.jobs, height: block.height };
        let actions = next(&mut job, Event::Deadline, &rules);
        step.name = perform(block, &mut job, &spec, actions)?;
        if step.name == FORGET {
            return Ok((step, None));
        }
    }
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

/// The step after which nothing is left of a job.
const FORGET: &str = "forget";

/// Does what a transition asks for, in its order. Returns what happened, in a word.
pub(super) fn perform(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, actions: Vec<Action>) -> Result<&'static str, Miss> {
    let mut name = if job.status == JobStatus::Revealing { "reveal" } else { "wait" };
    for action in actions {
        name = match action {
            Action::Blame(runner) => blame(block, runner).map(|()| name),
            Action::Release(runner) => release(block.world, runner, &job.id).map(|()| name),
            Action::LeaveQueue => waiting::leave(block, job, spec).map(|()| name),
            Action::LeaveDraws => {
                let round = state::by_round(job.draw_epoch.0, job.draw_view.0, &job.id);
                state::draws().remove(block.world, &round).map(|_| name)
            }
            Action::Judge => decide(block, job, spec),
            Action::Retry => retry(block, job, spec),
            Action::AskFurther => second::ask(block, job, spec),
            Action::FallBack => second::fall_back(block, job, spec),
            Action::EndWithoutMajority => second::end(block, job, spec),
            Action::Excuse(fault) => excuse(block, job, spec, fault).map(|()| "excuse"),
            Action::GiveUp(reason) => give_up(block, job, spec, reason).map(|()| "fail"),
            Action::Settle => settle(block.world, block.params, block.height, job, spec).map(|()| "settle"),
            Action::Lapse => {
                block.note_lapse();
                Ok("lapse")
            }
            Action::Forget => forget(block.world, job).map(|()| FORGET),
        }?;
    }
    Ok(name)
}

/// What a draw came to, in a word.
fn draw_step(job: &Job) -> &'static str {
    if job.status == JobStatus::Waiting { "wait" } else { "draw" }
}

/// Modelled execution time of judging the results of both committees, in ns: by their bytes, and what the job's checks compare.
fn judging(block: &Block<'_>, job: &Job, spec: &JobSpec) -> Result<u64, Miss> {
    let revealed = job.all_members().filter(|member| member.output != Hash::ZERO);
    let mut bytes: u64 = 0;
    for member in revealed {
        let output = state::output(block.world, &job.id, &member.output)?;
        bytes = bytes.saturating_add(u64::try_from(output.len()).unwrap_or(u64::MAX));
    }
    Ok(judge::weight(&block.params.weights, spec, bytes))
}

/// When something happens to a job next.
pub(crate) fn next_height(job: &Job) -> Height {
    job.absent.iter().map(|absent| absent.due).fold(job.status_until, Height::min)
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

pub(super) fn finish(params: &Params, height: Height, job: &mut Job, status: JobStatus) {
    job.status = status;
    job.over_at = height;
    job.status_until = Height(height.0.saturating_add(params.jobs.retention));
}

/// Draws again, without those who failed; gives up after `jobs.retries` draws (002 §6).
pub(super) fn retry(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let members = std::mem::take(&mut job.members).into_vec();
    for member in &members {
        release(block.world, member.runner, &job.id)?;
    }
    remove_outputs(block.world, &job.id, &members)?;
    if job.attempt.0 >= block.params.jobs.retries {
        give_up(block, job, spec, "retries_exhausted")?;
        return Ok("fail");
    }
    job.attempt = Count(job.attempt.0 + 1);
    let seed = job.seed;
    draw(block, job, spec, seed)?;
    emit_committee(block.world, job);
    Ok(match job.status {
        JobStatus::Failed => "fail",
        JobStatus::Waiting => "wait",
        _ => "retry",
    })
}

/// Ends a job without a result: the escrow goes back, and the answer says why (002 §6; A-198).
pub(crate) fn give_up(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, reason: &'static str) -> Result<(), Miss> {
    for runner in job.members.iter().map(|member| member.runner).collect::<Vec<_>>() {
        release(block.world, runner, &job.id)?;
    }
    let reason = pay_delivered(block.world, block.params, job, spec)?.unwrap_or(reason);
    let refund = std::mem::take(&mut job.escrow);
    pay_out(block.world, job.submitter, refund)?;
    job.reason = Text::new(reason).expect("reasons are short");
    JobFailed { job_id: job.id, reason: job.reason.clone(), attempts: Count(job.attempt.0 + 1), refunded: refund }.emit(block.world);
    callback::queue(block.world, job, spec)?;
    finish(block.params, block.height, job, JobStatus::Failed);
    block.note_end(job, spec);
    Ok(())
}

/// Removes what members revealed.
fn remove_outputs(world: &mut World, id: &Hash, members: &[Member]) -> Result<(), Miss> {
    let mut outputs: Vec<Hash> = members.iter().map(|member| member.output).filter(|output| *output != Hash::ZERO).collect();
    outputs.sort_unstable();
    outputs.dedup();
    for output in outputs {
        state::output(world, id, &output)?;
        world.remove(state::output_key(id, &output));
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
