//! `cowboy-gateway doctor`: everything that a gateway needs, checked in order, with what to do about what is missing.

use super::{Register, Settings, running};
use crate::{
    client::gateway::gateway_url,
    daemon::doctor::{MAX_OFFSET_MS, NO_SPACE, free_at, offset},
    service::Checks,
};
use cowboy_api::{
    Client,
    error::{NOT_FOUND, UNREACHABLE},
    keystore, model,
};
use cowboy_console::{amount, failure::Failure, output::Output};
use cowboy_gateway::{Config, Listener};
use cowboy_host::{clock::now_ms, files};
use cowboy_serve::limits::Limits;
use cowboy_service::authority;
use cowboy_store::Directory;
use cowboy_types::{Address, Hash};
use serde_json::Value;

/// A gateway with less than this pays for few commands, in base units: 1 CBY.
const FEES: u64 = 1_000_000_000;

/// A label that no name has, to look up in a zone.
const LOOKED_UP: &str = "cowboy-doctor";

/// A problem, and what to do about it.
type Mended = (String, String);

/// Checks, prints, and fails where anything is missing.
pub(super) async fn run(settings: &Settings, output: Output) -> Result<(), Failure> {
    let mut checks = Checks::default();
    let own = key(settings);
    let fix = "cowboy wallet create, and name its file in key_file; without key_file and [register] it only reads";
    checks.add("key", own.as_ref().map(drop).map_err(Clone::clone), fix);
    if let Some((file, mode)) = settings.key_file.as_deref().and_then(|file| Some((file, files::mode_for_others(file)?))) {
        let file = file.display();
        checks.add("key file", Err(format!("other users can read {file} (mode {mode:o})")), format!("chmod 600 {file}"));
    }
    let own = own.ok().flatten();
    let node = node(settings).await;
    let fix = "start the node, correct `node`, or compare `genesis` with the node's /genesis";
    checks.add("node", node.as_ref().map(drop).map_err(Clone::clone), fix);
    let node = node.ok();
    checks.add("clock", clock(node.as_ref().map(|(_, health)| health)), "synchronize it with NTP, as with `timedatectl set-ntp true`");
    checks.add_mended("state", state(settings, node.as_ref().map(|(_, health)| health.genesis.0)));
    checks.add("disk", disk(settings), "free space, or name a folder of a larger disk in state: a gateway that cannot write ends");
    let config = settings.server();
    let files = Limits::raised().slots(config.limits.connections).map(drop).map_err(|error| error.to_string());
    checks.add("files", files, "raise the limit of open files where the gateway is started, as the message says");
    let running = running(settings).await;
    let fix = "end what listens there, or choose another listen in [http], [tls] or [dns]; ports below 1024 need privileges";
    checks.add("ports", ports(&config, running.as_ref(), own).await, fix);
    if let Some(tls) = &settings.tls {
        let is_ordered = tls.acme.is_some() && !tls.certificate.exists();
        let found = if is_ordered { Ok(()) } else { tls.check().map_err(|error| error.to_string()) };
        checks.add("certificate", found, "put a certificate and its key in place, or let [tls.acme] order them");
    }
    let mut record = None;
    if let (Some(address), Some((client, _))) = (own, &node) {
        let found = registration(settings, client, address).await;
        record = found.as_ref().ok().cloned().flatten();
        checks.add_mended("registration", found.map(drop));
        checks.add(
            "fees",
            fees(client, address).await,
            format!("send CBY to {address}, or use stake above the minimum: cowboy gateway draw"),
        );
    }
    reach(settings, record.as_ref(), running.is_some(), &mut checks).await;
    checks.print(output)
}

/// The account of the gateway; none where it only reads.
fn key(settings: &Settings) -> Result<Option<Address>, String> {
    match (&settings.key_file, &settings.register) {
        (Some(file), _) => keystore::read(file).map(|key| Some(key.address())).map_err(|error| error.to_string()),
        (None, Some(_)) => Err("[register] needs a key, and key_file is missing".to_owned()),
        (None, None) => Ok(None),
    }
}

/// The node that is followed, where it is one of the chain.
async fn node(settings: &Settings) -> Result<(Client, model::HealthDetailed), String> {
    let wanted = settings.expected_genesis().map_err(|failure| failure.to_string())?;
    let client = Client::new(&settings.node).map_err(|error| error.what)?;
    let health = client.health().await.map_err(|error| format!("{}: {}", settings.node, error.what))?;
    match wanted {
        Some(genesis) if genesis != health.genesis.0 => {
            Err(format!("{} is a node of another chain, with genesis {}", settings.node, health.genesis))
        }
        _ => Ok((client, health)),
    }
}

/// Fails where this clock differs from that of the newest block's proposer, as far as a block came of late.
fn clock(health: Option<&model::HealthDetailed>) -> Result<(), String> {
    let now = i64::try_from(now_ms()).unwrap_or(i64::MAX);
    match health.and_then(|health| offset(health, now)) {
        Some(offset) if offset.abs() > MAX_OFFSET_MS => {
            let side = if offset < 0 { "behind" } else { "ahead of" };
            Err(format!("{} ms {side} the newest block's: certificates count from another time", offset.abs()))
        }
        _ => Ok(()),
    }
}

/// Fails where the state would be lost, is of another chain, or cannot be written.
fn state(settings: &Settings, genesis: Option<Hash>) -> Result<(), Mended> {
    let Some(folder) = &settings.state else {
        let lost = "a temporary folder loses the commands that the gateway signed: a nonce that it signs twice costs stake";
        return if settings.key_file.is_none() { Ok(()) } else { Err((lost.to_owned(), "name a folder in state".to_owned())) };
    };
    let shown = folder.display();
    match Directory::genesis_of(folder) {
        Ok(Some(found)) if genesis.is_some_and(|genesis| genesis != found) => Err((
            format!("{shown} has another chain, with genesis {found}"),
            "name another folder in state; keep this one as long as its key".to_owned(),
        )),
        Ok(_) => files::create_folder(folder)
            .map_err(|error| (format!("{shown}: {error}"), "name a folder that this account may write in state".to_owned())),
        Err(error) => Err((error.to_string(), "see `cowboyd check --state DIR`, or name another folder in state".to_owned())),
    }
}

/// Fails where the disk is almost full.
fn disk(settings: &Settings) -> Result<(), String> {
    let folder = settings.state.clone().unwrap_or_else(std::env::temp_dir);
    match free_at(&folder) {
        Ok(free) if free < NO_SPACE => Err(format!("{} are free at {}", amount::bytes(free), folder.display())),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{}: {error}", folder.display())),
    }
}

/// Fails where the gateway neither listens at its ports nor could.
async fn ports(config: &Config, running: Option<&Value>, own: Option<Address>) -> Result<(), String> {
    match running {
        None => Listener::bind_all(config).await.map(drop).map_err(|error| error.to_string()),
        Some(info) if info["gateway"].as_str().and_then(|text| text.parse().ok()) == own => Ok(()),
        Some(info) => Err(format!("another gateway listens at {}, whose account is {}", config.listen, info["gateway"])),
    }
}

/// The gateway's record on the chain; none where it has none yet and can register itself.
async fn registration(settings: &Settings, client: &Client, address: Address) -> Result<Option<model::Gateway>, Mended> {
    let asked = |error: cowboy_api::ApiError| (error.what, "try again".to_owned());
    match client.get::<model::Gateway>(&format!("/gateways/{address}")).await {
        Ok(record) => registered(&record, settings.register.as_ref()).map(|()| Some(record)),
        Err(error) if error.code == NOT_FOUND.code => {
            let balance = client.account_or_empty(&address).await.map_err(asked)?.balance;
            unregistered(address, balance, settings.register.as_ref()).map(|()| None)
        }
        Err(error) => Err(asked(error)),
    }
}

/// What is wrong with a record, beside what the configuration says.
fn registered(record: &model::Gateway, register: Option<&Register>) -> Result<(), Mended> {
    if let Some(until) = record.leaving {
        let fix = "withdraw the stake then with `cowboy gateway unstake`, and register again";
        return Err((format!("it is leaving, and its stake is free at height {until}"), fix.to_owned()));
    }
    let on_chain = (record.endpoint.as_str(), record.http_port);
    if let Some(register) = register.filter(|register| (register.endpoint.as_str(), u64::from(register.http_port)) != on_chain) {
        let (endpoint, port) = (&register.endpoint, register.http_port);
        let (chain, own) = (authority(&record.endpoint, record.http_port), authority(endpoint, port));
        let says = format!("the chain has {chain}, and [register] has {own}");
        return Err((says, format!("correct one of them: cowboy gateway set-endpoint {endpoint} --http-port {port}")));
    }
    if record.is_active {
        return Ok(());
    }
    let says =
        format!("it is registered and not active: its health is {}, and its stake {}", record.health, amount::cby(record.stake_amount));
    Err((says, "start it, which sends a heartbeat; where the stake is below the minimum: cowboy gateway add-stake".to_owned()))
}

/// What keeps a gateway from registering itself.
fn unregistered(address: Address, balance: u64, register: Option<&Register>) -> Result<(), Mended> {
    let Some(register) = register else {
        let fix = "cowboy gateway register, or add [register] to the configuration".to_owned();
        return Err((format!("{address} is not registered, so it dispatches no commands"), fix));
    };
    let stake = register.stake().map_err(|failure| (failure.to_string(), "correct stake_cby".to_owned()))?;
    if balance > stake.get() {
        return Ok(());
    }
    let says = format!("{address} has {}, and [register] stakes {}", amount::cby(balance), amount::cby(stake.get()));
    Err((says, "send it the stake, and something for fees".to_owned()))
}

/// Fails where the account can pay for few commands.
async fn fees(client: &Client, address: Address) -> Result<(), String> {
    let balance = client.account_or_empty(&address).await.map_err(|error| error.what)?.balance;
    if balance < FEES { Err(format!("{address} has {} for the fees of commands", amount::cby(balance))) } else { Ok(()) }
}

/// Whether others find the gateway by its names, and reach it. What nobody serves while it does not run is left out.
async fn reach(settings: &Settings, record: Option<&model::Gateway>, is_running: bool, checks: &mut Checks) {
    let of_record = record.map(|record| (record.endpoint.clone(), record.http_port));
    let of_settings = settings.register.as_ref().map(|register| (register.endpoint.clone(), u64::from(register.http_port)));
    if let Some((endpoint, port)) = of_record.or(of_settings) {
        let fix = format!("set the A or AAAA record of {endpoint}, or correct the endpoint: cowboy gateway set-endpoint");
        checks.add("endpoint", looked_up(&endpoint).await, fix);
        if is_running {
            let fix = format!("let TCP port {port} through the firewalls to the gateway; for 443 it needs a certificate for {endpoint}");
            checks.add("reachable", answers(&gateway_url(&endpoint, port)).await, fix);
        }
    }
    if settings.dns.is_none() || !is_running {
        return;
    }
    for zone in settings.http.zones.iter().filter(|zone| *zone != "localhost") {
        let fix = format!("delegate {zone} in the zone above it to this gateway's name server, and let port 53 through by UDP and TCP");
        checks.add("zone", looked_up(&format!("{LOOKED_UP}.{zone}")).await, fix);
    }
}

/// Fails where a host has no address.
async fn looked_up(host: &str) -> Result<(), String> {
    match tokio::net::lookup_host((host, 0)).await.map(|mut found| found.next()) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(format!("{host} has no address")),
        Err(error) => Err(format!("{host} is not found: {error}")),
    }
}

/// Fails where no gateway answers at a URL. One that waits for its node says so with 503.
async fn answers(url: &str) -> Result<(), String> {
    let client = Client::new(url).map_err(|error| error.what)?;
    match client.get::<Value>("/_cowboy/health").await {
        Err(error) if error.code == UNREACHABLE.code && error.context["status"] != 503 => {
            let reason = [&error.context["reason"], &error.context["status"]].into_iter().find(|reason| !reason.is_null());
            Err(format!("{url} does not answer: {}", reason.unwrap_or(&Value::Null)))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_api::Hex;

    fn settings(text: &str) -> Settings {
        toml::from_str(&format!("node = \"http://127.0.0.1:1\"\n{text}")).expect("the settings are right")
    }

    const REGISTER: &str = "[register]\nendpoint = \"gw1.example.com\"\nhttp_port = 443\nstake_cby = 10\n";

    /// What the chain has of a gateway is compared with what its configuration says.
    #[test]
    fn records_are_compared_with_the_configuration() {
        let record = |endpoint: &str, is_active: bool, leaving: Option<u64>| model::Gateway {
            address: Hex(Address([1; 20])),
            endpoint: endpoint.to_owned(),
            http_port: 443,
            stake_amount: 10_000_000_000,
            health: if is_active { 3_600 } else { 0 },
            is_active,
            last_heartbeat: 1,
            registered_at: 1,
            leaving,
        };
        let register = settings(REGISTER).register;
        let said = |record: &model::Gateway| registered(record, register.as_ref()).err();
        assert_eq!(said(&record("gw1.example.com", true, None)), None);
        for (record, problem, fix) in [
            (record("gw1.example.com", true, Some(9)), "free at height 9", "unstake"),
            (
                record("gw2.example.com", true, None),
                "the chain has gw2.example.com:443, and [register] has gw1.example.com:443",
                "set-endpoint",
            ),
            (record("gw1.example.com", false, None), "its health is 0, and its stake 10 CBY", "heartbeat"),
        ] {
            let (says, mended) = said(&record).expect("something is wrong");
            assert!(says.contains(problem) && mended.contains(fix), "{says}: {mended}");
        }
        assert!(registered(&record("gw2.example.com", true, None), None).is_ok(), "the configuration says nothing of it");
    }

    /// A gateway that is not registered needs a registration, and what it stakes.
    #[test]
    fn a_registration_needs_its_stake() {
        let (register, own) = (settings(REGISTER).register, Address([1; 20]));
        assert!(unregistered(own, 10_000_000_001, register.as_ref()).is_ok());
        let problem = |balance, register: Option<&Register>| unregistered(own, balance, register).expect_err("it cannot register").0;
        assert!(problem(10_000_000_000, register.as_ref()).contains("has 10 CBY, and [register] stakes 10 CBY"));
        assert!(problem(u64::MAX, None).contains("is not registered"));
    }

    /// What would be lost, or signed by nobody, is found before the start.
    #[test]
    fn settings_that_do_not_fit_are_found() {
        assert_eq!(key(&settings("")), Ok(None), "it only reads");
        assert!(key(&settings(REGISTER)).is_err_and(|problem| problem.contains("key_file is missing")));
        assert!(key(&settings("key_file = \"none.key\"")).is_err());
        assert!(state(&settings(""), None).is_ok());
        assert!(state(&settings("key_file = \"a.key\""), None).is_err_and(|(problem, _)| problem.contains("costs stake")));
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("state");
        assert!(state(&settings(&format!("state = {inner:?}")), Some(Hash::ZERO)).is_ok());
        assert_eq!(files::mode_for_others(&inner), None, "others do not enter it");
        std::fs::write(folder.path().join("file"), "").expect("it is written");
        assert!(state(&settings(&format!("state = {:?}", folder.path().join("file/state"))), None).is_err());
        assert!(disk(&settings(&format!("state = {inner:?}"))).is_ok());
    }

    /// The ports are the gateway's if it runs there, and else have to be free.
    #[tokio::test]
    async fn ports_are_its_own_or_free() {
        let held = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let listen = held.local_addr().expect("it listens");
        let config = settings(&format!("[http]\nlisten = \"{listen}\"")).server();
        let (own, other) = (Address([1; 20]), Address([2; 20]));
        let info = |address: Address| serde_json::json!({ "gateway": address.to_string() });
        assert!(ports(&config, None, Some(own)).await.is_err_and(|problem| problem.contains("cannot listen at")));
        assert_eq!(ports(&config, Some(&info(own)), Some(own)).await, Ok(()));
        assert!(ports(&config, Some(&info(other)), Some(own)).await.is_err_and(|problem| problem.contains("another gateway listens")));
        drop(held);
        assert_eq!(ports(&config, None, Some(own)).await, Ok(()));
    }
}
