//! What the Secrets Manager does by itself: draws, phases of dealings, deadlines of releases.

use super::{Execution, Halt, Turn};
use cowboy_system::secrets::{NUMBER, agenda};
use cowboy_types::{Address, keccak256};

impl Execution {
    /// Looks at the next key or release that is due, and writes a receipt where there is something to tell.
    pub(super) fn next_secret(&mut self) -> Result<Turn, Halt> {
        let environment = &self.machine.environment;
        let (params, height, beacon) = (&environment.params, environment.height, &environment.beacon);
        if self.block.secrets >= agenda::LOOKS {
            return Ok(Turn::Over);
        }
        let Some(subject) = agenda::due(&self.machine.world, height)? else { return Ok(Turn::Over) };
        let before = self.machine.world.checkpoint();
        agenda::look(&mut self.machine.world, params, height, beacon, subject)?;
        let events = self.machine.world.events_since(&before).to_vec();
        if !events.is_empty() {
            let id =
                keccak256(&[b"cowboy-secrets:", &height.0.to_be_bytes(), &u64::try_from(self.block.secrets).expect("few").to_be_bytes()]);
            let manager = Address::system(NUMBER);
            self.report(id, manager, manager, events);
        }
        self.block.secrets += 1;
        Ok(Turn::More)
    }
}
