//! The attributes that builtin objects have beside those of their classes, type by type.

use super::Vm;
use crate::costs::ITEMS_SLICED;
use crate::error::{Outcome, Throw};
use crate::payload::{GeneratorState, Payload};
use crate::types::{nm, ty};
use crate::value::{Ref, Truth, Value};
use std::sync::Arc;

impl Vm {
    /// Of a class.
    pub(super) fn own_class_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver), name) {
            (Payload::Class(row), nm::NAME | nm::QUALNAME) => {
                let length = if name == nm::NAME { row.name.len() } else { row.qualname.len() };
                self.owe_name(length);
                self.reserve(length)?;
                let Payload::Class(row) = self.heap.payload(receiver) else { return Ok(None) };
                let text = if name == nm::NAME { row.name.to_string() } else { row.qualname.to_string() };
                Some(self.heap.string(text))
            }
            (Payload::Class(row), nm::MODULE) => match row.attributes.get(&nm::MODULE).copied() {
                Some(value) => Some(self.heap.retain(value)),
                None => Some(self.text_value("builtins")),
            },
            (Payload::Class(row), nm::BASES) => {
                let count = row.bases.len();
                self.spend(ITEMS_SLICED.of(count))?;
                let Payload::Class(row) = self.heap.payload(receiver) else { return Ok(None) };
                let bases = row.bases.clone();
                Some(self.refs_tuple(&bases))
            }
            (Payload::Class(row), nm::BASE) => {
                let count = row.bases.len();
                self.spend(ITEMS_SLICED.of(count))?;
                let Payload::Class(row) = self.heap.payload(receiver) else { return Ok(None) };
                let bases = row.bases.clone();
                let base = self.best_base(&bases).map_or(Value::None, Value::Obj);
                Some(self.heap.retain(base))
            }
            (Payload::Class(row), nm::MRO) => {
                let count = row.mro.len();
                self.spend(ITEMS_SLICED.of(count))?;
                let Payload::Class(row) = self.heap.payload(receiver) else { return Ok(None) };
                let mro = row.mro.clone();
                Some(self.refs_tuple(&mro))
            }
            (Payload::Class(row), nm::DOC) => {
                let value = row.attributes.get(&nm::DOC).copied().unwrap_or(Value::None);
                return self.bind_to_class(value, receiver).map(Some);
            }
            (Payload::Class(_), nm::DICT) => {
                let class = self.heap.retain(Value::Obj(receiver));
                Some(self.heap.make(ty::MAPPING_PROXY, Payload::MappingProxy(class)))
            }
            _ => None,
        })
    }

    /// Of a function made by `def` or `lambda`.
    pub(super) fn function_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver), name) {
            (Payload::Function(row), nm::NAME) => {
                let value = row.name;
                Some(self.heap.retain(value))
            }
            (Payload::Function(row), nm::QUALNAME) => {
                let value = row.qualname;
                Some(self.heap.retain(value))
            }
            (Payload::Function(row), nm::DOC) => {
                let code = row.code as usize;
                if let Some(value) = self.heap.instance_attribute(Value::Obj(receiver), nm::DOC) {
                    return Ok(Some(self.heap.retain(value)));
                }
                let program = Arc::clone(&self.program);
                match &program.codes[code].code.doc {
                    // Interned, so that it is the same text each time.
                    Some(doc) => {
                        let doc = Value::Obj(self.heap.intern(doc));
                        Some(self.heap.retain(doc))
                    }
                    None => Some(Value::None),
                }
            }
            (Payload::Function(row), nm::MODULE) => {
                let globals = row.globals;
                if let Some(value) = self.heap.instance_attribute(Value::Obj(receiver), nm::MODULE) {
                    return Ok(Some(self.heap.retain(value)));
                }
                let value = self.heap.dict_get_name(globals, nm::NAME).unwrap_or(Value::None);
                Some(self.heap.retain(value))
            }
            (Payload::Function(row), nm::PARAMETERS) => {
                let code = row.code;
                Some(self.parameter_names(code))
            }
            (Payload::Function(row), nm::DEFAULTS) => {
                let defaults = row.defaults;
                Some(self.heap.retain(defaults))
            }
            (Payload::Function(row), nm::KWDEFAULTS) => {
                let defaults = row.keyword_defaults;
                Some(self.heap.retain(defaults))
            }
            (Payload::Function(row), nm::ANNOTATIONS) => {
                let annotations = row.annotations;
                Some(self.function_annotations(receiver, annotations))
            }
            _ => None,
        })
    }

    /// The names of a function's positional parameters, with that of the rest.
    fn parameter_names(&mut self, code: u32) -> Value {
        let program = Arc::clone(&self.program);
        let code = &program.codes[code as usize].code;
        let mut names: Vec<Value> = Vec::new();
        for name in code.local_names.iter().take(usize::from(code.positional)) {
            names.push(self.heap.str(name));
        }
        if code.var_positional {
            let index = usize::from(code.positional) + usize::from(code.keyword_only);
            names.push(self.heap.string(format!("*{}", code.local_names[index])));
        }
        self.heap.tuple(names)
    }

    /// `__annotations__`, a dict from the first time on that it is asked for.
    fn function_annotations(&mut self, function: Ref, annotations: Value) -> Value {
        if !annotations.is_none() {
            return self.heap.retain(annotations);
        }
        let dict = Value::Obj(self.heap.new_dict());
        self.heap.retain(dict);
        if let Payload::Function(row) = self.heap.payload_mut(function) {
            row.annotations = dict;
        }
        dict
    }

    /// Of a builtin function or a method bound to its receiver.
    pub(super) fn callable_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver), name) {
            (Payload::Native(row), nm::NAME) => {
                let text = self.native(*row).short.to_owned();
                Some(self.text_value(&text))
            }
            (Payload::Native(row), nm::QUALNAME) => {
                let text = self.native(*row).name.to_owned();
                Some(self.text_value(&text))
            }
            (Payload::Native(_), nm::MODULE) => Some(self.text_value("builtins")),
            (Payload::Native(_), nm::DOC) => Some(Value::None),
            (Payload::BoundMethod { function, .. }, nm::FUNC) => {
                let function = *function;
                Some(self.heap.retain(function))
            }
            (Payload::BoundMethod { receiver, .. }, nm::SELF) => {
                let receiver = *receiver;
                Some(self.heap.retain(receiver))
            }
            (Payload::BoundMethod { function, .. }, _) => {
                let function = *function;
                return self.held_attribute(function, name).map(Some);
            }
            _ => None,
        })
    }

    /// Of a static method or class method.
    pub(super) fn wrapper_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver), name) {
            (Payload::StaticMethod(inner) | Payload::ClassMethod(inner), nm::FUNC | nm::WRAPPED) => {
                let inner = *inner;
                Some(self.heap.retain(inner))
            }
            (
                Payload::StaticMethod(inner) | Payload::ClassMethod(inner),
                nm::NAME | nm::QUALNAME | nm::DOC | nm::MODULE | nm::ANNOTATIONS | nm::IS_ABSTRACT,
            ) => {
                let inner = *inner;
                match self.held_attribute(inner, name) {
                    Ok(value) => Some(value),
                    Err(Throw::Raise(exception)) if name == nm::IS_ABSTRACT => {
                        self.heap.release(exception);
                        Some(Value::truth(false))
                    }
                    Err(throw) => return Err(throw),
                }
            }
            _ => None,
        })
    }

    /// Of a generator, coroutine or asynchronous generator.
    pub(super) fn generator_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver), name) {
            (Payload::Generator(row), nm::NAME) if self.is_named(receiver) => {
                let value = row.name;
                Some(self.heap.retain(value))
            }
            (Payload::Generator(row), nm::QUALNAME) if self.is_named(receiver) => {
                let value = row.qualname;
                Some(self.heap.retain(value))
            }
            (Payload::Generator(row), nm::GI_RUNNING | nm::CR_RUNNING)
                if self.heap.class_of(Value::Obj(receiver)) == running_class(name) =>
            {
                Some(Value::truth(row.state == GeneratorState::Running))
            }
            _ => None,
        })
    }

    /// Of a property.
    pub(super) fn property_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver).core(), name) {
            (Payload::Property(parts), nm::FGET | nm::FSET | nm::FDEL | nm::DOC) => {
                let value = match name {
                    nm::FGET => parts[0],
                    nm::FSET => parts[1],
                    nm::FDEL => parts[2],
                    _ => parts[3],
                };
                if name == nm::DOC && value.is_none() && !parts[0].is_none() {
                    let getter = parts[0];
                    return self.held_attribute(getter, nm::DOC).map(Some);
                }
                Some(self.heap.retain(value))
            }
            (Payload::Property(parts), nm::IS_ABSTRACT) => {
                let parts = **parts;
                for part in &parts[..3] {
                    let marked = self.heap.instance_attribute(*part, nm::IS_ABSTRACT);
                    if matches!(marked, Some(Value::Bool(Truth::True))) {
                        return Ok(Some(Value::truth(true)));
                    }
                }
                Some(Value::truth(false))
            }
            _ => None,
        })
    }
}

/// Whose attribute it is that says whether the frame is on the stack.
fn running_class(name: Ref) -> Ref {
    if name == nm::CR_RUNNING { ty::COROUTINE } else { ty::GENERATOR }
}
