//! Instructions that are methods of system actors: their operands are the method's arguments, already decoded.

use crate::actor::{Context, Handle as _};
use crate::basefee::api::{CancelTimer, ExtendTimer};
use crate::entitlements::api::{AssignRole, CreateRole, Delegate, Grant, Revoke, RevokeRole};
use crate::governance::api::UpdateTimerConfig;
use cowboy_state::Step;
use cowboy_types::instruction::System;
use cowboy_types::{Hash, error};

/// Executes an instruction that is a method, after the checks of every call. Returns the data of its receipt.
///
/// # Errors
///
/// What the method refuses; `INVALID_ARGUMENT` for an instruction that is no method.
pub fn execute(context: &mut Context<'_>, instruction: &System) -> Step<Vec<u8>> {
    let made = match instruction.clone() {
        System::EntitlementGrant { grantee, scope, action, constraints } => {
            Some(Grant { grantee, scope, action, constraints }.execute(context)?)
        }
        System::EntitlementDelegate { entitlement_id, delegatee, constraints } => {
            Some(Delegate { entitlement_id, delegatee, constraints }.execute(context)?)
        }
        System::EntitlementCreateRole { name, scopes, actions, constraints } => {
            Some(CreateRole { name, scopes, actions, constraints }.execute(context)?)
        }
        System::EntitlementRevoke { entitlement_id } => none(Revoke { entitlement_id }.execute(context)?),
        System::EntitlementAssignRole { role_id, assignee } => none(AssignRole { role_id, assignee }.execute(context)?),
        System::EntitlementRevokeRole { role_id, assignee } => none(RevokeRole { role_id, assignee }.execute(context)?),
        System::CancelTimer { timer } => none(CancelTimer { timer_id: timer }.execute(context)?),
        System::ExtendTimer { timer, expires_at } => none(ExtendTimer { timer_id: timer, expires_at }.execute(context)?),
        System::UpdateTimerConfig { ttl_blocks, cycles_per_fire, cells_per_fire, timers_per_actor, cleanup_cycles } => {
            let (max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire) = (ttl_blocks.0, cycles_per_fire.0, cells_per_fire.0);
            let (max_timers_per_actor, gc_cycles_per_block) = (timers_per_actor.0, cleanup_cycles.0);
            let limits =
                UpdateTimerConfig { max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire, max_timers_per_actor, gc_cycles_per_block };
            none(limits.execute(context)?)
        }
        System::Transfer { .. } | System::TransferActorOwnership { .. } | System::TimerSchedule { .. } => {
            return Err(error::INVALID_ARGUMENT.into());
        }
    };
    Ok(made.map(|id| id.0.to_vec()).unwrap_or_default())
}

/// The id that a method without a result returns.
fn none((): ()) -> Option<Hash> {
    None
}
