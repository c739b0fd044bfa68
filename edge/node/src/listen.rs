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
    votes: Votes,
    time: Duration,
    /// Whether the folder has no block: then this may be the beginning of the network.
    is_new: bool,
}

impl Listening {
    /// Whether this node must listen: a validator among others without a record of its own votes.
    pub(crate) fn needed(
        keys: Option<&ValidatorKeys>,
        listening: Duration,
        directory: &Directory,
        chain: &Chain,
    ) -> Result<Option<Self>, StoreError> {
        let Some(keys) = keys.filter(|_| !chain.is_alone()) else { return Ok(None) };
        let own = commonware_cryptography::Signer::public_key(&keys.network);
        let votes = Votes::new(directory.engine(), &own);
        if chain.is_signed_by_only(&own) {
            // Nobody else could tell it how far it came.
            votes.beat(machine_ms())?;
        }
        if votes.may_vote(chain.term().info.epoch.get(), machine_ms())? {
            return Ok(None);
        }
        let time = listening.max(2 * longest_view(chain.pace.gap()));
        chain.progress.listens(Some(time));
        Ok(Some(Self { votes, time, is_new: chain.head.borrow().number == 0 }))
    }

    /// Whether nobody else is there, as when a network begins. Blocks the thread for as long as that takes to find out.
    pub(crate) fn is_beginning(&self, chain: &Chain) -> Result<bool, StoreError> {
        let mut waited = Duration::ZERO;
        while self.is_new && waited < SILENCE && !chain.seeds.is_any_seen() {
            std::thread::sleep(LOOK);
            waited += LOOK;
        }
        let is_beginning = self.is_new && !chain.seeds.is_any_seen();
        if is_beginning {
            self.votes.listened(machine_ms())?;
        }
        Ok(is_beginning)
    }

    /// Calls `vote` when the time is over. Answers what ends the wait when dropped.
    pub(crate) fn vote_later(self, vote: impl FnOnce(&Votes) + Send + 'static) -> mpsc::Sender<()> {
        tracing::warn!(seconds = self.time.as_secs(), "the record of this validator's votes is not there: it listens before it votes");
        let (sender, dropped) = mpsc::channel();
        std::thread::spawn(move || {
            if dropped.recv_timeout(self.time) == Err(mpsc::RecvTimeoutError::Timeout) {
                vote(&self.votes);
            }
        });
        sender
    }
}
