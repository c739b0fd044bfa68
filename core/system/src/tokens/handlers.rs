//! What 0x06 does with tokens.

use super::state::{self, Token};
use crate::actor::{Context, Forward};
use crate::basefee::NUMBER;
use crate::entitlements::check;
use crate::reader::Reader;
use cowboy_state::{Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::permission::{Action, Scope};
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Abort, Address, Hash, error};

/// The handler of a hook: {token_id, operator, from, to, amount}. What it fails on does not happen.
pub const HOOK: &str = "on_token_transfer";

/// The most places behind the point.
const MOST_DECIMALS: u64 = 38;

fn invalid() -> Abort {
    error::INVALID_ARGUMENT
}

/// A number of tokens as an argument: a whole number, or 16 bytes, big-endian, where it is too large for one.
fn amount_of(reader: &Reader<'_>, name: &str) -> Result<u128, Abort> {
    match reader.get(name) {
        Some(Value::Integer(number)) => u128::try_from(*number).map_err(|_| invalid()),
        Some(Value::Bytes(bytes)) => Ok(u128::from_be_bytes(bytes[..].try_into().map_err(|_| invalid())?)),
        _ => Err(invalid()),
    }
}

/// A number of tokens as an answer, in the same forms.
pub fn number(amount: u128) -> Value {
    u64::try_from(amount).map_or_else(|_| Value::Bytes(amount.to_be_bytes().to_vec()), Value::uint)
}

fn bytes(hash: &Hash) -> Value {
    Value::Bytes(hash.0.to_vec())
}

fn address(address: Address) -> Value {
    Value::Bytes(address.0.to_vec())
}

pub(super) fn create(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let optional = |name: &str, default: u128| if reader.get(name).is_some() { amount_of(&reader, name) } else { Ok(default) };
    let (initial, most) = (optional("initial_supply", 0)?, optional("max_supply", u128::MAX)?);
    let decimals = reader.number_or("decimals", 9)?;
    let token = Token {
        owner: context.sender,
        name: reader.bounded_text("name")?,
        symbol: reader.bounded_text("symbol")?,
        decimals: u8::try_from(decimals).map_err(|_| invalid())?,
        supply: initial,
        max_supply: most,
        hook: if reader.get("hook").is_some() { Some(reader.address("hook")?) } else { None },
        metadata_uri: reader.bounded_text("metadata_uri")?,
        created_at: context.height,
    };
    if token.name.is_empty() || token.symbol.is_empty() || decimals > MOST_DECIMALS || initial > most {
        return Err(invalid().into());
    }
    context.charge(context.params.costs.token_create, 0);
    let sender = context.sender;
    let number_made = state::made(context.world, sender)?;
    let id = state::token_id(sender, number_made);
    state::tokens().insert(context.world, &id.0)?;
    context.world.write(state::made_key(sender), &Count(number_made.saturating_add(1)));
    context.world.write(state::token_key(&id), &token);
    if initial > 0 {
        state::set_units(context.world, state::balance_key(&id, sender), initial);
    }
    announce(context, "TokenCreated", &id, [("owner", address(sender)), ("supply", number(initial))]);
    Ok(bytes(&id))
}

/// Moves tokens from one account to another.
fn shift(world: &mut World, id: &Hash, from: Address, to: Address, amount: u128) -> Step<()> {
    let (source, target) = (state::balance_key(id, from), state::balance_key(id, to));
    world.require([&source, &target])?;
    let left = state::units(world, &source)?.checked_sub(amount).ok_or(error::TOKEN_BALANCE)?;
    state::set_units(world, source, left);
    // All of a token fit a number, and so does what one account has.
    let there = state::units(world, &target)?.saturating_add(amount);
    state::set_units(world, target, there);
    Ok(())
}

/// Moves tokens, emits the event, and calls the hook.
fn hand_over(context: &mut Context<'_>, id: &Hash, token: &Token, from: Address, to: Address, amount: u128) -> Step<Value> {
    shift(context.world, id, from, to, amount)?;
    announce(context, "TokenTransferred", id, [("from", address(from)), ("to", address(to)), ("amount", number(amount))]);
    if let Some(hook) = token.hook {
        let payload = Value::dict([
            ("token_id", bytes(id)),
            ("operator", address(context.sender)),
            ("from", address(from)),
            ("to", address(to)),
            ("amount", number(amount)),
        ]);
        let cycles = Some(context.params.costs.token_hook);
        context.forward = Some(Forward { target: hook, handler: HOOK, payload: payload.encode(), cycles, repays: None });
    }
    Ok(Value::Null)
}

pub(super) fn transfer(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (id, to, amount) = (reader.hash("token_id")?, reader.address("to")?, amount_of(&reader, "amount")?);
    context.charge(context.params.costs.token_transfer, 0);
    let token = state::read(context.world, &id)?;
    let from = context.sender;
    hand_over(context, &id, &token, from, to, amount)
}

pub(super) fn transfer_from(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (id, from, to) = (reader.hash("token_id")?, reader.address("owner")?, reader.address("to")?);
    let amount = amount_of(&reader, "amount")?;
    context.charge(context.params.costs.token_transfer_from, 0);
    let token = state::read(context.world, &id)?;
    let key = state::allowance_key(&id, from, context.sender);
    let left = state::units(context.world, &key)?.checked_sub(amount).ok_or(error::TOKEN_ALLOWANCE)?;
    state::set_units(context.world, key, left);
    hand_over(context, &id, &token, from, to, amount)
}

pub(super) fn approve(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (id, spender, amount) = (reader.hash("token_id")?, reader.address("spender")?, amount_of(&reader, "amount")?);
    context.charge(context.params.costs.token_approve, 0);
    state::read(context.world, &id)?;
    let (owner, key) = (context.sender, state::allowance_key(&id, context.sender, spender));
    context.world.require([&key])?;
    state::set_units(context.world, key, amount);
    announce(context, "TokenApproved", &id, [("owner", address(owner)), ("spender", address(spender)), ("amount", number(amount))]);
    Ok(Value::Null)
}

pub(super) fn mint(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (id, to, amount) = (reader.hash("token_id")?, reader.address("to")?, amount_of(&reader, "amount")?);
    context.charge(context.params.costs.token_mint, 0);
    let mut token = state::read(context.world, &id)?;
    // The owner may; the Entitlement Registry is a way beside it, not in its place (002 §7.6).
    if token.owner != context.sender {
        let minter = std::mem::replace(&mut context.sender, token.owner);
        let units = Amount(u64::try_from(amount).unwrap_or(u64::MAX));
        let used = check::consume(context, minter, &Scope::Token { token: id }, &Action::TokenMint, units);
        context.sender = minter;
        used?;
    }
    token.supply = token.supply.checked_add(amount).filter(|supply| *supply <= token.max_supply).ok_or(error::TOKEN_SUPPLY)?;
    let key = state::balance_key(&id, to);
    let there = state::units(context.world, &key)?.saturating_add(amount);
    state::set_units(context.world, key, there);
    context.world.write(state::token_key(&id), &token);
    announce(context, "TokenMinted", &id, [("to", address(to)), ("amount", number(amount)), ("supply", number(token.supply))]);
    Ok(Value::Null)
}

pub(super) fn burn(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (id, amount) = (reader.hash("token_id")?, amount_of(&reader, "amount")?);
    context.charge(context.params.costs.token_burn, 0);
    let mut token = state::read(context.world, &id)?;
    let (from, key) = (context.sender, state::balance_key(&id, context.sender));
    let left = state::units(context.world, &key)?.checked_sub(amount).ok_or(error::TOKEN_BALANCE)?;
    state::set_units(context.world, key, left);
    token.supply = token.supply.checked_sub(amount).expect("nobody has more than there is");
    context.world.write(state::token_key(&id), &token);
    announce(context, "TokenBurned", &id, [("from", address(from)), ("amount", number(amount)), ("supply", number(token.supply))]);
    Ok(Value::Null)
}

pub(super) fn balance_of(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let (id, account) = (reader.hash("token_id")?, reader.address("account")?);
    context.charge(context.params.costs.token_balance_of, 0);
    state::read(context.world, &id)?;
    Ok(number(state::units(context.world, &state::balance_key(&id, account))?))
}

pub(super) fn allowance(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let (id, owner, spender) = (reader.hash("token_id")?, reader.address("owner")?, reader.address("spender")?);
    context.charge(context.params.costs.token_balance_of, 0);
    state::read(context.world, &id)?;
    Ok(number(state::units(context.world, &state::allowance_key(&id, owner, spender))?))
}

pub(super) fn total_supply(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let id = Reader::new(argument, invalid).hash("token_id")?;
    context.charge(context.params.costs.token_balance_of, 0);
    Ok(number(state::read(context.world, &id)?.supply))
}

pub(super) fn get(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let id = Reader::new(argument, invalid).hash("token_id")?;
    let token = state::read(context.world, &id)?;
    Ok(Value::dict([
        ("name", Value::text(token.name.to_string())),
        ("symbol", Value::text(token.symbol.to_string())),
        ("decimals", Value::uint(u64::from(token.decimals))),
        ("owner", address(token.owner)),
        ("supply", number(token.supply)),
        ("max_supply", number(token.max_supply)),
        ("hook", token.hook.map_or(Value::Null, address)),
        ("metadata_uri", Value::text(token.metadata_uri.to_string())),
    ]))
}

/// A token of the sender's.
fn own(context: &Context<'_>, id: &Hash) -> Step<Token> {
    let token = state::read(context.world, id)?;
    if token.owner == context.sender { Ok(token) } else { Err(error::NOT_OWNER.into()) }
}

pub(super) fn set_hook(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let id = reader.hash("token_id")?;
    let mut token = own(context, &id)?;
    token.hook = if reader.get("hook").is_some() { Some(reader.address("hook")?) } else { None };
    context.world.write(state::token_key(&id), &token);
    announce(context, "TokenHookSet", &id, [("hook", token.hook.map_or(Value::Null, address))]);
    Ok(Value::Null)
}

pub(super) fn transfer_ownership(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (id, owner) = (reader.hash("token_id")?, reader.address("owner")?);
    let mut token = own(context, &id)?;
    token.owner = owner;
    context.world.write(state::token_key(&id), &token);
    announce(context, "TokenOwnershipTransferred", &id, [("owner", address(owner))]);
    Ok(Value::Null)
}

fn announce<const N: usize>(context: &mut Context<'_>, name: &'static str, id: &Hash, facts: [(&str, Value); N]) {
    let data = Value::dict(facts.into_iter().chain([("token_id", bytes(id))]));
    context.announce(NUMBER, name, &data);
}
