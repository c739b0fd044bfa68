//! The methods and events of 0x08.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{events, form};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Text};

form! {
    /// All CBY there are.
    pub(crate) struct TotalSupply {
        /// What genesis made.
        genesis: Amount,
        /// What blocks made.
        minted: Amount,
        /// What was destroyed.
        burned: Amount,
    }
}

form! {
    /// A bucket of the genesis supply.
    pub(crate) struct BucketState {
        /// Who receives what vests.
        beneficiary: Option<Address>,
        /// What the bucket holds.
        held: Amount,
        /// What left it.
        released: Amount,
        /// What it began with.
        total: Amount,
        /// What its schedule has released.
        vested: Amount,
    }
}

/// The name of a bucket; one that no bucket has is refused.
pub(crate) type BucketName = Text<64>;

methods! {
    /// What 0x08 is asked.
    pub(super) METHODS by NUMBER;

    /// Returns all CBY there are, in base units.
    "get_supply" GetSupply [view] {} -> TotalSupply;

    /// Returns a genesis bucket at this block's time.
    "get_vesting" GetVesting [view] {
        /// The bucket's name.
        bucket: BucketName,
    } -> BucketState;

    /// Pays what has vested to the bucket's beneficiary, and returns the amount. Anybody may ask.
    "release" Release [passing] {
        /// The bucket's name.
        bucket: BucketName,
    } -> Amount;

    /// Names who receives what vests. Governance or the present beneficiary.
    "set_beneficiary" SetBeneficiary [passing] {
        /// The bucket's name.
        bucket: BucketName,
        /// The new beneficiary.
        beneficiary: Address,
    } -> ();

    /// Pays out of a bucket that decisions release, and returns the amount.
    "disburse" Disburse [governed] {
        /// The bucket's name.
        bucket: BucketName,
        /// The recipient.
        to: Address,
        /// Base units of CBY.
        amount: Amount,
    } -> Amount;
}

events! {
    /// What 0x08 emits.
    pub(super) EVENTS by NUMBER;

    /// A bucket has another beneficiary.
    "vesting.beneficiary" BeneficiarySet {
        /// The bucket's name.
        bucket: BucketName,
        /// The new beneficiary.
        beneficiary: Address,
    }

    /// What had vested was paid.
    "vesting.released" Released {
        /// Base units of CBY.
        amount: Amount,
        /// The bucket's name.
        bucket: BucketName,
        /// The beneficiary.
        to: Address,
    }

    /// A decision paid out of a bucket.
    "vesting.disbursed" Disbursed {
        /// Base units of CBY.
        amount: Amount,
        /// The bucket's name.
        bucket: BucketName,
        /// The recipient.
        to: Address,
    }
}
