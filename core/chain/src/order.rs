//! Who gets in and who goes first (003 §6.4, §6.5; decision 34).

use crate::admit::SignedTransaction;
use crate::fees::{BaseFees, Offers};
use crate::lanes::Lane;
use cowboy_params::Params;
use cowboy_types::instruction::{Actor, Instruction};
use cowboy_types::units::{Nonce, Price};
use cowboy_types::{Address, Hash, keccak256};
use std::collections::{BTreeMap, BTreeSet};

/// Encoded size above which a transaction counts as large, in bytes: while smaller ones wait, a proposer fills at most
/// half of the body with large ones (decision 171). No rule for verifiers: a body that exceeds it is valid.
pub const LARGE_TRANSACTION_BYTES: usize = 4_096;

/// What a transaction offers in its lane for its intrinsic costs: by this the proposer selects (003 §6.4).
pub fn effective_fee(params: &Params, lane: Lane, transaction: &SignedTransaction, base_fees: BaseFees) -> u128 {
    let intrinsic = crate::admit::intrinsic(params, transaction.transaction());
    let burned = lane.base_fees(params, base_fees);
    let prices = Offers::from(transaction.transaction()).at(burned.cycle, burned.cell);
    let part = |units: u64, price: Price| u128::from(units).saturating_mul(u128::from(price.0));
    part(intrinsic.cycles.0, prices.cycle.total()).saturating_add(part(intrinsic.cells.0, prices.cell.total()))
}

/// The key that places a transaction within its lane.
pub fn order_key(vrf_output: &Hash, digest: &Hash) -> Hash {
    keccak256(&[&vrf_output.0, &digest.0])
}

/// A transaction with the lane that it runs in.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The transaction.
    pub signed: SignedTransaction,
    /// Its lane, from the state at the block's start.
    pub lane: Lane,
}

impl Placed {
    fn sender(&self) -> Address {
        self.signed.transaction().from
    }

    fn nonce(&self) -> Nonce {
        self.signed.transaction().nonce
    }
}

/// Puts transactions in the order of the body: by lane, within it by key, and where one sender has
/// several in a lane, its places are filled by nonce.
pub fn sort(transactions: &mut Vec<Placed>, vrf_output: &Hash) {
    transactions.sort_by_cached_key(|placed| (placed.lane, order_key(vrf_output, placed.signed.digest())));
    let mut places: BTreeMap<(Lane, Address), Vec<usize>> = BTreeMap::new();
    for (place, placed) in transactions.iter().enumerate() {
        places.entry((placed.lane, placed.sender())).or_default().push(place);
    }
    let mut slots: Vec<Option<Placed>> = std::mem::take(transactions).into_iter().map(Some).collect();
    let mut sorted: Vec<(usize, Placed)> = Vec::with_capacity(slots.len());
    for of_sender in places.into_values() {
        let mut runs: Vec<Placed> = of_sender.iter().filter_map(|place| slots[*place].take()).collect();
        runs.sort_by_key(|placed| (placed.nonce(), *placed.signed.digest()));
        sorted.extend(of_sender.into_iter().zip(runs));
    }
    sorted.sort_by_key(|(place, _)| *place);
    transactions.extend(sorted.into_iter().map(|(_, placed)| placed));
}

/// Whether transactions stand in the order of the body.
pub fn is_sorted(transactions: &[Placed], vrf_output: &Hash) -> bool {
    let mut sorted = transactions.to_vec();
    sort(&mut sorted, vrf_output);
    sorted.iter().zip(transactions).all(|(one, other)| one.signed.digest() == other.signed.digest())
}

/// Candidates of each lane by effective fee, the best first, ties by digest. One sender's follow each
/// other by nonce: a later one is taken only where all before it were, so it ranks no better than they do.
/// What asks for more cycles of one actor than `execution.actor_block_cycles` comes after everything else
/// in its lane: it is taken where there is spare room. What follows, by nonce, a transaction of a later lane is not among them: the
/// body has it before that one, so no block can have both.
pub fn rank(params: &Params, candidates: Vec<Placed>, base_fees: BaseFees) -> Vec<Placed> {
    let mut of_sender: BTreeMap<Address, Vec<Placed>> = BTreeMap::new();
    for candidate in candidates {
        of_sender.entry(candidate.sender()).or_default().push(candidate);
    }
    let mut ranked = Vec::new();
    for mut run in of_sender.into_values() {
        run.sort_by_key(|placed| (placed.nonce(), *placed.signed.digest()));
        run.dedup_by_key(|placed| placed.nonce());
        // The body is in the order of lanes: what would stand before an earlier one of its sender waits for the next block.
        let mut last = None;
        let in_order = run.iter().take_while(|placed| last.replace(placed.lane).is_none_or(|last| last <= placed.lane)).count();
        run.truncate(in_order);
        let mut least = u128::MAX;
        for placed in run {
            least = least.min(effective_fee(params, placed.lane, &placed.signed, base_fees));
            ranked.push(((placed.lane, std::cmp::Reverse(least), placed.nonce(), *placed.signed.digest()), placed));
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    bursts_last(params, ranked.into_iter().map(|(_, placed)| placed).collect())
}

/// Moves what exceeds one actor's share of the block behind the rest of its lane, and with it what its sender sends later.
fn bursts_last(params: &Params, ranked: Vec<Placed>) -> Vec<Placed> {
    let mut asked: BTreeMap<Address, u64> = BTreeMap::new();
    let mut bursting: BTreeSet<Address> = BTreeSet::new();
    let mut tiered: Vec<(bool, Placed)> = Vec::with_capacity(ranked.len());
    for placed in ranked {
        let inner = placed.signed.transaction();
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
        tiered.push((is_burst, placed));
    }
    tiered.sort_by_key(|(is_burst, placed)| (placed.lane, *is_burst));
    tiered.into_iter().map(|(_, placed)| placed).collect()
}
