//! Hashes, and finding keys by them without running code.

use super::Vm;
use super::compare::{NATIVE_DEPTH, SHORT_TEXT};
use crate::costs::{FROZENSET_HASH, INNER_HASH, INSTANCE_HASH, ITEM_HASHED, LARGE_HASH, TEXT_HASHED};
use crate::error::{Outcome, Throw};
use crate::heap::Heap;
use crate::payload::dict::{Dict, NEAR};
use crate::payload::{DictPart, Payload};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::{hash_f64, hash_i64, hash_int};

/// Entries of a table that is searched from end to end.
const SMALL_TABLE: usize = 8;
/// The longest tuples whose comparison costs nothing of its own.
const FEW: usize = 3;

impl Heap {
    /// The hash of a text or number, without running code.
    #[inline]
    pub(crate) fn simple_hash(&self, value: Value) -> Option<i64> {
        match value {
            Value::Int(value) => Some(hash_i64(value)),
            Value::Obj(object) => match self.payload(object) {
                Payload::Str(text) => Some(text.hash()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a key is a text that was not hashed yet, and whose hash is charged by its length: a short one's is part of what asks for it.
    #[inline(always)]
    pub(crate) fn charges_hash(&self, key: &Value) -> bool {
        match *key {
            Value::Obj(key) => matches!(self.payload(key), Payload::Str(text) if text.text.len() > SHORT_TEXT && !text.is_hashed()),
            _ => false,
        }
    }

    /// The hash of a small integer, or of a text that was hashed before.
    #[inline(always)]
    pub(super) fn known_hash(&self, value: &Value) -> Option<i64> {
        match *value {
            Value::Int(number) => Some(hash_i64(number)),
            Value::Obj(object) => match self.payload(object) {
                Payload::Str(text) if text.is_hashed() => Some(text.hash()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The hash of a tuple of few small integers and texts that were hashed before; `None` for everything else.
    #[inline]
    fn tuple_hash(&self, items: &[Value]) -> Option<i64> {
        let mut certain = items.len() <= SMALL_TABLE;
        if !certain {
            return None;
        }
        let hashes = items.iter().map(|item| match *item {
            Value::Int(number) => hash_i64(number),
            Value::Obj(object) => match self.payload(object) {
                Payload::Str(text) if text.is_hashed() => text.hash(),
                _ => {
                    certain = false;
                    0
                }
            },
            _ => {
                certain = false;
                0
            }
        });
        let hash = cowboy_num::hash::hash_tuple(hashes);
        certain.then_some(hash)
    }

    /// The items of a tuple that is of no subclass.
    #[inline(always)]
    fn plain_tuple(&self, object: Ref) -> Option<&[Value]> {
        let slot = self.slot(object);
        match &slot.payload {
            Payload::Tuple(items) if slot.class == ty::TUPLE => Some(items),
            _ => None,
        }
    }

    /// Whether and where a dict has a tuple of few small integers whose hash is known; `None` when that is not certain without charging for
    /// it: there is something else in one of the tuples that have to be compared.
    #[inline]
    pub(super) fn find_numbers(&self, dict: &Dict, object: Ref, hash: i64) -> Option<Option<usize>> {
        let items = self.plain_tuple(object)?;
        if items.len() > FEW || !items.iter().all(|item| matches!(item, Value::Int(_))) {
            return None;
        }
        let mut certain = true;
        let found = dict.find(hash, NEAR, |known| match *known {
            Value::Obj(known) if known == object => true,
            Value::Obj(known) => match self.plain_tuple(known) {
                Some(others) if others.len() == items.len() => items.iter().zip(others).all(|pair| match pair {
                    (Value::Int(one), Value::Int(other)) => one == other,
                    _ => {
                        certain = false;
                        false
                    }
                }),
                _ => {
                    certain = false;
                    false
                }
            },
            _ => {
                certain = false;
                false
            }
        })?;
        if found.is_none() && !certain { None } else { Some(found) }
    }

    /// The position of a text or small integer in a dict; `None` also when the key is of another sort.
    #[inline]
    pub(crate) fn find_simple(&self, dict: &Dict, key: Value) -> Option<usize> {
        self.find_certain(dict, &key, usize::MAX).flatten()
    }

    /// Whether and where a dict has a text or small integer; `None` when that is not certain without running code or charging for it: the
    /// key is of another sort or has to be hashed at length, or one of another sort has the same hash.
    #[inline]
    pub(crate) fn find_known(&self, dict: &Dict, key: &Value) -> Option<Option<usize>> {
        if let Value::Obj(object) = *key {
            // Other keys pay for their hash each time.
            if !matches!(self.payload(object), Payload::Str(_)) {
                return None;
            }
            // The very same text in a small table is found soonest by looking for it.
            if dict.entries.len() <= SMALL_TABLE {
                let found = dict.entries.iter().position(|entry| matches!(entry.key, Value::Obj(known) if known == object));
                if found.is_some() {
                    return Some(found);
                }
            }
            if self.charges_hash(key) {
                return None;
            }
        }
        self.find_certain(dict, key, SHORT_TEXT)
    }

    /// The same for texts that are hashed already, whatever their length; not certain when one that is longer than `most` would have to be
    /// compared with another one.
    #[inline]
    pub(crate) fn find_certain(&self, dict: &Dict, key: &Value, most: usize) -> Option<Option<usize>> {
        let mut certain = true;
        // Names, which nobody chooses for their hashes, are found however far away they are.
        let steps = if most == usize::MAX { u32::MAX } else { NEAR };
        let found = match *key {
            Value::Int(number) => dict.find(hash_i64(number), steps, |known| match *known {
                Value::Int(known) => known == number,
                Value::Bool(known) => i64::from(known) == number,
                Value::Obj(known) if matches!(self.payload(known), Payload::Str(_)) => false,
                _ => {
                    certain = false;
                    false
                }
            })?,
            Value::Obj(object) => {
                let Payload::Str(text) = self.payload(object) else { return None };
                dict.find(text.hash(), steps, |known| match *known {
                    Value::Obj(known) if known == object => true,
                    Value::Obj(known) => match self.payload(known) {
                        Payload::Str(other) if text.interned && other.interned || other.text.len() != text.text.len() => false,
                        Payload::Str(_) if text.text.len() > most => {
                            certain = false;
                            false
                        }
                        Payload::Str(other) => other.same(text),
                        _ => {
                            certain = false;
                            false
                        }
                    },
                    _ => false,
                })?
            }
            _ => return None,
        };
        if found.is_none() && !certain { None } else { Some(found) }
    }
}

impl Vm {
    /// `hash(value)` when that needs no Python code.
    pub(crate) fn hash_native(&mut self, value: Value) -> Outcome<i64> {
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
        } else if let Some(text) = self.text(value) {
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
                self.spend(INNER_HASH.once())?;
                Ok(self.hash_native(origin)? ^ self.hash_native(arguments)?)
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
            Payload::Set(set) if self.is_subclass(class, ty::FROZENSET) => {
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

    /// TypeError for a key that cannot be hashed.
    pub(crate) fn unhashable(&mut self, value: Value) -> Throw {
        let message = format!("unhashable type: '{}'", self.class_name(value));
        self.type_error(message)
    }
}
