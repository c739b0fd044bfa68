//! Rules by which runners cut what matters out of a page: what the chain refuses of a job before anybody works on it, and a runner before it asks
//! for the page (003 External Data; decision 601).
//!
//! Runners apply the rules; the chain only sees to it that they can: a rule that nobody can read would cost a committee its time. What
//! they find is a JSON object with a member for each rule, and is compared field by field like any other result. Whoever writes rules and pages is a
//! stranger: what a rule may say is limited to what takes time in proportion to the page.

pub use super::mistake::Mistake;
use cowboy_types::cbor::Value;
use regex_syntax::ast::{self, Ast, ClassSetItem, Visitor, parse::ParserBuilder};
use std::convert::Infallible;

/// The most rules of a job.
pub const MAX_RULES: usize = 32;

/// The most bytes of a rule, and of the name of an attribute.
pub const MAX_RULE_BYTES: usize = 1_024;

/// The most bytes of a rule's name.
const MAX_NAME_BYTES: usize = 64;

/// The deepest nesting of a regular expression.
pub const MAX_NESTING: u32 = 32;

/// Maximum classes of characters in a regular expression: where it folds cases, each takes whoever compiles it milliseconds.
const MAX_CLASSES: u64 = 32;

/// Maximum question marks in a JSON path. The library of runners takes twice as long to read a path for each filter within a filter.
const MAX_FILTERS: usize = 8;

/// The deepest predicates of an XPath rule.
const MAX_PREDICATES: usize = 3;

/// The fields of a rule.
const FIELDS: [&str; 6] = ["name", "type", "rule", "attr", "group", "as"];

/// What becomes of a value that a rule finds.
const FORMS: [&str; 4] = ["text", "number", "integer", "list"];

/// The functions and axes that an XPath rule may use: none of them looks at the whole page for every node.
const XPATH_WORDS: [&str; 16] = [
    "text",
    "contains",
    "starts-with",
    "ends-with",
    "normalize-space",
    "string",
    "position",
    "last",
    "not",
    "count",
    "child",
    "attribute",
    "self",
    "parent",
    "following-sibling",
    "node",
];

/// The operators of XPath that are words.
const XPATH_OPERATORS: [&str; 14] = ["and", "or", "div", "mod", "idiv", "eq", "ne", "lt", "le", "gt", "ge", "union", "intersect", "except"];

fn wrong(field: &str, rule: &str) -> Mistake {
    let field = field.escape_default();
    Mistake::invalid(format!("{field}: it has to be {rule}."))
}

/// Checks `extract`: a list of `{"name", "type": "css" | "xpath" | "jsonpath" | "regex", "rule"}`, each maybe with `"attr"` (of a css rule: an
/// attribute instead of the text), `"group"` (of an expression: 1 where it has one) and `"as"`: `text`, `number`, `integer` or `list`.
///
/// # Errors
///
/// The field that is wrong.
pub fn check(extract: &Value) -> Result<(), Mistake> {
    let rules = match extract {
        Value::Array(rules) if (1..=MAX_RULES).contains(&rules.len()) => rules,
        _ => return Err(wrong("extract", &format!("a list of 1 to {MAX_RULES} rules {{name, type, rule}}"))),
    };
    let mut names: Vec<&str> = Vec::with_capacity(rules.len());
    for rule in rules {
        let name = check_rule(rule)?;
        if names.contains(&name) {
            return Err(wrong("extract.name", "another one in each rule"));
        }
        names.push(name);
    }
    Ok(())
}

/// Checks `selector`, the short form: a CSS selector, or a JSON path where it begins with `$`.
///
/// # Errors
///
/// What is wrong with it.
pub fn check_selector(selector: &Value) -> Result<(), Mistake> {
    let text = selector.as_text().filter(|text| is_of_length(text, MAX_RULE_BYTES));
    let text = text.ok_or_else(|| wrong("selector", &format!("a string of 1 to {MAX_RULE_BYTES} bytes")))?;
    let checked = if text.starts_with('$') { check_json_path(text) } else { check_css(text) };
    checked.map_err(|rule| wrong("selector", rule))
}

fn is_of_length(text: &str, max: usize) -> bool {
    (1..=max).contains(&text.len())
}

/// Checks a rule. Returns its name.
fn check_rule(rule: &Value) -> Result<&str, Mistake> {
    let Value::Map(fields) = rule else { return Err(wrong("extract", "a list of maps")) };
    let is_known = |name: &Value| name.as_text().is_some_and(|name| FIELDS.contains(&name));
    if let Some((name, _)) = fields.iter().find(|(name, _)| !is_known(name)) {
        let name = name.as_text().unwrap_or_default();
        return Err(wrong(&format!("extract.{name}"), &format!("left out; a rule has the fields {}", FIELDS.join(", "))));
    }
    let field = |name: &str| rule.get(name).filter(|value| **value != Value::Null);
    let text = |name: &str, max: usize| match field(name) {
        None => Ok(None),
        Some(value) => match value.as_text().filter(|text| is_of_length(text, max)) {
            Some(text) => Ok(Some(text)),
            None => Err(wrong(&format!("extract.{name}"), &format!("a string of 1 to {max} bytes"))),
        },
    };
    let missing = |name: &str| Mistake::invalid(format!("extract.{name}: a rule has to have it."));
    let name = text("name", MAX_NAME_BYTES)?.ok_or_else(|| missing("name"))?;
    let found = text("rule", MAX_RULE_BYTES)?.ok_or_else(|| missing("rule"))?;
    text("attr", MAX_RULE_BYTES)?;
    if text("as", MAX_RULE_BYTES)?.is_some_and(|form| !FORMS.contains(&form)) {
        return Err(wrong("extract.as", &FORMS.join(", ")));
    }
    let group = match field("group") {
        None => None,
        Some(group) => Some(group.as_u64().ok_or_else(|| wrong("extract.group", "a whole number, 0 or more"))?),
    };
    let checked = match text("type", MAX_RULE_BYTES)? {
        Some("css") => check_css(found),
        Some("xpath") => check_xpath(found),
        Some("jsonpath") => check_json_path(found),
        Some("regex") => check_expression(found, group),
        _ => return Err(wrong("extract.type", "css, xpath, jsonpath or regex")),
    };
    checked.map(|()| name).map_err(|rule| wrong("extract.rule", rule))
}

/// What a rule has to be, where it is not.
type Checked = Result<(), &'static str>;

fn require(holds: bool, rule: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(rule) }
}

fn check_css(selector: &str) -> Checked {
    require(is_balanced(selector), "a css selector whose quotes and brackets close in order")?;
    require(!selector.contains(":has"), "a css selector without :has")?;
    // It goes through all siblings before every element: the square of the page. `~=` compares words.
    require(!selector.replace("~=", "").contains('~'), "a css selector without ~; + is the element next to it")
}

fn check_json_path(path: &str) -> Checked {
    require(path.starts_with('$') && is_balanced(path), "a jsonpath that begins with $, and whose quotes and brackets close in order")?;
    // A filter that looks at everything below every value takes the square of the document.
    let filter = path.split_once('?').map_or("", |(_, filter)| filter);
    let is_bounded = !filter.contains("..") && !filter.contains('$') && path.matches("..").count() <= 2;
    require(is_bounded, "a jsonpath with at most two .., and neither .. nor $ in a filter")?;
    require(path.matches('?').count() <= MAX_FILTERS, "a jsonpath with at most eight filters")
}

/// Whether an expression is regular: one that a machine without backtracking reads, so that no page keeps a runner busy for ever. It has the group that
/// is named. Only its form is looked at: working out a class of characters takes milliseconds where it folds cases, and a rule has room for a hundred.
fn check_expression(text: &str, group: Option<u64>) -> Checked {
    let parsed = ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(text);
    let Ok(parsed) = parsed else { return Err("a regular expression, without references back and without looking around") };
    let Ok(Seen { groups, classes }) = ast::visit(&parsed, Seen::default());
    require(classes <= MAX_CLASSES, "a regular expression with at most 32 classes of characters")?;
    require(group.is_none_or(|group| group <= groups), "a regular expression that has the group")
}

/// What an expression has of groups that capture something, and of classes of characters.
#[derive(Default)]
struct Seen {
    groups: u64,
    classes: u64,
}

impl Visitor for Seen {
    type Output = Self;
    type Err = Infallible;

    fn finish(self) -> Result<Self, Infallible> {
        Ok(self)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::Group(group) if group.is_capturing() => self.groups = self.groups.saturating_add(1),
            Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => self.classes = self.classes.saturating_add(1),
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if matches!(item, ClassSetItem::Unicode(_) | ClassSetItem::Perl(_) | ClassSetItem::Bracketed(_)) {
            self.classes = self.classes.saturating_add(1);
        }
        Ok(())
    }
}

/// Takes paths with plain predicates: no loops, no functions of one's own, no search of the whole page within a predicate.
fn check_xpath(path: &str) -> Checked {
    let is_path = path.starts_with(['/', '.', '(']) && is_balanced(path);
    require(is_path, "an xpath that begins with / or . or (, and whose quotes and brackets close in order")?;
    let (mut depth, mut quote, mut before) = (0_usize, None, ' ');
    for letter in path.chars() {
        if let Some(open) = quote {
            if letter == open {
                quote = None;
            }
            before = letter;
            continue;
        }
        match letter {
            '"' | '\'' => quote = Some(letter),
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        require(!matches!(letter, '$' | '!' | '{' | '}' | '#'), "an xpath without $, !, #, { and }")?;
        require(letter != '/' || before != '/' || depth == 0, "an xpath without // in a predicate")?;
        require(depth <= MAX_PREDICATES, "an xpath whose predicates are at most three deep")?;
        before = letter;
    }
    check_xpath_words(&xpath_tokens(path))
}

/// A name or a number of an XPath, or what stands between them: a quote stands for a text, and spaces are left out.
#[derive(Debug)]
enum Token {
    Word(String),
    Sign(char),
}

impl Token {
    fn is_number(&self) -> bool {
        matches!(self, Self::Word(word) if word.starts_with(|first: char| first.is_ascii_digit()))
    }
}

/// Names have hyphens, and numbers have none: `a-b` is a name, and `3-b` a difference.
fn xpath_tokens(path: &str) -> Vec<Token> {
    let (mut tokens, mut quote, mut continues) = (Vec::<Token>::new(), None, false);
    for letter in path.chars() {
        let is_inner = match letter {
            '.' => continues,
            '-' => continues && !tokens.last().is_some_and(Token::is_number),
            // Letters beyond ASCII are not looked up: which there are depends on the version of Unicode.
            _ => letter.is_ascii_alphanumeric() || letter == '_' || (!letter.is_ascii() && !letter.is_whitespace()),
        };
        let is_word = quote.is_none() && is_inner;
        match (quote, tokens.last_mut()) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, Some(Token::Word(word))) if is_word && continues => word.push(letter),
            (None, _) if is_word => tokens.push(Token::Word(letter.into())),
            (None, _) if letter.is_whitespace() => {}
            (None, _) => {
                quote = Some(letter).filter(|letter| matches!(letter, '"' | '\''));
                tokens.push(Token::Sign(letter));
            }
        }
        continues = is_word;
    }
    tokens
}

/// Takes words of functions and axes that do not look at the whole page, however many spaces follow them, and no ranges, which have as many items as they
/// say. A word is an operator where a value ends before it, and the name of an element elsewhere.
fn check_xpath_words(tokens: &[Token]) -> Checked {
    // A quote in a comment begins no text, and what follows it would be read as one here.
    let has_comment = tokens.windows(2).any(|pair| matches!(pair, [Token::Sign('('), Token::Sign(':')]));
    require(!has_comment, "an xpath without comments")?;
    let mut is_value = false;
    for (at, token) in tokens.iter().enumerate() {
        let word = match token {
            Token::Word(word) => word.as_str(),
            Token::Sign(sign) => {
                is_value = matches!(sign, ')' | ']' | '"' | '\'' | '.') || (*sign == '*' && !is_value);
                continue;
            }
        };
        let is_known = match (tokens.get(at + 1), tokens.get(at + 2)) {
            (Some(Token::Sign('(')), _) => XPATH_WORDS.contains(&word) || XPATH_OPERATORS.contains(&word),
            // A single colon stands within a name.
            (Some(Token::Sign(':')), after) => XPATH_WORDS.contains(&word) && matches!(after, Some(Token::Sign(':'))),
            _ => true,
        };
        require(is_known, "an xpath with the functions and axes that docs/jobs.md lists")?;
        let is_number = token.is_number();
        let is_range = (is_value && word.starts_with("to")) || (is_number && word.contains("to"));
        require(!is_range, "an xpath without ranges such as 1 to 9")?;
        let is_operator = is_value && !is_number;
        require(!is_operator || XPATH_OPERATORS.contains(&word), "an xpath with the operators that docs/jobs.md lists")?;
        is_value = !is_operator;
    }
    Ok(())
}

/// Whether quotes and brackets close in order.
fn is_balanced(text: &str) -> bool {
    let (mut open, mut quote) = (Vec::new(), None);
    for character in text.chars() {
        match (quote, character) {
            (Some(mark), _) if mark == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(') => open.push(')'),
            (None, '[') => open.push(']'),
            (None, ')' | ']') if open.pop() != Some(character) => return false,
            _ => {}
        }
    }
    quote.is_none() && open.is_empty()
}

#[cfg(test)]
mod tests;
