//! Blocks as they come: `/ws` for people and pages, `/follow` for followers.

use crate::{
    App,
    limits::{self, Limits, Peer},
    notices::{self, Heard, Notices},
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
    error::{BAD_REQUEST, BUSY},
    follow::Frame,
    model::{Notice, Subscribe},
};
use cowboy_node::{AskError, reader::Wanted};
use cowboy_serve::{Client, Held, Permit, Refused, Slots};
use cowboy_store::View;
use futures::{
    SinkExt as _, StreamExt as _,
    stream::{SplitSink, Stream},
};
use serde::Deserialize;
use std::{convert::Infallible, net::IpAddr, sync::Arc, time::Duration};

/// The most bytes of a message by a reader.
const MAX_WISH_BYTES: usize = 4_096;

/// The most messages of a reader that are read between two pings; those beyond them wait for the next one. No rate of requests counts them, and what is no wish has an answer.
const MAX_MESSAGES: u32 = 4_000;

/// How soon what cannot be read for a moment is asked for again.
const RETRY: Duration = Duration::from_millis(100);

pub(crate) async fn socket(
    State(app): State<App>,
    peer: Peer,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Refusal> {
    let upgrade = upgrade.map_err(|rejection| Refusal::bad("websocket", rejection.body_text()))?;
    Ok(bounded(upgrade).on_upgrade(move |socket| talk(app, peer, socket)))
}

/// Bounds what a reader sends, and what is held for it: the library would hold 128 KiB for each, though thousands listen and say nothing.
fn bounded(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade.max_message_size(MAX_WISH_BYTES).max_frame_size(MAX_WISH_BYTES).read_buffer_size(MAX_WISH_BYTES)
}

/// A reader of `/ws`: sends messages, and gives up where they are not read.
struct Listener {
    peer: Peer,
    sender: SplitSink<WebSocket, Message>,
    patience: Duration,
    notices: Arc<Notices>,
}

impl Listener {
    /// Sends a message. False where the reader is gone, or has not made room for it in time: then the log says who it was, if it has not said so of another
    /// one a moment ago.
    async fn send(&mut self, message: Message) -> bool {
        match tokio::time::timeout(self.patience, self.sender.send(message)).await {
            Ok(sent) => sent.is_ok(),
            Err(_) => {
                let seconds = self.patience.as_secs();
                if !self.notices.logs_slow_reader() {
                    return false;
                }
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
    let mut listener = Listener { peer, sender, patience: idle * 2 / 3, notices: app.notices.clone() };
    let mut pings = tokio::time::interval_at(tokio::time::Instant::now() + idle / 3, idle / 3);
    let (mut wish, mut messages) = (Subscribe::default(), 0_u32);
    loop {
        let message = tokio::select! {
            heard = blocks.next(&wish) => match heard {
                Some(Heard::Text(text)) => Message::Text(text),
                Some(Heard::Lagged(missed)) => Message::Text(notices::text(&Notice::Lagged { blocks: missed })),
                None => return,
            },
            message = reader.next(), if messages < MAX_MESSAGES => {
                messages += 1;
                match message {
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
                }
            }
            _ = pings.tick() => {
                messages = 0;
                Message::Ping(Bytes::new())
            }
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
    let (client, newest) = (peer.client(), app.node.head());
    let first = match from {
        Some(height) if height <= newest.height.get() => {
            let reading = app.clone();
            first_from(&app.limits, client, move || read::ledger(&reading), height).await?
        }
        _ => newest.number.saturating_add(1),
    };
    // The last of all refusals: another stream may have to end for this one.
    let place = place(&app.followers, peer.0.ip(), app.connections.per_client)?;
    let room = {
        let app = app.clone();
        move || app.limits.hold(client)
    };
    let frames = placed(place, first, room, move |number| {
        let app = app.clone();
        async move { frame_of_stream(&app, client, number).await }
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], Body::from_stream(frames)).into_response())
}

/// The number of the first block from a height on. It is searched for on the readers: a stranger names the height, and each step reads a block (decision 758).
async fn first_from(
    limits: &Limits,
    client: Client,
    view: impl FnOnce() -> Result<View, Refusal> + Send + 'static,
    height: u64,
) -> Result<u64, Refusal> {
    let search = move || {
        let view = view()?;
        read::not_pruned(&view, height)?;
        read::first_from(&view, height)
    };
    limits.read(client, search).await?
}

/// A place for a stream to this address, whose client may have `share` of them.
fn place(followers: &Slots, address: IpAddr, share: usize) -> Result<Permit, Refusal> {
    limits::place(followers, address, share, "streams of blocks")
}

/// The frames from a number on, until they end or their place is given to another stream. A stream is used when its client takes a frame.
fn placed<F: Future<Output = Option<Bytes>>>(
    mut place: Permit,
    first: u64,
    room: impl Fn() -> Held,
    frame: impl Fn(u64) -> F,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let replaced = place.replaceable();
    let frames = counted(first, room, move |number| {
        place.note_use();
        frame(number)
    });
    frames.take_until(replaced)
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
    let found = read::ledger(&app)?.copy(number)?.ok_or_else(|| Refusal::missing("block", number))?;
    one_frame(&found.encode())
}

/// An answer of one frame: the length as 4 bytes big-endian, then that many bytes.
fn one_frame(bytes: &[u8]) -> Result<Response, Refusal> {
    let length = u32::try_from(bytes.len()).map_err(|_| Refusal::from(BUSY))?;
    let frame = [length.to_be_bytes().as_slice(), bytes].concat();
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame).into_response())
}

/// The frame of a block, once it is final. `None` ends the stream: the block is damaged here, or the chain went back behind it. It is read on threads that do
/// nothing else: a client that takes blocks as fast as they come keeps no request waiting, and no request keeps it waiting.
pub(crate) async fn frame_of_stream(app: &App, client: Client, number: u64) -> Option<Bytes> {
    once_there_is_room(|| async move {
        let Some(view) = ledger_with(app, number).await else { return Ok(None) };
        app.limits.read_block(client, move || frame(&view, number)).await
    })
    .await
}

/// Reads, and again where there was no room or no time for it: whoever follows would take the end of the stream for the end of the node.
async fn once_there_is_room<F: Future<Output = Result<Option<Bytes>, Refused>>>(mut read: impl FnMut() -> F) -> Option<Bytes> {
    loop {
        match read().await {
            Ok(found) => return found,
            Err(refused @ Refused::Panicked(_)) => {
                tracing::error!(%refused, "a stream of blocks ends");
                return None;
            }
            Err(refused) => tracing::debug!(%refused, "a stream of blocks waits"),
        }
        tokio::time::sleep(RETRY).await;
    }
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
            Err(AskError::Unavailable(_)) => tokio::time::sleep(RETRY).await,
            answer => return answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::testing::occupy;
    use axum::{extract::FromRequestParts as _, http::Request};
    use cowboy_api::error::{OVERLOADED, RATE_LIMITED};
    use cowboy_node::Unavailable;
    use cowboy_serve::Memory;
    use futures::FutureExt as _;
    use std::{pin::pin, sync::mpsc};

    /// 4,096 readers that say nothing hold 16 MiB together, and not half a GiB.
    #[tokio::test]
    async fn a_silent_reader_holds_little() {
        let request = Request::get("/ws").header(header::CONNECTION, "upgrade").header(header::UPGRADE, "websocket");
        let request = request.header(header::SEC_WEBSOCKET_VERSION, "13").header(header::SEC_WEBSOCKET_KEY, "dGhlIHNhbXBsZSBub25jZQ==");
        let mut request = request.body(()).expect("a request");
        let on_upgrade = hyper::upgrade::on(&mut request);
        request.extensions_mut().insert(on_upgrade);
        let (mut parts, ()) = request.into_parts();
        let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await.expect("it asks for a socket");
        let settings = format!("{:?}", bounded(upgrade));
        assert!(settings.contains("read_buffer_size: 4096"), "{settings}");
    }

    /// A stream outlives the moment in which its node is stopped, and ends where the ledger refuses.
    #[tokio::test]
    async fn a_stream_waits_for_a_node_that_starts_anew() {
        let mut answers = vec![Ok(7), Err(AskError::Unavailable(Unavailable)), Err(AskError::Unavailable(Unavailable))];
        assert_eq!(once_it_runs(|| answers.pop().expect("it is not asked again")).await.ok(), Some(7));
        let late = once_it_runs(|| Err::<(), _>(AskError::NotYet { number: 9, tip: 8 })).await;
        assert!(matches!(late, Err(AskError::NotYet { .. })));
    }

    /// A stream outlives the moment in which its block cannot be read, and ends where that fails for good.
    #[tokio::test]
    async fn a_stream_waits_for_room() {
        let block = Bytes::from_static(b"block");
        let late = || Err(Refused::Late(Duration::from_secs(10)));
        let mut reads = vec![Ok(Some(block.clone())), Err(Refused::Client(64)), Err(Refused::Full(512)), late()];
        assert_eq!(once_there_is_room(|| std::future::ready(reads.pop().expect("it is not asked again"))).await, Some(block));
        let mut reads = vec![Err(Refused::Panicked("the block is damaged".into())), late()];
        assert_eq!(once_there_is_room(|| std::future::ready(reads.pop().expect("it is not asked again"))).await, None);
    }

    /// Two subnets that have all places make room for others, one stream for each, down to as many as these have.
    #[tokio::test]
    async fn streams_make_room_for_other_subnets() {
        let (followers, memory) = (Slots::new(4), Memory::new(100, 100));
        let open = |address: [u8; 4]| {
            let (place, memory, client) = (place(&followers, address.into(), 3)?, memory.clone(), Client::from(IpAddr::from(address)));
            // There is one block, and the next one does not come.
            let frame = |number: u64| async move {
                if number > 7 {
                    std::future::pending::<()>().await;
                }
                Some(Bytes::from_static(b"frame"))
            };
            Ok::<_, Refusal>(Box::pin(placed(place, 7, move || memory.hold(client), frame)))
        };
        let mut streams = Vec::new();
        for host in 0..2 {
            streams.extend([[192, 0, 2, host], [198, 51, 100, host]].map(|address| open(address).expect("there is room")));
        }
        for stream in &mut streams {
            assert!(stream.next().await.is_some());
        }
        for ended in 1..=2_u8 {
            let mut other = open([10, 0, ended, 1]).expect("another makes room");
            assert!(other.next().await.is_some());
            streams.push(other);
            let over = streams.iter_mut().filter_map(|stream| stream.next().now_or_never());
            assert_eq!(over.filter(Option::is_none).count(), usize::from(ended));
        }
        // What is over holds no place, though its client has not noticed.
        assert_eq!(open([10, 0, 3, 1]).err().map(|refusal| refusal.0.slug), Some(OVERLOADED.slug.to_owned()));
        drop(streams);
        let _own: Vec<_> = (0..3).map(|_| open([192, 0, 2, 1]).expect("there is room")).collect();
        assert_eq!(open([192, 0, 2, 1]).err().map(|refusal| refusal.0.slug), Some(RATE_LIMITED.slug.to_owned()));
    }

    /// Decision 758: where a stream begins is searched for on the readers, of which a client has its share. Nothing is read where it has that already.
    #[tokio::test]
    async fn a_stream_begins_on_the_readers() {
        let limits = Limits::start(None).expect("the system has threads");
        let client = |number: u8| Client::from(IpAddr::from([192, 0, 2, number]));
        let occupied = occupy(&limits, client(1));
        let (sender, views) = mpsc::channel();
        let view = || {
            let sender = sender.clone();
            move || -> Result<View, Refusal> {
                let _ = sender.send(());
                Err(BUSY.into())
            }
        };
        let refused = first_from(&limits, client(1), view(), 1).await.expect_err("it has its share");
        assert_eq!(refused.0.slug, RATE_LIMITED.slug);
        assert!(views.try_recv().is_err(), "nothing is read on the threads that all wait for");
        drop(occupied);
        let found = first_from(&limits, client(2), view(), 1).await.expect_err("there is no ledger");
        assert_eq!((found.0.slug, views.try_recv().is_ok()), (BUSY.slug.to_owned(), true));
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
