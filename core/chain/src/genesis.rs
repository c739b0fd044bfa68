//! The first state of a chain (003 §8.1, §8.3, §9).

use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_params::Params;
use cowboy_state::records::{
    Account, Actor, Deployers, GenesisValidator, GenesisValidators, Markets, ParameterChange, ParameterChanges, Supply, keys,
};
use cowboy_state::{Directory, StateKey, Step, Stop, World};
use cowboy_system::Versions;
use cowboy_system::governance::{self, types::Council};
use cowboy_system::registry::Argument;
use cowboy_system::staking::{
    self, possession,
    types::{NO_ENDPOINT, Status, Validator},
};
pub use cowboy_system::treasury::vesting::{BUCKETS, Bucket, bucket_address};
use cowboy_types::signing::address_of_public_key;
use cowboy_types::units::{Amount, ChainId, Count, Height, Nonce, Price, TimestampMs};
use cowboy_types::{Abort, Address, Blob, Hash, List, Text, blake3, error, record};
use std::collections::BTreeMap;

record! {
    /// CBY that an account begins with.
    pub struct Funded {
        /// The address.
        pub address: Address,
        /// The amount in base units.
        pub amount: Amount,
    }
}

record! {
    /// What a chain begins with. Its encoding's BLAKE3 is the genesis hash.
    pub struct GenesisConfig {
        /// The number in every signature.
        pub chain_id: ChainId,
        /// Whether dev instructions exist.
        pub is_dev: bool,
        /// The chain's start time in ms since 1970.
        pub timestamp_ms: TimestampMs,
        /// Accounts funded out of Developer Grants: dev accounts, the faucet, what validators start with.
        pub accounts: List<Funded, 4096>,
        /// Who may use the system lane; ascending.
        pub deployers: List<Address, 64>,
        /// The first validators, ascending by network key. Their stakes come out of the Foundation's bucket.
        pub validators: List<GenesisValidator, 1024>,
        /// Parameters that differ from the table, ascending by row.
        pub parameters: List<ParameterChange, 1024>,
        /// The security council, ascending; empty where governance names it later.
        pub council: List<Address, 64>,
        /// Calls of system actors with which the chain begins, in order: what governance would decide first.
        pub calls: List<GenesisCall, 1024>,
    }
}

record! {
    /// A call of a system actor's method in the first state.
    pub struct GenesisCall {
        /// Who calls: 0x09 for governance, else an account of genesis.
        pub sender: Address,
        /// The system actor's number.
        pub actor: u8,
        /// Its method.
        pub method: Text<64>,
        /// The argument, canonical CBOR.
        pub argument: Blob<65_536>,
        /// CBY of the sender that go along.
        pub value: Amount,
    }
}

/// Why a genesis makes no chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenesisError {
    /// The accounts get more than the bucket holds.
    #[error("genesis accounts get more than the {bucket} CBY of the bucket they come from; give them less")]
    BucketExceeded {
        /// The bucket's size in whole CBY.
        bucket: u64,
    },
    /// A list is not strictly ascending.
    #[error("{list} must ascend strictly and without duplicates")]
    Unordered {
        /// The list's name.
        list: &'static str,
    },
    /// A key of a validator is no key, or also another validator's.
    #[error("the {key} of validator {address} {reason}; make the genesis from keys that `cowboyd keys` made")]
    ValidatorKey {
        /// The address.
        address: Address,
        /// Which of its keys.
        key: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The council has another size than 003 §11 says.
    #[error("the council has {members} members and needs {size}; name {size}, or none")]
    Council {
        /// How many are named.
        members: usize,
        /// How many it needs.
        size: u64,
    },
    /// A call of the first state fails.
    #[error("call {index} of genesis, {method} of {actor}, fails: {reason}")]
    Call {
        /// Its place, from 0.
        index: usize,
        /// The system actor.
        actor: Address,
        /// The method.
        method: String,
        /// The reason.
        reason: &'static str,
    },
    /// A parameter is unknown or out of range.
    #[error("parameter {row:#06x}: {reason}")]
    Parameter {
        /// The row's number.
        row: u16,
        /// What is wrong.
        reason: String,
    },
}

/// The name of the address that holds the genesis validators' stakes.
pub const STAKES: &str = "stakes";

impl GenesisConfig {
    /// The chain's identity.
    pub fn hash(&self) -> Hash {
        blake3(&[b"cowboy-genesis:", &self.encode()])
    }

    /// The parameters with which the chain begins.
    pub fn params(&self) -> Result<Params, GenesisError> {
        if !self.parameters.is_sorted_by(|one, other| one.row < other.row) {
            return Err(GenesisError::Unordered { list: "parameters" });
        }
        let mut params = Params::GENESIS;
        for change in self.parameters.iter() {
            params
                .set_at_genesis(change.row, change.value)
                .map_err(|error| GenesisError::Parameter { row: change.row, reason: error.to_string() })?;
        }
        Ok(params)
    }

    /// What never changes while the chain lives whose validators have this group key. Its genesis hash covers both (decision 426).
    pub fn chain_of(&self, group_key: &[u8; 96]) -> Result<crate::input::ChainConfig, GenesisError> {
        let genesis = blake3(&[b"cowboy-chain:", &self.hash().0, group_key]);
        Ok(crate::input::ChainConfig { genesis, ..self.chain()? })
    }

    /// The same of a chain without a group key, as where blocks are executed and nobody signs them.
    pub fn chain(&self) -> Result<crate::input::ChainConfig, GenesisError> {
        let (genesis, versions) = (self.hash(), Versions::ALL);
        Ok(crate::input::ChainConfig { genesis, chain_id: self.chain_id, is_dev: self.is_dev, params: self.params()?, versions })
    }
}

/// The records of the first state.
pub fn genesis(config: &GenesisConfig) -> Result<BTreeMap<StateKey, Option<Bytes>>, GenesisError> {
    let params = config.params()?;
    if !config.deployers.is_sorted_by(|one, other| one < other) {
        return Err(GenesisError::Unordered { list: "deployers" });
    }
    if !config.validators.is_sorted_by(|one, other| one.network_key < other.network_key) {
        return Err(GenesisError::Unordered { list: "validators" });
    }
    check_keys(&config.validators)?;
    let mut world = World::default();
    for (address, balance) in balances(config)? {
        world.set_account(address, &Account { nonce: Nonce::ZERO, balance });
    }
    for bucket in &BUCKETS {
        world.write(keys::vesting(bucket.name), &bucket.schedule(config.timestamp_ms));
    }
    for number in (0x01..=0x13).chain([0x1D]) {
        // It has an owner that nobody is, and no source.
        world.set_actor(Address::system(number), &Actor::new(Address::ZERO));
    }
    let fees = Price(params.fees.base_fee_min);
    world.write(keys::markets(), &Markets { base_fee_cycle: fees, base_fee_cell: fees });
    world.write(keys::supply(), &Supply { genesis: Amount(params.economics.genesis_supply), minted: Amount::ZERO, burned: Amount::ZERO });
    world.write(keys::parameters(), &ParameterChanges { changes: List::default() });
    world.write(keys::deployers(), &Deployers { accounts: config.deployers.clone() });
    enroll(&mut world, &config.validators);
    world.write(keys::validators(), &GenesisValidators { validators: config.validators.clone() });
    complete(&mut world, |world| Ok(governance::published::publish_groups(world, &params)?)).expect("writing needs nobody's leave");
    found_council(&mut world, &params, &config.council)?;
    for (index, call) in config.calls.iter().enumerate() {
        let done = complete(&mut world, |world| first_call(world, config, &params, call));
        done.map_err(|abort| GenesisError::Call {
            index,
            actor: Address::system(call.actor),
            method: call.method.to_string(),
            reason: error::row(abort.code).what,
        })?;
    }
    world.take_events();
    Ok(world.writes())
}

/// Does something on the first state, in which what nobody wrote is absent.
fn complete(world: &mut World, mut run: impl FnMut(&mut World) -> Step<()>) -> Result<(), Abort> {
    loop {
        let checkpoint = world.checkpoint();
        let missed = match run(world) {
            Ok(()) => return Ok(()),
            Err(Stop::Abort(abort)) => return Err(abort),
            Err(Stop::Miss(missed)) => missed,
        };
        world.rollback(&checkpoint);
        for digest in world.want(missed) {
            world.fill(&digest, None);
        }
    }
}

fn found_council(world: &mut World, params: &Params, members: &List<Address, 64>) -> Result<(), GenesisError> {
    if members.is_empty() {
        return Ok(());
    }
    if !members.is_sorted_by(|one, other| one < other) {
        return Err(GenesisError::Unordered { list: "council" });
    }
    let size = params.governance.council_size;
    if u64::try_from(members.len()) != Ok(size) {
        return Err(GenesisError::Council { members: members.len(), size });
    }
    world.write(governance::state::council_key(), &Council { members: members.clone() });
    Ok(())
}

/// Calls a system actor as it is called at height 0.
fn first_call(world: &mut World, config: &GenesisConfig, params: &Params, call: &GenesisCall) -> Step<()> {
    let target = Address::system(call.actor);
    if !world.debit(call.sender, call.value)? {
        return Err(error::TRANSFER_FAILED.into());
    }
    world.credit(target, call.value)?;
    let mut context = cowboy_system::Context {
        world,
        params,
        genesis_params: params,
        deployers: &config.deployers,
        rules: Versions::ALL.nearest(cowboy_system::FIRST_VERSION),
        actors: cowboy_system::ACTORS,
        paused: &[],
        height: Height::ZERO,
        timestamp: config.timestamp_ms,
        is_dev: config.is_dev,
        sender: call.sender,
        value: call.value,
        id: Hash::ZERO,
        draw: cowboy_system::Draw { beacon: Bytes::new(), epoch: 0, view: 0 },
        work: cowboy_system::Work::default(),
        budget: cowboy_system::Work { cycles: u64::MAX, cells: u64::MAX, weight: u64::MAX },
        chain_id: config.chain_id,
        genesis: config.hash(),
        forward: None,
        is_due: false,
        refused: None,
        explanation: None,
    };
    cowboy_system::call(&mut context, target, &call.method, Argument::Encoded(&call.argument))?;
    // What would go on in a contract has none to go on in.
    if context.forward.is_some() { Err(error::UNAVAILABLE.into()) } else { Ok(()) }
}

/// Refuses keys with which nobody, or anybody, could sign: zeros, the identity, points of small order or out of their group. Nobody
/// proves at genesis to have its keys (decision 292): who signs a genesis has collected them.
fn check_keys(validators: &[GenesisValidator]) -> Result<(), GenesisError> {
    for (place, validator) in validators.iter().enumerate() {
        let address = validator.address;
        let keys = [
            ("signing key", address_of_public_key(&validator.signing_key).is_some()),
            ("network key", possession::is_network_key(&validator.network_key)),
            ("VRF key", possession::is_vrf_key(&validator.vrf_key)),
        ];
        if let Some((key, _)) = keys.into_iter().find(|(_, is_key)| !is_key) {
            return Err(GenesisError::ValidatorKey { address, key, reason: "is no key" });
        }
        let before = validators.get(..place).unwrap_or_default();
        let shared = [
            ("address", before.iter().any(|other| other.address == address)),
            ("signing key", before.iter().any(|other| other.signing_key == validator.signing_key)),
            ("VRF key", before.iter().any(|other| other.vrf_key == validator.vrf_key)),
        ];
        if let Some((key, _)) = shared.into_iter().find(|(_, is_shared)| *is_shared) {
            return Err(GenesisError::ValidatorKey { address, key, reason: "is also another validator's" });
        }
    }
    Ok(())
}

/// Who has what: the buckets, less what accounts and stakes take out of them.
fn balances(config: &GenesisConfig) -> Result<BTreeMap<Address, Amount>, GenesisError> {
    let mut balances: BTreeMap<Address, Amount> = BTreeMap::new();
    for bucket in &BUCKETS {
        let amount = Amount::from_cby(bucket.cby).expect("a bucket fits");
        balances.insert(bucket_address(bucket.name), amount);
    }
    let mut take = |from: &'static str, to: Address, amount: Amount| {
        let bucket = BUCKETS.iter().find(|bucket| bucket.name == from).expect("the bucket is in the table");
        let source = balances.get_mut(&bucket_address(from)).expect("every bucket has a balance");
        *source = source.checked_sub(amount).ok_or(GenesisError::BucketExceeded { bucket: bucket.cby })?;
        let target = balances.entry(to).or_default();
        *target = target.checked_add(amount).expect("all CBY fit a balance");
        Ok(())
    };
    for funded in config.accounts.iter() {
        take("developer_grants", funded.address, funded.amount)?;
    }
    for validator in config.validators.iter() {
        take("foundation", bucket_address(STAKES), validator.stake)?;
    }
    Ok(balances)
}

/// Enters the genesis validators into the registry, and fixes the first set.
fn enroll(world: &mut World, validators: &[GenesisValidator]) {
    // Nothing stands in an empty state.
    world.put(Directory::validators().first_key(), None);
    let mut members = Vec::with_capacity(validators.len());
    for validator in validators {
        let record = Validator {
            signing_key: validator.signing_key,
            network_key: validator.network_key,
            vrf_key: validator.vrf_key,
            endpoint: NO_ENDPOINT,
            stake: validator.stake,
            status: Status::Active,
            jailings: Count::ZERO,
        };
        staking::state::add(world, validator.address, &record).expect("nothing is missing in an empty state");
        members.push((validator.address, record));
    }
    staking::state::fix(world, 0, staking::state::cut(staking::state::candidates(&members), 0));
}
