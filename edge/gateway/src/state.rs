//! Committed state after one block, and what is remembered of it while it is the newest.

use crate::{refusal::Refusal, signed::Block};
use bytes::Bytes;
use cowboy_chain::{query::At, resume::Records};
use cowboy_ingress::{Failure, Route, signed::Chain, witness::Entry};
use cowboy_light::Anchor;
use cowboy_node::{
    Head, NodeHandle,
    reader::{self, Batch, ProveError},
};
use cowboy_params::Params;
use cowboy_state::{Miss, StateKey, World};
use cowboy_store::proof::StateProof;
use cowboy_types::{
    Address, Hash,
    wire::{Blob, List},
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::{Arc, OnceLock, RwLock},
};
use tokio::runtime::Handle;

/// Bytes of records that are remembered of one block's state.
const REMEMBERED_BYTES: usize = 256 * 1024 * 1024;

/// Names that are remembered of one block's state.
const REMEMBERED_NAMES: usize = 100_000;

/// Bytes of proofs, with what they prove, that are remembered of one block's state.
const REMEMBERED_PROOF_BYTES: usize = 64 * 1024 * 1024;

/// The most rounds of reading that one answer takes.
const MAX_ROUNDS: usize = 1_024;

/// The state after one block. Every value read is remembered: it cannot change.
pub(crate) struct BlockState {
    node: NodeHandle,
    pub(crate) head: Head,
    pub(crate) at: At,
    pub(crate) params: Params,
    records: RwLock<Remembered>,
    routes: RwLock<HashMap<String, Option<Arc<Route>>>>,
    proofs: RwLock<Proofs>,
    anchor: OnceLock<Anchor>,
    slow: RwLock<HashSet<Address>>,
}

#[derive(Default)]
struct Remembered {
    values: HashMap<StateKey, Option<Bytes>>,
    bytes: usize,
}

/// Proofs that are remembered. One of absence carries the record of a neighbour, so that few of them may have many bytes.
#[derive(Default)]
struct Proofs {
    entries: HashMap<StateKey, Entry>,
    bytes: usize,
}

impl Proofs {
    /// Remembers an entry, and forgets the others where there is no room beside them.
    fn remember(&mut self, key: StateKey, entry: Entry) {
        if let Some(former) = self.entries.remove(&key) {
            self.bytes -= bytes_of(&former);
        }
        if self.bytes + bytes_of(&entry) > REMEMBERED_PROOF_BYTES {
            *self = Self::default();
        }
        self.bytes += bytes_of(&entry);
        self.entries.insert(key, entry);
    }
}

/// Bytes that an entry takes, about.
fn bytes_of(entry: &Entry) -> usize {
    128 + entry.value.as_ref().map_or(0, |value| value.len()) + entry.proof.len()
}

/// What is in the state under a key, as a witness says it.
fn entry(key: StateKey, proven: StateProof) -> Result<Entry, Refusal> {
    let long = || Refusal::unavailable("a record is longer than a proof may be");
    let value = proven.value.map(|value| Blob::new(value).ok_or_else(long)).transpose()?;
    Ok(Entry { key: Hash(key.0), value, proof: Blob::new(proven.proof).ok_or_else(long)? })
}

impl BlockState {
    async fn open(node: &NodeHandle, head: Head) -> Result<Self, Refusal> {
        let at = node.at(head.number).map_err(Refusal::unavailable)?;
        let mut state = Self {
            node: node.clone(),
            head,
            params: at.chain.params.clone(),
            at,
            records: RwLock::default(),
            routes: RwLock::default(),
            proofs: RwLock::default(),
            anchor: OnceLock::new(),
            slow: RwLock::default(),
        };
        let genesis = state.params.clone();
        state.params = state.ask(|world| cowboy_system::governance::state::parameters(world, &genesis)).await?;
        Ok(state)
    }

    /// What is signed of the block.
    pub(crate) fn block(&self) -> Block {
        let chain = Chain { genesis: self.at.chain.genesis, is_dev: self.at.chain.is_dev };
        Block { chain, height: self.head.height, state_root: self.head.state_root }
    }

    /// Whether the actor's handlers took long on this state.
    pub(crate) fn is_slow(&self, actor: Address) -> bool {
        self.slow.read().expect("nothing panics while it holds the lock").contains(&actor)
    }

    /// Remembers that they do.
    pub(crate) fn remember_slow(&self, actor: Address) {
        self.slow.write().expect("nothing panics while it holds the lock").insert(actor);
    }

    /// What is remembered of these records, where that is all of them.
    pub(crate) fn remembered(&self, keys: &[StateKey]) -> Option<Records> {
        let records = self.records.read().expect("nothing panics while it holds the lock");
        keys.iter().map(|key| records.values.get(key).map(|value| (*key, value.clone()))).collect()
    }

    /// These records, as they were after the block.
    pub(crate) async fn fetch(&self, keys: Vec<StateKey>) -> Result<Records, Refusal> {
        if let Some(found) = self.remembered(&keys) {
            return Ok(found);
        }
        let values = self.node.read(self.head.number, keys.clone()).await.map_err(Refusal::unavailable)?;
        let found: Vec<_> = keys.into_iter().zip(values).collect();
        let mut records = self.records.write().expect("nothing panics while it holds the lock");
        for (key, value) in &found {
            records.bytes += 64 + value.as_ref().map_or(0, Bytes::len);
            if records.bytes > REMEMBERED_BYTES {
                *records = Remembered::default();
            }
            records.values.insert(*key, value.clone());
        }
        Ok(found)
    }

    /// The same, from a worker's thread.
    pub(crate) fn fetch_here(&self, runtime: &Handle, keys: Vec<StateKey>) -> Result<Records, Refusal> {
        self.remembered(&keys).map_or_else(|| runtime.block_on(self.fetch(keys)), Ok)
    }

    /// These records with proofs against the block's root, each made once; nothing where a newer block came. `take` is told the bytes of each, and refuses
    /// what there is no room for.
    pub(crate) async fn prove(
        &self,
        keys: BTreeSet<StateKey>,
        batch: Batch,
        mut take: impl FnMut(usize) -> Result<(), Refusal>,
    ) -> Result<Option<BTreeMap<StateKey, Entry>>, Refusal> {
        let (mut entries, mut missing) = (BTreeMap::new(), BTreeSet::new());
        {
            let known = self.proofs.read().expect("nothing panics while it holds the lock");
            for key in keys {
                let Some(entry) = known.entries.get(&key) else {
                    missing.insert(key);
                    continue;
                };
                take(bytes_of(entry))?;
                entries.insert(key, entry.clone());
            }
        }
        let chain = self.node.chain().map_err(Refusal::unavailable)?;
        let state = chain.state().ok_or_else(|| Refusal::unavailable("the state is not open yet"))?;
        // Blocks wait for proofs, and these would be of another state.
        if !missing.is_empty() && state.root().await != self.head.state_root {
            return Ok(None);
        }
        let mut refused = None;
        let has_room = |bytes: usize| match take(bytes) {
            Ok(()) => true,
            Err(refusal) => {
                refused = Some(refusal);
                false
            }
        };
        let proven = reader::prove(&**state, &missing, batch, has_room).await;
        let made = match proven {
            Ok(made) => made,
            Err(ProveError::Moved) => return Ok(None),
            Err(error @ ProveError::NoRoom) => return Err(refused.unwrap_or_else(|| Refusal::unavailable(error))),
        };
        for (key, proven) in made {
            if proven.root != self.head.state_root {
                return Ok(None);
            }
            let entry = entry(key, proven)?;
            self.proofs.write().expect("nothing panics while it holds the lock").remember(key, entry.clone());
            entries.insert(key, entry);
        }
        Ok(Some(entries))
    }

    /// The block's header, and what shows that it is final; nothing while the certificate is on its way.
    pub(crate) fn anchor(&self) -> Result<Option<Anchor>, Refusal> {
        if let Some(anchor) = self.anchor.get() {
            return Ok(Some(anchor.clone()));
        }
        let made = anchor(&self.node, self.head.number)?;
        Ok(made.map(|anchor| self.anchor.get_or_init(|| anchor).clone()))
    }

    /// What `look` finds. It runs again after each fetch of what it missed.
    pub(crate) async fn ask<T>(&self, mut look: impl FnMut(&World) -> Result<T, Miss>) -> Result<T, Refusal> {
        let mut world = World::default();
        for _ in 0..MAX_ROUNDS {
            let miss = match look(&world) {
                Ok(found) => return Ok(found),
                Err(miss) => miss,
            };
            let wanted = world.want(miss);
            for (key, value) in self.fetch(wanted).await? {
                world.fill(&key, value);
            }
        }
        Err(Refusal::unavailable("the answer needs too many reads"))
    }

    /// Where a name leads: its own registration, or the nearest above it.
    pub(crate) async fn route(&self, name: &str) -> Result<Arc<Route>, Refusal> {
        let known = self.routes.read().expect("nothing panics while it holds the lock").get(name).cloned();
        let route = match known {
            Some(route) => route,
            None => {
                let route = self.find_route(name).await?.map(Arc::new);
                let mut routes = self.routes.write().expect("nothing panics while it holds the lock");
                if routes.len() >= REMEMBERED_NAMES {
                    routes.clear();
                }
                routes.insert(name.to_owned(), route.clone());
                route
            }
        };
        route.ok_or_else(|| Failure::unknown_name(name).into())
    }

    async fn find_route(&self, name: &str) -> Result<Option<Route>, Refusal> {
        self.ask(|world| Route::find(world, &self.params, name, self.head.height)).await
    }
}

/// The newest state, kept while it is the newest.
pub(crate) struct Newest {
    node: NodeHandle,
    state: RwLock<Option<Arc<BlockState>>>,
    /// Held by whoever opens the next state, so that only one does.
    opening: tokio::sync::Mutex<()>,
}

impl Newest {
    pub(crate) fn new(node: NodeHandle) -> Self {
        Self { node, state: RwLock::default(), opening: tokio::sync::Mutex::default() }
    }

    /// The state after the newest final block.
    pub(crate) async fn state(&self) -> Result<Arc<BlockState>, Refusal> {
        if let Some(state) = self.opened(&self.node.head()) {
            return Ok(state);
        }
        let _opening = self.opening.lock().await;
        let head = self.node.head();
        if head.number == 0 {
            return Err(Refusal::unavailable("the chain has not begun"));
        }
        if let Some(state) = self.opened(&head) {
            return Ok(state);
        }
        let opened = Arc::new(BlockState::open(&self.node, head).await?);
        *self.state.write().expect("nothing panics while it holds the lock") = Some(opened.clone());
        Ok(opened)
    }

    /// The state after this block, where it is open.
    fn opened(&self, head: &Head) -> Option<Arc<BlockState>> {
        let state = self.state.read().expect("nothing panics while it holds the lock");
        state.as_ref().filter(|state| state.head.digest == head.digest).cloned()
    }
}

/// The header of a block, and what shows that it is final; nothing where the certificate is still on its way.
fn anchor(node: &NodeHandle, number: u64) -> Result<Option<Anchor>, Refusal> {
    let (view, chain) = (node.view().map_err(Refusal::unavailable)?, node.chain().map_err(Refusal::unavailable)?);
    let Some((last, certificate)) = view.certificate_from(number).map_err(Refusal::unavailable)? else { return Ok(None) };
    let most = u64::try_from(cowboy_light::answer::MAX_HEADERS).expect("few headers");
    if last.saturating_sub(number) >= most {
        return Err(Refusal::unavailable("no certificate near this block is kept"));
    }
    let mut headers = Vec::new();
    for number in number..=last {
        let Some(block) = chain.block(number).map_err(Refusal::unavailable)? else { return Ok(None) };
        headers.push(block.header().clone());
    }
    let anchor = List::new(headers).zip(Blob::new(certificate)).map(|(headers, certificate)| Anchor { headers, certificate });
    anchor.map(Some).ok_or_else(|| Refusal::unavailable("the certificate is too long"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long proofs are, and however often one is made, what is remembered of them has a bound.
    #[test]
    fn remembered_proofs_have_a_bound_of_bytes() {
        let (mut proofs, long) = (Proofs::default(), Bytes::from(vec![0; 1024 * 1024]));
        for number in 0..=u8::MAX {
            let key = StateKey([number; 32]);
            for _ in 0..2 {
                let proof = Blob::new(long.clone()).expect("a neighbour's record is as long");
                proofs.remember(key, Entry { key: Hash(key.0), value: None, proof });
                assert!(proofs.bytes <= REMEMBERED_PROOF_BYTES && proofs.entries.contains_key(&key));
                assert_eq!(proofs.bytes, proofs.entries.values().map(bytes_of).sum::<usize>());
            }
        }
        assert!(proofs.entries.len() > 1, "those of the newest keys");
    }
}
