//! A whole network under the deterministic runtime: one seed decides everything.

use crate::common::{ACCOUNTS, FUNDS, genesis, key, transfer};
use commonware_consensus::marshal::{Identifier, core::Mailbox, standard::Standard};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_glue::simulate::{
    action::Crash,
    engine::{EngineDefinition, InitContext},
    exit::ProcessedHeightAtLeast,
    plan::PlanBuilder,
    processed::ProcessedHeight,
    property::Property,
    reporter::MonitorReporter,
    tracker::ProgressTracker,
};
use commonware_p2p::simulated::Link;
use commonware_runtime::{Clock, Handle, Quota, Spawner as _, Supervisor as _};
use commonware_utils::probability;
use cowboy_chain::{GenesisConfig, SignedTransaction};
use cowboy_node::{
    BlockTime, Chain, Genesis,
    block::SealedBlock,
    chain::Setup,
    committee::ValidatorKeys,
    engine::{self, Parts, Patience},
    genesis as node_genesis,
    mempool::{Source, account_of},
    pace::Pace,
    seeds::Scheme,
};
use cowboy_state::{
    Key, Kind,
    records::{Account, Supply, keys},
};
use cowboy_store::Ledger;
use cowboy_types::{Address, Amount};
use std::{collections::BTreeSet, pin::Pin, sync::Arc, time::Duration};

const VALIDATORS: u32 = 4;

/// Transactions that each account sends.
const SENT: u64 = 12;

/// Blocks that every run makes.
const BLOCKS: u64 = 40;

/// Who receives.
const RECEIVER: Address = Address([0x66; 20]);

/// A network of validators, with what of each survives its crashes.
#[derive(Clone)]
struct Network {
    genesis: Genesis,
    keys: Vec<ValidatorKeys>,
    ledgers: Vec<Ledger>,
}

impl Network {
    fn new() -> Self {
        let (dev, keys) = node_genesis::dev(genesis(VALIDATORS)).expect("a genesis");
        let config = GenesisConfig { is_dev: false, ..dev.config };
        let genesis = Genesis::new(config, dev.sharing).expect("a genesis");
        let ledgers = (0..VALIDATORS).map(|_| Ledger::in_memory().expect("memory is enough")).collect();
        Self { genesis, keys, ledgers }
    }

    fn chain(&self, index: usize) -> Arc<Chain> {
        let setup = Setup {
            namespace: self.genesis.namespace(),
            genesis: self.genesis.block.clone(),
            allocation: self.genesis.allocation.clone(),
            config: self.genesis.chain.clone(),
            images: Arc::new(cowboy_chain::input::NoImages),
            committee: self.genesis.committee.clone(),
            keys: Some(self.keys[index].clone()),
            ledger: self.ledgers[index].clone(),
            pace: Pace::new(BlockTime::Every(Duration::from_secs(1))),
            head: tokio::sync::watch::Sender::new(cowboy_node::Head::of(&self.genesis.block)),
            blocks: tokio::sync::broadcast::Sender::new(16),
        };
        Arc::new(Chain::new(setup).expect("the ledger opens"))
    }
}

/// A validator as the checks see it.
struct Validator {
    chain: Arc<Chain>,
    marshal: Mailbox<Scheme, Standard<SealedBlock>>,
}

impl ProcessedHeight for Validator {
    async fn processed_height(&self) -> u64 {
        self.marshal.get_processed().await.map_or(0, |processed| processed.height().get())
    }
}

impl EngineDefinition for Network {
    type PublicKey = PublicKey;
    type Engine = Handle<()>;
    type State = Validator;

    fn participants(&self) -> Vec<PublicKey> {
        self.keys.iter().map(|keys| keys.network.public_key()).collect()
    }

    fn channels(&self) -> Vec<(u64, Quota)> {
        (0..).zip(engine::CHANNELS).map(|(number, _)| (number, engine::QUOTA)).collect()
    }

    fn max_message_size(&self) -> u32 {
        engine::max_message(VALIDATORS)
    }

    async fn init(&self, init: InitContext<'_, PublicKey>) -> (Handle<()>, Validator) {
        let InitContext { context, index, public_key, oracle, channels, monitor, .. } = init;
        let chain = self.chain(index);
        let client = Client {
            chain: chain.clone(),
            accounts: (0..ACCOUNTS).filter(|account| account % u64::from(VALIDATORS) == index as u64).collect(),
        };
        context.child("client").spawn(move |clock| client.run(clock));
        let me = public_key.clone();
        let parts = Parts {
            prefix: format!("validator-{index}"),
            peers: oracle.manager(),
            blocker: oracle.control(me.clone()),
            channels,
            patience: Patience::Normal,
        };
        let engine = engine::start(context, chain.clone(), parts, |machine| MonitorReporter::new(me, monitor, machine)).await;
        (engine.handle, Validator { chain, marshal: engine.marshal })
    }

    fn start(engine: Handle<()>) -> Handle<()> {
        engine
    }
}

/// Somebody with accounts at one validator, who sends until the chain has taken everything, whatever is lost on the way.
struct Client {
    chain: Arc<Chain>,
    accounts: Vec<u64>,
}

impl Client {
    async fn run(self, clock: impl Clock) {
        loop {
            clock.sleep(Duration::from_millis(700)).await;
            for number in &self.accounts {
                let address = key(*number).address();
                let account = account(&self.chain, address).await;
                let nonce = self.chain.mempool.next_nonce(&address, account.nonce).0;
                if nonce < SENT {
                    let signed = SignedTransaction::check(transfer(*number, nonce, RECEIVER, Amount(1 + *number))).expect("it is signed");
                    // What is refused is tried again.
                    let _ = self.chain.mempool.admit(Source::Client, &account, signed);
                }
            }
        }
    }
}

async fn read(chain: &Chain, keys: Vec<Key>) -> Vec<Option<bytes::Bytes>> {
    match chain.state() {
        Some(state) => state.read(keys.iter().map(Key::digest).collect()).await,
        None => vec![None; keys.len()],
    }
}

async fn account(chain: &Chain, address: Address) -> Account {
    let stored = read(chain, vec![Key::account(address)]).await.remove(0);
    stored.as_ref().and_then(account_of).unwrap_or(Account::UNSEEN)
}

/// What must hold at the end of every run.
#[derive(Clone)]
struct Holds {
    genesis: Genesis,
}

impl Property<PublicKey, Validator> for Holds {
    fn name(&self) -> &str {
        "same blocks on all, nothing lost, supply conserved"
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            same_blocks(states).await?;
            for validator in states {
                self.nothing_lost(&validator.chain).await?;
                self.supply_conserved(&validator.chain).await?;
            }
            Ok(())
        })
    }
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// every validator has the same block, with the same roots, at every number that two of them have.
async fn same_blocks(validators: &[&Validator]) -> Result<(), String> {
    for number in 1..=BLOCKS {
        let mut roots = BTreeSet::new();
        for validator in validators {
            let block = validator.chain.ledger.view().and_then(|view| view.block(number)).map_err(|error| error.to_string())?;
            roots.extend(block.map(|block| (block.digest(), block.header.state_root)));
        }
        require(roots.len() == 1, || format!("block {number} has {} versions", roots.len()))?;
    }
    let tip = validators[0].marshal.get_block(Identifier::Height(commonware_consensus::types::Height::new(BLOCKS))).await;
    require(tip.is_some(), || "the marshal has the last block".into())
}

impl Holds {
    async fn nothing_lost(&self, chain: &Chain) -> Result<(), String> {
        let view = chain.ledger.view().map_err(|error| error.to_string())?;
        for number in 0..ACCOUNTS {
            for nonce in 0..SENT {
                let digest = transfer(number, nonce, RECEIVER, Amount(1 + number)).digest();
                let place = view.place_of(&digest).map_err(|error| error.to_string())?;
                require(place.is_some(), || format!("transaction {nonce} of account {number} is lost"))?;
            }
        }
        let received = account(chain, RECEIVER).await.balance.0;
        let expected = (0..ACCOUNTS).map(|number| SENT * (1 + number)).sum::<u64>();
        require(received == expected, || format!("{received} arrived, not {expected}"))
    }

    /// All balances together are what genesis made, less what was burned.
    async fn supply_conserved(&self, chain: &Chain) -> Result<(), String> {
        let at_genesis = self.genesis.allocation.iter().filter_map(|(_, stored)| Key::open(stored)).map(|(key, _)| key);
        let mut accounts: BTreeSet<Address> = at_genesis.filter(|key| key.kind == Kind::Account).map(|key| key.address).collect();
        accounts.extend(self.genesis.config.validators.iter().map(|validator| validator.address));
        accounts.insert(RECEIVER);
        let mut held = 0;
        for address in accounts {
            held += account(chain, address).await.balance.0;
        }
        let stored = read(chain, vec![keys::supply()]).await.remove(0).ok_or("there is no supply record")?;
        let (_, body) = Key::open(&stored).ok_or("the supply is no record")?;
        let supply: Supply = commonware_codec::DecodeExt::decode(body).map_err(|error| error.to_string())?;
        let owed = supply.genesis.0 + supply.minted.0 - supply.burned.0;
        require(held == owed, || format!("accounts hold {held}, the supply is {owed}"))?;
        require(supply.burned.0 > 0, || "nothing was burned, so nothing ran".into())?;
        require(account(chain, key(0).address()).await.balance < FUNDS, || "nothing was paid".into())
    }
}

fn run(seed: u64) {
    let network = Network::new();
    let holds = Holds { genesis: network.genesis.clone() };
    let link = Link {
        latency: Duration::from_millis(20 + (seed * 13) % 100),
        jitter: Duration::from_millis(10 + (seed * 7) % 40),
        success_rate: if seed.is_multiple_of(2) { probability!(1.0) } else { probability!(0.95) },
    };
    let crash = Crash::Random { frequency: Duration::from_secs(5 + seed % 7), downtime: Duration::from_secs(1 + seed % 3), count: 1 };
    let plan = PlanBuilder::new(network)
        .seed(seed)
        .link(link)
        .crash(crash)
        .exit_condition(ProcessedHeightAtLeast::new(BLOCKS))
        .timeout(Duration::from_secs(900))
        .property(holds);
    if let Err(error) = plan.build().run() {
        panic!("seed {seed}: {error}\nreplay: COWBOY_SIM_SEED={seed} cargo test -p cowboy-node --test simulation network");
    }
}

/// Four validators, forty blocks, latency, loss, and crashes, twenty times.
///
/// `COWBOY_SIM_SEED=n` runs one seed, in the first of the tests.
fn run_all(seeds: std::ops::Range<u64>) {
    match std::env::var("COWBOY_SIM_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) if seeds.start == 0 => run(seed),
        Some(_) => {}
        None => seeds.for_each(run),
    }
}

/// In four tests, so that they use several cores.
#[test]
fn a_network_agrees_whatever_happens_0_to_4() {
    run_all(0..5);
}

#[test]
fn a_network_agrees_whatever_happens_5_to_9() {
    run_all(5..10);
}

#[test]
fn a_network_agrees_whatever_happens_10_to_14() {
    run_all(10..15);
}

#[test]
fn a_network_agrees_whatever_happens_15_to_19() {
    run_all(15..20);
}
