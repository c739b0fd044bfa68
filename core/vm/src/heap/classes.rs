//! Classes and instances, as far as the heap alone knows them.

use super::Heap;
use crate::payload::{Attributes, Payload};
use crate::types::Layout;
use crate::types::{EMPTY_BYTES, EMPTY_TUPLE, nm, ty};
use crate::value::{Ref, Value};

impl Heap {
    /// A bound method, which takes both references over.
    ///
    /// It stays without a label until it is stored, but the methods that it holds get theirs: so labelling one never goes deeper than one.
    pub(crate) fn bound_method(&mut self, function: Value, receiver: Value) -> Value {
        for held in [function, receiver] {
            if held.object().is_some_and(|object| matches!(self.payload(object), Payload::BoundMethod { .. })) {
                self.label_method(held);
            }
        }
        self.make(ty::METHOD, Payload::BoundMethod { function, receiver })
    }

    /// An attribute of the instance itself. Not retained.
    pub(crate) fn instance_attribute(&mut self, object: Value, name: Ref) -> Option<Value> {
        let Value::Obj(receiver) = object else { return None };
        let attributes = self.attributes(receiver)?;
        if let Some(dict) = attributes.dict.get() {
            return self.dict_get_name(dict, name);
        }
        let position = self.shape_position(attributes.shape, name)?;
        Some(attributes.values[position])
    }
}

/// Bytes of the name of a class that a message has at most.
pub(crate) const NAME_IN_MESSAGE: usize = 200;

impl Heap {
    /// The name of a value's class, as messages have it.
    pub(crate) fn class_name(&self, value: Value) -> String {
        self.name_of_class(self.class_of(value))
    }

    /// The name of a class, as messages have it: no more of it than CPython writes, since a program may name a class as it likes.
    pub(crate) fn name_of_class(&self, class: Ref) -> String {
        let name = self.whole_name(class);
        name[..name.floor_char_boundary(NAME_IN_MESSAGE)].to_owned()
    }

    pub(crate) fn whole_name(&self, class: Ref) -> &str {
        match self.payload(class) {
            // Classes that CPython writes in C are named with their module there.
            Payload::Class(class) => match class.attributes.get(&crate::types::nm::NAME_IN_MESSAGES).and_then(|name| self.text(*name)) {
                Some(name) => name,
                None => &class.name,
            },
            _ => "object",
        }
    }

    pub(crate) fn lookup_slow(&self, class: Ref, name: Ref) -> Option<Value> {
        let Payload::Class(row) = self.payload(class) else { return None };
        row.mro.iter().find_map(|&base| match self.payload(base) {
            Payload::Class(base) => base.attributes.get(&name).copied(),
            _ => None,
        })
    }

    /// Whether a class descends from another one.
    pub(crate) fn is_subclass(&self, class: Ref, base: Ref) -> bool {
        class == base
            || match self.payload(class) {
                Payload::Class(row) => row.mro.contains(&base),
                _ => false,
            }
    }

    /// Whether a value is an instance of a class, without `__instancecheck__`.
    pub(crate) fn is_instance(&self, value: Value, class: Ref) -> bool {
        self.is_subclass(self.class_of(value), class)
    }
}

impl Heap {
    /// Whether the value is of a class that a program made.
    #[inline]
    pub(crate) fn is_python_instance(&self, value: Value) -> bool {
        match value {
            Value::Obj(object) => {
                matches!(self.payload(object), Payload::Instance(_) | Payload::Extended(_))
                    || self.slot(object).class.0 >= crate::types::FIXED_COUNT
            }
            _ => false,
        }
    }

    /// The row of a native function.
    pub(crate) fn native_row(&self, value: Value) -> Option<u16> {
        match self.payload(value.object()?) {
            Payload::Native(row) => Some(*row),
            _ => None,
        }
    }

    /// An object of a builtin class, or of a class below it with attributes around the builtin content.
    pub(crate) fn wrap_builtin(&mut self, class: Ref, inner: Payload) -> Value {
        self.retain(Value::Obj(class));
        if class.0 < crate::types::TYPE_COUNT {
            match &inner {
                Payload::Str(text) if text.text.is_empty() => return Value::Obj(nm::EMPTY),
                Payload::Tuple(items) if items.is_empty() => return Value::Obj(EMPTY_TUPLE),
                Payload::Bytes(bytes) if bytes.is_empty() => return Value::Obj(EMPTY_BYTES),
                Payload::Scalar(value) => return *value,
                _ => {}
            }
            return self.make(class, inner);
        }
        self.make(class, Payload::Extended(Box::new((Attributes::default(), inner))))
    }
}

impl Heap {
    /// The layout of instances of a class.
    pub(crate) fn layout(&self, class: Ref) -> Layout {
        match self.payload(class) {
            Payload::Class(class) => class.layout,
            _ => Layout::Sealed,
        }
    }
}
