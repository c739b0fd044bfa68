//! Entitlements of manifests, and permissions of the Entitlement Registry.

use crate::{App, read::Snapshot, refusal::Answer, refusal::Named};
use axum::{Json, extract::State};
use cowboy_api::{Hex, cbor, manifest, model, permission};
use cowboy_state::{Miss, World};
use cowboy_system::entitlements::{
    grants, holders,
    lifecycle::{Standing, Standings},
    open,
    state::{self, Assignment, ManifestHistory},
};
use cowboy_types::entitlement::{DomainSets, REGISTRY};
use cowboy_types::{Address, Height};

/// The grants of a manifest's bytes, with what governance plans for them.
pub(crate) fn granted(manifest: &[u8], standings: &Standings, height: Height) -> Vec<model::Entitlement> {
    let mut grants = cbor::decode(manifest).map(|manifest| manifest::grants(&manifest)).unwrap_or_default();
    for grant in &mut grants {
        grant.deprecated = standings.of(&grant.id, height) != Standing::Current;
    }
    grants
}

pub(crate) async fn of_actor(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Entitlements> {
    let mut state = Snapshot::newest(&app);
    state.actor(address).await?;
    let height = state.head.height;
    let (manifest, history, standings) = state
        .ask(|world| {
            world.require([&state::manifest(address), &state::manifest_history(address), &state::deprecations()])?;
            let history = world.read::<ManifestHistory>(&state::manifest_history(address))?;
            Ok((world.get(&state::manifest(address))?.cloned(), history, Standings::read(world)?))
        })
        .await?;
    let manifest = manifest.unwrap_or_default();
    let past = history.map(|history| history.past.into_vec()).unwrap_or_default();
    let history = past.iter().map(|past| model::PastManifest {
        since: past.since.get(),
        until: past.until.get(),
        entitlements: granted(&past.manifest, &standings, height),
        manifest: Hex(past.manifest.to_vec()),
    });
    Ok(Json(model::Entitlements {
        entitlements: granted(&manifest, &standings, height),
        manifest: Hex(manifest.to_vec()),
        history: history.collect(),
    }))
}

pub(crate) async fn registry(State(app): State<App>) -> Answer<model::EntitlementRegistry> {
    let mut state = Snapshot::newest(&app);
    let height = state.head.height;
    let (standings, sets) = state
        .ask(|world| {
            let mut sets = DomainSets::default();
            let names: Vec<String> = sets.all().map(|(name, _)| name.to_owned()).collect();
            for name in names {
                grants::read_set(world, &name, &mut sets)?;
            }
            Ok((Standings::read(world)?, sets))
        })
        .await?;
    let entitlements = REGISTRY.iter().map(|row| {
        let standing = standings.of(row.id, height);
        let planned = standings.rows().iter().find(|planned| *planned.id == *row.id);
        model::RegistryRow {
            id: row.id.into(),
            what: row.what.into(),
            inheritable: row.inheritable,
            attested: row.attested,
            quota: row.quota,
            params: row
                .params
                .iter()
                .map(|param| model::RegistryParam { name: param.name.into(), r#type: param.schema.words(), what: param.what.into() })
                .collect(),
            standing: match standing {
                Standing::Current => "current",
                Standing::Deprecated { .. } => "deprecated",
                Standing::Removed => "removed",
            }
            .into(),
            removed_at: planned.map(|planned| planned.removed_at.get()),
        }
    });
    let domain_sets = sets.all().map(|(name, domains)| model::DomainSet { name: name.into(), domains: domains.to_vec() }).collect();
    Ok(Json(model::EntitlementRegistry { entitlements: entitlements.collect(), domain_sets }))
}

pub(crate) async fn permissions(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Permissions> {
    let mut state = Snapshot::newest(&app);
    let permissions = state.ask(|world| held(world, address)).await?;
    let roles = state.ask(|world| assigned(world, address)).await?;
    Ok(Json(model::Permissions { permissions, roles }))
}

/// Permissions shown that an address did not accept yet.
const MAX_OPEN: usize = 256;

/// The permissions of an address: those that it accepted, of which a parameter bounds the number, and then others that it was granted.
fn held(world: &World, address: Address) -> Result<Vec<model::Permission>, Miss> {
    let mut ids = holders::holder(world, address)?.permissions.into_vec();
    ids.extend(open::of(world, address, MAX_OPEN)?);
    let keys: Vec<_> = ids.iter().map(state::permission).collect();
    world.require(&keys)?;
    let mut shown = Vec::with_capacity(ids.len());
    for id in ids.iter() {
        let Some(record) = holders::permission(world, id)? else { continue };
        shown.push(model::Permission {
            id: Hex(*id),
            scope: record.scope.to_string(),
            action: record.action.to_string(),
            constraints: permission::constraints(&record.constraints),
            issuer: Hex(record.issuer),
            parent_id: record.parent_id.map(Hex),
            depth: record.depth,
            granted_at: record.granted_at.get(),
        });
    }
    Ok(shown)
}

/// The roles of an address: a parameter bounds how many.
fn assigned(world: &World, address: Address) -> Result<Vec<model::Role>, Miss> {
    let ids = holders::holder(world, address)?.roles;
    let keys: Vec<_> = ids.iter().flat_map(|id| [state::role(id), state::assignment(id, address)]).collect();
    world.require(&keys)?;
    let mut shown = Vec::with_capacity(ids.len());
    for id in ids.iter() {
        let Some(role) = holders::role(world, id)? else { continue };
        let Some(assignment) = world.read::<Assignment>(&state::assignment(id, address))? else { continue };
        shown.push(model::Role {
            role_id: Hex(*id),
            name: String::from_utf8_lossy(&role.name).into_owned(),
            scopes: role.scopes.iter().map(ToString::to_string).collect(),
            actions: role.actions.iter().map(ToString::to_string).collect(),
            constraints: permission::constraints(&assignment.constraints),
            creator: Hex(role.creator),
            assigned_at: assignment.assigned_at.get(),
        });
    }
    Ok(shown)
}
