//! `cowboy volume key`: the owner's backup of the keys that a committee made.

use super::{Which, keys, storage_failure};
use crate::client::{secret, session::Session};
use clap::Subcommand;
use cowboy_api::{Hex, HexBytes, HexHash};
use cowboy_console::{amount::counted, failure::Failure};
use cowboy_host::files;
use cowboy_secrets::{PointG1, PointG2, curve};
use cowboy_service::Chain;
use cowboy_system::secrets::{state as secrets, types::ReleaseKey};
use cowboy_system::volumes::keys::{identity, standing_version};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Keys, Partition, Volume};
use cowboy_types::Hash;
use cowboy_volume::VolumeError;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum KeyAction {
    /// Write the keys of a volume that this folder has into a new file
    Export {
        #[command(flatten)]
        which: Which,
        /// The file
        file: PathBuf,
    },
    /// Take the keys of a volume over from such a file
    Import {
        #[command(flatten)]
        which: Which,
        /// The file
        file: PathBuf,
    },
}

/// The keys of a volume, in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Backup {
    /// The hash of the chain's genesis.
    genesis: HexHash,
    /// The volume.
    volume: HexHash,
    /// The keys.
    keys: Vec<Key>,
}

/// The key of a partition.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    /// The hash of the partition's name.
    partition: HexHash,
    /// The version of the key.
    version: u64,
    /// The committee's signature, of which the key is made.
    signature: HexBytes,
}

/// A volume whose keys a committee makes, with the chain that has it.
async fn open(session: &Session, which: &Which) -> Result<(Chain, Hash, Volume), Failure> {
    let (chain, id) = (secret::connect(session, &which.trusted).await?, which.id(session).await?);
    let volume: Option<Volume> = read(&chain, &state::volume_key(&id)).await?;
    let volume = volume.ok_or_else(|| storage_failure(VolumeError::NotFound))?;
    match volume.keys {
        Keys::Committee => Ok((chain, id, volume)),
        Keys::Owner => Err(Failure::refused("the owner of this volume keeps its key in a file", "copy that file")),
        Keys::Public => Err(Failure::refused("a public volume has no keys", "anybody may read it")),
    }
}

async fn read<T: commonware_codec::DecodeExt<()>>(chain: &Chain, key: &cowboy_state::Key) -> Result<Option<T>, Failure> {
    let found = chain.read(std::slice::from_ref(key)).await.map_err(secret::unread)?;
    found.read(0).map_err(secret::unread)
}

pub(super) async fn run(session: &Session, action: KeyAction) -> Result<(), Failure> {
    match action {
        KeyAction::Export { which, file } => export(session, &which, &file).await,
        KeyAction::Import { which, file } => import(session, &which, &file).await,
    }
}

/// Writes the keys of the volume's partitions that are kept here.
async fn export(session: &Session, which: &Which, file: &Path) -> Result<(), Failure> {
    let (chain, id, volume) = open(session, which).await?;
    let (mut kept, mut missing, mut partitions) = (Vec::new(), Vec::new(), 0_usize);
    for listed in volume.partitions.iter() {
        let record: Option<Partition> = read(&chain, &state::partition_key(&id, &listed.partition)).await?;
        let (standing, before) = (standing_version(&volume, record.as_ref()), kept.len());
        // That of the root before, too: `revert` may bring it back.
        let previous =
            record.and_then(|record| record.previous).map(|previous| previous.key_version).filter(|version| *version != standing);
        for version in [Some(standing), previous].into_iter().flatten() {
            let path = keys::path(session, &chain.genesis, (&id, &listed.partition), version);
            match files::read(&path).map_err(Failure::file(&path))? {
                Some(signature) => kept.push(Key { partition: Hex(listed.partition), version, signature: Hex(signature.to_vec()) }),
                None if version == standing => missing.push(listed.partition.to_string()),
                None => {}
            }
        }
        partitions += usize::from(kept.len() > before);
    }
    if kept.is_empty() {
        return Err(Failure::refused(
            "this folder has no key of the volume's partitions",
            "have one released first: cowboy volume ls VOLUME PARTITION",
        ));
    }
    let count = kept.len();
    let backup = Backup { genesis: Hex(chain.genesis), volume: Hex(id), keys: kept };
    let text = serde_json::to_string_pretty(&backup).expect("keys are JSON");
    files::create(file, format!("{text}\n").as_bytes()).map_err(Failure::file(file))?;
    for partition in &missing {
        session.output.progress(format_args!("partition {partition} is left out: its key was not released to this folder"));
    }
    session.output.result(
        &json!({ "file": file, "keys": count, "missing": missing }),
        format_args!("The keys of {} are in {}: keep it where nobody else reads it", counted(partitions, "partition"), file.display()),
    );
    Ok(())
}

/// The backup in a file, where it is one of this volume.
fn parse(bytes: &[u8], file: &Path, (genesis, volume): (Hash, Hash)) -> Result<Backup, Failure> {
    let refused = |reason: &str| Failure::Refused {
        what: format!("{} {reason}; nothing is changed", file.display()),
        fix: "give a file that `cowboy volume key export` wrote for this volume".into(),
    };
    let backup: Backup = serde_json::from_slice(bytes).map_err(|error| refused(&format!("has no keys ({error})")))?;
    if backup.genesis.0 != genesis {
        return Err(refused("is of another chain"));
    }
    if backup.volume.0 != volume { Err(refused("is of another volume")) } else { Ok(backup) }
}

/// Keeps the keys of a backup here, once the committee's public key has confirmed all of them.
async fn import(session: &Session, which: &Which, file: &Path) -> Result<(), Failure> {
    let (chain, id, volume) = open(session, which).await?;
    let bytes = files::read(file).map_err(Failure::file(file))?;
    let bytes = bytes.ok_or_else(|| Failure::file(file)(std::io::ErrorKind::NotFound.into()))?;
    let backup = parse(&bytes, file, (chain.genesis, id))?;
    let key: Option<ReleaseKey> = read(&chain, &secrets::release_key(volume.key_id)).await?;
    let master = key.and_then(|key| key.master).and_then(|master| PointG2::new(master.0));
    let master = master.ok_or_else(|| secret::unproven("the chain does not have the committee's public key"))?;
    for key in &backup.keys {
        if !is_of((chain.genesis, id), &volume, &master, key) {
            return Err(Failure::Refused {
                what: format!("{} has a wrong key of partition {}; nothing is changed", file.display(), key.partition),
                fix: "the file was changed: give another copy of it".into(),
            });
        }
    }
    for key in &backup.keys {
        let path = keys::path(session, &chain.genesis, (&id, &key.partition.0), key.version);
        keys::keep(&path, &key.signature.0)?;
    }
    let count = backup.keys.len();
    session.output.result(&json!({ "keys": count }), format_args!("{} taken over", counted(count, "key")));
    Ok(())
}

/// Whether a key is the committee's signature over its partition and version.
fn is_of((genesis, id): (Hash, Hash), volume: &Volume, master: &PointG2, key: &Key) -> bool {
    let identity = identity(genesis, (&id, volume), &key.partition.0, key.version);
    let signature = key.signature.0[..].try_into().ok().and_then(PointG1::new);
    signature.is_some_and(|signature| curve::is_signature(master, &identity.message(), &signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A backup is of one volume of one chain, and read strictly.
    #[test]
    fn a_backup_is_of_one_volume() {
        let (genesis, volume, file) = (Hash([1; 32]), Hash([2; 32]), Path::new("keys.json"));
        let keys = vec![Key { partition: Hex(Hash([3; 32])), version: 65_537, signature: Hex(vec![4; 48]) }];
        let text = serde_json::to_string(&Backup { genesis: Hex(genesis), volume: Hex(volume), keys }).expect("it is JSON");
        let read = |text: &str, genesis, volume| {
            parse(text.as_bytes(), file, (genesis, volume)).map(|backup| backup.keys[0].version).map_err(|failure| failure.to_string())
        };
        assert_eq!(read(&text, genesis, volume), Ok(65_537));
        let wrong = [
            (read(&text, volume, volume), "is of another chain"),
            (read(&text, genesis, genesis), "is of another volume"),
            (read(&text[1..], genesis, volume), "has no keys"),
            (read(&text.replacen('{', "{\"more\":1,", 1), genesis, volume), "unknown field"),
        ];
        for (found, reason) in wrong {
            assert!(found.as_ref().is_err_and(|text| text.contains(reason)), "{found:?}");
        }
    }
}
