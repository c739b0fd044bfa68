//! Unpacking an image into a directory.

use crate::{
    config::{Config, Platform},
    digest::Digest,
    documents::Descriptor,
    entries::{self, Budget, Entry, EntryPath, Kind},
    error::ImageError,
    layer::{Growth, LayerReader},
    layout::Layout,
    text::shortened,
    tree::{Failure, Tree},
    walk,
};
use std::{cell::RefCell, io::Read, path::Path};
use tar::Archive;

const WHITEOUT: &[u8] = b".wh.";
const WHITEOUT_META: &[u8] = b".wh..wh.";
const OPAQUE: &[u8] = b".wh..wh..opq";

/// How large an image may be. The number of its layers has the limit [`crate::MAX_LAYERS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Uncompressed bytes of all layers. On disk an image may take more, because each entry takes some space.
    pub bytes: u64,
    /// Uncompressed bytes for each compressed byte of a layer. A layer may always have a mebibyte.
    pub ratio: u64,
    /// Entries of all layers, and directories that they imply. Names that a whiteout goes past and keeps count as entries, too, and links on the way to an
    /// entry as a hundred.
    pub entries: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 10 << 30, ratio: 20, entries: 1_000_000 }
    }
}

/// For whom an image is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What it has to run on.
    pub platform: Platform,
    /// The user and group that own everything; otherwise the process's own. Another owner needs privileges.
    pub owner: Option<(u32, u32)>,
    /// How large it may be.
    pub limits: Limits,
}

impl Options {
    /// For this platform, with the usual limits, owned by the process.
    #[must_use]
    pub fn new(platform: Platform) -> Self {
        Self { platform, owner: None, limits: Limits::default() }
    }
}

/// Unpacks the image of this digest, a manifest's or an index's, into a directory that it makes.
///
/// Everything is verified while it is read once: sizes and digests of the documents and layers, and the digests of the uncompressed layers. All
/// paths are resolved by the kernel inside the directory. Permissions are kept without set-user-id, set-group-id and sticky bits; times of files
/// are kept in seconds; owners and extended attributes are not kept. On an error, the directory is removed.
///
/// # Errors
///
/// If the directory exists, the image is wrong in any way or too large, or the file system fails.
pub fn unpack(layout: &Layout, digest: &Digest, into: &Path, options: &Options) -> Result<Config, ImageError> {
    let image = layout.resolve(digest, options.platform)?;
    std::fs::create_dir(into).map_err(ImageError::io("create", into))?;
    let result = unpack_layers(layout, &image.layers, into, options);
    if result.is_err() {
        // The reason of the failure says more than a failure to remove what there is.
        let _ = walk::remove_path(into);
    }
    result.map(|()| image.config)
}

fn unpack_layers(layout: &Layout, layers: &[(Descriptor, Digest)], into: &Path, options: &Options) -> Result<(), ImageError> {
    let limits = options.limits;
    let budget = RefCell::new(Budget { left: limits.entries, limit: limits.entries });
    let mut tree = Tree::new(into, options.owner, &budget)?;
    let mut left = limits.bytes;
    for (descriptor, diff_id) in layers {
        tree.next_layer();
        let growth = Growth { left, limit: limits.bytes, ratio: limits.ratio };
        let reader = LayerReader::open(layout, descriptor, growth)?;
        let stop = reader.stop();
        let mut archive = Archive::new(reader);
        let layer = &descriptor.digest;
        entries::each(&mut archive, layer, &stop, &budget, &mut |entry, bytes| {
            let path = entry.path.bytes();
            apply(&mut tree, entry, bytes).map_err(|failure| match failure {
                Failure::Refused(reason) => ImageError::Entry { layer: *layer, path: shortened(&path), reason },
                Failure::Limit(error) => error,
            })
        })?;
        left = left.saturating_sub(archive.into_inner().finish(descriptor, diff_id)?);
    }
    tree.finish().map_err(|failure| match failure {
        Failure::Refused(reason) => ImageError::io("change the modes of", into)(std::io::Error::other(reason)),
        Failure::Limit(error) => error,
    })
}

fn apply(tree: &mut Tree<'_>, entry: Entry, bytes: &mut dyn Read) -> Result<(), Failure> {
    let Entry { path, kind, mode, modified } = entry;
    if let Some(whiteout) = Whiteout::of(&path)? {
        return match (kind, whiteout) {
            (Kind::File { size: 0 }, Whiteout::Name(path)) => tree.hide(&path),
            (Kind::File { size: 0 }, Whiteout::All(names)) => tree.hide_all(names),
            _ => Err(Failure::Refused("a whiteout has to be an empty file".into())),
        };
    }
    match kind {
        Kind::File { size } => tree.add_file(&path, mode, modified, size, bytes),
        Kind::Directory => tree.add_directory(&path, mode),
        Kind::Symlink { target } => tree.add_symlink(&path, &target, modified),
        Kind::HardLink { target } => tree.add_hard_link(&path, &target),
    }
}

/// What of lower layers an entry hides.
enum Whiteout<'a> {
    /// What has this path.
    Name(EntryPath),
    /// What is in the directory of these names.
    All(&'a [Vec<u8>]),
}

impl<'a> Whiteout<'a> {
    fn of(path: &'a EntryPath) -> Result<Option<Self>, Failure> {
        let refused = |reason: &str| Err(Failure::Refused(reason.into()));
        let Some((last, above)) = path.0.split_last() else { return Ok(None) };
        if above.iter().any(|name| name.starts_with(WHITEOUT)) {
            return refused("its directory has the name of a whiteout");
        }
        if last == OPAQUE {
            return Ok(Some(Self::All(above)));
        }
        let Some(hidden) = last.strip_prefix(WHITEOUT) else { return Ok(None) };
        if last.starts_with(WHITEOUT_META) {
            return refused("it is a whiteout of an unknown kind");
        }
        if matches!(hidden, b"" | b"." | b"..") {
            return refused("it is a whiteout of no name, or of a directory above");
        }
        Ok(Some(Self::Name(EntryPath([above, &[hidden.to_vec()]].concat()))))
    }
}
