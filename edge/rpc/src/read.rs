//! Committed state as it was after one block, and the ledger beside it.

use crate::{App, refusal::Refusal};
use bytes::Bytes;
use cowboy_api::{
    ApiError, Hex, convert,
    error::{PRUNED, SERVER, SKIPPED},
    model,
};
use cowboy_node::{Head, NodeHandle};
use cowboy_params::Params;
use cowboy_state::{Miss, StateKey, World, records::Actor};
use cowboy_store::{Place, View};
use cowboy_system::governance;
use cowboy_types::{Address, Block, Hash, Header, Height, Receipt, error::ACTOR_NOT_FOUND};
use serde_json::json;

/// The most rounds of reading that one answer takes: a directory's depth and its pages.
const MAX_ROUNDS: usize = 4_096;

/// The state after one block.
pub(crate) struct Snapshot {
    node: NodeHandle,
    /// The block.
    pub(crate) head: Head,
    world: World,
}

impl Snapshot {
    /// The newest committed state.
    pub(crate) fn newest(app: &App) -> Self {
        Self { node: app.node.clone(), head: app.node.head(), world: World::default() }
    }

    /// The same state, of which nothing is in memory yet.
    pub(crate) fn anew(&self) -> Self {
        Self { node: self.node.clone(), head: self.head, world: World::default() }
    }

    /// The state one block earlier, `None` where that is genesis.
    pub(crate) fn before(&self) -> Option<Self> {
        let number = self.head.number.checked_sub(1).filter(|number| *number > 0)?;
        Some(Self { node: self.node.clone(), head: Head { number, ..self.head }, world: World::default() })
    }

    /// These records, as they were after the block.
    pub(crate) async fn fetch(&self, keys: Vec<StateKey>) -> Result<Vec<(StateKey, Option<Bytes>)>, Refusal> {
        let values = self.node.read(self.head.number, keys.clone()).await?;
        Ok(keys.into_iter().zip(values).collect())
    }

    /// What `look` finds. It runs again after each fetch of what it missed.
    pub(crate) async fn ask<T>(&mut self, mut look: impl FnMut(&World) -> Result<T, Miss>) -> Result<T, Refusal> {
        for _ in 0..MAX_ROUNDS {
            let miss = match look(&self.world) {
                Ok(found) => return Ok(found),
                Err(miss) => miss,
            };
            let wanted = self.world.want(miss);
            for (key, value) in self.fetch(wanted).await? {
                self.world.fill(&key, value);
            }
        }
        Err(Refusal::new(SERVER, json!({ "reason": "the answer needs too many reads" })))
    }

    /// What the protocol knows of an actor, or that there is none.
    pub(crate) async fn actor(&mut self, address: Address) -> Result<Actor, Refusal> {
        let found = self.ask(|world| world.actor(address)).await?;
        found.ok_or_else(|| Refusal(ApiError::of_abort(ACTOR_NOT_FOUND).with(json!({ "address": address.to_string() }))))
    }

    /// The parameters of the next block.
    pub(crate) async fn params(&mut self, genesis: &Params) -> Result<Params, Refusal> {
        self.ask(|world| governance::state::parameters(world, genesis)).await
    }
}

/// The ledger at this moment.
pub(crate) fn ledger(app: &App) -> Result<View, Refusal> {
    Ok(app.node.view()?)
}

/// The number of the oldest block that the ledger has. A node that began at a state has none before, and others prune.
pub(crate) fn oldest(view: &View) -> Result<u64, Refusal> {
    Ok(view.first()?.unwrap_or(1))
}

/// The block of this number, which the ledger has unless it is pruned.
pub(crate) fn block(view: &View, number: u64) -> Result<Block, Refusal> {
    if let Some(block) = view.block(number)? {
        return Ok(block);
    }
    let oldest = oldest(view)?;
    let is_pruned = (1..oldest).contains(&number);
    Err(if is_pruned { Refusal::new(PRUNED, json!({ "number": number, "oldest": oldest })) } else { Refusal::missing("block", number) })
}

/// The number of the block at this height.
pub(crate) fn number_at(view: &View, height: u64) -> Result<u64, Refusal> {
    if let Some(number) = view.number_at(Height(height))? {
        return Ok(number);
    }
    not_pruned(view, height)?;
    let newest = match view.tip()? {
        Some(tip) => header(view, tip)?.height().get(),
        None => 0,
    };
    let context = json!({ "height": height, "newest": newest });
    let is_skipped = (1..newest).contains(&height);
    Err(if is_skipped { Refusal::new(SKIPPED, context) } else { Refusal::missing_with("block", height, context) })
}

/// Refuses a height below the oldest block that the ledger has.
pub(crate) fn not_pruned(view: &View, height: u64) -> Result<(), Refusal> {
    let number = oldest(view)?;
    if number == 1 {
        return Ok(());
    }
    let oldest = header(view, number)?.height().get();
    if (1..oldest).contains(&height) { Err(Refusal::new(PRUNED, json!({ "height": height, "oldest": oldest }))) } else { Ok(()) }
}

/// The number of the first block at this height or above it that the ledger has.
pub(crate) fn first_from(view: &View, height: u64) -> Result<u64, Refusal> {
    // A block's height is at least its number, and both ascend.
    let mut low = oldest(view)?;
    let mut high = view.tip()?.unwrap_or(low);
    while low < high {
        let middle = low + (high - low) / 2;
        if header(view, middle)?.height().get() < height { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

/// A receipt, the header of the block it is in, and where.
pub(crate) struct Found {
    header: Header,
    pub(crate) place: Place,
    pub(crate) receipt: Receipt,
}

impl Found {
    /// The receipt's place in the API's words.
    pub(crate) fn api_place(&self) -> cowboy_api::convert::Place {
        cowboy_api::convert::place(&self.header, self.header.digest(), usize::try_from(self.place.index).unwrap_or(usize::MAX))
    }
}

/// The receipt of this name, where it is final.
pub(crate) fn receipt(view: &View, id: &Hash) -> Result<Option<Found>, Refusal> {
    match view.place_of(id)? {
        Some(place) => at(view, place),
        None => Ok(None),
    }
}

/// The receipt at this place.
pub(crate) fn at(view: &View, place: Place) -> Result<Option<Found>, Refusal> {
    let Some(receipt) = view.receipt(place)? else { return Ok(None) };
    Ok(Some(Found { header: header(view, place.number)?, place, receipt }))
}

/// The header of the block of this number, without its transactions, which may have megabytes.
pub(crate) fn header(view: &View, number: u64) -> Result<Header, Refusal> {
    match view.header(number)? {
        Some(header) => Ok(header),
        None => Ok(block(view, number)?.header),
    }
}

/// What was read last. The neighbours in a list are often of one block, and of one receipt, which may have thousands of events (decision 704).
pub(crate) struct Last<K, V>(Option<(K, V)>);

impl<K, V> Default for Last<K, V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq, V> Last<K, V> {
    /// What is at this place, which is read unless it was read last.
    pub(crate) fn get(&mut self, place: K, read: impl FnOnce() -> Result<V, Refusal>) -> Result<&V, Refusal> {
        let found = match self.0.take() {
            Some(known) if known.0 == place => known,
            _ => {
                let found = read()?;
                (place, found)
            }
        };
        Ok(&self.0.insert(found).1)
    }
}

/// Events of the ledger, in the order of a list.
pub(crate) struct Logs<'a> {
    view: &'a View,
    receipt: Last<Place, Option<Receipt>>,
    header: Last<u64, Header>,
}

impl<'a> Logs<'a> {
    pub(crate) fn of(view: &'a View) -> Self {
        Self { view, receipt: Last::default(), header: Last::default() }
    }

    /// The event at this place of a receipt, with where it was made.
    pub(crate) fn get(&mut self, place: Place, index: u32) -> Result<Option<model::Log>, Refusal> {
        let view = self.view;
        let Some(receipt) = self.receipt.get(place, || Ok(view.receipt(place)?))? else { return Ok(None) };
        let Some(event) = usize::try_from(index).ok().and_then(|index| receipt.events.get(index)) else { return Ok(None) };
        let header = self.header.get(place.number, || header(view, place.number))?;
        Ok(Some(model::Log {
            block_height: header.height().get(),
            timestamp_ms: header.timestamp_ms.get(),
            receipt: Hex(receipt.id),
            index,
            event: convert::event(event),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 704: a list reads what its neighbours have in common once, and what failed again.
    #[test]
    fn neighbours_are_read_once() {
        let (mut last, mut read) = (Last::default(), Vec::new());
        for place in [1, 1, 2, 2, 2, 1, 9, 9] {
            let found = last.get(place, || {
                read.push(place);
                if place == 9 { Err(Refusal::missing("number", place)) } else { Ok(place * 10) }
            });
            assert_eq!(found.ok().copied(), (place != 9).then_some(place * 10));
        }
        assert_eq!(read, [1, 2, 1, 9, 9]);
    }
}
