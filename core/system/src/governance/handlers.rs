//! What 0x09 does.

use super::{NUMBER, actions, state};
use crate::actor::{Context, number_argument};
use cowboy_params::Params;
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::error;

pub(super) fn get_param(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let row = actions::named_row(argument)?;
    Ok(Value::uint(context.params.get(row.id).expect("every row has a value")))
}

pub(super) fn update_timer_config(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let number = |name| number_argument(argument, name);
    let config = TimerConfig {
        ttl_blocks: number("max_ttl_blocks")?,
        cycles_per_fire: number("max_cycles_per_fire")?,
        cells_per_fire: number("max_cells_per_fire")?,
        timers_per_actor: number("max_timers_per_actor")?,
        cleanup_cycles: number("gc_cycles_per_block")?,
    };
    set_timer_config(context, &config)?;
    Ok(Value::Null)
}

/// The timer limits, as SYS_UPDATE_TIMER_CONFIG replaces them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerConfig {
    /// How far ahead an expiry may lie.
    pub ttl_blocks: u64,
    /// Cycles of one fire.
    pub cycles_per_fire: u64,
    /// Cells of one fire.
    pub cells_per_fire: u64,
    /// Live timers of one actor.
    pub timers_per_actor: u64,
    /// Cycles of the cleanup lane.
    pub cleanup_cycles: u64,
}

/// SYS_UPDATE_TIMER_CONFIG: moves the timer limits, each within its row's range, from the next block on.
pub fn set_timer_config(context: &mut Context<'_>, config: &TimerConfig) -> Step<()> {
    context.require_governance()?;
    let rows = [
        ("timers.ttl_blocks", config.ttl_blocks),
        ("timers.cycles_per_fire", config.cycles_per_fire),
        ("timers.cells_per_fire", config.cells_per_fire),
        ("timers.timers_per_actor", config.timers_per_actor),
        ("timers.cleanup_cycles", config.cleanup_cycles),
    ];
    let mut params = context.params.clone();
    let mut moved = Vec::with_capacity(rows.len());
    for (name, value) in rows {
        let row = Params::row(name).expect("the timer rows exist");
        params.set(row.id, value).map_err(|_| error::INVALID_ARGUMENT)?;
        moved.push((row.id, value));
    }
    state::move_parameters(context.world, context.genesis_params, &moved)?;
    let data = Value::map([
        ("max_ttl_blocks", Value::uint(config.ttl_blocks)),
        ("max_cycles_per_fire", Value::uint(config.cycles_per_fire)),
        ("max_cells_per_fire", Value::uint(config.cells_per_fire)),
        ("max_timers_per_actor", Value::uint(config.timers_per_actor)),
        ("gc_cycles_per_block", Value::uint(config.cleanup_cycles)),
    ]);
    context.announce(NUMBER, "timer_config.updated", &data);
    Ok(())
}
