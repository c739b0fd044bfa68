//! From a pattern's text to its tree: the syntax and the refusals of CPython 3.11's `re`.

mod escapes;

use super::chars::Category;
use cowboy_unicode as unicode;
use std::collections::BTreeMap;

pub(crate) const IGNORECASE: u32 = 2;
pub(crate) const LOCALE: u32 = 4;
pub(crate) const MULTILINE: u32 = 8;
pub(crate) const DOTALL: u32 = 16;
pub(crate) const UNICODE: u32 = 32;
pub(crate) const VERBOSE: u32 = 64;
pub(crate) const ASCII: u32 = 256;
/// Flags of which one holds at a time.
const TYPE_FLAGS: u32 = ASCII | LOCALE | UNICODE;
/// No upper bound.
pub(crate) const ENDLESS: u32 = u32::MAX;
/// Most groups of a pattern.
const MOST_GROUPS: usize = 1_073_741_823;
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

fn fix_flags(flags: u32, is_text: bool) -> Parsed<u32> {
    if is_text {
        if flags & LOCALE != 0 {
            return Err(Refusal::Value("cannot use LOCALE flag with a str pattern"));
        }
        if flags & ASCII == 0 {
            return Ok(flags | UNICODE);
        }
        if flags & UNICODE != 0 {
            return Err(Refusal::Value("ASCII and UNICODE flags are incompatible"));
        }
    } else {
        if flags & UNICODE != 0 {
            return Err(Refusal::Value("cannot use UNICODE flag with a bytes pattern"));
        }
        if flags & LOCALE != 0 && flags & ASCII != 0 {
            return Err(Refusal::Value("ASCII and LOCALE flags are incompatible"));
        }
    }
    Ok(flags)
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

/// What the parser reads at once: a character, or a backslash with what follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Plain(u32),
    Escaped(u32),
}

impl Token {
    fn length(self) -> usize {
        match self {
            Token::Plain(_) => 1,
            Token::Escaped(_) => 2,
        }
    }
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

fn is(token: Option<Token>, character: char) -> bool {
    token == Some(Token::Plain(u32::from(character)))
}

fn letter(code: u32) -> Option<char> {
    char::from_u32(code)
}

impl Parser<'_> {
    fn advance(&mut self) -> Parsed<()> {
        self.next = match self.text.get(self.at) {
            None => None,
            Some(&0x5c) => match self.text.get(self.at + 1) {
                Some(&code) => Some(Token::Escaped(code)),
                None => return Err(Refusal::Syntax("bad escape (end of pattern)".to_owned(), Some(self.text.len() - 1))),
            },
            Some(&code) => Some(Token::Plain(code)),
        };
        self.at += self.next.map_or(0, Token::length);
        Ok(())
    }

    fn get(&mut self) -> Parsed<Option<Token>> {
        let token = self.next;
        self.advance()?;
        Ok(token)
    }

    fn take(&mut self, character: char) -> Parsed<bool> {
        if !is(self.next, character) {
            return Ok(false);
        }
        self.advance()?;
        Ok(true)
    }

    fn tell(&self) -> usize {
        self.at - self.next.map_or(0, Token::length)
    }

    fn seek(&mut self, place: usize) -> Parsed<()> {
        self.at = place;
        self.advance()
    }

    fn refuse<T>(&self, message: impl Into<String>, back: usize) -> Parsed<T> {
        Err(Refusal::Syntax(message.into(), Some(self.tell().saturating_sub(back))))
    }

    fn refuse_from<T>(&self, message: impl Into<String>, start: usize) -> Parsed<T> {
        self.refuse(message, self.tell() - start)
    }

    /// Up to `most` more characters of a sort, as text.
    fn while_in(&mut self, most: usize, sort: impl Fn(char) -> bool) -> Parsed<String> {
        let mut found = String::new();
        for _ in 0..most {
            match self.next {
                Some(Token::Plain(code)) if letter(code).is_some_and(&sort) => {
                    found.extend(letter(code));
                    self.advance()?;
                }
                _ => break,
            }
        }
        Ok(found)
    }

    /// The text before a terminator.
    fn until(&mut self, terminator: char, what: &str) -> Parsed<String> {
        let mut found = String::new();
        loop {
            let token = self.get()?;
            match token {
                None if found.is_empty() => return self.refuse(format!("missing {what}"), 0),
                None => return self.refuse(format!("missing {terminator}, unterminated name"), found.chars().count()),
                Some(Token::Plain(code)) if code == u32::from(terminator) => {
                    if found.is_empty() {
                        return self.refuse(format!("missing {what}"), 1);
                    }
                    return Ok(found);
                }
                Some(Token::Plain(code)) => found.extend(letter(code)),
                Some(Token::Escaped(code)) => {
                    found.push('\\');
                    found.extend(letter(code));
                }
            }
        }
    }

    fn quoted(&self, text: &str) -> String {
        let mut out = String::new();
        if self.is_text {
            crate::escapes::write_text(&mut out, text);
        } else {
            let bytes: Vec<u8> = text.chars().map(|character| u8::try_from(u32::from(character)).unwrap_or(b'?')).collect();
            let name: String = bytes.iter().map(|&byte| char::from(byte)).collect();
            crate::escapes::write_text(&mut out, &name);
        }
        out
    }

    fn check_name(&self, name: &str, offset: usize) -> Parsed<()> {
        if unicode::is_identifier(name) {
            return Ok(());
        }
        self.refuse(format!("bad character in group name {}", self.quoted(name)), name.chars().count() + offset)
    }

    fn check_behind(&self, group: usize) -> Parsed<()> {
        if let Some(first) = self.behind {
            if !self.is_closed(group) {
                return self.refuse("cannot refer to an open group", 0);
            }
            if group >= first {
                return self.refuse("cannot refer to group defined in the same lookbehind subpattern", 0);
            }
        }
        Ok(())
    }

    fn is_closed(&self, group: usize) -> bool {
        self.closed.get(group).is_some_and(Option::is_some)
    }

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

    #[inline(never)]
    fn set(&mut self) -> Parsed<Node> {
        let here = self.tell() - 1;
        let negated = self.take('^')?;
        let (mut ranges, mut categories) = (Vec::new(), Vec::new());
        let mut empty = true;
        loop {
            let Some(token) = self.get()? else { return self.refuse_from("unterminated character set", here) };
            if is(Some(token), ']') && !empty {
                break;
            }
            empty = false;
            let start = self.tell() - token.length();
            let low = match token {
                Token::Escaped(code) => self.set_escape(code)?,
                Token::Plain(code) => Ok(code),
            };
            let low_text = start..self.tell();
            if !self.take('-')? {
                match low {
                    Ok(code) => ranges.push((code, code)),
                    Err(category) => categories.push(category),
                }
                continue;
            }
            let middle = self.tell();
            let Some(token) = self.get()? else { return self.refuse_from("unterminated character set", here) };
            if is(Some(token), ']') {
                match low {
                    Ok(code) => ranges.push((code, code)),
                    Err(category) => categories.push(category),
                }
                ranges.push((0x2d, 0x2d));
                break;
            }
            let high = match token {
                Token::Escaped(code) => self.set_escape(code)?,
                Token::Plain(code) => Ok(code),
            };
            match (low, high) {
                (Ok(low), Ok(high)) if low <= high => ranges.push((low, high)),
                _ => {
                    let text =
                        |range: std::ops::Range<usize>| -> String { self.text[range].iter().filter_map(|&code| letter(code)).collect() };
                    // CPython shows each end as its first token.
                    let first = &self.text[low_text.start..];
                    let first_length = if first.first() == Some(&0x5c) { 2 } else { 1 };
                    let this = text(low_text.start..low_text.start + first_length);
                    let that = text(middle..middle + token.length());
                    return self.refuse(format!("bad character range {this}-{that}"), first_length + 1 + token.length());
                }
            }
        }
        if ranges.len() == 1 && categories.is_empty() && !negated && ranges[0].0 == ranges[0].1 {
            return Ok(Node::Literal(ranges[0].0));
        }
        Ok(Node::Set(ranges, categories, negated))
    }

    fn character(&mut self) -> Parsed<char> {
        match self.get()? {
            None => self.refuse("unexpected end of pattern", 0),
            Some(Token::Plain(code)) => Ok(letter(code).unwrap_or('\0')),
            Some(Token::Escaped(code)) => self.refuse(format!("unknown extension ?\\{}", letter(code).unwrap_or('\0')), 3),
        }
    }

    fn named(&mut self, name: &str) -> Parsed<usize> {
        match self.names.get(name) {
            Some(&group) => Ok(group),
            None => self.refuse(format!("unknown group name {}", self.quoted(name)), name.chars().count() + 1),
        }
    }

    /// Reads what follows an opening parenthesis. Global flags say whether the rest is verbose.
    fn group(&mut self, verbose: bool, depth: usize, first: bool, nodes: &mut Vec<Node>) -> Parsed<Option<bool>> {
        let start = self.tell() - 1;
        let (mut capture, mut atomic, mut name) = (true, false, None);
        let (mut add, mut remove) = (0, 0);
        if self.take('?')? {
            capture = false;
            match self.character()? {
                'P' => {
                    if self.take('<')? {
                        let given = self.until('>', "group name")?;
                        self.check_name(&given, 1)?;
                        name = Some(given);
                        capture = true;
                    } else if self.take('=')? {
                        nodes.push(self.reference()?);
                        return Ok(None);
                    } else {
                        let character = self.character()?;
                        return self.refuse(format!("unknown extension ?P{character}"), 3);
                    }
                }
                ':' => {}
                '#' => loop {
                    if self.next.is_none() {
                        return self.refuse_from("missing ), unterminated comment", start);
                    }
                    if is(self.get()?, ')') {
                        return Ok(None);
                    }
                },
                kind @ ('=' | '!' | '<') => return self.look(kind, start, verbose, depth, nodes),
                '(' => return self.condition(start, verbose, depth, nodes),
                '>' => atomic = true,
                kind if kind == '-' || flag_of(kind).is_some() => match self.flags(kind)? {
                    None => {
                        if !first {
                            return self.refuse_from("global flags not at the start of the expression", start);
                        }
                        return Ok(Some(self.flags & VERBOSE != 0));
                    }
                    Some((added, removed)) => (add, remove) = (added, removed),
                },
                kind => return self.refuse(format!("unknown extension ?{kind}"), 2),
            }
        }
        let group = if capture { Some(self.open_group(name)?) } else { None };
        let inner_verbose = (verbose || add & VERBOSE != 0) && remove & VERBOSE == 0;
        let inner = self.alternatives(inner_verbose, depth + 1)?;
        if !self.take(')')? {
            return self.refuse_from("missing ), unterminated subpattern", start);
        }
        if let Some(group) = group {
            self.closed[group] = Some(width(&inner, &self.closed));
        }
        nodes.push(if atomic { Node::Atomic(inner) } else { Node::Group(group, add, remove, inner) });
        Ok(None)
    }

    /// Reads the name of the group that `(?P=` refers to.
    #[inline(never)]
    fn reference(&mut self) -> Parsed<Node> {
        let given = self.until(')', "group name")?;
        self.check_name(&given, 1)?;
        let group = self.named(&given)?;
        if !self.is_closed(group) {
            return self.refuse("cannot refer to an open group", given.chars().count() + 1);
        }
        self.check_behind(group)?;
        Ok(Node::Reference(group))
    }

    #[inline(never)]
    fn open_group(&mut self, name: Option<String>) -> Parsed<usize> {
        let group = self.closed.len();
        if group > MOST_GROUPS {
            return self.refuse("too many groups", 0);
        }
        if let Some(name) = name {
            if let Some(other) = self.names.get(&name) {
                let message = format!("redefinition of group name {} as group {group}; was group {other}", self.quoted(&name));
                return self.refuse(message, name.chars().count() + 1);
            }
            self.names.insert(name.clone(), group);
            self.order.push((name, group));
        }
        self.closed.push(None);
        Ok(group)
    }

    fn look(&mut self, kind: char, start: usize, verbose: bool, depth: usize, nodes: &mut Vec<Node>) -> Parsed<Option<bool>> {
        let mut kind = kind;
        let behind = kind == '<';
        let outer = self.behind;
        if behind {
            kind = self.character()?;
            if kind != '=' && kind != '!' {
                return self.refuse(format!("unknown extension ?<{kind}"), 3);
            }
            if outer.is_none() {
                self.behind = Some(self.closed.len());
            }
        }
        let inner = self.alternatives(verbose, depth + 1)?;
        if behind {
            self.behind = outer;
        }
        if !self.take(')')? {
            return self.refuse_from("missing ), unterminated subpattern", start);
        }
        nodes.push(if kind == '!' && inner.is_empty() { Node::Fail } else { Node::Look(behind, kind == '!', inner) });
        Ok(None)
    }

    fn condition(&mut self, start: usize, verbose: bool, depth: usize, nodes: &mut Vec<Node>) -> Parsed<Option<bool>> {
        let name = self.until(')', "group name")?;
        let length = name.chars().count();
        let group = if unicode::is_identifier(&name) {
            self.named(&name)?
        } else {
            let Ok(group) = name.trim().parse::<usize>() else {
                return self.refuse(format!("bad character in group name {}", self.quoted(&name)), length + 1);
            };
            if group == 0 {
                return self.refuse("bad group number", length + 1);
            }
            if group >= MOST_GROUPS {
                return self.refuse(format!("invalid group reference {group}"), length + 1);
            }
            if !self.conditions.iter().any(|&(known, _)| known == group) {
                self.conditions.push((group, self.tell() - length - 1));
            }
            group
        };
        self.check_behind(group)?;
        if depth > NESTING {
            return Err(Refusal::Depth);
        }
        let yes = self.sequence(verbose, depth + 1, false)?;
        let no = if self.take('|')? {
            let no = self.sequence(verbose, depth + 1, false)?;
            if is(self.next, '|') {
                return self.refuse("conditional backref with more than two branches", 0);
            }
            Some(no)
        } else {
            None
        };
        if !self.take(')')? {
            return self.refuse_from("missing ), unterminated subpattern", start);
        }
        nodes.push(Node::Condition(group, yes, no));
        Ok(None)
    }

    /// Inline flags: none when they are global, else what they add and take away.
    fn flags(&mut self, first: char) -> Parsed<Option<(u32, u32)>> {
        let (mut add, mut remove) = (0, 0);
        let mut kind = first;
        if kind != '-' {
            loop {
                let flag = flag_of(kind).unwrap_or(0);
                if self.is_text && kind == 'L' {
                    return self.refuse("bad inline flags: cannot use 'L' flag with a str pattern", 0);
                }
                if !self.is_text && kind == 'u' {
                    return self.refuse("bad inline flags: cannot use 'u' flag with a bytes pattern", 0);
                }
                add |= flag;
                if flag & TYPE_FLAGS != 0 && add & TYPE_FLAGS != flag {
                    return self.refuse("bad inline flags: flags 'a', 'u' and 'L' are incompatible", 0);
                }
                kind = match self.flag_character("missing -, : or )")? {
                    Some(kind) => kind,
                    None => return self.refuse("missing -, : or )", 0),
                };
                if matches!(kind, ')' | '-' | ':') {
                    break;
                }
                if flag_of(kind).is_none() {
                    let message = if unicode::is_alpha(kind) { "unknown flag" } else { "missing -, : or )" };
                    return self.refuse(message, 1);
                }
            }
        }
        if kind == ')' {
            self.flags |= add;
            return Ok(None);
        }
        if kind == '-' {
            kind = match self.flag_character("missing flag")? {
                Some(kind) => kind,
                None => return self.refuse("missing flag", 0),
            };
            if flag_of(kind).is_none() {
                let message = if unicode::is_alpha(kind) { "unknown flag" } else { "missing flag" };
                return self.refuse(message, 1);
            }
            loop {
                let flag = flag_of(kind).unwrap_or(0);
                if flag & TYPE_FLAGS != 0 {
                    return self.refuse("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", 0);
                }
                remove |= flag;
                kind = match self.flag_character("missing :")? {
                    Some(kind) => kind,
                    None => return self.refuse("missing :", 0),
                };
                if kind == ':' {
                    break;
                }
                if flag_of(kind).is_none() {
                    let message = if unicode::is_alpha(kind) { "unknown flag" } else { "missing :" };
                    return self.refuse(message, 1);
                }
            }
        }
        if add & remove != 0 {
            return self.refuse("bad inline flags: flag turned on and off", 1);
        }
        Ok(Some((add, remove)))
    }

    fn flag_character(&mut self, missing: &str) -> Parsed<Option<char>> {
        match self.get()? {
            None => Ok(None),
            Some(Token::Plain(code)) => Ok(letter(code)),
            Some(Token::Escaped(_)) => self.refuse(missing, 2),
        }
    }
}

fn flag_of(character: char) -> Option<u32> {
    Some(match character {
        'i' => IGNORECASE,
        'L' => LOCALE,
        'm' => MULTILINE,
        's' => DOTALL,
        'x' => VERBOSE,
        'a' => ASCII,
        'u' => UNICODE,
        _ => return None,
    })
}
