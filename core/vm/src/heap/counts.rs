//! Reference counts, and what happens at zero.

use super::{Heap, holds_objects};
use crate::payload::Payload;
use crate::value::{Ref, Value};
use crate::window::{afresh, moved};

/// The objects among some values.
#[inline(always)]
fn objects(values: &[Value], doomed: &mut Vec<Value>) {
    for value in values {
        if let Value::Obj(object) = *value {
            doomed.push(Value::Obj(object));
        }
    }
}

impl Heap {
    /// Counts one more reference.
    #[inline(always)]
    pub(crate) fn retain(&mut self, value: Value) -> Value {
        if let Value::Obj(object) = value {
            self.retain_object(object);
        }
        value
    }

    /// Counts one more reference to an object.
    #[inline(always)]
    pub(crate) fn retain_object(&mut self, object: Ref) {
        let position = self.position(object);
        if let Some(slot) = self.slots.get_mut(position) {
            slot.count += 1;
        }
    }

    /// Counts one reference to an object less; at none it dies.
    #[inline(always)]
    pub(crate) fn release_object(&mut self, object: Ref) {
        let position = self.position(object);
        if let Some(slot) = self.slots.get_mut(position) {
            slot.count -= 1;
            if slot.count == 0 {
                self.destroy(object);
            }
        }
    }

    /// Counts one more reference of each value.
    pub(crate) fn retain_each(&mut self, values: &[Value]) {
        for value in values {
            if let Value::Obj(object) = *value {
                self.retain_object(object);
            }
        }
    }

    /// Counts one more reference of each value; a list of them.
    pub(crate) fn retain_all(&mut self, values: &[Value]) -> Vec<Value> {
        self.retain_each(values);
        values.to_vec()
    }

    /// The same in a buffer that was kept, for those who give it back.
    pub(crate) fn hold(&mut self, values: &[Value]) -> Vec<Value> {
        self.retain_each(values);
        let mut held = self.spares.values(values.len());
        held.extend(values.iter().map(afresh));
        held
    }

    /// Counts one reference less; at none the object dies.
    #[inline(always)]
    pub(crate) fn release(&mut self, value: Value) {
        if let Value::Obj(object) = value {
            self.release_object(object);
        }
    }

    /// Releases each value.
    pub(crate) fn release_all(&mut self, values: Vec<Value>) {
        for value in &values {
            self.release(afresh(value));
        }
        self.spares.keep_values(values);
    }

    #[inline(never)]
    pub(crate) fn destroy(&mut self, object: Ref) {
        if !self.destroy_leaf(object) {
            self.destroy_with_children(object);
        }
    }

    /// Frees what holds nothing, which is most of what dies; whether it was such.
    #[inline(always)]
    pub(crate) fn destroy_leaf(&mut self, object: Ref) -> bool {
        let index = object.0 - self.frozen_len;
        let slot = &mut self.slots[index as usize];
        if slot.class.0 >= self.immortal {
            return false;
        }
        let size = match &mut slot.payload {
            Payload::Str(text) => {
                let size = text.size();
                if !text.ascii() && !self.marks.is_empty() {
                    self.marks.swap_remove(&object);
                }
                self.spares.keep_text(moved(std::mem::take(&mut text.text)));
                // The buffer was all that had to be dropped.
                std::mem::forget(std::mem::replace(&mut slot.payload, Payload::Free));
                size
            }
            Payload::Free | Payload::BigInt(_) | Payload::Bytes(_) | Payload::Range(_) => {
                let size = slot.payload.size();
                slot.payload = Payload::Free;
                size
            }
            Payload::Tuple(items) if !holds_objects(items) => {
                let size = 40 + 8 * items.len();
                self.spares.keep_tuple(moved(std::mem::take(items)));
                std::mem::forget(std::mem::replace(&mut slot.payload, Payload::Free));
                size
            }
            Payload::List(list) if !holds_objects(&list.items) => {
                let size = 56 + 8 * list.allocated;
                self.spares.keep_values(moved(std::mem::take(&mut list.items)));
                std::mem::forget(std::mem::replace(&mut slot.payload, Payload::Free));
                size
            }
            _ => return false,
        };
        self.free.push(index);
        self.free_memory(size);
        true
    }

    #[inline(never)]
    fn destroy_with_children(&mut self, object: Ref) {
        let mut dying = object;
        loop {
            let mut doomed = std::mem::take(&mut self.doomed);
            let index = dying.0 - self.frozen_len;
            let slot = &mut self.slots[index as usize];
            if matches!(&slot.payload, Payload::Generator(row) if row.guarded) {
                slot.count = 1;
                self.abandoned.push_back(dying);
            } else {
                let payload = std::mem::replace(&mut slot.payload, Payload::Free);
                let class = slot.class;
                self.free.push(index);
                self.free_memory(payload.size());
                self.forget_marks(dying);
                self.dismantle(payload, &mut doomed);
                // Heap classes are kept alive by their instances.
                if class.0 >= self.immortal {
                    doomed.push(Value::Obj(class));
                }
            }
            let mut next = None;
            while let Some(value) = doomed.pop() {
                if let Value::Obj(child) = value {
                    let position = self.position(child);
                    if let Some(slot) = self.slots.get_mut(position) {
                        slot.count -= 1;
                        if slot.count == 0 && !self.destroy_leaf(child) {
                            next = Some(child);
                            break;
                        }
                    }
                }
            }
            self.doomed = doomed;
            match next {
                Some(child) => dying = child,
                None => return,
            }
        }
    }

    /// Takes what dies apart: the objects that it held go to `doomed`, and its buffers are kept.
    #[inline(always)]
    fn dismantle(&mut self, payload: Payload, doomed: &mut Vec<Value>) {
        match payload {
            Payload::Tuple(items) => {
                objects(&items, doomed);
                self.spares.keep_tuple(items);
            }
            Payload::List(list) => {
                objects(&list.items, doomed);
                self.spares.keep_values(list.items);
            }
            Payload::Instance(attributes) if attributes.dict.is_none() => {
                objects(&attributes.values, doomed);
                self.spares.keep_values(attributes.values);
            }
            Payload::BoundMethod { function, receiver } => objects(&[function, receiver], doomed),
            Payload::MemoryView(view) => {
                self.count_view(view.object, false);
                objects(&[view.object], doomed);
            }
            Payload::Super { class, receiver, start } => objects(&[Value::Obj(class), receiver, Value::Obj(start)], doomed),
            Payload::Dict(table) | Payload::Set(table) => {
                for entry in &table.entries {
                    objects(&[entry.key, entry.value], doomed);
                }
                self.spares.keep_table(table);
            }
            Payload::Generator(row) => {
                for values in [&row.registers, &row.handled, &row.again[..], &[row.name, row.qualname]] {
                    objects(values, doomed);
                }
                self.spares.keep_generator(row);
            }
            Payload::Function(row) if row.attributes.dict.is_none() => {
                let own = [row.defaults, row.keyword_defaults, row.name, row.qualname, row.annotations];
                for values in [&row.closure[..], &row.attributes.values, &own] {
                    objects(values, doomed);
                }
                self.spares.keep_function(row);
            }
            payload => payload.take_apart(doomed),
        }
    }

    /// Counts a view that is made of a bytearray, or gone.
    pub(crate) fn count_view(&mut self, object: Value, is_made: bool) {
        let Value::Obj(object) = object else { return };
        if !matches!(self.payload(object).core(), Payload::ByteArray(..)) {
            return;
        }
        if let Payload::ByteArray(_, views) = self.payload_mut(object).core_mut() {
            *views = if is_made { views.saturating_add(1) } else { views.saturating_sub(1) };
        }
    }

    /// How often an object of this run is referred to; 0 for what is never counted.
    #[inline]
    pub(crate) fn references(&self, object: Ref) -> u32 {
        if object.0 >= self.immortal { self.slots[(object.0 - self.frozen_len) as usize].count } else { 0 }
    }
}
