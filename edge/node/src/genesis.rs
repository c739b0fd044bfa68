//! The block before the first, and who votes on the ones after it.

use crate::{
    block::{SealedBlock, engine_context},
    committee::{Committee, CommitteeError, ValidatorKeys, first_epoch},
    epoch::{self, Payload},
};
use bytes::Bytes;
use commonware_cryptography::blake3::Blake3;
use commonware_storage::qmdb::any::initial_root;
use cowboy_chain::{
    ChainConfig, GenesisConfig, StateKey,
    genesis::{Funded, GenesisError},
};
use cowboy_state::records::ParameterChange;
use cowboy_store::state;
use cowboy_types::{
    Address, Amount, ChainId, Hash, TimestampMs, blake3,
    block::{Block, Context, FIRST_VERSION, Header, LaneUsage, Usage, body_hash},
    merkle,
    transaction::Signature,
    units::{Count, Price},
    wire::{Blob, Fixed, List},
};
use std::{collections::BTreeMap, sync::Arc};

/// Everything that a chain starts from.
#[derive(Clone)]
pub struct Genesis {
    /// What the protocol starts from.
    pub config: GenesisConfig,
    /// The public half of the dealing that made the group key.
    pub sharing: Vec<u8>,
    /// The validators.
    pub committee: Committee,
    /// The block before the first.
    pub block: SealedBlock,
    /// What the first block writes before anything else.
    ///
    /// The state after genesis itself is empty: the engine opens a new database empty, so the
    /// accounts of genesis are part of the first block, whose state root proves them.
    pub allocation: Arc<Vec<(StateKey, Bytes)>>,
    /// What never changes while the chain lives.
    pub chain: Arc<ChainConfig>,
}

/// Why a genesis makes no chain.
#[derive(Debug, thiserror::Error)]
pub enum GenesisProblem {
    /// The protocol refuses it.
    #[error(transparent)]
    Law(#[from] GenesisError),
    /// Its validators make no committee.
    #[error(transparent)]
    Committee(#[from] CommitteeError),
}

impl Genesis {
    /// The genesis of this configuration, with the public half of the dealing among its validators.
    pub fn new(config: GenesisConfig, sharing: Vec<u8>) -> Result<Self, GenesisProblem> {
        let info = first_epoch(&config.validators, &sharing)?;
        let committee = Committee::of(&info)?;
        let chain = Arc::new(config.chain_of(&committee.group_key().0)?);
        let allocation = cowboy_chain::genesis(&config)?.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        let block = block(&config, chain.genesis, &committee, &Payload::EpochInfo(info));
        Ok(Self { config, sharing, committee, block, allocation: Arc::new(allocation), chain })
    }

    /// The genesis hash, which identifies the chain: it commits to the configuration and to the group key
    /// ([decision 426](../../../docs/decisions/0426-the-genesis-hash-covers-the-group-key.md)).
    pub fn hash(&self) -> Hash {
        self.chain.genesis
    }

    /// What separates this chain's votes and handshakes from every other's.
    pub fn namespace(&self) -> Vec<u8> {
        [b"cowboy:".as_slice(), &self.hash().0].concat()
    }
}

/// What a dev chain starts from, besides the protocol's genesis.
#[derive(Clone, Debug)]
pub struct DevGenesis {
    /// The number in every signature.
    pub chain_id: ChainId,
    /// When it began.
    pub timestamp_ms: TimestampMs,
    /// Who has how much.
    pub accounts: Vec<Funded>,
    /// Who may use the system lane.
    pub deployers: Vec<Address>,
    /// How many validators vote.
    pub validators: u32,
    /// Parameters that begin with another value, by row.
    pub parameters: BTreeMap<u16, u64>,
}

impl Default for DevGenesis {
    fn default() -> Self {
        Self {
            chain_id: ChainId(1337),
            timestamp_ms: TimestampMs(0),
            accounts: Vec::new(),
            deployers: Vec::new(),
            validators: 1,
            parameters: BTreeMap::new(),
        }
    }
}

/// A dev chain's genesis and its validators' secrets, which everybody knows. Fails where the accounts get more than there is.
pub fn dev(dev: DevGenesis) -> Result<(Genesis, Vec<ValidatorKeys>), GenesisProblem> {
    let stake = Amount::from_cby(100_000).expect("the stake fits");
    let (validators, sharing, keys) = Committee::derive(b"cowboy dev", dev.validators, stake);
    let mut deployers = dev.deployers;
    deployers.sort();
    let parameters = dev.parameters.into_iter().map(|(row, value)| ParameterChange { row, value });
    let config = GenesisConfig {
        chain_id: dev.chain_id,
        is_dev: true,
        timestamp_ms: dev.timestamp_ms,
        accounts: List::new(dev.accounts).ok_or(GenesisError::Unordered { list: "accounts" })?,
        deployers: List::new(deployers).ok_or(GenesisError::Unordered { list: "deployers" })?,
        validators: List::new(validators).expect("a dev chain has few validators"),
        parameters: List::new(parameters.collect()).ok_or(GenesisError::Unordered { list: "parameters" })?,
        council: List::default(),
        calls: List::default(),
    };
    Ok((Genesis::new(config, sharing)?, keys))
}

fn block(config: &GenesisConfig, genesis: Hash, committee: &Committee, epoch: &Payload) -> SealedBlock {
    let epoch = Blob::new(epoch::encode(epoch)).expect("an epoch of 1,024 validators fits");
    let leader = committee.members().first().expect("a committee has members");
    let mut key = [0; 32];
    key.copy_from_slice(leader.network.as_ref());
    let nothing = LaneUsage { cycles: Default::default(), cells: Default::default() };
    let empty = merkle::root(&[]);
    let context = Context { epoch: Count(0), view: Count(0), leader: Fixed(key), parent_view: Count(0), parent: Hash::ZERO };
    let engine = engine_context(&context).expect("a member's key is a key");
    let header = Header {
        version: FIRST_VERSION,
        genesis,
        context,
        parent: Hash::ZERO,
        number: Count(0),
        skipped: Count(0),
        timestamp_ms: config.timestamp_ms,
        seeds: List::default(),
        proposer_vrf: Fixed([0; 48]),
        base_fee_cycle: Price(0),
        base_fee_cell: Price(0),
        usage: Usage { system: nothing.clone(), timer: nothing.clone(), runner: nothing.clone(), user: nothing },
        tx_root: empty,
        body: body_hash(&List::default()),
        receipt_root: empty,
        // The first root of the database is never looked at: nothing can be proven before the first block.
        state_root: Hash::ZERO,
        ops_root: state::hash(initial_root::<state::Family, InitialUpdate, Blake3>()),
        ops_start: Count(0),
        ops_end: Count(1),
        reshare: Some(blake3(&[&epoch])),
        voters: Blob::default(),
        // So that the first block's parent digest vouches for the key that every certificate verifies against.
        extension: Blob::new(committee.group_key().0.to_vec()).expect("96 bytes fit"),
        signature: Signature::default(),
    };
    SealedBlock::new(Block { header, transactions: List::default(), reshare: Some(epoch) }, engine)
}

type InitialUpdate =
    commonware_storage::qmdb::any::ordered::Update<state::RawKey, commonware_storage::qmdb::any::value::VariableEncoding<Bytes>>;

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::bls12381::{
        dkg::feldman_desmedt,
        primitives::{sharing::Mode, variant::MinSig},
    };
    use commonware_utils::N3f1;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    /// The same configuration with a group key that somebody else dealt to the same validators is another chain.
    #[test]
    fn the_hash_covers_the_group_key() {
        let (genesis, keys) = dev(DevGenesis { validators: 4, ..DevGenesis::default() }).expect("a genesis");
        let again = Genesis::new(genesis.config.clone(), genesis.sharing.clone()).expect("a genesis");
        assert_eq!((again.hash(), again.block.hash()), (genesis.hash(), genesis.block.hash()));
        let players = keys.iter().map(|keys| commonware_cryptography::Signer::public_key(&keys.network));
        let players = commonware_utils::ordered::Set::from_iter_dedup(players);
        let (output, _) =
            feldman_desmedt::deal::<MinSig, _, N3f1>(ChaCha20Rng::from_seed([7; 32]), Mode::NonZeroCounter, players).expect("players");
        let other = Genesis::new(genesis.config.clone(), commonware_codec::Encode::encode(&output).to_vec()).expect("it is a dealing");
        assert_eq!(other.config, genesis.config);
        assert_ne!(other.committee.group_key(), genesis.committee.group_key());
        assert_ne!(other.hash(), genesis.hash());
        assert_eq!(other.block.header().genesis, other.hash(), "one hash for the chain");
    }
}
