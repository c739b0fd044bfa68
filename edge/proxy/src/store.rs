//! What a proxy keeps: seeds of dealings, and shares. Every file is encrypted, is readable by its owner only and is replaced as a whole (decision 650).

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::bls12381::primitives::group::Share;
use cowboy_service::files::{forget_unfinished, overwrite, read, write};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Bytes of the nonce with which a file begins.
const NONCE_BYTES: usize = 12;

/// The folder of a proxy's secrets.
pub struct Store {
    folder: PathBuf,
    cipher: Aes256Gcm,
}

impl Store {
    /// Opens the folder, and makes it where it is missing. The key encrypts what is kept in it.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn open(folder: &Path, key: &[u8; 32]) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        forget_unfinished(folder)?;
        Ok(Self { folder: folder.to_owned(), cipher: Aes256Gcm::new(&Key::<Aes256Gcm>::from(*key)) })
    }

    fn seed_name(key_id: u32, round: u64) -> String {
        format!("dealing-{key_id}-{round}.seed")
    }

    fn share_name(key_id: u32, epoch: u64) -> String {
        format!("share-{key_id}-{epoch}")
    }

    /// What a file has; none where there is none. One that was written under another name does not open.
    fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let Some(bytes) = read(&self.folder.join(name))? else { return Ok(None) };
        let damaged =
            || io::Error::other(format!("{name} is damaged, or was written by the proxy of another account or by an earlier version"));
        let (nonce, body) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(damaged)?;
        let opened = self.cipher.decrypt(&Nonce::from(*nonce), Payload { msg: body, aad: name.as_bytes() });
        opened.map(|plain| Some(Zeroizing::new(plain))).map_err(|_| damaged())
    }

    fn write(&self, name: &str, plain: &[u8]) -> io::Result<()> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), Payload { msg: plain, aad: name.as_bytes() });
        let sealed = sealed.map_err(|_| io::Error::other(format!("{name} is too long")))?;
        write(&self.folder.join(name), &[&nonce[..], &sealed].concat())
    }

    /// The seed of a dealing. The first call makes it.
    ///
    /// # Errors
    ///
    /// If it can be neither read nor written.
    pub fn seed(&self, key_id: u32, round: u64) -> io::Result<Zeroizing<[u8; 32]>> {
        let name = Self::seed_name(key_id, round);
        let mut seed = Zeroizing::new([0; 32]);
        if let Some(bytes) = self.read(&name)? {
            let bytes: &[u8; 32] = bytes[..].try_into().map_err(|_| io::Error::other("the seed is damaged"))?;
            *seed = *bytes;
            return Ok(seed);
        }
        getrandom::fill(&mut *seed).map_err(io::Error::other)?;
        self.write(&name, &seed[..])?;
        Ok(seed)
    }

    /// The share of an epoch, where it was kept.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn share(&self, key_id: u32, epoch: u64) -> io::Result<Option<Share>> {
        let Some(bytes) = self.read(&Self::share_name(key_id, epoch))? else { return Ok(None) };
        Share::decode(bytes.to_vec()).map(Some).map_err(io::Error::other)
    }

    /// Keeps the share of an epoch.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn keep_share(&self, key_id: u32, epoch: u64, share: &Share) -> io::Result<()> {
        self.write(&Self::share_name(key_id, epoch), &Zeroizing::new(share.encode().to_vec()))
    }

    /// Overwrites and removes the seeds of dealings before `round`, and the shares of epochs before `epoch`.
    ///
    /// # Errors
    ///
    /// If one cannot be overwritten.
    pub fn forget(&self, key_id: u32, round: u64, epoch: u64) -> io::Result<()> {
        let (seeds, shares) = (format!("dealing-{key_id}-"), format!("share-{key_id}-"));
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.trim_end_matches(".seed").parse::<u64>().ok());
            let is_old = number(&seeds).is_some_and(|number| number < round) || number(&shares).is_some_and(|number| number < epoch);
            if is_old {
                overwrite(&entry.path())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::bls12381::primitives::group::{Private, Scalar};
    use commonware_utils::Participant;
    use std::os::unix::fs::PermissionsExt as _;

    const KEY: [u8; 32] = [7; 32];

    fn share_of(number: u64) -> Share {
        Share::new(Participant::new(2), Private::new(Scalar::from_u64(number)))
    }

    #[test]
    fn seeds_and_shares_are_kept_until_they_are_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), &KEY).expect("it opens");
        let seed = store.seed(1, 3).expect("it is made");
        assert_eq!(store.seed(1, 3).expect("it is read"), seed);
        assert_ne!(store.seed(1, 4).expect("it is made"), seed);
        let share = share_of(7);
        store.keep_share(1, 1, &share).expect("it is written");
        store.keep_share(2, 1, &share).expect("it is written");
        assert_eq!(store.share(1, 1).expect("it is read"), Some(share.clone()));
        for entry in fs::read_dir(folder.path()).expect("a folder") {
            let mode = entry.expect("a file").metadata().expect("its metadata").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        store.forget(1, 4, 2).expect("they are removed");
        assert_eq!(store.share(1, 1).expect("it is looked for"), None);
        assert_eq!(store.share(2, 1).expect("it is read"), Some(share), "of another key");
        assert_ne!(store.seed(1, 3).expect("it is made"), seed, "it is another one");
    }

    /// Whoever has the folder and not the account's key learns nothing, and can neither change a file nor give it another name.
    #[test]
    fn files_are_for_one_key_and_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |key: u8| Store::open(folder.path(), &[key; 32]).expect("it opens");
        let store = open(7);
        let (seed, share) = (store.seed(1, 3).expect("it is made"), share_of(7));
        store.keep_share(1, 1, &share).expect("it is written");
        let file = |name: &str| folder.path().join(name);
        let stored = |name: &str| fs::read(file(name)).expect("it is there");
        let has = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        assert!(!has(&stored("dealing-1-3.seed"), &seed[..]));
        assert!(!has(&stored("share-1-1"), &share.encode()[1..]), "its index comes first");
        let first = stored("share-1-1");
        store.keep_share(1, 1, &share).expect("it is written");
        assert_ne!(stored("share-1-1"), first, "each writing has a nonce of its own");

        assert!(open(8).share(1, 1).is_err() && open(8).seed(1, 3).is_err(), "of another account");
        fs::copy(file("share-1-1"), file("share-1-2")).expect("it is copied");
        assert!(store.share(1, 2).is_err(), "of another epoch");
        for place in [0, 12, first.len() - 1] {
            let mut changed = first.clone();
            changed[place] ^= 1;
            fs::write(file("share-1-1"), changed).expect("it is written");
            assert!(store.share(1, 1).is_err(), "byte {place}");
        }
        for length in [0, 11, 12, first.len() - 1] {
            fs::write(file("share-1-1"), &first[..length]).expect("it is written");
            assert!(store.share(1, 1).is_err(), "{length} bytes");
        }
        fs::write(file("share-1-1"), &first).expect("it is written");
        assert_eq!(store.share(1, 1).expect("it is read"), Some(share));
    }
}
