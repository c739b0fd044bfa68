//! `cowboy dev`: one handler of a source, executed by the protocol's own code on a chain in memory.

use crate::{
    chain::{Chain, Genesis},
    deploy::Deployment,
};
use clap::Args;
use cowboy_api::{
    ApiError, cbor, manifest,
    source::{self, Format},
};
use cowboy_chain::Outcome;
use cowboy_console::{failure::Failure, output, payload};
use cowboy_types::{Actor, Amount, Blob, Instruction, Text, error as aborts};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Runs one handler of a source on a chain in memory: deploys it, runs `init` where there is one, then the handler.
#[derive(Args, Debug)]
pub struct Dev {
    /// The source
    #[arg(long, value_name = "FILE")]
    code: PathBuf,
    /// The handler
    #[arg(long, value_name = "NAME")]
    handler: String,
    /// Its argument: hex, @FILE, or JSON
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    payload: String,
    /// The maximum number of cycles
    #[arg(long, value_name = "N")]
    cycles_limit: Option<u64>,
    /// Grant only what manifest.json grants, instead of what the source seems to need
    #[arg(long)]
    strict: bool,
}

impl Dev {
    /// Prints one line of JSON: what the handler returned, or why it failed.
    pub fn run(self) -> Result<(), Failure> {
        let result = self.simulate()?;
        output::line(&result);
        if result["ok"] == true {
            return Ok(());
        }
        Err(Failure::refused(format!("{} failed", self.handler), result["fix"].as_str().unwrap_or_default()))
    }

    fn simulate(&self) -> Result<Value, Failure> {
        let mut deployment = Deployment::of_file(&self.code, None)?;
        if !self.strict {
            deployment.manifest = manifest::manifest(&source::infer(&deployment.code));
        }
        deployment.endowment =
            if deployment.grants().iter().any(|grant| grant.id == "econ.hold_balance") { Amount::CBY } else { Amount::ZERO };
        let mut chain = Chain::new(&Genesis::new()?);
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
        let kept = chain.storage(actor)?.into_iter();
        let state: Map<String, Value> =
            kept.map(|(name, value)| (String::from_utf8_lossy(&name).into_owned(), cbor::decode_or_hex(&value))).collect();
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
            "state": state,
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
    let words = ApiError::of_abort(abort.clone());
    let error = match exception {
        Some(exception) => cowboy_api::traceback::folded(&exception.traceback),
        None => words.what,
    };
    json!({ "ok": false, "error_code": cowboy_types::error::row(abort.code).slug, "error": error, "fix": words.fix })
}
