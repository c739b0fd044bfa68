//! What a validator must keep to itself: its shares of the group key, and what others dealt to it.
//!
//! A file for each epoch, readable by its owner only, and replaced as a whole: a crash leaves the old one or the new one.

use crate::{
    committee::ValidatorKeys,
    committees::{Committees, Term},
    ending,
};
use bytes::{BufMut, Bytes};
use commonware_codec::{Buf, Decode as _, DecodeExt as _, Encode as _, EncodeSize, Error, RangeCfg, Read, ReadExt as _, Write};
use commonware_consensus::types::Epoch;
use commonware_cryptography::{
    PublicKey,
    bls12381::{
        dkg::feldman_desmedt::DealerPrivMsg,
        primitives::{group::Share, variant::MinSig},
    },
    transcript::Summary,
};
use commonware_glue::dkg::SecretStore;
use cowboy_host::files;
use cowboy_types::{Hash, keccak256};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The folder of the secrets, in the folder of a node's state.
pub const FOLDER: &str = "secrets";

/// What the name of an epoch's file begins with; its number follows.
const NAME: &str = "epoch-";

/// The layout of a file, its first byte.
const LAYOUT: u8 = 1;

/// One dealing: the dealer's key, and what it dealt in private.
type Dealing = (Vec<u8>, DealerPrivMsg);

/// What is kept of one epoch.
#[derive(Clone, Default)]
struct Kept {
    /// The share that signs in it.
    share: Option<Share>,
    /// What this validator's own dealing in it is made from.
    seed: Option<Summary>,
    /// What others dealt to it, each once.
    dealings: Vec<Dealing>,
}

impl Write for Kept {
    fn write(&self, buf: &mut impl BufMut) {
        LAYOUT.write(buf);
        self.share.write(buf);
        self.seed.write(buf);
        self.dealings.write(buf);
    }
}

impl EncodeSize for Kept {
    fn encode_size(&self) -> usize {
        1 + self.share.encode_size() + self.seed.encode_size() + self.dealings.encode_size()
    }
}

impl Read for Kept {
    type Cfg = ();

    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        if u8::read(buf)? != LAYOUT {
            return Err(Error::Invalid("Kept", "the layout is another program's"));
        }
        let most = crate::epoch::MAX_MEMBERS.get() as usize;
        Ok(Self {
            share: Option::read(buf)?,
            seed: Option::read(buf)?,
            dealings: Vec::read_cfg(buf, &(RangeCfg::new(0..=most), ((RangeCfg::new(0..=256), ()), ())))?,
        })
    }
}

/// The secrets of one validator, in a folder.
#[derive(Clone)]
pub struct Secrets {
    folder: PathBuf,
    /// The share of the first epoch, which genesis dealt and which stands among the validator's keys.
    first: Option<Share>,
    /// What the seeds of this validator's dealings come from, beside its share of the epoch.
    root: Hash,
    /// The epochs whose public polynomials the shares must lie on. None where nothing signs or deals with them.
    committees: Option<Committees>,
}

impl Secrets {
    /// The secrets of the validator with these keys on a chain, in this folder, which may be missing yet.
    pub fn new(folder: PathBuf, genesis: &Hash, keys: &ValidatorKeys) -> Self {
        let root = keccak256(&[b"cowboy-dealings:", &genesis.0, &keys.network.encode()]);
        Self { folder, first: keys.share.clone(), root, committees: None }
    }

    /// The same secrets, without shares that do not lie on the public polynomials of these epochs: whoever signs or deals with one helps
    /// nobody, and the library panics where a dealer's share is not its own.
    pub(crate) fn proven_by(self, committees: Committees) -> Self {
        Self { committees: Some(committees), ..self }
    }

    /// The secrets of the validator with these keys, in the folder of its state, which nobody else uses meanwhile. What a killed process was writing is
    /// removed.
    pub fn of(state: &Path, genesis: &Hash, keys: &ValidatorKeys) -> Self {
        let folder = state.join(FOLDER);
        if let Err(error) = files::forget_drafts(&folder) {
            tracing::warn!(%error, "a file of secrets that a killed process was writing cannot be removed");
        }
        Self::new(folder, genesis, keys)
    }

    /// The seed of the dealing of a validator with this share in an epoch: whoever restores the share deals what was dealt before. Players
    /// acknowledge only the first dealing of a dealer, and a dealer blocks whoever acknowledges another one than it sent.
    ///
    /// A dealing is a polynomial whose constant is the share and whose coefficients follow from the seed, and dealers publish values of it
    /// for players that they cannot reach. So nothing that outlives the share may give the seed: it would give the share.
    fn seed(&self, epoch: Epoch, share: &Share) -> Summary {
        let seed = keccak256(&[&self.root.0, &epoch.get().to_be_bytes(), &share.private.encode()]);
        Summary::decode(seed.0.to_vec()).expect("a summary is 32 bytes")
    }

    /// The share of an epoch, where there is one that lies on the epoch's polynomial
    /// ([decision 449](../../../../docs/decisions/0449-shares-are-proven-before-use.md)).
    fn share(&self, epoch: Epoch) -> Option<Share> {
        let share = self.read(epoch).share.or_else(|| self.first.clone().filter(|_| epoch.is_zero()))?;
        let term = self.committees.as_ref().and_then(|committees| committees.term(epoch.get()));
        let is_proven =
            |term: Arc<Term>| term.info.output.public().partial_public(share.index).is_ok_and(|public| public == share.public::<MinSig>());
        if !term.is_none_or(is_proven) {
            tracing::error!(
                %epoch,
                "this validator's share is not the one that the chain says it has, as in a folder `secrets` of another chain: it neither signs nor \
                 deals in this epoch; restore its own with `cowboyd keys restore`, or wait for the share of the next dealing"
            );
            return None;
        }
        Some(share)
    }

    /// Removes what is of an epoch before this one.
    pub(crate) fn forget_before(&self, epoch: Epoch) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let of = entry.file_name().to_str().and_then(epoch_of);
            if of.is_some_and(|of| of < epoch.get())
                && let Err(error) = fs::remove_file(entry.path())
            {
                tracing::warn!(%error, "a share of an epoch that is over cannot be removed");
            }
        }
    }

    fn path(&self, epoch: Epoch) -> PathBuf {
        self.folder.join(format!("{NAME}{}", epoch.get()))
    }

    /// What is kept of an epoch. A file that cannot be used stops the node: signing with a wrong share helps nobody, and dealing
    /// anew what was dealt already is equivocation.
    fn read(&self, epoch: Epoch) -> Kept {
        let path = self.path(epoch);
        match fs::read(&path) {
            Ok(bytes) => Kept::decode_cfg(Bytes::from(bytes), &()).unwrap_or_else(|error| {
                let damaged = format!("{} is damaged ({error})", path.display());
                ending::end(format!("{damaged}: restore it from a backup, or remove it to be dealt a new share"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Kept::default(),
            Err(error) => ending::end(format!("{} cannot be read: {error}", path.display())),
        }
    }

    fn change(&self, epoch: Epoch, change: impl FnOnce(&mut Kept)) {
        let mut kept = self.read(epoch);
        change(&mut kept);
        let path = self.path(epoch);
        if let Err(error) = replace(&self.folder, &path, &kept.encode()) {
            ending::end(format!("{} cannot be written: {error}", path.display()));
        }
    }
}

/// The epoch whose secrets a file of this name has.
fn epoch_of(name: &str) -> Option<u64> {
    name.strip_prefix(NAME)?.parse().ok()
}

/// The files with the secrets in the folder of a node's state, by name. None where it has none.
pub fn files(state: &Path) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(state.join(FOLDER)).into_iter().flatten() {
        let entry = entry?;
        if let Some(name) = entry.file_name().to_str().filter(|name| epoch_of(name).is_some()) {
            found.insert(name.to_owned(), fs::read(entry.path())?);
        }
    }
    Ok(found)
}

/// Whether this is the name, and the content, of a file with secrets.
pub fn is_whole(name: &str, bytes: &[u8]) -> bool {
    epoch_of(name).is_some() && Kept::decode_cfg(Bytes::copy_from_slice(bytes), &()).is_ok()
}

/// Puts files with secrets into the folder of a node's state, but for epochs before this one. Answers how many it put.
///
/// What the folder has stays: it is as new as the backup or newer, and a validator that forgets what it acknowledged gets no share.
pub fn restore(state: &Path, files: &BTreeMap<String, Vec<u8>>, first: u64) -> io::Result<usize> {
    let folder = state.join(FOLDER);
    let files = files.iter().filter(|(name, _)| epoch_of(name).is_some_and(|epoch| epoch >= first));
    let mut count = 0;
    for (name, bytes) in files {
        let path = folder.join(name);
        replace(&folder, &path, &merged(&path, bytes)?)?;
        count += 1;
    }
    Ok(count)
}

/// What a file of secrets has, with what it lacks from a backup of it.
fn merged(path: &Path, backup: &[u8]) -> io::Result<Vec<u8>> {
    let decode = |bytes: Vec<u8>| Kept::decode_cfg(Bytes::from(bytes), &()).map_err(io::Error::other);
    let backup = decode(backup.to_vec())?;
    let mut kept = match fs::read(path) {
        // What is damaged here is all taken from the backup.
        Ok(bytes) => decode(bytes).unwrap_or_default(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Kept::default(),
        Err(error) => return Err(error),
    };
    kept.share = kept.share.or(backup.share);
    kept.seed = kept.seed.or(backup.seed);
    for (dealer, dealing) in backup.dealings {
        if kept.dealings.iter().all(|(other, _)| *other != dealer) {
            kept.dealings.push((dealer, dealing));
        }
    }
    Ok(kept.encode().to_vec())
}

/// Writes a file so that a crash leaves the old one or the new one.
fn replace(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    files::replace(path, bytes)
}

impl SecretStore for Secrets {
    async fn put_share(&mut self, epoch: Epoch, share: Share) {
        self.change(epoch, |kept| kept.share = Some(share));
    }

    async fn get_share(&mut self, epoch: Epoch) -> Option<Share> {
        self.share(epoch)
    }

    async fn put_seed(&mut self, epoch: Epoch, seed: Summary) {
        self.change(epoch, |kept| kept.seed = Some(seed));
    }

    async fn get_seed(&mut self, epoch: Epoch) -> Option<Summary> {
        // A seed that was stored before the share was there is nobody's dealing.
        match self.share(epoch) {
            Some(share) => Some(self.seed(epoch, &share)),
            None => self.read(epoch).seed,
        }
    }

    async fn put_dealing<P: PublicKey>(&mut self, epoch: Epoch, dealer: P, private: DealerPrivMsg) {
        let dealer = dealer.encode().to_vec();
        self.change(epoch, |kept| {
            kept.dealings.retain(|(other, _)| *other != dealer);
            kept.dealings.push((dealer, private));
        });
    }

    async fn get_dealing<P: PublicKey>(&mut self, epoch: Epoch, dealer: &P) -> Option<DealerPrivMsg> {
        let dealer = dealer.encode();
        self.read(epoch).dealings.into_iter().find(|(other, _)| other[..] == dealer[..]).map(|(_, private)| private)
    }

    /// The library asks for it when an epoch has begun, and names the one before. That one goes as well where this validator has left, and
    /// may hear of no later block. Whoever signs on keeps it until [`Self::forget_before`]: killed now, it begins again before the boundary.
    async fn prune(&mut self, min: Epoch) {
        let has_left = self.path(min.next()).exists() && self.share(min.next()).is_none();
        self.forget_before(if has_left { min.next() } else { min });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_consensus::types::Participant;
    use commonware_cryptography::{
        Signer as _,
        bls12381::primitives::group::{Private, Scalar},
        ed25519::PrivateKey,
    };
    use commonware_math::algebra::Random as _;
    use futures::executor::block_on;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    fn dealt(seed: u64) -> DealerPrivMsg {
        DealerPrivMsg::new(Scalar::random(ChaCha20Rng::seed_from_u64(seed)))
    }

    fn share(seed: u64) -> Share {
        Share::new(Participant::new(2), Private::random(ChaCha20Rng::seed_from_u64(seed)))
    }

    /// A share that a killed process was writing does not stay behind.
    #[test]
    fn drafts_do_not_outlive_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let secrets = folder.path().join(FOLDER);
        fs::create_dir(&secrets).expect("the folder is writable");
        fs::write(secrets.join(".new-aB3xYz"), "half a share").expect("the folder is writable");
        let _ = Secrets::of(folder.path(), &Hash([1; 32]), &ValidatorKeys::derive(b"keys"));
        assert_eq!(fs::read_dir(&secrets).expect("it is there").count(), 0);
    }

    /// What was stored is there after a restart, each epoch for itself, and what is over goes.
    #[test]
    fn secrets_survive_a_restart() {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = ValidatorKeys::derive(b"keys");
        let open = || Secrets::new(folder.path().join(FOLDER), &Hash([1; 32]), &keys);
        let (first, second) = (PrivateKey::from_seed(1).public_key(), PrivateKey::from_seed(2).public_key());
        let seed = Summary::random(ChaCha20Rng::seed_from_u64(3));
        let epoch = Epoch::new(7);
        block_on(async {
            let mut secrets = open();
            assert!(secrets.get_share(epoch).await.is_none() && secrets.get_seed(epoch).await.is_none());
            secrets.put_seed(epoch, seed).await;
            for (dealer, dealing) in [(&first, 1), (&second, 2), (&first, 3)] {
                secrets.put_dealing(epoch, dealer.clone(), dealt(dealing)).await;
            }
            let mut again = open();
            assert_eq!(again.get_seed(epoch).await, Some(seed));
            for (dealer, expected) in [(&first, 3), (&second, 2)] {
                let kept = again.get_dealing(epoch, dealer).await.expect("it was stored");
                assert_eq!(kept.encode(), dealt(expected).encode());
            }
            assert!(again.get_dealing(Epoch::new(8), &first).await.is_none());
            again.prune(Epoch::new(7)).await;
            assert_eq!(open().get_seed(epoch).await, Some(seed));
            again.prune(Epoch::new(8)).await;
            assert_eq!(open().get_seed(epoch).await, None);
        });
    }

    /// The seed of a dealing follows from the share: with it restored the dealing is the same, and the other keys alone do not give it,
    /// whatever was stored before the share was known.
    #[test]
    fn a_dealing_is_as_secret_as_the_share() {
        let folder = tempfile::tempdir().expect("a folder");
        let keys = ValidatorKeys::derive(b"keys");
        let open = |name: &str| Secrets::new(folder.path().join(name), &Hash([1; 32]), &keys);
        let early = Summary::random(ChaCha20Rng::seed_from_u64(3));
        block_on(async {
            let seed = async |name: &str, epoch: u64, dealt: u64| {
                let mut secrets = open(name);
                secrets.put_share(Epoch::new(epoch), share(dealt)).await;
                secrets.put_seed(Epoch::new(epoch), early).await;
                open(name).get_seed(Epoch::new(epoch)).await.expect("it has a share")
            };
            let first = seed("first", 7, 1).await;
            assert_eq!(seed("restored", 7, 1).await, first);
            for other in [seed("another share", 7, 2).await, seed("another epoch", 8, 1).await, early] {
                assert_ne!(other, first);
            }
        });
    }

    /// Who has left removes its last share when the next epoch begins; who signs on, when a block of it is final.
    #[test]
    fn old_shares_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut secrets = Secrets::of(folder.path(), &Hash([1; 32]), &ValidatorKeys::derive(b"keys"));
        let seed = Summary::random(ChaCha20Rng::seed_from_u64(3));
        let kept = || files(folder.path()).expect("the folder reads").into_keys().collect::<Vec<_>>();
        block_on(async {
            secrets.put_seed(Epoch::new(0), seed).await;
            secrets.prune(Epoch::new(0)).await;
            assert_eq!(kept(), ["epoch-0"], "the first epoch runs");
            secrets.put_seed(Epoch::new(1), seed).await;
            secrets.prune(Epoch::new(0)).await;
            assert_eq!(kept(), ["epoch-1"], "it has no share of the next epoch");
            secrets.put_share(Epoch::new(2), share(1)).await;
            secrets.prune(Epoch::new(1)).await;
            assert_eq!(kept(), ["epoch-1", "epoch-2"], "killed now, it begins again in the second epoch");
            secrets.forget_before(Epoch::new(2));
            assert_eq!(kept(), ["epoch-2"]);
        });
    }

    /// A backup adds what is missing, and takes nothing that came after it; what is over stays away.
    #[test]
    fn a_backup_replaces_nothing_newer() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Secrets::of(folder.path(), &Hash([1; 32]), &ValidatorKeys::derive(b"keys"));
        let dealers = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        let seeds = [3, 4].map(|seed| Summary::random(ChaCha20Rng::seed_from_u64(seed)));
        let (old, epoch) = (Epoch::new(6), Epoch::new(7));
        block_on(async {
            open().put_seed(old, seeds[0]).await;
            open().put_dealing(epoch, dealers[0].clone(), dealt(1)).await;
            let backup = files(folder.path()).expect("the folder reads");
            open().put_dealing(epoch, dealers[0].clone(), dealt(2)).await;
            open().put_dealing(epoch, dealers[1].clone(), dealt(3)).await;
            open().prune(epoch).await;
            let check = async |expected: [Option<u64>; 2]| {
                assert_eq!(restore(folder.path(), &backup, 7).expect("the folder is writable"), 1);
                for (dealer, expected) in dealers.iter().zip(expected) {
                    let found = open().get_dealing(epoch, dealer).await.map(|found| found.encode());
                    assert_eq!(found, expected.map(|seed| dealt(seed).encode()));
                }
                assert!(!folder.path().join(FOLDER).join("epoch-6").exists(), "a share of an epoch that is over");
            };
            check([Some(2), Some(3)]).await;
            fs::write(folder.path().join(FOLDER).join("epoch-7"), [9]).expect("the folder is writable");
            check([Some(1), None]).await;
        });
    }

    /// Nobody else reads a share, and one that the disk damaged is not used.
    #[test]
    fn secrets_are_their_owners_and_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut secrets = Secrets::new(folder.path().join(FOLDER), &Hash([1; 32]), &ValidatorKeys::derive(b"keys"));
        block_on(secrets.put_seed(Epoch::new(1), Summary::random(ChaCha20Rng::seed_from_u64(3))));
        let path = folder.path().join(FOLDER).join("epoch-1");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
        }
        let bytes = fs::read(&path).expect("it is readable");
        fs::write(&path, &bytes[..bytes.len() - 1]).expect("it is writable");
        assert!(
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| secrets.read(Epoch::new(1)).seed)).is_err(),
            "it says which file, and what to do"
        );
    }
}
