//! What every system actor is made of.

use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, ChainId, Height, TimestampMs};
use cowboy_types::{Address, Blob, Event, Hash, Text, actors, error};

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
    /// Modelled execution time, in ns.
    pub weight: u64,
}

impl Context<'_> {
    /// Whether governance acts: its own address, when it executes a decision, or a system deployer.
    pub fn is_governance(&self) -> bool {
        self.sender == Address::system(actors::GOVERNANCE) || self.deployers.contains(&self.sender)
    }

    /// Fails unless governance acts.
    pub fn require_governance(&self) -> Step<()> {
        if self.is_governance() { Ok(()) } else { Err(error::SYSTEM_UNAUTHORIZED.into()) }
    }

    /// Fails where a system actor is paused. Decisions of governance still reach it, so that they can repair it.
    pub fn require_running(&self, number: u8) -> Step<()> {
        let is_stopped = self.paused.contains(&number) && self.sender != Address::system(actors::GOVERNANCE);
        if is_stopped { Err(error::SYSTEM_ACTOR_PAUSED.into()) } else { Ok(()) }
    }

    /// Fails where CBY came along: the method would keep them for nothing.
    pub fn require_no_value(&self) -> Step<()> {
        if self.value == Amount::ZERO { Ok(()) } else { Err(error::NOT_PAYABLE.into()) }
    }

    /// Adds to what the method costs.
    pub fn charge(&mut self, cycles: u64, weight: u64) {
        self.work.cycles = self.work.cycles.saturating_add(cycles);
        self.work.weight = self.work.weight.saturating_add(weight);
    }

    /// Adds to what the method costs before the work is done; fails where the delivery has less than that left.
    pub fn spend(&mut self, cycles: u64, weight: u64) -> Step<()> {
        self.charge(cycles, weight);
        if self.work.cycles > self.budget.cycles {
            return Err(error::OUT_OF_CYCLES.into());
        }
        if self.work.weight > self.budget.weight { Err(error::OUT_OF_TIME.into()) } else { Ok(()) }
    }

    /// Emits an event as a system actor.
    pub fn announce(&mut self, number: u8, name: &'static str, data: &Value) {
        announce(self.world, number, name, data);
    }
}

/// Emits an event as a system actor.
pub fn announce(world: &mut World, number: u8, name: &'static str, data: &Value) {
    let event = Event {
        emitter: Address::system(number),
        name: Text::new(name).expect("event names of the protocol are short"),
        data: Blob::new(data.encode()).expect("events of the protocol are short"),
    };
    world.announce(event);
}

/// A method of a system actor.
#[derive(Clone, Copy)]
pub struct Method {
    /// Its name, as the specification spells it.
    pub name: &'static str,
    /// What it does, what it takes and what it answers.
    pub doc: &'static str,
    /// Does it.
    pub run: fn(&mut Context<'_>, &Value) -> Step<Value>,
}

/// A system actor.
pub struct Actor {
    /// Its address's number.
    pub number: u8,
    /// Its name (003 §9).
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// What it can be asked. Empty until its part of the protocol is built.
    pub methods: &'static [Method],
}

/// A 32-byte id among the arguments.
pub(crate) fn hash_argument(argument: &Value, name: &str) -> Step<cowboy_types::Hash> {
    let bytes = argument.get(name).and_then(Value::as_bytes).ok_or(error::INVALID_ARGUMENT)?;
    Ok(cowboy_types::Hash(bytes.try_into().map_err(|_| error::INVALID_ARGUMENT)?))
}

/// An address among the arguments.
pub(crate) fn address_argument(argument: &Value, name: &str) -> Step<Address> {
    let bytes = argument.get(name).and_then(Value::as_bytes).ok_or(error::INVALID_ARGUMENT)?;
    Ok(Address(bytes.try_into().map_err(|_| error::INVALID_ARGUMENT)?))
}

/// An amount of CBY among the arguments, in base units.
pub(crate) fn amount_argument(argument: &Value, name: &str) -> Step<Amount> {
    number_argument(argument, name).map(Amount)
}

/// A number among the arguments.
pub(crate) fn number_argument(argument: &Value, name: &str) -> Step<u64> {
    Ok(argument.get(name).and_then(Value::as_u64).ok_or(error::INVALID_ARGUMENT)?)
}
