//! One character again and again: how far it reaches, and what it gives back or takes when what follows fails.

use super::compile::{One, Step};
use super::matcher::{Entry, Matcher, Stop, before, read};
use super::parse::{ENDLESS, Greed};
use crate::costs::MATCHER_STEP;
use cowboy_num::sizes;

impl Matcher<'_> {
    /// Matches one character again and again; where that ends, or `None` when there are too few.
    pub(super) fn run<const WIDE: bool>(
        &mut self,
        step: usize,
        start: usize,
        one: One,
        least: u32,
        most: u32,
        greed: Greed,
    ) -> Result<Option<usize>, Stop> {
        let wanted = if greed == Greed::Lazy { least } else { most };
        let (count, at, floor) = if WIDE { self.reach_wide(start, one, least, wanted)? } else { self.reach(start, one, least, wanted)? };
        self.spend((MATCHER_STEP.once() + self.lookup(one)).times(count as usize))?;
        if count < least {
            return Ok(None);
        }
        match greed {
            Greed::Lazy => self.push(Entry::More { step, at, count })?,
            Greed::Greedy if at > floor => self.push(Entry::Fewer { step, floor, at })?,
            _ => {}
        }
        Ok(Some(at))
    }

    /// How many characters of one byte each pass a test, where they end, and where the least of them would.
    fn reach(&self, start: usize, one: One, least: u32, wanted: u32) -> Result<(u32, usize, usize), Stop> {
        let paid = sizes::index(self.cycles.max(0)).unwrap_or(usize::MAX);
        let rest = &self.text[start..];
        let rest = &rest[..rest.len().min(wanted as usize).min(paid.saturating_add(1))];
        let end = match one {
            One::Any => None,
            One::NoLine => rest.iter().position(|&byte| byte == b'\n'),
            One::Is(code) => rest.iter().position(|&byte| u32::from(byte) != code),
            One::In(set) => {
                let set = &self.program.sets[usize::from(set)];
                rest.iter().position(|&byte| !set.holds(u32::from(byte)))
            }
            One::Folds(..) => rest.iter().position(|&byte| !self.passes(one, u32::from(byte))),
        };
        let count = end.unwrap_or(rest.len());
        if count > paid {
            return Err(Stop::Cycles);
        }
        // The count is at most `wanted`.
        Ok((count as u32, start + count, start + least as usize))
    }

    /// The same where a character may be several bytes.
    fn reach_wide(&self, start: usize, one: One, least: u32, wanted: u32) -> Result<(u32, usize, usize), Stop> {
        let (mut at, mut floor, mut count) = (start, start, 0);
        while count < wanted && at < self.text.len() {
            let (code, next) = read::<true>(self.text, at);
            if !self.passes(one, code) {
                break;
            }
            at = next;
            count += 1;
            if count == least {
                floor = at;
            }
            if i64::from(count) > self.cycles {
                return Err(Stop::Cycles);
            }
        }
        Ok((count, at, floor))
    }

    /// A greedy run gives characters back until what follows may match: where to continue.
    pub(super) fn fewer<const WIDE: bool>(&mut self, step: usize, floor: usize, end: usize) -> Result<(usize, usize), Stop> {
        let mut at = before::<WIDE>(self.text, end);
        if let Step::One(next) = self.program.steps[step + 1] {
            // A place where it fails costs what trying it there and coming back for the next one costs.
            let price = (MATCHER_STEP.of(2) + self.lookup(next)).cycles();
            while at > floor && !self.passes(next, read::<WIDE>(self.text, at).0) {
                self.cycles -= price;
                if self.cycles < 0 {
                    return Err(Stop::Cycles);
                }
                at = before::<WIDE>(self.text, at);
            }
        }
        if at > floor {
            self.stack.push(Entry::Fewer { step, floor, at });
        }
        Ok((step + 1, at))
    }

    /// A lazy run takes characters until what follows may match: where that is, or `None` when it takes no more.
    pub(super) fn more<const WIDE: bool>(&mut self, step: usize, start: usize, taken: u32) -> Result<Option<usize>, Stop> {
        let (mut at, mut count) = (start, taken);
        let Step::Run { one, most, .. } = self.program.steps[step] else { return Ok(None) };
        let follows = match self.program.steps[step + 1] {
            Step::One(next) => Some((next, (MATCHER_STEP.of(2) + self.lookup(next)).cycles())),
            _ => None,
        };
        while (count < most || most == ENDLESS) && at < self.text.len() {
            let (code, place) = read::<WIDE>(self.text, at);
            if !self.passes(one, code) {
                break;
            }
            (at, count) = (place, count.saturating_add(1));
            match follows {
                Some((next, price)) if at < self.text.len() && !self.passes(next, read::<WIDE>(self.text, at).0) => {
                    self.cycles -= price;
                    if self.cycles < 0 {
                        return Err(Stop::Cycles);
                    }
                }
                _ => {
                    self.stack.push(Entry::More { step, at, count });
                    return Ok(Some(at));
                }
            }
        }
        Ok(None)
    }
}
