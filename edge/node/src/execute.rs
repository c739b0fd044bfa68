//! Drives the law's execution of a block over the database.

use bytes::Bytes;
use commonware_glue::stateful::db::{DatabaseSet, Shared};
use commonware_runtime::Spawner;
use commonware_storage::{
    Context,
    qmdb::{self, any::batch::Slot},
};
use cowboy_chain::{BlockInput, BlockInvalid, Execution, Need, Outcome, StateKey};
use cowboy_store::state::{Db, Family, RawKey, raw};
use std::collections::HashMap;

/// The databases of the state machine: one.
pub type Databases<E> = Shared<Db<E>>;

/// A block's changes before their root is known.
pub type Batch<E> = <Databases<E> as DatabaseSet<E>>::Unmerkleized;

/// A block's changes with their root.
pub type Merkleized<E> = <Databases<E> as DatabaseSet<E>>::Merkleized;

/// Why a block could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The database moved on to a branch without this block's parent, or the disk failed.
    #[error("the state of the parent cannot be read: {0}")]
    State(#[from] qmdb::Error<Family>),
    /// The block breaks a rule.
    #[error(transparent)]
    Invalid(#[from] BlockInvalid),
}

/// A block that was run.
pub struct Executed<E: Context + Spawner> {
    /// The parent's state with what the block wrote, and its root.
    pub merkleized: Merkleized<E>,
    /// What came of it.
    pub outcome: Outcome,
    /// What it overwrites.
    pub before: HashMap<StateKey, Option<Bytes>>,
}

/// Runs a block on its parent's state.
///
/// `allocation` is written before anything runs: genesis, in the first block.
pub async fn run<E: Context + Spawner>(
    input: BlockInput,
    allocation: &[(StateKey, Bytes)],
    batch: Batch<E>,
) -> Result<Executed<E>, Failed> {
    let mut batch = batch;
    for (key, value) in allocation {
        batch = batch.write(raw(key), Some(value.clone()));
    }
    // What is staged is known where it stands, so that writing it does not look for it again.
    let (_, mut staged) = batch.stage(&[]).await?;
    let mut read = Reads::default();
    let mut execution = Execution::new(input);
    let mut answers = Vec::new();
    let outcome = loop {
        match execution.advance(answers) {
            Need::Done(outcome) => break *outcome,
            Need::Invalid(reason) => return Err(reason.into()),
            Need::Keys(keys) => {
                // An execution that began again asks for what it had.
                let unread = read.missing(&keys);
                let (_, values, grown) = staged.expand(&names(&unread).iter().collect::<Vec<_>>()).await?;
                staged = grown;
                read.take(unread, values);
                answers = keys.into_iter().map(|key| (key, read.values[&key].clone())).collect();
            }
        }
    };
    // A record that is new is written unread; what it overwrites is kept for queries all the same.
    let unread = read.missing(outcome.writes.keys());
    let (_, values, staged) = staged.expand(&names(&unread).iter().collect::<Vec<_>>()).await?;
    read.take(unread, values);
    let slots = read.order.iter().map(|key| match outcome.writes.get(key) {
        None => Slot::Keep,
        Some(None) => Slot::Delete,
        Some(Some(value)) => Slot::Put(value.clone()),
    });
    let merkleized = staged.merkleize(slots.collect(), Vec::new()).await?;
    let mut before = read.values;
    before.retain(|key, _| outcome.writes.contains_key(key));
    // Before the first block there was nothing, not even what genesis allocates.
    before.extend(allocation.iter().map(|(key, _)| (*key, None)));
    Ok(Executed { merkleized, outcome, before })
}

/// What a block has read, in the order of the staged batch's places.
#[derive(Default)]
struct Reads {
    order: Vec<StateKey>,
    values: HashMap<StateKey, Option<Bytes>>,
}

impl Reads {
    fn missing<'a>(&self, keys: impl IntoIterator<Item = &'a StateKey>) -> Vec<StateKey> {
        keys.into_iter().filter(|key| !self.values.contains_key(*key)).copied().collect()
    }

    fn take(&mut self, keys: Vec<StateKey>, values: Vec<Option<Bytes>>) {
        self.values.extend(keys.iter().copied().zip(values));
        self.order.extend(keys);
    }
}

/// Keys in the database's type.
fn names(keys: &[StateKey]) -> Vec<RawKey> {
    keys.iter().map(raw).collect()
}
