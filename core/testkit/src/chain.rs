//! A chain in a map: makes blocks, checks each as a verifier would, and checks the invariants after each.

use crate::invariants;
use crate::records::Records;
use crate::script::Scripts;
use crate::seen::Seen;
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_chain::genesis::Funded;
use cowboy_chain::input::{Limits, RoundSeed};
use cowboy_chain::{BlockInput, ChainConfig, GenesisConfig, Mode, Outcome, SignedTransaction, StateKey, genesis};
use cowboy_state::records::{Account, Actor, GenesisValidator, ParameterChange, ParameterChanges, keys};
use cowboy_state::{Directory, Key, Kind};
use cowboy_system::governance;
use cowboy_system::governance::types::{Pause, PauseEnd, Pauses};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::{Amount, Cells, ChainId, Count, Cycles, Height, Nonce, Price, TimestampMs};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Receipt, Transaction, keccak256};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The key of the n-th account of tests.
pub fn key(number: u8) -> PrivateKey {
    PrivateKey::from_bytes([number; 32]).expect("a small number is a key")
}

/// The address of the n-th account of tests.
pub fn address(number: u8) -> Address {
    key(number).address()
}

/// The n-th account as a genesis validator, with keys of its own.
pub fn validator(number: u8, stake: Amount) -> GenesisValidator {
    let vrf = blst::min_sig::SecretKey::key_gen(&[number; 32], &[]).expect("a seed of 32 bytes");
    GenesisValidator {
        address: address(number),
        signing_key: key(number).public_key(),
        network_key: Fixed(ed25519_consensus::SigningKey::from([number; 32]).verification_key().to_bytes()),
        vrf_key: Fixed(vrf.sk_to_pk().compress()),
        stake,
    }
}

/// Genesis validators in their order.
pub fn validators(validators: impl IntoIterator<Item = GenesisValidator>) -> List<GenesisValidator, 1024> {
    let mut validators: Vec<GenesisValidator> = validators.into_iter().collect();
    validators.sort_by_key(|validator| validator.network_key);
    List::new(validators).expect("few fit")
}

/// The address that receives tips.
pub const PROPOSER: Address = Address([0xEE; 20]);

thread_local! {
    /// A parameter that governance has moved on every chain that this thread makes.
    static MOVED: Cell<Option<(u16, u64)>> = const { Cell::new(None) };
    /// What came of every block of this thread's chains, where somebody looks.
    static SEEN: RefCell<Option<Vec<Seen>>> = const { RefCell::new(None) };
}

/// Runs something on chains where governance has moved a parameter. Answers what came of all their blocks.
pub(crate) fn with_moved<T>(moved: Option<(u16, u64)>, run: impl FnOnce() -> T) -> (T, Vec<Seen>) {
    MOVED.set(moved);
    SEEN.set(Some(Vec::new()));
    let done = run();
    MOVED.set(None);
    (done, SEEN.take().unwrap_or_default())
}

/// A chain in a map.
pub struct Chain {
    /// What the genesis fixed.
    pub config: Arc<ChainConfig>,
    /// The committed records.
    pub state: BTreeMap<StateKey, Bytes>,
    /// The height of the last block.
    pub height: Height,
    /// The time of the last block.
    pub timestamp: TimestampMs,
    /// How often records were asked for, over all blocks proposed.
    pub rounds: usize,
    /// Whether headers carry a seed: that of the round whose view is the block's height.
    pub has_seeds: bool,
}

impl Default for Chain {
    fn default() -> Self {
        Self::new()
    }
}

impl Chain {
    /// A dev chain with accounts 1 to 9, a million CBY each, and no system deployer.
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    /// The same, with a changed genesis.
    pub fn with(change: impl FnOnce(&mut GenesisConfig)) -> Self {
        let accounts = (1..=9).map(|number| Funded { address: address(number), amount: Amount::from_cby(1_000_000).expect("fits") });
        let mut genesis_config = GenesisConfig {
            chain_id: ChainId(42),
            is_dev: true,
            timestamp_ms: TimestampMs(1_700_000_000_000),
            accounts: List::new(accounts.collect()).expect("nine fit"),
            deployers: List::default(),
            validators: List::default(),
            parameters: List::default(),
            council: List::default(),
            calls: List::default(),
        };
        change(&mut genesis_config);
        let records = genesis(&genesis_config).expect("the genesis is right");
        let mut state: BTreeMap<StateKey, Bytes> =
            records.into_iter().map(|(key, stored)| (key, stored.expect("genesis removes nothing"))).collect();
        if let Some((row, value)) = MOVED.get() {
            let key = keys::parameters();
            let mut changes = genesis_config.parameters.clone().into_vec();
            changes.retain(|change| change.row != row);
            changes.push(ParameterChange { row, value });
            changes.sort_by_key(|change| change.row);
            let changes = List::new(changes).expect("one more fits");
            state.insert(key.digest(), key.seal(&ParameterChanges { changes }.encode()));
        }
        let config = Arc::new(genesis_config.chain().expect("the genesis is right"));
        let chain = Self { config, state, height: Height(0), timestamp: genesis_config.timestamp_ms, rounds: 0, has_seeds: false };
        invariants::check(&chain.state, chain.height);
        chain
    }

    /// The input of the next block.
    pub fn input(&self, mode: Mode) -> BlockInput {
        let (height, mut seed) = (self.height.next(), [0; 48]);
        seed[..32].copy_from_slice(&keccak256(&[b"beacon", &height.0.to_be_bytes()]).0);
        let seeds = if self.has_seeds { vec![RoundSeed { epoch: 1, view: height.0, seed: Fixed(seed) }] } else { vec![] };
        BlockInput {
            mode,
            chain: self.config.clone(),
            version: None,
            height,
            timestamp: TimestampMs(self.timestamp.0 + 1_000),
            beacon: Bytes::copy_from_slice(&seed),
            seeds,
            round: (1, height.0 + 1),
            order_key: self.order_key(),
            proposer: PROPOSER,
            next_epoch: None,
            images: Arc::new(Scripts),
        }
    }

    /// The key that orders the next block.
    pub fn order_key(&self) -> Hash {
        keccak256(&[b"vrf", &self.height.0.to_be_bytes()])
    }

    /// Proposes a block of candidates, verifies it, and commits it. Returns its outcome.
    pub fn block(&mut self, candidates: Vec<SignedTransaction>) -> Outcome {
        let (proposed, rounds) =
            self.run(self.input(Mode::Propose { candidates, limits: Limits::default() })).expect("a proposal is never invalid");
        self.rounds += rounds;
        let transactions = proposed.included.iter().cloned().map(SignedTransaction::unchecked).collect();
        let mut verified = self.run_by_records(self.input(Mode::Verify { transactions })).expect("what was proposed is valid");
        assert_eq!(proposed.writes, verified.writes, "maker and checker change the same records");
        assert_eq!(proposed.receipt_root, verified.receipt_root, "maker and checker write the same receipts");
        assert_eq!(proposed.usage, verified.usage, "maker and checker meter the same (A-40)");
        assert_eq!(proposed.weight_ns, verified.weight_ns, "maker and checker count the same time");
        assert_eq!(proposed.traces, verified.traces, "what a step did before it missed a record leaves no trace");
        self.apply(&verified);
        verified.rejected = proposed.rejected;
        verified
    }

    /// Takes what came of a block into the state, and checks the invariants.
    pub fn apply(&mut self, outcome: &Outcome) {
        SEEN.with_borrow_mut(|seen| seen.iter_mut().for_each(|seen| seen.push(Seen::of(self.height.next(), outcome))));
        invariants::check_notes(&self.state, &outcome.writes);
        for (key, stored) in &outcome.writes {
            match stored {
                Some(stored) => self.state.insert(*key, stored.clone()),
                None => self.state.remove(key),
            };
        }
        self.height = self.height.next();
        self.timestamp = TimestampMs(self.timestamp.0 + 1_000);
        invariants::check(&self.state, self.height);
        invariants::check_events(&self.state, &outcome.receipts);
    }

    /// The one receipt of a block of one transaction.
    pub fn one(&mut self, candidate: SignedTransaction) -> Receipt {
        let outcome = self.block(vec![candidate]);
        assert_eq!(outcome.rejected, vec![], "the transaction is included");
        outcome.receipts.into_iter().next().expect("an included transaction has a receipt")
    }

    /// Pauses system actors for the next blocks, and no others, as the council does.
    pub fn pause(&mut self, actors: &[u8], blocks: u64) {
        let end = PauseEnd::Unratified { until: Height(self.height.0 + 1 + blocks), proposal: Count(0) };
        let pauses = actors.iter().map(|actor| Pause { actor: *actor, end: end.clone() }).collect();
        let (key, pauses) = (governance::state::pauses_key(), Pauses { pauses: List::new(pauses).expect("few fit") });
        self.state.insert(key.digest(), key.seal(&pauses.encode()));
    }

    /// Empty blocks.
    pub fn idle(&mut self, blocks: u64) -> Vec<Receipt> {
        (0..blocks).flat_map(|_| self.block(vec![]).receipts).collect()
    }

    /// The committed records.
    pub fn records(&self) -> Records<'_> {
        Records(&self.state)
    }

    /// A record of the committed state.
    pub fn record<T: commonware_codec::DecodeExt<()>>(&self, key: &Key) -> Option<T> {
        self.records().record(key)
    }

    /// The record of an account.
    pub fn account(&self, address: Address) -> Account {
        self.records().account(address)
    }

    /// The balance of an account in base units.
    pub fn balance(&self, address: Address) -> u64 {
        self.account(address).balance.0
    }

    /// Every record of a kind.
    pub fn all<T: commonware_codec::DecodeExt<()>>(&self, kind: Kind) -> Vec<(Key, T)> {
        self.records().all(kind)
    }

    /// Every name of a directory.
    pub fn names(&self, directory: Directory) -> Vec<Bytes> {
        self.records().names(directory)
    }
}

/// Grants of a manifest: an id, and its numbers.
pub type Granted = [(&'static str, &'static [(&'static str, u64)])];

/// A transaction of account `from` with generous limits and prices, not signed.
pub fn unsigned(from: u8, nonce: u64, instruction: Instruction) -> Transaction {
    Transaction {
        chain_id: ChainId(42),
        nonce: Nonce(nonce),
        instruction,
        cycles_limit: Cycles(5_000_000),
        cells_limit: Cells(500_000),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(100),
        max_priority_fee_per_cell: Price(100),
        from: address(from),
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Default::default(),
        additional_signers: Default::default(),
    }
}

/// The same, signed.
pub fn signed(from: u8, nonce: u64, instruction: Instruction) -> SignedTransaction {
    sign(from, unsigned(from, nonce, instruction))
}

/// Signs and checks.
pub fn sign(from: u8, mut transaction: Transaction) -> SignedTransaction {
    key(from).sign_transaction(&mut transaction);
    SignedTransaction::check(transaction).expect("the signature holds")
}

/// A transfer with exact limits.
pub fn transfer(from: u8, nonce: u64, to: Address, amount: u64) -> SignedTransaction {
    let mut transaction = unsigned(from, nonce, Instruction::System(System::Transfer { to, amount: Amount(amount) }));
    transaction.cycles_limit = Cycles(21_000);
    transaction.cells_limit = Cells(0);
    sign(from, transaction)
}

/// Parameters of a genesis, by name.
pub fn parameters(rows: &[(&str, u64)]) -> List<cowboy_state::records::ParameterChange, 1024> {
    let mut changes: Vec<_> = rows
        .iter()
        .map(|(name, value)| {
            let row = cowboy_params::Params::row(name).expect("the parameter exists");
            cowboy_state::records::ParameterChange { row: row.id, value: *value }
        })
        .collect();
    changes.sort_by_key(|change| change.row);
    List::new(changes).expect("few changes fit")
}

/// A manifest of grants: an id, and its numbers.
pub fn manifest(grants: &[(&str, &[(&str, u64)])]) -> Vec<u8> {
    use cowboy_types::cbor::Value;
    let grant = |(id, numbers): &(&str, &[(&str, u64)])| {
        if numbers.is_empty() {
            return Value::map([("id", Value::text(*id))]);
        }
        let params = numbers.iter().map(|(name, number)| (Value::text(*name), Value::uint(*number))).collect();
        Value::map([("id", Value::text(*id)), ("params", Value::Map(params))])
    };
    Value::map([("entitlements", Value::Array(grants.iter().map(grant).collect()))]).encode()
}

/// What most actors of tests may.
pub const ALL: &[(&str, &[(&str, u64)])] =
    &[("econ.hold_balance", &[]), ("econ.transfer", &[]), ("exec.spawn", &[]), ("storage.kv", &[]), ("timer.schedule", &[])];

/// A deployment of a script.
pub fn deployment(script: &str, grants: Option<&Granted>, init: Option<&str>, endowment: u64) -> Instruction {
    use cowboy_types::Blob;
    use cowboy_types::instruction::{Actor as Deploy, Init};
    Instruction::Actor(Deploy::Deploy {
        code: Blob::new(format!("#script\n{script}").into_bytes()).expect("a script fits"),
        salt: Blob::default(),
        init: init.map(|name| Init { handler: cowboy_types::Text::new(name).expect("a name fits"), payload: Blob::default() }),
        manifest: grants.map(|grants| Blob::new(manifest(grants)).expect("a manifest fits")),
        endowment: Amount(endowment),
    })
}

/// A call of a handler.
pub fn execution(target: Address, handler: &str, payload: &[u8], value: u64) -> Instruction {
    Instruction::Actor(cowboy_types::instruction::Actor::Execute {
        target,
        handler: cowboy_types::Text::new(handler).expect("a name fits"),
        payload: cowboy_types::Blob::new(payload.to_vec()).expect("a payload fits"),
        value: Amount(value),
    })
}

impl Chain {
    /// The next nonce of an account.
    pub fn nonce(&self, from: u8) -> u64 {
        self.account(address(from)).nonce.0
    }

    /// Sends an instruction alone in a block.
    pub fn send(&mut self, from: u8, instruction: Instruction) -> Receipt {
        let nonce = self.nonce(from);
        self.one(signed(from, nonce, instruction))
    }

    /// Deploys a script that may everything, with some CBY.
    pub fn deploy(&mut self, script: &str) -> Address {
        self.deploy_with(script, ALL, 1_000_000_000_000)
    }

    /// Deploys a script with these grants and this endowment.
    pub fn deploy_with(&mut self, script: &str, grants: &Granted, endowment: u64) -> Address {
        let receipt = self.send(1, deployment(script, Some(grants), None, endowment));
        assert_eq!(receipt.abort, None, "the script is deployed");
        receipt.created.expect("a deployment creates")
    }

    /// Calls a handler from account 1.
    pub fn call(&mut self, target: Address, handler: &str, payload: &[u8]) -> Receipt {
        self.send(1, execution(target, handler, payload, 0))
    }

    /// An actor's value under a key.
    pub fn stored(&self, actor: Address, key: &str) -> Option<Vec<u8>> {
        let key = Key::storage(actor, key.as_bytes().to_vec());
        let (_, body) = Key::open(self.state.get(&key.digest())?).expect("the state holds sealed records");
        Some(body.to_vec())
    }

    /// An actor's record.
    pub fn actor(&self, address: Address) -> Actor {
        self.record(&Key::of(Kind::Actor, address)).expect("an actor lives there")
    }
}

/// A deployment of any source, with a payload for its init handler.
pub fn deployment_of(code: &[u8], manifest: Option<Vec<u8>>, init: Option<&str>, payload: &[u8], endowment: u64) -> Instruction {
    use cowboy_types::Blob;
    use cowboy_types::instruction::{Actor as Deploy, Init};
    Instruction::Actor(Deploy::Deploy {
        code: Blob::new(code.to_vec()).expect("a source fits"),
        salt: Blob::default(),
        init: init.map(|name| Init {
            handler: cowboy_types::Text::new(name).expect("a name fits"),
            payload: Blob::new(payload.to_vec()).expect("a payload fits"),
        }),
        manifest: manifest.map(|manifest| Blob::new(manifest).expect("a manifest fits")),
        endowment: Amount(endowment),
    })
}

/// A manifest's canonical CBOR out of the JSON that an example ships.
pub fn manifest_json(json: &str) -> Vec<u8> {
    use cowboy_types::cbor::Value;
    fn value(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Number(number) => Value::uint(number.as_u64().expect("manifests hold unsigned numbers")),
            serde_json::Value::String(text) => Value::text(text.clone()),
            serde_json::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
            serde_json::Value::Object(pairs) => {
                let mut pairs: Vec<(Value, Value)> = pairs.iter().map(|(name, item)| (Value::text(name.clone()), value(item))).collect();
                pairs.sort_by_key(|(name, _)| (name.encode().len(), name.encode()));
                Value::Map(pairs)
            }
            other => unreachable!("a manifest holds no {other}"),
        }
    }
    value(&serde_json::from_str(json).expect("the manifest is JSON")).encode()
}
