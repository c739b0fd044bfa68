//! What the chain does with a job by itself: draws, deadlines, decisions, payouts, refunds (002 §3, §6; 003 §5.3, STF step 4).
//!
//! Nothing here fails: a step misses records and is run again, or happens.

use super::handlers::pay_out;
use super::{NUMBER, callback, payment, second, selection, state};
use crate::actor::announce;
use crate::runners::{self, handlers as registry, reputation};
use crate::verifier::judge::{Judgement, Submission};
use crate::{treasury, verifier};
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::cbor::Value;
use cowboy_types::job::{Absent, Delivered, Job, JobSpec, JobStatus, Member, Mode, Outcome, RateCard, Usage, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
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
    Ok(first.first().filter(|name| state::number_of(name) <= height.0).map(|name| state::job_of(name)))
}

/// The height of the agenda's first entry, where there is one.
pub fn first_due(world: &World) -> Result<Option<Height>, Miss> {
    let first = state::agenda().list(world, &[], 1)?;
    Ok(first.first().map(|name| Height(state::number_of(name))))
}

/// Whether a committee waits for a seed: the next block may bring it.
pub fn is_drawing(world: &World) -> Result<bool, Miss> {
    Ok(state::draws().count(world)? > 0)
}

/// What a step did, for its receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The job.
    pub job: Hash,
    /// Who asked for it.
    pub submitter: Address,
    /// The number of the step, from 1.
    pub number: u64,
    /// What happened, in a word.
    pub name: &'static str,
    /// Frozen time of it, in ns.
    pub weight: u64,
}

/// Frozen time of any step, in ns.
const STEP_WEIGHT: u64 = 100_000;

/// Frozen time of a draw, for each candidate.
const DRAW_WEIGHT: u64 = 500;

/// Frozen time of judging, for each byte of a result.
const JUDGE_WEIGHT: u64 = 50;

/// Moves a job on by one step.
pub fn advance(world: &mut World, params: &Params, height: Height, id: &Hash) -> Result<Step, Miss> {
    let mut job = state::find(world, id)?.expect("the agenda lists jobs that are there");
    let spec = state::spec(world, id)?;
    job.steps = Count(job.steps.0 + 1);
    let mut step = Step { job: *id, submitter: job.submitter, number: job.steps.0, name: "wait", weight: STEP_WEIGHT };
    step.weight += match job.status {
        JobStatus::Revealing => judging(&job, &spec),
        JobStatus::Assigned if second::is_last(&job) => judging(&job, &spec),
        JobStatus::Drawing | JobStatus::Assigned => DRAW_WEIGHT.saturating_mul(job.candidates.0),
        _ => 0,
    };
    if punish(world, params, height, &mut job)? {
        step.name = "slash";
    }
    let is_immediate = job.status == JobStatus::Drawing && state::take_draw(world, id)?;
    let seed = if job.status == JobStatus::Drawing && !is_immediate { round_seed(world, params, &job)? } else { None };
    if is_immediate {
        let seed = job.seed;
        draw(world, params, height, &mut job, &spec, seed)?;
        announce_committee(world, &job);
        step.name = "draw";
    } else if let Some(seed) = seed {
        state::draws().remove(world, &state::by_round(job.draw_epoch.0, job.draw_view.0, id))?;
        let seed = selection::seed(&seed.0, id, job.submitted_at);
        draw(world, params, height, &mut job, &spec, seed)?;
        announce_committee(world, &job);
        step.name = "draw";
    } else if job.status_until <= height {
        step.name = match job.status {
            JobStatus::Drawing => {
                state::draws().remove(world, &state::by_round(job.draw_epoch.0, job.draw_view.0, id))?;
                give_up(world, params, height, &mut job, &spec, "no_seed")?;
                "fail"
            }
            JobStatus::Assigned => close_commitments(world, params, height, &mut job, &spec)?,
            JobStatus::Revealing => close_revelations(world, params, height, &mut job, &spec)?,
            JobStatus::Verified => {
                settle(world, params, height, &mut job, &spec)?;
                "settle"
            }
            JobStatus::Disputed => {
                verifier::challenges::lapse(world, params, height, &mut job, &spec)?;
                "lapse"
            }
            JobStatus::Settled | JobStatus::Failed if job.absent.is_empty() && job.callback_held == Amount::ZERO => {
                forget(world, &job)?;
                step.name = "forget";
                return Ok(step);
            }
            // Something of it still goes on: an answer waits, or a stake may be slashed.
            JobStatus::Settled | JobStatus::Failed => {
                job.status_until = height.next();
                "wait"
            }
        };
    }
    let due = next_height(&job);
    state::write(world, &mut job, due)?;
    Ok(step)
}

/// Frozen time of judging all results of a job, in ns.
fn judging(job: &Job, spec: &JobSpec) -> u64 {
    let results = job.committee.0.saturating_add(u64::try_from(job.earlier.len()).expect("committees are small"));
    JUDGE_WEIGHT.saturating_mul(spec.schema.max_return_bytes.0).saturating_mul(results)
}

/// When something happens to a job next.
pub(crate) fn next_height(job: &Job) -> Height {
    job.absent.iter().map(|absent| absent.due).fold(job.status_until, Height::min)
}

/// The seed of the round that the job named. Where that round never came, its epoch being over, the first of the next one;
/// where it is too old to be read, the oldest that can be.
fn round_seed(world: &World, params: &Params, job: &Job) -> Result<Option<cowboy_types::block::Seed>, Miss> {
    let (epoch, view) = (job.draw_epoch.0, job.draw_view.0);
    let history = params.consensus.seed_history;
    let Some(newest) = world.newest_round()?.filter(|newest| (epoch, view) <= *newest) else { return Ok(None) };
    if let Some(seed) = world.seed(history, epoch, view)? {
        return Ok(Some(seed));
    }
    let first = if newest.0 == epoch { view } else { 1 };
    for view in first.max(newest.1.saturating_sub(history))..=newest.1 {
        if let Some(seed) = world.seed(history, newest.0, view)? {
            return Ok(Some(seed));
        }
    }
    Ok(None)
}

/// Draws the job's committee, and gives it its work.
pub(super) fn draw(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec, seed: Hash) -> Result<(), Miss> {
    job.seed = seed;
    let candidates = state::candidates(world, &job.id)?;
    let wanted = usize::try_from(job.committee.0).expect("committees are small");
    let selected = selection::select_without(&candidates, &job.excluded, &job.seed, job.attempt.0, wanted);
    let count = u64::try_from(selected.len()).expect("committees are small");
    if count < spec.verification.mode.least_runners() {
        if second::is_last(job) {
            return second::fall_back(world, params, height, job, spec).map(drop);
        }
        return give_up(world, params, height, job, spec, "no_replacement_available");
    }
    if count < job.committee.0 {
        job.committee = Count(count);
        job.threshold = Count(job.threshold.0.min(selection::two_thirds(count)).max(1));
    }
    let mut members = Vec::with_capacity(selected.len());
    for runner in selected {
        let (mut reputation, mut rates) = (0, None);
        if let Some(mut record) = runners::state::find(world, runner)? {
            reputation = reputation::points(&params.jobs, &record, height);
            rates = Some(record.rates.clone());
            record.active_jobs = Count(record.active_jobs.0 + 1);
            runners::state::write(world, runner, &record);
        }
        runners::state::jobs_of(runner).insert(world, &job.id.0)?;
        members.push(member(runner, reputation, rates));
    }
    let ranked: Vec<(Address, u64)> = members.iter().map(|member| (member.runner, member.reputation.0)).collect();
    job.aggregator = selection::aggregator(&job.id, &ranked, params.jobs.aggregator_percentile);
    job.is_aggregated = false;
    job.members = List::new(members).expect("a committee fits");
    job.status = JobStatus::Assigned;
    job.commit_until = Height(height.0.saturating_add(spec.timeout_blocks.0));
    job.status_until = job.commit_until;
    Ok(())
}

/// A member that was just drawn; one that is gone from the registry asks for nothing.
fn member(runner: Address, reputation: u64, rates: Option<RateCard>) -> Member {
    Member {
        runner,
        reputation: Count(reputation),
        rates: rates.unwrap_or_else(RateCard::free),
        commitment: Hash::ZERO,
        committed_at: Height::ZERO,
        output: Hash::ZERO,
        revealed_at: Height::ZERO,
        signature: Fixed::default(),
        usage: Usage::nothing(),
        fault: Count::ZERO,
        progress: Count::ZERO,
        is_attested: false,
        is_crashed: false,
        verdict: Verdict::Pending,
        paid: Amount::ZERO,
    }
}

/// A runner is free of a job.
pub(super) fn release(world: &mut World, runner: Address, job: &Hash) -> Result<(), Miss> {
    if runners::state::jobs_of(runner).remove(world, &job.0)?
        && let Some(mut record) = runners::state::find(world, runner)?
    {
        record.active_jobs = Count(record.active_jobs.0.saturating_sub(1));
        runners::state::write(world, runner, &record);
    }
    Ok(())
}

/// Books a failure of a member.
fn blame(world: &mut World, params: &Params, height: Height, runner: Address) -> Result<(), Miss> {
    if let Some(mut record) = runners::state::find(world, runner)? {
        registry::fail(&params.jobs, &mut record, height, params.jobs.reputation_timeout);
        runners::state::write(world, runner, &record);
    }
    Ok(())
}

/// Leaves a runner out of later draws.
pub(super) fn exclude(job: &mut Job, runner: Address) {
    let mut excluded = std::mem::take(&mut job.excluded).into_vec();
    if let Err(place) = excluded.binary_search(&runner) {
        excluded.insert(place, runner);
    }
    job.excluded = List::new(excluded).expect("a few committees fit");
}

/// Commitments are over: who made none loses reputation and is left out; enough of them go on, too few are drawn again.
fn close_commitments(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    let mut committed = 0;
    for member in &mut members {
        if member.commitment != Hash::ZERO {
            committed += 1;
            continue;
        }
        member.verdict = Verdict::TimedOut;
        blame(world, params, height, member.runner)?;
        release(world, member.runner, &job.id)?;
        exclude(job, member.runner);
    }
    job.members = List::new(members).expect("a committee fits");
    if committed < job.threshold.0.max(spec.verification.mode.least_runners()) {
        if second::is_last(job) {
            return second::fall_back(world, params, height, job, spec);
        }
        return retry(world, params, height, job, spec);
    }
    if job.members.iter().all(|member| member.commitment == Hash::ZERO || member.output != Hash::ZERO) {
        return decide(world, params, height, job, spec);
    }
    job.status = JobStatus::Revealing;
    job.reveal_from = Height(height.0.saturating_add(params.jobs.aggregator_timeout));
    job.reveal_until = Height(height.0.saturating_add(params.jobs.reveal_window));
    job.status_until = job.reveal_until;
    Ok("reveal")
}

/// Revelations are over: who committed and did not reveal may still attest a crash, or is slashed.
fn close_revelations(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    let mut absent = std::mem::take(&mut job.absent).into_vec();
    for member in members.iter_mut().filter(|member| member.commitment != Hash::ZERO && member.output == Hash::ZERO) {
        member.verdict = Verdict::Unrevealed;
        exclude(job, member.runner);
        if member.is_crashed {
            blame(world, params, height, member.runner)?;
        } else {
            absent.push(Absent { runner: member.runner, due: Height(height.0.saturating_add(params.jobs.crash_window)) });
        }
    }
    job.members = List::new(members).expect("a committee fits");
    job.absent = List::new(absent).expect("a few committees fit");
    decide(world, params, height, job, spec)
}

/// Slashes who committed, did not reveal, and attested no crash in time (003 §13). Answers whether anybody was.
fn punish(world: &mut World, params: &Params, height: Height, job: &mut Job) -> Result<bool, Miss> {
    let (due, waiting): (Vec<Absent>, Vec<Absent>) =
        std::mem::take(&mut job.absent).into_vec().into_iter().partition(|absent| absent.due <= height);
    job.absent = List::new(waiting).expect("fewer fit");
    for absent in &due {
        let share = params.jobs.non_reveal_slash;
        let slashed = registry::slash(world, params, height, absent.runner, share, job.submitter)?;
        let data = Value::map([
            ("job_id", Value::Bytes(job.id.0.to_vec())),
            ("runner", Value::Bytes(absent.runner.0.to_vec())),
            ("amount", Value::uint(slashed.amount.0)),
        ]);
        announce(world, verifier::NUMBER, "NonRevealSlash", &data);
    }
    Ok(!due.is_empty())
}

/// The rules by which a job's results are judged where so many must agree.
fn rules(world: &World, params: &Params, job: &Job, threshold: usize) -> Result<verifier::judge::Rules, Miss> {
    Ok(verifier::judge::Rules {
        threshold,
        submitted_seconds: job.submitted_ms.0 / 1_000,
        similarity: params.jobs.similarity_default,
        embedding_model: verifier::state::embedding_model(world)?,
        entropy: params.jobs.entropy_min,
    })
}

/// What the results of some members come to where so many must agree, and whose results they are: places among the members.
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
    let judged = verifier::judge::judge(spec, &submissions, &rules(world, params, job, threshold)?);
    Ok((places, judged))
}

/// A member's result as it is judged.
fn submission<'a>(member: &Member, output: &'a [u8]) -> Submission<'a> {
    Submission { output, committed_at: member.committed_at, is_attested: member.is_attested }
}

/// Judges what was revealed.
fn decide(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let threshold = usize::try_from(job.threshold.0).expect("committees are small");
    let (places, judged) = judged(world, params, job, spec, &job.members, threshold)?;
    let mut members = std::mem::take(&mut job.members).into_vec();
    let mut delivered = std::mem::take(&mut job.delivered).into_vec();
    for ((place, verdict), failed) in places.iter().zip(&judged.verdicts).zip(&judged.failed) {
        let member = &mut members[*place];
        member.verdict = verdict.clone();
        match member.verdict {
            Verdict::Invalid => blame(world, params, height, member.runner)?,
            Verdict::Accepted => {}
            _ => delivered.push(Delivered { runner: member.runner, failed: Count(*failed) }),
        }
    }
    // Whoever failed a check that somebody passed, in this draw or a later one, is at fault (decision 303).
    let (guilty, waiting): (Vec<Delivered>, Vec<Delivered>) = delivered.into_iter().partition(|one| one.failed.0 & judged.passed != 0);
    for one in guilty {
        blame(world, params, height, one.runner)?;
        if let Some(member) = members.iter_mut().find(|member| member.runner == one.runner) {
            member.verdict = Verdict::Invalid;
        }
    }
    job.delivered = List::new(waiting).expect("a few committees fit");
    let unfit = members.iter().filter(|member| member.verdict == Verdict::Unfit).count();
    job.members = List::new(members).expect("a committee fits");
    match judged.accepted {
        Some((place, bytes)) => {
            let chosen = places[place];
            if second::is_last(job) {
                let output = state::output(world, &job.id, &job.members[chosen].output)?;
                let accepted = submission(&job.members[chosen], &output);
                let rules = rules(world, params, job, threshold)?;
                second::compare(world, job, spec, &rules, accepted)?;
            }
            pay_unfit(world, params, job, spec)?;
            accept(world, params, height, job, spec, chosen, bytes.into())?;
            Ok("verify")
        }
        None if let Some(fault) = common_fault(job) => {
            excuse(world, params, height, job, spec, fault)?;
            Ok("excuse")
        }
        // The submitter's own check decides that there is no result: nobody else would do better.
        None if unfit >= threshold.max(1) => {
            give_up(world, params, height, job, spec, "checks_failed")?;
            Ok("fail")
        }
        None if second::is_last(job) => second::end(world, params, height, job, spec),
        None if second::is_disagreement(job, spec) => second::ask(world, params, height, job, spec),
        None => {
            for runner in job.members.iter().map(|member| member.runner).collect::<Vec<_>>() {
                exclude(job, runner);
            }
            retry(world, params, height, job, spec)
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

/// Pays the least fee for results that failed only the submitter's own checks, where others were accepted.
fn pay_unfit(world: &mut World, params: &Params, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    job.delivered = List::default();
    let runners: Vec<Address> = job.all_members().filter(|member| member.verdict == Verdict::Unfit).map(|member| member.runner).collect();
    let share = Amount(spec.max_price.0 / u64::try_from(job.all_members().count().max(1)).expect("committees are small"));
    let each = Amount(params.jobs.minimum_fee).min(share);
    let paid = pay_each(world, params, job, &runners, each)?;
    note_paid(job, &runners, &paid)
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

/// Pays some runners the same price out of a job's escrow, at once: 89% to them, the rest as always. Answers what each got.
fn pay_each(world: &mut World, params: &Params, job: &mut Job, runners: &[Address], each: Amount) -> Result<Vec<Amount>, Miss> {
    let split = payment::split(&params.jobs, job.escrow, Amount::ZERO, &vec![each; runners.len()], None);
    for (runner, paid) in runners.iter().zip(&split.runners) {
        pay_out(world, *runner, *paid)?;
    }
    pay_out(world, Address::system(treasury::NUMBER), split.treasury)?;
    burn(world, split.burned)?;
    job.escrow = split.refund;
    Ok(split.runners)
}

/// Whether a member's result is one to judge: revealed, no report of a fault, not proven dishonest already.
fn is_judged(member: &Member) -> bool {
    member.output != Hash::ZERO && member.fault == Count::ZERO && member.verdict != Verdict::Dishonest
}

/// The fault that enough members report, where one is.
fn common_fault(job: &Job) -> Option<u64> {
    let count = |fault: u64| job.members.iter().filter(|member| member.fault.0 == fault).count();
    let needed = usize::try_from(job.threshold.0).expect("committees are small").max(1);
    (verifier::FAULT_ACTOR..=verifier::FAULT_IMPOSSIBLE).find(|fault| count(*fault) >= needed)
}

/// A result stands: who agrees earns, who differs loses reputation, and the answer is on its way. `chosen` is a place among the
/// members of both committees.
pub(super) fn accept(
    world: &mut World,
    params: &Params,
    height: Height,
    job: &mut Job,
    spec: &JobSpec,
    chosen: usize,
    bytes: Bytes,
) -> Result<(), Miss> {
    let output = state::keep_output(world, &job.id, bytes);
    // What is left of the price: results that failed only the submitter's checks are paid already.
    let price = job.escrow.saturating_sub(spec.tip);
    let (is_last, aggregator, id) = (second::is_last(job), job.aggregator.filter(|_| job.is_aggregated), job.id);
    let (runner, count, gross) = change_members(job, |members| {
        let agreeing: Vec<usize> = (0..members.len()).filter(|place| members[*place].verdict == Verdict::Accepted).collect();
        // Of two committees, those who agree share the price; of one, those who do not leave their part of it to the submitter.
        let (whole, parts) = if is_last { (price, agreeing.len()) } else { (spec.max_price, members.len()) };
        let cap = Amount(whole.0 / u64::try_from(parts.max(1)).expect("committees are small"));
        let usages: Vec<&Usage> = agreeing.iter().map(|place| &members[*place].usage).collect();
        let median = payment::median(&usages);
        let mut prices = Vec::with_capacity(agreeing.len());
        for place in &agreeing {
            let member = &members[*place];
            let is_anomalous = review(world, params, &id, spec, member, &median);
            book_success(world, params, height, member.runner, aggregator == Some(member.runner), is_anomalous)?;
            // Work that is far from what the others of the committee needed is paid as theirs.
            let usage = if is_anomalous { payment::at_most(&member.usage, &median) } else { member.usage.clone() };
            prices.push(payment::price(&member.rates, &spec.kind, &usage).min(cap));
        }
        let aggregator = agreeing.iter().position(|place| aggregator == Some(members[*place].runner));
        let split = payment::split(&params.jobs, price, spec.tip, &prices, aggregator);
        for (place, paid) in agreeing.iter().zip(&split.runners) {
            members[*place].paid = *paid;
        }
        for member in members.iter() {
            if member.verdict == Verdict::Differs {
                blame(world, params, height, member.runner)?;
            }
            release(world, member.runner, &id)?;
        }
        Ok((members[chosen].runner, agreeing.len(), split.gross))
    })?;
    let count = u64::try_from(count).expect("committees are small");
    job.outcome = Some(Outcome { output, runner, agreeing: Count(count), verified_at: height, gross });
    job.status = JobStatus::Verified;
    job.status_until = height;
    let data = Value::map([
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("output", Value::Bytes(output.0.to_vec())),
        ("agreeing", Value::uint(count)),
        ("runners", Value::uint(u64::try_from(job.all_members().count()).expect("committees are small"))),
    ]);
    announce(world, verifier::NUMBER, "JobVerified", &data);
    callback::queue(world, job, spec)?;
    verifier::challenges::retrial_is_over(world, params, height, job, spec)?;
    if spec.verification.mode == Mode::None {
        return settle(world, params, height, job, spec);
    }
    // Decision 45: the longer of the two windows holds the payout.
    let window = match spec.verification.dispute_window.0 {
        0 => params.jobs.challenge_window.max(params.jobs.dispute_window),
        own => params.jobs.challenge_window.max(own),
    };
    job.status_until = Height(height.0.saturating_add(window));
    Ok(())
}

/// Books a member's success. One whose usage is an anomaly is flagged instead, and gains no reputation.
fn book_success(
    world: &mut World,
    params: &Params,
    height: Height,
    runner: Address,
    is_aggregator: bool,
    is_anomalous: bool,
) -> Result<(), Miss> {
    let Some(mut record) = runners::state::find(world, runner)? else { return Ok(()) };
    if is_anomalous {
        record.is_flagged = true;
    } else {
        let score = if is_aggregator { reputation::AGGREGATED } else { reputation::SUCCESS };
        reputation::score(&params.jobs, &mut record, height, score);
    }
    record.jobs_done = Count(record.jobs_done.0.saturating_add(1));
    runners::state::write(world, runner, &record);
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
        let data = Value::map([
            ("job_id", Value::Bytes(job.0.to_vec())),
            ("runner", Value::Bytes(member.runner.0.to_vec())),
            ("compute_ms", Value::uint(usage.compute_ms.0)),
            ("expected_ms", Value::uint(spec.schema.expected_execution_ms.0)),
        ]);
        announce(world, verifier::NUMBER, "UsageAnomaly", &data);
    }
    is_anomalous
}

/// Enough runners could not do the work for the same reason outside them: they get a part, the rest goes back (003 Payment table).
fn excuse(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec, fault: u64) -> Result<(), Miss> {
    let mut members = std::mem::take(&mut job.members).into_vec();
    let cap = Amount(spec.max_price.0 / u64::try_from(members.len().max(1)).expect("committees are small"));
    let reporting: Vec<usize> = (0..members.len()).filter(|place| members[*place].fault.0 == fault).collect();
    let mut progress: Vec<u64> = reporting.iter().map(|place| members[*place].progress.0.min(10_000)).collect();
    progress.sort_unstable();
    let median = progress[(progress.len() - 1) / 2];
    let prices: Vec<Amount> = reporting
        .iter()
        .map(|place| match fault {
            verifier::FAULT_ACTOR => Amount(params.jobs.minimum_fee).min(cap),
            // A part of what the runner would have asked for all that the bounds allow, for the time that the chain saw it held.
            _ => {
                let member = &members[*place];
                let whole = payment::estimate(&member.rates, &spec.kind, &spec.bounds).min(cap);
                payment::share(whole, median.min(held(params, job, spec, member)))
            }
        })
        .collect();
    let split = payment::split(&params.jobs, spec.max_price, Amount::ZERO, &prices, None);
    for (place, paid) in reporting.iter().zip(&split.runners) {
        members[*place].verdict = Verdict::Excused;
        members[*place].paid = *paid;
        pay_out(world, members[*place].runner, *paid)?;
    }
    for member in &members {
        release(world, member.runner, &job.id)?;
    }
    job.members = List::new(members).expect("a committee fits");
    pay_out(world, Address::system(treasury::NUMBER), split.treasury)?;
    burn(world, split.burned)?;
    let spent = split.runners.iter().fold(split.treasury.saturating_add(split.burned), |sum, paid| sum.saturating_add(*paid));
    job.escrow = job.escrow.checked_sub(spent).expect("a split is within the escrow");
    let reason = match fault {
        verifier::FAULT_ACTOR => "actor_fault",
        verifier::FAULT_EXTERNAL => "external_fault",
        _ => "impossible",
    };
    give_up(world, params, height, job, spec, reason)
}

/// For how much of the time that a job allows the chain saw a member held, until it committed, in hundredths of a percent.
fn held(params: &Params, job: &Job, spec: &JobSpec, member: &Member) -> u64 {
    let drawn_at = job.commit_until.0.saturating_sub(spec.timeout_blocks.0);
    let blocks = member.committed_at.0.saturating_sub(drawn_at);
    let held_ms = u128::from(blocks) * u128::from(params.consensus.block_time);
    let part = (held_ms * 10_000).checked_div(u128::from(spec.bounds.wall_ms.0)).unwrap_or(0);
    u64::try_from(part.min(10_000)).expect("at most the whole")
}

/// Destroys CBY that the Dispatcher holds.
fn burn(world: &mut World, amount: Amount) -> Result<(), Miss> {
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
        treasury = take(payment::of_payout(&params.jobs, outcome.gross, params.jobs.payout_treasury));
        pay_out(world, Address::system(treasury::NUMBER), treasury)?;
        // Whatever of the gross is neither a runner's nor the treasury's is destroyed, dust included.
        let of_runners = paid.saturating_add(withheld).saturating_sub(spec.tip);
        burned = take(outcome.gross.saturating_sub(treasury).saturating_sub(of_runners));
        burn(world, burned)?;
    }
    pay_out(world, job.submitter, left)?;
    let data = Value::map([
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("paid", Value::uint(paid.0)),
        ("burned", Value::uint(burned.0)),
        ("treasury", Value::uint(treasury.0)),
        ("refunded", Value::uint(left.0)),
    ]);
    announce(world, NUMBER, "JobSettled", &data);
    job.escrow = Amount::ZERO;
    finish(params, height, job, JobStatus::Settled);
    Ok(())
}

fn finish(params: &Params, height: Height, job: &mut Job, status: JobStatus) {
    job.status = status;
    job.over_at = height;
    job.status_until = Height(height.0.saturating_add(params.jobs.retention));
}

/// Draws again, without those who failed; gives up after so many draws (002 §6).
fn retry(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<&'static str, Miss> {
    let members = std::mem::take(&mut job.members).into_vec();
    for member in &members {
        release(world, member.runner, &job.id)?;
    }
    remove_outputs(world, &job.id, &members)?;
    if job.attempt.0 >= params.jobs.retries {
        give_up(world, params, height, job, spec, "retries_exhausted")?;
        return Ok("fail");
    }
    job.attempt = Count(job.attempt.0 + 1);
    let seed = job.seed;
    draw(world, params, height, job, spec, seed)?;
    announce_committee(world, job);
    Ok(if job.status == JobStatus::Failed { "fail" } else { "retry" })
}

/// Ends a job without a result: the escrow goes back, and the answer says why (002 §6; A-198).
pub(crate) fn give_up(
    world: &mut World,
    params: &Params,
    height: Height,
    job: &mut Job,
    spec: &JobSpec,
    reason: &'static str,
) -> Result<(), Miss> {
    for runner in job.members.iter().map(|member| member.runner).collect::<Vec<_>>() {
        release(world, runner, &job.id)?;
    }
    let reason = pay_delivered(world, params, job, spec)?.unwrap_or(reason);
    let refund = std::mem::take(&mut job.escrow);
    pay_out(world, job.submitter, refund)?;
    job.reason = Text::new(reason).expect("reasons are short");
    let data = Value::map([
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("reason", Value::text(reason)),
        ("attempts", Value::uint(job.attempt.0 + 1)),
        ("refunded", Value::uint(refund.0)),
    ]);
    announce(world, NUMBER, "JobFailed", &data);
    callback::queue(world, job, spec)?;
    finish(params, height, job, JobStatus::Failed);
    verifier::challenges::retrial_is_over(world, params, height, job, spec)
}

/// Pays whoever delivered in any draw of a job that ends without a result the least fee. Answers why it ends, where the job itself
/// is at fault: nobody passed an objective check of its.
fn pay_delivered(world: &mut World, params: &Params, job: &mut Job, spec: &JobSpec) -> Result<Option<&'static str>, Miss> {
    let delivered = std::mem::take(&mut job.delivered).into_vec();
    let count = u64::try_from(delivered.len().max(1)).expect("a few committees");
    let each = Amount(params.jobs.minimum_fee).min(Amount(spec.max_price.min(job.escrow).0 / count));
    let runners: Vec<Address> = delivered.iter().map(|one| one.runner).collect();
    let paid = pay_each(world, params, job, &runners, each)?;
    note_paid(job, &runners, &paid)?;
    Ok(delivered.iter().any(|one| one.failed > Count::ZERO).then_some("actor_fault"))
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

/// Says who was drawn, and what the draw can be checked with.
pub(super) fn announce_committee(world: &mut World, job: &Job) {
    if job.status == JobStatus::Failed {
        return;
    }
    let members = job.members.iter().map(|member| Value::Bytes(member.runner.0.to_vec())).collect();
    let data = Value::map([
        ("job_id", Value::Bytes(job.id.0.to_vec())),
        ("attempt", Value::uint(job.attempt.0)),
        ("seed", Value::Bytes(job.seed.0.to_vec())),
        ("members", Value::Array(members)),
        ("aggregator", job.aggregator.map_or(Value::Null, |runner| Value::Bytes(runner.0.to_vec()))),
        ("commit_until", Value::uint(job.commit_until.0)),
    ]);
    announce(world, NUMBER, "CommitteeDrawn", &data);
}
