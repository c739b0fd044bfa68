//! Slices of lists in their quick form: what the general form in [`super::subscript`] does, for the same charge, where nothing can go wrong.

use super::Vm;
use super::registers::{consume, set};
use crate::costs::{ITEM_MADE, ITEMS_PASSED, ITEMS_SLICED};
use crate::heap::holds_objects;
use crate::payload::{List, Payload};
use crate::types::ty;
use crate::value::Value;
use crate::window::{afresh, moved};
use cowboy_compiler::opcode::{Instruction, TEMP_A, TEMP_B, TEMP_C};
use cowboy_num::sizes;
use std::ops::Range;

/// The longest slices whose buffers are those of lists that died.
const SHORT: usize = 16;

/// Which items a slice without a step, or with a step of 1 or -1, is of, and whether it goes backwards; `None` for all others.
#[inline(always)]
fn bounds(parts: &[Value], length: usize) -> Option<(Range<usize>, bool)> {
    let [start, stop, step] = parts else { return None };
    let length = i64::try_from(length).ok()?;
    let backwards = match *step {
        Value::None | Value::Int(1) => false,
        Value::Int(-1) => true,
        _ => return None,
    };
    // Going backwards, the positions before the first and after the last item are one lower.
    let (low, high) = if backwards { (-1, length - 1) } else { (0, length) };
    let clamped = |part: &Value, absent: i64| match *part {
        Value::None => Some(absent),
        Value::Int(value) => Some(if value < 0 { value.saturating_add(length) } else { value }.clamp(low, high)),
        _ => None,
    };
    let (first, last) = if backwards { (high, low) } else { (low, high) };
    let (start, stop) = (clamped(start, first)?, clamped(stop, last)?);
    let (start, stop) = if backwards { (stop + 1, start + 1) } else { (start, stop) };
    let start = sizes::index(start)?;
    Some((start..sizes::index(stop)?.max(start), backwards))
}

impl Vm {
    /// `list[a:b:c]`: whether that was all.
    #[inline(always)]
    pub(super) fn get_slice_quickly(&mut self, ins: Instruction, base: usize) -> bool {
        let first = base + usize::from(ins.c);
        let Value::Obj(object) = self.registers[base + usize::from(ins.b)] else { return false };
        let Payload::List(list) = self.heap.payload(object) else { return false };
        let Some((range, backwards)) = bounds(&self.registers[first..first + 3], list.items.len()) else { return false };
        let count = range.len();
        let charge = ITEMS_SLICED.of(count);
        if charge.cycles() > self.meter.cycles || count > SHORT || self.heap.memory.saturating_add(count) > self.heap.limit {
            return false;
        }
        self.owe(charge);
        let mut items = self.heap.spares.values(count);
        let source = &self.heap.items(object).unwrap_or_default()[range];
        match backwards {
            true => items.extend(source.iter().rev().map(afresh)),
            false => items.extend(source.iter().map(afresh)),
        }
        let holds = holds_objects(&items);
        if holds {
            self.heap.retain_each(&items);
        }
        let slice = Value::Obj(self.heap.alloc_sized(ty::LIST, Payload::List(List::new(moved(items))), 56 + 8 * count));
        if holds {
            self.heap.label_children(slice);
        }
        self.registers[first..first + 3].fill(Value::Undefined);
        consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
        set!(self, base, ins.a, slice);
        true
    }

    /// `list[a:b:c] = other` for as many numbers as are replaced: whether that was all.
    #[inline(always)]
    pub(super) fn set_slice_quickly(&mut self, ins: Instruction, base: usize) -> bool {
        let first = base + usize::from(ins.b);
        let target = self.registers[base + usize::from(ins.a)];
        let (Value::Obj(target), Value::Obj(source)) = (target, self.registers[base + usize::from(ins.c)]) else { return false };
        if self.heap.is_frozen(target) || self.heap.slot(target).class != ty::LIST || source == target {
            return false;
        }
        let (Some(old), Payload::List(new)) = (self.heap.items(target), self.heap.payload(source)) else { return false };
        let Some((range, false)) = bounds(&self.registers[first..first + 3], old.len()) else { return false };
        let count = range.len();
        let charge = ITEM_MADE.of(count) + ITEMS_PASSED.of(old.len());
        let plain = new.items.len() == count && self.heap.slot(source).class == ty::LIST;
        if !plain || charge.cycles() > self.meter.cycles || self.heap.memory.saturating_add(count.saturating_mul(8)) > self.heap.limit {
            return false;
        }
        if holds_objects(&new.items) || holds_objects(&old[range.clone()]) {
            return false;
        }
        self.owe(charge);
        // The list is out of its slot while the other one is read.
        let Payload::List(list) = self.heap.payload_mut(target) else { return false };
        let mut items = moved(std::mem::take(&mut list.items));
        if let Payload::List(new) = self.heap.payload(source) {
            for (place, item) in items[range].iter_mut().zip(&new.items) {
                *place = afresh(item);
            }
        }
        if let Payload::List(list) = self.heap.payload_mut(target) {
            list.items = moved(items);
        }
        self.registers[first..first + 3].fill(Value::Undefined);
        consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
        consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition: every item that a loop from `start` by `step` meets before `stop`.
    #[test]
    fn bounds_are_those_of_the_general_form() {
        let numbers = [None, Some(-5), Some(-3), Some(-1), Some(0), Some(1), Some(2), Some(3), Some(4), Some(i64::MAX), Some(i64::MIN)];
        let part = |number: Option<i64>| number.map_or(Value::None, Value::Int);
        let mut vm = Vm::start(
            crate::script_image(&cowboy_compiler::compile("pass", "main.py").expect("valid")),
            crate::Entry::Script,
            crate::Limits::default(),
        );
        for length in 0..4 {
            for start in numbers {
                for stop in numbers {
                    for step in [None, Some(1), Some(-1)] {
                        let parts = [part(start), part(stop), part(step)];
                        let (first, by, count) = vm.slice_bounds(&parts, length).expect("numbers");
                        let expected: Vec<i64> = (0..i64::try_from(count).expect("few")).map(|index| first + index * by).collect();
                        let (range, backwards) = bounds(&parts, length).expect("a step of one");
                        let mut got: Vec<i64> = range.map(|index| i64::try_from(index).expect("few")).collect();
                        if backwards {
                            got.reverse();
                        }
                        assert_eq!(got, expected, "{parts:?} of {length}");
                    }
                }
            }
        }
    }
}
