//! Hashes as CPython gives them with `PYTHONHASHSEED=0` (003 Overview).
//!
//! They decide no iteration order (dicts and sets keep insertion order) but are visible through `hash()`.

use dashu_int::IBig;
use dashu_int::Sign;

use super::F64;

/// Numbers hash to themselves modulo this prime, 2^61 - 1, whatever their type.
const MODULUS: u64 = (1 << 61) - 1;
const MODULUS_BITS: u32 = 61;

/// What an infinity hashes to.
const HASH_INFINITY: i64 = 314_159;

/// `hash(None)`: CPython's depends on an address; ours is this.
pub const HASH_NONE: i64 = 0xfca8_6420;

/// `-1` reports an error inside CPython, so no hash is `-1`.
const fn not_minus_one(hash: i64) -> i64 {
    if hash == -1 { -2 } else { hash }
}

/// A residue with its number's sign as a hash.
fn signed(residue: u64, negative: bool) -> i64 {
    let magnitude = i64::try_from(residue).expect("a residue of 2^61 - 1");
    not_minus_one(if negative { -magnitude } else { magnitude })
}

/// `hash(n)` of an integer of up to 64 bits.
#[inline]
pub fn hash_i64(value: i64) -> i64 {
    if value.unsigned_abs() < MODULUS { not_minus_one(value) } else { signed(value.unsigned_abs() % MODULUS, value < 0) }
}

/// `hash(n)` of an integer of any size.
pub fn hash_int(value: &IBig) -> i64 {
    if let Ok(small) = i64::try_from(value) {
        return hash_i64(small);
    }
    let (sign, magnitude) = value.clone().into_parts();
    let residue = &magnitude % MODULUS;
    signed(residue, sign == Sign::Negative)
}

/// `hash(x)` of a float; equal to the hash of an equal integer. A NaN hashes to 0 (CPython: by address).
pub fn hash_f64(value: F64) -> i64 {
    if !value.is_finite() {
        return if value.is_nan() {
            0
        } else if value.is_negative() {
            -HASH_INFINITY
        } else {
            HASH_INFINITY
        };
    }
    let (significand, exponent) = value.significand_and_exponent();
    // Multiplying by two modulo 2^61 - 1 rotates 61 bits.
    let rotation = u32::try_from(exponent.rem_euclid(61)).expect("a residue of 61");
    signed(rotate(significand, rotation), value.is_negative())
}

/// Rotates the low 61 bits left.
const fn rotate(residue: u64, distance: u32) -> u64 {
    if distance == 0 { residue } else { ((residue << distance) & MODULUS) | (residue >> (MODULUS_BITS - distance)) }
}

/// `hash(z)` of a complex number.
pub fn hash_complex(real: F64, imaginary: F64) -> i64 {
    let imaginary = hash_f64(imaginary).wrapping_mul(1_000_003);
    not_minus_one(hash_f64(real).wrapping_add(imaginary))
}

/// SipHash-1-3 with a zero key, the hash of bytes and of a string's buffer. Empty data hashes to 0.
pub fn siphash13(data: &[u8]) -> i64 {
    if data.is_empty() {
        return 0;
    }
    let mut state = Sip::new();
    let mut chunks = data.chunks_exact(8);
    for chunk in &mut chunks {
        state.absorb(u64::from_le_bytes(chunk.try_into().expect("chunks of eight")));
    }
    let length = u64::from(data.len().to_le_bytes()[0]);
    state.absorb(little_end(chunks.remainder()) | length << 56);
    state.finish()
}

/// Fewer than eight bytes as a number, the first one lowest: by fours, twos and one, because most strings are short.
#[inline]
fn little_end(mut rest: &[u8]) -> u64 {
    let (mut word, mut bits) = (0, 0);
    if let Some((four, more)) = rest.split_first_chunk::<4>() {
        (word, bits, rest) = (u64::from(u32::from_le_bytes(*four)), 32, more);
    }
    if let Some((two, more)) = rest.split_first_chunk::<2>() {
        (word, bits, rest) = (word | u64::from(u16::from_le_bytes(*two)) << bits, bits + 16, more);
    }
    match rest {
        [one, ..] => word | u64::from(*one) << bits,
        [] => word,
    }
}

struct Sip {
    v: [u64; 4],
}

impl Sip {
    /// The state for a key of zeros: the ASCII of "somepseudorandomlygeneratedbytes".
    const fn new() -> Sip {
        Sip { v: [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573] }
    }

    #[inline]
    const fn round(&mut self) {
        let [v0, v1, v2, v3] = &mut self.v;
        *v0 = v0.wrapping_add(*v1);
        *v1 = v1.rotate_left(13) ^ *v0;
        *v0 = v0.rotate_left(32);
        *v2 = v2.wrapping_add(*v3);
        *v3 = v3.rotate_left(16) ^ *v2;
        *v0 = v0.wrapping_add(*v3);
        *v3 = v3.rotate_left(21) ^ *v0;
        *v2 = v2.wrapping_add(*v1);
        *v1 = v1.rotate_left(17) ^ *v2;
        *v2 = v2.rotate_left(32);
    }

    #[inline]
    const fn absorb(&mut self, word: u64) {
        self.v[3] ^= word;
        self.round();
        self.v[0] ^= word;
    }

    const fn finish(mut self) -> i64 {
        self.v[2] ^= 0xff;
        self.round();
        self.round();
        self.round();
        let [v0, v1, v2, v3] = self.v;
        not_minus_one((v0 ^ v1 ^ v2 ^ v3).cast_signed())
    }
}

/// `hash(s)` of a string: its characters as CPython stores them, at the narrowest of one, two or four bytes each
/// that fits them all, little end first.
pub fn hash_str(text: &str) -> i64 {
    if text.is_ascii() {
        return siphash13(text.as_bytes());
    }
    let widest = text.chars().max().unwrap_or('\0');
    let mut buffer = Vec::with_capacity(text.len() * 2);
    for character in text.chars() {
        let bytes = u32::from(character).to_le_bytes();
        let width = match u32::from(widest) {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        buffer.extend_from_slice(&bytes[..width]);
    }
    siphash13(&buffer)
}

/// `hash(t)` of a tuple from its items' hashes, in order.
pub fn hash_tuple(items: impl ExactSizeIterator<Item = i64>) -> i64 {
    const PRIME_1: u64 = 11_400_714_785_074_694_791;
    const PRIME_2: u64 = 14_029_467_366_897_019_727;
    const PRIME_5: u64 = 2_870_177_450_012_600_261;
    let length = u64::try_from(items.len()).expect("the items are in memory");
    let mut accumulator = PRIME_5;
    for item in items {
        accumulator = accumulator.wrapping_add(item.cast_unsigned().wrapping_mul(PRIME_2));
        accumulator = accumulator.rotate_left(31).wrapping_mul(PRIME_1);
    }
    accumulator = accumulator.wrapping_add(length ^ (PRIME_5 ^ 3_527_539));
    if accumulator == u64::MAX { 1_546_275_796 } else { accumulator.cast_signed() }
}

/// `hash(s)` of a frozenset from its items' hashes, in any order.
pub fn hash_frozenset(items: impl ExactSizeIterator<Item = i64>) -> i64 {
    const fn scattered(hash: u64) -> u64 {
        ((hash ^ 89_869_747) ^ (hash << 16)).wrapping_mul(3_644_798_167)
    }
    let length = u64::try_from(items.len()).expect("the items are in memory");
    let mut hash = items.fold(0, |hash, item| hash ^ scattered(item.cast_unsigned()));
    hash ^= length.wrapping_add(1).wrapping_mul(1_927_868_237);
    hash ^= (hash >> 11) ^ (hash >> 25);
    hash = hash.wrapping_mul(69_069).wrapping_add(907_133_923);
    if hash == u64::MAX { 590_923_713 } else { hash.cast_signed() }
}
