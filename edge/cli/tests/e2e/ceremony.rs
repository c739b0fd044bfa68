//! A genesis that four founders make together, each on a machine of its own.

use crate::{
    network::{FUNDED, daemon, free_ports},
    process::{Node, wait_for_height},
};
use commonware_codec::DecodeExt as _;
use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
use serde_json::Value;
use std::{fs, path::Path};

const FOUNDERS: usize = 4;

fn settings(root: &Path) -> String {
    let text = format!(
        "chain_id = 7\nvalidators = {FOUNDERS}\n\n[parameters]\n\"consensus.block_time\" = 200\n\n[[account]]\naddress = \"{FUNDED}\"\ncby = 1000\n"
    );
    fs::write(root.join("genesis.toml"), &text).expect("it is writable");
    text
}

/// The founders of one ceremony. Each has a folder of its own; the exchange folder is common, as where files are passed around.
struct Founders<'a> {
    root: &'a Path,
    ports: u16,
}

impl Founders<'_> {
    fn run(&self, founder: usize, settings: &str) -> (Option<i32>, Value, String) {
        let port = self.ports + u16::try_from(founder).expect("there are few");
        let (account, address, out) =
            (format!("0x{}", format!("a{founder}").repeat(20)), format!("127.0.0.1:{port}"), format!("{founder}/validator.json"));
        fs::create_dir_all(self.root.join(founder.to_string())).expect("it is writable");
        let options = ["--settings", settings, "--account", &account, "--address", &address, "--out", &out];
        let (code, said) = daemon(self.root, &[&["--json", "ceremony"], &options[..]].concat());
        let json = serde_json::from_str(&said).unwrap_or(Value::Null);
        (code, json, said)
    }

    /// A run that ends well: what it says.
    fn advance(&self, founder: usize) -> Value {
        let (code, json, said) = self.run(founder, "genesis.toml");
        assert_eq!(code, Some(0), "founder {founder}: {said}");
        json
    }

    fn own(&self, founder: usize) -> Value {
        let text = fs::read(self.root.join(format!("{founder}/validator.ceremony"))).expect("the founder has its secrets");
        serde_json::from_slice(&text).expect("it is JSON")
    }

    fn network_key(&self, founder: usize) -> PrivateKey {
        let text = self.own(founder)["secrets"]["network"].as_str().expect("a key").to_owned();
        PrivateKey::decode(hex::decode(&text[2..]).expect("it is hex")).expect("it is a key")
    }

    /// Where a founder's message of this kind stands.
    fn message(&self, kind: &str, founder: usize) -> std::path::PathBuf {
        let key = hex::encode(&self.network_key(founder).public_key().as_ref()[..8]);
        self.root.join(format!("exchange/{kind}-{key}.txt"))
    }
}

/// Four founders come to one genesis hash, though one loses a message after it was recorded and one has other settings at first. The
/// secrets of the ceremony are gone at the end, and the validators make blocks.
#[test]
fn founders_make_a_chain_without_a_dealer() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let text = settings(root);
    let founders = Founders { root, ports: free_ports(4) };
    // Founder 3 has a card for other settings: everybody who reads it says so.
    fs::write(root.join("other.toml"), text.replace("1000", "1001")).expect("it is writable");
    assert_eq!(founders.run(3, "other.toml").0, Some(0));
    let (code, _, said) = founders.run(0, "genesis.toml");
    assert!(code == Some(1) && said.contains("compare the settings file"), "{said}");
    fs::remove_file(founders.message("card", 3)).expect("it is there");
    fs::remove_file(root.join("3/validator.ceremony")).expect("it is there");

    for founder in 0..FOUNDERS {
        let said = founders.advance(founder);
        assert_eq!((&said["state"], said["message"].as_str()), (&"waiting".into(), Some(if founder == 3 { "dealing" } else { "card" })));
    }
    for founder in 0..3 {
        founders.advance(founder);
    }
    // It recorded its acknowledgement, and the file did not get out.
    founders.advance(0);
    let (path, seen) = (founders.message("acknowledgement", 3), founders.advance(3));
    assert_eq!(seen["message"], "acknowledgement", "{seen}");
    let acknowledged = fs::read(&path).expect("it was sent");
    fs::remove_file(&path).expect("it is there");
    founders.advance(3);
    assert_eq!(fs::read(&path).expect("it is sent again"), acknowledged);
    // Half of a message is refused by name, and taken when it is whole again.
    fs::write(&path, &acknowledged[..200]).expect("it is writable");
    let (code, _, said) = founders.run(1, "genesis.toml");
    assert!(code == Some(1) && said.contains("is not signed by its founder"), "{said}");
    let (code, _, said) = founders.run(3, "genesis.toml");
    assert!(code == Some(1) && said.contains("is not what this founder sent"), "{said}");
    fs::write(&path, &acknowledged).expect("it is writable");

    let mut hashes = Vec::new();
    for _ in 0..4 {
        hashes = (0..FOUNDERS).map(|founder| founders.advance(founder)["genesis"].clone()).collect();
    }
    assert!(hashes[0].is_string() && hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
    for founder in 0..FOUNDERS {
        assert!(!root.join(format!("{founder}/validator.ceremony")).exists(), "what opens its shares is gone");
    }
    let nodes: Vec<Node> = (0..FOUNDERS)
        .map(|founder| {
            let config = format!("{founder}/validator.json");
            Node::start(root, &["start", "--config", &config, "--port", "0"]).expect("the validator starts")
        })
        .collect();
    nodes.iter().for_each(|node| wait_for_height(&node.url, 3));
    for node in nodes {
        assert_eq!(node.terminate(), Some(0));
    }
}

/// A founder that deals a wrong share is named by the one that it was dealt to, and no genesis comes out.
#[test]
fn a_founder_that_cheats_is_named() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    settings(root);
    let founders = Founders { root, ports: free_ports(4) };
    for round in 0..2 {
        for founder in 0..FOUNDERS - round {
            founders.advance(founder);
        }
    }
    // All encrypted shares of founder 2 are others, and it signs them.
    let path = founders.message("dealing", 2);
    let text = fs::read_to_string(&path).expect("it was sent");
    let mut message: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("it is JSON");
    let body = message["body"].as_str().expect("it is hex").to_owned();
    let (point, rest) = body.split_at(2 + 2 * 96);
    let (shares, commitment) = rest.split_at(2 * 32 * FOUNDERS);
    let flipped: String = shares.chars().map(|digit| if digit == '7' { '1' } else { '7' }).collect();
    message["body"] = format!("{point}{flipped}{commitment}").into();
    let line = message.to_string();
    // The order of fields is the reader's concern: the signature is over the line.
    let signature = founders.network_key(2).sign(b"cowboy-founding-message", line.as_bytes());
    fs::write(&path, format!("{line}\n0x{}\n", hex::encode(signature.as_ref()))).expect("it is writable");
    let (code, _, said) = founders.run(3, "genesis.toml");
    let name = format!("0x{}", "a2".repeat(20));
    assert!(code == Some(1) && said.contains(&name) && said.contains("dealt a share that does not belong"), "{said}");
    assert!(!root.join("3/genesis.json").exists());
}
