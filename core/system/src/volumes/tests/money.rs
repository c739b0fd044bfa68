//! What volumes cost, whom it reaches, and what happens when nothing is left.

use super::*;
use cowboy_chain::query::QueryError;
use cowboy_volumes::USUAL_PRICE;

pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    relays_are_paid_for_what_they_keep,
    an_escrow_runs_out,
    a_deletion_can_be_taken_back,
    an_actor_owns_a_volume
];

/// A-179: what a slot costs in a number of blocks.
pub(super) fn cost(bytes: u64, blocks: u64) -> u64 {
    (u128::from(bytes) * u128::from(blocks) * 450).div_ceil(u128::from(MIB) * 50).try_into().expect("small")
}

/// A-179: bytes, times blocks, times the ask: 88 % to the relay, 10 % burned, 2 % to the pool. What can come back is kept and paid for until it
/// cannot: whoever removes everything after each upload stores nothing for nothing.
#[test]
fn relays_are_paid_for_what_they_keep() {
    let rows = &Params::GENESIS.volumes;
    assert_eq!((rows.epoch, rows.relay_share, rows.burn_share, rows.creation_fee), (86_400, 8_800, 1_000, CBY));
    let (mut chain, volume_id, files) = filled();
    let first = volume(&chain, &volume_id).expect("it is there");
    let committed = chain.height.0;
    proofs::run(&mut chain, 30, &[(volume_id, &files)]);
    commit(&mut chain, volume_id, "notes", &Files::default());
    let removed = chain.height.0;
    let balances: Vec<u64> = (0..6).map(|slot| chain.balance(address(holder(&first, slot)))).collect();
    let receipts = proofs::run(&mut chain, first.paid_to.0 + 50 - removed, &[(volume_id, &files)]);
    assert!(has(&receipts, "volume.settled"));
    let due = cost(files.top().node.sum, first.paid_to.0 + 50 - committed);
    assert!(due > 40, "enough to see shares: {due}");
    let (to_relay, burned) = (due * 88 / 100, due / 10);
    for (slot, before) in balances.iter().enumerate() {
        assert_eq!(chain.balance(address(holder(&first, slot))) - before, to_relay, "slot {slot}");
    }
    let record = volume(&chain, &volume_id).expect("it is there");
    assert_eq!(first.escrow.0 - record.escrow.0, 6 * due);
    let pool = view(&mut chain, RELAYS, "get_pool", []);
    assert_eq!(pool.as_u64(), Some(6 * (due - to_relay - burned)));
    assert!(!has(&chain.idle(50), "volume.settled"), "nothing was kept, so nothing is paid");
}

/// An escrow that is too short for what all relays get is shared by them, and not spent on those of the first slots.
#[test]
fn a_short_escrow_is_shared() {
    let (mut chain, volume_id, files) = filled();
    let first = volume(&chain, &volume_id).expect("it is there");
    proofs::run(&mut chain, 30, &[(volume_id, &files)]);
    let mut short = volume(&chain, &volume_id).expect("it is there");
    short.escrow = cowboy_types::units::Amount(100);
    let key = state::volume_key(&volume_id);
    chain.state.insert(key.digest(), key.seal(&short.encode()));
    let balances: Vec<u64> = (0..6).map(|slot| chain.balance(address(holder(&first, slot)))).collect();
    let blocks = first.paid_to.0 + 50 - chain.height.0;
    proofs::run(&mut chain, blocks, &[(volume_id, &files)]);
    for (slot, before) in balances.iter().enumerate() {
        assert_eq!(chain.balance(address(holder(&first, slot))) - before, 16 * 88 / 100, "slot {slot}");
    }
    assert_eq!(volume(&chain, &volume_id).expect("it is kept for a while").escrow.0, 100 - 6 * 16);
}

/// Also where the volume is removed, which takes its relays' slots in several blocks: nobody is paid first because its slot goes first.
#[test]
fn a_short_escrow_is_shared_when_a_volume_is_removed() {
    let (mut chain, volume_id, files) = filled();
    let first = volume(&chain, &volume_id).expect("it is there");
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "delete_volume", [("volume", bytes(&volume_id.0))], 0).abort, None);
    let mut short = volume(&chain, &volume_id).expect("it is kept for a while");
    short.escrow = cowboy_types::units::Amount(30);
    let key = state::volume_key(&volume_id);
    chain.state.insert(key.digest(), key.seal(&short.encode()));
    let balances = |chain: &Chain| [0, 1, 2, 3, 4, 5].map(|slot| chain.balance(address(holder(&first, slot))));
    let mut earned = [0; 6];
    for _ in 0..24 {
        let before = balances(&chain);
        chain.idle(1);
        let after = balances(&chain);
        earned = [0, 1, 2, 3, 4, 5].map(|slot: usize| earned[slot] + after[slot] - before[slot]);
        // What they pay for proofs of slots that are gone is theirs.
        proofs::answer_but(&mut chain, 0, &[(volume_id, &files)]);
    }
    let held = volume(&chain, &volume_id).map_or(0, |record| record.slots.iter().filter(|slot| slot.relay.is_some()).count());
    assert_eq!(held, 0, "all have lost their slots");
    assert_eq!(earned, [5 * 88 / 100; 6]);
}

/// A volume that stores nothing pays for the room that nobody else has; whoever takes all of it pays until it is deleted.
#[test]
fn room_is_paid_for() {
    assert_eq!(Params::GENESIS.volumes.room_share, 500);
    let mut chain = kept_with(&[("volumes.room_share", 500)]);
    let volume_id = create(&mut chain, "memory", "public");
    let before = volume(&chain, &volume_id).expect("it is there");
    let receipts = proofs::run(&mut chain, 51, &[]);
    assert!(has(&receipts, "volume.settled"), "{:?}", events(&receipts));
    let after = volume(&chain, &volume_id).expect("it is there");
    assert_eq!(before.escrow.0 - after.escrow.0, 6 * cost(2 * MIB / 20, 50), "a twentieth of the quota of each slot");
}

/// Decision 672: a relay that has no stake left earns nothing for a friend by silence. The bounty is never more than what the silence cost the relay,
/// and once that is less than it should be, the relay is evicted and loses its slots.
#[test]
fn silence_that_costs_nothing_earns_nothing() {
    let rows = [("volumes.demand_slash", STAKE - 2 * CBY), ("volumes.demand_fee", 10 * CBY), ("volumes.miss", 0)];
    let (mut chain, volume_id, files) = filled_with(&rows);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 3);
    // The bond of a demand that is answered goes into the pool.
    let demanded = cbor::decode(&proofs::demand(&mut chain, OWNER, volume_id, &files, 3, (0, 10)).return_data).expect("CBOR");
    let slice = part(&files.0.values().next().expect("a file").1[3], 0, 10);
    assert_eq!(ask(&mut chain, keeper, RELAYS, "answer", [("demand", demanded), ("slice", bytes(&slice))], 0).abort, None);
    let refused = |chain: &mut Chain| {
        let before = chain.balance(address(OWNER));
        let receipt = proofs::demand(chain, OWNER, volume_id, &files, 3, (0, 10));
        assert_eq!(receipt.abort, None);
        assert!(has(&chain.idle(6), "demand.refused"));
        without_fee(before, chain.balance(address(OWNER)), &receipt)
    };
    assert_eq!(refused(&mut chain), i128::from(5 * CBY), "the bounty");
    assert_eq!((relay(&chain, keeper).stake.0, relay(&chain, keeper).left_at), (2 * CBY, None));
    assert_eq!(refused(&mut chain), i128::from(2 * CBY), "all that it still had");
    let record = relay(&chain, keeper);
    assert!(record.stake.0 == 0 && record.left_at.is_some(), "{record:?}");
    assert_eq!(view(&mut chain, RELAYS, "get_pool", []).as_u64(), Some(3 * CBY));
    // A round of proofs that is under way ends before.
    chain.idle(12);
    assert_ne!(volume(&chain, &volume_id).expect("it is there").slots[3].relay, Some(address(keeper)));
}

/// Decisions 673 and 781: what is due is free where the transaction carries nothing else. A heartbeat with a byte of metadata, with a second signature or with
/// something that its row does not declare costs what every call does: else a relay fills blocks with its own bytes for nothing.
#[test]
fn what_is_due_carries_nothing_for_free() {
    use cowboy_testkit::chain::{key, sign, unsigned};
    use cowboy_types::transaction::CoSignature;
    let mut chain = kept();
    let keeper = 2;
    let mut beat = |argument: &Value, metadata: usize, is_co_signed: bool| {
        chain.height = Height(chain.height.0 + 100);
        let call = execution(RELAYS, "heartbeat", &argument.encode(), 0);
        let mut transaction = unsigned(keeper, chain.nonce(keeper), call);
        transaction.metadata = Blob::new(vec![7; metadata]).expect("it fits");
        if is_co_signed {
            let by = |signature| List::new(vec![CoSignature { address: address(3), signature }]).expect("one fits");
            transaction.additional_signers = by(Default::default());
            let digest = transaction.digest();
            transaction.additional_signers = by(key(3).sign(&digest));
        }
        let receipt = chain.one(sign(keeper, transaction));
        assert_eq!(receipt.abort, None);
        receipt.fee.burned.0
    };
    let nothing = Value::Map(Vec::new());
    assert_eq!(beat(&nothing, 0, false), 0);
    for (metadata, is_co_signed) in [(1, false), (100_000, false), (0, true)] {
        assert!(beat(&nothing, metadata, is_co_signed) > 0, "{metadata} bytes of metadata, {is_co_signed}");
    }
    let note = || Value::Bytes(vec![7; 100_000]);
    for argument in [Value::dict([("note", note())]), note(), Value::dict([("note", Value::uint(1))])] {
        assert!(beat(&argument, 0, false) > 0, "an argument of {} bytes", argument.encode().len());
    }
    assert_eq!(beat(&nothing, 0, false), 0);
}

/// Attack: a relay whose own volume is gone since the draw puts whatever it likes into the place of the answer, which nobody looks at. Decision 781: that is free
/// as far as it has the form of one.
#[test]
fn answers_to_what_is_lost_carry_nothing_for_free() {
    use super::proofs::{proofs_of, prove, until_round};
    let (mut chain, volume_id, files) = filled();
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 2);
    let drawn = until_round(&mut chain, keeper);
    let good = proofs_of(&drawn, &[(volume_id, &files)]);
    let mut points = drawn.points.to_vec();
    points[0].volume = Hash([9; 32]);
    let lost = Round { points: List::new(points).expect("as many as before"), ..drawn };
    let key = state::round_key(address(keeper));
    for (answer, is_free) in [(Vec::new(), true), (good[0].clone(), true), (vec![7; 100_000], false)] {
        chain.state.insert(key.digest(), key.seal(&lost.encode()));
        let receipt = prove(&mut chain, keeper, lost.height.0, &[vec![answer], good[1..].to_vec()].concat());
        assert_eq!((receipt.abort.clone(), receipt.fee.burned.0 == 0), (None, is_free));
    }
}

/// A volume with all that it may have is removed a few records in each block, so that no block is long.
#[test]
fn a_full_volume_goes_in_steps() {
    let (mut chain, volume_id, _) = filled();
    for number in 0..20_u16 {
        let mut files = Files::default();
        files.put(number, 10);
        commit(&mut chain, volume_id, &format!("p{number}"), &files);
        for _ in 0..2 {
            let argument = [
                ("volume", bytes(&volume_id.0)),
                ("partition", bytes(&partition("notes").0)),
                ("holder", bytes(&address(STRANGER).0)),
                ("mode", Value::text("r")),
                ("until", Value::uint(10_000)),
            ];
            assert_eq!(ask(&mut chain, OWNER, STORAGE, "issue_cap", argument, 0).abort, None);
        }
    }
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "delete_volume", [("volume", bytes(&volume_id.0))], 0).abort, None);
    chain.idle(19);
    let size = |chain: &Chain| {
        volume(chain, &volume_id).map(|record| {
            let held = record.slots.iter().filter(|slot| slot.relay.is_some()).count();
            (held, record.partitions.len(), record.capabilities.0)
        })
    };
    let steps: Vec<_> = (0..9)
        .map(|_| {
            let found = size(&chain);
            chain.idle(1);
            found
        })
        .collect();
    let expected = [
        Some((6, 21, 40)),
        Some((2, 21, 40)),
        Some((0, 21, 40)),
        Some((0, 5, 40)),
        Some((0, 0, 40)),
        Some((0, 0, 24)),
        Some((0, 0, 8)),
        Some((0, 0, 0)),
        None,
    ];
    assert_eq!(steps, expected);
}

/// Anybody funds; an escrow that lasts for fewer than ten epochs is running out; with none left the volume is deleted, and its name is free later.
#[test]
fn an_escrow_runs_out() {
    let mut chain = kept();
    let needed = 2 * 6 * 450 * 10 + CBY;
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "public", 8 * MIB), needed).abort, None);
    let volume_id = id("memory");
    let mut files = Files::default();
    files.put(1, 8 * MIB);
    commit(&mut chain, volume_id, "notes", &files);
    let status = |chain: &Chain| volume(chain, &volume_id).map(|record| record.status);
    assert_eq!(status(&chain), Some(Status::Active));
    let receipts = proofs::run(&mut chain, 50, &[(volume_id, &files)]);
    assert!(has(&receipts, "volume.status"));
    assert_eq!(status(&chain), Some(Status::GracePeriod));
    let mut more = files.clone();
    more.put(2, 100);
    // It may shrink, and everything is paid to the last epoch.
    let mut blocks = 0;
    while status(&chain) == Some(Status::GracePeriod) {
        proofs::run(&mut chain, 10, &[(volume_id, &files)]);
        heartbeat(&mut chain, KEEPERS);
        blocks += 10;
        assert!(blocks < 1_000);
    }
    assert_eq!(status(&chain), Some(Status::Deleted));
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    assert!(has(&chain.idle(26), "volume.removed"));
    assert_eq!(volume(&chain, &volume_id), None);
    (chain.state, chain.height, chain.timestamp) = kept;
    let record = volume(&chain, &volume_id).expect("it is kept for a while");
    assert!(record.escrow.0 < 6 * cost(2 * MIB, 50), "less than an epoch costs is left: {}", record.escrow.0);
    let funded = ask(&mut chain, STRANGER, STORAGE, "fund_volume", [("volume", bytes(&volume_id.0))], CBY);
    assert_eq!((funded.abort, status(&chain)), (None, Some(Status::Deleted)), "its owner alone takes that back");
    assert_eq!(Change::of(&chain, volume_id, "notes", &more).send(&mut chain, OWNER).abort, Some(error::VOLUME_STATE));
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "undelete_volume", [("volume", bytes(&volume_id.0))], 0).abort, None);
    assert_eq!(status(&chain), Some(Status::Active), "a CBY lasts for long");
    // With nothing left, it may still shrink, and anybody may add: the end of the epoch alone deletes it.
    let key = state::volume_key(&volume_id);
    let mut spent = volume(&chain, &volume_id).expect("it is there");
    spent.escrow = cowboy_types::units::Amount(1);
    chain.state.insert(key.digest(), key.seal(&spent.encode()));
    let mut fewer = Files::default();
    fewer.put(1, 7 * MIB);
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    commit(&mut chain, volume_id, "notes", &fewer);
    assert_eq!(status(&chain), Some(Status::GracePeriod));
    assert_eq!(ask(&mut chain, STRANGER, STORAGE, "fund_volume", [("volume", bytes(&volume_id.0))], 1).abort, None);
    assert_eq!(status(&chain), Some(Status::GracePeriod));
    let receipts = chain.idle(80);
    assert!(has(&receipts, "volume.removed") && volume(&chain, &volume_id).is_none(), "{:?}", events(&receipts));
    (chain.state, chain.height, chain.timestamp) = kept;
    let grows = Change::of(&chain, volume_id, "notes", &more).send(&mut chain, OWNER);
    assert_eq!(grows.abort, Some(error::VOLUME_FULL));
}

/// A-178: a deleted volume is kept for a while, and then gone, with its partitions, capabilities and places; the rest of its escrow returns. Another
/// one of its name has other keys.
#[test]
fn a_deletion_can_be_taken_back() {
    assert_eq!(Params::GENESIS.volumes.undelete, 86_400);
    let mut chain = everything();
    let volume_id = id("memory");
    let delete = |chain: &mut Chain, from: u8, method: &str| ask(chain, from, STORAGE, method, [("volume", bytes(&volume_id.0))], 0).abort;
    assert_eq!(delete(&mut chain, STRANGER, "delete_volume"), Some(error::VOLUME_FOREIGN));
    assert_eq!(delete(&mut chain, OWNER, "undelete_volume"), Some(error::VOLUME_STATE));
    assert_eq!(delete(&mut chain, OWNER, "delete_volume"), None);
    assert_eq!(delete(&mut chain, OWNER, "delete_volume"), Some(error::VOLUME_STATE));
    assert_eq!(delete(&mut chain, OWNER, "undelete_volume"), None);
    assert_eq!(delete(&mut chain, OWNER, "delete_volume"), None);
    let record = volume(&chain, &volume_id).expect("it is kept for a while");
    let before = chain.balance(address(OWNER));
    let mut receipts = chain.idle(19);
    assert!(volume(&chain, &volume_id).is_some_and(|record| record.slots.iter().any(|slot| slot.relay.is_some())));
    // Relays, partitions, capabilities and the volume go one after the other.
    receipts.extend(chain.idle(1));
    assert_eq!(delete(&mut chain, OWNER, "undelete_volume"), Some(error::VOLUME_STATE), "it is being removed");
    assert!(!has(&receipts, "volume.removed"));
    receipts = chain.idle(5);
    assert!(has(&receipts, "volume.removed"), "{:?}", events(&receipts));
    assert_eq!(volume(&chain, &volume_id), None);
    assert!(chain.balance(address(OWNER)) > before + record.escrow.0 / 2, "what was not earned returns");
    assert!(KEEPERS.into_iter().all(|number| (relay(&chain, number).slots, relay(&chain, number).reserved) == (0, 0)));
    assert_eq!(delete(&mut chain, OWNER, "undelete_volume"), Some(error::VOLUME_NOT_FOUND));

    // Who lost stake is given no slot before it stakes again.
    for number in KEEPERS {
        assert_eq!(ask(&mut chain, number, RELAYS, "add_stake", [], 1_000 * CBY).abort, None);
    }
    let create_again = ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "owner", 8 * MIB), 2 * CBY);
    assert_eq!(create_again.abort, None);
    commit(&mut chain, volume_id, "notes", &Files::default());
    let standing: Partition = chain.record(&state::partition_key(&volume_id, &partition("notes"))).expect("it was committed");
    assert_eq!(standing.key_version, (2 << 16) + 1, "no key of the first one opens it");
}

/// A-180: an actor with storage.blob creates and deletes a volume of its own, out of its balance; a query may do neither (004 §8.3.1).
#[test]
fn an_actor_owns_a_volume() {
    let mut chain = kept();
    let script = "handler make\n try call 0x000000000000000000000000000000000000000a 'create_volume' $payload 5000000 none 2000000000\n return $last\n\
                  handler end\n try call 0x000000000000000000000000000000000000000a 'delete_volume' $payload 5000000\n return $last\n";
    let code = format!("#script\n{script}");
    let deploy = |chain: &mut Chain, from: u8, entitlements: &str| {
        let manifest = cowboy_testkit::chain::manifest_json(&format!(r#"{{"entitlements":[{entitlements}]}}"#));
        chain
            .send(from, cowboy_testkit::chain::deployment_of(code.as_bytes(), Some(manifest), None, b"", 5 * CBY))
            .created
            .expect("it is deployed")
    };
    let holds = r#"{"id":"econ.hold_balance"},{"id":"econ.transfer"}"#;
    let without = deploy(&mut chain, STRANGER, holds);
    let argument = Value::dict(creation("memory", "public", 8 * MIB)).encode();
    assert_eq!(chain.call(without, "make", &argument).abort, Some(error::MISSING_ENTITLEMENT));
    let actor = deploy(&mut chain, OWNER, &format!(r#"{holds},{{"id":"storage.blob"}}"#));
    let refused = |chain: &Chain, handler: &str, argument: &[u8]| {
        matches!(chain.ask(actor, handler, argument, None).result, Err(QueryError::SideEffect { .. }))
    };
    assert!(refused(&chain, "make", &argument), "a query may not");
    let before = chain.balance(actor);
    let receipt = chain.call(actor, "make", &argument);
    let volume_id = Name::new("memory").expect("a name").volume(actor);
    let record = volume(&chain, &volume_id).unwrap_or_else(|| panic!("{:?}", receipt.return_data));
    assert_eq!((record.owner, before - chain.balance(actor)), (actor, 2 * CBY));
    let named = Value::dict([("volume", bytes(&volume_id.0))]).encode();
    assert!(refused(&chain, "end", &named));
    chain.call(actor, "end", &named);
    assert_eq!(volume(&chain, &volume_id).map(|record| record.status), Some(Status::Deleted));
}

/// The tables of methods spell the usual price out, for the pages that are made of them: it is the one of decision 157 in all of them.
#[test]
fn the_usual_price_is_one() {
    let mut chain = kept();
    let [endpoint, port, certificate, key, proof, region, capacity, _] = registration(&chain, STRANGER);
    let registration = [endpoint, port, certificate, key, proof, region, capacity];
    assert_eq!(ask(&mut chain, STRANGER, RELAYS, "register_relay", registration, STAKE).abort, None);
    assert_eq!(relay(&chain, STRANGER).ask.0, USUAL_PRICE);
    let [name, keys, data, parity, quota, _] = creation("usual", "public", 8 * MIB);
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "create_volume", [name, keys, data, parity, quota], 2 * CBY).abort, None);
    assert_eq!(volume(&chain, &id("usual")).expect("it is there").max_price.0, USUAL_PRICE);
    let quoted = |chain: &mut Chain, price: Option<u64>| match price {
        Some(price) => view(chain, STORAGE, "quote", [("quota", Value::uint(8 * MIB)), ("max_price", Value::uint(price))]),
        None => view(chain, STORAGE, "quote", [("quota", Value::uint(8 * MIB))]),
    };
    assert_eq!(quoted(&mut chain, None), quoted(&mut chain, Some(USUAL_PRICE)));
}
