//! How a job ends without a result: who is paid all the same, what goes back, and the reason (002 §6; 003 §8.4, Failure Handling).

use super::api::JobFailed;
use super::effects::Block;
use super::escrow::{burn, pay_out};
use super::members::release;
use super::payout::pay_each;
use super::record::finish;
use super::{callback, payment};
use crate::schema::Emit;
use crate::{market, treasury};
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Delivered, Job, JobSpec, JobStatus, Member, Verdict};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, List, Text};

/// Ends a job without a result: the escrow goes back, and the answer says why (002 §6; A-198).
pub(super) fn give_up(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, reason: &'static str) -> Result<(), Miss> {
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

/// Ends a job whose last committee has no majority either: whoever revealed gets the least fee.
pub(super) fn end_without_majority(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    let mut delivered = std::mem::take(&mut job.delivered).into_vec();
    let reported = job.all_members().filter(|member| member.fault > Count::ZERO).cloned();
    delivered.extend(reported.map(|member| Delivered { member, failed: Count::ZERO, price: Amount::ZERO, is_agreed: false }));
    job.delivered = List::new(delivered).expect("two committees fit");
    give_up(block, job, spec, "no_majority")
}

/// Enough runners could not do the work for the same reason outside them: they get a part, the rest goes back (003 Payment table).
pub(super) fn excuse(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, fault: u64) -> Result<(), Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    let cap = payment::part_of_each(spec.max_price, members.len());
    let reporting: Vec<usize> = (0..members.len()).filter(|place| members[*place].fault.0 == fault).collect();
    let mut progress: Vec<u64> = reporting.iter().map(|place| members[*place].progress.0.min(10_000)).collect();
    progress.sort_unstable();
    let median = progress[(progress.len() - 1) / 2];
    let least = Amount(block.params.jobs.minimum_fee).min(cap);
    // What one alone says nobody confirms: it would be paid for a claim more than for work (decision 586).
    let most = if reporting.len() > 1 { cap } else { least };
    let prices: Vec<Amount> = reporting
        .iter()
        .map(|place| match fault {
            market::FAULT_ACTOR => least,
            // A part of what the runner would have asked for all that the bounds allow, for the time that the chain saw it held.
            _ => {
                let member = &members[*place];
                let whole = payment::estimate(&member.rates, &spec.kind, &spec.bounds).min(cap);
                payment::share(whole, median.min(held(block.params, spec, member))).min(most)
            }
        })
        .collect();
    // What is left of the price: a job that waited for its runners paid for that.
    let price = job.escrow.saturating_sub(spec.tip);
    let split = payment::split(&block.params.jobs, price, Amount::ZERO, &prices, None);
    for (place, paid) in reporting.iter().zip(&split.runners) {
        members[*place].verdict = Verdict::Excused;
        members[*place].paid = *paid;
        pay_out(block.world, members[*place].runner, *paid)?;
    }
    for member in &members {
        release(block.world, member.runner, &job.id)?;
    }
    job.members = List::new(members).expect("a committee fits");
    free_results(job);
    pay_out(block.world, Address::system(treasury::NUMBER), split.treasury)?;
    burn(block.world, split.burned)?;
    let spent = split.runners.iter().fold(split.treasury.saturating_add(split.burned), |sum, paid| sum.saturating_add(*paid));
    job.escrow = job.escrow.checked_sub(spent).expect("a split is within the escrow");
    let reason = match fault {
        market::FAULT_ACTOR => "actor_fault",
        market::FAULT_EXTERNAL => "external_fault",
        _ => "impossible",
    };
    give_up(block, job, spec, reason)
}

/// Ends a job that nobody can do, because governance paused what it needs: nobody is at fault or earns by that, and the escrow goes back (decision 749).
pub(super) fn end_paused(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, reason: &'static str) -> Result<(), Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    for member in members.iter_mut().filter(|member| member.fault > Count::ZERO) {
        member.verdict = Verdict::Excused;
    }
    job.members = List::new(members).expect("a committee fits");
    free_results(job);
    give_up(block, job, spec, reason)
}

/// The few that delivered something all the same get the least fee: the submitter asked for no result that could not be had.
fn free_results(job: &mut Job) {
    let free = |one: Delivered| Delivered { price: Amount::ZERO, ..one };
    job.delivered = List::new(std::mem::take(&mut job.delivered).into_vec().into_iter().map(free).collect()).expect("as many fit");
}

/// For how much of the time that a job allows the chain saw a member held, until it committed, in hundredths of a percent.
fn held(params: &Params, spec: &JobSpec, member: &Member) -> u64 {
    let held_ms = u128::from(member.held.0) * u128::from(params.consensus.block_time);
    let part = (held_ms * 10_000).checked_div(u128::from(spec.bounds.wall_ms.0)).unwrap_or(0);
    u64::try_from(part.min(10_000)).expect("at most the whole")
}

/// Pays whoever delivered in any draw of a job that ends without a result: what the result would have cost where a quorum said the same,
/// else the least fee. What else the results would have cost is destroyed: they stand on the chain, so that a submitter which refuses
/// them all saves nothing (decision 323). Answers why the job ends, where it is at fault itself: nobody passed an objective check of its.
fn pay_delivered(world: &mut World, params: &Params, job: &mut Job, spec: &JobSpec) -> Result<Option<&'static str>, Miss> {
    let delivered = std::mem::take(&mut job.delivered).into_vec();
    let least = Amount(params.jobs.minimum_fee).min(payment::part_of_each(spec.max_price.min(job.escrow), delivered.len()));
    let fees: Vec<Amount> = delivered.iter().map(|one| if one.is_agreed { one.price.max(least) } else { least }).collect();
    let runners: Vec<Address> = delivered.iter().map(|one| one.member.runner).collect();
    let before = job.escrow;
    pay_each(world, params, job, spec, &runners, &fees)?;
    let price = delivered.iter().fold(Amount::ZERO, |sum, one| sum.saturating_add(one.price));
    let fees = before.saturating_sub(job.escrow);
    let rest = payment::share(price, params.jobs.refused_price).saturating_sub(fees).min(job.escrow.saturating_sub(spec.tip));
    burn(world, rest)?;
    job.escrow = job.escrow.saturating_sub(rest);
    Ok(delivered.iter().any(|one| one.failed > Count::ZERO).then_some("actor_fault"))
}
