//! `cowboy wallet`: keys.

use super::session::Session;
use clap::{Args, Subcommand, ValueEnum};
use cowboy_api::keystore::{self, CONFIG_DIRECTORY, Mnemonic};
use cowboy_console::failure::Failure;
use cowboy_host::loopback;
use cowboy_types::signing::PrivateKey;
use reqwest::Url;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Wallet {
    /// Create a random key
    Create(Place),
    /// Create a random key from twelve words, with Ethereum's derivation path
    CreateMnemonic(Place),
    /// Print the address of the key
    Address,
    /// Print the balance of the key's account, or of another
    Balance {
        /// The account [default: the key's account]
        address: Option<String>,
    },
    /// Print the secret key
    Export {
        /// The format of the key
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Import a key from a file, hex or a mnemonic. Encrypted files are Ethereum keystores, version 3, which other wallets read and write
    Import(Import),
}

/// Where a key is kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct Place {
    /// The key's file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the key that is there
    #[arg(long)]
    force: bool,
    /// Encrypt the key with a passphrase, from COWBOY_PASSPHRASE, the file COWBOY_PASSPHRASE_FILE, or the terminal; the default if the
    /// node is on another computer
    #[arg(long, conflicts_with = "plain")]
    encrypt: bool,
    /// Do not encrypt the key; the default for a devnet on this computer
    #[arg(long)]
    plain: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Import {
    /// A key file, or the key in hex
    #[arg(required_unless_present = "mnemonic", conflicts_with = "mnemonic")]
    key: Option<String>,
    /// Words of a mnemonic
    #[arg(long, value_name = "WORDS")]
    mnemonic: Option<String>,
    /// The number of the mnemonic's account
    #[arg(long, default_value_t = 0, requires = "mnemonic")]
    index: u32,
    #[command(flatten)]
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A PEM block
    #[default]
    Pem,
    /// Hex with 0x
    Hex,
}

impl Wallet {
    pub(crate) async fn run(self, session: &Session) -> Result<(), Failure> {
        match self {
            Self::Create(place) => place.keep(session, &keystore::random_key()?, None),
            Self::CreateMnemonic(place) => {
                let words = Mnemonic::random()?;
                place.keep(session, &words.key(0)?, Some(words.words()))
            }
            Self::Address => {
                let address = session.key()?.address().to_string();
                session.output.result(&json!({ "address": address, "source": session.key_source()? }), address);
                Ok(())
            }
            Self::Balance { address } => super::account::balance(session, address.as_deref()).await,
            Self::Export { format } => {
                let key = session.key()?;
                let text = match format {
                    Format::Pem => keystore::encode_pem(&key),
                    Format::Hex => keystore::encode_hex(&key),
                };
                session.output.result(&json!({ "address": key.address().to_string(), "key": text }), text.trim_end());
                Ok(())
            }
            Self::Import(import) => import.run(session),
        }
    }
}

impl Import {
    fn run(self, session: &Session) -> Result<(), Failure> {
        let key = match (&self.mnemonic, &self.key) {
            (Some(words), _) => Mnemonic::parse(words, "")?.key(self.index)?,
            (None, Some(text)) => {
                let path = PathBuf::from(text);
                // What is as long as a key is never shown.
                let is_name = !path.is_file() && text.len() < 60;
                let named = |error| match error {
                    keystore::KeyError::Format if is_name => Failure::argument(
                        format!("{text:?} is neither a key file nor a private key"),
                        "give an existing file, or 64 hex digits",
                    ),
                    other => other.into(),
                };
                let inside = |source| keystore::KeyError::In { path: path.clone(), source: Box::new(source) };
                if path.is_file() { keystore::read(&path).map_err(inside)? } else { keystore::decode(text).map_err(named)? }
            }
            (None, None) => return Err(Failure::argument("nothing to import", "give a file, hex, or --mnemonic")),
        };
        self.place.keep(session, &key, None)
    }
}

impl Place {
    /// Writes the key and says where.
    fn keep(&self, session: &Session, key: &PrivateKey, words: Option<&str>) -> Result<(), Failure> {
        let path = self.out.clone().unwrap_or_else(|| session.project.join(CONFIG_DIRECTORY).join("key"));
        if path.exists() && !self.force {
            // Before a passphrase is asked for.
            return Err(keystore::KeyError::Exists(path).into());
        }
        let is_encrypted = self.encrypt || !self.plain && !is_loopback(session.client.url());
        let passphrase = is_encrypted.then(|| keystore::new_passphrase(&path.display().to_string())).transpose()?;
        let write = if self.force { keystore::replace } else { keystore::write };
        write(&path, key, passphrase.as_deref())?;
        let address = key.address().to_string();
        let said = words.map_or_else(String::new, |words| format!("\nWords:   {words}\nWrite the words down: they are shown only once."));
        session.output.result(
            &json!({ "address": address, "key_file": path, "encrypted": is_encrypted, "mnemonic": words }),
            format_args!("Address: {address}\nKey:     {}{}{said}", path.display(), if is_encrypted { ", encrypted" } else { "" }),
        );
        Ok(())
    }
}

/// Whether a node's address is on this machine.
fn is_loopback(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(loopback::is_host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_node_on_this_machine_is_a_devnet() {
        let rows = [
            ("http://localhost:4000", true),
            ("http://127.0.0.1:4000/", true),
            ("http://[::1]:4000", true),
            ("http://node.localhost", true),
            ("https://rpc.example.com", false),
            ("http://localhost.example.com", false),
            ("http://127.0.0.1.example.com", false),
            ("http://192.168.1.5:4000", false),
            ("https://example.com/localhost", false),
            ("http://localhost:4000@example.com", false),
            ("localhost", false),
        ];
        for (url, expected) in rows {
            assert_eq!(is_loopback(url), expected, "{url}");
        }
    }
}
