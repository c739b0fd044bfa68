//! Instructions in their general form: calls, iteration, exceptions, generators, imports and patterns.

use super::loops::Advance;
use super::registers::{consume, register, set, take};
use super::{OnReturn, Pending, Vm};
use crate::error::{Outcome, PendingCall, Throw, Trap};
use crate::frame::leaving;
use crate::image::LinkedCode;
use crate::runtime::protocol::{Iterate, Subscript};
use crate::types::ty;
use crate::value::Value;
use cowboy_compiler::opcode::{Instruction, METHOD, NEGATE, Op, TEMP_B, TEMP_C};

impl Vm {
    /// Calls, returns, iteration and unpacking.
    pub(super) fn step_flow(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::Line => return Err(Throw::Line),
            Op::Call => {
                let (at, count) = self.callee(ins, base);
                self.call_registers(at, count, None, base + usize::from(ins.a))?;
            }
            Op::CallKeyword => {
                let names = code.consts[self.second_word(code).wide() as usize];
                let (at, count) = self.callee(ins, base);
                self.call_registers(at, count, names.object(), base + usize::from(ins.a))?;
            }
            Op::CallSpread => self.call_spread(base + usize::from(ins.b), base + usize::from(ins.a))?,
            Op::Return | Op::ReturnNone => {
                let value = if ins.op == Op::ReturnNone { Value::None } else { take!(self, base, ins.b, ins.flags & TEMP_B != 0) };
                if value.is_undefined() {
                    return Err(self.unbound(code, ins.b));
                }
                self.return_value(value, code)?;
            }
            Op::MakeFunction => {
                let function = self.make_function(code, ins, base);
                set!(self, base, ins.a, function);
            }
            Op::GetIter => {
                let iterable = take!(self, base, ins.b, ins.flags & TEMP_B != 0);
                if iterable.is_undefined() {
                    return Err(self.unbound(code, ins.b));
                }
                self.begin_iteration(iterable, base + usize::from(ins.a))?;
            }
            Op::ForIter => {
                let iterator = base + usize::from(ins.b);
                let exit = self.relative(i64::from(ins.c));
                if let Value::Obj(_) = self.registers[iterator] {
                    match self.advance(iterator, base + usize::from(ins.a), exit)? {
                        Advance::Item(item) => {
                            set!(self, base, ins.a, item);
                            return Ok(());
                        }
                        Advance::Pushed => return Ok(()),
                        Advance::Exhausted => {}
                    }
                }
                consume!(self, base, ins.b, true);
                self.jump(exit);
            }
            // The loop sees to all others.
            Op::Loop => return Err(Throw::Trap(Trap::OutOfMemory)),
            _ => return self.step_unpacking(ins, code, base),
        }
        Ok(())
    }

    /// Unpacking.
    fn step_unpacking(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::Unpack => {
                let value = register!(self, base, ins.b);
                let count = usize::from(ins.c);
                let outcome = if value.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.unpack(value, count, base + usize::from(ins.a))
                };
                let outcome = match outcome {
                    Err(Throw::Fallback) => match self.call_helper("unpack", &[value, Value::Int(i64::from(ins.c))]) {
                        Err(Throw::Call(call)) => return self.unpack_by_helper(*call, ins, base, Pending::Unpack { count }),
                        outcome => outcome.map(|_| ()),
                    },
                    outcome => outcome,
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome?;
            }
            Op::UnpackRest => {
                let counts = self.second_word(code);
                let (before, after) = (usize::from(counts.b), usize::from(counts.c));
                let value = register!(self, base, ins.b);
                let outcome = if value.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.unpack_rest(value, before, after, base + usize::from(ins.a))
                };
                if let Err(Throw::Fallback) = outcome {
                    if let Err(Throw::Call(call)) = self.call_helper("as_tuple", &[value]) {
                        return self.unpack_by_helper(*call, ins, base, Pending::UnpackRest { before, after });
                    }
                }
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                outcome?;
            }
            _ => return self.step_exceptions(ins, code, base),
        }
        Ok(())
    }

    /// Exceptions and generators.
    fn step_exceptions(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::Raise => {
                let exception = register!(self, base, ins.b);
                let cause = if ins.flags & NEGATE != 0 { register!(self, base, ins.c) } else { Value::Undefined };
                return Err(self.raise_instruction(exception, cause));
            }
            Op::Reraise => {
                let exception = take!(self, base, ins.a, true);
                return Err(self.reraise(exception));
            }
            Op::RaiseCurrent => {
                return Err(self.raise_current());
            }
            Op::PushHandled => {
                let exception = register!(self, base, ins.a);
                self.heap.retain(exception);
                self.handled.push(exception);
            }
            Op::PopHandled => {
                if let Some(exception) = self.handled.pop() {
                    self.heap.release(exception);
                }
                consume!(self, base, ins.a, true);
            }
            Op::MatchException => {
                let (exception, class) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = self.match_exception(exception, class);
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                set!(self, base, ins.a, Value::truth(outcome?));
            }
            Op::AssertionFailed => {
                let message = if ins.c == 0 { Value::Undefined } else { take!(self, base, ins.b, false) };
                let exception = self.exception(ty::ASSERTION_ERROR, message);
                return Err(Throw::Raise(exception));
            }
            Op::Yield => {
                let value = take!(self, base, ins.b, ins.flags & TEMP_B != 0);
                if value.is_undefined() {
                    return Err(self.unbound(code, ins.b));
                }
                let delegate = if ins.flags & NEGATE != 0 { Some(ins.c) } else { None };
                self.owe(leaving(code.code.registers));
                self.yield_value(value, ins.a, delegate, code)?;
            }
            Op::YieldFromIter | Op::Await => {
                let value = register!(self, base, ins.b);
                let outcome = if value.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else if ins.op == Op::Await {
                    self.awaitable(value, ins.c)
                } else if self.heap.class_of(value) == ty::COROUTINE {
                    Err(self.type_error("cannot 'yield from' a coroutine object in a non-coroutine generator"))
                } else {
                    self.iterator(value)
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::Send => {
                let done = self.relative(ins.immediate());
                let value = take!(self, base, ins.a, true);
                let iterator = register!(self, base, ins.b);
                self.send_step(iterator, value, base + usize::from(ins.a), done)?;
            }
            _ => return self.step_imports(ins, code, base),
        }
        Ok(())
    }

    /// Imports and class bodies.
    fn step_imports(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::Import => {
                let outcome = self.import(code.names[usize::from(ins.b)], ins.c == 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::ImportFrom => {
                let module = register!(self, base, ins.b);
                let value = self.import_from(module, code.names[usize::from(ins.c)])?;
                set!(self, base, ins.a, value);
            }
            Op::ImportStar => {
                let module = register!(self, base, ins.a);
                let globals = self.frames[self.frames.len() - 1].globals;
                self.import_star(module, globals)?;
            }
            Op::LoadBuildClass => {
                let function = self.helper("build_class");
                self.heap.retain(function);
                set!(self, base, ins.a, function);
            }
            Op::SetupAnnotations => {
                self.setup_annotations(self.frames.len() - 1)?;
            }
            _ => return self.step_patterns(ins, code, base),
        }
        Ok(())
    }

    /// Patterns.
    fn step_patterns(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::MatchSequence | Op::MatchMapping => {
                let subject = register!(self, base, ins.b);
                let matched = self.match_kind(subject, ins.op == Op::MatchSequence);
                set!(self, base, ins.a, Value::truth(matched));
            }
            Op::MatchLength => {
                let subject = register!(self, base, ins.b);
                let outcome = self.length(subject);
                set!(self, base, ins.a, outcome?);
            }
            Op::MatchKeys => {
                let (subject, keys) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = self.match_keys(subject, keys);
                set!(self, base, ins.a, outcome?);
            }
            Op::MatchClass => {
                let counts = self.second_word(code);
                let (subject, class) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let names = code.consts[usize::from(counts.c)];
                let outcome = self.match_class(subject, class, usize::from(counts.b), names);
                set!(self, base, ins.a, outcome?);
            }
            Op::MatchRest => {
                let (subject, keys) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = self.match_rest(subject, keys);
                set!(self, base, ins.a, outcome?);
            }
            _ => return self.step_asynchronous(ins, base),
        }
        Ok(())
    }

    /// Asynchronous iteration, and groups of exceptions.
    fn step_asynchronous(&mut self, ins: Instruction, base: usize) -> Outcome<()> {
        match ins.op {
            Op::AsyncIter => {
                let value = register!(self, base, ins.b);
                let outcome = self.async_iter(value);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::AsyncNext => {
                let value = register!(self, base, ins.b);
                let outcome = self.async_next(value);
                set!(self, base, ins.a, outcome?);
            }
            Op::EndAsyncFor => {
                let exception = take!(self, base, ins.a, true);
                if self.heap.is_instance(exception, ty::STOP_ASYNC_ITERATION) {
                    self.heap.release(exception);
                    self.jump(ins.wide());
                } else {
                    return Err(self.reraise(exception));
                }
            }
            Op::PrepareReraiseStar => {
                let (group, raised) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = self.helper_or("prepare_reraise_star", &[group, raised], |_, _| Err(Throw::Fallback));
                consume!(self, base, ins.c, true);
                set!(self, base, ins.a, outcome?);
            }
            Op::MatchGroup => {
                let (group, class) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = self.helper_or("match_group", &[group, class], |_, _| Err(Throw::Fallback));
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                if let Err(Throw::Call(call)) = outcome {
                    let mut call = *call;
                    call.on_return = OnReturn::Other(Box::new(Pending::Unpack { count: 2 }));
                    return self.begin_call(call, base + usize::from(ins.a));
                }
                outcome?;
            }
            _ => return Err(Throw::Trap(Trap::Internal)),
        }
        Ok(())
    }

    /// The second half of an instruction that takes two; the frame goes on after it.
    fn second_word(&mut self, code: &LinkedCode) -> Instruction {
        let frame = self.frames.last_mut().expect("an instruction is running");
        frame.pc += 1;
        code.code.instructions[frame.pc as usize - 1]
    }

    /// Where the callee of a call stands, and how many arguments follow it.
    fn callee(&self, ins: Instruction, base: usize) -> (usize, usize) {
        let (at, count) = (base + usize::from(ins.b), usize::from(ins.c));
        match ins.flags & METHOD != 0 {
            true if self.registers[at].is_undefined() => (at + 1, count),
            true => (at, count + 1),
            false => (at, count),
        }
    }

    /// Lets a helper make a tuple, from which `pending` then unpacks.
    fn unpack_by_helper(&mut self, mut call: PendingCall, ins: Instruction, base: usize, pending: Pending) -> Outcome<()> {
        consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
        call.on_return = OnReturn::Other(Box::new(pending));
        self.begin_call(call, base + usize::from(ins.a))
    }
}
