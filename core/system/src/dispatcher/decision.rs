//! Decides a job by the results of its committees: who is at fault, which result stands, and what its members ask for it (002 §8; 003 §5.3).

use super::api::{JobVerified, UsageAnomaly};
use super::effects::Block;
use super::judging::{agreed_but_for_checks, compare, judged, rules, submission};
use super::members::{blame, book_success, release};
use super::payout::{pay_unfit, settle, take_agreeing};
use super::record::{change_members, is_last};
use super::transitions::Event;
use super::{callback, payment, state};
use crate::schema::Emit;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Delivered, Job, JobSpec, JobStatus, Member, Mode, Outcome, Usage, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Hash, List};

/// Judges what was revealed. Answers what happened where it came to no result.
pub(super) fn decide(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<Option<Event>, Miss> {
    let threshold = usize::try_from(job.threshold.0).expect("committees are small");
    let (places, judged) = judged(block.world, block.params, job, spec, &job.members, threshold)?;
    let mut members = std::mem::take(&mut job.members).into_vec();
    let mut delivered = std::mem::take(&mut job.delivered).into_vec();
    let share = payment::part_of_each(spec.max_price, members.len());
    let agreed = if judged.accepted.is_none() {
        agreed_but_for_checks(block.world, block.params, job, spec, &members, threshold)?
    } else {
        Vec::new()
    };
    for ((place, verdict), failed) in places.iter().zip(&judged.verdicts).zip(&judged.failed) {
        let member = &mut members[*place];
        member.verdict = verdict.clone();
        match member.verdict {
            Verdict::Invalid => blame(block, member.runner)?,
            Verdict::Accepted => {}
            _ => {
                let price = payment::price(&member.rates, &spec.kind, &member.usage).min(share);
                delivered.push(Delivered { member: member.clone(), failed: Count(*failed), price, is_agreed: agreed.contains(place) });
            }
        }
    }
    // Whoever failed a check that somebody passed, in this draw or a later one, is at fault (decision 303).
    let (guilty, waiting): (Vec<Delivered>, Vec<Delivered>) = delivered.into_iter().partition(|one| one.failed.0 & judged.passed != 0);
    for one in guilty {
        blame(block, one.member.runner)?;
        if let Some(member) = members.iter_mut().find(|member| member.runner == one.member.runner) {
            member.verdict = Verdict::Invalid;
        }
    }
    job.delivered = List::new(waiting).expect("a few committees fit");
    job.members = List::new(members).expect("a committee fits");
    let Some((place, bytes)) = judged.accepted else { return Ok(Some(Event::NoResult)) };
    let chosen = places[place];
    if is_last(job) {
        let output = state::output(block.world, &job.id, &job.members[chosen].output)?;
        let accepted = submission(&job.members[chosen], &output);
        let rules = rules(block.world, block.params, job, threshold)?;
        compare(block.world, job, spec, &rules, accepted)?;
    }
    let former = take_agreeing(job);
    pay_unfit(block.world, block.params, job, spec)?;
    accept(block, job, spec, chosen, bytes.into(), former)?;
    Ok(None)
}

/// Too few are left for a further committee, or too few of it committed: the simple majority of the first one stands. Answers what happened where
/// there is none.
pub(super) fn fall_back(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<Option<Event>, Miss> {
    let earlier = job.earlier.to_vec();
    let good = earlier.iter().filter(|member| member.verdict == Verdict::Differs).count();
    let (places, judged) = judged(block.world, block.params, job, spec, &earlier, good / 2 + 1)?;
    let Some((place, bytes)) = judged.accepted else { return Ok(Some(Event::NoMajority)) };
    let chosen = places[place];
    let mut earlier = earlier;
    for (place, verdict) in places.into_iter().zip(judged.verdicts) {
        if earlier[place].verdict == Verdict::Differs {
            earlier[place].verdict = verdict;
        }
    }
    job.earlier = List::new(earlier).expect("as many members fit");
    let chosen = job.members.len() + chosen;
    let former = take_agreeing(job);
    accept(block, job, spec, chosen, bytes.into(), former)?;
    Ok(None)
}

/// A result stands: who agrees earns, who differs loses reputation, and the answer is on its way. `chosen` is a place among the
/// members of both committees. The `former` ones delivered it in earlier draws, and share what those of the committees ask:
/// none of them more than the dearest of those (decision 595).
fn accept(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec, chosen: usize, bytes: Bytes, former: Vec<Member>) -> Result<(), Miss> {
    let output = state::keep_output(block.world, &job.id, bytes)?;
    // What is left of the price: results that failed only the submitter's checks are paid already.
    let price = job.escrow.saturating_sub(spec.tip);
    // The bonus is for the reports that the aggregator carried: one that leaves some out has a part of it (decision 325).
    let committed = job.members.iter().filter(|member| member.commitment != Hash::ZERO).count();
    let committed = u64::try_from(committed.max(1)).expect("committees are small");
    let bonus = block.params.jobs.aggregator_bonus.saturating_mul(job.aggregated.0.min(committed)) / committed;
    let (is_last, aggregator, id) = (is_last(job), job.aggregator.filter(|_| job.is_aggregated), job.id);
    let at_work = job.all_members().count();
    job.earlier = List::new([std::mem::take(&mut job.earlier).into_vec(), former].concat()).expect("as many were taken as fit");
    let (runner, count, gross) = change_members(job, |members| {
        let agreeing: Vec<usize> = (0..members.len()).filter(|place| members[*place].verdict == Verdict::Accepted).collect();
        // Of two committees, those who agree share the price; of one, those who do not leave their part of it to the submitter.
        let present = agreeing.iter().filter(|place| **place < at_work).count();
        let (whole, parts) = if is_last { (price, present) } else { (spec.max_price, at_work) };
        let cap = payment::part_of_each(whole, parts);
        let usages: Vec<&Usage> = agreeing.iter().take(present).map(|place| &members[*place].usage).collect();
        let median = payment::median(&usages);
        let mut prices = Vec::with_capacity(agreeing.len());
        for place in &agreeing {
            let member = &members[*place];
            let is_anomalous = review(block.world, block.params, &id, spec, member, &median);
            book_success(block, member.runner, aggregator == Some(member.runner), is_anomalous)?;
            // Work that is far from what the others of the committee needed is paid as theirs.
            let usage = if is_anomalous { payment::at_most(&member.usage, &median) } else { member.usage.clone() };
            let most = if *place < at_work { cap } else { prices.iter().copied().max().unwrap_or(cap) };
            prices.push(payment::price(&member.rates, &spec.kind, &usage).min(most));
        }
        let aggregator = agreeing.iter().position(|place| aggregator == Some(members[*place].runner)).map(|place| (place, bonus));
        // An earlier draw makes a job no dearer: whoever let it fail would be paid for another one.
        let asked = prices.iter().take(present).fold(Amount::ZERO, |sum, price| sum.saturating_add(*price));
        let split = payment::split(&block.params.jobs, price.min(asked), spec.tip, &prices, aggregator);
        for (place, paid) in agreeing.iter().zip(&split.runners) {
            members[*place].paid = *paid;
        }
        for member in members.iter() {
            if member.verdict == Verdict::Differs {
                blame(block, member.runner)?;
            }
            release(block.world, member.runner, &id)?;
        }
        Ok((members[chosen].runner, agreeing.len(), split.gross))
    })?;
    let count = u64::try_from(count).expect("committees are small");
    job.outcome = Some(Outcome { output, runner, agreeing: Count(count), verified_at: block.height, gross });
    job.status = JobStatus::Verified;
    job.status_until = block.height;
    let runners = Count(u64::try_from(job.all_members().count()).expect("committees are small"));
    JobVerified { job_id: job.id, output, agreeing: Count(count), runners }.emit(block.world);
    callback::queue(block.world, job, spec)?;
    block.note_end(job, spec);
    if spec.verification.mode == Mode::None {
        return settle(block.world, block.params, block.height, job, spec);
    }
    // Decision 45: the longer of the two windows holds the payout.
    let window = match spec.verification.dispute_window.0 {
        0 => block.params.jobs.challenge_window.max(block.params.jobs.dispute_window),
        own => block.params.jobs.challenge_window.max(own),
    };
    job.status_until = Height(block.height.0.saturating_add(window));
    Ok(())
}

/// Whether usage is beyond what was expected, or what the committee needed, in a unit that is paid for: then somebody should look
/// (003 Runner Resource Accounting).
fn review(world: &mut World, params: &Params, job: &Hash, spec: &JobSpec, member: &Member, median: &Usage) -> bool {
    let ratio = u128::from(params.jobs.anomaly_ratio);
    let is_beyond = |used: Count, expected: Count| u128::from(used.0) * 10_000 > u128::from(expected.0) * ratio;
    let usage = &member.usage;
    let is_anomalous = is_beyond(usage.compute_ms, spec.schema.expected_execution_ms)
        || payment::priced(&spec.kind, usage)
            .into_iter()
            .zip(payment::priced(&spec.kind, median))
            .any(|(used, usual)| is_beyond(used, usual));
    if is_anomalous {
        let expected_ms = spec.schema.expected_execution_ms;
        UsageAnomaly { job_id: *job, runner: member.runner, compute_ms: usage.compute_ms, expected_ms }.emit(world);
    }
    is_anomalous
}
