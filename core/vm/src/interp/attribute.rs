//! Attributes: reading them, through descriptors, instances and classes, with inline caches.

use super::{Cache, CacheKind, OnReturn, Pending, Vm};
use crate::costs::{ATTRIBUTE_HELD, RAISE_PREPARED};
use crate::error::{Outcome, Throw, Trap};
use crate::limits::NATIVE_DEPTH;
use crate::payload::Payload;
use crate::runtime::protocol::GetAttributes;
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::{Ref, Value};

impl GetAttributes for Vm {
    fn get_attribute_plain(&mut self, object: Value, class: Ref, name: Ref) -> Outcome {
        if let Value::Obj(receiver) = object {
            match self.heap.payload(receiver).core() {
                Payload::Class(_) => return self.get_class_attribute(receiver, class, name),
                Payload::Module { dict, .. } => {
                    let dict = *dict;
                    return self.get_module_attribute(object, dict, name);
                }
                Payload::Super { start, receiver, class } => {
                    let (start, receiver, class) = (*start, *receiver, *class);
                    return self.get_super_attribute(object, class, receiver, start, name);
                }
                Payload::GenericAlias { origin, .. } => {
                    let origin = *origin;
                    let own = matches!(
                        name,
                        nm::ORIGIN | nm::ALIAS_ARGS | nm::PARAMETERS | nm::CLASS | nm::MRO_ENTRIES | nm::UNPACKED | nm::UNPACKED_ARGS
                    );
                    if !own && matches!(self.lookup(class, name), None | Some(Value::None)) {
                        return self.held_attribute(origin, name);
                    }
                }
                _ => {}
            }
        }
        let found = self.lookup(class, name);
        if let Some(found) = found {
            if self.is_data_descriptor(found) && !self.only_sets(found) {
                return self.bind_attribute(found, object, class, name);
            }
        }
        if name.0 < FIXED_COUNT {
            if let Some(value) = self.builtin_attribute(object, name)? {
                return Ok(value);
            }
        }
        if let Some(value) = self.heap.instance_attribute(object, name) {
            return Ok(self.heap.retain(value));
        }
        match found {
            Some(found) => self.bind_attribute(found, object, class, name),
            None => match object.object().map(|receiver| self.heap.payload(receiver)) {
                Some(Payload::BoundMethod { function, .. }) => {
                    let function = *function;
                    self.held_attribute(function, name)
                }
                _ => Err(self.no_attribute(object, name)),
            },
        }
    }
}

impl Vm {
    /// Whether a class attribute goes before the instance's.
    pub(crate) fn is_data_descriptor(&mut self, value: Value) -> bool {
        let Value::Obj(object) = value else { return false };
        match self.heap.payload(object).core() {
            Payload::Property(_) => true,
            Payload::Instance(_) | Payload::Extended(_) => {
                let class = self.heap.slot(object).class;
                self.lookup(class, nm::SET).is_some() || self.lookup(class, nm::DELETE).is_some()
            }
            _ => self.own_of_builtin(object, nm::SET).is_some() || self.own_of_builtin(object, nm::DELETE).is_some(),
        }
    }

    /// Whether a descriptor takes values and gives none: reading goes past it.
    fn only_sets(&mut self, value: Value) -> bool {
        let Value::Obj(object) = value else { return false };
        let written = matches!(self.heap.payload(object), Payload::Instance(_));
        written && self.special(value, nm::GET).is_none()
    }

    /// `object.name`, retained.
    pub(crate) fn get_attribute(&mut self, object: Value, name: Ref) -> Outcome {
        let class = self.heap.class_of(object);
        if let Some(function) = self.overridden(class, nm::GETATTRIBUTE) {
            let on_return = match self.lookup(class, nm::GETATTR) {
                Some(fallback) => {
                    self.heap.retain(fallback);
                    self.heap.retain(object);
                    OnReturn::Other(Box::new(Pending::GetAttr { object, name: Value::Obj(name), fallback }))
                }
                None => OnReturn::Store,
            };
            return Err(self.call_special(function, &[object, Value::Obj(name)], on_return));
        }
        match self.get_attribute_plain(object, class, name) {
            Err(Throw::Raise(exception)) if self.heap.is_instance(exception, ty::ATTRIBUTE_ERROR) => {
                match self.lookup(class, nm::GETATTR) {
                    Some(function) => {
                        self.heap.release(exception);
                        // The exception that says so was made.
                        self.spend(RAISE_PREPARED.once())?;
                        Err(self.call_special(function, &[object, Value::Obj(name)], OnReturn::Store))
                    }
                    None => Err(Throw::Raise(exception)),
                }
            }
            Err(Throw::Call(mut call)) if matches!(call.on_return, OnReturn::Store) => {
                // A property that raises AttributeError hands over to `__getattr__`.
                if let Some(fallback) = self.lookup(class, nm::GETATTR) {
                    self.heap.retain(fallback);
                    self.heap.retain(object);
                    call.on_return = OnReturn::Other(Box::new(Pending::GetAttr { object, name: Value::Obj(name), fallback }));
                }
                Err(Throw::Call(call))
            }
            outcome => outcome,
        }
    }

    /// An attribute of what an object stands for, such as the function of a bound method. That may stand for another one, and so on:
    /// a RecursionError past the nesting that is followed natively.
    pub(super) fn held_attribute(&mut self, held: Value, name: Ref) -> Outcome {
        if self.native_depth > NATIVE_DEPTH {
            return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        if self.native_depth > 0 {
            self.spend(ATTRIBUTE_HELD.once())?;
        }
        self.native_depth += 1;
        let outcome = self.get_attribute(held, name);
        self.native_depth -= 1;
        outcome
    }

    fn get_class_attribute(&mut self, class: Ref, meta: Ref, name: Ref) -> Outcome {
        let meta_found = self.lookup(meta, name);
        if let Some(found) = meta_found {
            if self.is_data_descriptor(found) {
                return self.bind_attribute(found, Value::Obj(class), meta, name);
            }
        }
        if name.0 < FIXED_COUNT
            && matches!(name, nm::CLASS | nm::NAME | nm::QUALNAME | nm::BASES | nm::MRO | nm::DICT | nm::MODULE | nm::DOC | nm::BASE)
        {
            if let Some(value) = self.builtin_attribute(Value::Obj(class), name)? {
                return Ok(value);
            }
        }
        if name == nm::ANNOTATIONS {
            return self.class_annotations(class);
        }
        if let Some(found) = self.lookup(class, name) {
            return self.bind_to_class(found, class);
        }
        if let Some(found) = meta_found {
            return self.bind_attribute(found, Value::Obj(class), meta, name);
        }
        if name.0 < FIXED_COUNT {
            if let Some(value) = self.builtin_attribute(Value::Obj(class), name)? {
                return Ok(value);
            }
        }
        if let Some(owner) = self.field_owner(class, name) {
            self.heap.retain(Value::Obj(name));
            let kind = if matches!(owner, ty::INT | ty::FLOAT) { ty::GETSET } else { ty::MEMBER };
            return Ok(self.heap.make(kind, Payload::Member { name, class: owner, read_only: true }));
        }
        Err(self.no_attribute(Value::Obj(class), name))
    }

    /// The builtin type, a class or one above it, whose instances have a field of that name.
    pub(super) fn field_owner(&self, class: Ref, name: Ref) -> Option<Ref> {
        let owners: &[Ref] = match name {
            nm::REAL | nm::IMAG => &[ty::INT, ty::FLOAT, ty::COMPLEX],
            nm::NUMERATOR | nm::DENOMINATOR => &[ty::INT],
            nm::START | nm::STOP | nm::STEP => &[ty::RANGE, ty::SLICE],
            _ => &[],
        };
        owners.iter().copied().find(|&owner| self.heap.is_subclass(class, owner))
    }

    /// `__annotations__` of a class: its own, never those of a base.
    fn class_annotations(&mut self, class: Ref) -> Outcome {
        let Payload::Class(row) = self.heap.payload(class) else { return Err(Throw::Trap(Trap::Internal)) };
        if let Some(&own) = row.attributes.get(&nm::ANNOTATIONS) {
            return self.bind_to_class(own, class);
        }
        if !row.heap {
            return Err(self.no_attribute(Value::Obj(class), nm::ANNOTATIONS));
        }
        let made = Value::Obj(self.heap.new_dict());
        self.heap.retain(made);
        self.set_class_attribute(class, nm::ANNOTATIONS, made);
        Ok(made)
    }

    fn get_module_attribute(&mut self, module: Value, dict: Ref, name: Ref) -> Outcome {
        if let Some(value) = self.heap.dict_get_name(dict, name) {
            return Ok(self.heap.retain(value));
        }
        if let Some(value) = self.builtin_attribute(module, name)? {
            return Ok(value);
        }
        if let Some(function) = self.heap.dict_get_name(dict, nm::GETATTR) {
            return Err(self.call_later(function, &[Value::Obj(name)], OnReturn::Store));
        }
        Err(self.no_attribute(module, name))
    }

    fn get_super_attribute(&mut self, object: Value, class: Ref, receiver: Value, start: Ref, name: Ref) -> Outcome {
        if name == nm::CLASS {
            self.heap.retain(Value::Obj(ty::SUPER));
            return Ok(Value::Obj(ty::SUPER));
        }
        let mro = match self.heap.payload(start) {
            Payload::Class(row) => row.mro.clone(),
            _ => Vec::new(),
        };
        let rest = mro.iter().skip_while(|&&base| base != class).skip(1);
        let found = rest.into_iter().find_map(|&base| match self.heap.payload(base) {
            Payload::Class(row) => row.attributes.get(&name).copied(),
            _ => None,
        });
        match found {
            Some(found) if receiver.is(Value::Obj(start)) => self.bind_to_class_or_method(found, start),
            Some(found) => self.bind_attribute(found, receiver, start, name),
            None if matches!(self.heap.name_text(name), "__self__" | "__self_class__" | "__thisclass__") => {
                let value = match self.heap.name_text(name) {
                    "__self__" => receiver,
                    "__thisclass__" => Value::Obj(class),
                    _ if receiver.is_none() => Value::None,
                    _ => Value::Obj(start),
                };
                Ok(self.heap.retain(value))
            }
            None => match self.lookup(ty::SUPER, name) {
                Some(own) => self.bind_attribute(own, object, ty::SUPER, name),
                None => {
                    let message = format!("'super' object has no attribute '{}'", self.heap.name_text(name));
                    Err(self.raise(ty::ATTRIBUTE_ERROR, &message))
                }
            },
        }
    }

    fn bind_to_class_or_method(&mut self, found: Value, class: Ref) -> Outcome {
        self.bind_to_class(found, class)
    }

    /// What a call of `object.name` needs: the function, and whether the object goes before the arguments.
    pub(crate) fn load_method(&mut self, object: Value, name: Ref, site: usize) -> Outcome<(Value, bool)> {
        let is_near = self.is_near(object);
        let class = self.heap.class_of(object);
        let special_receiver = match object {
            Value::Obj(receiver) => matches!(
                self.heap.payload(receiver).core(),
                Payload::Class(_) | Payload::Module { .. } | Payload::Super { .. } | Payload::GenericAlias { .. }
            ),
            _ => false,
        };
        if !special_receiver && self.overridden(class, nm::GETATTRIBUTE).is_none() {
            if let Some(found) = self.lookup(class, name) {
                let binds = match found {
                    Value::Obj(function) => match self.heap.payload(function) {
                        Payload::Function(_) => true,
                        Payload::Native(row) => self.native(*row).kind == crate::runtime::native::NativeKind::Method,
                        _ => false,
                    },
                    _ => false,
                };
                if binds && self.heap.instance_attribute(object, name).is_none() {
                    if let (Value::Obj(receiver), true) = (object, is_near) {
                        let shape = match self.heap.payload(receiver) {
                            Payload::Instance(attributes) if attributes.dict.is_none() => Some(attributes.shape),
                            Payload::Instance(_) => None,
                            payload if payload.attributes().is_none() => Some(0),
                            _ => None,
                        };
                        if let Some(shape) = shape {
                            let epoch = self.heap.type_epoch;
                            self.remember(site, Cache { kind: CacheKind::Method, class, epoch, shape, index: 0, value: found });
                        }
                    }
                    return Ok((self.heap.retain(found), true));
                }
            }
        }
        let value = self.get_attribute(object, name)?;
        if let (Value::Obj(receiver), true) = (object, is_near) {
            self.remember_held(receiver, name, value, site);
        }
        Ok((value, false))
    }

    /// A special method for `with`: found on the class, not the instance.
    pub(crate) fn load_special(&mut self, object: Value, name: Ref) -> Outcome<(Value, Value)> {
        let class = self.heap.class_of(object);
        let Some(found) = self.lookup(class, name) else {
            let protocol = if self.heap.name_text(name).starts_with("__a") { "asynchronous context manager" } else { "context manager" };
            let missed = if self.heap.name_text(name).ends_with("exit__") {
                format!(" (missed {} method)", self.heap.name_text(name))
            } else {
                String::new()
            };
            let message = format!("'{}' object does not support the {protocol} protocol{missed}", self.heap.class_name(object));
            return Err(self.type_error(message));
        };
        if self.is_plain_method(found) {
            self.heap.retain(found);
            self.heap.retain(object);
            return Ok((found, object));
        }
        match self.bind_attribute(found, object, class, name) {
            Err(Throw::Call(call)) => {
                self.heap.release(call.function);
                self.heap.release_all(call.arguments);
                Ok((self.bound_later(found, object, Value::Obj(class)), Value::Undefined))
            }
            outcome => outcome.map(|value| (value, Value::Undefined)),
        }
    }
}
