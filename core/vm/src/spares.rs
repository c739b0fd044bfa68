//! Buffers of objects that died, kept for objects to come: most objects live for a moment and are small, and a buffer from here costs
//! less than one from the allocator. Nothing that a program can observe depends on it.

use crate::interp::window::{afresh, moved};
use crate::objects::dict::Dict;
use crate::value::Value;
use std::ops::Range;

/// Bytes of a short text's buffer.
const TEXT: usize = 24;
/// The longest tuples whose buffers are kept.
pub(crate) const TUPLE: usize = 4;
/// Values in a short list's or instance's buffer: at least, and at most.
const VALUES: std::ops::RangeInclusive<usize> = 2..=16;
/// Ranges in the longest buffer of them that is kept.
const RANGES: usize = 4_096;
/// Buffers of one kind that are kept.
const KEPT: usize = 65_536;

/// Buffers to be used again. All are empty but for the tuples', whose values are of no use any more.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    texts: Vec<String>,
    tuples: [Vec<Box<[Value]>>; TUPLE],
    values: Vec<Vec<Value>>,
    #[allow(clippy::vec_box, reason = "the boxes are kept as well")]
    tables: Vec<Box<Dict>>,
    /// Where the parts of the text lay that was split last; of no use any more.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl Spares {
    /// A copy of a text.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut copy = self.empty_text(text.len());
        copy.push_str(text);
        moved(copy)
    }

    /// An empty text with room for some bytes.
    #[inline]
    pub(crate) fn empty_text(&mut self, length: usize) -> String {
        if length > TEXT {
            return String::with_capacity(length);
        }
        self.texts.pop().unwrap_or_else(|| String::with_capacity(TEXT))
    }

    /// Keeps the buffer of a text.
    #[inline]
    pub(crate) fn keep_text(&mut self, mut text: String) {
        if (TEXT..=2 * TEXT).contains(&text.capacity()) && self.texts.len() < KEPT {
            text.clear();
            self.texts.push(text);
        }
    }

    /// A tuple's items, which are moved out of registers.
    #[inline]
    pub(crate) fn tuple(&mut self, registers: &mut [Value]) -> Box<[Value]> {
        let kept = registers.len().checked_sub(1).and_then(|index| self.tuples.get_mut(index)).and_then(Vec::pop);
        let mut items = kept.unwrap_or_else(|| vec![Value::Undefined; registers.len()].into());
        for (item, register) in items.iter_mut().zip(registers) {
            *item = afresh(register);
            *register = Value::Undefined;
        }
        items
    }

    /// A tuple's items.
    #[inline]
    pub(crate) fn boxed(&mut self, mut items: Vec<Value>) -> Box<[Value]> {
        if items.len() > TUPLE {
            return items.into();
        }
        let boxed = self.tuple(&mut items);
        self.keep_values(items);
        boxed
    }

    /// Keeps the buffer of a tuple.
    #[inline]
    pub(crate) fn keep_tuple(&mut self, items: Box<[Value]>) {
        if let Some(kept) = items.len().checked_sub(1).and_then(|index| self.tuples.get_mut(index)) {
            if kept.len() < KEPT {
                kept.push(items);
            }
        }
    }

    /// Keeps the buffer of ranges.
    #[inline]
    pub(crate) fn keep_ranges(&mut self, mut ranges: Vec<Range<usize>>) {
        if ranges.capacity() <= RANGES {
            ranges.clear();
            self.ranges = ranges;
        }
    }

    /// An empty buffer of values; a new one has room for `count`.
    #[inline]
    pub(crate) fn values(&mut self, count: usize) -> Vec<Value> {
        self.values.pop().unwrap_or_else(|| Vec::with_capacity(count))
    }

    /// Keeps a buffer of values.
    #[inline]
    pub(crate) fn keep_values(&mut self, mut values: Vec<Value>) {
        if VALUES.contains(&values.capacity()) && self.values.len() < KEPT {
            values.clear();
            self.values.push(values);
        }
    }

    /// An empty table.
    #[inline]
    pub(crate) fn table(&mut self) -> Box<Dict> {
        self.tables.pop().unwrap_or_default()
    }

    /// Keeps a small table.
    #[inline]
    pub(crate) fn keep_table(&mut self, mut table: Box<Dict>) {
        if table.is_small() && self.tables.len() < KEPT {
            table.renew();
            self.tables.push(table);
        }
    }
}
