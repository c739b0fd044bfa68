//! What relays are asked, and how: over QUIC, one stream a request (decision 154).
//!
//! A message is a frame: its length in four bytes, big-endian, and its bytes. What is longer is sent as a body: frames, and an empty one at the end.

use commonware_codec::{DecodeExt, Encode};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, Text, record, variants};
use cowboy_volumes::Top;
use quinn::{RecvStream, SendStream};
use std::time::Duration;

/// What both ends call the protocol.
pub const ALPN: &[u8] = b"cowboy-relay/1";

/// What the TLS session exports for the signature of whoever opens a connection.
pub const EXPORTER: &[u8] = b"EXPORTER-cowboy-relay";

/// The longest frame.
pub const FRAME_BYTES: usize = 65_536;

/// The longest encoded request or answer.
const MESSAGE_BYTES: usize = 8_192;

/// How long the other end may take for a frame.
const PATIENCE: Duration = Duration::from_secs(30);

/// Requests that a connection has at once, at most.
pub const STREAMS: u32 = 32;

record! {
    /// Who opens a connection.
    pub struct Hello {
        /// The token, with its version; nobody's for a volume that everybody reads.
        pub token: Fixed<101>,
        /// The holder's signature over the session.
        pub signature: Fixed<65>,
    }
}

variants! {
    /// What a relay is asked about the volume of the connection.
    pub enum Request {
        /// Opens the connection: before everything else, once.
        1 Hello {
            /// Who opens it.
            hello: Hello,
        },
        /// Keeps a shard. The bytes follow as a body, and then the hash in a frame.
        2 PutShard {
            /// Its length.
            length: u64,
        },
        /// Sends a part of a shard as a slice.
        3 GetShard {
            /// The shard.
            shard: Hash,
            /// Where the part begins.
            start: u64,
            /// Its length, at most 65,536.
            length: u64,
        },
        /// Keeps a page of the tree of a partition. The bytes follow as a body.
        4 PutPage {
            /// The partition.
            partition: Hash,
            /// Bits of a tag that choose a page.
            depth: u8,
            /// The page's place.
            place: u16,
        },
        /// Sends a page.
        5 GetPage {
            /// The partition.
            partition: Hash,
            /// The hash of its node.
            page: Hash,
        },
        /// Sends the top of a partition's tree and the nodes of its pages.
        6 GetTree {
            /// The partition.
            partition: Hash,
            /// Its root.
            root: Hash,
        },
        /// Signs a new root, where the relay has all of it. The nodes of the pages follow as a body.
        7 AckRoot {
            /// The partition.
            partition: Hash,
            /// How often a volume of its id was created or handed over.
            generation: u64,
            /// How many roots the partition had, with the new one.
            sequence: u64,
            /// The root before it; zeros where there was none.
            old: Hash,
            /// The new one's top.
            top: Top,
            /// The last height at which the signature is to hold.
            until: u64,
        },
    }
}

variants! {
    /// What a relay answers.
    pub enum Answer {
        /// It is done.
        0 Done {},
        /// What was asked for follows as a body.
        1 Body {},
        /// It is refused.
        2 Refused {
            /// The reason, for people.
            reason: Text<REASON_BYTES>,
        },
        /// The new root is signed.
        3 Acked {
            /// The slot of the relay.
            slot: u8,
            /// The signature.
            signature: Fixed<64>,
        },
    }
}

/// Why a message cannot be sent or read.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(String),
    /// The other end is silent.
    #[error("the other end is silent")]
    Silent,
    /// A frame or a body is too long, or is none.
    #[error("the other end sent what is no message")]
    Malformed,
    /// The relay refuses.
    #[error("the relay refuses: {0}")]
    Refused(String),
}

async fn within<T, E: std::fmt::Display>(future: impl Future<Output = Result<T, E>>) -> Result<T, WireError> {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done.map_err(|error| WireError::Broken(error.to_string())),
        Err(_) => Err(WireError::Silent),
    }
}

/// Sends a frame.
///
/// # Errors
///
/// If the connection breaks, or the other end takes nothing.
pub async fn send_frame(stream: &mut SendStream, bytes: &[u8]) -> Result<(), WireError> {
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= FRAME_BYTES).ok_or(WireError::Malformed)?;
    within(async {
        stream.write_all(&length.to_be_bytes()).await?;
        stream.write_all(bytes).await
    })
    .await
}

/// Reads a frame of at most `most` bytes.
///
/// # Errors
///
/// If the connection breaks, the other end is silent, or the frame is longer.
pub async fn read_frame(stream: &mut RecvStream, most: usize) -> Result<Vec<u8>, WireError> {
    let mut length = [0; 4];
    within(stream.read_exact(&mut length)).await?;
    let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
    if length > most.min(FRAME_BYTES) {
        return Err(WireError::Malformed);
    }
    let mut bytes = vec![0; length];
    within(stream.read_exact(&mut bytes)).await?;
    Ok(bytes)
}

/// Sends a message.
///
/// # Errors
///
/// As [`send_frame`].
pub async fn send(stream: &mut SendStream, message: &impl Encode) -> Result<(), WireError> {
    send_frame(stream, &message.encode()).await
}

/// Reads a message.
///
/// # Errors
///
/// As [`read_frame`], and if it does not decode.
pub async fn read<T: DecodeExt<()>>(stream: &mut RecvStream) -> Result<T, WireError> {
    let bytes = read_frame(stream, MESSAGE_BYTES).await?;
    T::decode(bytes::Bytes::from(bytes)).map_err(|_| WireError::Malformed)
}

/// Sends a body: frames, then an empty one.
///
/// # Errors
///
/// As [`send_frame`].
pub async fn send_body(stream: &mut SendStream, bytes: &[u8]) -> Result<(), WireError> {
    for part in bytes.chunks(FRAME_BYTES) {
        send_frame(stream, part).await?;
    }
    send_frame(stream, &[]).await
}

/// Reads a body of at most `most` bytes.
///
/// # Errors
///
/// As [`read_frame`], and if it is longer.
pub async fn read_body(stream: &mut RecvStream, most: usize) -> Result<Vec<u8>, WireError> {
    let mut body = Vec::new();
    loop {
        let frame = read_frame(stream, FRAME_BYTES).await?;
        if frame.is_empty() {
            return Ok(body);
        }
        if body.len().saturating_add(frame.len()) > most {
            return Err(WireError::Malformed);
        }
        body.extend_from_slice(&frame);
    }
}

/// Reads the answer to a request, and refuses where the relay does.
///
/// # Errors
///
/// As [`read`], and if the relay refuses.
pub async fn answer(stream: &mut RecvStream) -> Result<Answer, WireError> {
    match read::<Answer>(stream).await? {
        Answer::Refused { reason } => Err(WireError::Refused(reason.to_string())),
        answer => Ok(answer),
    }
}

/// The longest reason of a refusal, in bytes.
pub const REASON_BYTES: usize = 256;

/// A refusal. A longer reason is cut.
pub fn refused(reason: impl std::fmt::Display) -> Answer {
    let mut bytes = 0;
    let fits = |letter: &char| {
        bytes += letter.len_utf8();
        bytes <= REASON_BYTES
    };
    let text: String = reason.to_string().chars().take_while(fits).collect();
    Answer::Refused { reason: Text::new(text).unwrap_or_default() }
}

/// The bytes of the longest slice: a part of 65,536 bytes, its nodes, and the way to it.
pub const SLICE_BYTES: usize = 65_536 + 64 * 64 + 64 * 64 + 8;

/// The longest body with the top and the nodes of all pages.
pub const TREE_BYTES: usize = 64 + 4_096 * 40;

/// Blocks for which a relay signs for what came and no root names, where it keeps that for `kept_for` blocks: until the commit it stays.
pub const fn signed_for(kept_for: u64) -> u64 {
    kept_for / 2
}
