//! Builtin iterators, and the items of builtin iterables.

use super::{Expect, Vm};
use crate::costs::{
    CHARACTER_MADE, Charge, ENTRY_LISTED, ENUMERATED, INNER_STEP, ITEM_MADE, ITEM_PAIRED, ITERATION, VIEW_ITEM_READ, ZIPPED,
};
use crate::error::{Outcome, Throw, Trap};
use crate::payload::{DictPart, Iter, Payload};
use crate::runtime::allowance::Items;
use crate::runtime::protocol::Iterate;
use crate::types::{latin1, nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::sizes;

/// The price of an `enumerate` or `zip` for what lies inside it: none for one over plain items, whose price the caller's covers.
fn inner_step(nesting: u8) -> Charge {
    if nesting > 2 { INNER_STEP.once() } else { Charge::NONE }
}

impl Iterate for Vm {
    fn iterator(&mut self, value: Value) -> Outcome {
        let Value::Obj(object) = value else { return Err(self.not_iterable(value)) };
        // A read-only view of a dict is iterated as the dict is.
        let object = self.behind_proxy(object);
        let value = Value::Obj(object);
        let class = self.heap.slot(object).class;
        if class.0 >= crate::types::FIXED_COUNT || matches!(self.heap.payload(object), Payload::Class(_)) {
            match self.lookup(class, nm::ITER) {
                Some(Value::None) => return Err(self.not_iterable(value)),
                Some(function) if !self.is_inherited(class, nm::ITER, function) => {
                    return Err(self.call_expecting(function, &[value], Expect::Iter));
                }
                Some(_) => {}
                None if self.lookup(class, nm::GETITEM).is_some() => return self.call_helper("iter_by_index", &[value]),
                None => return Err(self.not_iterable(value)),
            }
        }
        let (kind, iterator) = match self.heap.payload(object).core() {
            Payload::Iterator(_) | Payload::Generator(_) => {
                if class == ty::COROUTINE || class == ty::ASYNC_GENERATOR {
                    return Err(self.not_iterable(value));
                }
                return Ok(self.heap.retain(value));
            }
            Payload::List(_) => (ty::LIST_ITERATOR, Iter::Sequence { sequence: value, index: 0 }),
            Payload::Tuple(_) => (ty::TUPLE_ITERATOR, Iter::Sequence { sequence: value, index: 0 }),
            Payload::Str(_) => (ty::STR_ITERATOR, Iter::Sequence { sequence: value, index: 0 }),
            Payload::Bytes(_) => (ty::BYTES_ITERATOR, Iter::Sequence { sequence: value, index: 0 }),
            Payload::ByteArray(..) => (ty::BYTEARRAY_ITERATOR, Iter::Sequence { sequence: value, index: 0 }),
            Payload::MemoryView(_) => {
                crate::objects::memoryview::check_iterable(self, value)?;
                (ty::MEMORY_ITERATOR, Iter::Sequence { sequence: value, index: 0 })
            }
            Payload::Range(range) => {
                let range = *range;
                let iterator = Iter::Range { next: range.start, step: range.step, left: range.len() };
                return Ok(self.heap.make(ty::RANGE_ITERATOR, Payload::Iterator(Box::new(iterator))));
            }
            Payload::Dict(dict) => (ty::DICT_KEY_ITERATOR, Iter::Dict { dict: value, index: 0, size: dict.len(), kind: DictPart::Keys }),
            Payload::Set(dict) => (ty::SET_ITERATOR, Iter::Dict { dict: value, index: 0, size: dict.len(), kind: DictPart::Keys }),
            Payload::DictView { dict, part } => {
                let (dict, part) = (*dict, *part);
                let size = dict.object().map_or(0, |dict| self.heap.dict_len(dict));
                self.heap.retain(dict);
                let class = match part {
                    DictPart::Keys => ty::DICT_KEY_ITERATOR,
                    DictPart::Values => ty::DICT_VALUE_ITERATOR,
                    DictPart::Items => ty::DICT_ITEM_ITERATOR,
                };
                let iterator = Iter::Dict { dict, index: 0, size, kind: part };
                return Ok(self.heap.make(class, Payload::Iterator(Box::new(iterator))));
            }
            Payload::MappingProxy(_) => {
                self.spend(ITEM_MADE.of(self.heap.sequence_length(object)))?;
                let keys = self.heap.sequence_snapshot(value);
                let keys = self.heap.retain_all(&keys);
                let list = self.heap.list(keys);
                let iterator = Iter::Sequence { sequence: list, index: 0 };
                return Ok(self.heap.make(ty::LIST_ITERATOR, Payload::Iterator(Box::new(iterator))));
            }
            Payload::GenericAlias { .. } => return self.call_helper("alias_iter", &[value]),
            _ => return Err(self.not_iterable(value)),
        };
        self.heap.retain(value);
        Ok(self.heap.make(kind, Payload::Iterator(Box::new(iterator))))
    }

    fn next_native(&mut self, iterator: Value) -> Outcome<Option<Value>> {
        let Value::Obj(object) = iterator else { return Err(Throw::Fallback) };
        let Payload::Iterator(state) = self.heap.payload(object) else { return Err(Throw::Fallback) };
        let item = match **state {
            Iter::Done => return Ok(None),
            Iter::Range { left: 0, .. } => None,
            Iter::Range { next, .. } => Some(Value::Int(next)),
            Iter::Sequence { sequence: Value::Obj(sequence), index } => {
                let item = self.sequence_item(sequence, index);
                if item.is_none() && index < self.heap.sequence_length(sequence) {
                    crate::objects::views::check(self, Value::Obj(sequence))?;
                }
                item
            }
            Iter::Reversed { sequence: Value::Obj(sequence), left } => match left.checked_sub(1) {
                // Of a sequence that became shorter there is no next item, and never will be.
                Some(last) if left <= self.heap.sequence_length(sequence) => {
                    let item = self.sequence_item(sequence, last);
                    self.set_iterator_position(object, last);
                    item
                }
                _ => None,
            },
            Iter::Dict { dict: Value::Obj(dict), index: at, size, kind }
            | Iter::ReversedDict { dict: Value::Obj(dict), left: at, size, kind } => {
                let forward = matches!(**state, Iter::Dict { .. });
                let (Payload::Dict(table) | Payload::Set(table)) = self.heap.payload(dict).core() else {
                    return Err(Throw::Trap(Trap::Internal));
                };
                if table.len() != size {
                    return Err(self.changed_size(Value::Obj(dict)));
                }
                match if forward { table.live_from(at) } else { table.live_before(at) } {
                    Some((found, entry)) => {
                        let charge = table.passing(at, found);
                        self.owe(charge);
                        let item = self.heap.dict_part(entry.key, entry.value, kind);
                        self.set_iterator_position(object, if forward { found + 1 } else { found });
                        Some(item)
                    }
                    None => None,
                }
            }
            Iter::Enumerate { inner, count, nesting } => {
                self.spend(inner_step(nesting))?;
                self.next_native(inner)?.map(|item| self.heap.pair(Value::Int(count), item))
            }
            Iter::Zip { ref inner, strict, nesting } => {
                let width = inner.len();
                if width == 0 {
                    return Ok(None);
                }
                self.spend(ZIPPED.of(1 + width) + inner_step(nesting))?;
                return self.next_side_by_side(object, width, strict);
            }
            _ => return Err(Throw::Trap(Trap::Internal)),
        };
        if item.is_none() {
            return self.finish_iterator(object);
        }
        if let Payload::Iterator(state) = self.heap.payload_mut(object) {
            match &mut **state {
                Iter::Range { next, step, left } => (*next, *left) = (next.wrapping_add(*step), *left - 1),
                Iter::Sequence { index, .. } => *index += 1,
                Iter::Enumerate { count, .. } => *count += 1,
                _ => {}
            }
        }
        Ok(item)
    }

    fn collect(&mut self, value: Value) -> Outcome<Vec<Value>> {
        let Value::Obj(object) = value else { return Err(self.not_iterable(value)) };
        if self.heap.slot(object).class.0 >= crate::types::FIXED_COUNT {
            let class = self.heap.slot(object).class;
            match self.lookup(class, nm::ITER) {
                Some(function) if self.is_inherited(class, nm::ITER, function) => {}
                Some(_) => return Err(Throw::Fallback),
                None if self.lookup(class, nm::GETITEM).is_some() => return Err(Throw::Fallback),
                None => return Err(self.not_iterable(value)),
            }
        }
        let length = match self.heap.payload(object).core() {
            Payload::Range(range) => sizes::index(range.len()).unwrap_or(usize::MAX),
            Payload::Generator(_) => return Err(Throw::Fallback),
            _ => self.heap.sequence_length(object),
        };
        self.spend(ITEM_MADE.of(length))?;
        self.reserve(length.saturating_mul(8))?;
        self.collect_builtin(value, object, length)
    }
}

impl Vm {
    /// The items of a builtin iterable, `length` of which are paid for; an iterator pays for each of its items.
    fn collect_builtin(&mut self, value: Value, object: Ref, length: usize) -> Outcome<Vec<Value>> {
        match self.heap.payload(object).core() {
            Payload::List(_) | Payload::Tuple(_) | Payload::Dict(_) | Payload::Set(_) | Payload::MappingProxy(_) => {
                let items = self.heap.snapshot(value);
                if length == 0 {
                    self.spend(ITEM_MADE.of(items.len()))?;
                }
                self.heap.retain_each(&items);
                Ok(items)
            }
            Payload::Range(range) => {
                let range = *range;
                let mut items = self.heap.spares.values(length);
                let mut next = range.start;
                for _ in 0..length {
                    items.push(Value::Int(next));
                    next = next.wrapping_add(range.step);
                }
                Ok(items)
            }
            Payload::Str(text) => {
                let text = text.text.clone();
                // Characters beyond Latin-1 are objects of their own.
                let price = if text.is_ascii() { Charge::NONE } else { CHARACTER_MADE.once() };
                let mut items = Items::new(price);
                for character in text.chars() {
                    items.pay(self)?;
                    items.push(self.heap.str(character.encode_utf8(&mut [0; 4])));
                }
                Ok(items.into_values())
            }
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => Ok(bytes.iter().map(|&byte| Value::Int(i64::from(byte))).collect()),
            Payload::MemoryView(_) => {
                crate::objects::memoryview::check_iterable(self, value)?;
                self.spend(VIEW_ITEM_READ.of(length))?;
                let mut items = Vec::with_capacity(length);
                for index in 0..length {
                    items.extend(crate::objects::memoryview_items::item(self, object, index)?);
                }
                Ok(items)
            }
            Payload::DictView { dict, part } => {
                let (dict, part) = (*dict, *part);
                let pairs = self.heap.dict_pairs(dict);
                // A pair is a tuple that is made.
                let each = if part == DictPart::Items { ITEM_PAIRED } else { ENTRY_LISTED };
                self.spend(each.of(pairs.len()))?;
                Ok(pairs.into_iter().map(|(key, value)| self.heap.dict_part(key, value, part)).collect())
            }
            Payload::Iterator(state) => {
                // A tuple is made for each step.
                let pairs = usize::from(matches!(**state, Iter::Enumerate { .. } | Iter::Zip { .. }));
                self.collect_iterator(value, pairs)
            }
            _ => match self.lookup(self.heap.slot(object).class, nm::ITER) {
                Some(_) => Err(Throw::Fallback),
                None => Err(self.not_iterable(value)),
            },
        }
    }

    /// What an iterator still gives, with `pairs` tuples made for each item.
    fn collect_iterator(&mut self, iterator: Value, pairs: usize) -> Outcome<Vec<Value>> {
        let mut items = Vec::new();
        loop {
            match self.next_native(iterator) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(items),
                Err(throw) => {
                    self.heap.release_all(items);
                    return Err(throw);
                }
            }
            self.spend(ITERATION.once() + ENUMERATED.of(pairs))?;
            if items.len() % 1_024 == 0 {
                self.reserve(items.len() * 8)?;
            }
        }
    }

    /// The item of a builtin sequence at an index, retained.
    #[inline]
    pub(super) fn sequence_item(&mut self, object: Ref, index: usize) -> Option<Value> {
        let value = match self.heap.payload(object).core() {
            Payload::List(list) => *list.items.get(index)?,
            Payload::Tuple(items) => *items.get(index)?,
            Payload::Str(text) if text.ascii() => {
                let byte = *text.text.as_bytes().get(index)?;
                return Some(Value::Obj(latin1(byte)));
            }
            Payload::Str(_) => return self.character(object, index),
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => return bytes.get(index).map(|&byte| Value::Int(i64::from(byte))),
            Payload::MemoryView(_) => return crate::objects::memoryview_items::item(self, object, index).ok().flatten(),
            Payload::Range(range) => {
                return range.at(i64::try_from(index).ok()?).map(Value::Int);
            }
            _ => return None,
        };
        Some(self.heap.retain(value))
    }

    pub(super) fn changed_size(&mut self, container: Value) -> Throw {
        let message = if self.heap.is_instance(container, ty::DICT) {
            "dictionary changed size during iteration"
        } else {
            "Set changed size during iteration"
        };
        self.raise(ty::RUNTIME_ERROR, message)
    }

    /// Where an iterator over a dict, or one that goes backwards, goes on.
    fn set_iterator_position(&mut self, object: Ref, position: usize) {
        if let Payload::Iterator(state) = self.heap.payload_mut(object) {
            if let Iter::Dict { index: at, .. } | Iter::ReversedDict { left: at, .. } | Iter::Reversed { left: at, .. } = &mut **state {
                *at = position;
            }
        }
    }

    /// The next tuple of a `zip` of `width` builtin iterators.
    fn next_side_by_side(&mut self, object: Ref, width: usize, strict: bool) -> Outcome<Option<Value>> {
        let inner = |vm: &Vm, position: usize| match vm.heap.payload(object) {
            Payload::Iterator(state) => match &**state {
                Iter::Zip { inner, .. } => inner[position],
                _ => Value::None,
            },
            _ => Value::None,
        };
        let mut items = self.heap.spares.values(width);
        for position in 0..width {
            let item = match self.next_native(inner(self, position)) {
                Ok(item) => item,
                Err(throw) => {
                    self.heap.release_all(items);
                    return Err(throw);
                }
            };
            match item {
                Some(item) => items.push(item),
                None => {
                    self.heap.release_all(items);
                    if strict {
                        let all: Vec<Value> = (0..width).map(|position| inner(self, position)).collect();
                        if let Some(throw) = self.strict_zip_error(&all, position)? {
                            return Err(throw);
                        }
                    }
                    return self.finish_iterator(object);
                }
            }
        }
        Ok(Some(self.heap.tuple(items)))
    }

    fn strict_zip_error(&mut self, inner: &[Value], position: usize) -> Outcome<Option<Throw>> {
        let plural = |count: usize| if count == 1 { "argument 1".to_owned() } else { format!("arguments 1-{count}") };
        if position > 0 {
            let message = format!("zip() argument {} is shorter than {}", position + 1, plural(position));
            return Ok(Some(self.value_error(message)));
        }
        for (index, &each) in inner.iter().enumerate().skip(1) {
            if let Some(item) = self.next_native(each)? {
                self.heap.release(item);
                let message = format!("zip() argument {} is longer than {}", index + 1, plural(index));
                return Ok(Some(self.value_error(message)));
            }
        }
        Ok(None)
    }

    fn finish_iterator(&mut self, object: Ref) -> Outcome<Option<Value>> {
        let before = self.heap.payload(object).size();
        let old = match self.heap.payload_mut(object) {
            Payload::Iterator(state) => std::mem::replace(&mut **state, Iter::Done),
            _ => Iter::Done,
        };
        // A `zip` holds its iterators no longer.
        let after = self.heap.payload(object).size();
        self.heap.resize_memory(before, after);
        let mut held = Vec::new();
        Payload::Iterator(Box::new(old)).take_apart(&mut held);
        self.heap.release_all(held);
        Ok(None)
    }
}
