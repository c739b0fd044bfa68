//! A request that only reads, being answered: route, handler, answer (004 §8.3).

use crate::{answer::Answer, failure::Failure, route::Route};
use bytes::Bytes;
use cowboy_chain::{
    Query,
    query::{At, Question, Wants},
};
use cowboy_state::{Miss, StateKey, World};
use cowboy_system::{
    gateways::{HANDLER, ingress::QUERIES},
    governance,
};
use cowboy_types::{Address, Cycles};

/// What came of a request.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The answer that goes out: the actor's, or a failure's.
    pub answer: Answer,
    /// Where the name led, where it leads anywhere.
    pub route: Option<Route>,
    /// Compute used.
    pub cycles_used: Cycles,
}

/// A request being answered: one owned value, synchronous, without I/O.
pub struct Visit {
    at: At,
    name: String,
    method: String,
    request: Bytes,
    phase: Phase,
}

enum Phase {
    /// The name is looked up.
    Finding(World),
    /// The handler runs.
    Asking(Route, u64, Box<Query>),
}

impl Visit {
    /// A request to a name: its method, and its envelope as the handler gets it.
    pub fn new(at: At, name: &str, method: &str, request: impl Into<Bytes>) -> Self {
        Self { at, name: name.to_owned(), method: method.to_owned(), request: request.into(), phase: Phase::Finding(World::default()) }
    }

    /// Takes the requested records and continues until it needs more or has a result.
    pub fn advance(&mut self, answers: Vec<(StateKey, Option<Bytes>)>) -> Wants<Visited> {
        let mut answers = answers;
        if let Phase::Finding(world) = &mut self.phase {
            for (key, stored) in std::mem::take(&mut answers) {
                world.fill(&key, stored);
            }
            let (route, ingress) = match find(world, &self.at, &self.name) {
                Err(miss) => return Wants::Keys(world.want(miss)),
                Ok(None) => return failed(None, &Failure::unknown_name(&self.name)),
                Ok(Some(Route { ingress: None, .. })) => return failed(None, &Failure::no_ingress()),
                Ok(Some(route)) => (route.clone(), route.ingress.expect("the arm before took what has none")),
            };
            if !QUERIES.contains(&self.method.as_str()) || !ingress.accepts(&self.method) {
                return failed(Some(route), &Failure::method(&self.method, &ingress.methods));
            }
            let question = question(route.actor, HANDLER, self.request.clone(), ingress.query_cycles);
            self.phase = Phase::Asking(route, ingress.response_bytes, Box::new(Query::new(self.at.clone(), question)));
        }
        let Phase::Asking(route, most, query) = &mut self.phase else { unreachable!("a name was found above") };
        let answer = match query.advance(answers) {
            Wants::Keys(keys) => return Wants::Keys(keys),
            Wants::Done(answer) => answer,
        };
        let read = answer.result.map_err(|failure| Failure::of_query(&failure)).and_then(|bytes| Answer::read(&bytes, *most));
        let read = read.unwrap_or_else(|failure| failure.answer());
        Wants::Done(Box::new(Visited { answer: read, route: Some(route.clone()), cycles_used: answer.cycles_used }))
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

fn failed(route: Option<Route>, failure: &Failure) -> Wants<Visited> {
    Wants::Done(Box::new(Visited { answer: failure.answer(), route, cycles_used: Cycles::ZERO }))
}
