//! What holds between the claims about jobs and what 0x03 keeps for them.

use super::NUMBER;
use crate::market::jobs;
use crate::records::{Broken, Records, holds};
use cowboy_types::Address;
use cowboy_types::job::Job;

/// The bonds of claims, which 0x03 owes to others.
pub fn owed(records: &Records<'_>) -> Result<u128, Broken> {
    let jobs = records.of::<Job>(jobs::NUMBER, "job:")?;
    Ok(jobs.iter().flat_map(|(_, job)| job.claims.iter()).map(|claim| u128::from(claim.bond.0)).sum())
}

/// 0x03 has the bonds of all claims, and claims are about jobs with an outcome.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    records.covers("0x03 has the bonds of claims", Address::system(NUMBER), owed(records)?)?;
    for (_, job) in records.of::<Job>(jobs::NUMBER, "job:")? {
        holds("a claim is about a job with an outcome", job.claims.is_empty() || job.outcome.is_some(), &job.id)?;
    }
    Ok(())
}
