//! Connections that come in, and what their peers ask for.

use crate::{
    handshake,
    identity::NodeKey,
    peer::CLOSED,
    pool::Pool,
    record::Record,
    source::{GenesisParts, Operations, Position},
    wire::{self, Request, Status, WireError},
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_api::model::SubmitResult;
use cowboy_serve::quic::{Admitted, Gate};
use cowboy_serve::{Caps, Client, Memory, Permit};
use cowboy_types::Hash;
use futures::future::BoxFuture;
use governor::{Quota, RateLimiter};
use quinn::{Connection, Endpoint, Incoming, SendStream};
use std::{
    net::{IpAddr, SocketAddr},
    num::NonZeroU32,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{task::JoinSet, time::timeout};

/// Connections that came in, at a time.
const CONNECTIONS: Caps = Caps { total: 64, client: 16, subnet: 32 };

/// Handshakes under way at a time.
const HANDSHAKES: Caps = Caps { total: 64, client: 8, subnet: 16 };

/// How long the TLS handshake may take.
const TLS_TIME: Duration = Duration::from_secs(10);

/// How long a peer may leave a message standing still.
const PATIENCE: Duration = Duration::from_secs(10);

/// Requests a second of one connection, and how many may come at once. Faster ones wait.
const REQUESTS_PER_SECOND: u32 = 50;
const REQUESTS_AT_ONCE: u32 = 200;

/// Bytes of requests and of answers that are held at once, in all and for each client.
const MAX_HELD: usize = 256 * 1024 * 1024;
const MAX_HELD_OF_CLIENT: usize = MAX_HELD / 4;

/// The longest request that is never refused for want of memory, in bytes: each but those with transactions.
const SHORT_REQUEST: usize = 64;

/// The node cannot answer now. The requester comes again, or asks another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// What a node serves to its peers.
pub trait Provider: Send + Sync + 'static {
    /// The newest final block.
    fn head(&self) -> Position;

    /// What the chain begins with.
    fn genesis(&self) -> GenesisParts;

    /// Where the final block of this hash is.
    fn find(&self, block: Hash, client: Client) -> BoxFuture<'static, Result<Option<Position>, Busy>>;

    /// The frame of a block, with its length, once the block is final. `None` where it is gone or damaged.
    fn block(&self, number: u64, client: Client) -> BoxFuture<'static, Option<Bytes>>;

    /// Operations of the state, with their proof. What is read is held before its bytes count, so few are read at a time. `None` also where the node has no
    /// room for more of them: who fetches a state asks for many at once, and would ban a busy node for its refusals.
    fn operations(&self, wanted: Operations, client: Client) -> BoxFuture<'static, Option<Bytes>>;

    /// A block with its receipts.
    fn copy(&self, number: u64, client: Client) -> BoxFuture<'static, Result<Option<Bytes>, Busy>>;

    /// Puts transactions into the mempool, or hands them on where `hops` is above 0. `None` where neither is possible now.
    fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8, peer: SocketAddr) -> BoxFuture<'static, Option<Vec<SubmitResult>>>;
}

/// What all connections share.
pub(crate) struct Server {
    pub(crate) key: NodeKey,
    /// This node's record as it is now.
    pub(crate) own: Box<dyn Fn() -> Record + Send + Sync>,
    pub(crate) provider: Arc<OnceLock<Arc<dyn Provider>>>,
    pub(crate) pool: Arc<Pool>,
    /// Takes the records of peers that connected, and from where.
    pub(crate) met: Box<dyn Fn(Record, IpAddr) + Send + Sync>,
    gate: Gate,
    memory: Memory,
    /// The answer to who asks for the genesis, once somebody has: it may have megabytes, and never changes.
    genesis: OnceLock<Bytes>,
    patience: Duration,
}

impl Server {
    pub(crate) fn new(
        key: NodeKey,
        own: impl Fn() -> Record + Send + Sync + 'static,
        provider: Arc<OnceLock<Arc<dyn Provider>>>,
        pool: Arc<Pool>,
        met: impl Fn(Record, IpAddr) + Send + Sync + 'static,
    ) -> Self {
        Self {
            key,
            own: Box::new(own),
            provider,
            pool,
            met: Box::new(met),
            gate: Gate::new(HANDSHAKES, CONNECTIONS),
            memory: Memory::new(MAX_HELD, MAX_HELD_OF_CLIENT),
            genesis: OnceLock::new(),
            patience: PATIENCE,
        }
    }

    /// The same with another time for messages that stand still.
    #[cfg(test)]
    pub(crate) fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same with another memory.
    #[cfg(test)]
    pub(crate) fn with_memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// Bytes of requests and answers that are held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.memory.held()
    }

    /// Takes connections for as long as the endpoint is open.
    pub(crate) async fn accept(self: Arc<Self>, endpoint: Endpoint) {
        let mut connections = JoinSet::new();
        while let Some(incoming) = endpoint.accept().await {
            while connections.try_join_next().is_some() {}
            let Some(Admitted { incoming, handshake }) = self.gate.admit(incoming) else { continue };
            let server = self.clone();
            connections.spawn(async move {
                let greeted = server.greet(incoming).await;
                drop(handshake);
                let Some(peer) = greeted else { return };
                let Ok(mut permit) = server.gate.enter(peer.remote_address().ip()) else {
                    return peer.close(CLOSED, b"all connections are in use");
                };
                let closed = permit.closable();
                tokio::select! {
                    () = server.serve(&peer, &permit) => {}
                    Ok(()) = closed => peer.close(CLOSED, b"others need the connection"),
                }
            });
        }
    }

    /// Finishes the handshakes of TLS and of the overlay.
    async fn greet(&self, incoming: Incoming) -> Option<Connection> {
        let connection = timeout(TLS_TIME, incoming).await.ok()?.ok()?;
        let own = (self.own)();
        match handshake::accept(&connection, &self.key, &own, self.patience).await {
            Ok(record) => {
                let host = Client::from(connection.remote_address().ip()).to_string();
                if self.pool.is_banned(&crate::peer::name_of(&record.id()), Some(&host)) {
                    connection.close(CLOSED, b"banned");
                    return None;
                }
                (self.met)(record, connection.remote_address().ip());
                Some(connection)
            }
            Err(error) => {
                tracing::debug!(%error, address = %connection.remote_address(), "a handshake failed");
                connection.close(CLOSED, error.to_string().as_bytes());
                None
            }
        }
    }

    /// Answers a peer's requests until it leaves, or breaks the protocol.
    async fn serve(self: Arc<Self>, connection: &Connection, permit: &Permit) {
        let [rate, burst] =
            [REQUESTS_PER_SECOND, REQUESTS_AT_ONCE].map(|count| NonZeroU32::new(count).expect("the constants are not zero"));
        let rate = RateLimiter::direct(Quota::per_second(rate).allow_burst(burst));
        // At most as many as QUIC lets the peer open.
        let mut requests: JoinSet<Result<(), WireError>> = JoinSet::new();
        let mut is_ready = false;
        loop {
            if !is_ready {
                rate.until_ready().await;
                is_ready = true;
            }
            let accepted = tokio::select! {
                accepted = connection.accept_bi() => accepted,
                Some(ended) = requests.join_next() => match ended {
                    Ok(Err(error @ (WireError::Malformed(_) | WireError::TooLarge { .. }))) => {
                        tracing::debug!(%error, address = %connection.remote_address(), "a peer breaks the protocol");
                        return connection.close(CLOSED, error.to_string().as_bytes());
                    }
                    _ => continue,
                },
            };
            let Ok((sending, receiving)) = accepted else { return };
            is_ready = false;
            permit.note_use();
            requests.spawn(self.clone().answer(connection.remote_address(), sending, receiving));
        }
    }

    async fn answer(self: Arc<Self>, peer: SocketAddr, mut sending: SendStream, mut receiving: quinn::RecvStream) -> Result<(), WireError> {
        let client = Client::from(peer.ip());
        // Sixteen streams of each connection may bring half a megabyte (decision 758).
        let (mut held, mut came) = (self.memory.hold(client), 0_usize);
        let has_room = |bytes: usize| {
            came = came.saturating_add(bytes);
            held.add(bytes) || came <= SHORT_REQUEST
        };
        let request = match wire::asked(&mut receiving, self.patience, has_room).await {
            Err(WireError::Crowded) => return self.refuse(&mut sending, Status::Busy).await,
            asked => asked?,
        };
        let Some(provider) = self.provider.get().cloned() else {
            return self.refuse(&mut sending, Status::Busy).await;
        };
        let found = match request {
            Request::Blocks { from } => {
                // The stream has no end, and its blocks count by themselves.
                drop(held);
                return self.stream(&*provider, client, from, &mut sending).await;
            }
            Request::Head => Ok(Some(provider.head().encode())),
            Request::Genesis => Ok(Some(self.genesis.get_or_init(|| provider.genesis().encode()).clone())),
            Request::Find { block } => provider.find(block, client).await.map(|found| found.map(|found| found.encode())),
            Request::Operations { wanted } => Ok(provider.operations(wanted, client).await),
            Request::Copy { number } => provider.copy(number, client).await,
            Request::Submit { hops, transactions } => {
                let transactions = transactions.into_vec().into_iter().map(|bytes| bytes.to_vec()).collect();
                let results = provider.submit(transactions, hops, peer).await.ok_or(Busy);
                results.map(|results| serde_json::to_vec(&results).ok().map(Bytes::from))
            }
        };
        let found = match found {
            Ok(Some(found)) if held.add_answer(found.len()) => found,
            Ok(None) => return self.refuse(&mut sending, Status::Missing).await,
            Ok(Some(_)) | Err(Busy) => return self.refuse(&mut sending, Status::Busy).await,
        };
        wire::send_raw(&mut sending, &[Status::Ok as u8], self.patience).await?;
        wire::send(&mut sending, &found, self.patience).await?;
        finish(&mut sending)
    }

    async fn refuse(&self, sending: &mut SendStream, status: Status) -> Result<(), WireError> {
        wire::send_raw(sending, &[status as u8], self.patience).await?;
        finish(sending)
    }

    /// Sends blocks as they become final. One that is being sent counts as held; there is one for each stream at a time.
    async fn stream(&self, provider: &dyn Provider, client: Client, from: u64, sending: &mut SendStream) -> Result<(), WireError> {
        wire::send_raw(sending, &[Status::Ok as u8], self.patience).await?;
        let mut number = from;
        loop {
            let frame = tokio::select! {
                frame = provider.block(number, client) => frame,
                _ = sending.stopped() => return Ok(()),
            };
            let mut held = self.memory.hold(client);
            match frame {
                Some(frame) if held.add_answer(frame.len()) => wire::send_raw(sending, &frame, self.patience).await?,
                // The peer asks again, or somebody else.
                _ => return finish(sending),
            }
            number = number.saturating_add(1);
        }
    }
}

fn finish(sending: &mut SendStream) -> Result<(), WireError> {
    sending.finish().map_err(|error| WireError::Ended(error.to_string()))
}
