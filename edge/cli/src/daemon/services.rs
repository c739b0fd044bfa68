//! The proxies and relays inside a devnet: the real ones, in this process, honest or not. They start when somebody first asks something of their actor.

use super::node_failure;
use cowboy_api::{Client, model};
use cowboy_console::failure::Failure;
use cowboy_node::{Chain, KeepUp, NodeHandle};
use cowboy_params::Params;
use cowboy_proxy::Proxy;
use cowboy_relay::Relay;
use cowboy_simulator::{ProxyPlan, RelayPlan};
use cowboy_types::signing::PrivateKey;
use cowboy_types::{Address, Amount, Height, actors};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What a devnet's chain begins with where nothing else is said, so that a committee is there within seconds.
pub(super) const PROXIES: [(&str, u64); 4] =
    [("secrets.members", 4), ("secrets.phase", 5), ("secrets.proxy_wait", 0), ("secrets.retry", 5)];

/// The time that a devnet's proxies have in each phase of a dealing, at least: who misses one is not drawn for a week, and a busy computer is slow.
pub(super) const PHASE: Duration = Duration::from_millis(1_500);

/// The same, so that proofs are seen.
pub(super) const RELAYS: [(&str, u64); 2] = [("volumes.proof_period", 60), ("volumes.proof_window", 20)];

/// How often the chain is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// The time between looks at what a relay owes, where blocks wait for it, and how long they wait.
const LOOK: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(2);

/// What a devnet's relay offers.
const CAPACITY: u64 = 64 << 30;

/// Regions of a devnet's relays.
const REGIONS: [&str; 3] = ["eu", "us", "asia"];

/// What services of a devnet work with.
#[derive(Clone)]
pub(crate) struct Devnet {
    /// The node.
    pub(crate) node: NodeHandle,
    /// Where it is asked.
    pub(crate) url: String,
    /// The folder with the folders of the services.
    pub(crate) folder: PathBuf,
    /// The accounts of the services.
    pub(crate) keys: Vec<PrivateKey>,
    /// What each stakes.
    pub(crate) stake: Amount,
}

/// Proxies, until they are dropped.
pub(crate) async fn proxies(devnet: Devnet, plan: ProxyPlan) {
    work(devnet, actors::SECRETS, "proxies", move |devnet, number, key| async move {
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
        Proxy::start_with(config, &key, plan.behaviour(number)).await.map_err(node_failure)
    })
    .await;
}

/// Relays, until they are dropped. Blocks of the node that come at once stop for them.
pub(crate) async fn relays(devnet: Devnet, plan: RelayPlan, params: Params) {
    let kept: Arc<Mutex<Vec<Kept>>> = Arc::default();
    work(devnet, actors::RELAYS, "relays", move |devnet, number, key| {
        let (node, params, kept) = (devnet.node.clone(), params.clone(), kept.clone());
        async move {
            let config = cowboy_relay::Config {
                node: devnet.url.clone(),
                trusted: None,
                state: folder(&devnet.folder, "relays", number),
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                endpoint: "localhost".to_owned(),
                port: 0,
                region: REGIONS[number % REGIONS.len()].to_owned(),
                capacity: CAPACITY,
                ask: cowboy_volumes::USUAL_PRICE,
                stake: devnet.stake,
                every: EVERY,
            };
            let relay = Relay::start_with(config, &key, plan.behaviour(number)).await.map_err(node_failure)?;
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(Kept { address: key.address(), woken: relay.woken() });
            node.keep_up(kept_up(Client::new(&devnet.url)?, &params, kept.clone()));
            Ok(relay)
        }
    })
    .await;
}

/// A relay that works, and what has it look at the chain.
#[derive(Clone)]
struct Kept {
    address: Address,
    woken: Arc<Notify>,
}

/// What has relays send what is due before more blocks come at once: a proof in the second third of its time at the latest.
fn kept_up(client: Client, params: &Params, relays: Arc<Mutex<Vec<Kept>>>) -> KeepUp {
    let silent_for = params.volumes.alive / 4;
    let until_sent = move |node: NodeHandle, height: Height| -> BoxFuture<'static, ()> {
        let (client, relays) = (client.clone(), relays.lock().unwrap_or_else(PoisonError::into_inner).clone());
        Box::pin(async move {
            let sending = async {
                for relay in &relays {
                    while owes(&client, &node, relay.address, height, silent_for).await {
                        relay.woken.notify_one();
                        tokio::time::sleep(LOOK).await;
                    }
                }
            };
            // One that does not get there loses what it would lose without a stop.
            let _ = tokio::time::timeout(PATIENCE, sending).await;
        })
    };
    KeepUp { every: (params.volumes.proof_window / 3).clamp(1, 100), until_sent: Arc::new(until_sent) }
}

/// Whether a relay has to prove something, or to say that it is up, and nothing of it is on its way to a block.
async fn owes(client: &Client, node: &NodeHandle, relay: Address, height: Height, silent_for: u64) -> bool {
    let is_under_way = |chain: Arc<Chain>| !chain.mempool.of_sender(&relay).is_empty();
    if node.chain().is_ok_and(is_under_way) {
        return false;
    }
    let record = view(client, relay, "get_relay").await;
    let heard_at = record["last_heartbeat"].as_u64().filter(|_| record["left_at"].is_null());
    heard_at.is_some_and(|at| at.saturating_add(silent_for) <= height.0) || !view(client, relay, "get_round").await.is_null()
}

/// What 0x0B says of a relay; null where it cannot be asked.
async fn view(client: &Client, relay: Address, method: &str) -> Value {
    let found = client.view(&Address::system(actors::RELAYS), method, &json!({ "address": relay.to_string() })).await;
    found.map(|found| found.result).unwrap_or_default()
}

fn folder(chain: &Path, kind: &str, number: usize) -> PathBuf {
    chain.join(kind).join(number.to_string())
}

/// Starts services at the first transaction to their actor, and keeps them until it is dropped. Those that do not start are reported, and the
/// devnet continues without them.
async fn work<S, F>(devnet: Devnet, actor: u8, what: &str, start: impl Fn(Devnet, usize, PrivateKey) -> F)
where
    F: Future<Output = Result<S, Failure>>,
{
    if devnet.keys.is_empty() {
        return;
    }
    let started = async {
        wait_for_use(&devnet, actor).await?;
        let mut services = Vec::with_capacity(devnet.keys.len());
        for (number, key) in devnet.keys.iter().enumerate() {
            services.push(start(devnet.clone(), number, key.clone()).await?);
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

/// Waits for the first transaction to an actor. A chain that is idle is not asked again.
async fn wait_for_use(devnet: &Devnet, actor: u8) -> Result<(), Failure> {
    let (client, mut heads) = (Client::new(&devnet.url)?, devnet.node.watch_head());
    let history = format!("/account/{}/history?limit=1", Address::system(actor));
    loop {
        heads.mark_unchanged();
        let found: Result<model::History, _> = client.get(&history).await;
        if found.as_ref().is_ok_and(|found| !found.entries.is_empty()) {
            return Ok(());
        }
        tokio::time::sleep(EVERY).await;
        // Only a block brings a transaction, and who sees the block finds the transaction in the ledger.
        if found.is_ok() {
            heads.changed().await.map_err(node_failure)?;
        }
    }
}
