//! How fast a file becomes shards on one core: encrypting, coding and hashing together, beside each of them alone. Prints MiB/s as JSON.
#![allow(clippy::print_stdout, reason = "what is measured is printed")]

use aes_gcm::aead::{AeadInOut as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use cowboy_types::Hash;
use cowboy_volume::cells;
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::segments::{Cipher, SEGMENT_BYTES};
use cowboy_volumes::{Code, Name, Path};
use std::hint::black_box;
use std::time::Instant;

/// Bytes of the file.
const FILE: usize = 64 << 20;

/// Rounds, of which the median counts.
const ROUNDS: usize = 7;

/// The median of MiB/s over the rounds.
fn median(mut work: impl FnMut()) -> f64 {
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            work();
            FILE as f64 / f64::from(1 << 20) / began.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[ROUNDS / 2]
}

fn main() {
    let code = Code { data: 4, parity: 2 };
    let (volume, path) = (Hash([1; 32]), Path::new("notes/file").expect("a path"));
    let key = PartitionKey::owned(&[2; 32], &volume, &Name::new("notes").expect("a name"));
    let cipher = Cipher::new(&key, &[3; 16], &volume, &path);
    let plain = vec![7; FILE];
    let segments = FILE / SEGMENT_BYTES;

    let sealed: Vec<u8> = (0..segments)
        .flat_map(|number| {
            let mut segment = plain[number * SEGMENT_BYTES..(number + 1) * SEGMENT_BYTES].to_vec();
            cipher.seal(number as u64, number + 1 == segments, &mut segment);
            segment
        })
        .collect();
    let whole = median(|| {
        let (mut ready, mut number) = (Vec::new(), 0);
        let mut hashers = vec![blake3::Hasher::new(); code.slots()];
        for stripe in cells::stripes(code, cipher.length(FILE as u64)) {
            while (ready.len() as u64) < stripe.length && number < segments {
                let mut segment = plain[number * SEGMENT_BYTES..(number + 1) * SEGMENT_BYTES].to_vec();
                cipher.seal(number as u64, number + 1 == segments, &mut segment);
                ready.append(&mut segment);
                number += 1;
            }
            let bytes: Vec<u8> = ready.drain(..stripe.length as usize).collect();
            for (hasher, cell) in hashers.iter_mut().zip(cells::encode(code, stripe, &bytes)) {
                hasher.update(&cell);
            }
        }
        black_box(hashers);
    });
    let library = Aes256Gcm::new(&Key::<Aes256Gcm>::from([5; 32]));
    let mut buffer = plain.clone();
    let encrypting = median(|| {
        for segment in buffer.chunks_mut(SEGMENT_BYTES) {
            black_box(library.encrypt_inout_detached(&Nonce::from([0; 12]), &[], segment.into()).expect("it is short"));
        }
    });
    let coding = median(|| {
        for stripe in sealed.chunks_exact(4 * 65_536) {
            let mut encoder = reed_solomon_simd::ReedSolomonEncoder::new(4, 2, 65_536).expect("a code");
            stripe.chunks_exact(65_536).for_each(|cell| encoder.add_original_shard(cell).expect("four"));
            black_box(encoder.encode().expect("all were added").recovery_iter().count());
        }
    });
    // As many bytes as there are in all shards.
    let hashing = median(|| {
        for part in plain.chunks(65_536).chain(plain[..FILE / 2].chunks(65_536)) {
            black_box(blake3::hash(part));
        }
    });
    let together = 1.0 / (1.0 / encrypting + 1.0 / coding + 1.0 / hashing);
    println!(
        "{{\"whole\": {whole:.0}, \"encrypting\": {encrypting:.0}, \"coding\": {coding:.0}, \"hashing\": {hashing:.0}, \"libraries\": {together:.0}, \"ratio\": {:.2}}}",
        whole / together
    );
}
