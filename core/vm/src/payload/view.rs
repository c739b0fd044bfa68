//! What a `memoryview` shows, and as what.

use crate::value::Value;

/// What a `memoryview` shows of bytes or a bytearray.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The bytes; undefined once the view is released.
    pub object: Value,
    /// The first byte of the first item.
    pub start: usize,
    /// Number of items by dimension.
    pub shape: Vec<usize>,
    /// Bytes from an item to the next by dimension.
    pub strides: Vec<i64>,
    /// What an item is.
    pub format: Format,
    /// Whether it only reads.
    pub is_readonly: bool,
    /// The hash once it was asked for.
    pub hash: Option<i64>,
}

/// What an item of a view is: a native format of one character, perhaps with `@` before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// The character.
    pub code: u8,
    /// Whether it was written with `@`.
    pub is_marked: bool,
}

impl Format {
    /// Unsigned bytes, which every view begins with.
    pub(crate) const BYTES: Self = Self { code: b'B', is_marked: false };

    /// A format as `cast` takes it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (code, is_marked) = match text.as_bytes() {
            [b'@', code] => (*code, true),
            [code] => (*code, false),
            _ => return None,
        };
        b"cbB?hHiIlLqQnNfdP".contains(&code).then_some(Self { code, is_marked })
    }

    /// Bytes of an item.
    pub(crate) fn size(self) -> usize {
        match self.code {
            b'c' | b'b' | b'B' | b'?' => 1,
            b'h' | b'H' => 2,
            b'i' | b'I' | b'f' => 4,
            _ => 8,
        }
    }

    /// The format as `format` shows it.
    pub(crate) fn text(self) -> String {
        format!("{}{}", if self.is_marked { "@" } else { "" }, char::from(self.code))
    }

    /// Whether an item is one byte.
    pub(crate) fn is_byte(self) -> bool {
        matches!(self.code, b'c' | b'b' | b'B')
    }
}
