//! `cowboyd admin`: what only the operator of a running node sees and changes.

use super::serving;
use clap::{Args, Subcommand};
use cowboy_api::{ApiError, Client, error::UNREACHABLE};
use cowboy_console::{
    amount,
    failure::Failure,
    output::{self, Output, table},
};
use cowboy_rpc::admin::{BanNow, LogLevel, Peers, PoolNow, Settings, SourcePeer, Stores};
use futures::StreamExt as _;
use std::{fmt::Write as _, net::SocketAddr};

/// Sees and steers a running node.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboyd admin peers
  cowboyd admin log-level warn,cowboy_overlay=debug
  cowboyd admin unban 192.0.2.7 --admin 127.0.0.1:4101")]
pub(crate) struct Admin {
    /// The address of the node's operator endpoint: the port after that of its API
    #[arg(long, global = true, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4001")]
    admin: SocketAddr,
    #[command(subcommand)]
    order: Order,
}

#[derive(Debug, Subcommand)]
enum Order {
    /// Print the metrics as Prometheus reads them
    Metrics,
    /// Print what is logged, or log something else until the node stops
    LogLevel {
        /// Directives like those of RUST_LOG, for example warn,cowboy_overlay=debug
        filter: Option<String>,
    },
    /// List validators and full nodes with their round trips and points, and the bans
    Peers,
    /// End the ban of a full node or of an address
    Unban {
        /// The name or the address, as `peers` lists it
        name: String,
    },
    /// Print the settings that hold, without secrets
    Config,
    /// Print how much waits in the pool, and of whom
    Pool,
    /// Print how the ledger, the state and the disk are; the exit code is 1 if something is wrong
    Stores,
}

impl Admin {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let client = Client::new(&format!("http://{}", self.admin))?;
        let done = serving::runtime()?.block_on(self.order.run(&client, output));
        done.map_err(|failure| match failure {
            Failure::Api(error) if error.slug == UNREACHABLE.slug => Failure::refused(
                format!("no node has its operator's endpoint at {}", self.admin),
                "start the node, or name the address with --admin: it is at the port after that of the API",
            ),
            other => other,
        })
    }
}

impl Order {
    async fn run(self, client: &Client, output: Output) -> Result<(), Failure> {
        match self {
            Self::Metrics => output::text(&metrics(client).await?),
            Self::LogLevel { filter: None } => {
                let level: LogLevel = client.get("/log-level").await?;
                output.result(&level, &level.filter);
            }
            Self::LogLevel { filter: Some(filter) } => {
                let level: LogLevel = client.put("/log-level", &LogLevel { filter }).await?;
                output.result(&level, format_args!("logs {} until it stops", level.filter));
            }
            Self::Peers => {
                let peers: Peers = client.get("/peers").await?;
                output.result(&peers, peers_text(&peers));
            }
            Self::Unban { name } => {
                let body = serde_json::json!({});
                let bans: Vec<BanNow> = client.post(&format!("/peers/{}/unban", segment(&name)), &body).await?;
                output.result(&bans, format_args!("{name} is not banned any more\n{}", bans_text(&bans)));
            }
            Self::Config => output.document(&client.get::<Settings>("/config").await?),
            Self::Pool => {
                let pool: PoolNow = client.get("/pool").await?;
                output.result(&pool, pool_text(&pool));
            }
            Self::Stores => {
                let stores: Stores = client.get("/stores").await?;
                output.result(&stores, stores_text(&stores));
                if !stores.is_sound {
                    return Err(Failure::Silent(1));
                }
            }
        }
        Ok(())
    }
}

async fn metrics(client: &Client) -> Result<String, ApiError> {
    let (mut stream, mut bytes) = (Box::pin(client.stream("/metrics").await?), Vec::new());
    while let Some(more) = stream.next().await {
        bytes.extend(more?);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A text as one segment of a path: names of sources have spaces and slashes.
fn segment(text: &str) -> String {
    let mut segment = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => segment.push(char::from(byte)),
            other => {
                // Writing to a string does not fail.
                let _ = write!(segment, "%{other:02X}");
            }
        }
    }
    segment
}

fn peers_text(peers: &Peers) -> String {
    let validators = peers.validators.iter().map(|validator| {
        let connected = if validator.is_connected { "connected" } else { "not connected" };
        let address = validator.address.map(|address| format!(" at {address}")).unwrap_or_default();
        format!("validator {}{address}: {connected}\n", validator.key)
    });
    let text: String = validators.chain(peers.sources.iter().map(source_text)).collect();
    let text = if text.is_empty() { "no peers\n".to_owned() } else { text };
    text + &bans_text(&peers.bans)
}

fn source_text(source: &SourcePeer) -> String {
    let host = source.host.as_ref().map(|host| format!(" at {host}")).unwrap_or_default();
    let time = source.round_trip_us.map(|time| format!("{}.{:03} ms, ", time / 1_000, time % 1_000)).unwrap_or_default();
    let named = if source.is_named { ", named by the operator" } else { "" };
    let usable = if source.is_usable { "" } else { ", banned" };
    format!("{}{host}: {time}{} points{named}{usable}\n", source.name, source.points)
}

fn bans_text(bans: &[BanNow]) -> String {
    let rows = bans.iter().map(|ban| format!("ban of {} for {} s, its {}.", ban.name, ban.seconds_left, ban.bans));
    let text = rows.collect::<Vec<_>>().join("\n");
    if text.is_empty() { "no bans".into() } else { text }
}

fn pool_text(pool: &PoolNow) -> String {
    let senders = pool.largest_senders.iter().map(|sender| format!("\n{}  {}", sender.address, sender.transactions));
    let numbers = format!(
        "{} of {}, {}; a proposed block has {}",
        amount::counted(pool.transactions, "transaction"),
        amount::counted(pool.senders, "sender"),
        amount::counted(pool.bytes, "byte"),
        pool.taken
    );
    numbers + &senders.collect::<String>()
}

fn stores_text(stores: &Stores) -> String {
    let block = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    let state = match (stores.is_state_open, stores.is_state_current) {
        (false, _) => "is being opened",
        (true, false) => "is not that of the newest block: see `waits_for` in the health, and the log",
        (true, true) => "is that of the newest block",
    };
    let damage = match (stores.damages, stores.missing_blocks) {
        (0, 0) => "none was found".to_owned(),
        (damages, missing) => format!("pages or rows: {damages}; blocks that are fetched again: {missing}; see `cowboyd check`"),
    };
    table([
        ("blocks", format!("{} to {}", block(stores.first_block), block(stores.newest_block))),
        ("state", state.to_owned()),
        ("damage", damage),
        ("folder", format!("{} bytes", stores.bytes)),
        ("disk", format!("{} bytes are free", stores.disk_free_bytes)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_rpc::admin::ValidatorPeer;

    #[test]
    fn names_are_one_segment_of_a_path() {
        for (name, expected) in [
            ("peer 0a1b", "peer%200a1b"),
            ("http://127.0.0.1:4000", "http%3A%2F%2F127%2E0%2E0%2E1%3A4000"),
            ("../../metrics?x#y", "%2E%2E%2F%2E%2E%2Fmetrics%3Fx%23y"),
            ("\u{e9}", "%C3%A9"),
        ] {
            assert_eq!(segment(name), expected);
        }
    }

    #[test]
    fn peers_read_well() {
        let source = SourcePeer {
            name: "peer 0a1b".into(),
            host: Some("192.0.2.7".into()),
            points: 25,
            is_named: false,
            is_usable: true,
            round_trip_us: Some(1_042),
        };
        assert_eq!(source_text(&source), "peer 0a1b at 192.0.2.7: 1.042 ms, 25 points\n");
        let http = SourcePeer { host: None, round_trip_us: None, is_named: true, is_usable: false, ..source };
        assert_eq!(source_text(&http), "peer 0a1b: 25 points, named by the operator, banned\n");
        let none = Peers { validators: vec![], sources: vec![], bans: vec![] };
        assert_eq!(peers_text(&none), "no peers\nno bans");
        let validator = |address| ValidatorPeer { key: "0a1b".into(), address, is_connected: true };
        let two = vec![validator(Some(std::net::SocketAddr::from(([192, 0, 2, 7], 3000)))), validator(None)];
        let text = peers_text(&Peers { validators: two, sources: vec![], bans: vec![] });
        assert_eq!(text, "validator 0a1b at 192.0.2.7:3000: connected\nvalidator 0a1b: connected\nno bans");
        let ban = BanNow { name: "192.0.2.7".into(), seconds_left: 600, bans: 1 };
        assert_eq!(bans_text(&[ban]), "ban of 192.0.2.7 for 600 s, its 1.");
    }
}
