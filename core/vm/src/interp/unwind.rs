//! Exceptions: raising, finding handlers, and what a waiting continuation makes of one.

use super::{OnReturn, Pending, Vm};
use crate::costs::{EXCEPTION_CLASS, RAISED};
use crate::error::{Exit, Outcome, Throw, Trap};
use crate::frame::leaving;
use crate::payload::Payload;
use crate::types::ty;
use crate::value::{Ref, Value};
use std::sync::Arc;

/// Longest chain of contexts that is searched for a loop.
const CONTEXT_LIMIT: usize = 64;

impl Vm {
    /// `raise exception from cause`
    pub(crate) fn raise_instruction(&mut self, exception: Value, cause: Value) -> Throw {
        if exception.is_undefined() || (cause.is_undefined() && exception.is_undefined()) {
            let program = Arc::clone(&self.program);
            let frame = self.frames.last().expect("an instruction is running");
            let code = &program.codes[frame.code as usize];
            let register = code.code.instructions[frame.pc as usize - 1].b;
            return self.unbound(code, register);
        }
        let cause = match cause {
            Value::Undefined | Value::None => cause,
            cause => match self.heap.exception_class(cause) {
                Some(class) => {
                    // A class as cause is called; without arguments that is the same for exceptions of the usual sort.
                    self.exception_with(class, Value::Obj(crate::types::EMPTY_TUPLE))
                }
                None if self.heap.is_instance(cause, ty::BASE_EXCEPTION) => self.heap.retain(cause),
                None => return self.type_error("exception causes must derive from BaseException"),
            },
        };
        if let Some(class) = self.heap.exception_class(exception) {
            // Calling the class runs its __init__, so the helper finishes the raise.
            return match self.call_helper("raise_class", &[Value::Obj(class), cause.or(Value::Ellipsis)]) {
                Err(throw) => {
                    self.heap.release(cause);
                    super::step::discard(throw)
                }
                Ok(_) => Throw::Trap(Trap::Internal),
            };
        }
        if !self.heap.is_instance(exception, ty::BASE_EXCEPTION) {
            self.heap.release(cause);
            return self.type_error("exceptions must derive from BaseException");
        }
        self.heap.retain(exception);
        self.set_cause(exception, cause);
        Throw::Raise(exception)
    }

    /// Sets `__cause__`, taking the reference over; undefined leaves it.
    pub(crate) fn set_cause(&mut self, exception: Value, cause: Value) {
        if cause.is_undefined() {
            return;
        }
        if let Some(row) = self.heap.exception_row(exception) {
            let old = std::mem::replace(&mut row.cause, cause);
            row.suppress = true;
            self.heap.release(old);
        }
    }

    /// Raises again what a handler did not take: nothing is added to the trace for this frame.
    pub(crate) fn reraise(&mut self, exception: Value) -> Throw {
        self.quiet = true;
        Throw::Raise(exception)
    }

    /// `raise` alone.
    pub(crate) fn raise_current(&mut self) -> Throw {
        match self.handled.last() {
            Some(&exception) if !exception.is_undefined() => {
                self.heap.retain(exception);
                self.reraise(exception)
            }
            _ => self.raise(ty::RUNTIME_ERROR, "No active exception to reraise"),
        }
    }

    /// Whether an exception is of a class or of one in a tuple.
    pub(crate) fn match_exception(&mut self, exception: Value, classes: Value) -> Outcome<bool> {
        if let Some(class) = self.heap.exception_class(classes) {
            return Ok(self.heap.is_instance(exception, class));
        }
        let items = match classes {
            Value::Obj(object) => match self.heap.payload(object).core() {
                Payload::Tuple(items) => items.to_vec(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        self.spend(EXCEPTION_CLASS.of(items.len()))?;
        let is_tuple = self.heap.is_instance(classes, ty::TUPLE);
        for item in &items {
            if self.heap.exception_class(*item).is_none() {
                return Err(self.type_error("catching classes that do not inherit from BaseException is not allowed"));
            }
        }
        if !is_tuple {
            return Err(self.type_error("catching classes that do not inherit from BaseException is not allowed"));
        }
        Ok(items.iter().any(|item| item.object().is_some_and(|class| self.heap.is_instance(exception, class))))
    }

    /// Links the exception being handled as context of a new one.
    fn link_context(&mut self, exception: Value) {
        let Some(&handled) = self.handled.last() else { return };
        if handled.is_undefined() || handled.is(exception) {
            return;
        }
        let has_context = self.heap.exception_data(exception).is_none_or(|row| !row.context.is_none());
        if has_context {
            return;
        }
        // A context that leads back here would make a cycle: it is cut, as CPython does.
        let mut current = handled;
        for _ in 0..CONTEXT_LIMIT {
            let Some(row) = self.heap.exception_data(current) else { break };
            let next = row.context;
            if next.is(exception) {
                if let Some(row) = self.heap.exception_row(current) {
                    row.context = Value::None;
                }
                self.heap.release(exception);
                break;
            }
            if next.is_none() {
                break;
            }
            current = next;
        }
        self.heap.retain(handled);
        if let Some(row) = self.heap.exception_row(exception) {
            row.context = handled;
        }
    }

    /// Leaves frames until one handles the exception. `None`: the program goes on.
    pub(crate) fn unwind(&mut self, exception: Value) -> Outcome<Option<Exit>> {
        let program = Arc::clone(&self.program);
        let mut exception = exception;
        let mut quiet = std::mem::take(&mut self.quiet);
        if !quiet {
            self.spend(RAISED.once())?;
            self.link_context(exception);
        }
        loop {
            let Some(frame) = self.frames.last() else {
                let error = self.describe(exception);
                self.heap.release(exception);
                return Ok(Some(Exit::Raise(error)));
            };
            let code = &program.codes[frame.code as usize].code;
            let at = frame.pc.saturating_sub(1);
            let base = frame.base as usize;
            let (number, outer_handled) = (frame.code, frame.handled as usize);
            if !quiet {
                let line = code.lines.get(at as usize).copied().unwrap_or(0);
                if let Some(row) = self.heap.exception_row(exception) {
                    if row.trace.len() < 1_024 {
                        row.trace.push((number, line));
                    }
                    let old = std::mem::replace(&mut row.shown, Value::None);
                    self.heap.release(old);
                }
            }
            quiet = false;
            let handler = code.handlers.iter().find(|handler| handler.start <= at && at < handler.end);
            if let Some(handler) = handler {
                for index in base + usize::from(handler.depth)..base + usize::from(code.registers) {
                    let old = std::mem::replace(&mut self.registers[index], Value::Undefined);
                    self.heap.release(old);
                }
                self.truncate_handled(outer_handled + usize::from(handler.handled));
                self.registers[base + usize::from(handler.depth)] = exception;
                self.frames.last_mut().expect("checked above").pc = handler.target;
                return Ok(None);
            }
            let frame = self.frames.pop().expect("checked above");
            self.owe(leaving(code.registers));
            for index in base..base + usize::from(code.registers) {
                let old = std::mem::replace(&mut self.registers[index], Value::Undefined);
                self.heap.release(old);
            }
            self.truncate_handled(outer_handled);
            self.heap.release(frame.namespace);
            if let Some(generator) = frame.generator.get() {
                self.abort_generator(generator);
                exception = self.leave_generator(generator, exception);
            }
            // No generator of the program is left by StopIteration any more.
            let is_generator = !frame.generator.is_none() && !self.heap.is_instance(exception, ty::STOP_ITERATION);
            match self.absorb(exception, frame.on_return, frame.dest as usize, is_generator)? {
                None => return Ok(None),
                Some(still) => exception = still,
            }
        }
    }

    fn truncate_handled(&mut self, length: usize) {
        while self.handled.len() > length {
            if let Some(old) = self.handled.pop() {
                self.heap.release(old);
            }
        }
    }

    /// Whether a generator is one of the program: for a builtin iterator that is one inside, StopIteration is the end, whoever raises it.
    fn is_own_generator(&self, generator: Ref) -> bool {
        let unit = match self.heap.payload(generator) {
            Payload::Generator(row) => self.program.codes[row.code as usize].unit,
            _ => return true,
        };
        // The frozen modules come before all others.
        let is_of_itertools = self.program.files.iter().position(|file| file.file == "itertools.py") == Some(unit as usize);
        let class = self.heap.slot(generator).class;
        !is_of_itertools && matches!(class, ty::GENERATOR | ty::COROUTINE | ty::ASYNC_GENERATOR | ty::COROUTINE_WRAPPER)
    }

    /// StopIteration must not leave a generator as itself.
    fn leave_generator(&mut self, generator: Ref, exception: Value) -> Value {
        let class = self.heap.slot(generator).class;
        let (stop, word) = if class == ty::ASYNC_GENERATOR {
            (
                self.heap.is_instance(exception, ty::STOP_ASYNC_ITERATION) || self.heap.is_instance(exception, ty::STOP_ITERATION),
                "async generator",
            )
        } else {
            let word = if class == ty::COROUTINE { "coroutine" } else { "generator" };
            (self.heap.is_instance(exception, ty::STOP_ITERATION), word)
        };
        if !stop || !self.is_own_generator(generator) {
            return exception;
        }
        let name = if self.heap.is_instance(exception, ty::STOP_ITERATION) { "StopIteration" } else { "StopAsyncIteration" };
        let Throw::Raise(error) = self.raise(ty::RUNTIME_ERROR, &format!("{word} raised {name}")) else { return exception };
        self.heap.retain(exception);
        if let Some(row) = self.heap.exception_row(error) {
            row.context = exception;
        }
        self.set_cause(error, exception);
        error
    }

    /// Lets what waits for a result see an exception: `None` when it is content with it.
    pub(crate) fn absorb(&mut self, exception: Value, on_return: OnReturn, dest: usize, generator: bool) -> Outcome<Option<Value>> {
        match on_return {
            OnReturn::ForIter { exit } => {
                if !generator && self.heap.is_instance(exception, ty::STOP_ITERATION) {
                    self.heap.release(exception);
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = exit;
                    }
                    return Ok(None);
                }
                Ok(Some(exception))
            }
            OnReturn::Send { done } => {
                if !generator && self.heap.is_instance(exception, ty::STOP_ITERATION) {
                    let value = self.stop_value(exception);
                    self.heap.retain(value);
                    self.heap.release(exception);
                    self.give_back(value, OnReturn::Store, dest)?;
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = done;
                    }
                    return Ok(None);
                }
                Ok(Some(exception))
            }
            OnReturn::Init(instance) => {
                self.heap.release(instance);
                Ok(Some(exception))
            }
            OnReturn::Other(pending) => self.absorb_other(exception, *pending, dest, generator),
            OnReturn::Store | OnReturn::Discard | OnReturn::Truth { .. } | OnReturn::Jump { .. } | OnReturn::Entry => Ok(Some(exception)),
        }
    }

    fn absorb_other(&mut self, exception: Value, pending: Pending, dest: usize, generator: bool) -> Outcome<Option<Value>> {
        match pending {
            Pending::NextDefault { default } => {
                if !generator && self.heap.is_instance(exception, ty::STOP_ITERATION) {
                    self.heap.release(exception);
                    self.give_back(default, OnReturn::Store, dest)?;
                    return Ok(None);
                }
                self.heap.release(default);
            }
            Pending::GetAttr { object, name, fallback } => {
                let missing = self.heap.is_instance(exception, ty::ATTRIBUTE_ERROR);
                let call = if missing {
                    self.heap.release(exception);
                    Some(self.call_special(fallback, &[object, name], OnReturn::Store))
                } else {
                    None
                };
                self.heap.release(object);
                self.heap.release(name);
                self.heap.release(fallback);
                if let Some(Throw::Call(call)) = call {
                    self.begin_call(*call, dest)?;
                    return Ok(None);
                }
            }
            Pending::ImportFrom { package, name } if self.heap.is_instance(exception, ty::ATTRIBUTE_ERROR) => {
                self.heap.release(exception);
                let Throw::Raise(error) = self.no_such_import(package, name) else { return Err(Throw::Trap(Trap::Internal)) };
                self.link_context(error);
                return Ok(Some(error));
            }
            Pending::Close => {
                let fine = self.heap.is_instance(exception, ty::GENERATOR_EXIT) || self.heap.is_instance(exception, ty::STOP_ITERATION);
                if fine {
                    self.heap.release(exception);
                    self.give_back(Value::None, OnReturn::Store, dest)?;
                    return Ok(None);
                }
            }
            Pending::Binary { rest, left, right, .. } | Pending::Compare { rest, left, right, .. } => {
                self.release_alternatives(rest);
                self.heap.release(left);
                self.heap.release(right);
            }
            Pending::New { arguments, keywords, .. } => {
                self.heap.release_all(arguments);
                for (_, value) in keywords {
                    self.heap.release(value);
                }
            }
            Pending::Drain(drain) if !generator && self.heap.is_instance(exception, ty::STOP_ITERATION) => {
                self.heap.release(exception);
                self.drain_ended(drain, dest)?;
                return Ok(None);
            }
            Pending::Drain(drain) => {
                self.release_drain(drain.arguments, drain.items);
                return self.absorb(exception, drain.then, dest, false);
            }
            Pending::Next
            | Pending::ImportFrom { .. }
            | Pending::Check { .. }
            | Pending::Iterator
            | Pending::Unpack { .. }
            | Pending::UnpackRest { .. } => {}
        }
        Ok(Some(exception))
    }

    /// `value` of a StopIteration.
    pub(crate) fn stop_value(&self, exception: Value) -> Value {
        self.heap.exception_data(exception).and_then(|row| self.heap.tuple_ref(row.args).first().copied()).unwrap_or(Value::None)
    }
}
