//! OCI image layouts: directories with blobs under their digests.

use crate::{
    config::{Config, Platform},
    digest::Digest,
    documents::{self, CONFIGS, Descriptor, Document, MAX_DOCUMENT_BYTES, MAX_LAYERS, Manifest, Named, REF_NAME},
    error::ImageError,
};
use rustix::fs::{Mode, OFlags};
use sha2::{Digest as _, Sha256};
use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

pub(crate) const MARKER: &str = "oci-layout";
pub(crate) const INDEX_FILE: &str = "index.json";
const VERSION: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;

/// An OCI image layout: a directory with `oci-layout`, `index.json` and `blobs/sha256`.
///
/// Nothing that is read from it is trusted: documents and layers are verified against the digest that names them each time.
#[derive(Clone, Debug)]
pub struct Layout {
    directory: PathBuf,
}

/// An image that the index of a layout names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The digest of its manifest or index.
    pub digest: Digest,
    /// Its name, often a tag.
    pub name: Option<String>,
}

/// An image for one platform: documents that were verified and belong together.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) manifest_digest: Digest,
    pub(crate) config: Config,
    /// The layers with the digests of their uncompressed bytes, the lowest first.
    pub(crate) layers: Vec<(Descriptor, Digest)>,
}

impl Layout {
    /// Opens the layout in this directory.
    ///
    /// # Errors
    ///
    /// If the directory has no marker of a supported version.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self, ImageError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Marker {
            image_layout_version: String,
        }
        let layout = Self { directory: directory.into() };
        let refused = |reason: String| ImageError::NotLayout { path: layout.directory.clone(), reason };
        let bytes = layout.small_file(MARKER).map_err(|error| refused(error.to_string()))?;
        let marker: Marker = documents::decode(MARKER, &bytes)?;
        if marker.image_layout_version != "1.0.0" {
            return Err(refused(format!("its version is {:?}, and only 1.0.0 is supported", marker.image_layout_version)));
        }
        Ok(layout)
    }

    /// Makes an empty layout in this directory, which may exist.
    pub(crate) fn create(directory: impl Into<PathBuf>) -> Result<Self, ImageError> {
        let layout = Self { directory: directory.into() };
        let blobs = layout.blobs();
        std::fs::create_dir_all(&blobs).map_err(ImageError::io("create", &blobs))?;
        layout.write(MARKER, VERSION)?;
        layout.write(INDEX_FILE, &documents::encode(&Document::index(Vec::new())))?;
        Ok(layout)
    }

    /// Its directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The images that its index names.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    pub fn images(&self) -> Result<Vec<Listed>, ImageError> {
        let Named::Index(descriptors) = Named::decode(&self.small_file(INDEX_FILE)?)? else {
            return Err(ImageError::NotLayout { path: self.directory.clone(), reason: "index.json is a manifest".into() });
        };
        let listed = |descriptor: Descriptor| {
            let name = descriptor.annotations.and_then(|mut all| all.remove(REF_NAME));
            Listed { digest: descriptor.digest, name }
        };
        Ok(descriptors.into_iter().map(listed).collect())
    }

    /// The digest of its only image.
    ///
    /// # Errors
    ///
    /// If there is none, or a choice.
    pub fn only(&self) -> Result<Digest, ImageError> {
        let mut digests: Vec<Digest> = self.images()?.iter().map(|listed| listed.digest).collect();
        digests.sort_unstable();
        digests.dedup();
        match digests[..] {
            [digest] => Ok(digest),
            _ => {
                let reason = format!("its index names {} images; say which by its digest", digests.len());
                Err(ImageError::NotLayout { path: self.directory.clone(), reason })
            }
        }
    }

    /// A document under its digest: an index, a manifest or a config.
    ///
    /// # Errors
    ///
    /// If it is missing, longer than 4 MiB, or was changed.
    pub fn document(&self, digest: &Digest) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let path = self.blob_path(digest);
        let file = self.blob(digest)?;
        file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).map_err(ImageError::io("read", path))?;
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if size > MAX_DOCUMENT_BYTES {
            return Err(ImageError::LargeDocument { what: "document", size, limit: MAX_DOCUMENT_BYTES });
        }
        let found = Digest::of(&bytes);
        if found == *digest { Ok(bytes) } else { Err(ImageError::WrongDigest { expected: *digest, found }) }
    }

    /// The image of this digest for a platform, with everything but its layers verified.
    pub(crate) fn resolve(&self, digest: &Digest, platform: Platform) -> Result<Resolved, ImageError> {
        let (manifest_digest, manifest) = self.manifest(digest, platform)?;
        let descriptor = &manifest.config;
        if !CONFIGS.contains(&descriptor.media_type.as_str()) {
            return Err(ImageError::MediaType { what: "config", digest: descriptor.digest, media_type: descriptor.media_type.clone() });
        }
        let (config, diff_ids) = Config::decode(&self.described(descriptor)?, digest, platform)?;
        if diff_ids.len() != manifest.layers.len() {
            let reason = format!("it has {} diff_ids, and the manifest has {} layers", diff_ids.len(), manifest.layers.len());
            return Err(ImageError::Document { what: "config", reason });
        }
        debug_assert!(diff_ids.len() <= MAX_LAYERS, "the decoder stops at the limit");
        Ok(Resolved { manifest_digest, config, layers: manifest.layers.into_iter().zip(diff_ids).collect() })
    }

    /// The manifest that a digest names: it is the manifest's own, or that of an index which has one for the platform.
    pub(crate) fn manifest(&self, digest: &Digest, platform: Platform) -> Result<(Digest, Manifest), ImageError> {
        let manifests = match Named::decode(&self.document(digest)?)? {
            Named::Manifest(manifest) => return Ok((*digest, manifest)),
            Named::Index(manifests) => manifests,
        };
        let chosen = select(digest, &manifests, platform)?;
        match Named::decode(&self.described(chosen)?)? {
            Named::Manifest(manifest) => Ok((chosen.digest, manifest)),
            Named::Index(_) => {
                let reason = format!("an index in an index is not supported; name {} itself", chosen.digest);
                Err(ImageError::Document { what: "index", reason })
            }
        }
    }

    /// A document of a descriptor's digest and size.
    fn described(&self, descriptor: &Descriptor) -> Result<Vec<u8>, ImageError> {
        let bytes = self.document(&descriptor.digest)?;
        let found = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if found == descriptor.size {
            Ok(bytes)
        } else {
            Err(ImageError::WrongSize { digest: descriptor.digest, found, expected: descriptor.size })
        }
    }

    /// A blob, not yet verified: a regular file that is not a symbolic link.
    pub(crate) fn blob(&self, digest: &Digest) -> Result<File, ImageError> {
        open_file(&self.blob_path(digest)).map_err(|error| match error {
            ImageError::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                ImageError::MissingBlob { digest: *digest, origin: self.directory.display().to_string() }
            }
            error => error,
        })
    }

    /// Verifies a blob of any size against its descriptor.
    pub(crate) fn check(&self, descriptor: &Descriptor) -> Result<(), ImageError> {
        let (expected, path) = (descriptor.digest, self.blob_path(&descriptor.digest));
        let (mut file, mut hash, mut size) = (self.blob(&expected)?, Sha256::new(), 0_u64);
        let mut buffer = vec![0; 256 << 10];
        loop {
            let length = file.read(&mut buffer).map_err(ImageError::io("read", &path))?;
            let bytes = buffer.get(..length).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            hash.update(bytes);
            size = size.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        }
        if size != descriptor.size {
            return Err(ImageError::WrongSize { digest: expected, found: size, expected: descriptor.size });
        }
        let found = Digest(hash.finalize().into());
        if found == expected { Ok(()) } else { Err(ImageError::WrongDigest { expected, found }) }
    }

    /// Where a blob lies.
    pub(crate) fn blob_path(&self, digest: &Digest) -> PathBuf {
        self.blobs().join(digest.hex())
    }

    /// The directory of the blobs.
    pub(crate) fn blobs(&self) -> PathBuf {
        self.directory.join("blobs").join("sha256")
    }

    /// Adds a document and returns its digest.
    pub(crate) fn add(&self, bytes: &[u8]) -> Result<Digest, ImageError> {
        let digest = Digest::of(bytes);
        let path = self.blob_path(&digest);
        std::fs::write(&path, bytes).map_err(ImageError::io("write", path))?;
        Ok(digest)
    }

    /// Makes its index name these images only.
    pub(crate) fn list(&self, images: Vec<Descriptor>) -> Result<(), ImageError> {
        self.write(INDEX_FILE, &documents::encode(&Document::index(images)))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ImageError> {
        let path = self.directory.join(name);
        std::fs::write(&path, bytes).map_err(ImageError::io("write", path))
    }

    fn small_file(&self, name: &str) -> Result<Vec<u8>, ImageError> {
        let path = self.directory.join(name);
        let mut bytes = Vec::new();
        let file = open_file(&path)?;
        // One more byte than allowed, so that the decoder refuses a longer file.
        file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes).map_err(ImageError::io("read", path))?;
        Ok(bytes)
    }
}

/// Opens a regular file that is not a symbolic link, without waiting for a pipe's writer.
pub(crate) fn open_file(path: &Path) -> Result<File, ImageError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(ImageError::io("open", path))?);
    let metadata = file.metadata().map_err(ImageError::io("read", path))?;
    if metadata.is_file() { Ok(file) } else { Err(ImageError::io("read", path)(io::Error::other("it is not a regular file"))) }
}

/// The first manifest of an index that is for the platform.
pub(crate) fn select<'a>(image: &Digest, manifests: &'a [Descriptor], platform: Platform) -> Result<&'a Descriptor, ImageError> {
    let fits = |descriptor: &&Descriptor| {
        let platforms = descriptor.platform.as_ref();
        platforms.is_some_and(|offered| platform.runs(&offered.os, &offered.architecture, offered.variant.as_deref()))
    };
    manifests.iter().find(fits).ok_or_else(|| {
        let platforms = manifests.iter().filter_map(|descriptor| descriptor.platform.as_ref());
        let mut texts: Vec<String> = platforms.take(8).map(|platform| format!("{}/{}", platform.os, platform.architecture)).collect();
        if texts.is_empty() {
            texts.push("no platform that it names".into());
        }
        ImageError::Platform { digest: *image, platform: platform.to_string(), offered: texts.join(", ") }
    })
}
