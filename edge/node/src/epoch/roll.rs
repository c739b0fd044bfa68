//! What an epoch says of its validators.

use bytes::BufMut;
use commonware_codec::{Buf, EncodeSize, Error, Read, ReadExt as _, Write};
use commonware_cryptography::ed25519::PublicKey;
use commonware_glue::dkg::network::Directory;
use commonware_utils::ordered::Set;
use cowboy_system::staking::types::{MAX_VALIDATORS, Member};
use cowboy_types::List;

/// The most bytes of one validator: an address, three keys, where it listens, and its stake.
const MEMBER_BYTES: usize = 20 + 33 + 32 + 96 + 18 + 10;

/// Everybody who deals, is dealt to, or is dealt to next in an epoch, ascending by network key: keys, where
/// it listens, stake, and who is paid.
///
/// The last block before an epoch carries it, so that nobody needs the state of that time to verify the epoch's blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roll(List<Member, MAX_VALIDATORS>);

impl Roll {
    /// A roll of these validators, each of whom is named once.
    pub fn new(members: impl IntoIterator<Item = Member>) -> Self {
        let mut members: Vec<Member> = members.into_iter().collect();
        members.sort_by_key(|member| member.network_key.0);
        members.dedup_by_key(|member| member.network_key.0);
        Self(List::new(members).expect("an epoch has at most three times 1,024 validators"))
    }

    /// The validators.
    pub fn members(&self) -> &[Member] {
        &self.0
    }

    /// The validator with this key.
    pub fn get(&self, key: &PublicKey) -> Option<&Member> {
        let place = self.0.binary_search_by(|member| member.network_key.0.as_slice().cmp(key.as_ref())).ok()?;
        self.0.get(place)
    }
}

impl Write for Roll {
    fn write(&self, buf: &mut impl BufMut) {
        self.0.write(buf);
    }
}

impl EncodeSize for Roll {
    fn encode_size(&self) -> usize {
        self.0.encode_size()
    }
}

impl Read for Roll {
    type Cfg = ();

    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let members = List::<Member, MAX_VALIDATORS>::read(buf)?;
        match members.windows(2).all(|pair| pair[0].network_key.0 < pair[1].network_key.0) {
            true => Ok(Self(members)),
            false => Err(Error::Invalid("Roll", "validators ascend by network key")),
        }
    }
}

impl Directory<PublicKey> for Roll {
    fn codec_config(_: &Set<PublicKey>) {}

    fn max_encode_size(peers: usize) -> usize {
        peers * MEMBER_BYTES + 5
    }

    fn matches(&self, peers: &Set<PublicKey>) -> bool {
        self.0.len() == peers.len() && peers.iter().all(|key| self.get(key).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::{Decode as _, Encode as _};
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use cowboy_types::{Address, Amount, wire::Fixed};

    fn key(seed: u64) -> PublicKey {
        PrivateKey::from_seed(seed).public_key()
    }

    fn member(seed: u64) -> Member {
        let network_key = Fixed(key(seed).as_ref().try_into().expect("32 bytes"));
        let (signing_key, vrf_key) = (Fixed([2; 33]), Fixed([3; 96]));
        Member { address: Address([1; 20]), signing_key, network_key, vrf_key, endpoint: Fixed([4; 18]), stake: Amount(u64::MAX) }
    }

    /// A roll has one encoding, in one order, and names each validator once.
    #[test]
    fn a_roll_has_one_encoding() {
        let roll = Roll::new([member(3), member(1), member(2), member(1)]);
        let peers = |seeds: &[u64]| Set::from_iter_dedup(seeds.iter().map(|seed| key(*seed)));
        assert!(roll.matches(&peers(&[1, 2, 3])));
        assert!(!roll.matches(&peers(&[1, 2])) && !roll.matches(&peers(&[1, 2, 4])));
        assert_eq!((roll.get(&key(2)), roll.get(&key(4))), (Some(&member(2)), None));
        let bytes = roll.encode();
        assert!(bytes.len() <= <Roll as Directory<PublicKey>>::max_encode_size(3));
        assert_eq!(Roll::decode_cfg(bytes, &()).ok(), Some(roll.clone()));
        let mut turned = roll.members().to_vec();
        turned.reverse();
        for wrong in [turned, vec![member(1), member(1)]] {
            let bytes = List::<Member, MAX_VALIDATORS>::new(wrong).expect("few").encode();
            assert!(Roll::decode_cfg(bytes, &()).is_err());
        }
    }
}
