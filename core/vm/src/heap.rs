//! The heap: an arena of slots with reference counts, above a frozen image that is copied on write.
//!
//! A handle below `frozen_len` names an object of the image: immortal, never counted, shared between invocations. Writing to
//! one copies it into this invocation's slots first. All other objects count their references; at zero they are taken
//! apart by a worklist, so deep structures need no native stack. Counting is explicit: copying a [`Value`] does not count.
//!
//! Memory is modelled: an object has the size that CPython's has (see [`Payload::size`]), charged when it is made or grows and
//! returned when it dies. Exceeding the limit is noticed at the next safe point and ends the run with a trap.

use crate::caches::FIRST_EPOCH;
use crate::image::{HeapParts, Image};
use crate::overlay::{ALTERED, Overlay};
use crate::payload::{Attributes, Map, Payload, Shape, Slot, Str};
use crate::spares::Spares;
use crate::types::{latin1, nm, ty};
use crate::value::{Link, Ref, Value};
use crate::window::moved;
use cowboy_num::int::push_decimal;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The count of what lives as long as the run: no run can count it down to nothing.
const ETERNAL: u32 = 1 << 30;
/// Objects that a run has room for at once.
const FIRST_SLOTS: usize = 64;
/// Instances with more attributes than this keep them in a dict.
const SHAPE_WIDTH: usize = 64;
/// Most shapes of one run; further ones fall back to dicts.
const SHAPE_LIMIT: usize = 4_096;

/// Whether one of the values is an object.
#[inline(always)]
pub(crate) fn holds_objects(items: &[Value]) -> bool {
    items.iter().any(|item| matches!(item, Value::Obj(_)))
}

/// All objects of one run.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) image: Arc<Image>,
    /// The first of the image's objects: those that the images above the bottom one have left as they were.
    base: Arc<[Slot]>,
    frozen_len: u64,
    /// Bytes of the image's objects that were copied to be changed.
    pub(crate) thawed: usize,
    /// Objects below are never counted: the image's, and those whose handles are constants.
    immortal: u64,
    /// For each handle of the image: 0, one more than the index in `slots` of its private copy, or [`ALTERED`].
    overlay: Overlay,
    pub(crate) slots: Vec<Slot>,
    free: Vec<u64>,
    doomed: Vec<Value>,
    /// Buffers of what died.
    pub(crate) spares: Spares,
    /// Where characters of texts beyond ASCII begin that were looked at in their middle; see `interp::characters`.
    pub(crate) marks: Map<Ref, Box<[u32]>>,
    /// Generators whose last reference is gone and that have to be closed before they die. The list holds one reference to each.
    pub(crate) abandoned: VecDeque<Ref>,
    /// Modelled bytes in use.
    pub memory: usize,
    /// Most modelled bytes in use so far.
    pub peak: usize,
    /// Modelled bytes allowed.
    pub limit: usize,
    interned: BTreeMap<Box<str>, Ref>,
    shapes: Vec<Shape>,
    transitions: BTreeMap<(u32, Ref), u32>,
    /// Grows whenever a class changes, so that caches know.
    pub type_epoch: u32,
    /// Grows whenever the dict of a module changes.
    pub globals_epoch: u32,
}

impl Heap {
    /// A fresh view of an image.
    pub(crate) fn new(image: Arc<Image>, limit: usize) -> Self {
        let frozen_len = u64::from(image.len());
        let mut overlay = Overlay::over(usize::try_from(frozen_len).expect("a handle fits a word"));
        let base = image.bottom(&mut |handle| overlay.set(handle as usize, ALTERED));
        Self {
            overlay,
            frozen_len,
            thawed: 0,
            base,
            immortal: frozen_len.max(crate::types::FIXED_COUNT),
            slots: Vec::with_capacity(FIRST_SLOTS),
            free: Vec::with_capacity(FIRST_SLOTS / 4),
            doomed: Vec::with_capacity(FIRST_SLOTS / 4),
            spares: Spares::default(),
            marks: Map::default(),
            abandoned: VecDeque::new(),
            memory: 0,
            peak: 0,
            limit,
            interned: BTreeMap::new(),
            shapes: Vec::new(),
            transitions: BTreeMap::new(),
            type_epoch: FIRST_EPOCH,
            globals_epoch: FIRST_EPOCH,
            image,
        }
    }

    /// The object behind a handle.
    #[inline(always)]
    pub(crate) fn slot(&self, object: Ref) -> &Slot {
        match self.slots.get(self.position(object)) {
            Some(slot) => slot,
            None => self.frozen(object),
        }
    }

    /// Where the slot of an object of this run is; past all of them for one of the image. What is found there needs no other check.
    #[inline(always)]
    fn position(&self, object: Ref) -> usize {
        object.0.wrapping_sub(self.frozen_len) as usize
    }

    #[cold]
    #[inline(never)]
    fn frozen(&self, object: Ref) -> &Slot {
        let index = object.0 as usize;
        match self.overlay.get(index) {
            0 => match self.base.get(index) {
                Some(slot) => slot,
                None => self.image.slot(object),
            },
            ALTERED => self.image.slot(object),
            copy => &self.slots[(copy - 1) as usize],
        }
    }

    /// The object behind a handle, to be changed: a private copy when it belongs to the image.
    #[inline(always)]
    pub(crate) fn slot_mut(&mut self, object: Ref) -> &mut Slot {
        if self.position(object) < self.slots.len() { &mut self.slots[(object.0 - self.frozen_len) as usize] } else { self.thaw(object) }
    }

    #[cold]
    #[inline(never)]
    fn thaw(&mut self, object: Ref) -> &mut Slot {
        let copy = self.overlay.get(object.0 as usize);
        let index = if copy == 0 || copy == ALTERED {
            let slot = self.image.slot(object).clone();
            let size = slot.payload.size();
            self.use_memory(size);
            self.thawed = self.thawed.saturating_add(size);
            self.slots.push(slot);
            let index = u32::try_from(self.slots.len()).expect("the memory limit keeps objects below 2^32");
            self.overlay.set(object.0 as usize, index);
            index - 1
        } else {
            copy - 1
        };
        &mut self.slots[index as usize]
    }

    /// The payload behind a handle.
    #[inline(always)]
    pub(crate) fn payload(&self, object: Ref) -> &Payload {
        &self.slot(object).payload
    }

    /// The payload behind a handle, to be changed.
    #[inline(always)]
    pub(crate) fn payload_mut(&mut self, object: Ref) -> &mut Payload {
        &mut self.slot_mut(object).payload
    }

    /// The class of a value.
    #[inline]
    pub(crate) fn class_of(&self, value: Value) -> Ref {
        match value {
            Value::Obj(object) => self.slot(object).class,
            Value::Int(_) => ty::INT,
            Value::Bool(_) => ty::BOOL,
            Value::Float(_) => ty::FLOAT,
            Value::None | Value::Undefined => ty::NONE,
            Value::NotImplemented => ty::NOT_IMPLEMENTED,
            Value::Ellipsis => ty::ELLIPSIS,
        }
    }

    /// Makes an object. The caller owns the one reference.
    pub(crate) fn alloc(&mut self, class: Ref, payload: Payload) -> Ref {
        let size = payload.size();
        self.alloc_sized(class, payload, size)
    }

    /// The same for an object whose modelled size is known. In line, so that what is made is made in its place.
    #[inline(always)]
    pub(crate) fn alloc_sized(&mut self, class: Ref, payload: Payload, size: usize) -> Ref {
        // Nothing that has to be dropped waits while the slot is found: it could not be made in its place then.
        let payload = std::mem::ManuallyDrop::new(payload);
        self.use_memory(size);
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.another_slot(),
        };
        let slot = &mut self.slots[index as usize];
        slot.count = 1;
        slot.class = class;
        slot.depth = i32::MAX;
        // What was there is `Free`, so nothing has to be dropped.
        std::mem::forget(std::mem::replace(&mut slot.payload, std::mem::ManuallyDrop::into_inner(payload)));
        Ref(self.frozen_len + index)
    }

    /// Makes an instance without attributes yet, which takes the reference to its class over.
    #[inline]
    pub(crate) fn instance(&mut self, class: Ref) -> Value {
        let attributes = Attributes { shape: 0, dict: Link::NONE, values: moved(self.spares.values(2)) };
        Value::Obj(self.alloc_sized(class, Payload::Instance(attributes), 56))
    }

    #[inline(never)]
    fn another_slot(&mut self) -> u64 {
        self.slots.push(Slot { count: 0, class: ty::OBJECT, depth: i32::MAX, payload: Payload::Free });
        u64::try_from(self.slots.len() - 1).expect("a position fits a word")
    }

    /// Makes all objects live as long as the run.
    pub(crate) fn make_eternal(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.count = ETERNAL);
    }

    /// Makes an object and its value.
    #[inline]
    pub(crate) fn make(&mut self, class: Ref, payload: Payload) -> Value {
        Value::Obj(self.alloc(class, payload))
    }

    /// Charges modelled memory.
    #[inline]
    pub(crate) fn use_memory(&mut self, bytes: usize) {
        self.memory = self.memory.saturating_add(bytes);
        if self.memory > self.peak {
            self.peak = self.memory;
        }
    }

    /// Returns modelled memory.
    #[inline]
    pub(crate) fn free_memory(&mut self, bytes: usize) {
        self.memory = self.memory.saturating_sub(bytes);
    }

    /// Adjusts modelled memory after an object changed its size.
    #[inline]
    pub(crate) fn resize_memory(&mut self, before: usize, after: usize) {
        if after >= before {
            self.use_memory(after - before);
        } else {
            self.free_memory(before - after);
        }
    }

    /// Whether the run has exceeded its memory.
    #[inline(always)]
    pub(crate) fn exhausted(&self) -> bool {
        self.peak > self.limit
    }

    /// Number of objects in use, the image's aside.
    pub(crate) fn alive(&self) -> usize {
        self.slots.len() - self.free.len()
    }

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

    /// Counts one reference less; at none the object dies.
    #[inline(always)]
    pub(crate) fn release(&mut self, value: Value) {
        if let Value::Obj(object) = value {
            self.release_object(object);
        }
    }

    /// Releases each value.
    pub(crate) fn release_all(&mut self, values: Vec<Value>) {
        for value in values {
            self.release(value);
        }
    }

    #[inline(never)]
    fn destroy(&mut self, object: Ref) {
        if !self.destroy_leaf(object) {
            self.destroy_with_children(object);
        }
    }

    /// Frees what holds nothing, which is most of what dies; whether it was such.
    #[inline(always)]
    fn destroy_leaf(&mut self, object: Ref) -> bool {
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
                let objects = |values: &[Value], doomed: &mut Vec<Value>| {
                    for value in values {
                        if let Value::Obj(object) = *value {
                            doomed.push(Value::Obj(object));
                        }
                    }
                };
                match payload {
                    Payload::Tuple(items) => {
                        objects(&items, &mut doomed);
                        self.spares.keep_tuple(items);
                    }
                    Payload::List(list) => {
                        objects(&list.items, &mut doomed);
                        self.spares.keep_values(list.items);
                    }
                    Payload::Instance(attributes) if attributes.dict.is_none() => {
                        objects(&attributes.values, &mut doomed);
                        self.spares.keep_values(attributes.values);
                    }
                    Payload::BoundMethod { function, receiver } => objects(&[function, receiver], &mut doomed),
                    Payload::MemoryView(view) => {
                        self.count_view(view.object, false);
                        objects(&[view.object], &mut doomed);
                    }
                    Payload::Super { class, receiver, start } => objects(&[Value::Obj(class), receiver, Value::Obj(start)], &mut doomed),
                    Payload::Dict(table) | Payload::Set(table) => {
                        for entry in &table.entries {
                            objects(&[entry.key, entry.value], &mut doomed);
                        }
                        self.spares.keep_table(table);
                    }
                    Payload::Generator(row) => {
                        for values in [&row.registers, &row.handled, &row.again[..], &[row.name, row.qualname]] {
                            objects(values, &mut doomed);
                        }
                        self.spares.keep_generator(row);
                    }
                    payload => payload.take_apart(&mut doomed),
                }
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

    /// Whether the object belongs to the image and was not copied.
    pub(crate) fn is_frozen(&self, object: Ref) -> bool {
        object.0 < self.frozen_len
    }

    /// Whether the value is a class made by a program's metaclass.
    pub(crate) fn slot_class_is_type(&self, value: Value) -> bool {
        match value {
            Value::Obj(object) => matches!(self.payload(object), Payload::Class(_)),
            _ => false,
        }
    }

    // ---- text ----

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

    // ---- shapes ----

    /// A shape by number.
    #[inline]
    pub(crate) fn shape(&self, shape: u32) -> &Shape {
        let image = self.image.shapes();
        match image.get(shape as usize) {
            Some(shape) => shape,
            None => &self.shapes[shape as usize - image.len()],
        }
    }

    /// The position of an attribute in a shape.
    #[inline]
    pub(crate) fn shape_position(&self, shape: u32, name: Ref) -> Option<usize> {
        self.shape(shape).names.iter().position(|&known| known == name)
    }

    /// The shape that adds an attribute, unless it would be too large.
    pub(crate) fn shape_with(&mut self, shape: u32, name: Ref) -> Option<u32> {
        if let Some(next) = self.image.transition(shape, name).or_else(|| self.transitions.get(&(shape, name)).copied()) {
            return Some(next);
        }
        let mut names = self.shape(shape).names.clone();
        if names.len() >= SHAPE_WIDTH || self.shapes.len() >= SHAPE_LIMIT {
            return None;
        }
        names.push(name);
        let number = self.image.shapes().len() + self.shapes.len();
        let number = u32::try_from(number).expect("bounded by SHAPE_LIMIT per layer");
        self.shapes.push(Shape { names });
        self.transitions.insert((shape, name), number);
        Some(number)
    }

    /// Hands everything over that an image keeps.
    pub(crate) fn into_parts(self) -> HeapParts {
        HeapParts {
            image: self.image,
            overlay: self.overlay,
            slots: self.slots,
            interned: self.interned,
            shapes: self.shapes,
            transitions: self.transitions,
        }
    }

    /// Attributes of an object that has some.
    pub(crate) fn attributes(&self, object: Ref) -> Option<&Attributes> {
        self.payload(object).attributes()
    }
}

impl Heap {
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
}

impl Heap {
    /// Forgets where the characters of a text are that dies or changes.
    #[inline(always)]
    pub(crate) fn forget_marks(&mut self, object: Ref) {
        if !self.marks.is_empty() {
            self.marks.swap_remove(&object);
        }
    }
}
