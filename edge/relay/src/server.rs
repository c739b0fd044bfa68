//! Where clients ask a relay: over QUIC, one stream a request.

use crate::app::App;
use crate::session::{Denied, Right, Session};
use crate::store::{self, Item, Kind, Store};
use cowboy_serve::{Client, Slots};
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volume::wire::{self, ALPN, Answer, EXPORTER, FRAME_BYTES, Request, STREAMS, TREE_BYTES, WireError};
use cowboy_volumes::relay::{ACK_BLOCKS, Succession};
use cowboy_volumes::slice::MAX_PART;
use cowboy_volumes::tree::{MAX_DEPTH, PAGE_BYTES};
use cowboy_volumes::{Page, Top};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Connection, Endpoint, Incoming, RecvStream, SendStream, ServerConfig, TransportConfig, VarInt};
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OnceCell, Semaphore};

/// Connections at once.
const CONNECTIONS: usize = 512;

/// Connections of one client at once.
const SHARE: usize = 64;

/// How long a connection may take until it says who opens it.
const OPENING: Duration = Duration::from_secs(10);

/// After how long a silent connection is dead, in ms.
const IDLE_MS: u32 = 30_000;

/// Bytes that one stream may have under way before they are read.
const WINDOW: u32 = 1 << 20;

/// The same for a connection.
const CONNECTION_WINDOW: u32 = 8 << 20;

/// Requests that are worked on at once, of all connections. Each holds a page at most.
const AT_ONCE: usize = 256;

/// Blocks by which a client may be ahead of this relay.
const SLACK: u64 = 60;

/// How long a request may take in all: the largest shard comes at 2 MiB a second.
const REQUEST: Duration = Duration::from_secs(600);

/// How long the other end may take to read an answer.
const READING: Duration = Duration::from_secs(30);

/// What a volume may take here, as a multiple of what one shard of its whole quota takes: what stands, and as much that no root names yet or any more.
const TIMES_QUOTA: u64 = 2;

/// Bytes that a volume may have beside that: pages, and files of a few bytes.
const BESIDE_QUOTA: u64 = 4 << 20;

/// What QUIC is made of: TLS 1.3 with the relay's certificate, streams of clients alone.
fn config(mut tls: rustls::ServerConfig) -> io::Result<ServerConfig> {
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let crypto = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(CONNECTION_WINDOW))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()));
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    Ok(config)
}

/// Listens. The endpoint ends when it is closed.
pub(crate) fn listen(tls: rustls::ServerConfig, address: SocketAddr) -> io::Result<Endpoint> {
    Endpoint::server(config(tls)?, address)
}

/// Serves whoever connects, until the endpoint is closed.
pub(crate) async fn serve(endpoint: Endpoint, app: Arc<App>) {
    let slots = Slots::new(CONNECTIONS);
    let requests = Arc::new(Semaphore::new(AT_ONCE));
    while let Some(incoming) = endpoint.accept().await {
        let Ok(slot) = slots.take(Client::from(incoming.remote_address().ip()), SHARE) else {
            incoming.refuse();
            continue;
        };
        let (app, requests) = (app.clone(), requests.clone());
        tokio::spawn(async move {
            if let Err(error) = connected(&app, incoming, &requests).await {
                tracing::debug!(%error, "a connection ended");
            }
            drop(slot);
        });
    }
}

async fn connected(app: &Arc<App>, incoming: Incoming, requests: &Arc<Semaphore>) -> Result<(), WireError> {
    let broken = |error: quinn::ConnectionError| WireError::Broken(error.to_string());
    let connection = tokio::time::timeout(OPENING, incoming).await.map_err(|_| WireError::Silent)?.map_err(broken)?;
    let session: Arc<OnceCell<Session>> = Arc::default();
    loop {
        let next = connection.accept_bi();
        let (sending, receiving) = match session.initialized() {
            true => next.await.map_err(broken)?,
            false => tokio::time::timeout(OPENING, next).await.map_err(|_| WireError::Silent)?.map_err(broken)?,
        };
        let (app, session, connection) = (app.clone(), session.clone(), connection.clone());
        // Who opens it is said in one request before all others, and takes no turn from those who have said it.
        if !session.initialized() {
            let turns = Semaphore::new(1);
            tokio::time::timeout(OPENING, answer(&app, &session, &connection, &turns, sending, receiving))
                .await
                .map_err(|_| WireError::Silent)??;
            continue;
        }
        let requests = requests.clone();
        tokio::spawn(async move {
            let answered = answer(&app, &session, &connection, &requests, sending, receiving);
            match tokio::time::timeout(REQUEST, answered).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a request ended"),
                Err(_) => tracing::debug!("a request took too long"),
            }
        });
    }
}

/// Why a request is not done.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error("{0}")]
    Said(&'static str),
    #[error("the relay's disk fails")]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// What is sent for a request: an answer, and a body where there is one.
type Done = (Answer, Option<Vec<u8>>);

async fn answer(
    app: &App,
    session: &OnceCell<Session>,
    connection: &Connection,
    turns: &Semaphore,
    mut sending: SendStream,
    mut receiving: RecvStream,
) -> Result<(), WireError> {
    let request: Request = wire::read(&mut receiving).await?;
    // Whoever has said nothing yet holds no turn.
    let Ok(turn) = turns.acquire().await else { return Ok(()) };
    let (answer, body) = match act(app, session, connection, request, &mut receiving).await {
        Ok(done) => done,
        // A broken stream takes no answer.
        Err(Refusal::Wire(error)) => return Err(error),
        Err(refusal) => {
            if let Refusal::Disk(error) = &refusal {
                tracing::error!(%error, "the store cannot be used");
            }
            (wire::refused(refusal), None)
        }
    };
    wire::send(&mut sending, &answer).await?;
    if let Some(body) = body {
        wire::send_body(&mut sending, &body).await?;
    }
    // The other end reads what was sent; nothing more is said.
    let _ = sending.finish();
    drop(turn);
    let _ = tokio::time::timeout(READING, sending.stopped()).await;
    Ok(())
}

fn done() -> Done {
    (Answer::Done {}, None)
}

/// What is there, or a refusal.
fn body(found: Option<Vec<u8>>) -> Result<Done, Refusal> {
    found.map(|body| (Answer::Body {}, Some(body))).ok_or(Refusal::Said("it is not here"))
}

async fn act(
    app: &App,
    session: &OnceCell<Session>,
    connection: &Connection,
    request: Request,
    receiving: &mut RecvStream,
) -> Result<Done, Refusal> {
    if let Request::Hello { hello } = &request {
        let mut exported = [0; 32];
        connection.export_keying_material(&mut exported, EXPORTER, &[]).map_err(|_| Refusal::Said("the session exports nothing"))?;
        let opened = Session::open(app, hello, &exported).await?;
        return session.set(opened).map(|()| done()).map_err(|_| Refusal::Said("the connection is open already"));
    }
    let session = session.get().ok_or(Refusal::Said("say first who opens the connection"))?;
    let right = session.right(app).await?;
    match request {
        Request::Hello { .. } => Err(Refusal::Said("the connection is open already")),
        Request::PutShard { length } => put_shard(app, &right, length, receiving).await,
        Request::GetShard { shard, start, length } => {
            allow(right.reads())?;
            if !(1..=MAX_PART).contains(&length) {
                return Err(Refusal::Said("a part has 1 to 65,536 bytes"));
            }
            body(on_disk(|| app.store.slice(right.volume, &shard, start, length))?)
        }
        Request::PutPage { partition, depth, place } => {
            allow(right.writes(&partition))?;
            let bytes = wire::read_body(receiving, PAGE_BYTES).await?;
            let page =
                Some(usize::from(place)).filter(|_| depth <= MAX_DEPTH).and_then(|place| Page::parse(&bytes, right.code, depth, place));
            let node = page.and_then(|page| page.node()).ok_or(Refusal::Said("that is no page of the volume"))?;
            room(app, &right, u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
            let item = Item { volume: right.volume, kind: Kind::Page, hash: node.hash };
            on_disk(|| app.store.put(&item, &bytes, app.height()))?;
            Ok(done())
        }
        Request::GetPage { partition, page } => {
            allow(right.sees(&partition))?;
            body(on_disk(|| app.store.get(&Item { volume: right.volume, kind: Kind::Page, hash: page }))?)
        }
        Request::GetTree { partition, root } => {
            allow(right.sees(&partition))?;
            body(on_disk(|| app.store.get(&Item { volume: right.volume, kind: Kind::Tree, hash: root }))?)
        }
        Request::AckRoot { partition, generation, sequence, old, top, until } => {
            allow(right.writes(&partition))?;
            let nodes = wire::read_body(receiving, TREE_BYTES).await?;
            let nodes = Some(top.depth).filter(|depth| *depth <= MAX_DEPTH).and_then(|depth| Tree::parse_nodes(&nodes, depth));
            let nodes = nodes.ok_or(Refusal::Said("those are no nodes of pages"))?;
            let succession = Succession { volume: right.volume, generation, partition, sequence, old, new: top.root(), until };
            ack(app, &right, &succession, &Tree { top, nodes })
        }
    }
}

fn allow(may: bool) -> Result<(), Refusal> {
    if may { Ok(()) } else { Err(Denied::NoRight.into()) }
}

/// Work on the disk. It holds no other task up.
fn on_disk<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    tokio::task::block_in_place(work)
}

/// Whether `length` bytes more of a volume are taken.
fn room(app: &App, right: &Right, length: u64) -> Result<(), Refusal> {
    let most = store::on_disk(right.slot_quota).saturating_mul(TIMES_QUOTA).saturating_add(BESIDE_QUOTA);
    let used = app.store.used_by(&right.volume);
    if used.saturating_add(store::on_disk(length)) > most { Err(Refusal::Said("the volume has as much here as it may")) } else { Ok(()) }
}

async fn put_shard(app: &App, right: &Right, length: u64, receiving: &mut RecvStream) -> Result<Done, Refusal> {
    allow(right.writes_somewhere())?;
    if !right.receive(app, length) {
        return Err(Refusal::Said("the right does not cover as many bytes"));
    }
    room(app, right, length)?;
    let mut incoming = on_disk(|| app.store.begin(right.volume, length))?;
    loop {
        let frame = wire::read_frame(receiving, FRAME_BYTES).await?;
        if frame.is_empty() {
            break;
        }
        if on_disk(|| incoming.write(&frame)).is_err() {
            return Err(Refusal::Said("the shard is longer than was said, or the disk is full"));
        }
    }
    let hash: [u8; 32] = wire::read_frame(receiving, 32).await?.try_into().map_err(|_| WireError::Malformed)?;
    match on_disk(|| app.store.end(incoming, &Hash(hash), app.height()))? {
        true => Ok(done()),
        false => Err(Refusal::Said("the shard has another hash or length")),
    }
}

/// Signs a new root where everything of it is here that the slot has to have, and will be while the signature holds.
fn ack(app: &App, right: &Right, succession: &Succession, tree: &Tree) -> Result<Done, Refusal> {
    let height = app.height();
    if succession.until > height.saturating_add(ACK_BLOCKS + SLACK) {
        return Err(Refusal::Said("the signature would hold for too long"));
    }
    let slot = right.slot.ok_or(Refusal::Said("this relay does not serve the volume yet"))?;
    if Top::of(tree.top.depth, tree.top.leaves, tree.nodes.clone()) != Some(tree.top) {
        return Err(Refusal::Said("the top is not over these pages"));
    }
    let held = on_disk(|| has_all(&app.store, right, slot, succession, tree))?.map_err(Refusal::Said)?;
    let item = Item { volume: right.volume, kind: Kind::Tree, hash: succession.new };
    on_disk(|| {
        app.store.name(&held, height)?;
        app.store.put(&item, &tree.to_bytes(), height)
    })?;
    let signature = app.key.sign(&succession.message(&app.chain.genesis, slot, tree.top.node.sum));
    Ok((Answer::Acked { slot, signature }, None))
}

/// The pages of a tree and the slot's shards of its files, where the store has all of them. Those of pages that the standing root has too are there:
/// this relay signed it, or says that it is behind, and names them as long as it stands.
fn has_all(
    store: &Store,
    right: &Right,
    slot: u8,
    succession: &Succession,
    tree: &Tree,
) -> io::Result<Result<Vec<(Item, u64)>, &'static str>> {
    let (volume, old) = (right.volume, succession.old);
    let known = store.get(&Item { volume, kind: Kind::Tree, hash: old })?.and_then(|bytes| Tree::parse(&bytes));
    let before = if old == Hash::ZERO { Some(Tree::empty()) } else { known };
    let stands = right.roots.contains(&(succession.partition, old));
    let kept: BTreeSet<Hash> = before.iter().filter(|_| stands).flat_map(|before| &before.nodes).map(|node| node.hash).collect();
    let mut held = Vec::new();
    let mut new = BTreeSet::new();
    let mut files = 0_usize;
    for (place, node) in tree.nodes.iter().enumerate() {
        if node.sum == 0 && node.hash == Hash::ZERO {
            continue;
        }
        let item = Item { volume, kind: Kind::Page, hash: node.hash };
        let Some(bytes) = store.get(&item)? else { return Ok(Err("a page is not here")) };
        let page = Page::parse(&bytes, right.code, tree.top.depth, place).filter(|page| page.node() == Some(*node));
        let Some(page) = page else { return Ok(Err("a page is of another place")) };
        files = files.saturating_add(page.leaves.len());
        held.push((item, u64::try_from(bytes.len()).unwrap_or(u64::MAX)));
        if kept.contains(&node.hash) {
            continue;
        }
        for leaf in page.leaves.iter() {
            let Some(shard) = leaf.shards.get(usize::from(slot)) else { return Ok(Err("a leaf has too few shards")) };
            let item = Item { volume, kind: Kind::Shard, hash: *shard };
            if store.length(&item)? != Some(leaf.shard_bytes) {
                return Ok(Err("a shard is not here"));
            }
            held.push((item, leaf.shard_bytes));
        }
        new.extend(page.leaves.iter().map(|leaf| leaf.tag));
    }
    if right.is_holder() {
        // Nobody but the owner deletes: every file of a page that is gone stands in one that is new.
        let Some(before) = before else { return Ok(Err("the root before it is not here, so it cannot be seen whether a file is deleted")) };
        let standing: BTreeSet<Hash> = tree.nodes.iter().map(|node| node.hash).collect();
        for place in before.filled() {
            let hash = before.nodes[place].hash;
            if standing.contains(&hash) {
                continue;
            }
            let bytes = store.get(&Item { volume, kind: Kind::Page, hash })?.unwrap_or_default();
            let page = Page::parse(&bytes, right.code, before.top.depth, place);
            if page.is_none_or(|page| page.leaves.iter().any(|leaf| !new.contains(&leaf.tag))) {
                return Ok(Err("only the owner deletes files"));
            }
        }
    }
    Ok(if usize::try_from(tree.top.leaves).ok() == Some(files) { Ok(held) } else { Err("the top counts other files") })
}
