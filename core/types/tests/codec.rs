//! One value, one encoding: both ways for random values, refusals for everything else, and frozen formats.

use arbitrary::Arbitrary;
use bytes::Bytes;
use commonware_codec::{Codec, Decode as _, Encode as _, conformance::generate_value};
use cowboy_types::{
    Block, Event, Header, Instruction, Receipt, Transaction,
    instruction::MAX_TRANSACTION_BYTES,
    job::{CallbackBook, Candidates, Challenge, EpochCommittee, Job, JobSpec, Model, Patron, Profile, Runner},
    merkle::{self, Inclusion},
    permission::{Constraints, Scope},
    transaction::DecodeError,
};
use proptest::prelude::*;
use std::fmt::Debug;

fn check_both_ways<T>(seed: u64)
where
    T: Codec<Cfg = ()> + for<'a> Arbitrary<'a> + PartialEq + Debug,
{
    let value: T = generate_value(seed);
    let bytes = value.encode();
    let decoded = T::decode_cfg(bytes.clone(), &()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(decoded, value, "decode(encode(x)) = x, seed {seed}");
    for cut in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
        assert!(T::decode_cfg(bytes.slice(..cut), &()).is_err(), "truncated to {cut} bytes, seed {seed}");
    }
    let mut longer = bytes.to_vec();
    longer.push(0);
    assert!(T::decode_cfg(Bytes::from(longer), &()).is_err(), "one byte too many, seed {seed}");
}

/// identities both ways.
#[test]
fn values_survive_their_encoding() {
    for seed in 0..512 {
        check_both_ways::<Transaction>(seed);
        check_both_ways::<Instruction>(seed);
        check_both_ways::<Header>(seed);
        check_both_ways::<Block>(seed);
        check_both_ways::<Receipt>(seed);
        check_both_ways::<Event>(seed);
        check_both_ways::<Inclusion>(seed);
        check_both_ways::<JobSpec>(seed);
        check_both_ways::<Job>(seed);
        check_both_ways::<Runner>(seed);
        check_both_ways::<Profile>(seed);
        check_both_ways::<Model>(seed);
        check_both_ways::<Candidates>(seed);
        check_both_ways::<CallbackBook>(seed);
        check_both_ways::<Challenge>(seed);
        check_both_ways::<EpochCommittee>(seed);
        check_both_ways::<Patron>(seed);
        check_both_ways::<Scope>(seed);
        check_both_ways::<Constraints>(seed);
    }
}

proptest! {
    /// what decodes at all encodes to the same bytes, so nothing has two encodings.
    #[test]
    fn mutated_bytes_are_refused_or_canonical(seed in any::<u64>(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = generate_value::<Transaction>(seed).encode().to_vec();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        if let Ok(transaction) = Transaction::from_bytes(&bytes) {
            prop_assert_eq!(transaction.encode().to_vec(), bytes);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let _ = Transaction::from_bytes(&bytes);
        let _ = Block::decode_cfg(Bytes::from(bytes.clone()), &());
        let _ = Receipt::decode_cfg(Bytes::from(bytes.clone()), &());
        let _ = JobSpec::decode_cfg(Bytes::from(bytes.clone()), &());
        let _ = Job::decode_cfg(Bytes::from(bytes), &());
    }
}

/// each strictness rule by name.
#[test]
fn bytes_that_are_no_transaction() {
    let good = hex::decode("2a00000122222222222222222222222222222222222222220000000000000001d08603d086030101000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000").expect("hex");
    let replace = |from: usize, to: usize, with: &[u8]| {
        let mut bytes = good.clone();
        bytes.splice(from..to, with.iter().copied());
        bytes
    };
    const AFTER_FROM: usize = 62;
    let rows: [(&str, Vec<u8>); 12] = [
        ("nothing", vec![]),
        ("chain id as a varint that is not minimal", replace(0, 1, &[0xaa, 0x00])),
        ("nonce as a varint beyond 64 bits", replace(1, 2, &[0xff; 11])),
        ("unknown category", replace(2, 3, &[4])),
        ("the category Library, which has no instruction", replace(2, 3, &[3])),
        ("unknown instruction", replace(3, 4, &[0x77])),
        ("an access list, which is reserved", replace(AFTER_FROM, AFTER_FROM + 1, &[1, 0])),
        ("an option tag of 2", replace(AFTER_FROM + 2, AFTER_FROM + 3, &[2])),
        ("metadata longer than its bytes", replace(AFTER_FROM + 1, AFTER_FROM + 2, &[0x7f])),
        ("trailing bytes", [good.as_slice(), &[0]].concat()),
        ("one byte less", good[..good.len() - 1].to_vec()),
        ("more co-signers than allowed", replace(good.len() - 1, good.len(), &[65])),
    ];
    assert!(Transaction::from_bytes(&good).is_ok());
    for (case, bytes) in rows {
        assert!(matches!(Transaction::from_bytes(&bytes), Err(DecodeError::NotCanonical(_))), "{case}");
    }
    let large = vec![0; MAX_TRANSACTION_BYTES + 1];
    assert_eq!(Transaction::from_bytes(&large), Err(DecodeError::TooLarge { size: large.len() }));
}

/// signatures do not change the digest, signer addresses do.
#[test]
fn the_digest_covers_everything_but_signatures() {
    for seed in 0..64 {
        let transaction: Transaction = generate_value(seed);
        let mut resigned = transaction.clone();
        resigned.signature.0[0] ^= 1;
        assert_eq!(resigned.digest(), transaction.digest(), "seed {seed}");
        let mut renamed = transaction.clone();
        renamed.metadata = cowboy_types::Blob::new(vec![1, 2, 3, 4, 5]).expect("short");
        if renamed != transaction {
            assert_ne!(renamed.digest(), transaction.digest(), "seed {seed}");
        }
    }
}

/// inclusion proofs hold for their leaf, place, size and root, and for nothing else.
#[test]
fn inclusion_proofs() {
    let digests: Vec<_> = (0u8..33).map(|i| cowboy_types::keccak256(&[&[i]])).collect();
    for count in 1..=digests.len() {
        let list = &digests[..count];
        let root = merkle::root(list);
        for (index, digest) in list.iter().enumerate() {
            let proof = merkle::prove(list, index).expect("within the list");
            assert!(proof.verify(digest, &root), "{index} of {count}");
            let other = list[(index + 1) % count];
            assert!(other == *digest || !proof.verify(&other, &root), "another leaf at {index} of {count}");
            assert!(!proof.verify(digest, &merkle::root(&[])), "another root");
            let mut moved = proof.clone();
            moved.index.0 += 1;
            assert!(!moved.verify(digest, &root), "another place than {index} of {count}");
        }
        assert_eq!(merkle::prove(list, count), None);
    }
}

mod conformance {
    use commonware_codec::conformance::CodecConformance;
    use cowboy_types::{
        Abort, Actor, Address, Block, Context, Event, Fee, Hash, Header, Instruction, LaneUsage, Receipt, System, Transaction,
        block::Usage,
        instruction::Custom,
        job::{CallbackBook, Candidates, Challenge, EpochCommittee, Job, JobSpec, Model, Patron, Profile, Runner, WaitQueue},
        merkle::Inclusion,
        permission::{Constraints, Scope},
        transaction::CoSignature,
    };

    commonware_conformance::conformance_tests! {
        CodecConformance<Abort> => 256,
        CodecConformance<Actor> => 256,
        CodecConformance<Address> => 256,
        CodecConformance<Block> => 256,
        CodecConformance<CallbackBook> => 256,
        CodecConformance<Candidates> => 256,
        CodecConformance<Challenge> => 256,
        CodecConformance<CoSignature> => 256,
        CodecConformance<Constraints> => 256,
        CodecConformance<Context> => 256,
        CodecConformance<Custom> => 256,
        CodecConformance<EpochCommittee> => 256,
        CodecConformance<Event> => 256,
        CodecConformance<Fee> => 256,
        CodecConformance<Hash> => 256,
        CodecConformance<Header> => 256,
        CodecConformance<Inclusion> => 256,
        CodecConformance<Instruction> => 256,
        CodecConformance<Job> => 256,
        CodecConformance<JobSpec> => 256,
        CodecConformance<LaneUsage> => 256,
        CodecConformance<Model> => 256,
        CodecConformance<Patron> => 256,
        CodecConformance<Profile> => 256,
        CodecConformance<Receipt> => 256,
        CodecConformance<Runner> => 256,
        CodecConformance<Scope> => 256,
        CodecConformance<System> => 256,
        CodecConformance<Transaction> => 256,
        CodecConformance<Usage> => 256,
        CodecConformance<WaitQueue> => 256,
    }
}

/// The error table ascends, and its slugs are unique.
#[test]
fn the_error_table_is_well_formed() {
    use cowboy_types::error::TABLE;
    for pair in TABLE.windows(2) {
        assert!(pair[0].code < pair[1].code, "{} stands before {}", pair[0].slug, pair[1].slug);
    }
    let mut slugs: Vec<_> = TABLE.iter().map(|row| row.slug).collect();
    slugs.sort_unstable();
    slugs.dedup();
    assert_eq!(slugs.len(), TABLE.len(), "slugs are unique");
}

/// The first sentence of an error names what it is about: who reads it alone, as in a log, knows what failed.
#[test]
fn errors_name_their_subject() {
    for row in cowboy_types::error::TABLE {
        let first = row.what.split(' ').next().unwrap_or_default();
        assert!(!["It", "That", "They", "Those"].contains(&first), "{}: {}", row.slug, row.what);
        for sentence in [row.what, row.why, row.fix] {
            assert!(sentence.ends_with('.') && sentence.contains(' '), "{}: {sentence}", row.slug);
        }
    }
}
