//! What the mempool keeps, refuses and gives up, against a few rules that hold whatever comes.

mod moving;
use super::{
    pool::{PUT_OFF_BLOCKS, PUT_OFF_TIMES},
    *,
};
use crate::genesis::{DevGenesis, dev};
use commonware_codec::Encode as _;
use cowboy_types::{Amount, Blob, Cells, ChainId, Cycles, Instruction, List, Price, System, Transaction, transaction::Signature};
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng as _, SeedableRng as _};
use std::collections::BTreeSet;

const FUNDS: Amount = Amount(1_000_000 * Amount::CBY.0);

fn account(nonce: u64) -> Account {
    Account { nonce: Nonce(nonce), balance: FUNDS }
}

fn standing(nonce: u64) -> Standing {
    Standing { account: account(nonce), lane: Lane::User }
}

fn sender(number: u8) -> Address {
    Address([number; 20])
}

/// A transfer that offers this tip for a cycle, in a transaction made longer by a number of bytes.
fn transfer(from: u8, nonce: u64, tip: u64, padding: usize) -> SignedTransaction {
    transfer_with(from, nonce, tip, padding, 0)
}

/// A transfer with a limit of cells.
fn transfer_with(from: u8, nonce: u64, tip: u64, padding: usize, cells: u64) -> SignedTransaction {
    SignedTransaction::unchecked(Transaction {
        chain_id: ChainId(1337),
        nonce: Nonce(nonce),
        instruction: Instruction::System(System::Transfer { to: Address([0xEE; 20]), amount: Amount(1) }),
        cycles_limit: Cycles(21_000),
        cells_limit: Cells(cells),
        max_fee_per_cycle: Price(10_000 + tip),
        max_fee_per_cell: Price(10_000 + tip),
        max_priority_fee_per_cycle: Price(tip),
        max_priority_fee_per_cell: Price(0),
        from: sender(from),
        metadata: Blob::new(vec![0; padding]).expect("a short note"),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Signature::default(),
        additional_signers: List::default(),
    })
}

fn mempool(limits: Limits) -> Mempool {
    let (genesis, _) = dev(DevGenesis::default()).expect("a genesis");
    let least = Price(genesis.chain.params.fees.base_fee_min);
    Mempool::with_limits(genesis.chain, BaseFees { cycle: least, cell: least }, limits)
}

fn few(transactions: usize) -> Limits {
    Limits { transactions, ..Limits::default() }
}

fn admit(mempool: &Mempool, signed: SignedTransaction) -> Result<Hash, Refused> {
    mempool.admit(Source::Client, &standing(0), signed)
}

/// The senders and nonces that wait.
fn waiting(mempool: &Mempool) -> Vec<(u8, u64)> {
    mempool.all().iter().map(|signed| (signed.transaction().from.0[0], signed.transaction().nonce.0)).collect()
}

/// Sender, nonce, tip.
type Row = (u8, u64, u64);

/// What is shown, who waits, who comes, what it is told, and who waits then.
type Case<'a> = (&'a str, &'a [Row], Row, Result<(), Refused>, &'a [(u8, u64)]);

#[test]
fn in_a_full_mempool_the_better_offer_wins() {
    let full = Err(Refused::Full);
    let rows: &[Case] = &[
        ("there is room", &[(1, 0, 5)], (2, 0, 1), Ok(()), &[(1, 0), (2, 0)]),
        ("it offers less", &[(1, 0, 5), (2, 0, 5), (3, 0, 5)], (4, 0, 4), full.clone(), &[(1, 0), (2, 0), (3, 0)]),
        ("it offers as much", &[(1, 0, 5), (2, 0, 5), (3, 0, 5)], (4, 0, 5), full.clone(), &[(1, 0), (2, 0), (3, 0)]),
        ("it offers more than one", &[(1, 0, 5), (2, 0, 3), (3, 0, 5)], (4, 0, 4), Ok(()), &[(1, 0), (3, 0), (4, 0)]),
        ("the end of a queue goes, not its cheap middle", &[(1, 0, 1), (1, 1, 6), (2, 0, 5)], (3, 0, 7), Ok(()), &[(1, 0), (1, 1), (3, 0)]),
        (
            "a cheap middle is kept while its end offers more",
            &[(1, 0, 1), (1, 1, 9), (2, 0, 8)],
            (3, 0, 7),
            full.clone(),
            &[(1, 0), (1, 1), (2, 0)],
        ),
        ("what stands behind a gap goes first", &[(1, 5, 90), (2, 0, 5), (3, 0, 6)], (4, 0, 1), Ok(()), &[(2, 0), (3, 0), (4, 0)]),
        (
            "what stands behind a gap outbids nobody",
            &[(1, 0, 5), (2, 0, 5), (3, 0, 5)],
            (4, 7, 90),
            full.clone(),
            &[(1, 0), (2, 0), (3, 0)],
        ),
        ("a queue does not lose its own beginning", &[(1, 0, 1), (2, 0, 9), (3, 0, 9)], (1, 1, 5), full.clone(), &[(1, 0), (2, 0), (3, 0)]),
        (
            "a gap is filled at the cost of what is behind it",
            &[(1, 1, 9), (2, 0, 9), (3, 0, 9)],
            (1, 0, 1),
            Ok(()),
            &[(1, 0), (2, 0), (3, 0)],
        ),
        ("a replacement needs no room", &[(1, 0, 5), (2, 0, 9), (3, 0, 9)], (1, 0, 5_000), Ok(()), &[(1, 0), (2, 0), (3, 0)]),
        (
            "a replacement offers a tenth more",
            &[(1, 0, 5), (2, 0, 9)],
            (1, 0, 6),
            Err(Refused::Underpriced { bump: 1_000 }),
            &[(1, 0), (2, 0)],
        ),
    ];
    for (name, before, newcomer, expected, after) in rows {
        let mempool = mempool(few(3));
        for (from, nonce, tip) in *before {
            admit(&mempool, transfer(*from, *nonce, *tip, 0)).expect("there is room at first");
        }
        let (from, nonce, tip) = *newcomer;
        assert_eq!(admit(&mempool, transfer(from, nonce, tip, 0)).map(drop), *expected, "{name}");
        assert_eq!(waiting(&mempool), *after, "{name}");
        for (from, nonce, tip) in before.iter().filter(|(from, nonce, _)| !after.contains(&(*from, *nonce))) {
            assert_eq!(mempool.dropped(transfer(*from, *nonce, *tip, 0).digest()), Some(Refused::Full), "{name}: the loser can ask why");
        }
    }
}

#[test]
fn several_small_ones_make_room_for_a_large_one() {
    let small = transfer(1, 0, 1, 0).size();
    let mempool = mempool(Limits { bytes: 4 * small, ..Limits::default() });
    for (from, nonce, tip) in [(1, 0, 2), (1, 1, 2), (1, 2, 2), (2, 0, 9)] {
        admit(&mempool, transfer(from, nonce, tip, 0)).expect("there is room");
    }
    assert_eq!(
        admit(&mempool, transfer_with(3, 0, 5, 3 * small, 10_000)),
        Err(Refused::Full),
        "four would have to go, and one of them offers more"
    );
    assert_eq!(waiting(&mempool).len(), 4, "a refusal changes nothing");
    assert!(admit(&mempool, transfer_with(3, 0, 5, small / 2, 10_000)).is_ok());
    assert_eq!(waiting(&mempool), [(1, 0), (2, 0), (3, 0)], "the end of the cheapest queue went, and no more than was needed");
}

#[test]
fn what_a_block_has_taken_makes_no_room() {
    let mempool = mempool(few(2));
    let taken = admit(&mempool, transfer(1, 0, 1, 0)).expect("there is room");
    admit(&mempool, transfer(2, 0, 3, 0)).expect("there is room");
    mempool.take(1, [taken]);
    assert_eq!(mempool.summary().taken, 1);
    assert!(admit(&mempool, transfer(3, 0, 5, 0)).is_ok());
    assert_eq!(waiting(&mempool), [(1, 0), (3, 0)]);
}

#[test]
fn one_sender_has_a_limit() {
    let mempool = mempool(Limits { per_sender: 2, ..Limits::default() });
    assert_eq!(admit(&mempool, transfer(1, 2, 1, 0)), Err(Refused::TooFarAhead { found: Nonce(2), expected: Nonce(0), most: 2 }));
    assert!(admit(&mempool, transfer(1, 0, 1, 0)).is_ok() && admit(&mempool, transfer(1, 1, 1, 0)).is_ok());
    assert_eq!(mempool.admit(Source::Client, &standing(1), transfer(1, 2, 1, 0)), Err(Refused::SenderFull { most: 2 }));
    assert_eq!(mempool.summary().largest, [(sender(1), 2)]);
}

/// What the account's record is when this nonce is next.
fn written(nonces: &[u64]) -> BTreeMap<StateKey, Option<Value>> {
    let record = |number: u8, nonce: u64| {
        let key = Key::account(sender(number));
        (key.digest(), Some(key.seal(&account(nonce).encode())))
    };
    (1u8..).zip(nonces).map(|(number, nonce)| record(number, *nonce)).collect()
}

/// Whatever is submitted, taken, finalized and repriced in whatever order: the limits hold, the counts are right, a block
/// can take whatever could be taken before unless it was outbid, and nothing is dropped for something worse.
#[test]
fn whatever_comes_the_rules_hold() {
    for seed in 0..40 {
        let mut random = ChaCha20Rng::seed_from_u64(seed);
        let limits = Limits { transactions: 12, bytes: 6_000, per_sender: 6 };
        let mempool = mempool(limits);
        let mut nonces = [0u64; 5];
        for step in 0..300u64 {
            let mut draw = |below: u64| random.next_u64() % below;
            match draw(10) {
                0 => {
                    let chosen: Vec<SignedTransaction> = mempool.candidates().into_iter().take(2).collect();
                    mempool.take(step, chosen.iter().map(|signed| *signed.digest()));
                }
                1 => {
                    let number = usize::try_from(draw(5)).expect("small");
                    nonces[number] += draw(3);
                    let fee = Price(10_000 + draw(4));
                    mempool.advance(step, &written(&nonces), BaseFees { cycle: fee, cell: fee });
                }
                _ => {
                    let number = u8::try_from(draw(5)).expect("small");
                    let nonce = nonces[usize::from(number)] + draw(7);
                    let padding = usize::try_from(draw(3) * draw(400)).expect("small");
                    let signed = transfer(number + 1, nonce, draw(5_000), padding);
                    let before = mempool.all();
                    let admitted = mempool.admit(Source::Client, &standing(nonces[usize::from(number)]), signed.clone());
                    let after = mempool.all();
                    check_admission(&format!("seed {seed}, step {step}"), &nonces, &signed, admitted.is_ok(), &before, &after);
                }
            }
            check_counts(&format!("seed {seed}, step {step}"), &mempool, limits, &nonces);
        }
    }
}

fn check_counts(name: &str, mempool: &Mempool, limits: Limits, nonces: &[u64]) {
    let (size, all) = (mempool.size(), mempool.all());
    let senders: BTreeSet<Address> = all.iter().map(|signed| signed.transaction().from).collect();
    let bytes: usize = all.iter().map(SignedTransaction::size).sum();
    assert_eq!(size, Size { transactions: all.len(), bytes, senders: senders.len() }, "{name}");
    assert!(size.transactions <= limits.transactions && size.bytes <= limits.bytes, "{name}: {size:?}");
    for signed in &all {
        let transaction = signed.transaction();
        assert!(transaction.nonce.0 >= nonces[usize::from(transaction.from.0[0]) - 1], "{name}: a used nonce waits");
        assert_eq!(mempool.get(signed.digest()).as_ref(), Some(signed), "{name}");
        assert!(mempool.of_sender(&transaction.from).len() <= limits.per_sender, "{name}");
    }
    mempool.with(|pool| assert!(pool.is_in_order(), "{name}: the last of every queue stand in their order"));
}

fn check_admission(
    name: &str,
    nonces: &[u64],
    signed: &SignedTransaction,
    is_admitted: bool,
    before: &[SignedTransaction],
    after: &[SignedTransaction],
) {
    let place = |signed: &SignedTransaction| (signed.transaction().from, signed.transaction().nonce);
    let gone: Vec<&SignedTransaction> = before.iter().filter(|old| !after.contains(old)).collect();
    if !is_admitted {
        assert!(gone.is_empty() && before.len() == after.len(), "{name}: a refusal changes nothing");
        return;
    }
    assert!(after.contains(signed), "{name}: what was taken in waits");
    // What could be taken by a block, were it alone: then tips decide, as base fees are the same for all.
    let worth = |signed: &SignedTransaction, all: &[SignedTransaction]| {
        let (sender, nonce) = place(signed);
        let mut missing = nonces[usize::from(sender.0[0]) - 1]..nonce.0;
        let is_reachable = missing.all(|nonce| all.iter().any(|other| place(other) == (sender, Nonce(nonce))));
        (is_reachable, signed.transaction().max_priority_fee_per_cycle)
    };
    for old in gone.into_iter().filter(|old| place(old) != place(signed)) {
        let (sender, nonce) = place(old);
        let is_behind = before.iter().any(|kept| place(kept).0 == sender && place(kept).1 > nonce && after.contains(kept));
        assert!(!is_behind, "{name}: the middle of a queue went");
        assert!(worth(old, before) < worth(signed, before), "{name}: something better went for something worse");
    }
}

/// The record of moved parameters, as governance writes it.
fn moved(rows: &[(&str, u64)]) -> (StateKey, Option<Value>) {
    let change = |(name, value): &(&str, u64)| cowboy_state::records::ParameterChange {
        row: Params::row(name).expect("the parameter exists").id,
        value: *value,
    };
    let mut changes: Vec<_> = rows.iter().map(change).collect();
    changes.sort_by_key(|change| change.row);
    let key = keys::parameters();
    let stored = key.seal(&ParameterChanges { changes: List::new(changes).expect("few rows") }.encode());
    (key.digest(), Some(stored))
}

/// A final block that wrote these accounts' nonces and moved these parameters.
fn advance(mempool: &Mempool, number: u64, nonces: &[u64], rows: &[(&str, u64)]) {
    let mut writes = written(nonces);
    writes.extend((!rows.is_empty()).then(|| moved(rows)));
    let base_fees = mempool.with(|pool| pool.base_fees);
    mempool.advance(number, &writes, base_fees);
}

/// The transfer with other limits and prices.
fn offering(from: u8, nonce: u64, cycles: u64, price: u64) -> SignedTransaction {
    let inner = transfer(from, nonce, 0, 0).transaction().clone();
    SignedTransaction::unchecked(Transaction { cycles_limit: Cycles(cycles), max_fee_per_cycle: Price(price), ..inner })
}

/// What a vote moves holds from the next block on: limits, lanes' fees, and what a replacement must offer.
#[test]
fn it_follows_the_parameters_as_governance_leaves_them() {
    let mempool = mempool(Limits::default());
    let (long, cheap) = (offering(1, 0, 30_000_000, 10_000), offering(2, 0, 21_000, 5_000));
    assert!(matches!(admit(&mempool, long.clone()), Err(Refused::Invalid(Invalid::LimitTooHigh { .. }))));
    assert!(matches!(admit(&mempool, cheap.clone()), Err(Refused::Invalid(Invalid::BaseFeeTooLow { .. }))));
    let rows = [("lanes.user_cycles", 60_000_000), ("lanes.user_fee_multiplier", 5_000), ("fees.replacement_bump", 5_000)];
    advance(&mempool, 1, &[], &rows);
    let of_lane = [Lane::User, Lane::System].map(|lane| mempool.base_fees(lane).cycle);
    assert_eq!(of_lane, [Price(5_000), Price(10_000)], "what this node's own transactions have to offer");
    assert!(admit(&mempool, long).is_ok() && admit(&mempool, cheap).is_ok());
    assert_eq!(mempool.candidates().len(), 2, "a proposer is given what pays the lane's own fee");
    assert_eq!(admit(&mempool, offering(2, 0, 21_000, 7_000)), Err(Refused::Underpriced { bump: 5_000 }));
    // A cost that was raised is asked for at once.
    advance(&mempool, 2, &[], &[("intrinsic.transfer_cycles", 50_000)]);
    assert!(matches!(admit(&mempool, transfer(3, 0, 1, 0)), Err(Refused::Invalid(Invalid::LimitTooLow { .. }))));
    // After a restart it is the state's record that counts.
    let again = self::mempool(Limits::default());
    again.govern(moved(&rows).1.as_ref());
    assert_eq!(again.params().lanes.user_cycles, 60_000_000);
}

/// Whatever no block could take for as many blocks as the row says is dropped with what stands behind it, and can be asked for.
#[test]
fn what_no_block_can_take_expires() {
    let mempool = mempool(Limits::default());
    advance(&mempool, 10, &[], &[("mempool.expiry", 5)]);
    let admitted = |signed: SignedTransaction| admit(&mempool, signed).expect("there is room");
    let (gap, behind, ready, dear) =
        (admitted(transfer(1, 2, 5, 0)), admitted(transfer(1, 3, 5, 0)), admitted(transfer(2, 0, 5, 0)), admitted(transfer(3, 0, 0, 0)));
    assert_eq!(mempool.waits(&gap), Some(Waits::Nonce { missing: Nonce(0) }));
    assert_eq!(mempool.waits(&behind), Some(Waits::Nonce { missing: Nonce(0) }));
    assert_eq!(mempool.waits(&ready), Some(Waits::Room));
    let raised = BaseFees { cycle: Price(10_001), cell: Price(10_000) };
    let fee = Waits::Fee { nonce: Nonce(0), meter: "cycle", offered: Price(10_000), base_fee: Price(10_001) };
    for number in 11..16 {
        mempool.advance(number, &BTreeMap::new(), raised);
        assert_eq!(mempool.waits(&dear), Some(fee.clone()));
    }
    assert_eq!(mempool.size().transactions, 4, "five blocks are not over");
    mempool.advance(16, &BTreeMap::new(), raised);
    let expired = |reason| Some(Refused::Expired { blocks: 5, reason });
    assert_eq!(mempool.dropped(&gap), expired(Waits::Nonce { missing: Nonce(0) }));
    assert_eq!(mempool.dropped(&behind), expired(Waits::Nonce { missing: Nonce(0) }));
    assert_eq!(mempool.dropped(&dear), expired(fee));
    assert_eq!(waiting(&mempool), [(2, 0)], "what a block could take waits for as long as it likes");
}

/// A queue that moves begins to count anew.
#[test]
fn a_queue_that_moves_does_not_expire() {
    let mempool = mempool(Limits::default());
    advance(&mempool, 10, &[], &[("mempool.expiry", 5)]);
    let last = admit(&mempool, transfer(1, 3, 5, 0)).expect("there is room");
    for number in 11..15 {
        advance(&mempool, number, &[], &[]);
    }
    admit(&mempool, transfer(1, 0, 5, 0)).expect("there is room");
    advance(&mempool, 15, &[1], &[]);
    assert_eq!(mempool.waits(&last), Some(Waits::Nonce { missing: Nonce(1) }), "another nonce is missing, for the same transaction");
    admit(&mempool, transfer(1, 2, 5, 0)).expect("there is room");
    for number in 16..20 {
        advance(&mempool, number, &[1], &[]);
    }
    assert!(mempool.get(&last).is_some(), "the queue got another beginning at block 15");
    advance(&mempool, 21, &[1], &[]);
    assert_eq!(mempool.get(&last), None);
}

/// A block reaches the state before the queue: what is final in the state that was read does not count a second time.
#[test]
fn what_is_final_already_is_not_counted_twice() {
    let mempool = mempool(Limits::default());
    let each = 21_000 * 10_000 + 1;
    let standing = |nonce: u64, transfers: u64| {
        let account = Account { nonce: Nonce(nonce), balance: Amount(transfers * each) };
        Standing { account, lane: Lane::User }
    };
    assert!((0..2).all(|nonce| mempool.admit(Source::Client, &standing(0, 3), transfer(1, nonce, 0, 0)).is_ok()));
    assert!(mempool.admit(Source::Client, &standing(2, 1), transfer(1, 2, 0, 0)).is_ok(), "the account has paid for the other two");
    let both = mempool.admit(Source::Client, &standing(2, 1), transfer(1, 3, 0, 0));
    assert!(matches!(both, Err(Refused::FundsOfQueue { .. })), "{both:?}");
}

/// The fees and values of a whole queue are covered, not those of each transaction by themselves.
#[test]
fn funds_are_checked_in_sum() {
    let mempool = mempool(Limits::default());
    let each = 21_000 * 10_000 + 1;
    let poor = Account { nonce: Nonce(0), balance: Amount(3 * each) };
    let poor = Standing { account: poor, lane: Lane::User };
    let admit = |nonce, tip| mempool.admit(Source::Client, &poor, transfer(1, nonce, tip, 0));
    assert!((0..3).all(|nonce| admit(nonce, 0).is_ok()));
    assert_eq!(admit(3, 0), Err(Refused::FundsOfQueue { needed: Amount(4 * each), balance: poor.account.balance }));
    assert!(matches!(admit(2, 1_000), Err(Refused::FundsOfQueue { .. })), "a dearer replacement, too, has to be covered");
    // The account is emptied by another way: what is not covered any more waits for funds, and then expires.
    let key = Key::account(sender(1));
    let left = Account { nonce: Nonce(1), balance: Amount(each) };
    let last = *transfer(1, 2, 0, 0).digest();
    let funds = Waits::Funds { nonce: Nonce(2), needed: Amount(2 * each), balance: Amount(each) };
    for number in 1..=601 {
        let base_fees = mempool.with(|pool| pool.base_fees);
        mempool.advance(number, &BTreeMap::from([(key.digest(), Some(key.seal(&left.encode())))]), base_fees);
        if number < 601 {
            assert_eq!(mempool.waits(&last), Some(funds.clone()));
            assert_eq!(mempool.candidates().len(), 1);
        }
    }
    assert_eq!(mempool.dropped(&last), Some(Refused::Expired { blocks: 600, reason: funds }));
    assert_eq!(waiting(&mempool), [(1, 1)]);
}

/// Whoever empties an account that covered a full pool keeps nobody out with what it does not pay any more.
#[test]
fn what_nobody_pays_makes_room() {
    let mempool = mempool(few(3));
    assert!((0..3).all(|nonce| admit(&mempool, transfer(1, nonce, 1_000, 0)).is_ok()));
    assert_eq!(admit(&mempool, transfer(2, 0, 0, 0)), Err(Refused::Full), "they offer more");
    let key = Key::account(sender(1));
    let left = Account { nonce: Nonce(1), balance: Amount::ZERO };
    mempool.advance(1, &BTreeMap::from([(key.digest(), Some(key.seal(&left.encode())))]), mempool.with(|pool| pool.base_fees));
    assert!((2..5).all(|from| admit(&mempool, transfer(from, 0, 0, 0)).is_ok()));
    assert_eq!(waiting(&mempool).len(), 3);
    assert!(mempool.get(transfer(1, 1, 1_000, 0).digest()).is_none());
}

/// A queue that lacks a little loses its end, and nothing that its account still pays for.
#[test]
fn what_is_paid_stays_where_the_rest_goes() {
    let rows = [(1, 0, 1_000), (1, 1, 1_000), (1, 2, 1_000), (2, 0, 1)].map(|(from, nonce, tip)| transfer(from, nonce, tip, 0));
    let mempool = mempool(Limits { bytes: rows.iter().map(SignedTransaction::size).sum(), ..Limits::default() });
    let long = transfer_with(3, 0, 5, rows[0].size() / 2, 10_000);
    for signed in rows {
        admit(&mempool, signed).expect("there is room");
    }
    let (key, left) = (Key::account(sender(1)), Account { nonce: Nonce(0), balance: Amount(2 * (21_000 * 11_000 + 1)) });
    mempool.advance(1, &BTreeMap::from([(key.digest(), Some(key.seal(&left.encode())))]), mempool.with(|pool| pool.base_fees));
    assert!(admit(&mempool, long).is_ok());
    assert_eq!(waiting(&mempool), [(1, 0), (1, 1), (3, 0)], "the cheapest one goes before what is paid");
}

/// A sender whose transaction held up a proposer is left out for a while, with all that waits of it.
#[test]
fn a_sender_can_be_set_apart_for_a_while() {
    let mempool = mempool(Limits::default());
    advance(&mempool, 10, &[], &[("mempool.set_apart", 3)]);
    let first = admit(&mempool, transfer(1, 0, 5, 0)).expect("there is room");
    admit(&mempool, transfer(1, 1, 5, 0)).expect("there is room");
    admit(&mempool, transfer(2, 0, 5, 0)).expect("there is room");
    mempool.set_apart(&sender(1));
    assert_eq!(waiting(&mempool), [(2, 0)]);
    assert_eq!(mempool.dropped(&first), Some(Refused::SetApart { until: 14 }));
    for number in 10..13 {
        advance(&mempool, number, &[], &[]);
        assert_eq!(admit(&mempool, transfer(1, 0, 5, 0)), Err(Refused::SetApart { until: 14 }));
    }
    advance(&mempool, 13, &[], &[]);
    assert!(admit(&mempool, transfer(1, 0, 5, 0)).is_ok(), "block 14 may take it");
}

/// A transaction that a proposal had no time for is proposed again some blocks later, with what its sender has waiting; one that
/// never is in time is dropped.
#[test]
fn what_is_put_off_comes_again_and_not_for_ever() {
    let mempool = mempool(Limits::default());
    advance(&mempool, 10, &[], &[]);
    let slow = admit(&mempool, transfer(1, 0, 5, 0)).expect("there is room");
    let behind = admit(&mempool, transfer(1, 1, 5, 0)).expect("there is room");
    let other = admit(&mempool, transfer(2, 0, 5, 0)).expect("there is room");
    let offered = || mempool.candidates().iter().map(|candidate| *candidate.digest()).collect::<BTreeSet<_>>();
    for round in 0..2 {
        let number = 10 + round * PUT_OFF_BLOCKS;
        assert_eq!(offered(), BTreeSet::from([slow, behind, other]));
        mempool.put_off(&slow);
        let until = number + PUT_OFF_BLOCKS + 1;
        assert_eq!((offered(), mempool.waits(&behind)), (BTreeSet::from([other]), Some(Waits::Off { until })));
        advance(&mempool, until - 2, &[], &[]);
        assert_eq!(offered(), BTreeSet::from([other]));
        advance(&mempool, until - 1, &[], &[]);
    }
    mempool.put_off(&slow);
    assert_eq!(mempool.dropped(&slow), Some(Refused::TooSlow { times: PUT_OFF_TIMES }));
    assert_eq!(mempool.waits(&behind), Some(Waits::Nonce { missing: Nonce(0) }));
    assert!(admit(&mempool, transfer(1, 0, 5, 0)).is_ok(), "its sender may send it again");
    assert_eq!(offered(), BTreeSet::from([slow, behind, other]));
}

/// Where a block takes another transaction with its nonce, the one that waited says so; one that the block took needs no reason.
#[test]
fn a_nonce_that_another_transaction_used_is_the_reason() {
    let mempool = mempool(Limits::default());
    let (taken, other) =
        (admit(&mempool, transfer(1, 0, 5, 0)).expect("there is room"), admit(&mempool, transfer(2, 0, 5, 0)).expect("there is room"));
    mempool.take(7, [taken]);
    advance(&mempool, 7, &[1, 1], &[]);
    assert_eq!(waiting(&mempool), []);
    assert_eq!((mempool.dropped(&taken), mempool.dropped(&other)), (None, Some(Refused::Replaced)));
}

/// Blocks are expired only where nothing moves; a block that has taken a transaction says so.
#[test]
fn what_a_block_has_taken_says_so() {
    let mempool = mempool(Limits::default());
    let taken = admit(&mempool, transfer(1, 0, 5, 0)).expect("there is room");
    mempool.take(7, [taken]);
    assert_eq!(mempool.waits(&taken), Some(Waits::Final { number: 7 }));
    assert_eq!(mempool.waits(&Hash::ZERO), None);
}
