//! A devnet in this process, answering on a free port of the loopback.

use cowboy_api::{
    Client, cbor,
    keystore::{DEV_MNEMONIC, Mnemonic},
    manifest,
    model::Receipt,
    source,
};
use cowboy_chain::genesis::Funded;
use cowboy_node::{
    BlockTime, NodeConfig, NodeHandle,
    genesis::{self, DevGenesis},
};
use cowboy_overlay::Provider;
use cowboy_rpc::{Admin, Backend, Config, Listeners, Server};
use cowboy_serve::Slots;
use cowboy_types::{
    Actor, Address, Amount, Blob, Cells, ChainId, Cycles, Instruction, Nonce, Text, Transaction, signing::PrivateKey, units::Price,
};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

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
        Self::start_with(|config| Config { requests_per_second, ..config }).await
    }

    /// The same with a server whose settings are changed.
    pub(crate) async fn start_with(change: impl FnOnce(Config) -> Config) -> Self {
        Self::start_as(change, Admin::default()).await
    }

    /// The same with an operator who sees this.
    pub(crate) async fn start_as(change: impl FnOnce(Config) -> Config, admin: Admin) -> Self {
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
        let listeners = Listeners::bind(&change(Config::new(listen, Slots::new(1_000)))).await.expect("the loopback has free ports");
        let client = Client::new(&format!("http://{}", listeners.address())).expect("the address is good");
        let server = listeners.serve(Backend {
            node: node.clone(),
            chain,
            faucet: Some(keys[3].clone()),
            upstream: None,
            is_source_away: Arc::default(),
            admin,
        });
        Self { node, client, keys, server, _folder: folder }
    }

    /// What it serves to peers of the overlay.
    pub(crate) fn provider(&self) -> Arc<dyn Provider> {
        self.server.provider()
    }

    /// Where its operator's endpoint is.
    pub(crate) fn admin_url(&self) -> String {
        format!("http://{}", self.server.admin_address())
    }

    /// Ends it before the test does.
    pub(crate) async fn stop(self) {
        self.server.stop().await;
        let node = self.node;
        tokio::task::spawn_blocking(move || node.shutdown()).await.expect("stopping does not panic");
    }

    /// Deploys a source from an account, with what it seems to need and 10 CBY where it may hold any, and answers where it lives.
    pub(crate) async fn deploy(&self, key: &PrivateKey, nonce: u64, code: &str) -> Address {
        let grants = source::infer(code);
        let holds = grants.iter().any(|grant| grant.id == "econ.hold_balance");
        let manifest = manifest::manifest_bytes(&manifest::manifest(&grants));
        let instruction = Instruction::Actor(Actor::Deploy {
            code: Blob::new(code.as_bytes().to_vec()).expect("a short source"),
            salt: Blob::default(),
            init: None,
            manifest: Some(Blob::new(manifest).expect("a short manifest")),
            endowment: if holds { Amount::from_cby(10).expect("a small amount") } else { Amount::ZERO },
        });
        self.send(key, nonce, instruction).await.created.expect("a deployment makes an actor").0
    }

    /// Calls a handler with a JSON argument, and answers the receipt.
    pub(crate) async fn execute(
        &self,
        key: &PrivateKey,
        nonce: u64,
        target: Address,
        handler: &str,
        argument: serde_json::Value,
    ) -> Receipt {
        let instruction = Instruction::Actor(Actor::Execute {
            target,
            handler: Text::new(handler.to_owned()).expect("a short name"),
            payload: Blob::new(cbor::encode(&argument)).expect("a short argument"),
            value: Amount::ZERO,
        });
        self.send(key, nonce, instruction).await
    }

    /// Sends an instruction with room enough for Python, and answers the receipt of its success.
    pub(crate) async fn send(&self, key: &PrivateKey, nonce: u64, instruction: Instruction) -> Receipt {
        let mut transaction = self.transaction(key, nonce, instruction);
        transaction.cycles_limit = Cycles(5_000_000);
        transaction.cells_limit = Cells(100_000);
        key.sign_transaction(&mut transaction);
        let receipt = self.client.submit_wait(&transaction, Duration::from_secs(60)).await.expect("the transaction is included");
        assert_eq!(receipt.status, "success", "{receipt:?}");
        receipt
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
