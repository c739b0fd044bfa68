//! What must hold on every honest validator when a simulated network has run.

use crate::{
    common::{ACCOUNTS, FUNDS, key},
    network::Validator,
    script::{self, RECEIVER, SENT},
};
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::simulate::{property::Property, tracker::ProgressTracker};
use cowboy_node::{Chain, Genesis, mempool::account_of, seeds::Seeds};
use cowboy_state::{
    Key, Kind,
    records::{Account, Supply, keys},
};
use cowboy_store::View;
use cowboy_types::{Address, Receipt, receipt::ReceiptKind};
use std::{collections::BTreeSet, pin::Pin};

/// What must hold at the end of every run.
#[derive(Clone)]
pub(crate) struct Holds {
    pub(crate) genesis: Genesis,
    /// Whether everybody was given the time to send everything.
    pub(crate) is_complete: bool,
    /// How many blocks everybody has at least.
    pub(crate) blocks: u64,
}

impl Property<PublicKey, Validator> for Holds {
    fn name(&self) -> &str {
        "same blocks on all, nothing lost, every timer fired, supply conserved"
    }

    fn check<'a>(
        &'a self,
        _: &'a ProgressTracker<PublicKey>,
        states: &'a [&'a Validator],
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>> {
        Box::pin(async move {
            same_blocks(states, self.blocks)?;
            seeds_hold(states.iter().find_map(|validator| validator.honest()).ok_or("nobody is honest")?, self.blocks)?;
            for chain in states.iter().filter_map(|validator| validator.honest()) {
                let view = chain.ledger.view().map_err(|error| error.to_string())?;
                let ran = Ran::of(&view)?;
                ran.timers_fired()?;
                if self.is_complete {
                    nothing_lost(chain, &view).await?;
                    require(!ran.promised.is_empty() && !ran.created.is_empty(), || "no timer was set, or no actor made".into())?;
                }
                self.supply_conserved(chain, ran.created).await?;
            }
            Ok(())
        })
    }
}

pub(crate) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// every honest validator has the same block, with the same roots, at every number that two of them have.
fn same_blocks(validators: &[&Validator], blocks: u64) -> Result<(), String> {
    for number in 1..=blocks {
        let mut roots = BTreeSet::new();
        for chain in validators.iter().filter_map(|validator| validator.honest()) {
            let block = chain.ledger.view().and_then(|view| view.block(number)).map_err(|error| error.to_string())?;
            roots.extend(block.map(|block| (block.digest(), block.header.state_root, block.header.receipt_root)));
        }
        require(roots.len() == 1, || format!("block {number} has {} versions", roots.len()))?;
    }
    Ok(())
}

/// the headers carry the seed of every round from the first on, given up or not, and each holds against
/// the group key: this asks a store that has seen nothing itself. Leaders, whom the seeds draw, change.
fn seeds_hold(chain: &Chain, blocks: u64) -> Result<(), String> {
    let view = chain.ledger.view().map_err(|error| error.to_string())?;
    let (mut rounds, mut last, mut leaders) = (0, 0, BTreeSet::new());
    for number in 1..=blocks {
        let block = view.block(number).map_err(|error| error.to_string())?.ok_or("a block is missing")?;
        let context = &block.header.context;
        require(Seeds::default().verify(&block.header, &chain.verifier), || format!("the seeds of block {number} do not hold"))?;
        leaders.insert(context.leader.0);
        // Views begin anew with every epoch.
        if context.epoch.0 == 0 {
            rounds += block.header.seeds.len();
            last = context.view.0.saturating_sub(1);
        }
    }
    require(leaders.len() > 1, || "one validator led all blocks".into())?;
    require(u64::try_from(rounds) == Ok(last), || format!("{rounds} seeds for {last} rounds"))
}

/// A timer that an actor promised or kept, and for which height: as events say it.
type Promise = (Address, Vec<u8>);

/// What the receipts of all blocks say.
#[derive(Default)]
struct Ran {
    promised: Vec<Promise>,
    kept: Vec<Promise>,
    created: Vec<Address>,
    newest: u64,
}

impl Ran {
    fn of(view: &View) -> Result<Self, String> {
        let mut ran = Self { newest: view.tip().map_err(|error| error.to_string())?.unwrap_or(0), ..Self::default() };
        for number in 1..=ran.newest {
            for receipt in view.receipts(number).map_err(|error| error.to_string())? {
                ran.add(number, &receipt)?;
            }
        }
        Ok(ran)
    }

    fn add(&mut self, number: u64, receipt: &Receipt) -> Result<(), String> {
        let is_timer = receipt.kind == ReceiptKind::Timer;
        require(!is_timer || receipt.is_success(), || format!("a timer failed in block {number}: {:?}", receipt.abort))?;
        self.created.extend(receipt.created);
        let told = receipt.events.iter().map(|event| (event.name.to_string(), (event.emitter, event.data.to_vec())));
        for (name, promise) in told {
            match &*name {
                "promised" => self.promised.push(promise),
                "kept" => {
                    let height = cowboy_types::cbor::decode(&promise.1).ok().and_then(|height| height.as_u64());
                    require(height == Some(number), || format!("a timer for {height:?} fired in block {number}"))?;
                    self.kept.push(promise);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// every timer that is due has fired, at its height, once.
    fn timers_fired(&self) -> Result<(), String> {
        let height = |promise: &Promise| cowboy_types::cbor::decode(&promise.1).ok().and_then(|height| height.as_u64()).unwrap_or(0);
        let mut due: Vec<_> = self.promised.iter().filter(|promise| height(promise) <= self.newest).collect();
        let mut kept: Vec<_> = self.kept.iter().collect();
        due.sort();
        kept.sort();
        require(due == kept, || format!("{} timers were due and {} fired", due.len(), kept.len()))
    }
}

async fn nothing_lost(chain: &Chain, view: &View) -> Result<(), String> {
    for number in 0..ACCOUNTS {
        for nonce in 0..SENT {
            let place = view.place_of(&script::transaction(number, nonce).digest()).map_err(|error| error.to_string())?;
            require(place.is_some(), || format!("transaction {nonce} of account {number} is lost"))?;
        }
    }
    let (received, expected) = (account(chain, RECEIVER).await.balance.0, script::received());
    require(received == expected, || format!("{received} arrived, not {expected}"))
}

impl Holds {
    /// all balances together are what genesis made, less what was burned.
    async fn supply_conserved(&self, chain: &Chain, created: Vec<Address>) -> Result<(), String> {
        let at_genesis = self.genesis.allocation.iter().filter_map(|(_, stored)| Key::open(stored)).map(|(key, _)| key);
        let mut accounts: BTreeSet<Address> = at_genesis.filter(|key| key.kind == Kind::Account).map(|key| key.address).collect();
        accounts.extend(self.genesis.config.validators.iter().map(|validator| validator.address));
        accounts.insert(RECEIVER);
        // Rewards wait there until the epoch turns.
        accounts.insert(cowboy_system::staking::state::rewards());
        accounts.extend(created);
        let mut held = 0;
        for address in accounts {
            held += account(chain, address).await.balance.0;
        }
        let stored = read(chain, vec![keys::supply()]).await.remove(0).ok_or("there is no supply record")?;
        let (_, body) = Key::open(&stored).ok_or("the supply is not a record")?;
        let supply: Supply = commonware_codec::DecodeExt::decode(body).map_err(|error| error.to_string())?;
        let owed = supply.genesis.0 + supply.minted.0 - supply.burned.0;
        require(held == owed, || format!("accounts hold {held}, the supply is {owed}"))?;
        require(supply.burned.0 > 0, || "nothing was burned, so nothing ran".into())?;
        require(account(chain, key(0).address()).await.balance < FUNDS, || "nothing was paid".into())
    }
}

/// How many of the first blocks, up to this number, a validator led.
pub(crate) fn led(chain: &Chain, leader: &PublicKey, last: u64) -> Result<usize, String> {
    let view = chain.ledger.view().map_err(|error| error.to_string())?;
    let mut count = 0;
    for number in 1..=last {
        let block = view.block(number).map_err(|error| error.to_string())?.ok_or("a block is missing")?;
        count += usize::from(block.header.context.leader.0.as_slice() == AsRef::<[u8]>::as_ref(leader));
    }
    Ok(count)
}

async fn read(chain: &Chain, keys: Vec<Key>) -> Vec<Option<bytes::Bytes>> {
    match chain.state() {
        Some(state) => state.read(keys.iter().map(Key::digest).collect()).await,
        None => vec![None; keys.len()],
    }
}

/// A record as a validator has it.
pub(crate) async fn record<T: commonware_codec::DecodeExt<()>>(chain: &Chain, key: Key) -> Option<T> {
    let stored = read(chain, vec![key]).await.remove(0)?;
    let (_, body) = Key::open(&stored)?;
    T::decode(body).ok()
}

/// An account as a validator has it.
pub(crate) async fn account(chain: &Chain, address: Address) -> Account {
    let stored = read(chain, vec![Key::account(address)]).await.remove(0);
    stored.as_ref().and_then(account_of).unwrap_or(Account::UNSEEN)
}
