//! What this node has seen of faults of validators, until it reports them ([decision 424](../../../docs/decisions/0424-nodes-report-faults.md)).

use crate::{
    committee::{Committee, Member},
    seeds::Scheme,
};
use commonware_actor::Feedback;
use commonware_consensus::{
    Reporter,
    simplex::types::{Activity, Attributable as _},
    types::{Epoch, Round, View},
};
use commonware_cryptography::blake3::Digest;
use cowboy_system::staking::types::Fault;
use cowboy_types::{Address, Header};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

/// Rounds of which headers and votes are remembered.
const HELD_ROUNDS: usize = 256;

/// The most suspicions that wait to be reported. Later ones are dropped: the same validator's next fault is seen again.
const MAX_WAITING: usize = 64;

/// Something that a validator must not do, as this node saw it.
#[derive(Clone, Debug)]
pub(crate) enum Suspicion {
    /// Two headers of one round, with signatures by the validator.
    Headers { validator: Address, first: Box<Header>, second: Box<Header> },
    /// Two votes of one round that contradict each other. Their signatures are not verified yet.
    Votes(Box<Activity<Scheme, Digest>>),
    /// What only those who saw it can say.
    Seen { validator: Address, fault: Fault, epoch: u64, view: u64 },
}

/// The faults that this node has seen. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// The first header of each round whose signature by its leader holds.
    headers: BTreeMap<Round, Box<Header>>,
    /// Who voted for or against the block of a round.
    active: BTreeMap<Round, BTreeSet<usize>>,
    absence: Absence,
    waiting: Vec<Suspicion>,
}

/// Whose votes are missing in the blocks since the last multiple of the window.
#[derive(Debug, Default)]
struct Absence {
    /// By network key: blocks of whose parent's round no vote is known.
    missed: BTreeMap<[u8; 32], u64>,
}

impl Faults {
    fn with<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> T {
        act(&mut self.0.lock().expect("nothing panics while it holds the lock"))
    }

    /// Takes what has been seen since the last call.
    pub(crate) fn take(&self) -> Vec<Suspicion> {
        self.with(|seen| std::mem::take(&mut seen.waiting))
    }

    /// Takes note of a header whose signature by the leader holds. Two of one round are a fault.
    pub(crate) fn header(&self, leader: &Member, header: &Header) {
        let round = Round::new(Epoch::new(header.context.epoch.0), View::new(header.context.view.0));
        self.with(|seen| match seen.headers.get(&round) {
            None => {
                seen.headers.insert(round, Box::new(header.clone()));
                trim(&mut seen.headers);
            }
            Some(first) if first.signing_digest() == header.signing_digest() => {}
            Some(first) => {
                let (first, second) = (first.clone(), Box::new(header.clone()));
                seen.suspect(Suspicion::Headers { validator: leader.paid, first, second });
            }
        });
    }

    /// Takes note of a block that no validator accepts.
    pub(crate) fn invalid(&self, leader: &Member, header: &Header) {
        let (epoch, view) = (header.context.epoch.0, header.context.view.0);
        self.with(|seen| seen.suspect(Suspicion::Seen { validator: leader.paid, fault: Fault::InvalidProposal, epoch, view }));
    }

    /// Takes note of who took part in the round of a final block's parent. The last block of every `window` blocks accuses those who missed
    /// more than `share` basis points of them.
    ///
    /// A vote counts if the block's header names it or if this node has seen it. A node that was started within the window has seen fewer
    /// blocks and accuses nobody earlier.
    pub(crate) fn finalized(&self, header: &Header, committee: &Committee, window: u64, share: u64) {
        let epoch = header.context.epoch.0;
        let parent = Round::new(Epoch::new(epoch), View::new(header.context.parent_view.0));
        self.with(|seen| {
            let active = seen.active.get(&parent);
            let is_named = |place: usize| header.voters.get(place / 8).is_some_and(|bits| bits >> (place % 8) & 1 == 1);
            // The first block of an epoch has no round before it, and nobody voted there.
            if active.is_some() || !header.voters.is_empty() {
                for (place, member) in committee.members().iter().enumerate() {
                    if !is_named(place) && !active.is_some_and(|active| active.contains(&place)) {
                        let missed = seen.absence.missed.entry(key(member)).or_default();
                        *missed = missed.saturating_add(1);
                    }
                }
            }
            if !header.number.0.is_multiple_of(window) {
                return;
            }
            let missed = std::mem::take(&mut seen.absence.missed);
            let may_miss = u128::from(window) * u128::from(share) / 10_000;
            for member in committee.members() {
                if missed.get(&key(member)).is_some_and(|missed| u128::from(*missed) > may_miss) {
                    let (validator, view) = (member.paid, header.context.view.0);
                    seen.suspect(Suspicion::Seen { validator, fault: Fault::Downtime, epoch, view });
                }
            }
        });
    }
}

impl Seen {
    fn suspect(&mut self, suspicion: Suspicion) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(suspicion);
        }
    }
}

impl Reporter for Faults {
    type Activity = Activity<Scheme, Digest>;

    fn report(&mut self, activity: Self::Activity) -> Feedback {
        let vote = match &activity {
            Activity::Notarize(vote) => Some((vote.proposal.round, vote.signer())),
            Activity::Finalize(vote) => Some((vote.proposal.round, vote.signer())),
            Activity::Nullify(vote) => Some((vote.round, vote.signer())),
            _ => None,
        };
        self.with(|seen| {
            if let Some((round, signer)) = vote {
                seen.active.entry(round).or_default().insert(usize::from(signer));
                trim(&mut seen.active);
            }
            if matches!(activity, Activity::ConflictingNotarize(_) | Activity::ConflictingFinalize(_) | Activity::NullifyFinalize(_)) {
                seen.suspect(Suspicion::Votes(Box::new(activity)));
            }
        });
        Feedback::Ok
    }
}

fn key(member: &Member) -> [u8; 32] {
    member.network.as_ref().try_into().expect("an Ed25519 key has 32 bytes")
}

fn trim<T>(rounds: &mut BTreeMap<Round, T>) {
    while rounds.len() > HELD_ROUNDS {
        rounds.pop_first();
    }
}

#[cfg(test)]
mod tests;
