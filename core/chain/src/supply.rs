//! Conservation: what changed in all records that hold CBY equals what was made less what was destroyed (003 §8, A-289).

use crate::input::SupplyChange;
use bytes::Bytes;
use commonware_codec::{Decode as _, Read};
use cowboy_state::records::{Account, Message, Origin};
use cowboy_state::{Kind, World};

/// CBY that a record holds.
pub fn held(kind: Kind, body: &Bytes) -> u64 {
    match kind {
        Kind::Account => decode::<Account>(body).balance.0,
        Kind::Message => decode::<Message>(body).value.0,
        Kind::Origin => decode::<Origin>(body).held.0,
        _ => 0,
    }
}

fn decode<T: Read<Cfg = ()>>(body: &Bytes) -> T {
    T::decode_cfg(body.clone(), &()).expect("the state holds only records that this code wrote")
}

/// Asserts that a block neither made nor lost a base unit beside what it says.
pub(crate) fn assert_conserved(world: &World, change: &SupplyChange) {
    let (mut before, mut now) = (0u128, 0u128);
    for kind in [Kind::Account, Kind::Message, Kind::Origin] {
        for (_, was, is) in world.changes(kind) {
            before += was.map_or(0, |body| u128::from(held(kind, body)));
            now += is.map_or(0, |body| u128::from(held(kind, body)));
        }
    }
    let (before, now) = (before + u128::from(change.minted.0), now + u128::from(change.burned.0));
    assert_eq!(before, now, "what records hold changes only by what was minted and burned");
}
