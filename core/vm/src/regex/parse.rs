//! From a pattern's text to its tree: the syntax and the refusals of CPython 3.11's `re`.

mod escapes;
mod flags;
mod groups;
mod sets;
mod tokens;

use super::chars::Category;
use flags::fix_flags;
use std::collections::BTreeMap;
use tokens::{Token, is, letter};

pub(crate) const IGNORECASE: u32 = 2;
pub(crate) const LOCALE: u32 = 4;
pub(crate) const MULTILINE: u32 = 8;
pub(crate) const DOTALL: u32 = 16;
pub(crate) const UNICODE: u32 = 32;
pub(crate) const VERBOSE: u32 = 64;
pub(crate) const ASCII: u32 = 256;
/// No upper bound.
pub(crate) const ENDLESS: u32 = u32::MAX;
/// How deep the parser follows groups inside one another: two for each.
const NESTING: usize = 400;

/// How often and in which order a repetition tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greed {
    /// As many as possible first.
    Greedy,
    /// As few as possible first.
    Lazy,
    /// As many as possible, once and for all.
    Possessive,
}

/// A place between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// `^`
    Begin,
    /// `$`
    End,
    /// `\A`
    TextBegin,
    /// `\Z`
    TextEnd,
    /// `\b`
    Boundary,
    /// `\B`
    NoBoundary,
}

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// One character.
    Literal(u32),
    /// `.`
    Any,
    /// A set: ranges, categories, whether negated.
    Set(Vec<(u32, u32)>, Vec<Category>, bool),
    /// A place.
    At(Place),
    /// `a|b`
    Branch(Vec<Vec<Node>>),
    /// A group: its number, flags it adds and takes away, its content.
    Group(Option<usize>, u32, u32, Vec<Node>),
    /// `(?>...)`
    Atomic(Vec<Node>),
    /// A repetition.
    Repeat(Greed, u32, u32, Vec<Node>),
    /// Lookaround: whether it looks behind, whether it is negated.
    Look(bool, bool, Vec<Node>),
    /// What a group matched.
    Reference(usize),
    /// `(?(1)yes|no)`
    Condition(usize, Vec<Node>, Option<Vec<Node>>),
    /// Never.
    Fail,
}

/// Why a text is no pattern.
#[derive(Clone, Debug)]
pub(crate) enum Refusal {
    /// `re.error` with a place, when there is one.
    Syntax(String, Option<usize>),
    /// ValueError.
    Value(&'static str),
    /// OverflowError.
    Overflow(&'static str),
    /// RecursionError.
    Depth,
    /// The cycles are used up.
    Cycles,
}

/// A parsed pattern.
pub(crate) struct Pattern {
    pub nodes: Vec<Node>,
    pub flags: u32,
    /// Groups, the whole match included.
    pub groups: usize,
    pub names: Vec<(String, usize)>,
    /// Least and most characters of each group.
    pub widths: Vec<Option<(u64, u64)>>,
}

type Parsed<T> = Result<T, Refusal>;

/// Parses a pattern, given as characters or bytes.
pub(crate) fn parse(text: &[u32], is_text: bool, flags: u32) -> Parsed<Pattern> {
    let mut parser = Parser {
        text,
        is_text,
        at: 0,
        next: None,
        flags,
        names: BTreeMap::new(),
        order: Vec::new(),
        closed: vec![None],
        behind: None,
        conditions: Vec::new(),
    };
    parser.advance()?;
    let nodes = parser.alternatives(flags & VERBOSE != 0, 0)?;
    parser.flags = fix_flags(parser.flags, is_text)?;
    if parser.next.is_some() {
        return parser.refuse("unbalanced parenthesis", 0);
    }
    for &(group, place) in &parser.conditions {
        if group >= parser.closed.len() {
            return Err(Refusal::Syntax(format!("invalid group reference {group}"), Some(place)));
        }
    }
    Ok(Pattern { nodes, flags: parser.flags, groups: parser.closed.len(), names: parser.order, widths: parser.closed })
}

/// The least and most characters that nodes match.
pub(crate) fn width(nodes: &[Node], closed: &[Option<(u64, u64)>]) -> (u64, u64) {
    let (mut low, mut high) = (0_u64, 0_u64);
    for node in nodes {
        let (least, most) = match node {
            Node::Literal(_) | Node::Any | Node::Set(..) => (1, 1),
            Node::At(_) | Node::Look(..) | Node::Fail => (0, 0),
            Node::Branch(branches) => {
                branches.iter().map(|branch| width(branch, closed)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0, 0))
            }
            // A group that is closed was measured then.
            Node::Group(Some(group), _, _, inner) => closed.get(*group).copied().flatten().unwrap_or_else(|| width(inner, closed)),
            Node::Group(None, _, _, inner) | Node::Atomic(inner) => width(inner, closed),
            Node::Repeat(_, least, most, inner) => {
                let (low, high) = width(inner, closed);
                (low.saturating_mul(u64::from(*least)), high.saturating_mul(u64::from(*most)))
            }
            Node::Reference(group) => closed.get(*group).copied().flatten().unwrap_or((0, 0)),
            Node::Condition(_, yes, no) => {
                let yes = width(yes, closed);
                let no = no.as_ref().map_or((0, 0), |no| width(no, closed));
                (yes.0.min(no.0), yes.1.max(no.1))
            }
        };
        low = low.saturating_add(least);
        high = high.saturating_add(most);
    }
    (low, high)
}

struct Parser<'a> {
    text: &'a [u32],
    is_text: bool,
    at: usize,
    next: Option<Token>,
    flags: u32,
    names: BTreeMap<String, usize>,
    order: Vec<(String, usize)>,
    /// Widths of groups; none while a group is open.
    closed: Vec<Option<(u64, u64)>>,
    /// The first group inside the lookbehind that is being read.
    behind: Option<usize>,
    conditions: Vec<(usize, usize)>,
}

impl Parser<'_> {
    fn alternatives(&mut self, verbose: bool, depth: usize) -> Parsed<Vec<Node>> {
        if depth > NESTING {
            return Err(Refusal::Depth);
        }
        let mut branches = Vec::new();
        let mut verbose = verbose;
        loop {
            let first = depth == 0 && branches.is_empty();
            branches.push(self.sequence(verbose, depth + 1, first)?);
            if !self.take('|')? {
                break;
            }
            if depth == 0 {
                verbose = self.flags & VERBOSE != 0;
            }
        }
        if branches.len() == 1 {
            return Ok(branches.pop().unwrap_or_default());
        }
        Ok(vec![Node::Branch(branches)])
    }

    fn sequence(&mut self, verbose: bool, depth: usize, first: bool) -> Parsed<Vec<Node>> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut verbose = verbose;
        while let Some(token) = self.next {
            if is(Some(token), '|') || is(Some(token), ')') {
                break;
            }
            self.advance()?;
            let code = match token {
                Token::Escaped(code) => {
                    let node = self.escape(code)?;
                    nodes.push(node);
                    continue;
                }
                Token::Plain(code) => code,
            };
            let character = letter(code).unwrap_or('\0');
            if verbose {
                if matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c') {
                    continue;
                }
                if character == '#' {
                    while let Some(token) = self.get()? {
                        if is(Some(token), '\n') {
                            break;
                        }
                    }
                    continue;
                }
            }
            match character {
                '[' => {
                    let set = self.set()?;
                    nodes.push(set);
                }
                '*' | '+' | '?' | '{' => self.repetition(character, &mut nodes)?,
                '.' => nodes.push(Node::Any),
                '(' => {
                    if let Some(flags) = self.group(verbose, depth, first && nodes.is_empty(), &mut nodes)? {
                        verbose = flags;
                    }
                }
                '^' => nodes.push(Node::At(Place::Begin)),
                '$' => nodes.push(Node::At(Place::End)),
                _ => nodes.push(Node::Literal(code)),
            }
        }
        // A group without number or flags is only its content.
        let mut flat = Vec::with_capacity(nodes.len());
        for node in nodes {
            match node {
                Node::Group(None, 0, 0, inner) => flat.extend(inner),
                node => flat.push(node),
            }
        }
        Ok(flat)
    }

    #[inline(never)]
    fn repetition(&mut self, kind: char, nodes: &mut Vec<Node>) -> Parsed<()> {
        let here = self.tell();
        let (least, most) = match kind {
            '?' => (0, 1),
            '*' => (0, ENDLESS),
            '+' => (1, ENDLESS),
            _ => {
                if is(self.next, '}') {
                    nodes.push(Node::Literal(u32::from(kind)));
                    return Ok(());
                }
                let low = self.while_in(usize::MAX, |character| character.is_ascii_digit())?;
                let high = if self.take(',')? { self.while_in(usize::MAX, |character| character.is_ascii_digit())? } else { low.clone() };
                if !self.take('}')? {
                    nodes.push(Node::Literal(u32::from(kind)));
                    return self.seek(here);
                }
                let number = |text: &str, default: u32| match text {
                    "" => Ok(default),
                    text => match text.parse::<u32>() {
                        Ok(number) if number < ENDLESS => Ok(number),
                        _ => Err(Refusal::Overflow("the repetition number is too large")),
                    },
                };
                let (least, most) = (number(&low, 0)?, number(&high, ENDLESS)?);
                if most < least {
                    return self.refuse_from("min repeat greater than max repeat", here);
                }
                (least, most)
            }
        };
        let place = self.tell() - here + 1;
        match nodes.last() {
            None | Some(Node::At(_)) => return self.refuse("nothing to repeat", place),
            Some(Node::Repeat(..)) => return self.refuse("multiple repeat", place),
            Some(_) => {}
        }
        let item = match nodes.pop() {
            Some(Node::Group(None, 0, 0, inner)) => inner,
            Some(node) => vec![node],
            None => Vec::new(),
        };
        let is_lazy = self.take('?')?;
        let greed = match !is_lazy && self.take('+')? {
            _ if is_lazy => Greed::Lazy,
            true => Greed::Possessive,
            false => Greed::Greedy,
        };
        nodes.push(Node::Repeat(greed, least, most, item));
        Ok(())
    }
}
