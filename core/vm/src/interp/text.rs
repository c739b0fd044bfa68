//! Text of values: `repr`, `str`, `format` and f-strings.

use super::compare::NATIVE_DEPTH;
use super::operators::Number;
use super::{Expect, Vm};
use crate::costs::{FIELD, FLOAT_DIGITS, FORMAT_SPEC, TEXT_PASSED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::types::{nm, ty};
use crate::value::{Ref, Truth, Value};
use crate::window::{afresh, moved};
use cowboy_num as num;
use cowboy_num::int::{PlainSpec, decimal};

/// Longest text that repr builds before it stops to ask for memory.
const CHECK_EVERY: usize = 4_096;

impl Vm {
    /// The method written in Python that a class has of its own.
    pub(crate) fn python_method(&mut self, value: Value, name: Ref) -> Option<Value> {
        let class = self.heap.class_of(value);
        if class.0 < crate::types::FIXED_COUNT && !self.heap.slot_class_is_type(value) {
            return None;
        }
        // An integer is its own index.
        if name == nm::INDEX && self.is_subclass(class, ty::INT) {
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

    pub(super) fn write_repr(&mut self, out: &mut String, value: Value) -> Outcome<()> {
        if self.python_method(value, nm::REPR).is_some() || self.is_set(value) && self.python_method(value, nm::ITER).is_some() {
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
                out.push_str(&num::repr(number));
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
        if out.len() > CHECK_EVERY {
            self.allow(out.len(), TEXT_WRITTEN.of(out.len()))?;
        }
        Ok(())
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

    /// What a class written in Python has as `__str__`, when that is not the usual one of its builtin base.
    pub(crate) fn own_str(&mut self, value: Value) -> Option<Value> {
        let class = self.heap.class_of(value);
        if class.0 < crate::types::FIXED_COUNT && !self.heap.slot_class_is_type(value) {
            return None;
        }
        let found = self.lookup(class, nm::STR)?;
        let is_text = matches!(value, Value::Obj(object) if matches!(self.heap.payload(object).core(), Payload::Str(_)));
        match self.native_row(found) {
            // A text that is told to print as any object does.
            Some(row) if is_text && self.native(row).name == "object.__str__" => Some(found),
            Some(row) if self.native(row).short() == "__str__" => None,
            _ => Some(found),
        }
    }

    /// `str(value)`, retained; a call when it is written in Python.
    pub(crate) fn str_value(&mut self, value: Value) -> Outcome {
        if let Value::Obj(object) = value {
            if self.heap.slot(object).class == ty::STR {
                return Ok(self.heap.retain(value));
            }
            if let Some(function) = self.own_str(value) {
                return Err(self.call_expecting(function, &[value], Expect::Str));
            }
            match self.heap.payload(object).core() {
                Payload::Str(text) => {
                    let text = text.text.clone();
                    return Ok(self.heap.string(text));
                }
                Payload::Exception(_) => {
                    return match crate::objects::exception::message(self, value) {
                        Ok(text) => Ok(self.heap.string(text)),
                        Err(Throw::Fallback) => self.call_helper("exception_str", &[value]),
                        Err(throw) => Err(throw),
                    };
                }
                _ => {}
            }
        }
        self.repr_value(value)
    }

    /// `format(value, spec)`, retained. The specification is text, or undefined for none.
    pub(crate) fn format_value(&mut self, value: Value, spec: Value) -> Outcome {
        let spec_text = if spec.is_undefined() {
            String::new()
        } else {
            match self.text(spec) {
                Some(text) => text.to_owned(),
                None => {
                    let message = format!("format() argument 2 must be str, not {}", self.class_name(spec));
                    return Err(self.type_error(message));
                }
            }
        };
        if let Some(function) = self.python_method(value, nm::FORMAT) {
            let spec = if spec.is_undefined() { Value::Obj(nm::EMPTY) } else { spec };
            return Err(self.call_expecting(function, &[value, spec], Expect::Format));
        }
        if spec_text.is_empty() {
            return self.str_value(value);
        }
        self.format_builtin(value, &spec_text)
    }

    /// What the builtin types' `__format__` does.
    pub(crate) fn format_builtin(&mut self, value: Value, spec: &str) -> Outcome {
        use num::{Spec, Subject};
        self.spend(FORMAT_SPEC.of(spec.len()))?;
        if let (Value::Int(number), Some(plain)) = (value, PlainSpec::parse(spec)) {
            self.spend(TEXT_WRITTEN.of(plain.width))?;
            self.reserve(plain.width)?;
            let text = plain.format(number);
            self.spend(TEXT_WRITTEN.of(text.len()))?;
            return Ok(self.heap.ascii(text));
        }
        let complex = crate::objects::complex::content(self, value);
        let subject = match (self.number(value), self.text(value)) {
            (Some(Number::Float(_)), _) => Subject::Float,
            (Some(_), _) => Subject::Int,
            (_, Some(_)) => Subject::Str,
            _ if complex.is_some() => Subject::Complex,
            _ => {
                let message = format!("unsupported format string passed to {}.__format__", self.class_name(value));
                return Err(self.type_error(message));
            }
        };
        let outcome = match Spec::parse(spec, subject) {
            Ok(parsed) => {
                if matches!(subject, Subject::Float | Subject::Complex) {
                    self.spend(FLOAT_DIGITS.once())?;
                }
                self.spend(TEXT_WRITTEN.of(parsed.min_size()))?;
                self.reserve(parsed.min_size())?;
                match (self.number(value), self.text(value)) {
                    (Some(Number::Float(number)), _) => num::format_float(number, &parsed),
                    (Some(number), _) => num::format_int(&number.into_big(), &parsed),
                    (_, Some(text)) => num::format_str(text, &parsed),
                    _ => complex.map_or(Ok(String::new()), |z| num::float_format::format_complex(z.real, z.imaginary, &parsed)),
                }
            }
            Err(error) => Err(error),
        };
        match outcome {
            Ok(text) => {
                self.spend(TEXT_WRITTEN.of(text.len()))?;
                Ok(self.heap.string(text))
            }
            Err(error) => {
                let class = if error.is_overflow() { ty::OVERFLOW_ERROR } else { ty::VALUE_ERROR };
                let name = self.class_name(value);
                Err(self.raise(class, &error.message(&name)))
            }
        }
    }

    /// A replacement field of an f-string.
    pub(crate) fn format_instruction(&mut self, value: Value, spec: Value, conversion: u8) -> Outcome {
        if !spec.is_undefined() {
            self.spend(FIELD.once())?;
        }
        if conversion == 0 {
            return self.format_value(value, spec);
        }
        let converted = match conversion {
            1 => self.str_value(value),
            2 => self.repr_value(value),
            _ => self.call_helper("ascii", &[value]),
        };
        match converted {
            Ok(text) if spec.is_undefined() => Ok(text),
            Ok(text) => {
                let outcome = self.format_value(text, spec);
                self.heap.release(text);
                outcome
            }
            Err(Throw::Call(call)) if spec.is_undefined() => Err(Throw::Call(call)),
            Err(Throw::Call(call)) => {
                // Both steps need Python: a helper does them.
                for argument in call.arguments {
                    self.heap.release(argument);
                }
                self.heap.release(call.function);
                self.call_helper("format_converted", &[value, Value::Int(i64::from(conversion)), spec])
            }
            Err(throw) => Err(throw),
        }
    }

    /// The texts in registers joined; they are consumed.
    pub(crate) fn build_string(&mut self, first: usize, count: usize) -> Outcome {
        if count == 1 {
            return Ok(std::mem::replace(&mut self.registers[first], Value::Undefined));
        }
        let parts = first..first + count;
        let length = parts.clone().map(|index| self.text(afresh(&self.registers[index])).map_or(0, str::len)).sum();
        self.spend(TEXT_WRITTEN.of(length))?;
        self.reserve(length)?;
        let mut text = self.heap.spares.empty_text(length);
        for index in parts {
            let part = afresh(&self.registers[index]);
            self.registers[index] = Value::Undefined;
            if let Some(part) = self.text(part) {
                text.push_str(part);
            }
            self.heap.release(part);
        }
        Ok(self.heap.string(moved(text)))
    }
}
