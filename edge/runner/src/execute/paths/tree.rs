//! A page as the library of XPath has it, made out of the tree that CSS rules search (decision 729).

use crate::execute::{Fault, html::Handle};
use scraper::{Html, Node};
use skyscraper::{
    html::grammar::document_builder::{DocumentBuilder, ElementBuilder},
    xpath::XpathItemTree,
};
use std::rc::Rc;

/// The deepest that elements of a page may be within each other, as in browsers: the library makes an element, and reads its text, by calling itself for
/// each one within, and a page deeper than the stack would end the whole runner.
const MAX_DEPTH: usize = 512;

/// The most elements, attributes, texts and comments of a page: they bound its memory.
const MAX_NODES: usize = 250_000;

/// Makes the tree of a page.
///
/// # Errors
///
/// The page is too deep, or has too many nodes.
pub(in crate::execute) fn tree(html: &Rc<Html>) -> Result<XpathItemTree, Fault> {
    require_small(html)?;
    let mut builder = DocumentBuilder::new();
    for child in html.tree.root().children() {
        builder = match child.value() {
            Node::Element(element) => {
                let (html, id) = (Rc::clone(html), child.id());
                builder.add_element(element.name(), move |element| filled(element, &html, id))
            }
            Node::Comment(comment) => builder.add_comment(comment),
            _ => builder,
        };
    }
    builder.build().map_err(|error| Fault::External(error.to_string()))
}

fn require_small(html: &Html) -> Result<(), Fault> {
    let (mut waiting, mut nodes) = (vec![(html.tree.root(), 0_usize)], 0_usize);
    while let Some((node, depth)) = waiting.pop() {
        if depth > MAX_DEPTH {
            return Err(Fault::Impossible(format!("pages read by xpath are at most {MAX_DEPTH} elements deep")));
        }
        nodes += 1 + node.value().as_element().map_or(0, |element| element.attrs().count());
        if nodes > MAX_NODES {
            return Err(Fault::Impossible(format!("pages read by xpath have at most {MAX_NODES} elements, attributes and texts")));
        }
        waiting.extend(node.children().map(|child| (child, depth + usize::from(!child.value().is_fragment()))));
    }
    Ok(())
}

/// An element with its attributes and all that it has within.
fn filled<'a>(mut builder: ElementBuilder<'a>, html: &Rc<Html>, of: Handle) -> ElementBuilder<'a> {
    let Some(node) = html.tree.get(of) else { return builder };
    for (name, value) in node.value().as_element().into_iter().flat_map(|element| element.attrs()) {
        builder = builder.add_attribute_str(name, value);
    }
    for child in node.children() {
        builder = match child.value() {
            Node::Element(element) => {
                let (html, id) = (Rc::clone(html), child.id());
                builder.add_element(element.name(), move |element| filled(element, &html, id))
            }
            Node::Text(text) => builder.add_text(text),
            Node::Comment(comment) => builder.add_comment(comment),
            // What a template has within.
            Node::Fragment => filled(builder, html, child.id()),
            _ => builder,
        };
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::html;

    /// A limit that many pages pass sooner than the real one.
    const STEPS: usize = html::MAX_READING_STEPS / 8;

    fn made(page: &str) -> Result<String, Fault> {
        let html = Rc::new(html::read(page, STEPS, &|| true)?);
        tree(&html).map(|tree| tree.to_string())
    }

    fn reason(page: &str) -> String {
        match made(page) {
            Err(Fault::Impossible(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    /// Decision 729: the library's own parser would end the process at the first of these, and take minutes for the others.
    #[test]
    fn pages_are_refused_before_they_are_built() {
        for (before, part) in [("", "<template>"), ("<svg><desc>", "<template>"), ("", "<i>")] {
            assert!(reason(&format!("{before}{}", part.repeat(2_000))).contains("512 elements deep"), "{before}{part}");
        }
        let bodies: String = (0..20_000).map(|number| format!("<body b{number}=1>")).collect();
        for page in ["<div>".repeat(100_000), bodies] {
            assert!(reason(&page).contains("steps to read"));
        }
        assert!(reason(&"x<br a b c>".repeat(55_000)).contains("250000 elements"));
        // What stands in it is text.
        assert!(made(&format!("<noscript>{}", "<template>".repeat(3_000))).is_ok());
    }

    #[test]
    fn elements_attributes_texts_and_templates_are_kept() {
        let page = "<!--c--><title>T</title><p class='a b' id=x>caf\u{e9} &amp; <b>bold</b>!<!--d--><template><i>t</i></template>";
        let found = made(page).expect("a small page");
        for part in [
            "<!--c-->",
            "<title>T</title>",
            "class=\"a b\"",
            "id=\"x\"",
            "caf\u{e9}",
            "<b>bold</b>!<!--d-->",
            "<template><i>t</i></template>",
        ] {
            assert!(found.contains(part), "{part}: {found}");
        }
    }
}
