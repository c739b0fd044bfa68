//! Who does a job: pure functions, so that anybody can draw again from public data (002 §5; 003 §5.3; decisions 36, 37).

use cowboy_types::job::{Candidate, Candidates, MAX_DRAWN};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, keccak256};

/// What separates this use of a seed from every other (003 §5.3).
pub const DOMAIN: &[u8] = b"cowboy-runner-select-v3:";

/// What separates the draw of an aggregator.
const AGGREGATOR_DOMAIN: &[u8] = b"agg-select-v3";

/// What separates the draws after the first (002 §6).
const RETRY_DOMAIN: &[u8] = b"retry:";

/// The least factor of a reputation, in thousandths.
const LEAST_FACTOR: u128 = 100;

/// A candidate's weight: whole CBY of effective stake × max(⌊√(reputation · 10⁴)⌋, 100), the root being in thousandths (decision 37).
pub fn weight(stake: Amount, reputation: u64) -> u64 {
    let factor = (u128::from(reputation) * 10_000).isqrt().max(LEAST_FACTOR);
    let whole = u128::from(stake.0 / Amount::CBY.0);
    u64::try_from(whole * factor).expect("all CBY times the root of 200 fit 64 bits")
}

/// The seed of a job's first draw: keccak256(the round's seed ‖ domain ‖ job ‖ height of the submission, eight bytes, little-endian).
pub fn seed(round_seed: &[u8], job: &Hash, submitted_at: Height) -> Hash {
    keccak256(&[round_seed, DOMAIN, &job.0, &submitted_at.0.to_le_bytes()])
}

/// The seed of a later draw: keccak256(the first draw's seed ‖ "retry:" ‖ its number, four bytes, little-endian) (002 §6).
pub fn retry_seed(seed: &Hash, attempt: u64) -> Hash {
    let attempt = u32::try_from(attempt).expect("a job is drawn a few times");
    keccak256(&[&seed.0, RETRY_DOMAIN, &attempt.to_le_bytes()])
}

/// The seed of a draw: of the first where `attempt` is 0.
pub fn draw_seed(seed: &Hash, attempt: u64) -> Hash {
    if attempt == 0 { *seed } else { retry_seed(seed, attempt) }
}

/// What a draw came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Who was drawn, in order.
    pub selected: Vec<Address>,
    /// Who was picked and passed over, in order.
    pub passed: Vec<Address>,
}

/// The order in which a seed picks candidates: a Fisher–Yates shuffle whose picks are weighted (002 §5). Who is free changes nothing of it.
///
/// Cost: a pass over the candidates for each pick.
#[derive(Clone, Debug)]
pub struct Picks {
    pool: Vec<(Address, u64)>,
    total: u64,
    current: Hash,
    place: usize,
}

impl Picks {
    /// The picks that a seed makes from candidates.
    pub fn new(candidates: &[Candidate], seed: &Hash) -> Self {
        let pool: Vec<(Address, u64)> = candidates.iter().map(|candidate| (candidate.runner, candidate.weight)).collect();
        let total = pool.iter().map(|(_, weight)| *weight).fold(0, u64::saturating_add);
        Self { pool, total, current: *seed, place: 0 }
    }
}

impl Iterator for Picks {
    type Item = Address;

    fn next(&mut self) -> Option<Address> {
        if self.total == 0 || self.place == self.pool.len() {
            return None;
        }
        let place = self.place;
        let number = u64::try_from(place).expect("as few as runners");
        self.current = keccak256(&[&self.current.0, &number.to_le_bytes()]);
        let picked = place + pick(&self.pool[place..], first_number(&self.current) % self.total);
        self.pool.swap(place, picked);
        let (runner, weight) = self.pool[place];
        self.total -= weight;
        self.place += 1;
        Some(runner)
    }
}

/// Draws up to `count` candidates.
pub fn select(candidates: &[Candidate], seed: &Hash, count: usize) -> Vec<Address> {
    Picks::new(candidates, seed).take(count).collect()
}

/// Draws up to `count` candidates that are free, passing over at most [`MAX_DRAWN`] others (decision 326). Fails as `is_free` does.
pub fn select_free<E>(
    picks: impl Iterator<Item = Address>,
    count: usize,
    mut is_free: impl FnMut(Address) -> Result<bool, E>,
) -> Result<Drawn, E> {
    let mut drawn = Drawn::default();
    for runner in picks {
        if drawn.selected.len() == count || drawn.passed.len() == MAX_DRAWN {
            break;
        }
        let to = if is_free(runner)? { &mut drawn.selected } else { &mut drawn.passed };
        to.push(runner);
    }
    Ok(drawn)
}

/// The place of the entry in which a point of the weights' sum falls.
fn pick(pool: &[(Address, u64)], point: u64) -> usize {
    let mut rest = point;
    for (place, (_, weight)) in pool.iter().enumerate() {
        if rest < *weight {
            return place;
        }
        rest -= weight;
    }
    pool.len() - 1
}

/// A digest's first eight bytes, little-endian.
fn first_number(hash: &Hash) -> u64 {
    u64::from_le_bytes(hash.0[..8].try_into().expect("a digest has eight bytes"))
}

/// The candidates without those that were drawn before. The order of the rest stays.
pub fn left(candidates: &Candidates, excluded: &[Address]) -> Vec<Candidate> {
    candidates.candidates.iter().filter(|candidate| excluded.binary_search(&candidate.runner).is_err()).cloned().collect()
}

/// Why a selection is not the one that the public data give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The candidates are not those whose root stands on chain.
    #[error("the candidates do not have the root that the chain stored at submission")]
    Root,
    /// They are not in order.
    #[error("the candidates do not ascend strictly by address")]
    Order,
    /// The draw gives other runners.
    #[error("the draw from these candidates and this seed gives other runners")]
    Runners,
}

/// Everything that a draw depends on: public, and on chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw<'a> {
    /// The snapshot.
    pub candidates: &'a Candidates,
    /// Its root, as it was stored at submission.
    pub root: Hash,
    /// The seed of the named round, or the parent beacon of the submission's block.
    pub round_seed: &'a [u8],
    /// The job.
    pub job: Hash,
    /// The height of its submission.
    pub submitted_at: Height,
    /// Which draw, from 0.
    pub attempt: u64,
    /// Who was drawn before, ascending.
    pub excluded: &'a [Address],
    /// Who was passed over in this draw, because all of its slots were taken.
    pub passed: &'a [Address],
}

/// Whether the selected runners are those that the public data give, in this order.
pub fn verify_selection(draw: &Draw<'_>, selected: &[Address]) -> Result<(), SelectionError> {
    if !draw.candidates.candidates.is_sorted_by(|one, other| one.runner < other.runner) {
        return Err(SelectionError::Order);
    }
    if draw.candidates.root() != draw.root {
        return Err(SelectionError::Root);
    }
    let first = seed(draw.round_seed, &draw.job, draw.submitted_at);
    let seed = draw_seed(&first, draw.attempt);
    let picks = Picks::new(&left(draw.candidates, draw.excluded), &seed);
    let is_free = |runner| Ok(!draw.passed.contains(&runner));
    let Ok::<_, std::convert::Infallible>(again) = select_free(picks, selected.len(), is_free);
    if again.selected == selected && again.passed == draw.passed { Ok(()) } else { Err(SelectionError::Runners) }
}

/// Who puts the results together: one of the members with at least the percentile's reputation, drawn evenly
/// under keccak256(job ‖ "agg-select-v3") (003 §5.3). Nobody where one works alone.
pub fn aggregator(job: &Hash, members: &[(Address, u64)], percentile: u64) -> Option<Address> {
    if members.len() < 2 {
        return None;
    }
    let mut ranked: Vec<u64> = members.iter().map(|(_, reputation)| *reputation).collect();
    ranked.sort_unstable();
    let last = u64::try_from(ranked.len() - 1).expect("committees are small");
    let place = usize::try_from(last * percentile.min(100) / 100).expect("a place in a committee");
    let eligible: Vec<Address> = members.iter().filter(|(_, reputation)| *reputation >= ranked[place]).map(|(runner, _)| *runner).collect();
    let count = u64::try_from(eligible.len()).expect("committees are small");
    let drawn = first_number(&keccak256(&[&job.0, AGGREGATOR_DOMAIN])) % count;
    Some(eligible[usize::try_from(drawn).expect("a place in a committee")])
}

/// How large the committees of an epoch are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// M: runners.
    pub committee: u64,
    /// N: runners that must agree.
    pub threshold: u64,
}

/// Two thirds, rounded up.
pub fn two_thirds(committee: u64) -> u64 {
    committee.saturating_mul(2).div_ceil(3)
}

/// One in the fixed point of concentration: 10¹².
pub const ONE: u128 = 1_000_000_000_000;

/// The concentration of stake: the sum of the squared shares, in 10⁻¹² (003 §5.3: HHI).
pub fn concentration(stakes: &[Amount]) -> u128 {
    let total: u128 = stakes.iter().map(|stake| u128::from(stake.0)).sum();
    if total == 0 {
        return ONE;
    }
    // A share in 10⁻⁹ is exact enough, and its square fits.
    stakes.iter().map(|stake| u128::from(stake.0) * 1_000_000_000 / total).map(|share| share * share / 1_000_000).sum()
}

/// The moving average of the concentration: `smoothing` basis points of the new value.
pub fn smooth(average: u128, new: u128, smoothing: u64) -> u128 {
    let part = u128::from(smoothing.min(10_000));
    (average * (10_000 - part) + new * part) / 10_000
}

/// M = clip(⌈2·log₂(runners) / max(concentration, 0.01)⌉, least, most), N = ⌈2M/3⌉ (003 §5.3).
pub fn adaptive_size(runners: u64, concentration: u128, least: u64, most: u64) -> Size {
    let bits = log2(runners);
    let spread = concentration.max(ONE / 100);
    // log₂ is in 2⁻³².
    let target = (2 * bits * ONE).div_ceil(spread << 32);
    let committee = u64::try_from(target).unwrap_or(u64::MAX).clamp(least, most.max(least));
    Size { committee, threshold: two_thirds(committee) }
}

/// The binary logarithm, in 2⁻³², rounded down; zero of zero.
fn log2(number: u64) -> u128 {
    if number < 2 {
        return 0;
    }
    let whole = number.ilog2();
    // The mantissa in [1, 2) as a number of 2⁻⁶²; squaring it gives one bit of the fraction a time.
    let mut mantissa = (u128::from(number) << 62) >> whole;
    let mut bits = u128::from(whole) << 32;
    for place in (0..32).rev() {
        mantissa = (mantissa * mantissa) >> 62;
        if mantissa >> 63 != 0 {
            mantissa >>= 1;
            bits |= 1 << place;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms() {
        let rows = [(0, 0), (1, 0), (2, 1 << 32), (1024, 10 << 32), (3, 6_807_362_099), (5, 9_972_605_231), (u64::MAX, (64 << 32) - 1)];
        for (number, expected) in rows {
            let found = log2(number);
            assert!(found.abs_diff(expected) <= 8, "log2({number}) = {found}, expected about {expected}");
        }
    }
}
