//! The typed arguments, results and events of system actors, and the tables that declare them.
//!
//! A method or an event is declared once, as a row of `actor::methods!` or [`events!`] in its actor's folder. The struct that a handler receives,
//! decoding with the name of the refused field, the shape in `docs/methods.md`, and the permission check before the handler derive from it.
//!
//! On the wire an argument is a canonical CBOR map. A field that is null counts as absent, and fields that are not declared are ignored.

pub(crate) mod declare;
mod forms;

pub use declare::{Emit, EventRow};
pub(crate) use declare::{EmitFor, events, form};

use cowboy_types::cbor::Value;
use std::fmt;

/// What a value looks like on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Null,
    /// A truth value.
    Bool,
    /// An integer from 0 to 2⁶⁴ − 1.
    Number,
    /// An integer from 0 to 2¹²⁸ − 1: 16 bytes, big-endian, where it does not fit 64 bits.
    Units,
    /// A text of at most this many bytes; 0 where only the transaction's size or a rule of the method bounds it.
    Text(usize),
    /// One of a few texts.
    Word(&'static [&'static str]),
    /// A byte string of at most this many bytes; 0 where only the transaction's size bounds it.
    Bytes(usize),
    /// A byte string of exactly this many bytes.
    Fixed(usize),
    /// The 20 bytes of an address.
    Address,
    /// The 32 bytes of a hash or an id.
    Hash,
    /// Any value: the method's text says which.
    Any,
    /// The shape, or null.
    Optional(&'static Shape),
    /// A list of at most this many.
    List(&'static Shape, usize),
    /// A map with these fields.
    Map(&'static [Field]),
}

/// A field of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it says.
    pub doc: &'static str,
    /// What its value looks like.
    pub shape: Shape,
    /// The value where it is absent, as Rust spells it; none where it is required.
    pub default: Option<&'static str>,
}

/// A field that is missing or does not have its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The field's names, from the outermost map inwards; none where the whole value has another shape.
    pub path: Vec<&'static str>,
    /// Whether it is missing, or null.
    pub is_missing: bool,
}

impl Refused {
    /// A value that does not have its shape.
    pub(crate) const WHOLE: Self = Self { path: Vec::new(), is_missing: false };

    /// The same, of a field of a map.
    pub(crate) fn within(mut self, name: &'static str) -> Self {
        self.path.insert(0, name);
        self
    }

    /// What is wrong with an argument that has these fields.
    pub fn text(&self, fields: &'static [Field]) -> String {
        let mut shape = Shape::Map(fields);
        for name in &self.path {
            let Some(field) = shape.fields().iter().find(|field| field.name == *name) else { break };
            shape = field.shape;
        }
        let name = if self.path.is_empty() { "argument".to_string() } else { format!("argument `{}`", self.path.join(".")) };
        let missing = if self.is_missing { "missing, " } else { "" };
        format!("{name}: {missing}expected {}{shape}", shape.article())
    }
}

impl Shape {
    /// The fields of a map, also of one in a list or one that may be null; none of other shapes.
    pub(crate) fn fields(self) -> &'static [Field] {
        let mut shape = self;
        loop {
            match shape {
                Shape::Map(fields) => return fields,
                Shape::Optional(inner) | Shape::List(inner, _) => shape = *inner,
                _ => return &[],
            }
        }
    }

    /// Whether whoever makes a value of this shape chooses how many bytes it has. Recursive: as deep as the types of the tables are.
    #[cfg(test)]
    pub(crate) fn is_variable(self) -> bool {
        match self {
            Self::Text(_) | Self::Bytes(_) | Self::List(..) | Self::Any => true,
            Self::Optional(inner) => inner.is_variable(),
            Self::Map(fields) => fields.iter().any(|field| field.shape.is_variable()),
            Self::Null | Self::Bool | Self::Number | Self::Units | Self::Word(_) | Self::Fixed(_) | Self::Address | Self::Hash => false,
        }
    }

    /// Bytes of a value of this shape that whoever made it chose the number of: those of texts and byte strings, and of lists, undeclared values and undeclared
    /// fields with what encodes them. Recursive: as deep as the types of the tables are.
    pub(crate) fn variable_bytes(self, value: &Value) -> usize {
        match (self, value) {
            (_, Value::Null) => 0,
            (Self::Text(_), Value::Text(text)) => text.len(),
            (Self::Bytes(_), Value::Bytes(bytes)) => bytes.len(),
            (Self::List(..) | Self::Any, value) => value.encode().len(),
            (Self::Optional(inner), value) => inner.variable_bytes(value),
            (Self::Map(fields), Value::Map(entries)) => {
                let of_entry = |(name, value): &(Value, Value)| match declared(fields, name) {
                    Some(field) => field.shape.variable_bytes(value),
                    None => value.encode().len(),
                };
                entries.iter().map(of_entry).fold(0, usize::saturating_add)
            }
            _ => 0,
        }
    }

    /// Whether a value has something that this shape does not declare: fields of its maps that have no row, or another value in the place of a map that needs no
    /// field. Recursive: as deep as the types of the tables are.
    pub(crate) fn has_undeclared(self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) => false,
            (Self::Optional(inner), value) => inner.has_undeclared(value),
            (Self::List(inner, _), Value::Array(items)) => items.iter().any(|item| inner.has_undeclared(item)),
            (Self::Map(fields), Value::Map(entries)) => {
                entries.iter().any(|(name, value)| declared(fields, name).is_none_or(|field| field.shape.has_undeclared(value)))
            }
            (Self::Map(_), _) => true,
            _ => false,
        }
    }

    /// What stands before its name in a sentence.
    fn article(self) -> &'static str {
        let mut shape = self;
        while let Shape::Optional(inner) = shape {
            shape = *inner;
        }
        match shape {
            Shape::Number | Shape::Units | Shape::Address => "an ",
            Shape::Bool | Shape::Hash | Shape::List(..) | Shape::Text(0) => "a ",
            Shape::Word(_) => "one of ",
            Shape::Map(_) => "a map ",
            _ => "",
        }
    }
}

impl fmt::Display for Shape {
    /// Recursive: as deep as the types of the tables are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool => f.write_str("bool"),
            Self::Number => f.write_str("integer"),
            Self::Units => f.write_str("integer of 128 bits"),
            Self::Text(0) => f.write_str("text"),
            Self::Text(max) => write!(f, "text of at most {max} bytes"),
            Self::Word(words) => f.write_str(&words.join(" | ")),
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

/// A type with one form on the wire.
pub trait Form: Sized {
    /// What it looks like.
    const SHAPE: Shape;

    /// The value of these bytes, where they have the shape.
    fn read(value: &Value) -> Result<Self, Refused>;

    /// The value on the wire.
    fn write(&self) -> Value;

    /// The value as an argument: fields that have their default are left out.
    fn brief(&self) -> Value {
        self.write()
    }

    /// The value of an absent field of this type; none where it must be there.
    fn absent() -> Option<Self> {
        None
    }
}

/// A map with declared fields.
pub trait Record: Form {
    /// Its fields.
    const FIELDS: &'static [Field];
}

/// The row of a field that has this name.
fn declared(fields: &'static [Field], name: &Value) -> Option<&'static Field> {
    fields.iter().find(|field| matches!(name, Value::Text(text) if text == field.name))
}

/// A field of a map: `default` stands for an absent one.
pub(crate) fn field<T: Form>(map: &Value, name: &'static str, default: Option<fn() -> T>) -> Result<T, Refused> {
    match map.get(name).filter(|value| **value != Value::Null) {
        Some(value) => T::read(value).map_err(|refused| refused.within(name)),
        None => default.map(|make| make()).or_else(T::absent).ok_or_else(|| Refused { path: vec![name], is_missing: true }),
    }
}

/// A field of an argument, where it does not have its default.
pub(crate) fn brief_field<T: Form>(name: &'static str, value: &T, default: Option<fn() -> T>) -> Option<(&'static str, Value)> {
    let brief = value.brief();
    let default = default.map(|make| make()).or_else(T::absent).map(|default| default.brief());
    (default.as_ref() != Some(&brief)).then_some((name, brief))
}

#[cfg(test)]
mod tests;
