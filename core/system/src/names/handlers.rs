//! What 0x0E does when asked.

use super::api::{
    Change, Described, GetName, ListNames, Lookup, NamePage, Pointed, PolicySet, Quote, Quoted, Register, Registered, Renew, Renewed,
    Resolve, SetActor, SetSubdomainPolicy, Transfer, Transferred,
};
use super::price::{self, Stage, WITH_ROOT};
use super::state::{self, Live};
use super::types::{Policy, Registration};
use super::{NUMBER, label, release};
use crate::actor::{Arguments, Context, Handle};
use crate::entitlements::manifests;
use crate::schema::Emit;
use crate::{gateways, treasury};
use cowboy_state::Step;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, List, error};

/// Fails unless so many blocks may be paid for: at least `min`, and no more than a name can be paid ahead.
fn require_duration(context: &Context<'_>, blocks: u64, min: u64) -> Step<()> {
    if (min..=context.params.names.duration_max).contains(&blocks) { Ok(()) } else { Err(error::NAME_DURATION.into()) }
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

/// A term of a name, at the price of a year.
fn term(context: &Context<'_>, name: &str, blocks: u64) -> Amount {
    price::term(context.params, price::yearly(context.params, name), blocks)
}

/// What a term of a name costs whoever takes it now, and the stage it is at.
fn price_of(context: &Context<'_>, name: &str, blocks: u64) -> Step<(Amount, Stage)> {
    let before = state::registration(context.world, name)?;
    let stage = before.map_or(Stage::Free, |record| price::stage(context.params, record.expires_at, context.height));
    Ok((price::taken(context.params, name, stage, blocks), stage))
}

impl Handle for Register {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let Self { name, actor_address: actor, duration_blocks: blocks } = self;
        label::check(context.params, &name)?;
        require_duration(context, blocks, first_min(context, &name))?;
        require_ingress(context, actor)?;
        let is_below = name.contains('.');
        if is_below { register_below(context, &name, actor, blocks) } else { register_root(context, &name, actor, blocks) }
    }
}

fn register_root(context: &mut Context<'_>, name: &str, actor: Address, blocks: u64) -> Step<Described> {
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

/// Fails where a name between this one and its root has expired and may still be renewed: its owner decides what stands below it, and
/// nobody else does meanwhile.
fn require_none_in_grace(context: &Context<'_>, name: &str, root: &Registration) -> Step<()> {
    for above in label::above(name).filter(|above| above.contains('.')) {
        let Some(record) = state::registration(context.world, above)? else { continue };
        let stage = price::stage(context.params, record.expires_at, context.height);
        if record.root_registered_at == root.registered_at && stage == Stage::Grace {
            return Err(error::NAME_POLICY.into());
        }
    }
    Ok(())
}

/// A name below another: free for who holds the name above, and as long as that; at the price of a long name for others under an open
/// policy. It never costs more than a name of its own, and never lasts longer than what is above it.
fn register_below(context: &mut Context<'_>, name: &str, actor: Address, blocks: u64) -> Step<Described> {
    let root = state::live(context.world, label::root_of(name), context.height)?.ok_or(error::NAME_NOT_FOUND)?;
    let parent = name.split_once('.').map_or(name, |(_, parent)| parent);
    let above = state::resolve(context.world, parent, context.height)?.ok_or(error::NAME_NOT_FOUND)?;
    require_none_in_grace(context, name, &root.record)?;
    let is_holders = require_policy(context, &above, actor)?;
    if let Some(before) = state::registration(context.world, name)? {
        let counted = before.root_registered_at == root.record.registered_at;
        let is_held = matches!(price::stage(context.params, before.expires_at, context.height), Stage::Live | Stage::Grace);
        if counted && is_held {
            return Err(error::NAME_TAKEN.into());
        }
    }
    let (fee, expires_at) =
        if is_holders { (Amount::ZERO, WITH_ROOT) } else { (term(context, name, blocks), after(context.height, blocks)) };
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
fn enter(context: &mut Context<'_>, name: &str, record: &Registration, fee: Amount) -> Step<Described> {
    take_fee(context, fee)?;
    release::settle(context, name)?;
    if name.contains('.') && fee == Amount::ZERO {
        release::put_down(context, name)?;
    }
    state::set(context.world, name, record, context.sender)?;
    Registered(Change::new(name, record, fee)?).emit(context.world);
    described(context, name, record)
}

/// A name's record as it is returned.
fn described(context: &Context<'_>, name: &str, record: &Registration) -> Step<Described> {
    let root = state::registration(context.world, label::root_of(name))?;
    Ok(Described {
        actor_address: record.actor,
        expires_at: root.map_or(record.expires_at, |root| record.expires_at.min(root.expires_at)),
        is_dns: name.split('.').all(|label| label.len() <= label::DNS_LABEL),
        name: name.to_owned(),
        owner: record.owner,
        registered_at: record.registered_at,
        subdomain_policy: record.policy.clone(),
    })
}

/// Fails where a term below a name may not be renewed: the policy of the nearest name above, as it is now, says who decides, and under an open one anybody may
/// pay. Else whoever was let in once would stay for as long as they like, whatever the owner decides or whoever that becomes (decision 765).
fn require_renewable(context: &Context<'_>, name: &str, root: &Registration) -> Step<()> {
    let counts = |record: &Registration| {
        let is_held = matches!(price::stage(context.params, record.expires_at, context.height), Stage::Live | Stage::Grace);
        record.root_registered_at == root.registered_at && is_held
    };
    let mut nearest = None;
    for above in label::above(name).filter(|above| above.contains('.')) {
        nearest = state::registration(context.world, above)?.filter(counts);
        if nearest.is_some() {
            break;
        }
    }
    let above = nearest.as_ref().unwrap_or(root);
    let is_renewable = match above.policy {
        Policy::Open => true,
        Policy::OwnerOnly => context.sender == above.owner,
        Policy::ActorManaged => context.sender == above.actor,
    };
    if is_renewable { Ok(()) } else { Err(error::NAME_POLICY.into()) }
}

impl Handle for Renew {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let Self { name, duration_blocks: blocks } = self;
        label::check(context.params, &name)?;
        require_duration(context, blocks, context.params.names.renewal_min)?;
        let mut record = state::registration(context.world, &name)?.ok_or(error::NAME_NOT_FOUND)?;
        let root = state::registration(context.world, label::root_of(&name))?.ok_or(error::NAME_NOT_FOUND)?;
        let is_of_root = record.root_registered_at == root.registered_at;
        let stage = price::stage(context.params, record.expires_at, context.height);
        if !is_of_root || record.expires_at == WITH_ROOT || !matches!(stage, Stage::Live | Stage::Grace) {
            return Err(error::NAME_NOT_FOUND.into());
        }
        if name.contains('.') {
            require_renewable(context, &name, &root)?;
        }
        // From the present expiry, so that there is no gap (004 §7.6).
        let expires_at = after(record.expires_at, blocks);
        if expires_at.0.saturating_sub(context.height.0) > context.params.names.duration_max {
            return Err(error::NAME_DURATION.into());
        }
        let fee = term(context, &name, blocks);
        take_fee(context, fee)?;
        record.expires_at = expires_at;
        state::set(context.world, &name, &record, context.sender)?;
        Renewed(Change::new(&name, &record, fee)?).emit(context.world);
        described(context, &name, &record)
    }
}

/// The record of a name that counts and is the sender's.
pub(super) fn own(context: &Context<'_>, name: &str) -> Step<Live> {
    label::check(context.params, name)?;
    let live = state::live(context.world, name, context.height)?.ok_or(error::NAME_NOT_FOUND)?;
    if live.record.owner == context.sender { Ok(live) } else { Err(error::NAME_NOT_OWNER.into()) }
}

/// Writes a changed record, and emits the event that says so.
fn set<E: Emit>(context: &mut Context<'_>, event: fn(Change) -> E, live: &Live) -> Step<Described> {
    let Live { name, record, .. } = live;
    state::set(context.world, name, record, context.sender)?;
    event(Change::new(name, record, Amount::ZERO)?).emit(context.world);
    described(context, name, record)
}

impl Handle for Transfer {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let mut live = own(context, &self.name)?;
        live.record.owner = self.new_owner;
        set(context, Transferred, &live)
    }
}

impl Handle for SetActor {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let mut live = own(context, &self.name)?;
        require_ingress(context, self.actor_address)?;
        live.record.actor = self.actor_address;
        set(context, Pointed, &live)
    }
}

impl Handle for SetSubdomainPolicy {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let mut live = own(context, &self.name)?;
        live.record.policy = self.policy;
        set(context, PolicySet, &live)
    }
}

impl Handle for Resolve {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Address>> {
        label::check(context.params, &self.name)?;
        Ok(state::resolve(context.world, &self.name, context.height)?.map(|live| live.record.actor))
    }
}

impl Handle for Lookup {
    fn handle(self, context: &mut Context<'_>) -> Step<<Self as Arguments>::Result> {
        let limit = usize::try_from(context.params.names.lookup_max).unwrap_or(usize::MAX);
        let found = state::of_actor(context.world, self.actor_address, "", limit)?;
        live_of(context, found)
    }
}

impl Handle for ListNames {
    fn handle(self, context: &mut Context<'_>) -> Step<NamePage> {
        let limit = usize::try_from(context.params.names.lookup_max).unwrap_or(usize::MAX);
        let first = self.first.as_deref().unwrap_or_default();
        let mut found = state::of_actor(context.world, self.actor_address, first, limit.saturating_add(1))?;
        let next = if found.len() > limit { found.pop() } else { None };
        Ok(NamePage { names: live_of(context, found)?, next })
    }
}

/// Those of at most `names.lookup_max` names that count.
fn live_of(context: &mut Context<'_>, found: Vec<String>) -> Step<<Lookup as Arguments>::Result> {
    context.charge_records(found.len());
    let mut names = Vec::new();
    for name in found {
        if state::live(context.world, &name, context.height)?.is_some() {
            names.push(name);
        }
    }
    Ok(List::new(names).expect("the parameter's range bounds them"))
}

impl Handle for Quote {
    fn handle(self, context: &mut Context<'_>) -> Step<Quoted> {
        let Self { name, duration_blocks: blocks } = self;
        label::check(context.params, &name)?;
        require_duration(context, blocks, context.params.names.renewal_min.min(first_min(context, &name)))?;
        let (fee, stage) = price_of(context, &name, blocks)?;
        Ok(Quoted { fee, stage: stage.into() })
    }
}

impl Handle for GetName {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Described>> {
        label::check(context.params, &self.name)?;
        let found = state::registration(context.world, &self.name)?;
        found.map(|record| described(context, &self.name, &record)).transpose()
    }
}
