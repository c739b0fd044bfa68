//! Which images a store keeps, how much they take, and which of them are in use.

use crate::digest::Digest;
use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

/// A kept image.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: u64,
    /// The digest of its tree when it was unpacked.
    contents: Digest,
    /// What the file system said about its tree when it was last compared.
    stamp: Option<Digest>,
    /// Digests that name it, beside that of its manifest.
    aliases: Vec<Digest>,
    /// The number of its last use.
    used: u64,
    /// Every user has a clone.
    in_use: Arc<()>,
}

impl Kept {
    pub(crate) fn new(bytes: u64, contents: Digest, stamp: Option<Digest>, aliases: Vec<Digest>) -> Self {
        Self { bytes, contents, stamp, aliases, used: 0, in_use: Arc::new(()) }
    }

    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.in_use) > 1
    }
}

/// Which images a store keeps.
#[derive(Debug)]
pub(crate) struct Shelf {
    limit: u64,
    uses: u64,
    images: HashMap<Digest, Kept>,
    /// Work on an image happens one after the other.
    turns: HashMap<Digest, Weak<tokio::sync::Mutex<()>>>,
}

impl Shelf {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, uses: 0, images: HashMap::new(), turns: HashMap::new() }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.images.values().fold(0, |sum, kept| sum.saturating_add(kept.bytes))
    }

    pub(crate) fn images(&self) -> Vec<Digest> {
        let mut images: Vec<(u64, Digest)> = self.images.iter().map(|(digest, kept)| (kept.used, *digest)).collect();
        images.sort_unstable();
        images.into_iter().map(|(_, digest)| digest).collect()
    }

    /// The manifest of the kept image that a digest names.
    pub(crate) fn find(&self, digest: &Digest) -> Option<Digest> {
        if self.images.contains_key(digest) {
            return Some(*digest);
        }
        self.images.iter().find(|(_, kept)| kept.aliases.contains(digest)).map(|(manifest, _)| *manifest)
    }

    /// The lock under which work on an image happens.
    pub(crate) fn turn(&mut self, manifest: Digest) -> Arc<tokio::sync::Mutex<()>> {
        if let Some(turn) = self.turns.get(&manifest).and_then(Weak::upgrade) {
            return turn;
        }
        self.turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        self.turns.insert(manifest, Arc::downgrade(&turn));
        turn
    }

    /// Adds an image, which was used just now.
    pub(crate) fn add(&mut self, manifest: Digest, mut kept: Kept) -> Arc<()> {
        self.uses += 1;
        kept.used = self.uses;
        let in_use = kept.in_use.clone();
        self.images.insert(manifest, kept);
        in_use
    }

    /// Takes an image in use; returns the digest of its contents and its stamp, too.
    pub(crate) fn hold(&mut self, manifest: &Digest) -> Option<(Arc<()>, Digest, Option<Digest>)> {
        let kept = self.images.get_mut(manifest)?;
        self.uses += 1;
        kept.used = self.uses;
        Some((kept.in_use.clone(), kept.contents, kept.stamp))
    }

    pub(crate) fn stamp(&mut self, manifest: &Digest, stamp: Digest) {
        if let Some(kept) = self.images.get_mut(manifest) {
            kept.stamp = Some(stamp);
        }
    }

    /// Notes another name of an image; false if it has it, or has too many.
    pub(crate) fn alias(&mut self, manifest: &Digest, name: Digest, limit: usize) -> bool {
        match self.images.get_mut(manifest) {
            Some(kept) if kept.aliases.len() < limit && !kept.aliases.contains(&name) => {
                kept.aliases.push(name);
                true
            }
            _ => false,
        }
    }

    /// Forgets an image, unless it is in use.
    pub(crate) fn remove_unused(&mut self, manifest: &Digest) -> bool {
        let is_unused = self.images.get(manifest).is_some_and(|kept| !kept.is_in_use());
        if is_unused {
            self.images.remove(manifest);
        }
        is_unused
    }

    /// Forgets the least recently used images until there is room for these bytes. If images in use leave too little, nothing is forgotten, and the
    /// answer is what they leave.
    pub(crate) fn make_room(&mut self, bytes: u64) -> Result<Vec<Digest>, u64> {
        let held = self.images.values().filter(|kept| kept.is_in_use()).fold(0_u64, |sum, kept| sum.saturating_add(kept.bytes));
        let free = self.limit.saturating_sub(held);
        if bytes > free {
            return Err(free);
        }
        let mut removed = Vec::new();
        for manifest in self.images() {
            if self.bytes().saturating_add(bytes) <= self.limit {
                break;
            }
            if self.remove_unused(&manifest) {
                removed.push(manifest);
            }
        }
        Ok(removed)
    }
}
