//! Inline blobs as the host sees them (003 §7.1 to §7.3).

use bytes::Bytes;
use cowboy_state::records::ActorStatus;
use cowboy_testkit::chain::{Chain, manifest_json, parameters};
use cowboy_types::units::{Cells, Count, Cycles, Height};
use cowboy_types::{Address, error};
use sha2::{Digest as _, Sha256};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_blob_stands_under_the_hash_of_its_content,
    blobs_have_a_maximum_size,
    blobs_need_their_entitlement,
    a_blob_ends_with_its_entry,
    a_blob_is_evicted_with_its_owner,
];

const SCRIPT: &str = "handler put\n try blob $payload\n return $last\nhandler get\n blob_read $payload\n return $last\n\
     handler delete\n delete $payload\nhandler other\n set $payload 'other'\n";

fn multihash(data: &[u8]) -> Vec<u8> {
    [&[0x12, 0x20][..], &Sha256::digest(data)].concat()
}

/// Deploys the script with storage.kv and these parameters of storage.blob.
fn deploy(chain: &mut Chain, parameters: &str) -> Address {
    let manifest = manifest_json(&format!(r#"{{"entitlements":[{{"id":"storage.blob"{parameters}}},{{"id":"storage.kv"}}]}}"#));
    let code = format!("#script\n{SCRIPT}");
    let deployment = cowboy_testkit::chain::deployment_of(code.as_bytes(), Some(manifest), None, b"", 0);
    chain.send(2, deployment).created.expect("it is deployed")
}

/// A-176: the commitment is the multihash of the content. Both functions have their price, and a query may read.
#[test]
fn a_blob_stands_under_the_hash_of_its_content() {
    let mut chain = Chain::new();
    let actor = deploy(&mut chain, "");
    let data = [7; 2_049];
    let name = multihash(&data);
    let receipt = chain.call(actor, "put", &data);
    assert_eq!(receipt.return_data[..], name[..]);
    assert_eq!(chain.actor(actor).storage_bytes, Count(34 + 2_049), "it is an entry of the actor's storage");
    // Three lines of the script engine; two writes, since the entry is new, and three KiB begun.
    assert_eq!(receipt.cycles_used, Cycles(21_000 + 20 + 2 * 200 + 3 * 40));
    // The payload and the handler's name; the entry, its name in the directory; the returned hash.
    assert_eq!(receipt.cells_used, Cells(2_049 + 3 + 34 + 2_049 + 34 + 34));
    let receipt = chain.call(actor, "get", &name);
    assert_eq!(receipt.return_data[..], data);
    assert_eq!(receipt.cycles_used, Cycles(21_000 + 20 + 100 + 3 * 40));
    assert_eq!(receipt.cells_used, Cells(34 + 3 + 21 + 2_049));
    assert_eq!(chain.ask(actor, "get", &name, None).result, Ok(Bytes::copy_from_slice(&data)));
    assert_eq!(chain.call(actor, "put", &data).return_data[..], name[..], "the same bytes have the same name");
    assert_eq!(chain.actor(actor).storage_bytes, Count(34 + 2_049));
    assert_eq!(chain.call(actor, "get", &multihash(b"unknown")).return_data[..], *b"None");
}

/// A-50, A-176: 64 KiB fit, one byte more does not.
#[test]
fn blobs_have_a_maximum_size() {
    let mut chain = Chain::new();
    let actor = deploy(&mut chain, "");
    let (fits, does_not) = ([1; 65_536], [1; 65_537]);
    assert_eq!(chain.call(actor, "put", &fits).return_data[..], multihash(&fits)[..]);
    assert_eq!(chain.call(actor, "put", &does_not).return_data[..], *b"storage_entry_too_large");
    assert_eq!(chain.call(actor, "put", b"").return_data[..], multihash(b"")[..], "an empty blob is one");
    assert_eq!(chain.call(actor, "get", &multihash(b"")).return_data[..], *b"");
}

/// A-180, A-263: storage.blob gates both functions, and bounds each blob.
#[test]
fn blobs_need_their_entitlement() {
    let mut chain = Chain::new();
    let without = chain.deploy(SCRIPT);
    for handler in ["put", "get"] {
        assert_eq!(chain.call(without, handler, b"x").abort, Some(error::MISSING_ENTITLEMENT), "{handler}");
    }
    let bounded = deploy(&mut chain, r#","params":{"max_bytes":5}"#);
    assert!(chain.call(bounded, "put", b"12345").is_success());
    assert_eq!(chain.call(bounded, "put", b"123456").abort, Some(error::ENTITLEMENT_QUOTA));
}

/// A-177: a blob stands until its owner deletes or overwrites the entry. What stands there then is not given out as the blob.
#[test]
fn a_blob_ends_with_its_entry() {
    let mut chain = Chain::new();
    let actor = deploy(&mut chain, "");
    let name = multihash(b"picture");
    for end in ["delete", "other"] {
        assert!(chain.call(actor, "put", b"picture").is_success());
        chain.idle(3);
        assert_eq!(chain.call(actor, "get", &name).return_data[..], *b"picture");
        assert!(chain.call(actor, end, &name).is_success());
        assert_eq!(chain.call(actor, "get", &name).return_data[..], *b"None", "{end}");
    }
}

/// A-177: a blob has no time of its own. It pays rent with its owner, and is evicted with it.
#[test]
fn a_blob_is_evicted_with_its_owner() {
    let rows = parameters(&[("rent.epoch", 100), ("rent.rate", 365_000), ("rent.free_bytes", 1_000)]);
    let mut chain = Chain::with(|genesis| genesis.parameters = rows);
    let actor = deploy(&mut chain, "");
    let data = [7; 30_000];
    assert!(chain.call(actor, "put", &data).is_success());
    for epoch in 1..=10 {
        assert_eq!(chain.call(actor, "get", &multihash(&data)).return_data[..], data, "epoch {epoch}");
        chain.height = Height(epoch * 100 - 1);
        chain.idle(1);
    }
    let record = chain.actor(actor);
    assert_eq!((record.status, record.storage_bytes), (ActorStatus::Dormant, Count(0)));
    assert_eq!(chain.call(actor, "get", &multihash(&data)).abort, Some(error::ACTOR_DORMANT));
}
