//! A runtime whose network is QUIC over TLS 1.3, and everything else tokio's (003 §3.2).
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
const IO_TIMEOUT: Duration = Duration::from_secs(60);

/// How often an idle connection says that it lives. A peer that was killed and is back is noticed after this time at the latest.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// After how long a silent connection is dead, in ms.
const IDLE_MS: u32 = 10_000;

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

/// The runtime: tokio's, but for the network.
pub struct Context {
    inner: Tokio,
    quic: Arc<Quic>,
    steady: Steady,
    /// Whether the time of day is the steady one.
    is_steady: bool,
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
        Self { inner, quic, steady: Steady { began: SystemTime::now(), since: Instant::now() }, is_steady: false }
    }

    /// The same with a steady time of day. The engine computes deadlines from it: were the system's clock set back, it would retry
    /// nothing until that time came again.
    pub fn steady(self) -> Self {
        Self { is_steady: true, ..self }
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

// From here on, everything is tokio's.

impl Supervisor for Context {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self { inner: self.inner.child(label), quic: self.quic.clone(), steady: self.steady, is_steady: self.is_steady }
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
        let Self { inner, quic, steady, is_steady } = self;
        inner.spawn(move |inner| f(Self { inner, quic, steady, is_steady }))
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

    /// Steady: a limit of rates would let nothing pass until a time came again that the system's clock was set back from.
    fn now(&self) -> SystemTime {
        self.steady.now()
    }
}

impl ReasonablyRealtime for Context {}

impl Clock for Context {
    fn current(&self) -> SystemTime {
        if self.is_steady { self.steady.now() } else { self.inner.current() }
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<> {
        self.inner.sleep(duration)
    }

    fn sleep_until(&self, deadline: SystemTime) -> impl Future<Output = ()> + Send + 'static + use<> {
        // By either clock: limits of rates take theirs from the steady one. A deadline that is past is due at once.
        let left = |now: SystemTime| deadline.duration_since(now).unwrap_or_default();
        self.sleep(left(self.current()).min(left(self.steady.now())))
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
    type Blob = <Tokio as Storage>::Blob;

    async fn open_versioned(
        &self,
        partition: &str,
        name: &[u8],
        versions: RangeInclusive<BlobVersion>,
    ) -> Result<(Self::Blob, u64, BlobVersion), Error> {
        self.inner.open_versioned(partition, name, versions).await
    }

    async fn remove(&self, partition: &str, name: Option<&[u8]>) -> Result<(), Error> {
        self.inner.remove(partition, name).await
    }

    async fn scan(&self, partition: &str) -> Result<Vec<Vec<u8>>, Error> {
        self.inner.scan(partition).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_runtime::{Listener as _, Runner as _, tokio::Runner};

    const ANYWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

    /// Runs a test over real sockets of the loopback, with a listener's address and a context that dials.
    fn over_sockets<F: Future<Output = ()>>(test: impl FnOnce(Context, Listener, Context) -> F) {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = commonware_runtime::tokio::Config::new().with_storage_directory(folder.path());
        Runner::new(runtime).start(|context| async move {
            let dials = Context::new(context.child("dials"), Quic::new(b"dials", []).expect("QUIC"));
            let dialer = dials.bind(ANYWHERE).await.expect("a free port");
            let peers = [dialer.local_addr().expect("it is bound")];
            let listens = Context::new(context.child("listens"), Quic::new(b"listens", peers).expect("QUIC"));
            let listener = listens.bind(ANYWHERE).await.expect("a free port");
            test(listens, listener, dials).await;
        });
    }

    async fn received(stream: &mut Stream, len: usize) -> Vec<u8> {
        stream.recv(len).await.expect("they come").coalesce().as_ref().to_vec()
    }

    /// bytes go both ways in order, cut anyhow, over QUIC: UDP, TLS 1.3, our protocol's name.
    #[test]
    fn peers_speak_quic_over_tls_1_3() {
        over_sockets(|_, mut listener, dials| async move {
            let address = listener.local_addr().expect("it is bound");
            let (mut sink, mut stream) = dials.dial(address).await.expect("somebody listens");
            sink.send(b"hello".to_vec()).await.expect("it is open");
            let (_, mut back, mut heard) = listener.accept().await.expect("a connection");
            assert_eq!((received(&mut heard, 2).await, received(&mut heard, 3).await), (b"he".to_vec(), b"llo".to_vec()));
            let large: Vec<u8> = (0..300_000u32).map(|byte| byte.to_le_bytes()[0]).collect();
            let sent = large.clone();
            let sending = tokio::spawn(async move { back.send(sent).await.map(|()| back) });
            assert_eq!(received(&mut stream, large.len()).await, large);
            sending.await.expect("it does not panic").expect("it is open");

            let handshake = sink.connection.handshake_data().expect("it is done");
            let handshake = handshake.downcast::<quinn::crypto::rustls::HandshakeData>().expect("TLS by rustls");
            assert_eq!(handshake.protocol.as_deref(), Some(ALPN));
            let tcp = std::net::TcpStream::connect(address);
            assert!(tcp.is_err(), "nobody listens on TCP");
        });
    }

    /// A peer that speaks another protocol, or is gone, is no peer.
    #[test]
    fn who_speaks_otherwise_is_refused() {
        over_sockets(|_, mut listener, _| async move {
            let address = listener.local_addr().expect("it is bound");
            let (_, client) = tls::configs(b"h3", transport()).expect("QUIC");
            let endpoint = Endpoint::client(ANYWHERE).expect("a free port");
            let other = endpoint.connect_with(client, address, "peer").expect("the address is good").await;
            assert!(other.is_err(), "another protocol's name");
            let quic = Quic::new(b"other", []).expect("QUIC");
            let ours = quic.dialer().expect("a free port").connect_with(quic.client.clone(), address, "peer").expect("the address is good");
            let connection = ours.await.expect("our own protocol's name");
            let (mut sending, _receiving) = connection.open_bi().await.expect("it is open");
            sending.write_all(b"x").await.expect("it is open");
            let (_, _, mut heard) = listener.accept().await.expect("a connection");
            assert_eq!(received(&mut heard, 1).await, b"x", "and none before it was taken");
            connection.close(VarInt::from_u32(0), b"gone");
            assert!(heard.recv(1).await.is_err() && heard.recv(1).await.is_err(), "a connection that is gone stays gone");
        });
    }

    /// Connections that open no stream hold every handshake that their host may have, and a peer still comes in.
    #[test]
    fn silent_connections_keep_no_peer_out() {
        over_sockets(|_, mut listener, dials| async move {
            let address = listener.local_addr().expect("it is bound");
            let silent = Quic::new(b"silent", []).expect("QUIC");
            let endpoint = silent.dialer().expect("a free port");
            let connect = || endpoint.connect_with(silent.client.clone(), address, "peer").expect("the address is good");
            let held = futures::future::join_all((0..incoming::MAX_HANDSHAKES).map(|_| connect())).await;
            assert!(held.iter().all(Result::is_ok), "the host of a peer may have as many");
            assert!(connect().await.is_err(), "and no more");
            let (mut sink, _stream) = dials.dial(address).await.expect("handshakes of its own");
            sink.send(b"x".to_vec()).await.expect("it is open");
            let (from, _, mut heard) = listener.accept().await.expect("a connection");
            assert_eq!(received(&mut heard, 1).await, b"x");
            assert_eq!(
                from,
                dials.quic.dialer().expect("it is bound").local_addr().expect("it is bound"),
                "it dials from where it listens"
            );
        });
    }

    /// A peer that was killed has said nothing. When it is back it resets the connections that it lost, and the other end drops
    /// them at its next packet; without that it would hold on to them until they are idle for too long.
    #[test]
    fn connections_of_a_killed_peer_are_reset() {
        let folder = tempfile::tempdir().expect("a folder");
        let threads = || tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
        let quic = || Quic::new(b"the same secret", []).expect("QUIC");
        let runtime = commonware_runtime::tokio::Config::new().with_storage_directory(folder.path());
        Runner::new(runtime).start(|context| async move {
            let first = threads();
            let listening = {
                let _entered = first.enter();
                quic().endpoint_at(ANYWHERE, Some(quic().server.clone())).expect("a free port")
            };
            let address = listening.local_addr().expect("it is bound");
            let accepted = first.spawn(async move { incoming::finish(listening.accept().await?).await.map(|ends| (listening, ends)) });
            let dials = Context::new(context.child("dials"), Quic::new(b"dials", []).expect("QUIC"));
            let (mut sink, mut stream) = dials.dial(address).await.expect("somebody listens");
            sink.send(b"hello".to_vec()).await.expect("it is open");
            let kept = accepted.await.expect("it does not panic").expect("a connection");
            // Nothing of the first run sends anything any more: its tasks are gone before its ends are.
            tokio::task::spawn_blocking(move || drop(first)).await.expect("it ends");
            drop(kept);

            let again = threads();
            let _back = {
                let _entered = again.enter();
                quic().endpoint_at(address, Some(quic().server.clone())).expect("the port is free again")
            };
            assert!(stream.recv(1).await.is_err(), "the connection is gone");
            let reason = sink.connection.close_reason().expect("it is closed");
            assert!(matches!(reason, quinn::ConnectionError::Reset), "{reason}");
            again.shutdown_background();
        });
    }
}
