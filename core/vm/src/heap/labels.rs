//! Labels of containers: which may lead to which. See `runtime::barrier`.

use super::Heap;
use crate::payload::Payload;
use crate::value::{Ref, Value};

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

impl Heap {
    /// Whether a value can be part of a reference cycle.
    #[inline]
    pub(crate) fn is_container(&self, value: Value) -> bool {
        match value {
            Value::Obj(object) => is_tracked(self.payload(object)),
            _ => false,
        }
    }

    /// Labels a container that was just made around its children: it is above all of them.
    ///
    /// A container without a label holds no other container and was never stored into one.
    pub(crate) fn label_children(&mut self, value: Value) {
        let Value::Obj(object) = value else { return };
        let items: &[Value] = match self.payload(object) {
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
                let slot = self.slot(child);
                if is_tracked(&slot.payload) {
                    if slot.depth == i32::MAX {
                        leaves.push(child);
                    }
                    lowest = lowest.min(if slot.depth == i32::MAX { 0 } else { slot.depth });
                }
            }
        };
        match self.payload(object) {
            Payload::List(_) | Payload::Tuple(_) => items.iter().for_each(|&item| look(item)),
            payload => payload.each(&mut look),
        }
        for leaf in leaves {
            // A method is bound without a label: most are called and gone. One that is kept holds its object.
            if matches!(self.payload(leaf), Payload::BoundMethod { .. }) {
                self.label_method(Value::Obj(leaf));
            }
            let slot = self.slot_mut(leaf);
            if slot.depth == i32::MAX {
                slot.depth = 0;
            }
            lowest = lowest.min(slot.depth);
        }
        if lowest != i32::MAX {
            self.slot_mut(object).depth = lowest.saturating_sub(1);
        }
    }

    /// Labels a bound method, if it has no label yet. Methods that it holds have theirs since it was made.
    pub(crate) fn label_method(&mut self, method: Value) {
        let Value::Obj(object) = method else { return };
        if self.slot(object).depth != i32::MAX {
            return;
        }
        let mut held = Vec::new();
        self.payload(object).each(&mut |value| held.extend(value.object()));
        let mut lowest = i32::MAX;
        for child in held {
            if is_tracked(self.payload(child)) {
                let slot = self.slot_mut(child);
                if slot.depth == i32::MAX {
                    slot.depth = 0;
                }
                lowest = lowest.min(slot.depth);
            }
        }
        if lowest != i32::MAX {
            self.slot_mut(object).depth = lowest.saturating_sub(1);
        }
    }

    /// Labels a child as deeper than its parent, where one of them has no label yet; `false`, and nothing has changed, where their labels contradict that.
    #[inline]
    pub(crate) fn label(&mut self, parent: Ref, child: Ref) -> bool {
        match (self.slot(parent).depth, self.slot(child).depth) {
            (i32::MAX, i32::MAX) => {
                self.slot_mut(child).depth = 0;
                self.slot_mut(parent).depth = -1;
            }
            (i32::MAX, c) => self.slot_mut(parent).depth = c.saturating_sub(1),
            (p, i32::MAX) => self.slot_mut(child).depth = p.saturating_add(1),
            (p, c) => return c > p,
        }
        true
    }

    /// [`Self::store_barrier`] where it takes no look at what the child holds; `false`, and nothing has changed, elsewhere.
    pub(crate) fn label_at_once(&mut self, parent: Ref, child: &Value) -> bool {
        let Value::Obj(child) = *child else { return true };
        if child == parent {
            return false;
        }
        if !is_tracked(self.payload(child)) {
            return true;
        }
        // An object of the image would be copied for its label.
        if matches!(self.payload(child), Payload::BoundMethod { .. }) || self.is_frozen(parent) || self.is_frozen(child) {
            return false;
        }
        self.label(parent, child)
    }

    /// Containers directly inside an object, and how many values were looked at for them.
    pub(crate) fn children(&self, object: Ref) -> (Vec<Ref>, usize) {
        let mut found: Vec<Ref> = Vec::new();
        let mut seen = 0;
        self.payload(object).each(&mut |value| {
            seen += 1;
            if let Value::Obj(child) = value {
                if is_tracked(self.payload(child)) {
                    found.push(child);
                }
            }
        });
        (found, seen)
    }
}
