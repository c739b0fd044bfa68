//! How work is priced: a row says what is charged for what, and only rows make charges.

use cowboy_compiler::opcode::{CYCLES, Op};
use std::ops::Add;

/// What work costs: cycles, and nanoseconds of modelled time beside those of the cycles.
///
/// Only the rows of this module make one, so that nothing can be charged that [`super::rows`] does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a charge is for `Vm::spend` or `Vm::owe`"]
pub(crate) struct Charge {
    cycles: usize,
    weight: usize,
}

/// A row: the price of one kind of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Its symbol in the source.
    pub(crate) symbol: &'static str,
    /// Cycles for [`per`](Self::per) units.
    pub(crate) cycles: usize,
    /// Units that the cycles pay for.
    pub(crate) per: usize,
    /// Nanoseconds of modelled time for as many units, beside those of the cycles.
    pub(crate) weight: usize,
    /// What is counted.
    pub(crate) unit: &'static str,
    /// Where the price comes from.
    pub(crate) source: &'static str,
    /// What is charged.
    pub(crate) work: &'static str,
}

/// A row of a table of functions, with a price of its own.
pub(crate) trait Priced {
    /// Cycles, beside those of the call.
    fn cycles(&self) -> u32;
    /// Nanoseconds of modelled time, beside those of the cycles.
    fn weight(&self) -> u32;
}

impl Charge {
    /// Nothing: where a case of some work is free.
    pub(crate) const NONE: Self = Self { cycles: 0, weight: 0 };

    /// The price of an instruction, by its row.
    #[inline]
    pub(crate) fn of_instruction(op: Op) -> Self {
        Self { cycles: usize::from(CYCLES[op as usize]), weight: 0 }
    }

    /// The price in the row of a native or host function.
    #[inline(always)]
    pub(crate) fn of_function(row: &impl Priced) -> Self {
        Self { cycles: row.cycles() as usize, weight: row.weight() as usize }
    }

    /// A price that governance moves, which is a parameter of the protocol: the cycles of a unit.
    pub(crate) const fn by_rule(cycles: usize, units: usize) -> Self {
        Self { cycles: cycles.saturating_mul(units), weight: 0 }
    }

    /// The same `count` times.
    #[inline(always)]
    pub(crate) const fn times(self, count: usize) -> Self {
        Self { cycles: self.cycles.saturating_mul(count), weight: self.weight.saturating_mul(count) }
    }

    /// The larger cycles and the larger weight of two charges.
    pub(crate) const fn or_more(self, other: Self) -> Self {
        const fn larger(one: usize, other: usize) -> usize {
            if other > one { other } else { one }
        }
        Self { cycles: larger(self.cycles, other.cycles), weight: larger(self.weight, other.weight) }
    }

    /// The cycles, as they are counted down.
    #[inline(always)]
    pub(crate) fn cycles(self) -> i64 {
        i64::try_from(self.cycles).unwrap_or(i64::MAX)
    }

    /// The nanoseconds, as they are counted down.
    #[inline(always)]
    pub(crate) fn weight(self) -> i64 {
        i64::try_from(self.weight).unwrap_or(i64::MAX)
    }
}

impl Add for Charge {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { cycles: self.cycles.saturating_add(other.cycles), weight: self.weight.saturating_add(other.weight) }
    }
}

impl Cost {
    /// The price as the page shows it: `3 a byte`, `1 for 4 bytes`.
    pub(crate) fn price(&self) -> String {
        let article = if self.unit.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        let amount = match self.per {
            1 => format!("{article} {}", self.unit),
            per if self.unit.ends_with('²') => format!("for {per} {}", self.unit),
            per => format!("for {per} {}s", self.unit),
        };
        match (self.cycles, self.weight) {
            (0, weight @ 1..) => format!("0, and {weight} ns {amount}"),
            (cycles, 0) => format!("{cycles} {amount}"),
            (cycles, weight) => format!("{cycles} {amount}, and {weight} ns"),
        }
    }

    /// The price of `units`, rounded down.
    #[inline(always)]
    pub(crate) const fn of(&self, units: usize) -> Charge {
        Charge { cycles: units.saturating_mul(self.cycles) / self.per, weight: units.saturating_mul(self.weight) / self.per }
    }

    /// The price of `units`, rounded up.
    pub(crate) const fn rounded_up(&self, units: usize) -> Charge {
        Charge {
            cycles: units.saturating_mul(self.cycles).div_ceil(self.per),
            weight: units.saturating_mul(self.weight).div_ceil(self.per),
        }
    }

    /// The price of one.
    #[inline(always)]
    pub(crate) const fn once(&self) -> Charge {
        self.of(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_two_charges_is_no_less_than_either() {
        let (quick, slow) = (Charge { cycles: 9, weight: 1 }, Charge { cycles: 2, weight: 8 });
        for larger in [quick.or_more(slow), slow.or_more(quick)] {
            assert_eq!(larger, Charge { cycles: 9, weight: 8 });
        }
    }
}
