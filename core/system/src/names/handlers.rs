//! What 0x0E does when asked.

use super::price::{self, Stage};
use super::state::{self, Live};
use super::types::{Policy, Registration};
use super::{NUMBER, label, release};
use crate::actor::{Context, address_argument, number_argument};
use crate::entitlements::manifests;
use crate::{gateways, treasury};
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Abort, Address, error};

/// What lasts as long as the name above it.
const WITH_ROOT: Height = Height(u64::MAX);

/// The name among the arguments, in its one form.
pub(super) fn name_argument<'a>(context: &Context<'_>, argument: &'a Value) -> Result<&'a str, Abort> {
    let name = argument.get("name").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
    label::check(context.params, name)?;
    Ok(name)
}

/// The blocks that are paid for: at least so many, and no more than a name can be paid ahead.
fn duration_argument(context: &Context<'_>, argument: &Value, min: u64) -> Step<u64> {
    let blocks = number_argument(argument, "duration_blocks")?;
    if (min..=context.params.names.duration_max).contains(&blocks) { Ok(blocks) } else { Err(error::NAME_DURATION.into()) }
}

/// The shortest first term of a name: a year, so that nobody takes a name for the price of a moment and its grace with it. What
/// stands below a name, and takes nothing from others, may be as short as a renewal.
fn first_min(context: &Context<'_>, name: &str) -> u64 {
    let rows = &context.params.names;
    if name.contains('.') { rows.renewal_min } else { rows.duration_min }
}

/// Fails unless the actor exists and takes requests from outside (004 §7.4).
fn require_ingress(context: &mut Context<'_>, actor: Address) -> Step<()> {
    if context.world.actor(actor)?.is_none() || manifests::read(context, actor)?.get("ingress.http").is_none() {
        return Err(error::NAME_TARGET.into());
    }
    Ok(())
}

/// Fails unless the actor itself asks, or who owns it: its deployer, until that hands it on (004 §7.4, decision 112).
fn require_own_actor(context: &Context<'_>, actor: Address) -> Step<()> {
    let is_own = context.sender == actor || context.world.actor(actor)?.is_some_and(|record| record.owner == context.sender);
    if is_own { Ok(()) } else { Err(error::NAME_FOREIGN_ACTOR.into()) }
}

/// Whether what is registered below a name counts for itself or with that name, after the policy of the nearest name above (004 §7.2).
fn require_policy(context: &Context<'_>, above: &Live, actor: Address) -> Step<bool> {
    let record = &above.record;
    match record.policy {
        Policy::OwnerOnly if context.sender == record.owner => Ok(true),
        Policy::ActorManaged if context.sender == record.actor => Ok(true),
        Policy::Open => {
            require_own_actor(context, actor)?;
            Ok(context.sender == record.owner)
        }
        Policy::OwnerOnly | Policy::ActorManaged => Err(error::NAME_POLICY.into()),
    }
}

/// Takes a fee out of what came along, splits it, and gives the rest back.
fn take_fee(context: &mut Context<'_>, fee: Amount) -> Step<()> {
    if context.value < fee {
        return Err(error::NAME_FEE.into());
    }
    let parts = price::split(context.params, fee);
    let own = Address::system(NUMBER);
    let back = context.value.saturating_sub(fee);
    assert!(context.world.debit(own, context.value)?, "the value came with the call");
    context.world.credit(context.sender, back)?;
    context.world.credit(Address::system(treasury::NUMBER), parts.protocol)?;
    context.world.credit(gateways::state::pool(), parts.gateways)?;
    context.world.burn(parts.burned)?;
    Ok(())
}

pub(super) fn announce(context: &mut Context<'_>, event: &'static str, name: &str, record: &Registration, fee: Amount) {
    let data = Value::map([
        ("actor_address", Value::Bytes(record.actor.0.to_vec())),
        ("expires_at", Value::uint(record.expires_at.0)),
        ("fee", Value::uint(fee.0)),
        ("name", Value::text(name)),
        ("owner", Value::Bytes(record.owner.0.to_vec())),
    ]);
    context.announce(NUMBER, event, &data);
}

/// A registration as it is answered (004 §7.1).
fn shown(name: &str, record: &Registration, expires_at: Height) -> Value {
    Value::map([
        ("actor_address", Value::Bytes(record.actor.0.to_vec())),
        ("expires_at", Value::uint(expires_at.0)),
        ("is_dns", Value::Bool(name.split('.').all(|label| label.len() <= label::DNS_LABEL))),
        ("name", Value::text(name)),
        ("owner", Value::Bytes(record.owner.0.to_vec())),
        ("registered_at", Value::uint(record.registered_at.0)),
        ("subdomain_policy", Value::uint(u64::from(record.policy.number()))),
    ])
}

/// What a term of a rented name costs whoever takes it now, and the stage it is at. Fails where it cannot be taken.
fn price_of(context: &Context<'_>, name: &str, blocks: u64) -> Step<(Amount, Stage)> {
    let yearly = price::yearly(context.params, label::root_of(name));
    let before = state::registration(context.world, name)?;
    let stage = before.map_or(Stage::Free, |record| price::stage(context.params, record.expires_at, context.height));
    let fee = match stage {
        Stage::Auction(passed) => price::auction(context.params, yearly, passed, blocks),
        Stage::Live | Stage::Grace | Stage::Free => price::term(context.params, yearly, blocks),
    };
    Ok((fee, stage))
}

pub(super) fn register(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = name_argument(context, argument)?;
    let actor = address_argument(argument, "actor_address")?;
    let blocks = duration_argument(context, argument, first_min(context, name))?;
    require_ingress(context, actor)?;
    if name.contains('.') { register_below(context, name, actor, blocks) } else { register_root(context, name, actor, blocks) }
}

fn register_root(context: &mut Context<'_>, name: &str, actor: Address, blocks: u64) -> Step<Value> {
    let is_reserved = label::is_reserved(name);
    if is_reserved {
        context.require_governance().map_err(|_| error::NAME_RESERVED)?;
    } else {
        require_own_actor(context, actor)?;
    }
    let (fee, stage) = price_of(context, name, blocks)?;
    // Nobody else may have it, and a decision carries no CBY.
    let fee = if is_reserved { Amount::ZERO } else { fee };
    if matches!(stage, Stage::Live | Stage::Grace) {
        return Err(error::NAME_TAKEN.into());
    }
    let record = Registration {
        actor,
        owner: context.sender,
        registered_at: context.height,
        expires_at: after(context.height, blocks),
        policy: Policy::ActorManaged,
        root_registered_at: context.height,
    };
    enter(context, name, &record, fee)
}

/// A name below another: free for who holds the name above, and as long as that; at the price of a long name for others under an open
/// policy. It never costs more than a name of its own, and never lasts longer than what is above it.
fn register_below(context: &mut Context<'_>, name: &str, actor: Address, blocks: u64) -> Step<Value> {
    let root = state::live(context.world, label::root_of(name), context.height)?.ok_or(error::NAME_NOT_FOUND)?;
    let parent = name.split_once('.').map_or(name, |(_, parent)| parent);
    let above = state::resolve(context.world, parent, context.height)?.ok_or(error::NAME_NOT_FOUND)?;
    let is_holders = require_policy(context, &above, actor)?;
    if let Some(before) = state::registration(context.world, name)? {
        let counted = before.root_registered_at == root.record.registered_at;
        let is_held = matches!(price::stage(context.params, before.expires_at, context.height), Stage::Live | Stage::Grace);
        if counted && is_held {
            return Err(error::NAME_TAKEN.into());
        }
    }
    let (fee, expires_at) = if is_holders {
        (Amount::ZERO, WITH_ROOT)
    } else {
        (price::term(context.params, Amount(context.params.names.fee_6), blocks), after(context.height, blocks))
    };
    let record = Registration {
        actor,
        owner: context.sender,
        registered_at: context.height,
        expires_at,
        policy: Policy::ActorManaged,
        root_registered_at: root.record.registered_at,
    };
    enter(context, name, &record, fee)
}

fn after(height: Height, blocks: u64) -> Height {
    Height(height.0.saturating_add(blocks))
}

/// Takes the fee, or the deposit of a name below another that costs none, and enters the record. The deposit for a former record goes back.
fn enter(context: &mut Context<'_>, name: &str, record: &Registration, fee: Amount) -> Step<Value> {
    take_fee(context, fee)?;
    release::settle(context, name)?;
    if name.contains('.') && fee == Amount::ZERO {
        release::put_down(context, name)?;
    }
    state::set(context.world, name, record)?;
    announce(context, "name.registered", name, record, fee);
    answer(context, name, record)
}

fn answer(context: &Context<'_>, name: &str, record: &Registration) -> Step<Value> {
    let root = state::registration(context.world, label::root_of(name))?;
    let expires_at = root.map_or(record.expires_at, |root| record.expires_at.min(root.expires_at));
    Ok(shown(name, record, expires_at))
}

pub(super) fn renew(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = name_argument(context, argument)?;
    let blocks = duration_argument(context, argument, context.params.names.renewal_min)?;
    let mut record = state::registration(context.world, name)?.ok_or(error::NAME_NOT_FOUND)?;
    let root = state::registration(context.world, label::root_of(name))?.ok_or(error::NAME_NOT_FOUND)?;
    let is_below = name.contains('.');
    let is_of_root = record.root_registered_at == root.registered_at;
    let stage = price::stage(context.params, record.expires_at, context.height);
    if !is_of_root || record.expires_at == WITH_ROOT || !matches!(stage, Stage::Live | Stage::Grace) {
        return Err(error::NAME_NOT_FOUND.into());
    }
    let yearly = if is_below { Amount(context.params.names.fee_6) } else { price::yearly(context.params, name) };
    // From the present expiry, so that there is no gap (004 §7.6).
    let expires_at = after(record.expires_at, blocks);
    if expires_at.0.saturating_sub(context.height.0) > context.params.names.duration_max {
        return Err(error::NAME_DURATION.into());
    }
    let fee = price::term(context.params, yearly, blocks);
    take_fee(context, fee)?;
    record.expires_at = expires_at;
    state::set(context.world, name, &record)?;
    announce(context, "name.renewed", name, &record, fee);
    answer(context, name, &record)
}

/// The record of a name that counts and is the sender's.
pub(super) fn own(context: &Context<'_>, argument: &Value) -> Step<Live> {
    let name = name_argument(context, argument)?;
    let live = state::live(context.world, name, context.height)?.ok_or(error::NAME_NOT_FOUND)?;
    if live.record.owner == context.sender { Ok(live) } else { Err(error::NAME_NOT_OWNER.into()) }
}

fn change(context: &mut Context<'_>, event: &'static str, live: Live) -> Step<Value> {
    state::set(context.world, &live.name, &live.record)?;
    announce(context, event, &live.name, &live.record, Amount::ZERO);
    answer(context, &live.name, &live.record)
}

pub(super) fn transfer(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let mut live = own(context, argument)?;
    live.record.owner = address_argument(argument, "new_owner")?;
    change(context, "name.transferred", live)
}

pub(super) fn set_actor(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let mut live = own(context, argument)?;
    let actor = address_argument(argument, "actor_address")?;
    require_ingress(context, actor)?;
    live.record.actor = actor;
    change(context, "name.pointed", live)
}

pub(super) fn set_policy(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let mut live = own(context, argument)?;
    live.record.policy = Policy::from_number(number_argument(argument, "policy")?).ok_or(error::INVALID_ARGUMENT)?;
    change(context, "name.policy_set", live)
}

pub(super) fn resolve(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = name_argument(context, argument)?;
    let found = state::resolve(context.world, name, context.height)?;
    Ok(found.map_or(Value::Null, |live| Value::Bytes(live.record.actor.0.to_vec())))
}

pub(super) fn lookup(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let actor = address_argument(argument, "actor_address")?;
    let most = usize::try_from(context.params.names.lookup_max).unwrap_or(usize::MAX);
    let mut names = Vec::new();
    let found = state::of_actor(context.world, actor, most)?;
    context.charge_records(found.len());
    for name in found {
        if let Some(live) = state::live(context.world, &name, context.height)?
            && state::is_own(context.world, &live.record)?
        {
            names.push(Value::text(name));
        }
    }
    Ok(Value::Array(names))
}

pub(super) fn quote(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = name_argument(context, argument)?;
    let blocks = duration_argument(context, argument, context.params.names.renewal_min.min(first_min(context, name)))?;
    let (fee, stage) = price_of(context, name, blocks)?;
    Ok(Value::map([("fee", Value::uint(fee.0)), ("stage", Value::text(stage.name()))]))
}

pub(super) fn get_name(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let name = name_argument(context, argument)?;
    match state::registration(context.world, name)? {
        Some(record) => answer(context, name, &record),
        None => Ok(Value::Null),
    }
}
