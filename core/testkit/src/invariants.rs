//! What holds after every block, whatever happened in it.

use bytes::Bytes;
use cowboy_chain::{StateKey, invariants};
use cowboy_system::records::{Broken, Records};
use cowboy_system::{dispatcher, runners, verifier};
use cowboy_types::Address;
use cowboy_types::units::Height;
use std::collections::BTreeMap;

/// What an actor owes to others.
type Owed = fn(&Records<'_>) -> Result<u128, Broken>;

/// The actors of the market. No test sends CBY to them without a reason, so that they have what they owe and no more.
const MARKET: [(u8, Owed); 3] = [
    (runners::NUMBER, runners::invariants::owed),
    (dispatcher::NUMBER, dispatcher::invariants::owed),
    (verifier::NUMBER, verifier::invariants::owed),
];

/// Asserts all of it.
pub(crate) fn check(state: &BTreeMap<StateKey, Bytes>, height: Height) {
    if let Err(broken) = checked(state, height) {
        panic!("after block {}: {broken}", height.0);
    }
}

fn checked(state: &BTreeMap<StateKey, Bytes>, height: Height) -> Result<(), Broken> {
    let records = Records::open(state, height)?;
    invariants::check(&records)?;
    for (number, owed) in MARKET {
        let balance = u128::from(records.balance(Address::system(number))?.0);
        cowboy_system::records::equal("the market has what it owes and no more", &balance, &owed(&records)?)?;
    }
    Ok(())
}
