//! Finding keys of tables without running code.

use super::Heap;
use crate::heap::order::SHORT_TEXT;
use crate::payload::Payload;
use crate::payload::dict::{Dict, NEAR};
use crate::types::ty;
use crate::value::{Ref, Value};
use cowboy_num::hash_i64;

/// Entries of a table that is searched from end to end.
pub(crate) const SMALL_TABLE: usize = 8;

/// The longest tuples whose comparison costs nothing of its own.
pub(crate) const FEW: usize = 3;

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
    pub(crate) fn known_hash(&self, value: &Value) -> Option<i64> {
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
    pub(crate) fn tuple_hash(&self, items: &[Value]) -> Option<i64> {
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
    pub(crate) fn plain_tuple(&self, object: Ref) -> Option<&[Value]> {
        let slot = self.slot(object);
        match &slot.payload {
            Payload::Tuple(items) if slot.class == ty::TUPLE => Some(items),
            _ => None,
        }
    }

    /// Whether and where a dict has a tuple of few small integers whose hash is known; `None` when that is not certain without charging for
    /// it: there is something else in one of the tuples that have to be compared.
    #[inline]
    pub(crate) fn find_numbers(&self, dict: &Dict, object: Ref, hash: i64) -> Option<Option<usize>> {
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
