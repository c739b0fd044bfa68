//! Texts, tuples, lists and views: making them, and what they hold.

use super::{Heap, holds_objects};
use crate::payload::{DictPart, Iter, Payload};
use crate::types::{EMPTY_TUPLE, ty};
use crate::value::{Ref, Value};
use crate::window::{afresh, moved};
use cowboy_num::sizes;

impl Heap {
    /// Text of a value that is a `str`.
    pub(crate) fn text(&self, value: Value) -> Option<&str> {
        match value {
            Value::Obj(object) => match self.payload(object).core() {
                Payload::Str(string) => Some(&string.text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The text behind an interned name.
    pub(crate) fn name_text(&self, name: Ref) -> &str {
        match self.payload(name).core() {
            Payload::Str(string) => &string.text,
            _ => "?",
        }
    }

    /// A tuple that takes the references over.
    pub(crate) fn tuple(&mut self, items: Vec<Value>) -> Value {
        if items.is_empty() {
            return Value::Obj(EMPTY_TUPLE);
        }
        let (size, holds) = (40 + 8 * items.len(), holds_objects(&items));
        let items = self.spares.boxed(items);
        let tuple = Value::Obj(self.alloc_sized(ty::TUPLE, Payload::Tuple(moved(items)), size));
        if holds {
            self.label_children(tuple);
        }
        tuple
    }

    /// A list that takes the references over.
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        let (size, holds) = (56 + 8 * items.len(), holds_objects(&items));
        let list = Value::Obj(self.alloc_sized(ty::LIST, Payload::List(crate::payload::List::new(moved(items))), size));
        if holds {
            self.label_children(list);
        }
        list
    }

    /// Whether a value is a set, frozenset or view of keys or pairs.
    pub(crate) fn is_set(&self, value: Value) -> bool {
        match value.object().map(|object| self.payload(object).core()) {
            Some(Payload::Set(_)) => true,
            Some(Payload::DictView { part, .. }) => *part != DictPart::Values,
            _ => false,
        }
    }

    /// The tuple's items, borrowed.
    pub(crate) fn tuple_ref(&self, tuple: Value) -> &[Value] {
        match tuple {
            Value::Obj(object) => match self.payload(object).core() {
                Payload::Tuple(items) => items,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// What an iteration over a dict gives for an entry, retained.
    pub(crate) fn dict_part(&mut self, key: Value, value: Value, part: DictPart) -> Value {
        match part {
            DictPart::Keys => self.retain(key),
            DictPart::Values => self.retain(value),
            DictPart::Items => {
                self.retain(key);
                self.retain(value);
                self.pair(key, value)
            }
        }
    }

    /// How many builtin iterators lie inside one another in this one, itself included; `None` when it is not builtin. Inside a builtin
    /// iterator are only builtin ones: what makes one sees to that.
    pub(crate) fn iterator_nesting(&self, iterator: Value) -> Option<u8> {
        match self.payload(iterator.object()?) {
            Payload::Iterator(state) => match **state {
                Iter::Enumerate { nesting, .. } | Iter::Zip { nesting, .. } => Some(nesting),
                _ => Some(1),
            },
            _ => None,
        }
    }

    /// A tuple of two, whose references it takes over.
    pub(crate) fn pair(&mut self, first: Value, second: Value) -> Value {
        let items = self.spares.tuple(&mut [first, second]);
        let holds = holds_objects(&items);
        let pair = Value::Obj(self.alloc_sized(ty::TUPLE, Payload::Tuple(moved(items)), 56));
        if holds {
            self.label_children(pair);
        }
        pair
    }

    pub(crate) fn sequence_length(&self, object: Ref) -> usize {
        match self.payload(object).core() {
            Payload::List(list) => list.items.len(),
            Payload::Tuple(items) => items.len(),
            Payload::Str(text) => text.chars as usize,
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => bytes.len(),
            Payload::Range(range) => sizes::index(range.len()).unwrap_or(usize::MAX),
            Payload::MemoryView(view) => view.shape.first().copied().unwrap_or(1),
            Payload::MappingProxy(Value::Obj(inner)) => match self.payload(*inner) {
                Payload::Class(row) => row.attributes.len(),
                _ => self.dict_len(*inner),
            },
            _ => 0,
        }
    }

    pub(crate) fn sequence_word(&self, receiver: Ref) -> (&'static str, usize) {
        match self.payload(receiver).core() {
            Payload::List(list) => ("list", list.items.len()),
            Payload::Tuple(items) => ("tuple", items.len()),
            Payload::Str(text) => ("string", text.chars as usize),
            Payload::Bytes(bytes) => ("index", bytes.len()),
            Payload::ByteArray(bytes, _) => ("bytearray", bytes.len()),
            Payload::Range(range) => ("range object", sizes::index(range.len()).unwrap_or(usize::MAX)),
            _ => ("sequence", 0),
        }
    }
}

impl Heap {
    /// The names of a class's own attributes.
    pub(crate) fn own_names(&self, class: Ref) -> Vec<Ref> {
        match self.payload(class) {
            Payload::Class(row) => row.attributes.keys().copied().collect(),
            _ => Vec::new(),
        }
    }

    /// The items of a builtin container now, not retained.
    pub(crate) fn sequence_snapshot(&self, value: Value) -> Vec<Value> {
        let Value::Obj(object) = value else { return Vec::new() };
        match self.payload(object).core() {
            Payload::List(list) => list.items.clone(),
            Payload::Tuple(items) => items.to_vec(),
            Payload::Dict(dict) | Payload::Set(dict) => {
                let mut keys = Vec::with_capacity(dict.len());
                keys.extend(dict.iter().map(|entry| entry.key));
                keys
            }
            Payload::MappingProxy(Value::Obj(class)) => match self.payload(*class) {
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

    /// The same in a buffer that was kept, where it is a list or tuple.
    pub(crate) fn snapshot(&mut self, value: Value) -> Vec<Value> {
        let Some(count) = value.object().and_then(|object| self.items(object)).map(<[Value]>::len) else {
            return self.sequence_snapshot(value);
        };
        let mut copies = self.spares.values(count);
        let items = value.object().and_then(|object| self.items(object));
        copies.extend(items.unwrap_or_default().iter().map(afresh));
        copies
    }

    /// The items of a list, not retained.
    pub(crate) fn list_items(&self, list: Value) -> Vec<Value> {
        self.sequence_snapshot(list)
    }
}
