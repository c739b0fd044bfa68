//! `math.factorial`, `math.comb`, `math.perm`.

use dashu_int::{IBig, Sign};

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
    let small = u64::try_from(n).ok();
    let mut product = IBig::ONE;
    let mut index = 0;
    while index < count {
        let mut factor = n - IBig::from(index);
        let mut divisor = index + 1;
        index += 1;
        // Neighbouring factors, and their divisors, that fit into 64 bits make one operation on the large number.
        if let Some(n) = small {
            let mut joined = n - (index - 1);
            while index < count
                && let (Some(factors), Some(divisors)) = (joined.checked_mul(n - index), divisor.checked_mul(index + 1))
            {
                (joined, divisor) = (factors, divisors);
                index += 1;
            }
            factor = IBig::from(joined);
        }
        // Each step is itself a binomial coefficient, so the division is exact.
        product = capped(product * factor / IBig::from(divisor))?;
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
