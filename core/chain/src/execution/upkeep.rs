//! What system actors do by themselves: draws, phases of dealings, proofs, payments, deadlines.

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
        if self.block.looks >= agenda.looks || !(agenda.look)(&mut self.machine.world, moment)? {
            (self.block.agenda, self.block.looks) = (self.block.agenda + 1, 0);
            return Ok(Turn::More);
        }
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
