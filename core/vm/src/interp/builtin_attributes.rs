//! The attributes that every builtin object has beside those of its class.

use super::{OnReturn, Vm};
use crate::costs::{CLASS_DICT_SHOWN, ITEM_MADE, TEXT_COPIED};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::protocol::Iterate;
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::{Link, Ref, Truth, Value};

impl Vm {
    /// A builtin attribute, retained; `None` when the object has none of that name.
    pub(crate) fn builtin_attribute(&mut self, object: Value, name: Ref) -> Outcome<Option<Value>> {
        if name == nm::CLASS {
            let class = Value::Obj(self.heap.class_of(object));
            return Ok(Some(self.heap.retain(class)));
        }
        if matches!(name, nm::REAL | nm::IMAG | nm::NUMERATOR | nm::DENOMINATOR) {
            if let Some(number) = self.heap.number(object) {
                return self.number_attribute(number, name);
            }
        }
        let Value::Obj(receiver) = object else {
            return Ok(match (name, object) {
                (nm::DOC, _) => Some(Value::None),
                _ => None,
            });
        };
        // A method has what its type has; only the rest is its function's.
        if matches!(self.heap.payload(receiver), Payload::BoundMethod { .. })
            && !matches!(name, nm::FUNC | nm::SELF | nm::DOC | nm::MODULE | nm::NAME | nm::QUALNAME)
            && self.lookup(ty::METHOD, name).is_some()
        {
            return Ok(None);
        }
        let found = match self.heap.payload(receiver) {
            Payload::Class(_) => self.own_class_attribute(receiver, name)?,
            Payload::Function(_) => self.function_attribute(receiver, name)?,
            Payload::Native(_) | Payload::BoundMethod { .. } => self.callable_attribute(receiver, name)?,
            Payload::StaticMethod(_) | Payload::ClassMethod(_) => self.wrapper_attribute(receiver, name)?,
            Payload::Generator(_) => self.generator_attribute(receiver, name)?,
            Payload::MemoryView(_) if name != nm::DOC => return crate::objects::memoryview::attribute(self, object, name),
            payload => match payload.core() {
                Payload::Complex(z) if name == nm::REAL => Some(Value::Float(z.real)),
                Payload::Complex(z) if name == nm::IMAG => Some(Value::Float(z.imaginary)),
                Payload::Property(_) => self.property_attribute(receiver, name)?,
                Payload::Exception(_) => self.exception_attribute(object, name)?,
                Payload::GenericAlias { .. } => return self.alias_attribute(receiver, name),
                _ => self.plain_attribute(receiver, name)?,
            },
        };
        if found.is_none() && name == nm::DOC {
            if let Some(own) = self.heap.instance_attribute(object, nm::DOC) {
                return Ok(Some(self.heap.retain(own)));
            }
            let class = self.heap.class_of(object);
            let doc = self.lookup(class, nm::DOC).unwrap_or(Value::None);
            return self.bind_attribute(doc, object, class, nm::DOC).map(Some);
        }
        if found.is_none() && name == nm::DICT && payload_has_dict(self, receiver) {
            let dict = Value::Obj(self.attributes_dict(receiver));
            return Ok(Some(self.heap.retain(dict)));
        }
        Ok(found)
    }

    /// Of an integer or float.
    fn number_attribute(&mut self, number: Number, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (number, name) {
            (Number::Float(number), nm::REAL) => Some(Value::Float(number)),
            (Number::Float(_), nm::IMAG) => Some(Value::Float(cowboy_num::F64::ZERO)),
            (Number::Float(_), _) => None,
            (_, nm::IMAG) => Some(Value::Int(0)),
            (_, nm::DENOMINATOR) => Some(Value::Int(1)),
            (number, _) => Some(self.int_value(number.into_big())?),
        })
    }

    /// Of the types that have few attributes, each a part of what they hold.
    fn plain_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        Ok(match (self.heap.payload(receiver), name) {
            (Payload::Module { name, .. }, nm::NAME) => {
                let name = *name;
                Some(self.heap.retain(name))
            }
            (Payload::Module { dict, .. }, nm::DICT) => {
                let dict = Value::Obj(*dict);
                Some(self.heap.retain(dict))
            }
            (Payload::Range(range), nm::START) => Some(Value::Int(range.start)),
            (Payload::Range(range), nm::STOP) => Some(Value::Int(range.stop)),
            (Payload::Range(range), nm::STEP) => Some(Value::Int(range.step)),
            (Payload::Slice(parts), nm::START | nm::STOP | nm::STEP) => {
                let value = match name {
                    nm::START => parts[0],
                    nm::STOP => parts[1],
                    _ => parts[2],
                };
                Some(self.heap.retain(value))
            }
            (Payload::Union(arguments), nm::PARAMETERS) => {
                let arguments = *arguments;
                return self.call_helper("alias_parameters", &[arguments]).map(Some);
            }
            (Payload::Union(arguments), nm::ALIAS_ARGS) => {
                let arguments = *arguments;
                Some(self.heap.retain(arguments))
            }
            (Payload::DictView { dict, .. }, nm::MAPPING) => {
                let dict = *dict;
                self.heap.retain(dict);
                Some(self.heap.make(ty::MAPPING_PROXY, Payload::MappingProxy(dict)))
            }
            (Payload::Super { receiver, .. }, nm::SELF) => {
                let receiver = *receiver;
                Some(self.heap.retain(receiver))
            }
            (Payload::Member { name, .. }, nm::NAME) => {
                let name = Value::Obj(*name);
                Some(self.heap.retain(name))
            }
            (Payload::Hasher(state), nm::NAME_ATTR) => {
                let name = state.name;
                Some(self.heap.str(name))
            }
            (Payload::Hasher(state), nm::DIGEST_SIZE) => Some(Value::Int(state.digest_size)),
            (Payload::Hasher(state), nm::BLOCK_SIZE) => Some(Value::Int(state.block_size)),
            _ => None,
        })
    }

    fn alias_attribute(&mut self, receiver: Ref, name: Ref) -> Outcome<Option<Value>> {
        let Payload::GenericAlias { origin, arguments, starred } = self.heap.payload(receiver).core() else { return Ok(None) };
        let (origin, arguments, starred) = (*origin, *arguments, *starred);
        Ok(match name {
            nm::ORIGIN => Some(self.heap.retain(origin)),
            nm::ALIAS_ARGS => Some(self.heap.retain(arguments)),
            nm::PARAMETERS => return self.call_helper("alias_parameters", &[arguments]).map(Some),
            nm::UNPACKED => Some(Value::truth(starred)),
            nm::UNPACKED_ARGS if starred && origin.is(Value::Obj(ty::TUPLE)) => Some(self.heap.retain(arguments)),
            nm::UNPACKED_ARGS => Some(Value::None),
            _ => None,
        })
    }

    fn exception_attribute(&mut self, object: Value, name: Ref) -> Outcome<Option<Value>> {
        if name == nm::MSG {
            if let Some(own) = self.heap.instance_attribute(object, name) {
                return Ok(Some(self.heap.retain(own)));
            }
        }
        let Some(row) = self.heap.exception_data(object) else { return Ok(None) };
        let value = match name {
            nm::ARGS => row.args,
            nm::CAUSE => row.cause,
            nm::CONTEXT => row.context,
            nm::SUPPRESS_CONTEXT => Value::truth(row.suppress),
            nm::TRACEBACK => {
                return Ok(Some(self.traceback_of(object)));
            }
            nm::VALUE if self.heap.is_instance(object, ty::STOP_ITERATION) => self.stop_value(object),
            nm::CODE if self.heap.is_instance(object, ty::SYSTEM_EXIT) => self.stop_value(object),
            nm::MSG if self.heap.is_instance(object, ty::IMPORT_ERROR) || self.heap.is_instance(object, ty::SYNTAX_ERROR) => {
                self.stop_value(object)
            }
            nm::MESSAGE | nm::EXCEPTIONS if self.heap.is_instance(object, ty::BASE_EXCEPTION_GROUP) => {
                let index = usize::from(name == nm::EXCEPTIONS);
                let value = self.heap.tuple_ref(row.args).get(index).copied().unwrap_or(Value::None);
                if name == nm::EXCEPTIONS && !self.heap.is_instance(value, ty::TUPLE) {
                    let length = value.object().map_or(0, |members| self.heap.sequence_length(members));
                    self.spend(ITEM_MADE.of(length))?;
                    let items = self.heap.sequence_snapshot(value);
                    let items = self.heap.retain_all(&items);
                    return Ok(Some(self.heap.tuple(items)));
                }
                value
            }
            nm::NAME_ATTR | nm::OBJ | nm::PATH
                if self.heap.is_instance(object, ty::NAME_ERROR)
                    || self.heap.is_instance(object, ty::ATTRIBUTE_ERROR)
                    || self.heap.is_instance(object, ty::IMPORT_ERROR) =>
            {
                self.heap.instance_attribute(object, name).unwrap_or(Value::None)
            }
            nm::DICT => {
                let Value::Obj(receiver) = object else { return Ok(None) };
                let dict = Value::Obj(self.attributes_dict(receiver));
                return Ok(Some(self.heap.retain(dict)));
            }
            _ => return Ok(None),
        };
        Ok(Some(self.heap.retain(value)))
    }

    /// The traceback of an exception, retained: the same object until the exception passes further frames.
    pub(crate) fn traceback_of(&mut self, exception: Value) -> Value {
        let (empty, shown) = match self.heap.exception_data(exception) {
            Some(row) => (row.trace.is_empty(), row.shown),
            None => return Value::None,
        };
        if !shown.is_none() || empty {
            return self.heap.retain(shown);
        }
        let made = self.heap.make(ty::TRACEBACK, Payload::Plain);
        self.heap.retain(made);
        if let Some(row) = self.heap.exception_row(exception) {
            row.shown = made;
        }
        made
    }

    /// How many attributes a class and those above it have together.
    fn attributes_above(&self, class: Ref) -> usize {
        let Payload::Class(row) = self.heap.payload(class) else { return 0 };
        let attributes = |base: &Ref| match self.heap.payload(*base) {
            Payload::Class(base) => base.attributes.len(),
            _ => 0,
        };
        row.mro.iter().map(attributes).sum()
    }

    /// What decides whether an instance can change from one class to another: whether there is a dict, and the slots.
    fn fields_of(&self, class: Ref) -> (bool, Vec<Ref>) {
        let Payload::Class(row) = self.heap.payload(class) else { return (false, Vec::new()) };
        let mut slots = Vec::new();
        for &base in &row.mro {
            if let Payload::Class(base) = self.heap.payload(base) {
                for value in base.attributes.values() {
                    if let Value::Obj(member) = value {
                        if let Payload::Member { name, .. } = self.heap.payload(*member) {
                            slots.push(*name);
                        }
                    }
                }
            }
        }
        slots.sort_unstable();
        (row.has_dict, slots)
    }

    /// Sets what a function says of itself or fills its parameters with. The value is borrowed.
    pub(super) fn set_function_attribute(&mut self, function: Ref, name: Ref, value: Value) -> Outcome<()> {
        let (class, word) = match name {
            nm::NAME | nm::QUALNAME => (ty::STR, "string"),
            nm::DEFAULTS => (ty::TUPLE, "tuple"),
            _ => (ty::DICT, "dict"),
        };
        if !(self.heap.is_instance(value, class) || value.is_none() && class != ty::STR) {
            let message = format!("{} must be set to a {word} object", self.heap.name_text(name));
            return Err(self.type_error(message));
        }
        self.heap.retain(value);
        if let Payload::Function(row) = self.heap.payload_mut(function) {
            let place = match name {
                nm::NAME => &mut row.name,
                nm::QUALNAME => &mut row.qualname,
                nm::DEFAULTS => &mut row.defaults,
                nm::KWDEFAULTS => &mut row.keyword_defaults,
                _ => &mut row.annotations,
            };
            let old = std::mem::replace(place, value);
            self.heap.release(old);
        }
        Ok(())
    }

    /// Sets `__name__` or `__qualname__` of a class.
    fn rename_class(&mut self, class: Ref, name: Ref, text: Box<str>) -> Outcome<()> {
        if name == nm::NAME && text.contains('\0') {
            return Err(self.value_error("type name must not contain null characters"));
        }
        if let Payload::Class(row) = self.heap.payload_mut(class) {
            let before = row.names_size();
            let place = if name == nm::NAME { &mut row.name } else { &mut row.qualname };
            *place = text;
            let after = row.names_size();
            self.heap.resize_memory(before, after);
        }
        Ok(())
    }

    /// Sets a builtin attribute; says whether there was one. The value is borrowed.
    pub(crate) fn set_builtin_attribute(&mut self, object: Value, name: Ref, value: Value) -> Outcome<bool> {
        let Value::Obj(receiver) = object else { return Ok(false) };
        match (self.heap.payload(receiver), name) {
            (Payload::Function(_), nm::NAME | nm::QUALNAME | nm::ANNOTATIONS | nm::DEFAULTS | nm::KWDEFAULTS) => {
                self.set_function_attribute(receiver, name, value)?;
                Ok(true)
            }
            (Payload::Class(row), nm::DICT) if row.heap => {
                Err(self.raise(ty::ATTRIBUTE_ERROR, "attribute '__dict__' of 'type' objects is not writable"))
            }
            (Payload::Class(row), nm::NAME | nm::QUALNAME | nm::BASES | nm::BASE | nm::MRO) => {
                let word = self.heap.name_text(name).to_owned();
                if !row.heap {
                    let message = format!("cannot set '{word}' attribute of immutable type '{}'", row.name);
                    return Err(self.type_error(message));
                }
                if matches!(name, nm::MRO | nm::BASE) {
                    return Err(self.read_only());
                }
                if name == nm::BASES {
                    return Err(self.type_error("the bases of a class are fixed when it is made"));
                }
                let Some(length) = self.heap.text(value).map(str::len) else {
                    let message = format!(
                        "can only assign string to {}.{word}, not '{}'",
                        self.heap.name_of_class(receiver),
                        self.heap.class_name(value)
                    );
                    return Err(self.type_error(message));
                };
                self.spend(TEXT_COPIED.of(length))?;
                let text = self.heap.text(value).unwrap_or_default().to_owned();
                self.rename_class(receiver, name, text.into()).map(|()| true)
            }
            (Payload::Generator(_), nm::NAME | nm::QUALNAME) if self.is_named(receiver) => {
                if self.heap.text(value).is_none() {
                    let message = format!("{} must be set to a string object", self.heap.name_text(name));
                    return Err(self.type_error(message));
                }
                self.heap.retain(value);
                let mut old = Value::Undefined;
                if let Payload::Generator(row) = self.heap.payload_mut(receiver) {
                    let place = if name == nm::NAME { &mut row.name } else { &mut row.qualname };
                    old = std::mem::replace(place, value);
                }
                self.heap.release(old);
                Ok(true)
            }
            (_, nm::CLASS) => self.set_class_of(receiver, value),
            (_, nm::DICT) if payload_has_dict(self, receiver) => {
                if self.heap.class_of(value) != ty::DICT {
                    let message = format!("__dict__ must be set to a dictionary, not a '{}'", self.heap.class_name(value));
                    return Err(self.type_error(message));
                }
                let old = self.attributes_dict(receiver);
                self.store_barrier(receiver, value)?;
                self.heap.retain(value);
                if let Some(row) = self.heap.payload_mut(receiver).attributes_mut() {
                    row.dict = value.object().map_or(Link::NONE, Link::to);
                }
                self.heap.release(Value::Obj(old));
                Ok(true)
            }
            (payload, nm::MESSAGE | nm::EXCEPTIONS)
                if matches!(payload.core(), Payload::Exception(_)) && self.heap.is_instance(object, ty::BASE_EXCEPTION_GROUP) =>
            {
                Err(self.read_only())
            }
            (payload, nm::ARGS | nm::CAUSE | nm::CONTEXT | nm::SUPPRESS_CONTEXT | nm::TRACEBACK)
                if matches!(payload.core(), Payload::Exception(_)) =>
            {
                self.set_exception_attribute(object, name, value)
            }
            _ => Ok(false),
        }
    }

    /// What an object shall be an instance of: a class.
    pub(super) fn class_to_be(&mut self, value: Value) -> Outcome<Ref> {
        if let Some(class) = value.object().filter(|&class| matches!(self.heap.payload(class), Payload::Class(_))) {
            return Ok(class);
        }
        let message = format!("__class__ must be set to a class, not '{}' object", self.heap.class_name(value));
        Err(self.type_error(message))
    }

    /// Makes an object an instance of another class of the same layout.
    fn set_class_of(&mut self, receiver: Ref, value: Value) -> Outcome<bool> {
        let class = self.class_to_be(value)?;
        let old = self.heap.slot(receiver).class;
        if class.0 < FIXED_COUNT || old.0 < FIXED_COUNT {
            return Err(self.type_error("__class__ assignment only supported for mutable types or ModuleType subclasses"));
        }
        let members = self.attributes_above(class).saturating_add(self.attributes_above(old));
        self.spend(CLASS_DICT_SHOWN.of(members))?;
        if self.heap.layout(class) != self.heap.layout(old) || self.fields_of(class) != self.fields_of(old) {
            let message = format!(
                "__class__ assignment: '{}' object layout differs from '{}'",
                self.heap.name_of_class(class),
                self.heap.name_of_class(old)
            );
            return Err(self.type_error(message));
        }
        self.heap.retain(value);
        self.heap.slot_mut(receiver).class = class;
        self.heap.release(Value::Obj(old));
        Ok(true)
    }

    /// Sets a builtin attribute of an exception.
    fn set_exception_attribute(&mut self, object: Value, name: Ref, value: Value) -> Outcome<bool> {
        let problem = match name {
            nm::CAUSE | nm::CONTEXT if !value.is_none() && !self.heap.is_instance(value, ty::BASE_EXCEPTION) => {
                let which = if name == nm::CAUSE { "cause" } else { "context" };
                format!("exception {which} must be None or derive from BaseException")
            }
            nm::TRACEBACK if !value.is_none() && !self.heap.is_instance(value, ty::TRACEBACK) => {
                "__traceback__ must be a traceback or None".to_owned()
            }
            nm::SUPPRESS_CONTEXT if !matches!(value, Value::Bool(_)) => "attribute value type must be bool".to_owned(),
            _ => String::new(),
        };
        if !problem.is_empty() {
            return Err(self.type_error(problem));
        }
        let converted = if name == nm::ARGS && !self.heap.is_instance(value, ty::TUPLE) {
            match self.collect(value) {
                Ok(items) => self.heap.tuple(items),
                Err(Throw::Fallback) => {
                    let helper = self.helper("exception_set_args");
                    return Err(self.call_later(helper, &[object, value], OnReturn::Discard));
                }
                Err(throw) => return Err(throw),
            }
        } else {
            self.heap.retain(value)
        };
        let truth = matches!(value, Value::Bool(Truth::True));
        let mut old = Value::Undefined;
        if let Some(row) = self.heap.exception_row(object) {
            match name {
                nm::ARGS => old = std::mem::replace(&mut row.args, converted),
                nm::CAUSE => {
                    old = std::mem::replace(&mut row.cause, converted);
                    row.suppress = true;
                }
                nm::CONTEXT => old = std::mem::replace(&mut row.context, converted),
                nm::SUPPRESS_CONTEXT => row.suppress = truth,
                _ => {
                    if converted.is_none() {
                        row.trace.clear();
                    }
                    old = std::mem::replace(&mut row.shown, converted);
                }
            }
        }
        self.heap.release(old);
        Ok(true)
    }
}

fn payload_has_dict(vm: &Vm, receiver: Ref) -> bool {
    let slot = vm.heap.slot(receiver);
    let class_has = match vm.heap.payload(slot.class) {
        Payload::Class(row) => row.has_dict,
        _ => false,
    };
    slot.payload.attributes().is_some() && (class_has || matches!(slot.payload, Payload::Function(_)))
}
