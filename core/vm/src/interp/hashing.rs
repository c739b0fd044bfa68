//! Hashes, and finding keys by them without running code.

use super::Vm;
use crate::costs::{FROZENSET_HASH, INNER_HASH, INSTANCE_HASH, ITEM_HASHED, LARGE_HASH, TEXT_HASHED};
use crate::error::{Outcome, Throw};
use crate::heap::order::SHORT_TEXT;
use crate::limits::NATIVE_DEPTH;
use crate::payload::{DictPart, Payload};
use crate::runtime::protocol::Hashing;
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::{hash_f64, hash_i64, hash_int};

impl Hashing for Vm {
    fn hash_native(&mut self, value: Value) -> Outcome<i64> {
        let Value::Obj(object) = value else {
            return Ok(match value {
                Value::Int(number) => hash_i64(number),
                Value::Bool(truth) => i64::from(truth),
                Value::Float(number) => hash_f64(number),
                Value::None => cowboy_num::hash::HASH_NONE,
                Value::NotImplemented => 0x1357_9bdf,
                Value::Ellipsis => 0x2468_ace0,
                Value::Undefined | Value::Obj(_) => 0,
            });
        };
        if let Payload::Str(text) = self.heap.payload(object) {
            if text.is_hashed() {
                return Ok(text.hash());
            }
            let length = text.text.len();
            if length > SHORT_TEXT && !self.heap.is_frozen(object) {
                self.spend(TEXT_HASHED.of(length))?;
            }
            return Ok(self.heap.simple_hash(value).unwrap_or(0));
        }
        if let Some(items) = self.heap.plain_tuple(object) {
            let length = items.len();
            if self.native_depth <= NATIVE_DEPTH {
                if let Some(hash) = self.heap.tuple_hash(items) {
                    self.spend(ITEM_HASHED.of(length))?;
                    return Ok(hash);
                }
            }
        }
        let class = self.heap.slot(object).class;
        if class.0 >= crate::types::FIXED_COUNT {
            self.spend(INSTANCE_HASH.once())?;
            match self.lookup(class, nm::HASH) {
                Some(Value::None) => return Err(self.unhashable(value)),
                Some(function) if !self.is_inherited(class, nm::HASH, function) => return Err(Throw::Fallback),
                _ => {}
            }
        }
        if self.native_depth > NATIVE_DEPTH {
            return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        // Nothing remembers these hashes.
        if let Payload::Bytes(bytes) = self.heap.payload(object).core() {
            let length = bytes.len();
            self.spend(TEXT_HASHED.of(length))?;
        } else if let Some(text) = self.heap.text(value) {
            let length = text.len();
            self.spend(TEXT_HASHED.of(length))?;
        }
        match self.heap.payload(object).core() {
            Payload::Str(text) => Ok(cowboy_num::hash::hash_str(&text.text)),
            Payload::BigInt(number) => {
                let hash = hash_int(number);
                self.spend(LARGE_HASH.once())?;
                Ok(hash)
            }
            Payload::Scalar(inner) => {
                let inner = *inner;
                self.hash_native(inner)
            }
            Payload::Complex(z) => Ok(cowboy_num::hash::hash_complex(z.real, z.imaginary)),
            Payload::GenericAlias { origin, arguments, .. } => {
                let (origin, arguments) = (*origin, *arguments);
                self.hash_alias(origin, arguments)
            }
            Payload::Union(_) => Err(Throw::Fallback),
            Payload::MemoryView(_) => crate::objects::memoryview::hash(self, value),
            Payload::Bytes(bytes) => Ok(cowboy_num::siphash13(bytes)),
            Payload::Tuple(items) => {
                if let Some(hash) = self.heap.tuple_hash(items) {
                    let length = items.len();
                    self.spend(ITEM_HASHED.of(length))?;
                    return Ok(hash);
                }
                let items = items.to_vec();
                self.spend(INNER_HASH.once() + ITEM_HASHED.of(items.len()))?;
                let mut hashes = Vec::with_capacity(items.len());
                self.native_depth += 1;
                for item in items {
                    match self.hash_native(item) {
                        Ok(hash) => hashes.push(hash),
                        Err(throw) => {
                            self.native_depth -= 1;
                            return Err(throw);
                        }
                    }
                }
                self.native_depth -= 1;
                Ok(cowboy_num::hash::hash_tuple(hashes.into_iter()))
            }
            Payload::Set(set) if self.heap.is_subclass(class, ty::FROZENSET) => {
                let count = set.len();
                self.spend(FROZENSET_HASH.once() + ITEM_HASHED.of(count))?;
                let Payload::Set(set) = self.heap.payload(object).core() else { return Err(self.unhashable(value)) };
                let hashes: Vec<i64> = set.iter().map(|entry| entry.hash).collect();
                Ok(cowboy_num::hash::hash_frozenset(hashes.into_iter()))
            }
            Payload::Range(range) => {
                let range = *range;
                let length = i64::try_from(range.len()).unwrap_or(i64::MAX);
                let start = if length == 0 { Value::None } else { Value::Int(range.start) };
                let step = if length <= 1 { Value::None } else { Value::Int(range.step) };
                let parts = [Value::Int(length), start, step];
                let hashes: Vec<i64> = parts.iter().map(|part| self.heap.simple_hash(*part).unwrap_or(0)).collect();
                Ok(cowboy_num::hash::hash_tuple(hashes.into_iter()))
            }
            Payload::List(_)
            | Payload::Dict(_)
            | Payload::Set(_)
            | Payload::ByteArray(..)
            | Payload::Slice(_)
            | Payload::MappingProxy(_) => Err(self.unhashable(value)),
            Payload::DictView { part: DictPart::Keys | DictPart::Items, .. } => Err(self.unhashable(value)),
            Payload::BoundMethod { function, receiver } => {
                let (function, receiver) = (*function, *receiver);
                let hash = |value: Value| value.object().map_or(0, |object| object.number());
                Ok(hash(function) ^ (hash(receiver) << 16))
            }
            // By identity: the handle, spread as CPython spreads addresses.
            _ => Ok(object.number().wrapping_mul(16).wrapping_add(0x7000_0000)),
        }
    }
}

impl Vm {
    fn hash_alias(&mut self, origin: Value, arguments: Value) -> Outcome<i64> {
        self.spend(INNER_HASH.once())?;
        // What an alias is of may be an alias, and so on.
        self.native_depth += 1;
        let hash = self.hash_native(origin);
        self.native_depth -= 1;
        Ok(hash? ^ self.hash_native(arguments)?)
    }

    /// TypeError for a key that cannot be hashed.
    pub(crate) fn unhashable(&mut self, value: Value) -> Throw {
        let message = format!("unhashable type: '{}'", self.heap.class_name(value));
        self.type_error(message)
    }
}
