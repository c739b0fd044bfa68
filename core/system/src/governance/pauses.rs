//! Paused system actors: the security council stops one at once, and the validators decide whether it was right (003 §11).
//!
//! A pause of the council opens its own vote, the ratification. It ends when the vote is counted against it, and after
//! `governance.pause` blocks where the vote was not counted for it. A ratified pause holds until a decision resumes the actor. Pauses
//! begin and end with a block: a block runs under one set of them.

use super::api::{GetPauses, PauseState, Paused, Resumed};
use super::state;
use super::types::{Pause, PauseEnd, Pauses};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, List};

/// The numbers of the system actors that are paused in a block, ascending.
pub fn paused(world: &World, height: Height) -> Result<Vec<u8>, Miss> {
    Ok(live(world, height)?.iter().map(|pause| pause.actor).collect())
}

/// The pauses that hold at a height, ascending by actor.
pub(super) fn live(world: &World, height: Height) -> Result<Vec<Pause>, Miss> {
    let is_live = |pause: &Pause| match pause.end {
        PauseEnd::Resumed => true,
        PauseEnd::Unratified { until, .. } => height < until,
    };
    Ok(state::pauses(world)?.pauses.into_vec().into_iter().filter(is_live).collect())
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
