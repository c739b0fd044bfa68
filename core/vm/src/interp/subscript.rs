//! Subscripts: reading, setting and deleting items, and lengths.

use super::{OnReturn, Vm};
use crate::costs::{BYTES_SHIFTED, ITEMS_PASSED};
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::runtime::protocol::{Hashing, Subscript};
use crate::runtime::sequences::absolute;
use crate::types::{latin1, nm, ty};
use crate::value::{Ref, Value};

/// Builtin classes that take types in brackets, as the classes below them do.
const GENERIC: &[Ref] = &[ty::LIST, ty::DICT, ty::TUPLE, ty::SET, ty::FROZENSET, ty::ENUMERATE, ty::BASE_EXCEPTION_GROUP];

impl Subscript for Vm {
    fn get_item_native(&mut self, object: Value, key: Value) -> Outcome {
        let Value::Obj(receiver) = object else { return Err(self.not_subscriptable(object)) };
        match self.heap.payload(receiver).core() {
            Payload::Dict(_) => {
                let hash = self.hash_native(key)?;
                match self.dict_find(receiver, key, hash)? {
                    Some(position) => {
                        let value = self.heap.dict_value_at(receiver, position);
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

    fn set_item_native(&mut self, object: Value, key: Value, value: Value) -> Outcome<()> {
        let unsupported = |vm: &mut Vm| {
            let message = format!("'{}' object does not support item assignment", vm.heap.class_name(object));
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
                self.dict_store(receiver, key, value, hash, found)
            }
            Payload::List(list) => {
                let length = list.items.len();
                if let Value::Obj(slice) = key {
                    if let Payload::Slice(parts) = self.heap.payload(slice) {
                        let parts = **parts;
                        return crate::objects::list::set_slice(self, receiver, &parts, value);
                    }
                }
                let Some(index) = self.index_number(key)? else { return Err(self.no_list_index(key)) };
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
                    let message = format!("bytearray indices must be integers or slices, not {}", self.heap.class_name(key));
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

    fn delete_item_native(&mut self, object: Value, key: Value) -> Outcome<()> {
        let unsupported = |vm: &mut Vm| {
            // Sequences are asked by position first, in other words.
            let is_sequence = object.object().is_some_and(|object| {
                let content = vm.heap.payload(object).core();
                vm.heap.slot(object).class.0 >= crate::types::FIXED_COUNT
                    || matches!(content, Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::Range(_) | Payload::Set(_))
            });
            let does_not = if is_sequence && vm.heap.as_int(key).is_some() { "doesn't" } else { "does not" };
            let message = format!("'{}' object {does_not} support item deletion", vm.heap.class_name(object));
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
                let Some(index) = self.index_number(key)? else { return Err(self.no_list_index(key)) };
                let Some(position) = absolute(index, length) else {
                    return Err(self.raise(ty::INDEX_ERROR, "list assignment index out of range"));
                };
                self.spend(ITEMS_PASSED.of(length - position))?;
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
                let Some(index) = self.index_number(key)? else {
                    let asked = self.python_method(key, nm::INDEX).is_some();
                    return if asked { Err(Throw::Fallback) } else { unsupported(self) };
                };
                let Some(position) = absolute(index, length) else {
                    return Err(self.raise(ty::INDEX_ERROR, "bytearray index out of range"));
                };
                self.spend(BYTES_SHIFTED.of(length - position))?;
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

    fn length(&mut self, value: Value) -> Outcome {
        if let Some(function) = self.own_method(value, nm::LEN) {
            return Err(self.call_expecting(function, &[value], super::Expect::Len));
        }
        let length = match value {
            Value::Obj(object) => match self.heap.payload(object).core() {
                Payload::Dict(dict) | Payload::Set(dict) => Some(dict.len()),
                Payload::DictView { dict: Value::Obj(dict), .. } => Some(self.heap.dict_len(*dict)),
                Payload::MappingProxy(_) => Some(self.heap.sequence_length(object)),
                Payload::MemoryView(_) => {
                    crate::objects::views::check(self, value)?;
                    Some(self.heap.sequence_length(object))
                }
                Payload::Range(range) => return Ok(Value::Int(i64::try_from(range.len()).unwrap_or(i64::MAX))),
                Payload::List(_) | Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::ByteArray(..) => {
                    Some(self.heap.sequence_word(object).1)
                }
                _ => None,
            },
            _ => None,
        };
        match length {
            Some(length) => Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX))),
            None => {
                let message = format!("object of type '{}' has no len()", self.heap.class_name(value));
                Err(self.type_error(message))
            }
        }
    }
}

impl Vm {
    /// The method that a class written in Python has for a subscript operation.
    fn own_method(&mut self, object: Value, name: Ref) -> Option<Value> {
        if !self.heap.is_python_instance(object) && !self.heap.slot_class_is_type(object) {
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

    fn not_subscriptable(&mut self, object: Value) -> Throw {
        let message = match object {
            Value::Obj(receiver) => match self.heap.payload(receiver) {
                Payload::Class(_) => format!("type '{}' is not subscriptable", self.heap.name_of_class(receiver)),
                _ => format!("'{}' object is not subscriptable", self.heap.class_name(object)),
            },
            _ => format!("'{}' object is not subscriptable", self.heap.class_name(object)),
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
        let arguments = if self.heap.is_instance(key, ty::TUPLE) {
            self.heap.retain(key)
        } else {
            self.heap.retain(key);
            self.heap.tuple(vec![key])
        };
        let origin = Value::Obj(class);
        self.heap.retain(origin);
        Ok(self.heap.make(ty::GENERIC_ALIAS, Payload::GenericAlias { origin, arguments, starred: false }))
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
        let (word, length) = self.heap.sequence_word(receiver);
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
            let message = format!(
                "{kind}, not {}",
                if word == "string" { format!("'{}'", self.heap.class_name(key)) } else { self.heap.class_name(key) }
            );
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

    /// The character of a text at a position, as text of its own.
    pub(super) fn character(&mut self, receiver: Ref, position: usize) -> Option<Value> {
        let at = self.byte_of_character(receiver, position);
        let character = self.heap.text(Value::Obj(receiver))?.get(at..)?.chars().next()?;
        Some(self.heap.str(character.encode_utf8(&mut [0; 4])))
    }

    /// TypeError for the key of an item of a list that is to be set or deleted; `Fallback` where its `__index__` has to be asked first.
    fn no_list_index(&mut self, key: Value) -> Throw {
        if self.python_method(key, nm::INDEX).is_some() {
            return Throw::Fallback;
        }
        let message = format!("list indices must be integers or slices, not {}", self.heap.class_name(key));
        self.type_error(message)
    }

    /// `object[key] = value`; all borrowed.
    pub(crate) fn set_item(&mut self, object: Value, key: Value, value: Value) -> Outcome<()> {
        if let Some(function) = self.own_method(object, nm::SETITEM) {
            return Err(self.call_special(function, &[object, key, value], OnReturn::Discard));
        }
        match self.set_item_native(object, key, value) {
            Err(Throw::Fallback) => {
                let name = if self.heap.is_instance(object, ty::DICT) { "dict_setitem" } else { "setitem_slow" };
                self.call_helper(name, &[object, key, value]).map(|_| ())
            }
            outcome => outcome,
        }
    }

    /// `del object[key]`
    pub(crate) fn delete_item(&mut self, object: Value, key: Value) -> Outcome<()> {
        if let Some(function) = self.own_method(object, nm::DELITEM) {
            return Err(self.call_special(function, &[object, key], OnReturn::Discard));
        }
        match self.delete_item_native(object, key) {
            Err(Throw::Fallback) => {
                let name = if self.heap.is_instance(object, ty::DICT) { "dict_delitem" } else { "delitem_slow" };
                self.call_helper(name, &[object, key]).map(|_| ())
            }
            outcome => outcome,
        }
    }
}
