//! OCI images: packing, verifying and unpacking them.
//!
//! An image is named by a digest, of its manifest or of an index that lists manifests for several platforms. Everything else hangs on this digest:
//! documents and layers are verified each time that they are read, wherever they come from.
//!
//! - [`Layout`]: an OCI image layout, a directory with blobs under their digests.
//! - [`write_archive`] and [`read_archive`]: a layout as one file.
//! - [`unpack`]: writes the files of an image into a directory, confined by the kernel to this directory.
//! - [`pack`]: makes an image out of a directory or a program, with the same bytes on every computer.
//! - [`describe`]: says what an image is without its layers.
//! - [`verify`]: tries everything that [`unpack`] refuses, for all platforms of an image.
//! - [`Source`]: where blobs come from. `Registry`, behind the feature `registry`, is one.
//! - [`Store`]: keeps unpacked images, up to a number of bytes.

mod archive;
mod config;
mod digest;
mod documents;
mod entries;
mod error;
mod layer;
mod layout;
mod pack;
mod program;
#[cfg(feature = "registry")]
mod registry;
mod shelf;
mod source;
mod store;
mod tarball;
mod text;
mod tree;
mod unpack;
mod verify;
mod walk;

pub use archive::{read_archive, write_archive};
pub use config::{Config, Platform};
pub use digest::{Digest, DigestError};
pub use documents::{MAX_DEPTH, MAX_DOCUMENT_BYTES, MAX_ITEMS, MAX_LAYERS};
pub use entries::{MAX_NAME_BYTES, MAX_PATH_BYTES};
pub use error::ImageError;
pub use layout::{Layout, Listed};
pub use pack::{Contents, PROGRAM_PATH, environment, pack};
pub use program::{entrypoint_platform, program_platform};
#[cfg(feature = "registry")]
pub use registry::{Pushed, Registry};
pub use source::{BlobKind, BlobReader, Source, pull};
pub use store::{Image, Store};
pub use tree::MAX_TREE_DEPTH;
pub use unpack::{Limits, Options, unpack};
pub use verify::{Described, Verified, describe, verify};
