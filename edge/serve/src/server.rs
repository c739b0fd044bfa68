//! The loop that accepts connections and serves HTTP on them.

use crate::{
    Client, Permit, Slots,
    idle::{Activity, Closed, Idle},
    rarely::Rarely,
    sending::{PIECE, Sending},
    taking::STREAMS,
};
use bytes::Bytes;
use http_body::Body;
use hyper::{Request, Response, StatusCode, Version, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{
        conn::auto,
        graceful::{GracefulShutdown, Watcher},
    },
};
use std::{
    convert::Infallible,
    error::Error,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// A response that refuses a connection, with this content type and content.
fn refusal((kind, content): (&str, &str)) -> Vec<u8> {
    let head = format!("content-type: {kind}\r\ncontent-length: {}\r\nretry-after: 1\r\nconnection: close", content.len());
    format!("HTTP/1.1 503 Service Unavailable\r\n{head}\r\n\r\n{content}").into_bytes()
}

/// After how long without a byte the system asks a peer whether it is still there.
const PROBE_AFTER: Duration = Duration::from_secs(60);

/// What one connection may take.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Connections of one client at once.
    pub per_client: usize,
    /// The time in which a request's head must come, from its first byte or from the beginning of the connection; also that of a TLS handshake.
    pub head_timeout: Duration,
    /// The time after which a connection ends: without a request under way, or with answers of which the client takes nothing.
    pub idle_timeout: Duration,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Header lines of a request.
    pub head_lines: usize,
}

impl Settings {
    /// What a connection of a service may take whose clients are programs.
    pub const fn of_service(per_client: usize) -> Self {
        let (head_timeout, idle_timeout) = (Duration::from_secs(10), Duration::from_secs(60));
        Self { per_client, head_timeout, idle_timeout, head_bytes: 16 * 1024, head_lines: 64 }
    }
}

/// A server of HTTP/1.1 and HTTP/2 on any number of ports.
pub struct Server {
    name: &'static str,
    slots: Slots,
    settings: Settings,
    refusal: Vec<u8>,
    builder: auto::Builder<TokioExecutor>,
}

impl Server {
    /// A server that takes its connections from `slots`. The log calls it by `name`.
    pub fn new(name: &'static str, slots: Slots, settings: Settings) -> Arc<Self> {
        Self::refusing(name, slots, settings, ("text/plain", "Too many connections: close some, or come later."))
    }

    /// The same, where a connection that is refused gets a response with this content type and content.
    pub fn refusing(name: &'static str, slots: Slots, settings: Settings, content: (&str, &str)) -> Arc<Self> {
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            // It would also count the silence between requests. [`Idle`] watches heads.
            .header_read_timeout(None)
            .max_buf_size(settings.head_bytes.max(8_192))
            .max_headers(settings.head_lines)
            .half_close(false);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS)
            // What lies here counts nowhere, and a client that takes nothing could have it filled for each of its requests.
            .max_send_buf_size(PIECE)
            .max_header_list_size(u32::try_from(settings.head_bytes).unwrap_or(u32::MAX));
        Arc::new(Self { name, slots, settings, refusal: refusal(content), builder })
    }

    /// Answers what comes to a port until told to stop; requests under way then have the time `drain`.
    pub async fn accept<H, F, B>(
        self: Arc<Self>,
        tcp: TcpListener,
        tls: Option<TlsAcceptor>,
        mut stopped: watch::Receiver<bool>,
        drain: Duration,
        handler: H,
    ) where
        H: Fn(SocketAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let graceful = GracefulShutdown::new();
        let (mut connections, mut failed, mut refused) = (JoinSet::new(), Rarely::default(), Rarely::default());
        loop {
            let accepted = tokio::select! {
                accepted = tcp.accept() => accepted,
                // A server that is dropped stops too.
                _ = stopped.wait_for(|stopped| *stopped) => break,
            };
            while connections.try_join_next().is_some() {}
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    if failed.is_due(Instant::now()) {
                        tracing::warn!(server = self.name, %error, "a connection was not accepted");
                    }
                    // Where that is for want of file descriptors, others end in a moment.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let client = Client::from(peer.ip());
            let slot = match self.slots.take(peer.ip(), self.settings.per_client) {
                Ok(slot) => slot,
                Err(full) => {
                    if refused.is_due(Instant::now()) {
                        tracing::warn!(server = self.name, %client, refused = self.slots.refused(), "connections are refused: {full}");
                    }
                    if tls.is_none() {
                        // Whoever cannot take it at once learns from the end of the connection.
                        let _ = stream.try_write(&self.refusal);
                    }
                    continue;
                }
            };
            let (server, tls, handler, watcher) = (self.clone(), tls.clone(), handler.clone(), graceful.watcher());
            connections.spawn(async move { server.connected(stream, tls, peer, slot, watcher, handler).await });
        }
        drop(tcp);
        // What does not end by itself is cut off with the set of connections.
        let _ = tokio::time::timeout(drain, graceful.shutdown()).await;
    }

    /// Serves a connection to its end, or until it is closed for another. That must not wait for the connection to read or write: a client decides whether
    /// it does.
    async fn connected<H, F, B>(
        &self,
        stream: TcpStream,
        tls: Option<TlsAcceptor>,
        peer: SocketAddr,
        mut slot: Permit,
        watcher: Watcher,
        handler: H,
    ) where
        H: Fn(SocketAddr, Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        prepare(&stream);
        let Settings { head_timeout: first, idle_timeout: idle, .. } = self.settings;
        let (closed, activity) = (Closed::of(&mut slot), Activity::new());
        let slot = Some((slot, closed.clone()));
        let served = async move {
            let Some(tls) = tls else {
                let stream = Idle::new(stream, first, idle, activity.clone(), slot);
                return self.serve(stream, peer, activity, watcher, handler).await;
            };
            match tokio::time::timeout(first, tls.accept(stream)).await {
                Ok(Ok(stream)) => {
                    let stream = Idle::new(stream, first, idle, activity.clone(), slot);
                    self.serve(stream, peer, activity, watcher, handler).await;
                }
                Ok(Err(error)) => tracing::debug!(server = self.name, %peer, %error, "a TLS handshake failed"),
                Err(_) => tracing::debug!(server = self.name, %peer, "a TLS handshake took too long"),
            }
        };
        tokio::select! {
            () = served => {}
            () = closed.wait() => tracing::debug!(server = self.name, %peer, "a connection is closed for another"),
        }
    }

    /// Serves HTTP on a connection to its end.
    async fn serve<S, H, F, B>(&self, stream: S, peer: SocketAddr, activity: Activity, watcher: Watcher, handler: H)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        H: Fn(SocketAddr, Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data = Bytes> + Unpin + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let service = service_fn(|request| {
            let busy = activity.begin(request.version() == Version::HTTP_2);
            let answer = handler(peer, request);
            let activity = activity.clone();
            async move {
                let answer = answer.await;
                if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
                    activity.upgrade();
                }
                Ok::<_, Infallible>(answer.map(|body| Sending::new(body, busy)))
            }
        });
        let connection = watcher.watch(self.builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned());
        if let Err(error) = connection.await {
            tracing::debug!(server = self.name, %peer, %error, "a connection ended");
        }
    }
}

/// Sets what the system does for a connection. What it refuses only makes the connection slower, or its end later known.
fn prepare(stream: &TcpStream) {
    // An answer is one write: waiting for more only delays it.
    let _ = stream.set_nodelay(true);
    #[cfg(unix)]
    {
        let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
        let _ = rustix::net::sockopt::set_tcp_keepidle(stream, PROBE_AFTER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;
    use http_body_util::Full;
    use std::net::Ipv4Addr;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        sync::Semaphore,
    };

    fn settings(per_client: usize, head: Duration) -> Settings {
        Settings { per_client, head_timeout: head, idle_timeout: Duration::from_secs(60), head_bytes: 8_192, head_lines: 20 }
    }

    /// Where requests wait.
    #[derive(Clone)]
    struct Gate {
        /// Has a permit for each request that came.
        entered: Arc<Semaphore>,
        /// Lets one request through for each permit.
        open: Arc<Semaphore>,
    }

    impl Gate {
        fn shut() -> Self {
            Self { entered: Arc::new(Semaphore::new(0)), open: Arc::new(Semaphore::new(0)) }
        }
    }

    /// A server that answers "yes" when `gate` lets it, and how to stop it.
    async fn start(slots: Slots, settings: Settings, gate: Gate) -> (SocketAddr, watch::Sender<bool>, JoinSet<()>) {
        serve(slots, settings, move || {
            let gate = gate.clone();
            async move {
                gate.entered.add_permits(1);
                gate.open.acquire().await.expect("the gate is open or shut").forget();
                Full::new(Bytes::from_static(b"yes"))
            }
        })
        .await
    }

    /// A server that answers what `body` makes, and how to stop it.
    async fn serve<F, B>(
        slots: Slots,
        settings: Settings,
        body: impl Fn() -> F + Clone + Send + Sync + 'static,
    ) -> (SocketAddr, watch::Sender<bool>, JoinSet<()>)
    where
        F: Future<Output = B> + Send + 'static,
        B: Body<Data = Bytes, Error = Infallible> + Unpin + Send + 'static,
    {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
        let (address, stop) = (tcp.local_addr().expect("it listens"), watch::Sender::new(false));
        let mut running = JoinSet::new();
        let server = Server::new("test", slots, settings);
        running.spawn(server.accept(tcp, None, stop.subscribe(), Duration::from_secs(5), move |_, _| {
            let body = body();
            async move { Response::new(body.await) }
        }));
        (address, stop, running)
    }

    async fn ask(address: SocketAddr, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        stream.write_all(head.as_bytes()).await.expect("it reads");
        stream
    }

    async fn answer(mut stream: TcpStream) -> String {
        let mut text = Vec::new();
        // A connection that is refused may be reset.
        let _ = stream.read_to_end(&mut text).await;
        String::from_utf8_lossy(&text).into_owned()
    }

    const WHOLE: &str = "GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";

    /// Connections beyond a client's share and beyond the total are refused, and their places come back when others end.
    #[tokio::test]
    async fn connections_are_bounded() {
        for (slots, share) in [(Slots::new(2), 10), (Slots::new(10), 2)] {
            let gate = Gate::shut();
            let (address, stop, running) = start(slots.clone(), settings(share, Duration::from_secs(60)), gate.clone()).await;
            let held = [ask(address, WHOLE).await, ask(address, "GET /").await];
            // The third is refused only after the others were accepted: ports accept in order.
            let refused = TcpStream::connect(address).await.expect("it listens");
            assert!(answer(refused).await.starts_with("HTTP/1.1 503"), "told why");
            assert_eq!((slots.open(), slots.refused()), (2, 1));
            let [whole, half] = held;
            drop(half);
            gate.open.add_permits(1);
            assert!(answer(whole).await.ends_with("yes"));
            gate.open.add_permits(1);
            // The place of a connection comes back a moment after its end.
            let mut tried = answer(ask(address, WHOLE).await).await;
            while !tried.ends_with("yes") {
                tried = answer(ask(address, WHOLE).await).await;
            }
            stop.send_replace(true);
            running.join_all().await;
        }
    }

    /// A head that does not come whole ends the connection, and its place comes back.
    #[tokio::test]
    async fn heads_have_a_deadline() {
        let slots = Slots::new(4);
        let gate = Gate::shut();
        let (address, stop, running) = start(slots.clone(), settings(4, Duration::from_millis(50)), gate).await;
        let halves = [ask(address, "").await, ask(address, "GET / HTTP/1.1\r\nhost: ").await, ask(address, "PRI * HTTP").await];
        for half in halves {
            let said = answer(half).await;
            assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
        }
        stop.send_replace(true);
        running.join_all().await;
        assert_eq!(slots.open(), 0);
    }

    /// A server that is told to stop answers what it has begun.
    #[tokio::test]
    async fn what_is_begun_is_answered() {
        let gate = Gate::shut();
        let (address, stop, running) = start(Slots::new(4), settings(4, Duration::from_secs(60)), gate.clone()).await;
        let begun = ask(address, WHOLE).await;
        gate.entered.acquire().await.expect("the request comes").forget();
        stop.send_replace(true);
        gate.open.add_permits(1);
        assert!(answer(begun).await.ends_with("yes"));
        running.join_all().await;
    }

    /// A connection from this address of the loopback: another subnet than the other tests have.
    #[cfg(target_os = "linux")]
    async fn connect_from(host: [u8; 4], address: SocketAddr) -> TcpStream {
        let socket = tokio::net::TcpSocket::new_v4().expect("the system has sockets");
        socket.bind(SocketAddr::from((host, 0))).expect("the loopback has all of 127.0.0.0/8");
        socket.connect(address).await.expect("it listens")
    }

    /// Waits until one of these connections has ended, of which nothing comes.
    #[cfg(target_os = "linux")]
    async fn one_ends([one, other]: &mut [TcpStream; 2]) {
        let (mut of_one, mut of_other) = ([0], [0]);
        let ended = async {
            tokio::select! {
                read = one.read(&mut of_one) => read,
                read = other.read(&mut of_other) => read,
            }
        };
        let read = tokio::time::timeout(Duration::from_secs(20), ended).await.expect("one of them ends");
        // It may also be reset.
        assert_eq!(read.unwrap_or(0), 0);
    }

    /// A client that sends one byte too many keeps its connection from being read, and it ends all the same when it is closed for another.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn connections_that_read_nothing_make_room() {
        let (slots, gate) = (Slots::new(2), Gate::shut());
        let (address, stop, running) = start(slots.clone(), settings(2, Duration::from_secs(60)), gate.clone()).await;
        let begun = "GET / HTTP/1.1\r\nhost: a\r\n\r\nX";
        let mut held = [ask(address, begun).await, ask(address, begun).await];
        gate.entered.acquire_many(2).await.expect("the requests come").forget();
        let mut other = connect_from([127, 0, 1, 1], address).await;
        one_ends(&mut held).await;
        other.write_all(WHOLE.as_bytes()).await.expect("it reads");
        gate.open.add_permits(2);
        assert!(answer(other).await.ends_with("yes"));
        drop(held);
        stop.send_replace(true);
        running.join_all().await;
        assert_eq!(slots.open(), 0);
    }

    /// TLS handshakes that stand still make room for others.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn handshakes_make_room() {
        let certified = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(certified.signing_key.serialize_der().into());
        let tls = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider has them")
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key)
            .expect("the key is the certificate's");
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("the loopback has free ports");
        let (address, stop, slots) = (tcp.local_addr().expect("it listens"), watch::Sender::new(false), Slots::new(2));
        let (server, mut running) = (Server::new("test", slots.clone(), settings(2, Duration::from_secs(60))), JoinSet::new());
        let tls = Some(TlsAcceptor::from(Arc::new(tls)));
        let handler = |_: SocketAddr, _: Request<Incoming>| std::future::ready(Response::new(Full::new(Bytes::new())));
        running.spawn(server.accept(tcp, tls, stop.subscribe(), Duration::from_secs(1), handler));
        let mut silent = [ask(address, "\u{16}").await, ask(address, "\u{16}").await];
        while slots.open() < 2 {
            tokio::task::yield_now().await;
        }
        let _other = connect_from([127, 0, 1, 1], address).await;
        one_ends(&mut silent).await;
        stop.send_replace(true);
        running.join_all().await;
    }

    /// A frame of HTTP/2.
    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("a short payload");
        [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
    }

    /// A client of HTTP/2 that makes no room for an answer, or room for one byte, is cut off, whatever else it sends; the memory of
    /// its answers is free again.
    #[tokio::test]
    async fn answers_that_nobody_takes_end_the_connection() {
        let own = Client::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
        for window in [0_u8, 1] {
            let (slots, memory) = (Slots::new(4), Memory::new(1_000_000, 1_000_000));
            let settings = Settings { idle_timeout: Duration::from_millis(200), ..settings(4, Duration::from_secs(60)) };
            let counted = memory.clone();
            let (address, stop, running) = serve(slots.clone(), settings, move || {
                let mut held = counted.hold(own);
                assert!(held.add(100_000), "there is room");
                std::future::ready(held.with(Full::new(Bytes::from(vec![7; 100_000]))))
            })
            .await;
            let settings = frame(4, 0, 0, &[0, 4, 0, 0, 0, window]);
            // GET http://a/ in the static table of HPACK.
            let request = frame(1, 5, 1, &[0x82, 0x86, 0x84, 0x41, 1, b'a']);
            let mut stream = TcpStream::connect(address).await.expect("it listens");
            let begin = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &settings, &request].concat();
            stream.write_all(&begin).await.expect("it reads");
            let (mut reader, mut writer) = stream.split();
            let mut said = Vec::new();
            let control = async {
                let (ping, mut beat) = (frame(6, 0, 0, &[0; 8]), tokio::time::interval(Duration::from_millis(20)));
                while writer.write_all(&ping).await.is_ok() {
                    beat.tick().await;
                }
            };
            let ended = async {
                tokio::select! {
                    _ = reader.read_to_end(&mut said) => {}
                    () = control => {}
                }
            };
            tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the connection ends");
            stop.send_replace(true);
            running.join_all().await;
            assert_eq!(slots.open(), 0);
            assert!(memory.hold(own).add(1_000_000), "nothing is held any more");
        }
    }

    #[test]
    fn the_refusal_is_whole() {
        let text = String::from_utf8(refusal(("application/json", "\"größer\""))).expect("UTF-8");
        assert!(text.contains("\r\ncontent-type: application/json\r\ncontent-length: 10\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n\"größer\""), "{text}");
    }
}
