//! What the members' commitments and results come to: the verdicts, and the result that stands (002 §8; 003 §5.3).

use super::api::{JobVerified, UsageAnomaly};
use super::committee::{blame, release};
use super::effects::Block;
use super::lifecycle::perform;
use super::payout::{pay_unfit, settle, take_agreeing};
use super::transitions::{self, Event, next};
use super::{callback, payment, second, state};
use crate::market::embeddings;
use crate::market::judge::{self, Judgement, Submission};
use crate::runners::{self, reputation};
use crate::schema::Emit;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::job::{Delivered, Job, JobSpec, JobStatus, Member, Mode, Outcome, Usage, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, List, Text};

/// The rules by which a job's results are judged where `threshold` must agree.
fn rules(world: &World, params: &Params, job: &Job, threshold: usize) -> Result<judge::Rules, Miss> {
    Ok(judge::Rules {
        threshold,
        submitted_seconds: job.submitted_ms.0 / 1_000,
        similarity: params.jobs.similarity_default,
        embedding_model: embeddings::embedding_model(world)?,
        entropy: params.jobs.entropy_min,
    })
}

/// What the results of some members come to where `threshold` must agree, and whose results they are: places among the members.
pub(super) fn judged(
    world: &World,
    params: &Params,
    job: &Job,
    spec: &JobSpec,
    members: &[Member],
    threshold: usize,
) -> Result<(Vec<usize>, Judgement), Miss> {
    let places: Vec<usize> = (0..members.len()).filter(|place| is_judged(&members[*place])).collect();
    let outputs: Vec<Bytes> =
        places.iter().map(|place| state::output(world, &job.id, &members[*place].output)).collect::<Result<_, Miss>>()?;
    let submissions: Vec<Submission<'_>> =
        places.iter().zip(&outputs).map(|(place, output)| submission(&members[*place], output)).collect();
    let judged = judge::judge(spec, &submissions, &rules(world, params, job, threshold)?);
    Ok((places, judged))
}

/// The places of the members whose results as many as must agree share, whatever the job's checks say: a committee that says the same is at
/// fault for no check (decision 323). A runner alone agrees with nobody.
fn agreed_but_for_checks(
    world: &World,
    params: &Params,
    job: &Job,
    spec: &JobSpec,
    members: &[Member],
    threshold: usize,
) -> Result<Vec<usize>, Miss> {
    if spec.verification.mode.is_single() {
        return Ok(Vec::new());
    }
    let mut free = spec.clone();
    let comparing = spec.verification.checks.iter().filter(|check| judge::compares(check)).cloned().collect();
    free.verification.checks = List::new(comparing).expect("fewer fit");
    free.schema.data_format = Text::default();
    let (places, judged) = judged(world, params, job, &free, members, threshold)?;
    Ok(places.into_iter().zip(judged.verdicts).filter(|(_, verdict)| *verdict == Verdict::Accepted).map(|(place, _)| place).collect())
}

/// A member's result as it is judged.
fn submission<'a>(member: &Member, output: &'a [u8]) -> Submission<'a> {
    Submission { output, committed_at: member.committed_at, is_attested: member.is_attested }
}

/// Judges what was revealed.
pub(super) fn decide(block: &mut Block<'_>, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
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
    match judged.accepted {
        Some((place, bytes)) => {
            let chosen = places[place];
            if second::is_last(job) {
                let output = state::output(block.world, &job.id, &job.members[chosen].output)?;
                let accepted = submission(&job.members[chosen], &output);
                let rules = rules(block.world, block.params, job, threshold)?;
                second::compare(block.world, job, spec, &rules, accepted)?;
            }
            let former = take_agreeing(job);
            pay_unfit(block.world, block.params, job, spec)?;
            accept(block, job, spec, chosen, bytes.into(), former)?;
            Ok("verify")
        }
        None => {
            let rules = transitions::Rules { mode: &spec.verification.mode, rows: &block.params.jobs, height: block.height };
            let actions = next(job, Event::NoResult, &rules);
            perform(block, job, spec, actions)
        }
    }
}

/// Changes the members of both committees together, those at work first.
pub(crate) fn change_members<T>(job: &mut Job, change: impl FnOnce(&mut [Member]) -> Result<T, Miss>) -> Result<T, Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    let at_work = members.len();
    members.extend(std::mem::take(&mut job.earlier).into_vec());
    let changed = change(&mut members);
    job.earlier = List::new(members.split_off(at_work)).expect("a committee fits");
    job.members = List::new(members).expect("a committee fits");
    changed
}

/// Whether a member's result is one to judge: revealed, no report of a fault, not proven dishonest already.
fn is_judged(member: &Member) -> bool {
    member.output != Hash::ZERO && member.fault == Count::ZERO && member.verdict != Verdict::Dishonest
}

/// A result stands: who agrees earns, who differs loses reputation, and the answer is on its way. `chosen` is a place among the
/// members of both committees. The `former` ones delivered it in earlier draws, and share what those of the committees ask:
/// none of them more than the dearest of those (decision 595).
pub(super) fn accept(
    block: &mut Block<'_>,
    job: &mut Job,
    spec: &JobSpec,
    chosen: usize,
    bytes: Bytes,
    former: Vec<Member>,
) -> Result<(), Miss> {
    let output = state::keep_output(block.world, &job.id, bytes)?;
    // What is left of the price: results that failed only the submitter's checks are paid already.
    let price = job.escrow.saturating_sub(spec.tip);
    // The bonus is for the reports that the aggregator carried: one that leaves some out has a part of it (decision 325).
    let committed = job.members.iter().filter(|member| member.commitment != Hash::ZERO).count();
    let committed = u64::try_from(committed.max(1)).expect("committees are small");
    let bonus = block.params.jobs.aggregator_bonus.saturating_mul(job.aggregated.0.min(committed)) / committed;
    let (is_last, aggregator, id) = (second::is_last(job), job.aggregator.filter(|_| job.is_aggregated), job.id);
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

/// Books a member's success. One whose usage is an anomaly is flagged instead, and gains no reputation.
fn book_success(block: &mut Block<'_>, runner: Address, is_aggregator: bool, is_anomalous: bool) -> Result<(), Miss> {
    let Some(mut record) = runners::state::find(block.world, runner)? else { return Ok(()) };
    if is_anomalous {
        record.is_flagged = true;
    } else {
        let score = if is_aggregator { reputation::AGGREGATED } else { reputation::SUCCESS };
        reputation::score(&block.params.jobs, &mut record, block.height, score);
    }
    record.jobs_done = Count(record.jobs_done.0.saturating_add(1));
    runners::state::write(block.world, runner, &record);
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
