//! Transfers end to end: fees, nonces, order, refusals.

use cowboy_chain::admit::Invalid;
use cowboy_chain::{BlockInvalid, Mode, Outcome, SignedTransaction};
use cowboy_testkit::chain::{Chain, PROPOSER, address, sign, signed, transfer, unsigned};
use cowboy_types::instruction::{Custom, Instruction, System};
use cowboy_types::units::{Amount, Cells, ChainId, Cycles, Nonce, Price};
use cowboy_types::{Address, Hash, Receipt, Transaction};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_transfer_moves_value_and_pays_its_fee,
    an_included_transfer_that_cannot_pay_is_left_out,
    refusals_stand_in_their_written_order,
    signatures_are_checked_before_anything_else,
    the_order_is_the_keys_and_verifiers_check_it,
    a_body_with_a_refused_transaction_is_invalid,
    unused_lanes_spill_into_the_user_lane,
    selection_is_by_effective_fee,
    dev_instructions_need_a_dev_chain,
    an_impersonated_transfer_comes_out_of_the_other_account,
    base_fees_follow_use,
    genesis_is_a_billion_in_buckets,
    transfers_are_prefetched_in_one_round,
    metadata_and_signers_are_charged_for,
    large_transactions_do_not_crowd_out_small_ones,
];

const CBY: u64 = 1_000_000_000;
const BASE: u64 = 10_000;

/// what is reserved, burned, tipped and given back.
#[test]
fn a_transfer_moves_value_and_pays_its_fee() {
    let mut chain = Chain::new();
    let start = chain.balance(address(1));
    let receipt = chain.one(transfer(1, 0, address(2), 5 * CBY));
    let (burned, tip) = (21_000 * BASE, 21_000 * 100);
    assert_eq!(receipt.fee.reserved, Amount(21_000 * 20_000));
    assert_eq!((receipt.fee.burned, receipt.fee.tip), (Amount(burned), Amount(tip)));
    assert_eq!(receipt.fee.refunded, Amount(21_000 * 20_000 - burned - tip));
    assert_eq!(chain.balance(address(1)), start - 5 * CBY - burned - tip);
    assert_eq!(chain.balance(address(2)), start + 5 * CBY);
    assert_eq!(chain.balance(PROPOSER), tip, "tips go to the proposer (A-39)");
    assert_eq!(chain.account(address(1)).nonce, Nonce(1));
    assert!(receipt.is_success() && receipt.events.is_empty());
}

/// A transfer that fails after admission keeps nonce and fee and nothing else: here only by a race within the block.
#[test]
fn an_included_transfer_that_cannot_pay_is_left_out() {
    let mut chain = Chain::new();
    let all = chain.balance(address(1));
    let outcome = chain.block(vec![transfer(1, 0, address(2), all)]);
    assert!(matches!(outcome.rejected[..], [(_, Invalid::BalanceForValue { .. })]));
    assert!(outcome.included.is_empty());
    assert_eq!(chain.balance(address(1)), all);
}

struct Case(&'static str, fn(&mut Transaction), fn(&Invalid) -> bool);

/// each row breaks its own rule and every rule after it, so the order of the rows is the order of the checks.
#[test]
fn refusals_stand_in_their_written_order() {
    let cases = [
        Case("chain (A-2, A-28)", |t| t.chain_id = ChainId(43), |r| matches!(r, Invalid::WrongChain { .. })),
        Case("origin (A-22)", |t| t.origin_remaining_cells = Some(Cells(1)), |r| matches!(r, Invalid::OriginPresent)),
        Case(
            "cycles too high (A-24)",
            |t| t.cycles_limit = Cycles(22_222_223),
            |r| matches!(r, Invalid::LimitTooHigh { meter: "cycles", .. }),
        ),
        Case("cells too high (A-24)", |t| t.cells_limit = Cells(16_000_001), |r| matches!(r, Invalid::LimitTooHigh { meter: "cells", .. })),
        Case("cycles too low", |t| t.cycles_limit = Cycles(20_999), |r| matches!(r, Invalid::LimitTooLow { meter: "cycles", .. })),
        Case("tip above max", |t| t.max_priority_fee_per_cycle = Price(u64::MAX), |r| matches!(r, Invalid::TipAboveMax { meter: "cycle" })),
        Case("overflow", |t| (t.max_fee_per_cell, t.cells_limit) = (Price(u64::MAX), Cells(10)), |r| matches!(r, Invalid::FeeOverflow)),
        Case("base fee", |t| t.max_fee_per_cell = Price(9_999), |r| matches!(r, Invalid::BaseFeeTooLow { meter: "cell", .. })),
        Case("nonce ahead (A-27)", |t| t.nonce = Nonce(1), |r| matches!(r, Invalid::NonceTooHigh { .. })),
        Case("fee (A-25)", |t| t.max_fee_per_cycle = Price(100_000_000_000), |r| matches!(r, Invalid::BalanceForFee { .. })),
        Case(
            "value (A-25)",
            |t| t.instruction = Instruction::System(System::Transfer { to: address(2), amount: Amount(999_999_999_999_999) }),
            |r| matches!(r, Invalid::BalanceForValue { .. }),
        ),
    ];
    let mut chain = Chain::new();
    for first in 0..cases.len() {
        for last in [first, cases.len() - 1] {
            let mut transaction = unsigned(1, 0, Instruction::System(System::Transfer { to: address(2), amount: Amount(1) }));
            transaction.cycles_limit = Cycles(21_000);
            for Case(_, breaks, _) in cases[first..=last].iter().rev() {
                breaks(&mut transaction);
            }
            let outcome = chain.block(vec![sign(1, transaction)]);
            let (_, reason) = &outcome.rejected[0];
            assert!(cases[first].2(reason), "{}: {reason}", cases[first].0);
        }
    }
    let outcome = chain.block(vec![transfer(1, 0, address(2), 1)]);
    assert_eq!(outcome.rejected, vec![]);
    let outcome = chain.block(vec![transfer(1, 0, address(2), 1)]);
    assert!(matches!(outcome.rejected[0].1, Invalid::NonceTooLow { .. }), "a used nonce is refused (A-27)");
}

/// what the bytes alone say.
#[test]
fn signatures_are_checked_before_anything_else() {
    let mut transaction = unsigned(1, 0, Instruction::System(System::Transfer { to: address(2), amount: Amount(1) }));
    cowboy_testkit::chain::key(2).sign_transaction(&mut transaction);
    assert!(matches!(SignedTransaction::check(transaction.clone()), Err(Invalid::Signature(_))));
    let co = |number: u8| cowboy_types::CoSignature { address: address(number), signature: Default::default() };
    transaction.additional_signers = cowboy_types::List::new(vec![co(3), co(3)]).expect("two fit");
    assert_eq!(SignedTransaction::check(transaction), Err(Invalid::SignersUnordered));
    assert!(matches!(SignedTransaction::decode(&[0; 10]), Err(Invalid::NotCanonical(_))), "A-30");
    assert!(matches!(SignedTransaction::decode(&vec![0; 131_073]), Err(Invalid::TooLarge { .. })), "A-31");
}

/// decision 34: a sender's transactions run by nonce, at places that the VRF gives; a builder who places them otherwise is refused by all.
#[test]
fn the_order_is_the_keys_and_verifiers_check_it() {
    let mut chain = Chain::new();
    let mut candidates: Vec<SignedTransaction> =
        (1..=6).flat_map(|from| (0..5).map(move |nonce| transfer(from, nonce, address(7), 1))).collect();
    candidates.reverse();
    let outcome = chain.block(candidates.clone());
    assert_eq!(outcome.included.len(), 30);
    let digests: Vec<Hash> = outcome.included.iter().map(Transaction::digest).collect();
    let keys: Vec<Hash> = {
        let chain = Chain::new();
        digests.iter().map(|digest| cowboy_chain::order::order_key(&chain.order_key(), digest)).collect()
    };
    assert!(!keys.is_sorted(), "a sender's places were filled by nonce");
    let mut swapped: Vec<SignedTransaction> = outcome.included.iter().cloned().map(SignedTransaction::unchecked).collect();
    let last = swapped.len() - 1;
    swapped.swap(0, last);
    let fresh = Chain::new();
    let refusal = fresh.run(fresh.input(Mode::Verify { transactions: swapped })).map(|_| ());
    assert_eq!(refusal, Err(BlockInvalid::Order));
}

/// A verifier refuses a body with a transaction that admission refuses, and says where.
#[test]
fn a_body_with_a_refused_transaction_is_invalid() {
    let chain = Chain::new();
    let transactions = vec![transfer(1, 1, address(2), 1)];
    let refusal = chain.run(chain.input(Mode::Verify { transactions })).map(|_| ());
    assert!(matches!(refusal, Err(BlockInvalid::Transaction { index: 0, reason: Invalid::NonceTooHigh { .. } })));
}

/// decision 5: an idle chain's user lane takes the whole block, and no more.
#[test]
fn unused_lanes_spill_into_the_user_lane() {
    let mut chain = Chain::with(|genesis| {
        let rows = [("execution.block_weight", 4_000_000_000)];
        genesis.parameters = cowboy_testkit::chain::parameters(&rows);
    });
    let candidates: Vec<SignedTransaction> =
        (1..=9).flat_map(|from| (0..450).map(move |nonce| transfer(from, nonce, address(7), 1))).collect();
    let outcome = chain.block(candidates);
    assert_eq!(outcome.included.len(), 80_000_000 / 21_000, "80M cycles of transfers fit, and not one more");
    assert_eq!(outcome.usage.user.cycles, Cycles(outcome.included.len() as u64 * 21_000));
}

/// what does not fit is what offers least, and ties go by hash.
#[test]
fn selection_is_by_effective_fee() {
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = cowboy_testkit::chain::parameters(&[
            ("lanes.system_cycles", 1_000_000),
            ("lanes.timer_cycles", 550_000),
            ("lanes.runner_cycles", 550_000),
            ("lanes.user_cycles", 1_000_000),
        ]);
    });
    let fits = 3_100_000 / 21_000;
    let candidates: Vec<SignedTransaction> = (1..=9u8)
        .flat_map(|from| {
            (0..20u64).map(move |nonce| {
                let mut transaction = unsigned(from, nonce, Instruction::System(System::Transfer { to: address(7), amount: Amount(1) }));
                (transaction.cycles_limit, transaction.cells_limit) = (Cycles(21_000), Cells(0));
                transaction.max_priority_fee_per_cycle = Price(u64::from(from) * 10);
                sign(from, transaction)
            })
        })
        .collect();
    let outcome = chain.block(candidates);
    assert_eq!(outcome.included.len(), fits);
    let lowest = outcome.included.iter().filter(|transaction| transaction.from == address(1)).count();
    assert_eq!(lowest, 0, "the lowest offers are left out");
}

/// dev instructions exist on dev chains only, and set-balance counts as minted or burned.
#[test]
fn dev_instructions_need_a_dev_chain() {
    let set = |to: u64| signed(1, 0, Instruction::Custom(Custom::SetBalance { account: address(2), balance: Amount(to) }));
    let mut chain = Chain::new();
    let before = chain.balance(address(2));
    let outcome = chain.block(vec![set(before + 77)]);
    assert_eq!(outcome.supply.minted, Amount(77));
    assert_eq!(chain.balance(address(2)), before + 77);
    let mut real = Chain::with(|genesis| genesis.is_dev = false);
    let outcome = real.block(vec![set(1)]);
    assert!(matches!(outcome.rejected[0].1, Invalid::DevOnly { .. }));
}

/// Instructions of dev chains make no more CBY than the chain can count, in one block or in several.
#[test]
fn set_balances_that_do_not_fit_are_refused() {
    let mut chain = Chain::new();
    let set = |nonce, account, to: u64| {
        let balance = Amount(to);
        signed(1, nonce, Instruction::Custom(Custom::SetBalance { account: address(account), balance }))
    };
    let results = |outcome: &Outcome| outcome.receipts.iter().map(Receipt::is_success).collect::<Vec<_>>();
    let third = u64::MAX / 6;
    let outcome = chain.block(vec![set(0, 2, u64::MAX), set(1, 2, third), set(2, 3, third), set(3, 4, third)]);
    assert_eq!(results(&outcome), [false, true, true, false]);
    let outcome = chain.block(vec![set(4, 4, third), set(5, 2, 0), set(6, 4, third)]);
    assert_eq!(results(&outcome), [false, true, false]);
}

/// Impersonation: the other account pays the value, the signer pays the fee.
#[test]
fn an_impersonated_transfer_comes_out_of_the_other_account() {
    let mut chain = Chain::new();
    let before = (chain.balance(address(2)), chain.balance(address(3)));
    let inner = cowboy_types::instruction::Ordinary::System(System::Transfer { to: address(3), amount: Amount(5) });
    let receipt = chain.one(signed(1, 0, Instruction::Custom(Custom::Impersonate { sender: address(2), instruction: inner })));
    assert!(receipt.is_success());
    assert_eq!((chain.balance(address(2)), chain.balance(address(3))), (before.0 - 5, before.1 + 5));
    assert_eq!(receipt.fee.payer, address(1));
}

/// both base fees follow use, independently, by at most 1/96, and never below the floor.
#[test]
fn base_fees_follow_use() {
    use cowboy_chain::fees::next_base_fee;
    let params = cowboy_params::Params::GENESIS;
    let target = params.fees.cycles_target;
    let rows = [
        (10_000, 0, 10_000, "the floor holds"),
        (10_000, target, 10_000, "at the target it stands still"),
        (96_000, 2 * target, 97_000, "twice the target is the full step"),
        (96_000, 4 * target, 97_000, "and so is more"),
        (96_000, 0, 95_000, "empty is the full step down"),
        (96_000, target * 3 / 2, 96_500, "half above is half the step"),
        (96_000, target - 1, 96_000, "divisions round down"),
        (10_050, 0, 10_000, "down to the floor, not below"),
    ];
    for (fee, used, next, why) in rows {
        assert_eq!(next_base_fee(&params, Price(fee), used, target), Price(next), "{why}");
    }
}

/// Decision 766. Strategy: governance lowers the floor of the base fees to almost nothing, and once they are there somebody fills every block: a ninety-sixth of
/// such a fee is nothing, so that it would never rise again. It does.
#[test]
fn a_base_fee_below_its_step_rises() {
    use cowboy_chain::fees::next_base_fee;
    let mut params = cowboy_params::Params::GENESIS;
    params.fees.base_fee_min = 1;
    let target = params.fees.cycles_target;
    let rows = [
        (0, 4 * target, 1),
        (1, target, 1),
        (1, target + 1, 2),
        (95, 4 * target, 96),
        (96, 4 * target, 97),
        (97, target + 1, 97),
        (50, 0, 50),
    ];
    for (fee, used, next) in rows {
        assert_eq!(next_base_fee(&params, Price(fee), used, target), Price(next), "{fee} after {used}");
    }
}

/// the genesis supply is exactly a billion CBY, in the buckets of 003 §8.3, with their schedules.
#[test]
fn genesis_is_a_billion_in_buckets() {
    use cowboy_chain::genesis::{BUCKETS, bucket_address};
    let chain = Chain::with(|genesis| genesis.accounts = Default::default());
    assert_eq!(BUCKETS.iter().map(|bucket| bucket.cby).sum::<u64>(), 1_000_000_000);
    for bucket in &BUCKETS {
        assert_eq!(chain.balance(bucket_address(bucket.name)), bucket.cby * CBY, "{}", bucket.name);
        let vesting: cowboy_state::records::Vesting = chain.record(&cowboy_state::records::keys::vesting(bucket.name)).expect("a schedule");
        assert_eq!(vesting.linear_months.0, bucket.linear_months);
    }
    for number in (1..=0x13).chain([0x1D]) {
        let record: Option<cowboy_state::records::Actor> =
            chain.record(&cowboy_state::Key::of(cowboy_state::Kind::Actor, Address::system(number)));
        assert!(record.is_some(), "system actor {number:#x} is there (A-292)");
    }
}

/// Everything that a block of transfers needs is asked for at once.
#[test]
fn transfers_are_prefetched_in_one_round() {
    let mut chain = Chain::new();
    let before = chain.rounds;
    chain.block((1..=9).map(|from| transfer(from, 0, Address([from; 20]), 1)).collect());
    assert_eq!(chain.rounds - before, 1);
}

/// A transfer with metadata of this many bytes, which offers this tip for a unit.
fn noted(from: u8, nonce: u64, bytes: usize, tip: u64) -> SignedTransaction {
    let mut transaction = unsigned(from, nonce, Instruction::System(System::Transfer { to: address(7), amount: Amount(1) }));
    transaction.cycles_limit = Cycles(21_000);
    transaction.cells_limit = Cells(bytes as u64);
    transaction.max_priority_fee_per_cycle = Price(tip);
    transaction.max_priority_fee_per_cell = Price(tip);
    transaction.metadata = cowboy_types::Blob::new(vec![0xAB; bytes]).expect("it fits");
    sign(from, transaction)
}

/// Signed by account 1 and by these others too.
fn co_signed(mut transaction: Transaction, others: &[u8]) -> SignedTransaction {
    use cowboy_types::{List, transaction::CoSignature};
    let mut others: Vec<u8> = others.to_vec();
    others.sort_by_key(|number| address(*number));
    let empty = |number: &u8| CoSignature { address: address(*number), signature: Default::default() };
    transaction.additional_signers = List::new(others.iter().map(empty).collect()).expect("few signers fit");
    let digest = transaction.digest();
    let of = |number: &u8| CoSignature { address: address(*number), signature: cowboy_testkit::chain::key(*number).sign(&digest) };
    transaction.additional_signers = List::new(others.iter().map(of).collect()).expect("few signers fit");
    sign(1, transaction)
}

/// A-46, decision 171: metadata and additional signers are charged for; a plain transfer stays 21,000 cycles and no cells.
#[test]
fn metadata_and_signers_are_charged_for() {
    let mut chain = Chain::new();
    let plain = chain.one(transfer(1, 0, address(7), 1));
    assert_eq!((plain.cycles_used, plain.cells_used), (Cycles(21_000), Cells(0)));
    let with_note = chain.one(noted(1, 1, 130_000, 0));
    assert_eq!((with_note.cycles_used, with_note.cells_used), (Cycles(21_000), Cells(130_000)), "a cell for each byte of metadata");
    let mut short = noted(1, 2, 100, 0).transaction().clone();
    short.cells_limit = Cells(99);
    let outcome = chain.block(vec![sign(1, short)]);
    assert!(matches!(outcome.rejected[0].1, Invalid::LimitTooLow { meter: "cells", limit: 99, min: 100 }), "{:?}", outcome.rejected);
    let signed_by = |limits: (u64, u64)| {
        let mut transaction = unsigned(1, 2, Instruction::System(System::Transfer { to: address(7), amount: Amount(1) }));
        (transaction.cycles_limit, transaction.cells_limit) = (Cycles(limits.0), Cells(limits.1));
        co_signed(transaction, &[2, 3, 4])
    };
    let outcome = chain.block(vec![signed_by((21_000, 0))]);
    assert!(matches!(outcome.rejected[0].1, Invalid::LimitTooLow { meter: "cycles", min: 51_000, .. }), "{:?}", outcome.rejected);
    let receipt = chain.one(signed_by((51_000, 255)));
    assert_eq!((receipt.cycles_used, receipt.cells_used), (Cycles(51_000), Cells(255)), "10,000 cycles and 85 cells a signer");
}

/// Decision 171: large transactions take at most half of the body while smaller ones wait, however much they offer.
#[test]
fn large_transactions_do_not_crowd_out_small_ones() {
    let mut chain = Chain::new();
    let large: Vec<SignedTransaction> = (0..32).map(|nonce| noted(1 + (nonce % 4) as u8, nonce / 4, 130_930, 100)).collect();
    assert!(large.iter().all(|transaction| transaction.size() == 131_069), "{}", large[0].size());
    let small: Vec<SignedTransaction> = (0..100).map(|nonce| noted(5 + (nonce % 4) as u8, nonce / 4, 0, 1)).collect();
    let outcome = chain.block([large.clone(), small].concat());
    let is_large = |transaction: &&Transaction| transaction.metadata.len() > 4_096;
    let (included_large, included) = (outcome.included.iter().filter(is_large).count(), outcome.included.len());
    assert_eq!(included - included_large, 100, "every small one is in the next block");
    assert_eq!(included_large, 31, "what the small ones leave free is used");

    // 2 MiB of small ones leave the large ones their half and no more.
    let mut chain = Chain::new();
    let many: Vec<SignedTransaction> = (0..700).map(|nonce| noted(5 + (nonce % 4) as u8, nonce / 4, 3_900, 1)).collect();
    let outcome = chain.block([large, many].concat());
    let large_bytes: usize = outcome.included.iter().filter(is_large).map(commonware_codec::EncodeSize::encode_size).sum();
    assert_eq!(large_bytes, 16 * 131_069, "half of 4 MiB");
    assert!(outcome.included.len() > 500);
}
