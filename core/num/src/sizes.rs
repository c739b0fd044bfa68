//! Integers as sizes, counts and indices. A Python integer has 64 bits and a size has what the processor has: 32 in WebAssembly. What has no
//! size there must not become 0, so every conversion in this crate is one of these; a test refuses others.

/// A size or count: 0 for a negative number, `usize::MAX` for one that is too large. A text or list never has `usize::MAX` items, so that
/// is too large for everything.
#[inline(always)]
pub fn saturating<N: Copy + Default + PartialOrd>(number: N) -> usize
where
    usize: TryFrom<N>,
{
    usize::try_from(number).unwrap_or(if number < N::default() { 0 } else { usize::MAX })
}

/// A size or count where a negative number is an error: `None` for that, and `usize::MAX` for a number that is too large.
#[inline(always)]
pub fn not_negative<N: Copy + Default + PartialOrd>(number: N) -> Option<usize>
where
    usize: TryFrom<N>,
{
    (number >= N::default()).then(|| saturating(number))
}

/// An index: `None` where no sequence has such an item, because the number is negative or too large.
#[inline(always)]
pub fn index<N>(number: N) -> Option<usize>
where
    usize: TryFrom<N>,
{
    usize::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::{index, not_negative, saturating};

    #[test]
    fn a_number_without_a_size_is_too_large_and_not_nothing() {
        // As on a machine of any width: 128 bits are beyond all of them.
        let far = i128::from(u64::MAX) + 5;
        assert_eq!((saturating(far), not_negative(far), index(far)), (usize::MAX, Some(usize::MAX), None));
        assert_eq!((saturating(-far), not_negative(-far), index(-far)), (0, None, None));
        assert_eq!((saturating(-1_i64), not_negative(-1_i64), index(-1_i64)), (0, None, None));
        assert_eq!((saturating(7_i64), not_negative(0_u64), index(7_i64)), (7, Some(0), Some(7)));
    }
}
