//! Trying an image before anybody runs it.

use crate::{
    config::{Config, Platform},
    digest::Digest,
    error::ImageError,
    layout::Layout,
    unpack::{Limits, Options, unpack},
    walk,
};

/// What the documents of an image say for one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The digest of its manifest.
    pub manifest: Digest,
    /// Its config.
    pub config: Config,
    /// How many layers it has.
    pub layers: usize,
    /// Bytes of its layers as they are stored.
    pub compressed: u64,
}

/// What was found out about an image for one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What its documents say.
    pub described: Described,
    /// What it takes when it is unpacked.
    pub unpacked: u64,
}

/// What an image is, for each platform that it has. Its documents are verified; its layers are not read, and may be missing.
///
/// # Errors
///
/// If it has no platform that runners have, or a document is refused.
pub fn describe(layout: &Layout, digest: &Digest) -> Result<Vec<Described>, ImageError> {
    of_platforms(|platform| describe_platform(layout, digest, platform))
}

/// Unpacks an image for each platform that it has into a temporary directory, and says what it is. So an image that it accepts is one that runners accept.
///
/// # Errors
///
/// If it has no platform that runners have, or anything about it is refused for any of them.
pub fn verify(layout: &Layout, digest: &Digest, limits: Limits) -> Result<Vec<Verified>, ImageError> {
    of_platforms(|platform| verify_platform(layout, digest, Options { limits, ..Options::new(platform) }))
}

fn of_platforms<T>(of: impl Fn(Platform) -> Result<T, ImageError>) -> Result<Vec<T>, ImageError> {
    let mut found = Vec::new();
    let mut missing = None;
    for platform in Platform::ALL {
        match of(platform) {
            Err(error @ ImageError::Platform { .. }) => missing = Some(error),
            result => found.push(result?),
        }
    }
    match missing {
        Some(error) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

fn describe_platform(layout: &Layout, digest: &Digest, platform: Platform) -> Result<Described, ImageError> {
    let image = layout.resolve(digest, platform)?;
    Ok(Described {
        manifest: image.manifest_digest,
        config: image.config,
        layers: image.layers.len(),
        compressed: image.layers.iter().fold(0, |sum, (descriptor, _)| sum.saturating_add(descriptor.size)),
    })
}

fn verify_platform(layout: &Layout, digest: &Digest, options: Options) -> Result<Verified, ImageError> {
    let described = describe_platform(layout, digest, options.platform)?;
    // What was damaged is called damaged, and not by what a decoder makes of it.
    for (layer, _) in layout.resolve(digest, options.platform)?.layers {
        layout.check(&layer)?;
    }
    let temporary = std::env::temp_dir();
    let directory = tempfile::tempdir().map_err(ImageError::io("create a directory in", temporary))?;
    let root = directory.path().join("root");
    unpack(layout, digest, &root, &options)?;
    let measured = walk::measure(&root, walk::Depth::Stamp).map_err(ImageError::io("read", &root));
    walk::remove_path(&root).map_err(ImageError::io("remove", &root))?;
    Ok(Verified { described, unpacked: measured?.1 })
}
