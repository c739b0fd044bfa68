//! The matcher: backtracking on a stack of its own, one cycle a step.
//!
//! What has to be undone when an attempt fails lies on the same stack as the ways not tried yet, so going back is popping until
//! there is one. Lookaround and atomic parts put a barrier there; leaving them takes the ways above it away and keeps what to undo.

use super::Buffers;
use super::chars::{Fold, is_word, lower};
use super::compile::{At, One, Program, Step};
use super::parse::ENDLESS;
use crate::costs::{Charge, MATCHER_LOOKUP, MATCHER_REPEATED, MATCHER_RESET, MATCHER_STEP};

/// A mark that is not set.
pub(crate) const UNSET: usize = usize::MAX;
/// Modelled bytes of an entry of the stack.
pub(crate) const ENTRY: usize = 40;

/// What a match has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Anywhere.
    Search,
    /// At the place.
    Match,
    /// At the place, up to the end.
    Full,
}

/// Why matching stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The cycles are used up.
    Cycles,
    /// The stack is larger than the memory left.
    Memory,
}

/// An entry of the stack.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    /// A way not tried: where in the program and in the text.
    Way { step: usize, at: usize },
    /// A greedy run that may give characters back, down to a place.
    Fewer { step: usize, floor: usize, at: usize },
    /// A lazy run that may take one more character.
    More { step: usize, at: usize, count: u32 },
    /// A lazy loop that may turn once more.
    Again { step: usize, at: usize },
    /// A mark's value before.
    Mark { mark: usize, old: usize },
    /// The last closed group before.
    Last { old: usize },
    /// A loop's counter and last place before.
    Counter { counter: usize, count: u32, last: usize },
    /// Where lookaround or an atomic part began.
    Barrier { at: usize },
    /// Where a negated lookaround began, and where to go on when it fails.
    Negated { at: usize, after: usize },
}

/// A search in one text.
pub(crate) struct Matcher<'a> {
    pub program: &'a Program,
    /// The text, cut off at its end for this search.
    pub text: &'a [u8],
    /// Whether characters may be several bytes.
    pub wide: bool,
    /// Cycles left.
    pub cycles: i64,
    /// Modelled bytes that the stack may take.
    pub memory: usize,
    /// The deepest that the stack was.
    pub deepest: usize,
    /// Begin and end of each group.
    pub marks: Vec<usize>,
    /// The group closed last; 0 for none.
    pub last: usize,
    counters: Vec<(u32, usize)>,
    pub(super) stack: Vec<Entry>,
    /// What every attempt costs beside its steps.
    reset: i64,
    /// Whether a mark may be set.
    is_marked: bool,
    /// What an attempt costs at a character that no match begins with, once that is known: always the same steps.
    pub(super) futile: Option<i64>,
}

impl<'a> Matcher<'a> {
    /// A search with what the run has left.
    pub(crate) fn new(program: &'a Program, text: &'a [u8], wide: bool, cycles: i64, memory: usize, buffers: Buffers) -> Matcher<'a> {
        let Buffers { mut marks, mut counters, mut stack } = buffers;
        marks.clear();
        marks.resize(2 * program.groups, UNSET);
        counters.clear();
        counters.resize(program.counters, (0, UNSET));
        stack.clear();
        Matcher {
            program,
            text,
            wide,
            cycles,
            memory,
            deepest: 0,
            marks,
            last: 0,
            counters,
            stack,
            reset: MATCHER_RESET.of(2 * program.groups).cycles(),
            is_marked: false,
            futile: None,
        }
    }

    /// The buffers; the marks are those of the last match.
    pub(crate) fn into_buffers(self) -> Buffers {
        let stack = if self.stack.capacity() <= super::KEPT_STACK { self.stack } else { Vec::new() };
        Buffers { marks: self.marks, counters: self.counters, stack }
    }

    #[inline(always)]
    pub(crate) fn spend(&mut self, charge: Charge) -> Result<(), Stop> {
        self.cycles = self.cycles.saturating_sub(charge.cycles());
        if self.cycles < 0 { Err(Stop::Cycles) } else { Ok(()) }
    }

    /// The price of looking a character of a text beyond ASCII up, beside that of the step.
    #[inline]
    pub(super) fn lookup(&self, one: One) -> Charge {
        let searches = self.wide && matches!(one, One::In(_) | One::Folds(_, Fold::Unicode));
        if searches { MATCHER_LOOKUP.once() } else { Charge::NONE }
    }

    #[inline]
    pub(super) fn passes(&self, one: One, code: u32) -> bool {
        one.passes(&self.program.sets, code)
    }

    pub(super) fn push(&mut self, entry: Entry) -> Result<(), Stop> {
        self.stack.push(entry);
        if self.stack.len() > self.deepest {
            self.deepest = self.stack.len();
            if self.deepest * ENTRY > self.memory {
                return Err(Stop::Memory);
            }
        }
        Ok(())
    }

    /// Tries the program at one place. A match sets mark 0.
    #[allow(clippy::too_many_lines, reason = "one arm per instruction")]
    pub(super) fn attempt<const WIDE: bool>(&mut self, start: usize, mode: Mode, barred: usize) -> Result<(), Stop> {
        let program = self.program;
        let text = self.text;
        self.cycles -= self.reset;
        if self.is_marked {
            self.marks.fill(UNSET);
            self.is_marked = false;
        }
        self.last = 0;
        self.stack.clear();
        let (mut step, mut at) = (0, start);
        loop {
            self.spend(MATCHER_STEP.once())?;
            let fine = match program.steps[step] {
                Step::One(one) => self.literal::<WIDE>(one, &mut step, &mut at)?,
                Step::Run { one, least, most, greed } => match self.run::<WIDE>(step, at, one, least, most, greed)? {
                    Some(end) => {
                        at = end;
                        step += 1;
                        true
                    }
                    None => false,
                },
                Step::At(place) => {
                    step += 1;
                    self.stands::<WIDE>(place, at)
                }
                Step::Mark(mark) => {
                    self.set_mark(mark, at)?;
                    step += 1;
                    true
                }
                Step::Split(other) => {
                    self.push(Entry::Way { step: other, at })?;
                    step += 1;
                    true
                }
                Step::Jump(other) => {
                    step = other;
                    true
                }
                Step::Begin(counter) => {
                    self.set_counter(counter, 0, UNSET)?;
                    step += 1;
                    true
                }
                Step::Turn { counter, least, most, lazy, body } => {
                    let (count, last) = self.counters[counter];
                    if count < least {
                        self.set_counter(counter, count + 1, last)?;
                        step = body;
                    } else if lazy {
                        self.push(Entry::Again { step, at })?;
                        step += 1;
                    } else if (count < most || most == ENDLESS) && last != at {
                        self.push(Entry::Way { step: step + 1, at })?;
                        self.set_counter(counter, count.saturating_add(1), at)?;
                        step = body;
                    } else {
                        step += 1;
                    }
                    true
                }
                Step::Look { back, negated, after } => match self.back::<WIDE>(at, back)? {
                    Some(place) => {
                        self.push(if negated { Entry::Negated { at, after } } else { Entry::Barrier { at } })?;
                        at = place;
                        step += 1;
                        true
                    }
                    None if negated => {
                        step = after;
                        true
                    }
                    None => false,
                },
                Step::Seen => {
                    at = self.commit()?;
                    step += 1;
                    true
                }
                Step::Unwanted => {
                    self.abandon()?;
                    false
                }
                Step::Atomic => {
                    self.push(Entry::Barrier { at })?;
                    step += 1;
                    true
                }
                Step::Committed => {
                    self.commit()?;
                    step += 1;
                    true
                }
                Step::Reference(group, fold) => match self.repeats::<WIDE>(group, fold, at)? {
                    Some(end) => {
                        at = end;
                        step += 1;
                        true
                    }
                    None => false,
                },
                Step::Unless(group, other) => {
                    step = if self.marks[2 * group + 1] == UNSET { other } else { step + 1 };
                    true
                }
                Step::Fail => false,
                Step::Done => {
                    if (mode != Mode::Full || at == text.len()) && at != barred {
                        self.is_marked = true;
                        self.marks[0] = start;
                        self.marks[1] = at;
                        return Ok(());
                    }
                    false
                }
            };
            if !fine {
                match self.retreat::<WIDE>()? {
                    Some((other, place)) => {
                        step = other;
                        at = place;
                    }
                    None => {
                        self.marks[0] = UNSET;
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Single characters that follow one another, as most of a pattern do.
    #[inline(always)]
    fn literal<const WIDE: bool>(&mut self, one: One, step: &mut usize, at: &mut usize) -> Result<bool, Stop> {
        let (program, text, mut one) = (self.program, self.text, one);
        loop {
            if *at >= text.len() {
                return Ok(false);
            }
            let (code, next) = read::<WIDE>(text, *at);
            (*at, *step) = (next, *step + 1);
            if WIDE {
                self.spend(self.lookup(one))?;
            }
            if !self.passes(one, code) {
                return Ok(false);
            }
            let Step::One(following) = program.steps[*step] else { return Ok(true) };
            self.spend(MATCHER_STEP.once())?;
            one = following;
        }
    }

    fn set_mark(&mut self, mark: usize, at: usize) -> Result<(), Stop> {
        if !self.stack.is_empty() {
            self.push(Entry::Mark { mark, old: self.marks[mark] })?;
        }
        self.is_marked = true;
        self.marks[mark] = at;
        if mark % 2 == 1 {
            if !self.stack.is_empty() {
                self.push(Entry::Last { old: self.last })?;
            }
            self.last = mark / 2;
        }
        Ok(())
    }

    fn set_counter(&mut self, counter: usize, count: u32, last: usize) -> Result<(), Stop> {
        if !self.stack.is_empty() {
            let (count, last) = self.counters[counter];
            self.push(Entry::Counter { counter, count, last })?;
        }
        self.counters[counter] = (count, last);
        Ok(())
    }

    /// Takes the way tried last: undoes what came after it. `None` when there is none left.
    fn retreat<const WIDE: bool>(&mut self) -> Result<Option<(usize, usize)>, Stop> {
        while let Some(entry) = self.stack.pop() {
            self.spend(MATCHER_STEP.once())?;
            match entry {
                Entry::Way { step, at } => return Ok(Some((step, at))),
                Entry::Fewer { step, floor, at } => return self.fewer::<WIDE>(step, floor, at).map(Some),
                Entry::More { step, at, count } => {
                    if let Some(place) = self.more::<WIDE>(step, at, count)? {
                        return Ok(Some((step + 1, place)));
                    }
                }
                Entry::Again { step, at } => {
                    let Step::Turn { counter, most, body, .. } = self.program.steps[step] else { continue };
                    let (count, last) = self.counters[counter];
                    if (count < most || most == ENDLESS) && last != at {
                        self.set_counter(counter, count.saturating_add(1), at)?;
                        return Ok(Some((body, at)));
                    }
                }
                Entry::Negated { at, after } => return Ok(Some((after, at))),
                entry => self.undo(entry),
            }
        }
        Ok(None)
    }

    fn undo(&mut self, entry: Entry) {
        match entry {
            Entry::Mark { mark, old } => self.marks[mark] = old,
            Entry::Last { old } => self.last = old,
            Entry::Counter { counter, count, last } => self.counters[counter] = (count, last),
            _ => {}
        }
    }

    /// Leaves lookaround or an atomic part: only what to undo stays of it. Gives the place where it began.
    fn commit(&mut self) -> Result<usize, Stop> {
        let barrier = self.stack.iter().rposition(|entry| matches!(entry, Entry::Barrier { .. } | Entry::Negated { .. })).unwrap_or(0);
        let at = match self.stack.get(barrier) {
            Some(Entry::Barrier { at }) => *at,
            _ => 0,
        };
        let above = self.stack.len() - barrier;
        self.spend(MATCHER_STEP.of(above))?;
        let mut kept = barrier;
        for index in barrier + 1..self.stack.len() {
            let entry = self.stack[index];
            // With nothing below, nothing will ever be undone.
            if kept > 0 && matches!(entry, Entry::Mark { .. } | Entry::Last { .. } | Entry::Counter { .. }) {
                self.stack[kept] = entry;
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        Ok(at)
    }

    /// A negated lookaround matched: undoes it all.
    fn abandon(&mut self) -> Result<(), Stop> {
        while let Some(entry) = self.stack.pop() {
            self.spend(MATCHER_STEP.once())?;
            if matches!(entry, Entry::Negated { .. }) {
                break;
            }
            self.undo(entry);
        }
        Ok(())
    }

    /// The place some characters before.
    fn back<const WIDE: bool>(&mut self, at: usize, count: usize) -> Result<Option<usize>, Stop> {
        if !WIDE {
            return Ok(at.checked_sub(count));
        }
        if count > self.text.len() {
            return Ok(None);
        }
        self.spend(MATCHER_STEP.of(count))?;
        let mut place = at;
        for _ in 0..count {
            if place == 0 {
                return Ok(None);
            }
            place = before::<WIDE>(self.text, place);
        }
        Ok(Some(place))
    }

    fn stands<const WIDE: bool>(&self, place: At, at: usize) -> bool {
        let text = self.text;
        match place {
            At::TextBegin => at == 0,
            At::LineBegin => at == 0 || text[at - 1] == b'\n',
            At::TextEnd => at == text.len(),
            At::LineEnd => at == text.len() || text[at] == b'\n',
            At::End => at == text.len() || (at + 1 == text.len() && text[at] == b'\n'),
            At::Boundary { unicode, negated } => {
                if text.is_empty() {
                    return false;
                }
                let earlier = at > 0 && is_word(read::<WIDE>(text, before::<WIDE>(text, at)).0, unicode);
                let later = at < text.len() && is_word(read::<WIDE>(text, at).0, unicode);
                (earlier != later) != negated
            }
        }
    }

    /// Where the text that a group matched ends when it stands here again.
    fn repeats<const WIDE: bool>(&mut self, group: usize, fold: Fold, at: usize) -> Result<Option<usize>, Stop> {
        let (begin, end) = (self.marks[2 * group], self.marks[2 * group + 1]);
        if begin == UNSET || end == UNSET || end < begin {
            return Ok(None);
        }
        self.spend(MATCHER_REPEATED.of(end - begin))?;
        if fold == Fold::None {
            let wanted = &self.text[begin..end];
            return Ok(self.text[at..].starts_with(wanted).then_some(at + wanted.len()));
        }
        self.spend(MATCHER_STEP.of(end - begin))?;
        let (mut known, mut place) = (begin, at);
        while known < end {
            if place >= self.text.len() {
                return Ok(None);
            }
            let (a, next_known) = read::<WIDE>(self.text, known);
            let (b, next_place) = read::<WIDE>(self.text, place);
            if a != b && lower(a, fold) != lower(b, fold) {
                return Ok(None);
            }
            known = next_known;
            place = next_place;
        }
        Ok(Some(place))
    }
}

/// The character at a place, and the place behind it.
#[inline(always)]
pub(super) fn read<const WIDE: bool>(text: &[u8], at: usize) -> (u32, usize) {
    let first = text[at];
    if !WIDE || first < 0x80 {
        return (u32::from(first), at + 1);
    }
    let (mut code, length) = match first {
        0xf0.. => (u32::from(first & 7), 4),
        0xe0.. => (u32::from(first & 15), 3),
        _ => (u32::from(first & 31), 2),
    };
    for &byte in &text[at + 1..at + length] {
        code = code << 6 | u32::from(byte & 63);
    }
    (code, at + length)
}

/// The place of the character before.
#[inline(always)]
pub(super) fn before<const WIDE: bool>(text: &[u8], at: usize) -> usize {
    let mut place = at - 1;
    while WIDE && text[place] & 0xc0 == 0x80 {
        place -= 1;
    }
    place
}
