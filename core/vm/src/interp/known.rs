//! What one handler has found out about an image and the next one need not find out again: its inline caches and methods.
//!
//! Only what is true of the image itself is handed on: entries of the first epochs, from before anything of a class or module changed,
//! that name nothing but objects and shapes of the image. Like every cache, they change neither cycles nor memory nor the order of
//! anything: whether a handler is the first one cannot be seen in what it does.

use super::{EntryKind, Vm};
use crate::caches::{CONSTRUCTOR, Cache, CacheKind, FIRST_EPOCH, FIRST_METHODS, Known, MethodEntry, NO_CACHE, NO_METHOD};
use crate::value::Value;

/// Most inline caches that are handed on, so that many images in a code cache stay small.
const SITES: usize = 512;

impl Vm {
    /// Begins with what an earlier handler of the image knew.
    pub(crate) fn recall_image(&mut self) {
        let Some(known) = self.heap.image.known.get() else { return };
        for &(code, first) in &known.codes {
            self.first_sites[code as usize] = first;
        }
        self.caches.clone_from(&known.caches);
        self.methods.clone_from(&known.methods);
    }

    /// Leaves to later handlers of the image what this one knows about it, if it is the first to end well.
    pub(crate) fn leave_knowledge(&self) {
        if self.entry == EntryKind::Handler && self.tracer.is_none() {
            self.heap.image.known.get_or_init(|| self.knowledge());
        }
    }

    #[inline(never)]
    fn knowledge(&self) -> Known {
        let mut known = Known { codes: Vec::new(), caches: vec![NO_CACHE], methods: Vec::new() };
        for (code, &first) in (0..).zip(&self.first_sites) {
            let count = self.program.codes[code as usize].code.sites.len();
            if first == 0 || known.caches.len() + count > SITES {
                continue;
            }
            known.codes.push((code, u32::try_from(known.caches.len()).expect("bounded by SITES")));
            let caches = &self.caches[first as usize..first as usize + count];
            known.caches.extend(caches.iter().map(|cache| if self.outlives(cache) { *cache } else { NO_CACHE }));
        }
        if self.methods.len() == FIRST_METHODS {
            let lasting = |entry: &MethodEntry| {
                let frozen = self.heap.is_frozen(entry.class) && self.is_of_image(entry.value);
                let name = entry.name == CONSTRUCTOR || self.heap.is_frozen(entry.name);
                entry.epoch == FIRST_EPOCH && frozen && name
            };
            known.methods = self.methods.iter().map(|entry| if lasting(entry) { *entry } else { NO_METHOD }).collect();
        }
        known
    }

    /// Whether an inline cache is true of the image, not only of this run.
    fn outlives(&self, cache: &Cache) -> bool {
        let shapes = self.heap.image.shapes().len();
        let shape = |number: u32| (number as usize) < shapes;
        let places = match cache.kind {
            CacheKind::Empty => false,
            CacheKind::Field | CacheKind::Method | CacheKind::Constant => shape(cache.shape),
            CacheKind::Transition => shape(cache.shape) && shape(cache.index),
            CacheKind::Global | CacheKind::ModuleAttribute => self.heap.is_frozen(crate::value::Ref(u64::from(cache.shape))),
            CacheKind::ClassAttribute | CacheKind::Builtin => true,
        };
        places && cache.epoch == FIRST_EPOCH && self.heap.is_frozen(cache.class) && self.is_of_image(cache.value)
    }

    fn is_of_image(&self, value: Value) -> bool {
        value.object().is_none_or(|object| self.heap.is_frozen(object))
    }
}
