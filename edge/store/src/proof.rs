//! Proofs of state against a header's `state_root`.

use crate::state::{Db, Family, Key, RawKey, Value, raw};
use commonware_codec::Encode as _;
use commonware_runtime::Spawner;
use commonware_storage::{Context, qmdb::Error};
use cowboy_types::Hash;

/// That a key has a value, or none, in the state of one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateProof {
    /// The root it holds against.
    pub root: Hash,
    /// The value, or `None` where the key has none.
    pub value: Option<Value>,
    /// The encoded proof: of the key's value where there is one, of its absence otherwise.
    pub proof: Vec<u8>,
}

/// Proves what the key's value is now.
pub async fn prove<E: Context + Spawner>(db: &Db<E>, key: &Key) -> Result<StateProof, Error<Family>> {
    let name: RawKey = raw(key);
    let value = db.get(&name).await?;
    let proof = match &value {
        Some(_) => db.key_value_proof(name).await?.encode().to_vec(),
        None => db.exclusion_proof(&name).await?.encode().to_vec(),
    };
    Ok(StateProof { root: crate::state::hash(db.root()), value, proof })
}
