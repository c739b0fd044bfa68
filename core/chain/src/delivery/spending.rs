//! Work that is paid for before it is done: manifests, and arguments of system methods (decisions 390 and 394).
//!
//! What a step spends counts at once towards the limits of whoever runs, and a step that misses a record spends nothing.

use super::frames::Price;
use super::meter::length;
use super::{Machine, Step};
use cowboy_system::Work;
use cowboy_system::entitlements::{manifests, state};
use cowboy_types::entitlement::Grants;
use cowboy_types::{Address, error};
use std::sync::Arc;

impl Machine {
    /// Charges work before it is done: to the handler that runs, or to the delivery where none does. Fails where less is left.
    pub(super) fn spend(&mut self, price: Price) -> Step<()> {
        let running = self.running();
        if running.frames.is_empty() {
            return Ok(running.meter.charge(price.cycles, price.cells, price.weight)?);
        }
        let left = self.budget();
        let spent = &mut self.running().spent;
        *spent = spent.with(price);
        if price.cycles > left.cycles {
            return Err(error::OUT_OF_CYCLES.into());
        }
        if price.cells > left.cells {
            return Err(error::OUT_OF_CELLS.into());
        }
        if price.weight > left.weight { Err(error::OUT_OF_TIME.into()) } else { Ok(()) }
    }

    /// What the step spent before its work, which is over.
    pub(super) fn take_spent(&mut self) -> Price {
        std::mem::take(&mut self.running().spent)
    }

    /// What an actor's manifest grants. The first time that a delivery reads it, its bytes count before they are decoded, whether the block
    /// has them decoded already or not.
    pub(super) fn grants(&mut self, actor: Address) -> Step<Arc<Grants>> {
        let Some(bytes) = self.world.get(&state::manifest(actor))?.cloned() else { return Ok(Arc::default()) };
        if self.running().manifests.insert(actor, ()) {
            self.spend(self.reading(length(&bytes)))?;
        }
        if let Some((known, grants)) = self.granted.get(&actor)
            && *known == bytes
        {
            return Ok(grants.clone());
        }
        let grants = Arc::new(manifests::granted(&self.world, actor)?);
        self.granted.insert(actor, (bytes, grants.clone()));
        Ok(grants)
    }

    /// The modelled time of decoding `bytes` bytes.
    pub(super) fn reading(&self, bytes: u64) -> Price {
        Price::weight(bytes.saturating_mul(self.environment.params.weights.argument_byte))
    }

    /// What may still be used: by the handler that runs, or by the delivery where none does.
    pub(super) fn budget(&mut self) -> Work {
        if self.running().frames.is_empty() {
            let meter = &self.running().meter;
            return Work { cycles: meter.left().cycles.0, cells: meter.left().cells.0, weight: meter.weight_left() };
        }
        let left = self.top_left();
        Work { cycles: left.cycles, cells: left.cells, weight: left.weight_ns }
    }
}
