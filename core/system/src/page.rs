//! The docs page of the system actors, from their tables.

use crate::actor::{Actor, Keeping, Method};
use crate::protocol::FIRST_VERSION;
use crate::registry::ACTORS;
use crate::schema::{EventRow, Field, Shape};
use cowboy_types::Address;

/// The page, in Markdown.
pub fn markdown() -> String {
    page_of(ACTORS.iter())
}

fn page_of(actors: impl Iterator<Item = &'static Actor>) -> String {
    let mut page = String::from(
        "# Methods of system actors\n\nGenerated from the tables of `core/system` by `cargo run -p cowboy-system --example methods > docs/methods.md`.\n\n\
         An account calls a method by an `Execute` instruction, an actor by `call` or `send`, with a canonical CBOR map as argument. A field that is null counts as absent; a field that is not listed is ignored. \
         Integers of 128 bits that do not fit 64 are 16 bytes, big-endian. A method that is not *payable* refuses CBY (error 1621), and one that is *governed* answers a decision of governance alone. \
         An *open* method has fields beside those that are listed, and refuses the ones that it does not know. \
         Of a *kept* method, each byte of the texts, byte strings and lists in the argument costs a cell, of an open one each byte of the argument. \
         *Routine* methods need a proposal of tier 0, others one of tier 3. A *view* only reads. An event *of the account or actor* is emitted in the name of the one that it is about, every other one in the name of the system actor.\n",
    );
    for actor in actors {
        write_actor(&mut page, actor);
    }
    page
}

fn write_actor(page: &mut String, actor: &Actor) {
    page.push_str(&format!("\n## {:#04x} {}\n\n`{}`. {}\n", actor.number, actor.name, Address::system(actor.number), actor.doc));
    if actor.tables.is_empty() {
        page.push_str("\nReserved: it has no methods yet.\n");
    }
    for method in actor.methods() {
        write_method(page, method);
    }
    for event in actor.events.iter().copied().flatten() {
        write_event(page, event);
    }
}

fn write_method(page: &mut String, method: &Method) {
    let marks = [
        (method.is_view, "view"),
        (method.is_payable, "payable"),
        (method.is_governed, "governed"),
        (method.is_routine, "routine"),
        (method.is_duty, "duty"),
        (method.is_open, "open"),
        (method.keeping == Keeping::Kept, "kept"),
    ];
    let since = (method.since > FIRST_VERSION).then(|| format!("from protocol version {}", method.since));
    let marks: Vec<String> = marks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, word)| word.to_string()).chain(since).collect();
    let suffix = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    page.push_str(&format!("\n### `{}`{suffix}\n\n{}\n", method.name, method.doc.trim()));
    write_fields(page, "argument", method.arguments);
    match &method.result {
        Shape::Any => {}
        Shape::Map(fields) | Shape::Optional(Shape::Map(fields)) => {
            page.push_str(if matches!(method.result, Shape::Optional(_)) { "\nReturns a map, or null:\n" } else { "\nReturns a map:\n" });
            write_fields(page, "field", fields);
        }
        shape => {
            page.push_str(&format!("\nReturns: {shape}.\n"));
            write_fields(page, "field", shape.fields());
        }
    }
}

fn write_event(page: &mut String, event: &EventRow) {
    let suffix = if event.is_of_account { " (of the account or actor)" } else { "" };
    page.push_str(&format!("\n### Event `{}`{suffix}\n\n{}\n", event.name, event.doc.trim()));
    write_fields(page, "field", event.data);
}

/// A table of fields, and one of the fields within each. Recursive: as deep as the types of the tables are.
fn write_fields(page: &mut String, what: &str, fields: &[Field]) {
    if fields.is_empty() {
        return;
    }
    page.push_str(&format!("\n| {what} | form | default | meaning |\n|---|---|---|---|\n"));
    for field in fields {
        let default = match (field.default, &field.shape) {
            (Some(default), _) => format!("`{default}`"),
            (None, Shape::Optional(_)) => "null".to_string(),
            (None, _) => String::new(),
        };
        let form = field.shape.to_string().replace('|', "\\|");
        page.push_str(&format!("| `{}` | {form} | {default} | {} |\n", field.name, field.doc.trim()));
    }
    for field in fields.iter().filter(|field| !field.shape.fields().is_empty()) {
        page.push_str(&format!("\nFields of `{}`:\n", field.name));
        write_fields(page, "field", field.shape.fields());
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The actors of networks: all but the example, which only tests have.
    pub(crate) fn shipped() -> impl Iterator<Item = &'static Actor> + Clone {
        ACTORS.iter().filter(|actor| actor.number != crate::example::NUMBER)
    }

    #[test]
    fn the_page_is_up_to_date() {
        let page = include_str!("../../../docs/methods.md");
        assert_eq!(page, page_of(shipped()), "run: cargo run -p cowboy-system --example methods > docs/methods.md");
    }

    /// A name stands for one method of an actor, and for one event.
    #[test]
    fn names_are_unique() {
        for actor in ACTORS {
            for names in [
                actor.methods().map(|row| row.name).collect::<Vec<_>>(),
                actor.events.iter().copied().flatten().map(|row| row.name).collect(),
            ] {
                let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
                assert_eq!(distinct.len(), names.len(), "{}", actor.name);
            }
        }
    }
}
