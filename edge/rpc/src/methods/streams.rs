//! Blocks as they come: `/ws` for people and pages, `/follow` for followers.

use crate::{
    App,
    limits::Peer,
    notices::{self, Heard},
    read,
    refusal::{Asked, Refusal},
};
use axum::{
    body::{Body, Bytes},
    extract::{
        State, WebSocketUpgrade,
        ws::{Message, WebSocket, rejection::WebSocketUpgradeRejection},
    },
    http::header,
    response::{IntoResponse as _, Response},
};
use cowboy_api::{
    ApiError,
    error::{BAD_REQUEST, BUSY, RATE_LIMITED},
    follow::Frame,
    model::{Notice, Subscribe},
};
use cowboy_node::{AskError, reader::Wanted};
use cowboy_serve::{Caps, Client, Held, Keeping};
use cowboy_store::View;
use futures::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, Stream},
};
use serde::Deserialize;
use std::{convert::Infallible, time::Duration};

/// The most bytes of a message by a reader.
const MAX_WISH_BYTES: usize = 4_096;

/// Streams of blocks that are open at a time: each reads a block from the disk whenever its client takes one.
pub(crate) const FOLLOWERS: Caps = Caps { total: 1_024, client: 8, subnet: 64 };

/// How soon a node that is stopped for a moment is asked again.
const RESTARTING: Duration = Duration::from_millis(100);

pub(crate) async fn socket(
    State(app): State<App>,
    peer: Peer,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    let upgrade = upgrade.map_err(|rejection| Refusal::bad("websocket", rejection.body_text()))?;
    Ok(upgrade.max_message_size(MAX_WISH_BYTES).max_frame_size(MAX_WISH_BYTES).on_upgrade(move |socket| talk(app, peer, socket)))
}

/// A reader of `/ws`: sends messages, and gives up where they are not read.
struct Listener {
    peer: Peer,
    sender: SplitSink<WebSocket, Message>,
    patience: Duration,
}

impl Listener {
    /// Sends a message. False where the reader is gone, or has not made room for it in time: then the log says who it was.
    async fn send(&mut self, message: Message) -> bool {
        match tokio::time::timeout(self.patience, self.sender.send(message)).await {
            Ok(sent) => sent.is_ok(),
            Err(_) => {
                let seconds = self.patience.as_secs();
                tracing::warn!(peer = %self.peer.0, seconds, "a reader of /ws reads too slowly and is disconnected");
                false
            }
        }
    }
}

/// Sends what a reader wants until it leaves, does not read, or says nothing for too long.
async fn talk(app: App, peer: Peer, socket: WebSocket) {
    let mut blocks = app.notices.listen();
    let (sender, mut reader) = socket.split();
    // Before the connection counts as idle: a silent reader answers pings.
    let idle = app.connections.idle_timeout;
    let mut listener = Listener { peer, sender, patience: idle * 2 / 3 };
    let mut pings = tokio::time::interval_at(tokio::time::Instant::now() + idle / 3, idle / 3);
    let mut wish = Subscribe::default();
    loop {
        let message = tokio::select! {
            heard = blocks.next(&wish) => match heard {
                Some(Heard::Text(text)) => Message::Text(text),
                Some(Heard::Lagged(missed)) => Message::Text(notices::text(&Notice::Lagged { blocks: missed })),
                None => return,
            },
            message = reader.next() => match message {
                Some(Ok(Message::Text(text))) => match serde_json::from_str(&text) {
                    Ok(changed) => {
                        wish = changed;
                        continue;
                    }
                    Err(error) => {
                        let refusal = ApiError::of_fault(BAD_REQUEST).with(serde_json::json!({ "reason": error.to_string() }));
                        Message::Text(notices::text(&refusal))
                    }
                },
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => continue,
            },
            _ = pings.tick() => Message::Ping(Bytes::new()),
        };
        // The socket copies a message, which counts until it is sent.
        let mut held = app.limits.hold(peer.client());
        if !held.add(length(&message)) || !listener.send(message).await {
            return;
        }
    }
}

fn length(message: &Message) -> usize {
    match message {
        Message::Text(text) => text.len(),
        _ => 0,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct From {
    from: Option<u64>,
}

/// Sends blocks with certificates, from a height on, for ever.
pub(crate) async fn follow(State(app): State<App>, peer: Peer, Asked(From { from }): Asked<From>) -> Result<Response, Refusal> {
    let place = app.followers.admit(peer.0.ip()).map_err(|_| {
        let reason = "too many streams of blocks are open: of this client, of its network or in all";
        Refusal::new(RATE_LIMITED, serde_json::json!({ "of_client": FOLLOWERS.client, "reason": reason }))
    })?;
    let first = match from {
        None => app.node.head().number.saturating_add(1),
        Some(height) if height <= app.node.head().height.get() => {
            let view = read::ledger(&app)?;
            read::not_pruned(&view, height)?;
            read::first_from(&view, height)?
        }
        Some(_) => app.node.head().number.saturating_add(1),
    };
    let client = peer.client();
    let room = {
        let app = app.clone();
        move || app.limits.hold(client)
    };
    let frames = counted(first, room, move |number| {
        let app = app.clone();
        async move { frame_of_reader(&app, client, number).await }
    });
    let body = Body::new(Keeping::new(Body::from_stream(frames), place));
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], body).into_response())
}

/// The frames from a number on, each counted as held by the client until the next one is asked for: the server asks once it has handed
/// on the whole frame. Ends at the first number without a frame, and where the client holds its share already: it connects again.
fn counted<F: Future<Output = Option<Bytes>>>(
    first: u64,
    room: impl Fn() -> Held,
    frame: impl Fn(u64) -> F,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures::stream::unfold((first, None, room, frame), |(number, held, room, frame)| async move {
        // A stream that waits for the next block holds nothing.
        drop(held);
        let found = frame(number).await?;
        let mut held = room();
        if !held.add(found.len()) {
            tracing::debug!(number, "a stream of blocks ends: its client holds too many bytes that it does not read");
            return None;
        }
        Some((Ok(found), (number.saturating_add(1), Some(held), room, frame)))
    })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    size: u64,
    start: u64,
    count: u64,
}

/// Operations that made the state, with their proof: one frame.
pub(crate) async fn operations(State(app): State<App>, Asked(which): Asked<Which>) -> Result<Response, Refusal> {
    let wanted = Wanted { size: which.size, start: which.start, most: which.count };
    let found = app.node.chain()?.state().ok_or(BUSY)?.operations(wanted).await;
    let found = found.ok_or_else(|| Refusal::missing("operations", format_args!("{} of {}", wanted.start, wanted.size)))?;
    one_frame(&found)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Number {
    number: u64,
}

/// A block with its receipts: one frame.
pub(crate) async fn copy(State(app): State<App>, Asked(Number { number }): Asked<Number>) -> Result<Response, Refusal> {
    let found = read::ledger(&app)?.copy(number)?.ok_or_else(|| Refusal::missing("number", number))?;
    one_frame(&found.encode())
}

/// An answer of one frame: the length as 4 bytes big-endian, then that many bytes.
fn one_frame(bytes: &[u8]) -> Result<Response, Refusal> {
    let length = u32::try_from(bytes.len()).map_err(|_| Refusal::from(BUSY))?;
    let frame = [length.to_be_bytes().as_slice(), bytes].concat();
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame).into_response())
}

/// The frame of a block, once it is final. `None` ends the stream: the block is damaged here, or the chain went back behind it.
pub(crate) async fn next_frame(app: &App, number: u64) -> Option<Bytes> {
    frame(&ledger_with(app, number).await?, number)
}

/// The same, read where other lists are: a client that takes blocks as fast as they come keeps nobody else's requests waiting. `None` also where there are
/// too many reads; the client connects again.
async fn frame_of_reader(app: &App, client: Client, number: u64) -> Option<Bytes> {
    let view = ledger_with(app, number).await?;
    let read = app.limits.read(client, move || frame(&view, number)).await;
    read.inspect_err(|refusal| tracing::debug!(number, reason = %refusal.0, "a stream of blocks ends")).ok().flatten()
}

/// The ledger, once it has a block.
async fn ledger_with(app: &App, number: u64) -> Option<View> {
    let mut heads = app.node.watch_head();
    heads.wait_for(|head| head.number >= number).await.ok()?;
    let view = once_it_runs(|| app.node.view()).await;
    view.inspect_err(|error| tracing::warn!(number, %error, "a stream of blocks ends")).ok()
}

fn frame(view: &View, number: u64) -> Option<Bytes> {
    let found = view.block_bytes(number).and_then(|block| Ok(block.zip(Some(view.certificate(number)?.unwrap_or_default()))));
    let found = found.inspect_err(|error| tracing::warn!(number, %error, "a stream of blocks ends")).ok()?;
    found.map(|(block, certificate)| Frame { block, certificate }.encode().into())
}

/// Asks the node, and again where it is stopped for a moment: a validator starts anew to vote once it has listened, and a dev chain
/// is stopped while it is copied.
async fn once_it_runs<T>(mut ask: impl FnMut() -> Result<T, AskError>) -> Result<T, AskError> {
    loop {
        match ask() {
            Err(AskError::Unavailable(_)) => tokio::time::sleep(RESTARTING).await,
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_node::Unavailable;
    use cowboy_serve::Memory;
    use std::pin::pin;

    /// A stream outlives the moment in which its node is stopped, and ends where the ledger refuses.
    #[tokio::test]
    async fn a_stream_waits_for_a_node_that_starts_anew() {
        let mut answers = vec![Ok(7), Err(AskError::Unavailable(Unavailable)), Err(AskError::Unavailable(Unavailable))];
        assert_eq!(once_it_runs(|| answers.pop().expect("it is not asked again")).await.ok(), Some(7));
        let late = once_it_runs(|| Err::<(), _>(AskError::NotYet { number: 9, tip: 8 })).await;
        assert!(matches!(late, Err(AskError::NotYet { .. })));
    }

    /// A client that reads nothing holds its share of the memory and no more, however many streams it opens; those that read continue.
    #[tokio::test]
    async fn a_frame_counts_until_the_next_is_asked_for() {
        let memory = Memory::new(100, 10);
        let stream = |ip: u8| {
            let (memory, client) = (memory.clone(), Client::from(std::net::IpAddr::from([192, 0, 2, ip])));
            counted(7, move || memory.hold(client), |number| async move { (number < 9).then(|| Bytes::from_static(b"frame")) })
        };
        let (mut one, mut two, mut three, mut other) = (pin!(stream(1)), pin!(stream(1)), pin!(stream(1)), pin!(stream(2)));
        assert!(one.next().await.is_some() && two.next().await.is_some());
        assert!(three.next().await.is_none(), "two frames are the client's share");
        assert!(other.next().await.is_some(), "another client has its own");
        assert!(one.next().await.is_some(), "the former frame counts no longer");
        assert!(one.next().await.is_none(), "its stream is over");
        assert!(pin!(stream(1)).next().await.is_some(), "and what it held is free");
    }
}
