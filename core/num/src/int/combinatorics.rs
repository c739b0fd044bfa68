//! `math.factorial`, `math.comb`, `math.perm`.

use dashu_int::{IBig, Sign, UBig};

use super::{NumberError, capped};

/// A factor count past which every one of these products has more bits than the cap allows.
const MAX_FACTORS: u64 = 4096;

/// `math.factorial(n)`.
pub fn factorial(n: &IBig) -> Result<IBig, NumberError> {
    if n.sign() == Sign::Negative {
        return Err(NumberError::value("factorial() not defined for negative values"));
    }
    perm(n, n)
}

/// `math.perm(n, k)`: ways to choose and order `k` of `n`.
pub fn perm(n: &IBig, k: &IBig) -> Result<IBig, NumberError> {
    refuse_negative(n, k)?;
    if k > n {
        return Ok(IBig::ZERO);
    }
    let count = u64::try_from(k).ok().filter(|&count| count <= MAX_FACTORS).ok_or(NumberError::TOO_LARGE)?;
    let mut product = IBig::ONE;
    for index in 0..count {
        product = capped(product * (n - IBig::from(index)))?;
    }
    Ok(product)
}

/// `math.comb(n, k)`: ways to choose `k` of `n`.
pub fn comb(n: &IBig, k: &IBig) -> Result<IBig, NumberError> {
    refuse_negative(n, k)?;
    if k > n {
        return Ok(IBig::ZERO);
    }
    // The lesser of k and n - k factors suffice, and the result is at least two to that power.
    let complement = n - k;
    let fewer = if *k < complement { k } else { &complement };
    let count = u64::try_from(fewer).ok().filter(|&count| count <= MAX_FACTORS).ok_or(NumberError::TOO_LARGE)?;
    let mut product = IBig::ONE;
    for index in 0..count {
        // Each step is itself a binomial coefficient, so the division is exact.
        product = capped(product * (n - IBig::from(index)) / IBig::from(UBig::from(index + 1)))?;
    }
    Ok(product)
}

fn refuse_negative(n: &IBig, k: &IBig) -> Result<(), NumberError> {
    if n.sign() == Sign::Negative {
        return Err(NumberError::value("n must be a non-negative integer"));
    }
    if k.sign() == Sign::Negative {
        return Err(NumberError::value("k must be a non-negative integer"));
    }
    Ok(())
}
