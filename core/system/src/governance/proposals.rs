//! Decisions: proposed with a deposit, voted on by stake and by head, and effective after a timelock (003 §11, §13.1).
//!
//! Both chambers must agree: the staked CBY of the set, and its validators with one vote each. A council of nine may
//! stop what is queued, and shorten the way of what is tier 3; it can decide nothing.

use super::types::{Action, Agreement, Ballot, Change, Choice, Proposal, Stage};
use super::{NUMBER, state};
use crate::actor::{Context, address_argument, amount_argument, number_argument};
use crate::staking::{state as staking, types::ValidatorSet};
use crate::treasury::vesting;
use cowboy_params::{Params, SetError, Tier};
use cowboy_state::{Step, Stop};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, List, Text, error};

/// How the names of the rows begin that the schedule of inflation has.
const INFLATION_ROWS: &str = "economics.inflation_";

/// How the names of the rows begin that raise it.
const SECURITY_ROWS: &str = "economics.security_";

/// The action that an argument describes.
fn action(argument: &Value) -> Step<Action> {
    match argument.get("action").and_then(Value::as_text) {
        Some("set_parameter") => {
            let name = argument.get("name").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
            let row = Params::row(name).ok_or(error::INVALID_ARGUMENT)?;
            Ok(Action::SetParameter { row: row.id, value: number_argument(argument, "value")? })
        }
        Some("disburse") => {
            let bucket = argument.get("bucket").and_then(Value::as_text).and_then(Text::new).ok_or(error::INVALID_ARGUMENT)?;
            Ok(Action::Disburse { bucket, to: address_argument(argument, "to")?, amount: amount_argument(argument, "amount")? })
        }
        Some("set_council") => {
            let Some(Value::Array(items)) = argument.get("members") else { return Err(error::INVALID_ARGUMENT.into()) };
            let address = |item: &Value| item.as_bytes().and_then(|bytes| bytes.try_into().ok()).map(Address);
            let mut members = items.iter().map(address).collect::<Option<Vec<_>>>().ok_or(error::INVALID_ARGUMENT)?;
            members.sort();
            members.dedup();
            Ok(Action::SetCouncil { members: List::new(members).ok_or(error::INVALID_ARGUMENT)? })
        }
        _ => Err(error::INVALID_ARGUMENT.into()),
    }
}

/// The tier of an action; refuses what nobody may do.
fn tier(context: &Context<'_>, action: &Action) -> Step<u8> {
    match action {
        Action::SetParameter { row, value } => {
            check_parameter(context, *row, *value)?;
            let row = Params::ROWS.iter().find(|one| one.id == *row).ok_or(error::INVALID_ARGUMENT)?;
            Ok(if row.tier == Tier::T3 { 3 } else { 0 })
        }
        Action::Disburse { .. } => Ok(3),
        Action::SetCouncil { members } => {
            let size = u64::try_from(members.len()).unwrap_or(u64::MAX);
            if size == context.params.governance.council_size { Ok(3) } else { Err(error::INVALID_ARGUMENT.into()) }
        }
    }
}

/// Whether a parameter may become a value: within its range, and a row of inflation at most two points away from every
/// value that it had in the last year (003 §8.2).
fn check_parameter(context: &Context<'_>, row: u16, value: u64) -> Step<()> {
    let mut params = context.params.clone();
    params.set(row, value).map_err(|refused| match refused {
        SetError::NotActive => error::PARAMETER_NOT_ACTIVE,
        SetError::Unknown | SetError::Fixed | SetError::OutOfRange { .. } => error::INVALID_ARGUMENT,
    })?;
    let row = Params::ROWS.iter().find(|one| one.id == row).ok_or(error::INVALID_ARGUMENT)?;
    if !row.name.starts_with(INFLATION_ROWS) {
        return Ok(());
    }
    let rows = &context.params.economics;
    let now = context.params.get(row.id).unwrap_or(value);
    let history = state::history(context.world, row)?.entries.into_vec();
    // What a row is until its first change is what genesis says; it is unknown only where that is more than a year ago.
    let first = history.first().map_or(now, |_| context.genesis_params.get(row.id).unwrap_or(now));
    let values = std::iter::once(first).chain(history.iter().map(|change| change.value));
    let ends = history.iter().map(|change| change.height.0).chain([u64::MAX]);
    let of_the_year = values.zip(ends).filter(|(_, end)| end.saturating_add(rows.year) > context.height.0);
    let is_too_far = of_the_year.map(|(old, _)| old).chain([now]).any(|old| value.abs_diff(old) > rows.inflation_step);
    if is_too_far { Err(error::INVALID_ARGUMENT.into()) } else { Ok(()) }
}

/// Whether an action moves inflation, for which two thirds of all stake and of all heads must vote (003 §8.2).
fn moves_inflation(action: &Action) -> bool {
    let Action::SetParameter { row, .. } = action else { return false };
    let is_of_inflation = |name: &str| name.starts_with(INFLATION_ROWS) || name.starts_with(SECURITY_ROWS);
    Params::ROWS.iter().any(|one| one.id == *row && is_of_inflation(one.name))
}

/// {action, …}, with the tier's deposit as value → number.
pub(super) fn propose(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let action = action(argument)?;
    let tier = tier(context, &action)?;
    let rows = &context.params.governance;
    let (deposit, voting) = if tier == 3 { (rows.deposit_3, rows.voting_3) } else { (rows.deposit_0, rows.voting_0) };
    if context.value.0 != deposit {
        return Err(error::GOVERNANCE_DEPOSIT.into());
    }
    let total = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?;
    let id = state::count(context.world)?;
    let until = Height(context.height.0.saturating_add(voting));
    let proposal = Proposal {
        proposer: context.sender,
        tier,
        action,
        deposit: context.value,
        stage: Stage::Voting { until },
        is_fast: false,
        epoch: total.epoch,
        ballots: List::default(),
    };
    context.world.write(state::count_key(), &Count(id.0 + 1));
    context.world.write(state::proposal_key(id.0), &proposal);
    announce(context, "proposal.made", id.0);
    Ok(Value::uint(id.0))
}

fn named(context: &Context<'_>, argument: &Value) -> Step<(u64, Proposal)> {
    let id = number_argument(argument, "proposal")?;
    Ok((id, state::proposal(context.world, id)?.ok_or(error::INVALID_ARGUMENT)?))
}

/// {proposal, choice}: a member of the newest set votes, or changes its vote.
pub(super) fn vote(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (id, mut proposal) = named(context, argument)?;
    let choice = match argument.get("choice").and_then(Value::as_text) {
        Some("yes") => Choice::Yes,
        Some("no") => Choice::No,
        Some("abstain") => Choice::Abstain,
        _ => return Err(error::INVALID_ARGUMENT.into()),
    };
    if !matches!(proposal.stage, Stage::Voting { until } if context.height < until) {
        return Err(error::GOVERNANCE_STAGE.into());
    }
    let total = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?;
    let set = staking::set(context.world, total.epoch.0)?.expect("the newest set is kept");
    if !set.members.iter().any(|member| member.address == context.sender) {
        return Err(error::SYSTEM_UNAUTHORIZED.into());
    }
    let mut ballots = proposal.ballots.into_vec();
    let ballot = Ballot { voter: context.sender, choice };
    match ballots.binary_search_by_key(&context.sender, |ballot| ballot.voter) {
        Ok(place) => ballots[place] = ballot,
        Err(place) => ballots.insert(place, ballot),
    }
    proposal.ballots = List::new(ballots).ok_or(error::INVALID_ARGUMENT)?;
    context.world.write(state::proposal_key(id), &proposal);
    Ok(Value::Null)
}

/// {proposal}: counts the votes once the time is over. Anybody may.
pub(super) fn count(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (id, mut proposal) = named(context, argument)?;
    if !matches!(proposal.stage, Stage::Voting { until } if context.height >= until) {
        return Err(error::GOVERNANCE_STAGE.into());
    }
    let total = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?;
    let set = staking::set(context.world, total.epoch.0)?.expect("the newest set is kept");
    let (mut stakes, mut heads) = ([0u128; 3], [0u128; 3]);
    for ballot in proposal.ballots.iter() {
        // Who left the set meanwhile has no stake in it.
        let Some(member) = set.members.iter().find(|member| member.address == ballot.voter) else { continue };
        let place = match ballot.choice {
            Choice::Yes => 0,
            Choice::No => 1,
            Choice::Abstain => 2,
        };
        stakes[place] += u128::from(member.stake.0);
        heads[place] += 1;
    }
    let rows = &context.params.governance;
    let (quorum, approval) = if proposal.tier == 3 { (rows.quorum_3, rows.approval_3) } else { (rows.quorum_0, rows.approval_0) };
    let all: u128 = set.members.iter().map(|member| u128::from(member.stake.0)).sum();
    let is_present = stakes.iter().sum::<u128>() * 10_000 >= all * u128::from(quorum) && all > 0;
    let is_more = |[yes, no, _]: [u128; 3], share: u64| yes * 10_000 > (yes + no) * u128::from(share);
    let is_majority = is_more(stakes, approval) && is_more(heads, 5_000);
    let has_two_thirds = |yes: u128, of: u128| yes * 3 >= of * 2;
    let is_supermajority = has_two_thirds(stakes[0], all) && has_two_thirds(heads[0], heads_of(&set));
    let is_accepted = is_present && is_majority && (is_supermajority || !moves_inflation(&proposal.action));
    let lock = if proposal.is_fast { rows.timelock_fast } else { rows.timelock };
    proposal.stage = if is_accepted { Stage::Queued { from: Height(context.height.0.saturating_add(lock)) } } else { Stage::Rejected };
    // Where too few cared to vote, the deposit pays for the noise.
    let (deposit, proposer) = (std::mem::take(&mut proposal.deposit), proposal.proposer);
    assert!(context.world.debit(Address::system(NUMBER), deposit)?, "0x09 holds every deposit");
    if is_present {
        context.world.credit(proposer, deposit)?
    } else {
        context.world.burn(deposit)?
    }
    context.world.write(state::proposal_key(id), &proposal);
    announce(context, if is_accepted { "proposal.queued" } else { "proposal.rejected" }, id);
    Ok(Value::Bool(is_accepted))
}

fn heads_of(set: &ValidatorSet) -> u128 {
    u128::try_from(set.members.len()).unwrap_or(u128::MAX)
}

/// {proposal}: makes what was accepted take effect once its timelock is over. Anybody may.
pub(super) fn execute(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (id, mut proposal) = named(context, argument)?;
    if !matches!(proposal.stage, Stage::Queued { from } if context.height >= from) {
        return Err(error::GOVERNANCE_STAGE.into());
    }
    let checkpoint = context.world.checkpoint();
    let done = effect(context, id, &proposal.action);
    proposal.stage = match done {
        Ok(()) => Stage::Executed,
        Err(Stop::Miss(miss)) => return Err(Stop::Miss(miss)),
        Err(Stop::Abort(_)) => {
            context.world.rollback(&checkpoint);
            Stage::Failed
        }
    };
    let is_done = proposal.stage == Stage::Executed;
    context.world.write(state::proposal_key(id), &proposal);
    announce(context, if is_done { "proposal.executed" } else { "proposal.failed" }, id);
    Ok(Value::Bool(is_done))
}

fn effect(context: &mut Context<'_>, id: u64, action: &Action) -> Step<()> {
    match action {
        Action::SetParameter { row, value } => set_parameter(context, id, *row, *value),
        Action::Disburse { bucket, to, amount } => vesting::spend(context, bucket, *to, *amount),
        Action::SetCouncil { members } => {
            context.world.write(state::council_key(), &super::types::Council { members: members.clone() });
            Ok(())
        }
    }
}

/// Moves a parameter from the next block on, and keeps what it was.
fn set_parameter(context: &mut Context<'_>, id: u64, row: u16, value: u64) -> Step<()> {
    check_parameter(context, row, value)?;
    state::move_parameters(context.world, [(row, value)])?;
    let row = Params::ROWS.iter().find(|one| one.id == row).ok_or(error::INVALID_ARGUMENT)?;
    let mut entries = state::history(context.world, row)?.entries.into_vec();
    if entries.len() >= 256 {
        entries.remove(0);
    }
    entries.push(Change { height: context.height, value, proposal: Count(id) });
    let history = super::types::History { entries: List::new(entries).expect("the oldest go first") };
    context.world.write(state::history_key(row), &history);
    let data = Value::map([("name", Value::text(row.name)), ("proposal", Value::uint(id)), ("value", Value::uint(value))]);
    context.announce(NUMBER, "parameter.moved", &data);
    Ok(())
}

/// {proposal}: a member of the council wants it stopped; with seven it is, while it waits.
pub(super) fn cancel(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (id, mut proposal) = named(context, argument)?;
    if !matches!(proposal.stage, Stage::Queued { .. }) {
        return Err(error::GOVERNANCE_STAGE.into());
    }
    let agreed = agree(context, id, "cancel")?;
    if agreed {
        proposal.stage = Stage::Cancelled;
        context.world.write(state::proposal_key(id), &proposal);
        announce(context, "proposal.cancelled", id);
    }
    Ok(Value::Bool(agreed))
}

/// {proposal}: a member of the council wants a tier 3 proposal to be quick; with seven its voting ends within a day, and
/// its timelock is six hours.
pub(super) fn fast_track(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (id, mut proposal) = named(context, argument)?;
    let Stage::Voting { until } = proposal.stage else { return Err(error::GOVERNANCE_STAGE.into()) };
    if proposal.tier != 3 || proposal.is_fast {
        return Err(error::GOVERNANCE_STAGE.into());
    }
    let agreed = agree(context, id, "fast_track")?;
    if agreed {
        let soon = Height(context.height.0.saturating_add(context.params.governance.voting_fast));
        proposal.stage = Stage::Voting { until: until.min(soon) };
        proposal.is_fast = true;
        context.world.write(state::proposal_key(id), &proposal);
        announce(context, "proposal.fast_tracked", id);
    }
    Ok(Value::Bool(agreed))
}

/// Counts the sender among the council's members that agree. Answers whether they are enough.
fn agree(context: &mut Context<'_>, id: u64, what: &str) -> Step<bool> {
    let council = state::council(context.world)?;
    if !council.members.contains(&context.sender) {
        return Err(error::SYSTEM_UNAUTHORIZED.into());
    }
    let key = state::agreement_key(id, what);
    let mut members = state::agreement(context.world, &key)?.members.into_vec();
    if let Err(place) = members.binary_search(&context.sender) {
        members.insert(place, context.sender);
    }
    let count = members.iter().filter(|member| council.members.contains(member)).count();
    let members = List::new(members).ok_or(error::INVALID_ARGUMENT)?;
    context.world.write(key, &Agreement { members });
    Ok(u64::try_from(count).unwrap_or(u64::MAX) >= context.params.governance.council_threshold)
}

pub(super) fn get_proposal(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (_, proposal) = named(context, argument)?;
    let (stage, height) = match proposal.stage {
        Stage::Voting { until } => ("voting", Value::uint(until.0)),
        Stage::Queued { from } => ("queued", Value::uint(from.0)),
        Stage::Executed => ("executed", Value::Null),
        Stage::Failed => ("failed", Value::Null),
        Stage::Rejected => ("rejected", Value::Null),
        Stage::Cancelled => ("cancelled", Value::Null),
    };
    Ok(Value::map([
        ("ballots", Value::uint(u64::try_from(proposal.ballots.len()).unwrap_or(u64::MAX))),
        ("height", height),
        ("is_fast", Value::Bool(proposal.is_fast)),
        ("proposer", Value::Bytes(proposal.proposer.0.to_vec())),
        ("stage", Value::text(stage)),
        ("tier", Value::uint(u64::from(proposal.tier))),
    ]))
}

pub(super) fn get_history(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = argument.get("name").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
    let row = Params::row(name).ok_or(error::INVALID_ARGUMENT)?;
    let entry = |change: &Change| {
        Value::map([
            ("height", Value::uint(change.height.0)),
            ("proposal", Value::uint(change.proposal.0)),
            ("value", Value::uint(change.value)),
        ])
    };
    Ok(Value::Array(state::history(context.world, row)?.entries.iter().map(entry).collect()))
}

fn announce(context: &mut Context<'_>, name: &'static str, id: u64) {
    context.announce(NUMBER, name, &Value::map([("proposal", Value::uint(id))]));
}
