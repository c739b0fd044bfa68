//! Layers from seeds: against a model of what the OCI specification says, and without any sense.

#[path = "../../../fuzz/bodies/image.rs"]
mod fuzz;

use crate::support::{Image, Layer, Tar, gzip, image, zstd};
use cowboy_image::Digest;
use std::{collections::BTreeMap, io::Write as _};
use tar::EntryType;

/// Numbers from a seed.
struct Numbers {
    seed: u64,
    block: [u8; 32],
    used: usize,
}

impl Numbers {
    fn new(seed: u64) -> Self {
        Self { seed, block: Digest::of(&seed.to_be_bytes()).0, used: 0 }
    }

    fn below(&mut self, limit: u8) -> u8 {
        if self.used == self.block.len() {
            (self.block, self.used) = (Digest::of(&self.block).0, 0);
        }
        self.used += 1;
        self.block[self.used - 1] % limit
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = writeln!(std::io::stderr(), "seed {}", self.seed);
        }
    }
}

/// What a name has: a directory, or a file with a content; and the layer that put it there.
#[derive(Clone, Debug)]
struct Node {
    content: Option<String>,
    layer: usize,
}

/// What layers make, by the words of the specification and without a file system.
#[derive(Default)]
struct Model(BTreeMap<String, Node>);

impl Model {
    /// Makes the directories above a path; none if a file is in the way.
    fn directories(&mut self, path: &str, layer: usize) -> Option<()> {
        for (end, _) in path.match_indices('/') {
            let node = self.0.entry(path[..end].to_owned()).or_insert(Node { content: None, layer });
            if node.content.is_some() {
                return None;
            }
        }
        Some(())
    }

    /// Whether a file is above a path.
    fn is_blocked(&self, path: &str) -> bool {
        path.match_indices('/').any(|(end, _)| self.0.get(&path[..end]).is_some_and(|node| node.content.is_some()))
    }

    fn put(&mut self, path: &str, content: Option<String>, layer: usize) -> Option<()> {
        self.directories(path, layer)?;
        let stays = content.is_none() && self.0.get(path).is_some_and(|node| node.content.is_none());
        if !stays {
            self.0.retain(|other, _| !other.starts_with(&format!("{path}/")));
        }
        self.0.insert(path.to_owned(), Node { content, layer });
        Some(())
    }

    /// Removes what lower layers have under a path; with `is_opaque`, only below it. Directories stay above what this layer has put.
    fn hide(&mut self, path: &str, layer: usize, is_opaque: bool) {
        let below = format!("{path}/");
        let hidden = |other: &str| other.starts_with(&below) || (!is_opaque && other == path);
        let before = self.0.clone();
        self.0.retain(|other, node| {
            let holds = before.iter().any(|(inner, node)| inner.starts_with(&format!("{other}/")) && node.layer == layer);
            !hidden(other) || node.layer == layer || holds
        });
    }
}

fn path(numbers: &mut Numbers) -> String {
    let names: Vec<&str> = (0..=numbers.below(3)).map(|_| ["a", "b", "c"][usize::from(numbers.below(3))]).collect();
    names.join("/")
}

/// Adds an entry to the archive and to the model; none if the model refuses.
fn step(numbers: &mut Numbers, model: &mut Model, tar: Tar, layer: usize) -> (Tar, Option<()>) {
    let path = path(numbers);
    let (above, name) = path.rsplit_once('/').map_or(("", path.as_str()), |(above, name)| (above, name));
    match numbers.below(6) {
        0..=2 => {
            let content = format!("{}", numbers.below(200));
            (tar.file(&path, &content), model.put(&path, Some(content), layer))
        }
        3 => (tar.directory(&path), model.put(&path, None, layer)),
        4 => {
            let whiteout = if above.is_empty() { format!(".wh.{name}") } else { format!("{above}/.wh.{name}") };
            let is_blocked = model.is_blocked(&path);
            model.hide(&path, layer, false);
            (tar.file(&whiteout, ""), (!is_blocked).then_some(()))
        }
        _ => {
            let is_blocked = model.is_blocked(&format!("{path}/"));
            model.hide(&path, layer, true);
            (tar.file(&format!("{path}/.wh..wh..opq"), ""), (!is_blocked).then_some(()))
        }
    }
}

/// Trees are what the model says, and layers that it refuses are refused.
#[test]
fn layers_follow_the_model() {
    let (mut unpacked, mut refused) = (0, 0);
    for seed in 0..300 {
        let mut numbers = Numbers::new(seed);
        let (mut model, mut layers, mut is_right) = (Model::default(), Vec::new(), true);
        for layer in 0..=usize::from(numbers.below(4)) {
            let mut tar = Tar::default();
            for _ in 0..numbers.below(6) {
                let (next, accepted) = step(&mut numbers, &mut model, tar, layer);
                (tar, is_right) = (next, is_right && accepted.is_some());
            }
            layers.push(tar);
        }
        let found = image(&layers).unpack();
        if !is_right {
            assert!(found.is_err(), "a file is not a directory");
            refused += 1;
            continue;
        }
        let expected = model.0.iter().map(|(path, node)| {
            (path.clone(), node.content.as_ref().map_or_else(|| "755/".to_owned(), |content| format!("644 {content}")))
        });
        assert_eq!(found.expect("the model accepts it"), expected.collect::<BTreeMap<_, _>>());
        unpacked += 1;
    }
    assert!(unpacked > 75 && refused > 50, "{unpacked} and {refused}: both are tried");
}

/// No bytes make unpacking panic or write outside.
#[test]
fn any_bytes_are_unpacked_or_refused() {
    for seed in 0..60 {
        let mut numbers = Numbers::new(seed);
        let length = usize::from(numbers.below(255));
        let bytes: Vec<u8> = (0..length).map(|_| numbers.below(255)).collect();
        fuzz::body(&bytes);
    }
}

/// A layer with a byte changed anywhere is refused.
#[test]
fn any_changed_byte_is_noticed() {
    let tar = Tar::default().file("a", "content").symlink("b", "a").entry(EntryType::Directory, b"c", b"", 0o700, b"").bytes();
    for (suffix, blob) in [("", tar.clone()), ("+gzip", gzip(&tar)), ("+zstd", zstd(&tar))] {
        let image = Image::new(&[Layer::new(suffix, blob.clone(), &tar)]);
        for place in (0..blob.len()).step_by(if suffix.is_empty() { 37 } else { 1 }) {
            let mut changed = blob.clone();
            changed[place] ^= 1;
            std::fs::write(image.blob(&Digest::of(&blob)), &changed).expect("written");
            assert!(image.unpack().is_err(), "byte {place} of {suffix:?}");
        }
    }
}
