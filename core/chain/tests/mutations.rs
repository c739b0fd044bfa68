//! Every decoder against mutated bytes: a seeded, bounded run of what `fuzz/` searches without end.
//!
//! A failure prints the row and the seed. `MUTATIONS` in this file is how many bytes strings each row sees.

use commonware_codec::{Decode as _, Encode as _};
use cowboy_light::{answer::Anchor, state};
use cowboy_testkit::chain::{ALL, manifest, transfer};
use cowboy_types::cbor::{self, Value};
use cowboy_types::entitlement::{Attestation, Bounds};
use cowboy_types::permission::{Action, Constraints, Name, Scope};
use cowboy_types::wire::List;
use cowboy_types::{Address, Block, Event, Hash, Header, Receipt, Transaction, signing};
use cowboy_vm::{Limits, build_image, compile};

const MUTATIONS: u64 = 10_000;

const BOUNDS: Bounds = Bounds { bytes: 16_384, grants: 64, items: 256, version: u8::MAX };

/// A small generator, the same everywhere: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a length fits");
        usize::try_from(self.next() % bound).expect("a remainder fits")
    }

    fn byte(&mut self) -> u8 {
        // Bytes that lengths, tags and heads are made of come more often than others.
        const TELLING: [u8; 12] = [0x00, 0x01, 0x17, 0x18, 0x1B, 0x5F, 0x7F, 0x80, 0x9F, 0xBF, 0xFB, 0xFF];
        if self.next().is_multiple_of(2) { TELLING[self.below(TELLING.len())] } else { self.next().to_le_bytes()[0] }
    }
}

/// The bytes with one to four changes: overwritten, inserted, cut out, doubled, cut off, or crossed with other bytes.
fn mutated(random: &mut Random, bytes: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let (one, two) = (random.below(bytes.len() + 1), random.below(bytes.len() + 1));
        let (from, to) = (one.min(two), one.max(two));
        match random.below(6) {
            0 if from < bytes.len() => bytes[from] = random.byte(),
            1 => bytes.insert(from, random.byte()),
            2 => drop(bytes.drain(from..to.min(from + 8))),
            3 => {
                let doubled = bytes[from..to.min(from + 64)].to_vec();
                bytes.splice(from..from, doubled);
            }
            4 => bytes.truncate(to),
            _ => bytes.splice(from.., other[random.below(other.len() + 1)..].iter().copied()).for_each(drop),
        }
    }
    bytes
}

/// A decoder, valid bytes for it, and what holds for any bytes whatever.
struct Row {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    times: u64,
    check: fn(&[u8]),
}

fn check(row: &Row) {
    for bytes in &row.corpus {
        (row.check)(bytes);
    }
    for seed in 0..row.times {
        let mut random = Random(seed);
        let (one, other) = (random.below(row.corpus.len()), random.below(row.corpus.len()));
        let bytes = mutated(&mut random, &row.corpus[one], &row.corpus[other]);
        let outcome = std::panic::catch_unwind(|| (row.check)(&bytes));
        assert!(outcome.is_ok(), "{}: seed {seed} fails: {}", row.name, bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    }
}

fn same<T: commonware_codec::Codec<Cfg = ()>>(bytes: &[u8]) -> Option<T> {
    let value = T::decode_cfg(bytes.to_vec(), &()).ok()?;
    assert_eq!(value.encode(), bytes, "what decodes at all has these bytes and no others");
    Some(value)
}

/// Blocks and receipts as the chain makes them.
fn made() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let mut chain = cowboy_testkit::chain::Chain::new();
    let actor = chain.deploy("handler run\n emit 'e' 'x'\n send @3 'y' 5\n return 'z'\n");
    let receipts = [chain.call(actor, "run", b"payload"), chain.call(actor, "missing", b"")];
    let receipts = receipts.iter().map(|receipt| receipt.encode().to_vec()).collect();
    let transactions = vec![transfer(1, 0, Address([7; 20]), 5).transaction().clone()];
    let block = Block { header: header(), transactions: List::new(transactions).expect("one fits"), reshare: Default::default() };
    (vec![block.encode().to_vec()], receipts)
}

/// A header out of bytes that are one: zeros wherever the codec allows them.
fn header() -> Header {
    for length in 1..4_096 {
        if let Ok(header) = Header::decode_cfg(vec![0; length], &()) {
            return header;
        }
    }
    unreachable!("a header of zeros is a header")
}

/// nothing from outside panics, and what is accepted has one form.
#[test]
fn no_bytes_break_a_decoder() {
    let (blocks, receipts) = made();
    let grants = |grants| manifest(grants);
    let value = Value::map([
        ("a", Value::Array(vec![Value::uint(0), Value::Integer(-5), Value::Bool(true), Value::Null])),
        ("bytes", Value::Bytes(vec![1, 2, 3])),
        ("n", Value::map([("text", Value::text("grüße")), ("big", Value::uint(u64::MAX))])),
    ]);
    let anchor = Anchor { headers: List::new(vec![header(), header()]).expect("two fit"), certificate: Default::default() };
    let sources: [&str; 4] = [
        include_str!("../../../examples/counter/actor.py"),
        include_str!("../../../examples/escrow/actor.py"),
        include_str!("../../../examples/lottery/actor.py"),
        "def f(a, *b, c=1, **d):\n    try:\n        return [x async for x in a] if b else {**d}\n    finally:\n        del a\n",
    ];
    let pool = Name::new(b"eu".to_vec()).expect("a short name");
    let (scope, action) = (Scope::RunnerPool { pool: pool.clone() }, Action::RunnerJoinPool { pool });
    let attestation = Attestation {
        runner_id: Address([7; 20]),
        capabilities: cowboy_types::entitlement::Grants::parse_manifest(
            BOUNDS,
            &grants(&[("accel.gpu", &[("min_vram_gb", 24)]), ("oracle.llm", &[("max_tokens", 2)])]),
        )
        .expect("the manifest is right"),
        valid_from: cowboy_types::Height(1),
        valid_until: cowboy_types::Height(2),
        evidence_hash: Some(cowboy_types::Hash([9; 32])),
        signature: Default::default(),
    };
    let rows = [
        Row {
            name: "transaction",
            corpus: vec![transfer(1, 0, Address([7; 20]), 5).transaction().encode().to_vec()],
            times: MUTATIONS,
            check: |bytes| {
                if let Ok(transaction) = Transaction::from_bytes(bytes) {
                    assert_eq!(transaction.to_bytes(), bytes);
                    let _ = signing::verify(&transaction);
                }
            },
        },
        Row { name: "block", corpus: blocks, times: MUTATIONS, check: |bytes| drop(same::<Block>(bytes)) },
        Row { name: "receipt", corpus: receipts, times: MUTATIONS, check: |bytes| drop(same::<Receipt>(bytes)) },
        Row { name: "event", corpus: vec![vec![0; 22]], times: MUTATIONS, check: |bytes| drop(same::<Event>(bytes)) },
        Row {
            name: "manifest",
            corpus: vec![grants(ALL), grants(&[("storage.kv", &[("max_bytes", 100)]), ("timer.schedule", &[("max_timers", 2)])])],
            times: MUTATIONS,
            check: |bytes| {
                let _ = cowboy_types::entitlement::Grants::parse_manifest(BOUNDS, bytes);
            },
        },
        Row {
            name: "attestation",
            corpus: vec![attestation.encode()],
            times: MUTATIONS,
            check: |bytes| {
                if let Ok(attestation) = Attestation::decode(BOUNDS, bytes) {
                    assert!(Attestation::decode(BOUNDS, &attestation.encode()).is_ok());
                    let _ = attestation.is_signed();
                }
            },
        },
        Row {
            name: "permission",
            corpus: vec![scope.encode().to_vec(), action.encode().to_vec(), Constraints::default().encode().to_vec()],
            times: MUTATIONS,
            check: |bytes| {
                if let Some(scope) = same::<Scope>(bytes) {
                    assert_eq!(scope.to_string().parse(), Ok(scope), "a scope's text says all of it");
                }
                if let Some(action) = same::<Action>(bytes) {
                    assert_eq!(action.to_string().parse(), Ok(action), "an action's text says all of it");
                }
                if let Some(constraints) = same::<Constraints>(bytes) {
                    assert!(!constraints.are_within(&constraints), "nothing is a strict subset of itself");
                }
            },
        },
        Row {
            name: "CBOR",
            corpus: vec![value.encode(), vec![0xFB, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0], vec![0xC2, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0]],
            times: 2 * MUTATIONS,
            check: |bytes| {
                if let Ok(value) = cbor::decode(bytes) {
                    // Minus zero is the only thing that reads as something else.
                    let has_minus_zero = bytes.windows(9).any(|part| part == [0xFB, 0x80, 0, 0, 0, 0, 0, 0, 0]);
                    assert!(has_minus_zero || value.encode() == bytes);
                    assert_eq!(cbor::decode(&value.encode()), Ok(value));
                }
            },
        },
        Row {
            name: "anchor and proof",
            corpus: vec![anchor.encode().to_vec(), vec![0; 200]],
            times: MUTATIONS,
            check: |bytes| {
                if let Some(anchor) = same::<Anchor>(bytes) {
                    let _ = anchor.check();
                }
                assert!(!state::proves_value(&Hash::ZERO, &[7; 32], b"value", bytes), "a proof of nothing");
                assert!(!state::proves_absence(&Hash::ZERO, &[7; 32], bytes), "a proof of nothing");
            },
        },
        Row {
            name: "source",
            corpus: sources.iter().map(|source| source.as_bytes().to_vec()).collect(),
            times: 2_000,
            check: |bytes| {
                let Some(source) = cowboy_chain::canonical_source(bytes) else { return };
                if let Ok(unit) = compile(&source, "mutated.py") {
                    let _ = build_image(&unit, Limits { cycles: 2_000_000, ..Limits::default() });
                }
            },
        },
    ];
    for row in &rows {
        check(row);
    }
}
