//! `.cowboy/names.json`: the names behind hashes that this folder made, or was given. The chain has the hashes of names of secrets, volumes and partitions only.

use super::session::Session;
use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_console::failure::Failure;
use cowboy_host::files;
use cowboy_types::Hash;
use std::{
    collections::BTreeMap,
    io,
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
        Self::read(project).unwrap_or_default()
    }

    /// The same. A damaged file is an error: what is left of the names in it stands nowhere else.
    fn read(project: &Path) -> io::Result<Self> {
        let bytes = files::read(&path(project))?.filter(|bytes| !bytes.is_empty());
        let Some(bytes) = bytes else { return Ok(Self::default()) };
        let damaged =
            |error: serde_json::Error| io::Error::new(io::ErrorKind::InvalidData, format!("it is damaged: {error}; mend or remove it"));
        serde_json::from_slice(&bytes).map(Self).map_err(damaged)
    }

    /// Replaces the file as a whole: a program that is killed meanwhile leaves the old one.
    fn write(&self, project: &Path) -> io::Result<()> {
        files::create_folder(&project.join(CONFIG_DIRECTORY))?;
        let text = serde_json::to_string_pretty(&self.0).expect("names are JSON");
        files::replace(&path(project), (text + "\n").as_bytes())
    }

    /// The name behind a hash in hex, in brackets behind a space; empty where the folder does not know it.
    pub(super) fn shown(&self, hash: &str) -> String {
        self.named(hash).map_or_else(String::new, |name| format!(" ({name})"))
    }

    /// The name behind a hash in hex; none where the folder does not know it.
    pub(super) fn named(&self, hash: &str) -> Option<&str> {
        self.0.get(hash).map(String::as_str)
    }

    /// The hashes that have this name.
    pub(super) fn hashes(&self, name: &str) -> Vec<Hash> {
        self.0.iter().filter(|(_, known)| known.as_str() == name).filter_map(|(hash, _)| hash.parse().ok()).collect()
    }

    fn keep(project: &Path, hash: &Hash, name: &str) -> io::Result<()> {
        let mut labels = Self::read(project)?;
        if labels.0.insert(hash.to_string(), name.to_owned()).as_deref() == Some(name) {
            return Ok(());
        }
        labels.write(project)
    }
}

/// Remembers the name behind a hash. What cannot be remembered is no failure: lists then show the hash alone.
pub(super) fn keep(session: &Session, hash: &Hash, name: &str) {
    if let Err(error) = Labels::keep(&session.project, hash, name) {
        let file = path(&session.project);
        session.output.progress(format_args!("warning: the name {name} is not remembered: {}: {error}", file.display()));
    }
}

/// Remembers a name that a command was given and that the chain has, where the project has a folder for it. Nothing is lost where that fails.
pub(super) fn learn(session: &Session, hash: &Hash, name: &str) {
    if session.project.join(CONFIG_DIRECTORY).is_dir() {
        let _ = Labels::keep(&session.project, hash, name);
    }
}

/// Refuses where no name could be remembered, before something is paid for that has one.
pub(super) fn check(project: &Path) -> Result<(), Failure> {
    Labels::read(project).and_then(|labels| labels.write(project)).map_err(|error| {
        Failure::refused(
            format!("{}: {error}: the name would not be remembered, so nothing was paid", path(project).display()),
            "give the command in a folder in which you may write",
        )
    })
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
        Labels::keep(folder.path(), &Hash([2; 32]), "notes").expect("the folder is writable");
        assert_eq!(["memory", "other"].map(|name| Labels::load(folder.path()).hashes(name)), [vec![hash], vec![]]);
    }

    /// What is paid for a name is paid only where the name can be remembered, and looking changes no names.
    #[test]
    fn names_are_checked_before_they_are_paid_for() {
        let folder = tempfile::tempdir().expect("a folder");
        check(folder.path()).expect("the folder is writable");
        assert_eq!(files::mode_for_others(&folder.path().join(CONFIG_DIRECTORY)), None, "others do not enter it");
        Labels::keep(folder.path(), &Hash([1; 32]), "notes").expect("the folder is writable");
        check(folder.path()).expect("the folder is writable");
        assert_eq!(Labels::load(folder.path()).hashes("notes"), [Hash([1; 32])]);
        std::fs::remove_dir_all(folder.path().join(CONFIG_DIRECTORY)).expect("it is there");
        std::fs::write(folder.path().join(CONFIG_DIRECTORY), "a file").expect("it is written");
        let refused = check(folder.path()).expect_err("it is no folder").to_string();
        assert!(refused.contains("names.json") && refused.contains("nothing was paid"), "{refused}");
    }

    /// A damaged file is left as it is, and found before something is paid for a name. An empty one has no names.
    #[test]
    fn a_damaged_file_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, damaged) = (path(folder.path()), r#"{ "0x01": "mem"#);
        std::fs::create_dir(folder.path().join(CONFIG_DIRECTORY)).expect("it is new");
        std::fs::write(&file, damaged).expect("it is written");
        assert_eq!(Labels::load(folder.path()).named("0x01"), None);
        assert!(Labels::keep(folder.path(), &Hash([1; 32]), "notes").is_err());
        let refused = check(folder.path()).expect_err("it is damaged").to_string();
        assert!(refused.contains("names.json: it is damaged"), "{refused}");
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), damaged);
        std::fs::write(&file, "").expect("it is written");
        check(folder.path()).expect("it has no names");
    }
}
