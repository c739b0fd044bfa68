//! Where a full node gets its chain from.

use crate::scores::Offence;
use bytes::Bytes;
use cowboy_api::{ApiError, follow::Frame, model::SubmitResult};
use cowboy_types::{Blob, Hash};
use futures::{future::BoxFuture, stream::BoxStream};
use std::time::Duration;

/// The most bytes of a genesis: its configuration, and the same for the public half of the first dealing.
const MAX_GENESIS_PART: usize = 4 * 1024 * 1024;

cowboy_types::record! {
    /// A place in the chain.
    pub struct Position {
        /// How many blocks stand before the block, genesis included.
        pub number: u64,
        /// The block's height: the number, and what a dev chain skipped.
        pub height: u64,
    }
}

cowboy_types::record! {
    /// What a chain begins with. Who takes it checks that the genesis block made of it has the wanted hash.
    pub struct GenesisParts {
        /// The genesis configuration in its canonical encoding.
        pub config: Blob<MAX_GENESIS_PART>,
        /// The public half of the first dealing.
        pub sharing: Blob<MAX_GENESIS_PART>,
    }
}

cowboy_types::record! {
    /// Operations that made the state, in their order.
    pub struct Operations {
        /// How many there were when the block was final.
        pub size: u64,
        /// The first.
        pub start: u64,
        /// How many at most; 0 for the first alone, with the digests of all before it.
        pub most: u64,
    }
}

/// Blocks from a source, each with its certificate, as they become final.
pub type BlockStream = BoxStream<'static, Result<Frame, Failed>>;

/// A source does not answer as it should.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failed {
    /// It cannot be reached, or refuses to answer now.
    #[error("{0}")]
    Away(ApiError),
    /// It has not what was asked for.
    #[error("it has not what was asked for")]
    Missing,
    /// It did not answer in time.
    #[error("it does not answer in time")]
    Silent,
    /// Its answer is no message of the protocol.
    #[error("its answer is malformed: {0}")]
    Malformed(String),
}

impl Failed {
    /// A source that cannot be reached, and why.
    pub fn away(reason: impl std::fmt::Display) -> Self {
        Self::Away(ApiError::of_fault(cowboy_api::error::UNREACHABLE).with(serde_json::json!({ "reason": reason.to_string() })))
    }

    /// What counts against the source.
    pub fn offence(&self) -> Option<Offence> {
        match self {
            Self::Away(_) => Some(Offence::Away),
            Self::Missing => None,
            Self::Silent => Some(Offence::Silent),
            Self::Malformed(_) => Some(Offence::Malformed),
        }
    }
}

/// A node that serves its chain. Nothing that it says is believed before it is verified.
pub trait Source: Send + Sync {
    /// The source's name in the log and in scores.
    fn name(&self) -> &str;

    /// The address by which the source is scored beside its name; `None` where its name is enough.
    fn host(&self) -> Option<String> {
        None
    }

    /// Ends the connection to the source, where there is one.
    fn close(&self) {}

    /// How long a packet takes to the source and back, where a connection measures it.
    fn round_trip(&self) -> Option<Duration> {
        None
    }

    /// The newest final block that the source says it has.
    fn head(&self) -> BoxFuture<'_, Result<Position, Failed>>;

    /// What the source's chain begins with.
    fn genesis(&self) -> BoxFuture<'_, Result<GenesisParts, Failed>>;

    /// Where the final block of this hash is.
    fn find(&self, block: Hash) -> BoxFuture<'_, Result<Position, Failed>>;

    /// The blocks from this one on, as they become final, without an end.
    fn blocks(&self, from: Position) -> BoxFuture<'_, Result<BlockStream, Failed>>;

    /// Operations with their proof, at most this many bytes.
    fn operations(&self, wanted: Operations, max_bytes: usize) -> BoxFuture<'_, Result<Bytes, Failed>>;

    /// The copy of a block with its receipts, at most this many bytes.
    fn copy(&self, number: u64, max_bytes: usize) -> BoxFuture<'_, Result<Bytes, Failed>>;

    /// Hands transactions on toward a proposer. Answers the result of each, in order.
    fn submit(&self, transactions: Vec<Vec<u8>>, hops: u8) -> BoxFuture<'_, Result<Vec<SubmitResult>, Failed>>;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    /// A source with a name and a host that answers nothing.
    pub(crate) struct Scripted {
        name: String,
        host: String,
        is_closed: AtomicBool,
    }

    pub(crate) fn source_on(name: &str, host: &str) -> Arc<Scripted> {
        Arc::new(Scripted { name: name.into(), host: host.into(), is_closed: AtomicBool::new(false) })
    }

    impl Scripted {
        pub(crate) fn is_closed(&self) -> bool {
            self.is_closed.load(Ordering::Relaxed)
        }
    }

    fn missing<T: Send + 'static>() -> BoxFuture<'static, Result<T, Failed>> {
        std::future::ready(Err(Failed::Missing)).boxed()
    }

    impl Source for Scripted {
        fn name(&self) -> &str {
            &self.name
        }

        fn host(&self) -> Option<String> {
            Some(self.host.clone())
        }

        fn close(&self) {
            self.is_closed.store(true, Ordering::Relaxed);
        }

        fn head(&self) -> BoxFuture<'_, Result<Position, Failed>> {
            missing()
        }

        fn genesis(&self) -> BoxFuture<'_, Result<GenesisParts, Failed>> {
            missing()
        }

        fn find(&self, _: Hash) -> BoxFuture<'_, Result<Position, Failed>> {
            missing()
        }

        fn blocks(&self, _: Position) -> BoxFuture<'_, Result<BlockStream, Failed>> {
            missing()
        }

        fn operations(&self, _: Operations, _: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
            missing()
        }

        fn copy(&self, _: u64, _: usize) -> BoxFuture<'_, Result<Bytes, Failed>> {
            missing()
        }

        fn submit(&self, _: Vec<Vec<u8>>, _: u8) -> BoxFuture<'_, Result<Vec<SubmitResult>, Failed>> {
            missing()
        }
    }
}
