//! The published vectors of secrets: a committee, transport keys, sealed secrets, and what is released of them.
#![allow(dead_code, reason = "the example that prints them uses a part")]

use commonware_codec::Encode as _;
use commonware_cryptography::bls12381::dkg::feldman_desmedt::deal_anonymous;
use commonware_cryptography::bls12381::primitives::group::Share;
use commonware_cryptography::bls12381::primitives::sharing::{Mode, Sharing};
use commonware_cryptography::bls12381::primitives::variant::MinSig;
use commonware_utils::N3f1;
use cowboy_sealing::{TransportSecret, answer, combine, seal};
use cowboy_secrets::{Identity, Kind, Name, PointG2, partial};
use cowboy_types::{Address, Hash};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};
use std::num::NonZeroU32;

/// Random bytes that are the same each time.
pub(crate) fn random(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// A committee: its polynomial, the constant first, and its members' shares.
pub(crate) struct Committee {
    pub(crate) sharing: Sharing<MinSig>,
    pub(crate) polynomial: Vec<PointG2>,
    pub(crate) shares: Vec<Share>,
}

impl Committee {
    /// A committee of so many members, by a trusted dealing.
    pub(crate) fn new(seed: u64, members: u32) -> Self {
        let members = NonZeroU32::new(members).expect("there are members");
        let (sharing, shares) = deal_anonymous::<MinSig, N3f1>(random(seed), Mode::NonZeroCounter, members);
        let encoded = sharing.encode();
        let length = usize::try_from(sharing.required()).expect("few") * 96;
        let polynomial = encoded[encoded.len() - length..].chunks_exact(96);
        let polynomial = polynomial.map(|point| PointG2::new(point.try_into().expect("96 bytes")).expect("a point")).collect();
        Self { sharing, polynomial, shares }
    }
}

/// The identity of the WEATHER_KEY of an account.
pub(crate) fn identity(version: u64) -> Identity {
    let account = Address([0x11; 20]);
    Identity {
        kind: Kind::Secret,
        genesis: Hash([0x22; 32]),
        key_id: 1,
        account,
        name_hash: Name::new("WEATHER_KEY").expect("a name").hash(account),
        version,
        policy_hash: Hash([0x33; 32]),
    }
}

fn hex(bytes: impl AsRef<[u8]>) -> Value {
    Value::String(hex::encode(bytes))
}

/// The vectors as JSON.
pub(crate) fn json() -> String {
    let committee = Committee::new(1, 4);
    let transport = TransportSecret::random(&mut random(2));
    let key = transport.key();
    let values: [&[u8]; 4] = [b"", b"k-8f2e", &[0x5A; 60], &[0xA5; 61]];
    let secrets: Vec<Value> = (1..)
        .zip(values)
        .map(|(version, value)| {
            let identity = identity(version);
            let rng = &mut random(100 + version);
            let sealed = seal(rng, &committee.polynomial[0], identity.clone(), value).expect("a short value");
            let release = partial::release_id(&Hash([0x44; 32]), Address([0x55; 20]), &identity);
            let answers: Vec<_> = committee.shares.iter().map(|share| answer(rng, share, &identity, &key.key)).collect();
            let shares: Vec<_> = (0..)
                .zip(&answers)
                .map(|(index, answer)| {
                    let share_key = cowboy_secrets::share_key(&committee.polynomial, index).expect("a share key");
                    (index, transport.share(&identity, &share_key, answer).expect("an honest answer"))
                })
                .collect();
            let signature = combine(&committee.polynomial, &identity, &shares).expect("enough shares");
            json!({
                "value": hex(value),
                "identity": hex(identity.encode()),
                "sealed": hex(sealed.to_bytes()),
                "signature": hex(signature.bytes()),
                "release_id": hex(release.0),
                "answers": (0..).zip(&answers).map(|(index, answer)| json!({
                    "index": index,
                    "answer": hex(answer.encode()),
                    "digest_at_epoch_7": hex(answer.digest(&release, 7, index).0),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let account = Address([0x11; 20]);
    let file = json!({
        "name": { "account": hex(account.0), "name": "WEATHER_KEY", "hash": hex(identity(1).name_hash.0) },
        "job": hex([0x44; 32]),
        "runner": hex([0x55; 20]),
        "polynomial": committee.polynomial.iter().map(|point| hex(point.bytes())).collect::<Vec<_>>(),
        "shares": committee.shares.iter().map(|share| hex(share.private.encode())).collect::<Vec<_>>(),
        "transport": { "key": hex(key.key.bytes()), "proof": hex(key.proof.bytes()), "secret": hex(transport.bytes()) },
        "secrets": secrets,
    });
    serde_json::to_string_pretty(&file).expect("JSON") + "\n"
}

/// The file that other implementations read.
pub(crate) const PUBLISHED: &str = include_str!("../../../../tests/vectors/secrets.json");

#[test]
fn the_vectors_are_published() {
    assert!(PUBLISHED == json(), "run: cargo run -p cowboy-sealing --example vectors > tests/vectors/secrets.json");
}
