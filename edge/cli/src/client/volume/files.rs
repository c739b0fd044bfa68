//! Putting, getting, listing and removing files.

use super::journal::Journal;
use super::local::{self, Chosen, Item, Refused};
use super::part::{self, Part};
use super::progress::Progress;
use super::rights::Use;
use super::{MERGES, PAUSE, Which, act_encoded, hex, keys, storage_failure, upload};
use crate::client::{labels, labels::Labels, method::instruction, session::Session};
use crate::send::{self, Terms};
use commonware_codec::Encode as _;
use cowboy_console::{
    amount::{self, counted},
    failure::Failure,
};
use cowboy_system::volumes::types::Keys;
use cowboy_types::units::Amount;
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, actors, error};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Change, Clash, Entry, Volume, VolumeError};
use cowboy_volumes::relay::DEMAND_BYTES;
use cowboy_volumes::{BlobRef, Name, Path, leaf};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path as Local;

/// What is to be committed to a partition.
pub(super) struct Planned {
    /// What its files were put with.
    pub(super) key: PartitionKey,
    /// The root beside which they were admitted.
    pub(super) seen: Hash,
    pub(super) changes: Vec<Change>,
}

/// Has files admitted to a partition, without those that cannot be there beside others, which are refused. Answers the root beside which the rest is.
pub(super) async fn admit(
    volume: &Volume,
    (partition, key): (&Name, &PartitionKey),
    items: &mut Vec<&Item>,
    removed: &[Fixed<32>],
    refused: &mut Vec<Refused>,
) -> Result<Hash, Failure> {
    loop {
        let seen = volume.root(partition).await.map_err(storage_failure)?;
        let files: Vec<(&Path, u64)> = items.iter().map(|item| (&item.to, item.size)).collect();
        let clashes = match volume.admit_changes(partition, key, &files, removed).await {
            Ok(_) => return Ok(seen),
            Err(VolumeError::Clash(clashes)) => clashes,
            Err(error) => return Err(storage_failure(error)),
        };
        // Fewer are left each time.
        for Clash { path, other } in clashes {
            let reason = format!("{other} is there, and one would be a directory of the other");
            let own = items.iter().filter(|item| item.to.as_str() == path);
            refused.extend(own.map(|item| Refused { path: item.from.clone(), reason: reason.clone() }));
            items.retain(|item| item.to.as_str() != path);
        }
    }
}

pub(super) async fn put(session: &Session, which: &Which, source: &Local, to: &str, terms: &Terms) -> Result<(), Failure> {
    let Chosen { items, left_out, mut refused, presumed } = local::items(source, to)?;
    local::say_left_out(session.output, &left_out);
    let volume = which.open(session).await?;
    if let Some(partition) = &presumed
        && volume.partition(partition).await.map_err(storage_failure)?.is_none()
    {
        return Err(local::is_no_partition(partition, &items));
    }
    let mut partitions: BTreeMap<Name, Vec<&Item>> = BTreeMap::new();
    for item in &items {
        partitions.entry(item.to.partition()).or_default().push(item);
    }
    let mut admitted = Vec::with_capacity(partitions.len());
    for (partition, mut items) in partitions {
        let key = keys::partition(session, which, &volume, (&partition, Use::Write), terms).await?;
        let seen = admit(&volume, (&partition, &key), &mut items, &[], &mut refused).await?;
        if !items.is_empty() {
            admitted.push((partition, key, seen, items));
        }
    }
    local::say_refused(session.output, &refused);
    let all = || admitted.iter().flat_map(|(.., items)| items.iter());
    let (count, total) = (all().count(), all().fold(0, |sum: u64, item| sum.saturating_add(item.size)));
    let (mut planned, mut resumed) = (BTreeMap::new(), 0_usize);
    let mut progress = Progress::new(session.output, count, total);
    for (partition, key, seen, items) in admitted {
        let sent = upload::send(session, &volume, (&partition, &key), &items, &mut progress).await?;
        resumed = resumed.saturating_add(sent.resumed);
        planned.insert(partition, Planned { key, seen, changes: sent.changes });
    }
    let committed = commit(session, which, &planned, terms).await?;
    for partition in planned.keys() {
        labels::keep(session, &partition.partition(), partition.as_str());
    }
    let left_out: Vec<String> = left_out.iter().map(|path| path.display().to_string()).collect();
    let (bytes, rows) = (progress.done(), local::refused_rows(&refused));
    let said = match count {
        0 => format!("{} has no files to put: nothing is changed", source.display()),
        count => format!("{}, {}, committed{}", counted(count, "file"), counted(bytes, "byte"), paid(&committed)),
    };
    let document = json!({
        "files": count, "bytes": bytes, "resumed": resumed, "fee": fee(&committed), "commits": committed, "left_out": left_out,
        "refused": rows,
    });
    session.output.result(&document, said);
    local::unless_refused(&refused)
}

/// Why a commit is tried again: who was first, where its refusal has this code.
pub(super) fn was_second(code: u16) -> Option<&'static str> {
    if code == error::COMMIT_CONFLICT.code {
        return Some("somebody else committed");
    }
    let of_nonces = [error::REPLACEMENT_UNDERPRICED, error::WRONG_NONCE, error::NONCE_GAP];
    of_nonces.iter().any(|error| error.code == code).then_some("another transaction of the account is under way")
}

/// Commits changes, partition by partition. Where somebody else was first, the changes are merged into what stands now.
pub(super) async fn commit(
    session: &Session,
    which: &Which,
    planned: &BTreeMap<Name, Planned>,
    terms: &Terms,
) -> Result<Vec<Value>, Failure> {
    let mut committed = Vec::new();
    for (partition, Planned { key, seen, changes }) in planned {
        for merge in 0..MERGES {
            // As the chain has it now: relays may have changed meanwhile.
            let volume = which.open(session).await?;
            let forget = || {
                let journal = Journal::of(session, &volume, partition);
                let put = changes.iter().filter_map(|change| if let Change::Put(leaf) = change { Some(leaf) } else { None });
                put.for_each(|leaf| journal.forget(&leaf.tag));
            };
            let Some(commit) = volume.commit_beside(partition, key, changes, *seen).await.map_err(storage_failure)? else {
                forget();
                break;
            };
            match act_encoded(session, "commit", &commit.argument, terms).await {
                Ok(sent) => {
                    forget();
                    let fee = sent.receipt.as_ref().map(|receipt| receipt.fee.total);
                    committed.push(json!({ "partition": partition.as_str(), "tx_hash": sent.tx_hash, "fee": fee }));
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

/// What the commits cost in fees, in base units.
pub(super) fn fee(commits: &[Value]) -> u64 {
    commits.iter().fold(0, |sum: u64, commit| sum.saturating_add(commit["fee"].as_u64().unwrap_or(0)))
}

/// The same in words, behind what was done; nothing where nothing was committed.
pub(super) fn paid(commits: &[Value]) -> String {
    if commits.is_empty() { String::new() } else { format!(", for a fee of {}", amount::cby(fee(commits))) }
}

/// A file, with the key that opened it.
async fn found(
    session: &Session,
    which: &Which,
    volume: &Volume,
    (path, what): (&Path, Use),
    terms: &Terms,
) -> Result<(Entry, PartitionKey), Failure> {
    let key = keys::standing(session, which, volume, (&path.partition(), what), terms).await?;
    let entry = volume.find(path, &key).await.map_err(storage_failure)?;
    let entry = entry.ok_or_else(|| storage_failure(VolumeError::NoFile(path.as_str().to_owned())))?;
    Ok((entry, key))
}

pub(super) async fn get(session: &Session, volume: &Volume, entry: &Entry, key: &PartitionKey, to: &Local) -> Result<(), Failure> {
    if to.as_os_str() == "-" {
        return volume.get(entry, key, &mut tokio::io::stdout()).await.map_err(storage_failure);
    }
    local::check_place(to)?;
    part::unless_stopped(write(volume, entry, key, to, &mut Progress::new(session.output, 1, entry.meta.size))).await?;
    let path = &*entry.meta.path;
    let document = json!({ "path": path, "bytes": entry.meta.size, "hash": entry.meta.hash.to_string(), "file": to });
    session.output.result(&document, format_args!("{path}: {} in {}", counted(entry.meta.size, "byte"), to.display()));
    Ok(())
}

/// Writes the content of a file of the volume to a local one, see [`part::unless_stopped`].
pub(super) async fn write(volume: &Volume, entry: &Entry, key: &PartitionKey, to: &Local, progress: &mut Progress) -> Result<(), Failure> {
    progress.next(&entry.meta.path);
    let (part, file) = Part::create(to)?;
    let mut file = progress.counted(tokio::fs::File::from_std(file));
    volume.get(entry, key, &mut file).await.map_err(storage_failure)?;
    file.into_inner().sync_all().await.map_err(Failure::file(part.path()))?;
    part.keep(to)
}

/// Whether a path lies in a directory.
pub(super) fn lies_in(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

pub(super) async fn list(session: &Session, which: &Which, within: Option<&str>, terms: &Terms) -> Result<(), Failure> {
    let volume = which.open(session).await?;
    let Some(within) = within else {
        // Names of partitions stand nowhere on the chain.
        let (labels, data) = (Labels::load(&session.project), u64::from(volume.record().code.data));
        let row = |(partition, bytes): (String, u64)| {
            let name = labels.named(&partition);
            json!({ "partition": partition, "name": name, "bytes": bytes.saturating_mul(data) })
        };
        let partitions = volume.record().partitions.iter().map(|listed| (listed.partition.to_string(), listed.bytes));
        let rows: Vec<Value> = partitions.map(row).collect();
        let line = |row: &Value| {
            let partition = row["partition"].as_str().unwrap_or_default();
            format!("{:>12}  partition {partition}{}", row["bytes"].to_string(), labels.shown(partition))
        };
        let lines: Vec<String> = rows.iter().map(line).collect();
        let text = if lines.is_empty() {
            "there are no files".to_owned()
        } else {
            let rows = lines.join("\n");
            format!(
                "{rows}\n(`ls VOLUME notes` lists the files of notes; the chain has hashes of names only, and this folder the names that it wrote)"
            )
        };
        session.output.result(&rows, text);
        return Ok(());
    };
    let first = within.split('/').next().unwrap_or_default();
    let partition = Name::new(first).ok_or_else(|| Failure::argument(format!("{first:?} is not a partition"), "name one, like notes"))?;
    let key = keys::standing(session, which, &volume, (&partition, Use::List), terms).await?;
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

pub(super) async fn refer(session: &Session, which: &Which, path: &Path, terms: &Terms) -> Result<(), Failure> {
    let volume = which.open(session).await?;
    let (entry, _) = found(session, which, &volume, (path, Use::Read), terms).await?;
    let (hash, size) = (entry.meta.hash, entry.meta.size);
    let reference = hex(&BlobRef::new(volume.id(), volume.record().keys == Keys::Public, hash, size).to_bytes());
    let text = format!("{reference}\nhash {hash}, {}", counted(size, "byte"));
    session.output.result(&json!({ "ref": reference, "hash": hash.to_string(), "size": size }), text);
    Ok(())
}

pub(super) async fn remove(session: &Session, which: &Which, paths: Vec<Path>, terms: &Terms) -> Result<(), Failure> {
    let volume = which.open(session).await?;
    let mut planned: BTreeMap<Name, Planned> = BTreeMap::new();
    let mut progress = Progress::new(session.output, paths.len(), 0);
    for path in &paths {
        progress.next(path.as_str());
        let (entry, key) = found(session, which, &volume, (path, Use::Remove), terms).await?;
        debug_assert_eq!(entry.leaf.tag, leaf::tag(key.tags(), path));
        // Nothing is put, so it does not matter beside what.
        let of = planned.entry(path.partition()).or_insert_with(|| Planned { key, seen: Hash::ZERO, changes: Vec::new() });
        of.changes.push(Change::Remove(entry.leaf.tag));
    }
    let committed = commit(session, which, &planned, terms).await?;
    session.output.result(
        &json!({ "removed": paths.len(), "fee": fee(&committed), "commits": committed }),
        format_args!("{} removed{}", counted(paths.len(), "file"), paid(&committed)),
    );
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
    let key = keys::standing(session, which, &volume, (&path.partition(), Use::Read), terms).await?;
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

    #[test]
    fn directories_have_files() {
        assert!(lies_in("notes/a/b", "notes/a") && lies_in("notes/a", "notes/") && !lies_in("notes/ab", "notes/a"));
    }

    /// Each commit is a transaction with a fee of its own.
    #[test]
    fn what_commits_cost_is_said() {
        let commit = |fee: Option<u64>| json!({ "partition": "notes", "tx_hash": "0x", "fee": fee });
        assert_eq!(paid(&[commit(Some(1_000_000_000)), commit(None), commit(Some(500_000_000))]), ", for a fee of 1.5 CBY");
        assert_eq!(paid(&[]), "", "nothing was committed");
    }
}
