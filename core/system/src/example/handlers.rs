//! What the guest book does.

use super::api::{Erase, Sign, Signatures, Signed};
use super::state;
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::units::Count;

impl Handle for Sign {
    fn handle(self, context: &mut Context<'_>) -> Step<Count> {
        let Self { name, times } = self;
        let total = Count(state::signatures(context.world, &name)?.0.saturating_add(times));
        context.world.write(state::key(&name), &total);
        Signed { name, paid: context.value }.emit(context.world);
        Ok(total)
    }
}

impl Handle for Signatures {
    fn handle(self, context: &mut Context<'_>) -> Step<Count> {
        Ok(state::signatures(context.world, &self.name)?)
    }
}

impl Handle for Erase {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        context.world.remove(state::key(&self.name));
        Ok(())
    }
}
