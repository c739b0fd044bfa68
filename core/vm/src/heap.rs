//! The heap: an arena of slots with reference counts, above a frozen image that is copied on write.
//!
//! A handle below `frozen_len` names an object of the image: immortal, never counted, shared between invocations. Writing to
//! one copies it into this invocation's slots first. All other objects count their references; at zero they are taken
//! apart by a worklist, so deep structures need no native stack. Counting is explicit: copying a [`Value`] does not count.
//!
//! Memory is modelled: an object has the size that CPython's has (see [`Payload::size`]), charged when it is made or grows and
//! returned when it dies. Exceeding the limit is noticed at the next safe point and ends the run with a trap.

pub(crate) mod builtin;
pub(crate) mod classes;
mod counts;
pub(crate) mod exceptions;
pub(crate) mod generators;
pub(crate) mod keys;
pub(crate) mod labels;
pub(crate) mod numbers;
pub(crate) mod order;
pub(crate) mod sequences;
mod shapes;
mod strings;
pub(crate) mod tables;

use crate::caches::FIRST_EPOCH;
use crate::image::{HeapParts, Image};
use crate::overlay::{ALTERED, Overlay};
use crate::payload::{Attributes, Map, Payload, Shape, Slot};
use crate::spares::Spares;
use crate::types::ty;
use crate::value::{Link, Ref, Value};
use crate::window::moved;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The count of what lives as long as the run: no run can count it down to nothing.
const ETERNAL: u32 = 1 << 30;
/// Objects that a run has room for at once.
const FIRST_SLOTS: usize = 64;

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
    /// Where characters of texts beyond ASCII begin that were looked at in their middle; see `runtime::characters`.
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

    // ---- shapes ----

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
