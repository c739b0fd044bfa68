//! What `match` asks of its subject.

use super::Vm;
use crate::error::Outcome;
use crate::payload::Payload;
use crate::runtime::protocol::Hashing;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// Whether a value matches sequence or mapping patterns.
    pub(crate) fn match_kind(&mut self, subject: Value, sequence: bool) -> bool {
        let Value::Obj(object) = subject else { return false };
        match self.heap.payload(object) {
            Payload::List(_) | Payload::Tuple(_) | Payload::Range(_) | Payload::MemoryView(_) => sequence,
            Payload::Dict(_) | Payload::MappingProxy(_) => !sequence,
            Payload::Instance(_) | Payload::Extended(_) | Payload::Plain => {
                self.match_kind_of_class(self.heap.slot(object).class, sequence)
            }
            _ => false,
        }
    }

    /// The same for classes that descend from a builtin sequence or mapping, from `collections.abc.Sequence` or `Mapping`, or are registered
    /// there: the nearest one decides.
    fn match_kind_of_class(&self, class: Ref, sequence: bool) -> bool {
        let Payload::Class(row) = self.heap.payload(class) else { return false };
        let marked = row.mro.iter().find_map(|&base| match self.heap.payload(base) {
            _ if matches!(base, ty::LIST | ty::TUPLE | ty::RANGE) => Some(true),
            _ if base == ty::DICT => Some(false),
            Payload::Class(base) if base.attributes.contains_key(&nm::MATCH_SEQUENCE) => Some(true),
            Payload::Class(base) if base.attributes.contains_key(&nm::MATCH_MAPPING) => Some(false),
            _ => None,
        });
        marked == Some(sequence)
    }

    /// The values of the keys, as tuple, or `None`.
    pub(crate) fn match_keys(&mut self, subject: Value, keys: Value) -> Outcome {
        let exact = subject.object().is_some_and(|object| matches!(self.heap.payload(object), Payload::Dict(_)));
        if !exact {
            return self.call_helper("match_keys", &[subject, keys]);
        }
        let Value::Obj(dict) = subject else { return Ok(Value::None) };
        let (mut found, mut positions) = (Vec::new(), Vec::new());
        for key in self.heap.tuple_items(keys) {
            let hash = self.hash_native(key)?;
            match self.dict_find(dict, key, hash)? {
                Some(position) if positions.contains(&position) => {
                    let message = format!("mapping pattern checks duplicate key ({})", self.repr_native(key)?);
                    return Err(self.value_error(message));
                }
                Some(position) => {
                    positions.push(position);
                    found.push(self.heap.dict_value_at(dict, position));
                }
                None => return Ok(Value::None),
            }
        }
        let found = self.heap.retain_all(&found);
        Ok(self.heap.tuple(found))
    }

    /// The pairs of a mapping without the keys, as dict.
    pub(crate) fn match_rest(&mut self, subject: Value, keys: Value) -> Outcome {
        self.call_helper("match_rest", &[subject, keys])
    }

    /// The attributes that a class pattern looks at, as tuple, or `None`.
    pub(crate) fn match_class(&mut self, subject: Value, class: Value, positional: usize, names: Value) -> Outcome {
        let Some(class) = class.object().filter(|&class| matches!(self.heap.payload(class), Payload::Class(_))) else {
            return Err(self.type_error("called match pattern must be a class"));
        };
        let simple = positional == 1
            && self.heap.tuple_ref(names).is_empty()
            && class.0 < crate::types::TYPE_COUNT
            && matches!(
                class,
                ty::INT
                    | ty::BOOL
                    | ty::FLOAT
                    | ty::STR
                    | ty::BYTES
                    | ty::BYTEARRAY
                    | ty::LIST
                    | ty::TUPLE
                    | ty::DICT
                    | ty::SET
                    | ty::FROZENSET
            );
        if simple || (positional == 0 && self.heap.tuple_ref(names).is_empty() && class.0 < crate::types::TYPE_COUNT) {
            if !self.heap.is_instance(subject, class) {
                return Ok(Value::None);
            }
            if positional == 0 {
                return Ok(self.heap.tuple(Vec::new()));
            }
            self.heap.retain(subject);
            return Ok(self.heap.tuple(vec![subject]));
        }
        self.call_helper("match_class", &[subject, Value::Obj(class), Value::Int(i64::try_from(positional).unwrap_or(0)), names])
    }
}
