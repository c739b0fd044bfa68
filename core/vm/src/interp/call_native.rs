//! Calls of builtin functions: arguments, receivers, results, and what goes on in Python.

use super::{OnReturn, Pending, Vm};
use crate::costs::Charge;
use crate::error::{Outcome, PendingCall, Throw, Trap};
use crate::payload::Payload;
use crate::runtime::native::{First, NATIVE_PARAMETERS, Native};
use crate::types::ty;
use crate::value::{Ref, Value};

impl Vm {
    /// Calls a builtin function.
    pub(super) fn call_native(
        &mut self,
        row: u16,
        at: usize,
        count: usize,
        names: Option<Ref>,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let native = self.native(row);
        self.owe(Charge::of_function(native));
        let signature = &native.signature;
        let mut fixed = [Value::Undefined; NATIVE_PARAMETERS];
        let outcome = if names.is_none() && count >= signature.required && count <= signature.positional && signature.simple {
            fixed[..count].copy_from_slice(&self.registers[at..at + count]);
            let parameters = signature.names.len();
            let outcome = self.run_native(native, &fixed[..parameters]);
            return self.finish_native(row, &fixed[..parameters], outcome, at, count, dest, on_return);
        } else if let (None, Some(width)) = (names, signature.spread(count)) {
            let (named, rest) = self.registers[at..at + count].split_at(count.min(signature.positional));
            fixed[..named.len()].copy_from_slice(named);
            fixed[signature.names.len()..width].copy_from_slice(rest);
            let outcome = self.run_native(native, &fixed[..width]);
            return self.finish_native(row, &fixed[..width], outcome, at, count, dest, on_return);
        } else {
            match self.bind_native(row, at, count, names) {
                Ok((arguments, dict)) => {
                    let outcome = match self.run_native(native, &arguments) {
                        Err(Throw::Fallback) => self.native_fallback(row, &arguments),
                        outcome => outcome,
                    };
                    if let Some(dict) = dict {
                        self.heap.release(dict);
                    }
                    outcome
                }
                Err(throw) => Err(throw),
            }
        };
        self.finish_native(row, &[], outcome, at, count, dest, on_return)
    }

    /// Runs a builtin function, after a look at its first argument: nobody else has checked the receiver of a method that was taken from
    /// its class, or the class that a `__new__` is given.
    #[inline]
    pub(super) fn run_native(&mut self, native: &Native, arguments: &[Value]) -> Outcome {
        self.check_first(native, arguments.first().copied())?;
        (native.function)(self, arguments)
    }

    #[inline]
    pub(super) fn check_first(&mut self, native: &Native, first: Option<Value>) -> Outcome<()> {
        match (native.first, first) {
            (First::Instance(owner), Some(receiver)) => {
                let class = self.heap.class_of(receiver);
                if class != owner && !self.heap.is_subclass(class, owner) {
                    return Err(self.wrong_receiver(native, owner, receiver));
                }
                Ok(())
            }
            (First::Class(owner), Some(class)) => self.check_made(owner, class),
            _ => Ok(()),
        }
    }

    /// TypeError for a method of a builtin type that is called with something else before its arguments.
    #[cold]
    pub(super) fn wrong_receiver(&mut self, native: &Native, owner: Ref, receiver: Value) -> Throw {
        let (name, owner, class) = (native.short, self.heap.name_of_class(owner), self.heap.class_name(receiver));
        self.type_error(if native.is_slot() {
            format!("descriptor '{name}' requires a '{owner}' object but received a '{class}'")
        } else {
            format!("descriptor '{name}' for '{owner}' objects doesn't apply to a '{class}' object")
        })
    }

    /// TypeError where `owner.__new__` is to make an instance of something else than its own classes.
    pub(super) fn check_made(&mut self, owner: Ref, class: Value) -> Outcome<()> {
        let is_class = crate::objects::object::is_class(self, class);
        if class.object().is_some_and(|class| is_class && self.heap.is_subclass(class, owner)) {
            return Ok(());
        }
        let owner = self.heap.name_of_class(owner);
        let name = if is_class { class.object().map_or_else(String::new, |class| self.heap.name_of_class(class)) } else { "X".to_owned() };
        let problem = if is_class {
            format!("{name} is not a subtype of {owner}")
        } else {
            format!("X is not a type object ({})", self.heap.class_name(class))
        };
        Err(self.type_error(format!("{owner}.__new__({name}): {problem}")))
    }

    /// Takes back what a builtin function gave, or does what it left to do; its arguments are in `count` registers from `at` on.
    #[allow(clippy::too_many_arguments, reason = "the call, and where its result goes")]
    pub(super) fn finish_native(
        &mut self,
        row: u16,
        arguments: &[Value],
        outcome: Outcome,
        at: usize,
        count: usize,
        dest: usize,
        on_return: OnReturn,
    ) -> Outcome<bool> {
        let outcome = match outcome {
            Err(Throw::Fallback) => self.native_fallback(row, arguments),
            outcome => outcome,
        };
        if let Err(Throw::Resume(generator, _)) = &outcome {
            self.heap.retain(Value::Obj(*generator));
        }
        self.clear_registers(at, count);
        match outcome {
            Ok(value) => {
                if matches!(on_return, OnReturn::Store) {
                    let old = std::mem::replace(&mut self.registers[dest], value);
                    self.heap.release(old);
                    if self.meter.cycles < 0 {
                        return Err(Throw::Trap(Trap::OutOfCycles));
                    }
                    return Ok(self.heap.exhausted());
                }
                self.give_back(value, on_return, dest)?;
                Ok(true)
            }
            Err(Throw::Call(call)) => {
                self.chain(*call, on_return, dest)?;
                Ok(true)
            }
            Err(Throw::Resume(generator, wake)) => {
                let (wake, mut own) = *wake;
                let dest = match (&mut own, on_return) {
                    (_, OnReturn::Store) => dest,
                    (OnReturn::Other(pending), on_return) if matches!(**pending, Pending::Drain(_)) => {
                        if let Pending::Drain(drain) = &mut **pending {
                            drain.then = on_return;
                        }
                        dest
                    }
                    (_, on_return) => self.push_trampoline(on_return, dest)?,
                };
                let outcome = self.resume_generator(generator, wake, own, dest);
                self.heap.release(Value::Obj(generator));
                outcome?;
                Ok(true)
            }
            Err(Throw::Host(call)) => {
                let dest = if matches!(on_return, OnReturn::Store) { dest } else { self.push_trampoline(on_return, dest)? };
                self.waiting = Some(dest);
                Err(Throw::Host(call))
            }
            Err(throw) => self.fail(throw, on_return, dest),
        }
    }

    /// An exception of a native function, seen by what waits for its result.
    pub(super) fn fail(&mut self, throw: Throw, on_return: OnReturn, dest: usize) -> Outcome<bool> {
        let Throw::Raise(exception) = throw else { return Err(throw) };
        match self.absorb(exception, on_return, dest, false)? {
            None => Ok(true),
            Some(exception) => Err(Throw::Raise(exception)),
        }
    }

    /// Makes a call whose result goes through both its own and an outer continuation.
    pub(super) fn chain(&mut self, mut call: PendingCall, on_return: OnReturn, dest: usize) -> Outcome<()> {
        if matches!(on_return, OnReturn::Store) {
            return self.begin_call(call, dest);
        }
        if matches!(call.on_return, OnReturn::Store) {
            call.on_return = on_return;
            return self.begin_call(call, dest);
        }
        let dest = self.push_trampoline(on_return, dest)?;
        self.begin_call(call, dest)
    }

    pub(super) fn native_fallback(&mut self, row: u16, arguments: &[Value]) -> Outcome {
        if let Some(throw) = self.drained(row, self.native(row), arguments) {
            return Err(throw);
        }
        let function = self.helpers.get(usize::from(row)).copied().unwrap_or(Value::Undefined);
        if function.is_undefined() {
            let native = self.native(row);
            let message = format!("{}() cannot take an object implemented in Python here", native.name);
            return Err(self.type_error(message));
        }
        let used = arguments.iter().rposition(|value| !value.is_undefined()).map_or(0, |index| index + 1);
        let arguments = arguments[..used].iter().map(|value| value.or(Value::None)).collect::<Vec<_>>();
        self.heap.retain(function);
        let mut arguments = self.heap.retain_all(&arguments);
        if self.native(row).helper.starts_with("retry_") {
            // It turns the arguments into builtin ones and calls the same native function again.
            arguments.insert(0, self.heap.make(ty::NATIVE, Payload::Native(row)));
        }
        Err(Throw::Call(Box::new(PendingCall {
            function,
            arguments,
            keywords: Vec::new(),
            namespace: Value::Undefined,
            on_return: OnReturn::Store,
        })))
    }
}
