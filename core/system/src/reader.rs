//! Reading a submission, a CBOR map: what is absent, of another type or too long is refused by its name.

use crate::market::mistake::Mistake;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Blob, Hash, List, Text};

/// What a number is.
const NUMBER: &str = "a whole number, 0 or more";

/// A map whose fields are read by name.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    map: Option<&'a Value>,
    /// What the map is called in a refusal; empty for the submission itself.
    part: &'a str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(map: &'a Value, part: &'a str) -> Self {
        Self { map: Some(map), part }
    }

    /// A field's value; nothing where it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map?.get(name).filter(|value| **value != Value::Null)
    }

    /// A field that is a map; one without fields where it is absent.
    pub(crate) fn below(&self, name: &'a str) -> Self {
        Self { map: self.get(name), part: name }
    }

    /// Whether there is a map at all.
    pub(crate) fn is_present(&self) -> bool {
        matches!(self.map, Some(Value::Map(_)))
    }

    /// The mistake of a field that is absent, or not what it has to be.
    pub(crate) fn wrong(&self, name: &str, rule: &str) -> Mistake {
        let separator = if self.part.is_empty() { "" } else { "." };
        let found = if self.get(name).is_none() { " is missing" } else { "" };
        Mistake::invalid(format!("{}{separator}{name}{found}: it has to be {rule}.", self.part))
    }

    pub(crate) fn number(&self, name: &str) -> Result<u64, Mistake> {
        self.get(name).and_then(Value::as_u64).ok_or_else(|| self.wrong(name, NUMBER))
    }

    pub(crate) fn number_or(&self, name: &str, default: u64) -> Result<u64, Mistake> {
        if self.get(name).is_none() { Ok(default) } else { self.number(name) }
    }

    pub(crate) fn count_or(&self, name: &str, default: u64) -> Result<Count, Mistake> {
        self.number_or(name, default).map(Count)
    }

    pub(crate) fn amount_or_zero(&self, name: &str) -> Result<Amount, Mistake> {
        self.number_or(name, 0).map(Amount)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Mistake> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    pub(crate) fn text_or_empty(&self, name: &str) -> Result<&'a str, Mistake> {
        match self.get(name) {
            None => Ok(""),
            Some(value) => value.as_text().ok_or_else(|| self.wrong(name, "a string")),
        }
    }

    pub(crate) fn bounded_text<const MAX: usize>(&self, name: &str) -> Result<Text<MAX>, Mistake> {
        Text::new(self.text_or_empty(name)?).ok_or_else(|| self.wrong(name, &format!("a string of at most {MAX} bytes")))
    }

    pub(crate) fn bytes_or_empty(&self, name: &str) -> Result<&'a [u8], Mistake> {
        match self.get(name) {
            None => Ok(b""),
            Some(value) => value.as_bytes().ok_or_else(|| self.wrong(name, "bytes")),
        }
    }

    pub(crate) fn blob<const MAX: usize>(&self, name: &str) -> Result<Blob<MAX>, Mistake> {
        Blob::new(self.bytes_or_empty(name)?.to_vec()).ok_or_else(|| self.wrong(name, &format!("at most {MAX} bytes")))
    }

    /// Exactly `n` bytes.
    pub(crate) fn fixed<const N: usize>(&self, name: &str) -> Result<[u8; N], Mistake> {
        self.bytes_or_empty(name)?.try_into().map_err(|_| self.wrong(name, &format!("{N} bytes")))
    }

    /// A hash; zero where it is absent.
    pub(crate) fn hash_or_zero(&self, name: &str) -> Result<Hash, Mistake> {
        if self.get(name).is_none() { Ok(Hash::ZERO) } else { self.fixed(name).map(Hash) }
    }

    pub(crate) fn address(&self, name: &str) -> Result<Address, Mistake> {
        self.fixed(name).map(Address)
    }

    /// A list; empty where it is absent.
    pub(crate) fn items(&self, name: &str) -> Result<&'a [Value], Mistake> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.wrong(name, "a list")),
        }
    }

    /// A list of texts.
    pub(crate) fn texts<const LENGTH: usize, const COUNT: usize>(&self, name: &str) -> Result<List<Text<LENGTH>, COUNT>, Mistake> {
        let texts = self.items(name)?.iter().map(|item| item.as_text().and_then(Text::new)).collect::<Option<Vec<_>>>();
        let rule = || self.wrong(name, &format!("a list of at most {COUNT} strings of at most {LENGTH} bytes"));
        texts.and_then(List::new).ok_or_else(rule)
    }
}
