//! Classes: their names, and the attributes that they and their bases define.

use super::Vm;
use super::native::Role;
use crate::caches::{CONSTRUCTOR, FIRST_METHODS, METHOD_CACHE, MethodEntry, NO_METHOD};
use crate::costs::TEXT_COPIED;
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// The whole name of a class, as `repr` has it.
    pub(crate) fn full_name(&mut self, class: Ref) -> String {
        self.owe_name(self.heap.whole_name(class).len());
        self.heap.whole_name(class).to_owned()
    }

    /// Charges a name that is copied, as far as it is longer than names are. Programs may set any text as the name of a class or function.
    pub(crate) fn owe_name(&mut self, length: usize) {
        self.owe(TEXT_COPIED.of(length.saturating_sub(crate::payload::USUAL_NAME)));
    }

    /// The attribute that a class or its bases define. Not retained.
    #[inline]
    pub(crate) fn lookup(&mut self, class: Ref, name: Ref) -> Option<Value> {
        let epoch = self.heap.type_epoch;
        if let Some(entry) = self.methods.get(self.method_index(class, name)) {
            if entry.class == class && entry.name == name && entry.epoch == epoch {
                return if entry.value.is_undefined() { None } else { Some(entry.value) };
            }
        }
        self.lookup_anew(class, name)
    }

    /// Where the method cache has an attribute of a class.
    #[inline]
    pub(crate) fn method_index(&self, class: Ref, name: Ref) -> usize {
        (class.0.wrapping_mul(31) ^ name.0) as usize & self.methods.len().wrapping_sub(1)
    }

    #[inline(never)]
    pub(crate) fn lookup_anew(&mut self, class: Ref, name: Ref) -> Option<Value> {
        // Short runs, most of all handlers, ask for little: they begin with a small cache.
        self.missed += 1;
        if self.methods.is_empty() {
            self.methods = vec![NO_METHOD; FIRST_METHODS];
        } else if self.missed > 2 * FIRST_METHODS && self.methods.len() < METHOD_CACHE {
            self.methods = vec![NO_METHOD; METHOD_CACHE];
        }
        let found = self.heap.lookup_slow(class, name);
        let index = self.method_index(class, name);
        let value = found.unwrap_or(Value::Undefined);
        self.methods[index] = MethodEntry { class, name, epoch: self.heap.type_epoch, value };
        found
    }

    /// The `__init__` of a class, with its code and globals, where to call the class is to make an instance and run that.
    #[inline]
    pub(crate) fn constructor(&mut self, class: Ref) -> Option<(u32, Ref, Ref)> {
        let init = match self.methods.get(self.method_index(class, CONSTRUCTOR)) {
            Some(entry) if entry.class == class && entry.name == CONSTRUCTOR && entry.epoch == self.heap.type_epoch => {
                entry.value.object()?
            }
            _ => {
                let found = self.find_constructor(class);
                let value = found.map_or(Value::Undefined, Value::Obj);
                let index = self.method_index(class, CONSTRUCTOR);
                if let Some(entry) = self.methods.get_mut(index) {
                    *entry = MethodEntry { class, name: CONSTRUCTOR, epoch: self.heap.type_epoch, value };
                }
                found?
            }
        };
        match self.heap.payload(init) {
            Payload::Function(function) => Some((function.code, function.globals, init)),
            _ => None,
        }
    }

    #[inline(never)]
    pub(crate) fn find_constructor(&mut self, class: Ref) -> Option<Ref> {
        let usual =
            class.0 >= crate::types::FIXED_COUNT && self.heap.slot(class).class == ty::TYPE && !self.heap.is_subclass(class, ty::TYPE);
        if !usual || self.lookup(class, crate::types::nm::ABSTRACT_METHODS).is_some() {
            return None;
        }
        let new = self.lookup(class, crate::types::nm::NEW)?;
        let made = self.heap.native_row(new).is_some_and(|row| self.native(row).role == Role::ObjectNew);
        let init = self.lookup(class, crate::types::nm::INIT)?.object()?;
        (made && matches!(self.heap.payload(init), Payload::Function(_))).then_some(init)
    }

    /// The special method of a value's class, when it is not `None`.
    #[inline]
    pub(crate) fn special(&mut self, value: Value, name: Ref) -> Option<Value> {
        let class = self.heap.class_of(value);
        self.lookup(class, name)
    }

    /// The handle of a class argument.
    pub(crate) fn class_argument(&self, value: Value) -> Outcome<Ref> {
        value.object().ok_or(Throw::Trap(Trap::Internal))
    }

    /// The class and instance that `super` was made for, checked.
    pub(crate) fn make_super(&mut self, class: Value, receiver: Value) -> Outcome {
        let Some(class) = class.object().filter(|&class| matches!(self.heap.payload(class), Payload::Class(_))) else {
            let message = format!("super() argument 1 must be a type, not {}", self.heap.class_name(class));
            return Err(self.type_error(message));
        };
        if receiver.is_none() {
            self.heap.retain(Value::Obj(class));
            self.heap.retain(Value::Obj(class));
            return Ok(self.heap.make(ty::SUPER, Payload::Super { class, receiver, start: class }));
        }
        let own = self.heap.class_of(receiver);
        let start = match receiver {
            Value::Obj(object) if matches!(self.heap.payload(object), Payload::Class(_)) && self.heap.is_subclass(object, class) => object,
            _ if self.heap.is_subclass(own, class) => own,
            _ => return Err(self.type_error("super(type, obj): obj must be an instance or subtype of type")),
        };
        self.heap.retain(Value::Obj(class));
        self.heap.retain(receiver);
        self.heap.retain(Value::Obj(start));
        Ok(self.heap.make(ty::SUPER, Payload::Super { class, receiver, start }))
    }

    /// Module and name of a class.
    pub(crate) fn qualified_name(&mut self, class: Ref) -> String {
        let Payload::Class(row) = self.heap.payload(class) else { return "object".to_owned() };
        if !row.heap {
            return row.name.to_string();
        }
        let module = row.attributes.get(&nm::MODULE).and_then(|&module| self.heap.text(module));
        let name = match module {
            Some(module) => format!("{module}.{}", row.qualname),
            None => row.qualname.to_string(),
        };
        self.owe_name(name.len());
        name
    }
}
