//! Encrypted key files: Ethereum's version 3 keystore, which wallets of other chains read and write. The key is encrypted by AES-128 in
//! counter mode under a passphrase that scrypt stretches, and a Keccak-256 says whether the passphrase was right.

use super::KeyError;
use aes::Aes128;
use cowboy_types::{keccak256, signing::PrivateKey};
use ctr::{
    Ctr128BE,
    cipher::{KeyIvInit as _, StreamCipher as _},
};
use serde::{Deserialize, Serialize};

const VERSION: u8 = 3;
const CIPHER: &str = "aes-128-ctr";
const KDF: &str = "scrypt";

/// What stretches the passphrases of new files: 128 MiB of memory and about half a second.
pub(super) const STRONG: Work = Work { n: 1 << 17, r: 8, p: 1 };

/// The most memory that a file may ask for, in bytes.
const MAX_MEMORY: u64 = 1 << 30;

/// Parameters of scrypt: rounds (a power of two), block size and lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    pub(super) n: u32,
    pub(super) r: u32,
    pub(super) p: u32,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    version: u8,
    id: String,
    #[serde(default)]
    address: String,
    #[serde(alias = "Crypto")]
    crypto: Crypto,
}

#[derive(Serialize, Deserialize)]
struct Crypto {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    kdf: String,
    kdfparams: KdfParams,
    mac: String,
}

#[derive(Serialize, Deserialize)]
struct CipherParams {
    iv: String,
}

/// Of the functions that the format knows, this reads scrypt, which all wallets write by default.
#[derive(Serialize, Deserialize)]
struct KdfParams {
    dklen: usize,
    #[serde(default)]
    n: u32,
    #[serde(default)]
    r: u32,
    #[serde(default)]
    p: u32,
    salt: String,
}

/// Whether a text is an encrypted key file, right or not.
pub(super) fn is_encrypted(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

/// A key as an encrypted file.
pub(super) fn encrypt(key: &PrivateKey, passphrase: &str, work: Work) -> Result<String, KeyError> {
    let mut random = [0; 64];
    getrandom::fill(&mut random).map_err(|error| KeyError::Random(error.to_string()))?;
    let (salt, iv, id) = (&random[..32], &random[32..48], hex::encode(&random[48..]));
    let stretched = stretch(passphrase, salt, work)?;
    let mut bytes = key.to_bytes();
    apply(&stretched, iv, &mut bytes)?;
    let file = File {
        version: VERSION,
        id: [&id[..8], &id[8..12], &id[12..16], &id[16..20], &id[20..]].join("-"),
        address: hex::encode(key.address().0),
        crypto: Crypto {
            cipher: CIPHER.into(),
            cipherparams: CipherParams { iv: hex::encode(iv) },
            mac: hex::encode(keccak256(&[&stretched[16..], &bytes]).0),
            ciphertext: hex::encode(bytes),
            kdf: KDF.into(),
            kdfparams: KdfParams { dklen: stretched.len(), n: work.n, r: work.r, p: work.p, salt: hex::encode(salt) },
        },
    };
    Ok(serde_json::to_string_pretty(&file).expect("the file is JSON") + "\n")
}

/// The key of an encrypted file.
pub(super) fn decrypt(text: &str, passphrase: &str) -> Result<PrivateKey, KeyError> {
    let file: File = serde_json::from_str(text).map_err(|error| KeyError::Keystore(error.to_string()))?;
    let Crypto { cipher, cipherparams, ciphertext, kdf, kdfparams, mac } = file.crypto;
    if (file.version, cipher.as_str(), kdf.as_str(), kdfparams.dklen) != (VERSION, CIPHER, KDF, 32) {
        let found = format!("version {}, {cipher}, {kdf}, {} bytes", file.version, kdfparams.dklen);
        return Err(KeyError::Keystore(format!("it has {found}, and version {VERSION} with {CIPHER}, {KDF} and 32 bytes is read")));
    }
    let field = |name: &str, text: &str| hex::decode(text).map_err(|error| KeyError::Keystore(format!("{name} is not hex: {error}")));
    let (salt, iv, sealed, mac) =
        (field("salt", &kdfparams.salt)?, field("iv", &cipherparams.iv)?, field("ciphertext", &ciphertext)?, field("mac", &mac)?);
    let stretched = stretch(passphrase, &salt, Work { n: kdfparams.n, r: kdfparams.r, p: kdfparams.p })?;
    if keccak256(&[&stretched[16..], &sealed]).0.as_slice() != mac {
        return Err(KeyError::Passphrase);
    }
    let mut bytes: [u8; 32] = sealed.try_into().map_err(|_| KeyError::Keystore("the ciphertext has not 32 bytes".into()))?;
    apply(&stretched, &iv, &mut bytes)?;
    PrivateKey::from_bytes(bytes).ok_or(KeyError::OutOfRange)
}

fn stretch(passphrase: &str, salt: &[u8], Work { n, r, p }: Work) -> Result<[u8; 32], KeyError> {
    let refused = || KeyError::Keystore(format!("scrypt cannot work with n {n}, r {r}, p {p}"));
    let memory = 128 * u64::from(n) * u64::from(r);
    if !n.is_power_of_two() || memory > MAX_MEMORY || p > 64 {
        return Err(refused());
    }
    let log_n = u8::try_from(n.trailing_zeros()).expect("an exponent of 32 bits fits a byte");
    let params = scrypt::Params::new(log_n, r, p).map_err(|_| refused())?;
    let mut stretched = [0; 32];
    scrypt::scrypt(passphrase.as_bytes(), salt, &params, &mut stretched).map_err(|_| refused())?;
    Ok(stretched)
}

/// Encrypts and decrypts: the key stream goes over the bytes.
fn apply(stretched: &[u8; 32], iv: &[u8], bytes: &mut [u8]) -> Result<(), KeyError> {
    let mut cipher =
        Ctr128BE::<Aes128>::new_from_slices(&stretched[..16], iv).map_err(|_| KeyError::Keystore("the iv has not 16 bytes".into()))?;
    cipher.apply_keystream(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEAK: Work = Work { n: 1 << 4, r: 8, p: 1 };

    /// The vector of the Web3 Secret Storage Definition, which go-ethereum tests with.
    const VECTOR: &str = r#"{"crypto": {"cipher": "aes-128-ctr", "cipherparams": {"iv": "83dbcc02d8ccb40e466191a123791e0e"},
        "ciphertext": "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c", "kdf": "scrypt",
        "kdfparams": {"dklen": 32, "n": 262144, "r": 1, "p": 8, "salt": "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19"},
        "mac": "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097"}, "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6", "version": 3}"#;

    fn key() -> PrivateKey {
        PrivateKey::from_bytes([7; 32]).expect("the bytes are a key")
    }

    #[test]
    fn files_of_other_wallets_are_read() {
        let key = decrypt(VECTOR, "testpassword").expect("the passphrase is right");
        assert_eq!(hex::encode(key.to_bytes()), "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d");
    }

    #[test]
    fn a_key_survives_and_two_files_of_it_differ() {
        let (one, two) =
            (encrypt(&key(), "häßlich", WEAK).expect("it is written"), encrypt(&key(), "häßlich", WEAK).expect("it is written"));
        assert_ne!(one, two);
        for file in [one, two] {
            assert!(!file.contains(&hex::encode([7; 32])), "the key does not stand in it");
            assert_eq!(decrypt(&file, "häßlich").expect("the passphrase is right").to_bytes(), key().to_bytes());
            assert!(matches!(decrypt(&file, "haesslich"), Err(KeyError::Passphrase)));
        }
    }

    #[test]
    fn a_damaged_file_is_refused_and_said() {
        let file = encrypt(&key(), "x", WEAK).expect("it is written");
        let rows = [
            (file.replace("\"version\": 3", "\"version\": 4"), "version 4"),
            (file.replace("aes-128-ctr", "aes-256-gcm"), "aes-256-gcm"),
            (file.replace("\"scrypt\"", "\"pbkdf2\""), "pbkdf2"),
            (file.replace("\"n\": 16", "\"n\": 17"), "n 17"),
            (file.replace("\"n\": 16", "\"n\": 1073741824"), "n 1073741824"),
            (file.replace("\"r\": 8", "\"r\": 0"), "r 0"),
            (file.replace("\"p\": 1", "\"p\": 65"), "p 65"),
            (file.replace("\"iv\": \"", "\"iv\": \"00"), "iv"),
            (file.replace("\"salt\": \"", "\"salt\": \"z"), "salt is not hex"),
            (file.replace("\"mac\": \"", "\"mac\": \"00"), "passphrase"),
            (file[..40].to_owned(), "EOF"),
        ];
        for (text, expected) in rows {
            assert_ne!(text, file, "{expected}");
            let error = decrypt(&text, "x").err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
