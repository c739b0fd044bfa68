//! Keeps compiled actors between blocks.

use cowboy_chain::{Image, input::Images};
use cowboy_types::Hash;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// Images that are kept; the one that was not used for longest goes first.
const KEPT: usize = 512;

/// The images used lately. It never changes a result, only how soon it is there.
#[derive(Default)]
pub struct ImageCache(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    images: HashMap<Hash, (Image, u64)>,
    clock: u64,
}

impl ImageCache {
    fn with<T>(&self, act: impl FnOnce(&mut Kept) -> T) -> T {
        // A cache that a panic left half-changed still holds only whole images.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Images for ImageCache {
    fn get(&self, code_hash: &Hash) -> Option<Image> {
        self.with(|kept| {
            kept.clock += 1;
            let now = kept.clock;
            let (image, used) = kept.images.get_mut(code_hash)?;
            *used = now;
            Some(image.clone())
        })
    }

    fn put(&self, code_hash: Hash, image: Image) {
        self.with(|kept| {
            kept.clock += 1;
            if kept.images.len() >= KEPT {
                let oldest = kept.images.iter().min_by_key(|(_, (_, used))| *used).map(|(hash, _)| *hash);
                oldest.and_then(|hash| kept.images.remove(&hash));
            }
            kept.images.insert(code_hash, (image, kept.clock));
        });
    }
}
