//! Drives the law's execution of a block over the database.

use bytes::Bytes;
use commonware_glue::stateful::db::{DatabaseSet, Shared, Unmerkleized};
use commonware_runtime::Spawner;
use commonware_storage::{Context, qmdb};
use cowboy_chain::{BlockInput, BlockInvalid, Execution, Need, Outcome, StateKey};
use cowboy_store::state::{Db, Family, raw};
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
    let mut before = HashMap::new();
    let mut execution = Execution::new(input);
    let mut answers = Vec::new();
    let outcome = loop {
        match execution.advance(answers) {
            Need::Done(outcome) => break *outcome,
            Need::Invalid(reason) => return Err(reason.into()),
            Need::Keys(keys) => {
                answers = read::<E>(&batch, keys).await?;
                before.extend(answers.iter().cloned());
            }
        }
    };
    let unread: Vec<StateKey> = outcome.writes.keys().filter(|key| !before.contains_key(*key)).copied().collect();
    before.extend(read::<E>(&batch, unread).await?);
    before.retain(|key, _| outcome.writes.contains_key(key));
    // Before the first block there was nothing, not even what genesis allocates.
    before.extend(allocation.iter().map(|(key, _)| (*key, None)));
    for (key, value) in &outcome.writes {
        batch = batch.write(raw(key), value.clone());
    }
    let merkleized = Unmerkleized::merkleize(batch).await?;
    Ok(Executed { merkleized, outcome, before })
}

async fn read<E: Context + Spawner>(batch: &Batch<E>, keys: Vec<StateKey>) -> Result<Vec<(StateKey, Option<Bytes>)>, qmdb::Error<Family>> {
    let names: Vec<_> = keys.iter().map(raw).collect();
    let names: Vec<_> = names.iter().collect();
    let values = batch.get_many(&names).await?;
    Ok(keys.into_iter().zip(values).collect())
}
