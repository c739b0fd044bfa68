//! What holds between the records of gateways.

use super::types::{Gateway, Holds, Request};
use super::{NUMBER, state};
use crate::records::{Broken, Records, equal, holds};
use cowboy_types::units::Height;

/// The address of stakes has all of them; who is listed as active is a gateway, and so is whose stake waits for a decision; every request that is
/// remembered is listed by its height.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let gateways = records.of::<Gateway>(NUMBER, "gateway:")?;
    let owed = gateways.iter().map(|(_, gateway)| u128::from(gateway.stake.0)).sum();
    records.covers("the stakes of gateways are there", state::stakes(), owed)?;
    for listed in records.names(state::active()) {
        holds("who is listed as active is a gateway", gateways.iter().any(|(name, _)| *name == &listed[..]), &listed)?;
    }
    for (name, waits) in records.of::<Holds>(NUMBER, "held:")? {
        holds("whose stake waits for a decision is a gateway", gateways.iter().any(|(gateway, _)| *gateway == name), &name)?;
        holds("a stake that waits for no decision has no record", waits.until() > Height::ZERO, &name)?;
    }
    let place = |(id, request): (&[u8], Request)| [&request.height.0.to_be_bytes()[..], id].concat();
    let mut places: Vec<Vec<u8>> = records.of::<Request>(NUMBER, "request:")?.into_iter().map(place).collect();
    places.sort_unstable();
    let listed = records.names(state::requests()).iter().map(|name| name.to_vec()).collect();
    equal("every request that is remembered is listed by its height", &places, &listed)
}
