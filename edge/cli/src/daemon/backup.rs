//! `cowboyd keys backup` and `restore`: what a validator must not lose, in one file.

use super::{
    network::{ValidatorFile, read, read_genesis, write_new},
    node_failure,
};
use crate::{failure::Failure, output::Output};
use commonware_cryptography::Signer as _;
use cowboy_api::{Hex, HexBytes};
use cowboy_node::reshare::secrets;
use cowboy_store::Directory;
use cowboy_types::Hash;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// A validator's file with its keys, and its shares of the group key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Backup {
    /// The hash of the chain's genesis.
    genesis: String,
    /// The validator's file.
    validator: ValidatorFile,
    /// The files of its shares.
    shares: BTreeMap<String, HexBytes>,
}

/// A validator's file, with what it names.
struct Setup {
    file: ValidatorFile,
    genesis: Hash,
    state: PathBuf,
}

impl Setup {
    fn of(config: &Path) -> Result<Self, Failure> {
        let file = read::<ValidatorFile>(config)?;
        let folder = config.parent().unwrap_or(Path::new("."));
        let genesis = read_genesis(&folder.join(&file.genesis))?.hash();
        Ok(Self { state: folder.join(&file.state), genesis, file })
    }
}

/// Writes the backup of a validator into a new file for its owner only.
pub(super) fn backup(config: &Path, out: &Path, output: Output) -> Result<(), Failure> {
    let Setup { file, genesis, state } = Setup::of(config)?;
    let shares = secrets::files(&state).map_err(Failure::file(&state))?;
    let count = shares.len();
    let shares = shares.into_iter().map(|(name, bytes)| (name, Hex(bytes))).collect();
    write_new(out, &Backup { genesis: genesis.to_string(), validator: file, shares })?;
    output.result(
        &json!({ "out": out, "shares": count }),
        format_args!("The keys and the shares of {count} epochs are in {}: keep it where nobody else reads it", out.display()),
    );
    Ok(())
}

/// Puts the shares of a backup into the folder of the stopped validator with this file, and writes the file where there is none.
pub(super) fn restore(backup: &Path, config: &Path, output: Output) -> Result<(), Failure> {
    let kept = read::<Backup>(backup)?;
    let refused = |reason: &str| node_failure(format_args!("{} {reason}; nothing is changed", backup.display()));
    let own = kept.validator.secrets.keys()?.network.public_key();
    if !config.exists() {
        write_new(config, &kept.validator)?;
    }
    let Setup { file, genesis, state } = Setup::of(config)?;
    if genesis.to_string() != kept.genesis {
        return Err(refused("is of a validator of another chain"));
    }
    if file.secrets.keys()?.network.public_key() != own {
        return Err(refused("is of another validator"));
    }
    let shares: BTreeMap<String, Vec<u8>> = kept.shares.into_iter().map(|(name, bytes)| (name, bytes.0)).collect();
    if let Some(name) = shares.iter().find(|(name, bytes)| !secrets::is_whole(name, bytes)).map(|(name, _)| name) {
        return Err(refused(&format!("is damaged: {name} is no file of shares")));
    }
    // A node that runs would write over them.
    let held = Directory::open(&state, &genesis).map_err(node_failure)?;
    secrets::restore(&state, &shares).map_err(Failure::file(&state))?;
    drop(held);
    output.result(&json!({ "shares": shares.len() }), format_args!("The shares of {} epochs are restored", shares.len()));
    Ok(())
}
