//! Web requests in, actors out (004): the ingress daemon.
//!
//! A gateway reads from a node in its own process: the devnet's, or a follower that verifies and executes another node's blocks.
//! GET and HEAD run the actor's handler on committed state; what changes something becomes a transaction that the gateway signs.
//!
//! Absences: no handler runs on anything but final state; nothing of an actor reaches another's visitors; a request is never
//! retried with another id.

mod acme;
mod arriving;
mod attempts;
mod bodies;
mod buckets;
mod budgets;
mod certificates;
mod command;
mod compress;
mod conditional;
mod config;
mod cors;
mod disagreement;
mod dns;
mod domains;
mod handle;
mod host;
mod ids;
mod journal;
mod limits;
mod membership;
mod metrics;
mod pages;
mod pooled;
mod proofs;
mod query;
mod raised;
mod refusal;
mod requests;
mod resolver;
mod sending;
mod server;
mod sharer;
mod shown;
mod signed;
mod signing;
mod source;
mod state;
#[cfg(test)]
mod testing;
mod tls;
mod turns;
mod witness;

pub use config::{Config, Limits};
pub use dns::Dns;
pub use domains::Domains;
pub use membership::Registration;
pub use refusal::ERROR_HEADER;
pub use server::{Gateway, Listener, ServeError};
pub use source::{Source, Upstream};
pub use tls::{Acme, CertificateError, Tls};

use cowboy_node::NodeHandle;
use cowboy_serve::{Bounds, Memory, Slots};
use cowboy_types::signing::PrivateKey;
use std::{path::PathBuf, sync::Arc};

/// What a gateway answers from.
#[derive(Clone)]
pub struct Backend {
    /// The node whose state it reads.
    pub node: NodeHandle,
    /// Where its transactions go.
    pub upstream: Upstream,
    /// The registered gateway's key; without one it only reads.
    pub key: Option<PrivateKey>,
    /// The file of the transactions that it signed. Without one a nonce may be signed for two requests, which costs a gateway a part of
    /// its stake: for chains that are reverted only.
    pub journal: Option<PathBuf>,
    /// What it says of itself where it registers by itself.
    pub registration: Option<Registration>,
    /// Whether it sends heartbeats as blocks go by, or only when a command needs one.
    pub keeps_up: bool,
    /// Where its blocks come from.
    pub source: Source,
    /// The connections that it may have open, with the other servers of its process.
    pub slots: Slots,
}

/// Bytes of bodies, of requests and of answers, that are held at once.
const MAX_BODIES: usize = 256 * 1024 * 1024;

/// The most of them of one client, unless the configuration says otherwise; and the most of one witness.
const BODIES_OF_CLIENT: usize = MAX_BODIES / 8;

/// What every request sees.
pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) node: NodeHandle,
    pub(crate) newest: Arc<state::Newest>,
    pub(crate) runner: query::Runner,
    pub(crate) commander: Option<command::Commander>,
    pub(crate) requests: Arc<requests::Requests>,
    pub(crate) limits: limits::Limits,
    pub(crate) metrics: metrics::Metrics,
    pub(crate) membership: membership::Membership,
    pub(crate) keeps_up: bool,
    pub(crate) source: Source,
    pub(crate) slots: Slots,
    pub(crate) bodies: Memory,
    /// The places for answers with proofs, and how many of them a client has.
    pub(crate) witnesses: Slots,
    pub(crate) witnesses_of_client: usize,
    /// The places for commands under way.
    pub(crate) commands: Slots,
    pub(crate) challenges: Arc<acme::Challenges>,
    /// Domains of other zones; nothing where the gateway serves none.
    pub(crate) domains: Option<Arc<domains::Names>>,
}

impl Shared {
    fn new(config: Config, backend: Backend) -> Result<Self, ServeError> {
        let cycles = config.limits.command_cycles;
        let runner = query::Runner::start(config.limits.queries_at_once, config.limits.client_queries_at_once);
        let runner = runner.map_err(ServeError::Threads)?;
        let metrics = metrics::Metrics::new();
        let signing = signing::Signing::new(server::commands(backend.journal.as_deref())?, metrics.signing.clone());
        let requests = Arc::new(requests::Requests::new(backend.node.config().genesis.chain.genesis));
        let newest = Arc::new(state::Newest::new(backend.node.clone()));
        let (runs, reads, sent) = (runner.clone(), newest.clone(), requests.clone());
        let commander = |key| command::Commander::new(key, backend.upstream, runs, reads, cycles, signing, sent);
        Ok(Self {
            newest,
            commander: backend.key.map(commander),
            runner,
            requests,
            limits: limits::Limits::new(&config.limits, &backend.node.config().genesis.chain.params),
            metrics,
            membership: membership::Membership::new(backend.registration, backend.source.clone()),
            keeps_up: backend.keeps_up,
            source: backend.source,
            slots: backend.slots,
            bodies: Memory::new(MAX_BODIES, config.limits.client_body_bytes),
            witnesses: Slots::new(witness::WITNESSES),
            witnesses_of_client: config.limits.client_queries_at_once.unwrap_or(Bounds::of_machine().per_client),
            commands: Slots::new(config.limits.commands_at_once),
            challenges: Arc::default(),
            domains: config
                .domains
                .clone()
                .map(|settings| Arc::new(domains::Names::new(settings, backend.node.config().genesis.chain.chain_id))),
            node: backend.node,
            config,
        })
    }
}
