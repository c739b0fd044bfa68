//! Anvil, through Ethereum's JSON-RPC. Its counter is a contract of 21 bytes.

use crate::{
    chain::{Chain, Plan, RECIPIENT, Work, field},
    http::{Connection, Request},
};
use cowboy_types::{Address, hash::keccak256, signing::PrivateKey};
use serde_json::{Value, json};
use std::io;

/// Without calldata it returns the word at key 0; with calldata it adds one to it.
const COUNTER: &str = "36600c575f545f5260205ff35b60015f54015f5500";

/// Returns the 21 bytes that follow it.
const DEPLOYER: &str = "60158060095f395ff3";

const GAS_PRICE: u64 = 2_000_000_000;
const GAS_OF_TRANSFER: u64 = 21_000;
const GAS_OF_CALL: u64 = 60_000;
const GAS_OF_DEPLOYMENT: u64 = 200_000;

/// An anvil node.
#[derive(Debug)]
pub(crate) struct Anvil {
    chain_id: u64,
    counter: Address,
}

impl Anvil {
    /// Asks who the node is, and deploys the counter where none is named.
    pub(crate) fn open(connection: &mut Connection, key: &PrivateKey, counter: Option<Address>) -> io::Result<Self> {
        let chain_id = number(&call(connection, "eth_chainId", json!([]))?)?;
        let mut chain = Self { chain_id: u64::try_from(chain_id).map_err(io::Error::other)?, counter: counter.unwrap_or(RECIPIENT) };
        if counter.is_none() {
            let nonce = chain.nonce(connection, &key.address())?;
            let code = hex::decode(format!("{DEPLOYER}{COUNTER}")).expect("the constants are hexadecimal");
            let signed = chain.transaction(key, nonce, GAS_OF_DEPLOYMENT, &[], 0, &code);
            let hash = call(connection, "eth_sendRawTransaction", json!([hex_text(&signed)]))?;
            let receipt = receipt(connection, &hash)?;
            let address = field(&receipt, "/contractAddress")?.as_str().unwrap_or_default().to_owned();
            chain.counter = address.parse().map_err(|_| io::Error::other(format!("no address: {address}")))?;
        }
        Ok(chain)
    }

    /// The counter's address.
    pub(crate) fn counter(&self) -> Address {
        self.counter
    }

    /// A signed legacy transaction (EIP-155).
    fn transaction(&self, key: &PrivateKey, nonce: u64, gas: u64, to: &[u8], value: u64, data: &[u8]) -> Vec<u8> {
        let mut fields: Vec<Vec<u8>> = [nonce, GAS_PRICE, gas].map(integer).into();
        fields.extend([to.to_vec(), integer(value), data.to_vec()]);
        let unsigned = [&fields[..], &[integer(self.chain_id), vec![], vec![]]].concat();
        let signature = key.sign(&keccak256(&[&list(&unsigned)])).0;
        let v = self.chain_id * 2 + 35 + u64::from(signature[64]);
        fields.extend([integer(v), trimmed(&signature[..32]), trimmed(&signature[32..64])]);
        list(&fields)
    }
}

impl Chain for Anvil {
    fn nonce(&self, connection: &mut Connection, account: &Address) -> io::Result<u64> {
        let nonce = number(&call(connection, "eth_getTransactionCount", json!([account.to_string(), "latest"]))?)?;
        u64::try_from(nonce).map_err(io::Error::other)
    }

    fn total(&self, connection: &mut Connection, work: Work, _: &[Plan<'_>]) -> io::Result<u128> {
        number(&match work {
            Work::Open => return Err(io::Error::other("accounts are opened on a Cowboy chain only")),
            Work::Transfer => call(connection, "eth_getBalance", json!([RECIPIENT.to_string(), "latest"]))?,
            Work::Count => call(connection, "eth_call", json!([{ "to": self.counter.to_string() }, "latest"]))?,
        })
    }

    fn sign(&self, key: &PrivateKey, nonce: u64, work: Work) -> Vec<u8> {
        match work {
            Work::Transfer | Work::Open => self.transaction(key, nonce, GAS_OF_TRANSFER, &RECIPIENT.0, 1, &[]),
            Work::Count => self.transaction(key, nonce, GAS_OF_CALL, &self.counter.0, 0, &[1]),
        }
    }

    fn submit(&self, signed: &[Vec<u8>]) -> Request {
        let calls: Vec<Value> =
            signed.iter().enumerate().map(|(id, bytes)| body(id, "eth_sendRawTransaction", json!([hex_text(bytes)]))).collect();
        match &calls[..] {
            [one] => Request::json("/", one),
            many => Request::json("/", &json!(many)),
        }
    }

    fn read(&self) -> Request {
        Request::json("/", &body(1, "eth_call", json!([{ "to": self.counter.to_string() }, "latest"])))
    }

    fn settle(&self, connection: &mut Connection, signed: &[u8]) -> io::Result<()> {
        let hash = call(connection, "eth_sendRawTransaction", json!([hex_text(signed)]))?;
        receipt(connection, &hash).map(drop)
    }

    /// Anvil 1.7.1 strands transactions that arrive over several connections until something else mines.
    fn nudge(&self, connection: &mut Connection) -> io::Result<bool> {
        call(connection, "evm_mine", json!([])).map(|_| true)
    }
}

/// Waits for a transaction's receipt.
fn receipt(connection: &mut Connection, hash: &Value) -> io::Result<Value> {
    loop {
        let receipt = call(connection, "eth_getTransactionReceipt", json!([hash]))?;
        if !receipt.is_null() {
            return Ok(receipt);
        }
    }
}

fn body(id: usize, method: &str, parameters: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters })
}

fn call(connection: &mut Connection, method: &str, parameters: Value) -> io::Result<Value> {
    let answer = connection.ask(&Request::json("/", &body(1, method, parameters)))?.json()?;
    field(&answer, "/result").cloned()
}

fn number(value: &Value) -> io::Result<u128> {
    let text = value.as_str().unwrap_or_default().trim_start_matches("0x");
    u128::from_str_radix(text, 16).map_err(|_| io::Error::other(format!("no number: {value}")))
}

fn hex_text(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

/// RLP's number: big endian without leading zeros.
fn integer(value: u64) -> Vec<u8> {
    trimmed(&value.to_be_bytes())
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().skip_while(|byte| *byte == 0).collect()
}

/// RLP's list of byte strings.
fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let mut body = Vec::new();
    for item in items {
        match item[..] {
            [byte] if byte < 0x80 => body.push(byte),
            _ => {
                body.extend(header(0x80, item.len()));
                body.extend_from_slice(item);
            }
        }
    }
    [header(0xC0, body.len()), body].concat()
}

/// RLP's header of a string (0x80) or list (0xC0).
fn header(kind: u8, length: usize) -> Vec<u8> {
    match u8::try_from(length) {
        Ok(short) if short < 56 => vec![kind + short],
        _ => {
            let bytes = integer(u64::try_from(length).expect("a length fits 64 bits"));
            let size = u8::try_from(bytes.len()).expect("at most eight bytes");
            [vec![kind + 55 + size], bytes].concat()
        }
    }
}
