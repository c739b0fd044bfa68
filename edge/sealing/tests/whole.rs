//! A secret is sealed, released and opened; and by nobody and nothing else.

use crate::vectors::{Committee, identity, random};
use cowboy_sealing::{CombineError, OpenError, SealError, TransportSecret, answer, combine, open, seal};
use cowboy_secrets::sealed::{HEADER_BYTES, VALUE_BYTES};
use cowboy_secrets::{Identity, Kind, Partial, PointG1, Sealed, share_key};

/// What the holder of a transport key learns from the answers of all members.
fn shares(committee: &Committee, transport: &TransportSecret, identity: &Identity) -> Vec<(u16, PointG1)> {
    let key = transport.key().key;
    let share = |(index, share)| {
        let answer = answer(&mut random(u64::from(index) + 50), share, identity, &key);
        let share_key = share_key(&committee.polynomial, index).expect("a share key");
        (index, transport.share(identity, &share_key, &answer).expect("an honest answer"))
    };
    (0_u16..).zip(&committee.shares).map(share).collect()
}

/// a value is sealed, any three of four members release it to the holder of one transport key, and two do not.
#[test]
fn enough_members_open_a_secret_and_fewer_do_not() {
    let committee = Committee::new(1, 4);
    let value = b"Bearer 9c1185a5c5e9fc54612808977ee8f548";
    let sealed = seal(&mut random(2), &committee.polynomial[0], identity(1), value).expect("a short value");
    let sealed = Sealed::parse(&sealed.to_bytes()).expect("a sealed secret");
    let shares = shares(&committee, &TransportSecret::random(&mut random(3)), &sealed.identity);
    for silent in 0..4 {
        let mut present = shares.clone();
        present.remove(silent);
        let signature = combine(&committee.polynomial, &sealed.identity, &present).expect("three members");
        assert_eq!(open(&sealed, &signature).expect("it opens").as_slice(), value, "without member {silent}");
        present.remove(silent % 3);
        let few = CombineError::Few { found: 2, needed: 3 };
        assert_eq!(combine(&committee.polynomial, &sealed.identity, &present), Err(few.clone()));
        let twice = [&present[..], &present[..1]].concat();
        assert_eq!(combine(&committee.polynomial, &sealed.identity, &twice), Err(few), "one member counts once");
    }
    assert_eq!(combine(&[], &sealed.identity, &shares), Err(CombineError::Few { found: 4, needed: 0 }));
}

#[test]
fn a_wrong_share_is_named() {
    let committee = Committee::new(1, 7);
    let identity = identity(1);
    let transport = TransportSecret::random(&mut random(3));
    let mut shares = shares(&committee, &transport, &identity);
    let good = combine(&committee.polynomial, &identity, &shares);
    shares[2].1 = shares[3].1;
    assert_eq!(combine(&committee.polynomial, &identity, &shares), Err(CombineError::Wrong(vec![2])));
    shares.remove(2);
    assert_eq!(combine(&committee.polynomial, &identity, &shares), good);
}

/// only the holder of the transport key learns something from an answer, and only from an answer that the member gave for this identity.
#[test]
fn an_answer_is_of_one_member_for_one_identity_and_key() {
    let committee = Committee::new(1, 4);
    let (own, other) = (TransportSecret::random(&mut random(3)), TransportSecret::random(&mut random(4)));
    let [first, second] = [0, 1].map(|index| share_key(&committee.polynomial, index).expect("a share key"));
    let made = answer(&mut random(5), &committee.shares[0], &identity(1), &own.key().key);
    assert!(own.share(&identity(1), &first, &made).is_some());
    assert_eq!(own.share(&identity(1), &second, &made), None, "another member");
    assert_eq!(own.share(&identity(2), &first, &made), None, "another version");
    assert_eq!(other.share(&identity(1), &first, &made), None, "another transport key");
    let again = answer(&mut random(6), &committee.shares[0], &identity(1), &own.key().key);
    assert_ne!(made, again, "an answer has a factor of its own");
    let mixed = Partial { e3: again.e3, ..made };
    assert_eq!(own.share(&identity(1), &first, &mixed), None, "parts of two answers");
    // The same randomness for another identity or key gives another factor: equal factors would give away differences of shares.
    for (identity, key) in [(identity(2), own.key().key), (identity(1), other.key().key)] {
        assert_ne!(answer(&mut random(5), &committee.shares[0], &identity, &key).e1, made.e1);
    }
    assert_ne!(answer(&mut random(5), &committee.shares[1], &identity(1), &own.key().key).e1, made.e1);
}

/// a signature over another version, or of another committee, does not open; changed bytes do not open either.
#[test]
fn only_the_signature_over_the_identity_opens_it() {
    let (committee, other) = (Committee::new(1, 4), Committee::new(2, 4));
    let transport = TransportSecret::random(&mut random(3));
    let signature = |committee: &Committee, version: u64| {
        combine(&committee.polynomial, &identity(version), &shares(committee, &transport, &identity(version))).expect("enough")
    };
    let sealed = seal(&mut random(4), &committee.polynomial[0], identity(1), b"value").expect("a short value");
    let right = signature(&committee, 1);
    assert!(open(&sealed, &right).is_ok());
    assert_eq!(open(&sealed, &signature(&committee, 2)), Err(OpenError::Key));
    assert_eq!(open(&sealed, &signature(&other, 1)), Err(OpenError::Key));

    let bytes = sealed.to_bytes();
    // The identity from byte 1, V from 226, W from 258, the body from 290, its tag at the end. U is covered by the key's own check.
    for (place, error) in [
        (6, OpenError::Body),
        (226, OpenError::Key),
        (258, OpenError::Key),
        (HEADER_BYTES, OpenError::Body),
        (bytes.len() - 1, OpenError::Body),
    ] {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert_eq!(open(&Sealed::parse(&changed).expect("it still parses"), &right), Err(error), "byte {place}");
    }
    let another = seal(&mut random(5), &committee.polynomial[0], identity(1), b"value").expect("a short value");
    let mut changed = sealed.clone();
    changed.key.u = another.key.u;
    assert_eq!(open(&changed, &right), Err(OpenError::Key), "U of another sealing");
    changed.key = another.key.clone();
    assert_eq!(open(&changed, &right), Err(OpenError::Body), "the key of another sealing");
    assert_ne!(another.body, sealed.body, "the same value has another body each time");
}

#[test]
fn values_of_every_length_that_fits_are_sealed() {
    let committee = Committee::new(1, 4);
    let transport = TransportSecret::random(&mut random(3));
    let signature = combine(&committee.polynomial, &identity(1), &shares(&committee, &transport, &identity(1))).expect("enough");
    for length in [0, 1, 60, 61, 252, 253, 1_020, 1_021, 4_092, 16_380, 16_381, VALUE_BYTES] {
        let value = vec![0xC3; length];
        let sealed = seal(&mut random(9), &committee.polynomial[0], identity(1), &value).expect("it fits");
        assert_eq!(open(&Sealed::parse(&sealed.to_bytes()).expect("a sealed secret"), &signature).expect("it opens").as_slice(), value);
    }
    let long = vec![0; VALUE_BYTES + 1];
    assert_eq!(seal(&mut random(9), &committee.polynomial[0], identity(1), &long), Err(SealError::Long(VALUE_BYTES + 1)));
    let partition = Identity { kind: Kind::Partition, ..identity(1) };
    assert_eq!(seal(&mut random(9), &committee.polynomial[0], partition, b""), Err(SealError::Identity));
}
