//! Iteration: `for`, unpacking, and builtin iterators.

use super::{Expect, OnReturn, Pending, Vm};
use crate::costs::{CHARACTER_MADE, Charge, ENTRY_LISTED, INNER_STEP, ITEM_MADE, ITEM_PAIRED, ITERATION, VIEW_ITEM_READ, ZIPPED};
use crate::error::{Outcome, Throw, Trap};
use crate::frame::Wake;
use crate::payload::{DictPart, GeneratorState, Iter, Payload};
use crate::runtime::allowance::Items;
use crate::runtime::protocol::Iterate;
use crate::types::{latin1, nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_num::sizes;

/// The price of an `enumerate` or `zip` for what lies inside it: none for one over plain items, whose price the caller's covers.
fn inner_step(nesting: u8) -> Charge {
    if nesting > 2 { INNER_STEP.once() } else { Charge::NONE }
}

/// What a step of a `for` loop found.
pub(crate) enum Advance {
    /// The next item; the reference is the receiver's.
    Item(Value),
    /// Nothing more.
    Exhausted,
    /// A frame was pushed that finds out.
    Pushed,
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
            Payload::Iterator(_) => {
                let mut items = Vec::new();
                while let Some(item) = self.next_native(value)? {
                    self.spend(ITERATION.once())?;
                    items.push(item);
                    if items.len() % 1_024 == 0 {
                        self.reserve(items.len() * 8)?;
                    }
                }
                Ok(items)
            }
            _ => match self.lookup(self.heap.slot(object).class, nm::ITER) {
                Some(_) => Err(Throw::Fallback),
                None => Err(self.not_iterable(value)),
            },
        }
    }
}

impl Vm {
    /// Prepares three registers from `at` on for a loop over `iterable`, whose reference is taken over.
    pub(crate) fn begin_iteration(&mut self, iterable: Value, at: usize) -> Outcome<()> {
        let Value::Obj(object) = iterable else {
            let throw = self.not_iterable(iterable);
            return Err(throw);
        };
        let (second, third) = match self.heap.payload(object) {
            Payload::Range(range) => {
                let range = *range;
                match i64::try_from(range.len()) {
                    Ok(length) => {
                        self.heap.release(iterable);
                        return self.set_loop(at, Value::Int(range.step), Value::Int(range.start), Value::Int(length));
                    }
                    Err(_) => (Value::Int(0), Value::Undefined),
                }
            }
            Payload::List(_) | Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::ByteArray(..)
                if self.heap.slot(object).class.0 < crate::types::FIXED_COUNT =>
            {
                (Value::Int(0), Value::Undefined)
            }
            Payload::Dict(dict) | Payload::Set(dict) if self.heap.slot(object).class.0 < crate::types::FIXED_COUNT => {
                (Value::Int(0), Value::Int(i64::try_from(dict.len()).unwrap_or(i64::MAX)))
            }
            Payload::Iterator(_) => (Value::Undefined, Value::Undefined),
            Payload::Generator(_) if !matches!(self.heap.slot(object).class, ty::COROUTINE | ty::ASYNC_GENERATOR) => {
                (Value::Undefined, Value::Undefined)
            }
            _ => {
                let outcome = self.iterator(iterable);
                self.heap.release(iterable);
                return match outcome {
                    Ok(iterator) => self.set_loop(at, iterator, Value::Undefined, Value::Undefined),
                    Err(Throw::Call(mut call)) => {
                        call.on_return = OnReturn::Other(Box::new(Pending::Iterator));
                        self.begin_call(*call, at)?;
                        // The loop has to see the new frame.
                        Err(Throw::Reload)
                    }
                    Err(throw) => Err(throw),
                };
            }
        };
        self.set_loop(at, iterable, second, third)
    }

    fn set_loop(&mut self, at: usize, first: Value, second: Value, third: Value) -> Outcome<()> {
        for (offset, value) in [first, second, third].into_iter().enumerate() {
            let old = std::mem::replace(&mut self.registers[at + offset], value);
            self.heap.release(old);
        }
        Ok(())
    }

    /// `__iter__` of a `for` loop came back.
    pub(crate) fn iterator_arrived(&mut self, iterator: Value, at: usize) -> Outcome<()> {
        if !self.is_iterator(iterator) {
            let message = format!("iter() returned non-iterator of type '{}'", self.heap.class_name(iterator));
            self.heap.release(iterator);
            return Err(self.type_error(message));
        }
        self.set_loop(at, iterator, Value::Undefined, Value::Undefined)
    }

    /// Whether a value has `__next__`.
    pub(crate) fn is_iterator(&mut self, value: Value) -> bool {
        match value {
            Value::Obj(object) => match self.heap.payload(object) {
                Payload::Iterator(_) => true,
                Payload::Generator(_) => !matches!(self.heap.slot(object).class, ty::COROUTINE | ty::ASYNC_GENERATOR),
                _ => self.special(value, nm::NEXT).is_some(),
            },
            _ => false,
        }
    }

    /// The item of a builtin sequence at an index, retained.
    #[inline]
    fn sequence_item(&mut self, object: Ref, index: usize) -> Option<Value> {
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

    /// One step of a loop whose registers begin at `at`.
    pub(crate) fn advance(&mut self, at: usize, dest: usize, exit: u32) -> Outcome<Advance> {
        let Value::Obj(source) = self.registers[at] else { return Ok(Advance::Exhausted) };
        if let Value::Int(index) = self.registers[at + 1] {
            let position = sizes::index(index).unwrap_or(usize::MAX);
            if let Payload::Dict(dict) | Payload::Set(dict) = self.heap.payload(source) {
                if Value::Int(i64::try_from(dict.len()).unwrap_or(i64::MAX)).is(self.registers[at + 2]) {
                    return Ok(match dict.live_from(position) {
                        Some((found, entry)) => {
                            let charge = dict.passing(position, found);
                            self.owe(charge);
                            self.registers[at + 1] = Value::Int(i64::try_from(found + 1).unwrap_or(i64::MAX));
                            Advance::Item(self.heap.retain(entry.key))
                        }
                        None => Advance::Exhausted,
                    });
                }
                return Err(self.changed_size(Value::Obj(source)));
            }
            if let Payload::Str(text) = self.heap.payload(source) {
                if !text.ascii() {
                    // The third register holds the byte offset.
                    let offset = match self.registers[at + 2] {
                        Value::Int(offset) => sizes::saturating(offset),
                        _ => 0,
                    };
                    return Ok(match text.text[offset..].chars().next() {
                        Some(character) => {
                            self.registers[at + 2] = Value::Int(i64::try_from(offset + character.len_utf8()).unwrap_or(0));
                            Advance::Item(self.heap.str(character.encode_utf8(&mut [0; 4])))
                        }
                        None => Advance::Exhausted,
                    });
                }
            }
            return Ok(match self.sequence_item(source, position) {
                Some(item) => {
                    self.registers[at + 1] = Value::Int(index + 1);
                    Advance::Item(item)
                }
                None => Advance::Exhausted,
            });
        }
        match self.heap.payload(source) {
            Payload::Iterator(_) => match self.next_native(Value::Obj(source)) {
                Ok(Some(item)) => Ok(Advance::Item(item)),
                Ok(None) => Ok(Advance::Exhausted),
                Err(throw) => Err(throw),
            },
            Payload::Generator(row) => {
                if row.state == GeneratorState::Done {
                    return Ok(Advance::Exhausted);
                }
                self.resume_generator(source, Wake::Send(Value::None), OnReturn::ForIter { exit }, dest)?;
                Ok(Advance::Pushed)
            }
            _ => {
                let Some(function) = self.special(Value::Obj(source), nm::NEXT) else {
                    let message = format!("'{}' object is not an iterator", self.heap.class_name(Value::Obj(source)));
                    return Err(self.type_error(message));
                };
                let throw = self.call_special(function, &[Value::Obj(source)], OnReturn::Store);
                self.push_step(throw, dest, exit)
            }
        }
    }

    /// The same for the loop of a `ForIter` that is not quick: whether there was an item, which is in `dest` then. `None` when a frame was
    /// pushed, or something thrown, which waits in `thrown`.
    #[inline(never)]
    pub(super) fn advance_quickly(&mut self, at: usize, dest: usize, exit: u32) -> Option<bool> {
        match self.advance(at, dest, exit) {
            Ok(Advance::Item(item)) => {
                let place = &mut self.registers[dest];
                let old = place.object();
                *place = afresh(&item);
                if let Some(old) = old {
                    self.heap.release_object(old);
                }
                Some(true)
            }
            Ok(Advance::Exhausted) => Some(false),
            Ok(Advance::Pushed) => None,
            Err(throw) => {
                self.goes_on(Err(throw));
                None
            }
        }
    }

    fn push_step(&mut self, throw: Throw, dest: usize, exit: u32) -> Outcome<Advance> {
        match throw {
            Throw::Call(mut call) => {
                call.on_return = OnReturn::ForIter { exit };
                self.begin_call(*call, dest)?;
                Ok(Advance::Pushed)
            }
            throw => Err(throw),
        }
    }

    fn changed_size(&mut self, container: Value) -> Throw {
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
        let old = match self.heap.payload_mut(object) {
            Payload::Iterator(state) => std::mem::replace(&mut **state, Iter::Done),
            _ => Iter::Done,
        };
        let mut held = Vec::new();
        Payload::Iterator(Box::new(old)).take_apart(&mut held);
        self.heap.release_all(held);
        Ok(None)
    }

    /// The items of a builtin iterable that is to give `count` of them: of an iterator no more than one beyond those.
    fn collect_for(&mut self, value: Value, count: usize) -> Outcome<Vec<Value>> {
        let is_iterator = value.object().is_some_and(|object| matches!(self.heap.payload(object), Payload::Iterator(_)));
        if !is_iterator {
            return self.collect(value);
        }
        let mut items = Vec::new();
        while items.len() <= count {
            match self.next_native(value) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(throw) => {
                    self.heap.release_all(items);
                    return Err(throw);
                }
            }
            self.spend(ITERATION.once())?;
        }
        Ok(items)
    }

    /// Exactly `count` items into registers from `first` on.
    pub(crate) fn unpack(&mut self, value: Value, count: usize, first: usize) -> Outcome<()> {
        let quick = match value {
            Value::Obj(object) if self.heap.slot(object).class.0 < crate::types::FIXED_COUNT => match self.heap.payload(object) {
                Payload::Tuple(items) if items.len() == count => Some(items.to_vec()),
                Payload::List(list) if list.items.len() == count => Some(list.items.clone()),
                _ => None,
            },
            _ => None,
        };
        let items = match quick {
            Some(items) => self.heap.retain_all(&items),
            None => {
                let items = match self.collect_for(value, count) {
                    Ok(items) => items,
                    Err(Throw::Raise(exception)) if !matches!(value, Value::Obj(_)) => {
                        self.heap.release(exception);
                        let message = format!("cannot unpack non-iterable {} object", self.heap.class_name(value));
                        return Err(self.type_error(message));
                    }
                    Err(Throw::Raise(exception)) if self.special(value, nm::ITER).is_none() => {
                        self.heap.release(exception);
                        let message = format!("cannot unpack non-iterable {} object", self.heap.class_name(value));
                        return Err(self.type_error(message));
                    }
                    Err(throw) => return Err(throw),
                };
                if items.len() != count {
                    let got = items.len();
                    self.heap.release_all(items);
                    let message = if got > count {
                        format!("too many values to unpack (expected {count})")
                    } else {
                        format!("not enough values to unpack (expected {count}, got {got})")
                    };
                    return Err(self.value_error(message));
                }
                items
            }
        };
        for (offset, item) in items.into_iter().enumerate() {
            let old = std::mem::replace(&mut self.registers[first + offset], item);
            self.heap.release(old);
        }
        Ok(())
    }

    /// Items before, a list of the rest, and items after it, into registers from `first` on.
    pub(crate) fn unpack_rest(&mut self, value: Value, before: usize, after: usize, first: usize) -> Outcome<()> {
        let mut items = match self.collect(value) {
            Err(Throw::Raise(exception)) if self.special(value, nm::ITER).is_none() => {
                self.heap.release(exception);
                let message = format!("cannot unpack non-iterable {} object", self.heap.class_name(value));
                return Err(self.type_error(message));
            }
            outcome => outcome?,
        };
        if items.len() < before + after {
            let got = items.len();
            self.heap.release_all(items);
            let message = format!("not enough values to unpack (expected at least {}, got {got})", before + after);
            return Err(self.value_error(message));
        }
        let tail = items.split_off(items.len() - after);
        let rest = items.split_off(before);
        let rest = self.heap.list(rest);
        for (offset, item) in items.into_iter().chain([rest]).chain(tail).enumerate() {
            let old = std::mem::replace(&mut self.registers[first + offset], item);
            self.heap.release(old);
        }
        Ok(())
    }

    /// `[*source]` and arguments after `*`.
    pub(crate) fn extend_for_display(&mut self, list: Value, source: Value, callee: Value) -> Outcome {
        if source.is_undefined() {
            let register = self.current_instruction().map_or(0, |ins| ins.b);
            return Err(self.unbound_register(register));
        }
        match self.collect(source) {
            Ok(items) => {
                for item in items {
                    self.list_push(list, item)?;
                }
                Ok(Value::None)
            }
            Err(Throw::Fallback) => self.call_helper("list_extend", &[list, source]),
            Err(Throw::Raise(exception)) if self.special(source, nm::ITER).is_none() => {
                self.heap.release(exception);
                let name = self.heap.class_name(source);
                let message = if callee.is_undefined() {
                    format!("Value after * must be an iterable, not {name}")
                } else {
                    format!("{} argument after * must be an iterable, not {name}", self.callee_name(callee))
                };
                Err(self.type_error(message))
            }
            Err(throw) => Err(throw),
        }
    }
}
