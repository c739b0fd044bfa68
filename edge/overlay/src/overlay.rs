//! A running node of the network: it listens, finds peers, connects to some of them, and keeps the connections.

use crate::{
    discovery::{Discovery, DiscoveryError},
    handshake,
    identity::{KeyError, NodeKey},
    peer::{CLOSED, Peer, name_of},
    pool::Pool,
    record::{NodeId, Record},
    server::{Provider, Server},
    source::Source,
    table::{PeerTable, Rejected},
};
use cowboy_host::clock;
use cowboy_serve::{
    Client,
    quic::{self, SERVER_NAME, SetupError},
};
use cowboy_types::Hash;
use quinn::{ClientConfig, Endpoint, TransportConfig, VarInt};
use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    io,
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};
use tokio::{task::JoinSet, time::timeout};

/// What both ends call the protocol.
pub(crate) const ALPN: &[u8] = b"cowboy-overlay/1";

/// Connections that a node opens.
const OUTGOING: usize = 8;

/// How often a node looks whether it has enough of them.
const DIAL_EVERY: Duration = Duration::from_secs(2);

/// How long a connection may take to open.
const DIAL_TIME: Duration = Duration::from_secs(10);

/// How often a node looks for others, and how often while it has few peers.
const LOOK_EVERY: Duration = Duration::from_secs(60);
const LOOK_EVERY_LONELY: Duration = Duration::from_secs(5);

/// Peers with which a node is not lonely.
const ENOUGH: usize = 3;

/// How long an end may leave a message of the handshake standing still.
const PATIENCE: Duration = Duration::from_secs(10);

/// Streams that a peer may have open at a time.
const MAX_STREAMS: u32 = 16;

/// Bytes on their way to this node that it has not read: of one stream, of a connection that it opened, and of one that a stranger opened, who only asks.
const STREAM_WINDOW: u32 = 1024 * 1024;
pub(crate) const CONNECTION_WINDOW: u32 = 8 * 1024 * 1024;
const INCOMING_WINDOW: u32 = 1024 * 1024;

/// How often a silent connection says that it is there, and when it counts as dead, in milliseconds.
const KEEP_ALIVE: Duration = Duration::from_secs(3);
const IDLE_MS: u32 = 15_000;

/// What a node of the overlay is started with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder of its key and of the records that it knows.
    pub directory: PathBuf,
    /// Where it listens for peers.
    pub listen: SocketAddr,
    /// The port of discovery, at the same address; 0 takes any.
    pub discovery_port: u16,
    /// The address that its record names; `None` for the one where it listens, or where that is any, the one that its peers see.
    pub advertise: Option<IpAddr>,
    /// The hash of the chain's genesis block.
    pub chain: Hash,
    /// Records of nodes to begin with.
    pub bootstrap: Vec<Record>,
}

/// A node of the overlay does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A file cannot be used.
    #[error("cannot use {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// Another process has the folder.
    #[error("{0} is in use by another node: stop that node, or choose another folder")]
    InUse(PathBuf),
    /// The node's key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The port is taken, or not ours to take.
    #[error("cannot listen for peers at {address}: {source}; take another address with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The underlying error.
        source: io::Error,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Quic(#[from] SetupError),
    /// Discovery does not start.
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    /// A bootstrap record is of no use.
    #[error("a bootstrap record is refused: {0}; name records of nodes of this chain, as `cowboyd record` prints them there")]
    Bootstrap(Rejected),
}

/// A node of the overlay, until this is dropped.
pub struct Overlay {
    shared: Arc<Shared>,
    provider: Arc<OnceLock<Arc<dyn Provider>>>,
    endpoint: Endpoint,
    /// Keeps other processes out: two nodes with one key would each replace the record of the other, here and at its peers.
    _lock: File,
    _tasks: JoinSet<()>,
}

struct Shared {
    key: NodeKey,
    chain: Hash,
    discovery: Discovery,
    table: Mutex<PeerTable>,
    /// Nodes that this node connected to, or is connecting to.
    dialled: Mutex<BTreeMap<NodeId, SocketAddr>>,
    pool: Arc<Pool>,
    endpoint: Endpoint,
    client: ClientConfig,
    /// The file of the records of others.
    records: PathBuf,
    /// The file of this node's own record.
    own_record: PathBuf,
}

impl Overlay {
    /// The file of its own record, in its folder.
    pub const RECORD_FILE: &str = "record";

    /// Listens, and begins to look for peers. Needs a tokio runtime.
    pub async fn start(config: Config) -> Result<Self, StartError> {
        let Config { directory, listen, discovery_port, advertise, chain, bootstrap } = config;
        let file = |path: &Path| {
            let path = path.to_owned();
            move |source| StartError::File { path, source }
        };
        std::fs::create_dir_all(&directory).map_err(file(&directory))?;
        let lock = claim(&directory)?;
        let key = NodeKey::open(&directory.join("node.key"))?;
        let (mut server, client) = quic::configs(ALPN, transport(CONNECTION_WINDOW))?;
        server.transport_config(quic::paced(transport(INCOMING_WINDOW)));
        let listening = |source| StartError::Listen { address: listen, source };
        let endpoint = Endpoint::server(server, listen).map_err(listening)?;
        let bound = endpoint.local_addr().map_err(listening)?;
        let sequence = clock::now().as_secs();
        let address = SocketAddr::new(listen.ip(), discovery_port);
        let discovery = Discovery::start(&key, &chain, (address, advertise), bound.port(), sequence).await?;
        let records = directory.join("peers");
        let mut table = PeerTable::new(chain, discovery.own().id(), advertise.unwrap_or(listen.ip()));
        let pool = Arc::new(Pool::default());
        for record in bootstrap {
            pool.fix(&name_of(&record.id()));
            match table.pin(record) {
                Ok(()) | Err(Rejected::Own) => {}
                Err(rejected) => return Err(StartError::Bootstrap(rejected)),
            }
        }
        table.load(&records);
        table.records().for_each(|record| discovery.add(record));
        let shared = Arc::new(Shared {
            key: key.clone(),
            chain,
            discovery,
            table: Mutex::new(table),
            dialled: Mutex::default(),
            pool,
            endpoint: endpoint.clone(),
            client,
            records,
            own_record: directory.join(Self::RECORD_FILE),
        });
        shared.save().map_err(file(&directory))?;
        let provider = Arc::new(OnceLock::new());
        let (owner, meets) = (shared.clone(), shared.clone());
        let server = Server::new(
            key,
            move || owner.discovery.own(),
            provider.clone(),
            shared.pool.clone(),
            move |record, from| meets.connected(record, from),
        );
        let mut tasks = JoinSet::new();
        tasks.spawn(Arc::new(server).accept(endpoint.clone()));
        tasks.spawn(shared.clone().look_for_peers());
        tasks.spawn(shared.clone().keep_connected());
        Ok(Self { shared, provider, endpoint, _lock: lock, _tasks: tasks })
    }

    /// This node's record, for others to begin with.
    pub fn record(&self) -> Record {
        self.shared.discovery.own()
    }

    /// The peers that this node is connected to, as sources.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.shared.pool
    }

    /// How many records this node knows.
    pub fn known(&self) -> usize {
        self.shared.table().len()
    }

    /// Answers the requests of peers from now on; before, they are told that the node is busy.
    pub fn provide(&self, provider: Arc<dyn Provider>) {
        // The first one stays.
        let _ = self.provider.set(provider);
    }

    /// Ends all connections, and keeps the records that are known.
    pub async fn stop(self) {
        self.shared.keep();
        self.endpoint.close(CLOSED, b"stopped");
        // Peers that are gone acknowledge nothing.
        let _ = timeout(Duration::from_secs(1), self.endpoint.wait_idle()).await;
    }
}

/// Claims a folder until the file is dropped.
fn claim(directory: &Path) -> Result<File, StartError> {
    let path = directory.join("lock");
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let failed = |source| StartError::File { path: path.clone(), source };
    let lock = opened.map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StartError::InUse(directory.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(source)),
    }
}

pub(crate) fn transport(window: u32) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(MAX_STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(window))
        .send_window(u64::from(CONNECTION_WINDOW))
        .keep_alive_interval(Some(KEEP_ALIVE))
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_MS).into()));
    transport
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, PeerTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn dialled(&self) -> MutexGuard<'_, BTreeMap<NodeId, SocketAddr>> {
        self.dialled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save(&self) -> io::Result<()> {
        std::fs::write(&self.own_record, format!("{}\n", self.discovery.own()))?;
        self.table().save(&self.records)
    }

    fn keep(&self) {
        if let Err(error) = self.save() {
            tracing::warn!(%error, path = %self.records.display(), "the records of peers cannot be kept");
        }
    }

    /// Takes over the record of a node that connected from an address, where it names that address: whoever is at one fills no table with others.
    fn connected(&self, record: Record, from: IpAddr) {
        match record.quic() {
            Some(address) if address.ip().to_canonical() != from.to_canonical() => {
                tracing::debug!(%address, %from, "a record names another address than its node's, and is not kept");
            }
            _ => self.met(record),
        }
    }

    /// Takes over the record of a node that was found, or that connected.
    fn met(&self, record: Record) {
        match self.table().insert(record.clone()) {
            Ok(()) => self.discovery.add(&record),
            Err(reason) => tracing::debug!(%reason, "a record is not kept"),
        }
    }

    async fn look_for_peers(self: Arc<Self>) {
        loop {
            for record in self.discovery.look().await {
                self.met(record);
            }
            self.keep();
            let is_lonely = self.pool.standing().usable < ENOUGH;
            tokio::time::sleep(if is_lonely { LOOK_EVERY_LONELY } else { LOOK_EVERY }).await;
        }
    }

    async fn keep_connected(self: Arc<Self>) {
        let (mut dials, mut ticks, mut seed) = (JoinSet::new(), tokio::time::interval(DIAL_EVERY), 0u64);
        loop {
            ticks.tick().await;
            while dials.try_join_next().is_some() {}
            seed = seed.wrapping_add(1);
            let connected = self.dialled().clone();
            let free = OUTGOING.saturating_sub(connected.len());
            let candidates = self.table().candidates(free, &connected, seed);
            for (record, address) in candidates {
                if self.pool.is_banned(&name_of(&record.id()), Some(&Client::from(address.ip()).to_string())) {
                    continue;
                }
                self.dialled().insert(record.id(), address);
                let shared = self.clone();
                dials.spawn(async move {
                    shared.stay_connected(&record, address).await;
                    shared.dialled().remove(&record.id());
                });
            }
        }
    }

    /// Connects to a node, and waits until the connection ends.
    async fn stay_connected(&self, record: &Record, address: SocketAddr) {
        let peer = match timeout(DIAL_TIME, self.dial(record, address)).await {
            Ok(Ok(peer)) => Arc::new(peer),
            Ok(Err(reason)) => {
                tracing::debug!(reason, %address, "a peer cannot be reached");
                return self.table().failed(&record.id());
            }
            Err(_) => return self.table().failed(&record.id()),
        };
        self.table().proven(peer.id());
        tracing::info!(name = peer.name(), %address, "connected to a peer");
        let source: Arc<dyn Source> = peer.clone();
        self.pool.add(source.clone());
        let reason = peer.connection().closed().await;
        tracing::info!(name = peer.name(), %reason, "a peer is disconnected");
        self.pool.remove(&source);
    }

    async fn dial(&self, record: &Record, address: SocketAddr) -> Result<Peer, String> {
        let connecting = self.endpoint.connect_with(self.client.clone(), address, SERVER_NAME).map_err(|error| error.to_string())?;
        let connection = connecting.await.map_err(|error| error.to_string())?;
        let own = self.discovery.own();
        debug_assert_eq!(*own.chain(), self.chain, "a node has one chain");
        match handshake::dial(&connection, &self.key, &own, record, PATIENCE).await {
            Ok(()) => Ok(Peer::new(record, connection)),
            Err(error) => {
                connection.close(CLOSED, error.to_string().as_bytes());
                Err(error.to_string())
            }
        }
    }
}
