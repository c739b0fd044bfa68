//! What a step of a job may read and change, and what it means for others.

use cowboy_params::Params;
use cowboy_state::World;
use cowboy_types::Hash;
use cowboy_types::job::{Job, JobSpec, Outcome};
use cowboy_types::units::{Amount, Height};

/// The block in which a job advances. What a step means for others it only notes here: [`crate::agenda`] applies it.
pub(crate) struct Block<'a> {
    /// The state.
    pub(crate) world: &'a mut World,
    /// The block's parameters.
    pub(crate) params: &'a Params,
    /// The block's height.
    pub(crate) height: Height,
    effects: Vec<Effect>,
    spent: u64,
}

/// What a step of a job means for others, in the order in which it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nobody decided the job's claims in time.
    ClaimsLapsed,
    /// A job is over that does the work of another one again.
    RetrialOver(Retrial),
}

/// A job that did the work of another one again, as it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retrial {
    /// The job.
    pub(crate) id: Hash,
    /// The job whose work it did.
    pub(crate) of: Hash,
    /// What came of it; none where it failed.
    pub(crate) outcome: Option<Outcome>,
    /// What it cost its submitter: what its runners ask, the tip, and what it spent before, on waiting and on results that failed its checks. Zero
    /// where it failed.
    pub(crate) cost: Amount,
}

impl<'a> Block<'a> {
    /// A block in which nothing happened yet.
    pub(crate) fn new(world: &'a mut World, params: &'a Params, height: Height) -> Self {
        Self { world, params, height, effects: Vec::new(), spent: 0 }
    }

    /// What happened in it.
    pub(crate) fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    /// Counts modelled time that not every step of a job takes, in ns.
    pub(super) fn spend(&mut self, weight: u64) {
        self.spent = self.spent.saturating_add(weight);
    }

    /// How much of it was counted.
    pub(super) fn spent(&self) -> u64 {
        self.spent
    }

    /// Notes that nobody decided the job's claims in time.
    pub(super) fn note_lapse(&mut self) {
        self.effects.push(Effect::ClaimsLapsed);
    }

    /// Notes that a job is over, where it did the work of another one again.
    pub(super) fn note_end(&mut self, job: &Job, spec: &JobSpec) {
        if job.retrial_of != Hash::ZERO {
            let outcome = job.outcome.clone();
            let spent = spec.max_price.saturating_add(spec.tip).saturating_sub(job.escrow);
            let cost = outcome.as_ref().map_or(Amount::ZERO, |outcome| outcome.gross.saturating_add(spec.tip).saturating_add(spent));
            self.effects.push(Effect::RetrialOver(Retrial { id: job.id, of: job.retrial_of, outcome, cost }));
        }
    }
}
