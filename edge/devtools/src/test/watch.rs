//! `cowboy test --watch`: what a run of tests depends on, and when it changed.

use cowboy_console::failure::Failure;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// How long a change may stay unseen.
const EVERY: Duration = Duration::from_millis(300);

/// Files by their path, each with what changes when it is written.
pub(super) type Seen = BTreeMap<PathBuf, (SystemTime, u64)>;

/// The sources and manifests at these paths and in these folders; for a file, those of its folder.
pub(super) fn seen(paths: &[PathBuf]) -> Result<Seen, Failure> {
    let mut found = Seen::new();
    for path in paths {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        walk(if path.is_dir() { path } else { parent }, &mut found)?;
    }
    Ok(found)
}

fn walk(folder: &Path, found: &mut Seen) -> Result<(), Failure> {
    for entry in std::fs::read_dir(folder).map_err(Failure::file(folder))?.filter_map(Result::ok) {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        // A file may be gone again.
        let Ok(facts) = entry.metadata() else { continue };
        if facts.is_dir() {
            if super::discover::is_looked_into(&name) {
                walk(&path, found)?;
            }
        } else if name.ends_with(".py") || name.ends_with(".json") {
            found.insert(path, (facts.modified().unwrap_or(SystemTime::UNIX_EPOCH), facts.len()));
        }
    }
    Ok(())
}

/// Waits until something differs from what was seen. Answers the names of what changed.
pub(super) fn changed(paths: &[PathBuf], before: &Seen) -> Result<Vec<String>, Failure> {
    loop {
        let now = seen(paths)?;
        let names = differences(before, &now);
        if !names.is_empty() {
            return Ok(names);
        }
        std::thread::sleep(EVERY);
    }
}

fn differences(before: &Seen, now: &Seen) -> Vec<String> {
    let changed = now.iter().filter(|(path, facts)| before.get(*path) != Some(facts));
    let gone = before.iter().filter(|(path, _)| !now.contains_key(*path));
    changed.chain(gone).map(|(path, _)| path.display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_removed_or_new_is_a_change() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at(".cowboy")).expect("a folder");
        for name in ["actor.py", "manifest.json", "notes.txt", ".cowboy/actors.json"] {
            std::fs::write(at(name), "1").expect("a file");
        }
        let paths = [folder.path().to_owned()];
        let first = seen(&paths).expect("it is read");
        assert_eq!(first.keys().cloned().collect::<Vec<_>>(), [at("actor.py"), at("manifest.json")]);
        assert_eq!(seen(&[at("actor.py")]).expect("it is read"), first, "a file stands for its folder");
        for name in ["notes.txt", ".cowboy/actors.json"] {
            std::fs::write(at(name), "22").expect("a file");
        }
        assert_eq!(differences(&first, &seen(&paths).expect("it is read")), [""; 0]);
        std::fs::write(at("actor.py"), "22").expect("a file");
        std::fs::write(at("test_actor.py"), "1").expect("a file");
        std::fs::remove_file(at("manifest.json")).expect("it was there");
        let names: Vec<String> = ["actor.py", "test_actor.py", "manifest.json"].map(|name| at(name).display().to_string()).into();
        assert_eq!(changed(&paths, &first).expect("it is read"), names);
    }
}
