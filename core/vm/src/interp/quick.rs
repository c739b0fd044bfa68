//! Quick forms: what inline caches and builtin containers answer at once, without running code or raising. `None` and `false` mean
//! that the general form has to see to it; nothing has changed then. A value stays where it is: see `window`.

use super::{Cache, CacheKind, NO_CACHE, Vm};
use crate::image::LinkedCode;
use crate::payload::{List, Payload};
use crate::types::{BUILTINS_DICT, EMPTY_TUPLE, FIXED_COUNT, latin1, ty};
use crate::value::{Ref, Value};
use crate::window::{afresh, moved};
use cowboy_compiler::opcode::Instruction;
use cowboy_num::sizes;

/// Texts of one character, by their code.
static CHARACTERS: [Value; 256] = {
    let mut characters = [Value::Undefined; 256];
    let mut byte = 0;
    while byte < 256 {
        characters[byte] = Value::Obj(latin1(byte as u8));
        byte += 1;
    }
    characters
};

/// How many replaced inline caches are kept: at the beginning, and in a run that replaces many. Powers of two.
const FIRST_REPLACED: usize = 16;
const REPLACED: usize = 512;

/// Where a replaced inline cache is kept, of so many.
#[inline]
fn replaced_position(site: u32, class: Ref, shape: u32, count: usize) -> usize {
    (site.wrapping_mul(31) ^ (class.0 as u32).wrapping_mul(17) ^ shape.wrapping_mul(7)) as usize & count.wrapping_sub(1)
}

/// The position that an index means.
#[inline(always)]
fn place(index: i64, length: usize) -> usize {
    // A negative index that is still negative here becomes larger than any length.
    let index = if index < 0 { index.wrapping_add(length as i64) } else { index };
    sizes::index(index).unwrap_or(usize::MAX)
}

impl Vm {
    /// Keeps what was found out in the inline cache of a site. What it knew before, about another class or shape, stays within reach.
    pub(super) fn remember(&mut self, site: usize, cache: Cache) {
        let before = self.caches[site];
        self.caches[site] = cache;
        let number = u32::try_from(site).unwrap_or(u32::MAX);
        if before.kind == CacheKind::Empty || before.epoch != cache.epoch {
            return;
        }
        self.replacements += 1;
        if self.replaced.is_empty() {
            self.replaced = vec![(u32::MAX, NO_CACHE); FIRST_REPLACED];
        } else if self.replacements > FIRST_REPLACED && self.replaced.len() < REPLACED {
            self.replaced = vec![(u32::MAX, NO_CACHE); REPLACED];
        }
        let count = self.replaced.len();
        for cache in [before, cache] {
            self.replaced[replaced_position(number, cache.class, cache.shape, count)] = (number, cache);
        }
    }

    /// Brings back what the site's inline cache once knew about objects like this one.
    #[inline(always)]
    fn recall(&mut self, object: Ref, site: u32) -> Option<Cache> {
        let slot = self.heap.slot(object);
        let shape = match &slot.payload {
            Payload::Instance(attributes) if attributes.dict.is_none() => attributes.shape,
            Payload::Instance(_) => return None,
            _ => 0,
        };
        let (number, cache) = self.replaced.get(replaced_position(site, slot.class, shape, self.replaced.len()))?;
        let fits = *number == site && cache.class == slot.class && cache.shape == shape && cache.epoch == self.heap.type_epoch;
        if !fits {
            return None;
        }
        let known = *cache;
        self.caches[site as usize] = known;
        Some(known)
    }

    /// The attribute that the inline cache once knew.
    #[inline(never)]
    pub(super) fn recalled_attribute(&mut self, object: &Value, site: u32) -> Option<&Value> {
        let Value::Obj(object) = *object else { return None };
        let cache = &self.caches[site as usize];
        let holds = match cache.kind {
            CacheKind::Constant => self.is_constant_of(cache, object),
            CacheKind::ModuleAttribute => {
                cache.class == object && (cache.epoch == self.heap.globals_epoch || self.relocate_in_module(object, site))
            }
            _ => false,
        };
        if !holds && self.recall(object, site)?.kind != CacheKind::Constant {
            return self.attribute_of(&self.caches[site as usize], object);
        }
        Some(&self.caches[site as usize].value)
    }

    /// Whether the class attribute that an inline cache knows is what this instance has under its name.
    fn is_constant_of(&self, cache: &Cache, object: Ref) -> bool {
        let slot = self.heap.slot(object);
        match &slot.payload {
            Payload::Instance(attributes) => {
                cache.epoch == self.heap.type_epoch && slot.class == cache.class && attributes.shape == cache.shape
            }
            _ => false,
        }
    }

    /// The function that the inline cache once knew for a method call.
    #[inline(never)]
    pub(super) fn recalled_method(&mut self, object: &Value, site: u32) -> Option<Ref> {
        let Value::Obj(object) = *object else { return None };
        self.recall(object, site)?;
        self.method_of(&self.caches[site as usize], object)
    }

    /// Stores where the inline cache once said; see [`Vm::store_cached_attribute`].
    #[inline(never)]
    pub(super) fn store_recalled_attribute(&mut self, object: &Value, value: &Value, site: u32) -> bool {
        let Value::Obj(object) = *object else { return false };
        match self.recall(object, site) {
            Some(Cache { kind, class, shape, index, .. }) => self.store_field(kind, class, shape, index, object, value),
            None => false,
        }
    }

    /// Whether the inline cache of a `LoadGlobal` has the value that the dicts have.
    pub(super) fn knows_global(&self, code: &LinkedCode, ins: Instruction) -> bool {
        let name = code.names[usize::from(code.code.sites[ins.wide() as usize])];
        let globals = self.frames.last().map_or(BUILTINS_DICT, |frame| frame.globals);
        let found = self.heap.dict_get_name(globals, name).or_else(|| self.heap.dict_get_name(BUILTINS_DICT, name));
        found.is_some_and(|found| found.is(self.caches[(self.sites() + ins.wide()) as usize].value))
    }

    /// Finds a global where it was, after the dict of some module has changed. Whether the inline cache of the site is right again.
    #[inline(never)]
    pub(super) fn relocate(&mut self, globals: Ref, site: u32) -> bool {
        let cache = &mut self.caches[site as usize];
        let Payload::Dict(dict) = self.heap.payload(globals) else { return false };
        match dict.entries.get(cache.index as usize) {
            Some(entry) if cache.kind == CacheKind::Global && matches!(entry.key, Value::Obj(key) if key.0 == u64::from(cache.shape)) => {
                cache.value = entry.value;
                cache.epoch = self.heap.globals_epoch;
                true
            }
            _ => false,
        }
    }

    /// How a loop over a range, list or tuple begins: step, next and count of a range; `None` and 0 for the others.
    #[inline(always)]
    pub(super) fn quick_iteration(&self, iterable: &Value) -> Option<(Option<(i64, i64)>, i64)> {
        let Value::Obj(object) = *iterable else { return None };
        let slot = self.heap.slot(object);
        match &slot.payload {
            Payload::Range(range) => i64::try_from(range.len()).ok().map(|left| (Some((range.step, range.start)), left)),
            Payload::List(_) | Payload::Tuple(_) if slot.class.0 < FIXED_COUNT => Some((None, 0)),
            _ => None,
        }
    }

    /// The attribute that the inline cache knows.
    #[inline(always)]
    pub(super) fn cached_attribute(&self, object: &Value, site: u32) -> Option<&Value> {
        let Value::Obj(object) = *object else { return None };
        self.attribute_of(&self.caches[site as usize], object)
    }

    #[inline(always)]
    fn attribute_of<'vm>(&'vm self, cache: &'vm Cache, object: Ref) -> Option<&'vm Value> {
        if cache.epoch != self.heap.type_epoch {
            return None;
        }
        match cache.kind {
            CacheKind::Field => {
                let slot = self.heap.slot(object);
                match &slot.payload {
                    Payload::Instance(attributes) if slot.class == cache.class && attributes.shape == cache.shape => {
                        attributes.values.get(cache.index as usize).filter(|value| !value.is_undefined())
                    }
                    _ => None,
                }
            }
            CacheKind::ClassAttribute if cache.class == object => Some(&cache.value),
            _ => None,
        }
    }

    /// Stores where the inline cache says; the caller hands over or makes the reference to `value`.
    #[inline(always)]
    pub(super) fn store_cached_attribute(&mut self, object: &Value, value: &Value, site: u32) -> bool {
        let Value::Obj(object) = *object else { return false };
        let &Cache { kind, class, epoch, shape, index, .. } = &self.caches[site as usize];
        epoch == self.heap.type_epoch && self.store_field(kind, class, shape, index, object, value)
    }

    #[inline(always)]
    fn store_field(&mut self, kind: CacheKind, class: Ref, shape: u32, index: u32, object: Ref, value: &Value) -> bool {
        if self.heap.is_frozen(object) || !self.heap.holds_at_once(object, value) {
            return false;
        }
        let slot = self.heap.slot_mut(object);
        let Payload::Instance(attributes) = &mut slot.payload else { return false };
        if slot.class != class || attributes.shape != shape {
            return false;
        }
        match kind {
            CacheKind::Field => {
                let place = &mut attributes.values[index as usize];
                let old = place.object();
                *place = afresh(value);
                if let Some(old) = old {
                    self.heap.release_object(old);
                }
                true
            }
            CacheKind::Transition => {
                attributes.shape = index;
                attributes.values.push(afresh(value));
                self.heap.use_memory(8);
                true
            }
            _ => false,
        }
    }

    /// The function that the inline cache knows for a method call.
    #[inline(always)]
    pub(super) fn cached_method(&self, object: &Value, site: u32) -> Option<Ref> {
        let Value::Obj(object) = *object else { return None };
        self.method_of(&self.caches[site as usize], object)
    }

    #[inline(always)]
    fn method_of(&self, cache: &Cache, object: Ref) -> Option<Ref> {
        let slot = self.heap.slot(object);
        if cache.kind != CacheKind::Method || cache.epoch != self.heap.type_epoch || cache.class != slot.class {
            return None;
        }
        match &slot.payload {
            Payload::Instance(attributes) if attributes.shape != cache.shape => None,
            _ => cache.value.object(),
        }
    }

    /// `object[key]` of a list, tuple, dict or ASCII text.
    #[inline(always)]
    pub(super) fn quick_item(&self, object: &Value, key: &Value) -> Option<&Value> {
        let Value::Obj(object) = *object else { return None };
        match (self.heap.payload(object), key) {
            (Payload::List(list), &Value::Int(index)) => list.items.get(place(index, list.items.len())),
            (Payload::Tuple(items), &Value::Int(index)) => items.get(place(index, items.len())),
            (Payload::Dict(dict), key) => self.heap.find_known(dict, key).flatten().map(|position| &dict.entries[position].value),
            (Payload::Str(text), &Value::Int(index)) if text.ascii() => {
                text.text.as_bytes().get(place(index, text.text.len())).map(|&byte| &CHARACTERS[usize::from(byte)])
            }
            _ => None,
        }
    }

    /// `object[key] = value` where a list has the index or a dict the key; the caller hands over or makes the reference to `value`.
    #[inline(always)]
    pub(super) fn store_quick_item(&mut self, object: &Value, key: &Value, value: &Value) -> bool {
        let Value::Obj(object) = *object else { return false };
        if self.heap.is_frozen(object) || !self.heap.holds_at_once(object, value) {
            return false;
        }
        let position = match (self.heap.payload(object), key) {
            (Payload::List(list), &Value::Int(index)) => place(index, list.items.len()),
            (Payload::Dict(dict), key) if !dict.module => self.heap.find_known(dict, key).flatten().unwrap_or(usize::MAX),
            _ => return false,
        };
        let target = match self.heap.payload_mut(object) {
            Payload::List(list) => list.items.get_mut(position),
            Payload::Dict(dict) => dict.entries.get_mut(position).map(|entry| &mut entry.value),
            _ => None,
        };
        let Some(target) = target else { return false };
        let old = target.object();
        *target = afresh(value);
        if let Some(old) = old {
            self.heap.release_object(old);
        }
        true
    }

    /// Appends to the list of a comprehension; the caller hands over or makes the reference to `value`.
    #[inline(always)]
    pub(super) fn append_quickly(&mut self, list: &Value, value: &Value) -> bool {
        let Value::Obj(object) = *list else { return false };
        if !self.heap.holds_at_once(object, value) {
            return false;
        }
        let Payload::List(list) = self.heap.payload_mut(object) else { return false };
        list.items.push(afresh(value));
        let (before, after) = list.resized();
        if before != after {
            self.heap.resize_memory(before, after);
        }
        true
    }

    /// A list or tuple of what `count` registers from `first` on hold, which it takes over.
    pub(super) fn build_sequence(&mut self, first: usize, count: usize, list: bool) -> Value {
        let registers = &mut self.registers[first..first + count];
        let value = if list {
            let mut items = self.heap.spares.values(count);
            items.extend(registers.iter_mut().map(|place| {
                let item = afresh(place);
                *place = Value::Undefined;
                item
            }));
            Value::Obj(self.heap.alloc_sized(ty::LIST, Payload::List(List::new(moved(items))), 56 + 8 * count))
        } else {
            if count == 0 {
                return Value::Obj(EMPTY_TUPLE);
            }
            let items = self.heap.spares.tuple(registers);
            Value::Obj(self.heap.alloc_sized(ty::TUPLE, Payload::Tuple(moved(items)), 40 + 8 * count))
        };
        self.heap.label_children(value);
        value
    }
}
