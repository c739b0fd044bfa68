//! Blocks of a source, read while the node works on those before them.

use super::RUN_BYTES;
use cowboy_api::follow::Frame;
use cowboy_node::follow::MAX_RUN;
use cowboy_overlay::{BlockStream, Failed};
use futures::StreamExt as _;
use std::sync::Arc;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::JoinSet,
};

/// What was read, and its part of the room.
type Read = (Result<Frame, Failed>, OwnedSemaphorePermit);

/// The same blocks, read by a task of its own, as many as a run has: what came while the node worked is the next run
/// ([decision 695](../../../../../docs/decisions/0695-runs-are-read-ahead.md)). The task ends when the stream is dropped.
pub(super) fn ahead(stream: BlockStream) -> BlockStream {
    let (sender, receiver) = mpsc::channel(MAX_RUN);
    let mut reading = JoinSet::new();
    reading.spawn(read(stream, sender));
    let frames = futures::stream::try_unfold((receiver, reading), |(mut receiver, reading)| async move {
        match receiver.recv().await {
            Some((next, _room)) => Ok::<_, Failed>(Some((next?, (receiver, reading)))),
            None => Ok(None),
        }
    });
    frames.boxed()
}

/// Reads for as long as there is room and somebody takes the blocks.
async fn read(mut stream: BlockStream, sender: mpsc::Sender<Read>) {
    let room = Arc::new(Semaphore::new(RUN_BYTES));
    while let Some(next) = stream.next().await {
        let bytes = next.as_ref().map_or(0, |frame| frame.block.len().saturating_add(frame.certificate.len()));
        // A block that is larger than all of the room is read alone.
        let bytes = u32::try_from(bytes.min(RUN_BYTES)).expect("a run has a few megabytes");
        let Ok(held) = room.clone().acquire_many_owned(bytes).await else { return };
        if sender.send((next, held)).await.is_err() {
            return;
        }
    }
}
