//! Numbers out of seeds, and which seeds a simulation plays.

use cowboy_types::{Hash, keccak256};
use std::ops::Range;

/// Numbers that follow from a seed.
pub struct Dice(Hash);

impl Dice {
    /// The dice of a seed of a simulation.
    pub fn new(simulation: &str, seed: u64) -> Self {
        Self(keccak256(&[simulation.as_bytes(), &seed.to_le_bytes()]))
    }

    /// A number from 0 up to `sides`, without it.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = keccak256(&[&self.0.0]);
        u64::from_le_bytes(*self.0.0.first_chunk().expect("a digest has eight bytes")) % sides
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        let sides = u64::try_from(of.len()).expect("few");
        &of[usize::try_from(self.roll(sides)).expect("fewer than there are")]
    }
}

/// The seeds that a simulation plays: the first `usual`, or as `COWBOY_SEEDS` in the environment says, `200` as many and `57..58` one alone.
#[expect(clippy::disallowed_methods, reason = "tests may be told how many seeds to play")]
pub fn seeds(usual: u64) -> Range<u64> {
    let Ok(named) = std::env::var("COWBOY_SEEDS") else { return 0..usual };
    let number =
        |text: &str| text.parse::<u64>().expect("COWBOY_SEEDS is a number of seeds, or the first one, `..`, and the one behind the last");
    named.split_once("..").map_or_else(|| 0..number(&named), |(first, end)| number(first)..number(end))
}
