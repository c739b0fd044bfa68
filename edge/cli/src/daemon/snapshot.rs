//! `cowboyd snapshot`: a stopped node's chain as one file, and back.
//!
//! The file is a tar archive of the node's folder without its lock and its dev snapshots. The marker that names format and
//! genesis comes first, so that a file of another kind is refused before anything is written.

use super::{checkpoint, node_failure};
use clap::{Args, Subcommand};
use cowboy_console::{failure::Failure, output::Output};
use cowboy_node::{imported, reshare::secrets, votes};
use cowboy_store::Directory;
use cowboy_types::Hash;
use serde_json::json;
use std::{
    fs::{File, OpenOptions},
    io::{BufReader, BufWriter, Write as _},
    path::{Component, Path, PathBuf},
};

/// The file that makes a folder a node's.
const MARKER: &str = "chain";

/// What of a node's folder is no part of the chain.
const LEFT_OUT: [&str; 5] = [MARKER, "lock", "snapshots", secrets::FOLDER, imported::MARK];

/// Parts of the longest path that a snapshot may have. A chain's own have three.
const DEEPEST: usize = 8;

/// Packs and unpacks.
#[derive(Debug, Subcommand)]
pub(crate) enum Snapshot {
    /// Pack the folder of a stopped node into a file
    Export(Export),
    /// Unpack an exported file into a new folder
    Import(Import),
}

/// Packs.
#[derive(Args, Debug)]
#[command(after_help = "The file may be given to anybody: a validator that imports it keeps its own record of votes, or listens for a
while before it votes.

Example:
  cowboyd snapshot export --state chain --out chain.tar")]
pub(crate) struct Export {
    /// The node's folder
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Unpacks.
#[derive(Args, Debug)]
#[command(after_help = "A folder that has the same chain already is replaced, but for the record of votes: that stays the validator's own.

Example:
  cowboyd snapshot import chain.tar --state copy
  cowboyd dev --state copy")]
pub(crate) struct Import {
    /// The file
    file: PathBuf,
    /// The folder to make, or a stopped node's folder with the same chain
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
}

impl Snapshot {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        match self {
            Self::Export(export) => {
                let genesis = export.pack()?;
                let bytes = std::fs::metadata(&export.out).map_err(Failure::file(&export.out))?.len();
                output.result(
                    &json!({ "genesis": genesis.to_string(), "file": export.out, "bytes": bytes }),
                    format_args!("genesis {genesis}\n{} bytes in {}", bytes, export.out.display()),
                );
            }
            Self::Import(import) => {
                let genesis = import.unpack()?;
                output.result(
                    &json!({ "genesis": genesis.to_string(), "state": import.state }),
                    format_args!("genesis {genesis}\nStart it with --state {}", import.state.display()),
                );
            }
        }
        Ok(())
    }
}

impl Export {
    fn pack(&self) -> Result<Hash, Failure> {
        let no_chain = || Failure::refused(format!("{} has no chain", self.state.display()), "name the folder of --state");
        let genesis = Directory::genesis_of(&self.state).map_err(node_failure)?.ok_or_else(no_chain)?;
        // Held until the end, so that no node starts meanwhile.
        let _claimed = Directory::open(&self.state, &genesis).map_err(node_failure)?;
        let draft = self.out.with_extension("part");
        let file = OpenOptions::new().write(true).create_new(true).open(&draft).map_err(Failure::file(&draft))?;
        self.write(file).inspect_err(|_| drop(std::fs::remove_file(&draft)))?;
        std::fs::rename(&draft, &self.out).map_err(Failure::file(&self.out))?;
        Ok(genesis)
    }

    fn write(&self, file: File) -> Result<(), Failure> {
        let failed = |path: &Path| Failure::file(path.to_owned());
        let mut archive = tar::Builder::new(BufWriter::new(file));
        archive.mode(tar::HeaderMode::Deterministic);
        archive.follow_symlinks(false);
        archive.append_path_with_name(self.state.join(MARKER), MARKER).map_err(failed(&self.state))?;
        let entries = std::fs::read_dir(&self.state).map_err(failed(&self.state))?;
        let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names.iter().filter(|name| LEFT_OUT.iter().all(|out| name.as_os_str() != *out)) {
            let path = self.state.join(name);
            let added = if path.is_dir() { archive.append_dir_all(name, &path) } else { archive.append_path_with_name(&path, name) };
            added.map_err(failed(&path))?;
        }
        let mut writer = archive.into_inner().map_err(failed(&self.out))?;
        writer.flush().map_err(failed(&self.out))?;
        writer.get_ref().sync_all().map_err(failed(&self.out))
    }
}

impl Import {
    fn unpack(&self) -> Result<Hash, Failure> {
        let (draft, old) = (self.state.with_extension("part"), self.state.with_extension("old"));
        // An import that was cut off between its last two steps.
        if !self.state.exists() && old.exists() {
            std::fs::rename(&old, &self.state).map_err(Failure::file(&self.state))?;
        }
        let replaced = self.claim()?;
        if draft.exists() {
            std::fs::remove_dir_all(&draft).map_err(Failure::file(&draft))?;
        }
        std::fs::create_dir_all(&draft).map_err(Failure::file(&draft))?;
        let genesis = self.fill(&draft, replaced.as_ref()).inspect_err(|_| drop(std::fs::remove_dir_all(&draft)))?;
        // The block that the chain of a full node was checked against is noted beside it, and says nothing of this one.
        checkpoint::forget(self.state.parent().unwrap_or(Path::new("")))?;
        if replaced.is_some() {
            std::fs::rename(&self.state, &old).map_err(Failure::file(&self.state))?;
        }
        std::fs::rename(&draft, &self.state).map_err(Failure::file(&self.state))?;
        drop(replaced);
        if old.exists() {
            std::fs::remove_dir_all(&old).map_err(Failure::file(&old))?;
        }
        Ok(genesis)
    }

    /// Claims the folder that is replaced, where there is one.
    fn claim(&self) -> Result<Option<(Directory, Hash)>, Failure> {
        if !self.state.exists() {
            return Ok(None);
        }
        let no_chain =
            || Failure::refused(format!("{} exists and has no chain", self.state.display()), "name a folder that does not exist yet");
        let genesis = Directory::genesis_of(&self.state).map_err(node_failure)?.ok_or_else(no_chain)?;
        Ok(Some((Directory::open(&self.state, &genesis).map_err(node_failure)?, genesis)))
    }

    /// Unpacks, and gives a folder that replaces another one its record of votes.
    fn fill(&self, draft: &Path, replaced: Option<&(Directory, Hash)>) -> Result<Hash, Failure> {
        let genesis = self.extract(draft)?;
        imported::mark(draft).map_err(node_failure)?;
        if let Some((own, own_genesis)) = replaced {
            if *own_genesis != genesis {
                return Err(Failure::refused(
                    format!("the snapshot is of the chain {genesis}, but {} has {own_genesis}", self.state.display()),
                    "name another folder",
                ));
            }
            let kept = secrets::files(own.path()).map_err(Failure::file(own.path()))?;
            secrets::restore(draft, &kept, 0).map_err(Failure::file(draft))?;
            imported::keep_dealings(draft, &own.engine()).map_err(Failure::file(draft))?;
            votes::replace(&draft.join("engine"), Some(&own.engine())).map_err(Failure::file(draft))?;
        }
        Ok(genesis)
    }

    fn extract(&self, folder: &Path) -> Result<Hash, Failure> {
        let no_snapshot = |why: &str| {
            Failure::argument(
                format!("{} is not a snapshot: {why}", self.file.display()),
                "give a file that `cowboyd snapshot export` wrote",
            )
        };
        let file = File::open(&self.file).map_err(Failure::file(&self.file))?;
        let mut archive = tar::Archive::new(BufReader::new(file));
        for (place, entry) in archive.entries().map_err(Failure::file(&self.file))?.enumerate() {
            let mut entry = entry.map_err(|error| no_snapshot(&error.to_string()))?;
            let kind = entry.header().entry_type();
            let is_marker = entry.path().is_ok_and(|path| path.as_os_str() == MARKER);
            if is_marker != (place == 0) {
                return Err(no_snapshot("it does not start with a chain's marker"));
            }
            // Links could lead out of the folder.
            let is_secret = entry.path().is_ok_and(|path| path.starts_with(secrets::FOLDER));
            let is_kept = !is_secret
                && (kind.is_file() || kind.is_gnu_sparse() || kind.is_dir())
                && entry.path().is_ok_and(|path| is_of_a_chain(&path));
            let is_inside = is_kept && entry.unpack_in(folder).map_err(Failure::file(folder))?;
            if !is_inside {
                return Err(no_snapshot("it contains something that is not a file of a chain"));
            }
        }
        let genesis = Directory::genesis_of(folder).map_err(node_failure)?.ok_or_else(|| no_snapshot("it is empty"))?;
        // Refuses what a newer program wrote.
        drop(Directory::open(folder, &genesis).map_err(node_failure)?);
        Ok(genesis)
    }
}

/// Whether a path can be one of a chain's folder. Unpacking a deeper one takes the square of its depth.
fn is_of_a_chain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().count() <= DEEPEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_chain(path: &Path) -> Hash {
        let genesis = Hash([7; 32]);
        drop(Directory::open(path, &genesis).expect("a new folder"));
        std::fs::create_dir_all(path.join("engine/votes")).expect("the folder is writable");
        std::fs::create_dir_all(path.join("snapshots/1")).expect("the folder is writable");
        std::fs::write(path.join("engine/votes/0"), [1, 2, 3]).expect("the folder is writable");
        std::fs::write(path.join("ledger.redb"), vec![9; 70_000]).expect("the folder is writable");
        // With a hole, as databases make them.
        let sparse = File::create(path.join("engine/blobs")).expect("the folder is writable");
        sparse.set_len(5_000_000).expect("the folder is writable");
        genesis
    }

    #[test]
    fn a_chain_comes_back_as_it_was() {
        let parent = tempfile::tempdir().expect("a directory for the test");
        let (state, file, copy) = (parent.path().join("state"), parent.path().join("chain.tar"), parent.path().join("copy"));
        let genesis = a_chain(&state);
        let export = Export { state: state.clone(), out: file.clone() };
        assert_eq!(export.pack().ok(), Some(genesis));
        let import = Import { file, state: copy.clone() };
        assert_eq!(import.unpack().ok(), Some(genesis));
        assert_eq!(std::fs::read(copy.join("engine/votes/0")).ok(), Some(vec![1, 2, 3]));
        assert_eq!(std::fs::read(copy.join("ledger.redb")).map(|bytes| bytes.len()).ok(), Some(70_000));
        assert_eq!(std::fs::read(copy.join("engine/blobs")).ok(), Some(vec![0; 5_000_000]));
        assert!(!copy.join("snapshots").exists());
        std::fs::create_dir_all(copy.join("engine").join(votes::record(0))).expect("the folder is writable");
        std::fs::write(copy.join("engine").join(votes::record(0)).join("0"), "own votes").expect("the folder is writable");
        std::fs::write(copy.join("ledger.redb"), "damaged").expect("the folder is writable");
        assert_eq!(import.unpack().ok(), Some(genesis), "a folder with the same chain is replaced");
        assert_eq!(std::fs::read(copy.join("ledger.redb")).map(|bytes| bytes.len()).ok(), Some(70_000));
        assert_eq!(
            std::fs::read(copy.join("engine").join(votes::record(0)).join("0")).ok(),
            Some(b"own votes".to_vec()),
            "but for its votes"
        );
        let held = Directory::open(&copy, &genesis).expect("nobody holds it");
        assert!(import.unpack().is_err(), "the folder of a node that runs stays as it is");
        drop(held);
        let foreign = parent.path().join("foreign");
        drop(Directory::open(&foreign, &Hash([8; 32])).expect("a new folder"));
        let import = Import { file: import.file, state: foreign.clone() };
        assert!(import.unpack().is_err() && !foreign.join("ledger.redb").exists(), "and so does one of another chain");
        let held = Directory::open(&state, &genesis).expect("nobody holds it");
        assert!(export.pack().is_err(), "a node that runs keeps its folder");
        drop(held);
    }

    /// Decision 759: what the chain of a folder was checked against is not noted of an imported one, which nobody checked.
    #[test]
    fn an_imported_chain_has_no_checkpoint() {
        let parent = tempfile::tempdir().expect("a directory for the test");
        let (state, file) = (parent.path().join("state"), parent.path().join("chain.tar"));
        let genesis = a_chain(&state);
        assert_eq!(Export { state: state.clone(), out: file.clone() }.pack().ok(), Some(genesis));
        checkpoint::note_for_new(parent.path(), Some(Hash([5; 32]))).expect("the folder is writable");
        let check = || checkpoint::check_kept(parent.path(), &state, &genesis, Hash([5; 32]));
        assert!(check().is_ok(), "it is noted");
        let import = Import { file, state: state.clone() };
        assert_eq!(import.unpack().ok(), Some(genesis));
        assert!(!parent.path().join("checkpoint").exists());
    }

    /// A chain's marker, and an empty file at this path.
    fn snapshot_with(path: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a directory for the test");
        a_chain(folder.path());
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_path_with_name(folder.path().join(MARKER), MARKER).expect("an archive in memory");
        let mut header = tar::Header::new_gnu();
        // As a hostile program writes it: the library refuses such paths itself.
        header.as_gnu_mut().expect("it is one").name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_mode(0o644);
        header.set_size(0);
        header.set_cksum();
        archive.append(&header, std::io::empty()).expect("an archive in memory");
        archive.into_inner().expect("an archive in memory")
    }

    #[test]
    fn other_files_are_refused_and_leave_nothing() {
        let parent = tempfile::tempdir().expect("a directory for the test");
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(3);
        header.set_mode(0o644);
        archive.append_data(&mut header, "other.txt", [1u8, 2, 3].as_slice()).expect("an archive in memory");
        let rows = [Vec::new(), b"no archive".to_vec(), vec![0xff; 2_048], archive.into_inner().expect("an archive in memory")];
        let rows = rows.into_iter().chain(["engine/../../out", "/engine/0", &"a/".repeat(DEEPEST + 1)].map(snapshot_with));
        for (place, bytes) in rows.enumerate() {
            let (file, state) = (parent.path().join(format!("{place}.tar")), parent.path().join(format!("state-{place}")));
            std::fs::write(&file, bytes).expect("the directory is writable");
            assert!(Import { file, state: state.clone() }.unpack().is_err(), "row {place}");
            assert!(!state.exists() && !state.with_extension("part").exists(), "row {place}");
        }
        let nowhere = Export { state: parent.path().join("nowhere"), out: parent.path().join("out.tar") };
        assert!(nowhere.pack().is_err() && !nowhere.out.exists());
    }
}
