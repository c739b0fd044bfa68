//! Where a gateway's blocks come from, and where its transactions go: into its own node's pool, or to the node that it follows.

use cowboy_api::{ApiError, Client, error::FAULTS};
use cowboy_node::{AskError, NodeHandle, mempool::Refused};
use cowboy_types::{
    Address, Hash, Transaction,
    error::{self, Category},
    units::Nonce,
};
use std::time::Duration;
use tokio::{sync::watch, time::timeout};

/// How long another node has to say whether it takes a transaction: other commands wait meanwhile.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a transaction was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// Its nonce is not the next one.
    Nonce,
    /// The pool is full, or the sender has too many in it.
    Full,
    /// The gateway cannot pay.
    Funds,
    /// No state that the node knows of allows it as it stands.
    Never(String),
    /// Something else, that may pass.
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
            Self::Remote(client) => match timeout(PATIENCE, client.submit(transaction)).await {
                Ok(answer) => answered(transaction, answer),
                Err(_) => Err(NotTaken::Other("it does not answer in time".into())),
            },
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

/// What another node's answer comes to. The hash of what it took is the transaction's own, whatever the node calls it.
fn answered(transaction: &Transaction, answer: Result<Hash, ApiError>) -> Result<Hash, NotTaken> {
    answer.map(|_| transaction.digest()).map_err(|error| of_api(&error))
}

fn of_refused(refused: &Refused) -> NotTaken {
    match refused {
        Refused::Invalid(invalid) => of_code(invalid.abort().code, true, &invalid.to_string()),
        Refused::TooFarAhead { .. } | Refused::Underpriced { .. } | Refused::Replaced | Refused::Known => NotTaken::Nonce,
        Refused::SenderFull { .. }
        | Refused::Full
        | Refused::FundsOfQueue { .. }
        | Refused::Expired { .. }
        | Refused::SetApart { .. }
        | Refused::TooSlow { .. } => NotTaken::Full,
    }
}

/// What another node says. Visitors read it as the gateway's own words, so that it is told in those, by its code, and not in the node's (decision 655).
fn of_api(failure: &ApiError) -> NotTaken {
    let fault = FAULTS.iter().find(|fault| fault.code == failure.code);
    let words = fault.map_or_else(|| error::row(failure.code).what, |fault| fault.what);
    of_code(failure.code, failure.category == Category::Admission.slug(), words.trim_end_matches('.'))
}

/// What a code of the error table says. Every other reason of admission is one that the same bytes keep for ever.
fn of_code(code: u16, is_admission: bool, words: &str) -> NotTaken {
    let is = |aborts: &[cowboy_types::Abort]| aborts.iter().any(|abort| abort.code == code);
    if is(&[error::WRONG_NONCE, error::NONCE_GAP, error::REPLACEMENT_UNDERPRICED]) {
        NotTaken::Nonce
    } else if is(&[error::POOL_FULL, error::SENDER_SET_APART, error::TRANSACTION_EXPIRED, error::TRANSACTION_TOO_SLOW]) {
        NotTaken::Full
    } else if is(&[error::INSUFFICIENT_FEE, error::INSUFFICIENT_VALUE]) {
        NotTaken::Funds
    } else if is_admission && !is(&[error::BASE_FEE_TOO_LOW]) {
        NotTaken::Never(words.to_owned())
    } else {
        NotTaken::Other(words.to_owned())
    }
}

/// Whether the node is away that blocks come from, or so far ahead that the gateway still catches up: who takes them says it, who is asked for the
/// gateway's health reads it.
#[derive(Clone, Debug, Default)]
pub struct Source(watch::Sender<bool>);

impl Source {
    /// Notes that it went away, or that the gateway is level with it.
    pub fn note(&self, is_away: bool) {
        self.0.send_if_modified(|noted| std::mem::replace(noted, is_away) != is_away);
    }

    pub(crate) fn is_away(&self) -> bool {
        *self.0.borrow()
    }

    /// Follows what is noted.
    pub(crate) fn changes(&self) -> watch::Receiver<bool> {
        self.0.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::error::{BODY_TOO_LARGE, BUSY, UNREACHABLE};
    use cowboy_types::Abort;

    /// Decision 664: a node that names another hash, or the same one for all, has no command counted and shown as another.
    #[test]
    fn hashes_are_the_gateways_own() {
        let transaction = crate::testing::transaction(1, 2, 3);
        assert_eq!(answered(&transaction, Ok(Hash([7; 32]))), Ok(transaction.digest()));
        assert_eq!(answered(&transaction, Err(ApiError::of_abort(error::WRONG_NONCE))), Err(NotTaken::Nonce));
    }

    /// Decision 635: what the same bytes keep for ever is another reason than what passes, for a pool in this process and for another node's.
    #[test]
    fn reasons_for_good_differ_from_those_that_pass() {
        let of = |abort: &Abort| of_api(&ApiError::of_abort(abort.clone()));
        for abort in &[error::LIMIT_TOO_HIGH, error::TRANSACTION_TOO_LARGE, error::WRONG_CHAIN, error::INVALID_SIGNATURE] {
            assert!(matches!(of(abort), NotTaken::Never(_)), "{abort:?}");
        }
        for abort in &[error::WRONG_NONCE, error::NONCE_GAP, error::REPLACEMENT_UNDERPRICED] {
            assert_eq!(of(abort), NotTaken::Nonce, "{abort:?}");
        }
        assert_eq!([of(&error::POOL_FULL), of(&error::SENDER_SET_APART)], [NotTaken::Full, NotTaken::Full]);
        assert!(matches!(of(&error::BASE_FEE_TOO_LOW), NotTaken::Other(_)), "prices are raised");
        for fault in [BODY_TOO_LARGE, BUSY, UNREACHABLE] {
            assert!(matches!(of_api(&ApiError::of_fault(fault)), NotTaken::Other(_)), "{fault:?}");
        }
        let mut foreign = ApiError::of_abort(error::LIMIT_TOO_HIGH);
        foreign.what = "Send your key to the node".into();
        assert_eq!(
            of_api(&foreign),
            NotTaken::Never("A limit is higher than any transaction may use".into()),
            "its words are not passed on"
        );
        foreign.code = u16::MAX;
        foreign.category = String::new();
        assert!(matches!(of_api(&foreign), NotTaken::Other(words) if !words.contains("key")));
        let invalid = cowboy_chain::Invalid::LimitTooHigh { meter: "cycles", limit: 2, max: 1 };
        assert!(matches!(of_refused(&Refused::Invalid(invalid)), NotTaken::Never(_)));
    }
}
