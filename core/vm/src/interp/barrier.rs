//! The cycle barrier: labels that show before a store whether it would close a cycle of references.

use super::Vm;
use crate::costs::{BARRIER_EDGE, BARRIER_SEEN};
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::types::ty;
use crate::value::{Ref, Value};

impl Vm {
    /// Whether a value can be part of a reference cycle.
    #[inline]
    pub(crate) fn is_container(&self, value: Value) -> bool {
        match value {
            Value::Obj(object) => is_tracked(self.heap.payload(object)),
            _ => false,
        }
    }

    /// Labels a container that was just made around its children: it is above all of them.
    ///
    /// A container without a label holds no other container and was never stored into one.
    pub(crate) fn label_children(&mut self, value: Value) {
        let Value::Obj(object) = value else { return };
        let items: &[Value] = match self.heap.payload(object) {
            Payload::List(list) => &list.items,
            Payload::Tuple(items) => items,
            _ => &[Value::Obj(object)],
        };
        // Numbers hold nothing.
        if !items.iter().any(|item| matches!(item, Value::Obj(_))) {
            return;
        }
        let mut lowest = i32::MAX;
        let mut leaves = Vec::new();
        let mut look = |child: Value| {
            if let Value::Obj(child) = child {
                let slot = self.heap.slot(child);
                if is_tracked(&slot.payload) {
                    if slot.depth == i32::MAX {
                        leaves.push(child);
                    }
                    lowest = lowest.min(if slot.depth == i32::MAX { 0 } else { slot.depth });
                }
            }
        };
        match self.heap.payload(object) {
            Payload::List(_) | Payload::Tuple(_) => items.iter().for_each(|&item| look(item)),
            payload => payload.each(&mut look),
        }
        for leaf in leaves {
            // A method is bound without a label: most are called and gone. One that is kept holds its object.
            if matches!(self.heap.payload(leaf), Payload::BoundMethod { .. }) {
                self.label_method(Value::Obj(leaf));
            }
            let slot = self.heap.slot_mut(leaf);
            if slot.depth == i32::MAX {
                slot.depth = 0;
            }
            lowest = lowest.min(slot.depth);
        }
        if lowest != i32::MAX {
            self.heap.slot_mut(object).depth = lowest.saturating_sub(1);
        }
    }

    /// Labels a bound method, if it has no label yet. Methods that it holds have theirs since it was made.
    pub(crate) fn label_method(&mut self, method: Value) {
        let Value::Obj(object) = method else { return };
        if self.heap.slot(object).depth != i32::MAX {
            return;
        }
        let mut held = Vec::new();
        self.heap.payload(object).each(&mut |value| held.extend(value.object()));
        let mut lowest = i32::MAX;
        for child in held {
            if is_tracked(self.heap.payload(child)) {
                let slot = self.heap.slot_mut(child);
                if slot.depth == i32::MAX {
                    slot.depth = 0;
                }
                lowest = lowest.min(slot.depth);
            }
        }
        if lowest != i32::MAX {
            self.heap.slot_mut(object).depth = lowest.saturating_sub(1);
        }
    }

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
            self.label_method(Value::Obj(child));
        }
        if self.label(parent, child) { Ok(()) } else { self.push_below(parent, child) }
    }

    /// Labels a child as deeper than its parent, where one of them has no label yet; `false`, and nothing has changed, where their labels contradict that.
    #[inline]
    fn label(&mut self, parent: Ref, child: Ref) -> bool {
        match (self.heap.slot(parent).depth, self.heap.slot(child).depth) {
            (i32::MAX, i32::MAX) => {
                self.heap.slot_mut(child).depth = 0;
                self.heap.slot_mut(parent).depth = -1;
            }
            (i32::MAX, c) => self.heap.slot_mut(parent).depth = c.saturating_sub(1),
            (p, i32::MAX) => self.heap.slot_mut(child).depth = p.saturating_add(1),
            (p, c) => return c > p,
        }
        true
    }

    /// [`Self::store_barrier`] where it takes no look at what the child holds; `false`, and nothing has changed, elsewhere.
    pub(super) fn label_at_once(&mut self, parent: Ref, child: &Value) -> bool {
        let Value::Obj(child) = *child else { return true };
        if child == parent {
            return false;
        }
        if !is_tracked(self.heap.payload(child)) {
            return true;
        }
        // An object of the image would be copied for its label.
        if matches!(self.heap.payload(child), Payload::BoundMethod { .. }) || self.heap.is_frozen(parent) || self.heap.is_frozen(child) {
            return false;
        }
        self.label(parent, child)
    }

    /// Containers directly inside an object, and how many values were looked at for them.
    fn children(&self, object: Ref) -> (Vec<Ref>, usize) {
        let (mut found, mut seen) = (Vec::new(), 0);
        self.heap.payload(object).each(&mut |value| {
            seen += 1;
            if let Value::Obj(child) = value {
                if is_tracked(self.heap.payload(child)) {
                    found.push(child);
                }
            }
        });
        (found, seen)
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
            let (children, seen) = self.children(object);
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

/// Whether an object can hold others in a way that programs change: what the barrier watches. Functions, classes, modules and cells
/// belong to the invocation's arena and are exempt.
pub(crate) fn is_tracked(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::List(_)
            | Payload::Dict(_)
            | Payload::Tuple(_)
            | Payload::Set(_)
            | Payload::Instance(_)
            | Payload::Extended(_)
            | Payload::BoundMethod { .. }
            | Payload::Iterator(_)
            | Payload::MemoryView(_)
    )
}
