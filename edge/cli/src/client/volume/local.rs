//! Files of this computer that go into a volume, or come out of one. Links are not followed: they could lead anywhere.

use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_console::{amount::counted, failure::Failure, output::Output};
use cowboy_types::{Hash, Text};
use cowboy_volumes::code::OBJECT_BYTES;
use cowboy_volumes::{Name, Path};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path as Local, PathBuf};

/// What the name of a file ends with while it is fetched. No name of a volume has this, so it is in no other file's place.
const PART: &str = "~part";

/// Whether a text names a folder of this computer: it begins as no path in a volume does.
pub(super) fn names_folder(text: &str) -> bool {
    matches!(text, "." | "..") || ["/", "./", "../"].iter().any(|start| text.starts_with(start))
}

/// A local file, and where it goes.
pub(super) struct Item {
    pub(super) from: PathBuf,
    pub(super) size: u64,
    pub(super) to: Path,
}

/// A file that a command leaves where it is, while the others go: the command fails at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) path: PathBuf,
    pub(super) reason: String,
}

/// What a source has.
#[derive(Default)]
pub(super) struct Chosen {
    /// The files that go.
    pub(super) items: Vec<Item>,
    /// What is no file.
    pub(super) left_out: Vec<PathBuf>,
    /// Files that no volume takes.
    pub(super) refused: Vec<Refused>,
    /// The partition that a single file goes into only where it is there: its place has no /, and may be a mistake for the file's new name.
    pub(super) presumed: Option<Name>,
}

/// What lies below a folder, by the paths in it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files, with their lengths.
    pub(super) files: BTreeMap<PathBuf, u64>,
    /// Folders.
    pub(super) folders: BTreeSet<PathBuf>,
    /// What is neither a file nor a folder, what a command that was killed left of a file that it fetched, and folders with a project's keys.
    pub(super) others: BTreeSet<PathBuf>,
}

/// Where a file is written until it is whole: beside its place, so that nobody takes a part for the file.
pub(super) fn beside(to: &Local) -> PathBuf {
    let mut beside = to.as_os_str().to_owned();
    beside.push(PART);
    PathBuf::from(beside)
}

/// Whether a part of a path is the folder of a project's keys. What is in it never goes into a volume, never comes out of one, and is never removed. Some
/// file systems ignore case.
fn has_keys(part: &OsStr) -> bool {
    part.eq_ignore_ascii_case(CONFIG_DIRECTORY)
}

/// Whether a path leads into the folder of a project's keys.
pub(super) fn leads_to_keys(path: &Local) -> bool {
    path.iter().any(has_keys)
}

/// Refuses the folder of a project's keys, and what lies in it.
pub(super) fn refuse_keys(path: &Local) -> Result<(), Failure> {
    let full = path.canonicalize().or_else(|_| std::path::absolute(path)).map_err(Failure::file(path))?;
    if leads_to_keys(&full) {
        return Err(Failure::refused(
            format!("{} has keys of a project, which no volume is for", path.display()),
            "back up keys with `cowboyd keys backup`, or name another folder",
        ));
    }
    Ok(())
}

/// What lies below a folder.
pub(super) fn walk(folder: &Local) -> Result<Found, Failure> {
    let (mut found, mut folders) = (Found::default(), vec![PathBuf::new()]);
    while let Some(within) = folders.pop() {
        let place = folder.join(&within);
        for entry in std::fs::read_dir(&place).map_err(Failure::file(&place))? {
            let entry = entry.map_err(Failure::file(&place))?;
            // Of a link itself.
            let known = entry.metadata().map_err(Failure::file(entry.path()))?;
            let (name, within) = (entry.file_name(), within.join(entry.file_name()));
            if known.is_dir() && !has_keys(&name) {
                found.folders.insert(within.clone());
                folders.push(within);
            } else if known.is_file() && !name.to_string_lossy().ends_with(PART) {
                found.files.insert(within, known.len());
            } else {
                found.others.insert(within);
            }
        }
    }
    Ok(found)
}

/// The files below a folder, or the file, each with its path in the volume, and what stays out. One file of a folder that no volume takes stops no other.
pub(super) fn items(source: &Local, to: &str) -> Result<Chosen, Failure> {
    let path = |text: String| {
        Path::new(&text).ok_or_else(|| {
            Failure::argument(
                format!("{text:?} is not a path of a volume"),
                "names have letters, digits, _, . and -, and the first is a partition",
            )
        })
    };
    refuse_keys(source)?;
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
        let presumed = if to.contains('/') { None } else { Name::new(to) };
        let to = if to.ends_with('/') || !to.contains('/') { format!("{}/{last}", to.trim_end_matches('/')) } else { to.to_owned() };
        let items = vec![Item { from: source.to_owned(), size: known.len(), to: path(to)? }];
        return Ok(Chosen { items, presumed, ..Chosen::default() });
    }
    let directory = to.trim_end_matches('/');
    if Name::new(directory).is_none() {
        path(directory.to_owned())?;
    }
    let found = walk(source)?;
    let left_out = found.others.iter().map(|within| source.join(within)).collect();
    let mut chosen = Chosen { left_out, ..Chosen::default() };
    for (within, size) in found.files {
        let from = source.join(&within);
        let to = within.to_str().and_then(|within| Path::new(&format!("{directory}/{within}")));
        let refused = |reason: &str| Refused { path: from.clone(), reason: reason.to_owned() };
        match to {
            Some(_) if size > OBJECT_BYTES => chosen.refused.push(refused("a file has at most 1 GiB")),
            Some(to) => chosen.items.push(Item { from, size, to }),
            None => {
                chosen.refused.push(refused("parts of a path have 1 to 64 letters, digits, _, . and -, and all of it at most 512 bytes"))
            }
        }
    }
    chosen.items.sort_by(|one, other| one.to.cmp(&other.to));
    Ok(chosen)
}

/// The refusal of a partition that is not there and was named without /: a new partition has a key, which costs a fee.
pub(super) fn is_no_partition(partition: &Name, items: &[Item]) -> Failure {
    let (name, file) = (partition.as_str(), items.first().map_or("", |item| item.to.as_str()));
    Failure::argument(
        format!("the volume has no partition {name}"),
        format!("give {name}/ to make it, with the file {file}; or a path in a partition, like notes/{name}"),
    )
}

/// Refuses a place in which no file can be written, before anything is fetched for it.
pub(super) fn check_place(to: &Local) -> Result<(), Failure> {
    if to.is_dir() {
        return Err(Failure::refused(format!("{} is a folder", to.display()), "name the file to write, or - for stdout"));
    }
    match to.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Failure::refused(format!("{} is not a folder", folder.display()), "make it, or choose another path"))
        }
        _ => Ok(()),
    }
}

/// Files that were refused, as JSON has them.
pub(super) fn refused_rows(refused: &[Refused]) -> Vec<Value> {
    refused.iter().map(|refused| json!({ "path": refused.path.display().to_string(), "reason": refused.reason })).collect()
}

/// The end of a command that left files where they are: the others are done.
pub(super) fn unless_refused(refused: &[Refused]) -> Result<(), Failure> {
    let Some(Refused { path, reason }) = refused.first() else { return Ok(()) };
    let more = if refused.len() > 1 { format!("; and {} more", refused.len() - 1) } else { String::new() };
    let count = counted(refused.len(), "file");
    Err(Failure::refused(
        format!("{count} left in place: {}: {reason}{more}; everything else is done", path.display()),
        "rename it, remove it, or move away what is in its way, and give the command again",
    ))
}

/// Says of each file that stays where it is why.
pub(super) fn say_refused(output: Output, refused: &[Refused]) {
    for Refused { path, reason } in refused {
        output.progress(format_args!("{} stays where it is: {reason}", path.display()));
    }
}

/// What a local path is that stays out.
fn kind_left_out(path: &Local) -> &'static str {
    if path.file_name().is_some_and(has_keys) {
        return "it has the keys of a project";
    }
    match path.symlink_metadata() {
        Ok(known) if known.is_symlink() => "it is a link",
        Ok(known) if known.is_file() && path.to_string_lossy().ends_with(PART) => "it is a part of a file that was not fetched whole",
        Ok(known) if !known.is_file() && !known.is_dir() => "it is neither a file nor a folder",
        _ => "it lies behind a link, or what is no folder",
    }
}

/// Says what stays out, and why.
pub(super) fn say_left_out(output: Output, left_out: &[PathBuf]) {
    for path in left_out {
        output.progress(format_args!("{} is left out: {}", path.display(), kind_left_out(path)));
    }
}

/// What HTTP calls a file of this name.
pub(super) fn kind_of(path: &Path) -> Text<64> {
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

/// The hash of a file's content.
pub(super) async fn hash(file: &Local) -> Result<Hash, Failure> {
    let mut content = tokio::fs::File::open(file).await.map_err(Failure::file(file))?;
    cowboy_volume::content_hash(&mut content).await.map_err(Failure::file(file))
}

/// The folders between a folder and a file in it, the outermost first.
fn between(folder: &Local, within: &Local) -> Vec<PathBuf> {
    let mut place = folder.to_owned();
    let parts = within.parent().into_iter().flat_map(Local::components);
    parts
        .map(|part| {
            place.push(part);
            place.clone()
        })
        .collect()
}

/// Makes the folders of a file in a folder where they are missing. What is there and no folder is in the way, also a link to one.
pub(super) fn make_folders(folder: &Local, within: &Local) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    for place in between(folder, within) {
        match place.symlink_metadata() {
            Ok(known) if known.is_dir() => {}
            Ok(_) => return Err(Failure::refused(format!("{} is not a folder", place.display()), "move it away: links are not followed")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::fs::create_dir(&place).map_err(Failure::file(&place))?,
            Err(error) => return Err(Failure::file(&place)(error)),
        }
    }
    Ok(())
}

/// Removes a folder in a folder, with those in it, where none of them has anything else. True where it is gone.
pub(super) fn remove_folders(folder: &Local, within: &Local) -> Result<bool, Failure> {
    let place = folder.join(within);
    match place.symlink_metadata() {
        Ok(known) if known.is_dir() => {}
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(Failure::file(&place)(error)),
    }
    for entry in std::fs::read_dir(&place).map_err(Failure::file(&place))? {
        let name = entry.map_err(Failure::file(&place))?.file_name();
        if has_keys(&name) || !remove_folders(folder, &within.join(name))? {
            return Ok(false);
        }
    }
    std::fs::remove_dir(&place).map_err(Failure::file(&place))?;
    Ok(true)
}

/// Removes a file in a folder, unless it is not in there any more.
pub(super) fn remove(folder: &Local, within: &Local) -> Result<(), Failure> {
    let file = folder.join(within);
    let is_folder = |place: &PathBuf| place.symlink_metadata().is_ok_and(|known| known.is_dir());
    if !between(folder, within).iter().all(is_folder) {
        return Ok(());
    }
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::file(file)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder's files keep their places; links are not followed, and names that no volume takes are refused.
    #[test]
    fn a_folder_has_paths() {
        let folder = tempfile::tempdir().expect("a folder");
        let deep = folder.path().join("a/b");
        std::fs::create_dir_all(&deep).expect("it is made");
        std::fs::write(deep.join("c.txt"), "c").expect("it is written");
        std::fs::write(folder.path().join("d"), "d").expect("it is written");
        std::fs::write(beside(&folder.path().join("e")), "half").expect("it is written");
        symlink("/etc/hostname", folder.path().join("link")).expect("it is made");
        std::fs::create_dir(folder.path().join(CONFIG_DIRECTORY)).expect("it is made");
        std::fs::write(folder.path().join(CONFIG_DIRECTORY).join("key"), "secret").expect("it is written");
        let items = |source: &Local, to: &str| items(source, to).map(|chosen| (chosen.items, chosen.left_out));
        for keys in [folder.path().join(CONFIG_DIRECTORY), folder.path().join(CONFIG_DIRECTORY).join("key")] {
            assert!(items(&keys, "notes/").is_err(), "keys go into no volume");
        }
        let paths = |to: &str| -> Vec<String> {
            items(folder.path(), to).map(|(items, _)| items.iter().map(|item| item.to.as_str().to_owned()).collect()).unwrap_or_default()
        };
        let (_, left_out) = items(folder.path(), "notes/").unwrap_or_default();
        assert_eq!(left_out, [CONFIG_DIRECTORY, "e~part", "link"].map(|name| folder.path().join(name)));
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
        let kinds = [CONFIG_DIRECTORY, "e~part", "link", "socket", "link/x"].map(|name| kind_left_out(&folder.path().join(name)));
        assert_eq!(
            kinds,
            [
                "it has the keys of a project",
                "it is a part of a file that was not fetched whole",
                "it is a link",
                "it is neither a file nor a folder",
                "it lies behind a link, or what is no folder"
            ]
        );
        assert_eq!(["c.txt", "c.txt/"].map(file), [None, Some("c.txt/c.txt".into())], "a partition of the file's name is a mistake");
        assert!(items(folder.path(), "a b/").is_err(), "no file has a path there");
    }

    /// A place without / is a partition that has to be there: it may be a mistake for a new name of the file.
    #[test]
    fn a_file_makes_a_partition_only_where_that_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "a").expect("it is written");
        for (to, expected) in [("x.txt", Some("x.txt")), ("notes", Some("notes")), ("notes/", None), ("notes/x.txt", None)] {
            let presumed = items(&file, to).expect("it is a place").presumed;
            assert_eq!(presumed.as_ref().map(Name::as_str), expected, "{to}");
        }
        assert!(items(folder.path(), "notes").expect("it is a place").presumed.is_none(), "a folder goes into a partition");
        let (partition, chosen) = (Name::new("x.txt").expect("a name"), items(&file, "x.txt").expect("it is a place"));
        let refused = is_no_partition(&partition, &chosen.items).to_string();
        assert!(refused.contains("no partition x.txt") && refused.contains("x.txt/ to make it, with the file x.txt/a.txt"), "{refused}");
    }

    /// Where no file can be written is known before anything is fetched.
    #[test]
    fn a_file_is_written_into_a_folder_that_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(check_place(Local::new("here")).is_ok() && check_place(&folder.path().join("here")).is_ok());
        let refused = |place: &Local| check_place(place).err().map(|failure| failure.to_string()).unwrap_or_default();
        assert!(refused(&folder.path().join("missing/here")).contains("missing is not a folder"));
        assert!(refused(folder.path()).contains("is a folder"));
    }

    /// One name that no volume takes, or a file that is too long, stops no other file, and the command fails at its end.
    #[test]
    fn one_bad_name_stops_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("b c")).expect("it is made");
        for name in ["ä", "a", "b c/d", "e"] {
            std::fs::write(at(name), "").expect("it is written");
        }
        std::fs::File::create(at("long")).and_then(|file| file.set_len(OBJECT_BYTES + 1)).expect("it has a hole");
        let chosen = items(folder.path(), "notes/").expect("the others go");
        assert_eq!(chosen.items.iter().map(|item| item.to.as_str()).collect::<Vec<_>>(), ["notes/a", "notes/e"]);
        assert_eq!(chosen.refused.iter().map(|refused| refused.path.clone()).collect::<Vec<_>>(), ["b c/d", "long", "ä"].map(at));
        assert!(unless_refused(&[]).is_ok());
        let failure = unless_refused(&chosen.refused).expect_err("three stay").to_string();
        assert!(failure.contains("3 files") && failure.contains("b c/d: parts of a path") && failure.contains("2 more"), "{failure}");
    }

    /// Folders go as far as they are empty: no file, link or key is removed with them.
    #[test]
    fn empty_folders_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["empty/a/b", "full/a", "full/b", "linked", "keys/.cowboy"] {
            std::fs::create_dir_all(at(name)).expect("it is made");
        }
        std::fs::write(at("full/b/file"), "").expect("it is written");
        symlink(at("full"), at("linked/link")).expect("it is made");
        let gone =
            ["empty", "full", "linked", "keys", "missing", "full/b/file"].map(|name| remove_folders(folder.path(), Local::new(name)).ok());
        assert_eq!(gone, [true, false, false, false, true, false].map(Some));
        assert!(!at("empty").exists() && at("full/b/file").exists() && at("linked/link").is_symlink() && at("keys/.cowboy").exists());
    }

    /// Nothing is written or removed through a link, whatever lies behind it.
    #[test]
    fn links_lead_nowhere() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let kept = other.path().join("kept");
        std::fs::write(&kept, "kept").expect("it is written");
        symlink(other.path(), folder.path().join("link")).expect("it is made");
        assert!(make_folders(folder.path(), Local::new("link/x")).is_err());
        remove(folder.path(), Local::new("link/kept")).expect("it is not in the folder");
        assert!(kept.exists());
        let found = walk(folder.path()).expect("it is read");
        assert!(found.files.is_empty() && found.others.contains(Local::new("link")));
        let within = Local::new("a/b/c");
        make_folders(folder.path(), within).expect("they are made");
        std::fs::write(folder.path().join(within), "c").expect("its folder is there");
        remove(folder.path(), within).expect("it is removed");
        remove(folder.path(), within).expect("it is gone already");
        assert!(!folder.path().join(within).exists() && folder.path().join("a/b").is_dir());
    }
}
