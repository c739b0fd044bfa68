//! Two headers of one round, reported by hand.

use crate::{
    network::{KEY, make, start_with},
    process::{Node, cowboy, wait_for_height},
};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::{Header, signing::PrivateKey};
use serde_json::Value;
use std::{fs, path::Path};

/// The key with which the validator at an address signs headers: at genesis this is its account's.
fn signer(root: &Path, address: &str) -> PrivateKey {
    let of_file = |index: usize| {
        let text = fs::read(root.join(format!("network/validator-{index}.json"))).expect("it is readable");
        let file: Value = serde_json::from_slice(&text).expect("it is JSON");
        let bytes = hex::decode(&file["secrets"]["signer"].as_str().expect("a key")[2..]).expect("it is hex");
        PrivateKey::from_bytes(bytes.try_into().expect("a key has 32 bytes")).expect("it is a key")
    };
    (0..4).map(of_file).find(|key| key.address().to_string() == address).expect("one of the four has it")
}

/// whoever holds two headers of one round reports them by a command: the validator goes to jail and loses a hundredth of its stake. What is no
/// evidence is refused before anything is sent.
#[test]
fn two_headers_of_a_round_are_reported_by_command() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    make(root, &[]);
    let nodes: Vec<Node> = (0..4).map(|index| start_with(root, index, &[])).collect();
    wait_for_height(&nodes[0].url, 2);
    let ask = |arguments: &[&str]| cowboy(root, &nodes[0].url, &[arguments, &["--private-key", KEY, "--json"]].concat());
    let blocks = [1, 2].map(|height| ask(&["block", "get", &height.to_string()]).json());
    for (name, block) in ["first.json", "next.json"].iter().zip(&blocks) {
        fs::write(root.join(name), block.to_string()).expect("it is writable");
    }
    let listed = ask(&["validator", "list"]).json();
    let rows = listed["validators"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["consensus_key"] == blocks[0]["header"]["proposer"]).expect("a validator proposed it");
    let accused = row["address"].as_str().expect("an address");

    let encoded = blocks[0]["header"]["encoded"].as_str().expect("it has bytes").to_owned();
    let mut header = Header::decode(hex::decode(&encoded[2..]).expect("it is hex")).expect("it is a header");
    header.timestamp_ms.0 += 1;
    let hex_of = |header: &Header| format!("0x{}", hex::encode(header.encode()));
    let unsigned = hex_of(&header);
    header.signature = signer(root, accused).sign(&header.signing_digest());
    let second = hex_of(&header);
    for (first, second, reason) in [
        ("@first.json", encoded.as_str(), "the same header is given twice"),
        ("@first.json", "@next.json", "of two rounds"),
        ("@first.json", unsigned.as_str(), "not signed with one key"),
        ("0x00", second.as_str(), "0x00 has no header"),
    ] {
        let refused = ask(&["validator", "report", accused, first, second]);
        assert!(refused.code == Some(2) && refused.stderr.contains(reason), "{reason}: {refused:?}");
    }
    let reported = ask(&["validator", "report", accused, "@first.json", second.as_str()]);
    assert_eq!(reported.code, Some(0), "{reported:?}");
    let now = ask(&["validator", "get", accused]).json();
    assert_eq!((&now["status"], &now["jailings"]), (&"jailed".into(), &1.into()), "{now}");
    assert_eq!(now["stake"].as_u64().zip(row["stake"].as_u64()).map(|(now, before)| now * 100 == before * 99), Some(true), "{now}");
    for node in nodes {
        assert_eq!(node.terminate(), Some(0));
    }
}
