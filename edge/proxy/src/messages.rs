//! The messages of a dealing, each proven by the chain: no node can leave one out, and no number of events can hide one.

use cowboy_sealing::dealing::Messages;
use cowboy_secrets::dealing::Phase;
use cowboy_service::{Chain, ChainError};
use cowboy_system::secrets::types::Round;
use cowboy_system::secrets::{round, state};

/// What the members of a dealing said, by their places.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) deals: Messages,
    pub(crate) acks: Messages,
    pub(crate) logs: Messages,
}

/// The messages of a round. None where the round is not in the same phase any more: then nothing that follows from them is asked for.
///
/// # Errors
///
/// If the node does not prove them.
pub(crate) async fn read(chain: &Chain, key_id: u32, round: &Round) -> Result<Option<Said>, ChainError> {
    let places: Vec<(Phase, usize)> = round::messages(round).collect();
    let mut keys = vec![state::round_key(key_id)];
    keys.extend(places.iter().map(|(phase, place)| state::message_key(key_id, *phase, *place)));
    // Together with the round: its messages go with it.
    let records = chain.read(&keys).await?;
    let is_same = records.read::<Round>(0)?.is_some_and(|now| now.number == round.number && now.phase == round.phase);
    if !is_same {
        return Ok(None);
    }
    let mut said = Said::default();
    for (at, (phase, place)) in places.into_iter().enumerate() {
        let message = records.bytes(at.saturating_add(1)).ok_or(ChainError::Record)?;
        let place = u16::try_from(place).map_err(|_| ChainError::Record)?;
        let of_phase = match phase {
            Phase::Deal => &mut said.deals,
            Phase::Ack => &mut said.acks,
            _ => &mut said.logs,
        };
        of_phase.insert(place, message.to_vec());
    }
    Ok(Some(said))
}
