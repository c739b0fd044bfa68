//! What the unit tests of commands share: a transaction, and commands that count in the budgets of one client.

use crate::{
    budgets::{Agreed, Payers},
    config,
    limits::Limits,
    requests::Sent,
};
use cowboy_params::Params;
use cowboy_serve::{Permit, Slots};
use cowboy_system::{gateways::envelope::request_id, requests};
use cowboy_types::{
    Actor, Address, Blob, Cells, Cycles, Hash, Instruction, System, Text, Transaction,
    cbor::Value,
    signing::PrivateKey,
    units::{Amount, ChainId, Nonce, Price},
};
use std::net::IpAddr;

/// The genesis hash of the chain whose commands they are.
pub(crate) const GENESIS: Hash = Hash([5; 32]);

/// The cycles that a command counts as.
const CYCLES: u64 = 1_000_000;

/// A transfer to the sender itself.
pub(crate) fn transaction(nonce: u64, amount: u64, fee: u64) -> Transaction {
    let key = PrivateKey::from_bytes([7; 32]).expect("a key");
    Transaction {
        chain_id: ChainId(1),
        nonce: Nonce(nonce),
        instruction: Instruction::System(System::Transfer { to: key.address(), amount: Amount(amount) }),
        cycles_limit: Cycles(0),
        cells_limit: Cells(0),
        max_fee_per_cycle: Price(fee),
        max_fee_per_cell: Price(0),
        max_priority_fee_per_cycle: Price(0),
        max_priority_fee_per_cell: Price(0),
        from: key.address(),
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Default::default(),
        additional_signers: Default::default(),
    }
}

/// A command with this salt, whose client sent this header.
pub(crate) fn dispatch(salt: u8, header: &str) -> Transaction {
    let (unsigned, target, salt) = (transaction(0, 0, 0), Address([1; 20]), [salt; 32]);
    let id = request_id(GENESIS, unsigned.from, target, &salt);
    let envelope = Value::map([("headers", Value::text(header)), ("request_id", Value::text(id))]);
    let request = requests::dispatch(target, envelope, Hash(salt));
    let instruction = Instruction::Actor(Actor::Execute {
        target: Address::system(request.actor),
        handler: Text::new(request.method).expect("methods have short names"),
        payload: Blob::new(request.argument.encode()).expect("it is short"),
        value: Amount::ZERO,
    });
    Transaction { instruction, ..unsigned }
}

/// Limits under which a client has a budget for `commands` commands.
pub(crate) fn limits(commands: u64) -> Limits {
    let settings = config::Limits { client_cycles_per_hour: commands * CYCLES, ..config::Limits::default() };
    Limits::new(&settings, &Params::GENESIS)
}

/// One command of the client, where its budget has room.
pub(crate) fn agree(limits: &Limits) -> Option<Agreed> {
    let payers = Payers::new(IpAddr::from([10, 0, 1, 1]), "a", Address([1; 20]));
    limits.agree(&Params::GENESIS, payers, (Cycles(CYCLES), Cells(0))).ok()
}

/// How many commands of the client its budget has room for.
pub(crate) fn room(limits: &Limits) -> usize {
    let all: Vec<Agreed> = std::iter::from_fn(|| agree(limits)).collect();
    all.len()
}

/// A place among the commands under way.
pub(crate) fn place() -> Permit {
    Slots::new(1).take(IpAddr::from([10, 0, 1, 1]), 1).expect("nobody has it")
}

/// A command with this request id.
pub(crate) fn command(limits: &Limits, id: &str) -> Option<Sent> {
    let agreed = agree(limits).expect("the budget has room");
    Some(Sent { id: id.into(), target: Address([1; 20]), at: 1, agreed, _place: place() })
}
