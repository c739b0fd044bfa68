//! Drives the law's execution of a block over the database.

use crate::{
    chain::{Carry, Output},
    law::{BlockInput, Execution, Need, Outcome},
};
use commonware_glue::stateful::db::{DatabaseSet, Shared};
use commonware_runtime::Spawner;
use commonware_storage::{
    Context,
    qmdb::{self},
};
use cowboy_store::{
    Key, Value,
    state::{Db, Family, raw},
};
use std::{collections::HashMap, sync::Arc};

/// The databases of the state machine: one.
pub type Databases<E> = Shared<Db<E>>;

/// A block's changes before their root is known.
pub type Batch<E> = <Databases<E> as DatabaseSet<E>>::Unmerkleized;

/// A block's changes with their root.
pub type Merkleized<E> = <Databases<E> as DatabaseSet<E>>::Merkleized;

/// What can go wrong: the database moved on to a branch without this block's parent, or failed.
pub type StateError = qmdb::Error<Family>;

/// Runs a block on its parent's state. Answers the batch with the block's writes, what came of it, and what it overwrites.
///
/// `allocation` is written before anything runs: genesis, in the first block.
pub async fn run<E>(input: BlockInput, allocation: &[(Key, Value)], batch: Batch<E>) -> Result<(Batch<E>, Outcome, HashMap<Key, Option<Value>>), StateError>
where
    E: Context + Spawner,
{
    let mut batch = batch;
    for (key, value) in allocation {
        batch = batch.write(raw(key), Some(value.clone()));
    }
    let mut seen = HashMap::new();
    let mut execution = Execution::new(input);
    let mut answers = Vec::new();
    let outcome = loop {
        match execution.advance(answers) {
            Need::Done(outcome) => break outcome,
            Need::Keys(keys) => {
                answers = read::<E>(&batch, keys).await?;
                seen.extend(answers.iter().cloned());
            }
        }
    };
    let unread: Vec<Key> = outcome.writes.keys().filter(|key| !seen.contains_key(*key)).copied().collect();
    seen.extend(read::<E>(&batch, unread).await?);
    seen.retain(|key, _| outcome.writes.contains_key(key));
    // Before the first block there was nothing, not even what genesis allocates.
    for (key, _) in allocation {
        seen.insert(*key, None);
    }
    for (key, value) in &outcome.writes {
        batch = batch.write(raw(key), value.clone());
    }
    Ok((batch, outcome, seen))
}

async fn read<E>(batch: &Batch<E>, keys: Vec<Key>) -> Result<Vec<(Key, Option<Value>)>, StateError>
where
    E: Context + Spawner,
{
    let names: Vec<_> = keys.iter().map(raw).collect();
    let names: Vec<_> = names.iter().collect();
    let values = batch.get_many(&names).await?;
    Ok(keys.into_iter().zip(values).collect())
}

/// What is kept of an outcome until its block is final.
pub fn output(number: u64, outcome: Outcome, before: HashMap<Key, Option<Value>>) -> Output {
    let carry = Carry { is_work: outcome.work_next, next_due: None };
    Output { number, receipts: outcome.receipts, before: Arc::new(before), carry }
}
