//! Messages of the overlay. Each request is a QUIC stream of its own.
//!
//! A message is its length as 4 bytes big-endian, then that many bytes. The requester sends one message and ends its half of the
//! stream. The answer is one byte, [`Status`], and where that is `Ok` one message, or for blocks one message after another: the
//! frames of `/follow`, without an end.

use crate::source::{Failed, Operations};
use bytes::{Bytes, BytesMut};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_api::model::{MAX_SUBMISSION_BYTES, MAX_SUBMISSION_TRANSACTIONS};
use cowboy_types::{Blob, Hash, List};
use quinn::{ReadError, RecvStream, SendStream, VarInt, WriteError};
use std::time::Duration;
use tokio::time::timeout;

/// The version of these messages, which both ends name in their handshake.
pub const VERSION: u8 = 1;

/// The most bytes of a request.
pub const MAX_REQUEST_BYTES: usize = MAX_SUBMISSION_BYTES + 64 * 1024;

/// What one read takes from a stream, and one write gives to it.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bytes a second that a peer takes or gives at least while a message is on its way.
const MIN_BYTES_PER_SECOND: usize = 64 * 1024;

cowboy_types::variants! {
    /// What a peer asks for.
    pub enum Request {
        /// The newest final block, as [`crate::Position`].
        1 Head,
        /// What the chain begins with, as [`crate::GenesisParts`].
        2 Genesis,
        /// Blocks from this number on, without an end.
        3 Blocks {
            /// The first block's number.
            from: u64,
        },
        /// Operations of the state, with their proof.
        4 Operations {
            /// The range.
            wanted: Operations,
        },
        /// A block with its receipts.
        5 Copy {
            /// The block's number.
            number: u64,
        },
        /// Transactions for the mempool, in their canonical encoding. The answer is a JSON list of submit results.
        6 Submit {
            /// How often they may be handed on.
            hops: u8,
            /// The transactions.
            transactions: List<Blob<MAX_SUBMISSION_BYTES>, MAX_SUBMISSION_TRANSACTIONS>,
        },
        /// Where the final block of this hash is, as [`crate::Position`].
        7 Find {
            /// The block's hash.
            block: Hash,
        },
    }
}

/// The first byte of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The answer follows.
    Ok = 0,
    /// The node cannot answer now.
    Busy = 1,
    /// The node has not what was asked for.
    Missing = 2,
}

impl Status {
    fn of(byte: u8) -> Option<Self> {
        [Self::Ok, Self::Busy, Self::Missing].into_iter().find(|status| *status as u8 == byte)
    }
}

/// A stream ended, or its bytes are no message.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WireError {
    /// The connection or the stream ended.
    #[error("the connection ended: {0}")]
    Ended(String),
    /// Nothing came, or was taken, in time.
    #[error("nothing came in time")]
    Late,
    /// A message is longer than any of its kind.
    #[error("a message of {length} bytes is claimed, and at most {max} are allowed")]
    TooLarge {
        /// Its length in bytes.
        length: usize,
        /// The most bytes.
        max: usize,
    },
    /// The bytes are no message.
    #[error("the bytes are no message: {0}")]
    Malformed(String),
    /// There is no memory for the message.
    #[error("other messages fill the memory that is reserved for them")]
    Crowded,
}

impl From<WireError> for Failed {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Ended(reason) => Self::away(reason),
            WireError::Late => Self::Silent,
            error @ WireError::Crowded => Self::away(error),
            error @ (WireError::TooLarge { .. } | WireError::Malformed(_)) => Self::Malformed(error.to_string()),
        }
    }
}

impl From<ReadError> for WireError {
    fn from(error: ReadError) -> Self {
        Self::Ended(error.to_string())
    }
}

impl From<WriteError> for WireError {
    fn from(error: WriteError) -> Self {
        Self::Ended(error.to_string())
    }
}

/// The time that a message of this length has on its way, when nothing of it may stand still for longer than `patience`.
fn time_of(length: usize, patience: Duration) -> Duration {
    let seconds = u64::try_from(length / MIN_BYTES_PER_SECOND).unwrap_or(u64::MAX);
    patience.saturating_add(Duration::from_secs(seconds))
}

/// The next message of a stream, at most `max` bytes; `None` at the stream's end. The first byte may take any time: who waits for it
/// bounds that. Memory grows with the bytes that came, not with the length that is claimed.
pub async fn receive(stream: &mut RecvStream, max: usize, patience: Duration) -> Result<Option<Bytes>, WireError> {
    receive_held(stream, max, patience, |_| true).await
}

/// The same; `has_room` is asked with the bytes of each part that came, before the part is kept.
async fn receive_held(
    stream: &mut RecvStream,
    max: usize,
    patience: Duration,
    mut has_room: impl FnMut(usize) -> bool,
) -> Result<Option<Bytes>, WireError> {
    let Some(first) = stream.read_chunk(1, true).await? else { return Ok(None) };
    let rest = async {
        let mut length = [0; 4];
        length[0] = first.bytes.first().copied().unwrap_or_default();
        stream.read_exact(&mut length[1..]).await.map_err(|error| WireError::Ended(error.to_string()))?;
        usize::try_from(u32::from_be_bytes(length)).map_err(|_| WireError::TooLarge { length: usize::MAX, max })
    };
    let length = timeout(patience, rest).await.map_err(|_| WireError::Late)??;
    if length > max {
        return Err(WireError::TooLarge { length, max });
    }
    let mut message = BytesMut::new();
    let body = async {
        while message.len() < length {
            let wanted = (length - message.len()).min(CHUNK_BYTES);
            let chunk = timeout(patience, stream.read_chunk(wanted, true)).await.map_err(|_| WireError::Late)??;
            let chunk = chunk.ok_or_else(|| WireError::Ended("in the middle of a message".into()))?;
            if !has_room(chunk.bytes.len()) {
                return Err(WireError::Crowded);
            }
            message.extend_from_slice(&chunk.bytes);
        }
        Ok::<_, WireError>(())
    };
    timeout(time_of(length, patience), body).await.map_err(|_| WireError::Late)??;
    Ok(Some(message.freeze()))
}

/// The only message of a stream.
pub async fn receive_only(stream: &mut RecvStream, max: usize, patience: Duration) -> Result<Bytes, WireError> {
    only_held(stream, max, patience, |_| true).await
}

/// The same; `has_room` as in [`receive_held`].
async fn only_held(
    stream: &mut RecvStream,
    max: usize,
    patience: Duration,
    has_room: impl FnMut(usize) -> bool,
) -> Result<Bytes, WireError> {
    let message = receive_held(stream, max, patience, has_room).await?.ok_or_else(|| WireError::Malformed("an empty stream".into()))?;
    match timeout(patience, stream.read_chunk(1, true)).await.map_err(|_| WireError::Late)?? {
        None => Ok(message),
        Some(_) => Err(WireError::Malformed("bytes after the message".into())),
    }
}

/// Sends bytes as they are. A peer that does not take them in time is an error.
pub async fn send_raw(stream: &mut SendStream, bytes: &[u8], patience: Duration) -> Result<(), WireError> {
    let write = async {
        for chunk in bytes.chunks(CHUNK_BYTES) {
            timeout(patience, stream.write_all(chunk)).await.map_err(|_| WireError::Late)??;
        }
        Ok::<_, WireError>(())
    };
    let sent = timeout(time_of(bytes.len(), patience), write).await.unwrap_or(Err(WireError::Late));
    if sent.is_err() {
        // Fails only where the stream has ended.
        let _ = stream.reset(VarInt::from_u32(0));
    }
    sent
}

/// Sends a message.
pub async fn send(stream: &mut SendStream, message: &[u8], patience: Duration) -> Result<(), WireError> {
    let length = u32::try_from(message.len()).map_err(|_| WireError::TooLarge { length: message.len(), max: MAX_LENGTH })?;
    send_raw(stream, &length.to_be_bytes(), patience).await?;
    send_raw(stream, message, patience).await
}

/// The longest message that has a length.
const MAX_LENGTH: usize = u32::MAX as usize;

/// Sends a request and ends this half of the stream.
pub async fn ask(stream: &mut SendStream, request: &Request, patience: Duration) -> Result<(), WireError> {
    send(stream, &request.encode(), patience).await?;
    stream.finish().map_err(|error| WireError::Ended(error.to_string()))
}

/// The request on a stream. `has_room` is asked with the bytes of each part that came, before the part is kept.
pub async fn asked(stream: &mut RecvStream, patience: Duration, has_room: impl FnMut(usize) -> bool) -> Result<Request, WireError> {
    // A stream without a request holds one of the few that the peer has.
    let message = timeout(patience, only_held(stream, MAX_REQUEST_BYTES, patience, has_room)).await.map_err(|_| WireError::Late)??;
    Request::decode(message).map_err(|error| WireError::Malformed(error.to_string()))
}

/// The status of an answer.
pub async fn status(stream: &mut RecvStream, patience: Duration) -> Result<Status, WireError> {
    let mut byte = [0];
    let read = timeout(patience, stream.read_exact(&mut byte)).await.map_err(|_| WireError::Late)?;
    read.map_err(|error| WireError::Ended(error.to_string()))?;
    Status::of(byte[0]).ok_or_else(|| WireError::Malformed(format!("status {}", byte[0])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every request comes back as it went, and none that is cut off, too long or of an unknown kind.
    #[test]
    fn requests_are_decoded_strictly() {
        let transactions = List::new(vec![Blob::new(vec![1, 2, 3]).expect("it is short")]).expect("it is one");
        let requests = [
            Request::Head,
            Request::Genesis,
            Request::Blocks { from: 7 },
            Request::Operations { wanted: Operations { size: 9, start: 3, most: 64 } },
            Request::Copy { number: u64::MAX },
            Request::Submit { hops: 3, transactions },
            Request::Find { block: Hash([5; 32]) },
        ];
        for request in requests {
            let bytes = request.encode();
            assert_eq!(Request::decode(bytes.clone()).ok(), Some(request.clone()));
            assert!((0..bytes.len()).all(|length| Request::decode(bytes.slice(..length)).is_err()), "{request:?} cut off");
            assert!(Request::decode(Bytes::from([&bytes[..], &[0]].concat())).is_err(), "{request:?} and more");
        }
        for number in (0..=255u8).filter(|number| !(1..=7).contains(number)) {
            assert!(Request::decode(Bytes::from(vec![number; 40])).is_err(), "{number}");
        }
        assert_eq!((Status::of(0), Status::of(2), Status::of(3)), (Some(Status::Ok), Some(Status::Missing), None));
    }

    /// A list that claims more transactions than it has reserves no memory for them.
    #[test]
    fn a_lying_count_is_refused() {
        for count in [&[200u8, 1][..], &[0xff, 0xff, 0xff, 0xff, 0x0f]] {
            assert!(Request::decode(Bytes::from([&[6, 3][..], count].concat())).is_err());
        }
    }
}
