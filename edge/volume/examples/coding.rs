//! How fast a file becomes shards on one core: encrypting, coding and hashing together and each alone, beside what the libraries do alone. Prints MiB/s
//! as JSON.
#![allow(clippy::print_stdout, reason = "what is measured is printed")]

use aes_gcm::aead::{AeadInOut as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use cowboy_types::Hash;
use cowboy_volume::cells::{self, Stripe};
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

/// The file, with what it is encrypted with.
struct File {
    code: Code,
    cipher: Cipher,
    plain: Vec<u8>,
}

impl File {
    fn new() -> Self {
        let code = Code { data: 4, parity: 2 };
        let (volume, path) = (Hash([1; 32]), Path::new("notes/file").expect("a path"));
        let key = PartitionKey::owned(&[2; 32], &volume, &Name::new("notes").expect("a name"));
        Self { code, cipher: Cipher::new(&key, &[3; 16], &volume, &path), plain: vec![7; FILE] }
    }

    fn segments(&self) -> usize {
        FILE / SEGMENT_BYTES
    }

    fn stripes(&self) -> Vec<Stripe> {
        cells::stripes(self.code, self.cipher.length(FILE as u64)).collect()
    }

    /// A segment of the ciphertext.
    fn segment(&self, number: usize) -> Vec<u8> {
        let mut segment = self.plain[number * SEGMENT_BYTES..(number + 1) * SEGMENT_BYTES].to_vec();
        self.cipher.seal(number as u64, number + 1 == self.segments(), &mut segment);
        segment
    }

    /// Everything, as a client does it.
    fn whole(&self) -> f64 {
        median(|| {
            let (mut ready, mut number) = (Vec::new(), 0);
            let mut hashers = vec![blake3::Hasher::new(); self.code.slots()];
            for stripe in self.stripes() {
                while (ready.len() as u64) < stripe.length && number < self.segments() {
                    ready.append(&mut self.segment(number));
                    number += 1;
                }
                let bytes: Vec<u8> = ready.drain(..stripe.length as usize).collect();
                for (hasher, cell) in hashers.iter_mut().zip(cells::encode(self.code, stripe, &bytes)) {
                    hasher.update(&cell);
                }
            }
            black_box(hashers);
        })
    }

    /// The three stages, each alone.
    fn stages(&self, sealed: &[u8]) -> [f64; 3] {
        let encrypting = median(|| (0..self.segments()).for_each(|number| drop(black_box(self.segment(number)))));
        // What comes of a stripe is dropped before the next, as a client does: memory for all of it would be measured, too.
        let each = |take: &mut dyn FnMut(Vec<Vec<u8>>)| {
            let mut at = 0;
            for stripe in self.stripes() {
                let bytes = &sealed[at..at + stripe.length as usize];
                at += bytes.len();
                take(cells::encode(self.code, stripe, bytes));
            }
        };
        let coding = median(|| each(&mut |cells| drop(black_box(cells))));
        let mut all = Vec::new();
        each(&mut |cells| all.push(cells));
        let hashing = median(|| {
            let mut hashers = vec![blake3::Hasher::new(); self.code.slots()];
            for cells in &all {
                for (hasher, cell) in hashers.iter_mut().zip(cells) {
                    hasher.update(cell);
                }
            }
            black_box(hashers);
        });
        [encrypting, coding, hashing]
    }

    /// What the libraries do alone with as many bytes.
    fn libraries(&self, sealed: &[u8]) -> [f64; 3] {
        let library = Aes256Gcm::new(&Key::<Aes256Gcm>::from([5; 32]));
        let mut buffer = self.plain.clone();
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
            for part in self.plain.chunks(65_536).chain(self.plain[..FILE / 2].chunks(65_536)) {
                black_box(blake3::hash(part));
            }
        });
        [encrypting, coding, hashing]
    }
}

/// The rate of three things that are done one after the other.
fn together(rates: [f64; 3]) -> f64 {
    1.0 / rates.map(|rate| 1.0 / rate).iter().sum::<f64>()
}

fn main() {
    let file = File::new();
    let sealed: Vec<u8> = (0..file.segments()).flat_map(|number| file.segment(number)).collect();
    let (whole, stages, libraries) = (file.whole(), file.stages(&sealed), file.libraries(&sealed));
    println!(
        "{{\"whole\": {whole:.0}, \"stages\": {stages:.0?}, \"libraries\": {libraries:.0?}, \"ratio\": {:.2}}}",
        whole / together(libraries)
    );
}
