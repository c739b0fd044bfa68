//! The scratch space `/tmp` of a run: see the module `_files`.

use std::collections::BTreeMap;

/// The files of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Bytes by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Bytes of all of them.
    pub used: usize,
}
