//! What the operations of the permission registry cost, as an instruction and as a call of its method (002 §7.4; decision 744).

use crate::actor::Context;
use cowboy_params::Params;
use cowboy_state::Step;

/// An operation that writes or removes records, with the bytes of its operands of variable length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Granting a permission.
    Grant {
        /// Bytes of scope, action and constraints.
        bytes: usize,
    },
    /// Taking a permission back.
    Revoke,
    /// Passing a permission on.
    Delegate {
        /// Bytes of the constraints.
        bytes: usize,
    },
    /// Making a role.
    CreateRole {
        /// Bytes of name, scopes, actions and constraints.
        bytes: usize,
    },
    /// Assigning a role, or taking it from an address.
    Assign,
}

impl Operation {
    /// Its cycles, and the cells of its row or the bytes of its operands, whichever are more.
    pub fn price(self, params: &Params) -> (u64, u64) {
        let rows = &params.entitlements;
        let (cycles, cells, bytes) = match self {
            Self::Grant { bytes } => (rows.grant_cycles, rows.grant_cells, bytes),
            Self::Revoke => (rows.revoke_cycles, rows.revoke_cells, 0),
            Self::Delegate { bytes } => (rows.delegate_cycles, rows.delegate_cells, bytes),
            Self::CreateRole { bytes } => (rows.role_cycles, rows.role_cells, bytes),
            Self::Assign => (rows.assign_cycles, rows.assign_cells, 0),
        };
        (cycles, cells.max(u64::try_from(bytes).unwrap_or(u64::MAX)))
    }

    /// Adds it to what a call of its method costs, before its work; fails where the delivery has less than that left.
    pub(super) fn charge(self, context: &mut Context<'_>) -> Step<()> {
        let (cycles, cells) = self.price(context.params);
        context.charge_cells(cells);
        context.spend(cycles, 0)
    }
}
