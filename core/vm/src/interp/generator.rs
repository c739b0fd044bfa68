//! Generators, coroutines and asynchronous generators: their registers rest in the heap between two steps.

use super::{Frame, OnReturn, Pending, Vm};
use crate::costs::ITERATOR_RENEWED;
use crate::error::{Outcome, Throw, Trap};
use crate::frame::Wake;
use crate::image::LinkedCode;
use crate::payload::{Generator, GeneratorState, Payload};
use crate::runtime::generators::THROWN;
use crate::runtime::protocol::Iterate;
use crate::types::{nm, ty};
use crate::value::{Link, Ref, Value};
use crate::window::{afresh, alone, push};
use cowboy_compiler::opcode::Op;

impl Vm {
    /// Whether what runs like a generator is one, with a name: a `map` or `enumerate` over Python code is not.
    pub(super) fn is_named(&self, generator: Ref) -> bool {
        matches!(self.heap.slot(generator).class, ty::GENERATOR | ty::COROUTINE | ty::ASYNC_GENERATOR)
    }

    /// Pushes the frame of a generator. What it yields or returns goes by `on_return` to `dest`.
    pub(crate) fn resume_generator(&mut self, generator: Ref, wake: Wake, on_return: OnReturn, dest: usize) -> Outcome<()> {
        let class = self.heap.slot(generator).class;
        let word = match class {
            ty::COROUTINE => "coroutine",
            ty::ASYNC_GENERATOR => "async generator",
            _ => "generator",
        };
        let depth = self.frames.len();
        let Some(row) = self.heap.generator(generator) else { return Err(Throw::Trap(Trap::Internal)) };
        match (row.state, &wake) {
            (GeneratorState::Running, _) if !row.again.is_empty() => {
                let step = self.another_step(generator);
                let outcome = self.resume_generator(step, wake, on_return, dest);
                self.heap.release(Value::Obj(step));
                return outcome;
            }
            (GeneratorState::Running, _) => {
                self.drop_wake(wake);
                return Err(self.value_error(format!("{word} already executing")));
            }
            (GeneratorState::Done, Wake::Send(_)) => {
                self.drop_wake(wake);
                if matches!(class, ty::COROUTINE | ty::COROUTINE_WRAPPER) {
                    return Err(self.raise(ty::RUNTIME_ERROR, "cannot reuse already awaited coroutine"));
                }
                return self.generator_returned(Value::None, on_return, dest);
            }
            (GeneratorState::Done, Wake::Throw(_)) if matches!(class, ty::COROUTINE | ty::COROUTINE_WRAPPER) => {
                self.drop_wake(wake);
                return Err(self.raise(ty::RUNTIME_ERROR, "cannot reuse already awaited coroutine"));
            }
            (GeneratorState::Done, Wake::Throw(_)) => {
                let Wake::Throw(exception) = wake else { return Err(Throw::Trap(Trap::Internal)) };
                return Err(Throw::Raise(exception));
            }
            (GeneratorState::Created, Wake::Send(value)) if !value.is_none() => {
                self.drop_wake(wake);
                return Err(self.type_error(format!("can't send non-None value to a just-started {word}")));
            }
            (GeneratorState::Created, Wake::Throw(_)) => {
                let Wake::Throw(exception) = wake else { return Err(Throw::Trap(Trap::Internal)) };
                self.heap.finish_generator(generator);
                return match self.absorb(exception, on_return, dest, true)? {
                    None => Ok(()),
                    Some(exception) => Err(Throw::Raise(exception)),
                };
            }
            _ => {}
        }
        if depth >= self.meter.limits.recursion {
            self.drop_wake(wake);
            return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        let row = self.heap.generator(generator).expect("checked above");
        let started = row.state == GeneratorState::Suspended;
        row.state = GeneratorState::Running;
        row.guarded = false;
        let handled = std::mem::take(&mut row.handled);
        let (code, globals, pc, sent, delegate) = (row.code, row.globals, row.pc, row.sent, row.delegate);
        let base = self.stack_top();
        self.ensure_registers(base + usize::from(self.program.codes[code as usize].code.registers) + 1);
        // The list keeps its room for the next rest.
        if let Payload::Generator(row) = self.heap.payload_mut(generator) {
            for (register, value) in self.registers[base..].iter_mut().zip(row.registers.drain(..)) {
                *register = value;
            }
        }
        self.heap.retain(Value::Obj(generator));
        self.frames.push(Frame {
            code,
            pc,
            base: base as u32,
            dest: dest as u32,
            globals,
            handled: self.handled.len() as u32,
            generator: Link::to(generator),
            namespace: Value::Undefined,
            on_return,
        });
        self.handled.extend(handled);
        match wake {
            Wake::Send(value) => {
                if started {
                    let index = base + usize::from(sent);
                    let old = std::mem::replace(&mut self.registers[index], value);
                    self.heap.release(old);
                }
                Ok(())
            }
            Wake::Throw(exception) => match delegate.map(|register| self.registers[base + usize::from(register)]) {
                Some(Value::Obj(inner)) if started && self.takes_exceptions(inner, exception) => {
                    // The exception goes to the generator that is delegated to; the `Send` and `Yield` before `pc` take its answer.
                    let send = self.program.codes[code as usize].code.instructions[pc as usize - 2];
                    let done = i64::from(pc) - 1 + send.immediate();
                    self.frames.last_mut().expect("pushed above").pc = pc - 1;
                    let (on_return, dest) = (OnReturn::Send { done: done as u32 }, base + usize::from(send.a));
                    let exits = self.is_generator_exit(exception);
                    if let (false, Some(generator)) = (exits, self.stepped(inner)) {
                        return self.resume_generator(generator, Wake::Throw(exception), on_return, dest);
                    }
                    // `close` is for GeneratorExit, which goes on here; other iterators may have a `throw` of their own.
                    let helper = self.helper(if exits { "delegate_close" } else { "delegate_throw" });
                    let throw = self.call_later(helper, &[Value::Obj(inner), exception], on_return);
                    self.heap.release(exception);
                    match throw {
                        Throw::Call(call) => self.begin_call(*call, dest),
                        throw => Err(throw),
                    }
                }
                _ => Err(Throw::Raise(exception)),
            },
        }
    }

    /// The generator that a step of an iterator is one of: itself, or the asynchronous one that it belongs to.
    fn stepped(&self, iterator: Ref) -> Option<Ref> {
        match self.heap.payload(iterator) {
            Payload::Generator(_) => Some(iterator),
            Payload::AsyncStep { generator, .. } => generator.object(),
            _ => None,
        }
    }

    /// Whether an iterator that `yield from` or `await` goes through is told of an exception. The step of an asynchronous generator that is
    /// closed leaves the generator as it is.
    fn takes_exceptions(&self, iterator: Ref, exception: Value) -> bool {
        match self.heap.payload(iterator) {
            Payload::AsyncStep { .. } => !self.is_generator_exit(exception),
            Payload::Generator(_) | Payload::Instance(_) | Payload::Extended(_) => true,
            _ => false,
        }
    }

    /// Whether what is thrown is a GeneratorExit, or its class.
    fn is_generator_exit(&self, thrown: Value) -> bool {
        self.heap.exception_class(thrown).is_some_and(|class| self.heap.is_subclass(class, ty::GENERATOR_EXIT))
            || self.heap.is_instance(thrown, ty::GENERATOR_EXIT)
    }

    /// The next step of a generator that a `for` loop or a `yield from` walks over; `false` when the general form has to see to it.
    #[inline(never)]
    pub(super) fn resume_quickly(&mut self, generator: Ref, dest: usize, on_return: OnReturn) -> bool {
        if self.heap.is_frozen(generator) || self.frames.len() >= self.meter.limits.recursion {
            return false;
        }
        let base = self.stack_top();
        let slot = self.heap.slot_mut(generator);
        if !matches!(slot.class, ty::GENERATOR | ty::COROUTINE) {
            return false;
        }
        let Payload::Generator(row) = &mut slot.payload else { return false };
        let row: &mut Generator = row;
        if !matches!(row.state, GeneratorState::Created | GeneratorState::Suspended) || !row.handled.is_empty() {
            return false;
        }
        let top = base + row.registers.len();
        let code = &self.program.codes[row.code as usize].code;
        let needed = base + usize::from(code.registers);
        if self.registers.len() <= needed {
            self.registers.resize(needed + 256, Value::Undefined);
        }
        self.registers[base..top].copy_from_slice(&row.registers);
        row.registers.clear();
        let (mut old, mut pc) = (None, alone(&row.pc));
        if row.state == GeneratorState::Suspended {
            let next = &code.instructions[pc as usize];
            // A `yield` whose value nobody takes is followed by an instruction that only drops it.
            if next.op == Op::Clear && next.a == row.sent {
                pc += 1;
            } else {
                let place = &mut self.registers[base + usize::from(row.sent)];
                old = place.object();
                *place = Value::None;
            }
        }
        row.state = GeneratorState::Running;
        row.guarded = false;
        slot.count += 1;
        push(
            &mut self.frames,
            Frame {
                code: row.code,
                pc,
                base: base as u32,
                dest: dest as u32,
                globals: row.globals,
                handled: self.handled.len() as u32,
                generator: Link::to(generator),
                namespace: Value::Undefined,
                on_return,
            },
        );
        if let Some(old) = old {
            self.heap.release_object(old);
        }
        true
    }

    /// Suspends the top frame, a generator's, and gives `value` to the `for` loop or `yield from` that walks over it; `false` when it is
    /// walked otherwise.
    #[inline(never)]
    pub(super) fn yield_quickly(&mut self, value: Value, sent: u16, delegate: Option<u16>, code: &LinkedCode) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let (Some(generator), OnReturn::ForIter { .. } | OnReturn::Send { .. }) = (frame.generator.get(), &frame.on_return) else {
            return false;
        };
        if !matches!(self.heap.slot(generator).class, ty::GENERATOR | ty::COROUTINE) || self.handled.len() != frame.handled as usize {
            return false;
        }
        let (base, dest, pc) = (frame.base as usize, frame.dest as usize, frame.pc);
        let (registers, guarded) = (code.code.registers, code.code.guards(pc));
        let Payload::Generator(row) = self.heap.payload_mut(generator) else { return false };
        let row: &mut Generator = row;
        let live = &mut self.registers[base..base + usize::from(registers)];
        // What is unbound at the end need not move: registers above a frame are unbound anyway.
        let held = live.iter().rposition(|register| !register.is_undefined()).map_or(0, |last| last + 1);
        row.registers.clear();
        row.registers.extend(live[..held].iter_mut().map(|register| {
            let value = afresh(register);
            *register = Value::Undefined;
            value
        }));
        row.pc = pc;
        row.guarded = guarded;
        row.sent = sent;
        row.delegate = delegate;
        row.state = GeneratorState::Suspended;
        // Neither way of walking holds anything that has to be dropped.
        std::mem::forget(self.frames.pop());
        self.heap.release_object(generator);
        let place = &mut self.registers[dest];
        let old = place.object();
        *place = afresh(&value);
        if let Some(old) = old {
            self.heap.release_object(old);
        }
        true
    }

    /// Begins to close the generator that was abandoned first, as its `finally` wants; says whether there was one.
    #[cold]
    #[inline(never)]
    pub(super) fn close_abandoned(&mut self) -> bool {
        let Some(generator) = self.heap.abandoned.pop_front() else { return false };
        if let Payload::Generator(row) = self.heap.payload_mut(generator) {
            row.guarded = false;
        }
        let helper = self.helper("generator_abandoned");
        if let Throw::Call(call) = self.call_later(helper, &[Value::Obj(generator)], OnReturn::Discard) {
            // At the recursion limit nothing more can run, so it dies as it is.
            if let Err(Throw::Raise(exception)) = self.begin_free_call(*call, 0) {
                self.heap.release(exception);
            }
        }
        self.heap.release_object(generator);
        true
    }

    fn drop_wake(&mut self, wake: Wake) {
        let (Wake::Send(value) | Wake::Throw(value)) = wake;
        self.heap.release(value);
    }

    /// Suspends the top frame, a generator's, and gives `value` out.
    pub(crate) fn yield_value(&mut self, value: Value, sent: u16, delegate: Option<u16>, code: &LinkedCode) -> Outcome<()> {
        let frame = self.frames.pop().expect("an instruction is running");
        let Some(generator) = frame.generator.get() else { return Err(Throw::Trap(Trap::Internal)) };
        let base = frame.base as usize;
        let handled = self.handled.split_off(frame.handled as usize);
        let asynchronous = self.heap.slot(generator).class == ty::ASYNC_GENERATOR;
        if let Payload::Generator(row) = self.heap.payload_mut(generator) {
            let count = usize::from(code.code.registers);
            row.registers.clear();
            row.registers.extend(self.registers[base..base + count].iter_mut().map(|value| std::mem::replace(value, Value::Undefined)));
            row.handled = handled;
            row.pc = frame.pc;
            row.guarded = code.code.guards(frame.pc) && !asynchronous;
            row.sent = sent;
            row.delegate = delegate;
            row.state = GeneratorState::Suspended;
        }
        let class = self.heap.slot(generator).class;
        self.heap.release(Value::Obj(generator));
        // What an asynchronous generator itself yields ends the step; what it awaits goes further out.
        if class == ty::ASYNC_GENERATOR && delegate.is_none() {
            return self.generator_returned(value, frame.on_return, frame.dest as usize);
        }
        self.give_back(value, frame.on_return, frame.dest as usize)
    }

    /// Marks a generator whose frame an exception left. A `map`, `filter` or `zip` goes on with the next item when it is asked again.
    pub(super) fn abort_generator(&mut self, generator: Ref) {
        self.heap.finish_generator(generator);
        let again = match self.heap.payload(generator) {
            Payload::Generator(row) if !row.again.is_empty() => row.again.clone(),
            _ => return,
        };
        self.owe(ITERATOR_RENEWED.once());
        self.heap.retain_each(&again);
        if let Some(row) = self.heap.generator(generator) {
            (row.registers, row.pc, row.delegate, row.state) = (again.into_vec(), 0, None, GeneratorState::Created);
        }
    }

    /// A builtin iterator that is asked for an item by what its own step calls, such as the function of a `map`: what it has beside its
    /// frame is in its arguments, so that a frame of its own makes the step, and the one under way goes on behind it.
    fn another_step(&mut self, generator: Ref) -> Ref {
        let Payload::Generator(row) = self.heap.payload(generator) else { return generator };
        let mut step = row.clone();
        step.registers = row.again.to_vec();
        (step.pc, step.delegate, step.guarded, step.state) = (0, None, false, GeneratorState::Created);
        step.handled.clear();
        let class = self.heap.slot(generator).class;
        self.owe(ITERATOR_RENEWED.once());
        self.heap.retain_each(&step.registers);
        self.heap.retain_each(&step.again);
        for held in [step.name, step.qualname, Value::Obj(class)] {
            self.heap.retain(held);
        }
        match self.heap.make(class, Payload::Generator(step)) {
            Value::Obj(made) => made,
            _ => generator,
        }
    }

    /// A generator returned: for those who iterate it that is the end.
    pub(crate) fn generator_returned(&mut self, value: Value, on_return: OnReturn, dest: usize) -> Outcome<()> {
        match on_return {
            OnReturn::ForIter { exit } => {
                self.heap.release(value);
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = exit;
                }
                Ok(())
            }
            OnReturn::Send { done } => {
                self.give_back(value, OnReturn::Store, dest)?;
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = done;
                }
                Ok(())
            }
            OnReturn::Other(pending) => match *pending {
                Pending::NextDefault { default } => {
                    self.heap.release(value);
                    self.give_back(default, OnReturn::Store, dest)
                }
                Pending::Close => {
                    self.heap.release(value);
                    self.give_back(Value::None, OnReturn::Store, dest)
                }
                Pending::Next => Err(self.stop_iteration(value)),
                Pending::Drain(drain) => {
                    self.heap.release(value);
                    self.drain_ended(drain, dest)
                }
                other => self.give_back(value, OnReturn::Other(Box::new(other)), dest),
            },
            on_return => {
                let _ = on_return;
                Err(self.stop_iteration(value))
            }
        }
    }

    /// One step of `yield from` or `await`.
    pub(crate) fn send_step(&mut self, iterator: Value, value: Value, dest: usize, done: u32) -> Outcome<()> {
        let pending = || OnReturn::Send { done };
        let Value::Obj(object) = iterator else { return Err(Throw::Trap(Trap::Internal)) };
        match self.heap.payload(object) {
            Payload::Generator(_) => return self.resume_generator(object, Wake::Send(value), pending(), dest),
            Payload::AsyncStep { generator, sent, kind } => {
                let (generator, sent, kind) = (*generator, *sent, *kind);
                return self.async_step(generator, sent, kind, value, pending(), dest);
            }
            Payload::Iterator(_) if value.is_none() => match self.next_native(iterator)? {
                Some(item) => return self.give_back(item, OnReturn::Store, dest),
                None => {
                    self.give_back(Value::None, OnReturn::Store, dest)?;
                    if let Some(frame) = self.frames.last_mut() {
                        frame.pc = done;
                    }
                    return Ok(());
                }
            },
            _ => {}
        }
        let name = if value.is_none() { nm::NEXT } else { nm::SEND };
        let Some(function) = self.special(iterator, name) else {
            let class = self.heap.class_name(iterator);
            self.heap.release(value);
            return Err(if name == nm::SEND {
                self.no_attribute(iterator, name)
            } else {
                self.type_error(format!("'{class}' object is not an iterator"))
            });
        };
        let arguments = if value.is_none() { vec![iterator] } else { vec![iterator, value] };
        let throw = self.call_special(function, &arguments, pending());
        self.heap.release(value);
        match throw {
            Throw::Call(call) => self.begin_call(*call, dest),
            throw => Err(throw),
        }
    }

    /// One step of an asynchronous generator, driven by whoever awaits it.
    fn async_step(&mut self, generator: Value, sent: Value, kind: u8, value: Value, on_return: OnReturn, dest: usize) -> Outcome<()> {
        let Value::Obj(generator) = generator else { return Err(Throw::Trap(Trap::Internal)) };
        let (is_finished, is_awaiting) = self.heap.generator(generator).map_or((true, false), |row| {
            (row.state == GeneratorState::Done, row.state == GeneratorState::Suspended && row.delegate.is_some())
        });
        // What the generator awaits gets what its driver sends.
        if is_awaiting {
            return self.resume_generator(generator, Wake::Send(value), on_return, dest);
        }
        self.heap.release(value);
        if is_finished {
            return Err(Throw::Raise(self.exception(ty::STOP_ASYNC_ITERATION, Value::Undefined)));
        }
        self.heap.retain(sent);
        let wake = if kind == THROWN { Wake::Throw(sent) } else { Wake::Send(sent) };
        self.resume_generator(generator, wake, on_return, dest)
    }

    /// The iterator of an awaitable.
    pub(crate) fn awaitable(&mut self, value: Value, purpose: u16) -> Outcome {
        if let Value::Obj(object) = value {
            let class = self.heap.slot(object).class;
            if class == ty::COROUTINE {
                let waiting =
                    self.heap.generator(object).is_some_and(|row| row.state == GeneratorState::Suspended && row.delegate.is_some());
                if waiting {
                    return Err(self.raise(ty::RUNTIME_ERROR, "coroutine is being awaited already"));
                }
            }
            if class == ty::COROUTINE || class == ty::ASYNC_STEP {
                return Ok(self.heap.retain(value));
            }
        }
        match self.special(value, nm::AWAIT) {
            Some(function) => Err(self.call_expecting(function, &[value], super::Expect::Await)),
            None => {
                let class = self.heap.class_name(value);
                let message = match purpose {
                    0 => format!("object {class} can't be used in 'await' expression"),
                    1 => format!("'async with' received an object from __aenter__ that does not implement __await__: {class}"),
                    _ => format!("'async with' received an object from __aexit__ that does not implement __await__: {class}"),
                };
                Err(self.type_error(message))
            }
        }
    }

    /// `aiter(value)`
    pub(crate) fn async_iter(&mut self, value: Value) -> Outcome {
        if self.heap.class_of(value) == ty::ASYNC_GENERATOR {
            return Ok(self.heap.retain(value));
        }
        match self.special(value, nm::AITER) {
            Some(function) => Err(self.call_special(function, &[value], OnReturn::Store)),
            None => {
                let message = format!("'async for' requires an object with __aiter__ method, got {}", self.heap.class_name(value));
                Err(self.type_error(message))
            }
        }
    }
}
