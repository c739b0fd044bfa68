//! `cowboy dev`: one handler of a source, run by the law on a chain in memory.

use crate::{deploy::Deployment, failure::Failure, output, payload, send};
use bytes::Bytes;
use clap::Args;
use cowboy_api::{
    ApiError, cbor,
    keystore::{DEV_MNEMONIC, Mnemonic},
    manifest,
    source::{self, Format},
};
use cowboy_chain::{
    BlockInput, ChainConfig, Execution, GenesisConfig, Mode, Need, Outcome, SignedTransaction, StateKey,
    genesis::{Funded, genesis},
    input::{Limits, NoImages},
};
use cowboy_state::{Directory, Key, World};
use cowboy_types::{
    Actor, Address, Amount, Blob, Cells, ChainId, Cycles, Hash, Height, Instruction, List, Nonce, Text, TimestampMs, Transaction,
    error as aborts, signing::PrivateKey, units::Price,
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// Runs one handler of a source on a chain in memory: deploys it, runs `init` where there is one, then the handler.
#[derive(Args, Debug)]
pub(crate) struct Dev {
    /// The source
    #[arg(long, value_name = "FILE")]
    code: PathBuf,
    /// The handler
    #[arg(long, value_name = "NAME")]
    handler: String,
    /// Its argument: hex, @FILE, or JSON
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    payload: String,
    /// The most cycles it may use
    #[arg(long, value_name = "N")]
    cycles_limit: Option<u64>,
    /// Grant only what manifest.json grants, instead of what the source seems to need
    #[arg(long)]
    strict: bool,
}

/// When the chain in memory begins: always the same, so that runs repeat.
const BEGIN_MS: u64 = 1_700_000_000_000;

impl Dev {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let result = self.simulate()?;
        output::line(&result);
        if result["ok"] == true { Ok(()) } else { Err(Failure::Said) }
    }

    fn simulate(&self) -> Result<Value, Failure> {
        let mut deployment = Deployment::of_file(&self.code, None)?;
        if !self.strict {
            deployment.manifest = manifest::manifest(&source::infer(&deployment.code));
        }
        deployment.endowment =
            if deployment.grants().iter().any(|grant| grant.id == "econ.hold_balance") { Amount::CBY } else { Amount::ZERO };
        let mut chain = Chain::new()?;
        let deployed = chain.send(deployment.instruction()?, None)?;
        let Some(actor) = deployed.receipts.first().and_then(|receipt| receipt.created) else { return Ok(failed(&deployed)) };
        let format = source::format(&deployment.code, &self.handler);
        let execute = Actor::Execute {
            target: actor,
            handler: Text::new(self.handler.clone())
                .ok_or_else(|| Failure::argument("the handler's name is longer than 256 bytes", "shorten it"))?,
            payload: Blob::new(argument(&self.payload, format)?)
                .ok_or_else(|| Failure::argument("the payload is larger than 128 KiB", "shorten it"))?,
            value: Amount::ZERO,
        };
        let outcome = chain.send(Instruction::Actor(execute), self.cycles_limit)?;
        let Some(receipt) = outcome.receipts.first().filter(|receipt| receipt.is_success()) else { return Ok(failed(&outcome)) };
        let events: Vec<Value> =
            receipt.events.iter().map(|event| json!({ "name": &*event.name, "data": cbor::decode_or_hex(&event.data) })).collect();
        let sent = outcome.traces.first().map(|trace| trace.sent.as_slice()).unwrap_or_default();
        let messages: Vec<Value> = sent
            .iter()
            .map(|message| json!({ "target": message.target.to_string(), "handler": message.handler, "value": message.value.get() }))
            .collect();
        Ok(json!({
            "ok": true,
            "output": payload::decode(&receipt.return_data, format),
            "events": events,
            "messages": messages,
            "state": chain.storage(actor),
            "gas_used": receipt.cycles_used.get(),
        }))
    }
}

/// Hex with or without `0x`, `@FILE`, or JSON as the handler reads it.
fn argument(text: &str, format: Format) -> Result<Vec<u8>, Failure> {
    let is_hex = !text.is_empty() && text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { payload::bytes(&format!("0x{text}")) } else { payload::encode(text, format) }
}

/// Why the first delivery of a block failed.
fn failed(outcome: &Outcome) -> Value {
    let abort = outcome.receipts.first().and_then(|receipt| receipt.abort.clone()).unwrap_or(aborts::INTERNAL);
    let exception = outcome.traces.first().and_then(|trace| trace.calls.first()).and_then(|call| call.exception.clone());
    let error = match exception {
        Some(exception) => {
            let said = if exception.message.is_empty() { exception.name } else { format!("{}: {}", exception.name, exception.message) };
            [exception.traceback, vec![said]].concat().join("\n")
        }
        None => ApiError::of_abort(abort.clone()).what,
    };
    json!({ "ok": false, "error_code": cowboy_types::error::row(abort.code).slug, "error": error })
}

/// A chain whose state is a map.
struct Chain {
    config: Arc<ChainConfig>,
    state: BTreeMap<StateKey, Bytes>,
    key: PrivateKey,
    height: u64,
}

impl Chain {
    fn new() -> Result<Self, Failure> {
        let key = Mnemonic::parse(DEV_MNEMONIC, "")?.key(0)?;
        let funded = Funded { address: key.address(), amount: Amount::from_cby(1_000_000).expect("a million fits") };
        let config = GenesisConfig {
            chain_id: ChainId(1337),
            is_dev: true,
            timestamp_ms: TimestampMs(BEGIN_MS),
            accounts: List::new(vec![funded]).expect("one account fits"),
            deployers: List::default(),
            validators: List::default(),
            parameters: List::default(),
        };
        let wrong = |error: cowboy_chain::genesis::GenesisError| Failure::Node(error.to_string());
        let chain = Arc::new(config.chain().map_err(wrong)?);
        let state = genesis(&config).map_err(wrong)?.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        Ok(Self { config: chain, state, key, height: 0 })
    }

    /// Puts an instruction alone into the next block.
    fn send(&mut self, instruction: Instruction, cycles: Option<u64>) -> Result<Outcome, Failure> {
        let params = &self.config.params;
        let fee = Price(params.fees.base_fee_min.saturating_mul(2));
        let transaction = Transaction {
            chain_id: self.config.chain_id,
            nonce: Nonce(self.height),
            cycles_limit: Cycles(cycles.unwrap_or(params.lanes.user_cycles)),
            cells_limit: Cells(params.fees.block_cells),
            max_fee_per_cycle: fee,
            max_fee_per_cell: fee,
            ..send::draft(instruction, &self.key)
        };
        self.height = self.height.saturating_add(1);
        let mut execution = Execution::new(BlockInput {
            mode: Mode::Propose { candidates: vec![SignedTransaction::unchecked(transaction)], limits: Limits::default() },
            chain: self.config.clone(),
            height: Height(self.height),
            timestamp: TimestampMs(BEGIN_MS.saturating_add(self.height.saturating_mul(1_000))),
            beacon: Bytes::from_static(&[0; 32]),
            seeds: Vec::new(),
            round: (0, 1),
            order_key: Hash::ZERO,
            proposer: Address::ZERO,
            images: Arc::new(NoImages),
        });
        let mut answers = Vec::new();
        let outcome = loop {
            match execution.advance(answers) {
                Need::Keys(keys) => answers = keys.into_iter().map(|key| (key, self.state.get(&key).cloned())).collect(),
                Need::Done(outcome) => break outcome,
                Need::Invalid(reason) => return Err(Failure::Node(reason.to_string())),
            }
        };
        if let Some((_, refused)) = outcome.rejected.first() {
            return Err(Failure::argument(refused.to_string(), "raise --cycles-limit"));
        }
        for (key, value) in &outcome.writes {
            match value {
                Some(value) => self.state.insert(*key, value.clone()),
                None => self.state.remove(key),
            };
        }
        Ok(*outcome)
    }

    /// What an actor keeps, decoded.
    fn storage(&self, actor: Address) -> Value {
        let mut world = World::default();
        let found = loop {
            let look = Directory::storage(actor).list(&world, &[], usize::MAX).and_then(|names| {
                let keys: Vec<Key> = names.iter().map(|name| Key::storage(actor, name.clone())).collect();
                world.require(&keys)?;
                names
                    .into_iter()
                    .zip(&keys)
                    .map(|(name, key)| Ok((name, world.get(key)?.cloned().unwrap_or_default())))
                    .collect::<Result<Vec<_>, _>>()
            });
            match look {
                Ok(found) => break found,
                Err(miss) => {
                    for key in world.want(miss) {
                        world.fill(&key, self.state.get(&key).cloned());
                    }
                }
            }
        };
        found
            .into_iter()
            .map(|(name, value)| (String::from_utf8_lossy(&name).into_owned(), cbor::decode_or_hex(&value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}
