//! The gateway's ports, and what runs beside requests.

use crate::{
    Backend, Config, Shared, acme, certificates, dns, handle,
    journal::Journal,
    tls::{self, CertificateError},
};
use cowboy_serve::{Server, Settings};
use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{net::TcpListener, sync::watch, task::JoinSet};
use tokio_rustls::TlsAcceptor;

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or not ours to take.
    #[error("the gateway cannot listen at {address}: {source}; another one may be running there: stop it, or take another port")]
    Listen {
        /// The socket address.
        address: SocketAddr,
        /// The underlying error.
        source: io::Error,
    },
    /// There is no certificate to show, and nobody to ask for one.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The system has no room for worker threads.
    #[error("the gateway cannot start its worker threads: {0}; raise the limits of processes and memory (ulimit -u, ulimit -v)")]
    Threads(io::Error),
    /// The file of commands cannot be used.
    #[error("the gateway cannot use {path}, which has the commands that it signed: {source}; free some of the disk, or restore the file")]
    Commands {
        /// The file's path.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}

/// Opens the file of commands, where there is one.
pub(crate) fn commands(path: Option<&Path>) -> Result<Journal, ServeError> {
    Journal::open(path).map_err(|source| ServeError::Commands { path: path.unwrap_or(Path::new("")).to_owned(), source })
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
        let shared = Arc::new(Shared::new(config, backend)?);
        let mut tasks = background(&shared, &served);
        if let (Some(sockets), Some(settings)) = (self.names, shared.config.dns.clone()) {
            let challenges = shared.challenges.clone();
            tasks.spawn(dns::serve(sockets, settings, shared.clone(), challenges));
        }
        let stop = watch::Sender::new(false);
        let limits = &shared.config.limits;
        let settings = Settings {
            per_client: limits.connections_per_client,
            head_timeout: Duration::from_millis(limits.head_timeout_ms),
            idle_timeout: Duration::from_millis(limits.idle_timeout_ms),
            head_bytes: limits.head_bytes,
            head_lines: limits.head_lines,
        };
        let server = Server::new("gateway", shared.slots.clone(), settings);
        let handler = {
            let shared = shared.clone();
            move |peer, request| handle::handle(shared.clone(), peer, request)
        };
        let mut accepting = JoinSet::new();
        accepting.spawn(server.clone().accept(self.tcp, None, stop.subscribe(), DRAIN, handler.clone()));
        if let Some(tcp) = self.tls {
            let acceptor = TlsAcceptor::from(tls::server_config(served));
            accepting.spawn(server.accept(tcp, Some(acceptor), stop.subscribe(), DRAIN, handler));
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
    if let (Some(names), Some(authority)) = (shared.domains.clone(), shared.config.tls.as_ref().and_then(|tls| tls.acme.clone())) {
        tasks.spawn(certificates::keep(shared.clone(), names, served.clone(), authority));
    }
    if let Some((settings, authority)) = shared.config.tls.clone().and_then(|tls| Some((tls.clone(), tls.acme?))) {
        let shared = shared.clone();
        tasks.spawn(async move {
            acme::keep(&settings, &authority, &shared.challenges, shared.config.dns.is_some()).await;
        });
    }
    tasks
}

/// How long requests under way have when the gateway stops.
const DRAIN: Duration = Duration::from_secs(5);

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

#[cfg(test)]
mod tests {
    use super::*;

    /// A gateway that does not start for its file of commands, as on a full disk, names the file and not the limits of the process.
    #[test]
    fn a_file_of_commands_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("commands");
        assert!(commands(Some(&path)).is_ok() && commands(None).is_ok());
        // One byte that is no transaction.
        std::fs::write(&path, [0, 0, 0, 1, 9]).expect("it is written");
        let missing = folder.path().join("none/commands");
        for (path, reason) in [(&path, "is damaged"), (&missing, "No such file")] {
            let error = commands(Some(path)).expect_err("it is refused").to_string();
            assert!(error.contains(&path.display().to_string()) && error.contains(reason), "{error}");
        }
    }
}
