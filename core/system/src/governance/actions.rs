//! What decisions do: the actions of a proposal, their tiers, and their effects (003 §11, §13.1; decision 179).

use super::api::{CancelUpgrade, ParameterMoved, ScheduleUpgrade};
use super::types::{Action, Change, History, PauseEnd};
use super::{NUMBER, pauses, state, upgrades};
use crate::actor::{Context, Handle};
use crate::calls::{self, Argument};
use crate::schema::Emit as _;
use crate::treasury::api::Disburse;
use cowboy_params::{Params, Row, SetError, Tier};
use cowboy_state::Step;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Abort, Address, List, Text, error};

/// How the names of the rows begin that the schedule of inflation has.
const INFLATION_ROWS: &str = "economics.inflation_";

/// How the names of the rows begin that raise it.
const SECURITY_ROWS: &str = "economics.security_";

/// The tier of a proposal: the strictest of its actions'. Refuses what no decision may do. Changes of the schedule of versions are
/// checked in order, one upon the other.
pub(super) fn tier(context: &Context<'_>, actions: &[Action]) -> Step<u8> {
    let mut strictest = 0;
    let mut upgrades = state::upgrades(context.world)?;
    let before = state::parameters(context.world, context.genesis_params)?;
    let mut after = before.clone();
    for action in actions {
        upgrades = match action {
            Action::Upgrade { version, height } => upgrades::with(context, upgrades, *version, *height)?,
            Action::CancelUpgrade { version } => upgrades::without(context, upgrades, *version)?,
            _ => upgrades,
        };
        strictest = strictest.max(tier_of(context, action)?);
        if let Action::SetParameter { row, value } = action {
            after.set(*row, *value).map_err(refusal)?;
        }
    }
    check_relations(&before, &after)?;
    Ok(strictest)
}

/// Refuses parameters that do not fit together, where they did before (decision 553).
fn check_relations(before: &Params, after: &Params) -> Step<()> {
    if after.broken_since(before).is_some() { Err(error::PARAMETER_RELATION.into()) } else { Ok(()) }
}

fn refusal(refused: SetError) -> Abort {
    match refused {
        SetError::Unknown | SetError::Fixed | SetError::OutOfRange { .. } => error::INVALID_ARGUMENT,
    }
}

fn tier_of(context: &Context<'_>, action: &Action) -> Step<u8> {
    match action {
        Action::SetParameter { row, value } => {
            check_parameter(context, *row, *value)?;
            Ok(if row_of(*row)?.tier == Tier::T3 { 3 } else { 0 })
        }
        Action::Disburse { .. } => Ok(3),
        Action::SetCouncil { members } => {
            let size = u64::try_from(members.len()).unwrap_or(u64::MAX);
            if size == context.params.governance.council_size { Ok(3) } else { Err(error::INVALID_ARGUMENT.into()) }
        }
        Action::Call { actor, method, .. } => {
            let one = context.actors.iter().find(|one| one.number == *actor);
            match one.and_then(|one| one.method_in(context.rules.version, method)) {
                None => Err(error::UNAVAILABLE.into()),
                Some(row) if row.is_routine => Ok(0),
                // A decision that executes decisions would have no end.
                Some(_) if *actor == NUMBER => Err(error::PROPOSAL_ACTION.into()),
                Some(_) => Ok(3),
            }
        }
        Action::CircuitBreak { actor } | Action::Resume { actor } if *actor == NUMBER => Err(error::PROPOSAL_ACTION.into()),
        Action::CircuitBreak { .. } | Action::Resume { .. } | Action::Upgrade { .. } | Action::CancelUpgrade { .. } => Ok(3),
    }
}

fn row_of(id: u16) -> Step<&'static Row> {
    Ok(Params::ROWS.iter().find(|one| one.id == id).ok_or(error::INVALID_ARGUMENT)?)
}

/// Whether a parameter may become a value: within its range; a row of inflation at most two points away from every value that it had in the last
/// year (003 §8.2); a stepwise row no less than half of those that it had lately (decision 554).
fn check_parameter(context: &Context<'_>, row: u16, value: u64) -> Step<()> {
    let mut params = context.params.clone();
    params.set(row, value).map_err(refusal)?;
    let row = row_of(row)?;
    let is_too_far = if row.name.starts_with(INFLATION_ROWS) {
        let rows = &context.params.economics;
        values_of(context, row, rows.year)?.iter().any(|old| value.abs_diff(*old) > rows.inflation_step)
    } else if row.is_stepwise {
        let now = context.params.get(row.id).unwrap_or(value);
        values_of(context, row, now)?.iter().any(|old| value < old / 2)
    } else {
        false
    };
    if is_too_far { Err(error::INVALID_ARGUMENT.into()) } else { Ok(()) }
}

/// The values that a row had in the last `blocks`, the one of now among them.
fn values_of(context: &Context<'_>, row: &Row, blocks: u64) -> Step<Vec<u64>> {
    let now = context.params.get(row.id).unwrap_or(row.genesis);
    let history = state::history(context.world, row)?.entries.into_vec();
    // What a row is until its first change is what genesis says; it is unknown only where that is long ago.
    let first = history.first().map_or(now, |_| context.genesis_params.get(row.id).unwrap_or(now));
    let values = std::iter::once(first).chain(history.iter().map(|change| change.value));
    let ends = history.iter().map(|change| change.height.0).chain([u64::MAX]);
    let lately = values.zip(ends).filter(|(_, end)| end.saturating_add(blocks) > context.height.0);
    Ok(lately.map(|(value, _)| value).chain([now]).collect())
}

/// Whether actions move inflation, for which two thirds of all stake and of all heads must vote (003 §8.2).
pub(super) fn move_inflation(actions: &[Action]) -> bool {
    let is_of_inflation = |name: &str| name.starts_with(INFLATION_ROWS) || name.starts_with(SECURITY_ROWS);
    actions.iter().any(|action| match action {
        Action::SetParameter { row, .. } => Params::ROWS.iter().any(|one| one.id == *row && is_of_inflation(one.name)),
        _ => false,
    })
}

/// Makes a decision take effect, one action after another. The caller undoes all of them where one fails, or where parameters do not fit together
/// afterwards.
///
/// What 0x09 has are the deposits of open proposals. A method that it calls could take a deposit of its own from it, for a name or an allowance: such a
/// decision fails.
pub(super) fn take_effect(context: &mut Context<'_>, id: u64, actions: &[Action]) -> Step<()> {
    let own = Address::system(NUMBER);
    let before = context.world.account(own)?.balance;
    let params = state::parameters(context.world, context.genesis_params)?;
    actions.iter().try_for_each(|action| effect(context, id, action))?;
    check_relations(&params, &state::parameters(context.world, context.genesis_params)?)?;
    if context.world.account(own)?.balance < before { Err(error::PROPOSAL_ACTION.into()) } else { Ok(()) }
}

fn effect(context: &mut Context<'_>, id: u64, action: &Action) -> Step<()> {
    match action {
        Action::SetParameter { row, value } => set_parameter(context, id, *row, *value),
        Action::Disburse { bucket, to, amount } => {
            Disburse { bucket: bucket.clone(), to: *to, amount: *amount }.handle(context).map(|_| ())
        }
        Action::SetCouncil { members } => {
            context.world.write(state::council_key(), &super::types::Council { members: members.clone() });
            Ok(())
        }
        Action::Call { actor, method, argument } => call(context, *actor, method, argument),
        Action::CircuitBreak { actor } => pauses::set(context, *actor, Some(PauseEnd::Resumed)),
        Action::Resume { actor } => pauses::set(context, *actor, None),
        Action::Upgrade { version, height } => as_governance(context, ScheduleUpgrade { version: *version, height: *height }),
        Action::CancelUpgrade { version } => as_governance(context, CancelUpgrade { version: *version }),
    }
}

/// Runs a method of 0x09 as 0x09.
fn as_governance(context: &mut Context<'_>, method: impl Handle<Result = ()>) -> Step<()> {
    let sender = std::mem::replace(&mut context.sender, Address::system(NUMBER));
    let done = method.handle(context);
    context.sender = sender;
    done
}

/// Calls a method of a system actor as 0x09, without CBY, for the price of a call.
fn call(context: &mut Context<'_>, actor: u8, method: &str, argument: &[u8]) -> Step<()> {
    context.spend(context.params.execution.system_method_cycles, 0)?;
    let (sender, value) = (context.sender, context.value);
    (context.sender, context.value) = (Address::system(NUMBER), Amount::ZERO);
    let answer = calls::call(context, Address::system(actor), method, Argument::Encoded(argument));
    (context.sender, context.value) = (sender, value);
    answer?;
    // A method that hands the delivery on to a contract does so for the sender of a transaction only.
    if context.forward.take().is_some() { Err(error::PROPOSAL_ACTION.into()) } else { Ok(()) }
}

/// Moves a parameter from the next block on, and keeps what it was.
fn set_parameter(context: &mut Context<'_>, id: u64, row: u16, value: u64) -> Step<()> {
    check_parameter(context, row, value)?;
    state::move_parameters(context.world, context.genesis_params, &[(row, value)])?;
    let row = row_of(row)?;
    let mut entries = state::history(context.world, row)?.entries.into_vec();
    if entries.len() >= 256 {
        entries.remove(0);
    }
    entries.push(Change { height: context.height, value, proposal: Count(id) });
    let history = History { entries: List::new(entries).expect("the oldest go first") };
    context.world.write(state::history_key(row), &history);
    let name = Text::new(row.name).expect("names of parameters are short");
    ParameterMoved { name, proposal: Count(id), value }.emit(context.world);
    Ok(())
}
