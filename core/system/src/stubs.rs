//! The typed stubs of `cowboy_sdk.system`, from the tables of the system actors.

use crate::actor::{Actor, Method};
use crate::protocol::FIRST_VERSION;
use crate::registry::ACTORS;
use crate::schema::{Field, Shape};
use cowboy_types::Address;
use std::collections::BTreeMap;

const HEAD: &str =
    "# Generated from the tables of `core/system` by `cargo run -p cowboy-system --example stubs > sdk/python/cowboy_sdk/system.pyi`.

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

from .types import Address, TokenId

class SystemActor:
    def __init__(self, number: int) -> None: ...
    @property
    def address(self) -> Address: ...
";

/// The stubs, in Python.
pub fn stubs() -> String {
    stubs_of(ACTORS.iter().filter(|actor| !actor.tables.is_empty()))
}

fn stubs_of(actors: impl Iterator<Item = &'static Actor>) -> String {
    let (mut maps, mut classes, mut names) = (Maps::default(), String::new(), String::new());
    for actor in actors {
        let class = camel(actor.name);
        let address = Address::system(actor.number);
        classes.push_str(&format!(
            "\nclass _{class}(SystemActor):\n    \"\"\"{:#04x}, `{address}`. {}\"\"\"\n",
            actor.number,
            quoted(actor.doc)
        ));
        for method in actor.methods().filter(|method| !method.is_governed) {
            classes.push_str(&method_of(&mut maps, &class, method));
        }
        names.push_str(&format!("{}: _{class}\n", snake(actor.name)));
    }
    format!("{HEAD}{}{classes}\n{names}", maps.text)
}

fn method_of(maps: &mut Maps, class: &str, method: &Method) -> String {
    let is_declared = !method.is_open && (!method.arguments.is_empty() || method.result != Shape::Any);
    let within = format!("{class}{}", camel(method.name));
    let mut lines = Vec::new();
    if is_declared {
        lines.push("self, *,".to_owned());
    } else {
        lines.push("self, argument: dict[str, Any], /, *,".to_owned());
    }
    lines.extend(method.arguments.iter().filter(|_| is_declared).map(|field| {
        let form = maps.form(Way::In, &format!("{within}{}", camel(field.name)), &field.shape);
        match (is_required(field), field.shape) {
            (true, _) => format!("{}: {form},", field.name),
            (false, Shape::Optional(_)) => format!("{}: {form} = None,", field.name),
            (false, _) => format!("{}: {form} | None = None,", field.name),
        }
    }));
    if method.is_payable {
        lines.push("value: int = 0,".to_owned());
    }
    lines.push("cycles_limit: int = ...,".to_owned());
    let result = maps.form(Way::Out, &within, &method.result);
    let since = if method.since > FIRST_VERSION { format!(" From protocol version {}.", method.since) } else { String::new() };
    let doc = format!("        \"\"\"{}{since}\"\"\"\n", quoted(method.doc.trim()));
    let lines: String = lines.iter().map(|line| format!("        {line}\n")).collect();
    format!("    def {}(\n{lines}    ) -> {result}:\n{doc}", method.name)
}

fn is_required(field: &Field) -> bool {
    field.default.is_none() && !matches!(field.shape, Shape::Optional(_))
}

/// Whether a value goes to a system actor or comes from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    In,
    Out,
}

/// The maps that are arguments or results: a type each, and the same one where the fields are the same.
#[derive(Default)]
struct Maps {
    text: String,
    names: BTreeMap<String, String>,
}

impl Maps {
    /// A shape's type. Recursive: as deep as the types of the tables are.
    fn form(&mut self, way: Way, name: &str, shape: &Shape) -> String {
        match (shape, way) {
            (Shape::Null, _) => "None".to_owned(),
            (Shape::Bool, _) => "bool".to_owned(),
            (Shape::Number, _) => "int".to_owned(),
            // Beyond 64 bits: 16 bytes, big-endian.
            (Shape::Units, _) => "int | bytes".to_owned(),
            (Shape::Text(_), _) => "str".to_owned(),
            (Shape::Word(words), _) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("Literal[{}]", words.join(", "))
            }
            (Shape::Address, Way::In) => "Address | bytes".to_owned(),
            (Shape::Hash, Way::In) => "TokenId | bytes".to_owned(),
            (Shape::Bytes(_) | Shape::Fixed(_) | Shape::Address | Shape::Hash, _) => "bytes".to_owned(),
            (Shape::Any, _) => "Any".to_owned(),
            (Shape::Optional(inner), _) => format!("{} | None", self.form(way, name, inner)),
            (Shape::List(inner, _), Way::In) => format!("Sequence[{}]", self.form(way, name, inner)),
            (Shape::List(inner, _), Way::Out) => format!("list[{}]", self.form(way, name, inner)),
            (Shape::Map([]), _) => "dict[str, Any]".to_owned(),
            (Shape::Map(fields), _) => self.map(way, name, fields),
        }
    }

    fn map(&mut self, way: Way, name: &str, fields: &'static [Field]) -> String {
        let entry = |field: &Field| {
            let form = self.form(way, &format!("{name}{}", camel(field.name)), &field.shape);
            let is_left_out = way == Way::In && !is_required(field);
            let form = if is_left_out { format!("NotRequired[{form}]") } else { form };
            format!("    \"{}\": {form},\n", field.name)
        };
        // By calls, since a key such as `from` is no name of an attribute.
        let body: String = fields.iter().map(entry).collect();
        if let Some(known) = self.names.get(&body) {
            return known.clone();
        }
        let name = format!("_{name}");
        self.text.push_str(&format!("\n{name} = TypedDict(\"{name}\", {{\n{body}}})\n"));
        self.names.insert(body, name.clone());
        name
    }
}

/// `get_runner` and `Runner Registry` as the name of a class.
fn camel(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital =
        |word: &str| word.char_indices().map(|(at, letter)| if at == 0 { letter.to_ascii_uppercase() } else { letter }).collect::<String>();
    words.map(capital).collect()
}

/// `Runner Registry` as the name of a variable.
fn snake(name: &str) -> String {
    name.to_ascii_lowercase().replace([' ', '-'], "_")
}

/// A text inside three quotation marks.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace("\"\"\"", "'''")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::shipped;

    #[test]
    fn the_stubs_are_up_to_date() {
        let stubs = include_str!("../../../sdk/python/cowboy_sdk/system.pyi");
        let shipped = shipped().filter(|actor| !actor.tables.is_empty());
        assert_eq!(stubs, stubs_of(shipped), "run: cargo run -p cowboy-system --example stubs > sdk/python/cowboy_sdk/system.pyi");
    }

    /// An argument by name may not be an option of the call.
    #[test]
    fn arguments_leave_the_options_their_names() {
        for method in ACTORS.iter().flat_map(Actor::methods) {
            let taken = method.arguments.iter().find(|field| ["self", "argument", "value", "cycles_limit"].contains(&field.name));
            assert_eq!(taken.map(|field| field.name), None, "{}", method.name);
        }
    }

    #[test]
    fn a_method_has_types() {
        let example = ACTORS.iter().filter(|actor| shipped().all(|shipped| shipped.number != actor.number));
        let text = stubs_of(example);
        let sign = "    def sign(\n        self, *,\n        name: str,\n        times: int | None = None,\n        value: int = 0,\n        cycles_limit: int = ...,\n    ) -> ";
        assert!(text.contains(sign), "{text}");
    }
}
