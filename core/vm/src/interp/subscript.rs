//! Subscripts, and the dict operations that everything else uses.

use super::operators::Number;
use super::window::afresh;
use super::{OnReturn, Vm};
use crate::error::{Outcome, Throw, Trap};
use crate::num::sizes;
use crate::objects::dict::{Dict, NEAR};
use crate::objects::payload::{Payload, Range};
use crate::types::{latin1, nm, ty};
use crate::value::{Ref, Value};

/// Cycles of each index slot that is looked at beyond the near ones: finding a key, adding it and making room for more.
const FAR: usize = 3;
/// Items that a slice takes for a cycle.
pub(super) const SLICED: usize = 2;

/// Builtin classes that take types in brackets, as the classes below them do.
const GENERIC: &[Ref] = &[ty::LIST, ty::DICT, ty::TUPLE, ty::SET, ty::FROZENSET, ty::ENUMERATE, ty::BASE_EXCEPTION_GROUP];

impl Vm {
    // ---- dicts ----

    /// A new, empty dict.
    pub(crate) fn new_dict(&mut self) -> Ref {
        let table = self.heap.spares.table();
        self.heap.alloc_sized(ty::DICT, Payload::Dict(table), crate::objects::dict::EMPTY_DICT)
    }

    /// A new, empty set or frozenset.
    pub(crate) fn new_set(&mut self, class: Ref) -> Ref {
        let table = self.heap.spares.table();
        self.heap.alloc_sized(class, Payload::Set(table), crate::objects::dict::EMPTY_SET)
    }

    /// The table of a dict or set.
    pub(crate) fn table(&self, object: Ref) -> Option<&Dict> {
        match self.heap.payload(object).core() {
            Payload::Dict(dict) | Payload::Set(dict) => Some(dict),
            _ => None,
        }
    }

    /// The table of a dict or set, to be changed.
    pub(crate) fn table_mut(&mut self, object: Ref) -> Option<&mut Dict> {
        let epoch = self.heap.globals_epoch.wrapping_add(1).max(1);
        if matches!(self.heap.payload(object), Payload::Dict(dict) if dict.module) {
            self.heap.globals_epoch = epoch;
        }
        match self.heap.payload_mut(object).core_mut() {
            Payload::Dict(dict) | Payload::Set(dict) => Some(dict),
            _ => None,
        }
    }

    /// Number of keys.
    pub(crate) fn dict_len(&self, object: Ref) -> usize {
        self.table(object).map_or(0, Dict::len)
    }

    /// Keys and values in order, not retained.
    pub(crate) fn dict_pairs(&self, dict: Value) -> Vec<(Value, Value)> {
        match dict {
            Value::Obj(object) => {
                let Some(table) = self.table(object) else { return Vec::new() };
                let mut pairs = Vec::with_capacity(table.len());
                pairs.extend(table.iter().map(|entry| (entry.key, entry.value)));
                pairs
            }
            _ => Vec::new(),
        }
    }

    /// The value at a position.
    pub(crate) fn dict_value_at(&self, object: Ref, position: usize) -> Value {
        self.table(object).map_or(Value::None, |table| table.entries[position].value)
    }

    /// The position of a key whose hash is known.
    pub(crate) fn dict_find(&mut self, object: Ref, key: Value, hash: i64) -> Outcome<Option<usize>> {
        let Some(table) = self.table(object) else { return Err(Throw::Trap(Trap::Internal)) };
        if let Some(found) = self.heap.find_certain(table, &key, super::compare::SHORT_TEXT) {
            return Ok(found);
        }
        if let Value::Obj(key) = key {
            if let Some(found) = self.heap.find_numbers(table, key, hash) {
                return Ok(found);
            }
        }
        let mut probe = table.probe(hash);
        loop {
            let Some(table) = self.table(object) else { return Err(Throw::Trap(Trap::Internal)) };
            let (before, found) = (probe.steps, table.next(&mut probe, hash));
            // Many keys of one hash, or of near ones, take as long as they are far from where they should be.
            let known = found.map(|position| table.entries[position].key);
            if probe.steps > NEAR {
                self.spend(((probe.steps - before) as usize).saturating_mul(FAR))?;
            }
            let (Some(position), Some(known)) = (found, known) else { return Ok(None) };
            if known.is(key) || self.equal_native(known, key)? {
                return Ok(Some(position));
            }
        }
    }

    /// Sets a key; takes both references over. `Fallback` leaves both with the caller.
    pub(crate) fn dict_insert(&mut self, object: Ref, key: Value, value: Value) -> Outcome<()> {
        let hash = self.hash_native(key)?;
        let found = self.dict_find(object, key, hash)?;
        self.dict_put(object, key, value, hash, found)
    }

    /// Adds a key that a table does not have, where its hash is known and neither it nor the value is watched by the barrier. Takes both
    /// references over when it does.
    #[inline(always)]
    fn add_quickly(&mut self, object: Ref, key: &Value, value: &Value) -> bool {
        let Some(hash) = self.heap.known_hash(key) else { return false };
        let Some(table) = self.table(object) else { return false };
        if self.is_container(*value) || !matches!(self.heap.find_known(table, key), Some(None)) {
            return false;
        }
        self.dict_add(object, afresh(key), afresh(value), hash);
        true
    }

    /// Sets a key that was looked up; takes both references over.
    pub(crate) fn dict_put(&mut self, object: Ref, key: Value, value: Value, hash: i64, found: Option<usize>) -> Outcome<()> {
        // Most keys and values are numbers and texts, which the barrier does not watch.
        if self.is_container(value) {
            self.store_barrier(object, value)?;
        }
        if found.is_none() && self.is_container(key) {
            self.store_barrier(object, key)?;
        }
        match found {
            Some(position) => {
                let old = self.table_mut(object).map(|table| std::mem::replace(&mut table.entries[position].value, value));
                self.heap.release(key);
                if let Some(old) = old {
                    self.heap.release(old);
                }
            }
            None => self.dict_add(object, key, value, hash),
        }
        Ok(())
    }

    fn dict_add(&mut self, object: Ref, key: Value, value: Value, hash: i64) {
        let epoch = self.heap.globals_epoch.wrapping_add(1).max(1);
        let (before, after, module) = match self.heap.payload_mut(object).core_mut() {
            Payload::Dict(table) => {
                let before = table.size();
                table.insert_new(hash, key, value);
                (before, table.size(), table.module)
            }
            Payload::Set(table) => {
                let before = table.set_size();
                table.insert_new(hash, key, value);
                (before, table.set_size(), false)
            }
            _ => return,
        };
        if module {
            self.heap.globals_epoch = epoch;
        }
        if before != after {
            self.heap.resize_memory(before, after);
        }
    }

    /// Sets a text key in a fresh dict; takes both references over.
    pub(crate) fn dict_insert_text(&mut self, object: Ref, key: Value, value: Value) {
        let hash = self.hash_native(key).unwrap_or(0);
        match self.table(object).and_then(|table| self.heap.find_simple(table, key)) {
            Some(position) => {
                let old = self.table_mut(object).map(|table| std::mem::replace(&mut table.entries[position].value, value));
                self.heap.release(key);
                if let Some(old) = old {
                    self.heap.release(old);
                }
            }
            None => self.dict_add(object, key, value, hash),
        }
    }

    /// The position of an identifier.
    #[inline]
    pub(crate) fn dict_position_of_name(&self, object: Ref, name: Ref) -> Option<usize> {
        self.table(object).and_then(|table| self.heap.find_simple(table, Value::Obj(name)))
    }

    /// The value of an identifier, not retained.
    pub(crate) fn dict_get_name(&self, object: Ref, name: Ref) -> Option<Value> {
        let table = self.table(object)?;
        self.heap.find_simple(table, Value::Obj(name)).map(|position| table.entries[position].value)
    }

    /// Replaces the value at a position of a module's dict; takes the reference over.
    #[inline]
    pub(super) fn replace_global(&mut self, object: Ref, position: usize, value: Value) {
        let Some(entry) = self.table_mut(object).and_then(|table| table.entries.get_mut(position)) else { return };
        let old = entry.value.object();
        entry.value = afresh(&value);
        if let Some(old) = old {
            self.heap.release_object(old);
        }
    }

    /// Sets an identifier; takes the value's reference over. No barrier: for namespaces.
    pub(crate) fn dict_set_name(&mut self, object: Ref, name: Ref, value: Value) {
        self.heap.retain(Value::Obj(name));
        self.dict_insert_text(object, Value::Obj(name), value);
    }

    /// Removes the entry at a position.
    pub(crate) fn dict_remove_at(&mut self, object: Ref, position: usize) {
        let entry = self.table_mut(object).map(|table| table.remove(position));
        if let Some(entry) = entry {
            self.heap.release(entry.key);
            self.heap.release(entry.value);
        }
    }

    // ---- reading ----

    /// The method that a class written in Python has for a subscript operation.
    fn own_method(&mut self, object: Value, name: Ref) -> Option<Value> {
        if !self.is_python_instance(object) && !self.heap.slot_class_is_type(object) {
            return None;
        }
        let class = self.heap.class_of(object);
        self.own_special(class, name)
    }

    /// `object[key]`, retained.
    pub(crate) fn get_item(&mut self, object: Value, key: Value) -> Outcome {
        if let Some(function) = self.own_method(object, nm::GETITEM) {
            return Err(self.call_special(function, &[object, key], OnReturn::Store));
        }
        match self.get_item_native(object, key) {
            Err(Throw::Fallback) => self.call_helper("dict_getitem", &[object, key]),
            outcome => outcome,
        }
    }

    /// `object[key]` of the builtin types.
    pub(crate) fn get_item_native(&mut self, object: Value, key: Value) -> Outcome {
        let Value::Obj(receiver) = object else { return Err(self.not_subscriptable(object)) };
        match self.heap.payload(receiver).core() {
            Payload::Dict(_) => {
                let hash = self.hash_native(key)?;
                match self.dict_find(receiver, key, hash)? {
                    Some(position) => {
                        let value = self.dict_value_at(receiver, position);
                        Ok(self.heap.retain(value))
                    }
                    None => {
                        let class = self.heap.slot(receiver).class;
                        if class != ty::DICT {
                            if let Some(function) = self.lookup(class, nm::MISSING) {
                                return Err(self.call_special(function, &[object, key], OnReturn::Store));
                            }
                        }
                        Err(self.key_error(key))
                    }
                }
            }
            Payload::MappingProxy(Value::Obj(inner)) if matches!(self.heap.payload(*inner).core(), Payload::Dict(_)) => {
                let inner = Value::Obj(*inner);
                self.get_item(inner, key)
            }
            Payload::MappingProxy(_) => {
                let name = self.attribute_name(key)?;
                let found = match self.heap.payload(receiver) {
                    Payload::MappingProxy(Value::Obj(class)) => match self.heap.payload(*class) {
                        Payload::Class(row) => row.attributes.get(&name).copied(),
                        _ => None,
                    },
                    _ => None,
                };
                match found {
                    Some(value) => Ok(self.heap.retain(value)),
                    None => Err(self.key_error(key)),
                }
            }
            Payload::List(_) | Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::ByteArray(..) | Payload::Range(_) => {
                self.get_sequence_item(receiver, key)
            }
            Payload::MemoryView(_) => crate::objects::memoryview::get_item(self, receiver, key),
            Payload::Class(_) => self.get_class_item(receiver, key),
            Payload::GenericAlias { .. } | Payload::Union(_) => self.call_helper("alias_getitem", &[object, key]),
            _ => Err(self.not_subscriptable(object)),
        }
    }

    fn not_subscriptable(&mut self, object: Value) -> Throw {
        let message = match object {
            Value::Obj(receiver) => match self.heap.payload(receiver) {
                Payload::Class(row) => format!("type '{}' is not subscriptable", row.name),
                _ => format!("'{}' object is not subscriptable", self.class_name(object)),
            },
            _ => format!("'{}' object is not subscriptable", self.class_name(object)),
        };
        self.type_error(message)
    }

    fn get_class_item(&mut self, class: Ref, key: Value) -> Outcome {
        if matches!(self.heap.payload(class), Payload::Class(_)) {
            if let Some(found) = self.lookup(class, nm::CLASS_GETITEM) {
                let function = self.bind_to_class(found, class)?;
                let throw = self.call_later(function, &[key], OnReturn::Store);
                self.heap.release(function);
                return Err(throw);
            }
            let takes_types = match self.heap.payload(class) {
                _ if class == ty::TYPE => true,
                Payload::Class(row) => row.mro.iter().any(|base| GENERIC.contains(base)),
                _ => false,
            };
            if !takes_types {
                return Err(self.not_subscriptable(Value::Obj(class)));
            }
        }
        let arguments = if self.is_instance(key, ty::TUPLE) {
            self.heap.retain(key)
        } else {
            self.heap.retain(key);
            self.tuple(vec![key])
        };
        let origin = Value::Obj(class);
        self.heap.retain(origin);
        Ok(self.heap.make(ty::GENERIC_ALIAS, Payload::GenericAlias { origin, arguments, starred: false }))
    }

    /// An index as a number; `None` when the key is not one. Calls `__index__` when that is written in Python.
    pub(crate) fn index_number(&mut self, key: Value) -> Outcome<Option<i64>> {
        match self.number(key) {
            Some(Number::Small(index)) => Ok(Some(index)),
            Some(Number::Big(number)) => {
                let _ = number;
                Err(self.raise(ty::INDEX_ERROR, "cannot fit 'int' into an index-sized integer"))
            }
            _ => Ok(None),
        }
    }

    fn get_sequence_item(&mut self, receiver: Ref, key: Value) -> Outcome {
        if let Value::Obj(slice) = key {
            if let Payload::Slice(parts) = self.heap.payload(slice) {
                let parts = **parts;
                if parts.iter().any(|part| self.python_method(*part, nm::INDEX).is_some()) {
                    return self.call_helper("getitem_slice", &[Value::Obj(receiver), key]);
                }
                return self.get_slice(receiver, &parts);
            }
        }
        let (word, length) = self.sequence_word(receiver);
        let Some(index) = self.index_number(key)? else {
            if self.special(key, nm::INDEX).is_some() {
                return self.call_helper("getitem_index", &[Value::Obj(receiver), key]);
            }
            let kind = match word {
                "string" => "string indices must be integers",
                "list" => "list indices must be integers or slices",
                "tuple" => "tuple indices must be integers or slices",
                "range object" => "range indices must be integers or slices",
                "bytearray" => "bytearray indices must be integers or slices",
                _ => "byte indices must be integers or slices",
            };
            let message =
                format!("{kind}, not {}", if word == "string" { format!("'{}'", self.class_name(key)) } else { self.class_name(key) });
            return Err(self.type_error(message));
        };
        if let Payload::Range(range) = self.heap.payload(receiver) {
            return match range.at(index) {
                Some(number) => Ok(Value::Int(number)),
                None => Err(self.raise(ty::INDEX_ERROR, "range object index out of range")),
            };
        }
        let position = absolute(index, length);
        let Some(position) = position else {
            let message = if word == "index" { "index out of range".to_owned() } else { format!("{word} index out of range") };
            return Err(self.raise(ty::INDEX_ERROR, &message));
        };
        let value = match self.heap.payload(receiver).core() {
            Payload::List(list) => list.items[position],
            Payload::Tuple(items) => items[position],
            Payload::Str(text) if text.ascii() => Value::Obj(latin1(text.text.as_bytes()[position])),
            Payload::Str(_) => return Ok(self.character(receiver, position).unwrap_or(Value::Obj(nm::EMPTY))),
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => Value::Int(i64::from(bytes[position])),
            _ => Value::None,
        };
        Ok(self.heap.retain(value))
    }

    pub(crate) fn sequence_word(&self, receiver: Ref) -> (&'static str, usize) {
        match self.heap.payload(receiver).core() {
            Payload::List(list) => ("list", list.items.len()),
            Payload::Tuple(items) => ("tuple", items.len()),
            Payload::Str(text) => ("string", text.chars as usize),
            Payload::Bytes(bytes) => ("index", bytes.len()),
            Payload::ByteArray(bytes, _) => ("bytearray", bytes.len()),
            Payload::Range(range) => ("range object", sizes::index(range.len()).unwrap_or(usize::MAX)),
            _ => ("sequence", 0),
        }
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
            *number = match self.number(*part) {
                Some(Number::Small(value)) => Some(value),
                Some(Number::Big(value)) => Some(if value.sign() == dashu_int::Sign::Negative { i64::MIN / 2 } else { i64::MAX / 2 }),
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

    pub(super) fn get_slice(&mut self, receiver: Ref, parts: &[Value; 3]) -> Outcome {
        if let Payload::Range(range) = self.heap.payload(receiver) {
            let range = *range;
            return self.slice_of_range(receiver, range, parts);
        }
        let (_, length) = self.sequence_word(receiver);
        let (start, step, count) = self.slice_bounds(parts, length)?;
        self.spend(count / SLICED)?;
        self.reserve(count)?;
        let indices = (0..count).map(|index| sizes::saturating(start + step * i64::try_from(index).unwrap_or(0)));
        match self.heap.payload(receiver).core() {
            Payload::List(list) => {
                let items = pick(&list.items, start, step, count);
                self.heap.retain_each(&items);
                Ok(self.list(items))
            }
            Payload::Tuple(tuple) => {
                let items = pick(tuple, start, step, count);
                self.heap.retain_each(&items);
                Ok(self.tuple(items))
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

    fn slice_of_range(&mut self, receiver: Ref, range: Range, parts: &[Value; 3]) -> Outcome {
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
        match self.number(stop) {
            Some(Number::Small(stop)) => (if stop < 0 { stop.saturating_add(length) } else { stop }).clamp(low, high),
            Some(Number::Big(stop)) if stop.sign() == dashu_int::Sign::Negative => low,
            Some(Number::Big(_)) => high,
            _ if step > 0 => high,
            _ => low,
        }
    }

    /// A slice of text beyond ASCII.
    fn slice_of_characters(&mut self, receiver: Ref, start: i64, step: i64, count: usize) -> Outcome {
        let Some(last) = count.checked_sub(1) else { return Ok(Value::Obj(nm::EMPTY)) };
        let number = |index: usize| sizes::saturating(start + step * i64::try_from(index).unwrap_or(0));
        let (low, high) = if step > 0 { (number(0), number(last)) } else { (number(last), number(0)) };
        let range = self.bytes_of_characters(receiver, low, high + 1);
        if step == 1 {
            let piece = self.heap.piece(receiver, range);
            return Ok(self.heap.string(piece));
        }
        // Every character between them is passed.
        self.spend(range.len() / 2)?;
        let Some(text) = self.text(Value::Obj(receiver)) else { return Err(Throw::Trap(Trap::Internal)) };
        let each = sizes::index(step.unsigned_abs()).unwrap_or(usize::MAX);
        let characters = text[range].chars();
        let result: String = if step > 0 { characters.step_by(each).collect() } else { characters.rev().step_by(each).collect() };
        Ok(self.heap.string(result))
    }

    /// The character of a text at a position, as text of its own.
    pub(super) fn character(&mut self, receiver: Ref, position: usize) -> Option<Value> {
        let at = self.byte_of_character(receiver, position);
        let character = self.text(Value::Obj(receiver))?.get(at..)?.chars().next()?;
        Some(self.heap.str(character.encode_utf8(&mut [0; 4])))
    }

    // ---- writing ----

    /// `object[key] = value`; all borrowed.
    pub(crate) fn set_item(&mut self, object: Value, key: Value, value: Value) -> Outcome<()> {
        if let Some(function) = self.own_method(object, nm::SETITEM) {
            return Err(self.call_special(function, &[object, key, value], OnReturn::Discard));
        }
        match self.set_item_native(object, key, value) {
            Err(Throw::Fallback) => {
                let name = if self.is_instance(object, ty::DICT) { "dict_setitem" } else { "setitem_slow" };
                self.call_helper(name, &[object, key, value]).map(|_| ())
            }
            outcome => outcome,
        }
    }

    /// `object[key] = value` of the builtin types.
    pub(crate) fn set_item_native(&mut self, object: Value, key: Value, value: Value) -> Outcome<()> {
        let unsupported = |vm: &mut Vm| {
            let message = format!("'{}' object does not support item assignment", vm.class_name(object));
            Err(vm.type_error(message))
        };
        let Value::Obj(receiver) = object else { return unsupported(self) };
        if matches!(self.heap.payload(receiver).core(), Payload::ByteArray(..)) && self.python_method(key, nm::INDEX).is_some() {
            return Err(Throw::Fallback);
        }
        match self.heap.payload(receiver).core() {
            Payload::Dict(_) => {
                let hash = self.hash_native(key)?;
                let found = self.dict_find(receiver, key, hash)?;
                self.heap.retain(key);
                self.heap.retain(value);
                if let Err(throw) = self.dict_put(receiver, key, value, hash, found) {
                    self.heap.release(key);
                    self.heap.release(value);
                    return Err(throw);
                }
                Ok(())
            }
            Payload::List(list) => {
                let length = list.items.len();
                if let Value::Obj(slice) = key {
                    if let Payload::Slice(parts) = self.heap.payload(slice) {
                        let parts = **parts;
                        return crate::objects::list::set_slice(self, receiver, &parts, value);
                    }
                }
                let Some(index) = self.index_number(key)? else {
                    let message = format!("list indices must be integers or slices, not {}", self.class_name(key));
                    return Err(self.type_error(message));
                };
                let Some(position) = absolute(index, length) else {
                    return Err(self.raise(ty::INDEX_ERROR, "list assignment index out of range"));
                };
                self.store_barrier(receiver, value)?;
                self.heap.retain(value);
                let mut old = Value::Undefined;
                if let Payload::List(list) = self.heap.payload_mut(receiver).core_mut() {
                    old = std::mem::replace(&mut list.items[position], value);
                }
                self.heap.release(old);
                Ok(())
            }
            Payload::ByteArray(bytes, _) => {
                let length = bytes.len();
                if let Value::Obj(slice) = key {
                    if let Payload::Slice(parts) = self.heap.payload(slice) {
                        let parts = **parts;
                        return crate::objects::bytes::set_slice(self, receiver, &parts, value);
                    }
                }
                let Some(index) = self.index_number(key)? else {
                    let message = format!("bytearray indices must be integers or slices, not {}", self.class_name(key));
                    return Err(self.type_error(message));
                };
                let byte = crate::objects::bytes::byte(self, value, "byte must be in range(0, 256)")?;
                let length = match self.heap.payload(receiver).core() {
                    Payload::ByteArray(bytes, _) => bytes.len(),
                    _ => length,
                };
                let Some(position) = absolute(index, length) else {
                    return Err(self.raise(ty::INDEX_ERROR, "bytearray index out of range"));
                };
                if let Payload::ByteArray(bytes, _) = self.heap.payload_mut(receiver).core_mut() {
                    bytes[position] = byte;
                }
                Ok(())
            }
            Payload::MemoryView(_) => crate::objects::memoryview::set_item(self, receiver, key, value),
            _ => unsupported(self),
        }
    }

    /// `del object[key]`
    pub(crate) fn delete_item(&mut self, object: Value, key: Value) -> Outcome<()> {
        if let Some(function) = self.own_method(object, nm::DELITEM) {
            return Err(self.call_special(function, &[object, key], OnReturn::Discard));
        }
        match self.delete_item_native(object, key) {
            Err(Throw::Fallback) => self.call_helper("dict_delitem", &[object, key]).map(|_| ()),
            outcome => outcome,
        }
    }

    /// `del object[key]` of the builtin types.
    pub(crate) fn delete_item_native(&mut self, object: Value, key: Value) -> Outcome<()> {
        let unsupported = |vm: &mut Vm| {
            // Sequences are asked by position first, in other words.
            let is_sequence = object.object().is_some_and(|object| {
                let content = vm.heap.payload(object).core();
                vm.heap.slot(object).class.0 >= crate::types::FIXED_COUNT
                    || matches!(content, Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::Range(_) | Payload::Set(_))
            });
            let does_not = if is_sequence && vm.as_int(key).is_some() { "doesn't" } else { "does not" };
            let message = format!("'{}' object {does_not} support item deletion", vm.class_name(object));
            Err(vm.type_error(message))
        };
        let Value::Obj(receiver) = object else { return unsupported(self) };
        match self.heap.payload(receiver).core() {
            Payload::Dict(_) => {
                let hash = self.hash_native(key)?;
                match self.dict_find(receiver, key, hash)? {
                    Some(position) => {
                        self.dict_remove_at(receiver, position);
                        Ok(())
                    }
                    None => Err(self.key_error(key)),
                }
            }
            Payload::List(list) => {
                let length = list.items.len();
                if let Value::Obj(slice) = key {
                    if let Payload::Slice(parts) = self.heap.payload(slice) {
                        let parts = **parts;
                        return crate::objects::list::delete_slice(self, receiver, &parts);
                    }
                }
                let Some(index) = self.index_number(key)? else {
                    let message = format!("list indices must be integers or slices, not {}", self.class_name(key));
                    return Err(self.type_error(message));
                };
                let Some(position) = absolute(index, length) else {
                    return Err(self.raise(ty::INDEX_ERROR, "list assignment index out of range"));
                };
                self.spend((length - position) / 8)?;
                let removed = crate::objects::list::remove_at(self, receiver, position);
                self.heap.release(removed);
                Ok(())
            }
            Payload::ByteArray(bytes, _) => {
                let length = bytes.len();
                if let Value::Obj(slice) = key {
                    if let Payload::Slice(parts) = self.heap.payload(slice) {
                        let parts = **parts;
                        return crate::objects::bytes::delete_slice(self, receiver, &parts);
                    }
                }
                let Some(index) = self.index_number(key)? else { return unsupported(self) };
                let Some(position) = absolute(index, length) else {
                    return Err(self.raise(ty::INDEX_ERROR, "bytearray index out of range"));
                };
                self.spend((length - position) / 32)?;
                crate::objects::bytes::may_resize(self, object, true)?;
                if let Payload::ByteArray(bytes, _) = self.heap.payload_mut(receiver).core_mut() {
                    bytes.remove(position);
                    crate::objects::bytes::settle(bytes);
                }
                self.heap.free_memory(1);
                Ok(())
            }
            Payload::MemoryView(_) => Err(crate::objects::memoryview::no_deletion(self, receiver)),
            _ => unsupported(self),
        }
    }

    /// A set or dict of values in registers, which are consumed.
    pub(crate) fn build_table(&mut self, dict: bool, first: usize, count: usize) -> Outcome {
        let object = if dict { self.new_dict() } else { self.new_set(ty::SET) };
        let table = Value::Obj(object);
        self.spend(count.saturating_mul(2))?;
        let width = if dict { 2 } else { 1 };
        for index in 0..count {
            let at = first + index * width;
            let key = std::mem::replace(&mut self.registers[at], Value::Undefined);
            let value = if dict { std::mem::replace(&mut self.registers[at + 1], Value::Undefined) } else { Value::None };
            if self.add_quickly(object, &key, &value) {
                continue;
            }
            match self.dict_insert(object, key, value) {
                Ok(()) => {}
                Err(Throw::Fallback) => {
                    // A key hashes or compares in Python: a helper builds the rest.
                    let mut arguments = vec![table, key, value];
                    for rest in index + 1..count {
                        let at = first + rest * width;
                        arguments.push(std::mem::replace(&mut self.registers[at], Value::Undefined));
                        arguments.push(if dict { std::mem::replace(&mut self.registers[at + 1], Value::Undefined) } else { Value::None });
                    }
                    let function = self.helper(if dict { "build_dict" } else { "build_set" });
                    self.heap.retain(function);
                    return Err(Throw::Call(Box::new(crate::error::PendingCall {
                        function,
                        arguments,
                        keywords: Vec::new(),
                        namespace: Value::Undefined,
                        on_return: OnReturn::Store,
                    })));
                }
                Err(throw) => {
                    self.heap.release(key);
                    self.heap.release(value);
                    self.heap.release(table);
                    return Err(throw);
                }
            }
        }
        Ok(table)
    }

    /// Adds to a set; the value is borrowed.
    pub(crate) fn set_add(&mut self, set: Value, value: Value) -> Outcome {
        let Value::Obj(object) = set else { return Err(Throw::Trap(Trap::Internal)) };
        self.heap.retain(value);
        match self.dict_insert(object, value, Value::None) {
            Ok(()) => Ok(Value::None),
            Err(Throw::Fallback) => {
                self.heap.release(value);
                self.call_helper("set_add", &[set, value])
            }
            Err(throw) => {
                self.heap.release(value);
                Err(throw)
            }
        }
    }

    /// `{**source}` and keyword arguments after `**`.
    pub(crate) fn dict_merge(&mut self, dict: Value, source: Value, keywords: bool, callee: Value) -> Outcome {
        let is_dict = source.object().is_some_and(|object| matches!(self.heap.payload(object).core(), Payload::Dict(_)));
        if !is_dict {
            if self.special(source, nm::KEYS).is_none() {
                let message = if keywords {
                    format!("{} argument after ** must be a mapping, not {}", self.callee_name(callee), self.class_name(source))
                } else {
                    format!("'{}' object is not a mapping", self.class_name(source))
                };
                return Err(self.type_error(message));
            }
            return self.call_helper(if keywords { "keyword_merge" } else { "dict_update" }, &[dict, source]);
        }
        let Value::Obj(target) = dict else { return Err(Throw::Trap(Trap::Internal)) };
        let count = source.object().map_or(0, |source| self.dict_len(source));
        self.spend(count.saturating_mul(if keywords { 8 } else { 3 }))?;
        let pairs = self.dict_pairs(source);
        for (key, value) in pairs {
            if keywords {
                if self.text(key).is_none() {
                    return Err(self.type_error("keywords must be strings"));
                }
                let length = self.text(key).map_or(0, str::len);
                self.spend(length / 8)?;
                if self.table(target).and_then(|table| self.heap.find_simple(table, key)).is_some() {
                    let message = format!(
                        "{} got multiple values for keyword argument '{}'",
                        self.callee_name(callee),
                        self.text(key).unwrap_or_default()
                    );
                    return Err(self.type_error(message));
                }
            }
            self.heap.retain(key);
            self.heap.retain(value);
            match self.dict_insert(target, key, value) {
                Ok(()) => {}
                Err(throw) => {
                    self.heap.release(key);
                    self.heap.release(value);
                    if let Throw::Fallback = throw {
                        return self.call_helper("dict_update", &[dict, source]);
                    }
                    return Err(throw);
                }
            }
        }
        Ok(Value::None)
    }

    pub(crate) fn callee_name(&mut self, callee: Value) -> String {
        let Value::Obj(object) = callee else { return "function".to_owned() };
        match self.heap.payload(object) {
            Payload::Function(row) => {
                let module = self.dict_get_name(row.globals, nm::NAME).and_then(|name| self.text(name)).unwrap_or("?").to_owned();
                format!("{module}.{}()", self.text(row.qualname).unwrap_or("?"))
            }
            Payload::Native(row) => format!("{}()", crate::native::native(*row).name),
            Payload::Class(_) => format!("{}()", self.qualified_name(object)),
            _ => format!("{} object", self.class_name(callee)),
        }
    }

    /// `len(value)`; a call when that is written in Python.
    pub(crate) fn length(&mut self, value: Value) -> Outcome {
        if let Some(function) = self.own_method(value, nm::LEN) {
            return Err(self.call_expecting(function, &[value], super::Expect::Len));
        }
        let length = match value {
            Value::Obj(object) => match self.heap.payload(object).core() {
                Payload::Dict(dict) | Payload::Set(dict) => Some(dict.len()),
                Payload::DictView { dict: Value::Obj(dict), .. } => Some(self.dict_len(*dict)),
                Payload::MappingProxy(_) => Some(self.sequence_snapshot(value).len()),
                Payload::MemoryView(_) => {
                    crate::objects::memoryview::check(self, value)?;
                    Some(self.sequence_length(object))
                }
                Payload::Range(range) if i64::try_from(range.len()).is_err() => {
                    return Err(self.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C ssize_t"));
                }
                Payload::Range(range) => return Ok(Value::Int(i64::try_from(range.len()).unwrap_or(i64::MAX))),
                Payload::List(_) | Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::ByteArray(..) => {
                    Some(self.sequence_word(object).1)
                }
                _ => None,
            },
            _ => None,
        };
        match length {
            Some(length) => Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX))),
            None => {
                let message = format!("object of type '{}' has no len()", self.class_name(value));
                Err(self.type_error(message))
            }
        }
    }
}

/// A position from an index that may count from the end.
pub(crate) fn absolute(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(i64::try_from(length).ok()?)? } else { index };
    sizes::index(index).filter(|&index| index < length)
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
