//! Read access to a node's state: for queries, and for followers that take the state over.

use bytes::Bytes;
use commonware_storage::{merkle::Location, qmdb::sync::Request};
use cowboy_chain::StateKey;
use cowboy_state::{Miss, World};
use cowboy_store::{
    proof::StateProof,
    state::{Family, MAX_VALUE_BYTES},
};
use cowboy_types::Hash;
use futures::future::BoxFuture;
use std::num::NonZeroU64;

/// The most operations that are fetched at once.
pub const MAX_OPERATIONS: u64 = 64;

/// The most bytes of operations with their proof: one with the largest value fits. Of operations that are together larger, fewer are given,
/// and the rest is asked for again ([decision 427](../../../docs/decisions/0427-batches-of-state-are-small.md)).
pub const MAX_OPERATIONS_BYTES: usize = 2 * MAX_VALUE_BYTES;

/// Operations that are wanted, in the order in which the state was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How many there were when the block was final.
    pub size: u64,
    /// The first.
    pub start: u64,
    /// How many at most; 0 for the first alone, with what stands for all before it.
    pub most: u64,
}

impl Wanted {
    pub(crate) fn of(request: &Request<Family>) -> Self {
        let most = match request {
            Request::Operations { max_ops, .. } => max_ops.get(),
            Request::Boundary { .. } => 0,
        };
        Self { size: request.size().as_u64(), start: request.start().as_u64(), most }
    }

    /// The same in the database's words; none where there are no such operations.
    pub(crate) fn request(self) -> Option<Request<Family>> {
        let (size, start) = (Location::new(self.size), Location::new(self.start));
        if start >= size || !size.is_valid() || self.most > MAX_OPERATIONS {
            return None;
        }
        Some(match NonZeroU64::new(self.most) {
            Some(max_ops) => Request::Operations { size, start, max_ops },
            None => Request::Boundary { size, start },
        })
    }
}

/// Read access to the newest state, without the runtime's type.
pub trait StateReader: Send + Sync {
    /// The newest values of these keys, in order.
    fn read(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Bytes>>>;

    /// The root of the newest state.
    fn root(&self) -> BoxFuture<'_, Hash>;

    /// Operations that made the state, encoded with their proof against the root that they had at this size; none where they
    /// are gone, or yet to come.
    fn operations(&self, wanted: Wanted) -> BoxFuture<'_, Option<Bytes>>;

    /// Proofs that these keys have the values they have, or none, all against one root, in order.
    fn prove(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<StateProof>>;
}

/// What a reader of records finds in the newest final state. It is called again with what it missed until it misses nothing.
pub(crate) async fn read_records<T>(state: &dyn StateReader, mut read: impl FnMut(&World) -> Result<T, Miss>) -> T {
    let mut world = World::default();
    loop {
        let missed = match read(&world) {
            Ok(found) => return found,
            Err(missed) => missed,
        };
        let keys = world.want(missed);
        let values = state.read(keys.clone()).await;
        keys.iter().zip(values).for_each(|(key, value)| world.fill(key, value));
    }
}
