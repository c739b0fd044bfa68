//! How a chain in a map runs a block: as a node does, and record by record.
//!
//! Every block of every test is proposed in the one way and verified in the other, and both have the same results, traces included. So
//! nothing that a step did before it missed a record stays, whatever the traffic.

use crate::chain::Chain;
use cowboy_chain::resume::{self, Records};
use cowboy_chain::{BlockInput, BlockInvalid, Execution, Outcome, StateKey};
use std::convert::Infallible;

impl Chain {
    /// Runs an execution over the map. Answers it and how many rounds of records it took.
    pub fn run(&self, input: BlockInput) -> Result<(Outcome, usize), BlockInvalid> {
        let mut rounds = 0;
        let Ok(done) = resume::run(&mut Execution::new(input), |keys| {
            rounds += 1;
            assert!(!keys.is_empty() && rounds < 10_000, "an execution asks for something, and not for ever");
            self.read(keys)
        });
        Ok((*done?, rounds))
    }

    /// The same, where each record comes alone: every step misses as often as it reads something new.
    pub fn run_by_records(&self, input: BlockInput) -> Result<Outcome, BlockInvalid> {
        let Ok(done) = resume::run(&mut Execution::new(input), |keys| self.read(keys[..1].to_vec()));
        done.map(|outcome| *outcome)
    }

    /// Records of the state.
    pub fn read(&self, keys: Vec<StateKey>) -> Result<Records, Infallible> {
        Ok(keys.into_iter().map(|key| (key, self.state.get(&key).cloned())).collect())
    }
}
