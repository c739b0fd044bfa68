//! The steps of the market's jobs: the Dispatcher (0x02) advances a job, and what that means for claims the Verifier (0x03) does.

use crate::dispatcher::effects::{Block, Effect};
use crate::dispatcher::lifecycle::{self, Step};
use crate::dispatcher::record::next_height;
use crate::market::jobs;
use crate::verifier::challenges;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::Hash;
use cowboy_types::units::Height;

/// Advances a job by one step, and applies the step's effects in their order.
pub fn advance(world: &mut World, params: &Params, height: Height, id: &Hash) -> Result<Step, Miss> {
    let mut block = Block::new(world, params, height);
    let (step, left) = lifecycle::advance(&mut block, id)?;
    let effects = block.into_effects();
    let Some((mut job, spec)) = left else { return Ok(step) };
    for effect in effects {
        match effect {
            Effect::ClaimsLapsed => challenges::lapse(world, params, height, &mut job, &spec)?,
            Effect::RetrialOver(retrial) => challenges::end_retrial(world, params, height, &retrial)?,
        }
    }
    let due = next_height(&job);
    jobs::write(world, &mut job, due)?;
    Ok(step)
}
