//! Checksums of a body: those that a request says, in its head or behind the body, have to be those of what came.

use crate::fault::Fault;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use hyper::HeaderMap;
use s3s::TrailingHeaders;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Crc32, Crc32c, Crc64Nvme, Md5, Sha1, Sha256};
use s3s::dto::Checksum;

/// The header that says which checksum comes behind the body.
const TRAILER: &str = "x-amz-trailer";

/// The names of checksums in headers, behind this.
const PREFIX: &str = "x-amz-checksum-";

/// Checksums of a body as it comes.
pub(super) struct Sums {
    md5: Md5,
    hasher: ChecksumHasher,
    /// What the head says.
    said: Checksum,
    said_md5: Option<String>,
}

/// The checksums, each with its name.
fn named(sums: &Checksum) -> [(&'static str, Option<&String>); 5] {
    [
        ("crc32", sums.checksum_crc32.as_ref()),
        ("crc32c", sums.checksum_crc32c.as_ref()),
        ("crc64nvme", sums.checksum_crc64nvme.as_ref()),
        ("sha1", sums.checksum_sha1.as_ref()),
        ("sha256", sums.checksum_sha256.as_ref()),
    ]
}

impl Sums {
    /// For a body of which its request says this.
    pub(super) fn new(said: Checksum, said_md5: Option<String>, headers: &HeaderMap) -> Self {
        let behind = headers.get_all(TRAILER).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        let behind: Vec<String> = behind.map(|name| name.trim().to_ascii_lowercase()).collect();
        let wants =
            |name: &str, said: Option<&String>| said.is_some() || behind.iter().any(|behind| behind.strip_prefix(PREFIX) == Some(name));
        let [crc32, crc32c, crc64nvme, sha1, sha256] = named(&said).map(|(name, said)| wants(name, said));
        let hasher = ChecksumHasher {
            crc32: crc32.then(Crc32::new),
            crc32c: crc32c.then(Crc32c::new),
            crc64nvme: crc64nvme.then(Crc64Nvme::new),
            sha1: sha1.then(Sha1::new),
            sha256: sha256.then(Sha256::new),
        };
        Self { md5: Md5::new(), hasher, said, said_md5 }
    }

    /// Takes more of the body.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.md5.update(bytes);
        self.hasher.update(bytes);
    }

    /// The MD5 of the body, in hex, where all that was said of it holds.
    pub(super) fn finish(self, behind: Option<&TrailingHeaders>) -> Result<String, Fault> {
        let (found, md5) = (self.hasher.finalize(), self.md5.finalize());
        if self.said_md5.is_some_and(|said| said != BASE64_STANDARD.encode(md5)) {
            return Err(Fault::Digest("MD5"));
        }
        let behind = behind.and_then(TrailingHeaders::take).unwrap_or_default();
        for ((name, found), (_, said)) in named(&found).into_iter().zip(named(&self.said)) {
            let header = behind.get(format!("{PREFIX}{name}"));
            let differs = |said: &[u8]| found.is_none_or(|found| found.as_bytes() != said);
            // The head may say that it comes behind the body, and then it has to.
            let is_missing = found.is_some() && said.is_none() && header.is_none();
            if is_missing || said.is_some_and(|said| differs(said.as_bytes())) || header.is_some_and(|said| differs(said.as_bytes())) {
                return Err(Fault::Digest(name));
            }
        }
        Ok(hex::encode(md5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body whose checksum is another than its head says is refused, whichever it is; without one, the MD5 is told.
    #[test]
    fn checksums_hold() {
        let finish = |said: Checksum, md5: Option<&str>, body: &[u8]| {
            let mut sums = Sums::new(said, md5.map(str::to_owned), &HeaderMap::new());
            body.chunks(3).for_each(|part| sums.update(part));
            sums.finish(None)
        };
        let none = Checksum::default;
        assert_eq!(finish(none(), None, b"hello").ok().as_deref(), Some("5d41402abc4b2a76b9719d911017c592"));
        assert!(finish(none(), Some("XUFAKrxLKna5cZ2REBfFkg=="), b"hello").is_ok());
        assert!(matches!(finish(none(), Some("XUFAKrxLKna5cZ2REBfFkg=="), b"hellp"), Err(Fault::Digest("MD5"))));
        let crc = || Checksum { checksum_crc32: Some("NhCmhg==".into()), ..none() };
        assert!(finish(crc(), None, b"hello").is_ok());
        assert!(matches!(finish(crc(), None, b"hellp"), Err(Fault::Digest("crc32"))));
        let mut headers = HeaderMap::new();
        headers.insert(TRAILER, hyper::header::HeaderValue::from_static("x-amz-checksum-crc32"));
        assert!(matches!(Sums::new(none(), None, &headers).finish(None), Err(Fault::Digest("crc32"))), "what should come behind does not");
        let sha = Checksum { checksum_sha256: Some("AAAA".into()), ..none() };
        assert!(matches!(finish(sha, None, b"hello"), Err(Fault::Digest("sha256"))));
    }
}
