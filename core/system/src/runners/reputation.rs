//! Reputation: a number between 0 and 200 that moves towards the last score, half of the way in a half-life (003 §5.3, §13).
//!
//! All of it is fixed point: millionths for reputations, 2⁻⁶⁴ for the part that is left.

use cowboy_params::Jobs;
use cowboy_types::job::Runner;
use cowboy_types::units::{Count, Height};

/// One point of reputation, in millionths.
pub const POINT: u64 = 1_000_000;

/// The most reputation there is.
pub const MOST: u64 = 200 * POINT;

/// The score of a job done.
pub const SUCCESS: u64 = 100;

/// The score of a job done and put together.
pub const AGGREGATED: u64 = 110;

/// The score of a job failed.
pub const FAILURE: u64 = 0;

/// 2^(−2^−k) for k = 1 to 20, in 2⁻⁶⁴, rounded down.
const ROOTS: [u64; 20] = [
    13_043_817_825_332_782_212,
    15_511_800_964_685_064_948,
    16_915_738_899_553_466_670,
    17_664_662_643_191_237_676,
    18_051_468_387_014_017_850,
    18_248_035_989_933_441_396,
    18_347_121_020_861_646_923,
    18_396_865_112_328_554_661,
    18_421_787_711_448_657_617,
    18_434_261_669_329_232_139,
    18_440_501_815_349_552_981,
    18_443_622_680_442_407_997,
    18_445_183_311_048_607_332,
    18_445_963_675_871_538_003,
    18_446_353_870_663_572_145,
    18_446_548_971_154_807_802,
    18_446_646_522_174_239_825,
    18_446_695_297_877_410_579,
    18_446_719_685_777_359_790,
    18_446_731_879_739_425_374,
];

/// The part of a distance that is left after some blocks: 2^(−blocks / half-life), in 2⁻⁶⁴.
fn left_after(blocks: u64, half_life: u64) -> u128 {
    let half_life = half_life.max(1);
    let whole = blocks / half_life;
    if whole >= 64 {
        return 0;
    }
    let mut left: u128 = (1 << 64) >> whole;
    // The fraction of a half-life, bit by bit: each bit is one root of a half.
    let mut rest = u128::from(blocks % half_life);
    for root in ROOTS {
        rest *= 2;
        if rest >= u128::from(half_life) {
            rest -= u128::from(half_life);
            left = (left * u128::from(root)) >> 64;
        }
    }
    left
}

/// What a runner's reputation is now, in millionths.
pub fn at(rows: &Jobs, runner: &Runner, height: Height) -> u64 {
    let blocks = height.0.saturating_sub(runner.reputation_at.0);
    let (from, to) = (runner.reputation.0, runner.score.0);
    let left = left_after(blocks, rows.reputation_half_life);
    let distance = u64::try_from((u128::from(from.abs_diff(to)) * left) >> 64).expect("a part of a distance fits");
    if from >= to { to + distance } else { to - distance }
}

/// What a runner's reputation is now, in whole points: what filters and weights read.
pub fn points(rows: &Jobs, runner: &Runner, height: Height) -> u64 {
    at(rows, runner, height) / POINT
}

/// Brings the reputation to now, and lets it move to a score from here on.
pub fn score(rows: &Jobs, runner: &mut Runner, height: Height, score: u64) {
    runner.reputation = Count(at(rows, runner, height));
    runner.score = Count(score * POINT);
    runner.reputation_at = height;
}

/// Takes points away at once, and lets the rest move to nothing (002 §6).
pub fn lose(rows: &Jobs, runner: &mut Runner, height: Height, points: u64) {
    score(rows, runner, height, FAILURE);
    runner.reputation = Count(runner.reputation.0.saturating_sub(points.saturating_mul(POINT)));
}

/// Sets the reputation, and where it moves to.
pub fn set(runner: &mut Runner, height: Height, points: u64) {
    runner.reputation = Count((points * POINT).min(MOST));
    runner.score = runner.reputation;
    runner.reputation_at = height;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// half of the distance is gone after a half-life, three quarters after two; the steps between multiply.
    #[test]
    fn distances_halve() {
        const HALF_LIFE: u64 = 1_209_600;
        let one: u128 = 1 << 64;
        let rows = [(0, one), (HALF_LIFE, one / 2), (2 * HALF_LIFE, one / 4), (64 * HALF_LIFE, 0), (u64::MAX, 0)];
        for (blocks, expected) in rows {
            assert_eq!(left_after(blocks, HALF_LIFE), expected, "{blocks} blocks");
        }
        let half = left_after(HALF_LIFE / 2, HALF_LIFE);
        assert!(((half * half) >> 64).abs_diff(one / 2) < 64, "the root of a half, squared: {half}");
        for blocks in (0..HALF_LIFE).step_by(997) {
            assert!(left_after(blocks, HALF_LIFE) >= left_after(blocks + 997, HALF_LIFE), "never grows, at {blocks}");
        }
    }
}
