//! Records, names, references and messages as bytes.

use commonware_codec::{DecodeExt as _, Encode as _, conformance::generate_value};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use cowboy_volumes::relay::{LEAF_BYTES, PointProof, Succession};
use cowboy_volumes::tree::{PAGE_BYTES, PAGE_LEAVES};
use cowboy_volumes::{BlobRef, Code, Leaf, Mode, Name, Node, Page, Path, Route, Token, Top, capability};

cowboy_types::format_tests! { Code Leaf Mode Node Page PointProof Route Token Top }

/// what a name, a path and an id are.
#[test]
fn names_and_paths_have_one_form() {
    let longest = "a".repeat(64);
    for (text, is_name) in [
        ("a", true),
        ("Notes_1.txt-", true),
        (&*longest, true),
        (&*format!("{longest}a"), false),
        ("", false),
        (".", false),
        ("..", false),
        ("a/b", false),
        ("ä", false),
        ("a\0", false),
    ] {
        assert_eq!(Name::new(text).is_some(), is_name, "{text:?}");
    }
    let deep = vec!["a".repeat(63); 8].join("/");
    for (text, is_path) in
        [("a/b", true), (&*deep, true), (&*format!("{deep}/bb"), false), ("a", false), ("/a", false), ("a//b", false), ("a/../b", false)]
    {
        assert_eq!(Path::new(text).is_some(), is_path, "{text:?}");
    }
    let path = Path::new("notes/2026/jan.txt").expect("a path");
    assert_eq!((path.partition().as_str(), path.split()), ("notes", ("notes/2026", "jan.txt")));
    let name = Name::new("memory").expect("a name");
    assert_ne!(name.volume(Address([1; 20])), name.volume(Address([2; 20])));
}

/// The lengths of shards follow from the length of the file alone.
#[test]
fn shards_are_as_long_as_the_code_makes_them() {
    let code = Code::new(4, 2).expect("a code");
    assert_eq!((code.slots(), code.quorum()), (6, 5));
    for (length, shard) in [
        (0, 0),
        (1, 64),
        (256, 64),
        (257, 128),
        (4 * 65_536 - 1, 65_536),
        (4 * 65_536, 65_536),
        (4 * 65_536 + 1, 65_536 + 64),
        (1 << 30, 1 << 28),
    ] {
        assert_eq!(code.shard_bytes(length), shard, "{length}");
    }
    for (data, parity) in [(0, 1), (1, 0), (17, 1), (1, 9)] {
        assert_eq!(Code::new(data, parity), None);
    }
    assert_eq!(Code::new(16, 8).map(|code| (code.slots(), code.quorum())), Some((24, 20)));
}

/// A leaf of another code, or with another length of shards than its ciphertext has, is none.
#[test]
fn a_leaf_says_nothing_false_about_its_length() {
    let code = Code::new(4, 2).expect("a code");
    let leaf = leaf(3, 1_000);
    assert!(Leaf::parse(&leaf.encode(), code).is_some());
    let wrong = [
        Leaf { shard_bytes: leaf.shard_bytes + 64, ..leaf.clone() },
        Leaf { ciphertext_bytes: 1_100, ..leaf.clone() },
        Leaf { ciphertext_bytes: u64::MAX, shard_bytes: code.shard_bytes(u64::MAX), ..leaf.clone() },
        Leaf { shards: cowboy_types::List::new(vec![Hash([1; 32]); 5]).expect("few"), ..leaf.clone() },
    ];
    for leaf in wrong {
        assert_eq!(Leaf::parse(&leaf.encode(), code), None);
    }
    assert_eq!(Leaf::parse(&leaf.encode(), Code::new(3, 3).expect("a code")), None);
    // The longest leaf fits where leaves are sent.
    const { assert!(PAGE_LEAVES * LEAF_BYTES <= PAGE_BYTES) };
}

fn leaf(tag: u8, length: u64) -> Leaf {
    Leaf {
        tag: Fixed([tag; 32]),
        write_id: Fixed([1; 16]),
        ciphertext_bytes: length,
        shard_bytes: Code::new(4, 2).expect("a code").shard_bytes(length),
        shards: cowboy_types::List::new(vec![Hash([1; 32]); 6]).expect("few"),
        meta: cowboy_types::Blob::default(),
    }
}

/// Tags keep the files of a directory together, and say nothing without the key.
#[test]
fn tags_are_by_directory_and_key() {
    let path = |text| Path::new(text).expect("a path");
    let tag = |key: u8, text| cowboy_volumes::leaf::tag(&[key; 32], &path(text)).0;
    assert_eq!(tag(1, "a/b/c")[..16], tag(1, "a/b/d")[..16]);
    assert_ne!(tag(1, "a/b/c")[16..], tag(1, "a/b/d")[16..]);
    assert_ne!(tag(1, "a/b")[..16], tag(2, "a/b")[..16]);
    assert_ne!(tag(1, "a/a")[..16], tag(1, "a/a")[16..], "a directory and a name hash apart");
}

/// What a relay signs names chain, volume, partition, both roots, slot and sum; a token names chain, volume, capability and holder.
#[test]
fn messages_name_all_that_they_are_about() {
    let (volume, partition, old, new) = (Hash([1; 32]), Hash([2; 32]), Hash([3; 32]), Hash([4; 32]));
    let base = Succession { volume, generation: 1, partition, sequence: 2, old, new, until: 3 };
    let message = base.message(&Hash([9; 32]), 5, 6);
    assert_eq!(message.len(), 19 + 5 * 32 + 3 * 8 + 1 + 8);
    let others = [
        Succession { volume: Hash([0; 32]), ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        Succession { partition: Hash([0; 32]), ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        Succession { old: Hash([0; 32]), ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        Succession { new: Hash([0; 32]), ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        Succession { generation: 0, ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        Succession { sequence: 0, ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        Succession { until: 0, ..base.clone() }.message(&Hash([9; 32]), 5, 6),
        base.message(&Hash([8; 32]), 5, 6),
        base.message(&Hash([9; 32]), 4, 6),
        base.message(&Hash([9; 32]), 5, 7),
    ];
    assert!(!others.contains(&message));
    let token: Token = generate_value(1);
    assert_eq!(token.to_bytes().len(), Token::BYTES);
    let digest = token.digest(&[1; 32], Address([2; 20]));
    assert_ne!(digest, token.digest(&[2; 32], Address([2; 20])), "another connection");
    assert_ne!(digest, token.digest(&[1; 32], Address([3; 20])), "another relay");
    assert_ne!(capability::id(&Hash([1; 32]), &Hash([2; 32])), capability::id(&Hash([1; 32]), &Hash([3; 32])));
}

/// A reference has 64 bytes, and one form.
#[test]
fn a_reference_has_64_bytes() {
    let reference = BlobRef { hash: Hash([7; 32]), size: 5, volume: [8; 20], is_public: true };
    let bytes = reference.to_bytes();
    let parts: [&[u8]; 5] = [&[1, 0x1E, 0x20], &[7; 32], &5_u64.to_be_bytes(), &[8; 20], &[1]];
    assert_eq!(bytes[..], parts.concat());
    assert_eq!(BlobRef::parse(&bytes), Some(reference));
    for (place, byte) in [(0, 2), (1, 0x12), (2, 0x21), (63, 2)] {
        let mut wrong = bytes;
        wrong[place] = byte;
        assert_eq!(BlobRef::parse(&wrong), None);
    }
    assert_eq!(BlobRef::parse(&bytes[..63]), None);
}

/// bytes that differ in one bit are refused, or are the one form of another value.
#[test]
fn changed_bytes_are_refused_or_decode_to_what_they_say() {
    for seed in 0_u64..400 {
        let change = |bytes: &mut Vec<u8>| {
            let place = usize::try_from(seed.wrapping_mul(7_919)).expect("small") % bytes.len();
            bytes[place] ^= 1 << (seed % 8);
        };
        let mut page = generate_value::<Page>(seed).encode().to_vec();
        change(&mut page);
        if let Ok(decoded) = Page::decode(bytes::Bytes::from(page.clone())) {
            assert_eq!(decoded.encode(), page, "seed {seed}");
            let _ = decoded.node();
        }
        let mut proof = generate_value::<PointProof>(seed).encode().to_vec();
        change(&mut proof);
        if let Ok(decoded) = PointProof::decode(bytes::Bytes::from(proof.clone())) {
            assert_eq!(decoded.encode(), proof, "seed {seed}");
            let _ = decoded.route.start(&decoded.leaf, seed, &Node::EMPTY);
        }
    }
}
