//! Files of volumes: encrypted, and bound to where they are.

mod liar;

use commonware_codec::conformance::generate_value;
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, Text};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::segments::{Cipher, Meta, SEGMENT_BYTES, open_meta, seal_meta};
use cowboy_volume::wire::{Answer, Hello, Request};
use cowboy_volumes::{Leaf, Name, Path};

cowboy_types::format_tests! { Answer Hello Meta Request }

const VOLUME: Hash = Hash([3; 32]);

fn key(secret: u8) -> PartitionKey {
    PartitionKey::owned(&[secret; 32], &VOLUME, &Name::new("notes").expect("a name"))
}

fn path(text: &str) -> Path {
    Path::new(text).expect("a path")
}

/// A segment opens at its place, in its file, under its key, and nowhere else: cut, swapped and exchanged segments are seen.
#[test]
fn segments_open_where_they_belong() {
    let cipher = |secret: u8, write: u8, text: &str| Cipher::new(&key(secret), &[write; 16], &VOLUME, &path(text));
    let sealed = |number: u64, is_last: bool| {
        let mut segment = b"a segment".to_vec();
        cipher(1, 2, "notes/a").seal(number, is_last, &mut segment);
        segment
    };
    let opens =
        |cipher: &Cipher, number: u64, is_last: bool, mut segment: Vec<u8>| cipher.open(number, is_last, &mut segment).then_some(segment);
    let good = cipher(1, 2, "notes/a");
    assert_eq!(opens(&good, 4, false, sealed(4, false)), Some(b"a segment".to_vec()));
    let wrong = [
        opens(&good, 5, false, sealed(4, false)),
        opens(&good, 4, true, sealed(4, false)),
        opens(&cipher(2, 2, "notes/a"), 4, false, sealed(4, false)),
        opens(&cipher(1, 3, "notes/a"), 4, false, sealed(4, false)),
        opens(&cipher(1, 2, "notes/b"), 4, false, sealed(4, false)),
        opens(&good, 4, false, sealed(4, false)[1..].to_vec()),
        opens(&good, 4, false, vec![1; 3]),
    ];
    assert!(wrong.iter().all(Option::is_none));
    assert_ne!(sealed(4, false), sealed(5, false));

    let lengths = [0, 1, SEGMENT_BYTES as u64, SEGMENT_BYTES as u64 + 1].map(|size| good.length(size) - size);
    assert_eq!(lengths, [16, 16, 16, 32], "an empty file has a segment, too");
    assert_eq!(
        [u64::MAX, u64::MAX - 16].map(|size| good.length(size)),
        [u64::MAX; 2],
        "a writer may say any size, and none wraps to a short file"
    );
    let public = Cipher::new(&PartitionKey::public(), &[2; 16], &VOLUME, &path("notes/a"));
    assert_eq!((public.length(5), opens(&public, 0, true, vec![1, 2])), (5, Some(vec![1, 2])));
}

/// What a leaf tells readers is for this leaf: with other shards, another length or tag, or another key, it tells nothing.
#[test]
fn a_meta_is_for_its_leaf() {
    let mut leaf: Leaf = generate_value(3);
    let meta = Meta {
        path: Text::new("notes/a").expect("short"),
        size: 9,
        hash: Hash([4; 32]),
        written_ms: 5,
        kind: Text::new("text/plain").expect("short"),
    };
    leaf.meta = seal_meta(&key(1), &VOLUME, &leaf, &meta);
    assert_eq!(open_meta(&key(1), &VOLUME, &leaf), Some(meta.clone()));
    assert_eq!(open_meta(&key(2), &VOLUME, &leaf), None);
    assert_eq!(open_meta(&key(1), &Hash([4; 32]), &leaf), None);
    for change in [
        |leaf: &mut Leaf| leaf.tag.0[0] ^= 1,
        |leaf: &mut Leaf| leaf.ciphertext_bytes ^= 1,
        |leaf: &mut Leaf| leaf.write_id.0[0] ^= 1,
        |leaf: &mut Leaf| leaf.shards = cowboy_types::List::new(vec![Hash([9; 32])]).expect("one"),
    ] {
        let mut changed = leaf.clone();
        change(&mut changed);
        assert_eq!(open_meta(&key(1), &VOLUME, &changed), None);
    }
    let public = PartitionKey::public();
    leaf.meta = seal_meta(&public, &VOLUME, &leaf, &meta);
    assert_eq!(open_meta(&public, &VOLUME, &leaf), Some(meta));
    leaf.meta = cowboy_types::Blob::new(vec![0xFF; 9]).expect("short");
    assert_eq!(open_meta(&public, &VOLUME, &leaf), None);
}

/// The same secret gives every volume and partition a key of its own; the committee's signature gives one, too.
#[test]
fn keys_are_of_one_partition() {
    let of = |secret: u8, volume: u8, name: &str| {
        *PartitionKey::owned(&[secret; 32], &Hash([volume; 32]), &Name::new(name).expect("a name")).tags()
    };
    let keys = [of(1, 1, "a"), of(1, 1, "b"), of(1, 2, "a"), of(2, 1, "a"), *PartitionKey::released(&[7; 48]).tags()];
    for (place, key) in keys.iter().enumerate() {
        assert!(!keys[..place].contains(key));
    }
    let signed = Fixed::<48>([7; 48]);
    assert_eq!(PartitionKey::released(&signed.0).tags(), PartitionKey::released(&[7; 48]).tags());
}
