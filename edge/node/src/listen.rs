//! A validator whose record of votes is lost: it listens for a while, and then starts again to vote (decision 288).

use crate::{
    chain::Chain,
    clock::machine_ms,
    committee::ValidatorKeys,
    engine::longest_view,
    votes::{BEAT, Votes},
};
use cowboy_store::{Directory, StoreError};
use std::{sync::mpsc, time::Duration};

/// How long a new network is silent before its validators begin. A network that runs is heard sooner.
const SILENCE: Duration = Duration::from_secs(2);

/// How often it is looked whether somebody was heard.
const LOOK: Duration = Duration::from_millis(50);

/// Writes the time for as long as it lives, while a validator votes: a later start sees whether its record of votes has them all.
pub(crate) struct Voting {
    /// Ends the writing when dropped.
    _ends: mpsc::Sender<()>,
}

impl Voting {
    /// Starts writing, in a thread that the disk may hold up.
    pub(crate) fn begin(directory: &Directory, keys: &ValidatorKeys) -> Self {
        let votes = Votes::new(directory.engine(), &commonware_cryptography::Signer::public_key(&keys.network));
        let (ends, ended) = mpsc::channel();
        std::thread::spawn(move || {
            let mut next = Err(mpsc::RecvTimeoutError::Timeout);
            while next == Err(mpsc::RecvTimeoutError::Timeout) {
                if let Err(error) = votes.beat(machine_ms()) {
                    tracing::warn!(%error, "the time cannot be written: this validator listens after its next start");
                }
                next = ended.recv_timeout(BEAT);
            }
        });
        Self { _ends: ends }
    }
}

/// A validator that may not vote yet.
#[derive(Debug)]
pub(crate) struct Listening {
    time: Duration,
    /// Whether the folder has no block: then this may be the beginning of the network.
    is_new: bool,
}

impl Listening {
    /// Whether this node must listen: a validator among others without a record of its own votes. `has_listened` says that this process did so
    /// until now.
    pub(crate) fn needed(
        keys: Option<&ValidatorKeys>,
        listening: Duration,
        directory: &Directory,
        chain: &Chain,
        has_listened: bool,
    ) -> Result<Option<Self>, StoreError> {
        let Some(keys) = keys.filter(|_| !chain.is_alone()) else { return Ok(None) };
        let own = commonware_cryptography::Signer::public_key(&keys.network);
        let votes = Votes::new(directory.engine(), &own);
        if has_listened {
            // Not when the time was over: however long the start has taken since, nothing was voted on.
            votes.listened(machine_ms())?;
        }
        if chain.is_signed_by_only(&own) {
            // Nobody else could tell it how far it came.
            votes.beat(machine_ms())?;
        }
        if votes.may_vote(chain.term().info.epoch.get(), machine_ms())? {
            return Ok(None);
        }
        let time = listening.max(2 * longest_view(chain.pace.gap()));
        chain.progress.listens(Some(time));
        Ok(Some(Self { time, is_new: chain.head.borrow().number == 0 }))
    }

    /// Whether nobody else is there, as when a network begins. Blocks the thread for as long as that takes to find out.
    pub(crate) fn is_beginning(&self, chain: &Chain) -> bool {
        let mut waited = Duration::ZERO;
        while self.is_new && waited < SILENCE && !chain.seeds.is_any_seen() {
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
        self.is_new && !chain.seeds.is_any_seen()
    }

    /// Calls `vote` when the time is over. Answers what ends the wait when dropped.
    pub(crate) fn vote_later(self, vote: impl FnOnce() + Send + 'static) -> mpsc::Sender<()> {
        tracing::warn!(seconds = self.time.as_secs(), "the record of this validator's votes is not there: it listens before it votes");
        let (sender, dropped) = mpsc::channel();
        std::thread::spawn(move || {
            if dropped.recv_timeout(self.time) == Err(mpsc::RecvTimeoutError::Timeout) {
                vote();
            }
        });
        sender
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execute::tests::chain, votes::LISTENING_TIME};
    use commonware_cryptography::Signer as _;
    use cowboy_types::Hash;

    /// Between the end of listening and the next start of the engine more time may pass than a record may be old. The validator does not begin to
    /// listen once more, which would have no end on a slow computer.
    #[test]
    fn who_has_listened_votes_however_long_the_start_takes() {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = Directory::open(folder.path(), &Hash([1; 32])).expect("it is made");
        let (chain, keys) = (chain(None), ValidatorKeys::derive(b"a newcomer"));
        let listens = |has_listened| {
            let needed = Listening::needed(Some(&keys), LISTENING_TIME, &directory, &chain, has_listened);
            needed.expect("it reads and writes").is_some()
        };
        assert!(listens(false), "its record is not there");
        Votes::new(directory.engine(), &keys.network.public_key()).listened(1).expect("it writes");
        assert!(listens(false), "this was long ago, as in an older copy of the disk");
        assert!(!listens(true), "it has listened until now");
    }
}
