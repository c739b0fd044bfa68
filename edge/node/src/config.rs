//! What a node is started with.

use crate::{committee::ValidatorKeys, genesis::Genesis, pace::BlockTime, votes};
use commonware_cryptography::ed25519::PublicKey;
use cowboy_store::Retention;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

/// What a node is started with.
#[derive(Clone)]
pub struct NodeConfig {
    /// Where it keeps everything.
    pub directory: PathBuf,
    /// The chain.
    pub genesis: Genesis,
    /// Its secrets; none for a follower.
    pub keys: Option<ValidatorKeys>,
    /// When it proposes.
    pub block_time: BlockTime,
    /// Where it listens for peers, over QUIC.
    pub listen: SocketAddr,
    /// The other validators, and where they listen.
    pub peers: Vec<(PublicKey, SocketAddr)>,
    /// Threads that run its tasks.
    pub threads: usize,
    /// How much of the newest blocks it keeps beside the blocks.
    pub retention: Retention,
    /// How long it listens before it votes where the record of its votes is lost. At least the longest round.
    pub listening: Duration,
}

impl NodeConfig {
    /// A lone validator with a block every second.
    pub fn alone(directory: PathBuf, genesis: Genesis, keys: ValidatorKeys) -> Self {
        Self {
            directory,
            genesis,
            keys: Some(keys),
            block_time: BlockTime::Every(Duration::from_secs(1)),
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            peers: Vec::new(),
            threads: 2,
            retention: Retention::default(),
            listening: votes::LISTENING_TIME,
        }
    }

    /// A node that votes on nothing, and is fed with the blocks of others.
    pub fn follower(directory: PathBuf, genesis: Genesis) -> Self {
        Self {
            directory,
            genesis,
            keys: None,
            block_time: BlockTime::Instant,
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            peers: Vec::new(),
            threads: 2,
            retention: Retention::default(),
            listening: votes::LISTENING_TIME,
        }
    }
}
