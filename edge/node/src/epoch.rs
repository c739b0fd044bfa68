//! What a chain says of each epoch: who deals, who is dealt to, who signs, and the outcome of the last dealing (decision 367).
//!
//! The last block before an epoch carries its description ([`Info`]); genesis carries that of the first. Blocks in the second half of
//! an epoch carry the dealers' logs. Both are a [`Payload`].

pub mod roll;

use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _, Error};
use commonware_cryptography::{
    bls12381::primitives::{sharing::ModeVersion, variant::MinSig},
    ed25519,
};
use commonware_glue::dkg::{reshare, types};
use commonware_utils::{Faults as _, N3f1, NZU32};
use cowboy_chain::ChainConfig;
use cowboy_system::staking::types::MAX_PLAYERS;
use roll::Roll;
use std::num::{NonZeroU32, NonZeroU64};

/// The most validators of one epoch: a header's bitmap of voters has a bit for each.
pub const MAX_MEMBERS: NonZeroU32 = NZU32!(1_024);

const _: () = assert!(MAX_MEMBERS.get() as usize == MAX_PLAYERS);

/// How the polynomial of the group key is evaluated.
pub const MODE: ModeVersion = ModeVersion::v0();

/// What describes an epoch.
pub type Info = types::EpochInfo<MinSig, ed25519::PublicKey, Roll>;

/// What a block carries of a dealing.
pub type Payload = types::Payload<MinSig, ed25519::PublicKey, Roll>;

/// What a proposal is told to carry.
pub type Input = reshare::Input<(), MinSig, ed25519::PrivateKey, Roll>;

/// A payload as a block's body has it.
pub fn encode(payload: &Payload) -> Bytes {
    payload.encode()
}

/// The payload in a block's body.
pub fn decode(bytes: &[u8]) -> Result<Payload, Error> {
    Payload::decode_cfg(Bytes::copy_from_slice(bytes), &(MAX_MEMBERS, MODE))
}

/// Blocks of an epoch of the engine: those of an epoch of the staking state. The validators of a dev chain never change.
pub fn length(config: &ChainConfig) -> NonZeroU64 {
    match config.is_dev {
        true => NonZeroU64::MAX,
        false => NonZeroU64::new(config.params.consensus.epoch).expect("the row's least value is above zero"),
    }
}

/// Blocks of the shortest epoch in which this number of signers can deal shares: a dealing succeeds with the logs of a quorum of them, each log takes a block of the
/// second half, and the last block of the epoch has none.
pub fn shortest(signers: u32) -> u64 {
    let quorum = if signers == 0 { 0 } else { N3f1::quorum(signers) };
    u64::from(quorum).saturating_mul(2).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of docs/nodes.md: half of an epoch, without its last block, has a block for each log that a dealing needs.
    #[test]
    fn the_logs_of_a_dealing_fit_into_half_an_epoch() {
        for (signers, blocks) in [(0, 1), (1, 3), (4, 7), (7, 11), (100, 135)] {
            assert_eq!(shortest(signers), blocks, "{signers}");
        }
    }
}
