//! A node in this process: started, asked, steered, stopped.

use crate::{
    chain::{Chain, FinalizedBlock, Head},
    config::NodeConfig,
    error::{AskError, NodeError, Unavailable},
    failing,
    follow::{Fed, Feed},
    mempool::{Refused, Source},
    peers,
    running::{Outlets, Running},
};
use bytes::Bytes;
use cowboy_chain::{SignedTransaction, StateKey, Trace, query::At};
use cowboy_state::records::Account;
use cowboy_store::{StoreError, View};
use cowboy_types::{Address, Hash, Height, units::Nonce};
use futures::future::BoxFuture;
use std::sync::{Arc, Mutex, RwLock};
use tokio::sync::{broadcast, mpsc, watch};

/// How often a node that has listened is started once more while its ledger is in use. Each start waits some seconds for it, and requests that read it last
/// ten at most.
const LEDGER_TRIES: u32 = 10;

/// Services beside a dev chain that act in time: where many blocks come at once, the chain stops for them every few heights (decision 605).
#[derive(Clone)]
pub struct KeepUp {
    /// Heights from a stop to the next, 1 or more.
    pub every: u64,
    /// Ends once they have sent what is due at a height, or do not get there. It is given the node, which has this in turn.
    pub until_sent: Arc<dyn Fn(NodeHandle, Height) -> BoxFuture<'static, ()> + Send + Sync>,
}

/// A node in this process. Clones share it.
#[derive(Clone)]
pub struct NodeHandle(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) config: NodeConfig,
    outlets: Outlets,
    running: RwLock<Option<Running>>,
    /// Held while the node is stopped and started again, so that it happens once at a time.
    pub(crate) restarting: Mutex<()>,
    /// Services for which blocks that come at once stop every few heights.
    pub(crate) services: Mutex<Option<KeepUp>>,
    /// Ends the wait of a validator that listens when the node is dropped, or started again.
    listens: Mutex<Option<std::sync::mpsc::Sender<()>>>,
}

impl NodeHandle {
    /// Starts a validator and waits until its state can be read. Blocks the thread.
    pub fn start(config: NodeConfig) -> Result<Self, NodeError> {
        if let Some(keys) = &config.keys {
            peers::verify(&config.genesis.committee, keys, &config.peers)?;
        }
        Self::launch(config, None)
    }

    /// Starts a node that votes on nothing and is fed with another node's blocks. Blocks the thread.
    pub fn follow(config: NodeConfig) -> Result<(Self, Feed), NodeError> {
        let (feed, fed) = Feed::new();
        Ok((Self::launch(config, Some(fed))?, feed))
    }

    fn launch(config: NodeConfig, fed: Option<mpsc::Receiver<Fed>>) -> Result<Self, NodeError> {
        let head = watch::Sender::new(Head::of(&config.genesis.block));
        let blocks = broadcast::Sender::new(crate::chain::SUBSCRIBER_LAG);
        let outlets = Outlets { head, blocks, last_words: watch::Sender::default(), waiting: Arc::default() };
        let running = Running::start(&config, &outlets, fed, false)?;
        let (restarting, services, listens) = (Mutex::default(), Mutex::default(), Mutex::default());
        let node = Self(Arc::new(Inner { config, outlets, running: RwLock::default(), restarting, services, listens }));
        node.install(running);
        Ok(node)
    }

    /// Takes in what was started. A validator that must listen first votes when its time is over.
    fn install(&self, mut running: Running) {
        let listening = running.listening.take();
        *self.0.running.write().expect("nothing panics while it holds the lock") = Some(running);
        let node = Arc::downgrade(&self.0);
        let asked = node.clone();
        let is_held_up = move || asked.upgrade().is_some_and(|inner| Self(inner).chain().is_ok_and(|chain| chain.is_dealt_first_share()));
        let vote = move || {
            if let Some(inner) = node.upgrade() {
                Self(inner).restart_to_vote();
            }
        };
        *self.0.listens.lock().expect("nothing panics while it holds the lock") =
            listening.map(|listening| listening.vote_later(is_held_up, vote));
    }

    /// What it was started with.
    pub fn config(&self) -> &NodeConfig {
        &self.0.config
    }

    /// The newest finalized block, in brief. Before the first block: genesis.
    pub fn head(&self) -> Head {
        *self.0.outlets.head.borrow()
    }

    /// Follows the newest finalized block; a reader that is slow sees only the newest.
    pub fn watch_head(&self) -> watch::Receiver<Head> {
        self.0.outlets.head.subscribe()
    }

    /// Every finalized block from now on, with its receipts. A reader that lags a thousand blocks misses some.
    pub fn subscribe(&self) -> broadcast::Receiver<Arc<FinalizedBlock>> {
        self.0.outlets.blocks.subscribe()
    }

    /// The chain as this node has it: ledger, mempool, state, pace.
    pub fn chain(&self) -> Result<Arc<Chain>, Unavailable> {
        self.running(|running| running.chain.clone())
    }

    /// The ledger as it is now: blocks, receipts, certificates, and indexes.
    pub fn view(&self) -> Result<View, AskError> {
        Ok(self.chain()?.ledger.view()?)
    }

    /// The values of these keys after the finalized block of this number, one of the newest: [`cowboy_store::Retention`] says how many.
    pub async fn read(&self, number: u64, keys: Vec<StateKey>) -> Result<Vec<Option<Bytes>>, AskError> {
        let chain = self.chain()?;
        let tip = chain.head.borrow().number;
        if number > tip {
            return Err(AskError::NotYet { number, tip });
        }
        let latest = chain.state().ok_or(Unavailable)?.read(keys.clone()).await;
        let values = keys.iter().zip(latest).map(|(key, latest)| chain.recent.at(number, tip, key, latest));
        Ok(values.collect::<Result<_, _>>()?)
    }

    /// Where a query runs that sees the state after the finalized block of this number. After genesis, 0, there is none: the first
    /// block writes it.
    pub fn at(&self, number: u64) -> Result<At, AskError> {
        let chain = self.chain()?;
        let tip = chain.head.borrow().number;
        if number == 0 {
            return Err(AskError::NotYet { number: 1, tip });
        }
        let block = chain.block(number)?.ok_or(AskError::NotYet { number, tip })?;
        Ok(At::after(block.header(), chain.config.clone(), chain.images.clone()))
    }

    /// An account after the newest final block.
    pub async fn account(&self, address: Address) -> Result<Account, AskError> {
        Ok(self.chain()?.account(&address).await.ok_or(Unavailable)?)
    }

    /// The nonce of an account's next transaction: after those that wait here without a gap.
    pub async fn next_nonce(&self, address: Address) -> Result<Nonce, AskError> {
        Ok(self.chain()?.next_nonce(&address).await.ok_or(Unavailable)?)
    }

    /// Puts encoded transactions into the mempool. Answers each: its name, or why it was refused.
    pub async fn submit(&self, transactions: Vec<Vec<u8>>) -> Result<Vec<Result<Hash, Refused>>, AskError> {
        let signed = transactions.iter().map(|bytes| SignedTransaction::decode(bytes).map_err(Refused::from)).collect();
        self.submit_signed(signed).await
    }

    /// Puts transactions whose signatures were checked into the mempool.
    pub async fn submit_signed(&self, signed: Vec<Result<SignedTransaction, Refused>>) -> Result<Vec<Result<Hash, Refused>>, AskError> {
        let chain = self.chain()?;
        let good: Vec<SignedTransaction> = signed.iter().flatten().cloned().collect();
        let mut admitted = chain.mempool.admit_all(Source::Client, &**chain.state().ok_or(Unavailable)?, good).await.into_iter();
        let answer =
            |signed: Result<_, _>| signed.and_then(|_: SignedTransaction| admitted.next().expect("every good transaction has an answer"));
        let answers = signed.into_iter().map(answer).collect();
        chain.pace.poke();
        Ok(answers)
    }

    /// What happened inside the delivery with this receipt, where it is among the blocks whose traces are kept.
    pub fn trace(&self, view: &View, receipt: &Hash) -> Result<Option<Trace>, AskError> {
        Ok(self.chain()?.trace(view, receipt)?)
    }

    /// Waits until the node ends by itself, as when its disk is full, and says why. A node that is stopped has not ended.
    pub async fn ended(&self) -> NodeError {
        let mut last_words = self.0.outlets.last_words.subscribe();
        // The sender lives as long as this handle.
        let words = last_words.wait_for(Option::is_some).await.ok().and_then(|words| words.clone());
        if let Some(outdated) = self.chain().ok().and_then(|chain| chain.protocol.stopped()) {
            return outdated.into();
        }
        failing::while_running(&words.unwrap_or_default(), &self.config().directory, self.head().number)
    }

    /// Blocks of the ledger that are to be fetched again: a validator fetches them itself, a follower gets them through [`Feed::restore`].
    pub fn missing(&self) -> Result<Vec<u64>, AskError> {
        Ok(self.chain()?.ledger.missing()?)
    }

    /// The metrics of every part, as Prometheus reads them.
    pub fn metrics(&self) -> Result<String, Unavailable> {
        self.running(|running| (running.metrics)())
    }

    /// Stops the node and waits until it has stopped. Nothing that was acknowledged is lost.
    pub fn shutdown(&self) {
        let _restarting = self.0.restarting.lock().expect("nothing panics while it holds the lock");
        self.stop();
    }

    /// Stops the node, if it runs. Questions are answered with [`Unavailable`] until it is started again.
    pub(crate) fn stop(&self) {
        let running = self.0.running.write().expect("nothing panics while it holds the lock").take();
        if let Some(running) = running {
            running.stop();
        }
    }

    /// Stops the node, which keeps what waits in its mempool for the next start: clients were told that it is taken.
    pub(crate) fn stop_for_now(&self) -> Result<(), Unavailable> {
        let chain = self.chain()?;
        self.stop();
        self.0.outlets.keep_waiting(chain.mempool.all());
        Ok(())
    }

    /// Starts the node again after [`NodeHandle::stop`].
    pub(crate) fn resume(&self) -> Result<(), NodeError> {
        self.start_again(false)
    }

    fn start_again(&self, has_listened: bool) -> Result<(), NodeError> {
        self.install(Running::start(&self.0.config, &self.0.outlets, None, has_listened)?);
        Ok(())
    }

    /// Starts a validator that has listened again, so that it votes from now on. One that was stopped meanwhile stays so.
    fn restart_to_vote(&self) {
        let _restarting = self.0.restarting.lock().expect("nothing panics while it holds the lock");
        if self.stop_for_now().is_err() {
            return;
        }
        let started = once_free(|| self.start_again(true));
        if let Err(error) = started {
            self.0.outlets.last_words.send_replace(Some(error.to_string()));
        }
    }

    fn running<T>(&self, ask: impl FnOnce(&Running) -> T) -> Result<T, Unavailable> {
        self.0.running.read().expect("nothing panics while it holds the lock").as_ref().map(ask).ok_or(Unavailable)
    }
}

/// Starts a node, and once more while its ledger is in use: requests that began before read it still, and end in time. Whoever asks must not end the node.
fn once_free(mut start: impl FnMut() -> Result<(), NodeError>) -> Result<(), NodeError> {
    let mut started = start();
    for _ in 0..LEDGER_TRIES {
        let Err(NodeError::Store(StoreError::InUse(_))) = started else { break };
        started = start();
    }
    started
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BlockTime,
        execute::tests::transaction,
        genesis::{DevGenesis, dev},
    };
    use cowboy_chain::genesis::Funded;
    use cowboy_types::{Amount, Instruction, System};

    /// A ledger that is in use for long ends the node with that reason, and another reason ends it at once.
    #[test]
    fn a_ledger_in_use_is_tried_again() {
        let in_use = || Err(NodeError::Store(StoreError::InUse("ledger".into())));
        let tries = |refusals: u32, refuse: &dyn Fn() -> Result<(), NodeError>| {
            let mut tries = 0;
            let started = once_free(|| {
                tries += 1;
                if tries > refusals { Ok(()) } else { refuse() }
            });
            (tries, started.is_ok())
        };
        let rows =
            [(0, (1, true)), (1, (2, true)), (LEDGER_TRIES, (LEDGER_TRIES + 1, true)), (LEDGER_TRIES + 1, (LEDGER_TRIES + 1, false))];
        for (refusals, expected) in rows {
            assert_eq!(tries(refusals, &in_use), expected, "in use {refusals} times");
        }
        assert_eq!(tries(1, &|| Err(NodeError::Stopped)), (1, false), "another error is not tried again");
    }

    /// Decision 768: a validator that starts again when it has listened, and a chain of development that was copied, still have what clients were told is taken.
    #[tokio::test]
    async fn what_waits_outlives_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let funded = Funded { address: Address([1; 20]), amount: Amount::from_cby(1_000).expect("it fits") };
        let (genesis, mut keys) = dev(DevGenesis { accounts: vec![funded], ..DevGenesis::default() }).expect("a genesis");
        let config =
            NodeConfig { block_time: BlockTime::Instant, ..NodeConfig::alone(folder.path().join("state"), genesis, keys.remove(0)) };
        let start = tokio::task::spawn_blocking(move || NodeHandle::start(config));
        let node = start.await.expect("starting does not panic").expect("the node starts");
        let transfer = Instruction::System(System::Transfer { to: Address([9; 20]), amount: Amount(1) });
        let mut transaction = transaction(&node.chain().expect("it runs"), 0, transfer, 21_000).transaction().clone();
        // Those before it are missing, so that no block takes it.
        transaction.nonce = Nonce(5);
        let waiting = SignedTransaction::unchecked(transaction);
        let taken = node.submit_signed(vec![Ok(waiting.clone())]).await.expect("it runs");
        assert_eq!(taken, [Ok(*waiting.digest())]);
        let again = node.clone();
        tokio::task::spawn_blocking(move || again.restart_to_vote()).await.expect("it starts again");
        assert_eq!(node.chain().expect("it runs").mempool.all(), std::slice::from_ref(&waiting));
        let again = node.clone();
        let copied = tokio::task::spawn_blocking(move || again.snapshot()).await.expect("it starts again");
        assert_eq!(node.chain().expect("it runs").mempool.all(), [waiting]);
        let (again, copied) = (node.clone(), copied.expect("there is room"));
        let reverted = tokio::task::spawn_blocking(move || again.revert(copied)).await.expect("it starts again");
        assert!(reverted.is_ok() && node.chain().expect("it runs").mempool.all().is_empty(), "who goes back begins anew");
        tokio::task::spawn_blocking(move || node.shutdown()).await.expect("it stops");
    }
}
