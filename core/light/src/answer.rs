//! What ties a proof to a finalized block: headers from the proven block's to one that has a certificate.

use cowboy_types::{
    Hash, Header,
    wire::{Blob, List},
};

/// The most headers between a proven block and the next one with a certificate of its own.
pub const MAX_HEADERS: usize = 256;

/// The most bytes of a certificate.
pub const MAX_CERTIFICATE_BYTES: usize = 1_024;

cowboy_types::record! {
    /// The headers of a block and of its successors up to one that was finalized by a certificate of its own.
    pub struct Anchor {
        /// The proven block's header, then each successor's.
        pub headers: List<Header, MAX_HEADERS>,
        /// The finalization of the last header.
        pub certificate: Blob<MAX_CERTIFICATE_BYTES>,
    }
}

/// Why headers do not tie a proof to a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// There is no header.
    Empty,
    /// A header does not follow the one before it.
    Broken {
        /// Its place, from 0.
        place: usize,
    },
}

impl Anchor {
    /// The proven block's header and the digest that the certificate must be of, if each header names the one before it.
    pub fn check(&self) -> Result<(&Header, Hash), Mismatch> {
        let (first, rest) = self.headers.split_first().ok_or(Mismatch::Empty)?;
        let mut digest = first.digest();
        for (place, header) in (1..).zip(rest) {
            if header.parent != digest {
                return Err(Mismatch::Broken { place });
            }
            digest = header.digest();
        }
        Ok((first, digest))
    }
}
