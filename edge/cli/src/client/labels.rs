//! `.cowboy/names.json`: the names behind hashes that this folder made. The chain has the hashes of names of secrets, volumes and partitions only.

use super::session::Session;
use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_types::Hash;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Names by their hashes.
#[derive(Debug, Default)]
pub(super) struct Labels(BTreeMap<String, String>);

fn path(project: &Path) -> PathBuf {
    project.join(CONFIG_DIRECTORY).join("names.json")
}

impl Labels {
    /// Those of a folder; none where it has no readable file of them.
    pub(super) fn load(project: &Path) -> Self {
        let bytes = std::fs::read(path(project)).unwrap_or_default();
        Self(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// The name behind a hash in hex, in brackets behind a space; empty where the folder does not know it.
    pub(super) fn shown(&self, hash: &str) -> String {
        self.named(hash).map_or_else(String::new, |name| format!(" ({name})"))
    }

    /// The name behind a hash in hex; none where the folder does not know it.
    pub(super) fn named(&self, hash: &str) -> Option<&str> {
        self.0.get(hash).map(String::as_str)
    }

    fn keep(project: &Path, hash: &Hash, name: &str) -> std::io::Result<()> {
        let mut labels = Self::load(project);
        if labels.0.insert(hash.to_string(), name.to_owned()).as_deref() == Some(name) {
            return Ok(());
        }
        std::fs::create_dir_all(project.join(CONFIG_DIRECTORY))?;
        let text = serde_json::to_string_pretty(&labels.0).expect("names are JSON");
        std::fs::write(path(project), text + "\n")
    }
}

/// Remembers the name behind a hash. What cannot be remembered is no failure: lists then show the hash alone.
pub(super) fn keep(session: &Session, hash: &Hash, name: &str) {
    if let Err(error) = Labels::keep(&session.project, hash, name) {
        session.output.progress(format_args!("{}: {error}", path(&session.project).display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_knows_the_names_that_it_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let hash = Hash([1; 32]);
        assert_eq!(Labels::load(folder.path()).shown(&hash.to_string()), "");
        for name in ["notes", "memory", "memory"] {
            Labels::keep(folder.path(), &hash, name).expect("the folder is writable");
        }
        let labels = Labels::load(folder.path());
        assert_eq!((labels.shown(&hash.to_string()), labels.0.len()), (" (memory)".to_owned(), 1));
    }
}
