//! What native functions ask for before they work: cycles, and room for what they make.
//!
//! Work is charged before it is done, and memory is made sure of before it is taken, in steps that are small beside the limits. A
//! function that knows its size spends and reserves it at once. One that finds out as it goes builds with [`Items`], or asks
//! [`Vm::allow`] as its buffer grows, and pays when it is done. What a native function holds beside what is modelled is at most a few
//! times the memory limit, whatever its arguments are; `tests/allowance.rs` drives all of them there.

use super::Vm;
use crate::costs::{Charge, Cost, TEXT_WRITTEN};
use crate::error::{Outcome, Throw, Trap};
use crate::value::Value;
use cowboy_num::sizes;

impl Vm {
    /// Charges work that is about to be done.
    #[inline]
    pub(crate) fn spend(&mut self, charge: Charge) -> Outcome<()> {
        self.meter.spend(charge).map_err(Throw::Trap)
    }

    /// The same where nothing can be refused; see [`Meter::owe`](crate::meter::Meter::owe).
    #[inline]
    pub(crate) fn owe(&mut self, charge: Charge) {
        self.meter.owe(charge);
    }

    /// Makes sure that `bytes` more of modelled memory would fit, before work that needs them.
    pub(crate) fn reserve(&mut self, bytes: usize) -> Outcome<()> {
        if self.heap.memory.saturating_add(bytes) > self.heap.limit {
            self.heap.use_memory(bytes);
            return Err(Throw::Trap(Trap::OutOfMemory));
        }
        Ok(())
    }

    /// Makes sure that a result that has grown to `bytes` fits, and that the cycles that it will cost are there. Charges nothing: for
    /// results that are paid for when they are whole.
    pub(crate) fn allow(&mut self, bytes: usize, charge: Charge) -> Outcome<()> {
        if charge.cycles() <= self.meter.cycles { self.reserve(bytes) } else { self.spend(charge) }
    }

    /// Writes a piece of a text: a cycle a byte, and room for all of it, before it is copied.
    pub(crate) fn write(&mut self, out: &mut String, piece: &str) -> Outcome<()> {
        self.spend(TEXT_WRITTEN.of(piece.len()))?;
        self.reserve(out.len() + piece.len())?;
        out.push_str(piece);
        Ok(())
    }

    /// How many items of a list, each for a price, the run can still pay for and keep, and one more.
    pub(crate) fn affordable(&self, price: Cost) -> usize {
        let cycles = sizes::index(self.meter.cycles.max(0)).unwrap_or(usize::MAX) / price.cycles.max(1);
        cycles.min(self.heap.limit.saturating_sub(self.heap.memory) / size_of::<u64>()).saturating_add(1)
    }
}

/// The items of a list that a native function makes one by one. Each is charged, and its place made sure of, before it is made.
pub(crate) struct Items {
    values: Vec<Value>,
    price: Charge,
}

impl Items {
    /// None yet, and what each will cost.
    pub(crate) fn new(price: Charge) -> Self {
        Self { values: Vec::new(), price }
    }

    /// Pays for the next item, before it is made. Fails only where the run ends, so what is there needs no release.
    #[inline]
    pub(crate) fn pay(&self, vm: &mut Vm) -> Outcome<()> {
        vm.spend(self.price)?;
        vm.reserve((self.values.len() + 1) * size_of::<u64>())
    }

    /// Adds the item that was paid for; takes its reference over.
    #[inline]
    pub(crate) fn push(&mut self, value: Value) {
        self.values.push(value);
    }

    /// The items of an iterator of texts.
    pub(crate) fn texts<'a>(mut self, vm: &mut Vm, texts: impl Iterator<Item = &'a str>) -> Outcome<Vec<Value>> {
        for text in texts {
            self.pay(vm)?;
            self.push(vm.heap.str(text));
        }
        Ok(self.values)
    }

    /// What there is.
    pub(crate) fn into_values(self) -> Vec<Value> {
        self.values
    }
}
