//! What ordinary tests give to the bodies, as files from which a fuzzer begins.

use cowboy_types::blake3;
use std::{env, fs, path::PathBuf};

/// The folder for these files; `./test fuzz` names it, and nothing is written without it.
const FOLDER: &str = "COWBOY_FUZZ_CORPUS";

/// Writes an input of a target under its hash.
pub(crate) fn keep(target: &str, bytes: &[u8]) {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = PathBuf::from(folder).join(target);
    fs::create_dir_all(&folder).expect("the folder of a corpus is made");
    fs::write(folder.join(blake3(&[bytes]).to_string()), bytes).expect("an input is written");
}
