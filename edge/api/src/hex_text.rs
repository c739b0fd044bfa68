//! Bytes as they stand in JSON: `0x` and lower-case hex. The `0x` is optional where we read.

use cowboy_types::{Address, Hash};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt, ops::Deref, str::FromStr};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

/// A value that JSON carries as hex text: an [`Address`], a [`Hash`] or a byte string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hex<T>(pub T);

/// Any number of bytes in hex.
pub type HexBytes = Hex<Vec<u8>>;

/// An address in hex.
pub type HexAddress = Hex<Address>;

/// A digest in hex.
pub type HexHash = Hex<Hash>;

/// What can stand in JSON as hex.
pub trait HexText: Sized {
    /// The type's name in the API's documentation.
    const NAME: &'static str;
    /// What it is, for the API's documentation.
    const ABOUT: &'static str;
    /// How many bytes it has, where that is fixed.
    const LENGTH: Option<usize>;

    /// The value as bytes.
    fn as_bytes(&self) -> &[u8];

    /// The value of these digits, or why they are none.
    fn parse(text: &str) -> Result<Self, String>;
}

impl HexText for Address {
    const NAME: &'static str = "Address";
    const ABOUT: &'static str = "The 20-byte name of an account or an actor.";
    const LENGTH: Option<usize> = Some(20);

    fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn parse(text: &str) -> Result<Self, String> {
        Self::from_str(text).map_err(|error| format!("not an address: {error}"))
    }
}

impl HexText for Hash {
    const NAME: &'static str = "Hash";
    const ABOUT: &'static str = "A 32-byte digest.";
    const LENGTH: Option<usize> = Some(32);

    fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn parse(text: &str) -> Result<Self, String> {
        Self::from_str(text).map_err(|error| format!("not a hash: {error}"))
    }
}

impl HexText for Vec<u8> {
    const NAME: &'static str = "Bytes";
    const ABOUT: &'static str = "Any number of bytes.";
    const LENGTH: Option<usize> = None;

    fn as_bytes(&self) -> &[u8] {
        self
    }

    fn parse(text: &str) -> Result<Self, String> {
        hex::decode(text.strip_prefix("0x").unwrap_or(text)).map_err(|error| format!("not hex: {error}"))
    }
}

impl<T> Deref for Hex<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> From<T> for Hex<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T: HexText> fmt::Display for Hex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", hex::encode(self.0.as_bytes()))
    }
}

impl<T: HexText> FromStr for Hex<T> {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        T::parse(text).map(Self)
    }
}

impl<T: HexText> Serialize for Hex<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, T: HexText> Deserialize<'de> for Hex<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        T::parse(&text).map(Self).map_err(de::Error::custom)
    }
}

impl<T: HexText> PartialSchema for Hex<T> {
    fn schema() -> RefOr<Schema> {
        let pattern = match T::LENGTH {
            Some(length) => format!("^(0x)?[0-9a-fA-F]{{{}}}$", length * 2),
            None => "^(0x)?([0-9a-fA-F]{2})*$".to_owned(),
        };
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).description(Some(T::ABOUT)).into()
    }
}

impl<T: HexText> ToSchema for Hex<T> {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed(T::NAME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_an_optional_prefix_on_input_and_always_one_on_output() {
        let rows: &[(&str, Option<&str>)] = &[
            ("0x", Some("0x")),
            ("", Some("0x")),
            ("0xAb01", Some("0xab01")),
            ("ab01", Some("0xab01")),
            ("0xabc", None),
            ("zz", None),
            ("0x0xab", None),
        ];
        for (input, expected) in rows {
            let found = serde_json::from_value::<HexBytes>((*input).into()).ok().map(|bytes| bytes.to_string());
            assert_eq!(found.as_deref(), *expected, "{input}");
        }
    }
}
