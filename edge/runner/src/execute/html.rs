//! Web pages as trees, and what it takes to read and to search them (decision 705).
//!
//! All limits are counts and none is a time, so that honest runners refuse the same pages. A step takes about 10 ns.

use super::Fault;
use html5ever::{
    Attribute, ParseOpts, QualName, parse_document,
    tendril::{StrTendril, TendrilSink as _},
    tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
};
use scraper::{ElementRef, Html, HtmlTreeSink};
use std::{borrow::Cow, cell::Cell, collections::BTreeSet};

/// The most steps that reading a page may take.
pub(super) const MAX_READING_STEPS: usize = 100_000_000;

/// The most steps that a selector may take for a page.
pub(super) const MAX_MATCHING_STEPS: usize = 200_000_000;

/// The bytes that the parser gets at once. After each part the steps are looked at, so this bounds what a page gets beyond the limit.
const PART: usize = 128;

/// Steps for a node: they limit its memory, too, since misnested tags make many nodes out of few bytes.
const NODE_STEPS: usize = 100;

/// Names of attributes that the parser compares in one step: each takes it about 1 ns, so these are the slowest steps. More would refuse honest pages: a
/// comment, or JSON in an attribute, has a name's beginning at each quote, slash and word.
const NAMES_PER_STEP: usize = 64;

/// Bytes of attributes that matching compares in one step.
const BYTES_PER_STEP: usize = 64;

/// Siblings that are no elements, and that matching goes past in one step.
const SIBLINGS_PER_STEP: usize = 4;

/// The number of a node in its tree.
pub(super) type Handle = <HtmlTreeSink as TreeSink>::Handle;

/// Reads a page.
///
/// # Errors
///
/// The page takes more steps than it may, or nobody waits for it any more.
pub(super) fn read(page: &str, max_steps: usize, is_awaited: &dyn Fn() -> bool) -> Result<Html, Fault> {
    let steps = Cell::new(0);
    let require_few = || {
        if steps.get() <= max_steps {
            return Ok(());
        }
        let reason = "it has too many elements or attributes, or they are too deep within each other";
        Err(Fault::Impossible(format!("the page takes more than {max_steps} steps to read: {reason}")))
    };
    let sink = Counting { tree: HtmlTreeSink::new(Html::new_document()), steps: &steps };
    let mut parser = parse_document(sink, ParseOpts::default());
    // What may begin attributes of the tag that is being read: the parser compares each name with all before it, and shows the tag only at its end.
    let (mut separators, mut rest) = (0usize, page);
    while !rest.is_empty() {
        let end = (PART..rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let before = steps.get();
        parser.process(StrTendril::from_slice(part));
        let found = part.as_bytes().windows(2).filter(|pair| is_separator(pair[0]) && !is_separator(pair[1])).count();
        separators = if steps.get() == before { separators.saturating_add(found) } else { found };
        count(&steps, found.saturating_mul(separators) / NAMES_PER_STEP);
        require_few()?;
        if !is_awaited() {
            return Err(Fault::External("the job's time was over before the page was read".into()));
        }
        rest = after;
    }
    let html = parser.finish();
    require_few().map(|()| html)
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'"' | b'\'')
}

fn count(steps: &Cell<usize>, more: usize) {
    steps.set(steps.get().saturating_add(more));
}

/// Builds a tree and counts the steps that it takes. The parser asks it for names of open elements wherever it looks through them. Errors are not
/// counted: they are also found within a tag.
struct Counting<'a> {
    tree: HtmlTreeSink,
    steps: &'a Cell<usize>,
}

impl Counting<'_> {
    fn count(&self, more: usize) {
        count(self.steps, more);
    }

    /// Counts what is above a new node, which the parser compares with it where it formats text: elements and their attributes.
    fn count_above(&self, parent: &Handle, child: &NodeOrText<Handle>) {
        self.count(1);
        if let NodeOrText::AppendText(_) = child {
            return;
        }
        let html = self.tree.0.borrow();
        let mut above = html.tree.get(*parent);
        while let Some(node) = above {
            self.count(1 + node.value().as_element().map_or(0, |element| element.attrs.len()));
            above = node.parent();
        }
    }
}

impl TreeSink for Counting<'_> {
    type Handle = Handle;
    type Output = Html;
    type ElemName<'a>
        = <HtmlTreeSink as TreeSink>::ElemName<'a>
    where
        Self: 'a;

    fn finish(self) -> Html {
        self.tree.finish()
    }

    fn parse_error(&self, message: Cow<'static, str>) {
        self.tree.parse_error(message);
    }

    fn get_document(&self) -> Handle {
        self.tree.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> Self::ElemName<'a> {
        self.count(1);
        self.tree.elem_name(target)
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Handle {
        self.count(NODE_STEPS.saturating_add(attributes.len()));
        self.tree.create_element(name, attributes, flags)
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        self.count(NODE_STEPS);
        self.tree.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> Handle {
        self.count(NODE_STEPS);
        self.tree.create_pi(target, data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.count_above(parent, &child);
        self.tree.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        self.count_above(element, &child);
        self.tree.append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.count(NODE_STEPS);
        self.tree.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &Handle) -> Handle {
        self.count(1);
        self.tree.get_template_contents(target)
    }

    fn same_node(&self, one: &Handle, other: &Handle) -> bool {
        self.count(1);
        self.tree.same_node(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.tree.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        self.count_above(sibling, &child);
        self.tree.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        // Each is inserted in order.
        let present = self.tree.0.borrow().tree.get(*target).and_then(|node| node.value().as_element().map(|element| element.attrs.len()));
        self.count(attributes.len().saturating_mul(present.unwrap_or(0).saturating_add(1)).saturating_add(1));
        self.tree.add_attrs_if_missing(target, attributes);
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.count(1);
        self.tree.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let moved = self.tree.0.borrow().tree.get(*node).map_or(0, |node| node.children().count());
        self.count(moved.saturating_add(1));
        self.tree.reparent_children(node, new_parent);
    }
}

/// What of a page makes searches long, counted once. An element weighs one step, and more with its attributes and with what is around it.
#[derive(Debug, Default)]
pub(super) struct Extent {
    /// The weight of all elements.
    elements: usize,
    /// The weight of what is above each element.
    above: usize,
    /// Both, where each element weighs as much as the heaviest one beside it: a `+` looks at those before it.
    beside: usize,
    /// The weight of the longest line from an element to the root.
    longest: usize,
    /// The children of each element, times the different names that they have.
    names: usize,
}

impl Extent {
    /// That of a page, together with nodes that the parser removed: selectors are tried on them, too.
    pub(super) fn of(html: &Html) -> Self {
        let mut extent = Self::default();
        let mut waiting: Vec<_> = html.tree.nodes().filter(|node| node.parent().is_none()).map(|root| (root, 0usize, 0usize)).collect();
        while let Some((node, above, above_beside)) = waiting.pop() {
            let (mut heaviest, mut children, mut names) = (0usize, 0usize, BTreeSet::new());
            for child in node.children() {
                children += 1;
                let (mut below, mut below_beside) = (above, above_beside);
                if let Some(element) = ElementRef::wrap(child) {
                    let own = weight(&element);
                    names.insert(element.value().name());
                    heaviest = heaviest.max(own);
                    (below, below_beside) = (above.saturating_add(own), above_beside.saturating_add(heaviest));
                    extent.elements = extent.elements.saturating_add(own);
                    extent.above = extent.above.saturating_add(above);
                    extent.beside = extent.beside.saturating_add(below_beside);
                    extent.longest = extent.longest.max(below);
                }
                if child.has_children() {
                    waiting.push((child, below, below_beside));
                }
            }
            extent.names = extent.names.saturating_add(children.saturating_mul(names.len()));
        }
        extent
    }

    /// The steps that a selector takes at most.
    pub(super) fn steps(&self, selector: &Shape) -> usize {
        let tried = match (selector.has_siblings, selector.levels) {
            (true, _) => self.beside,
            (false, 0) => self.elements,
            (false, _) => self.elements.saturating_add(self.above),
        };
        // A selector within another one is tried on all above, for each element above.
        let again = self.longest.saturating_add(1).saturating_pow(selector.levels.saturating_sub(1));
        let matching = tried.saturating_mul(selector.parts).saturating_mul(again);
        matching.saturating_add(self.names.saturating_mul(selector.types))
    }
}

fn weight(element: &ElementRef<'_>) -> usize {
    let attributes: usize = element.value().attrs().map(|(name, value)| name.len() + value.len()).sum();
    let before = element.prev_siblings().take_while(|node| !node.value().is_element()).count();
    let after = element.next_siblings().take_while(|node| !node.value().is_element()).count();
    let within = element.children().take_while(|node| !node.value().is_element() && !node.value().is_text()).count();
    1 + attributes / BYTES_PER_STEP + (before + after + within) / SIBLINGS_PER_STEP
}

/// What of a selector makes searches long. Where its text leaves it open, it is the longer one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// Tests of one element.
    parts: usize,
    /// Levels of parentheses that have combinators, the outermost included.
    levels: u32,
    /// Whether it has `+`.
    has_siblings: bool,
    /// Pseudo-classes that look for siblings of the same type.
    types: usize,
}

impl Shape {
    /// That of a selector whose quotes and brackets close in order.
    pub(super) fn of(selector: &str) -> Self {
        let parts = 1 + selector.matches([' ', '\t', '\n', '\r', '\u{c}', '>', '+', ',', '.', '#', '[', ':', '*', '|']).count();
        let types = selector.to_ascii_lowercase().matches("of-type").count();
        // Quotes and parentheses that are escaped, or in a comment, are none.
        let is_plain = !selector.contains('\\') && !selector.contains("/*");
        let levels = if is_plain { levels(selector) } else { 1 + selector.matches('(').count() };
        Self { parts, types, has_siblings: selector.contains('+'), levels: u32::try_from(levels).unwrap_or(u32::MAX) }
    }
}

/// Levels of parentheses in which something stands between two elements.
fn levels(selector: &str) -> usize {
    let (mut depth, mut seen, mut quote, mut is_attribute) = (0usize, BTreeSet::new(), None, false);
    // The last letter that is no space, and whether what may be a combinator follows it.
    let (mut last, mut is_between) = (',', false);
    for letter in selector.chars() {
        match (quote, letter) {
            (Some(mark), _) if mark == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, ']') => is_attribute = false,
            (None, _) if is_attribute => {}
            (None, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '>' | '+') => is_between = true,
            (None, _) => {
                // `2n + 1` is a number.
                let begins = !letter.is_ascii_digit() && !matches!(letter, ',' | ')');
                if std::mem::take(&mut is_between) && begins && !matches!(last, ',' | '(') {
                    seen.insert(depth);
                }
                match letter {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    '[' => is_attribute = true,
                    _ => {}
                }
                last = letter;
            }
        }
    }
    seen.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use scraper::Selector;

    fn always() -> bool {
        true
    }

    fn repeated(count: usize, part: impl Fn(usize) -> String) -> String {
        (0..count).map(part).collect()
    }

    /// Parts end within tags, entities, letters of several bytes, and lines: the tree is the one of the page as a whole.
    #[test]
    fn pages_are_read_in_parts_as_whole() {
        let pages = [
            "<!DOCTYPE html><title>T</title><p class='a b' id=x>caf\u{e9} &amp; &euro;\r\n\u{1f920}<p>two<br/>lines",
            "<table><tr><td>1<td>2</table><b><p>mis</b>nested</p><select><option>o</select><template><i>t</i></template>",
            "<script>if (a < b && c) { x = '<p>'; }</script><pre>\n\nkept</pre><textarea>\n<b>no tag</textarea><!-- a > b -->",
            "<svg viewBox='0 0 1 1'><path d=m /></svg><math><mi>x</mi></math><body class=late><frameset>",
        ];
        for page in pages {
            for shift in 0..PART {
                let page = format!("<!--{}-->{page}", "x".repeat(shift));
                let found = read(&page, MAX_READING_STEPS, &always).expect("a short page");
                assert_eq!(found.html(), Html::parse_document(&page).html(), "{page}");
            }
        }
    }

    /// Decision 705: each of these pages takes the parser time, or memory, for the square of its length.
    #[test]
    fn pages_that_take_too_long_are_refused() {
        let attributes = |from: usize, count: usize| repeated(count, |at| format!(" a{}=1", from + at));
        let most = 2_000_000;
        let bad = [
            ("deep elements", "<div>".repeat(2_000)),
            ("elements made again", format!("<p>{}", repeated(300, |at| format!("<b a={at}>"))) + &"<p>x".repeat(300)),
            ("attributes of one tag", format!("<p{}>", attributes(0, 20_000))),
            ("attributes of one tag with errors", format!("<p{}>", repeated(20_000, |at| format!(" a{at}<=1")))),
            ("attributes of many tags for one element", repeated(3_000, |at| format!("<body{}>", attributes(at, 1)))),
            ("compared attributes", format!("<b{}>{}", attributes(0, 500), "<b></b>".repeat(5_000))),
            ("ends without a beginning", repeated(1_000, |at| format!("<x{at}>")) + &"</z>".repeat(4_000)),
        ];
        for (name, page) in bad {
            let found = read(&page, most, &always);
            assert!(matches!(&found, Err(Fault::Impossible(reason)) if reason.contains("2000000 steps")), "{name}: {found:?}");
        }
        let row = |at: usize| format!("<tr class=row><td><a href='/item/{at}' title='An item'>{at}</a><td>A cell with a few words.\n");
        let good = ["word ".repeat(20_000), format!("<!--{}-->", "word ".repeat(3_000)), format!("<table>{}", repeated(500, row))];
        for page in good {
            assert!(read(&page, most, &always).is_ok(), "{page:.40}");
        }
        let image = format!("<img src='data:image/png;base64,{}'>", "QUJD/0Rz".repeat(20_000));
        assert!(read(&image, MAX_READING_STEPS, &always).is_ok());
        let json = "{\"id\":1234567,\"name\":\"Item\"},".repeat(14_000);
        for page in [format!("<div data-page='{json}'>"), format!("<!--{json}-->")] {
            assert!(page.len() > 400_000 && read(&page, MAX_READING_STEPS, &always).is_ok(), "{page:.40}");
        }
    }

    #[test]
    fn a_page_that_nobody_waits_for_is_left() {
        let left = Cell::new(3);
        let is_awaited = || left.replace(left.get() - 1) > 1;
        let found = read(&"<p>".repeat(PART), MAX_READING_STEPS, &is_awaited);
        assert!(matches!(found, Err(Fault::External(_))), "{found:?}");
        assert_eq!(left.get(), 0);
    }

    /// Decision 705: what of a page and of a selector is multiplied by each other.
    #[test]
    fn searches_that_take_too_long_are_refused() {
        let words = "x".repeat(1_000_000);
        let rows = [
            ("p span", format!("<div>{}", "<p><span>x</span></p>".repeat(2_000)), false),
            ("td:nth-of-type(2n + 1) > a", format!("<table>{}", "<tr><td>1<td><a>2</a>".repeat(3_000)), false),
            ("h1 + p, li:not(.x .y)", format!("<h1>x</h1><p>y</p><ul>{}</ul>", "<li class=x>z".repeat(3_000)), false),
            // A long attribute that is compared for each element below it, or beside what is above it.
            ("[a*=z] p", format!("<div a={words}>{}", "<p>".repeat(10_000)), true),
            ("[a*=z] + div p", format!("<i a={words}></i><div>{}", "<p>".repeat(10_000)), true),
            ("[a*=z] p", format!("<p a={words}></p>{}", "<p>".repeat(10_000)), false),
            // Siblings with as many types, and siblings that are no elements.
            (":first-of-type", repeated(15_000, |at| format!("<x{at}></x{at}>")), true),
            ("i + div b", format!("<i></i>{}<div>{}", "<!---->".repeat(20_000), "<b></b>".repeat(10_000)), true),
            // A selector within another one.
            (":not(p b) q", format!("{}{}", "<x>".repeat(1_000), "<q></q>".repeat(1_000)), true),
        ];
        for (rule, page, is_refused) in rows {
            Selector::parse(rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            let steps = Extent::of(&Html::parse_document(&page)).steps(&Shape::of(rule));
            assert_eq!(steps > MAX_MATCHING_STEPS, is_refused, "{rule}: {steps} steps");
        }
    }

    #[test]
    fn shapes_of_selectors() {
        let rows: [(&str, usize, u32, bool, usize); 10] = [
            ("li", 1, 0, false, 0),
            ("li.a, li.b", 5, 0, false, 0),
            ("a > b c", 5, 1, false, 0),
            ("a[title='x > y'] b", 6, 1, false, 0),
            ("a[b = c]", 4, 0, false, 0),
            (r"a\' b c\'", 3, 1, false, 0),
            ("a:not(b c)/*(*/ d/*)*/", 8, 3, false, 0),
            ("td:nth-child(2n + 1)", 5, 0, true, 0),
            ("a:not(b c) d", 4, 2, false, 0),
            ("a:Nth-Of-Type( 2 )", 4, 0, false, 1),
        ];
        for (selector, parts, levels, has_siblings, types) in rows {
            assert_eq!(Shape::of(selector), Shape { parts, levels, has_siblings, types }, "{selector}");
        }
    }
}
