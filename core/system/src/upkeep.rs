//! What system actors do without being asked, at the end of a block: each has an agenda of what it looks at next.

use crate::standstill::{self, Clock};
use crate::{secrets, volumes};
use bytes::Bytes;
use cowboy_params::Params;
use cowboy_state::{Directory, Miss, World};
use cowboy_types::actors;
use cowboy_types::units::Height;

/// The moment at which actors look at what is due.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// The block's parameters.
    pub params: &'a Params,
    /// The block's height.
    pub height: Height,
    /// The parent beacon.
    pub beacon: &'a Bytes,
}

/// The agenda of an actor.
pub struct Agenda {
    /// The actor's number.
    pub actor: u8,
    /// The clock of its deadlines: nothing is looked at in a block in which it stands still.
    pub clock: Clock,
    /// What the ids of its receipts begin with.
    pub domain: &'static [u8],
    /// Subjects that a block looks at, at most. The others wait for the next block.
    pub looks: usize,
    /// Where it stands.
    pub directory: Directory,
    /// The height of its first entry.
    pub first_due: fn(&World) -> Result<Option<Height>, Miss>,
    /// Looks at the first subject, where it is due. Answers the modelled time of that in ns, where one was.
    pub look: fn(&mut World, Moment<'_>) -> Result<Option<u64>, Miss>,
}

/// The agendas, in the order in which a block looks at them.
pub static AGENDAS: [Agenda; 2] = [
    Agenda {
        actor: secrets::NUMBER,
        clock: standstill::SECRETS,
        domain: b"cowboy-secrets:",
        looks: secrets::agenda::LOOKS,
        directory: secrets::state::agenda(),
        first_due: |world| Ok(secrets::state::first_due(world)?.map(|(due, _)| due)),
        look: |world, Moment { params, height, beacon }| {
            let Some(subject) = secrets::agenda::due(world, height)? else { return Ok(None) };
            let weight = secrets::agenda::weight(world, params, subject)?;
            secrets::agenda::look(world, params, height, beacon, subject)?;
            Ok(Some(weight))
        },
    },
    Agenda {
        actor: actors::RELAYS,
        clock: standstill::VOLUMES,
        domain: b"cowboy-volumes:",
        looks: volumes::agenda::LOOKS,
        directory: volumes::state::agenda(),
        first_due: |world| Ok(volumes::state::first_due(world)?.map(|(due, _)| due)),
        look: |world, Moment { params, height, beacon }| {
            let Some(subject) = volumes::agenda::due(world, height)? else { return Ok(None) };
            let weight = volumes::agenda::weight(world, params, height, subject)?;
            volumes::agenda::look(world, params, height, beacon, subject)?;
            Ok(Some(weight))
        },
    },
];

/// The height at which an actor has something to look at next.
pub fn first_due(world: &World) -> Result<Option<Height>, Miss> {
    let mut first: Option<Height> = None;
    for agenda in &AGENDAS {
        first = [first, (agenda.first_due)(world)?].into_iter().flatten().min();
    }
    Ok(first)
}
