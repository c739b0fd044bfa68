//! What the accounts of a simulated network send: transfers, deployments, calls, and timers.

use crate::{
    checks::account,
    common::{ACCOUNTS, key, sign, sign_by},
    network::Order,
};
use commonware_runtime::Clock;
use cowboy_chain::{SignedTransaction, Standing, lanes::Lane};
use cowboy_node::{Chain, mempool::Source};
use cowboy_state::records::Account;
use cowboy_types::{
    Address, Amount, Blob, Hash, Instruction, System, Transaction,
    cbor::Value,
    instruction::{Actor, Init},
    keccak256,
    wire::Text,
};
use std::{sync::Arc, time::Duration};

/// Transactions that each account sends.
pub(crate) const SENT: u64 = 12;

/// Who receives.
pub(crate) const RECEIVER: Address = Address([0x66; 20]);

/// An actor that sets timers.
const KEEPER: &str = include_str!("keeper.py");

/// The transaction of an account with this nonce. Every second account deploys an actor first, and its neighbour calls
/// that one too, now and then before it is there.
pub(crate) fn transaction(account: u64, nonce: u64) -> Transaction {
    let keeper = account - account % 2;
    let instruction = match (nonce, (account + nonce) % 3) {
        (0, _) if account == keeper => deployment(),
        (_, 0) => transfer(1 + account),
        (_, 1) => promise(keeper_of(keeper), 1 + (account * 5 + nonce * 3) % 6),
        _ => call(keeper_of(keeper), "kept", b""),
    };
    sign(account, nonce, instruction)
}

/// A transfer to the receiver.
pub(crate) fn transfer(amount: u64) -> Instruction {
    Instruction::System(System::Transfer { to: RECEIVER, amount: Amount(amount) })
}

/// What the receiver gets from everybody together.
pub(crate) fn received() -> u64 {
    let sent = (0..ACCOUNTS).flat_map(|account| (0..SENT).map(move |nonce| transaction(account, nonce)));
    let amounts = sent.filter_map(|sent| match sent.instruction {
        Instruction::System(System::Transfer { to: RECEIVER, amount }) => Some(amount.0),
        _ => None,
    });
    amounts.sum()
}

/// A deployment of the actor that sets timers, with the means to pay them.
pub(crate) fn deployment() -> Instruction {
    deploy(KEEPER, &["econ.hold_balance", "storage.kv", "timer.schedule"], Amount::from_cby(100).expect("it fits"))
}

/// A deployment of any actor, with what it may do and what it begins with.
pub(crate) fn deploy(source: &str, grants: &[&str], endowment: Amount) -> Instruction {
    let grants = grants.iter().map(|id| Value::map([("id", Value::text(*id))])).collect();
    let manifest = Value::map([("entitlements", Value::Array(grants))]);
    let has_init = source.contains("def init(");
    Instruction::Actor(Actor::Deploy {
        code: Blob::new(source.as_bytes().to_vec()).expect("the source fits"),
        salt: Blob::default(),
        init: has_init.then(|| Init { handler: Text::new("init").expect("a short name"), payload: Blob::default() }),
        manifest: Some(Blob::new(manifest.encode()).expect("the manifest fits")),
        endowment,
    })
}

/// The actor that an account's deployment makes.
pub(crate) fn keeper_of(account: u64) -> Address {
    let source = cowboy_chain::canonical_source(KEEPER.as_bytes()).expect("the source is text");
    Address::of_actor(&key(account).address(), &Hash::ZERO, &keccak256(&[source.as_bytes()]))
}

/// A call that sets a timer for a number of blocks later.
pub(crate) fn promise(keeper: Address, blocks: u64) -> Instruction {
    call(keeper, "promise", &Value::uint(blocks).encode())
}

/// A call of a handler.
pub(crate) fn call(target: Address, handler: &str, payload: &[u8]) -> Instruction {
    Instruction::Actor(Actor::Execute {
        target,
        handler: Text::new(handler).expect("a short name"),
        payload: Blob::new(payload.to_vec()).expect("a short payload"),
        value: Amount(0),
    })
}

/// Somebody with accounts at one validator, who sends until the chain has taken everything, whatever is lost on the way.
pub(crate) struct Client {
    pub(crate) chain: Arc<Chain>,
    pub(crate) accounts: Vec<u64>,
    pub(crate) orders: Vec<Order>,
}

impl Client {
    /// What is refused is tried again.
    fn give(&self, account: Account, transaction: Transaction) {
        let signed = SignedTransaction::check(transaction).expect("it is signed");
        let _ = self.chain.mempool.admit(Source::Client, &Standing { account, lane: Lane::User }, signed);
    }

    pub(crate) async fn run(self, clock: impl Clock) {
        loop {
            clock.sleep(Duration::from_millis(700)).await;
            for number in &self.accounts {
                let address = key(*number).address();
                let account = account(&self.chain, address).await;
                let nonce = self.chain.mempool.next_nonce(&address).map_or(account.nonce, |waiting| waiting.max(account.nonce)).0;
                if nonce < SENT {
                    self.give(account, transaction(*number, nonce));
                }
            }
            let newest = self.chain.head.borrow().number;
            for Order { key, instruction, .. } in self.orders.iter().filter(|order| order.after <= newest) {
                let account = account(&self.chain, key.address()).await;
                if account.nonce.0 == 0 {
                    self.give(account, sign_by(key, 0, instruction.clone()));
                }
            }
        }
    }
}
