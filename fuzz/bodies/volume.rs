//! What decodes as a format of volumes is written back as it was, and proofs, pages, names and references are checked.

use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::Hash;
use cowboy_volumes::relay::PointProof;
use cowboy_volumes::{BlobRef, Code, Leaf, Name, Node, Page, Path, Token, Top, slice};

pub(crate) fn body(bytes: &[u8]) {
    let shared = Bytes::copy_from_slice(bytes);
    let code = Code { data: 4, parity: 2 };
    if let Ok(proof) = PointProof::decode(shared.clone()) {
        assert_eq!(proof.encode(), bytes);
        // Whether it is right or not, it is checked without a panic.
        let _ = proof.route.start(&proof.leaf, u64::MAX, &Node::EMPTY);
        let leaf = Leaf::parse(&proof.leaf, code);
        let hash = leaf.as_ref().and_then(|leaf| leaf.shards.first().copied()).unwrap_or(Hash::ZERO);
        let length = leaf.map_or(1_024, |leaf| leaf.shard_bytes);
        let _ = slice::open(&proof.slice, &hash, length, 0, length.min(1_024));
    }
    if let Some(leaf) = Leaf::parse(bytes, code) {
        assert_eq!(leaf.encode(), bytes);
    }
    for depth in [0, 1, 12, 255] {
        if let Some(page) = Page::parse(bytes, code, depth, 0) {
            assert_eq!(page.encode(), bytes);
            let _ = page.node();
        }
    }
    if let Ok(top) = Top::decode(shared.clone()) {
        assert_eq!(top.encode(), bytes);
        let _ = Top::of(top.depth, top.leaves, vec![top.node]);
    }
    if let Ok(token) = Token::decode(shared.clone()) {
        assert_eq!(token.encode(), bytes);
    }
    if let Some(reference) = BlobRef::parse(bytes) {
        assert_eq!(reference.to_bytes()[..], *bytes);
    }
    // The first bytes of a slice's input are the shard's hash and its length.
    if let Some((hash, rest)) = bytes.split_first_chunk::<32>()
        && let Some((length, rest)) = rest.split_first_chunk::<8>()
    {
        let length = u64::from_be_bytes(*length);
        let _ = slice::open(rest, &Hash(*hash), length, length / 2, 1);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(Name::new(text).is_none_or(|name| name.as_str() == text));
        assert!(Path::new(text).is_none_or(|path| path.split().0.starts_with(path.partition().as_str())));
    }
}
