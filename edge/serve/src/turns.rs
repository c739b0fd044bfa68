//! Turns to work, of which a client has a part: whoever asks for much waits for itself.

use crate::Client;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Turns: a number at once, and a smaller one of each client.
#[derive(Debug)]
pub struct ClientTurns {
    all: Arc<Semaphore>,
    of_client: usize,
    /// Of each client that has one or waits for one.
    clients: Mutex<HashMap<Client, Arc<Semaphore>>>,
}

/// A turn. It ends when this is dropped.
#[derive(Debug)]
pub struct ClientTurn {
    _of_client: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

impl ClientTurns {
    /// At most `all` turns at once, and `of_client` of one client.
    pub fn new(all: usize, of_client: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), of_client, clients: Mutex::default() }
    }

    fn of(&self, client: Client) -> Arc<Semaphore> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever works or waits has one beside this map.
        clients.retain(|_, own| Arc::strong_count(own) > 1);
        clients.entry(client).or_insert_with(|| Arc::new(Semaphore::new(self.of_client))).clone()
    }

    /// Waits for a turn of a client: behind its own requests, and then behind as many of each other client as have turns at once.
    pub async fn turn(&self, client: Client) -> ClientTurn {
        // Nobody closes them.
        let of_client = self.of(client).acquire_owned().await.expect("it is open");
        let of_all = self.all.clone().acquire_owned().await.expect("it is open");
        ClientTurn { _of_client: of_client, _of_all: of_all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::net::IpAddr;
    use std::pin::Pin;
    use std::task::Poll;

    fn client(number: u8) -> Client {
        IpAddr::from([192, 0, 2, number]).into()
    }

    /// Decision 748: a client that asks for hundreds of turns at once has its part of them, and keeps nobody else waiting; nobody is remembered.
    #[tokio::test]
    async fn who_asks_for_much_waits_for_itself() {
        let turns = ClientTurns::new(8, 2);
        let mut flood: Vec<Pin<Box<_>>> = (0..500).map(|_| Box::pin(turns.turn(client(1)))).collect();
        let mut taken = Vec::new();
        poll_fn(|context| {
            for waiting in &mut flood {
                if let Poll::Ready(turn) = waiting.as_mut().poll(context) {
                    taken.push(turn);
                }
            }
            Poll::Ready(())
        })
        .await;
        assert_eq!((taken.len(), turns.all.available_permits()), (2, 6));
        for number in 2..8 {
            taken.push(turns.turn(client(number)).await);
        }
        assert_eq!(turns.all.available_permits(), 0);
        drop((flood, taken));
        drop(turns.turn(client(9)).await);
        assert_eq!((turns.all.available_permits(), turns.clients.lock().expect("nobody failed").len()), (8, 1));
    }
}
