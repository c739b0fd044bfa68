//! What ties a proof to a finalized block: one value, one encoding, and each header names the one before it.

use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _, conformance::generate_value};
use cowboy_light::{Anchor, Mismatch, answer::MAX_CERTIFICATE_BYTES};
use cowboy_types::{Blob, Header, List};
use proptest::prelude::*;

/// Headers of which each follows the one before it.
fn chained(seed: u64, count: usize) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for place in 0..count {
        let mut header: Header = generate_value(seed.wrapping_add(place as u64));
        if let Some(last) = headers.last() {
            header.parent = last.digest();
        }
        headers.push(header);
    }
    headers
}

fn anchor(headers: Vec<Header>) -> Anchor {
    Anchor { headers: List::new(headers).expect("few"), certificate: Blob::new(vec![7; MAX_CERTIFICATE_BYTES]).expect("short") }
}

proptest! {
    /// what is encoded comes back, and no part or extension of it is read.
    #[test]
    fn an_anchor_survives_its_bytes(seed in any::<u64>(), count in 0..6_usize, cut in any::<prop::sample::Index>()) {
        let value = anchor(chained(seed, count));
        let bytes = value.encode();
        prop_assert_eq!(Anchor::decode_cfg(bytes.clone(), &()).ok(), Some(value));
        prop_assert!(Anchor::decode_cfg(bytes.slice(..cut.index(bytes.len())), &()).is_err());
        prop_assert!(Anchor::decode_cfg(Bytes::from([&bytes[..], &[0]].concat()), &()).is_err());
    }

    /// bytes that are read at all are the only ones of their value.
    #[test]
    fn mutated_bytes_are_refused_or_canonical(seed in any::<u64>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = anchor(chained(seed, 2)).encode().to_vec();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        if let Ok(read) = Anchor::decode_cfg(Bytes::from(bytes.clone()), &()) {
            prop_assert_eq!(read.encode().to_vec(), bytes);
        }
    }

    /// A chain of headers ends at its last digest, and a header out of its place is found there.
    #[test]
    fn headers_follow_one_another(seed in any::<u64>(), count in 1..6_usize, at in any::<prop::sample::Index>()) {
        let headers = chained(seed, count);
        let whole = anchor(headers.clone());
        prop_assert_eq!(whole.check(), Ok((&headers[0], headers[count - 1].digest())));
        let place = at.index(count);
        let mut broken = headers;
        broken[place].parent.0[0] ^= 1;
        let expected = match place {
            // Nobody says what the first one follows; but the second one names it by its digest.
            0 if count == 1 => None,
            0 => Some(Mismatch::Broken { place: 1 }),
            place => Some(Mismatch::Broken { place }),
        };
        prop_assert_eq!(anchor(broken).check().err(), expected);
    }
}

#[test]
fn no_header_proves_nothing() {
    assert_eq!(anchor(Vec::new()).check(), Err(Mismatch::Empty));
}
