//! Dicts and sets, as far as their keys are known.

use super::Heap;
use crate::payload::Payload;
use crate::payload::dict::Dict;
use crate::types::ty;
use crate::value::{Ref, Value};
use crate::window::afresh;

impl Heap {
    /// A new, empty dict.
    pub(crate) fn new_dict(&mut self) -> Ref {
        let table = self.spares.table();
        self.alloc_sized(ty::DICT, Payload::Dict(table), crate::payload::dict::EMPTY_DICT)
    }

    /// A new, empty set or frozenset.
    pub(crate) fn new_set(&mut self, class: Ref) -> Ref {
        let table = self.spares.table();
        self.alloc_sized(class, Payload::Set(table), crate::payload::dict::EMPTY_SET)
    }

    /// The table of a dict or set.
    pub(crate) fn table(&self, object: Ref) -> Option<&Dict> {
        match self.payload(object).core() {
            Payload::Dict(dict) | Payload::Set(dict) => Some(dict),
            _ => None,
        }
    }

    /// The table of a dict or set, to be changed.
    pub(crate) fn table_mut(&mut self, object: Ref) -> Option<&mut Dict> {
        let epoch = self.globals_epoch.wrapping_add(1).max(1);
        if matches!(self.payload(object), Payload::Dict(dict) if dict.module) {
            self.globals_epoch = epoch;
        }
        match self.payload_mut(object).core_mut() {
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

    /// Adds a key that a table does not have, where its hash is known and neither it nor the value is watched by the barrier. Takes both
    /// references over when it does.
    #[inline(always)]
    pub(crate) fn add_quickly(&mut self, object: Ref, key: &Value, value: &Value) -> bool {
        let Some(hash) = self.known_hash(key) else { return false };
        let Some(table) = self.table(object) else { return false };
        if self.is_container(*value) || !matches!(self.find_known(table, key), Some(None)) {
            return false;
        }
        self.dict_add(object, afresh(key), afresh(value), hash);
        true
    }

    /// Sets the value at a position, or adds the key where it has none; takes both references over.
    pub(crate) fn replace_or_add(&mut self, object: Ref, key: Value, value: Value, hash: i64, found: Option<usize>) {
        match found {
            Some(position) => {
                let old = self.table_mut(object).map(|table| std::mem::replace(&mut table.entries[position].value, value));
                self.release(key);
                if let Some(old) = old {
                    self.release(old);
                }
            }
            None => self.dict_add(object, key, value, hash),
        }
    }

    pub(crate) fn dict_add(&mut self, object: Ref, key: Value, value: Value, hash: i64) {
        let epoch = self.globals_epoch.wrapping_add(1).max(1);
        let (before, after, module) = match self.payload_mut(object).core_mut() {
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
            self.globals_epoch = epoch;
        }
        if before != after {
            self.resize_memory(before, after);
        }
    }

    /// The position of an identifier.
    #[inline]
    pub(crate) fn dict_position_of_name(&self, object: Ref, name: Ref) -> Option<usize> {
        self.table(object).and_then(|table| self.find_simple(table, Value::Obj(name)))
    }

    /// The value of an identifier, not retained.
    pub(crate) fn dict_get_name(&self, object: Ref, name: Ref) -> Option<Value> {
        let table = self.table(object)?;
        self.find_simple(table, Value::Obj(name)).map(|position| table.entries[position].value)
    }

    /// Replaces the value at a position of a module's dict; takes the reference over.
    #[inline]
    pub(crate) fn replace_global(&mut self, object: Ref, position: usize, value: Value) {
        let Some(entry) = self.table_mut(object).and_then(|table| table.entries.get_mut(position)) else { return };
        let old = entry.value.object();
        entry.value = afresh(&value);
        if let Some(old) = old {
            self.release_object(old);
        }
    }
}
