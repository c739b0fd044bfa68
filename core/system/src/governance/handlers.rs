//! What 0x09 does.

use super::api::{GetParam, TimerConfigUpdated, UpdateTimerConfig};
use super::named::named_row;
use super::state;
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_params::Params;
use cowboy_state::Step;
use cowboy_types::error;

impl Handle for GetParam {
    fn handle(self, context: &mut Context<'_>) -> Step<u64> {
        let row = named_row(&self.name)?;
        Ok(context.params.get(row.id).expect("every row has a value"))
    }
}

impl Handle for UpdateTimerConfig {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire, max_timers_per_actor, gc_cycles_per_block } = self;
        let rows = [
            ("timers.ttl_blocks", max_ttl_blocks),
            ("timers.cycles_per_fire", max_cycles_per_fire),
            ("timers.cells_per_fire", max_cells_per_fire),
            ("timers.timers_per_actor", max_timers_per_actor),
            ("timers.cleanup_cycles", gc_cycles_per_block),
        ];
        let mut params = context.params.clone();
        let mut moved = Vec::with_capacity(rows.len());
        for (name, value) in rows {
            let row = Params::row(name).expect("the timer rows exist");
            params.set(row.id, value).map_err(|_| error::INVALID_ARGUMENT)?;
            moved.push((row.id, value));
        }
        state::move_parameters(context.world, context.genesis_params, &moved)?;
        TimerConfigUpdated { max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire, max_timers_per_actor, gc_cycles_per_block }
            .emit(context.world);
        Ok(())
    }
}
