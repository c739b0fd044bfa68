//! How many blocks a full node keeps. That it keeps all of them is noted in its folder (decision 770).

use super::{node_failure, node_files::replace_text};
use cowboy_console::failure::Failure;
use cowboy_store::{Directory, Ledger, StoreError};
use cowboy_types::Hash;
use std::path::Path;

/// Blocks that a node keeps where nothing else is said: three days of a block each second.
pub(super) const KEPT_BLOCKS: u64 = 259_200;

/// The file beside a chain of which every block is kept.
const FILE: &str = "archive";

/// What the file says.
const NOTE: &str = "Started with --archive: every block is kept.\n";

/// What the options of a start say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    /// Whether every block is to be kept.
    pub(super) is_archive: bool,
    /// How many blocks are to be kept, if the options say so.
    pub(super) blocks: Option<u64>,
}

/// How many blocks the node in the folder `dir` keeps, with a line for the operator if that does not follow from the options alone. `is_new` says that no chain is in
/// the folder yet.
pub(super) fn blocks(dir: &Path, is_new: bool, choice: Choice) -> Result<(u64, Option<String>), Failure> {
    let path = dir.join(FILE);
    let is_noted = match std::fs::read(&path) {
        Ok(text) => text == NOTE.as_bytes(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        // What an archive has cannot be got back once it is pruned.
        Err(error) => return Err(Failure::file(&path)(error)),
    };
    let forget = || if is_noted { std::fs::remove_file(&path).map_err(Failure::file(&path)) } else { Ok(()) };
    match choice {
        Choice { is_archive: true, .. } => {
            replace_text(&path, NOTE)?;
            Ok((u64::MAX, None))
        }
        Choice { blocks: Some(blocks), .. } => {
            forget()?;
            let said =
                (is_noted && !is_new).then(|| format!("prunes to {blocks} blocks from now on: this node kept every block until now"));
            Ok((blocks, said))
        }
        Choice { blocks: None, .. } if is_noted && !is_new => {
            let said = "keeps every block, as this node was once started with --archive; to prune, start it with --keep-blocks N";
            Ok((u64::MAX, Some(said.to_owned())))
        }
        Choice { blocks: None, .. } => {
            forget()?;
            Ok((KEPT_BLOCKS, None))
        }
    }
}

/// What to say of a stopped node's chain of which every block is to be kept from now on: nothing if no block is missing.
pub(super) fn oldest(state: &Path, genesis: &Hash) -> Result<Option<String>, Failure> {
    let first = || {
        let folder = Directory::open(state, genesis)?;
        let ledger = Ledger::open(&folder.ledger())?;
        let first = ledger.view()?.first()?;
        Ok::<_, StoreError>(first)
    };
    let first = first().map_err(node_failure)?.filter(|first| *first > 1);
    Ok(first.map(|first| {
        format!("the chain in {} has no blocks before {first}: for all of them, join with --archive and another --dir", state.display())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 770: an archive does not prune because an option is forgotten. A new chain in its folder has its own choice.
    #[test]
    fn an_archive_stays_one_until_an_option_ends_that() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path();
        let kept = |is_new: bool, is_archive: bool, asked: Option<u64>| {
            let (blocks, said) = blocks(dir, is_new, Choice { is_archive, blocks: asked }).expect("it reads and writes");
            (blocks, said.unwrap_or_default())
        };
        let silent = |blocks: u64| (blocks, String::new());
        assert_eq!(kept(true, false, None), silent(KEPT_BLOCKS));
        assert_eq!(kept(false, false, Some(7)), silent(7));
        assert_eq!(kept(true, true, None), silent(u64::MAX));
        let (blocks, said) = kept(false, false, None);
        assert!(blocks == u64::MAX && said.contains("--keep-blocks N"), "{said}");
        let (blocks, said) = kept(false, false, Some(7));
        assert!(blocks == 7 && said.contains("prunes to 7 blocks"), "{said}");
        assert_eq!(kept(false, false, None), silent(KEPT_BLOCKS), "it is no archive any more");
        assert_eq!((kept(false, true, None), kept(true, false, None)), (silent(u64::MAX), silent(KEPT_BLOCKS)), "another chain");
        std::fs::write(dir.join(FILE), "of somebody else").expect("it writes");
        assert_eq!(kept(false, false, None), silent(KEPT_BLOCKS));
        assert!(dir.join(FILE).exists(), "it is not the note");
    }

    /// A ledger without blocks lacks none.
    #[test]
    fn a_chain_that_has_not_begun_lacks_no_block() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(oldest(&folder.path().join("state"), &Hash([1; 32])).expect("it reads"), None);
    }
}
