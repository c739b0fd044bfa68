//! What the state adds to the registry of manifest entitlements: curated sets of domains, deprecations, histories (000 §8.4, §9.11).

use super::state;
use crate::protocol::Rules;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::entitlement::{Bounds, DomainSets, Grants};

/// The bounds of a manifest and of an attestation.
pub fn bounds(params: &Params, rules: &Rules) -> Bounds {
    let rows = &params.entitlements;
    Bounds { bytes: rows.manifest_bytes, grants: rows.grants_per_manifest, items: rows.list_items, version: rules.version }
}

/// The curated sets that these lists of grants name, as governance left them.
pub fn domain_sets<'a>(world: &World, lists: impl IntoIterator<Item = &'a Grants>) -> Result<DomainSets, Miss> {
    let mut sets = DomainSets::default();
    for name in lists.into_iter().flat_map(Grants::domain_sets) {
        read_set(world, name, &mut sets)?;
    }
    Ok(sets)
}

/// Puts a set into the others as governance left it.
pub fn read_set(world: &World, name: &str, sets: &mut DomainSets) -> Result<(), Miss> {
    if let Some(set) = world.read::<state::DomainSet>(&state::domain_set(name))? {
        sets.put(name, set.patterns.iter().map(|pattern| pattern.to_string()).collect());
    }
    Ok(())
}
