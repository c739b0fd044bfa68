//! The operator's endpoint: metrics, and what only the operator may see or change. It listens on the loopback and nowhere else
//! ([decision 626](../../../docs/decisions/0626-the-operators-endpoint.md)).

mod model;

pub use model::{BanNow, LogLevel, Peers, PoolNow, SenderNow, Settings, SourcePeer, Stores, ValidatorPeer};

use crate::{
    App, ServeError, origin,
    refusal::{Answer, Body, Refusal, Segment},
    standing::{connected_keys, others},
};
use axum::{
    Json,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use cowboy_api::{
    Hex,
    error::{BUSY, SERVER},
};
use cowboy_host::{clock::as_ms, loopback};
use cowboy_node::{BlockTime, Chain};
use cowboy_overlay::Pool;
use serde_json::json;
use std::{
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    sync::Arc,
};

/// Connections of the operator and of Prometheus. They are not those of the API: whoever fills these does not lock the operator out.
pub(crate) const CONNECTIONS: usize = 16;

/// The most bytes of a filter of the log.
const MAX_FILTER_BYTES: usize = 1_024;

/// How often the state is compared with the newest block, which may come in between.
const COMPARISONS: usize = 3;

/// What the program logs, and a way to change it.
pub trait LogFilter: Send + Sync {
    /// What is logged, in the words of `RUST_LOG`.
    fn current(&self) -> String;

    /// Logs this from now on.
    ///
    /// # Errors
    ///
    /// If the text is no filter: the reason. What is logged stays as it was.
    fn replace(&self, filter: &str) -> Result<(), String>;
}

/// What the operator's endpoint answers from, beside what the API answers from.
#[derive(Clone, Default)]
pub struct Admin {
    /// What is logged; `None` where that cannot be changed.
    pub log: Option<Arc<dyn LogFilter>>,
    /// The full nodes that this one knows.
    pub sources: Vec<Arc<Pool>>,
}

/// Where the endpoint is: at this address, or at the port after that of the API.
pub(crate) fn address(wanted: Option<SocketAddr>, api: SocketAddr, is_any: bool) -> Result<SocketAddr, ServeError> {
    let port = if is_any { 0 } else { api.port().saturating_add(1) };
    let address = wanted.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, port).into());
    if loopback::is_address(address.ip()) { Ok(address) } else { Err(ServeError::Exposed(address)) }
}

/// Refuses what browsers ask, and whoever asks by another name than the loopback's.
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    match origin::check_admin(request.method(), request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

fn log(app: &App) -> Result<&dyn LogFilter, Refusal> {
    app.admin.log.as_deref().ok_or_else(|| Refusal::missing("log", "this program's log cannot be changed"))
}

pub(crate) async fn log_level(State(app): State<App>) -> Answer<LogLevel> {
    Ok(Json(LogLevel { filter: log(&app)?.current() }))
}

pub(crate) async fn set_log_level(State(app): State<App>, Body(LogLevel { filter }): Body<LogLevel>) -> Answer<LogLevel> {
    if filter.trim().is_empty() || filter.len() > MAX_FILTER_BYTES {
        return Err(Refusal::bad(
            "filter",
            format_args!("give directives like info,cowboy_overlay=debug, at most {MAX_FILTER_BYTES} bytes"),
        ));
    }
    let log = log(&app)?;
    let before = log.current();
    log.replace(&filter).map_err(|reason| Refusal::bad("filter", reason))?;
    let filter = log.current();
    tracing::warn!(before, now = filter, "the operator changed what is logged");
    Ok(Json(LogLevel { filter }))
}

pub(crate) async fn peers(State(app): State<App>) -> Answer<Peers> {
    let connected = connected_keys(&app.node.metrics()?);
    let mut found = others(app.node.config(), app.node.chain().ok().as_deref());
    for key in &connected {
        found.entry(key.clone()).or_default();
    }
    let validators = found.into_iter().map(|(key, address)| ValidatorPeer { is_connected: connected.contains(&key), key, address });
    Ok(Json(Peers { validators: validators.collect(), ..of_pools(&app) }))
}

/// What the pools of sources say.
fn of_pools(app: &App) -> Peers {
    let sources = app.admin.sources.iter().flat_map(|pool| pool.list()).map(|listed| SourcePeer {
        name: listed.name,
        host: listed.host,
        points: listed.points,
        is_named: listed.is_named,
        is_usable: listed.is_usable,
        round_trip_us: listed.round_trip.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)),
    });
    let bans = app.admin.sources.iter().flat_map(|pool| pool.bans()).map(|ban| BanNow {
        name: ban.name,
        seconds_left: ban.left.as_secs(),
        bans: ban.bans,
    });
    Peers { validators: Vec::new(), sources: sources.collect(), bans: bans.collect() }
}

pub(crate) async fn unban(State(app): State<App>, Segment(name): Segment) -> Answer<Vec<BanNow>> {
    // Each pool has its own bans.
    let ended = app.admin.sources.iter().filter(|pool| pool.unban(&name)).count();
    if ended == 0 {
        return Err(Refusal::missing("banned", name));
    }
    Ok(Json(of_pools(&app).bans))
}

pub(crate) async fn settings(State(app): State<App>) -> Answer<Settings> {
    let (config, chain) = (app.node.config(), app.node.chain()?);
    let is_validator = config.keys.is_some();
    let (retention, limits) = (chain.ledger.retention(), chain.mempool.summary().limits);
    Ok(Json(Settings {
        version: env!("CARGO_PKG_VERSION").into(),
        genesis: Hex(config.genesis.hash()),
        chain_id: app.chain.chain_id.0,
        is_dev: app.chain.is_dev,
        is_validator,
        has_faucet: app.faucet.is_some(),
        folder: config.directory.clone(),
        api: app.endpoints.api,
        admin: app.endpoints.admin,
        requests_per_second: app.endpoints.requests_per_second,
        listen: is_validator.then_some(config.listen),
        block_time: is_validator.then(|| match chain.pace.block_time() {
            BlockTime::Every(time) => as_ms(time).to_string(),
            BlockTime::Governed => "governed".into(),
            BlockTime::Instant => "instant".into(),
        }),
        listen_before_voting_ms: is_validator.then(|| as_ms(config.listening)),
        threads: config.threads,
        keep_blocks: (retention.blocks < u64::MAX).then_some(retention.blocks),
        keep_traces: retention.traces,
        keep_values: retention.values,
        pool_transactions: limits.transactions,
        pool_bytes: limits.bytes,
        pool_per_sender: limits.per_sender,
    }))
}

pub(crate) async fn pool(State(app): State<App>) -> Answer<PoolNow> {
    let summary = app.node.chain()?.mempool.summary();
    let largest = summary.largest.into_iter().map(|(address, transactions)| SenderNow { address: Hex(address), transactions });
    Ok(Json(PoolNow {
        transactions: summary.size.transactions,
        bytes: summary.size.bytes,
        senders: summary.size.senders,
        taken: summary.taken,
        largest_senders: largest.collect(),
    }))
}

pub(crate) async fn stores(State(app): State<App>) -> Answer<Stores> {
    let chain = app.node.chain()?;
    let is_state_current = is_current(&app, &chain).await;
    let (directory, is_state_open) = (app.node.config().directory.clone(), chain.state().is_some());
    let read = move || {
        let (view, ledger) = (chain.ledger.view()?, &chain.ledger);
        let (missing_blocks, damages) = (ledger.missing()?.len(), ledger.damages());
        let of_disk = |found: io::Result<u64>| found.map_err(|error| Refusal::new(SERVER, json!({ "reason": error.to_string() })));
        Ok::<_, Refusal>(Stores {
            is_sound: is_state_current && missing_blocks == 0 && damages == 0,
            first_block: view.first()?,
            newest_block: view.tip()?,
            missing_blocks,
            damages,
            is_state_open,
            is_state_current,
            bytes: of_disk(bytes_of(&directory))?,
            disk_free_bytes: of_disk(cowboy_serve::free_bytes(&directory))?,
        })
    };
    // A thread of its own: those of the API may have more to do than they can.
    tokio::task::spawn_blocking(read).await.map_err(|_| Refusal::from(BUSY))?.map(Json)
}

/// Whether the open state is that of the newest block, or of a later one that is yet to be written to the ledger, as in a follower that catches up.
async fn is_current(app: &App, chain: &Chain) -> bool {
    let Some(state) = chain.state() else { return false };
    for _ in 0..COMPARISONS {
        let root = state.root().await;
        let head = app.node.head();
        // Before the first block there is none to compare with.
        if head.number == 0 || root == head.state_root || chain.recent.newest().is_some_and(|newest| newest > head.number) {
            return true;
        }
    }
    false
}

/// The bytes of all files in a folder. One that is removed meanwhile counts as empty.
fn bytes_of(folder: &Path) -> io::Result<u64> {
    let (mut bytes, mut folders) = (0u64, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            // Links are not followed: they may lead anywhere.
            match entry.metadata() {
                Ok(found) if found.is_dir() => folders.push(entry.path()),
                Ok(found) => bytes = bytes.saturating_add(found.len()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The endpoint is on the loopback, whatever the API's address is.
    #[test]
    fn the_endpoint_is_on_the_loopback() {
        let parse = |text: &str| text.parse::<SocketAddr>().expect("an address");
        for api in ["127.0.0.1:4000", "0.0.0.0:4000", "192.0.2.1:4000", "[::]:4000"] {
            assert_eq!(address(None, parse(api), false).ok(), Some(parse("127.0.0.1:4001")), "{api}");
        }
        assert_eq!(address(None, parse("0.0.0.0:4000"), true).ok(), Some(parse("127.0.0.1:0")));
        for wanted in ["127.0.0.1:9000", "127.1.2.3:0", "[::1]:9000", "[::ffff:127.0.0.1]:9000"] {
            assert_eq!(address(Some(parse(wanted)), parse("0.0.0.0:4000"), false).ok(), Some(parse(wanted)));
        }
        for wanted in ["0.0.0.0:9000", "[::]:9000", "192.0.2.1:9000", "10.0.0.1:9000", "169.254.1.1:9000", "[fe80::1]:9000"] {
            let refused = address(Some(parse(wanted)), parse("127.0.0.1:4000"), false);
            assert!(matches!(refused, Err(ServeError::Exposed(_))), "{wanted}");
        }
    }

    #[test]
    fn files_of_a_folder_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("inner")).expect("it is writable");
        fs::write(folder.path().join("one"), [0; 100]).expect("it is writable");
        fs::write(folder.path().join("inner/two"), [0; 23]).expect("it is writable");
        assert_eq!(bytes_of(folder.path()).ok(), Some(123));
        assert_eq!(bytes_of(&folder.path().join("missing")).ok(), Some(0));
    }
}
