//! Keeps compiled actors between blocks.

use cowboy_chain::{Image, engine::Images};
use cowboy_types::Hash;
use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

/// Bytes of images that are kept; those that were not used for longest go first.
const KEPT_BYTES: usize = 512 << 20;

/// The images used lately. It never changes a result, only how soon it is there.
pub struct ImageCache(Mutex<Kept>);

impl Default for ImageCache {
    fn default() -> Self {
        Self(Mutex::new(Kept { most: KEPT_BYTES, ..Kept::default() }))
    }
}

#[derive(Default)]
struct Kept {
    images: HashMap<Hash, One>,
    /// Hashes by when their image was used last.
    by_use: BTreeMap<u64, Hash>,
    clock: u64,
    bytes: usize,
    most: usize,
}

struct One {
    image: Image,
    bytes: usize,
    used: u64,
}

impl Kept {
    fn use_of(&mut self, code_hash: &Hash) -> Option<Image> {
        let one = self.images.get_mut(code_hash)?;
        self.clock += 1;
        self.by_use.remove(&one.used);
        self.by_use.insert(self.clock, *code_hash);
        one.used = self.clock;
        Some(one.image.clone())
    }

    fn forget(&mut self, code_hash: &Hash) {
        if let Some(one) = self.images.remove(code_hash) {
            self.by_use.remove(&one.used);
            self.bytes -= one.bytes;
        }
    }

    fn keep(&mut self, code_hash: Hash, image: Image) {
        self.forget(&code_hash);
        // A small image still takes its place in two maps.
        let bytes = image.footprint() + 1_024;
        self.bytes += bytes;
        self.clock += 1;
        self.by_use.insert(self.clock, code_hash);
        self.images.insert(code_hash, One { image, bytes, used: self.clock });
        while self.bytes > self.most
            && let Some((_, oldest)) = self.by_use.first_key_value()
        {
            let oldest = *oldest;
            self.forget(&oldest);
        }
    }
}

impl ImageCache {
    fn with<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        // A cache that a panic left half-changed still holds only whole images.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Images for ImageCache {
    fn get(&self, code_hash: &Hash) -> Option<Image> {
        self.with(|kept| kept.use_of(code_hash))
    }

    fn put(&self, code_hash: Hash, image: Image) {
        self.with(|kept| kept.keep(code_hash, image));
    }
}
