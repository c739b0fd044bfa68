//! From a pattern's tree to the instructions that the matcher runs.

use super::chars::{Category, Fold, Set, is_cased, lower, same_upper};
use super::parse::{ASCII, DOTALL, Greed, IGNORECASE, LOCALE, MULTILINE, Node, Pattern, Place, Refusal, UNICODE, width};
use crate::costs::{Charge, PATTERN_FOLDED, PATTERN_SET};
use cowboy_num::sizes;
use std::sync::OnceLock;

/// A test of one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum One {
    /// This character.
    Is(u32),
    /// A character whose lower case is this.
    Folds(u32, Fold),
    /// Anything but a line feed.
    NoLine,
    /// Anything.
    Any,
    /// In a set.
    In(u16),
}

/// A test of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    TextBegin,
    LineBegin,
    TextEnd,
    LineEnd,
    /// The end, or before a last line feed.
    End,
    Boundary {
        unicode: bool,
        negated: bool,
    },
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// One character.
    One(One),
    /// One character, again and again.
    Run { one: One, least: u32, most: u32, greed: Greed },
    /// A place.
    At(At),
    /// Remembers the place in a mark: two for each group.
    Mark(usize),
    /// Goes on; when that fails, elsewhere.
    Split(usize),
    /// Goes on elsewhere.
    Jump(usize),
    /// A loop begins: its counter is none.
    Begin(usize),
    /// A turn of a loop: its counter, bounds, order, and where its body begins. Behind it, the loop is over.
    Turn { counter: usize, least: u32, most: u32, lazy: bool, body: usize },
    /// Lookaround: characters to step back, and where to go on when a negated one fails to match.
    Look { back: usize, negated: bool, after: usize },
    /// What was looked for is there.
    Seen,
    /// What should not be there is.
    Unwanted,
    /// An atomic part begins.
    Atomic,
    /// An atomic part is over: no way back into it.
    Committed,
    /// What a group matched.
    Reference(usize, Fold),
    /// Goes elsewhere when a group did not match.
    Unless(usize, usize),
    /// Never.
    Fail,
    /// The pattern matched.
    Done,
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) sets: Vec<Set>,
    /// Groups, the whole match included.
    pub(crate) groups: usize,
    pub(crate) counters: usize,
    /// What a match begins with, when that is one character.
    pub(crate) lead: Option<One>,
    /// Whether it is for text rather than bytes.
    pub(crate) is_text: bool,
    /// What a search has found out about the characters that a match may begin with; see `Program::first_codes`.
    pub(super) starts: OnceLock<Option<Box<[bool; 256]>>>,
}

impl One {
    /// Whether a character passes, given the sets of the pattern.
    #[inline(always)]
    pub(super) fn passes(self, sets: &[Set], code: u32) -> bool {
        match self {
            One::Is(wanted) => code == wanted,
            One::Folds(wanted, fold) => lower(code, fold) == wanted,
            One::NoLine => code != 10,
            One::Any => true,
            One::In(set) => sets[usize::from(set)].holds(code),
        }
    }
}

impl Program {
    /// Modelled bytes.
    pub(crate) fn size(&self) -> usize {
        120 + 16 * self.steps.len() + self.sets.iter().map(Set::size).sum::<usize>()
    }
}

/// Most sets of one pattern: their numbers have 16 bits.
const MOST_SETS: usize = 65_535;
/// Nodes inside one another that are followed: as deep as the parser nests.
const DEPTH: usize = 450;

/// Charges work that the pattern's length does not bound, before it is done.
pub(crate) type Spend<'a> = dyn FnMut(Charge) -> Result<(), Refusal> + 'a;

/// Compiles a tree.
pub(crate) fn compile(pattern: &Pattern, is_text: bool, spend: &mut Spend<'_>) -> Result<Program, Refusal> {
    let mut compiler = Compiler { pattern, steps: Vec::new(), sets: Vec::new(), counters: 0, depth: 0, spend };
    compiler.sequence(&pattern.nodes, pattern.flags)?;
    compiler.steps.push(Step::Done);
    let lead = lead(&compiler.steps);
    Ok(Program {
        steps: compiler.steps,
        sets: compiler.sets,
        groups: pattern.groups,
        counters: compiler.counters,
        lead,
        is_text,
        starts: OnceLock::new(),
    })
}

/// The test that the first character of every match passes.
fn lead(steps: &[Step]) -> Option<One> {
    for step in steps {
        match step {
            Step::Mark(_) | Step::Atomic => {}
            Step::One(One::Any | One::NoLine) => return None,
            Step::One(one) => return Some(*one),
            Step::Run { one, least: 1.., .. } if !matches!(one, One::Any | One::NoLine) => return Some(*one),
            _ => return None,
        }
    }
    None
}

struct Compiler<'a, 'b> {
    pattern: &'a Pattern,
    steps: Vec<Step>,
    sets: Vec<Set>,
    counters: usize,
    depth: usize,
    spend: &'a mut Spend<'b>,
}

fn fold_of(flags: u32) -> Fold {
    if flags & IGNORECASE == 0 {
        Fold::None
    } else if flags & UNICODE != 0 && flags & ASCII == 0 {
        Fold::Unicode
    } else {
        Fold::Ascii
    }
}

/// Flags inside a group that adds some and takes some away.
fn combined(flags: u32, add: u32, remove: u32) -> u32 {
    let types = ASCII | LOCALE | UNICODE;
    let kept = if add & types != 0 { flags & !types } else { flags };
    (kept | add) & !remove
}

impl Compiler<'_, '_> {
    fn sequence(&mut self, nodes: &[Node], flags: u32) -> Result<(), Refusal> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Refusal::Depth);
        }
        for node in nodes {
            self.node(node, flags)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn node(&mut self, node: &Node, flags: u32) -> Result<(), Refusal> {
        match node {
            Node::Literal(_) | Node::Any | Node::Set(..) => {
                let one = self.one(node, flags)?;
                self.steps.push(Step::One(one));
            }
            Node::At(place) => self.steps.push(Step::At(at(*place, flags))),
            Node::Fail => self.steps.push(Step::Fail),
            Node::Branch(branches) => self.branches(branches, flags)?,
            Node::Group(group, add, remove, inner) => {
                let flags = combined(flags, *add, *remove);
                if let Some(group) = group {
                    self.steps.push(Step::Mark(2 * group));
                }
                self.sequence(inner, flags)?;
                if let Some(group) = group {
                    self.steps.push(Step::Mark(2 * group + 1));
                }
            }
            Node::Atomic(inner) => {
                self.steps.push(Step::Atomic);
                self.sequence(inner, flags)?;
                self.steps.push(Step::Committed);
            }
            Node::Repeat(greed, least, most, inner) => self.repeat(*greed, *least, *most, inner, flags)?,
            Node::Look(behind, negated, inner) => {
                let mut back = 0;
                if *behind {
                    let (low, high) = width(inner, &self.pattern.widths);
                    if low != high {
                        return Err(Refusal::Syntax("look-behind requires fixed-width pattern".to_owned(), None));
                    }
                    if low > u64::from(u32::MAX) {
                        return Err(Refusal::Syntax("looks too much behind".to_owned(), None));
                    }
                    back = sizes::index(low).unwrap_or(usize::MAX);
                }
                let start = self.steps.len();
                self.steps.push(Step::Fail);
                self.sequence(inner, flags)?;
                self.steps.push(if *negated { Step::Unwanted } else { Step::Seen });
                self.steps[start] = Step::Look { back, negated: *negated, after: self.steps.len() };
            }
            Node::Reference(group) => self.steps.push(Step::Reference(*group, fold_of(flags))),
            Node::Condition(group, yes, no) => {
                let start = self.steps.len();
                self.steps.push(Step::Fail);
                self.sequence(yes, flags)?;
                if let Some(no) = no {
                    let jump = self.steps.len();
                    self.steps.push(Step::Fail);
                    self.steps[start] = Step::Unless(*group, self.steps.len());
                    self.sequence(no, flags)?;
                    self.steps[jump] = Step::Jump(self.steps.len());
                } else {
                    self.steps[start] = Step::Unless(*group, self.steps.len());
                }
            }
        }
        Ok(())
    }

    fn branches(&mut self, branches: &[Vec<Node>], flags: u32) -> Result<(), Refusal> {
        let mut jumps = Vec::with_capacity(branches.len());
        for (index, branch) in branches.iter().enumerate() {
            let split = self.steps.len();
            let last = index + 1 == branches.len();
            if !last {
                self.steps.push(Step::Fail);
            }
            self.sequence(branch, flags)?;
            if !last {
                jumps.push(self.steps.len());
                self.steps.push(Step::Fail);
                self.steps[split] = Step::Split(self.steps.len());
            }
        }
        let end = self.steps.len();
        for jump in jumps {
            self.steps[jump] = Step::Jump(end);
        }
        Ok(())
    }

    fn repeat(&mut self, greed: Greed, least: u32, most: u32, inner: &[Node], flags: u32) -> Result<(), Refusal> {
        if let [node @ (Node::Literal(_) | Node::Any | Node::Set(..))] = inner {
            let one = self.one(node, flags)?;
            self.steps.push(Step::Run { one, least, most, greed });
            return Ok(());
        }
        if most == 0 {
            return Ok(());
        }
        if greed == Greed::Possessive {
            self.steps.push(Step::Atomic);
        }
        if least == 0 && most == 1 && greed != Greed::Lazy {
            let split = self.steps.len();
            self.steps.push(Step::Fail);
            self.sequence(inner, flags)?;
            self.steps[split] = Step::Split(self.steps.len());
        } else {
            let counter = self.counters;
            self.counters += 1;
            self.steps.push(Step::Begin(counter));
            let jump = self.steps.len();
            self.steps.push(Step::Fail);
            let body = self.steps.len();
            self.sequence(inner, flags)?;
            self.steps[jump] = Step::Jump(self.steps.len());
            self.steps.push(Step::Turn { counter, least, most, lazy: greed == Greed::Lazy, body });
        }
        if greed == Greed::Possessive {
            self.steps.push(Step::Committed);
        }
        Ok(())
    }

    /// The test for a node of one character.
    fn one(&mut self, node: &Node, flags: u32) -> Result<One, Refusal> {
        let fold = fold_of(flags);
        let unicode = flags & UNICODE != 0 && flags & ASCII == 0;
        match node {
            Node::Any => Ok(if flags & DOTALL != 0 { One::Any } else { One::NoLine }),
            Node::Literal(code) if !is_cased(*code, fold) && same_upper(*code).is_none() => Ok(One::Is(*code)),
            Node::Literal(code) if fold == Fold::None => Ok(One::Is(*code)),
            Node::Literal(code) => {
                let small = lower(*code, fold);
                match same_upper(small).filter(|_| fold == Fold::Unicode) {
                    Some(class) => {
                        let ranges: Vec<(u32, u32)> = class.iter().map(|&code| (code, code)).collect();
                        self.set(&ranges, &[], false, fold, unicode)
                    }
                    None => Ok(One::Folds(small, fold)),
                }
            }
            Node::Set(ranges, categories, negated) => self.set(ranges, categories, *negated, fold, unicode),
            _ => Err(Refusal::Depth),
        }
    }

    fn set(&mut self, ranges: &[(u32, u32)], categories: &[Category], negated: bool, fold: Fold, unicode: bool) -> Result<One, Refusal> {
        if self.sets.len() >= MOST_SETS {
            return Err(Refusal::Overflow("regular expression has too many character sets"));
        }
        // The answers for the first 256 characters are worked out at once.
        let mut charge = PATTERN_SET.once();
        if fold != Fold::None {
            let span = ranges.iter().map(|&(low, high)| high.min(0xffff).saturating_sub(low)).fold(0, u32::saturating_add);
            charge = charge + PATTERN_FOLDED.of(span as usize);
        }
        (self.spend)(charge)?;
        self.sets.push(Set::new(ranges, categories.to_vec(), negated, fold, unicode));
        Ok(One::In(u16::try_from(self.sets.len() - 1).unwrap_or(u16::MAX)))
    }
}

fn at(place: Place, flags: u32) -> At {
    let multiline = flags & MULTILINE != 0;
    let unicode = flags & UNICODE != 0 && flags & ASCII == 0;
    match place {
        Place::Begin => {
            if multiline {
                At::LineBegin
            } else {
                At::TextBegin
            }
        }
        Place::End => {
            if multiline {
                At::LineEnd
            } else {
                At::End
            }
        }
        Place::TextBegin => At::TextBegin,
        Place::TextEnd => At::TextEnd,
        Place::Boundary => At::Boundary { unicode, negated: false },
        Place::NoBoundary => At::Boundary { unicode, negated: true },
    }
}
