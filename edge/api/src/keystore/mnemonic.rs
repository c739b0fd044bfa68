//! Keys of words (BIP-39), by Ethereum's derivation path m/44'/60'/0'/0/i.

use super::KeyError;
use bip32::XPrv;
use cowboy_types::signing::PrivateKey;

/// The words of every dev chain's funded accounts. Public: whoever uses them elsewhere gives the money away.
pub const DEV_MNEMONIC: &str = "test test test test test test test test test test test junk";

/// Words that make keys.
pub struct Mnemonic {
    words: String,
    accounts: XPrv,
}

impl Mnemonic {
    /// New random words: 12 of them.
    pub fn random() -> Result<Self, KeyError> {
        let mut entropy = [0; 16];
        getrandom::fill(&mut entropy).map_err(|error| KeyError::Random(error.to_string()))?;
        let words = bip39::Mnemonic::from_entropy(&entropy).map_err(|error| KeyError::Mnemonic(error.to_string()))?;
        Self::of(&words, "")
    }

    /// These words, with the optional passphrase of BIP-39.
    pub fn parse(words: &str, passphrase: &str) -> Result<Self, KeyError> {
        let words = bip39::Mnemonic::parse_in(bip39::Language::English, words).map_err(|error| KeyError::Mnemonic(error.to_string()))?;
        Self::of(&words, passphrase)
    }

    fn of(words: &bip39::Mnemonic, passphrase: &str) -> Result<Self, KeyError> {
        let path = "m/44'/60'/0'/0".parse().expect("the path is well formed");
        let accounts = XPrv::derive_from_path(&words.to_seed(passphrase), &path).map_err(|error| KeyError::Mnemonic(error.to_string()))?;
        Ok(Self { words: words.to_string(), accounts })
    }

    /// The words.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// The key of account `index`.
    pub fn key(&self, index: u32) -> Result<PrivateKey, KeyError> {
        let number = bip32::ChildNumber::new(index, false).map_err(|error| KeyError::Mnemonic(error.to_string()))?;
        let child = self.accounts.derive_child(number).map_err(|error| KeyError::Mnemonic(error.to_string()))?;
        PrivateKey::from_bytes(child.private_key().to_bytes().into()).ok_or(KeyError::OutOfRange)
    }
}

impl std::fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mnemonic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses that every Ethereum wallet shows for these words (ethers: `HDNodeWallet.fromPhrase`).
    #[test]
    fn words_make_the_addresses_of_ethereum_wallets() {
        let rows = [
            (DEV_MNEMONIC, 0, "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"),
            (DEV_MNEMONIC, 1, "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"),
            (DEV_MNEMONIC, 9, "0xa0ee7a142d267c1f36714e4a8f75612f20a79720"),
            (
                "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
                0,
                "0x9858effd232b4033e47d90003d41ec34ecaeda94",
            ),
        ];
        for (words, index, address) in rows {
            let key = Mnemonic::parse(words, "").and_then(|words| words.key(index)).expect("the words are good");
            assert_eq!(key.address().to_string(), address, "{words} {index}");
        }
    }

    #[test]
    fn bad_words_are_refused_with_the_reason() {
        for words in [
            "",
            "test",
            "test test test test test test test test test test test test",
            "tset test test test test test test test test test test junk",
        ] {
            assert!(matches!(Mnemonic::parse(words, ""), Err(KeyError::Mnemonic(_))), "{words}");
        }
    }

    #[test]
    fn random_words_read_back() {
        let made = Mnemonic::random().expect("the system has random bytes");
        let read = Mnemonic::parse(made.words(), "").expect("made words are words");
        assert_eq!(made.key(3).map(|key| key.address()).ok(), read.key(3).map(|key| key.address()).ok());
        assert_eq!(made.words().split(' ').count(), 12);
    }
}
