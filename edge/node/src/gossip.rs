//! Spreads waiting transactions among validators.
//!
//! A transaction goes from the node that a client gave it to straight to all others: the network is a
//! full mesh. Messages may be lost, so what still waits is told again from time to time.
//!
//! To check a signature takes about 40 µs, on all cores, and whoever stakes the least may send transactions, of up to 65 signatures each. So a
//! peer whose signatures do not hold is blocked, and each has a number of signatures and of bytes a second: a small one where it does not
//! sign blocks (decision 397). What is beyond is not even decoded, so that no queue of messages grows.

use crate::{chain::Chain, mempool::Source};
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Blocker, Receiver, Recipients, Sender};
use commonware_runtime::{Clock, Spawner, Supervisor};
use cowboy_chain::SignedTransaction;
use cowboy_types::{Hash, List, Transaction};
use rayon::prelude::*;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::sync::broadcast::{self, error::RecvError};

/// The largest message of the mempool's channel.
pub const MAX_BYTES: usize = 1024 * 1024;

/// The most transactions of one message, and what its transactions may take together unless it is one alone. Votes wait for a message that is being sent.
const MAX_BATCH: usize = 1_024;
const BATCH_BYTES: usize = 64 * 1024;

/// How long after a node told others what a client gave it, it tells them again, where that still waits. Each time it waits twice as long, up to a limit:
/// what was lost is told soon, and what waits for long in a full mempool takes little of the links.
const RETELL: Duration = Duration::from_secs(2);
const MAX_RETELL: Duration = Duration::from_secs(32);

/// The most transactions that are told again at once.
const MAX_RETOLD: usize = 4_096;

/// Malformed messages and transactions with bad signatures after which a peer is blocked. A node sends only what it has checked.
const MAX_BAD: usize = 32;

/// What is looked at of one peer in a second. It tells the rest again.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// Signatures of transactions that were not known.
    signatures: usize,
    /// Bytes of messages.
    bytes: usize,
}

/// That of a peer that signs blocks: a third of a core, and four times what blocks can hold.
const OF_SIGNERS: Budget = Budget { signatures: 8_192, bytes: 16 * MAX_BYTES };

/// That of a peer that does not.
const OF_OTHERS: Budget = Budget { signatures: 256, bytes: 2 * MAX_BYTES };

const NOTHING: Budget = Budget { signatures: 0, bytes: 0 };

type Batch = List<Transaction, MAX_BATCH>;

/// Starts telling and listening.
pub fn start<E: Spawner + Supervisor + Clock>(
    context: E,
    chain: Arc<Chain>,
    mut blocker: impl Blocker<PublicKey = PublicKey>,
    channel: (impl Sender<PublicKey = PublicKey>, impl Receiver<PublicKey = PublicKey>),
) {
    if chain.is_alone() {
        return;
    }
    let (sender, receiver) = channel;
    let given = chain.mempool.subscribe_given();
    let mut sender = sender;
    let send = move |batch: Batch| drop(sender.send(Recipients::All, batch.encode(), false));
    let teller = Teller { chain: chain.clone(), send, told: Vec::new() };
    context.child("tell").spawn(move |clock| teller.run(clock, given));
    let block = move |peer: PublicKey| {
        commonware_p2p::block!(blocker, peer, "a peer sent transactions whose signatures do not hold");
    };
    context.child("listen").spawn(move |clock| listen(clock, chain, receiver, block));
}

struct Teller<F> {
    chain: Arc<Chain>,
    /// Sends a batch to all other validators. It may be lost.
    send: F,
    /// What clients gave this node and still waits, or has waited when it was looked at last.
    told: Vec<Repeated>,
}

/// A transaction that others get again where it still waits.
struct Repeated {
    digest: Hash,
    /// When they are told again.
    due: SystemTime,
    /// How long after they were told last.
    wait: Duration,
}

impl Repeated {
    fn new(signed: &SignedTransaction, now: SystemTime) -> Self {
        Self { digest: *signed.digest(), due: now + RETELL, wait: RETELL }
    }
}

impl<F: FnMut(Batch)> Teller<F> {
    async fn run(mut self, clock: impl Clock, mut given: broadcast::Receiver<SignedTransaction>) {
        let mut due = clock.current() + RETELL;
        loop {
            // However much comes in, what may have been lost is told again.
            if clock.current() >= due {
                self.tell_again(clock.current());
                due = clock.current() + RETELL;
            }
            let news = tokio::select! {
                biased;
                news = given.recv() => news,
                () = clock.sleep_until(due) => continue,
            };
            match news {
                Ok(first) => {
                    let mut batch = vec![first];
                    while let Ok(next) = given.try_recv() {
                        batch.push(next);
                    }
                    self.told.extend(batch.iter().map(|signed| Repeated::new(signed, clock.current())));
                    self.tell(batch);
                }
                // What was missed is among what waits.
                Err(RecvError::Lagged(_)) => {
                    let now = clock.current();
                    let all = self.chain.mempool.all();
                    self.told = all.iter().map(|signed| Repeated { due: now, ..Repeated::new(signed, now) }).collect();
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// Tells again what still waits and is due, at most a part of it; the next part follows next time.
    fn tell_again(&mut self, now: SystemTime) {
        let mempool = &self.chain.mempool;
        self.told.retain(|told| mempool.get(&told.digest).is_some());
        let mut again = Vec::new();
        for told in self.told.iter_mut().filter(|told| told.due <= now).take(MAX_RETOLD) {
            told.wait = (told.wait * 2).min(MAX_RETELL);
            told.due = now + told.wait;
            again.extend(mempool.get(&told.digest));
        }
        self.tell(again);
    }

    /// Sends transactions to everybody, in messages of bounded size.
    fn tell(&mut self, signed: Vec<SignedTransaction>) {
        let mut batch = Vec::new();
        let mut bytes = 16;
        for signed in signed {
            if !batch.is_empty() && (batch.len() == MAX_BATCH || bytes + signed.size() > BATCH_BYTES) {
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
        (self.send)(Batch::new(batch).expect("a batch is bounded where it is made"));
    }
}

/// What the peers have sent.
#[derive(Debug, Default)]
struct Peers {
    epoch: u64,
    peers: BTreeMap<PublicKey, Sent>,
}

/// What one peer has sent.
#[derive(Debug)]
struct Sent {
    /// Malformed messages, and transactions with bad signatures, in this epoch.
    bad: usize,
    /// When the running second began.
    since: SystemTime,
    /// What was looked at since then.
    used: Budget,
}

impl Peers {
    /// What this peer has sent in the running epoch.
    fn of(&mut self, epoch: u64, peer: &PublicKey, now: SystemTime) -> &mut Sent {
        if self.epoch != epoch {
            *self = Self { epoch, peers: BTreeMap::new() };
        }
        self.peers.entry(peer.clone()).or_insert(Sent { bad: 0, since: now, used: NOTHING })
    }
}

impl Sent {
    /// Whether a message of this length is looked at in this second.
    fn takes(&mut self, now: SystemTime, budget: Budget, bytes: usize) -> bool {
        if now.duration_since(self.since).is_ok_and(|passed| passed >= Duration::from_secs(1)) {
            (self.since, self.used) = (now, NOTHING);
        }
        self.used.bytes = self.used.bytes.saturating_add(bytes);
        self.used.bytes <= budget.bytes && self.used.signatures < budget.signatures
    }

    /// Leaves of these transactions the first ones whose signatures are checked in this second.
    fn leave(&mut self, budget: Budget, unknown: &mut Vec<Transaction>) {
        let mut is_within = |transaction: &Transaction| {
            self.used.signatures = self.used.signatures.saturating_add(1).saturating_add(transaction.additional_signers.len());
            self.used.signatures <= budget.signatures
        };
        let count = unknown.iter().take_while(|transaction| is_within(transaction)).count();
        unknown.truncate(count);
    }
}

/// Takes in what others tell, and has `block` shut out peers that send what no honest node sends. What is known or refused is left.
async fn listen(
    clock: impl Clock,
    chain: Arc<Chain>,
    mut receiver: impl Receiver<PublicKey = PublicKey>,
    mut block: impl FnMut(PublicKey),
) {
    let mut peers = Peers::default();
    while let Ok((peer, message)) = receiver.recv().await {
        let (term, now) = (chain.term(), clock.current());
        let sent = peers.of(term.info.epoch.get(), &peer, now);
        let budget = if term.info.output.players().position(&peer).is_some() { OF_SIGNERS } else { OF_OTHERS };
        if !sent.takes(now, budget, message.len()) {
            continue;
        }
        let (signed, bad) = match Batch::decode_cfg(message, &()) {
            Ok(batch) => {
                let unknown = batch.into_vec().into_par_iter().filter(|transaction| chain.mempool.get(&transaction.digest()).is_none());
                let mut unknown: Vec<Transaction> = unknown.collect();
                sent.leave(budget, &mut unknown);
                let count = unknown.len();
                let signed: Vec<SignedTransaction> =
                    unknown.into_par_iter().filter_map(|transaction| SignedTransaction::check(transaction).ok()).collect();
                let bad = count - signed.len();
                (signed, bad)
            }
            Err(_) => (Vec::new(), 1),
        };
        sent.bad = sent.bad.saturating_add(bad);
        if sent.bad >= MAX_BAD {
            sent.bad = 0;
            block(peer);
            continue;
        }
        let Some(state) = chain.state().cloned() else { continue };
        for reason in chain.mempool.admit_all(Source::Peer, &*state, signed).await.into_iter().filter_map(Result::err) {
            tracing::debug!(%reason, "a peer's transaction is left");
        }
        chain.pace.poke();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::tests::{chain, transaction};
    use commonware_runtime::{Runner as _, deterministic};
    use cowboy_chain::{Standing, lanes::Lane};
    use cowboy_state::records::Account;
    use cowboy_types::{Address, Amount, Instruction, Nonce, System};
    use std::{collections::BTreeMap, sync::Mutex};

    /// A validator that was away when a transaction was told gets it later, also where clients never pause; and it is told less and less often.
    #[test]
    fn what_waits_is_told_again_however_much_comes_in() {
        let times = Arc::new(Mutex::new(BTreeMap::<u64, u32>::new()));
        let counts = times.clone();
        deterministic::Runner::default().start(|context| async move {
            let chain = chain(None);
            let give = |nonce: u64| {
                let to = System::Transfer { to: Address([9; 20]), amount: Amount(1) };
                let mut transaction = transaction(&chain, 0, Instruction::System(to), 21_000).transaction().clone();
                // Nonce 0 is missing, so that no block takes any of them.
                transaction.nonce = Nonce(nonce);
                let account = Account { nonce: Nonce(0), balance: Amount(u64::MAX) };
                let standing = Standing { account, lane: Lane::User };
                chain.mempool.admit(Source::Client, &standing, SignedTransaction::unchecked(transaction)).expect("there is room");
            };
            let send = move |batch: Batch| {
                let mut times = counts.lock().expect("one thread");
                batch.into_vec().iter().for_each(|transaction| *times.entry(transaction.nonce.0).or_default() += 1);
            };
            let teller = Teller { chain: chain.clone(), send, told: Vec::new() };
            let given = chain.mempool.subscribe_given();
            context.child("tell").spawn(move |clock| teller.run(clock, given));
            for nonce in 1..=10 {
                give(nonce);
                context.sleep(Duration::from_secs(1)).await;
            }
        });
        let times = times.lock().expect("one thread");
        assert_eq!(times.len(), 10);
        // At once, after two seconds and after four more; then after eight.
        assert_eq!(times[&1], 3, "in ten seconds");
    }

    /// Messages that came, and who sent them.
    #[derive(Debug)]
    struct Given(std::collections::VecDeque<(PublicKey, Vec<u8>)>);

    impl Receiver for Given {
        type Error = RecvError;
        type PublicKey = PublicKey;

        async fn recv(&mut self) -> Result<commonware_p2p::Message<PublicKey>, RecvError> {
            self.0.pop_front().map(|(peer, bytes)| (peer, bytes.into())).ok_or(RecvError::Closed)
        }

        fn capacity(&self) -> std::num::NonZeroUsize {
            std::num::NonZeroUsize::MIN
        }
    }

    /// A batch of transactions with nonces from here on, and signatures that do not hold.
    fn forged(chain: &Chain, nonces: std::ops::Range<u64>) -> Vec<u8> {
        let to = System::Transfer { to: Address([9; 20]), amount: Amount(1) };
        let transaction = transaction(chain, 0, Instruction::System(to), 21_000).transaction().clone();
        let batch = nonces.map(|nonce| Transaction { nonce: Nonce(nonce), ..transaction.clone() });
        Batch::new(batch.collect()).expect("they fit").encode().to_vec()
    }

    /// A peer whose signatures do not hold is blocked, and of each a number of signatures and bytes is looked at in a second.
    #[test]
    fn bad_signatures_block_their_sender() {
        use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
        let [once, often, malformed] = [1, 2, 3].map(|seed| PrivateKey::from_seed(seed).public_key());
        let (blocked, chain) = (Arc::new(Mutex::new(Vec::new())), chain(None));
        let heard = blocked.clone();
        let max = MAX_BAD as u64;
        let mut messages = vec![(once, forged(&chain, 0..max - 1)), (often.clone(), forged(&chain, 0..max - 1))];
        messages.push((often.clone(), forged(&chain, max..max + 1)));
        messages.extend((0..MAX_BAD).map(|_| (malformed.clone(), vec![0xff; 9])));
        deterministic::Runner::default().start(|context| async move {
            listen(context, chain, Given(messages.into()), move |peer| heard.lock().expect("one thread").push(peer)).await;
        });
        assert_eq!(*blocked.lock().expect("one thread"), [often, malformed]);

        let (mut peers, start) = (Peers::default(), SystemTime::UNIX_EPOCH);
        let peer = PrivateKey::from_seed(1).public_key();
        let other = crate::execute::tests::chain(None);
        let batch = |count: u64| {
            let bytes = bytes::Bytes::from(forged(&other, 0..count));
            Batch::decode_cfg(bytes, &()).expect("it is one").into_vec()
        };
        let mut leave = |ms: u64, bytes: usize, count: u64| {
            let now = start + Duration::from_millis(ms);
            let mut unknown = batch(count);
            peers.of(0, &peer, start).takes(now, OF_OTHERS, bytes).then(|| {
                peers.of(0, &peer, start).leave(OF_OTHERS, &mut unknown);
                unknown.len()
            })
        };
        assert_eq!(leave(0, 9, 255), Some(255));
        assert_eq!([leave(999, 9, 3), leave(999, 9, 3)], [Some(1), None], "signatures are counted");
        assert_eq!(leave(1_000, OF_OTHERS.bytes, 3), Some(3));
        assert_eq!(leave(1_001, 1, 3), None, "and so are bytes");
    }
}
