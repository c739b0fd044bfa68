//! A running proxy.

use crate::behaviour::{Behaviour, Honest};
use crate::keys::{self, Keys};
use crate::member::{CALM, Identity, Member};
use crate::server::{App, Server};
use crate::store::{self, Store};
use cowboy_api::ApiError;
use cowboy_api::sender::Sender;
use cowboy_secrets::proxy::proof_message;
use cowboy_service::tls;
use cowboy_service::{Chain, ChainError, Failures};
use cowboy_types::Hash;
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::{Amount, ChainId};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What a proxy is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// The node's URL. Nothing that it says is believed without a proof.
    pub node: String,
    /// The genesis hash and the validators' group key; none where the node's are believed, for development.
    pub trusted: Option<(Hash, [u8; 96])>,
    /// The folder of its secrets.
    pub state: PathBuf,
    /// Where it listens.
    pub listen: SocketAddr,
    /// The host name or IPv6 address at which others reach it.
    pub endpoint: String,
    /// The port at which others reach it; that of `listen` where it is 0.
    pub port: u16,
    /// The stake with which it registers.
    pub stake: Amount,
    /// The time between looks at the chain.
    pub every: Duration,
}

/// Why a proxy does not run.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The node refuses or is silent.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The folder cannot be used.
    #[error("the folder {folder} cannot be used: {source}\n  fix: check its permissions")]
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

/// Names of the files in a proxy's folder that do not open with the key of its account. The proxy may be running.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn unreadable(state: &Path, account: &PrivateKey) -> std::io::Result<Vec<String>> {
    store::unreadable(state, &keys::of_store(account))
}

/// A running proxy. Dropping it ends it; its folder keeps what matters.
pub struct Proxy {
    task: JoinHandle<()>,
    address: SocketAddr,
    _server: Server,
}

impl Proxy {
    /// Starts one: it listens, registers, and takes part from then on.
    ///
    /// # Errors
    ///
    /// If the folder, the address or the node cannot be used.
    pub async fn start(config: Config, account: &PrivateKey) -> Result<Self, ProxyError> {
        Self::start_with(config, account, Arc::new(Honest)).await
    }

    /// Starts one that behaves in another way.
    ///
    /// # Errors
    ///
    /// As [`Proxy::start`].
    pub async fn start_with(config: Config, account: &PrivateKey, behaviour: Arc<dyn Behaviour>) -> Result<Self, ProxyError> {
        let folder = |source| ProxyError::Folder { folder: config.state.clone(), source };
        let store = Arc::new(Store::open(&config.state, &keys::of_store(account)).map_err(folder)?);
        let tls = tls::Identity::open(&config.state).map_err(folder)?;
        let chain = Arc::new(Chain::connect(&config.node, config.trusted).await?);
        let listening = |source| ProxyError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(listening)?;
        let address = listener.local_addr().map_err(listening)?;
        let keys = Keys::of(account);
        let app = Arc::new(App::new(chain.clone(), store.clone(), keys.clone(), behaviour.clone()));
        let server = Server::start(listener, TlsAcceptor::from(Arc::new(tls.config)), app);
        let proof = keys.sign(&proof_message(&chain.genesis, account.address(), &keys.public()));
        let identity = Identity {
            address: account.address(),
            keys,
            proof,
            endpoint: config.endpoint.clone(),
            port: if config.port == 0 { address.port() } else { config.port },
            certificate: tls.certificate,
            stake: config.stake,
            behaviour,
        };
        let sender = Sender::start(chain.client.clone(), account.clone(), ChainId(chain.chain_id));
        tracing::info!(proxy = %account.address(), %address, "the proxy listens");
        let task = tokio::spawn(work(Member::new(identity), chain, store, sender, config.every));
        Ok(Self { task, address, _server: server })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn work(mut member: Member, chain: Arc<Chain>, store: Arc<Store>, sender: Sender, every: Duration) {
    let mut failures = Failures::lasting(CALM);
    loop {
        match member.step(&chain, &store).await {
            Ok(calls) => {
                calls.into_iter().for_each(|call| sender.post(call));
                if failures.is_over() {
                    tracing::info!("the proxy continues");
                }
            }
            Err(error) if failures.is_logged(&error) => tracing::warn!(%error, "the proxy cannot continue; it tries again"),
            Err(_) => {}
        }
        tokio::time::sleep(every).await;
    }
}
