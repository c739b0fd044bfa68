//! What a test may request from outside the VM: chains in memory, and which test it is.

use crate::{
    chain::{Chain, Genesis, KeptImages},
    deploy::Deployment,
    vm,
};
use bytes::Bytes;
use cowboy_api::{
    ApiError,
    model::Entitlement,
    source::{self, Asked, Format},
};
use cowboy_chain::{
    Outcome,
    engine::{Exception, Images},
    query::{QueryError, Question},
};
use cowboy_console::failure::Failure;
use cowboy_types::{
    Abort, Actor, Address, Amount, Blob, Cycles, Hash, Instruction, Receipt, Text, error as aborts, hash::keccak256, receipt::ReceiptKind,
};
use cowboy_vm::{HostCall, HostError, HostFn, HostValue, Profiler};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What the tests of a file share: what is expensive to make and never changes.
pub(crate) struct Shared {
    pub(crate) genesis: Genesis,
    pub(crate) images: Arc<KeptImages>,
    /// Who sees the cycles, where anybody does.
    pub(crate) profiler: Option<Profiler>,
}

/// What a test said about itself.
#[derive(Debug, Default)]
pub(crate) struct Said {
    /// Tests of the file with their rows, where that was asked.
    pub(crate) found: Vec<(String, Vec<String>)>,
    /// Why it does not run.
    pub(crate) skipped: Option<String>,
    /// Cycles of the VM when it began and ended.
    pub(crate) began: Option<u64>,
    pub(crate) ended: Option<u64>,
    /// Cycles of what it had done on its chains.
    pub(crate) chain_cycles: u64,
    /// What the last failure of an actor said, and its own traceback.
    pub(crate) failed: Option<(String, Vec<String>)>,
}

/// The answers to one run of a test file.
pub(crate) struct TestHost<'a> {
    shared: &'a Shared,
    /// The folder of the test file: paths of actors are read from there, or else from the folder that the command runs in.
    folder: &'a Path,
    wanted: Option<(&'a str, &'a str)>,
    chains: Vec<Running>,
    pub(crate) said: Said,
}

/// A chain of the test, with what happened on it.
struct Running {
    chain: Chain,
    events: Vec<HostValue>,
    failures: Vec<HostValue>,
    cycles: u64,
    deployed: u64,
    /// The source of each actor that the test deployed.
    sources: BTreeMap<Address, Deployed>,
}

/// An actor that a test deployed.
struct Deployed {
    code: String,
    grants: Vec<Entitlement>,
}

/// Why a question has no answer: the test is wrong, or what it asked for failed.
enum Refusal {
    Host(String),
    Failed(Abort, Option<Exception>),
    /// The same, with the entitlements that it is about.
    Explained(Abort, Option<Exception>, String),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Host(failure.to_string())
    }
}

impl Refusal {
    /// The same in the words of `explain`, where it has any.
    fn explained(self, explain: impl FnOnce(ApiError) -> ApiError) -> Self {
        let Self::Failed(abort, exception) = self else { return self };
        let plain = ApiError::of_abort(abort.clone());
        let error = explain(plain.clone());
        if error == plain {
            Self::Failed(abort, exception)
        } else {
            Self::Explained(abort, exception, format!("{} {}", error.what, error.fix))
        }
    }
}

type Answer = Result<HostValue, Refusal>;

impl<'a> TestHost<'a> {
    /// The host of a run that runs this test and row; none to list the tests.
    pub(crate) fn new(shared: &'a Shared, folder: &'a Path, wanted: Option<(&'a str, &'a str)>) -> Self {
        Self { shared, folder, wanted, chains: Vec::new(), said: Said::default() }
    }

    /// Answers a call of the host, made when the VM had used `cycles`.
    pub(crate) fn answer(&mut self, call: &HostCall, cycles: u64) -> Result<HostValue, HostError> {
        let (HostFn::CallActor, Some(HostValue::Str(verb)), Some(HostValue::List(arguments))) =
            (call.function, call.args.get(1), call.args.get(2))
        else {
            let message = format!("{:?} needs a chain: a test asks a cowboy_sdk.testing.Chain instead", call.function);
            return Err(vm::refusal(&aborts::UNAVAILABLE, message));
        };
        let answer = self.tell(verb, arguments, cycles).unwrap_or_else(|| self.ask(verb, &Arguments(arguments)));
        match answer {
            Ok(value) => Ok(map([("value", value)])),
            Err(Refusal::Failed(abort, exception)) => {
                self.said.failed = exception.clone().map(|exception| (exception.message, exception.traceback));
                Ok(map([("failure", failure(&abort, exception))]))
            }
            Err(Refusal::Explained(abort, exception, grants)) => {
                self.said.failed = exception.clone().map(|exception| (exception.message, exception.traceback));
                let exception = Exception { message: grants, ..exception.unwrap_or_default() };
                Ok(map([("failure", failure(&abort, Some(exception)))]))
            }
            Err(Refusal::Host(message)) => Err(vm::refusal(&aborts::INVALID_ARGUMENT, message)),
        }
    }

    /// What the runner inside says, and the one question that it has.
    fn tell(&mut self, verb: &str, arguments: &[HostValue], cycles: u64) -> Option<Answer> {
        match verb {
            "wanted" => {
                let wanted = self.wanted.map(|(name, case)| HostValue::List(vec![text(name), text(case)]));
                return Some(Ok(wanted.unwrap_or(HostValue::None)));
            }
            "found" => self.said.found = found(arguments.first()),
            "begin" => self.said.began = Some(cycles),
            "end" => self.said.ended = Some(cycles),
            "skipped" => self.said.skipped = arguments.first().and_then(HostValue::as_str).map(str::to_owned),
            _ => return None,
        }
        Some(Ok(HostValue::None))
    }

    fn ask(&mut self, verb: &str, arguments: &Arguments<'_>) -> Answer {
        if verb == "chain" {
            let chain = Chain::at(&self.shared.genesis, arguments.number(0)?, Arc::clone(&self.shared.images) as Arc<dyn Images>);
            self.chains.push(Running { chain, events: Vec::new(), failures: Vec::new(), cycles: 0, deployed: 0, sources: BTreeMap::new() });
            return Ok(HostValue::int(self.chains.len() - 1));
        }
        let index = usize::try_from(arguments.number(0)?).unwrap_or(usize::MAX);
        let Self { shared, folder, chains, said, .. } = self;
        let running = chains.get_mut(index).ok_or_else(|| Refusal::Host("there is no such chain".to_owned()))?;
        let answer =
            match verb {
                "fund" => running.chain.fund(arguments.address(1)?, arguments.amount(2)?).map(|()| HostValue::None).map_err(Refusal::from),
                "balance" => Ok(HostValue::int(running.chain.balance(arguments.address(1)?)?.get())),
                "height" => Ok(HostValue::int(running.chain.height())),
                "deploy" => running.deploy(shared, folder, arguments),
                "format" => Ok(text(running.format(folder, arguments)?)),
                "execute" => running.execute(arguments),
                "query" => running.query(arguments),
                "storage" => {
                    let kept = running.chain.storage(arguments.address(1)?)?;
                    Ok(list(kept.into_iter().map(|(key, value)| list([bytes(&key), bytes(&value)]))))
                }
                "events" => Ok(HostValue::List(running.events.clone())),
                "failures" => Ok(HostValue::List(running.failures.clone())),
                "cycles" => Ok(HostValue::int(running.cycles)),
                "jobs" => {
                    let waiting = running.chain.jobs()?;
                    Ok(list(waiting.into_iter().map(|job| {
                        map([("id", bytes(&job.id.0)), ("actor", bytes(&job.submitter.0)), ("payload", bytes(&job.submission))])
                    })))
                }
                "close" => running.close(arguments),
                "mine" => running.mine(arguments.number(1)?).map(HostValue::int),
                _ => Err(Refusal::Host(format!("a test cannot call {verb:?}"))),
            };
        if matches!(verb, "deploy" | "execute" | "query") {
            said.chain_cycles = said.chain_cycles.saturating_add(running.cycles);
        }
        answer
    }
}

impl Running {
    fn deploy(&mut self, shared: &Shared, folder: &Path, arguments: &Arguments<'_>) -> Answer {
        let given = arguments.text(1)?;
        let name = if given.contains('\n') { format!("actor {}", self.deployed + 1) } else { given.to_owned() };
        let mut deployment = deployment(given, folder)?;
        if let (Some((_, payload)), Some(given)) = (&mut deployment.init, arguments.0.get(3).and_then(HostValue::as_bytes)) {
            *payload = given.to_vec();
        }
        self.deployed += 1;
        deployment.salt = self.deployed.to_be_bytes().to_vec();
        deployment.endow(arguments.amount(4)?);
        if let Some(profiler) = &shared.profiler {
            let canonical = cowboy_chain::canonical_source(deployment.code.as_bytes());
            let code_hash = keccak256(&[canonical.as_deref().unwrap_or_default().as_bytes()]);
            shared.images.profile(code_hash, profiler.for_file(&name));
        }
        let outcome = self.chain.send_from(arguments.address(2)?, deployment.instruction()?, None)?;
        let receipt = self.note(&outcome).map_err(|refusal| refusal.explained(|error| deployment.explain(error)))?;
        let actor = receipt.created.ok_or_else(|| Refusal::Host("the deployment created no actor".to_owned()))?;
        self.sources.insert(actor, Deployed { grants: deployment.grants(), code: deployment.code });
        Ok(bytes(&actor.0))
    }

    /// How a handler's payload is written: of an actor by its address, or of a source that a test is about to deploy.
    fn format(&self, folder: &Path, arguments: &Arguments<'_>) -> Result<&'static str, Refusal> {
        let handler = arguments.text(2)?;
        let format = match arguments.0.get(1) {
            Some(HostValue::Str(given)) => source::format(&deployment(given, folder)?.code, handler),
            // An actor that another one made: its source is not at hand.
            _ => self.sources.get(&arguments.address(1)?).map_or(Format::Cbor, |actor| source::format(&actor.code, handler)),
        };
        Ok(match format {
            Format::Cbor => "cbor",
            Format::Json => "json",
            Format::Raw => "raw",
        })
    }

    fn execute(&mut self, arguments: &Arguments<'_>) -> Answer {
        let (target, value) = (arguments.address(1)?, arguments.amount(5)?);
        let execute = Actor::Execute {
            target,
            handler: Text::new(arguments.text(2)?.to_owned()).ok_or_else(|| too_long("the handler's name"))?,
            payload: Blob::new(arguments.bytes(3)?.to_vec()).ok_or_else(|| too_long("the payload"))?,
            value,
        };
        let outcome = self.chain.send_from(arguments.address(4)?, Instruction::Actor(execute), None)?;
        let receipt = self.note(&outcome).map_err(|refusal| {
            let Some(Deployed { code, grants }) = self.sources.get(&target) else { return refusal };
            let asked = Asked { source: code, granted: grants, value: value.get() };
            refusal.explained(|error| source::explain_missing(error, asked))
        })?;
        Ok(bytes(&receipt.return_data))
    }

    fn query(&mut self, arguments: &Arguments<'_>) -> Answer {
        let answer = self.chain.query(Question {
            target: arguments.address(1)?,
            handler: arguments.text(2)?.to_owned(),
            payload: Bytes::copy_from_slice(arguments.bytes(3)?),
            cycles_limit: Some(Cycles(u64::MAX)),
        });
        self.cycles = answer.cycles_used.get();
        match answer.result {
            Ok(found) => Ok(bytes(&found)),
            Err(QueryError::Failed { abort, exception }) => Err(Refusal::Failed(abort, exception)),
            Err(other) => Err(Refusal::Host(other.to_string())),
        }
    }

    fn close(&mut self, arguments: &Arguments<'_>) -> Answer {
        let id = arguments.at(1, "32 bytes", |value| Some(Hash(value.as_bytes()?.try_into().ok()?)))?;
        if self.chain.close_job(&id)? {
            return Ok(HostValue::None);
        }
        Err(Refusal::Host("the job already has an outcome, or does not exist".to_owned()))
    }

    /// Makes one block, at the first of the next `blocks` heights that has something to do, or else at the last. Answers how many heights
    /// that took.
    fn mine(&mut self, blocks: u64) -> Result<u64, Refusal> {
        let before = self.chain.height();
        self.cycles = 0;
        self.chain.skip(blocks.saturating_sub(1))?;
        let outcome = self.chain.block(Vec::new())?;
        self.keep(&outcome)?;
        Ok(self.chain.height().saturating_sub(before))
    }

    /// Keeps what a block brought, and answers the receipt of its transaction.
    fn note(&mut self, outcome: &Outcome) -> Result<Receipt, Refusal> {
        self.keep(outcome)?;
        let place = outcome.receipts.iter().position(|receipt| receipt.kind == ReceiptKind::Transaction);
        let receipt = place.and_then(|place| outcome.receipts.get(place)).cloned();
        let receipt = receipt.ok_or_else(|| Refusal::Host("the block has no receipt of the transaction".to_owned()))?;
        self.cycles = receipt.cycles_used.get();
        match &receipt.abort {
            Some(abort) => {
                let exception = place.and_then(|place| exception(outcome, place));
                Err(Refusal::Failed(abort.clone(), exception))
            }
            None => Ok(receipt),
        }
    }

    fn keep(&mut self, outcome: &Outcome) -> Result<(), Refusal> {
        self.chain.hold_jobs()?;
        for (place, receipt) in outcome.receipts.iter().enumerate() {
            let events = receipt.events.iter();
            self.events.extend(events.map(|event| list([bytes(&event.emitter.0), text(&event.name), bytes(&event.data)])));
            if let Some(abort) = receipt.abort.as_ref().filter(|_| receipt.kind != ReceiptKind::Transaction) {
                let fact = failure(abort, exception(outcome, place));
                self.failures.push(list([bytes(&receipt.target.0), text(&receipt.handler), fact]));
            }
        }
        Ok(())
    }
}

/// The deployment of a source that stands in the test itself, or in a file beside it or where the command runs.
fn deployment(given: &str, folder: &Path) -> Result<Deployment, Refusal> {
    if given.contains('\n') {
        return Ok(Deployment::of(given.to_owned()));
    }
    let beside = folder.join(given);
    let path = if beside.is_file() { beside } else { PathBuf::from(given) };
    if !path.is_file() {
        return Err(Refusal::Host(format!("there is no {given} in {}, nor in the current folder", folder.display())));
    }
    Ok(Deployment::of_file(&path, None)?)
}

/// The exception behind a receipt that failed: the innermost that nobody caught.
fn exception(outcome: &Outcome, place: usize) -> Option<Exception> {
    outcome.traces.get(place)?.calls.first()?.exception.clone()
}

fn too_long(what: &str) -> Refusal {
    Refusal::Host(format!("{what} is too long for a transaction"))
}

/// What went wrong, for `cowboy_sdk.testing`.
fn failure(abort: &Abort, exception: Option<Exception>) -> HostValue {
    let slug = aborts::row(abort.code).slug;
    let Exception { name, message, traceback } = exception.unwrap_or_default();
    let message = if name.is_empty() { ApiError::of_abort(abort.clone()).what } else { message };
    map([
        ("name", text(&name)),
        ("message", text(&message)),
        ("slug", text(slug)),
        ("trace", list(traceback.iter().map(|line| text(line)))),
    ])
}

fn found(rows: Option<&HostValue>) -> Vec<(String, Vec<String>)> {
    let Some(HostValue::List(rows)) = rows else { return Vec::new() };
    let row = |row: &HostValue| match row {
        HostValue::List(parts) => match parts.as_slice() {
            [HostValue::Str(name), HostValue::List(cases)] => {
                Some((name.clone(), cases.iter().filter_map(HostValue::as_str).map(str::to_owned).collect()))
            }
            _ => None,
        },
        _ => None,
    };
    rows.iter().filter_map(row).collect()
}

fn text(text: &str) -> HostValue {
    HostValue::Str(text.to_owned())
}

fn bytes(bytes: &[u8]) -> HostValue {
    HostValue::Bytes(bytes.to_vec())
}

fn list(items: impl IntoIterator<Item = HostValue>) -> HostValue {
    HostValue::List(items.into_iter().collect())
}

fn map<const N: usize>(pairs: [(&str, HostValue); N]) -> HostValue {
    HostValue::Map(pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
}

/// The arguments of a question, each of the kind that it has to be.
struct Arguments<'a>(&'a [HostValue]);

impl Arguments<'_> {
    fn at<T>(&self, index: usize, kind: &str, read: impl Fn(&HostValue) -> Option<T>) -> Result<T, Refusal> {
        self.0.get(index).and_then(read).ok_or_else(|| Refusal::Host(format!("argument {index} must be {kind}: {:?}", self.0.get(index))))
    }

    fn number(&self, index: usize) -> Result<u64, Refusal> {
        self.at(index, "a number of 64 bits", HostValue::as_u64)
    }

    fn amount(&self, index: usize) -> Result<Amount, Refusal> {
        self.number(index).map(Amount)
    }

    fn text(&self, index: usize) -> Result<&str, Refusal> {
        self.0.get(index).and_then(HostValue::as_str).ok_or_else(|| Refusal::Host(format!("argument {index} must be text")))
    }

    fn bytes(&self, index: usize) -> Result<&[u8], Refusal> {
        self.0.get(index).and_then(HostValue::as_bytes).ok_or_else(|| Refusal::Host(format!("argument {index} must be bytes")))
    }

    fn address(&self, index: usize) -> Result<Address, Refusal> {
        self.at(index, "20 bytes", |value| Some(Address(value.as_bytes()?.try_into().ok()?)))
    }
}
