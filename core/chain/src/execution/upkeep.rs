//! What system actors do by themselves while a block has time: draws, phases of dealings, proofs, payments, deadlines (decision 722).

use super::{Execution, Halt, Turn};
use cowboy_system::upkeep::{AGENDAS, Moment};
use cowboy_types::{Address, keccak256};

impl Execution {
    /// Looks at the next subject of an agenda that is due, and writes a receipt where there is something to tell.
    pub(super) fn next_upkeep(&mut self) -> Result<Turn, Halt> {
        let environment = &self.machine.environment;
        let (height, beacon) = (environment.height, &environment.beacon);
        let Some(agenda) = AGENDAS.get(self.block.agenda) else { return Ok(Turn::Over) };
        let before = self.machine.world.checkpoint();
        let moment = Moment { params: &environment.params, height, beacon };
        let has_room = self.block.looks < agenda.looks && self.has_time() && !agenda.clock.is_still(&environment.paused);
        let looked = if has_room { (agenda.look)(&mut self.machine.world, moment)? } else { None };
        let Some(weight) = looked else {
            (self.block.agenda, self.block.looks) = (self.block.agenda + 1, 0);
            // The next agenda has a floor of its own, so that none waits for another.
            self.block.weight_before = self.block.weight;
            return Ok(Turn::More);
        };
        self.block.weight = self.block.weight.saturating_add(weight);
        let events = self.machine.world.events_since(&before).to_vec();
        if !events.is_empty() {
            let number = u64::try_from(self.block.looks).expect("few");
            let id = keccak256(&[agenda.domain, &height.0.to_be_bytes(), &number.to_be_bytes()]);
            let actor = Address::system(agenda.actor);
            self.report(id, actor, actor, events);
        }
        self.block.looks += 1;
        Ok(Turn::More)
    }
}
