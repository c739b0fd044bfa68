//! Slices of builtin sequences: bounds, and what they take.

use super::Vm;
use crate::costs::ITEMS_SLICED;
use crate::error::{Outcome, Throw, Trap};
use crate::heap::numbers::Number;
use crate::payload::{Payload, Range};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::sizes;

impl Vm {
    /// The bounds of a search, the third and the fourth argument, are looked at before what is searched for.
    pub(crate) fn check_bounds(&mut self, args: &[Value]) -> Outcome<()> {
        for &part in &args[2..4] {
            let is_bound = part.is_undefined() || part.is_none() || self.heap.is_instance(part, ty::INT);
            if !is_bound && self.special(part, nm::INDEX).is_none() {
                return Err(self.type_error("slice indices must be integers or None or have an __index__ method"));
            }
        }
        Ok(())
    }

    /// Start, step and count of a slice of a sequence that is in memory.
    pub(crate) fn slice_bounds(&mut self, parts: &[Value; 3], length: usize) -> Outcome<(i64, i64, usize)> {
        let (start, step, count) = self.slice_span(parts, i64::try_from(length).unwrap_or(i64::MAX))?;
        Ok((start, step, sizes::saturating(count)))
    }

    /// Start, step and count of a slice of a sequence of any length, such as a range.
    pub(crate) fn slice_span(&mut self, parts: &[Value; 3], length: i64) -> Outcome<(i64, i64, i64)> {
        let mut numbers = [None; 3];
        for (number, part) in numbers.iter_mut().zip(parts) {
            if let Value::Int(value) = *part {
                *number = Some(value);
                continue;
            }
            if part.is_none() {
                continue;
            }
            if let Some(value) = self.heap.large_integer(*part) {
                *number = Some(if value.sign() == dashu_int::Sign::Negative { i64::MIN / 2 } else { i64::MAX / 2 });
                continue;
            }
            *number = match self.heap.number(*part) {
                Some(Number::Small(value)) => Some(value),
                _ if self.python_method(*part, nm::INDEX).is_some() => return Err(Throw::Fallback),
                _ => {
                    return Err(self.type_error("slice indices must be integers or None or have an __index__ method"));
                }
            };
        }
        let step = numbers[2].unwrap_or(1);
        if step == 0 {
            return Err(self.value_error("slice step cannot be zero"));
        }
        let clamp = |value: i64, low: i64, high: i64| {
            let value = if value < 0 { value.saturating_add(length) } else { value };
            value.clamp(low, high)
        };
        let (start, stop) = if step > 0 {
            (numbers[0].map_or(0, |value| clamp(value, 0, length)), numbers[1].map_or(length, |value| clamp(value, 0, length)))
        } else {
            (
                numbers[0].map_or(length - 1, |value| clamp(value, -1, length - 1)),
                numbers[1].map_or(-1, |value| clamp(value, -1, length - 1)),
            )
        };
        // Most steps are 1 or -1, and a division takes its time.
        let count = if step == 1 {
            (stop - start).max(0)
        } else if step == -1 {
            (start - stop).max(0)
        } else if step > 0 {
            if stop > start { (stop - start - 1) / step + 1 } else { 0 }
        } else if start > stop {
            (start - stop - 1) / step.saturating_neg() + 1
        } else {
            0
        };
        Ok((start, step, count))
    }

    pub(crate) fn get_slice(&mut self, receiver: Ref, parts: &[Value; 3]) -> Outcome {
        if let Payload::Range(range) = self.heap.payload(receiver) {
            let range = *range;
            return self.slice_of_range(receiver, range, parts);
        }
        let (_, length) = self.heap.sequence_word(receiver);
        let (start, step, count) = self.slice_bounds(parts, length)?;
        self.spend(ITEMS_SLICED.of(count))?;
        self.reserve(count)?;
        let indices = (0..count).map(|index| sizes::saturating(start + step * i64::try_from(index).unwrap_or(0)));
        match self.heap.payload(receiver).core() {
            Payload::List(list) => {
                let items = pick(&list.items, start, step, count);
                self.heap.retain_each(&items);
                Ok(self.heap.list(items))
            }
            Payload::Tuple(tuple) => {
                let items = pick(tuple, start, step, count);
                self.heap.retain_each(&items);
                Ok(self.heap.tuple(items))
            }
            Payload::Str(text) if text.ascii() => {
                if step == 1 {
                    let first = sizes::saturating(start);
                    let piece = self.heap.piece(receiver, first..first + count);
                    return Ok(self.heap.ascii(piece));
                }
                let bytes = text.text.as_bytes();
                let result = indices.map(|index| char::from(bytes[index])).collect();
                Ok(self.heap.ascii(result))
            }
            Payload::Str(_) => self.slice_of_characters(receiver, start, step, count),
            Payload::Bytes(bytes) => {
                let result: Vec<u8> = indices.map(|index| bytes[index]).collect();
                Ok(self.heap.make(ty::BYTES, Payload::Bytes(result)))
            }
            Payload::ByteArray(bytes, _) => {
                let result: Vec<u8> = indices.map(|index| bytes[index]).collect();
                Ok(self.heap.make(ty::BYTEARRAY, Payload::ByteArray(result, 0)))
            }
            _ => Err(Throw::Trap(Trap::Internal)),
        }
    }

    pub(crate) fn slice_of_range(&mut self, receiver: Ref, range: Range, parts: &[Value; 3]) -> Outcome {
        // Numbers beyond 64 bits are the helper's.
        let sliced = match i64::try_from(range.len()) {
            Ok(length) => {
                let (start, step, _) = self.slice_span(parts, length)?;
                let stop = self.slice_stop(parts[1], step, length);
                range.slice(start, stop, step)
            }
            Err(_) => None,
        };
        match sliced {
            Some(sliced) => Ok(self.heap.make(ty::RANGE, Payload::Range(sliced))),
            None => self.call_helper("range_slice", &[Value::Obj(receiver), parts[0], parts[1], parts[2]]),
        }
    }

    /// Whether the window of a search ends before it begins at `first`: not even an empty text is found there.
    pub(crate) fn ends_before(&mut self, end: Value, first: i64, length: usize) -> bool {
        self.slice_stop(end, 1, i64::try_from(length).unwrap_or(i64::MAX)) < first
    }

    /// Where a slice stops, not before the sequence and not after it.
    pub(crate) fn slice_stop(&mut self, stop: Value, step: i64, length: i64) -> i64 {
        let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
        if let Some(stop) = self.heap.large_integer(stop) {
            return if stop.sign() == dashu_int::Sign::Negative { low } else { high };
        }
        match self.heap.number(stop) {
            Some(Number::Small(stop)) => (if stop < 0 { stop.saturating_add(length) } else { stop }).clamp(low, high),
            _ if step > 0 => high,
            _ => low,
        }
    }

    /// A slice of text beyond ASCII.
    pub(crate) fn slice_of_characters(&mut self, receiver: Ref, start: i64, step: i64, count: usize) -> Outcome {
        let Some(last) = count.checked_sub(1) else { return Ok(Value::Obj(nm::EMPTY)) };
        let number = |index: usize| sizes::saturating(start + step * i64::try_from(index).unwrap_or(0));
        let (low, high) = if step > 0 { (number(0), number(last)) } else { (number(last), number(0)) };
        let range = self.bytes_of_characters(receiver, low, high + 1);
        if step == 1 {
            let piece = self.heap.piece(receiver, range);
            return Ok(self.heap.string(piece));
        }
        // Every character between them is passed.
        self.spend(ITEMS_SLICED.of(range.len()))?;
        let Some(text) = self.heap.text(Value::Obj(receiver)) else { return Err(Throw::Trap(Trap::Internal)) };
        let each = sizes::index(step.unsigned_abs()).unwrap_or(usize::MAX);
        let characters = text[range].chars();
        let result: String = if step > 0 { characters.step_by(each).collect() } else { characters.rev().step_by(each).collect() };
        Ok(self.heap.string(result))
    }
}

/// The items of a slice whose bounds are known.
fn pick(items: &[Value], start: i64, step: i64, count: usize) -> Vec<Value> {
    let first = sizes::saturating(start);
    match step {
        1 => items[first..first + count].to_vec(),
        -1 if count > 0 => items[first + 1 - count..=first].iter().rev().copied().collect(),
        _ => (0..count).map(|index| items[sizes::saturating(start + step * i64::try_from(index).unwrap_or(0))]).collect(),
    }
}
