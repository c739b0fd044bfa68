//! Spreads waiting transactions among validators.
//!
//! A transaction goes from the node that a client gave it to straight to all others: the network is a
//! full mesh. Messages may be lost, so what still waits is told again from time to time.

use crate::{
    chain::Chain,
    engine::MAX_GOSSIP_BYTES,
    mempool::{Source, standings},
};
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Spawner, Supervisor};
use cowboy_chain::SignedTransaction;
use cowboy_types::{Hash, List, Transaction};
use rayon::prelude::*;
use std::{collections::VecDeque, sync::Arc, time::Duration};
use tokio::sync::broadcast::{self, error::RecvError};

/// The most transactions of one message.
const MAX_BATCH: usize = 1_024;

/// How often a node tells again what its clients gave it and still waits.
const RETELL: Duration = Duration::from_secs(2);

/// The most transactions that are told again.
const MAX_RETOLD: usize = 4_096;

type Batch = List<Transaction, MAX_BATCH>;

/// Starts telling and listening.
pub fn start<E: Spawner + Supervisor + Clock>(
    context: E,
    chain: Arc<Chain>,
    channel: (impl Sender<PublicKey = PublicKey>, impl Receiver<PublicKey = PublicKey>),
) {
    if chain.committee.members().len() == 1 {
        return;
    }
    let (sender, receiver) = channel;
    let given = chain.mempool.subscribe_given();
    let teller = Teller { chain: chain.clone(), sender, told: VecDeque::new() };
    context.child("tell").spawn(move |clock| teller.run(clock, given));
    context.child("listen").spawn(move |_| listen(chain, receiver));
}

struct Teller<S> {
    chain: Arc<Chain>,
    sender: S,
    told: VecDeque<Hash>,
}

impl<S: Sender<PublicKey = PublicKey>> Teller<S> {
    async fn run(mut self, clock: impl Clock, mut given: broadcast::Receiver<SignedTransaction>) {
        loop {
            let news = tokio::select! {
                biased;
                news = given.recv() => Some(news),
                () = clock.sleep(RETELL) => None,
            };
            match news {
                Some(Ok(first)) => {
                    let mut batch = vec![first];
                    while let Ok(next) = given.try_recv() {
                        batch.push(next);
                    }
                    self.told.extend(batch.iter().map(|signed| *signed.digest()));
                    self.tell(batch);
                }
                // What was missed is told again later, as is everything.
                Some(Err(RecvError::Lagged(_))) => {}
                Some(Err(RecvError::Closed)) => return,
                None => {
                    let chain = &self.chain;
                    self.told.retain(|digest| chain.mempool.get(digest).is_some());
                    let again = self.told.iter().take(MAX_RETOLD).filter_map(|digest| self.chain.mempool.get(digest)).collect();
                    self.tell(again);
                }
            }
        }
    }

    /// Sends transactions to everybody, in messages of bounded size.
    fn tell(&mut self, signed: Vec<SignedTransaction>) {
        let mut batch = Vec::new();
        let mut bytes = 16;
        for signed in signed {
            if batch.len() == MAX_BATCH || bytes + signed.size() > MAX_GOSSIP_BYTES {
                self.send(std::mem::take(&mut batch));
                bytes = 16;
            }
            bytes += signed.size();
            batch.push(signed.transaction().clone());
        }
        if !batch.is_empty() {
            self.send(batch);
        }
    }

    fn send(&mut self, batch: Vec<Transaction>) {
        let batch = Batch::new(batch).expect("a batch is bounded where it is made");
        self.sender.send(Recipients::All, batch.encode(), false);
    }
}

/// Takes in what others tell. What is malformed, known, or refused is left.
async fn listen(chain: Arc<Chain>, mut receiver: impl Receiver<PublicKey = PublicKey>) {
    while let Ok((_, message)) = receiver.recv().await {
        let Ok(batch) = Batch::decode_cfg(message, &()) else { continue };
        let Some(state) = chain.state().cloned() else { continue };
        let unknown = batch.into_vec().into_par_iter().filter(|transaction| chain.mempool.get(&transaction.digest()).is_none());
        let signed: Vec<SignedTransaction> = unknown.filter_map(|transaction| SignedTransaction::check(transaction).ok()).collect();
        let standings = standings(&*state, &signed).await;
        for (signed, standing) in signed.into_iter().zip(standings) {
            if let Err(reason) = chain.mempool.admit(Source::Peer, &standing, signed) {
                tracing::debug!(%reason, "a peer's transaction is left");
            }
        }
        chain.pace.poke();
    }
}
