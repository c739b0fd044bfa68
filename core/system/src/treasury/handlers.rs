//! What 0x08 does.

use super::api::{GetSupply, TotalSupply};
use crate::actor::{Context, Handle};
use cowboy_state::Step;
use cowboy_state::records::{Supply, keys};

impl Handle for GetSupply {
    fn handle(self, context: &mut Context<'_>) -> Step<TotalSupply> {
        let supply: Supply = context.world.read(&keys::supply())?.expect("genesis wrote the supply");
        Ok(TotalSupply { genesis: supply.genesis, minted: supply.minted, burned: supply.burned })
    }
}
