//! The keys that sign: made from words, kept in files, looked up in a fixed order.

mod encrypted;
mod file;
mod lookup;
mod mnemonic;
mod passphrase;

pub use file::{decode, encode_hex, encode_pem, read, replace, write};
pub use lookup::{CONFIG_DIRECTORY, Config, DEFAULT_RPC_URL, ENV_KEY, ENV_RPC_URL, Found, Lookup, Source};
pub use mnemonic::{DEV_MNEMONIC, Mnemonic};
pub use passphrase::{ENV_PASSPHRASE, ENV_PASSPHRASE_FILE, new as new_passphrase};

use std::path::PathBuf;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is neither a PEM block nor hex.
    #[error("this is not a private key: expected a PEM block `COWBOY PRIVATE KEY`, or 64 hex digits")]
    Format,
    /// A PEM block of another kind, like a TLS key.
    #[error("this is a PEM block `{0}`, and only `COWBOY PRIVATE KEY` is read; create one with `cowboy wallet create`")]
    Label(String),
    /// The block is for a curve that accounts do not use.
    #[error("the key is for the curve {0}, and accounts use secp256k1")]
    Curve(String),
    /// The block was damaged.
    #[error("the key's checksum does not match: the file was damaged or edited")]
    Checksum,
    /// An encrypted key file where a plain key is read.
    #[error("this is an encrypted key file: give its path, and its passphrase in COWBOY_PASSPHRASE or on the terminal")]
    Encrypted,
    /// An encrypted key file that is not as the format says.
    #[error("the encrypted key file cannot be read: {0}")]
    Keystore(String),
    /// The passphrase does not open the file, or the file was damaged.
    #[error("the passphrase is wrong, or the encrypted key file was damaged")]
    Passphrase,
    /// Nobody gives a passphrase.
    #[error(
        "{0} needs a passphrase, and there is no terminal: set COWBOY_PASSPHRASE, or COWBOY_PASSPHRASE_FILE to a file that contains it"
    )]
    NoPassphrase(String),
    /// A new passphrase of no characters.
    #[error("an empty passphrase protects nothing; give one, or write a plain key with --plain")]
    EmptyPassphrase,
    /// A new passphrase that was not the same twice.
    #[error("the two passphrases differ; run the command again")]
    Differ,
    /// Zero, or beyond the curve's order.
    #[error("the 32 bytes are not a private key: zero, or beyond the curve's order")]
    OutOfRange,
    /// The words are no mnemonic.
    #[error("these words are not a mnemonic: {0}")]
    Mnemonic(String),
    /// The file cannot be read or written.
    #[error("the key file {path} cannot be used: {source}")]
    File {
        /// The file's path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// A file that is there already.
    #[error("{0} exists already")]
    Exists(PathBuf),
    /// The configuration is no JSON of the right shape.
    #[error("the configuration {path} cannot be read: {reason}")]
    Config {
        /// The file's path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The configuration cannot be read or written.
    #[error("the configuration {path} cannot be used: {source}")]
    ConfigFile {
        /// The file's path.
        path: PathBuf,
        /// The underlying error.
        source: std::io::Error,
    },
    /// A key in one of the places where keys are looked up is bad.
    #[error("{place}: {source}")]
    At {
        /// Where the key is.
        place: Source,
        /// What is wrong with it.
        source: Box<KeyError>,
    },
    /// A file that is no key file, or a damaged one.
    #[error("{path}: {source}")]
    In {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<KeyError>,
    },
    /// No key anywhere.
    #[error("no private key: none given with --private-key, in COWBOY_PRIVATE_KEY, in .cowboy/config.json or in .cowboy/key")]
    Missing,
    /// The system gives no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(String),
}

/// A new random key.
pub fn random_key() -> Result<cowboy_types::signing::PrivateKey, KeyError> {
    loop {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| KeyError::Random(error.to_string()))?;
        // All but one in 2^128 draws are keys.
        if let Some(key) = cowboy_types::signing::PrivateKey::from_bytes(bytes) {
            return Ok(key);
        }
    }
}
