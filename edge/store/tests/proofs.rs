//! Our verifier against the database's own.

use commonware_cryptography::blake3::Blake3;
use commonware_runtime::{Runner as _, Supervisor as _, buffer::paged::CacheRef, deterministic};
use commonware_storage::{
    mmr,
    qmdb::{any::value::VariableEncoding, current::ordered::proof::constant, floor::Proportional},
};
use commonware_utils::{NZU16, NZUsize};
use cowboy_light::state::{proves_absence, proves_value};
use cowboy_state::StateKey;
use cowboy_store::{
    proof::{self, StateProof},
    state::{self, Db, RawKey, Value, raw},
};
use cowboy_types::blake3;

type Context = deterministic::Context;

fn key(number: u64) -> StateKey {
    StateKey(blake3(&[&number.to_be_bytes()]).0)
}

fn value(number: u64, round: u64) -> Value {
    let length = usize::try_from(number % 90).expect("small");
    [&round.to_be_bytes()[..], &vec![7; length]].concat().into()
}

async fn apply(db: Db<Context>, writes: impl IntoIterator<Item = (u64, Option<Value>)>) -> Db<Context> {
    let mut batch = db.new_batch();
    for (number, value) in writes {
        batch = batch.write(raw(&key(number)), value);
    }
    let merkleized = batch.merkleize(&db, None, &mut Proportional).await.expect("it merkleizes");
    db.apply_batch(merkleized).await.expect("it applies")
}

/// What the database's own verifier says.
fn upstream(proof: &StateProof, key: &StateKey) -> bool {
    let root = proof.root.0.into();
    let bytes = bytes::Bytes::copy_from_slice(&proof.proof);
    match &proof.value {
        Some(value) => {
            type Proof = constant::KeyValueProof<mmr::Family, RawKey, commonware_cryptography::blake3::Digest, { state::CHUNK }>;
            let decoded = <Proof as commonware_codec::Decode>::decode_cfg(bytes, &(256, ())).expect("it decodes");
            decoded.verify::<Blake3, VariableEncoding<Value>>(raw(key), value.clone(), &root)
        }
        None => {
            type Proof = constant::ExclusionProof<
                mmr::Family,
                RawKey,
                VariableEncoding<Value>,
                commonware_cryptography::blake3::Digest,
                { state::CHUNK },
            >;
            let range = commonware_codec::RangeCfg::from(0..=state::MAX_VALUE_BYTES);
            let decoded = <Proof as commonware_codec::Decode>::decode_cfg(bytes, &(256, ((), range), range)).expect("it decodes");
            decoded.verify::<Blake3>(&raw(key), &root)
        }
    }
}

fn ours(proof: &StateProof, key: &StateKey) -> bool {
    match &proof.value {
        Some(value) => proves_value(&proof.root, &key.0, value, &proof.proof),
        None => proves_absence(&proof.root, &key.0, &proof.proof),
    }
}

async fn check(db: &Db<Context>, number: u64) {
    let key = key(number);
    let proof = proof::prove(db, &key).await.expect("it proves");
    assert!(upstream(&proof, &key), "upstream holds key {number} of {} operations", db.bounds().end);
    assert!(ours(&proof, &key), "we hold key {number} of {} operations", db.bounds().end);
    refuse(&proof, &key);
}

/// No proof proves anything else: another key, value, root, or a changed byte.
fn refuse(proof: &StateProof, key: &StateKey) {
    let other = StateKey(blake3(&[b"other", &key.0]).0);
    if let Some(value) = &proof.value {
        let mut changed = value.to_vec();
        changed.push(0);
        assert!(!proves_value(&proof.root, &key.0, &changed, &proof.proof), "another value");
        assert!(!proves_value(&proof.root, &other.0, value, &proof.proof), "another key");
        assert!(!proves_absence(&proof.root, &key.0, &proof.proof), "the opposite");
    }
    for place in (0..proof.proof.len()).step_by(7) {
        let mut changed = proof.clone();
        changed.proof[place] ^= 1;
        assert!(!ours(&changed, key), "byte {place} changed");
    }
    let mut shorter = proof.clone();
    shorter.proof.pop();
    assert!(!ours(&shorter, key), "a byte is missing");
    let mut longer = proof.clone();
    longer.proof.push(0);
    assert!(!ours(&longer, key), "a byte too many");
    let elsewhere = StateProof { root: cowboy_types::Hash(other.0), ..proof.clone() };
    assert!(!ours(&elsewhere, key), "another root");
}

/// present and absent, in states of every shape: nothing, one chunk, many, old ones inactive.
#[test]
fn our_verifier_agrees_with_the_database() {
    deterministic::Runner::default().start(|context| async move {
        let pages = CacheRef::new(NZU16!(1_024), NZUsize!(64));
        let mut db = Db::init(context.child("db"), state::config("test", pages), None).await.expect("it opens");
        check(&db, 1).await;
        for round in 0..40u64 {
            // Every round changes some, adds some, and removes some.
            let changed = (0..13).map(|step| ((round * 31 + step * 17) % 400, Some(value(step, round))));
            let added = (0..29).map(|step| (1_000 + round * 29 + step, Some(value(step, round))));
            let removed = (0..5).map(|step| ((round * 13 + step * 7) % 400, None));
            db = apply(db, changed.chain(added).chain(removed)).await;
            for number in [0, round, 100, 399, 1_000, 1_000 + round * 29, 999_999, 1_000_000 + round] {
                check(&db, number).await;
            }
        }
        let everything = (0..3_000).map(|number| (number, None));
        db = apply(db, everything).await;
        check(&db, 5).await;
    });
}
