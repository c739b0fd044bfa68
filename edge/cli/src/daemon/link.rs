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

/// Puts a name beside this program where it is missing or older. What the system refuses is no failure: the node runs without.
fn put(name: &str) -> Option<PathBuf> {
    let node = std::env::current_exe().ok()?;
    let client = node.with_file_name(if cfg!(windows) { format!("{name}.exe") } else { name.to_owned() });
    if node.file_stem()? != "cowboyd" {
        return None;
    }
    if is_current(&node, &client) {
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

/// Whether the name is this program's, or was built after it.
fn is_current(node: &Path, client: &Path) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    match (modified(node), modified(client)) {
        (Some(node), Some(client)) => client >= node,
        _ => false,
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
    fn a_missing_or_older_name_is_replaced() {
        let folder = tempfile::tempdir().expect("a directory for the test");
        let (node, client) = (folder.path().join("cowboyd"), folder.path().join("cowboy"));
        fs::write(&node, "node").expect("the directory is writable");
        assert!(!is_current(&node, &client));
        for _ in 0..2 {
            link(&node, &client).expect("the directory is writable");
            assert!(is_current(&node, &client));
            assert_eq!(fs::read_to_string(&client).ok().as_deref(), Some("node"));
        }
    }
}
