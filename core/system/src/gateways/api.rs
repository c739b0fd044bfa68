//! The methods and events of 0x0F.

use super::NUMBER;
use crate::actor::methods;
use crate::endpoint::ENDPOINT_BYTES;
use crate::schema::{events, form};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, Text};

form! {
    /// A gateway (004 §9.2).
    pub(crate) struct Described {
        /// Its address.
        address: Address,
        /// Where it is reached: a host name or an address.
        endpoint: Text<ENDPOINT_BYTES>,
        /// What is left of its health: full at a heartbeat, one less each block.
        health: u64,
        /// The port of its web server.
        http_port: u16,
        /// Whether it may dispatch.
        is_active: bool,
        /// The height of its newest heartbeat.
        last_heartbeat: Height,
        /// The height from which its stake is free; null unless it leaves.
        leaving: Option<Height>,
        /// The height at which it registered.
        registered_at: Height,
        /// Base units of CBY that it staked.
        stake_amount: Amount,
    }
}

form! {
    /// A gateway that leaves.
    pub(crate) struct Leaving {
        /// Base units of CBY that were paid out.
        released: Amount,
        /// The height from which its stake is free.
        until: Height,
    }
}

form! {
    /// A gateway that was punished.
    pub(crate) struct Punished {
        /// Base units of CBY that were burned.
        slashed: Amount,
    }
}

form! {
    /// A gateway, and an amount.
    pub(crate) struct Moved {
        /// Base units of CBY: the stake, or what was moved.
        amount: Amount,
        /// The gateway.
        gateway: Address,
    }
}

methods! {
    /// What 0x0F is asked.
    pub(super) METHODS by NUMBER;

    /// Registers the sender, with the stake as value.
    "register_gateway" Register [payable, priced] {
        /// Where it is reached: a host name or an IPv6 address.
        endpoint: String,
        /// The port of its web server.
        http_port: u64,
    } -> Described;

    /// Says that the sender is up; its health is full again.
    "heartbeat" Heartbeat [] {} -> ();

    /// Says where the sender is reached.
    "set_endpoint" SetEndpoint [priced] {
        /// A host name or an IPv6 address.
        endpoint: String,
        /// The port of its web server.
        http_port: u64,
    } -> ();

    /// Stakes the value, too.
    "add_stake" AddStake [payable] {} -> ();

    /// Takes out of the sender's stake what it has above the least, to pay fees with.
    "draw" Draw [] {
        /// Base units of CBY.
        amount: Amount,
    } -> ();

    /// Leaves. The stake is paid when it is asked for again `gateways.unstake_delay` blocks after the sender became inactive.
    "unstake" Unstake [] {} -> Leaving;

    /// Delivers a request to an actor's `http.request`, from this registry, and returns what the handler returned. Active gateways only.
    "dispatch" Dispatch [passing] {
        /// The actor.
        target: Address,
        /// The request: who may not dispatch is refused before it is looked at. Its id is the UUID v4 of the first 16 bytes of keccak256("cowboy-request:" ‖ genesis hash ‖ sender ‖ target ‖ salt).
        envelope: Value = Value::Null,
        /// What the request's id is made of.
        salt: Hash,
    } -> Value;

    /// Returns whether a gateway is registered and active.
    "is_active_gateway" IsActiveGateway [view] {
        /// The gateway.
        address: Address,
    } -> bool;

    /// Returns a gateway; null where none is registered.
    "get_gateway" GetGateway [view] {
        /// The gateway.
        address: Address,
    } -> Option<Described>;

    /// Shows two dispatches for this chain that one gateway signed under one nonce, so that one of them could never run. Anybody may.
    "report" Report [passing] {
        /// A signed transaction.
        first: Vec<u8>,
        /// Another one.
        second: Vec<u8>,
    } -> Punished;

    /// Shows two answers to GET that one gateway signed and that cannot both be true. Anybody may; one fault for each height.
    "report_answers" ReportAnswers [passing] {
        /// A signed answer.
        first: Vec<u8>,
        /// Another one.
        second: Vec<u8>,
    } -> Punished;

    /// Shows an answer to GET that a gateway signed and that governance found to be false.
    "judge_answer" JudgeAnswer [governed] {
        /// A signed answer.
        answer: Vec<u8>,
    } -> Punished;
}

events! {
    /// What 0x0F emits.
    pub(super) EVENTS by NUMBER;

    /// A gateway was registered; the amount is its stake.
    "gateway.registered" Registered(Moved)

    /// A gateway is reached elsewhere; the amount is its stake.
    "gateway.moved" EndpointSet(Moved)

    /// A gateway staked more; the amount is its stake.
    "gateway.staked" Staked(Moved)

    /// A gateway took CBY out of its stake.
    "gateway.drew" Drew(Moved)

    /// A gateway leaves; the amount is its stake.
    "gateway.leaving" LeavingBegun(Moved)

    /// A gateway left, and was paid its stake.
    "gateway.left" Left(Moved)

    /// A gateway was punished; the amount was burned.
    "gateway.slashed" Slashed(Moved)

    /// A gateway was paid its share of the pool.
    "gateway.paid" Paid(Moved)

    /// An actor paid a gateway the base fees of a command.
    "gateway.repaid" Repaid {
        /// The actor.
        actor: Address,
        /// Base units of CBY.
        amount: Amount,
        /// The gateway.
        gateway: Address,
    }

    /// A request is delivered.
    "http.dispatched" Dispatched {
        /// The gateway.
        gateway: Address,
        /// The HTTP method.
        method: Text<16>,
        /// The request's id.
        request_id: Text<36>,
        /// The actor.
        target: Address,
    }
}
