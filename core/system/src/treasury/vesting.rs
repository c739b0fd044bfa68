//! The buckets of the genesis supply, and how they are released (003 §8.3).
//!
//! A bucket's CBY stand at an address without a key. What has vested is paid to the bucket's beneficiary when anybody
//! asks for it; where a decision releases, governance names amount and receiver. Invariant: what left a bucket by a
//! schedule never exceeds what has vested.

use super::NUMBER;
use super::api::{BeneficiarySet, BucketState, Disburse, Disbursed, GetVesting, Release, Released, SetBeneficiary};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_state::records::{Vesting, VestingClaim, keys};
use cowboy_types::units::{Amount, Count, TimestampMs};
use cowboy_types::{Address, error, keccak256};

/// Milliseconds of a month: a twelfth of the year of decision 75.
pub const MONTH_MS: u64 = 2_628_000_000;

/// How a bucket is released after its cliff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// The same part each month, counted from genesis.
    Monthly,
    /// The same part each three months, counted from genesis.
    Quarterly,
    /// Month by month, each month less than the one before: n, n − 1, … 1 parts.
    Declining,
    /// All of it at the cliff.
    AtCliff,
    /// By decisions of governance.
    Decided,
}

/// A bucket of the genesis supply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Its name in keys.
    pub name: &'static str,
    /// Whole CBY.
    pub cby: u64,
    /// Hundredths of a percent of it that are free at genesis.
    pub at_genesis: u64,
    /// Months before the first release after that.
    pub cliff_months: u64,
    /// Months over which the rest is released; zero where decisions or the cliff release it.
    pub linear_months: u64,
    /// How the rest is released.
    pub curve: Curve,
}

const fn bucket(name: &'static str, cby: u64, at_genesis: u64, cliff_months: u64, linear_months: u64, curve: Curve) -> Bucket {
    Bucket { name, cby, at_genesis, cliff_months, linear_months, curve }
}

/// The buckets of 003 §8.3. Together they are the genesis supply.
pub const BUCKETS: [Bucket; 10] = [
    bucket("team", 200_000_000, 0, 12, 48, Curve::Monthly),
    bucket("investors", 200_000_000, 1_000, 6, 24, Curve::Monthly),
    bucket("advisors", 33_300_000, 0, 6, 24, Curve::Monthly),
    bucket("treasury", 133_400_000, 500, 0, 0, Curve::Decided),
    bucket("foundation", 100_000_000, 500, 0, 36, Curve::Quarterly),
    bucket("validator_rewards", 180_000_000, 0, 0, 60, Curve::Declining),
    bucket("runner_incentives", 80_000_000, 0, 0, 0, Curve::Decided),
    bucket("developer_grants", 30_000_000, 0, 0, 0, Curve::Decided),
    bucket("liquidity_mining", 23_300_000, 0, 0, 12, Curve::Declining),
    bucket("community", 20_000_000, 5_000, 6, 0, Curve::AtCliff),
];

/// The address that holds a bucket. Nobody has its key: it is the tail of keccak256("cowboy-bucket:" ‖ name).
/// The treasury's bucket is the treasury's own balance.
pub fn bucket_address(name: &str) -> Address {
    if name == "treasury" {
        return Address::system(NUMBER);
    }
    let hash = keccak256(&[b"cowboy-bucket:", name.as_bytes()]);
    let mut address = [0; 20];
    address.copy_from_slice(&hash.0[12..]);
    Address(address)
}

impl Bucket {
    /// All of it.
    pub fn total(&self) -> Amount {
        Amount::from_cby(self.cby).expect("a bucket fits")
    }

    /// What is free at genesis.
    fn first(&self) -> Amount {
        part(self.total(), self.at_genesis, 10_000)
    }

    /// The schedule's record in the first state.
    pub fn schedule(&self, start: TimestampMs) -> Vesting {
        Vesting {
            beneficiary: bucket_address(self.name),
            total: self.total(),
            released: self.first(),
            cliff_months: Count(self.cliff_months),
            linear_months: Count(self.linear_months),
            start,
        }
    }

    /// What its schedule has released a number of whole months after genesis.
    pub fn vested(&self, months: u64) -> Amount {
        let rest = self.total().saturating_sub(self.first());
        let whole = self.linear_months;
        let done = months.min(whole);
        let later = match self.curve {
            _ if months < self.cliff_months => Amount::ZERO,
            Curve::Decided => Amount::ZERO,
            Curve::AtCliff => rest,
            Curve::Monthly => part(rest, done, whole),
            Curve::Quarterly => part(rest, done / 3 * 3, whole),
            // n + (n − 1) + … over `done` months, out of n(n + 1)/2.
            Curve::Declining => part(rest, done * (2 * whole + 1 - done), whole * (whole + 1)),
        };
        self.first().saturating_add(later)
    }
}

/// `amount` × `numerator` / `denominator`, rounded down.
fn part(amount: Amount, numerator: u64, denominator: u64) -> Amount {
    let part = u128::from(amount.0) * u128::from(numerator) / u128::from(denominator);
    Amount(u64::try_from(part).expect("a part is at most the whole"))
}

/// A bucket by its name, and what left it.
fn named(context: &Context<'_>, name: &str) -> Step<(Bucket, VestingClaim)> {
    let bucket = BUCKETS.into_iter().find(|bucket| bucket.name == name).ok_or(error::INVALID_ARGUMENT)?;
    let claim = context.world.read(&keys::vesting_claim(bucket.name))?;
    Ok((bucket, claim.unwrap_or(VestingClaim { beneficiary: None, released: Amount::ZERO })))
}

/// Whole months since the chain began.
fn months(context: &Context<'_>, bucket: &Bucket) -> Step<u64> {
    let schedule: Vesting = context.world.read(&keys::vesting(bucket.name))?.expect("genesis wrote the schedules");
    Ok(context.timestamp.0.saturating_sub(schedule.start.0) / MONTH_MS)
}

impl Handle for GetVesting {
    fn handle(self, context: &mut Context<'_>) -> Step<BucketState> {
        let Self { bucket } = self;
        let (bucket, claim) = named(context, &bucket)?;
        Ok(BucketState {
            beneficiary: claim.beneficiary,
            held: context.world.account(bucket_address(bucket.name))?.balance,
            released: claim.released,
            total: bucket.total(),
            vested: bucket.vested(months(context, &bucket)?),
        })
    }
}

impl Handle for SetBeneficiary {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { bucket: name, beneficiary } = self;
        let (bucket, mut claim) = named(context, &name)?;
        if claim.beneficiary != Some(context.sender) {
            context.require_governance()?;
        }
        claim.beneficiary = Some(beneficiary);
        context.world.write(keys::vesting_claim(bucket.name), &claim);
        BeneficiarySet { bucket: name, beneficiary }.emit(context.world);
        Ok(())
    }
}

impl Handle for Release {
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let Self { bucket: name } = self;
        let (bucket, claim) = named(context, &name)?;
        let to = claim.beneficiary.ok_or(error::NOTHING_VESTED)?;
        let vested = bucket.vested(months(context, &bucket)?);
        // Genesis took accounts and stakes out of two buckets: no more leaves one than it holds.
        let held = context.world.account(bucket_address(bucket.name))?.balance;
        let amount = vested.saturating_sub(claim.released).min(held);
        if amount == Amount::ZERO {
            return Err(error::NOTHING_VESTED.into());
        }
        pay_out(context, &bucket, claim, to, amount)?;
        Released { amount, bucket: name, to }.emit(context.world);
        Ok(amount)
    }
}

/// Pays out of a bucket that decisions release, because of one.
impl Handle for Disburse {
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let Self { bucket: name, to, amount } = self;
        let (bucket, claim) = named(context, &name)?;
        if bucket.curve != Curve::Decided {
            return Err(error::INVALID_ARGUMENT.into());
        }
        pay_out(context, &bucket, claim, to, amount)?;
        Disbursed { amount, bucket: name, to }.emit(context.world);
        Ok(amount)
    }
}

/// Moves CBY out of a bucket, and counts it.
fn pay_out(context: &mut Context<'_>, bucket: &Bucket, mut claim: VestingClaim, to: Address, amount: Amount) -> Step<()> {
    if !context.world.debit(bucket_address(bucket.name), amount)? {
        return Err(error::TRANSFER_FAILED.into());
    }
    context.world.credit(to, amount)?;
    // Beyond the genesis total only where the treasury earned more and spent it.
    claim.released = claim.released.saturating_add(amount);
    context.world.write(keys::vesting_claim(bucket.name), &claim);
    Ok(())
}
