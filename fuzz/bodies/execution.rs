//! Blocks of any instructions run to their end, twice the same, and a verifier makes of the body what the proposer made.

// The chain in a map of the examples that measure.
#[path = "../../core/chain/examples/timing/mod.rs"]
mod timing;

use arbitrary::{Arbitrary as _, Unstructured};
use cowboy_chain::{Outcome, SignedTransaction, engine::NoImages};
use cowboy_types::{Instruction, instruction::Actor};
use std::{collections::BTreeMap, sync::Arc};

/// Accounts that send.
const ACCOUNTS: u64 = 4;

/// The most transactions of a block, and the most blocks.
const MAX_TRANSACTIONS: usize = 4;
const MAX_BLOCKS: usize = 3;

const SOURCE: &str = include_str!("../../examples/counter/actor.py");

pub(crate) fn body(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let mut chain = timing::Chain::new(ACCOUNTS, 1_000, &[], Arc::new(NoImages));
    let mut nonces = BTreeMap::new();
    for _ in 0..MAX_BLOCKS {
        let count = input.int_in_range(1..=MAX_TRANSACTIONS).unwrap_or(1);
        let candidates: Vec<_> = (0..count).map_while(|_| candidate(&mut input, &mut nonces).ok()).collect();
        let proposed = chain.propose(candidates.clone());
        same(&proposed, &chain.propose(candidates.clone()));
        let included = proposed.included.iter().cloned().map(SignedTransaction::unchecked).collect();
        same(&proposed, &chain.verify(included));
        chain.block(candidates);
        if input.is_empty() {
            return;
        }
    }
}

/// A transaction of one of the accounts, with its next nonce.
fn candidate(input: &mut Unstructured<'_>, nonces: &mut BTreeMap<u64, u64>) -> arbitrary::Result<SignedTransaction> {
    let from = input.int_in_range(0..=ACCOUNTS - 1)?;
    let mut instruction = Instruction::arbitrary(input)?;
    // Random text is no program, so every other deployment is of one.
    if let Instruction::Actor(Actor::Deploy { code, .. }) = &mut instruction
        && input.arbitrary()?
    {
        *code = cowboy_types::Blob::new(SOURCE.as_bytes().to_vec()).expect("the example is short");
    }
    let nonce = nonces.entry(from).or_default();
    let transaction = timing::transaction(from, *nonce, instruction, input.int_in_range(50_000..=5_000_000)?, 100_000);
    *nonce += 1;
    Ok(transaction)
}

fn same(one: &Outcome, other: &Outcome) {
    assert_eq!(one.writes, other.writes);
    assert_eq!(one.included, other.included);
    assert_eq!(one.receipts, other.receipts);
    assert_eq!((one.tx_root, one.receipt_root), (other.tx_root, other.receipt_root));
}
