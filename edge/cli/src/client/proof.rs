//! `cowboy proof`: what the node says, proven against the validators' certificate.

use super::session::Session;
use clap::{Args, Subcommand};
use commonware_codec::DecodeExt as _;
use cowboy_api::{
    Hex, HexBytes, cbor,
    model::{self, ProofItem},
    verify::{Claim, Verified, verify},
};
use cowboy_console::{failure::Failure, output::table};
use cowboy_host::clock;
use cowboy_ingress::Trust;
use cowboy_light::GroupKey;
use cowboy_state::{Key, Kind, records};
use cowboy_types::Hash;
use serde_json::{Value, json};

/// Seconds after which a header is old enough for a warning.
const OLD: u64 = 60;

/// Fetches a proof and verifies it: record, root, header, and the validators' signature.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy proof account 0x70997970c51812dc3a010c7d01b50e0d17dc79c8
  cowboy proof storage counter count
  cowboy proof receipt 0x…   a transaction's or delivery's hash")]
pub(crate) struct Proof {
    #[command(subcommand)]
    what: What,
    /// The genesis hash that the chain must have [default: trust the node's]
    #[arg(long, global = true, value_name = "HASH")]
    genesis: Option<Hash>,
    /// The validators' group key [default: the one that the genesis hash covers]
    #[arg(long, global = true, value_name = "HEX")]
    group_key: Option<HexBytes>,
    /// Fail if the proven header is older than this
    #[arg(long, global = true, value_name = "SECONDS")]
    max_age: Option<u64>,
    /// Also succeed if the proof shows that the record does not exist
    #[arg(long, global = true)]
    absent: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Prove an account's nonce and balance, or that it does not exist
    Account {
        /// The account [default: the key's account]
        address: Option<String>,
    },
    /// Prove an actor's record, or that it does not exist
    Actor {
        /// The actor: an address, or an actor of this folder
        actor: String,
    },
    /// Prove an entry of an actor's storage, or that it does not exist
    Storage {
        /// The actor: an address, or an actor of this folder
        actor: String,
        /// The key: text, or hex with 0x
        key: String,
    },
    /// Prove that a transaction is in a block
    Transaction {
        /// Its hash
        hash: String,
    },
    /// Prove the receipt of a transaction or delivery
    Receipt {
        /// Its hash
        hash: String,
    },
}

/// What is asked for: where, what it must prove, and how its record reads.
struct Asked {
    path: String,
    claim: Claim,
    name: String,
    read: fn(&ProofItem) -> Value,
}

impl Proof {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        let asked = self.what.asked(session)?;
        let genesis: model::Genesis = session.client.get("/genesis").await?;
        let key = self.group_key.as_ref().unwrap_or(&genesis.group_key);
        // What the node says of its hash is not read: the hash of what it gives covers the group key.
        let trust = Trust::new(&genesis.config.0, &key.0);
        let hash = trust.map_err(|error| Failure::argument(error.to_string(), "check where it is from"))?.genesis();
        if let Some(expected) = self.genesis.filter(|expected| *expected != hash) {
            return Err(Failure::refused(
                format!("the node's chain has the genesis {hash}, not {expected}"),
                "ask a node of the right chain with --rpc-url",
            ));
        }
        let is_pinned = self.genesis.is_some() || self.group_key.is_some();
        let validators = key.0.as_slice().try_into().ok().and_then(|key| GroupKey::new(&hash, key));
        let validators = validators.ok_or_else(|| Failure::argument("the group key is not valid", "give its 96 bytes in hex"))?;
        let proof: model::Proof = session.client.get(&asked.path).await?;
        let verified = verify(&proof, &validators, &[asked.claim]).map_err(|error| Failure::Proof(error.to_string()))?;
        let item = proof.items.first().ok_or_else(|| Failure::Proof("the proof has no item".into()))?;
        let age = self.age(session, &asked.claim, &verified)?;
        let value = (asked.read)(item);
        let (height, (epoch, view)) = (verified.header.height().get(), verified.round);
        let rows = table([
            ("proven", asked.name.clone()),
            ("value", if item.value.is_none() { "there is none".to_owned() } else { value.to_string() }),
            ("height", height.to_string()),
            ("age", format!("{age} s, by this machine's clock")),
            ("header", verified.header.digest().to_string()),
            ("finalized", format!("by the validators in epoch {epoch}, view {view}")),
            ("genesis", hash.to_string()),
            ("group key", format!("{}{}", key, if is_pinned { "" } else { " (as the node says)" })),
        ]);
        session.output.result(
            &json!({
                "verified": true, "present": item.value.is_some(), "value": value, "height": height, "age_seconds": age,
                "header": Hex(verified.header.digest()), "epoch": epoch, "view": view,
                "genesis": hash.to_string(), "group_key": key,
            }),
            rows,
        );
        if item.value.is_some() || self.absent {
            return Ok(());
        }
        Err(Failure::refused(
            format!("the proof shows that there is no {}", asked.name),
            "check the address and the key; with --absent this is not an error",
        ))
    }
}

impl Proof {
    /// How many seconds ago the proven header was made, by this machine's clock; 0 where it is ahead of it. A node can answer with a
    /// state that was true once: what may have changed since is refused beyond `--max-age`, and marked without it.
    fn age(&self, session: &Session, claim: &Claim, verified: &Verified) -> Result<u64, Failure> {
        let age = clock::now().as_secs().saturating_sub(verified.header.timestamp_ms.get() / 1_000);
        if let Some(most) = self.max_age.filter(|most| age > *most) {
            return Err(Failure::Proof(format!("the header is {age} s old, and at most {most} s are allowed")));
        }
        if matches!(claim, Claim::State(_)) && self.max_age.is_none() && age > OLD {
            session.output.progress(format_args!(
                "warning: the header is {age} s old: the chain rests, or the node shows an old state; --max-age SECONDS refuses that"
            ));
        }
        Ok(age)
    }
}

impl What {
    fn asked(&self, session: &Session) -> Result<Asked, Failure> {
        let state = |key: &Key| Claim::State(Hash(key.digest().0));
        Ok(match self {
            Self::Account { address } => {
                let address = session.address_or_own(address.as_deref())?;
                let (path, name) = (format!("/proof/account/{address}"), format!("account {address}"));
                Asked { path, claim: state(&Key::account(address)), name, read: account }
            }
            Self::Actor { actor } => {
                let address = session.address(actor)?;
                let (path, name) = (format!("/proof/actor/{address}"), format!("actor {address}"));
                Asked { path, claim: state(&Key::of(Kind::Actor, address)), name, read: actor_record }
            }
            Self::Storage { actor, key } => {
                let address = session.address(actor)?;
                let bytes = match key.strip_prefix("0x") {
                    Some(digits) => hex::decode(digits)
                        .map_err(|error| Failure::argument(format!("{key:?} is not hex: {error}"), "give text, or hex with 0x"))?,
                    None => key.as_bytes().to_vec(),
                };
                let path = format!("/proof/storage/{address}/{}", Hex(bytes.clone()));
                let name = format!("storage of {address} at {key}");
                Asked { path, claim: state(&Key::storage(address, bytes)), name, read: entry }
            }
            Self::Transaction { hash } => {
                let hash = super::transaction::hash(hash)?;
                let (path, name) = (format!("/proof/tx/{hash}"), format!("transaction {hash}"));
                Asked { path, claim: Claim::Transaction(hash), name, read: bytes }
            }
            Self::Receipt { hash } => {
                let hash = super::transaction::hash(hash)?;
                Asked {
                    path: format!("/proof/receipt/{hash}"),
                    claim: Claim::Receipt(hash),
                    name: format!("receipt of {hash}"),
                    read: receipt,
                }
            }
        })
    }
}

/// The record behind the readable key, as the state keeps it.
fn record(item: &ProofItem) -> Option<bytes::Bytes> {
    item.value.as_ref().and_then(|value| Key::open(&value.0.clone().into())).map(|(_, record)| record)
}

fn account(item: &ProofItem) -> Value {
    let found = record(item).and_then(|bytes| records::Account::decode(bytes).ok());
    found.map_or(Value::Null, |account| json!({ "nonce": account.nonce.get(), "balance": account.balance.get() }))
}

fn actor_record(item: &ProofItem) -> Value {
    let found = record(item).and_then(|bytes| records::Actor::decode(bytes).ok());
    found.map_or(Value::Null, |actor| json!({ "owner": Hex(actor.owner), "code_hash": Hex(actor.code_hash) }))
}

fn entry(item: &ProofItem) -> Value {
    record(item).map_or(Value::Null, |bytes| cbor::decode_or_hex(&bytes))
}

fn bytes(item: &ProofItem) -> Value {
    json!(item.value)
}

fn receipt(item: &ProofItem) -> Value {
    let found = item.value.as_ref().and_then(|value| cowboy_types::Receipt::decode(value.0.clone()).ok());
    found.map_or(Value::Null, |receipt| {
        json!({ "id": Hex(receipt.id), "status": cowboy_api::convert::status(&receipt), "cycles_used": receipt.cycles_used.get() })
    })
}
