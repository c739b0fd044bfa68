//! Acknowledgements of roots: a relay signs that it has all that its slot has to have under a new one.

use crate::app::App;
use crate::refusal::{Refusal, on_disk};
use crate::session::{Denied, Right};
use crate::signed::Signed;
use crate::store::{Item, Kind, Store};
use crate::turns::Turns;
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Partition, bit};
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volume::wire::{Answer, signed_for};
use cowboy_volumes::relay::{ACK_BLOCKS, Succession};
use cowboy_volumes::{Page, Top};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Blocks by which a client may be ahead of this relay.
const SLACK: u64 = 60;

/// Roots that are looked through at once. Their trees may name a million files, for a request of a few KiB.
const AT_ONCE: usize = 2;

/// Requests of one owner's volumes that wait for their turn, at most: each holds a tree in memory.
const WAITING: usize = 32;

/// Turns to look through roots, by the owners of the volumes. Rights to write are given for nothing, and volumes are paid for.
pub(crate) fn turns() -> Turns {
    Turns::new(AT_ONCE, WAITING)
}

/// Whether the chain says that the old root stands and that this relay acknowledged it. Where it did not, a client that has the relay sign the next
/// root would have it answer for shards that it was never sent.
pub(crate) async fn has_acknowledged(app: &App, right: &Right, partition: &Hash, old: &Hash) -> Result<bool, Refusal> {
    let Some(slot) = right.slot else { return Ok(false) };
    let found = app.chain.read(&[state::partition_key(&right.volume, partition)]).await.map_err(Denied::from)?;
    let found: Option<Partition> = found.read(0).map_err(Denied::from)?;
    Ok(found.is_some_and(|found| found.root.top.root() == *old && found.root.behind & bit(usize::from(slot)) == 0))
}

/// Signs a new root where everything of it is here that the slot has to have, and will be while the signature holds.
/// `has_old` is what [`has_acknowledged`] answers.
pub(crate) fn sign(app: &App, right: &Right, succession: &Succession, tree: &Tree, has_old: bool) -> Result<Answer, Refusal> {
    let height = app.height();
    if succession.until > height.saturating_add(ACK_BLOCKS + SLACK) {
        return Err(Refusal::Said("the signature would hold for too long"));
    }
    let slot = right.slot.ok_or(Refusal::Said("this relay does not serve the volume yet"))?;
    if Top::of(tree.top.depth, tree.top.leaves, tree.nodes.clone()) != Some(tree.top) {
        return Err(Refusal::Said("the top is not over these pages"));
    }
    let held = on_disk(|| has_all(&app.store, right, slot, (succession, has_old), tree))?.map_err(Refusal::Said)?;
    // A signature gives no item a longer life, as else what nobody commits, and so nobody pays for, would be kept for ever. What no root names has to have
    // come lately, so that it is there until the commit.
    if held.iter().any(|at| at.saturating_add(signed_for(app.kept_for())) < height) {
        return Err(Refusal::Said("a part came long ago and no root names it: send all of it again"));
    }
    on_disk(|| keep(&app.store, right.volume, tree, &held, height))?;
    let (volume, capability) = (right.volume, right.capability);
    // Who has the standing root acknowledged again has committed nothing.
    if succession.new != succession.old {
        app.signed.note(Signed { volume, partition: succession.partition, root: succession.new, capability });
    }
    let signature = app.key.sign(&succession.message(&app.chain.genesis, slot, tree.top.node.sum));
    Ok(Answer::Acked { slot, signature })
}

/// Keeps a tree no longer than the oldest of what it names: a tree whose shards are gone would say that they are here.
fn keep(store: &Store, volume: Hash, tree: &Tree, held: &[u64], height: u64) -> io::Result<()> {
    let at = held.iter().copied().min().unwrap_or(height);
    store.put(&Item { volume, kind: Kind::Tree, hash: tree.top.root() }, &tree.to_bytes(), at)
}

/// When the pages of a tree and the slot's shards of its files were named last, or came, where the store has all of them. Those of pages that the
/// standing root has too are there where the chain says that this relay acknowledged it; it names them as long as it stands.
fn has_all(
    store: &Store,
    right: &Right,
    slot: u8,
    (succession, has_old): (&Succession, bool),
    tree: &Tree,
) -> io::Result<Result<Vec<u64>, &'static str>> {
    let (volume, old) = (right.volume, succession.old);
    let known = store.get(&Item { volume, kind: Kind::Tree, hash: old })?.and_then(|bytes| Tree::parse(&bytes));
    let before = if old == Hash::ZERO { Some(Tree::empty()) } else { known };
    let kept: BTreeSet<Hash> = before.iter().filter(|_| has_old).flat_map(|before| &before.nodes).map(|node| node.hash).collect();
    let (mut pages, mut shards) = (BTreeSet::new(), BTreeMap::new());
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
        pages.insert(item);
        if kept.contains(&node.hash) {
            continue;
        }
        for leaf in page.leaves.iter() {
            let Some(shard) = leaf.shards.get(usize::from(slot)) else { return Ok(Err("a leaf has too few shards")) };
            // However many leaves name a shard, it is looked for once.
            if *shards.entry(Item { volume, kind: Kind::Shard, hash: *shard }).or_insert(leaf.shard_bytes) != leaf.shard_bytes {
                return Ok(Err("a shard is not here"));
            }
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
    if usize::try_from(tree.top.leaves).ok() != Some(files) {
        return Ok(Err("the top counts other files"));
    }
    let items: Vec<Item> = pages.iter().chain(shards.keys()).copied().collect();
    let mut named = Vec::with_capacity(items.len());
    for (item, row) in items.iter().zip(store.rows(&items)?) {
        match row {
            Some((length, at)) if shards.get(item).is_none_or(|expected| *expected == length) => named.push(at),
            _ => return Ok(Err("a shard is not here")),
        }
    }
    Ok(Ok(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Grade;
    use commonware_codec::Encode as _;
    use cowboy_types::wire::Fixed;
    use cowboy_types::{Address, Blob, List};
    use cowboy_volumes::{Code, Leaf, Node};

    const VOLUME: Hash = Hash([1; 32]);
    const CODE: Code = Code { data: 2, parity: 1 };

    fn right() -> Right {
        Right {
            holder: Address::ZERO,
            volume: VOLUME,
            owner: Address([1; 20]),
            code: CODE,
            grade: Grade::Owner,
            capability: Fixed([0; 16]),
            tops: Vec::new(),
            slot: Some(0),
            slot_quota: 1 << 20,
        }
    }

    /// A file whose name chooses the first or the second of two pages, and its shard.
    fn file(is_second: bool) -> (Leaf, Vec<u8>) {
        let shard = vec![u8::from(is_second); 64];
        let mut tag = [0; 32];
        tag[16] = u8::from(is_second) << 7;
        let hash = Hash(*bao::encode::outboard(&shard).1.as_bytes());
        let leaf = Leaf {
            tag: Fixed(tag),
            write_id: Fixed([2; 16]),
            ciphertext_bytes: 100,
            shard_bytes: CODE.shard_bytes(100),
            shards: List::new(vec![hash; 3]).expect("few"),
            meta: Blob::default(),
        };
        (leaf, shard)
    }

    fn page(leaf: &Leaf) -> Page {
        Page { leaves: List::new(vec![leaf.clone()]).expect("one") }
    }

    fn put_shard(store: &Store, shard: &[u8], hash: &Hash, height: u64) {
        let mut incoming = store.begin(VOLUME, u64::try_from(shard.len()).expect("short")).expect("it begins");
        incoming.write(shard).expect("it is written");
        assert!(store.end(incoming, hash, height).expect("it is kept"));
    }

    /// A relay that is behind on the standing root looks for the shards of pages that do not change, too: it would sign for what it was never sent. A
    /// tree is forgotten with the oldest item below it.
    #[test]
    fn a_relay_that_is_behind_looks_for_every_shard() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("it opens");
        let (one, two) = (file(false), file(true));
        let pages = [page(&one.0), page(&two.0)];
        let nodes = [pages[0].node().expect("small"), pages[1].node().expect("small")];
        let tree = |leaves, nodes: Vec<Node>| Tree { top: Top::of(1, leaves, nodes.clone()).expect("a tree"), nodes };
        let (old, new) = (tree(1, vec![nodes[0], Node::EMPTY]), tree(2, nodes.to_vec()));
        for (page, node) in pages.iter().zip(nodes) {
            store.put(&Item { volume: VOLUME, kind: Kind::Page, hash: node.hash }, &page.encode(), 7).expect("it is kept");
        }
        keep(&store, VOLUME, &old, &[7], 7).expect("it is kept");
        put_shard(&store, &two.1, &two.0.shards[0], 9);
        let succession = Succession {
            volume: VOLUME,
            generation: 1,
            partition: Hash([3; 32]),
            sequence: 2,
            old: old.top.root(),
            new: new.top.root(),
            until: 100,
        };
        let found = |has_old| has_all(&store, &right(), 0, (&succession, has_old), &new).expect("the store is read");
        assert_eq!(found(true), Ok(vec![7, 7, 9]), "what it acknowledged it has");
        assert_eq!(found(false), Err("a shard is not here"), "what it did not acknowledge it may not have");
        put_shard(&store, &one.1, &one.0.shards[0], 8);
        let held = found(false).expect("all of it is here");
        assert_eq!(held.len(), 4);

        keep(&store, VOLUME, &new, &held, 50).expect("it is kept");
        let item = Item { volume: VOLUME, kind: Kind::Tree, hash: new.top.root() };
        assert_eq!(store.row(&item).expect("it is read").map(|(_, at)| at), Some(7), "as long as its oldest page");
        keep(&store, VOLUME, &Tree::empty(), &[], 50).expect("it is kept");
        let item = Item { volume: VOLUME, kind: Kind::Tree, hash: Top::EMPTY.root() };
        assert_eq!(store.row(&item).expect("it is read").map(|(_, at)| at), Some(50));
    }

    /// A writer that claims another sum than its shards have, or other files than its pages, gets no signature: the chain pays by what relays sign.
    #[test]
    fn a_false_sum_is_not_signed() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("it opens");
        let (honest, shard) = file(false);
        put_shard(&store, &shard, &honest.shards[0], 9);
        let longer = Leaf { ciphertext_bytes: 1_000, shard_bytes: CODE.shard_bytes(1_000), ..honest.clone() };
        let invented = Leaf { shard_bytes: 1, ..honest.clone() };
        let nodes = [&honest, &longer, &invented].map(|leaf| {
            let page = page(leaf);
            let node = page.node().expect("small");
            store.put(&Item { volume: VOLUME, kind: Kind::Page, hash: node.hash }, &page.encode(), 9).expect("it is kept");
            node
        });
        let found = |leaves, node: Node| {
            let top = Top { depth: 0, leaves, node };
            let (partition, old) = (Hash([3; 32]), Hash::ZERO);
            let succession = Succession { volume: VOLUME, generation: 1, partition, sequence: 1, old, new: top.root(), until: 100 };
            has_all(&store, &right(), 0, (&succession, false), &Tree { top, nodes: vec![node] }).expect("the store is read")
        };
        assert_eq!(found(1, nodes[0]), Ok(vec![9, 9]));
        assert_eq!(found(1, Node { sum: nodes[0].sum + 1, ..nodes[0] }), Err("a page is of another place"), "more than the page has");
        assert_eq!(found(1, Node { sum: 0, ..nodes[0] }), Err("a page is of another place"), "less than the page has");
        assert_eq!(found(2, nodes[0]), Err("the top counts other files"));
        assert_eq!(found(1, nodes[1]), Err("a shard is not here"), "a longer file with the shard of a short one");
        assert_eq!(found(1, nodes[2]), Err("a page is of another place"), "a shard shorter than its file makes it");
    }
}
