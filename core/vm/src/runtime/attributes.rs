//! Attributes: what instances hold, and how functions are bound.

use super::Vm;
use crate::costs::{ANCESTOR_PASSED, ATTRIBUTE_HELD, ATTRIBUTE_NAME};
use crate::error::{Outcome, Throw};
use crate::frame::OnReturn;
use crate::payload::{Attributes, Payload};
use crate::runtime::protocol::SetAttributes;
use crate::types::{nm, ty};
use crate::value::{Link, Ref, Value};

/// Ancestors up to which looking an attribute up has the price of its instruction.
pub(crate) const NEAR: usize = 10;

impl Vm {
    /// A name from a text value: interned.
    pub(crate) fn attribute_name(&mut self, value: Value) -> Outcome<Ref> {
        let length = self.heap.text(value).map_or(0, str::len);
        self.spend(ATTRIBUTE_NAME.of(length))?;
        match value.object().and_then(|object| self.heap.intern_object(object)) {
            Some(name) => Ok(name),
            None => {
                let message = format!("attribute name must be string, not '{}'", self.heap.class_name(value));
                Err(self.type_error(message))
            }
        }
    }

    /// A special method that an instance of a class below a builtin one, such as property or classmethod, has from a class of the
    /// program. It comes before what the builtin class does.
    pub(crate) fn own_of_builtin(&mut self, attribute: Ref, name: Ref) -> Option<Value> {
        match self.heap.payload(attribute) {
            Payload::Extended(_) => self.python_method(Value::Obj(attribute), name),
            _ => None,
        }
    }

    /// What a class attribute gives for an instance.
    pub(crate) fn bind_attribute(&mut self, found: Value, object: Value, class: Ref, name: Ref) -> Outcome {
        let Value::Obj(attribute) = found else { return Ok(found) };
        if let Some(get) = self.own_of_builtin(attribute, nm::GET) {
            return Err(self.call_special(get, &[found, object, Value::Obj(class)], OnReturn::Store));
        }
        match self.heap.payload(attribute).core() {
            Payload::Function(_) => {
                self.heap.retain(found);
                self.heap.retain(object);
                Ok(self.heap.bound_method(found, object))
            }
            Payload::Native(row) => {
                let kind = self.native(*row).kind;
                match kind {
                    crate::runtime::native::NativeKind::Method => {
                        self.heap.retain(object);
                        self.heap.retain(found);
                        Ok(self.heap.bound_method(found, object))
                    }
                    crate::runtime::native::NativeKind::ClassMethod => {
                        self.heap.retain(found);
                        self.heap.retain(Value::Obj(class));
                        let receiver = Value::Obj(class);
                        Ok(self.heap.bound_method(found, receiver))
                    }
                    _ => Ok(self.heap.retain(found)),
                }
            }
            Payload::StaticMethod(inner) => {
                let inner = *inner;
                Ok(self.heap.retain(inner))
            }
            Payload::ClassMethod(inner) => {
                let inner = *inner;
                self.bind_class_method(inner, class)
            }
            Payload::Property(parts) => {
                let getter = parts[0];
                if getter.is_none() {
                    let message =
                        format!("property '{}' of '{}' object has no getter", self.heap.name_text(name), self.heap.class_name(object));
                    return Err(self.raise(ty::ATTRIBUTE_ERROR, &message));
                }
                Err(self.call_later(getter, &[object], OnReturn::Store))
            }
            Payload::Member { name, .. } => {
                let name = *name;
                match self.heap.instance_attribute(object, name) {
                    Some(value) => Ok(self.heap.retain(value)),
                    None => Err(self.no_attribute(object, name)),
                }
            }
            Payload::Super { class: start, receiver, .. } if receiver.is_none() => {
                let start = Value::Obj(*start);
                self.make_super(start, object)
            }
            Payload::Instance(_) | Payload::Extended(_) => {
                let descriptor = self.heap.slot(attribute).class;
                match self.lookup(descriptor, nm::GET) {
                    Some(get) => {
                        let owner = Value::Obj(class);
                        Err(self.call_special(get, &[found, object, owner], OnReturn::Store))
                    }
                    None => Ok(self.heap.retain(found)),
                }
            }
            _ => Ok(self.heap.retain(found)),
        }
    }

    /// AttributeError.
    #[cold]
    pub(crate) fn no_attribute(&mut self, object: Value, name: Ref) -> Throw {
        let text = self.shown_text(Value::Obj(name));
        let message = match object {
            Value::Obj(receiver) => match self.heap.payload(receiver) {
                Payload::Class(_) => format!("type object '{}' has no attribute '{text}'", self.heap.name_of_class(receiver)),
                Payload::Module { name: module, .. } => {
                    format!("module '{}' has no attribute '{text}'", self.heap.text(*module).unwrap_or("?"))
                }
                _ => format!("'{}' object has no attribute '{text}'", self.heap.class_name(object)),
            },
            _ => format!("'{}' object has no attribute '{text}'", self.heap.class_name(object)),
        };
        let throw = self.raise(ty::ATTRIBUTE_ERROR, &message);
        if let Throw::Raise(exception) = throw {
            self.put_attribute(exception, nm::NAME_ATTR, Value::Obj(name));
        }
        throw
    }

    /// A class method bound to a class.
    pub(crate) fn bind_class_method(&mut self, mut inner: Value, class: Ref) -> Outcome {
        let receiver = Value::Obj(class);
        // What a class method holds is bound as its own class says, with the class as the instance.
        while let Value::Obj(object) = inner {
            if let Some(get) = self.own_of_builtin(object, nm::GET) {
                return Err(self.call_special(get, &[inner, receiver, receiver], OnReturn::Store));
            }
            match self.heap.payload(object).core() {
                Payload::ClassMethod(held) => {
                    inner = *held;
                    self.spend(ATTRIBUTE_HELD.once())?;
                }
                Payload::StaticMethod(held) => {
                    let held = *held;
                    return Ok(self.heap.retain(held));
                }
                Payload::Property(parts) => {
                    let getter = parts[0];
                    return Err(self.call_later(getter, &[receiver], OnReturn::Store));
                }
                Payload::Instance(_) | Payload::Extended(_) => match self.lookup(self.heap.slot(object).class, nm::GET) {
                    Some(get) => return Err(self.call_special(get, &[inner, receiver, receiver], OnReturn::Store)),
                    None => break,
                },
                _ => break,
            }
        }
        self.heap.retain(inner);
        self.heap.retain(receiver);
        Ok(self.heap.bound_method(inner, receiver))
    }

    /// What an attribute of a class gives when it is read from the class itself.
    pub(crate) fn bind_to_class(&mut self, found: Value, class: Ref) -> Outcome {
        let Value::Obj(attribute) = found else { return Ok(found) };
        if let Some(get) = self.own_of_builtin(attribute, nm::GET) {
            return Err(self.call_special(get, &[found, Value::None, Value::Obj(class)], OnReturn::Store));
        }
        match self.heap.payload(attribute).core() {
            Payload::StaticMethod(inner) => {
                let inner = *inner;
                Ok(self.heap.retain(inner))
            }
            Payload::ClassMethod(inner) => {
                let inner = *inner;
                self.bind_class_method(inner, class)
            }
            Payload::Native(row) if self.native(*row).kind == crate::runtime::native::NativeKind::ClassMethod => {
                self.bind_class_method(found, class)
            }
            Payload::Instance(_) | Payload::Extended(_) => {
                let descriptor = self.heap.slot(attribute).class;
                match self.lookup(descriptor, nm::GET) {
                    Some(get) => Err(self.call_special(get, &[found, Value::None, Value::Obj(class)], OnReturn::Store)),
                    None => Ok(self.heap.retain(found)),
                }
            }
            _ => Ok(self.heap.retain(found)),
        }
    }

    /// Whether the class has a `__getattribute__` or `__setattr__` of its own.
    pub(crate) fn overridden(&mut self, class: Ref, name: Ref) -> Option<Value> {
        if class.0 < crate::types::TYPE_COUNT {
            return None;
        }
        let found = self.lookup(class, name)?;
        match found {
            Value::Obj(function) if matches!(self.heap.payload(function), Payload::Native(_)) => None,
            _ => Some(found),
        }
    }

    /// Charges a look-up in a class that has many ancestors. Whether it has few: inline caches know nothing about others, so that every
    /// look-up is charged.
    pub(crate) fn is_near(&mut self, object: Value) -> bool {
        let class = match object {
            Value::Obj(object) if matches!(self.heap.payload(object), Payload::Class(_)) => object,
            object => self.heap.class_of(object),
        };
        let Payload::Class(row) = self.heap.payload(class) else { return true };
        let ancestors = row.mro.len();
        if ancestors <= NEAR {
            return true;
        }
        self.owe(ANCESTOR_PASSED.of(ancestors));
        false
    }

    /// The dict of an instance's attributes; from now on the instance keeps them there.
    pub(crate) fn attributes_dict(&mut self, receiver: Ref) -> Ref {
        let Some(row) = self.heap.payload_mut(receiver).attributes_mut() else { return self.heap.new_dict() };
        if let Some(dict) = row.dict.get() {
            return dict;
        }
        let Attributes { shape, values, .. } = std::mem::take(row);
        let names = self.heap.shape(shape).names.clone();
        self.heap.free_memory(8 * values.len());
        let dict = self.heap.new_dict();
        for (name, value) in names.into_iter().zip(values) {
            self.dict_set_name(dict, name, value);
        }
        // The dict is inside the instance: it gets a label below, and moves what it holds further down. A fresh dict is in no cycle, so
        // only cycles can run out here: the run ends before anything looks at the labels that are missing then.
        for (_, value) in self.heap.dict_pairs(Value::Obj(dict)) {
            let labelled = self.store_barrier(dict, value);
            debug_assert!(!matches!(labelled, Err(Throw::Raise(_))), "a fresh dict is in no cycle");
        }
        let linked = self.store_barrier(receiver, Value::Obj(dict));
        debug_assert!(!matches!(linked, Err(Throw::Raise(_))), "a fresh dict is in no cycle");
        if let Some(row) = self.heap.payload_mut(receiver).attributes_mut() {
            row.dict = Link::to(dict);
            row.shape = u32::MAX;
        }
        dict
    }

    /// Sets an attribute of the instance itself. The value is borrowed.
    pub(crate) fn put_attribute(&mut self, object: Value, name: Ref, value: Value) {
        let Value::Obj(receiver) = object else { return };
        let Some(attributes) = self.heap.attributes(receiver) else { return };
        if let Some(dict) = attributes.dict.get() {
            self.heap.retain(value);
            self.dict_set_name(dict, name, value);
            return;
        }
        let shape = attributes.shape;
        self.heap.retain(value);
        if let Some(position) = self.heap.shape_position(shape, name) {
            let old = self.heap.payload_mut(receiver).attributes_mut().map(|row| std::mem::replace(&mut row.values[position], value));
            if let Some(old) = old {
                self.heap.release(old);
            }
            return;
        }
        match self.heap.shape_with(shape, name) {
            Some(next) => {
                if let Some(row) = self.heap.payload_mut(receiver).attributes_mut() {
                    row.shape = next;
                    row.values.push(value);
                }
                self.heap.use_memory(8);
            }
            None => {
                let dict = self.attributes_dict(receiver);
                self.dict_set_name(dict, name, value);
            }
        }
    }

    /// `object.name = value`. The value is borrowed.
    pub(crate) fn set_attribute(&mut self, object: Value, name: Ref, value: Value) -> Outcome<()> {
        let class = self.heap.class_of(object);
        if let Some(function) = self.overridden(class, nm::SETATTR) {
            return Err(self.call_special(function, &[object, Value::Obj(name), value], OnReturn::Discard));
        }
        self.set_attribute_plain(object, name, value)
    }
}
