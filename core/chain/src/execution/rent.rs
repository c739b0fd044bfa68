//! Rent and eviction: after the timers, a bounded number of actors each block, while it has time (003 §17.5, State Rent; decision 692).

use super::{Execution, Halt, Turn};
use cowboy_state::records::Actor;
use cowboy_state::{Directory, Kind, Miss};
use cowboy_system::storage::rent::{self, Collected};
use cowboy_system::storage::{NUMBER, eviction, state, sweep};
use cowboy_types::{Address, keccak256};

impl Execution {
    /// Collects the rent of the next actor that is due, looks at the next that may owe rent since fewer bytes are free, or prunes the next piece of one that was
    /// evicted.
    pub(super) fn next_rent(&mut self) -> Result<Turn, Halt> {
        if !self.has_time() {
            return Ok(Turn::Over);
        }
        let rows = &self.machine.environment.params.rent;
        let (collections, prunings) = (rows.collections_per_block, rows.prunings_per_block);
        if let Some(actor) = self.due_for_rent()?.filter(|_| self.block.collected < collections) {
            let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
            let done = rent::collect(&mut self.machine.world, params, height, actor)?;
            self.block.collected += 1;
            self.note(done);
            return Ok(Turn::More);
        }
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        if self.block.collected < collections {
            let both = (&**params, &self.machine.environment.chain.params);
            if let Some(done) = sweep::look(&mut self.machine.world, both, height)? {
                self.block.collected += 1;
                self.note(done);
                return Ok(Turn::More);
            }
        }
        // What comes due by pruning waits for the next block.
        self.block.collected = collections;
        let piece = if self.block.pieces < prunings { eviction::prune(&mut self.machine.world, params, height)? } else { None };
        let Some(done) = piece else { return Ok(Turn::Over) };
        self.block.pieces += 1;
        self.note(done);
        Ok(Turn::More)
    }

    /// The first actor whose next collection is at hand.
    fn due_for_rent(&self) -> Result<Option<Address>, Miss> {
        let now = self.machine.environment.height;
        let first = Directory::rents().list(&self.machine.world, &[], 1)?;
        Ok(first.first().map(|name| state::listed(name)).filter(|(due, _)| *due <= now).map(|(_, actor)| actor))
    }

    /// Counts a step's modelled time, and writes a receipt where there is something to tell.
    fn note(&mut self, done: Collected) {
        self.block.weight = self.block.weight.saturating_add(done.weight);
        self.block.pruned.extend(done.pruned);
        if done.events.is_empty() {
            return;
        }
        let height = self.machine.environment.height;
        let id = keccak256(&[b"rent:", &done.actor.0, &height.0.to_be_bytes(), done.events[0].name.as_bytes()]);
        self.report(id, Address::system(NUMBER), done.actor, done.events);
    }

    /// Counts what the block did to the size of all storage, and lets the rate follow it.
    pub(super) fn count_storage(&mut self) -> Result<(), Miss> {
        let bytes = |body: Option<&bytes::Bytes>| {
            body.map_or(0, |body| {
                let actor: Actor =
                    commonware_codec::DecodeExt::decode(body.clone()).expect("the state holds only records that this code wrote");
                i128::from(rent::size(&actor).0)
            })
        };
        let grown = self.machine.world.changes(Kind::Actor).map(|(_, was, is)| bytes(is) - bytes(was)).sum();
        let (params, height) = (&self.machine.environment.params, self.machine.environment.height);
        rent::close(&mut self.machine.world, params, height, grown)
    }
}
