//! Where blobs come from, and getting the blobs of an image from there.

use crate::{
    config::Platform,
    digest::Digest,
    documents::{Descriptor, MAX_DOCUMENT_BYTES, Named},
    error::ImageError,
    layout::{Layout, select},
    unpack::Limits,
    walk,
};
use sha2::{Digest as _, Sha256};
use std::path::Path;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

/// Which kind of blob is asked for: registries keep them in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlobKind {
    /// An index or a manifest.
    Manifest,
    /// A config or a layer.
    Blob,
}

/// The bytes of a blob while they arrive.
pub type BlobReader = Box<dyn AsyncRead + Send + Unpin>;

/// Where blobs come from: a layout, a registry, a volume. Whoever asks verifies what comes, and stops reading at its size.
#[async_trait::async_trait]
pub trait Source: Send + Sync {
    /// Opens the blob of this digest.
    ///
    /// # Errors
    ///
    /// [`ImageError::MissingBlob`] if there is none, and any other if getting it fails.
    async fn open(&self, kind: BlobKind, digest: &Digest) -> Result<BlobReader, ImageError>;
}

#[async_trait::async_trait]
impl Source for Layout {
    async fn open(&self, _kind: BlobKind, digest: &Digest) -> Result<BlobReader, ImageError> {
        Ok(Box::new(tokio::fs::File::from_std(self.blob(digest)?)))
    }
}

/// Gets an image for one platform from a source into a layout that it creates. On an error, nothing is left.
///
/// # Errors
///
/// If the directory exists, a blob is missing, too large or changed, or the image is not for the platform.
pub async fn pull(source: &dyn Source, digest: &Digest, platform: Platform, limits: Limits, into: &Path) -> Result<Layout, ImageError> {
    std::fs::create_dir(into).map_err(ImageError::io("create", into))?;
    let pulled = async {
        let layout = Layout::create(into)?;
        let listed = pull_manifest(source, digest, platform, &layout).await?;
        pull_rest(source, digest, platform, limits, &layout).await?;
        layout.list(vec![listed])?;
        Ok(layout)
    };
    let pulled = pulled.await;
    if pulled.is_err() {
        // The reason of the failure says more than a failure to remove what there is.
        let _ = walk::remove_path(into);
    }
    pulled
}

/// Gets the index, if the digest names one, and the manifest; returns the descriptor of the latter.
pub(crate) async fn pull_manifest(
    source: &dyn Source,
    digest: &Digest,
    platform: Platform,
    layout: &Layout,
) -> Result<Descriptor, ImageError> {
    let size = copy(source, BlobKind::Manifest, digest, Size::AtMost(MAX_DOCUMENT_BYTES), layout).await?;
    let manifests = match Named::decode(&layout.document(digest)?)? {
        Named::Index(manifests) => manifests,
        Named::Manifest(_) => {
            let media_type = crate::documents::MANIFEST.into();
            return Ok(Descriptor { media_type, digest: *digest, size, platform: None, annotations: None });
        }
    };
    let chosen = select(digest, &manifests, platform)?;
    small(chosen)?;
    copy(source, BlobKind::Manifest, &chosen.digest, Size::Exactly(chosen.size), layout).await?;
    Ok(Descriptor { annotations: None, ..chosen.clone() })
}

/// Gets the config and the layers, after it has the manifest.
pub(crate) async fn pull_rest(
    source: &dyn Source,
    digest: &Digest,
    platform: Platform,
    limits: Limits,
    layout: &Layout,
) -> Result<(), ImageError> {
    let (_, manifest) = layout.manifest(digest, platform)?;
    small(&manifest.config)?;
    copy(source, BlobKind::Blob, &manifest.config.digest, Size::Exactly(manifest.config.size), layout).await?;
    // What unpacking would refuse is refused before the layers are fetched.
    let image = layout.resolve(digest, platform)?;
    let mut left = limits.bytes;
    for (layer, _) in &image.layers {
        left = left.checked_sub(layer.size).ok_or(ImageError::TooLarge { layer: layer.digest, limit: limits.bytes })?;
    }
    for (layer, _) in &image.layers {
        copy(source, BlobKind::Blob, &layer.digest, Size::Exactly(layer.size), layout).await?;
    }
    Ok(())
}

/// Refuses a document that is too large by its own descriptor.
fn small(descriptor: &Descriptor) -> Result<(), ImageError> {
    let limit = MAX_DOCUMENT_BYTES;
    if descriptor.size > limit {
        return Err(ImageError::LargeDocument { what: "document", size: descriptor.size, limit });
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Size {
    Exactly(u64),
    AtMost(u64),
}

/// Copies a blob into the layout, unless it is there, and verifies its size and digest. Returns its size.
async fn copy(source: &dyn Source, kind: BlobKind, digest: &Digest, size: Size, layout: &Layout) -> Result<u64, ImageError> {
    let path = layout.blob_path(digest);
    // A blob that is already there was verified when it came, and is verified again when it is used.
    if let (true, Size::Exactly(size)) = (path.exists(), size) {
        return Ok(size);
    }
    let limit = match size {
        Size::Exactly(limit) | Size::AtMost(limit) => limit,
    };
    let mut reader = source.open(kind, digest).await?;
    let mut file = tokio::fs::File::create(&path).await.map_err(ImageError::io("create", &path))?;
    let (mut hash, mut found) = (Sha256::new(), 0_u64);
    let mut buffer = vec![0; 256 << 10];
    loop {
        let length = reader.read(&mut buffer).await.map_err(ImageError::io("fetch a blob into", &path))?;
        let bytes = buffer.get(..length).unwrap_or_default();
        found = found.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        if found > limit {
            return Err(match size {
                Size::Exactly(expected) => ImageError::WrongSize { digest: *digest, found, expected },
                Size::AtMost(limit) => ImageError::LargeDocument { what: "manifest or index", size: found, limit },
            });
        }
        if bytes.is_empty() {
            break;
        }
        hash.update(bytes);
        file.write_all(bytes).await.map_err(ImageError::io("write", &path))?;
    }
    file.flush().await.map_err(ImageError::io("write", &path))?;
    match size {
        Size::Exactly(expected) if found != expected => return Err(ImageError::WrongSize { digest: *digest, found, expected }),
        Size::Exactly(_) | Size::AtMost(_) => {}
    }
    let actual = Digest(hash.finalize().into());
    if actual == *digest { Ok(found) } else { Err(ImageError::WrongDigest { expected: *digest, found: actual }) }
}
