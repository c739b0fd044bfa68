//! What the operator's endpoint answers.

use cowboy_api::Hex;
use cowboy_types::{Address, Hash};
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf};

/// What is logged, in the words of `RUST_LOG`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogLevel {
    /// Directives, separated by commas.
    pub filter: String,
}

/// Other nodes, as this one sees them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peers {
    /// The other validators in the node's configuration.
    pub validators: Vec<ValidatorPeer>,
    /// Full nodes that this one takes blocks from, or is connected to.
    pub sources: Vec<SourcePeer>,
    /// The bans that have not ended.
    pub bans: Vec<BanNow>,
}

/// Another validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidatorPeer {
    /// Its network key.
    pub key: String,
    /// Where it listens, as the chain or the configuration says.
    pub address: Option<SocketAddr>,
    /// Whether the node is connected to it.
    pub is_connected: bool,
}

/// A full node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePeer {
    /// Its name: that of its key, or its address.
    pub name: String,
    /// The address by which it is scored beside its name.
    pub host: Option<String>,
    /// The points that count against it; 100 are a ban.
    pub points: u64,
    /// Whether the operator named it.
    pub is_named: bool,
    /// Whether it may be asked: neither it nor its host is banned.
    pub is_usable: bool,
    /// How long a packet takes to it and back, in microseconds; absent over HTTP.
    pub round_trip_us: Option<u64>,
}

/// A ban.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BanNow {
    /// The source or the host that is banned.
    pub name: String,
    /// The seconds until it ends.
    pub seconds_left: u64,
    /// How many bans of the name are remembered, this one included: each takes twice as long as the one before.
    pub bans: u32,
}

/// How the node was started: what holds, whether it was said or is the default. It has no secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The program's version.
    pub version: String,
    /// The chain.
    pub genesis: Hex<Hash>,
    /// The number in every signature.
    pub chain_id: u64,
    /// Whether it is a chain of development.
    pub is_dev: bool,
    /// Whether the node has the keys of a validator.
    pub is_validator: bool,
    /// Whether it pays from a faucet.
    pub has_faucet: bool,
    /// Where it keeps everything.
    pub folder: PathBuf,
    /// Where the API is.
    pub api: SocketAddr,
    /// Where this endpoint is.
    pub admin: SocketAddr,
    /// The limit of requests a second of one client.
    pub requests_per_second: Option<u32>,
    /// Where a validator listens for others.
    pub listen: Option<SocketAddr>,
    /// When a validator proposes: milliseconds after the block before, `governed` by the chain, or `instant`.
    pub block_time: Option<String>,
    /// For how long a validator without the record of its votes listens before it votes, in milliseconds.
    pub listen_before_voting_ms: Option<u64>,
    /// Threads of the node.
    pub threads: usize,
    /// The blocks that it keeps; absent where it keeps all.
    pub keep_blocks: Option<u64>,
    /// Of how many of the newest blocks it keeps the traces.
    pub keep_traces: u64,
    /// How many heights below the newest can be queried.
    pub keep_values: u64,
    /// The most that waits in the pool, in transactions.
    pub pool_transactions: usize,
    /// The same in bytes.
    pub pool_bytes: usize,
    /// The same of one sender, in transactions.
    pub pool_per_sender: usize,
}

/// What waits for a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolNow {
    /// Transactions.
    pub transactions: usize,
    /// Their bytes.
    pub bytes: usize,
    /// Their senders.
    pub senders: usize,
    /// Those that a proposed block took, and that are not final yet.
    pub taken: usize,
    /// The senders with the most transactions.
    pub largest_senders: Vec<SenderNow>,
}

/// A sender of transactions that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderNow {
    /// The account.
    pub address: Hex<Address>,
    /// How many of its transactions wait.
    pub transactions: usize,
}

/// How the stores of the node are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stores {
    /// Whether nothing needs to be done: the state is that of the newest block, and the ledger has no damage.
    pub is_sound: bool,
    /// The first block of the ledger.
    pub first_block: Option<u64>,
    /// The newest block of the ledger.
    pub newest_block: Option<u64>,
    /// How many blocks are to be fetched again, because a row of them was damaged.
    pub missing_blocks: usize,
    /// Damaged pages and rows of the ledger that were read since the start.
    pub damages: u64,
    /// Whether the state has been opened.
    pub is_state_open: bool,
    /// Whether the state is that of the newest block.
    pub is_state_current: bool,
    /// Bytes of the node's folder.
    pub bytes: u64,
    /// Bytes that the node may still write to the disk of its folder.
    pub disk_free_bytes: u64,
}
