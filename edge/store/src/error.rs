//! What can go wrong with a disk: said once, with the way out.

use std::{io, path::PathBuf};

/// Why something could not be stored or read back.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk has no room left.
    #[error("the disk that holds the chain's data is full: free some space and start the node again; no finalized block is lost")]
    DiskFull,
    /// The operating system refused a file operation.
    #[error("cannot use {path}: {source}; give this user access to it, or choose another folder")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// Another process holds the folder.
    #[error("{0} is in use by another node: stop that node, or choose another folder")]
    InUse(PathBuf),
    /// The folder belongs to another chain.
    #[error("{path} holds the chain with genesis {found}, not {expected}: choose another folder, or wipe this one with --reset")]
    OtherChain {
        /// The folder.
        path: PathBuf,
        /// The genesis hash that stands in it.
        found: String,
        /// The genesis hash of the chain that is being started.
        expected: String,
    },
    /// The folder was written by a newer program.
    #[error("{path} has format {found} and this program reads up to {supported}: use a newer program, or wipe the folder with --reset")]
    NewerFormat {
        /// The folder.
        path: PathBuf,
        /// The format that stands in it.
        found: u32,
        /// The newest format this program knows.
        supported: u32,
    },
    /// The marker file is not one.
    #[error("{path} is not a node's folder: its file `chain` cannot be read; choose another folder, or wipe this one with --reset")]
    NotAChain {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has a chain, and no marker file.
    #[error(
        "{path} has a node's files, and its file `chain` is missing: copy the folder again with all its files, or import a snapshot into a new folder"
    )]
    NoMarker {
        /// The folder.
        path: PathBuf,
    },
    /// The ledger's file is damaged as a whole, or the embedded store refuses it.
    #[error(
        "the ledger cannot be used: {0}; stop the node and run `cowboyd check --state DIR --repair`, restore the folder from a snapshot, or wipe it with --reset"
    )]
    Ledger(String),
    /// A row of the ledger is not as it was written.
    #[error(
        "damaged: {row} of the ledger is not as it was written; stop the node and run `cowboyd check --state DIR --repair`, or restore the folder from a snapshot"
    )]
    Damaged {
        /// The row's name.
        row: String,
    },
}

impl StoreError {
    /// The error of a file operation on `path`.
    pub fn file(path: impl Into<PathBuf>, source: io::Error) -> Self {
        if is_full(&source) { Self::DiskFull } else { Self::File { path: path.into(), source } }
    }
}

impl From<redb::StorageError> for StoreError {
    fn from(error: redb::StorageError) -> Self {
        match error {
            redb::StorageError::Io(source) if is_full(&source) => Self::DiskFull,
            other => Self::Ledger(other.to_string()),
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

macro_rules! from_redb {
    ($($Error:ident),+) => {
        $(impl From<redb::$Error> for StoreError {
            fn from(error: redb::$Error) -> Self {
                match redb::Error::from(error) {
                    redb::Error::Io(source) if is_full(&source) => Self::DiskFull,
                    other => Self::Ledger(other.to_string()),
                }
            }
        })+
    };
}

from_redb!(DatabaseError, TransactionError, TableError, CommitError, SetDurabilityError);
