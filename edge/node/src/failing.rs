//! Why a node that ran has ended by itself, in words.
//!
//! The engine stops at the first error of the disk, by a panic, so that nothing is half-written: what was not acknowledged is
//! executed again at the next start. Here its last words become an error with a name.

use crate::node::NodeError;
use cowboy_store::StoreError;
use std::any::Any;

/// How operating systems say that a file may not grow, in the words of the standard library's errors.
const NO_ROOM: [&str; 3] = ["StorageFull", "QuotaExceeded", "FileTooLarge"];

/// What a thread said when it panicked.
pub(crate) fn last_words(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "the log says why".into())
}

/// The error that a node ended with, from its last words.
pub(crate) fn named(last_words: &str) -> NodeError {
    let full = StoreError::DiskFull;
    let is_full = NO_ROOM.iter().any(|kind| last_words.contains(kind)) || last_words.contains(&full.to_string());
    if is_full { full.into() } else { NodeError::Ended(last_words.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn last_words_get_a_name() {
        let of_kind = |kind: io::ErrorKind| format!("unable to sync journal: Runtime(Io({:?}))", io::Error::from(kind));
        let rows = [
            (of_kind(io::ErrorKind::StorageFull), true),
            (of_kind(io::ErrorKind::QuotaExceeded), true),
            (of_kind(io::ErrorKind::FileTooLarge), true),
            (format!("a final block cannot be written to the ledger: {}", StoreError::DiskFull), true),
            // As the system itself says it, for Linux: ENOSPC.
            (format!("failed: {:?}", io::Error::from_raw_os_error(28)), cfg!(target_os = "linux")),
            (of_kind(io::ErrorKind::PermissionDenied), false),
            ("anything else".into(), false),
        ];
        for (words, is_full) in rows {
            let named = named(&words);
            assert_eq!(matches!(named, NodeError::Store(StoreError::DiskFull)), is_full, "{words}");
            assert!(is_full || named.to_string().contains(&words), "{named}");
        }
    }
}
