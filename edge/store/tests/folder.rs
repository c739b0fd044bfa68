//! The folder of a chain: whose it is, and what is wrong with it.

use cowboy_store::{Directory, StoreError};
use cowboy_types::Hash;
use std::fs;

#[test]
fn a_folder_belongs_to_one_chain_and_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("node");
    let (ours, other) = (Hash([1; 32]), Hash([2; 32]));
    let directory = Directory::open(&path, &ours).expect("it is new");
    assert!(matches!(Directory::open(&path, &ours), Err(StoreError::InUse(_))));
    assert!(matches!(Directory::wipe(&path), Err(StoreError::InUse(_))));
    drop(directory);
    assert_eq!(Directory::genesis_of(&path).expect("it reads"), Some(ours));
    let refusal = Directory::open(&path, &other).expect_err("another chain");
    assert!(matches!(refusal, StoreError::OtherChain { .. }) && refusal.to_string().contains("--reset"), "{refusal}");
    fs::write(path.join("chain"), format!("format 999\ngenesis {ours}\n")).expect("it writes");
    assert!(matches!(Directory::open(&path, &ours), Err(StoreError::NewerFormat { found: 999, .. })));
    fs::write(path.join("chain"), "no marker").expect("it writes");
    assert!(matches!(Directory::open(&path, &ours), Err(StoreError::NotAChain { .. })));
    Directory::wipe(&path).expect("nobody holds it");
    Directory::open(&path, &other).expect("it is new again");
}

/// A copy of a folder that lacks the marker is no new folder.
#[test]
fn a_folder_without_its_marker_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let directory = Directory::open(folder.path(), &Hash([1; 32])).expect("it is new");
    fs::write(directory.ledger(), "blocks").expect("it writes");
    drop(directory);
    fs::remove_file(folder.path().join("chain")).expect("it is there");
    for refusal in [
        Directory::genesis_of(folder.path()).expect_err("it has no marker"),
        Directory::open(folder.path(), &Hash([1; 32])).expect_err("it has no marker"),
    ] {
        assert!(matches!(refusal, StoreError::NoMarker { .. }) && refusal.to_string().contains("`chain` is missing"), "{refusal}");
    }
    assert!(!folder.path().join("chain").exists());
}

#[test]
fn a_folder_of_somebody_else_is_not_wiped() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("letter"), "dear").expect("it writes");
    assert!(matches!(Directory::wipe(folder.path()), Err(StoreError::NotAChain { .. })));
    assert!(folder.path().join("letter").exists());
}

#[test]
fn a_full_disk_is_said_plainly() {
    let full = StoreError::file("/x", std::io::Error::from(std::io::ErrorKind::StorageFull));
    assert!(matches!(full, StoreError::DiskFull) && full.to_string().contains("free some space"));
}
