//! What the chain says: records with proofs, under a header that the validators finalized. A node's word is worth nothing.

use bytes::Bytes;
use commonware_codec::DecodeExt;
use cowboy_api::verify::{Claim, VerifyError, verify};
use cowboy_api::{ApiError, Client, Hex, model};
use cowboy_light::GroupKey;
use cowboy_params::Params;
use cowboy_state::Key;
use cowboy_state::records::{ParameterChanges, keys};
use cowboy_types::{Address, Hash};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Rows of a page of events.
const PAGE: usize = 100;

/// The most records of one [`Chain::read`], which asks for those of the parameters beside them.
pub const MAX_RECORDS: usize = model::MAX_PROOF_KEYS - 1;

/// Pages that are read at most.
const MAX_PAGES: usize = 1_000;

/// Why the chain cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The node refuses or is silent.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// The node's proof does not hold.
    #[error("the node's proof is not to be believed: {0}")]
    Proof(#[from] VerifyError),
    /// The node's state is older than one that was seen before.
    #[error("the node proves the state of height {found}, and that of height {seen} was final before")]
    Old {
        /// What it proves.
        found: u64,
        /// What was seen.
        seen: u64,
    },
    /// A proven record does not decode.
    #[error("a record of the chain does not decode: this program is older than the chain's protocol")]
    Record,
    /// The genesis is another, or its key is none.
    #[error("the node's chain is not the one that is configured")]
    OtherChain,
}

/// Proven records of one block.
pub struct Records {
    /// The height of the block.
    pub height: u64,
    /// The time of the block.
    pub timestamp_ms: u64,
    values: Vec<Option<Bytes>>,
}

impl Records {
    /// The record of the key with this index among those that were asked for; none where the chain has none.
    ///
    /// # Errors
    ///
    /// If it does not decode.
    pub fn read<T: DecodeExt<()>>(&self, index: usize) -> Result<Option<T>, ChainError> {
        match self.values.get(index).cloned().flatten() {
            Some(body) => T::decode(body).map(Some).map_err(|_| ChainError::Record),
            None => Ok(None),
        }
    }

    /// The bytes of the record of the key with this index; none where the chain has none.
    pub fn bytes(&self, index: usize) -> Option<Bytes> {
        self.values.get(index).cloned().flatten()
    }
}

/// A chain, as a node that is not trusted proves it.
pub struct Chain {
    /// The node.
    pub client: Client,
    /// The genesis hash.
    pub genesis: Hash,
    /// The chain's id.
    pub chain_id: u64,
    validators: GroupKey,
    newest: AtomicU64,
    params: Mutex<(u64, Arc<Params>)>,
}

impl Chain {
    /// The chain of a node. Where genesis hash and group key are not given, the node's are believed: only for development.
    ///
    /// # Errors
    ///
    /// If the node does not answer, or has another chain.
    pub async fn connect(url: &str, trusted: Option<(Hash, [u8; 96])>) -> Result<Self, ChainError> {
        let client = Client::new(url)?;
        let health = client.health().await?;
        let (genesis, key) = match trusted {
            Some(trusted) => trusted,
            None => {
                let genesis: model::Genesis = client.get("/genesis").await?;
                (genesis.hash.0, genesis.group_key.0[..].try_into().map_err(|_| ChainError::OtherChain)?)
            }
        };
        if health.genesis.0 != genesis {
            return Err(ChainError::OtherChain);
        }
        let validators = GroupKey::new(&genesis, &key).ok_or(ChainError::OtherChain)?;
        let params = Mutex::new((0, Arc::new(client.params().await?)));
        Ok(Self { client, genesis, chain_id: health.chain_id, validators, newest: AtomicU64::new(0), params })
    }

    /// The newest height that was read.
    pub fn height(&self) -> u64 {
        self.newest.load(Ordering::Relaxed)
    }

    /// The parameters of the block after the newest that was read: what governance moved is proven with every read. What it did not move is what the
    /// node said at first.
    pub fn params(&self) -> Arc<Params> {
        self.params.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Takes over what governance moved.
    fn note_params(&self, height: u64, moved: &ParameterChanges) {
        let mut params = self.params.lock().unwrap_or_else(PoisonError::into_inner);
        if params.0 < height {
            let now = params.1.moved(moved.changes.iter().map(|change| (change.row, change.value)));
            *params = (height, if now == *params.1 { params.1.clone() } else { Arc::new(now) });
        }
    }

    /// Records of system actors, all of one block, at most [`MAX_RECORDS`]. A block older than one that was read before is refused.
    ///
    /// # Errors
    ///
    /// If the node does not prove them.
    pub async fn read(&self, keys: &[Key]) -> Result<Records, ChainError> {
        // Other reads are under way: what they saw after this one began says nothing against it.
        let seen = self.newest.load(Ordering::Relaxed);
        let moved = keys::parameters();
        let wanted_keys: Vec<&Key> = keys.iter().chain([&moved]).collect();
        let record = |key: &Key| model::StorageKey { address: Hex(key.address), key: Hex(key.name.to_vec()) };
        let wanted = model::ProofRequest {
            accounts: Vec::new(),
            actors: Vec::new(),
            storage: Vec::new(),
            records: wanted_keys.iter().copied().map(record).collect(),
        };
        let proof: model::Proof = self.client.post("/proof/multi", &wanted).await?;
        let claims: Vec<Claim> = wanted_keys.iter().map(|key| Claim::State(Hash(key.digest().0))).collect();
        let verified = verify(&proof, &self.validators, &claims)?;
        let height = verified.header.height().get();
        self.newest.fetch_max(height, Ordering::Relaxed);
        if height < seen {
            return Err(ChainError::Old { found: height, seen });
        }
        let mut values = Vec::with_capacity(wanted_keys.len());
        for (key, item) in wanted_keys.iter().zip(&proof.items) {
            let stored = item.value.as_ref().map(|value| Bytes::from(value.0.clone()));
            let opened = stored.map(|stored| Key::open(&stored).filter(|(found, _)| found == *key).map(|(_, body)| body));
            values.push(match opened {
                Some(Some(body)) => Some(body),
                Some(None) => return Err(ChainError::Record),
                None => None,
            });
        }
        let mut records = Records { height, timestamp_ms: verified.header.timestamp_ms.0, values };
        if let Some(moved) = records.read::<ParameterChanges>(keys.len())? {
            self.note_params(height, &moved);
        }
        records.values.truncate(keys.len());
        Ok(records)
    }

    /// The events of an actor from a height on, as the node tells them: they are not proven.
    ///
    /// # Errors
    ///
    /// If the node does not answer.
    pub async fn events(&self, actor: Address, from: u64) -> Result<Vec<model::Event>, ChainError> {
        let mut events = Vec::new();
        for page in 0..MAX_PAGES {
            let path = format!("/actor/{actor}/logs?from={from}&offset={}&limit={PAGE}", page.saturating_mul(PAGE));
            let logs: model::Logs = self.client.get(&path).await?;
            let count = logs.logs.len();
            events.extend(logs.logs.into_iter().map(|log| log.event));
            if count < PAGE {
                break;
            }
        }
        Ok(events)
    }
}
