//! A running relay.

use crate::app::App;
use crate::behaviour::{Behaviour, Honest};
use crate::member::{CALM, Given, Identity, Member, StepError};
use crate::peer;
use crate::server;
use crate::store::Store;
use crate::upkeep::Upkeep;
use cowboy_api::ApiError;
use cowboy_api::sender::{Call, Sender};
use cowboy_serve::limits::{LimitError, Limits};
use cowboy_serve::metrics;
use cowboy_service::tls;
use cowboy_service::{Chain, ChainError, Failures, Key};
use cowboy_types::Hash;
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::{Amount, ChainId};
use cowboy_volumes::relay::key_message;
use quinn::{Endpoint, VarInt};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What sets the relay's key apart from those of other services of the account.
const DOMAIN: &[u8] = b"cowboy-relay-key:";

/// What a relay is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// The node's URL. Nothing that it says is believed without a proof.
    pub node: String,
    /// The genesis hash and the validators' group key; none where the node's are believed, for development.
    pub trusted: Option<(Hash, [u8; 96])>,
    /// The folder of shards and of the TLS key.
    pub state: PathBuf,
    /// Where it listens, over UDP.
    pub listen: SocketAddr,
    /// The host name or IPv6 address at which others reach it.
    pub endpoint: String,
    /// The port at which others reach it; that of `listen` where it is 0.
    pub port: u16,
    /// Where it stands.
    pub region: String,
    /// Bytes that it offers.
    pub capacity: u64,
    /// Base units of CBY for a MiB and an epoch.
    pub ask: u64,
    /// The stake with which it registers.
    pub stake: Amount,
    /// The time between looks at the chain.
    pub every: Duration,
}

/// Why a relay does not run.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The node refuses or is silent.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A limit of the process is too low.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The folder cannot be used.
    #[error("the folder {folder} cannot be used: {source}\n  fix: check its permissions, and that no other relay runs in it")]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// It cannot listen.
    #[error("{address} cannot be listened at: {source}\n  fix: choose another address")]
    Listen {
        /// The socket address.
        address: SocketAddr,
        /// The underlying error.
        source: std::io::Error,
    },
}

/// Fails where this process may open too few files for a relay: shards that come would keep it from its proofs. Raises the limit as far as it may.
///
/// # Errors
///
/// If so.
pub fn has_files() -> Result<(), LimitError> {
    peer::coming(&Limits::raised()).map(drop)
}

/// A running relay. Dropping it ends it; its folder keeps what matters.
pub struct Relay {
    tasks: Vec<JoinHandle<()>>,
    endpoint: Endpoint,
    address: SocketAddr,
    app: Arc<App>,
    woken: Arc<Notify>,
}

impl Relay {
    /// Starts one: it listens, registers, and keeps shards from then on.
    ///
    /// # Errors
    ///
    /// If the folder, the address or the node cannot be used.
    pub async fn start(config: Config, account: &PrivateKey) -> Result<Self, RelayError> {
        Self::start_with(config, account, Arc::new(Honest)).await
    }

    /// Starts one that behaves in another way.
    ///
    /// # Errors
    ///
    /// As [`Relay::start`].
    pub async fn start_with(config: Config, account: &PrivateKey, behaviour: Arc<dyn Behaviour>) -> Result<Self, RelayError> {
        let coming = peer::coming(&Limits::raised())?;
        let folder = |source| RelayError::Folder { folder: config.state.clone(), source };
        std::fs::create_dir_all(&config.state).map_err(folder)?;
        let store = Arc::new(Store::open(&config.state).map_err(folder)?);
        let tls = tls::Identity::open(&config.state).map_err(folder)?;
        let chain = Arc::new(Chain::connect(&config.node, config.trusted).await?);
        let listening = |source| RelayError::Listen { address: config.listen, source };
        let endpoint = server::listen(tls.config, config.listen).map_err(listening)?;
        let address = endpoint.local_addr().map_err(listening)?;
        let key = Key::of(account, DOMAIN);
        let identity = Identity {
            public: key.public(),
            proof: key.sign(&key_message(&chain.genesis, account.address(), &key.public())),
            endpoint: config.endpoint.clone(),
            port: if config.port == 0 { address.port() } else { config.port },
            certificate: tls.certificate,
            region: config.region.clone(),
            capacity: config.capacity,
            ask: config.ask,
            stake: config.stake,
        };
        let sender = Arc::new(Sender::start(chain.client.clone(), account.clone(), ChainId(chain.chain_id)));
        let app = Arc::new(App::new(chain, store, key, account.address(), behaviour));
        tracing::info!(relay = %account.address(), %address, "the relay listens");
        let given = Given::default();
        let upkeep = Upkeep::new(app.clone(), account.clone(), given.clone());
        let member = Member::new(identity, app.clone(), given);
        let woken = Arc::new(Notify::new());
        let tasks = vec![
            tokio::spawn(server::serve(endpoint.clone(), app.clone(), coming)),
            tokio::spawn(due(member, sender.clone(), config.every, woken.clone())),
            tokio::spawn(beside(upkeep, sender, config.every)),
        ];
        Ok(Self { tasks, endpoint, address, app, woken })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What has it look at the chain at once, when it is notified: where blocks come faster than it looks.
    pub fn woken(&self) -> Arc<Notify> {
        self.woken.clone()
    }

    /// Bytes that it keeps.
    pub fn used(&self) -> u64 {
        self.app.store.used()
    }

    /// Answers with the relay's numbers at `/metrics` of an address, in the format of Prometheus. Returns the address, with its port.
    ///
    /// # Errors
    ///
    /// If it cannot listen there.
    pub async fn serve_metrics(&mut self, address: SocketAddr) -> Result<SocketAddr, RelayError> {
        let app = self.app.clone();
        let listening = metrics::listen(address, move || app.page()).await;
        let (address, answering) = listening.map_err(|source| RelayError::Listen { address, source })?;
        tracing::info!("the relay's numbers are at http://{address}{}", metrics::PATH);
        self.tasks.push(tokio::spawn(answering));
        Ok(address)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        self.endpoint.close(VarInt::from_u32(0), b"the relay ends");
    }
}

/// Does what is due.
async fn due(mut member: Member, sender: Arc<Sender>, every: Duration, woken: Arc<Notify>) {
    let mut failures = Failures::lasting(CALM);
    loop {
        let mut calls = Vec::new();
        let done = member.step(&mut calls).await;
        send(&sender, calls, done, &mut failures);
        // Whether it was woken or not, it looks again.
        let _ = tokio::time::timeout(every, woken.notified()).await;
    }
}

/// Does what may take long.
async fn beside(mut upkeep: Upkeep, sender: Arc<Sender>, every: Duration) {
    let mut failures = Failures::lasting(CALM);
    loop {
        let mut calls = Vec::new();
        let done = upkeep.step(&mut calls).await;
        send(&sender, calls, done, &mut failures);
        tokio::time::sleep(every).await;
    }
}

fn send(sender: &Sender, calls: Vec<Call>, done: Result<(), StepError>, failures: &mut Failures) {
    calls.into_iter().for_each(|call| sender.post(call));
    match done {
        Err(error) if failures.is_logged(&error) => tracing::warn!(%error, "the relay cannot continue; it tries again"),
        Err(_) => {}
        Ok(()) if failures.is_over() => tracing::info!("the relay continues"),
        Ok(()) => {}
    }
}
