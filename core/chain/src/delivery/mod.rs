//! The one verb: an envelope goes in, and what came of it comes out.
//!
//! A transaction, a message, a timer, a bidding agent's question and a job's callback all become an [`Envelope`] and pass through
//! [`Machine`], which meters, runs, catches and rolls back. What the envelope's payer owes is the business of [`crate::execution`].

mod deploy;
mod frames;
mod host;
mod instructions;
mod meter;
mod spending;

use crate::admit::SignedTransaction;
use crate::engine::{Exception, Images};
use crate::fees::Used;
use crate::input::{CallTrace, ChainConfig, Change, MAX_CHANGES, MAX_EXCEPTIONS, MAX_PRINTED, MAX_TOLD, Sourced, Trace};
use crate::journal::{Journaled, Map, Set, attempt, by_value, journaled};
use crate::resume::Records;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::records::{Account, Actor, keys};
use cowboy_state::{Checkpoint, Key, Kind, Miss, Step, Stop, World};
use cowboy_system::Rules;
use cowboy_system::entitlements::needs::Requests;
use cowboy_types::entitlement::Grants;
use cowboy_types::instruction::{Custom, Instruction, System};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Cycles, Height, TimestampMs};
use cowboy_types::{Abort, Address, Event, Hash, error, keccak256};
pub use deploy::{canonical_source, padded_salt};
use frames::{Frame, Price};
pub(crate) use host::mailbox_bytes;
pub use host::message_id;
pub(crate) use meter::Meter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The facts of a block that a delivery may see.
#[derive(Clone)]
pub(crate) struct Environment {
    pub(crate) chain: Arc<ChainConfig>,
    pub(crate) params: Arc<Params>,
    /// The rules of the block's protocol version.
    pub(crate) rules: &'static Rules,
    pub(crate) deployers: Vec<Address>,
    /// Numbers of the system actors that are paused in this block, ascending.
    pub(crate) paused: Vec<u8>,
    pub(crate) height: Height,
    pub(crate) timestamp: TimestampMs,
    pub(crate) beacon: Bytes,
    /// The absolute round whose seed the beacon is; zero where it is an epoch's or genesis' own value.
    pub(crate) round: (u64, u64),
    /// The round in which the block was proposed.
    pub(crate) proposed: (u64, u64),
    pub(crate) images: Arc<dyn Images>,
}

/// How much a delivery may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// Everything.
    Block,
    /// Reading only (004 §8.3.1).
    Query,
}

/// What an envelope asks for.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// What a signed transaction says.
    Instruction(Instruction),
    /// A handler of an address. The value was taken from its owner before.
    Handler { target: Address, handler: String, payload: Bytes, value: Amount },
}

/// One thing to deliver.
#[derive(Clone, Debug)]
pub(crate) struct Envelope {
    /// The receipt's id.
    pub(crate) id: Hash,
    pub(crate) kind: ReceiptKind,
    /// The transaction or timer where it began.
    pub(crate) origin: Hash,
    /// The delivery that sent it; zero for none.
    pub(crate) parent: Hash,
    /// How many messages led to it.
    pub(crate) depth: u64,
    /// Messages that its origin enqueued before.
    pub(crate) sent_before: u64,
    /// The immediate caller.
    pub(crate) sender: Address,
    pub(crate) work: Work,
    /// What it may use, intrinsic costs included.
    pub(crate) limits: Used,
    /// What it costs before it runs.
    pub(crate) intrinsic: Used,
    /// How much it may.
    pub(crate) door: Door,
    /// Why it fails before it runs: its receipt is due all the same.
    pub(crate) failure: Option<Abort>,
}

impl Envelope {
    /// The first delivery of an origin, without intrinsic costs.
    pub(crate) fn new(kind: ReceiptKind, (origin, id): (Hash, Hash), sender: Address, work: Work, limits: Used) -> Self {
        let (parent, depth, sent_before, intrinsic) = (Hash::ZERO, 0, 0, Used::default());
        Self { id, kind, origin, parent, depth, sent_before, sender, work, limits, intrinsic, door: Door::Block, failure: None }
    }

    /// A signed transaction's envelope.
    pub(crate) fn of_transaction(signed: &SignedTransaction, intrinsic: Used) -> Self {
        let transaction = signed.transaction();
        let work = Work::Instruction(transaction.instruction.clone());
        let limits = Used { cycles: transaction.cycles_limit, cells: transaction.cells_limit };
        let ids = (*signed.digest(), *signed.digest());
        Self { intrinsic, ..Self::new(ReceiptKind::Transaction, ids, transaction.from, work, limits) }
    }
}

/// What came of an envelope.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) envelope: Envelope,
    pub(crate) target: Address,
    pub(crate) handler: String,
    pub(crate) value: Amount,
    pub(crate) result: Result<Bytes, Abort>,
    pub(crate) created: Option<Address>,
    pub(crate) used: Used,
    pub(crate) weight: u64,
    pub(crate) events: Vec<Event>,
    /// Messages it enqueued; none where it failed.
    pub(crate) sent: u64,
    /// CBY that dev instructions made and destroyed.
    pub(crate) minted: Amount,
    pub(crate) burned: Amount,
    pub(crate) trace: Trace,
    /// The host function that a query may not call, where one was called.
    pub(crate) side_effect: Option<String>,
    /// The actor that pays back what the transaction burns, and how much at most; none where it failed.
    pub(crate) repays: Option<(Address, Amount)>,
    /// Whether the protocol waited for the message; not where it failed.
    pub(crate) is_due: bool,
}

/// How far a running delivery is.
#[derive(Clone, Debug)]
pub(crate) enum Stage {
    /// Nothing happened yet.
    Start,
    /// Handlers are under way.
    Frames,
    /// It is over; the result stands, the books are open.
    Ended(Result<Bytes, Abort>),
    /// It failed and what it did is undone; what it noted for this case is still to be deleted.
    Undone(Abort),
}

by_value!(Stage, Price, Meter);

journaled! {
    /// A delivery under way.
    pub(crate) struct Running {
        kept {
            envelope: Envelope,
            target: Address,
            handler: String,
            value: Amount,
            start: Checkpoint,
        }
        undone {
            meter: Meter,
            stage: Stage,
            frames: Vec<Frame>,
            created: Option<Address>,
            minted: Amount,
            burned: Amount,
            calls: Vec<CallTrace>,
            /// Bytes of further prints that the trace keeps.
            print_room: usize,
            /// Bytes of further exceptions that it keeps, without the one that ends the delivery.
            exception_room: usize,
            /// What the step under way spent before its work; nothing between steps.
            spent: Price,
            /// Actors whose manifests the delivery has read, and paid for.
            manifests: Set<Address>,
            /// Who takes part: actors whose handlers began, and those to whom the delivery sent CBY itself.
            parties: Set<Address>,
            side_effect: Option<String>,
            repays: Option<(Address, Amount)>,
            is_due: bool,
            /// Entries of the outermost handler's storage that go even if it fails.
            deletions: Vec<Key>,
            /// Requests to runners, by the actor that made them: quotas of an execution count them (000 §9.12).
            requests: Map<Address, Requests>,
        }
    }
}

impl Journaled for Option<Running> {
    type Mark = Option<<Running as Journaled>::Mark>;

    fn mark(&self) -> Self::Mark {
        self.as_ref().map(Journaled::mark)
    }

    fn undo(&mut self, mark: Self::Mark) {
        match (self, mark) {
            (Some(running), Some(mark)) => running.undo(mark),
            (running, None) => *running = None,
            (None, Some(_)) => unreachable!("the step that ends a delivery misses nothing"),
        }
    }
}

journaled! {
    /// Runs deliveries over a world, one at a time.
    pub(crate) struct Machine {
        kept {
            pub(crate) environment: Environment,
            /// What the manifests grant that were read in this block, beside their bytes: each is decoded once.
            granted: BTreeMap<Address, (Bytes, Arc<Grants>)>,
        }
        undone {
            pub(crate) world: World,
            running: Option<Running>,
            /// Bytes of further prints and exceptions that the block's traces keep.
            told_room: usize,
            /// Code that ran in this block. Its first run counts the weight of compiling it, whatever a cache holds.
            started: Set<Hash>,
            /// CBY that dev instructions of the block's earlier transactions made.
            pub(crate) minted: Amount,
        }
    }
}

impl Machine {
    pub(crate) fn new(world: World, environment: Environment) -> Self {
        Self {
            world,
            environment,
            running: None,
            told_room: MAX_TOLD,
            started: Set::default(),
            granted: BTreeMap::new(),
            minted: Amount::ZERO,
        }
    }

    /// Takes records that were asked for.
    pub(crate) fn fill(&mut self, records: Records) {
        for (key, stored) in records {
            self.world.fill(&key, stored);
        }
    }

    /// Forgets everything but what was fetched.
    pub(crate) fn restart(&mut self) {
        self.world.rollback_all();
        self.started = Set::default();
        self.told_room = MAX_TOLD;
        self.minted = Amount::ZERO;
    }

    /// Whether a delivery is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.running.is_some()
    }

    /// The id of the delivery under way, where one is.
    pub(crate) fn under_way(&self) -> Option<Hash> {
        self.running.as_ref().map(|running| running.envelope.id)
    }

    /// Takes an envelope. One at a time.
    pub(crate) fn begin(&mut self, envelope: Envelope) {
        assert!(self.running.is_none(), "deliveries run one after the other");
        self.world.begin_delivery();
        let (target, handler, value) = describe(&envelope.work);
        let meter = Meter::new(envelope.limits, self.environment.params.execution.delivery_weight);
        let start = self.world.checkpoint();
        let stage = envelope.failure.clone().map_or(Stage::Start, |abort| Stage::Ended(Err(abort)));
        self.running = Some(Running {
            envelope,
            target,
            handler,
            value,
            start,
            meter,
            stage,
            frames: Vec::new(),
            created: None,
            minted: Amount::ZERO,
            burned: Amount::ZERO,
            calls: Vec::new(),
            print_room: MAX_PRINTED,
            exception_room: MAX_EXCEPTIONS,
            spent: Price::default(),
            manifests: Set::default(),
            parties: Set::default(),
            side_effect: None,
            repays: None,
            is_due: false,
            deletions: Vec::new(),
            requests: Map::default(),
        });
    }

    /// Goes one step further. Answers what came of the delivery when it is over. A miss changes nothing.
    pub(crate) fn step(&mut self) -> Result<Option<Delivered>, Miss> {
        attempt(self, Self::proceed)
    }

    fn proceed(&mut self) -> Result<Option<Delivered>, Miss> {
        let running = self.running.as_ref().expect("a step needs a delivery");
        match &running.stage {
            Stage::Start => self.catch(Self::start).map(|()| None),
            Stage::Frames => self.step_frames().map(|()| None),
            Stage::Ended(Ok(_)) => {
                self.catch(Self::require_holders)?;
                let is_over = matches!(self.running().stage, Stage::Ended(Ok(_)));
                Ok(is_over.then(|| self.finish()))
            }
            Stage::Ended(Err(abort)) if !running.deletions.is_empty() => {
                let abort = abort.clone();
                let start = running.start;
                self.world.rollback(&start);
                self.running().stage = Stage::Undone(abort);
                Ok(None)
            }
            Stage::Ended(Err(_)) => Ok(Some(self.finish())),
            Stage::Undone(_) => self.delete_noted().map(|()| Some(self.finish())),
        }
    }

    /// Fails where an actor that takes part would keep CBY which it had not before and may not hold (000 §9.7, A-105). What a system actor gives back to
    /// others, such as the bond of a demand that is answered, fails nobody's delivery because of what they may hold (decision 731).
    fn require_holders(&mut self) -> Step<()> {
        let running = self.running.as_ref().expect("a step needs a delivery");
        let (sender, parties) = (running.envelope.sender, running.parties.entries().clone());
        for (address, before) in self.world.accounts_since(&running.start) {
            let before = before.map_or(Amount::ZERO, |bytes| decode_account(&bytes).balance);
            if self.world.account(address)?.balance <= before
                || address != sender && !parties.contains_key(&address)
                || cowboy_system::registry::at(address).is_some()
                || self.world.actor(address)?.is_none()
            {
                continue;
            }
            if self.grants(address)?.get("econ.hold_balance").is_none() {
                return Err(self.unheld().into());
            }
        }
        Ok(())
    }

    /// Why a delivery fails that leaves an actor with CBY which it may not hold: who only pays is told that it cannot be paid, who
    /// runs a handler that the grant is missing (000 §9.7, §11).
    fn unheld(&self) -> Abort {
        let running = self.running.as_ref().expect("a step needs a delivery");
        let is_payment = matches!(
            running.envelope.work,
            Work::Instruction(Instruction::System(System::Transfer { .. }) | Instruction::Custom(Custom::SetBalance { .. }))
        );
        if is_payment { error::BAD_RECIPIENT } else { error::MISSING_ENTITLEMENT }
    }

    /// Runs a step whose failure ends the delivery.
    fn catch(&mut self, step: impl FnOnce(&mut Self) -> Step<()>) -> Result<(), Miss> {
        match step(self) {
            Ok(()) => {}
            Err(Stop::Abort(abort)) => self.running().stage = Stage::Ended(Err(abort)),
            Err(Stop::Miss(miss)) => return Err(miss),
        }
        self.running().spent = Price::default();
        Ok(())
    }

    fn running(&mut self) -> &mut Running {
        self.running.as_mut().expect("a step needs a delivery")
    }

    /// The actors whose code is another one than at the checkpoint, with their sources.
    fn sources_since(&self, checkpoint: &Checkpoint) -> Vec<Sourced> {
        let code = |record: Option<Bytes>| record.map(|record| decode_actor(&record).code_hash);
        let changed = self.world.changes_since(checkpoint, &[Kind::Actor], MAX_CHANGES).into_iter();
        let replaced = changed.filter_map(|(key, before, after)| {
            let (before, after) = (code(before), code(after)?);
            // Whoever wrote the record also read the code.
            let source = (before != Some(after)).then(|| self.world.get(&keys::code(&after)).ok().flatten().cloned())??;
            Some(Sourced { actor: key.address, source })
        });
        replaced.collect()
    }

    /// Ends the delivery: undoes what it did where it failed or only asked, and hands out what came of it.
    fn finish(&mut self) -> Delivered {
        let running = self.running.take().expect("a step needs a delivery");
        let result = match running.stage {
            Stage::Ended(result) => {
                if result.is_err() || running.envelope.door == Door::Query {
                    self.world.rollback(&running.start);
                }
                result
            }
            Stage::Undone(abort) => Err(abort),
            Stage::Start | Stage::Frames => unreachable!("only an ended delivery is finished"),
        };
        let is_done = result.is_ok();
        let changes = self.world.changes_since(&running.start, &[Kind::Storage, Kind::Account], MAX_CHANGES);
        let sources = self.sources_since(&running.start);
        let (events, sent) = (self.world.take_events(), self.world.take_messages());
        let payload = match &running.envelope.work {
            Work::Handler { payload, .. } => payload.clone(),
            Work::Instruction(_) => Bytes::new(),
        };
        let trace = Trace {
            payload,
            id: running.envelope.id,
            kind: running.envelope.kind.clone(),
            origin: running.envelope.origin,
            parent: running.envelope.parent,
            calls: running.calls,
            sent,
            changes: changes.into_iter().map(|(key, before, after)| Change { key, before, after }).collect(),
            sources,
        };
        Delivered {
            target: running.target,
            handler: running.handler,
            value: running.value,
            result,
            created: running.created.filter(|_| is_done),
            used: running.meter.used(),
            weight: running.meter.weight(),
            events,
            sent: u64::try_from(trace.sent.len()).expect("messages are few"),
            minted: if is_done { running.minted } else { Amount::ZERO },
            burned: if is_done { running.burned } else { Amount::ZERO },
            trace,
            side_effect: running.side_effect,
            repays: running.repays.filter(|_| is_done),
            is_due: running.is_due && is_done,
            envelope: running.envelope,
        }
    }
}

/// Who is asked, for which handler, and what goes along.
fn describe(work: &Work) -> (Address, String, Amount) {
    match work {
        Work::Handler { target, handler, value, .. } => (*target, handler.clone(), *value),
        Work::Instruction(instruction) => instructions::describe(instruction),
    }
}

/// The trace of a handler that has not run yet.
fn call_trace(depth: u32, sender: Address, target: Address, handler: &str, value: Amount) -> CallTrace {
    CallTrace {
        depth,
        sender,
        target,
        handler: handler.to_string(),
        value,
        cycles_used: Cycles::ZERO,
        abort: None,
        exception: None::<Exception>,
        printed: String::new(),
    }
}

fn decode_account(bytes: &Bytes) -> Account {
    commonware_codec::DecodeExt::decode(bytes.clone()).expect("the state holds only records that this code wrote")
}

fn decode_actor(bytes: &Bytes) -> Actor {
    commonware_codec::DecodeExt::decode(bytes.clone()).expect("the state holds only records that this code wrote")
}

/// The id of the receipt of what follows from an origin: keccak256(origin ‖ be32(index)) (decision 125).
pub fn nested_id(origin: &Hash, index: u64) -> Hash {
    let index = u32::try_from(index).expect("an origin sends fewer than 2^32 messages");
    keccak256(&[&origin.0, &index.to_be_bytes()])
}
