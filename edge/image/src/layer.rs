//! The bytes of a layer: decompressed, counted, hashed and bounded while they are read.

use crate::{digest::Digest, documents::Descriptor, error::ImageError, layout::Layout};
use flate2::bufread::MultiGzDecoder;
use sha2::{Digest as _, Sha256};
use std::{
    cell::RefCell,
    fs::File,
    io::{self, BufReader, Read},
    rc::Rc,
};

/// The largest window of a zstd frame, as a power of two: 32 MiB, what the highest levels of common builders need.
const ZSTD_WINDOW_LOG: u32 = 25;
/// A layer may grow to this size whatever its compressed size is, because archives end with zeros.
const MIN_GROWTH: u64 = 1 << 20;

/// How a layer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Gzip,
    Zstd,
}

/// The media types of layers. Layers that a registry does not distribute are refused.
const MEDIA_TYPES: [(&str, Compression); 6] = [
    ("application/vnd.oci.image.layer.v1.tar", Compression::None),
    ("application/vnd.oci.image.layer.v1.tar+gzip", Compression::Gzip),
    ("application/vnd.oci.image.layer.v1.tar+zstd", Compression::Zstd),
    ("application/vnd.docker.image.rootfs.diff.tar", Compression::None),
    ("application/vnd.docker.image.rootfs.diff.tar.gzip", Compression::Gzip),
    ("application/vnd.docker.image.rootfs.diff.tar.zstd", Compression::Zstd),
];

/// How large layers may become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Uncompressed bytes that the image may still have, and its limit.
    pub(crate) left: u64,
    pub(crate) limit: u64,
    /// Uncompressed bytes for each compressed byte.
    pub(crate) ratio: u64,
}

/// Reads the uncompressed bytes of a layer.
pub(crate) struct LayerReader {
    digest: Digest,
    decoder: Decoder,
    hash: Sha256,
    /// Bytes that may still be read, and the error of one more.
    left: u64,
    pub(crate) read: u64,
    limit: Limit,
    /// Why reading stopped, beside the `io::Error` that cannot carry it.
    stop: Rc<RefCell<Option<ImageError>>>,
}

#[derive(Clone, Copy)]
enum Limit {
    Total(u64),
    Ratio { compressed: u64, limit: u64 },
}

type Source = BufReader<Verified<File>>;

enum Decoder {
    None(Source),
    Gzip(Box<MultiGzDecoder<Source>>),
    Zstd(zstd::Decoder<'static, Source>),
}

impl LayerReader {
    pub(crate) fn open(layout: &Layout, descriptor: &Descriptor, growth: Growth) -> Result<Self, ImageError> {
        let digest = descriptor.digest;
        let compression = MEDIA_TYPES
            .iter()
            .find(|(name, _)| *name == descriptor.media_type)
            .ok_or_else(|| ImageError::MediaType { what: "layer", digest, media_type: descriptor.media_type.clone() })?
            .1;
        let file = layout.blob(&digest)?;
        let found = file.metadata().map_err(ImageError::io("read", layout.blob_path(&digest)))?.len();
        if found != descriptor.size {
            return Err(ImageError::WrongSize { digest, found, expected: descriptor.size });
        }
        let source = BufReader::with_capacity(64 << 10, Verified::new(file));
        let ratio = descriptor.size.saturating_mul(growth.ratio).max(MIN_GROWTH);
        let (left, limit) = match compression {
            Compression::Gzip | Compression::Zstd if ratio < growth.left => {
                (ratio, Limit::Ratio { compressed: descriptor.size, limit: ratio })
            }
            _ => (growth.left, Limit::Total(growth.limit)),
        };
        let decoder = match compression {
            Compression::None => Decoder::None(source),
            Compression::Gzip => Decoder::Gzip(Box::new(MultiGzDecoder::new(source))),
            Compression::Zstd => Decoder::Zstd(zstd_decoder(source).map_err(ImageError::io("decompress", layout.blob_path(&digest)))?),
        };
        Ok(Self { digest, decoder, hash: Sha256::new(), left, read: 0, limit, stop: Rc::default() })
    }

    /// Where to look for the reason when reading fails.
    pub(crate) fn stop(&self) -> Rc<RefCell<Option<ImageError>>> {
        self.stop.clone()
    }

    /// Reads what follows the archive, which is zeros, and verifies the layer: its blob's digest and size, and its `diff_id`.
    pub(crate) fn finish(mut self, descriptor: &Descriptor, diff_id: &Digest) -> Result<u64, ImageError> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = self.read(&mut buffer).map_err(|error| self.failed(&error))?;
            if length == 0 {
                break;
            }
            if buffer.iter().take(length).any(|byte| *byte != 0) {
                return Err(ImageError::Layer { layer: self.digest, reason: "bytes follow the end of its tar archive".into() });
            }
        }
        let layer = self.digest;
        let source = match self.decoder {
            Decoder::None(source) => source,
            Decoder::Gzip(decoder) => decoder.into_inner(),
            Decoder::Zstd(decoder) => decoder.finish(),
        };
        let (found, size) = source.into_inner().finish().map_err(|error| ImageError::Layer { layer, reason: error.to_string() })?;
        if size != descriptor.size {
            return Err(ImageError::WrongSize { digest: layer, found: size, expected: descriptor.size });
        }
        if found != layer {
            return Err(ImageError::WrongDigest { expected: layer, found });
        }
        let found = Digest(self.hash.finalize().into());
        if found != *diff_id {
            return Err(ImageError::WrongDiffId { layer, found, expected: *diff_id });
        }
        Ok(self.read)
    }

    fn failed(&self, error: &io::Error) -> ImageError {
        let stopped = self.stop.borrow_mut().take();
        stopped.unwrap_or_else(|| ImageError::Layer { layer: self.digest, reason: error.to_string() })
    }
}

fn zstd_decoder(source: Source) -> io::Result<zstd::Decoder<'static, Source>> {
    let mut decoder = zstd::Decoder::with_buffer(source)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
    Ok(decoder)
}

impl Read for LayerReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match &mut self.decoder {
            Decoder::None(source) => source.read(buffer)?,
            Decoder::Gzip(decoder) => decoder.read(buffer)?,
            Decoder::Zstd(decoder) => decoder.read(buffer)?,
        };
        let bytes = u64::try_from(length).unwrap_or(u64::MAX);
        let Some(left) = self.left.checked_sub(bytes) else {
            let layer = self.digest;
            let error = match self.limit {
                Limit::Total(limit) => ImageError::TooLarge { layer, limit },
                Limit::Ratio { compressed, limit } => ImageError::TooCompressed { layer, compressed, limit },
            };
            let text = error.to_string();
            *self.stop.borrow_mut() = Some(error);
            return Err(io::Error::other(text));
        };
        self.left = left;
        self.read += bytes;
        self.hash.update(buffer.get(..length).unwrap_or_default());
        Ok(length)
    }
}

/// Hashes and counts what is read.
struct Verified<R> {
    inner: R,
    hash: Sha256,
    size: u64,
}

impl<R: Read> Verified<R> {
    fn new(inner: R) -> Self {
        Self { inner, hash: Sha256::new(), size: 0 }
    }

    /// Reads the rest; returns the digest and size of everything.
    fn finish(mut self) -> io::Result<(Digest, u64)> {
        io::copy(&mut self, &mut io::sink())?;
        Ok((Digest(self.hash.finalize().into()), self.size))
    }
}

impl<R: Read> Read for Verified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.hash.update(buffer.get(..length).unwrap_or_default());
        self.size += u64::try_from(length).unwrap_or(u64::MAX);
        Ok(length)
    }
}
