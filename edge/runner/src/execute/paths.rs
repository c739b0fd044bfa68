//! What an XPath may take on a page, counted before it is evaluated (decisions 685 and 708).
//!
//! The library evaluates each step of a path for each item of the step before, and removes items that it found twice only at the end: of elements that are
//! deep within each other, each is found by every way that leads there. The ways are counted here as if every condition held.

mod tree;

pub(super) use tree::tree;

use super::Fault;
use skyscraper::xpath::{XpathItemTree, grammar::XpathItemTreeNode};
use std::collections::BTreeMap;

/// The most items that the steps of a path may have together.
const MAX_ITEMS: u64 = 2_000_000;

/// The deepest parentheses and brackets of a path within each other.
const MAX_NESTING: usize = 16;

/// Bytes of text that are read as fast as an item is found.
const BYTES_PER_ITEM: u64 = 64;

/// Nodes that are looked at as fast as an item is found.
const VISITS_PER_ITEM: u64 = 64;

/// Operators of words that do not read the text of what stands beside them.
const SET_OPERATORS: [&str; 5] = ["and", "or", "union", "intersect", "except"];

/// Functions that read the text of all below an element.
const TEXT_FUNCTIONS: [&str; 5] = ["contains", "starts-with", "ends-with", "normalize-space", "string"];

/// The nodes of a page: each after the one that it is in, and beside its siblings.
pub(super) struct Nodes {
    /// The node that each one is in; the root is in itself.
    above: Vec<usize>,
    /// The number of each one's name; zero of texts and comments.
    kinds: Vec<usize>,
    /// Which of them are attributes.
    are_attributes: Vec<bool>,
    /// The numbers of names, which are in small letters; `@` stands before those of attributes.
    names: BTreeMap<String, usize>,
    /// Items that reading the text of a node takes, on average.
    text: u64,
}

/// What a path is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A name, a number, or an operator.
    Word(&'a str),
    /// What stands before two colons.
    Axis(&'a str),
    /// What stands before a parenthesis.
    Function(&'a str),
    Sign(char),
    /// `//`
    Down,
    /// `..`
    Up,
    /// `||`
    Concat,
    /// A text in quotes.
    Text,
}

/// Where the next step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Child,
    Own,
    Attribute,
    Parent,
    Following,
}

/// What of it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test<'a> {
    All,
    Text,
    Name(&'a str),
}

/// A path within parentheses or brackets, or the whole.
struct Level {
    /// The ways to the items that it is evaluated for.
    base: Vec<u64>,
    /// Those to the items of its last step.
    now: Vec<u64>,
    /// Those to what the paths before an operator found.
    found: Vec<u64>,
    /// The sum of `now` of the path before a comparison.
    compared: Option<u64>,
    /// That of the paths before an `intersect` or `except`.
    searched: Option<u64>,
    /// Whether the path has begun, and whether it needs a step.
    has_begun: bool,
    is_open: bool,
    axis: Axis,
    is_down: bool,
    /// What the last step has as items if a condition follows it.
    within: u64,
    /// Whether it is a path in parentheses, which another one continues.
    is_group: bool,
    /// Whether the text of what a path finds is read: of each in the parentheses of a function, and of the one after an operator.
    is_argument: bool,
    is_operand: bool,
    /// Whether the path is a value, with no text to be read.
    is_plain: bool,
    /// Whether parentheses that follow are those of a function that reads text.
    is_call: bool,
}

impl Level {
    fn new(base: Vec<u64>, is_group: bool, is_argument: bool) -> Self {
        Self {
            now: base.clone(),
            found: vec![0; base.len()],
            base,
            compared: None,
            searched: None,
            has_begun: false,
            is_open: true,
            axis: Axis::Child,
            is_down: false,
            within: 0,
            is_group,
            is_argument,
            is_operand: false,
            is_plain: false,
            is_call: false,
        }
    }
}

/// A name in small letters, without its namespace.
fn local(name: &str) -> String {
    name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase()
}

fn sum(ways: &[u64]) -> u64 {
    ways.iter().fold(0, |sum, ways| sum.saturating_add(*ways))
}

impl Nodes {
    /// Those of a page.
    pub(super) fn of(tree: &XpathItemTree, page_bytes: usize) -> Self {
        let (mut nodes, mut above, mut at) = (vec![tree.root()], vec![0_usize], 0);
        let (mut kinds, mut are_attributes, mut names) = (Vec::new(), Vec::new(), BTreeMap::new());
        while let Some(node) = nodes.get(at).copied() {
            let name = match node {
                XpathItemTreeNode::ElementNode(element) => Some(local(&element.name)),
                XpathItemTreeNode::AttributeNode(attribute) => Some(format!("@{}", local(&attribute.name))),
                _ => None,
            };
            are_attributes.push(matches!(node, XpathItemTreeNode::AttributeNode(_)));
            let number = names.len() + 1;
            kinds.push(name.map_or(0, |name| *names.entry(name).or_insert(number)));
            for child in node.children(tree) {
                nodes.push(child);
                above.push(at);
            }
            at += 1;
        }
        let bytes = u64::try_from(page_bytes / above.len()).unwrap_or(u64::MAX);
        Self { above, kinds, are_attributes, names, text: 1 + bytes / BYTES_PER_ITEM }
    }

    /// Refuses a path that may take too much.
    pub(super) fn require_few(&self, path: &str) -> Result<(), Fault> {
        let items = self.items(path);
        if items <= MAX_ITEMS {
            return Ok(());
        }
        Err(Fault::Impossible(format!("xpath: the steps of the rule may have {items} items on this page, and may have {MAX_ITEMS}")))
    }

    fn root(&self, ways: u64) -> Vec<u64> {
        let mut root = vec![0; self.above.len()];
        root[0] = ways;
        root
    }

    fn children(&self, of: &[u64]) -> Vec<u64> {
        let inner = self.above.iter().skip(1).map(|above| of[*above]);
        std::iter::once(0).chain(inner).collect()
    }

    fn below(&self, of: &[u64]) -> Vec<u64> {
        let mut below = vec![0_u64; of.len()];
        for (at, above) in self.above.iter().enumerate().skip(1) {
            below[at] = below[*above].saturating_add(of[*above]);
        }
        below
    }

    fn parents(&self, of: &[u64]) -> Vec<u64> {
        let mut parents = vec![0_u64; of.len()];
        for (at, above) in self.above.iter().enumerate().skip(1) {
            parents[*above] = parents[*above].saturating_add(of[at]);
        }
        parents
    }

    fn following(&self, of: &[u64]) -> Vec<u64> {
        let (mut following, mut before, mut last) = (vec![0_u64; of.len()], 0_u64, usize::MAX);
        for (at, above) in self.above.iter().enumerate().skip(1) {
            if *above != last {
                (before, last) = (0, *above);
            }
            following[at] = before;
            before = before.saturating_add(of[at]);
        }
        following
    }

    /// The items that the steps of a path may have together.
    fn items(&self, path: &str) -> u64 {
        let mut levels = vec![Level::new(self.root(1), false, false)];
        let mut items = 0_u64;
        for token in tokens(path) {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { return u64::MAX };
            let more = match token {
                Token::Sign('(' | '[') if depth > MAX_NESTING => return u64::MAX,
                Token::Sign(sign @ ('(' | '[')) => {
                    let more = match sign {
                        '[' => std::mem::take(&mut level.within),
                        _ if level.is_open => self.descend(level),
                        _ => 0,
                    };
                    // Where no path has begun, the last step is the one that it begins at.
                    let (base, is_group) = (level.now.clone(), sign == '(' && level.is_open);
                    let is_argument = std::mem::take(&mut level.is_call);
                    levels.push(Level::new(base, is_group, is_argument));
                    more
                }
                Token::Sign(')' | ']') => {
                    let more = self.end(level, None);
                    let Some(done) = levels.pop() else { return u64::MAX };
                    if let (true, Some(outer)) = (done.is_group, levels.last_mut()) {
                        (outer.now, outer.has_begun, outer.is_open) = (done.found, true, false);
                    }
                    more
                }
                // Names of other letters may have some that are no letters here.
                Token::Word(_) if level.is_open && !path.is_ascii() => self.step(level, Test::All),
                token => self.next(level, token),
            };
            items = items.saturating_add(more);
            if items > MAX_ITEMS {
                return items;
            }
        }
        let rest = levels.last_mut().map_or(0, |level| self.end(level, None));
        items.saturating_add(rest)
    }

    /// Takes a token into a path. Returns the items that it adds.
    fn next(&self, level: &mut Level, token: Token<'_>) -> u64 {
        match token {
            Token::Sign('/') | Token::Down => {
                if !level.has_begun {
                    level.now = self.root(sum(&level.base));
                }
                (level.has_begun, level.is_open, level.axis, level.is_down) = (true, true, Axis::Child, token == Token::Down);
                0
            }
            Token::Sign('@') => {
                level.axis = Axis::Attribute;
                0
            }
            Token::Axis(name) => {
                level.axis = match name {
                    "attribute" => Axis::Attribute,
                    "self" => Axis::Own,
                    "parent" => Axis::Parent,
                    "following-sibling" => Axis::Following,
                    _ => Axis::Child,
                };
                0
            }
            Token::Up => {
                level.axis = Axis::Parent;
                self.step(level, Test::All)
            }
            Token::Sign('.') => {
                level.axis = Axis::Own;
                self.step(level, Test::All)
            }
            // `and` and `or` stand before parentheses, too.
            Token::Function(name) if !level.is_open => self.end(level, Some(Token::Word(name))),
            Token::Function("text") => self.step(level, Test::Text),
            Token::Function("node") => self.step(level, Test::All),
            Token::Function(name) => {
                level.is_call = TEXT_FUNCTIONS.contains(&name);
                self.value(level)
            }
            Token::Word(number) if level.is_open && is_number(number) => self.value(level),
            Token::Text => self.value(level),
            Token::Word(name) if level.is_open => self.step(level, Test::Name(name)),
            Token::Sign('*') if level.is_open => self.step(level, Test::All),
            operator => self.end(level, Some(operator)),
        }
    }

    /// Adds what is below the items of a path, where `//` says so. Returns how many they are together.
    fn descend(&self, level: &mut Level) -> u64 {
        if !std::mem::take(&mut level.is_down) {
            return 0;
        }
        let below = self.below(&level.now);
        for (own, below) in level.now.iter_mut().zip(below) {
            *own = own.saturating_add(below);
        }
        sum(&level.now)
    }

    /// Takes a value for a path, or for its next step. Returns the items that it is evaluated for, where `//` makes them.
    fn value(&self, level: &mut Level) -> u64 {
        (level.has_begun, level.is_open, level.is_plain) = (true, false, true);
        self.descend(level)
    }

    /// Makes the next step. Returns its items, and what looking for them takes.
    fn step(&self, level: &mut Level, test: Test<'_>) -> u64 {
        let within = self.descend(level);
        let (from, axis) = (std::mem::take(&mut level.now), level.axis);
        // Children without a condition are found on the way down. Before any other step, all below are items.
        let (within, later) = if axis == Axis::Child { (0, within) } else { (within, 0) };
        level.within = later;
        let begun = sum(&from);
        level.now = match axis {
            Axis::Child | Axis::Attribute => self.children(&from),
            Axis::Own => from,
            Axis::Parent => self.parents(&from),
            Axis::Following => self.following(&from),
        };
        // Names are compared after that.
        let visited = begun.saturating_add(sum(&level.now)) / VISITS_PER_ITEM;
        // A name that the page does not have is the number of no node.
        let number = |name: String| self.names.get(&name).copied().unwrap_or(usize::MAX);
        let kind = match test {
            Test::Text => Some(0),
            Test::Name(name) if axis == Axis::Attribute => Some(number(format!("@{}", local(name)))),
            Test::Name(name) => Some(number(local(name))),
            Test::All => None,
        };
        for (at, ways) in level.now.iter_mut().enumerate() {
            let is_of_axis = axis == Axis::Own || self.are_attributes[at] == (axis == Axis::Attribute);
            if !is_of_axis || kind.is_some_and(|kind| self.kinds[at] != kind) {
                *ways = 0;
            }
        }
        (level.has_begun, level.is_open, level.is_plain, level.axis) = (true, false, false, Axis::Child);
        sum(&level.now).saturating_add(visited).saturating_add(within)
    }

    /// Ends a path, maybe by an operator. Returns what reading the text of its items takes, and the items that an operator between it and the path before
    /// looks at.
    fn end(&self, level: &mut Level, operator: Option<Token<'_>>) -> u64 {
        let is_comparison = matches!(operator, Some(Token::Sign('=' | '<' | '>')));
        // Each item on the left is looked for among those on the right.
        let is_search = matches!(operator, Some(Token::Word("intersect" | "except")));
        let is_set = match operator {
            None | Some(Token::Sign('|' | ',')) => true,
            Some(Token::Word(name)) => SET_OPERATORS.contains(&name),
            Some(_) => false,
        };
        // A function without arguments reads what it is evaluated for.
        let is_read = level.is_argument || (level.has_begun && (level.is_operand || !is_set));
        let below = if is_read && !level.is_plain { sum(&self.below(&level.now)) } else { 0 };
        let mut more = below.saturating_mul(self.text);
        level.is_operand = !is_set;
        if level.has_begun {
            let (right, times) = (sum(&level.now), sum(&level.base).max(1));
            if let Some(left) = level.compared.take() {
                more = more.saturating_add(left.saturating_mul(right) / times);
            }
            level.compared = is_comparison.then_some(right);
            let searched = level.searched.take().unwrap_or(0);
            more = more.saturating_add(searched.saturating_mul(right) / times / VISITS_PER_ITEM);
            level.searched = is_search.then_some(searched.saturating_add(right));
            for (found, now) in level.found.iter_mut().zip(&level.now) {
                *found = found.saturating_add(*now);
            }
        } else if !is_comparison {
            level.compared = None;
        }
        level.now = level.base.clone();
        (level.has_begun, level.is_open, level.is_plain) = (false, true, false);
        (level.axis, level.is_down) = (Axis::Child, false);
        more
    }
}

/// Refuses a path that is nested deeper than people write: the library tries each of its rules at each parenthesis.
pub(super) fn require_shallow(path: &str) -> Result<(), String> {
    let mut depth = 0_usize;
    for token in tokens(path) {
        match token {
            Token::Sign('(' | '[') => depth += 1,
            Token::Sign(')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return Err(format!("xpath: its parentheses are more than {MAX_NESTING} deep"));
        }
    }
    Ok(())
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_')
}

/// Whether a text begins with a number.
fn is_number(text: &str) -> bool {
    text.strip_prefix('.').unwrap_or(text).starts_with(|first: char| first.is_ascii_digit())
}

/// The length of the name or number that a text begins with. Names have hyphens, and numbers have none: `3-b` is a difference.
fn name_length(text: &str) -> usize {
    let is_hyphenated = !is_number(text);
    let ends = |letter: char| !(is_word(letter) || letter == '.') || (letter == '-' && !is_hyphenated);
    text.find(ends).unwrap_or(text.len())
}

/// The tokens of a path whose quotes close.
fn tokens(path: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut rest) = (Vec::new(), path.trim_start());
    while let Some(first) = rest.chars().next() {
        let (token, length) = if is_number(rest) || (is_word(first) && first != '-') {
            let length = name_length(rest);
            let (word, after) = rest.split_at(length);
            match after.trim_start() {
                after if after.starts_with("::") => (Token::Axis(word), rest.len() - after.len() + 2),
                after if after.starts_with('(') => (Token::Function(word), length),
                _ => (Token::Word(word), length),
            }
        } else if let Some((_, after)) = rest.strip_prefix(['"', '\'']).and_then(|inside| inside.split_once(first)) {
            (Token::Text, rest.len() - after.len())
        } else if let Some(name) = rest.strip_prefix('*').and_then(|after| after.trim_start().strip_prefix(':')) {
            // A name of any namespace.
            let name = name.trim_start();
            (Token::Sign('*'), rest.len() - name.len() + name_length(name))
        } else if rest.starts_with("//") {
            (Token::Down, 2)
        } else if rest.starts_with("..") {
            (Token::Up, 2)
        } else if rest.starts_with("||") {
            (Token::Concat, 2)
        } else {
            (Token::Sign(first), first.len_utf8())
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests;
