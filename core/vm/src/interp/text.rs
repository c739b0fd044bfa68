//! Text of values: `repr`, `str`, `format` and f-strings.

use super::compare::NATIVE_DEPTH;
use super::operators::Number;
use super::{Expect, Vm};
use crate::costs::{CLASS_DICT_SHOWN, FLOAT_DIGITS, FORMAT_SPEC, SHOWN_INSIDE, TEXT_PASSED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::payload::{DictPart, Payload};
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

    fn write_repr(&mut self, out: &mut String, value: Value) -> Outcome<()> {
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

    fn write_items(&mut self, out: &mut String, object: Ref, items: &[Value], open: &str, close: &str) -> Outcome<()> {
        if self.in_repr.contains(&object) {
            out.push_str(open);
            out.push_str("...");
            out.push_str(close);
            return Ok(());
        }
        // Each look for an object goes through those around it.
        self.spend(SHOWN_INSIDE.of(self.in_repr.len()))?;
        self.in_repr.push(object);
        out.push_str(open);
        let mut outcome = Ok(());
        for (index, &item) in items.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            outcome = self.write_repr(out, item);
            if outcome.is_err() {
                break;
            }
        }
        self.in_repr.pop();
        out.push_str(close);
        outcome
    }

    #[allow(clippy::too_many_lines, reason = "one arm per type")]
    pub(crate) fn write_object(&mut self, out: &mut String, object: Ref) -> Outcome<()> {
        let value = Value::Obj(object);
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
                out.push_str(&(self.name_of_class(class) + "("));
                self.write_quoted_bytes(out, &bytes, true)?;
                out.push(')');
            }
            Payload::MemoryView(view) => {
                let word = if view.object.is_undefined() { "released " } else { "" };
                out.push_str(&format!("<{word}memory at {:#x}>", object.0));
            }
            Payload::List(list) => {
                let items = list.items.clone();
                self.write_items(out, object, &items, "[", "]")?;
            }
            Payload::Tuple(items) => {
                let items = items.to_vec();
                let close = if items.len() == 1 { ",)" } else { ")" };
                self.write_items(out, object, &items, "(", close)?;
            }
            Payload::Dict(_) => {
                let pairs = self.dict_pairs(value);
                if self.in_repr.contains(&object) {
                    out.push_str("{...}");
                    return Ok(());
                }
                self.in_repr.push(object);
                out.push('{');
                let mut outcome = Ok(());
                for (index, (key, item)) in pairs.into_iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    outcome = self.write_repr(out, key);
                    if outcome.is_ok() {
                        out.push_str(": ");
                        outcome = self.write_repr(out, item);
                    }
                    if outcome.is_err() {
                        break;
                    }
                }
                self.in_repr.pop();
                outcome?;
                out.push('}');
            }
            Payload::Set(dict) => {
                let items: Vec<Value> = dict.iter().map(|entry| entry.key).collect();
                let name = self.name_of_class(class);
                let frozen = class != ty::SET;
                if items.is_empty() {
                    out.push_str(&name);
                    out.push_str("()");
                } else if frozen {
                    out.push_str(&name);
                    self.write_items(out, object, &items, "({", "})")?;
                } else {
                    self.write_items(out, object, &items, "{", "}")?;
                }
            }
            Payload::Range(range) => {
                let text = if range.step == 1 {
                    format!("range({}, {})", range.start, range.stop)
                } else {
                    format!("range({}, {}, {})", range.start, range.stop, range.step)
                };
                out.push_str(&text);
            }
            Payload::Slice(parts) => {
                let parts = **parts;
                self.write_items(out, object, &parts, "slice(", ")")?;
            }
            Payload::Function(row) => {
                let name = self.text(row.qualname).unwrap_or("?").to_owned();
                out.push_str(&format!("<function {name} at {:#x}>", object.0));
            }
            Payload::Native(row) => {
                let native = self.native(*row);
                let text = if native.kind == super::native::NativeKind::Function {
                    format!("<built-in function {}>", native.short())
                } else {
                    let owner = native.name.split('.').next().unwrap_or_default();
                    format!("<method '{}' of '{owner}' objects>", native.short())
                };
                out.push_str(&text);
            }
            Payload::BoundMethod { function, receiver } => {
                let (function, receiver) = (*function, *receiver);
                let name = match self.heap.payload(function.object().unwrap_or(object)) {
                    Payload::Function(row) => self.text(row.qualname).unwrap_or("?").to_owned(),
                    Payload::Native(row) => {
                        let native = self.native(*row);
                        let text =
                            format!("<built-in method {} of {} object at {:#x}>", native.short(), self.class_name(receiver), object.0);
                        out.push_str(&text);
                        return Ok(());
                    }
                    _ => "?".to_owned(),
                };
                out.push_str(&format!("<bound method {name} of "));
                self.write_repr(out, receiver)?;
                out.push('>');
            }
            Payload::Class(_) => {
                let name = self.qualified_name(object);
                out.push_str(&format!("<class '{name}'>"));
            }
            Payload::Exception(row) => {
                let args = row.args;
                let name = self.name_of_class(class);
                out.push_str(&name);
                let items = self.tuple_items(args);
                self.write_items(out, object, &items, "(", ")")?;
            }
            Payload::Module { name, .. } => {
                let name = self.text(*name).unwrap_or("?").to_owned();
                out.push_str(&format!("<module '{name}'>"));
            }
            Payload::Generator(row) => {
                let name = self.text(row.qualname).unwrap_or("?").to_owned();
                let word = match class {
                    ty::COROUTINE => "coroutine",
                    ty::ASYNC_GENERATOR => "async_generator",
                    ty::GENERATOR => "generator",
                    // Builtin iterators that run on a generator of ours.
                    _ => {
                        let name = self.qualified_name(class);
                        out.push_str(&format!("<{name} object at {:#x}>", object.0));
                        return Ok(());
                    }
                };
                out.push_str(&format!("<{word} object {name} at {:#x}>", object.0));
            }
            Payload::DictView { dict, part } => {
                let (dict, part) = (*dict, *part);
                let (word, pairs) = match part {
                    DictPart::Keys => ("dict_keys", self.dict_pairs(dict)),
                    DictPart::Values => ("dict_values", self.dict_pairs(dict)),
                    DictPart::Items => ("dict_items", self.dict_pairs(dict)),
                };
                out.push_str(word);
                out.push_str("([");
                for (index, (key, item)) in pairs.into_iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    match part {
                        DictPart::Keys => self.write_repr(out, key)?,
                        DictPart::Values => self.write_repr(out, item)?,
                        DictPart::Items => {
                            out.push('(');
                            self.write_repr(out, key)?;
                            out.push_str(", ");
                            self.write_repr(out, item)?;
                            out.push(')');
                        }
                    }
                }
                out.push_str("])");
            }
            Payload::MappingProxy(inner) => {
                let inner = *inner;
                out.push_str("mappingproxy(");
                match inner {
                    Value::Obj(class) if matches!(self.heap.payload(class), Payload::Class(_)) => self.write_class_dict(out, class)?,
                    inner => self.write_repr(out, inner)?,
                }
                out.push(')');
            }
            Payload::GenericAlias { origin, arguments, starred } => {
                let (origin, arguments) = (*origin, *arguments);
                if *starred {
                    out.push('*');
                }
                self.write_type(out, origin)?;
                out.push('[');
                let items = self.tuple_items(arguments);
                if items.is_empty() {
                    out.push_str("()");
                }
                for (index, item) in items.into_iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    self.write_type(out, item)?;
                }
                out.push(']');
            }
            Payload::Union(arguments) => {
                let arguments = *arguments;
                for (index, item) in self.tuple_items(arguments).into_iter().enumerate() {
                    if index > 0 {
                        out.push_str(" | ");
                    }
                    self.write_type(out, item)?;
                }
            }
            Payload::Cell(_) => out.push_str(&format!("<cell at {:#x}>", object.0)),
            Payload::Super { class, receiver, .. } => {
                let (class, receiver) = (*class, *receiver);
                let text = format!("<super: <class '{}'>, <{} object>>", self.name_of_class(class), self.class_name(receiver));
                out.push_str(&text);
            }
            _ => {
                let name = self.qualified_name(class);
                out.push_str(&format!("<{name} object at {:#x}>", object.0));
            }
        }
        Ok(())
    }

    /// The attributes of a class as a dict would show them.
    fn write_class_dict(&mut self, out: &mut String, class: Ref) -> Outcome<()> {
        let pairs: Vec<(Ref, Value)> = match self.heap.payload(class) {
            Payload::Class(row) => row.attributes.iter().map(|(&name, &value)| (name, value)).collect(),
            _ => Vec::new(),
        };
        self.spend(CLASS_DICT_SHOWN.of(pairs.len()))?;
        out.push('{');
        for (index, (name, value)) in pairs.into_iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            self.write_repr(out, Value::Obj(name))?;
            out.push_str(": ");
            self.write_repr(out, value)?;
        }
        out.push('}');
        Ok(())
    }

    fn write_type(&mut self, out: &mut String, value: Value) -> Outcome<()> {
        match value {
            Value::Obj(ty::NONE) => {
                out.push_str("None");
                Ok(())
            }
            Value::Obj(object) if matches!(self.heap.payload(object), Payload::Class(_)) => {
                let name = self.qualified_name(object);
                out.push_str(&name);
                Ok(())
            }
            Value::Ellipsis => {
                out.push_str("...");
                Ok(())
            }
            value => self.write_repr(out, value),
        }
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
