//! Where clients ask a relay: over QUIC, one stream a request.
//!
//! A client that reads or writes slowly costs its own connection and bytes that count for its address, and never a turn: turns are for work.

use crate::app::App;
use crate::requests::{self, Done, Refusal};
use crate::session::Session;
use cowboy_serve::{Admitted, Caps, Client, Door, Held, Memory, Slot, Slots};
use cowboy_volume::wire::{self, ALPN, EXPORTER, Request, STREAMS, WireError};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connection, Endpoint, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// Connections at once. Runners behind one address have many.
const CONNECTIONS: Caps = Caps { total: 512, client: 64, subnet: 128 };

/// Handshakes under way at once.
const HANDSHAKES: Caps = Caps { total: 128, client: 32, subnet: 64 };

/// How long a connection may take until it says who opens it.
const OPENING: Duration = Duration::from_secs(10);

/// After how long a silent connection is dead, in ms.
const IDLE_MS: u32 = 30_000;

/// Bytes that one stream, and all of a connection, may have under way before they are read: QUIC holds them, also where a gap keeps them from being read.
const WINDOW: u32 = 1 << 20;

/// Requests that are worked on at once, of all connections and of one. Work is on the disk, or on a page in memory; waiting for the other end is none.
const AT_ONCE: usize = 256;
const AT_ONCE_OF_CONNECTION: usize = 8;

/// Bytes of pages and trees that come or go at once, in all and for each client.
const MAX_HELD: usize = 256 << 20;
const MAX_HELD_OF_CLIENT: usize = MAX_HELD / 4;

/// Shards that come at once, in all, of one client and of one connection: each has two open files.
const COMING: usize = 1_024;
const COMING_OF_CLIENT: usize = 256;
const COMING_OF_CONNECTION: usize = 16;

/// How long a request other than a shard that comes, and the other end's reading of an answer, may take.
const REQUEST: Duration = Duration::from_secs(60);

/// Bytes of a shard that must come in a second, beside [`REQUEST`].
const SHARD_BYTES_PER_SECOND: u64 = 1 << 20;

/// What QUIC is made of: TLS 1.3 with the relay's certificate, streams of clients alone.
fn config(mut tls: rustls::ServerConfig) -> io::Result<ServerConfig> {
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()));
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// Listens. The endpoint ends when it is closed.
pub(crate) fn listen(tls: rustls::ServerConfig, address: SocketAddr) -> io::Result<Endpoint> {
    Endpoint::server(config(tls)?, address)
}

/// What all connections share.
struct Server {
    app: Arc<App>,
    turns: Semaphore,
    memory: Memory,
    coming: Slots,
}

/// A connection.
pub(crate) struct Peer {
    server: Arc<Server>,
    client: Client,
    connection: Connection,
    session: OnceCell<Session>,
    turns: Semaphore,
    coming: Semaphore,
}

/// Serves whoever connects, until the endpoint is closed.
pub(crate) async fn serve(endpoint: Endpoint, app: Arc<App>) {
    let door = Door::new(HANDSHAKES, CONNECTIONS);
    let memory = Memory::new(MAX_HELD, MAX_HELD_OF_CLIENT);
    let server = Arc::new(Server { app, turns: Semaphore::new(AT_ONCE), memory, coming: Slots::new(COMING) });
    while let Some(incoming) = endpoint.accept().await {
        let Some(admitted) = door.admit(incoming) else { continue };
        let server = server.clone();
        tokio::spawn(async move {
            if let Err(error) = connected(server, admitted).await {
                tracing::debug!(%error, "a connection ended");
            }
        });
    }
}

async fn connected(server: Arc<Server>, admitted: Admitted) -> Result<(), WireError> {
    let Admitted { incoming, handshake, connection: _counted } = admitted;
    let broken = |error: quinn::ConnectionError| WireError::Broken(error.to_string());
    let connection = timeout(OPENING, incoming).await.map_err(|_| WireError::Silent)?.map_err(broken)?;
    let peer = Arc::new(Peer {
        server,
        client: Client::from(connection.remote_address().ip()),
        connection,
        session: OnceCell::new(),
        turns: Semaphore::new(AT_ONCE_OF_CONNECTION),
        coming: Semaphore::new(COMING_OF_CONNECTION),
    });
    // Who opens it is said in one request before all others.
    while !peer.session.initialized() {
        let opened = async {
            let (sending, receiving) = peer.connection.accept_bi().await.map_err(broken)?;
            peer.answer(sending, receiving).await
        };
        timeout(OPENING, opened).await.map_err(|_| WireError::Silent)??;
    }
    drop(handshake);
    loop {
        let (sending, receiving) = peer.connection.accept_bi().await.map_err(broken)?;
        let peer = peer.clone();
        tokio::spawn(async move {
            if let Err(error) = peer.answer(sending, receiving).await {
                tracing::debug!(%error, "a request ended");
            }
        });
    }
}

/// How long a shard of this many bytes may take to come.
fn time_of_shard(length: u64) -> Duration {
    REQUEST.saturating_add(Duration::from_secs(length / SHARD_BYTES_PER_SECOND))
}

impl Peer {
    pub(crate) fn app(&self) -> &App {
        &self.server.app
    }

    /// Opens the session, where there is none yet.
    pub(crate) async fn open(&self, hello: &wire::Hello) -> Result<(), Refusal> {
        let mut exported = [0; 32];
        let exporting = self.connection.export_keying_material(&mut exported, EXPORTER, &[]);
        exporting.map_err(|_| Refusal::Said("the session exports nothing"))?;
        let opened = Session::open(self.app(), hello, &exported).await?;
        self.session.set(opened).map_err(|_| Refusal::Said("the connection is open already"))
    }

    /// The session.
    pub(crate) fn session(&self) -> Result<&Session, Refusal> {
        self.session.get().ok_or(Refusal::Said("say first who opens the connection"))
    }

    /// A turn to work, of the connection and of all of them. Nobody waits for the other end while it holds one.
    pub(crate) async fn turn(&self) -> Result<[SemaphorePermit<'_>; 2], Refusal> {
        let closed = |_| Refusal::Said("the relay ends");
        Ok([self.turns.acquire().await.map_err(closed)?, self.server.turns.acquire().await.map_err(closed)?])
    }

    /// A place for a shard that comes. Nobody waits for one: what comes meanwhile would take the window from those that have theirs.
    pub(crate) fn coming(&self) -> Result<(SemaphorePermit<'_>, Slot), Refusal> {
        let own = self.coming.try_acquire().ok();
        let taken = self.server.coming.take(self.client, COMING_OF_CLIENT).ok();
        own.zip(taken).ok_or(Refusal::Said("the relay takes no more shards at once; try again"))
    }

    /// Counts bytes of a body for this client.
    pub(crate) fn hold(&self, held: &mut Held, bytes: usize) -> Result<(), Refusal> {
        if held.add(bytes) { Ok(()) } else { Err(Refusal::Said("the relay has no memory for more answers at once; try again")) }
    }

    async fn answer(&self, mut sending: SendStream, mut receiving: RecvStream) -> Result<(), WireError> {
        let request: Request = wire::read(&mut receiving).await?;
        let time = match &request {
            Request::PutShard { length } => time_of_shard(*length),
            _ => REQUEST,
        };
        // Until the body is sent.
        let mut held = self.server.memory.hold(self.client);
        let done = timeout(time, requests::act(self, request, &mut receiving, &mut held)).await.map_err(|_| WireError::Silent)?;
        let Done { answer, body } = match done {
            Ok(done) => done,
            // A broken stream takes no answer.
            Err(Refusal::Wire(error)) => return Err(error),
            Err(refusal) => {
                if let Refusal::Disk(error) = &refusal {
                    tracing::error!(%error, "the store cannot be used");
                }
                Done { answer: wire::refused(refusal), body: None }
            }
        };
        let sent = async {
            wire::send(&mut sending, &answer).await?;
            if let Some(body) = body {
                wire::send_body(&mut sending, &body).await?;
            }
            // The other end reads what was sent; nothing more is said.
            let _ = sending.finish();
            let _ = sending.stopped().await;
            Ok(())
        };
        timeout(REQUEST, sent).await.map_err(|_| WireError::Silent)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shard of the largest volume comes in time over a slow line, and a short one holds its place for a minute at most.
    #[test]
    fn a_shard_has_time_by_its_length() {
        assert_eq!(time_of_shard(0), REQUEST);
        assert_eq!(time_of_shard(600 << 20), REQUEST + Duration::from_secs(600));
        assert!(time_of_shard(u64::MAX) > REQUEST);
    }
}
