//! What 0x04 does without being asked, at the end of a block: draws, phases of dealings, deadlines of releases.

use super::committee::{self, Now};
use super::releases;
use super::state::{self, Subject};
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::units::Height;

/// Subjects that a block looks at, at most. The others wait for the next block. A release is looked at twice beside its demand, and opening one
/// weighs so much that no block opens half as many.
pub const LOOKS: usize = 512;

/// The subject that is due, where one is: a key before every release.
pub fn due(world: &World, height: Height) -> Result<Option<Subject>, Miss> {
    state::next_due(world, height)
}

/// Looks at a subject that is due.
pub fn look(world: &mut World, params: &Params, height: Height, beacon: &Bytes, subject: Subject) -> Result<(), Miss> {
    match subject {
        Subject::Key(id) => committee::look(world, Now { params, height, beacon }, id),
        Subject::Release(id) => releases::look(world, params, height, &id),
    }
}
