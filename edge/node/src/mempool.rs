//! Transactions that wait for a block.

use cowboy_types::{Address, Hash, Transaction};
use std::sync::Mutex;

/// Transactions that wait for a block.
#[derive(Debug, Default)]
pub struct Mempool {
    waiting: Mutex<Vec<(Transaction, Address)>>,
}

impl Mempool {
    /// Adds.
    pub fn add(&self, tx: Transaction) -> Hash { let h = tx.digest(); let from = tx.from; self.waiting.lock().unwrap().push((tx, from)); h }
    /// Whether any.
    pub fn has_work(&self) -> bool { !self.waiting.lock().unwrap().is_empty() }
    /// Candidates.
    pub fn candidates(&self) -> Vec<(Transaction, Address)> { self.waiting.lock().unwrap().clone() }
    /// Remove.
    pub fn remove(&self, txs: &[Transaction]) { self.waiting.lock().unwrap().retain(|w| !txs.iter().any(|t| *t == w.0)); }
}
