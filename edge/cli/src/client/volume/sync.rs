//! `cowboy volume sync`: a directory of a volume gets what a folder has, or a folder what a directory has.

use super::files::Planned;
use super::local::{self, Chosen, Found, Item, Refused};
use super::progress::Progress;
use super::rights::{self, Use};
use super::{Which, files, folder, keys, part, storage_failure, upload};
use crate::client::{labels, session::Session};
use crate::send::Terms;
use cowboy_console::{amount::counted, failure::Failure};
use cowboy_types::Hash;
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Change, Entry, Listing, Volume, VolumeError};
use cowboy_volumes::{Name, Path};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path as Local, PathBuf};

/// How far it goes.
#[derive(Clone, Copy)]
pub(super) struct Options {
    /// What the source lacks is removed.
    pub(super) delete: bool,
    /// What would be done is printed, and nothing is done.
    pub(super) dry_run: bool,
}

/// What was done, or would be.
#[derive(Default)]
struct Done {
    direction: &'static str,
    /// Paths in the volume, with the lengths of their files.
    copied: Vec<(String, u64)>,
    /// Paths in the volume, or of local files.
    removed: Vec<String>,
    unchanged: usize,
    /// Files that the relays had already.
    resumed: usize,
    commits: Vec<Value>,
    left_out: Vec<PathBuf>,
    refused: Vec<Refused>,
}

impl Done {
    fn bytes(&self) -> u64 {
        self.copied.iter().fold(0, |sum: u64, (_, size)| sum.saturating_add(*size))
    }

    fn text(&self, options: Options) -> String {
        let (copied, removed) = (counted(self.copied.len(), "file"), counted(self.removed.len(), "file"));
        let paid = files::paid(&self.commits);
        let sum = format!("{copied} ({}) copied, {removed} removed, {} unchanged{paid}", counted(self.bytes(), "byte"), self.unchanged);
        if !options.dry_run {
            return sum;
        }
        let copied = self.copied.iter().map(|(path, size)| format!("copy    {path} ({})\n", counted(size, "byte")));
        let removed = self.removed.iter().map(|path| format!("remove  {path}\n"));
        let lines: String = copied.chain(removed).collect();
        format!("{lines}{sum}: nothing is done yet, because of --dry-run")
    }

    fn print(&self, session: &Session, options: Options) {
        let copied: Vec<Value> = self.copied.iter().map(|(path, size)| json!({ "path": path, "bytes": size })).collect();
        let document = json!({
            "direction": self.direction, "dry_run": options.dry_run, "copied": copied, "removed": self.removed, "bytes": self.bytes(),
            "unchanged": self.unchanged, "resumed": self.resumed, "fee": files::fee(&self.commits), "commits": self.commits,
            "left_out": self.left_out, "refused": local::refused_rows(&self.refused),
        });
        session.output.result(&document, self.text(options));
    }
}

/// The partition of a directory, and the directory without / at its end.
fn directory(text: &str) -> Result<(Name, &str), Failure> {
    let directory = text.trim_end_matches('/');
    let first = directory.split('/').next().unwrap_or_default();
    let name = Name::new(first).filter(|_| directory == first || Path::new(directory).is_some());
    let wrong =
        || Failure::argument(format!("{text:?} is not a directory of a volume"), "give a partition, or a directory in it: notes/2026");
    Ok((name.ok_or_else(wrong)?, directory))
}

/// The files of a directory, by path. One that a writer put at another place than its path says is none of them: nobody would find it there.
fn entries<'a>(listing: &'a Listing, key: &PartitionKey, directory: &str) -> BTreeMap<&'a str, &'a Entry> {
    let own = listing.entries.iter().filter(|entry| files::lies_in(&entry.meta.path, directory) && entry.is_placed(key));
    own.map(|entry| (&*entry.meta.path, entry)).collect()
}

/// Whether a local file has the content of one of the volume.
async fn is_same(entry: &Entry, size: u64, file: &Local) -> Result<bool, Failure> {
    Ok(entry.meta.size == size && local::hash(file).await? == entry.meta.hash)
}

/// Makes what the second has what the first has: one of them is a folder of this computer, and the other a directory of the volume.
pub(super) async fn run(
    session: &Session,
    which: &Which,
    (from, to): (&str, &str),
    options: Options,
    terms: &Terms,
) -> Result<(), Failure> {
    let done = match (local::names_folder(from), local::names_folder(to)) {
        (true, false) => up(session, which, (Local::new(from), to), options, terms).await?,
        (false, true) => down(session, which, (from, Local::new(to)), options, terms).await?,
        _ => {
            return Err(Failure::argument(
                format!("one of {from:?} and {to:?} has to be a folder of this computer, and the other a directory of the volume"),
                "begin the folder's path with ./ or /, like: cowboy volume sync memory ./notes notes/",
            ));
        }
    };
    local::say_left_out(session.output, &done.left_out);
    local::say_refused(session.output, &done.refused);
    done.print(session, options);
    if options.dry_run { Ok(()) } else { local::unless_refused(&done.refused) }
}

/// The key of a partition for a use. A dry run pays for none.
async fn key_of(
    session: &Session,
    which: &Which,
    volume: &Volume,
    (partition, what): (&Name, Use),
    (options, terms): (Options, &Terms),
) -> Result<PartitionKey, Failure> {
    if options.dry_run {
        return keys::at_hand(session, which, volume, partition).await;
    }
    keys::partition(session, which, volume, (partition, what), terms).await
}

/// Which files of a directory go, where a folder has others: those that it lacks. What stays out of it lacks nothing, and neither does what is refused.
fn lacking<'a>(
    there: &BTreeMap<&'a str, &'a Entry>,
    items: &[Item],
    (folder, directory): (&Local, &str),
    (left_out, refused): (&[PathBuf], &[Refused]),
) -> Vec<&'a Entry> {
    let own: BTreeSet<&str> = items.iter().map(|item| item.to.as_str()).collect();
    let stays = left_out.iter().chain(refused.iter().map(|refused| &refused.path));
    let within = stays.filter_map(|path| path.strip_prefix(folder).ok());
    let others: Vec<String> = within.map(|path| format!("{directory}/{}", path.to_string_lossy())).collect();
    let is_out = |path: &str| others.iter().any(|other| path == other || files::lies_in(path, other));
    there.iter().filter(|(path, _)| !own.contains(*path) && !is_out(path)).map(|(_, entry)| *entry).collect()
}

/// A directory gets what a folder has, in one commit.
async fn up(session: &Session, which: &Which, (folder, to): (&Local, &str), options: Options, terms: &Terms) -> Result<Done, Failure> {
    let (partition, directory) = directory(to)?;
    if !folder.metadata().map_err(Failure::file(folder))?.is_dir() {
        return Err(Failure::argument(format!("{} is not a folder", folder.display()), "put a single file with `cowboy volume put`"));
    }
    let Chosen { items, left_out, mut refused, .. } = local::items(folder, directory)?;
    let volume = which.open(session).await?;
    let is_there = volume.partition(&partition).await.map_err(storage_failure)?.is_some();
    // Nothing is paid for the key of a partition that has nothing and gets nothing.
    if !is_there && (options.dry_run || items.is_empty()) {
        let copied = items.iter().map(|item| (item.to.as_str().to_owned(), item.size)).collect();
        return Ok(Done { direction: "up", copied, left_out, refused, ..Done::default() });
    }
    let key = key_of(session, which, &volume, (&partition, Use::Write), (options, terms)).await?;
    let listing = volume.list(&partition, &key, u64::MAX).await.map_err(storage_failure)?;
    let there = entries(&listing, &key, directory);
    let (mut copied, mut unchanged) = (Vec::new(), 0);
    for item in &items {
        let is_same = match there.get(item.to.as_str()) {
            Some(entry) => is_same(entry, item.size, &item.from).await?,
            None => false,
        };
        if is_same { unchanged += 1 } else { copied.push(item) }
    }
    let removed = if options.delete { lacking(&there, &items, (folder, directory), (&left_out, &refused)) } else { Vec::new() };
    // A folder without a file is more often a disk that is not mounted than one whose files are all to go.
    if items.is_empty() && !removed.is_empty() {
        let count = counted(removed.len(), "file");
        return Err(Failure::refused(
            format!("{} has no files, and --delete would remove {count} of {directory}", folder.display()),
            "leave --delete out, or remove them with `cowboy volume rm`",
        ));
    }
    if which.capability.is_some() && !removed.is_empty() {
        return Err(rights::of_owner("delete files of", session.key()?.address(), volume.record().owner));
    }
    let tags: Vec<_> = removed.iter().map(|entry| entry.leaf.tag).collect();
    let seen = match copied.is_empty() && tags.is_empty() {
        true => Hash::ZERO,
        false => files::admit(&volume, (&partition, &key), &mut copied, &tags, &mut refused).await?,
    };
    let mut done = Done {
        direction: "up",
        copied: copied.iter().map(|item| (item.to.as_str().to_owned(), item.size)).collect(),
        removed: removed.iter().map(|entry| entry.meta.path.to_string()).collect(),
        unchanged,
        left_out,
        refused,
        ..Done::default()
    };
    if options.dry_run || copied.is_empty() && removed.is_empty() {
        return Ok(done);
    }
    let mut progress = Progress::new(session.output, copied.len(), done.bytes());
    let sent = upload::send(session, &volume, (&partition, &key), &copied, &mut progress).await?;
    done.resumed = sent.resumed;
    let changes = sent.changes.into_iter().chain(tags.into_iter().map(Change::Remove)).collect();
    let planned = BTreeMap::from([(partition.clone(), Planned { key, seen, changes })]);
    done.commits = files::commit(session, which, &planned, terms).await?;
    labels::keep(session, &partition.partition(), partition.as_str());
    Ok(done)
}

/// What a folder is to get.
struct Plan<'a> {
    copied: Vec<(PathBuf, &'a Entry)>,
    removed: Vec<PathBuf>,
    unchanged: usize,
    left_out: Vec<PathBuf>,
    refused: Vec<Refused>,
}

/// What is in the way of a file in a folder, where it stays: a file that would have to be a folder, or a folder that would have to be a file. With
/// `delete` it makes room, as far as it has nothing that is never removed.
fn in_the_way(found: &Found, within: &Local, delete: bool) -> Option<String> {
    if let Some(above) = within.ancestors().skip(1).find(|part| found.files.contains_key(*part)) {
        return (!delete).then(|| format!("{} is a file here, and stays without --delete", above.display()));
    }
    if !found.folders.contains(within) {
        return None;
    }
    if found.others.iter().any(|other| other.starts_with(within)) {
        return Some("it is a folder here, with what is never removed: links, devices, or keys".to_owned());
    }
    let has_files = || found.files.keys().any(|file| file.starts_with(within));
    (!delete && has_files()).then(|| "it is a folder with files here, and they stay without --delete".to_owned())
}

/// What a folder that has this gets from a directory that has that. What is no file, and what lies behind it, stays as it is.
async fn plan<'a>(there: BTreeMap<PathBuf, &'a Entry>, found: Found, folder: &Local, delete: bool) -> Result<Plan<'a>, Failure> {
    let is_extra = |within: &&PathBuf| delete && !there.contains_key(*within);
    let removed = found.files.keys().filter(is_extra).cloned().collect();
    let mut plan = Plan { copied: Vec::new(), removed, unchanged: 0, left_out: Vec::new(), refused: Vec::new() };
    for (within, entry) in there {
        let place = folder.join(&within);
        if within.ancestors().any(|part| found.others.contains(part)) {
            plan.left_out.push(place);
            continue;
        }
        if let Some(reason) = in_the_way(&found, &within, delete) {
            plan.refused.push(Refused { path: place, reason });
            continue;
        }
        let is_same = match found.files.get(&within) {
            Some(size) => is_same(entry, *size, &place).await?,
            None => false,
        };
        if is_same { plan.unchanged += 1 } else { plan.copied.push((within, entry)) }
    }
    Ok(plan)
}

/// What a folder has; nothing where it is missing.
fn found(folder: &Local) -> Result<Found, Failure> {
    local::refuse_keys(folder)?;
    match folder.metadata() {
        Ok(known) if known.is_dir() => local::walk(folder),
        Ok(_) => Err(Failure::argument(format!("{} is not a folder", folder.display()), "get a single file with `cowboy volume get`")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::default()),
        Err(error) => Err(Failure::file(folder)(error)),
    }
}

/// A folder gets what a directory has.
async fn down(session: &Session, which: &Which, (from, folder): (&str, &Local), options: Options, terms: &Terms) -> Result<Done, Failure> {
    let (partition, directory) = directory(from)?;
    let volume = which.open(session).await?;
    // Nothing is paid for the key of a partition that is not there.
    if volume.partition(&partition).await.map_err(storage_failure)?.is_none() {
        return Err(storage_failure(VolumeError::NoPartition(partition.as_str().to_owned())));
    }
    let key = key_of(session, which, &volume, (&partition, Use::Read), (options, terms)).await?;
    let mut listing = volume.list(&partition, &key, u64::MAX).await.map_err(storage_failure)?;
    let bad = folder::bad(&mut listing, (&partition, &key), directory);
    if options.delete && listing.closed > 0 {
        let count = counted(listing.closed, "file");
        return Err(Failure::refused(
            format!("this key does not open {count}, so it cannot be seen which local ones to keep"),
            "leave --delete out",
        ));
    }
    let below = |(path, entry)| Some((folder::place(path, directory, Local::new(""))?, entry));
    let there: BTreeMap<PathBuf, &Entry> = entries(&listing, &key, directory).into_iter().filter_map(below).collect();
    // A directory that is misspelt has no files, and is no reason to remove any.
    if there.is_empty() {
        return Err(storage_failure(VolumeError::NoFile(directory.to_owned())));
    }
    let Plan { copied, removed, unchanged, left_out, refused } = plan(there, found(folder)?, folder, options.delete).await?;
    let done = Done {
        direction: "down",
        copied: copied.iter().map(|(_, entry)| (entry.meta.path.to_string(), entry.meta.size)).collect(),
        removed: removed.iter().map(|within| folder.join(within).display().to_string()).collect(),
        unchanged,
        left_out,
        refused: bad.into_iter().chain(refused).collect(),
        ..Done::default()
    };
    if !options.dry_run {
        // Before anything is written: where a file system ignores case, a name that goes may be one that comes.
        removed.iter().try_for_each(|within| local::remove(folder, within))?;
        let mut progress = Progress::new(session.output, copied.len(), done.bytes());
        part::unless_stopped(fetch(&volume, &key, folder, &copied, &mut progress)).await?;
    }
    Ok(done)
}

async fn fetch(
    volume: &Volume,
    key: &PartitionKey,
    folder: &Local,
    copied: &[(PathBuf, &Entry)],
    progress: &mut Progress,
) -> Result<(), Failure> {
    for (within, entry) in copied {
        let place = folder.join(within);
        if place.symlink_metadata().is_ok_and(|known| known.is_dir()) && !local::remove_folders(folder, within)? {
            let what = format!("{} is a folder into which something was put meanwhile", place.display());
            return Err(Failure::refused(what, "give the command again"));
        }
        local::make_folders(folder, within)?;
        files::write(volume, entry, key, &place, progress).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::wire::Fixed;
    use cowboy_types::{Blob, List, Text};
    use cowboy_volume::segments::Meta;
    use cowboy_volumes::{Leaf, leaf};

    fn entry(path: &str, content: &str, key: &PartitionKey) -> Entry {
        let hash = futures::executor::block_on(cowboy_volume::content_hash(&mut content.as_bytes())).expect("it is read");
        let size = u64::try_from(content.len()).expect("short");
        let kind = Text::new("text/plain").expect("short");
        let leaf = Leaf {
            tag: leaf::tag(key.tags(), &Path::new(path).expect("a path")),
            write_id: Fixed([1; 16]),
            ciphertext_bytes: size,
            shard_bytes: 64,
            shards: List::default(),
            meta: Blob::default(),
        };
        Entry { meta: Meta { path: Text::new(path).expect("short"), size, hash, written_ms: 0, kind }, leaf }
    }

    /// Which of the two is the folder does not depend on what there is on the disk.
    #[test]
    fn a_folder_begins_as_no_directory_does() {
        let local = ["./notes", "../notes", "/tmp/notes", ".", "..", "./"];
        let other = ["notes", "notes/", "notes/2026", ".notes", "..notes/x", ""];
        assert!(local.into_iter().all(local::names_folder) && !other.into_iter().any(local::names_folder));
        let directories = ["notes", "notes/", "notes/2026/", "notes//x", "notes/..", "", "/"];
        let found = directories.map(|text| directory(text).ok().map(|(name, directory)| (name.as_str().to_owned(), directory)));
        let notes = |directory: &'static str| Some(("notes".to_owned(), directory));
        assert_eq!(found, [notes("notes"), notes("notes"), notes("notes/2026"), None, None, None, None]);
    }

    /// What a writer put elsewhere than its path says is not taken for the file of that path, and directories beside the one that is meant stay out.
    #[test]
    fn a_directory_has_its_own_files() {
        let key = PartitionKey::public();
        let mut moved = entry("notes/a/moved", "m", &key);
        moved.leaf.tag = Fixed([9; 32]);
        let listing = Listing { entries: vec![entry("notes/a/x", "x", &key), entry("notes/ab", "y", &key), moved], closed: 0 };
        assert_eq!(entries(&listing, &key, "notes/a").into_keys().collect::<Vec<_>>(), ["notes/a/x"]);
        assert_eq!(entries(&listing, &key, "notes").len(), 2);
    }

    /// Of a directory those files go that the folder lacks; where it has a link or a device instead, nothing goes.
    #[test]
    fn what_a_folder_lacks_goes() {
        let key = PartitionKey::public();
        let listing = Listing { entries: ["notes/a", "notes/gone", "notes/link/x"].map(|path| entry(path, "c", &key)).into(), closed: 0 };
        let there = entries(&listing, &key, "notes");
        let item = |path: &str| Item { from: PathBuf::new(), size: 1, to: Path::new(path).expect("a path") };
        let folder = Local::new("/f");
        let (items, links) = ([item("notes/a"), item("notes/new")], [PathBuf::from("/f/link")]);
        let gone = lacking(&there, &items, (folder, "notes"), (&links, &[]));
        assert_eq!(gone.iter().map(|entry| &*entry.meta.path).collect::<Vec<_>>(), ["notes/gone"]);
        assert_eq!(lacking(&there, &[], (folder, "notes"), (&[], &[])).len(), 3);
        // A file that grew beyond what volumes take is there, and its former content stays.
        let refused = Refused { path: "/f/gone".into(), reason: "a file has at most 1 GiB".to_owned() };
        assert!(lacking(&there, &items, (folder, "notes"), (&links, &[refused])).is_empty());
    }

    /// A folder gets what is new or changed; nothing of it goes unless that is said, and what is no file stays, with all that would lie behind it.
    #[tokio::test]
    async fn a_folder_gets_what_it_lacks() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in [("same", "s"), ("changed", "1"), ("longer", "12"), ("extra", "e")] {
            std::fs::write(folder.path().join(name), content).expect("it is written");
        }
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).expect("it is made");
        let key = PartitionKey::public();
        let files = [("same", "s"), ("changed", "2"), ("longer", "1"), ("link/hostname", "h"), ("new/x", "x")];
        let entries: Vec<Entry> = files.iter().map(|(path, content)| entry(&format!("notes/{path}"), content, &key)).collect();
        let there = || files.iter().zip(&entries).map(|((path, _), entry)| (PathBuf::from(path), entry)).collect::<BTreeMap<_, _>>();
        for (delete, removed) in [(false, vec![]), (true, vec![PathBuf::from("extra")])] {
            let plan = plan(there(), found(folder.path()).expect("it is read"), folder.path(), delete).await.expect("it is read");
            let copied: Vec<&Local> = plan.copied.iter().map(|(within, _)| within.as_path()).collect();
            assert_eq!(copied, ["changed", "longer", "new/x"].map(Local::new));
            assert_eq!((plan.unchanged, plan.removed, plan.left_out), (1, removed, vec![folder.path().join("link/hostname")]));
        }
        // A file takes the place of a folder, and a folder that of a file, where what is there may go; empty folders are in nobody's way.
        for name in ["dir/a", "dir/b", "held", "empty/e"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("it is made");
        }
        std::fs::write(folder.path().join("dir/a/file"), "f").expect("it is written");
        std::os::unix::fs::symlink("/etc", folder.path().join("held/link")).expect("it is made");
        let changed: Vec<Entry> = ["dir", "extra/x", "held", "empty"].map(|path| entry(&format!("notes/{path}"), "c", &key)).into();
        let there = || changed.iter().map(|entry| (PathBuf::from(&entry.meta.path["notes/".len()..]), entry)).collect::<BTreeMap<_, _>>();
        for (delete, copied, refused) in
            [(false, vec!["empty"], vec!["dir", "extra/x", "held"]), (true, vec!["dir", "empty", "extra/x"], vec!["held"])]
        {
            let plan = plan(there(), found(folder.path()).expect("it is read"), folder.path(), delete).await.expect("it is read");
            assert_eq!(
                plan.copied.iter().map(|(within, _)| within.as_path()).collect::<Vec<_>>(),
                copied.iter().map(Local::new).collect::<Vec<_>>()
            );
            let refused: Vec<PathBuf> = refused.iter().map(|name| folder.path().join(name)).collect();
            assert_eq!(plan.refused.into_iter().map(|refused| refused.path).collect::<Vec<_>>(), refused);
            assert_eq!(plan.removed.contains(&PathBuf::from("extra")) && plan.removed.contains(&PathBuf::from("dir/a/file")), delete);
        }
        assert!(found(&folder.path().join("missing")).expect("there is none").files.is_empty());
        assert!(found(&folder.path().join("same")).is_err());
    }

    #[test]
    fn a_dry_run_says_what_would_be_done() {
        let copied = vec![("notes/a".to_owned(), 5)];
        let done = Done { copied, removed: vec!["notes/b".into()], unchanged: 2, ..Done::default() };
        let options = |dry_run| Options { delete: true, dry_run };
        assert_eq!(done.text(options(false)), "1 file (5 bytes) copied, 1 file removed, 2 unchanged");
        assert!(done.text(options(true)).starts_with("copy    notes/a (5 bytes)\nremove  notes/b\n1 file (5 bytes) copied"));
    }
}
