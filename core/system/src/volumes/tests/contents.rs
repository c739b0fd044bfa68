//! Roots of partitions: who may commit them, with whose acknowledgements, and what they may weigh.

use super::*;
use cowboy_system::secrets::types::ReleaseKey;
use cowboy_types::units::Count;

pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_root_needs_enough_acknowledgements,
    a_capability_is_for_one_partition_and_so_many_bytes,
    the_root_before_comes_back,
    a_relay_catches_up,
    a_partition_has_a_key_for_its_readers,
];

/// A-181, A-184: k + ⌈m/2⌉ relays sign the old root, the new one and the sum; the old root is the standing one; the quota holds.
#[test]
fn a_root_needs_enough_acknowledgements() {
    let mut chain = kept();
    let volume_id = create(&mut chain, "memory", "owner");
    let mut files = Files::default();
    files.put(1, 100_000);
    let good = Change::of(&chain, volume_id, "notes", &files);
    let mut refused = Vec::new();
    for (change, acks, abort) in [
        (Change { old: Hash([1; 32]), ..good.clone() }, None, error::COMMIT_CONFLICT),
        (Change { slots: (0..4).collect(), ..good.clone() }, None, error::COMMIT_ACKS),
        (Change { slots: vec![0, 1, 2, 3, 3], ..good.clone() }, None, error::COMMIT_ACKS),
        (Change { slots: vec![1, 0, 2, 3, 4], ..good.clone() }, None, error::COMMIT_ACKS),
        (Change { top: Top { leaves: 2, ..good.top }, ..good.clone() }, Some(good.acks(&chain)), error::COMMIT_ACKS),
        (Change { partition: partition("other"), ..good.clone() }, Some(good.acks(&chain)), error::COMMIT_ACKS),
        (Change { volume: Hash([1; 32]), ..good.clone() }, Some(good.acks(&chain)), error::VOLUME_NOT_FOUND),
        (Change { top: Top { depth: 13, ..good.top }, ..good.clone() }, Some(good.acks(&chain)), error::VOLUME_INVALID),
    ] {
        let receipt = match acks {
            Some(acks) => change.send_with(&mut chain, OWNER, acks),
            None => change.send(&mut chain, OWNER),
        };
        refused.push((receipt.abort, Some(abort)));
    }
    assert!(refused.iter().all(|(found, expected)| found == expected), "{refused:?}");
    assert_eq!(good.send(&mut chain, STRANGER).abort, Some(error::VOLUME_FOREIGN));

    let five = Change { slots: vec![0, 1, 2, 4, 5], ..good };
    let receipt = five.send(&mut chain, OWNER);
    assert_eq!((receipt.abort.clone(), events(std::slice::from_ref(&receipt))), (None, vec!["ManifestCommitted".to_owned()]));
    let event = cbor::decode(&receipt.events[0].data).expect("CBOR");
    assert_eq!(event.get("size_delta"), Some(&Value::uint(files.top().node.sum)));
    assert_eq!(event.get("visibility"), Some(&Value::text("private")));
    let record = volume(&chain, &volume_id).expect("it is there");
    assert_eq!((record.bytes, record.partitions.len()), (files.top().node.sum, 1));
    let standing: Partition = chain.record(&state::partition_key(&volume_id, &partition("notes"))).expect("it was committed");
    assert_eq!((standing.root.behind, standing.sequence.0, standing.previous), (1 << 3, 1, None));
    assert_eq!(five.send(&mut chain, OWNER).abort, Some(error::COMMIT_CONFLICT), "the same again");

    // 8 MiB of ciphertext fit, and not a cell more.
    let mut full = files.clone();
    full.put(2, 8 * MIB - 4 * files.top().node.sum);
    let mut over = full.clone();
    over.put(3, 1);
    assert_eq!(Change::of(&chain, volume_id, "notes", &over).send(&mut chain, OWNER).abort, Some(error::VOLUME_FULL));
    commit(&mut chain, volume_id, "notes", &full);
    let other = Change::of(&chain, volume_id, "more", &files);
    assert_eq!(other.send(&mut chain, OWNER).abort, Some(error::VOLUME_FULL), "another partition of the same volume");
    let smaller = Files::default();
    commit(&mut chain, volume_id, "notes", &smaller);
    assert_eq!(volume(&chain, &volume_id).map(|record| record.bytes), Some(0));
}

/// A-182: another account writes where the owner says, as much as it says, until it says otherwise.
#[test]
fn a_capability_is_for_one_partition_and_so_many_bytes() {
    let (mut chain, volume_id, mut files) = filled();
    let added = {
        let mut more = files.clone();
        more.put(7, 3_000);
        (more.top().node.sum - files.top().node.sum) * 4
    };
    let issue = |chain: &mut Chain, from: u8, mode: &str, max_bytes: u64, until: u64| {
        let argument = [
            ("volume", bytes(&volume_id.0)),
            ("partition", bytes(&partition("notes").0)),
            ("holder", bytes(&address(STRANGER).0)),
            ("mode", Value::text(mode)),
            ("max_bytes", Value::uint(max_bytes)),
            ("until", Value::uint(until)),
        ];
        let receipt = ask(chain, from, STORAGE, "issue_cap", argument, 0);
        match receipt.abort {
            Some(abort) => Err(abort),
            None => {
                let id = cbor::decode(&receipt.return_data).expect("CBOR");
                Ok(Fixed(id.as_bytes().expect("an id").try_into().expect("16 bytes")))
            }
        }
    };
    assert_eq!(issue(&mut chain, STRANGER, "rw", 1, 9_999), Err(error::VOLUME_FOREIGN));
    assert_eq!(issue(&mut chain, OWNER, "x", 1, 9_999), Err(error::VOLUME_INVALID));
    let reads = issue(&mut chain, OWNER, "r", u64::MAX, 9_999).expect("the owner may");
    let short = issue(&mut chain, OWNER, "w", added - 1, 9_999).expect("the owner may");
    let soon = chain.height.0 + 1;
    let over = issue(&mut chain, OWNER, "w", added, soon).expect("the owner may");
    let good = issue(&mut chain, OWNER, "rw", added, 9_999).expect("the owner may");
    assert!(good != short, "each has an id of its own");

    files.put(7, 3_000);
    let with =
        |chain: &Chain, capability, name: &str| Change { capability: Some(capability), ..Change::of(chain, volume_id, name, &files) };
    for (capability, from, name) in [
        (reads, STRANGER, "notes"),
        (short, STRANGER, "notes"),
        (over, STRANGER, "notes"),
        (good, 2, "notes"),
        (good, STRANGER, "other"),
        (Fixed([1; 16]), STRANGER, "notes"),
    ] {
        assert_eq!(with(&chain, capability, name).send(&mut chain, from).abort, Some(error::CAPABILITY_REFUSED));
    }
    assert_eq!(with(&chain, good, "notes").send(&mut chain, STRANGER).abort, None);
    // Nobody but the owner deletes. What it added is counted: one cell more is too much, and removing gives nothing back.
    files.put(8, 1);
    let with = |chain: &Chain, files: &Files| Change { capability: Some(good), ..Change::of(chain, volume_id, "notes", files) };
    assert_eq!(with(&chain, &files).send(&mut chain, STRANGER).abort, Some(error::CAPABILITY_REFUSED));
    files.0.clear();
    assert_eq!(with(&chain, &files).send(&mut chain, STRANGER).abort, Some(error::CAPABILITY_REFUSED));
    commit(&mut chain, volume_id, "notes", &files);
    files.put(8, 1);
    assert_eq!(with(&chain, &files).send(&mut chain, STRANGER).abort, Some(error::CAPABILITY_REFUSED));

    let listed = view(&mut chain, STORAGE, "list_caps", [("volume", bytes(&volume_id.0))]);
    assert!(matches!(&listed, Value::Array(rows) if rows.len() == 4), "{listed:?}");
    let revoke = |chain: &mut Chain, from: u8| ask(chain, from, STORAGE, "revoke_cap", [("capability", bytes(&good.0))], 0).abort;
    assert_eq!(revoke(&mut chain, STRANGER), Some(error::VOLUME_FOREIGN));
    assert_eq!(revoke(&mut chain, OWNER), None);
    assert_eq!(revoke(&mut chain, OWNER), Some(error::CAPABILITY_REFUSED));
    let mut empty = with(&chain, &Files::default());
    empty.top.leaves = 1;
    assert_eq!(empty.send(&mut chain, STRANGER).abort, Some(error::CAPABILITY_REFUSED), "it was taken back");
}

/// An owner that gives itself rights and hands the volume over has none left.
#[test]
fn a_handover_ends_all_rights() {
    let (mut chain, volume_id, _) = filled();
    for _ in 0..20 {
        let argument = [
            ("volume", bytes(&volume_id.0)),
            ("partition", bytes(&partition("notes").0)),
            ("holder", bytes(&address(OWNER).0)),
            ("mode", Value::text("rw")),
            ("max_bytes", Value::uint(1)),
            ("until", Value::uint(9_999)),
        ];
        assert_eq!(ask(&mut chain, OWNER, STORAGE, "issue_cap", argument, 0).abort, None);
    }
    let to = [("volume", bytes(&volume_id.0)), ("to", bytes(&address(STRANGER).0))];
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "transfer_volume", to, 0).abort, None);
    assert_eq!(view(&mut chain, STORAGE, "list_caps", [("volume", bytes(&volume_id.0))]), Value::Array(Vec::new()));
    assert_eq!(volume(&chain, &volume_id).expect("it is there").capabilities.0, 0);
}

/// Volumes that are handed to an account take half of its number at most: nobody keeps another one from creating its own.
#[test]
fn handed_volumes_leave_room() {
    let mut chain = kept_with(&[("volumes.per_account", 4)]);
    let made = ["a", "b", "c"].map(|name| create(&mut chain, name, "public"));
    let handed = made.map(|volume| {
        let argument = [("volume", bytes(&volume.0)), ("to", bytes(&address(STRANGER).0))];
        ask(&mut chain, OWNER, STORAGE, "transfer_volume", argument, 0).abort
    });
    assert_eq!(handed, [None, None, Some(error::VOLUME_LIMIT)]);
    let own =
        ["d", "e", "f"].map(|name| ask(&mut chain, STRANGER, STORAGE, "create_volume", creation(name, "public", 8 * MIB), 2 * CBY).abort);
    assert_eq!(own, [None, None, Some(error::VOLUME_LIMIT)]);
}

/// What relays signed holds at one moment of a partition, and not for long: they forget what no root names.
#[test]
fn an_acknowledgement_is_of_one_moment() {
    let (mut chain, volume_id, files) = filled();
    let mut more = files.clone();
    more.put(9, 700_000);
    let change = Change::of(&chain, volume_id, "notes", &more);
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    for (name, wrong) in [
        ("the next root", Change { sequence: change.sequence + 1, ..change.clone() }),
        ("another volume of its name", Change { generation: change.generation + 1, ..change.clone() }),
    ] {
        assert_eq!(wrong.send(&mut chain, OWNER).abort, Some(error::COMMIT_ACKS), "{name}");
    }
    let signed = change.acks(&chain);
    let longer = Change { until: change.until + 1, ..change.clone() };
    assert_eq!(longer.send_with(&mut chain, OWNER, signed.clone()).abort, Some(error::COMMIT_ACKS), "longer than they signed");
    chain.height = Height(change.until);
    assert_eq!(change.send_with(&mut chain, OWNER, signed.clone()).abort, Some(error::COMMIT_ACKS), "a block too late");
    (chain.state, chain.height, chain.timestamp) = kept;
    // Where the root before stands again, what was signed for it is another moment's.
    assert_eq!(change.send_with(&mut chain, OWNER, signed.clone()).abort, None);
    let back = [("volume", bytes(&volume_id.0)), ("partition", bytes(&partition("notes").0))];
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "revert", back, 0).abort, None);
    assert_eq!(change.send_with(&mut chain, OWNER, signed).abort, Some(error::COMMIT_ACKS));
}

/// The owner goes back one root, once, within its time.
#[test]
fn the_root_before_comes_back() {
    assert_eq!(Params::GENESIS.volumes.revert, 86_400);
    let (mut chain, volume_id, files) = filled();
    let revert = |chain: &mut Chain, from: u8| {
        ask(chain, from, STORAGE, "revert", [("volume", bytes(&volume_id.0)), ("partition", bytes(&partition("notes").0))], 0).abort
    };
    assert_eq!(revert(&mut chain, OWNER), Some(error::COMMIT_REVERT), "there is no root before the first");
    let mut more = files.clone();
    more.put(9, 700_000);
    commit(&mut chain, volume_id, "notes", &more);
    assert_eq!(revert(&mut chain, STRANGER), Some(error::VOLUME_FOREIGN));
    let committed_at = chain.record::<Partition>(&state::partition_key(&volume_id, &partition("notes"))).expect("it is there").root.at;
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    assert_eq!(revert(&mut chain, OWNER), None);
    assert_eq!(volume(&chain, &volume_id).map(|record| record.bytes), Some(files.top().node.sum));
    assert_eq!(revert(&mut chain, OWNER), Some(error::COMMIT_REVERT), "one root is kept");
    (chain.state, chain.height, chain.timestamp) = kept;
    chain.height = Height(committed_at.0 + 86_400);
    assert_eq!(revert(&mut chain, OWNER), Some(error::COMMIT_REVERT), "a day later");
}

/// A relay that did not sign says when it has everything.
#[test]
fn a_relay_catches_up() {
    let (mut chain, volume_id, mut files) = filled();
    files.put(11, 10_000);
    let change = Change { slots: vec![0, 1, 2, 3, 5], ..Change::of(&chain, volume_id, "notes", &files) };
    assert_eq!(change.send(&mut chain, OWNER).abort, None);
    let record = volume(&chain, &volume_id).expect("it is there");
    let late = |chain: &mut Chain, from: u8, root: Hash| {
        let argument = [("volume", bytes(&volume_id.0)), ("partition", bytes(&partition("notes").0)), ("root", bytes(&root.0))];
        ask(chain, from, RELAYS, "late_ack", argument, 0).abort
    };
    let behind = holder(&record, 4);
    // Nobody asks it for what it may never have been sent, and nobody pays it for more than it acknowledged.
    let due = earned(&record, 4);
    let before = chain.balance(address(behind));
    let receipts = proofs::run(&mut chain, 55, &[(volume_id, &files)]);
    assert!(has(&receipts, "volume.settled"));
    assert!(chain.record::<Round>(&state::round_key(address(behind))).is_none() && relay(&chain, behind).misses.0 == 0);
    assert_eq!(chain.balance(address(behind)) - before, due * 88 / 100);
    assert_eq!(late(&mut chain, STRANGER, files.top().root()), Some(error::SLOT_FOREIGN));
    assert_eq!(late(&mut chain, behind, change.old), Some(error::COMMIT_CONFLICT));
    assert_eq!(late(&mut chain, behind, files.top().root()), None);
    let standing: Partition = chain.record(&state::partition_key(&volume_id, &partition("notes"))).expect("it is there");
    assert_eq!(standing.root.behind, 0);
    // From here on it is paid like the others.
    let record = volume(&chain, &volume_id).expect("it is there");
    assert_eq!((record.slots[4].missing, earned(&record, 4)), (0, 0), "nothing of this epoch so far");
    assert!(earned(&record, 0) > 0);
    assert_eq!(late(&mut chain, behind, files.top().root()), None, "twice is once");
    let left = record.paid_to.0 + 51 - chain.height.0;
    let receipts = proofs::run(&mut chain, left, &[(volume_id, &files)]);
    assert!(has(&receipts, "volume.settled"));
    let (bytes, blocks) = (files.top().node.sum, record.paid_to.0 + 50 - record.counted_to.0);
    let after = volume(&chain, &volume_id).expect("it is there");
    assert_eq!(record.escrow.0 - after.escrow.0, 5 * money::cost(bytes, 50) + money::cost(bytes, blocks));
    assert!(proofs::until_round(&mut chain, behind).points.iter().all(|point| point.top == files.top()));
}

/// What the relay of a slot earned by the bytes that are counted.
fn earned(volume: &Volume, slot: usize) -> u64 {
    let counted = volume.byte_blocks - volume.slots[slot].from;
    (counted * 450).div_ceil(u128::from(MIB) * 50).try_into().expect("small")
}

/// A relay that acknowledges nothing is asked for nothing and paid for nothing, however often the owner commits; an owner that leaves a relay out of
/// its last commit of an epoch keeps nothing back of what the relay earned before.
#[test]
fn pay_follows_acknowledgements() {
    let (mut chain, volume_id, mut files) = filled();
    let record = volume(&chain, &volume_id).expect("it is there");
    let (idle, left_out) = (holder(&record, 5), holder(&record, 4));
    // The relay of slot 5 is behind from here on; a commit every few blocks makes it no less so.
    let (before, first) = (chain.balance(address(idle)), chain.height.0 + 1);
    let mut due = 0;
    for number in 0..6 {
        files.put(20 + number, 40_000);
        let change = Change { slots: vec![0, 1, 2, 3, 4], ..Change::of(&chain, volume_id, "notes", &files) };
        assert_eq!(change.send(&mut chain, OWNER).abort, None);
        if chain.height.0 == first {
            due = earned(&volume(&chain, &volume_id).expect("it is there"), 5);
        }
        proofs::run(&mut chain, 5, &[(volume_id, &files)]);
    }
    assert_eq!(earned(&volume(&chain, &volume_id).expect("it is there"), 5), due);
    // The owner leaves the relay of slot 4 out just before the epoch ends.
    files.put(30, 40_000);
    let change = Change { slots: vec![0, 1, 2, 3, 5], ..Change::of(&chain, volume_id, "notes", &files) };
    let record = volume(&chain, &volume_id).expect("it is there");
    let left = record.paid_to.0 + 48 - chain.height.0;
    proofs::run(&mut chain, left, &[(volume_id, &files)]);
    assert_eq!(change.send(&mut chain, OWNER).abort, None);
    let record = volume(&chain, &volume_id).expect("it is there");
    let (earns, kept) = (earned(&record, 4), chain.balance(address(left_out)));
    assert!(earns > due);
    let receipts = proofs::run(&mut chain, 2, &[(volume_id, &files)]);
    assert!(has(&receipts, "volume.settled"));
    assert_eq!(chain.balance(address(left_out)) - kept, earns * 88 / 100);
    assert!(chain.balance(address(idle)) - before <= due + money::cost(files.top().node.sum, 2), "and two blocks of the last root");
}

/// A-243: the committee makes the key of a partition for the volume's owner and for holders of a capability; it stands nowhere, another volume of the same
/// name has other ones, and readers pay.
#[test]
fn a_partition_has_a_key_for_its_readers() {
    let mut early = kept();
    let none = ask(&mut early, OWNER, STORAGE, "create_volume", creation("memory", "committee", 8 * MIB), 2 * CBY);
    assert_eq!(none.abort, Some(error::NO_RELEASE_KEY), "no committee is there");
    let (mut chain, _) = crate::secrets::seated();
    (3..=8).for_each(|number| register(&mut chain, number));
    let volume_id = create(&mut chain, "memory", "committee");
    let public = create(&mut chain, "open", "public");
    let issue = |chain: &mut Chain, until: u64| {
        let argument = [
            ("volume", bytes(&volume_id.0)),
            ("partition", bytes(&partition("notes").0)),
            ("holder", bytes(&address(STRANGER).0)),
            ("mode", Value::text("w")),
            ("until", Value::uint(until)),
        ];
        let receipt = ask(chain, OWNER, STORAGE, "issue_cap", argument, 0);
        assert_eq!(receipt.abort, None);
        cbor::decode(&receipt.return_data).expect("CBOR")
    };
    let soon = chain.height.0 + 1;
    let (good, over) = (issue(&mut chain, 100_000), issue(&mut chain, soon));
    let (key, proof, _) = crate::secrets::transport();
    let release = |chain: &mut Chain, from: u8, volume: Hash, name: &str, capability: &Value| {
        let argument = [
            ("volume", bytes(&volume.0)),
            ("partition", bytes(&partition(name).0)),
            ("capability", capability.clone()),
            ("transport", bytes(&key.0)),
            ("proof", bytes(&proof.0)),
        ];
        ask(chain, from, Address::system(actors::SECRETS), "release_partition", argument, 0)
    };
    for (from, volume, name, capability, abort) in [
        (STRANGER, volume_id, "notes", &Value::Null, error::CAPABILITY_REFUSED),
        (STRANGER, volume_id, "other", &good, error::CAPABILITY_REFUSED),
        (STRANGER, volume_id, "notes", &over, error::CAPABILITY_REFUSED),
        (2, volume_id, "notes", &good, error::CAPABILITY_REFUSED),
        (OWNER, public, "notes", &Value::Null, error::VOLUME_STATE),
        (OWNER, Hash([1; 32]), "notes", &Value::Null, error::VOLUME_NOT_FOUND),
    ] {
        assert_eq!(release(&mut chain, from, volume, name, capability).abort, Some(abort));
    }
    for (from, capability) in [(OWNER, &Value::Null), (STRANGER, &good)] {
        let before = chain.balance(address(from));
        let receipt = release(&mut chain, from, volume_id, "notes", capability);
        assert_eq!(receipt.abort, None);
        assert_eq!(without_fee(before, chain.balance(address(from)), &receipt), -i128::from(Params::GENESIS.secrets.release_fee));
        let id = cbor::decode(&receipt.return_data).expect("CBOR");
        let id = Hash(id.as_bytes().expect("an id").try_into().expect("32 bytes"));
        let record = crate::secrets::release_record(&chain, &id).expect("it was opened");
        let identity = &record.identity;
        assert_eq!((record.recipient, identity.kind, identity.name_hash), (address(from), cowboy_secrets::Kind::Partition, volume_id));
        assert_eq!((identity.version, identity.policy_hash, identity.account), ((1 << 16) + 1, partition("notes"), address(OWNER)));
    }
    // A newer key is in use, and the sunset of this one has passed: who has volumes loses none.
    let place = cowboy_system::secrets::state::release_key(1);
    let mut sealing: ReleaseKey = chain.record(&place).expect("it is dealt");
    assert_eq!(sealing.volumes, Count(1), "the public one has no keys");
    sealing.sunset = Some(Height(chain.height.0 - 1));
    chain.state.insert(place.digest(), place.seal(&sealing.encode()));
    assert_eq!(release(&mut chain, OWNER, volume_id, "other", &Value::Null).abort, None);
}

/// A page of an account's volumes begins where it is asked to.
#[test]
fn volumes_have_pages() {
    let mut chain = kept_with(&[("volumes.per_account", 3)]);
    let mut ids = ["one", "two", "three"].map(|name| create(&mut chain, name, "owner"));
    ids.sort();
    let mut listed =
        |first: &Hash| view(&mut chain, STORAGE, "list_volumes", [("account", bytes(&address(OWNER).0)), ("first", bytes(&first.0))]);
    let all = |ids: &[Hash]| Value::Array(ids.iter().map(|id| bytes(&id.0)).collect());
    for (place, first) in ids.iter().enumerate() {
        assert_eq!(listed(first), all(&ids[place..]));
    }
    assert_eq!((listed(&Hash::ZERO), listed(&Hash([0xFF; 32]))), (all(&ids), all(&[])));
}
