//! The cycle barrier: labels that show before a store whether it would close a cycle of references.

use super::Vm;
use crate::costs::{BARRIER_EDGE, BARRIER_SEEN};
use crate::error::{Outcome, Throw};
use crate::heap::labels::is_tracked;
use crate::payload::Payload;
use crate::types::ty;
use crate::value::{Ref, Value};

impl Vm {
    /// Before `child` is stored into `parent`: keeps every label below those of what it holds, or raises DeterminismError
    /// when that is impossible because the child already leads to the parent.
    pub(crate) fn store_barrier(&mut self, parent: Ref, child: Value) -> Outcome<()> {
        let Value::Obj(child) = child else { return Ok(()) };
        if !is_tracked(self.heap.payload(child)) || !is_tracked(self.heap.payload(parent)) {
            return Ok(());
        }
        if child == parent {
            return Err(self.cycle_error());
        }
        if matches!(self.heap.payload(child), Payload::BoundMethod { .. }) && self.heap.slot(child).depth == i32::MAX {
            self.heap.label_method(Value::Obj(child));
        }
        if self.heap.label(parent, child) { Ok(()) } else { self.push_below(parent, child) }
    }

    /// Moves the child and what it holds below the parent; meeting the parent means a cycle, and nothing has changed then.
    fn push_below(&mut self, parent: Ref, child: Ref) -> Outcome<()> {
        let mut before: Vec<(Ref, i32)> = Vec::new();
        let floor = self.heap.slot(parent).depth.saturating_add(1);
        let mut stack = vec![(child, floor)];
        while let Some((object, least)) = stack.pop() {
            if object == parent {
                for (object, depth) in before.into_iter().rev() {
                    self.heap.slot_mut(object).depth = depth;
                }
                return Err(self.cycle_error());
            }
            let depth = self.heap.slot(object).depth;
            if depth != i32::MAX && depth >= least {
                continue;
            }
            let (children, seen) = self.heap.children(object);
            self.spend(BARRIER_EDGE.once() + BARRIER_SEEN.of(seen))?;
            before.push((object, depth));
            self.heap.slot_mut(object).depth = least;
            for inner in children {
                stack.push((inner, least.saturating_add(1)));
            }
        }
        Ok(())
    }

    fn cycle_error(&mut self) -> Throw {
        self.raise(ty::DETERMINISM_ERROR, "this store would create a reference cycle: keep a key or an index instead of the object itself")
    }
}
