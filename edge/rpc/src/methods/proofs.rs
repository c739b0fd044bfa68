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
use cowboy_state::{Key, Kind};
use cowboy_store::ledger::View;
use cowboy_types::{Address, Hash, Header, Receipt, Transaction, merkle};
use serde_json::json;

/// How often a proof is made anew because a block came in between.
const ATTEMPTS: usize = 8;

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
    match keys.len() {
        0 => Err(Refusal::bad("keys", "name at least one account, actor or entry of storage")),
        1..=MAX_PROOF_KEYS => of_state(&app, keys).await,
        more => Err(Refusal::new(BAD_REQUEST, json!({ "keys": more, "most": MAX_PROOF_KEYS }))),
    }
}

/// Proves records of the state at the tip. Where a block comes in between, it is done again.
async fn of_state(app: &App, keys: Vec<Key>) -> Answer<model::Proof> {
    let chain = app.node.chain()?;
    let state = chain.state().ok_or(BUSY)?;
    for _ in 0..ATTEMPTS {
        let head = app.node.head();
        let mut items = Vec::with_capacity(keys.len());
        for key in &keys {
            let key = key.digest();
            let proven = state.prove(key).await;
            if proven.root != head.state_root {
                break;
            }
            items.push(model::ProofItem {
                key: Hex(Hash(key.0)),
                value: proven.value.map(|value| Hex(value.to_vec())),
                proof: Hex(proven.proof),
            });
        }
        if items.len() == keys.len() {
            return finalized(&read::ledger(app)?, head.number, "state", items);
        }
    }
    Err(Refusal::new(BUSY, json!({ "reason": "blocks come faster than the proof is made" })))
}

pub(crate) async fn transaction(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Proof> {
    let view = read::ledger(&app)?;
    let found = included(&view, &hash)?;
    let digests: Vec<Hash> = found.block.transactions.iter().map(Transaction::digest).collect();
    let index = usize::try_from(found.place.index).unwrap_or(usize::MAX);
    let proof = merkle::prove(&digests, index).ok_or_else(|| Refusal::missing("transaction", hash))?;
    let value = found.block.transactions.get(index).map(|sent| Hex(sent.to_bytes().to_vec()));
    let item = model::ProofItem { key: Hex(hash), value, proof: Hex(proof.encode().to_vec()) };
    finalized(&view, found.place.number, "transaction", vec![item])
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
    finalized(&view, found.place.number, "receipt", vec![item])
}

fn included(view: &View, hash: &Hash) -> Result<Found, Refusal> {
    read::receipt(view, hash)?.ok_or_else(|| Refusal::missing("hash", hash))
}

/// The answer: the proven things, and the headers up to one that has a certificate of its own.
fn finalized(view: &View, number: u64, root: &str, items: Vec<model::ProofItem>) -> Answer<model::Proof> {
    let (last, finalization) =
        view.certificate_from(number)?.ok_or_else(|| Refusal::new(BUSY, json!({ "reason": "the finalization is still on its way" })))?;
    if last.saturating_sub(number) > MAX_HEADERS {
        return Err(Refusal::new(BUSY, json!({ "reason": "no certificate near this block is kept" })));
    }
    let mut headers: Vec<Header> = Vec::new();
    for number in number..=last {
        headers.push(read::block(view, number)?.header);
    }
    Ok(Json(model::Proof {
        height: headers.first().map_or(0, |header| header.height().get()),
        root: root.into(),
        items,
        headers: headers.iter().map(|header| Hex(header.encode().to_vec())).collect(),
        finalization: Hex(finalization),
    }))
}
