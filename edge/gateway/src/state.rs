//! Committed state after one block, and what is remembered of it while it is the newest.

use crate::refusal::Refusal;
use bytes::Bytes;
use cowboy_chain::query::At;
use cowboy_node::{Head, NodeHandle};
use cowboy_params::Params;
use cowboy_state::{
    Miss, StateKey, World,
    records::{ParameterChanges, keys},
};
use cowboy_system::entitlements::manifests;
use cowboy_system::gateways::ingress::Ingress;
use cowboy_system::names;
use cowboy_types::{Address, Height};
use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};

/// Bytes of records that are remembered of one block's state.
const REMEMBERED_BYTES: usize = 256 * 1024 * 1024;

/// Names that are remembered of one block's state.
const REMEMBERED_NAMES: usize = 100_000;

/// The most rounds of reading that one answer takes.
const MAX_ROUNDS: usize = 1_024;

/// What a name leads to.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The name that was registered: the one asked for, or one above it.
    pub(crate) name: String,
    pub(crate) actor: Address,
    pub(crate) owner: Address,
    pub(crate) expires_at: Height,
    /// What the actor lets requests do; nothing where it takes none.
    pub(crate) ingress: Option<Ingress>,
}

/// The state after one block. Every value read is remembered: it cannot change.
pub(crate) struct BlockState {
    node: NodeHandle,
    pub(crate) head: Head,
    pub(crate) at: At,
    pub(crate) params: Params,
    records: RwLock<Remembered>,
    routes: RwLock<HashMap<String, Option<Arc<Route>>>>,
}

#[derive(Default)]
struct Remembered {
    values: HashMap<StateKey, Option<Bytes>>,
    bytes: usize,
}

impl BlockState {
    async fn open(node: &NodeHandle, head: Head) -> Result<Self, Refusal> {
        let at = node.at(head.number).map_err(Refusal::unavailable)?;
        let mut state =
            Self { node: node.clone(), head, params: at.chain.params.clone(), at, records: RwLock::default(), routes: RwLock::default() };
        let changes: Option<ParameterChanges> = state.ask(|world| world.read(&keys::parameters())).await?;
        for change in changes.iter().flat_map(|changes| changes.changes.iter()) {
            // Governance checked the range when it set the value.
            let _ = state.params.set_at_genesis(change.row, change.value);
        }
        Ok(state)
    }

    /// What is remembered of these records, where that is all of them.
    pub(crate) fn remembered(&self, keys: &[StateKey]) -> Option<Vec<(StateKey, Option<Bytes>)>> {
        let records = self.records.read().expect("nothing panics while it holds the lock");
        keys.iter().map(|key| records.values.get(key).map(|value| (*key, value.clone()))).collect()
    }

    /// These records, as they were after the block.
    pub(crate) async fn fetch(&self, keys: Vec<StateKey>) -> Result<Vec<(StateKey, Option<Bytes>)>, Refusal> {
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
        route.ok_or_else(|| Refusal::unknown_name(name))
    }

    async fn find_route(&self, name: &str) -> Result<Option<Route>, Refusal> {
        // What the next block would see is what counts: a name that expires with it is gone.
        let found = self.ask(|world| names::state::resolve(world, name, self.head.height.next())).await?;
        let Some(live) = found else { return Ok(None) };
        let grants = self.ask(|world| manifests::granted(world, live.record.actor)).await?;
        Ok(Some(Route {
            ingress: Ingress::of(&self.params, &grants),
            name: live.name,
            actor: live.record.actor,
            owner: live.record.owner,
            expires_at: live.expires_at,
        }))
    }
}

/// The newest state, kept while it is the newest.
pub(crate) struct Newest {
    node: NodeHandle,
    state: tokio::sync::Mutex<Option<Arc<BlockState>>>,
}

impl Newest {
    pub(crate) fn new(node: NodeHandle) -> Self {
        Self { node, state: tokio::sync::Mutex::new(None) }
    }

    /// The state after the newest final block.
    pub(crate) async fn state(&self) -> Result<Arc<BlockState>, Refusal> {
        let head = self.node.head();
        if head.number == 0 {
            return Err(Refusal::unavailable("the chain has not begun"));
        }
        let mut state = self.state.lock().await;
        if let Some(state) = state.as_ref().filter(|state| state.head.digest == head.digest) {
            return Ok(state.clone());
        }
        let opened = Arc::new(BlockState::open(&self.node, head).await?);
        *state = Some(opened.clone());
        Ok(opened)
    }
}
