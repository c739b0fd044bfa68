//! Removals of entitlements: actors that stop running at a height emit an event there (000 §9.11).

use super::Execution;
use cowboy_state::Miss;
use cowboy_system::entitlements::{NUMBER, nonexecutable};
use cowboy_types::{Address, keccak256};

impl Execution {
    /// Looks at the next actors after a removal, and writes the receipt that bears their announcements.
    pub(super) fn announce_removals(&mut self) -> Result<(), Miss> {
        let environment = &self.machine.environment;
        let (height, most) = (environment.height, environment.params.entitlements.sweep_per_block);
        let events = nonexecutable::sweep(&mut self.machine.world, height, most)?;
        if events.is_empty() {
            return Ok(());
        }
        let id = keccak256(&[b"cowboy-entitlement-removal:", &height.0.to_be_bytes()]);
        let registry = Address::system(NUMBER);
        self.report(id, registry, registry, events);
        Ok(())
    }
}
