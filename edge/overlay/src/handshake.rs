//! Who is at the other end of a connection. Each end sends its record and a signature over the TLS session's exporter (RFC 5705), so
//! a signature is worth nothing on another connection, and nothing is encrypted twice.

use crate::{
    identity::NodeKey,
    record::{MAX_TEXT_BYTES, Record},
    wire::{self, VERSION, WireError},
};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::{Blob, Hash, Text};
use quinn::Connection;
use std::time::Duration;
use tokio::time::timeout;

/// The exporter's label.
const LABEL: &[u8] = b"EXPORTER-cowboy-overlay-1";

/// The most bytes of a message of the handshake.
const MAX_HELLO_BYTES: usize = 1_024;

cowboy_types::record! {
    /// What each end says first.
    pub struct Hello {
        /// The version of the messages.
        pub version: u8,
        /// The sender's record.
        pub record: Text<MAX_TEXT_BYTES>,
        /// The sender's signature over the session.
        pub signature: Blob<64>,
    }
}

/// Which end of the connection signs.
#[derive(Clone, Copy)]
enum End {
    Dialer = 0,
    Listener = 1,
}

/// A handshake failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    #[error(transparent)]
    Wire(#[from] WireError),
    #[error("the connection ended: {0}")]
    Connection(#[from] quinn::ConnectionError),
    #[error("the handshake took too long")]
    Late,
    #[error("the peer speaks version {0} of the protocol, and this node version {VERSION}")]
    Version(u8),
    #[error("the peer is of another chain: its genesis block is {0}")]
    OtherChain(Hash),
    #[error("the peer does not prove that it is the node of its record")]
    Unproven,
    #[error("another node listens at this address")]
    OtherNode,
}

/// Proves this node's identity to the node that it dialled, and checks that it is the one of `expected`.
pub(crate) async fn dial(
    connection: &Connection,
    key: &NodeKey,
    own: &Record,
    expected: &Record,
    patience: Duration,
) -> Result<(), HandshakeError> {
    let exchange = async {
        let (mut sending, mut receiving) = connection.open_bi().await?;
        wire::send(&mut sending, &hello(connection, key, own, End::Dialer)?, patience).await?;
        // A stream that has ended was refused by the peer, which the answer says.
        let _ = sending.finish();
        let answer = wire::receive_only(&mut receiving, MAX_HELLO_BYTES, patience).await?;
        let found = check(connection, &answer, own.chain(), End::Listener)?;
        if found.id() == expected.id() { Ok(()) } else { Err(HandshakeError::OtherNode) }
    };
    timeout(patience, exchange).await.map_err(|_| HandshakeError::Late)?
}

/// The same with a node that dialled this one. Answers its record.
pub(crate) async fn accept(connection: &Connection, key: &NodeKey, own: &Record, patience: Duration) -> Result<Record, HandshakeError> {
    let exchange = async {
        let (mut sending, mut receiving) = connection.accept_bi().await?;
        let said = wire::receive_only(&mut receiving, MAX_HELLO_BYTES, patience).await?;
        let found = check(connection, &said, own.chain(), End::Dialer)?;
        wire::send(&mut sending, &hello(connection, key, own, End::Listener)?, patience).await?;
        // Fails only where the peer is gone, which the next stream shows.
        let _ = sending.finish();
        Ok(found)
    };
    timeout(patience, exchange).await.map_err(|_| HandshakeError::Late)?
}

fn hello(connection: &Connection, key: &NodeKey, own: &Record, end: End) -> Result<Vec<u8>, HandshakeError> {
    let signature = key.sign(&message(connection, own.chain(), end)?);
    let hello = Hello {
        version: VERSION,
        record: Text::new(own.to_string()).expect("a record is short"),
        signature: Blob::new(signature).expect("a signature has 64 bytes"),
    };
    Ok(hello.encode().to_vec())
}

fn check(connection: &Connection, said: &bytes::Bytes, chain: &Hash, end: End) -> Result<Record, HandshakeError> {
    let hello = Hello::decode(said.clone()).map_err(|error| WireError::Malformed(error.to_string()))?;
    if hello.version != VERSION {
        return Err(HandshakeError::Version(hello.version));
    }
    let record: Record = hello.record.parse().map_err(|_| HandshakeError::Unproven)?;
    if record.chain() != chain {
        return Err(HandshakeError::OtherChain(*record.chain()));
    }
    match record.verifies(&message(connection, chain, end)?, &hello.signature) {
        true => Ok(record),
        false => Err(HandshakeError::Unproven),
    }
}

/// What an end signs: the chain, which end it is, and what only the two ends of this TLS session know.
fn message(connection: &Connection, chain: &Hash, end: End) -> Result<Vec<u8>, HandshakeError> {
    let mut exporter = [0; 32];
    connection.export_keying_material(&mut exporter, LABEL, &chain.0).map_err(|_| HandshakeError::Unproven)?;
    Ok([LABEL, &chain.0, &[end as u8], &exporter].concat())
}
