//! Who votes, who leads, and with which keys.

use crate::seeds::{Scheme, SeedBytes};
use commonware_codec::{DecodeExt as _, Encode as _};
use commonware_consensus::{
    simplex::{
        elector::{self, Dynamic, Elector, Terms},
        scheme::bls12381_threshold::vrf::Certificate,
    },
    types::{Participant, Round},
};
use commonware_cryptography::{
    Signer as _,
    bls12381::{
        dkg::feldman_desmedt::deal,
        primitives::{
            group::{Private, Share},
            ops::{compute_public, sign_message, verify_message},
            sharing::{Mode, Sharing},
            variant::{MinSig, Variant},
        },
    },
    ed25519,
};
use commonware_math::algebra::Random as _;
use commonware_utils::{N3f1, TryCollect as _, ordered::Set};
use cowboy_types::{Address, Hash, keccak256, signing::PrivateKey, wire::Fixed};
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
    /// Its weight when leaders are drawn.
    pub stake: u64,
}

/// The validators of a chain, in the order of their network keys.
#[derive(Clone, Debug)]
pub struct Committee {
    members: Vec<Member>,
    sharing: Sharing<MinSig>,
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
    /// The share of the group key that votes.
    pub share: Share,
}

impl Committee {
    /// A committee of `stakes.len()` validators with all their keys, derived from `seed`.
    ///
    /// For dev chains and tests: who knows the seed knows every key.
    pub fn derive(seed: &[u8], stakes: &[u64]) -> (Self, Vec<ValidatorKeys>) {
        let mut keys: Vec<_> = (0u64..).zip(stakes).map(|(index, stake)| (member_keys(seed, index), *stake)).collect();
        keys.sort_by_key(|((network, ..), _)| network.public_key());
        let participants: Set<ed25519::PublicKey> =
            keys.iter().map(|((network, ..), _)| network.public_key()).try_collect().expect("derived keys differ");
        let (output, shares) = deal::<MinSig, _, N3f1>(generator(seed, u64::MAX), Mode::NonZeroCounter, participants)
            .expect("there is at least one validator");
        let members = keys
            .iter()
            .map(|((network, bls, signer), stake)| Member {
                network: network.public_key(),
                bls: compute_public::<MinSig>(bls),
                signer: signer.address(),
                stake: *stake,
            })
            .collect();
        let keys = keys
            .into_iter()
            .zip(shares)
            .map(|(((network, bls, signer), _), (_, share))| ValidatorKeys { network, bls, signer, share })
            .collect();
        (Self { members, sharing: output.public().clone() }, keys)
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

    /// How leaders are drawn: by stake, from the preceding round's seed.
    pub fn elector(&self) -> ByStake {
        ByStake { stakes: self.members.iter().map(|member| member.stake).collect() }
    }
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
    /// Whether `proof` is this validator's VRF over the beacon and the height.
    pub fn verify_vrf(&self, beacon: &[u8], height: u64, proof: &SeedBytes) -> bool {
        let Ok(signature) = BlsSignature::decode(proof.0.to_vec()) else { return false };
        verify_message::<MinSig>(&self.bls, PROPOSER_VRF_NAMESPACE, &vrf_message(beacon, height), &signature).is_ok()
    }
}

fn vrf_message(beacon: &[u8], height: u64) -> Vec<u8> {
    [beacon, &height.to_be_bytes()].concat()
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("a point's encoding has a fixed size")
}

/// Draws each view's leader by stake, freshly, from the seed of the round before (decision 117).
#[derive(Clone, Debug)]
pub struct ByStake {
    stakes: Vec<u64>,
}

impl ByStake {
    /// The member that the 32 random bytes point at.
    fn draw(&self, randomness: &Hash) -> Participant {
        let total: u128 = self.stakes.iter().map(|stake| u128::from(*stake)).sum();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&randomness.0[..16]);
        // 128 random bits against a total below 2^96: the bias is below 2^-32.
        let mut point = u128::from_be_bytes(bytes).checked_rem(total).unwrap_or(0);
        for (index, stake) in self.stakes.iter().enumerate() {
            match point.checked_sub(u128::from(*stake)) {
                Some(rest) => point = rest,
                None => return Participant::from_usize(index),
            }
        }
        Participant::from_usize(0)
    }
}

impl elector::Config<Scheme> for ByStake {
    type Elector = Self;

    fn build(self, participants: &Set<ed25519::PublicKey>) -> Self {
        assert_eq!(participants.len(), self.stakes.len(), "every validator has a stake");
        self
    }
}

impl Elector<Scheme> for ByStake {
    type Mode = Dynamic;

    fn terms(&self) -> Terms {
        Terms::rotating()
    }

    /// The first view of an epoch has no seed before it: there the epoch's number decides.
    fn elect(&self, round: Round, certificate: Option<&Certificate<MinSig>>) -> Participant {
        let seed = certificate.map(|certificate| certificate.get().expect("a verified certificate decodes").seed_signature.encode());
        let randomness = match &seed {
            Some(seed) => keccak256(&[b"cowboy-leader:", seed]),
            None => keccak256(&[b"cowboy-leader:", &round.epoch().get().to_be_bytes()]),
        };
        self.draw(&randomness)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// a validator leads in proportion to its stake.
    #[test]
    fn leaders_are_drawn_by_stake() {
        let elector = ByStake { stakes: vec![100, 300, 0, 600] };
        let mut led = [0u32; 4];
        for round in 0u32..10_000 {
            led[usize::from(elector.draw(&keccak256(&[&round.to_be_bytes()])))] += 1;
        }
        assert_eq!(led[2], 0, "no stake, no turn");
        for (member, expected) in [(0, 1_000), (1, 3_000), (3, 6_000)] {
            assert!(led[member].abs_diff(expected) < 200, "member {member} led {} of 10,000 views", led[member]);
        }
    }

    #[test]
    fn keys_follow_from_the_seed() {
        let (committee, keys) = Committee::derive(b"seed", &[1, 1, 1, 1]);
        assert_eq!(committee.group_key(), Committee::derive(b"seed", &[1, 1, 1, 1]).0.group_key());
        for (member, keys) in committee.members().iter().zip(&keys) {
            assert_eq!(member.network, keys.network.public_key());
            let proof = keys.prove(b"beacon", 7);
            assert!(member.verify_vrf(b"beacon", 7, &proof));
            assert!(!member.verify_vrf(b"beacon", 8, &proof));
            assert!(committee.voter(b"test", keys.share.clone()).is_some());
        }
    }
}
