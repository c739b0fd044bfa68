//! Versions of the keys of partitions: under which one a root is, who makes the next one stand, and who has which released (decision 603).

use super::*;

pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    the_owner_rewrites_a_partition,
    no_version_is_used_twice,
    a_holder_rewrites_nothing,
    versions_are_released_as_long_as_they_are_of_use,
    a_seller_has_no_later_key,
];

/// The first version in a volume that is the first of its name.
const FIRST: u64 = (1 << 16) + 1;

fn standing(chain: &Chain, volume_id: Hash) -> Partition {
    chain.record(&state::partition_key(&volume_id, &partition("notes"))).expect("it was committed")
}

/// Commits files under a version of the key, as the owner.
fn under(chain: &mut Chain, volume_id: Hash, name: &str, files: &Files, key_version: u64) -> Receipt {
    Change { key_version, ..Change::of(chain, volume_id, name, files) }.send(chain, OWNER)
}

fn revert(chain: &mut Chain, volume_id: Hash) {
    let argument = [("volume", bytes(&volume_id.0)), ("partition", bytes(&partition("notes").0))];
    assert_eq!(ask(chain, OWNER, STORAGE, "revert", argument, 0).abort, None);
}

/// A root is under the version of the one before it or under the next one, and nothing in between stands: version and root change in one commit.
/// Who encrypted under the version before is refused.
#[test]
fn the_owner_rewrites_a_partition() {
    let (mut chain, volume_id, mut files) = filled();
    assert_eq!((standing(&chain, volume_id).root.key_version, standing(&chain, volume_id).key_version), (FIRST, FIRST));
    files.put(9, 3_000);
    for wrong in [0, FIRST - 1, FIRST + 2, u64::MAX] {
        assert_eq!(under(&mut chain, volume_id, "notes", &files, wrong).abort, Some(error::KEY_VERSION), "{wrong}");
    }
    assert_eq!(under(&mut chain, volume_id, "more", &files, FIRST + 1).abort, Some(error::KEY_VERSION), "a new partition has none before");
    let receipt = under(&mut chain, volume_id, "notes", &files, FIRST + 1);
    assert_eq!(receipt.abort, None);
    let event = cbor::decode(&receipt.events[0].data).expect("CBOR");
    assert_eq!(event.get("key_version"), Some(&Value::uint(FIRST + 1)));
    let found = standing(&chain, volume_id);
    assert_eq!((found.root.key_version, found.key_version), (FIRST + 1, FIRST + 1));
    assert_eq!(found.previous.map(|previous| previous.key_version), Some(FIRST));
    let argument = [("volume", bytes(&volume_id.0)), ("partition", bytes(&partition("notes").0))];
    let shown = view(&mut chain, STORAGE, "get_partition", argument);
    let of = |root: &str| shown.get(root).and_then(|root| root.get("key_version")).and_then(Value::as_u64);
    assert_eq!((of("root"), of("previous")), (Some(FIRST + 1), Some(FIRST)));

    files.put(10, 3_000);
    assert_eq!(under(&mut chain, volume_id, "notes", &files, FIRST).abort, Some(error::KEY_VERSION), "a writer that came too late");
    assert_eq!(under(&mut chain, volume_id, "notes", &files, FIRST + 1).abort, None);
    let open = create(&mut chain, "open", "public");
    commit(&mut chain, open, "notes", &Files::default());
    assert_eq!(under(&mut chain, open, "notes", &files, FIRST + 1).abort, Some(error::KEY_VERSION), "a public volume has no keys");
}

/// Who goes back has the version of the files that come back; the version that was taken back is not given again, as its readers know it. A volume
/// has its versions for itself.
#[test]
fn no_version_is_used_twice() {
    let (mut chain, volume_id, files) = filled();
    assert_eq!(under(&mut chain, volume_id, "notes", &files, FIRST + 1).abort, None, "the same files under another key");
    revert(&mut chain, volume_id);
    let found = standing(&chain, volume_id);
    assert_eq!((found.root.key_version, found.key_version, found.previous), (FIRST, FIRST + 1, None));
    let mut more = files.clone();
    more.put(9, 3_000);
    assert_eq!(under(&mut chain, volume_id, "notes", &more, FIRST + 1).abort, Some(error::KEY_VERSION));
    assert_eq!(under(&mut chain, volume_id, "notes", &more, FIRST + 2).abort, None);

    let last = (2 << 16) - 1;
    let place = state::partition_key(&volume_id, &partition("notes"));
    let mut record = standing(&chain, volume_id);
    (record.root.key_version, record.key_version) = (last, last);
    chain.state.insert(place.digest(), place.seal(&record.encode()));
    let mut again = more.clone();
    again.put(10, 3_000);
    assert_eq!(under(&mut chain, volume_id, "notes", &again, last + 1).abort, None, "65,536 in all");
    again.put(11, 3_000);
    assert_eq!(under(&mut chain, volume_id, "notes", &again, last + 2).abort, Some(error::KEY_VERSION), "that is the next volume's first");
}

fn issue(chain: &mut Chain, volume_id: Hash, mode: &str) -> Fixed<16> {
    let argument = [
        ("volume", bytes(&volume_id.0)),
        ("partition", bytes(&partition("notes").0)),
        ("holder", bytes(&address(STRANGER).0)),
        ("mode", Value::text(mode)),
        ("max_bytes", Value::uint(MIB)),
        ("until", Value::uint(1_000_000)),
    ];
    let receipt = ask(chain, OWNER, STORAGE, "issue_cap", argument, 0);
    assert_eq!(receipt.abort, None);
    Fixed(cbor::decode(&receipt.return_data).expect("CBOR").as_bytes().expect("an id").try_into().expect("16 bytes"))
}

/// Whatever a right allows, it makes no new version; under the standing one it writes as before.
#[test]
fn a_holder_rewrites_nothing() {
    let (mut chain, volume_id, mut files) = filled();
    files.put(9, 3_000);
    for mode in ["w", "rw"] {
        let capability = Some(issue(&mut chain, volume_id, mode));
        let change = Change { key_version: FIRST + 1, capability, ..Change::of(&chain, volume_id, "notes", &files) };
        assert_eq!(change.send(&mut chain, STRANGER).abort, Some(error::CAPABILITY_REFUSED));
        assert_eq!(change.send(&mut chain, OWNER).abort, Some(error::CAPABILITY_REFUSED), "the owner needs none");
    }
    let change = Change { key_version: FIRST + 1, ..Change::of(&chain, volume_id, "notes", &files) };
    assert_eq!(change.send(&mut chain, STRANGER).abort, Some(error::VOLUME_FOREIGN));
    let capability = Some(issue(&mut chain, volume_id, "w"));
    let change = Change { capability, ..Change::of(&chain, volume_id, "notes", &files) };
    assert_eq!(change.send(&mut chain, STRANGER).abort, None);
    assert_eq!(standing(&chain, volume_id).key_version, FIRST);
}

/// Has a version of the key released. Answers the version that was, or why none was.
fn released(chain: &mut Chain, from: u8, of: (Hash, &str), capability: Option<Fixed<16>>, version: Option<u64>) -> Result<u64, u16> {
    let (key, proof, _) = crate::secrets::transport();
    let argument = [
        ("volume", bytes(&of.0.0)),
        ("partition", bytes(&partition(of.1).0)),
        ("capability", capability.map_or(Value::Null, |id| bytes(&id.0))),
        ("key_version", version.map_or(Value::Null, Value::uint)),
        ("transport", bytes(&key.0)),
        ("proof", bytes(&proof.0)),
    ];
    let receipt = ask(chain, from, Address::system(actors::SECRETS), "release_partition", argument, 0);
    if let Some(abort) = receipt.abort {
        return Err(abort.code);
    }
    let id = cbor::decode(&receipt.return_data).expect("CBOR");
    let id = Hash(id.as_bytes().expect("an id").try_into().expect("32 bytes"));
    Ok(crate::secrets::release_record(chain, &id).expect("it was opened").identity.version)
}

/// A-243: readers have what stands; the owner also what it rewrites with, and what it may go back to, for as long as it may.
#[test]
fn versions_are_released_as_long_as_they_are_of_use() {
    let (mut chain, _) = crate::secrets::seated();
    (3..=8).for_each(|number| register(&mut chain, number));
    let volume_id = create(&mut chain, "memory", "committee");
    let (notes, refused) = ((volume_id, "notes"), Err(error::KEY_VERSION.code));
    let owner = |chain: &mut Chain, version| released(chain, OWNER, notes, None, version);
    assert_eq!(owner(&mut chain, None), Ok(FIRST), "a partition that is yet to be written");
    assert_eq!(owner(&mut chain, Some(FIRST + 1)), refused, "it has nothing to rewrite");
    let mut files = Files::default();
    files.put(1, 5_000);
    commit(&mut chain, volume_id, "notes", &files);
    let capability = Some(issue(&mut chain, volume_id, "r"));
    let reader = |chain: &mut Chain, version| released(chain, STRANGER, notes, capability, version);
    let versions = [None, Some(FIRST), Some(FIRST + 1), Some(FIRST + 2), Some(FIRST - 1)];
    assert_eq!(versions.map(|version| owner(&mut chain, version)), [Ok(FIRST), Ok(FIRST), Ok(FIRST + 1), refused, refused]);
    assert_eq!(versions.map(|version| reader(&mut chain, version)), [Ok(FIRST), Ok(FIRST), refused, refused, refused]);

    files.put(2, 5_000);
    assert_eq!(under(&mut chain, volume_id, "notes", &files, FIRST + 1).abort, None);
    assert_eq!(reader(&mut chain, None), Ok(FIRST + 1), "what stands now");
    assert_eq!(reader(&mut chain, Some(FIRST)), refused);
    assert_eq!([FIRST, FIRST + 1, FIRST + 2].map(|version| owner(&mut chain, Some(version))), [FIRST, FIRST + 1, FIRST + 2].map(Ok));
    // Once nothing brings the root before back, its version is of no use.
    chain.height = Height(standing(&chain, volume_id).root.at.0 + Params::GENESIS.volumes.revert);
    assert_eq!(owner(&mut chain, Some(FIRST)), refused);
}

fn hand_over(chain: &mut Chain, volume_id: Hash, from: u8, to: u8) {
    let argument = [("volume", bytes(&volume_id.0)), ("to", bytes(&address(to).0))];
    assert_eq!(ask(chain, from, STORAGE, "transfer_volume", argument, 0).abort, None);
}

/// A-243, decision 615: before it sells a volume, the seller has released what it can have: the next key of a partition, and the first ones of partitions
/// that are not there, under names that it guesses. Nothing that the buyer writes into a rewritten or a new partition is under one of these; what was
/// there before stays readable.
#[test]
fn a_seller_has_no_later_key() {
    let second = (2 << 16) + 1;
    let (mut chain, _) = crate::secrets::seated();
    (3..=8).for_each(|number| register(&mut chain, number));
    let volume_id = create(&mut chain, "memory", "committee");
    let mut files = Files::default();
    files.put(1, 5_000);
    commit(&mut chain, volume_id, "notes", &files);
    let (notes, diary, photos) = ((volume_id, "notes"), (volume_id, "diary"), (volume_id, "photos"));
    let seller = [(notes, Some(FIRST + 1)), (diary, None), (photos, None)];
    let had = seller.map(|(of, version)| released(&mut chain, OWNER, of, None, version));
    assert_eq!(had, [Ok(FIRST + 1), Ok(FIRST), Ok(FIRST)]);
    hand_over(&mut chain, volume_id, OWNER, STRANGER);
    let late = [notes, diary].map(|of| released(&mut chain, OWNER, of, None, None));
    assert_eq!(late, [Err(error::CAPABILITY_REFUSED.code); 2]);

    let refused = Err(error::KEY_VERSION.code);
    let of_notes = [None, Some(FIRST + 1), Some(FIRST + 2), Some(second), Some(second + 1)];
    let found = of_notes.map(|version| released(&mut chain, STRANGER, notes, None, version));
    assert_eq!(found, [Ok(FIRST), refused, refused, Ok(second), refused]);
    let found = [None, Some(FIRST), Some(second + 1)].map(|version| released(&mut chain, STRANGER, diary, None, version));
    assert_eq!(found, [Ok(second), refused, refused]);
    files.put(2, 5_000);
    for (name, version, expected) in [
        ("notes", FIRST + 1, Some(error::KEY_VERSION)),
        ("notes", second, None),
        ("diary", FIRST, Some(error::KEY_VERSION)),
        ("diary", second, None),
    ] {
        let change = Change { key_version: version, ..Change::of(&chain, volume_id, name, &files) };
        assert_eq!(change.send(&mut chain, STRANGER).abort, expected, "{name} under {version}");
    }
    let before = standing(&chain, volume_id).previous.map(|previous| previous.key_version);
    assert_eq!(before, Some(FIRST), "the buyer may go back to what was sold");

    // Who buys it back has no key of a partition that the buyer may have guessed.
    assert_eq!(released(&mut chain, STRANGER, photos, None, None), Ok(second));
    hand_over(&mut chain, volume_id, STRANGER, OWNER);
    assert_eq!(released(&mut chain, OWNER, photos, None, None), Ok((3 << 16) + 1));
    assert_eq!(released(&mut chain, OWNER, notes, None, None), Ok(second));
}

/// A handover begins a generation, also one to oneself: what relays signed for the generation before holds no longer, and a key that had all versions
/// of that one has new ones.
#[test]
fn a_generation_has_its_own_versions() {
    let (mut chain, volume_id, mut files) = filled();
    let (last, place) = (2 << 16, state::partition_key(&volume_id, &partition("notes")));
    let mut record = standing(&chain, volume_id);
    (record.root.key_version, record.key_version) = (last, last);
    chain.state.insert(place.digest(), place.seal(&record.encode()));
    files.put(9, 3_000);
    assert_eq!(under(&mut chain, volume_id, "notes", &files, last + 1).abort, Some(error::KEY_VERSION));
    let signed = Change::of(&chain, volume_id, "notes", &files);
    hand_over(&mut chain, volume_id, OWNER, OWNER);
    assert_eq!(signed.send(&mut chain, OWNER).abort, Some(error::COMMIT_ACKS), "what relays signed was for the owner before");
    assert_eq!(under(&mut chain, volume_id, "notes", &files, last + 1).abort, None);
    assert_eq!(volume(&chain, &volume_id).expect("it is there").generation.0, 2);
}
