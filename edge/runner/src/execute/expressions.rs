//! Regular expressions of rules, and what a search for one may take on a page.
//!
//! No expression looks back, so that a search reads the page once. But at each byte it may be in all states of the expression together, and nobody ends it
//! before it is over: states are counted before anything is looked for (decision 778).

use super::Fault;
use cowboy_system::offchain::extraction;
use regex::{Regex, RegexBuilder};
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange, parse::ParserBuilder};

/// The most memory of a regular expression, in bytes.
const MAX_REGEX_BYTES: usize = 256 * 1024;

/// The most steps of a search: the bytes of the page, times the states of the expression, times what is kept of each, which is where each group is and the whole.
/// Each takes up to some nanoseconds.
const MAX_STEPS: usize = 1 << 30;

/// States of a class of characters: one for each byte that a character may have.
const CLASS: usize = 4;

/// A regular expression, and the group of it that is a value.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    regex: Regex,
    group: usize,
    states: usize,
}

impl Expression {
    /// Reads an expression that was checked. Its group is the first that captures something, where none is named and it has one.
    pub(super) fn read(pattern: &str, group: Option<u64>) -> Result<Self, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("regex: {error}");
        let parsed = ParserBuilder::new().nest_limit(extraction::MAX_NESTING).build().parse(pattern).map_err(|error| wrong(&error))?;
        let mut builder = RegexBuilder::new(pattern);
        builder.size_limit(MAX_REGEX_BYTES).dfa_size_limit(MAX_REGEX_BYTES).nest_limit(extraction::MAX_NESTING);
        let regex = builder.build().map_err(|error| wrong(&error))?;
        let first = usize::from(regex.captures_len() > 1);
        let group = group.map_or(Ok(first), usize::try_from).map_err(|error| wrong(&error))?;
        Ok(Self { regex, group, states: states(&parsed) })
    }

    /// Refuses a page on which a search may take too long.
    pub(super) fn require_few(&self, page: &str) -> Result<(), Fault> {
        let steps = self.states.saturating_mul(self.regex.captures_len()).saturating_mul(page.len());
        if steps <= MAX_STEPS {
            return Ok(());
        }
        Err(Fault::Impossible(format!("regex: the rule may take {steps} steps on this page, and at most {MAX_STEPS} are taken")))
    }

    /// What the group has in each match.
    pub(super) fn matches<'p>(&self, page: &'p str) -> impl Iterator<Item = Option<&'p str>> {
        self.regex.captures_iter(page).map(|found| found.get(self.group).map(|found| found.as_str()))
    }
}

/// The states of an expression: as many as a search may be in together.
fn states(ast: &Ast) -> usize {
    let sum = |parts: &[Ast]| parts.iter().map(states).fold(0, usize::saturating_add);
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) | Ast::Literal(_) => 1,
        Ast::Dot(_) | Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => CLASS,
        Ast::Repetition(repeated) => {
            let times = match &repeated.op.kind {
                RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 1,
                RepetitionKind::Range(
                    RepetitionRange::Exactly(times) | RepetitionRange::AtLeast(times) | RepetitionRange::Bounded(_, times),
                ) => *times,
            };
            // One more for what may be left out.
            states(&repeated.ast).saturating_add(1).saturating_mul(usize::try_from(times.max(1)).unwrap_or(usize::MAX))
        }
        Ast::Group(group) => states(&group.ast),
        Ast::Alternation(ways) => sum(&ways.asts),
        Ast::Concat(parts) => sum(&parts.asts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 778: what is repeated counts as often as it may be, within what is repeated, too.
    #[test]
    fn states_are_counted() {
        let rows = [
            ("abc", 3),
            ("(?P<x>a)|b", 2),
            (r"\d+", 5),
            ("a?", 2),
            ("(a{3}b){2}", 16),
            ("a{2,7}", 14),
            ("a{0}", 2),
            ("(?:[ac]?){900}[bd]", 900 * 6 + 4),
            (r#""price":\s*"?(\d{1,6}\.\d\d)"#, 8 + 5 + 2 + 30 + 1 + 8),
        ];
        for (pattern, expected) in rows {
            assert_eq!(Expression::read(pattern, None).expect("an expression").states, expected, "{pattern}");
        }
    }

    /// Decision 778: an expression that may be in thousands of states at once reads short pages only. On one of 4 MiB it would take minutes, which nobody
    /// ends.
    #[test]
    fn expressions_that_take_too_long_are_refused() {
        let require = |pattern: &str, bytes: usize| {
            let expression = Expression::read(pattern, None).expect("an expression");
            expression.require_few(&"a".repeat(bytes)).map_err(|fault| fault.number())
        };
        assert_eq!(require("(?:[ac]?){900}[bd]", 4 << 20), Err(3));
        assert_eq!(require("(?:[ac]?){900}[bd]", 100_000), Ok(()));
        let groups = format!("(?:{})*b", "(a?)".repeat(200));
        assert_eq!(require(&groups, 100_000), Err(3), "each state has its groups");
        assert_eq!(require(r#""price":\s*"?(\d{1,6}\.\d\d)"#, 4 << 20), Ok(()));
    }
}
