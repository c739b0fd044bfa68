//! The places where a match is tried.

use super::compile::{One, Program, Step};
use super::matcher::{Matcher, Mode, Stop, UNSET, read};
use crate::costs::MATCHER_SKIPPED;
use cowboy_num::sizes;

/// Most instructions that a match can begin with, and most sets and folded characters among them, each of which is asked about 256 characters.
const STEPS: usize = 64;
const TESTS: usize = 4;

impl Matcher<'_> {
    /// Looks for a match from a place on; `moving` refuses an empty one right there.
    pub(crate) fn find(&mut self, start: usize, mode: Mode, moving: bool) -> Result<bool, Stop> {
        let barred = if moving { start } else { UNSET };
        let mut at = start;
        // What no match begins with is passed at the price of an attempt.
        let codes = if mode == Mode::Search && self.program.lead.is_none() { self.program.first_codes() } else { None };
        loop {
            if mode == Mode::Search {
                if let Some(one) = self.program.lead {
                    match self.skip(one, at)? {
                        Some(found) => at = found,
                        None => return Ok(false),
                    }
                }
            }
            if let (Some(codes), Some(price)) = (codes, self.futile) {
                at = self.pass(codes, price, at)?;
            }
            let before = self.cycles;
            if self.wide {
                self.attempt::<true>(at, mode, barred)?
            } else {
                self.attempt::<false>(at, mode, barred)?
            };
            if self.marks[0] != UNSET {
                return Ok(true);
            }
            if mode != Mode::Search || at >= self.text.len() {
                return Ok(false);
            }
            if self.futile.is_none() && codes.is_some_and(|codes| !self.may_begin(codes, at)) {
                self.futile = Some(before - self.cycles);
            }
            at = self.after(at);
        }
    }

    /// Whether a match may begin with the character at a place.
    #[inline]
    fn may_begin(&self, codes: &[bool; 256], at: usize) -> bool {
        let byte = self.text[at];
        codes[usize::from(byte)] || (self.wide && byte >= 0x80)
    }

    /// The first place from here where a match may begin, or the end. Passing a character costs what an attempt there costs.
    fn pass(&mut self, codes: &[bool; 256], price: i64, start: usize) -> Result<usize, Stop> {
        let mut at = start;
        while at < self.text.len() && !self.may_begin(codes, at) {
            at += 1;
            self.cycles -= price;
            if self.cycles < 0 {
                return Err(Stop::Cycles);
            }
        }
        Ok(at)
    }

    /// The first place from here whose character passes a test.
    fn skip(&mut self, one: One, start: usize) -> Result<Option<usize>, Stop> {
        let mut at = start;
        let mut skipped: usize = 0;
        let most = sizes::index(self.cycles.max(0)).unwrap_or(usize::MAX).saturating_mul(MATCHER_SKIPPED.per);
        let found = loop {
            if at >= self.text.len() {
                break None;
            }
            let (code, next) = if self.wide { read::<true>(self.text, at) } else { read::<false>(self.text, at) };
            if self.passes(one, code) {
                break Some(at);
            }
            skipped += 1;
            if skipped > most {
                return Err(Stop::Cycles);
            }
            at = next;
        };
        self.spend(MATCHER_SKIPPED.of(skipped) + self.lookup(one).times(skipped))?;
        Ok(found)
    }

    fn after(&self, at: usize) -> usize {
        if self.wide { read::<true>(self.text, at).1 } else { at + 1 }
    }
}

impl Program {
    /// The codes that a match may begin with, where all below 256 are known; characters beyond are always tried. `None` where a match may
    /// begin with anything, or where it begins depends on what is around.
    fn first_codes(&self) -> Option<&[bool; 256]> {
        self.starts.get_or_init(|| self.find_starts()).as_deref()
    }

    fn find_starts(&self) -> Option<Box<[bool; 256]>> {
        let mut codes = Box::new([false; 256]);
        let (mut seen, mut next, mut tests) = (Vec::new(), vec![0], 0);
        while let Some(step) = next.pop() {
            if seen.contains(&step) {
                continue;
            }
            seen.push(step);
            let one = match self.steps[step] {
                Step::One(one) | Step::Run { one, least: 1.., .. } => one,
                Step::Run { one, .. } => {
                    next.push(step + 1);
                    one
                }
                Step::Mark(_) | Step::Begin(_) => {
                    next.push(step + 1);
                    continue;
                }
                Step::Split(other) | Step::Turn { body: other, .. } => {
                    next.extend([step + 1, other]);
                    continue;
                }
                Step::Jump(other) => {
                    next.push(other);
                    continue;
                }
                Step::Fail => continue,
                _ => return None,
            };
            match one {
                One::Any | One::NoLine => return None,
                One::Is(code) => {
                    if let Some(place) = codes.get_mut(sizes::saturating(u64::from(code))) {
                        *place = true;
                    }
                }
                One::In(_) | One::Folds(..) => {
                    tests += 1;
                    (0..256).filter(|&code| one.passes(&self.sets, code)).for_each(|code| codes[code as usize] = true);
                }
            }
            if seen.len() > STEPS || tests > TESTS {
                return None;
            }
        }
        Some(codes)
    }
}
