//! Actors that come to owe rent although they write nothing, because governance made fewer bytes free: blocks look at all actors, a few at a time
//! (decision 766).

use super::NUMBER;
use super::rent::Collected;
use crate::rent_accounts::enlist;
use cowboy_params::Params;
use cowboy_state::{Directory, Key, Miss, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, record};

record! {
    /// What was free when blocks began to look at all actors, and how far they are.
    pub struct RentSweep {
        /// `rent.free_bytes`.
        pub free_bytes: Count,
        /// `intrinsic.timer_cells`: the bytes that a timer counts as.
        pub timer_cells: Count,
        /// The next actor to look at; none where all were.
        pub next: Option<Address>,
    }
}

impl RentSweep {
    /// All actors were looked at, with these parameters.
    fn done(params: &Params) -> Self {
        Self { free_bytes: Count(params.rent.free_bytes), timer_cells: Count(params.intrinsic.timer_cells), next: None }
    }
}

/// Where it stands; absent while governance never moved what is free.
pub fn key() -> Key {
    Key::system(NUMBER, "system:rent_sweep")
}

/// Looks at the next actor where fewer bytes are free than before, from the first one on, and enters it into the books where it owes rent now. `None` where all
/// were looked at. `genesis` are the parameters with which the chain began.
pub fn look(world: &mut World, (params, genesis): (&Params, &Params), height: Height) -> Result<Option<Collected>, Miss> {
    let known = world.read::<RentSweep>(&key())?.unwrap_or_else(|| RentSweep::done(genesis));
    let now = RentSweep::done(params);
    let is_less_free = now.free_bytes < known.free_bytes || now.timer_cells > known.timer_cells;
    let from = if is_less_free { Some(Address::ZERO) } else { known.next };
    let mut names = match from {
        Some(from) => Directory::actors().list(world, &from.0, 2)?.into_iter(),
        None => Vec::new().into_iter(),
    };
    let mut actor = || names.next().map(|name| Address(name[..].try_into().expect("the directory lists addresses")));
    let (looked_at, next) = (actor(), actor());
    if let Some(actor) = looked_at {
        let record = world.actor(actor)?.expect("the directory lists actors");
        enlist(world, params, height, actor, &record)?;
    }
    let after = RentSweep { next, ..now };
    if after != known {
        world.write(key(), &after);
    }
    Ok(looked_at.map(|actor| Collected::new(params, actor)))
}
