//! Pages, routes and slices: what is there is proven, and nothing else.

use bao::encode::{SliceExtractor, encode};
use commonware_codec::Encode as _;
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List};
use cowboy_volumes::tree::{MAX_DEPTH, PAGE_LEAVES, page_of, pages, top_of};
use cowboy_volumes::{Code, Leaf, Node, Page, Route, Top, slice};
use std::io::{Cursor, Read as _};

const CODE: Code = Code { data: 4, parity: 2 };

/// A leaf whose tag begins with a number.
fn leaf(number: u16, length: u64) -> Leaf {
    let mut tag = [0; 32];
    tag[16..18].copy_from_slice(&number.to_be_bytes());
    Leaf {
        tag: Fixed(tag),
        write_id: Fixed([2; 16]),
        ciphertext_bytes: length,
        shard_bytes: CODE.shard_bytes(length),
        shards: List::new(vec![Hash([1; 32]); 6]).expect("few"),
        meta: Blob::default(),
    }
}

fn page(leaves: Vec<Leaf>) -> Page {
    Page { leaves: List::new(leaves).expect("they fit a page") }
}

/// Leaves in the pages of a tree of this depth.
fn spread(numbers: &[u16], depth: u8) -> Vec<Page> {
    let of = |place| {
        numbers.iter().filter(move |number| page_of(&leaf(**number, 1).tag, depth) == place).map(|number| leaf(*number, u64::from(*number)))
    };
    (0..pages(depth)).map(|place| page(of(place).collect())).collect()
}

fn nodes(pages: &[Page]) -> Vec<Node> {
    pages.iter().map(|page| page.node().expect("small sums")).collect()
}

/// Every byte of a slot is found in one leaf, whose way leads to the root.
#[test]
fn every_byte_has_a_leaf() {
    for depth in [0, 1, 3] {
        let numbers: Vec<u16> = (0..40).map(|number| number * 1_600 + 7).collect();
        let pages = spread(&numbers, depth);
        let nodes = nodes(&pages);
        let top = Top::of(depth, 40, nodes.clone()).expect("a tree");
        let expected: u64 = numbers.iter().map(|number| CODE.shard_bytes(u64::from(*number)).max(1_024)).sum();
        assert_eq!(top.node.sum, expected);
        let mut at = 0;
        let mut start = 0;
        for (place, page) in pages.iter().enumerate() {
            for (inner, leaf) in page.leaves.iter().enumerate() {
                let route = Route::new(page, inner, &nodes, place).expect("a leaf of the page");
                assert_eq!(route.start(&leaf.encode(), leaf.counted(), &top.node), Some(at), "depth {depth}, leaf {inner} of page {place}");
                assert_eq!(page.find(at - start), Some((inner, 0)));
                assert_eq!(page.find(at - start + leaf.counted() - 1), Some((inner, leaf.counted() - 1)));
                at += leaf.counted();
            }
            assert_eq!(page.find(at - start), None);
            start = at;
        }
    }
}

/// A file without content counts, too: its leaf takes room with every relay, and up to 256 of them make a page.
#[test]
fn empty_files_count() {
    let full = page((0..256).map(|number| leaf(number, 0)).collect());
    let sum = full.node().expect("small sums").sum;
    assert_eq!(sum, 256 * 1_024);
    let most = 256 * cowboy_volumes::relay::LEAF_BYTES;
    assert!(u64::try_from(most).expect("small") < 2 * sum, "what is kept is less than twice what is counted");
    let (whole, short) = (leaf(1, 4 * 1_024), leaf(1, 4 * 1_023));
    assert_eq!((whole.counted(), short.counted(), leaf(1, 4 * 65_536).counted()), (1_024, 1_024, 65_536));
}

/// A way with another leaf, another sum, a turned step or a step less leads nowhere.
#[test]
fn a_changed_way_leads_nowhere() {
    let pages = spread(&[1, 2, 3, 40_000, 50_000], 1);
    let nodes = nodes(&pages);
    let top = Top::of(1, 5, nodes.clone()).expect("a tree");
    let (good, leaf) = (Route::new(&pages[0], 1, &nodes, 0).expect("a leaf"), pages[0].leaves[1].clone());
    let bytes = leaf.encode().to_vec();
    assert_eq!(good.start(&bytes, leaf.counted(), &top.node), Some(1_024));
    assert_eq!(good.start(&bytes, leaf.counted() + 64, &top.node), None, "another sum");
    let mut other = bytes.clone();
    other[0] ^= 1;
    assert_eq!(good.start(&other, leaf.counted(), &top.node), None, "another leaf");
    let changed = |change: &dyn Fn(&mut Vec<cowboy_volumes::tree::Turn>)| {
        let mut turns = good.turns.clone().into_vec();
        change(&mut turns);
        Route { turns: List::new(turns).expect("few") }.start(&bytes, leaf.counted(), &top.node)
    };
    assert_eq!(changed(&|turns| turns.truncate(2)), None, "a step less");
    assert_eq!(changed(&|turns| turns[0].is_left ^= true), None, "another side");
    assert_eq!(changed(&|turns| turns[1].other.sum += 1), None, "another sum beside it");
    assert_eq!(changed(&|turns| turns[0].other.sum = u64::MAX), None, "sums that overflow");
}

/// Pages are refused unless their leaves ascend and belong to them.
#[test]
fn pages_have_one_form() {
    let parse = |leaves, depth, place| Page::parse(&page(leaves).encode(), CODE, depth, place).is_some();
    assert!(parse(vec![leaf(1, 5), leaf(2, 5)], 0, 0));
    assert!(!parse(vec![leaf(2, 5), leaf(1, 5)], 0, 0), "descending");
    assert!(!parse(vec![leaf(1, 5), leaf(1, 6)], 0, 0), "the same tag twice");
    assert!(parse(vec![leaf(40_000, 5)], 1, 1));
    assert!(!parse(vec![leaf(40_000, 5)], 1, 0), "another page's leaf");
    let full: Vec<Leaf> = (0..256).map(|number| leaf(number, 9)).collect();
    assert_eq!(full.len(), PAGE_LEAVES);
    assert!(parse(full, 0, 0));
    let swapped = Leaf { shard_bytes: 128, ..leaf(3, 5) };
    assert!(!parse(vec![swapped], 0, 0), "a false size");
}

/// A tree needs all its pages, and sums that fit; nothing below is nothing, whatever the size.
#[test]
fn tops_are_of_whole_trees() {
    assert_eq!(Top::of(1, 0, vec![Node::EMPTY]), None);
    assert_eq!(Top::of(MAX_DEPTH + 1, 0, vec![Node::EMPTY; pages(MAX_DEPTH + 1)]), None);
    assert_eq!(Top::of(0, 0, vec![Node::EMPTY]), Some(Top::EMPTY));
    assert_eq!(Top::of(3, 0, vec![Node::EMPTY; 8]).map(|top| top.node), Some(Node::EMPTY));
    let half = Node { hash: Hash([1; 32]), sum: u64::MAX / 2 + 1 };
    assert_eq!(top_of(vec![half, half]), None);
    let roots = [Top::EMPTY, Top { depth: 1, ..Top::EMPTY }, Top { leaves: 1, ..Top::EMPTY }].map(|top| top.root());
    assert!(roots[0] != roots[1] && roots[0] != roots[2], "a root says depth and number of leaves");
}

fn extract(encoded: &[u8], start: u64, length: u64) -> Vec<u8> {
    let mut slice = Vec::new();
    SliceExtractor::new(Cursor::new(encoded), start, length).read_to_end(&mut slice).expect("in memory");
    slice
}

/// A slice proves its part under the shard's hash and length, and is refused where anything differs.
#[test]
fn slices_prove_their_part_alone() {
    let shard: Vec<u8> = (0..200_000_u32).map(|number| (number % 251) as u8).collect();
    let (encoded, hash) = encode(&shard);
    let (hash, length) = (Hash(*hash.as_bytes()), 200_000);
    for (start, part) in [(0, 1), (0, 1_024), (1_000, 1_024), (199_999, 1), (134_000, 65_536), (199_680, 320)] {
        let slice = extract(&encoded, start, part);
        let end = start + part;
        let expected = shard[usize::try_from(start).expect("small")..usize::try_from(end).expect("small")].to_vec();
        assert_eq!(slice::open(&slice, &hash, length, start, part), Some(expected), "{start}, {part}");
        assert_eq!(slice::open(&slice, &hash, length + 1, start, part), None, "another length");
        assert_eq!(slice::open(&slice, &Hash([1; 32]), length, start, part), None, "another shard");
        assert_eq!(slice::open(&slice[..slice.len() - 1], &hash, length, start, part), None, "cut");
        assert_eq!(slice::open(&[&slice[..], &[0]].concat(), &hash, length, start, part), None, "longer");
        for place in [0, 8, slice.len() / 2, slice.len() - 1] {
            let mut changed = slice.clone();
            changed[place] ^= 1;
            assert_eq!(slice::open(&changed, &hash, length, start, part), None, "byte {place}");
        }
    }
    let slice = extract(&encoded, 0, 1_024);
    for (start, part) in [(1_024, 1_024), (0, 0), (0, 65_537), (199_999, 2), (u64::MAX, 1)] {
        assert_eq!(slice::open(&slice, &hash, length, start, part), None);
    }
    assert_eq!(slice::chunk(1_023, 5_000), (0, 1_024));
    assert_eq!(slice::chunk(4_999, 5_000), (4_096, 904));
}

/// What a proof of one chunk of a shard of 16 MiB takes.
#[test]
fn a_chunk_of_16_mib_takes_1928_bytes() {
    let (encoded, _) = encode(vec![5; 1 << 24]);
    assert_eq!(extract(&encoded, 1 << 20, 1_024).len(), 1_928);
}
