//! Faults: what proves them, and what they cost (003 Slashing; decisions 96, 99, 119).

use super::api::{AttestFault, Jailed, ReportEquivocation};
use super::state;
use super::types::{Due, Fault, Member, Punishment, Status, Validator};
use crate::actor::{Context, Handle};
use crate::market::payment;
use crate::schema::Emit;
use commonware_codec::DecodeExt as _;
use cowboy_state::Step;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Header, List, Text, error, signing};

impl Handle for ReportEquivocation {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { validator: accused, first, second } = self;
        let header = |bytes: Vec<u8>| Header::decode(bytes).map_err(|_| error::BAD_EVIDENCE);
        let (first, second) = (header(first)?, header(second)?);
        let validator = state::validator(context.world, accused)?.ok_or(error::VALIDATOR_UNKNOWN)?;
        let signer = signing::address_of_public_key(&validator.signing_key);
        let signed = |header: &Header| signer.is_some() && header.signer() == signer;
        let round = |header: &Header| (header.context.epoch, header.context.view);
        // Who keeps a key on several chains, or reverts a dev chain, signs twice for one round of different chains.
        let is_of_this_chain = [&first, &second].iter().all(|header| header.genesis == context.genesis);
        // A false height in one of the two makes the evidence no older than the other says.
        let height = first.height().max(second.height());
        let is_recent = context.height.0.saturating_sub(height.0) <= context.params.consensus.evidence_age;
        // Two signatures over the same bytes are one header twice.
        let is_one_round = round(&first) == round(&second) && first.signing_digest() != second.signing_digest();
        let fault = Fault::Equivocation;
        let due = state::due(context.world, accused, &validator, height, fault.is_slashed())?;
        if !is_of_this_chain || !is_recent || !is_one_round || !signed(&first) || !signed(&second) || due == Due::Nothing {
            return Err(error::BAD_EVIDENCE.into());
        }
        let key = state::fault_key(accused, fault.number(), first.context.epoch.0, first.context.view.0);
        let mut done = state::attestations(context.world, &key)?;
        if done.is_done {
            return Err(error::BAD_EVIDENCE.into());
        }
        done.is_done = true;
        // From the newer of both heights on, also where that lies ahead, so that the same headers prove nothing twice.
        state::keep_fault(context.world, key, height.max(context.height), &done)?;
        state::forget_faults(context.world, context.params, context.height, context.draw.epoch)?;
        punish(context, accused, validator, fault, due)?;
        Ok(())
    }
}

impl Handle for AttestFault {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let Self { validator: accused, witness, fault, epoch, view } = self;
        let validator = state::validator(context.world, accused)?.ok_or(error::VALIDATOR_UNKNOWN)?;
        // Who signed in the epoch of the fault tells of it, also when the next one has begun: else nobody could tell of its last rounds.
        let total = state::total(context.world)?.ok_or(error::VALIDATOR_UNKNOWN)?;
        let ago = context.draw.epoch.saturating_sub(epoch).min(1);
        let set = total.epoch.0.checked_sub(ago).map(|epoch| state::set(context.world, epoch)).transpose()?.flatten();
        let set = set.ok_or(error::BAD_EVIDENCE)?;
        let is_member = |address: Address| set.members.iter().any(|member| member.address == address);
        let is_signed_by = |member: &Member| signing::address_of_public_key(&member.signing_key) == Some(context.sender);
        let is_witness = match witness {
            None => is_member(context.sender),
            // A node has the key that signs headers, not that of the account.
            Some(address) => set.members.iter().find(|member| member.address == address).is_some_and(is_signed_by),
        };
        if !is_witness {
            return Err(error::SYSTEM_UNAUTHORIZED.into());
        }
        let witness = witness.unwrap_or(context.sender);
        // Who does not sign in an epoch has no part in its rounds; a fault that is proven ends the part of who committed it, in this epoch and the one
        // before (see `state::drop_member`).
        let is_recent = is_recent((epoch, view), (context.draw.epoch, context.draw.view), context.params.consensus.evidence_age);
        let due = state::due(context.world, accused, &validator, context.height, fault.is_slashed())?;
        if !is_recent || !is_member(accused) || due == Due::Nothing {
            return Err(error::BAD_EVIDENCE.into());
        }
        let key = state::fault_key(accused, fault.number(), epoch, view);
        let mut record = state::attestations(context.world, &key)?;
        let mut witnesses = record.witnesses.into_vec();
        let Err(place) = witnesses.binary_search(&witness) else { return Err(error::BAD_EVIDENCE.into()) };
        if record.is_done {
            return Err(error::BAD_EVIDENCE.into());
        }
        witnesses.insert(place, witness);
        // By seats and by stake: small stakes that are many do not outvote large ones.
        let present = || set.members.iter().filter(|member| witnesses.binary_search(&member.address).is_ok());
        let stake_of = |members: &mut dyn Iterator<Item = &Member>| members.map(|member| u128::from(member.stake.0)).sum::<u128>();
        let (stake, total) = (stake_of(&mut present()), stake_of(&mut set.members.iter()));
        let faulty = set.members.len().saturating_sub(1) / 3;
        record.is_done = present().count() >= set.members.len() - faulty && stake * 3 > total * 2;
        record.witnesses = List::new(witnesses).expect("there are no more witnesses than validators");
        state::keep_fault(context.world, key, context.height, &record)?;
        state::forget_faults(context.world, context.params, context.height, context.draw.epoch)?;
        if record.is_done {
            punish(context, accused, validator, fault, due)?;
        }
        Ok(record.is_done)
    }
}

/// Whether a round is before that of `now`, and at most `most` views ago, which are at least as many as blocks: a round of this epoch, or one of the epoch
/// before while this one has no more views.
pub fn is_recent((epoch, view): (u64, u64), now: (u64, u64), most: u64) -> bool {
    match now.0.checked_sub(epoch) {
        Some(0) => view < now.1 && now.1.saturating_sub(view) <= most,
        Some(1) => now.1 <= most,
        _ => false,
    }
}

/// Takes the part of a validator's stake that a fault costs, and jails it, longer each time, unless it was jailed for what it did by then.
fn punish(context: &mut Context<'_>, accused: Address, mut validator: Validator, fault: Fault, due: Due) -> Step<()> {
    let rows = &context.params.consensus;
    let mut slashed = Amount::ZERO;
    if fault.is_slashed() {
        slashed = part(validator.stake, rows.double_sign_slash);
        validator.stake = validator.stake.saturating_sub(slashed);
        distribute(context, slashed)?;
    }
    let (until, ended_at) = match (due, state::punishment(context.world, accused)?) {
        (Due::Stake, Some(newest)) => (newest.ended_at.unwrap_or_else(|| bound_until(&validator)), newest.ended_at),
        _ => (jail(context, &mut validator), None),
    };
    state::set_validator(context.world, accused, &validator);
    state::set_punishment(context.world, accused, &Punishment { ended_at, is_slashed: fault.is_slashed() });
    if due == Due::All {
        state::drop_member(context.world, accused)?;
    }
    let fault = Text::new(fault.name()).expect("names of faults are short");
    Jailed { fault, slashed, until, validator: accused }.emit(context.world);
    Ok(())
}

/// The height until which a validator that is punished is bound.
fn bound_until(validator: &Validator) -> Height {
    match validator.status {
        Status::Jailed { until } | Status::Leaving { until } => until,
        Status::Waiting | Status::Active => Height::ZERO,
    }
}

/// Jails a validator, longer each time. Answers the height from which it may leave jail.
fn jail(context: &Context<'_>, validator: &mut Validator) -> Height {
    let rows = &context.params.consensus;
    let times = 1u64.checked_shl(u32::try_from(validator.jailings.0).unwrap_or(u32::MAX)).unwrap_or(u64::MAX).min(rows.jail_growth_cap);
    let until = Height(context.height.0.saturating_add(rows.jail.saturating_mul(times)));
    validator.jailings = Count(validator.jailings.0.saturating_add(1));
    validator.status = match validator.status {
        // Who gave notice stays bound as long as it would sit in jail, so that leaving ends no jail (decision 582).
        Status::Leaving { until: free_at } => Status::Leaving { until: free_at.max(until) },
        _ => Status::Jailed { until },
    };
    until
}

/// Slashed stake by SlashDistribution: burned, to who proved it, to the treasury (003 §8.4). What does not divide is burned.
fn distribute(context: &mut Context<'_>, slashed: Amount) -> Step<()> {
    let rows = &context.params.jobs;
    let submitter = payment::of_slash(rows, slashed, rows.slash_submitter);
    let treasury = payment::of_slash(rows, slashed, rows.slash_treasury);
    let burned = slashed.saturating_sub(submitter).saturating_sub(treasury);
    assert!(context.world.debit(state::stakes(), slashed)?, "every stake is there");
    context.world.credit(context.sender, submitter)?;
    context.world.credit(Address::system(cowboy_types::actors::TREASURY), treasury)?;
    Ok(context.world.burn(burned)?)
}

fn part(amount: Amount, basis_points: u64) -> Amount {
    let part = u128::from(amount.0) * u128::from(basis_points) / 10_000;
    Amount(u64::try_from(part).expect("at most the whole"))
}
