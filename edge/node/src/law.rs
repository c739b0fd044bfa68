//! Temporary stand-in with the shape of `cowboy-chain`.
use cowboy_types::{units::*, block::*, *};
use std::collections::BTreeMap;
pub type StateKey = cowboy_state::StateKey;
pub struct BlockInput { pub parent: Header, pub height: Height, pub timestamp_ms: TimestampMs, pub seeds: Vec<Seed>, pub transactions: Vec<(Transaction, Address)> }
pub struct Execution { input: BlockInput, asked: bool }
pub enum Need { Keys(Vec<StateKey>), Done(Outcome) }
pub struct Outcome { pub writes: BTreeMap<StateKey, Option<Vec<u8>>>, pub receipts: Vec<Receipt>, pub included: Vec<Transaction>, pub work_next: bool }
impl Execution {
    pub fn new(input: BlockInput) -> Self { Self { input, asked: false } }
    pub fn advance(&mut self, answers: Vec<(StateKey, Option<Vec<u8>>)>) -> Need {
        let key = cowboy_state::StateKey(blake3(&[b"counter"]).0);
        if !self.asked { self.asked = true; return Need::Keys(vec![key]); }
        let old = answers[0].1.clone().map_or(0, |v| u64::from_be_bytes(v.try_into().unwrap()));
        Need::Done(Outcome { writes: BTreeMap::from([(key, Some((old + 1).to_be_bytes().to_vec()))]), receipts: vec![], included: self.input.transactions.drain(..).map(|t| t.0).collect(), work_next: false })
    }
}
