//! What readers of `/ws` hear of each block: encoded once for all of them, and kept within a bound of bytes until they have read it.

use crate::{App, trace};
use axum::extract::ws::Utf8Bytes;
use cowboy_api::{
    Hex, convert,
    model::{Log, Notice, NoticeKind, Subscribe},
};
use cowboy_node::FinalizedBlock;
use cowboy_serve::Rarely;
use cowboy_types::{Address, Receipt};
use serde::Serialize;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

/// Bytes of messages that are kept for readers that have not read them. The newest block's are kept in any case.
const MAX_KEPT: usize = 64 * 1024 * 1024;

/// The messages of the newest blocks, for all readers.
#[derive(Debug)]
pub(crate) struct Notices {
    kept: Mutex<Kept>,
    /// Wakes readers.
    changed: watch::Sender<()>,
    /// When the log said last that a reader is too slow.
    slow: Mutex<Rarely>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The place of the first block that is kept.
    first: u64,
    blocks: VecDeque<Arc<Batch>>,
    bytes: usize,
    readers: usize,
}

/// The messages of a block, in their order.
type Batch = Vec<Said>;

/// A message, and who wants it.
#[derive(Debug)]
struct Said {
    kind: NoticeKind,
    /// Whom it concerns; nothing where every reader.
    concerns: Vec<Address>,
    text: Utf8Bytes,
}

/// What a reader hears.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A message.
    Text(Utf8Bytes),
    /// A number of blocks that came, and that it did not read in time.
    Lagged(u64),
}

/// A reader's place among the messages.
pub(crate) struct Reader {
    notices: Arc<Notices>,
    changed: watch::Receiver<()>,
    /// The block that is read, and the place of the next message in it.
    block: u64,
    place: usize,
}

impl Notices {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { kept: Mutex::default(), changed: watch::Sender::new(()), slow: Mutex::default() })
    }

    /// Whether the log says now that a reader is too slow: readers decide how often they are.
    pub(crate) fn logs_slow_reader(&self) -> bool {
        self.slow.lock().unwrap_or_else(PoisonError::into_inner).is_due(Instant::now())
    }

    /// A reader of the blocks from now on.
    pub(crate) fn listen(self: &Arc<Self>) -> Reader {
        let changed = self.changed.subscribe();
        let mut kept = self.lock();
        kept.readers += 1;
        Reader { notices: self.clone(), changed, block: kept.end(), place: 0 }
    }

    /// Encodes what comes, while somebody reads, on the threads of the API.
    pub(crate) async fn feed(app: App, mut blocks: broadcast::Receiver<Arc<FinalizedBlock>>) {
        loop {
            match blocks.recv().await {
                Ok(block) if app.notices.has_readers() => {
                    let shared = app.clone();
                    match app.limits.encode(move || batch(&shared, &block)).await {
                        Ok(batch) => app.notices.push(batch),
                        Err(refusal) => {
                            tracing::warn!(reason = refusal.0.slug, "readers of /ws miss a block");
                            app.notices.skip(1);
                        }
                    }
                }
                // Nobody reads: it is no part of the count either.
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => app.notices.skip(missed),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_readers(&self) -> bool {
        self.lock().readers > 0
    }

    /// Keeps a block's messages, and as many older ones as fit.
    fn push(&self, batch: Batch) {
        let mut kept = self.lock();
        kept.bytes += bytes(&batch);
        kept.blocks.push_back(Arc::new(batch));
        while kept.bytes > MAX_KEPT && kept.blocks.len() > 1 {
            let oldest = kept.blocks.pop_front().map_or(0, |oldest| bytes(&oldest));
            kept.bytes -= oldest;
            kept.first += 1;
        }
        drop(kept);
        self.changed.send_replace(());
    }

    /// Counts blocks of which nobody hears more.
    fn skip(&self, blocks: u64) {
        let mut kept = self.lock();
        *kept = Kept { first: kept.end() + blocks, readers: kept.readers, ..Kept::default() };
        drop(kept);
        self.changed.send_replace(());
    }
}

impl Kept {
    /// The place of the next block.
    fn end(&self) -> u64 {
        self.first + u64::try_from(self.blocks.len()).unwrap_or(u64::MAX)
    }
}

fn bytes(batch: &Batch) -> usize {
    batch.iter().map(|said| said.text.len()).sum()
}

impl Reader {
    /// The next message that this wish is for; nothing when no more come. May be dropped before it is done.
    pub(crate) async fn next(&mut self, wish: &Subscribe) -> Option<Heard> {
        loop {
            self.changed.mark_unchanged();
            if let Some(heard) = self.take(wish) {
                return Some(heard);
            }
            self.changed.changed().await.ok()?;
        }
    }

    fn take(&mut self, wish: &Subscribe) -> Option<Heard> {
        loop {
            let batch = {
                let kept = self.notices.lock();
                if self.block < kept.first {
                    let missed = kept.first - self.block;
                    (self.block, self.place) = (kept.first, 0);
                    return Some(Heard::Lagged(missed));
                }
                kept.blocks.get(usize::try_from(self.block - kept.first).ok()?)?.clone()
            };
            while let Some(said) = batch.get(self.place) {
                self.place += 1;
                if said.is_for(wish) {
                    return Some(Heard::Text(said.text.clone()));
                }
            }
            (self.block, self.place) = (self.block + 1, 0);
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut kept = self.notices.lock();
        kept.readers -= 1;
        if kept.readers == 0 {
            *kept = Kept { first: kept.end(), ..Kept::default() };
        }
    }
}

impl Said {
    fn new(kind: NoticeKind, concerns: Vec<Address>, notice: &impl Serialize) -> Self {
        Self { kind, concerns, text: text(notice) }
    }

    fn is_for(&self, wish: &Subscribe) -> bool {
        let wants = wish.subscribe.as_ref().is_none_or(|kinds| kinds.contains(&self.kind));
        wants && wish.address.is_none_or(|address| self.concerns.is_empty() || self.concerns.contains(&address.0))
    }
}

/// A message to a reader, as JSON.
pub(crate) fn text(notice: &impl Serialize) -> Utf8Bytes {
    serde_json::to_string(notice).expect("a notice is JSON").into()
}

/// What there is to hear of a block: the block, its receipts, and their events.
fn batch(app: &App, finalized: &FinalizedBlock) -> Batch {
    let (block, hash) = (finalized.block.block(), finalized.block.hash());
    let summary = convert::block_summary(block, u64::try_from(finalized.receipts.len()).unwrap_or(u64::MAX));
    let view = app.node.view().ok();
    let mut batch = vec![Said::new(NoticeKind::Block, Vec::new(), &Notice::Block { block: summary.into() })];
    for (index, receipt) in finalized.receipts.iter().enumerate() {
        let inside = finalized.traces.get(index).map(|trace| trace::inside(view.as_ref(), trace).brief()).unwrap_or_default();
        let place = convert::place(&block.header, hash, index);
        let notice = Notice::Receipt { receipt: Box::new(convert::receipt(receipt, &place, inside, Vec::new())) };
        batch.push(Said::new(NoticeKind::Receipt, concerned(receipt), &notice));
    }
    for receipt in finalized.receipts.iter() {
        for (index, event) in (0..).zip(receipt.events.iter()) {
            let log = Log {
                block_height: block.header.height().get(),
                timestamp_ms: block.header.timestamp_ms.get(),
                receipt: Hex(receipt.id),
                index,
                event: convert::event(event),
            };
            batch.push(Said::new(NoticeKind::Event, vec![event.emitter], &Notice::Event { event: Box::new(log) }));
        }
    }
    batch
}

fn concerned(receipt: &Receipt) -> Vec<Address> {
    [Some(receipt.sender), Some(receipt.target), receipt.created].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::NoticeKind::{Block, Event, Receipt};
    use super::*;

    fn said(kind: NoticeKind, address: Option<u8>, text: &str) -> Said {
        Said { kind, concerns: address.map(|byte| Address([byte; 20])).into_iter().collect(), text: text.into() }
    }

    fn wish(kinds: &[NoticeKind], address: Option<u8>) -> Subscribe {
        Subscribe {
            subscribe: (!kinds.is_empty()).then(|| kinds.iter().copied().collect()),
            address: address.map(|byte| Hex(Address([byte; 20]))),
        }
    }

    fn all(reader: &mut Reader, wish: &Subscribe) -> Vec<Heard> {
        std::iter::from_fn(|| reader.take(wish)).collect()
    }

    fn texts(texts: &[&str]) -> Vec<Heard> {
        texts.iter().map(|text| Heard::Text((*text).into())).collect()
    }

    /// A wish names kinds that there are, and repeating one costs nothing.
    #[test]
    fn a_wish_is_short() {
        let many = format!(r#"{{"subscribe":[{}]}}"#, vec![r#""block""#; 1_300].join(","));
        let read = |text: &str| serde_json::from_str::<Subscribe>(text);
        assert_eq!(read(&many).ok(), Some(wish(&[Block], None)));
        assert!(read(r#"{"subscribe":["blocks"]}"#).is_err());
    }

    /// Readers hear what they want, from when they came, and all the same bytes.
    #[test]
    fn readers_share_what_is_encoded_once() {
        let notices = Notices::new();
        notices.push(vec![said(Block, None, "before")]);
        let (mut everything, mut some) = (notices.listen(), notices.listen());
        notices.push(vec![said(Block, None, "b"), said(Receipt, Some(1), "r1"), said(Receipt, Some(2), "r2"), said(Event, Some(2), "e2")]);
        notices.push(vec![said(Block, None, "c")]);
        let heard = all(&mut everything, &wish(&[], None));
        assert_eq!(heard, texts(&["b", "r1", "r2", "e2", "c"]));
        assert_eq!(all(&mut some, &wish(&[Receipt, Block], Some(2))), texts(&["b", "r2", "c"]));
        let mut again = notices.listen();
        notices.push(vec![said(Block, None, "d")]);
        let (Some(Heard::Text(one)), Some(Heard::Text(other))) = (everything.take(&wish(&[], None)), again.take(&wish(&[], None))) else {
            panic!("both hear of it");
        };
        assert_eq!(one.as_str().as_ptr(), other.as_str().as_ptr(), "the bytes are the same, and no copy");
        drop((everything, some, again));
        assert!(!notices.has_readers());
        assert_eq!(notices.lock().bytes, 0, "nothing is kept for nobody");
    }

    /// Decision 769: however many readers are too slow, the log has few lines of it.
    #[test]
    fn slow_readers_fill_no_log() {
        let notices = Notices::new();
        assert!(notices.logs_slow_reader());
        assert!((0..1_000).all(|_| !notices.logs_slow_reader()));
    }

    /// A reader that does not read keeps nothing alive: it hears how many blocks it missed.
    #[test]
    fn what_is_kept_is_bounded() {
        let notices = Notices::new();
        let mut slow = notices.listen();
        let long = "x".repeat(MAX_KEPT / 4);
        notices.push(vec![said(Block, None, "begun"), said(Block, None, &long)]);
        assert_eq!(slow.take(&wish(&[], None)), Some(Heard::Text("begun".into())));
        for _ in 0..9 {
            notices.push(vec![said(Block, None, &long)]);
        }
        assert!(notices.lock().bytes <= MAX_KEPT);
        assert_eq!(slow.take(&wish(&[], None)), Some(Heard::Lagged(6)), "the block that it had begun among them");
        assert_eq!(all(&mut slow, &wish(&[Event], None)), []);
        notices.push(vec![said(Block, None, &"y".repeat(2 * MAX_KEPT))]);
        assert_eq!(notices.lock().blocks.len(), 1, "the newest in any case");
        notices.skip(3);
        assert_eq!(all(&mut slow, &wish(&[], None)), [Heard::Lagged(4)], "and what nobody heard");
        notices.push(vec![said(Block, None, "last")]);
        assert_eq!(all(&mut slow, &wish(&[], None)), texts(&["last"]));
    }
}
