//! What a relay does for requests.

use crate::acks;
use crate::app::App;
use crate::peer::Peer;
use crate::refusal::{Refusal, on_disk};
use crate::session::{Denied, Needed, Right};
use crate::store::{self, Item, Kind, Reserved, Store};
use cowboy_serve::Held;
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volume::wire::{self, Answer, FRAME_BYTES, Request, TREE_BYTES, WireError};
use cowboy_volumes::Page;
use cowboy_volumes::relay::Succession;
use cowboy_volumes::slice::MAX_PART;
use cowboy_volumes::tree::{MAX_DEPTH, PAGE_BYTES};
use quinn::RecvStream;
use std::io;
use std::time::Instant;

/// What a volume may take here, as a multiple of what one shard of its whole quota takes: what stands, and as much that no root names yet or any more.
const TIMES_QUOTA: u64 = 2;

/// Bytes that a volume may have beside that: pages, and files of a few bytes.
const BESIDE_QUOTA: u64 = 4 << 20;

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
            allow(right.reads(), &right, Needed::Read)?;
            if !is_part(length) {
                return Err(Refusal::Said("a part has 1 to 65,536 bytes"));
            }
            let is_given = app.behaviour.serves();
            found(peer, held, |_| if is_given { app.slice(right.volume, &shard, start, length) } else { Ok(None) }).await
        }
        Request::PutPage { partition, depth, place } => {
            allow(right.writes(&partition), &right, Needed::Write)?;
            peer.hold(held, PAGE_BYTES)?;
            let bytes = wire::read_body(receiving, PAGE_BYTES).await?;
            let _turn = peer.turn().await?;
            let page =
                Some(usize::from(place)).filter(|_| depth <= MAX_DEPTH).and_then(|place| Page::parse(&bytes, right.code, depth, place));
            let node = page.and_then(|page| page.node()).ok_or(Refusal::Said("that is no page of the volume"))?;
            let item = Item { volume: right.volume, kind: Kind::Page, hash: node.hash };
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            let _room = room(app, &right, length)?;
            if on_disk(|| app.store.length(&item))?.is_none() && !right.receive_page(app, length) {
                return Err(Refusal::Said("as many pages came by the capability as it may send before it commits"));
            }
            on_disk(|| app.store.put(&item, &bytes, app.height()))?;
            Ok(Done::NOTHING_MORE)
        }
        Request::GetPage { partition, page } => {
            allow(right.sees(&partition), &right, Needed::See)?;
            found(peer, held, |store| store.get(&Item { volume: right.volume, kind: Kind::Page, hash: page })).await
        }
        Request::GetTree { partition, root } => {
            allow(right.sees_root(&app.signed, &partition, &root), &right, Needed::See)?;
            found(peer, held, |store| store.get(&Item { volume: right.volume, kind: Kind::Tree, hash: root })).await
        }
        Request::AckRoot { partition, generation, sequence, old, top, until } => {
            allow(right.writes(&partition), &right, Needed::Write)?;
            peer.hold(held, TREE_BYTES)?;
            let nodes = wire::read_body(receiving, TREE_BYTES).await?;
            let turn = peer.acks().turn(right.owner).await;
            let _turn = turn.ok_or(Refusal::Said("as many roots of the owner's volumes as may wait do; try again"))?;
            let nodes = Some(top.depth).filter(|depth| *depth <= MAX_DEPTH).and_then(|depth| Tree::parse_nodes(&nodes, depth));
            let nodes = nodes.ok_or(Refusal::Said("those are no nodes of pages"))?;
            let succession = Succession { volume: right.volume, generation, partition, sequence, old, new: top.root(), until };
            let has_old = acks::has_acknowledged(app, &right, &partition, &old).await?;
            let signed = acks::sign(app, &right, &succession, &Tree { top, nodes }, has_old)?;
            Ok(Done { answer: signed, body: None })
        }
    }
}

/// The bytes that a read gives of an item with `whole` bytes: of a shard the part that is asked for, and everything else whole. None where that part is
/// none, or does not lie in the shard: whoever asks for it gets nothing, and takes nothing of what others read for the price.
fn given(whole: u64, part: Option<(u64, u64)>) -> Option<u64> {
    let Some((start, length)) = part else { return Some(whole) };
    let is_given = is_part(length) && start.checked_add(length).is_some_and(|end| end <= whole);
    is_given.then_some(length)
}

/// Whether a part of a shard may have this length.
fn is_part(length: u64) -> bool {
    (1..=MAX_PART).contains(&length)
}

/// When a read that goes beyond the price of its volume is due, and its bytes; none for everything else, which nothing holds up. What [`act`] refuses is no read.
pub(crate) async fn due(peer: &Peer, request: &Request) -> Option<(Instant, u64)> {
    let (kind, hash, part) = match request {
        Request::GetShard { shard, start, length } => (Kind::Shard, shard, Some((*start, *length))),
        Request::GetPage { page, .. } => (Kind::Page, page, None),
        Request::GetTree { root, .. } => (Kind::Tree, root, None),
        Request::Hello { .. } | Request::PutShard { .. } | Request::PutPage { .. } | Request::AckRoot { .. } => return None,
    };
    let right = peer.session().ok()?.right(peer.app()).await.ok()?;
    let may = match request {
        Request::GetPage { partition, .. } => right.sees(partition),
        Request::GetTree { partition, root } => right.sees_root(&peer.app().signed, partition, root),
        _ => right.reads(),
    };
    let item = Item { volume: right.volume, kind, hash: *hash };
    let whole = on_disk(|| peer.app().store.length(&item)).ok().flatten().filter(|_| may)?;
    peer.due(&right, given(whole, part)?)
}

fn allow(may: bool, right: &Right, needed: Needed) -> Result<(), Refusal> {
    if may { Ok(()) } else { Err(Denied::NoRight { holder: right.holder, needed }.into()) }
}

/// What the store has, or a refusal.
async fn found(peer: &Peer, held: &mut Held, look: impl FnOnce(&Store) -> io::Result<Option<Vec<u8>>>) -> Result<Done, Refusal> {
    let _turn = peer.turn().await?;
    let body = on_disk(|| look(&peer.app().store))?.ok_or(Refusal::Said("it is not here"))?;
    peer.hold(held, body.len())?;
    Ok(Done { answer: Answer::Body {}, body: Some(body) })
}

/// Bytes that a volume may have here on disk, about.
pub(crate) fn share(slot_quota: u64) -> u64 {
    store::on_disk(slot_quota).saturating_mul(TIMES_QUOTA).saturating_add(BESIDE_QUOTA)
}

/// Room for `length` bytes more of a volume, while they come. Holders of rights leave the owner a quarter of it, whatever they send and never commit.
fn room(app: &App, right: &Right, length: u64) -> Result<Reserved, Refusal> {
    let all = share(right.slot_quota);
    let most = if right.is_holder() { all - all / 4 } else { all };
    let room = on_disk(|| app.store.reserve(right.volume, length, most))?;
    room.ok_or(Refusal::Said("the volume has as much here as it may"))
}

async fn put_shard(peer: &Peer, right: &Right, length: u64, receiving: &mut RecvStream) -> Result<Done, Refusal> {
    let app = peer.app();
    allow(right.writes_somewhere(), right, Needed::Write)?;
    let _coming = peer.coming()?;
    let counted = right.receive(app, length)?;
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
    if !on_disk(|| app.store.end(incoming, &Hash(hash), app.height()))? {
        return Err(Refusal::Said("the shard has another hash or length"));
    }
    if let Some(counted) = counted {
        counted.kept();
    }
    Ok(Done::NOTHING_MORE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 748: a read that is refused takes nothing of what is read for the price, however many a stranger sends.
    #[test]
    fn a_read_that_is_refused_counts_nothing() {
        let whole = 100_000;
        assert_eq!(given(whole, None), Some(whole));
        for (start, length) in [(0, 1), (0, MAX_PART), (whole - 1, 1), (whole - MAX_PART, MAX_PART)] {
            assert_eq!(given(whole, Some((start, length))), Some(length), "{length} bytes at {start}");
        }
        for (start, length) in [(0, 0), (0, MAX_PART + 1), (whole, 1), (whole - 1, 2), (u64::MAX, 1), (1, u64::MAX)] {
            assert_eq!(given(whole, Some((start, length))), None, "{length} bytes at {start}");
        }
        assert_eq!(given(10, Some((0, MAX_PART))), None, "the shard is shorter");
    }
}
