//! The program that becomes the helper of a box.

use std::ffi::OsString;
use std::path::PathBuf;

/// The program that becomes the helper of a box: it calls [`crate::child_main`] where it sees these arguments.
#[derive(Clone, Debug)]
pub struct Helper {
    /// The program. It must be one that nobody in a box can change.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Helper {
    /// This program, with the argument `box`.
    pub fn this_program() -> Self {
        Self { program: "/proc/self/exe".into(), arguments: vec!["box".into()] }
    }
}
