//! Where a name leads.

use crate::failure::Failure;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_system::{entitlements::manifests, gateways::ingress::Ingress, names};
use cowboy_types::{Address, Height};

/// What a name leads to.
#[derive(Clone, Debug)]
pub struct Route {
    /// The name that was registered: the one asked for, or one above it.
    pub name: String,
    /// The actor behind it.
    pub actor: Address,
    /// Whose name it is.
    pub owner: Address,
    /// When it ends.
    pub expires_at: Height,
    /// What the actor lets requests do; nothing where it takes none.
    pub ingress: Option<Ingress>,
}

impl Route {
    /// What the actor lets requests of a method do. Fails where it takes none, or none of that method.
    pub fn admits(&self, method: &str) -> Result<&Ingress, Failure> {
        let ingress = self.ingress.as_ref().ok_or_else(Failure::no_ingress)?;
        if ingress.accepts(method) { Ok(ingress) } else { Err(Failure::method(method, &ingress.methods)) }
    }

    /// Where a name leads after the block of this height: its own registration, or the nearest above it.
    pub fn find(world: &World, params: &Params, name: &str, height: Height) -> Result<Option<Self>, Miss> {
        // What the next block would see is what counts: a name that expires with it is gone.
        let Some(live) = names::state::resolve(world, name, height.next())? else { return Ok(None) };
        let grants = manifests::granted(world, live.record.actor)?;
        Ok(Some(Self {
            ingress: Ingress::of(params, &grants),
            name: live.name,
            actor: live.record.actor,
            owner: live.record.owner,
            expires_at: live.expires_at,
        }))
    }
}
