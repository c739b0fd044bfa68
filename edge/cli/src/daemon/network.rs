//! `cowboyd genesis`, `init` and `start`: a network of validators that one party sets up, and followers of it.
//!
//! `genesis` deals the group key itself, so whoever runs it could keep every secret: for networks whose validators trust that party.

use super::{
    follow, forget,
    genesis_file::{self, GenesisSettings},
    node_failure,
    node_files::{FollowerFile, GenesisFile, NodeFile, Peer, Secrets, ValidatorFile, default_listening_ms, read, read_genesis, write_new},
    not_running,
    overlay::OverlayArgs,
    serving::{self, Serving, StopSignals},
    sync,
};
use crate::address;
use clap::Args;
use commonware_cryptography::Signer as _;
use cowboy_api::Hex;
use cowboy_chain::genesis::Funded;
use cowboy_console::{
    amount,
    failure::Failure,
    output::{self, Output},
};
use cowboy_host::clock;
use cowboy_node::{
    BlockTime, Genesis, NodeConfig, NodeHandle,
    committee::{Committee, ValidatorKeys},
    epoch,
    reshare::secrets,
};
use cowboy_overlay::HttpSource;
use cowboy_rpc::{Backend, Listeners};
use cowboy_serve::limits::MAX_CONNECTIONS;
use cowboy_state::records::ParameterChange;
use cowboy_types::{Address, Amount, ChainId, Hash, TimestampMs};
use serde_json::json;
use std::{
    net::{SocketAddr, UdpSocket},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// What a validator stakes.
pub(super) const STAKE_CBY: u64 = 100_000;

/// Makes a network: a genesis, and a file for each validator.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboyd genesis --validators 4 --fund 0x7099… --out network
  cowboyd genesis --config genesis.toml --out network
  cowboyd genesis --show network/genesis.json > genesis.toml")]
pub(crate) struct NewNetwork {
    /// What the chain begins with: parameters, council, beneficiaries, models, images and more, as docs/nodes.md says. The options
    /// below add accounts, and replace single values
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print the genesis file of a genesis.json, and create nothing
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "out", "validators", "chain_id", "fund", "p2p_port", "block_time_ms"])]
    pub(super) show: Option<PathBuf>,
    /// The folder for the files
    #[arg(long, value_name = "DIR", default_value = "network")]
    pub(super) out: PathBuf,
    /// The number of validators; 4 if neither this nor the file gives it
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) validators: Option<u32>,
    /// The chain id in every signature; 1 if neither this nor the file gives it
    #[arg(long)]
    pub(super) chain_id: Option<u64>,
    /// Accounts that start with 1,000,000 CBY
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    pub(super) fund: Vec<Address>,
    /// The first validator's port for other validators; the others use the following ports
    #[arg(long, default_value_t = 3000)]
    pub(super) p2p_port: u16,
    /// Milliseconds between blocks: the chain's consensus.block_time at genesis
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(super) block_time_ms: Option<u64>,
    /// Where the validators reach each other, where that is not where they listen.
    #[arg(skip)]
    pub(super) reached_at: Vec<SocketAddr>,
}

impl NewNetwork {
    /// What the file and the options say together.
    fn settings(&self) -> Result<GenesisSettings, Failure> {
        let mut settings = self.config.as_deref().map_or_else(|| Ok(GenesisSettings::default()), GenesisSettings::of_file)?;
        let amount = Amount::from_cby(1_000_000).expect("a million fits");
        settings.accounts.extend(self.fund.iter().map(|address| Funded { address: *address, amount }));
        settings.chain_id = self.chain_id.map(ChainId).or(settings.chain_id);
        settings.validators = self.validators.or(settings.validators);
        if let Some(milliseconds) = self.block_time_ms {
            let row = cowboy_params::Params::row("consensus.block_time").expect("a row of the table").id;
            settings.parameters.retain(|change| change.row != row);
            settings.parameters.push(ParameterChange { row, value: milliseconds });
            settings.parameters.sort_by_key(|change| change.row);
        }
        Ok(settings)
    }

    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        if let Some(path) = &self.show {
            let genesis = read_genesis(path)?;
            let file = genesis_file::print(&genesis.config);
            let file = file.trim_end();
            output.result(&json!({ "genesis": genesis.hash().to_string(), "file": file }), file);
            return Ok(());
        }
        let genesis = self.create()?;
        let count = genesis.config.validators.len();
        // On one machine each needs a port of its own.
        let starts: Vec<String> = (0..count)
            .map(|index| format!("cowboyd start --config {}/validator-{index}.json --port {}", self.out.display(), 4000 + index))
            .collect();
        let warning = short_epoch(&genesis);
        if let Some(warning) = &warning {
            output.progress(warning);
        }
        output.result(
            &json!({ "genesis": genesis.hash().to_string(), "folder": self.out, "validators": count, "warning": warning }),
            format_args!("genesis {}\nStart each validator:\n  {}", genesis.hash(), starts.join("\n  ")),
        );
        Ok(())
    }

    /// Writes the genesis and the validators' files into the folder.
    pub(super) fn create(&self) -> Result<Genesis, Failure> {
        let settings = self.settings()?;
        let count = settings.validators.unwrap_or(4);
        if !(1..=100).contains(&count) {
            return Err(Failure::argument(format!("a key cannot be shared among {count} validators"), "name 1 to 100"));
        }
        let seed = cowboy_api::keystore::random_key()?.to_bytes();
        let stake = Amount::from_cby(STAKE_CBY).expect("the stake fits");
        let (validators, sharing, keys) = Committee::derive(&seed, count, stake);
        let config = settings.config(validators, TimestampMs(clock::now_ms()))?;
        let genesis = Genesis::new(config, sharing).map_err(node_failure)?;
        std::fs::create_dir_all(&self.out).map_err(Failure::file(&self.out))?;
        write_new(&self.out.join("genesis.json"), &GenesisFile::of(&genesis))?;
        let listen = (0..count).map(|index| p2p_address(self.p2p_port, index)).collect::<Result<Vec<_>, _>>()?;
        let reached_at = if self.reached_at.is_empty() { &listen } else { &self.reached_at };
        for (index, (own, listen)) in keys.iter().zip(&listen).enumerate() {
            let peers = keys.iter().zip(reached_at).enumerate().filter(|(other, _)| *other != index);
            let peer = |(_, (keys, address)): (_, (&ValidatorKeys, &SocketAddr))| Peer {
                key: Hex(keys.network.public_key().as_ref().to_vec()),
                address: (*address).into(),
            };
            let file = ValidatorFile {
                genesis: "genesis.json".into(),
                state: format!("state-{index}").into(),
                listen: *listen,
                block_time_ms: None,
                listen_before_voting_ms: default_listening_ms(),
                peers: peers.map(peer).collect(),
                secrets: Secrets::of(own),
            };
            write_new(&self.out.join(format!("validator-{index}.json")), &file)?;
        }
        Ok(genesis)
    }
}

/// What is wrong with the epochs of a chain, if they are too short for its validators.
pub(super) fn short_epoch(genesis: &Genesis) -> Option<String> {
    let (length, count) = (epoch::length(&genesis.chain).get(), genesis.config.validators.len());
    let shortest = epoch::shortest(u32::try_from(count).unwrap_or(u32::MAX));
    let need = if count == 1 { "needs" } else { "need" };
    (length < shortest).then(|| {
        format!(
            "Warning: consensus.epoch is {length}, and {} {need} {shortest} blocks or more to deal shares: every dealing would fail, and no \
             validator could join or leave. It cannot change later: make another genesis with a larger one, better of two minutes",
            amount::counted(count, "validator")
        )
    })
}

/// Where the validator with this number listens for others, when the first one has this port.
pub(super) fn p2p_address(first_port: u16, index: u32) -> Result<SocketAddr, Failure> {
    let port = u16::try_from(index).ok().and_then(|index| first_port.checked_add(index));
    let port = port.ok_or_else(|| Failure::argument("the ports go beyond 65535", "choose a smaller --p2p-port"))?;
    Ok(SocketAddr::from(([127, 0, 0, 1], port)))
}

/// Sets up a folder for a node that follows a chain: its genesis, and the settings that `cowboyd start` takes.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  cowboyd init http://localhost:4000 --out node
  cowboyd start --config node/node.json --port 4100")]
pub(crate) struct Init {
    /// A node of the chain, which is followed
    #[arg(default_value = cowboy_api::keystore::DEFAULT_RPC_URL)]
    url: String,
    /// The genesis hash that the chain must have [default: trust the node's, and print it]
    #[arg(long, value_name = "HASH")]
    genesis: Option<Hash>,
    /// The folder for the files
    #[arg(long, value_name = "DIR", default_value = "node")]
    out: PathBuf,
}

impl Init {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let fetched = serving::runtime()?.block_on(async { sync::fetch_genesis(&HttpSource::new(&self.url)?, self.genesis).await })?;
        std::fs::create_dir_all(&self.out).map_err(Failure::file(&self.out))?;
        write_new(&self.out.join("genesis.json"), &GenesisFile::of(&fetched))?;
        let path = self.out.join("node.json");
        write_new(&path, &FollowerFile { genesis: "genesis.json".into(), state: "state".into(), follow: self.url.clone() })?;
        output.result(
            &json!({ "genesis": fetched.hash().to_string(), "config": path }),
            format_args!("genesis {}\nStart it: cowboyd start --config {}", fetched.hash(), path.display()),
        );
        Ok(())
    }
}

/// Runs a validator or a follower.
#[derive(Args, Debug)]
pub(crate) struct Start {
    /// The configuration of a validator (from `cowboyd genesis`) or of a follower (from `cowboyd init`)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    #[command(flatten)]
    serving: Serving,
    #[command(flatten)]
    overlay: OverlayArgs,
    /// Do not print a line for each block
    #[arg(long, short)]
    quiet: bool,
}

impl Start {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let folder = self.config.parent().unwrap_or(Path::new(".")).to_owned();
        serving::runtime()?.block_on(async {
            match read(&self.config)? {
                NodeFile::Validator(file) => self.validate(&folder, file).await,
                NodeFile::Follower(file) => {
                    let genesis = read_genesis(&folder.join(&file.genesis))?;
                    follow::follow(genesis, &file.follow, folder.join(&file.state), (&self.serving, &self.overlay), self.quiet, output)
                        .await
                }
            }
        })
    }

    async fn validate(&self, folder: &Path, file: ValidatorFile) -> Result<(), Failure> {
        let mut signals = StopSignals::listen()?;
        let genesis = read_genesis(&folder.join(&file.genesis))?;
        let slots = serving::claim(MAX_CONNECTIONS)?;
        let listeners = Listeners::bind(&self.serving.config(&slots)).await.map_err(node_failure)?;
        let url = format!("http://{}", listeners.address());
        let peers = file.peers()?;
        check_listen(file.listen)?;
        check_shares(&folder.join(&file.state))?;
        let mut config = NodeConfig::alone(folder.join(&file.state), genesis, file.secrets.keys()?);
        config.listen = file.listen;
        config.peers = peers;
        config.block_time =
            file.block_time_ms.map_or(BlockTime::Governed, |milliseconds| BlockTime::Every(Duration::from_millis(milliseconds)));
        config.listening = Duration::from_millis(file.listen_before_voting_ms);
        let chain = config.genesis.chain.clone();
        let overlay = self.overlay.start(&config.directory, config.genesis.block.hash()).await?;
        let node = tokio::task::spawn_blocking(move || NodeHandle::start(config)).await.map_err(node_failure)?.map_err(not_running)?;
        let admin = serving::admin(overlay.iter().map(|overlay| overlay.pool().clone()));
        let backend = Backend { node: node.clone(), chain, faucet: None, upstream: None, is_source_away: Arc::default(), admin };
        let server = listeners.serve(backend);
        if let Some(overlay) = &overlay {
            overlay.provide(server.provider());
        }
        output::line(format_args!("genesis {}\nready: {url}", node.config().genesis.hash()));
        let forgetter = tokio::spawn(forget::forget_genesis_share(node.clone(), self.config.clone(), file));
        let printer = (!self.quiet).then(|| tokio::spawn(serving::print_blocks(node.clone(), None)));
        let told = signals.told(&node).await;
        forgetter.abort();
        if let Some(printer) = printer {
            printer.abort();
        }
        if let Some(overlay) = overlay {
            overlay.stop().await;
        }
        serving::stop(server, node).await?;
        told
    }
}

/// Fails where the node could not listen for other validators. The engine, which binds the port later, would end with a backtrace.
fn check_listen(listen: SocketAddr) -> Result<(), Failure> {
    UdpSocket::bind(listen).map(drop).map_err(|error| {
        let (what, fix) = match error.kind() {
            std::io::ErrorKind::AddrNotAvailable => ("not an address of this computer", "set `listen` in the configuration to one that is"),
            _ => (
                "not free for validators",
                "end the program that uses the port, or choose another address as `listen` in the configuration",
            ),
        };
        node_failure(format_args!("{listen} is {what}: {error}; {fix}"))
    })
}

/// Fails where a file of shares is damaged: the engine would end when it reads the file.
fn check_shares(state: &Path) -> Result<(), Failure> {
    let files = secrets::files(state).map_err(Failure::file(state))?;
    match files.iter().find(|(name, bytes)| !secrets::is_whole(name, bytes)) {
        Some((name, _)) => Err(node_failure(format_args!(
            "{} is damaged: restore it with `cowboyd keys restore`, or remove it to receive a new share",
            state.join(secrets::FOLDER).join(name).display()
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::Cli;
    use clap::Parser as _;

    /// A genesis is shown as JSON too, and what makes another one is refused beside it.
    #[test]
    fn a_genesis_is_shown_alone() {
        let parsed = |more: &[&str]| Cli::try_parse_from([&["cowboyd", "genesis", "--show", "genesis.json"], more].concat());
        assert!(parsed(&["--json"]).is_ok(), "{:?}", parsed(&["--json"]).err());
        for more in [["--out", "network"], ["--validators", "4"], ["--fund", "0x0101010101010101010101010101010101010101"]] {
            assert!(parsed(&more).is_err(), "{more:?}");
        }
    }

    /// An address of another computer is no port that a program uses.
    #[test]
    fn an_address_of_another_computer_is_named() {
        let held = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
        let taken = held.local_addr().expect("it has an address");
        for (listen, words) in [
            (taken, ["is not free", "end the program"]),
            ("192.0.2.1:3000".parse().expect("an address"), ["of this computer", "set `listen`"]),
        ] {
            let failure = check_listen(listen).expect_err("it cannot listen there").to_string();
            assert!(words.iter().all(|word| failure.contains(word)), "{failure}");
        }
    }
}
