//! Powers, plain and modular.

use dashu_int::fast_div::ConstDivisor;
use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, Sign, UBig};

use super::{MAX_BITS, NumberError, bit_length, capped};
use crate::sizes;

/// `base ** exponent` for an exponent that is not negative.
pub fn pow(base: &IBig, exponent: &IBig) -> Result<IBig, NumberError> {
    if exponent.is_zero() || base.is_one() {
        return Ok(IBig::ONE);
    }
    if base.is_zero() {
        return Ok(IBig::ZERO);
    }
    if *base == IBig::NEG_ONE {
        let odd = (exponent & IBig::ONE).is_one();
        return Ok(if odd { IBig::NEG_ONE } else { IBig::ONE });
    }
    // The result has at least (bits - 1) * exponent bits, so nothing much larger than the cap is computed.
    match sizes::index(exponent) {
        Some(exponent) if (bit_length(base) - 1).saturating_mul(exponent) <= MAX_BITS => capped(base.pow(exponent)),
        _ => Err(NumberError::TOO_LARGE),
    }
}

/// `pow(base, exponent, modulus)`; a negative exponent takes the inverse, and the result has the modulus's sign.
pub fn pow_mod(base: &IBig, exponent: &IBig, modulus: &IBig) -> Result<IBig, NumberError> {
    if modulus.is_zero() {
        return Err(NumberError::value("pow() 3rd argument cannot be 0"));
    }
    let ring_size = modulus.unsigned_abs();
    let residue = if ring_size.is_one() { UBig::ZERO } else { pow_in_ring(base, exponent, ring_size)? };
    let residue = IBig::from(residue);
    Ok(if modulus.sign() == Sign::Negative && !residue.is_zero() { residue + modulus } else { residue })
}

fn pow_in_ring(base: &IBig, exponent: &IBig, modulus: UBig) -> Result<UBig, NumberError> {
    let ring = ConstDivisor::new(modulus);
    let base = ring.reduce(base.clone());
    let base = if exponent.sign() == Sign::Negative {
        base.inv().ok_or(NumberError::value("base is not invertible for the given modulus"))?
    } else {
        base
    };
    Ok(base.pow(&exponent.unsigned_abs()).residue())
}
