//! Connections: how many, how long, and how much of each.

use crate::{
    Backend, Config, Shared, acme, dns, handle,
    idle::Idle,
    tls::{self, CertificateError},
};
use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or not ours to take.
    #[error("the gateway cannot listen at {address}: {source}; another one may be running there: stop it, or take another port")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// There is no certificate to show, and nobody to ask for one.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

/// The ports that are the gateway's, before anything answers there.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
    tls: Option<TcpListener>,
    names: Option<dns::Sockets>,
}

impl Listener {
    /// Takes the port of plain HTTP. Port 0 takes any free one.
    pub async fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let tcp = listen(address).await?;
        let address = tcp.local_addr().map_err(|source| ServeError::Listen { address, source })?;
        Ok(Self { tcp, address, tls: None, names: None })
    }

    /// Takes every port that the settings name.
    pub async fn bind_all(config: &Config) -> Result<Self, ServeError> {
        let mut all = Self::bind(config.listen).await?;
        if let Some(settings) = &config.tls {
            all.tls = Some(listen(settings.listen).await?);
        }
        if let Some(settings) = &config.dns {
            let address = settings.listen;
            all.names = Some(dns::Sockets::bind(address).await.map_err(|source| ServeError::Listen { address, source })?);
        }
        Ok(all)
    }

    /// Where plain HTTP is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where TLS is, where it is served.
    pub fn tls_address(&self) -> Option<SocketAddr> {
        self.tls.as_ref().and_then(|tcp| tcp.local_addr().ok())
    }

    /// Where the name server is, where there is one.
    pub fn names_address(&self) -> Option<SocketAddr> {
        self.names.as_ref().and_then(|sockets| sockets.address().ok())
    }

    /// Begins to answer.
    pub fn serve(self, config: Config, backend: Backend) -> Result<Gateway, ServeError> {
        let served = Arc::new(tls::Served::default());
        if let Some(settings) = &config.tls {
            match served.load(&settings.certificate, &settings.key) {
                // It is on its way.
                Err(error) if settings.acme.is_some() => tracing::info!(%error, "no certificate yet"),
                loaded => loaded?,
            }
        }
        let shared = Arc::new(Shared::new(config, backend));
        let mut tasks = background(&shared, &served);
        if let (Some(sockets), Some(settings)) = (self.names, shared.config.dns.clone()) {
            let challenges = shared.challenges.clone();
            tasks.spawn(dns::serve(sockets, settings, shared.clone(), challenges));
        }
        let stop = watch::Sender::new(false);
        let doors = Arc::new(Doors::new(&shared));
        let mut accepting = JoinSet::new();
        accepting.spawn(accept(self.tcp, doors.clone(), None, stop.subscribe()));
        if let Some(tcp) = self.tls {
            let acceptor = TlsAcceptor::from(tls::server_config(served));
            accepting.spawn(accept(tcp, doors, Some(acceptor), stop.subscribe()));
        }
        Ok(Gateway { address: self.address, shared, stop, accepting, _tasks: tasks })
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })
}

/// What goes on beside requests.
fn background(shared: &Arc<Shared>, served: &Arc<tls::Served>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let watched = shared.clone();
    tasks.spawn(async move {
        watched.requests.watch(&watched.node).await;
    });
    if shared.keeps_up {
        let kept = shared.clone();
        tasks.spawn(async move {
            crate::membership::keep(&kept).await;
        });
    }
    let tidied = shared.clone();
    tasks.spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(60)).await;
            tidied.limits.tidy();
        }
    });
    if let Some(settings) = shared.config.tls.clone() {
        let (served, settings) = (served.clone(), settings.clone());
        tasks.spawn(async move { served.watch(&settings).await });
    }
    if let Some((settings, authority)) = shared.config.tls.clone().and_then(|tls| Some((tls.clone(), tls.acme?))) {
        let shared = shared.clone();
        tasks.spawn(async move {
            acme::keep(&settings, &authority, &shared.challenges, shared.config.dns.is_some()).await;
        });
    }
    tasks
}

/// A gateway that runs.
pub struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    accepting: JoinSet<()>,
    /// Ended with the gateway.
    _tasks: JoinSet<()>,
}

impl Gateway {
    /// Where plain HTTP is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells how many requests were answered under a name.
    pub fn counter(&self) -> impl Fn(&str) -> u64 + Send + Sync + 'static {
        let shared = self.shared.clone();
        move |name| shared.metrics.served(name)
    }

    /// Takes no more connections, gives requests under way five seconds, and ends.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.accepting.join_all().await;
    }
}

/// How long requests under way have when the gateway stops.
const DRAIN: Duration = Duration::from_secs(5);

/// What all ports share.
struct Doors {
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
    builder: auto::Builder<TokioExecutor>,
    head: Duration,
    idle: Duration,
}

impl Doors {
    fn new(shared: &Arc<Shared>) -> Self {
        let limits = &shared.config.limits;
        let (head, idle) = (Duration::from_millis(limits.head_timeout_ms), Duration::from_millis(limits.idle_timeout_ms));
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(limits.head_bytes.max(8_192))
            .max_headers(limits.head_lines)
            .half_close(false);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(100)
            .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX));
        Self { shared: shared.clone(), permits: Arc::new(Semaphore::new(limits.connections)), builder, head, idle }
    }

    /// Serves a connection to its end.
    async fn serve(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, watcher: Watcher) {
        let service = service_fn(|request| {
            let shared = self.shared.clone();
            async move { Ok::<_, Infallible>(handle::handle(shared, request).await) }
        });
        let stream = TokioIo::new(Idle::new(stream, self.idle));
        let connection = watcher.watch(self.builder.serve_connection(stream, service).into_owned());
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended");
        }
    }
}

type Watcher = hyper_util::server::graceful::Watcher;

async fn accept(tcp: TcpListener, doors: Arc<Doors>, tls: Option<TlsAcceptor>, mut stopped: watch::Receiver<bool>) {
    let graceful = GracefulShutdown::new();
    loop {
        let Ok(permit) = doors.permits.clone().acquire_owned().await else { break };
        let stream = tokio::select! {
            accepted = tcp.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        let stream = match stream {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                // Out of file handles: others end in a moment.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let (doors, tls, watcher) = (doors.clone(), tls.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _permit = permit;
            doors.shared.metrics.connections.inc();
            greet(stream, &doors, tls, watcher).await;
            doors.shared.metrics.connections.dec();
        });
    }
    // What does not end by itself is cut off.
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
}

async fn greet(stream: TcpStream, doors: &Doors, tls: Option<TlsAcceptor>, watcher: Watcher) {
    // An answer is one write: waiting for more only delays it.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return doors.serve(stream, watcher).await };
    // The handshake has the time that a head has.
    match tokio::time::timeout(doors.head, tls.accept(stream)).await {
        Ok(Ok(stream)) => doors.serve(stream, watcher).await,
        Ok(Err(error)) => tracing::debug!(%error, "a handshake failed"),
        Err(_) => tracing::debug!("a handshake took too long"),
    }
}
