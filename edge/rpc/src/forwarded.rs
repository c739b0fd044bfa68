//! Transactions that a node hands on, or handed on a moment ago. Nodes that follow each other would hand one on for ever, and each time to several.

use cowboy_serve::{Client, ClientTurn, ClientTurns};
use cowboy_types::Hash;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};
use tokio::time::timeout;

/// How long a transaction that was handed on is not handed on again.
const REMEMBERED: Duration = Duration::from_secs(5);

/// The most that are remembered; more are handed on each time.
const MAX_REMEMBERED: usize = 16_384;

/// Submissions that are handed on at a time. A source takes sixteen requests of this node at once: the others are for the chain.
const AT_ONCE: usize = 12;

/// The most of them of one client.
const AT_ONCE_OF_CLIENT: usize = 4;

/// How long a submission waits for its turn.
const TURN_TIME: Duration = Duration::from_secs(10);

/// What is handed on, and when transactions were.
#[derive(Debug)]
pub(crate) struct Forwarded {
    known: Mutex<HashMap<Hash, Instant>>,
    turns: ClientTurns,
}

impl Default for Forwarded {
    fn default() -> Self {
        Self { known: Mutex::default(), turns: ClientTurns::new(AT_ONCE, AT_ONCE_OF_CLIENT) }
    }
}

impl Forwarded {
    /// Waits for the turn of a client to hand something on (decision 769): behind its own submissions first. `None` where it does not come in time.
    pub(crate) async fn turn(&self, client: Client) -> Option<ClientTurn> {
        timeout(TURN_TIME, self.turns.turn(client)).await.ok()
    }

    /// Whether a transaction is to be handed on, which is noted then.
    pub(crate) fn begin(&self, digest: &Hash) -> bool {
        let mut known = self.known();
        if known.get(digest).is_some_and(|at| at.elapsed() < REMEMBERED) {
            return false;
        }
        if known.len() >= MAX_REMEMBERED {
            known.retain(|_, at| at.elapsed() < REMEMBERED);
        }
        if known.len() < MAX_REMEMBERED {
            known.insert(*digest, Instant::now());
        }
        true
    }

    /// Notes that nobody took it: its sender may try again at once.
    pub(crate) fn failed(&self, digest: &Hash) {
        self.known().remove(digest);
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Hash, Instant>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    /// Decision 769: a client that submits a hundred times at once keeps no other client waiting, and all together leave the sources room for the chain.
    #[tokio::test]
    async fn a_client_hands_on_a_part_at_once() {
        let forwarded = Forwarded::default();
        let turn = |number: u8| {
            let client = Client::from(std::net::IpAddr::from([192, 0, 2, number]));
            forwarded.turn(client).now_or_never().flatten()
        };
        let mut turns = Vec::new();
        for number in 0..3 {
            turns.extend((0..AT_ONCE_OF_CLIENT).map(|_| turn(number).expect("there is room")));
            assert!(turn(number).is_none(), "it has its part");
        }
        assert_eq!(turns.len(), AT_ONCE);
        assert!(turn(9).is_none(), "the rest is for the chain");
        drop(turns.pop());
        assert!(turn(9).is_some());
    }

    /// What comes back ends here; what nobody took is tried again.
    #[test]
    fn what_comes_back_ends_here() {
        let forwarded = Forwarded::default();
        let (one, other) = (Hash([1; 32]), Hash([2; 32]));
        assert!(forwarded.begin(&one) && !forwarded.begin(&one) && forwarded.begin(&other));
        forwarded.failed(&one);
        assert!(forwarded.begin(&one));
    }
}
