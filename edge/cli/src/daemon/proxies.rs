//! The proxies inside a devnet: the real ones, in this process. They start when somebody first asks something of 0x04.

use super::node_failure;
use cowboy_api::{Client, model};
use cowboy_console::failure::Failure;
use cowboy_proxy::{Config, Proxy};
use cowboy_types::signing::PrivateKey;
use cowboy_types::{Address, Amount, actors};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a devnet's chain begins with where nothing else is said, so that a committee is there within seconds.
pub(super) const PARAMETERS: [(&str, u64); 4] =
    [("secrets.members", 4), ("secrets.phase", 5), ("secrets.proxy_wait", 0), ("secrets.retry", 5)];

/// How often the chain is looked at.
const EVERY: Duration = Duration::from_millis(500);

/// Works until it is dropped. Proxies that do not start are reported, and the devnet continues without them.
pub(crate) async fn work(url: String, folder: PathBuf, keys: Vec<PrivateKey>, stake: Amount) {
    if keys.is_empty() {
        return;
    }
    match start(&url, &folder, &keys, stake).await {
        // They work in tasks of their own, for as long as these are there.
        Ok(_proxies) => std::future::pending().await,
        Err(failure) => tracing::error!(%failure, "the devnet's proxies do not work"),
    }
}

async fn start(url: &str, folder: &Path, keys: &[PrivateKey], stake: Amount) -> Result<Vec<Proxy>, Failure> {
    let client = Client::new(url)?;
    let history = format!("/account/{}/history?limit=1", Address::system(actors::SECRETS));
    loop {
        let found: Result<model::History, _> = client.get(&history).await;
        if found.is_ok_and(|found| !found.entries.is_empty()) {
            break;
        }
        tokio::time::sleep(EVERY).await;
    }
    let mut proxies = Vec::with_capacity(keys.len());
    for (number, key) in keys.iter().enumerate() {
        let config = Config {
            node: url.to_owned(),
            trusted: None,
            state: folder.join("proxies").join(number.to_string()),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            endpoint: "localhost".to_owned(),
            port: 0,
            stake,
            every: EVERY,
        };
        proxies.push(Proxy::start(config, key).await.map_err(node_failure)?);
    }
    tracing::info!(proxies = proxies.len(), "the devnet's proxies work");
    Ok(proxies)
}
