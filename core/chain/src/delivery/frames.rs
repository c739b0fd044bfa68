//! Handlers under way: an explicit stack of engines, of which only the last runs (decision 134).

use super::meter::length;
use super::{Door, Machine, Stage, Step, call_trace};
use crate::engine::{Engine, Exception, Exit, HostError, HostValue, Image, Limits, PyError, Rules, Trap, Usage, abort_of_trap};
use crate::input::MAX_EXCEPTIONS;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::records::ActorStatus;
use cowboy_state::{Checkpoint, Miss, Stop};
use cowboy_system as system;
use cowboy_system::entitlements::lifecycle::Standings;
use cowboy_system::registry::Argument;
use cowboy_types::entitlement::Grants;
use cowboy_types::units::{Amount, Cycles};
use cowboy_types::{Abort, Address, error};
use std::sync::Arc;

/// The handler that runs in the creation of its actor and at no other time (decision 111).
const INIT_HANDLER: &str = "init";

/// What the caller of a handler gets when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gives {
    /// What the handler returned.
    Data,
    /// The address of the actor that it initialised.
    Address(Address),
}

/// A handler under way.
pub(crate) struct Frame {
    pub(super) actor: Address,
    pub(super) sender: Address,
    pub(super) value: Amount,
    pub(super) grants: Arc<Grants>,
    engine: Box<dyn Engine>,
    limits: Limits,
    /// What the engine waits for; nothing while it runs or while a handler that it called does.
    waits_for: Option<Exit>,
    /// What is undone when it fails.
    checkpoint: Checkpoint,
    /// Its place among the trace's calls.
    trace: usize,
    gives: Gives,
    /// Modelled execution time of starting it, for its caller to charge.
    pub(super) weight: u64,
    /// What the host refused last. Where the handler lets it through, its receipt says that and not merely that it raised.
    refused: Option<Abort>,
}

/// What the host's work costs besides the price of the host call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Price {
    pub(super) cycles: u64,
    pub(super) cells: u64,
    pub(super) weight: u64,
}

impl Price {
    pub(super) fn cycles(cycles: u64) -> Self {
        Self { cycles, ..Self::default() }
    }

    pub(super) fn weight(weight: u64) -> Self {
        Self { weight, ..Self::default() }
    }

    pub(super) fn with_cells(self, cells: u64) -> Self {
        Self { cells: self.cells.saturating_add(cells), ..self }
    }

    /// This price, and what a system actor's method cost.
    pub(super) fn with_work(self, work: system::Work) -> Self {
        self.with(Self { cycles: work.cycles, cells: work.cells, weight: work.weight })
    }

    /// The sum of two prices.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            cycles: self.cycles.saturating_add(other.cycles),
            cells: self.cells.saturating_add(other.cells),
            weight: self.weight.saturating_add(other.weight),
        }
    }
}

/// How the host answers.
pub(super) enum Reply {
    /// With a value.
    Value(HostValue, Price),
    /// With a refusal, which Python sees as HostError.
    Refuse(HostError, Price),
    /// With what another handler will return.
    Enter(Box<Frame>, Price),
}

impl Reply {
    pub(super) fn none(price: Price) -> Step<Self> {
        Ok(Self::Value(HostValue::None, price))
    }

    pub(super) fn bytes(bytes: impl Into<Vec<u8>>, price: Price) -> Step<Self> {
        Ok(Self::Value(HostValue::Bytes(bytes.into()), price))
    }

    /// Refuses for a row of the error table, with a sentence of a system actor's where there is one.
    pub(super) fn refuse_with(abort: Abort, explanation: Option<String>, price: Price) -> Step<Self> {
        let mut refusal = refusal(&abort);
        if let Some(explanation) = explanation {
            refusal.message = format!("{} {explanation}", refusal.message);
        }
        Ok(Self::Refuse(refusal, price))
    }

    /// Refuses for a row of the error table.
    pub(super) fn refuse(abort: Abort, price: Price) -> Step<Self> {
        Ok(Self::Refuse(refusal(&abort), price))
    }
}

/// A failure as Python sees it.
pub(super) fn refusal(abort: &Abort) -> HostError {
    let row = error::row(abort.code);
    HostError { code: row.class.code(), name: row.slug, message: format!("{} {} {}", row.what, row.why, row.fix) }
}

/// Everything needed to enter a handler.
pub(super) struct Entry<'a> {
    pub(super) sender: Address,
    pub(super) target: Address,
    pub(super) handler: &'a str,
    pub(super) payload: &'a [u8],
    pub(super) value: Amount,
    pub(super) limits: Limits,
    pub(super) gives: Gives,
}

/// A call of a system actor's method.
#[derive(Clone, Copy)]
pub(super) struct SystemCall<'a> {
    pub(super) sender: Address,
    pub(super) target: Address,
    pub(super) method: &'a str,
    pub(super) argument: Argument<'a>,
    pub(super) value: Amount,
}

/// What a system actor's method answered.
pub(super) struct SystemAnswer {
    /// Its answer, or why there is none.
    pub(super) result: Result<Vec<u8>, Abort>,
    /// What it costs, either way.
    pub(super) work: system::Work,
    /// Where the delivery continues instead.
    pub(super) forward: Option<system::Forward>,
    /// Whether the protocol waits for the message.
    pub(super) is_due: bool,
    /// The argument that was refused, where one was.
    pub(super) refused: Option<system::schema::Refused>,
    /// Why the call was refused, with numbers, where there are any.
    pub(super) explanation: Option<String>,
}

impl Machine {
    /// A handler's frame, its value moved already. Fails where no actor lives at the target, or it does not run.
    pub(super) fn frame(&mut self, entry: Entry<'_>, checkpoint: Checkpoint) -> Step<Frame> {
        let actor = self.world.actor(entry.target)?.ok_or(error::ACTOR_NOT_FOUND)?;
        match actor.status {
            ActorStatus::Active => {}
            ActorStatus::NonExecutable => return Err(error::ACTOR_NON_EXECUTABLE.into()),
            ActorStatus::Dormant => return Err(error::ACTOR_DORMANT.into()),
        }
        if entry.handler == INIT_HANDLER && entry.gives == Gives::Data {
            return Err(error::INIT_ONLY_ONCE.into());
        }
        let grants = self.grants(entry.target)?;
        if !Standings::read(&self.world)?.are_executable(&grants, self.environment.height) {
            return Err(error::ACTOR_NON_EXECUTABLE.into());
        }
        let image = self.image(&actor.code_hash)?;
        let weights = &self.environment.params.weights;
        let building = actor.code_bytes.0.saturating_mul(weights.source_byte).saturating_add(actor.body_weight.0);
        let building = if self.started.insert(actor.code_hash, ()) { building } else { 0 };
        let weight = weights.call.saturating_add(building);
        let depth = u32::try_from(self.running().frames.len()).expect("frames are few");
        let trace = self.running().calls.len();
        self.running().calls.push(call_trace(depth, entry.sender, entry.target, entry.handler, entry.value));
        self.running().parties.insert(entry.target, ());
        let engine = image.start(entry.handler, entry.payload, entry.limits);
        let Entry { sender, target, value, limits, gives, .. } = entry;
        Ok(Frame { actor: target, sender, value, grants, engine, limits, waits_for: None, checkpoint, trace, gives, weight, refused: None })
    }

    /// A code hash's image: out of the cache, or made again from source. Costs the same either way.
    fn image(&self, code_hash: &cowboy_types::Hash) -> Step<Image> {
        if let Some(image) = self.environment.images.get(code_hash) {
            return Ok(image);
        }
        let source = self.world.get(&cowboy_state::records::keys::code(code_hash))?.ok_or(error::UNAVAILABLE)?;
        let source = std::str::from_utf8(source).expect("source is stored as UTF-8");
        // It was paid for when it was deployed.
        let limits = self.body_limits(u64::MAX, u64::MAX, u64::MAX);
        let (image, _) = self.environment.images.build(source, limits).map_err(|_| Stop::Abort(error::INTERNAL))?;
        self.environment.images.put(*code_hash, image.clone());
        Ok(image)
    }

    /// Limits of a module body. A body runs again wherever its image is in no cache, so its bounds are those of genesis for ever: where
    /// governance could move them, the same source would give different images.
    pub(super) fn body_limits(&self, cycles: u64, cells: u64, weight_ns: u64) -> Limits {
        limits_by(&self.environment.chain.params, cycles, cells, weight_ns)
    }

    /// Limits of a run, with the chain's bounds of memory and recursion.
    pub(super) fn limits(&self, cycles: u64, cells: u64, weight_ns: u64) -> Limits {
        limits_by(&self.environment.params, cycles, cells, weight_ns)
    }

    /// The limits of the delivery's first handler: all that its meter has left.
    pub(super) fn outer_limits(&mut self) -> Limits {
        let meter = &self.running().meter;
        let (left, weight) = (meter.left(), meter.weight_left());
        self.limits(left.cycles.0, left.cells.0, weight)
    }

    /// Puts a handler on the stack.
    pub(super) fn push(&mut self, frame: Frame) {
        self.running().frames.push(frame);
        self.running().stage = Stage::Frames;
    }

    /// The handler that runs.
    pub(super) fn top(&mut self) -> &mut Frame {
        self.running().frames.last_mut().expect("a handler is under way")
    }

    /// Lets the last handler run, or answers what it waits for.
    pub(super) fn step_frames(&mut self) -> Result<(), Miss> {
        let frame = self.top();
        let exit = match frame.waits_for.take() {
            Some(exit) => exit,
            None => frame.engine.run(),
        };
        let call = match exit {
            Exit::Return(value) => {
                self.give(value);
                return Ok(());
            }
            Exit::Raise(error) => {
                let abort = abort_of(&error, self.top().refused.clone());
                self.leave(Err((abort, Some(exception_of(error)))));
                return Ok(());
            }
            Exit::Trap(trap) => {
                self.leave(Err((abort_of_trap(trap), None)));
                return Ok(());
            }
            Exit::HostCall(call) => call,
        };
        let answer = match self.answer(&call) {
            // Asked again once the records are there.
            Err(Stop::Miss(miss)) => {
                self.top().waits_for = Some(Exit::HostCall(call));
                return Err(miss);
            }
            Err(Stop::Abort(abort)) => Err(abort),
            Ok(reply) => Ok(reply),
        };
        let spent = self.take_spent();
        match answer {
            Ok(Reply::Value(value, price)) => self.resume(Ok(value), price.with(spent)),
            Ok(Reply::Refuse(refusal, price)) => {
                self.top().refused = error::by_slug(refusal.name);
                self.resume(Err(refusal), price.with(spent));
            }
            Ok(Reply::Enter(frame, price)) => match self.charge_top(price.with(spent).with(Price::weight(frame.weight))) {
                Ok(()) => self.push(*frame),
                Err(trap) => {
                    // It never ran.
                    self.running().calls.truncate(frame.trace);
                    self.leave(Err((abort_of_trap(trap), None)));
                }
            },
            // Nothing catches this in the handler itself: its caller sees a failed call.
            Err(abort) => {
                // Where too little was left, all of it is used, and why the handler ends is known already.
                let _ = self.charge_top(spent);
                self.leave(Err((abort, None)));
            }
        }
        Ok(())
    }

    fn charge_top(&mut self, price: Price) -> Result<(), Trap> {
        self.top().engine.charge(price.cycles, price.cells, price.weight)
    }

    /// Continues with an answer of the host. Whatever its function costs, the answer becomes objects of the actor's.
    fn resume(&mut self, answer: Result<HostValue, HostError>, price: Price) {
        let (values, bytes) = answer.as_ref().map_or_else(|refusal| (0, length(refusal.message.as_bytes())), HostValue::extent);
        let weights = &self.environment.params.weights;
        let making = values.saturating_mul(weights.answer_value).saturating_add(bytes.saturating_mul(weights.answer_byte));
        match self.charge_top(price.with(Price::weight(making))) {
            Err(trap) => self.leave(Err((abort_of_trap(trap), None))),
            Ok(()) => {
                let frame = self.top();
                frame.waits_for = Some(frame.engine.resume(answer));
            }
        }
    }

    /// The handler returned: its data is bounded, and paid for in cells (003 §4.1).
    fn give(&mut self, value: HostValue) {
        let data = match value {
            HostValue::Bytes(data) => data,
            HostValue::None => Vec::new(),
            _ => return self.leave(Err((error::INVALID_ARGUMENT, None))),
        };
        let size = u64::try_from(data.len()).unwrap_or(u64::MAX);
        // A query's answer is bound by what its asker takes (decision 127).
        let most = match self.running().envelope.door {
            Door::Block => self.environment.params.execution.return_bytes,
            Door::Query => self.environment.params.fees.block_cells,
        };
        if size > most {
            return self.leave(Err((error::RETURN_TOO_LARGE, None)));
        }
        match self.charge_top(Price::default().with_cells(size)) {
            Ok(()) => self.leave(Ok(data.into())),
            Err(trap) => self.leave(Err((abort_of_trap(trap), None))),
        }
    }

    /// Takes the last handler off the stack: books what it used, undoes what it did where it failed, and tells its caller.
    fn leave(&mut self, result: Result<Bytes, (Abort, Option<Exception>)>) {
        let mut frame = self.running().frames.pop().expect("a handler is under way");
        let used = frame.engine.usage();
        let mut printed = frame.engine.take_printed();
        let told_room = self.told_room;
        let running = self.running();
        printed.truncate(printed.floor_char_boundary(running.print_room.min(told_room)));
        running.print_room = running.print_room.saturating_sub(printed.len());
        let mut told = printed.len();
        let is_outer = running.frames.is_empty();
        let call = &mut running.calls[frame.trace];
        call.printed = printed;
        call.cycles_used = Cycles(used.cycles);
        if let Err((abort, exception)) = &result {
            call.abort = Some(abort.clone());
            let room = if is_outer { MAX_EXCEPTIONS } else { running.exception_room };
            call.exception = exception.as_ref().map(|exception| exception.cut(room.min(told_room.saturating_sub(told))));
            let bytes = call.exception.as_ref().map_or(0, Exception::size);
            running.exception_room = running.exception_room.saturating_sub(bytes);
            told += bytes;
        }
        self.told_room = told_room.saturating_sub(told);
        if result.is_err() {
            self.world.rollback(&frame.checkpoint);
        }
        if self.running().frames.is_empty() {
            return self.end_outer(used, frame.gives, result.map_err(|(abort, _)| abort));
        }
        let answer = match (result, frame.gives) {
            (Ok(data), Gives::Data) => Ok(HostValue::Bytes(data.to_vec())),
            (Ok(_), Gives::Address(address)) => Ok(HostValue::Bytes(address.0.to_vec())),
            (Err((abort, exception)), _) => Err(failed_call(&abort, exception)),
        };
        self.resume(answer, Price { cycles: used.cycles, cells: used.cells, weight: used.weight_ns });
    }

    fn end_outer(&mut self, used: Usage, gives: Gives, result: Result<Bytes, Abort>) {
        let charged = self.running().meter.charge(used.cycles, used.cells, used.weight_ns);
        let result = charged.and(result);
        if let (Ok(_), Gives::Address(address)) = (&result, gives) {
            self.running().created = Some(address);
        }
        self.running().stage = Stage::Ended(result);
    }

    /// Runs a method of a system actor on behalf of a sender, whose value the actor has already. What the method costs is
    /// answered whether it fails or not.
    pub(super) fn call_system(&mut self, call: SystemCall<'_>) -> Result<SystemAnswer, Miss> {
        let SystemCall { sender, target, method, argument, value } = call;
        let budget = self.budget();
        let mut context = self.system_context(sender);
        context.value = value;
        context.budget = budget;
        let result = match system::call(&mut context, target, method, argument) {
            Ok(data) => Ok(data),
            Err(Stop::Abort(abort)) => Err(abort),
            Err(Stop::Miss(miss)) => return Err(miss),
        };
        let (refused, explanation) = (context.refused, context.explanation);
        Ok(SystemAnswer { result, work: context.work, forward: context.forward, is_due: context.is_due, refused, explanation })
    }

    /// The frame of a handler that a system actor handed a request on to. It sees the system actor as who asks (004 §8.4).
    pub(super) fn forwarded(&mut self, from: Address, forward: &system::Forward, limits: Limits, checkpoint: Checkpoint) -> Step<Frame> {
        let entry = Entry {
            sender: from,
            target: forward.target,
            handler: forward.handler,
            payload: &forward.payload,
            value: Amount::ZERO,
            limits,
            gives: Gives::Data,
        };
        self.frame(entry, checkpoint)
    }

    /// What a handler may still use: its limits less what it used and what the step under way spent.
    pub(super) fn top_left(&mut self) -> Usage {
        let spent = self.running().spent;
        let frame = self.top();
        let used = frame.engine.usage();
        Usage {
            cycles: frame.limits.cycles.saturating_sub(used.cycles).saturating_sub(spent.cycles),
            cells: frame.limits.cells.saturating_sub(used.cells).saturating_sub(spent.cells),
            peak_memory: 0,
            weight_ns: frame.limits.weight_ns.saturating_sub(used.weight_ns).saturating_sub(spent.weight),
        }
    }
}

/// Limits of a run under these parameters.
fn limits_by(params: &Params, cycles: u64, cells: u64, weight_ns: u64) -> Limits {
    let (rows, costs) = (&params.execution, &params.costs);
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let rules = Rules {
        scratch_bytes: size(rows.scratch_bytes),
        sha256: size(costs.sha256),
        sha256_block: size(costs.sha256_block),
        keccak_word: size(costs.keccak_word),
    };
    Limits { cycles, cells, memory_bytes: size(rows.memory_per_call), recursion: size(rows.recursion_limit), weight_ns, rules }
}

/// A failed call as its caller sees it: the callee's own words, where it raised any.
fn failed_call(abort: &Abort, exception: Option<Exception>) -> HostError {
    let mut error = refusal(abort);
    if let Some(exception) = exception {
        error.message = format!("{}: {}", exception.name, exception.message);
    }
    error
}

fn exception_of(error: PyError) -> Exception {
    Exception { name: error.type_name, message: error.message, traceback: error.traceback }
}

/// The row of the error table for an exception that nobody caught: by its class, never by its words.
fn abort_of(error: &PyError, refused: Option<Abort>) -> Abort {
    match (error.type_name.as_str(), refused) {
        ("HostError" | "pvm_host.HostError", Some(abort)) => abort,
        ("cowboy_sdk.errors.UnknownHandlerError", _) => error::UNKNOWN_HANDLER,
        ("cowboy_sdk.errors.PermissionDeniedError", _) => error::PERMISSION_DENIED,
        ("DeterminismError" | "cowboy_sdk.errors.DeterminismError", _) => error::DETERMINISM,
        _ => error::HANDLER_RAISED,
    }
}
