//! The members of the network: their files and how each is started.

use super::{super::overlay::record_file, process::Process};
use cowboy_api::keystore;
use cowboy_console::failure::Failure;
use cowboy_types::{Hash, signing::PrivateKey};
use std::{
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::Command,
};

/// Takes part in the network of full nodes, at any port.
const PEERS: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// Validators by whose records a full node joins. It finds the others.
const BOOTSTRAP: u32 = 4;

/// CBY that a gateway stakes.
const GATEWAY_STAKE_CBY: u64 = 50_000;

/// The ports of the members.
pub(super) struct Ports(Option<u16>);

impl Ports {
    /// Ports from the first on; free ones for 0.
    pub(super) fn new(first: u16) -> Self {
        Self((first != 0).then_some(first))
    }

    /// The next port, whose successor is free too; 0 where the process takes any.
    pub(super) fn take(&mut self) -> Result<u16, Failure> {
        let Some(port) = self.0 else { return Ok(0) };
        let beyond = || Failure::argument("the ports go beyond 65535", "choose a smaller --port");
        self.0 = Some(port.checked_add(2).ok_or_else(beyond)?);
        Ok(port)
    }

    /// The next port, as a number that others can be told before the process runs.
    pub(super) fn take_fixed(&mut self) -> Result<u16, Failure> {
        match self.take()? {
            0 => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| Ok(free.local_addr()?.port())).map_err(super::node_failure),
            port => Ok(port),
        }
    }
}

/// A program of this file, by one of its names.
fn program(name: &str) -> Result<Command, Failure> {
    let own = std::env::current_exe().map_err(super::node_failure)?;
    let mut command = Command::new(own);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    #[cfg(not(unix))]
    let _ = name;
    Ok(command)
}

/// A process of this name, with its log in the folder.
fn start(folder: &Path, name: String, command: &mut Command) -> Result<Process, Failure> {
    let log = folder.join(format!("{}.log", name.replace(' ', "-")));
    Process::start(name, log, command.current_dir(folder))
}

/// A validator of the genesis in the folder.
pub(super) fn validator(folder: &Path, index: u32, port: u16) -> Result<Process, Failure> {
    let mut command = program("cowboyd")?;
    command.args(["start", "--quiet", "--config", &format!("validator-{index}.json"), "--port", &port.to_string()]).args(PEERS);
    start(folder, format!("validator {index}"), &mut command)
}

/// The record of a validator that is ready.
pub(super) fn record(folder: &Path, validator: u32) -> Result<String, Failure> {
    let path = record_file(&folder.join(format!("state-{validator}")));
    std::fs::read_to_string(&path).map(|text| text.trim().to_owned()).map_err(Failure::file(&path))
}

/// A full node that joins by the records of the first validators, and has every block.
pub(super) fn full_node(folder: &Path, index: u32, port: u16, validators: u32) -> Result<Process, Failure> {
    let records = (0..validators.min(BOOTSTRAP)).map(|validator| record(folder, validator)).collect::<Result<Vec<_>, _>>()?;
    let (dir, records) = (format!("full-node-{index}"), records.join(","));
    let mut command = program("cowboyd")?;
    command.args(["join", "--quiet", "--archive", "--dir", &dir, "--genesis", "genesis.json", "--bootstrap", &records]);
    command.args(["--port", &port.to_string()]).args(PEERS);
    start(folder, format!("full node {index}"), &mut command)
}

/// A runner for the chain of the node at this URL. It fetches pages; it has no model and no tools.
pub(super) fn runner(folder: &Path, index: usize, key: &PrivateKey, url: &str) -> Result<Process, Failure> {
    let key_file = key_file(folder, &format!("runner-{index}"), key)?;
    let settings = format!(
        "[node]\nurl = {url:?}\n\n[runner]\nkey = {key_file:?}\nstate = \"runner-{index}\"\nlisten = \"127.0.0.1:0\"\nprivate_peers = true\n\n[http]\n"
    );
    let config = format!("runner-{index}.toml");
    write(&folder.join(&config), &settings)?;
    let mut command = program("cowboy-runner")?;
    command.args(["--config", &config]).env_remove(keystore::ENV_KEY).env_remove(keystore::ENV_RPC_URL);
    start(folder, format!("runner {index}"), &mut command)
}

/// A gateway for the chain of the node at this URL, which serves names below `localhost`.
pub(super) fn gateway(folder: &Path, index: usize, key: &PrivateKey, port: u16, url: &str, genesis: Hash) -> Result<Process, Failure> {
    let key_file = key_file(folder, &format!("gateway-{index}"), key)?;
    let settings = format!(
        "node = {url:?}\ngenesis = \"{genesis}\"\nstate = \"gateway-{index}\"\nkey_file = {key_file:?}\n\n[register]\nendpoint = \"localhost\"\nhttp_port = {port}\nstake_cby = {GATEWAY_STAKE_CBY}\n\n[http]\nlisten = \"127.0.0.1:{port}\"\n"
    );
    let config = format!("gateway-{index}.toml");
    write(&folder.join(&config), &settings)?;
    let mut command = program("cowboy-gateway")?;
    command.args(["--config", &config]);
    start(folder, format!("gateway {index}"), &mut command)
}

/// Writes a key for its owner only. Answers the file's name.
fn key_file(folder: &Path, name: &str, key: &PrivateKey) -> Result<PathBuf, Failure> {
    let file = PathBuf::from(format!("{name}.key"));
    write(&folder.join(&file), &format!("{}\n", keystore::encode_hex(key)))?;
    Ok(file)
}

/// Writes a new file for its owner only.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    cowboy_host::files::create(path, text.as_bytes()).map_err(Failure::file(path))
}
