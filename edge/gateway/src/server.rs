//! Connections: how many, how long, and how much of each.

use crate::{Backend, Config, Shared, handle};
use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};

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
}

/// A port that is the gateway's, before anything answers there.
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Takes the port. Port 0 takes any free one.
    pub async fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let listen = |source| ServeError::Listen { address, source };
        let tcp = TcpListener::bind(address).await.map_err(listen)?;
        let address = tcp.local_addr().map_err(listen)?;
        Ok(Self { tcp, address })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins to answer.
    pub fn serve(self, config: Config, backend: Backend) -> Gateway {
        let shared = Arc::new(Shared::new(config, backend));
        let stop = watch::Sender::new(false);
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
        let accepting = tokio::spawn(accept(self.tcp, shared.clone(), stop.subscribe()));
        Gateway { address: self.address, shared, stop, accepting, _tasks: tasks }
    }
}

/// A gateway that runs.
pub struct Gateway {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    accepting: tokio::task::JoinHandle<()>,
    /// Ended with the gateway.
    _tasks: JoinSet<()>,
}

impl Gateway {
    /// Where it is.
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
        let _ = self.accepting.await;
    }
}

/// How long requests under way have when the gateway stops.
const DRAIN: Duration = Duration::from_secs(5);

async fn accept(tcp: TcpListener, shared: Arc<Shared>, mut stopped: watch::Receiver<bool>) {
    let limits = &shared.config.limits;
    let permits = Arc::new(Semaphore::new(limits.connections));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    let (head, idle) = (Duration::from_millis(limits.head_timeout_ms), Duration::from_millis(limits.idle_timeout_ms));
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
        .keep_alive_interval(idle)
        .keep_alive_timeout(head)
        .max_concurrent_streams(100)
        .max_header_list_size(u32::try_from(limits.head_bytes).unwrap_or(u32::MAX));
    let (builder, graceful) = (Arc::new(builder), GracefulShutdown::new());
    loop {
        let Ok(permit) = permits.clone().acquire_owned().await else { break };
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
        let (shared, builder, watcher) = (shared.clone(), builder.clone(), graceful.watcher());
        tokio::spawn(async move {
            let _permit = permit;
            shared.metrics.connections.inc();
            serve(stream, &shared, &builder, watcher).await;
            shared.metrics.connections.dec();
        });
    }
    // What does not end by itself is cut off.
    let _ = tokio::time::timeout(DRAIN, graceful.shutdown()).await;
}

async fn serve(
    stream: TcpStream,
    shared: &Arc<Shared>,
    builder: &auto::Builder<TokioExecutor>,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // An answer is one write: waiting for more only delays it.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(handle::handle(shared, request).await) }
    });
    let connection = watcher.watch(builder.serve_connection(TokioIo::new(stream), service).into_owned());
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended");
    }
}
