//! The words of the runner market (002; 003 §5): what a job asks for, who runs it, and how far it is.
//!
//! - [`spec`]: a job as it was asked for.
//! - [`runner`]: who does jobs, and what they ask for it.
//! - [`record`]: a job under way, its committee and its outcome.
//! - [`report`]: what a runner says of a job, commits to and signs.
//!
//! A submission is canonical CBOR (decision 123); the Dispatcher reads from it what the chain has to know and
//! keeps the rest, untouched, for the runner ([`JobSpec::request`]).

pub mod record;
pub mod report;
pub mod runner;
pub mod spec;

pub use record::{
    Absent, CallbackBook, Candidate, Candidates, Challenge, Delivered, EpochCommittee, Job, JobStatus, Member, Outcome, Patron, Usage,
    Verdict, WaitQueue,
};
pub use report::Report;
pub use runner::{Capacity, Model, Profile, RateCard, Runner, TRANCHES, Tranche};
pub use spec::{
    Bounds, Callback, Check, JobKind, JobSpec, MAX_CHECKS, Mode, REQUEST_BYTES, Resources, ResultSchema, SCHEMA_BYTES, Snapshot,
    Verification,
};

use crate::hash::{Hash, keccak256};

/// The most bytes of one result (003 §5.4).
pub const MAX_RESULT_BYTES: usize = 65_536;

/// The most members of a committee.
pub const MAX_MEMBERS: usize = 64;

/// The most runners that all draws of a job give it: a first committee, one for each of ten retries, and the one that decides a
/// disagreement (decision 309).
pub const MAX_DRAWN: usize = 12 * MAX_MEMBERS;

/// The most claims against one result.
pub const MAX_CLAIMS: usize = 64;

/// The most candidates of a job.
pub const MAX_CANDIDATES: usize = 16_384;

/// Bytes of a commitment's salt: 32 that nobody knows, then the address of who commits.
///
/// The address makes a commitment worthless to who copies it: opened, it names the one from whom it was copied.
pub const SALT_BYTES: usize = 52;

/// The salt of a runner's commitment: its 32 secret bytes, then its address.
pub fn salt(secret: &[u8; 32], runner: &crate::Address) -> [u8; SALT_BYTES] {
    let mut salt = [0; SALT_BYTES];
    salt[..32].copy_from_slice(secret);
    salt[32..].copy_from_slice(&runner.0);
    salt
}

/// A commitment: keccak256(report ‖ salt), the report [encoded](Report::encode) (003 §5.3; decisions 39, 173).
pub fn commitment(report: &[u8], salt: &[u8; SALT_BYTES]) -> Hash {
    keccak256(&[report, salt])
}
