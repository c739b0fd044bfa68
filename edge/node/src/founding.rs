//! A genesis without a dealer: its validators make the group key together
//! ([decision 443](../../../docs/decisions/0443-founding-without-a-dealer.md)).
//!
//! Every founder deals to every founder, acknowledges every dealing, and signs a log of the acknowledgements that it received. The
//! messages pass through hands that need not be trusted: a share is encrypted to its receiver, and everything is checked against the
//! commitments. The ceremony succeeds with all founders or not at all, so no share is ever published.

use crate::{
    dealer_logs::{Log, REVEAL, SHARING},
    epoch::MAX_MEMBERS,
};
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _, FixedSize as _};
use commonware_cryptography::{
    Signer as _,
    bls12381::{
        dkg::feldman_desmedt::{Dealer, DealerLogSummary, DealerPrivMsg, DealerPubMsg, Failure, Info, Logs, Player, PlayerAck, observe},
        primitives::{
            group::{G2, Scalar, Share},
            variant::MinSig,
        },
    },
    ed25519::{PrivateKey, PublicKey},
};
use commonware_math::algebra::{CryptoGroup as _, Random as _};
use commonware_parallel::Sequential;
use commonware_utils::{N3f1, ordered::Set};
use cowboy_types::{Hash, blake3};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use std::collections::BTreeMap;

/// Bytes of an encrypted share.
const SHARE_BYTES: usize = 32;

/// The messages of one kind, by founder.
pub type Messages<T> = BTreeMap<PublicKey, T>;

/// A founder's secrets for one ceremony. They open every share that the founder was dealt: delete them when the genesis is there.
#[derive(Clone)]
pub struct Secrets {
    /// The validator's network key.
    pub network: PrivateKey,
    /// Random bytes, from which the founder's dealing and its encryption key follow.
    pub seed: [u8; 32],
}

impl Secrets {
    /// The key to which others encrypt this founder's shares, 96 bytes.
    pub fn encryption_key(&self) -> Vec<u8> {
        (G2::generator() * &self.encryption_secret()).encode().to_vec()
    }

    fn encryption_secret(&self) -> Scalar {
        Scalar::random(self.generator(b"encryption", &Hash::ZERO))
    }

    fn generator(&self, purpose: &[u8], ceremony: &Hash) -> ChaCha20Rng {
        ChaCha20Rng::from_seed(blake3(&[b"cowboy-founding:", &self.seed, &ceremony.0, purpose]).0)
    }
}

/// What a founder did wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The encryption key is no point of the group.
    #[error("gave an encryption key that is not valid")]
    EncryptionKey,
    /// A message does not decode.
    #[error("sent a message that is not valid")]
    Malformed,
    /// A dealing is not consistent.
    #[error("dealt a share that does not belong to its commitment")]
    Share,
    /// An acknowledgement is for another dealing.
    #[error("acknowledged another dealing than the one that was sent to it")]
    Acknowledgement,
    /// A log is for another dealing.
    #[error("signed a log of another dealing than the one that it sent")]
    OtherDealing,
    /// A log lacks acknowledgements.
    #[error("signed a log without the acknowledgement of every founder")]
    Incomplete,
    /// A log is not signed, or has an acknowledgement that nobody gave.
    #[error("sent a log that does not verify")]
    Log,
}

/// A founder broke the rules of the ceremony.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cheat {
    /// The network key of the founder.
    pub founder: PublicKey,
    /// What it did.
    pub fault: Fault,
}

/// A ceremony, as one founder sees it.
pub struct Ceremony {
    id: Hash,
    own: Secrets,
    /// Encryption keys, ascending by network key.
    keys: BTreeMap<PublicKey, G2>,
    round: Info<MinSig, PublicKey>,
}

impl Ceremony {
    /// The ceremony with this id among founders with these encryption keys. `None` where `own` is none of them.
    pub fn new(id: Hash, own: Secrets, founders: &Messages<Vec<u8>>) -> Result<Option<Self>, Box<Cheat>> {
        if !founders.contains_key(&own.network.public_key()) {
            return Ok(None);
        }
        let key = |(founder, key): (&PublicKey, &Vec<u8>)| match G2::decode(key.clone()) {
            Ok(key) => Ok((founder.clone(), key)),
            Err(_) => Err(cheat(founder, Fault::EncryptionKey)),
        };
        let keys = founders.iter().map(key).collect::<Result<BTreeMap<_, _>, _>>()?;
        let set = Set::from_iter_dedup(keys.keys().cloned());
        let namespace = [b"cowboy-founding:".as_slice(), &id.0].concat();
        let round = Info::new::<N3f1>(&namespace, 0, None, SHARING, REVEAL, set.clone(), set).expect("there is a founder");
        Ok(Some(Self { id, own, keys, round }))
    }

    /// What this founder deals to all: the same bytes each time.
    pub fn deal(&self) -> Vec<u8> {
        let (_, commitment, shares) = self.dealer();
        let secret = Scalar::random(self.own.generator(b"transport", &self.id));
        let point = G2::generator() * &secret;
        let mut dealing = point.encode().to_vec();
        for (player, share) in shares {
            let pad = self.pad(&self.own.network.public_key(), &player, &point, &(self.keys[&player] * &secret));
            dealing.extend(share.encode().iter().zip(pad).map(|(byte, pad)| byte ^ pad));
        }
        dealing.extend(commitment.encode());
        dealing
    }

    /// Checks what all founders dealt to this one. Answers its acknowledgements, one for each founder in the order of their keys.
    pub fn acknowledge(&self, dealings: &Messages<Vec<u8>>) -> Result<Vec<Vec<u8>>, Box<Cheat>> {
        Ok(self.receive(dealings)?.1)
    }

    /// This founder's log, with what every founder acknowledged.
    pub fn log(&self, acknowledgements: &Messages<Vec<Vec<u8>>>) -> Result<Vec<u8>, Box<Cheat>> {
        let (mut dealer, ..) = self.dealer();
        let place = self.keys.keys().position(|founder| *founder == self.own.network.public_key()).expect("this founder is one of them");
        for (founder, all) in acknowledgements {
            let fault = |fault| move || cheat(founder, fault);
            let bytes = all.get(place).ok_or_else(fault(Fault::Malformed))?;
            let acknowledgement = PlayerAck::decode(bytes.clone()).map_err(|_| cheat(founder, Fault::Malformed))?;
            dealer.receive_player_ack(founder.clone(), acknowledgement).map_err(|_| cheat(founder, Fault::Acknowledgement))?;
        }
        Ok(dealer.finalize::<N3f1>().encode().to_vec())
    }

    /// The encoded public half of the group key, and this founder's share of it, from the dealings and the logs of all.
    pub fn finish(&self, dealings: &Messages<Vec<u8>>, logs: &Messages<Vec<u8>>) -> Result<(Vec<u8>, Share), Box<Cheat>> {
        let (player, _) = self.receive(dealings)?;
        // Others cannot predict it: they do not know the seed.
        let mut generator = self.own.generator(b"verification", &self.id);
        let mut all = Logs::<MinSig, PublicKey, N3f1>::new(self.round.clone());
        for founder in self.keys.keys() {
            let fault = |fault| cheat(founder, fault);
            let bytes = logs.get(founder).ok_or_else(|| fault(Fault::Malformed))?;
            let log = Log::decode_cfg(bytes.clone(), &MAX_MEMBERS).map_err(|_| fault(Fault::Malformed))?;
            let (signer, log) = log.check(&self.round).ok_or_else(|| fault(Fault::Log))?;
            if signer != *founder {
                return Err(fault(Fault::Log));
            }
            let is_complete = matches!(log.summary(), DealerLogSummary::Ok { reveals, .. } if reveals.is_empty());
            if !is_complete {
                return Err(fault(Fault::Incomplete));
            }
            let (_, _, commitment) = self.parse(founder, dealings)?;
            // A log begins with its dealer's commitment.
            if !log.encode().starts_with(&commitment.encode()) {
                return Err(fault(Fault::OtherDealing));
            }
            // Every log has to hold, also where the others would do: else two founders could take different ones.
            let mut alone = Logs::<MinSig, PublicKey, N3f1>::new(self.round.clone());
            alone.record(founder.clone(), log.clone());
            match observe(&mut generator, alone, &Sequential) {
                Ok(_) | Err(Failure::InsufficientLogs { found: 1, .. }) => {}
                Err(_) => return Err(fault(Fault::Log)),
            }
            all.record(founder.clone(), log);
        }
        let (output, share) = player.finalize::<N3f1>(&mut generator, all, &Sequential).expect("every log and every dealing was checked");
        Ok((output.encode().to_vec(), share))
    }

    /// This founder as a dealer, its commitment, and everybody's shares in the order of the keys.
    #[allow(clippy::type_complexity, reason = "the library's")]
    fn dealer(&self) -> (Dealer<MinSig, PrivateKey>, DealerPubMsg<MinSig>, Vec<(PublicKey, DealerPrivMsg)>) {
        let generator = self.own.generator(b"dealing", &self.id);
        Dealer::start::<N3f1>(generator, self.round.clone(), self.own.network.clone(), None).expect("this founder is one of them")
    }

    /// The parts of a founder's dealing: a point, the encrypted shares, the commitment.
    fn parse<'a>(&self, founder: &PublicKey, dealings: &'a Messages<Vec<u8>>) -> Result<(G2, &'a [u8], DealerPubMsg<MinSig>), Box<Cheat>> {
        let parts = || {
            let (point, rest) = dealings.get(founder)?.split_at_checked(G2::SIZE)?;
            let (shares, commitment) = rest.split_at_checked(self.keys.len().checked_mul(SHARE_BYTES)?)?;
            Some((G2::decode(point.to_vec()).ok()?, shares, DealerPubMsg::decode_cfg(commitment.to_vec(), &MAX_MEMBERS).ok()?))
        };
        parts().ok_or_else(|| cheat(founder, Fault::Malformed))
    }

    /// This founder as a player with all dealings, and its acknowledgements.
    #[allow(clippy::type_complexity, reason = "the library's")]
    fn receive(&self, dealings: &Messages<Vec<u8>>) -> Result<(Player<MinSig, PrivateKey>, Vec<Vec<u8>>), Box<Cheat>> {
        let own = self.own.network.public_key();
        let place = self.keys.keys().position(|founder| *founder == own).expect("this founder is one of them");
        let secret = self.own.encryption_secret();
        let mut player = Player::new(self.round.clone(), self.own.network.clone()).expect("this founder is one of them");
        let mut acknowledgements = Vec::with_capacity(self.keys.len());
        for founder in self.keys.keys() {
            let (point, shares, commitment) = self.parse(founder, dealings)?;
            let pad = self.pad(founder, &own, &point, &(point * &secret));
            let sealed = shares.chunks_exact(SHARE_BYTES).nth(place).unwrap_or_default();
            let share: Vec<u8> = sealed.iter().zip(pad).map(|(byte, pad)| byte ^ pad).collect();
            let wrong = || cheat(founder, Fault::Share);
            let share = DealerPrivMsg::decode(share).map_err(|_| wrong())?;
            let taken = player.dealer_message::<N3f1>(founder.clone(), commitment, share).map_err(|_| wrong())?;
            acknowledgements.push(taken.ok_or_else(wrong)?.encode().to_vec());
        }
        Ok((player, acknowledgements))
    }

    /// What hides a share: it follows from a secret that only the dealer and the receiver can compute.
    ///
    /// Nothing else has to protect the share. The dealer's signature covers the whole message, and the commitment covers the share.
    fn pad(&self, dealer: &PublicKey, player: &PublicKey, point: &G2, common: &G2) -> [u8; SHARE_BYTES] {
        let parts: [&[u8]; 6] =
            [b"cowboy-founding-share:", &self.id.0, dealer.as_ref(), player.as_ref(), &point.encode(), &common.encode()];
        blake3(&parts).0
    }
}

fn cheat(founder: &PublicKey, fault: Fault) -> Box<Cheat> {
    Box::new(Cheat { founder: founder.clone(), fault })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committee::{Committee, first_epoch};
    use cowboy_state::records::GenesisValidator;
    use cowboy_types::Amount;

    struct Network {
        validators: Vec<GenesisValidator>,
        founders: Vec<Ceremony>,
        keys: Vec<PublicKey>,
    }

    fn network(count: u32, id: u8) -> Network {
        let (validators, _, keys) = Committee::derive(b"founders", count, Amount(1));
        let secrets: Vec<Secrets> = (0..).zip(keys).map(|(seed, keys)| Secrets { network: keys.network, seed: [seed; 32] }).collect();
        let founders = secrets.iter().map(|own| (own.network.public_key(), own.encryption_key())).collect();
        let ceremony =
            |own: &Secrets| Ceremony::new(Hash([id; 32]), own.clone(), &founders).expect("the keys are valid").expect("a founder");
        let keys = secrets.iter().map(|own| own.network.public_key()).collect();
        Network { validators, founders: secrets.iter().map(ceremony).collect(), keys }
    }

    impl Network {
        fn collect<T>(&self, message: impl Fn(&Ceremony) -> T) -> Messages<T> {
            self.keys.iter().cloned().zip(self.founders.iter().map(message)).collect()
        }

        fn dealings(&self) -> Messages<Vec<u8>> {
            self.collect(Ceremony::deal)
        }

        fn logs(&self, dealings: &Messages<Vec<u8>>) -> Messages<Vec<u8>> {
            let acknowledged = self.collect(|founder| founder.acknowledge(dealings).expect("they are honest"));
            self.collect(|founder| founder.log(&acknowledged).expect("they are honest"))
        }

        fn cheat(&self, founder: usize, fault: Fault) -> Option<Box<Cheat>> {
            Some(cheat(&self.keys[founder], fault))
        }
    }

    /// All founders come to one group key, and each has a share of it. A founder that begins again says what it said before.
    #[test]
    fn founders_share_one_key() {
        for count in [1, 2, 4, 7] {
            let network = network(count, 1);
            let dealings = network.dealings();
            assert_eq!(dealings, network.dealings(), "a crash changes nothing");
            let logs = network.logs(&dealings);
            let mut sharing = None;
            for founder in &network.founders {
                let (output, share) = founder.finish(&dealings, &logs).expect("they are honest");
                let epoch = first_epoch(&network.validators, &output).expect("an epoch of these validators");
                assert!(Committee::of(&epoch).expect("a committee").voter(b"test", share).is_some(), "it lies on the polynomial");
                assert_eq!(*sharing.get_or_insert(output.clone()), output);
            }
        }
    }

    /// Whoever deals, acknowledges or logs something else is refused with its name.
    #[test]
    fn cheats_are_named() {
        let (network, other) = (network(4, 1), network(4, 2));
        let dealings = network.dealings();
        let own = |messages: &Messages<Vec<u8>>, founder: usize| messages[&network.keys[founder]].clone();
        let with = |messages: &Messages<Vec<u8>>, founder: usize, message: Vec<u8>| {
            let mut changed = messages.clone();
            changed.insert(network.keys[founder].clone(), message);
            changed
        };
        // The share of the third founder is another.
        let mut wrong = own(&dealings, 1);
        wrong[G2::SIZE + 2 * SHARE_BYTES + 31] ^= 1;
        let wrong = with(&dealings, 1, wrong);
        assert_eq!(network.founders[2].acknowledge(&wrong).err(), network.cheat(1, Fault::Share));
        assert!(network.founders[3].acknowledge(&wrong).is_ok(), "its own share is right");
        let short = with(&dealings, 1, own(&dealings, 1)[..100].to_vec());
        assert_eq!(network.founders[0].acknowledge(&short).err(), network.cheat(1, Fault::Malformed));
        // The commitment is of another ceremony.
        let from_other = with(&dealings, 3, own(&other.dealings(), 3));
        assert_eq!(network.founders[0].acknowledge(&from_other).err(), network.cheat(3, Fault::Share));
        let mut acknowledged = network.collect(|founder| founder.acknowledge(&dealings).expect("they are honest"));
        let right = acknowledged.clone();
        acknowledged.insert(network.keys[2].clone(), right[&network.keys[3]].clone());
        assert_eq!(network.founders[0].log(&acknowledged).err(), network.cheat(2, Fault::Acknowledgement));
        let logs = network.logs(&dealings);
        let finish = |logs: &Messages<Vec<u8>>| network.founders[0].finish(&dealings, logs).err();
        assert_eq!(finish(&with(&logs, 2, own(&logs, 3))), network.cheat(2, Fault::Log));
        assert_eq!(finish(&with(&logs, 2, vec![7])), network.cheat(2, Fault::Malformed));
        // One acknowledgement is missing: the dealer would publish that founder's share.
        let mut fewer = right.clone();
        fewer.remove(&network.keys[3]);
        let revealing = network.founders[1].log(&fewer).expect("what is there is right");
        assert_eq!(finish(&with(&logs, 1, revealing)), network.cheat(1, Fault::Incomplete));
        // It dealt once more after everybody acknowledged.
        let changed = with(&dealings, 1, own(&other.dealings(), 1));
        assert!(network.founders[0].finish(&changed, &logs).is_err());
        assert_eq!(finish(&logs), None);
    }

    /// Only the receiver opens a share: the bytes that carry it are different for everybody, and others' secrets give no share.
    #[test]
    fn shares_are_for_their_receivers() {
        let network = network(4, 1);
        let dealings = network.dealings();
        let stranger = Secrets { network: network.founders[1].own.network.clone(), seed: [99; 32] };
        let founders = network.collect(|founder| founder.own.encryption_key());
        let thief = Ceremony::new(Hash([1; 32]), stranger, &founders).expect("the keys are valid").expect("it has the network key");
        assert!(thief.acknowledge(&dealings).is_err(), "a network key opens no share");
        let outsider = Secrets { network: commonware_cryptography::ed25519::PrivateKey::from_seed(7), seed: [1; 32] };
        assert!(Ceremony::new(Hash([1; 32]), outsider, &founders).expect("the keys are valid").is_none());
    }
}
