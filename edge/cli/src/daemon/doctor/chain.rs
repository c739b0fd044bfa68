//! The chain, as the running node or its source shows it: clock, peers, progress, the validator's own record.

use super::{Findings, files::Setup};
use crate::daemon::node_files::{NodeFile, Peer};
use commonware_cryptography::Signer as _;
use cowboy_api::{ApiError, Client, HexAddress, model};
use cowboy_console::amount;
use cowboy_host::clock::now_ms;
use cowboy_node::Genesis;
use cowboy_types::Address;
use std::net::SocketAddr;

/// A node that answers, and how it is.
pub(super) type Node = (Client, model::HealthDetailed);

/// A validator whose clock differs by more does not take its part, in milliseconds: each waits until its own clock has the time of a block, and no longer
/// than a leader has.
pub(crate) const MAX_OFFSET_MS: i64 = 5_000;

/// A difference that a synchronized clock does not have, in milliseconds: a block is some time on its way.
const LARGE_OFFSET_MS: i64 = 2_000;

/// A block that is older says nothing about clocks, in milliseconds.
const MAX_AGE_MS: u64 = 60_000;

/// What some reports of faults cost at most at usual fees, in base units: half a CBY.
const REPORTS_COST: u64 = 500_000_000;

/// Checks the clock against the newest block, and asks the node that `--source` names and the one that is followed. Answers the first of them that is of
/// this chain.
pub(super) async fn source(setup: Option<&Setup>, running: Option<&Node>, named: Option<&str>, findings: &mut Findings) -> Option<Node> {
    let genesis = setup.and_then(|setup| setup.genesis.as_ref()).map(Genesis::hash);
    let genesis = genesis.or(running.map(|(_, health)| health.genesis.0));
    let named = named.map(|url| (url, "start it, or name another node with --source", "name a node of this chain with --source"));
    let followed = setup.and_then(|setup| match &setup.file {
        NodeFile::Follower(file) => Some(file.follow.as_str()),
        NodeFile::Validator(_) => None,
    });
    let other = "correct `follow` in the configuration, or set up a folder for that chain with `cowboyd init`";
    let followed = followed.map(|url| (url, "start it, or correct `follow` in the configuration", other));
    let mut found: Option<Node> = None;
    for (url, away, other) in [named, followed].into_iter().flatten() {
        match asked(url).await {
            Err(error) => findings.fail("source", format!("{url} does not answer: {}", error.what), away),
            Ok((_, health)) if genesis.is_some_and(|genesis| genesis != health.genesis.0) => {
                findings.fail("source", format!("{url} is a node of another chain, with genesis {}", health.genesis), other);
            }
            Ok(node) => {
                findings.ok("source", format!("{url} is at height {}", node.1.height));
                found = found.or(Some(node));
            }
        }
    }
    clock(running.or(found.as_ref()).map(|(_, health)| health), findings);
    found
}

async fn asked(url: &str) -> Result<Node, ApiError> {
    let client = Client::new(url)?;
    let health = client.health().await?;
    Ok((client, health))
}

/// Compares this computer's clock with that of the proposer of the newest block.
fn clock(health: Option<&model::HealthDetailed>, findings: &mut Findings) {
    let now_ms = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    let Some(offset) = health.and_then(|health| offset(health, now_ms)) else {
        let fix = "run doctor again while the node runs and receives blocks; `timedatectl` shows whether NTP works";
        return findings.warn("clock", "there is no recent block to compare it with", fix);
    };
    let says = format!("{} ms {} the newest block's", offset.abs(), if offset < 0 { "behind" } else { "ahead of" });
    let fix = "synchronize it with NTP, as with `timedatectl set-ntp true`";
    match offset.abs() {
        0..=LARGE_OFFSET_MS => findings.ok("clock", says),
        distance if distance <= MAX_OFFSET_MS => findings.warn("clock", says, fix),
        _ if offset < 0 => findings.fail("clock", format!("{says}: a validator votes too late with it, and goes to jail"), fix),
        _ => findings.fail("clock", format!("{says}: the others give up the blocks of a validator with it"), fix),
    }
}

/// How far this clock is ahead of the proposer's, in milliseconds. `None` where the node has not seen its newest block come lately.
pub(crate) fn offset(health: &model::HealthDetailed, now_ms: i64) -> Option<i64> {
    let is_seen = health.last_block_age_ms < MAX_AGE_MS.min(health.uptime_ms.saturating_sub(1_000));
    let came_at = i64::try_from(health.timestamp_ms.saturating_add(health.last_block_age_ms)).ok()?;
    (is_seen && health.height > 0 && !health.dev).then(|| now_ms.saturating_sub(came_at))
}

/// The peers of the running node.
pub(super) fn peers(health: &model::HealthDetailed, findings: &mut Findings) {
    let says = format!("connected to {} of {}", health.peers_connected, amount::counted(health.peers, "validator"));
    if health.peers_connected < health.peers {
        let fix = "check that UDP passes the firewalls in both directions, and that the others run";
        findings.warn("peers", says, fix);
    } else if health.peers > 0 {
        findings.ok("peers", says);
    }
}

/// What is known of the chain beside the node's own word.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    /// The height that another node has.
    pub(super) height: Option<u64>,
    /// The record of the validator.
    pub(super) record: Option<&'a model::Validator>,
    /// Whether the node is that of a validator.
    pub(super) is_validator: bool,
    /// Whether its configuration has the share of a validator of genesis.
    pub(super) has_share: bool,
}

/// Whether the running node makes progress. One that is behind the chain is no failure where it has something to wait for: the others connect to a
/// new validator when the chain has chosen it, and give blocks to one that was away.
pub(super) fn progress(health: &model::HealthDetailed, beside: Beside<'_>, findings: &mut Findings) {
    let place = beside.height.map_or_else(|| format!("height {}", health.height), |height| format!("height {} of {height}", health.height));
    let Some(waits_for) = &health.waits_for else {
        return findings.ok("progress", format!("{place}, the newest block came {} ms ago", health.last_block_age_ms));
    };
    let says = format!("{place}; the node waits for {waits_for}");
    let has_time = health.peers_connected > 0 || beside.record.is_none_or(|record| !record.is_signing);
    match beside.height {
        Some(height) if height > health.height && has_time => findings.warn("progress", says, outlook(beside)),
        None if health.height == 0 && beside.is_validator && !beside.has_share => findings.warn(
            "progress",
            says,
            "the node of a new validator stands here until the others connect to it: see how far that is with doctor --source URL, \
             where URL is another node of the chain",
        ),
        _ => findings.fail("progress", says, "see \"Restart the chain\" in docs/operators.md"),
    }
}

/// What the node of a validator waits for while it is behind.
fn outlook(beside: Beside<'_>) -> String {
    let height = |height: Option<u64>| height.map_or_else(|| "a later height".to_owned(), |height| format!("height {height}"));
    match beside.record.map(|record| (record.share.stage.as_str(), &record.share)) {
        Some(("bonded", share)) => format!(
            "wait: the validator is bonded; the next set is fixed at {}, and the others connect in the epoch after that",
            height(share.chosen_at)
        ),
        Some(("chosen", share)) => {
            let (chosen, receives) = (height(share.chosen_at), height(share.receives_from));
            format!("wait: the validator is in the set fixed at {chosen}; the others connect an epoch before {receives}, where it begins to receive a share")
        }
        Some(("receiving", _)) => {
            "it must come up with the chain before the middle of this epoch, else its share becomes public; a snapshot of a validator is faster".into()
        }
        None if beside.is_validator => "register it; the others connect in the epoch after the set is fixed that it is in".into(),
        _ => "wait until it has come up with the chain; if its height does not grow, see its log".into(),
    }
}

/// What the chain says of this validator, and its record, where one has its keys.
pub(super) async fn validator(setup: Option<&Setup>, client: &Client, findings: &mut Findings) -> Option<model::Validator> {
    let file = setup.and_then(Setup::validator)?;
    let keys = file.secrets.keys().ok()?;
    let listed: model::Validators = match client.all("/validators").await {
        Ok(listed) => listed,
        Err(error) => {
            findings.warn("validator", format!("the node does not list the validators: {}", error.what), "try again");
            return None;
        }
    };
    let (network, signer) = (keys.network.public_key(), keys.signer.address());
    addresses(&listed.validators, network.as_ref(), &file.peers, findings);
    let record = own(&listed.validators, &Keys { network: network.as_ref(), vrf: &keys.vrf_key().0, signer }, findings)?;
    reachable(record.network_address.as_deref(), file.listen, findings);
    match client.account_or_empty(&signer).await {
        Ok(account) => reports(signer, account.balance, findings),
        Err(error) => findings.warn("reports", format!("the node does not tell the balance of {signer}: {}", error.what), "try again"),
    }
    Some(record.clone())
}

/// The record with these keys, and how the validator stands.
fn own<'a>(listed: &'a [model::Validator], keys: &Keys<'_>, findings: &mut Findings) -> Option<&'a model::Validator> {
    let fix = "use the file whose keys the chain has, as from `cowboyd keys restore`; see the registered keys with cowboy validator get";
    let record = match registered(listed, keys) {
        Ok(Some(record)) => record,
        Ok(None) => {
            let fix = "register it: cowboyd keys registration, then cowboy validator register";
            findings.warn("validator", "these keys are not registered", fix);
            return None;
        }
        Err((key, account)) => {
            findings.fail("validator", format!("the {key} key of the file is not the one that {account} registered"), fix);
            return None;
        }
    };
    let signs = if record.is_signing { "signs blocks" } else { "does not sign" };
    let says = format!("{} {}, {signs}{}", record.address, record.status, bonded(record));
    match record.status.as_str() {
        "jailed" => findings.fail("validator", says, "remove the cause, then `cowboy validator unjail` after the time in jail"),
        _ if record.is_share_public => findings.warn(
            "validator",
            format!("{says}; its share is public: it did not acknowledge the share in time, because it was behind or could not be reached"),
            "let it catch up, and check its connection; cowboy validator status names the dealers that had no acknowledgement from it",
        ),
        _ => findings.ok("validator", says),
    }
    Some(record)
}

/// At which height a validator can be chosen that is registered and in no set.
fn bonded(record: &model::Validator) -> String {
    match record.share.chosen_at.filter(|_| record.share.stage == "bonded") {
        Some(height) => format!("; registered, and not yet in a set: the next one is fixed at height {height}"),
        None => String::new(),
    }
}

/// The public halves of a validator's keys.
struct Keys<'a> {
    network: &'a [u8],
    vrf: &'a [u8],
    signer: Address,
}

/// The record of the validator with these keys, if one is registered. Fails with the key that the chain has another one of, and whose record it is.
fn registered<'a>(listed: &'a [model::Validator], keys: &Keys<'_>) -> Result<Option<&'a model::Validator>, (&'static str, HexAddress)> {
    let is_network = |record: &&model::Validator| record.consensus_key.0 == keys.network;
    let is_vrf = |record: &&model::Validator| record.bls_key.0 == keys.vrf;
    let is_signer = |record: &&model::Validator| record.signer.0 == keys.signer;
    let with = |has: &dyn Fn(&&model::Validator) -> bool| listed.iter().find(|record| has(record));
    let Some(record) = with(&is_network).or_else(|| with(&is_vrf)).or_else(|| with(&is_signer)) else { return Ok(None) };
    let wrong = [("network", is_network(&record)), ("VRF", is_vrf(&record)), ("signer", is_signer(&record))];
    match wrong.into_iter().find(|(_, is_own)| !is_own) {
        Some((key, _)) => Err((key, record.address)),
        None => Ok(Some(record)),
    }
}

/// Whether the key of the headers can pay for reports of others' faults (decision 424).
fn reports(signer: Address, balance: u64, findings: &mut Findings) {
    let says = format!("the key of the headers, {signer}, has {} for reports of faults", amount::cby(balance));
    if balance < REPORTS_COST {
        findings.warn("reports", says, format!("send it 1 CBY: cowboy transfer {signer} 1cby"));
    } else {
        findings.ok("reports", says);
    }
}

/// Whether this validator can connect to those that sign. It waits until others connect to it
/// ([decision 657](../../../../../docs/decisions/0657-validators-without-an-address.md)).
fn addresses(listed: &[model::Validator], own: &[u8], peers: &[Peer], findings: &mut Findings) {
    let others = listed.iter().filter(|record| record.is_signing && record.consensus_key.0 != own);
    let (known, unknown): (Vec<_>, Vec<_>) =
        others.partition(|record| record.network_address.is_some() || peers.iter().any(|peer| peer.key.0 == record.consensus_key.0));
    if unknown.is_empty() {
        return findings.ok("addresses", format!("those of all {} other validators that sign are known", known.len()));
    }
    let keys: Vec<_> = unknown.iter().map(|record| record.consensus_key.to_string()).collect();
    findings.warn(
        "addresses",
        format!("neither the chain nor the configuration has an address of {}: this validator waits until they connect to it", keys.join(", ")),
        "add them to `peers` in the configuration and start the node again, or have their operators run cowboy validator edit --address HOST:PORT",
    );
}

/// Whether others can dial the address on chain.
fn reachable(on_chain: Option<&str>, listen: SocketAddr, findings: &mut Findings) {
    let fix = "correct it: cowboy validator edit --address HOST:PORT";
    let Some(address) = on_chain.and_then(|text| text.parse::<SocketAddr>().ok()) else {
        return findings.warn("address", "the chain has no address for this validator, so new validators do not find it", fix);
    };
    let is_local = address.ip().is_loopback();
    if is_local != listen.ip().is_loopback() && !listen.ip().is_unspecified() {
        findings.fail("address", format!("others dial {address}, and the node listens at {listen}"), fix);
    } else if address.port() != listen.port() {
        findings.warn(
            "address",
            format!("others dial port {}, and the node listens at {}", address.port(), listen.port()),
            "forward the port, or correct the address: cowboy validator edit --address HOST:PORT",
        );
    } else if !cowboy_serve::is_public(address.ip()) {
        findings.warn("address", format!("others dial {address}, which is not an address of the internet"), fix);
    } else {
        findings.ok("address", format!("others dial {address}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::Hex;
    use cowboy_types::Hash;

    fn health(timestamp_ms: u64, last_block_age_ms: u64, uptime_ms: u64) -> model::HealthDetailed {
        model::HealthDetailed {
            status: "ok".into(),
            waits_for: None,
            version: String::new(),
            protocol_version: 1,
            protocol_newest: 1,
            upgrade: None,
            chain_id: 1,
            genesis: Hex(Hash::ZERO),
            dev: false,
            height: 7,
            block_hash: Hex(Hash::ZERO),
            timestamp_ms,
            block_time_ms: 1_000,
            mempool: 0,
            peers: 3,
            peers_connected: 3,
            view: 9,
            last_block_age_ms,
            uptime_ms,
        }
    }

    /// Every other validator that signs has an address, on the chain or in the file.
    #[test]
    fn validators_without_an_address_are_named() {
        let record = |key: u8, is_signing: bool, address: Option<&str>| -> model::Validator {
            let key = format!("0x{}", format!("{key:02x}").repeat(32));
            serde_json::from_value(serde_json::json!({
                "address": format!("0x{}", "11".repeat(20)), "signer": format!("0x{}", "22".repeat(20)), "consensus_key": key, "bls_key": "0x", "stake": 1, "status": "active", "jailings": 0,
                "in_set": true, "is_signing": is_signing, "is_share_public": false, "network_address": address, "share": { "stage": "signing" },
            }))
            .expect("a record")
        };
        let listed = [record(1, true, None), record(2, true, Some("192.0.2.2:3000")), record(3, true, None), record(4, false, None)];
        let peer = |key: &str| -> Peer { format!("0x{}@192.0.2.3:3000", key.repeat(32)).parse().expect("a peer") };
        let said = |peers: &[Peer]| {
            let mut findings = Findings(Vec::new());
            addresses(&listed, &[1; 32], peers, &mut findings);
            let finding = findings.0.pop().expect("one finding");
            (finding.fix.is_some(), finding.says)
        };
        assert_eq!(said(&[peer("03")]), (false, "those of all 2 other validators that sign are known".to_owned()));
        let (is_wrong, says) = said(&[peer("02")]);
        assert!(
            is_wrong && says.contains(&"03".repeat(32)) && !says.contains(&"02".repeat(32)) && !says.contains(&"04".repeat(32)),
            "{says}"
        );
    }

    fn record(stage: &str, is_signing: bool) -> model::Validator {
        serde_json::from_value(serde_json::json!({
            "address": format!("0x{}", "11".repeat(20)), "signer": format!("0x{}", "22".repeat(20)), "consensus_key": "0x0101", "bls_key": "0x0202",
            "stake": 1, "status": "active", "jailings": 0, "in_set": is_signing, "is_signing": is_signing, "is_share_public": false,
            "share": { "stage": stage, "chosen_at": 90, "receives_from": 120 },
        }))
        .expect("a record")
    }

    /// A file with one key of a registered validator and another one of its own is named.
    #[test]
    fn keys_are_those_that_are_registered() {
        let listed = [record("signing", true)];
        assert!(
            bonded(&record("bonded", false)).contains("not yet in a set: the next one is fixed at height 90")
                && bonded(&listed[0]).is_empty()
        );
        let wrong = |network: u8, vrf: u8, signer: u8| {
            let keys = Keys { network: &[network; 2], vrf: &[vrf; 2], signer: Address([signer; 20]) };
            registered(&listed, &keys).map_err(|(key, _)| key)
        };
        assert_eq!(wrong(1, 2, 0x22), Ok(Some(&listed[0])));
        assert_eq!(wrong(1, 3, 0x22), Err("VRF"));
        assert_eq!(wrong(3, 2, 0x22), Err("network"));
        assert_eq!(wrong(1, 2, 0x33), Err("signer"));
        assert_eq!(wrong(3, 3, 0x22), Err("network"), "nobody else signs headers with its key");
        assert_eq!(wrong(3, 3, 0x33), Ok(None), "it may register");
    }

    /// A node that is behind is a failure only where it takes its part and nobody gives it blocks.
    #[test]
    fn a_node_that_is_behind_waits() {
        use super::super::Level::{Fail, Ok, Warn};
        let newcomer = Beside { is_validator: true, ..Beside::default() };
        let [bonded, chosen, receiving] = ["bonded", "chosen", "receiving"].map(|stage| record(stage, false));
        let signing = record("signing", true);
        let with = |record| Beside { height: Some(80), record: Some(record), ..newcomer };
        let rows = [
            (0, 0, newcomer, Warn, "doctor --source URL"),
            (0, 0, Beside { has_share: true, ..newcomer }, Fail, "Restart the chain"),
            (0, 0, Beside::default(), Fail, "Restart the chain"),
            (0, 0, Beside { height: Some(80), ..newcomer }, Warn, "register it"),
            (0, 0, Beside { height: Some(80), ..Beside::default() }, Warn, "come up with the chain"),
            (0, 0, with(&bonded), Warn, "the next set is fixed at height 90"),
            (0, 0, with(&chosen), Warn, "an epoch before height 120"),
            (7, 3, with(&receiving), Warn, "before the middle of this epoch"),
            (7, 3, with(&signing), Warn, "come up with the chain"),
            (7, 0, with(&signing), Fail, "Restart the chain"),
            (80, 3, with(&signing), Fail, "Restart the chain"),
        ];
        for (height, peers_connected, beside, level, fix) in rows {
            let mut findings = Findings::default();
            let waits = model::HealthDetailed { height, peers_connected, waits_for: Some("a block".into()), ..health(0, 0, 0) };
            progress(&waits, beside, &mut findings);
            let found = &findings.0[0];
            assert!(found.level == level && found.fix.as_deref().is_some_and(|found| found.contains(fix)), "{fix}: {found:?}");
            let of = if beside.height.is_some() { " of 80" } else { "" };
            assert!(found.says.starts_with(&format!("height {height}{of}; the node waits for a block")), "{found:?}");
        }
        let mut findings = Findings::default();
        progress(&health(0, 5, 0), with(&signing), &mut findings);
        assert_eq!((findings.0[0].level, findings.0[0].says.as_str()), (Ok, "height 7 of 80, the newest block came 5 ms ago"));
    }

    /// A clock is compared with blocks that came while the node ran, and with no others.
    #[test]
    fn clocks_are_compared_with_recent_blocks() {
        let rows = [
            ((100_000, 400, 60_000), 100_600, Some(200)),
            ((100_000, 400, 60_000), 90_400, Some(-10_000)),
            // The newest block was there when the node started.
            ((100_000, 5_000, 5_000), 105_000, None),
            ((100_000, 61_000, 900_000), 161_000, None),
        ];
        for ((timestamp_ms, age, uptime), now, expected) in rows {
            assert_eq!(offset(&health(timestamp_ms, age, uptime), now), expected);
        }
        let rows = [
            (0i64, super::super::Level::Ok, ""),
            (3_000, super::super::Level::Warn, "ahead of"),
            (-6_000, super::super::Level::Fail, "goes to jail"),
            (6_000, super::super::Level::Fail, "give up the blocks"),
        ];
        for (offset_ms, level, says) in rows {
            let now = i64::try_from(now_ms()).expect("it fits");
            let mut findings = Findings::default();
            clock(Some(&health(u64::try_from(now - offset_ms).expect("after 1970"), 0, 60_000)), &mut findings);
            assert_eq!(findings.0[0].level, level, "{:?}", findings.0);
            let mends = findings.0[0].fix.as_deref().is_some_and(|fix| fix.contains("NTP"));
            assert!(mends == (level != super::super::Level::Ok) && findings.0[0].says.contains(says), "{:?}", findings.0);
        }
    }

    /// Without a balance, the key of the headers cannot report.
    #[test]
    fn reports_are_paid() {
        use super::super::Level::{Ok, Warn};
        for (balance, level) in [(0, Warn), (REPORTS_COST - 1, Warn), (REPORTS_COST, Ok)] {
            let mut findings = Findings::default();
            reports(Address([7; 20]), balance, &mut findings);
            assert_eq!(findings.0[0].level, level, "{balance}: {:?}", findings.0);
        }
    }

    /// The address on chain is one that others can dial.
    #[test]
    fn addresses_on_chain_are_dialable() {
        use super::super::Level::{Fail, Ok, Warn};
        let rows = [
            (Some("9.9.9.9:3000"), "0.0.0.0:3000", Ok),
            (Some("9.9.9.9:3000"), "127.0.0.1:3000", Fail),
            (Some("9.9.9.9:3001"), "0.0.0.0:3000", Warn),
            (Some("10.0.0.7:3000"), "0.0.0.0:3000", Warn),
            (None, "0.0.0.0:3000", Warn),
        ];
        for (on_chain, listen, level) in rows {
            let mut findings = Findings::default();
            reachable(on_chain, listen.parse().expect("an address"), &mut findings);
            assert_eq!(findings.0[0].level, level, "{on_chain:?} {listen}");
        }
    }
}
