//! Entitlements.

use crate::table::rows;

rows! {
    /// Entitlements (000; 002 §7).
    0x0B entitlements: Entitlements {
        /// Blocks between a deprecation and the removal: about 7 days.
        0x01 deprecation_window: Blocks = 604_800 in 100..=31_536_000, T0, "000 §9.11";
        /// Records of one address in the registry.
        0x02 records_per_address: Count = 256 in 1..=10_000, T0, "002 §7.5";
        /// Roles of one address.
        0x03 roles_per_address: Count = 64 in 1..=10_000, T0, "002 §7.5";
        /// Maximum length of a chain of delegations.
        0x04 delegation_depth: Count = 5 in 1..=32, T0, "002 §7.5";
        /// Bytes of a manifest.
        0x05 manifest_bytes: Bytes = 16_384 in 1_024..=65_536, T0, "ours";
        /// Grants of a manifest.
        0x06 grants_per_manifest: Count = 64 in 1..=256, T0, "ours";
        /// Actors that a block examines after a removal, to emit events for those that no longer run.
        0x07 sweep_per_block: Count = 256 in 1..=10_000, T0, "ours";
        /// Granting in the registry.
        0x08 grant_cycles: Cycles = 5_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x09 grant_cells: Cells = 500 in 0..=100_000, T0, "002 §7.4";
        /// Revoking in the registry.
        0x0A revoke_cycles: Cycles = 2_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x0B revoke_cells: Cells = 100 in 0..=100_000, T0, "002 §7.4";
        /// Delegating in the registry.
        0x0C delegate_cycles: Cycles = 3_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x0D delegate_cells: Cells = 300 in 0..=100_000, T0, "002 §7.4";
        /// Creating a role.
        0x0E role_cycles: Cycles = 5_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x0F role_cells: Cells = 500 in 0..=100_000, T0, "002 §7.4";
        /// Assigning and revoking a role.
        0x10 assign_cycles: Cycles = 2_000 in 100..=1_000_000, T0, "002 §7.4";
        /// The same, in bytes.
        0x11 assign_cells: Cells = 100 in 0..=100_000, T0, "002 §7.4";
        /// Examining one candidate's membership of a pool, in addition to `jobs.candidate`.
        0x12 check_cycles: Cycles = 500 in 10..=100_000, T0, "002 §7.4";
        /// Records of one grantor that their holders have not accepted yet.
        0x13 open_per_grantor: Count = 1_024 in 1..=10_000, T0, "decision 180";
        /// Blocks after which a record lapses if its holder has not accepted it.
        0x14 open_lapse: Blocks = 2_592_000 in 100..=315_360_000, T0, "decision 180";
        /// Items of a list among the parameters of a grant.
        0x15 list_items: Count = 256 in 16..=2_048, T0, "ours: decision 394";
        /// Bytes of what a runner says that it provides: in its registration, and in its attestation.
        0x16 provided_bytes: Bytes = 2_048 in 512..=16_384, T0, "ours: decision 560";
    }
}
