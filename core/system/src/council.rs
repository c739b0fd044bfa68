//! The security council, which governance (0x09) keeps: it votes on claims, pauses and proposals.

use cowboy_state::{Key, Miss, World};
use cowboy_types::actors::GOVERNANCE;
use cowboy_types::{Address, List, record};

record! {
    /// The security council, and what its members want of a proposal.
    pub struct Council {
        /// Ascending.
        pub members: List<Address, 64>,
    }
}

/// The security council.
pub fn council_key() -> Key {
    Key::system(GOVERNANCE, "system:gov:council")
}

/// The security council; nobody until it is named.
pub fn council(world: &World) -> Result<Council, Miss> {
    Ok(world.read(&council_key())?.unwrap_or(Council { members: List::default() }))
}
