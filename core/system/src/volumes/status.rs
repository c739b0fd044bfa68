//! Whose a volume is, and how it stands.

use super::api::StatusChanged;
use super::types::{Keys, Status, Volume};
use super::{ledger, state};
use crate::actor::Context;
use crate::schema::Emit;
use cowboy_params::Params;
use cowboy_state::{Step, World};
use cowboy_types::units::Height;
use cowboy_types::{Hash, Text, error};

/// A volume of the sender.
pub(super) fn own(context: &Context<'_>, id: &Hash) -> Step<Volume> {
    let volume = state::volume(context.world, id)?.ok_or(error::VOLUME_NOT_FOUND)?;
    if volume.owner == context.sender { Ok(volume) } else { Err(error::VOLUME_FOREIGN.into()) }
}

/// What an argument says of the keys.
pub(super) fn keys_name(keys: Keys) -> Text<16> {
    let name = match keys {
        Keys::Public => "public",
        Keys::Committee => "committee",
        Keys::Owner => "owner",
    };
    Text::new(name).expect("it is short")
}

/// What a status is called.
pub(super) fn status_name(status: Status) -> Text<16> {
    let name = match status {
        Status::Active => "active",
        Status::GracePeriod => "grace_period",
        Status::Deleted => "deleted",
    };
    Text::new(name).expect("it is short")
}

/// Notes how a volume stands that is not deleted, or not any more. Only the end of an epoch deletes one whose escrow is spent.
pub(super) fn restate(world: &mut World, params: &Params, id: &Hash, volume: &mut Volume) {
    volume.deleted_at = None;
    change_status(world, id, volume, ledger::standing(params, volume));
}

/// Marks a volume as deleted.
pub(super) fn delete(world: &mut World, height: Height, id: &Hash, volume: &mut Volume) {
    volume.deleted_at = Some(height);
    change_status(world, id, volume, Status::Deleted);
}

fn change_status(world: &mut World, id: &Hash, volume: &mut Volume, status: Status) {
    if volume.status != status {
        volume.status = status;
        StatusChanged { status: status_name(status), volume_id: *id }.emit(world);
    }
}
