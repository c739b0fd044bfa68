//! Trying an image before anybody runs it.

use crate::{
    config::{Config, Platform},
    digest::Digest,
    error::ImageError,
    layout::Layout,
    unpack::{Limits, Options, unpack},
    walk,
};

/// What was found out about an image for one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The digest of its manifest.
    pub manifest: Digest,
    /// Its config.
    pub config: Config,
    /// How many layers it has.
    pub layers: usize,
    /// Bytes of its layers as they are stored.
    pub compressed: u64,
    /// What it takes when it is unpacked.
    pub unpacked: u64,
}

/// Unpacks an image for each platform that it has into a temporary directory, and says what it is. So an image that it accepts is one that runners accept.
///
/// # Errors
///
/// If it has no platform that runners have, or anything about it is refused for any of them.
pub fn verify(layout: &Layout, digest: &Digest, limits: Limits) -> Result<Vec<Verified>, ImageError> {
    let mut verified = Vec::new();
    let mut missing = None;
    for platform in Platform::ALL {
        match verify_platform(layout, digest, Options { limits, ..Options::new(platform) }) {
            Err(error @ ImageError::Platform { .. }) => missing = Some(error),
            result => verified.push(result?),
        }
    }
    match missing {
        Some(error) if verified.is_empty() => Err(error),
        _ => Ok(verified),
    }
}

fn verify_platform(layout: &Layout, digest: &Digest, options: Options) -> Result<Verified, ImageError> {
    let image = layout.resolve(digest, options.platform)?;
    let temporary = std::env::temp_dir();
    let directory = tempfile::tempdir().map_err(ImageError::io("create a directory in", temporary))?;
    let root = directory.path().join("root");
    unpack(layout, digest, &root, &options)?;
    let measured = walk::measure(&root, walk::Depth::Stamp).map_err(ImageError::io("read", &root));
    walk::remove_path(&root).map_err(ImageError::io("remove", &root))?;
    Ok(Verified {
        manifest: image.manifest_digest,
        config: image.config,
        layers: image.layers.len(),
        compressed: image.layers.iter().fold(0, |sum, (descriptor, _)| sum.saturating_add(descriptor.size)),
        unpacked: measured?.1,
    })
}
