//! The proxies and relays inside a devnet: the real ones, in this process. They start when somebody first asks something of their actor.

use super::node_failure;
use cowboy_api::{Client, model};
use cowboy_console::failure::Failure;
use cowboy_proxy::Proxy;
use cowboy_relay::Relay;
use cowboy_types::signing::PrivateKey;
use cowboy_types::{Address, Amount, actors};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a devnet's chain begins with where nothing else is said, so that a committee is there within seconds.
pub(super) const PROXIES: [(&str, u64); 4] =
    [("secrets.members", 4), ("secrets.phase", 5), ("secrets.proxy_wait", 0), ("secrets.retry", 5)];

/// The time that a devnet's proxies have in each phase of a dealing, at least: who misses one is not drawn for a week, and a busy computer is slow.
pub(super) const PHASE: Duration = Duration::from_millis(1_500);

/// The same, so that proofs are seen.
pub(super) const RELAYS: [(&str, u64); 2] = [("volumes.proof_period", 60), ("volumes.proof_window", 20)];

/// How often the chain is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// What a devnet's relay offers.
const CAPACITY: u64 = 64 << 30;

/// Regions of a devnet's relays.
const REGIONS: [&str; 3] = ["eu", "us", "asia"];

/// What services of a devnet work with.
#[derive(Clone)]
pub(crate) struct Devnet {
    /// The node.
    pub(crate) url: String,
    /// The folder of the chain.
    pub(crate) folder: PathBuf,
    /// The accounts of the services.
    pub(crate) keys: Vec<PrivateKey>,
    /// What each stakes.
    pub(crate) stake: Amount,
}

/// Proxies, until they are dropped.
pub(crate) async fn proxies(devnet: Devnet) {
    work(devnet, actors::SECRETS, "proxies", async |devnet, number, key| {
        let config = cowboy_proxy::Config {
            node: devnet.url.clone(),
            trusted: None,
            state: folder(&devnet.folder, "proxies", number),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            endpoint: "localhost".to_owned(),
            port: 0,
            stake: devnet.stake,
            every: EVERY,
        };
        Proxy::start(config, key).await.map_err(node_failure)
    })
    .await;
}

/// Relays, until they are dropped.
pub(crate) async fn relays(devnet: Devnet) {
    work(devnet, actors::RELAYS, "relays", async |devnet, number, key| {
        let config = cowboy_relay::Config {
            node: devnet.url.clone(),
            trusted: None,
            state: folder(&devnet.folder, "relays", number),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            endpoint: "localhost".to_owned(),
            port: 0,
            region: REGIONS[number % REGIONS.len()].to_owned(),
            capacity: CAPACITY,
            ask: 450,
            stake: devnet.stake,
            every: EVERY,
        };
        Relay::start(config, key).await.map_err(node_failure)
    })
    .await;
}

fn folder(chain: &Path, kind: &str, number: usize) -> PathBuf {
    chain.join(kind).join(number.to_string())
}

/// Starts services at the first transaction to their actor, and keeps them until it is dropped. Those that do not start are reported, and the
/// devnet continues without them.
async fn work<S>(devnet: Devnet, actor: u8, what: &str, start: impl AsyncFn(&Devnet, usize, &PrivateKey) -> Result<S, Failure>) {
    if devnet.keys.is_empty() {
        return;
    }
    let started = async {
        wait_for_use(&devnet.url, actor).await?;
        let mut services = Vec::with_capacity(devnet.keys.len());
        for (number, key) in devnet.keys.iter().enumerate() {
            services.push(start(&devnet, number, key).await?);
        }
        Ok::<_, Failure>(services)
    };
    match started.await {
        Ok(services) => {
            tracing::info!(count = services.len(), "the devnet's {what} work");
            // They work in tasks of their own, for as long as these are there.
            std::future::pending().await
        }
        Err(failure) => tracing::error!(%failure, "the devnet's {what} do not work"),
    }
}

async fn wait_for_use(url: &str, actor: u8) -> Result<(), Failure> {
    let client = Client::new(url)?;
    let history = format!("/account/{}/history?limit=1", Address::system(actor));
    loop {
        let found: Result<model::History, _> = client.get(&history).await;
        if found.is_ok_and(|found| !found.entries.is_empty()) {
            return Ok(());
        }
        tokio::time::sleep(EVERY).await;
    }
}
