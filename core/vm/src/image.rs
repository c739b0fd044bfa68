//! Frozen heaps: what a module body left behind, shared by every run that starts from it.
//!
//! An image is immutable and `Sync`. A handle means the same object in an image and in every run above it. An actor's image stands on the
//! base image (builtins and the modules that come with the VM); where the actor's module body changed an object of the base,
//! the image has its own patched copy.

use crate::caches::Known;
use crate::overlay::{ALTERED, Overlay};
use crate::payload::{Payload, Shape, Slot};
use crate::types::ty;
use crate::value::{Ref, Value};
use cowboy_compiler::code::Code;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A code body with its names and constants as objects of an image.
#[derive(Clone, Debug)]
pub(crate) struct LinkedCode {
    /// The code.
    pub code: Code,
    /// Constants, by index.
    pub consts: Vec<Value>,
    /// Identifiers, by index.
    pub names: Vec<Ref>,
    /// Names of keyword-only and positional parameters, in register order.
    pub parameters: Vec<Ref>,
    /// Number of the unit's code 0.
    pub first: u32,
    /// The unit, by index.
    pub unit: u32,
    /// How many positional arguments a plain call gives, when those are all its parameters and it runs to its return.
    pub plain: Option<u16>,
    /// The same where the call makes a generator or coroutine.
    pub lazy: Option<u16>,
}

/// A source with its name, for tracebacks.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// What a traceback calls it.
    pub file: String,
    /// Its text.
    pub source: String,
}

/// Everything that can run above an image.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// Code bodies by number.
    pub codes: Vec<Arc<LinkedCode>>,
    /// Sources by unit.
    pub files: Vec<Arc<SourceFile>>,
}

/// A frozen heap with its program.
#[derive(Debug, Default)]
pub struct Image {
    base: Option<Arc<Image>>,
    base_len: u32,
    /// Handles of the base's objects that the module body changed, ascending.
    altered: Vec<u32>,
    /// Those objects as they are now.
    patched: Vec<Slot>,
    slots: Arc<[Slot]>,
    interned: BTreeMap<Box<str>, Ref>,
    shapes: Vec<Shape>,
    transitions: BTreeMap<(u32, Ref), u32>,
    /// The program.
    pub(crate) program: Arc<Program>,
    /// The dict of the module that an entry looks its handlers up in.
    pub(crate) main: Option<Ref>,
    /// The module body's code, when it has not run yet.
    pub(crate) body: Option<u32>,
    /// Helper functions by native row, for what natives leave to Python.
    pub(crate) helpers: Arc<Vec<Value>>,
    /// What the first handler found out about the image.
    pub(crate) known: OnceLock<Known>,
}

impl Image {
    /// Number of handles.
    pub(crate) fn len(&self) -> u32 {
        self.base_len + u32::try_from(self.slots.len()).expect("the memory limit keeps objects below 2^32")
    }

    /// The object behind a handle.
    #[inline]
    pub(crate) fn slot(&self, object: Ref) -> &Slot {
        if object.0 >= u64::from(self.base_len) {
            return &self.slots[(object.0 - u64::from(self.base_len)) as usize];
        }
        match self.altered.binary_search_by_key(&object.0, |&handle| u64::from(handle)) {
            Ok(index) => &self.patched[index],
            Err(_) => self.base.as_ref().expect("handles below the base length need a base").slot(object),
        }
    }

    /// The objects that the handles from 0 on mean, but for those that an image above the bottom has changed; `alter` is given these.
    pub(crate) fn bottom(&self, alter: &mut impl FnMut(u32)) -> Arc<[Slot]> {
        self.altered.iter().for_each(|&handle| alter(handle));
        match &self.base {
            None => Arc::clone(&self.slots),
            Some(base) => base.bottom(alter),
        }
    }

    /// The handle of an identifier.
    pub(crate) fn interned(&self, text: &str) -> Option<Ref> {
        self.interned.get(text).copied().or_else(|| self.base.as_ref().and_then(|base| base.interned(text)))
    }

    /// Shapes of instances, those of the base first. Shape 0 has no attributes.
    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The shape that adds an attribute to another one.
    pub(crate) fn transition(&self, shape: u32, name: Ref) -> Option<u32> {
        self.transitions.get(&(shape, name)).copied().or_else(|| self.base.as_ref().and_then(|base| base.transition(shape, name)))
    }

    /// The image before everything: no objects, the empty shape.
    pub(crate) fn nothing() -> Self {
        Self { shapes: vec![Shape::default()], ..Self::default() }
    }

    /// Bytes that the image itself takes, roughly, for a bounded cache.
    pub fn footprint(&self) -> usize {
        let slots = (self.slots.len() + self.patched.len()) * size_of::<Slot>();
        let payloads: usize = self.slots.iter().chain(&self.patched).map(|slot| slot.payload.size()).sum();
        let base_codes = self.base.as_ref().map_or(0, |base| base.program.codes.len());
        let codes: usize = self.program.codes[base_codes.min(self.program.codes.len())..]
            .iter()
            .map(|code| 12 * code.code.instructions.len() + 64 * code.consts.len() + 512)
            .sum();
        slots + payloads + codes + 4 * self.altered.len()
    }

    /// Freezes what is left of a heap.
    pub(crate) fn freeze(parts: HeapParts, program: Arc<Program>, main: Option<Ref>, helpers: Arc<Vec<Value>>) -> Self {
        let HeapParts { image, overlay, mut slots, interned, shapes, transitions } = parts;
        for slot in &mut slots {
            if let Payload::Str(string) = slot.payload.core_mut() {
                string.hash();
            }
            slot.count = 1;
        }
        let base_len = image.len();
        let mut patched = Vec::new();
        let mut altered = Vec::new();
        for (handle, copy) in overlay.said() {
            if copy != ALTERED {
                let index = usize::try_from(copy - 1).expect("a handle fits a word");
                let free = Slot { count: 1, class: ty::OBJECT, depth: 0, payload: Payload::Free };
                patched.push(std::mem::replace(&mut slots[index], free));
                altered.push(handle);
            }
        }
        let mut all_shapes = image.shapes().to_vec();
        all_shapes.extend(shapes);
        // An image that stands on nothing is its own base.
        let base = if base_len == 0 { None } else { Some(image) };
        let slots = slots.into();
        let known = OnceLock::new();
        Self {
            base,
            base_len,
            altered,
            patched,
            slots,
            interned,
            shapes: all_shapes,
            transitions,
            program,
            main,
            body: None,
            helpers,
            known,
        }
    }
}

/// What is left of a heap when its run is over and it becomes an image.
pub(crate) struct HeapParts {
    pub image: Arc<Image>,
    pub overlay: Overlay,
    pub slots: Vec<Slot>,
    pub interned: BTreeMap<Box<str>, Ref>,
    pub shapes: Vec<Shape>,
    pub transitions: BTreeMap<(u32, Ref), u32>,
}
