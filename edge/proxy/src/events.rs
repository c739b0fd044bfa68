//! What the events of 0x04 tell: demands, and the messages of dealings.

use cowboy_api::model;
use cowboy_sealing::dealing::Messages;
use cowboy_secrets::dealing::{Phase, phase_hash};
use cowboy_service::{Chain, ChainError};
use cowboy_system::secrets::NUMBER;
use cowboy_system::secrets::types::Round;
use cowboy_types::cbor::{self, Value};
use cowboy_types::{Address, Hash};

/// The events of 0x04 from a height on, as the node tells them.
async fn events(chain: &Chain, from: u64) -> Result<Vec<model::Event>, ChainError> {
    chain.events(Address::system(NUMBER), from).await
}

/// The releases of which answers were demanded from a height on. Whether they still are says their record.
///
/// # Errors
///
/// If the node does not answer.
pub(crate) async fn demanded(chain: &Chain, from: u64) -> Result<Vec<Hash>, ChainError> {
    Ok(events(chain, from).await?.iter().filter_map(demand_of).collect())
}

/// The messages of every phase of a dealing that is over, and of the one under way as far as the chain's record counts them. None where
/// the node leaves one out, or adds one: the record's running hashes tell.
///
/// # Errors
///
/// If the node does not answer.
pub(crate) async fn messages(chain: &Chain, key_id: u32, round: &Round) -> Result<Option<Vec<Messages>>, ChainError> {
    let mut all: Vec<Vec<(u16, Vec<u8>)>> = vec![Vec::new(); Phase::VARIANTS.len()];
    for event in events(chain, round.begun_at.0).await? {
        if let Some((phase, index, message)) = spoken(&event, key_id, round) {
            all.get_mut(phase).into_iter().for_each(|messages| messages.push((index, message.clone())));
        }
    }
    let is_whole =
        round.hashes.iter().zip(&all).all(|(hash, messages)| {
            messages.iter().fold(Hash::ZERO, |before, (index, message)| phase_hash(&before, *index, message)) == *hash
        });
    Ok(is_whole.then(|| all.into_iter().map(|messages| messages.into_iter().collect()).collect()))
}

/// The release of which answers are demanded, where an event says so.
fn demand_of(event: &model::Event) -> Option<Hash> {
    if event.name != "release.demanded" {
        return None;
    }
    let data = cbor::decode(&event.data.0).ok()?;
    Some(Hash(data.get("release_id")?.as_bytes()?.try_into().ok()?))
}

/// A message of a dealing: its phase, who spoke, what it said.
fn spoken(event: &model::Event, key_id: u32, round: &Round) -> Option<(usize, u16, Vec<u8>)> {
    if event.name != "dealing.message" {
        return None;
    }
    let data = cbor::decode(&event.data.0).ok()?;
    let number = |name: &str| data.get(name).and_then(Value::as_u64);
    if number("key_id")? != u64::from(key_id) || number("round")? != round.number.0 {
        return None;
    }
    let phase = match data.get("phase").and_then(Value::as_text)? {
        "join" => 0,
        "deal" => 1,
        "ack" => 2,
        "log" => 3,
        _ => 4,
    };
    Some((phase, u16::try_from(number("index")?).ok()?, data.get("message")?.as_bytes()?.to_vec()))
}
