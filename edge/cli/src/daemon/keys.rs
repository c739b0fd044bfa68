//! `cowboyd keys`: a validator's keys, and what registers them.

use super::backup;
use super::node_files::{Peer, Secrets, ValidatorFile, default_listening_ms, read, read_genesis, write_new};
use crate::address::{self, HostPort};
use clap::Subcommand;
use commonware_cryptography::Signer as _;
use cowboy_api::{Hex, HexAddress};
use cowboy_console::{
    failure::Failure,
    output::{Output, table},
};
use cowboy_node::{committee::ValidatorKeys, reshare::secrets};
use cowboy_types::Address;
use serde_json::json;
use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

/// Makes and shows a validator's keys.
#[derive(Debug, Subcommand)]
pub(crate) enum Keys {
    /// Create the file of a validator that will join a chain later, with new keys and no share
    #[command(after_help = "Example:
  cowboyd keys new --genesis network/genesis.json --out network/newcomer.json")]
    New {
        /// The chain's genesis file
        #[arg(long, value_name = "FILE")]
        genesis: PathBuf,
        /// The file to create
        #[arg(long, value_name = "FILE", default_value = "validator.json")]
        out: PathBuf,
        /// The address at which it will listen for other validators
        #[arg(long, default_value = "127.0.0.1:3000")]
        listen: SocketAddr,
        /// Another validator of the chain, through which this one finds the network; may be repeated
        #[arg(long, value_name = "KEY@HOST:PORT")]
        peer: Vec<Peer>,
    },
    /// Print the public keys of a validator's file
    Show {
        /// The validator's file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Write a validator's keys and its shares of the group key into one file, for its owner only
    Backup {
        /// The validator's file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// The file to create
        #[arg(long, value_name = "FILE", default_value = "validator.backup")]
        out: PathBuf,
    },
    /// Put the shares of a backup into the folder of the stopped validator; write its file and the genesis if they are missing
    Restore {
        /// The backup
        backup: PathBuf,
        /// The validator's file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Print what `cowboy validator register` takes: the public keys, and proofs that this account registers them
    #[command(after_help = "Example:
  cowboyd --json keys registration --config validator.json --account 0x7099… > registration.json
  cowboy validator register @registration.json --stake 100000cby")]
    Registration {
        /// The validator's file
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// The account that registers and stakes
        #[arg(long, value_name = "ACCOUNT", value_parser = address::parse)]
        account: Address,
        /// Where other validators reach this one: address or host's name, and port; where it listens if left out
        #[arg(long, value_name = "HOST:PORT")]
        address: Option<HostPort>,
    },
}

impl Keys {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        match self {
            Self::New { genesis, out, listen, peer } => create(&genesis, &out, listen, peer, output),
            Self::Show { config } => show(&config, output),
            Self::Backup { config, out } => backup::backup(&config, &out, output),
            Self::Restore { backup, config } => backup::restore(&backup, &config, output),
            Self::Registration { config, account, address } => registration(&config, account, address, output),
        }
    }
}

fn create(genesis: &Path, out: &Path, listen: SocketAddr, peers: Vec<Peer>, output: Output) -> Result<(), Failure> {
    let hash = read_genesis(genesis)?.hash();
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    let (folder, genesis) =
        (folder.canonicalize().map_err(Failure::file(folder))?, genesis.canonicalize().map_err(Failure::file(genesis))?);
    let keys = ValidatorKeys::derive(&cowboy_api::keystore::random_key()?.to_bytes());
    let file = ValidatorFile {
        genesis: genesis.strip_prefix(&folder).unwrap_or(&genesis).to_owned(),
        state: out.with_extension("state").file_name().map_or_else(|| "state".into(), PathBuf::from),
        listen,
        block_time_ms: None,
        listen_before_voting_ms: default_listening_ms(),
        peers,
        secrets: Secrets::of(&keys),
    };
    write_new(out, &file)?;
    output.result(
        &json!({ "genesis": hash.to_string(), "config": out }),
        format_args!("genesis {hash}\nThe keys are in {}: keep a copy where nobody else can read it", out.display()),
    );
    Ok(())
}

fn show(config: &Path, output: Output) -> Result<(), Failure> {
    let file = read::<ValidatorFile>(config)?;
    let keys = file.secrets.keys()?;
    let network = Hex(keys.network.public_key().as_ref().to_vec());
    let signer: HexAddress = Hex(keys.signer.address());
    let folder = config.parent().unwrap_or(Path::new("."));
    let state = folder.join(&file.state);
    let files = secrets::files(&state).map_err(Failure::file(&state))?;
    // A network file that is not there says nothing about the share.
    let is_of_genesis =
        || read_genesis(&folder.join(&file.genesis)).is_ok_and(|genesis| genesis.committee.member(&network_key(&keys)).is_some());
    let share = if keys.share.is_some() {
        "that of genesis, in this file".to_owned()
    } else if !files.is_empty() {
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        format!("in {}: {}", state.join(secrets::FOLDER).display(), names.join(", "))
    } else if is_of_genesis() {
        "that of genesis was removed, and there is no later one: it receives the next dealing".to_owned()
    } else {
        "none yet".to_owned()
    };
    let has_share = keys.share.is_some() || !files.is_empty();
    output.result(
        &json!({ "network": network, "signer": signer, "has_share": has_share, "share": share }),
        table([("network", network.to_string()), ("signer", signer.to_string()), ("share", share.clone())]),
    );
    Ok(())
}

fn network_key(keys: &ValidatorKeys) -> [u8; 32] {
    keys.network.public_key().as_ref().try_into().expect("a key has 32 bytes")
}

fn registration(config: &Path, account: Address, address: Option<HostPort>, output: Output) -> Result<(), Failure> {
    let file = read::<ValidatorFile>(config)?;
    let endpoint = address.unwrap_or_else(|| file.listen.into()).endpoint()?;
    let keys = file.secrets.keys()?;
    let genesis = read_genesis(&config.parent().unwrap_or(Path::new(".")).join(&file.genesis))?;
    let [network_proof, vrf_proof] = keys.proofs_of_possession(&genesis.hash(), account);
    let fields = [
        ("signing_key", Hex(keys.signer.public_key().0.to_vec())),
        ("network_key", Hex(keys.network.public_key().as_ref().to_vec())),
        ("network_proof", Hex(network_proof)),
        ("vrf_key", Hex(keys.vrf_key().0.to_vec())),
        ("vrf_proof", Hex(vrf_proof)),
        ("endpoint", Hex(endpoint.0.to_vec())),
    ];
    let lines = fields.iter().map(|(name, value)| (*name, value.to_string()));
    let shown: serde_json::Map<String, serde_json::Value> = fields.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    output.result(&shown, table(lines));
    Ok(())
}
