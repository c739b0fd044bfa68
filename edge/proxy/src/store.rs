//! What a proxy keeps: seeds of dealings, and shares. Every file is readable by its owner only and is replaced as a whole.

use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_cryptography::bls12381::primitives::group::Share;
use cowboy_service::files::{forget_unfinished, overwrite, read, write};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The folder of a proxy's secrets.
pub struct Store(PathBuf);

impl Store {
    /// Opens the folder, and makes it where it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        forget_unfinished(folder)?;
        Ok(Self(folder.to_owned()))
    }

    fn seed_path(&self, key_id: u32, round: u64) -> PathBuf {
        self.0.join(format!("dealing-{key_id}-{round}.seed"))
    }

    fn share_path(&self, key_id: u32, epoch: u64) -> PathBuf {
        self.0.join(format!("share-{key_id}-{epoch}"))
    }

    /// The seed of a dealing. The first call makes it.
    ///
    /// # Errors
    ///
    /// If it can be neither read nor written.
    pub fn seed(&self, key_id: u32, round: u64) -> io::Result<Zeroizing<[u8; 32]>> {
        let path = self.seed_path(key_id, round);
        let mut seed = Zeroizing::new([0; 32]);
        if let Some(bytes) = read(&path)? {
            let bytes: &[u8; 32] = bytes[..].try_into().map_err(|_| io::Error::other("the seed is damaged"))?;
            *seed = *bytes;
            return Ok(seed);
        }
        getrandom::fill(&mut *seed).map_err(io::Error::other)?;
        write(&path, &seed[..])?;
        Ok(seed)
    }

    /// The share of an epoch, where it was kept.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged.
    pub fn share(&self, key_id: u32, epoch: u64) -> io::Result<Option<Share>> {
        let Some(bytes) = read(&self.share_path(key_id, epoch))? else { return Ok(None) };
        Share::decode(bytes.to_vec()).map(Some).map_err(io::Error::other)
    }

    /// Keeps the share of an epoch.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn keep_share(&self, key_id: u32, epoch: u64, share: &Share) -> io::Result<()> {
        write(&self.share_path(key_id, epoch), &Zeroizing::new(share.encode().to_vec()))
    }

    /// Overwrites and removes the seeds of dealings before `round`, and the shares of epochs before `epoch`.
    ///
    /// # Errors
    ///
    /// If one cannot be overwritten.
    pub fn forget(&self, key_id: u32, round: u64, epoch: u64) -> io::Result<()> {
        let (seeds, shares) = (format!("dealing-{key_id}-"), format!("share-{key_id}-"));
        for entry in fs::read_dir(&self.0)? {
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

    #[test]
    fn seeds_and_shares_are_kept_until_they_are_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("it opens");
        let seed = store.seed(1, 3).expect("it is made");
        assert_eq!(store.seed(1, 3).expect("it is read"), seed);
        assert_ne!(store.seed(1, 4).expect("it is made"), seed);
        let share = Share::new(Participant::new(2), Private::new(Scalar::from_u64(7)));
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
}
