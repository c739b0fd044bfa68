//! Removals of entitlements: actors that stop running at a height emit an event there (000 §9.11).

use super::Execution;
use super::time::Part;
use cowboy_state::Miss;
use cowboy_system::entitlements::{NUMBER, nonexecutable};
use cowboy_types::{Address, keccak256};

impl Execution {
    /// Looks at the next actors after a removal, in the time that an agenda has (decision 781), and writes the receipt that bears their announcements.
    pub(super) fn announce_removals(&mut self) -> Result<(), Miss> {
        let environment = &self.machine.environment;
        let (height, params) = (environment.height, &environment.params);
        let room = Part::Upkeep.end(params, self.block.weight).saturating_sub(self.block.weight);
        let swept = nonexecutable::sweep(&mut self.machine.world, params, height, room)?;
        self.block.weight = self.block.weight.saturating_add(swept.weight);
        if swept.events.is_empty() {
            return Ok(());
        }
        let id = keccak256(&[b"cowboy-entitlement-removal:", &height.0.to_be_bytes()]);
        let registry = Address::system(NUMBER);
        self.report(id, registry, registry, swept.events);
        Ok(())
    }
}
