//! Queries and simulations over the committed state of a chain in a map.

use crate::chain::Chain;
use crate::script::Scripts;
use bytes::Bytes;
use cowboy_chain::query::{Answer, At, Query, Question, Simulation, Tried};
use cowboy_chain::resume;
use cowboy_types::units::Cycles;
use cowboy_types::{Address, Transaction};
use std::sync::Arc;

impl Chain {
    fn at(&self) -> At {
        At {
            chain: self.config.clone(),
            height: self.height,
            timestamp: self.timestamp,
            beacon: Bytes::from_static(&[0; 32]),
            round: (0, 0),
            images: Arc::new(Scripts),
        }
    }

    /// The answer of a handler to a query.
    pub fn ask(&self, target: Address, handler: &str, payload: &[u8], cycles: Option<u64>) -> Answer {
        let question =
            Question { target, handler: handler.to_string(), payload: Bytes::copy_from_slice(payload), cycles_limit: cycles.map(Cycles) };
        let Ok(answer) = resume::run(&mut Query::new(self.at(), question), |keys| self.read(keys));
        answer
    }

    /// What a transaction would do.
    pub fn try_out(&self, transaction: Transaction) -> Tried {
        let Ok(tried) = resume::run(&mut Simulation::new(self.at(), transaction), |keys| self.read(keys));
        tried
    }
}
