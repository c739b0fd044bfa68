//! `cowboyd dev`: a devnet in one process.

use super::{
    banner,
    demo::Demo,
    examples, link, node_failure, not_running,
    runners::{self, Runners},
    services,
    serving::{self, Serving, StopSignals},
    state::{Beginning, DEV_ACCOUNTS, Devnet, Folder},
};
use crate::send::{self, Terms};
use clap::Args;
use cowboy_api::{Client, keystore::DEV_MNEMONIC};
use cowboy_console::{
    failure::Failure,
    output::{self, Output},
    pairs,
};
use cowboy_gateway::{Gateway, Listener, Registration, Upstream};
use cowboy_host::clock;
use cowboy_node::{BlockTime, NodeConfig, NodeHandle};
use cowboy_rpc::{Backend, Listeners, Sites};
use cowboy_serve::{Slots, limits::MAX_CONNECTIONS};
use cowboy_simulator::{ProxyPlan, RelayPlan};
use cowboy_types::{Address, Amount, Hash, error as aborts, keccak256};
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::task::JoinHandle;

/// Runs a devnet: one validator with real votes, funded accounts, faucet, explorer.
#[derive(Args, Debug)]
pub(crate) struct Dev {
    /// Deploy an example and print where to watch it
    #[arg(long, value_name = "NAME")]
    example: Vec<String>,
    /// Time between blocks, like 200ms, or instant: a block as soon as there is work; by default what consensus.block_time says, 1s
    #[arg(long, value_name = "TIME", value_parser = block_time)]
    block_time: Option<BlockTime>,
    /// Keep the chain in this folder
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Start a new chain in the folder of --state
    #[arg(long, requires = "state")]
    reset: bool,
    #[command(flatten)]
    serving: Serving,
    /// The number of funded accounts [default: 10]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    accounts: Option<u32>,
    /// The initial balance of each account, in CBY [default: 10000]
    #[arg(long)]
    balance: Option<u64>,
    /// The mnemonic of the accounts [default: the public one of devnets]
    #[arg(long)]
    mnemonic: Option<String>,
    /// The chain id in every signature [default: 1337]
    #[arg(long)]
    chain_id: Option<u64>,
    /// Start with another value of a parameter, like lanes.user_cycles=1000000000
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u64)>,
    #[command(flatten)]
    runners: Runners,
    /// The number of proxies in the process, which release secrets; they start at the first use of secrets [default: 4]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=16))]
    proxies: Option<u32>,
    /// The number of relays in the process, which keep volumes; they start at the first use of volumes [default: 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=24))]
    relays: Option<u32>,
    /// The number of those proxies that sign false answers: the first ones
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    proxy_bad: usize,
    /// The number of those that give no answers: the next ones
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    proxy_silent: usize,
    /// The number of those relays that give no shards to readers, and prove them: the first ones
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    relay_refuse: usize,
    /// The share of its shards that each of those relays loses
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    relay_lose: f64,
    /// The port at which names are served, like http://mysite.localhost:8080; 0 takes any
    #[arg(long, value_name = "PORT")]
    gateway_port: Option<u16>,
    /// Serve no names
    #[arg(long, conflicts_with = "gateway_port")]
    no_gateway: bool,
    /// Do not print a line for each block
    #[arg(long, short)]
    quiet: bool,
}

/// Where names are served, unless that is taken or something else is said.
const GATEWAY_PORT: u16 = 8080;

/// `1s`, `200ms` or `instant`.
fn block_time(text: &str) -> Result<BlockTime, String> {
    let wrong = || format!("{text:?} is not a block time: give 1s, 200ms or instant");
    let milliseconds = match text {
        "instant" => return Ok(BlockTime::Instant),
        text => match (text.strip_suffix("ms"), text.strip_suffix('s')) {
            (Some(number), _) => number.parse::<u64>().ok(),
            (None, Some(number)) => number.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1_000)),
            (None, None) => None,
        },
    };
    let milliseconds = milliseconds.ok_or_else(wrong)?;
    if (10..=60_000).contains(&milliseconds) {
        Ok(BlockTime::Every(Duration::from_millis(milliseconds)))
    } else {
        Err("block times are from 10ms to 60s".into())
    }
}

/// A parameter and its value, as `--parameter` takes them.
pub(super) fn parameter(text: &str) -> Result<(String, u64), String> {
    let wrong = || format!("{text:?} is not a parameter: give NAME=VALUE, like lanes.user_cycles=1000000000");
    let (name, value) = pairs::pair(text).ok_or_else(wrong)?;
    Ok((name.to_owned(), value.replace('_', "").parse().map_err(|_| wrong())?))
}

impl Dev {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        self.runners.check()?;
        if !self.relay_plan().is_possible() {
            return Err(Failure::argument(format!("--relay-lose {} is no share", self.relay_lose), "give a value between 0 and 1"));
        }
        pairs::once("--parameter", self.parameters.iter().map(|(name, _)| name.as_str()))?;
        self.check_ports()?;
        for example in &self.example {
            examples::deployment(example)?;
        }
        serving::runtime()?.block_on(self.serve(output))
    }

    /// Names and metrics cannot share a port.
    fn check_ports(&self) -> Result<(), Failure> {
        let metrics = self.serving.admin_address().map(|address| address.port());
        match self.gateway_port {
            Some(port) if port != 0 && (metrics == Some(port) || self.serving.port == port) => Err(Failure::argument(
                format!(
                    "--gateway-port {port} is in use: the API is at {}, and the metrics are at {}",
                    self.serving.port,
                    metrics.unwrap_or_default()
                ),
                "choose another --gateway-port, or 0 for any free port",
            )),
            _ => Ok(()),
        }
    }

    async fn serve(self, output: Output) -> Result<(), Failure> {
        let mut signals = StopSignals::listen()?;
        // The port comes first: a devnet that cannot listen must not touch the folder.
        let slots = serving::claim(MAX_CONNECTIONS)?;
        let listeners = Listeners::bind(&self.serving.config(&slots)).await.map_err(node_failure)?;
        let url = format!("http://{}", listeners.address());
        self.runners.check_ready().await?;
        let folder = Folder::of_devnet(self.state.as_deref(), self.reset)?;
        let (beginning, devnet) = folder.beginning(self.beginning())?;
        self.check_options(&beginning, &folder.path())?;
        let node = start(&folder, &devnet, self.block_time.unwrap_or(BlockTime::Governed)).await?;
        let backend = Backend {
            node: node.clone(),
            chain: devnet.genesis.chain.clone(),
            faucet: Some(devnet.faucet.clone()),
            upstream: None,
            is_source_away: Arc::default(),
            admin: serving::admin([]),
        };
        let server = listeners.serve(backend);
        let gateway = self.gateway(&devnet, &node, slots, output).await?;
        if let Some(gateway) = &gateway {
            server.serve_sites(Sites { port: gateway.address().port(), served: Box::new(gateway.counter()) });
        }
        let names = gateway.as_ref().map(|gateway| format!("http://<name>.localhost:{}", gateway.address().port()));
        let demo = self.demo(&devnet).await?;
        let links = banner::Links { url: &url, names, has_demo: demo.is_some(), client: link::all() };
        self.print_start(links, &beginning, &devnet, output);
        let printer = (!self.quiet && !output.json).then(|| tokio::spawn(serving::print_blocks(node.clone(), Some(url.clone()))));
        let mut working =
            tokio::spawn(runners::work(self.runners.clone(), url.clone(), folder.services_path(), devnet.runners.clone(), demo));
        let params = &devnet.genesis.chain.params;
        // More than the least: a penalty, as on a computer that is too busy, must not end what a service may do.
        let service = |keys: &[cowboy_types::signing::PrivateKey], least: u64| services::Devnet {
            node: node.clone(),
            url: url.clone(),
            folder: folder.services_path(),
            keys: keys.to_vec(),
            stake: Amount(least.saturating_add(least / 2)),
        };
        let (proxies, relays) = (service(&devnet.proxies, params.secrets.proxy_stake), service(&devnet.relays, params.volumes.relay_stake));
        let releasing = tokio::spawn(services::proxies(proxies, ProxyPlan { bad: self.proxy_bad, silent: self.proxy_silent }));
        let keeping = tokio::spawn(services::relays(relays, self.relay_plan(), params.clone()));
        let deployed = tokio::select! {
            deployed = self.deploy_examples(&url, &devnet, &node, output) => Some(deployed),
            // A node that failed ends as one that was told to: what it serves is stopped first.
            told = stopped(&mut signals, &node, &mut working) => told.err().map(Err),
        };
        let done = match deployed {
            Some(Ok(())) => stopped(&mut signals, &node, &mut working).await,
            Some(Err(failure)) => Err(failure),
            None => Ok(()),
        };
        if let Some(printer) = printer {
            printer.abort();
        }
        // Whatever it waits for ends with the node.
        releasing.abort();
        keeping.abort();
        let _ = (aborted(working).await, releasing.await, keeping.await);
        if let Some(gateway) = gateway {
            gateway.stop().await;
        }
        // The node's threads end before the folder goes.
        serving::stop(server, node).await?;
        drop(folder);
        done
    }

    /// Says that the devnet is ready, and where everything is: as JSON in one object, which no lines of blocks follow.
    fn print_start(&self, links: banner::Links<'_>, beginning: &Beginning, devnet: &Devnet, output: Output) {
        let (url, state) = (links.url, self.state.as_deref());
        if output.json {
            output.document(&banner::document(&links, beginning, devnet, state));
        } else {
            output::line(banner::banner(links, beginning, devnet, state));
            output::line(format_args!("\nready: {url}\n"));
        }
    }

    /// The pages, the model and the tools that the examples use. The second account sells in the shop.
    async fn demo(&self, devnet: &Devnet) -> Result<Option<Demo>, Failure> {
        if !self.runners.wants_demo() {
            return Ok(None);
        }
        let seller = devnet.accounts.get(1).or(devnet.accounts.first()).ok_or_else(|| node_failure("a devnet has accounts"))?;
        Demo::start(seller.address()).await.map(Some)
    }

    /// Serves names, where the port is free.
    async fn gateway(&self, devnet: &Devnet, node: &NodeHandle, slots: Slots, output: Output) -> Result<Option<Gateway>, Failure> {
        if self.no_gateway {
            return Ok(None);
        }
        // A devnet that takes any port for its API takes any for names.
        let usual = if self.serving.port == 0 { 0 } else { GATEWAY_PORT };
        let address = SocketAddr::new(self.serving.host, self.gateway_port.unwrap_or(usual));
        let listener = match Listener::bind(address).await {
            Ok(listener) => listener,
            Err(error) if self.gateway_port.is_some() => return Err(node_failure(error)),
            Err(error) => {
                output.progress(format_args!("names are not served: {error} with --gateway-port"));
                return Ok(None);
            }
        };
        let registration = Registration {
            endpoint: "localhost".to_owned(),
            http_port: listener.address().port(),
            stake: Amount(devnet.genesis.chain.params.gateways.stake_min),
        };
        let backend = cowboy_gateway::Backend {
            node: node.clone(),
            upstream: Upstream::Own,
            key: Some(devnet.gateway.clone()),
            journal: None,
            registration: Some(registration),
            // A block only for a heartbeat would be a surprise on a chain that waits for work.
            keeps_up: false,
            source: cowboy_gateway::Source::default(),
            slots,
        };
        let config = cowboy_gateway::Config { listen: address, ..cowboy_gateway::Config::default() };
        listener.serve(config, backend).map(Some).map_err(node_failure)
    }

    /// What a new chain begins with.
    fn beginning(&self) -> Beginning {
        Beginning {
            chain_id: self.chain_id.unwrap_or(1337),
            timestamp_ms: clock::now_ms(),
            mnemonic: self.mnemonic.clone().unwrap_or_else(|| DEV_MNEMONIC.to_owned()),
            accounts: self.accounts.unwrap_or(DEV_ACCOUNTS),
            balance_cby: self.balance.unwrap_or(10_000),
            parameters: self.parameters(),
            runners: self.runners.count(),
            proxies: self.proxies(),
            relays: self.relays(),
        }
    }

    fn relay_plan(&self) -> RelayPlan {
        RelayPlan { refuse: self.relay_refuse, lose: self.relay_lose, seed: self.runners.seed() }
    }

    fn proxies(&self) -> u32 {
        self.proxies.unwrap_or(4)
    }

    fn relays(&self) -> u32 {
        self.relays.unwrap_or(3)
    }

    /// Fails where an option that was given asks for another chain than the one in the folder.
    fn check_options(&self, begun: &Beginning, folder: &Path) -> Result<(), Failure> {
        let numbers = [
            ("--accounts", self.accounts.map(u64::from), begun.accounts.into()),
            ("--balance", self.balance, begun.balance_cby),
            ("--chain-id", self.chain_id, begun.chain_id),
            ("--runners", self.runners.count.map(u64::from), begun.runners.into()),
            ("--proxies", self.proxies.map(u64::from), begun.proxies.into()),
            ("--relays", self.relays.map(u64::from), begun.relays.into()),
        ];
        let mut options: Vec<(&str, String, String)> = Vec::new();
        for (option, given, has) in numbers {
            options.extend(given.map(|given: u64| (option, given.to_string(), has.to_string())));
        }
        for (name, given) in &self.parameters {
            options.push(("--parameter", format!("{name}={given}"), format!("{name}={}", begun.parameter(name)?)));
        }
        let folder = folder.display();
        let what = match options.into_iter().find(|(_, given, has)| given != has) {
            Some((option, given, has)) => {
                format!("{option} {given} is for a new chain: the one in {folder} began with {option} {has}")
            }
            // Whoever has the words has the accounts: neither these nor the chain's are said.
            None if self.mnemonic.as_ref().is_some_and(|given| *given != begun.mnemonic) => {
                format!("--mnemonic is for a new chain: the one in {folder} began with other words")
            }
            None => return Ok(()),
        };
        Err(Failure::refused(what, "leave the option out to continue this chain, or start a new one with --reset or in another folder"))
    }

    /// Parameters that begin with another value: those of a devnet's services, and those that were given.
    fn parameters(&self) -> BTreeMap<String, u64> {
        let of_proxies = services::PROXIES.into_iter().filter(|_| self.proxies() > 0);
        let of_relays = services::RELAYS.into_iter().filter(|_| self.relays() > 0);
        let mut parameters: BTreeMap<String, u64> = of_proxies.chain(of_relays).map(|(name, value)| (name.to_owned(), value)).collect();
        if let (Some(BlockTime::Every(time)), Some(phase)) = (self.block_time, parameters.get_mut("secrets.phase")) {
            let blocks = services::PHASE.as_millis().div_ceil(time.as_millis().max(1));
            *phase = u64::try_from(blocks).unwrap_or(u64::MAX).clamp(*phase, 1_000);
        }
        parameters.extend(self.parameters.iter().cloned());
        parameters
    }

    async fn deploy_examples(&self, url: &str, devnet: &Devnet, node: &NodeHandle, output: Output) -> Result<(), Failure> {
        for name in &self.example {
            let address = deploy_example(name, url, devnet, node).await?;
            output.result(
                &serde_json::json!({ "example": name, "address": address.to_string() }),
                format_args!("example {name} is at {address}\nwatch it: {url}{}#/actor/{address}\n", cowboy_rpc::EXPLORER_PATH),
            );
        }
        Ok(())
    }
}

/// Waits until the devnet is told to stop. Fails if the node ends by itself, or its runners cannot work.
async fn stopped(signals: &mut StopSignals, node: &NodeHandle, working: &mut JoinHandle<Failure>) -> Result<(), Failure> {
    tokio::select! {
        told = signals.told(node) => told,
        failure = working => Err(failure.unwrap_or_else(node_failure)),
    }
}

/// Ends the runners, where they have not ended already.
async fn aborted(working: JoinHandle<Failure>) {
    working.abort();
    if !working.is_finished() {
        let _ = working.await;
    }
}

/// Deploys an example from the first account; one that is there already stays.
async fn deploy_example(name: &str, url: &str, devnet: &Devnet, node: &NodeHandle) -> Result<Address, Failure> {
    let key = devnet.accounts.first().ok_or_else(|| node_failure("a devnet has accounts"))?;
    let deployment = examples::deployment(name)?;
    let client = Client::new(url)?;
    // Before the first block there is nobody with any CBY.
    node.watch_head().wait_for(|head| head.number > 0).await.map_err(node_failure)?;
    match send::send(&client, key, deployment.instruction()?, &Terms { timeout: 60, yes: true, ..Terms::default() }).await {
        Ok(sent) => sent
            .receipt
            .and_then(|receipt| receipt.created)
            .map(|address| address.0)
            .ok_or_else(|| node_failure("the deployment has no address")),
        Err(Failure::Api(error)) if error.code == aborts::ADDRESS_TAKEN.code => {
            let source = cowboy_chain::canonical_source(deployment.code.as_bytes()).unwrap_or_default();
            Ok(Address::of_actor(&key.address(), &Hash::ZERO, &keccak256(&[source.as_bytes()])))
        }
        Err(failure) => Err(failure),
    }
}

async fn start(folder: &Folder, devnet: &Devnet, block_time: BlockTime) -> Result<NodeHandle, Failure> {
    let mut config = NodeConfig::alone(folder.path(), devnet.genesis.clone(), devnet.validator.clone());
    config.block_time = block_time;
    tokio::task::spawn_blocking(move || NodeHandle::start(config)).await.map_err(node_failure)?.map_err(not_running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use cowboy_params::Params;

    #[test]
    fn block_times_read() {
        let rows: &[(&str, Option<BlockTime>)] = &[
            ("1s", Some(BlockTime::Every(Duration::from_secs(1)))),
            ("200ms", Some(BlockTime::Every(Duration::from_millis(200)))),
            ("instant", Some(BlockTime::Instant)),
            ("0s", None),
            ("5ms", None),
            ("61s", None),
            ("1", None),
            ("fast", None),
            ("18446744073709551615s", None),
        ];
        for (text, expected) in rows {
            assert_eq!(block_time(text).ok(), *expected, "{text}");
        }
    }

    fn dev(options: &[&str]) -> Dev {
        let arguments = [&["cowboyd", "dev", "--state", "chain"], options].concat();
        match crate::daemon::Cli::try_parse_from(arguments).map(|cli| cli.command) {
            Ok(crate::daemon::Command::Dev(dev)) => *dev,
            other => panic!("{options:?}: {other:?}"),
        }
    }

    /// A chain in a folder keeps what it began with. An option that asks for something else is refused, by its name and with what the
    /// chain has; one that asks for the same, or none, is not.
    #[test]
    fn an_option_for_another_chain_is_refused() {
        let begun = dev(&["--chain-id", "5", "--parameter", "rent.rate=7"]).beginning();
        let said = |options: &[&str]| dev(options).check_options(&begun, Path::new("chain")).err().map(|failure| failure.to_string());
        let cycles = format!("lanes.user_cycles={}", Params::GENESIS.lanes.user_cycles);
        let same = ["--chain-id", "5", "--accounts", "10", "--parameter", "rent.rate=7", "--mnemonic", DEV_MNEMONIC];
        assert_eq!((said(&[]), said(&same), said(&["--parameter", &cycles])), (None, None, None));
        let rows = [
            ("--chain-id", "6", "5"),
            ("--chain-id", "1337", "5"),
            ("--balance", "1", "10000"),
            ("--accounts", "3", "10"),
            ("--runners", "0", "5"),
            ("--proxies", "0", "4"),
            ("--relays", "0", "3"),
            ("--parameter", "rent.rate=8", "rent.rate=7"),
        ];
        for (option, given, has) in rows {
            let refusal = said(&[option, given]).unwrap_or_default();
            assert!(refusal.contains(&format!("the one in chain began with {option} {has}\n")), "{option} {given}: {refusal:?}");
        }
        assert!(said(&["--parameter", "no.such=1"]).is_some_and(|refusal| refusal.contains("there is no parameter no.such")));
    }

    /// The refusal of other words has neither those that were given nor the chain's.
    #[test]
    fn a_refusal_has_no_words_of_a_mnemonic() {
        let begun = dev(&["--mnemonic", "alpha beta"]).beginning();
        let refused = dev(&["--mnemonic", "gamma delta"]).check_options(&begun, Path::new("chain")).expect_err("other words");
        let said = refused.to_string();
        assert!(said.starts_with("--mnemonic is for a new chain: the one in chain began with other words"), "{said}");
        assert!(["alpha", "beta", "gamma", "delta"].iter().all(|word| !said.contains(word)), "{said}");
    }
}
