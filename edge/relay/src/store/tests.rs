//! What a store keeps, and in what form.

use super::*;
use cowboy_volumes::slice;

const VOLUME: Hash = Hash([1; 32]);

fn put(store: &Store, bytes: &[u8], hash: &Hash) -> bool {
    let mut incoming = store.begin(VOLUME, u64::try_from(bytes.len()).expect("short")).expect("it begins");
    bytes.chunks(1_000).for_each(|part| incoming.write(part).expect("it is written"));
    store.end(incoming, hash, 5).expect("it is written")
}

/// A shard is kept under its hash and no other, whole, and parts of it are proven; a store that is opened again has what it had.
#[test]
fn shards_are_what_their_hashes_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes: Vec<u8> = (0..100_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let hash = Hash(*bao::encode::outboard(&bytes).1.as_bytes());
    {
        let store = Store::open(folder.path()).expect("it opens");
        assert!(!put(&store, &bytes, &Hash([9; 32])), "another hash");
        assert!(!put(&store, &bytes[1..], &hash), "not whole");
        let mut longer = store.begin(VOLUME, 3).expect("it begins");
        assert!(longer.write(b"four").is_err());
        drop(longer);
        let half = store.begin(VOLUME, 9).expect("it begins");
        assert!(!store.end(half, &hash, 1).expect("it ends"));
        assert_eq!((store.used(), store.slice(VOLUME, &hash, 0, 10).expect("it is looked for")), (0, None));
        assert_eq!(fs::read_dir(folder.path().join(UNFINISHED)).expect("a folder").count(), 0, "nothing is left behind");
        assert!(put(&store, &bytes, &hash));
        assert!(put(&store, &bytes, &hash), "twice is once");
        store.put(&Item { volume: VOLUME, kind: Kind::Page, hash }, b"page", 7).expect("it is written");
    }
    let store = Store::open(folder.path()).expect("it opens");
    let taken = on_disk(100_000) + on_disk(4);
    assert_eq!((store.used(), store.used_by(&VOLUME), store.used_by(&hash)), (taken, taken, 0));
    let proof = store.slice(VOLUME, &hash, 70_000, 5_000).expect("it is read").expect("it is there");
    assert_eq!(slice::open(&proof, &hash, 100_000, 70_000, 5_000), Some(bytes[70_000..75_000].to_vec()));
    assert_eq!(store.slice(VOLUME, &hash, 99_999, 2).expect("it is read"), None);
    assert_eq!(store.slice(Hash([2; 32]), &hash, 0, 2).expect("it is read"), None, "another volume's");
    let item = |kind| Item { volume: VOLUME, kind, hash };
    let rows = |store: &Store| [Kind::Shard, Kind::Page].map(|kind| store.row(&item(kind)).expect("it is read"));
    assert_eq!(rows(&store), [Some((100_000, 5)), Some((4, 7))]);
    let older = |height, after: Option<&Item>| store.older(height, after).expect("they are read");
    assert_eq!(
        (older(5, None), older(7, None), older(8, None)),
        (vec![], vec![item(Kind::Shard)], vec![item(Kind::Shard), item(Kind::Page)])
    );
    assert_eq!((older(8, Some(&item(Kind::Shard))), older(8, Some(&item(Kind::Page)))), (vec![item(Kind::Page)], vec![]));
    store.name(&[(item(Kind::Shard), 100_000)], 11).expect("it is written");
    store.remove(&[item(Kind::Page)]).expect("it is removed");
    assert_eq!(rows(&store), [Some((100_000, 11)), None]);
    assert_eq!((store.used(), store.get(&item(Kind::Page)).expect("it is looked for")), (on_disk(100_000), None));
}

/// A file that the disk lost is not there, and can come again. It keeps nothing else from being read.
#[test]
fn a_lost_file_is_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("it opens");
    let bytes: Vec<u8> = (0..100_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let hash = Hash(*outboard(&bytes).1.as_bytes());
    let [shard, page] = [Kind::Shard, Kind::Page].map(|kind| Item { volume: VOLUME, kind, hash });
    let found = || {
        let slice = store.slice(VOLUME, &hash, 0, 10).expect("it is looked for");
        (slice.is_some(), store.get(&page).expect("it is looked for").is_some(), store.used())
    };
    let whole = (true, true, 2 * on_disk(100_000));
    for gone in [store.path(&shard), Store::tree_path(&store.path(&shard)), store.path(&page)] {
        assert!(put(&store, &bytes, &hash));
        store.put(&page, &bytes, 7).expect("it is written");
        assert_eq!(found(), whole);
        fs::remove_file(&gone).expect("it is there");
        let is_page = gone == store.path(&page);
        let (has_shard, has_page, _) = found();
        assert_eq!((has_shard, has_page, store.used()), (is_page, !is_page, on_disk(100_000)), "{}", gone.display());
    }
}

/// What is short stands in the index, whole, and makes no file; what is longer makes two, which go with it. Parts of both are proven.
#[test]
fn short_items_make_no_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("it opens");
    let files = || fs::read_dir(folder.path().join("volumes").join(hex::encode(VOLUME.0))).map_or(0, Iterator::count);
    let last = usize::try_from(SHORT_BYTES).expect("it is short");
    for (length, expected) in [(0, 0), (1, 0), (64, 0), (last, 0), (last + 1, 2)] {
        let bytes: Vec<u8> = (0..length).map(|number| number.to_le_bytes()[0]).collect();
        let hash = Hash(*outboard(&bytes).1.as_bytes());
        let item = Item { volume: VOLUME, kind: Kind::Shard, hash };
        assert!(!put(&store, &bytes, &Hash([9; 32])), "{length} bytes, another hash");
        assert!(put(&store, &bytes, &hash), "{length} bytes");
        assert_eq!((files(), store.used()), (expected, on_disk(u64::try_from(length).expect("it is short"))));
        if let Some(end) = length.checked_sub(1) {
            let (start, whole) = (u64::try_from(end).expect("short"), u64::try_from(length).expect("short"));
            let proof = store.slice(VOLUME, &hash, start, 1).expect("it is read").expect("it is there");
            assert_eq!(slice::open(&proof, &hash, whole, start, 1), Some(bytes[end..].to_vec()));
        }
        store.remove(&[item]).expect("it is removed");
        assert_eq!((files(), store.used(), store.slice(VOLUME, &hash, 0, 0).expect("it is looked for")), (0, 0, None));
    }
}

/// Whoever sends many items at once has no more room than with one after the other, and what is not kept gives its room back.
#[test]
fn what_comes_at_once_has_one_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(folder.path()).expect("it opens");
    let most = 3 * on_disk(1 << 20);
    let reserve = |volume| store.reserve(volume, 1 << 20, most).expect("the disk has room");
    let coming: Vec<Reserved> = (0..30).filter_map(|_| reserve(VOLUME)).collect();
    assert_eq!(coming.len(), 3);
    assert!(reserve(Hash([2; 32])).is_some(), "another volume has its own");
    drop(coming);
    let bytes = vec![7; 1 << 20];
    {
        let _room = reserve(VOLUME).expect("it was given back");
        assert!(put(&store, &bytes, &Hash(*bao::encode::outboard(&bytes).1.as_bytes())));
    }
    let coming: Vec<Reserved> = (0..30).filter_map(|_| reserve(VOLUME)).collect();
    assert_eq!(coming.len(), 2, "what is kept counts");
    assert!(store.reserve(VOLUME, u64::MAX, u64::MAX).is_err(), "the disk has no such room");
}
