//! What a runner reports and does, where that can be replaced: the simulated runners of a devnet misbehave there.

use crate::plan::{Step, View};
use cowboy_types::Hash;

/// A job that a runner was drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The job's id.
    pub job: Hash,
    /// Draws before this one.
    pub attempt: u64,
    /// The runner's index in the committee.
    pub index: u64,
}

/// Decisions of a runner. Each method returns what it is given, unless an implementation replaces it.
pub trait Behaviour: Send + Sync {
    /// The result to report, of what was found.
    fn result(&self, _assignment: &Assignment, found: Vec<u8>) -> Vec<u8> {
        found
    }

    /// The step to take at this height, of the one that is due.
    fn step(&self, _assignment: &Assignment, due: Step, _view: &View, _height: u64) -> Step {
        due
    }

    /// The commitment to send, of the one to the own result.
    fn commitment(&self, _assignment: &Assignment, own: Hash, _view: &View) -> Hash {
        own
    }
}

/// The behaviour of a real runner.
#[derive(Clone, Copy, Debug, Default)]
pub struct Honest;

impl Behaviour for Honest {}
