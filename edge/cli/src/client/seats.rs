//! The seats of a proxy: what it is asked for also after it left, and what keeps its stake. The chain counts the same committees and dealings.

use super::secret::unread;
use bytes::Bytes;
use commonware_codec::{DecodeExt, Error};
use cowboy_console::failure::Failure;
use cowboy_service::{Chain, ChainError};
use cowboy_state::Key;
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Committee, ReleaseKey, Round};
use cowboy_types::Address;
use serde::Serialize;

/// A seat of a proxy in a committee, or in a dealing that makes the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Seat {
    /// The number of the key.
    pub(crate) key_id: u32,
    /// The number of the committee; none while it is being made.
    pub(crate) committee: Option<u64>,
    /// Its place among the members.
    pub(crate) place: usize,
}

/// What some records of one block show.
struct Seen {
    /// The records that have to be known.
    keys: Vec<Key>,
    /// The seats, where all of these are.
    seats: Vec<Seat>,
}

/// All seats of a proxy in one block, by the number of the key.
pub(crate) async fn of(chain: &Chain, proxy: Address) -> Result<Vec<Seat>, Failure> {
    let mut keys = vec![state::current_key()];
    loop {
        let records = chain.read(&keys).await.map_err(unread)?;
        let read = |key: &Key| records.bytes(keys.iter().position(|known| known == key)?);
        let seen = look(proxy, read).map_err(|_| unread(ChainError::Record))?;
        if seen.keys == keys {
            return Ok(seen.seats);
        }
        keys = seen.keys;
    }
}

/// What the records show that are known. What is not known counts as absent.
fn look(proxy: Address, known: impl Fn(&Key) -> Option<Bytes>) -> Result<Seen, Error> {
    let mut seen = Seen { keys: Vec::new(), seats: Vec::new() };
    let newest = seen.read::<u32>(&known, state::current_key())?;
    for key_id in state::key_ids(newest) {
        let Some(key) = seen.read::<ReleaseKey>(&known, state::release_key(key_id))? else { continue };
        for epoch in key.committees() {
            let committee = seen.read::<Committee>(&known, state::committee_key(key_id, epoch))?;
            let place = committee.and_then(|committee| committee.members.iter().position(|member| member.address == proxy));
            seen.seats.extend(place.map(|place| Seat { key_id, committee: Some(epoch.0), place }));
        }
        let round = seen.read::<Round>(&known, state::round_key(key_id))?;
        let place = round.and_then(|round| round.players.iter().position(|player| player.member.address == proxy));
        seen.seats.extend(place.map(|place| Seat { key_id, committee: None, place }));
    }
    Ok(seen)
}

impl Seen {
    fn read<T: DecodeExt<()>>(&mut self, known: impl Fn(&Key) -> Option<Bytes>, key: Key) -> Result<Option<T>, Error> {
        let record = known(&key).map(T::decode).transpose();
        self.keys.push(key);
        record
    }
}

/// Seats for people.
pub(crate) fn text(seats: &[Seat]) -> String {
    if seats.is_empty() {
        return "in no committee that answers, and drawn for none".to_owned();
    }
    let one = |Seat { key_id, committee, place }: &Seat| match committee {
        Some(committee) => format!("seat {place} of committee {committee} of key {key_id}"),
        None => format!("drawn for the next committee of key {key_id}"),
    };
    seats.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::Encode as _;
    use cowboy_secrets::dealing::Phase;
    use cowboy_system::secrets::types::{Member, Members, OutcomeBytes, Player};
    use cowboy_types::List;
    use cowboy_types::units::{Count, Height};
    use cowboy_types::wire::Fixed;
    use std::collections::BTreeMap;

    const PROXY: Address = Address([7; 20]);

    fn member(address: Address) -> Member {
        Member { address, key: Fixed([address.0[0]; 32]) }
    }

    /// A key with a committee of this number, in use, or replaced by another.
    fn key(epoch: u64, sunset: Option<Height>) -> Bytes {
        let (master, draw_at, next_look) = (Some(Fixed([1; 96])), Height(9), Height(9));
        ReleaseKey { master, epoch: Count(epoch), draw_at, next_look, rounds: Count(epoch), sunset, volumes: Count::ZERO }.encode()
    }

    fn committee(until: Option<Height>) -> Bytes {
        let members = Members::new(vec![member(Address([1; 20])), member(PROXY)]).expect("two");
        Committee { members, outcome: OutcomeBytes::default(), since: Height(1), until, confirmed: 3 }.encode()
    }

    fn round() -> Bytes {
        let round = Round {
            number: Count(1),
            begun_at: Height(1),
            phase: Phase::Join,
            ends_at: Height(9),
            dealers: Members::default(),
            players: List::new(vec![Player { member: member(PROXY), key: None }]).expect("one"),
            spoke: 0,
            heard: List::default(),
            hashes: List::default(),
            confirmations: List::default(),
        };
        round.encode()
    }

    /// A proxy that left sees every committee that may still ask for it: of a key that another replaced, the one before the current one, and the next
    /// one, for which it was drawn before. Without any of them it reads that it has none.
    #[test]
    fn a_proxy_has_a_seat_wherever_it_may_be_asked() {
        let records: BTreeMap<Key, Bytes> = BTreeMap::from([
            (state::current_key(), 2_u32.encode()),
            (state::release_key(1), key(5, Some(Height(100)))),
            (state::committee_key(1, Count(5)), committee(None)),
            (state::release_key(2), key(3, None)),
            (state::committee_key(2, Count(2)), committee(Some(Height(60)))),
            (state::round_key(2), round()),
        ]);
        let of = |proxy| look(proxy, |key: &Key| records.get(key).cloned()).expect("they decode");
        let seen = of(PROXY);
        assert!(records.keys().all(|key| seen.keys.contains(key)), "all of them are asked for");
        assert_eq!(
            text(&seen.seats),
            "seat 1 of committee 5 of key 1; seat 1 of committee 2 of key 2; drawn for the next committee of key 2"
        );
        assert_eq!(text(&of(Address([9; 20])).seats), "in no committee that answers, and drawn for none");
    }

    /// What cannot be read is no proof that there is no seat.
    #[test]
    fn a_record_that_does_not_decode_is_no_answer() {
        let damaged = |key: &Key| (*key == state::current_key()).then(|| Bytes::from_static(&[1]));
        assert!(look(PROXY, damaged).is_err());
    }
}
