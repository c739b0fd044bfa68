//! Dicts and sets: the operations that everything else uses.

use super::Vm;
use crate::costs::{ENTRY_AS_KEYWORD, ENTRY_COPIED, KEY_FAR, KEYWORD_NAME};
use crate::error::{Outcome, Throw, Trap};
use crate::frame::OnReturn;
use crate::payload::Payload;
use crate::payload::dict::NEAR;
use crate::runtime::protocol::{Compare, Hashing};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// The position of a key whose hash is known.
    pub(crate) fn dict_find(&mut self, object: Ref, key: Value, hash: i64) -> Outcome<Option<usize>> {
        let Some(table) = self.heap.table(object) else { return Err(Throw::Trap(Trap::Internal)) };
        if let Some(found) = self.heap.find_certain(table, &key, crate::heap::order::SHORT_TEXT) {
            return Ok(found);
        }
        if let Value::Obj(key) = key {
            if let Some(found) = self.heap.find_numbers(table, key, hash) {
                return Ok(found);
            }
        }
        let mut probe = table.probe(hash);
        loop {
            let Some(table) = self.heap.table(object) else { return Err(Throw::Trap(Trap::Internal)) };
            let (before, found) = (probe.steps, table.next(&mut probe, hash));
            // Many keys of one hash, or of near ones, take as long as they are far from where they should be.
            let known = found.map(|position| table.entries[position].key);
            if probe.steps > NEAR {
                self.spend(KEY_FAR.of((probe.steps - before) as usize))?;
            }
            let (Some(position), Some(known)) = (found, known) else { return Ok(None) };
            if known.is(key) || self.equal_native(known, key)? {
                return Ok(Some(position));
            }
        }
    }

    /// Sets a key; takes both references over, unless it fails.
    pub(crate) fn dict_insert(&mut self, object: Ref, key: Value, value: Value) -> Outcome<()> {
        let hash = self.hash_native(key)?;
        let found = self.dict_find(object, key, hash)?;
        self.dict_put(object, key, value, hash, found)
    }

    /// Sets a key that was looked up; takes both references over, unless it fails.
    pub(crate) fn dict_put(&mut self, object: Ref, key: Value, value: Value, hash: i64, found: Option<usize>) -> Outcome<()> {
        // Most keys and values are numbers and texts, which the barrier does not watch.
        if self.heap.is_container(value) {
            self.store_barrier(object, value)?;
        }
        if found.is_none() && self.heap.is_container(key) {
            self.store_barrier(object, key)?;
        }
        self.heap.replace_or_add(object, key, value, hash, found);
        Ok(())
    }

    /// The same with a key and a value that are borrowed.
    pub(crate) fn dict_store(&mut self, object: Ref, key: Value, value: Value, hash: i64, found: Option<usize>) -> Outcome<()> {
        self.heap.retain(key);
        self.heap.retain(value);
        self.dict_put(object, key, value, hash, found).inspect_err(|_| {
            self.heap.release(key);
            self.heap.release(value);
        })
    }

    /// Sets a text key in a fresh dict; takes both references over.
    pub(crate) fn dict_insert_text(&mut self, object: Ref, key: Value, value: Value) {
        let hash = self.hash_native(key).unwrap_or(0);
        let found = self.heap.table(object).and_then(|table| self.heap.find_simple(table, key));
        self.heap.replace_or_add(object, key, value, hash, found);
    }

    /// Sets an identifier; takes the value's reference over. No barrier: for namespaces.
    pub(crate) fn dict_set_name(&mut self, object: Ref, name: Ref, value: Value) {
        self.heap.retain(Value::Obj(name));
        self.dict_insert_text(object, Value::Obj(name), value);
    }

    /// Removes the entry at a position.
    pub(crate) fn dict_remove_at(&mut self, object: Ref, position: usize) {
        let removed = self.heap.table_mut(object).map(|table| table.remove(position));
        if let Some((entry, steps)) = removed {
            // What was looked up was paid for up to where it is; `popitem` looks for nothing.
            if steps > NEAR {
                self.owe(KEY_FAR.of(steps as usize));
            }
            self.heap.release(entry.key);
            self.heap.release(entry.value);
        }
    }

    /// A set or dict of values in registers, which are consumed.
    pub(crate) fn build_table(&mut self, dict: bool, first: usize, count: usize) -> Outcome {
        let object = if dict { self.heap.new_dict() } else { self.heap.new_set(ty::SET) };
        let table = Value::Obj(object);
        self.spend(ENTRY_COPIED.of(count))?;
        let width = if dict { 2 } else { 1 };
        for index in 0..count {
            let at = first + index * width;
            let key = std::mem::replace(&mut self.registers[at], Value::Undefined);
            let value = if dict { std::mem::replace(&mut self.registers[at + 1], Value::Undefined) } else { Value::None };
            if self.heap.add_quickly(object, &key, &value) {
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

    /// `{**source}` and keyword arguments after `**`; a helper takes over what needs Python code, and its result is dropped.
    pub(crate) fn dict_merge(&mut self, dict: Value, source: Value, keywords: bool, callee: Value) -> Outcome {
        match self.dict_merge_native(dict, source, keywords, callee) {
            Err(Throw::Fallback) => self.call_helper(if keywords { "keyword_merge" } else { "dict_update" }, &[dict, source]),
            outcome => outcome,
        }
    }

    /// The same; `Fallback` where it needs Python code.
    pub(crate) fn dict_merge_native(&mut self, dict: Value, source: Value, keywords: bool, callee: Value) -> Outcome {
        let is_dict = source.object().is_some_and(|object| matches!(self.heap.payload(object).core(), Payload::Dict(_)));
        if !is_dict {
            if self.special(source, nm::KEYS).is_none() {
                let message = if keywords {
                    format!("{} argument after ** must be a mapping, not {}", self.callee_name(callee), self.heap.class_name(source))
                } else {
                    format!("'{}' object is not a mapping", self.heap.class_name(source))
                };
                return Err(self.type_error(message));
            }
            return Err(Throw::Fallback);
        }
        if self.python_method(source, nm::ITER).is_some() {
            return Err(Throw::Fallback);
        }
        let Value::Obj(target) = dict else { return Err(Throw::Trap(Trap::Internal)) };
        let count = source.object().map_or(0, |source| self.heap.dict_len(source));
        self.spend(if keywords { ENTRY_AS_KEYWORD } else { ENTRY_COPIED }.of(count))?;
        let pairs = self.heap.dict_pairs(source);
        // Nothing may have been added where the helper begins: it would find the names given twice.
        if keywords && pairs.iter().any(|&(key, _)| self.heap.is_python_instance(key)) {
            return Err(Throw::Fallback);
        }
        for (key, value) in pairs {
            if keywords {
                if self.heap.text(key).is_none() {
                    return Err(self.type_error("keywords must be strings"));
                }
                let length = self.heap.text(key).map_or(0, str::len);
                self.spend(KEYWORD_NAME.of(length))?;
                if self.heap.table(target).and_then(|table| self.heap.find_simple(table, key)).is_some() {
                    let message = format!(
                        "{} got multiple values for keyword argument '{}'",
                        self.callee_name(callee),
                        self.heap.text(key).unwrap_or_default()
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
                let (name, module) = (row.qualname, self.heap.dict_get_name(row.globals, nm::NAME));
                let module = self.shown_text(module.unwrap_or(Value::None));
                format!("{module}.{}()", self.shown_text(name))
            }
            Payload::Native(row) => format!("{}()", self.native(*row).name),
            Payload::Class(_) => format!("{}()", self.qualified_name(object)),
            _ => format!("{} object", self.heap.class_name(callee)),
        }
    }
}
