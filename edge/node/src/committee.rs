//! Who votes, who leads, and with which keys.

use crate::{
    epoch::{Info, MAX_MEMBERS, MODE, roll::Roll},
    pairings::{Signed, Signer},
    seeds::{Scheme, SeedBytes, signature_of},
};
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _};
use commonware_consensus::types::Epoch;
use commonware_cryptography::{
    Signer as _,
    bls12381::{
        dkg::feldman_desmedt::{Output, deal},
        primitives::{
            group::{Private, Share},
            ops::{compute_public, sign, sign_message, verify_message},
            sharing::{Mode, Sharing},
            variant::{MinSig, Variant},
        },
    },
    ed25519,
};
use commonware_glue::dkg::{network::Directory as _, types::EpochOutcome};
use commonware_math::algebra::Random as _;
use commonware_utils::{
    N3f1, TryCollect as _,
    ordered::{Quorum as _, Set},
};
use cowboy_state::records::GenesisValidator;
use cowboy_system::staking::{self, possession::Registration};
use cowboy_types::{
    Address, Amount, Hash, keccak256,
    signing::{PrivateKey, address_of_public_key},
    wire::Fixed,
};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;

type BlsPublic = <MinSig as Variant>::Public;
type BlsSignature = <MinSig as Variant>::Signature;

/// What proposers sign with their BLS key, apart from everything else signed with it.
const PROPOSER_VRF_NAMESPACE: &[u8] = b"cowboy-proposer-vrf";

/// One validator, as everybody knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Ed25519 key: names the validator on the network and in consensus.
    pub network: ed25519::PublicKey,
    /// BLS key for the proposer's VRF. Not the threshold share.
    pub bls: BlsPublic,
    /// Address of the secp256k1 key that signs its headers.
    pub signer: Address,
    /// Who receives its tips.
    pub paid: Address,
    /// Its weight when leaders are drawn.
    pub stake: u64,
}

/// What a header says of its proposer's VRF.
#[derive(Clone, Debug)]
pub(crate) struct ProposerVrf {
    /// The beacon of the header's round.
    pub(crate) beacon: Vec<u8>,
    /// The block's height.
    pub(crate) height: u64,
    /// The VRF.
    pub(crate) proof: SeedBytes,
}

impl ProposerVrf {
    /// What the proposer signed, and its signature; `None` where that is no point of the curve.
    fn signed(&self) -> Option<(Vec<u8>, BlsSignature)> {
        Some((vrf_message(&self.beacon, self.height), signature_of(&self.proof)?))
    }
}

/// The validators of a chain, in the order of their network keys.
#[derive(Clone, Debug)]
pub struct Committee {
    members: Vec<Member>,
    sharing: Sharing<MinSig>,
}

/// Why validators make no committee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitteeError {
    /// There is nobody.
    #[error("a chain needs at least one validator: name one in genesis")]
    Nobody,
    /// A key is none.
    #[error("the {kind} key of validator {place} is not valid: copy it again from `cowboyd keys`")]
    Key {
        /// Which of its keys.
        kind: &'static str,
        /// Its place in genesis, from 0.
        place: usize,
    },
    /// The group key is none, or of another committee.
    #[error("the group key is not one of {validators} validators: deal it again for exactly these")]
    Group {
        /// How many there are.
        validators: usize,
    },
}

/// One validator's secrets.
#[derive(Clone)]
pub struct ValidatorKeys {
    /// The network key.
    pub network: ed25519::PrivateKey,
    /// The BLS key of the proposer's VRF.
    pub bls: Private,
    /// The key that signs headers.
    pub signer: PrivateKey,
    /// The share of the group key that votes; none before the validator was dealt one.
    pub share: Option<Share>,
}

impl ValidatorKeys {
    /// The keys of a validator that is yet to join a chain, derived from `seed`. It has no share.
    pub fn derive(seed: &[u8]) -> Self {
        let (network, bls, signer) = member_keys(seed, 0);
        Self { network, bls, signer, share: None }
    }

    /// The public half of the VRF key, 96 bytes.
    pub fn vrf_key(&self) -> Fixed<96> {
        Fixed(fixed(&compute_public::<MinSig>(&self.bls).encode()))
    }

    /// Signatures by the network key and by the VRF key over the registration of both by an account, in this order.
    pub fn proofs_of_possession(&self, genesis: &Hash, account: Address) -> [Vec<u8>; 2] {
        let network_key = Fixed(fixed(self.network.public_key().as_ref()));
        let registration = Registration { genesis: *genesis, account, network_key, vrf_key: self.vrf_key() };
        let message = registration.message();
        let by_network = ed25519_consensus::SigningKey::from(fixed::<32>(&self.network.encode())).sign(&message).to_bytes();
        let by_vrf = sign::<MinSig>(&self.bls, MinSig::PROOF_OF_POSSESSION, &message);
        [by_network.to_vec(), by_vrf.encode().to_vec()]
    }
}

impl Committee {
    /// Who signs in the epoch that this describes.
    pub fn of(info: &Info) -> Result<Self, CommitteeError> {
        let players = info.output.players();
        let listed = players.iter().enumerate().map(|(place, key)| (place, info.directory.get(key)));
        let members = listed.map(|(place, member)| Member::new(place, member.ok_or(CommitteeError::Key { kind: "network", place })?));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        let sharing = info.output.public().clone();
        match usize::try_from(sharing.total().get()) == Ok(members.len()) && sharing.required() == players.quorum::<N3f1>() {
            true => Ok(Self { members, sharing }),
            false => Err(CommitteeError::Group { validators: members.len() }),
        }
    }

    /// Validators with all their keys, derived from `seed`; each has the same stake, in base units. Answers them, the
    /// encoded public half of the dealing, and the secrets, in the order of the network keys.
    ///
    /// For dev chains and tests: who knows the seed knows every key.
    pub fn derive(seed: &[u8], count: u32, stake: Amount) -> (Vec<GenesisValidator>, Vec<u8>, Vec<ValidatorKeys>) {
        let mut keys: Vec<MemberKeys> = (0..u64::from(count)).map(|index| member_keys(seed, index)).collect();
        keys.sort_by_key(|(network, ..)| network.public_key());
        let participants: Set<ed25519::PublicKey> =
            keys.iter().map(|(network, ..)| network.public_key()).try_collect().expect("derived keys differ");
        let (output, shares) = deal::<MinSig, _, N3f1>(generator(seed, u64::MAX), Mode::NonZeroCounter, participants)
            .expect("there is at least one validator");
        let validators = keys
            .iter()
            .map(|(network, bls, signer)| GenesisValidator {
                address: signer.address(),
                signing_key: signer.public_key(),
                network_key: Fixed(fixed(network.public_key().as_ref())),
                vrf_key: Fixed(fixed(&compute_public::<MinSig>(bls).encode())),
                stake,
            })
            .collect();
        let secrets = keys.into_iter().zip(shares).map(|((network, bls, signer), (_, share))| ValidatorKeys {
            network,
            bls,
            signer,
            share: Some(share),
        });
        (validators, output.encode().to_vec(), secrets.collect())
    }

    /// The validators, ascending by network key.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The validator with this network key.
    pub fn member(&self, network: &[u8; 32]) -> Option<&Member> {
        self.members.iter().find(|member| member.network.as_ref() == network)
    }

    /// The group's public key, 96 bytes: what certificates and seeds verify against, for the chain's whole life.
    pub fn group_key(&self) -> Fixed<96> {
        Fixed(fixed(&self.sharing.public().encode()))
    }

    /// The network keys.
    pub fn network_keys(&self) -> Set<ed25519::PublicKey> {
        self.members.iter().map(|member| member.network.clone()).try_collect().expect("the members' keys differ")
    }

    /// The scheme of a validator that votes, or `None` where the share is not of this committee.
    pub fn voter(&self, namespace: &[u8], share: Share) -> Option<Scheme> {
        Scheme::signer(namespace, self.network_keys(), self.sharing.clone(), share)
    }

    /// The scheme of a node that watches.
    pub fn verifier(&self, namespace: &[u8]) -> Scheme {
        Scheme::verifier(namespace, self.network_keys(), self.sharing.clone())
    }

    /// The place of the validator that leads a view with this randomness.
    pub fn leader(&self, randomness: &Hash) -> usize {
        draw(self.members.iter().map(|member| member.stake), randomness)
    }
}

/// The description of a chain's first epoch: the validators of genesis sign, and are dealt to twice.
pub fn first_epoch(validators: &[GenesisValidator], dealing: &[u8]) -> Result<Info, CommitteeError> {
    if validators.is_empty() {
        return Err(CommitteeError::Nobody);
    }
    let group = || CommitteeError::Group { validators: validators.len() };
    let output = Output::decode_cfg(bytes::Bytes::copy_from_slice(dealing), &(MAX_MEMBERS, MODE)).map_err(|_| group())?;
    let directory = Roll::new(validators.iter().map(|validator| staking::types::Member {
        address: validator.address,
        signing_key: validator.signing_key,
        network_key: validator.network_key,
        vrf_key: validator.vrf_key,
        endpoint: staking::types::NO_ENDPOINT,
        stake: validator.stake,
    }));
    let players: Set<ed25519::PublicKey> = Output::players(&output).clone();
    if directory.members().len() != validators.len() || !directory.matches(&players) {
        return Err(group());
    }
    let (epoch, next_players) = (Epoch::zero(), players.clone());
    Ok(Info { outcome: EpochOutcome::Success, epoch, output, players, next_players, directory })
}

type MemberKeys = (ed25519::PrivateKey, Private, PrivateKey);

fn generator(seed: &[u8], index: u64) -> ChaCha20Rng {
    ChaCha20Rng::from_seed(keccak256(&[b"cowboy-validator-keys:", &index.to_be_bytes(), seed]).0)
}

fn member_keys(seed: &[u8], index: u64) -> MemberKeys {
    let mut generator = generator(seed, index);
    let network = ed25519::PrivateKey::random(&mut generator);
    let bls = Private::random(&mut generator);
    let signer = keccak256(&[b"cowboy-header-key:", &index.to_be_bytes(), seed]);
    let signer = PrivateKey::from_bytes(signer.0).expect("a hash is a secp256k1 key, but for one in 2^128");
    (network, bls, signer)
}

impl ValidatorKeys {
    /// The proposer's VRF over the beacon and the height (decision 133).
    pub fn prove(&self, beacon: &[u8], height: u64) -> SeedBytes {
        let signature: BlsSignature = sign_message::<MinSig>(&self.bls, PROPOSER_VRF_NAMESPACE, &vrf_message(beacon, height));
        Fixed(fixed(&signature.encode()))
    }
}

impl Member {
    fn new(place: usize, validator: &staking::types::Member) -> Result<Self, CommitteeError> {
        let bad = |kind| CommitteeError::Key { kind, place };
        Ok(Self {
            network: ed25519::PublicKey::decode(validator.network_key.0.to_vec()).map_err(|_| bad("network"))?,
            bls: BlsPublic::decode(validator.vrf_key.0.to_vec()).map_err(|_| bad("VRF"))?,
            signer: address_of_public_key(&validator.signing_key).ok_or(bad("signing"))?,
            paid: validator.address,
            stake: validator.stake.0,
        })
    }

    /// Whether this is the validator's VRF over the beacon and the height.
    pub(crate) fn verify_vrf(&self, vrf: &ProposerVrf) -> bool {
        let Some((message, signature)) = vrf.signed() else { return false };
        verify_message::<MinSig>(&self.bls, PROPOSER_VRF_NAMESPACE, &message, &signature).is_ok()
    }

    /// The VRF as a signature of this validator in an epoch, which is to be verified. `None` where it is no point of the curve.
    pub(crate) fn signed_vrf(&self, epoch: u64, vrf: &ProposerVrf) -> Option<Signed> {
        let (message, signature) = vrf.signed()?;
        let signer = Signer::Validator(epoch, fixed(self.network.as_ref()));
        Some(Signed::new((signer, self.bls), PROPOSER_VRF_NAMESPACE, &message, signature))
    }
}

fn vrf_message(beacon: &[u8], height: u64) -> Vec<u8> {
    [beacon, &height.to_be_bytes()].concat()
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("a point's encoding has a fixed size")
}

/// The place of the validator that the 32 random bytes select, each in proportion to its stake (decision 117).
fn draw(stakes: impl Iterator<Item = u64> + Clone, randomness: &Hash) -> usize {
    let total: u128 = stakes.clone().map(u128::from).sum();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&randomness.0[..16]);
    // 128 random bits against a total below 2^96: the bias is below 2^-32.
    let mut point = u128::from_be_bytes(bytes).checked_rem(total).unwrap_or(0);
    for (place, stake) in stakes.enumerate() {
        match point.checked_sub(u128::from(stake)) {
            Some(rest) => point = rest,
            None => return place,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairings;

    /// a validator leads in proportion to its stake.
    #[test]
    fn leaders_are_drawn_by_stake() {
        let stakes = [100, 300, 0, 600];
        let mut led = [0u32; 4];
        for round in 0u32..10_000 {
            led[draw(stakes.into_iter(), &keccak256(&[&round.to_be_bytes()]))] += 1;
        }
        assert_eq!(led[2], 0, "no stake, no turn");
        for (member, expected) in [(0, 1_000), (1, 3_000), (3, 6_000)] {
            assert!(led[member].abs_diff(expected) < 200, "member {member} led {} of 10,000 views", led[member]);
        }
    }

    /// VRFs that are verified together are right only if each of them is.
    #[test]
    fn vrfs_are_verified_together() {
        let (validators, sharing, keys) = Committee::derive(b"seed", 4, Amount(1));
        let committee = Committee::of(&first_epoch(&validators, &sharing).expect("an epoch")).expect("a committee");
        let (member, keys) = (&committee.members()[0], &keys[0]);
        let vrf = |height: u64| ProposerVrf { beacon: b"beacon".to_vec(), height, proof: keys.prove(b"beacon", height) };
        let right: Vec<ProposerVrf> = (7..12).map(vrf).collect();
        let mut random = generator(b"test", 0);
        let mut hold = |member: &Member, vrfs: &[ProposerVrf]| {
            let signed: Option<Vec<Signed>> = vrfs.iter().map(|vrf| member.signed_vrf(0, vrf)).collect();
            signed.is_some_and(|signed| pairings::hold(&mut random, &signed))
        };
        assert!(hold(member, &right));
        assert!(!hold(&committee.members()[1], &right), "of another validator");
        for place in 0..right.len() {
            let mut wrong = right.clone();
            wrong[place].height += 1;
            assert!(!hold(member, &wrong), "the {place}. is of another height");
            wrong = right.clone();
            wrong[place].proof = Fixed([0xFF; 48]);
            assert!(!hold(member, &wrong), "the {place}. is no point");
        }
    }

    #[test]
    fn keys_follow_from_the_seed() {
        let (validators, sharing, keys) = Committee::derive(b"seed", 4, Amount(1));
        assert_eq!(Committee::derive(b"seed", 4, Amount(1)).1, sharing);
        let committee = Committee::of(&first_epoch(&validators, &sharing).expect("an epoch")).expect("a committee");
        assert_eq!(first_epoch(&validators[..3], &sharing).err(), Some(CommitteeError::Group { validators: 3 }));
        assert_eq!(first_epoch(&[], &sharing).err(), Some(CommitteeError::Nobody));
        for (member, keys) in committee.members().iter().zip(&keys) {
            assert_eq!(member.network, keys.network.public_key());
            let vrf = ProposerVrf { beacon: b"beacon".to_vec(), height: 7, proof: keys.prove(b"beacon", 7) };
            assert!(member.verify_vrf(&vrf));
            assert!(!member.verify_vrf(&ProposerVrf { height: 8, ..vrf }));
            assert!(keys.share.clone().and_then(|share| committee.voter(b"test", share)).is_some());
            let (genesis, account) = (Hash([7; 32]), Address([8; 20]));
            let network_key = Fixed(fixed(keys.network.public_key().as_ref()));
            let [by_network, by_vrf] = keys.proofs_of_possession(&genesis, account);
            let registration = Registration { genesis, account, network_key, vrf_key: keys.vrf_key() };
            assert!(registration.is_proven(&Fixed(fixed(&by_network)), &Fixed(fixed(&by_vrf))), "as the chain checks it");
        }
    }
}
