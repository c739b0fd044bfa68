//! Who is paid what of a job's escrow (003 §8.4, Payment and Failure Handling).

use super::api::JobSettled;
use super::committee::release;
use super::decision::change_members;
use super::effects::Block;
use super::handlers::pay_out;
use super::lifecycle::{finish, give_up};
use super::{NUMBER, payment};
use crate::schema::Emit;
use crate::{market, treasury};
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Delivered, Job, JobSpec, JobStatus, MAX_MEMBERS, Member, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List};

/// Takes out of a job, where a result is accepted, whoever delivered the same bytes in an earlier draw, in which too few others did: it agrees with that
/// result (decision 595). As many as the job's record holds beside its committees.
pub(super) fn take_agreeing(job: &mut Job) -> Vec<Member> {
    let accepted: Vec<Hash> = job.all_members().filter(|member| member.verdict == Verdict::Accepted).map(|member| member.output).collect();
    let present: Vec<Address> = job.all_members().map(|member| member.runner).collect();
    let agrees = |one: &Delivered| {
        let is_good = one.failed == Count::ZERO && one.member.verdict == Verdict::Differs;
        is_good && accepted.contains(&one.member.output) && !present.contains(&one.member.runner)
    };
    let (same, rest): (Vec<Delivered>, Vec<Delivered>) = std::mem::take(&mut job.delivered).into_vec().into_iter().partition(agrees);
    job.delivered = List::new(rest).expect("fewer fit");
    let room = MAX_MEMBERS.saturating_sub(job.earlier.len());
    same.into_iter().take(room).map(|one| Member { verdict: Verdict::Accepted, ..one.member }).collect()
}

/// Pays the least fee for results that failed only the submitter's own checks, where others were accepted.
pub(super) fn pay_unfit(world: &mut World, params: &Params, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    job.delivered = List::default();
    let runners: Vec<Address> = job.all_members().filter(|member| member.verdict == Verdict::Unfit).map(|member| member.runner).collect();
    let each = Amount(params.jobs.minimum_fee).min(payment::part_of_each(spec.max_price, job.all_members().count()));
    pay_each(world, params, job, spec, &runners, &vec![each; runners.len()])
}

/// Notes with its members what runners of a job were paid.
fn note_paid(job: &mut Job, runners: &[Address], paid: &[Amount]) -> Result<(), Miss> {
    change_members(job, |members| {
        for (runner, amount) in runners.iter().zip(paid) {
            if let Some(member) = members.iter_mut().find(|member| member.runner == *runner) {
                member.paid = *amount;
            }
        }
        Ok(())
    })
}

/// Pays some runners a price each out of a job's escrow but its tip, at once, and notes it with its members: 89% to them, the rest as
/// always.
fn pay_each(world: &mut World, params: &Params, job: &mut Job, spec: &JobSpec, runners: &[Address], prices: &[Amount]) -> Result<(), Miss> {
    let tip = spec.tip.min(job.escrow);
    let split = payment::split(&params.jobs, job.escrow.saturating_sub(tip), Amount::ZERO, prices, None);
    for (runner, paid) in runners.iter().zip(&split.runners) {
        pay_out(world, *runner, *paid)?;
    }
    pay_out(world, Address::system(treasury::NUMBER), split.treasury)?;
    burn(world, split.burned)?;
    job.escrow = split.refund.saturating_add(tip);
    note_paid(job, runners, &split.runners)
}

/// Pays whoever delivered in any draw of a job that ends without a result: what the result would have cost where a quorum said the same,
/// else the least fee. What else the results would have cost is destroyed: they stand on the chain, so that a submitter which refuses
/// them all saves nothing (decision 323). Answers why the job ends, where it is at fault itself: nobody passed an objective check of its.
pub(super) fn pay_delivered(world: &mut World, params: &Params, job: &mut Job, spec: &JobSpec) -> Result<Option<&'static str>, Miss> {
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
    // The few that delivered something all the same get their fee: the submitter asked for no result that could not be had.
    let free = |one: Delivered| Delivered { price: Amount::ZERO, ..one };
    job.delivered = List::new(std::mem::take(&mut job.delivered).into_vec().into_iter().map(free).collect()).expect("as many fit");
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

/// For how much of the time that a job allows the chain saw a member held, until it committed, in hundredths of a percent.
fn held(params: &Params, spec: &JobSpec, member: &Member) -> u64 {
    let held_ms = u128::from(member.held.0) * u128::from(params.consensus.block_time);
    let part = (held_ms * 10_000).checked_div(u128::from(spec.bounds.wall_ms.0)).unwrap_or(0);
    u64::try_from(part.min(10_000)).expect("at most the whole")
}

/// Destroys CBY that the Dispatcher holds.
pub(super) fn burn(world: &mut World, amount: Amount) -> Result<(), Miss> {
    let was_there = world.debit(Address::system(NUMBER), amount)?;
    assert!(was_there, "the Dispatcher holds what its jobs do");
    world.burn(amount)
}

/// Pays a verified job: 89% to the runners, 10% destroyed, 1% to the treasury, the rest of the escrow back (003 §8.4).
pub(crate) fn settle(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    let outcome = job.outcome.clone().expect("a verified job has an outcome");
    let mut left = job.escrow;
    let mut take = |amount: Amount| {
        left = left.checked_sub(amount).expect("a split is within the escrow");
        amount
    };
    let honest: Vec<(Address, Amount)> =
        job.all_members().filter(|member| member.verdict == Verdict::Accepted).map(|member| (member.runner, member.paid)).collect();
    let withheld = job
        .all_members()
        .filter(|member| member.verdict == Verdict::Dishonest)
        .fold(Amount::ZERO, |sum, member| sum.saturating_add(member.paid));
    let is_all_dishonest = honest.is_empty();
    let mut paid = Amount::ZERO;
    for (runner, amount) in honest {
        pay_out(world, runner, take(amount))?;
        paid = paid.saturating_add(amount);
    }
    let mut burned = Amount::ZERO;
    let mut treasury = Amount::ZERO;
    if !is_all_dishonest {
        // The runners' part of the gross was fixed when the result was accepted, with the parameters of then. The treasury's comes out of what
        // that left, whatever the parameters are now; the rest is destroyed, dust included.
        let of_runners = paid.saturating_add(withheld).saturating_sub(spec.tip);
        let rest = outcome.gross.saturating_sub(of_runners);
        treasury = take(payment::of_payout(&params.jobs, outcome.gross, params.jobs.payout_treasury).min(rest));
        pay_out(world, Address::system(treasury::NUMBER), treasury)?;
        burned = take(rest.saturating_sub(treasury));
        burn(world, burned)?;
    }
    pay_out(world, job.submitter, left)?;
    JobSettled { job_id: job.id, paid, burned, treasury, refunded: left }.emit(world);
    job.escrow = Amount::ZERO;
    finish(params, height, job, JobStatus::Settled);
    Ok(())
}
