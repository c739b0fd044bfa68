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
use cowboy_state::{Key, Kind, StateKey};
use cowboy_store::View;
use cowboy_types::{Address, Hash, Header, Receipt, Transaction, merkle};
use serde_json::json;
use std::time::Duration;

/// How long a block or a certificate that is on its way is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The wait before the ledger is asked again for a certificate.
const PAUSE: Duration = Duration::from_millis(20);

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
    let proofs = state.prove(keys.clone()).await;
    let root = proofs.first().map(|proof| proof.root).ok_or(BUSY)?;
    let number = block_of(app, root).await?;
    let items = keys.iter().zip(proofs).map(|(key, proven)| model::ProofItem {
        key: Hex(Hash(key.0)),
        value: proven.value.map(|value| Hex(value.to_vec())),
        proof: Hex(proven.proof),
    });
    finalized(app, number, "state", items.collect()).await
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
