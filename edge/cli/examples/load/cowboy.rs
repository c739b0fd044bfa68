//! A Cowboy node, through its HTTP API. Its counter is a Python actor.

use crate::{
    chain::{Chain, Plan, RECIPIENT, Work, field},
    http::{Connection, Request},
};
use base64::Engine as _;
use cowboy_types::{
    Actor, Address, Amount, Blob, Cells, ChainId, Cycles, Instruction, Nonce, System, Text, Transaction, instruction::Init, keccak256,
    signing::PrivateKey, units::Price,
};
use serde_json::{Value, json};
use std::io;

/// The counter: as little as it can be.
const COUNTER: &str = include_str!("counter.py");

/// How often the present price a transaction may cost, so that a long run never prices itself out.
const PRICE_MARGIN: u64 = 10;

/// A Cowboy node.
#[derive(Debug)]
pub(crate) struct Cowboy {
    chain_id: ChainId,
    counter: Address,
    transfer: Terms,
    opening: Terms,
    count: Terms,
}

/// What a transaction may use and pay.
#[derive(Clone, Copy, Debug, Default)]
struct Terms {
    cycles: u64,
    cells: u64,
    price_of_cycle: u64,
    price_of_cell: u64,
}

impl Cowboy {
    /// Asks who the node is, and finds what transactions need. Where the counter is called, it is deployed unless one is named.
    pub(crate) fn open(connection: &mut Connection, key: &PrivateKey, counter: Option<Address>, is_counting: bool) -> io::Result<Self> {
        let health = connection.ask(&Request::get("/health/detailed"))?.json()?;
        let chain_id = ChainId(field(&health, "/chain_id")?.as_u64().unwrap_or_default());
        let none = Terms::default();
        let mut chain = Self { chain_id, counter: counter.unwrap_or(RECIPIENT), transfer: none, opening: none, count: none };
        if is_counting {
            if counter.is_none() {
                chain.counter = chain.deploy(connection, key)?;
            }
            chain.count = chain.terms(connection, key, &chain.instruction(Work::Count, RECIPIENT))?;
        }
        let nonce = chain.nonce(connection, &key.address())?;
        chain.transfer = chain.terms(connection, key, &chain.instruction(Work::Transfer, RECIPIENT))?;
        chain.opening = chain.terms(connection, key, &chain.instruction(Work::Open, opened_by(&key.address(), nonce)))?;
        Ok(chain)
    }

    /// The counter's address.
    pub(crate) fn counter(&self) -> Address {
        self.counter
    }

    fn deploy(&self, connection: &mut Connection, key: &PrivateKey) -> io::Result<Address> {
        let init = Init { handler: Text::new("init").expect("a short name"), payload: Blob::default() };
        let manifest = cowboy_api::manifest::manifest_bytes(&json!({ "entitlements": [{ "id": "storage.kv" }] }));
        let instruction = Instruction::Actor(Actor::Deploy {
            code: Blob::new(COUNTER.as_bytes().to_vec()).expect("a short source"),
            salt: Blob::default(),
            init: Some(init),
            manifest: Some(Blob::new(manifest).expect("a short manifest")),
            endowment: Amount::ZERO,
        });
        let terms = self.terms(connection, key, &instruction)?;
        let nonce = self.nonce(connection, &key.address())?;
        let signed = self.transaction(key, nonce, instruction, terms);
        let receipt = self.settled(connection, &signed)?;
        let bytes = field(&receipt, "/created")?.as_str().unwrap_or_default().to_owned();
        bytes.parse().map_err(|_| io::Error::other(format!("no actor's address in {receipt}")))
    }

    /// What an instruction needs, found by trying it.
    fn terms(&self, connection: &mut Connection, key: &PrivateKey, instruction: &Instruction) -> io::Result<Terms> {
        let nonce = self.nonce(connection, &key.address())?;
        let draft = self.transaction(key, nonce, instruction.clone(), Terms::default());
        let answer = connection.ask(&Request::json("/simulate", &json!({ "transaction": hex_text(&draft) })))?.json()?;
        let number = |name: &str| Ok::<_, io::Error>(field(&answer, name)?.as_u64().unwrap_or_default());
        if let Some(error) = answer.pointer("/receipt/error").filter(|error| !error.is_null()) {
            return Err(io::Error::other(format!("the transaction would fail: {error}")));
        }
        Ok(Terms {
            cycles: number("/cycles_limit")?,
            cells: number("/cells_limit")?,
            price_of_cycle: number("/max_fee_per_cycle")?.saturating_mul(PRICE_MARGIN),
            price_of_cell: number("/max_fee_per_cell")?.saturating_mul(PRICE_MARGIN),
        })
    }

    fn instruction(&self, work: Work, to: Address) -> Instruction {
        match work {
            Work::Transfer | Work::Open => Instruction::System(System::Transfer { to, amount: Amount(1) }),
            Work::Count => Instruction::Actor(Actor::Execute {
                target: self.counter,
                handler: Text::new("increment").expect("a short name"),
                payload: Blob::default(),
                value: Amount::ZERO,
            }),
        }
    }

    fn transaction(&self, key: &PrivateKey, nonce: u64, instruction: Instruction, terms: Terms) -> Vec<u8> {
        let mut transaction = Transaction {
            chain_id: self.chain_id,
            nonce: Nonce(nonce),
            cycles_limit: Cycles(terms.cycles),
            cells_limit: Cells(terms.cells),
            max_fee_per_cycle: Price(terms.price_of_cycle),
            max_fee_per_cell: Price(terms.price_of_cell),
            ..Transaction::unsigned(key.address(), instruction)
        };
        key.sign_transaction(&mut transaction);
        transaction.to_bytes().to_vec()
    }

    /// Submits a transaction and answers its receipt.
    fn settled(&self, connection: &mut Connection, signed: &[u8]) -> io::Result<Value> {
        let answer = connection.ask(&Request::post("/submit_wait?timeout_ms=20000", "application/octet-stream", signed))?.json()?;
        let receipt = field(&answer, "/results/0/receipt")?.clone();
        match receipt.get("error").filter(|error| !error.is_null()) {
            Some(error) => Err(io::Error::other(format!("the transaction failed: {error}"))),
            None => Ok(receipt),
        }
    }
}

impl Chain for Cowboy {
    fn nonce(&self, connection: &mut Connection, account: &Address) -> io::Result<u64> {
        account_field(connection, account, "/nonce")
    }

    fn total(&self, connection: &mut Connection, work: Work, plans: &[Plan<'_>]) -> io::Result<u128> {
        match work {
            // A sender's transactions are executed in the order of their nonces.
            Work::Open => plans.iter().try_fold(0u128, |total, Plan { key, first, last }| {
                let newest = opened_by(&key.address(), last.saturating_sub(1));
                let is_open = account_field(connection, &newest, "/balance")? > 0;
                Ok::<_, io::Error>(total + if is_open { u128::from(last - first) } else { 0 })
            }),
            Work::Transfer => account_field(connection, &RECIPIENT, "/balance").map(u128::from),
            Work::Count => {
                let answer = connection.ask(&self.read())?.json()?;
                let result = field(&answer, "/result")?.as_str().unwrap_or_default().to_owned();
                let bytes = base64::prelude::BASE64_STANDARD.decode(&result).map_err(io::Error::other)?;
                let value = cowboy_api::cbor::decode(&bytes).ok_or_else(|| io::Error::other(format!("no number: {result}")))?;
                Ok(u128::from(value.as_u64().unwrap_or_default()))
            }
        }
    }

    fn sign(&self, key: &PrivateKey, nonce: u64, work: Work) -> Vec<u8> {
        let (terms, to) = match work {
            Work::Transfer => (self.transfer, RECIPIENT),
            Work::Open => (self.opening, opened_by(&key.address(), nonce)),
            Work::Count => (self.count, RECIPIENT),
        };
        self.transaction(key, nonce, self.instruction(work, to), terms)
    }

    fn submit(&self, signed: &[Vec<u8>]) -> Request {
        match signed {
            [one] => Request::post("/submit", "application/octet-stream", one),
            many => Request::json("/submit", &json!({ "transactions": many.iter().map(|bytes| hex_text(bytes)).collect::<Vec<_>>() })),
        }
    }

    fn read(&self) -> Request {
        Request::json(&format!("/actor/{}/read_handler", self.counter), &json!({ "selector": "get" }))
    }

    fn settle(&self, connection: &mut Connection, signed: &[u8]) -> io::Result<()> {
        self.settled(connection, signed).map(drop)
    }
}

/// The account that a sender's transaction with this nonce opens.
fn opened_by(sender: &Address, nonce: u64) -> Address {
    let hash = keccak256(&[&sender.0, &nonce.to_be_bytes()]);
    Address(*hash.0.first_chunk().expect("a hash is longer than an address"))
}

/// A number of an account; zero where the chain has never seen it.
fn account_field(connection: &mut Connection, account: &Address, pointer: &str) -> io::Result<u64> {
    let answer = connection.ask(&Request::get(&format!("/account/{account}")))?;
    if answer.status == 404 {
        return Ok(0);
    }
    Ok(field(&answer.json()?, pointer)?.as_u64().unwrap_or_default())
}

fn hex_text(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}
