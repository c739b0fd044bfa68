//! Why an image is refused, or why work on it failed.

use crate::digest::{Digest, DigestError};
use std::{io, path::PathBuf};

/// Why an image is refused, or why work on it failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// A text that is not a digest.
    #[error(transparent)]
    Digest(#[from] DigestError),
    /// A directory without the files of a layout.
    #[error("{} is not an OCI image layout: {reason}", path.display())]
    NotLayout {
        /// The directory.
        path: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// A blob that the layout, the store or the registry does not have.
    #[error("blob {digest} is missing from {origin}")]
    MissingBlob {
        /// Its digest.
        digest: Digest,
        /// Where it was looked up.
        origin: String,
    },
    /// A blob whose length is not the one of its descriptor.
    #[error("blob {digest} has {found} bytes, and its descriptor says {expected}")]
    WrongSize {
        /// Its digest.
        digest: Digest,
        /// Its length; where it is longer than expected, what was read before reading stopped.
        found: u64,
        /// The length of the descriptor.
        expected: u64,
    },
    /// A blob whose bytes have another digest.
    #[error("blob {expected} was changed: its bytes have the digest {found}")]
    WrongDigest {
        /// The digest that names it.
        expected: Digest,
        /// The digest of its bytes.
        found: Digest,
    },
    /// A layer whose uncompressed bytes have another digest than the image's config says.
    #[error(
        "layer {layer} does not match the config: the uncompressed bytes have the digest {found}, and the config's diff_id is {expected}"
    )]
    WrongDiffId {
        /// The digest of the layer's blob.
        layer: Digest,
        /// The digest of its uncompressed bytes.
        found: Digest,
        /// The digest of the config.
        expected: Digest,
    },
    /// A document that is larger than the limit.
    #[error("the {what} has {size} bytes; the limit is {limit}")]
    LargeDocument {
        /// Which kind of document.
        what: &'static str,
        /// Its length, or what was read before reading stopped.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// A document that is not what the OCI specification says.
    #[error("the {what} is refused: {reason}")]
    Document {
        /// Which kind of document.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A type of a document or layer that is not supported.
    #[error("{what} {digest} has the media type {media_type:?}, which is not supported")]
    MediaType {
        /// What has this type.
        what: &'static str,
        /// Its digest.
        digest: Digest,
        /// The type.
        media_type: String,
    },
    /// An image without a manifest for the platform.
    #[error("image {digest} has nothing for {platform}: it is for {offered}")]
    Platform {
        /// The image.
        digest: Digest,
        /// The platform that was asked for.
        platform: String,
        /// The platforms of the image.
        offered: String,
    },
    /// More uncompressed bytes than the limit.
    #[error("layer {layer} brings the image to more than {limit} uncompressed bytes, which is the limit")]
    TooLarge {
        /// The layer that crosses the limit.
        layer: Digest,
        /// The limit.
        limit: u64,
    },
    /// A layer that grows too much when it is uncompressed.
    #[error("layer {layer} has {compressed} compressed bytes and more than {limit} uncompressed bytes, which is the limit for its size")]
    TooCompressed {
        /// The layer.
        layer: Digest,
        /// Its compressed size.
        compressed: u64,
        /// The limit for this size.
        limit: u64,
    },
    /// More entries than the limit.
    #[error("the layers have more than {limit} entries, which is the limit")]
    TooManyEntries {
        /// The limit.
        limit: u64,
    },
    /// A layer that does not decompress, or is not a tar archive.
    #[error("layer {layer} cannot be read: {reason}")]
    Layer {
        /// The layer.
        layer: Digest,
        /// What the decoder says.
        reason: String,
    },
    /// An entry of a layer that is refused.
    #[error("entry {path:?} of layer {layer} is refused: {reason}")]
    Entry {
        /// The layer.
        layer: Digest,
        /// The entry's name; bytes that are not UTF-8 are replaced, and long names are cut.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Something that cannot be packed.
    #[error("{} cannot be packed: {reason}", path.display())]
    Pack {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A store that another process uses.
    #[error("the image store {} is in use by another process; give each process a store of its own", path.display())]
    StoreInUse {
        /// The store's directory.
        path: PathBuf,
    },
    /// An image for which there is no room in the store.
    #[error("image {digest} takes {bytes} bytes, and the image store has {free} of {limit} bytes that are not in use; raise its limit")]
    StoreFull {
        /// The image.
        digest: Digest,
        /// What it takes.
        bytes: u64,
        /// What images in use leave.
        free: u64,
        /// The store's limit.
        limit: u64,
    },
    /// An unpacked image that was changed while containers use it.
    #[error(
        "the unpacked files of image {digest} were changed while a container uses them; end its containers, so that it is unpacked again"
    )]
    ChangedInUse {
        /// The image.
        digest: Digest,
    },
    /// A registry that refuses a request, or answers with something else than the distribution specification says.
    #[error("registry {registry}: {reason}")]
    Registry {
        /// Its host.
        registry: String,
        /// What happened.
        reason: String,
    },
    /// A failure of the host computer.
    #[error("{action} {}: {error}", path.display())]
    Io {
        /// What was done.
        action: &'static str,
        /// To which file or directory.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl ImageError {
    /// For `map_err`: this action on this path failed.
    pub(crate) fn io<E: Into<io::Error>>(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(E) -> Self {
        let path = path.into();
        move |error| Self::Io { action, path, error: error.into() }
    }
}
