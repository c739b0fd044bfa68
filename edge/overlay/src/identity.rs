//! A node's key: what its record and its connections are signed with. It has no stake and signs no blocks.

use cowboy_types::hash::parse_hex;
use enr::{CombinedKey, EnrKey as _};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A node's secp256k1 key.
#[derive(Clone)]
pub struct NodeKey([u8; 32]);

/// A node key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or written.
    #[error("cannot use {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// The file holds something else.
    #[error("{0} is not a node key (64 hexadecimal digits); delete it, and the node makes a new one")]
    Malformed(PathBuf),
    /// The system has no randomness.
    #[error("the system has no randomness: {0}")]
    Random(getrandom::Error),
}

impl NodeKey {
    /// A new key.
    pub fn random() -> Result<Self, KeyError> {
        loop {
            let mut secret = [0; 32];
            getrandom::fill(&mut secret).map_err(KeyError::Random)?;
            if let Some(key) = Self::from_bytes(secret) {
                return Ok(key);
            }
        }
    }

    /// The key with this secret; `None` where there is no such key.
    pub fn from_bytes(secret: [u8; 32]) -> Option<Self> {
        CombinedKey::secp256k1_from_bytes(&mut secret.clone()).ok().map(|_| Self(secret))
    }

    /// The key in a file, which is made, for its owner only, where it is not there.
    pub fn open(path: &Path) -> Result<Self, KeyError> {
        let file = |source| KeyError::File { path: path.to_owned(), source };
        match fs::read_to_string(path) {
            Ok(text) => {
                let malformed = || KeyError::Malformed(path.to_owned());
                let secret = parse_hex(text.trim()).map_err(|_| malformed())?;
                Self::from_bytes(secret).ok_or_else(malformed)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let key = Self::random()?;
                cowboy_host::files::create(path, format!("{}\n", hex::encode(key.0)).as_bytes()).map_err(file)?;
                Ok(key)
            }
            Err(source) => Err(file(source)),
        }
    }

    /// The key as node records take it.
    pub(crate) fn combined(&self) -> CombinedKey {
        CombinedKey::secp256k1_from_bytes(&mut self.0.clone()).expect("it was checked when it was made")
    }

    /// A signature over the Keccak-256 hash of a message.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.combined().sign_v4(message).expect("a secp256k1 key signs every message")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_the_same_and_is_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("node.key");
        let key = NodeKey::open(&path).expect("it is made");
        assert_eq!(NodeKey::open(&path).expect("it is read").0, key.0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        }
        for text in ["", "00", &"0".repeat(64), &"f".repeat(64), &"1".repeat(66)] {
            fs::write(&path, text).expect("it is writable");
            assert!(matches!(NodeKey::open(&path), Err(KeyError::Malformed(_))), "{text:?}");
        }
    }
}
