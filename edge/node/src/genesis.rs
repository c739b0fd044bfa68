//! The block before the first, and who votes on the ones after it.

use crate::{
    block::{SealedBlock, engine_context},
    committee::{Committee, ValidatorKeys},
};
use commonware_cryptography::blake3::Blake3;
use commonware_storage::qmdb::any::initial_root;
use cowboy_state::StateKey;
use cowboy_store::{Value, state};
use cowboy_types::{
    Hash, TimestampMs,
    block::{Block, Context, HEADER_VERSION, Header, LaneUsage, Usage},
    merkle,
    transaction::Signature,
    units::{Count, Price},
    wire::{Blob, Fixed, List},
};

/// Everything that a chain starts from.
#[derive(Clone)]
pub struct Genesis {
    /// The block before the first. Its digest names the chain.
    pub block: SealedBlock,
    /// What the first block writes before anything else.
    ///
    /// The state after genesis itself is empty: the engine opens a new database empty, so the
    /// accounts of genesis are part of the first block, whose state root proves them.
    pub allocation: Vec<(StateKey, Value)>,
    /// Whether warp, snapshots, and setting balances are allowed.
    pub is_dev: bool,
    /// The validators.
    pub committee: Committee,
}

impl Genesis {
    /// The genesis of this allocation and committee. `description` is hashed into its name.
    pub fn new(description: &[u8], timestamp: TimestampMs, allocation: Vec<(StateKey, Value)>, committee: Committee, is_dev: bool) -> Self {
        let block = block(description, timestamp, &committee);
        Self { block, allocation, is_dev, committee }
    }

    /// The name of the chain.
    pub fn hash(&self) -> Hash {
        self.block.hash()
    }

    /// What separates this chain's votes and handshakes from every other's.
    pub fn namespace(&self) -> Vec<u8> {
        [b"cowboy:".as_slice(), &self.hash().0].concat()
    }
}

/// A dev chain's validator keys and committee.
pub fn dev_committee(validators: usize) -> (Committee, Vec<ValidatorKeys>) {
    Committee::derive(b"cowboy dev", &vec![1; validators])
}

fn block(description: &[u8], timestamp: TimestampMs, committee: &Committee) -> SealedBlock {
    let leader = committee.members().first().expect("a committee has members");
    let mut key = [0; 32];
    key.copy_from_slice(leader.network.as_ref());
    let nothing = LaneUsage { cycles: Default::default(), cells: Default::default() };
    let empty = merkle::root(&[]);
    let context = Context { epoch: Count(0), view: Count(0), leader: Fixed(key), parent_view: Count(0), parent: Hash::ZERO };
    let engine = engine_context(&context).expect("a member's key is a key");
    let header = Header {
        version: HEADER_VERSION,
        // The chain's name is this header's digest, so here stands what the rest of genesis hashes to.
        genesis: cowboy_types::blake3(&[b"cowboy-genesis:", description, &committee.group_key().0]),
        context,
        parent: Hash::ZERO,
        number: Count(0),
        skipped: Count(0),
        timestamp_ms: timestamp,
        seeds: List::default(),
        proposer_vrf: Fixed([0; 48]),
        base_fee_cycle: Price(0),
        base_fee_cell: Price(0),
        usage: Usage { system: nothing.clone(), timer: nothing.clone(), runner: nothing.clone(), user: nothing },
        tx_root: empty,
        receipt_root: empty,
        // The first root of the database is never looked at: nothing can be proven before the first block.
        state_root: Hash::ZERO,
        ops_root: state::hash(initial_root::<state::Family, InitialUpdate, Blake3>()),
        ops_start: Count(0),
        ops_end: Count(1),
        reshare: None,
        voters: Blob::default(),
        extension: Blob::default(),
        signature: Signature::default(),
    };
    SealedBlock::new(Block { header, transactions: List::default(), reshare: None }, engine)
}

type InitialUpdate = commonware_storage::qmdb::any::ordered::Update<state::RawKey, commonware_storage::qmdb::any::value::VariableEncoding<Value>>;
