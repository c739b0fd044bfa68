//! What a service sends to the chain: one account, one nonce after the other, many transactions together.
//!
//! Nothing here waits for receipts. Whether something arrived is seen on the chain, and what did not is posted again: the caller says
//! so with [`Call::tries`], and then the call is tried out first.

use crate::{
    ApiError, Client, Hex,
    error::{TIMEOUT, UNREACHABLE},
    model::{Submission, Submitted},
};
pub use cowboy_system::requests::Request;
use cowboy_types::{
    Address, Amount, Blob, Cells, ChainId, Cycles, Instruction, Nonce, Text, Transaction,
    cbor::Value,
    error::{NONCE_GAP, POOL_FULL, REPLACEMENT_UNDERPRICED, WRONG_NONCE},
    instruction::Actor,
    signing::PrivateKey,
    units::Price,
};
use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};
use tokio::{sync::mpsc, task::JoinHandle};

/// Transactions of one submission.
const MAX_TOGETHER: usize = 100;

/// Bytes of one submission, well below what the node takes.
const MAX_BYTES: usize = 150_000;

/// How many times the tried limits a call may use: the state is another when it arrives. What is not used comes back.
const LIMIT_MARGIN: u64 = 2;

/// Cells that a byte of a longer payload may cost beyond those of the tried one.
const CELLS_PER_BYTE: u64 = 8;

/// Cycles that a byte of a longer payload may cost beyond those of the tried one.
const CYCLES_PER_BYTE: u64 = 30;

/// The maximum price of a transaction, as a multiple of the current price.
const PRICE_MARGIN: u64 = 4;

/// How long the required resources of a method are cached.
const BELIEVED_FOR: Duration = Duration::from_secs(60);

/// How long posted transactions may stay unincluded before the nonce is read again from the chain.
const STALLED_AFTER: Duration = Duration::from_secs(30);

/// How often the account's nonce is compared with the chain's while calls go out.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// How often a full or silent node is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// After this many tries, what the chain would refuse is not a matter of time any more, and the operator should know.
const STUCK_FROM: u32 = 4;

/// Whether a refusal after this many tries is logged as a warning: ever more rarely, so that the log stays readable.
const fn is_stuck(tries: u32) -> bool {
    tries >= STUCK_FROM && tries.is_power_of_two()
}

/// A call of a system actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The system actor to call.
    pub target: Address,
    /// The method's name.
    pub method: &'static str,
    /// Its argument.
    pub argument: Value,
    /// CBY that go with it.
    pub value: Amount,
    /// How often it was posted before.
    pub tries: u32,
}

impl From<Request> for Call {
    /// Without CBY, and not posted before.
    fn from(request: Request) -> Self {
        let Request { actor, method, argument } = request;
        Self { target: Address::system(actor), method, argument, value: Amount::ZERO, tries: 0 }
    }
}

impl Call {
    fn instruction(&self) -> Option<Instruction> {
        let handler = Text::new(self.method).expect("names of methods are short");
        let payload = Blob::new(self.argument.encode())?;
        Some(Instruction::Actor(Actor::Execute { target: self.target, handler, payload, value: self.value }))
    }
}

/// Where calls are posted. Dropping it ends the posting.
pub struct Sender {
    calls: mpsc::UnboundedSender<Call>,
    task: JoinHandle<()>,
}

impl Sender {
    /// Begins to post for this key.
    pub fn start(client: Client, key: PrivateKey, chain_id: ChainId) -> Self {
        let (calls, received) = mpsc::unbounded_channel();
        let poster = Poster {
            client,
            key,
            chain_id,
            next: None,
            waiting: VecDeque::new(),
            terms: BTreeMap::new(),
            asked_at: Instant::now(),
            arrived: 0,
            moved_at: Instant::now(),
        };
        Self { calls, task: tokio::spawn(poster.run(received)) }
    }

    /// Posts calls later, from wherever it is taken to.
    pub fn poster(&self) -> impl Fn(Call) + Send + use<> {
        let calls = self.calls.clone();
        move |call| drop(calls.send(call))
    }

    /// Posts a call, behind those that wait.
    pub fn post(&self, call: Call) {
        // The task ends only with this value.
        let _ = self.calls.send(call);
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a method needs, found by trying.
#[derive(Clone, Copy, Debug)]
struct Terms {
    cycles: u64,
    cells: u64,
    payload: usize,
    price_of_cycle: u64,
    price_of_cell: u64,
    found: Instant,
}

struct Poster {
    client: Client,
    key: PrivateKey,
    chain_id: ChainId,
    /// The next nonce; nothing where the chain has to be asked.
    next: Option<u64>,
    waiting: VecDeque<Call>,
    terms: BTreeMap<&'static str, Terms>,
    /// When the chain was asked.
    asked_at: Instant,
    /// The account's nonce then.
    arrived: u64,
    /// When that last moved, or had nothing to wait for.
    moved_at: Instant,
}

impl Poster {
    async fn run(mut self, mut calls: mpsc::UnboundedReceiver<Call>) {
        while let Some(first) = calls.recv().await {
            self.waiting.push_back(first);
            while !self.waiting.is_empty() {
                while let Ok(more) = calls.try_recv() {
                    self.waiting.push_back(more);
                }
                if let Err(error) = self.post().await {
                    tracing::warn!(%error, "calls cannot be posted");
                    self.next = None;
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// Posts as many as go together.
    async fn post(&mut self) -> Result<(), ApiError> {
        let mut nonce = self.next_nonce().await?;
        let (mut signed, mut posted, mut bytes) = (Vec::new(), Vec::new(), 0);
        while let Some(call) = self.waiting.pop_front() {
            let Some(instruction) = call.instruction() else {
                tracing::error!(method = call.method, "the call is too long for a transaction");
                continue;
            };
            let terms = match self.terms_of(&call, &instruction).await {
                Ok(Some(terms)) => terms,
                Ok(None) => continue,
                // The node cannot be asked: everything waits.
                Err(error) if error.code == UNREACHABLE.code || error.code == TIMEOUT.code => {
                    self.waiting.push_front(call);
                    posted.into_iter().rev().for_each(|call| self.waiting.push_front(call));
                    return Err(error);
                }
                // It fails at this call alone: the others do not wait for it.
                Err(error) => {
                    tracing::warn!(method = call.method, %error, "a call cannot be tried out");
                    continue;
                }
            };
            let transaction = self.sign(instruction, terms, nonce);
            let encoded = transaction.to_bytes().to_vec();
            if !signed.is_empty() && bytes + encoded.len() > MAX_BYTES {
                self.waiting.push_front(call);
                break;
            }
            bytes += encoded.len();
            signed.push(Hex(encoded));
            posted.push(call);
            nonce += 1;
            if signed.len() == MAX_TOGETHER {
                break;
            }
        }
        if signed.is_empty() {
            return Ok(());
        }
        let count = signed.len();
        let answer: Result<Submitted, ApiError> = self.client.post("/submit", &Submission { transactions: signed }).await;
        let results = match answer {
            Ok(submitted) => submitted.results,
            // All of them failed, for the reason of the first.
            Err(error) => vec![crate::model::SubmitResult { error: Some(error), ..Default::default() }; count],
        };
        self.next = Some(nonce);
        for (result, call) in results.iter().zip(&posted) {
            tracing::debug!(method = call.method, transaction = ?result.tx_hash, error = ?result.error, "submitted");
        }
        self.take_back(results.into_iter().map(|result| result.error).zip(posted))
    }

    /// Looks at what was refused: what the chain would never take is given up, everything else goes again.
    fn take_back(&mut self, results: impl Iterator<Item = (Option<ApiError>, Call)>) -> Result<(), ApiError> {
        let mut again = Vec::new();
        let mut reason = None;
        for (error, call) in results {
            let Some(error) = error else { continue };
            // Something of an earlier run waits at that nonce: the call takes the next one.
            let is_taken = error.code == REPLACEMENT_UNDERPRICED.code;
            let is_given_up = !is_taken && error.code < 2_000 && ![WRONG_NONCE.code, NONCE_GAP.code, POOL_FULL.code].contains(&error.code);
            if is_given_up {
                tracing::warn!(method = call.method, %error, "the node refuses a call");
                // Its nonce is free again, and those behind it wait for it.
                self.next = None;
            } else {
                again.push(call);
                if !is_taken {
                    reason = Some(error);
                }
            }
        }
        for call in again.into_iter().rev() {
            self.waiting.push_front(call);
        }
        reason.map_or(Ok(()), Err)
    }

    /// The next nonce. Read again from the chain if posted transactions do not arrive for long.
    async fn next_nonce(&mut self) -> Result<u64, ApiError> {
        if let Some(next) = self.next
            && self.asked_at.elapsed() < ASK_EVERY
        {
            return Ok(next);
        }
        let account = self.client.account_or_empty(&self.key.address()).await?;
        self.asked_at = Instant::now();
        let next = self.next.unwrap_or(account.nonce).max(account.nonce);
        let has_moved = account.nonce != self.arrived || next == account.nonce;
        if has_moved {
            self.arrived = account.nonce;
            self.moved_at = Instant::now();
        }
        let next = if self.moved_at.elapsed() > STALLED_AFTER { account.nonce } else { next };
        self.next = Some(next);
        Ok(next)
    }

    /// What a call needs: what its method needed last time, or found by trying. Nothing where trying it fails.
    async fn terms_of(&mut self, call: &Call, instruction: &Instruction) -> Result<Option<Terms>, ApiError> {
        let payload = call.argument.encode().len();
        let known = self.terms.get(call.method).filter(|terms| call.tries == 0 && terms.found.elapsed() < BELIEVED_FOR);
        if let Some(known) = known {
            let more = u64::try_from(payload.saturating_sub(known.payload)).unwrap_or(u64::MAX);
            return Ok(Some(Terms { cycles: known.cycles + CYCLES_PER_BYTE * more, cells: known.cells + CELLS_PER_BYTE * more, ..*known }));
        }
        let tried = self.client.simulate(&self.unsigned(instruction.clone(), Nonce::ZERO)).await?;
        if let Some(error) = tried.receipt.error {
            // Too early, too late or done already: whoever posted it sees that on the chain, and posts it no more.
            if is_stuck(call.tries) {
                tracing::warn!(method = call.method, tries = call.tries, %error, "the chain would refuse a call each time that it is tried: it is not posted");
            } else {
                tracing::debug!(method = call.method, %error, "not posted");
            }
            return Ok(None);
        }
        let terms = Terms {
            cycles: tried.cycles_limit.saturating_mul(LIMIT_MARGIN),
            cells: tried.cells_limit.saturating_mul(LIMIT_MARGIN),
            payload,
            price_of_cycle: tried.max_fee_per_cycle.saturating_mul(PRICE_MARGIN),
            price_of_cell: tried.max_fee_per_cell.saturating_mul(PRICE_MARGIN),
            found: Instant::now(),
        };
        self.terms.insert(call.method, terms);
        Ok(Some(terms))
    }

    fn sign(&self, instruction: Instruction, terms: Terms, nonce: u64) -> Transaction {
        let mut transaction = self.unsigned(instruction, Nonce(nonce));
        transaction.cycles_limit = Cycles(terms.cycles);
        transaction.cells_limit = Cells(terms.cells);
        transaction.max_fee_per_cycle = Price(terms.price_of_cycle);
        transaction.max_fee_per_cell = Price(terms.price_of_cell);
        self.key.sign_transaction(&mut transaction);
        transaction
    }

    fn unsigned(&self, instruction: Instruction, nonce: Nonce) -> Transaction {
        Transaction { chain_id: self.chain_id, nonce, ..Transaction::unsigned(self.key.address(), instruction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is refused for a moment is no warning. What is refused for ever is one, ever more rarely.
    #[test]
    fn refusals_that_last_are_warnings() {
        assert_eq!((0..100).filter(|tries| is_stuck(*tries)).collect::<Vec<_>>(), [4, 8, 16, 32, 64]);
    }
}
