//! The record of a dealing: its phases, who speaks in them, and what was confirmed (decision 142).

use super::state;
use super::types::{Confirmation, Member, Round, indices};
use cowboy_secrets::dealing::{Phase, threshold};
use cowboy_state::World;
use cowboy_types::Text;

/// The name of a phase.
pub(super) fn name_of(phase: Phase) -> Text<16> {
    let name = match phase {
        Phase::Join => "join",
        Phase::Deal => "deal",
        Phase::Ack => "ack",
        Phase::Log => "log",
        Phase::Confirm => "confirm",
    };
    Text::new(name).expect("names of phases are short")
}

/// Who speaks in the phase of a round, in order.
pub(super) fn speakers(round: &Round) -> Vec<&Member> {
    match round.phase {
        Phase::Deal | Phase::Log => round.dealers.iter().collect(),
        Phase::Join | Phase::Ack | Phase::Confirm => round.players.iter().map(|player| &player.member).collect(),
    }
}

/// Whether enough dealers spoke in the phase that ends for the dealing to have an outcome.
pub(super) fn is_quorum(round: &Round) -> bool {
    usize::try_from(round.spoke.count_ones()).unwrap_or(0) >= threshold(round.dealers.len())
}

/// What as many players as have to answer confirmed: among them are honest ones.
pub(super) fn accepted(round: &Round) -> Option<Confirmation> {
    let needed = threshold(round.players.len());
    let is_enough = |confirmation: &&Confirmation| usize::try_from(confirmation.members.count_ones()).unwrap_or(0) >= needed;
    round.confirmations.iter().filter(is_enough).find(|confirmation| confirmation.outcome.is_some()).cloned()
}

/// The messages of a dealing that stand in records, by phase and place. Keys of players and confirmations stand in the round itself.
pub fn messages(round: &Round) -> impl Iterator<Item = (Phase, usize)> + '_ {
    let spoke = round.heard.iter().copied().chain([round.spoke]);
    let phases = [None, Some(Phase::Deal), Some(Phase::Ack), Some(Phase::Log)];
    let kept = phases.into_iter().zip(spoke).filter_map(|(phase, spoke)| phase.map(|phase| (phase, spoke)));
    kept.flat_map(|(phase, spoke)| indices(spoke).map(move |place| (phase, place)))
}

/// Removes a dealing that is over, with its messages.
pub(super) fn forget(world: &mut World, id: u32, round: &Round) {
    for (phase, place) in messages(round) {
        world.erase(state::message_key(id, phase, place));
    }
    world.remove(state::round_key(id));
}
