//! Comparing numbers and texts without running code.

use super::Heap;
use crate::payload::Payload;
use crate::value::{Ref, Value};
use std::cmp::Ordering;

/// Bytes of text whose comparison an instruction's own price covers.
pub(crate) const SHORT_TEXT: usize = 64;

impl Heap {
    /// How two numbers, two texts, or two short tuples of them compare; `None` for everything else.
    pub(crate) fn order(&self, left: &Value, right: &Value) -> Option<Ordering> {
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Obj(a), Value::Obj(b)) => match (self.payload(*a), self.payload(*b)) {
                // Longer ones are charged by their length.
                (Payload::Str(a), Payload::Str(b)) if a.text.len().min(b.text.len()) > SHORT_TEXT => None,
                (Payload::Str(a), Payload::Str(b)) => Some(a.text.cmp(&b.text)),
                (Payload::Tuple(a), Payload::Tuple(b)) if a.len() <= 4 && b.len() <= 4 => {
                    for (a, b) in a.iter().zip(b) {
                        // Tuples inside tuples take the general way, so that this does not nest.
                        if matches!(a, Value::Obj(inner) if matches!(self.payload(*inner), Payload::Tuple(_))) {
                            return None;
                        }
                        match self.order(a, b)? {
                            Ordering::Equal => {}
                            ordering => return Some(ordering),
                        }
                    }
                    Some(a.len().cmp(&b.len()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether two objects are the same text; `None` when one of them is not plain text, or they are long.
    #[inline]
    pub(crate) fn same_text(&self, left: Ref, right: Ref) -> Option<bool> {
        let (Payload::Str(a), Payload::Str(b)) = (self.payload(left), self.payload(right)) else { return None };
        if left == right || (a.interned && b.interned) || a.text.len() != b.text.len() {
            return Some(left == right);
        }
        // Longer ones are charged by their length.
        if a.text.len() > SHORT_TEXT { None } else { Some(a.same(b)) }
    }

    /// How two texts are ordered; `None` when one of them is not plain text, or both are long.
    #[inline(never)]
    pub(crate) fn order_of_texts(&self, left: Ref, right: Ref) -> Option<Ordering> {
        let (Payload::Str(a), Payload::Str(b)) = (self.payload(left), self.payload(right)) else { return None };
        // Longer ones are charged by their length.
        (a.text.len().min(b.text.len()) <= SHORT_TEXT).then(|| a.text.cmp(&b.text))
    }

    /// `Equal` for two equal texts, anything else for two others; as [`Heap::same_text`].
    #[inline(always)]
    pub(crate) fn equality_of_texts(&self, left: Ref, right: Ref) -> Option<Ordering> {
        self.same_text(left, right).map(|same| if same { Ordering::Equal } else { Ordering::Less })
    }
}
