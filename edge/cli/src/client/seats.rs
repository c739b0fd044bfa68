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

/// Keys of secrets that are looked at in one request, of which there are ever more. Each has up to four records: itself, two committees and a dealing.
const PAGE: usize = 32;

/// What some records of one block show.
struct Seen {
    /// The records that have to be known.
    keys: Vec<Key>,
    /// The seats, where all of these are.
    seats: Vec<Seat>,
    /// How many keys of secrets were looked at with those of the pages before; none where that is all.
    next: Option<usize>,
}

/// All seats of a proxy, by the number of the key. Those of one key are of one block.
pub(crate) async fn of(chain: &Chain, proxy: Address) -> Result<Vec<Seat>, Failure> {
    let (mut seats, mut first) = (Vec::new(), Some(0));
    while let Some(place) = first {
        let seen = page(chain, proxy, place).await?;
        seats.extend(seen.seats);
        first = seen.next;
    }
    Ok(seats)
}

/// What the records of one block show of a page of keys.
async fn page(chain: &Chain, proxy: Address, first: usize) -> Result<Seen, Failure> {
    let mut keys = vec![state::current_key()];
    loop {
        let records = chain.read(&keys).await.map_err(unread)?;
        let read = |key: &Key| records.bytes(keys.iter().position(|known| known == key)?);
        let seen = look(proxy, first, read).map_err(|_| unread(ChainError::Record))?;
        if seen.keys == keys {
            return Ok(seen);
        }
        keys = seen.keys;
    }
}

/// What the records show that are known, of the keys of secrets from this place on. What is not known counts as absent.
fn look(proxy: Address, first: usize, known: impl Fn(&Key) -> Option<Bytes>) -> Result<Seen, Error> {
    let mut seen = Seen { keys: Vec::new(), seats: Vec::new(), next: None };
    let newest = seen.read::<u32>(&known, state::current_key())?;
    let ids = state::key_ids(newest);
    let next = first.saturating_add(PAGE);
    seen.next = ids.clone().nth(next).map(|_| next);
    for key_id in ids.skip(first).take(PAGE) {
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
    use cowboy_service::MAX_RECORDS;
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
        let of = |proxy| look(proxy, 0, |key: &Key| records.get(key).cloned()).expect("they decode");
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
        assert!(look(PROXY, 0, damaged).is_err());
    }

    /// However many keys governance had made: no request asks for more records than a node proves at once, and no key is left out.
    #[test]
    fn more_keys_than_one_request_takes_are_looked_at_in_pages() {
        let last = u32::try_from(2 * PAGE).expect("few") + 1;
        let mut records = BTreeMap::from([(state::current_key(), last.encode())]);
        for id in state::key_ids(Some(last)) {
            records.insert(state::release_key(id), key(2, Some(Height(100))));
            records.insert(state::committee_key(id, Count(2)), committee(None));
            records.insert(state::committee_key(id, Count(1)), committee(Some(Height(60))));
            records.insert(state::round_key(id), round());
        }
        let (mut seats, mut first, mut pages) = (Vec::new(), Some(0), 0);
        while let Some(place) = first {
            let seen = look(PROXY, place, |key: &Key| records.get(key).cloned()).expect("they decode");
            assert!(seen.keys.len() <= MAX_RECORDS, "{} records at once", seen.keys.len());
            seats.extend(seen.seats);
            (first, pages) = (seen.next, pages + 1);
        }
        let ids: Vec<u32> = seats.iter().filter(|seat| seat.committee.is_none()).map(|seat| seat.key_id).collect();
        assert_eq!((pages, ids), (3, state::key_ids(Some(last)).collect::<Vec<_>>()));
        assert_eq!(seats.len(), 3 * (2 * PAGE + 1));
    }
}
