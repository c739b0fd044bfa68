//! What holds between the records of the genesis supply's buckets.

use super::vesting::{BUCKETS, Curve};
use crate::records::{Broken, Records, equal, holds};
use cowboy_state::records::{Vesting, VestingClaim, keys};
use cowboy_types::units::Amount;

/// Schedules are those of genesis, and no more left a bucket with a schedule than the bucket.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    for bucket in BUCKETS {
        let schedule = records.record::<Vesting>(&keys::vesting(bucket.name))?;
        let expected = schedule.as_ref().map(|schedule| bucket.schedule(schedule.start));
        holds("every bucket has a schedule", schedule.is_some(), &bucket)?;
        equal("a schedule is that of genesis", &schedule, &expected)?;
        let claim = records.record::<VestingClaim>(&keys::vesting_claim(bucket.name))?;
        let released = claim.map_or(Amount::ZERO, |claim| claim.released);
        let is_bounded = bucket.curve == Curve::Decided || released <= bucket.total();
        holds("no more leaves a bucket by its schedule than the bucket", is_bounded, &(bucket.name, released))?;
    }
    Ok(())
}
