//! Builtin functions that take every item of a generator, such as `tuple(f(x) for x in y)`. The generator keeps its frame until it is
//! done, what it yields goes into a list, and the function is called again with that list in place of the generator.

use super::{OnReturn, Pending, Vm};
use crate::error::{Outcome, Throw};
use crate::frame::{Drain, Wake};
use crate::payload::{GeneratorState, Payload};
use crate::runtime::native::Native;
use crate::runtime::protocol::Hashing;
use crate::types::{nm, ty};
use crate::value::Value;
use crate::window::afresh;

/// Frames that the same takes where a helper written in Python does it: it must fit below the recursion limit all the same.
const FRAMES: usize = 4;

/// Items for which there is room at first.
const EXPECTED: usize = 8;

impl Vm {
    /// What drains the generator that a native function was given; `None` for other functions and arguments.
    pub(super) fn drained(&mut self, row: u16, native: &Native, arguments: &[Value]) -> Option<Throw> {
        let (Some(draining), Some(&Value::Obj(generator))) = (native.draining, arguments.get(1)) else { return None };
        match self.heap.payload(generator) {
            Payload::Generator(row) if row.state != GeneratorState::Running => {}
            _ => return None,
        }
        let class = self.heap.slot(generator).class;
        let is_other = matches!(class, ty::COROUTINE | ty::COROUTINE_WRAPPER | ty::ASYNC_GENERATOR);
        // One that says how many items it has is asked for that first.
        let is_sized = self.lookup(class, nm::LENGTH_HINT).is_some() || self.lookup(class, nm::LEN).is_some();
        if is_other || is_sized || self.frames.len() + FRAMES > self.meter.limits.recursion {
            return None;
        }
        self.owe(draining.begun.once());
        let items = self.heap.spares.values(EXPECTED);
        let items = self.heap.list(items);
        let arguments = self.heap.hold(arguments);
        let drain = Drain { row, arguments, items, hashed: draining.hashed, item: draining.item.once(), then: OnReturn::Store };
        Some(Throw::Resume(generator, Box::new((Wake::Send(Value::None), OnReturn::Other(Box::new(Pending::Drain(drain)))))))
    }

    /// Takes what the top frame, a generator's, yields, and lets it continue; `false`, and nothing has changed, where nothing drains it, or
    /// where the item is refused or its hash is not that of a number or a short text.
    #[inline]
    pub(super) fn drain_quickly(&mut self, value: &Value, sent: u16) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let OnReturn::Other(pending) = &frame.on_return else { return false };
        let Pending::Drain(drain) = &**pending else { return false };
        let (items, hashed, price, place) = (drain.items, drain.hashed, drain.item, frame.base as usize + usize::from(sent));
        let item = afresh(value);
        // A hash that costs, or fails, is left to the slow path: else what it took here would be taken twice.
        if hashed && (self.heap.charges_hash(&item) || self.heap.simple_hash(item).is_none()) {
            return false;
        }
        if !self.append_quickly(&items, &item) {
            return false;
        }
        self.owe(price);
        let old = std::mem::replace(&mut self.registers[place], Value::None);
        self.heap.release(old);
        true
    }

    /// Takes an item of a generator that has been suspended, and resumes it. The reference to the item is taken over.
    pub(super) fn drain_item(&mut self, item: Value, drain: Drain, dest: usize) -> Outcome<()> {
        if drain.hashed {
            match self.hash_native(item) {
                Ok(_) => {}
                Err(Throw::Fallback) => return self.drain_in_python(item, drain, dest),
                Err(throw) => {
                    self.heap.release(item);
                    return self.drain_failed(throw, drain, dest);
                }
            }
        }
        self.owe(drain.item);
        if let Err(throw) = self.list_push(drain.items, item) {
            return self.drain_failed(throw, drain, dest);
        }
        let Value::Obj(generator) = drain.arguments[1] else { return Ok(()) };
        self.resume_generator(generator, Wake::Send(Value::None), OnReturn::Other(Box::new(Pending::Drain(drain))), dest)
    }

    /// Leaves the rest to the function's helper: what was taken, an item whose hash is found out in Python, and what the generator still has.
    fn drain_in_python(&mut self, item: Value, drain: Drain, dest: usize) -> Outcome<()> {
        let helper = self.helpers.get(usize::from(drain.row)).copied().unwrap_or(Value::Undefined);
        let resume = self.helper("drained");
        let throw = self.call_later(resume, &[helper, drain.arguments[0], drain.items, item, drain.arguments[1]], OnReturn::Store);
        self.heap.release(item);
        self.release_drain(drain.arguments, drain.items);
        match throw {
            Throw::Call(call) => self.chain(*call, drain.then, dest),
            throw => Err(throw),
        }
    }

    /// Calls the function with the items, for which the generator, which has ended, is in its arguments.
    pub(super) fn drain_ended(&mut self, drain: Drain, dest: usize) -> Outcome<()> {
        let Drain { row, mut arguments, items, then, item, .. } = drain;
        self.owe(item);
        let generator = std::mem::replace(&mut arguments[1], items);
        self.heap.release(generator);
        let native = self.native(row);
        let outcome = self.run_native(native, &arguments);
        let outcome = self.finish_native(row, &arguments, outcome, 0, 0, dest, then);
        self.heap.release_all(arguments);
        outcome.map(|_| ())
    }

    /// Lets an exception go to what waits for the function's result.
    fn drain_failed(&mut self, throw: Throw, drain: Drain, dest: usize) -> Outcome<()> {
        self.release_drain(drain.arguments, drain.items);
        self.fail(throw, drain.then, dest).map(|_| ())
    }

    /// Releases what a drain holds.
    pub(super) fn release_drain(&mut self, arguments: Vec<Value>, items: Value) {
        self.heap.release_all(arguments);
        self.heap.release(items);
    }
}
