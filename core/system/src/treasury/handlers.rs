//! What 0x08 does.

use crate::actor::Context;
use cowboy_state::Step;
use cowboy_state::records::{Supply, keys};
use cowboy_types::cbor::Value;

pub(super) fn get_supply(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let supply: Supply = context.world.read(&keys::supply())?.expect("genesis wrote the supply");
    Ok(Value::map([
        ("genesis", Value::uint(supply.genesis.0)),
        ("minted", Value::uint(supply.minted.0)),
        ("burned", Value::uint(supply.burned.0)),
    ]))
}
