//! Who gets in and who goes first (003 §6.4, §6.5; decision 34).

use crate::admit::SignedTransaction;
use crate::fees::Offers;
use crate::lanes::Lane;
use cowboy_params::Params;
use cowboy_types::instruction::{Actor, Instruction};
use cowboy_types::units::Price;
use cowboy_types::{Address, Hash, keccak256};
use std::collections::{BTreeMap, BTreeSet};

/// What a transaction offers for its intrinsic costs: by this the proposer selects (003 §6.4).
pub fn effective_fee(params: &Params, transaction: &SignedTransaction, base_fee_cycle: Price, base_fee_cell: Price) -> u128 {
    let intrinsic = crate::admit::intrinsic(params, &transaction.transaction().instruction);
    let prices = Offers::from(transaction.transaction()).at(base_fee_cycle, base_fee_cell);
    let part = |units: u64, price: Price| u128::from(units).saturating_mul(u128::from(price.0));
    part(intrinsic.cycles.0, prices.cycle.total()).saturating_add(part(intrinsic.cells.0, prices.cell.total()))
}

/// The key that places a transaction within its lane.
pub fn order_key(vrf_output: &Hash, digest: &Hash) -> Hash {
    keccak256(&[&vrf_output.0, &digest.0])
}

/// Puts transactions in the order of the body: by lane, within it by key, and where one sender has
/// several in a lane, its places are filled by nonce.
pub fn sort(transactions: &mut Vec<SignedTransaction>, vrf_output: &Hash) {
    let keyed =
        |transaction: &SignedTransaction| (Lane::of(&transaction.transaction().instruction), order_key(vrf_output, transaction.digest()));
    transactions.sort_by_cached_key(keyed);
    let mut places: BTreeMap<(Lane, Address), Vec<usize>> = BTreeMap::new();
    for (place, transaction) in transactions.iter().enumerate() {
        places.entry((Lane::of(&transaction.transaction().instruction), transaction.transaction().from)).or_default().push(place);
    }
    let mut slots: Vec<Option<SignedTransaction>> = std::mem::take(transactions).into_iter().map(Some).collect();
    let mut sorted: Vec<(usize, SignedTransaction)> = Vec::with_capacity(slots.len());
    for of_sender in places.into_values() {
        let mut runs: Vec<SignedTransaction> = of_sender.iter().filter_map(|place| slots[*place].take()).collect();
        runs.sort_by_key(|transaction| (transaction.transaction().nonce, *transaction.digest()));
        sorted.extend(of_sender.into_iter().zip(runs));
    }
    sorted.sort_by_key(|(place, _)| *place);
    transactions.extend(sorted.into_iter().map(|(_, transaction)| transaction));
}

/// Whether transactions stand in the order of the body.
pub fn is_sorted(transactions: &[SignedTransaction], vrf_output: &Hash) -> bool {
    let mut sorted = transactions.to_vec();
    sort(&mut sorted, vrf_output);
    sorted.iter().zip(transactions).all(|(one, other)| one.digest() == other.digest())
}

/// Candidates of each lane by effective fee, the best first, ties by digest. One sender's follow each
/// other by nonce: a later one is taken only where all before it were, so it ranks no better than they do.
/// What asks for more cycles of one actor than `execution.actor_block_cycles` comes after everything else
/// in its lane: it is taken where there is spare room.
pub fn rank(params: &Params, candidates: Vec<SignedTransaction>, base_fee_cycle: Price, base_fee_cell: Price) -> Vec<SignedTransaction> {
    let mut of_sender: BTreeMap<Address, Vec<SignedTransaction>> = BTreeMap::new();
    for candidate in candidates {
        of_sender.entry(candidate.transaction().from).or_default().push(candidate);
    }
    let mut ranked = Vec::new();
    for mut run in of_sender.into_values() {
        run.sort_by_key(|transaction| (transaction.transaction().nonce, *transaction.digest()));
        run.dedup_by_key(|transaction| transaction.transaction().nonce);
        let mut least = u128::MAX;
        for transaction in run {
            least = least.min(effective_fee(params, &transaction, base_fee_cycle, base_fee_cell));
            let lane = Lane::of(&transaction.transaction().instruction);
            ranked.push(((lane, std::cmp::Reverse(least), transaction.transaction().nonce, *transaction.digest()), transaction));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    bursts_last(params, ranked.into_iter().map(|(_, transaction)| transaction).collect())
}

/// Moves what exceeds one actor's share of the block behind the rest of its lane, and with it what its sender sends later.
fn bursts_last(params: &Params, ranked: Vec<SignedTransaction>) -> Vec<SignedTransaction> {
    let mut asked: BTreeMap<Address, u64> = BTreeMap::new();
    let mut bursting: BTreeSet<Address> = BTreeSet::new();
    let mut tiered: Vec<(Lane, bool, SignedTransaction)> = Vec::with_capacity(ranked.len());
    for transaction in ranked {
        let inner = transaction.transaction();
        let mut is_burst = bursting.contains(&inner.from);
        if let Instruction::Actor(Actor::Execute { target, .. }) = &inner.instruction {
            let asked = asked.entry(*target).or_default();
            *asked = asked.saturating_add(inner.cycles_limit.0);
            // One transaction alone is never a burst: it could not be made smaller by waiting.
            is_burst |= *asked > params.execution.actor_block_cycles && *asked > inner.cycles_limit.0;
        }
        if is_burst {
            bursting.insert(inner.from);
        }
        tiered.push((Lane::of(&inner.instruction), is_burst, transaction));
    }
    tiered.sort_by_key(|(lane, is_burst, _)| (*lane, *is_burst));
    tiered.into_iter().map(|(_, _, transaction)| transaction).collect()
}
