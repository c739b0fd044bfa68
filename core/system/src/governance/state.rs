//! Where the records of decisions stand (003 §13.1). No other file spells their keys.

use super::NUMBER;
use super::types::{Agreement, History, Pauses, Proposal, Upgrade, Upgrades};
pub use crate::council::{council, council_key};
use crate::protocol::FIRST_VERSION;
use cowboy_params::{Params, Row};
use cowboy_state::records::{ParameterChange, ParameterChanges, keys};
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, List};

fn named(name: String) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), name.into_bytes())
}

/// A proposal by its number.
pub fn proposal_key(id: u64) -> Key {
    named(format!("system:gov:proposal:{id}"))
}

/// How many proposals were made.
pub fn count_key() -> Key {
    Key::system(NUMBER, "system:gov:proposals")
}

/// Who of the council agrees with something about a proposal.
pub fn agreement_key(id: u64, what: &str) -> Key {
    named(format!("system:gov:council:{id}:{what}"))
}

/// Who of the council wants a system actor paused.
pub fn pause_wishes_key(actor: u8) -> Key {
    named(format!("system:gov:council:pause:{actor}"))
}

/// The paused system actors.
pub fn pauses_key() -> Key {
    Key::system(NUMBER, "system:gov:pauses")
}

/// The schedule of protocol versions.
pub fn upgrades_key() -> Key {
    Key::system(NUMBER, "system:gov:upgrades")
}

/// What a parameter was.
pub fn history_key(row: &Row) -> Key {
    named(format!("system:gov:param:history:{}", row.name))
}

/// The parameters of the next block: those of genesis, with what governance moved since.
pub fn parameters(world: &World, genesis: &Params) -> Result<Params, Miss> {
    let moved: Option<ParameterChanges> = world.read(&keys::parameters())?;
    Ok(moved.map_or_else(|| genesis.clone(), |moved| with(genesis, &moved)))
}

/// The same, from the record itself.
pub fn with(genesis: &Params, moved: &ParameterChanges) -> Params {
    genesis.moved(moved.changes.iter().map(|change| (change.row, change.value)))
}

/// Moves parameters from the next block on, and shows them at their keys. Their values were checked against their rows.
pub(super) fn move_parameters(world: &mut World, genesis: &Params, rows: &[(u16, u64)]) -> Result<(), Miss> {
    let moved: Option<ParameterChanges> = world.read(&keys::parameters())?;
    let mut changes = moved.map_or_else(Vec::new, |moved| moved.changes.into_vec());
    for (row, value) in rows {
        match changes.binary_search_by_key(row, |change| change.row) {
            Ok(place) => changes[place].value = *value,
            Err(place) => changes.insert(place, ParameterChange { row: *row, value: *value }),
        }
    }
    let moved = ParameterChanges { changes: List::new(changes).expect("there are fewer rows than the list holds") };
    let params = with(genesis, &moved);
    world.write(keys::parameters(), &moved);
    let is_moved = |row: &&Row| rows.iter().any(|(id, _)| *id == row.id);
    Params::ROWS.iter().filter(is_moved).try_for_each(|row| super::published::publish(world, &params, row))
}

/// A proposal.
pub fn proposal(world: &World, id: u64) -> Result<Option<Proposal>, Miss> {
    world.read(&proposal_key(id))
}

/// How many proposals were made; the next one's number.
pub fn count(world: &World) -> Result<Count, Miss> {
    Ok(world.read(&count_key())?.unwrap_or(Count::ZERO))
}

/// Who of the council agrees with something.
pub fn agreement(world: &World, key: &Key) -> Result<Agreement, Miss> {
    Ok(world.read(key)?.unwrap_or(Agreement { members: List::default() }))
}

/// What a parameter was.
pub fn history(world: &World, row: &Row) -> Result<History, Miss> {
    Ok(world.read(&history_key(row))?.unwrap_or(History { entries: List::default() }))
}

/// The paused system actors, those included whose pause is over.
pub fn pauses(world: &World) -> Result<Pauses, Miss> {
    Ok(world.read(&pauses_key())?.unwrap_or(Pauses { pauses: List::default() }))
}

/// The schedule of protocol versions.
pub fn upgrades(world: &World) -> Result<Upgrades, Miss> {
    Ok(world.read(&upgrades_key())?.unwrap_or_default())
}

impl Default for Upgrades {
    fn default() -> Self {
        Self { scheduled: List::default(), highest: FIRST_VERSION }
    }
}

impl Upgrades {
    /// The version that applies at a height.
    pub fn version_at(&self, height: Height) -> u8 {
        let begun = self.scheduled.iter().rev().find(|upgrade| upgrade.height <= height);
        begun.map_or(FIRST_VERSION, |upgrade| upgrade.version)
    }

    /// The versions that do not apply at a height yet, ascending.
    pub fn pending(&self, height: Height) -> impl Iterator<Item = &Upgrade> {
        self.scheduled.iter().filter(move |upgrade| upgrade.height > height)
    }
}
