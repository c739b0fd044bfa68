//! Reading a method's argument, a CBOR map: what is absent, of another type or too long is refused alike.

use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Abort, Address, Blob, Hash, List, Text};

/// A map whose fields are read by name. Every refusal is the same row of the error table.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    map: Option<&'a Value>,
    refusal: fn() -> Abort,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(map: &'a Value, refusal: fn() -> Abort) -> Self {
        Self { map: Some(map), refusal }
    }

    /// A field's value; nothing where it is absent or null.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map?.get(name).filter(|value| **value != Value::Null)
    }

    /// A field that is a map; one without fields where it is absent.
    pub(crate) fn below(&self, name: &str) -> Self {
        Self { map: self.get(name), refusal: self.refusal }
    }

    /// Whether there is a map at all.
    pub(crate) fn is_present(&self) -> bool {
        matches!(self.map, Some(Value::Map(_)))
    }

    pub(crate) fn refuse(&self) -> Abort {
        (self.refusal)()
    }

    pub(crate) fn number(&self, name: &str) -> Result<u64, Abort> {
        self.get(name).and_then(Value::as_u64).ok_or_else(self.refusal)
    }

    pub(crate) fn number_or(&self, name: &str, default: u64) -> Result<u64, Abort> {
        if self.get(name).is_none() { Ok(default) } else { self.number(name) }
    }

    pub(crate) fn count_or(&self, name: &str, default: u64) -> Result<Count, Abort> {
        self.number_or(name, default).map(Count)
    }

    pub(crate) fn amount_or_zero(&self, name: &str) -> Result<Amount, Abort> {
        self.number_or(name, 0).map(Amount)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<bool, Abort> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(self.refuse()),
        }
    }

    pub(crate) fn text_or_empty(&self, name: &str) -> Result<&'a str, Abort> {
        match self.get(name) {
            None => Ok(""),
            Some(value) => value.as_text().ok_or_else(self.refusal),
        }
    }

    pub(crate) fn bounded_text<const MAX: usize>(&self, name: &str) -> Result<Text<MAX>, Abort> {
        Text::new(self.text_or_empty(name)?).ok_or_else(self.refusal)
    }

    pub(crate) fn bytes_or_empty(&self, name: &str) -> Result<&'a [u8], Abort> {
        match self.get(name) {
            None => Ok(b""),
            Some(value) => value.as_bytes().ok_or_else(self.refusal),
        }
    }

    pub(crate) fn blob<const MAX: usize>(&self, name: &str) -> Result<Blob<MAX>, Abort> {
        Blob::new(self.bytes_or_empty(name)?.to_vec()).ok_or_else(self.refusal)
    }

    /// Exactly `n` bytes.
    pub(crate) fn fixed<const N: usize>(&self, name: &str) -> Result<[u8; N], Abort> {
        self.bytes_or_empty(name)?.try_into().map_err(|_| self.refuse())
    }

    /// A hash; zero where it is absent.
    pub(crate) fn hash_or_zero(&self, name: &str) -> Result<Hash, Abort> {
        if self.get(name).is_none() { Ok(Hash::ZERO) } else { self.fixed(name).map(Hash) }
    }

    pub(crate) fn address(&self, name: &str) -> Result<Address, Abort> {
        self.fixed(name).map(Address)
    }

    /// A list; empty where it is absent.
    pub(crate) fn items(&self, name: &str) -> Result<&'a [Value], Abort> {
        match self.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.refuse()),
        }
    }

    /// A list of texts.
    pub(crate) fn texts<const LENGTH: usize, const COUNT: usize>(&self, name: &str) -> Result<List<Text<LENGTH>, COUNT>, Abort> {
        let read = |item: &Value| item.as_text().and_then(Text::new).ok_or_else(self.refusal);
        List::new(self.items(name)?.iter().map(read).collect::<Result<_, _>>()?).ok_or_else(self.refusal)
    }
}
