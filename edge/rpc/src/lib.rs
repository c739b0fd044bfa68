//! The HTTP server of the node: every row of `cowboy_api::table`, the explorer and streams; and the operator's endpoint, with the metrics.
//!
//! [`Listeners::bind`] takes the ports, [`Listeners::serve`] answers, [`Server::stop`] ends it. The match in `routes` has one arm for each row, so a row
//! without a handler does not compile, and nothing is served that has no row but the explorer and the documentation.

#![allow(clippy::result_large_err, reason = "a refusal is the rare way out, and is answered at once")]

pub mod admin;
mod explorer;
mod forwarded;
mod limits;
mod methods;
mod metrics;
mod notices;
mod origin;
mod peers;
mod read;
mod refusal;
mod routes;
mod standing;
mod swagger;
mod trace;

pub use admin::{Admin, LogFilter};
pub use explorer::PATH as EXPLORER_PATH;
pub use limits::{FAUCET_PER_MINUTE, REQUESTS_PER_SECOND};

use axum::{
    Router,
    body::{Body, Bytes},
    http::Request,
    response::Response,
};
use cowboy_api::{ApiError, error::TOO_MANY_CONNECTIONS};
use cowboy_chain::ChainConfig;
use cowboy_node::NodeHandle;
use cowboy_overlay::Pool;
use cowboy_serve::{Cached, Settings, Slots};
use cowboy_types::signing::PrivateKey;
use limits::Limits;
use metrics::Metrics;
use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock, atomic::AtomicBool},
    time::{Duration, Instant},
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};
use tower::Service as _;

/// What a server answers from.
#[derive(Clone)]
pub struct Backend {
    /// The node.
    pub node: NodeHandle,
    /// What never changes while the chain lives.
    pub chain: Arc<ChainConfig>,
    /// The account that the faucet pays from and that signs dev instructions; none on other chains.
    pub faucet: Option<PrivateKey>,
    /// The nodes that a follower forwards submitted transactions to; none where the node proposes blocks itself.
    pub upstream: Option<Arc<Pool>>,
    /// Whether the node that this one follows does not answer; false where it follows none.
    pub is_source_away: Arc<AtomicBool>,
    /// What only the operator sees and changes.
    pub admin: Admin,
}

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Where the operator's endpoint listens, an address of the loopback; `None` for 127.0.0.1 and the port after that of the API.
    pub admin: Option<SocketAddr>,
    /// Requests a second of one client, or no limit.
    pub requests_per_second: Option<u32>,
    /// The connections that it may have open, with the other servers of its process.
    pub slots: Slots,
    /// What one connection may take.
    pub connections: Settings,
}

impl Config {
    /// A server without a limit of requests a second, whose connections may take what is usual.
    pub fn new(listen: SocketAddr, slots: Slots) -> Self {
        let connections = Settings { head_bytes: 32 * 1024, ..Settings::of_service(256) };
        Self { listen, admin: None, requests_per_second: None, slots, connections }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The operator's endpoint would be reached by others.
    #[error(
        "{0} is no address of the loopback, and the operator's endpoint listens nowhere else: give one like 127.0.0.1:4001 to --admin, and reach it from another computer through SSH"
    )]
    Exposed(SocketAddr),
    /// The port is taken, or not ours to take.
    #[error("cannot listen at {address}: {source}; another node may be running there: stop it, or take another port with {option}")]
    Listen {
        /// The option that names the address.
        option: &'static str,
        /// The socket address.
        address: SocketAddr,
        /// The underlying error.
        source: std::io::Error,
    },
    /// The system has no room for worker threads.
    #[error("cannot start the API's worker threads: {0}; raise the limits of processes and memory (ulimit -u, ulimit -v)")]
    Threads(std::io::Error),
}

/// What every handler sees.
pub(crate) struct Shared {
    pub(crate) node: NodeHandle,
    pub(crate) chain: Arc<ChainConfig>,
    pub(crate) faucet: Option<methods::faucet::Payer>,
    pub(crate) upstream: Option<Arc<Pool>>,
    pub(crate) forwarded: forwarded::Forwarded,
    pub(crate) limits: Limits,
    pub(crate) slots: Slots,
    pub(crate) connections: Settings,
    pub(crate) notices: Arc<notices::Notices>,
    pub(crate) verifier: explorer::Verifier,
    pub(crate) last_block: standing::LastBlock,
    pub(crate) is_source_away: Arc<AtomicBool>,
    pub(crate) metrics: Metrics,
    /// The page of the metrics.
    pub(crate) page: Cached<Bytes>,
    /// Peers that the node is connected to, and whether hosts answer it.
    pub(crate) network: Cached<(usize, bool)>,
    /// The places for streams of blocks. A client has as many of them as connections.
    pub(crate) followers: Slots,
    /// The places for requests for proofs.
    pub(crate) provers: Slots,
    pub(crate) started: Instant,
    pub(crate) sites: OnceLock<Sites>,
    pub(crate) admin: Admin,
    pub(crate) endpoints: Endpoints,
}

/// Where the servers are, and how they are set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoints {
    pub(crate) api: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) requests_per_second: Option<u32>,
}

/// How many requests were answered under a name.
pub type Served = Box<dyn Fn(&str) -> u64 + Send + Sync>;

/// The gateway of the same process.
pub struct Sites {
    /// The port at which it serves names below `localhost`.
    pub port: u16,
    /// Its counts.
    pub served: Served,
}

/// Shared by all requests.
pub(crate) type App = Arc<Shared>;

/// A server that runs.
pub struct Server {
    app: App,
    stop: watch::Sender<bool>,
    tasks: JoinSet<()>,
    /// Ended with the server.
    _background: JoinSet<()>,
}

/// Ports that are ours, before anything answers there. Requests that come early wait.
pub struct Listeners {
    api: TcpListener,
    admin: TcpListener,
    endpoints: Endpoints,
    limits: Limits,
    slots: Slots,
    connections: Settings,
}

impl Listeners {
    /// Takes the port of the API, and that of the operator's endpoint. Port 0 takes any free port for each.
    pub async fn bind(config: &Config) -> Result<Self, ServeError> {
        let api = listen(config.listen, "--port").await?;
        let address = api.local_addr().map_err(|source| ServeError::Listen { option: "--port", address: config.listen, source })?;
        let wanted = admin::address(config.admin, address, config.listen.port() == 0)?;
        let admin = listen(wanted, "--admin").await?;
        let admin_address = admin.local_addr().map_err(|source| ServeError::Listen { option: "--admin", address: wanted, source })?;
        let endpoints = Endpoints { api: address, admin: admin_address, requests_per_second: config.requests_per_second };
        let limits = Limits::start(config.requests_per_second).map_err(ServeError::Threads)?;
        Ok(Self { api, admin, endpoints, limits, slots: config.slots.clone(), connections: config.connections.clone() })
    }

    /// Where the API is.
    pub fn address(&self) -> SocketAddr {
        self.endpoints.api
    }

    /// Begins to answer.
    pub fn serve(self, backend: Backend) -> Server {
        let app = Arc::new(Shared {
            node: backend.node,
            chain: backend.chain,
            faucet: backend.faucet.map(methods::faucet::Payer::new),
            upstream: backend.upstream,
            forwarded: forwarded::Forwarded::default(),
            limits: self.limits,
            slots: self.slots,
            connections: self.connections,
            notices: notices::Notices::new(),
            verifier: explorer::Verifier::default(),
            last_block: standing::LastBlock::new(),
            is_source_away: backend.is_source_away,
            metrics: Metrics::new(),
            page: Cached::new(FRESH),
            network: Cached::new(FRESH),
            followers: Slots::new(limits::FOLLOWERS),
            provers: Slots::new(limits::PROVERS),
            started: Instant::now(),
            sites: OnceLock::new(),
            admin: backend.admin,
            endpoints: self.endpoints,
        });
        let stop = watch::Sender::new(false);
        let (mut tasks, mut background) = (JoinSet::new(), JoinSet::new());
        background.spawn(standing::LastBlock::watch(app.clone()));
        background.spawn(tidy(app.clone()));
        background.spawn(notices::Notices::feed(app.clone(), app.node.subscribe()));
        let own = Slots::new(admin::CONNECTIONS);
        let refused = serde_json::to_string(&ApiError::of_fault(TOO_MANY_CONNECTIONS)).expect("errors are JSON");
        for (name, slots, listener, router) in
            [("api", app.slots.clone(), self.api, routes::api(&app)), ("admin", own, self.admin, routes::admin(&app))]
        {
            let server = cowboy_serve::Server::refusing(name, slots, app.connections.clone(), ("application/json", refused.as_str()));
            tasks.spawn(server.accept(listener, None, stop.subscribe(), DRAIN, move |peer, request| answer(router.clone(), peer, request)));
        }
        Server { app, stop, tasks, _background: background }
    }
}

/// How long requests under way have when the server stops. Streams never end by themselves.
const DRAIN: Duration = Duration::from_secs(1);

/// How long the node's metrics count as those of this moment: to write all of them takes some milliseconds.
const FRESH: Duration = Duration::from_secs(1);

/// How often what nobody asks for any more is forgotten.
const TIDY_EVERY: Duration = Duration::from_secs(60);

async fn tidy(app: App) {
    loop {
        tokio::time::sleep(TIDY_EVERY).await;
        app.limits.tidy();
    }
}

/// Answers one request of a client.
async fn answer(mut router: Router, peer: SocketAddr, request: Request<hyper::body::Incoming>) -> Response {
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(limits::Peer(peer));
    match router.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn listen(address: SocketAddr, option: &'static str) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen { option, address, source })
}

impl Server {
    /// Names a gateway of the same process, whose URLs and counts go with the names; the first one counts.
    pub fn serve_sites(&self, sites: Sites) {
        let _ = self.app.sites.set(sites);
    }

    /// Where the API is.
    pub fn address(&self) -> SocketAddr {
        self.app.endpoints.api
    }

    /// Where the operator's endpoint is.
    pub fn admin_address(&self) -> SocketAddr {
        self.app.endpoints.admin
    }

    /// Takes no more requests, gives those under way a second, and ends.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}
