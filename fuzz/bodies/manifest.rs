//! Any bytes are a manifest or are refused, and a manifest has these bytes. The same of attestations, and any text is a host or is none.

use cowboy_types::entitlement::{Attestation, Bounds, Grants, domain};

const BOUNDS: Bounds = Bounds { bytes: 16_384, grants: 64, items: 256, version: u8::MAX };

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(grants) = Grants::parse_manifest(BOUNDS, bytes) {
        let again = grants.to_manifest();
        assert_eq!(Grants::parse_manifest(BOUNDS, &again).as_ref(), Ok(&grants));
    }
    if let Ok(attestation) = Attestation::decode(BOUNDS, bytes) {
        assert_eq!(Attestation::decode(BOUNDS, &attestation.encode()).as_ref(), Ok(&attestation));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        assert!(!domain::is_canonical_host(text) || domain::is_canonical_pattern(text));
    }
}
