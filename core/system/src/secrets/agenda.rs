//! What 0x04 does without being asked, at the end of a block: draws, phases of dealings, deadlines of releases.

use super::committee::{self, Now};
use super::releases;
use super::state::{self, Subject};
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::units::Height;

/// Subjects that a block looks at, at most. The others wait for the next block.
pub const LOOKS: usize = 16;

/// The subject that is due, where one is.
pub fn due(world: &World, height: Height) -> Result<Option<Subject>, Miss> {
    Ok(state::first_due(world)?.filter(|(due, _)| *due <= height).map(|(_, subject)| subject))
}

/// Looks at a subject that is due.
pub fn look(world: &mut World, params: &Params, height: Height, beacon: &Bytes, subject: Subject) -> Result<(), Miss> {
    match subject {
        Subject::Key(id) => committee::look(world, Now { params, height, beacon }, id),
        Subject::Release(id) => releases::look(world, params, height, &id),
    }
}
