//! Paused system actors: the security council stops one at once, and the validators decide whether it was right (003 §11).
//!
//! A pause of the council opens its own vote, the ratification. It ends when the vote is counted against it, and after
//! `governance.pause` blocks where the vote was not counted for it. A ratified pause holds until a decision resumes the actor. Pauses
//! begin and end with a block: a block runs under one set of them.

use super::api::{CircuitBreak, GetPauses, PauseState, Paused, Resumed};
use super::types::{Action, Pause, PauseEnd, Pauses, Proposal, Stage, Wish, Wishes};
use super::{NUMBER, actions, proposals, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::staking::state as staking;
use cowboy_state::{Key, Miss, Step, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, List, error};

/// The numbers of the system actors that are paused in a block, ascending.
pub fn paused(world: &World, height: Height) -> Result<Vec<u8>, Miss> {
    Ok(live(world, height)?.iter().map(|pause| pause.actor).collect())
}

/// The pauses that hold at a height, ascending by actor.
fn live(world: &World, height: Height) -> Result<Vec<Pause>, Miss> {
    let is_live = |pause: &Pause| match pause.end {
        PauseEnd::Resumed => true,
        PauseEnd::Unratified { until, .. } => height < until,
    };
    Ok(state::pauses(world)?.pauses.into_vec().into_iter().filter(is_live).collect())
}

impl Handle for CircuitBreak {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let actor = actions::named_actor(context.actors, self.actor.as_ref())?;
        let is_paused = live(context.world, context.height)?.iter().any(|pause| pause.actor == actor);
        if actor == NUMBER || is_paused {
            return Err(error::PROPOSAL_ACTION.into());
        }
        let key = state::pause_wishes_key(actor);
        let is_agreed = wish(context, &key)?;
        if is_agreed {
            // The next pause of this actor is agreed on anew.
            context.world.remove(key);
            let proposal = open_ratification(context, actor)?;
            let until = Height(context.height.0.saturating_add(context.params.governance.pause));
            set(context, actor, Some(PauseEnd::Unratified { until, proposal: Count(proposal) }))?;
        }
        Ok(is_agreed)
    }
}

/// Counts the sender among the members that want something now: what a member said more than `governance.agreement` blocks ago does not
/// count, so that seven agree about one situation (decision 331). Answers whether they are enough.
fn wish(context: &mut Context<'_>, key: &Key) -> Step<bool> {
    let council = state::council(context.world)?;
    let rows = &context.params.governance;
    if !council.members.contains(&context.sender) {
        return Err(error::SYSTEM_UNAUTHORIZED.into());
    }
    let (sender, now) = (context.sender, context.height);
    let stored: Option<Wishes> = context.world.read(key)?;
    let mut wishes = stored.map_or_else(Vec::new, |stored| stored.wishes.into_vec());
    let holds =
        |wish: &Wish| wish.member != sender && council.members.contains(&wish.member) && now.0 < wish.at.0.saturating_add(rows.agreement);
    wishes.retain(holds);
    wishes.push(Wish { member: sender, at: now });
    wishes.sort_by_key(|wish| wish.member);
    let count = u64::try_from(wishes.len()).unwrap_or(u64::MAX);
    let is_enough = count >= rows.council_threshold;
    let wishes = List::new(wishes).ok_or(error::INVALID_ARGUMENT)?;
    context.world.write(key.clone(), &Wishes { wishes });
    Ok(is_enough)
}

/// Opens the vote on a pause of the council. It puts nothing down, and waits for no timelock: the pause holds already.
fn open_ratification(context: &mut Context<'_>, actor: u8) -> Step<u64> {
    let epoch = staking::total(context.world)?.ok_or(error::SYSTEM_UNAUTHORIZED)?.epoch;
    let rows = &context.params.governance;
    let until = Height(context.height.0.saturating_add(rows.voting_ratify.min(rows.pause)));
    let proposal = Proposal {
        proposer: Address::system(NUMBER),
        tier: 3,
        actions: List::new(vec![Action::CircuitBreak { actor }]).expect("one fits"),
        deposit: Amount::ZERO,
        stage: Stage::Voting { until },
        is_fast: true,
        is_ratification: true,
        epoch,
        ballots: List::default(),
    };
    proposals::add(context, &proposal)
}

/// The vote on a pause of the council was counted. Answers whether the pause was still open to it: where it ended first, or a decision
/// resumed the actor, the vote has no effect.
pub(super) fn ratify(context: &mut Context<'_>, id: u64, is_accepted: bool) -> Step<bool> {
    let is_voted_on = |pause: &&Pause| matches!(pause.end, PauseEnd::Unratified { proposal, .. } if proposal.0 == id);
    let Some(pause) = live(context.world, context.height)?.iter().find(is_voted_on).cloned() else { return Ok(false) };
    set(context, pause.actor, is_accepted.then_some(PauseEnd::Resumed))?;
    Ok(true)
}

/// Pauses a system actor until the given end, or resumes it.
pub(super) fn set(context: &mut Context<'_>, actor: u8, end: Option<PauseEnd>) -> Step<()> {
    let mut pauses = live(context.world, context.height)?;
    pauses.retain(|pause| pause.actor != actor);
    let is_paused = end.is_some();
    pauses.extend(end.map(|end| Pause { actor, end }));
    pauses.sort_by_key(|pause| pause.actor);
    let pauses = List::new(pauses).expect("there are fewer system actors than the list holds");
    context.world.write(state::pauses_key(), &Pauses { pauses });
    let actor = Address::system(actor);
    if is_paused {
        Paused { actor }.emit(context.world);
    } else {
        Resumed { actor }.emit(context.world);
    }
    Ok(())
}

impl Handle for GetPauses {
    fn handle(self, context: &mut Context<'_>) -> Step<List<PauseState, 64>> {
        let shown = |pause: &Pause| {
            let (until, proposal) = match pause.end {
                PauseEnd::Resumed => (None, None),
                PauseEnd::Unratified { until, proposal } => (Some(until), Some(proposal)),
            };
            PauseState { actor: Address::system(pause.actor), proposal, until }
        };
        let pauses = live(context.world, context.height)?.iter().map(shown).collect();
        Ok(List::new(pauses).expect("there are fewer system actors than the list holds"))
    }
}
