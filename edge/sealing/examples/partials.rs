//! What a release costs a member and its recipient, in a committee of 16: an answer, its check, and a signature out of eleven, beside what the C library
//! takes for a signature and its check. Prints microseconds as JSON.
#![allow(clippy::print_stdout, reason = "what is measured is printed")]

#[path = "../tests/vectors/mod.rs"]
mod vectors;

use blst::BLST_ERROR;
use blst::min_sig::SecretKey;
use cowboy_sealing::{TransportSecret, answer, combine};
use cowboy_secrets::{PointG1, share_key};
use std::hint::black_box;
use std::time::Instant;
use vectors::{Committee, identity, random};

/// Members of the committee.
const MEMBERS: u32 = 16;

/// Rounds, of which the median counts.
const ROUNDS: usize = 201;

/// The suite of the library's signatures.
const SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

/// Microseconds that something takes.
fn median(mut work: impl FnMut()) -> u128 {
    let mut times: Vec<u128> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_micros()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn main() {
    let committee = Committee::new(1, MEMBERS);
    let (identity, transport) = (identity(1), TransportSecret::random(&mut random(3)));
    let key = transport.key().key;
    let mut rng = random(5);
    let partial = median(|| {
        black_box(answer(&mut rng, &committee.shares[0], &identity, &key));
    });
    let made = answer(&mut rng, &committee.shares[0], &identity, &key);
    let own = share_key(&committee.polynomial, 0).expect("a share key");
    let check = median(|| assert!(made.is_valid(&identity, &key, &own)));
    let of_member = |(member, share)| -> (u16, PointG1) {
        let answered = answer(&mut random(u64::from(member) + 50), share, &identity, &key);
        let share_key = share_key(&committee.polynomial, member).expect("a share key");
        (member, transport.share(&identity, &share_key, &answered).expect("an honest answer"))
    };
    let shares: Vec<(u16, PointG1)> = (0_u16..).zip(&committee.shares).map(of_member).collect();
    let combining = median(|| {
        black_box(combine(&committee.polynomial, &identity, &shares).expect("enough members"));
    });

    let secret = SecretKey::key_gen(&[7; 32], &[]).expect("32 bytes suffice");
    let (public, message) = (secret.sk_to_pk(), identity.message());
    let signing = median(|| {
        black_box(secret.sign(&message, SUITE, &[]));
    });
    let signature = secret.sign(&message, SUITE, &[]);
    let verifying = median(|| assert_eq!(signature.verify(false, &message, SUITE, &[], &public, false), BLST_ERROR::BLST_SUCCESS));
    println!(
        "{{\"partial_us\": {partial}, \"check_us\": {check}, \"combine_us\": {combining}, \"blst_sign_us\": {signing}, \"blst_verify_us\": {verifying}}}"
    );
}
