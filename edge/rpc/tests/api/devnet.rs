//! A devnet in this process, answering on a free port of the loopback.

use cowboy_api::{
    Client,
    keystore::{DEV_MNEMONIC, Mnemonic},
};
use cowboy_chain::genesis::Funded;
use cowboy_node::{
    BlockTime, NodeConfig, NodeHandle,
    genesis::{self, DevGenesis},
};
use cowboy_rpc::{Backend, Config, Listeners, Server};
use cowboy_types::{Amount, Cells, ChainId, Cycles, Instruction, Nonce, Transaction, signing::PrivateKey, units::Price};
use std::net::{Ipv4Addr, SocketAddr};

/// A running devnet. The first three accounts of the dev mnemonic have 1,000 CBY each.
pub(crate) struct Devnet {
    pub(crate) node: NodeHandle,
    pub(crate) client: Client,
    pub(crate) keys: Vec<PrivateKey>,
    server: Server,
    _folder: tempfile::TempDir,
}

impl Devnet {
    /// Starts a devnet whose blocks come as soon as there is work, and waits for the first one.
    pub(crate) async fn start(requests_per_second: Option<u32>) -> Self {
        let words = Mnemonic::parse(DEV_MNEMONIC, "").expect("the words are good");
        let keys: Vec<PrivateKey> = (0..4).map(|index| words.key(index).expect("the index is small")).collect();
        let grant = |key: &PrivateKey, cby| Funded { address: key.address(), amount: Amount::from_cby(cby).expect("a small amount") };
        let mut accounts: Vec<Funded> = keys[..3].iter().map(|key| grant(key, 1_000)).collect();
        accounts.push(grant(&keys[3], 100_000));
        let dev = DevGenesis { accounts, ..DevGenesis::default() };
        let (genesis, mut validators) = genesis::dev(dev).expect("the genesis is good");
        let folder = tempfile::tempdir().expect("a directory for the test");
        let mut config = NodeConfig::alone(folder.path().join("state"), genesis, validators.remove(0));
        config.block_time = BlockTime::Instant;
        let chain = config.genesis.chain.clone();
        let node = tokio::task::spawn_blocking(move || NodeHandle::start(config))
            .await
            .expect("starting does not panic")
            .expect("the node starts");
        node.watch_head().wait_for(|head| head.number > 0).await.expect("the node runs");
        let listen = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0);
        let listeners = Listeners::bind(&Config { listen, requests_per_second }).await.expect("the loopback has free ports");
        let client = Client::new(&format!("http://{}", listeners.address())).expect("the address is good");
        let server = listeners.serve(Backend { node: node.clone(), chain, faucet: Some(keys[3].clone()) });
        Self { node, client, keys, server, _folder: folder }
    }

    /// Ends it before the test does.
    pub(crate) async fn stop(self) {
        self.server.stop().await;
        let node = self.node;
        tokio::task::spawn_blocking(move || node.shutdown()).await.expect("stopping does not panic");
    }

    /// A signed transaction with room enough for a transfer.
    pub(crate) fn transaction(&self, key: &PrivateKey, nonce: u64, instruction: Instruction) -> Transaction {
        let mut transaction = Transaction {
            chain_id: ChainId(1337),
            nonce: Nonce(nonce),
            instruction,
            cycles_limit: Cycles(100_000),
            cells_limit: Cells(10_000),
            max_fee_per_cycle: Price(20_000),
            max_fee_per_cell: Price(20_000),
            max_priority_fee_per_cycle: Price(0),
            max_priority_fee_per_cell: Price(0),
            from: key.address(),
            metadata: Default::default(),
            origin_tx_hash: None,
            origin_remaining_cycles: None,
            origin_remaining_cells: None,
            signature: Default::default(),
            additional_signers: Default::default(),
        };
        key.sign_transaction(&mut transaction);
        transaction
    }
}
