//! A request that only reads, being answered: route, method, handler, answer (004 §8.3).
//!
//! Gateways serve through it, and clients that verify an answer run it again: what is served is what is proven.

use crate::{answer::Answer, failure::Failure, route::Route};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    query::{At, Question},
    resume::{Need, Records, Resume},
};
use cowboy_state::{Miss, World};
use cowboy_system::{
    gateways::{HANDLER, ingress::QUERIES},
    governance,
};
use cowboy_types::{Address, Cycles};
use std::sync::Arc;

/// What came of a request.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The actor's answer, or why there is none.
    pub outcome: Result<Answer, Failure>,
    /// Where the name led, where it leads anywhere.
    pub route: Option<Arc<Route>>,
    /// Compute used.
    pub cycles_used: Cycles,
}

impl Visited {
    /// The answer that a proof is of: the actor's, or the failure's.
    pub fn answer(&self) -> Answer {
        self.outcome.clone().unwrap_or_else(|failure| failure.answer())
    }
}

/// A request being answered: one owned value, synchronous, without I/O.
pub struct Visit {
    at: At,
    method: String,
    request: Bytes,
    /// A bound of cycles beside the manifest's.
    most: u64,
    phase: Phase,
}

enum Phase {
    /// The name is looked up.
    Finding(String, World),
    /// The name leads here.
    Found(Arc<Route>),
    /// The handler runs, and may answer this many bytes.
    Asking(Arc<Route>, u64, Box<Query>),
}

impl Visit {
    /// A request to a name: its method, and its envelope as the handler gets it.
    pub fn new(at: At, name: &str, method: &str, request: impl Into<Bytes>) -> Self {
        Self::begin(at, Phase::Finding(name.to_owned(), World::default()), method, request)
    }

    /// A request to a name whose route is known already.
    pub fn along(at: At, route: Arc<Route>, method: &str, request: impl Into<Bytes>) -> Self {
        Self::begin(at, Phase::Found(route), method, request)
    }

    /// The same, with at most this many cycles.
    pub fn within(self, most: u64) -> Self {
        Self { most, ..self }
    }

    fn begin(at: At, phase: Phase, method: &str, request: impl Into<Bytes>) -> Self {
        Self { at, method: method.to_owned(), request: request.into(), most: u64::MAX, phase }
    }

    /// Asks the actor of a route. Fails where it does not take the request.
    fn ask(&self, route: &Arc<Route>) -> Result<Phase, Failure> {
        let ingress = route.admits(&self.method)?;
        if !QUERIES.contains(&self.method.as_str()) {
            return Err(Failure::method(&self.method, &ingress.methods));
        }
        let question = question(route.actor, HANDLER, self.request.clone(), ingress.query_cycles.min(self.most));
        Ok(Phase::Asking(route.clone(), ingress.response_bytes, Box::new(Query::new(self.at.clone(), question))))
    }
}

impl Resume for Visit {
    type Output = Visited;

    fn advance(&mut self, records: Records) -> Need<Visited> {
        let mut records = records;
        if let Phase::Finding(name, world) = &mut self.phase {
            for (key, stored) in std::mem::take(&mut records) {
                world.fill(&key, stored);
            }
            match find(world, &self.at, name) {
                Err(miss) => return Need::Keys(world.want(miss)),
                Ok(None) => return failed(None, Failure::unknown_name(name)),
                Ok(Some(route)) => self.phase = Phase::Found(Arc::new(route)),
            }
        }
        if let Phase::Found(route) = &self.phase {
            match self.ask(route) {
                Ok(phase) => self.phase = phase,
                Err(failure) => return failed(Some(route.clone()), failure),
            }
        }
        let Phase::Asking(route, most, query) = &mut self.phase else { unreachable!("the handler was asked above") };
        let answer = match query.advance(records) {
            Need::Keys(keys) => return Need::Keys(keys),
            Need::Done(answer) => answer,
        };
        let outcome = answer.result.map_err(|failure| Failure::of_query(&failure)).and_then(|bytes| Answer::read(&bytes, *most));
        Need::Done(Visited { outcome, route: Some(route.clone()), cycles_used: answer.cycles_used })
    }
}

/// A question to an actor's handler.
pub fn question(actor: Address, handler: &str, payload: impl Into<Bytes>, cycles: u64) -> Question {
    Question { target: actor, handler: handler.to_owned(), payload: payload.into(), cycles_limit: Some(Cycles(cycles)) }
}

fn find(world: &World, at: &At, name: &str) -> Result<Option<Route>, Miss> {
    let params = governance::state::parameters(world, &at.chain.params)?;
    Route::find(world, &params, name, at.height)
}

fn failed(route: Option<Arc<Route>>, failure: Failure) -> Need<Visited> {
    Need::Done(Visited { outcome: Err(failure), route, cycles_used: Cycles::ZERO })
}
