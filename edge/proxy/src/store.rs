//! What a proxy keeps: seeds of dealings, and shares. Every file is encrypted, is readable by its owner only and is replaced as a whole (decision 650).
//! One that cannot be read counts as lost, and is named until it can be (decision 665).

use aes_gcm::aead::{Aead as _, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::bls12381::primitives::group::Share;
use cowboy_host::files::{forget_drafts, overwrite, read, replace};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Bytes of the nonce with which a file begins.
const NONCE_BYTES: usize = 12;

/// What the name of a seed that does not open ends with once another one took its place.
const REPLACED: &str = ".unreadable";

/// What the names of seeds, and of shares, begin with.
const KINDS: [&str; 2] = ["dealing-", "share-"];

/// The folder of a proxy's secrets.
pub struct Store {
    folder: PathBuf,
    cipher: Aes256Gcm,
    /// Files that could not be read when that was last tried.
    unreadable: Mutex<BTreeSet<String>>,
}

fn cipher(key: &[u8; 32]) -> Aes256Gcm {
    Aes256Gcm::new(&Key::<Aes256Gcm>::from(*key))
}

/// Names of the files of a folder that the key does not open. Nothing is changed, so the proxy may be running.
///
/// # Errors
///
/// If the folder cannot be read.
pub(crate) fn unreadable(folder: &Path, key: &[u8; 32]) -> io::Result<Vec<String>> {
    let store = Store { folder: folder.to_owned(), cipher: cipher(key), unreadable: Mutex::default() };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        // What was replaced is not used.
        let is_used = KINDS.iter().any(|kind| name.starts_with(kind)) && !name.ends_with(REPLACED);
        if is_used && store.open_file(&name).is_err() {
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

impl Store {
    /// Opens the folder, and makes it where it is missing. The key encrypts what is kept in it.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn open(folder: &Path, key: &[u8; 32]) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        forget_drafts(folder)?;
        Ok(Self { folder: folder.to_owned(), cipher: cipher(key), unreadable: Mutex::default() })
    }

    fn all_unreadable(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names of the files that could not be read when that was last tried.
    pub fn unreadable(&self) -> Vec<String> {
        self.all_unreadable().iter().cloned().collect()
    }

    fn seed_name(key_id: u32, round: u64) -> String {
        format!("dealing-{key_id}-{round}.seed")
    }

    fn share_name(key_id: u32, epoch: u64) -> String {
        format!("share-{key_id}-{epoch}")
    }

    /// What a file has; none where there is none. When it cannot be read for the first time, the log says what to do.
    fn read(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let opened = self.open_file(name);
        match &opened {
            Ok(_) => {
                self.all_unreadable().remove(name);
            }
            Err(error) => {
                if self.all_unreadable().insert(name.to_owned()) {
                    tracing::error!(
                        file = name,
                        %error,
                        "a file of the proxy cannot be read, and counts as lost: until the next committee is seated, demands that it cannot \
                         answer cost stake. Restore the file from a copy made in this epoch, or check key_file and the disk; without it the \
                         proxy receives a share in the next dealing for which it is drawn"
                    );
                }
            }
        }
        opened
    }

    /// What a file has; none where there is none. One that was written under another name does not open.
    fn open_file(&self, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let Some(bytes) = read(&self.folder.join(name))? else { return Ok(None) };
        let damaged = || {
            let problem = format!("{name} is damaged, or was written by the proxy of another account or by an earlier version");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        };
        let (nonce, body) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(damaged)?;
        let opened = self.cipher.decrypt(&Nonce::from(*nonce), Payload { msg: body, aad: name.as_bytes() });
        opened.map(|plain| Some(Zeroizing::new(plain))).map_err(|_| damaged())
    }

    fn write(&self, name: &str, plain: &[u8]) -> io::Result<()> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let sealed = self.cipher.encrypt(&Nonce::from(nonce), Payload { msg: plain, aad: name.as_bytes() });
        let sealed = sealed.map_err(|_| io::Error::other(format!("{name} is too long")))?;
        replace(&self.folder.join(name), &[&nonce[..], &sealed].concat())
    }

    /// The seed of a dealing. The first call makes it. One that does not open is renamed, and a new one is made: of what was said with the lost one the
    /// chain takes nothing twice.
    ///
    /// # Errors
    ///
    /// If it can be neither read nor written.
    pub fn seed(&self, key_id: u32, round: u64) -> io::Result<Zeroizing<[u8; 32]>> {
        let name = Self::seed_name(key_id, round);
        let mut seed = Zeroizing::new([0; 32]);
        let is_lost = match self.read(&name) {
            Ok(None) => false,
            Ok(Some(bytes)) => match <&[u8; 32]>::try_from(&bytes[..]) {
                Ok(bytes) => {
                    *seed = *bytes;
                    return Ok(seed);
                }
                Err(_) => true,
            },
            Err(error) if error.kind() == io::ErrorKind::InvalidData => true,
            Err(error) => return Err(error),
        };
        if is_lost {
            fs::rename(self.folder.join(&name), self.folder.join(format!("{name}{REPLACED}")))?;
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
        Share::decode(bytes.to_vec()).map(Some).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
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
            let number = |prefix: &str| name.strip_prefix(prefix)?.split('.').next()?.parse::<u64>().ok();
            let is_old = number(&seeds).is_some_and(|number| number < round) || number(&shares).is_some_and(|number| number < epoch);
            if is_old {
                overwrite(&entry.path())?;
                self.all_unreadable().remove(&name);
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

        assert!(open(8).share(1, 1).is_err() && open(8).seed(1, 3).expect("it is made anew") != seed, "of another account");
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

    /// A file that does not open is named until it does or is old. A seed that does not open makes room for a new one, and is not lost for its operator.
    #[test]
    fn what_does_not_open_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), &KEY).expect("it opens");
        let file = |name: &str| folder.path().join(name);
        let (seed, share) = (store.seed(1, 3).expect("it is made"), share_of(7));
        store.keep_share(1, 1, &share).expect("it is written");
        assert_eq!((store.unreadable(), unreadable(folder.path(), &KEY).expect("a folder")), (vec![], vec![]));
        let whole = fs::read(file("share-1-1")).expect("it is there");
        for name in ["share-1-1", "dealing-1-3.seed"] {
            fs::write(file(name), b"damaged").expect("it is written");
        }
        assert!(store.share(1, 1).is_err());
        assert_eq!(store.unreadable(), ["share-1-1"]);
        assert_eq!(
            unreadable(folder.path(), &KEY).expect("a folder"),
            ["dealing-1-3.seed", "share-1-1"],
            "also where nothing was read yet"
        );
        let new = store.seed(1, 3).expect("it is made anew");
        assert!(new != seed && store.seed(1, 3).expect("it is read") == new);
        assert_eq!(fs::read(file("dealing-1-3.seed.unreadable")).expect("it was renamed"), b"damaged");
        fs::write(file("share-1-1"), whole).expect("it is written");
        assert_eq!(store.share(1, 1).expect("it was restored"), Some(share));
        assert!(store.unreadable().is_empty());
        fs::write(file("share-1-1"), b"damaged").expect("it is written");
        assert!(store.share(1, 1).is_err());
        store.forget(1, 4, 2).expect("they are removed");
        assert!(store.unreadable().is_empty(), "it is old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
