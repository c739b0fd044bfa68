//! What is lost, and who answers for it: a relay that lost the page of a partition, a writer whose shards are no code word (decision 623), and a relay
//! that is given slots and does not rebuild them (decision 689), or takes them without their bytes (decision 690).

use super::*;

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] =
    cowboy_testkit::scenarios![who_hoards_slots_is_drawn_last, who_takes_a_slot_has_its_bytes];

/// A volume with two partitions, its files, and what relays were asked for.
struct Stored {
    chain: Chain,
    id: Hash,
    /// What each root names.
    files: BTreeMap<Hash, Files>,
    /// The partitions of the points that were drawn for each relay.
    asked: BTreeMap<u8, BTreeSet<Hash>>,
}

impl Stored {
    /// A file of each of these lengths in a partition of its own. The shards of these tests are made without the code: none of the files is a code word.
    fn new(notes: u64, more: u64) -> Self {
        Self::on(kept(), notes, more)
    }

    /// The same on a chain with relays.
    fn on(mut chain: Chain, notes: u64, more: u64) -> Self {
        let id = create(&mut chain, "memory", "owner");
        let mut stored = Self { chain, id, files: BTreeMap::new(), asked: BTreeMap::new() };
        stored.commit("notes", notes);
        stored.commit("more", more);
        stored
    }

    /// Commits a file in the place of what a partition has. All relays sign.
    fn commit(&mut self, name: &str, length: u64) {
        let mut files = Files::default();
        files.put(1, length);
        commit(&mut self.chain, self.id, name, &files);
        self.files.insert(files.top().root(), files);
    }

    fn record(&self) -> Volume {
        volume(&self.chain, &self.id).expect("it is there")
    }

    /// The slots that did not acknowledge the root of a partition.
    fn behind(&self, name: &str) -> u32 {
        let found: Option<Partition> = self.chain.record(&state::partition_key(&self.id, &partition(name)));
        found.expect("it was committed").root.behind
    }

    /// A block, and the answers of all relays. One of them may have lost the page of a partition.
    fn turn(&mut self, lost: Option<(u8, Hash)>) {
        self.chain.idle(1);
        for number in OWNER..=STRANGER {
            let Some(round) = proofs::round(&self.chain, number).filter(|round| round.until > self.chain.height) else { continue };
            self.asked.entry(number).or_default().extend(round.points.iter().map(|point| point.partition));
            if lost.is_some_and(|(of, partition)| of == number && round.points.iter().any(|point| point.partition == partition)) {
                continue;
            }
            let prove = |point: &cowboy_system::volumes::types::Point| {
                bytes(&self.files[&point.top.root()].prove(usize::from(point.slot), point.at).encode())
            };
            let proofs = round.points.iter().map(prove).collect();
            let argument = [("height", Value::uint(round.height.0)), ("proofs", Value::Array(proofs))];
            assert_eq!(ask(&mut self.chain, number, RELAYS, "prove", argument, 0).abort, None, "relay {number}");
        }
    }

    /// Blocks until another relay than this one is to rebuild a slot.
    fn successor(&mut self, slot: usize, gone: u8, lost: Option<(u8, Hash)>) -> u8 {
        for _ in 0..250 {
            self.turn(lost);
            let held = self.record().slots[slot].clone();
            if let Some(relay) = held.relay.filter(|relay| *relay != address(gone)) {
                assert_eq!(held.place, None, "it has nothing yet");
                return number_of(relay);
            }
        }
        panic!("another relay is given slot {slot}")
    }

    /// Says for a relay that it has rebuilt a slot, but for one partition.
    fn take(&mut self, number: u8, slot: u64, without: Option<Hash>) {
        self.take_part(number, slot, |partition| Some(partition) != without);
    }

    /// Says for a relay that it takes a slot, and has these partitions of it.
    fn take_part(&mut self, number: u8, slot: u64, has: impl Fn(Hash) -> bool) {
        let record = self.record();
        let has = |listed: &cowboy_system::volumes::types::Listed| if has(listed.partition) { listed.root } else { Hash::ZERO };
        let roots = record.partitions.iter().map(|listed| bytes(&has(listed).0)).collect();
        let argument = [("volume", bytes(&self.id.0)), ("slot", Value::uint(slot)), ("roots", Value::Array(roots))];
        assert_eq!(ask(&mut self.chain, number, RELAYS, "take_slot", argument, 0).abort, None);
    }

    fn lost_nothing(&self, number: u8) -> bool {
        let record = relay(&self.chain, number);
        (record.misses.0, record.stake.0) == (0, STAKE)
    }
}

/// A relay that lost the page of a partition has its shards and cannot show one of them: it misses its rounds, loses what that costs and its slot, and
/// the volume is whole again once its successor has rebuilt that.
#[test]
fn a_lost_page_costs_the_slot() {
    let mut stored = Stored::new(1_000_000, 5_000);
    let keeper = holder(&stored.record(), 2);
    let lost = Some((keeper, partition("notes")));
    let successor = stored.successor(2, keeper, lost);
    let loser = relay(&stored.chain, keeper);
    assert_eq!((loser.misses.0, loser.stake.0), (3, STAKE - 3 * 50 * CBY - 2_000 * CBY));
    assert!(loser.left_at.is_some());

    stored.take(successor, 2, None);
    assert_eq!(["notes", "more"].map(|name| stored.behind(name)), [0, 0]);
    assert_eq!(stored.record().slots[2].serving(), Some(address(successor)));
    stored.asked.clear();
    (0..90).for_each(|_| stored.turn(lost));
    assert!(stored.asked[&successor].contains(&partition("notes")), "it shows what the other one lost");
    assert!(KEEPERS.filter(|number| *number != keeper).all(|number| stored.lost_nothing(number)));
}

/// Relays that signed a file that is no code word show their shards of it as of any other file. Whoever is given a slot later, and cannot rebuild
/// it, says what it has: it is asked for nothing else and loses nothing, and has its pay for the rest once the file is replaced.
#[test]
fn no_relay_answers_for_what_is_no_code_word() {
    let mut stored = Stored::new(400_000, 500_000);
    let keeper = holder(&stored.record(), 1);
    assert_eq!(ask(&mut stored.chain, keeper, RELAYS, "leave", [], 0).abort, None);
    let successor = stored.successor(1, keeper, None);
    stored.take(successor, 1, Some(partition("notes")));
    assert_eq!(["notes", "more"].map(|name| stored.behind(name)), [1 << 1, 0]);
    let record = stored.record();
    let notes = record.partitions.iter().find(|listed| listed.partition == partition("notes")).expect("it was committed");
    assert_eq!(record.slots[1].missing, notes.bytes, "it is not paid for these");

    stored.asked.clear();
    (0..130).for_each(|_| stored.turn(None));
    assert_eq!(stored.asked[&successor], BTreeSet::from([partition("more")]));
    for number in KEEPERS.filter(|number| ![keeper, successor].contains(number)) {
        assert!(stored.asked[&number].contains(&partition("notes")), "relay {number} signed, and shows what it signed for");
    }
    assert!(KEEPERS.into_iter().all(|number| stored.lost_nothing(number)));

    stored.commit("notes", 300_000);
    assert_eq!((stored.behind("notes"), stored.record().slots[1].missing), (0, 0));
    stored.asked.clear();
    (0..90).for_each(|_| stored.turn(None));
    assert!(stored.asked[&successor].contains(&partition("notes")));
    assert!(stored.lost_nothing(successor));
}

/// Room for nearly everything that is ever drawn, for the stake that a relay needs at least.
const HOARD: u64 = 9_000 << 30;

/// Registers one more relay with this room.
fn register_with(chain: &mut Chain, from: u8, capacity: u64) {
    let mut argument = registration(chain, from);
    argument[6].1 = Value::uint(capacity);
    assert_eq!(ask(chain, from, RELAYS, "register_relay", argument, STAKE).abort, None);
}

impl Stored {
    /// The relay of this slot leaves. Answers which relay is given the slot.
    fn vacated(&mut self, slot: usize) -> u8 {
        let keeper = holder(&self.record(), slot);
        assert_eq!(ask(&mut self.chain, keeper, RELAYS, "leave", [], 0).abort, None);
        self.successor(slot, keeper, None)
    }

    /// How often in a row a relay did not rebuild a slot in time, and whether it rests.
    fn rest(&self, number: u8) -> (u64, bool) {
        let record = relay(&self.chain, number);
        (record.late.0, record.rests(self.chain.height))
    }
}

/// Attack: a relay offers nearly all free bytes, so that it is given every slot that is vacant, and rebuilds none. Cost: an honest relay has the slot next,
/// and each other one that is vacant while it rests; it rests twice as long the next time. Its stake stays. Victim: the owner, whose slot is without a
/// relay for `volumes.fill` blocks once, and not for as long as the attacker likes.
#[test]
fn who_hoards_slots_is_drawn_last() {
    // No region counts, so that only free bytes decide.
    let fill = 40;
    let chain = kept_with(&[("volumes.fill", fill), ("volumes.region_relays", 9)]);
    let mut stored = Stored::on(chain, 100_000, 5_000);
    register_with(&mut stored.chain, STRANGER, HOARD);
    register_with(&mut stored.chain, OWNER, 100 * MIB);
    assert_eq!(stored.vacated(0), STRANGER, "it has nearly all free bytes");
    let honest = stored.successor(0, STRANGER, None);
    assert_eq!(stored.rest(STRANGER), (1, true));
    let rests_until = relay(&stored.chain, STRANGER).rests_until.0;
    assert_eq!(rests_until, stored.record().slots[0].since.0 + fill, "as long as it had the slot");
    stored.take(honest, 0, None);

    let other = stored.vacated(1);
    assert!(other != STRANGER && stored.rest(STRANGER).1, "another slot that is vacant meanwhile");
    stored.take(other, 1, None);
    assert!([honest, other].into_iter().all(|number| stored.lost_nothing(number) && stored.rest(number) == (0, false)));

    // Nobody else is left, so it is given the next one also while it rests. It does it again.
    assert_eq!(stored.vacated(2), STRANGER);
    while stored.chain.height.0 <= rests_until || stored.rest(STRANGER).0 < 2 {
        stored.turn(None);
        assert!(stored.chain.height.0 < 400, "it never rebuilds");
    }
    let again = relay(&stored.chain, STRANGER);
    assert!(again.rests_until.0 >= rests_until + 2 * fill, "twice as long: {again:?}");
    assert_eq!(again.stake.0, STAKE);
}

/// A relay rests longer each time in a row, and at most eight times as long as it had the slot; what it does not rebuild while it rests counts once.
#[test]
fn a_rest_has_a_longest_time() {
    let params = &Params::GENESIS;
    let mut record = Relay::new(Height(5), Height(9));
    let mut times = Vec::new();
    for _ in 0..6 {
        let at = record.rests_until.next();
        record.rest(params, at);
        let until = record.rests_until;
        record.rest(params, until);
        assert_eq!(record.rests_until, until);
        assert!(record.rests(until) && !record.rests(until.next()));
        times.push((until.0 - at.0) / params.volumes.fill);
    }
    assert_eq!((times, record.late.0), (vec![1, 2, 4, 8, 8, 8], 6));
}

/// Decision 689: nobody can rebuild a slot of a volume that is deleted. Its owner takes the deletion back when the time for the slot would be over, and
/// the relay does not rest for it, whether it took the slot without its bytes or not yet.
#[test]
fn a_deletion_makes_nobody_late() {
    for is_taken in [false, true] {
        let chain = kept_with(&[("volumes.fill", 40), ("volumes.undelete", 400)]);
        let mut stored = Stored::on(chain, 100_000, 5_000);
        let given = stored.vacated(0);
        if is_taken {
            stored.take_part(given, 0, |_| false);
        }
        let volume = [("volume", bytes(&stored.id.0))];
        assert_eq!(ask(&mut stored.chain, OWNER, STORAGE, "delete_volume", volume.clone(), 0).abort, None);
        for _ in 0..50 {
            stored.turn(None);
        }
        assert_eq!(ask(&mut stored.chain, OWNER, STORAGE, "undelete_volume", volume, 0).abort, None);
        stored.turn(None);
        assert_eq!((stored.record().slots[0].relay, stored.rest(given)), (Some(address(given)), (0, false)), "taken: {is_taken}");
    }
}

/// Attack: a relay that is given every vacant slot says at once that it has rebuilt it, and has nothing of it, so that it is asked for nothing and keeps
/// the slot for good. Cost: it has the slot for `volumes.fill` blocks, unpaid, as if it had said nothing, and rests as long. Victim: the owner, whose slot
/// is without its bytes for that time once.
#[test]
fn who_takes_a_slot_has_its_bytes() {
    let fill = 40;
    let chain = kept_with(&[("volumes.fill", fill), ("volumes.region_relays", 9)]);
    let mut stored = Stored::on(chain, 100_000, 5_000);
    register_with(&mut stored.chain, STRANGER, HOARD);
    register_with(&mut stored.chain, OWNER, 100 * MIB);
    assert_eq!(stored.vacated(0), STRANGER, "it has nearly all free bytes");
    let given_at = stored.record().slots[0].since;
    stored.take_part(STRANGER, 0, |_| false);
    let slot = stored.record().slots[0].clone();
    assert_eq!((slot.serving(), slot.behind_since), (Some(address(STRANGER)), Some(given_at)), "its time is not longer");
    assert_eq!(stored.rest(STRANGER), (0, false), "it may catch up");
    let balance = stored.chain.balance(address(STRANGER));

    let honest = stored.successor(0, STRANGER, None);
    assert_eq!(stored.record().slots[0].since.0, given_at.0 + fill, "the slot is drawn again when the time is over");
    assert_eq!(stored.rest(STRANGER), (1, true));
    assert_eq!(stored.chain.balance(address(STRANGER)), balance, "it earned nothing");
    stored.take(honest, 0, None);
    assert_eq!(["notes", "more"].map(|name| stored.behind(name)), [0, 0]);
    (0..60).for_each(|_| stored.turn(None));
    assert_eq!(stored.record().slots[0].serving(), Some(address(honest)));
    assert!(stored.lost_nothing(honest) && stored.rest(honest) == (0, false));
}

/// Decision 690: a relay may take a slot before it has most of it. Once it has said what it lacked, in time, it has rebuilt the slot and keeps it; the row
/// of slots that it did not rebuild is over then, and not before.
#[test]
fn who_catches_up_keeps_its_slot() {
    let mut stored = Stored::on(kept_with(&[("volumes.fill", 40)]), 100_000, 5_000);
    let given = stored.vacated(0);
    let mut record = relay(&stored.chain, given);
    record.late = cowboy_types::units::Count(1);
    let key = state::relay_key(address(given));
    stored.chain.state.insert(key.digest(), key.seal(&record.encode()));
    stored.take_part(given, 0, |_| false);
    (0..20).for_each(|_| stored.turn(None));
    for (name, late, is_behind) in [("more", 1, true), ("notes", 0, false)] {
        let root = stored.record().partitions.iter().find(|listed| listed.partition == partition(name)).expect("it is there").root;
        let argument = [("volume", bytes(&stored.id.0)), ("partition", bytes(&partition(name).0)), ("root", bytes(&root.0))];
        assert_eq!(ask(&mut stored.chain, given, RELAYS, "late_ack", argument, 0).abort, None);
        assert_eq!((stored.rest(given).0, stored.record().slots[0].behind_since.is_some()), (late, is_behind), "{name}");
    }
    (0..60).for_each(|_| stored.turn(None));
    assert_eq!((stored.record().slots[0].serving(), stored.rest(given)), (Some(address(given)), (0, false)));
    assert!(stored.lost_nothing(given));
}

/// Attack: a writer keeps a relay from what it commits, so that the relay lacks most of its slot. Cost to the relay: the pay for what it does not have. It
/// keeps the slot and does not rest: only what it lacked when it took the slot counts.
#[test]
fn no_writer_makes_a_relay_late() {
    let mut stored = Stored::new(5_000, 5_000);
    let keeper = holder(&stored.record(), 5);
    let mut files = Files::default();
    files.put(1, 900_000);
    let mut change = Change::of(&stored.chain, stored.id, "notes", &files);
    change.slots = (0..5).collect();
    assert_eq!(change.send(&mut stored.chain, OWNER).abort, None);
    stored.files.insert(files.top().root(), files);
    let slot = stored.record().slots[5].clone();
    assert!(slot.missing > stored.record().bytes / 2 && slot.behind_since.is_none(), "{slot:?}");
    (0..60).for_each(|_| stored.turn(None));
    assert_eq!((stored.record().slots[5].serving(), stored.rest(keeper)), (Some(address(keeper)), (0, false)));
    assert!(stored.lost_nothing(keeper));
}

/// Decision 689: who rests has slots of new volumes as if it did not. Else somebody who makes others rest would have all of them with six fresh accounts.
#[test]
fn who_rests_has_slots_of_new_volumes() {
    let mut chain = kept();
    let number = KEEPERS.min().expect("there are relays");
    let mut record = relay(&chain, number);
    record.rests_until = Height(chain.height.0 + 1_000);
    let key = state::relay_key(address(number));
    chain.state.insert(key.digest(), key.seal(&record.encode()));
    let mut given = 0;
    for name in ["one", "two", "three", "four"] {
        let id = create(&mut chain, name, "owner");
        given += volume(&chain, &id).expect("it is there").slots.iter().filter(|slot| slot.relay == Some(address(number))).count();
    }
    assert!(given > 0, "each of seven relays has six of seven slots that are drawn");
}

/// Decision 689: who cannot rebuild a slot because fewer relays are up than the code needs does not rest.
#[test]
fn who_could_not_rebuild_does_not_rest() {
    let mut stored = Stored::new(100_000, 5_000);
    let keepers: Vec<u8> = (0..6).map(|slot| holder(&stored.record(), slot)).collect();
    for keeper in &keepers[..3] {
        assert_eq!(ask(&mut stored.chain, *keeper, RELAYS, "leave", [], 0).abort, None);
    }
    let idle = KEEPERS.into_iter().find(|number| !keepers.contains(number)).expect("seven relays have six slots");
    let mut held = 0;
    for _ in 0..60 {
        stored.turn(None);
        let slots = stored.record().slots;
        held += usize::from(slots.iter().any(|slot| slot.relay == Some(address(idle)) && slot.place.is_none()));
    }
    assert!(held > 24, "it was given a slot again and again: {held} of 60 blocks");
    assert_eq!(stored.rest(idle), (0, false));
    assert!(stored.lost_nothing(idle));
}

/// Attack: an actor that may not hold CBY demands a part. The relay's answer returns the bond to it, and failed for that: each demand cost the relay 50 CBY whatever
/// it answered, and the pool paid the attacker 5. The answer stands, and the bond is the actor's (decision 731).
#[test]
fn who_may_hold_no_bond_keeps_no_relay_from_answering() {
    let mut chain = kept();
    let volume_id = create(&mut chain, "memory", "public");
    let mut files = Files::default();
    files.put(1, 200_000);
    commit(&mut chain, volume_id, "notes", &files);
    let code = "#script\nhandler ask\n call 0x000000000000000000000000000000000000000b 'demand' $payload 5000000 none 10000000000\n return $last\n";
    let manifest = cowboy_testkit::chain::manifest_json(r#"{"entitlements":[{"id":"econ.transfer"}]}"#);
    let deployment = cowboy_testkit::chain::deployment_of(code.as_bytes(), Some(manifest), None, b"", 0);
    let actor = chain.send(STRANGER, deployment).created.expect("it is deployed");
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 3);
    let argument = Value::dict(proofs::part_of(volume_id, &files, 3, (0, 10))).encode();
    let receipt = chain.send(STRANGER, execution(actor, "ask", &argument, 10 * CBY));
    assert_eq!(receipt.abort, None);
    let demanded = cbor::decode(&receipt.return_data).expect("CBOR");
    let slice = part(&files.0.values().next().expect("a file").1[3], 0, 10);
    let answered = ask(&mut chain, keeper, RELAYS, "answer", [("demand", demanded), ("slice", bytes(&slice))], 0);
    assert_eq!(answered.abort, None);
    assert_eq!((chain.balance(actor), relay(&chain, keeper).stake.0), (9 * CBY, STAKE), "the bond without the fee");
    // What it takes part in leaves it no more than before.
    assert_eq!(chain.send(STRANGER, execution(actor, "ask", &argument, 11 * CBY)).abort, Some(error::MISSING_ENTITLEMENT));
}

/// Attack: whoever has many volumes has all of them due at one height, or takes their deletions back in each block, so that what others have due waits. A block
/// looks at all that its time allows, and a deletion that is taken back has a volume looked at only where it lacks a slot.
#[test]
fn many_volumes_keep_nobody_waiting() {
    let mut chain = kept();
    let names: Vec<String> = (0..20).map(|number| format!("volume-{number}")).collect();
    let call = |method: &str, argument: Value, value: u64| execution(STORAGE, method, &argument.encode(), value);
    let send = |chain: &mut Chain, calls: Vec<cowboy_types::Instruction>| {
        let signed = calls.into_iter().zip(chain.nonce(OWNER)..).map(|(call, nonce)| cowboy_testkit::chain::signed(OWNER, nonce, call));
        assert!(chain.block(signed.collect()).receipts.iter().all(Receipt::is_success));
    };
    send(&mut chain, names.iter().map(|name| call("create_volume", Value::dict(creation(name, "public", MIB)), 2 * CBY)).collect());
    let looks = |chain: &Chain| names.iter().map(|name| volume(chain, &id(name)).expect("it is there").next_look).collect::<Vec<_>>();
    let due = looks(&chain)[0];
    assert_eq!(looks(&chain), vec![due; 20]);
    chain.idle(due.0 - chain.height.0);
    assert!(looks(&chain).iter().all(|look| *look > due), "all were looked at");
    let of = |name: &String| Value::dict([("volume", bytes(&id(name).0))]);
    let both = |name: &String| [call("delete_volume", of(name), 0), call("undelete_volume", of(name), 0)];
    send(&mut chain, names.iter().flat_map(both).collect());
    assert_eq!(looks(&chain), vec![Height(chain.height.0 + 20); 20], "when the deletion would have been for good");
}
