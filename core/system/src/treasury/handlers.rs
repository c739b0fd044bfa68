//! What 0x08 does.

use super::api::{GetSupply, TotalSupply};
use crate::actor::Context;
use cowboy_state::Step;
use cowboy_state::records::{Supply, keys};

pub(super) fn get_supply(context: &mut Context<'_>, _: GetSupply) -> Step<TotalSupply> {
    let supply: Supply = context.world.read(&keys::supply())?.expect("genesis wrote the supply");
    Ok(TotalSupply { genesis: supply.genesis, minted: supply.minted, burned: supply.burned })
}
