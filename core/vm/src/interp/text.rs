//! Text of values: `repr`, `str`, `format` and f-strings.

use super::{Expect, Vm};
use crate::costs::{FIELD, FLOAT_DIGITS, FORMAT_SPEC, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::protocol::Display;
use crate::types::{nm, ty};
use crate::value::Value;
use crate::window::{afresh, moved};
use cowboy_num as num;
use cowboy_num::int::PlainSpec;

impl Display for Vm {
    fn str_value(&mut self, value: Value) -> Outcome {
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
                    return match crate::objects::exception_text::message(self, value) {
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

    fn format_builtin(&mut self, value: Value, spec: &str) -> Outcome {
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
        let subject = match (self.heap.number(value), self.heap.text(value)) {
            (Some(Number::Float(_)), _) => Subject::Float,
            (Some(_), _) => Subject::Int,
            (_, Some(_)) => Subject::Str,
            _ if complex.is_some() => Subject::Complex,
            _ => {
                let message = format!("unsupported format string passed to {}.__format__", self.heap.class_name(value));
                return Err(self.type_error(message));
            }
        };
        let outcome = match Spec::parse(spec, subject) {
            Ok(parsed) => {
                if matches!(subject, Subject::Float | Subject::Complex) {
                    // A percentage is the digits of another number.
                    self.spend(FLOAT_DIGITS.of(if spec.ends_with('%') { 2 } else { 1 }))?;
                }
                self.spend(TEXT_WRITTEN.of(parsed.min_size()))?;
                self.reserve(parsed.min_size())?;
                match (self.heap.number(value), self.heap.text(value)) {
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
                let name = self.heap.class_name(value);
                Err(self.raise(class, &error.message(&name)))
            }
        }
    }
}

impl Vm {
    /// `format(value, spec)`, retained. The specification is text, or undefined for none.
    pub(crate) fn format_value(&mut self, value: Value, spec: Value) -> Outcome {
        let spec_text = if spec.is_undefined() {
            String::new()
        } else {
            match self.heap.text(spec) {
                Some(text) => text.to_owned(),
                None => {
                    let message = format!("format() argument 2 must be str, not {}", crate::objects::codec::shown(self, spec));
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
        let length = parts.clone().map(|index| self.heap.text(afresh(&self.registers[index])).map_or(0, str::len)).sum();
        self.spend(TEXT_WRITTEN.of(length))?;
        self.reserve(length)?;
        let mut text = self.heap.spares.empty_text(length);
        for index in parts {
            let part = afresh(&self.registers[index]);
            self.registers[index] = Value::Undefined;
            if let Some(part) = self.heap.text(part) {
                text.push_str(part);
            }
            self.heap.release(part);
        }
        Ok(self.heap.string(moved(text)))
    }
}
