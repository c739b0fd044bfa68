//! A chain whose state is a map: the protocol's own code, one block for each transaction, in this process.

mod jobs;

use bytes::Bytes;
use cowboy_api::keystore::{DEV_MNEMONIC, Mnemonic};
use cowboy_chain::{
    BlockInput, ChainConfig, Execution, GenesisConfig, Image, Mode, Outcome, SignedTransaction, StateKey,
    engine::{Images, NoImages},
    genesis::{Funded, genesis},
    input::Limits,
    query::{Answer, At, Query, Question},
    resume::{self, Records},
};
use cowboy_console::failure::Failure;
use cowboy_state::{
    Directory, Key, Miss, World,
    records::{Markets, keys},
};
use cowboy_system::storage;
use cowboy_types::{Address, Amount, Cells, ChainId, Cycles, Hash, Height, Instruction, List, TimestampMs, Transaction, units::Price};
use cowboy_vm::Profiler;
use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
};

/// When the chain begins: always the same, so that runs repeat.
const BEGIN_MS: u64 = 1_700_000_000_000;

/// What a chain begins as. Many can be made of one.
#[derive(Clone)]
pub(crate) struct Genesis {
    config: Arc<ChainConfig>,
    state: BTreeMap<StateKey, Bytes>,
    /// The funded account.
    own: Address,
}

impl Genesis {
    /// One account with a million CBY, and fees as they are on a chain.
    pub(crate) fn new() -> Result<Self, Failure> {
        let own = Mnemonic::parse(DEV_MNEMONIC, "")?.key(0)?.address();
        let funded = Funded { address: own, amount: Amount::from_cby(1_000_000).expect("a million fits") };
        let config = GenesisConfig {
            chain_id: ChainId(1337),
            is_dev: true,
            timestamp_ms: TimestampMs(BEGIN_MS),
            accounts: List::new(vec![funded]).expect("one account fits"),
            deployers: List::default(),
            validators: List::default(),
            parameters: List::default(),
            council: List::default(),
            calls: List::default(),
        };
        let wrong = |error: cowboy_chain::genesis::GenesisError| Failure::Node(error.to_string());
        let chain = Arc::new(config.chain().map_err(wrong)?);
        let state = genesis(&config).map_err(wrong)?.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        Ok(Self { config: chain, state, own })
    }

    /// The same for tests: without fees, so that balances are the money that moved, and with runners. For a job that names no price one base
    /// unit is held, the least that the market takes.
    pub(crate) fn for_tests(mut self) -> Result<Self, Failure> {
        let mut config = ChainConfig::clone(&self.config);
        config.params.fees.base_fee_min = 0;
        config.params.jobs.price_default = 1;
        self.config = Arc::new(config);
        edit(&mut self.state, jobs::register)?;
        let mut world = World::default();
        world.write(keys::markets(), &Markets { base_fee_cycle: Price::ZERO, base_fee_cell: Price::ZERO });
        apply(&mut self.state, &world.writes());
        Ok(self)
    }
}

/// Keeps compiled actors while the process lives, each with the profiler that sees its runs.
#[derive(Default)]
pub(crate) struct KeptImages {
    images: Mutex<BTreeMap<Hash, Image>>,
    profilers: Mutex<BTreeMap<Hash, Profiler>>,
}

impl KeptImages {
    /// Lets a profiler see every run of a source, from its deployment on.
    pub(crate) fn profile(&self, code_hash: Hash, profiler: Profiler) {
        self.profilers.lock().unwrap_or_else(PoisonError::into_inner).insert(code_hash, profiler);
    }
}

impl Images for KeptImages {
    fn get(&self, code_hash: &Hash) -> Option<Image> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner).get(code_hash).cloned()
    }

    fn put(&self, code_hash: Hash, image: Image) {
        let profiler = self.profilers.lock().unwrap_or_else(PoisonError::into_inner).get(&code_hash).cloned();
        let image = match profiler {
            Some(profiler) => image.profiled(profiler),
            None => image,
        };
        self.images.lock().unwrap_or_else(PoisonError::into_inner).insert(code_hash, image);
    }
}

/// A chain in memory.
pub(crate) struct Chain {
    config: Arc<ChainConfig>,
    state: BTreeMap<StateKey, Bytes>,
    images: Arc<dyn Images>,
    own: Address,
    height: u64,
    /// The first height with something to do, as the newest block left it; none where nothing will ever be.
    next_work: Option<u64>,
}

impl Chain {
    /// A chain at its first block.
    pub(crate) fn new(genesis: &Genesis) -> Self {
        Self::at(genesis, 0, Arc::new(NoImages))
    }

    /// A chain at a height, with a cache of compiled actors.
    pub(crate) fn at(genesis: &Genesis, height: u64, images: Arc<dyn Images>) -> Self {
        let Genesis { config, state, own } = genesis.clone();
        Self { config, state, images, own, height, next_work: Some(height.saturating_add(1)) }
    }

    /// Its height.
    pub(crate) fn height(&self) -> u64 {
        self.height
    }

    /// Puts an instruction of the funded account alone into the next block.
    pub(crate) fn send(&mut self, instruction: Instruction, cycles: Option<u64>) -> Result<Outcome, Failure> {
        self.send_from(self.own, instruction, cycles)
    }

    /// Puts an instruction of any account alone into the next block.
    pub(crate) fn send_from(&mut self, from: Address, instruction: Instruction, cycles: Option<u64>) -> Result<Outcome, Failure> {
        let nonce = self.edit(|world| world.account(from))?.nonce;
        let params = &self.config.params;
        let fee = Price(params.fees.base_fee_min.saturating_mul(2));
        let transaction = Transaction {
            chain_id: self.config.chain_id,
            nonce,
            cycles_limit: Cycles(cycles.unwrap_or(params.lanes.user_cycles)),
            cells_limit: Cells(params.fees.block_cells),
            max_fee_per_cycle: fee,
            max_fee_per_cell: fee,
            ..Transaction::unsigned(from, instruction)
        };
        let outcome = self.block(vec![SignedTransaction::unchecked(transaction)])?;
        match outcome.rejected.first() {
            Some((_, refused)) => Err(Failure::argument(refused.to_string(), "raise --cycles-limit")),
            None => Ok(outcome),
        }
    }

    /// Makes the next block.
    pub(crate) fn block(&mut self, candidates: Vec<SignedTransaction>) -> Result<Outcome, Failure> {
        self.height = self.height.saturating_add(1);
        let mut execution = Execution::new(BlockInput {
            mode: Mode::Propose { candidates, limits: Limits::default() },
            chain: self.config.clone(),
            version: None,
            height: Height(self.height),
            timestamp: self.now(),
            beacon: self.beacon(),
            seeds: Vec::new(),
            round: (0, self.height),
            order_key: Hash::ZERO,
            proposer: Address::ZERO,
            next_epoch: None,
            images: Arc::clone(&self.images),
        });
        let Ok(done) = resume::run(&mut execution, |keys| self.read(keys));
        let outcome = done.map_err(|reason| Failure::Node(reason.to_string()))?;
        apply(&mut self.state, &outcome.writes);
        // What a block did may have left a rest for the next one.
        let is_busy = outcome.has_work || !outcome.receipts.is_empty() || !outcome.pruned.is_empty();
        self.next_work = if is_busy { Some(self.height.saturating_add(1)) } else { outcome.next_timer.map(|due| due.0) };
        Ok(*outcome)
    }

    /// Passes over heights at which nothing is due, `most` at most. Blocks there would change nothing but the height: no timer fires, no job
    /// moves, no rent is collected.
    pub(crate) fn skip(&mut self, most: u64) -> Result<(), Failure> {
        let next = self.height.saturating_add(1);
        if most == 0 || self.next_work == Some(next) {
            return Ok(());
        }
        let rent = self.edit(|world| {
            let first = Directory::rents().list(world, &[], 1)?;
            Ok(first.first().map(|name| storage::state::listed(name).0.0))
        })?;
        let due = [self.next_work, rent].into_iter().flatten().min().unwrap_or(u64::MAX);
        self.height = self.height.saturating_add(due.saturating_sub(next).min(most));
        Ok(())
    }

    /// Asks a handler, and drops what it does.
    pub(crate) fn query(&self, question: Question) -> Answer {
        let (height, timestamp, beacon) = (Height(self.height), self.now(), self.beacon());
        let at = At { chain: self.config.clone(), height, timestamp, beacon, round: (0, self.height), images: Arc::clone(&self.images) };
        let Ok(answer) = resume::run(&mut Query::new(at, question), |keys| self.read(keys));
        answer
    }

    fn now(&self) -> TimestampMs {
        TimestampMs(BEGIN_MS.saturating_add(self.height.saturating_mul(1_000)))
    }

    /// Another one for each height, and the same in every run.
    fn beacon(&self) -> Bytes {
        Bytes::copy_from_slice(&cowboy_types::hash::keccak256(&[b"beacon of a chain in memory", &self.height.to_be_bytes()]).0)
    }

    fn read(&self, keys: Vec<StateKey>) -> Result<Records, Infallible> {
        Ok(keys.into_iter().map(|key| (key, self.state.get(&key).cloned())).collect())
    }

    /// Reads or changes records directly, as only tests may.
    fn edit<T>(&mut self, change: impl Fn(&mut World) -> Result<T, Miss>) -> Result<T, Failure> {
        edit(&mut self.state, change)
    }

    /// The off-chain jobs that wait for an outcome, the oldest first.
    pub(crate) fn jobs(&mut self) -> Result<Vec<jobs::Waiting>, Failure> {
        self.edit(|world| jobs::waiting(world))
    }

    /// Keeps open jobs waiting for the test.
    pub(crate) fn hold_jobs(&mut self) -> Result<(), Failure> {
        self.edit(jobs::hold)
    }

    /// Ends a job: everything that is held for it goes back. Whether it was open.
    pub(crate) fn close_job(&mut self, id: &Hash) -> Result<bool, Failure> {
        self.edit(|world| jobs::close(world, id))
    }

    /// What an account owns.
    pub(crate) fn balance(&mut self, address: Address) -> Result<Amount, Failure> {
        Ok(self.edit(|world| world.account(address))?.balance)
    }

    /// Gives an account money out of nothing.
    pub(crate) fn fund(&mut self, address: Address, amount: Amount) -> Result<(), Failure> {
        self.edit(|world| world.credit(address, amount))
    }

    /// What an actor keeps, by key.
    pub(crate) fn storage(&mut self, actor: Address) -> Result<Vec<(Bytes, Bytes)>, Failure> {
        self.edit(|world| {
            let names = Directory::storage(actor).list(world, &[], usize::MAX)?;
            let keys: Vec<Key> = names.iter().map(|name| Key::storage(actor, name.clone())).collect();
            world.require(&keys)?;
            names.into_iter().zip(&keys).map(|(name, key)| Ok((name, world.get(key)?.cloned().unwrap_or_default()))).collect()
        })
    }
}

/// Runs a change on a state, again with the records that it missed: what it did before it missed them is undone.
fn edit<T>(state: &mut BTreeMap<StateKey, Bytes>, change: impl Fn(&mut World) -> Result<T, Miss>) -> Result<T, Failure> {
    let mut world = World::default();
    loop {
        match change(&mut world) {
            Ok(done) => {
                apply(state, &world.writes());
                return Ok(done);
            }
            Err(miss) => {
                world.rollback_all();
                for key in world.want(miss) {
                    world.fill(&key, state.get(&key).cloned());
                }
            }
        }
    }
}

fn apply(state: &mut BTreeMap<StateKey, Bytes>, writes: &BTreeMap<StateKey, Option<Bytes>>) {
    for (key, value) in writes {
        match value {
            Some(value) => state.insert(*key, value.clone()),
            None => state.remove(key),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an attempt wrote before it missed a record is not there for the next one.
    #[test]
    fn a_change_that_misses_a_record_begins_again() {
        let (first, second) = (Address([1; 20]), Address([2; 20]));
        let mut state = BTreeMap::new();
        edit(&mut state, |world| {
            world.credit(first, Amount(5))?;
            world.credit(second, Amount(7))
        })
        .expect("two accounts are paid");
        let balance = edit(&mut state, |world| world.account(first)).expect("an account reads").balance;
        assert_eq!(balance, Amount(5));
    }
}
