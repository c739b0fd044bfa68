//! The records of names (004 §7): what 0x0E keeps, and 0x07 reads to know whose a pool is.
//!
//! - [`label`]: what a name may look like.
//! - [`types`], [`state`]: the records, and where they stand.

pub mod label;
pub mod state;
pub mod types;

/// The number of the actor that keeps them: the Route Registry.
pub const NUMBER: u8 = cowboy_types::actors::NAMES;
