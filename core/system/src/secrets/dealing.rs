//! The messages of a dealing (decision 142). 0x04 does not read them: it keeps them until the dealing is over, with who spoke and a running hash,
//! and checks the outcome.

use super::api::{Ack, Confirm, Deal, Join, Log, Spoken};
use super::committee::{self, Now};
use super::round::{accepted, name_of, speakers};
use super::state;
use super::types::{Confirmation, MESSAGE_BYTES, OutcomeBytes, Round, bit, first};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::standstill::SECRETS;
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_secrets::PointG2;
use cowboy_secrets::dealing::{Outcome, Phase, phase_hash, threshold};
use cowboy_state::{Miss, Step};
use cowboy_types::units::Count;
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, List, error};

/// A message in the phase to which it belongs, and its place.
struct Speech {
    key_id: u32,
    round: Round,
    place: usize,
}

/// The dealing that is under way, where it is in this phase, the sender speaks in it and has not spoken yet.
fn admit(context: &Context<'_>, (key_id, number): (u64, u64), phase: Phase) -> Step<Speech> {
    let key_id = u32::try_from(key_id).map_err(|_| error::DEALING_PHASE)?;
    let round = state::round(context.world, key_id)?.ok_or(error::DEALING_PHASE)?;
    if round.number != Count(number) || round.phase != phase {
        return Err(error::DEALING_PHASE.into());
    }
    let place = speakers(&round).iter().position(|member| member.address == context.sender).ok_or(error::NOT_IN_DEALING)?;
    if round.spoke & bit(place) != 0 { Err(error::DEALING_SPOKEN.into()) } else { Ok(Speech { key_id, round, place }) }
}

/// Notes that the sender spoke, in an event and in the running hash of the phase.
fn note(context: &mut Context<'_>, speech: &mut Speech, message: &[u8]) -> Step<()> {
    if message.is_empty() || message.len() > MESSAGE_BYTES {
        return Err(error::DEALING_MESSAGE.into());
    }
    let Speech { key_id, round, place } = speech;
    let mut hashes = std::mem::take(&mut round.hashes).into_vec();
    let last = hashes.pop().unwrap_or(Hash::ZERO);
    hashes.push(phase_hash(&last, u16::try_from(*place).expect("a committee has few places"), message));
    round.hashes = List::new(hashes).expect("there are five phases");
    round.spoke |= bit(*place);
    let spoken = Spoken {
        index: u64::try_from(*place).expect("a committee has few places"),
        key_id: u64::from(*key_id),
        phase: name_of(round.phase),
        round: round.number,
    };
    context.charge_cells(u64::try_from(message.len()).unwrap_or(u64::MAX));
    spoken.emit(context.world);
    context.is_due = true;
    Ok(())
}

fn store(context: &mut Context<'_>, speech: &Speech) {
    context.world.write(state::round_key(speech.key_id), &speech.round);
}

impl Handle for Join {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut speech = admit(context, (self.key_id, self.round), Phase::Join)?;
        if self.key == Fixed([0; 32]) {
            return Err(error::DEALING_MESSAGE.into());
        }
        note(context, &mut speech, &self.key.0)?;
        let mut players = std::mem::take(&mut speech.round.players).into_vec();
        if let Some(player) = players.get_mut(speech.place) {
            player.key = Some(self.key);
        }
        speech.round.players = List::new(players).expect("their number did not change");
        store(context, &speech);
        Ok(())
    }
}

/// A message that 0x04 only passes on, in a record that members read with a proof: events can be left out, and be drowned in others.
fn pass_on(context: &mut Context<'_>, round: (u64, u64), phase: Phase, message: &[u8]) -> Step<()> {
    let mut speech = admit(context, round, phase)?;
    note(context, &mut speech, message)?;
    let Speech { key_id, place, .. } = speech;
    context.world.put(state::message_key(key_id, phase, place), Some(Bytes::copy_from_slice(message)));
    store(context, &speech);
    Ok(())
}

impl Handle for Deal {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        pass_on(context, (self.key_id, self.round), Phase::Deal, &self.message)
    }
}

impl Handle for Ack {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        pass_on(context, (self.key_id, self.round), Phase::Ack, &self.message)
    }
}

impl Handle for Log {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        pass_on(context, (self.key_id, self.round), Phase::Log, &self.message)
    }
}

impl Handle for Confirm {
    /// Counts a confirmation. Once every player has confirmed nobody is waited for; else the phase lasts to its end, so that whoever is slow counts, too.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut speech = admit(context, (self.key_id, self.round), Phase::Confirm)?;
        let given = match &self.outcome {
            Some(bytes) => Some(checked_outcome(context, &speech, &self.digest, bytes)?),
            None => None,
        };
        note(context, &mut speech, &[&self.digest.0[..], self.outcome.as_deref().unwrap_or_default()].concat())?;
        let place = bit(speech.place);
        let round = &mut speech.round;
        let mut confirmations = std::mem::take(&mut round.confirmations).into_vec();
        let at = confirmations.iter().position(|confirmation| confirmation.digest == self.digest).unwrap_or_else(|| {
            confirmations.push(Confirmation { digest: self.digest, members: 0, outcome: None });
            confirmations.len().saturating_sub(1)
        });
        let confirmation = confirmations.get_mut(at).expect("it was found or added");
        confirmation.members |= place;
        if confirmation.outcome.is_none() {
            confirmation.outcome = given;
        }
        round.confirmations = List::new(confirmations).expect("each player confirms once");
        let is_everybody = round.spoke == first(round.players.len());
        let Some(confirmation) = accepted(round).filter(|_| is_everybody) else {
            store(context, &speech);
            return Ok(());
        };
        let id = speech.key_id;
        let mut key = state::key(context.world, id)?.expect("a dealing is of a key");
        let before = key.next_look;
        let still = SECRETS.read(context.world)?;
        let now = Now { params: context.params, still: &still, height: context.height, beacon: &context.draw.beacon };
        committee::seat(context.world, now, (id, &mut key), &speech.round, confirmation)?;
        Ok(state::set_key(context.world, id, Some(before), &key)?)
    }
}

/// The outcome in its encoding, where it is one that this dealing can have.
fn checked_outcome(context: &mut Context<'_>, speech: &Speech, digest: &Hash, bytes: &[u8]) -> Step<OutcomeBytes> {
    let needed = threshold(speech.round.players.len());
    // Every coefficient is decoded, and checked to be in its group. The standing key is one more point.
    let points = u64::try_from(needed).unwrap_or(u64::MAX).saturating_add(1);
    context.spend_reading(bytes.len())?;
    context.spend(points.saturating_mul(context.params.costs.verify_bls), points.saturating_mul(context.params.weights.point))?;
    let outcome = Outcome::decode(bytes.to_vec()).map_err(|_| error::DEALING_OUTCOME)?;
    let key = state::key(context.world, speech.key_id)?.expect("a dealing is of a key");
    let standing = key.master.map(|master| PointG2::new(master.0).expect("the standing key was checked when it was accepted"));
    if outcome.digest() != *digest || outcome.encode() != bytes || outcome.check(speech.round.players.len(), standing.as_ref()).is_err() {
        return Err(error::DEALING_OUTCOME.into());
    }
    Ok(OutcomeBytes::new(bytes.to_vec()).ok_or(error::DEALING_OUTCOME)?)
}

/// The dealing of a key, where one is under way.
pub(super) fn under_way(context: &Context<'_>, key_id: Option<u64>) -> Result<Option<(u32, Round)>, Miss> {
    let id = match key_id {
        Some(id) => u32::try_from(id).ok(),
        None => state::current(context.world)?,
    };
    let Some(id) = id else { return Ok(None) };
    Ok(state::round(context.world, id)?.map(|round| (id, round)))
}
