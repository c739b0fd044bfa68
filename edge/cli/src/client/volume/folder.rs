//! Getting a file, or all files of a folder.

use super::local::Refused;
use super::progress::Progress;
use super::rights::Use;
use super::{Which, files, keys, local, part, storage_failure};
use crate::client::session::Session;
use crate::send::Terms;
use cowboy_console::{amount::counted, failure::Failure};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Entry, Listing, Volume, VolumeError};
use cowboy_volumes::{Name, Path};
use serde_json::json;
use std::path::{Path as Local, PathBuf};

/// Writes the file of this path, or the files of the partition or directory, below `to`.
pub(super) async fn get(session: &Session, which: &Which, text: &str, to: &Local, terms: &Terms) -> Result<(), Failure> {
    let (volume, text) = (which.open(session).await?, text.trim_end_matches('/'));
    let first = text.split('/').next().unwrap_or_default();
    let wrong = || Failure::argument(format!("{text:?} is not a path of a volume"), "give a partition, or a path in it, like notes/a.txt");
    let partition = Name::new(first).ok_or_else(wrong)?;
    let path = Path::new(text);
    if path.is_none() && text != first {
        return Err(wrong());
    }
    let key = keys::standing(session, which, &volume, (&partition, Use::Read), terms).await?;
    if let Some(path) = &path
        && let Some(entry) = volume.find(path, &key).await.map_err(storage_failure)?
    {
        return files::get(session, &volume, &entry, &key, to).await;
    }
    let mut listing = volume.list(&partition, &key, u64::MAX).await.map_err(storage_failure)?;
    let refused = bad(&mut listing, (&partition, &key), text);
    local::say_refused(session.output, &refused);
    let below = listing.entries.iter().filter_map(|entry| Some((entry, place(&entry.meta.path, text, to)?)));
    let found: Vec<(&Entry, PathBuf)> = below.collect();
    if found.is_empty() {
        return Err(storage_failure(VolumeError::NoFile(text.to_owned())));
    }
    if to.as_os_str() == "-" {
        return Err(Failure::argument(format!("{text} is a folder, and stdout takes one file"), "name a folder to write it to"));
    }
    tree(session, &volume, &key, (text, to), &found, &refused).await?;
    local::unless_refused(&refused)
}

/// Takes the files of a directory out that no folder can have.
pub(super) fn bad(listing: &mut Listing, (partition, key): (&Name, &PartitionKey), directory: &str) -> Vec<Refused> {
    let taken = listing.take_bad(partition, key).into_iter().filter(|path| files::lies_in(path, directory));
    let reason = "no folder can have it: other files lie below its path, or its writer put it at another place";
    taken.map(|path| Refused { path: path.into(), reason: reason.to_owned() }).collect()
}

/// Where a file of a directory is written. Nothing where it lies elsewhere, has a path that no volume takes, or would be among a project's keys: a writer
/// of the volume chose it.
pub(super) fn place(path: &str, directory: &str, to: &Local) -> Option<PathBuf> {
    let path = Path::new(path)?;
    let rest = path.as_str().strip_prefix(directory)?.strip_prefix('/')?;
    Some(to.join(rest)).filter(|_| !local::leads_to_keys(Local::new(rest)))
}

async fn tree(
    session: &Session,
    volume: &Volume,
    key: &PartitionKey,
    (text, to): (&str, &Local),
    found: &[(&Entry, PathBuf)],
    refused: &[Refused],
) -> Result<(), Failure> {
    let bytes = found.iter().fold(0, |sum: u64, (entry, _)| sum.saturating_add(entry.meta.size));
    let (mut progress, mut written) = (Progress::new(session.output, found.len(), bytes), Vec::new());
    let fetching = async {
        for (entry, place) in found {
            if let Some(folder) = place.parent() {
                std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
            }
            files::write(volume, entry, key, place, &mut progress).await?;
            let row = json!({ "path": &*entry.meta.path, "bytes": entry.meta.size, "hash": entry.meta.hash.to_string(), "file": place });
            written.push(row);
        }
        Ok(())
    };
    part::unless_stopped(fetching).await?;
    let text = format!("{text}: {}, {}, in {}", counted(found.len(), "file"), counted(bytes, "byte"), to.display());
    let rows = local::refused_rows(refused);
    session.output.result(&json!({ "folder": to, "bytes": bytes, "files": written, "refused": rows }), text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file keeps its place in the folder, and none leaves it.
    #[test]
    fn files_stay_in_the_folder() {
        let rows = [
            ("notes/a.txt", "notes", Some("out/a.txt")),
            ("notes/2026/b", "notes", Some("out/2026/b")),
            ("notes/2026/b", "notes/2026", Some("out/b")),
            ("notes/2026b/c", "notes/2026", None),
            ("other/a", "notes", None),
            ("notes/../../x", "notes", None),
            ("notes//x", "notes", None),
            ("notes/.cowboy/key", "notes", None),
            ("notes/a/.Cowboy/config.json", "notes", None),
        ];
        for (path, directory, expected) in rows {
            assert_eq!(place(path, directory, Local::new("out")), expected.map(PathBuf::from), "{path} of {directory}");
        }
    }
}
