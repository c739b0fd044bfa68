//! The votes that this validator sent last, noted beside the engine's own record of them.
//!
//! The engine of a validator among others has its record on the disk before it sends a vote. Where the disk damages the end of the record, the engine cuts it off at the next start, says so
//! in a warning, and could vote a second time in a round. So each vote is noted in another file before it leaves the node, and a start compares the two
//! ([decision 698](../../../docs/decisions/0698-a-record-that-lost-votes.md)).

use crate::seeds::Scheme;
use commonware_actor::{Feedback, Unreliable};
use commonware_codec::{ReadExt as _, varint::UInt};
use commonware_consensus::{simplex::types::Artifact, types::Round};
use commonware_cryptography::{blake3::Digest, ed25519::PublicKey};
use commonware_p2p::{CheckedSender, LimitedSender, Recipients};
use commonware_runtime::IoBufs;
use cowboy_store::StoreError;
use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

/// The file, in the folder of the engine.
pub(crate) const FILE: &str = "voted";

/// Rounds whose votes are noted: as many views as the engine remembers below the newest final block.
const ROUNDS: u64 = 64;

/// Bytes of one round: its epoch, its view and the kinds of votes. A round has its place by its view.
const ROUND_BYTES: usize = 17;

/// The kinds of votes, a bit each.
const NOTARIZE: u8 = 1;
const NULLIFY: u8 = 2;
const FINALIZE: u8 = 4;

/// The votes of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The round's epoch.
    pub(crate) epoch: u64,
    /// Its view.
    pub(crate) view: u64,
    /// The kinds of votes.
    pub(crate) kinds: u8,
}

impl Sent {
    /// The vote in a message on the channel of votes; none where it is no vote.
    fn of(mut message: IoBufs) -> Option<Self> {
        // The engine's messages begin with the number of the epoch's channel.
        UInt::<u64>::read(&mut message).ok()?;
        let kinds = match u8::read(&mut message).ok()? {
            0 => NOTARIZE,
            1 => NULLIFY,
            2 => FINALIZE,
            _ => return None,
        };
        let round = Round::read(&mut message).ok()?;
        Some(Self { epoch: round.epoch().get(), view: round.view().get(), kinds })
    }

    fn decode(bytes: &[u8; ROUND_BYTES]) -> Option<Self> {
        let (epoch, rest) = bytes.split_first_chunk::<8>()?;
        let (view, kinds) = rest.split_first_chunk::<8>()?;
        let kinds = *kinds.first().filter(|kinds| **kinds != 0)?;
        Some(Self { epoch: u64::from_be_bytes(*epoch), view: u64::from_be_bytes(*view), kinds })
    }

    fn encode(&self) -> Vec<u8> {
        [self.epoch.to_be_bytes().as_slice(), &self.view.to_be_bytes(), &[self.kinds]].concat()
    }
}

/// The kind of a vote in the engine's record; none of a certificate.
pub(crate) fn kind(artifact: &Artifact<Scheme, Digest>) -> Option<u8> {
    match artifact {
        Artifact::Notarize(_) => Some(NOTARIZE),
        Artifact::Nullify(_) => Some(NULLIFY),
        Artifact::Finalize(_) => Some(FINALIZE),
        _ => None,
    }
}

/// The votes of the newest rounds.
#[derive(Debug, Default)]
pub struct Voted(Mutex<Record>);

#[derive(Debug, Default)]
struct Record {
    /// By place.
    rounds: BTreeMap<u64, Sent>,
    file: Option<File>,
}

impl Voted {
    /// Reads the votes that are noted in a folder of the engine.
    ///
    /// # Errors
    ///
    /// Where the file cannot be read or made.
    pub fn open(engine: &Path) -> Result<Self, StoreError> {
        let path = engine.join(FILE);
        let open = || {
            fs::create_dir_all(engine)?;
            let file = OpenOptions::new().create(true).write(true).truncate(false).open(&path)?;
            let bytes = fs::read(&path)?;
            let (rounds, _) = bytes.as_chunks::<ROUND_BYTES>();
            let rounds = rounds.iter().filter_map(Sent::decode).map(|sent| (sent.view % ROUNDS, sent)).collect();
            Ok(Self(Mutex::new(Record { rounds, file: Some(file) })))
        };
        open().map_err(|error| StoreError::file(&path, error))
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a vote before it is sent. The file is not synced: after a power failure the validator listens in any case (decision 425).
    pub(crate) fn note(&self, vote: Sent) -> io::Result<()> {
        let mut record = self.lock();
        let place = vote.view % ROUNDS;
        let noted = match record.rounds.get(&place) {
            Some(noted) if (noted.epoch, noted.view) == (vote.epoch, vote.view) => Sent { kinds: noted.kinds | vote.kinds, ..vote },
            // A late vote of a round whose place has a newer one.
            Some(noted) if (noted.epoch, noted.view) > (vote.epoch, vote.view) => return Ok(()),
            _ => vote,
        };
        if record.rounds.get(&place) == Some(&noted) {
            return Ok(());
        }
        if let Some(file) = &record.file {
            file.write_all_at(&noted.encode(), place * ROUND_BYTES as u64)?;
        }
        record.rounds.insert(place, noted);
        Ok(())
    }

    /// The votes of this epoch and of later ones.
    pub(crate) fn since(&self, epoch: u64) -> Vec<Sent> {
        self.lock().rounds.values().filter(|sent| sent.epoch >= epoch).copied().collect()
    }

    /// Forgets all votes, once the validator has listened for longer than the rounds of any of them last.
    pub(crate) fn forget(&self) -> io::Result<()> {
        let mut record = self.lock();
        if let Some(file) = &record.file {
            file.set_len(0)?;
        }
        record.rounds.clear();
        Ok(())
    }
}

/// Sends what the engine of an epoch says, and notes votes before.
#[derive(Clone, Debug)]
pub(crate) struct Noting<S> {
    inner: S,
    /// None on a channel without votes.
    voted: Option<Arc<Voted>>,
}

/// Channels of the engine, of which the first is that of votes. The engine takes senders of one type.
pub(crate) fn noting<S, R>(voted: &Arc<Voted>, [votes, second, third]: [(S, R); 3]) -> [(Noting<S>, R); 3] {
    let of = |(inner, receiver), voted| (Noting { inner, voted }, receiver);
    [of(votes, Some(voted.clone())), of(second, None), of(third, None)]
}

impl<S: LimitedSender<PublicKey = PublicKey>> LimitedSender for Noting<S> {
    type PublicKey = PublicKey;
    type Checked<'a> = CheckedNoting<'a, S::Checked<'a>>;

    fn check(&mut self, recipients: Recipients<PublicKey>) -> Result<Self::Checked<'_>, SystemTime> {
        Ok(CheckedNoting { inner: self.inner.check(recipients)?, voted: self.voted.as_deref() })
    }
}

/// What [`Noting`] sends through.
pub(crate) struct CheckedNoting<'a, C> {
    inner: C,
    voted: Option<&'a Voted>,
}

impl<C: CheckedSender<PublicKey = PublicKey>> CheckedSender for CheckedNoting<'_, C> {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        self.inner.recipients()
    }

    fn send(self, message: impl Into<IoBufs> + Send, priority: bool) -> Unreliable<Feedback> {
        let message: IoBufs = message.into();
        if let Some(voted) = self.voted
            && let Some(vote) = Sent::of(message.clone())
            && let Err(error) = voted.note(vote)
        {
            tracing::error!(%error, "a vote is not sent: it cannot be noted on the disk");
            return Unreliable::Rejected;
        }
        self.inner.send(message, priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        committee::{Committee, first_epoch},
        testing::Kept,
    };
    use commonware_codec::Encode as _;
    use commonware_consensus::{
        simplex::types::{Finalize, Notarize, Nullify, Proposal, Vote},
        types::{Epoch, View},
    };
    use cowboy_types::Amount;

    fn sent(epoch: u64, view: u64, kinds: u8) -> Sent {
        Sent { epoch, view, kinds }
    }

    /// The newest votes are there after a restart, the kinds of a round together; those of old rounds give way, and do not come back.
    #[test]
    fn votes_are_noted_by_round() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Voted::open(folder.path()).expect("it is read");
        assert!(open().since(0).is_empty());
        for vote in [sent(3, 1, NOTARIZE), sent(3, 2, NULLIFY), sent(3, 1, FINALIZE), sent(3, 1, FINALIZE), sent(3, 64, NOTARIZE)] {
            open().note(vote).expect("it is written");
        }
        assert_eq!(open().since(3), [sent(3, 64, NOTARIZE), sent(3, 1, NOTARIZE | FINALIZE), sent(3, 2, NULLIFY)]);
        open().note(sent(3, 65, NOTARIZE)).expect("it is written");
        open().note(sent(3, 1, NULLIFY)).expect("it is left");
        open().note(sent(4, 2, NOTARIZE)).expect("it is written");
        assert_eq!(open().since(3), [sent(3, 64, NOTARIZE), sent(3, 65, NOTARIZE), sent(4, 2, NOTARIZE)]);
        assert_eq!(open().since(4), [sent(4, 2, NOTARIZE)]);
        open().forget().expect("it is written");
        assert!(open().since(0).is_empty());
        open().note(sent(4, 3, NULLIFY)).expect("it is written");
        assert_eq!(open().since(0), [sent(4, 3, NULLIFY)]);
    }

    /// Every vote of the library is recognised and noted before it is sent, in the form in which the engine of an epoch sends it. One that cannot be noted is
    /// not sent.
    #[test]
    fn votes_are_noted_before_they_are_sent() {
        let (validators, sharing, keys) = Committee::derive(b"votes", 4, Amount(1));
        let committee = Committee::of(&first_epoch(&validators, &sharing).expect("an epoch")).expect("a committee");
        let scheme = committee.voter(b"votes", keys[0].share.clone().expect("a share")).expect("a share of it");
        let round = |view: u64| Round::new(Epoch::new(7), View::new(view));
        let proposal = |view: u64| Proposal::new(round(view), View::new(view - 1), Digest::from([1; 32]));
        let votes: [Vote<Scheme, Digest>; 3] = [
            Vote::Notarize(Notarize::sign(&scheme, proposal(300)).expect("it votes")),
            Vote::Nullify(Nullify::sign::<Digest>(&scheme, round(301)).expect("it votes")),
            Vote::Finalize(Finalize::sign(&scheme, proposal(302)).expect("it votes")),
        ];
        let message = |vote: &Vote<Scheme, Digest>| {
            let mut message = IoBufs::from(vote.encode().to_vec());
            message.prepend(UInt(7u64).encode().to_vec().into());
            message
        };
        let (voted, kept) = (Arc::new(Voted::default()), Kept::default());
        let ends = || [(kept.clone(), ()), (kept.clone(), ()), (kept.clone(), ())];
        let [(mut sender, ()), (mut other, ()), _] = noting(&voted, ends());
        for vote in &votes {
            let checked = sender.check(Recipients::All).expect("nothing limits it");
            assert!(checked.send(message(vote), true).accepted());
        }
        let expected = [sent(7, 300, NOTARIZE), sent(7, 301, NULLIFY), sent(7, 302, FINALIZE)];
        assert_eq!(voted.since(0), expected);
        assert_eq!(kept.count(), votes.len());

        assert!(other.check(Recipients::All).expect("nothing limits it").send(message(&votes[0]), true).accepted());
        assert_eq!(voted.since(0), expected, "another channel has no votes");

        let full = File::options().read(true).open("/dev/null").expect("it is there");
        let broken = Voted(Mutex::new(Record { rounds: BTreeMap::new(), file: Some(full) }));
        let [(mut sender, ()), ..] = noting(&Arc::new(broken), ends());
        let before = kept.count();
        assert!(!sender.check(Recipients::All).expect("nothing limits it").send(message(&votes[0]), true).accepted());
        assert_eq!(kept.count(), before);
    }
}
