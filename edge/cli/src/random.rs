//! Random numbers that nobody can foresee.

use cowboy_console::failure::Failure;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use zeroize::Zeroizing;

/// A generator with a seed of the operating system.
pub(crate) fn generator() -> Result<ChaCha20Rng, Failure> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *seed).map_err(Failure::no_random)?;
    Ok(ChaCha20Rng::from_seed(*seed))
}
