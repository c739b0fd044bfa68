//! What a call gives back, and what it was wanted for.

use super::{Expect, OnReturn, Pending, Then, Vm};
use crate::error::{Outcome, Throw, Trap};
use crate::frame::leaving;
use crate::heap::numbers::Number;
use crate::image::LinkedCode;
use crate::payload::{Generator, GeneratorState, Payload};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_compiler::code::CodeKind;

impl Vm {
    /// Leaves the top frame with a value.
    pub(crate) fn return_value(&mut self, value: Value, code: &LinkedCode) -> Outcome<()> {
        let frame = self.frames.pop().expect("an instruction is running");
        let base = frame.base as usize;
        self.owe(leaving(code.code.registers));
        for index in base..base + usize::from(code.code.registers) {
            if let Value::Obj(_) = self.registers[index] {
                let old = std::mem::replace(&mut self.registers[index], Value::Undefined);
                self.heap.release(old);
            } else {
                self.registers[index] = Value::Undefined;
            }
        }
        if !frame.namespace.is_undefined() {
            self.heap.release(frame.namespace);
        }
        let dest = frame.dest as usize;
        if let Some(generator) = frame.generator.get() {
            let asynchronous = self.heap.slot(generator).class == ty::ASYNC_GENERATOR;
            self.heap.finish_generator(generator);
            if asynchronous {
                let exception = self.exception(ty::STOP_ASYNC_ITERATION, Value::Undefined);
                return Err(Throw::Raise(exception));
            }
            return self.generator_returned(value, frame.on_return, dest);
        }
        if matches!(frame.on_return, OnReturn::Store) {
            let old = std::mem::replace(&mut self.registers[dest], value);
            if let Value::Obj(_) = old {
                self.heap.release(old);
            }
            return Ok(());
        }
        self.give_back(value, frame.on_return, dest)
    }

    /// Makes the generator of a call whose parameters lie in registers from `at` on.
    pub(super) fn rest_new_generator(
        &mut self,
        function: Ref,
        linked: &LinkedCode,
        code_number: u32,
        at: usize,
        on_return: OnReturn,
        dest: usize,
    ) -> Outcome<()> {
        let code = &linked.code;
        self.owe(leaving(code.registers));
        let held = &mut self.registers[at..at + usize::from(code.registers)];
        // Registers above the last one that holds something are unbound anyway.
        let held_until = held.iter().rposition(|register| !register.is_undefined()).map_or(0, |last| last + 1);
        let mut registers = self.heap.spares.values(usize::from(code.registers));
        registers.extend(held[..held_until].iter_mut().map(|register| {
            let value = afresh(register);
            *register = Value::Undefined;
            value
        }));
        // What a generator expression goes over has to be iterable when the expression is evaluated.
        if code.kind == CodeKind::Generator
            && code.name == "<genexpr>"
            && !registers.first().is_some_and(|&first| self.may_be_iterated(first))
        {
            let throw = self.not_iterable(registers.first().copied().unwrap_or(Value::None));
            self.heap.release_all(registers);
            return Err(throw);
        }
        let class = match code.kind {
            CodeKind::Generator | CodeKind::Plain => ty::GENERATOR,
            CodeKind::Coroutine => ty::COROUTINE,
            CodeKind::AsyncGenerator => ty::ASYNC_GENERATOR,
        };
        let (globals, name, qualname) = match self.heap.payload(function) {
            Payload::Function(row) => (row.globals, row.name, row.qualname),
            _ => return Err(Throw::Trap(Trap::Internal)),
        };
        self.heap.retain(name);
        self.heap.retain(qualname);
        let generator = Generator {
            code: code_number,
            globals,
            pc: 0,
            registers,
            room: code.registers,
            handled: Vec::new(),
            sent: 0,
            delegate: None,
            again: Box::default(),
            state: GeneratorState::Created,
            guarded: false,
            name,
            qualname,
        };
        let generator = self.heap.spares.generator(generator);
        let generator = self.heap.make(class, Payload::Generator(generator));
        self.give_back(generator, on_return, dest)
    }

    /// Whether a value has an iterator, as far as its class says so.
    fn may_be_iterated(&mut self, value: Value) -> bool {
        let Value::Obj(object) = value else { return false };
        match self.heap.payload(object) {
            Payload::BigInt(_) | Payload::Complex(_) | Payload::Function(_) | Payload::Native(_) | Payload::BoundMethod { .. } => false,
            Payload::Instance(_) | Payload::Extended(_) => match self.special(value, nm::ITER) {
                Some(found) => !found.is_none(),
                None => self.special(value, nm::GETITEM).is_some(),
            },
            _ => true,
        }
    }

    /// Does what a call's result was wanted for.
    pub(crate) fn give_back(&mut self, value: Value, on_return: OnReturn, dest: usize) -> Outcome<()> {
        match on_return {
            OnReturn::Store | OnReturn::ForIter { .. } | OnReturn::Send { .. } => {
                let old = std::mem::replace(&mut self.registers[dest], value);
                self.heap.release(old);
                Ok(())
            }
            OnReturn::Discard => {
                self.heap.release(value);
                Ok(())
            }
            OnReturn::Init(instance) => {
                if !value.is_none() {
                    let message = format!("__init__() should return None, not '{}'", self.heap.class_name(value));
                    self.heap.release(value);
                    self.heap.release(instance);
                    return Err(self.type_error(message));
                }
                let old = std::mem::replace(&mut self.registers[dest], instance);
                self.heap.release(old);
                Ok(())
            }
            OnReturn::Truth { negate } => self.decide(value, Then::Store, negate, dest),
            OnReturn::Jump { when, target } => self.decide(value, Then::Jump { when, target }, false, dest),
            OnReturn::Entry => {
                self.result = Some(value);
                Ok(())
            }
            OnReturn::Other(pending) => self.give_back_other(value, *pending, dest),
        }
    }

    /// Stores the truth of a value (or the opposite), or jumps by it; the value is consumed.
    pub(crate) fn decide(&mut self, value: Value, then: Then, negate: bool, dest: usize) -> Outcome<()> {
        let on_return = match then {
            Then::Store => OnReturn::Truth { negate },
            Then::Jump { when, target } => OnReturn::Jump { when, target },
        };
        let outcome = self.truth_or_call(value, on_return);
        self.heap.release(value);
        match outcome {
            Ok(truth) => {
                self.settle(truth != negate, then, dest);
                Ok(())
            }
            Err(Throw::Call(call)) => self.begin_call(*call, dest),
            Err(throw) => Err(throw),
        }
    }

    /// Stores a truth or jumps by it.
    pub(crate) fn settle(&mut self, truth: bool, then: Then, dest: usize) {
        match then {
            Then::Store => {
                let old = std::mem::replace(&mut self.registers[dest], Value::truth(truth));
                self.heap.release(old);
            }
            Then::Jump { when, target } => {
                if truth == when {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = target;
                    }
                }
            }
        }
    }

    fn give_back_other(&mut self, value: Value, pending: Pending, dest: usize) -> Outcome<()> {
        match pending {
            Pending::Binary { rest, left, right, symbol } => {
                if matches!(value, Value::NotImplemented) {
                    return self.next_binary(rest, left, right, symbol, dest);
                }
                self.release_alternatives(rest);
                self.heap.release(left);
                self.heap.release(right);
                self.give_back(value, OnReturn::Store, dest)
            }
            Pending::Compare { rest, negate, left, right, op, then } => {
                if matches!(value, Value::NotImplemented) {
                    return self.next_compare(rest, left, right, op, then, dest);
                }
                self.release_alternatives(rest);
                self.heap.release(left);
                self.heap.release(right);
                match then {
                    Then::Store if !negate => self.give_back(value, OnReturn::Store, dest),
                    then => self.decide(value, then, negate, dest),
                }
            }
            Pending::NextDefault { default } => {
                self.heap.release(default);
                self.give_back(value, OnReturn::Store, dest)
            }
            Pending::Next | Pending::ImportFrom { .. } => self.give_back(value, OnReturn::Store, dest),
            Pending::Check { expect, then, negate } => self.check_result(value, expect, then, negate, dest),
            Pending::GetAttr { object, name, fallback } => {
                self.heap.release(object);
                self.heap.release(name);
                self.heap.release(fallback);
                self.give_back(value, OnReturn::Store, dest)
            }
            Pending::Iterator => self.iterator_arrived(value, dest),
            Pending::Unpack { count } => {
                let outcome = self.unpack(value, count, dest);
                self.heap.release(value);
                outcome
            }
            Pending::UnpackRest { before, after } => {
                let outcome = self.unpack_rest(value, before, after, dest);
                self.heap.release(value);
                outcome
            }
            Pending::New { class, arguments, keywords } => self.initialise(class, value, arguments, keywords, dest),
            Pending::Close => {
                self.heap.release(value);
                self.give_back(Value::None, OnReturn::Store, dest)
            }
            Pending::Drain(drain) => self.drain_item(value, drain, dest),
        }
    }

    /// The number that `int` or `float` gives for the result of a special method, which is of no subclass; the value is consumed.
    fn plain_number(&mut self, value: Value, expect: Expect) -> Outcome {
        if !matches!(expect, Expect::Int | Expect::Index | Expect::Trunc | Expect::Float)
            || matches!(self.heap.class_of(value), ty::INT | ty::FLOAT)
        {
            return Ok(value);
        }
        let plain = match self.heap.number(value) {
            Some(Number::Float(number)) => Ok(Value::Float(number)),
            Some(number) => self.int_value(number.into_big()),
            None => return Ok(value),
        };
        self.heap.release(value);
        plain
    }

    fn check_result(&mut self, value: Value, expect: Expect, then: Option<Then>, negate: bool, dest: usize) -> Outcome<()> {
        let is_text = self.heap.text(value).is_some();
        let (fine, message) = match expect {
            Expect::Repr => (is_text, "__repr__ returned non-string (type {})"),
            Expect::Str => (is_text, "__str__ returned non-string (type {})"),
            Expect::Format => (is_text, "__format__ must return a str, not {}"),
            Expect::Bool => (matches!(value, Value::Bool(_)), "__bool__ should return bool, returned {}"),
            Expect::Len | Expect::LenTruth => (self.heap.as_int(value).is_some(), "'{}' object cannot be interpreted as an integer"),
            Expect::Hash => (self.heap.as_int(value).is_some(), "__hash__ method should return an integer"),
            Expect::Index => (self.heap.as_int(value).is_some(), "__index__ returned non-int (type {})"),
            Expect::Int => (self.heap.as_int(value).is_some(), "__int__ returned non-int (type {})"),
            Expect::Trunc => (self.heap.as_int(value).is_some(), "__trunc__ returned non-Integral (type {})"),
            Expect::Float => (self.heap.is_instance(value, ty::FLOAT), "{}.__float__ returned non-float (type {})"),
            Expect::Iter => (self.is_iterator(value), "iter() returned non-iterator of type '{}'"),
            Expect::Await if self.heap.class_of(value) == ty::COROUTINE => (false, "__await__() returned a coroutine"),
            Expect::Await => (self.is_iterator(value), "__await__() returned non-iterator of type '{}'"),
            Expect::Bytes => (self.heap.is_instance(value, ty::BYTES), "__bytes__ returned non-bytes (type {})"),
        };
        if !fine {
            let message = message.replace("{}", &self.heap.class_name(value));
            self.heap.release(value);
            return Err(self.type_error(message));
        }
        if let (Expect::Len | Expect::LenTruth, Some(length)) = (expect, self.heap.as_int(value)) {
            if length.sign() == dashu_int::Sign::Negative {
                self.heap.release(value);
                return Err(self.value_error("__len__() should return >= 0"));
            }
            if i64::try_from(&length).is_err() {
                self.heap.release(value);
                return Err(self.raise(ty::OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer"));
            }
        }
        if expect == Expect::Hash {
            // What fits a word is the hash itself; only -1 means something else to CPython.
            let hash = match self.heap.as_int(value) {
                Some(number) => match i64::try_from(&number) {
                    Ok(-1) => -2,
                    Ok(hash) => hash,
                    Err(_) => cowboy_num::hash_int(&number),
                },
                None => 0,
            };
            self.heap.release(value);
            return self.give_back(Value::Int(hash), OnReturn::Store, dest);
        }
        let value = self.plain_number(value, expect)?;
        match then {
            Some(then) => self.decide(value, then, negate, dest),
            None if negate || expect == Expect::LenTruth => self.decide(value, Then::Store, negate, dest),
            None => self.give_back(value, OnReturn::Store, dest),
        }
    }
}
