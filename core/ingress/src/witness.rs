//! An answer, with proofs of all that it follows from.
//!
//! The encoding is that of every record of the protocol: the fields in order, numbers big-endian, lengths before lists and
//! byte strings, nothing left out and nothing behind. There is one encoding of a witness, and the decoder takes no other.

use crate::answer::Answer;
use bytes::Bytes;
use commonware_codec::Decode as _;
use cowboy_light::Anchor;
use cowboy_state::StateKey;
use cowboy_types::{
    Hash,
    wire::{Blob, List, Text},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use std::collections::BTreeMap;

/// The version of the format.
pub const WITNESS_VERSION: u8 = 1;

/// What HTTP calls a witness.
pub const CONTENT_TYPE: &str = "application/vnd.cowboy.witness";

/// The most bytes of a witness.
pub const MAX_WITNESS_BYTES: usize = 64 * 1024 * 1024;

/// The most records that one answer may follow from.
pub const MAX_ENTRIES: usize = 4_096;

/// The most bytes of a record, with its readable key.
pub const MAX_RECORD_BYTES: usize = 4 * 1024 * 1024;

/// The most bytes of a proof: one of absence carries the record of a neighbour.
pub const MAX_PROOF_BYTES: usize = MAX_RECORD_BYTES + 16 * 1024;

/// The most bytes of a request's envelope.
pub const MAX_REQUEST_BYTES: usize = 1024 * 1024;

/// The most bytes of a body, and of a header's value.
pub const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

cowboy_types::record! {
    /// One header of an answer.
    pub struct Line {
        /// Its name, lower case.
        pub name: Text<256>,
        /// Its value.
        pub value: Blob<65_536>,
    }
}

cowboy_types::record! {
    /// What is in the state under one key, proven.
    pub struct Entry {
        /// The key's digest.
        pub key: Hash,
        /// The record as the store keeps it; none where there is none.
        pub value: Option<Blob<MAX_RECORD_BYTES>>,
        /// The proof of that, against the state's root.
        pub proof: Blob<MAX_PROOF_BYTES>,
    }
}

cowboy_types::record! {
    /// An answer, with proofs of all that it follows from.
    pub struct Witness {
        /// [`WITNESS_VERSION`].
        pub version: u8,
        /// The name that was asked for.
        pub name: Text<256>,
        /// The request as the handler got it: canonical CBOR (004 §8.1).
        pub request: Blob<MAX_REQUEST_BYTES>,
        /// The answer's status.
        pub status: u16,
        /// Its headers, ascending by name.
        pub headers: List<Line, 1_024>,
        /// Its body.
        pub body: Blob<MAX_BODY_BYTES>,
        /// The header of the block on whose state the handler ran, and what shows that it is final.
        pub anchor: Anchor,
        /// Every record that name, manifest and handler read, ascending by key.
        pub entries: List<Entry, MAX_ENTRIES>,
    }
}

impl Witness {
    /// A witness of an answer; `None` where something in it is longer than the format allows.
    pub fn new(name: &str, request: Bytes, answer: &Answer, anchor: Anchor, entries: BTreeMap<StateKey, Entry>) -> Option<Self> {
        let mut lines: BTreeMap<&str, Vec<&HeaderValue>> = BTreeMap::new();
        for (name, value) in &answer.headers {
            lines.entry(name.as_str()).or_default().push(value);
        }
        let line = |name: &str, value: &HeaderValue| {
            Some(Line { name: Text::new(name)?, value: Blob::new(Bytes::copy_from_slice(value.as_bytes()))? })
        };
        let lines = lines.iter().flat_map(|(name, values)| values.iter().map(|value| line(name, value))).collect::<Option<Vec<_>>>()?;
        Some(Self {
            version: WITNESS_VERSION,
            name: Text::new(name)?,
            request: Blob::new(request)?,
            status: answer.status.as_u16(),
            headers: List::new(lines)?,
            body: Blob::new(answer.shown_body())?,
            anchor,
            entries: List::new(entries.into_values().collect())?,
        })
    }

    /// The witness of these bytes, and of no others.
    pub fn read(bytes: Bytes) -> Result<Self, commonware_codec::Error> {
        if bytes.len() > MAX_WITNESS_BYTES {
            return Err(commonware_codec::Error::InvalidLength(bytes.len()));
        }
        Self::decode_cfg(bytes, &())
    }

    /// The answer that it claims, where that is one in HTTP.
    pub fn answer(&self) -> Option<Answer> {
        let status = StatusCode::from_u16(self.status).ok()?;
        let mut headers = HeaderMap::new();
        for line in self.headers.iter() {
            let name = HeaderName::from_bytes(line.name.as_bytes()).ok().filter(|name| name.as_str() == &*line.name)?;
            headers.append(name, HeaderValue::from_bytes(line.value.bytes()).ok()?);
        }
        Some(Answer { status, headers, body: self.body.bytes().clone() })
    }
}
