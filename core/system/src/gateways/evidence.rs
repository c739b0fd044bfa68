//! What proves that a gateway cheated (004 §12.2).
//!
//! A client that is told "accepted" may ask for the signed transaction, and can then submit it itself: a gateway cannot
//! withhold it. It could only make it worthless, by signing another request under the same nonce. That is provable. A transaction says the number of its
//! chain, which another one may have as well; its request's id says the genesis hash, so that nothing that was signed elsewhere counts (decision 765).
//!
//! Answers to GET are signed too (decision 327). Two of one gateway that contradict each other prove by themselves that one is
//! false. Whether a single one is false takes the handler and the state of that block; whoever has them shows it to the
//! validators, who decide. The gateway's stake waits for that (decision 761).

use super::answers::{ANSWER_VERSION, SignedAnswer};
use super::api::{Dispatch, JudgeAnswer, Moved, Punished, Report, ReportAnswers, Slashed};
use super::envelope::request_id;
use super::types::Hold;
use super::{DISPATCH, NUMBER, state};
use crate::actor::{Arguments as _, Context, Handle};
use crate::proposed::{Notice, ProposedCall};
use crate::schema::{Emit, Form};
use commonware_codec::DecodeExt as _;
use cowboy_state::{Key, Miss, Step};
use cowboy_types::cbor::{self, Value};
use cowboy_types::instruction::{Actor, Instruction};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Transaction, error, signing};

/// A dispatch on this chain that somebody signed.
fn dispatch(context: &Context<'_>, bytes: &[u8]) -> Step<Transaction> {
    let transaction = Transaction::from_bytes(bytes).map_err(|_| error::BAD_EVIDENCE)?;
    signing::verify(&transaction).map_err(|_| error::BAD_EVIDENCE)?;
    if transaction.chain_id != context.chain_id {
        return Err(error::BAD_EVIDENCE.into());
    }
    let Instruction::Actor(Actor::Execute { target, handler, payload, .. }) = &transaction.instruction else {
        return Err(error::BAD_EVIDENCE.into());
    };
    if *target != Address::system(NUMBER) || &handler[..] != DISPATCH {
        return Err(error::BAD_EVIDENCE.into());
    }
    let argument = cbor::decode(payload).map_err(|_| error::BAD_EVIDENCE)?;
    let Dispatch { target, envelope, salt } = Dispatch::read(&argument).map_err(|_| error::BAD_EVIDENCE)?;
    let id = request_id(context.genesis, transaction.from, target, &salt.0);
    if envelope.get("request_id").and_then(Value::as_text) != Some(id.as_str()) {
        return Err(error::BAD_EVIDENCE.into());
    }
    Ok(transaction)
}

impl Handle for Report {
    fn handle(self, context: &mut Context<'_>) -> Step<Punished> {
        charge(context, 2);
        let first = dispatch(context, &self.first)?;
        let second = dispatch(context, &self.second)?;
        // The same request under other prices is a replacement, and no fault. Another one under the same id is none (decision 765).
        if (first.from, first.nonce) != (second.from, second.nonce) || first.instruction == second.instruction {
            return Err(error::BAD_EVIDENCE.into());
        }
        slash(context, first.from, state::fault_key(first.from, first.nonce.0))
    }
}

/// An answer that a gateway signed about this chain, and whose it is.
fn answer(context: &Context<'_>, bytes: &[u8]) -> Step<(SignedAnswer, Address)> {
    let signed = SignedAnswer::decode(bytes.to_vec()).map_err(|_| error::BAD_EVIDENCE)?;
    let is_evidence = signed.statement.genesis == context.genesis && signed.statement.version == ANSWER_VERSION;
    let signer = signed.signer().filter(|_| is_evidence).ok_or(error::BAD_EVIDENCE)?;
    Ok((signed, signer))
}

impl Handle for ReportAnswers {
    fn handle(self, context: &mut Context<'_>) -> Step<Punished> {
        charge(context, 2);
        let (first, signer) = answer(context, &self.first)?;
        let (second, other) = answer(context, &self.second)?;
        if signer != other || !first.statement.contradicts(&second.statement) {
            return Err(error::BAD_EVIDENCE.into());
        }
        slash(context, signer, state::answer_fault_key(signer, first.statement.height))
    }
}

impl Handle for JudgeAnswer {
    fn handle(self, context: &mut Context<'_>) -> Step<Punished> {
        charge(context, 1);
        let (signed, signer) = answer(context, &self.answer)?;
        slash(context, signer, state::answer_fault_key(signer, signed.statement.height))
    }
}

/// A proposal that judges an answer was made, or is over. In between, and no longer than until it would take effect, its gateway withdraws no stake. Answers
/// whether that is so.
pub(super) fn proposed(context: &mut Context<'_>, call: ProposedCall<'_>, notice: Notice) -> Result<bool, Miss> {
    if call.method != JudgeAnswer::METHOD.name {
        return Ok(false);
    }
    charge(context, 1);
    let Ok(argument) = cbor::decode(call.argument) else { return Ok(false) };
    let Ok(JudgeAnswer { answer: bytes }) = JudgeAnswer::read(&argument) else { return Ok(false) };
    let Ok((signed, gateway)) = answer(context, &bytes) else { return Ok(false) };
    match notice {
        Notice::Made(until) => hold(context, gateway, signed.statement.height, Hold { proposal: call.proposal, until }),
        Notice::Over => state::release(context.world, gateway, call.proposal).map(|()| false),
    }
}

/// Has a gateway's stake wait for a proposal about what it said of a height. Answers whether it does: stake answers for what was said at most
/// `gateways.unstake_delay` blocks ago, and once for each height.
fn hold(context: &mut Context<'_>, gateway: Address, height: Height, hold: Hold) -> Result<bool, Miss> {
    let is_recent = (height.0..=height.0.saturating_add(context.params.gateways.unstake_delay)).contains(&context.height.0);
    let fault = state::answer_fault_key(gateway, height);
    context.world.require([&state::gateway_key(gateway), &state::held_key(gateway), &fault])?;
    if !is_recent || state::gateway(context.world, gateway)?.is_none() || context.world.get(&fault)?.is_some() {
        return Ok(false);
    }
    state::hold(context.world, gateway, hold)?;
    Ok(true)
}

/// The price of evidence with `signatures` of them: what an actor pays for checking each itself.
fn charge(context: &mut Context<'_>, signatures: u64) {
    let (cycles, weight) = (context.params.costs.verify_secp256k1, context.params.weights.evidence);
    context.charge(cycles.saturating_mul(signatures), weight.saturating_mul(signatures));
}

/// Burns the part of a gateway's stake that governance set, once for each key. Refused where nothing is left to burn, so that the stakes that were ever put
/// down bound the records (decision 751).
fn slash(context: &mut Context<'_>, gateway: Address, key: Key) -> Step<Punished> {
    let mut record = state::gateway(context.world, gateway)?.ok_or(error::GATEWAY_UNKNOWN)?;
    if context.world.get(&key)?.is_some() {
        return Err(error::BAD_EVIDENCE.into());
    }
    let slashed = u128::from(record.stake.0) * u128::from(context.params.gateways.slash) / 10_000;
    let slashed = Amount(u64::try_from(slashed).expect("a part of a stake fits"));
    if slashed == Amount::ZERO {
        return Err(error::BAD_EVIDENCE.into());
    }
    record.count_uptime(context.params, context.height);
    record.stake = record.stake.saturating_sub(slashed);
    assert!(context.world.debit(state::stakes(), slashed)?, "every stake is there");
    context.world.burn(slashed)?;
    context.world.write(key, &context.height);
    state::set_gateway(context.world, gateway, &record);
    Slashed(Moved { amount: slashed, gateway }).emit(context.world);
    Ok(Punished { slashed })
}
