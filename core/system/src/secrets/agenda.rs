//! What 0x04 does without being asked, at the end of a block: draws, phases of dealings, deadlines of releases.

use super::committee::{self, Now};
use super::releases;
use super::state::{self, Subject};
use crate::standstill::SECRETS;
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::units::Height;

/// Subjects that a block looks at, at most. The others wait for the next block. A release is looked at twice beside its demand, and opening one
/// weighs so much that no block opens half as many.
pub const LOOKS: usize = 512;

/// Records that a look at a key touches beside those of proxies: its own, those of the agenda, its committees and its dealing.
const RECORDS_OF_KEY: u64 = 12;

/// Records that each member of a committee adds: its own twice, for who left and who came, and what it said in a dealing that is over.
const RECORDS_OF_MEMBER: u64 = 5;

/// The subject that is due, where one is: a key before every release.
pub fn due(world: &World, height: Height) -> Result<Option<Subject>, Miss> {
    state::next_due(world, height)
}

/// Modelled time of a look at a subject in ns, as long as it takes at worst (decision 722).
pub fn weight(world: &World, params: &Params, subject: Subject) -> Result<u64, Miss> {
    match subject {
        // A draw reads every proxy.
        Subject::Key(_) => {
            let proxies = state::proxies().count(world)?;
            let members = params.secrets.members.saturating_mul(RECORDS_OF_MEMBER);
            let records = RECORDS_OF_KEY.saturating_add(members).saturating_add(proxies);
            let drawing = proxies.saturating_mul(params.weights.draw);
            Ok(records.saturating_mul(params.weights.record).saturating_add(drawing))
        }
        Subject::Release(id) => {
            let demand = state::release(world, &id)?.and_then(|release| release.demand).filter(|demand| !demand.is_over);
            Ok(releases::weight_of_looks(params, 1, demand.map_or(0, |demand| demand.members.len())))
        }
    }
}

/// Looks at a subject that is due.
pub fn look(world: &mut World, params: &Params, height: Height, beacon: &Bytes, subject: Subject) -> Result<(), Miss> {
    let still = SECRETS.read(world)?;
    match subject {
        Subject::Key(id) => committee::look(world, Now { params, still: &still, height, beacon }, id),
        Subject::Release(id) => releases::look(world, (params, &still, height), &id),
    }
}
