//! What relays have to show, and what it costs not to: proofs, demands, acknowledgements, slots that move.

use super::*;
use cowboy_system::standstill::VOLUMES;

pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_relay_proves_what_it_keeps,
    who_misses_is_not_paid,
    three_missed_rounds_end_a_relay,
    a_relay_that_is_gone_is_replaced,
    a_relay_that_refuses_pays,
    contradictions_cost_stake,
];

/// The points that a relay has to show.
pub(super) fn round(chain: &Chain, number: u8) -> Option<Round> {
    chain.record(&state::round_key(address(number)))
}

/// The proofs of a round, out of the files of each volume.
pub(super) fn proofs_of(round: &Round, volumes: &[(Hash, &Files)]) -> Vec<Vec<u8>> {
    let prove = |point: &cowboy_system::volumes::types::Point| {
        let (_, files) = volumes.iter().find(|(id, _)| *id == point.volume).expect("a volume of the test");
        files.prove(usize::from(point.slot), point.at).encode().to_vec()
    };
    round.points.iter().map(prove).collect()
}

pub(super) fn prove(chain: &mut Chain, from: u8, height: u64, proofs: &[Vec<u8>]) -> Receipt {
    let argument = [("height", Value::uint(height)), ("proofs", Value::Array(proofs.iter().map(|proof| bytes(proof)).collect()))];
    ask(chain, from, RELAYS, "prove", argument, 0)
}

/// Answers every round that is under way.
fn answer_all(chain: &mut Chain, volumes: &[(Hash, &Files)]) {
    answer_but(chain, 0, volumes);
}

/// Answers the rounds of all relays but one.
pub(super) fn answer_but(chain: &mut Chain, silent: u8, volumes: &[(Hash, &Files)]) {
    for number in KEEPERS.filter(|number| *number != silent) {
        let still = chain.record(&VOLUMES.key()).unwrap_or_default();
        if let Some(round) = round(chain, number).filter(|round| round.answered_until(&still) > chain.height) {
            assert_eq!(prove(chain, number, round.height.0, &proofs_of(&round, volumes)).abort, None);
        }
    }
}

/// Blocks in which every relay answers what is due.
pub(super) fn run(chain: &mut Chain, blocks: u64, volumes: &[(Hash, &Files)]) -> Vec<Receipt> {
    let (mut receipts, last) = (Vec::new(), chain.height.0 + blocks);
    while chain.height.0 < last {
        receipts.extend(chain.idle(1));
        answer_all(chain, volumes);
    }
    receipts
}

/// Blocks until the relay of a slot has a round.
pub(super) fn until_round(chain: &mut Chain, number: u8) -> Round {
    for _ in 0..60 {
        if let Some(round) = round(chain, number) {
            return round;
        }
        chain.idle(1);
    }
    panic!("a round is drawn in every period")
}

/// A-181: four bytes of what it keeps, in a window; every change of leaf, way, chunk or round is refused; a late answer is none.
#[test]
fn a_relay_proves_what_it_keeps() {
    let rows = &Params::GENESIS.volumes;
    assert_eq!((rows.proof_period, rows.proof_window, rows.miss, rows.misses, rows.eviction), (7_200, 600, 50 * CBY, 3, 2_000 * CBY));
    let (mut chain, volume_id, files) = filled();
    let record = volume(&chain, &volume_id).expect("it is there");
    let keeper = holder(&record, 2);
    let idle = KEEPERS.into_iter().find(|number| (0..6).all(|slot| holder(&record, slot) != *number)).expect("seven relays, six slots");
    let drawn = until_round(&mut chain, keeper);
    assert_eq!((drawn.points.len(), drawn.until.0 - drawn.height.0), (4, 8));
    assert!(drawn.points.iter().all(|point| point.slot == 2 && point.at < files.top().node.sum));
    let good = proofs_of(&drawn, &[(volume_id, &files)]);
    assert!(good.iter().map(Vec::len).sum::<usize>() <= 20 * 1_024, "an answer is at most 20 KiB");
    let wrong = |change: &dyn Fn(&mut PointProof)| {
        let mut proofs = good.clone();
        let mut proof: PointProof = commonware_codec::DecodeExt::decode(bytes::Bytes::from(proofs[1].clone())).expect("a proof");
        change(&mut proof);
        proofs[1] = proof.encode().to_vec();
        proofs
    };
    let other_slot = files.prove(3, drawn.points[1].at);
    let other_byte = files.prove(2, (drawn.points[1].at + 2_048) % files.top().node.sum);
    let mut more = files.clone();
    more.put(60_000, 5_000);
    let other_root = more.prove(2, drawn.points[1].at);
    let refused = [
        (drawn.height.0 + 1, good.clone(), error::PROOF_NOT_DUE),
        (drawn.height.0, good[..3].to_vec(), error::PROOF_INVALID),
        (drawn.height.0, vec![Vec::new(); 4], error::PROOF_INVALID),
        (drawn.height.0, wrong(&|proof| *proof = other_slot.clone()), error::PROOF_INVALID),
        (drawn.height.0, wrong(&|proof| *proof = other_byte.clone()), error::PROOF_INVALID),
        (drawn.height.0, wrong(&|proof| *proof = other_root.clone()), error::PROOF_INVALID),
        (drawn.height.0, wrong(&|proof| proof.route = Route { turns: List::default() }), error::PROOF_INVALID),
        (drawn.height.0, wrong(&|proof| proof.slice = Blob::default()), error::PROOF_INVALID),
    ];
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    for (height, proofs, abort) in refused {
        (chain.state, chain.height, chain.timestamp) = kept.clone();
        assert_eq!(prove(&mut chain, keeper, height, &proofs).abort, Some(abort));
    }
    (chain.state, chain.height, chain.timestamp) = kept;
    assert_eq!(prove(&mut chain, idle, drawn.height.0, &good).abort, Some(error::PROOF_NOT_DUE));
    let receipt = prove(&mut chain, keeper, drawn.height.0, &good);
    assert_eq!((receipt.abort.clone(), events(std::slice::from_ref(&receipt))), (None, vec!["proof.given".to_owned()]));
    assert_eq!(receipt.fee.burned.0, 0, "what is due costs no base fee");
    assert_eq!(prove(&mut chain, keeper, drawn.height.0, &good).abort, Some(error::PROOF_NOT_DUE), "once is enough");

    // The next round is not answered in time.
    let next = until_round(&mut chain, keeper);
    assert_eq!(next.height.0 % 40, drawn.height.0 % 40, "a relay's rounds are a period apart");
    assert_eq!(prove(&mut chain, keeper, next.height.0, &good).abort, Some(error::PROOF_INVALID), "those of the last round");
    let stake = relay(&chain, keeper).stake;
    while chain.height.0 < next.until.0 {
        chain.idle(1);
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
    }
    let late = prove(&mut chain, keeper, next.height.0, &proofs_of(&next, &[(volume_id, &files)]));
    assert_eq!(late.abort, Some(error::PROOF_NOT_DUE));
    chain.idle(1);
    assert_eq!((stake.0 - relay(&chain, keeper).stake.0, relay(&chain, keeper).misses.0), (50 * CBY, 1));
}

/// A relay that missed a proof is not paid for the epoch, and those beside it are.
#[test]
fn who_misses_is_not_paid() {
    let (mut chain, volume_id, files) = filled();
    let record = volume(&chain, &volume_id).expect("it is there");
    let keeper = holder(&record, 2);
    while relay(&chain, keeper).misses.0 == 0 {
        chain.idle(1);
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
    }
    let before = chain.balance(address(keeper));
    let paid_to = volume(&chain, &volume_id).expect("it is there").paid_to.0;
    while chain.height.0 < paid_to + 50 {
        chain.idle(1);
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
    }
    assert_eq!(chain.balance(address(keeper)), before);
    assert!(volume(&chain, &volume_id).expect("it is there").escrow < record.escrow, "the others were paid");
}

/// Three in a row cost 2,000 CBY more and the slots, which others are given. An answer between them begins the count again.
#[test]
fn three_missed_rounds_end_a_relay() {
    let (mut chain, volume_id, files) = filled();
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 0);
    let mut receipts = Vec::new();
    let mut rounds = BTreeSet::new();
    while relay(&chain, keeper).left_at.is_none() {
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
        if let Some(due) = round(&chain, keeper).filter(|round| round.until > chain.height) {
            // The third one is answered.
            rounds.insert(due.height);
            if rounds.len() == 3 {
                assert_eq!(prove(&mut chain, keeper, due.height.0, &proofs_of(&due, &[(volume_id, &files)])).abort, None);
            }
        }
        receipts = chain.idle(1);
        assert!(chain.height.0 < 600);
    }
    let rounds = rounds.len();
    assert_eq!((rounds, relay(&chain, keeper).misses.0), (6, 3));
    assert_eq!(relay(&chain, keeper).stake.0, STAKE - 5 * 50 * CBY - 2_000 * CBY);
    receipts.extend(chain.idle(3));
    for event in ["slot.lost", "slot.given"] {
        assert!(has(&receipts, event), "{event}: {:?}", events(&receipts));
    }
    let record = volume(&chain, &volume_id).expect("it is there");
    assert!((0..6).all(|slot| holder(&record, slot) != keeper), "who was removed is given none");
}

/// A relay without a heartbeat loses its slots; its successor rebuilds them in time, or another one does; a slot is served once.
#[test]
fn a_relay_that_is_gone_is_replaced() {
    let (mut chain, volume_id, files) = filled();
    let record = volume(&chain, &volume_id).expect("it is there");
    let gone = holder(&record, 1);
    let rest = move || KEEPERS.filter(move |number| *number != gone);
    let last = relay(&chain, gone).last_heartbeat.0;
    let mut receipts = Vec::new();
    while chain.height.0 <= last + 402 {
        if chain.height.0 % 100 == 0 {
            heartbeat(&mut chain, rest());
        }
        answer_all(&mut chain, &[(volume_id, &files)]);
        receipts = chain.idle(1);
    }
    let _ = receipts;
    let slot = volume(&chain, &volume_id).expect("it is there").slots[1].clone();
    let successor = number_of(slot.relay.expect("another relay was drawn"));
    assert!(successor != gone && slot.place.is_none(), "{slot:?}");
    assert!((0..6).filter(|other| *other != 1).all(|other| holder(&record, other) != successor));
    // What is not there yet is not asked for, and not paid.
    assert_eq!(relay(&chain, successor).slots, 0);
    let take = |chain: &mut Chain, from: u8, slot: u64| {
        let roots = Value::Array(vec![bytes(&files.top().root().0)]);
        ask(chain, from, RELAYS, "take_slot", [("volume", bytes(&volume_id.0)), ("slot", Value::uint(slot)), ("roots", roots)], 0).abort
    };
    assert_eq!(take(&mut chain, STRANGER, 1), Some(error::RELAY_UNKNOWN));
    assert_eq!(take(&mut chain, successor, 0), Some(error::SLOT_FOREIGN));
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    assert_eq!(take(&mut chain, successor, 1), None);
    assert_eq!(take(&mut chain, successor, 1), Some(error::SLOT_FOREIGN), "it serves already");
    assert_eq!(volume(&chain, &volume_id).expect("it is there").slots[1].serving(), Some(address(successor)));
    assert_eq!(relay(&chain, successor).slots, 1);
    let standing =
        |chain: &Chain| chain.record::<Partition>(&state::partition_key(&volume_id, &partition("notes"))).expect("it is there").root;
    assert_eq!(standing(&chain).behind, 0);
    // Another root stands by now: it is behind, and after going back to the one before it, too.
    (chain.state, chain.height, chain.timestamp) = kept.clone();
    let mut more = files.clone();
    more.put(99, 5);
    let change = Change { slots: vec![0, 2, 3, 4, 5], ..Change::of(&chain, volume_id, "notes", &more) };
    assert_eq!(change.send(&mut chain, OWNER).abort, None);
    assert_eq!(take(&mut chain, successor, 1), None);
    assert_eq!(standing(&chain).behind, 1 << 1);
    let argument = [("volume", bytes(&volume_id.0)), ("partition", bytes(&partition("notes").0))];
    assert_eq!(ask(&mut chain, OWNER, STORAGE, "revert", argument, 0).abort, None);
    assert_eq!((standing(&chain).top, standing(&chain).behind), (files.top(), 1 << 1));

    // A successor that never fills the slot loses it.
    (chain.state, chain.height, chain.timestamp) = kept;
    let receipts = chain.idle(13);
    assert!(has(&receipts, "slot.lost"), "{:?}", events(&receipts));
    assert!(has(&receipts, "slot.given"));
    let slot: Slot = volume(&chain, &volume_id).expect("it is there").slots[1].clone();
    assert!(slot.relay.is_some() && slot.place.is_none());
}

/// Says in a relay's record when it was heard of last.
fn set_heartbeat(chain: &mut Chain, number: u8, height: u64) {
    let key = state::relay_key(address(number));
    let record = Relay { last_heartbeat: Height(height), ..relay(chain, number) };
    chain.state.insert(key.digest(), key.seal(&record.encode()));
}

/// What a relay loses of its stake, and what it is paid, that answers its first round and none after it, and counts as gone some blocks after the first
/// one was drawn. The next one is drawn after 40.
fn silenced(after: u64) -> (u64, u64) {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.alive", 40), ("volumes.epoch", 500)]);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 2);
    KEEPERS.for_each(|number| set_heartbeat(&mut chain, number, 10_000));
    let first = until_round(&mut chain, keeper);
    let proven = prove(&mut chain, keeper, first.height.0, &proofs_of(&first, &[(volume_id, &files)]));
    assert_eq!(proven.abort, None);
    set_heartbeat(&mut chain, keeper, first.height.0 + after - 40);
    let (stake, balance) = (relay(&chain, keeper).stake.0, chain.balance(address(keeper)));
    while chain.height.0 < first.height.0 + 55 {
        chain.idle(1);
        answer_but(&mut chain, keeper, &[(volume_id, &files)]);
    }
    assert_eq!(relay(&chain, keeper).slots, 0, "others have its slots");
    (stake - relay(&chain, keeper).stake.0, chain.balance(address(keeper)) - balance)
}

/// A relay that cannot prove gains nothing by silence: a round that is under way is missed before its slots are lost, and without one it is not paid,
/// because nobody knows since when it kept nothing.
#[test]
fn silence_is_no_way_out() {
    assert_eq!((silenced(43), silenced(30)), ((50 * CBY, 0), (0, 0)), "gone while a round is under way, and between two");
}

/// What a relay loses of its stake, and what it is paid, that leaves while a round is under way, or between two, and then proves or does not.
fn departed(is_open: bool, proves: bool) -> (u64, u64) {
    let (mut chain, volume_id, files) = filled_with(&[("volumes.epoch", 500)]);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 2);
    let volumes = [(volume_id, &files)];
    let first = until_round(&mut chain, keeper);
    if !is_open {
        assert_eq!(prove(&mut chain, keeper, first.height.0, &proofs_of(&first, &volumes)).abort, None);
    }
    assert_eq!(ask(&mut chain, keeper, RELAYS, "leave", [], 0).abort, None);
    chain.idle(1);
    let stake = relay(&chain, keeper).stake.0;
    let last = round(&chain, keeper).expect("who leaves proves a last time");
    let left_at = relay(&chain, keeper).left_at.expect("it left");
    assert_eq!(last.height, if is_open { first.height } else { left_at.next() });
    assert_eq!(relay(&chain, keeper).slots, 1, "its slots wait for that");
    if proves {
        assert_eq!(prove(&mut chain, keeper, last.height.0, &proofs_of(&last, &volumes)).abort, None);
    }
    let balance = chain.balance(address(keeper));
    chain.idle(if proves { 2 } else { last.until.0 + 1 - chain.height.0 });
    assert_eq!((relay(&chain, keeper).slots, round(&chain, keeper)), (0, None));
    (stake - relay(&chain, keeper).stake.0, chain.balance(address(keeper)) - balance)
}

/// A relay that leaves proves a last time what it kept until then; if it does not, it loses what every missed round costs, and its pay.
#[test]
fn who_leaves_proves_a_last_time() {
    for is_open in [false, true] {
        assert_eq!(departed(is_open, false), (50 * CBY, 0), "{is_open}");
        let (lost, paid) = departed(is_open, true);
        assert!(lost == 0 && paid > 0, "{is_open}: {lost} {paid}");
    }
}

/// Files without content take room with every relay: they count against the quota, are paid for, and their leaves are proven.
#[test]
fn empty_files_are_proven_and_paid() {
    let mut chain = kept();
    let receipt = ask(&mut chain, OWNER, STORAGE, "create_volume", creation("memory", "owner", 64 * 1_024), 2 * CBY);
    assert_eq!(receipt.abort, None);
    let volume_id = id("memory");
    let mut files = Files::default();
    (0..17).for_each(|tag| files.put(tag, 0));
    let full = Change::of(&chain, volume_id, "notes", &files).send(&mut chain, OWNER);
    assert_eq!(full.abort, Some(error::VOLUME_FULL), "a file takes 1 KiB of each slot, and a slot has 16");
    files.0.pop_first();
    commit(&mut chain, volume_id, "notes", &files);
    let record = volume(&chain, &volume_id).expect("it is there");
    assert_eq!(record.bytes, 16 * 1_024);
    let keeper = holder(&record, 2);
    let drawn = until_round(&mut chain, keeper);
    let good = proofs_of(&drawn, &[(volume_id, &files)]);
    let mut wrong = good.clone();
    let mut proof: PointProof = commonware_codec::DecodeExt::decode(bytes::Bytes::from(wrong[0].clone())).expect("a proof");
    proof.slice = Blob::new(vec![1]).expect("short");
    wrong[0] = proof.encode().to_vec();
    assert_eq!(prove(&mut chain, keeper, drawn.height.0, &wrong).abort, Some(error::PROOF_INVALID), "there is no chunk");
    assert_eq!(prove(&mut chain, keeper, drawn.height.0, &good).abort, None);
    let receipts = run(&mut chain, 50, &[(volume_id, &files)]);
    assert!(has(&receipts, "volume.settled"));
    assert!(volume(&chain, &volume_id).expect("it is there").escrow < record.escrow);
}

/// Demands a part of the first file's shard at a slot.
pub(super) fn part_of(volume: Hash, files: &Files, slot: u64, (start, length): (u64, u64)) -> [(&'static str, Value); 7] {
    let proof = files.prove(usize::try_from(slot).expect("few"), 0);
    [
        ("volume", bytes(&volume.0)),
        ("partition", bytes(&partition("notes").0)),
        ("slot", Value::uint(slot)),
        ("leaf", bytes(&proof.leaf)),
        ("route", bytes(&proof.route.encode())),
        ("start", Value::uint(start)),
        ("length", Value::uint(length)),
    ]
}

pub(super) fn demand(chain: &mut Chain, from: u8, volume: Hash, files: &Files, slot: u64, part: (u64, u64)) -> Receipt {
    ask(chain, from, RELAYS, "demand", part_of(volume, files, slot, part), 10 * CBY)
}

/// A part on the chain costs whoever demanded it a fee, for the pool; silence costs the relay 50 CBY, and whoever asked gets the bond back, and a bounty. Only readers ask.
#[test]
fn a_relay_that_refuses_pays() {
    let rows = &Params::GENESIS.volumes;
    assert_eq!((rows.demand_bond, rows.demand_fee, rows.demand_bounty, rows.demand_slash), (10 * CBY, CBY, 5 * CBY, 50 * CBY));
    let (mut chain, volume_id, mut files) = filled();
    files.put(1, 200_000);
    commit(&mut chain, volume_id, "notes", &files);
    // Something comes into the pool.
    run(&mut chain, 60, &[(volume_id, &files)]);
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 3);
    let shard_bytes = files.0.values().next().expect("a file").0.shard_bytes;
    assert_eq!(demand(&mut chain, STRANGER, volume_id, &files, 3, (0, 100)).abort, Some(error::CAPABILITY_REFUSED));
    for (slot, part, abort) in [
        (3, (0, 0), error::DEMAND_INVALID),
        (3, (0, 32_769), error::DEMAND_INVALID),
        (3, (shard_bytes - 1, 2), error::DEMAND_INVALID),
        (3, (u64::MAX, 2), error::DEMAND_INVALID),
    ] {
        assert_eq!(demand(&mut chain, OWNER, volume_id, &files, slot, part).abort, Some(abort), "{part:?}");
    }
    let mut other = files.clone();
    other.put(77, 5);
    assert_eq!(demand(&mut chain, OWNER, volume_id, &other, 3, (0, 5)).abort, Some(error::DEMAND_INVALID), "of another root");

    let before = chain.balance(address(OWNER));
    // The longest part, whose slice is far longer than an event may be.
    let receipt = demand(&mut chain, OWNER, volume_id, &files, 3, (100, 32_768));
    assert_eq!(receipt.abort, None);
    let demanded = cbor::decode(&receipt.return_data).expect("CBOR");
    let slice = part(&files.0.values().next().expect("a file").1[3], 100, 32_768);
    let answer = |chain: &mut Chain, from: u8, slice: &[u8]| {
        ask(chain, from, RELAYS, "answer", [("demand", demanded.clone()), ("slice", bytes(slice))], 0)
    };
    assert_eq!(answer(&mut chain, keeper, &slice[1..]).abort, Some(error::PROOF_INVALID));
    assert_eq!(answer(&mut chain, STRANGER, &slice).abort, Some(error::DEMAND_NOT_FOUND));
    let pool = |chain: &mut Chain| view(chain, RELAYS, "get_pool", []).as_u64().expect("a number");
    let (earned, had) = (chain.balance(address(keeper)), pool(&mut chain));
    let answered = answer(&mut chain, keeper, &slice);
    assert_eq!((answered.abort.clone(), answered.fee.burned.0), (None, 0));
    assert_eq!(without_fee(earned, chain.balance(address(keeper)), &answered), 0);
    assert_eq!(without_fee(before, chain.balance(address(OWNER)), &receipt), -i128::from(CBY));
    assert_eq!(pool(&mut chain) - had, CBY, "a relay cannot fill its places for nothing");
    assert_eq!(answer(&mut chain, keeper, &slice).abort, Some(error::DEMAND_NOT_FOUND));

    // As many as can be answered in time, so that nobody is slashed by a flood of demands.
    assert_eq!(Params::GENESIS.volumes.demands, 4);
    let kept = (chain.state.clone(), chain.height, chain.timestamp);
    let demands: Vec<_> = (0..5).map(|_| demand(&mut chain, OWNER, volume_id, &files, 3, (0, 10)).abort).collect();
    assert_eq!(demands, [None, None, None, None, Some(error::DEMANDS_FULL)]);
    (chain.state, chain.height, chain.timestamp) = kept;

    let (before, stake) = (chain.balance(address(OWNER)), relay(&chain, keeper).stake.0);
    let receipt = demand(&mut chain, OWNER, volume_id, &files, 3, (0, 10));
    assert_eq!(receipt.abort, None);
    let pool = pool(&mut chain);
    assert!(pool > 0, "relays were paid");
    let receipts = chain.idle(6);
    assert!(has(&receipts, "demand.refused"), "{:?}", events(&receipts));
    assert_eq!(stake - relay(&chain, keeper).stake.0, 50 * CBY);
    assert_eq!(without_fee(before, chain.balance(address(OWNER)), &receipt), i128::from(pool.min(5 * CBY)), "bond and bounty");
}

/// A delivery demands a part once: places that nobody gives back would keep a relay from ever being asked again.
#[test]
fn an_actor_demands_a_part_once() {
    let mut chain = kept();
    let volume_id = create(&mut chain, "memory", "public");
    let mut files = Files::default();
    files.put(1, 200_000);
    commit(&mut chain, volume_id, "notes", &files);
    let one = "try call 0x000000000000000000000000000000000000000b 'demand' $payload 5000000 none 10000000000\n";
    let code = format!("#script\nhandler ask\n {one} {one} {one} return $last\n");
    let manifest = cowboy_testkit::chain::manifest_json(r#"{"entitlements":[{"id":"econ.hold_balance"},{"id":"econ.transfer"}]}"#);
    let deployment = cowboy_testkit::chain::deployment_of(code.as_bytes(), Some(manifest), None, b"", 50 * CBY);
    let actor = chain.send(OWNER, deployment).created.expect("it is deployed");
    let keeper = holder(&volume(&chain, &volume_id).expect("it is there"), 3);
    let before = chain.balance(actor);
    let receipt = chain.call(actor, "ask", &Value::dict(part_of(volume_id, &files, 3, (0, 10))).encode());
    assert_eq!(receipt.abort, None);
    assert_eq!((relay(&chain, keeper).demands.len(), before - chain.balance(actor)), (1, 10 * CBY));
    chain.idle(7);
    assert_eq!(relay(&chain, keeper).demands.len(), 0);
}

/// Shows two sums for one root with a signature for each, by the relays of these numbers.
pub(super) fn accusation(
    chain: &Chain,
    keeper: u8,
    succession: &Succession,
    sums: [u64; 2],
    signers: [u8; 2],
) -> cowboy_types::Instruction {
    let sign = |number: u8, sum: u64| signer(number).sign(&succession.message(&chain.config.genesis, 1, sum)).to_bytes();
    let signatures = [sign(signers[0], sums[0]), sign(signers[1], sums[1])];
    let argument = [
        ("relay", bytes(&address(keeper).0)),
        ("volume", bytes(&succession.volume.0)),
        ("generation", Value::uint(succession.generation)),
        ("partition", bytes(&succession.partition.0)),
        ("sequence", Value::uint(succession.sequence)),
        ("until", Value::uint(succession.until)),
        ("old", bytes(&succession.old.0)),
        ("new", bytes(&succession.new.0)),
        ("slot", Value::uint(1)),
        ("sums", Value::Array(sums.map(Value::uint).to_vec())),
        ("signatures", Value::Array(signatures.iter().map(|signature| bytes(signature)).collect())),
    ];
    execution(RELAYS, "accuse", &Value::dict(argument).encode(), 0)
}

/// Two signatures for one root with two sums: 500 CBY, once.
#[test]
fn contradictions_cost_stake() {
    let (mut chain, volume_id, files) = filled();
    let keeper = 2;
    let (old, new) = (files.top().root(), Hash([5; 32]));
    let succession = Succession { volume: volume_id, generation: 1, partition: partition("notes"), sequence: 2, old, new, until: 100 };
    let other = Succession { sequence: 3, ..succession };
    let rows = [
        (&succession, [7, 7], [keeper, keeper], Some(error::ACCUSATION_FALSE)),
        (&succession, [7, 8], [keeper, 3], Some(error::ACCUSATION_FALSE)),
        (&other, [8, 7], [3, keeper], Some(error::ACCUSATION_FALSE)),
        (&succession, [7, 8], [keeper, keeper], None),
        (&succession, [8, 9], [keeper, keeper], Some(error::ACCUSATION_FALSE)),
    ];
    for (succession, sums, signers, abort) in rows {
        let call = accusation(&chain, keeper, succession, sums, signers);
        assert_eq!(chain.send(STRANGER, call).abort, abort, "{sums:?}");
    }
    assert_eq!(relay(&chain, keeper).stake.0, STAKE - 500 * CBY);
}
