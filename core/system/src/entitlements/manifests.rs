//! Manifests of actors: checked at deployment, read by the gate, replaced only where 000 §9.11 and §9.2 say so.

use super::api::{ActorRedeployed, ActorUpgraded};
use super::grants::{bounds, domain_sets};
use super::lifecycle::{Standing, Standings};
use super::state::{self, ManifestHistory, PastManifest};
use crate::actor::Context;
use crate::protocol::Rules;
use crate::rent_accounts;
use crate::schema::Emit as _;
use commonware_codec::EncodeSize as _;
use cowboy_params::Params;
use cowboy_state::records::{ActorStatus, ManifestBytes};
use cowboy_state::{Miss, Step, World};
use cowboy_types::entitlement::{Bounds, Grants};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Hash, List, error};

/// The entitlement of system actors that may replace their own code.
const UPGRADE: &str = "sys.upgrade";

/// What an actor's manifest grants; nothing where it has none.
pub fn granted(world: &World, actor: Address) -> Result<Grants, Miss> {
    let manifest = world.get(&state::manifest(actor))?;
    let parse = |bytes: &bytes::Bytes| Grants::parse_manifest(Bounds::NONE, bytes).expect("a manifest is validated before it is stored");
    Ok(manifest.map(parse).unwrap_or_default())
}

/// The same for a method, which pays for its bytes before they are decoded (decision 394).
pub fn read(context: &mut Context<'_>, actor: Address) -> Step<Grants> {
    let size = context.world.get(&state::manifest(actor))?.map_or(0, |manifest| manifest.len());
    context.spend_reading(size)?;
    Ok(granted(context.world, actor)?)
}

/// Who asks for a manifest, and what that lets it have.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// The parameters of the block.
    pub params: &'a Params,
    /// The rules of its protocol version.
    pub rules: &'a Rules,
    /// Accounts that may deploy system actors.
    pub deployers: &'a [Address],
    /// The block's height.
    pub height: Height,
    /// The deployer's address.
    pub creator: Address,
    /// The grants of the actor that deploys; absent for an account.
    pub parent: Option<&'a Grants>,
}

/// Reads a manifest and checks every rule of 000 §10, §9.2, §9.11 and §7, in this order.
pub fn check(world: &World, asker: &Asker<'_>, manifest: &[u8]) -> Step<Grants> {
    let grants = Grants::parse_manifest(bounds(asker.params, asker.rules), manifest)?;
    let standings = Standings::read(world)?;
    if grants.all().iter().any(|grant| standings.of(grant.entitlement.id, asker.height) == Standing::Removed) {
        return Err(error::ENTITLEMENT_UNKNOWN.into());
    }
    let sets = domain_sets(world, [Some(&grants), asker.parent].into_iter().flatten())?;
    if grants.domain_sets().any(|name| sets.get(name).is_none()) {
        return Err(error::ENTITLEMENT_PARAM.into());
    }
    if grants.get(UPGRADE).is_some() && !asker.deployers.contains(&asker.creator) {
        return Err(error::SYSTEM_ENTITLEMENT_UNAUTHORIZED.into());
    }
    if asker.parent.is_some_and(|parent| !grants.are_within(parent, &sets)) {
        return Err(error::MISSING_ENTITLEMENT.into());
    }
    Ok(grants)
}

/// Puts a manifest in the place of an actor's present one, keeps that one's history, and counts the bytes of both in the actor's record, which pays rent for
/// them.
pub fn replace(world: &mut World, actor: Address, manifest: &[u8], height: Height) -> Step<()> {
    let key = state::manifest_history(actor);
    let mut record = world.actor(actor)?.ok_or(error::ACTOR_NOT_FOUND)?;
    let present = world.get(&state::manifest(actor))?.cloned().unwrap_or_default();
    let mut past = world.read::<ManifestHistory>(&key)?.map(|history| history.past.into_vec()).unwrap_or_default();
    let since = past.last().map_or(record.created_at, |newest| newest.until);
    if past.len() == List::<PastManifest, 16>::MAX {
        past.remove(0);
    }
    let manifest_was = ManifestBytes::new(present).expect("a stored manifest is within the widest bound");
    past.push(PastManifest { since, until: height, manifest: manifest_was });
    let history = ManifestHistory { past: List::new(past).expect("the oldest went") };
    record.manifest_bytes = Count(u64::try_from(manifest.len().saturating_add(history.encode_size())).unwrap_or(u64::MAX));
    world.set_actor(actor, &record);
    world.write(key, &history);
    world.put(state::manifest(actor), Some(manifest.to_vec().into()));
    Ok(())
}

/// The owner's new manifest for an actor that holds what was removed (000 §9.11, decision 51): same code, same state, same address.
pub fn redeploy(context: &mut Context<'_>, actor: Address, manifest: &[u8]) -> Step<()> {
    let record = context.world.actor(actor)?.ok_or(error::ACTOR_NOT_FOUND)?;
    if record.owner != context.sender {
        return Err(error::NOT_OWNER.into());
    }
    let present = read(context, actor)?;
    // 000 §7.1: an actor that runs never gets other entitlements.
    if Standings::read(context.world)?.are_executable(&present, context.height) {
        return Err(error::MANIFEST_IMMUTABLE.into());
    }
    // A child stays within what its parent may pass on (000 §7).
    let parent = match context.world.actor(record.creator)? {
        Some(_) => Some(read(context, record.creator)?),
        None => None,
    };
    // It is decoded, and compared with what the parent has.
    context.spend_reading(manifest.len().saturating_mul(2))?;
    let asker = Asker {
        params: context.params,
        rules: context.rules,
        deployers: context.deployers,
        height: context.height,
        creator: record.creator,
        parent: parent.as_ref(),
    };
    let grants = check(context.world, &asker, manifest)?;
    check_upgrade(&present, &grants)?;
    replace(context.world, actor, manifest, context.height)?;
    let mut record = context.world.actor(actor)?.ok_or(error::ACTOR_NOT_FOUND)?;
    if record.status == ActorStatus::NonExecutable {
        record.status = ActorStatus::Active;
        context.world.set_actor(actor, &record);
    }
    // Another manifest may have more bytes.
    rent_accounts::enlist(context.world, context.params, context.height, actor, &record)?;
    ActorRedeployed { actor }.emit(context.world);
    Ok(())
}

/// 000 §9.2: sys.upgrade is never revoked, and never gained after deployment.
pub fn check_upgrade(present: &Grants, next: &Grants) -> Step<()> {
    if present.get(UPGRADE).is_some() == next.get(UPGRADE).is_some() { Ok(()) } else { Err(error::SYSTEM_ENTITLEMENT_UNAUTHORIZED.into()) }
}

/// Emits that an actor replaced its own code.
pub fn upgraded(world: &mut World, actor: Address, code_hash: Hash, code_hash_before: Hash) {
    ActorUpgraded { actor, code_hash, code_hash_before }.emit(world);
}
