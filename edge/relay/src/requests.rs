//! What a relay does for requests.

use crate::app::App;
use crate::server::Peer;
use crate::session::{Denied, Right};
use crate::store::{self, Item, Kind, Reserved, Store};
use cowboy_serve::Held;
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volume::wire::{self, Answer, FRAME_BYTES, Request, TREE_BYTES, WireError};
use cowboy_volumes::relay::{ACK_BLOCKS, Succession};
use cowboy_volumes::slice::MAX_PART;
use cowboy_volumes::tree::{MAX_DEPTH, PAGE_BYTES};
use cowboy_volumes::{Page, Top};
use quinn::RecvStream;
use std::collections::BTreeSet;
use std::io;

/// Blocks by which a client may be ahead of this relay.
const SLACK: u64 = 60;

/// What a volume may take here, as a multiple of what one shard of its whole quota takes: what stands, and as much that no root names yet or any more.
const TIMES_QUOTA: u64 = 2;

/// Bytes that a volume may have beside that: pages, and files of a few bytes.
const BESIDE_QUOTA: u64 = 4 << 20;

/// Why a request is not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error("{0}")]
    Said(&'static str),
    #[error("the relay's disk fails")]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// What is sent for a request: an answer, and a body where there is one.
pub(crate) struct Done {
    pub(crate) answer: Answer,
    pub(crate) body: Option<Vec<u8>>,
}

impl Done {
    const NOTHING_MORE: Self = Self { answer: Answer::Done {}, body: None };
}

/// Does what a request says. What it holds in memory until its answer is sent counts in `held`.
pub(crate) async fn act(peer: &Peer, request: Request, receiving: &mut RecvStream, held: &mut Held) -> Result<Done, Refusal> {
    if let Request::Hello { hello } = &request {
        return peer.open(hello).await.map(|()| Done::NOTHING_MORE);
    }
    let (app, right) = (peer.app(), peer.session()?.right(peer.app()).await?);
    match request {
        Request::Hello { .. } => Err(Refusal::Said("the connection is open already")),
        Request::PutShard { length } => put_shard(peer, &right, length, receiving).await,
        Request::GetShard { shard, start, length } => {
            allow(right.reads())?;
            if !(1..=MAX_PART).contains(&length) {
                return Err(Refusal::Said("a part has 1 to 65,536 bytes"));
            }
            found(peer, held, |store| store.slice(right.volume, &shard, start, length)).await
        }
        Request::PutPage { partition, depth, place } => {
            allow(right.writes(&partition))?;
            peer.hold(held, PAGE_BYTES)?;
            let bytes = wire::read_body(receiving, PAGE_BYTES).await?;
            let _turn = peer.turn().await?;
            let page =
                Some(usize::from(place)).filter(|_| depth <= MAX_DEPTH).and_then(|place| Page::parse(&bytes, right.code, depth, place));
            let node = page.and_then(|page| page.node()).ok_or(Refusal::Said("that is no page of the volume"))?;
            let _room = room(app, &right, u64::try_from(bytes.len()).unwrap_or(u64::MAX))?;
            let item = Item { volume: right.volume, kind: Kind::Page, hash: node.hash };
            on_disk(|| app.store.put(&item, &bytes, app.height()))?;
            Ok(Done::NOTHING_MORE)
        }
        Request::GetPage { partition, page } => {
            allow(right.sees(&partition))?;
            found(peer, held, |store| store.get(&Item { volume: right.volume, kind: Kind::Page, hash: page })).await
        }
        Request::GetTree { partition, root } => {
            allow(right.sees(&partition))?;
            found(peer, held, |store| store.get(&Item { volume: right.volume, kind: Kind::Tree, hash: root })).await
        }
        Request::AckRoot { partition, generation, sequence, old, top, until } => {
            allow(right.writes(&partition))?;
            peer.hold(held, TREE_BYTES)?;
            let nodes = wire::read_body(receiving, TREE_BYTES).await?;
            let _turn = peer.turn().await?;
            let nodes = Some(top.depth).filter(|depth| *depth <= MAX_DEPTH).and_then(|depth| Tree::parse_nodes(&nodes, depth));
            let nodes = nodes.ok_or(Refusal::Said("those are no nodes of pages"))?;
            let succession = Succession { volume: right.volume, generation, partition, sequence, old, new: top.root(), until };
            ack(app, &right, &succession, &Tree { top, nodes })
        }
    }
}

fn allow(may: bool) -> Result<(), Refusal> {
    if may { Ok(()) } else { Err(Denied::NoRight.into()) }
}

/// Work on the disk. It holds no other task up.
fn on_disk<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    tokio::task::block_in_place(work)
}

/// What the store has, or a refusal.
async fn found(peer: &Peer, held: &mut Held, look: impl FnOnce(&Store) -> io::Result<Option<Vec<u8>>>) -> Result<Done, Refusal> {
    let _turn = peer.turn().await?;
    let body = on_disk(|| look(&peer.app().store))?.ok_or(Refusal::Said("it is not here"))?;
    peer.hold(held, body.len())?;
    Ok(Done { answer: Answer::Body {}, body: Some(body) })
}

/// Room for `length` bytes more of a volume, while they come.
fn room(app: &App, right: &Right, length: u64) -> Result<Reserved, Refusal> {
    let most = store::on_disk(right.slot_quota).saturating_mul(TIMES_QUOTA).saturating_add(BESIDE_QUOTA);
    let room = on_disk(|| app.store.reserve(right.volume, length, most))?;
    room.ok_or(Refusal::Said("the volume has as much here as it may"))
}

async fn put_shard(peer: &Peer, right: &Right, length: u64, receiving: &mut RecvStream) -> Result<Done, Refusal> {
    let app = peer.app();
    allow(right.writes_somewhere())?;
    let _coming = peer.coming()?;
    if !right.receive(app, length) {
        return Err(Refusal::Said("the right does not cover as many bytes"));
    }
    let _room = room(app, right, length)?;
    let mut incoming = on_disk(|| app.store.begin(right.volume, length))?;
    loop {
        let frame = wire::read_frame(receiving, FRAME_BYTES).await?;
        if frame.is_empty() {
            break;
        }
        let _turn = peer.turn().await?;
        if on_disk(|| incoming.write(&frame)).is_err() {
            return Err(Refusal::Said("the shard is longer than was said, or the disk is full"));
        }
    }
    let hash: [u8; 32] = wire::read_frame(receiving, 32).await?.try_into().map_err(|_| WireError::Malformed)?;
    let _turn = peer.turn().await?;
    match on_disk(|| app.store.end(incoming, &Hash(hash), app.height()))? {
        true => Ok(Done::NOTHING_MORE),
        false => Err(Refusal::Said("the shard has another hash or length")),
    }
}

/// Signs a new root where everything of it is here that the slot has to have, and will be while the signature holds.
fn ack(app: &App, right: &Right, succession: &Succession, tree: &Tree) -> Result<Done, Refusal> {
    let height = app.height();
    if succession.until > height.saturating_add(ACK_BLOCKS + SLACK) {
        return Err(Refusal::Said("the signature would hold for too long"));
    }
    let slot = right.slot.ok_or(Refusal::Said("this relay does not serve the volume yet"))?;
    if Top::of(tree.top.depth, tree.top.leaves, tree.nodes.clone()) != Some(tree.top) {
        return Err(Refusal::Said("the top is not over these pages"));
    }
    let held = on_disk(|| has_all(&app.store, right, slot, succession, tree))?.map_err(Refusal::Said)?;
    let item = Item { volume: right.volume, kind: Kind::Tree, hash: succession.new };
    on_disk(|| {
        app.store.name(&held, height)?;
        app.store.put(&item, &tree.to_bytes(), height)
    })?;
    let signature = app.key.sign(&succession.message(&app.chain.genesis, slot, tree.top.node.sum));
    Ok(Done { answer: Answer::Acked { slot, signature }, body: None })
}

/// The pages of a tree and the slot's shards of its files, where the store has all of them. Those of pages that the standing root has too are there:
/// this relay signed it, or says that it is behind, and names them as long as it stands.
fn has_all(
    store: &Store,
    right: &Right,
    slot: u8,
    succession: &Succession,
    tree: &Tree,
) -> io::Result<Result<Vec<(Item, u64)>, &'static str>> {
    let (volume, old) = (right.volume, succession.old);
    let known = store.get(&Item { volume, kind: Kind::Tree, hash: old })?.and_then(|bytes| Tree::parse(&bytes));
    let before = if old == Hash::ZERO { Some(Tree::empty()) } else { known };
    let stands = right.roots.contains(&(succession.partition, old));
    let kept: BTreeSet<Hash> = before.iter().filter(|_| stands).flat_map(|before| &before.nodes).map(|node| node.hash).collect();
    let mut held = Vec::new();
    let mut new = BTreeSet::new();
    let mut files = 0_usize;
    for (place, node) in tree.nodes.iter().enumerate() {
        if node.sum == 0 && node.hash == Hash::ZERO {
            continue;
        }
        let item = Item { volume, kind: Kind::Page, hash: node.hash };
        let Some(bytes) = store.get(&item)? else { return Ok(Err("a page is not here")) };
        let page = Page::parse(&bytes, right.code, tree.top.depth, place).filter(|page| page.node() == Some(*node));
        let Some(page) = page else { return Ok(Err("a page is of another place")) };
        files = files.saturating_add(page.leaves.len());
        held.push((item, u64::try_from(bytes.len()).unwrap_or(u64::MAX)));
        if kept.contains(&node.hash) {
            continue;
        }
        for leaf in page.leaves.iter() {
            let Some(shard) = leaf.shards.get(usize::from(slot)) else { return Ok(Err("a leaf has too few shards")) };
            let item = Item { volume, kind: Kind::Shard, hash: *shard };
            if store.length(&item)? != Some(leaf.shard_bytes) {
                return Ok(Err("a shard is not here"));
            }
            held.push((item, leaf.shard_bytes));
        }
        new.extend(page.leaves.iter().map(|leaf| leaf.tag));
    }
    if right.is_holder() {
        // Nobody but the owner deletes: every file of a page that is gone stands in one that is new.
        let Some(before) = before else { return Ok(Err("the root before it is not here, so it cannot be seen whether a file is deleted")) };
        let standing: BTreeSet<Hash> = tree.nodes.iter().map(|node| node.hash).collect();
        for place in before.filled() {
            let hash = before.nodes[place].hash;
            if standing.contains(&hash) {
                continue;
            }
            let bytes = store.get(&Item { volume, kind: Kind::Page, hash })?.unwrap_or_default();
            let page = Page::parse(&bytes, right.code, before.top.depth, place);
            if page.is_none_or(|page| page.leaves.iter().any(|leaf| !new.contains(&leaf.tag))) {
                return Ok(Err("only the owner deletes files"));
            }
        }
    }
    Ok(if usize::try_from(tree.top.leaves).ok() == Some(files) { Ok(held) } else { Err("the top counts other files") })
}
