//! What a runner counts, and what it says of itself.

use crate::plan::Step;
use cowboy_api::{HexAddress, HexHash};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};
use serde::Serialize;
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Posted {
    step: &'static str,
}

/// What a runner counts.
pub(crate) struct Metrics {
    registry: Registry,
    executed: Family<Kind, Counter>,
    posted: Family<Posted, Counter>,
    seconds: Histogram,
    shares: Counter,
    pub(crate) height: Gauge,
    pub(crate) jobs: Gauge,
    pub(crate) executing: Gauge,
    pub(crate) waiting: Gauge,
    pub(crate) jobs_done: Gauge,
    pub(crate) jobs_failed: Gauge,
    pub(crate) reputation: Gauge,
    pub(crate) stake: Gauge,
    pub(crate) balance: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("cowboy_runner");
        let executed = Family::default();
        let posted = Family::default();
        let seconds = Histogram::new(exponential_buckets(0.001, 4.0, 10));
        let shares = Counter::default();
        let gauge = |registry: &mut Registry, name: &str, help: &str| {
            let gauge = Gauge::default();
            registry.register(name, help, gauge.clone());
            gauge
        };
        registry.register("executed", "Jobs executed, by kind and by what came of them", executed.clone());
        registry.register("posted", "Calls sent to the chain, by step", posted.clone());
        registry.register("execution_seconds", "Time that an execution took", seconds.clone());
        registry.register("shares_received", "Revelations taken from other runners", shares.clone());
        Self {
            height: gauge(&mut registry, "height", "The newest height that it knows"),
            jobs: gauge(&mut registry, "jobs", "Jobs that the chain has given it"),
            executing: gauge(&mut registry, "executing", "Jobs that are executed now"),
            waiting: gauge(&mut registry, "waiting", "Jobs that wait to be executed"),
            jobs_done: gauge(&mut registry, "jobs_done", "Jobs that it was paid for"),
            jobs_failed: gauge(&mut registry, "jobs_failed", "Jobs that it failed"),
            reputation: gauge(&mut registry, "reputation", "Between 0 and 200"),
            stake: gauge(&mut registry, "stake", "All stake for the runner, in base units"),
            balance: gauge(&mut registry, "balance", "What its account has, in base units"),
            registry,
            executed,
            posted,
            seconds,
            shares,
        }
    }

    pub(crate) fn executed(&self, kind: &'static str, outcome: &'static str, milliseconds: u64) {
        self.executed.get_or_create(&Kind { kind, outcome }).inc();
        self.seconds.observe(milliseconds as f64 / 1_000.0);
    }

    pub(crate) fn posted(&self, step: &'static str) {
        self.posted.get_or_create(&Posted { step }).inc();
    }

    pub(crate) fn share(&self) {
        self.shares.inc();
    }

    /// The page that Prometheus reads.
    pub(crate) fn page(&self) -> String {
        cowboy_serve::metrics::page(&self.registry)
    }
}

/// What a runner says of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Status {
    /// Its address.
    pub runner: Option<HexAddress>,
    /// The node.
    pub node: String,
    /// The newest height that it knows.
    pub height: u64,
    /// Whether the chain would draw it: `healthy`, or why not.
    pub health: String,
    /// Its jobs, each with the step it waits for.
    pub jobs: Vec<JobLine>,
}

/// A job in a line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobLine {
    /// The job's id.
    pub job_id: HexHash,
    /// How far the chain is with it.
    pub status: String,
    /// What the runner does with it.
    pub step: String,
}

/// Shared by the loop and the server.
pub(crate) struct Board {
    pub(crate) metrics: Metrics,
    pub(crate) status: Mutex<Status>,
}

impl Board {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { metrics: Metrics::new(), status: Mutex::default() })
    }

    pub(crate) fn status(&self) -> Status {
        self.status.lock().expect("nothing panics while it holds the lock").clone()
    }
}

impl Step {
    /// The step's name, for people and metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Execute => "execute",
            Self::Submit => "submit",
            Self::Commit => "commit",
            Self::Aggregate => "aggregate",
            Self::Share => "share",
            Self::Reveal => "reveal",
            Self::AttestCrash => "attest_crash",
            Self::Forget => "forget",
        }
    }
}
