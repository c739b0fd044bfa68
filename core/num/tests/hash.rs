//! hashes are CPython's with `PYTHONHASHSEED=0`.

use cowboy_num::hash::{hash_complex, hash_frozenset, hash_str, hash_tuple};
use cowboy_num::{F64, hash_f64, hash_i64, hash_int, siphash13};
use dashu_int::IBig;

use super::oracle::{Random, check_against_python};

#[test]
fn a_70_numbers_hash_as_in_cpython() {
    let mut random = Random::new(70);
    let mut rows = Vec::new();
    for value in [0, 1, -1, -2, i64::MAX, i64::MIN, (1 << 61) - 1, 1 << 61, (1 << 61) - 2, 1 - (1 << 61), -(1 << 61)] {
        rows.push((format!("hash({value})"), hash_i64(value).to_string()));
    }
    for _ in 0..2_000 {
        let small = (random.bits() as i64) >> random.below(64);
        rows.push((format!("hash({small})"), hash_i64(small).to_string()));
        let big = (IBig::from(random.bits() as i64) << random.below(3000) as usize) + IBig::from(small);
        rows.push((format!("hash({big})"), hash_int(&big).to_string()));
        let float = F64::from_bits(random.float_bits());
        if !float.is_nan() {
            rows.push((format!("hash(F({:#x}))", float.0), hash_f64(float).to_string()));
            let other = F64(random.short_decimal().to_bits());
            rows.push((format!("hash(complex(F({:#x}), F({:#x})))", float.0, other.0), hash_complex(float, other).to_string()));
        }
        let whole = F64::from_i64(small);
        assert_eq!(hash_f64(whole), hash_int(&whole.to_int().unwrap()), "equal numbers hash alike: {small}");
    }
    check_against_python(&rows);
}

#[test]
fn a_70_texts_hash_as_in_cpython() {
    let mut random = Random::new(71);
    let mut rows = Vec::new();
    let alphabets = ["abcXYZ019_ ", "aé\u{ff}z", "aé\u{100}€\u{ffff}", "aé€\u{10000}😀"];
    for round in 0..4_000 {
        let alphabet: Vec<char> = alphabets[round % 4].chars().collect();
        let text: String = (0..random.below(40)).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect();
        let literal: String = text.chars().map(|c| format!("\\U{:08x}", u32::from(c))).collect();
        rows.push((format!("hash('{literal}')"), hash_str(&text).to_string()));
        let bytes: String = text.bytes().map(|b| format!("\\x{b:02x}")).collect();
        rows.push((format!("hash(b'{bytes}')"), siphash13(text.as_bytes()).to_string()));
    }
    check_against_python(&rows);
}

#[test]
fn a_70_tuples_and_sets_hash_as_in_cpython() {
    let mut random = Random::new(72);
    let mut rows = Vec::new();
    for _ in 0..2_000 {
        let items: Vec<i64> = (0..random.below(12)).map(|_| (random.bits() as i64) >> random.below(64)).collect();
        let listed: String = items.iter().map(|item| format!("{item}, ")).collect();
        let hashes: Vec<i64> = items.iter().map(|&item| hash_i64(item)).collect();
        rows.push((format!("hash(tuple([{listed}]))"), hash_tuple(hashes.into_iter()).to_string()));
        let mut distinct = items.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let hashes: Vec<i64> = distinct.iter().map(|&item| hash_i64(item)).collect();
        rows.push((format!("hash(frozenset([{listed}]))"), hash_frozenset(hashes.into_iter()).to_string()));
    }
    check_against_python(&rows);
}
