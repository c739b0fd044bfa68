//! A validator whose record of votes is lost, or has lost some: it listens for a while, and then starts again to vote (decision 288).

use crate::{
    chain::Chain,
    check,
    committee::ValidatorKeys,
    dealer_logs::takes_logs,
    epoch::Info,
    pace::longest_view,
    voted::Voted,
    votes::{self, BEAT, Votes},
};
use commonware_cryptography::ed25519::PublicKey;
use cowboy_host::clock::now_ms;
use cowboy_store::{Directory, StoreError};
use std::{collections::BTreeSet, num::NonZeroU64, path::Path, sync::mpsc, time::Duration};

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
                if let Err(error) = votes.beat(now_ms()) {
                    tracing::warn!(%error, "the time cannot be written: this validator listens after its next start");
                }
                next = ended.recv_timeout(BEAT);
            }
        });
        Self { _ends: ends }
    }
}

/// Whether the records of votes in a folder of the engine have every vote that was noted beside them
/// ([decision 698](../../../docs/decisions/0698-a-record-that-lost-votes.md)). The epoch is that of the next block.
fn has_all_votes(engine: &Path, voted: &Voted, epoch: u64) -> Result<bool, StoreError> {
    let sent = voted.since(epoch.saturating_sub(1));
    let epochs: BTreeSet<u64> = sent.iter().map(|sent| sent.epoch).collect();
    for of in epochs {
        let Some(oldest) = votes::oldest_view(engine, of)? else {
            // The record of an epoch that is over is removed some time.
            if of < epoch {
                continue;
            }
            return Ok(false);
        };
        let kept = match check::own_votes(engine, votes::record(of)) {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(epoch = of, %error, "the record of this validator's votes cannot be compared with the votes that it sent");
                return Ok(false);
            }
        };
        let mut recent = sent.iter().filter(|sent| sent.epoch == of && sent.view >= oldest);
        if let Some(lost) = recent.find(|sent| sent.kinds & !kept.get(&sent.view).copied().unwrap_or_default() != 0) {
            tracing::warn!(
                epoch = of,
                view = lost.view,
                "the record of this validator's votes has lost a vote in this view: its disk may be damaged"
            );
            return Ok(false);
        }
    }
    Ok(true)
}

/// A validator that may not vote yet.
#[derive(Debug)]
pub(crate) struct Listening {
    time: Duration,
    /// What is wrong with the record of its votes.
    why: &'static str,
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
        let (votes, epoch) = (Votes::new(directory.engine(), &own), chain.term().info.epoch.get());
        if has_listened {
            chain.voted.forget().map_err(|error| StoreError::file(directory.engine(), error))?;
            // Not when the time was over: however long the start has taken since, nothing was voted on.
            votes.listened(now_ms())?;
        }
        let signs_alone = chain.is_signed_by_only(&own);
        if !signs_alone {
            votes.distrust()?;
        }
        let has_all = signs_alone || has_all_votes(&directory.engine(), &chain.voted, epoch)?;
        if signs_alone {
            // Nobody else could tell it how far it came.
            votes.beat(now_ms())?;
        }
        let Some(why) = votes.obstacle(epoch, now_ms(), has_all)? else { return Ok(None) };
        let time = listening.max(2 * longest_view(chain.pace.gap()));
        chain.progress.listens(Some(time));
        Ok(Some(Self { time, why, is_new: chain.head.borrow().number == 0 }))
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

    /// Calls `vote` when the time is over and nothing holds it up. Answers what ends the wait when dropped.
    pub(crate) fn vote_later(
        self,
        is_held_up: impl Fn() -> bool + Send + 'static,
        vote: impl FnOnce() + Send + 'static,
    ) -> mpsc::Sender<()> {
        tracing::warn!(seconds = self.time.as_secs(), "the record of this validator's votes {}: it listens before it votes", self.why);
        let (sender, dropped) = mpsc::channel();
        std::thread::spawn(move || {
            let mut wait = self.time;
            while dropped.recv_timeout(wait) == Err(mpsc::RecvTimeoutError::Timeout) {
                if !is_held_up() {
                    return vote();
                }
                wait = LOOK;
            }
        });
        sender
    }
}

impl Chain {
    /// Whether this validator, which has no vote yet, is being dealt its first share
    /// ([decision 768](../../../docs/decisions/0768-what-waits-is-not-lost.md)).
    pub(crate) fn is_dealt_first_share(&self) -> bool {
        let number = self.head.borrow().number.saturating_add(1);
        let own = self.keys.as_ref().map(|keys| commonware_cryptography::Signer::public_key(&keys.network));
        own.is_some_and(|own| is_only_dealt_to(&self.term().info, self.committees.length(), number, &own))
    }
}

/// Whether a validator has no vote in an epoch, and dealers still wait for its acknowledgements when the block of this number is next: until the middle of it.
fn is_only_dealt_to(epoch: &Info, length: NonZeroU64, number: u64, key: &PublicKey) -> bool {
    let (votes, is_dealt_to) = (epoch.output.players().position(key).is_some(), epoch.players.position(key).is_some());
    !votes && is_dealt_to && !takes_logs(length, number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        execute::tests::{chain, chain_of},
        seeds::Scheme,
        voted::Sent,
        votes::LISTENING_TIME,
    };
    use commonware_consensus::{
        simplex::types::{Artifact, Finalize, Notarize, Nullify, Proposal},
        types::{Epoch, Round, View},
    };
    use commonware_cryptography::{Signer as _, blake3::Digest};
    use commonware_storage::journal::segmented::variable::{Config, Journal};
    use commonware_utils::{NZU64, ordered::Set};
    use cowboy_types::Hash;
    use std::{
        fs,
        path::PathBuf,
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering},
        },
    };

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

    /// Decision 768: a newcomer is held up until the middle of the epoch in which it is dealt its first share. Whoever has a vote is not.
    #[test]
    fn a_newcomer_does_not_start_again_while_it_is_dealt_to() {
        let key = |keys: ValidatorKeys| keys.network.public_key();
        let [newcomer, stranger] = [&b"a newcomer"[..], b"a stranger"].map(|seed| key(ValidatorKeys::derive(seed)));
        let chain = chain_of(4, None);
        assert!(!chain.is_dealt_first_share(), "it votes");
        let mut info = chain.term().info.clone();
        let member = info.output.players().iter().next().expect("there are four").clone();
        info.players = Set::from_iter_dedup([member.clone(), newcomer.clone()]);
        for (key, number, expected) in [(&newcomer, 3, true), (&newcomer, 20, false), (&member, 3, false), (&stranger, 3, false)] {
            assert_eq!(is_only_dealt_to(&info, NZU64!(32), number, key), expected, "block {number}");
        }
    }

    /// Who is held up votes when that is over.
    #[test]
    fn who_is_held_up_votes_later() {
        let listening = Listening { time: Duration::ZERO, why: "is not there", is_new: false };
        let (asked, (told, voted)) = (Arc::new(AtomicU32::new(0)), mpsc::channel());
        let counted = asked.clone();
        let is_held_up = move || counted.fetch_add(1, Ordering::Relaxed) < 2;
        let _ends = listening.vote_later(is_held_up, move || told.send(()).expect("somebody waits"));
        assert_eq!((voted.recv(), asked.load(Ordering::Relaxed)), (Ok(()), 3));
    }

    /// Views in which the validator of these tests voted, with the numbers of the kinds.
    const VIEWS: [(u64, u8); 3] = [(300, 1), (301, 2), (302, 4)];

    /// Writes the engine's record of an epoch: a vote in each of [`VIEWS`].
    fn vote(engine: &Path, epoch: u64, scheme: &Scheme) {
        let round = |place: usize| Round::new(Epoch::new(epoch), View::new(VIEWS[place].0));
        let proposal = |place: usize| Proposal::new(round(place), View::new(VIEWS[place].0 - 1), Digest::from([1; 32]));
        let votes: [Artifact<Scheme, Digest>; 3] = [
            Artifact::Notarize(Notarize::sign(scheme, proposal(0)).expect("it votes")),
            Artifact::Nullify(Nullify::sign::<Digest>(scheme, round(1)).expect("it votes")),
            Artifact::Finalize(Finalize::sign(scheme, proposal(2)).expect("it votes")),
        ];
        let write = move |context: commonware_runtime::tokio::Context| async move {
            let page_cache = cowboy_store::state::page_cache(&context, "none").await;
            let write_buffer = crate::engine::BUFFER;
            let config = Config { partition: votes::record(epoch), compression: None, codec_config: (), page_cache, write_buffer };
            let mut journal = Journal::init(context, config).await.expect("it opens");
            for ((view, _), vote) in VIEWS.iter().zip(&votes) {
                (journal, ..) = journal.append(*view, vote).await.expect("it is written");
            }
            journal.sync_all().await.expect("it is written");
            Ok(())
        };
        check::in_runtime(engine.to_owned(), write).expect("it is written");
    }

    /// The file of the record with the votes of a view.
    fn file(engine: &Path, epoch: u64, view: u64) -> PathBuf {
        engine.join(votes::record(epoch)).join(format!("{view:016x}"))
    }

    /// A record whose end the disk has damaged, or lost, is cut off by the engine, and looks whole from then on. Votes before the oldest that the engine keeps
    /// are not missed, and neither are those of an epoch that is over.
    #[test]
    fn a_validator_whose_record_lost_votes_listens() {
        let cut = |path: PathBuf| {
            let length = fs::metadata(&path).expect("it is there").len();
            fs::OpenOptions::new().write(true).open(&path).expect("it is there").set_len(length - 1).expect("it is cut off");
        };
        let remove = |path: PathBuf| fs::remove_file(path).expect("it is there");
        let all = |path: PathBuf| fs::remove_dir_all(path.parent().expect("a folder")).expect("it is there");
        type Damage<'a> = &'a dyn Fn(PathBuf);
        let stranger = |path: PathBuf| fs::write(path.with_file_name("stranger"), "no vote").expect("it is written");
        let rows: [(&str, u64, u64, u64, Damage<'_>, bool); 10] = [
            ("nothing happened", 7, 7, 302, &|_| (), false),
            ("the newest vote is cut off", 7, 7, 302, &cut, true),
            ("an older vote is", 7, 7, 301, &cut, true),
            ("the newest file is lost", 7, 7, 302, &remove, true),
            ("the oldest views are pruned", 7, 7, 300, &remove, false),
            ("the whole record is lost", 7, 7, 302, &all, true),
            ("a vote of the epoch before is cut off", 7, 8, 302, &cut, true),
            ("the record of the epoch before is removed", 7, 8, 302, &all, false),
            ("the record cannot be read", 7, 7, 302, &stranger, true),
            ("that of the epoch before cannot", 7, 8, 302, &stranger, true),
        ];
        let chain = chain(None);
        let share = chain.keys.as_ref().and_then(|keys| keys.share.clone()).expect("a share");
        let scheme = chain.term().committee.voter(&chain.namespace, share).expect("a share of it");
        for (name, epoch, next, view, damage, expected) in rows {
            let folder = tempfile::tempdir().expect("a folder");
            let voted = Voted::default();
            vote(folder.path(), epoch, &scheme);
            for (view, kinds) in VIEWS {
                voted.note(Sent { epoch, view, kinds }).expect("it is in memory");
            }
            damage(file(folder.path(), epoch, view));
            for _ in 0..2 {
                let has_all = has_all_votes(folder.path(), &voted, next).expect("it reads");
                assert_eq!(!has_all, expected, "{name}");
            }
        }
    }

    /// Once the validator has listened, what it lost is not missed any more.
    #[test]
    fn lost_votes_are_forgotten_after_listening() {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = Directory::open(folder.path(), &Hash([1; 32])).expect("it is made");
        let (chain, keys) = (chain(None), ValidatorKeys::derive(b"one of several"));
        let alone = chain.keys.as_ref().expect("a validator");
        let scheme = chain.term().committee.voter(&chain.namespace, alone.share.clone().expect("a share")).expect("a share of it");
        vote(&directory.engine(), 0, &scheme);
        let listens = |keys: &ValidatorKeys, has_listened| {
            Votes::new(directory.engine(), &keys.network.public_key()).beat(now_ms()).expect("it writes");
            let needed = Listening::needed(Some(keys), LISTENING_TIME, &directory, &chain, has_listened);
            needed.expect("it reads and writes").is_some()
        };
        let lost = Sent { epoch: 0, view: 303, kinds: 1 };
        assert!(!listens(&keys, true) && !listens(&keys, false), "its record is whole");
        chain.voted.note(lost).expect("it is in memory");
        assert!(listens(&keys, false), "the newest vote is not in its record");
        assert!(listens(&keys, false), "it was started again meanwhile");
        assert!(!listens(&keys, true) && !listens(&keys, false), "it has listened");

        fs::remove_file(directory.engine().join(votes::OWNER)).expect("it is there");
        chain.voted.note(lost).expect("it is in memory");
        assert!(!listens(alone, false), "who signs alone contradicts nobody");
    }
}
