//! Read access to a node's state: for queries, and for followers that take the state over.

use crate::standstill::Standstill;
pub use crate::standstill::{NotStill, Still};
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
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU64,
    sync::Arc,
};
use tokio::sync::{Semaphore, SemaphorePermit};

/// The most operations that are fetched at once.
pub const MAX_OPERATIONS: u64 = 64;

/// The most bytes of operations with their proof: one with the largest value fits. Of operations that are together larger, fewer are given,
/// and the rest is asked for again ([decision 427](../../../docs/decisions/0427-batches-of-state-are-small.md)).
pub const MAX_OPERATIONS_BYTES: usize = 2 * MAX_VALUE_BYTES;

/// How often the keys of one answer are proven anew because a block came in between.
pub const ATTEMPTS: usize = 8;

/// How often of these in small batches.
const SMALL_ATTEMPTS: usize = 2;

/// How much is proven at once: blocks are not committed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The most proofs.
    pub proofs: usize,
    /// Bytes of records and proofs, except for those of the last one.
    pub bytes: usize,
}

impl Batch {
    /// As little as a block may wait for at any time.
    pub const SMALL: Self = Self { proofs: 32, bytes: 256 * 1024 };

    /// As much as a block may wait for, where it is the turn of one answer at a time.
    pub const LARGE: Self = Self { proofs: 512, bytes: 8 * 1024 * 1024 };
}

/// Says how the keys of one answer are proven ([decision 591](../../../docs/decisions/0591-blocks-wait-for-one-long-proof.md)).
#[derive(Debug)]
pub struct Proving {
    turn: Semaphore,
    standstill: Arc<Standstill>,
}

impl Default for Proving {
    fn default() -> Self {
        Self { turn: Semaphore::new(1), standstill: Arc::default() }
    }
}

impl Proving {
    /// What is proven at once in this attempt, of which the first is 0: a small batch; or, where blocks came in between so far, a large one. Then it is the
    /// turn of one answer at a time, until what is returned is dropped.
    pub async fn turn(&self, attempt: usize) -> (Batch, Option<SemaphorePermit<'_>>) {
        if !Self::is_urgent(attempt) {
            return (Batch::SMALL, None);
        }
        let turn = self.turn.acquire().await.expect("nothing closes it");
        (Batch::LARGE, Some(turn))
    }

    /// Waits until a node that follows others is between two runs of blocks, and has it stay there for a while
    /// ([decision 637](../../../docs/decisions/0637-proofs-while-a-follower-catches-up.md)). Within a run the state is ahead of the newest block. A validator does not wait for this.
    ///
    /// # Errors
    ///
    /// If the node catches up with its chain, or if too many wait
    /// ([decision 662](../../../docs/decisions/0662-readers-hold-up-no-follower.md)).
    pub async fn still(&self) -> Result<Still, NotStill> {
        self.standstill.still().await
    }

    /// Whether the node catches up with its chain, and refuses those who ask for the state to stand still.
    pub fn is_catching_up(&self) -> bool {
        self.standstill.is_refused()
    }

    pub(crate) fn standstill(&self) -> Arc<Standstill> {
        self.standstill.clone()
    }

    /// Whether this attempt is one for which others wait: then the state stands still before what is proven is read.
    pub fn is_urgent(attempt: usize) -> bool {
        attempt >= SMALL_ATTEMPTS
    }
}

/// Why keys are not proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProveError {
    /// There is no room for them. A proof that a key has no value carries the whole record of a neighbour, whose length strangers choose.
    #[error("there is no room for the records and their proofs")]
    NoRoom,
    /// The proofs are not of one state.
    #[error("a block changed the state while it was proven")]
    Moved,
}

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

/// Makes proofs of the newest state, without the runtime's type.
pub trait StateProver: Send + Sync {
    /// Proofs that these keys have the values they have, or none, all against one root, in order. Of more than a batch only the first are proven, one at
    /// least. [`prove`] asks for the others.
    fn prove(&self, keys: Vec<StateKey>, batch: Batch) -> BoxFuture<'_, Vec<StateProof>>;
}

/// Read access to the newest state.
pub trait StateReader: StateProver {
    /// The newest values of these keys, in order.
    fn read(&self, keys: Vec<StateKey>) -> BoxFuture<'_, Vec<Option<Bytes>>>;

    /// The root of the newest state.
    fn root(&self) -> BoxFuture<'_, Hash>;

    /// Operations that made the state, encoded with their proof against the root that they had at this size; none where they
    /// are gone, or yet to come.
    fn operations(&self, wanted: Wanted) -> BoxFuture<'_, Option<Bytes>>;
}

/// Bytes of a record with its proof.
pub fn proven_bytes(proven: &StateProof) -> usize {
    proven.value.as_ref().map_or(0, Bytes::len).saturating_add(proven.proof.len())
}

/// Proofs of all these keys against one root. The state may change between two batches. `has_room` is asked with the bytes of each record and its proof.
///
/// # Errors
///
/// If the state changed, or if there is no room.
pub async fn prove(
    state: &dyn StateProver,
    keys: &BTreeSet<StateKey>,
    batch: Batch,
    mut has_room: impl FnMut(usize) -> bool,
) -> Result<BTreeMap<StateKey, StateProof>, ProveError> {
    let (mut proofs, mut root) = (BTreeMap::new(), None);
    let mut left: Vec<StateKey> = keys.iter().copied().collect();
    while !left.is_empty() {
        let made = state.prove(left.clone(), batch).await;
        assert!(!made.is_empty(), "a state proves one key at least");
        let later = left.split_off(made.len());
        for (key, proven) in left.into_iter().zip(made) {
            if *root.get_or_insert(proven.root) != proven.root {
                return Err(ProveError::Moved);
            }
            if !has_room(proven_bytes(&proven)) {
                return Err(ProveError::NoRoom);
            }
            proofs.insert(key, proven);
        }
        left = later;
    }
    Ok(proofs)
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

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A state that proves three keys in a small batch, each with 100 bytes, and changes after a number of batches.
    struct Moving {
        batches: AtomicUsize,
        moves_after: usize,
    }

    impl StateProver for Moving {
        fn prove(&self, keys: Vec<StateKey>, batch: Batch) -> BoxFuture<'_, Vec<StateProof>> {
            let moves = self.batches.fetch_add(1, Ordering::Relaxed) / self.moves_after;
            let root = Hash([u8::try_from(moves).expect("few moves"); 32]);
            let most = if batch == Batch::SMALL { 3 } else { keys.len() };
            let proven = |_| StateProof { root, value: Some(Bytes::from_static(&[0; 40])), proof: vec![0; 60] };
            std::future::ready(keys.into_iter().take(most).map(proven).collect()).boxed()
        }
    }

    fn keys(number: u8) -> BTreeSet<StateKey> {
        (0..number).map(|number| StateKey([number; 32])).collect()
    }

    /// The proofs are of one state and have a bound: beyond it none are made.
    #[test]
    fn proofs_have_a_bound_and_one_root() {
        let prove_of = |number: u8, mut room: usize, moves_after: usize| {
            let (state, keys) = (Moving { batches: AtomicUsize::new(0), moves_after }, keys(number));
            let has_room = |bytes| {
                let left = room.checked_sub(bytes);
                room = left.unwrap_or(0);
                left.is_some()
            };
            let proven = prove(&state, &keys, Batch::SMALL, has_room).now_or_never().expect("nothing is waited for");
            (proven.map(|proven| proven.into_keys().eq(keys)), state.batches.into_inner())
        };
        assert_eq!(prove_of(0, 0, 9), (Ok(true), 0));
        assert_eq!(prove_of(8, 800, 9), (Ok(true), 3));
        assert_eq!(prove_of(200, 799, 99), (Err(ProveError::NoRoom), 3));
        assert_eq!(prove_of(8, 800, 2), (Err(ProveError::Moved), 3));
    }

    /// What takes longer than the time between two blocks is proven all the same: blocks wait for it, and for one answer at a time.
    #[test]
    fn blocks_wait_for_many_proofs() {
        let (state, proving) = (Moving { batches: AtomicUsize::new(0), moves_after: 3 }, Proving::default());
        let attempt = |attempt: usize| {
            let (batch, turn) = proving.turn(attempt).now_or_never().expect("it is nobody's turn");
            assert!(batch.proofs <= 512, "a block waits for no more");
            let proven = prove(&state, &keys(100), batch, |_| true).now_or_never().expect("nothing is waited for");
            (proven.map(|proven| proven.len()), turn.is_some())
        };
        let moved = (Err(ProveError::Moved), false);
        assert_eq!((0..3).map(attempt).collect::<Vec<_>>(), [moved, moved, (Ok(100), true)]);
        let (_, first) = proving.turn(SMALL_ATTEMPTS).now_or_never().expect("it is nobody's turn");
        assert!(proving.turn(SMALL_ATTEMPTS).now_or_never().is_none(), "the second waits");
        assert_eq!(proving.turn(0).now_or_never().map(|(batch, _)| batch), Some(Batch::SMALL), "a small one waits for nobody");
        drop(first);
        assert!(proving.turn(SMALL_ATTEMPTS).now_or_never().is_some());
    }
}
