//! `cowboyd keys backup` and `restore`: what a validator must not lose, in one file.

use super::{
    node_failure,
    node_files::{GenesisFile, ValidatorFile, read, read_genesis, read_written, write_new},
};
use commonware_cryptography::Signer as _;
use cowboy_api::{Hex, HexBytes};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_node::reshare::secrets;
use cowboy_store::{Directory, Ledger, StoreError};
use cowboy_types::Hash;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The genesis file beside a validator's file that is restored.
const GENESIS: &str = "genesis.json";

/// A validator's file with its keys, and its shares of the group key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Backup {
    /// The hash of the chain's genesis.
    genesis: String,
    /// The genesis file.
    chain: GenesisFile,
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
        let folder = folder_of(config);
        let genesis = read_genesis(&folder.join(&file.genesis))?.hash();
        Ok(Self { state: folder.join(&file.state), genesis, file })
    }
}

/// The folder of a validator's file.
fn folder_of(config: &Path) -> &Path {
    config.parent().unwrap_or(Path::new("."))
}

/// Writes the backup of a validator into a new file for its owner only.
pub(super) fn backup(config: &Path, out: &Path, output: Output) -> Result<(), Failure> {
    let Setup { file, genesis, state } = Setup::of(config)?;
    let chain = read(&folder_of(config).join(&file.genesis))?;
    let shares = secrets::files(&state).map_err(Failure::file(&state))?;
    let count = shares.len();
    let shares = shares.into_iter().map(|(name, bytes)| (name, Hex(bytes))).collect();
    write_new(out, &Backup { genesis: genesis.to_string(), chain, validator: file, shares })?;
    output.result(
        &json!({ "out": out, "shares": count }),
        format_args!("The keys and the shares (epochs: {count}) are in {}: keep it where nobody else reads it", out.display()),
    );
    Ok(())
}

/// The epoch of the newest block in a node's folder, 0 where it has none: what is of an earlier one is of no use.
fn running_epoch(folder: &Directory) -> Result<u64, StoreError> {
    let ledger = Ledger::open(&folder.ledger())?;
    let view = ledger.view()?;
    let Some(tip) = view.tip()? else { return Ok(0) };
    // A damaged block says nothing, and an old share is no harm.
    Ok(view.block(tip).ok().flatten().map_or(0, |block| block.header.context.epoch.0))
}

/// Puts the shares of a backup into the folder of the stopped validator with this file. Where there is no such file, it is written, and the
/// genesis beside it.
pub(super) fn restore(backup: &Path, config: &Path, output: Output) -> Result<(), Failure> {
    let kept = read_written::<Backup>(backup, "`cowboyd keys backup` writes")?;
    let refused = |reason: &str, fix: &str| Failure::refused(format!("{} {reason}; nothing is changed", backup.display()), fix);
    let (other, damaged) =
        ("name that validator's file with --config, or a new one in a new folder", "copy it again, or use another backup");
    let is_other_chain = || refused("is of a validator of another chain", other);
    let own = kept.validator.secrets.keys()?.network.public_key();
    if kept.chain.clone().genesis(backup)?.hash().to_string() != kept.genesis {
        return Err(refused("is damaged: its genesis has another hash", damaged));
    }
    let shares: BTreeMap<String, Vec<u8>> = kept.shares.into_iter().map(|(name, bytes)| (name, bytes.0)).collect();
    if let Some(name) = shares.iter().find(|(name, bytes)| !secrets::is_whole(name, bytes)).map(|(name, _)| name) {
        return Err(refused(&format!("is damaged: {name} is not a file of shares"), damaged));
    }
    if !config.exists() {
        let genesis = folder_of(config).join(GENESIS);
        if !genesis.exists() {
            // A lost disk took the folder, too.
            std::fs::create_dir_all(folder_of(config)).map_err(Failure::file(folder_of(config)))?;
            write_new(&genesis, &kept.chain)?;
        } else if read_genesis(&genesis)?.hash().to_string() != kept.genesis {
            return Err(is_other_chain());
        }
        write_new(config, &ValidatorFile { genesis: GENESIS.into(), ..kept.validator })?;
    }
    let Setup { file, genesis, state } = Setup::of(config)?;
    if genesis.to_string() != kept.genesis {
        return Err(is_other_chain());
    }
    if file.secrets.keys()?.network.public_key() != own {
        return Err(refused("is of another validator", other));
    }
    // A node that runs would write over them.
    let held = Directory::open(&state, &genesis).map_err(node_failure)?;
    let restored = secrets::restore(&state, &shares, running_epoch(&held).map_err(node_failure)?).map_err(Failure::file(&state))?;
    drop(held);
    output.result(&json!({ "shares": restored }), format_args!("The shares are restored (epochs: {restored})"));
    Ok(())
}
