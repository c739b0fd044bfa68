//! What decodes as a record of the state encodes to the same bytes: the first byte says as which.

use bytes::Bytes;
use commonware_codec::Codec;
use cowboy_system::{governance, rent_rate, staking, storage};

fn check<T: Codec<Cfg = ()>>(bytes: &[u8]) {
    if let Ok(record) = T::decode_cfg(Bytes::copy_from_slice(bytes), &()) {
        assert_eq!(record.encode(), bytes);
    }
}

/// The records of decisions, validators and rent.
const CHECKS: [fn(&[u8]); 12] = [
    check::<governance::types::Proposal>,
    check::<governance::types::Council>,
    check::<governance::types::Agreement>,
    check::<governance::types::History>,
    check::<staking::types::Validator>,
    check::<staking::types::ValidatorSet>,
    check::<staking::types::StakeTotal>,
    check::<staking::types::Attestations>,
    check::<staking::types::Inflation>,
    check::<storage::types::RentAccount>,
    check::<storage::types::Dormancy>,
    check::<rent_rate::RentRate>,
];

pub(crate) fn body(bytes: &[u8]) {
    if let Some((which, rest)) = bytes.split_first() {
        CHECKS[usize::from(*which) % CHECKS.len()](rest);
    }
}
