//! A stand-in engine for tests of the host: handlers are lists of host calls, one a line.
//!
//! `#script` on the first line, then `handler NAME` and its lines. A line is `[try] function argument…`; arguments are
//! numbers, `'text'`, `b'bytes'`, `@3` (the address of test account 3), `0x…`, `$payload`, `$last`, `$N` (the answer of
//! line N of the handler, from 0), `none`. Other lines: `burn N` (uses cycles), `weigh N` (takes ns of modelled execution time), `return ARG`, `raise`, `trap`.
//! After `try` a refusal by the host becomes the answer, as its name.

use cowboy_chain::Image;
use cowboy_chain::engine::{self, BuildError, Engine, Images, Program};
use cowboy_types::Hash;
use cowboy_vm::{Exit, HostCall, HostError, HostFn, HostValue, Limits, Profiler, PyError, Trap, Usage};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Builds scripts where a source begins with `#script`, and Python otherwise. Keeps nothing.
pub(crate) struct Scripts;

impl Images for Scripts {
    fn build(&self, source: &str, limits: Limits) -> Result<(Image, Usage), BuildError> {
        match source.strip_prefix("#script\n") {
            Some(script) => Ok((Image::new(Arc::new(Script::parse(script))), Usage { cycles: 100, ..Usage::default() })),
            None => engine::build(source, limits),
        }
    }

    fn get(&self, _: &Hash) -> Option<Image> {
        None
    }

    fn put(&self, _: Hash, _: Image) {}
}

/// Handlers by name.
#[derive(Debug)]
struct Script(BTreeMap<String, Vec<Vec<String>>>);

impl Script {
    fn parse(source: &str) -> Self {
        let mut handlers: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
        let mut current = String::new();
        for line in source.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
            if words[0] == "handler" {
                current = words.get(1).cloned().unwrap_or_default();
                handlers.insert(current.clone(), Vec::new());
            } else {
                handlers.get_mut(&current).expect("a line stands in a handler").push(words);
            }
        }
        Self(handlers)
    }
}

/// A handler under way.
struct Run {
    lines: Option<Vec<Vec<String>>>,
    next: usize,
    answers: Vec<HostValue>,
    payload: Vec<u8>,
    is_trying: bool,
    limits: Limits,
    usage: Usage,
}

impl Program for Script {
    fn start(self: Arc<Self>, method: &str, payload: &[u8], limits: Limits, _: Option<&Profiler>) -> Box<dyn Engine> {
        let lines = self.0.get(method).cloned();
        let payload = payload.to_vec();
        Box::new(Run { lines, next: 0, answers: Vec::new(), payload, is_trying: false, limits, usage: Usage::default() })
    }

    fn footprint(&self) -> usize {
        0
    }
}

impl Engine for Run {
    fn take_printed(&mut self) -> String {
        String::new()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn charge(&mut self, cycles: u64, cells: u64, weight: u64) -> Result<(), Trap> {
        self.usage.cycles += cycles;
        self.usage.cells += cells;
        self.usage.weight_ns += weight;
        if self.usage.cycles > self.limits.cycles {
            self.usage.cycles = self.limits.cycles;
            return Err(Trap::OutOfCycles);
        }
        if self.usage.cells > self.limits.cells {
            self.usage.cells = self.limits.cells;
            return Err(Trap::OutOfCells);
        }
        if self.usage.weight_ns > self.limits.weight_ns { Err(Trap::OutOfWeight) } else { Ok(()) }
    }

    fn resume(&mut self, answer: Result<HostValue, HostError>) -> Exit {
        match answer {
            Ok(value) => self.answers.push(value),
            Err(error) if self.is_trying => self.answers.push(HostValue::Str(error.name.to_string())),
            Err(error) => return raise("pvm_host.HostError", &error.message, Some(error.code)),
        }
        self.run()
    }

    fn run(&mut self) -> Exit {
        let Some(lines) = self.lines.clone() else { return raise("cowboy_sdk.errors.UnknownHandlerError", "no such handler", None) };
        loop {
            if let Err(trap) = self.charge(10, 0, 0) {
                return Exit::Trap(trap);
            }
            let Some(words) = lines.get(self.next) else { return Exit::Return(HostValue::Bytes(Vec::new())) };
            self.next += 1;
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.is_trying = words[0] == "try";
            let words = if self.is_trying { &words[1..] } else { &words[..] };
            match words[0] {
                "burn" => {
                    if let Err(trap) = self.charge(words[1].parse().expect("a number"), 0, 0) {
                        return Exit::Trap(trap);
                    }
                    self.answers.push(HostValue::None);
                }
                "weigh" => {
                    if let Err(trap) = self.charge(0, 0, words[1].parse().expect("a number")) {
                        return Exit::Trap(trap);
                    }
                    self.answers.push(HostValue::None);
                }
                "return" => return Exit::Return(HostValue::Bytes(bytes_of(self.argument(words[1])))),
                "raise" => return raise("ValueError", "raised by the script", None),
                "trap" => return Exit::Trap(Trap::OutOfMemory),
                name => {
                    let args = words[1..].iter().map(|word| self.argument(word)).collect();
                    return Exit::HostCall(HostCall { function: function(name), args });
                }
            }
        }
    }
}

impl Run {
    fn argument(&self, word: &str) -> HostValue {
        if word == "none" {
            return HostValue::None;
        }
        if word == "$payload" {
            return HostValue::Bytes(self.payload.clone());
        }
        if word == "$last" {
            return self.answers.last().cloned().expect("an answer came before");
        }
        if let Some(place) = word.strip_prefix('$') {
            return self.answers[place.parse::<usize>().expect("a place")].clone();
        }
        if let Some(number) = word.strip_prefix('@') {
            let key = cowboy_types::signing::PrivateKey::from_bytes([number.parse().expect("an account"); 32]).expect("a key");
            return HostValue::Bytes(key.address().0.to_vec());
        }
        if let Some(digits) = word.strip_prefix("0x") {
            return HostValue::Bytes(hex(digits));
        }
        if let Some(text) = word.strip_prefix("b'") {
            return HostValue::Bytes(text.trim_end_matches('\'').as_bytes().to_vec());
        }
        if let Some(text) = word.strip_prefix('\'') {
            return HostValue::Str(text.trim_end_matches('\'').to_string());
        }
        HostValue::int(word.parse::<u64>().expect("a number"))
    }
}

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2).map(|place| u8::from_str_radix(&digits[2 * place..2 * place + 2], 16).expect("hex")).collect()
}

fn bytes_of(value: HostValue) -> Vec<u8> {
    match value {
        HostValue::Bytes(bytes) => bytes,
        HostValue::Str(text) => text.into_bytes(),
        other => format!("{other:?}").into_bytes(),
    }
}

fn raise(name: &str, message: &str, code: Option<u32>) -> Exit {
    Exit::Raise(PyError {
        type_name: name.to_string(),
        message: message.to_string(),
        traceback: vec!["Traceback (most recent call last):".to_string(), format!("{name}: {message}")],
        slug: None,
        code,
    })
}

fn function(name: &str) -> HostFn {
    match name {
        "context" => HostFn::Context,
        "self" => HostFn::SelfAddress,
        "height" => HostFn::CurrentBlock,
        "get" => HostFn::GetState,
        "set" => HostFn::SetState,
        "delete" => HostFn::DeleteState,
        "mark" => HostFn::SetReservedState,
        "scan" => HostFn::ScanStatePrefix,
        "owner" => HostFn::ActorOwner,
        "charge" => HostFn::ChargeGas,
        "emit" => HostFn::EmitEvent,
        "send" => HostFn::SendMessage,
        "call" => HostFn::CallActor,
        "pay" => HostFn::TransferBalance,
        "timer" => HostFn::ScheduleTimer,
        "timer_ex" => HostFn::ScheduleTimerEx,
        "extend" => HostFn::ExtendTimer,
        "cancel" => HostFn::CancelTimer,
        "interval" => HostFn::SetInterval,
        "resume" => HostFn::ResumeInterval,
        "random" => HostFn::Randomness,
        "random_at" => HostFn::RandomnessAt,
        "verify" => HostFn::VerifySignature,
        "recover" => HostFn::Recover,
        "grant" => HostFn::EntitlementParams,
        "spawn" => HostFn::SpawnActor,
        "balance" => HostFn::Balance,
        "defer" => HostFn::CreateDeferredTx,
        "job" => HostFn::SubmitJob,
        "blob" => HostFn::BlobCommit,
        "blob_read" => HostFn::BlobRead,
        "create_volume" => HostFn::CreateVolume,
        "delete_volume" => HostFn::DeleteVolume,
        "blob_ref" => HostFn::BlobRef,
        "upgrade" => HostFn::UpgradeSelf,
        "token_create" => HostFn::TokenCreate,
        "token_transfer" => HostFn::TokenTransfer,
        "token_approve" => HostFn::TokenApprove,
        "token_transfer_from" => HostFn::TokenTransferFrom,
        "token_mint" => HostFn::TokenMint,
        "token_burn" => HostFn::TokenBurn,
        "token_balance_of" => HostFn::TokenBalanceOf,
        "token_allowance" => HostFn::TokenAllowance,
        "token_total_supply" => HostFn::TokenTotalSupply,
        other => panic!("the script engine has no function {other}"),
    }
}
