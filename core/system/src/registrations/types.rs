//! The records of names.

use cowboy_types::units::Height;
use cowboy_types::{Address, record, variants};

/// The longest name, all labels and dots together. What fits DNS with its zone is shorter.
pub const NAME_BYTES: usize = 253;

variants! {
    /// Who may make names below a name (004 §7.2).
    pub enum Policy {
        /// Only the owner of the name.
        0 OwnerOnly,
        /// The actor of the name.
        1 ActorManaged,
        /// Anybody, for actors of their own.
        2 Open,
    }
}

impl Policy {
    /// The policy of a number of 004 §7.1.
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::OwnerOnly),
            1 => Some(Self::ActorManaged),
            2 => Some(Self::Open),
            _ => None,
        }
    }
}

record! {
    /// A name's registration (004 §7.1).
    pub struct Registration {
        /// The actor that answers.
        pub actor: Address,
        /// Whose it is.
        pub owner: Address,
        /// The height at which it was registered.
        pub registered_at: Height,
        /// The first height at which it no longer counts. The greatest value means: as long as the name above.
        pub expires_at: Height,
        /// Who may make names below it.
        pub policy: Policy,
        /// The height at which the rented name above was registered; its own where it is one.
        pub root_registered_at: Height,
    }
}
