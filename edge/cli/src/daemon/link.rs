//! `cowboy`, `cowboy-runner` and `cowboy-gateway` beside `cowboyd`: one file, several names.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Puts the other programs' names beside this one. Answers the client's.
pub(crate) fn all() -> Option<PathBuf> {
    put("cowboy-runner");
    put("cowboy-gateway");
    put("cowboy")
}

/// Puts a name beside this program where it is missing: a launcher and an earlier link both start the program that is here now. What the
/// system refuses is no failure: the node runs without.
fn put(name: &str) -> Option<PathBuf> {
    let node = std::env::current_exe().ok()?;
    let client = node.with_file_name(if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() });
    if node.file_stem()? != "cowboyd" {
        return None;
    }
    if fs::symlink_metadata(&client).is_ok() {
        return Some(client);
    }
    match link(&node, &client) {
        Ok(()) => Some(client),
        Err(error) => {
            tracing::debug!(%error, path = %client.display(), "a name cannot be put beside the node");
            None
        }
    }
}

/// Makes the name point to the node, in one step, so that nobody finds it missing.
fn link(node: &Path, client: &Path) -> std::io::Result<()> {
    let draft = client.with_extension("new");
    // Left over from a run that was killed in between.
    let _ = fs::remove_file(&draft);
    #[cfg(unix)]
    std::os::unix::fs::symlink(node.file_name().unwrap_or(node.as_os_str()), &draft)?;
    #[cfg(not(unix))]
    fs::hard_link(node, &draft)?;
    fs::rename(&draft, client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_starts_what_is_beside_it() {
        let folder = tempfile::tempdir().expect("a directory for the test");
        let (node, client) = (folder.path().join("cowboyd"), folder.path().join("cowboy"));
        for program in ["node", "newer"] {
            fs::write(&node, program).expect("the directory is writable");
            link(&node, &client).expect("the directory is writable");
            assert_eq!(fs::read_to_string(&client).ok().as_deref(), Some(program));
        }
    }
}
