//! Pages whose handlers fail, for the gateway's log.

use crate::{
    query::Runner,
    raised::{line, words},
    state::BlockState,
};
use bytes::Bytes;
use cowboy_chain::engine::Exception;
use cowboy_ingress::{Failure, Route, failure::CYCLE_LIMIT, visit::question};
use cowboy_serve::Client;
use cowboy_system::gateways::HANDLER;
use hyper::http::request::Parts;
use std::{sync::Arc, time::Instant};

/// A request that only reads, whose handler failed.
pub(crate) struct Page<'a> {
    pub(crate) runner: &'a Runner,
    pub(crate) client: Client,
    /// The state on which it failed.
    pub(crate) state: Arc<BlockState>,
    pub(crate) route: &'a Route,
    pub(crate) asked: &'a Parts,
    /// The request as the handler gets it.
    pub(crate) envelope: Bytes,
}

impl Page<'_> {
    /// Logs why the handler failed, where that is the author's business.
    pub(crate) async fn log(self, failure: &Failure) {
        let is_authors = failure.code == CYCLE_LIMIT || failure.status.is_server_error() && failure.code != "ACTOR_UNAVAILABLE";
        if !is_authors || !self.runner.raised.is_due(Instant::now()) {
            return;
        }
        let (name, actor) = (self.route.name.clone(), self.route.actor);
        let (method, path) = (self.asked.method.clone(), self.asked.uri.path());
        let exception = if failure.code == "HANDLER_PANIC" { self.exception().await } else { None };
        let why = exception.as_ref().map_or_else(|| failure.what.clone(), words);
        let line = exception.as_ref().map(line).unwrap_or_default();
        tracing::warn!(name, %actor, %method, path, why, line, "a handler failed");
    }

    /// What the handler raised. It runs again for that: what a gateway serves, and proves, has no exceptions.
    async fn exception(&self) -> Option<Exception> {
        let cycles = self.route.ingress.as_ref()?.query_cycles;
        let question = question(self.route.actor, HANDLER, self.envelope.clone(), cycles);
        self.runner.exception(self.client, self.state.clone(), question).await
    }
}
