//! Attributes: setting and deleting them, through descriptors, with inline caches.

use super::{Cache, CacheKind, OnReturn, Vm};
use crate::costs::{CLASS_CHANGED, ITEMS_PASSED};
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::runtime::protocol::SetAttributes;
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::{Ref, Value};

/// Attributes of functions that nothing replaces.
const FIXED_OF_FUNCTIONS: &[&str] = &["__code__", "__closure__", "__globals__", "__builtins__"];

impl SetAttributes for Vm {
    fn set_attribute_plain(&mut self, object: Value, name: Ref, value: Value) -> Outcome<()> {
        let class = self.heap.class_of(object);
        if let Some(found) = self.lookup(class, name) {
            if let Value::Obj(attribute) = found {
                if let Some(set) = self.own_of_builtin(attribute, nm::SET) {
                    return Err(self.call_special(set, &[found, object, value], OnReturn::Discard));
                }
                match self.heap.payload(attribute).core() {
                    Payload::Property(parts) => {
                        let setter = parts[1];
                        if setter.is_none() {
                            return Err(self.property_lacks("setter", object, name));
                        }
                        return Err(self.call_later(setter, &[object, value], OnReturn::Discard));
                    }
                    Payload::Instance(_) | Payload::Extended(_) => {
                        let descriptor = self.heap.slot(attribute).class;
                        if let Some(set) = self.lookup(descriptor, nm::SET) {
                            return Err(self.call_special(set, &[found, object, value], OnReturn::Discard));
                        }
                        self.refuse_half(descriptor, nm::DELETE, "__set__")?;
                    }
                    Payload::Member { read_only: true, .. } => return Err(self.read_only()),
                    Payload::Member { name, .. } => {
                        let name = *name;
                        return self.set_instance_attribute(object, name, value);
                    }
                    _ => {}
                }
            }
        }
        let Value::Obj(receiver) = object else {
            if name == nm::CLASS {
                self.class_to_be(value)?;
                return Err(self.type_error("__class__ assignment only supported for mutable types or ModuleType subclasses"));
            }
            return Err(self.cannot_set(object, name));
        };
        if name.0 < FIXED_COUNT && self.set_builtin_attribute(object, name, value)? {
            return Ok(());
        }
        match self.heap.payload(receiver) {
            Payload::Class(row) => {
                if !row.heap {
                    let message = format!("cannot set '{}' attribute of immutable type '{}'", self.heap.name_text(name), row.name);
                    return Err(self.type_error(message));
                }
                self.heap.retain(value);
                self.set_class_attribute(receiver, name, value);
                Ok(())
            }
            Payload::Module { dict, .. } => {
                let dict = *dict;
                self.heap.retain(value);
                self.dict_set_name(dict, name, value);
                Ok(())
            }
            Payload::Function(_) if FIXED_OF_FUNCTIONS.contains(&self.heap.name_text(name)) => Err(self.fixed_of_function(name)),
            payload if payload.attributes().is_some() => {
                let has_dict = matches!(self.heap.payload(class), Payload::Class(row) if row.has_dict);
                // A field of the builtin type below, which nothing covers, is written by nobody.
                if !has_dict || (self.field_owner(class, name).is_some() && self.lookup(class, name).is_none()) {
                    return Err(self.cannot_set(object, name));
                }
                self.set_instance_attribute(object, name, value)
            }
            _ => Err(self.cannot_set(object, name)),
        }
    }

    fn delete_attribute_plain(&mut self, object: Value, name: Ref) -> Outcome<()> {
        let class = self.heap.class_of(object);
        let name = self.deleted_by_class(object, class, name)?;
        if name == nm::CLASS {
            return Err(self.type_error("can't delete __class__ attribute"));
        }
        let Value::Obj(receiver) = object else { return Err(self.cannot_set(object, name)) };
        match (self.heap.payload(receiver).core(), name) {
            (payload @ (Payload::Generator(_) | Payload::Function(_)), nm::NAME | nm::QUALNAME)
                if matches!(payload, Payload::Function(_)) || self.is_named(receiver) =>
            {
                let message = format!("{} must be set to a string object", self.heap.name_text(name));
                return Err(self.type_error(message));
            }
            (Payload::Function(_), _) if FIXED_OF_FUNCTIONS.contains(&self.heap.name_text(name)) => {
                return Err(self.fixed_of_function(name));
            }
            (Payload::Class(_), nm::MRO | nm::BASE) => return Err(self.read_only()),
            (Payload::Function(_), nm::DEFAULTS | nm::KWDEFAULTS | nm::ANNOTATIONS) => {
                return self.set_function_attribute(receiver, name, Value::None);
            }
            (Payload::Class(row), nm::NAME | nm::QUALNAME | nm::BASES | nm::MODULE | nm::DOC) => {
                // CPython's words, whatever the class.
                let message = format!("cannot delete '{}' attribute of immutable type '{}'", self.heap.name_text(name), row.name);
                return Err(self.type_error(message));
            }
            (Payload::Class(row), nm::DICT) if row.heap => {
                return Err(self.raise(ty::ATTRIBUTE_ERROR, "attribute '__dict__' of 'type' objects is not writable"));
            }
            (Payload::Exception(_), nm::ARGS | nm::CAUSE | nm::CONTEXT | nm::TRACEBACK) => {
                let message = format!("{} may not be deleted", self.heap.name_text(name));
                return Err(self.type_error(message));
            }
            (Payload::Class(row), _) if !row.heap => {
                let message = format!("cannot set '{}' attribute of immutable type '{}'", self.heap.name_text(name), row.name);
                return Err(self.type_error(message));
            }
            _ => {}
        }
        match self.heap.payload(receiver) {
            Payload::Class(row) if row.heap => {
                self.owe(CLASS_CHANGED.once() + ITEMS_PASSED.of(row.attributes.len()));
                self.delete_class_attribute(receiver, name)
            }
            Payload::Module { dict, .. } => {
                let dict = *dict;
                match self.heap.dict_position_of_name(dict, name) {
                    Some(position) => {
                        self.dict_remove_at(dict, position);
                        Ok(())
                    }
                    None => Err(self.no_attribute(object, name)),
                }
            }
            payload if payload.attributes().is_some() => {
                if self.heap.instance_attribute(object, name).is_none() {
                    return Err(self.cannot_delete(object, class, name));
                }
                let dict = self.attributes_dict(receiver);
                if let Some(position) = self.heap.dict_position_of_name(dict, name) {
                    self.dict_remove_at(dict, position);
                }
                Ok(())
            }
            _ => Err(self.cannot_set(object, name)),
        }
    }
}

impl Vm {
    /// What the class has under the name of an attribute that is deleted does so, or refuses; otherwise the name under which the object
    /// itself holds the value, which in a slot is the slot's own.
    fn deleted_by_class(&mut self, object: Value, class: Ref, name: Ref) -> Outcome<Ref> {
        let Some(found @ Value::Obj(attribute)) = self.lookup(class, name) else { return Ok(name) };
        if let Some(delete) = self.own_of_builtin(attribute, nm::DELETE) {
            return Err(self.call_special(delete, &[found, object], OnReturn::Discard));
        }
        match self.heap.payload(attribute).core() {
            Payload::Property(parts) => {
                let deleter = parts[2];
                if deleter.is_none() {
                    return Err(self.property_lacks("deleter", object, name));
                }
                Err(self.call_later(deleter, &[object], OnReturn::Discard))
            }
            Payload::Member { read_only: true, .. } => Err(self.read_only()),
            Payload::Member { name: slot, .. } => {
                let slot = *slot;
                if self.heap.instance_attribute(object, slot).is_none() {
                    let message = self.heap.name_text(slot).to_owned();
                    return Err(self.raise(ty::ATTRIBUTE_ERROR, &message));
                }
                Ok(slot)
            }
            Payload::Instance(_) | Payload::Extended(_) => {
                let descriptor = self.heap.slot(attribute).class;
                if let Some(delete) = self.lookup(descriptor, nm::DELETE) {
                    return Err(self.call_special(delete, &[found, object], OnReturn::Discard));
                }
                self.refuse_half(descriptor, nm::SET, "__delete__")?;
                Ok(name)
            }
            _ => Ok(name),
        }
    }

    /// AttributeError for a property without the function that is asked for.
    fn property_lacks(&mut self, function: &str, object: Value, name: Ref) -> Throw {
        let message = format!("property '{}' of '{}' object has no {function}", self.heap.name_text(name), self.heap.class_name(object));
        self.raise(ty::ATTRIBUTE_ERROR, &message)
    }

    /// Deletes an attribute of a class that a program made.
    fn delete_class_attribute(&mut self, class: Ref, name: Ref) -> Outcome<()> {
        self.heap.type_epoch += 1;
        let old = match self.heap.payload_mut(class) {
            Payload::Class(row) => row.attributes.shift_remove(&name),
            _ => None,
        };
        match old {
            Some(old) => {
                self.heap.release(old);
                Ok(())
            }
            None => Err(self.no_attribute(Value::Obj(class), name)),
        }
    }

    /// `object.name = value` with an inline cache to fill. The value is borrowed.
    pub(crate) fn store_attribute_cached(&mut self, object: Value, name: Ref, value: Value, site: usize) -> Outcome<()> {
        let is_near = self.is_near(object);
        let before = match object {
            Value::Obj(receiver) if is_near => match self.heap.payload(receiver) {
                Payload::Instance(attributes) if attributes.dict.is_none() => Some(attributes.shape),
                _ => None,
            },
            _ => None,
        };
        self.set_attribute(object, name, value)?;
        if let (Value::Obj(receiver), Some(before)) = (object, before) {
            if let Payload::Instance(attributes) = self.heap.payload(receiver) {
                if attributes.dict.is_none() {
                    let (class, epoch, after) = (self.heap.slot(receiver).class, self.heap.type_epoch, attributes.shape);
                    let found = self.lookup(class, name);
                    let plain = found.is_none_or(|found| !self.is_data_descriptor(found)) && self.overridden(class, nm::SETATTR).is_none();
                    // Where the name is not in the shape, it went somewhere else.
                    let position = self.heap.shape_position(after, name).filter(|_| plain);
                    if let Some(position) = position {
                        let (kind, index) =
                            if before == after { (CacheKind::Field, position as u32) } else { (CacheKind::Transition, after) };
                        self.remember(site, Cache { kind, class, epoch, shape: before, index, value: Value::Undefined });
                    }
                }
            }
        }
        Ok(())
    }

    /// AttributeError where a descriptor without one of `__set__` and `__delete__` has the other one.
    fn refuse_half(&mut self, descriptor: Ref, other: Ref, missing: &str) -> Outcome<()> {
        if self.lookup(descriptor, other).is_some() { Err(self.raise(ty::ATTRIBUTE_ERROR, missing)) } else { Ok(()) }
    }

    pub(super) fn fixed_of_function(&mut self, name: Ref) -> Throw {
        if self.heap.name_text(name) == "__code__" {
            return self.type_error("__code__ must be set to a code object");
        }
        self.read_only()
    }

    /// AttributeError for what a builtin object has and nobody sets.
    pub(super) fn read_only(&mut self) -> Throw {
        self.raise(ty::ATTRIBUTE_ERROR, "readonly attribute")
    }

    /// AttributeError for an attribute of an object that is neither set nor deleted: the class has it, or nobody does.
    pub(super) fn cannot_set(&mut self, object: Value, name: Ref) -> Throw {
        let class = self.heap.class_of(object);
        // Every class has a `__doc__`, those of builtin types here too.
        if name == nm::DOC || self.lookup(class, name).is_some() {
            let message = format!("'{}' object attribute '{}' is read-only", self.heap.class_name(object), self.heap.name_text(name));
            return self.raise(ty::ATTRIBUTE_ERROR, &message);
        }
        match self.field_owner(class, name) {
            Some(owner @ (ty::INT | ty::FLOAT)) => {
                let (name, owner) = (self.heap.name_text(name), self.heap.name_of_class(owner));
                let message = format!("attribute '{name}' of '{owner}' objects is not writable");
                self.raise(ty::ATTRIBUTE_ERROR, &message)
            }
            Some(_) => self.read_only(),
            None => self.no_attribute(object, name),
        }
    }

    /// Sets an attribute of a class; takes the reference over. Caches about classes become void.
    pub(crate) fn set_class_attribute(&mut self, class: Ref, name: Ref, value: Value) {
        self.owe(CLASS_CHANGED.once());
        self.heap.type_epoch += 1;
        self.heap.retain(Value::Obj(name));
        let mut old = None;
        if let Payload::Class(row) = self.heap.payload_mut(class) {
            old = row.attributes.insert(name, value);
        }
        if let Some(old) = old {
            self.heap.release(old);
        } else {
            self.heap.use_memory(16);
        }
    }

    /// Sets an attribute of the instance itself, with the cycle barrier. The value is borrowed.
    pub(crate) fn set_instance_attribute(&mut self, object: Value, name: Ref, value: Value) -> Outcome<()> {
        let Value::Obj(receiver) = object else { return Err(Throw::Trap(Trap::Internal)) };
        let holder = self.heap.attributes(receiver).and_then(|attributes| attributes.dict.get()).unwrap_or(receiver);
        self.store_barrier(holder, value)?;
        self.put_attribute(object, name, value);
        Ok(())
    }

    /// `del object.name`
    pub(crate) fn delete_attribute(&mut self, object: Value, name: Ref) -> Outcome<()> {
        let class = self.heap.class_of(object);
        if let Some(function) = self.overridden(class, nm::DELATTR) {
            return Err(self.call_special(function, &[object, Value::Obj(name)], OnReturn::Discard));
        }
        self.delete_attribute_plain(object, name)
    }

    pub(super) fn cannot_delete(&mut self, object: Value, class: Ref, name: Ref) -> Throw {
        match self.heap.payload(class) {
            Payload::Class(row) if row.has_dict && self.field_owner(class, name).is_none() => self.no_attribute(object, name),
            _ => self.cannot_set(object, name),
        }
    }
}
