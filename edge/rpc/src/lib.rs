//! The HTTP server of the node: every row of `cowboy_api::table`, the explorer, streams and metrics.
//!
//! [`Listeners::bind`] takes the ports, [`Listeners::serve`] answers, [`Server::stop`] ends it. The match in `routes` has one arm for each row, so a row
//! without a handler does not compile, and nothing is served that has no row but the explorer and the documentation.

#![allow(clippy::result_large_err, reason = "a refusal is the rare way out, and is answered at once")]

mod explorer;
mod limits;
mod methods;
mod metrics;
mod read;
mod refusal;
mod routes;
mod trace;

pub use explorer::PATH as EXPLORER_PATH;
pub use limits::{FAUCET_PER_MINUTE, REQUESTS_PER_SECOND};

use cowboy_api::Client;
use cowboy_chain::ChainConfig;
use cowboy_node::NodeHandle;
use cowboy_types::signing::PrivateKey;
use limits::Limits;
use metrics::Metrics;
use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Instant,
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};

/// What a server answers from.
#[derive(Clone)]
pub struct Backend {
    /// The node.
    pub node: NodeHandle,
    /// What never changes while the chain lives.
    pub chain: Arc<ChainConfig>,
    /// The account that the faucet pays from and that signs dev instructions; none on other chains.
    pub faucet: Option<PrivateKey>,
    /// The node that a follower forwards submitted transactions to; none where the node proposes blocks itself.
    pub upstream: Option<Client>,
}

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens. Metrics are at the next port.
    pub listen: SocketAddr,
    /// Requests a second, or no limit.
    pub requests_per_second: Option<u32>,
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or not ours to take.
    #[error("cannot listen at {address}: {source}; another node may be running there: stop it, or take another port with --port")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

/// What every handler sees.
pub(crate) struct Shared {
    pub(crate) node: NodeHandle,
    pub(crate) chain: Arc<ChainConfig>,
    pub(crate) faucet: Option<methods::faucet::Payer>,
    pub(crate) upstream: Option<Client>,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) started: Instant,
    pub(crate) served: OnceLock<Served>,
}

/// How many requests were answered under a name.
pub type Served = Box<dyn Fn(&str) -> u64 + Send + Sync>;

/// Shared by all requests.
pub(crate) type App = Arc<Shared>;

/// A server that runs.
pub struct Server {
    address: SocketAddr,
    app: App,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

/// Ports that are ours, before anything answers there. Requests that come early wait.
#[derive(Debug)]
pub struct Listeners {
    api: TcpListener,
    metrics: TcpListener,
    address: SocketAddr,
    requests_per_second: Option<u32>,
}

impl Listeners {
    /// Takes the port of the API and, one further, that of the metrics. Port 0 takes any free port for each.
    pub async fn bind(config: &Config) -> Result<Self, ServeError> {
        let api = listen(config.listen).await?;
        let address = api.local_addr().map_err(|source| ServeError::Listen { address: config.listen, source })?;
        let metrics_port = if config.listen.port() == 0 { 0 } else { address.port().saturating_add(1) };
        let metrics = listen(SocketAddr::new(address.ip(), metrics_port)).await?;
        Ok(Self { api, metrics, address, requests_per_second: config.requests_per_second })
    }

    /// Where the API is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins to answer.
    pub fn serve(self, backend: Backend) -> Server {
        let app = Arc::new(Shared {
            node: backend.node,
            chain: backend.chain,
            faucet: backend.faucet.map(methods::faucet::Payer::new),
            upstream: backend.upstream,
            limits: Limits::new(self.requests_per_second),
            metrics: Metrics::new(),
            started: Instant::now(),
            served: OnceLock::new(),
        });
        let stop = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        for (listener, router) in [(self.api, routes::api(&app)), (self.metrics, routes::metrics(&app))] {
            let mut stopped = stop.subscribe();
            tasks.spawn(async move {
                let ended = axum::serve(listener, router).with_graceful_shutdown(async move {
                    // A server that is dropped stops too.
                    let _ = stopped.wait_for(|stopped| *stopped).await;
                });
                if let Err(error) = ended.await {
                    tracing::error!(%error, "the server ended");
                }
            });
        }
        Server { address: self.address, app, stop, tasks }
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
}

impl Server {
    /// Names a gateway of the same process, whose counts go with the names; the first one counts.
    pub fn count_names(&self, served: Served) {
        let _ = self.app.served.set(served);
    }

    /// Where the API is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more requests, gives those under way a second, and ends.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        // Streams never end by themselves.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), all).await;
        self.tasks.abort_all();
    }
}
