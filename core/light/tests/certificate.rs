//! A finalization of a real chain, as its engine encoded it.

use cowboy_light::{GroupKey, Refused};
use cowboy_types::Hash;

const GENESIS: &str = "0x4acc28e6f0c2db9b37de8f8df4d1395f04a2852bd56acb9105f7e24cb3bcdf3f";
const KEY: &str = "8340eb4f826508bfb72a5aa5a7b0e751eefb3c921c84adb5f22c4b023f623be5bd7dc9bebe6191765bb1f0811e21357a\
                   1925fd6c1bd9584f998806e9c6c539423a3705cb52a03c1366c3cf057e24076af1fd52acb4349d2a634eb6f52069bc96";
const BLOCK: &str = "0xad6e350d4e20f2d35f8d4b961d64f1002ffd9da3d42e41a145ab6d91b567c7ac";
const CERTIFICATE: &str = "000504ad6e350d4e20f2d35f8d4b961d64f1002ffd9da3d42e41a145ab6d91b567c7ac\
                           a649553fa714dd14b6fa190672f9e81ff20379cb862fdb6904e9fdbd401fe6680ef486bf81d7f2ccaf7eca4c583fd041\
                           9543f298f44fa5c181e615765c403cadef646dc41e6870799f4178c6f18dbade947df19637842a2bec989c8a9a3ff09a";

fn bytes(digits: &str) -> Vec<u8> {
    let value = |place: usize| u8::from_str_radix(&digits[place..place + 2], 16).expect("hex digits");
    (0..digits.len()).step_by(2).map(value).collect()
}

fn key(genesis: &Hash) -> GroupKey {
    let key = bytes(KEY).try_into().expect("96 bytes");
    GroupKey::new(genesis, &key).expect("the key is a key")
}

/// the certificate is a threshold signature over block and round, and of nothing else.
#[test]
fn only_the_bytes_that_the_validators_signed_hold() {
    let genesis: Hash = GENESIS.parse().expect("a hash");
    let block: Hash = BLOCK.parse().expect("a hash");
    let certificate = bytes(CERTIFICATE);
    let validators = key(&genesis);
    assert_eq!(validators.finalizes(&block, &certificate), Ok((0, 5)));
    assert_eq!(key(&Hash::ZERO).finalizes(&block, &certificate), Err(Refused::Signature), "another chain");
    let other = Hash([7; 32]);
    assert_eq!(validators.finalizes(&other, &certificate), Err(Refused::OtherBlock { found: block }));
    for cut in 0..certificate.len() {
        assert_eq!(validators.finalizes(&block, &certificate[..cut]), Err(Refused::Malformed), "{cut} bytes");
    }
    // The round, the parent's view, the block, the vote and the seed: one byte of each.
    let rows = [
        (0, Refused::Signature),
        (1, Refused::Signature),
        (2, Refused::Signature),
        (3, Refused::OtherBlock { found: Hash::ZERO }),
        (36, Refused::Malformed),
        (84, Refused::Malformed),
    ];
    for (place, expected) in rows {
        let mut changed = certificate.clone();
        changed[place] ^= 1;
        match (validators.finalizes(&block, &changed), expected) {
            (Err(Refused::OtherBlock { .. }), Refused::OtherBlock { .. }) => {}
            (Err(Refused::Malformed | Refused::Signature), Refused::Malformed) => {}
            (found, expected) => assert_eq!(found, Err(expected), "byte {place}"),
        }
    }
    let mut swapped = certificate[..certificate.len() - 96].to_vec();
    swapped.extend(&certificate[certificate.len() - 48..]);
    swapped.extend(&certificate[certificate.len() - 96..certificate.len() - 48]);
    assert_eq!(validators.finalizes(&block, &swapped), Err(Refused::Signature), "vote and seed are not each other's");
}

#[test]
fn what_is_no_key_is_refused() {
    let genesis = Hash([1; 32]);
    let mut infinity = [0; 96];
    infinity[0] = 0xc0;
    let mut damaged: [u8; 96] = bytes(KEY).try_into().expect("96 bytes");
    damaged[95] ^= 1;
    for key in [[0; 96], [0xff; 96], infinity, damaged] {
        assert_eq!(GroupKey::new(&genesis, &key), None, "{key:?}");
    }
}
