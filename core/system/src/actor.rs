//! What every system actor is made of.

use crate::proposed::{Notice, ProposedCall};
use crate::protocol::{FIRST_VERSION, Rules};
use crate::schema::{EventRow, Field, Form, Record, Refused, Shape};
use crate::standstill::MARKET;
use bytes::Bytes;
use commonware_codec::EncodeSize;
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, ChainId, Height, TimestampMs};
use cowboy_types::{Abort, Address, Hash, actors, error};

/// What a method sees of the block and of who asks.
pub struct Context<'a> {
    /// The state.
    pub world: &'a mut World,
    /// The block's parameters.
    pub params: &'a Params,
    /// The parameters at genesis.
    pub genesis_params: &'a Params,
    /// Accounts that may use methods of the protocol itself.
    pub deployers: &'a [Address],
    /// The rules of the block's protocol version.
    pub rules: &'static Rules,
    /// Every system actor, ascending.
    pub actors: &'static [Actor],
    /// Numbers of the system actors that are paused in this block.
    pub paused: &'a [u8],
    /// The block's height.
    pub height: Height,
    /// The block's time.
    pub timestamp: TimestampMs,
    /// Whether the chain is one for development.
    pub is_dev: bool,
    /// The immediate caller.
    pub sender: Address,
    /// CBY that came along. The actor has them already.
    pub value: Amount,
    /// The delivery id, from which the ids of its jobs are derived.
    pub id: Hash,
    /// The parent beacon, and the round in which the block was proposed.
    pub draw: Draw,
    /// What the method costs beside the price of calling it.
    pub work: Work,
    /// What it may cost.
    pub budget: Work,
    /// The chain's id.
    pub chain_id: ChainId,
    /// The genesis hash, which no other chain has.
    pub genesis: Hash,
    /// Where the method passes the call: the delivery continues there, from the system actor, and returns its result.
    pub forward: Option<Forward>,
    /// Whether the protocol waits for this message: where it is a transaction that succeeds, what it burns is returned (decisions 145, 155).
    pub is_due: bool,
    /// The argument that was refused, where one was.
    pub refused: Option<Refused>,
    /// Why the call is refused, with the numbers that the error's row does not know, in a sentence; nothing where there are none.
    pub explanation: Option<String>,
}

/// A handler that runs in the place of what a system actor would answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The actor whose handler is called.
    pub target: Address,
    /// The handler's name.
    pub handler: &'static str,
    /// Its argument.
    pub payload: Vec<u8>,
    /// The most cycles that it may use; none means what is left.
    pub cycles: Option<u64>,
    /// What the target pays back of the transaction's base fees where the handler succeeds: base units, at most.
    pub repays: Option<Amount>,
}

/// The randomness that a method may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The parent beacon.
    pub beacon: Bytes,
    /// The epoch of the block's round.
    pub epoch: u64,
    /// Its view.
    pub view: u64,
}

/// What a method costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Compute.
    pub cycles: u64,
    /// Bytes.
    pub cells: u64,
    /// Modelled execution time, in ns.
    pub weight: u64,
}

/// Whether an address acts for governance on a chain with these system deployers.
pub(crate) fn governs(deployers: &[Address], address: Address) -> bool {
    address == Address::system(actors::GOVERNANCE) || deployers.contains(&address)
}

impl Context<'_> {
    /// Whether governance acts: its own address, when it executes a decision, or a system deployer.
    pub fn is_governance(&self) -> bool {
        self.governs(self.sender)
    }

    /// Whether an address acts for governance.
    pub(crate) fn governs(&self, address: Address) -> bool {
        governs(self.deployers, address)
    }

    /// Fails unless governance acts.
    pub fn require_governance(&self) -> Step<()> {
        if self.is_governance() { Ok(()) } else { Err(error::SYSTEM_UNAUTHORIZED.into()) }
    }

    /// Fails where a system actor is paused. The market is one: a pause of any of its actors stops all three (decision 320). Decisions of governance still
    /// reach them, so that they can repair them.
    pub fn require_running(&self, number: u8) -> Step<()> {
        let is_paused = self.paused.contains(&number) || MARKET.is_of(number) && MARKET.is_still(self.paused);
        let is_stopped = is_paused && self.sender != Address::system(actors::GOVERNANCE);
        if is_stopped { Err(error::SYSTEM_ACTOR_PAUSED.into()) } else { Ok(()) }
    }

    /// Fails where a system actor is paused that something will need which the sender asks of another one, and says which.
    pub(crate) fn require_needed(&mut self, number: u8) -> Step<()> {
        let checked = self.require_running(number);
        if checked.is_err() {
            self.explanation = Some(format!("It needs 0x{number:02X}, which is paused."));
        }
        checked
    }

    /// Refuses the argument, and notes which field of it.
    pub(crate) fn refuse(&mut self, refused: Refused) -> Abort {
        self.refused = Some(refused);
        error::INVALID_ARGUMENT
    }

    /// Fails where CBY came along: the method would keep them for nothing.
    fn require_no_value(&self) -> Step<()> {
        if self.value == Amount::ZERO { Ok(()) } else { Err(error::NOT_PAYABLE.into()) }
    }

    /// Adds to what the method costs.
    pub fn charge(&mut self, cycles: u64, weight: u64) {
        self.work.cycles = self.work.cycles.saturating_add(cycles);
        self.work.weight = self.work.weight.saturating_add(weight);
    }

    /// Adds the price of reading records of the protocol in a list that a method walks: as an actor pays for a key that it reads.
    pub fn charge_records(&mut self, records: usize) {
        let records = u64::try_from(records).unwrap_or(u64::MAX);
        self.charge(records.saturating_mul(self.params.costs.storage_read), records.saturating_mul(self.params.weights.record));
    }

    /// Adds to the cells that the method costs.
    pub fn charge_cells(&mut self, cells: u64) {
        self.work.cells = self.work.cells.saturating_add(cells);
    }

    /// Adds a cell for each byte of a record that an account has kept of itself, as for what an actor stores (003 §17.4; decision 439). Changing
    /// the record costs as much again.
    pub(crate) fn charge_kept(&mut self, record: &impl EncodeSize) {
        self.charge_cells(u64::try_from(record.encode_size()).unwrap_or(u64::MAX));
    }

    /// Adds to what the method costs before the work is done; fails where the delivery has less left than all that the method costs so far.
    pub fn spend(&mut self, cycles: u64, weight: u64) -> Step<()> {
        self.charge(cycles, weight);
        if self.work.cycles > self.budget.cycles {
            return Err(error::OUT_OF_CYCLES.into());
        }
        if self.work.cells > self.budget.cells {
            return Err(error::OUT_OF_CELLS.into());
        }
        if self.work.weight > self.budget.weight { Err(error::OUT_OF_TIME.into()) } else { Ok(()) }
    }

    /// Whether a registry with `count` entries has no room for one more. Where it has none, pays for the records that are read to find whose place a
    /// newcomer takes.
    pub(crate) fn is_full(&mut self, count: u64, most: u64, records: u64) -> Step<bool> {
        let is_full = count >= most;
        if is_full {
            self.charge_records(usize::try_from(records).unwrap_or(usize::MAX));
            self.spend(0, 0)?;
        }
        Ok(is_full)
    }

    /// Charges the modelled time of decoding `bytes` bytes of a record, before it is done.
    pub fn spend_reading(&mut self, bytes: usize) -> Step<()> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.spend(0, bytes.saturating_mul(self.params.weights.argument_byte))
    }
}

/// What becomes of the bytes of a method's argument whose number its sender chooses: those of texts, byte strings and lists (decision 752). A row with such
/// fields says it, unless the method is a view or governance alone may call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// The row does not say it.
    Unsaid,
    /// They stay in the state. A call pays a cell for each before its work.
    Kept,
    /// They stay in the state, and the handler charges the record that it writes; or the escrow of a job pays for as many as it may have.
    Priced,
    /// They are read, looked up or emitted, and do not stay.
    Passing,
}

/// A method of a system actor: a row of its table. Unless a row says otherwise, a method takes no CBY and everybody may call it.
#[derive(Clone, Copy)]
pub struct Method {
    /// Its name, as the specification spells it.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// Its arguments; none where its text describes them.
    pub arguments: &'static [Field],
    /// What it returns; any value where its text describes it.
    pub result: Shape,
    /// Whether it takes CBY.
    pub is_payable: bool,
    /// Whether governance alone may call it.
    pub is_governed: bool,
    /// Whether it only reads.
    pub is_view: bool,
    /// Whether a decision of tier 0 may call it; every other method is of tier 3, and of 0x09 no decision may call another (decision 179).
    pub is_routine: bool,
    /// Whether a registered service has to call it in time: it has the runners' lane then (decision 570).
    pub is_duty: bool,
    /// Whether its argument also has fields that the table does not declare. Callers give it as one map.
    pub is_open: bool,
    /// What becomes of the bytes of its argument.
    pub keeping: Keeping,
    /// The protocol version that introduced it.
    pub since: u8,
    /// Runs it.
    run: fn(&mut Context<'_>, &Value) -> Step<Value>,
}

/// Declares the methods of a system actor: for each its name, the struct of its arguments, its properties (see [`Method`]), the
/// type of its result, and the rows of `costs` with its cycles and cells, where it has some. The handler is the struct's [`Handle`]. Methods with the
/// same arguments wrap one form: `"name" Arguments(Form)`.
macro_rules! methods {
    (
        $(#[$about:meta])*
        $vis:vis $METHODS:ident by $number:path;
        $(
            $(#[doc = $doc:literal])+
            $name:literal $Arguments:ident [$($property:ident $(($value:literal))?),*] {
                $( $(#[doc = $field_doc:literal])+ $field:ident: $Type:ty $(= $default:expr)? ),* $(,)?
            } -> $Result:ty $([$cycles:ident $(, $cells:ident)?])?;
        )+
    ) => {
        $(
            $crate::schema::form! {
                $(#[doc = $doc])+
                pub(crate) struct $Arguments { $( $(#[doc = $field_doc])+ $field: $Type $(= $default)? ),* }
            }

            impl $crate::actor::Arguments for $Arguments {
                type Result = $Result;
                const ACTOR: u8 = $number;
                const METHOD: $crate::actor::Method = $crate::actor::Method::typed::<Self>($name, concat!($($doc),+)) $( .$property($($value)?) )*;

                fn charge(_context: &mut $crate::actor::Context<'_>) {
                    $(
                        _context.charge(_context.params.costs.$cycles, 0);
                        $( _context.charge_cells(_context.params.costs.$cells); )?
                    )?
                }
            }
        )+

        $(#[$about])*
        $vis const $METHODS: &[$crate::actor::Method] = &[ $( <$Arguments as $crate::actor::Arguments>::METHOD, )+ ];
    };
    (
        $(#[$about:meta])*
        $vis:vis $METHODS:ident by $number:path;
        $(
            $(#[doc = $doc:literal])+
            $name:literal $Arguments:ident($Form:ty) [$($property:ident $(($value:literal))?),*] -> $Result:ty;
        )+
    ) => {
        $(
            $crate::schema::form! {
                $(#[doc = $doc])+
                pub(crate) struct $Arguments($Form);
            }

            impl $crate::actor::Arguments for $Arguments {
                type Result = $Result;
                const ACTOR: u8 = $number;
                const METHOD: $crate::actor::Method = $crate::actor::Method::typed::<Self>($name, concat!($($doc),+)) $( .$property($($value)?) )*;

                fn charge(_context: &mut $crate::actor::Context<'_>) {}
            }
        )+

        $(#[$about])*
        $vis const $METHODS: &[$crate::actor::Method] = &[ $( <$Arguments as $crate::actor::Arguments>::METHOD, )+ ];
    };
}

pub(crate) use methods;

/// The arguments of a method.
pub(crate) trait Arguments: Record {
    /// What the method returns.
    type Result: Form;
    /// The number of the actor that has it.
    const ACTOR: u8;
    /// Its row.
    const METHOD: Method;

    /// Adds the rows of `costs` that the method costs.
    fn charge(context: &mut Context<'_>);
}

/// What a method does.
pub(crate) trait Handle: Arguments {
    /// Does it, for a sender that may.
    fn handle(self, context: &mut Context<'_>) -> Step<Self::Result>;

    /// Adds what a call costs, where the instruction that does the same has a price of its own; fails where the delivery has less than that left.
    fn charge_call(&self, _context: &mut Context<'_>) -> Step<()> {
        Ok(())
    }

    /// The same for an instruction, which needs no decoding, after the checks of every call.
    fn execute(self, context: &mut Context<'_>) -> Step<Self::Result> {
        context.require_running(Self::ACTOR)?;
        Self::METHOD.admit(context)?;
        Self::charge(context);
        self.handle(context)
    }
}

/// Reads the arguments, charges the rows of the method, and handles it.
fn run<M: Handle>(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    M::METHOD.charge_bytes(context, argument)?;
    let arguments = M::read(argument).map_err(|refused| context.refuse(refused))?;
    M::charge(context);
    arguments.charge_call(context)?;
    let answer = arguments.handle(context)?.write();
    // The protocol waits for what the table declares, and for nothing beside it (decision 781).
    context.is_due = context.is_due && !M::SHAPE.has_undeclared(argument);
    Ok(answer)
}

impl Method {
    /// A method with declared arguments.
    pub(crate) const fn typed<M: Handle>(name: &'static str, doc: &'static str) -> Self {
        Self { arguments: M::FIELDS, result: M::Result::SHAPE, ..Self::untyped(name, doc, run::<M>) }
    }

    /// A method whose handler reads its argument itself.
    pub(crate) const fn untyped(name: &'static str, doc: &'static str, run: fn(&mut Context<'_>, &Value) -> Step<Value>) -> Self {
        let (arguments, result): (&[Field], Shape) = (&[], Shape::Any);
        let (is_payable, is_governed, is_view, is_routine, is_duty, is_open) = (false, false, false, false, false, false);
        let (keeping, since) = (Keeping::Unsaid, FIRST_VERSION);
        Self { name, doc, arguments, result, is_payable, is_governed, is_view, is_routine, is_duty, is_open, keeping, since, run }
    }

    /// A later protocol version introduced it.
    pub(crate) const fn since(self, version: u8) -> Self {
        Self { since: version, ..self }
    }

    /// It takes CBY.
    pub(crate) const fn payable(self) -> Self {
        Self { is_payable: true, ..self }
    }

    /// Governance alone may call it.
    pub(crate) const fn governed(self) -> Self {
        Self { is_governed: true, ..self }
    }

    /// A decision of tier 0 may call it.
    pub(crate) const fn routine(self) -> Self {
        Self { is_routine: true, ..self }
    }

    /// A registered service has to call it in time.
    pub(crate) const fn duty(self) -> Self {
        Self { is_duty: true, ..self }
    }

    /// Its argument also has fields that the table does not declare.
    pub(crate) const fn open(self) -> Self {
        Self { is_open: true, ..self }
    }

    /// The bytes of its argument stay in the state, and each costs a cell.
    pub(crate) const fn kept(self) -> Self {
        Self { keeping: Keeping::Kept, ..self }
    }

    /// The bytes of its argument stay in the state, and its handler or the escrow of a job pays for them.
    pub(crate) const fn priced(self) -> Self {
        Self { keeping: Keeping::Priced, ..self }
    }

    /// The bytes of its argument do not stay.
    pub(crate) const fn passing(self) -> Self {
        Self { keeping: Keeping::Passing, ..self }
    }

    /// Adds a cell for each byte of an argument that stays in the state; fails where the delivery has fewer left. Of an open method all of it stays.
    fn charge_bytes(&self, context: &mut Context<'_>, argument: &Value) -> Step<()> {
        if self.keeping != Keeping::Kept {
            return Ok(());
        }
        let bytes = if self.is_open { argument.encode().len() } else { Shape::Map(self.arguments).variable_bytes(argument) };
        context.charge_cells(u64::try_from(bytes).unwrap_or(u64::MAX));
        context.spend(0, 0)
    }

    /// It only reads.
    pub(crate) const fn view(self) -> Self {
        Self { is_view: true, ..self }
    }

    /// Fails where the sender may not call it, or sent CBY that it does not take.
    pub(crate) fn admit(&self, context: &Context<'_>) -> Step<()> {
        if !self.is_payable {
            context.require_no_value()?;
        }
        if self.is_governed { context.require_governance() } else { Ok(()) }
    }

    /// Runs it, where the sender may and the argument has the declared shape. A view that changes anything fails.
    pub fn call(&self, context: &mut Context<'_>, argument: &Value) -> Step<Value> {
        self.admit(context)?;
        let checkpoint = context.world.checkpoint();
        let result = (self.run)(context, argument)?;
        let is_pure = context.world.checkpoint() == checkpoint && context.forward.is_none();
        if self.is_view && !is_pure { Err(error::INTERNAL.into()) } else { Ok(result) }
    }
}

/// What an actor does when a proposal that calls one of its methods was made, or is over. Answers whether it keeps something open for one that was made.
pub type Proposed = fn(&mut Context<'_>, ProposedCall<'_>, Notice) -> Result<bool, Miss>;

/// A system actor.
pub struct Actor {
    /// Its address's number.
    pub number: u8,
    /// Its name (003 §9).
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// The tables of its methods. Empty until its part of the protocol is built.
    pub tables: &'static [&'static [Method]],
    /// The tables of its events.
    pub events: &'static [&'static [EventRow]],
    /// Notes that a proposal calls one of its methods, and that it is over, where that matters to it.
    pub proposed: Option<Proposed>,
}

impl Actor {
    /// Its methods.
    pub fn methods(&self) -> impl Iterator<Item = &'static Method> + use<> {
        self.tables.iter().flat_map(|table| table.iter())
    }

    /// A method by its name.
    pub fn method(&self, name: &str) -> Option<&'static Method> {
        self.methods().find(|row| row.name == name)
    }

    /// A method by its name, where a protocol version has it.
    pub(crate) fn method_in(&self, version: u8, name: &str) -> Option<&'static Method> {
        self.method(name).filter(|row| row.since <= version)
    }
}
