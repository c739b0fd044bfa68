//! `cowboyd testnet`: a network of real processes on this computer.

mod members;
mod process;
mod relay;

use super::{
    dev::parameter,
    network::{self, NewNetwork},
    node_failure,
    serving::{self, StopSignals},
    state::{DEV_ACCOUNTS, account_index},
};
use clap::Args;
use cowboy_api::{Client, keystore};
use cowboy_console::{
    failure::Failure,
    output::{self, Output},
    pairs,
};
use cowboy_rpc::ServeError;
use cowboy_types::{Hash, signing::PrivateKey};
use members::Ports;
use process::Process;
use relay::{Latency, Link, Loss, Relay};
use std::{
    fmt::Write as _,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    time::Duration,
};

/// How often the processes are looked after.
const LOOK: Duration = Duration::from_millis(200);

/// How long the first block may take to come.
const FIRST_BLOCK: Duration = Duration::from_secs(60);

/// Runs a network on this computer: every validator, full node, runner and gateway in a process of its own.
#[derive(Args, Debug)]
#[command(
    after_help = "The chain is not a dev chain: there is no faucet, and blocks come at fixed intervals. The accounts of the devnet's mnemonic,
the runners and the gateways begin with 1,000,000 CBY each. Ctrl-C ends all processes.

Example:
  cowboyd testnet --validators 7 --full-nodes 2 --runners 5 --gateways 1 --epoch 60
  cowboyd testnet --validators 7 --latency 80ms±20ms --loss 2%"
)]
pub(crate) struct Testnet {
    /// The number of validators
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=100))]
    validators: u32,
    /// The number of full nodes
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    full_nodes: u32,
    /// The number of runners
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=50))]
    runners: u32,
    /// The number of gateways
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=20))]
    gateways: u32,
    /// Blocks of an epoch [default: consensus.epoch, 3600]. Shares are dealt in its first half: where that takes less than a minute, newcomers can be too late
    #[arg(long, value_name = "BLOCKS")]
    epoch: Option<u64>,
    /// Milliseconds between blocks [default: consensus.block_time, 1000]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    block_time_ms: Option<u64>,
    /// Start with another value of a parameter, like consensus.newcomers=5000
    #[arg(long = "parameter", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u64)>,
    /// How long a datagram from a validator to another takes: 80ms, or 80ms±20ms
    #[arg(long, value_name = "TIME", default_value = "0ms")]
    latency: Latency,
    /// The share of datagrams between validators that are lost, as in 2%
    #[arg(long, value_name = "SHARE", default_value = "0%")]
    loss: Loss,
    /// Which datagrams are lost and delayed follows from this number
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The port of the first validator's API; every further process has the next two ports. 0 takes free ports
    #[arg(long, default_value_t = 4000)]
    port: u16,
    /// The first validator's port for other validators; the others use the following ports
    #[arg(long, default_value_t = 3000)]
    p2p_port: u16,
    /// Keep everything in this folder, which must be new [default: a temporary folder, deleted at the end]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl Testnet {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        self.check_parameters()?;
        self.check_ports()?;
        let folder = Folder::new(self.state.as_deref())?;
        serving::runtime()?.block_on(self.serve(&folder, output))
    }

    /// Fails where a parameter is given twice, also where an option of its own is one of them.
    fn check_parameters(&self) -> Result<(), Failure> {
        let names = || self.parameters.iter().map(|(name, _)| name.as_str());
        pairs::once("--parameter", names())?;
        let own = [
            ("--epoch", "consensus.epoch", self.epoch.is_some()),
            ("--block-time-ms", "consensus.block_time", self.block_time_ms.is_some()),
        ];
        match own.into_iter().find(|(_, row, is_given)| *is_given && names().any(|name| name == *row)) {
            None => Ok(()),
            Some((option, row, _)) => {
                Err(Failure::argument(format!("{option} and --parameter {row} are the same"), "leave one of them out"))
            }
        }
    }

    /// Fails, by the option's name, where a member could not listen, before anything is written.
    fn check_ports(&self) -> Result<(), Failure> {
        let mut ports = Ports::new(self.port);
        for _ in 0..self.validators + self.full_nodes + self.gateways {
            let first = ports.take()?;
            if first == 0 {
                break;
            }
            for port in [first, first + 1] {
                serving::check_free("--port", SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
            }
        }
        for index in 0..self.validators {
            let address = network::p2p_address(self.p2p_port, index)?;
            let taken = |source| node_failure(ServeError::Listen { option: "--p2p-port", address, source });
            UdpSocket::bind(address).map_err(taken)?;
        }
        Ok(())
    }

    async fn serve(self, folder: &Folder, output: Output) -> Result<(), Failure> {
        let mut signals = StopSignals::listen()?;
        let keys = Keys::new(self.runners, self.gateways)?;
        let genesis = self.create(folder.path(), &keys, output).await.inspect_err(|_| folder.take_back())?;
        let folder = folder.path();
        output.result(
            &serde_json::json!({ "folder": folder, "genesis": genesis.to_string() }),
            format_args!("data and logs: {}\ngenesis {genesis}", folder.display()),
        );
        let mut network = Network { output, processes: Vec::new() };
        let done = tokio::select! {
            done = self.start(&mut network, folder, genesis, &keys) => done,
            told = signals.signalled() => return told.and(network.stop()),
        };
        let done = match done {
            Ok(url) => {
                output::line(format_args!("ready: {url}"));
                tokio::select! {
                    told = signals.signalled() => told,
                    ended = network.watch() => ended,
                }
            }
            Err(failure) => Err(failure),
        };
        output.progress("stopping all processes");
        let stopped = network.stop();
        done.and(stopped)
    }

    /// Makes the genesis and the validators' files. Answers the genesis hash.
    async fn create(&self, folder: &Path, keys: &Keys, output: Output) -> Result<Hash, Failure> {
        let epoch = self.epoch.map(|blocks| ("consensus.epoch", blocks));
        let mut settings = "[parameters]\n".to_owned();
        for (name, value) in epoch.into_iter().chain(self.parameters.iter().map(|(name, value)| (name.as_str(), *value))) {
            // Writing to a string does not fail.
            let _ = writeln!(settings, "{name:?} = {value}");
        }
        let config = folder.join("genesis.toml");
        std::fs::write(&config, settings).map_err(Failure::file(&config))?;
        let network = NewNetwork {
            config: Some(config),
            show: None,
            out: folder.to_owned(),
            validators: Some(self.validators),
            chain_id: None,
            fund: keys.all().map(PrivateKey::address).collect(),
            p2p_port: self.p2p_port,
            block_time_ms: self.block_time_ms,
            reached_at: self.relays().await?,
        };
        let genesis = network.create()?;
        if let Some(warning) = network::short_epoch(&genesis) {
            output.progress(warning);
        }
        Ok(genesis.hash())
    }

    /// Starts a relay in front of each validator where the links are not perfect. Answers where validators reach each other then.
    async fn relays(&self) -> Result<Vec<SocketAddr>, Failure> {
        let link = Link { latency: self.latency, loss: self.loss };
        let mut addresses = Vec::new();
        if link.is_perfect() {
            return Ok(addresses);
        }
        for index in 0..self.validators {
            let relay = Relay::bind().await?;
            addresses.push(relay.address());
            relay.start(network::p2p_address(self.p2p_port, index)?, link, self.seed.wrapping_add(index.into()));
        }
        Ok(addresses)
    }

    /// Starts the processes, each kind when those that it needs are ready. Answers the API of the first validator.
    async fn start(&self, network: &mut Network, folder: &Path, genesis: Hash, keys: &Keys) -> Result<String, Failure> {
        let mut ports = Ports::new(self.port);
        for index in 0..self.validators {
            network.add(members::validator(folder, index, ports.take()?)?);
        }
        let urls = network.all_ready().await?;
        let url = urls.first().cloned().ok_or_else(|| node_failure("a network has a validator"))?;
        first_block(&url).await?;
        for index in 0..self.full_nodes {
            network.add(members::full_node(folder, index, ports.take()?, self.validators)?);
        }
        for (index, key) in keys.runners.iter().enumerate() {
            network.add(members::runner(folder, index, key, &url)?);
        }
        for (index, key) in keys.gateways.iter().enumerate() {
            network.add(members::gateway(folder, index, key, ports.take_fixed()?, &url, genesis)?);
        }
        network.all_ready().await?;
        let record = members::record(folder, 0)?;
        network.output.result(
            &serde_json::json!({ "record": record }),
            format_args!("to join: cowboyd join --bootstrap {record} --dir node --listen 127.0.0.1:0 --port 0"),
        );
        Ok(url)
    }
}

/// The keys of the accounts that begin with CBY.
struct Keys {
    accounts: Vec<PrivateKey>,
    runners: Vec<PrivateKey>,
    gateways: Vec<PrivateKey>,
}

impl Keys {
    fn new(runners: u32, gateways: u32) -> Result<Self, Failure> {
        let mnemonic = keystore::Mnemonic::parse(keystore::DEV_MNEMONIC, "")?;
        let keys = |first: u32, count: u32| (first..first + count).map(|index| mnemonic.key(index)).collect::<Result<_, _>>();
        Ok(Self {
            accounts: keys(0, DEV_ACCOUNTS)?,
            runners: keys(account_index::RUNNER, runners)?,
            gateways: keys(account_index::GATEWAY, gateways)?,
        })
    }

    fn all(&self) -> impl Iterator<Item = &PrivateKey> {
        self.accounts.iter().chain(&self.runners).chain(&self.gateways)
    }
}

/// Where everything is kept.
enum Folder {
    Kept {
        path: PathBuf,
        /// Whether it was not there.
        is_made: bool,
    },
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn new(named: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = named else {
            let made = tempfile::Builder::new().prefix("cowboy-testnet-").tempdir();
            return Ok(Self::Temporary(made.map_err(Failure::file(std::env::temp_dir()))?));
        };
        if std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::refused(format!("{} is not empty", path.display()), "name a new folder with --state, or delete this one"));
        }
        let is_made = !path.exists();
        std::fs::create_dir_all(path).map_err(Failure::file(path))?;
        Ok(Self::Kept { path: path.canonicalize().map_err(Failure::file(path))?, is_made })
    }

    /// Removes what was written for a network that cannot be: the folder itself where it was not there, else what is in it, as it was empty.
    fn take_back(&self) {
        let Self::Kept { path, is_made } = self else { return };
        // What stays is in the way of the next start only.
        if *is_made {
            let _ = std::fs::remove_dir_all(path);
            return;
        }
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            let place = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let _ = if is_folder { std::fs::remove_dir_all(place) } else { std::fs::remove_file(place) };
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Kept { path, .. } => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

/// Waits until the chain has a block.
async fn first_block(url: &str) -> Result<(), Failure> {
    let client = Client::new(url)?;
    let come = async {
        while client.height().await.unwrap_or(0) == 0 {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(FIRST_BLOCK, come)
        .await
        .map_err(|_| node_failure(format_args!("no block came within {} s: see the logs of the validators", FIRST_BLOCK.as_secs())))
}

/// The processes that run.
struct Network {
    output: Output,
    processes: Vec<Process>,
}

impl Network {
    fn add(&mut self, process: Process) {
        self.processes.push(process);
    }

    /// Waits until every process is ready, and prints a line for each that is new. Answers what they serve, in their order.
    async fn all_ready(&mut self) -> Result<Vec<String>, Failure> {
        let mut urls = Vec::with_capacity(self.processes.len());
        for process in &mut self.processes {
            let url = loop {
                if let Some(url) = process.ready() {
                    break url;
                }
                if let Some(ended) = process.ended() {
                    return Err(node_failure(ended));
                }
                tokio::time::sleep(LOOK).await;
            };
            if process.is_new() {
                let json = serde_json::json!({ "name": process.name(), "serves": url, "pid": process.id() });
                self.output.result(&json, format_args!("{:<12} {url}  pid {}", process.name(), process.id()));
            }
            urls.push(url);
        }
        Ok(urls)
    }

    /// Reports processes that end, until none is left.
    async fn watch(&mut self) -> Result<(), Failure> {
        let mut left = self.processes.len();
        while left > 0 {
            for process in &mut self.processes {
                if let Some(ended) = process.ended() {
                    left -= 1;
                    self.output.progress(ended);
                }
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(node_failure("all processes have ended: see their logs"))
    }

    /// Ends all processes, those that use others first.
    fn stop(&mut self) -> Result<(), Failure> {
        let left: Vec<String> = self.processes.drain(..).rev().filter_map(|process| process.stop().err()).collect();
        if left.is_empty() { Ok(()) } else { Err(node_failure(left.join("; "))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that cannot be leaves things as they were: a folder that was not there goes, and one that was there stays, empty.
    #[test]
    fn only_what_was_made_is_taken_back() {
        let parent = tempfile::tempdir().expect("a directory for the test");
        let (own, new) = (parent.path().join("own"), parent.path().join("new"));
        std::fs::create_dir(&own).expect("it is made");
        for (path, stays) in [(&own, true), (&new, false)] {
            let folder = Folder::new(Some(path)).expect("it is empty, or not there");
            std::fs::create_dir(folder.path().join("state-0")).expect("it is made");
            std::fs::write(folder.path().join("state-0/votes"), "").expect("it is written");
            std::fs::write(folder.path().join("genesis.toml"), "").expect("it is written");
            folder.take_back();
            assert_eq!(path.exists(), stays, "{}", path.display());
        }
        assert_eq!(std::fs::read_dir(&own).expect("it is there").count(), 0);
    }
}
