//! The proxy of a box: the only way out, to the hosts on its list.
//!
//! The socket listens inside the box, and this serves it from outside. It knows requests in absolute form (`http`) and CONNECT (`https`). There are no names
//! in a box, so every request names its host: the name is resolved once, by the caller's [`Gate`], which also refuses private addresses.

mod head;
mod hello;
mod name;

pub use head::{Head, Refusal, Target};
pub use hello::{HELLO_BYTES, HelloError, server_name};

use futures::future::BoxFuture;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

/// Most hosts of a list.
pub const HOSTS: usize = 32;

/// Connections at the same time.
const PARALLEL: usize = 64;

/// How long a request may take to arrive, and a connection to open.
const OPENING: Duration = Duration::from_secs(10);

/// Most bytes that are read after a refusal.
const REST_BYTES: u64 = 1 << 20;

/// Size of a buffer.
const BUFFER_BYTES: usize = 16 << 10;

/// Finds where a host is.
pub trait Gate: Send + Sync + 'static {
    /// The addresses of a name. It refuses private addresses, and whatever else the caller must not reach.
    fn addresses(&self, host: String, port: u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>;
}

/// What a box may reach.
#[derive(Clone)]
pub struct Egress {
    hosts: BTreeSet<String>,
    /// Ports of requests in absolute form.
    pub http_ports: Vec<u16>,
    /// Ports of CONNECT.
    pub tls_ports: Vec<u16>,
    /// Most bytes, both ways.
    pub max_bytes: u64,
    /// Most connections.
    pub max_connections: u32,
    gate: Arc<dyn Gate>,
}

impl fmt::Debug for Egress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Egress").field("hosts", &self.hosts).field("max_bytes", &self.max_bytes).finish_non_exhaustive()
    }
}

impl Egress {
    /// Exactly these hosts, on ports 80 and 443.
    ///
    /// # Errors
    /// If there are more than [`HOSTS`], or one is no lower-case name: addresses are refused.
    pub fn new(hosts: impl IntoIterator<Item = String>, gate: Arc<dyn Gate>) -> Result<Self, Refusal> {
        let hosts: BTreeSet<String> = hosts.into_iter().collect();
        if hosts.len() > HOSTS {
            return Err(Refusal::Hosts(hosts.len()));
        }
        if let Some(host) = hosts.iter().find(|host| !name::is_name(host)) {
            return Err(Refusal::Host(host.clone()));
        }
        Ok(Self { hosts, http_ports: vec![80], tls_ports: vec![443], max_bytes: 256 << 20, max_connections: 1024, gate })
    }

    /// Serves a socket that listens inside a box, until what is returned is dropped.
    pub(crate) fn serve(&self, listener: std::net::TcpListener) -> io::Result<Serving> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let proxy = Arc::new(Proxy {
            egress: self.clone(),
            bytes: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            connections: AtomicU32::new(0),
            resolved: Mutex::default(),
        });
        let task = tokio::spawn(accept(proxy.clone(), listener));
        Ok(Serving { proxy, task })
    }
}

/// A proxy that serves.
pub(crate) struct Serving {
    proxy: Arc<Proxy>,
    task: JoinHandle<()>,
}

impl Serving {
    /// Bytes so far, both ways.
    pub(crate) fn bytes(&self) -> u64 {
        self.proxy.bytes.load(Ordering::Relaxed)
    }

    /// Requests and tunnels so far that reached their host.
    pub(crate) fn requests(&self) -> u64 {
        self.proxy.requests.load(Ordering::Relaxed)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Proxy {
    egress: Egress,
    bytes: AtomicU64,
    requests: AtomicU64,
    connections: AtomicU32,
    resolved: Mutex<BTreeMap<(String, u16), Vec<SocketAddr>>>,
}

async fn accept(proxy: Arc<Proxy>, listener: TcpListener) {
    let slots = Arc::new(Semaphore::new(PARALLEL));
    let mut connections = JoinSet::new();
    loop {
        let Ok(slot) = slots.clone().acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else { return };
        while connections.try_join_next().is_some() {}
        let proxy = proxy.clone();
        connections.spawn(async move {
            // A connection that breaks is the client's concern.
            let _ = proxy.connection(client).await;
            drop(slot);
        });
    }
}

impl Proxy {
    async fn connection(&self, mut client: TcpStream) -> io::Result<()> {
        let count = self.connections.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let refusal = if count > self.egress.max_connections {
            Refusal::Connections(self.egress.max_connections)
        } else {
            match timeout(OPENING, self.request(&mut client)).await {
                Ok(Ok((server, first, body))) => return self.relay(client, server, &first, body).await,
                Ok(Err(refusal)) => refusal,
                Err(_) => Refusal::Slow,
            }
        };
        let text = format!("{refusal}\n");
        let head = format!(
            "HTTP/1.1 {}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            refusal.status(),
            text.len()
        );
        client.write_all(head.as_bytes()).await?;
        client.write_all(text.as_bytes()).await?;
        client.shutdown().await?;
        // What a socket has not read when it is closed makes the other end lose the answer.
        let mut rest = client.take(REST_BYTES);
        let _ = timeout(OPENING, tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
        Ok(())
    }

    /// Reads and checks a request. Returns the server, what it gets first, and how many bytes of a body follow, where that is bounded.
    async fn request(&self, client: &mut TcpStream) -> Result<(TcpStream, Vec<u8>, Option<u64>), Refusal> {
        let mut buffer = Vec::new();
        let head = loop {
            if let Some(head) = Head::parse(&buffer)? {
                break head;
            }
            read_more(client, &mut buffer, head::HEAD_BYTES).await?;
        };
        let Target { host, port, is_tls } = &head.target;
        let ports = if *is_tls { &self.egress.tls_ports } else { &self.egress.http_ports };
        if !self.egress.hosts.contains(host) {
            return Err(Refusal::NotAllowed(host.clone()));
        }
        if !ports.contains(port) {
            return Err(Refusal::Port(*port));
        }
        let mut rest = buffer.split_off(head.length);
        if !*is_tls {
            if u64::try_from(rest.len()).unwrap_or(u64::MAX) > head.body {
                return Err(Refusal::Pipelined);
            }
            let left = head.body - u64::try_from(rest.len()).unwrap_or(0);
            let server = self.connect(host, *port).await?;
            let mut first = head.forward;
            first.append(&mut rest);
            return Ok((server, first, Some(left)));
        }
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.map_err(Refusal::Client)?;
        let name = loop {
            if let Some(name) = server_name(&rest).map_err(Refusal::Hello)? {
                break name;
            }
            read_more(client, &mut rest, HELLO_BYTES).await?;
        };
        if name != *host {
            return Err(Refusal::Name { host: host.clone(), name });
        }
        Ok((self.connect(host, *port).await?, rest, None))
    }

    /// Connects to a host, whose name is resolved once in the life of a box.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Refusal> {
        let key = (host.to_owned(), port);
        let mut resolved = self.resolved.lock().await;
        let addresses = match resolved.get(&key) {
            Some(addresses) => addresses.clone(),
            None => {
                let found = self.egress.gate.addresses(host.to_owned(), port).await;
                let addresses = found.map_err(|reason| Refusal::Unreachable { host: host.to_owned(), reason })?;
                resolved.entry(key).or_insert(addresses).clone()
            }
        };
        drop(resolved);
        let mut reason = io::Error::other("it has no address");
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(server) => {
                    self.requests.fetch_add(1, Ordering::Relaxed);
                    return Ok(server);
                }
                Err(error) => reason = error,
            }
        }
        Err(Refusal::Unreachable { host: host.to_owned(), reason })
    }

    async fn relay(&self, client: TcpStream, mut server: TcpStream, first: &[u8], body: Option<u64>) -> io::Result<()> {
        self.count(first.len())?;
        server.write_all(first).await?;
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        let up = self.copy(from_client.take(body.unwrap_or(u64::MAX)), to_server, body.is_none());
        let down = self.copy(from_server, to_client, true);
        // What the server still has to say comes after the client has said everything.
        tokio::try_join!(up, down).map(drop)
    }

    /// Copies to the end, or to the end of the bytes that a box may move.
    async fn copy(&self, mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, closes: bool) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = from.read(&mut buffer).await?;
            if read == 0 {
                return if closes { to.shutdown().await } else { Ok(()) };
            }
            self.count(read)?;
            to.write_all(&buffer[..read]).await?;
        }
    }

    fn count(&self, bytes: usize) -> io::Result<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let add = |sum: u64| sum.checked_add(bytes).filter(|sum| *sum <= self.egress.max_bytes);
        let counted = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        counted.map(drop).map_err(|_| io::Error::other("the box has moved all bytes that it may"))
    }
}

async fn read_more(client: &mut TcpStream, buffer: &mut Vec<u8>, limit: usize) -> Result<(), Refusal> {
    if buffer.len() >= limit {
        return Err(Refusal::Long(limit));
    }
    let mut bytes = [0; 4096];
    let room = bytes.len().min(limit - buffer.len());
    match client.read(&mut bytes[..room]).await.map_err(Refusal::Client)? {
        0 => Err(Refusal::Client(io::ErrorKind::UnexpectedEof.into())),
        read => {
            buffer.extend_from_slice(&bytes[..read]);
            Ok(())
        }
    }
}
