//! What builtin containers hold now, as a list of its own: for work during which the container may change.

use super::Vm;
use crate::payload::Payload;
use crate::value::{Ref, Value};

impl Vm {
    /// The names of a class's own attributes.
    pub(crate) fn own_names(&self, class: Ref) -> Vec<Ref> {
        match self.heap.payload(class) {
            Payload::Class(row) => row.attributes.keys().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// The items of a builtin container now, not retained.
    pub(crate) fn sequence_snapshot(&self, value: Value) -> Vec<Value> {
        let Value::Obj(object) = value else { return Vec::new() };
        match self.heap.payload(object).core() {
            Payload::List(list) => list.items.clone(),
            Payload::Tuple(items) => items.to_vec(),
            Payload::Dict(dict) | Payload::Set(dict) => {
                let mut keys = Vec::with_capacity(dict.len());
                keys.extend(dict.iter().map(|entry| entry.key));
                keys
            }
            Payload::MappingProxy(Value::Obj(class)) => match self.heap.payload(*class) {
                Payload::Class(row) => row.attributes.keys().map(|&name| Value::Obj(name)).collect(),
                _ => self.sequence_snapshot(Value::Obj(*class)),
            },
            _ => Vec::new(),
        }
    }

    /// The items of a tuple, not retained.
    pub(crate) fn tuple_items(&self, tuple: Value) -> Vec<Value> {
        self.tuple_ref(tuple).to_vec()
    }

    /// The items of a list, not retained.
    pub(crate) fn list_items(&self, list: Value) -> Vec<Value> {
        self.sequence_snapshot(list)
    }
}
