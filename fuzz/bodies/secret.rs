//! What decodes as a secret's format is written back as it was, and any policy and any answer is checked.

use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_secrets::{Identity, Outcome, Partial, Policy, Sealed, TransportKey};

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(secret) = Sealed::parse(bytes) {
        assert_eq!(secret.to_bytes(), bytes);
    }
    let shared = Bytes::copy_from_slice(bytes);
    if let Ok(policy) = Policy::decode(shared.clone()) {
        assert_eq!(policy.encode(), bytes);
        // Whether it is refused or not, it is checked without a panic.
        let _ = policy.check();
    }
    if let Ok(key) = TransportKey::decode(shared.clone()) {
        assert_eq!(key.encode(), bytes);
        let _ = key.is_possessed();
    }
    if let Ok(outcome) = Outcome::decode(shared.clone()) {
        assert_eq!(outcome.encode(), bytes);
        let _ = outcome.check(outcome.dealers.len(), outcome.polynomial.first());
    }
    // The first bytes of an answer's input are the identity that it is checked for.
    let Some((identity, answer)) = shared.split_at_checked(Identity::SIZE) else { return };
    if let (Ok(identity), Ok(partial)) = (Identity::decode(shared.slice(..identity.len())), Partial::decode(shared.slice(identity.len()..)))
    {
        assert_eq!(partial.encode(), answer);
        let _ = partial.is_valid(&identity, &partial.e1, &partial.e2);
    }
}
