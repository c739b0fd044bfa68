//! Key files: encrypted, a PEM block `COWBOY PRIVATE KEY` with the headers Curve and Checksum, or plain hex.

use super::{KeyError, encrypted, passphrase};
use cowboy_host::files;
use cowboy_types::{keccak256, signing::PrivateKey};
use pem::{EncodeConfig, LineEnding, Pem};
use std::{io, path::Path};

const LABEL: &str = "COWBOY PRIVATE KEY";
const CURVE: &str = "secp256k1";

/// The first 4 bytes of keccak256 of the key, in hex.
fn checksum(key: &[u8; 32]) -> String {
    hex::encode(&keccak256(&[key]).0[..4])
}

/// The key as a PEM block.
pub fn encode_pem(key: &PrivateKey) -> String {
    let bytes = key.to_bytes();
    let mut block = Pem::new(LABEL, bytes);
    let headers = block.headers_mut();
    headers.add("Curve", CURVE).expect("the header has no colon");
    headers.add("Checksum", &checksum(&bytes)).expect("the header has no colon");
    pem::encode_config(&block, EncodeConfig::new().set_line_ending(LineEnding::LF))
}

/// The key as hex with `0x`.
pub fn encode_hex(key: &PrivateKey) -> String {
    format!("0x{}", hex::encode(key.to_bytes()))
}

/// The key of a text: a PEM block or hex. [`KeyError::Encrypted`] where it is encrypted.
pub fn decode(text: &str) -> Result<PrivateKey, KeyError> {
    let text = text.trim();
    if encrypted::is_encrypted(text) {
        return Err(KeyError::Encrypted);
    }
    let bytes = if text.starts_with("-----BEGIN") {
        decode_pem(text)?
    } else {
        cowboy_types::hash::parse_hex(text).map_err(|_| KeyError::Format)?
    };
    PrivateKey::from_bytes(bytes).ok_or(KeyError::OutOfRange)
}

fn decode_pem(text: &str) -> Result<[u8; 32], KeyError> {
    let block = pem::parse(text).map_err(|_| KeyError::Format)?;
    if block.tag() != LABEL {
        return Err(KeyError::Label(block.tag().to_owned()));
    }
    if let Some(curve) = block.headers().get("Curve").filter(|curve| *curve != CURVE) {
        return Err(KeyError::Curve(curve.to_owned()));
    }
    let bytes: [u8; 32] = block.contents().try_into().map_err(|_| KeyError::Format)?;
    match block.headers().get("Checksum") {
        Some(found) if !found.eq_ignore_ascii_case(&checksum(&bytes)) => Err(KeyError::Checksum),
        _ => Ok(bytes),
    }
}

/// The key in a file. The passphrase of an encrypted one comes from the environment, or else from the terminal.
pub fn read(path: &Path) -> Result<PrivateKey, KeyError> {
    let text = std::fs::read_to_string(path).map_err(|source| KeyError::File { path: path.to_owned(), source })?;
    match decode(&text) {
        Err(KeyError::Encrypted) => encrypted::decrypt(&text, &passphrase::of(&path.display().to_string())?),
        decoded => decoded,
    }
}

/// Tells git to leave a project's `.cowboy` alone, whose key no repository may have. Other folders are their owner's business.
pub(super) fn keep_out_of_git(directory: &Path) -> std::io::Result<()> {
    let ignore = directory.join(".gitignore");
    if directory.file_name().is_some_and(|name| name == super::CONFIG_DIRECTORY) && !ignore.exists() {
        std::fs::write(ignore, "*\n")?;
    }
    Ok(())
}

/// Writes the key to a new file that only its owner can read, encrypted where there is a passphrase.
pub fn write(path: &Path, key: &PrivateKey, passphrase: Option<&str>) -> Result<(), KeyError> {
    keep(path, key, passphrase, files::create)
}

/// The same in place of what is there, which stays until the new file is whole: it may be the only one that has the key.
pub fn replace(path: &Path, key: &PrivateKey, passphrase: Option<&str>) -> Result<(), KeyError> {
    keep(path, key, passphrase, files::replace)
}

fn keep(path: &Path, key: &PrivateKey, passphrase: Option<&str>, put: fn(&Path, &[u8]) -> io::Result<()>) -> Result<(), KeyError> {
    let text = match passphrase {
        Some(passphrase) => encrypted::encrypt(key, passphrase, encrypted::STRONG)?,
        None => encode_pem(key),
    };
    let fail = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyError::Exists(path.to_owned()),
        _ => KeyError::File { path: path.to_owned(), source },
    };
    if let Some(directory) = path.parent() {
        files::create_folder(directory).map_err(fail)?;
        keep_out_of_git(directory).map_err(fail)?;
    }
    put(path, text.as_bytes()).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The key of 003 Appendix A.
    const KEY: &str = "0x4c0883a69102937d6231471b5dbb6204fe512961708279f8d5f0c5b1f1f4c6b5";

    fn key() -> PrivateKey {
        decode(KEY).expect("the key is good")
    }

    /// A key that cannot be written leaves the file that is there, and one that can takes its place.
    #[test]
    fn a_key_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        fs::write(&path, "the only copy").expect("the folder is writable");
        let refused = keep(&path, &key(), None, |_, _| Err(io::ErrorKind::StorageFull.into()));
        assert!(matches!(refused, Err(KeyError::File { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).expect("it is there"), "the only copy");
        replace(&path, &key(), None).expect("it is written");
        assert_eq!(read(&path).expect("a key").address(), key().address());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no draft is left");
        replace(&folder.path().join("other"), &key(), None).expect("there need be none before");
    }

    #[test]
    fn a_key_survives_both_forms() {
        for text in [encode_pem(&key()), encode_hex(&key()), encode_hex(&key())[2..].to_owned(), format!("\n {KEY} \n")] {
            assert_eq!(decode(&text).map(|key| key.address()).ok(), Some(key().address()), "{text}");
        }
        assert!(encode_pem(&key()).contains("Curve: secp256k1"));
    }

    #[test]
    fn a_wrong_key_is_refused_by_name() {
        let pem = encode_pem(&key());
        let rows: Vec<(String, &str)> = vec![
            (String::new(), "not a private key"),
            ("0x12".into(), "not a private key"),
            ("zz".repeat(32), "not a private key"),
            ("00".repeat(32), "zero"),
            ("ff".repeat(32), "beyond the curve"),
            (pem.replace("COWBOY PRIVATE", "RSA PRIVATE"), "PEM block `RSA PRIVATE KEY`"),
            (pem.replace("secp256k1", "ed25519"), "curve ed25519"),
            (pem.replace("Checksum: ", "Checksum: 0"), "checksum"),
            (pem.replace("-----END", "----END"), "not a private key"),
            ("{\"version\": 3}".into(), "encrypted"),
        ];
        for (text, expected) in rows {
            let error = decode(&text).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }

    /// However one byte of a key file is changed, it reads as the same key or is refused: never as another key.
    #[test]
    fn a_changed_key_file_is_never_another_key() {
        let pem = encode_pem(&key());
        for place in 0..pem.len() {
            for byte in [0, b'\n', b' ', b'+', b'-', b'0', b'=', b'A', b'z', 0x7F] {
                let mut changed = pem.clone().into_bytes();
                changed[place] = byte;
                let text = String::from_utf8(changed).expect("the file and the byte are ASCII");
                if let Ok(read) = decode(&text) {
                    assert_eq!(read.address(), key().address(), "byte {byte} at {place}");
                }
            }
            assert!(decode(&pem[..place]).is_err() || place + 1 >= pem.len(), "cut at {place}");
        }
    }

    #[test]
    fn a_key_file_is_private_and_never_overwritten() {
        let directory = tempfile::tempdir().expect("a directory for the test");
        let path = directory.path().join("deep/key");
        write(&path, &key(), None).expect("a new file");
        assert_eq!(read(&path).map(|key| key.address()).ok(), Some(key().address()));
        assert!(matches!(write(&path, &key(), Some("x")), Err(KeyError::Exists(_))));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).expect("the file is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(files::mode_for_others(&directory.path().join("deep")), None, "others do not enter a folder that was made for it");
    }
}
