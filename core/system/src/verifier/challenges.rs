//! Claims that an accepted result is dishonest (003 §5.3 steps 5 and 6; decision 98).
//!
//! A claim puts down a bond and stops the payout. A deterministic result is checked by doing the work again, with a fresh committee
//! that the challenger pays; every other claim is decided by governance. What is proven slashes; what is not loses the bond; what
//! nobody decides gives it back. The answer that was delivered stays delivered.

use super::NUMBER;
use crate::actor::{Context, announce};
use crate::dispatcher::{handlers as dispatcher, lifecycle, state as jobs};
use crate::reader::Reader;
use crate::runners::handlers as registry;
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::job::{Challenge, Job, JobSpec, JobStatus, Mode, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Abort, Address, Hash, List, Text, error};

const OWNER: Address = Address::system(NUMBER);

/// Challenge windows that a retrial may take before the claim lapses.
const RETRIAL_WINDOWS: u64 = 16;

fn invalid() -> Abort {
    error::INVALID_ARGUMENT
}

/// The job that a claim is about: verified, in its window, of a mode with a window, and with no claim yet.
fn challenged(context: &Context<'_>, reader: &Reader<'_>) -> Step<(Job, JobSpec)> {
    let id = reader.hash("job_id")?;
    let job = jobs::read(context.world, &id)?;
    let spec = jobs::spec(context.world, &id)?;
    let is_open = job.status == JobStatus::Verified
        && context.height < job.status_until
        && spec.verification.mode != Mode::None
        && job.challenge.is_none()
        && job.retrial_of == Hash::ZERO
        && context.value.0 == context.params.jobs.challenge_bond;
    if is_open { Ok((job, spec)) } else { Err(error::CHALLENGE_REFUSED.into()) }
}

pub(super) fn challenge(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let (mut job, _) = challenged(context, &reader)?;
    let runner = reader.address("runner")?;
    if !job.members.iter().any(|member| member.runner == runner && member.verdict == Verdict::Accepted) {
        return Err(error::CHALLENGE_REFUSED.into());
    }
    let until = Height(context.height.0.saturating_add(context.params.jobs.challenge_window));
    let claim = reader.bounded_text("claim")?;
    put_down(context, &mut job, runner, claim, Hash::ZERO, until)?;
    Ok(Value::Null)
}

pub(super) fn reproduce(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let (mut job, mut spec) = challenged(context, &reader)?;
    if spec.verification.mode != Mode::Deterministic {
        return Err(error::CHALLENGE_REFUSED.into());
    }
    spec.callback = None;
    spec.verification.runners = Count(context.params.jobs.committee_max);
    spec.verification.threshold = Count::ZERO;
    let retrial = dispatcher::submit(context, &spec, Some(&job))?;
    let window = context.params.jobs.challenge_window.saturating_mul(RETRIAL_WINDOWS);
    let until = Height(context.height.0.saturating_add(window));
    put_down(context, &mut job, Address::ZERO, Text::default(), retrial, until)?;
    Ok(Value::Bytes(retrial.0.to_vec()))
}

fn put_down(context: &mut Context<'_>, job: &mut Job, runner: Address, claim: Text<256>, retrial: Hash, until: Height) -> Step<()> {
    let (challenger, bond) = (context.sender, context.value);
    job.challenge = Some(Challenge { challenger, bond, runner, claim, at: context.height, retrial });
    job.status = JobStatus::Disputed;
    job.status_until = until;
    let due = lifecycle::next_height(job);
    jobs::write(context.world, job, due)?;
    let data = Value::map([
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("challenger", Value::Bytes(challenger.0.to_vec())),
        ("runner", Value::Bytes(runner.0.to_vec())),
        ("bond", Value::uint(bond.0)),
    ]);
    context.announce(NUMBER, "ResultChallenged", &data);
    Ok(())
}

pub(super) fn decide(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_governance()?;
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let id = reader.hash("job_id")?;
    let is_upheld = reader.flag("upheld")?;
    let mut job = jobs::read(context.world, &id)?;
    let is_open = job.status == JobStatus::Disputed && job.challenge.as_ref().is_some_and(|challenge| challenge.retrial == Hash::ZERO);
    if !is_open {
        return Err(error::WRONG_PHASE.into());
    }
    let spec = jobs::spec(context.world, &id)?;
    resolve(context.world, context.params, context.height, &mut job, &spec, is_upheld)?;
    let due = lifecycle::next_height(&job);
    jobs::write(context.world, &mut job, due)?;
    Ok(Value::Null)
}

/// Ends a claim. Upheld: who is accused is slashed and not paid, and the bond comes back. Not upheld: the bond is destroyed.
/// Either way the job is settled.
fn resolve(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec, is_upheld: bool) -> Result<(), Miss> {
    let claim = job.challenge.clone().expect("a disputed job has a claim");
    if is_upheld {
        let mut members = std::mem::take(&mut job.members).into_vec();
        // Doing the work again accuses everybody who agreed on the result.
        let is_accused = |runner: Address| claim.retrial != Hash::ZERO || runner == claim.runner;
        for member in members.iter_mut().filter(|member| member.verdict == Verdict::Accepted && is_accused(member.runner)) {
            member.verdict = Verdict::Dishonest;
            registry::slash(world, params, height, member.runner, params.jobs.dishonesty_slash, claim.challenger)?;
        }
        job.members = List::new(members).expect("as many members fit");
        return_bond(world, job)?;
    } else {
        let bond = take_bond(job);
        let was_there = world.debit(OWNER, bond)?;
        assert!(was_there, "the Verifier holds the bonds");
        world.burn(bond)?;
    }
    let data = Value::map([("job_id", Value::Bytes(job.id.0.to_vec())), ("upheld", Value::Bool(is_upheld))]);
    announce(world, NUMBER, "ChallengeResolved", &data);
    lifecycle::settle(world, params, height, job, spec)
}

fn take_bond(job: &mut Job) -> Amount {
    job.challenge.as_mut().map_or(Amount::ZERO, |claim| std::mem::take(&mut claim.bond))
}

fn return_bond(world: &mut World, job: &mut Job) -> Result<(), Miss> {
    let challenger = job.challenge.as_ref().map_or(Address::ZERO, |claim| claim.challenger);
    let bond = take_bond(job);
    let was_there = world.debit(OWNER, bond)?;
    assert!(was_there, "the Verifier holds the bonds");
    world.credit(challenger, bond)
}

/// Nobody decided: the bond comes back, and the runners are paid.
pub(crate) fn lapse(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    return_bond(world, job)?;
    lifecycle::settle(world, params, height, job, spec)
}

/// The work was done again: another result than the one that was accepted upholds the claim.
pub(crate) fn retrial_is_over(world: &mut World, params: &Params, height: Height, retrial: &Job) -> Result<(), Miss> {
    if retrial.retrial_of == Hash::ZERO {
        return Ok(());
    }
    let Some(mut job) = jobs::find(world, &retrial.retrial_of)? else { return Ok(()) };
    let is_waiting = job.status == JobStatus::Disputed && job.challenge.as_ref().is_some_and(|challenge| challenge.retrial == retrial.id);
    if !is_waiting {
        return Ok(());
    }
    let spec = jobs::spec(world, &job.id)?;
    match (&retrial.outcome, &job.outcome) {
        (Some(again), Some(first)) => {
            let is_upheld = again.output != first.output;
            resolve(world, params, height, &mut job, &spec, is_upheld)?;
        }
        // The work could not be done again: nothing is proven.
        _ => lapse(world, params, height, &mut job, &spec)?,
    }
    let due = lifecycle::next_height(&job);
    jobs::write(world, &mut job, due)
}
