use super::*;
use crate::execute::html;
use std::rc::Rc;

#[test]
fn parentheses_are_counted() {
    assert_eq!(require_shallow(&format!("{}//a{}", "(".repeat(16), ")[1]".repeat(16))), Ok(()));
    assert!(require_shallow(&format!("{}//a{}", "(".repeat(17), ")".repeat(17))).is_err());
}

fn items(page: &str, path: &str) -> u64 {
    let html = Rc::new(html::read(page, html::MAX_READING_STEPS, &|| true).expect("a short page"));
    let tree = tree(&html).expect("it is not deep");
    Nodes::of(&tree, page.len()).items(path)
}

/// Decision 708: each of these has many more items than the page has nodes.
#[test]
fn paths_that_take_too_long_are_refused() {
    let deep = format!("<html><body>{}x{}</body></html>", "<b>".repeat(300), "</b>".repeat(300));
    let wide = format!("<html><body><ul>{}</ul></body></html>", "<li>x</li>".repeat(1_000));
    let names: String = (0..300).map(|number| format!(" a{number}='1'")).collect();
    let many = format!("<html><body><b{names}>x</b></body></html>");
    let looked = format!("<html><body>{}{}{}</body></html>", "<b>".repeat(200), "<br>".repeat(2_000), "</b>".repeat(200));
    let nested = "(".repeat(20);
    let bad = [
        (&deep, "//*//*//*"),
        (&deep, "//*[.//*]//*//b"),
        (&deep, "(//b//b)//b//b"),
        (&many, "//b/@*/../@*/../@*"),
        (&wide, "//li/../li/../li"),
        (&wide, "//*:li/../*:li/../* : li"),
        (&wide, "//LI/../li/../li"),
        (&wide, "//li/../*/../*[\u{e9}]"),
        (&wide, "//li/parent :: ul/li/../li"),
        (&wide, "//li/following-sibling::li/following-sibling::li"),
        (&wide, "//li[../li/../li]"),
        (&wide, "//li[../li/text() = ../li/@a]"),
        (&wide, "//li/text()[b or (../../li/../li)]"),
        (&wide, nested.as_str()),
        (&wide, "//li[3-../li/../li]"),
        // Few items that are found among many, or whose text is long.
        (&looked, "//b//b//b//z"),
        (&looked, "//b//b//@z"),
        (&looked, "//b//b//z[1]"),
        (&looked, "//b//b//text()[1]"),
        (&looked, "//b//(b)//(z)"),
        (&looked, "//b//b//string()"),
        (&looked, "//b//b//'x'"),
        (&looked, "//b//b[b='x']"),
        (&looked, "//b//b['x' >= b]"),
        (&looked, "//b//b[b eq 'x']"),
        (&looked, "//b//b['x' lt (b)]"),
        (&looked, "//b//b[1 + b]"),
        (&looked, "//b//b[-b]"),
        (&looked, "//b//b['x' || b]"),
        (&looked, "//b//b[string()]"),
        (&looked, "//b//b[. > 1]"),
        (&looked, "//br[contains(.., 'x')]"),
        (&looked, "//br[starts-with('x', (..))]"),
    ];
    for (page, path) in bad {
        assert!(items(page, path) > MAX_ITEMS, "{path}");
    }
    let good = [
        (&deep, "//b//b/text()"),
        (&deep, "/html/body/b"),
        (&wide, "//ul/li[3]/text()"),
        (&wide, "//ul/../ul/../ul/li"),
        (&many, "//b/@a1/../@a2/../@a3"),
        (&wide, "//li[number(.) > 1.5]/@value"),
        (&wide, "//li[text()='x' and position() < 10]/following-sibling::li"),
        (&wide, "//ul[@class='a']//li[contains(., 'x')]/../@id"),
        (&wide, "(//li)[1]/text()"),
        (&wide, "//li[normalize-space(text()) = 'x'] | //ul/li/@a"),
        (&looked, "//b//b/@z"),
        (&looked, "//b//b//z"),
        (&looked, "//b//text()"),
        (&looked, "//b//b[b and position() = 1 or not(b)] | //b//b"),
        (&looked, "//br[position() = 1]"),
        (&looked, "//b//br[@a='x']"),
    ];
    for (page, path) in good {
        assert!(items(page, path) <= MAX_ITEMS, "{path}: {}", items(page, path));
    }
}

/// Decision 729: each item on the left is looked for among those on the right, so 20,000 of them and as many are 400,000,000 looks.
#[test]
fn searches_among_long_lists_are_refused() {
    let page = format!("<html><body>{}</body></html>", "<p></p>".repeat(20_000));
    for path in ["//p except //p", "//p intersect (//p)", "(//p)except //z except //p"] {
        assert!(items(&page, path) > MAX_ITEMS, "{path}");
    }
    for path in ["//p except //z", "//p | //p", "//body intersect //p"] {
        assert!(items(&page, path) <= MAX_ITEMS, "{path}: {}", items(&page, path));
    }
}

#[test]
fn paths_are_read_as_tokens() {
    use Token::{Axis, Concat, Down, Function, Sign, Text, Up, Word};
    let expected = [Down, Word("a-b"), Sign('['), Sign('@'), Word("c"), Sign('='), Text, Sign(']'), Sign('/'), Up, Sign('/')];
    assert_eq!(tokens(r#" //a-b[ @c = "'//[" ]/../"#), expected);
    let expected = [Sign('/'), Axis("child"), Word("d"), Sign('/'), Function("text"), Sign('('), Sign(')')];
    assert_eq!(tokens("/child :: d/text ()"), expected);
    let expected = [Sign('-'), Word("a"), Sign('-'), Word("3"), Sign('-'), Word("b.c"), Concat, Word(".5")];
    assert_eq!(tokens("-a - 3-b.c||.5"), expected);
}
