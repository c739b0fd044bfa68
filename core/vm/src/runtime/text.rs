//! `repr` of builtin values.

use super::Vm;
use crate::costs::{FLOAT_DIGITS, TEXT_PASSED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::frame::Expect;
use crate::limits::NATIVE_DEPTH;
use crate::payload::Payload;
use crate::types::{nm, ty};
use crate::value::{Ref, Truth, Value};
use cowboy_num::int::decimal;

/// Longest text that repr builds before it stops to ask for memory.
pub(crate) const CHECK_EVERY: usize = 4_096;

impl Vm {
    /// What a class written in Python has as `__str__`, when that is not the usual one of its builtin base.
    pub(crate) fn own_str(&mut self, value: Value) -> Option<Value> {
        let class = self.heap.class_of(value);
        if class.0 < crate::types::FIXED_COUNT && !self.heap.slot_class_is_type(value) {
            return None;
        }
        let found = self.lookup(class, nm::STR)?;
        let is_text = matches!(value, Value::Obj(object) if matches!(self.heap.payload(object).core(), Payload::Str(_)));
        match self.heap.native_row(found) {
            // A text that is told to print as any object does.
            Some(row) if is_text && self.native(row).name == "object.__str__" => Some(found),
            Some(row) if self.native(row).short == "__str__" => None,
            _ => Some(found),
        }
    }

    /// The method written in Python that a class has of its own.
    pub(crate) fn python_method(&mut self, value: Value, name: Ref) -> Option<Value> {
        let class = self.heap.class_of(value);
        if class.0 < crate::types::FIXED_COUNT && !self.heap.slot_class_is_type(value) {
            return None;
        }
        // An integer is its own index.
        if name == nm::INDEX && self.heap.is_subclass(class, ty::INT) {
            return None;
        }
        self.own_special(class, name)
    }

    /// `repr(value)` when it needs no Python code. What was written is paid for however it ends.
    pub(crate) fn repr_native(&mut self, value: Value) -> Outcome<String> {
        let mut out = String::new();
        let outcome = self.write_repr(&mut out, value);
        self.spend(TEXT_WRITTEN.of(out.len()))?;
        outcome.map(|()| out)
    }

    /// `repr(value)`, retained; a call when it is written in Python.
    pub(crate) fn repr_value(&mut self, value: Value) -> Outcome {
        if let Some(function) = self.python_method(value, nm::REPR) {
            return Err(self.call_expecting(function, &[value], Expect::Repr));
        }
        match self.repr_native(value) {
            Ok(text) => Ok(self.heap.string(text)),
            Err(Throw::Fallback) => self.call_helper("repr_slow", &[value]),
            Err(throw) => Err(throw),
        }
    }

    /// The repr of an object whose class does not say it in Python.
    pub(crate) fn write_object(&mut self, out: &mut String, object: Ref) -> Outcome<()> {
        let class = self.heap.slot(object).class;
        match self.heap.payload(object).core() {
            Payload::Str(text) => {
                let text = text.text.clone();
                self.spend(TEXT_PASSED.of(text.len()))?;
                self.write_quoted_text(out, &text)?;
            }
            Payload::BigInt(number) => {
                let text = number.to_string();
                out.push_str(&text);
            }
            Payload::Complex(z) => out.push_str(&z.repr()),
            Payload::Scalar(inner) => {
                let inner = *inner;
                self.write_repr(out, inner)?;
            }
            Payload::Bytes(bytes) => {
                let bytes = bytes.clone();
                self.write_quoted_bytes(out, &bytes, false)?;
            }
            Payload::ByteArray(bytes, _) => {
                let bytes = bytes.clone();
                out.push_str(&(self.full_name(class) + "("));
                self.write_quoted_bytes(out, &bytes, true)?;
                out.push(')');
            }
            Payload::MemoryView(view) => {
                let word = if view.object.is_undefined() { "released " } else { "" };
                out.push_str(&format!("<{word}memory at {:#x}>", object.0));
            }
            Payload::Range(range) => {
                let text = if range.step == 1 {
                    format!("range({}, {})", range.start, range.stop)
                } else {
                    format!("range({}, {}, {})", range.start, range.stop, range.step)
                };
                out.push_str(&text);
            }
            Payload::Cell(_) => out.push_str(&format!("<cell at {:#x}>", object.0)),
            Payload::List(_)
            | Payload::Tuple(_)
            | Payload::Dict(_)
            | Payload::Set(_)
            | Payload::Slice(_)
            | Payload::Exception(_)
            | Payload::DictView { .. }
            | Payload::MappingProxy(_)
            | Payload::GenericAlias { .. }
            | Payload::Union(_) => self.write_container(out, object)?,
            Payload::Function(_)
            | Payload::Native(_)
            | Payload::BoundMethod { .. }
            | Payload::Class(_)
            | Payload::Module { .. }
            | Payload::Generator(_)
            | Payload::Super { .. } => self.write_named(out, object)?,
            _ => {
                let name = self.qualified_name(class);
                out.push_str(&format!("<{name} object at {:#x}>", object.0));
            }
        }
        Ok(())
    }

    pub(crate) fn write_repr(&mut self, out: &mut String, value: Value) -> Outcome<()> {
        if self.python_method(value, nm::REPR).is_some() || self.heap.is_set(value) && self.python_method(value, nm::ITER).is_some() {
            return Err(Throw::Fallback);
        }
        match value {
            Value::None => out.push_str("None"),
            Value::Undefined => out.push_str("<undefined>"),
            Value::NotImplemented => out.push_str("NotImplemented"),
            Value::Ellipsis => out.push_str("Ellipsis"),
            Value::Bool(Truth::True) => out.push_str("True"),
            Value::Bool(Truth::False) => out.push_str("False"),
            Value::Int(number) => out.push_str(&decimal(number)),
            Value::Float(number) => {
                self.spend(FLOAT_DIGITS.once())?;
                out.push_str(&cowboy_num::repr(number));
            }
            Value::Obj(object) => {
                if self.native_depth > NATIVE_DEPTH {
                    return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded while getting the repr of an object"));
                }
                self.native_depth += 1;
                let outcome = self.write_object(out, object);
                self.native_depth -= 1;
                outcome?;
            }
        }
        self.may_grow_on(out)
    }

    /// Makes sure that there are memory and cycles for a text that was begun, where it is no short one.
    pub(super) fn may_grow_on(&mut self, out: &str) -> Outcome<()> {
        if out.len() > CHECK_EVERY { self.allow(out.len(), TEXT_WRITTEN.of(out.len())) } else { Ok(()) }
    }
}
