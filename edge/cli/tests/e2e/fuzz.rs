//! Every fuzz target on bytes from seeds: random ones, and ones that are right but for a byte.

#[path = "../../../../fuzz/bodies/mod.rs"]
mod bodies;
#[path = "../../../../fuzz/corpus.rs"]
mod corpus;

use commonware_codec::{Encode as _, conformance::generate_value};
use cowboy_secrets::sealed::{EncryptedKey, TAG_BYTES};
use cowboy_secrets::{Identity, Kind, Partial, Policy, Sealed, TransportKey};
use cowboy_types::wire::Fixed;
use cowboy_types::{Block, Header, Receipt, Transaction, blake3, permission::Scope};
use cowboy_volumes::relay::PointProof;
use cowboy_volumes::{BlobRef, Code, Leaf, Page};
use std::{collections::BTreeSet, io::Write as _};

/// Bytes from a seed, at most a kilobyte.
fn drawn(name: &str, seed: u64) -> Vec<u8> {
    let block = |number: u64| blake3(&[name.as_bytes(), &seed.to_be_bytes(), &number.to_be_bytes()]).0;
    let length = usize::from(u16::from_be_bytes([block(0)[0], block(0)[1]])) % 1_024;
    let mut bytes: Vec<u8> = (1..=32).flat_map(block).collect();
    bytes.truncate(length);
    bytes
}

/// What a target reads, where it is a format of which there are random values, or a text.
fn sample(name: &str, seed: u64) -> Vec<u8> {
    match name {
        "block" => generate_value::<Block>(seed).encode().to_vec(),
        "permission" => generate_value::<Scope>(seed).encode().to_vec(),
        "receipt" => generate_value::<Receipt>(seed).encode().to_vec(),
        "transaction" => generate_value::<Transaction>(seed).encode().to_vec(),
        "proof" => generate_value::<Header>(seed).encode().to_vec(),
        "cbor" => cbor(seed),
        "job" => br#"{"type":"http","url":"https://example.com/","verify":{"mode":"none"}}"#.to_vec(),
        "manifest" => {
            br#"{"entitlements":[{"id":"econ.hold_balance"},{"id":"http.fetch","params":{"allowlist_domains":["example.com"]}}]}"#.to_vec()
        }
        "secret" => secret(seed),
        "volume" => volume(seed),
        "source" => b"class A:\n    def f(self, n):\n        return [x ** 2 for x in range(n) if x]\n".to_vec(),
        _ => drawn(name, seed),
    }
}

/// One of the vectors, right or wrong.
fn cbor(seed: u64) -> Vec<u8> {
    let vectors: serde_json::Value = serde_json::from_str(include_str!("../../../../tests/vectors/cbor.json")).expect("JSON");
    let lists = vectors.as_object().expect("lists").values().filter_map(|list| list.as_array());
    let all: Vec<&str> = lists.flatten().filter_map(|vector| vector["hex"].as_str()).collect();
    hex::decode(all[usize::try_from(seed).expect("few") % all.len()]).expect("hex")
}

/// One of the formats of secrets.
fn secret(seed: u64) -> Vec<u8> {
    let key: TransportKey = generate_value(seed);
    let identity = Identity { kind: Kind::Secret, ..generate_value(seed) };
    match seed % 4 {
        0 => {
            let encrypted = EncryptedKey { u: key.proof, v: Fixed([1; 32]), w: Fixed([2; 32]) };
            Sealed { identity, key: encrypted, body: vec![3; 64 + TAG_BYTES].into() }.to_bytes()
        }
        1 => generate_value::<Policy>(seed).encode().to_vec(),
        2 => key.encode().to_vec(),
        _ => [&identity.encode()[..], &generate_value::<Partial>(seed).encode()].concat(),
    }
}

/// One of the formats of volumes.
fn volume(seed: u64) -> Vec<u8> {
    let leaf = || {
        let code = Code { data: 4, parity: 2 };
        let shards = cowboy_types::List::new(vec![cowboy_types::Hash([1; 32]); 6]).expect("six");
        Leaf { shards, ciphertext_bytes: seed, shard_bytes: code.shard_bytes(seed), ..generate_value(seed) }
    };
    match seed % 5 {
        0 => generate_value::<PointProof>(seed).encode().to_vec(),
        1 => leaf().encode().to_vec(),
        2 => Page { leaves: cowboy_types::List::new(vec![leaf()]).expect("one") }.encode().to_vec(),
        3 => {
            let (encoded, hash) = bao::encode::encode(vec![7; 1_024]);
            [&hash.as_bytes()[..], &1_024_u64.to_be_bytes(), &encoded].concat()
        }
        _ => BlobRef { hash: cowboy_types::Hash([2; 32]), size: seed, volume: [3; 20], is_public: true }.to_bytes().to_vec(),
    }
}

/// The same bytes with one of them changed.
fn changed(mut bytes: Vec<u8>, seed: u64) -> Vec<u8> {
    let places = u64::try_from(bytes.len()).expect("few");
    if places > 0 {
        let place = usize::try_from(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) % places).expect("it is below");
        bytes[place] ^= 1 << (seed % 8);
    }
    bytes
}

/// Says on the way out of a panic what ran.
struct Running(&'static str, u64);

impl Drop for Running {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = writeln!(std::io::stderr(), "target {}, seed {}", self.0, self.1);
        }
    }
}

fn has_python() -> bool {
    let version = std::process::Command::new("python3").arg("--version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("3.11."))
}

/// A-16: what no decoder, no checker and no block may do with any bytes, tried on some.
#[test]
fn every_fuzz_target_holds() {
    for (name, body) in bodies::ALL {
        let seeds = match *name {
            // `core/vm/tests/random.rs` runs a thousand of these.
            "language" => u64::from(has_python()),
            "execution" | "image" => 60,
            _ => 200,
        };
        for seed in 0..seeds {
            let _running = Running(name, seed);
            for bytes in [drawn(name, seed), sample(name, seed), changed(sample(name, seed), seed)] {
                corpus::keep(name, &bytes);
                body(&bytes);
            }
        }
    }
}

/// A target only passes its bytes to its body: so these tests see whether it compiles.
#[test]
fn every_fuzz_target_passes_its_bytes_on() {
    let manifest: toml::Table = include_str!("../../../../fuzz/Cargo.toml").parse().expect("a manifest");
    let bins = manifest["bin"].as_array().expect("targets");
    let named: BTreeSet<&str> = bins.iter().filter_map(|bin| bin["name"].as_str()).collect();
    let run = bodies::ALL.iter().map(|(name, _)| *name).chain(bodies::APART.iter().copied());
    assert_eq!(run.collect::<BTreeSet<_>>(), named);
    // Ordinary builds do without the fuzzer.
    assert!(bins.iter().all(|bin| bin["required-features"] == toml::Value::from(vec!["libfuzzer"])));
    for name in named {
        let path = format!("{}/../../fuzz/fuzz_targets/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let parts = [
            "#![no_main]\n\n".to_owned(),
            format!("#[path = \"../bodies/{name}.rs\"]\nmod {name};\n\n"),
            format!("libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {name}::body(bytes));\n"),
        ];
        assert_eq!(std::fs::read_to_string(path).expect("it is read"), parts.concat());
    }
}
