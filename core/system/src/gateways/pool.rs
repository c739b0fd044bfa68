//! The serving-fee pool: shared out each epoch by stake times uptime (004 §9.4).

use super::api::{Moved, Paid};
use super::state;
use crate::schema::Emit;
use crate::staking::epoch::epoch_of;
use cowboy_params::Params;
use cowboy_state::{Key, Miss, World};
use cowboy_types::units::{Amount, Count, Height};

/// Whether the pool is to be shared out in this block: it is the first of an epoch for which that was not done.
pub fn is_due(world: &World, params: &Params, height: Height) -> Result<bool, Miss> {
    Ok(state::epoch(world)?.is_some_and(|last| epoch_of(params, height) > last.0))
}

/// Shares the pool out, and takes gateways off the list whose health ran out. What does not divide waits for the next epoch.
pub fn turn(world: &mut World, params: &Params, height: Height) -> Result<(), Miss> {
    let addresses = state::listed(world, usize::MAX)?;
    let records: Vec<Key> = addresses.iter().flat_map(|address| [state::gateway_key(*address), Key::account(*address)]).collect();
    world.require(&records)?;
    let gathered = world.account(state::pool())?.balance;
    let mut gateways = Vec::with_capacity(addresses.len());
    for address in addresses {
        let mut record = state::gateway(world, address)?.expect("a listed gateway has a record");
        record.count_uptime(params, height);
        gateways.push((address, record));
    }
    let total: u128 = gateways.iter().map(|(_, record)| u128::from(record.weight.0)).sum();
    for (address, mut record) in gateways {
        let part = (u128::from(gathered.0) * u128::from(record.weight.0)).checked_div(total).unwrap_or(0);
        let part = Amount(u64::try_from(part).expect("a part is at most the whole"));
        record.weight = Count::ZERO;
        if !record.is_active(params, height) {
            state::active().remove(world, &address.0)?;
        }
        state::set_gateway(world, address, &record);
        if part > Amount::ZERO {
            assert!(world.debit(state::pool(), part)?, "parts are at most the whole");
            world.credit(address, part)?;
            Paid(Moved { amount: part, gateway: address }).emit(world);
        }
    }
    world.write(state::epoch_key(), &Count(epoch_of(params, height)));
    Ok(())
}
