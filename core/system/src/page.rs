//! The docs page of the system actors, from their tables.

use crate::actor::{Actor, Method};
use crate::registry::ACTORS;
use crate::schema::{EventRow, Field, Shape};
use cowboy_types::Address;
use std::fmt;

impl fmt::Display for Shape {
    /// Recursive: as deep as the types of the tables are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("integer"),
            Self::Units => f.write_str("integer of 128 bits"),
            Self::Text(max) => write!(f, "text of at most {max} bytes"),
            Self::Word(words) => f.write_str(&words.join(" \\| ")),
            Self::Bytes(0) => f.write_str("bytes"),
            Self::Bytes(max) => write!(f, "at most {max} bytes"),
            Self::Fixed(length) => write!(f, "{length} bytes"),
            Self::Address => f.write_str("address"),
            Self::Hash => f.write_str("hash"),
            Self::Any => f.write_str("any"),
            Self::Optional(inner) => write!(f, "{inner} or null"),
            Self::List(inner, max) => write!(f, "list of at most {max}: {inner}"),
            Self::Map(fields) => {
                let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
                write!(f, "{{{}}}", names.join(", "))
            }
        }
    }
}

/// The page, in Markdown.
pub fn markdown() -> String {
    let mut page = String::from(
        "# Methods of system actors\n\nGenerated from the tables of `core/system` by `cargo run -p cowboy-system --example methods > docs/methods.md`.\n\n\
         An account calls a method by an `Execute` instruction, an actor by `call` or `send`, with a canonical CBOR map as argument. A field that is null counts as absent; a field that is not listed is ignored. \
         Integers of 128 bits that do not fit 64 are 16 bytes, big-endian. A method that is not *payable* refuses CBY (error 1621), and one that is *governed* answers a decision of governance alone. \
         *Routine* methods need a proposal of tier 0, others one of tier 3. A *view* only reads.\n",
    );
    for actor in ACTORS {
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
    let marks =
        [(method.is_view, "view"), (method.is_payable, "payable"), (method.is_governed, "governed"), (method.is_routine, "routine")];
    let marks: Vec<&str> = marks.into_iter().filter_map(|(is_so, word)| is_so.then_some(word)).collect();
    let suffix = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    page.push_str(&format!("\n### `{}`{suffix}\n\n{}\n", method.name, method.doc.trim()));
    if let Shape::Map(fields) = method.arguments {
        write_fields(page, "argument", fields);
    }
    match method.result {
        Shape::Any if *method.arguments == Shape::Any => {}
        Shape::Map(fields) | Shape::Optional(Shape::Map(fields)) => {
            page.push_str(if matches!(method.result, Shape::Optional(_)) { "\nReturns a map, or null:\n" } else { "\nReturns a map:\n" });
            write_fields(page, "field", fields);
        }
        shape => {
            page.push_str(&format!("\nReturns: {shape}.\n"));
        }
    }
}

fn write_event(page: &mut String, event: &EventRow) {
    page.push_str(&format!("\n### Event `{}`\n\n{}\n", event.name, event.doc.trim()));
    if let Shape::Map(fields) = event.data {
        write_fields(page, "field", fields);
    }
}

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
        page.push_str(&format!("| `{}` | {} | {default} | {} |\n", field.name, field.shape, field.doc.trim()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let page = include_str!("../../../docs/methods.md");
        assert_eq!(page, markdown(), "run: cargo run -p cowboy-system --example methods > docs/methods.md");
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
