//! Putting, getting, listing and removing files.

use super::{MERGES, PAUSE, Which, act_encoded, counted, hex, keys, storage_failure};
use crate::client::{labels, labels::Labels, method::instruction, session::Session};
use crate::send::{self, Terms};
use commonware_codec::Encode as _;
use cowboy_console::failure::Failure;
use cowboy_types::units::Amount;
use cowboy_types::{Text, actors, error};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Change, Entry, Source, Volume};
use cowboy_volumes::relay::DEMAND_BYTES;
use cowboy_volumes::{Name, Path, leaf};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path as Local, PathBuf};
use std::time::UNIX_EPOCH;

/// A local file, and where it goes.
struct Item {
    from: PathBuf,
    size: u64,
    to: Path,
}

/// The files below a folder, or the file, each with its path in the volume; and what is neither a file nor a folder, and stays out.
fn items(source: &Local, to: &str) -> Result<(Vec<Item>, Vec<PathBuf>), Failure> {
    let path = |text: String| {
        Path::new(&text).ok_or_else(|| {
            Failure::argument(
                format!("{text:?} is not a path of a volume"),
                "names have letters, digits, _, . and -, and the first is a partition",
            )
        })
    };
    let last = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let known = source.metadata().map_err(Failure::file(source))?;
    if !known.is_dir() {
        // A pipe has no length, and a device no end.
        if !known.is_file() {
            return Err(Failure::argument(format!("{} is neither a file nor a folder", source.display()), "put it into a file first"));
        }
        if to == last {
            return Err(Failure::argument(
                format!("{to:?} would be a partition: the first part of a path is one"),
                format!("put it into a partition, like notes/{last}, or give {last}/ for a partition of that name"),
            ));
        }
        // A partition by itself is a folder.
        let to = if to.ends_with('/') || !to.contains('/') { format!("{}/{last}", to.trim_end_matches('/')) } else { to.to_owned() };
        return Ok((vec![Item { from: source.to_owned(), size: known.len(), to: path(to)? }], Vec::new()));
    }
    let (mut found, mut left_out, mut folders) = (Vec::new(), Vec::new(), vec![(source.to_owned(), to.trim_end_matches('/').to_owned())]);
    while let Some((folder, prefix)) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(Failure::file(&folder))?;
        for entry in entries {
            let entry = entry.map_err(Failure::file(&folder))?;
            // Of a link itself, which could lead anywhere: it is not followed.
            let (known, name) = (entry.metadata().map_err(Failure::file(entry.path()))?, entry.file_name().to_string_lossy().into_owned());
            let to = format!("{prefix}/{name}");
            if known.is_dir() {
                folders.push((entry.path(), to));
            } else if known.is_file() {
                found.push(Item { from: entry.path(), size: known.len(), to: path(to)? });
            } else {
                left_out.push(entry.path());
            }
        }
    }
    found.sort_by(|one, other| one.to.cmp(&other.to));
    left_out.sort();
    Ok((found, left_out))
}

/// What HTTP calls a file of this name.
fn kind_of(path: &Path) -> Text<64> {
    let extension = path.as_str().rsplit_once('.').map_or("", |(_, extension)| extension);
    let kind = match extension {
        "txt" | "md" => "text/plain",
        "html" | "htm" => "text/html",
        "css" => "text/css",
        "js" => "text/javascript",
        "json" => "application/json",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "svg" => "image/svg+xml",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    };
    Text::new(kind).expect("it is short")
}

pub(super) async fn put(session: &Session, which: &Which, source: &Local, to: &str, terms: &Terms) -> Result<(), Failure> {
    let (items, left_out) = items(source, to)?;
    for path in &left_out {
        session.output.progress(format_args!("{} is left out: it is neither a file nor a folder", path.display()));
    }
    let volume = which.open(session).await?;
    let mut partitions: BTreeMap<Name, Vec<&Item>> = BTreeMap::new();
    for item in &items {
        partitions.entry(item.to.partition()).or_default().push(item);
    }
    let mut keys: BTreeMap<&Name, PartitionKey> = BTreeMap::new();
    for (partition, items) in &partitions {
        let key = keys::partition(session, which, &volume, partition, terms).await?;
        let files: Vec<(&Path, u64)> = items.iter().map(|item| (&item.to, item.size)).collect();
        volume.admit(partition, &key, &files).await.map_err(storage_failure)?;
        keys.insert(partition, key);
    }
    let mut changes: BTreeMap<Name, Vec<Change>> = BTreeMap::new();
    let (mut bytes, mut number, count) = (0_u64, 0, items.len());
    for (partition, items) in &partitions {
        for item in items {
            let file = tokio::fs::File::open(&item.from).await.map_err(Failure::file(&item.from))?;
            let known = file.metadata().await.map_err(Failure::file(&item.from))?;
            let written = known.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
            let written_ms = u64::try_from(written.as_millis()).unwrap_or(u64::MAX);
            let mut source = Source { content: tokio::io::BufReader::new(file), size: known.len(), written_ms, kind: kind_of(&item.to) };
            number += 1;
            session.output.progress(format_args!("{number} of {count}: {} ({} bytes)", item.to.as_str(), known.len()));
            let leaf = volume.put(&item.to, &keys[partition], &mut source).await.map_err(storage_failure)?;
            bytes = bytes.saturating_add(known.len());
            changes.entry(partition.clone()).or_default().push(Change::Put(leaf));
        }
    }
    let committed = commit(session, which, &changes, terms).await?;
    for partition in partitions.keys() {
        labels::keep(session, &partition.partition(), partition.as_str());
    }
    let left_out: Vec<String> = left_out.iter().map(|path| path.display().to_string()).collect();
    session.output.result(
        &json!({ "files": count, "bytes": bytes, "commits": committed, "left_out": left_out }),
        format_args!("{}, {bytes} bytes, committed", counted(count, "file")),
    );
    Ok(())
}

/// Why a commit is tried again: who was first, where its refusal has this code.
fn was_second(code: u16) -> Option<&'static str> {
    if code == error::COMMIT_CONFLICT.code {
        return Some("somebody else committed");
    }
    let of_nonces = [error::REPLACEMENT_UNDERPRICED, error::WRONG_NONCE, error::NONCE_GAP];
    of_nonces.iter().any(|error| error.code == code).then_some("another transaction of the account is under way")
}

/// Commits changes, partition by partition. Where somebody else was first, the changes are merged into what stands now.
async fn commit(session: &Session, which: &Which, changes: &BTreeMap<Name, Vec<Change>>, terms: &Terms) -> Result<Vec<Value>, Failure> {
    let mut committed = Vec::new();
    for (partition, changes) in changes {
        for merge in 0..MERGES {
            // As the chain has it now: relays may have changed meanwhile.
            let volume = which.open(session).await?;
            let Some(commit) = volume.commit(partition, changes).await.map_err(storage_failure)? else { break };
            match act_encoded(session, "commit", &commit.argument, terms).await {
                Ok(sent) => {
                    committed.push(json!({ "partition": partition.as_str(), "tx_hash": sent.tx_hash }));
                    break;
                }
                Err(Failure::Api(failed)) if merge + 1 < MERGES => {
                    let Some(first) = was_second(failed.code) else { return Err(Failure::Api(failed)) };
                    session.output.progress(format_args!("{first}: merging into {}", partition.as_str()));
                    tokio::time::sleep(PAUSE).await;
                }
                Err(failure) => return Err(failure),
            }
        }
    }
    Ok(committed)
}

/// A file, with the key that opened it.
async fn found(session: &Session, which: &Which, volume: &Volume, path: &Path, terms: &Terms) -> Result<(Entry, PartitionKey), Failure> {
    let key = keys::standing(session, which, volume, &path.partition(), terms).await?;
    let entry = volume.find(path, &key).await.map_err(storage_failure)?;
    let entry = entry.ok_or_else(|| storage_failure(cowboy_volume::VolumeError::NoFile(path.as_str().to_owned())))?;
    Ok((entry, key))
}

pub(super) async fn get(session: &Session, volume: &Volume, entry: &Entry, key: &PartitionKey, to: &Local) -> Result<(), Failure> {
    if to.as_os_str() == "-" {
        return volume.get(entry, key, &mut tokio::io::stdout()).await.map_err(storage_failure);
    }
    write(volume, entry, key, to).await?;
    let path = &*entry.meta.path;
    let document = json!({ "path": path, "bytes": entry.meta.size, "hash": entry.meta.hash.to_string(), "file": to });
    session.output.result(&document, format_args!("{path}: {} bytes in {}", entry.meta.size, to.display()));
    Ok(())
}

/// Writes the content of a file of the volume to a local one.
pub(super) async fn write(volume: &Volume, entry: &Entry, key: &PartitionKey, to: &Local) -> Result<(), Failure> {
    // Beside its place, so that nobody takes a part for the file.
    let mut beside = to.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let mut file = tokio::fs::File::create(&beside).await.map_err(Failure::file(&beside))?;
    volume.get(entry, key, &mut file).await.map_err(storage_failure)?;
    file.sync_all().await.map_err(Failure::file(&beside))?;
    tokio::fs::rename(&beside, to).await.map_err(Failure::file(to))
}

/// Whether a path lies in a directory.
fn lies_in(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) async fn list(session: &Session, which: &Which, within: Option<&str>, terms: &Terms) -> Result<(), Failure> {
    let volume = which.open(session).await?;
    let Some(within) = within else {
        // Names of partitions stand nowhere on the chain.
        let rows: Vec<Value> = volume
            .record()
            .partitions
            .iter()
            .map(
                |listed| json!({ "partition": listed.partition.to_string(), "bytes": listed.bytes * u64::from(volume.record().code.data) }),
            )
            .collect();
        let labels = Labels::load(&session.project);
        let line = |row: &Value| {
            let partition = row["partition"].as_str().unwrap_or_default();
            format!("{:>12}  partition {partition}{}", row["bytes"].to_string(), labels.shown(partition))
        };
        let lines: Vec<String> = rows.iter().map(line).collect();
        let text = if lines.is_empty() { "there are no files".to_owned() } else { lines.join("\n") };
        session.output.result(
            &rows,
            format!(
                "{text}\n(the chain has no names of partitions, and this folder those that it wrote: name one, like `ls VOLUME notes`)"
            ),
        );
        return Ok(());
    };
    let first = within.split('/').next().unwrap_or_default();
    let partition = Name::new(first).ok_or_else(|| Failure::argument(format!("{first:?} is not a partition"), "name one, like notes"))?;
    let key = keys::standing(session, which, &volume, &partition, terms).await?;
    let listing = volume.list(&partition, &key, u64::MAX).await.map_err(storage_failure)?;
    if listing.closed > 0 {
        session.output.progress(format_args!("not opened by this key: {}", counted(listing.closed, "more file")));
    }
    let entries: Vec<&Entry> = listing.entries.iter().filter(|entry| lies_in(&entry.meta.path, within)).collect();
    let row = |entry: &&Entry| {
        json!({
            "path": &*entry.meta.path, "size": entry.meta.size, "hash": entry.meta.hash.to_string(),
            "written_ms": entry.meta.written_ms, "type": &*entry.meta.kind,
        })
    };
    let rows: Vec<Value> = entries.iter().map(row).collect();
    let lines: Vec<String> = entries.iter().map(|entry| format!("{:>12}  {}", entry.meta.size, entry.meta.path)).collect();
    let text = if lines.is_empty() { "there are no files".to_owned() } else { lines.join("\n") };
    session.output.result(&rows, text);
    Ok(())
}

pub(super) async fn remove(session: &Session, which: &Which, paths: Vec<Path>, terms: &Terms) -> Result<(), Failure> {
    let volume = which.open(session).await?;
    let mut changes: BTreeMap<Name, Vec<Change>> = BTreeMap::new();
    for path in &paths {
        let (entry, key) = found(session, which, &volume, path, terms).await?;
        debug_assert_eq!(entry.leaf.tag, leaf::tag(key.tags(), path));
        changes.entry(path.partition()).or_default().push(Change::Remove(entry.leaf.tag));
    }
    let committed = commit(session, which, &changes, terms).await?;
    session
        .output
        .result(&json!({ "removed": paths.len(), "commits": committed }), format_args!("{} removed", counted(paths.len(), "file")));
    Ok(())
}

pub(super) async fn demand(
    session: &Session,
    which: &Which,
    path: &Path,
    (slot, start, length): (u8, u64, Option<u64>),
    terms: &Terms,
) -> Result<(), Failure> {
    let volume = which.open(session).await?;
    let key = keys::standing(session, which, &volume, &path.partition(), terms).await?;
    let (leaf, route) = volume.proof_of(path, &key).await.map_err(storage_failure)?;
    let length = length.unwrap_or(leaf.shard_bytes.saturating_sub(start).min(DEMAND_BYTES));
    let argument = json!({
        "volume": volume.id().to_string(),
        "partition": path.partition().partition().to_string(),
        "slot": slot,
        "leaf": hex(&leaf.encode()),
        "route": hex(&route),
        "start": start,
        "length": length,
        "capability": which.capability.map(|id| hex(&id.0)),
    });
    let bond = Amount(session.client.params().await?.volumes.demand_bond);
    let call = instruction(actors::RELAYS, "demand", &argument, bond)?;
    let sent = send::send(&session.client, &session.key()?, call, &Terms { no_wait: false, ..terms.clone() }).await?;
    let (demand, until) = (super::event(&sent, "demand.made", "demand"), super::event(&sent, "demand.made", "until"));
    let text = match (demand.as_ref().and_then(Value::as_str), &until) {
        (Some(demand), Some(until)) => format!("demand {demand}: the relay of slot {slot} has to answer until height {until}"),
        _ => format!("Transaction hash: {}", sent.tx_hash),
    };
    session.output.result(&json!({ "demand": demand, "until": until, "tx_hash": sent.tx_hash }), text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder's files keep their places; links are not followed, and names that no volume takes are refused.
    #[test]
    fn a_folder_has_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b");
        std::fs::create_dir_all(&deep).expect("it is made");
        std::fs::write(deep.join("c.txt"), "c").expect("it is written");
        std::fs::write(folder.path().join("d"), "d").expect("it is written");
        std::os::unix::fs::symlink("/etc/hostname", folder.path().join("link")).expect("it is made");
        let paths = |to: &str| -> Vec<String> {
            items(folder.path(), to).map(|(items, _)| items.iter().map(|item| item.to.as_str().to_owned()).collect()).unwrap_or_default()
        };
        let (_, left_out) = items(folder.path(), "notes/").unwrap_or_default();
        assert_eq!(left_out, [folder.path().join("link")]);
        assert_eq!(paths("notes/"), ["notes/a/b/c.txt", "notes/d"]);
        assert_eq!(paths("notes/x"), ["notes/x/a/b/c.txt", "notes/x/d"]);
        let file = |to: &str| items(&deep.join("c.txt"), to).map(|(items, _)| items[0].to.as_str().to_owned()).ok();
        assert_eq!(
            ["notes/", "notes/e", "notes", "/"].map(file),
            [Some("notes/c.txt".into()), Some("notes/e".into()), Some("notes/c.txt".into()), None]
        );
        let socket = folder.path().join("socket");
        let _listens = std::os::unix::net::UnixListener::bind(&socket).expect("it is made");
        assert!(items(&socket, "notes/").is_err(), "it has no content that ends");
        assert_eq!(["c.txt", "c.txt/"].map(file), [None, Some("c.txt/c.txt".into())], "a partition of the file's name is a mistake");
        std::fs::write(folder.path().join("ä"), "").expect("it is written");
        assert!(items(folder.path(), "notes/").is_err());
        assert!(lies_in("notes/a/b", "notes/a") && lies_in("notes/a", "notes/") && !lies_in("notes/ab", "notes/a"));
    }
}
