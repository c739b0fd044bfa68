//! The keys of partitions: from a file, or made by the committee and kept beside the project's other secrets.

use super::{Which, hex, kept_name, storage_failure};
use crate::client::{method::instruction, secret, session::Session};
use crate::random;
use crate::send::{self, Terms};
use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_console::failure::Failure;
use cowboy_proxy::collect;
use cowboy_sealing::TransportSecret;
use cowboy_service::{Chain, files};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Keys, Partition, Volume as Record, first_key_version};
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
    getrandom::fill(&mut *key).map_err(|error| Failure::argument(error.to_string(), "the computer gives no random bytes"))?;
    files::write(file, hex(&*key).as_bytes()).map_err(Failure::file(file))
}

/// The key in a file, in hex.
fn read(file: &Path) -> Result<Zeroizing<[u8; KEY_BYTES]>, Failure> {
    let text = files::read(file).map_err(Failure::file(file))?;
    let wrong =
        || Failure::argument(format!("{} has no key: 64 hex digits after 0x", file.display()), "name the file that `volume create` made");
    let text = text.ok_or_else(wrong)?;
    let text = std::str::from_utf8(&text).map_err(|_| wrong())?;
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    hex::decode_to_slice(text.trim().trim_start_matches("0x"), &mut *key).map_err(|_| wrong())?;
    Ok(key)
}

/// The key of a partition that has files.
pub(super) async fn standing(
    session: &Session,
    which: &Which,
    volume: &Volume,
    name: &Name,
    terms: &Terms,
) -> Result<PartitionKey, Failure> {
    // Nothing is paid for the key of a partition that is not there.
    if volume.partition(name).await.map_err(storage_failure)?.is_none() {
        return Err(storage_failure(VolumeError::NoPartition(name.as_str().to_owned())));
    }
    partition(session, which, volume, name, terms).await
}

/// The key of a partition, whether it is there or to be made.
pub(super) async fn partition(
    session: &Session,
    which: &Which,
    volume: &Volume,
    partition: &Name,
    terms: &Terms,
) -> Result<PartitionKey, Failure> {
    match volume.record().keys {
        Keys::Public => Ok(PartitionKey::public()),
        Keys::Owner => {
            let file = which.key.as_deref();
            let file = file.ok_or_else(|| Failure::argument("the owner of this volume keeps its key", "name its file with --key"))?;
            Ok(PartitionKey::owned(&*read(file)?, volume.id(), partition))
        }
        Keys::Committee => released(session, which, volume, partition, terms).await,
    }
}

/// The version of a partition's key.
pub(super) async fn version(chain: &Chain, id: &Hash, volume: &Record, partition: &Hash) -> Result<u64, Failure> {
    let found = chain.read(&[state::partition_key(id, partition)]).await.map_err(secret::unproven)?;
    let standing = found.read::<Partition>(0).map_err(secret::unproven)?;
    Ok(standing.map_or_else(|| first_key_version(volume.generation), |standing| standing.key_version))
}

/// Where the committee's signature is kept of which the key of a partition is made.
pub(super) fn path(session: &Session, genesis: &Hash, (volume, partition): (&Hash, &Hash), version: u64) -> PathBuf {
    let name = format!("{}-{version}.key", kept_name(genesis, volume, partition));
    session.project.join(CONFIG_DIRECTORY).join("partitions").join(name)
}

/// Keeps such a signature.
pub(super) fn keep(path: &Path, signature: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    files::write(path, signature).map_err(Failure::file(path))
}

/// The key that the committee makes: the one that was kept here, or a new release.
async fn released(session: &Session, which: &Which, volume: &Volume, name: &Name, terms: &Terms) -> Result<PartitionKey, Failure> {
    let chain = secret::connect(session, &which.trusted).await?;
    let partition = name.partition();
    let version = version(&chain, volume.id(), volume.record(), &partition).await?;
    let path = path(session, &chain.genesis, (volume.id(), &partition), version);
    if let Some(signature) = files::read(&path).map_err(Failure::file(&path))? {
        return Ok(PartitionKey::released(&signature));
    }
    let transport = TransportSecret::random(&mut random::generator()?);
    let public = transport.key();
    let argument = json!({
        "volume": volume.id().to_string(),
        "partition": name.partition().to_string(),
        "capability": which.capability.map(|id| hex(&id.0)),
        "transport": hex(public.key.bytes()),
        "proof": hex(public.proof.bytes()),
    });
    let asking = instruction(actors::SECRETS, "release_partition", &argument, Amount::ZERO)?;
    let sent = send::send(&session.client, &session.key()?, asking, &Terms { no_wait: false, ..terms.clone() }).await?;
    let release = secret::opened(&sent)?;
    session.output.progress(format_args!("release {release}: asking the committee for the key of {}", name.as_str()));
    let collected = collect(&chain, &release, &transport).await.map_err(secret::unproven)?;
    secret::close(session, &release, &collected, terms).await?;
    keep(&path, collected.signature.bytes())?;
    Ok(PartitionKey::released(collected.signature.bytes()))
}
