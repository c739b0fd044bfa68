//! Who is asked for transactions of a block, and when again.

use commonware_cryptography::ed25519::PublicKey;
use std::{
    collections::BTreeSet,
    time::{Duration, SystemTime},
};

/// How long a peer has for an answer before somebody else is asked in its place.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);

/// For how long a peer that had nothing, or was silent, is not asked again. It doubles each time.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// How often it doubles.
const MAX_DOUBLED: u32 = 4;

/// Peers that are asked about one block at once.
pub(super) const AT_ONCE: usize = 16;

/// The peers that may have transactions of a block, in the order in which they are asked.
#[derive(Debug)]
pub(super) struct Sources {
    peers: Vec<Source>,
    /// How often one of them was silent, or brought little.
    delays: u32,
}

/// What an answer brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brought {
    /// Enough for its sender to be asked again at once.
    Much,
    /// Less than that.
    Little,
    /// No transactions.
    Nothing,
}

/// A peer that may have transactions of a block.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) peer: PublicKey,
    /// When its answer is due, if it is being asked.
    due: Option<SystemTime>,
    /// Answers that it owes. Late ones are taken, too.
    owed: u32,
    /// How often in a row it was of no use.
    in_vain: u32,
    /// When it may be asked.
    again: SystemTime,
}

impl Source {
    /// Asks it.
    pub(super) fn ask(&mut self, now: SystemTime) {
        self.due = Some(now + PATIENCE);
        self.owed = self.owed.saturating_add(1);
    }

    fn leave(&mut self, now: SystemTime) {
        self.again = now + PAUSE * 2_u32.pow(self.in_vain.min(MAX_DOUBLED));
        self.in_vain = self.in_vain.saturating_add(1);
        self.due = None;
    }
}

impl Sources {
    pub(super) fn new(peers: Vec<PublicKey>, now: SystemTime) -> Self {
        let peers = peers.into_iter().map(|peer| Source { peer, due: None, owed: 0, in_vain: 0, again: now }).collect();
        Self { peers, delays: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// How many of them are being asked.
    pub(super) fn asked(&self) -> usize {
        self.peers.iter().filter(|source| source.due.is_some()).count()
    }

    /// How often one of them was silent, or brought little.
    pub(super) fn delays(&self) -> u32 {
        self.delays
    }

    /// Whether this peer owes an answer.
    pub(super) fn is_asked(&self, peer: &PublicKey) -> bool {
        self.peers.iter().any(|source| source.peer == *peer && source.owed > 0)
    }

    /// Who is asked next: of those that were of use when they were asked last, the first that has voted, and otherwise the first.
    pub(super) fn next(&mut self, voted: &BTreeSet<PublicKey>, now: SystemTime) -> Option<&mut Source> {
        let idle = self.peers.iter_mut().enumerate().filter(|(_, source)| source.due.is_none() && source.again <= now);
        idle.min_by_key(|(place, source)| (source.in_vain, !voted.contains(&source.peer), *place)).map(|(_, source)| source)
    }

    /// Takes note of an answer of this peer.
    pub(super) fn answered(&mut self, peer: &PublicKey, brought: Brought, now: SystemTime) {
        let Some(source) = self.peers.iter_mut().find(|source| source.peer == *peer) else { return };
        source.owed = source.owed.saturating_sub(1);
        // What it says of an older question does not answer the one that it was asked last.
        if brought != Brought::Much && source.owed > 0 {
            return;
        }
        match brought {
            Brought::Much => (source.due, source.in_vain, source.again) = (None, 0, now),
            Brought::Little | Brought::Nothing => source.leave(now),
        }
        if brought == Brought::Little {
            // Whoever has nothing says so at once. This one may have let as much time pass as one that is silent.
            self.delays = self.delays.saturating_add(1);
        }
    }

    /// Takes back a question to this peer that was not sent. After a pause it is asked as before: it was not the peer that failed.
    pub(super) fn unasked(&mut self, peer: &PublicKey, now: SystemTime) {
        let Some(source) = self.peers.iter_mut().find(|source| source.peer == *peer) else { return };
        source.owed = source.owed.saturating_sub(1);
        (source.due, source.again) = (None, now + PAUSE);
    }

    /// Waits no longer for answers that are overdue.
    pub(super) fn expire(&mut self, now: SystemTime) {
        for source in self.peers.iter_mut().filter(|source| source.due.is_some_and(|due| due <= now)) {
            source.leave(now);
            self.delays = self.delays.saturating_add(1);
        }
    }

    /// When the next answer is due, or where another peer is to be asked (`is_short`), when one may be.
    pub(super) fn due(&self, is_short: bool) -> Option<SystemTime> {
        let due = |source: &Source| source.due.or(is_short.then_some(source.again));
        self.peers.iter().filter_map(due).min()
    }
}
