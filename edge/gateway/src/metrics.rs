//! Numbers about requests, by name.

use cowboy_serve::Slots;
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use std::time::Duration;

/// What a request is counted under.
#[derive(Clone, Debug, EncodeLabelSet, Hash, PartialEq, Eq)]
struct Labels {
    /// The registered name; empty where there is none.
    name: String,
    method: &'static str,
    /// The hundreds of the status.
    status: u16,
}

/// Numbers about what the gateway signs. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SigningGauges {
    pub(crate) untaken: Gauge,
    pub(crate) disagrees: Gauge,
}

/// All numbers of a gateway.
pub(crate) struct Metrics {
    pub(crate) signing: SigningGauges,
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Histogram,
    connections: Gauge,
    refused: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let (requests, connections, refused) = (Family::default(), Gauge::default(), Gauge::default());
        let seconds = Histogram::new([0.000_3, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]);
        let mut registry = Registry::with_prefix("cowboy_gateway");
        registry.register("requests", "Requests, by name, method and hundreds of the status", Family::clone(&requests));
        registry.register("request_seconds", "Time from a request's head to its answer", seconds.clone());
        registry.register("connections", "Open connections of the process", connections.clone());
        registry.register("connections_refused", "Connections that were refused since the start", refused.clone());
        let signing = SigningGauges::default();
        registry.register("untaken", "Signed transactions that others may have and no pool is known to have", signing.untaken.clone());
        registry.register(
            "nonces_disputed",
            "Whether the node refuses the nonces that the final state says are next",
            signing.disagrees.clone(),
        );
        Self { signing, registry, requests, seconds, connections, refused }
    }

    /// Counts a request. Only registered names are labels: visitors do not make new ones.
    pub(crate) fn count(&self, name: &str, method: &'static str, status: u16, took: Duration) {
        let labels = Labels { name: name.to_owned(), method, status: status / 100 * 100 };
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Requests that a name answered, of all methods and statuses.
    pub(crate) fn served(&self, name: &str) -> u64 {
        let mut served = 0;
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "other"] {
            for status in [200, 300, 400, 500] {
                let labels = Labels { name: name.to_owned(), method, status };
                served += self.requests.get(&labels).map_or(0, |counter| counter.get());
            }
        }
        served
    }

    /// All numbers, as Prometheus reads them.
    pub(crate) fn text(&self, slots: &Slots) -> String {
        self.connections.set(i64::try_from(slots.open()).unwrap_or(i64::MAX));
        self.refused.set(i64::try_from(slots.refused()).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// The label of a method: one of the known ones, or `other`.
pub(crate) fn method_label(method: &hyper::Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}
