//! Dealings of a committee's key, as a member takes part in them (decision 142).
//!
//! The chain carries the messages and puts them in order, so that all members compute the same outcome. All that a member does in a dealing
//! follows from a seed of 32 random bytes, its keys, its share, and the messages: whoever begins again says what it said before.
//!
//! - [`Dealing`]: what a member says in each phase, and what comes of it.
//! - `messages`: the bytes of the messages, and the encryption of shares.
//! - `output`: between an [`Outcome`] and the output of the library.

mod messages;
mod output;

pub use output::is_share;
#[cfg(test)]
mod tests;

use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_cryptography::Signer as _;
use commonware_cryptography::bls12381::dkg::feldman_desmedt::{
    Dealer, DealerPrivMsg, DealerPubMsg, Info, Logs, Player, PlayerAck, Reveal, SignedDealerLog, observe,
};
use commonware_cryptography::bls12381::primitives::group::Share;
use commonware_cryptography::bls12381::primitives::sharing::Mode;
use commonware_cryptography::bls12381::primitives::variant::MinSig;
use commonware_cryptography::ed25519::{PrivateKey, PublicKey};
use commonware_parallel::Sequential;
use commonware_utils::{N3f1, NZU32, ordered::Set};
use cowboy_secrets::Outcome;
use cowboy_secrets::dealing::{Acknowledged, Acks, Deal, MAX_MEMBERS};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, List, blake3};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use zeroize::Zeroizing;

/// What separates the dealings of this key from all others.
const NAMESPACE: &[u8] = b"cowboy-secrets-dealing-v1";

/// How shares are evaluated.
const SHARING: Mode = Mode::NonZeroCounter;

/// Which shares count as public.
const REVEAL: Reveal = Reveal::V1;

/// The most members that a decoder accepts.
const LIMIT: NonZeroU32 = NZU32!(16);

const _: () = assert!(MAX_MEMBERS == 16, "the limit of decoders is that of committees");

/// The messages of a phase, by the index of who spoke.
pub type Messages = BTreeMap<u16, Vec<u8>>;

/// A player of a dealing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// Its Ed25519 key.
    pub key: Fixed<32>,
    /// The key that it gave in the first phase.
    pub joined: Fixed<32>,
}

/// A dealing, as the chain shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The genesis hash of the chain.
    pub genesis: Hash,
    /// The number of the key.
    pub key_id: u32,
    /// The number of the dealing.
    pub round: u64,
    /// What the last dealing of the key came to; none before the first.
    pub standing: Option<Outcome>,
    /// The keys of those who deal, ascending: the members of the standing committee, or the players.
    pub dealers: Vec<Fixed<32>>,
    /// Those who receive shares, ascending by key.
    pub players: Vec<Receiver>,
}

/// What a member has of its own.
pub struct Own {
    /// The key that is registered.
    pub signer: PrivateKey,
    /// The seed of this dealing: random, and of no other dealing.
    pub seed: Zeroizing<[u8; 32]>,
    /// Its share of the standing key, where it is a member of the standing committee.
    pub share: Option<Share>,
}

/// Why a member cannot take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DealingError {
    /// The setting is not one of a dealing.
    #[error("the dealing on the chain is not one that can be computed: {0}")]
    Setting(String),
    /// The member has nothing to say in the phase.
    #[error("this member is not a {0} of the dealing")]
    Role(&'static str),
    /// The member's share is missing, or is not the one of the standing polynomial.
    #[error("this member's share is not the one that the standing committee's polynomial gives it")]
    Share,
    /// Too few dealings hold.
    #[error("the messages come to no outcome: {0}")]
    Outcome(String),
}

/// The key that a member gives in the first phase of the dealing with this seed.
pub fn round_key(seed: &[u8; 32]) -> Fixed<32> {
    messages::round_keys(seed).1
}

/// A dealing in which a member takes part.
pub struct Dealing {
    setting: Setting,
    own: Own,
    info: Info<MinSig, PublicKey>,
}

impl Dealing {
    /// The dealing.
    ///
    /// # Errors
    ///
    /// If the setting is not one of a dealing, or the member is no part of it.
    pub fn new(setting: Setting, own: Own) -> Result<Self, DealingError> {
        let standing = match &setting.standing {
            Some(outcome) => Some(output::to_output(outcome, &setting.dealers).ok_or_else(|| wrong("the standing outcome"))?),
            None => None,
        };
        let dealers = key_set(setting.dealers.iter())?;
        let players = key_set(setting.players.iter().map(|player| &player.key))?;
        let namespace = [NAMESPACE, &setting.genesis.0, &setting.key_id.to_be_bytes()].concat();
        let info = Info::new::<N3f1>(&namespace, setting.round, standing, SHARING, REVEAL, dealers, players);
        let info = info.map_err(|error| DealingError::Setting(error.to_string()))?;
        let dealing = Self { setting, own, info };
        if dealing.dealer_index().is_none() && dealing.player_index().is_none() {
            return Err(DealingError::Role("member"));
        }
        Ok(dealing)
    }

    fn own_key(&self) -> Fixed<32> {
        fixed(&self.own.signer.public_key())
    }

    /// The member's index among the dealers.
    pub fn dealer_index(&self) -> Option<u16> {
        index_of(self.setting.dealers.iter(), &self.own_key())
    }

    /// The member's index among the players.
    pub fn player_index(&self) -> Option<u16> {
        index_of(self.setting.players.iter().map(|player| &player.key), &self.own_key())
    }

    /// Random bytes for one purpose, the same each time.
    fn generator(&self, purpose: &[u8]) -> ChaCha20Rng {
        let seed = blake3(&[b"cowboy-secrets-dealing:", &self.own.seed[..], &self.setting.round.to_be_bytes(), purpose]);
        ChaCha20Rng::from_seed(seed.0)
    }

    /// The member as a dealer, its commitment, and everybody's shares.
    #[allow(clippy::type_complexity, reason = "the library's")]
    fn dealer(&self) -> Result<(Dealer<MinSig, PrivateKey>, DealerPubMsg<MinSig>, Vec<(PublicKey, DealerPrivMsg)>), DealingError> {
        let index = self.dealer_index().ok_or(DealingError::Role("dealer"))?;
        if let Some(standing) = &self.setting.standing {
            let is_right = self.own.share.as_ref().is_some_and(|share| output::is_share(standing, index, share));
            if !is_right {
                return Err(DealingError::Share);
            }
        }
        let share = self.setting.standing.as_ref().and(self.own.share.clone());
        let dealer = Dealer::start::<N3f1>(self.generator(b"polynomial"), self.info.clone(), self.own.signer.clone(), share);
        dealer.map_err(|error| DealingError::Setting(error.to_string()))
    }

    /// What the member says in the phase `deal`.
    ///
    /// # Errors
    ///
    /// If it is no dealer, or does not have its share.
    pub fn deal(&self) -> Result<Vec<u8>, DealingError> {
        let (_, commitment, shares) = self.dealer()?;
        let from = self.dealer_index().ok_or(DealingError::Role("dealer"))?;
        let mut generator = self.generator(b"encryption");
        let mut sealed = Vec::with_capacity(shares.len());
        // The library has players in the order of their keys, as the chain has.
        for ((to, (_, share)), player) in (0u16..).zip(&shares).zip(&self.setting.players) {
            let share = Zeroizing::new(share.encode().to_vec());
            sealed.push(messages::seal(&mut generator, &player.joined, &self.info_of(from, to), &share));
        }
        Ok(messages::deal(commitment.encode(), sealed).encode().to_vec())
    }

    /// What the encryption of a share is bound to.
    fn info_of(&self, dealer: u16, player: u16) -> Vec<u8> {
        let Setting { genesis, key_id, round, .. } = &self.setting;
        let numbers = [&key_id.to_be_bytes()[..], &round.to_be_bytes(), &dealer.to_be_bytes(), &player.to_be_bytes()].concat();
        [b"cowboy-dealing:", &genesis.0[..], &numbers].concat()
    }

    /// The member as a player that has received what is right of the dealings, and its acknowledgements.
    fn receive(&self, deals: &Messages) -> Result<(Player<MinSig, PrivateKey>, Vec<Acknowledged>), DealingError> {
        let to = self.player_index().ok_or(DealingError::Role("player"))?;
        let player = Player::new(self.info.clone(), self.own.signer.clone());
        let mut player = player.map_err(|error| DealingError::Setting(error.to_string()))?;
        let mut acknowledged = Vec::new();
        for (from, dealer) in (0u16..).zip(&self.setting.dealers) {
            let Some(deal) = deals.get(&from).and_then(|bytes| Deal::decode(bytes.clone()).ok()) else { continue };
            let opened =
                deal.shares.get(usize::from(to)).and_then(|sealed| messages::open(&self.own.seed, &self.info_of(from, to), sealed));
            let share = opened.and_then(|share| DealerPrivMsg::decode(share.to_vec()).ok());
            let (Some(commitment), Some(share), Some(dealer)) = (messages::commitment(&deal), share, public(dealer)) else { continue };
            // What does not hold is not acknowledged: its dealer has to show the share, or its dealing does not count.
            if let Ok(Some(ack)) = player.dealer_message::<N3f1>(dealer, commitment, share) {
                acknowledged.push(Acknowledged { dealer: from, signature: signature(&ack) });
            }
        }
        Ok((player, acknowledged))
    }

    /// What the member says in the phase `ack`: whose shares arrived and hold.
    ///
    /// # Errors
    ///
    /// If it is no player.
    pub fn acknowledge(&self, deals: &Messages) -> Result<Vec<u8>, DealingError> {
        let acknowledged = List::new(self.receive(deals)?.1).expect("one for each dealer");
        Ok(Acks { acknowledged }.encode().to_vec())
    }

    /// What the member says in the phase `log`: who acknowledged its shares, and the shares of the others.
    ///
    /// # Errors
    ///
    /// If it is no dealer, or does not have its share.
    pub fn log(&self, acks: &Messages) -> Result<Vec<u8>, DealingError> {
        let own = self.dealer_index().ok_or(DealingError::Role("dealer"))?;
        let (mut dealer, ..) = self.dealer()?;
        for (from, player) in (0u16..).zip(&self.setting.players) {
            let signature = acks.get(&from).and_then(|bytes| Acks::decode(bytes.clone()).ok()).and_then(|acks| acks.of(own));
            let ack = signature.and_then(|signature| PlayerAck::decode(signature.0.to_vec()).ok());
            if let (Some(ack), Some(player)) = (ack, public(&player.key)) {
                // One that does not verify counts as none.
                let _ = dealer.receive_player_ack(player, ack);
            }
        }
        Ok(dealer.finalize::<N3f1>().encode().to_vec())
    }

    /// The logs that count: signed by their dealers, and of the dealings that stand on the chain. A dealer that deals twice has its second
    /// commitment in the log, and everybody drops it.
    fn logs(&self, deals: &Messages, logs: &Messages) -> Logs<MinSig, PublicKey, N3f1> {
        let mut all = Logs::new(self.info.clone());
        for (from, dealer) in (0u16..).zip(&self.setting.dealers) {
            let log = logs.get(&from).and_then(|bytes| SignedDealerLog::<MinSig, PublicKey>::decode_cfg(bytes.clone(), &LIMIT).ok());
            let Some((signer, log)) = log.and_then(|log| log.check(&self.info)) else { continue };
            let dealt = deals.get(&from).and_then(|bytes| Deal::decode(bytes.clone()).ok()).and_then(|deal| messages::commitment(&deal));
            let is_dealt = dealt.is_some_and(|commitment| log.encode().starts_with(&commitment.encode()));
            if fixed(&signer) == *dealer && is_dealt {
                all.record(signer, log);
            }
        }
        all
    }

    /// What the dealing came to, and the member's share where it is a player.
    ///
    /// # Errors
    ///
    /// If too few dealings hold, or the share is not on the polynomial.
    pub fn finish(&self, deals: &Messages, logs: &Messages) -> Result<(Outcome, Option<Share>), DealingError> {
        let logs = self.logs(deals, logs);
        // Others cannot predict it: they do not know the seed.
        let mut generator = self.generator(b"verification");
        let failed = |error: String| DealingError::Outcome(error);
        let Some(index) = self.player_index() else {
            let observed = observe(&mut generator, logs, &Sequential).map_err(|error| failed(format!("{error:?}")))?;
            return Ok((output::to_outcome(&observed), None));
        };
        let (player, _) = self.receive(deals)?;
        let (output, share) = player.finalize::<N3f1>(&mut generator, logs, &Sequential).map_err(|error| failed(format!("{error:?}")))?;
        let outcome = output::to_outcome(&output);
        if output::is_share(&outcome, index, &share) { Ok((outcome, Some(share))) } else { Err(DealingError::Share) }
    }
}

fn wrong(what: &str) -> DealingError {
    DealingError::Setting(format!("{what} does not hold"))
}

/// The keys as the library has them.
fn key_set<'a>(keys: impl Iterator<Item = &'a Fixed<32>>) -> Result<Set<PublicKey>, DealingError> {
    let keys: Option<Vec<PublicKey>> = keys.map(public).collect();
    Ok(Set::from_iter_dedup(keys.ok_or_else(|| wrong("a member's key"))?))
}

/// An Ed25519 key as the library has it; none where it is no key.
fn public(key: &Fixed<32>) -> Option<PublicKey> {
    PublicKey::decode(key.0.to_vec()).ok()
}

fn fixed(key: &PublicKey) -> Fixed<32> {
    Fixed(key.as_ref().try_into().expect("an Ed25519 key has 32 bytes"))
}

fn signature(ack: &PlayerAck<PublicKey>) -> Fixed<64> {
    Fixed(ack.encode()[..].try_into().expect("an Ed25519 signature has 64 bytes"))
}

fn index_of<'a>(mut keys: impl Iterator<Item = &'a Fixed<32>>, key: &Fixed<32>) -> Option<u16> {
    keys.position(|found| found == key).and_then(|index| u16::try_from(index).ok())
}
