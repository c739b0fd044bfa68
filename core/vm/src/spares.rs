//! Buffers of objects that died, kept for objects to come: most objects live for a moment and are small, and a buffer from here costs
//! less than one from the allocator. Nothing that a program can observe depends on it.

use crate::payload::dict::Dict;
use crate::payload::{Attributes, Function, Generator};
use crate::regex::Buffers;
use crate::value::Value;
use crate::window::{afresh, moved};
use std::ops::Range;

/// Bytes of a short text's buffer.
const TEXT: usize = 24;
/// The longest tuples whose buffers are kept.
pub(crate) const TUPLE: usize = 4;
/// Values in a short list's or instance's buffer: at least, and at most.
const VALUES: std::ops::RangeInclusive<usize> = 2..=16;
/// Ranges, or items with hashes, in the longest buffer of them that is kept.
const RANGES: usize = 4_096;
/// Bytes of all buffers that are kept: little beside what a run's modelled memory may take.
const ROOM: usize = 1 << 20;

/// Buffers to be used again. All are empty but for the tuples', whose values are of no use any more.
#[derive(Debug, Default)]
pub(crate) struct Spares {
    texts: Vec<String>,
    tuples: [Vec<Box<[Value]>>; TUPLE],
    values: Vec<Vec<Value>>,
    #[allow(clippy::vec_box, reason = "the boxes are kept as well")]
    tables: Vec<Box<Dict>>,
    /// Generators that ended.
    #[allow(clippy::vec_box, reason = "the boxes are kept as well")]
    generators: Vec<Box<Generator>>,
    /// Functions that nobody has any more.
    #[allow(clippy::vec_box, reason = "the boxes are kept as well")]
    functions: Vec<Box<Function>>,
    /// Bytes of the buffers above.
    held: usize,
    /// Where items of a set to be were listed with their hashes.
    pub(crate) pairs: Vec<(Value, i64)>,
    /// Buffers of the last search for a pattern.
    pub(crate) search: Buffers,
    /// Where the parts of the text lay that was split last; of no use any more.
    pub(crate) ranges: Vec<Range<usize>>,
}

impl Spares {
    /// Whether there is room for so many bytes, which are counted then.
    #[inline(always)]
    fn has_room(&mut self, bytes: usize) -> bool {
        let held = self.held + bytes;
        let fits = held <= ROOM;
        if fits {
            self.held = held;
        }
        fits
    }

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
        match self.texts.pop() {
            Some(text) => {
                self.held -= text.capacity();
                text
            }
            None => String::with_capacity(TEXT),
        }
    }

    /// A text with more at its end; what was empty before lies in a buffer that was kept.
    #[inline]
    pub(crate) fn longer(&mut self, text: String, more: &str) -> String {
        let mut text = if text.is_empty() { self.empty_text(more.len()) } else { text };
        text.push_str(more);
        text
    }

    /// Keeps the buffer of a text.
    #[inline]
    pub(crate) fn keep_text(&mut self, mut text: String) {
        let bytes = text.capacity();
        if (TEXT..=2 * TEXT).contains(&bytes) && self.has_room(bytes) {
            text.clear();
            self.texts.push(text);
        }
    }

    /// A tuple's items, which are moved out of registers.
    #[inline]
    pub(crate) fn tuple(&mut self, registers: &mut [Value]) -> Box<[Value]> {
        let kept = registers.len().checked_sub(1).and_then(|index| self.tuples.get_mut(index)).and_then(Vec::pop);
        let mut items = match kept {
            Some(items) => {
                self.held -= size_of_val(&*items);
                items
            }
            None => vec![Value::Undefined; registers.len()].into(),
        };
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
        if (1..=TUPLE).contains(&items.len()) && self.has_room(size_of_val(&*items)) {
            self.tuples[items.len() - 1].push(items);
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

    /// Keeps the buffer of items with their hashes.
    #[inline]
    pub(crate) fn keep_pairs(&mut self, mut pairs: Vec<(Value, i64)>) {
        if pairs.capacity() <= RANGES {
            pairs.clear();
            self.pairs = pairs;
        }
    }

    /// An empty buffer of values; a new one has room for `count`.
    #[inline]
    pub(crate) fn values(&mut self, count: usize) -> Vec<Value> {
        match if count <= *VALUES.end() { self.values.pop() } else { None } {
            Some(values) => {
                self.held -= values.capacity() * size_of::<Value>();
                values
            }
            None => Self::fresh(count),
        }
    }

    /// A new buffer. One for a single value would not be kept.
    #[inline(never)]
    fn fresh(count: usize) -> Vec<Value> {
        Vec::with_capacity(if count == 1 { *VALUES.start() } else { count })
    }

    /// Keeps a buffer of values.
    #[inline]
    pub(crate) fn keep_values(&mut self, mut values: Vec<Value>) {
        if VALUES.contains(&values.capacity()) && self.has_room(values.capacity() * size_of::<Value>()) {
            values.clear();
            self.values.push(values);
        }
    }

    /// A box for a generator, which is moved there.
    #[inline]
    pub(crate) fn generator(&mut self, generator: Generator) -> Box<Generator> {
        match self.generators.pop() {
            Some(mut kept) => {
                self.held -= size_of::<Generator>();
                *kept = generator;
                kept
            }
            None => Box::new(generator),
        }
    }

    /// Keeps the box of a generator, and the buffer of its registers.
    #[inline]
    pub(crate) fn keep_generator(&mut self, mut generator: Box<Generator>) {
        self.keep_values(std::mem::take(&mut generator.registers));
        if self.has_room(size_of::<Generator>()) {
            (generator.handled, generator.again) = (Vec::new(), Box::default());
            self.generators.push(generator);
        }
    }

    /// A box for a function, which is moved there.
    #[inline]
    pub(crate) fn function(&mut self, function: Function) -> Box<Function> {
        match self.functions.pop() {
            Some(mut kept) => {
                self.held -= size_of::<Function>();
                *kept = function;
                kept
            }
            None => Box::new(function),
        }
    }

    /// Keeps the box of a function, and the buffer of its cells.
    #[inline]
    pub(crate) fn keep_function(&mut self, mut function: Box<Function>) {
        self.keep_tuple(std::mem::take(&mut function.closure));
        if self.has_room(size_of::<Function>()) {
            function.attributes = Attributes::default();
            self.functions.push(function);
        }
    }

    /// An empty table.
    #[inline]
    pub(crate) fn table(&mut self) -> Box<Dict> {
        match self.tables.pop() {
            Some(table) => {
                self.held -= table.resident();
                table
            }
            None => Box::default(),
        }
    }

    /// Keeps a small table.
    #[inline]
    pub(crate) fn keep_table(&mut self, mut table: Box<Dict>) {
        if table.is_small() && self.has_room(table.resident()) {
            table.renew();
            self.tables.push(table);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However much dies at once, little is kept; and what is taken out again is no longer counted.
    #[test]
    fn buffers_are_kept_up_to_a_bound_in_bytes() {
        let mut spares = Spares::default();
        for _ in 0..2 * ROOM / TEXT {
            spares.keep_text(String::with_capacity(TEXT));
            spares.keep_values(Vec::with_capacity(16));
            spares.keep_tuple(vec![Value::None; TUPLE].into());
        }
        assert!(spares.held <= ROOM && spares.held > ROOM - 16 * size_of::<Value>(), "{} bytes are held", spares.held);
        while !(spares.texts.is_empty() && spares.values.is_empty() && spares.tuples[TUPLE - 1].is_empty()) {
            let _ = (spares.empty_text(1), spares.values(1), spares.tuple(&mut [Value::None; TUPLE]));
        }
        assert_eq!(spares.held, 0);
    }
}
