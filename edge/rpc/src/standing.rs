//! Whether the node makes progress: its height, and what it waits for.

use crate::App;
use cowboy_host::clock::now_ms;
use cowboy_node::{Chain, Head, NodeConfig, engine, peers};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How often it is looked whether there is work that is not done.
const LOOK: Duration = Duration::from_secs(1);

/// What a node is told that reaches hosts of validators, and is a peer of none.
const REFUSED: &str = "their hosts answer and end the connection, as they do until the set that this validator is in is fixed, after it has left, \
                       and while another node has its keys: stop that node, and see the height with `cowboy validator status` at a node that runs";

/// How far the newest block may be ahead of this computer's clock, in milliseconds. A quorum's clocks have its time by now (decision 121), and a leader is
/// not waited for that long.
const BEHIND_MS: u64 = 5_000;

/// When the newest block came, as this process saw it.
pub(crate) struct LastBlock(Mutex<Moved>);

struct Moved {
    /// The newest block that was seen.
    number: u64,
    /// When it was, or when the server started.
    at: Instant,
    /// Since when there is work that a chain without a rhythm does not do.
    work_since: Option<Instant>,
}

/// How the node is.
pub(crate) struct Standing {
    pub(crate) head: Head,
    /// How long ago the newest block came.
    pub(crate) age: Duration,
    /// The newest round whose certificate the engine has seen since its start; 0 where there is none.
    pub(crate) view: u64,
    /// Validators, this one left out, and how many of them it is connected to.
    pub(crate) peers: usize,
    pub(crate) connected: usize,
    /// Whether hosts of validators answer.
    pub(crate) is_answered: bool,
    /// What the node waits for, where it is not ready.
    pub(crate) waits_for: Option<String>,
}

impl LastBlock {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Moved { number: 0, at: Instant::now(), work_since: None }))
    }

    /// Takes note of the newest block, and answers how long ago it came.
    fn note(&self, number: u64, now: Instant) -> Duration {
        let mut moved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if moved.number != number {
            *moved = Moved { number, at: now, work_since: None };
        }
        now.saturating_duration_since(moved.at)
    }

    /// For how long there has been work, as far as it was looked.
    fn work(&self, has_work: bool, now: Instant) -> Duration {
        let mut moved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !has_work {
            moved.work_since = None;
            return Duration::ZERO;
        }
        now.saturating_duration_since(*moved.work_since.get_or_insert(now))
    }

    /// Follows the newest block and the work for as long as the node lives, so that who asks first is told the truth too.
    pub(crate) async fn watch(app: App) {
        let (mut heads, mut looks) = (app.node.watch_head(), tokio::time::interval(LOOK));
        loop {
            let (head, now) = (*heads.borrow_and_update(), Instant::now());
            app.last_block.note(head.number, now);
            if let Ok(chain) = app.node.chain() {
                app.last_block.work(has_work(&chain, &head), now);
            }
            tokio::select! {
                changed = heads.changed() => if changed.is_err() { return },
                _ = looks.tick() => {}
            }
        }
    }
}

/// How the node is now; what its network is like may be a second old.
pub(crate) fn standing(app: &App) -> Standing {
    standing_of(app, || app.network.get(|| app.node.metrics().map_or((0, false), |text| reached(&text))))
}

/// How the node is now, if it is connected to this many peers, and if hosts answer it.
pub(crate) fn standing_of(app: &App, look_at_network: impl FnOnce() -> (usize, bool)) -> Standing {
    let (head, now) = (app.node.head(), Instant::now());
    let age = app.last_block.note(head.number, now);
    let peers = others(app.node.config(), app.node.chain().ok().as_deref()).len();
    let mut standing = Standing { head, age, view: 0, peers, connected: 0, is_answered: false, waits_for: None };
    let Ok(chain) = app.node.chain() else {
        standing.waits_for = Some("the node is stopped while its state is copied".into());
        return standing;
    };
    standing.view = chain.seeds.newest().unwrap_or(0);
    if peers > 0 {
        (standing.connected, standing.is_answered) = look_at_network();
        // Validators of the next epoch may be connected already.
        standing.peers = peers.max(standing.connected);
    }
    standing.waits_for = if chain.state().is_none() {
        Some("the state is being opened".into())
    } else if head.number == 0 {
        Some(format!("the first block; {}", reach(&standing, chain.validators())))
    } else if app.is_source_away.load(std::sync::atomic::Ordering::Relaxed) {
        Some("the node that it follows does not answer".into())
    } else if let Some(waiting) = chain.progress.waiting() {
        Some(waiting.to_string())
    } else if chain.keys.is_none() {
        None
    } else if let Some(behind) = clock_behind(head.timestamp_ms.0, now_ms()).filter(|_| !app.chain.is_dev) {
        Some(behind)
    } else {
        let members = chain.validators();
        let gap = chain.pace.gap();
        let explained = engine::longest_pause(gap, members);
        let stood = if gap.is_some() { age } else { app.last_block.work(has_work(&chain, &head), now) };
        (stood > explained).then(|| {
            let said = format!("block {}, for {} s; absent leaders explain {} s", head.number + 1, stood.as_secs(), explained.as_secs());
            format!("{said}; the newest round it has seen is {}; {}", standing.view, reach(&standing, members))
        })
    };
    standing
}

/// The other validators that a validator dials or waits for, by network key: those of its file, and those that the chain has sign or receive
/// a share in this epoch or the next, with where they listen as far as either says. A full node has those of its file, which are none.
pub(crate) fn others(config: &NodeConfig, chain: Option<&Chain>) -> BTreeMap<String, Option<SocketAddr>> {
    let mut found: BTreeMap<_, _> = config.peers.iter().map(|(key, address)| (key.to_string(), Some(*address))).collect();
    if let (Some(keys), Some(chain)) = (&config.keys, chain) {
        let (own, term) = (keys.vrf_key(), chain.term());
        let info = &term.info;
        for key in info.output.players().iter().chain(info.players.iter()).chain(info.next_players.iter()) {
            let Some(signer) = info.directory.get(key).filter(|signer| signer.vrf_key != own) else { continue };
            // The address on the chain is the one that is dialed.
            let listens = peers::address(&signer.endpoint);
            let known = found.entry(key.to_string()).or_default();
            *known = listens.or(*known);
        }
    }
    found
}

/// What a validator is told whose clock shows this time when the newest block has that one, where it cannot take its part with it
/// ([decision 647](../../../docs/decisions/0647-a-clock-that-is-behind.md)).
fn clock_behind(newest_ms: u64, now_ms: u64) -> Option<String> {
    let behind = newest_ms.saturating_sub(now_ms);
    (behind > BEHIND_MS).then(|| {
        format!(
            "this computer's clock, which is {behind} ms behind the newest block: a validator votes too late with it, and goes to jail; \
             synchronize it with NTP, as with `timedatectl set-ntp true`"
        )
    })
}

/// Whether a chain without a rhythm has a reason for a block.
fn has_work(chain: &Chain, head: &Head) -> bool {
    chain.mempool.has_work() || chain.pace.is_ordered(head.number, head.height)
}

/// Who takes part, as far as this node sees.
fn reach(standing: &Standing, members: usize) -> String {
    match members {
        1 => "it is the only validator: its log says more; if a restart does not help, the newest record of its votes may be damaged: \
              import a snapshot into a new folder"
            .into(),
        members => {
            let quorum = members - (members - 1) / 3;
            let reached =
                format!("{} of {} other validators are reached, and {} are needed", standing.connected, standing.peers, quorum - 1);
            match standing.connected == 0 && standing.is_answered {
                true => format!("{reached}; {REFUSED}"),
                false => reached,
            }
        }
    }
}

/// How many peers a node with these metrics is connected to, and whether hosts answer it.
pub(crate) fn reached(metrics: &str) -> (usize, bool) {
    (connected(metrics), is_answered(metrics))
}

/// The network keys of peers that the network's own metrics count as connected.
pub(crate) fn connected_keys(metrics: &str) -> BTreeSet<String> {
    let lines = metrics.lines().filter(|line| !line.starts_with('#') && line.contains("directory_connected{"));
    lines.filter_map(|line| Some(line.split_once("peer=\"")?.1.split_once('"')?.0.to_owned())).collect()
}

/// How many there are.
fn connected(metrics: &str) -> usize {
    connected_keys(metrics).len()
}

/// Whether the network's metrics count a host that answers.
fn is_answered(metrics: &str) -> bool {
    let value = |line: &str| line.split_once("hosts_answering ").and_then(|(_, value)| value.trim().parse::<u64>().ok());
    metrics.lines().filter(|line| !line.starts_with('#')).filter_map(value).any(|count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn age_counts_from_the_newest_block_and_work_from_when_it_was_seen() {
        let last_block = LastBlock::new();
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(last_block.note(7, at(10)), Duration::ZERO);
        assert_eq!(last_block.note(7, at(13)), Duration::from_secs(3));
        assert_eq!(last_block.work(true, at(13)), Duration::ZERO, "it may have come this moment");
        assert_eq!(last_block.work(true, at(20)), Duration::from_secs(7));
        assert_eq!(last_block.note(8, at(20)), Duration::ZERO);
        assert_eq!(last_block.work(true, at(21)), Duration::ZERO, "a block came since");
        assert_eq!(last_block.work(false, at(22)), Duration::ZERO);
        assert_eq!(last_block.work(true, at(23)), Duration::ZERO);
    }

    /// Decision 647: a clock that is behind the newest block is named, with what to do, and one that is ahead or nearly right is not.
    #[test]
    fn a_clock_that_is_behind_is_what_a_validator_waits_for() {
        for now in [0, 10_000, 15_000, 15_001, u64::MAX] {
            assert_eq!(clock_behind(15_000 + BEHIND_MS, now).is_some(), now < 15_000, "{now}");
        }
        let said = clock_behind(20_000, 11_000).expect("it is behind");
        assert!(said.contains("9000 ms behind") && said.contains("synchronize it with NTP"), "{said}");
    }

    #[test]
    fn peers_are_counted_in_the_networks_metrics() {
        let text =
            "# TYPE a_directory_connected gauge\na_directory_connected{peer=\"1\"} 17\na_directory_connected{peer=\"2\"} 18\na_tracked 3\n";
        assert_eq!((connected(text), is_answered(text)), (2, false));
        assert!(!is_answered("# HELP dials_hosts_answering 3\ndials_hosts_answering 0\n"));
        assert!(is_answered("dials_hosts_answering 2\n"));
        assert_eq!(connected(""), 0);
        assert_eq!(connected_keys(text).into_iter().collect::<Vec<_>>(), ["1", "2"]);
    }
}
