//! Taking fields out of a page or a document (003, Extraction-Based Verification): runners agree on what was extracted, not on the page.
//!
//! `extract` is a list of `{"name", "type": "css" | "xpath" | "jsonpath" | "regex", "rule"}`, each maybe with `"attr"` (of a css rule: an
//! attribute instead of the text), `"group"` (of an expression: 1 where it has one) and `"as"`: `text`, `number`, `integer` or `list`. The
//! result is a JSON object with a member for each. `selector` is the short form: a CSS selector, or a JSON path, whose first value as plain
//! text is the result.
//!
//! Whoever writes rules and pages is a stranger: what a rule may say is limited to what takes time in proportion to the page. The chain checks that at
//! submission by the same code ([`extraction`], decision 601); whether the rest of a rule is right, only the libraries here know.

use super::{
    Fault, documents,
    expressions::Expression,
    html::{self, Extent, MAX_MATCHING_STEPS, MAX_READING_STEPS, Shape},
    paths::{self, Nodes},
};
use cowboy_system::offchain::extraction;
use cowboy_types::cbor;
use scraper::{ElementRef, Html, Selector};
use serde_json::{Map, Value as Json};
use serde_json_path::JsonPath;
use skyscraper::xpath::{
    self, XpathItemTree,
    grammar::{XpathItemTreeNode, data_model::XpathItem},
};
use std::{cell::OnceCell, rc::Rc};

/// The most values of a list.
const MAX_VALUES: usize = 1_000;

/// The most bytes of a page that is read by XPath, which is the slowest.
const MAX_XPATH_BYTES: usize = 512 * 1024;

/// The most bytes of text, and of nodes between them, that a rule takes out of a page: elements within elements repeat theirs.
const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

/// What a job wants of a page.
#[derive(Clone, Debug)]
pub(crate) enum Rules {
    /// Values by name.
    Named(Vec<(String, Rule)>),
    /// One value as plain text: the short form.
    Plain(Rule),
}

/// How a value is found, and what it becomes.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    finder: Finder,
    form: Form,
}

#[derive(Clone, Debug)]
enum Finder {
    JsonPath { path: JsonPath, text: String },
    Css { selector: Selector, attribute: Option<String>, shape: Shape },
    XPath(String),
    Regex(Expression),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Found,
    Text,
    Number,
    Integer,
    List,
}

impl Rules {
    /// Reads `extract`.
    pub(crate) fn read(value: &Json) -> Result<Self, Fault> {
        checked(value, extraction::check)?;
        let rule = |item: &Json| {
            let name = item["name"].as_str().unwrap_or_default();
            Ok((name.to_owned(), Rule::read(item).map_err(|reason| Fault::Actor(format!("extract: {name}: {reason}")))?))
        };
        Ok(Self::Named(value.as_array().into_iter().flatten().map(rule).collect::<Result<_, Fault>>()?))
    }

    /// Reads `selector`: a CSS selector, or a JSON path where it begins with `$`.
    pub(crate) fn selector(text: &str) -> Result<Self, Fault> {
        checked(&text.into(), extraction::check_selector)?;
        let finder = if text.starts_with('$') { json_path(text) } else { css(text, None) };
        finder.map(|finder| Self::Plain(Rule { finder, form: Form::Text })).map_err(|reason| Fault::Actor(format!("selector: {reason}")))
    }

    /// Applies the rules for as long as somebody waits for what they find. The answer is JSON with its keys in order and nothing between its parts: who read
    /// the same writes the same.
    pub(crate) fn apply(&self, page: &[u8], is_awaited: &dyn Fn() -> bool) -> Result<Vec<u8>, Fault> {
        let page = Page::new(std::str::from_utf8(page).map_err(|_| missing("the page is not UTF-8"))?, is_awaited);
        let mut value = match self {
            Self::Plain(rule) => return rule.apply(&page).map(|value| plain(&value).into_bytes()),
            Self::Named(rules) => {
                let mut fields = Map::new();
                for (name, rule) in rules {
                    let found = rule.apply(&page).map_err(|fault| Fault::of(fault.number(), format!("{name}: {fault}")))?;
                    fields.insert(name.clone(), found);
                }
                Json::Object(fields)
            }
        };
        value.sort_all_objects();
        Ok(value.to_string().into_bytes())
    }
}

/// Checks rules as the chain does.
fn checked(value: &Json, check: fn(&cbor::Value) -> Result<(), extraction::Mistake>) -> Result<(), Fault> {
    let value = cbor::decode(&cowboy_api::cbor::encode(value)).map_err(|error| Fault::Actor(error.to_string()))?;
    check(&value).map_err(|mistake| Fault::Actor(mistake.to_string()))
}

fn missing(reason: &str) -> Fault {
    Fault::External(reason.to_owned())
}

/// A page, parsed once in each of the ways that its rules need.
struct Page<'a> {
    text: &'a str,
    is_awaited: &'a dyn Fn() -> bool,
    json: OnceCell<Result<Json, Fault>>,
    html: OnceCell<Result<(Rc<Html>, Extent), Fault>>,
    tree: OnceCell<Result<(XpathItemTree, Nodes), Fault>>,
}

impl<'a> Page<'a> {
    fn new(text: &'a str, is_awaited: &'a dyn Fn() -> bool) -> Self {
        Self { text, is_awaited, json: OnceCell::new(), html: OnceCell::new(), tree: OnceCell::new() }
    }

    /// Ends the work on a page for which nobody waits any more: its thread is needed for others.
    fn require_awaited(&self) -> Result<(), Fault> {
        if (self.is_awaited)() { Ok(()) } else { Err(missing("the job's time was over before all rules were applied")) }
    }

    fn json(&self) -> Result<&Json, Fault> {
        let read = || -> Result<Json, Fault> {
            documents::require_small(self.text, documents::MAX_DOCUMENT_BYTES)?;
            // Deeper than 128 is refused by the parser.
            serde_json::from_str(self.text).map_err(|error| missing(&error.to_string()))
        };
        self.json.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The page as elements, and how many steps a search takes there.
    fn html(&self) -> Result<&(Rc<Html>, Extent), Fault> {
        let read = || -> Result<(Rc<Html>, Extent), Fault> {
            let html = html::read(self.text, MAX_READING_STEPS, self.is_awaited)?;
            let extent = Extent::of(&html);
            Ok((Rc::new(html), extent))
        };
        self.html.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The page as XPath reads it.
    fn tree(&self) -> Result<&(XpathItemTree, Nodes), Fault> {
        let read = || -> Result<(XpathItemTree, Nodes), Fault> {
            let tree = paths::tree(&self.html()?.0)?;
            let nodes = Nodes::of(&tree, self.text.len());
            Ok((tree, nodes))
        };
        self.tree.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

impl Rule {
    /// Reads a rule that was checked.
    fn read(rule: &Json) -> Result<Self, String> {
        let text = |name: &str| rule[name].as_str();
        let found = text("rule").unwrap_or_default();
        let finder = match text("type") {
            Some("jsonpath") => json_path(found)?,
            Some("css") => css(found, text("attr"))?,
            Some("xpath") => x_path(found)?,
            _ => Finder::Regex(Expression::read(found, rule["group"].as_u64())?),
        };
        let form = match text("as") {
            Some("text") => Form::Text,
            Some("number") => Form::Number,
            Some("integer") => Form::Integer,
            Some("list") => Form::List,
            _ => Form::Found,
        };
        Ok(Self { finder, form })
    }

    fn apply(&self, page: &Page<'_>) -> Result<Json, Fault> {
        let found = self.find(page)?;
        if self.form == Form::List {
            return Ok(Json::Array(found));
        }
        let first = found.into_iter().next().ok_or_else(|| missing("nothing on the page fits the rule"))?;
        match self.form {
            Form::Found | Form::List => Ok(first),
            Form::Text => Ok(Json::String(plain(&first))),
            Form::Number | Form::Integer => {
                let text = digits(&plain(&first));
                let number = if self.form == Form::Integer { whole(&text) } else { decimal(&text) };
                number.ok_or_else(|| missing(&format!("{:?} is not a number", plain(&first))))
            }
        }
    }

    fn find(&self, page: &Page<'_>) -> Result<Vec<Json>, Fault> {
        page.require_awaited()?;
        let text = |text: String| Json::String(text.trim().to_owned());
        Ok(match &self.finder {
            Finder::JsonPath { path, text } => {
                let document = page.json()?;
                documents::require_few(document, text)?;
                let (mut values, mut left) = (Vec::new(), documents::MAX_RESULT_BYTES);
                for value in path.query(document).iter().take(MAX_VALUES) {
                    left = left.checked_sub(documents::size(value, left)).ok_or_else(too_large)?;
                    values.push((*value).clone());
                }
                values
            }
            Finder::Css { selector, attribute, shape } => {
                let (html, extent) = page.html()?;
                let steps = extent.steps(shape);
                if steps > MAX_MATCHING_STEPS {
                    let reason = format!("the rule may take {steps} steps on this page, and at most {MAX_MATCHING_STEPS} are taken");
                    return Err(Fault::Impossible(format!("css: {reason}")));
                }
                let (mut values, mut left) = (Vec::new(), MAX_TEXT_BYTES);
                for element in html.select(selector).take(MAX_VALUES) {
                    values.extend(taken(&element, attribute.as_deref(), &mut left)?.map(text));
                }
                values
            }
            Finder::XPath(path) => {
                if page.text.len() > MAX_XPATH_BYTES {
                    return Err(Fault::Impossible(format!("pages read by xpath have at most {MAX_XPATH_BYTES} bytes")));
                }
                let (tree, nodes) = page.tree()?;
                nodes.require_few(path)?;
                let path = xpath::parse(path).map_err(|error| Fault::Actor(format!("xpath: {error}")))?;
                let items = path.apply(tree).map_err(|error| missing(&error.to_string()))?;
                let (mut values, mut left) = (Vec::new(), MAX_TEXT_BYTES);
                for item in items.into_iter().take(MAX_VALUES) {
                    let found = item_text(&item, tree);
                    left = left.checked_sub(found.len() + 1).ok_or_else(too_much)?;
                    values.push(text(found));
                }
                values
            }
            Finder::Regex(expression) => {
                expression.require_few(page.text)?;
                let mut values = Vec::new();
                for found in expression.matches(page.text).take(MAX_VALUES) {
                    values.extend(found.map(|found| text(found.to_owned())));
                    // Each match may have gone through the whole page.
                    page.require_awaited()?;
                }
                values
            }
        })
    }
}

/// What a rule takes of an element: an attribute, or the text of all within it.
fn taken(element: &ElementRef<'_>, attribute: Option<&str>, left: &mut usize) -> Result<Option<String>, Fault> {
    let mut value = String::new();
    let mut take = |part: &str| {
        *left = left.checked_sub(part.len() + 1).ok_or_else(too_much)?;
        value.push_str(part);
        Ok::<(), Fault>(())
    };
    if let Some(name) = attribute {
        let Some(found) = element.value().attr(name) else { return Ok(None) };
        take(found)?;
    } else {
        for node in element.descendants() {
            let part: &str = match node.value().as_text() {
                Some(found) => found,
                None => "",
            };
            take(part)?;
        }
    }
    Ok(Some(value))
}

fn too_much() -> Fault {
    Fault::Impossible(format!("the rule takes more than {MAX_TEXT_BYTES} bytes of text and of nodes between"))
}

fn too_large() -> Fault {
    Fault::Impossible(format!("the rule takes values of more than {} bytes of memory", documents::MAX_RESULT_BYTES))
}

fn item_text(item: &XpathItem<'_>, tree: &XpathItemTree) -> String {
    match item {
        XpathItem::Node(XpathItemTreeNode::AttributeNode(attribute)) => attribute.value.clone(),
        XpathItem::Node(node) => node.text_content(tree),
        XpathItem::AnyAtomicType(value) => value.to_string(),
        _ => String::new(),
    }
}

fn json_path(path: &str) -> Result<Finder, String> {
    let parsed = JsonPath::parse(path).map_err(|error| format!("jsonpath: {error}"))?;
    Ok(Finder::JsonPath { path: parsed, text: path.to_owned() })
}

fn css(selector: &str, attribute: Option<&str>) -> Result<Finder, String> {
    let parsed = Selector::parse(selector).map_err(|error| format!("css: {error}"))?;
    Ok(Finder::Css { selector: parsed, attribute: attribute.map(str::to_owned), shape: Shape::of(selector) })
}

fn x_path(path: &str) -> Result<Finder, String> {
    paths::require_shallow(path)?;
    xpath::parse(path).map_err(|error| format!("xpath: {error}"))?;
    Ok(Finder::XPath(path.to_owned()))
}

/// A value as text.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A number's own letters: signs of money, spaces and commas between thousands are left out.
fn digits(text: &str) -> String {
    text.chars().filter(|letter| letter.is_ascii_digit() || matches!(letter, '.' | '-' | 'e' | 'E' | '+')).collect()
}

/// A decimal in its shortest form.
fn decimal(text: &str) -> Option<Json> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then(|| serde_json::from_str(text.trim_start_matches('+')).ok()).flatten()
}

fn whole(text: &str) -> Option<Json> {
    let whole = text.split('.').next()?;
    whole.parse::<i64>().ok().map(Json::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PAGE: &str = r#"<html><head><title>Shop</title></head><body><ul>
        <li class="item" data-id="7"><b>Hat</b> <span class="price">$ 1,249.50</span></li>
        <li class="item" data-id="8"><b>Boots</b> <span class="price">$ 80</span></li></ul></body></html>"#;
    const DOCUMENT: &str = r#"{"b": {"price": 42.10, "names": ["x", "y"]}, "a": 1}"#;

    fn always() -> bool {
        true
    }

    /// Two extractions run at once: one that nobody waits for any more gives its place back, between rules and between matches.
    #[test]
    fn work_that_nobody_waits_for_ends() {
        let rules = Rules::read(&json!([{ "name": "x", "type": "regex", "rule": "a", "as": "list" }])).expect("a rule");
        for (most, expected) in [(0, false), (1, false), (3, false), (4, true)] {
            let asked = std::cell::Cell::new(0);
            let is_awaited = || {
                asked.set(asked.get() + 1);
                asked.get() <= most
            };
            assert_eq!(rules.apply(b"aaa", &is_awaited).is_ok(), expected, "{most} looks");
        }
    }

    /// A-232: each kind of rule, each form of a value, and what is refused.
    #[test]
    fn rules_find_what_they_name() {
        let rule = |kind: &str, rule: &str| json!({ "name": "x", "type": kind, "rule": rule });
        let with = |mut rule: Json, name: &str, value: Json| {
            rule[name] = value;
            rule
        };
        let formed = |kind: &str, text: &str, form: &str| with(rule(kind, text), "as", form.into());
        let rows = [
            (DOCUMENT, json!([rule("jsonpath", "$.b.price")]), Ok(r#"{"x":42.1}"#)),
            (DOCUMENT, json!([formed("jsonpath", "$.b.names[*]", "list")]), Ok(r#"{"x":["x","y"]}"#)),
            (DOCUMENT, json!([formed("jsonpath", "$.b.names[1]", "text")]), Ok(r#"{"x":"y"}"#)),
            (
                DOCUMENT,
                json!([rule("jsonpath", "$.a"), with(rule("jsonpath", "$.b.names[0]"), "name", "c".into())]),
                Ok(r#"{"c":"x","x":1}"#),
            ),
            (DOCUMENT, json!([rule("jsonpath", "$.none")]), Err("fits the rule")),
            (DOCUMENT, json!([formed("jsonpath", "$.b.price", "integer")]), Ok(r#"{"x":42}"#)),
            (DOCUMENT, json!([rule("jsonpath", "$..[?count($..*) > 1]")]), Err("in a filter")),
            (DOCUMENT, json!([rule("jsonpath", &format!("${}", "[*,*,*,*,*,*,*,*,*,*]".repeat(8)))]), Err("may find")),
            (DOCUMENT, json!([rule("jsonpath", "$[")]), Err("jsonpath")),
            (DOCUMENT, json!([rule("jsonpath", "$.[]")]), Err("jsonpath")),
            (PAGE, json!([rule("jsonpath", "$.a")]), Err("expected value")),
            (PAGE, json!([formed("css", "li.item .price", "number")]), Ok(r#"{"x":1249.5}"#)),
            (PAGE, json!([with(formed("css", "li.item", "list"), "attr", "data-id".into())]), Ok(r#"{"x":["7","8"]}"#)),
            (PAGE, json!([rule("css", "li:nth-child(2) b")]), Ok(r#"{"x":"Boots"}"#)),
            (PAGE, json!([rule("css", "li:has(b)")]), Err("without :has")),
            (PAGE, json!([rule("css", "li ~ li")]), Err("without ~")),
            (PAGE, json!([rule("css", "li[class~=item] + li b")]), Ok(r#"{"x":"Boots"}"#)),
            (PAGE, json!([rule("css", ">>")]), Err("css")),
            (PAGE, json!([rule("xpath", "//title/text()")]), Ok(r#"{"x":"Shop"}"#)),
            (PAGE, json!([formed("xpath", "//li[@data-id='8']/span", "integer")]), Ok(r#"{"x":80}"#)),
            (PAGE, json!([formed("xpath", "//li/@data-id", "list")]), Ok(r#"{"x":["7","8"]}"#)),
            (PAGE, json!([rule("xpath", "//li[//li]")]), Err("predicate")),
            (PAGE, json!([rule("xpath", "//li[")]), Err("xpath")),
            (PAGE, json!([rule("regex", r"data-id=.(\d)")]), Ok(r#"{"x":"7"}"#)),
            (PAGE, json!([with(rule("regex", r"(d)ata-(id)"), "group", 2.into())]), Ok(r#"{"x":"id"}"#)),
            (PAGE, json!([with(rule("regex", "data-id"), "group", 1.into())]), Err("has the group")),
            (PAGE, json!([rule("regex", r"(a{1000}){1000}")]), Err("regex")),
            (PAGE, json!([rule("sql", "x")]), Err("extract.type")),
            (PAGE, json!([{ "type": "css", "rule": "b" }]), Err("extract.name")),
            (PAGE, json!([formed("css", "b", "poem")]), Err("extract.as")),
            (PAGE, json!([formed("css", "b", "number")]), Err("not a number")),
            (PAGE, json!({}), Err("a list of 1 to 32")),
        ];
        for (page, rules, expected) in rows {
            let found = Rules::read(&rules).and_then(|rules| rules.apply(page.as_bytes(), &always));
            match expected {
                Ok(expected) => assert_eq!(found.as_deref(), Ok(expected.as_bytes()), "{rules}"),
                Err(part) => {
                    let fault = found.expect_err(&rules.to_string());
                    assert!(fault.to_string().contains(part), "{rules}: {fault}");
                }
            }
        }
    }

    #[test]
    fn selectors_give_plain_text() {
        for (page, selector, expected) in [(PAGE, "title", "Shop"), (DOCUMENT, "$.b.names[1]", "y"), (DOCUMENT, "$.a", "1")] {
            let found = Rules::selector(selector).and_then(|rules| rules.apply(page.as_bytes(), &always));
            assert_eq!(found.as_deref(), Ok(expected.as_bytes()), "{selector}");
        }
    }

    /// Decision 685: the text of an element is read by recursion, so a page that is too deep for the stack is not read at all.
    #[test]
    fn deep_pages_are_not_read_by_xpath() {
        let rules = Rules::read(&json!([{ "name": "x", "type": "xpath", "rule": "//body" }])).expect("a rule");
        let page = |depth: usize| format!("{}deep{}", "<span>".repeat(depth), "</span>".repeat(depth));
        assert_eq!(rules.apply(page(500).as_bytes(), &always).as_deref(), Ok(&br#"{"x":"deep"}"#[..]));
        assert!(
            matches!(rules.apply(page(5_000).as_bytes(), &always), Err(Fault::Impossible(reason)) if reason.contains("512 elements deep"))
        );
        // Decision 729: at the end of this one the library's own parser would call itself for each element.
        let open = "<template>".repeat(3_000);
        assert!(matches!(rules.apply(open.as_bytes(), &always), Err(Fault::Impossible(reason)) if reason.contains("512 elements deep")));
    }

    /// JSON of depth 10,000 is refused, and nobody's stack is.
    #[test]
    fn deep_documents_are_refused() {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let rules = Rules::read(&json!([{ "name": "x", "type": "jsonpath", "rule": "$[0]" }])).expect("a rule");
        assert!(matches!(rules.apply(deep.as_bytes(), &always), Err(Fault::External(reason)) if reason.contains("recursion")));
        // Each of a hundred values has all that is in the next.
        let nested = format!("{}{}1{}", "[".repeat(100), "1,".repeat(100_000), "]".repeat(100));
        let rules = Rules::read(&json!([{ "name": "x", "type": "jsonpath", "rule": "$..*", "as": "list" }])).expect("a rule");
        assert!(matches!(rules.apply(nested.as_bytes(), &always), Err(Fault::Impossible(reason)) if reason.contains("bytes of memory")));
        // Decision 739: 4 MiB of small objects would take hundreds of megabytes.
        let objects = format!("[{}{{}}]", r#"{"a":1},"#.repeat(500_000));
        assert!(matches!(rules.apply(objects.as_bytes(), &always), Err(Fault::Impossible(reason)) if reason.contains("too many values")));
        let tags = "<div>".repeat(2_000);
        let rules = Rules::read(&json!([{ "name": "x", "type": "css", "rule": "div", "as": "list" }])).expect("a rule");
        assert!(rules.apply(tags.as_bytes(), &always).is_ok());
        // Every element has two thousand ancestors to look for; and every one has the text of all within it.
        let found = |rule: &str, page: &str| Rules::selector(rule).expect("a rule").apply(page.as_bytes(), &always);
        let rule = format!("{}div", "div p ".repeat(100));
        assert!(matches!(found(&rule, &tags), Err(Fault::Impossible(reason)) if reason.contains("steps on this page")));
        let endless = "<b>".repeat(30_000);
        assert!(matches!(found("b", &endless), Err(Fault::Impossible(reason)) if reason.contains("steps to read")));
        let nested = format!("{}{}", "<div>".repeat(900), "x".repeat(10_000));
        assert!(matches!(found("div", &nested), Err(Fault::Impossible(reason)) if reason.contains("bytes of text")));
    }
}
