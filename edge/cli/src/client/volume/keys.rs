//! The keys of partitions: from a file, or made by the committee and kept beside the project's other secrets.

use super::rights::{self, Use};
use super::{Which, hex, kept_name, storage_failure};
use crate::client::{labels, method::instruction, secret, session::Session};
use crate::random;
use crate::send::{self, Terms};
use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_console::failure::Failure;
use cowboy_host::files;
use cowboy_sealing::TransportSecret;
use cowboy_system::volumes::keys::standing_version;
use cowboy_system::volumes::types::Keys;
use cowboy_types::hash::parse_hex;
use cowboy_types::units::Amount;
use cowboy_types::{Hash, actors};
use cowboy_volume::keys::{KEY_BYTES, PartitionKey};
use cowboy_volume::{Volume, VolumeError};
use cowboy_volumes::Name;
use serde_json::json;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Makes the file of a volume's key, where there is none.
pub(super) fn make(file: &Path) -> Result<(), Failure> {
    if file.exists() {
        return read(file).map(drop);
    }
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    getrandom::fill(&mut *key).map_err(Failure::no_random)?;
    files::replace(file, hex(&*key).as_bytes()).map_err(Failure::file(file))
}

/// The key in a file, in hex.
fn read(file: &Path) -> Result<Zeroizing<[u8; KEY_BYTES]>, Failure> {
    let text = files::read(file).map_err(Failure::file(file))?;
    let wrong =
        || Failure::argument(format!("{} has no key: 64 hex digits after 0x", file.display()), "name the file that `volume create` made");
    let text = text.ok_or_else(wrong)?;
    let text = std::str::from_utf8(&text).map_err(|_| wrong())?;
    parse_hex(text.trim()).map(Zeroizing::new).map_err(|_| wrong())
}

/// The key of a partition that has files.
pub(super) async fn standing(
    session: &Session,
    which: &Which,
    volume: &Volume,
    (name, what): (&Name, Use),
    terms: &Terms,
) -> Result<PartitionKey, Failure> {
    // Nothing is paid for the key of a partition that is not there.
    if volume.partition(name).await.map_err(storage_failure)?.is_none() {
        return Err(storage_failure(VolumeError::NoPartition(name.as_str().to_owned())));
    }
    labels::learn(session, &name.partition(), name.as_str());
    partition(session, which, volume, (name, what), terms).await
}

/// The version under which a partition stands, or begins.
async fn version(volume: &Volume, name: &Name) -> Result<u64, Failure> {
    let standing = volume.partition(name).await.map_err(storage_failure)?;
    Ok(standing_version(volume.record(), standing.as_ref()))
}

/// The key of a partition for a use, whether the partition is there or to be made.
pub(super) async fn partition(
    session: &Session,
    which: &Which,
    volume: &Volume,
    (partition, what): (&Name, Use),
    terms: &Terms,
) -> Result<PartitionKey, Failure> {
    let version = version(volume, partition).await?;
    of_version(session, which, volume, (partition, version, what), terms).await
}

/// A version of the key of a partition, for a use.
pub(super) async fn of_version(
    session: &Session,
    which: &Which,
    volume: &Volume,
    (name, version, what): (&Name, u64, Use),
    terms: &Terms,
) -> Result<PartitionKey, Failure> {
    if let Some(key) = kept(session, which, volume, (name, version))? {
        return Ok(key);
    }
    // Nothing is paid for a key that the account may not use for that (decision 634).
    rights::check(session, which, volume, what).await?;
    released(session, which, volume, (name, version), terms).await
}

/// The key of a partition, for a command that pays nothing.
pub(super) async fn at_hand(session: &Session, which: &Which, volume: &Volume, name: &Name) -> Result<PartitionKey, Failure> {
    let version = version(volume, name).await?;
    kept(session, which, volume, (name, version))?.ok_or_else(|| {
        let name = name.as_str();
        Failure::refused(
            format!("the key of {name} was not released to this folder yet, which costs a fee, and a dry run pays nothing"),
            format!("have it released first: cowboy volume ls {} {name}", which.volume),
        )
    })
}

/// A version of the key of a partition, where it is at hand; none where the committee has to make it.
fn kept(session: &Session, which: &Which, volume: &Volume, (name, version): (&Name, u64)) -> Result<Option<PartitionKey>, Failure> {
    match volume.record().keys {
        Keys::Public => Ok(Some(PartitionKey::public())),
        Keys::Owner => {
            let file = which.key.as_deref();
            let file = file.ok_or_else(|| Failure::argument("the owner of this volume keeps its key", "name its file with --key"))?;
            owned(file, volume, (name, version)).map(Some)
        }
        Keys::Committee => {
            let path = path(session, &volume.chain().genesis, (volume.id(), &name.partition()), version);
            let signature = files::read(&path).map_err(Failure::file(&path))?;
            Ok(signature.map(|signature| PartitionKey::released(&signature).at(version)))
        }
    }
}

/// The key of a partition that the key in a file makes.
pub(super) fn owned(file: &Path, volume: &Volume, (name, version): (&Name, u64)) -> Result<PartitionKey, Failure> {
    Ok(PartitionKey::owned(&*read(file)?, volume.id(), name).at(version))
}

/// Where the committee's signature is kept of which the key of a partition is made.
pub(super) fn path(session: &Session, genesis: &Hash, (volume, partition): (&Hash, &Hash), version: u64) -> PathBuf {
    let name = format!("{}-{version}.key", kept_name(genesis, volume, partition));
    session.project.join(CONFIG_DIRECTORY).join("partitions").join(name)
}

/// Keeps such a signature.
pub(super) fn keep(path: &Path, signature: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    files::create_folder(folder).map_err(Failure::file(folder))?;
    files::replace(path, signature).map_err(Failure::file(path))
}

/// A version of the key that the committee makes, released to the session's account.
async fn released(
    session: &Session,
    which: &Which,
    volume: &Volume,
    (name, version): (&Name, u64),
    terms: &Terms,
) -> Result<PartitionKey, Failure> {
    let chain = volume.chain();
    let transport = TransportSecret::random(&mut random::generator()?);
    let public = transport.key();
    let argument = json!({
        "volume": volume.id().to_string(),
        "partition": name.partition().to_string(),
        "capability": which.capability.map(|id| hex(&id.0)),
        "key_version": version,
        "transport": hex(public.key.bytes()),
        "proof": hex(public.proof.bytes()),
    });
    let asking = instruction(actors::SECRETS, "release_partition", &argument, Amount::ZERO)?;
    let sent = send::send(&session.client, &session.key()?, asking, &Terms { no_wait: false, ..terms.clone() }).await?;
    let release = secret::opened(&sent)?;
    session.output.progress(format_args!("release {release}: asking the committee for the key of {}", name.as_str()));
    let collected = secret::collected(session, chain, &release, &transport, terms).await?;
    secret::close(session, &release, &collected, terms).await?;
    let path = path(session, &chain.genesis, (volume.id(), &name.partition()), version);
    keep(&path, collected.signature.bytes())?;
    Ok(PartitionKey::released(collected.signature.bytes()).at(version))
}
