//! What became of commands (004 §8.4, decision 106): derived from the chain by any gateway, and from the own pool where it is not there yet.

use crate::{
    budgets::Agreed,
    pooled::{Pooled, dispatched_by_sender},
    query::Runner,
    refusal::Refusal,
    state::BlockState,
};
use bytes::Bytes;
use cowboy_ingress::Answer;
use cowboy_node::{FinalizedBlock, NodeHandle};
use cowboy_serve::{Client, Permit};
use cowboy_state::Key;
use cowboy_system::gateways::state as records;
use cowboy_types::{Abort, Address, Cells, Cycles, Hash, Transaction, cbor, error};
use hyper::StatusCode;
use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};
use tokio::sync::broadcast::error::RecvError;

/// Failed commands that are remembered.
const FAILURES: usize = 10_000;

/// Blocks after which a command that nobody included is given up.
const PATIENCE: u64 = 300;

/// What the SDK leaves where a result was: one byte (decision 106).
const TOMBSTONE: &[u8] = &[0];

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It ran, and this is its answer.
    Done(Answer),
    /// It waits, or its answer does.
    Pending,
    /// It ran, and its answer was cleaned up.
    Expired,
    /// Its handler failed.
    Failed(Abort),
    /// Nobody knows it.
    Unknown,
}

/// A command that was sent and is not final.
pub(crate) struct Sent {
    /// The id of its request. Two equal requests that come at once are two commands.
    pub(crate) id: String,
    pub(crate) target: Address,
    /// The newest block when it was sent.
    pub(crate) at: u64,
    /// What its limits count as.
    pub(crate) agreed: Agreed,
    /// Its place among the commands under way.
    pub(crate) _place: Permit,
}

/// Commands under way, and those that failed lately.
pub(crate) struct Requests {
    genesis: Hash,
    /// By their transactions.
    sent: Mutex<HashMap<Hash, Sent>>,
    failed: Mutex<(HashMap<String, (Address, Abort)>, VecDeque<String>)>,
    pooled: Arc<Pooled>,
}

impl Requests {
    /// None of the chain with this genesis hash are under way.
    pub(crate) fn new(genesis: Hash) -> Self {
        Self { genesis, sent: Mutex::default(), failed: Mutex::default(), pooled: Arc::new(Pooled::new(genesis)) }
    }

    /// Whether a command of this id is under way.
    pub(crate) fn is_under_way(&self, id: &str) -> bool {
        self.sent.lock().expect("nothing panics while it holds the lock").values().any(|sent| sent.id == id)
    }

    /// The transaction of a request to this actor that is under way.
    fn under_way_as(&self, id: &str, target: Address) -> Option<Hash> {
        let sent = self.sent.lock().expect("nothing panics while it holds the lock");
        sent.iter().find(|(_, sent)| sent.id == id && sent.target == target).map(|(hash, _)| *hash)
    }

    pub(crate) fn add(&self, hash: Hash, sent: Sent) {
        self.sent.lock().expect("nothing panics while it holds the lock").insert(hash, sent);
    }

    /// Takes commands whose nonces were used, though no pool said that it took them. What those that are final did not use comes back. The others never become
    /// final: whoever sends one of them again is not told that it is under way.
    pub(crate) fn look_up(&self, node: &NodeHandle, commands: Vec<(Transaction, Sent)>) -> Result<(), Refusal> {
        if commands.is_empty() {
            return Ok(());
        }
        let hashes: Vec<Hash> = commands.iter().map(|(transaction, _)| transaction.digest()).collect();
        commands.into_iter().for_each(|(transaction, sent)| self.add(transaction.digest(), sent));
        let caught_up = self.catch_up(node);
        self.give_up(&hashes);
        caught_up
    }

    /// Forgets commands that never become final.
    fn give_up(&self, hashes: &[Hash]) {
        let mut sent = self.sent.lock().expect("nothing panics while it holds the lock");
        hashes.iter().for_each(|hash| drop(sent.remove(hash)));
    }

    /// Looks at final blocks for as long as the node lives.
    pub(crate) async fn watch(&self, node: &NodeHandle) {
        let mut blocks = node.subscribe();
        loop {
            match blocks.recv().await {
                Ok(block) => self.look(&block),
                Err(RecvError::Lagged(blocks)) => {
                    if let Err(refusal) = self.catch_up(node) {
                        tracing::warn!(blocks, why = refusal.what, "what became of commands in blocks that were missed is not known");
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn look(&self, block: &FinalizedBlock) {
        let number = block.block.header().number.0;
        for (transaction, receipt) in block.block.block().transactions.iter().zip(block.receipts.iter()) {
            let Some((id, target)) = dispatched_by_sender(self.genesis, transaction) else { continue };
            self.settle_final(&transaction.digest(), (&id, target), (receipt.cycles_used, receipt.cells_used));
            if let Some(abort) = &receipt.abort {
                self.remember_failure(id, target, abort);
            }
        }
        self.sent.lock().expect("nothing panics while it holds the lock").retain(|_, sent| sent.at + PATIENCE > number);
    }

    /// Looks for what became final in blocks that the watcher was not told of.
    fn catch_up(&self, node: &NodeHandle) -> Result<(), Refusal> {
        let hashes: Vec<Hash> = self.sent.lock().expect("nothing panics while it holds the lock").keys().copied().collect();
        let view = node.view().map_err(Refusal::unavailable)?;
        for hash in hashes {
            let Some(place) = view.place_of(&hash).map_err(Refusal::unavailable)? else { continue };
            let Some(receipt) = view.receipt(place).map_err(Refusal::unavailable)? else { continue };
            let settled = self.settle(&hash, (receipt.cycles_used, receipt.cells_used));
            if let (Some((id, target)), Some(abort)) = (settled, &receipt.abort) {
                self.remember_failure(id, target, abort);
            }
        }
        Ok(())
    }

    /// Settles the command of a final transaction, also where a pool took it with other prices before: a request is signed for one nonce (decision 625).
    fn settle_final(&self, hash: &Hash, (id, target): (&str, Address), used: (Cycles, Cells)) {
        if self.settle(hash, used).is_none()
            && let Some(other) = self.under_way_as(id, target)
        {
            self.settle(&other, used);
        }
    }

    /// Gives back what a final command did not use, and forgets it. Answers the id and the target of its request.
    fn settle(&self, hash: &Hash, used: (Cycles, Cells)) -> Option<(String, Address)> {
        let Sent { id, target, agreed, .. } = self.sent.lock().expect("nothing panics while it holds the lock").remove(hash)?;
        agreed.settle(used);
        Some((id, target))
    }

    fn remember_failure(&self, id: String, target: Address, abort: &Abort) {
        let mut failed = self.failed.lock().expect("nothing panics while it holds the lock");
        if failed.0.insert(id.clone(), (target, abort.clone())).is_some() {
            return;
        }
        failed.1.push_back(id);
        if failed.1.len() > FAILURES
            && let Some(oldest) = failed.1.pop_front()
        {
            failed.0.remove(&oldest);
        }
    }

    /// What became of a request to this actor, for a client who may be answered with `most` bytes.
    pub(crate) async fn fate(
        &self,
        node: &NodeHandle,
        (runner, client): (&Runner, Client),
        state: &BlockState,
        target: Address,
        id: &str,
        most: u64,
    ) -> Result<Fate, Refusal> {
        let key = Key::storage(target, format!("_http/results/{id}").into_bytes());
        let (stored, record) = state
            .ask(|world| {
                world.require([&key, &records::request_key(id)])?;
                Ok((world.get(&key)?.cloned(), records::request(world, id)?))
            })
            .await?;
        if let Some(stored) = stored {
            return stored_fate(&stored, most);
        }
        if let Some(record) = record.filter(|record| record.target == target) {
            return returned_fate(node, &record.delivery, most);
        }
        if let Some(hash) = self.under_way_as(id, target) {
            return Ok(self.of_receipt(node, &hash)?.unwrap_or(Fate::Pending));
        }
        let failed = self.failed.lock().expect("nothing panics while it holds the lock").0.get(id).cloned();
        if let Some((_, abort)) = failed.filter(|(sent_to, _)| *sent_to == target) {
            return Ok(Fate::Failed(abort));
        }
        let Ok(chain) = node.chain() else { return Ok(Fate::Unknown) };
        let (pooled, id) = (self.pooled.clone(), id.to_owned());
        // A full pool has thousands of transactions.
        let is_pooled = runner.run(client, move |_| Ok(pooled.contains(&chain.mempool.all(), &id, target))).await?;
        Ok(if is_pooled { Fate::Pending } else { Fate::Unknown })
    }

    /// Where the command is final already, and the watcher was not told yet.
    fn of_receipt(&self, node: &NodeHandle, hash: &Hash) -> Result<Option<Fate>, Refusal> {
        let view = node.view().map_err(Refusal::unavailable)?;
        let Some(place) = view.place_of(hash).map_err(Refusal::unavailable)? else { return Ok(None) };
        let receipt = view.receipt(place).map_err(Refusal::unavailable)?;
        Ok(receipt.and_then(|receipt| receipt.abort).map(Fate::Failed))
    }
}

fn stored_fate(stored: &Bytes, most: u64) -> Result<Fate, Refusal> {
    if &stored[..] == TOMBSTONE {
        return Ok(Fate::Expired);
    }
    // The SDK stores CBOR; a text that an actor stored with `storage.set` is JSON inside CBOR (decision 105).
    let text = cbor::decode(stored).ok().and_then(|value| value.as_text().map(|text| text.as_bytes().to_vec()));
    Ok(Answer::read(text.as_deref().unwrap_or(stored), most).map(Fate::Done)?)
}

/// The answer that a handler returned and did not store: 202 means that it follows.
fn returned_fate(node: &NodeHandle, delivery: &Hash, most: u64) -> Result<Fate, Refusal> {
    let view = node.view().map_err(Refusal::unavailable)?;
    let place = view.place_of(delivery).map_err(Refusal::unavailable)?;
    let receipt = place.map(|place| view.receipt(place)).transpose().map_err(Refusal::unavailable)?.flatten();
    let Some(receipt) = receipt else { return Ok(Fate::Pending) };
    if receipt.return_data.is_empty() {
        // It stored its answer, which is gone with its mark.
        return Ok(Fate::Expired);
    }
    let answer = Answer::read(&receipt.return_data, most)?;
    Ok(if answer.status == StatusCode::ACCEPTED { Fate::Pending } else { Fate::Done(answer) })
}

impl Fate {
    /// The fate as a status of 004 §8.4. A handler that failed is a failure like that of a query.
    pub(crate) fn into_answer(self) -> Result<Answer, Refusal> {
        match self {
            Self::Done(answer) => Ok(answer),
            Self::Pending => Ok(Answer { status: StatusCode::ACCEPTED, headers: Default::default(), body: Bytes::new() }),
            Self::Expired => Err(Refusal::new(
                StatusCode::GONE,
                "RESULT_EXPIRED",
                "The request was done, and its result is gone.",
                "Ask sooner next time.",
            )),
            Self::Unknown => {
                Err(Refusal::new(StatusCode::NOT_FOUND, "UNKNOWN_REQUEST", "Nobody knows this request.", "Check its id, or send it again."))
            }
            Self::Failed(abort) => {
                let row = error::row(abort.code);
                Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "HANDLER_PANIC", format!("{} {}", row.what, row.why), row.fix))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{GENESIS, agree, limits, place};

    /// Decision 590: commands are counted by their transactions, and each gives back what it did not use.
    #[test]
    fn equal_requests_are_settled_each() {
        let (limits, requests, target) = (limits(2), Requests::new(GENESIS), Address([1; 20]));
        let agree = || agree(&limits);
        for number in [1, 2] {
            let mut agreed = agree().expect("two commands are its budget");
            agreed.keep();
            requests.add(Hash([number; 32]), Sent { id: "one".into(), target, at: 1, agreed, _place: place() });
        }
        assert!(agree().is_none() && requests.sent.lock().expect("no panic").len() == 2);
        for number in [1, 2] {
            assert!(requests.is_under_way("one") && requests.under_way_as("one", target).is_some());
            let settled = requests.settle(&Hash([number; 32]), (Cycles(0), Cells(0)));
            assert_eq!(settled, Some(("one".into(), target)));
        }
        assert!(!requests.is_under_way("one") && requests.settle(&Hash([1; 32]), (Cycles(0), Cells(0))).is_none());
        let whole = [agree(), agree()];
        assert!(whole.iter().all(Option::is_some));
    }

    /// Decision 625: a command whose prices were raised is settled by the transaction that became final.
    #[test]
    fn other_prices_are_the_same_command() {
        let (limits, requests, target) = (limits(1), Requests::new(GENESIS), Address([1; 20]));
        let mut agreed = agree(&limits).expect("one command is its budget");
        agreed.keep();
        requests.add(Hash([1; 32]), Sent { id: "one".into(), target, at: 1, agreed, _place: place() });
        requests.settle_final(&Hash([2; 32]), ("two", target), (Cycles(0), Cells(0)));
        assert!(requests.is_under_way("one") && agree(&limits).is_none(), "another command");
        requests.settle_final(&Hash([2; 32]), ("one", target), (Cycles(0), Cells(0)));
        assert!(!requests.is_under_way("one") && agree(&limits).is_some());
    }

    /// Decision 625: a command whose nonce something else has used is not under way, so it is signed again when it comes again. What it counted as stays
    /// counted: its client had the gateway sign it.
    #[test]
    fn what_never_becomes_final_is_not_under_way() {
        let (limits, requests, target) = (limits(2), Requests::new(GENESIS), Address([1; 20]));
        for (number, id) in [(1, "one"), (2, "two")] {
            let mut agreed = agree(&limits).expect("two commands are its budget");
            agreed.keep();
            requests.add(Hash([number; 32]), Sent { id: id.into(), target, at: 1, agreed, _place: place() });
        }
        requests.give_up(&[Hash([1; 32]), Hash([3; 32])]);
        assert!(!requests.is_under_way("one") && requests.is_under_way("two") && agree(&limits).is_none());
    }
}
