//! What the variants of [`super::Payload`] hold, one type each.

use super::Map;
use crate::digests::Blake2;
use crate::types::Layout;
use crate::value::{Link, Ref, Value};
use cowboy_num::hash::{hash_str, siphash13};
use std::sync::atomic::{AtomicI64, Ordering};

/// Bytes of the name of a class or function that are part of what anything with a name takes and costs.
pub(crate) const USUAL_NAME: usize = 64;

/// Text with its length in characters and, once needed, its hash.
#[derive(Debug)]
pub(crate) struct Str {
    /// The text.
    pub text: String,
    /// Number of code points.
    pub chars: u32,
    /// Whether it is the one object for its text.
    pub interned: bool,
    /// The largest byte: says how wide CPython would store the characters.
    widest: u8,
    /// The hash once it was asked for; 0 before. Atomic only because frozen texts are shared between runs.
    hash: AtomicI64,
}

impl Clone for Str {
    fn clone(&self) -> Self {
        let hash = AtomicI64::new(self.hash.load(Ordering::Relaxed));
        Self { text: self.text.clone(), chars: self.chars, interned: self.interned, widest: self.widest, hash }
    }
}

impl Str {
    /// Text, not yet hashed.
    pub(crate) fn new(text: String) -> Self {
        let (chars, widest) = if text.is_ascii() { (text.len(), 0) } else { (text.chars().count(), text.bytes().max().unwrap_or(0)) };
        Self { text, chars: u32::try_from(chars).unwrap_or(u32::MAX), interned: false, widest, hash: AtomicI64::new(0) }
    }

    /// The same for text that is known to be ASCII.
    #[inline]
    pub(crate) fn ascii_text(text: String) -> Self {
        let chars = u32::try_from(text.len()).unwrap_or(u32::MAX);
        Self { text, chars, interned: false, widest: 0, hash: AtomicI64::new(0) }
    }

    /// Whether every character is one byte.
    #[inline]
    pub(crate) fn ascii(&self) -> bool {
        self.chars as usize == self.text.len()
    }

    /// Whether it is the same text.
    #[inline(always)]
    pub(crate) fn same(&self, other: &Str) -> bool {
        let (a, b) = (self.text.as_bytes(), other.text.as_bytes());
        if a.len() != b.len() {
            return false;
        }
        // Most texts are short: two words that may overlap say it without a loop.
        if a.len() <= 16 {
            if let (Some(first), Some(last)) = (a.first_chunk::<8>(), a.last_chunk::<8>()) {
                return b.first_chunk::<8>() == Some(first) && b.last_chunk::<8>() == Some(last);
            }
            if let (Some(first), Some(last)) = (a.first_chunk::<4>(), a.last_chunk::<4>()) {
                return b.first_chunk::<4>() == Some(first) && b.last_chunk::<4>() == Some(last);
            }
            return a.iter().zip(b).all(|(a, b)| a == b);
        }
        a == b
    }

    /// Whether the hash was asked for before.
    #[inline]
    pub(crate) fn is_hashed(&self) -> bool {
        self.hash.load(Ordering::Relaxed) != 0
    }

    /// The hash, computed once.
    #[inline]
    pub(crate) fn hash(&self) -> i64 {
        match self.hash.load(Ordering::Relaxed) {
            0 => {
                let hash = if self.ascii() { siphash13(self.text.as_bytes()) } else { hash_str(&self.text) };
                self.hash.store(hash, Ordering::Relaxed);
                hash
            }
            hash => hash,
        }
    }

    /// The largest byte, where it is not ASCII.
    #[inline]
    pub(crate) fn widest(&self) -> u8 {
        self.widest
    }

    /// Takes its text back, to which so many characters were appended.
    #[inline]
    pub(crate) fn grow(&mut self, text: String, chars: u32, widest: u8) {
        // What is there has no buffer.
        std::mem::forget(std::mem::replace(&mut self.text, text));
        self.chars += chars;
        self.widest = self.widest.max(widest);
        *self.hash.get_mut() = 0;
    }

    /// Modelled bytes.
    #[inline]
    pub(crate) fn size(&self) -> usize {
        if self.ascii() {
            return 49 + self.text.len();
        }
        // Two or four bytes a character, by the widest one, as CPython stores it.
        let chars = self.chars as usize;
        match self.widest {
            0xf0.. => 76 + 4 * chars,
            0xc4.. => 74 + 2 * chars,
            _ => 73 + chars,
        }
    }
}

/// A list: its items and the capacity that CPython's list would have.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// The items.
    pub items: Vec<Value>,
    /// Modelled capacity.
    pub allocated: usize,
}

impl List {
    /// A list of exactly these items.
    pub(crate) fn new(items: Vec<Value>) -> Self {
        Self { allocated: items.len(), items }
    }

    /// Follows CPython's `list_resize` after the length changed; says how the modelled size changed.
    #[inline]
    pub(crate) fn resized(&mut self) -> (usize, usize) {
        let length = self.items.len();
        if self.allocated >= length && length >= (self.allocated >> 1) {
            return (0, 0);
        }
        let before = self.allocated;
        self.allocated = if length == 0 { 0 } else { (length + (length >> 3) + 6) & !3 };
        if self.allocated < before {
            self.items.shrink_to(self.allocated);
        }
        (before * 8, self.allocated * 8)
    }
}

/// Attributes of an instance: by shape, or in a dict once somebody asked for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// Which attributes there are.
    pub shape: u32,
    /// The dict that replaces the shape.
    pub dict: Link,
    /// Values by position in the shape.
    pub values: Vec<Value>,
}

/// A class.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// `__name__`
    pub name: Box<str>,
    /// Direct bases.
    pub bases: Vec<Ref>,
    /// Method resolution order, itself first.
    pub mro: Vec<Ref>,
    /// Its own attributes.
    pub attributes: Map<Ref, Value>,
    /// What instances hold.
    pub layout: Layout,
    /// `__qualname__`
    pub qualname: Box<str>,
    /// Whether instances have arbitrary attributes.
    pub has_dict: bool,
    /// Whether a program made it.
    pub heap: bool,
    /// Of a class that a program made: the class that adds to what instances hold, itself or one above it.
    pub solid: Ref,
}

impl Class {
    /// Modelled bytes of the names, as far as they are longer than names are: a program may give a class any text as its name.
    pub(crate) fn names_size(&self) -> usize {
        self.name.len().saturating_sub(USUAL_NAME) + self.qualname.len().saturating_sub(USUAL_NAME)
    }
}

/// A function made by `def` or `lambda`.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// Its code.
    pub code: u32,
    /// The module's dict.
    pub globals: Ref,
    /// `__defaults__`: `None`, or a tuple with the values of the last positional parameters.
    pub defaults: Value,
    /// `__kwdefaults__`: `None`, or a dict with the values of keyword-only parameters.
    pub keyword_defaults: Value,
    /// Cells of the closure.
    pub closure: Box<[Value]>,
    /// `__name__`
    pub name: Value,
    /// `__qualname__`
    pub qualname: Value,
    /// `__annotations__`
    pub annotations: Value,
    /// `__dict__`, once there is one.
    pub attributes: Attributes,
}

/// What a generator, coroutine or asynchronous generator is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneratorState {
    /// Not started.
    Created,
    /// Between two values.
    Suspended,
    /// Its frame is on the stack.
    Running,
    /// Over.
    Done,
}

/// A generator, coroutine or asynchronous generator.
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    /// Its code.
    pub code: u32,
    /// The module's dict.
    pub globals: Ref,
    /// Where it goes on.
    pub pc: u32,
    /// Its registers while it does not run.
    pub registers: Vec<Value>,
    /// How many registers its code has. The list keeps room for them as long as the generator lives.
    pub room: u16,
    /// Exceptions it is handling.
    pub handled: Vec<Value>,
    /// The register that takes what is sent.
    pub sent: u16,
    /// The register of the iterator it delegates to, when it does.
    pub delegate: Option<u16>,
    /// The arguments with which a builtin iterator begins again after an exception; empty for all others.
    pub again: Box<[Value]>,
    /// What it is doing.
    pub state: GeneratorState,
    /// Whether closing it runs code: it rests inside a `try` or `with`.
    pub guarded: bool,
    /// `__name__`
    pub name: Value,
    /// `__qualname__`
    pub qualname: Value,
}

/// An exception.
#[derive(Clone, Debug)]
pub(crate) struct Exception {
    /// `args`, a tuple.
    pub args: Value,
    /// `__cause__`
    pub cause: Value,
    /// `__context__`
    pub context: Value,
    /// `__suppress_context__`
    pub suppress: bool,
    /// Where it passed, innermost first: code and line.
    pub trace: Vec<(u32, u32)>,
    /// `__traceback__` since it was asked for; `None` before.
    pub shown: Value,
    /// Other attributes.
    pub attributes: Attributes,
}

/// A builtin iterator.
#[derive(Clone, Debug)]
pub(crate) enum Iter {
    /// Over a list, tuple, text or bytes by index.
    Sequence { sequence: Value, index: usize },
    /// Over a range.
    Range { next: i64, step: i64, left: u64 },
    /// Over a dict or set, which must keep its size.
    Dict { dict: Value, index: usize, size: usize, kind: DictPart },
    /// Over the items of a sequence from its end.
    Reversed { sequence: Value, left: usize },
    /// Over the entries of a dict from its end.
    ReversedDict { dict: Value, left: usize, size: usize, kind: DictPart },
    /// With a count. `nesting` is how many builtin iterators lie inside one another, this one included.
    Enumerate { inner: Value, count: i64, nesting: u8 },
    /// Side by side. `nesting` as for `Enumerate`, along the deepest way.
    Zip { inner: Vec<Value>, strict: bool, nesting: u8 },
    /// Nothing left.
    Done,
}

/// What of a dict is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DictPart {
    /// The keys.
    Keys,
    /// The values.
    Values,
    /// The pairs.
    Items,
}

/// A range of 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First number.
    pub start: i64,
    /// Where it stops.
    pub stop: i64,
    /// Distance, never zero.
    pub step: i64,
}

impl Range {
    /// The first and the last number, if there are any.
    pub(crate) fn ends(&self) -> Option<(i64, i64)> {
        let steps = i128::from(self.len()) - 1;
        let last = i128::from(self.start) + steps * i128::from(self.step);
        (steps >= 0).then(|| (self.start, i64::try_from(last).unwrap_or(self.stop)))
    }

    /// Number of numbers.
    pub(crate) fn len(&self) -> u64 {
        let (low, high, step) = if self.step > 0 {
            (self.start, self.stop, self.step.unsigned_abs())
        } else {
            (self.stop, self.start, self.step.unsigned_abs())
        };
        if low >= high { 0 } else { (high.abs_diff(low) - 1) / step + 1 }
    }

    /// The number at an index, which may count from the end.
    pub(crate) fn at(&self, index: i64) -> Option<i64> {
        let length = i128::from(self.len());
        let index = if index < 0 { i128::from(index) + length } else { i128::from(index) };
        // A number of the range fits 64 bits, whatever the product does.
        let number = i128::from(self.start).wrapping_add(index.wrapping_mul(i128::from(self.step)));
        if (0..length).contains(&index) { i64::try_from(number).ok() } else { None }
    }

    /// The numbers from one index up to another, by a step; `None` where it would have to hold a number beyond 64 bits.
    pub(crate) fn slice(&self, start: i64, stop: i64, step: i64) -> Option<Range> {
        let by = |factor: i64| i128::from(factor) * i128::from(self.step);
        let number = |index: i64| i64::try_from(i128::from(self.start).saturating_add(by(index))).ok();
        Some(Range { start: number(start)?, stop: number(stop)?, step: i64::try_from(by(step)).ok()? })
    }

    /// The same numbers from the last to the first.
    pub(crate) fn backwards(&self) -> Iter {
        let next = self.at(-1).unwrap_or(self.start);
        Iter::Range { next, step: self.step.wrapping_neg(), left: self.len() }
    }
}

/// A running hash of `hashlib`.
#[derive(Clone, Debug)]
pub(crate) struct HashState {
    /// The algorithm's name.
    pub name: &'static str,
    /// Bytes of the digest.
    pub digest_size: i64,
    /// Bytes of a block.
    pub block_size: i64,
    /// What was fed in.
    pub data: Vec<u8>,
    /// The options of BLAKE2.
    pub blake2: Option<Box<Blake2>>,
}
