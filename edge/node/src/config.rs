//! What a node is started with.

use crate::{committee::ValidatorKeys, epoch, genesis::Genesis, pace::BlockTime, votes};
use commonware_cryptography::ed25519::PublicKey;
use cowboy_store::Retention;
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

/// Blocks that are kept beside two epochs: as many as the engine keeps of its own.
const MARGIN: u64 = 1_024;

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
    /// How many blocks it keeps, and how much beside them. At least [`Self::kept`] blocks are kept.
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

    /// What the ledger keeps: as much as is configured, and always the blocks of this epoch and of the one before, with those that the engine fetches
    /// from peers. Whoever begins at the newest state needs the block that introduces its epoch, and follows from there.
    pub(crate) fn kept(&self) -> Retention {
        let needed = epoch::length(&self.genesis.chain).get().saturating_mul(2).saturating_add(MARGIN);
        Retention { blocks: self.retention.blocks.max(needed), ..self.retention }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::genesis::{DevGenesis, dev};

    /// No configuration drops what the network needs.
    #[test]
    fn two_epochs_are_always_kept() {
        let mut genesis = dev(DevGenesis::default()).expect("a genesis").0;
        let chain = std::sync::Arc::make_mut(&mut genesis.chain);
        chain.is_dev = false;
        chain.params.consensus.epoch = 60;
        let needed = 2 * 60 + MARGIN;
        for (asked, kept) in [(1, needed), (needed, needed), (needed + 1, needed + 1), (u64::MAX, u64::MAX)] {
            let mut config = NodeConfig::follower("state".into(), genesis.clone());
            config.retention.blocks = asked;
            assert_eq!(config.kept(), Retention { blocks: kept, ..Retention::default() });
        }
    }

    /// The one epoch of a dev chain never ends, so none of its blocks is dropped.
    #[test]
    fn a_dev_chain_keeps_each_block() {
        let genesis = dev(DevGenesis::default()).expect("a genesis").0;
        let config =
            NodeConfig { retention: Retention { blocks: 1, ..Retention::default() }, ..NodeConfig::follower("state".into(), genesis) };
        assert_eq!(config.kept().blocks, u64::MAX);
    }
}
