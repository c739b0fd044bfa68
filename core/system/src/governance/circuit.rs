//! The security council stops a system actor at once, and opens the vote on that (003 §11).

use super::api::CircuitBreak;
use super::named::named_actor;
use super::pauses::{live, set};
use super::types::{Action, PauseEnd, Proposal, Stage, Wish, Wishes};
use super::{NUMBER, proposals, state};
use crate::actor::{Context, Handle};
use crate::staking::state as staking;
use cowboy_state::{Key, Step};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, List, error};

impl Handle for CircuitBreak {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let actor = named_actor(context.actors, self.actor.as_ref())?;
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
