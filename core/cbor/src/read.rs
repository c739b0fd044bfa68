//! Reading: items in order, every rule of the canonical form checked on the way.

use crate::{CborError, Fault, MAX_DEPTH, MAX_INTEGER_BITS, numeric_key};
use std::collections::BTreeSet;

/// One item of an encoding. The items of an array or map follow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    /// Null.
    Null,
    /// A truth value.
    Bool(bool),
    /// `magnitude`, or −1 − `magnitude`.
    Integer {
        /// Whether it is below zero.
        negative: bool,
        /// The integer, or −1 minus it.
        magnitude: u64,
    },
    /// The same beyond 64 bits, big-endian, without zeros before it.
    Bignum {
        /// Whether it is below zero.
        negative: bool,
        /// The integer, or −1 minus it.
        magnitude: &'a [u8],
    },
    /// A finite binary64, by its bits; never minus zero, which reads as zero.
    Float(u64),
    /// A byte string.
    Bytes(&'a [u8]),
    /// A text.
    Text(&'a str),
    /// An array of `n` values.
    Array(u64),
    /// A map of `n` pairs: each key stands before its value.
    Map(u64),
}

/// Reads one encoded value, item by item.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<Open<'a>>,
    is_whole: bool,
}

/// An array or map that has values to come.
#[derive(Debug)]
struct Open<'a> {
    /// Values or pairs to come.
    left: u64,
    keys: Option<Keys<'a>>,
}

/// What a map's keys are held against.
#[derive(Debug)]
struct Keys<'a> {
    /// Where the key begins, when a key is next.
    start: usize,
    is_value_next: bool,
    previous: Option<&'a [u8]>,
    numbers: Numbers<'a>,
}

/// The numeric keys of a map. Integers differ from each other by their encodings, so they are only kept until a key of another kind stands
/// beside them that may equal one: most maps need no set, and a map with one key no memory.
#[derive(Debug, Default)]
pub(crate) struct Numbers<'a> {
    first: Option<Item<'a>>,
    further: Vec<Item<'a>>,
    all: Option<BTreeSet<(bool, Vec<u8>)>>,
}

impl<'a> Numbers<'a> {
    /// Takes a key. Answers whether no key before it is the same number.
    pub(crate) fn insert(&mut self, key: &Item<'a>) -> bool {
        if let Some(all) = &mut self.all {
            return numeric_key(key).is_none_or(|number| all.insert(number));
        }
        match key {
            Item::Integer { .. } if self.first.is_none() => self.first = Some(*key),
            Item::Integer { .. } => self.further.push(*key),
            key => {
                let Some(number) = numeric_key(key) else { return true };
                let integers = self.first.take().into_iter().chain(std::mem::take(&mut self.further));
                let mut all: BTreeSet<_> = integers.filter_map(|integer| numeric_key(&integer)).collect();
                let is_new = all.insert(number);
                self.all = Some(all);
                return is_new;
            }
        }
        true
    }
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a value.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, open: Vec::new(), is_whole: false }
    }

    /// The next item; `None` when the value is whole and nothing follows it.
    pub fn next_item(&mut self) -> Result<Option<Item<'a>>, CborError> {
        if self.is_whole {
            return if self.at == self.bytes.len() { Ok(None) } else { Err(self.fault(Fault::Trailing(self.bytes.len()))) };
        }
        if self.bytes.is_empty() {
            return Err(self.fault(Fault::Empty));
        }
        let item = self.item()?;
        let is_key = self.open.last().and_then(|open| open.keys.as_ref()).is_some_and(|keys| !keys.is_value_next);
        match item {
            Item::Array(_) | Item::Map(_) if is_key => return Err(self.fault(Fault::KeyKind)),
            Item::Array(left @ 1..) => self.open.push(Open { left, keys: None }),
            Item::Map(left @ 1..) => {
                let keys = Keys { start: self.at, is_value_next: false, previous: None, numbers: Numbers::default() };
                self.open.push(Open { left, keys: Some(keys) });
            }
            _ => self.complete(&item)?,
        }
        Ok(Some(item))
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// A whole value ends here: so may the arrays and maps that it is the last of.
    fn complete(&mut self, item: &Item<'a>) -> Result<(), CborError> {
        let (bytes, at) = (self.bytes, self.at);
        while let Some(open) = self.open.last_mut() {
            match &mut open.keys {
                Some(keys) if !keys.is_value_next => {
                    let key = bytes.get(keys.start..at).unwrap_or_default();
                    if keys.previous.is_some_and(|previous| (previous.len(), previous) >= (key.len(), key)) {
                        return Err(self.fault(Fault::KeyOrder));
                    }
                    if !keys.numbers.insert(item) {
                        return Err(self.fault(Fault::KeyTwice));
                    }
                    (keys.previous, keys.is_value_next) = (Some(key), true);
                    return Ok(());
                }
                Some(keys) => (keys.start, keys.is_value_next) = (at, false),
                None => {}
            }
            open.left = open.left.saturating_sub(1);
            if open.left > 0 {
                return Ok(());
            }
            self.open.pop();
        }
        self.is_whole = true;
        Ok(())
    }

    fn fault(&self, fault: Fault) -> CborError {
        CborError { at: self.at, fault }
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], CborError> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count)).ok_or_else(|| self.fault(Fault::End))?;
        let taken = self.bytes.get(self.at..end).ok_or_else(|| self.fault(Fault::End))?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self, width: u64) -> Result<u64, CborError> {
        Ok(self.take(width)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A length or integer in its shortest form.
    fn argument(&mut self, info: u8) -> Result<u64, CborError> {
        let (width, least) = match info {
            0..=23 => return Ok(u64::from(info)),
            24 => (1, 24),
            25 => (2, 1 << 8),
            26 => (4, 1 << 16),
            27 => (8, 1 << 32),
            31 => return Err(self.fault(Fault::Indefinite)),
            _ => return Err(self.fault(Fault::Head(info))),
        };
        let number = self.number(width)?;
        if number < least { Err(self.fault(Fault::NonMinimal)) } else { Ok(number) }
    }

    fn head(&mut self) -> Result<(u8, u8), CborError> {
        let [first, ..] = self.take(1)? else { return Err(self.fault(Fault::End)) };
        Ok((first >> 5, first & 0x1F))
    }

    fn item(&mut self) -> Result<Item<'a>, CborError> {
        let (major, info) = self.head()?;
        if major == 7 {
            return self.simple(info);
        }
        let argument = self.argument(info)?;
        let is_nested = major == 4 || major == 5 || (major == 6 && matches!(argument, 2 | 3));
        if is_nested && self.open.len() >= MAX_DEPTH {
            return Err(self.fault(Fault::TooDeep));
        }
        match major {
            0 => Ok(Item::Integer { negative: false, magnitude: argument }),
            1 => Ok(Item::Integer { negative: true, magnitude: argument }),
            2 => self.take(argument).map(Item::Bytes),
            3 => {
                let bytes = self.take(argument)?;
                std::str::from_utf8(bytes).map(Item::Text).map_err(|_| self.fault(Fault::NotUtf8))
            }
            4 => Ok(Item::Array(argument)),
            5 => Ok(Item::Map(argument)),
            _ if is_nested => self.bignum(argument == 3),
            _ => Err(self.fault(Fault::Tag(argument))),
        }
    }

    fn bignum(&mut self, negative: bool) -> Result<Item<'a>, CborError> {
        let (major, info) = self.head()?;
        if major != 2 {
            return Err(self.fault(Fault::Bignum));
        }
        let length = self.argument(info)?;
        let magnitude = self.take(length)?;
        if magnitude.len() <= 8 || magnitude.first() == Some(&0) {
            return Err(self.fault(Fault::Bignum));
        }
        // −1 − magnitude has one bit more where all of the magnitude's bits are set.
        let full = MAX_INTEGER_BITS / 8;
        let is_over = magnitude.len() > full || (negative && magnitude.len() == full && magnitude.iter().all(|byte| *byte == 0xFF));
        if is_over { Err(self.fault(Fault::IntegerSize)) } else { Ok(Item::Bignum { negative, magnitude }) }
    }

    fn simple(&mut self, info: u8) -> Result<Item<'a>, CborError> {
        match info {
            20 => Ok(Item::Bool(false)),
            21 => Ok(Item::Bool(true)),
            22 => Ok(Item::Null),
            25 | 26 => Err(self.fault(Fault::FloatWidth)),
            27 => {
                let bits = self.number(8)?;
                if bits >> 52 & 0x7FF == 0x7FF {
                    return Err(self.fault(Fault::NonFinite));
                }
                Ok(Item::Float(if bits == 1 << 63 { 0 } else { bits }))
            }
            _ => Err(self.fault(Fault::Simple(info))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Item<'static>>, Fault> {
        let bytes: &'static [u8] = Box::leak(hex::decode(text).expect("hex").into_boxed_slice());
        let (mut reader, mut items) = (Reader::new(bytes), Vec::new());
        while let Some(item) = reader.next_item().map_err(|error| error.fault)? {
            items.push(item);
        }
        Ok(items)
    }

    /// every fault has its words, and nothing has a second encoding.
    #[test]
    fn what_is_not_canonical_is_refused_with_its_fault() {
        let deep = format!("{}00", "81".repeat(MAX_DEPTH + 1));
        let deep_number = format!("{}c249010000000000000000", "81".repeat(MAX_DEPTH));
        let wide = format!("c2590201{}", "ff".repeat(513));
        let low = format!("c3590200{}", "ff".repeat(512));
        let rows = [
            ("", Fault::Empty),
            ("18", Fault::End),
            ("4301", Fault::End),
            ("9bffffffffffffffff", Fault::End),
            ("bbffffffffffffffff", Fault::End),
            ("5bffffffffffffffff00", Fault::End),
            ("0000", Fault::Trailing(2)),
            ("1817", Fault::NonMinimal),
            ("190017", Fault::NonMinimal),
            ("9fff", Fault::Indefinite),
            ("1c", Fault::Head(28)),
            (deep.as_str(), Fault::TooDeep),
            (deep_number.as_str(), Fault::TooDeep),
            ("6180", Fault::NotUtf8),
            ("c100", Fault::Tag(1)),
            ("c24101", Fault::Bignum),
            ("c2c24101", Fault::Bignum),
            ("c24900ffffffffffffffff", Fault::Bignum),
            (wide.as_str(), Fault::IntegerSize),
            (low.as_str(), Fault::IntegerSize),
            ("f97e00", Fault::FloatWidth),
            ("fa00000000", Fault::FloatWidth),
            ("fb7ff8000000000000", Fault::NonFinite),
            ("fb7ff0000000000000", Fault::NonFinite),
            ("f7", Fault::Simple(23)),
            ("a2616201616101", Fault::KeyOrder),
            ("a2616101616102", Fault::KeyOrder),
            ("a18001", Fault::KeyKind),
            ("a1a001", Fault::KeyKind),
            ("a20100f500", Fault::KeyTwice),
            ("a20100fb3ff000000000000000", Fault::KeyTwice),
            ("a22000fbbff000000000000000", Fault::KeyTwice),
            ("a2fb43f000000000000000c24901000000000000000000", Fault::KeyTwice),
            ("a2fbc3f000000000000000c348ffffffffffffffff00", Fault::Bignum),
            ("a23bffffffffffffffff00fbc3f000000000000000f6", Fault::KeyTwice),
            ("a200f6f4f6", Fault::KeyTwice),
            ("a4000001000200f500", Fault::KeyTwice),
        ];
        for (encoded, fault) in rows {
            assert_eq!(read(encoded), Err(fault), "{encoded:.40}");
        }
    }

    #[test]
    fn items_come_in_order_and_minus_zero_reads_as_zero() {
        assert_eq!(read("fb8000000000000000"), Ok(vec![Item::Float(0)]));
        let nested = [Item::Map(1), Item::Text("a"), Item::Array(2), Item::Null, Item::Array(0)];
        assert_eq!(read("a1616182f680"), Ok(nested.to_vec()));
        assert_eq!(read("3bffffffffffffffff"), Ok(vec![Item::Integer { negative: true, magnitude: u64::MAX }]));
        let two_kinds = [Item::Map(2), Item::Integer { negative: false, magnitude: 1 }, Item::Null, Item::Float(0x3FF8 << 48), Item::Null];
        assert_eq!(read("a201f6fb3ff8000000000000f6"), Ok(two_kinds.to_vec()));
        let deep = format!("{}00", "81".repeat(MAX_DEPTH));
        assert_eq!(read(&deep).map(|items| items.len()), Ok(MAX_DEPTH + 1));
    }
}
