//! Who is paid what of a job's escrow where a result stands (003 §8.4, Payment).

use super::api::JobSettled;
use super::escrow::{burn, pay_out};
use super::payment;
use super::record::{change_members, finish};
use crate::schema::Emit;
use crate::treasury;
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
pub(super) fn pay_each(
    world: &mut World,
    params: &Params,
    job: &mut Job,
    spec: &JobSpec,
    runners: &[Address],
    prices: &[Amount],
) -> Result<(), Miss> {
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
