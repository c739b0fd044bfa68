//! Backups of validators that do not fit where they are restored.

use crate::network::{FUNDED, daemon};
use serde_json::Value;
use std::fs;

/// A backup of another chain, and one that is damaged, are refused with what to do, and nothing is made or changed. In a new folder the backup has all that
/// a validator needs.
#[test]
fn backups_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    for chain in ["a", "b"] {
        let made = daemon(root, &["genesis", "--validators", "1", "--fund", FUNDED, "--out", chain]);
        assert_eq!(made.0, Some(0), "{made:?}");
    }
    let made = daemon(root, &["keys", "backup", "--config", "b/validator-0.json", "--out", "b.backup"]);
    assert_eq!(made.0, Some(0), "{made:?}");
    let text = fs::read_to_string(root.join("b.backup")).expect("it is readable");
    let mut other: Value = serde_json::from_str(&text).expect("it is JSON");
    other["genesis"] = format!("0x{}", "07".repeat(32)).into();
    fs::write(root.join("other.backup"), other.to_string()).expect("it is writable");
    other["genesis"] = serde_json::from_str::<Value>(&text).expect("it is JSON")["genesis"].clone();
    other["shares"] = serde_json::json!({ "epoch-1": "0x07" });
    fs::write(root.join("share.backup"), other.to_string()).expect("it is writable");
    fs::write(root.join("cut.backup"), &text[..text.len() / 2]).expect("it is writable");
    let own = fs::read(root.join("a/validator-0.json")).expect("it is readable");
    for (backup, config, reason, mend) in [
        ("b.backup", "a/validator-0.json", "is of a validator of another chain", "--config"),
        ("b.backup", "a/new.json", "is of a validator of another chain", "--config"),
        ("other.backup", "c/validator.json", "its genesis has another hash", "use another backup"),
        ("share.backup", "c/validator.json", "epoch-1 is not a file of shares", "use another backup"),
        ("cut.backup", "c/validator.json", "cut.backup is not what", "copy it again"),
    ] {
        let (code, said) = daemon(root, &["keys", "restore", backup, "--config", config]);
        assert!(code == Some(1) && said.contains(reason) && said.contains(mend), "{backup} to {config}: {said}");
    }
    assert_eq!(fs::read(root.join("a/validator-0.json")).expect("it is readable"), own);
    assert!(!root.join("a/new.json").exists() && !root.join("a/state-0").exists() && !root.join("c").exists());

    let restored = daemon(root, &["keys", "restore", "b.backup", "--config", "c/validator.json"]);
    assert_eq!(restored.0, Some(0), "{restored:?}");
    let made = daemon(root, &["keys", "new", "--genesis", "a/genesis.json", "--out", "d/validator.json"]);
    assert!(made.0 == Some(0) && root.join("d/validator.json").exists(), "{made:?}");
    let keys = |config: &str| daemon(root, &["--json", "keys", "show", "--config", config]).1;
    let network = |config: &str| serde_json::from_str::<Value>(&keys(config)).expect("it is JSON")["network"].clone();
    assert_eq!(network("c/validator.json"), network("b/validator-0.json"));
}
