//! The points of relays' proofs: drawing them among many slots, answers and their check, and how soon a relay is caught that lost a part of what it
//! keeps. Prints JSON.
#![allow(clippy::print_stdout, reason = "what is measured is printed")]
#![allow(clippy::disallowed_types, reason = "a bench reads the clock")]

use bao::encode::{SliceExtractor, outboard};
use commonware_codec::Encode as _;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_system::volumes::directory::{self, Entry};
use cowboy_system::volumes::proofs;
use cowboy_system::volumes::types::{POINTS, Point, Relay};
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, keccak256};
use cowboy_volumes::relay::PointProof;
use cowboy_volumes::{Code, Leaf, Node, Page, Route, Top, slice};
use std::hint::black_box;
use std::io::{Cursor, Read as _};
use std::time::{Duration, Instant};

/// The relay.
const RELAY: Address = Address([7; 20]);

/// Slots of the relay whose points are drawn.
const SLOTS: u64 = 100_000;

/// Rounds that are drawn for it.
const DRAWS: u64 = 2_000;

/// Relays that lost a twentieth of their chunks.
const RUNS: u64 = 1_000;

/// One chunk of this number is lost.
const LOST: u64 = 20;

/// Bits of a tag that choose a page, pages, and files of a page.
const DEPTH: u8 = 4;
const PAGES: u8 = 16;
const FILES: u8 = 64;

/// Lengths of the first file and of the others.
const LARGE: u64 = 256 << 20;
const SMALL: u64 = 65_536;

/// A directory with many slots.
fn directory() -> World {
    let (mut world, mut relay) = (World::default(), Relay::new(Height::ZERO, Height::ZERO));
    for number in 0..SLOTS {
        let volume = keccak256(&[&number.to_be_bytes()]);
        let bytes = u64::from(volume.0[0]).saturating_add(1) << 20;
        let entry = Entry { volume, slot: 1, bytes };
        loop {
            let (before, kept) = (world.checkpoint(), relay.clone());
            match directory::push(&mut world, RELAY, &mut relay, entry.clone()) {
                Ok(place) => {
                    assert_eq!(place, Some(number), "they stand one behind the other");
                    break;
                }
                // Whatever is missed is not there.
                Err(miss) => {
                    world.rollback(&before);
                    relay = kept;
                    for digest in world.want(miss) {
                        world.fill(&digest, None);
                    }
                }
            }
        }
    }
    world
}

/// The slots that a round asks for, with the places of the bytes.
fn draw(world: &World, height: u64) -> Result<Vec<(Entry, u64)>, Miss> {
    let total = directory::total(world, RELAY)?;
    let mut drawn = Vec::with_capacity(POINTS);
    for number in (0_u8..).take(POINTS) {
        let byte = proofs::byte(b"beacon", Height(height), RELAY, number, total).expect("the relay keeps something");
        drawn.push(directory::find(world, RELAY, byte)?.expect("a slot has the byte"));
    }
    Ok(drawn)
}

/// Nanoseconds of drawing a round, and the records that it reads of a world that knows none.
fn drawing(world: &World) -> (u128, usize) {
    let began = Instant::now();
    for height in 0..DRAWS {
        black_box(draw(world, height).expect("everything is known"));
    }
    let each = began.elapsed().as_nanos() / u128::from(DRAWS);
    let (stored, mut cold, mut records) = (world.writes(), World::default(), 0);
    while let Err(miss) = draw(&cold, 0) {
        for digest in cold.want(miss) {
            records += 1;
            cold.fill(&digest, stored.get(&digest).cloned().flatten());
        }
    }
    (each, records)
}

/// What the relay of the first slot of a volume keeps.
struct Kept {
    code: Code,
    pages: Vec<Page>,
    nodes: Vec<Node>,
    top: Top,
    /// Each file's shard, with the tree of its hashes.
    shards: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Kept {
    fn new() -> Self {
        let code = Code::new(4, 2).expect("a code");
        let (mut pages, mut shards) = (Vec::new(), Vec::new());
        for place in 0..PAGES {
            let mut leaves = Vec::new();
            for number in 0..FILES {
                let length = if (place, number) == (0, 0) { LARGE } else { SMALL };
                let (leaf, shard) = file(code, (place, number), length);
                leaves.push(leaf);
                shards.push(shard);
            }
            pages.push(Page { leaves: List::new(leaves).expect("a page has as many") });
        }
        let nodes: Vec<Node> = pages.iter().map(|page| page.node().expect("a small sum")).collect();
        let files = u32::from(PAGES) * u32::from(FILES);
        let top = Top::of(DEPTH, files, nodes.clone()).expect("a tree");
        Self { code, pages, nodes, top, shards }
    }

    /// The proof of a byte of all that the relay keeps.
    fn prove(&self, at: u64) -> Vec<u8> {
        let (mut place, mut rest) = (0, at);
        while let Some(further) = rest.checked_sub(self.nodes[place].sum) {
            (place, rest) = (place + 1, further);
        }
        let page = &self.pages[place];
        let (number, rest) = page.find(rest).expect("a file has the byte");
        let leaf = &page.leaves[number];
        let (shard, tree) = &self.shards[place * usize::from(FILES) + number];
        let (start, length) = slice::chunk(rest, leaf.shard_bytes);
        let mut part = Vec::new();
        SliceExtractor::new_outboard(Cursor::new(shard), Cursor::new(tree), start, length).read_to_end(&mut part).expect("in memory");
        let proof = PointProof {
            leaf: Blob::new(leaf.encode()).expect("a leaf is short"),
            route: Route::new(page, number, &self.nodes, place).expect("the leaf is in the tree"),
            slice: Blob::new(part).expect("a chunk is short"),
        };
        proof.encode().to_vec()
    }
}

/// The leaf of a file, and its shard with the tree of its hashes.
fn file(code: Code, (place, number): (u8, u8), length: u64) -> (Leaf, (Vec<u8>, Vec<u8>)) {
    let shard_bytes = code.shard_bytes(length);
    let shard: Vec<u8> = (0..shard_bytes).map(|at| (at.wrapping_mul(31) ^ u64::from(number)).to_le_bytes()[0]).collect();
    let (tree, hash) = outboard(&shard);
    let mut tag = [0; 32];
    // The first bits of the second half choose the page.
    (tag[16], tag[31]) = (place << (8 - DEPTH), number);
    let mut hashes = vec![Hash([9; 32]); code.slots()];
    hashes[0] = Hash(*hash.as_bytes());
    let leaf = Leaf {
        tag: Fixed(tag),
        write_id: Fixed([3; 16]),
        ciphertext_bytes: length,
        shard_bytes,
        shards: List::new(hashes).expect("a hash for each slot"),
        // About what path, size, hash and time take.
        meta: Blob::new(vec![5; 160]).expect("short"),
    };
    (leaf, (shard, tree))
}

/// What relays did that were asked for a day.
#[derive(Default)]
struct Found {
    /// Relays that lost a part, and were asked for it.
    caught: u64,
    /// Answers of a relay that lost nothing which do not hold.
    refused: u64,
    /// Answers, the time to check all, and the most bytes of a round.
    answers: u32,
    checking: Duration,
    most: usize,
}

/// Whether a run's relay lost the chunk of a byte.
fn is_lost(run: u64, at: u64) -> bool {
    let chunk = at / slice::CHUNK_BYTES;
    let dice = keccak256(&[b"lost", &run.to_be_bytes(), &chunk.to_be_bytes()]);
    u64::from_be_bytes(*dice.0.first_chunk().expect("a digest has eight bytes")).is_multiple_of(LOST)
}

/// Asks a relay for a day, in each run with other beacons and another part lost.
fn detection(kept: &Kept) -> Found {
    let rounds = 86_400 / Params::GENESIS.volumes.proof_period;
    let mut found = Found::default();
    for run in 0..RUNS {
        let beacon = keccak256(&[b"beacon", &run.to_be_bytes()]);
        let mut is_caught = false;
        for round in 0..rounds {
            let mut bytes = 0;
            for number in (0_u8..).take(POINTS) {
                let at = proofs::byte(&beacon.0, Height(round), RELAY, number, kept.top.node.sum).expect("the relay keeps something");
                let proof = kept.prove(at);
                let point = Point { volume: Hash([1; 32]), slot: 0, partition: Hash([2; 32]), top: kept.top, at };
                let began = Instant::now();
                let holds = proofs::proves(&point, kept.code, &proof);
                found.checking += began.elapsed();
                found.answers += 1;
                found.refused += u64::from(!holds);
                bytes += proof.len();
                is_caught |= is_lost(run, at);
            }
            found.most = found.most.max(bytes);
        }
        found.caught += u64::from(is_caught);
    }
    found
}

fn main() {
    let (draw_ns, draw_records) = drawing(&directory());
    let Found { caught, refused, answers, checking, most } = detection(&Kept::new());
    // All of a round.
    let check_ns = (checking / answers).as_nanos() * POINTS as u128;
    println!(
        "{{\"slots\": {SLOTS}, \"draw_ns\": {draw_ns}, \"draw_records\": {draw_records}, \"answer_bytes\": {most}, \"check_ns\": {check_ns}, \
         \"runs\": {RUNS}, \"caught\": {caught}, \"honest_refused\": {refused}, \"answers\": {answers}}}"
    );
}
