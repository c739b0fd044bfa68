//! Nodes of the overlay over real sockets of the loopback, and hostile ones.

use crate::{
    Busy, Config, Failed, GenesisParts, NodeKey, Operations, Overlay, Position, Provider, Record, Source,
    handshake::{self, HandshakeError},
    overlay::{ALPN, CONNECTION_WINDOW, transport},
    peer::Peer,
    pool::Pool,
    record::Addresses,
    server::Server,
    wire::{self, Request, Status},
};
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_api::{follow::Frame, model::SubmitResult};
use cowboy_serve::{
    Client, Memory,
    quic::{SERVER_NAME, configs},
};
use cowboy_types::{Blob, Hash};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, VarInt};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

const CHAIN: Hash = Hash([7; 32]);
const BLOCKS: u64 = 20;

/// A block for which the node has no time.
const CROWDED: Hash = Hash([8; 32]);

/// A chain of blocks of this many bytes each.
struct Chain(usize);

impl Chain {
    fn frame(&self, number: u64) -> Frame {
        Frame { block: vec![number.to_le_bytes()[0]; self.0], certificate: vec![9; 40] }
    }
}

fn ready<T: Send + 'static>(value: T) -> BoxFuture<'static, T> {
    std::future::ready(value).boxed()
}

impl Provider for Chain {
    fn head(&self) -> Position {
        Position { number: BLOCKS, height: BLOCKS }
    }

    fn genesis(&self) -> GenesisParts {
        GenesisParts { config: Blob::new(vec![1]).expect("it is short"), sharing: Blob::new(vec![2]).expect("it is short") }
    }

    fn find(&self, block: Hash, _: Client) -> BoxFuture<'static, Result<Option<Position>, Busy>> {
        let found = (block == CHAIN).then_some(Position { number: 0, height: 0 });
        ready(if block == CROWDED { Err(Busy) } else { Ok(found) })
    }

    fn block(&self, number: u64, _: Client) -> BoxFuture<'static, Option<Bytes>> {
        match number {
            1..=BLOCKS => ready(Some(self.frame(number).encode().into())),
            _ => std::future::pending().boxed(),
        }
    }

    fn operations(&self, wanted: Operations, _: Client) -> BoxFuture<'static, Option<Bytes>> {
        ready((wanted.size == 5).then(|| Bytes::from_static(b"operations")))
    }

    fn copy(&self, number: u64, _: Client) -> BoxFuture<'static, Result<Option<Bytes>, Busy>> {
        let found = (number == 3).then(|| Bytes::from_static(b"copy"));
        ready(if number == 4 { Err(Busy) } else { Ok(found) })
    }

    fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8, _: SocketAddr) -> BoxFuture<'static, Option<Vec<SubmitResult>>> {
        ready((hops > 0).then(|| transactions.iter().map(|_| SubmitResult::default()).collect()))
    }
}

fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

async fn node(folder: &Path, name: &str, bootstrap: Vec<Record>) -> Overlay {
    let directory = folder.join(name);
    let config = Config { directory, listen: anywhere(), discovery_port: 0, advertise: None, chain: CHAIN, bootstrap };
    let node = Overlay::start(config).await.expect("the loopback has free ports");
    node.provide(Arc::new(Chain(1_000)));
    node
}

/// Waits until the node has this many peers.
async fn wait_for_peers(node: &Overlay, count: usize) -> Vec<Arc<dyn Source>> {
    let mut changes = node.pool().changes();
    let enough = async {
        while node.pool().standing().usable < count {
            changes.changed().await.expect("the pool lives");
        }
    };
    tokio::time::timeout(Duration::from_secs(60), enough).await.expect("the peers come");
    node.pool().usable()
}

/// a node that knows one other finds a third by it, reaches it where its record says, and gets everything that a peer serves.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_find_each_other_and_serve_their_chain() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = node(folder.path(), "first", vec![]).await;
    let second = node(folder.path(), "second", vec![first.record()]).await;
    let source = wait_for_peers(&second, 1).await.remove(0);
    assert_eq!(source.head().await.expect("it answers"), Position { number: BLOCKS, height: BLOCKS });
    assert_eq!(source.genesis().await.expect("it answers"), Chain(1).genesis());
    assert_eq!(source.find(CHAIN).await.expect("it has it").number, 0);
    assert!(matches!(source.find(Hash([9; 32])).await, Err(Failed::Missing)));
    let busy = [source.find(CROWDED).await.err(), source.copy(4, 4).await.err()];
    assert!(busy.iter().all(|failed| matches!(failed, Some(Failed::Away(_)))), "it may have them: {busy:?}");
    let from = Position { number: 18, height: 18 };
    let blocks: Vec<_> = source.blocks(from).await.expect("it streams").take(3).map(|frame| frame.expect("they come")).collect().await;
    assert_eq!(blocks, [18, 19, 20].map(|number| Chain(1_000).frame(number)));
    let operations = |size| source.operations(Operations { size, start: 1, most: 64 }, 10);
    assert_eq!(operations(5).await.expect("it has them"), "operations");
    assert!(matches!(operations(6).await, Err(Failed::Missing)));
    assert_eq!(source.copy(3, 4).await.expect("it has it"), "copy");
    assert!(matches!(source.copy(3, 3).await, Err(Failed::Malformed(_))), "more bytes than are allowed");
    assert_eq!(source.submit(vec![vec![1], vec![2]], 1).await.expect("it takes them").len(), 2);
    assert!(matches!(source.submit(vec![vec![1]], 0).await, Err(Failed::Away(_))));

    let third = node(folder.path(), "third", vec![second.record()]).await;
    let names: Vec<String> = wait_for_peers(&third, 2).await.iter().map(|source| source.name().to_owned()).collect();
    assert!(names.contains(&source.name().to_owned()), "the first is found by the second: {names:?}");
    // Its folder has them, so that it needs no record the next time.
    let known = third.known();
    third.stop().await;
    let again = node(folder.path(), "third", vec![]).await;
    assert_eq!(again.known(), known);
    wait_for_peers(&again, 2).await;
}

/// A server with this chain, and what dials it.
struct Served {
    address: SocketAddr,
    record: Record,
    server: Arc<Server>,
    _task: tokio::task::JoinHandle<()>,
}

const SHORT: Duration = Duration::from_millis(300);

fn record_of(key: &NodeKey, chain: Hash, quic: u16) -> Record {
    let addresses = Addresses { ip: Some(Ipv4Addr::LOCALHOST.into()), discovery: 1, quic };
    Record::new(key, 1, &chain, addresses).expect("it fits")
}

fn serve(chain: Chain) -> Served {
    serve_with(chain, |server| server.with_patience(SHORT))
}

/// The same with a server that is changed.
fn serve_with(chain: Chain, change: impl FnOnce(Server) -> Server) -> Served {
    let (config, _) = configs(ALPN, transport(CONNECTION_WINDOW)).expect("TLS");
    let endpoint = Endpoint::server(config, anywhere()).expect("the loopback has free ports");
    let address = endpoint.local_addr().expect("it is bound");
    let key = NodeKey::random().expect("the system has randomness");
    let record = record_of(&key, CHAIN, address.port());
    let own = record.clone();
    let provider: Arc<OnceLock<Arc<dyn Provider>>> = Arc::new(OnceLock::new());
    assert!(provider.set(Arc::new(chain)).is_ok());
    let server = Server::new(key, move || own.clone(), provider, Arc::new(Pool::default()), |_, _| ());
    let server = Arc::new(change(server));
    let task = tokio::spawn(server.clone().accept(endpoint));
    Served { address, record, server, _task: task }
}

/// An endpoint at an address of the loopback, and its configuration.
fn dialer(host: u8) -> (Endpoint, ClientConfig) {
    let (_, client) = configs(ALPN, transport(CONNECTION_WINDOW)).expect("TLS");
    (Endpoint::client((Ipv4Addr::new(127, 0, 0, host), 0).into()).expect("the loopback has free ports"), client)
}

impl Served {
    async fn connect(&self, (endpoint, client): &(Endpoint, ClientConfig)) -> Result<Connection, quinn::ConnectionError> {
        endpoint.connect_with(client.clone(), self.address, SERVER_NAME).expect("the address is good").await
    }

    /// A peer that did the handshake.
    async fn peer(&self, dialer: &(Endpoint, ClientConfig)) -> Result<Peer, HandshakeError> {
        let connection = self.connect(dialer).await?;
        let key = NodeKey::random().expect("the system has randomness");
        handshake::dial(&connection, &key, &record_of(&key, CHAIN, 1), &self.record, SHORT * 10).await?;
        Ok(Peer::new(&self.record, connection))
    }
}

/// Connections that say nothing hold what their host may have, others connect, and the silent ones end.
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_handshakes_keeps_no_other_out() {
    let served = serve(Chain(10));
    let (attacker, other) = (dialer(2), dialer(130));
    let held: Vec<_> = futures::future::join_all((0..100).map(|_| served.connect(&attacker))).await;
    let held: Vec<Connection> = held.into_iter().flatten().collect();
    assert!((1..100).contains(&held.len()), "{} of 100", held.len());
    let peer = served.peer(&other).await.expect("another host has handshakes of its own");
    assert_eq!(peer.head().await.expect("it answers").number, BLOCKS);
    for connection in held {
        connection.closed().await;
    }
}

/// Waits until what the server holds is as `is_so` says.
async fn wait_for_held(served: &Served, is_so: impl Fn(usize) -> bool) {
    let wait = async {
        while !is_so(served.server.held()) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait).await.expect("the bytes come, or are given up");
}

/// A peer that does not read what it asked for is given up, and what was held for it is free.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_holds_nothing() {
    const LONG: usize = 4 * 1024 * 1024;
    let served = serve(Chain(LONG));
    let peer = served.peer(&dialer(1)).await.expect("it connects");
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(peer.blocks(Position { number: 1, height: 1 }).await.expect("it streams"));
    }
    // Nobody reads: first the blocks are held, and then they are given up.
    wait_for_held(&served, |bytes| bytes >= LONG).await;
    wait_for_held(&served, |bytes| bytes == 0).await;
    for stream in streams {
        // What was on its way comes; then the stream ends with an error.
        assert!(stream.any(|frame| std::future::ready(frame.is_err())).await);
    }
    assert!(peer.head().await.is_ok(), "the connection itself is open");
}

/// Decision 758: a request counts in the memory of its client from its first bytes until it is answered, as answers do.
#[tokio::test(flavor = "multi_thread")]
async fn requests_count_while_they_come() {
    let served = serve_with(Chain(10), |server| server.with_memory(Memory::new(10_000, 4_000)));
    let peer = served.peer(&dialer(1)).await.expect("it connects");
    let holds = async |bytes: usize| wait_for_held(&served, |held| held == bytes).await;
    let (mut sending, _receiving) = fill(&peer, 3_000).await;
    holds(3_000).await;
    let refused = peer.submit(vec![vec![1; 2_000]], 1).await;
    assert!(matches!(refused, Err(Failed::Away(_))), "{refused:?}");
    assert!(peer.head().await.is_ok(), "what is short has room");
    sending.reset(VarInt::from_u32(0)).expect("it is open");
    holds(0).await;
    assert_eq!(peer.submit(vec![vec![1; 2_000]], 1).await.expect("there is room").len(), 1);
}

/// Begins a request with transactions of this many bytes, which does not end.
async fn fill(peer: &Peer, bytes: u16) -> (SendStream, RecvStream) {
    let (mut sending, receiving) = peer.connection().open_bi().await.expect("it is open");
    sending.write_all(&(u32::from(bytes) + 1_000).to_be_bytes()).await.expect("it is open");
    sending.write_all(&vec![6_u8; usize::from(bytes)]).await.expect("it is open");
    (sending, receiving)
}

/// Decision 758: who shares a subnet with clients that hold all the memory that it may have is refused nothing that is short. It would count a refusal
/// against a node that is honest.
#[tokio::test(flavor = "multi_thread")]
async fn short_requests_need_no_room() {
    let served = serve_with(Chain(10), |server| server.with_memory(Memory::new(100_000, 3_000)).with_patience(SHORT * 200));
    let mut held = Vec::new();
    for host in [2, 3] {
        let peer = served.peer(&dialer(host)).await.expect("it connects");
        held.push((fill(&peer, 3_000).await, peer));
    }
    wait_for_held(&served, |bytes| bytes == 6_000).await;
    let peer = served.peer(&dialer(4)).await.expect("it connects");
    assert_eq!(peer.head().await.expect("it answers"), Position { number: BLOCKS, height: BLOCKS });
    assert_eq!(peer.genesis().await.expect("it answers"), Chain(10).genesis());
    assert_eq!(peer.find(CHAIN).await.expect("it has it").number, 0);
    assert_eq!(peer.operations(Operations { size: 5, start: 1, most: 64 }, 10).await.expect("it has them"), "operations");
    assert_eq!(peer.copy(3, 4).await.expect("it has it"), "copy");
    let mut blocks = peer.blocks(Position { number: 7, height: 7 }).await.expect("it streams");
    assert_eq!(blocks.next().await.expect("there is one").expect("it is short"), Chain(10).frame(7));
    let refused = peer.submit(vec![vec![1; 100]], 1).await;
    assert!(matches!(refused, Err(Failed::Away(_))), "{refused:?}");
    assert_eq!(served.server.held(), 6_000, "nobody left");
}

/// The request of a stream of blocks, which has no end, counts until the stream begins.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_waits_holds_nothing() {
    let served = serve(Chain(10));
    let peer = served.peer(&dialer(1)).await.expect("it connects");
    let next = BLOCKS + 1;
    let _waiting = peer.blocks(Position { number: next, height: next }).await.expect("it streams");
    assert_eq!(served.server.held(), 0);
}

/// Who breaks the protocol is disconnected: lengths beyond any message, messages cut off, followed by more, or of no kind.
#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_end_the_connection() {
    let served = serve(Chain(10));
    let dialer = dialer(1);
    let huge = u32::MAX.to_be_bytes().to_vec();
    let unknown = [&2u32.to_be_bytes()[..], &[99, 0]].concat();
    let twice = [&1u32.to_be_bytes()[..], &[1], &1u32.to_be_bytes(), &[1]].concat();
    let short = [&9u32.to_be_bytes()[..], &[3, 0]].concat();
    let rows: [(&str, Vec<u8>, bool); 5] =
        [("too long", huge, true), ("unknown", unknown, true), ("twice", twice, true), ("empty", vec![], true), ("cut off", short, false)];
    for (what, bytes, closes) in rows {
        let peer = served.peer(&dialer).await.expect("it connects");
        let (mut sending, mut receiving) = peer.connection().open_bi().await.expect("it is open");
        sending.write_all(&bytes).await.expect("it is open");
        sending.finish().expect("it is open");
        assert!(wire::status(&mut receiving, SHORT * 10).await.is_err(), "{what}: no answer");
        match closes {
            true => drop(peer.connection().closed().await),
            false => assert!(peer.head().await.is_ok(), "{what}: the stream alone ends"),
        }
    }
}

/// A source's answers are bounded and strict too.
#[tokio::test(flavor = "multi_thread")]
async fn malformed_answers_are_refused() {
    let rows: [(&str, Vec<u8>); 5] = [
        ("no status", vec![]),
        ("another status", vec![9]),
        ("too long", [&[0][..], &u32::MAX.to_be_bytes()].concat()),
        ("short", [&[0][..], &16u32.to_be_bytes(), &[1; 8]].concat()),
        ("of another length", [&[0][..], &15u32.to_be_bytes(), &[1; 15]].concat()),
    ];
    for (what, answer) in rows {
        let (config, _) = configs(ALPN, transport(CONNECTION_WINDOW)).expect("TLS");
        let endpoint = Endpoint::server(config, anywhere()).expect("the loopback has free ports");
        let address = endpoint.local_addr().expect("it is bound");
        let answering = tokio::spawn(async move {
            let connection = endpoint.accept().await.expect("it is open").await.expect("it connects");
            let (mut sending, _receiving) = connection.accept_bi().await.expect("it asks");
            sending.write_all(&answer).await.expect("it is open");
            sending.finish().expect("it is open");
            connection.closed().await;
        });
        let (endpoint, client) = dialer(1);
        let connection = endpoint.connect_with(client, address, SERVER_NAME).expect("the address is good").await.expect("it connects");
        let key = NodeKey::random().expect("the system has randomness");
        let peer = Peer::new(&record_of(&key, CHAIN, 1), connection);
        assert!(peer.head().await.is_err(), "{what}");
        peer.close();
        answering.await.expect("it does not panic");
    }
}

/// A connection is with the node of the record, of this chain: another node, another chain, and one in the middle that passes both
/// ends' messages on are found out.
#[tokio::test(flavor = "multi_thread")]
async fn a_peer_is_the_node_of_its_record() {
    let served = serve(Chain(10));
    let dialer = dialer(1);
    let key = NodeKey::random().expect("the system has randomness");
    let own = record_of(&key, CHAIN, 1);
    let connection = served.connect(&dialer).await.expect("it connects");
    let other = record_of(&NodeKey::random().expect("randomness"), CHAIN, served.address.port());
    let refused = handshake::dial(&connection, &key, &own, &other, SHORT * 10).await;
    assert!(matches!(refused, Err(HandshakeError::OtherNode)), "{refused:?}");

    let connection = served.connect(&dialer).await.expect("it connects");
    let foreign = record_of(&key, Hash([8; 32]), 1);
    let refused = handshake::dial(&connection, &key, &foreign, &served.record, SHORT * 10).await;
    assert!(refused.is_err(), "of another chain");

    // In the middle: the dialer's message arrives at the server over a second connection, and the server's answer goes back.
    let (config, client) = configs(ALPN, transport(CONNECTION_WINDOW)).expect("TLS");
    let middle = Endpoint::server(config, anywhere()).expect("the loopback has free ports");
    let (at, target) = (middle.local_addr().expect("it is bound"), served.address);
    let relay = tokio::spawn(async move {
        let victim = middle.accept().await.expect("it is open").await.expect("it connects");
        let (_answer, mut said) = victim.accept_bi().await.expect("it says hello");
        let hello = wire::receive_only(&mut said, 1_024, SHORT * 10).await.expect("it comes");
        let out = middle.connect_with(client, target, SERVER_NAME).expect("the address is good").await.expect("it connects");
        let (mut sending, mut receiving) = out.open_bi().await.expect("it is open");
        wire::send(&mut sending, &hello, SHORT * 10).await.expect("it is open");
        sending.finish().expect("it is open");
        let answered = wire::receive_only(&mut receiving, 1_024, SHORT * 10).await;
        victim.close(VarInt::from_u32(0), b"over");
        answered.is_ok()
    });
    let (endpoint, client) = &dialer;
    let connection = endpoint.connect_with(client.clone(), at, SERVER_NAME).expect("the address is good").await.expect("it connects");
    assert!(handshake::dial(&connection, &key, &own, &served.record, SHORT * 10).await.is_err());
    assert!(!relay.await.expect("it does not panic"), "the server takes no message of another connection");
}

/// Decision 759: a folder has one node at a time. A second one ends before it has replaced the record of the first.
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_has_one_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = node(folder.path(), "first", vec![]).await;
    let directory = folder.path().join("first");
    let record = || std::fs::read_to_string(directory.join(Overlay::RECORD_FILE)).expect("it is there");
    let own = record();
    let config =
        Config { directory: directory.clone(), listen: anywhere(), discovery_port: 0, advertise: None, chain: CHAIN, bootstrap: vec![] };
    let refused = Overlay::start(config).await.err().expect("the folder is taken").to_string();
    assert!(refused.contains("is in use by another node"), "{refused}");
    assert_eq!((own.trim(), record()), (first.record().to_string().as_str(), own.clone()));
    first.stop().await;
    let again = node(folder.path(), "first", vec![]).await;
    assert_eq!(again.record().id(), own.trim().parse::<Record>().expect("a record").id());
}

/// Before the node has its chain it says that it is busy.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_chain_is_busy() {
    let folder = tempfile::tempdir().expect("a folder");
    let listen = anywhere();
    let directory = folder.path().join("first");
    let config = Config { directory, listen, discovery_port: 0, advertise: None, chain: CHAIN, bootstrap: vec![] };
    let first = Overlay::start(config).await.expect("the loopback has free ports");
    let second = node(folder.path(), "second", vec![first.record()]).await;
    let source = wait_for_peers(&second, 1).await.remove(0);
    assert!(matches!(source.head().await, Err(Failed::Away(_))));
    assert_eq!(Status::Busy as u8, 1);
    assert_eq!(Request::Head.encode().len(), 1);
}
