//! Identities, sealed secrets and answers as bytes.

use commonware_codec::{DecodeExt as _, Encode as _, conformance::generate_value};
use cowboy_secrets::dealing::{Acks, Deal, Phase};
use cowboy_secrets::sealed::{HEADER_BYTES, LENGTHS, MAX_BYTES, SealedError, VALUE_BYTES};
use cowboy_secrets::{Identity, Kind, Name, Outcome, Partial, Policy, Sealed, TransportKey, partial};
use cowboy_types::{Address, Hash};

cowboy_types::format_tests! { Acks Deal Identity Kind Outcome Partial Phase Policy TransportKey }

#[test]
fn names_have_one_form() {
    let longest = format!("K{}", "0".repeat(63));
    let rows = [("A", true), ("WEATHER_KEY", true), ("A_1", true), (longest.as_str(), true)];
    let too_long = format!("{longest}0");
    let bad = ["", "a", "1A", "_A", "A-B", "A B", "Ä", "A\0", too_long.as_str()].map(|text| (text, false));
    for (text, is_name) in rows.into_iter().chain(bad) {
        assert_eq!(Name::new(text).is_some(), is_name, "{text:?}");
    }
    let name = Name::new("KEY").expect("a name");
    assert_ne!(name.hash(Address([1; 20])), name.hash(Address([2; 20])), "the same name of two accounts has two hashes");
}

/// The encoding of an identity, byte by byte.
#[test]
fn an_identity_has_129_bytes() {
    let identity = Identity {
        kind: Kind::Secret,
        genesis: Hash([0xA1; 32]),
        key_id: 0x0203_0405,
        account: Address([0xA2; 20]),
        name_hash: Hash([0xA3; 32]),
        version: 6,
        policy_hash: Hash([0xA4; 32]),
    };
    let parts: [&[u8]; 7] = [&[1], &[0xA1; 32], &[2, 3, 4, 5], &[0xA2; 20], &[0xA3; 32], &[0, 0, 0, 0, 0, 0, 0, 6], &[0xA4; 32]];
    assert_eq!(identity.encode(), parts.concat());
    assert_eq!(identity.encode().len(), Identity::SIZE);
    assert_eq!(identity.message(), [&[0x10_u8], &b"cowboy-secret-v1"[..], &identity.encode()].concat());
}

/// An answer that a member signed counts for one release, epoch and member alone, and a release is of one job, runner and identity.
#[test]
fn what_a_proxy_signs_names_the_whole_release() {
    let [identity, other]: [Identity; 2] = [generate_value(1), generate_value(2)];
    let [answer, changed]: [Partial; 2] = [generate_value(1), generate_value(2)];
    let release = |job: u8, runner: u8, identity: &Identity| partial::release_id(&Hash([job; 32]), Address([runner; 20]), identity);
    let first = release(1, 2, &identity);
    let releases = [release(3, 2, &identity), release(1, 3, &identity), release(1, 2, &other)];
    assert!(!releases.contains(&first), "{releases:?}");

    let digest = answer.digest(&first, 7, 2);
    let others =
        [answer.digest(&releases[0], 7, 2), answer.digest(&first, 8, 2), answer.digest(&first, 7, 3), changed.digest(&first, 7, 2)];
    assert!(!others.contains(&digest), "{others:?}");
}

/// Every plaintext length is a length of sealed secrets, and the longest fits the limit.
#[test]
fn lengths_are_those_of_the_table() {
    assert_eq!(Sealed::padded_length(0), Some(64));
    for (place, length) in LENGTHS.into_iter().enumerate() {
        assert_eq!(Sealed::padded_length(length - 4), Some(length));
        assert_eq!(Sealed::padded_length(length - 3), LENGTHS.get(place + 1).copied());
    }
    assert_eq!(Sealed::padded_length(VALUE_BYTES), Some(65_024));
    assert_eq!(Sealed::padded_length(usize::MAX), None);
    const { assert!(HEADER_BYTES + 65_024 + 16 <= MAX_BYTES) };
}

fn sealed(seed: u64, length: usize) -> Vec<u8> {
    let identity = Identity { kind: Kind::Secret, ..generate_value(seed) };
    let point = generate_value::<TransportKey>(seed).proof;
    [&[1_u8], &identity.encode()[..], point.bytes(), &[0xB1; 32], &[0xB2; 32], &vec![0xB3; length + 16]].concat()
}

#[test]
fn a_sealed_secret_parses_to_what_it_was() {
    for (seed, length) in (0..).zip(LENGTHS) {
        let bytes = sealed(seed, length);
        let parsed = Sealed::parse(&bytes).expect("a sealed secret");
        assert_eq!(parsed.to_bytes(), bytes);
        assert_eq!((parsed.key.v.0, parsed.key.w.0, parsed.body.len()), ([0xB1; 32], [0xB2; 32], length + 16));
    }
}

#[test]
fn other_bytes_are_not_a_sealed_secret() {
    let bytes = sealed(1, 64);
    let with = |place: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[place] = byte;
        bytes
    };
    let infinity = [&bytes[..130], &[0xC0], &[0; 95][..], &bytes[226..]].concat();
    let rows = [
        (Vec::new(), SealedError::Length(0)),
        (bytes[..bytes.len() - 1].to_vec(), SealedError::Length(369)),
        ([&bytes[..], &[0]].concat(), SealedError::Length(371)),
        (bytes[..HEADER_BYTES].to_vec(), SealedError::Length(HEADER_BYTES)),
        (vec![1; MAX_BYTES + 1], SealedError::Length(MAX_BYTES + 1)),
        (with(0, 2), SealedError::Version(2)),
        (with(1, 2), SealedError::Identity),
        (with(1, 3), SealedError::Identity),
        (with(130, bytes[130] & 0x7F), SealedError::Point),
        (infinity, SealedError::Point),
    ];
    for (bytes, error) in rows {
        assert_eq!(Sealed::parse(&bytes), Err(error));
    }
}

/// An answer whose points are moved out of the group does not decode; a transport key whose proof is another's is not possessed.
#[test]
fn damaged_answers_and_keys_are_refused() {
    for seed in 0..16 {
        let answer: Partial = generate_value(seed);
        let bytes = answer.encode();
        assert_eq!(bytes.len(), 192);
        for place in [0, 48, 144] {
            let mut damaged = bytes.to_vec();
            damaged[place] &= 0x7F;
            assert!(Partial::decode(bytes::Bytes::from(damaged.clone())).is_err(), "seed {seed}, byte {place}");
            damaged[place] = 0xC0;
            assert!(Partial::decode(bytes::Bytes::from(damaged.clone())).is_err(), "seed {seed}, byte {place}");
        }
        assert!(!generate_value::<TransportKey>(seed).is_possessed());
    }
}

/// bytes that differ in one bit are refused, or are the one form of another value.
#[test]
fn changed_bytes_are_refused_or_decode_to_what_they_say() {
    for seed in 0_u64..400 {
        let number = usize::try_from(seed).expect("few");
        let change = |bytes: &mut Vec<u8>| {
            let place = number.wrapping_mul(7_919) % bytes.len();
            bytes[place] ^= 1 << (seed % 8);
        };
        let mut secret = sealed(seed, LENGTHS[number % 3]);
        change(&mut secret);
        if let Ok(parsed) = Sealed::parse(&secret) {
            assert_eq!(parsed.to_bytes(), secret, "seed {seed}");
        }
        let mut policy = generate_value::<Policy>(seed).encode().to_vec();
        change(&mut policy);
        if let Ok(decoded) = Policy::decode(bytes::Bytes::from(policy.clone())) {
            assert_eq!(decoded.encode(), policy, "seed {seed}");
            // Any policy is checked without a panic.
            let _ = decoded.check();
        }
        let mut answer = generate_value::<Partial>(seed).encode().to_vec();
        change(&mut answer);
        if let Ok(decoded) = Partial::decode(bytes::Bytes::from(answer.clone())) {
            assert_eq!(decoded.encode(), answer, "seed {seed}");
        }
    }
}
