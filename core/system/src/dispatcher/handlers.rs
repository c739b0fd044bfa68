//! What 0x02 does when it is asked.

use super::api::{CommitteeState, GetCommittee, GetJob, HandleMessage, JobState, SubmitJob, Submitted};
use super::escrow::pay_out;
use super::lower::{Offer, read};
use super::record::submitted;
use super::transitions::further_size;
use super::{NUMBER, candidates, selection, state};
use crate::actor::{Context, Handle};
use crate::auction::lane_base_fee;
use crate::containers::handlers as containers;
use crate::entitlements::grants::domain_sets;
use crate::market::judge;
use crate::runners;
use crate::schema::Emit;
use crate::standstill::MARKET;
use cowboy_state::records::{Markets, keys};
use cowboy_state::{Key, Step};
use cowboy_types::cbor::Value;
use cowboy_types::job::{EpochCommittee, Job, JobSpec};
use cowboy_types::units::{Amount, Cells, Count, Height, Price};
use cowboy_types::{Abort, Address, Hash, List, Text, error};
use sha2::{Digest as _, Sha256};

const OWNER: Address = Address::system(NUMBER);

fn invalid() -> Abort {
    error::JOB_INVALID
}

impl Handle for SubmitJob {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        submit_job(context, &self.0.0)
    }
}

impl Handle for HandleMessage {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        submit_job(context, &self.0.0)
    }
}

fn submit_job(context: &mut Context<'_>, argument: &Value) -> Step<Hash> {
    // What came along goes back: the escrow is exactly what the job says, out of the sender's balance.
    if context.value > Amount::ZERO {
        let (sender, value) = (context.sender, context.value);
        pay_out(context.world, sender, value)?;
    }
    let markets: Markets = context.world.read(&keys::markets())?.expect("genesis wrote the base fees");
    let (rows, containers) = (context.params.jobs.clone(), context.params.containers.clone());
    let scaled = |fee: Price| Price(u64::try_from(u128::from(fee.0) * u128::from(rows.callback_price) / 10_000).unwrap_or(u64::MAX));
    let offer = Offer {
        rows: &rows,
        containers: &containers,
        block_time: context.params.consensus.block_time,
        sender: context.sender,
        max_fee_per_cycle: scaled(markets.base_fee_cycle),
        max_fee_per_cell: scaled(markets.base_fee_cell),
        callback_cells: Cells(context.params.delivery_cells()),
    };
    let size = argument.encode().len();
    // Its fields and its schemas are read, which takes as long again as decoding it.
    context.spend_reading(size)?;
    let (_, mut spec) = read(&offer, argument).map_err(|mistake| mistake.explain(context))?;
    spec.hosts = hosts(context)?;
    require_callback_price(context, &markets, &spec)?;
    submit(context, &spec, None)
}

/// Refuses a callback that offers less than the base fees of now: it would use the block at a price that nobody else may name (decision 557).
fn require_callback_price(context: &mut Context<'_>, markets: &Markets, spec: &JobSpec) -> Step<()> {
    let Some(callback) = &spec.callback else { return Ok(()) };
    let of_lane = lane_base_fee(markets.base_fee_cycle, context.params.lanes.runner_fee_multiplier);
    let offers = [("cycle", callback.max_fee_per_cycle, of_lane), ("cell", callback.max_fee_per_cell, markets.base_fee_cell)];
    if let Some((unit, offered, least)) = offers.into_iter().find(|(_, offered, least)| offered < least) {
        context.explanation = Some(format!("callback.max_fee_per_{unit} is {}; the base fee is {}.", offered.0, least.0));
        return Err(invalid().into());
    }
    Ok(())
}

/// The hosts that the submitting actor's manifest grants, which travel with the job; nothing where an account submits.
fn hosts(context: &mut Context<'_>) -> Step<Option<List<Text<255>, 2048>>> {
    if context.world.actor(context.sender)?.is_none() {
        return Ok(None);
    }
    let granted = crate::entitlements::manifests::read(context, context.sender)?;
    let Some(grant) = granted.get("http.fetch") else { return Ok(Some(List::default())) };
    let sets = domain_sets(context.world, [&granted])?;
    let hosts = grant.hosts(&sets).into_iter().map(|host| Text::new(host).ok_or(invalid()));
    Ok(Some(List::new(hosts.collect::<Result<_, _>>()?).ok_or(invalid())?))
}

/// Takes a job from the sender: holds its escrow, makes its candidates, and draws, or names the round whose seed will.
///
/// `checked` is the job whose result it checks: its runners are left out, and theirs is required what was required of those.
pub(crate) fn submit(context: &mut Context<'_>, spec: &JobSpec, checked: Option<&Job>) -> Step<Hash> {
    require_callback(context, spec)?;
    if runners::models::is_banned(context.world, &spec.model)? {
        return Err(error::MODEL_NOT_FOUND.into());
    }
    containers::require_allowed(context, spec)?;
    let id = next_id(context)?;
    let submitter = checked.map_or(context.sender, |job| job.submitter);
    require_cheap_records(context, submitter)?;
    let registered = candidates::registered(context, spec)?;
    let size = size_of(context, spec, &registered)?;
    let (candidates, removed) = candidates::of_job(context, spec, submitter, &registered, size.committee, checked)?;
    let count = u64::try_from(candidates.candidates.len()).unwrap_or(u64::MAX);
    // Decision 103: a small network has small committees, as long as the mode makes sense with them. Those that judge others are more than these (decision
    // 585).
    let committee = size.committee.min(count);
    let least = checked.map_or(spec.verification.mode.least_runners(), |job| job.committee.0.saturating_add(1));
    if committee < least {
        context.explanation = Some(removed.explanation(registered.len(), count, least));
        return Err(error::NO_CANDIDATES.into());
    }
    pay_judging(context, spec, committee)?;
    let (escrow, callback_held) = hold(context, spec)?;
    let root = candidates.root();
    // They are kept for as long as the job, and its argument pays for none of them.
    context.charge_kept(&candidates);
    let mut job = Job {
        escrow,
        callback_held,
        committee: Count(committee),
        threshold: Count(threshold_of(spec, size, committee)),
        candidates_root: root,
        candidates: Count(count),
        retrial_of: checked.map_or(Hash::ZERO, |job| job.id),
        stood_still: MARKET.read(context.world)?.blocks,
        ..submitted(id, context.sender, context.height, context.timestamp, spec.timeout_blocks.0)
    };
    let world = &mut *context.world;
    world.write(state::spec_key(&id), spec);
    world.write(state::candidates_key(&id), &candidates);
    state::agenda().insert(world, &state::by_height(job.due, &id))?;
    state::jobs().insert(world, &state::by_height(job.submitted_at, &id))?;
    let mut patron = state::patron(world, job.submitter)?;
    patron.jobs = Count(patron.jobs.0.saturating_add(1));
    world.write(state::patron_key(job.submitter), &patron);
    emit_submission(context, &job, spec);
    if committee == 1 && !spec.is_delayed {
        // Drawn at the end of the block: no delivery of it can look at the draw and undo itself for another.
        job.seed = selection::seed(&context.draw.beacon, &id, job.submitted_at);
        job.queue_place = state::queue_draw(context.world, &id)?;
    } else {
        // The seed of a round that nobody has seen yet; the job is bound before it exists (003 §5.3; decision 36).
        let view = context.draw.view.saturating_add(context.params.jobs.draw_delay);
        (job.draw_epoch, job.draw_view) = (Count(context.draw.epoch), Count(view));
        state::draws().insert(context.world, &state::by_round(context.draw.epoch, view, &id))?;
    }
    let due = job.status_until;
    state::write(context.world, &mut job, due)?;
    Ok(id)
}

/// Charges the judging of what a committee may return: the price of a word of results, as often as the checks make judging longer than
/// reading. A job whose results could take a block's time to judge is refused (decision 393).
fn pay_judging(context: &mut Context<'_>, spec: &JobSpec, committee: u64) -> Step<()> {
    let rows = &context.params.jobs;
    let longest = spec.schema.max_return_bytes.0;
    let all = if spec.verification.mode.is_single() { committee } else { committee.saturating_add(further_size(rows, committee)) };
    let (weight, most) = (judge::weight(&context.params.weights, spec, longest.saturating_mul(all)), rows.judging_weight);
    if weight > most {
        let text = format!("Judging its results can take {weight} ns; the most is {most} ns. Lower max_return_bytes, or leave checks out.");
        context.explanation = Some(text);
        return Err(invalid().into());
    }
    let words = longest.div_ceil(32).saturating_mul(committee);
    context.charge(words.saturating_mul(rows.verify_word).saturating_mul(judge::effort(&context.params.weights, spec)), 0);
    Ok(())
}

/// Asks for what a submission needs beside the runners, so that a record that was missed does not have them all looked at again.
fn require_cheap_records(context: &Context<'_>, submitter: Address) -> Step<()> {
    let world = &*context.world;
    world.require([
        &Key::account(context.sender),
        &Key::account(OWNER),
        &state::patron_key(context.sender),
        &state::committee_key(),
        &state::agenda().first_key(),
        &state::jobs().first_key(),
        &state::draws().first_key(),
        &state::immediate().first_key(),
        &state::immediate_key(),
        &MARKET.key(),
        &runners::state::directory().first_key(),
        &crate::entitlements::state::manifest(submitter),
    ])?;
    let newest = state::by_height(context.height, &Hash([0xFF; 32]));
    for directory in [state::agenda(), state::jobs()] {
        directory.list(world, &newest, 1)?;
    }
    Ok(())
}

/// An answer goes to the requester, or to an actor of theirs: nobody forges answers for others' actors.
fn require_callback(context: &mut Context<'_>, spec: &JobSpec) -> Step<()> {
    let Some(callback) = &spec.callback else { return Ok(()) };
    let sender = context.sender;
    if callback.actor == sender || context.world.actor(callback.actor)?.is_some_and(|actor| actor.owner == sender) {
        return Ok(());
    }
    context.explanation = Some(format!("callback.actor is {}; it has to be the submitter, or an actor that it owns.", callback.actor));
    Err(invalid().into())
}

/// The id of the delivery's next job: sha256(delivery ‖ height, eight bytes, big-endian), from the second on with be32(number) behind (decision 128).
fn next_id(context: &mut Context<'_>) -> Step<Hash> {
    let most = context.params.jobs.per_delivery;
    for number in 0..most {
        let id = job_id(&context.id, context.height, number);
        if context.world.get(&state::job_key(&id))?.is_none() {
            return Ok(id);
        }
    }
    context.explanation = Some(format!("A transaction or a message submits at most {most} jobs."));
    Err(invalid().into())
}

/// The id of a delivery's job of this number.
pub fn job_id(delivery: &Hash, height: Height, number: u64) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(delivery.0);
    hasher.update(height.0.to_be_bytes());
    if number > 0 {
        hasher.update(u32::try_from(number).expect("a delivery submits few jobs").to_be_bytes());
    }
    Hash(hasher.finalize().into())
}

/// How many runners the job gets, and how many must agree.
fn size_of(context: &mut Context<'_>, spec: &JobSpec, registered: &[(Address, runners::Runner)]) -> Step<selection::Size> {
    let epoch = candidates::committee(context, registered)?;
    let verification = &spec.verification;
    if verification.mode.is_single() {
        return Ok(selection::Size { committee: 1, threshold: 1 });
    }
    Ok(match verification.runners.0 {
        0 => selection::Size { committee: epoch.committee.0, threshold: epoch.threshold.0 },
        runners => selection::Size { committee: runners, threshold: selection::two_thirds(runners) },
    })
}

/// How many must agree once the committee's size is known.
pub(super) fn threshold_of(spec: &JobSpec, size: selection::Size, committee: u64) -> u64 {
    let asked = spec.verification.threshold.0;
    let wanted = match asked {
        0 if committee == size.committee => size.threshold,
        0 => selection::two_thirds(committee),
        asked => asked,
    };
    wanted.clamp(1, committee)
}

/// Takes price, tip and the callback's most from the sender.
fn hold(context: &mut Context<'_>, spec: &JobSpec) -> Step<(Amount, Amount)> {
    let escrow = spec.max_price.checked_add(spec.tip).ok_or(error::JOB_ESCROW)?;
    let most = spec.callback.as_ref().map_or(Some(0), |callback| {
        let cycles = u128::from(callback.cycles.0) * u128::from(callback.max_fee_per_cycle.0);
        let cells = u128::from(callback.cells.0) * u128::from(callback.max_fee_per_cell.0);
        u64::try_from(cycles.checked_add(cells)?).ok()
    });
    let callback = Amount(most.ok_or(error::JOB_ESCROW)?);
    let total = escrow.checked_add(callback).ok_or(error::JOB_ESCROW)?;
    if !context.world.debit(context.sender, total)? {
        return Err(error::JOB_ESCROW.into());
    }
    context.world.credit(OWNER, total)?;
    Ok((escrow, callback))
}

fn emit_submission(context: &mut Context<'_>, job: &Job, spec: &JobSpec) {
    let event = Submitted {
        job_id: job.id,
        submitter: job.submitter,
        kind: spec.kind.clone(),
        mode: Text::new(spec.verification.mode.slug()).expect("a word"),
        max_price: spec.max_price,
        candidates: job.candidates,
        candidates_root: job.candidates_root,
        committee: job.committee,
    };
    event.emit(context.world);
}

impl Handle for GetJob {
    fn handle(self, context: &mut Context<'_>) -> Step<JobState> {
        let job = state::read(context.world, &self.job_id)?;
        let members = job.members.iter().map(|member| member.runner).collect();
        Ok(JobState {
            status: Text::new(job.status.name()).expect("a word"),
            submitter: job.submitter,
            submitted_at: job.submitted_at,
            members: List::new(members).expect("a committee fits"),
            attempt: job.attempt,
            reason: job.reason,
            output: job.outcome.map(|outcome| outcome.output),
        })
    }
}

impl Handle for GetCommittee {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<CommitteeState>> {
        let epoch = state::committee(context.world)?;
        Ok(epoch.map(|EpochCommittee { epoch, runners, concentration, committee, threshold }| CommitteeState {
            epoch,
            runners,
            concentration,
            committee,
            threshold,
        }))
    }
}
