//! A runtime whose network is QUIC over TLS 1.3, whose clock is steady, and everything else tokio's (003 §3.2).
//!
//! One connection per peer, one bidirectional stream per connection. The certificates are self-signed
//! and prove nothing; who a peer is, the handshake inside the stream proves.
//!
//! A node that was killed answers the packets of its lost connections with a stateless reset (RFC 9000 §10.3) as soon as it is
//! back, so its peers drop those connections at their next packet and connect again. For that the key of the reset tokens follows from
//! the node's secret, and is the same after a restart.

mod dials;
mod incoming;
mod resets;

pub use cowboy_serve::quic::SetupError;
pub use incoming::{Gate, Listener};

use crate::disk::{self, EngineFile, Record};
use bytes::Buf as _;
use commonware_runtime::{
    BlobVersion, Clock, Error, Handle, IoBufs, Metrics, Name, Network, Resolver, Sink as RuntimeSink, SinkOf, Spawner, Storage,
    Strategizer, Stream as RuntimeStream, StreamOf, Supervisor,
    signal::Signal,
    telemetry::metrics::{Metric, Registered},
    tokio::Context as Tokio,
};
use cowboy_serve::quic as tls;
use dials::Dials;
use governor::clock::{Clock as GovernorClock, ReasonablyRealtime};
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use rand_core::{TryCryptoRng, TryRng};
use std::{
    convert::Infallible,
    fmt,
    future::Future,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    ops::RangeInclusive,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime},
};
use tokio::time::timeout;

/// What both ends call the protocol.
const ALPN: &[u8] = b"cowboy/1";

/// How long a peer may take to accept or send bytes.
pub(crate) const IO_TIMEOUT: Duration = Duration::from_secs(60);

/// How often an idle connection says that it lives. A peer that was killed and is back is noticed after this time at the latest.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// After how long a silent connection is dead, in ms.
const IDLE_MS: u32 = 10_000;

/// What a peer has not acknowledged yet, at most. Messages queue above this, where votes come first; what was written goes in order, so a vote waits for this
/// much of what was written before it.
const SEND_WINDOW: u64 = 512 * 1024;

/// What one read takes from the stream at most.
const READ_BYTES: usize = 64 * 1024;

/// The QUIC endpoint of one node, shared by all its contexts.
pub struct Quic {
    server: ServerConfig,
    client: ClientConfig,
    settings: EndpointConfig,
    /// Who may connect.
    gate: Arc<Gate>,
    /// Who answered when it was dialed.
    dials: Dials,
    endpoint: Mutex<Option<Endpoint>>,
}

impl Quic {
    /// An endpoint with a fresh self-signed certificate.
    ///
    /// The secret is the node's own and stays the same over its restarts: connections of an earlier run are reset by it. Only hosts of
    /// these peers may connect until others are admitted.
    pub fn new(secret: &[u8], peers: impl IntoIterator<Item = SocketAddr>) -> Result<Arc<Self>, SetupError> {
        let (server, client) = tls::configs(ALPN, transport())?;
        let (settings, gate) = (resets::settings(secret), Arc::new(Gate::new(peers)));
        Ok(Arc::new(Self { server, client, settings, gate, dials: Dials::default(), endpoint: Mutex::default() }))
    }

    /// The endpoint to dial from: the listening one, where there is one.
    fn dialer(&self) -> Result<Endpoint, Error> {
        let mut endpoint = self.endpoint.lock().expect("nothing panics while it holds the lock");
        if let Some(endpoint) = &*endpoint {
            return Ok(endpoint.clone());
        }
        let client = self.endpoint_at((Ipv4Addr::UNSPECIFIED, 0).into(), None).map_err(|_| Error::ConnectionFailed)?;
        Ok(endpoint.insert(client).clone())
    }

    fn endpoint_at(&self, address: SocketAddr, server: Option<ServerConfig>) -> std::io::Result<Endpoint> {
        let runtime = quinn::default_runtime().ok_or_else(|| std::io::Error::other("no runtime"))?;
        Endpoint::new(self.settings.clone(), server, std::net::UdpSocket::bind(address)?, runtime)
    }
}

fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .send_window(SEND_WINDOW)
        .keep_alive_interval(Some(KEEP_ALIVE))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()));
    transport
}

/// The sending half of a connection. A send that is cancelled half-way closes it for good.
pub struct Sink {
    connection: Connection,
    stream: SendStream,
    is_dead: bool,
}

impl RuntimeSink for Sink {
    async fn send(&mut self, bufs: impl Into<IoBufs> + Send) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_dead, true) {
            return Err(Error::Closed);
        }
        let mut bufs: IoBufs = bufs.into();
        let write = async {
            while bufs.has_remaining() {
                let written = self.stream.write(bufs.chunk()).await.map_err(|_| Error::SendFailed)?;
                bufs.advance(written);
            }
            Ok(())
        };
        let result = timeout(IO_TIMEOUT, write).await.unwrap_or(Err(Error::Timeout));
        self.is_dead = result.is_err();
        if self.is_dead {
            self.connection.close(VarInt::from_u32(0), b"send failed");
        }
        result
    }
}

/// The receiving half of a connection. A receive that is cancelled half-way closes it for good.
pub struct Stream {
    /// Keeps the connection open as long as this half is in use.
    _connection: Connection,
    stream: RecvStream,
    ahead: bytes::Bytes,
    is_dead: bool,
}

impl Stream {
    async fn fill(&mut self, len: usize) -> Result<Vec<u8>, Error> {
        let mut filled = Vec::with_capacity(len);
        loop {
            let take = self.ahead.len().min(len - filled.len());
            filled.extend_from_slice(&self.ahead.split_to(take));
            if filled.len() == len {
                return Ok(filled);
            }
            let chunk = self.stream.read_chunk(READ_BYTES, true).await.map_err(|_| Error::RecvFailed)?;
            self.ahead = chunk.ok_or(Error::RecvFailed)?.bytes;
        }
    }
}

impl RuntimeStream for Stream {
    async fn recv(&mut self, len: usize) -> Result<IoBufs, Error> {
        if std::mem::replace(&mut self.is_dead, true) {
            return Err(Error::Closed);
        }
        let result = timeout(IO_TIMEOUT, self.fill(len)).await.unwrap_or(Err(Error::Timeout));
        self.is_dead = result.is_err();
        result.map(IoBufs::from)
    }

    fn peek(&self, max: usize) -> &[u8] {
        &self.ahead[..self.ahead.len().min(max)]
    }
}

fn halves(connection: Connection, sending: SendStream, receiving: RecvStream) -> (Sink, Stream) {
    let sink = Sink { connection: connection.clone(), stream: sending, is_dead: false };
    (sink, Stream { _connection: connection, stream: receiving, ahead: bytes::Bytes::new(), is_dead: false })
}

/// A file of tokio's runtime.
type File = <Tokio as Storage>::Blob;

/// The runtime: tokio's, but for the network and the clock, and for when a lone validator's files are synced.
pub struct Context {
    inner: Tokio,
    quic: Arc<Quic>,
    steady: Steady,
    /// The record of votes, where it waits for other files to be synced with.
    record: Option<Arc<Record<File>>>,
}

/// A clock that no change of the system's clock moves: the time when it was made, and what has passed since.
#[derive(Clone, Copy)]
struct Steady {
    began: SystemTime,
    since: Instant,
}

impl Steady {
    fn now(self) -> SystemTime {
        self.began + self.since.elapsed()
    }
}

impl Context {
    /// This runtime with QUIC as its network.
    pub fn new(inner: Tokio, quic: Arc<Quic>) -> Self {
        Self { inner, quic, steady: Steady { began: SystemTime::now(), since: Instant::now() }, record: None }
    }

    /// The same for a validator of a dev chain that signs alone: its record of votes is synced with its other files (decision 776).
    pub(crate) fn alone(self) -> Self {
        Self { record: Some(Arc::default()), ..self }
    }
}

impl Network for Context {
    type Listener = Listener;

    async fn bind(&self, socket: SocketAddr) -> Result<Listener, Error> {
        let endpoint = self.quic.endpoint_at(socket, Some(self.quic.server.clone())).map_err(|error| {
            tracing::error!(
                "cannot listen for validators at {socket}: {error}; choose another address for `listen`, or end what uses its port"
            );
            Error::BindFailed
        })?;
        let listener = Listener::new(&endpoint, self.quic.gate.clone())?;
        *self.quic.endpoint.lock().expect("nothing panics while it holds the lock") = Some(endpoint);
        Ok(listener)
    }

    async fn dial(&self, socket: SocketAddr) -> Result<(SinkOf<Self>, StreamOf<Self>), Error> {
        let connecting = self.quic.dialer()?.connect_with(self.quic.client.clone(), socket, "peer").map_err(|_| Error::ConnectionFailed)?;
        let connected = connecting.await;
        self.quic.dials.note(socket, connected.is_ok());
        let connection = connected.map_err(|_| Error::ConnectionFailed)?;
        let (sending, receiving) = connection.open_bi().await.map_err(|_| Error::ConnectionFailed)?;
        Ok(halves(connection, sending, receiving))
    }
}

// From here on, everything but the clock and the storage is tokio's.

impl Supervisor for Context {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self { inner: self.inner.child(label), quic: self.quic.clone(), steady: self.steady, record: self.record.clone() }
    }

    fn with_attribute(self, key: &'static str, value: impl fmt::Display) -> Self {
        Self { inner: self.inner.with_attribute(key, value), ..self }
    }
}

impl Spawner for Context {
    fn shared(self, blocking: bool) -> Self {
        Self { inner: self.inner.shared(blocking), ..self }
    }

    fn dedicated(self) -> Self {
        Self { inner: self.inner.dedicated(), ..self }
    }

    fn spawn<F, Fut, T>(self, f: F) -> Handle<T>
    where
        F: FnOnce(Self) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let Self { inner, quic, steady, record } = self;
        inner.spawn(move |inner| f(Self { inner, quic, steady, record }))
    }

    async fn stop(self, value: i32, timeout: Option<Duration>) -> Result<(), Error> {
        self.inner.stop(value, timeout).await
    }

    fn stopped(&self) -> Signal {
        self.inner.stopped()
    }
}

impl Strategizer for Context {
    fn strategy(&self, parallelism: NonZeroUsize) -> commonware_parallel::Rayon {
        self.inner.strategy(parallelism)
    }
}

impl Metrics for Context {
    fn register<N: Into<String>, H: Into<String>, M: Metric>(&self, name: N, help: H, metric: M) -> Registered<M> {
        self.inner.register(name, help, metric)
    }

    fn encode(&self) -> String {
        self.inner.encode()
    }
}

impl GovernorClock for Context {
    type Instant = SystemTime;

    fn now(&self) -> SystemTime {
        self.current()
    }
}

impl ReasonablyRealtime for Context {}

impl Clock for Context {
    /// Steady: the engine, the network of validators and limits of rates compute deadlines from it. Were the system's clock set back,
    /// they would dial, ask and let through nothing until that time came again (decision 631).
    fn current(&self) -> SystemTime {
        self.steady.now()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.inner.sleep(duration)
    }

    fn sleep_until(&self, deadline: SystemTime) -> impl Future<Output = ()> + Send + 'static + use<> {
        // A deadline that is past is due at once.
        self.sleep(deadline.duration_since(self.current()).unwrap_or_default())
    }
}

impl Resolver for Context {
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        self.inner.resolve(host).await
    }
}

impl TryRng for Context {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.inner.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.inner.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.inner.try_fill_bytes(bytes)
    }
}

impl TryCryptoRng for Context {}

impl Storage for Context {
    type Blob = EngineFile<File>;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(Self::Blob, u64, BlobVersion), Error> {
        let record = self.record.as_deref();
        let Some(own) = record.filter(|_| disk::is_record(partition)) else {
            let (file, size, version) = self.inner.open_versioned(partition, name, versions).await?;
            return Ok((EngineFile::new(file, record, false), size, version));
        };
        let made = own.take(partition, name);
        let (file, size, version) = match made {
            // What could not be made ahead is tried again.
            Some(made) => match made.await {
                Ok(Ok(made)) => made,
                _ => self.inner.open_versioned(partition, name, versions.clone()).await?,
            },
            None => {
                own.sync().await?;
                self.inner.open_versioned(partition, name, versions.clone()).await?
            }
        };
        if size == 0 {
            let ahead = self.inner.child("ahead");
            let open = |partition: String, name: Vec<u8>| {
                ahead.spawn(move |context| async move { context.open_versioned(&partition, &name, versions).await })
            };
            own.make_next(partition, name, open);
        }
        Ok((EngineFile::new(file, record, true), size, version))
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        if let Some(own) = self.record.as_deref().filter(|_| name.is_none() && disk::is_record(partition)) {
            own.settle(partition).await?;
        }
        self.inner.remove(partition, name).await
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.inner.scan(partition).await
    }
}

#[cfg(test)]
mod tests;
