//! Services beside the chain: what `cowboy-proxy` and `cowboy-relay` have in common, and their commands, which `cowboy-gateway` has too.

mod checks;
pub(crate) mod proxy;
pub(crate) mod relay;

pub(crate) use checks::Checks;

use crate::daemon::serving;
use crate::log::{self, LogFormat};
use clap::{Args, Subcommand};
use cowboy_api::{Client, HexBytes, HexHash, keystore};
use cowboy_console::{
    amount,
    failure::Failure,
    output::{self, Output},
};
use cowboy_serve::limits::{LimitError, Limits, MAX_CONNECTIONS};
use cowboy_service::Chain;
use cowboy_types::signing::PrivateKey;
use cowboy_types::{Address, Amount, Hash};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::fs::{File, TryLockError};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// What is logged where RUST_LOG says nothing.
const TALKATIVE: &str = "info";

/// How often the chain is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// What every command of a service takes.
#[derive(Args, Debug)]
pub(crate) struct Globals {
    /// The configuration; `example` prints one to start from [default: gateway.toml for cowboy-gateway, proxy.toml for cowboy-proxy, relay.toml
    /// for cowboy-relay]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The format of log lines on stderr; RUST_LOG selects them
    #[arg(long, global = true, value_enum, default_value_t)]
    log_format: LogFormat,
    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Command {
    /// Register and work until stopped; the default command
    Run,
    /// Check everything that the service needs, and print how to fix what is missing
    Doctor,
    /// Print the service's record on the chain, and what it owes
    Status,
    /// Print a configuration to start from
    Example,
}

/// What the configuration of every service has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Common {
    /// The node that is asked. What it says is believed with a proof only.
    node: String,
    /// The genesis hash of the chain.
    genesis: Option<HexHash>,
    /// The validators' group key.
    group_key: Option<HexBytes>,
    /// Whether the node's word is taken for both: on a chain for development.
    #[serde(default)]
    trust_node: bool,
    /// The file of the key of the service's account.
    key_file: PathBuf,
    /// The folder of what it keeps.
    state: PathBuf,
    /// Where it listens.
    listen: SocketAddr,
    /// The host name or IPv6 address at which others reach it.
    endpoint: String,
    /// The port there; that of `listen` where it is left out.
    #[serde(default)]
    port: u16,
    /// What it stakes.
    stake_cby: u64,
}

/// The settings that [`Common`] has.
const COMMON: [&str; 10] = ["node", "genesis", "group_key", "trust_node", "key_file", "state", "listen", "endpoint", "port", "stake_cby"];

/// A configuration: what every service has, and what one has beside it.
struct Settings<T> {
    common: Common,
    own: T,
}

/// A kind of service.
trait Kind {
    /// What its configuration has beside [`Common`].
    type Own: DeserializeOwned;
    /// What it is called.
    const NAME: &'static str;
    /// A configuration to start from.
    const EXAMPLE: &'static str;
    /// The system actor where it registers, and the view of its record.
    const RECORD: (u8, &'static str);

    /// Works until a signal comes.
    async fn work(settings: &Settings<Self::Own>, output: Output) -> Result<(), Failure>;

    /// Prints how it stands.
    async fn status(settings: &Settings<Self::Own>, output: Output) -> Result<(), Failure>;

    /// Fails where nothing can listen at an address.
    fn can_listen(address: SocketAddr) -> std::io::Result<()>;

    /// Fails where what the service keeps cannot be read with the account's key.
    fn is_readable(_: &Path, _: &PrivateKey) -> Result<(), String> {
        Ok(())
    }

    /// Whether the disk has room for what the service offers; nothing where it offers none.
    fn room(_: &Settings<Self::Own>) -> Option<Result<(), String>> {
        None
    }

    /// Fails where this process may open too few files. Raises the limit as far as it may.
    fn has_files() -> Result<(), LimitError> {
        Limits::raised().slots(MAX_CONNECTIONS).map(drop)
    }
}

/// A program that runs a service.
pub(crate) struct Program {
    /// What it is called after `cowboy-`.
    pub(crate) name: &'static str,
    /// A configuration to start from.
    pub(crate) example: &'static str,
    /// What is logged where RUST_LOG says nothing.
    pub(crate) logged: String,
}

impl Program {
    /// Runs a command and answers its exit code. All but `example` begin with the configuration in the file that `act` gets.
    pub(crate) fn run(
        self,
        globals: Globals,
        command: Option<Command>,
        act: impl FnOnce(&Path, Command, Output) -> Result<(), Failure>,
    ) -> ExitCode {
        log::begin(globals.log_format, &self.logged);
        let output = Output { json: globals.json };
        let path = globals.config.unwrap_or_else(|| PathBuf::from(format!("{}.toml", self.name)));
        let done = match command.unwrap_or(Command::Run) {
            Command::Example => {
                output::text(self.example);
                Ok(())
            }
            command => exists(&path, self.name).and_then(|()| act(&path, command, output)),
        };
        match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                output.failure(&failure);
                failure.exit_code()
            }
        }
    }
}

/// Fails where there is no configuration, with the command that prints one.
fn exists(path: &Path, name: &str) -> Result<(), Failure> {
    if path.try_exists().unwrap_or(true) {
        return Ok(());
    }
    let path = path.display();
    let fix = format!("write one with `cowboy-{name} example > {path}` and change it, or name yours with --config");
    Err(Failure::refused(format!("there is no configuration {path}"), fix))
}

/// Runs a command of a kind of service and answers its exit code.
fn run<K: Kind>(globals: Globals, command: Option<Command>) -> ExitCode {
    let program = Program { name: K::NAME, example: K::EXAMPLE, logged: TALKATIVE.to_owned() };
    program.run(globals, command, |path, command, output| {
        read::<K>(path).and_then(|settings| runtime()?.block_on(act::<K>(&settings, command, output)))
    })
}

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(service_failure)
}

/// Anything that keeps a service from running.
fn service_failure(error: impl std::fmt::Display) -> Failure {
    Failure::Node(error.to_string())
}

async fn act<K: Kind>(settings: &Settings<K::Own>, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Doctor => doctor::<K>(settings, output).await,
        Command::Status => K::status(settings, output).await,
        Command::Run | Command::Example => {
            // As a node does: what a service holds open is bounded by what it may open.
            serving::claim(MAX_CONNECTIONS)?;
            let _lock = lock(&settings.common.state)?;
            serving::warn_of_readers(&settings.common.key_file);
            K::work(settings, output).await
        }
    }
}

/// Locks a service's folder for as long as the file is open. Two programs in one would overwrite what the other keeps (decision 712).
fn lock(folder: &Path) -> Result<File, Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let path = folder.join("lock");
    // Who cannot open the file cannot lock it.
    let file = File::options().create(true).truncate(false).write(true).mode(0o600).open(&path).map_err(Failure::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let what = format!("{} is in use by another program", folder.display());
            Err(Failure::refused(what, "end that program, or name another folder in state"))
        }
        Err(TryLockError::Error(error)) => Err(Failure::file(path)(error)),
    }
}

/// Whether a service runs in this folder.
fn is_running(folder: &Path) -> bool {
    let file = File::options().write(true).open(folder.join("lock"));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

fn read<K: Kind>(path: &Path) -> Result<Settings<K::Own>, Failure> {
    let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
    parse::<K>(&text).map_err(|error| match error {
        Wrong::Toml(error) => Failure::argument(format!("{}: {error}", path.display()), format!("see docs, or cowboy-{} example", K::NAME)),
        Wrong::Failure(failure) => failure,
    })
}

/// Why a text is no configuration.
enum Wrong {
    Toml(toml::de::Error),
    Failure(Failure),
}

fn parse<K: Kind>(text: &str) -> Result<Settings<K::Own>, Wrong> {
    let whole: toml::Table = toml::from_str(text).map_err(Wrong::Toml)?;
    let (common, own): (toml::Table, toml::Table) = whole.into_iter().partition(|(name, _)| COMMON.contains(&name.as_str()));
    let common: Common = toml::Value::Table(common).try_into().map_err(Wrong::Toml)?;
    let own = toml::Value::Table(own).try_into().map_err(Wrong::Toml)?;
    if !common.trust_node && (common.genesis.is_none() || common.group_key.is_none()) {
        let fix = "give both, as the chain's founders publish them; trust_node = true is for chains for development";
        return Err(Wrong::Failure(Failure::argument("genesis and group_key are missing: the node could show another chain", fix)));
    }
    Ok(Settings { common, own })
}

impl Common {
    fn trusted(&self) -> Result<Option<(Hash, [u8; 96])>, Failure> {
        match (&self.genesis, &self.group_key) {
            (Some(genesis), Some(key)) => {
                let wrong = |_| Failure::argument("group_key does not have 96 bytes", "copy group_key of the chain's /genesis");
                Ok(Some((genesis.0, key.0[..].try_into().map_err(wrong)?)))
            }
            _ => Ok(None),
        }
    }

    fn key(&self) -> Result<PrivateKey, Failure> {
        Ok(keystore::read(&self.key_file)?)
    }

    fn stake(&self) -> Result<Amount, Failure> {
        Amount::from_cby(self.stake_cby).ok_or_else(|| Failure::argument("the stake is more than the total supply", "stake less"))
    }
}

async fn view(client: &Client, actor: u8, method: &str, argument: Value) -> Result<Value, Failure> {
    Ok(client.view(&Address::system(actor), method, &argument).await?.result)
}

async fn doctor<K: Kind>(whole: &Settings<K::Own>, output: Output) -> Result<(), Failure> {
    let settings = &whole.common;
    let mut checks = Checks::default();
    let mut check = |what, result: Result<(), String>, fix: &str| checks.add(what, result, fix);
    let text = |failure: Failure| failure.to_string();
    let key = settings.key();
    check("key", key.as_ref().map(drop).map_err(ToString::to_string), "cowboy wallet create, and name its file in key_file");
    let chain = match settings.trusted() {
        Ok(trusted) => Chain::connect(&settings.node, trusted).await.map_err(|error| error.to_string()),
        Err(failure) => Err(text(failure)),
    };
    check(
        "node and chain",
        chain.as_ref().map(drop).map_err(Clone::clone),
        "start the node, and compare genesis and group_key with its /genesis",
    );
    let folder = std::fs::create_dir_all(&settings.state).map_err(|error| error.to_string());
    check("folder", folder, "name a folder that this account may write in state");
    if let Ok(key) = &key {
        let fix = "check key_file and the disk; restore the files from a copy made in this epoch, or wait for the next dealing";
        check("state", K::is_readable(&settings.state, key), fix);
    }
    if let Some(room) = K::room(whole) {
        check("disk", room, "offer less, or name a folder of a larger disk in state");
    }
    let files = K::has_files().map_err(|error| error.to_string());
    check("files", files, "raise the limit of open files where the service is started, as the message says");
    // The service itself listens there while it runs.
    let port = if is_running(&settings.state) { Ok(()) } else { K::can_listen(settings.listen) };
    check("port", port.map_err(|error| error.to_string()), "end what listens there, or choose another listen");
    if let (Ok(key), Ok(chain)) = (&key, &chain) {
        let address = key.address();
        let (actor, method) = K::RECORD;
        let record = view(&chain.client, actor, method, json!({ "address": address.to_string() })).await?;
        let balance = chain.client.account_or_empty(&address).await?.balance;
        let is_funded = !record.is_null() || balance > settings.stake()?.0;
        let problem = if is_funded { Ok(()) } else { Err(format!("{address} has {}", amount::cby(balance))) };
        check("stake", problem, "send it the stake, and something for fees");
    }
    checks.print(output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_host::files;

    /// The examples are right, and a node's word alone is refused.
    fn read_strictly<K: Kind>(stake_cby: u64) {
        let example = parse::<K>(K::EXAMPLE).map_err(|_| "wrong").expect("the example is right").common;
        assert_eq!((example.stake_cby, example.trust_node, example.genesis.is_some()), (stake_cby, false, true));
        for wrong in ["".to_owned(), "node = 1".to_owned(), format!("{}\nmore = 1", K::EXAMPLE)] {
            assert!(parse::<K>(&wrong).is_err(), "{wrong}");
        }
        let bare: Vec<&str> = K::EXAMPLE.lines().filter(|line| !line.starts_with("genesis") && !line.starts_with("group_key")).collect();
        assert!(parse::<K>(&bare.join("\n")).is_err(), "nothing says which chain it is");
        assert!(parse::<K>(&format!("trust_node = true\n{}", bare.join("\n"))).is_ok());
    }

    /// The help names the file that each service reads where no other is named.
    #[test]
    fn the_help_names_each_default() {
        let of = |mut command: clap::Command| {
            let help = command.render_long_help().to_string();
            help.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let (proxy, relay) = (of(<proxy::Cli as clap::CommandFactory>::command()), of(<relay::Cli as clap::CommandFactory>::command()));
        for (name, help) in [(proxy::Proxy::NAME, proxy), (relay::Relay::NAME, relay)] {
            assert!(help.contains(&format!("{name}.toml for cowboy-{name}")), "{help}");
        }
    }

    /// Who starts a service in an empty folder reads how to get a configuration.
    #[test]
    fn what_has_no_configuration_says_how_to_get_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("relay.toml");
        let refusal = exists(&path, "relay").expect_err("it is not there").to_string();
        assert!(refusal.contains(&format!("`cowboy-relay example > {}`", path.display())), "{refusal}");
        std::fs::write(&path, "").expect("it can be written");
        assert!(exists(&path, "relay").is_ok());
    }

    #[test]
    fn settings_are_read_strictly() {
        read_strictly::<proxy::Proxy>(10_000);
        read_strictly::<relay::Relay>(5_000);
    }

    /// Decision 712: a second program leaves a folder alone, and the next one has it once the first has ended.
    #[test]
    fn one_program_has_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        assert!(!is_running(&state));
        let held = lock(&state).expect("nobody has it");
        assert!(is_running(&state), "its doctor does not take it for another program");
        let refusal = lock(&state).expect_err("it is in use").to_string();
        assert!(refusal.contains("is in use by another program") && refusal.contains("end that program"), "{refusal}");
        drop(held);
        assert!(!is_running(&state) && lock(&state).is_ok());
        assert_eq!(files::mode_for_others(&state.join("lock")), None, "others cannot lock it");
    }
}
