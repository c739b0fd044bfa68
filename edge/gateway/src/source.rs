//! Where a gateway's blocks come from, and where its transactions go: into its own node's pool, or to the node that it follows.

use cowboy_api::{ApiError, Client};
use cowboy_node::{AskError, NodeHandle, mempool::Refused};
use cowboy_types::{Address, Hash, Transaction, error, units::Nonce};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Why a transaction was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// Its nonce is not the next one.
    Nonce,
    /// The pool is full, or the sender has too many in it.
    Full,
    /// The gateway cannot pay.
    Funds,
    /// Something else.
    Other(String),
}

/// Where transactions go.
#[derive(Clone)]
pub enum Upstream {
    /// Into the pool of the node in this process.
    Own,
    /// To another node's API.
    Remote(Client),
}

impl Upstream {
    pub(crate) async fn submit(&self, node: &NodeHandle, transaction: &Transaction) -> Result<Hash, NotTaken> {
        match self {
            Self::Own => {
                let answers =
                    node.submit(vec![transaction.to_bytes().to_vec()]).await.map_err(|error| NotTaken::Other(error.to_string()))?;
                match answers.into_iter().next() {
                    Some(Ok(hash)) => Ok(hash),
                    Some(Err(Refused::Known)) => Ok(transaction.digest()),
                    Some(Err(refused)) => Err(of_refused(&refused)),
                    None => Err(NotTaken::Other("the pool gave no answer".into())),
                }
            }
            Self::Remote(client) => client.submit(transaction).await.map_err(|error| of_api(&error)),
        }
    }

    /// The nonce of the sender's next transaction. An own pool counts those that wait in it, also after a devnet was reverted; where
    /// there is none, it is the account's, or `after`, the one after the last that was sent.
    pub(crate) async fn next_nonce(&self, node: &NodeHandle, sender: Address, after: Nonce) -> Result<Nonce, AskError> {
        match self {
            Self::Own => node.next_nonce(sender).await,
            Self::Remote(_) => Ok(node.account(sender).await?.nonce.max(after)),
        }
    }
}

fn of_refused(refused: &Refused) -> NotTaken {
    match refused {
        Refused::Invalid(invalid) => of_code(invalid.abort().code, &invalid.to_string()),
        Refused::TooFarAhead { .. } | Refused::Underpriced { .. } | Refused::Replaced | Refused::Known => NotTaken::Nonce,
        Refused::SenderFull { .. }
        | Refused::Full
        | Refused::FundsOfQueue { .. }
        | Refused::Expired { .. }
        | Refused::SetApart { .. }
        | Refused::TooSlow { .. } => NotTaken::Full,
    }
}

fn of_api(failure: &ApiError) -> NotTaken {
    of_code(failure.code, &failure.what)
}

fn of_code(code: u16, words: &str) -> NotTaken {
    let is = |aborts: &[cowboy_types::Abort]| aborts.iter().any(|abort| abort.code == code);
    if is(&[error::WRONG_NONCE, error::NONCE_GAP, error::REPLACEMENT_UNDERPRICED]) {
        NotTaken::Nonce
    } else if is(&[error::POOL_FULL]) {
        NotTaken::Full
    } else if is(&[error::INSUFFICIENT_FEE, error::INSUFFICIENT_VALUE]) {
        NotTaken::Funds
    } else {
        NotTaken::Other(words.to_owned())
    }
}

/// Whether the node answers that blocks come from: who takes them says it, who is asked for the gateway's health reads it.
#[derive(Clone, Debug, Default)]
pub struct Source(Arc<AtomicBool>);

impl Source {
    /// Notes that it went away, or that it is back.
    pub fn note(&self, is_away: bool) {
        self.0.store(is_away, Ordering::Relaxed);
    }

    pub(crate) fn is_away(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
