//! Another node's HTTP API as a source.

use crate::source::{BlockStream, Failed, GenesisParts, Operations, Position, Source};
use bytes::Bytes;
use cowboy_api::{
    ApiError, Client,
    error::NOT_FOUND,
    follow::Frame,
    model::{self, SubmitResult},
};
use cowboy_types::{Blob, Hash};
use futures::{FutureExt as _, StreamExt as _, future::BoxFuture};
use std::{pin::pin, time::Duration};
use tokio::time::timeout;

/// How long the node has for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it has to say how far its chain is, and to begin a stream of blocks.
const SHORT_PATIENCE: Duration = Duration::from_secs(15);

/// A node at an HTTP address.
pub struct HttpSource {
    client: Client,
}

impl HttpSource {
    /// The node at this address, like `http://localhost:4000`.
    pub fn new(url: &str) -> Result<Self, ApiError> {
        Ok(Self { client: Client::new(url)? })
    }

    /// The bytes of an answer of one message: a length as 4 bytes big-endian, then that number of bytes.
    async fn one(&self, path: &str, max: usize) -> Result<Bytes, Failed> {
        let mut stream = pin!(self.client.stream(path).await.map_err(Failed::Away)?);
        let mut bytes = Vec::new();
        while let Some(more) = stream.next().await {
            bytes.extend(more.map_err(Failed::Away)?);
            if bytes.len() > max.saturating_add(4) {
                return Err(Failed::Malformed(format!("more than {max} bytes")));
            }
        }
        let cut = || Failed::Malformed("the answer is cut off".into());
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let is_whole = usize::try_from(u32::from_be_bytes(*length)).is_ok_and(|length| length == rest.len());
        if is_whole { Ok(Bytes::copy_from_slice(rest)) } else { Err(cut()) }
    }
}

async fn within<T>(time: Duration, answer: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    timeout(time, answer).await.unwrap_or(Err(Failed::Silent))
}

impl Source for HttpSource {
    fn name(&self) -> &str {
        self.client.url()
    }

    fn head(&self) -> BoxFuture<'_, Result<Position, Failed>> {
        // Heights and numbers differ only on dev chains, whose followers ask by height.
        let asked = async { self.client.height().await.map(|height| Position { number: height, height }).map_err(Failed::Away) };
        within(SHORT_PATIENCE, asked).boxed()
    }

    fn genesis(&self) -> BoxFuture<'_, Result<GenesisParts, Failed>> {
        let asked = async {
            let found: model::Genesis = self.client.get("/genesis").await.map_err(Failed::Away)?;
            let parts = Blob::new(found.config.0).zip(Blob::new(found.sharing.0));
            let (config, sharing) = parts.ok_or_else(|| Failed::Malformed("the genesis is too long".into()))?;
            Ok(GenesisParts { config, sharing })
        };
        within(PATIENCE, asked).boxed()
    }

    fn find(&self, block: Hash) -> BoxFuture<'_, Result<Position, Failed>> {
        let asked = async move {
            match self.client.block(&block.to_string()).await {
                Ok(found) => Ok(Position { number: found.header.number, height: found.height }),
                Err(error) if error.slug == NOT_FOUND.slug => Err(Failed::Missing),
                Err(error) => Err(Failed::Away(error)),
            }
        };
        within(SHORT_PATIENCE, asked).boxed()
    }

    fn blocks(&self, from: Position) -> BoxFuture<'_, Result<BlockStream, Failed>> {
        let asked = async move {
            let path = format!("/follow?from={}", from.height);
            let stream = self.client.stream(&path).await.map_err(Failed::Away)?.boxed();
            let frames = futures::stream::try_unfold((stream, Vec::new()), |(mut stream, mut buffer)| async move {
                loop {
                    if let Some(frame) = Frame::take(&mut buffer).map_err(|error| Failed::Malformed(error.to_string()))? {
                        return Ok(Some((frame, (stream, buffer))));
                    }
                    let Some(bytes) = stream.next().await else { return Ok(None) };
                    buffer.extend(bytes.map_err(Failed::Away)?);
                }
            });
            Ok(frames.boxed())
        };
        within(SHORT_PATIENCE, asked).boxed()
    }

    fn operations(&self, wanted: Operations, max_bytes: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
        let path = format!("/operations?size={}&start={}&count={}", wanted.size, wanted.start, wanted.most);
        within(PATIENCE, async move { self.one(&path, max_bytes).await }).boxed()
    }

    fn copy(&self, number: u64, max_bytes: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
        let path = format!("/copy?number={number}");
        within(PATIENCE, async move { self.one(&path, max_bytes).await }).boxed()
    }

    fn submit(&self, transactions: Vec<Vec<u8>>, _: u8) -> BoxFuture<'_, Result<Vec<SubmitResult>, Failed>> {
        async { self.client.submit_all(transactions).await.map_err(Failed::Away) }.boxed()
    }
}
