//! Who signs in which epoch.

use crate::{block::SealedBlock, committee::Committee, epoch::Info, seeds::Scheme};
use commonware_codec::Encode as _;
use commonware_consensus::{
    simplex::{
        elector::{self, Dynamic, Elector, Terms},
        scheme::bls12381_threshold::vrf::Certificate,
    },
    types::{Participant, Round},
};
use commonware_cryptography::{bls12381::primitives::variant::MinSig, ed25519::PublicKey};
use commonware_glue::dkg::{
    ReshareBlock as _,
    types::{EpochOutcome, Payload},
};
use commonware_utils::ordered::Set;
use cowboy_store::{Ledger, StoreError};
use cowboy_system::staking::{self, epoch::NextEpoch};
use cowboy_types::{Block, keccak256};
use std::{
    cmp::Ordering,
    collections::BTreeMap,
    num::NonZeroU64,
    sync::{Arc, Mutex},
};

/// Epochs that are held in memory, beside the first.
const HELD: usize = 4;

/// An epoch, and who signs in it.
#[derive(Debug)]
pub struct Term {
    /// What the last block before it says of it.
    pub info: Info,
    /// Who signs.
    pub committee: Committee,
}

impl Term {
    /// The epoch that a block introduces. `None` where it introduces none, or where the roll does not name everybody who signs.
    fn introduced_by(block: &SealedBlock) -> Option<Self> {
        let Some(Payload::EpochInfo(info)) = block.payload() else { return None };
        Self::new(info)
    }

    /// The epoch that this describes. `None` where the roll does not name everybody who signs.
    pub(crate) fn new(info: Info) -> Option<Self> {
        let committee = Committee::of(&info).ok()?;
        Some(Self { info, committee })
    }

    /// What the state is told of the epoch when the block before it is executed.
    pub(crate) fn next_epoch(&self) -> NextEpoch {
        let signers: Vec<_> = self.signers().into_iter().cloned().collect();
        let is_revealed = |member: &&staking::types::Member| self.is_share_public(&member.network_key.0);
        let revealed = signers.iter().filter(is_revealed).map(|member| member.network_key).collect();
        NextEpoch { epoch: self.info.epoch.get(), revealed, is_dealt: self.is_dealt(), signers }
    }
    /// The signers, ascending by network key.
    pub fn signers(&self) -> Vec<&staking::types::Member> {
        self.info.output.players().iter().filter_map(|key| self.info.directory.get(key)).collect()
    }

    /// The place among the signers of the leader of a round: drawn by the stakes, from the seed of the round before. The first round of an epoch has no seed
    /// before it: there the epoch's number decides.
    pub(crate) fn leader(&self, seed: Option<&[u8]>) -> usize {
        let epoch = self.info.epoch.get().to_be_bytes();
        self.committee.leader(&keccak256(&[b"cowboy-leader:", seed.unwrap_or(&epoch)]))
    }

    /// Whether shares were dealt successfully in the epoch before. If not, the signers of that epoch continue.
    pub fn is_dealt(&self) -> bool {
        self.info.outcome == EpochOutcome::Success
    }

    /// Whether the share of the signer with this network key is public: it could not be reached while shares were dealt.
    pub fn is_share_public(&self, network_key: &[u8; 32]) -> bool {
        self.info.output.revealed().iter().any(|key| key.as_ref() == network_key)
    }
}

/// The epochs of a chain: the last final block of each says who signs in the next. Clones share what they have read.
#[derive(Clone)]
pub struct Committees {
    length: NonZeroU64,
    first: Arc<Term>,
    known: Arc<Mutex<BTreeMap<u64, Arc<Term>>>>,
    ledger: Ledger,
}

impl Committees {
    /// The epochs of `length` blocks of the chain that begins with this block.
    pub fn new(length: NonZeroU64, genesis: &SealedBlock, ledger: Ledger) -> Self {
        let first = Term::introduced_by(genesis).expect("genesis introduces the first epoch");
        Self { length, first: Arc::new(first), known: Arc::default(), ledger }
    }

    /// Blocks of an epoch.
    pub fn length(&self) -> NonZeroU64 {
        self.length
    }

    /// The epoch of the block of this number.
    pub fn epoch_of(&self, number: u64) -> u64 {
        number / self.length
    }

    /// Whether a block of this number is the last of its epoch.
    pub fn is_boundary(&self, number: u64) -> bool {
        number.checked_add(1).is_some_and(|next| next % self.length == 0)
    }

    /// The number of the last block before an epoch.
    pub fn boundary(&self, epoch: u64) -> u64 {
        epoch.saturating_mul(self.length.get()).saturating_sub(1)
    }

    /// An epoch, once the block that introduces it is known to be final here.
    pub fn term(&self, epoch: u64) -> Option<Arc<Term>> {
        if epoch == 0 {
            return Some(self.first.clone());
        }
        if let Some(known) = self.known.lock().expect("nothing panics while it holds the lock").get(&epoch) {
            return Some(known.clone());
        }
        let block = self.introduction(self.boundary(epoch)).ok()??;
        self.learn(&SealedBlock::check(block).ok()?)
    }

    /// An epoch that this node knows to have begun. No epoch is looked for on the disk that cannot be there.
    pub(crate) fn begun(&self, epoch: u64) -> Option<Arc<Term>> {
        let newest = self.newest();
        match epoch.cmp(&newest.info.epoch.get()) {
            Ordering::Less => self.term(epoch),
            Ordering::Equal => Some(newest),
            Ordering::Greater => None,
        }
    }

    /// The final block of this number: one of the ledger's, or the one before them that a follower began with.
    fn introduction(&self, number: u64) -> Result<Option<Block>, StoreError> {
        let view = self.ledger.view()?;
        match view.boundary(number)? {
            Some(block) => Ok(Some(block)),
            None => Ok(view.introduction()?.filter(|block| block.header.number.0 == number)),
        }
    }

    /// Takes note of the epoch that a final block introduces.
    pub fn learn(&self, block: &SealedBlock) -> Option<Arc<Term>> {
        let term = Arc::new(Term::introduced_by(block)?);
        let mut known = self.known.lock().expect("nothing panics while it holds the lock");
        known.insert(term.info.epoch.get(), term.clone());
        while known.len() > HELD {
            known.pop_first();
        }
        Some(term)
    }

    /// The newest epoch that this node knows.
    pub fn newest(&self) -> Arc<Term> {
        let known = self.known.lock().expect("nothing panics while it holds the lock");
        known.last_key_value().map_or_else(|| self.first.clone(), |(_, term)| term.clone())
    }
}

/// Draws each view's leader by the stakes of the view's epoch, freshly, from the seed of the round before (decision 117).
#[derive(Clone)]
pub struct ByStake(pub Committees);

impl elector::Config<Scheme> for ByStake {
    type Elector = Self;

    fn build(self, _: &Set<PublicKey>) -> Self {
        self
    }
}

impl Elector<Scheme> for ByStake {
    type Mode = Dynamic;

    fn terms(&self) -> Terms {
        Terms::rotating()
    }

    fn elect(&self, round: Round, certificate: Option<&Certificate<MinSig>>) -> Participant {
        let seed = certificate.map(|certificate| certificate.get().expect("a verified certificate decodes").seed_signature.encode());
        let term = self.0.term(round.epoch().get()).expect("an epoch that runs was introduced by a final block");
        Participant::from_usize(term.leader(seed.as_deref()))
    }
}
