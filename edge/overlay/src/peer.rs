//! A peer as a source.

use crate::{
    record::{NodeId, Record},
    source::{BlockStream, Failed, GenesisParts, Operations, Position, Source},
    wire::{self, Request, Status},
};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use cowboy_api::{
    follow::{Frame, MAX_FRAME_BYTES},
    model::{MAX_SUBMISSION_TRANSACTIONS, SubmitResult},
};
use cowboy_serve::Client;
use cowboy_types::{Blob, Hash, List};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use quinn::{Connection, RecvStream, VarInt};
use std::time::Duration;
use tokio::time::timeout;

/// How long a peer has for an answer to begin, and for each part of it.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a peer may take to open a stream: its streams may all be in use.
const OPEN_TIME: Duration = Duration::from_secs(10);

/// The most bytes of a genesis.
const MAX_GENESIS_BYTES: usize = 8 * 1024 * 1024 + 64;

/// The most bytes of the results of a submission.
const MAX_RESULTS_BYTES: usize = MAX_SUBMISSION_TRANSACTIONS * 4 * 1024;

/// The code with which a connection is closed.
pub(crate) const CLOSED: VarInt = VarInt::from_u32(0);

/// A peer that is connected and has proven who it is.
pub(crate) struct Peer {
    name: String,
    id: NodeId,
    connection: Connection,
}

impl Peer {
    pub(crate) fn new(record: &Record, connection: Connection) -> Self {
        Self { name: name_of(&record.id()), id: record.id(), connection }
    }

    pub(crate) fn id(&self) -> &NodeId {
        &self.id
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends a request. Answers the stream where the peer has what is asked for.
    async fn open(&self, request: &Request) -> Result<RecvStream, Failed> {
        let opened = timeout(OPEN_TIME, self.connection.open_bi()).await.map_err(|_| Failed::Silent)?;
        let (mut sending, mut receiving) = opened.map_err(Failed::away)?;
        wire::ask(&mut sending, request, PATIENCE).await?;
        match wire::status(&mut receiving, PATIENCE).await? {
            Status::Ok => Ok(receiving),
            Status::Busy => Err(Failed::away("the peer is busy")),
            Status::Missing => Err(Failed::Missing),
        }
    }

    /// The only message of an answer.
    async fn one(&self, request: &Request, max: usize) -> Result<Bytes, Failed> {
        let mut stream = self.open(request).await?;
        Ok(wire::receive_only(&mut stream, max, PATIENCE).await?)
    }
}

/// A node's name in the log.
pub(crate) fn name_of(id: &NodeId) -> String {
    format!("peer {}", hex::encode(&id[..8]))
}

fn malformed(error: impl std::fmt::Display) -> Failed {
    Failed::Malformed(error.to_string())
}

impl Source for Peer {
    fn name(&self) -> &str {
        &self.name
    }

    fn host(&self) -> Option<String> {
        let ip = self.connection.remote_address().ip();
        // Nodes of one machine are not each other's fault.
        (!ip.is_loopback()).then(|| Client::from(ip).to_string())
    }

    fn close(&self) {
        self.connection.close(CLOSED, b"banned");
    }

    fn round_trip(&self) -> Option<Duration> {
        Some(self.connection.rtt())
    }

    fn head(&self) -> BoxFuture<'_, Result<Position, Failed>> {
        async { Position::decode(self.one(&Request::Head, 16).await?).map_err(malformed) }.boxed()
    }

    fn genesis(&self) -> BoxFuture<'_, Result<GenesisParts, Failed>> {
        async { GenesisParts::decode(self.one(&Request::Genesis, MAX_GENESIS_BYTES).await?).map_err(malformed) }.boxed()
    }

    fn find(&self, block: Hash) -> BoxFuture<'_, Result<Position, Failed>> {
        async move { Position::decode(self.one(&Request::Find { block }, 16).await?).map_err(malformed) }.boxed()
    }

    fn blocks(&self, from: Position) -> BoxFuture<'_, Result<BlockStream, Failed>> {
        async move {
            let stream = self.open(&Request::Blocks { from: from.number }).await?;
            let frames = futures::stream::try_unfold(stream, |mut stream| async move {
                let Some(bytes) = wire::receive(&mut stream, MAX_FRAME_BYTES, PATIENCE).await? else { return Ok(None) };
                Ok(Some((Frame::from_body(&bytes).map_err(malformed)?, stream)))
            });
            Ok(frames.boxed())
        }
        .boxed()
    }

    fn operations(&self, wanted: Operations, max_bytes: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
        async move { self.one(&Request::Operations { wanted }, max_bytes).await }.boxed()
    }

    fn copy(&self, number: u64, max_bytes: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
        async move { self.one(&Request::Copy { number }, max_bytes).await }.boxed()
    }

    fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8) -> BoxFuture<'_, Result<Vec<SubmitResult>, Failed>> {
        async move {
            let count = transactions.len();
            let blobs = transactions.into_iter().map(Blob::new).collect::<Option<Vec<_>>>().and_then(List::new);
            let request = Request::Submit { hops, transactions: blobs.ok_or_else(|| malformed("more than a request holds"))? };
            let answer = self.one(&request, MAX_RESULTS_BYTES).await?;
            let results: Vec<SubmitResult> = serde_json::from_slice(&answer).map_err(malformed)?;
            if results.len() == count { Ok(results) } else { Err(malformed("another number of results")) }
        }
        .boxed()
    }
}
