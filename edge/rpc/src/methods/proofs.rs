//! Proofs that verify against a finalized header (decision 135).

use super::actors::key_bytes;
use crate::{
    App,
    limits::{self, Limits, PROVERS_OF_CLIENT, Peer},
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
    error::{BAD_REQUEST, BUSY, OVERLOADED},
    model::{self, MAX_PROOF_KEYS},
};
use cowboy_node::reader::{self, ATTEMPTS, NotStill, ProveError, Proving, StateProver, proven_bytes};
use cowboy_serve::{Client, Held};
use cowboy_state::{Key, Kind, StateKey};
use cowboy_store::{View, proof::StateProof};
use cowboy_types::{Address, Hash, Header, Receipt, Transaction, merkle};
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::time::timeout;

/// How long a block or a certificate that is on its way is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// The wait before the ledger is asked again for a certificate.
const PAUSE: Duration = Duration::from_millis(20);

/// The most bytes of records and proofs of one answer, which doubles them in hex: one record of the largest size, with the longest proof, fits.
const MAX_PROVEN_BYTES: usize = 8 * 1024 * 1024;

/// The most headers between what is proven and what is finalized by a certificate of its own.
const MAX_HEADERS: u64 = 64;

pub(crate) async fn account(State(app): State<App>, peer: Peer, Named(address): Named<Address>) -> Answer<model::Proof> {
    of_state(&app, peer, vec![Key::account(address)]).await
}

pub(crate) async fn actor(State(app): State<App>, peer: Peer, Named(address): Named<Address>) -> Answer<model::Proof> {
    of_state(&app, peer, vec![Key::of(Kind::Actor, address)]).await
}

pub(crate) async fn storage(State(app): State<App>, peer: Peer, Path((address, key)): Path<(String, String)>) -> Answer<model::Proof> {
    of_state(&app, peer, vec![Key::storage(parse(&address)?, key_bytes(&key)?)]).await
}

pub(crate) async fn multi(State(app): State<App>, peer: Peer, Body(asked): Body<model::ProofRequest>) -> Answer<model::Proof> {
    let mut keys: Vec<Key> = asked.accounts.iter().map(|address| Key::account(address.0)).collect();
    keys.extend(asked.actors.iter().map(|address| Key::of(Kind::Actor, address.0)));
    keys.extend(asked.storage.iter().map(|entry| Key::storage(entry.address.0, entry.key.0.clone())));
    keys.extend(asked.records.iter().map(|record| Key::named(Kind::System, record.address.0, record.key.0.clone())));
    match keys.len() {
        0 => Err(Refusal::bad("keys", "name at least one account, actor, entry of storage or record")),
        1..=MAX_PROOF_KEYS => of_state(&app, peer, keys).await,
        more => Err(Refusal::new(BAD_REQUEST, json!({ "keys": more, "most": MAX_PROOF_KEYS }))),
    }
}

/// Answers within one of the places for proofs, which another client may get meanwhile (decision 662).
async fn placed(app: &App, peer: Peer, answer: impl Future<Output = Answer<model::Proof>>) -> Answer<model::Proof> {
    let mut place = limits::place(&app.provers, peer.0.ip(), PROVERS_OF_CLIENT, "requests for proofs")?;
    let replaced = place.replaceable();
    tokio::select! {
        biased;
        answer = answer => answer,
        _ = replaced => Err(Refusal::new(OVERLOADED, json!({ "reason": "another client got the place of this request for a proof" }))),
    }
}

/// Proves records of the newest state, for the block that made it.
async fn of_state(app: &App, peer: Peer, keys: Vec<Key>) -> Answer<model::Proof> {
    let keys: Vec<StateKey> = keys.iter().map(Key::digest).collect();
    placed(app, peer, state_proof(app, peer.client(), &keys)).await
}

async fn state_proof(app: &App, client: Client, keys: &[StateKey]) -> Answer<model::Proof> {
    let chain = app.node.chain()?;
    let state: Arc<dyn StateProver> = chain.state().ok_or(BUSY)?.clone();
    if app.node.head().number == 0 {
        return Err(Refusal::new(BUSY, json!({ "reason": "the node has no block yet" })));
    }
    // Within a run of blocks the state is ahead of the newest one.
    let late = |_| Refusal::new(BUSY, json!({ "reason": "the node executes blocks" }));
    let still = timeout(PATIENCE, chain.proving.still()).await.map_err(late)?.map_err(not_still)?;
    let proofs_of_block = async {
        let proofs = proven(&app.limits, client, &state, &chain.proving, keys).await?;
        let root = proofs.values().next().map(|proof| proof.root).ok_or(BUSY)?;
        let held = counted(&app.limits, client, keys, &proofs)?;
        let number = block_of(app, client, root).await?;
        Ok::<_, Refusal>((proofs, held, number))
    };
    let (proofs, _held, number) = still.during(proofs_of_block).await.ok_or_else(moved)??;
    drop(still);
    let item = |key: &StateKey| {
        let proven = proofs.get(key)?;
        Some(model::ProofItem {
            key: Hex(Hash(key.0)),
            value: proven.value.as_ref().map(|value| Hex(value.to_vec())),
            proof: Hex(proven.proof.clone()),
        })
    };
    finalized(app, client, number, "state", keys.iter().filter_map(item).collect()).await
}

/// Counts the proofs of an answer in the memory of the client, while it waits for its block and its certificate.
fn counted(limits: &Limits, client: Client, keys: &[StateKey], proofs: &BTreeMap<StateKey, StateProof>) -> Result<Held, Refusal> {
    let mut held = limits.hold(client);
    match held.add(bytes_of(keys, proofs)) {
        true => Ok(held),
        false => Err(limits::crowded()),
    }
}

/// Bytes of the records and proofs of these keys, each as often as it is named.
fn bytes_of(keys: &[StateKey], proofs: &BTreeMap<StateKey, StateProof>) -> usize {
    keys.iter().filter_map(|key| proofs.get(key)).map(proven_bytes).sum()
}

fn not_still(why: NotStill) -> Refusal {
    Refusal::new(BUSY, json!({ "reason": why.to_string() }))
}

fn moved() -> Refusal {
    Refusal::new(BUSY, json!({ "reason": ProveError::Moved.to_string() }))
}

/// Proofs of these keys in one state, each made once. The answer has an item for each key, so that a key that is named twice counts twice. No thread waits for
/// the turn.
async fn proven(
    limits: &Limits,
    client: Client,
    state: &Arc<dyn StateProver>,
    proving: &Proving,
    keys: &[StateKey],
) -> Result<BTreeMap<StateKey, StateProof>, Refusal> {
    let too_large = || {
        let reason = "the records and their proofs are too long: ask for fewer keys at once";
        Refusal::new(BAD_REQUEST, json!({ "keys": keys.len(), "max_bytes": MAX_PROVEN_BYTES, "reason": reason }))
    };
    let once: Arc<BTreeSet<StateKey>> = Arc::new(keys.iter().copied().collect());
    for attempt in 0..ATTEMPTS {
        let turn = timeout(PATIENCE, proving.turn(attempt)).await;
        let (batch, _turn) = turn.map_err(|_| Refusal::new(BUSY, json!({ "reason": "the proofs of other answers are made first" })))?;
        let (state, once) = (state.clone(), once.clone());
        let prove = async move {
            let mut made = 0_usize;
            let has_room = |bytes| {
                made = made.saturating_add(bytes);
                made <= MAX_PROVEN_BYTES
            };
            reader::prove(state.as_ref(), &once, batch, has_room).await
        };
        let proofs = match limits.read_state(client, prove).await? {
            Ok(proofs) => proofs,
            Err(ProveError::Moved) => continue,
            Err(ProveError::NoRoom) => return Err(too_large()),
        };
        return if bytes_of(keys, &proofs) <= MAX_PROVEN_BYTES { Ok(proofs) } else { Err(too_large()) };
    }
    Err(moved())
}

/// The block whose state has this root. The state is committed a moment before its block is in the ledger, and by then others may follow.
async fn block_of(app: &App, client: Client, root: Hash) -> Result<u64, Refusal> {
    let mut heads = app.node.watch_head();
    let found = async {
        loop {
            let (newest, reading) = (heads.borrow_and_update().number, app.clone());
            if let Some(number) = app.limits.read(client, move || newest_with(&reading, newest, root)).await?? {
                return Ok(number);
            }
            if heads.changed().await.is_err() {
                return Err(BUSY.into());
            }
        }
    };
    let late = |_| Refusal::new(BUSY, json!({ "reason": "the block of the proven state is still on its way to the ledger" }));
    timeout(PATIENCE, found).await.map_err(late)?
}

/// The newest block whose state has this root, among the newest ones up to `newest`.
fn newest_with(app: &App, newest: u64, root: Hash) -> Result<Option<u64>, Refusal> {
    let view = read::ledger(app)?;
    for number in (newest.saturating_sub(MAX_HEADERS).max(read::oldest(&view)?)..=newest).rev() {
        if read::header(&view, number)?.state_root == root {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

pub(crate) async fn transaction(State(app): State<App>, peer: Peer, Named(hash): Named<Hash>) -> Answer<model::Proof> {
    of_ledger(&app, peer, "transaction", move |view| {
        let found = included(view, &hash)?;
        let block = read::block(view, found.place.number)?;
        let digests: Vec<Hash> = block.transactions.iter().map(Transaction::digest).collect();
        let index = usize::try_from(found.place.index).unwrap_or(usize::MAX);
        let proof = merkle::prove(&digests, index).ok_or_else(|| Refusal::missing("transaction", hash))?;
        let value = block.transactions.get(index).map(|sent| Hex(sent.to_bytes().to_vec()));
        Ok((found.place.number, model::ProofItem { key: Hex(hash), value, proof: Hex(proof.encode().to_vec()) }))
    })
    .await
}

pub(crate) async fn receipt(State(app): State<App>, peer: Peer, Named(hash): Named<Hash>) -> Answer<model::Proof> {
    of_ledger(&app, peer, "receipt", move |view| {
        let found = included(view, &hash)?;
        let digests: Vec<Hash> = view.receipts(found.place.number)?.iter().map(Receipt::digest).collect();
        let index = usize::try_from(found.place.index).unwrap_or(usize::MAX);
        let proof = merkle::prove(&digests, index).ok_or_else(|| Refusal::missing("receipt", hash))?;
        let item = model::ProofItem {
            key: Hex(found.receipt.digest()),
            value: Some(Hex(found.receipt.encode().to_vec())),
            proof: Hex(proof.encode().to_vec()),
        };
        Ok((found.place.number, item))
    })
    .await
}

/// Proves what `look` finds in the ledger, and the number of its block.
async fn of_ledger(
    app: &App,
    peer: Peer,
    root: &'static str,
    look: impl FnOnce(&View) -> Result<(u64, model::ProofItem), Refusal> + Send + 'static,
) -> Answer<model::Proof> {
    let (client, reading) = (peer.client(), app.clone());
    placed(app, peer, async move {
        let (number, item) = app.limits.read(client, move || look(&read::ledger(&reading)?)).await??;
        finalized(app, client, number, root, vec![item]).await
    })
    .await
}

fn included(view: &View, hash: &Hash) -> Result<Found, Refusal> {
    read::receipt(view, hash)?.ok_or_else(|| Refusal::missing("receipt", hash))
}

/// Waits until this block, or one after it, has a certificate.
async fn certified(app: &App, number: u64) -> Result<(), Refusal> {
    let found = async {
        while read::ledger(app)?.certificate_from(number)?.is_none() {
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    };
    let late = |_| Refusal::new(BUSY, json!({ "reason": "the finalization is still on its way" }));
    timeout(PATIENCE, found).await.map_err(late)?
}

/// The answer: the proven things, and the headers up to one that has a certificate of its own.
async fn finalized(app: &App, client: Client, number: u64, root: &'static str, items: Vec<model::ProofItem>) -> Answer<model::Proof> {
    certified(app, number).await?;
    let reading = app.clone();
    app.limits.read(client, move || certificate_of(&reading, number, root, items)).await?
}

fn certificate_of(app: &App, number: u64, root: &str, items: Vec<model::ProofItem>) -> Answer<model::Proof> {
    let view = read::ledger(app)?;
    let far = || Refusal::new(BUSY, json!({ "reason": "no certificate near this block is kept" }));
    let (last, finalization) = view.certificate_from(number)?.ok_or_else(far)?;
    if last.saturating_sub(number) > MAX_HEADERS {
        return Err(far());
    }
    let mut headers: Vec<Header> = Vec::new();
    for number in number..=last {
        headers.push(read::header(&view, number)?);
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
    use cowboy_node::reader::Batch;
    use futures::{FutureExt as _, future::BoxFuture};
    use std::{
        net::IpAddr,
        sync::atomic::{AtomicU8, AtomicUsize, Ordering},
    };

    fn client(number: u8) -> Client {
        IpAddr::from([192, 0, 2, number]).into()
    }

    /// A state in which the proof of every key has 1 MiB, as one of absence has behind a long record. It counts the proofs that it makes.
    #[derive(Default)]
    struct Long(AtomicUsize);

    impl StateProver for Long {
        fn prove(&self, keys: Vec<StateKey>, _: Batch) -> BoxFuture<'_, Vec<StateProof>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let proof = StateProof { root: Hash([7; 32]), value: None, proof: vec![0; 1024 * 1024] };
            std::future::ready(keys.into_iter().take(1).map(|_| proof.clone()).collect()).boxed()
        }
    }

    /// Whoever names one key, or many, with a long proof does not fill the node's memory: a key is proven once, and few megabytes are proven at all.
    #[tokio::test]
    async fn proofs_of_one_answer_have_a_bound() {
        let limits = Limits::start(None).expect("the system has threads");
        let key = |number: usize| StateKey([u8::try_from(number).expect("few keys"); 32]);
        for (keys, made, is_answered) in [
            (vec![key(1); MAX_PROOF_KEYS], 1, false),
            (vec![key(1); 8], 1, true),
            ((0..8).map(key).collect(), 8, true),
            ((0..200).map(key).collect(), 9, false),
        ] {
            let long = Arc::new(Long::default());
            let state: Arc<dyn StateProver> = long.clone();
            let found = proven(&limits, client(1), &state, &Proving::default(), &keys).await;
            assert_eq!((long.0.load(Ordering::Relaxed), found.is_ok()), (made, is_answered), "{} keys", keys.len());
            assert!(found.is_ok() || found.is_err_and(|refusal| refusal.0.code == BAD_REQUEST.code));
        }
    }

    /// Decision 662: proofs that wait for a certificate count in the memory of their client.
    #[tokio::test]
    async fn proofs_that_wait_count() {
        let limits = Limits::start(None).expect("the system has threads");
        let state: Arc<dyn StateProver> = Arc::new(Long::default());
        let keys: Vec<StateKey> = (0..8).map(|number| StateKey([number; 32])).collect();
        let proofs = proven(&limits, client(1), &state, &Proving::default(), &keys).await.expect("they are not too long");
        let count = |number: u8| counted(&limits, client(number), &keys, &proofs).map_err(|refusal| refusal.0.slug);
        let held: Vec<_> = (0..5).map(|_| count(1)).collect();
        assert_eq!(held.iter().filter(|held| held.is_ok()).count(), 4, "32 MiB are the share of a client");
        assert_eq!(held[4].as_ref().err().map(String::as_str), Some("busy"));
        assert!(count(9).is_ok(), "another client has its own");
    }

    /// A state that changes after each proof, and says so.
    struct Moving(AtomicU8, tokio::sync::mpsc::UnboundedSender<()>);

    impl StateProver for Moving {
        fn prove(&self, keys: Vec<StateKey>, batch: Batch) -> BoxFuture<'_, Vec<StateProof>> {
            let (is_small, root) = (batch == Batch::SMALL, self.0.fetch_add(1, Ordering::Relaxed));
            let most = if is_small { 1 } else { keys.len() };
            let proof = StateProof { root: Hash([root; 32]), value: None, proof: Vec::new() };
            let _ = self.1.send(());
            std::future::ready(keys.into_iter().take(most).map(|_| proof.clone()).collect()).boxed()
        }
    }

    /// Decision 662: however many wait for their turn, no thread waits with them, so that others read.
    #[tokio::test]
    async fn no_thread_waits_for_a_turn() {
        const WAITING: usize = 60;
        let (limits, proving) = (Arc::new(Limits::start(None).expect("the system has threads")), Arc::new(Proving::default()));
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let state: Arc<dyn StateProver> = Arc::new(Moving(AtomicU8::default(), said));
        let (_, turn) = proving.turn(ATTEMPTS - 1).await;
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..WAITING {
            let (limits, proving, state) = (limits.clone(), proving.clone(), state.clone());
            waiting.spawn(async move {
                let keys = [StateKey([1; 32]), StateKey([2; 32])];
                proven(&limits, client(1), &state, &proving, &keys).await.map(|proofs| proofs.len()).map_err(|refusal| refusal.0.slug)
            });
        }
        drop(state);
        // Each is refused twice for the two roots of its two proofs, and then waits.
        for _ in 0..WAITING * 4 {
            heard.recv().await.expect("proofs are made");
        }
        assert_eq!(limits.read(client(2), || 7).await.ok(), Some(7), "the threads are free");
        drop(turn);
        assert!(waiting.join_all().await.into_iter().all(|made| made == Ok(2)));
    }

    /// A client has its share of the places for proofs, and all of them are bounded.
    #[test]
    fn requests_for_proofs_are_bounded() {
        let slots = cowboy_serve::Slots::new(3);
        let take = |number: u8| {
            let place = limits::place(&slots, IpAddr::from([10, 0, number, 1]), 2, "requests for proofs");
            place.map_err(|refusal| refusal.0.slug)
        };
        let held: Vec<_> = [1, 1, 1, 2, 3].into_iter().map(take).collect();
        let refused: Vec<_> = held.iter().map(|place| place.as_ref().err().map(String::as_str)).collect();
        assert_eq!(refused, [None, None, Some("rate_limited"), None, Some("overloaded")]);
    }
}
