//! Claims that an accepted result is dishonest (003 §5.3 steps 5 and 6; decision 313).
//!
//! A job takes several claims, each with its bond, and its payout waits while one is open, in all for `jobs.dispute_max` blocks. A deterministic
//! result is checked by doing the work again, with a fresh committee that the claimant pays; every other claim is decided by the
//! security council or by governance. What is proven slashes; what is refuted loses the bond; what nobody decides loses a part of it. The
//! answer that was delivered stays delivered.
//!
//! A proposal that decides a claim keeps the job disputed for as long as it may take, and the stake of who is accused in the registry
//! (decision 314).

use super::NUMBER;
use super::api::{ChallengeResolved, DecideClaim, MakeClaim, Reproduce, ResultChallenged};
use crate::actor::{Arguments as _, Context, Handle};
use crate::dispatcher::effects::Retrial;
use crate::dispatcher::record::{change_members, next_height};
use crate::dispatcher::{escrow, handlers as dispatcher, payout};
use crate::market::{jobs, payment};
use crate::proposed::{Notice, ProposedCall};
use crate::runners::handlers::{self as registry, Entitled};
use crate::schema::{Emit, Form};
use crate::{council, runners};
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::cbor;
use cowboy_types::job::{Challenge, Job, JobSpec, JobStatus, MAX_CLAIMS, Member, Mode, Verdict};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Abort, Address, Hash, List, Text, error};

const OWNER: Address = Address::system(NUMBER);

/// The job that a claim is about: verified, in its window or disputed already, of a mode with a window, and not disputed for too long.
fn challenged(context: &Context<'_>, id: &Hash) -> Step<(Job, JobSpec)> {
    let job = jobs::read(context.world, id)?;
    let spec = jobs::spec(context.world, id)?;
    let is_open = matches!(job.status, JobStatus::Verified | JobStatus::Disputed)
        && context.height < job.status_until
        && (job.dispute_until == Height::ZERO || context.height < job.dispute_until)
        && spec.verification.mode != Mode::None
        && job.retrial_of == Hash::ZERO
        && context.value.0 >= context.params.jobs.challenge_bond;
    if is_open { Ok((job, spec)) } else { Err(error::CHALLENGE_REFUSED.into()) }
}

/// Whether a claim may be made against a runner: its result is among the accepted ones, or it put them together.
fn is_accusable(job: &Job, member: &Member) -> bool {
    let is_aggregator = job.is_aggregated && job.aggregator == Some(member.runner);
    member.verdict == Verdict::Accepted || is_aggregator && member.verdict != Verdict::Dishonest
}

impl Handle for MakeClaim {
    fn handle(self, context: &mut Context<'_>) -> Step<u64> {
        let Self { job_id, runner, claim } = self;
        let (mut job, _) = challenged(context, &job_id)?;
        if !job.all_members().any(|member| member.runner == runner && is_accusable(&job, member)) {
            return Err(error::CHALLENGE_REFUSED.into());
        }
        put_down(context, &mut job, runner, claim, Hash::ZERO)
    }
}

impl Handle for Reproduce {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let (mut job, mut spec) = challenged(context, &self.job_id)?;
        let is_under_way = job.claims.iter().any(|claim| claim.is_open() && claim.retrial != Hash::ZERO);
        // Whoever names the pool would name the judges (decision 585).
        if spec.verification.mode != Mode::Deterministic || is_under_way || spec.required_runner_pool.is_some() {
            return Err(error::CHALLENGE_REFUSED.into());
        }
        let committee = job.committee.0;
        let most = context.params.jobs.committee_max.max(committee.saturating_add(1));
        let runners = committee.saturating_mul(2).saturating_add(1).min(most);
        spec.callback = None;
        spec.max_price = for_runners(spec.max_price, job.committee, runners);
        spec.verification.runners = Count(runners);
        spec.verification.threshold = Count::ZERO;
        let retrial = dispatcher::submit(context, &spec, Some(&job))?;
        put_down(context, &mut job, Address::ZERO, Text::default(), retrial)?;
        Ok(retrial)
    }
}

/// The price for `runners` where it is `price` for `committee`: each gets as much, so that whoever was asked for that can be asked again.
fn for_runners(price: Amount, committee: Count, runners: u64) -> Amount {
    let price = u128::from(price.0).saturating_mul(u128::from(runners)).div_ceil(u128::from(committee.0.max(1)));
    Amount(u64::try_from(price).unwrap_or(u64::MAX))
}

/// Whether a vote for a claim is under way: a proposal decides it, or a member of the council would uphold it. It keeps its place: else whoever outbids
/// it last ends the vote (decision 324).
fn is_voted_for(claim: &Challenge) -> bool {
    claim.is_holding || !claim.upheld_by.is_empty()
}

/// The place of a new claim: the next one, or, where a job has all that it may have, that of one which is over, or of the open one with the
/// smallest bond, if the new bond is larger: nobody keeps others out with claims that cost less than theirs (decision 324).
fn place_for(job: &Job, bond: Amount) -> Result<usize, Abort> {
    if job.claims.len() < MAX_CLAIMS {
        return Ok(job.claims.len());
    }
    if let Some(over) = job.claims.iter().position(|claim| !claim.is_open()) {
        return Ok(over);
    }
    let open = job.claims.iter().enumerate().filter(|(_, claim)| claim.retrial == Hash::ZERO && !is_voted_for(claim));
    let smallest = open.min_by_key(|(place, claim)| (claim.bond, *place)).filter(|(_, claim)| claim.bond < bond);
    smallest.map(|(place, _)| place).ok_or(error::CHALLENGE_REFUSED)
}

/// Adds a claim to a job, whose window stands still from now on. Answers the claim's place.
fn put_down(context: &mut Context<'_>, job: &mut Job, runner: Address, claim: Text<256>, retrial: Hash) -> Step<u64> {
    let (challenger, bond) = (context.sender, context.value);
    let free = place_for(job, bond)?;
    if job.claims.get(free).is_some_and(Challenge::is_open) {
        end_claim(context.world, job, free, context.params.jobs.lapsed_bond_burn)?;
    }
    let mut claims = std::mem::take(&mut job.claims).into_vec();
    let none = List::default;
    let made = Challenge {
        challenger,
        bond,
        runner,
        claim,
        at: context.height,
        retrial,
        upheld_by: none(),
        rejected_by: none(),
        is_holding: false,
    };
    match claims.get_mut(free) {
        Some(former) => *former = made,
        None => claims.push(made),
    }
    let place = u64::try_from(free).expect("a job has few claims");
    job.claims = List::new(claims).expect("as many claims were allowed");
    if job.dispute_until == Height::ZERO {
        job.dispute_until = Height(context.height.0.saturating_add(context.params.jobs.dispute_max));
    }
    if job.status == JobStatus::Verified {
        job.window_left = Count(job.status_until.0.saturating_sub(context.height.0));
        job.status = JobStatus::Disputed;
        job.status_until = job.dispute_end();
    }
    let due = next_height(job);
    jobs::write(context.world, job, due)?;
    ResultChallenged { job_id: job.id, claim: place, challenger, runner, bond }.emit(context.world);
    Ok(place)
}

impl Handle for DecideClaim {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { job_id: id, claim: place, upheld: is_upheld, challenger: by } = self;
        let place = usize::try_from(place).map_err(|_| error::INVALID_ARGUMENT)?;
        let mut job = jobs::read(context.world, &id)?;
        let mut claims = job.claims.to_vec();
        // A vote that names its claimant never counts for another claim that took the place since.
        let is_meant = |claim: &Challenge| claim.is_open() && claim.retrial == Hash::ZERO && by.is_none_or(|by| by == claim.challenger);
        let Some(claim) = claims.get_mut(place).filter(|claim| is_meant(claim)) else {
            return Err(error::WRONG_PHASE.into());
        };
        let is_decided = agree(context, claim, is_upheld)?;
        job.claims = List::new(claims).expect("as many claims fit");
        if is_decided {
            let spec = jobs::spec(context.world, &id)?;
            let finding = if is_upheld { Finding::Upheld { owed: Amount::ZERO } } else { Finding::Refuted };
            resolve(context.world, context.params, context.height, &mut job, &spec, place, finding)?;
        }
        let due = next_height(&job);
        jobs::write(context.world, &mut job, due)?;
        Ok(is_decided)
    }
}

/// Keeps a claim open that a proposal decides. Answers whether it does.
pub(super) fn proposed(context: &mut Context<'_>, call: ProposedCall<'_>, notice: Notice) -> Result<bool, Miss> {
    match notice {
        Notice::Made(until) if call.method == DecideClaim::METHOD.name => wait_for_vote(context, call.argument, until),
        _ => Ok(false),
    }
}

/// A proposal that decides a claim was made, and takes effect by `until` if it is accepted: until then, and at most `jobs.dispute_vote_max` blocks
/// after the first claim, the job stays disputed and the accused withdraw no stake. Whatever is no open claim is left alone.
fn wait_for_vote(context: &mut Context<'_>, argument: &[u8], until: Height) -> Result<bool, Miss> {
    let Ok(argument) = cbor::decode(argument) else { return Ok(false) };
    let Ok(DecideClaim { job_id: id, claim: place, .. }) = DecideClaim::read(&argument) else { return Ok(false) };
    let Some(mut job) = jobs::find(context.world, &id)? else { return Ok(false) };
    let mut claims = job.claims.to_vec();
    let claim = usize::try_from(place).ok().and_then(|place| claims.get_mut(place));
    let Some(claim) = claim.filter(|claim| claim.is_open() && claim.retrial == Hash::ZERO) else { return Ok(false) };
    let rows = &context.params.jobs;
    let first = job.dispute_until.0.saturating_sub(rows.dispute_max);
    let until = until.min(Height(first.saturating_add(rows.dispute_vote_max)));
    if job.status != JobStatus::Disputed {
        return Ok(false);
    }
    job.vote_until = job.vote_until.max(until);
    job.status_until = job.dispute_end();
    if let Some(mut runner) = runners::state::find(context.world, claim.runner)? {
        runner.held_until = runner.held_until.max(until);
        runner.holds = Count(runner.holds.0.saturating_add(u64::from(!claim.is_holding)));
        claim.is_holding = true;
        runners::state::write(context.world, claim.runner, &runner);
        job.claims = List::new(claims).expect("as many claims fit");
    }
    let due = next_height(&job);
    jobs::write(context.world, &mut job, due)?;
    Ok(true)
}

/// Counts the sender's vote on a claim; its newest one counts. Answers whether it is decided: by governance at once, by the council with
/// as many votes as `governance.council_threshold`.
fn agree(context: &Context<'_>, claim: &mut Challenge, is_upheld: bool) -> Step<bool> {
    let council = council::council(context.world)?.members;
    if !council.contains(&context.sender) {
        context.require_governance()?;
        return Ok(true);
    }
    let voted = |votes: &List<Address, 64>, is_for: bool| {
        let mut votes: Vec<Address> = votes.iter().copied().filter(|voter| *voter != context.sender && council.contains(voter)).collect();
        if is_for {
            votes.push(context.sender);
        }
        votes.sort_unstable();
        List::new(votes).expect("as many as the council has")
    };
    claim.upheld_by = voted(&claim.upheld_by, is_upheld);
    claim.rejected_by = voted(&claim.rejected_by, !is_upheld);
    let votes = if is_upheld { &claim.upheld_by } else { &claim.rejected_by };
    Ok(u64::try_from(votes.len()).unwrap_or(u64::MAX) >= context.params.governance.council_threshold)
}

/// What a claim came to.
#[derive(Clone, Copy)]
enum Finding {
    /// It is proven.
    Upheld {
        /// What the proof cost the claimant and the pay of the job does not give back.
        owed: Amount,
    },
    /// It is not.
    Refuted,
}

/// Ends a claim. Upheld: who is accused is slashed and not paid, and the bonds of all claims against it come back; what the proof
/// cost comes out of the slashed stake (decision 592). Refuted: the bond is destroyed. When no claim is open any more, the window
/// continues, or the job is settled where nobody is left to be paid.
fn resolve(
    world: &mut World,
    params: &Params,
    height: Height,
    job: &mut Job,
    spec: &JobSpec,
    place: usize,
    finding: Finding,
) -> Result<(), Miss> {
    let claim = job.claims[place].clone();
    if let Finding::Upheld { owed } = finding {
        // Doing the work again accuses everybody who agreed on the result.
        let is_about = |runner: Address| claim.retrial != Hash::ZERO || runner == claim.runner;
        let accused: Vec<Address> =
            job.all_members().filter(|member| is_about(member.runner) && is_accusable(job, member)).map(|member| member.runner).collect();
        let mut entitled = Entitled { address: claim.challenger, cost: owed };
        for runner in &accused {
            let slashed = registry::slash(world, params, height, *runner, params.jobs.dishonesty_slash, entitled)?;
            entitled.cost = entitled.cost.saturating_sub(slashed.cost);
        }
        change_members(job, |members| {
            for member in members.iter_mut().filter(|member| accused.contains(&member.runner)) {
                member.verdict = Verdict::Dishonest;
            }
            Ok(())
        })?;
        let is_over = |other: &Challenge| other.retrial == Hash::ZERO && accused.contains(&other.runner);
        let over: Vec<usize> =
            (0..job.claims.len()).filter(|other| *other == place || job.claims[*other].is_open() && is_over(&job.claims[*other])).collect();
        for place in over {
            end_claim(world, job, place, 0)?;
        }
    } else {
        end_claim(world, job, place, 10_000)?;
    }
    let claim = u64::try_from(place).expect("a job has few claims");
    ChallengeResolved { job_id: job.id, claim, upheld: matches!(finding, Finding::Upheld { .. }) }.emit(world);
    go_on(world, params, height, job, spec)
}

/// Lets a runner withdraw its stake again, where this claim was the last one that kept it from that. A registration that is younger than the
/// claim was never held by it.
fn let_go(world: &mut World, claim: &Challenge) -> Result<(), Miss> {
    let held = runners::state::find(world, claim.runner)?.filter(|runner| runner.registered_at <= claim.at);
    if let Some(mut runner) = held.filter(|_| claim.is_holding) {
        runner.holds = Count(runner.holds.0.saturating_sub(1));
        if runner.holds == Count::ZERO {
            runner.held_until = Height::ZERO;
        }
        runners::state::write(world, claim.runner, &runner);
    }
    Ok(())
}

/// Ends a claim: a share of its bond, in hundredths of a percent, is destroyed, and the rest goes back.
fn end_claim(world: &mut World, job: &mut Job, place: usize, burned: u64) -> Result<(), Miss> {
    let mut claims = std::mem::take(&mut job.claims).into_vec();
    let (challenger, bond) = (claims[place].challenger, std::mem::take(&mut claims[place].bond));
    let_go(world, &claims[place])?;
    claims[place].is_holding = false;
    job.claims = List::new(claims).expect("as many claims fit");
    let was_there = world.debit(OWNER, bond)?;
    assert!(was_there, "the Verifier holds the bonds");
    let burned = payment::share(bond, burned);
    world.burn(burned)?;
    world.credit(challenger, bond.saturating_sub(burned))
}

/// What becomes of a job after a claim: while one is open it stays disputed; where nobody is left to be paid it is settled; else its window
/// continues where it stood still.
fn go_on(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    if job.claims.iter().any(Challenge::is_open) {
        return Ok(());
    }
    if !job.all_members().any(|member| member.verdict == Verdict::Accepted) {
        return payout::settle(world, params, height, job, spec);
    }
    job.status = JobStatus::Verified;
    job.status_until = Height(height.0.saturating_add(job.window_left.0.max(1)));
    Ok(())
}

/// Nobody decided for too long: a part of each bond is destroyed, the rest comes back, and the runners are paid.
pub(crate) fn lapse(world: &mut World, params: &Params, height: Height, job: &mut Job, spec: &JobSpec) -> Result<(), Miss> {
    for place in 0..job.claims.len() {
        if job.claims[place].is_open() {
            end_claim(world, job, place, params.jobs.lapsed_bond_burn)?;
        }
    }
    payout::settle(world, params, height, job, spec)
}

/// The work was done again: another result than the one that was accepted upholds the claim, and its claimant gets back what the work cost,
/// out of the pay that the job still holds, and else out of the stake of those who agreed on the wrong one (decision 592).
pub(crate) fn end_retrial(world: &mut World, params: &Params, height: Height, retrial: &Retrial) -> Result<(), Miss> {
    let Some(mut job) = jobs::find(world, &retrial.of)? else { return Ok(()) };
    let waiting = job.claims.iter().position(|claim| claim.is_open() && claim.retrial == retrial.id);
    let Some(place) = waiting.filter(|_| job.status == JobStatus::Disputed) else { return Ok(()) };
    let first = jobs::spec(world, &job.id)?;
    match (&retrial.outcome, &job.outcome) {
        (Some(again), Some(outcome)) => {
            let finding = if again.output == outcome.output {
                Finding::Refuted
            } else {
                let returned = retrial.cost.min(job.escrow);
                job.escrow = job.escrow.saturating_sub(returned);
                escrow::pay_out(world, job.claims[place].challenger, returned)?;
                Finding::Upheld { owed: retrial.cost.saturating_sub(returned) }
            };
            resolve(world, params, height, &mut job, &first, place, finding)?;
        }
        // The work could not be done again: nothing is proven.
        _ => {
            end_claim(world, &mut job, place, 0)?;
            go_on(world, params, height, &mut job, &first)?;
        }
    }
    let due = next_height(&job);
    jobs::write(world, &mut job, due)
}
