//! `for` loops: their registers, and their steps.

use super::{OnReturn, Pending, Vm};
use crate::error::{Outcome, Throw};
use crate::frame::Wake;
use crate::payload::{GeneratorState, Payload};
use crate::runtime::protocol::Iterate;
use crate::types::{nm, ty};
use crate::value::Value;
use crate::window::afresh;
use cowboy_num::sizes;

/// What a step of a `for` loop found.
pub(crate) enum Advance {
    /// The next item; the reference is the receiver's.
    Item(Value),
    /// Nothing more.
    Exhausted,
    /// A frame was pushed that finds out.
    Pushed,
}

impl Vm {
    /// Prepares three registers from `at` on for a loop over `iterable`, whose reference is taken over.
    pub(crate) fn begin_iteration(&mut self, iterable: Value, at: usize) -> Outcome<()> {
        let Value::Obj(object) = iterable else {
            let throw = self.not_iterable(iterable);
            return Err(throw);
        };
        let (second, third) = match self.heap.payload(object) {
            Payload::Range(range) => {
                let range = *range;
                match i64::try_from(range.len()) {
                    Ok(length) => {
                        self.heap.release(iterable);
                        return self.set_loop(at, Value::Int(range.step), Value::Int(range.start), Value::Int(length));
                    }
                    Err(_) => (Value::Int(0), Value::Undefined),
                }
            }
            Payload::List(_) | Payload::Tuple(_) | Payload::Str(_) | Payload::Bytes(_) | Payload::ByteArray(..)
                if self.heap.slot(object).class.0 < crate::types::FIXED_COUNT =>
            {
                (Value::Int(0), Value::Undefined)
            }
            Payload::Dict(dict) | Payload::Set(dict) if self.heap.slot(object).class.0 < crate::types::FIXED_COUNT => {
                (Value::Int(0), Value::Int(i64::try_from(dict.len()).unwrap_or(i64::MAX)))
            }
            Payload::Iterator(_) => (Value::Undefined, Value::Undefined),
            Payload::Generator(_) if !matches!(self.heap.slot(object).class, ty::COROUTINE | ty::ASYNC_GENERATOR) => {
                (Value::Undefined, Value::Undefined)
            }
            _ => {
                let outcome = self.iterator(iterable);
                self.heap.release(iterable);
                return match outcome {
                    Ok(iterator) => self.set_loop(at, iterator, Value::Undefined, Value::Undefined),
                    Err(Throw::Call(mut call)) => {
                        call.on_return = OnReturn::Other(Box::new(Pending::Iterator));
                        self.begin_call(*call, at)?;
                        // The loop has to see the new frame.
                        Err(Throw::Reload)
                    }
                    Err(throw) => Err(throw),
                };
            }
        };
        self.set_loop(at, iterable, second, third)
    }

    fn set_loop(&mut self, at: usize, first: Value, second: Value, third: Value) -> Outcome<()> {
        for (offset, value) in [first, second, third].into_iter().enumerate() {
            let old = std::mem::replace(&mut self.registers[at + offset], value);
            self.heap.release(old);
        }
        Ok(())
    }

    /// `__iter__` of a `for` loop came back.
    pub(crate) fn iterator_arrived(&mut self, iterator: Value, at: usize) -> Outcome<()> {
        if !self.is_iterator(iterator) {
            let message = format!("iter() returned non-iterator of type '{}'", self.heap.class_name(iterator));
            self.heap.release(iterator);
            return Err(self.type_error(message));
        }
        self.set_loop(at, iterator, Value::Undefined, Value::Undefined)
    }

    /// Whether a value has `__next__`.
    pub(crate) fn is_iterator(&mut self, value: Value) -> bool {
        match value {
            Value::Obj(object) => match self.heap.payload(object) {
                Payload::Iterator(_) => true,
                Payload::Generator(_) => !matches!(self.heap.slot(object).class, ty::COROUTINE | ty::ASYNC_GENERATOR),
                _ => self.special(value, nm::NEXT).is_some(),
            },
            _ => false,
        }
    }

    /// One step of a loop whose registers begin at `at`.
    pub(crate) fn advance(&mut self, at: usize, dest: usize, exit: u32) -> Outcome<Advance> {
        let Value::Obj(source) = self.registers[at] else { return Ok(Advance::Exhausted) };
        if let Value::Int(index) = self.registers[at + 1] {
            let position = sizes::index(index).unwrap_or(usize::MAX);
            if let Payload::Dict(dict) | Payload::Set(dict) = self.heap.payload(source) {
                if Value::Int(i64::try_from(dict.len()).unwrap_or(i64::MAX)).is(self.registers[at + 2]) {
                    return Ok(match dict.live_from(position) {
                        Some((found, entry)) => {
                            let charge = dict.passing(position, found);
                            self.owe(charge);
                            self.registers[at + 1] = Value::Int(i64::try_from(found + 1).unwrap_or(i64::MAX));
                            Advance::Item(self.heap.retain(entry.key))
                        }
                        None => Advance::Exhausted,
                    });
                }
                return Err(self.changed_size(Value::Obj(source)));
            }
            if let Payload::Str(text) = self.heap.payload(source) {
                if !text.ascii() {
                    // The third register holds the byte offset.
                    let offset = match self.registers[at + 2] {
                        Value::Int(offset) => sizes::saturating(offset),
                        _ => 0,
                    };
                    return Ok(match text.text[offset..].chars().next() {
                        Some(character) => {
                            self.registers[at + 2] = Value::Int(i64::try_from(offset + character.len_utf8()).unwrap_or(0));
                            Advance::Item(self.heap.str(character.encode_utf8(&mut [0; 4])))
                        }
                        None => Advance::Exhausted,
                    });
                }
            }
            return Ok(match self.sequence_item(source, position) {
                Some(item) => {
                    self.registers[at + 1] = Value::Int(index + 1);
                    Advance::Item(item)
                }
                None => Advance::Exhausted,
            });
        }
        match self.heap.payload(source) {
            Payload::Iterator(_) => match self.next_native(Value::Obj(source)) {
                Ok(Some(item)) => Ok(Advance::Item(item)),
                Ok(None) => Ok(Advance::Exhausted),
                Err(throw) => Err(throw),
            },
            Payload::Generator(row) => {
                if row.state == GeneratorState::Done {
                    return Ok(Advance::Exhausted);
                }
                self.resume_generator(source, Wake::Send(Value::None), OnReturn::ForIter { exit }, dest)?;
                Ok(Advance::Pushed)
            }
            _ => {
                let Some(function) = self.special(Value::Obj(source), nm::NEXT) else {
                    let message = format!("'{}' object is not an iterator", self.heap.class_name(Value::Obj(source)));
                    return Err(self.type_error(message));
                };
                let throw = self.call_special(function, &[Value::Obj(source)], OnReturn::Store);
                self.push_step(throw, dest, exit)
            }
        }
    }

    /// The same for the loop of a `ForIter` that is not quick: whether there was an item, which is in `dest` then. `None` when a frame was
    /// pushed, or something thrown, which waits in `thrown`.
    #[inline(never)]
    pub(super) fn advance_quickly(&mut self, at: usize, dest: usize, exit: u32) -> Option<bool> {
        match self.advance(at, dest, exit) {
            Ok(Advance::Item(item)) => {
                let place = &mut self.registers[dest];
                let old = place.object();
                *place = afresh(&item);
                if let Some(old) = old {
                    self.heap.release_object(old);
                }
                Some(true)
            }
            Ok(Advance::Exhausted) => Some(false),
            Ok(Advance::Pushed) => None,
            Err(throw) => {
                self.goes_on(Err(throw));
                None
            }
        }
    }

    fn push_step(&mut self, throw: Throw, dest: usize, exit: u32) -> Outcome<Advance> {
        match throw {
            Throw::Call(mut call) => {
                call.on_return = OnReturn::ForIter { exit };
                self.begin_call(*call, dest)?;
                Ok(Advance::Pushed)
            }
            throw => Err(throw),
        }
    }
}
