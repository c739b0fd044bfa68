//! Texts: making and appending them, names that are made once, and marks of characters.

use super::{ETERNAL, Heap};
use crate::payload::{Payload, Str};
use crate::types::{latin1, nm, ty};
use crate::value::{Ref, Value};
use crate::window::moved;
use cowboy_num::int::push_decimal;

impl Heap {
    /// A part of a text.
    #[inline]
    pub(crate) fn piece(&mut self, object: Ref, range: std::ops::Range<usize>) -> String {
        if object.0 >= self.frozen_len {
            if let Payload::Str(text) = &self.slots[(object.0 - self.frozen_len) as usize].payload {
                return self.spares.text(&text.text[range]);
            }
        }
        match self.payload(object).core() {
            Payload::Str(text) => text.text[range].to_owned(),
            _ => String::new(),
        }
    }

    /// Appends a text to another one in place.
    #[inline]
    pub(crate) fn append_text(&mut self, target: Ref, more: Ref) {
        self.forget_marks(target);
        let Payload::Str(text) = self.payload_mut(target) else { return };
        let before = text.size();
        // The text is out of its slot while the other one is read.
        let mut grown = moved(std::mem::take(&mut text.text));
        let Payload::Str(other) = self.payload(more) else { return };
        grown.push_str(&other.text);
        let (chars, widest) = (other.chars, other.widest());
        if let Payload::Str(text) = self.payload_mut(target) {
            text.grow(moved(grown), chars, widest);
            let after = text.size();
            self.resize_memory(before, after);
        }
    }

    /// A text object.
    pub(crate) fn str(&mut self, text: &str) -> Value {
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (None, _) => return Value::Obj(crate::types::nm::EMPTY),
            (Some(only), None) => {
                if let Ok(byte) = u8::try_from(u32::from(only)) {
                    return Value::Obj(latin1(byte));
                }
            }
            _ => {}
        }
        self.make(ty::STR, Payload::Str(Str::new(text.to_owned())))
    }

    /// A text object that takes the string over.
    pub(crate) fn string(&mut self, text: String) -> Value {
        if text.is_ascii() {
            return self.ascii(text);
        }
        if text.len() <= 2 { self.str(&text) } else { self.make(ty::STR, Payload::Str(Str::new(text))) }
    }

    /// Another reference to a text that is known already, instead of an object of an equal one.
    pub(crate) fn instead_of(&mut self, equal: String, known: Value) -> Value {
        self.spares.keep_text(equal);
        self.retain(known)
    }

    /// The one object for an identifier; lives as long as the run.
    pub(crate) fn intern(&mut self, text: &str) -> Ref {
        if let Some(known) = self.interned_name(text) {
            return known;
        }
        let mut string = Str::new(text.to_owned());
        string.hash();
        string.interned = true;
        let object = self.alloc(ty::STR, Payload::Str(string));
        self.slot_mut(object).count = ETERNAL;
        self.interned.insert(text.into(), object);
        object
    }

    /// The object of an identifier that was interned before.
    pub(crate) fn interned_name(&self, text: &str) -> Option<Ref> {
        self.image.interned(text).or_else(|| self.interned.get(text).copied())
    }

    /// The interned twin of a text object.
    pub(crate) fn intern_object(&mut self, object: Ref) -> Option<Ref> {
        let Payload::Str(string) = self.payload(object).core() else { return None };
        if string.interned {
            return Some(object);
        }
        let text = string.text.clone();
        Some(self.intern(&text))
    }

    /// Makes an object the one for its text.
    pub(crate) fn register_name(&mut self, text: &str, object: Ref) {
        self.interned.insert(text.into(), object);
    }

    /// `str(n)`, and its length.
    pub(crate) fn decimal(&mut self, number: i64) -> (Value, usize) {
        let mut text = self.spares.empty_text(0);
        push_decimal(&mut text, number);
        let length = text.len();
        (self.ascii(text), length)
    }

    /// A text object of ASCII characters.
    #[inline]
    pub(crate) fn ascii(&mut self, text: String) -> Value {
        let text = moved(text);
        match text.as_bytes() {
            [] => Value::Obj(nm::EMPTY),
            [only] => Value::Obj(latin1(*only)),
            bytes => {
                let size = 49 + bytes.len();
                Value::Obj(self.alloc_sized(ty::STR, Payload::Str(Str::ascii_text(moved(text))), size))
            }
        }
    }

    /// Forgets where the characters of a text are that dies or changes.
    #[inline(always)]
    pub(crate) fn forget_marks(&mut self, object: Ref) {
        if !self.marks.is_empty() {
            self.marks.swap_remove(&object);
        }
    }
}
