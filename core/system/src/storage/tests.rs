//! Rent, quotas, eviction and return (003 §4.4, §17.5, State Rent, Storage Quotas).

use cowboy_params::Params;
use cowboy_state::records::{ActorStatus, Timer};
use cowboy_state::{Directory, Kind};
use cowboy_system::rent_rate::{self, RentRate};
use cowboy_system::storage::types::{Dormancy, RentAccount};
use cowboy_system::storage::{NUMBER, chunks, rent, state};
use cowboy_testkit::chain::{ALL, Chain, address, deployment, execution, manifest, parameters};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, Receipt, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    rent_is_a_share_of_a_year,
    rent_is_collected_each_epoch,
    rent_is_prepaid_by_anybody,
    the_reserve_stays,
    who_does_not_pay_is_warned_and_evicted,
    a_debt_keeps_its_rate,
    a_debt_is_caught_up,
    a_dormant_actor_is_restored_by_anybody,
    a_block_hands_out_what_it_pruned,
    pruning_takes_as_many_blocks_as_it_needs,
    collections_are_spread_over_blocks,
    a_bond_extends_the_quota,
    the_rate_follows_the_size_of_the_state,
];

const MANAGER: Address = Address::system(NUMBER);
const TREASURY: Address = Address::system(0x08);

/// A method of the storage manager, asked by an account with some CBY.
fn ask<const N: usize>(chain: &mut Chain, from: u8, method: &str, argument: [(&str, Value); N], value: u64) -> Receipt {
    chain.send(from, execution(MANAGER, method, &Value::map(argument).encode(), value))
}

fn of(actor: Address) -> (&'static str, Value) {
    ("actor", Value::Bytes(actor.0.to_vec()))
}

/// What get_rent says of an actor, by name.
fn shown(chain: &mut Chain, actor: Address) -> Value {
    let receipt = ask(chain, 1, "get_rent", [of(actor)], 0);
    cowboy_types::cbor::decode(&receipt.return_data).expect("CBOR")
}

/// A chain whose rent epoch is 100 blocks, where every byte costs 365,000 base units a year: a thousand an epoch.
fn expensive(more: &[(&'static str, u64)]) -> Chain {
    let rows = [&[("rent.epoch", 100), ("rent.rate", 365_000), ("rent.free_bytes", 1_000)][..], more].concat();
    Chain::with(|genesis| genesis.parameters = parameters(&rows))
}

const SCRIPT: &str = "handler put\n set 'k' $payload\nhandler many\n set 'a' $payload\n set 'b' $payload\n set 'c' $payload\n timer 1000000 'x'\nhandler get\n get 'b'\n return $last\nhandler pay\n try pay @3 $payload\nhandler spend\n pay @3 900\nhandler set\n timer_ex 2000 'late'\nhandler handle_timer\n set 'fired' 'x'\n";

/// Deploys the script with this much CBY.
fn deploy(chain: &mut Chain, endowment: u64) -> Address {
    chain.send(1, deployment(SCRIPT, Some(ALL), None, endowment)).created.expect("it is deployed")
}

/// Goes to the first block of a rent epoch. Answers the receipts of that block.
fn begin_epoch(chain: &mut Chain, epoch: u64) -> Vec<Receipt> {
    chain.height = Height(epoch * 100 - 1);
    chain.idle(1)
}

fn names(receipts: &[Receipt]) -> Vec<String> {
    receipts.iter().flat_map(|receipt| receipt.events.iter()).map(|event| event.name.to_string()).collect()
}

/// (bytes, rate) → rent of an epoch at the genesis parameters, in base units.
#[test]
fn rent_is_a_share_of_a_year() {
    let params = Params::GENESIS;
    assert_eq!((params.rent.epoch, params.rent.free_bytes, params.rent.rate), (86_400, 10_240, 1_000_000), "a day, 10 KB, 0.001 CBY");
    let rows = [(0, 0), (1, 2_739), (365, 1_000_000), (1 << 20, 2_872_810_958), ((1 << 20) - 10_240, 2_844_756_164)];
    for (bytes, expected) in rows {
        assert_eq!(rent::per_epoch(&params, Amount(params.rent.rate), bytes), Amount(expected), "{bytes} bytes");
    }
    assert_eq!(rent::reserve(&params, Amount(params.rent.rate), 365), Amount(36_500_000), "A-169: a tenth of a year");
    assert_eq!(rent::with_catch_up(&params, Amount(1_000)), Amount(1_100));
    assert_eq!(rent::per_epoch(&params, Amount::MAX, u64::MAX), Amount::MAX, "what does not fit is all there is");
}

/// beyond the free bytes rent is taken at the beginning of each epoch, and goes to the treasury.
#[test]
fn rent_is_collected_each_epoch() {
    let mut chain = expensive(&[]);
    let small = deploy(&mut chain, 1_000_000_000);
    assert_eq!(begin_epoch(&mut chain, 1), [], "nobody owes anything");
    let actor = chain.send(2, deployment(SCRIPT, Some(ALL), None, 1_000_000_000)).created.expect("another creator");
    chain.call(actor, "put", &[7; 2_000]);
    let bytes = 2_001 + chain.actor(actor).code_bytes.0 + chain.actor(actor).manifest_bytes.0 - 1_000;
    let (balance, treasury) = (chain.balance(actor), chain.balance(TREASURY));
    let receipts = begin_epoch(&mut chain, 2);
    assert_eq!((names(&receipts), receipts[0].target), (vec!["rent.collected".to_string()], actor));
    assert_eq!(chain.balance(actor), balance - bytes * 1_000);
    assert_eq!(chain.balance(TREASURY), treasury + bytes * 1_000);
    assert_eq!(chain.idle(3), [], "once an epoch");
    assert_eq!(names(&begin_epoch(&mut chain, 5)).len(), 1, "epochs that were jumped over are one collection");
    assert_eq!(chain.balance(actor), balance - bytes * 4_000);
    assert_eq!(chain.actor(actor).rent_epoch, Count(5));
    chain.call(actor, "put", b"");
    begin_epoch(&mut chain, 6);
    assert_eq!(chain.names(Directory::rents()).len(), 0, "who owes nothing any more leaves the books");
    assert_eq!(chain.balance(small), 1_000_000_000, "within the free bytes nothing is due");
}

/// anybody prepays; collections draw on that first.
#[test]
fn rent_is_prepaid_by_anybody() {
    let mut chain = expensive(&[]);
    let actor = deploy(&mut chain, 10_000_000);
    chain.call(actor, "put", &[7; 2_000]);
    let rent = shown(&mut chain, actor).get("per_epoch").and_then(Value::as_u64).expect("a number");
    assert_eq!(ask(&mut chain, 3, "prepay", [of(actor)], 0).abort, Some(error::INVALID_ARGUMENT));
    assert_eq!(ask(&mut chain, 3, "prepay", [of(address(4))], 5).abort, Some(error::ACTOR_NOT_FOUND));
    assert_eq!(ask(&mut chain, 3, "prepay", [of(MANAGER)], 5).abort, Some(error::ACTOR_NOT_FOUND), "A-175: exempt");
    assert!(ask(&mut chain, 3, "prepay", [of(actor)], rent + 5).is_success());
    begin_epoch(&mut chain, 1);
    assert_eq!(chain.balance(actor), 10_000_000, "the sponsor paid");
    begin_epoch(&mut chain, 2);
    assert_eq!(chain.balance(actor), 10_000_000 - rent + 5, "what was left of it, and then the actor");
}

/// Decision 671: nobody makes another owe rent. An actor without CBY that somebody enters into the books for a base unit owes nothing and is not
/// evicted, however much is sent to it in the blocks in which rent is collected.
#[test]
fn messages_of_others_cost_no_rent() {
    let mut chain = expensive(&[]);
    let victim = deploy(&mut chain, 0);
    let attacker = chain.deploy(&format!("handler flood\n send {victim} $payload 0 'get'\n"));
    assert!(ask(&mut chain, 3, "prepay", [of(victim)], 1).is_success());
    for epoch in 1..=11 {
        chain.height = Height(epoch * 100 - 1);
        assert_eq!(chain.call(attacker, "flood", &[7; 5_000]).abort, None, "epoch {epoch}");
        let account: Option<RentAccount> = chain.record(&state::account_key(victim));
        let owed = account.map(|account| (account.prepaid, account.debt, account.unpaid));
        assert_eq!(owed, Some((Amount(1), Amount(0), Count(0))), "epoch {epoch}");
    }
    assert_eq!(chain.actor(victim).status, ActorStatus::Active);
}

/// an actor keeps a tenth of a year's rent; it may not spend that, but its rent may.
#[test]
fn the_reserve_stays() {
    let mut chain = expensive(&[]);
    let actor = deploy(&mut chain, 36_500 * 2_000);
    chain.call(actor, "put", &[7; 1_900]);
    let reserve = shown(&mut chain, actor).get("reserve").and_then(Value::as_u64).expect("a number");
    assert!(chain.balance(actor) > reserve);
    let above = chain.balance(actor) - reserve;
    let receipt = chain.call(actor, "spend", b"");
    assert_eq!(receipt.abort.is_none(), above >= 900);
    // One more byte, and the reserve is more than there is.
    chain.call(actor, "put", &[7; 3_000]);
    assert_eq!(chain.call(actor, "spend", b"").abort, Some(error::RENT_RESERVE));
    let before = chain.balance(actor);
    begin_epoch(&mut chain, 1);
    assert!(chain.balance(actor) < before, "rent draws on the reserve");
}

/// overdue and working for seven epochs, warned for three, then dormant, without storage and timers.
#[test]
fn who_does_not_pay_is_warned_and_evicted() {
    let mut chain = expensive(&[]);
    let actor = deploy(&mut chain, 0);
    chain.call(actor, "many", &[7; 30_000]);
    let rent = shown(&mut chain, actor).get("per_epoch").and_then(Value::as_u64).expect("a number");
    for epoch in 1..10 {
        let receipts = begin_epoch(&mut chain, epoch);
        let expected = if epoch < 7 { "rent.overdue" } else { "rent.eviction_imminent" };
        assert_eq!(names(&receipts), [expected], "epoch {epoch}");
        assert_eq!(chain.call(actor, "get", b"").return_data.len(), 30_000, "it works as before");
        let state = shown(&mut chain, actor);
        assert_eq!(state.get("state").and_then(Value::as_text), Some(if epoch < 7 { "overdue" } else { "eviction_imminent" }));
        assert_eq!(state.get("debt").and_then(Value::as_u64), Some(rent * epoch));
    }
    assert_eq!(chain.all::<Timer>(Kind::Timer).len(), 1);
    let code = chain.actor(actor).code_hash;
    let receipts = begin_epoch(&mut chain, 10);
    assert_eq!(names(&receipts), ["rent.evicted", "rent.pruned"]);
    let record = chain.actor(actor);
    assert_eq!((record.status, record.storage_bytes, record.timers_live), (ActorStatus::Dormant, Count(0), Count(0)));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty(), "A-131");
    assert_eq!(record.code_hash, code, "code, address and balance stay");
    let dormancy: Dormancy = chain.record(&state::dormancy_key(actor)).expect("it is dormant");
    assert!(dormancy.is_pruned && dormancy.root != Default::default() && dormancy.debt == Amount(rent * 10));
    assert_eq!(chain.call(actor, "get", b"").abort, Some(error::ACTOR_DORMANT));
    assert!(chain.names(Directory::rents()).is_empty() && chain.names(Directory::evictions()).is_empty());
}

/// a debt keeps the rate of its epochs, whatever the rate becomes.
#[test]
fn a_debt_keeps_its_rate() {
    let mut chain = expensive(&[]);
    let actor = deploy(&mut chain, 0);
    chain.call(actor, "put", &[7; 2_000]);
    let rent = shown(&mut chain, actor).get("per_epoch").and_then(Value::as_u64).expect("a number");
    begin_epoch(&mut chain, 1);
    chain.move_parameter("rent.rate", 730_000);
    begin_epoch(&mut chain, 2);
    let account: RentAccount = chain.record(&state::account_key(actor)).expect("it pays rent");
    assert_eq!((account.debt, account.unpaid), (Amount(rent + 2 * rent), Count(2)));
}

/// Whatever governance makes of the length of an epoch, the next collection comes when it was due, and is one.
#[test]
fn an_epoch_of_another_length_is_one_collection() {
    let rows = [("rent.epoch", 1_000), ("rent.rate", 365_000), ("rent.free_bytes", 1_000)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let actor = deploy(&mut chain, 1_000_000_000);
    chain.call(actor, "put", &[7; 2_000]);
    let rent = shown(&mut chain, actor).get("per_epoch").and_then(Value::as_u64).expect("a number");
    let collected = |chain: &mut Chain, height: u64, expected: u64| {
        let before = chain.balance(actor);
        chain.height = Height(height - 1);
        chain.idle(1);
        assert_eq!(before - chain.balance(actor), expected * rent, "at {height}");
    };
    collected(&mut chain, 1_000, 1);
    chain.height = Height(20_000 - 1);
    chain.idle(1);
    chain.move_parameter("rent.epoch", 100);
    for (height, expected) in [(20_100, 0), (20_999, 0), (21_000, 1), (21_099, 0), (21_100, 1)] {
        collected(&mut chain, height, expected);
    }
    chain.move_parameter("rent.epoch", 1_000);
    for (height, expected) in [(21_200, 1), (21_300, 0), (22_000, 1), (22_999, 0), (23_000, 1)] {
        collected(&mut chain, height, expected);
    }
}

/// whoever has the CBY again pays the debt and a tenth, at the next collection or at once by anybody.
#[test]
fn a_debt_is_caught_up() {
    for by_hand in [false, true] {
        let mut chain = expensive(&[]);
        let actor = deploy(&mut chain, 0);
        chain.call(actor, "put", &[7; 2_000]);
        let rent = shown(&mut chain, actor).get("per_epoch").and_then(Value::as_u64).expect("a number");
        begin_epoch(&mut chain, 1);
        begin_epoch(&mut chain, 2);
        let owed = rent * 2 * 11 / 10;
        if by_hand {
            assert_eq!(ask(&mut chain, 4, "pay_debt", [of(actor)], owed - 1).abort, Some(error::RENT_DEBT));
            assert_eq!(&ask(&mut chain, 4, "pay_debt", [of(actor)], owed).events[0].name[..], "rent.debt_paid");
        } else {
            chain.send(5, execution(actor, "get", b"", owed + rent));
            assert_eq!(names(&begin_epoch(&mut chain, 3)), ["rent.caught_up", "rent.collected"]);
            assert_eq!(chain.balance(actor), 0);
        }
        let account: RentAccount = chain.record(&state::account_key(actor)).expect("it pays rent");
        assert_eq!((account.debt, account.unpaid), (Amount(0), Count(0)));
    }
}

/// The entries of an actor's storage, as chunks.
fn chunks(chain: &Chain, actor: Address) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
    let entry = |name: bytes::Bytes| {
        let value = chain.stored(actor, std::str::from_utf8(&name).expect("text")).expect("it is listed");
        (name.to_vec(), value)
    };
    chunks::chunks(chain.names(Directory::storage(actor)).into_iter().map(entry), |(key, value)| key.len() + value.len())
}

fn restore(chain: &mut Chain, from: u8, actor: Address, chunk: u64, entries: &[(Vec<u8>, Vec<u8>)]) -> Receipt {
    let pair = |(key, value): &(Vec<u8>, Vec<u8>)| Value::Array(vec![Value::Bytes(key.clone()), Value::Bytes(value.clone())]);
    let entries = Value::Array(entries.iter().map(pair).collect());
    ask(chain, from, "restore", [of(actor), ("chunk", Value::uint(chunk)), ("entries", entries)], 0)
}

/// The removal of an entitlement changes nothing of a dormant actor: neither it nor a redeployment pays the debt. Once that is paid, the actor
/// runs if its manifest allows it.
#[test]
fn a_removed_entitlement_leaves_a_dormant_actor_dormant() {
    for (is_redeployed, expected) in [(true, ActorStatus::Active), (false, ActorStatus::NonExecutable)] {
        let mut chain = expensive(&[("entitlements.deprecation_window", 100)]);
        let actor = deploy(&mut chain, 0);
        chain.call(actor, "many", &[7; 30_000]);
        let kept = chunks(&chain, actor);
        begin_epoch(&mut chain, 10);
        let debt = chain.record::<Dormancy>(&state::dormancy_key(actor)).expect("it is dormant").debt;
        let from = chain.height.0 + 2;
        assert!(chain.decide(0x07, "deprecate", &Value::map([("id", Value::text("storage.kv")), ("from", Value::uint(from))])));
        chain.idle(from + 102 - chain.height.0);
        assert_eq!(chain.actor(actor).status, ActorStatus::Dormant, "after the removal");
        if is_redeployed {
            let manifest = manifest(&[("econ.hold_balance", &[]), ("timer.schedule", &[])]);
            let argument = Value::map([of(actor), ("manifest", Value::Bytes(manifest))]).encode();
            assert_eq!(chain.send(1, execution(Address::system(0x07), "redeploy", &argument, 0)).abort, None);
        }
        assert_eq!(chain.call(actor, "get", b"").abort, Some(error::ACTOR_DORMANT));
        for (chunk, entries) in (0..).zip(&kept) {
            assert_eq!(restore(&mut chain, 6, actor, chunk, entries).abort, None);
        }
        assert_eq!(ask(&mut chain, 8, "pay_debt", [of(actor)], debt.0 * 11 / 10).abort, None);
        assert_eq!(chain.actor(actor).status, expected);
    }
}

/// whoever has the data brings an actor back: every chunk as it was, and the debt with its fee.
#[test]
fn a_dormant_actor_is_restored_by_anybody() {
    let mut chain = expensive(&[]);
    let actor = deploy(&mut chain, 0);
    chain.call(actor, "many", &[7; 30_000]);
    let kept = chunks(&chain, actor);
    assert_eq!(kept.len(), 2, "60 KB and 30 KB");
    begin_epoch(&mut chain, 10);
    let dormancy: Dormancy = chain.record(&state::dormancy_key(actor)).expect("it is dormant");
    assert_eq!(dormancy.missing, Count(2));
    let mut wrong = kept[0].clone();
    wrong[0].1[0] ^= 1;
    assert_eq!(restore(&mut chain, 6, actor, 0, &wrong).abort, Some(error::WRONG_CHUNK));
    assert_eq!(restore(&mut chain, 6, actor, 1, &kept[0]).abort, Some(error::WRONG_CHUNK));
    assert_eq!(restore(&mut chain, 6, actor, 2, &kept[0]).abort, Some(error::INVALID_ARGUMENT), "there are two");
    assert!(restore(&mut chain, 6, actor, 1, &kept[1]).is_success(), "in any order");
    assert_eq!(restore(&mut chain, 6, actor, 1, &kept[1]).abort, Some(error::INVALID_ARGUMENT), "not twice");
    assert!(restore(&mut chain, 7, actor, 0, &kept[0]).is_success(), "by anybody");
    assert_eq!(chain.call(actor, "get", b"").abort, Some(error::ACTOR_DORMANT), "the debt is open");
    let owed = dormancy.debt.0 * 11 / 10;
    let paid = ask(&mut chain, 8, "pay_debt", [of(actor)], owed);
    assert_eq!(&paid.events.iter().map(|event| &event.name[..]).collect::<Vec<_>>()[..], ["rent.debt_paid", "rent.restored"]);
    assert_eq!(chain.call(actor, "get", b"").return_data[..], [7; 30_000]);
    assert_eq!(restore(&mut chain, 6, actor, 0, &kept[0]).abort, Some(error::NOT_DORMANT));
    assert_eq!(chain.names(Directory::rents()).len(), 1, "it pays rent again");
}

/// Storage that comes back pays no rent while its actor is dormant: it is pruned again unless the actor runs an epoch later, and can be brought back again.
#[test]
fn restored_storage_does_not_stay_for_nothing() {
    for (is_paid, back, again) in [(true, &[1][..], [0, 2]), (false, &[0, 1][..], [2, 3])] {
        let mut chain = expensive(&[]);
        let actor = deploy(&mut chain, 0);
        chain.call(actor, "many", &[7; 30_000]);
        let kept = chunks(&chain, actor);
        begin_epoch(&mut chain, 10);
        let owed = chain.record::<Dormancy>(&state::dormancy_key(actor)).expect("it is dormant").debt.0 * 11 / 10;
        let pay = |chain: &mut Chain| assert!(ask(chain, 8, "pay_debt", [of(actor)], owed).is_success());
        if is_paid {
            pay(&mut chain);
        }
        for chunk in back {
            assert!(restore(&mut chain, 6, actor, *chunk, &kept[usize::try_from(*chunk).expect("small")]).is_success());
        }
        begin_epoch(&mut chain, 11);
        assert!(chain.actor(actor).storage_bytes > Count(0), "there is time for the rest");
        begin_epoch(&mut chain, 12);
        let dormancy: Dormancy = chain.record(&state::dormancy_key(actor)).expect("it is dormant");
        assert_eq!((chain.actor(actor).storage_bytes, dormancy.missing, dormancy.is_pruned), (Count(0), Count(2), true));
        assert_eq!(chain.names(Directory::rents()).len(), 0);
        for (chunk, entries) in again.into_iter().zip(&kept) {
            assert!(restore(&mut chain, 6, actor, chunk, entries).is_success());
        }
        if !is_paid {
            pay(&mut chain);
        }
        assert_eq!(chain.call(actor, "get", b"").return_data[..], [7; 30_000]);
        assert_eq!(chain.names(Directory::rents()).len(), 1, "it pays rent again");
    }
}

/// An actor that keeps nothing, and whose debt is paid before its timers are removed, runs again as soon as they are: nobody has anything to
/// bring back.
#[test]
fn an_actor_without_storage_wakes_by_itself() {
    let mut chain = expensive(&[("rent.prunings_per_block", 1)]);
    let script = format!("handler wait\n timer 1000000 'x'\nhandler get\n return '{}'\n", "x".repeat(2_000));
    let actor = chain.send(1, deployment(&script, Some(ALL), None, 0)).created.expect("it is deployed");
    assert_eq!(chain.call(actor, "wait", b"").abort, None);
    assert_eq!(names(&begin_epoch(&mut chain, 10)), ["rent.evicted"]);
    let dormancy: Dormancy = chain.record(&state::dormancy_key(actor)).expect("it is dormant");
    assert!(!dormancy.is_pruned, "its timers went first");
    let paid = ask(&mut chain, 8, "pay_debt", [of(actor)], dormancy.debt.0 * 11 / 10);
    assert_eq!(paid.abort, None);
    assert_eq!(chain.record::<Dormancy>(&state::dormancy_key(actor)), None);
    assert_eq!(chain.call(actor, "get", b"").abort, None);
    assert_eq!(chain.names(Directory::rents()).len(), 1, "it pays rent again");
}

/// a block hands out what it pruned, as the state's hashes name it, for whoever keeps it for 30 epochs.
#[test]
fn a_block_hands_out_what_it_pruned() {
    let mut chain = expensive(&[("rent.prunings_per_block", 2)]);
    let actor = deploy(&mut chain, 0);
    chain.call(actor, "many", &[7; 30_000]);
    let kept = chunks(&chain, actor);
    chain.height = Height(999);
    let mut pruned = Vec::new();
    for _ in 0..3 {
        let until = Height(chain.height.0 + 1 + 30 * 100);
        let block = chain.block(Vec::new());
        assert!(block.pruned.iter().all(|chunk| chunk.until == until));
        pruned.extend(block.pruned);
    }
    let found: Vec<_> = pruned.iter().map(|chunk| chunks::chunk_entries(&chunk.bytes).expect("a chunk")).collect();
    assert_eq!(found, kept);
    for (number, chunk) in (0..).zip(&pruned) {
        assert_eq!(chain.record::<Hash>(&state::chunk_key(actor, number)), Some(chunk.hash));
        assert_eq!(chunks::chunk_hash(&kept[usize::try_from(number).expect("small")]), chunk.hash);
    }
}

/// Pruning is bounded: a large actor goes over several blocks, and is restored only when all of it went.
#[test]
fn pruning_takes_as_many_blocks_as_it_needs() {
    let mut chain = expensive(&[("rent.prunings_per_block", 1)]);
    let actor = deploy(&mut chain, 0);
    chain.call(actor, "many", &[7; 30_000]);
    let kept = chunks(&chain, actor);
    // The timer, then a chunk a block, then the end.
    assert_eq!(names(&begin_epoch(&mut chain, 10)), ["rent.evicted"]);
    assert_eq!(restore(&mut chain, 6, actor, 0, &kept[0]).abort, Some(error::NOT_DORMANT), "not yet");
    assert_eq!(chain.actor(actor).timers_live, Count(0));
    let blocks: Vec<usize> = (0..3).map(|_| chain.idle(1).len()).collect();
    assert_eq!(blocks.iter().sum::<usize>(), 1, "one announcement, at the end");
    assert!(chain.record::<Dormancy>(&state::dormancy_key(actor)).expect("it is dormant").is_pruned);
}

/// Collections are bounded: whoever is not reached in the epoch's first block is reached in the next.
#[test]
fn collections_are_spread_over_blocks() {
    let mut chain = expensive(&[("rent.collections_per_block", 1)]);
    for from in 1..=3 {
        let actor = chain.send(from, deployment(SCRIPT, Some(ALL), None, 1_000_000_000)).created.expect("it is deployed");
        chain.call(actor, "put", &[7; 2_000]);
    }
    let first = begin_epoch(&mut chain, 1).len();
    assert_eq!([first, chain.idle(1).len(), chain.idle(1).len(), chain.idle(1).len()], [1, 1, 1, 0]);
}

/// a bond extends the quota to 8 MiB; rent is due for the whole extension; the bond comes back when the quota
/// shrinks, and is burned with an eviction.
#[test]
fn a_bond_extends_the_quota() {
    let mut chain = expensive(&[("rent.bond_per_byte", 10)]);
    let actor = deploy(&mut chain, 0);
    let (base, most) = (1u64 << 20, 8u64 << 20);
    let quota = |bytes: u64| ("quota", Value::uint(bytes));
    let rows = [
        (2, base * 2, base * 10, Some(error::NOT_OWNER)),
        (1, most + 1, (most + 1 - base) * 10, Some(error::INVALID_ARGUMENT)),
        (1, base - 1, 0, Some(error::INVALID_ARGUMENT)),
        (1, base * 2, base * 10 - 1, Some(error::INVALID_ARGUMENT)),
        (1, base * 2, base * 10, None),
        (1, most, 6 * base * 10, None),
    ];
    for (from, bytes, value, expected) in rows {
        assert_eq!(ask(&mut chain, from, "set_quota", [of(actor), quota(bytes)], value).abort, expected, "{bytes}");
    }
    assert_eq!(chain.actor(actor).storage_quota, Count(most));
    let used = rent::size(&chain.actor(actor)).0;
    let due = shown(&mut chain, actor).get("per_epoch").and_then(Value::as_u64);
    assert_eq!(due, Some((used.saturating_sub(1_000) + most - base) * 1_000), "the whole extension counts (decision 61)");
    let before = chain.balance(address(1));
    let back = ask(&mut chain, 1, "set_quota", [of(actor), quota(base * 2)], 0);
    assert_eq!(chain.balance(address(1)), before + 6 * base * 10 - back.fee.burned.0 - back.fee.tip.0);
    let burned = chain.record::<cowboy_state::records::Supply>(&cowboy_state::records::keys::supply()).expect("it is there").burned;
    begin_epoch(&mut chain, 10);
    let supply: cowboy_state::records::Supply = chain.record(&cowboy_state::records::keys::supply()).expect("it is there");
    assert_eq!(supply.burned.0 - burned.0, base * 10, "the bond is forfeited");
    assert_eq!((chain.actor(actor).storage_quota, chain.balance(MANAGER)), (Count(0), 0));
}

/// the rate follows the size of all storage, by at most an eighth an epoch, where governance names a size.
#[test]
fn the_rate_follows_the_size_of_the_state() {
    let rate = |target: u64, epochs: u64| {
        let mut chain = expensive(&[("rent.target_state_size", target)]);
        let actor = deploy(&mut chain, 1_000_000_000);
        chain.call(actor, "many", &[7; 30_000]);
        for epoch in 1..=epochs {
            begin_epoch(&mut chain, epoch);
        }
        let record: RentRate = chain.record(&rent_rate::key()).expect("storage is counted");
        assert_eq!(record.bytes, rent::size(&chain.actor(actor)), "all storage, code and manifests there are");
        (record.rate.0, record.bytes.0)
    };
    let (fixed, bytes) = rate(0, 3);
    assert_eq!(fixed, 365_000, "without a target it stands");
    assert_eq!(rate(bytes, 3).0, 365_000, "at the target it stands");
    assert_eq!(rate(bytes / 10, 1).0, 365_000 + 45_625, "far above: an eighth up");
    assert_eq!(rate(bytes / 10, 2).0, 410_625 + 51_328, "each epoch");
    assert_eq!(rate(bytes * 2, 1).0, 365_000 - 365_000 / 16, "half of the target: (S − T)/(T × 8) = −1/16");
}
