//! What a name costs, and where it is in its life (004 §7.5, §7.6).

use cowboy_params::Params;
use cowboy_types::units::{Amount, Height};

/// Where a registration is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It counts.
    Live,
    /// It expired; it can still be renewed, and by nobody taken.
    Grace,
    /// It goes to whoever first pays the falling price; so many blocks of the auction are over.
    Auction(u64),
    /// Anybody may register it at the usual price.
    Free,
}

impl Stage {
    /// The stage's name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Grace => "grace",
            Self::Auction(_) => "auction",
            Self::Free => "free",
        }
    }
}

/// The expiry of what lasts as long as the name above it.
pub(super) const WITH_ROOT: Height = Height(u64::MAX);

/// The stage at a height of what expires at another.
pub fn stage(params: &Params, expires_at: Height, height: Height) -> Stage {
    if height < expires_at {
        return Stage::Live;
    }
    let past = height.0 - expires_at.0;
    match past.checked_sub(params.names.grace) {
        None => Stage::Grace,
        Some(passed) if passed < params.names.auction => Stage::Auction(passed),
        Some(_) => Stage::Free,
    }
}

/// A year of a name, by its letters (004 §7.5). Below another name it is that of a long one.
pub fn yearly(params: &Params, name: &str) -> Amount {
    let rows = &params.names;
    let letters = if is_below(name) { usize::MAX } else { name.len() };
    Amount(match letters {
        0..=3 => rows.fee_3,
        4 => rows.fee_4,
        5 => rows.fee_5,
        _ => rows.fee_6,
    })
}

/// Whether a name stands below another one.
fn is_below(name: &str) -> bool {
    name.contains('.')
}

/// What a term of a name costs whoever takes it at a stage of its life. Only rented names are auctioned.
pub fn taken(params: &Params, name: &str, stage: Stage, blocks: u64) -> Amount {
    let yearly = yearly(params, name);
    match stage {
        Stage::Auction(passed) if !is_below(name) => auction(params, yearly, passed, blocks),
        _ => term(params, yearly, blocks),
    }
}

/// A name for so many blocks: its part of the yearly fee, rounded up, so that no term is free.
pub fn term(params: &Params, yearly: Amount, blocks: u64) -> Amount {
    let year = u128::from(params.economics.year);
    narrow((u128::from(yearly.0) * u128::from(blocks)).div_ceil(year))
}

/// A name in auction: the first year at a multiple of the yearly fee that falls to one over the auction, longer terms beside it as usual.
///
/// The premium is of the whole first year, however short the term, or whoever takes a name for one block would pay nothing for its release.
pub fn auction(params: &Params, yearly: Amount, passed: u64, blocks: u64) -> Amount {
    let (length, start) = (u128::from(params.names.auction), u128::from(params.names.auction_start));
    let left = length - u128::from(passed).min(length);
    // From `start` times to once, linear in what is left of the auction.
    let first_year = (u128::from(yearly.0) * (length + (start - 1) * left)).div_ceil(length);
    let beyond = term(params, yearly, blocks.saturating_sub(params.economics.year));
    narrow(first_year).saturating_add(beyond)
}

/// A fee's parts: to the treasury, to the gateways, and what is burned (004 §7.5, §9.4, decision 72).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// To the treasury.
    pub protocol: Amount,
    /// To the gateways' pool.
    pub gateways: Amount,
    /// Burned: the rest, to the last base unit.
    pub burned: Amount,
}

/// Splits a fee. The first two parts are rounded down.
pub fn split(params: &Params, fee: Amount) -> Split {
    let part = |basis_points: u64| narrow(u128::from(fee.0) * u128::from(basis_points) / 10_000);
    let protocol = part(params.names.protocol_share);
    // The two shares are rows of their own, whose sum governance might set above the whole.
    let gateways = part(params.names.gateway_share).min(fee.saturating_sub(protocol));
    let burned = fee.saturating_sub(protocol).saturating_sub(gateways);
    Split { protocol, gateways, burned }
}

fn narrow(amount: u128) -> Amount {
    Amount(u64::try_from(amount).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: Params = Params::GENESIS;
    const CBY: u64 = 1_000_000_000;
    const YEAR: u64 = 31_536_000;

    /// tiers, pro rata by duration.
    #[test]
    fn a_fee_is_a_part_of_the_yearly_one() {
        let rows = [
            ("abc", YEAR, 1_000 * CBY),
            ("abcd", YEAR, 200 * CBY),
            ("abcde", YEAR, 50 * CBY),
            ("abcdef", YEAR, 10 * CBY),
            ("abcdefghijkl", YEAR, 10 * CBY),
            ("abc.abc", YEAR, 10 * CBY),
            ("abcdef", 2 * YEAR, 20 * CBY),
            ("abcdef", YEAR / 2, 5 * CBY),
            ("abcdef", 1, 318),
            ("abcdef", 0, 0),
        ];
        for (name, blocks, expected) in rows {
            assert_eq!(term(&PARAMS, yearly(&PARAMS, name), blocks), Amount(expected), "{name} for {blocks}");
        }
        assert_eq!(term(&PARAMS, Amount::MAX, u64::MAX), Amount::MAX);
    }

    /// What whoever takes a name pays at each stage; nothing below a name is auctioned.
    #[test]
    fn only_rented_names_are_auctioned() {
        let rows = [
            ("abcdef", Stage::Auction(0), 100),
            ("abcdef", Stage::Free, 10),
            ("abc.abc", Stage::Auction(0), 10),
            ("abc.abc", Stage::Live, 10),
        ];
        for (name, stage, expected) in rows {
            assert_eq!(taken(&PARAMS, name, stage, YEAR), Amount(expected * CBY), "{name} {stage:?}");
        }
    }

    /// a tenth to the protocol, a fifth to the gateways, the rest burned, to the last base unit.
    #[test]
    fn a_fee_is_split_exactly() {
        let rows = [(0, 0, 0, 0), (1, 0, 0, 1), (9, 0, 1, 8), (10, 1, 2, 7), (10 * CBY, CBY, 2 * CBY, 7 * CBY), (318, 31, 63, 224)];
        for (fee, protocol, gateways, burned) in rows {
            let expected = Split { protocol: Amount(protocol), gateways: Amount(gateways), burned: Amount(burned) };
            assert_eq!(split(&PARAMS, Amount(fee)), expected, "{fee}");
        }
        let mut greedy = PARAMS;
        (greedy.names.protocol_share, greedy.names.gateway_share) = (9_000, 9_000);
        let parts = split(&greedy, Amount(100));
        assert_eq!((parts.protocol, parts.gateways, parts.burned), (Amount(90), Amount(10), Amount(0)));
    }

    /// thirty days of grace, then seven of an auction from ten times to once.
    #[test]
    fn an_expired_name_is_auctioned() {
        let (grace, length) = (2_592_000, 604_800);
        let rows = [
            (99, Stage::Live),
            (100, Stage::Grace),
            (99 + grace, Stage::Grace),
            (100 + grace, Stage::Auction(0)),
            (99 + grace + length, Stage::Auction(length - 1)),
            (100 + grace + length, Stage::Free),
            (u64::MAX, Stage::Free),
        ];
        for (height, expected) in rows {
            assert_eq!(stage(&PARAMS, Height(100), Height(height)), expected, "{height}");
        }
        let fee = Amount(10 * CBY);
        let rows = [
            (0, YEAR, 100 * CBY),
            (0, 1, 100 * CBY),
            (length / 2, YEAR, 55 * CBY),
            (length, YEAR, 10 * CBY),
            (length / 2, 2 * YEAR, 65 * CBY),
            (length - 1, YEAR, 10 * CBY + 148_810),
        ];
        for (passed, blocks, expected) in rows {
            assert_eq!(auction(&PARAMS, fee, passed, blocks), Amount(expected), "{passed} {blocks}");
        }
    }
}
