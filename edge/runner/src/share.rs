//! Revelations between runners: members give theirs to the aggregator, which opens all commitments in one transaction (002 §8).
//!
//! They do so only after everybody committed: what is given away then helps nobody to copy. Whoever gets no answer reveals by itself.

use crate::report::OwnedReport;
use cowboy_api::{HexAddress, HexBytes, HexHash};
use cowboy_system::offchain::{FAULT_ACTOR, FAULT_IMPOSSIBLE};
use cowboy_system::requests::{Request, market as requests};
use cowboy_types::{
    Hash,
    job::{self, SALT_BYTES},
    wire::Fixed,
};
use ed25519_consensus::VerificationKey;
use serde::{Deserialize, Serialize};

/// A member's revelation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    /// The job's id.
    pub job_id: HexHash,
    /// The number of the draw.
    pub attempt: u64,
    /// The runner's address.
    pub runner: HexAddress,
    /// What it committed to.
    pub report: OwnedReport,
    /// What the commitment was salted with.
    pub salt: HexBytes,
    /// Ed25519 over the report: see [`job::Report::signed`].
    pub signature: HexBytes,
}

impl Share {
    /// Whether the runner with this key signed it.
    pub(crate) fn is_signed(&self, genesis: &Hash, result_key: &[u8]) -> bool {
        let verify = || {
            let signature = <[u8; 64]>::try_from(self.signature.0.as_slice()).ok()?;
            let signed = self.report.view().signed(genesis, &self.job_id.0);
            VerificationKey::try_from(result_key).ok()?.verify(&signature.into(), &signed).ok()
        };
        verify().is_some()
    }

    /// Whether the chain will take it. One that it does not would spoil all others that go with it.
    pub(crate) fn is_right(&self, genesis: &Hash, commitment: &Hash, result_key: &[u8], most_bytes: u64) -> bool {
        let Ok(salt) = <[u8; SALT_BYTES]>::try_from(self.salt.0.as_slice()) else { return false };
        let report = self.report.view();
        let opens = salt[32..] == self.runner.0.0 && job::commitment(&report.encode(), &salt) == *commitment;
        let is_whole = match report.result {
            Some(output) => report.fault == 0 && report.progress == 0 && output.len() as u64 <= most_bytes,
            None => (FAULT_ACTOR..=FAULT_IMPOSSIBLE).contains(&report.fault) && report.progress <= 10_000,
        };
        opens && is_whole && self.is_signed(genesis, result_key)
    }

    /// The call of `reveal`, or of `submit_result`, which has no salt. Nothing where salt or signature do not have their lengths.
    pub(crate) fn request(&self, has_salt: bool) -> Option<Request> {
        let (id, report, signature) = (self.job_id.0, self.report.view(), fixed(&self.signature.0)?);
        Some(match has_salt {
            true => requests::reveal(id, &report, fixed(&self.salt.0)?, signature),
            false => requests::submit_result(id, &report, signature),
        })
    }

    fn opened(&self) -> Option<requests::Opened<'_>> {
        let (salt, signature) = (fixed(&self.salt.0)?, fixed(&self.signature.0)?);
        Some(requests::Opened { runner: self.runner.0, report: self.report.view(), salt, signature })
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<Fixed<N>> {
    bytes.try_into().ok().map(Fixed)
}

/// The call of `submit_verified_result`. Nothing where one of the shares is none.
pub(crate) fn together(job: &Hash, shares: &[&Share]) -> Option<Request> {
    let opened = shares.iter().map(|share| share.opened()).collect::<Option<Vec<_>>>()?;
    requests::submit_verified_result(*job, &opened)
}
