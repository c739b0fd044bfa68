//! How much CBY a year makes for validators: the schedule, the security floor, and how fast both may move it (003 §8.2).
//!
//! Invariant: among the rates of any `economics.year` blocks in a row, the highest is at most `economics.inflation_step`
//! above the lowest, whatever schedule, decisions and the floor ask for together.

use super::state;
use super::types::{Inflation, PastRate};
use cowboy_params::Params;
use cowboy_state::records::Supply;
use cowboy_state::{Key, Miss, World};
use cowboy_types::List;
use cowboy_types::actors::GOVERNANCE as NUMBER;
use cowboy_types::units::{Amount, Count, Height};

/// Where the rate of the running block stands.
pub fn rate_key() -> Key {
    Key::system(NUMBER, "system:inflation")
}

/// Gross inflation that the schedule has for a height's year, in basis points (003 §8.2).
pub fn scheduled(params: &Params, height: Height) -> u64 {
    let rows = &params.economics;
    match height.0 / rows.year {
        0 => rows.inflation_year_1,
        1 => rows.inflation_year_2,
        2 => rows.inflation_year_3,
        3 => rows.inflation_year_4,
        _ => rows.inflation_floor,
    }
}

/// What the schedule asks for, raised by `economics.security_increase` while less than `economics.security_floor` of all
/// CBY is staked; at most `economics.inflation_cap`.
fn wanted(params: &Params, height: Height, staked: Amount, all: Amount) -> u64 {
    let rows = &params.economics;
    let is_below_floor = u128::from(staked.0) * 10_000 < u128::from(all.0) * u128::from(rows.security_floor);
    let increase = if is_below_floor { rows.security_increase } else { 0 };
    scheduled(params, height).saturating_add(increase).min(rows.inflation_cap)
}

/// The rate of the block at `height`, in basis points. Moves it towards what is wanted, as far as the last year allows.
pub(super) fn move_rate(world: &mut World, params: &Params, height: Height, supply: &Supply) -> Result<u64, Miss> {
    let staked = state::total(world)?.map_or(Amount::ZERO, |total| total.stake);
    let wanted = wanted(params, height, staked, all(supply));
    let stored: Option<Inflation> = world.read(&rate_key())?;
    let is_new = stored.is_none();
    let mut inflation = stored.unwrap_or_else(|| Inflation { rate: Count(scheduled(params, height)), past: List::default() });
    if is_new | inflation.advance(height, wanted, params.economics.inflation_step, params.economics.year) {
        world.write(rate_key(), &inflation);
    }
    Ok(inflation.rate.0)
}

/// All CBY there are.
pub(super) fn all(supply: &Supply) -> Amount {
    supply.genesis.saturating_add(supply.minted).saturating_sub(supply.burned)
}

impl Inflation {
    /// Moves the rate towards `wanted` for the block at `height`: at most `step` away from every rate of the `year` blocks
    /// that end with it. Answers whether it moved.
    fn advance(&mut self, height: Height, wanted: u64, step: u64, year: u64) -> bool {
        if self.rate.0 == wanted {
            return false;
        }
        let is_of_the_year = |past: &PastRate| past.until.0.saturating_add(year) > height.0;
        let others = self.past.iter().filter(|past| is_of_the_year(past)).map(|past| past.rate.0);
        let (lowest, highest) = others.fold((self.rate.0, self.rate.0), |(lowest, highest), rate| (lowest.min(rate), highest.max(rate)));
        // The year before kept the invariant, so the bounds do not cross.
        let next = wanted.min(lowest.saturating_add(step)).max(highest.saturating_sub(step));
        if next == self.rate.0 {
            return false;
        }
        let mut past = std::mem::take(&mut self.past).into_vec();
        past.retain(|past| is_of_the_year(past) && past.rate != self.rate);
        past.push(PastRate { rate: self.rate, until: Height(height.0.saturating_sub(1)) });
        self.past = List::new(past).expect("there are fewer rates than basis points in the cap");
        self.rate = Count(next);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splitmix64.
    fn draw(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = *seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// whatever is wanted when, no year has two rates that are more than a step apart, and what stays wanted comes.
    #[test]
    fn no_year_moves_more_than_a_step() {
        const YEAR: u64 = 100;
        const STEP: u64 = 200;
        for seed in 0..200 {
            let mut seed = seed;
            let mut inflation = Inflation { rate: Count(800), past: List::default() };
            let mut rates = vec![800];
            let mut wanted = 800;
            for height in 1..1_000 {
                if draw(&mut seed).is_multiple_of(30) {
                    wanted = draw(&mut seed) % 1_001;
                }
                inflation.advance(Height(height), wanted, STEP, YEAR);
                rates.push(inflation.rate.0);
            }
            for year in rates.windows(usize::try_from(YEAR).expect("small")) {
                let (lowest, highest) = (year.iter().min(), year.iter().max());
                assert!(highest.zip(lowest).is_some_and(|(highest, lowest)| highest - lowest <= STEP), "seed {seed}: {year:?}");
            }
            for height in 1_000..1_000 + 7 * YEAR {
                inflation.advance(Height(height), wanted, STEP, YEAR);
            }
            assert_eq!(inflation.rate.0, wanted, "it arrives");
        }
    }
}
