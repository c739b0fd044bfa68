//! The newest round for which this validator signed a header, on the disk before the header leaves the node.
//!
//! The engine tells a proposal to the others before its own vote for it is on the disk. After a crash between the two it would ask for another block
//! of the same round, and two signed headers of one round cost stake ([decision 572](../../../docs/decisions/0572-one-header-a-round.md)).

use cowboy_store::StoreError;
use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// The file, in the folder of the engine.
pub(crate) const FILE: &str = "proposed";

/// The rounds for which a validator signed a header.
#[derive(Debug, Default)]
pub struct Proposals(Mutex<Record>);

#[derive(Debug, Default)]
struct Record {
    /// Epoch and view.
    newest: Option<(u64, u64)>,
    file: Option<File>,
}

impl Proposals {
    /// Reads the record in a folder of the engine, or begins it.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or written, or is none of this kind.
    pub fn open(engine: &Path) -> Result<Self, StoreError> {
        let path = engine.join(FILE);
        let open = || {
            fs::create_dir_all(engine)?;
            let bytes = match fs::read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
                read => read?,
            };
            let newest = decode(&bytes)?;
            let file = OpenOptions::new().create(true).write(true).truncate(false).open(&path)?;
            file.sync_all()?;
            File::open(engine)?.sync_all()?;
            Ok(Self(Mutex::new(Record { newest, file: Some(file) })))
        };
        open().map_err(|error| StoreError::file(&path, error))
    }

    /// Whether a header of this round may be signed: none of it, or of a later one, was. It is noted on the disk before this returns.
    pub(crate) fn claim(&self, epoch: u64, view: u64) -> io::Result<bool> {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if record.newest.is_some_and(|newest| newest >= (epoch, view)) {
            return Ok(false);
        }
        if let Some(file) = &record.file {
            // Sixteen bytes of one sector: a crash leaves the old round or the new one.
            file.write_all_at(&[epoch.to_be_bytes(), view.to_be_bytes()].concat(), 0)?;
            file.sync_data()?;
        }
        record.newest = Some((epoch, view));
        Ok(true)
    }
}

/// Epoch and view; nothing where the file was only begun.
fn decode(bytes: &[u8]) -> io::Result<Option<(u64, u64)>> {
    let Some((epoch, rest)) = bytes.split_first_chunk::<8>() else {
        return if bytes.is_empty() { Ok(None) } else { Err(io::ErrorKind::InvalidData.into()) };
    };
    let view = <[u8; 8]>::try_from(rest).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
    Ok(Some((u64::from_be_bytes(*epoch), u64::from_be_bytes(view))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No second header of a round is signed, nor one of an earlier round, also after a crash.
    #[test]
    fn a_round_has_one_header() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Proposals::open(folder.path()).expect("it is read");
        let rows = [((3, 7), true), ((3, 7), false), ((3, 6), false), ((3, 8), true), ((4, 1), true), ((3, 9), false)];
        for ((epoch, view), expected) in rows {
            assert_eq!(open().claim(epoch, view).expect("it is written"), expected, "{epoch}, {view}");
        }
        let one = Proposals::default();
        assert!(one.claim(0, 1).expect("nothing is written") && !one.claim(0, 1).expect("nothing is written"));
    }

    #[test]
    fn another_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for (bytes, is_good) in [(vec![], true), (vec![0; 16], true), (vec![0; 7], false), (vec![0; 17], false)] {
            fs::write(folder.path().join(FILE), &bytes).expect("the folder is writable");
            assert_eq!(Proposals::open(folder.path()).is_ok(), is_good, "{} bytes", bytes.len());
        }
    }
}
