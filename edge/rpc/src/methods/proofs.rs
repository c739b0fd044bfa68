//! Proofs that verify against a finalized header (decision 135).

use super::actors::key_bytes;
use crate::{
    App,
    read::{self, Found},
    refusal::{Answer, Body, Named, Refusal, parse},
};
use axum::{
    Json,
    extract::{Path, State},
};
use commonware_codec::Encode as _;
use cowboy_api::{
    Hex,
    error::{BAD_REQUEST, BUSY},
    model::{self, MAX_PROOF_KEYS},
};
use cowboy_node::reader::{self, ATTEMPTS, ProveError, Proving, StateReader, proven_bytes};
use cowboy_state::{Key, Kind, StateKey};
use cowboy_store::{View, proof::StateProof};
use cowboy_types::{Address, Hash, Header, Receipt, Transaction, merkle};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// How long a block or a certificate that is on its way is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The wait before the ledger is asked again for a certificate.
const PAUSE: Duration = Duration::from_millis(20);

/// The most bytes of records and proofs of one answer, which doubles them in hex: one record of the largest size, with the longest proof, fits.
const MAX_PROVEN_BYTES: usize = 8 * 1024 * 1024;

/// The most headers between what is proven and what is finalized by a certificate of its own.
const MAX_HEADERS: u64 = 64;

pub(crate) async fn account(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Proof> {
    of_state(&app, vec![Key::account(address)]).await
}

pub(crate) async fn actor(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Proof> {
    of_state(&app, vec![Key::of(Kind::Actor, address)]).await
}

pub(crate) async fn storage(State(app): State<App>, Path((address, key)): Path<(String, String)>) -> Answer<model::Proof> {
    of_state(&app, vec![Key::storage(parse(&address)?, key_bytes(&key)?)]).await
}

pub(crate) async fn multi(State(app): State<App>, Body(asked): Body<model::ProofRequest>) -> Answer<model::Proof> {
    let mut keys: Vec<Key> = asked.accounts.iter().map(|address| Key::account(address.0)).collect();
    keys.extend(asked.actors.iter().map(|address| Key::of(Kind::Actor, address.0)));
    keys.extend(asked.storage.iter().map(|entry| Key::storage(entry.address.0, entry.key.0.clone())));
    keys.extend(asked.records.iter().map(|record| Key::named(Kind::System, record.address.0, record.key.0.clone())));
    match keys.len() {
        0 => Err(Refusal::bad("keys", "name at least one account, actor, entry of storage or record")),
        1..=MAX_PROOF_KEYS => of_state(&app, keys).await,
        more => Err(Refusal::new(BAD_REQUEST, json!({ "keys": more, "most": MAX_PROOF_KEYS }))),
    }
}

/// Proves records of the newest state, for the block that made it.
async fn of_state(app: &App, keys: Vec<Key>) -> Answer<model::Proof> {
    let chain = app.node.chain()?;
    let state = chain.state().ok_or(BUSY)?;
    let keys: Vec<StateKey> = keys.iter().map(Key::digest).collect();
    if app.node.head().number == 0 {
        return Err(Refusal::new(BUSY, json!({ "reason": "the node has no block yet" })));
    }
    // Within a run of blocks the state is ahead of the newest one.
    let late = |_| Refusal::new(BUSY, json!({ "reason": "the node executes blocks" }));
    let still = tokio::time::timeout(PATIENCE, chain.proving.still()).await.map_err(late)?;
    let proofs = proven(state.as_ref(), &chain.proving, &keys).await?;
    let root = proofs.values().next().map(|proof| proof.root).ok_or(BUSY)?;
    let number = block_of(app, root).await?;
    drop(still);
    let item = |key: &StateKey| {
        let proven = proofs.get(key)?;
        Some(model::ProofItem {
            key: Hex(Hash(key.0)),
            value: proven.value.as_ref().map(|value| Hex(value.to_vec())),
            proof: Hex(proven.proof.clone()),
        })
    };
    finalized(app, number, "state", keys.iter().filter_map(item).collect()).await
}

/// Proofs of these keys in one state, each made once. The answer has an item for each key, so that a key that is named twice counts twice.
async fn proven(state: &dyn StateReader, proving: &Proving, keys: &[StateKey]) -> Result<BTreeMap<StateKey, StateProof>, Refusal> {
    let too_large = || {
        let reason = "the records and their proofs are too long: ask for fewer keys at once";
        Refusal::new(BAD_REQUEST, json!({ "keys": keys.len(), "max_bytes": MAX_PROVEN_BYTES, "reason": reason }))
    };
    let once: BTreeSet<StateKey> = keys.iter().copied().collect();
    for attempt in 0..ATTEMPTS {
        let turn = tokio::time::timeout(PATIENCE, proving.turn(attempt)).await;
        let (batch, _turn) = turn.map_err(|_| Refusal::new(BUSY, json!({ "reason": "the proofs of other answers are made first" })))?;
        let mut made = 0_usize;
        let has_room = |bytes| {
            made = made.saturating_add(bytes);
            made <= MAX_PROVEN_BYTES
        };
        let proofs = match reader::prove(state, &once, batch, has_room).await {
            Ok(proofs) => proofs,
            Err(ProveError::Moved) => continue,
            Err(ProveError::NoRoom) => return Err(too_large()),
        };
        let bytes: usize = keys.iter().filter_map(|key| proofs.get(key)).map(proven_bytes).sum();
        return if bytes <= MAX_PROVEN_BYTES { Ok(proofs) } else { Err(too_large()) };
    }
    Err(Refusal::new(BUSY, json!({ "reason": ProveError::Moved.to_string() })))
}

/// The block whose state has this root. The state is committed a moment before its block is in the ledger, and by then others may follow.
async fn block_of(app: &App, root: Hash) -> Result<u64, Refusal> {
    let mut heads = app.node.watch_head();
    let found = async {
        loop {
            let newest = heads.borrow_and_update().number;
            let view = read::ledger(app)?;
            for number in (newest.saturating_sub(MAX_HEADERS).max(read::oldest(&view)?)..=newest).rev() {
                if read::block(&view, number)?.header.state_root == root {
                    return Ok(number);
                }
            }
            drop(view);
            if heads.changed().await.is_err() {
                return Err(BUSY.into());
            }
        }
    };
    let late = |_| Refusal::new(BUSY, json!({ "reason": "the block of the proven state is still on its way to the ledger" }));
    tokio::time::timeout(PATIENCE, found).await.map_err(late)?
}

pub(crate) async fn transaction(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Proof> {
    let view = read::ledger(&app)?;
    let found = included(&view, &hash)?;
    let digests: Vec<Hash> = found.block.transactions.iter().map(Transaction::digest).collect();
    let index = usize::try_from(found.place.index).unwrap_or(usize::MAX);
    let proof = merkle::prove(&digests, index).ok_or_else(|| Refusal::missing("transaction", hash))?;
    let value = found.block.transactions.get(index).map(|sent| Hex(sent.to_bytes().to_vec()));
    let item = model::ProofItem { key: Hex(hash), value, proof: Hex(proof.encode().to_vec()) };
    finalized(&app, found.place.number, "transaction", vec![item]).await
}

pub(crate) async fn receipt(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Proof> {
    let view = read::ledger(&app)?;
    let found = included(&view, &hash)?;
    let digests: Vec<Hash> = view.receipts(found.place.number)?.iter().map(Receipt::digest).collect();
    let index = usize::try_from(found.place.index).unwrap_or(usize::MAX);
    let proof = merkle::prove(&digests, index).ok_or_else(|| Refusal::missing("receipt", hash))?;
    let item = model::ProofItem {
        key: Hex(found.receipt.digest()),
        value: Some(Hex(found.receipt.encode().to_vec())),
        proof: Hex(proof.encode().to_vec()),
    };
    finalized(&app, found.place.number, "receipt", vec![item]).await
}

fn included(view: &View, hash: &Hash) -> Result<Found, Refusal> {
    read::receipt(view, hash)?.ok_or_else(|| Refusal::missing("hash", hash))
}

/// The view of the ledger in which this block, or one after it, has a certificate; the block's number, and the certificate.
async fn certified(app: &App, number: u64) -> Result<(View, u64, Vec<u8>), Refusal> {
    let found = async {
        loop {
            let view = read::ledger(app)?;
            if let Some((last, certificate)) = view.certificate_from(number)? {
                return Ok((view, last, certificate));
            }
            drop(view);
            tokio::time::sleep(PAUSE).await;
        }
    };
    let late = |_| Refusal::new(BUSY, json!({ "reason": "the finalization is still on its way" }));
    tokio::time::timeout(PATIENCE, found).await.map_err(late)?
}

/// The answer: the proven things, and the headers up to one that has a certificate of its own.
async fn finalized(app: &App, number: u64, root: &str, items: Vec<model::ProofItem>) -> Answer<model::Proof> {
    let (view, last, finalization) = certified(app, number).await?;
    if last.saturating_sub(number) > MAX_HEADERS {
        return Err(Refusal::new(BUSY, json!({ "reason": "no certificate near this block is kept" })));
    }
    let mut headers: Vec<Header> = Vec::new();
    for number in number..=last {
        headers.push(read::block(&view, number)?.header);
    }
    Ok(Json(model::Proof {
        height: headers.first().map_or(0, |header| header.height().get()),
        root: root.into(),
        items,
        headers: headers.iter().map(|header| Hex(header.encode().to_vec())).collect(),
        finalization: Hex(finalization),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use cowboy_node::reader::{Batch, Wanted};
    use futures::{FutureExt as _, future::BoxFuture};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A state in which the proof of every key has 1 MiB, as one of absence has behind a long record. It counts the proofs that it makes.
    #[derive(Default)]
    struct Long(AtomicUsize);

    impl StateReader for Long {
        fn read(&self, _: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Bytes>>> {
            unreachable!("keys are only proven")
        }

        fn root(&self) -> BoxFuture<'_, Hash> {
            unreachable!("keys are only proven")
        }

        fn operations(&self, _: Wanted) -> BoxFuture<'_, Option<Bytes>> {
            unreachable!("keys are only proven")
        }

        fn prove(&self, keys: Vec<StateKey>, _: Batch) -> BoxFuture<'_, Vec<StateProof>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let proof = StateProof { root: Hash([7; 32]), value: None, proof: vec![0; 1024 * 1024] };
            std::future::ready(keys.into_iter().take(1).map(|_| proof.clone()).collect()).boxed()
        }
    }

    /// Whoever names one key, or many, with a long proof does not fill the node's memory: a key is proven once, and few megabytes are proven at all.
    #[tokio::test]
    async fn proofs_of_one_answer_have_a_bound() {
        let key = |number: usize| StateKey([u8::try_from(number).expect("few keys"); 32]);
        for (keys, made, is_answered) in [
            (vec![key(1); MAX_PROOF_KEYS], 1, false),
            (vec![key(1); 8], 1, true),
            ((0..8).map(key).collect(), 8, true),
            ((0..200).map(key).collect(), 9, false),
        ] {
            let state = Long::default();
            let found = proven(&state, &Proving::default(), &keys).await;
            assert_eq!((state.0.into_inner(), found.is_ok()), (made, is_answered), "{} keys", keys.len());
            assert!(found.is_ok() || found.is_err_and(|refusal| refusal.0.code == BAD_REQUEST.code));
        }
    }
}
